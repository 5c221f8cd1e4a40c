"""Lists and counts: tenants, pages of memories, what a query starts from, worlds and hashes, how much there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import EARLIEST, FOREVER, LATEST, Instant, Interval
from worldline.hashing import node_id, world_hash
from worldline.model import Metadata, Node
from worldline.ports import View
from worldline.store import ledger
from worldline.store.view import NODE, listed, node_from


class Amounts(Struct, frozen=True):
    """How much a tenant holds: what is visible by type, and every row that was ever written."""

    visible: dict[str, int]
    edges: dict[str, int]
    versions: int
    beliefs: int
    edge_rows: int
    changesets: int
    pending_events: int
    pending_merges: int


# Nodes -------------------------------------------------------------------------------------------


def page(
    view: View,
    types: Sequence[str] | None,
    metadata: Metadata,
    most: int,
    after: tuple[Instant, int] | None = None,
) -> list[Node]:
    """Visible memories of these types (None: all but what is drawn from others), newest first, after a mark.

    Of each type no more are read than the page may have.
    """
    args: dict[str, Any] = {"most": most, "types": orjson.dumps(list(types or ())).decode()}
    page_vf, page_id = after or (FOREVER, 0)
    view = view.bind(labels={**view.labels, **metadata}) if metadata else view
    newest = "ORDER BY b.vf DESC, b.node DESC, b.id LIMIT :most"
    rows = view.query(
        f"{_TYPES if types is None else _GIVEN} SELECT {NODE} FROM k CROSS JOIN beliefs b ON b.tenant = :t AND b.id IN"
        " (SELECT b.id FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE b.tenant = :t"
        " AND b.type = k.type AND b.vf <= :page_vf AND (b.vf < :page_vf OR b.node < :page_id)"
        f" AND {view.seen()} {newest}) CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node {newest}",
        page_vf=page_vf, page_id=page_id, **args,
    )  # fmt: skip
    return [node_from(row) for row in rows]


DRAWN = ("Fact", "Entity", "Topic", "Summary", "Scope", "Session")
"""What is drawn from what people add, or only holds it together; it is listed on request."""
_NEXT_TYPE = "SELECT min(x.type) FROM beliefs x WHERE x.tenant = :t"
_TYPES = (
    f"WITH RECURSIVE every(type) AS (SELECT ({_NEXT_TYPE}) UNION ALL SELECT ({_NEXT_TYPE} AND x.type > every.type)"
    " FROM every WHERE every.type IS NOT NULL), k AS (SELECT type FROM every WHERE type IS NOT NULL"
    f" AND type NOT IN {DRAWN!r})"
)
"""The types that there are, without looking at more than one belief of each."""
_GIVEN = "WITH k AS (SELECT DISTINCT value AS type FROM json_each(:types))"


def everything(view: View) -> list[Node]:
    """All visible memories, newest first; not what only holds them together."""
    return view.nodes("b.type NOT IN ('Scope', 'Session')", "ORDER BY b.vf DESC, b.id DESC")


def versions(view: View, keys: Sequence[int]) -> list[Node]:
    """These versions where they are visible, in this order."""
    rows = view.query(
        f"SELECT {NODE} FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
        f" WHERE {view.seen()} ORDER BY j.key, b.kt, b.id",
        among=listed(keys),
    )
    return [node_from(row) for row in rows]


def summaries(view: View, worlds: Collection[int]) -> dict[int, int]:
    """World → the newest summary that it contains."""
    rows = view.query(
        "SELECT w.value, (SELECT n.line FROM edges e CROSS JOIN beliefs b ON b.tenant = e.tenant AND b.line = e.dst"
        " CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
        f" WHERE e.tenant = :t AND e.src = w.value AND e.type = 'contains' AND {view.time('e')}"
        f" AND n.type = 'Summary' AND {view.seen()} ORDER BY e.dst DESC LIMIT 1) FROM json_each(:among) w",
        among=listed(worlds),
    )
    return {world: summary for world, summary in rows if summary is not None}


# Worlds ------------------------------------------------------------------------------------------

_HASH = (
    "(SELECT h.hash FROM world_hashes h WHERE h.tenant = :t AND h.line = {line} AND h.kf <= :k"
    " ORDER BY h.kf DESC, h.id DESC LIMIT 1)"
)


def hash_of(view: View, line: int) -> bytes:
    """The hash of a world at this known time; a leaf's follows from its id."""
    world, own = view.query(
        f"SELECT {_HASH.format(line=':line')}, (SELECT n.hash FROM nodes n WHERE n.tenant = :t AND n.id = :line)",
        line=line,
    )[0]
    return world or world_hash(own or node_id("Scope", "root", ""))  # nothing was ever written: a bare root


