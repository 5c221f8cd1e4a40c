"""From claims to facts: whom a claim speaks of, which slot it falls into, and what it ends there.

Reading says what a text claims (`reading/`), the slot rules say what that does to what is believed
(`rules/slots.py`); this module looks up what both need, carries the decision out through the fact
handler, and ties every fact and every mention to the words it came from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import NamedTuple

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant, Interval, moment, to_datetime
from worldline.errors import WorldlineError
from worldline.handle import Handle
from worldline.model import (
    Close,
    EdgeDraft,
    Event,
    FactDraft,
    FactRow,
    Metadata,
    Place,
    Predicate,
    clean_names,
)
from worldline.ports import Bearing, View
from worldline.reading.claim import PLAN, Claim, SpeakerVoice, role_of, stem, voices, who_speaks
from worldline.reading.families import families
from worldline.reading.read import MAX_TEXT, Reading, ToRead, read_all
from worldline.rules.changes import DAY, LONG, Overtaken, concerns, ended_by, such_things, taken_back
from worldline.rules.matter import MOST_READ, Around, Beside, clash, may_clash, of_one_thing, told_in, voiced
from worldline.rules.slots import (
    NOT,
    Decision,
    HeldValue,
    also_called,
    announced,
    corrects,
    decide,
    looked_into,
    looks_into,
    oriented,
    sentence,
    slot_of,
)
from worldline.store import people, registry, slots
from worldline.store.events import Stored
from worldline.store.search import GATED, NearText, nearest_texts
from worldline.store.tx import Tx
from worldline.text import fold
from worldline.write.gate import spoken
from worldline.write.given import LONGEST_NAME, ToldBy, add_alias, grounding, mention

NEAR = 30
"""So many memories that share words with a change are looked at."""
IN_WORDS = {"opens": "believed", "adds": "believed too", "series": "the next of a series"}
"""What a decision is called in a receipt."""
LATELY = 6
"""So many of the last things that somebody said may be what a bare correction corrects."""


# Reading, before anything is written ---------------------------------------------------------------


def read_events(
    said: Sequence[Event], heard: Sequence[SpeakerVoice], moments: Sequence[Instant]
) -> list[Reading]:
    """What events say, with when each was said; an assistant's own words are not evidence about the world."""
    times = [
        (now, 0) if e.said_at is None else moment(e.said_at) for e, now in zip(said, moments, strict=True)
    ]
    return _read_all([each.text for each in said], heard, times)


def reading_of(stored: Stored, user: str | None) -> Reading:
    """The reading that is kept with an event, or a fresh one where none is."""
    if stored.reading:
        return DECODER.decode(stored.reading)
    heard = voices([(stored.speaker, stored.recipient)], user)
    return _read_all([stored.text], heard, [(stored.said_at, stored.utc_offset)])[0]


def _read_all(
    texts: Sequence[str], heard: Sequence[SpeakerVoice], times: Sequence[tuple[Instant, int]]
) -> list[Reading]:
    told = [
        ToRead(spoken(text[:MAX_TEXT]), voice.who, voice.addressee, _when(*said))
        for text, voice, said in zip(texts, heard, times, strict=True)
        if voice.role != "assistant"
    ]
    read = read_all(told)
    for each in (one for one in read if one.cues.ends):
        such_things(each.cues, each.claims)  # looked up here, so that nobody waits for it under the lock
    readings = iter(read)
    unread = Reading("nobody, an assistant's own words")
    return [unread if voice.role == "assistant" else next(readings) for voice in heard]


def _when(at: Instant, offset: int) -> datetime | None:
    try:
        return to_datetime(at, offset)
    except OverflowError:  # at the ends of time no date can be told
        return None


ENCODER, DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Reading)


# Settling -------------------------------------------------------------------------------------------


