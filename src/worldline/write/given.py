"""What is given directly, by a caller or by an agent that understood a message: facts, and notes and links in bulk.

A relation that a family knows is kept in that family's slot, where what is read falls too: the two
meet, and what is given outranks what was only read. An operator's own predicate, and a relation that
nobody knows, stay as they are written. The receipt says in plain words what each fact did. Notes and links are loaded
as one changeset, by the same rules and handlers; links name notes of the same load by their place in it, or stored
memories by their id.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Interval, When, instant, interval
from worldline.config import Config
from worldline.errors import InvalidInput, NotFound
from worldline.handle import Handle, Place
from worldline.model import (
    Close,
    EdgeDraft,
    Evidence,
    Fact,
    FactDraft,
    FactRow,
    Metadata,
    NodeDraft,
    Predicate,
    Receipt,
    Status,
    clean_interval,
    clean_metadata,
    clean_name,
    clean_struct,
    clean_text,
)
from worldline.ports import Tx
from worldline.reading.claim import Claim
from worldline.reading.given import SELF, family_of, is_turned, whole_date
from worldline.reading.voices import is_own_voice, who_speaks
from worldline.rules import handlers
from worldline.rules.slots import sentence
from worldline.store import registry, slots
from worldline.store.slots import Settled, put_fact
from worldline.text import fold
from worldline.write.gate import likely, redact, screened
from worldline.write.put import ToldBy, known_or_new, note


class Rule(Struct, frozen=True):
    """How a given fact is kept: under which slot and words, and how it meets the others there."""

    predicate: Predicate
    slot: str
    phrase: str
    one: bool = False
    shared: bool = False
    """Whether what is read falls into the same slot."""
    changes: bool = True
    """Whether it can change at all."""
    turned: bool = False
    """Whether its object is what the slot is about: "mother of"."""


OUTRANKED = "what is given ranks above what was read"


def believe(
    tx: Tx, fact: Fact, place: Place, handle: Handle, told: ToldBy = ToldBy(), speaker: str = ""
) -> tuple[int, bool]:
    """One fact given directly: (its key, or 0 where there was nothing to end; whether anything changed)."""
    fact = _addressed(clean_struct(fact, Fact), speaker, handle.scope.user)
    rule = _rule(tx, fact, place)
    if rule.turned and fact.object is not None:
        fact = replace(fact, subject=fact.object, object=fact.subject)
    if fact.ended and fact.valid_from is None:
        return _end(tx, fact, place, told, rule)
    if fact.ended and fact.valid_to is None:
        fact = replace(fact, valid_to=tx.stamp if told.said_at is None else told.said_at)
    return _assert(tx, fact, place, told, rule, handle.config)


def _addressed(fact: Fact, speaker: str, user: str | None) -> Fact:
    """The fact with the speaker's name for "I", and for "the user"."""
    me = who_speaks(speaker if is_own_voice(speaker) else "", user)
    subject = me if isinstance(fact.subject, str) and fold(fact.subject) in SELF else fact.subject
    object_ = me if isinstance(fact.object, str) and fold(fact.object) in SELF else fact.object
    return replace(fact, subject=subject, object=object_)


def _rule(tx: Tx, fact: Fact, place: Place) -> Rule:
    """How a relation is kept: as its operator has it, in its family's slot, or as it is written."""
    name = clean_name(fact.predicate, "predicate")
    predicate = registry.predicate(tx, name, place.world)
    said = fact.object if fact.object is not None else fact.literal
    family = None if registry.knows_predicate(tx, name, place.world) else family_of(name, str(said or ""))
    turned = family is not None and is_turned(name)
    if family is None or (turned and not fact.related):
        one = predicate.functional if fact.functional is None else fact.functional
        return Rule(predicate, name, name, one)
    mine = registry.predicate(tx, family.name, place.world)
    one = family.one if fact.functional is None else fact.functional
    phrase = family.reads if fact.related or (name == family.name and "_" in name) else name
    return Rule(mine, family.name, phrase, one, True, family.changes, turned)


def not_given(claims: Sequence[Claim], given: Sequence[Fact], speaker: str, user: str | None) -> list[Claim]:
    """The claims about matters of which the text's own giver has said nothing: theirs is the better reading."""
    known = set()
    for fact in given:
        fact = _addressed(fact, speaker, user)
        family = family_of(fact.predicate, str(fact.object or fact.literal or ""))
        if family is not None:
            about = fact.object if is_turned(fact.predicate) and fact.object is not None else fact.subject
            known.add((fold(about), family.name))
    return [c for c in claims if (fold(c.subject), c.family or c.key) not in known]


