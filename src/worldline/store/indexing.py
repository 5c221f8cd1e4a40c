"""What is written so that a text can be found (words, kinds, how recall sees it, vectors), and many notes at once.

All of it is derived from the text and can be made again; words commit with the rows that they describe, vectors come
after them. A lineage that went cold has its index rows moved aside, in all its versions, and moved back when
it is used. Nothing that is believed is touched by that, and what is cold is not decided here; an `archived` mark in
the log does, and is put or ended together with the move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress, repeat
from operator import eq
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import msgspec

from worldline.clock import EARLIEST, FOREVER, Instant, Interval
from worldline.hashing import edges_below, edges_between
from worldline.lexicon import tags_of
from worldline.model import EdgeDraft, EdgeType, Made, Metadata, NewEdges, NewNotes, NodeDraft, Op
from worldline.ports import Row, Store, View
from worldline.rules import handlers
from worldline.rules.describe import APART, caption_of, described_draft, passages_of, role_in
from worldline.store import held, packing, words
from worldline.store.schema import COLUMNS, SILENT, WORDS_PER_NODE
from worldline.store.view import LISTED, SqlView, json_text, listed, metadata_from
from worldline.store.words import archived
from worldline.text import PASSAGE, fold, indexed

if TYPE_CHECKING:
    from worldline.store.ledger import Touched
    from worldline.store.tx import Tx

UNDESCRIBED = SILENT | APART
"""Node types that recall does not rank among texts."""
ALWAYS = Interval(EARLIEST)
_ONE_BY_ONE = APART | {"Turn"}
"""Types of nodes that come with more than their own rows."""


class Indexing(SqlView):
    """The part of a changeset that makes its texts findable, and takes many at once."""

    is_snapshot = False
    language: str
    indexed_nodes: list[int]
    _dirty: bool
    rows: dict[str, list[Row]]
    _words: list[tuple[int, str, str, str]]
    _texts: int
    _tokens: int
    _owners: dict[int, str]
    _seats: dict[int, int]
    _new: dict[int, str]
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

    def _index(self, key: int, draft: NodeDraft) -> None:
        if is_silent(draft.type, draft.made):
            return
        rows = words_of(key, draft, self.owner_in(draft.scope), self.language)
        self._dirty = True
        self._words += rows
        if draft.type not in APART:
            self.indexed_nodes.append(key)
        texts, tokens = sizes(rows)
        self._texts += texts
        self._tokens += tokens

    def words(self) -> words.Index:
        """The words index, with all that this changeset has gathered for it."""
        index = words.Index(self.store, self.tenant)
        if self._words:
            gathered, self._words = self._words, []
            index.add(gathered)
        return index

    def owner_of(self, key: int) -> str:
        """The tokens of everybody who believes in a version."""
        scopes = self.query(
            "SELECT DISTINCT b.scope FROM beliefs b JOIN nodes n ON n.tenant = :t AND n.id = :key AND b.line = n.line"
            " WHERE b.tenant = :t AND b.node = :key ORDER BY b.scope",
            key=key,
        )
        owners = " ".join(self.owner_in(row[0]) for row in scopes or [(0,)])
        return " ".join(dict.fromkeys(owners.split()))

    def _describe(self, key: int, line: int, draft: NodeDraft) -> None:
        """What recall reads of a text instead of the text: derived, and made again when it is missing."""
        session, position = self._seat(key, line, draft)
        turn, known = draft.type == "Turn", draft.findable
        role = known.role if known else role_in(draft)
        described = known.described if known else None
        self._dirty = True
        self.rows["texts"].append(
            (key, self.tenant, session, position, fold(draft.name) if turn else "", role,
             draft.valid.start if turn else None,
             sealed(draft, described or msgspec.msgpack.encode(described_draft(draft, role))))
        )  # fmt: skip

    def _seat(self, key: int, line: int, draft: NodeDraft) -> tuple[int, int]:
        """A turn's session and its place in it; a corrected turn keeps the place; a note sits alone."""
        if draft.type != "Turn" or not draft.world:
            return draft.world or key, -2 * key
        if line != key:
            rows = self.query(
                "SELECT session, position FROM texts WHERE tenant = :t AND node = :line UNION ALL"
                " SELECT session, position FROM cold_texts WHERE tenant = :t AND node = :line",
                line=line,
            )
            if rows:
                return rows[0]
        if draft.world not in self._seats:
            found = [] if draft.world in self._new else self.query(
                "SELECT coalesce(max(position), -1) FROM texts WHERE tenant = :t AND session = :session UNION ALL"
                " SELECT coalesce(max(position), -1) FROM cold_texts WHERE tenant = :t AND session = :session",
                session=draft.world,
            )  # fmt: skip
            self._seats[draft.world] = max([-1, *(int(row[0]) for row in found)])
        self._seats[draft.world] += 1
        return draft.world, self._seats[draft.world]

    def reindex_shared(self, keys: Iterable[int]) -> None:
        """Of these versions, those that a scope believes in which did not put them: they are found from there too."""
        rows = self.query(
            "SELECT n.id, n.type, n.name, n.content, n.metadata, n.made FROM json_each(:among) j"
            " CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value WHERE EXISTS (SELECT 1 FROM beliefs b"
            " WHERE b.tenant = :t AND b.line = n.line AND b.node = n.id AND b.scope <> n.scope) ORDER BY n.id",
            among=listed(keys),
        ) if keys else []  # fmt: skip
        for key, type_, name, content, metadata, made in rows:
            draft = NodeDraft(type_, name, content, metadata=metadata_from(metadata), made=made)
            if not is_silent(type_, made):
                texts = words_of(key, draft, self.owner_of(key), self.language)
                self.words().replace(texts, texts)

    def owner_in(self, scope: int) -> str:
        """Tokens that let the words index leave out other tenants and scopes early."""
        if scope not in self._owners:
            tokens = [f"t{self.tenant}"]
            if scope:
                rows = self.query(
                    'SELECT "user", agent, app, run FROM scopes WHERE tenant = :t AND part_of = :s ORDER BY id',
                    s=scope,
                )
                for values in rows:
                    pairs = zip(("user", "agent", "app", "run"), values, strict=True)
                    tokens += [words.owner_token(kind, value) for kind, value in pairs if value]
            self._owners[scope] = " ".join(tokens)
        return self._owners[scope]

    # Many at once ------------------------------------------------------------------------------
    #
    # Many notes and many edges at once, as the same rows that one by one would make. Whoever loads says what is
    # plain: notes that nobody has stored before, edges of a type whose handler only looks at the two ends, between
    # memories that this changeset began. Then a whole column is made at a time, and what a handler would answer for
    # each is asked once for all that it cannot tell apart. Everything else goes one by one.

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
        owner, plain, rows = self.owner_in(notes.scope), list[bool](), list[held.WaitingText]()
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


