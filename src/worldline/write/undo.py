"""Undoing a whole changeset, as one more changeset: what it put is given up, what it closed returns.

The past stays as it was; only from now on the store believes again what it did before. A row that
a later changeset has touched makes the undo a conflict, never a guess.
"""

from __future__ import annotations

from worldline.clock import FOREVER, Instant, Interval, show
from worldline.errors import Conflict, NotFound
from worldline.model import Belief, Close, Put
from worldline.store import ledger
from worldline.store.schema import COLUMNS
from worldline.store.tx import Tx


def undo(tx: Tx, known_at: Instant) -> bool:
    """Takes back the changeset of that known time; False when it is taken back already."""
    rows = tx.query("SELECT body FROM log WHERE tenant = :t AND known = :at", at=known_at)
    if not rows:
        raise NotFound(f"there is no changeset of {show(known_at)} to undo")
    put: list[tuple[str, int]] = []
    closed: list[tuple[str, int]] = []
    for table, ended, numbers, _ in ledger.sections(rows[0][0]):
        if table in ("beliefs", "edges", "proposals"):
            (closed if ended else put).extend((table, number) for number in numbers)
    standing = [pair for pair in put if _known_to(tx, *pair) == FOREVER]
    if len(standing) < len([p for p in put if _known_to(tx, *p) != known_at]):
        return _already_or_conflict(tx, put, known_at)
    for table, number in standing:
        tx.close(Close(_belief(tx, table, number), table, reason="undone"), "undo")  # type: ignore[arg-type]
    for table, number in closed:
        if _column(tx, table, number, "kf") != known_at:
            _restore(tx, table, number)
    return bool(standing or closed)


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


def _restore(tx: Tx, table: str, number: int) -> None:
    """The closed row's content, believed anew."""
    row = tx.query(f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE id = :n", n=number)[0]
    columns = dict(zip(COLUMNS[table], row, strict=True))
    if table == "proposals":
        names = ("a", "b", "status", "tier", "score", "reason", "scope")
        tx.add_proposal(columns["hash"], *[columns[name] for name in names])
        return
    belief = Belief(
        0, columns["node"] if table == "beliefs" else number,
        Interval(columns["vf"], columns["vt"]), Interval(tx.stamp), columns["scope"],
        *([columns[c] for c in ("status", "confidence", "precision", "reason")] if table == "beliefs" else []),
    )  # fmt: skip
    tx.apply([Put(reopen=belief, table=table)], "undo")  # type: ignore[arg-type]
