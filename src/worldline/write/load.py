"""Loading many notes and links as one changeset: the same rules and handlers, in one transaction.

Links name notes of the same load by their place in it, or stored memories by their id.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct

from worldline.clock import Interval, When, instant
from worldline.config import Config
from worldline.errors import InvalidInput
from worldline.handle import Handle, Place
from worldline.inputs import clean_interval, clean_metadata
from worldline.model import EdgeDraft, Metadata, NodeDraft, Receipt
from worldline.ports import Tx
from worldline.rules import handlers
from worldline.store import registry
from worldline.write.put import note
from worldline.write.redact import likely, redact, screened

_BATCH = 20_000
_TOGETHER = 256
"""Items that are looked through for hints of secrets at once."""
T = TypeVar("T")


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
    store, secrets = handle.store, list[str]()
    with _without_collector(), store.bulk(), handle.changeset("load", fresh=True) as (tx, place):
        if tx.fresh:
            store.drop_indexes()
        if handle.config.redact:
            notes, links = _plain(notes, Note, secrets), _plain(links, Link, secrets)
        ids = load(tx, place, notes, links, handle.config, agent=handle.agent)
        tx.flush()
        if tx.fresh:
            store.make_indexes()
    made = tuple(id_.hex() for id_ in ids)
    return Receipt("load", None, not tx.ledger.empty, tx.stamp, redacted=tuple(secrets), ids=made)


def _plain(items: Iterable[T], kind: type[T], secrets: list[str]) -> Iterator[T]:
    """What is to be loaded, without secrets; what hundreds together give no hint of is looked for in none of them."""
    each = _all(items, kind)
    while some := list(islice(each, _TOGETHER)):
        held = [_texts(item) for item in some]
        shapes = likely([text for texts in held for text in texts or ()])
        for item, texts in zip(some, held, strict=True):
            if texts is None or (shapes and texts and any(redact(text, shapes)[1] for text in texts)):
                item, found = screened(item)
                secrets += found
            yield item


def _texts(item: Any) -> tuple[str, ...] | None:
    """The texts of an item that holds no others; None where every value of it has to be looked at."""
    texts = (item.name, item.content) if type(item) is Note else ()
    return None if item.metadata or any(type(text) is not str for text in texts) else texts


@contextmanager
def _without_collector() -> Iterator[None]:
    """A load makes millions of small values and no cycles; looking for cycles would cost a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Batch(Struct):
    """What every item of a load needs."""

    tx: Tx
    place: Place
    now: Interval
    limit: int
    allowed: frozenset[str]
    keys: list[int] = []

    def put(self, item: Note) -> int:
        if item.type not in self.allowed:
            handlers.require(item.type, sorted(self.allowed), "type of note")
        place = self.place
        if item.inside is not None:
            place = Place(self.at(item.inside), place.session, place.scope)
        dated = None if item.dated is None else instant(item.dated)
        draft = NodeDraft(item.type, item.name, item.content, self.valid(item), dated)
        return note(self.tx, draft, place, self.limit, item.metadata)[0]

    def link(self, item: Link) -> None:
        self.tx.link(
            EdgeDraft(
                self.at(item.src),
                item.type,
                self.at(item.dst),
                self.valid(item),
                self.place.scope,
                clean_metadata(item.metadata) if item.metadata else {},
            )
        )

    def valid(self, item: Note | Link) -> Interval:
        if item.valid_from is None and item.valid_to is None:
            return self.now
        return clean_interval(item.valid_from, item.valid_to, self.now.start)

    def at(self, place: int) -> int:
        if type(place) is int and 0 <= place < len(self.keys):
            return self.keys[place]
        raise InvalidInput(f"there is no note at place {place} of this load")


def _all(items: Iterable[T], kind: type[T]) -> Iterator[T]:
    if not isinstance(items, Iterable):
        raise InvalidInput(f"a load takes many {kind.__name__}(…), not {items!r}")
    for item in items:
        if type(item) is not kind:
            raise InvalidInput(f"a load takes {kind.__name__}(…), not {item!r}")
        yield item


def load(
    tx: Tx,
    place: Place,
    notes: Iterable[Note],
    links: Iterable[Link],
    config: Config,
    *,
    agent: bool,
) -> list[bytes]:
    """The ids of the notes, in order."""
    allowed = frozenset(registry.node_types(tx, place.world, agent=agent))
    batch = _Batch(tx, place, Interval(tx.stamp), config.max_text, allowed)
    for number, item in enumerate(_all(notes, Note)):
        batch.keys.append(batch.put(item))
        if number % _BATCH == 0:
            tx.flush()
    tx.flush()
    known: set[str] = set()
    for number, link in enumerate(_all(links, Link)):
        if link.type not in known:
            _require_loadable(tx, link.type, place, agent)
            known.add(link.type)
        batch.link(link)
        if number % _BATCH == 0:
            tx.flush()
    return [tx.id_of(key) for key in batch.keys]


def _require_loadable(tx: Tx, type_: str, place: Place, agent: bool) -> None:
    registry.edge_type(tx, type_, place.world, agent=agent)
    if type_ in ("fact", "supersedes", "same_as"):
        raise InvalidInput(f"{type_} edges are written one by one, with link()")