# What is derived of a text ------------------------------------------------------------------------


def words_of(key: int, draft: NodeDraft, owner: str, language: str) -> list[tuple[int, str, str, str]]:
    """The rows of a text in the words index, one a passage.

    A fact or a name says again what a text said: its words stand apart, so that they make no word of a text
    commoner than it is.
    """
    found = draft.findable.passages if draft.findable else passages_of(draft, role_in(draft), language)
    if draft.type in APART:
        found = [(words.apart(tokens), "") for tokens, _ in found]
    return [(key * WORDS_PER_NODE + n, owner, tokens, tags) for n, (tokens, tags) in enumerate(found)]


def sizes(rows: Iterable[tuple[int, str, str, str]]) -> tuple[int, int]:
    """How many texts these rows of the words index are, and how many words they have; what stands apart is none."""
    texts = [tokens for _, _, tokens, _ in rows if not tokens.startswith(held.APART)]
    return len(texts), sum(tokens.count(" ") + 1 for tokens in texts)


def seen_as(draft: NodeDraft) -> tuple[str, str, Instant | None]:
    """(speaker, role, moment) of a text, as recall reads them."""
    turn = draft.type == "Turn"
    return fold(draft.name) if turn else "", role_in(draft), draft.valid.start if turn else None


def described(draft: NodeDraft) -> tuple[str, str, Instant | None, bytes]:
    """The same, and its description."""
    return *seen_as(draft), sealed(draft, packed(draft))


def packed(draft: NodeDraft) -> bytes:
    """A description as it is stored, without its seal."""
    return msgspec.msgpack.encode(described_draft(draft, role_in(draft)))


def is_silent(type_: str, made: Made | None) -> bool:
    """Not to be found by its words: a scope, a session, or what sleep cut out of texts which have them."""
    return type_ in SILENT or made is not None


_BARE, _SEALED, _SEAL = b"\x96", b"\x97", b"\xce"
"""MessagePack: a list of six, one of seven, and a number of four bytes."""


def sealed(draft: NodeDraft, described: bytes) -> bytes:
    """A description, and as one more number, which readers pass over, a checksum of it and of what it describes."""
    if described[:1] != _BARE:
        return described
    return _SEALED + described[1:] + _SEAL + _checksum(draft, described[1:])