def settle(
    tx: Tx,
    claims: Sequence[Claim],
    event: Stored,
    place: Place,
    handle: Handle,
    by: tuple[tuple[str, str], ...] = (),
    who: str = "",
    said: Reading = Reading(""),
    over: Foreseen | None = None,
) -> bool:
    """Believes every claim, in the order of the text, what is announced last; whether anything changed.

    `who` is whom "I" means, and `over` what the text ends, where somebody has found that out already.
    """
    who = who or who_speaks(event.speaker, handle.scope.user)
    told, heard = ToldBy(event.key, event.said_at, by), len(tx.changes)
    if tx.gathering is None or event.key not in tx.gathering.tellers:
        claims = sound(claims)
        look_up(tx, [Claimed(event.key, event.speaker, claims)], place)
    if over is None:
        beside = close_reading(handle)
        near = near_facts(tx, said, event, place.scope, closely=beside is not None)
        (others,) = nearest_texts(tx, [(event.text[:GATED], event.key)]) if beside else [[]]
        held = held_so(slots.open_facts_among(tx, near, place.scope, before=True))
        over = foresee(beside, said, event, who, held, others)
    claims = [_mended(claim, said, over) for claim in claims]
    before = _lately_held(tx, over, place)
    present_first = sorted(claims, key=lambda claim: claim.ahead)  # what is announced stands beside it
    changed = [_settle_one(tx, claim, told, place, handle, event, who) for claim in present_first]
    if not any(claim.record for claim in claims):
        changed.append(_overtake(tx, said, over, before, event, place))
    corrected = any(WRONG in change for change in tx.changes[heard:])
    if said.values and not corrected:
        corrected = _correct_value(tx, said, told, place, handle, event)
        changed.append(corrected)
    if over.meant is not None and not corrected:
        changed.append(_take_back(tx, over, before))
    if over.at_odds and not _TURNS.search(" ".join(tx.changes[heard:])):
        changed.append(_disagree(tx, over, event, place))
    return any(changed)


_TURNS = re.compile(r": (?:closes|ends|contradicts), ")


def _mended(claim: Claim, said: Reading, over: Foreseen) -> Claim:
    """A claim of a message that takes a fact of the same slot back, though no word of it says that it corrects."""
    slip = over.meant is not None and not said.corrects and claim.key == over.meant.held.slot
    return replace(claim, cue="correction") if slip and claim.effect != "ends" else claim


def sound(claims: Iterable[Claim]) -> list[Claim]:
    """Those that speak of somebody, and of something unless they end it; their names as they are stored."""
    kept = [
        c for c in claims if c.subject.strip() and (c.object.strip() or c.effect == "ends" or c.cue == "ends")
    ]
    clean = clean_names([part for c in kept for part in _names(c)]) if kept else {}
    return [_renamed(c, clean) for c in kept]


def _names(claim: Claim) -> list[str]:
    """What a claim calls things: its subject, and its object where that is no mere value."""
    named = claim.kind == "entity" or claim.family == "name"
    return [claim.subject, *([claim.object] if named and claim.object.strip() else [])]


def _renamed(claim: Claim, names: Mapping[str, str]) -> Claim:
    subject = names[claim.subject]
    object_ = names.get(claim.object, claim.object) if claim.kind == "entity" else claim.object
    if (subject, object_) == (claim.subject, claim.object):
        return claim
    return replace(claim, subject=subject, object=object_)


class Claimed(Struct, frozen=True):
    """An event (its row) whose claims are to be settled, and who said it."""

    event: int
    teller: str
    claims: Sequence[Claim]
    """Sound ones."""


def look_up(tx: Tx, said: Sequence[Claimed], place: Place) -> None:
    """All that settling these events is going to ask, in as few statements as there are kinds of things."""
    claims = [claim for each in said for claim in each.claims]
    if not claims:
        return
    names = {part: _short(part) for claim in claims for part in _names(claim)}
    facts = [
        slots.ClaimedFact(names[c.subject], slot, *((names[c.object], None) if c.kind == "entity" else
                                                   (None, orjson.dumps(c.object).decode())))
        for c in claims if c.object.strip() for slot in (c.key, *c.others)
    ]  # fmt: skip
    tellers = {each.event: each.teller for each in said}
    found = slots.gather(tx, place, tellers, set(names.values()), {fold(c.subject) for c in claims}, facts)
    lines = {part: found.lines[name] for part, name in names.items() if name in found.lines}
    subjects = [(c, lines[part]) for c in claims for part in (c.subject, c.object) if part in lines]
    subjects = [(c, line) for c, line in subjects if c.active or line == lines.get(c.subject)]
    found.look_up_facts(looked_into(subjects, found.look_up_slots))


def _short(name: str) -> str:
    return name[:LONGEST_NAME].strip()


