"""Public fakes for tests: a clock that stands still, a cheap embedder, and a measure of the machine.

>>> clock = FrozenClock(100)
>>> clock.advance(5), clock()
(105, 105)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from worldline.clock import Instant, When, instant
from worldline.text import words


class FrozenClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: When = 0) -> None:
        self.now = instant(now)

    def __call__(self) -> Instant:
        return self.now

    def advance(self, microseconds: int = 1) -> Instant:
        """Moves on (or back) and returns the new time."""
        self.now += microseconds
        return self.now

    def set(self, now: When) -> Instant:
        """Jumps to a time and returns it."""
        self.now = instant(now)
        return self.now


class HashEmbedder:
    """A cheap embedder for tests: a text is the sum of its words, each word a fixed direction.

    Texts that share words are near each other, on every machine alike.
    """

    def __init__(self, dimension: int = 64, name: str = "hash") -> None:
        self.name, self.dimension = name, dimension
        self.identity = f"{name}-{dimension}"
        self.texts = 0
        """How many texts it has embedded."""
        self._known: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors, one row a text."""
        self.texts += len(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text) or [""]:
                row += self._direction(word)
            row /= max(float(np.linalg.norm(row)), 1e-6)
        return rows

    def _direction(self, word: str) -> Any:
        if word not in self._known:
            seed = crc32(f"{self.identity} {word}".encode("utf-8", "surrogatepass"))
            self._known[word] = np.random.Generator(np.random.PCG64(seed)).standard_normal(self.dimension)
        return self._known[word]


def reference(samples: int = 5) -> float:
    """CPU seconds of a fixed piece of Python work, the least of some samples: what costs are measured beside."""
    took = []
    for _ in range(samples):
        began = time.process_time()
        counted: dict[str, int] = {}
        for number in range(20_000):
            key = f"w{number * 7919 % 997}"
            counted[key] = counted.get(key, 0) + len(key)
        sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        took.append(time.process_time() - began)
    return min(took)
