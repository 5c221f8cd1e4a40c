"""Remembering, straight through: the words, and what they say.

    redact → read → judge → one changeset: append the words, settle the facts

The verbatim text, what it claims and the facts that came with it are committed together. Where the claims cannot
be settled, or a model is to be asked, the words are committed by themselves; the event stays pending, and `resume`
goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import Instant, Interval, When, moment
from worldline.errors import InvalidInput, NotFound, Refused, StoreError, WorldlineError
from worldline.handle import Done, Handle
from worldline.model import (
    Event,
    Fact,
    Findable,
    Metadata,
    NodeDraft,
    Place,
    Receipt,
    Scope,
    clean_event,
    clean_metadata,
    clean_struct,
)
from worldline.ports import View
from worldline.reading.claim import Claim, SpeakerVoice, voices, who_speaks
from worldline.reading.read import MAX_TEXT, Reading
from worldline.rules.describe import findable
from worldline.store import events
from worldline.store.events import Appended, AtHand, Stored, append, stored_event, to_settle
from worldline.store.search import GATED, Heard, heard_before
from worldline.store.slots import OpenFact, open_facts_of_each
from worldline.store.tx import Tx
from worldline.text import text_of
from worldline.write import afterwards, given
from worldline.write.gate import ECHO, FLOOR, GateVectors, Signals, echoes, judge, screened, undecided
from worldline.write.given import believe, not_given, recluster
from worldline.write.reconcile import (
    ENCODER,
    NEAR,
    Claimed,
    Foreseen,
    close_reading,
    foresee,
    held_so,
    just_told,
    look_up,
    near_facts,
    read_events,
    reading_of,
    settle,
    sound,
)

T = TypeVar("T")
AHEAD = 40
"""So many events are looked ahead at, so that what settling them needs is looked up together."""
MINUTE = 60_000_000


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
    """Stores an event verbatim, and believes what it claims and the facts given with it."""
    event = clean_event(event, handle.config.max_text)
    given = [clean_struct(fact, Fact) for fact in given]
    (event, given), secrets = _redacted((event, tuple(given)), handle)
    if (dropped := _too_dull(handle, event)) is not None and not given:
        return replace(dropped, redacted=secrets)
    told = Intake(handle, [event], _left(handle, given)).told(dry_run=dry_run)
    return replace(told, redacted=secrets)


def remember_all(handle: Handle, said: Sequence[Event], *, dry_run: bool = False) -> Receipt:
    """A whole conversation in one changeset."""
    return _remember_clean(handle, [clean_event(event, handle.config.max_text) for event in said], dry_run)


def _remember_clean(handle: Handle, said: Sequence[Event], dry_run: bool) -> Receipt:
    cleaned = [_redacted(event, handle) for event in said]
    intake = Intake(handle, [event for event, _ in cleaned], _left(handle, ()))
    told = intake.told(dry_run=dry_run)
    return replace(
        told, ids=tuple(intake.ids), redacted=tuple(name for _, found in cleaned for name in found)
    )


class Intake:
    """Events on their way into the store, all in one changeset with what the rules read in them.

    Where that cannot be settled, the words are stored by themselves and wait. They also come first where a
    model is to be asked what they say.
    """

    def __init__(self, handle: Handle, said: Sequence[Event], left: Pending | None) -> None:
        self.handle, self.said, self.left = handle, said, left
        self.made = _made(handle, said, left)
        self.together = left is not None and not left.model
        """Whether words and what they say go into one changeset."""
        self.verdicts: list[Signals] = []
        self.over: list[Foreseen] = []
        """What each event ends."""
        self.ids: list[str] = []
        self.fresh: list[str] = []
        self.open: list[str] = []
        """Those that a changeset of their own has to settle."""
        self.by: Tx | None = None

    def told(self, *, dry_run: bool) -> Receipt:
        """Everything said is stored and understood."""
        handle, left = self.handle, self.left
        if left is None or dry_run:
            return self.kept(dry_run=dry_run)
        stored = self._at_once(left) if self.together else self.kept()
        id_ = stored.id
        if known := [id_ for id_ in self.ids if id_ not in self.fresh and id_ not in self.open]:
            stored = _finished(handle, stored, known)
        if self.together:
            stored = afterwards.joined(stored, recluster(handle, self.by))
        if self.open:
            stored = _understand_all(handle, replace(stored, id=id_), self.open, left)
        return replace(stored, id=id_)

    def kept(self, *, dry_run: bool = False) -> Receipt:
        """The words alone; what they say waits."""
        self.together = False
        return self.handle.write("remember", self.work, dry_run=dry_run)

    def _at_once(self, left: Pending) -> Receipt:
        """One changeset; the words alone, where what they say cannot be settled."""
        if left.extract and self.handle.config.gate != "off":
            self._look_ahead()
        try:
            return self.handle.write("remember", self.work)
        except StoreError:
            raise
        except BaseException as error:  # an interrupt too: what was said is not lost
            self.kept()  # fails as well where the words cannot be stored
            if isinstance(error, InvalidInput | Refused | NotFound):
                self.handle.write("remember", lambda tx, place: _reject(tx, self.open, left))
            raise

    def _look_ahead(self) -> None:
        """What the gate says of each event, and what it ends of the facts near it."""
        handle, said = self.handle, [made.said or Reading("") for made in self.made]
        beside = close_reading(handle)
        stored = [
            Stored(0, event.text, event.speaker, event.recipient or "", made.said_at, 0)
            for event, made in zip(self.said, self.made, strict=True)
        ]

        def look(view: View) -> tuple[list[Heard], list[list[OpenFact]]]:
            heard = heard_before(view, [(event.text, event.speaker, 0) for event in self.said])
            each_near = [
                near_facts(view, *each, closely=beside is not None) for each in zip(said, stored, strict=True)
            ]
            return heard, open_facts_of_each(view, each_near) if any(each_near) else [[] for _ in said]

        heard, near = handle.read(look)
        self.verdicts = [_judge(handle, each) for each in heard]
        who = [made.voice.who for made in self.made]
        told = [
            just_told(n, *each) for n, each in enumerate(zip(stored, (r.claims for r in said), strict=True))
        ]
        held = [
            [*(one for each in reversed(told[:n]) for one in each)][:NEAR] + held_so(near[n])
            for n in range(len(said))
        ]
        others = [each.near for each in heard]
        self.over = [foresee(beside, *each) for each in zip(said, stored, who, held, others, strict=True)]

    def work(self, tx: Tx, place: Place) -> Done:
        """The changeset: all the words, then what they say."""
        self.by, self.ids, self.fresh, self.open = tx, [], [], []
        settled: list[ToSettle] = []
        rows: dict[int, int] = {}
        last = b""
        for number, (event, made) in enumerate(zip(self.said, self.made, strict=True)):
            signals = self.verdicts[number] if self.together and self.verdicts else None
            left = self.left if not self.together else None
            undated = tx.stamp - (len(self.said) - 1 - number)
            stored = append(tx, event, place, _at_hand(event, made, undated, left, signals))
            last, rows[number] = stored.id, stored.event.key
            self.ids.append(last.hex())
            if stored.changed:
                self.fresh.append(last.hex())
            elif event.metadata:
                _tell_of_metadata(tx, stored, event.metadata, place)
            if stored.changed and self.together and stored.born:
                over = self.over[number]._replace(rows=rows) if self.over else None
                settled.append(
                    ToSettle(stored.event, made.voice.who, made.said or Reading(""), signals, over)
                )
            elif self.left is not None and (stored.changed or self.left.facts):
                self._leave_open(tx, stored)
        if self.left is not None:
            _settle_all(tx, settled, place, self.handle, self.left)
        return last or None, bool(self.fresh)

    def _leave_open(self, tx: Tx, stored: Appended) -> None:
        """To be settled in a changeset of its own; one that was stored before may wait for something else too."""
        assert self.left is not None
        self.open.append(stored.id.hex())
        if not stored.born:
            others = _others(events.kept_of(tx, stored.event.key, "draft"), self.left)
            events.leave(tx, stored.event.key, _drafted([*others, self.left]))


def _tell_of_metadata(tx: Tx, stored: Appended, given: Metadata, place: Place) -> None:
    """What was said before keeps the metadata that came with it; other metadata is not dropped without a word."""
    key, line = tx.find(stored.id) or (stored.event.key, stored.event.key)
    kept = [node.metadata for belief, node in tx.history(line)
            if node.key == key and belief.scope == place.scope]  # fmt: skip
    if given not in kept:
        tx.changes.append("it was stored before with other metadata, which stays; that given now is not kept")


def _finished(handle: Handle, stored: Receipt, ids: Sequence[str]) -> Receipt:
    """What was stored before and never understood, because its process ended in between, is understood now."""
    for each in (one for one in _waiting(handle, ids) if not _is_for_model(one[2])):
        done = _resume(*each)
        stored = replace(
            afterwards.joined(stored, done), id=stored.id, redacted=stored.redacted, ids=stored.ids
        )
    return stored


def _left(handle: Handle, given: Sequence[Fact]) -> Pending | None:
    """What is to be settled once the words are safe; None for nothing."""
    extract, model = handle.config.understand != "off", handle.config.understand == "model"
    if not (given or extract):
        return None
    if model:
        afterwards.required_model(handle)
    left = Pending(handle.scopes, handle.world, tuple(given), extract, model)
    _encoded(left)
    return left


class MadeReady(Struct, frozen=True):
    """What is worked out from an event before any lock is taken, as it is stored."""

    voice: SpeakerVoice
    findable: Findable
    said_at: Instant
    """The moment that all of it was worked out for."""
    said: Reading | None = None
    reading: bytes | None = None


def _made(handle: Handle, said: Sequence[Event], left: Pending | None) -> list[MadeReady]:
    """What events say, and how recall will see them."""
    moments = [handle.clock() if event.said_at is None else moment(event.said_at)[0] for event in said]
    heard = voices([(event.speaker, event.recipient or "") for event in said], handle.scope.user)
    found = [
        findable(NodeDraft("Turn", event.speaker, event.text, Interval(at), metadata=event.metadata),
                 voice.role, handle.config.language)
        for event, voice, at in zip(said, heard, moments, strict=True)
    ]  # fmt: skip
    ready = [MadeReady(*each) for each in zip(heard, found, moments, strict=True)]
    if left is None or not left.extract:
        return ready
    readings = read_events(said, heard, moments)
    return [
        replace(made, said=reading, reading=ENCODER.encode(reading))
        for made, reading in zip(ready, readings, strict=True)
    ]


def _redacted(given: T, handle: Handle) -> tuple[T, tuple[str, ...]]:
    return screened(given) if handle.config.redact else (given, ())


def _too_dull(handle: Handle, event: Event) -> Receipt | None:
    """With the strict gate, what is not worth encoding is not even stored; the receipt says so."""
    if handle.config.gate != "strict" or not isinstance(event.text, str):
        return None
    (heard,) = handle.read(partial(heard_before, said=[(event.text, event.speaker, 0)]))
    signals = _judge(handle, heard)
    if signals.admitted:
        return None
    return Receipt("remember", None, False, handle.now(), (f"not stored: {signals.reason}",))


def _at_hand(
    event: Event, made: MadeReady, undated: Instant, left: Pending | None, signals: Signals | None
) -> AtHand:
    """The same for the store: what speaks of days was not worked out for the moment that it is said at."""
    found = made.findable
    if event.said_at is None and (found.dated or not _is_close(undated, made.said_at)):
        found = replace(found, described=None)
    return AtHand(
        undated,
        None if left is None else _drafted([left]),
        None if signals is None else msgspec.json.encode(signals).decode(),
        made.reading,
        found,
    )


def _is_close(one: Instant, other: Instant) -> bool:
    """Whether two moments are the same as far as words that speak of time can tell."""
    return one // MINUTE == other // MINUTE


# Understanding ------------------------------------------------------------------------------------


class ToSettle(Struct, frozen=True):
    """A stored event, what it says, and what was found out about it before the changeset."""

    event: Stored
    who: str
    """Whom "I" means in it."""
    said: Reading
    signals: Signals | None
    over: Foreseen | None = None
    """What it ends."""


def understand(handle: Handle, stored: Receipt, left: Pending) -> Receipt:
    """A changeset for what a stored event says: claims and facts through their handlers."""
    return _understand_all(handle, stored, [stored.id or ""], left)


def _understand_all(handle: Handle, stored: Receipt, ids: Sequence[str], left: Pending) -> Receipt:
    done_by: Tx | None = None
    verdicts = _verdicts(handle, ids) if left.extract and handle.config.gate != "off" else {}

    def work(tx: Tx, place: Place) -> Done:
        nonlocal done_by
        done_by = tx
        changed = False
        for id_ in ids:
            event, signals = to_settle(tx, id_), verdicts.get(id_)
            user = handle.scope.user
            said = ToSettle(event, who_speaks(event.speaker, user), reading_of(event, user), signals)
            changed |= _settle_all(tx, [said], place, handle, left)
            rest = _others(event.draft, left)
            if left.model and left.extract and (signals is None or signals.admitted):
                rest.append(replace(left, facts=(), extract=False))
            kept = None if signals is None else msgspec.json.encode(signals).decode()
            events.leave(tx, event.key, _drafted(rest), "stored", kept)
        return bytes.fromhex(stored.id or ""), changed

    try:
        receipt = handle.write("remember", work)
    except (InvalidInput, Refused, NotFound):
        handle.write("remember", lambda tx, place: _reject(tx, ids, left))
        raise
    done = afterwards.joined(stored, receipt)
    done = afterwards.joined(done, recluster(handle, done_by))
    if left.model:
        done = afterwards.joined(done, afterwards.let_model_read(handle, ids, _for_model(left)))
    return replace(done, id=stored.id, redacted=stored.redacted, ids=stored.ids)


def _for_model(left: Pending) -> str:
    """What is left of an event once the rules have read it, as it is stored."""
    return _drafted([replace(left, facts=(), extract=False)]) or ""


def _verdicts(handle: Handle, ids: Sequence[str]) -> dict[str, Signals]:
    """What the gate says of each stored event, worked out before any lock is taken."""

    def look(view: View) -> list[Heard]:
        stored = [stored_event(view, id_) for id_ in ids]
        return heard_before(view, [(event.text, event.speaker, event.key) for event in stored])

    return {id_: _judge(handle, heard) for id_, heard in zip(ids, handle.read(look), strict=True)}


def _settle_all(tx: Tx, said: Sequence[ToSettle], place: Place, handle: Handle, left: Pending) -> bool:
    """Believes the facts given with events and what they claim, one event after the other."""
    changed = []
    claims = [_claims(each, handle, left) for each in said]
    if any(each.over and each.over.ended for each in said):
        tx.note()  # the words themselves come first
    for number, each in enumerate(said):
        event = each.event
        told = given.ToldBy(event.key, event.said_at)
        changed += [believe(tx, fact, place, handle, told, event.speaker)[1] for fact in left.facts]
        if (own := claims[number]) is not None:
            if tx.gathering is None:
                ahead = zip(said[number:][:AHEAD], claims[number:], strict=False)
                look_up(tx, [Claimed(e.event.key, e.event.speaker, found or ()) for e, found in ahead], place)
            changed.append(
                settle(tx, own, event, place, handle, who=each.who, said=each.said, over=each.over)
            )
        if each.signals is not None and each.signals.reason == ECHO:
            tx.changes.append(f"not read: {ECHO}")
        if left.extract and len(event.text) > MAX_TEXT:
            tx.changes.append(
                f"read in part, its first {MAX_TEXT:,} of {len(event.text):,} characters; all are kept"
            )
    return any(changed)


def _claims(each: ToSettle, handle: Handle, left: Pending) -> Sequence[Claim] | None:
    """What an event claims beside the facts that were given with it; None where it is not to be read."""
    if not left.extract or not (each.signals is None or _is_worth_reading(each.signals, each.said)):
        return None
    if not left.facts:
        return sound(each.said.claims)
    return sound(not_given(each.said.claims, left.facts, each.event.speaker, handle.scope.user))


def _is_worth_reading(signals: Signals, said: Reading) -> bool:
    """Rules cost next to nothing, so they read all but noise and echoes; "Sorry, 21 kilos." takes something back."""
    return (signals.salience >= FLOOR or bool(said.values)) and signals.reason != ECHO


def _judge(handle: Handle, heard: Heard) -> Signals:
    """The gate's verdict on a text, against what is stored nearest to it; an echo is never admitted."""
    text, nearest = heard.text[:GATED], [each.text for each in heard.near]
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
        read = afterwards.let_model_read(handle, [event], _drafted([left]) or "")
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


