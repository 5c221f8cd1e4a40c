"""How well a ranking found the gold, and how sure we may be of it.

Decides what any@k, all@k and MRR mean, and gives intervals and paired tests by resampling the
questions.  It knows nothing of systems or data sets.  All draws are seeded: equal input, equal
output.

>>> any_at(["a", "b", "c"], {"c", "x"}, 3), all_at(["a", "b", "c"], {"c", "x"}, 3)
(1.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

DRAWS = 2000
SEED = 7
TURN_CUTS = (1, 5, 10, 50)


def any_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 when at least one gold id is among the first k."""
    return float(any(item in gold for item in ranked[:k]))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 when every gold id is among the first k."""
    return float(set(gold) <= set(ranked[:k]))


def share_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold ids that are among the first k."""
    return len(set(gold) & set(ranked[:k])) / len(set(gold)) if gold else 0.0


def mrr(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold id, 0 when it is missing."""
    return next((1.0 / n for n, item in enumerate(ranked, 1) if item in gold), 0.0)


def turn_scores(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """The turn-level row of one question."""
    row = {f"any@{k}": any_at(ranked, gold, k) for k in TURN_CUTS}
    row |= {f"all@{k}": all_at(ranked, gold, k) for k in (10, 50)}
    row["share@50"] = share_at(ranked, gold, 50)
    row["mrr"] = mrr(ranked, gold)
    return row


def session_scores(ranked: Iterable[str], gold: Collection[str]) -> dict[str, float]:
    """The session-level row: sessions in the order of their best turn."""
    order = list(dict.fromkeys(ranked))
    row = {f"any@{k}": any_at(order, gold, k) for k in (5, 10)}
    row["all@10"] = all_at(order, gold, 10)
    return row


def average(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of every column."""
    return {key: sum(row[key] for row in rows) / len(rows) for key in rows[0]} if rows else {}


def _draws(size: int) -> NDArray[np.int64]:
    import numpy as np

    return np.random.default_rng(SEED).integers(0, size, (DRAWS, size))


def interval95(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean."""
    import numpy as np

    if not values:
        return (0.0, 0.0)
    means = np.asarray(values, float)[_draws(len(values))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def paired_p(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Share of resamples in which we are not better: one-sided paired bootstrap."""
    import numpy as np

    if not ours:
        return 1.0
    gaps = np.asarray(ours, float) - np.asarray(theirs, float)
    return float((gaps[_draws(len(gaps))].mean(axis=1) <= 0).mean())


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a random positive scores above a random negative; ties count half."""
    import numpy as np

    if not positive or not negative:
        return float("nan")
    return _auc(np.asarray(positive, float), np.asarray(negative, float))


def _auc(positive: Numbers, negative: Numbers) -> float:
    import numpy as np

    low = np.searchsorted(np.sort(negative), positive, "left")
    high = np.searchsorted(np.sort(negative), positive, "right")
    return float((low + high).sum() / (2.0 * len(positive) * len(negative)))


def auc95(positive: Sequence[float], negative: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of an AUC, resampling both classes."""
    import numpy as np

    if not positive or not negative:
        return (float("nan"), float("nan"))
    up, down = np.asarray(positive, float), np.asarray(negative, float)
    pairs = zip(_draws(len(up)), _draws(len(down)), strict=True)
    low, high = np.quantile([_auc(up[a], down[b]) for a, b in pairs], (0.025, 0.975))
    return float(low), float(high)
