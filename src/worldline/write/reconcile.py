"""From claims to facts: whom a claim speaks of, which slot it falls into, and what it ends there.

Reading says what a text claims (`reading/`), the slot rules say what that does to what is believed
(`rules/slots.py`); this module looks up what both need, carries the decision out through the fact
handler, and ties every fact and every mention to the words it came from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant, Interval, moment, to_datetime
from worldline.handle import Handle, Place
from worldline.hashing import fact_id, node_id
from worldline.inputs import clean_name
from worldline.model import Close, EdgeDraft, Event, FactDraft, FactRow, Metadata, Predicate
from worldline.ports import Tx, View
from worldline.reading.claim import Claim, stem
from worldline.reading.families import families
from worldline.reading.read import MAX_TEXT, Reading, ToRead, read_all
from worldline.reading.voices import role_of
from worldline.rules.changes import Around, around, concerns, overtaken
from worldline.rules.slots import (
    NOT,
    Decision,
    HeldValue,
    also_called,
    corrects,
    decide,
    joins,
    looks_into,
    oriented,
    slot_of,
)
from worldline.rules.wording import sentence
from worldline.store import naming, registry, slots
from worldline.store.events import Stored
from worldline.store.settling import Gathering
from worldline.text import fold
from worldline.write.echo import spoken
from worldline.write.facts import Settled, cite, grounding, put_fact
from worldline.write.put import ToldBy, add_alias, name_keys
from worldline.write.resolve import LONGEST_NAME, mention

DAY = 86_400_000_000
NOBODY = "user"
"""Whom "I" means when nobody says who speaks."""
NEAR = 30
"""So many memories that share words with a change are looked at."""
IN_WORDS = {"opens": "believed", "adds": "believed too", "series": "the next of a series"}
"""What a decision is called in a receipt."""
LATELY = 6
"""So many of the last things that somebody said may be what a bare correction corrects."""


# Reading, before anything is written ---------------------------------------------------------------


def is_own_voice(speaker: str) -> bool:
    """Whether somebody speaks for themselves; an assistant does not."""
    return not speaker or role_of(speaker) != "assistant"


def read_events(said: Sequence[Event], user: str | None, moments: Sequence[Instant]) -> list[Reading]:
    """What events say, with when each was said; an assistant's own words are not evidence about the world."""
    return _read_all(
        [
            (e.text, e.speaker, e.recipient or "", (now, 0) if e.said_at is None else moment(e.said_at))
            for e, now in zip(said, moments, strict=True)
        ],
        user,
    )


def reading_of(stored: Stored, user: str | None) -> Reading:
    """The reading that is kept with an event, or a fresh one where none is."""
    if stored.reading:
        return DECODER.decode(stored.reading)
    when = stored.said_at, stored.utc_offset
    return _read_all([(stored.text, stored.speaker, stored.recipient, when)], user)[0]


def _read_all(said: Sequence[tuple[str, str, str, tuple[Instant, int]]], user: str | None) -> list[Reading]:
    told = [_told(*each, user) if is_own_voice(each[1]) else None for each in said]
    readings = iter(read_all([each for each in told if each is not None]))
    unread = Reading("nobody, an assistant's own words")
    return [unread if each is None else next(readings) for each in told]


def _told(text: str, speaker: str, recipient: str, said: tuple[Instant, int], user: str | None) -> ToRead:
    try:
        when = to_datetime(*said)
    except OverflowError:  # at the ends of time no date can be told
        when = None
    addressee = recipient if is_own_voice(recipient) else ""
    return ToRead(spoken(text[:MAX_TEXT]), who_speaks(speaker, user), addressee, when)


def who_speaks(speaker: str, user: str | None) -> str:
    """Whom "I" means: the one who is named, or the bound user where the speaker is just "user"."""
    if not speaker or role_of(speaker) == "user" or (user and fold(speaker) == fold(user)):
        named = speaker if speaker and role_of(speaker) != "user" else ""
        return named or user or speaker or NOBODY
    return speaker


ENCODER, DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Reading)