def _settle_one(
    tx: Tx, claim: Claim, told: ToldBy, place: Place, handle: Handle, event: Stored, speaker: str
) -> bool:
    if claim.active:
        claim = oriented(claim, lambda key: slots.was_worded(tx, key))
    subject, mentions = _what_was_wrong(tx, claim, place), list[EdgeDraft]()
    known = people.exactly_each(tx, list(map(_short, _names(claim))), place.scope)
    if not subject:
        subject, mentions = whom(tx, claim, known, told, place, speaker)
    theirs = claim.predicate == "is" and claim.subject.islower() and claim.subject != speaker
    if theirs and subject == _line_of(tx, speaker, place):
        claim = replace(
            claim, subject=speaker, predicate=f"'s {claim.subject} is"
        )  # "the rent" is the speaker's
    held = _held(tx, subject, place, looks_into(claim, partial(slots.slots_of, tx, subject)))
    decision = _in_its_slot(decide(claim, [h for h, _ in held], _Known(tx, place), event.speaker), held)
    if decision.verb == "opens" and (wrong := _said_of_another(tx, claim, event, place)) is not None:
        held = [*held, wrong]
        decision = replace(decision, verb="closes", closes=(wrong[0].id,), reason=WRONG)
    if not decision.slot:
        tx.link_all(mentions)
        return False
    if claim.ahead and decision.slot.startswith(PLAN):
        claim = replace(claim, predicate=announced(claim.predicate), effect="holds")
    start = _start(claim, told, [row for h, row in held if h.id in decision.closes])
    late = _told_after(claim, start, told, [h for h, _ in held if h.id in decision.closes])
    if late is not None:
        claim, start = replace(claim, valid_from=None, precision="", begins=False), late
    start = tx.stamp if start is None else start
    verb = decision.verb if decision.verb != "ends" or decision.closes or not claim.object else "opens"
    if claim.object or decision.closes:  # that something unknown is over is no news
        ahead = decision.closes and claim.kind != "date" and start > event.said_at + DAY
        day = _when(start, event.utc_offset) if ahead else None
        reason = f"{decision.reason}, from {day.date()} on" if day else decision.reason
        said = sentence(claim.subject, claim.predicate, claim.object)
        tx.changes.append(f"{said}: {IN_WORDS.get(verb, verb)}, {reason}")
    at = Beginning(subject, start, mentions, known)
    if decision.verb == "ends":
        return _end(tx, claim, decision, at, told, place, handle, held)
    return _believe(tx, claim, decision, at, told, place, handle, held)


Named = Mapping[str, people.Called | None]
"""Who has exactly each of some names."""


class Beginning(NamedTuple):
    """Of whom a claim holds and since when, the mention of them that is still to be stored, and who is known."""

    subject: int
    start: Instant
    mentions: Sequence[EdgeDraft]
    known: Named


def _line_of(tx: Tx, name: str, place: Place) -> int:
    """The entity of exactly this name; 0 for a new one."""
    known = people.exactly(tx, name, place.scope)
    return known.line if known else 0


_COARSE = {"week": 7, "month": 31, "season": 92, "quarter": 92, "half": 183, "year": 366}
"""Days that a date of this precision may mean."""


def _start(claim: Claim, told: ToldBy, closed: Sequence[FactRow]) -> Instant | None:
    """When it began: what takes another's place "last month" began after that one did."""
    start = told.said_at if claim.valid_from is None else claim.valid_from
    if claim.valid_from is None or claim.precision not in _COARSE or claim.kind == "date":
        return start
    end = claim.valid_from + _COARSE[claim.precision] * DAY
    before = [row.belief.valid.start for row in closed if claim.valid_from <= row.belief.valid.start < end]
    if not before:
        return start
    latest = end if told.said_at is None else min(end, told.said_at)
    return max(claim.valid_from, min(max(before) + DAY, latest))


def _told_after(
    claim: Claim, start: Instant | None, told: ToldBy, closed: Sequence[HeldValue]
) -> Instant | None:
    """When a change begins to count that happened before the states of no date were told whose place it takes.

    "Rosa lives in Berlin" says only how long at least that was so. Who tells a minute later that she moved to Lisbon
    last month says where she lives now; since when is then only in the words. For the very moment of the state only a
    change counts: "my number is 555-1234, extension 7" tells two values.
    """
    if told.said_at is None or start is None or claim.kind == "date" or claim.rank == "given":
        return None
    undated = [held.valid_from for held in closed if not held.dated and held.valid_from is not None]
    latest = told.said_at - (claim.effect == "holds")
    later = [since for since in undated if start <= since <= latest]
    return max(told.said_at, max(later) + 1) if later else None


