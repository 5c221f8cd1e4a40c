"""The lanes: each one looks for candidates its own way, inside one view.

A lane returns nodes, best first, and only such as the view may see; it does not weigh them against
another lane's. Words come from their index, vectors from the in-memory index; both obey time, scope and
world because every id passes through the view before it leaves the lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldline.read.cues import Asked
from worldline.rules.kinds import STANDING
from worldline.store import search
from worldline.store.search import Ground
from worldline.store.view import SqlView
from worldline.store.words import All, Any_, Match, any_of

if TYPE_CHECKING:
    from worldline.store.vectors import Floats, VectorIndex

DEPTH, INSTRUCTIONS = 100, 30
_MANY, _FEW = 200_000, 1_500
"""Above so many matching texts, common terms only count together with another one."""
_BESIDE = 3


def words(
    view: SqlView, asked: Asked, ground: Ground, frequency: dict[str, int], depth: int | None = DEPTH
) -> list[int]:
    """Nodes that hold the question's words, or are of the kinds it asks for, by BM25."""
    terms, kinds = asked.terms, [tag for tags in asked.kinds for tag in tags]
    if not terms:
        return []
    reach = {token: int(frequency.get(token, 0) * ground.share) for token in (*terms, *kinds)}
    if depth is not None and sum(reach.values()) > _MANY:
        found = search.search_words(view, _narrow(terms, reach), ground.owners, depth)
        if len(found) >= depth:
            return found
        kinds = []
    return search.search_words(view, any_of(terms, kinds), ground.owners, depth)


def _narrow(terms: Sequence[str], reach: dict[str, int]) -> Match:
    """Texts with a rare term, or with one of the two next ones beside another of the rarest."""
    ordered, room = sorted(terms, key=lambda term: (reach[term], term)), _FEW
    rare: list[str] = []
    for term in ordered:
        room -= reach[term]
        if room < 0:
            break
        rare.append(term)
    parts: list[Match] = list(rare)
    for term in ordered[len(rare) : len(rare) + 2]:
        others = [other for other in ordered if other != term][:_BESIDE]
        parts.append(All((term, any_of(others))) if others else term)
    return Any_(tuple(parts))


def standing(view: SqlView, asked: Asked, ground: Ground) -> list[int]:
    """What somebody said is to hold from then on: it may bear on any request for help."""
    if not asked.advice:
        return []
    return search.search_words(view, any_of((), [STANDING]), ground.owners, INSTRUCTIONS)


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
