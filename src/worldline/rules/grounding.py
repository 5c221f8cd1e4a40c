"""Whether what a memory rests on still stands, and when a memory that lost its ground is kept back.

Evidence is gone when it was corrected (its words were never so) or is itself kept back. Evidence
that was retired stands for the time before that: what was over by then keeps its ground, what
reaches beyond it does not. A memory is kept back only if all its evidence is gone, and never if
somebody confirmed it. This module decides; it neither reads nor writes.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Ground(Struct, frozen=True):
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


def lost(belief: Belief, grounds: Sequence[Ground]) -> str | None:
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