def _assert(tx: Tx, fact: Fact, place: Place, told: ToldBy, rule: Rule, config: Config) -> tuple[int, bool]:
    """Believes one fact that was given directly; (key of the Fact node, whether anything changed)."""
    subject = end_of(tx, fact.subject, place)
    object_, literal = object_of(tx, fact, place)
    if rule.shared:
        object_, literal = _as_held(tx, subject, rule.slot, object_, literal)
    valid, stated = when_of(tx, fact, told)
    status, reason = grounding(fact.confidence, rule.predicate, config)
    settled = Settled(
        subject, object_, literal, rule.slot, rule.phrase, rule.slot, one=rule.one, dated=stated,
        kind="entity" if object_ or not rule.shared else "text",
    )  # fmt: skip
    draft = FactDraft(
        put_fact(tx, settled, place, valid),
        rule.slot,
        rule.one,
        stated,
        fact.correction,
        status,
        fact.confidence,
        fact.precision,
        reason or fact.reason,
    )
    told_of = _Telling(tx, draft, subject, place)
    if rule.one and rule.shared and status == "believed":
        _outrank(tx, draft, subject, place, valid, rule)
    changed = tx.place_fact(EdgeDraft(subject, "fact", object_, valid, place.scope, fact=draft))
    changed = cite(tx, draft.key, evidence_of(fact, told, tx), place, valid) or changed or told_of.changed()
    tx.changes.append(told_of.words())
    return draft.key, changed


def _as_held(tx: Tx, subject: int, slot: str, object_: int, literal: str | None) -> tuple[int, str | None]:
    """The object in the form, a name or a value, in which the slot holds it already."""
    said = fold(tx.name_of(object_) if object_ else str(orjson.loads(literal or "null")))
    for held in slots.in_slot(tx, subject, slot):
        if fold(held.value) == said:
            return held.object, held.literal
    return object_, literal


def _outrank(tx: Tx, draft: FactDraft, subject: int, place: Place, valid: Interval, rule: Rule) -> None:
    """What was only read gives way where it cannot end before this begins, or could never have changed."""
    rows = tx.slot(subject, draft.predicate, place.scope, draft.key)
    others = [
        r for r in rows if r.node != draft.key and (not rule.changes or r.belief.valid.start == valid.start)
    ]
    for row in others:
        if row.belief.status == "believed" and slots.rank_of(tx, row.node) != "given":
            tx.close(Close(row.belief, reason=OUTRANKED), "correct")


class _Telling:
    """What placing a fact does to its slot, in plain words."""

    def __init__(self, tx: Tx, draft: FactDraft, subject: int, place: Place) -> None:
        self._tx, self._draft, self._subject, self._place = tx, draft, subject, place
        self._before = self._slot()

    def _slot(self) -> dict[int, FactRow]:
        rows = self._tx.slot(self._subject, self._draft.predicate, self._place.scope, self._draft.key)
        return {row.belief.row: row for row in rows}

    def changed(self) -> bool:
        """Whether the slot holds something else than before."""
        return self._slot().keys() != self._before.keys()

    def words(self) -> str:
        """The fact, and what became of the others."""
        now, said = self._slot(), self._said(self._draft.key)
        if now.keys() == self._before.keys():
            return f"{said}: given, and believed already"
        if self._draft.status == "quarantined":
            return f"{said}: given, but kept back ({self._draft.reason})"
        gone = [
            r.node for number, r in self._before.items() if number not in now and r.node != self._draft.key
        ]
        mine = [r.belief.valid for r in now.values() if r.node == self._draft.key]
        against = [
            r.node for r in now.values()
            if self._draft.functional and r.node != self._draft.key and any(r.belief.valid.overlaps(v) for v in mine)
        ]  # fmt: skip
        ends = [f"ends “{self._said(node)}”" for node in dict.fromkeys(gone)]
        told = [*ends, *(f"contradicts “{self._said(node)}”" for node in dict.fromkeys(against))]
        return f"{said}: given{'; ' if told else ''}{', '.join(told)}"

    def _said(self, node: int) -> str:
        return slots.words_of(self._tx, node)


