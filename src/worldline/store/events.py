"""What a store knows of things said: the words of an event, what is still to be done with it, who read it, whose turn.

An event's row is the only one that is changed in place: its state, what the gate found, and its reading
are no memory, so that the log does not cover them. Turns, as a view may see them, lie hot (`texts`) or archived
(`cold_texts`); by their lineages both are read. It decides only that an assistant is nobody whose life is remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, LATEST, Instant, Interval, moment
from worldline.errors import Conflict, InvalidTime
from worldline.hashing import event_id, node_id, record_id
from worldline.model import Event, Findable, NodeDraft, Place, Scope, clean_name
from worldline.ports import View
from worldline.reading.claim import role_of
from worldline.store.view import listed
from worldline.text import fold

if TYPE_CHECKING:
    from worldline.store.tx import Tx

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


class HeardEvent(NamedTuple):
    """An event that may be read again, and where it was said."""

    id: str
    node: int
    reading: bytes | None
    draft: str | None
    scope: int
    world: int
    """Outside its session."""


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
    key = event_key(event.external_id, place.scope, world, event.speaker, dated, event.text)
    world_id = tx.id_of(world) if world else None
    id_ = event_id(event.speaker, world_id, said_at, event.text, event.external_id)
    same = None if is_unheard(tx, key, id_) else same_event(tx, key)
    stored = Stored(
        0, event.text, event.speaker, event.recipient or "", said_at, offset, known.draft, known.reading
    )
    if same is not None:
        if same.text != event.text:
            raise Conflict(
                f"this external id is stored with other text ({tx.id_of(same.node).hex()[:12]}); "
                "correct that memory, or send the event under another external id"
            )
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
    if born or not tx.query("SELECT 1 FROM events WHERE tenant = :t AND node = :node", node=row):
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


def event_key(
    external: str | None, scope: int, world: int, sender: str, said_at: Instant | None, text: str
) -> bytes:
    """The key by which the same event, sent again, is recognised in a store with these row numbers."""
    if external is not None:
        return record_id("external", str(scope), external)
    when = "" if said_at is None else str(said_at)
    return record_id("event", str(scope), str(world), sender, when, text)


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


def kept_of(tx: Tx, node: int, column: Literal["draft", "signals"]) -> str | None:
    """What is still to be done with an event, or what the gate found in it."""
    found: str | None = tx.query(
        f"SELECT {column} FROM events WHERE tenant = :t AND node = :node", node=node
    )[0][0]
    return found


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


def keep(tx: Tx, node: int, column: Literal["signals", "reading"], value: str | bytes) -> None:
    """What was found in an event, with what a model made of it; or what it says, as it was read last."""
    tx.query(
        f"UPDATE events SET {column} = :value WHERE tenant = :t AND node = :node", value=value, node=node
    )


# Many ----------------------------------------------------------------------------------------------


def waiting(view: View) -> list[tuple[str, str]]:
    """(id, what is left to do) of the events of this scope that are not settled, oldest first."""
    rows = view.query(
        "SELECT n.hash, e.draft FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        " WHERE e.tenant = :t AND e.state = 'pending' AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
        f" AND b.line = n.line AND {view.scoped('b')}) ORDER BY e.node"
    )
    return [(id_.hex(), draft) for id_, draft in rows]


def readings(view: View) -> list[bytes | None]:
    """What every event was read as, packed."""
    return view.column("SELECT e.reading FROM events e WHERE e.tenant = :t ORDER BY e.node")


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


def talks(view: View) -> list[tuple[str, str, Instant, int, str]]:
    """(text, sender, time said, offset, talk) of everything said that can be seen from here, talk by talk."""
    return view.query(
        "SELECT n.content, e.sender, e.said_at, e.utc_offset,"
        " coalesce((SELECT w.name FROM nodes w WHERE w.tenant = :t AND w.id = e.session), '') AS talk"
        " FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE e.tenant = :t AND {view.seen()} ORDER BY talk, e.said_at, e.node, b.id"
    )


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


def handed_out(view: View) -> list[tuple[str, str]]:
    """(text, speaker) of the memories shown last, in this scope; noted aside, or still in mind."""
    held = list(reversed(view.store.shown.get(view.tenant, {})))[:MOST]
    rows = view.query(
        "SELECT n.content, CASE WHEN n.type = 'Turn' THEN n.name ELSE '' END FROM (SELECT value AS line FROM"
        " json_each(:among) UNION SELECT line FROM (SELECT line FROM uses WHERE tenant = :t AND kind = 'shown'"
        " ORDER BY id DESC LIMIT :most) u) s CROSS JOIN beliefs b ON b.tenant = :t AND b.line = s.line"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE {view.scoped('b')}",
        among=listed(held), most=MOST - len(held),
    )  # fmt: skip
    return list(dict.fromkeys((str(content), str(speaker)) for content, speaker in rows))


TURNS_AT_ONCE = 2000
"""So many texts are read at a time."""
BESIDE = 50
"""So many more of somebody's newest texts are looked at than are wanted: some may not be seen."""
TURN_TABLES = ("texts", "cold_texts")
TURNS_LISTED = " UNION ALL ".join(
    f"SELECT {{columns}} FROM json_each(:among) j CROSS JOIN {table} t ON t.tenant = :t AND t.node = j.value"
    for table in TURN_TABLES
)
"""The same for listed turns, which are found by their number and not among all of a tenant."""
SEATS = (
    " CROSS JOIN nodes n ON n.tenant = t.tenant AND n.id = t.node"
    " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
)
"""The version and the beliefs of a seat `t`."""


