"""Remembering, straight through: the words first, then what they say.

    redact → append (durable) → judge → extract → settle the facts → commit

The first changeset makes the verbatim text safe; the second one settles what the text claims and
the facts that came with it. A crash in between leaves the event pending, and `resume` goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from worldline.clock import Instant, Interval, When, moment
from worldline.errors import InvalidInput, NotFound, Refused, WorldlineError
from worldline.handle import Done, Handle, Place
from worldline.inputs import clean_metadata, clean_struct, clean_text
from worldline.model import Event, Fact, Metadata, NodeDraft, Receipt, Scope
from worldline.ports import Tx, View
from worldline.reading.read import MAX_TEXT, Reading
from worldline.store import events
from worldline.store.events import handed_out, stored_event, to_settle
from worldline.store.indexing import described_draft
from worldline.text import content_words
from worldline.write import model_extract, put
from worldline.write.echo import echoes
from worldline.write.gate import FLOOR, GateVectors, Signals, judge, undecided
from worldline.write.given import believe, not_given
from worldline.write.reconcile import ENCODER, read_events, reading_of, settle, sharing_words
from worldline.write.redact import screened
from worldline.write.resolve import recluster

T = TypeVar("T")
_NEAREST = 5
_GATED = 8000
_COMMON = 60
"""Above so many texts a word does not help to find the nearest ones."""
MINUTE = 60_000_000
ECHO = "it repeats what this memory has handed out"


class Pending(Struct, frozen=True):
    """What is still to be settled for an event, and the binding of the handle that was given it."""

    scopes: tuple[Scope, ...]
    world: int
    facts: tuple[Fact, ...] = ()
    extract: bool = False
    model: bool = False
    """Whether a model is still to read it."""


_DRAFT = list[Pending]


def remember(handle: Handle, event: Event, given: Sequence[Fact] = (), *, dry_run: bool = False) -> Receipt:
    """Stores an event verbatim, then believes what it claims and the facts given with it."""
    event, given = _checked(event, handle), [clean_struct(fact, Fact) for fact in given]
    (event, given), secrets = _redacted((event, tuple(given)), handle)
    if (dropped := _too_dull(handle, event)) is not None and not given:
        return replace(dropped, redacted=secrets)
    left = _left(handle, given)
    (made,) = _made(handle, [event], left)
    words = HeardWords()
    stored = handle.write(
        "remember", lambda tx, place: words.kept(tx, event, made, _append(tx, event, place, handle, left, made)),
        dry_run=dry_run,
    )  # fmt: skip
    stored = replace(stored, redacted=secrets)
    if left is None or dry_run or stored.id is None:
        return stored
    if stored.changed or given:
        return understand(handle, stored, left, words)
    return _finished(handle, stored, [stored.id])


def _finished(handle: Handle, stored: Receipt, ids: Sequence[str]) -> Receipt:
    """What was stored before and never understood, because its process ended in between, is understood now."""
    for each in (one for one in _waiting(handle, ids) if not _is_for_model(one[2])):
        done = _resume(*each)
        stored = replace(
            model_extract.joined(stored, done), id=stored.id, redacted=stored.redacted, ids=stored.ids
        )
    return stored


class HeardWords(Struct):
    """What the first changeset has stored, so that the gate need not look it up."""

    said: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Text, speaker and row by id."""
    readings: dict[str, Reading] = field(default_factory=dict)
    """Those of events that speak of a change."""
    near: dict[str, list[int]] = field(default_factory=dict)
    """What shares words with an event that speaks of a change, by its id."""

    def kept(self, tx: Tx, event: Event, made: MadeReady, done: Done) -> Done:
        """Notes an event that was stored just now."""
        found = tx.find(done[0]) if done[0] is not None else None
        if done[0] is not None and found is not None:
            self.said[done[0].hex()] = (event.text, tx.name_of(found[0]), found[0])
            if made.said is not None and made.said.cues.change:
                self.readings[done[0].hex()] = made.said
        return done


def _checked(event: Event, handle: Handle) -> Event:
    """An event whose every part can be stored."""
    clean_text(event.text, "text", handle.config.max_text)
    return clean_struct(event, Event)


def _left(handle: Handle, given: Sequence[Fact]) -> Pending | None:
    """What is to be settled once the words are safe; None for nothing."""
    extract, model = handle.config.understand != "off", handle.config.understand == "model"
    if not (given or extract):
        return None
    if model:
        model_extract.required(handle)
    left = Pending(handle.scopes, handle.world, tuple(given), extract, model)
    _encoded(left)
    return left


