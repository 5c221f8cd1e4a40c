"""How far a memory has come: a trace when it arrives, a unit once it is grounded, a crystal once it is sure.

Decides the stage from what is known about a memory, and says why. Sources count once for each
session and speaker: saying the same thing five times in one evening is one source, and this
memory's own words, handed back to it, are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from worldline.clock import Instant

Stage = Literal["trace", "unit", "crystal"]
ACTIVE, SURE = 0.5, 0.9
ENOUGH = 3
_DAY = 86_400_000_000


class Source(Struct, frozen=True):
    """Words that a memory rests on: who said them, where and when."""

    line: int
    speaker: str = ""
    session: int = 0
    said_at: Instant = 0
    echo: bool = False
    decision: bool = False


class Candidate(Struct, frozen=True):
    """A memory as far as its stage needs it."""

    status: str = "believed"
    confidence: float | None = None
    sources: int = 0
    given: bool = False
    """Somebody gave it directly, which is a source too."""
    decision: bool = False


def independent(sources: Iterable[Source]) -> int:
    """How many sources are independent; without a session, a day counts as one."""
    return len({_origin(source) for source in sources if not source.echo})


def _origin(source: Source) -> tuple[str, int, int]:
    return source.speaker, source.session, 0 if source.session else source.said_at // _DAY


def stage_of(candidate: Candidate) -> tuple[Stage, str]:
    """The stage, and the reason for it in words."""
    if candidate.status == "quarantined":
        return "trace", "it is quarantined"
    confidence = 1.0 if candidate.confidence is None else candidate.confidence
    if candidate.status == "confirmed":
        return "crystal", "it was confirmed"
    if candidate.sources >= ENOUGH:
        return "crystal", f"{candidate.sources} independent sources say so"
    if candidate.decision and confidence >= SURE:
        return "crystal", f"it is a decision, with confidence {confidence:g}"
    if (candidate.sources or candidate.given) and confidence >= ACTIVE:
        return "unit", f"{_told(candidate)}, with confidence {confidence:g}"
    return (
        "trace",
        "it has no source" if confidence >= ACTIVE else f"confidence {confidence:g} is below {ACTIVE:g}",
    )


def _told(candidate: Candidate) -> str:
    if not candidate.sources:
        return "it was given directly"
    return "it has a source" if candidate.sources == 1 else f"it has {candidate.sources} independent sources"