# Settling -------------------------------------------------------------------------------------------


def settle(
    tx: Tx,
    claims: Sequence[Claim],
    event: Stored,
    place: Place,
    handle: Handle,
    by: tuple[tuple[str, str], ...] = (),
    said: Reading = Reading(""),
    near: Sequence[int] | None = None,
) -> bool:
    """Believes every claim, in the order of the text; whether anything changed.

    `near` is what shares words with the text, where somebody has looked for it already.
    """
    told = ToldBy(event.key, event.said_at, by)
    sound = _sound(claims)
    if tx.gathering is None or not tx.gathering.is_about(event.key):
        look_up(tx, [Claimed(event.key, event.speaker, sound)], place)
    before = (
        _lately_held(
            tx,
            sharing_words(tx, said) if near is None else near,
            place,
            who_speaks(event.speaker, handle.scope.user),
        )
        if said.cues.may_end and not any(c.record for c in sound)
        else []
    )
    changed = [_settle_one(tx, claim, told, place, handle, event) for claim in sound]
    changed.append(_overtake(tx, said, before, event, place))
    if said.values and not any("it was wrong" in change for change in tx.changes):
        changed.append(_correct_value(tx, said, told, place, handle, event))
    return any(changed)


def _sound(claims: Iterable[Claim]) -> list[Claim]:
    """Those that speak of somebody, and of something unless they end it."""
    return [
        c for c in claims if c.subject.strip() and (c.object.strip() or c.effect == "ends" or c.cue == "ends")
    ]


class Claimed(Struct, frozen=True):
    """An event (its row) whose claims are to be settled, and who said it."""

    event: int
    teller: str
    claims: Sequence[Claim]


def look_up(tx: Tx, said: Sequence[Claimed], place: Place) -> None:
    """All that settling these events is going to ask, in as few statements as there are kinds of things."""
    claims = _sound(claim for each in said for claim in each.claims)
    if not claims:
        return
    names = {
        part: clean_name(part)[:LONGEST_NAME].strip()
        for claim in claims
        for part in (claim.subject, claim.object if claim.kind == "entity" or claim.family == "name" else "")
        if part.strip()
    }
    found = Gathering(tx, place.scope, {each.event: each.teller for each in said})
    ids = {name: node_id("Entity", name, "", None, None) for name in names.values()}
    world = tx.id_of(place.world) if place.world else None
    facts = [
        fact_id(ids[names[c.subject]], slot, ids[names[c.object]] if c.kind == "entity" else None,
                None if c.kind == "entity" else orjson.dumps(c.object).decode(), world)
        for c in claims if c.object.strip() for slot in (c.key, *c.others)
    ]  # fmt: skip
    keys = {key for name in names.values() for key in name_keys(name)}
    found.look_up_names(keys | {fold(c.subject) for c in claims}, [*ids.values(), *facts])
    tx.gathering = found
    lines = {part: line for part, name in names.items() if (line := _line_of(tx, name, place))}
    subjects = [(c, lines[part]) for c in claims for part in (c.subject, c.object) if part in lines]
    subjects = [(c, line) for c, line in subjects if c.active or line == lines.get(c.subject)]
    held = found.look_up_slots({line for _, line in subjects}) if any(map(joins, claims)) else {}
    into: dict[int, frozenset[str] | None] = {}
    for claim, line in subjects:
        for way in (claim, oriented(claim, lambda key: True)):
            more, known = looks_into(way, held.get(line, ())), into.get(line, frozenset())
            into[line] = None if more is None or known is None else known | more
    found.look_up_facts(into, facts)


def _line_of(tx: Tx, name: str, place: Place) -> int:
    """The entity of exactly this name; 0 for a new one."""
    rows = naming.called(tx, name_keys(name), place.scope)
    return next((row.line for row in rows if fold(row.name) == fold(name)), 0)


