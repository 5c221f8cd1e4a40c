"""Rows of facts that are kept in mind from one question to the next, until a changeset touches what they tell.

Of a person some hundred facts are near every question, and reading each of them again descends ten trees. Which facts
are near is asked anew each time; what was read of a fact before is taken from mind, if no changeset since has put or
closed a belief, an edge or a mark of it: the log tells. Only the ordinary view keeps anything: of now, of no world,
without conditions, outside a write. What other moments see is read. A row is kept for the stretch of time in which it
says the same, and not at all where an edge tells that something contradicts the fact.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct, field

from worldline.clock import FOREVER, LATEST, Instant
from worldline.ports import View
from worldline.store import ledger
from worldline.store.people import STAGE, WARM, concerning
from worldline.store.view import listed

Order = tuple[bool, int, int, int, int]
ToldRow = tuple[Any, ...]


class KeptRows(Struct, frozen=True, gc=False):
    """What a fact's beliefs and their proof told, each with its place in the order, and when that was."""

    line: int
    read: int
    """The changeset up to which it was read."""
    since: Instant
    until: Instant
    rows: Sequence[tuple[Order, ToldRow]]


class Keeping(Struct):
    """What is kept of a tenant's facts, by the scope that sees them, and what was touched since the first was read."""

    sequence: int = -1
    head: bytes = b""
    touched: dict[int, int] = field(default_factory=dict)
    """Lineages and nodes, and the last changeset that touched them."""
    rows: dict[Any, dict[int, KeptRows]] = field(default_factory=dict)


class NearFacts(NamedTuple):
    """The facts near a question, where the history stands, and what led there since it was looked at."""

    nodes: Sequence[int]
    moved: int
    sequence: int
    head: bytes
    since: Sequence[tuple[bytes, bytes, bytes]] = ()
    """(hash before, hash, body) of the changesets since."""


class Says(NamedTuple):
    """What else is read with the rows of a fact `b.fact`, and who is told it: the fact, its hash, the columns."""

    columns: str
    tables: str
    note: Callable[[int, bytes, Sequence[Any]], None]


MOST, MOST_TOUCHED, MOST_CHANGESETS, LONGEST = 20_000, 50_000, 400, 60_000
"""So many rows are kept of a tenant, so many that were touched, and so many changesets are caught up with, none of
more bytes than this."""


def is_ordinary(view: View) -> bool:
    """Whether what this view sees of facts may be kept, and may have been."""
    opened = view.closed or view.cold or view.hindsight or view.world or view.labels or view.only is not None
    return not opened and view.known == LATEST and view.is_snapshot and not view.store.is_writing


def near(view: View, drawn: str, reach: int, then: int, **args: Any) -> NearFacts:
    """The facts in which the entities `among` stand, the latest `reach` on either side, and those drawn from turns."""
    rows = view.query(
        f"{concerning(drawn)} SELECT 0 AS what, (SELECT json_group_array(node) FROM u) AS nodes, t.moved, t.sequence,"
        " t.head, CAST(NULL AS BLOB) AS before, CAST(NULL AS BLOB) AS body FROM tenants t WHERE t.tenant = :t"
        " UNION ALL SELECT 1, '', 0, l.sequence, l.hash, l.previous, l.body FROM log l WHERE l.tenant = :t"
        " AND l.sequence > :seen AND length(l.body) < :longest ORDER BY 1, 4 LIMIT :most",
        **args, reach=reach, seen=then, longest=LONGEST, most=MOST_CHANGESETS,
    )  # fmt: skip
    if not rows or rows[0][0]:
        return NearFacts((), 0, 0, b"")
    _, nodes, moved, sequence, head, *_ = rows[0]
    since = [(bytes(before), bytes(hash_), bytes(body)) for *_, hash_, before, body in rows[1:]]
    return NearFacts(orjson.loads(nodes or "[]"), moved, sequence, bytes(head), since)


def rows_of(view: View, found: NearFacts, kept: Keeping, limit: int, says: Says) -> list[ToldRow]:
    """What is believed of these facts and by which proof: what stands first, then the newest."""
    if not _follow(view, kept, found):
        kept.sequence, kept.head, kept.touched, kept.rows = found.sequence, found.head, {}, {}
    if sum(map(len, kept.rows.values())) > MOST:
        kept.rows = {}
    mine = kept.rows.setdefault((tuple(view.owned.items()), view.quarantined), {})
    told, missing = list[tuple[Order, ToldRow]](), list[int]()
    touched, now, here = kept.touched, view.valid, found.sequence
    for node in found.nodes:
        one = mine.get(node)
        if (
            one is None
            or not one.since <= now < one.until
            or one.read > here
            or (touched and max(touched.get(node, 0), touched.get(one.line, 0)) > one.read)
        ):
            missing.append(node)
        else:
            told += one.rows
    if missing:
        told += _read(view, missing, found, mine, says)
    told.sort()
    if len(told) > limit:  # of a belief with many proofs every one has its row
        first = set(sorted({(*key[:3], key[4]) for key, _ in told})[:limit])
        told = [(key, row) for key, row in told if (*key[:3], key[4]) in first]
    return [row for _, row in told[:limit]]


