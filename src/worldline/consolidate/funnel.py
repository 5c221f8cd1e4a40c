"""The funnel: which memories are still traces, which have become units, and which have set into crystals.

A stage is a dated mark with its reason, so that `history` shows how a memory rose, and a read as of
an earlier day sees the stage of that day. Only what changed, or rests on what changed, is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from worldline.consolidate.changes import Change, Marked, Plan
from worldline.consolidate.night import Night
from worldline.consolidate.sources import sources
from worldline.model import Belief
from worldline.rules.funnel import Candidate, Source, Stage, independent, stage_of
from worldline.store.stated import Ranked, ranked, stages
from worldline.store.view import SqlView
from worldline.write.ground import current_and_former, hanging

APART = frozenset({"Turn", "Session", "Scope", "Entity", "Topic", "Summary", "Happening"})
"""Types that are not beliefs to be sure or unsure of."""


def promote(view: SqlView, night: Night) -> Plan:
    """The marks to set: promotions and demotions, each with its reason."""
    news = night.news
    closed = {item.line for item in news.items if item.closed}
    lines = {item.line for item in news.items if item.type not in APART}
    lines |= {edge.src for edge in news.edges if edge.type == "derived_from"} | set(hanging(view, closed))
    about = {
        line: one
        for line, one in ranked(view, lines).items()
        if one.type not in APART and one.made_by != "sleep"
    }
    now = stages(view, about, night.scope)
    wanted = _stages(view, night, about)
    changes: list[Change] = []
    for line, (stage, reason) in sorted(wanted.items()):
        if stage != now.get(line, "trace"):
            changes.append(Marked(line, "stage", stage, reason))
    return Plan(tuple(changes))


def _stages(view: SqlView, night: Night, about: Mapping[int, Ranked]) -> dict[int, tuple[Stage, str]]:
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


def _candidate(belief: Belief, said: Sequence[Source], one: Ranked) -> Candidate:
    return Candidate(
        belief.status,
        belief.confidence,
        independent(said),
        given=one.rank == "given",
        decision=one.type == "Decision" or any(source.decision and not source.echo for source in said),
    )
