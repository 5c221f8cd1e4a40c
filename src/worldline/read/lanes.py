"""The lanes: each one looks for candidates its own way, inside one view.

A lane returns nodes, best first, and only such as the view may see; it does not weigh them against
another lane's. Words come from SQL, vectors from the in-memory index; both obey time, scope and
world because every id passes through the view before it leaves the lane.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from worldline.read.cues import Asked
from worldline.store.view import LISTED, SqlView, listed

if TYPE_CHECKING:
    from worldline.store.vectors import Floats, VectorIndex

DEPTH = 100
_RARE = 3
_MANY = 20_000
"""Above so many matching texts, a text must hold one of the rarest terms to be looked at."""


def words(
    view: SqlView, asked: Asked, frequency: dict[str, int], depth: int | None = DEPTH
) -> list[int]:
    """Nodes that hold the question's words, or are of the kinds it asks for, by BM25."""
    kinds = [tag for tags in asked.kinds for tag in tags]
    if not asked.terms:
        return []
    return view.search_words(_match(asked.terms, kinds, frequency, depth), depth)


def _match(
    terms: Sequence[str], kinds: Sequence[str], frequency: dict[str, int], depth: int | None
) -> str:
    every = f"text : ({_any(terms)})"
    if kinds:
        every = f"({every} OR kinds : ({_any(kinds)}))"
    common = sum(frequency.get(term, 0) for term in (*terms, *kinds))
    if depth is None or common <= _MANY:
        return every
    rare = sorted(terms, key=lambda term: (frequency.get(term, 0), term))[:_RARE]
    return f"text : ({_any(rare)})"


def _any(tokens: Sequence[str]) -> str:
    return " OR ".join(f'"{token}"' for token in dict.fromkeys(tokens))


def vectors(
    view: SqlView, index: VectorIndex, query: Floats, depth: int | None = DEPTH
) -> dict[int, float]:
    """Nodes near the question in meaning, with their cosines, nearest first."""
    scopes = view.scope_sets() if view.scope.bound() else None
    inside = view.nodes_inside() if view.world else None
    reach = 4 * depth if depth else 1 << 30
    while True:
        near = index.search(view, query, reach, scopes=scopes, nodes=inside)
        seen = view.seen_among([node for node, _ in near])
        kept = {node: cosine for node, cosine in near if node in seen}
        if depth is None or len(kept) >= depth or len(near) < reach:
            return dict(list(kept.items())[:depth])
        reach *= 4


def neighbours(view: SqlView, nodes: Collection[int]) -> list[int]:
    """The turns just before and after these, in the same session."""
    rows = view.query(
        "SELECT t.node FROM texts o CROSS JOIN texts t ON t.tenant = :t AND t.session = o.session"
        f" AND t.position IN (o.position - 1, o.position + 1) WHERE o.node IN {LISTED} ORDER BY t.node",
        among=listed(nodes),
    )
    return [row[0] for row in rows]
