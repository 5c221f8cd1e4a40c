"""Signals that sleep has left beside the texts: one look for a whole pool, one factor each in the score.

What a signal is worth stands in `weights.SIGNALS`; a scorer that somebody registered brings its own
weight. A store that never slept has none, and no statement is run for it. How often something was
used is a matter of now: a read as of another moment leaves it out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from worldline.read.cues import Asked
from worldline.read.features import Column, Turn
from worldline.read.weights import SIGNALS
from worldline.rules.describe import TIME
from worldline.rules.salience import Strength, standing
from worldline.store.view import LISTED, SqlView, listed

SCORER = "scorer "
"""What the name of a factor begins with that somebody's own scorer gives."""
STRENGTH = "strength"
_SCORES = f"SELECT node, name, value, 0, 0, 0, 0 FROM scores WHERE tenant = :t AND node IN {LISTED}"
_STRENGTHS = (
    f"SELECT n.id, '{STRENGTH}', s.salience, s.reinforced_at, s.uses, s.useful, s.wrong FROM nodes n"
    f" CROSS JOIN strengths s ON s.line = n.line AND s.uses + s.useful + s.wrong > 0 WHERE n.id IN {LISTED}"
)


def unasked(asked: Asked) -> frozenset[str]:
    """The signals that have nothing to do with a question: landmarks are for when and for people, causes for why."""
    landmark = bool(asked.wants & TIME) and bool(asked.people)
    return frozenset(name for name, wanted in (("landmark", landmark), ("cause", asked.why)) if not wanted)


def signals(
    view: SqlView, turns: Sequence[Turn], scorers: Mapping[str, float], without: Collection[str] = ()
) -> dict[str, Column]:
    """What each signal gives to each turn, weight included; only signals that some turn has."""
    weights = {**SIGNALS, **{SCORER + name: weight for name, weight in scorers.items()}}
    place = {turn.key: at for at, turn in enumerate(turns)}
    found: dict[str, Column] = {}
    parts = _SCORES if view.whole else f"{_SCORES} UNION ALL {_STRENGTHS}"
    for node, name, *measured in view.query(parts, among=listed(place)):
        if (weight := weights.get(name, 0.0)) and name not in without:
            value = _standing(view, measured) if name == STRENGTH else measured[0]
            found.setdefault(name, np.zeros(len(turns)))[place[node]] = weight * value
    return found


def _standing(view: SqlView, measured: Sequence[Any]) -> float:
    return standing(Strength(*measured), view.valid, view.store.config.decay_rate)