def _follow(view: View, kept: Keeping, found: NearFacts) -> bool:
    """Notes what was touched since; False where the log does not lead from there."""
    if (kept.sequence, kept.head) == (found.sequence, found.head):
        return True
    if not 0 <= kept.sequence < found.sequence:
        return False
    before = [kept.head, *(hash_ for _, hash_, _ in found.since)]
    if before.pop() != found.head or before != [one for one, *_ in found.since]:
        return False
    rows: dict[str, set[int]] = {"beliefs": set(), "edges": set(), "marks": set(), "scopes": set()}
    try:
        for table, _, numbers, _ in (s for *_, body in found.since for s in ledger.sections(body)):
            if table in rows:
                rows[table].update(numbers)
    except (ValueError, struct.error):  # damaged
        return False
    if rows["scopes"] or len(kept.touched) > MOST_TOUCHED:  # who may see what may be another now
        return False
    kept.touched.update(dict.fromkeys(_lineages(view, rows), found.sequence))
    kept.sequence, kept.head = found.sequence, found.head
    return True


def _lineages(view: View, rows: dict[str, set[int]]) -> set[int]:
    """What these rows are of."""
    found = view.query(
        "SELECT b.line, b.node FROM beliefs b WHERE b.tenant = :t AND b.id IN (SELECT value FROM json_each(:beliefs))"
        " UNION ALL SELECT e.src, e.dst FROM edges e WHERE e.tenant = :t AND e.id IN"
        " (SELECT value FROM json_each(:edges)) AND e.type IN ('derived_from', 'contradicts')"
        " UNION ALL SELECT m.line, m.line FROM marks m WHERE m.tenant = :t AND m.id IN"
        " (SELECT value FROM json_each(:marks))",
        **{table: listed(sorted(rows[table])) for table in ("beliefs", "edges", "marks")},
    )
    return {line for row in found for line in row}


SURE = "b.status IS DISTINCT FROM 'quarantined'"
_ENDS = (("src", "dst"), ("dst", "src"))


def at_odds(view: View) -> str:
    """Whether something else that is believed openly contradicts a belief `b`."""
    return " OR ".join(
        f"EXISTS (SELECT 1 FROM edges c WHERE c.tenant = :t AND c.{end} = b.line AND c.type = 'contradicts'"
        f" AND {view.time('c')} AND {view.scoped('c')} AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
        f" AND b.line = c.{far} AND b.kf <= :k AND b.kt > :k AND b.vt > :v AND {view.scoped('b')} AND {SURE}))"
        for end, far in _ENDS
    )


def proved(view: View) -> str:
    """The edges `d` from a fact of `b` to the events `e` that it was drawn from."""
    return (
        " LEFT JOIN edges d ON d.tenant = :t AND d.src = b.fact AND d.type = 'derived_from' AND d.kf <= :k"
        f" AND d.kt > :k AND {view.scoped('d')}"
        " LEFT JOIN events e ON e.tenant = :t AND e.node = d.dst"
    )


def _rows(view: View, says: Says) -> str:
    """All that is told of the facts `among`; one row at least for each."""
    odd = " OR ".join(
        f"EXISTS (SELECT 1 FROM edges c WHERE c.tenant = :t AND c.{end} = b.line AND c.type = 'contradicts')"
        for end, _ in _ENDS
    )
    chosen = (
        "SELECT n.id AS fact, n.line, b.id AS belief, n.hash, b.vf AS since, b.vt AS ended, b.kf AS known, b.precision,"
        f" b.kt <= :k AS gone, {SURE} AS sure, {WARM} AS warm, b.kt > :k AND ({at_odds(view)}) AS disputed,"
        f" ({odd}) AS odd, b.confidence, b.scope FROM json_each(:among) j"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value LEFT JOIN beliefs b ON n.type = 'Fact'"
        f" AND b.tenant = :t AND b.line = n.line AND b.node = n.id AND b.kf <= :k AND {view.scoped('b')}"
        f" AND {view.trusted()}"
    )
    return (
        "SELECT b.fact, b.line, b.belief, b.hash, b.since, b.ended, b.known, b.precision, b.gone, b.sure, b.warm,"
        f" b.disputed, b.odd, d.id, e.node, d.metadata, e.said_at, e.utc_offset, b.confidence, {STAGE},"
        f" {says.columns} FROM ({chosen}) b{proved(view)}{says.tables}"
    )


def _read(
    view: View, nodes: Collection[int], found: NearFacts, kept: dict[int, KeptRows], says: Says
) -> list[tuple[Order, ToldRow]]:
    """The rows of these facts, which are kept unless something contradicts them."""
    rows = view.query(_rows(view, says), among=listed(nodes))
    told: dict[int, list[tuple[Order, ToldRow]]] = {node: [] for node in nodes}
    lines, odd = dict[int, int](), set[int]()
    turns: dict[int, list[Instant]] = {node: [] for node in nodes}
    for (
        fact,
        line,
        belief,
        hash_,
        since,
        ended,
        known,
        precision,
        gone,
        sure,
        warm,
        disputed,
        any_odd,
        *more,
    ) in rows:
        lines[fact] = line
        if belief is None:
            continue
        proof, event, metadata, said_at, offset, confidence, stage, *own_words = more
        says.note(fact, hash_, own_words)
        holds = since <= view.valid < ended and not gone and sure and warm
        order = bool(gone), -since, -fact, -(proof or 0), -belief
        row = (
            fact, hash_, since, ended, known, precision, line, gone, belief, event, metadata, said_at, offset, disputed,
            not sure, confidence, holds, stage if holds else None,
        )  # fmt: skip
        told[fact].append((order, row))
        turns[fact] += (since, ended)
        if any_odd:
            odd.add(fact)
    for node, own in told.items():
        if node not in odd and node in lines:
            passed = [at for at in turns[node] if at <= view.valid]
            ahead = [at for at in turns[node] if at > view.valid]
            kept[node] = KeptRows(
                lines[node],
                found.sequence,
                max(passed, default=-FOREVER),
                min(ahead, default=FOREVER + 1),
                tuple(own),
            )
    return [one for own in told.values() for one in own]
