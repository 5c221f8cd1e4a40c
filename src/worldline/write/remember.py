"""Remembering, straight through: the words first, then what they say.

    redact → append (durable) → judge → extract → settle the facts → commit

The first changeset makes the verbatim text safe; the second one settles what the text claims and
the facts that came with it. A crash in between leaves the event pending, and `resume` goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import Interval, When, moment
from worldline.errors import InvalidInput, NotFound, Refused, WorldlineError
from worldline.handle import Done, Handle, Place
from worldline.model import Event, Fact, Metadata, NodeDraft, Receipt, Scope
from worldline.reading.read import Reading
from worldline.store.indexing import described_draft
from worldline.store.tx import Tx
from worldline.store.view import SqlView
from worldline.text import content_words
from worldline.write import put, with_model
from worldline.write.check import clean_metadata, clean_struct, clean_text
from worldline.write.gate import FLOOR, Signals, Vectors, echoes, judge, undecided
from worldline.write.given import believe, not_given
from worldline.write.reconcile import ENCODER, read_event, reading_of, settle, stored_event
from worldline.write.redact import redact
from worldline.write.resolve import recluster

_NEAREST = 5
_GATED = 8000
_COMMON = 60
"""Above so many texts a word does not help to find the nearest ones."""
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
    event, secrets = _redacted(event, handle)
    if (dropped := _too_dull(handle, event)) is not None and not given:
        return replace(dropped, redacted=secrets)
    left = _left(handle, given)
    made = _made(handle, event, left)
    stored = handle.write(
        "remember", lambda tx, place: _append(tx, event, place, handle, left, made), dry_run=dry_run
    )
    stored = replace(stored, redacted=secrets)
    if left is None or dry_run or stored.id is None or not (stored.changed or given):
        return stored
    return understand(handle, stored, left)


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
        with_model.required(handle)
    left = Pending(handle.scopes, handle.world, tuple(given), extract, model)
    _encoded(left)
    return left


class Made(Struct, frozen=True):
    """What is worked out from an event before any lock is taken, as it is stored."""

    reading: bytes | None = None
    described: bytes | None = None


def _made(handle: Handle, event: Event, left: Pending | None) -> Made:
    """What an event says, and how recall will see it."""
    if event.said_at is None:
        described = None  # its moment is known only when it is stored
    else:
        draft = NodeDraft("Turn", event.speaker, event.text, valid=Interval(moment(event.said_at)[0]))
        draft.metadata = clean_metadata(event.metadata)
        described = msgspec.msgpack.encode(described_draft(draft))
    if left is None or not left.extract:
        return Made(None, described)
    return Made(ENCODER.encode(read_event(event, handle.scope.user, handle.clock())), described)


def remember_all(handle: Handle, events: Sequence[Event], *, dry_run: bool = False) -> Receipt:
    """A whole conversation: one changeset for the words, one for what they say."""
    cleaned = [_redacted(_checked(event, handle), handle) for event in events]
    left = _left(handle, ())
    made = [_made(handle, event, left) for event, _ in cleaned]
    ids: list[str] = []
    fresh: list[str] = []

    def work(tx: Tx, place: Place) -> Done:
        last = None
        for number, (event, _) in enumerate(cleaned):
            undated = tx.stamp - (len(cleaned) - 1 - number)
            last, new = _append(tx, event, place, handle, left, made[number], undated)
            ids.append(last.hex() if last else "")
            fresh.extend(ids[-1:] if new else [])
        return last, bool(fresh)

    stored = handle.write("remember", work, dry_run=dry_run)
    stored = replace(stored, ids=tuple(ids), redacted=tuple(name for _, found in cleaned for name in found))
    if left is None or dry_run or not fresh:
        return stored
    return replace(_understand_all(handle, stored, fresh, left), ids=tuple(ids))


def _redacted(event: Event, handle: Handle) -> tuple[Event, tuple[str, ...]]:
    if not handle.config.redact or not isinstance(event.text, str):
        return event, ()
    text, found = redact(event.text)
    return (replace(event, text=text), found) if found else (event, ())


def _too_dull(handle: Handle, event: Event) -> Receipt | None:
    """With the strict gate, what is not worth encoding is not even stored; the receipt says so."""
    if handle.config.gate != "strict" or not isinstance(event.text, str):
        return None
    signals = _judge(handle, event.text, handle.read(lambda view: _nearest(view, event.text)))
    if signals.admitted:
        return None
    return Receipt("remember", None, False, handle.now(), (f"not stored: {signals.reason}",))


def _append(
    tx: Tx, event: Event, place: Place, handle: Handle, left: Pending | None, made: Made = Made(),
    undated: int | None = None,
) -> Done:  # fmt: skip
    draft = None if left is None else _drafted([left])
    key, new = put.append_event(
        tx, event, place, handle.config.max_text, undated, draft, made.reading, made.described
    )
    if left is not None and not tx.is_new(key) and (new or left.facts):
        before = tx.query("SELECT draft FROM events WHERE node = :key", key=key)[0][0]
        put.leave(tx, key, _drafted([*_others(before, left), left]))
    return tx.id_of(key), new


# Understanding ------------------------------------------------------------------------------------


def understand(handle: Handle, stored: Receipt, left: Pending) -> Receipt:
    """The second changeset: claims and facts through their handlers, and the event is settled."""
    return _understand_all(handle, stored, [stored.id or ""], left)


def _understand_all(handle: Handle, stored: Receipt, events: Sequence[str], left: Pending) -> Receipt:
    born: list[int] = []
    scope = 0
    verdicts = _verdicts(handle, events) if left.extract and handle.config.gate != "off" else {}

    def work(tx: Tx, place: Place) -> Done:
        nonlocal scope
        changed = [_understand_one(tx, event, place, handle, left, verdicts.get(event)) for event in events]
        born.extend(tx.born("Entity"))
        scope = place.scope
        return bytes.fromhex(stored.id or ""), any(changed)

    try:
        receipt = handle.write("remember", work)
    except (InvalidInput, Refused, NotFound):
        handle.write("remember", lambda tx, place: _reject(tx, events, left))
        raise
    done = with_model.joined(stored, receipt)
    done = with_model.joined(done, recluster(handle, born, scope))
    if left.model:
        done = with_model.joined(done, with_model.read_events(handle, events, _for_model(left)))
    return replace(done, id=stored.id, redacted=stored.redacted, ids=stored.ids)


def _for_model(left: Pending) -> str:
    """What is left of an event once the rules have read it, as it is stored."""
    return _drafted([replace(left, facts=(), extract=False)]) or ""


def _verdicts(handle: Handle, events: Sequence[str]) -> dict[str, Signals]:
    """What the gate says of each event, worked out before any lock is taken."""
    heard = handle.read(
        lambda view: {
            id_: (event.text, _nearest(view, event.text, event.key))
            for id_ in events
            for event in [stored_event(view, id_)]
        }
    )
    return {id_: _judge(handle, text, nearest) for id_, (text, nearest) in heard.items()}


def _understand_one(
    tx: Tx, id_: str, place: Place, handle: Handle, left: Pending, signals: Signals | None
) -> bool:
    event = stored_event(tx, id_)
    told = put.Told(event.key, event.said_at)
    changed = [believe(tx, fact, place, handle, told, event.speaker)[1] for fact in left.facts]
    said = reading_of(event, handle.scope.user)
    if left.extract and (signals is None or _is_worth_reading(signals, said)):
        claims = not_given(said.claims, left.facts, event.speaker, handle.scope.user)
        changed.append(settle(tx, claims, event, place, handle, said=said))
    kept = None if signals is None else msgspec.json.encode(signals).decode()
    rest = _others(event.draft, left)
    if left.model and left.extract and (signals is None or signals.admitted):
        rest.append(replace(left, facts=(), extract=False))
    put.leave(tx, event.key, _drafted(rest), "stored", kept)
    return any(changed)


def _is_worth_reading(signals: Signals, said: Reading) -> bool:
    """Rules cost next to nothing, so they read all but noise and echoes; "Sorry, 21 kilos." takes something back."""
    return (signals.salience >= FLOOR or bool(said.values)) and signals.reason != ECHO


def _judge(handle: Handle, text: str, nearest: Sequence[str]) -> Signals:
    """The gate's verdict on a text, against what is stored nearest to it; an echo is never admitted."""
    signals = judge(text[:_GATED], nearest, _expected(handle, text[:_GATED], nearest))
    if echoes(text, nearest):
        return replace(signals, admitted=False, reason=ECHO)
    return signals