class Spoken(Struct, frozen=True):
    """A visible turn of a person; `answers` is whoever spoke right before, if it was somebody else."""

    line: int
    node: int
    name: str
    speaker: str
    text: str
    said_at: Instant
    answers: str = ""


class Uttered(NamedTuple):
    """That something was said: when, by which belief, and where."""

    at: Instant
    row: int
    line: int
    node: int
    sender: str
    session: str | None


def spoken(view: View, lines: Collection[int], *, answers: bool = True) -> Iterator[Spoken]:
    """The visible turns of people among these lineages, oldest first; with whom they answer, if that is asked."""
    ordered = sorted(lines)
    for start in range(0, len(ordered), TURNS_AT_ONCE):
        yield from _some(view, ordered[start : start + TURNS_AT_ONCE], answers)


def _some(view: View, lines: Sequence[int], answers: bool) -> Iterator[Spoken]:
    rows = view.query(
        "SELECT b.line, n.id, n.name, n.content, b.vf FROM json_each(:among) j"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = j.value"
        " CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
        f" WHERE n.type = 'Turn' AND {view.seen()} ORDER BY b.line, b.kt, b.id",
        among=listed(lines),
    )
    first = {row[0]: row for row in reversed(rows)}
    before = _before(view, [row[1] for row in first.values()]) if answers else {}
    for line, node, name, content, said_at in (first[line] for line in sorted(first)):
        speaker = fold(name)
        if speaker and role_of(name) != "assistant":
            other = before.get(node, "")
            yield Spoken(line, node, name, speaker, content, said_at, other if other != speaker else "")


def _before(view: View, nodes: Collection[int]) -> dict[int, str]:
    """Who, if a person, said what stands right before each of these, and may be seen."""
    own = TURNS_LISTED.format(columns="t.node, t.session, t.position")
    parts = (
        f"SELECT o.node, n.name, {place} AS place, n.id AS other FROM ({own}) o CROSS JOIN {table} t"
        f" ON t.tenant = :t AND t.session = o.session AND t.position = o.position - 1{SEATS}"
        f" WHERE o.position > 0 AND {view.seen()}"
        for place, table in enumerate(TURN_TABLES)
    )
    rows = view.query(f"{' UNION ALL '.join(parts)} ORDER BY place, other, 1", among=listed(nodes))
    return {node: fold(name) for node, name, _, _ in rows if role_of(name) != "assistant"}


