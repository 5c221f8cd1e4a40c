"""Signals that sleep has left beside the texts: one look for a whole pool, one factor each in the score.

What a signal is worth stands in `weights.SIGNALS`; a scorer that somebody registered brings its own
weight. A store that never slept has none, and no statement is run for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from worldline.read.features import Column, Turn
from worldline.read.weights import SIGNALS
from worldline.store.view import LISTED, SqlView, listed


def signals(view: SqlView, turns: Sequence[Turn], scorers: Mapping[str, float]) -> dict[str, Column]:
    """What each signal gives to each turn, weight included; only signals that some turn has."""
    weights = {**SIGNALS, **{f"scorer {name}": weight for name, weight in scorers.items()}}
    place = {turn.key: at for at, turn in enumerate(turns)}
    found: dict[str, Column] = {}
    rows = view.query(
        f"SELECT node, name, value FROM scores WHERE tenant = :t AND node IN {LISTED}", among=listed(place)
    )
    for node, name, value in rows:
        weight = weights.get(name, weights.get(f"scorer {name}", 0.0))
        if weight:
            known = name if name in SIGNALS else f"scorer {name}"
            found.setdefault(known, np.zeros(len(turns)))[place[node]] = weight * value
    return found