def _end(tx: Tx, fact: Fact, place: Place, told: ToldBy, rule: Rule) -> tuple[int, bool]:
    """Ends what is believed of a fact that is over; (key of the last one ended or 0, whether anything changed)."""
    subject = end_of(tx, fact.subject, place)
    said = fact.object if fact.object is not None else fact.literal
    now = tx.stamp if told.said_at is None else told.said_at
    at = now if fact.valid_to is None else instant(whole_date(fact.valid_to))
    over = [
        fact.row
        for fact in slots.open_facts(tx, subject, place.scope)
        if fact.row.predicate == rule.slot
        and fact.row.belief.valid.start < at
        and (said is None or fold(str(said)) == fold(fact.value))
    ]
    for row in over:
        tx.close(Close(row.belief, valid_to=at, reason=fact.reason or "given as over"), "given")
        tx.changes.append(f"{slots.words_of(tx, row.node)}: over, as given")
        cite(tx, row.node, evidence_of(fact, told, tx), place, row.belief.valid)
    if not over:
        value = "" if said is None else said
        name = tx.name_of(subject)
        tx.changes.append(
            f"{sentence(name, rule.phrase, value)}: given as over, but nothing of it was believed"
        )
    return (over[-1].node if over else 0), bool(over)


# The parts of a given fact ----------------------------------------------------------------------------


_ID = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"[0-9a-f]{8,64}")


def cite(tx: Tx, fact: int, evidence: Sequence[tuple[int, Metadata]], place: Place, valid: Interval) -> bool:
    """Joins a fact with the words it came from; whether any of them is new."""
    since = Interval(valid.start)
    edges = [EdgeDraft(fact, "derived_from", event, since, place.scope, span) for event, span in evidence]
    return any(tx.link_all(edges))


def end_of(tx: Tx, name: str, place: Place) -> int:
    """The entity that a given fact speaks of: by its id, or by its name."""
    if not _ID.fullmatch(name):
        return known_or_new(tx, clean_name(name), place)[0]
    found = tx.named(name)
    if not found:
        raise NotFound(f"no memory {name[:12]}… here")
    return found[0][1]


def object_of(tx: Tx, fact: Fact, place: Place) -> tuple[int, str | None]:
    """The object of a given fact: an entity, or a literal as JSON."""
    if (fact.object is None) == (fact.literal is None):
        raise InvalidInput("a fact needs exactly one of object (a name or an id) and literal (a value)")
    if fact.object is not None:
        return end_of(tx, fact.object, place), None
    if not isinstance(fact.literal, str | int | bool):
        raise InvalidInput(f"a literal is text, a whole number or a truth value, not {fact.literal!r}; "
                           "write other numbers as text")  # fmt: skip
    if isinstance(fact.literal, str):
        clean_text(fact.literal, "literal", 65536)
    return 0, orjson.dumps(fact.literal).decode()


def when_of(tx: Tx, fact: Fact, told: ToldBy) -> tuple[Interval, bool]:
    """When a given fact holds, and whether its start was stated."""
    said_at = tx.stamp if told.said_at is None else told.said_at
    end = FOREVER if fact.valid_to is None else instant(whole_date(fact.valid_to))
    if fact.valid_from is None and end <= said_at:
        return Interval(end - 1, end), True  # nobody says since when; it held until then
    start = said_at if fact.valid_from is None else instant(whole_date(fact.valid_from))
    return interval(start, end), fact.valid_from is not None


def grounding(confidence: float, predicate: Predicate, config: Config) -> tuple[Status, str | None]:
    """Status and reason: below its predicate class's threshold a fact is quarantined."""
    if not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence lies between 0 and 1, not at {confidence}")
    threshold = config.thresholds.get(predicate.threshold_class, config.default_confidence)
    if confidence >= threshold:
        return "believed", None
    return "quarantined", f"confidence {confidence:g} is below {threshold:g}"


def evidence_of(fact: Fact, told: ToldBy, tx: Tx) -> Sequence[tuple[int, Metadata]]:
    """The words that a given fact cites, or those that it was given with."""
    given = [(_event(tx, e), _span(e)) for e in fact.evidence]
    return given or ([(told.event, {})] if told.event else [])


def _event(tx: Tx, evidence: Evidence) -> int:
    evidence = clean_struct(evidence, Evidence)
    found = tx.named(evidence.event) if _PREFIX.fullmatch(evidence.event) else []
    if len(found) != 1:
        raise NotFound(f"no event {evidence.event[:12]}… here to cite")
    return found[0][1]


def _span(evidence: Evidence) -> Metadata:
    pairs = (("start", evidence.start), ("end", evidence.end))
    return {name: value for name, value in pairs if value is not None}


_BATCH = 20_000
_TOGETHER = 256
"""Items that are looked through for hints of secrets at once."""
T = TypeVar("T")


class Note(Struct, frozen=True):
    """A note to load; `inside` is the place of the note that contains it."""

    type: str
    name: str
    content: str = ""
    valid_from: When | None = None
    valid_to: When | None = None
    dated: When | None = None
    metadata: Metadata | None = None
    inside: int | None = None


class Link(Struct, frozen=True):
    """An edge to load; an end is the place of a note in the same load."""

    src: int
    type: str
    dst: int
    valid_from: When | None = None
    valid_to: When | None = None
    metadata: Metadata | None = None