class MadeReady(Struct, frozen=True):
    """What is worked out from an event before any lock is taken, as it is stored."""

    reading: bytes | None = None
    described: bytes | None = None
    dated: bool = False
    """Whether the description speaks of days, which depend on the moment."""
    said: Reading | None = None
    said_at: Instant = 0
    """The moment that all of it was worked out for."""


def _made(handle: Handle, said: Sequence[Event], left: Pending | None) -> list[MadeReady]:
    """What events say, and how recall will see them."""
    moments = [handle.clock() if event.said_at is None else moment(event.said_at)[0] for event in said]
    seen = [_seen(event, said_at) for event, said_at in zip(said, moments, strict=True)]
    if left is None or not left.extract:
        return [MadeReady(None, *each, None, at) for each, at in zip(seen, moments, strict=True)]
    readings = read_events(said, handle.scope.user, moments)
    return [
        MadeReady(ENCODER.encode(reading), *each, reading, at)
        for reading, each, at in zip(readings, seen, moments, strict=True)
    ]


def _seen(event: Event, said_at: Instant) -> tuple[bytes, bool]:
    """An event as recall will see it, and whether that speaks of days."""
    draft = NodeDraft("Turn", event.speaker, event.text, valid=Interval(said_at))
    draft.metadata = clean_metadata(event.metadata)
    described = described_draft(draft)
    return msgspec.msgpack.encode(described), bool(described.dates)


def remember_all(handle: Handle, said: Sequence[Event], *, dry_run: bool = False) -> Receipt:
    """A whole conversation: one changeset for the words, one for what they say."""
    cleaned = [_redacted(_checked(event, handle), handle) for event in said]
    left = _left(handle, ())
    made = _made(handle, [event for event, _ in cleaned], left)
    ids: list[str] = []
    fresh: list[str] = []
    words = HeardWords()

    def work(tx: Tx, place: Place) -> Done:
        last = None
        ids.clear()
        fresh.clear()
        for number, (event, _) in enumerate(cleaned):
            undated = tx.stamp - (len(cleaned) - 1 - number)
            done = _append(tx, event, place, handle, left, made[number], undated)
            last, new = words.kept(tx, event, made[number], done)
            ids.append(last.hex() if last else "")
            fresh.extend(ids[-1:] if new else [])
        return last, bool(fresh)

    stored = handle.write("remember", work, dry_run=dry_run)
    stored = replace(stored, ids=tuple(ids), redacted=tuple(name for _, found in cleaned for name in found))
    if left is None or dry_run:
        return stored
    known = [id_ for id_ in ids if id_ and id_ not in fresh]
    stored = _finished(handle, stored, known) if known else stored
    if not fresh:
        return stored
    return replace(_understand_all(handle, stored, fresh, left, words), ids=tuple(ids))


def _redacted(given: T, handle: Handle) -> tuple[T, tuple[str, ...]]:
    return screened(given) if handle.config.redact else (given, ())


def _too_dull(handle: Handle, event: Event) -> Receipt | None:
    """With the strict gate, what is not worth encoding is not even stored; the receipt says so."""
    if handle.config.gate != "strict" or not isinstance(event.text, str):
        return None
    heard = handle.read(lambda view: _heard(view, event.text, event.speaker))
    signals = _judge(handle, heard)
    if signals.admitted:
        return None
    return Receipt("remember", None, False, handle.now(), (f"not stored: {signals.reason}",))


def _append(
    tx: Tx, event: Event, place: Place, handle: Handle, left: Pending | None, made: MadeReady = MadeReady(),
    undated: int | None = None,
) -> Done:  # fmt: skip
    draft = None if left is None else _drafted([left])
    close = not made.dated and _is_close(undated or tx.stamp, made.said_at)
    described = made.described if event.said_at is not None or close else None
    key, new = put.append_event(
        tx, event, place, handle.config.max_text, undated, draft, made.reading, described
    )
    if left is not None and not tx.is_new(key) and (new or left.facts):
        events.leave(tx, key, _drafted([*_others(events.draft_of(tx, key), left), left]))
    return tx.id_of(key), new


def _is_close(one: Instant, other: Instant) -> bool:
    """Whether two moments are the same as far as words that speak of time can tell."""
    return one // MINUTE == other // MINUTE


# Understanding ------------------------------------------------------------------------------------


def understand(handle: Handle, stored: Receipt, left: Pending, words: HeardWords = HeardWords()) -> Receipt:
    """The second changeset: claims and facts through their handlers, and the event is settled."""
    return _understand_all(handle, stored, [stored.id or ""], left, words)


