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

from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np

from worldline.read.cues import Asked
from worldline.read.evidence import evidence, weigh_evidence
from worldline.read.features import measure
from worldline.read.meeting import needs
from worldline.read.turns import Column, Corpus, Turn
from worldline.read.weights import FEW, MANY, THIS_SESSION, THRESHOLD, WEIGHTS


class Scored(msgspec.Struct, frozen=True):
    """A turn's place in the order; ``factors`` are weight × value and add up to ``score``."""

    key: int
    score: float
    factors: dict[str, float]


class Judged(msgspec.Struct, frozen=True):
    """Whether there is evidence: a probability, whether it suffices, and what it comes from."""

    sure: float
    enough: bool
    measures: dict[str, float]
    missing: tuple[str, ...] = ()
    """The words of the question that nothing found speaks of, as they were written."""


class Board(msgspec.Struct, frozen=True):
    """A pool with what every feature gives to every turn, and their sums."""

    turns: Sequence[Turn]
    parts: dict[str, Column]
    scores: Column

    def order(self) -> list[int]:
        """Places in ``turns``, best first, ties by key."""
        keys = np.array([turn.key for turn in self.turns])
        return [int(i) for i in np.lexsort((keys, -np.round(self.scores, 9)))]

    def scored(self, at: int) -> Scored:
        """One turn with the factors of its score."""
        factors = {name: float(part[at]) for name, part in self.parts.items() if part[at]}
        return Scored(self.turns[at].key, float(self.scores[at]), factors)


def score(
    asked: Asked,
    turns: Sequence[Turn],
    corpus: Corpus,
    here: Collection[str] = (),
    beside: Mapping[str, Column] | None = None,
) -> Board:
    """Every turn of a pool weighed; what was said in a session at hand counts a little more.

    `beside` are columns that other parts of recall give to the score, weights included.
    """
    if not turns:
        return Board(turns, {}, np.zeros(0))
    parts = {name: WEIGHTS[name] * column for name, column in measure(asked, turns, corpus).items()}
    if here:
        parts["this session"] = THIS_SESSION * np.array([turn.session in here for turn in turns], float)
    parts.update(beside or {})
    return Board(turns, parts, np.asarray(sum(parts.values())))


def rank(asked: Asked, turns: Sequence[Turn], corpus: Corpus) -> list[Scored]:
    """All turns of a pool, best first, ties by key."""
    board = score(asked, turns, corpus)
    return [board.scored(at) for at in board.order()]


def judge(asked: Asked, board: Board, corpus: Corpus, order: Sequence[int] | None = None) -> Judged:
    """Whether the best of a pool, in this order, hold evidence."""
    wanted = needs(asked, corpus)
    best = [board.turns[at] for at in (board.order() if order is None else order)]
    if not best:
        return Judged(0.0, False, {}, tuple(need.word for need in wanted if need.word))
    found = evidence(asked, wanted, best, board.turns)
    sure = weigh_evidence(found.measures)
    return Judged(sure, sure >= THRESHOLD, found.measures, found.missing)


def settle(verdict: Judged, reach: float | None, answered: bool) -> Judged:
    """The same, knowing how near a value comes to being the answer; where one is given it is never doubted."""
    if not verdict.measures and not answered:
        return verdict
    near = {} if reach is None else {"reach": reach}
    measures = {**verdict.measures, **near, "answered": float(answered)}
    sure = weigh_evidence(measures)
    sure = max(sure, THRESHOLD) if answered else sure
    return Judged(sure, sure >= THRESHOLD, measures, verdict.missing)


def how_many(asked: Asked) -> int:
    """How many turns to return when the caller did not say: more for lists, orders, summaries."""
    return MANY * 2 if asked.broad else MANY if asked.several else FEW