def whom(
    tx: Tx, claim: Claim, named: Named, told: ToldBy, place: Place, speaker: str = ""
) -> tuple[int, list[EdgeDraft]]:
    """The entity that a claim speaks of, by role ("Ana's sister"), by its name or a part of it; and the mention."""
    owner, _, role = claim.subject.rpartition("'s ")
    if owner and role and not claim.record:
        line = _by_role(tx, owner, role, place)
        if line:
            return line, []
    name = _short(claim.subject)
    known = named[name]
    if known is None and not claim.record:
        names = [fold(name) for name in also_called(claim.subject, speaker, claim.family)]
        rows = people.known_names(tx, names, place.scope) if names else []
        others = {row.key: row.line for row in reversed(rows)}
        for other in names:
            line = others.get(other, 0)
            if line and (other != fold(speaker) or _held(tx, line, place, (claim.key,))):
                return line, []
    return mention(tx, name, known, told, place, "" if claim.record else claim.key)


def _by_role(tx: Tx, owner: str, role: str, place: Place) -> int:
    """Who "Ana's sister" is, if it is known of just one."""
    named = [
        each.family.name for each in families().by_noun(role) if each.family.object in ("person", "animal")
    ]
    if not named:
        return 0
    found = slots.by_role(tx, fold(owner), named, role.split()[-1].lower(), place.scope)
    return found[0] if len(found) == 1 else 0


def _what_was_wrong(tx: Tx, claim: Claim, place: Place) -> int:
    """ "Not Porto, Faro": whom a correction speaks of, if just one open fact has the old value; else 0."""
    if not claim.replaces or claim.key.strip("|"):
        return 0
    found = slots.subjects_with(tx, fold(claim.replaces), place.scope)
    return found[0] if len(found) == 1 else 0


def _in_its_slot(decision: Decision, held: Sequence[tuple[HeldValue, FactRow]]) -> Decision:
    """A correction that names only values falls into the slot of the value it corrects."""
    if decision.slot.strip("|"):
        return decision
    known = [h.slot for h, _ in held if h.id in decision.closes]
    return replace(decision, slot=known[0] if known else "")


def _believe(
    tx: Tx, claim: Claim, decision: Decision, at: Beginning, told: ToldBy, place: Place, handle: Handle,
    held: Sequence[tuple[HeldValue, FactRow]],
) -> bool:  # fmt: skip
    object_, mentions = 0, list(at.mentions)
    if claim.kind == "entity":
        name = _short(claim.object)
        if name in at.known and fold(name) != fold(claim.subject):
            known = at.known[name]
        else:
            known = people.exactly(tx, name, place.scope)
        object_, more = mention(tx, name, known, told, place)
        mentions += more
    if object_ == at.subject:
        tx.link_all(mentions)
        return False
    rivals = tuple(row for h, row in held if h.id in decision.closes)
    predicate = registry.predicate(tx, decision.slot, place.world) if tx.typed else Predicate(decision.slot)
    status, doubt = grounding(claim.confidence, _classed(predicate), handle.config)
    draft = FactDraft(
        0, decision.slot, bool(rivals), claim.valid_from is not None and (claim.begins or decision.verb != "repeats"),
        bool(rivals) and (claim.cue == "correction" or claim.kind == "date"), status, claim.confidence,
        claim.precision or None, _because(doubt or decision.reason, told), rivals,
    )  # fmt: skip
    settled = slots.Settled(
        at.subject, object_, None if object_ else orjson.dumps(claim.object).decode(), decision.slot,
        _phrase(claim, decision, held), claim.key or decision.slot, claim.kind, decision.one, claim.rank,
        claim.valid_from is not None,
    )  # fmt: skip
    span: Metadata = {"start": claim.chars[0], "end": claim.chars[1], **dict(told.by)}
    grounds = [(told.event, span)] if told.event else []
    until = claim.valid_to
    valid = Interval(at.start, until if until is not None and until > at.start else FOREVER)
    key, changed = slots.believe(tx, slots.ToBelieve(settled, draft, valid, mentions, grounds), place)
    if decision.verb == "contradicts":
        _contradict(tx, key, decision, held, place, at.start)
    if object_ and claim.types:
        _note_wording(tx, object_, claim)
    if claim.family == "name":
        _note_name(tx, at.subject, claim, place)
    return changed


