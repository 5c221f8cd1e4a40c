"""Undoing a whole changeset, as one more changeset: what it put is given up, what it closed returns.

The past stays as it was; only from now on the store believes again what it did before. A row that
a later changeset has touched makes the undo a conflict, never a guess, until that one is undone too.
"""

from __future__ import annotations

from typing import Any

from worldline.clock import FOREVER, Instant, Interval, show
from worldline.errors import Conflict, InvalidInput, NotFound, Refused
from worldline.model import Belief, Close, EdgeDraft, Put, Receipt, Refuse
from worldline.ports import Tx
from worldline.store import histories, indexing, registry


def undo_all(tx: Tx, receipt: Receipt, *, agent: bool = False) -> bool:
    """Takes back every changeset that a receipt stands for."""
    if not isinstance(receipt, Receipt):
        raise InvalidInput(f"undo takes the receipt of a write, not {receipt!r}")
    steps = (receipt.known_at, *receipt.also) if receipt.changed and not receipt.dry_run else ()
    undone = [undo(tx, at, frozenset(steps), agent=agent) for at in steps]
    return any(undone)


def undo(
    tx: Tx, known_at: Instant, together: frozenset[Instant] = frozenset(), *, agent: bool = False
) -> bool:
    """Takes back the changeset of that known time; False when it is taken back already.

    What one of the changesets taken back `together` put and another one closed is gone already.
    """
    entries = histories.entries(tx, known_at)
    if entries is None:
        raise NotFound(f"there is no changeset of {show(known_at)} to undo")
    types = {
        ended: [e.number for e in entries if e.table == "ontology" and e.closed == ended]
        for ended in (False, True)
    }
    entries = histories.not_erased(tx, entries)
    mine = [e for e in entries if e.table in ("beliefs", "edges", "proposals", "marks") and _mine(tx, e)]
    marks = [e for e in mine if e.table == "marks"]
    rows = [(e, histories.known_of(tx, e.table, e.number)) for e in mine if e.table != "marks"]
    apart = {*together, known_at}
    rows = [(e, known) if known.end in apart else histories.restored(tx, e, known) for e, known in rows]
    needed = histories.needed(tx, [e for e, _ in rows if not e.closed])
    put = [(e, known) for e, known in rows if not e.closed and e not in needed and known.end not in together]
    standing = [(e, known) for e, known in put if known.end == FOREVER]
    if len(standing) < len([known for _, known in put if known.end != known_at]):
        return _already_or_conflict(tx, {known.end for _, known in put} - {known_at})
    for entry, known in standing:
        belief = Belief(entry.number, entry.number, Interval(0), Interval(known.start))
        tx.close(Close(belief, entry.table, reason="undone"), "undo")  # type: ignore[arg-type]
    back = [
        _restore(tx, e.table, e.number)
        for e, known in rows
        if e.closed and known.start != known_at and known.start not in together
    ]
    back += [_mark(tx, e.number, known_at, stands=e.closed) for e in marks]
    if types[False]:
        if agent:
            raise Refused("agents cannot change the ontology; an operator does")
        back.append(registry.take_back(tx, types[False], types[True]))
    return bool(standing) or any(back)


def _mark(tx: Tx, number: int, known_at: Instant, *, stands: bool) -> bool:
    """A mark as it was before: one that was put ends, one that was ended stands again, if none has come since."""
    mark = histories.marked(tx, number)
    if (mark.since == known_at if stands else mark.until != FOREVER) or (stands and mark.taken):
        return False
    if stands:
        tx.add("marks", mark.line, mark.scope, mark.kind, mark.value, mark.reason, tx.stamp, FOREVER)
    else:
        tx.end_row("marks", number)
    if mark.kind == indexing.ARCHIVED:
        (indexing.freeze if stands else indexing.thaw)(tx, mark.line)
    return True


def _mine(tx: Tx, entry: histories.Entry) -> bool:
    """Refuses what belongs to another scope; the nodes that stand for scopes are never undone."""
    if entry.table == "beliefs" and histories.columns_of(tx, "beliefs", entry.number)["type"] == "Scope":
        return False
    if not histories.is_mine(tx, entry.table, entry.number):
        raise NotFound("there is no such changeset in this scope to undo")
    return True


def _already_or_conflict(tx: Tx, ends: set[Instant]) -> bool:
    if ends and all(histories.kind_of(tx, end) == "undo" for end in ends):
        return False
    raise Conflict("a later write builds on this one; undo that one first")


def _restore(tx: Tx, table: str, number: int) -> bool:
    """The closed row's content, believed anew, unless it is believed again already."""
    columns = histories.columns_of(tx, table, number)
    if histories.stands_again(tx, table, columns):
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
    if columns.get("type") == "supersedes":
        return [FOREVER]
    held = histories.beside_row(tx, table, columns)
    if any(columns["vf"] in valid for valid in held):
        raise Conflict("something else is believed of that time now; undo that first")
    if table == "edges" and columns["type"] in tx.types:
        draft = EdgeDraft(
            columns["src"], columns["type"], columns["dst"], Interval(columns["vf"]), columns["scope"],
            accepted=True,
        )  # fmt: skip
        if any(isinstance(op, Refuse) for op in tx.types[draft.type].on_insert(draft, tx)):
            raise Conflict("a later write is in the way of this edge; undo that first")
    return [FOREVER, *(valid.start for valid in held if valid.start > columns["vf"])]
