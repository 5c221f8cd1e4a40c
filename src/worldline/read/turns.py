"""A candidate turn and the counts behind it: what every measure of recall is taken from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from worldline.rules.describe import Described

Column: TypeAlias = NDArray[np.float64]
"""One number for each turn of a pool."""

DAY = 86_400_000_000


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One text of the pool; ``role`` is people, user or assistant; ``speaker`` is folded."""

    key: int
    session: str
    position: int
    described: Described
    speaker: str = ""
    role: str = "people"
    said_at: int | None = None
    cosine: float | None = None
    facts: tuple[str, ...] = ()
    """The facts drawn from it, as stems; of the best candidates only."""


class Corpus(msgspec.Struct, frozen=True):
    """Counts over everything searched: texts, words a text, texts with a term."""

    size: int
    mean_length: float
    frequency: Mapping[str, int]

    def idf(self, term: str) -> float:
        count = self.frequency.get(term, 0)
        return math.log(1 + (self.size - count + 0.5) / (count + 0.5))
