"""What a store knows of things said: the words of an event, what is still to be done with it, who read it.

An event's row is the only one that is changed in place: its state, what the gate found, and its reading
are no memory, so that the log does not cover them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, LATEST, Instant, Interval, moment
from worldline.errors import Conflict, InvalidTime
from worldline.hashing import event_id, node_id, record_id
from worldline.inputs import clean_name
from worldline.model import Event, Findable, NodeDraft, Place, Scope
from worldline.ports import Tx, View
from worldline.store.view import listed

_IN = (
    "(SELECT c.src FROM edges c WHERE c.tenant = :t AND c.dst = {} AND c.type = 'contains'"
    " AND c.vt > :latest AND c.kt = :forever ORDER BY c.vt DESC, c.id LIMIT 1)"
)
"""The world that a lineage lies in now."""


class Stored(Struct, frozen=True):
    """An event as understanding needs it."""

    key: int
    text: str
    speaker: str
    recipient: str
    said_at: Instant
    utc_offset: int
    draft: str | None = None
    """What was still to be done with it when it was read."""
    reading: bytes | None = None
    """What it says, as it was read once."""


class Same(NamedTuple):
    """An event that is stored already, and the words that it is stored with."""

    node: int
    said_at: Instant
    text: str


class WaitingEvent(NamedTuple):
    """An event that is not settled: its id, and what is left to do."""

    id: str
    draft: str


class HeardEvent(NamedTuple):
    """An event that may be read again, and where it was said."""

    id: str
    node: int
    reading: bytes | None
    draft: str | None
    scope: int
    world: int
    """Outside its session."""


class SpokenEvent(NamedTuple):
    """What somebody said in a talk, as it is shown."""

    text: str
    sender: str
    said_at: Instant
    offset: int
    talk: str


class AtHand(Struct, frozen=True):
    """What is known of an event before it is stored, as it is stored."""

    undated: Instant | None = None
    """When it was said if nobody says."""
    draft: str | None = None
    """What is still to be done with a new one."""
    signals: str | None = None
    """What the gate found in it."""
    reading: bytes | None = None
    """What it says."""
    findable: Findable | None = None
    """What makes it findable."""


class Appended(NamedTuple):
    """An event as it is stored by now."""

    event: Stored
    id: bytes
    changed: bool
    """Whether it was not believed here before."""
    born: bool
    """Whether it was never stored before."""


# Storing one ---------------------------------------------------------------------------------------


def append(tx: Tx, event: Event, place: Place, known: AtHand) -> Appended:
    """Stores a verbatim event whose every part can be stored."""
    said_at, offset = (known.undated or tx.stamp, 0) if event.said_at is None else moment(event.said_at)
    if said_at == FOREVER:
        raise InvalidTime("nothing is said at the end of time; give the moment it was said")
    session = event.session or place.session
    world = _session_world(tx, session, place) if session else place.world
    dated = said_at if event.said_at is not None else None
    key = _event_key(event, place, world, dated)
    world_id = tx.id_of(world) if world else None
    id_ = event_id(event.speaker, world_id, said_at, event.text, event.external_id)
    same = None if is_unheard(tx, key, id_) else same_event(tx, key)
    stored = Stored(
        0, event.text, event.speaker, event.recipient or "", said_at, offset, known.draft, known.reading
    )
    if same is not None:
        _require_same(tx, same, event.text)
        stored = replace(stored, said_at=same.said_at)
        id_ = event_id(event.speaker, world_id, same.said_at, event.text, event.external_id)
        if tx.beliefs(same.node):  # otherwise it was taken back, and is said again
            return Appended(replace(stored, key=same.node), id_, False, tx.is_new(same.node))
    node = NodeDraft(
        "Turn", event.speaker, event.text, valid=Interval(stored.said_at), world=world, scope=place.scope,
        metadata=event.metadata, id=id_, findable=known.findable,
    )  # fmt: skip
    row, new = tx.put(node)
    born = tx.is_new(row)
    if born or not is_event(tx, row):
        tx.add(
            "events", row, key, event.speaker, event.recipient, stored.said_at, offset, world or None, event.modality,
            event.category, event.source, event.external_id, "pending" if known.draft else "stored", known.draft,
            known.signals, known.reading,
        )  # fmt: skip
    return Appended(replace(stored, key=row), id_, new, born)


def _session_world(tx: Tx, name: str, place: Place) -> int:
    """The world of a session; the same name in another scope is another session."""
    draft = NodeDraft(
        "Session", clean_name(name, "session"), scope_key(tx, place.scope),
        valid=Interval(EARLIEST), world=place.world, scope=place.scope,
    )  # fmt: skip
    draft.id = node_id(
        draft.type, draft.name, draft.content, None, tx.id_of(place.world) if place.world else None
    )
    return session_of(tx, draft.id, place.scope) or tx.put(draft)[0]


def _event_key(event: Event, place: Place, world: int, said_at: Instant | None) -> bytes:
    if event.external_id is not None:
        return record_id("external", str(place.scope), event.external_id)
    when = "" if said_at is None else str(said_at)
    return record_id("event", str(place.scope), str(world), event.speaker, when, event.text)


def _require_same(tx: Tx, stored: Same, text: str) -> None:
    if stored.text != text:
        raise Conflict(
            f"this external id is stored with other text ({tx.id_of(stored.node).hex()[:12]}); "
            "correct that memory, or send the event under another external id"
        )


# One event -----------------------------------------------------------------------------------------


def stored_event(view: View, event: str) -> Stored:
    """The event of an id, as understanding needs it."""
    rows = view.query(
        "SELECT e.node, n.content, e.sender, coalesce(e.recipient, ''), e.said_at, e.utc_offset, e.draft, e.reading"
        " FROM nodes n CROSS JOIN events e ON e.tenant = :t AND e.node = n.id WHERE n.tenant = :t AND n.hash = :hash",
        hash=bytes.fromhex(event),
    )
    return Stored(*rows[0])


def to_settle(tx: Tx, event: str) -> Stored:
    """The same, for a changeset that will tie what it says to it: what hangs on it already is known then."""
    id_ = bytes.fromhex(event)
    rows = tx.query(
        "SELECT e.node, n.content, e.sender, coalesce(e.recipient, ''), e.said_at, e.utc_offset, e.draft, e.reading,"
        f" n.line, {_IN.format('n.line')}, s.id, s.hash, s.name, s.line, {_IN.format('s.id')},"
        " w.head, w.hash, w.digest,"
        " EXISTS (SELECT 1 FROM edges r WHERE r.tenant = :t AND r.src = n.id AND r.type = 'refers_to'),"
        " EXISTS (SELECT 1 FROM edges d WHERE d.tenant = :t AND d.dst = n.id AND d.type = 'derived_from')"
        " FROM nodes n CROSS JOIN events e ON e.tenant = :t AND e.node = n.id"
        " LEFT JOIN nodes s ON s.tenant = :t AND s.id = n.world LEFT JOIN worlds w ON w.tenant = :t AND w.line = s.id"
        " WHERE n.tenant = :t AND n.hash = :hash",
        hash=id_,
        latest=LATEST,
    )
    node, sender, (line, parent, world, *around, mentions, grounds) = rows[0][0], rows[0][2], rows[0][8:]
    tx.recollect(node, (id_, sender, line), parent)
    if world is not None:
        tx.recollect(world, tuple(around[:3]), around[3])
        tx.seated(world, _state(around[4:]))
    tx.bare(
        node, *[type_ for type_, some in (("refers_to", mentions), ("derived_from", grounds)) if not some]
    )
    return Stored(*rows[0][:8])


def session_of(tx: Tx, id_: bytes, scope: int) -> int:
    """The world of a session that is believed in a scope, and what a changeset asks of it; 0 for a new one."""
    if at := tx.sitting_in(id_):
        return at
    rows = tx.query(
        f"SELECT n.id, n.name, n.line, {_IN.format('n.id')}, EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
        " AND b.line = n.line AND b.node = n.id AND b.scope = :scope AND b.kt = :forever AND b.vf <= :always"
        " AND b.vt > :always), w.head, w.hash, w.digest,"
        " coalesce((SELECT max(x.position) FROM texts x WHERE x.tenant = :t AND x.session = n.id), -1),"
        " coalesce((SELECT max(x.position) FROM cold_texts x WHERE x.tenant = :t AND x.session = n.id), -1)"
        " FROM nodes n LEFT JOIN worlds w ON w.tenant = :t AND w.line = n.id WHERE n.tenant = :t AND n.hash = :hash",
        hash=id_, scope=scope, always=EARLIEST, latest=LATEST,
    )  # fmt: skip
    if not rows:
        tx.absent(id_)
        return 0
    key, name, line, parent, believed, *state, hot, cold = rows[0]
    tx.recollect(key, (id_, name, line), parent)
    tx.seated(key, _state(state), max(hot, cold, -1))
    return int(key) if believed else 0


def _state(columns: Sequence[Any]) -> tuple[int, bytes, bytes] | None:
    head, hash_, digest = columns
    return None if head is None else (head, hash_, digest)


def is_unheard(tx: Tx, key: bytes, id_: bytes) -> bool:
    """Whether neither an event of this key nor a memory of this id is stored; then the changeset knows that."""
    if key in tx.heard or tx.is_put(id_):
        return False
    rows = tx.peek().query(
        "SELECT 1 FROM events WHERE tenant = :t AND key = :key"
        " UNION ALL SELECT 1 FROM nodes WHERE tenant = :t AND hash = :id",
        key=key,
        id=id_,
    )
    tx.absent(*([] if rows else [id_]))
    return not rows


def same_event(tx: Tx, key: bytes) -> Same | None:
    """The event that is stored under a key."""
    rows = tx.query(
        "SELECT e.node, e.said_at, n.content FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        " WHERE e.tenant = :t AND e.key = :key",
        key=key,
    )
    return Same(*rows[0]) if rows else None


def has_key(tx: Tx, key: bytes) -> bool:
    """Whether an event was stored under this key before the changeset."""
    return bool(
        tx.store.query("SELECT 1 FROM events WHERE tenant = :t AND key = :key", {"t": tx.tenant, "key": key})
    )


def is_event(tx: Tx, node: int) -> bool:
    """Whether a turn has its row of things said."""
    return bool(tx.query("SELECT 1 FROM events WHERE tenant = :t AND node = :node", node=node))


def draft_of(tx: Tx, node: int) -> str | None:
    """What is still to be done with an event."""
    found = tx.query("SELECT draft FROM events WHERE tenant = :t AND node = :node", node=node)
    return None if found[0][0] is None else str(found[0][0])


def signals_of(tx: Tx, node: int) -> str | None:
    """What the gate found in an event."""
    found = tx.query("SELECT signals FROM events WHERE tenant = :t AND node = :node", node=node)
    return None if found[0][0] is None else str(found[0][0])


def leave(tx: Tx, node: int, draft: str | None, state: str = "stored", signals: str | None = None) -> None:
    """What is still to be done with an event (nothing: its state), and what the gate found."""
    if tx.is_new(node):
        tx.flush()
    tx.store.later(
        "UPDATE events SET state = :state, draft = :draft, signals = coalesce(signals, :signals)"
        " WHERE tenant = :t AND node = :node",
        {
            "t": tx.tenant,
            "state": "pending" if draft else state,
            "draft": draft,
            "signals": signals,
            "node": node,
        },
    )


def keep_signals(tx: Tx, node: int, signals: str) -> None:
    """What was found in an event, with what a model made of it."""
    tx.query(
        "UPDATE events SET signals = :signals WHERE tenant = :t AND node = :node", signals=signals, node=node
    )


def keep_reading(tx: Tx, node: int, reading: bytes) -> None:
    """What an event says, as it was read last."""
    tx.query(
        "UPDATE events SET reading = :reading WHERE tenant = :t AND node = :node", reading=reading, node=node
    )


# Many ----------------------------------------------------------------------------------------------


def waiting(view: View) -> list[WaitingEvent]:
    """The events of this scope that are not settled, oldest first."""
    rows = view.query(
        "SELECT n.hash, e.draft FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        " WHERE e.tenant = :t AND e.state = 'pending' AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
        f" AND b.line = n.line AND {view.scoped('b')}) ORDER BY e.node"
    )
    return [WaitingEvent(id_.hex(), draft) for id_, draft in rows]


def readings(view: View) -> list[bytes | None]:
    """What every event was read as, packed."""
    return [
        row[0] for row in view.query("SELECT e.reading FROM events e WHERE e.tenant = :t ORDER BY e.node")
    ]


def heard(view: View) -> list[HeardEvent]:
    """Every event that is believed in this scope and world, once a scope set, in the order in which it was said."""
    rows = view.query(
        "SELECT DISTINCT e.said_at, e.node, b.scope, n.hash, e.reading, e.draft,"
        " CASE WHEN w.type = 'Session' THEN w.world ELSE n.world END"
        " FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        f" CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.kt = :forever AND {view.scoped('b')}"
        " LEFT JOIN nodes w ON w.tenant = :t AND w.id = n.world WHERE e.tenant = :t"
        f" AND {view.ever_inside('n.line')} ORDER BY e.said_at, e.node, b.scope"
    )
    return [
        HeardEvent(id_.hex(), node, kept, draft, scope, world or 0)
        for _, node, scope, id_, kept, draft, world in rows
    ]


def known_before(view: View, ids: Sequence[str], before: Instant) -> set[str]:
    """Which of these ids were believed in, in some version, at this known time or earlier."""
    found = set()
    for id_ in ids:
        rows = view.query(
            "SELECT 1 FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line"
            " WHERE n.tenant = :t AND n.hash = :id AND b.kf <= :before LIMIT 1",
            id=bytes.fromhex(id_),
            before=before,
        )
        found |= {id_} if rows else set()
    return found


def talks(view: View) -> list[SpokenEvent]:
    """Everything said that can be seen from here, talk by talk."""
    rows = view.query(
        "SELECT n.content, e.sender, e.said_at, e.utc_offset,"
        " coalesce((SELECT w.name FROM nodes w WHERE w.tenant = :t AND w.id = e.session), '') AS talk"
        " FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE e.tenant = :t AND {view.seen()} ORDER BY talk, e.said_at, e.node, b.id"
    )
    return [SpokenEvent(*row) for row in rows]


# Scope sets ----------------------------------------------------------------------------------------


def scope_sets(view: View) -> dict[int, tuple[Scope, ...]]:
    """The scopes of every scope set, by its number."""
    rows = view.query('SELECT part_of, "user", agent, app, run FROM scopes WHERE tenant = :t ORDER BY id')
    found: dict[int, tuple[Scope, ...]] = {}
    for number, *bound in rows:
        found[number] = (*found.get(number, ()), Scope(*bound))
    return found


def scope_key(tx: Tx, scope: int) -> str:
    """The canonical text of a scope set; empty for none."""
    if scope in tx.scope_keys:
        return tx.scope_keys[scope]
    rows = tx.query("SELECT key FROM scopes WHERE tenant = :t AND id = :scope", scope=scope) if scope else []
    return str(rows[0][0]) if rows else ""


# What recall has handed out lately, within what a view may see: the texts and who said them -------


MOST = 100


def handed_out(view: View, most: int = MOST) -> list[tuple[str, str]]:
    """(text, speaker) of the memories shown last, in this scope; noted aside, or still in mind."""
    held = list(reversed(view.store.shown.get(view.tenant, {})))[:most]
    rows = view.query(
        "SELECT n.content, CASE WHEN n.type = 'Turn' THEN n.name ELSE '' END FROM (SELECT value AS line FROM"
        " json_each(:among) UNION SELECT line FROM (SELECT line FROM uses WHERE tenant = :t AND kind = 'shown'"
        " ORDER BY id DESC LIMIT :most) u) s CROSS JOIN beliefs b ON b.tenant = :t AND b.line = s.line"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE {view.scoped('b')}",
        among=listed(held), most=most - len(held),
    )  # fmt: skip
    return list(dict.fromkeys((str(content), str(speaker)) for content, speaker in rows))