# Conversations -------------------------------------------------------------------------------------

_WORDLESS = ("assistant", "tool", "function")
"""Roles whose messages often have nothing but calls and results in them."""


def remember_messages(
    handle: Handle,
    messages: Sequence[Mapping[str, Any]],
    said_at: When | None = None,
    session: str | None = None,
    metadata: Metadata | None = None,
    *,
    dry_run: bool = False,
) -> Receipt:
    """Chat messages (role and content; name, said_at, id and metadata if they have them), in one changeset.

    One without words, such as a call of tools, is left out, and the receipt says so.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InvalidInput("messages are a list of dicts with role and content")
    numbered = list(enumerate(messages, 1))
    for n, message in numbered:
        if not isinstance(message, Mapping):
            raise InvalidInput(f"message {n} is a dict with role and content, not {message!r}")
    spoken = [(n, message) for n, message in numbered if not _is_wordless(message)]
    events = [_of_message(n, m, said_at, session, metadata, handle.config.max_text) for n, m in spoken]
    silent = ", ".join(map(str, sorted({n for n, _ in numbered} - {n for n, _ in spoken})))
    done = _remember_clean(handle, events, dry_run)
    told = (f"left out, having no words (tool calls, pictures): message {silent}",) if silent else ()
    return replace(done, changes=(*done.changes, *told))


def _is_wordless(message: Mapping[str, Any]) -> bool:
    """Whether a message has only calls of tools, pictures and the like to it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = all(isinstance(part, Mapping) and "type" in part for part in content)
        return bool(content) and parts and not text_of(content)
    calls = message.get("tool_calls") or message.get("function_call") or message.get("role") in _WORDLESS
    return bool(calls) and (content is None or (isinstance(content, str) and not content.strip()))


def _of_message(
    number: int,
    message: Mapping[str, Any],
    said_at: When | None,
    session: str | None,
    metadata: Metadata | None,
    limit: int,
) -> Event:
    """A message as an event whose every part can be stored; an error says which message it is about."""
    content, own = message.get("content"), message.get("metadata")
    try:
        event = Event(
            text_of(content) if isinstance(content, list) else content or "",
            message.get("name") or message.get("role") or "",
            message.get("said_at", said_at),
            session=session,
            metadata={**clean_metadata(metadata), **clean_metadata(own)},
            external_id=message.get("id"),
        )
        if event.said_at is not None:
            moment(event.said_at)
        return clean_event(event, limit)
    except InvalidInput as error:
        raise type(error)(f"message {number}: {error}") from None
