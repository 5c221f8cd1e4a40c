"""One linear score over the features of all lanes, and what each feature gave to it.

It decides the order of a pool and how many turns a question needs; the features are in
`features.py`, what they are worth in `weights.py`.  Deterministic: equal pool, equal order.

>>> from worldline.read.cues import ask
>>> from worldline.rules.describe import describe
>>> pool = [Turn(1, "s", 0, describe("We swam in the lake")), Turn(2, "s", 1, describe("Nice!"))]
>>> [hit.key for hit in rank(ask("Who swam?"), pool, Corpus(2, 3.0, {"swim": 1}))]
[1, 2]
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from worldline.read.cues import Asked
from worldline.read.evidence import evidence, weigh_evidence
from worldline.read.features import Column, Corpus, Turn, measure
from worldline.read.weights import FEW, MANY, THRESHOLD, WEIGHTS


class Scored(msgspec.Struct, frozen=True):
    """A turn's place in the order; ``factors`` are weight × value and add up to ``score``."""

    key: int
    score: float
    factors: dict[str, float]


class Judged(msgspec.Struct, frozen=True):
    """Whether there is evidence: a calibrated sum, its threshold, and the measures behind it."""

    sure: float
    enough: bool
    measures: dict[str, float]


def total(columns: dict[str, Column]) -> Column:
    """The weighted sum of all features."""
    return np.asarray(sum(WEIGHTS[name] * column for name, column in columns.items()))


def rank(asked: Asked, turns: Sequence[Turn], corpus: Corpus) -> list[Scored]:
    """All turns of a pool, best first, ties by key."""
    if not turns:
        return []
    columns = measure(asked, turns, corpus)
    scores = total(columns)
    order = sorted(range(len(turns)), key=lambda i: (-round(float(scores[i]), 9), turns[i].key))
    return [Scored(turns[i].key, float(scores[i]), _factors(columns, i)) for i in order]


def _factors(columns: dict[str, Column], at: int) -> dict[str, float]:
    parts = {name: float(WEIGHTS[name] * column[at]) for name, column in columns.items()}
    return {name: part for name, part in parts.items() if part}


def judge(asked: Asked, turns: Sequence[Turn], corpus: Corpus, scores: Column) -> Judged:
    """Whether the pool holds evidence; ``scores`` in the order of ``turns``."""
    if not turns:
        return Judged(-9.0, False, {})
    measures = evidence(asked, turns, corpus, scores)
    sure = weigh_evidence(measures)
    return Judged(sure, sure >= THRESHOLD, measures)


def how_many(asked: Asked) -> int:
    """How many turns to return when the caller did not say: more for lists, orders, summaries."""
    return MANY * 2 if asked.summary else MANY if asked.several else FEW
