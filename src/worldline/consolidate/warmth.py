"""Sleep over weight: how new a text was, what use has made of a memory, what somebody's scorer says, what goes cold.

`judge` and the scorers leave signals for recall, `fold` and `decay` keep strengths and the archive, and
`compact` tends the words index. Nothing here changes what is believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import msgspec

from worldline.clock import FOREVER, Instant
from worldline.config import Config
from worldline.consolidate.changes import Change, Fold, MarkedLine, NewRows, Night, Plan
from worldline.errors import InvalidInput
from worldline.handle import Handle
from worldline.model import Node, Scorer
from worldline.ports import View
from worldline.reading.voices import role_of
from worldline.rules.describe import (
    DAY,
    INSTRUCTS,
    OF_ME,
    PREFERS,
    cold_at,
    effective,
    fingerprints,
    is_lasting,
    surprise,
    used,
)
from worldline.rules.happenings import landmark_strength, landmarks
from worldline.store import nights, words
from worldline.store.indexing import ARCHIVED
from worldline.store.nights import (
    SCORER,
    KeptStrength,
    archived,
    begun,
    contradicted,
    due,
    facts_resting_on,
    flags,
    last_learned,
    notes,
    phrased,
    pinned,
    speakers,
    strength_row,
    strengths,
)

# How new a text was ===================================================================================

SURPRISE, LANDMARK = "surprise", "landmark"


def judge(view: View, night: Night) -> Plan:
    """The surprise of every new text, and how much of a landmark it is where a person tells one.

    A token was new with a text if the first text of the same owner that has it is this one; the words
    index answers that with one step a token, whatever the store holds.
    """
    nodes = sorted({item.node for item in night.news.of("Turn") if not item.closed})
    if not nodes:
        return Plan()
    texts = nights.whole_texts(view, nodes)
    marks = {node: fingerprints(text) for node, (_, text) in texts.items()}
    first = nights.first_with(view, {token for mark in marks.values() for token in mark.tokens})
    rows = []
    for node, mark in marks.items():
        new = [token for token in mark.tokens if first.get(token, node) >= node]
        rows.append((view.tenant, node, SURPRISE, round(surprise(mark, new), 4)))
    told = {
        node: landmarks(text) for node, (name, text) in texts.items() if name and role_of(name) != "assistant"
    }
    rows += [(view.tenant, node, LANDMARK, landmark_strength(found)) for node, found in told.items() if found]
    return Plan((NewRows("scores", tuple(rows)),))


# What was used ========================================================================================

MOST_NOTES = 20_000
"""So many notes are folded in one night; the rest waits for the next."""


def fold(view: View, night: Night) -> Plan:
    """The strengths after all uses of this owner's memories.

    Uses are noted aside by recalls and by `feedback`; here they reach the memories they are about, and
    the notes go, in one transaction. What was archived and is called useful comes back.
    """
    noted = notes(view, MOST_NOTES)
    if not noted:
        return Plan()
    lines = {note.line for note in noted}
    kept = strengths(view, lines) | begun(view, lines)
    praised = set()
    for note in noted:
        if note.line in kept:
            kept[note.line] = used(kept[note.line], note.kind, note.at)
            if note.kind == "useful":
                praised.add(note.line)
    cold = archived(view, lines)
    changes: list[Change] = [
        MarkedLine(line, ARCHIVED, None, "called useful") for line in sorted(praised & cold.keys())
    ]
    held = [_kept(view, one, night.config, cold=one.line in cold.keys() - praised) for one in kept.values()]
    changes.append(NewRows("strengths", tuple(held)))
    changes.append(NewRows("uses", gone=tuple((view.tenant, note.id) for note in noted)))
    return Plan(tuple(changes))


def _kept(
    view: View, kept: KeptStrength, config: Config, *, cold: bool = False, later: Instant = 0
) -> tuple[Any, ...]:
    """A row of the table; what is archived is due no more, and `later` puts off a due one."""
    due = FOREVER if cold else max(later, cold_at(kept, config.decay_rate, config.cold_below))
    return strength_row(view, kept, due)


# What goes cold =======================================================================================

NEVER = frozenset({"Scope", "Session", "Topic", "Summary"})
"""Types that do not fade: what others hang on, and what sleep has made of them."""
AGAIN = 90 * DAY
"""What is spared is looked at again after so long: a pin may be taken out, a dispute settled."""
MOST_DUE = 20_000
"""So many due memories are looked at in one night; the rest is due the next night too."""


def decay(view: View, night: Night) -> Plan:
    """Strengths for what is new, an archived mark for what is due, and the way back for what was said again.

    What nobody has used for long is marked archived, and leaves default recall only. The moment at which
    a memory crosses the threshold is known as soon as it is stored or used, so a night looks at what is
    new and at what is due, and at nothing else. Who somebody is and what they like never fades; nor does
    what is pinned, settled beyond doubt, or openly contradicted.
    """
    config, again = night.config, _said_again(view, night)
    looked_at = {**due(view, night.now, MOST_DUE), **_new(view, night), **again}
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
        rows.append(_kept(view, kept, config, cold=cold, later=later))
        if cold and line not in back:
            left = effective(kept, night.now, config.decay_rate)
            changes.append(MarkedLine(line, ARCHIVED, "cold", f"salience {left:.2f}, not used for long"))
        elif line in back and not cold:
            changes.append(MarkedLine(line, ARCHIVED, None, "said again"))
    if rows:
        changes.append(NewRows("strengths", tuple(rows)))
    return Plan(tuple(changes))


def _new(view: View, night: Night) -> dict[int, KeptStrength]:
    """What was learned since the last night and has no strength yet; warm since it was last learned."""
    lines = {item.line for item in night.news.items if item.type not in NEVER and not item.closed}
    found = begun(view, lines)
    last = last_learned(view, found, named=True)
    return {line: _reinforced(kept, last.get(line, 0)) for line, kept in found.items()}


def _said_again(view: View, night: Night) -> dict[int, KeptStrength]:
    """Known lineages with a new version, facts with new evidence, entities that were mentioned again."""
    joined = [edge for edge in night.news.edges if not edge.closed]
    lines = {item.line for item in night.news.items if not item.closed}
    lines |= {edge.src for edge in joined if edge.type == "derived_from"}
    named = {edge.dst for edge in joined if edge.type == "refers_to"}
    known = strengths(view, lines | named)
    last = last_learned(view, known.keys() - named) | dict.fromkeys(named & known.keys(), night.now)
    return {
        line: _reinforced(kept, last[line])
        for line, kept in known.items()
        if last.get(line, 0) > kept.reinforced_at
    }


def _reinforced(kept: KeptStrength, at: Instant) -> KeptStrength:
    return msgspec.structs.replace(kept, reinforced_at=max(at, kept.reinforced_at))


# What is spared --------------------------------------------------------------------------------------


def _spared(view: View, lines: Collection[int]) -> set[int]:
    """Those of these lineages that do not go cold, whatever their strength."""
    if not lines:
        return set()
    spared = pinned(view, lines) | contradicted(view, lines) | _standing(view, lines)
    facts = _lasting_facts(view, lines)
    return spared | facts | _sources(view, lines)


def _standing(view: View, lines: Collection[int]) -> set[int]:
    """What somebody said of their own likes, or asked to hold from then on; while it is believed."""
    return {
        line for line, flag in flags(view, lines) if flag & INSTRUCTS or (flag & PREFERS and flag & OF_ME)
    }


def _lasting_facts(view: View, lines: Collection[int]) -> set[int]:
    """Facts that say who somebody that speaks here is, or what they like, and still hold."""
    lasting = [fact for fact in phrased(view, lines) if is_lasting(fact.phrase)]
    speak = speakers(view, {fact.subject for fact in lasting})
    return {fact.line for fact in lasting if fact.subject in speak}


def _sources(view: View, lines: Collection[int]) -> set[int]:
    """The events on which a lasting fact rests."""
    resting = facts_resting_on(view, lines)
    lasting = _lasting_facts(view, {fact for _, fact in resting})
    return {event for event, fact in resting if fact in lasting}


# Scorers of one's own =================================================================================

Progress = Callable[[int, int], None]
_BATCH = 500


def register(handle: Handle, scorer: Scorer) -> None:
    """Takes down name, version and weight; another version begins anew."""
    with handle.changeset("register scorer") as (tx, _):
        nights.keep_scorer(tx, scorer.name, SCORER + scorer.name, scorer.version, scorer.weight)


def unregister(handle: Handle, name: str) -> bool:
    """Forgets a scorer and all that it said; False where there is none of that name."""
    with handle.changeset("unregister scorer") as (tx, _):
        return nights.drop_scorer(tx, name, SCORER + name)


def score_all(handle: Handle, scorer: Scorer, progress: Progress | None = None) -> int:
    """Judges every memory that the scorer has not seen yet; how many those were.

    A scorer sees one memory at a time and nothing else. Where it stands is kept with its scores, in the
    same transaction: a run that is killed goes on, and nothing is judged twice or left out.
    """
    signal = SCORER + scorer.name
    done, of = 0, handle.read(lambda view: nights.count_unjudged(view, signal)) if progress else 0
    while batch := handle.read(lambda view: nights.unjudged(view, signal, _BATCH)):
        _keep(handle, scorer, [(key, _judged(scorer, node) if node else None) for key, node in batch])
        done += len(batch)
        if progress is not None:
            progress(done, max(of, done))
    return done


def catch_up(handle: Handle, scorers: Iterable[Scorer]) -> int:
    """What is new since each scorer last ran."""
    return sum(score_all(handle, scorer) for scorer in scorers)


def _judged(scorer: Scorer, node: Node) -> float | None:
    value = scorer.score(node)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"scorer {scorer.name} gave {value!r} for {node.id[:12]}, which is not a number")
    return float(value)


def _keep(handle: Handle, scorer: Scorer, judged: Sequence[tuple[int, float | None]]) -> None:
    name = SCORER + scorer.name
    with handle.writing():
        tenant = handle.tenant_row()[0]
        scores = [(tenant, key, name, value) for key, value in judged if value is not None]
        nights.derive(handle.store, "scores", scores)
        nights.stand(handle.store, tenant, name, nights.EVERYBODY, nights.Stand(judged[-1][0]))


# The words index ======================================================================================

TERMS_A_NIGHT = 2000
"""So many terms are folded in one night at most."""


def compact(view: View, night: Night) -> Plan:
    """Which terms to fold: those of which texts have left for the archive.

    Nothing that anybody can see changes, at any moment of either axis: rows of beliefs are never dropped,
    because the log vouches for each of them. Pages that the archive has freed are used again by what
    comes; the file is not rewritten under its readers.
    """
    terms = words.thin(view, TERMS_A_NIGHT)
    return Plan((Fold(tuple(terms)),) if terms else ())