def _understand_all(
    handle: Handle, stored: Receipt, ids: Sequence[str], left: Pending, words: HeardWords = HeardWords()
) -> Receipt:
    done_by: Tx | None = None
    verdicts = _verdicts(handle, ids, words) if left.extract and handle.config.gate != "off" else {}

    def work(tx: Tx, place: Place) -> Done:
        nonlocal done_by
        done_by = tx
        changed = [
            _understand_one(tx, id_, place, handle, left, verdicts.get(id_), words.near.get(id_))
            for id_ in ids
        ]
        return bytes.fromhex(stored.id or ""), any(changed)

    try:
        receipt = handle.write("remember", work)
    except (InvalidInput, Refused, NotFound):
        handle.write("remember", lambda tx, place: _reject(tx, ids, left))
        raise
    done = model_extract.joined(stored, receipt)
    done = model_extract.joined(done, recluster(handle, done_by))
    if left.model:
        done = model_extract.joined(done, model_extract.read_events(handle, ids, _for_model(left)))
    return replace(done, id=stored.id, redacted=stored.redacted, ids=stored.ids)


def _for_model(left: Pending) -> str:
    """What is left of an event once the rules have read it, as it is stored."""
    return _drafted([replace(left, facts=(), extract=False)]) or ""


def _verdicts(handle: Handle, ids: Sequence[str], words: HeardWords) -> dict[str, Signals]:
    """What the gate says of each event, worked out before any lock is taken."""

    def look(view: View) -> dict[str, Heard]:
        handed = handed_out(view)
        said = {id_: words.said.get(id_) or _as_stored(view, id_) for id_ in ids}
        words.near.update((id_, sharing_words(view, reading)) for id_, reading in words.readings.items())
        return {id_: _heard(view, *each, handed) for id_, each in said.items()}

    return {id_: _judge(handle, heard) for id_, heard in handle.read(look).items()}


def _as_stored(view: View, id_: str) -> tuple[str, str, int]:
    event = stored_event(view, id_)
    return event.text, event.speaker, event.key


def _understand_one(
    tx: Tx,
    id_: str,
    place: Place,
    handle: Handle,
    left: Pending,
    signals: Signals | None,
    near: list[int] | None,
) -> bool:
    event = to_settle(tx, id_)
    told = put.ToldBy(event.key, event.said_at)
    changed = [believe(tx, fact, place, handle, told, event.speaker)[1] for fact in left.facts]
    said = reading_of(event, handle.scope.user)
    if left.extract and (signals is None or _is_worth_reading(signals, said)):
        claims = not_given(said.claims, left.facts, event.speaker, handle.scope.user)
        changed.append(settle(tx, claims, event, place, handle, said=said, near=near))
    if signals is not None and signals.reason == ECHO:
        tx.changes.append(f"not read: {ECHO}")
    if left.extract and len(event.text) > MAX_TEXT:
        tx.changes.append(
            f"read in part, its first {MAX_TEXT:,} of {len(event.text):,} characters; all are kept"
        )
    kept = None if signals is None else msgspec.json.encode(signals).decode()
    rest = _others(event.draft, left)
    if left.model and left.extract and (signals is None or signals.admitted):
        rest.append(replace(left, facts=(), extract=False))
    events.leave(tx, event.key, _drafted(rest), "stored", kept)
    return any(changed)


def _is_worth_reading(signals: Signals, said: Reading) -> bool:
    """Rules cost next to nothing, so they read all but noise and echoes; "Sorry, 21 kilos." takes something back."""
    return (signals.salience >= FLOOR or bool(said.values)) and signals.reason != ECHO


class Heard(Struct, frozen=True):
    """A message, what is stored nearest to it, and what was handed out lately."""

    text: str
    speaker: str
    nearest: Sequence[str]
    handed: Sequence[tuple[str, str]]


def _heard(
    view: View, text: str, speaker: str, own: int = 0, handed: Sequence[tuple[str, str]] | None = None
) -> Heard:
    handed = handed_out(view) if handed is None else handed
    return Heard(text, speaker, _nearest(view, text, own), handed)


def _judge(handle: Handle, heard: Heard) -> Signals:
    """The gate's verdict on a text, against what is stored nearest to it; an echo is never admitted."""
    text, nearest = heard.text[:_GATED], heard.nearest
    signals = judge(text, nearest, _expected(handle, text, nearest))
    if echoes(heard.text, heard.speaker, heard.handed):
        return replace(signals, admitted=False, reason=ECHO)
    return signals


