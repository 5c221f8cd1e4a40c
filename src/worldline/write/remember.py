"""Remembering, straight through: the words first, then what they say.

    event → append (durable) → facts → handlers → commit

The first changeset makes the verbatim text safe; the second one settles the facts that came with
it. A crash in between leaves the event pending, and `resume` goes on from there.
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
from worldline.write import facts, put
from worldline.write.check import clean_name


class Pending(Struct, frozen=True):
    """Facts that are still to be settled, and the binding of the handle that was given them."""

    scopes: tuple[Scope, ...]
    world: int
    facts: tuple[Fact, ...]


_DRAFT = list[Pending]


def remember(
    handle: Handle, event: Event, given: Sequence[Fact] = (), *, dry_run: bool = False
) -> Receipt:
    """Stores an event verbatim, then believes the facts that were given with it."""
    left = Pending(handle.scopes, handle.world, tuple(given)) if given else None
    if left is not None:
        _encoded(left)
    stored = handle.write(
        "remember", lambda tx, place: _append(tx, event, place, handle, left), dry_run=dry_run
    )
    if left is None or dry_run or stored.id is None:
        return stored
    return understand(handle, stored, left)


def remember_all(handle: Handle, events: Sequence[Event], *, dry_run: bool = False) -> Receipt:
    """A whole conversation as one changeset."""
    ids: list[str] = []

    def work(tx: Tx, place: Place) -> Done:
        changed, last = False, None
        for event in events:
            last, new = _append(tx, event, place, handle, None)
            ids.append(last.hex() if last else "")
            changed = changed or new
        return last, changed

    return replace(handle.write("remember", work, dry_run=dry_run), ids=tuple(ids))


def _append(tx: Tx, event: Event, place: Place, handle: Handle, left: Pending | None) -> Done:
    key, new = put.append_event(tx, event, place, handle.config.max_text)
    if left is not None:
        _leave(tx, key, [*_others(tx, key, left), left], "pending")
    return tx.id_of(key), new


def understand(handle: Handle, stored: Receipt, left: Pending) -> Receipt:
    """The second changeset: each fact through its handler, and the event is settled."""
    event = stored.id or ""

    def work(tx: Tx, place: Place) -> Done:
        key, said_at = _stored_event(tx, event)
        told = facts.Told(key, said_at)
        changed = [believe(tx, fact, place, handle, told)[1] for fact in left.facts]
        _settle(tx, key, left, "stored")
        return bytes.fromhex(event), any(changed)

    try:
        receipt = handle.write("remember", work)
    except (InvalidInput, Refused, NotFound):
        handle.write("remember", lambda tx, place: _reject(tx, event, left))
        raise
    if not receipt.changed:
        return stored
    return replace(receipt, also=(stored.known_at,) if stored.changed else ())


def believe(
    tx: Tx, fact: Fact, place: Place, handle: Handle, told: facts.Told = facts.Told()
) -> tuple[int, bool]:
    """One fact, by the rules that its predicate has in this world."""
    predicate = registry.predicate(tx, clean_name(fact.predicate, "predicate"), place.world)
    return facts.assert_fact(tx, fact, place, told, predicate, handle.config)


def resume(handle: Handle) -> tuple[Receipt, ...]:
    """Continues every event whose facts were not settled when its process ended."""
    rows = handle.read(
        lambda view: view.query(
            "SELECT n.hash, e.draft FROM events e JOIN nodes n ON n.id = e.node"
            f" JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND {view.scoped('b')}"
            " WHERE e.tenant = :t AND e.state = 'pending' GROUP BY e.node ORDER BY e.node"
        )
    )
    mine = handle.scope.bound().items()
    return tuple(
        _resume(replace(handle, scopes=left.scopes, world=left.world), id_.hex(), left)
        for id_, draft in rows
        for left in msgspec.json.decode(draft, type=_DRAFT)
        if mine <= (left.scopes[0] if left.scopes else Scope()).bound().items()
    )


def _resume(handle: Handle, event: str, left: Pending) -> Receipt:
    """As the caller bound it then; facts that can never be stored are told, and block nobody else."""
    stored = Receipt("remember", event, False, 0)
    try:
        return understand(handle, stored, left)
    except (InvalidInput, Refused, NotFound) as error:
        return replace(stored, known_at=handle.now(), changes=(f"rejected: {error}",))


def _stored_event(tx: Tx, event: str) -> tuple[int, int]:
    rows = tx.query(
        "SELECT e.node, e.said_at FROM events e JOIN nodes n ON n.id = e.node"
        " WHERE n.tenant = :t AND n.hash = :hash",
        hash=bytes.fromhex(event),
    )
    return int(rows[0][0]), int(rows[0][1])


def _others(tx: Tx, key: int, one: Pending) -> list[Pending]:
    """What else is still to be settled for an event; compared as it is stored (a date is text there)."""
    draft = tx.query("SELECT draft FROM events WHERE node = :key", key=key)[0][0]
    left = msgspec.json.decode(draft, type=_DRAFT) if draft else []
    return [item for item in left if _encoded(item) != _encoded(one)]


def _encoded(left: Pending) -> bytes:
    try:
        return msgspec.json.encode(left)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"these facts cannot be kept as they are: {error}") from None


def _leave(tx: Tx, key: int, left: list[Pending], state: str) -> None:
    draft = msgspec.json.encode(left).decode() if left else None
    update = "UPDATE events SET state = :state, draft = :draft WHERE node = :key"
    tx.query(update, state=state, draft=draft, key=key)


def _settle(tx: Tx, key: int, done: Pending, state: str) -> None:
    left = _others(tx, key, done)
    _leave(tx, key, left, "pending" if left else state)


def _reject(tx: Tx, event: str, left: Pending) -> Done:
    """Facts that can never be stored are not tried again; the words stay."""
    _settle(tx, _stored_event(tx, event)[0], left, "rejected")
    return None, False


def events_of(
    messages: Sequence[Mapping[str, Any]],
    said_at: When | None = None,
    session: str | None = None,
    metadata: Metadata | None = None,
) -> list[Event]:
    """Chat messages (role and content; name, said_at and id if they have them) as events."""
    return [
        Event(
            message.get("content") or "",
            message.get("name") or message.get("role") or "",
            message.get("said_at", said_at),
            session=session,
            metadata=metadata or {},
            external_id=message.get("id"),
        )
        for message in messages
    ]