def _classed(predicate: Predicate) -> Predicate:
    """What nobody registered otherwise has the threshold of its family: medical, financial, preference."""
    family = families().all.get(predicate.name.partition(":")[0])
    if family is None or predicate.threshold_class != "default":
        return predicate
    return replace(
        predicate, threshold_class={"preference": "exploratory"}.get(family.threshold, family.threshold)
    )


def _phrase(claim: Claim, decision: Decision, held: Sequence[tuple[HeldValue, FactRow]]) -> str:
    """How the fact reads; a bare value that takes another's place reads as that one did."""
    if claim.predicate:
        return claim.predicate
    return next((h.phrase for h, _ in held if h.id in decision.closes), decision.slot)


def _note_name(tx: Tx, subject: int, claim: Claim, place: Place) -> None:
    """Whoever says what he is called is found by that name, if nobody else is."""
    if not people.known_names(tx, [fold(claim.object)], place.scope):
        add_alias(tx, subject, claim.object, place.scope)


def _because(reason: str, told: ToldBy) -> str:
    """The reason of a belief, with who read it, if no rule did."""
    return "; ".join([reason, *(f"{what} {which}" for what, which in told.by)])


def _contradict(
    tx: Tx,
    key: int,
    decision: Decision,
    held: Sequence[tuple[HeldValue, FactRow]],
    place: Place,
    start: Instant,
) -> None:
    for other, row in held:
        if other.slot == decision.slot and row.node != key:
            since = min(start, row.belief.valid.start, tx.stamp)  # they are at odds now, whenever it will be
            tx.link(EdgeDraft(key, "contradicts", row.node, Interval(since), place.scope))


def _end(
    tx: Tx, claim: Claim, decision: Decision, at: Beginning, told: ToldBy, place: Place, handle: Handle,
    held: Sequence[tuple[HeldValue, FactRow]],
) -> bool:  # fmt: skip
    """What the text says is over ends when it was said to, what is still to come is not believed any more.

    How it ended is a fact of its own.
    """
    now = tx.stamp if told.said_at is None else told.said_at
    named = [r for h, r in held if h.id in decision.closes]
    over = [r for r in named if r.belief.valid.start < at.start or r.belief.valid.start >= now]
    for row in over:
        until = at.start if row.belief.valid.start < at.start else None
        tx.close(Close(row.belief, valid_to=until, reason=decision.reason), "understand")
    if not claim.object or claim.record or (over and not claim.event):
        tx.link_all(at.mentions)
        return bool(over)
    former = replace(claim, key=f"{NOT}{decision.slot}", effect="holds", holds="many", cue="")
    kept = Decision("opens", former.key, False, (), decision.reason)
    return _believe(tx, former, kept, at, told, place, handle, held) or bool(over)


# What is overtaken without its slot being named ---------------------------------------------------------


def near_facts(
    view: View, said: Reading, event: Stored, scope: int | None = None, *, closely: bool
) -> list[int]:
    """The facts that a message may end, the nearest first: those that share words with it, and what was told lately.

    Who tells of a change often does so in other words, soon after; but that can be seen only by reading both closely.
    """
    if not closely:
        ends = _may_end_by_rule(said)
        return [node for node, _ in view.matching(_matters(said), NEAR, texts=False)] if ends else []
    found, told = list[int](), told_in(said, event.text)
    if said.corrects or any(each.changes for each in told):
        found += [node for node, _ in view.matching(_matters(said), NEAR, texts=False)]
    if any(each.turns for each in told):
        late = slots.lately_told(view, event.speaker, event.said_at, event.key, scope, LATELY)
        found += [each.node for each in late]
    return list(dict.fromkeys(found))


def _may_end_by_rule(said: Reading) -> bool:
    """Whether a sentence can end anything where nothing reads it closely: it speaks of a change, and little else."""
    cues = [part.cues for part in said.parts] or [said.cues]
    return any(each.may_end and len(each.stems) <= LONG for each in cues)


