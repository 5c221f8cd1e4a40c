"""What is written so that a text can be found: its words, its kinds, how recall sees it, and its vectors.

All of it is derived from the text and can be made again; words commit with the rows that they describe, vectors come
after them. A lineage that went cold has its index rows moved aside, in all its versions, and moved back when
it is used. Nothing that is believed is touched by that, and what is cold is not decided here; an `archived` mark in
the log does, and is put or ended together with the move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import msgspec

from worldline.clock import Instant
from worldline.model import Made, Metadata, NodeDraft
from worldline.ports import Row, Store, View
from worldline.rules.describe import APART, caption_of, described_draft, passages_of, role_in
from worldline.store import held, packing, words
from worldline.store.schema import COLUMNS, SILENT, WORDS_PER_NODE
from worldline.store.view import SqlView, listed, metadata_from
from worldline.store.words import archived
from worldline.text import fold

if TYPE_CHECKING:
    from worldline.store.tx import Tx

UNDESCRIBED = SILENT | APART
"""Node types that recall does not rank among texts."""


class Indexing(SqlView):
    """The part of a changeset that makes its texts findable."""

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
    of = f"{draft.type}\0{draft.name}\0{draft.valid.start}\0{caption_of(draft)}\0{draft.content}"
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