def not_yet(view: View, lines: Collection[int]) -> tuple[int, ...]:
    """What is dated ahead of the clock: nothing new will tell when its time has come."""
    if not lines:
        return ()
    rows = view.query(
        "SELECT DISTINCT b.line FROM json_each(:among) j CROSS JOIN beliefs b ON b.tenant = :t AND b.line = j.value"
        f" WHERE b.kt = :forever AND b.vf > :v AND {view.scoped('b')} ORDER BY b.line",
        among=listed(lines),
    )
    return tuple(row[0] for row in rows)


def newest_of(view: View, speaker: str, after: int, most: int) -> list[int]:
    """The newest lineages that somebody said after one of them, oldest first."""
    tables = TURN_TABLES if view.whole else TURN_TABLES[:1]
    found = {line for table in tables for line in _newest_in(view, table, speaker, after, most)}
    return sorted(found)[-most:]


def _newest_in(view: View, table: str, speaker: str, after: int, most: int) -> list[int]:
    """Of one table; whether they may be seen is asked of the newest alone, and of older ones where too few may."""
    reach = most + BESIDE
    while True:
        nodes = view.query(
            f"SELECT x.node FROM {table} x WHERE x.tenant = :t AND x.speaker = :speaker AND x.node > :after"
            " ORDER BY x.node DESC LIMIT :reach",
            speaker=speaker, after=after, reach=reach,
        )  # fmt: skip
        if not nodes:
            return []
        rows = view.query(
            f"SELECT n.line FROM json_each(:among) j CROSS JOIN {table} t ON t.tenant = :t AND t.node = j.value{SEATS}"
            f" WHERE n.line > :after AND {view.seen()} ORDER BY t.node DESC, b.id LIMIT :most",
            among=listed(row[0] for row in nodes), after=after, most=most,
        )  # fmt: skip
        if len(rows) == most or len(nodes) < reach:
            return [row[0] for row in rows]
        reach *= 4


def backwards(view: View, within: tuple[Instant, Instant], most: int, batch: int = 1000) -> Iterator[Uttered]:
    """What was said within some time, newest first, batch by batch, until `most` were looked at."""
    at, row, seen = within[1], 1 << 62, 0
    while seen < most:
        rows = view.query(
            "SELECT b.vf, b.id, b.line, n.id, n.name, (SELECT s.name FROM events e"
            " CROSS JOIN nodes s ON s.tenant = e.tenant AND s.id = e.session WHERE e.tenant = :t AND e.node = n.id)"
            " FROM beliefs b CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
            " WHERE b.tenant = :t AND b.type = 'Turn' AND b.vf >= :low AND b.vf <= :at AND (b.vf < :at OR b.id < :row)"
            f" AND b.vf < :high AND {view.seen()} ORDER BY b.vf DESC, b.id DESC LIMIT :batch",
            low=within[0], high=within[1], at=at, row=row, batch=batch,
        )  # fmt: skip
        yield from (Uttered(*found) for found in rows)
        if len(rows) < batch:
            return
        at, row, seen = rows[-1][0], rows[-1][1], seen + len(rows)


def landmarks_among(view: View, nodes: Collection[int]) -> list[int]:
    """The lineages of those in which sleep found a landmark, in the order of their versions."""
    return view.column(
        "SELECT n.line FROM json_each(:among) j CROSS JOIN scores s ON s.tenant = :t AND s.node = j.value"
        " AND s.name = 'landmark' CROSS JOIN nodes n ON n.tenant = s.tenant AND n.id = s.node ORDER BY s.node",
        among=listed(nodes),
    )


def how_many(view: View) -> int:
    """How many texts this tenant has."""
    rows = view.query("SELECT texts FROM tenants WHERE tenant = :t")
    return int(rows[0][0]) if rows else 0
