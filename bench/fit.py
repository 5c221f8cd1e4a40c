"""The weights of the score anew, from public files, cross-checked: listwise softmax over pools of several data sets.

    python bench/fit.py locomo=locomo10.json beam=chats/ [--embedder auto]

Pools come from the product's own path, with vectors and (at half weight) without; every data set
counts the same, whatever its number of questions. It prints the tables to paste into `read/score.py`
and how well weights that were fitted on other conversations rank (five folds, never the questions they
were fitted on), and how well weights that were fitted on the other sets do. The weights of the evidence
are checked on whole sets too. A pool is a matrix of features (turns × features) and a mask of gold turns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from worldline.bench import metrics
from worldline.bench.datasets import LOADERS, BenchQuestion, Conversation, load
from worldline.bench.run import open_cached
from worldline.bench.systems import Worldline
from worldline.read.recall import Ranked, Wish, find, likeness, meaning, recall
from worldline.read.score import EVIDENCE, measure

if TYPE_CHECKING:
    from worldline.ports import Embedder

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


FOLDS = 5
LEXICAL = 0.5
"""The share of pools without vectors."""
Progress = Callable[[str, int, int], None]


class Looked(Worldline):
    """The product, looked at before anything is cut off."""

    def look(self, question: BenchQuestion) -> tuple[Ranked, Mapping[str, float]]:
        """A question's pool, and what its doubt is weighed by."""
        memory = self._memory.scoped(run=question.id) if self._limited(question) else self._memory
        handle, semantic = memory.handle, meaning(memory.handle, question.text)
        wish = Wish(question.asked_at or self._last or 0)
        ranked = handle.read(lambda view: find(view, question.text, wish, semantic))
        found = handle.read(lambda view: recall(view, question.text, wish, semantic, likeness(handle)))
        return ranked, found.measures

    def names(self, keys: Sequence[int]) -> list[str]:
        """The messages that rows of the store were made from; empty for those that none was."""
        ids = self._memory.handle.read(lambda view: view.ids(keys))
        return [self._ids.get(id_, "") for id_ in ids]


class FitQuestion(Struct, frozen=True):
    """One question's pool: features of every candidate, which of them are gold, and its fold."""

    ids: list[str]
    gold: tuple[str, ...]
    features: Any
    fold: int

    def pool(self) -> Pool:
        return self.features, np.array([one in self.gold for one in self.ids])


class Weighed(Struct, frozen=True):
    """What speaks for an answer to one question, in the order of the table, and whether there is one."""

    answerable: bool
    measures: list[float]


def pools(
    dataset: str, path: Path, embedder: Embedder | None, progress: Progress
) -> tuple[list[str], list[FitQuestion], list[Weighed]]:
    """The names of the features, every answerable question's pool, and every question's evidence."""
    names: list[str] = []
    found: list[FitQuestion] = []
    weighed: list[Weighed] = []
    talks = load(dataset, path)
    for number, talk in enumerate(talks):
        for at, (question, ids, ranked, measures) in enumerate(_conversation(talk, embedder)):
            weighed.append(Weighed(question.answerable, [measures.get(name, 0.0) for name in EVIDENCE]))
            if question.answerable and question.gold:
                columns = _columns(ranked)
                names = list(columns)
                fold = number if len(talks) >= FOLDS else at
                found.append(
                    FitQuestion(ids, question.gold, np.stack(list(columns.values()), 1), fold % FOLDS)
                )
        progress(f"{dataset}: pools", number + 1, len(talks))
    return names, found, weighed


def _conversation(
    talk: Conversation, embedder: Embedder | None
) -> Iterator[tuple[BenchQuestion, list[str], Ranked, Mapping[str, float]]]:
    """Every question with the ids of its candidates, its pool, and what its doubt is weighed by."""
    with tempfile.TemporaryDirectory(prefix="worldline-fit-") as folder:
        product = Looked(talk, Path(folder) / "store.db", embedder, lambda _: None)
        for question in talk.questions:
            ranked, measures = product.look(question)
            if ranked.order:
                ids = product.names([ranked.board.turns[at].key for at in ranked.order])
                yield question, ids, ranked, measures
        product.close()


def _columns(ranked: Ranked) -> dict[str, Any]:
    """The features of the candidates, unweighted."""
    columns = measure(ranked.asked, ranked.pool.turns, ranked.pool.corpus)
    return {name: column[list(ranked.order)] for name, column in columns.items()}


def fitted(files: Sequence[tuple[str, Path]], embedder: str, progress: Progress) -> Iterator[str]:
    """The table, and its cross-validation, as lines."""
    opened = open_cached(embedder)
    sets: list[tuple[str, float, list[FitQuestion]]] = []
    names: list[str] = []
    evidence: list[tuple[str, list[Weighed]]] = []
    for dataset, path in files:
        for with_vectors in (opened, None) if opened else (None,):
            names, asked, weighed = pools(dataset, path, with_vectors, progress)
            label = f"{dataset}{'' if with_vectors else ' without vectors'}"
            sets.append((label, 1.0 if with_vectors or opened is None else LEXICAL, asked))
            evidence.append((dataset, weighed))
    yield from _crossed(sets)
    yield from _left_out(sets)
    weights = fit([[one.pool() for one in asked] for _, _, asked in sets], [s for _, s, _ in sets])
    yield "WEIGHTS = {"
    yield from (f'    "{name}": {round(w * 20) / 20:g},' for name, w in zip(names, weights, strict=True))
    yield "}"
    yield from _doubts(evidence)