def has_its_seal(draft: NodeDraft, stored: bytes) -> bool:
    """Whether a description is the one that was once made of this text."""
    known = stored[:1] == _SEALED and stored[-5:-4] == _SEAL
    return known and stored[-4:] == _checksum(draft, stored[1:-5])


def _checksum(draft: NodeDraft, described: bytes) -> bytes:
    caption = caption_of(draft) if draft.metadata else ""
    of = f"{draft.type}\0{draft.name}\0{draft.valid.start}\0{caption}\0{draft.content}"
    return crc32(described, crc32(of.encode("utf-8", "surrogatepass"))).to_bytes(4, "big")


ARCHIVED = "archived"
"""The kind of the mark."""
_TEXTS = ", ".join(COLUMNS["texts"])
_MOVED = "UPDATE tenants SET moved = moved + 1 WHERE tenant = :t"


def is_used(view: View) -> bool:
    """Whether this tenant has anything archived."""
    if view.looked is not None:
        return any(what == 0 and cold and texts for what, cold, texts, *_ in view.looked[1].get(None, ()))
    return bool(view.query("SELECT 1 FROM words_total WHERE tenant = :t AND cold <> 0 AND texts > 0"))


def freeze(tx: Tx, line: int) -> None:
    """Out of the tables that default recall searches."""
    _move(tx, line, "", "cold_")


def thaw(tx: Tx, line: int) -> None:
    """Back into them, with its strength as of now; the next night says when it would be cold again."""
    _move(tx, line, "cold_", "")
    tx.query(
        "UPDATE strengths SET reinforced_at = CASE WHEN reinforced_at < :now THEN :now ELSE reinforced_at END,"
        " cold_at = :now, seal = 0 WHERE tenant = :t AND line = :line",
        now=tx.stamp,
        line=line,
    )


def wake(tx: Tx, line: int) -> bool:
    """Ends every archived mark of a lineage and thaws it; False where none stands."""
    rows = tx.query(
        "SELECT id FROM marks WHERE tenant = :t AND line = :line AND kind = :kind AND kt = :forever",
        line=line,
        kind=ARCHIVED,
    )
    for (row,) in rows:
        tx.end_row("marks", row)
    if rows:
        thaw(tx, line)
    return bool(rows)


def _move(tx: Tx, line: int, source: str, target: str) -> None:
    """All versions of a lineage; a version that lies there already is left alone."""
    versions = tx.query(
        "SELECT id, type, name, content, metadata, made FROM nodes WHERE tenant = :t AND id = :line UNION ALL"
        " SELECT id, type, name, content, metadata, made FROM nodes WHERE tenant = :t AND line = :line AND line <> id",
        line=line,
    )
    for key, type_, name, content, metadata, made in versions:
        low, high = key * WORDS_PER_NODE, (key + 1) * WORDS_PER_NODE
        draft = NodeDraft(type_, name, content, metadata=metadata_from(metadata), made=made)
        if not is_silent(type_, draft.made):
            tx.words().move(words_of(key, draft, tx.owner_of(key), tx.language), cold=bool(target))
        tx.query(
            f"INSERT INTO {target}texts ({_TEXTS}) SELECT {_TEXTS} FROM {source}texts WHERE tenant = :t AND node = :key"
            " ON CONFLICT DO NOTHING",
            key=key,
        )
        tx.query(f"DELETE FROM {source}texts WHERE tenant = :t AND node = :key", key=key)
        tx.query(
            f"INSERT INTO {target}embeddings (id, tenant, passage, vector) SELECT (SELECT coalesce(max(m.id), 0)"
            f" FROM {target}embeddings m WHERE m.tenant = :t) + row_number() OVER (ORDER BY e.passage), e.tenant,"
            f" e.passage, e.vector FROM {source}embeddings e WHERE e.tenant = :t AND e.passage >= :low"
            " AND e.passage < :high ORDER BY e.passage ON CONFLICT DO NOTHING",
            low=low,
            high=high,
        )
        tx.query(
            f"DELETE FROM {source}embeddings WHERE tenant = :t AND passage >= :low AND passage < :high",
            low=low,
            high=high,
        )
    tx.query(_MOVED)


_UNEMBEDDED = "('Scope', 'Session', 'Entity', 'Fact')"
_STATED = "n.made IS NULL AND (n.name <> '' OR n.content <> '')"
"""Not something that sleep made of texts which have vectors themselves, nor something whose words were forgotten."""