def _expected(handle: Handle, text: str, nearest: Sequence[str]) -> GateVectors | None:
    """How far the nearest text let this one be expected: two vectors, where they can decide something."""
    embedder = handle.embedder() if nearest and undecided(text, nearest) else None
    if embedder is None:
        return None
    try:
        joint, doubled, own, known = embedder.embed(
            [f"{text} [SEP] {nearest[0]}", f"{nearest[0]} [SEP] {nearest[0]}", text, nearest[0]]
        )
    except WorldlineError:  # the verdict does without; the words are safe already
        return None
    return GateVectors(list(map(float, joint)), list(map(float, doubled)), float(own @ known))


def _nearest(view: View, text: str, own: int = 0) -> list[str]:
    found = [key for key, _ in view.matching(_rarest(view, text, bool(own)), 4 * _NEAREST, facts=False)]
    contents = view.contents(found) if found else {}
    return [contents[key] for key in found if key in contents and key != own][:_NEAREST]


def _rarest(view: View, text: str, stored: bool) -> list[str]:
    """Up to two words that few other texts hold; one at least, if any is known at all."""
    counted = view.frequencies(set(content_words(text[:_GATED])[:40]), _COMMON)
    frequency = {term: count - stored for term, count in counted.items() if count > stored}
    rare = sorted(frequency, key=lambda term: (frequency[term], term))[:2]
    room, chosen = _COMMON, list[str]()
    for term in rare:
        room -= frequency[term]
        if room >= 0 or not chosen:
            chosen.append(term)
    return chosen


# What a crash leaves -------------------------------------------------------------------------------


def resume(handle: Handle, *, by_rules: bool = False) -> tuple[Receipt, ...]:
    """Continues every event that was not settled when its process ended; by rules, without asking a model."""
    waiting = _waiting(handle)
    for_model = [] if by_rules else [each for each in waiting if _is_for_model(each[2])]
    others = [each for each in waiting if not _is_for_model(each[2])]
    return tuple(_resume(*each) for each in [*others, *for_model[: handle.config.model_events]])


def _waiting(handle: Handle, ids: Sequence[str] | None = None) -> list[tuple[Handle, str, Pending]]:
    """Whatever is left of events (or of these), each with the handle that it was given to."""
    mine = handle.scope.bound().items()
    return [
        (replace(handle, scopes=left.scopes, world=left.world), id_, left)
        for id_, draft in handle.read(events.waiting)
        if ids is None or id_ in ids
        for left in msgspec.json.decode(draft, type=_DRAFT)
        if mine <= (left.scopes[0] if left.scopes else Scope()).bound().items()
    ]


def _is_for_model(left: Pending) -> bool:
    return left.model and not left.extract and not left.facts


def _resume(handle: Handle, event: str, left: Pending) -> Receipt:
    """As the caller bound it then; facts that can never be stored are told, and block nobody else."""
    stored = Receipt("remember", event, False, 0)
    if _is_for_model(left):
        read = model_extract.read_events(handle, [event], _drafted([left]) or "")
        return replace(stored, known_at=handle.now()) if read is None else replace(read, id=event)
    try:
        return understand(handle, stored, left)
    except (InvalidInput, Refused, NotFound) as error:
        return replace(stored, known_at=handle.now(), changes=(f"rejected: {error}",))


def _others(draft: str | None, one: Pending) -> list[Pending]:
    """What else is still to be settled for an event; compared as it is stored (a date is text there)."""
    left = msgspec.json.decode(draft, type=_DRAFT) if draft else []
    return [item for item in left if _encoded(item) != _encoded(one)]


def _encoded(left: Pending) -> bytes:
    try:
        return msgspec.json.encode(left)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"these facts cannot be kept as they are: {error}") from None


def _drafted(left: list[Pending]) -> str | None:
    return msgspec.json.encode(left).decode() if left else None


def _reject(tx: Tx, ids: Sequence[str], left: Pending) -> Done:
    """Facts that can never be stored are not tried again; the words stay."""
    for id_ in ids:
        event = stored_event(tx, id_)
        events.leave(tx, event.key, _drafted(_others(event.draft, left)), "rejected")
    return None, False


def events_of(
    messages: Sequence[Mapping[str, Any]],
    said_at: When | None = None,
    session: str | None = None,
    metadata: Metadata | None = None,
) -> list[Event]:
    """Chat messages (role and content; name, said_at, id and metadata if they have them) as events."""
    if not isinstance(messages, Sequence) or not all(isinstance(m, Mapping) for m in messages):
        raise InvalidInput("messages are a list of dicts with role and content")
    return [
        Event(
            message.get("content") or "",
            message.get("name") or message.get("role") or "",
            message.get("said_at", said_at),
            session=session,
            metadata={**(metadata or {}), **(message.get("metadata") or {})},
            external_id=message.get("id"),
        )
        for message in messages
    ]
