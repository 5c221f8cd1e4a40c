"""Many notes and links as one changeset, by the same rules and handlers as one by one.

Links name notes of the same load by their place in it. What is plain and new is put as columns (`store/indexing.py`);
whatever is not (a name, a memory that is stored, a type with a handler of its own, a fault) goes one by one, which
also says what is wrong and of which.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from worldline.clock import Interval, When, instant
from worldline.config import Config
from worldline.errors import InvalidInput, WorldlineError
from worldline.handle import Handle
from worldline.hashing import node_ids
from worldline.model import (
    EdgeDraft,
    Metadata,
    NewEdges,
    NewNotes,
    NodeDraft,
    Place,
    Receipt,
    clean_every_name,
    clean_every_text,
    clean_interval,
    clean_metadata,
)
from worldline.rules import handlers
from worldline.store import registry
from worldline.store.tx import Tx
from worldline.write.gate import likely, redact, screened
from worldline.write.given import Link, Note, note

_BATCH = 20_000
_TOGETHER = 1024
"""Items that are looked through for hints of secrets at once."""
_NO_LABELS: Metadata = {}
T = TypeVar("T")


def load_all(handle: Handle, notes: Iterable[Note], links: Iterable[Link]) -> Receipt:
    """One changeset; in an empty store the indexes are made at the end."""
    store, secrets = handle.store, list[str]()
    with _without_collector(), store.bulk(), handle.changeset("load", fresh=True) as (tx, place):
        if tx.fresh:
            store.drop_indexes()
        gone = secrets if handle.config.redact else None
        some = _batches(notes, Note, gone), _batches(links, Link, gone)
        ids = load(tx, place, *some, handle.config, agent=handle.agent)
        tx.flush()
        if tx.fresh:
            store.make_indexes()
    made = tuple(id_.hex() for id_ in ids)
    return Receipt("load", None, not tx.ledger.empty, tx.stamp, redacted=tuple(secrets), ids=made)


def _batches(items: Iterable[T], kind: type[T], secrets: list[str] | None) -> Iterator[list[T]]:
    """The first alone, so that what it has to look up is known to all others, and those many at a time.

    Without secrets, where there is a list for what was taken out.
    """
    if not isinstance(items, Iterable):
        raise InvalidInput(f"a load takes many {kind.__name__}(…), not {items!r}")
    each = iter(items)
    some = list(islice(each, 1))
    while some:
        for item in some:
            if type(item) is not kind:
                raise InvalidInput(f"a load takes {kind.__name__}(…), not {item!r}")
        yield some if secrets is None else _plain(some, secrets)
        some = list(islice(each, _BATCH))


def _plain(items: list[T], secrets: list[str]) -> list[T]:
    """The same without secrets; what hundreds together give no hint of is looked for in none of them."""
    found: list[T] = []
    for start in range(0, len(items), _TOGETHER):
        some: list[Any] = items[start : start + _TOGETHER]
        texts = [text for item in some for text in (item.name, item.content)] if type(some[0]) is Note else []
        are_texts = {*map(type, texts)} <= {str}
        shapes = likely(texts) if are_texts else ()
        for at, item in enumerate(some) if shapes or not are_texts or any(e.metadata for e in some) else ():
            if (
                item.metadata
                or not are_texts
                or any(redact(text, shapes)[1] for text in texts[2 * at : 2 * at + 2])
            ):
                some[at], taken = screened(item)
                secrets += taken
        found += some
    return found


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
    agent: bool
    keys: list[int] = []
    ids: list[bytes] = []
    known: set[str] = set()
    """Types of links that may be written here."""

    def put(self, item: Note) -> None:
        if item.type not in self.allowed:
            handlers.require(item.type, sorted(self.allowed), "type of note")
        place = self.place
        if item.inside is not None:
            place = Place(self.at(item.inside), place.session, place.scope)
        dated = None if item.dated is None else instant(item.dated)
        draft = NodeDraft(item.type, item.name, item.content, self.valid(item), dated)
        self.keys.append(note(self.tx, draft, place, self.limit, item.metadata)[0])
        self.ids.append(self.tx.id_of(self.keys[-1]))

    def put_all(self, items: Sequence[Note]) -> None:
        """The same for many: those that are plain and new as columns, as far as they stand side by side."""
        notes = self._columns(items) if len(items) > 1 else None
        if notes is None:
            for item in items:
                self.put(item)
            return
        known, together = self.tx.stored_among(notes.ids), list[bool]()
        for id_, type_ in zip(notes.ids, notes.types, strict=True):
            together.append(id_ not in known and self.tx.is_plain_note(type_))
            known.add(id_)
        for some, are_new in _runs(together):
            if are_new:
                self._put_run(notes.cut(some))
            else:
                for item in items[some]:
                    self.put(item)

    def _put_run(self, notes: NewNotes) -> None:
        first = self.tx.next_row("nodes")
        self.keys += range(first, first + len(notes.ids))
        self.ids += notes.ids
        worlds = [self.place.world if at is None else self.keys[at] for at in notes.worlds]
        self.tx.put_all(notes._replace(worlds=worlds))

    def _columns(self, items: Sequence[Note]) -> NewNotes | None:
        """What is to be put, its worlds by place; None where something is wrong, which one by one will say."""
        types, called, contents, starts, ends, dated, metadata, inside = zip(
            *map(astuple, items), strict=True
        )
        if {*map(type, types), *map(type, called), *map(type, contents)} != {str}:
            return None
        if not self.allowed.issuperset(types) or not {*map(type, inside)} <= {int, type(None)}:
            return None
        if any(place is not None and not 0 <= place < at for at, place in enumerate(inside, len(self.keys))):
            return None
        try:
            names = clean_every_name(called)
            clean_every_text(contents, "content", self.limit)
            labels = [clean_metadata(each) if each else _NO_LABELS for each in metadata]
            valid, when = (
                self.times(starts, ends),
                [None if each is None else instant(each) for each in dated],
            )
        except WorldlineError:
            return None
        world, scope = self.place.world, self.place.scope
        within = [-1 if type_ == "Entity" else at for type_, at in zip(types, inside, strict=True)]
        payloads = zip(types, names, contents, when, within, strict=True)
        ids = node_ids(payloads, self.ids, self.tx.id_of(world) if world else None)
        return NewNotes(ids, types, names, contents, valid, when, labels, inside, scope)

    def link_all(self, items: Sequence[Link]) -> None:
        """The same for many."""
        edges = self._edge_columns(items) if len(items) > 1 else None
        if edges is None:
            for item in items:
                self.link(item)
            return
        together = self.tx.new_edges(edges.src, edges.types, edges.dst)
        plain = {type_: self.tx.is_plain_edge(type_) for type_ in set(edges.types)}
        if not all(plain.values()):
            together = [new and plain[type_] for new, type_ in zip(together, edges.types, strict=True)]
        for type_ in set(edges.types) - self.known:
            together[edges.types.index(type_)] = False  # there it is looked at whether it may be written here
        for some, are_new in _runs(together):
            if are_new:
                self.tx.link_new(edges.cut(some))
            else:
                for item in items[some]:
                    self.link(item)

    def _edge_columns(self, items: Sequence[Link]) -> NewEdges | None:
        """What is to be linked; None where something is wrong, which one by one will say."""
        src, types, dst, starts, ends, metadata = zip(*map(astuple, items), strict=True)
        if {*map(type, src), *map(type, dst)} != {int} or {*map(type, types)} != {str}:
            return None
        if min(*src, *dst) < 0 or max(*src, *dst) >= len(self.keys):
            return None
        try:
            labels = [clean_metadata(each) if each else _NO_LABELS for each in metadata]
            valid = self.times(starts, ends)
        except WorldlineError:
            return None
        a, b = ([self.keys[at] for at in ends] for ends in (src, dst))
        return NewEdges(a, types, b, valid, labels, self.place.scope)

    def times(self, starts: Sequence[When | None], ends: Sequence[When | None]) -> list[Interval]:
        if starts.count(None) == len(starts) and ends.count(None) == len(ends):
            return [self.now] * len(starts)
        at = self.now.start
        return [
            self.now if a is None and b is None else clean_interval(a, b, at)
            for a, b in zip(starts, ends, strict=True)
        ]

    def require(self, type_: str) -> None:
        if type_ not in self.known:
            registry.edge_type(self.tx, type_, self.place.world, agent=self.agent)
            if type_ in ("fact", "supersedes", "same_as"):
                raise InvalidInput(f"{type_} edges are written one by one, with link()")
            self.known.add(type_)

    def link(self, item: Link) -> None:
        self.require(item.type)
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


def load(
    tx: Tx,
    place: Place,
    notes: Iterable[Sequence[Note]],
    links: Iterable[Sequence[Link]],
    config: Config,
    *,
    agent: bool,
) -> list[bytes]:
    """Puts batch after batch; the ids of the notes, in order."""
    allowed = frozenset(registry.node_types(tx, place.world, agent=agent))
    batch = _Batch(tx, place, Interval(tx.stamp), config.max_text, allowed, agent)
    for some in notes:
        batch.put_all(some)
        tx.flush()
    for others in links:
        batch.link_all(others)
        tx.flush()
    return batch.ids


def _runs(flags: Iterable[bool]) -> Iterator[tuple[slice, bool]]:
    """Which stand side by side and have the same flag."""
    at = 0
    for flag, run in groupby(flags):
        length = sum(1 for _ in run)
        yield slice(at, at + length), flag
        at += length
