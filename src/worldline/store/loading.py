"""Many notes and many edges at once, as the same rows that one by one would make.

Whoever loads says what is plain: notes that nobody has stored before, edges of a type whose handler only looks at the
two ends, between memories that this changeset began. Then a whole column is made at a time, and what a handler would
answer for each is asked once for all that it cannot tell apart. Everything else goes one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, repeat
from operator import eq
from typing import TYPE_CHECKING

from worldline.clock import EARLIEST, FOREVER, Instant, Interval
from worldline.hashing import edges_below, edges_between
from worldline.model import EdgeDraft, EdgeType, NewEdges, NewNotes, NodeDraft, Op
from worldline.ports import Store
from worldline.rules import handlers
from worldline.rules.describe import APART
from worldline.rules.kinds import tags_of
from worldline.store.held import WaitingText
from worldline.store.indexing import Indexing, is_silent, sizes, words_of
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.view import json_text
from worldline.text import PASSAGE, indexed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from worldline.store.ledger import Touched

ALWAYS = Interval(EARLIEST)
_ONE_BY_ONE = APART | {"Turn"}
"""Types of nodes that come with more than their own rows."""


class Loading(Indexing):
    """The part of a changeset that takes many at once."""

    store: Store
    root: int
    stamp: Instant
    fresh: bool
    types: Mapping[str, EdgeType]
    worlds: Touched
    _next: dict[str, int]
    _ids: dict[int, bytes]
    _keys: dict[bytes, tuple[int, int]]
    _parents: dict[int, int | None]
    _parental: set[int]
    _begun: set[int]
    _put_here: dict[int, int]
    _put_at: set[tuple[int, str, int, int, Instant]]
    _linked: set[tuple[int, str, int]]

    if TYPE_CHECKING:  # what the whole changeset has

        def apply(self, ops: Sequence[Op], by: str) -> bool: ...
        def id_of(self, key: int) -> bytes: ...
        def world_of(self, line: int) -> int: ...
        def stored_among(self, ids: Sequence[bytes]) -> set[bytes]: ...
        def _ancestors(self, world: int) -> set[int]: ...
        def _label(self, key: int, draft: NodeDraft) -> None: ...

    # Which are plain ---------------------------------------------------------------------------

    def is_plain_note(self, type_: str) -> bool:
        """Whether a note of this type is only its rows and its words."""
        return type_ not in _ONE_BY_ONE and not is_silent(type_, None)

    def is_plain_edge(self, type_: str) -> bool:
        """Whether the handler of a type only refuses to join a memory with itself."""
        known = self.types.get(type_)
        return known is not None and known.on_insert is handlers.plain

    def new_edges(self, src: Sequence[int], types: Sequence[str], dst: Sequence[int]) -> list[bool]:
        """Of each whether it joins two memories that began here, and nobody put it before."""
        edges = list(zip(src, types, dst, strict=True))
        met, new, linked = set(edges), self._new, self._linked
        apart = len(met) == len(edges) and met.isdisjoint(linked) and not any(map(eq, src, dst))
        if apart and new.keys() >= {*src, *dst}:
            return [True] * len(edges)
        met.clear()
        found = []
        for edge in edges:
            a, _, b = edge
            found.append(a != b and a in new and b in new and edge not in linked and edge not in met)
            met.add(edge)
        return found

    # Notes -------------------------------------------------------------------------------------

    def put_all(self, notes: NewNotes) -> None:
        """Stores and believes them, numbered from the next one on."""
        first = self._next["nodes"] + 1
        keys = list(range(first, first + len(notes.ids)))
        self._next["nodes"] = keys[-1]
        self._new.update(zip(keys, notes.types, strict=True))
        self._parents.update(zip(keys, repeat(None)))
        self._ask_worlds(keys, notes)
        stored = [json_text(metadata) if metadata else None for metadata in notes.metadata]
        self._dirty = True
        self.rows["nodes"] += zip(
            keys, repeat(self.tenant), notes.ids, keys, notes.types, notes.names, notes.contents, notes.dated,
            notes.worlds, stored, repeat(notes.scope), repeat(None),
        )  # fmt: skip
        row = self._next["beliefs"] + 1
        self._next["beliefs"] += len(keys)
        self.rows["beliefs"] += zip(
            range(row, row + len(keys)), repeat(self.tenant), keys, keys, notes.types, repeat(notes.scope),
            [valid.start for valid in notes.valid], [valid.end for valid in notes.valid], repeat(self.stamp),
            repeat(FOREVER), repeat(None), repeat(None), repeat(None), repeat(None),
        )  # fmt: skip
        self._ids.update(zip(keys, notes.ids, strict=True))
        self._keys.update(zip(notes.ids, zip(keys, keys, strict=True), strict=True))
        self._put_here.update(zip(keys, repeat(notes.scope)))
        self._begun.update(keys)
        self.worlds.appeared.update(zip(keys, notes.ids, strict=True))
        self._find_by_words(keys, notes)
        self._contain(keys, notes)

    def _ask_worlds(self, keys: Sequence[int], notes: NewNotes) -> None:
        """Lets the handler say whether each world may hold the first of its newborns; a built-in one may then hold all.

        What is newborn has no parent and no children, so the answer depends on the world alone.
        """
        handler = self.types["contains"].on_insert
        each = handler is not handlers.contains
        seen: set[int] = {0}
        for key, world in zip(keys, notes.worlds, strict=True):
            if world not in seen:
                if world >= keys[0]:
                    self._parents[world] = notes.worlds[world - keys[0]] or None
                if ops := handler(EdgeDraft(world, "contains", key, ALWAYS, notes.scope), self):
                    self.apply(ops, "contains")
                if not each:
                    seen.add(world)

    def _find_by_words(self, keys: Sequence[int], notes: NewNotes) -> None:
        """Their words and labels, and how recall sees them; of a text that is not plain and short as of any other."""
        owner, plain, rows = self.owner_in(notes.scope), list[bool](), list[WaitingText]()
        for at, (content, metadata) in enumerate(zip(notes.contents, notes.metadata, strict=True)):
            plain.append(len(content) <= PASSAGE and not metadata)
            if not plain[-1]:
                rows += words_of(keys[at], self._draft(notes, at), owner, self.language)
        texts = compress(zip(keys, notes.names, notes.contents, strict=True), plain)
        for key, name, content in texts:
            tokens = indexed(f"{name} {content}", self.language)
            rows.append((key * WORDS_PER_NODE, owner, tokens, " ".join(tags_of(tokens.split()))))
        self._words += rows if all(plain) else sorted(rows)
        self.indexed_nodes += keys
        texts_, tokens_ = sizes(rows)
        self._texts += texts_
        self._tokens += tokens_
        for at, metadata in enumerate(notes.metadata):
            if metadata:
                self._label(keys[at], self._draft(notes, at))
        if not self.fresh:
            for at, key in enumerate(keys):
                self._describe(key, key, self._draft(notes, at))

    def _draft(self, notes: NewNotes, at: int) -> NodeDraft:
        return NodeDraft(
            notes.types[at], notes.names[at], notes.contents[at], notes.valid[at], notes.dated[at],
            notes.worlds[at], notes.scope, metadata=notes.metadata[at],
        )  # fmt: skip

    def _contain(self, keys: Sequence[int], notes: NewNotes) -> None:
        """Puts those into their worlds that lie in one."""
        inner = list(compress(keys, notes.worlds))
        if not inner:
            return
        outer = [world for world in notes.worlds if world]
        ids = edges_below([self.id_of(world) for world in outer], list(compress(notes.ids, notes.worlds)))
        row = self._next["edges"] + 1
        self._next["edges"] += len(inner)
        self.rows["edges"] += zip(
            range(row, row + len(inner)), repeat(self.tenant), ids, outer, repeat("contains"), inner, outer,
            repeat(notes.scope), repeat(EARLIEST), repeat(FOREVER), repeat(self.stamp), repeat(FOREVER), repeat(None),
            repeat(None),
        )  # fmt: skip
        self._linked.update(zip(outer, repeat("contains"), inner))
        self._put_at.update(zip(outer, repeat("contains"), inner, repeat(notes.scope), repeat(EARLIEST)))
        self._parents.update(zip(inner, outer, strict=True))
        self._parental.update(outer)

    # Edges -------------------------------------------------------------------------------------

    def link_new(self, edges: NewEdges) -> None:
        """Puts edges whose handler has nothing to say."""
        src, dst, types = edges.src, edges.dst, edges.types
        ids = edges_between(self._ids, src, types, dst)
        worlds = self._owners_of(edges)
        row = self._next["edges"] + 1
        self._next["edges"] += len(ids)
        starts, ends = [valid.start for valid in edges.valid], [valid.end for valid in edges.valid]
        stored = [json_text(metadata) if metadata else None for metadata in edges.metadata]
        self._dirty = True
        self.rows["edges"] += zip(
            range(row, row + len(ids)), repeat(self.tenant), ids, src, types, dst, worlds, repeat(edges.scope),
            starts, ends, repeat(self.stamp), repeat(FOREVER), stored, repeat(None),
        )  # fmt: skip
        self._linked.update(zip(src, types, dst, strict=True))
        lasting = zip(src, types, dst, repeat(edges.scope), starts)
        self._put_at.update(compress(lasting, [end == FOREVER for end in ends]))
        touched: dict[int, list[bytes]] = {}
        for world, id_ in zip(worlds, ids, strict=True):
            if (found := touched.get(world)) is None:
                found = touched[world] = self.worlds.of(world).added
            found.append(id_)

    def _owners_of(self, edges: NewEdges) -> list[int]:
        """The world that each edge belongs to: the lowest that holds both ends, or that of the source."""
        root, above = self.root, dict[int, set[int]]()
        here, there = ([self._parents[end] or root for end in ends] for ends in (edges.src, edges.dst))
        if here == there:
            return here
        for at, (a, b) in enumerate(zip(here, there, strict=True)):
            if a != b and edges.types[at] != "refers_to":
                if a not in above:
                    above[a] = self._ancestors(a)
                while b not in above[a]:
                    b = self._parents.get(b) or self.world_of(b)
                here[at] = b
        return here
