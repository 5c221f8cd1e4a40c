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

from worldline.clock import When
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.handle import Done, Handle, Place
from worldline.model import Event, Fact, Metadata, Receipt, Scope
from worldline.store import registry
from worldline.store.tx import Tx
from worldline.store.view import SqlView
from worldline.text import content_words
from worldline.write import facts, put, with_model
from worldline.write.check import clean_name, clean_struct, clean_text
from worldline.write.gate import FLOOR, Signals, echoes, judge
from worldline.write.redact import redact
from worldline.write.resolve import recluster
from worldline.write.understand import claims_of, settle, stored_event

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
    stored = handle.write(
        "remember", lambda tx, place: _append(tx, event, place, handle, left), dry_run=dry_run
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


def remember_all(handle: Handle, events: Sequence[Event], *, dry_run: bool = False) -> Receipt:
    """A whole conversation: one changeset for the words, one for what they say."""
    cleaned = [_redacted(_checked(event, handle), handle) for event in events]
    left = _left(handle, ())
    ids: list[str] = []
    fresh: list[str] = []

    def work(tx: Tx, place: Place) -> Done:
        last = None
        for number, (event, _) in enumerate(cleaned):
            undated = tx.stamp - (len(cleaned) - 1 - number)
            last, new = _append(tx, event, place, handle, left, undated)
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
    signals = handle.read(lambda view: _judge(view, event.text, 0))
    if signals.admitted:
        return None
    return Receipt("remember", None, False, handle.now(), (f"not stored: {signals.reason}",))


def _append(
    tx: Tx, event: Event, place: Place, handle: Handle, left: Pending | None, undated: int | None = None
) -> Done:
    draft = None if left is None else _drafted([left])
    key, new = put.append_event(tx, event, place, handle.config.max_text, undated, draft)
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

    def work(tx: Tx, place: Place) -> Done:
        nonlocal scope
        changed = [_understand_one(tx, event, place, handle, left) for event in events]
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


def _understand_one(tx: Tx, id_: str, place: Place, handle: Handle, left: Pending) -> bool:
    event = stored_event(tx, id_)
    told = put.Told(event.key, event.said_at)
    changed = [believe(tx, fact, place, handle, told)[1] for fact in left.facts]
    signals = None
    if left.extract:
        signals = _judge(tx, event.text, event.key) if handle.config.gate != "off" else None
        if signals is None or _is_worth_reading(signals):
            changed.append(settle(tx, claims_of(event), event, place, handle))
    kept = None if signals is None else msgspec.json.encode(signals).decode()
    rest = _others(event.draft, left)
    if left.model and left.extract and (signals is None or signals.admitted):
        rest.append(replace(left, facts=(), extract=False))
    put.leave(tx, event.key, _drafted(rest), "stored", kept)
    return any(changed)


def _is_worth_reading(signals: Signals) -> bool:
    """Rules cost next to nothing, so they read all but noise and echoes, admitted or not."""
    return signals.salience >= FLOOR and signals.reason != ECHO


def _judge(view: SqlView, text: str, own: int) -> Signals:
    """The gate's verdict on a text, against what is stored nearest to it; an echo is never admitted."""
    nearest = [content for key, content in _nearest(view, text) if key != own][:_NEAREST]
    signals = judge(text[:_GATED], nearest)
    if echoes(text, nearest):
        return replace(signals, admitted=False, reason=ECHO)
    return signals


def _nearest(view: SqlView, text: str) -> list[tuple[int, str]]:
    found = [key for key, _ in view.matching(_rarest(view, text), _NEAREST + 1)]
    contents = view.contents(found)
    return [(key, contents[key]) for key in found if key in contents]


def _rarest(view: SqlView, text: str) -> list[str]:
    """Up to two words that few texts hold; one at least, if any is known at all."""
    frequency = view.frequencies(set(content_words(text[:_GATED])[:40]), _COMMON)
    rare = sorted(frequency, key=lambda term: (frequency[term], term))[:2]
    room, chosen = _COMMON, list[str]()
    for term in rare:
        room -= frequency[term]
        if room >= 0 or not chosen:
            chosen.append(term)
    return chosen


def believe(
    tx: Tx, fact: Fact, place: Place, handle: Handle, told: put.Told = put.Told()
) -> tuple[int, bool]:
    """One fact given directly, by the rules that its predicate has in this world."""
    fact = clean_struct(fact, Fact)
    predicate = registry.predicate(tx, clean_name(fact.predicate, "predicate"), place.world)
    return facts.assert_fact(tx, fact, place, told, predicate, handle.config)


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
