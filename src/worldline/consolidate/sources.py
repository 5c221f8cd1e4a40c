"""The words that memories rest on, as far as they still stand: who said them, where, and whether they count."""

from __future__ import annotations

from collections.abc import Collection

from worldline.clock import FOREVER, Instant
from worldline.rules.funnel import Source
from worldline.rules.grounding import Ground
from worldline.store.stated import Evidence, evidence
from worldline.store.view import SqlView
from worldline.write.ground import current_and_former, grounds
from worldline.write.remember import ECHO


def sources(view: SqlView, lines: Collection[int], now: Instant) -> dict[int, list[Source]]:
    """What each of these rests on and still stands; what sleep made of them is no source."""
    resting = grounds(view, lines, now, born=False)
    said = {
        one.line: _source(one)
        for one in evidence(view, {ground.evidence for each in resting.values() for ground in each})
        if one.made_by != "sleep"
    }
    ends = {
        line: max((b.valid.end for b in held if b.current), default=FOREVER)
        for line, held in current_and_former(view, resting).items()
    }
    return {
        line: [said[g.evidence] for g in each if g.evidence in said and _counts(g, ends.get(line, FOREVER))]
        for line, each in resting.items()
    }


def _counts(ground: Ground, end: Instant) -> bool:
    """Words that were retired still speak for what was over by then."""
    return ground.stands or (ground.how == "retired" and end <= ground.until)


def _source(said: Evidence) -> Source:
    own = said.line if said.sender is None else said.session or 0  # a note speaks for itself
    echo, decision = said.reason == ECHO, said.act == "decision"
    return Source(said.line, said.sender or "", own, said.said_at or 0, echo, decision)