def worlds(view: View) -> tuple[tuple[Node, str], ...]:
    """Every visible memory that contains something, with its hash."""
    rows = view.query(
        f"SELECT w.line, {_HASH.format(line='w.line')} FROM worlds w WHERE w.tenant = :t AND EXISTS (SELECT 1"
        " FROM edges e WHERE e.tenant = :t AND e.src = w.line AND e.type = 'contains' AND e.kf <= :k) ORDER BY w.line"
    )
    hashes: dict[int, bytes | None] = dict(rows)
    return tuple(
        (node, (hashes[node.line] or world_hash(bytes.fromhex(node.lineage))).hex())
        for node in view.visible(hashes)
    )


# Amounts ------------------------------------------------------------------------------------------


class _Standing(NamedTuple):
    """Where a history stands: its last changeset, its last rows, and how often rows were moved or erased."""

    head: bytes = b""
    sequence: int = 0
    known: Instant = 0
    moved: int = 0
    belief: int = 0
    edge: int = 0


class _Amounted(NamedTuple):
    """What some rows amount to, and when the next of them begins or ends by itself."""

    visible: Counter[str]
    edges: Counter[str]
    rows: tuple[int, int, int]
    """Versions, beliefs, edges."""
    until: Instant

    def changed(self, before: _Amounted, after: _Amounted) -> _Amounted:
        """The same, where some rows amount to something else than before."""
        rows = zip(self.rows, after.rows, before.rows, strict=True)
        versions, beliefs, edges = (held + now - then for held, now, then in rows)
        return _Amounted(
            _less(self.visible + after.visible, before.visible),
            _less(self.edges + after.edges, before.edges),
            (versions, beliefs, edges),
            min(self.until, after.until),
        )


def _less(counted: Counter[str], by: Counter[str]) -> Counter[str]:
    return Counter({name: count for name in sorted(counted) if (count := counted[name] - by[name])})


class _Counted(NamedTuple):
    """What everything amounted to, where the history stood, and since which moment that holds."""

    at: _Standing
    since: Instant
    sum: _Amounted


_COUNTS = 64
"""Of so many views it is kept in mind how much they hold."""
_SINCE = 2_000
"""So many changesets are caught up with; after more, everything is counted anew."""


def amounts(view: View) -> Amounts:
    """How much this tenant holds, as far as scope and world reach; after a write, only what it touched is counted."""
    *standing, changesets, events = view.query(
        "SELECT t.head, t.sequence, t.last_known, t.moved, (SELECT max(b.id) FROM beliefs b WHERE b.tenant = :t),"
        " (SELECT max(e.id) FROM edges e WHERE e.tenant = :t), (SELECT count(*) FROM log l WHERE l.tenant = :t),"
        " (SELECT count(*) FROM events v CROSS JOIN nodes n ON n.tenant = :t AND n.id = v.node WHERE v.tenant = :t"
        " AND v.state = 'pending' AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = n.line"
        f" AND b.node = n.id AND {view.scoped('b')} AND {view.ever_inside('b.line')}))"
        " FROM (SELECT 1 AS one) o LEFT JOIN tenants t ON t.tenant = :t"
    )[0]
    at = _Standing(bytes(standing[0] or b""), *(number or 0 for number in standing[1:]))
    counted = _counted(view, at)
    merges = len(view.proposals("p.status = 'pending'"))
    return Amounts(dict(counted.visible), dict(counted.edges), *counted.rows, changesets, events, merges)


def _counted(view: View, at: _Standing) -> _Amounted:
    """From mind and from what was written since, where nothing has begun or ended by itself."""
    if view.known < LATEST or view.closed or view.labels or not view.is_snapshot:
        return _sum(view)
    key = view.tenant, tuple(view.owned.items()), view.world, view.quarantined, view.hindsight
    held: dict[Any, _Counted] = view.store.counts
    found = held.get(key)
    if found is None or not found.since <= view.valid < found.sum.until:
        if len(held) >= _COUNTS:
            held.clear()
        held[key] = _Counted(at, view.valid, _sum(view))
    elif found.at != at:
        held[key] = _Counted(at, view.valid, _caught_up(view, found, at) or _sum(view))
    return held[key].sum


