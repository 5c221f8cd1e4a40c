"""The lanes: each one looks for candidates its own way, inside one view.

A lane returns nodes, best first, and only such as the view may see; it does not weigh them against
another lane's. Words come from SQL, vectors from the in-memory index; both obey time, scope and
world because every id passes through the view before it leaves the lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldline.read.cues import Asked
from worldline.store import search
from worldline.store.search import Ground
from worldline.store.view import SqlView

if TYPE_CHECKING:
    from worldline.store.vectors import Floats, VectorIndex

DEPTH = 100
_MANY = 5_000
"""Above so many matching texts, a text must hold one of the rarer terms to be looked at."""


def words(
    view: SqlView, asked: Asked, ground: Ground, frequency: dict[str, int], depth: int | None = DEPTH
) -> list[int]:
    """Nodes that hold the question's words, or are of the kinds it asks for, by BM25."""
    if not asked.terms:
        return []
    kinds = [tag for tags in asked.kinds for tag in tags]
    reach = {token: int(frequency.get(token, 0) * ground.share) for token in (*asked.terms, *kinds)}
    match = _match(asked.terms, kinds, reach if depth else {})
    return search.search_words(view, match, ground.owners, depth)


def _match(terms: Sequence[str], kinds: Sequence[str], count: dict[str, int]) -> str:
    """All terms, or kinds; where that is too much, only texts with one of the rarer terms."""
    text = f"text : ({_any(terms)})"
    if sum(count.values()) <= _MANY:
        return f"({text} OR kinds : ({_any(kinds)}))" if kinds else text
    rare: list[str] = []
    room = _MANY
    for term in sorted(terms, key=lambda term: (count[term], term)):
        room -= count[term]
        if rare and room < 0:
            break
        rare.append(term)
    return text if len(rare) == len(terms) else f"text : ({_any(rare)}) AND {text}"


def _any(tokens: Sequence[str]) -> str:
    return " OR ".join(f'"{token}"' for token in dict.fromkeys(tokens))


def vectors(
    view: SqlView, index: VectorIndex, query: Floats, ground: Ground, depth: int | None = DEPTH
) -> dict[int, float]:
    """Nodes near the question in meaning, with their cosines, nearest first."""
    scopes = ground.scopes if view.scope.bound() else None
    inside = search.nodes_inside(view) if view.world else None
    reach = depth + depth // 2 if depth else 1 << 30
    while True:
        near = index.search(view, query, reach, ground.newest, scopes=scopes, nodes=inside)
        seen = search.seen_among(view, [node for node, _ in near])
        kept = {node: cosine for node, cosine in near if node in seen}
        if depth is None or len(kept) >= depth or len(near) < reach:
            return dict(list(kept.items())[:depth])
        reach *= 4
