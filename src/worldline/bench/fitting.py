"""`worldline bench fit`: the weights of the score anew, from public files, cross-checked.

Pools come from the product's own path, with vectors and (at half weight) without; every data set
counts the same. It prints the table to paste into `read/weights.py` and how well weights that were
fitted on other conversations rank: five folds, never the questions they were fitted on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from worldline.bench import fit, metrics
from worldline.bench.datasets import Conversation, load
from worldline.bench.run import open_cached
from worldline.bench.systems import Worldline
from worldline.read.features import measure
from worldline.read.recall import Ranked

if TYPE_CHECKING:
    from worldline.ports import Embedder

FOLDS = 5
LEXICAL = 0.5
"""The share of pools without vectors."""
Progress = Callable[[str, int, int], None]


class Asked(Struct, frozen=True):
    """One question's pool: features of every candidate, which of them are gold, and its fold."""

    ids: list[str]
    gold: tuple[str, ...]
    features: Any
    fold: int

    def pool(self) -> fit.Pool:
        return self.features, np.array([one in self.gold for one in self.ids])


def pools(
    dataset: str, path: Path, embedder: Embedder | None, progress: Progress
) -> tuple[list[str], list[Asked]]:
    """The names of the features, and every answerable question's pool."""
    names: list[str] = []
    found: list[Asked] = []
    talks = load(dataset, path)
    for number, talk in enumerate(talks):
        for at, (ids, gold, columns) in enumerate(_conversation(talk, embedder)):
            names = list(columns)
            fold = number if len(talks) >= FOLDS else at
            found.append(Asked(ids, gold, np.stack(list(columns.values()), 1), fold % FOLDS))
        progress(f"{dataset}: pools", number + 1, len(talks))
    return names, found


def _conversation(talk: Conversation, embedder: Embedder | None) -> Iterator[tuple[list[str], Any, Any]]:
    with tempfile.TemporaryDirectory(prefix="worldline-fit-") as folder:
        product = Worldline(talk, Path(folder) / "store.db", embedder, lambda _: None)
        for question in talk.questions:
            if question.answerable and question.gold:
                ranked = product.look(question)
                if ranked.order:
                    keys = [ranked.board.turns[at].key for at in ranked.order]
                    yield product.names(keys), question.gold, _columns(ranked)
        product.close()


def _columns(ranked: Ranked) -> dict[str, Any]:
    """The features of the candidates, unweighted."""
    columns = measure(ranked.asked, ranked.pool.turns, ranked.pool.corpus, ranked.board.found)
    return {name: column[list(ranked.order)] for name, column in columns.items()}


def fitted(files: Sequence[tuple[str, Path]], embedder: str, progress: Progress) -> Iterator[str]:
    """The table, and its cross-validation, as lines."""
    opened = open_cached(embedder)
    sets: list[tuple[str, float, list[Asked]]] = []
    names: list[str] = []
    for dataset, path in files:
        for with_vectors in (opened, None) if opened else (None,):
            names, asked = pools(dataset, path, with_vectors, progress)
            label = f"{dataset}{'' if with_vectors else ' without vectors'}"
            sets.append((label, 1.0 if with_vectors or opened is None else LEXICAL, asked))
    yield from _crossed(sets)
    weights = fit.fit([[one.pool() for one in asked] for _, _, asked in sets], [s for _, s, _ in sets])
    yield "WEIGHTS = {"
    yield from (f'    "{name}": {round(w * 20) / 20:g},' for name, w in zip(names, weights, strict=True))
    yield "}"


def _crossed(sets: Sequence[tuple[str, float, list[Asked]]]) -> Iterator[str]:
    scores: dict[str, list[dict[str, float]]] = {label: [] for label, _, _ in sets}
    for fold in range(FOLDS):
        train = [[one.pool() for one in asked if one.fold != fold] for _, _, asked in sets]
        weights = fit.fit(train, [share for _, share, _ in sets])
        for label, _, asked in sets:
            for one in (one for one in asked if one.fold == fold):
                order = np.argsort(-(one.features @ weights), kind="stable")
                scores[label].append(metrics.turn_scores([one.ids[i] for i in order], one.gold))
    for label, rows in scores.items():
        told = " ".join(f"{name} {value:.3f}" for name, value in metrics.average(rows).items())
        yield f"# cross-validated {label} ({len(rows)}): {told}"
