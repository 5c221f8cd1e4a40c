"""What is believed and cannot all be true: open contradictions, both sides with their dates and sources.

Only what the view sees: both sides, and the edge between them, at its moment, in its scope and world.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from worldline.model import Contradiction, Edge, Node, Said, Side
from worldline.rules.wording import label
from worldline.store.view import LISTED, SqlView, listed

MOST = 5
"""Sources that are shown for a side."""


def conflicts(view: SqlView) -> tuple[Contradiction, ...]:
    """Every open conflict, the one noticed last first; each pair once."""
    rows = view.query(
        "SELECT DISTINCT e.src FROM edges e INDEXED BY edges_contradicts WHERE e.tenant = :t"
        f" AND e.type = 'contradicts' AND {view.time('e')} AND {view.scoped('e')}"
    )
    edges = view.edges([row[0] for row in rows], ("contradicts",), "out")
    pairs: dict[frozenset[int], Edge] = {}
    for edge in sorted((e for e in edges if "about" not in e.metadata), key=lambda e: (e.known.start, e.key)):
        pairs.setdefault(frozenset((edge.src_line, edge.dst_line)), edge)
    lines = {line for pair in pairs for line in pair}
    nodes = {node.line: node for node in view.visible(sorted(lines))}
    about, said = _about(view, lines), _sources(view, lines)
    found = [_conflict(edge, nodes, about, said) for edge in pairs.values()]
    return tuple(sorted(found, key=lambda c: (-c.since, c.sides[0].node.key)))


def _conflict(
    edge: Edge,
    nodes: dict[int, Node],
    about: dict[int, tuple[str, str]],
    said: dict[int, list[Said]],
) -> Contradiction:
    ends = sorted((nodes[line] for line in (edge.src_line, edge.dst_line)), key=_begins)
    first, second = (Side(node, tuple(said.get(node.line, ())[:MOST])) for node in ends)
    entity, predicate = about.get(ends[0].line, (None, None))
    inferred = edge.made == "inferred"
    return Contradiction(entity, predicate, (first, second), edge.known.start, inferred)


def _begins(node: Node) -> tuple[int, int]:
    return node.valid.start, node.key


def _about(view: SqlView, lines: Collection[int]) -> dict[int, tuple[str, str]]:
    """Whom each fact is about, by name, and its predicate as it was worded."""
    rows = view.query(
        "SELECT f.node, s.name, f.phrase FROM facts f CROSS JOIN nodes s ON s.id = f.subject"
        f" WHERE f.tenant = :t AND f.node IN {LISTED}",
        among=listed(lines),
    )
    return {line: (name, label(phrase)) for line, name, phrase in rows}


def _sources(view: SqlView, lines: Iterable[int]) -> dict[int, list[Said]]:
    """The visible words that each of these rests on, newest first."""
    rows = view.query(
        "SELECT d.src, n.hash, e.sender, e.said_at, (SELECT w.name FROM nodes w WHERE w.id = e.session), n.content"
        " FROM edges d CROSS JOIN nodes n ON n.id = d.dst CROSS JOIN events e ON e.node = n.id"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE d.tenant = :t AND d.src IN {LISTED} AND d.type = 'derived_from' AND d.kf <= :k AND d.kt > :k"
        f" AND {view.scoped('d')} AND {view.seen()} ORDER BY e.said_at DESC, n.id",
        among=listed(sorted(lines)),
    )
    found: dict[int, list[Said]] = {}
    for line, hash_, sender, said_at, session, text in rows:
        found.setdefault(line, []).append(Said(hash_.hex(), sender, said_at, session, text))
    return found
