"""Putting memories: notes and entities.

Everything here is idempotent: the same payload in the same scope is one memory, and the second
write says that nothing changed.
"""

from __future__ import annotations

from msgspec import Struct

from worldline.clock import EARLIEST, FOREVER, Instant, Interval
from worldline.handle import Handle, Place
from worldline.inputs import clean_metadata, clean_name, clean_text
from worldline.model import EdgeDraft, Metadata, NodeDraft
from worldline.ports import Tx
from worldline.rules import handlers
from worldline.store import erasing, people, registry
from worldline.text import fold


class ToldBy(Struct, frozen=True):
    """The event that something was drawn from, if any: its key and when it was said."""

    event: int = 0
    said_at: Instant | None = None
    by: tuple[tuple[str, str], ...] = ()
    """Who read it there, if no rule did: the model and the hash of its prompt."""


def entity(tx: Tx, name: str, place: Place) -> tuple[int, bool]:
    """The entity of exactly this name (case, accents, punctuation folded) in this scope; whether it is new."""
    clean = clean_name(name)
    known = people.exactly(tx, clean, place.scope)
    return (met(tx, known, place.scope), False) if known else (new_entity(tx, clean, place), True)


def new_entity(tx: Tx, name: str, place: Place) -> int:
    """An entity of which nobody in this scope has spoken before."""
    key, _ = tx.put(NodeDraft("Entity", name, valid=Interval(EARLIEST), scope=place.scope))
    if not tx.is_new(key) and tx.name_of(key) != name:
        erasing.name_again(tx, key, name)
    add_alias(tx, key, name, place.scope)
    return key


def met(tx: Tx, known: people.Called, scope: int) -> int:
    """A known entity; one that was withdrawn or retired, and is spoken of again, is believed again."""
    return known.line if known.believed else _believed(tx, known.line, scope)


def _believed(tx: Tx, line: int, scope: int) -> int:
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
    draft.type = handlers.require(draft.type, allowed, "type of note")
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