def load_all(handle: Handle, notes: Iterable[Note], links: Iterable[Link]) -> Receipt:
    """One changeset; in an empty store the indexes are made at the end."""
    store, secrets = handle.store, list[str]()
    with _without_collector(), store.bulk(), handle.changeset("load", fresh=True) as (tx, place):
        if tx.fresh:
            store.drop_indexes()
        if handle.config.redact:
            notes, links = _plain(notes, Note, secrets), _plain(links, Link, secrets)
        ids = load(tx, place, notes, links, handle.config, agent=handle.agent)
        tx.flush()
        if tx.fresh:
            store.make_indexes()
    made = tuple(id_.hex() for id_ in ids)
    return Receipt("load", None, not tx.ledger.empty, tx.stamp, redacted=tuple(secrets), ids=made)


def _plain(items: Iterable[T], kind: type[T], secrets: list[str]) -> Iterator[T]:
    """What is to be loaded, without secrets; what hundreds together give no hint of is looked for in none of them."""
    each = _all(items, kind)
    while some := list(islice(each, _TOGETHER)):
        held = [_texts(item) for item in some]
        shapes = likely([text for texts in held for text in texts or ()])
        for item, texts in zip(some, held, strict=True):
            if texts is None or (shapes and texts and any(redact(text, shapes)[1] for text in texts)):
                item, found = screened(item)
                secrets += found
            yield item


def _texts(item: Any) -> tuple[str, ...] | None:
    """The texts of an item that holds no others; None where every value of it has to be looked at."""
    texts = (item.name, item.content) if type(item) is Note else ()
    return None if item.metadata or any(type(text) is not str for text in texts) else texts


@contextmanager
def _without_collector() -> Iterator[None]:
    """A load makes millions of small values and no cycles; looking for cycles would cost a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Batch(Struct):
    """What every item of a load needs."""

    tx: Tx
    place: Place
    now: Interval
    limit: int
    allowed: frozenset[str]
    keys: list[int] = []

    def put(self, item: Note) -> int:
        if item.type not in self.allowed:
            handlers.require(item.type, sorted(self.allowed), "type of note")
        place = self.place
        if item.inside is not None:
            place = Place(self.at(item.inside), place.session, place.scope)
        dated = None if item.dated is None else instant(item.dated)
        draft = NodeDraft(item.type, item.name, item.content, self.valid(item), dated)
        return note(self.tx, draft, place, self.limit, item.metadata)[0]

    def link(self, item: Link) -> None:
        self.tx.link(
            EdgeDraft(
                self.at(item.src),
                item.type,
                self.at(item.dst),
                self.valid(item),
                self.place.scope,
                clean_metadata(item.metadata) if item.metadata else {},
            )
        )

    def valid(self, item: Note | Link) -> Interval:
        if item.valid_from is None and item.valid_to is None:
            return self.now
        return clean_interval(item.valid_from, item.valid_to, self.now.start)

    def at(self, place: int) -> int:
        if type(place) is int and 0 <= place < len(self.keys):
            return self.keys[place]
        raise InvalidInput(f"there is no note at place {place} of this load")


def _all(items: Iterable[T], kind: type[T]) -> Iterator[T]:
    if not isinstance(items, Iterable):
        raise InvalidInput(f"a load takes many {kind.__name__}(…), not {items!r}")
    for item in items:
        if type(item) is not kind:
            raise InvalidInput(f"a load takes {kind.__name__}(…), not {item!r}")
        yield item


def load(
    tx: Tx,
    place: Place,
    notes: Iterable[Note],
    links: Iterable[Link],
    config: Config,
    *,
    agent: bool,
) -> list[bytes]:
    """The ids of the notes, in order."""
    allowed = frozenset(registry.node_types(tx, place.world, agent=agent))
    batch = _Batch(tx, place, Interval(tx.stamp), config.max_text, allowed)
    for number, item in enumerate(_all(notes, Note)):
        batch.keys.append(batch.put(item))
        if number % _BATCH == 0:
            tx.flush()
    tx.flush()
    known: set[str] = set()
    for number, link in enumerate(_all(links, Link)):
        if link.type not in known:
            _require_loadable(tx, link.type, place, agent)
            known.add(link.type)
        batch.link(link)
        if number % _BATCH == 0:
            tx.flush()
    return [tx.id_of(key) for key in batch.keys]


def _require_loadable(tx: Tx, type_: str, place: Place, agent: bool) -> None:
    registry.edge_type(tx, type_, place.world, agent=agent)
    if type_ in ("fact", "supersedes", "same_as"):
        raise InvalidInput(f"{type_} edges are written one by one, with link()")