def _settle_one(tx: Tx, claim: Claim, told: ToldBy, place: Place, handle: Handle, event: Stored) -> bool:
    claim = oriented(claim, lambda key: slots.was_worded(tx, key))
    elsewhere = _what_was_wrong(tx, claim, place)
    speaker = who_speaks(event.speaker, handle.scope.user)
    subject = elsewhere or whom(tx, claim, told, place, speaker)
    if claim.predicate == "is" and claim.subject.islower() and subject == _line_of(tx, speaker, place):
        claim = replace(
            claim, subject=speaker, predicate=f"'s {claim.subject} is"
        )  # "the rent" is the speaker's
    held = _held(tx, subject, place, looks_into(claim, slots.slots_of(tx, subject) if joins(claim) else ()))
    decision = _in_its_slot(decide(claim, [h for h, _ in held], _Known(tx, place), event.speaker), held)
    if decision.verb == "opens" and (wrong := _said_of_another(tx, claim, event, place)) is not None:
        held = [*held, wrong]
        decision = replace(decision, verb="closes", closes=(wrong[0].id,), reason=WRONG)
    if not decision.slot:
        return False
    start = _start(claim, told, [row for h, row in held if h.id in decision.closes])
    start = tx.stamp if start is None else start
    verb = decision.verb if decision.verb != "ends" or decision.closes or not claim.object else "opens"
    if claim.object or decision.closes:  # that something unknown is over is no news
        tx.changes.append(
            f"{sentence(claim.subject, claim.predicate, claim.object)}: {IN_WORDS.get(verb, verb)}, {decision.reason}"
        )
    if decision.verb == "ends":
        return _end(tx, claim, decision, (subject, start), told, place, handle, held)
    return _believe(tx, claim, decision, (subject, start), told, place, handle, held)


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


def whom(tx: Tx, claim: Claim, told: ToldBy, place: Place, speaker: str = "") -> int:
    """The entity that a claim speaks of: by role ("Ana's sister"), by a part of its name, or by its name."""
    owner, _, role = claim.subject.rpartition("'s ")
    if owner and role and not claim.record:
        line = _by_role(tx, owner, role, place)
        if line:
            return line
    if not claim.record and not naming.one_called(tx, fold(claim.subject), place.scope):
        names = [fold(name) for name in also_called(claim.subject, speaker, claim.family)]
        rows = naming.called(tx, names, place.scope) if names else []
        known = {row.key: row.line for row in reversed(rows)}
        for name in names:
            line = known.get(name, 0)
            if line and (name != fold(speaker) or _held(tx, line, place, (claim.key,))):
                return line
    return mention(tx, claim.subject, told, place, "" if claim.record else claim.key)


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
    tx: Tx, claim: Claim, decision: Decision, at: tuple[int, Instant], told: ToldBy, place: Place, handle: Handle,
    held: Sequence[tuple[HeldValue, FactRow]],
) -> bool:  # fmt: skip
    subject, start = at
    object_ = mention(tx, claim.object, told, place) if claim.kind == "entity" else 0
    if object_ == subject:
        return False
    literal = None if object_ else orjson.dumps(claim.object).decode()
    phrase = _phrase(claim, decision, held)
    settled = Settled(
        subject, object_, literal, decision.slot, phrase, claim.key or decision.slot, claim.kind,
        decision.one, claim.rank, claim.valid_from is not None,
    )  # fmt: skip
    valid = Interval(start, _until(claim, start))
    key = put_fact(tx, settled, place, valid)
    predicate = _classed(registry.predicate(tx, clean_name(decision.slot, "predicate"), place.world))
    status, doubt = grounding(claim.confidence, predicate, handle.config)
    rivals = tuple(row for h, row in held if h.id in decision.closes)
    stated = claim.valid_from is not None and (claim.begins or decision.verb != "repeats")
    draft = FactDraft(
        key, decision.slot, bool(rivals), stated,
        bool(rivals) and (claim.cue == "correction" or claim.kind == "date"), status, claim.confidence,
        claim.precision or None, _because(doubt or decision.reason, told), rivals,
        tx.is_new(key) and not tx.is_believed(key),
    )  # fmt: skip
    changed = tx.place_fact(EdgeDraft(subject, "fact", object_, valid, place.scope, fact=draft))
    if decision.verb == "contradicts":
        _contradict(tx, key, decision, held, place, start)
    if object_:
        _note_wording(tx, object_, claim)
    if claim.family == "name":
        _note_name(tx, subject, claim, place)
    span: Metadata = {"start": claim.chars[0], "end": claim.chars[1], **dict(told.by)}
    return cite(tx, key, [(told.event, span)] if told.event else [], place, valid) or changed


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


