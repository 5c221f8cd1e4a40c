"""What a changeset writes so that a text can be found: its words, its kinds, and how recall sees it.

All of it is derived from the text and can be made again; it commits with the rows that it describes.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import msgspec

from worldline.model import Made, NodeDraft
from worldline.ports import Row
from worldline.rules.describe import APART, caption_of, described_draft, passages_of, role_in
from worldline.store import waiting, words
from worldline.store.schema import SILENT, WORDS_PER_NODE
from worldline.store.view import SqlView, listed, metadata_from
from worldline.text import fold

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
        return " ".join(dict.fromkeys(" ".join(self.owner_in(row[0]) for row in scopes).split()))

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
    texts = [tokens for _, _, tokens, _ in rows if not tokens.startswith(waiting.APART)]
    return len(texts), sum(tokens.count(" ") + 1 for tokens in texts)


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
