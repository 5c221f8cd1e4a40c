"""Undoing a whole changeset, as one more changeset: what it put is given up, what it closed returns.

The past stays as it was; only from now on the store believes again what it did before. A row that
a later changeset has touched makes the undo a conflict, never a guess.
"""

from __future__ import annotations

from typing import Any

from worldline.clock import FOREVER, Instant, Interval, show
from worldline.errors import Conflict, NotFound, Refused
from worldline.model import Belief, Close, EdgeDraft, Put, Refuse
from worldline.store import cold, ledger, registry
from worldline.store.schema import COLUMNS
from worldline.store.tx import Tx


def undo(tx: Tx, known_at: Instant, *, agent: bool = False) -> bool:
    """Takes back the changeset of that known time; False when it is taken back already."""
    rows = tx.query("SELECT body FROM log WHERE tenant = :t AND known = :at", at=known_at)
    if not rows:
        raise NotFound(f"there is no changeset of {show(known_at)} to undo")
    put: list[tuple[str, int]] = []
    closed: list[tuple[str, int]] = []
    marks: list[tuple[bool, int]] = []
    types: dict[bool, list[int]] = {False: [], True: []}
    for table, ended, numbers, _ in ledger.sections(rows[0][0]):
        if table == "ontology":
            types[ended] += numbers
        if table == "marks":
            marks += [(ended, n) for n in numbers if _mine(tx, table, n)]
        if table in ("beliefs", "edges", "proposals"):
            (closed if ended else put).extend((table, n) for n in numbers if _mine(tx, table, n))
    put = _not_needed(tx, put)
    standing = [pair for pair in put if _known_to(tx, *pair) == FOREVER]
    if len(standing) < len([p for p in put if _known_to(tx, *p) != known_at]):
        return _already_or_conflict(tx, put, known_at)
    for table, number in standing:
        tx.close(Close(_belief(tx, table, number), table, reason="undone"), "undo")  # type: ignore[arg-type]
    back = [_restore(tx, *pair) for pair in closed if _column(tx, *pair, "kf") != known_at]
    back += [_mark(tx, number, known_at, stands=ended) for ended, number in marks]
    if types[False]:
        if agent:
            raise Refused("agents cannot change the ontology; an operator does")
        back.append(registry.take_back(tx, types[False], types[True]))
    return bool(standing) or any(back)


def _mark(tx: Tx, number: int, known_at: Instant, *, stands: bool) -> bool:
    """A mark as it was before: one that was put ends, one that was ended stands again, if none has come since."""
    line, scope, kind, value, reason, since, until = tx.query(
        "SELECT line, scope, kind, value, reason, kf, kt FROM marks WHERE id = :n", n=number
    )[0]
    taken = tx.query(
        "SELECT 1 FROM marks WHERE tenant = :t AND line = :line AND kind = :kind AND scope = :scope"
        " AND kt = :forever",
        line=line, kind=kind, scope=scope,
    )  # fmt: skip
    if (since == known_at if stands else until != FOREVER) or (stands and taken):
        return False
    if stands:
        tx.add("marks", line, scope, kind, value, reason, tx.stamp, FOREVER)
    else:
        tx.end_row("marks", number)
    if kind == cold.ARCHIVED:
        (cold.freeze if stands else cold.thaw)(tx, line)
    return True


def _mine(tx: Tx, table: str, number: int) -> bool:
    """Refuses what belongs to another scope; the nodes that stand for scopes are never undone."""
    if table == "beliefs" and tx.query("SELECT 1 FROM beliefs WHERE id = :n AND type = 'Scope'", n=number):
        return False
    if not tx.query(f"SELECT 1 FROM {table} r WHERE r.id = :n AND {tx.scoped('r')}", n=number):
        raise NotFound("there is no such changeset in this scope to undo")
    return True