_BEGUN = -1
"""No passage: a row that says who makes vectors anew."""


class Text(NamedTuple):
    """A memory whose words are to be embedded."""

    node: int
    type: str
    name: str
    content: str
    metadata: Metadata


def without_vectors(view: View, nodes: Collection[int] | None = None, most: int | None = None) -> list[Text]:
    """The texts (of these nodes, or of all) that have no vector yet."""
    chosen = "nodes n" if nodes is None else "json_each(:among) j CROSS JOIN nodes n ON n.id = j.value"
    first = f"n.id * {WORDS_PER_NODE}"
    rows = view.query(
        f"SELECT n.id, n.type, n.name, n.content, n.metadata FROM {chosen} WHERE n.tenant = :t"
        f" AND n.type NOT IN {_UNEMBEDDED} AND {_STATED}"
        f" AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.tenant = :t AND e.passage = {first})"
        f" AND NOT EXISTS (SELECT 1 FROM cold_embeddings e WHERE e.tenant = :t AND e.passage = {first})"
        f" ORDER BY n.id{'' if most is None else ' LIMIT :most'}",
        **({} if nodes is None else {"among": listed(nodes)}),
        **({} if most is None else {"most": most}),
    )
    return [Text._make((*row[:4], metadata_from(row[4]))) for row in rows]


def embedder_of(store: Store, tenant: int) -> str | None:
    """Who made the vectors of a tenant; None as long as there are none."""
    rows = store.query(
        "SELECT embedder FROM tenants WHERE tenant = :t AND embedder IS NOT NULL", {"t": tenant}
    )
    return str(rows[0][0]) if rows else None


def sign_embedder(store: Store, tenant: int, embedder: str) -> None:
    """Notes who makes the vectors of a tenant, inside the write transaction that keeps the first ones."""
    store.later(
        "UPDATE tenants SET embedder = :identity WHERE tenant = :t", {"identity": embedder, "t": tenant}
    )


def keep_vectors(store: Store, tenant: int, vectors: Sequence[tuple[int, bytes]], after: int = 0) -> None:
    """Vectors by passage, inside a write transaction; those of archived words go to the archive."""
    cold = archived(store, tenant, [passage for passage, _ in vectors])
    for table, is_cold in (("embeddings", False), ("cold_embeddings", True)):
        chosen = [(passage, vector) for passage, vector in vectors if (passage in cold) == is_cold]
        if store.packs:
            chosen = [(passage, packing.packed(vector)) for passage, vector in chosen]
        if chosen:
            ((last,),) = store.query(
                f"SELECT coalesce(max(id), 0) FROM {table} WHERE tenant = :t", {"t": tenant}
            )
            rows = [(max(last, after) + number, tenant, *one) for number, one in enumerate(chosen, 1)]
            store.put(table, rows, ("id", "tenant", "passage", "vector"))


def newest(view: View) -> held.Newest:
    """The newest rows that an index of vectors must know."""
    ((vector, belief, moved),) = view.query(
        "SELECT (SELECT max(id) FROM embeddings WHERE tenant = :t), (SELECT max(id) FROM beliefs WHERE tenant = :t),"
        " (SELECT moved FROM tenants WHERE tenant = :t)"
    )
    return held.Newest(vector or 0, belief or 0, int(moved or 0))


# Another embedder -------------------------------------------------------------------------------------


def begun_by(store: Store, tenant: int) -> str | None:
    """Who makes all vectors anew at the moment, or began to; None for nobody."""
    rows = store.query("SELECT embedder FROM reembedding WHERE tenant = :t LIMIT 1", {"t": tenant})
    return str(rows[0][0]) if rows else None


def begin_anew(store: Store, tenant: int, embedder: str) -> None:
    """Drops what another one had begun and says who begins, inside a write transaction."""
    store.execute(
        "DELETE FROM reembedding WHERE tenant = :t AND embedder <> :embedder",
        {"t": tenant, "embedder": embedder},
    )
    keep_anew(store, tenant, embedder, [(_BEGUN, b"")])


def not_anew(view: View) -> list[Text]:
    """The texts that have no vector of the new embedder yet."""
    rows = view.query(
        f"SELECT n.id, n.type, n.name, n.content, n.metadata FROM nodes n WHERE n.tenant = :t"
        f" AND n.type NOT IN {_UNEMBEDDED} AND {_STATED} AND NOT EXISTS (SELECT 1 FROM reembedding r"
        f" WHERE r.tenant = :t AND r.passage = n.id * {WORDS_PER_NODE}) ORDER BY n.id"
    )
    return [Text._make((*row[:4], metadata_from(row[4]))) for row in rows]


