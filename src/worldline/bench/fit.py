"""The fit behind the weights: listwise softmax over pools, several data sets at equal weight.

It decides nothing at run time; its output is pasted into `read/score.py`.  A pool is a matrix of
features (turns × features) and a mask of gold turns; each data set counts the same, whatever its
number of questions.

>>> weights = fit([[(np.array([[1.0], [0.0]]), np.array([True, False]))]])
>>> bool(weights[0] > 0)
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Pool: TypeAlias = tuple[Matrix, NDArray[np.bool_]]
Loss: TypeAlias = Callable[[Matrix], tuple[float, Matrix]]

RIDGE = 1e-3
STEPS = 200
MEMORY = 8


def fit(datasets: Sequence[Sequence[Pool]], shares: Sequence[float] | None = None) -> Matrix:
    """Weights that put the gold turns of every pool first; each data set has its share of the whole."""
    chosen = zip(datasets, shares or [1.0] * len(datasets), strict=True)
    pools = [(f, g, share / len(d)) for d, share in chosen for f, g in d if g.any()]
    features = np.concatenate([f for f, _, _ in pools])
    scale = features.std(axis=0) + 1e-6
    loss = _listwise(features / scale, [g for _, g, _ in pools], [w for _, _, w in pools])
    return np.asarray(minimise(loss, np.zeros(features.shape[1])) / scale)


def _listwise(features: Matrix, gold: Sequence[NDArray[np.bool_]], weights: Sequence[float]) -> Loss:
    sizes = np.array([len(g) for g in gold])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    share = np.concatenate([g / g.sum() for g in gold])
    weight = np.array(weights)

    def loss(w: Matrix) -> tuple[float, Matrix]:
        scores = features @ w
        top = np.maximum.reduceat(scores, starts)
        raised = np.exp(scores - np.repeat(top, sizes))
        mass = np.add.reduceat(raised, starts)
        chance = raised / np.repeat(mass, sizes)
        gain = np.add.reduceat(share * scores, starts) - np.log(mass) - top
        slope = features.T @ ((chance - share) * np.repeat(weight, sizes))
        return float(-(weight * gain).sum() + RIDGE * w @ w), slope + 2 * RIDGE * w

    return loss


def logistic(rows: Matrix, answerable: NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Weights (the last is the constant) that tell answerable questions from the others."""
    padded = np.column_stack([rows, np.ones(len(rows))])
    sign = np.where(answerable, 1.0, -1.0)

    def loss(w: Matrix) -> tuple[float, Matrix]:
        margin = sign * (padded @ w)
        pull = -sign * weights / (1 + np.exp(margin))
        value = float((weights * np.logaddexp(0, -margin)).sum() + RIDGE * w @ w)
        return value, padded.T @ pull + 2 * RIDGE * w

    return minimise(loss, np.zeros(padded.shape[1]))


def signed(rows: Matrix, answerable: NDArray[np.bool_], weights: Matrix, signs: Sequence[int]) -> Matrix:
    """The same where the sign of each weight is known: a measure that would count the wrong way round is left out."""
    kept = list(range(len(signs)))
    while True:
        found = logistic(rows[:, kept], answerable, weights)
        wrong = [(abs(w), at) for w, at in zip(found, kept, strict=False) if w * signs[at] < 0]
        if not wrong:
            table = np.zeros(len(signs) + 1)
            table[[*kept, -1]] = found
            return table
        kept.remove(max(wrong)[1])


def minimise(loss: Loss, start: Matrix) -> Matrix:
    """L-BFGS with backtracking; deterministic."""
    w, (value, slope) = start, loss(start)
    pairs: list[tuple[Matrix, Matrix]] = []
    for _ in range(STEPS):
        way = -_curved(slope, pairs)
        length = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(slope).sum() + 1e-12))
        while True:
            after, steeper = loss(w + length * way)
            if after <= value + 1e-4 * length * float(slope @ way) or length < 1e-8:
                break
            length /= 2
        step, turn = length * way, steeper - slope
        if float(turn @ step) > 1e-12:
            pairs = [*pairs, (step, turn)][-MEMORY:]
        done = abs(value - after) < 1e-10
        w, value, slope = w + step, after, steeper
        if done:
            break
    return w


def _curved(slope: Matrix, pairs: Sequence[tuple[Matrix, Matrix]]) -> Matrix:
    """The two-loop recursion: the slope seen through the curvature met so far."""
    seen, kept = slope.copy(), []
    for step, turn in reversed(pairs):
        share = float(step @ seen) / float(turn @ step)
        seen = seen - share * turn
        kept.append(share)
    if pairs:
        step, turn = pairs[-1]
        seen = seen * (float(step @ turn) / float(turn @ turn))
    for (step, turn), share in zip(pairs, reversed(kept), strict=True):
        seen = seen + step * (share - float(turn @ seen) / float(turn @ step))
    return seen
