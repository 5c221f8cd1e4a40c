"""Scorers of your own: run over everything that is stored, resumed where they ended, kept up each night.

A scorer sees one memory at a time and nothing else. Where it stands is kept with its scores, in the
same transaction: a run that is killed goes on, and nothing is judged twice or left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from worldline.errors import InvalidInput
from worldline.handle import Handle
from worldline.model import Node, Scorer
from worldline.read.signals import SCORER
from worldline.store import nights

Progress = Callable[[int, int], None]
_BATCH = 500


def register(handle: Handle, scorer: Scorer) -> None:
    """Takes down name, version and weight; another version begins anew."""
    with handle.changeset("register scorer") as (tx, _):
        nights.keep_scorer(tx, scorer.name, SCORER + scorer.name, scorer.version, scorer.weight)


def unregister(handle: Handle, name: str) -> bool:
    """Forgets a scorer and all that it said; False where there is none of that name."""
    with handle.changeset("unregister scorer") as (tx, _):
        return nights.drop_scorer(tx, name, SCORER + name)


def score_all(handle: Handle, scorer: Scorer, progress: Progress | None = None) -> int:
    """Judges every memory that the scorer has not seen yet; how many those were."""
    signal = SCORER + scorer.name
    done, of = 0, handle.read(lambda view: nights.count_unjudged(view, signal)) if progress else 0
    while batch := handle.read(lambda view: nights.unjudged(view, signal, _BATCH)):
        _keep(handle, scorer, [(key, _judged(scorer, node) if node else None) for key, node in batch])
        done += len(batch)
        if progress is not None:
            progress(done, max(of, done))
    return done


def catch_up(handle: Handle, scorers: Iterable[Scorer]) -> int:
    """What is new since each scorer last ran."""
    return sum(score_all(handle, scorer) for scorer in scorers)


def _judged(scorer: Scorer, node: Node) -> float | None:
    value = scorer.score(node)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"scorer {scorer.name} gave {value!r} for {node.id[:12]}, which is not a number")
    return float(value)


def _keep(handle: Handle, scorer: Scorer, judged: Sequence[tuple[int, float | None]]) -> None:
    name = SCORER + scorer.name
    with handle.store.writing():
        tenant = handle.tenant_row()[0]
        scores = [(tenant, key, name, value) for key, value in judged if value is not None]
        nights.derive(handle.store, "scores", scores)
        nights.stand(handle.store, tenant, name, nights.EVERYBODY, nights.Stand(judged[-1][0]))
