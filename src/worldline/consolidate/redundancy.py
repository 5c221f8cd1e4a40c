"""Merging re-assertions: the same thing said of one subject in two facts becomes one fact with all evidence.

Two facts say the same if their subjects and objects are one after accepted merges and their
predicates differ at most in what the wording calls the object. The one that holds longest, then the
oldest, stays; another is given up on the known axis, never shortened, and only where the one that
stays covers its whole interval, scope and authority: so what is believed to hold when does not
change by a tick. When a merge of identities is undone, what was given up for it is believed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Interval
from worldline.consolidate.changes import Change, Plan
from worldline.consolidate.night import Night
from worldline.model import Belief, Close, Edge, EdgeDraft, Put
from worldline.rules.derived import INFERRED, is_inferred
from worldline.rules.slots import RANKS
from worldline.store.stated import (
    Identity,
    Stated,
    contradicting,
    ever_said,
    facts,
    facts_about,
    of_objects,
    of_subjects,
    resting,
)
from worldline.store.view import SqlView, as_belief
from worldline.write.ground import MERGED, current_and_former, grounds

FROM = "from"
"""In the metadata of evidence that came over: the id of the fact that brought it."""


class Redundant(Struct, frozen=True):
    """A fact to give up, and the one that says the same and stays."""

    fact: Stated
    stays: Stated


def merge(view: SqlView, night: Night) -> Plan:
    """What to merge among the facts that changed, and what to part again."""
    joined = [edge for edge in night.news.edges if edge.type == "same_as"]
    who = Identity(view)
    entities = {member for e in joined for line in (e.src, e.dst) for member in who.all(line)}
    touched = {item.line for item in night.news.of("Fact")} | set(facts_about(view, entities))
    if not touched:
        return Plan()
    parted = _part(view, who, touched) if any(edge.closed for edge in joined) else []
    alike = _alike(view, who, facts(view, who, touched))
    return Plan((*parted, *_carry_over(view, list(redundant(alike)), night)))


def _alike(view: SqlView, who: Identity, believed: Iterable[Stated]) -> list[Stated]:
    """These facts, and all that might say the same."""
    believed = list(believed)
    found = {fact.belief.row: fact for fact in believed}
    ends = {(fact.object, fact.key) for fact in believed if fact.object}
    slots = {(fact.subject, fact.predicate) for fact in believed if not fact.object}
    for fact in [*of_objects(view, who, ends), *of_subjects(view, who, slots)]:
        found[fact.belief.row] = fact
    return list(found.values())


def redundant(alike: Iterable[Stated]) -> Iterator[Redundant]:
    """What says nothing that another fact does not say for longer, with no less authority."""
    kept: dict[tuple[object, ...], list[Stated]] = {}
    for fact in sorted(alike, key=_order):
        if fact.belief.status == "quarantined":
            continue
        same = kept.setdefault(_says(fact), [])
        stays = next((other for other in same if _covers(other, fact)), None)
        if stays is None:
            same.append(fact)
        else:
            yield Redundant(fact, stays)


def _says(fact: Stated) -> tuple[object, ...]:
    value = fact.object or fact.literal
    return fact.world, fact.belief.scope, fact.subject, fact.key, value


def _order(fact: Stated) -> tuple[int, ...]:
    """Longest first, then the stronger, then the older."""
    valid, sure = fact.belief.valid, fact.belief.status == "confirmed"
    return valid.start, -valid.end, -int(sure), -RANKS.get(fact.rank, 0), -int(fact.one), fact.line


def _covers(other: Stated, fact: Stated) -> bool:
    a, b = other.belief, fact.belief
    return (
        other.line != fact.line
        and a.valid.start <= b.valid.start
        and a.valid.end >= b.valid.end
        and a.status in (b.status, "confirmed")
        and RANKS.get(other.rank, 0) >= RANKS.get(fact.rank, 0)
        and other.one >= fact.one
    )


def _carry_over(view: SqlView, found: list[Redundant], night: Night) -> list[Change]:
    """Evidence and stated contradictions go to the fact that stays; then the other is given up."""
    lines = sorted({each.fact.line for each in found})
    if not lines:
        return []
    gone = {
        (line, ground.evidence)
        for line, rests_on in grounds(view, lines, night.now).items()
        for ground in rests_on
        if not ground.stands
    }
    edges = [*resting(view, lines), *contradicting(view, lines)]
    changes: list[Change] = []
    for each in found:
        fact, stays = each.fact, each.stays
        for edge in edges:
            if fact.line in (edge.src_line, edge.dst_line) and (edge.src_line, edge.dst_line) not in gone:
                changes += _brought(edge, fact, stays.line)
        changes.append(Close(fact.belief, reason=f"the same as {stays.id[:12]}"))
        link = {**INFERRED, MERGED: True}
        changes.append(
            EdgeDraft(fact.line, "derived_from", stays.line, Interval(night.now), fact.belief.scope, link)
        )
    return changes


def _brought(edge: Edge, fact: Stated, stays: int) -> list[Change]:
    """One edge of a redundant fact as the fact that stays should have it."""
    src, dst = (stays if end == fact.line else end for end in (edge.src_line, edge.dst_line))
    if src == dst or MERGED in edge.metadata or (is_inferred(edge.metadata) and edge.type == "contradicts"):
        return []
    origin = {FROM: fact.id, "made_by": "sleep"}
    return [EdgeDraft(src, edge.type, dst, edge.valid, edge.scope, {**edge.metadata, **origin})]


# When identities are parted again ---------------------------------------------------------------------


def _part(view: SqlView, who: Identity, touched: Collection[int]) -> list[Change]:
    """Facts that were given up for one that no longer says the same are believed again."""
    merged = [edge for edge in resting(view, touched) if MERGED in edge.metadata]
    ends = {end for edge in merged for end in (edge.src_line, edge.dst_line)}
    said = ever_said(view, who, ends)
    held = current_and_former(view, ends)
    changes: list[Change] = []
    for edge in merged:
        if said[edge.src_line] == said[edge.dst_line]:
            continue
        changes.append(Close(as_belief(edge), "edges", reason="they are two again"))
        changes += [Close(as_belief(e), "edges", reason="they are two again") for e in _came(view, edge)]
        changes += _back(held.get(edge.src_line, []), held.get(edge.dst_line, []), edge)
    return changes


def _came(view: SqlView, merged: Edge) -> list[Edge]:
    """The edges that the fact which stayed had from the one that was given up."""
    found = [*resting(view, [merged.dst_line]), *contradicting(view, [merged.dst_line])]
    return [edge for edge in found if edge.metadata.get(FROM) == merged.src]


def _back(given_up: list[Belief], stayed: list[Belief], merged: Edge) -> list[Change]:
    """What was believed until the merge, as far as the fact that stayed still holds."""
    ends = [b.valid.end for b in stayed if b.current]
    changes: list[Change] = []
    for belief in given_up:
        end = min(belief.valid.end, max(ends, default=belief.valid.start))
        if belief.known.end == merged.known.start and belief.valid.start < end:
            valid = Interval(belief.valid.start, end)
            again = replace(
                belief, row=0, valid=valid, known=Interval(0, FOREVER), reason="they are two again"
            )
            changes.append(Put(reopen=again))
    return changes
