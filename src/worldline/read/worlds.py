"""The worlds lane: find the session, topic or project that a question is about, then look inside.

A world's vector is composed by sleep of what it contains; a store that never slept has none, and the
lane says nothing. It brings the best texts of the nearest worlds as candidates, and gives every
candidate a share of its world's nearness (the factor `world`). Composed vectors are of today, so a look
at another moment does without them: its answer is the same whatever the nights since have composed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from worldline.read.features import Column, Turn, standard
from worldline.read.weights import WORLD
from worldline.store import search

if TYPE_CHECKING:
    from worldline.store.vectors import Floats, VectorIndex
    from worldline.store.view import SqlView

WORLDS, EACH = 8, 10
"""So many of the nearest worlds are looked into, and so many texts of each are brought."""
_ROOM = 1000
"""So many texts are looked at for that."""
FEWEST = 10
"""Where the pool has fewer worlds, the nearness of one of them tells its turns from others too little."""
_DEEPER = 8
"""So many times as many worlds, where only those inside one world count."""


def nearness(view: SqlView, index: VectorIndex, query: Floats, ground: search.Ground) -> dict[int, float]:
    """The cosine of every world; nothing where none was composed, or where another moment is looked at."""
    if not ground.worlds or view.whole:
        return {}
    scopes = ground.scopes if view.scope.bound() else None
    return index.worlds.cosines(view, query, ground.worlds, scopes)


def lane(
    view: SqlView, index: VectorIndex, query: Floats, near: Mapping[int, float], ground: search.Ground
) -> list[int]:
    """The best texts of the nearest worlds, best first."""
    if view.scope.bound():
        view = view.bind(only=ground.scopes)  # the same scope sets, without looking for them again
    reach = WORLDS * (_DEEPER if view.world else 1)
    best = sorted(near, key=lambda world: (-near[world], world))[:reach]
    if not best:
        return []
    inside = search.inside_worlds(view, best, _ROOM)
    cosines = index.cosines(query, [node for _, node in inside])
    ordered = sorted(
        ((near[world] + cosines[node], node, world) for world, node in inside if node in cosines),
        key=lambda one: (-one[0], one[1]),
    )
    taken: dict[int, int] = {}
    found: list[int] = []
    for _, node, world in ordered:
        taken[world] = taken.get(world, 0) + 1
        if taken[world] <= EACH:
            found.append(node)
    return list(dict.fromkeys(found))


def column(turns: Sequence[Turn], near: Mapping[int, float]) -> dict[str, Column]:
    """What its world's nearness gives to each turn, weight included; nothing where there are few worlds."""
    if len({turn.session for turn in turns if int(turn.session) in near}) < FEWEST:
        return {}
    return {"world": WORLD * spread(turns, near)}


def spread(turns: Sequence[Turn], near: Mapping[int, float]) -> Column:
    """Standard scores over the pool; a turn of no composed world stands in the middle."""
    values = np.array([near.get(int(turn.session), np.nan) for turn in turns])
    if np.isnan(values).all():
        return np.zeros(len(turns))
    return standard(np.where(np.isnan(values), np.nanmean(values), values))
