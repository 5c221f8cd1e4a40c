"""How deeply an event deserves to be encoded: novelty, salience, prediction error, and a verdict.

Decides depth, never survival: the text is stored whatever the verdict says (only a strict gate may
drop it).  It finds no neighbours and computes no vectors; the caller brings both.

>>> judge("ok", []).admitted
False
>>> judge("I will send the contract to Ana on Friday.", []).act
'commitment'
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from worldline.write.speech import LOW_ACTS, Act, salience, speech_act

NOVELTY_WEIGHT, SALIENCE_WEIGHT, SURPRISE_WEIGHT = 0.25, 0.20, 0.30
THRESHOLD = 0.30
ALONE = 0.40
"""The threshold where no vectors tell how far the event was to be expected."""
UNHEARD = 0.66
"""The threshold where nothing is stored yet, so that everything is new. Both by 310 labelled messages."""
FLOOR = 0.10
EASIER = {"correction": -0.06, "decision": -0.04, "relationship": -0.04}
WRAPPING = 18  # gzip's header and trailer
MEMORY_BYTES = 8192
NEAREST = 5
TINY = 10
UNRELATED = 0.3  # cosine of two texts below which nothing was predicted


class GateVectors(msgspec.Struct, frozen=True):
    """What prediction error needs: the event beside its nearest text, and that text twice."""

    joint: Sequence[float]  # of "event [SEP] nearest"
    doubled: Sequence[float]  # of "nearest [SEP] nearest"
    likeness: float = 1.0  # cosine of the event and its nearest text


class Signals(msgspec.Struct, frozen=True):
    """The gate's verdict and everything it rests on; stored with the event."""

    novelty: float
    salience: float
    surprise: float | None
    act: Act
    score: float
    threshold: float
    admitted: bool
    reason: str


def judge(text: str, nearest: Sequence[str], vectors: GateVectors | None = None) -> Signals:
    """All signals of an event against its nearest stored texts, nearest first."""
    act = speech_act(text)
    n, s = novelty(text, nearest), salience(text, act)
    surprise = prediction_error(vectors, act)
    score = combine(n, s, surprise)
    usual = UNHEARD if not nearest else ALONE if surprise is None else THRESHOLD
    threshold = usual + EASIER.get(act, 0.0)
    admitted = score >= threshold and s >= FLOOR
    return Signals(n, s, surprise, act, score, threshold, admitted, _reason(s, score, threshold))


def undecided(text: str, nearest: Sequence[str]) -> bool:
    """Whether prediction error could change the verdict; if not, its two vectors are not worth making."""
    act = speech_act(text)
    n, s = novelty(text, nearest), salience(text, act)
    least, most = combine(n, s, 0.0), combine(n, s, 1.0)
    return (
        s >= FLOOR
        and act not in LOW_ACTS
        and bool(nearest)
        and least < THRESHOLD + EASIER.get(act, 0.0) <= most
    )


def compressed(data: bytes) -> int:
    """Bytes of content after gzip, level 6, without header and trailer."""
    return len(gzip.compress(data, 6, mtime=0)) - WRAPPING


def novelty(text: str, nearest: Sequence[str]) -> float:
    """Which share of the event's information its neighbours do not already hold."""
    return _novelty(text, tuple(nearest[:NEAREST]))


@lru_cache(8)
def _novelty(text: str, nearest: tuple[str, ...]) -> float:
    """Kept for a moment: whether vectors could decide anything asks for it before the verdict does."""
    event = text.encode("utf-8", "replace")
    own = compressed(event)
    if own < TINY:
        return 0.05
    known = "\n".join(nearest).encode("utf-8", "replace")[:MEMORY_BYTES]
    if not known:
        return 1.0
    added = compressed(known + event) - compressed(known)
    return min(1.0, max(0.0, added / own))


def prediction_error(vectors: GateVectors | None, act: Act) -> float | None:
    """How far the event moves its nearest text; nothing to say without stored vectors."""
    if vectors is None:
        return None
    if act in LOW_ACTS or vectors.likeness < UNRELATED:
        return 0.0
    return max(0.0, 1.0 - _cosine(vectors.joint, vectors.doubled))


def combine(n: float, s: float, surprise: float | None) -> float:
    """The weighted mean of the signals that are present."""
    total = NOVELTY_WEIGHT * n + SALIENCE_WEIGHT * s
    weight = NOVELTY_WEIGHT + SALIENCE_WEIGHT
    if surprise is not None:
        total, weight = total + SURPRISE_WEIGHT * surprise, weight + SURPRISE_WEIGHT
    return total / weight


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    size = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return dot / size if size else 0.0


def _reason(s: float, score: float, threshold: float) -> str:
    if s < FLOOR:
        return f"salience {s:.2f} is below the floor {FLOOR:.2f}"
    word = "reaches" if score >= threshold else "is below"
    return f"score {score:.2f} {word} {threshold:.2f}"