def _until(claim: Claim, start: Instant) -> Instant:
    return claim.valid_to if claim.valid_to is not None and claim.valid_to > start else FOREVER


def _note_name(tx: Tx, subject: int, claim: Claim, place: Place) -> None:
    """Whoever says what he is called is found by that name, if nobody else is."""
    if not naming.one_called(tx, fold(claim.object), place.scope):
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
    tx: Tx, claim: Claim, decision: Decision, at: tuple[int, Instant], told: ToldBy, place: Place, handle: Handle,
    held: Sequence[tuple[HeldValue, FactRow]],
) -> bool:  # fmt: skip
    """What the text says is over ends when it was said to; how it ended is a fact of its own."""
    subject, start = at
    over = [r for h, r in held if h.id in decision.closes and r.belief.valid.start < start]
    for row in over:
        tx.close(Close(row.belief, valid_to=start, reason=decision.reason), "understand")
    if not claim.object or claim.record or (over and not claim.event):
        return bool(over)
    former = replace(claim, key=f"{NOT}{decision.slot}", effect="holds", holds="many", cue="")
    kept = Decision("opens", former.key, False, (), decision.reason)
    return _believe(tx, former, kept, (subject, start), told, place, handle, held) or bool(over)


# What is overtaken without its slot being named ---------------------------------------------------------


def sharing_words(view: View, said: Reading) -> list[int]:
    """What shares words with a message which speaks of a change."""
    return [node for node, _ in view.matching(list(said.cues.stems)[:24], NEAR)]


def _lately_held(tx: Tx, nodes: Sequence[int], place: Place, speaker: str) -> list[tuple[Around, FactRow]]:
    """The open facts among what shares words with a message; not those learned just now."""
    return [
        (around(held, name, speaker), row)
        for held, row, name in _held_among(tx, nodes, place)
        if row.belief.known.start < tx.stamp and held.rank != "given"
    ]


def _overtake(
    tx: Tx, said: Reading, before: Sequence[tuple[Around, FactRow]], event: Stored, place: Place
) -> bool:
    over = dict(overtaken(said.cues, said.claims, [fact for fact, _ in before], event.speaker))
    closed = False
    for fact, row in before:
        if fact.held.id not in over or not slots.is_held(tx, row.belief.row):
            continue
        ahead = row.belief.valid.start >= event.said_at  # what was still to come is not believed any more
        until = None if ahead or said.corrects else event.said_at
        reason = WRONG if said.corrects else over[fact.held.id]
        tx.close(Close(row.belief, valid_to=until, reason=reason), "understand")
        tx.changes.append(f"{sentence(fact.name, fact.held.phrase, fact.held.object)}: ends, {reason}")
        if fact.held.slot == "name" and said.cues.leaves:
            _end_owning(tx, fact, event, place)
        closed = True
    return closed


def _end_owning(tx: Tx, named: Around, event: Stored, place: Place) -> None:
    """Bruno died: nobody has the dog any longer that was called so."""
    nodes = [node for node, _ in tx.matching(sorted(named.subject)[:4], NEAR)]
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
        return _believe(tx, claim, decision, (subject, told.said_at or tx.stamp), told, place, handle, held)
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


def _held_among(tx: Tx, nodes: Sequence[int], place: Place) -> list[tuple[HeldValue, FactRow, str]]:
    """Of these nodes the facts that are believed and not over, with the names of their subjects."""
    return [(*_as_held(fact), fact.subject_name) for fact in slots.open_facts_among(tx, nodes, place.scope)]


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
        fact.dated, fact.teller, fact.phrase,
    )  # fmt: skip
    return held, row
