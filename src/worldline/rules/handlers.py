"""What may be written, and what that does to the beliefs before it: both time axes, edge types as programs, grounds.

A belief is never edited: tightening it means closing its known interval and believing a shorter valid interval from
then on. A handler is a pure function from an edge and a view to ops; the commit carries the ops out in the same
transaction, or nothing at all. The ontology is closed: operators extend it for a world and everything below; agents
cannot. A derived edge holds exactly as long as what it was derived from. When that ends, the derived edge is
ended on the same axis: shortened where its ground was retired, withdrawn where it was wrong. Evidence is gone when it
was corrected (its words were never so) or is itself kept back; evidence that was retired stands for the time before
that. A memory is kept back only if all its evidence is gone, and never if somebody confirmed it. All of this decides;
it neither reads the clock nor writes.

>>> visible(Interval(0, 10), Interval(5), valid=3, known=7)
True
>>> without([Interval(0, 10)], [Interval(3, 5)])
[Interval(start=0, end=3), Interval(start=5, end=10)]
>>> AGENT_TYPES[0]
'project'
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, Instant, Interval
from worldline.errors import UnknownType
from worldline.model import (
    Ask,
    Belief,
    Close,
    EdgeDraft,
    EdgeType,
    FactRow,
    Made,
    Metadata,
    Op,
    Propose,
    Put,
    Refuse,
)
from worldline.ports import View
from worldline.rules.slots import RANKS

# Both time axes =======================================================================================


def visible(valid_interval: Interval, known_interval: Interval, valid: Instant, known: Instant) -> bool:
    """Whether a row is seen from the point (valid, known)."""
    return valid in valid_interval and known in known_interval


def tighten(belief: Belief, valid_to: Instant) -> Close | None:
    """The close that ends a belief at `valid_to`, or None when it ends by then already."""
    if belief.valid.end <= valid_to:
        return None
    return Close(belief, valid_to=valid_to)


def supersede(beliefs: Sequence[Belief], at: Instant) -> list[Op]:
    """Ends every belief that holds at `at`; refuses where there are only later ones to end."""
    ops: list[Op] = [Close(b, valid_to=at) for b in beliefs if b.valid.start < at < b.valid.end]
    if not ops and any(b.valid.start >= at for b in beliefs):
        return [
            Refuse(
                "the new version would begin no later than the old one did; "
                "if the old one was never true, use correct"
            )
        ]
    return ops


def place_fact(
    slot: Sequence[FactRow], same: Sequence[Belief], new: Interval, *, functional: bool, stated: bool
) -> tuple[Interval | None, list[Op], list[FactRow]]:
    """Where a new fact goes in its slot: its interval (None: already there), closes, conflicts.

    `slot` holds the current beliefs with another object, `same` those with the same one. `stated`
    says that the source gave the start explicitly, rather than it being the time of telling.
    """
    interval, closes = _beside_itself(same, new, stated)
    if interval is None or not functional:
        return interval, closes, []
    later = [row.belief.valid.start for row in slot if row.belief.valid.start > interval.start]
    interval = Interval(interval.start, min([interval.end, *later]))
    conflicts = [row for row in slot if row.belief.valid.start == interval.start]
    ended = [
        close
        for row in slot
        if row.belief.valid.start < interval.start
        and (close := tighten(row.belief, interval.start)) is not None
    ]
    return interval, [*closes, *ended], conflicts


def _beside_itself(same: Sequence[Belief], new: Interval, stated: bool) -> tuple[Interval | None, list[Op]]:
    """A repetition moves nothing; a stated later start revises; an earlier one adds what is missing."""
    for belief in same:
        if new.start in belief.valid:
            if not stated or new.start == belief.valid.start:
                return None, []
            return Interval(new.start, belief.valid.end), [Close(belief)]
    later = [b.valid.start for b in same if b.valid.start > new.start]
    return Interval(new.start, min([new.end, *later])), []


def restore(beliefs: Sequence[Belief], closed_at: Instant, before: Interval) -> list[Op]:
    """Undoes a tightening: the belief that was cut at `closed_at` gets its former interval back."""
    ops: list[Op] = []
    for belief in beliefs:
        if belief.valid.start == before.start and belief.valid.end == closed_at < before.end:
            ops += [Close(belief), Put(reopen=_with_valid(belief, before))]
    return ops


def _with_valid(belief: Belief, valid: Interval) -> Belief:
    return Belief(
        row=0,
        of=belief.of,
        valid=valid,
        known=Interval(belief.known.start, FOREVER),
        scope=belief.scope,
        status=belief.status,
        confidence=belief.confidence,
        precision=belief.precision,
    )


# Edge types as programs ===============================================================================

MAX_DEPTH = 64


def plain(edge: EdgeDraft, view: View) -> list[Op]:
    """Directed, no self-loop; the triple is unique because writing it twice is one edge."""
    return [Refuse(f"{edge.type} cannot join a memory with itself")] if edge.src == edge.dst else []


def acyclic(edge: EdgeDraft, view: View) -> list[Op]:
    """Refuses an edge that would close a circle of its type."""
    if edge.src == edge.dst or view.reaches(edge.dst, edge.src, edge.type, edge.valid.start):
        return [Refuse(f"that would close a circle of {edge.type} edges")]
    return []


def contains(edge: EdgeDraft, view: View) -> list[Op]:
    """A boundary: one parent at a time, no circles, no deeper than the cap."""
    if edge.valid.end != FOREVER:
        return [Refuse("a contains edge is open when it is made; retire it later")]
    if edge.src == edge.dst or view.reaches(edge.dst, edge.src, "contains", edge.valid.start):
        return [Refuse("a world cannot contain itself, directly or through others")]
    if view.parent(edge.dst, edge.valid.start) is not None:
        return [Refuse("it lies in a world at that time already; retire that contains edge first")]
    depth, above = 1, edge.src
    while (up := view.parent(above)) is not None:
        depth, above = depth + 1, up
    return _too_deep(depth, edge, view)


def _too_deep(depth: int, edge: EdgeDraft, view: View) -> list[Op]:
    if depth + 1 + view.height(edge.dst) > MAX_DEPTH:
        return [Refuse(f"worlds may be nested {MAX_DEPTH} deep, and this would go deeper")]
    return []


def supersedes(edge: EdgeDraft, view: View) -> list[Op]:
    """Ends the target where the source begins; may only tighten."""
    target = view.payload(edge.dst)
    if edge.src == edge.dst:
        return [Refuse("a memory cannot supersede itself")]
    if target is not None and target.type in ("Turn", "Session", "Scope"):
        return [Refuse(f"a {target.type} is never superseded; supersede the notes or facts drawn from it")]
    held = view.beliefs(edge.dst)
    own = [belief for belief in held if belief.scope == edge.scope]
    return supersede(own or held, edge.valid.start)


def unsupersede(edge: EdgeDraft, view: View) -> list[Op]:
    """A supersedes edge that was wrong gives its target the former interval back."""
    ops: list[Op] = []
    now = view.beliefs(edge.dst)
    for former in view.beliefs(edge.dst, ever=True):
        if former.known.end == edge.put_at:
            ops += restore(now, edge.valid.start, former.valid)
    return ops


def same_as(edge: EdgeDraft, view: View) -> list[Op]:
    """Never merges by itself: stages a proposal, until somebody accepts it."""
    if refusal := plain(edge, view):
        return refusal
    return [] if edge.accepted else [Propose(edge.src, edge.dst, reason="stated by a same_as edge")]


def _undo_instead(edge: EdgeDraft, view: View) -> list[Op]:
    return [Refuse("an identity has two directions and a decision; use undo_merge")]


def fact(edge: EdgeDraft, view: View) -> list[Op]:
    """Places a fact in its slot: ordered by when it holds, closing only its predecessor."""
    new = edge.fact
    if new is None:
        return [Refuse("a fact needs a predicate; write it with remember(facts=…) or link(predicate=…)")]
    known = new.fresh and new.rivals is not None
    slot = () if known else view.slot(edge.src, new.predicate, edge.scope, new.key)
    doubtful = new.status == "quarantined"
    same = [row.belief for row in slot if row.node == new.key and row.belief.scope == edge.scope]
    start = edge.valid.start
    held = [row.belief.valid for row in slot if row.node == new.key]
    if not new.stated and any(valid.start <= start < valid.end for valid in held):
        return []  # a repetition, perhaps of what is shared with others
    rivals = slot if new.rivals is None else new.rivals
    others = [row for row in rivals if row.node != new.key and row.belief.status != "quarantined"]
    if new.correction and not doubtful:
        interval, ops, conflicts = _correct_fact(others, same, edge.valid, stated=new.stated)
    else:
        interval, ops, conflicts = place_fact(
            others, same, edge.valid,
            functional=new.functional and not doubtful, stated=new.stated and not doubtful,
        )  # fmt: skip
    if interval is None:
        return []
    ops.append(Put(reopen=_believe(edge, interval)))
    ops += [
        Put(edge=EdgeDraft(new.key, "contradicts", row.node, Interval(interval.start), edge.scope))
        for row in conflicts
    ]
    return ops


def _correct_fact(
    others: Sequence[FactRow], same: Sequence[Belief], new: Interval, *, stated: bool
) -> tuple[Interval | None, list[Op], list[FactRow]]:
    """What overlaps was never true; unless a start is stated, the right value takes its place."""
    wrong = [row.belief for row in others if row.belief.valid.overlaps(new)]
    start = new.start if stated else min([new.start, *(b.valid.start for b in wrong)])
    interval: Interval | None = Interval(start, new.end)
    if any(start in belief.valid for belief in same):
        interval = None
    return interval, [Close(belief, reason="corrected") for belief in wrong], []


def _believe(edge: EdgeDraft, interval: Interval) -> Belief:
    new = edge.fact
    assert new is not None
    return Belief(
        row=0,
        of=new.key,
        valid=interval,
        known=Interval(0, FOREVER),
        scope=edge.scope,
        status=new.status,
        confidence=new.confidence,
        precision=new.precision,
        reason=new.reason,
    )


def _hide_closed(ask: Ask, view: View) -> Ask:
    """Superseded: what is over is left out, unless it was asked for."""
    return replace(ask, current_only=not ask.include_superseded)


def _stay_inside(ask: Ask, view: View) -> Ask:
    return replace(ask, bounded=True)


def _pierce(ask: Ask, view: View) -> Ask:
    return replace(ask, pierce=ask.pierce | {"refers_to"})


def _annotate(ask: Ask, view: View) -> Ask:
    return replace(ask, annotate=ask.annotate | {"contradicts"})


def _unify(ask: Ask, view: View) -> Ask:
    return replace(ask, unify=True)


def _with_subtypes(ask: Ask, view: View) -> Ask:
    """A lookup by kind sees everything below that kind."""
    kinds, fresh = set(ask.kinds), set(ask.kinds)
    while fresh:
        fresh = {e.src_line for e in view.edges(fresh, ("subtype_of",), "in")} - kinds
        kinds |= fresh
    return replace(ask, kinds=frozenset(kinds))


def built_in() -> dict[str, EdgeType]:
    """The edge types every store has, by name."""
    types = [
        EdgeType("contains", contains, on_query_rewrite=_stay_inside),
        EdgeType("refers_to", plain, on_query_rewrite=_pierce),
        EdgeType("supersedes", supersedes, unsupersede, _hide_closed, agent_facing=True, versions=True),
        EdgeType("same_as", same_as, _undo_instead, on_query_rewrite=_unify),
        EdgeType("contradicts", plain, on_query_rewrite=_annotate, agent_facing=True),
        EdgeType("fact", fact),
        EdgeType("subtype_of", acyclic, on_query_rewrite=_with_subtypes),
        EdgeType("precedes", acyclic),
        *[EdgeType(name, plain) for name in ("implies", "derived_from", "instance_of", "causes")],
        *[EdgeType(name, plain, agent_facing=True) for name in ("relates_to", "refines", "supports")],
    ]
    return {t.name: t for t in types}


BUILT_IN: dict[str, EdgeType] = built_in()


# The closed ontology ==================================================================================

AGENT_TYPES = ("project", "reference", "learning", "feedback", "context", "user")
OPERATOR_TYPES = ("Entity", "Happening", "Decision", "Topic", "Summary")
ENGINE_TYPES = ("Scope", "Session", "Turn", "Fact")
NODE_TYPES = AGENT_TYPES + OPERATOR_TYPES + ENGINE_TYPES
EDGE_TYPES = tuple(BUILT_IN)
AGENT_EDGES = tuple(name for name, type_ in BUILT_IN.items() if type_.agent_facing)


def require(name: str, allowed: Collection[str], what: str) -> str:
    """The name itself, if it is allowed; otherwise an error with the list and the nearest match."""
    if name in allowed:
        return name
    near = difflib.get_close_matches(str(name), list(allowed), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UnknownType(f"unknown {what} {name!r}{hint}; allowed here: {', '.join(allowed)}")


# Derived edges ========================================================================================

INFERRED: Metadata = {"inferred": True, "made_by": "sleep"}
"""What a derived edge tells its readers; the engine goes by `made`, which nobody else can write."""
RETOLD = ("Happening", "Topic", "Summary")
"""Types of which sleep makes some from texts that are found by their own words."""


class WantedEdge(Struct, frozen=True):
    """An interval in which a derived edge should hold, with what there is to say about it."""

    valid: Interval
    metadata: Metadata = {}
    scope: int = 0


class HeldEdge(Struct, frozen=True):
    """A derived edge as it is believed now."""

    belief: Belief
    metadata: Metadata = {}


class _Marked(Protocol):
    @property
    def made(self) -> Made | None: ...


def is_inferred(edge: _Marked) -> bool:
    """Whether an edge was derived by sleep rather than stated by somebody."""
    return edge.made == "inferred"


def node_made(type_: str, metadata: Metadata) -> Made | None:
    """Who made a memory, by what copies from before there were marks say of it."""
    return "sleep" if type_ in RETOLD and metadata.get("made_by") == "sleep" else None


def edge_made(metadata: Metadata) -> Made | None:
    """The same of an edge: derived from others, or drawn and carried over by sleep."""
    if metadata.get("made_by") != "sleep":
        return None
    if metadata.get("inferred") is True:
        return "inferred"
    return "sleep" if "cue" in metadata or "from" in metadata else None


def overlap(*intervals: Interval) -> Interval | None:
    """Where all of them hold, if anywhere."""
    start, end = max(i.start for i in intervals), min(i.end for i in intervals)
    return Interval(start, end) if start < end else None


def without(intervals: Iterable[Interval], taken: Iterable[Interval]) -> list[Interval]:
    """What is left of these intervals when others are cut out of them."""
    left = list(intervals)
    for cut in taken:
        pieces = [((i.start, min(i.end, cut.start)), (max(i.start, cut.end), i.end)) for i in left]
        left = [Interval(start, end) for both in pieces for start, end in both if start < end]
    return sorted(set(left))


def refit(
    wanted: Sequence[WantedEdge], held: Sequence[HeldEdge], reason: str
) -> tuple[list[Close], list[WantedEdge]]:
    """The closes that end what should not hold, and what is then missing."""
    closes: list[Close] = []
    missing = list(wanted)
    for row in held:
        keeps = [w for w in missing if _same(w, row) and w.valid.end <= row.belief.valid.end]
        if not keeps:
            closes.append(Close(row.belief, "edges", reason=reason))
            continue
        missing.remove(keeps[0])
        if keeps[0].valid.end < row.belief.valid.end:
            closes.append(Close(row.belief, "edges", valid_to=keeps[0].valid.end, reason=reason))
    return closes, missing


def _same(wanted: WantedEdge, row: HeldEdge) -> bool:
    return (wanted.valid.start, wanted.metadata, wanted.scope) == (
        row.belief.valid.start,
        row.metadata,
        row.belief.scope,
    )


# Grounds ==============================================================================================

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
