"""Is there evidence at all?  Absolute measures of the best candidates, for saying "I don't know".

Ranks always have a first place; this looks at how much of the question is really met, and whether
what meets it belongs to the person asked about.  Pure; the weights are in `weights.py`.

>>> weigh_evidence({"own": 0.5}) > weigh_evidence({"own": -0.5})
True
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from worldline.read.cues import Asked
from worldline.read.features import Column, Matches, Turn, coverage
from worldline.read.weights import EVIDENCE

TOP, DEPTH = 5, 60
ME = frozenset({"i", "im", "iv", "id", "ill", "my", "me", "mine", "we", "our", "us", "wev", "wer"})
YOU = frozenset({"you", "your", "youv"})
_SENTENCES = re.compile(r" [.()] ")


class Scene(msgspec.Struct, frozen=True):
    """A pool and the weights of the question's terms."""

    turns: Sequence[Turn]
    idf: Column


def evidence(asked: Asked, turns: Sequence[Turn], found: Matches, scores: Column) -> dict[str, float]:
    """Named absolute measures over a scored pool."""
    met = np.maximum((found.counts > 0).astype(float), _by_kind(found))
    cover = coverage(found, met)
    order = np.argsort(-scores, kind="stable")
    best = order[:TOP]
    party = _party(asked, turns)
    scene = Scene(turns, found.idf)
    cosines = sorted((t.cosine for t in turns if t.cosine is not None), reverse=True)
    return {
        "met": float(cover[best].max()),
        "met together": float(met[:, best].max(axis=1) @ found.idf / max(found.idf.sum(), 1e-9)),
        "rare": _rarest(found, met, party),
        "own": _own(asked, party, cover, scene) - _own(asked, -party, cover, scene)
        if (party < 0).any()
        else 0.0,
        "lead": _lead(party, scores),
        "meaning": float(np.mean(cosines[:TOP])) - 0.6 if cosines else 0.0,
        "request": float(asked.advice or asked.broad),
        "several": float(asked.several),
    }


def _by_kind(found: Matches) -> Column:
    return 0.5 * np.minimum(found.kinds / np.maximum(found.idf[:, None], 1e-9), 1.0)


def _party(asked: Asked, turns: Sequence[Turn]) -> Column:
    """+1 where the person asked about speaks, −1 where another does; all +1 without a name."""
    if len(asked.people) != 1 or all(t.role != "people" for t in turns):
        side = "assistant" if asked.to_assistant else "user"
        return np.array([1.0 if t.role in (side, "people") else 0.0 for t in turns])
    return np.array([1.0 if t.speaker == asked.people[0] else -1.0 for t in turns])


def _own(asked: Asked, party: Column, cover: Column, scene: Scene) -> float:
    """Best coverage by a sentence of the party about itself, or of another about the party."""
    best = 0.0
    for i in np.argsort(-cover, kind="stable")[:DEPTH]:
        person = ME if party[i] > 0 else YOU if party[i] < 0 else frozenset()
        for sentence in _SENTENCES.split(scene.turns[i].described.words):
            tokens = set(sentence.split())
            if person & tokens:
                best = max(best, _share(asked, scene, tokens))
    return best


def _share(asked: Asked, scene: Scene, tokens: set[str]) -> float:
    weight = sum(w for t, w in zip(asked.terms, scene.idf, strict=True) if t in tokens)
    return float(weight / max(scene.idf.sum(), 1e-9))


def _lead(party: Column, scores: Column) -> float:
    if not (party < 0).any() or not (party > 0).any():
        return 0.0
    return float(scores[party > 0].max() - scores[party < 0].max())


def _rarest(found: Matches, met: Column, party: Column) -> float:
    """How well the least met of the three rarest terms is met in the party's turns."""
    ours = np.flatnonzero(party > 0)
    if not len(ours):
        return 0.0
    rare = np.argsort(-found.idf, kind="stable")[:3]
    return float(met[np.ix_(rare, ours)].max(axis=1).min())


def weigh_evidence(measures: Mapping[str, float]) -> float:
    """One number: how sure we may be that the question can be answered."""
    return sum(EVIDENCE.get(name, 0.0) * value for name, value in measures.items())