def _expected(handle: Handle, text: str, nearest: Sequence[str]) -> Vectors | None:
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
    return Vectors(list(map(float, joint)), list(map(float, doubled)), float(own @ known))


def _nearest(view: SqlView, text: str, own: int = 0) -> list[str]:
    found = [key for key, _ in view.matching(_rarest(view, text, bool(own)), 4 * _NEAREST)]
    contents = view.contents(found)
    return [contents[key] for key in found if key in contents and key != own][:_NEAREST]


def _rarest(view: SqlView, text: str, stored: bool) -> list[str]:
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


def resume(handle: Handle) -> tuple[Receipt, ...]:
    """Continues every event that was not settled when its process ended."""
    rows = handle.read(
        lambda view: view.query(
            "SELECT n.hash, e.draft FROM events e JOIN nodes n ON n.id = e.node"
            f" JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND {view.scoped('b')}"
            " WHERE e.tenant = :t AND e.state = 'pending' GROUP BY e.node ORDER BY e.node"
        )
    )
    mine = handle.scope.bound().items()
    waiting = [
        (replace(handle, scopes=left.scopes, world=left.world), id_.hex(), left)
        for id_, draft in rows
        for left in msgspec.json.decode(draft, type=_DRAFT)
        if mine <= (left.scopes[0] if left.scopes else Scope()).bound().items()
    ]
    for_model = [each for each in waiting if _is_for_model(each[2])]
    by_rules = [each for each in waiting if not _is_for_model(each[2])]
    return tuple(_resume(*each) for each in [*by_rules, *for_model[: handle.config.model_events]])


def _is_for_model(left: Pending) -> bool:
    return left.model and not left.extract and not left.facts


def _resume(handle: Handle, event: str, left: Pending) -> Receipt:
    """As the caller bound it then; facts that can never be stored are told, and block nobody else."""
    stored = Receipt("remember", event, False, 0)
    if _is_for_model(left):
        read = with_model.read_events(handle, [event], _drafted([left]) or "")
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


def _reject(tx: Tx, events: Sequence[str], left: Pending) -> Done:
    """Facts that can never be stored are not tried again; the words stay."""
    for id_ in events:
        event = stored_event(tx, id_)
        put.leave(tx, event.key, _drafted(_others(event.draft, left)), "rejected")
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
