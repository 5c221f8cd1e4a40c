"""What nobody has used for long goes cold: it is marked archived, and leaves default recall only.

The moment at which a memory crosses the threshold is known as soon as it is stored or used, so a
night looks at what is new and at what is due, and at nothing else. Who somebody is and what they
like never fades; nor does what is pinned, settled beyond doubt, or openly contradicted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from worldline.consolidate.changes import Change, Marked, Plan, Rows
from worldline.consolidate.night import Night
from worldline.consolidate.uses import strength_row
from worldline.rules.describe import INSTRUCTS, OF_ME, PREFERS
from worldline.rules.salience import DAY, cold_at, effective, is_lasting
from worldline.store.cold import ARCHIVED
from worldline.store.strengths import (
    Kept,
    archived,
    begun,
    contradicted,
    due,
    facts_resting_on,
    flags,
    last_learned,
    phrased,
    pinned,
    speakers,
    strengths,
)
from worldline.store.view import SqlView

NEVER = frozenset({"Scope", "Session", "Topic", "Summary"})
"""Types that do not fade: what others hang on, and what sleep has made of them."""
AGAIN = 90 * DAY
"""What is spared is looked at again after so long: a pin may be taken out, a dispute settled."""
MOST = 20_000
"""So many due memories are looked at in one night; the rest is due the next night too."""


def decay(view: SqlView, night: Night) -> Plan:
    """Strengths for what is new, an archived mark for what is due, and the way back for what was said again."""
    config, again = night.config, _said_again(view, night)
    looked_at = {**due(view, night.now, MOST), **_new(view, night), **again}
    fading = {
        line
        for line, kept in looked_at.items()
        if cold_at(kept, config.decay_rate, config.cold_below) <= night.now
    }
    spared, back = _spared(view, fading), archived(view, again)
    changes: list[Change] = []
    rows: list[tuple[Any, ...]] = []
    for line, kept in looked_at.items():
        cold = line in fading and line not in spared
        later = night.now + AGAIN if line in fading else 0
        rows.append(strength_row(view, kept, config, cold=cold, later=later))
        if cold and line not in back:
            left = effective(kept, night.now, config.decay_rate)
            changes.append(Marked(line, ARCHIVED, "cold", f"salience {left:.2f}, not used for long"))
        elif line in back and not cold:
            changes.append(Marked(line, ARCHIVED, None, "said again"))
    if rows:
        changes.append(Rows("strengths", tuple(rows)))
    return Plan(tuple(changes))


def _new(view: SqlView, night: Night) -> dict[int, Kept]:
    """What was learned since the last night and has no strength yet."""
    lines = {item.line for item in night.news.items if item.type not in NEVER and not item.closed}
    return begun(view, lines)


def _said_again(view: SqlView, night: Night) -> dict[int, Kept]:
    """Known lineages with a new version, facts with new evidence, entities that were mentioned again."""
    joined = [edge for edge in night.news.edges if not edge.closed]
    lines = {item.line for item in night.news.items if not item.closed}
    lines |= {edge.src for edge in joined if edge.type == "derived_from"}
    named = {edge.dst for edge in joined if edge.type == "refers_to"}
    known = strengths(view, lines | named)
    last = last_learned(view, known.keys() - named) | dict.fromkeys(named & known.keys(), night.now)
    return {
        line: msgspec.structs.replace(kept, reinforced_at=last[line])
        for line, kept in known.items()
        if last.get(line, 0) > kept.reinforced_at
    }


# What is spared --------------------------------------------------------------------------------------


def _spared(view: SqlView, lines: Collection[int]) -> set[int]:
    """Those of these lineages that do not go cold, whatever their strength."""
    if not lines:
        return set()
    spared = pinned(view, lines) | contradicted(view, lines) | _standing(view, lines)
    facts = _lasting_facts(view, lines)
    return spared | facts | _sources(view, lines)


def _standing(view: SqlView, lines: Collection[int]) -> set[int]:
    """What somebody said of their own likes, or asked to hold from then on; while it is believed."""
    return {
        line for line, flag in flags(view, lines) if flag & INSTRUCTS or (flag & PREFERS and flag & OF_ME)
    }


def _lasting_facts(view: SqlView, lines: Collection[int]) -> set[int]:
    """Facts that say who somebody that speaks here is, or what they like, and still hold."""
    lasting = [fact for fact in phrased(view, lines) if is_lasting(fact.phrase)]
    speak = speakers(view, {fact.subject for fact in lasting})
    return {fact.line for fact in lasting if fact.subject in speak}


def _sources(view: SqlView, lines: Collection[int]) -> set[int]:
    """The events on which a lasting fact rests."""
    resting = facts_resting_on(view, lines)
    lasting = _lasting_facts(view, {fact for _, fact in resting})
    return {event for event, fact in resting if fact in lasting}
