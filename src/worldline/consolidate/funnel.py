"""The funnel: which memories are still traces, which have become units, and which have set into crystals.

A stage is a dated mark with its reason, so that `history` shows how a memory rose, and a read as of
an earlier day sees the stage of that day. Only what changed, or rests on what changed, is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from worldline.consolidate.changes import Change, Marked, Plan
from worldline.consolidate.night import Night
from worldline.consolidate.sources import sources
from worldline.model import Belief
from worldline.rules.funnel import Candidate, Source, Stage, independent, stage_of
from worldline.store.view import LISTED, SqlView, listed
from worldline.write.ground import current_and_former, hanging

APART = frozenset({"Turn", "Session", "Scope", "Entity", "Topic", "Summary", "Happening"})
"""Types that are not beliefs to be sure or unsure of."""


def promote(view: SqlView, night: Night) -> Plan:
    """The marks to set: promotions and demotions, each with its reason."""
    news = night.news
    closed = {item.line for item in news.items if item.closed}
    lines = {item.line for item in news.items if item.type not in APART}
    lines |= {edge.src for edge in news.edges if edge.type == "derived_from"} | set(hanging(view, closed))
    about = _about(view, lines)
    now = _marks(view, about, night.scope)
    wanted = _stages(view, night, about)
    changes: list[Change] = []
    for line, (stage, reason) in sorted(wanted.items()):
        if stage != now.get(line, "trace"):
            changes.append(Marked(line, "stage", stage, reason))
    return Plan(tuple(changes))


def _about(view: SqlView, lines: Collection[int]) -> dict[int, tuple[str, str | None]]:
    """Type and authority of those of these that can have a stage."""
    if not lines:
        return {}
    rows = view.query(
        "SELECT n.id, n.type, f.rank, json_extract(n.metadata, '$.made_by') FROM nodes n"
        f" LEFT JOIN facts f ON f.node = n.id WHERE n.id IN {LISTED}",
        among=listed(sorted(lines)),
    )
    return {line: (type_, rank) for line, type_, rank, by in rows if type_ not in APART and by != "sleep"}


def _marks(view: SqlView, lines: Collection[int], scope: int) -> dict[int, str]:
    rows = view.query(
        f"SELECT line, value FROM marks WHERE tenant = :t AND line IN {LISTED} AND kind = 'stage'"
        " AND kt = :forever AND scope = :scope",
        among=listed(sorted(lines)),
        scope=scope,
    )
    return dict(rows)


def _stages(
    view: SqlView, night: Night, about: Mapping[int, tuple[str, str | None]]
) -> dict[int, tuple[Stage, str]]:
    held = current_and_former(view, about)
    said = sources(view, about, night.now) if about else {}
    found: dict[int, tuple[Stage, str]] = {}
    for line, (type_, rank) in about.items():
        current = [belief for belief in held.get(line, ()) if belief.current]
        if not current:
            found[line] = "trace", "it was withdrawn"
            continue
        best = max(current, key=_strength)
        found[line] = stage_of(_candidate(best, said.get(line, ()), type_, rank))
    return found


def _strength(belief: Belief) -> tuple[bool, bool, float, int]:
    sure = 1.0 if belief.confidence is None else belief.confidence
    return belief.status == "confirmed", belief.status != "quarantined", sure, belief.row


def _candidate(belief: Belief, said: Sequence[Source], type_: str, rank: str | None) -> Candidate:
    return Candidate(
        belief.status,
        belief.confidence,
        independent(said),
        given=rank == "given",
        decision=type_ == "Decision" or any(source.decision and not source.echo for source in said),
    )
