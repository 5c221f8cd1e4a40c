"""Loading many notes and links as one changeset: the same rules and handlers, in one transaction.

Links name notes of the same load by their place in it, or stored memories by their id.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from worldline.clock import When, instant
from worldline.config import Config
from worldline.errors import InvalidInput
from worldline.handle import Handle, Place
from worldline.model import EdgeDraft, Metadata, NodeDraft, Receipt
from worldline.rules import ontology
from worldline.store import registry
from worldline.store.tx import Tx
from worldline.write.check import clean_interval, clean_metadata
from worldline.write.put import note


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
    store = handle.store
    with store.bulk():
        fresh = not store.query("SELECT 1 FROM nodes LIMIT 1")
        with handle.changeset("load", fresh=fresh) as (tx, place):
            if fresh:
                store.drop_indexes()
            ids = load(tx, place, notes, links, handle.config, agent=handle.agent)
            tx.flush()
            if fresh:
                store.make_indexes()
    return Receipt("load", None, bool(ids), tx.stamp, ids=tuple(id_.hex() for id_ in ids))


def load(
    tx: Tx, place: Place, notes: Iterable[Note], links: Iterable[Link], config: Config, *, agent: bool
) -> list[bytes]:
    """The ids of the notes, in order."""
    allowed = frozenset(registry.node_types(tx, place.world, agent=agent))
    keys: list[int] = []
    for item in notes:
        keys.append(_put(tx, item, place, keys, allowed, config))
    known: set[str] = set()
    for link in links:
        if link.type not in known:
            registry.edge_type(tx, link.type, place.world, agent=agent)
            if link.type in ("fact", "supersedes", "same_as"):
                raise InvalidInput(f"{link.type} edges are written one by one, with link()")
            known.add(link.type)
        tx.link(_draft(tx, link, place, keys))
    return [tx.id_of(key) for key in keys]


def _put(tx: Tx, item: Note, place: Place, keys: list[int], allowed: frozenset[str], config: Config) -> int:
    if item.type not in allowed:
        ontology.require(item.type, sorted(allowed), "type of note")
    where = place
    if item.inside is not None:
        where = Place(_at(keys, item.inside), place.session, place.scope)
    draft = NodeDraft(
        item.type, item.name, item.content, clean_interval(item.valid_from, item.valid_to, tx.stamp),
        None if item.dated is None else instant(item.dated),
    )  # fmt: skip
    key, _ = note(tx, draft, where, config.max_text, item.metadata)
    return key


def _draft(tx: Tx, link: Link, place: Place, keys: list[int]) -> EdgeDraft:
    return EdgeDraft(
        _at(keys, link.src), link.type, _at(keys, link.dst),
        clean_interval(link.valid_from, link.valid_to, tx.stamp),
        place.scope, clean_metadata(link.metadata),
    )  # fmt: skip


def _at(keys: list[int], place: int) -> int:
    if not 0 <= place < len(keys):
        raise InvalidInput(f"there is no note at place {place} of this load")
    return keys[place]