def held_so(near: Iterable[slots.OpenFact]) -> list[tuple[HeldValue, str]]:
    """Facts as the rules look at them, with what their subjects are called; not what was given."""
    return [(_as_held(fact)[0], fact.subject_name) for fact in near if fact.rank != "given"]


def just_told(number: int, event: Stored, claims: Iterable[Claim]) -> list[tuple[HeldValue, str]]:
    """The same of what a message claims that is stored together with those behind it, and is no fact yet."""
    return [
        (HeldValue(f"{number}:{at}", claim.key, claim.object, claim.kind, claim.holds == "one", claim.rank,
                   event.said_at, claim.valid_from is not None, event.speaker, claim.predicate, event.text,
                   claim.chars[0]), claim.subject)
        for at, claim in enumerate(claims) if claim.object and claim.effect != "ends" and not claim.ahead
    ]  # fmt: skip


class Foreseen(NamedTuple):
    """What a message ends, by the fact's id, what it takes back, and the texts of others that it is at odds with."""

    ended: Mapping[str, Overtaken] = {}
    meant: Around | None = None
    at_odds: Sequence[int] = ()
    rows: Mapping[int, int] = {}
    """The rows of the messages that are stored together with it, by their number."""


def foresee(
    beside: Beside | None,
    said: Reading,
    event: Stored,
    who: str,
    held: Sequence[tuple[HeldValue, str]],
    others: Sequence[NearText],
) -> Foreseen:
    """What a message says of what is held near it: nobody has to wait under the lock until it is read beside that."""
    if beside is None:  # then rules alone decide, and take nothing back
        told = told_in(said, event.text) if held and _may_end_by_rule(said) else []
        able = [each for each in told if each.changes]
        return Foreseen(ended_by(able, held, who, event.speaker, _unread) if able else {})
    told = [each for each in (told_in(said, event.text) if held else ()) if each.turns]
    ended = ended_by(told, held, who, event.speaker, beside) if told else {}
    meant = taken_back(told, held, who, event.speaker, beside) if told else None
    turns = ended or meant or said.corrects
    at_odds = () if turns else [each.node for each in _others(event, others) if _clashes(each, event, beside)]
    return Foreseen(ended, meant, at_odds)


VOICES = 2
"""So many texts of others, the nearest, are read beside a message."""


def _others(event: Stored, near: Sequence[NearText]) -> list[NearText]:
    """What other people said of what a message may speak of."""
    return [
        each for each in near
        if each.speaker and fold(each.speaker) != fold(event.speaker)
        and "assistant" not in (role_of(each.speaker), role_of(event.speaker)) and may_clash(each.text, event.text)
    ][:VOICES]  # fmt: skip


def _clashes(told: NearText, event: Stored, beside: Beside) -> bool:
    return clash(voiced(told.speaker, told.text), voiced(event.speaker, event.text), beside)


def _matters(said: Reading) -> list[str]:
    """What a message speaks of, and kinds of things that it says to be over."""
    return [*said.cues.stems[:24], *such_things(said.cues, said.claims)]


Before = list[tuple[HeldValue, FactRow, str]]
"""Facts as they were held before a message, with the names of their subjects."""


def _lately_held(tx: Tx, over: Foreseen, place: Place) -> Before:
    """The facts that are to end, as they are held; not those learned just now."""
    named = {**{id_: each.fact for id_, each in over.ended.items()},
             **({over.meant.held.id: over.meant} if over.meant else {})}  # fmt: skip
    stored = [int(id_) for id_ in named if ":" not in id_]
    found = _held_among(tx, stored, place, before=True) if stored else []
    before = [one for one in found if one[1].belief.known.start < tx.stamp]
    return [
        *before,
        *_told_together(tx, [f.held for id_, f in named.items() if ":" in id_], over.rows, place),
    ]


def _told_together(tx: Tx, told: Sequence[HeldValue], rows: Mapping[int, int], place: Place) -> Before:
    """The facts that came of claims of messages of the same changeset, under the claims' ids."""
    if not told:
        return []
    wanted = {
        (rows[int(each.id.partition(":")[0])], each.phrase, fold(each.object)): each.id for each in told
    }
    drawn = slots.facts_of_events(tx, {event for event, *_ in wanted})
    held = {row.node: (h, row, name) for h, row, name in _held_among(tx, [fact for _, fact in drawn], place)}
    found = [(event, *held[fact]) for event, fact in drawn if fact in held]
    return [
        (replace(h, id=id_), row, name)
        for event, h, row, name in found if (id_ := wanted.get((event, h.phrase, fold(h.object))))
    ]  # fmt: skip


