"""Introspection: when something was learned, what changed, and why it is believed.

These reads look across time, so they ignore the valid time of an edge's ends, but never the scope,
the world or the known time of the view.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from worldline.clock import LATEST, Instant
from worldline.model import Belief, Change, Diff, Edge, Node, Reason, Version, Why
from worldline.store import ledger
from worldline.store.view import SqlView

_TOWARDS_EVIDENCE = (("derived_from", "out"), ("supports", "in"), ("implies", "in"))
_MAX_DEPTH = 16


def history(view: SqlView, line: int) -> tuple[Version, ...]:
    """Every belief ever held in a memory, oldest first, and what each one was."""
    rows = view.history(line)
    keys = {node.key for _, node in rows}
    joins = _version_edges(view, keys)
    return tuple(
        Version(node, _change(belief, node, rows, joins), _closed_by(belief, joins)) for belief, node in rows
    )


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


def changes(view: SqlView, since: Instant) -> tuple[Change, ...]:
    """What was believed or given up after a known time, in order."""
    feed: list[Change] = []
    sql = "SELECT known, body FROM log WHERE tenant = :t AND known > :since AND known <= :k ORDER BY sequence"
    for known, body in view.query(sql, since=since):
        for table, closed, numbers, _ in ledger.sections(body):
            action: Literal["closed", "believed"] = "closed" if closed else "believed"
            if table == "beliefs":
                feed += [Change(known, action, "node", node) for node in _nodes_of(view, numbers)]
            elif table == "edges":
                chosen = ",".join(map(str, numbers))
                edges = view.edge_rows(f"e.id IN ({chosen})")
                feed += [Change(known, action, "edge", edge) for edge in edges]
    return tuple(feed)


def _nodes_of(view: SqlView, rows: list[int]) -> list[Node]:
    anyone = view.bind(closed=True, quarantined=True)
    found: list[Node] = []
    for start in range(0, len(rows), 400):
        chosen = ",".join(map(str, rows[start : start + 400]))
        found += anyone.nodes_by_belief(f"b.id IN ({chosen})")
    return found


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
    return Why(node, tuple(reasons))


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
