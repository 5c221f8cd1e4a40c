"""The edge types as programs: what each one does when it is written, deleted, or read through.

A handler is a pure function from an edge and a view to ops; the commit carries the ops out in the
same transaction, or nothing at all. It does not touch the store, the clock or another handler.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from worldline.clock import FOREVER, Interval
from worldline.model import (
    Ask,
    Belief,
    Close,
    EdgeDraft,
    EdgeType,
    FactRow,
    Op,
    Propose,
    Put,
    Refuse,
)
from worldline.ports import View
from worldline.rules.bitemporal import place_fact, restore, supersede

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