def _overtake(tx: Tx, said: Reading, over: Foreseen, before: Before, event: Stored, place: Place) -> bool:
    """Ends what was held before a message and is over by what it says, without its slot being named."""
    closed = False
    for held, row, name in before:
        ended = over.ended.get(held.id)
        if ended is None or not slots.is_held(tx, row.belief.row):
            continue
        ahead = row.belief.valid.start >= event.said_at  # what was still to come is not believed any more
        wrong = said.corrects or (over.meant is not None and over.meant.held.id == held.id)
        until = None if ahead or wrong else ended.when(event.said_at)
        reason = WRONG if wrong else ended.reason
        tx.close(Close(row.belief, valid_to=until, reason=reason), "understand")
        tx.changes.append(f"{sentence(name, held.phrase, held.object)}: ends, {reason}")
        if held.slot == "name" and said.cues.leaves:
            _end_owning(tx, ended.fact, event, place)
        closed = True
    return closed


def _take_back(tx: Tx, over: Foreseen, before: Before) -> bool:
    """Withdraws what a correction most likely means, where nothing else was found that it could correct."""
    for held, row, name in before:
        if over.meant and held.id == over.meant.held.id and slots.is_held(tx, row.belief.row):
            tx.close(Close(row.belief, valid_to=None, reason=WRONG), "understand")
            tx.changes.append(f"{sentence(name, held.phrase, held.object)}: ends, {WRONG}")
            return True
    return False


def _disagree(tx: Tx, over: Foreseen, event: Stored, place: Place) -> bool:
    """A message and what others said contradict: the two facts that speak of one thing, else the words themselves."""
    drawn = slots.facts_of_events(tx, [event.key, *over.at_odds])
    held = {row.node: (h, name) for h, row, name in _held_among(tx, [fact for _, fact in drawn], place)}
    mine = [fact for of, fact in drawn if of == event.key and fact in held]
    standing, shown = tx.contents(over.at_odds), False
    for other in over.at_odds:
        if other not in standing:
            continue  # it was forgotten or taken back while this was read
        told_there = [fact for of, fact in drawn if of == other]
        theirs = [fact for fact in told_there if fact in held]
        if told_there and not theirs:
            continue  # what they said is over or was taken back
        pair = of_one_thing([(fact, *held[fact]) for fact in mine], [(fact, *held[fact]) for fact in theirs])
        one, two = pair or (event.key, other)
        tx.link(EdgeDraft(one, "contradicts", two, Interval(min(event.said_at, tx.stamp)), place.scope))
        told = sentence(held[one][1], held[one][0].phrase, held[one][0].object) if pair else event.text[:80]
        tx.changes.append(f"{told}: contradicts, {MOST_LIKELY_AT_ODDS}")
        shown = True
    return shown


MOST_LIKELY_AT_ODDS = "somebody else most likely said otherwise, and neither speaks of a change"


def _unread(ways: Sequence[str], text: str) -> None:
    """What is said beside a text where nobody reads it closely."""


def close_reading(handle: Handle) -> Beside | None:
    """What a text does to what is told in some ways: the mean of what a close reading says of each; None for none."""
    if not handle.reads_closely:
        return None
    reader = cache(handle.bearing_reader)  # opened by the first pair that it can decide

    @cache
    def read(way: str, text: str) -> Bearing | None:
        bearing = reader()
        try:
            return None if bearing is None else bearing(way, text[:MOST_READ])
        except WorldlineError:  # a write does without
            return None

    def beside(ways: Sequence[str], text: str) -> Bearing | None:
        read_so = [each for way in ways if (each := read(way, text)) is not None]
        return (
            Bearing(*(sum(each) / len(read_so) for each in zip(*read_so, strict=True))) if read_so else None
        )

    return beside


