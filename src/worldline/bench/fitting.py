"""`worldline bench fit`: the weights of the score anew, from public files, cross-checked.

Pools come from the product's own path, with vectors and (at half weight) without; every data set
counts the same. It prints the tables to paste into `read/score.py` and how well weights that were
fitted on other conversations rank (five folds, never the questions they were fitted on), and how well
weights that were fitted on the other sets do. The weights of the evidence are checked on whole sets too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from worldline.bench import fit, metrics
from worldline.bench.datasets import BenchQuestion, Conversation, load
from worldline.bench.run import open_cached
from worldline.bench.systems import Worldline
from worldline.read.recall import Ranked
from worldline.read.score import EVIDENCE, measure

if TYPE_CHECKING:
    from worldline.ports import Embedder

FOLDS = 5
LEXICAL = 0.5
"""The share of pools without vectors."""
Progress = Callable[[str, int, int], None]


class FitQuestion(Struct, frozen=True):
    """One question's pool: features of every candidate, which of them are gold, and its fold."""

    ids: list[str]
    gold: tuple[str, ...]
    features: Any
    fold: int

    def pool(self) -> fit.Pool:
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
        product = Worldline(talk, Path(folder) / "store.db", embedder, lambda _: None)
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
    weights = fit.fit([[one.pool() for one in asked] for _, _, asked in sets], [s for _, s, _ in sets])
    yield "WEIGHTS = {"
    yield from (f'    "{name}": {round(w * 20) / 20:g},' for name, w in zip(names, weights, strict=True))
    yield "}"
    yield from _doubts(evidence)


def _left_out(sets: Sequence[tuple[str, float, list[FitQuestion]]]) -> Iterator[str]:
    """How well weights rank a whole data set that they were not fitted on, with vectors or without."""
    whole = {label: label.split()[0] for label, _, _ in sets}
    for name in dict.fromkeys(whole.values()) if len(set(whole.values())) > 1 else ():
        others = [(share, asked) for label, share, asked in sets if whole[label] != name]
        weights = fit.fit([[one.pool() for one in asked] for _, asked in others], [s for s, _ in others])
        for label, _, asked in (one for one in sets if whole[one[0]] == name):
            yield f"# from the other sets, {label} ({len(asked)}): {_told(_ranked(asked, weights))}"


def _ranked(asked: Sequence[FitQuestion], weights: fit.Matrix) -> list[dict[str, float]]:
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


def _evidence(sets: Sequence[Sequence[Weighed]]) -> fit.Matrix:
    """A logistic fit over several sets, each and in each both classes counting the same."""
    rows = np.array([one.measures for weighed in sets for one in weighed])
    answerable = np.array([one.answerable for weighed in sets for one in weighed])
    sizes = [
        {is_: sum(one.answerable is is_ for one in weighed) for is_ in (True, False)} for weighed in sets
    ]
    weights = np.array(
        [1 / size[one.answerable] for size, weighed in zip(sizes, sets, strict=True) for one in weighed]
    )
    return fit.signed(rows, answerable, weights, [1 if w >= 0 else -1 for w in EVIDENCE.values()])


def _told_apart(weighed: Sequence[Weighed], table: fit.Matrix) -> float:
    sums = [(one.answerable, float(np.dot(one.measures, table[:-1]))) for one in weighed]
    return metrics.auc([s for ok, s in sums if ok], [s for ok, s in sums if not ok])


def _crossed(sets: Sequence[tuple[str, float, list[FitQuestion]]]) -> Iterator[str]:
    scores: dict[str, list[dict[str, float]]] = {label: [] for label, _, _ in sets}
    for fold in range(FOLDS):
        train = [[one.pool() for one in asked if one.fold != fold] for _, _, asked in sets]
        weights = fit.fit(train, [share for _, share, _ in sets])
        for label, _, asked in sets:
            scores[label] += _ranked([one for one in asked if one.fold == fold], weights)
    for label, rows in scores.items():
        yield f"# cross-validated {label} ({len(rows)}): {_told(rows)}"
