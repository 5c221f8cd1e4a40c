"""Introspection: when something was learned, what changed, and why it is believed.

These reads look across time, so they ignore the valid time of an edge's ends, but never the scope,
the world or the known time of the view.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from worldline.clock import FOREVER, LATEST, Instant, Interval, instant
from worldline.errors import NotFound
from worldline.handle import Handle
from worldline.model import Belief, Change, Diff, Edge, Node, Reason, Version, Why
from worldline.ports import View
from worldline.read.listing import packed, unpacked
from worldline.store import ledger, search
from worldline.store.ledger import Noted, Window
from worldline.store.people import stages
from worldline.store.registry import missing

T = TypeVar("T", Belief, Node, Edge)

_TOWARDS_EVIDENCE = (("derived_from", "out"), ("supports", "in"), ("implies", "in"))
_MAX_DEPTH = 16
_HEX = re.compile(r"[0-9a-fA-F]+")


def one(view: View, handle: Handle, ref: Any, *, exact: bool) -> Node:
    """The version of a memory that is visible, or the very one that an id names."""
    target = handle.resolve(view, ref)
    if exact:
        node = view.payload(target.key or target.line)
    else:
        node = view.bind(known=min(view.known, target.known)).one(target.line)
    if node is None:
        raise missing(view, target)
    return node


def edge(view: View, handle: Handle, src: Any, type_: str, dst: Any) -> Edge:
    """The edge of a type between two memories that is believed."""
    source = handle.resolve(view, src)
    target = handle.resolve(view.bind(world=0) if type_ == "refers_to" else view, dst)
    found = ledger.edges_between(view, source, type_, target)
    if not found:
        raise NotFound(
            f"no {type_} edge is believed between these two; a fact is a memory of its own, with an id"
        )
    return found[-1]


def named(view: View, handle: Handle, ref: Any) -> Node:
    """A memory as it is visible, or as it was last."""
    target = handle.resolve(view, ref)
    node = view.one(target.line) or view.latest(target.line)
    if node is None:
        raise missing(view, target)
    return node


def seen_at(view: View, handle: Handle, at: Any) -> View:
    """The view from a moment: a time, or a hash that a world has had; the same view for none."""
    if at is None:
        return view
    if isinstance(at, str) and len(at) >= handle.config.prefix_length and _HEX.fullmatch(at):
        target = handle.resolve(view, at)
        known = view.valid if target.known == LATEST else target.known
        return view.bind(valid=known, known=known, world=target.line)
    return view.bind(valid=instant(at), known=instant(at))


def history(view: View, line: int) -> tuple[Version, ...]:
    """Every belief ever held in a memory, oldest first, what each one was, and the stages it came to."""
    rows = [
        (_as_known(belief, view.known), _as_known(node, view.known)) for belief, node in view.history(line)
    ]
    joins = ledger.version_edges(view, {node.key for _, node in rows})
    origins = ledger.origins(view, "beliefs", [belief.row for belief, _ in rows])
    elsewhere = ledger.origins(view, "edges", [edge.key for edge in joins])
    there = [(_as_there(belief, origins.get(belief.row, ())), node) for belief, node in rows]
    joined = [_as_there(edge, elsewhere.get(edge.key, ())) for edge in joins]
    told: list[Version] = []
    pairs = sorted(zip(rows, there, strict=True), key=lambda p: (p[0][0].known.start, p[1][0].known.start))
    for (belief, node), (own, _) in pairs:
        come = own is not belief
        change = _change(own, node, there, joined) if come else _change(belief, node, rows, joins)
        by = _closed_by(own, joined if come else joins)
        told.append(Version(node, change, by, tuple(origin for origin, _ in origins.get(belief.row, ()))))
    return _with_stages(told, view, line)


def _as_known(item: T, known: Instant) -> T:
    """A belief as it was at a known time: that it would be given up later, nobody knew."""
    return item if item.known.end <= known else replace(item, known=Interval(item.known.start))


def _as_there(item: T, origins: Sequence[Noted]) -> T:
    """A row that was absorbed, with the known times of the store where it happened."""
    for origin, noted in origins:
        if noted == item.known.start:
            return replace(item, known=origin.known)
    return item


def _with_stages(versions: list[Version], view: View, line: int) -> tuple[Version, ...]:
    """A history with each stage after the beliefs that were held by then, its reason and how long it stood."""
    for stage in stages(view, line):
        stood = Interval(stage.start, stage.end if stage.end <= view.known else FOREVER)
        before = [version for version in versions if version.node.known.start <= stage.start]
        if before:
            node = replace(before[-1].node, known=stood, reason=stage.reason)
            versions.insert(len(before), Version(node, stage.value))
    return tuple(versions)


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
    view: View, since: Instant, limit: int | None = None, page: str | None = None
) -> tuple[Change, ...]:
    """What was believed or given up after a known time, in order; from the mark of a page on."""
    start, skip = (since + 1, 0) if page is None else unpacked(page)
    feed: list[Change] = []
    for known, body in ledger.log(view, start):
        for number, change in enumerate(_changeset(view, known, body)):
            if known > start or number >= skip:
                feed.append(change)
                if len(feed) == limit:
                    return tuple(feed)
    return tuple(feed)


def mark_after(feed: Sequence[Change], page: str | None = None) -> str:
    """The mark of the page that follows these changes, which `page` began."""
    last = feed[-1].known_at
    start, skip = unpacked(page) if page else (0, 0)
    return packed(last, sum(change.known_at == last for change in feed) + (skip if start == last else 0))


def _changeset(view: View, known: Instant, body: bytes) -> Iterator[Change]:
    for table, closed, numbers, _ in ledger.sections(body):
        action: Literal["closed", "believed"] = "closed" if closed else "believed"
        for start in range(0, len(numbers), ledger.LOOK_AT):
            chosen = numbers[start : start + ledger.LOOK_AT]
            if table == "beliefs":
                yield from (Change(known, action, "node", node) for node in ledger.nodes_of(view, chosen))
            elif table == "edges":
                yield from (Change(known, action, "edge", edge) for edge in ledger.edges_of(view, chosen))


def diff(before: View, after: View) -> Diff:
    """What differs between two moments: memories added, removed, changed; edges linked, unlinked."""
    known, valid = sorted((before.known, after.known)), sorted((before.valid, after.valid))
    window = Window(known[0], known[1], valid[0], valid[1])
    lines = ledger.lines_touched(after, window)
    old = {node.line: node for node in before.visible(lines)}
    new = {node.line: node for node in after.visible(lines)}
    changed = [(old[x], new[x]) for x in old.keys() & new.keys() if old[x].id != new[x].id]
    linked, unlinked = _edge_diff(before, after, window)
    return Diff(
        tuple(new[x] for x in lines if x in new and x not in old),
        tuple(old[x] for x in lines if x in old and x not in new),
        tuple(sorted(changed, key=lambda pair: pair[0].key)),
        linked,
        unlinked,
    )


def _edge_diff(before: View, after: View, window: Window) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    sources = ledger.sources_touched(after, window)
    old = {edge.id: edge for edge in before.edges(sources, None, "out")}
    new = {edge.id: edge for edge in after.edges(sources, None, "out")}
    return (
        tuple(edge for id_, edge in new.items() if id_ not in old),
        tuple(edge for id_, edge in old.items() if id_ not in new),
    )


def why(view: View, node: Node) -> Why:
    """The path from a belief to the words it rests on, breadth first."""
    reasons: list[Reason] = []
    seen = {node.line}
    level = [node]
    for depth in range(1, _MAX_DEPTH):
        steps = _steps(view, level)
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
    origins = {
        origin: None for found in ledger.origins(view, "beliefs", held).values() for origin, _ in found
    }
    return Why(node, tuple(reasons), tuple(origins))


def _steps(view: View, level: Sequence[Node]) -> list[tuple[str, int, tuple[int, int] | None]]:
    """(by which edge, to which lineage, which part of it) from these towards their evidence, one after the other."""
    edges = ledger.evidence_edges(view, [end for node in level for end in (node.line, node.key)])
    steps: list[tuple[str, int, tuple[int, int] | None]] = []
    for node in level:
        for type_, direction in _TOWARDS_EVIDENCE:
            for edge in edges:
                near, far = edge.src_line, edge.dst_line
                if direction == "in":
                    near, far = far, near
                if edge.type == type_ and near in (node.line, node.key):
                    start, end = edge.metadata.get("start"), edge.metadata.get("end")
                    steps.append((type_, far, None if start is None or end is None else (start, end)))
    return steps


def offsets(handle: Handle, nodes: Iterable[Node]) -> dict[str, int]:
    """For turns and facts the minutes from UTC to the place where it was said, where that is not 0."""
    said = {node.key: node.id for node in nodes if node.type in ("Turn", "Fact")}
    found = handle.read(lambda view: search.offsets(view, list(said))) if said else {}
    return {said[key]: minutes for key, minutes in found.items()}