def _end_owning(tx: Tx, named: Around, event: Stored, place: Place) -> None:
    """Bruno died: nobody has the dog any longer that was called so."""
    nodes = [node for node, _ in tx.matching(sorted(named.subject)[:4], NEAR, texts=False)]
    for held, row, owner in _held_among(tx, nodes, place):
        if fold(held.object) == fold(named.name) and row.belief.valid.start < event.said_at:
            reason = f"{named.held.object} was it"
            tx.close(Close(row.belief, valid_to=event.said_at, reason=reason), "understand")
            tx.changes.append(f"{sentence(owner, held.phrase, held.object)}: ends, {reason}")


# A bare correction ------------------------------------------------------------------------------------


WRONG = "it was wrong: the text corrects it"


def _said_of_another(tx: Tx, claim: Claim, event: Stored, place: Place) -> tuple[HeldValue, FactRow] | None:
    """ "It wasn't Femi, Gustav broke the machine": what the same person just said of somebody else."""
    if claim.cue != "correction" or claim.negated or claim.effect == "ends":
        return None
    told = slots.lately_told(tx, event.speaker, event.said_at, event.key, place.scope, LATELY)
    nodes = [each.node for each in told if fold(each.subject_name) != fold(claim.subject)]
    for held, row, _ in _held_among(tx, nodes, place):
        if held.slot == claim.key and fold(held.object) == fold(claim.object):
            return held, row
    return None


def _correct_value(tx: Tx, said: Reading, told: ToldBy, place: Place, handle: Handle, event: Stored) -> bool:
    """ "Sorry, I meant 17:40": the value of the same kind that the same person said last."""
    for node, subject, name, phrase in slots.lately_told(
        tx, event.speaker, event.said_at, event.key, place.scope, LATELY
    ):
        held = [(held, row) for held, row, _ in _held_among(tx, [node], place)]
        wrong = next((h for h, _ in held), None)
        value = next((v for v in said.values if wrong is not None and corrects(v, wrong)), None)
        if wrong is None or value is None or not concerns(said.cues, f"{name} {phrase}"):
            continue
        claim = Claim(name, phrase, wrong.slot, value, kind=wrong.kind, cue="correction", rank="user",
                      holds="one" if wrong.one else "many", chars=(0, len(event.text)), confidence=0.9)  # fmt: skip
        decision = Decision("closes", wrong.slot, wrong.one, (wrong.id,), WRONG)
        tx.changes.append(f"{sentence(name, phrase, value)}: {decision.verb}, {decision.reason}")
        at = Beginning(subject, told.said_at or tx.stamp, (), {})
        return _believe(tx, claim, decision, at, told, place, handle, held)
    return False


# What the slot rules ask ----------------------------------------------------------------------------


class _Known:
    """What the store knows about names and slots."""

    def __init__(self, tx: Tx, place: Place) -> None:
        self._tx, self._scope = tx, place.scope

    def kinds(self, name: str) -> frozenset[str]:
        return slots.kinds_of(self._tx, name, self._scope)

    def typed(self, key: str) -> frozenset[str]:
        return slots.kinds_in(self._tx, key)


def _note_wording(tx: Tx, object_: int, claim: Claim) -> None:
    """What a text calls a thing ("the city of …"), for meeting of other wordings later."""
    placed = "#" in slot_of(claim)
    for kind in claim.types:
        tx.add("wordings", object_, claim.key, stem(kind), int(placed))


def _held_among(tx: Tx, nodes: Sequence[int], place: Place, *, before: bool = False) -> Before:
    """Of these nodes the facts that are believed and not over, with the names of their subjects."""
    found = slots.open_facts_among(tx, nodes, place.scope, before=before)
    return [(*_as_held(fact), fact.subject_name) for fact in found]


def _held(
    tx: Tx, subject: int, place: Place, among: Collection[str] | None
) -> list[tuple[HeldValue, FactRow]]:
    """The facts that are believed of a subject and not over, in this scope's owner and in these slots."""
    found = map(_as_held, slots.open_facts(tx, subject, place.scope, among))
    return [each for each in found if among is None or each[0].slot in among]


def _as_held(fact: slots.OpenFact) -> tuple[HeldValue, FactRow]:
    row = fact.row
    held = HeldValue(
        str(row.node), row.predicate, fact.value, fact.kind, fact.one, fact.rank, row.belief.valid.start,
        fact.dated, fact.teller, fact.phrase, fact.said, fact.at,
    )  # fmt: skip
    return held, row