def keep_anew(store: Store, tenant: int, embedder: str, vectors: Sequence[tuple[int, bytes]]) -> None:
    """Vectors beside those that are in use, inside a write transaction."""
    store.insert(
        "INSERT INTO reembedding (tenant, passage, vector, embedder) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(tenant, passage, vector, embedder) for passage, vector in vectors],
    )


def switch_embedder(store: Store, tenant: int, embedder: str) -> None:
    """Puts the new vectors in the place of the old ones, inside a write transaction; worlds are composed anew."""
    whose = {"t": tenant}
    ((last,),) = store.query("SELECT coalesce(max(id), 0) FROM embeddings WHERE tenant = :t", whose)
    made = store.query(
        "SELECT passage, vector FROM reembedding WHERE tenant = :t AND passage >= 0 ORDER BY passage", whose
    )
    for table in ("embeddings", "cold_embeddings", "composed", "reembedding"):
        store.execute(f"DELETE FROM {table} WHERE tenant = :t", whose)
    store.execute("DELETE FROM sleep WHERE tenant = :t AND pass = 'compose'", whose)
    store.execute(
        "UPDATE tenants SET embedder = :embedder, moved = moved + 1 WHERE tenant = :t",
        {**whose, "embedder": embedder},
    )
    keep_vectors(store, tenant, [(row[0], bytes(row[1])) for row in made], after=last)


# Other words ------------------------------------------------------------------------------------------


class WrittenText(NamedTuple):
    """A stored version."""

    node: int
    line: int
    type: str
    name: str
    content: str
    metadata: str | None
    made: Made | None


def written(view: View, nodes: Collection[int]) -> list[WrittenText]:
    """These versions."""
    rows = view.query(
        "SELECT id, line, type, name, content, metadata, made FROM nodes WHERE tenant = :t"
        f" AND id IN {LISTED} ORDER BY id",
        among=listed(nodes),
    )
    return [WrittenText(*row) for row in rows]


def unindex(tx: Tx, nodes: Collection[int]) -> set[int]:
    """Takes the words of these versions out of the index; those that were archived."""
    cold = set[int]()
    for one, draft in _findable(tx, nodes):
        texts = words_of(one.node, draft, tx.owner_of(one.node), tx.language)
        if archived(tx.store, tx.tenant, [texts[0][0]]):
            cold.add(one.node)
        tx.words().remove(texts, cold=one.node in cold)
        _recount(tx, texts, -1)
    return cold


def index(tx: Tx, nodes: Collection[int], cold: Collection[int], since: Instant = 0) -> None:
    """Makes versions findable, and described, as they are now; what is not believed yet will be `since` then."""
    for one, draft in _findable(tx, nodes, since):
        texts = words_of(one.node, draft, tx.owner_of(one.node), tx.language)
        tx.words().replace([], texts)
        _recount(tx, texts)
        if one.node in cold:
            tx.words().move(texts, cold=True)
        speaker, role, said_at, told = described(draft)
        for table in ("texts", "cold_texts"):
            tx.query(
                f"UPDATE {table} SET speaker = :speaker, role = :role, said_at = :said_at, described = :told"
                " WHERE tenant = :t AND node = :node",
                speaker=speaker, role=role, said_at=said_at, told=told, node=one.node,
            )  # fmt: skip


def _findable(tx: Tx, nodes: Collection[int], otherwise: Instant = 0) -> list[tuple[WrittenText, NodeDraft]]:
    """Those of these versions that have words in the index, as they were indexed."""
    since: dict[int, Instant] = {}
    for node, start in tx.query(
        "SELECT b.node, b.vf FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE n.tenant = :t AND n.id IN {LISTED} ORDER BY b.id",
        among=listed(nodes),
    ):
        since.setdefault(node, start)
    return [
        (
            one,
            NodeDraft(
                one.type, one.name, one.content, Interval(since.get(one.node, otherwise)),
                metadata=metadata_from(one.metadata), made=one.made,
            ),
        )
        for one in written(tx, nodes)
        if not is_silent(one.type, one.made)
    ]  # fmt: skip


def _recount(tx: Tx, rows: Sequence[tuple[int, str, str, str]], sign: int = 1) -> None:
    texts, tokens = sizes(rows)
    tx.query(
        "UPDATE tenants SET texts = texts + :texts, tokens = tokens + :tokens WHERE tenant = :t",
        texts=sign * texts,
        tokens=sign * tokens,
    )
