"""Sleep over weight: how far a memory is trusted, how warm it is, and what is known of each speaker.

`ground` keeps back and releases by evidence and by votes, `promote` marks traces, units and crystals: both weigh the
words that a memory rests on, as far as they still stand. `judge` and the scorers leave signals for recall, `fold_uses`
and `decay` keep strengths and the archive, `compact` tends the words index, and `profile` keeps tally and style, one
row a speaker: new texts are added to the row, and where something of a speaker was given up, came back, or is not known
to be counted, the row is made anew from all of their texts. The result is the same either way: everything in a row is
a sum of whole numbers, or the newest of some.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from worldline.clock import FOREVER, Instant
from worldline.config import Config
from worldline.consolidate import Change, Fold, MarkedLine, NewRows, Night, Plan
from worldline.errors import InvalidInput
from worldline.handle import Handle
from worldline.model import Belief, Close, Node, Scorer
from worldline.ports import View
from worldline.reading.claim import role_of
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
from worldline.rules.gathering import (
    DECODER,
    ENCODER,
    SaidWords,
    Tally,
    combined,
    counted,
    packed,
    tally,
    unpacked,
)
from worldline.rules.handlers import (
    GONE,
    OUTVOTED,
    Candidate,
    Source,
    Stage,
    Voice,
    independent,
    lost,
    outvoted,
    stage_of,
    was_ours,
)
from worldline.rules.happenings import landmarks, strength
from worldline.store import nights, stated, words
from worldline.store.events import TURNS_AT_ONCE, Spoken, not_yet, spoken
from worldline.store.indexing import ARCHIVED
from worldline.store.nights import SCORER, KeptStrength
from worldline.store.stated import RankedFact, StatedFact, StatedIdentity
from worldline.store.view import grouped
from worldline.text import fold
from worldline.write.change import grounds, shaken
from worldline.write.gate import ECHO

if TYPE_CHECKING:
    from worldline.rules.gathering import Counts

# Sources ==============================================================================================


def sources(view: View, lines: Collection[int], now: Instant) -> dict[int, list[Source]]:
    """What each of these rests on and still stands; what sleep made of them is no source."""
    resting = grounds(view, lines, now, born=False)
    said = {}
    witnesses = {ground.evidence for each in resting.values() for ground in each}
    for line, sender, session, said_at, reason, act in stated.evidence(view, witnesses):
        own = line if sender is None else session or 0  # a note speaks for itself
        said[line] = Source(line, sender or "", own, said_at or 0, reason == ECHO, act == "decision")
    ends = {
        line: max((b.valid.end for b in held if b.current), default=FOREVER)
        for line, held in stated.current_and_former(view, resting).items()
    }
    return {
        line: [
            said[one.evidence]
            for one in each
            if one.evidence in said
            # words that were retired still speak for what was over by then
            and (one.stands or (one.how == "retired" and ends.get(line, FOREVER) <= one.until))
        ]
        for line, each in resting.items()
    }


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
    hung = {*stated.hanging(view, moved), *(edge.src for edge in news.edges if edge.type == "derived_from")}
    closes = {belief.row: (belief, reason) for belief, reason in shaken(view, hung, night.now)}
    voters = hung | moved | {item.line for item in news.of("Fact")}
    voters |= {end for e in news.edges if e.type == "contradicts" for end in (e.src, e.dst)}
    for fact, reason in _voted_down(view, night, voters):
        if fact.belief.status == "believed":
            closes.setdefault(fact.belief.row, (fact.belief, reason))
    changes: list[Change] = [
        Close(belief, status="quarantined", reason=reason) for _, (belief, reason) in sorted(closes.items())
    ]
    freed = _released(view, night, hung | moved)
    changes += [Close(b, status="believed", reason=reason) for b, reason in freed if b.row not in closes]
    resting = grounds(view, hung, night.now).values() if hung else ()
    later = {g.evidence for each in resting for g in each if night.now < g.until < FOREVER}
    return Plan(tuple(changes), tuple(sorted(later)))  # evidence that will be over is looked at again then


# Open contradictions -----------------------------------------------------------------------------------


def _voted_down(view: View, night: Night, lines: Collection[int]) -> list[tuple[StatedFact, str]]:
    """Facts against which an open contradiction brings clearly more sources, and why."""
    pairs = _contradictions(view, lines)
    sides: dict[int, list[StatedFact]] = defaultdict(list)
    for fact in stated.facts(view, StatedIdentity(view), {end for pair in pairs for end in pair}):
        sides[fact.line].append(fact)
    said = sources(view, sides.keys(), night.now) if sides else {}
    voices = {
        fact.belief.row: Voice(fact.id, fact.rank, independent(said.get(line, ())))
        for line, each in sides.items()
        for fact in each
    }
    found = []
    for a, b in pairs:
        for mine, other in product(sides.get(a, ()), sides.get(b, ())):
            if other.belief.status != "quarantined" and mine.belief.valid.overlaps(other.belief.valid):
                reason = outvoted(voices[mine.belief.row], voices[other.belief.row])
                found += [(mine, reason)] if reason is not None else []
    return found


def _contradictions(view: View, lines: Collection[int]) -> list[tuple[int, int]]:
    """The open contradictions of these, each from both sides."""
    ends = [(edge.src_line, edge.dst_line) for edge in stated.contradicting(view, lines)]
    return sorted({pair for a, b in ends for pair in ((a, b), (b, a))})


# What may go again ---------------------------------------------------------------------------------------


def _released(view: View, night: Night, lines: Collection[int]) -> list[tuple[Belief, str]]:
    """What was kept back for its ground, or by a vote, and has no reason to be any more."""
    around = set(lines) | {end for pair in _contradictions(view, lines) for end in pair}
    held = {
        line: [b for b in each if b.current and b.status == "quarantined" and was_ours(b.reason)]
        for line, each in stated.current_and_former(view, around).items()
    }
    held = {line: each for line, each in held.items() if each}
    resting = grounds(view, held, night.now) if held else {}
    down = {fact.line for fact, _ in _voted_down(view, night, held)} if held else set()
    found = []
    for line, each in sorted(held.items()):
        for belief in each:
            if (belief.reason or "").startswith(OUTVOTED):
                if line not in down:
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
    lines |= {edge.src for edge in news.edges if edge.type == "derived_from"} | set(
        stated.hanging(view, closed)
    )
    about = {
        line: one
        for line, one in stated.ranked(view, lines).items()
        if one.type not in APART and one.made is None
    }
    now = stated.stages(view, about, night.scope)
    wanted = _stages(view, night, about)
    changes: list[Change] = []
    for line, (stage, reason) in sorted(wanted.items()):
        if stage != now.get(line, "trace"):
            changes.append(MarkedLine(line, "stage", stage, reason))
    return Plan(tuple(changes))


def _stages(view: View, night: Night, about: Mapping[int, RankedFact]) -> dict[int, tuple[Stage, str]]:
    held = stated.current_and_former(view, about)
    said = sources(view, about, night.now) if about else {}
    found: dict[int, tuple[Stage, str]] = {}
    for line, one in about.items():
        current = [belief for belief in held.get(line, ()) if belief.current]
        if not current:
            found[line] = "trace", "it was withdrawn"
            continue
        best, rests_on = max(current, key=_strength), said.get(line, ())
        decision = one.type == "Decision" or any(s.decision and not s.echo for s in rests_on)
        count = independent(rests_on)
        found[line] = stage_of(Candidate(best.status, best.confidence, count, one.rank == "given", decision))
    return found


def _strength(belief: Belief) -> tuple[bool, bool, float, int]:
    sure = 1.0 if belief.confidence is None else belief.confidence
    return belief.status == "confirmed", belief.status != "quarantined", sure, belief.row


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
    rows += [(view.tenant, node, LANDMARK, strength(found)) for node, found in told.items() if found]
    return Plan((NewRows("scores", tuple(rows)),))


# What was used ========================================================================================

MOST_NOTES = 20_000
"""So many notes are folded in one night; the rest waits for the next."""


def fold_uses(view: View, night: Night) -> Plan:
    """The strengths after all uses of this owner's memories.

    Uses are noted aside by recalls and by `feedback`; here they reach the memories they are about, and
    the notes go, in one transaction. What was archived and is called useful comes back.
    """
    noted = nights.notes(view, MOST_NOTES)
    if not noted:
        return Plan()
    lines = {line for _, line, _, _ in noted}
    kept = nights.strengths(view, lines) | nights.begun(view, lines)
    for _, line, kind, at in noted:
        if line in kept:
            kept[line] = used(kept[line], kind, at)
    praised = {line for _, line, kind, _ in noted if kind == "useful"} & kept.keys()
    cold = nights.archived(view, lines)
    changes: list[Change] = [
        MarkedLine(line, ARCHIVED, None, "called useful") for line in sorted(praised & cold.keys())
    ]
    held = [_kept(view, one, night.config, cold=one.line in cold.keys() - praised) for one in kept.values()]
    changes.append(NewRows("strengths", tuple(held)))
    changes.append(NewRows("uses", gone=tuple((view.tenant, id_) for id_, _, _, _ in noted)))
    return Plan(tuple(changes))


def _kept(
    view: View, kept: KeptStrength, config: Config, *, cold: bool = False, later: Instant = 0
) -> tuple[Any, ...]:
    """A row of the table; what is archived is due no more, and `later` puts off a due one."""
    due = FOREVER if cold else max(later, cold_at(kept, config.decay_rate, config.cold_below))
    return nights.strength_row(view, kept, due)


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
    looked_at = {**nights.due(view, night.now, MOST_DUE), **_new(view, night), **again}
    fading = {
        line
        for line, kept in looked_at.items()
        if cold_at(kept, config.decay_rate, config.cold_below) <= night.now
    }
    spared, back = _spared(view, fading), nights.archived(view, again)
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
    found = nights.begun(view, lines)
    last = nights.last_learned(view, found, named=True)
    return {line: _reinforced(kept, last.get(line, 0)) for line, kept in found.items()}


def _said_again(view: View, night: Night) -> dict[int, KeptStrength]:
    """Known lineages with a new version, facts with new evidence, entities that were mentioned again."""
    joined = [edge for edge in night.news.edges if not edge.closed]
    lines = {item.line for item in night.news.items if not item.closed}
    lines |= {edge.src for edge in joined if edge.type == "derived_from"}
    named = {edge.dst for edge in joined if edge.type == "refers_to"}
    known = nights.strengths(view, lines | named)
    last = nights.last_learned(view, known.keys() - named) | dict.fromkeys(named & known.keys(), night.now)
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
    # what somebody said of their own likes, or asked to hold from then on; while it is believed
    standing = {
        line
        for line, flag in nights.flags(view, lines)
        if flag & INSTRUCTS or (flag & PREFERS and flag & OF_ME)
    }
    resting = nights.facts_resting_on(view, lines)
    lasting = _lasting_facts(view, {*lines, *(fact for _, fact in resting)})
    events = {event for event, fact in resting if fact in lasting}
    return (
        nights.pinned(view, lines)
        | nights.contradicted(view, lines)
        | standing
        | (lasting & set(lines))
        | events
    )


def _lasting_facts(view: View, lines: Collection[int]) -> set[int]:
    """Facts that say who somebody that speaks here is, or what they like, and still hold."""
    lasting = {
        line: fold(subject) for line, phrase, subject in nights.phrased(view, lines) if is_lasting(phrase)
    }
    speak = nights.speakers(view, set(lasting.values()))
    return {line for line, subject in lasting.items() if subject in speak}


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


class _Row(Struct, frozen=True):
    tally: Tally
    style: Counts


def profile(view: View, night: Night) -> Plan:
    """The rows of everybody of whom something is new."""
    turns = night.news.of("Turn")
    ahead = not_yet(view, {*(item.line for item in turns), *night.waiting})
    closed = {item.line for item in turns if item.closed} | (set(night.waiting) - set(ahead))
    fresh = {item.line for item in turns} - closed
    again = {fold(n) for n in nights.voices_around(view, closed) if fold(n) and role_of(n) != "assistant"}
    new = grouped((turn.speaker, _said(turn)) for turn in spoken(view, {*fresh, *closed}))
    return Plan(tuple(_rows(view, night.scope, new, again)), ahead)


def _rows(
    view: View, scope: int, new: Mapping[str, Sequence[SaidWords]], again: Collection[str]
) -> list[Change]:
    stored = nights.profiles(view, scope, {*new, *again})
    held = {who: _Row(DECODER.decode(body), unpacked(style)) for who, body, style in stored}
    rows, gone = [], []
    for speaker in sorted({*new, *again}):
        row = _renewed(view, speaker, held.get(speaker), () if speaker in again else new[speaker])
        if not row.tally.turns:
            gone += [(view.tenant, speaker, scope)] if speaker in held else []
        elif (
            speaker not in held
            or row.tally != held[speaker].tally
            or (row.style != held[speaker].style).any()
        ):
            rows.append((view.tenant, speaker, scope, ENCODER.encode(row.tally).decode(), packed(row.style)))
    return [NewRows("profiles", tuple(rows), tuple(gone))] if rows or gone else []


def _said(turn: Spoken) -> SaidWords:
    return SaidWords(turn.line, turn.text, turn.said_at, turn.answers)


def _renewed(view: View, speaker: str, held: _Row | None, new: Sequence[SaidWords]) -> _Row:
    """The row with the new texts in it; counted from the beginning where that is not enough."""
    if held is None or not new or min(said.line for said in new) <= held.tally.upto:
        return _summed(
            _said(turn) for turn in spoken(view, nights.turns_by(view, speaker)) if turn.speaker == speaker
        )
    more = _summed(new)
    return _Row(combined([held.tally, more.tally]), held.style + more.style)


def _summed(said: Iterable[SaidWords]) -> _Row:
    """Batch by batch, so that a long life needs no more memory than a short one."""
    total, style, batch = Tally(), counted(""), list[SaidWords]()
    for one in said:
        batch.append(one)
        style = style + counted(one.text)
        if len(batch) >= TURNS_AT_ONCE:
            total, batch = combined([total, tally(batch)]), []
    return _Row(combined([total, tally(batch)]), style)
