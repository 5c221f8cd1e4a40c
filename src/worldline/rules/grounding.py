"""Whether what a memory rests on still stands, and when a memory that lost its ground is kept back.

Evidence is gone when it was corrected (its words were never so) or is itself kept back. Evidence
that was retired stands for the time before that: what was over by then keeps its ground, what
reaches beyond it does not. A memory is kept back only if all its evidence is gone, and never if
somebody confirmed it. This module decides; it neither reads nor writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from worldline.clock import EARLIEST, FOREVER, Instant
from worldline.model import Belief
from worldline.rules.slots import RANKS

GONE = "its evidence is gone: "
OUTVOTED = "outvoted: "
MARGIN = 2
"""So many more independent sources decide an open contradiction."""
How = Literal["", "corrected", "retired", "quarantined"]


class Footing(Struct, frozen=True):
    """One piece of evidence of a memory, and how far it carries."""

    evidence: int
    """Its lineage."""
    id: str
    type: str
    how: How = ""
    until: Instant = FOREVER
    """It stands for what is over by then."""

    @property
    def stands(self) -> bool:
        return not self.how


class Voice(Struct, frozen=True):
    """One side of an open contradiction, as far as the vote needs it."""

    id: str
    rank: str
    sources: int


def standing(held: Sequence[Belief], cited: Instant, now: Instant) -> tuple[How, Instant]:
    """What became of evidence since it was cited, and until when it stands."""
    current = [b for b in held if b.current]
    trusted = [b for b in current if b.status != "quarantined"]
    if not held:
        return "", FOREVER
    if not current:
        return "corrected", EARLIEST
    if not trusted:
        return "quarantined", EARLIEST
    read = {b.of for b in held if cited in b.known}
    if read and not read & {b.of for b in current}:
        return "corrected", EARLIEST
    until = max(b.valid.end for b in trusted)
    return ("retired" if until <= now else ""), until


def lost(belief: Belief, grounds: Sequence[Footing]) -> str | None:
    """The reason to keep a belief back, if nothing that it rests on carries it."""
    if not grounds or any(g.stands or (g.how == "retired" and belief.valid.end <= g.until) for g in grounds):
        return None
    named = ", ".join(f"{g.type} {g.id[:12]} was {g.how}" for g in grounds[:3])
    more = f" and {len(grounds) - 3} more" if len(grounds) > 3 else ""
    return f"{GONE}{named}{more}"


def outvoted(mine: Voice, other: Voice) -> str | None:
    """The reason to keep one side back: the other is no less of an authority and has the more sources."""
    if other.sources - mine.sources < MARGIN or RANKS.get(other.rank, 0) < RANKS.get(mine.rank, 0):
        return None
    return f"{OUTVOTED}{other.sources} independent sources say {other.id[:12]}, {mine.sources} this"


def was_ours(reason: str | None) -> bool:
    """Whether it was kept back for its ground or by a vote, and not by anybody's decision."""
    return reason is not None and reason.startswith((GONE, OUTVOTED))


# How far a memory has come ------------------------------------------------------------------------
#
# How far a memory has come: a trace when it arrives, a unit once it is grounded, a crystal once it is sure.
#
# Decides the stage from what is known about a memory, and says why. Sources count once for each
# session and speaker: saying the same thing five times in one evening is one source, and this
# memory's own words, handed back to it, are none.


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