def _not_needed(tx: Tx, put: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """What can go: an entity stays where a fact or a mention of another write stands on it."""
    going = {"beliefs": ",".join(str(n) for table, n in put if table == "beliefs") or "0",
             "edges": ",".join(str(n) for table, n in put if table == "edges") or "0"}  # fmt: skip
    kept = tx.query(
        f"SELECT b.id FROM beliefs b WHERE b.id IN ({going['beliefs']}) AND b.type = 'Entity' AND (EXISTS ("
        " SELECT 1 FROM facts f CROSS JOIN beliefs o ON o.tenant = :t AND o.line = f.node AND o.kt = :forever"
        f" WHERE f.tenant = :t AND (f.subject = b.line OR f.object = b.line) AND o.id NOT IN ({going['beliefs']}))"
        " OR EXISTS (SELECT 1 FROM edges e WHERE e.tenant = :t AND e.dst = b.line AND e.type = 'refers_to'"
        f" AND e.kt = :forever AND e.id NOT IN ({going['edges']})))"
    )
    needed = {("beliefs", row[0]) for row in kept}
    return [pair for pair in put if pair not in needed]


def _already_or_conflict(tx: Tx, put: list[tuple[str, int]], known_at: Instant) -> bool:
    ends = {_known_to(tx, *pair) for pair in put} - {known_at}
    if len(ends) == 1:
        kinds = tx.query("SELECT kind FROM log WHERE tenant = :t AND known = :at", at=ends.pop())
        if kinds and kinds[0][0] == "undo":
            return False
    raise Conflict("a later write builds on this one; undo that one first")


def _column(tx: Tx, table: str, number: int, column: str) -> int:
    return int(tx.query(f"SELECT {column} FROM {table} WHERE id = :n", n=number)[0][0])


def _known_to(tx: Tx, table: str, number: int) -> Instant:
    return _column(tx, table, number, "kt")


def _belief(tx: Tx, table: str, number: int) -> Belief:
    return Belief(number, number, Interval(0), Interval(_column(tx, table, number, "kf")))


def _restore(tx: Tx, table: str, number: int) -> bool:
    """The closed row's content, believed anew, unless it is believed again already."""
    row = tx.query(f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE id = :n", n=number)[0]
    columns = dict(zip(COLUMNS[table], row, strict=True))
    same = [c for c in columns if c not in ("id", "kf", "kt", "metadata", "world")]
    if tx.query(
        f"SELECT 1 FROM {table} WHERE kt = :forever AND {' AND '.join(f'{c} IS :{c}' for c in same)}",
        **{c: columns[c] for c in same},
    ):
        return False
    if table != "proposals":
        columns["vt"] = min(columns["vt"], *_room(tx, table, columns))
    if table == "proposals":
        names = ("a", "b", "status", "tier", "score", "reason", "scope")
        tx.add_proposal(columns["hash"], *[columns[name] for name in names])
        return True
    belief = Belief(
        0, columns["node"] if table == "beliefs" else number,
        Interval(columns["vf"], columns["vt"]), Interval(tx.stamp), columns["scope"],
        *([columns[c] for c in ("status", "confidence", "precision", "reason")] if table == "beliefs" else []),
    )  # fmt: skip
    tx.apply([Put(reopen=belief, table=table)], "undo")  # type: ignore[arg-type]
    return True


def _room(tx: Tx, table: str, columns: dict[str, Any]) -> list[Instant]:
    """Where later beliefs in the same thing begin; a conflict where its own place is taken by now."""
    same = "line = :line" if table == "beliefs" else "src = :src AND type = :type AND dst = :dst"
    held = tx.query(
        f"SELECT vf, vt FROM {table} WHERE tenant = :t AND {same} AND scope = :scope AND kt = :forever",
        **columns,
    )
    if columns.get("type") == "supersedes":
        return [FOREVER]
    if any(start <= columns["vf"] < end for start, end in held):
        raise Conflict("something else is believed of that time now; undo that first")
    if table == "edges" and columns["type"] in tx.types:
        draft = EdgeDraft(
            columns["src"], columns["type"], columns["dst"], Interval(columns["vf"]), columns["scope"],
            accepted=True,
        )  # fmt: skip
        if any(isinstance(op, Refuse) for op in tx.types[draft.type].on_insert(draft, tx)):
            raise Conflict("a later write is in the way of this edge; undo that first")
    return [FOREVER, *(start for start, _ in held if start > columns["vf"])]