def _caught_up(view: View, found: _Counted, at: _Standing) -> _Amounted | None:
    """With what was put and closed since; None where rows were erased or moved, or another history is looked at."""
    then = found.at
    log = view.query(
        "SELECT l.sequence, l.hash, l.body FROM log l WHERE l.tenant = :t AND l.sequence >= :then"
        " ORDER BY l.sequence LIMIT :most",
        then=then.sequence, most=_SINCE + 1,
    )  # fmt: skip
    goes_on = (
        log and (log[0][0], bytes(log[0][1])) == (then.sequence, then.head) and log[-1][0] == at.sequence
    )
    if view.world or at.moved != then.moved or not goes_on:
        return None
    ended: dict[str, list[int]] = {"beliefs": [], "edges": []}
    for *_, body in log[1:]:
        for table, closed, numbers, _ in ledger.sections(bytes(body)):
            if closed and table in ended:
                ended[table] += numbers
    touched = {"belief": then.belief, "unbelieved": listed(ended["beliefs"]), "edge": then.edge,
               "unlinked": listed(ended["edges"])}  # fmt: skip
    return found.sum.changed(_sum(view.bind(known=then.known), **touched), _sum(view, **touched))


_LINES = (
    "(SELECT x.line FROM beliefs x WHERE x.tenant = :t AND x.id > :belief UNION SELECT y.line FROM beliefs y"
    " WHERE y.tenant = :t AND y.id IN (SELECT value FROM json_each(:unbelieved))) u CROSS JOIN beliefs b"
    " ON b.tenant = :t AND b.line = u.line AND b.kf <= :k"
)
_EDGES = (
    "(SELECT x.id FROM edges x WHERE x.tenant = :t AND x.id > :edge UNION SELECT y.id FROM edges y"
    " WHERE y.tenant = :t AND y.id IN (SELECT value FROM json_each(:unlinked))) u CROSS JOIN edges e"
    " ON e.tenant = :t AND e.id = u.id AND e.kf <= :k"
)


def _sum(view: View, **touched: Any) -> _Amounted:
    """Everything, or what the touched rows amount to by this known time: beliefs by lineages, edges by themselves."""
    turns = (
        "min(CASE WHEN {0}.vf > :v THEN {0}.vf ELSE :forever END), min(CASE WHEN {0}.vt > :v THEN {0}.vt ELSE"
        " :forever END)"
    )
    believed = view.query(
        f"SELECT b.type, count(DISTINCT CASE WHEN {view.seen()} THEN b.line END), count(DISTINCT b.node), count(*),"
        f" {turns.format('b')} FROM {_LINES if touched else 'beliefs b'} WHERE b.tenant = :t AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')} GROUP BY b.type ORDER BY b.type",
        **touched,
    )
    linked = view.query(
        f"SELECT e.type, count(CASE WHEN {view.time('e')} THEN 1 END), count(*), {turns.format('e')}"
        f" FROM {_EDGES if touched else 'edges e'} WHERE e.tenant = :t AND {view.scoped('e')}"
        f" AND {view.edge_ever_inside()} GROUP BY e.type ORDER BY e.type",
        **touched,
    )
    versions, beliefs = (sum(row[at] for row in believed) for at in (2, 3))
    return _Amounted(
        Counter({row[0]: row[1] for row in believed if row[1]}),
        Counter({row[0]: row[1] for row in linked if row[1]}),
        (versions, beliefs, sum(row[2] for row in linked)),
        min((moment for row in (*believed, *linked) for moment in row[-2:]), default=FOREVER),
    )


def span(view: View) -> dict[str, Interval | None]:
    """From the first to the last moment at which something began, for valid and for known time."""
    first_valid, began, ended, first_known, last_known = view.query(
        "SELECT min(b.vf), max(b.vf), max(CASE WHEN b.vt < :forever THEN b.vt ELSE b.vf END),"
        " min(b.kf), max(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.type <> 'Scope' AND b.vf > :earliest"
        f" AND {view.scoped('b')} AND {view.ever_inside('b.line')}",
        earliest=EARLIEST,
    )[0]
    if first_valid is None:
        return {"valid": None, "known": None}
    return {
        "valid": Interval(first_valid, max(began, ended) + 1),
        "known": Interval(first_known, last_known + 1),
    }
