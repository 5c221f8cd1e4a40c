"""How somebody writes, whatever about: 256 numbers from hashed runs of three, four and five characters.

It decides how a text is counted and how two ways of writing are compared; not whose text is whose.
Counts are integers that add up, so a person's style is the sum over their texts, one text can be
taken out again exactly, and nothing drifts. Case, punctuation and spacing are part of a style.

>>> shy, loud = counted("i guess so... maybe later?"), counted("YES!!! Let's GO!!!")
>>> alike(shy, counted("maybe... i guess?")) > alike(shy, loud)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]
    Unit: TypeAlias = NDArray[np.float64]

SIZE = 256
RUNS = (3, 4, 5)
LONGEST = 4000
"""Characters of a text that are counted: a pasted document is not a way of writing."""
_MULTIPLIER = 0x9E3779B97F4A7C15


def counted(text: str) -> Counts:
    """How often each bucket's runs of characters occur; half of the runs count downwards."""
    import numpy as np

    flat = f" {' '.join(text[:LONGEST].split())} "
    codes = np.frombuffer(flat.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    hashed = [_hashed(codes, run) for run in RUNS if len(codes) >= run]
    if not hashed:
        return np.zeros(SIZE, np.int64)
    found = np.bincount(np.concatenate(hashed) >> np.uint64(55), minlength=2 * SIZE)
    return np.asarray(found[:SIZE] - found[SIZE:], np.int64)


def _hashed(codes: NDArray[np.uint64], run: int) -> NDArray[np.uint64]:
    """One length of runs; the highest bit of a hash is its sign, the next eight are its bucket."""
    import numpy as np

    many, multiplier = len(codes) - run + 1, np.uint64(_MULTIPLIER)
    mixed = codes[:many] + np.uint64(run)
    for place in range(1, run):
        mixed *= multiplier
        mixed ^= mixed >> np.uint64(29)
        mixed ^= codes[place : place + many]
    mixed *= multiplier
    mixed ^= mixed >> np.uint64(31)
    return mixed * multiplier


def unit(counts: Counts) -> Unit:
    """The style vector: length one, or all zeros where nothing was written."""
    import numpy as np

    length = float(np.sqrt((counts.astype(np.float64) ** 2).sum()))
    return np.asarray(counts / length if length else counts, np.float64)


def alike(one: Counts, other: Counts, usual: Counts | None = None) -> float:
    """The cosine of two styles, from -1 to 1; with `usual`, of how they differ from what is usual."""
    a, b = unit(one), unit(other)
    if usual is not None:
        common = unit(usual)
        a, b = a - (a @ common) * common, b - (b @ common) * common
    lengths = float((a @ a) * (b @ b)) ** 0.5
    return float(a @ b) / lengths if lengths > 1e-12 else 0.0


def nearest(one: Counts, others: Sequence[tuple[str, Counts]]) -> tuple[str, float] | None:
    """Whose style is nearest, and how near, beyond what all of them share; ties by name."""
    if not others:
        return None
    usual = sum((counts for _, counts in others), one * 0)
    if len(others) < 2:
        return others[0][0], alike(one, others[0][1])
    scored = [(-alike(one, counts, usual), name) for name, counts in others]
    least, name = min(scored)
    return name, -least


def packed(counts: Counts) -> bytes:
    """The bytes in which a style is stored."""
    return counts.astype("<i8").tobytes()


def unpacked(stored: bytes) -> Counts:
    """A style from its bytes."""
    import numpy as np

    return np.frombuffer(stored, "<i8").astype(np.int64)
