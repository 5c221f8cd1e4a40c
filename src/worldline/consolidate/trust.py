"""Sleep over trust: what has lost its ground is kept back, and what is well founded rises.

`ground` keeps back and releases by evidence and by votes, `promote` marks traces, units and crystals.
Both weigh the words that a memory rests on, as far as they still stand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from worldline.clock import FOREVER, Instant
from worldline.consolidate.changes import Change, MarkedLine, Night, Plan
from worldline.model import Belief, Close
from worldline.ports import View
from worldline.rules.handlers import (
    GONE,
    OUTVOTED,
    Candidate,
    Footing,
    Source,
    Stage,
    Voice,
    independent,
    lost,
    outvoted,
    stage_of,
    was_ours,
)
from worldline.store.stated import (
    RankedFact,
    StatedEvidence,
    StatedFact,
    StatedIdentity,
    contradicting,
    current_and_former,
    evidence,
    facts,
    hanging,
    ranked,
    stages,
)
from worldline.write.change import grounds, shaken
from worldline.write.gate import ECHO

# Sources ==============================================================================================


def sources(view: View, lines: Collection[int], now: Instant) -> dict[int, list[Source]]:
    """What each of these rests on and still stands; what sleep made of them is no source."""
    resting = grounds(view, lines, now, born=False)
    said = {
        one.line: _source(one)
        for one in evidence(view, {ground.evidence for each in resting.values() for ground in each})
        if one.made is None
    }
    ends = {
        line: max((b.valid.end for b in held if b.current), default=FOREVER)
        for line, held in current_and_former(view, resting).items()
    }
    return {
        line: [
            said[g.evidence] for g in each if g.evidence in said and _still_counts(g, ends.get(line, FOREVER))
        ]
        for line, each in resting.items()
    }


def _still_counts(ground: Footing, end: Instant) -> bool:
    """Words that were retired still speak for what was over by then."""
    return ground.stands or (ground.how == "retired" and end <= ground.until)


def _source(said: StatedEvidence) -> Source:
    own = said.line if said.sender is None else said.session or 0  # a note speaks for itself
    echo, decision = said.reason == ECHO, said.act == "decision"
    return Source(said.line, said.sender or "", own, said.said_at or 0, echo, decision)


# Ground ===============================================================================================


def ground(view: View, night: Night) -> Plan:
    """What to keep back and what to release.

    Corrections and retirements made here keep back at once what hung on them; this pass catches what
    came by another way (imports, loads, dates that have passed), decides open contradictions in which
    one side has clearly more sources, and releases what it kept back once there is ground again.
    Whatever somebody has confirmed is left alone.
    """
    news = night.news
    moved = {item.line for item in news.items if item.closed} | set(night.waiting)
    hung = {*hanging(view, moved), *(edge.src for edge in news.edges if edge.type == "derived_from")}
    closes = {belief.row: (belief, reason) for belief, reason in shaken(view, hung, night.now)}
    voters = hung | moved | {item.line for item in news.of("Fact")}
    voters |= {end for e in news.edges if e.type == "contradicts" for end in (e.src, e.dst)}
    for belief, reason in _voted_down(view, night, voters):
        closes.setdefault(belief.row, (belief, reason))
    changes: list[Change] = [
        Close(belief, status="quarantined", reason=reason) for _, (belief, reason) in sorted(closes.items())
    ]
    freed = _released(view, night, hung | moved)
    changes += [Close(b, status="believed", reason=reason) for b, reason in freed if b.row not in closes]
    return Plan(tuple(changes), _not_yet(view, night, hung))


def _not_yet(view: View, night: Night, hung: Collection[int]) -> tuple[int, ...]:
    """Evidence that will be over one day, to be looked at again then."""
    resting = grounds(view, hung, night.now).values() if hung else ()
    later = {g.evidence for each in resting for g in each if night.now < g.until < FOREVER}
    return tuple(sorted(later))


# Open contradictions -----------------------------------------------------------------------------------


def _voted_down(view: View, night: Night, voters: Collection[int]) -> list[tuple[Belief, str]]:
    """Believed facts against which an open contradiction brings clearly more sources."""
    sides = _Sides(view, night, voters)
    found = []
    for mine, other in sides.open():
        reason = sides.verdict(mine, other)
        if reason is not None and mine.belief.status == "believed":
            found.append((mine.belief, reason))
    return found


class _Sides:
    """Both sides of the contradictions that some facts take part in."""

    def __init__(self, view: View, night: Night, lines: Collection[int]) -> None:
        self.pairs = _contradictions(view, lines)
        ends = {end for pair in self.pairs for end in pair}
        self.facts: dict[int, list[StatedFact]] = {}
        for fact in facts(view, StatedIdentity(view), ends):
            self.facts.setdefault(fact.line, []).append(fact)
        counted = sources(view, self.facts.keys(), night.now) if self.facts else {}
        self._count = {line: independent(counted.get(line, ())) for line in self.facts}

    def open(self) -> list[tuple[StatedFact, StatedFact]]:
        """(one side, a believed other side) where both speak of the same time."""
        return [
            (mine, other)
            for a, b in self.pairs
            for mine in self.facts.get(a, ())
            for other in self.facts.get(b, ())
            if other.belief.status != "quarantined" and mine.belief.valid.overlaps(other.belief.valid)
        ]

    def verdict(self, mine: StatedFact, other: StatedFact) -> str | None:
        return outvoted(self._side(mine), self._side(other))

    def _side(self, fact: StatedFact) -> Voice:
        return Voice(fact.id, fact.rank, self._count[fact.line])


def _contradictions(view: View, lines: Collection[int]) -> list[tuple[int, int]]:
    """The open contradictions of these, each from both sides."""
    ends = [(edge.src_line, edge.dst_line) for edge in contradicting(view, lines)]
    return sorted({pair for a, b in ends for pair in ((a, b), (b, a))})


# What may go again ---------------------------------------------------------------------------------------


def _released(view: View, night: Night, lines: Collection[int]) -> list[tuple[Belief, str]]:
    """What was kept back for its ground, or by a vote, and has no reason to be any more."""
    around = set(lines) | {end for pair in _contradictions(view, lines) for end in pair}
    held = {
        line: [b for b in each if b.current and b.status == "quarantined" and was_ours(b.reason)]
        for line, each in current_and_former(view, around).items()
    }
    held = {line: each for line, each in held.items() if each}
    resting = grounds(view, held, night.now) if held else {}
    sides = _Sides(view, night, held) if held else None
    found = []
    for line, each in sorted(held.items()):
        for belief in each:
            if (belief.reason or "").startswith(OUTVOTED) and sides is not None:
                if not any(m.line == line and sides.verdict(m, o) for m, o in sides.open()):
                    found.append((belief, "nothing outvotes it any more"))
            elif (belief.reason or "").startswith(GONE) and lost(belief, resting.get(line, ())) is None:
                found.append((belief, "its evidence stands again"))
    return found


# The funnel ===========================================================================================

APART = frozenset({"Turn", "Session", "Scope", "Entity", "Topic", "Summary", "Happening"})
"""Types that are not beliefs to be sure or unsure of."""


def promote(view: View, night: Night) -> Plan:
    """The marks to set: promotions and demotions, each with its reason.

    A stage is a dated mark with its reason, so that `history` shows how a memory rose, and a read as of
    an earlier day sees the stage of that day. Only what changed, or rests on what changed, is looked at.
    """
    news = night.news
    closed = {item.line for item in news.items if item.closed}
    lines = {item.line for item in news.items if item.type not in APART}
    lines |= {edge.src for edge in news.edges if edge.type == "derived_from"} | set(hanging(view, closed))
    about = {
        line: one for line, one in ranked(view, lines).items() if one.type not in APART and one.made is None
    }
    now = stages(view, about, night.scope)
    wanted = _stages(view, night, about)
    changes: list[Change] = []
    for line, (stage, reason) in sorted(wanted.items()):
        if stage != now.get(line, "trace"):
            changes.append(MarkedLine(line, "stage", stage, reason))
    return Plan(tuple(changes))


def _stages(view: View, night: Night, about: Mapping[int, RankedFact]) -> dict[int, tuple[Stage, str]]:
    held = current_and_former(view, about)
    said = sources(view, about, night.now) if about else {}
    found: dict[int, tuple[Stage, str]] = {}
    for line, one in about.items():
        current = [belief for belief in held.get(line, ()) if belief.current]
        if not current:
            found[line] = "trace", "it was withdrawn"
            continue
        best = max(current, key=_strength)
        found[line] = stage_of(_candidate(best, said.get(line, ()), one))
    return found


def _strength(belief: Belief) -> tuple[bool, bool, float, int]:
    sure = 1.0 if belief.confidence is None else belief.confidence
    return belief.status == "confirmed", belief.status != "quarantined", sure, belief.row


def _candidate(belief: Belief, said: Sequence[Source], one: RankedFact) -> Candidate:
    return Candidate(
        belief.status,
        belief.confidence,
        independent(said),
        given=one.rank == "given",
        decision=one.type == "Decision" or any(source.decision and not source.echo for source in said),
    )
