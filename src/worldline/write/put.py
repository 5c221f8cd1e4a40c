"""Putting memories: notes, sessions, verbatim events and entities.

Everything here is idempotent: the same payload in the same scope is one memory, and the second
write says that nothing changed.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, Instant, Interval, moment
from worldline.errors import Conflict, InvalidTime
from worldline.handle import Handle, Place
from worldline.hashing import event_id, node_id, record_id
from worldline.inputs import clean_metadata, clean_name, clean_text
from worldline.model import EdgeDraft, Event, Metadata, NodeDraft
from worldline.ports import Tx
from worldline.rules import ontology
from worldline.store import erasing, events, naming, registry
from worldline.text import fold, unsigned


class ToldBy(Struct, frozen=True):
    """The event that something was drawn from, if any: its key and when it was said."""

    event: int = 0
    said_at: Instant | None = None
    by: tuple[tuple[str, str], ...] = ()
    """Who read it there, if no rule did: the model and the hash of its prompt."""


def session_world(tx: Tx, name: str, place: Place) -> int:
    """The world of a session; the same name in another scope is another session."""
    draft = NodeDraft(
        "Session", clean_name(name, "session"), events.scope_key(tx, place.scope),
        valid=Interval(EARLIEST), world=place.world, scope=place.scope,
    )  # fmt: skip
    draft.id = node_id(
        draft.type, draft.name, draft.content, None, tx.id_of(place.world) if place.world else None
    )
    return events.session_of(tx, draft.id, place.scope) or tx.put(draft)[0]


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
    described: bytes | None = None
    """How recall will see it."""


def append_event(tx: Tx, event: Event, place: Place, limit: int, known: AtHand) -> tuple[events.Stored, bool]:
    """Stores a verbatim event; the event as it is stored, and whether it is new."""
    text = clean_text(event.text, "text", limit)
    sender = clean_name(event.speaker, "speaker") if event.speaker else ""
    said_at, offset = (known.undated or tx.stamp, 0) if event.said_at is None else moment(event.said_at)
    if said_at == FOREVER:
        raise InvalidTime("nothing is said at the end of time; give the moment it was said")
    session = event.session or place.session
    world = session_world(tx, session, place) if session else place.world
    dated = said_at if event.said_at is not None else None
    key = _event_key(event, place, world, sender, dated, text)
    world_id = tx.id_of(world) if world else None
    id_ = event_id(sender, world_id, said_at, text, event.external_id)
    same = None if events.is_unheard(tx, key, id_) else events.same_event(tx, key)
    stored = events.Stored(
        0, text, sender, event.recipient or "", said_at, offset, known.draft, known.reading
    )
    if same is not None:
        _require_same(tx, same, text)
        stored = replace(stored, said_at=same.said_at)
        id_ = event_id(sender, world_id, same.said_at, text, event.external_id)
        if tx.beliefs(same.node):
            return replace(stored, key=same.node), False  # otherwise it was taken back, and is said again
    node = NodeDraft(
        "Turn", sender, text, valid=Interval(stored.said_at), world=world, scope=place.scope,
        metadata=clean_metadata(event.metadata),
        id=id_, described=known.described,
    )  # fmt: skip
    row, new = tx.put(node)
    if tx.is_new(row) or not events.is_event(tx, row):
        tx.add(
            "events", row, key, sender, event.recipient, stored.said_at, offset, world or None, event.modality,
            event.category, event.source, event.external_id, "pending" if known.draft else "stored", known.draft,
            known.signals, known.reading,
        )  # fmt: skip
    return replace(stored, key=row), new


def _event_key(
    event: Event, place: Place, world: int, sender: str, said_at: Instant | None, text: str
) -> bytes:
    if event.external_id is not None:
        return record_id("external", str(place.scope), clean_text(event.external_id, "external id", 4096))
    when = "" if said_at is None else str(said_at)
    return record_id("event", str(place.scope), str(world), sender, when, text)


def _require_same(tx: Tx, stored: events.Same, text: str) -> None:
    if stored.text != text:
        raise Conflict(
            f"this external id is stored with other text ({tx.id_of(stored.node).hex()[:12]}); "
            "correct that memory, or send the event under another external id"
        )


def name_keys(name: str) -> tuple[str, str]:
    """The folded forms under which a name is found; old files have it without its signs (C++ as C)."""
    return fold(name) or name, unsigned(fold(name))


def entity(tx: Tx, name: str, place: Place) -> tuple[int, bool]:
    """The entity of exactly this name (case, accents, punctuation folded) in this scope; whether it is new."""
    clean = clean_name(name)
    rows = naming.called(tx, name_keys(clean), place.scope)
    for row in rows:
        if fold(row.name) == fold(clean):  # C++ is not C, though old files key it so
            return row.line if row.believed else _believed(tx, row.line, place.scope), False
    key, _ = tx.put(NodeDraft("Entity", clean, valid=Interval(EARLIEST), scope=place.scope))
    if not tx.is_new(key) and tx.name_of(key) != clean:
        erasing.name_again(tx, key, clean)
    add_alias(tx, key, clean, place.scope)
    return key, True


def _believed(tx: Tx, line: int, scope: int) -> int:
    """An entity that was withdrawn or retired, and is spoken of again, is believed again."""
    history = tx.history(line)
    current = [belief for belief, _ in history if belief.known.end == FOREVER]
    if history and not any(tx.stamp in belief.valid for belief in current):
        belief, node = history[-1]
        valid = Interval(tx.stamp) if current else belief.valid
        tx.believe(node.key, line, NodeDraft(node.type, node.name, valid=valid, scope=scope))
    return line


def add_alias(tx: Tx, line: int, name: str, scope: int) -> None:
    """Another name under which an entity is found."""
    tx.add("aliases", fold(name) or name, name, line, scope)


def stated(
    tx: Tx, draft: NodeDraft, place: Place, handle: Handle, metadata: Metadata | None
) -> tuple[int, bool]:
    """Stores a note of a type that this handle may write here."""
    allowed = registry.node_types(tx, place.world, agent=handle.agent)
    draft.type = ontology.require(draft.type, allowed, "type of note")
    return note(tx, draft, place, handle.config.max_text, metadata)


def note(tx: Tx, draft: NodeDraft, place: Place, limit: int, metadata: Metadata | None) -> tuple[int, bool]:
    """Stores a note; an Entity is also found by its name."""
    draft.name = clean_name(draft.name)
    draft.content = clean_text(draft.content, "content", limit, empty=True)
    draft.metadata = clean_metadata(metadata)
    draft.scope = place.scope
    draft.world = 0 if draft.type == "Entity" else place.world
    key, new = tx.put(draft)
    if new and draft.type == "Entity":
        if not tx.is_new(key) and tx.name_of(key) != draft.name and not draft.content:
            erasing.name_again(tx, key, draft.name)
        add_alias(tx, key, draft.name, place.scope)
    if new:
        _replace_others(tx, key, draft)
    return key, new


def _replace_others(tx: Tx, key: int, draft: NodeDraft) -> None:
    """A former version said again takes the place of the one that had replaced it."""
    if key in tx.worlds.appeared:
        return
    for belief, node in tx.history((tx.find(tx.id_of(key)) or (key, key))[1]):
        current = belief.known.end == FOREVER and belief.scope == draft.scope
        if current and node.key != key and draft.valid.start in belief.valid:
            tx.link(EdgeDraft(key, "supersedes", node.key, Interval(draft.valid.start), draft.scope))
