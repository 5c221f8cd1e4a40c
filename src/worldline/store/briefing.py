"""What a session begins with, as the store tells it: facts that hold, come or went, and notes that stand.

Each function is one statement inside the view's scope, world and known time, and tells when each thing
holds, so that the reader may sort the past from what is still to come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from worldline.clock import Instant
from worldline.model import Node
from worldline.ports import View
from worldline.store.view import LISTED, NODE, listed, node_from

_COLUMNS = (
    "n.hash, n.content, f.subject, f.predicate, f.phrase, b.vf, b.vt, b.kf, b.precision, f.dated,"
    " EXISTS (SELECT 1 FROM marks m WHERE m.tenant = :t AND m.line = n.line AND m.kind = 'stage'"
    " AND m.value = 'crystal' AND m.kf <= :k AND m.kt > :k),"
    " coalesce((SELECT v.utc_offset FROM edges d CROSS JOIN events v ON v.tenant = :t AND v.node = d.dst"
    " WHERE d.tenant = :t AND d.src = n.line AND d.type = 'derived_from' ORDER BY d.id LIMIT 1), 0)"
)
_TABLES = (
    " FROM facts f CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node"
    " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id WHERE f.tenant = :t"
)


class HeldFact(Struct, frozen=True):
    """A fact with the time that it holds, and since when it is known."""

    id: str
    text: str
    subject: int
    slot: str
    phrase: str
    start: Instant
    end: Instant
    known: Instant
    precision: str | None
    dated: bool
    """Whether it speaks of a day of its own."""
    settled: bool
    """Whether it was said often enough to be beyond doubt."""
    offset: int = 0
    """Minutes from UTC to the place where it was said."""


def _held(row: Sequence[Any]) -> HeldFact:
    hash_, text, subject, slot, phrase, start, end, known, precision, dated, settled, offset = row
    sure = bool(dated and precision), bool(settled)
    return HeldFact(hash_.hex(), text, subject, slot, phrase, start, end, known, precision, *sure, offset)


def facts_of(view: View, lines: Collection[int], most: int) -> list[HeldFact]:
    """What holds now of these entities, newest first."""
    rows = view.query(
        f"SELECT {_COLUMNS}{_TABLES} AND f.subject IN {LISTED} AND {view.seen()}"
        " ORDER BY b.vf DESC, n.id DESC LIMIT :most",
        among=listed(lines), most=most,
    )  # fmt: skip
    return [_held(row) for row in rows]


def newest_facts(view: View, most: int) -> list[HeldFact]:
    """What holds now and was learned last."""
    rows = view.query(
        f"SELECT {_COLUMNS} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = n.id"
        f" WHERE b.tenant = :t AND b.type = 'Fact' AND {view.seen()} ORDER BY b.vf DESC, b.node DESC LIMIT :most",
        most=most,
    )
    return [_held(row) for row in rows]


def _known(view: View) -> str:
    """Believed at this known time, whenever it holds."""
    return f"b.kf <= :k AND b.kt > :k AND {view.scoped('b')} AND {view.trusted()} AND {view.ever_inside('b.line')}"


def facts_between(view: View, start: Instant, end: Instant, most: int) -> list[HeldFact]:
    """Facts that speak of a day of their own within a stretch of time, or begin in it, earliest first.

    Not those that are over, nor what changed at a moment that has passed: that holds, and does not come up.
    """
    rows = view.query(
        f"SELECT {_COLUMNS} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = n.id WHERE b.tenant = :t AND b.type = 'Fact'"
        f" AND b.vf >= :start AND b.vf < :end AND (b.vf > :v OR f.dated <> 0 AND b.precision IS NOT NULL)"
        f" AND b.vt > :v AND {_known(view)}"
        " ORDER BY b.vf, b.node LIMIT :most",
        start=start, end=end, most=most,
    )  # fmt: skip
    return [_held(row) for row in rows]


def facts_ended(view: View, since: Instant, most: int) -> list[HeldFact]:
    """Facts that ended within a stretch of time before now, the last one first."""
    rows = view.query(
        f"SELECT {_COLUMNS} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = n.id WHERE b.tenant = :t AND b.type = 'Fact'"
        f" AND b.vt > :since AND b.vt <= :v AND {_known(view)} ORDER BY b.vt DESC, n.id DESC LIMIT :most",
        since=since, most=most,
    )  # fmt: skip
    return [_held(row) for row in rows]


def notes_of(view: View, types: Sequence[str], most: int) -> list[Node]:
    """Notes of these types that hold now, newest first; of each type no more are read than are wanted."""
    each = (
        f"SELECT * FROM (SELECT b.* FROM beliefs b WHERE b.tenant = :t AND b.type = :type{at} AND {view.seen()}"
        " ORDER BY b.vf DESC, b.node DESC LIMIT :most) newest"
        for at in range(len(types))
    )
    rows = view.query(
        f"SELECT {NODE} FROM ({' UNION ALL '.join(each)}) b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " ORDER BY b.vf DESC, b.node DESC LIMIT :most",
        **{f"type{at}": type_ for at, type_ in enumerate(types)}, most=most,
    )  # fmt: skip
    return [node_from(row) for row in rows]


def pinned(view: View, most: int) -> list[Node]:
    """What somebody pinned and still holds, newest first."""
    rows = view.query(
        f"SELECT {NODE} FROM marks m CROSS JOIN beliefs b ON b.tenant = :t AND b.line = m.line"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE m.tenant = :t AND m.kind = 'pin'"
        f" AND m.kf <= :k AND m.kt > :k AND {view.scoped('m')} AND {view.seen()}"
        " ORDER BY b.vf DESC, n.id DESC LIMIT :most",
        most=most,
    )
    return [node_from(row) for row in rows]


def has_user(view: View, user: str) -> bool:
    """Whether anything here belongs to a user of this name."""
    return bool(
        view.query('SELECT 1 FROM scopes s WHERE s.tenant = :t AND s."user" = :whose LIMIT 1', whose=user)
    )


def offsets(view: View, nodes: Collection[int]) -> dict[int, int]:
    """For turns, and for facts by the words they rest on, the minutes from UTC to the place where it was said."""
    if not nodes:
        return {}
    rows = view.query(
        "SELECT e.node, e.utc_offset FROM events e WHERE e.tenant = :t AND e.utc_offset <> 0"
        f" AND e.node IN {LISTED} UNION ALL SELECT d.src, e.utc_offset FROM edges d CROSS JOIN events e"
        " ON e.tenant = :t AND e.node = d.dst WHERE d.tenant = :t AND d.type = 'derived_from'"
        f" AND e.utc_offset <> 0 AND d.src IN {LISTED} ORDER BY 1, 2",
        among=listed(nodes),
    )
    return {row[0]: row[1] for row in rows}