def _left_out(sets: Sequence[tuple[str, float, list[FitQuestion]]]) -> Iterator[str]:
    """How well weights rank a whole data set that they were not fitted on, with vectors or without."""
    whole = {label: label.split()[0] for label, _, _ in sets}
    for name in dict.fromkeys(whole.values()) if len(set(whole.values())) > 1 else ():
        others = [(share, asked) for label, share, asked in sets if whole[label] != name]
        weights = fit([[one.pool() for one in asked] for _, asked in others], [s for s, _ in others])
        for label, _, asked in (one for one in sets if whole[one[0]] == name):
            yield f"# from the other sets, {label} ({len(asked)}): {_told(_ranked(asked, weights))}"


def _ranked(asked: Sequence[FitQuestion], weights: Matrix) -> list[dict[str, float]]:
    orders = [np.argsort(-(one.features @ weights), kind="stable") for one in asked]
    return [
        metrics.turn_scores([one.ids[i] for i in order], one.gold)
        for one, order in zip(asked, orders, strict=True)
    ]


def _told(rows: Sequence[dict[str, float]]) -> str:
    return " ".join(f"{name} {value:.3f}" for name, value in metrics.average(rows).items())


def _doubts(evidence: Sequence[tuple[str, list[Weighed]]]) -> Iterator[str]:
    """The weights of the evidence, and how well those from the other sets tell what can be answered."""
    both = [one for one in evidence if {asked.answerable for asked in one[1]} == {True, False}]
    if not both:
        return
    evidence = both
    table = _evidence([weighed for _, weighed in evidence])
    for name in dict.fromkeys(name for name, _ in evidence):
        own = [one for label, weighed in evidence if label == name for one in weighed]
        others = [weighed for label, weighed in evidence if label != name]
        apart = f", from the other sets {_told_apart(own, _evidence(others)):.3f}" if others else ""
        yield f"# answerable or not, {name} ({len(own)}): AUC {_told_apart(own, table):.3f}{apart}"
    yield "EVIDENCE = {"
    yield from (f'    "{name}": {round(w * 20) / 20:g},' for name, w in zip(EVIDENCE, table, strict=False))
    yield f"}}\nCERTAIN = {round(table[-1] * 20) / 20:g}"


def _evidence(sets: Sequence[Sequence[Weighed]]) -> Matrix:
    """A logistic fit over several sets, each and in each both classes counting the same."""
    rows = np.array([one.measures for weighed in sets for one in weighed])
    answerable = np.array([one.answerable for weighed in sets for one in weighed])
    sizes = [
        {is_: sum(one.answerable is is_ for one in weighed) for is_ in (True, False)} for weighed in sets
    ]
    weights = np.array(
        [1 / size[one.answerable] for size, weighed in zip(sizes, sets, strict=True) for one in weighed]
    )
    return signed(rows, answerable, weights, [1 if w >= 0 else -1 for w in EVIDENCE.values()])


def _told_apart(weighed: Sequence[Weighed], table: Matrix) -> float:
    sums = [(one.answerable, float(np.dot(one.measures, table[:-1]))) for one in weighed]
    return metrics.auc([s for ok, s in sums if ok], [s for ok, s in sums if not ok])


def _crossed(sets: Sequence[tuple[str, float, list[FitQuestion]]]) -> Iterator[str]:
    scores: dict[str, list[dict[str, float]]] = {label: [] for label, _, _ in sets}
    for fold in range(FOLDS):
        train = [[one.pool() for one in asked if one.fold != fold] for _, _, asked in sets]
        weights = fit(train, [share for _, share, _ in sets])
        for label, _, asked in sets:
            scores[label] += _ranked([one for one in asked if one.fold == fold], weights)
    for label, rows in scores.items():
        yield f"# cross-validated {label} ({len(rows)}): {_told(rows)}"


def main(given: Sequence[str] | None = None) -> int:
    """The tables, on standard output; how far it is, on the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", metavar="DATASET=FILE", help=f"one of {', '.join(LOADERS)}")
    parser.add_argument("--embedder", default="auto")
    options = parser.parse_args(given)
    pairs = [file.partition("=") for file in options.files]
    if any(name not in LOADERS or not Path(path).exists() for name, _, path in pairs):
        parser.error(f"name files as DATASET=FILE, with DATASET one of {', '.join(LOADERS)}")

    def progress(what: str, done: int, total: int) -> None:
        print(f"{what} {done}/{total}", file=sys.stderr)

    for line in fitted([(name, Path(path)) for name, _, path in pairs], options.embedder, progress):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
