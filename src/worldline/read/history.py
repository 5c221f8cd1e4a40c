"""Introspection: when something was learned, what changed, and why it is believed.

These reads look across time, so they ignore the valid time of an edge's ends, but never the scope,
the world or the known time of the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from msgspec.structs import replace

from worldline.clock import LATEST, Instant, Interval
from worldline.model import Belief, Change, Diff, Edge, Node, Origin, Reason, Version, Why
from worldline.read.marks import packed, unpacked
from worldline.read.stage import with_stages
from worldline.store import ledger
from worldline.store.view import LISTED, SqlView, listed

T = TypeVar("T", Belief, Node, Edge)

_TOWARDS_EVIDENCE = (("derived_from", "out"), ("supports", "in"), ("implies", "in"))
_MAX_DEPTH = 16
_LOOK_AT = 400
"""So many rows at a time."""


def history(view: SqlView, line: int) -> tuple[Version, ...]:
    """Every belief ever held in a memory, oldest first, what each one was, and the stages it came to."""
    rows = [
        (_as_known(belief, view.known), _as_known(node, view.known)) for belief, node in view.history(line)
    ]
    joins = _version_edges(view, {node.key for _, node in rows})
    origins = _origins(view, "beliefs", [belief.row for belief, _ in rows])
    elsewhere = _origins(view, "edges", [edge.key for edge in joins])
    there = [(_as_there(belief, origins.get(belief.row, ())), node) for belief, node in rows]
    joined = [_as_there(edge, elsewhere.get(edge.key, ())) for edge in joins]
    told: list[Version] = []
    pairs = sorted(zip(rows, there, strict=True), key=lambda p: (p[0][0].known.start, p[1][0].known.start))
    for (belief, node), (own, _) in pairs:
        come = own is not belief
        change = _change(own, node, there, joined) if come else _change(belief, node, rows, joins)
        by = _closed_by(own, joined if come else joins)
        told.append(Version(node, change, by, tuple(origin for origin, _ in origins.get(belief.row, ()))))
    return with_stages(told, view, line)


def _as_known(item: T, known: Instant) -> T:
    """A belief as it was at a known time: that it would be given up later, nobody knew."""
    return item if item.known.end <= known else replace(item, known=Interval(item.known.start))


def _as_there(item: T, origins: Sequence[tuple[Origin, Instant]]) -> T:
    """A row that was absorbed, with the known times of the store where it happened."""
    for origin, noted in origins:
        if noted == item.known.start:
            return replace(item, known=origin.known)
    return item


def _origins(view: SqlView, table: str, rows: Sequence[int]) -> dict[int, list[tuple[Origin, Instant]]]:
    """The stores that rows of a table were in before, by row, and when this one learned of it."""
    found: dict[int, list[tuple[Origin, Instant]]] = {}
    for row, store, noted, *times in view.query(
        "SELECT row, store, noted, vf, vt, kf, kt FROM origins WHERE tenant = :t AND of = :table"
        f" AND row IN {LISTED} AND noted <= :k ORDER BY id",
        table=table, among=listed(rows),
    ):  # fmt: skip
        origin = Origin(store.hex(), Interval(*times[:2]), Interval(*times[2:]))
        found.setdefault(row, []).append((origin, noted))
    return found


def _version_edges(view: SqlView, keys: Iterable[int]) -> list[Edge]:
    chosen = ",".join(map(str, keys))
    return view.edge_rows(
        "e.type IN ('supersedes', 'derived_from')"
        f" AND (e.src IN ({chosen}) OR e.dst IN ({chosen} ) AND e.type = 'supersedes')"
    )


def _change(belief: Belief, node: Node, rows: list[tuple[Belief, Node]], joins: list[Edge]) -> str:
    since = belief.known.start
    earlier = [b for b, n in rows if b.known.start < since and b.scope == belief.scope]
    if belief.status != "believed":
        return belief.status
    if not earlier:
        return "put"
    made = [e for e in joins if e.src_line == node.key and e.known.start == since]
    if any(e.type == "supersedes" for e in made):
        return "amended"
    if any(e.type == "derived_from" for e in made):
        return "corrected"
    given_up = [b for b, n in rows if b.known.end == since and n.key == node.key]
    if any(b.valid.end > belief.valid.end for b in given_up):
        return "superseded" if _cut(belief, joins) else "retired"
    return "corrected" if given_up else "restored"


def _cut(belief: Belief, joins: list[Edge]) -> bool:
    return any(
        e.type == "supersedes" and e.dst_line == belief.of and e.valid.start == belief.valid.end
        for e in joins
    )


def _closed_by(belief: Belief, joins: list[Edge]) -> str | None:
    for edge in joins:
        if edge.type != "supersedes" or edge.dst_line != belief.of:
            continue
        if edge.known.start == belief.known.end or edge.valid.start == belief.valid.end:
            return edge.src
    return None


def changes(
    view: SqlView, since: Instant, limit: int | None = None, page: str | None = None
) -> tuple[Change, ...]:
    """What was believed or given up after a known time, in order; from the mark of a page on."""
    start, skip = (since + 1, 0) if page is None else unpacked(page, 2)
    feed: list[Change] = []
    for known, body in _log(view, start):
        for number, change in enumerate(_changeset(view, known, body)):
            if known > start or number >= skip:
                feed.append(change)
                if len(feed) == limit:
                    return tuple(feed)
    return tuple(feed)


def mark_after(feed: Sequence[Change], page: str | None = None) -> str:
    """The mark of the page that follows these changes, which `page` began."""
    last = feed[-1].known_at
    start, skip = unpacked(page, 2) if page else (0, 0)
    return packed(last, sum(change.known_at == last for change in feed) + (skip if start == last else 0))


def _log(view: SqlView, start: Instant) -> Iterator[tuple[Instant, bytes]]:
    """The changesets from a known time on, a few at a time."""
    sql = "SELECT known, body FROM log WHERE tenant = :t AND known >= :start AND known <= :k"
    while rows := view.query(f"{sql} ORDER BY known LIMIT {_LOOK_AT}", start=start):
        yield from ((row[0], row[1]) for row in rows)
        start = rows[-1][0] + 1


def _changeset(view: SqlView, known: Instant, body: bytes) -> Iterator[Change]:
    for table, closed, numbers, _ in ledger.sections(body):
        action: Literal["closed", "believed"] = "closed" if closed else "believed"
        for start in range(0, len(numbers), _LOOK_AT):
            chosen = numbers[start : start + _LOOK_AT]
            if table == "beliefs":
                yield from (Change(known, action, "node", node) for node in _nodes_of(view, chosen))
            elif table == "edges":
                edges = view.edge_rows(f"e.id IN ({','.join(map(str, chosen))})")
                yield from (Change(known, action, "edge", edge) for edge in edges)


def _nodes_of(view: SqlView, rows: Sequence[int]) -> list[Node]:
    anyone = view.bind(closed=True, quarantined=True)
    return anyone.nodes_by_belief(f"b.id IN ({','.join(map(str, rows))})")


def diff(before: SqlView, after: SqlView) -> Diff:
    """What differs between two moments: memories added, removed, changed; edges linked, unlinked."""
    low, high = sorted((before.known, after.known))
    early, late = sorted((before.valid, after.valid))
    touched = after.bind(known=LATEST).query(
        "SELECT DISTINCT b.line FROM beliefs b WHERE b.tenant = :t AND ((b.kf > :low AND b.kf <= :high)"
        " OR (b.kt > :low AND b.kt <= :high) OR (b.vf > :early AND b.vf <= :late)"
        f" OR (b.vt > :early AND b.vt <= :late)) AND {after.scoped('b')}",
        low=low, high=high, early=early, late=late,
    )  # fmt: skip
    lines = [row[0] for row in touched]
    old = {node.line: node for node in before.visible(lines)}
    new = {node.line: node for node in after.visible(lines)}
    changed = [(old[x], new[x]) for x in old.keys() & new.keys() if old[x].id != new[x].id]
    linked, unlinked = _edge_diff(before, after, (low, high, early, late))
    return Diff(
        tuple(new[x] for x in lines if x in new and x not in old),
        tuple(old[x] for x in lines if x in old and x not in new),
        tuple(sorted(changed, key=lambda pair: pair[0].key)),
        linked,
        unlinked,
    )


def _edge_diff(
    before: SqlView, after: SqlView, window: tuple[Instant, Instant, Instant, Instant]
) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    low, high, early, late = window
    rows = after.bind(known=LATEST).query(
        "SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND ((e.kf > :low AND e.kf <= :high)"
        " OR (e.kt > :low AND e.kt <= :high) OR (e.vf > :early AND e.vf <= :late)"
        f" OR (e.vt > :early AND e.vt <= :late)) AND {after.scoped('e')}",
        low=low, high=high, early=early, late=late,
    )  # fmt: skip
    sources = [row[0] for row in rows]
    old = {edge.id: edge for edge in before.edges(sources, None, "out")}
    new = {edge.id: edge for edge in after.edges(sources, None, "out")}
    return (
        tuple(edge for id_, edge in new.items() if id_ not in old),
        tuple(edge for id_, edge in old.items() if id_ not in new),
    )


def why(view: SqlView, node: Node) -> Why:
    """The path from a belief to the words it rests on, breadth first."""
    reasons: list[Reason] = []
    seen = {node.line}
    level = [node]
    for depth in range(1, _MAX_DEPTH):
        steps = [step for item in level for step in _steps(view, item)]
        level = []
        for via, line, span in steps:
            if line in seen:
                continue
            seen.add(line)
            found = view.latest(line)
            if found is not None:
                reasons.append(Reason(depth, via, found, span))
                level.append(found)
    held = [
        belief.row
        for belief, _ in view.history(node.line)
        if (belief.of, belief.valid) == (node.key, node.valid)
    ]
    origins = {origin: None for found in _origins(view, "beliefs", held).values() for origin, _ in found}
    return Why(node, tuple(reasons), tuple(origins))


def _steps(view: SqlView, node: Node) -> list[tuple[str, int, tuple[int, int] | None]]:
    steps: list[tuple[str, int, tuple[int, int] | None]] = []
    for type_, direction in _TOWARDS_EVIDENCE:
        near, far = ("src", "dst") if direction == "out" else ("dst", "src")
        for edge in view.edge_rows(
            f"e.type = :type AND e.{near} IN (:line, :key) AND e.kt > :k", type=type_,
            line=node.line, key=node.key,
        ):  # fmt: skip
            line = edge.dst_line if far == "dst" else edge.src_line
            start, end = edge.metadata.get("start"), edge.metadata.get("end")
            steps.append((type_, line, None if start is None or end is None else (start, end)))
    return steps
