"""What follows from the rows that the log vouches for: compared with what is stored, and made anew.

Words, described texts, labels and counts are recomputed from the texts. Vectors cannot be: those that
nobody could compare (not numbers, of another length, of texts that are gone) are told and dropped, and
embedding makes them again.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from worldline.clock import Interval
from worldline.lexicon import STANDING
from worldline.model import NodeDraft
from worldline.ports import Row, Store, View
from worldline.rules.describe import APART, INSTRUCTS, Described, role_in
from worldline.store import counting, erasing, indexing, nights, packing, words
from worldline.store.held import length_of, same_embedder
from worldline.store.indexing import (
    UNDESCRIBED,
    described,
    embedder_of,
    has_its_seal,
    is_silent,
    packed,
    seen_as,
    sizes,
    words_of,
)
from worldline.store.schema import COLUMNS, KEYED, VECTORS, WORDS_PER_NODE, block_key
from worldline.store.view import label_value, metadata_from
from worldline.text import PASSAGE

if TYPE_CHECKING:
    from worldline.store.tx import Tx

Query = Callable[..., list[Row]]
WORDS = ("words", "fresh_words", "words_total")
_AT_ONCE = 500
"""Vectors that are read and looked at together: so few that their numbers lie in the processor's cache."""
_DECODER = msgspec.msgpack.Decoder(Described)


class IndexedText(NamedTuple):
    """A stored version, as it is indexed."""

    node: int
    line: int
    world: int
    draft: NodeDraft


def texts(query: Query, tenant: int) -> Iterator[IndexedText]:
    """Every version of a tenant."""
    since: dict[int, int] = dict(
        query(
            "SELECT b.node, b.vf FROM beliefs b WHERE b.tenant = :t AND b.id = (SELECT min(f.id) FROM beliefs f"
            " WHERE f.tenant = :t AND f.line = b.line AND f.node = b.node)",
            {"t": tenant},
        )
    )
    rows = query(
        "SELECT id, line, world, type, name, content, metadata, scope, made FROM nodes WHERE tenant = :t ORDER BY id",
        {"t": tenant},
    )
    for node, line, world, type_, name, content, metadata, scope, made in rows:
        draft = NodeDraft(
            type_, name, content, valid=Interval(since.get(node, 0)), world=world, metadata=metadata_from(metadata),
            scope=scope, made=made,
        )  # fmt: skip
        yield IndexedText(node, line, world, draft)


def owners(query: Query, tenant: int) -> dict[int, str]:
    """The tokens of everybody who believes in each version, as the words index has them."""
    tokens: dict[int, list[str]] = {}
    kinds = ("user", "agent", "app", "run")
    for part_of, *values in query(
        'SELECT part_of, "user", agent, app, run FROM scopes WHERE tenant = :t ORDER BY id', {"t": tenant}
    ):
        pairs = zip(kinds, values, strict=True)
        tokens.setdefault(part_of, []).extend(
            words.owner_token(kind, value) for kind, value in pairs if value
        )
    believed: dict[int, tuple[int, ...]] = {}
    for node, scope in query(
        "SELECT DISTINCT node, scope FROM beliefs WHERE tenant = :t ORDER BY node, scope", {"t": tenant}
    ):
        believed[node] = (*believed[node], scope) if node in believed else (scope,)
    told = {
        scopes: " ".join(
            dict.fromkeys([f"t{tenant}", *chain.from_iterable(tokens.get(s, ()) for s in scopes)])
        )
        for scopes in set(believed.values())
    }
    return {node: told[scopes] for node, scopes in believed.items()}


# Comparing --------------------------------------------------------------------------------------------


class Fault(NamedTuple):
    """Something derived that does not follow from what it is derived of."""

    where: str
    what: str


class Derived:
    """What texts should have been made into, gathered in one look at all of them."""

    def __init__(self, query: Query, tenant: int, language: str) -> None:
        self._query, self._tenant, self._language = query, tenant, language
        self._placed = _placed(query, tenant)
        self._lost, self._wrong = 0, dict[str, Fault]()
        self._words: list[Fault] | None = None
        self.indexed: list[tuple[int, str, str, str]] = []
        whose = owners(query, tenant)
        for text in texts(query, tenant):
            told = self._look(text)
            if not is_silent(text.draft.type, text.draft.made):
                owner = whose.get(text.node, f"t{tenant}")
                self.indexed += told_words(text, told, owner, language) or words_of(
                    text.node, text.draft, owner, language
                )

    def _look(self, text: IndexedText) -> bytes | None:
        """Compares its description and place, of each table until one is wrong; the description, if it is sealed."""
        held = self._placed.pop(text.node, None)
        if held is None:
            if text.draft.type == "Turn" and text.draft.content:  # without words it was forgotten
                self._lost = self._lost or text.node
            return None
        described = bytes(held[-1])
        is_sealed = has_its_seal(text.draft, described)
        if held[0] not in self._wrong and (what := _mistaken(text, held, is_sealed)):
            self._wrong[held[0]] = Fault(f"description of node row {text.node}", what)
        return described if is_sealed else None

    def wrong_words(self) -> list[Fault]:
        """What of the words index is not what the texts say; where anything is, the texts are cut anew to tell."""
        if self._words is None:
            self._words = list(_wrong_words(self._query, self._tenant, self.indexed))
            if self._words:
                self.indexed = self._cut_anew()
                self._words = list(_wrong_words(self._query, self._tenant, self.indexed))
        return self._words

    def _cut_anew(self) -> list[tuple[int, str, str, str]]:
        """The words of all texts as they are cut today, whatever was kept of them."""
        whose = owners(self._query, self._tenant)
        return [
            row
            for text in texts(self._query, self._tenant)
            if not is_silent(text.draft.type, text.draft.made)
            for row in words_of(
                text.node, text.draft, whose.get(text.node, f"t{self._tenant}"), self._language
            )
        ]

    def others(self) -> Iterator[Fault]:
        """What of descriptions, places and vectors is not; each kind once."""
        if self._lost:
            where = f"description of node row {self._lost}"
            yield Fault(where, "it is missing, and with it its place in its session")
        for node, (table, *_) in self._placed.items():  # whose text there is not
            self._wrong.setdefault(table, Fault(f"description of node row {node}", _NOT_ITS))
        yield from self._wrong.values()
        yield from _wrong_seats(self._query, self._tenant)
        for _, row in unusable(self._query, self._tenant, {row[0] for row in self.indexed})[:1]:
            yield Fault(f"vector row {row}", "nobody can compare it; worldline reindex drops it")


_MARKED = re.compile(r" [.()]")
"""What a description has between the words of a text."""
_CUT_OTHERWISE = re.compile(r"^\s|\d\.\d")
"""Where the words of a text are not those of its sentences, as a number in which one seems to end, or begin late."""


def told_words(
    text: IndexedText, described: bytes | None, owner: str, language: str
) -> list[tuple[int, str, str, str]]:
    """The row of a text in the words index, of its own description, which spares cutting it into words again.

    Nothing for whatever may be cut otherwise: what is long, is written in other letters, or has a caption.
    """
    draft = text.draft
    if described is None or language != "english" or draft.type in APART or draft.metadata:
        return []
    if len(draft.content) > PASSAGE or not (draft.content.isascii() and draft.name.isascii()):
        return []
    if _CUT_OTHERWISE.search(draft.content):
        return []
    told = _DECODER.decode(described)
    kinds = told.kinds.strip()
    if told.flags & INSTRUCTS and draft.type == "Turn" and role_in(draft) != "assistant":
        kinds = f"{kinds} {STANDING}".lstrip()
    return [(text.node * WORDS_PER_NODE, owner, _MARKED.sub("", told.words).strip(), kinds)]


def _wrong_words(query: Query, tenant: int, expected: list[tuple[int, str, str, str]]) -> Iterator[Fault]:
    cold = words.rows_of(query, tenant, cold=True)
    waiting = {row[0]: row for row in words.waiting_texts(query, tenant)}
    by_row = {row[0]: row for row in expected}
    for row, stored in sorted(waiting.items()):
        if row in by_row and words.postings_of(stored) != words.postings_of(by_row[row]):
            yield Fault(f"words of node row {row // WORDS_PER_NODE}", "they are not those of its text")
            break
    for is_cold in (False, True):
        chosen = [row for row in expected if row[0] not in waiting and (row[0] in cold) == is_cold]
        held = words.held(query, tenant, cold=is_cold)
        if held != words.lists_of(chosen):
            yield Fault(
                "the words index", f"its {'archived ' if is_cold else ''}lists are not those of the texts"
            )
    totals = {row[0]: tuple(row[1:]) for row in query(
        "SELECT cold, texts, tokens, fresh FROM words_total WHERE tenant = :t", {"t": tenant})}  # fmt: skip
    for is_cold in (False, True):
        chosen = [row for row in expected if (row[0] in cold) == is_cold]
        counted = len(chosen), sum(map(length_of, chosen)), 0 if is_cold else len(waiting)
        if totals.get(int(is_cold), (0, 0, 0)) != counted:
            yield Fault("the words index", "its totals are not those of the texts")
    told = query("SELECT texts, tokens FROM tenants WHERE tenant = :t", {"t": tenant})
    if told and tuple(told[0]) != sizes(expected):
        yield Fault("the words index", "the tenant's counts are not those of the texts")


_NOT_ITS, _NOT_HERE = "it is not that of its text", "its place is not that of its text"


def _placed(query: Query, tenant: int) -> dict[int, Row]:
    """The descriptions of all texts, each with its table first, then its place."""
    return {
        node: (table, *rest)
        for table in ("cold_texts", "texts")
        for node, *rest in query(
            f"SELECT node, session, position, speaker, role, said_at, described FROM {table} WHERE tenant = :t"
            " ORDER BY node",
            {"t": tenant},
        )
    }


def _mistaken(text: IndexedText, held: Row, is_sealed: bool) -> str:
    """What is wrong with the description of a text; empty where nothing is."""
    _, session, position, *rest = held
    if not _is_described(text, (*rest[:3], bytes(rest[3])), is_sealed):
        return _NOT_ITS
    seat = (text.world or text.node) if text.draft.type == "Turn" else (text.draft.world or text.node)
    alone = text.draft.type != "Turn" or not text.world
    astray = session != seat or (alone and position != -2 * text.node) or (not alone and position < 0)
    return _NOT_HERE if astray else ""


def _without_place(query: Query, tenant: int, everything: list[IndexedText]) -> list[IndexedText]:
    """The turns that a session would miss; any other description is made when it is asked for."""
    placed = {
        row[0]
        for table in ("texts", "cold_texts")
        for row in query(f"SELECT node FROM {table} WHERE tenant = :t", {"t": tenant})
    }
    return [text for text in everything if text.draft.type == "Turn" and text.node not in placed]


def _wrong_seats(query: Query, tenant: int) -> Iterator[Fault]:
    """Turns sit in the order in which they were stored; places are free only where something was erased."""
    seats = "SELECT s.session, s.position, s.node FROM {0} s CROSS JOIN nodes n ON n.tenant = :t AND n.id = s.node"
    seats += " WHERE s.tenant = :t AND s.position >= 0 AND n.line = n.id"
    rows = query(
        f"{seats.format('texts')} UNION ALL {seats.format('cold_texts')} ORDER BY 1, 3", {"t": tenant}
    )
    erased = bool(query("SELECT 1 FROM erased WHERE tenant = :t LIMIT 1", {"t": tenant}))
    last: dict[int, int] = {}
    for session, position, node in rows:
        before = last.get(session, -1)
        if position <= before or (position != before + 1 and not erased):
            yield Fault(f"description of node row {node}", _NOT_HERE)
            return
        last[session] = position


def _is_described(text: IndexedText, held: tuple[Any, ...], is_sealed: bool) -> bool:
    """Whether a stored description is its text's: its checksum says so, or the text described anew."""
    if is_sealed:
        return held[:3] == seen_as(text.draft)
    return held == (*seen_as(text.draft), packed(text.draft))


def unusable(query: Query, tenant: int, rows: set[int] | None = None) -> list[tuple[str, int]]:
    """(table, row) of the vectors that are no unit vectors of the usual length, or of no text."""
    widths = Counter[int]()
    for table in VECTORS:
        for length, count, _ in query(
            f"SELECT length(vector), count(*), min(id) FROM {table} WHERE tenant = :t GROUP BY 1 ORDER BY 3",
            {"t": tenant},
        ):
            widths[packing.width_of(bytes(length))] += count
    usual = widths.most_common(1)[0][0] if widths else 0
    bad = []
    for table in VECTORS:
        for some in _vectors(query, tenant, table):
            fine = _are_units([vector for *_, vector in some], usual)
            bad += [
                (table, row)
                for (row, passage, _), is_fine in zip(some, fine, strict=True)
                if not is_fine or (usual and rows is not None and passage not in rows)
            ]
    return bad


def _vectors(query: Query, tenant: int, table: str) -> Iterator[list[Row]]:
    """(row, passage, vector) of all, so many at a time."""
    sql = f"SELECT id, passage, vector FROM {table} WHERE tenant = :t AND id > :last ORDER BY id LIMIT :most"
    last = -(1 << 63)
    while some := query(sql, {"t": tenant, "last": last, "most": _AT_ONCE}):
        yield some
        last = some[-1][0]


def _are_units(vectors: list[bytes], width: int) -> list[bool]:
    """Of each whether it is a unit vector of this width."""
    import numpy as np

    if not width:
        return [False] * len(vectors)
    lengths, nothing = packing.lengths(width), bytes(2 * width)
    whole = [vector if len(vector) in lengths else nothing for vector in vectors]
    numbers = packing.unpacked(whole, width).astype(np.float64)
    norms = np.einsum("ij,ij->i", numbers, numbers)
    return list(((norms > 0.9) & (norms < 1.1)).tolist())


# Making anew ------------------------------------------------------------------------------------------


class Remade(NamedTuple):
    """How many rows were made anew or dropped."""

    words: int
    texts: int
    labels: int
    vectors: int
    """Those that were dropped."""


def reindex(tx: Tx) -> Remade:
    """Makes words, descriptions and labels anew from the texts, and drops vectors that nobody can compare."""
    query = tx.store.query
    tx.store.mend_indexes()
    counting.drop(tx.store, tx.tenant)
    everything = list(texts(query, tx.tenant))
    for table in WORDS:
        tx.query(f"DELETE FROM {table} WHERE tenant = :t")
    index_words(tx)
    indexed = {
        row[0]: row
        for text in everything
        if not is_silent(text.draft.type, text.draft.made)
        for row in words_of(text.node, text.draft, f"t{tx.tenant}", tx.language)
    }
    count, tokens = sizes(indexed.values())
    tx.query(
        "UPDATE tenants SET texts = :texts, tokens = :tokens, moved = moved + 1 WHERE tenant = :t",
        texts=count,
        tokens=tokens,
    )
    texts_, labels = _redescribe(tx, everything), _relabel(tx)
    bad = unusable(query, tx.tenant, set(indexed))
    for table, row in bad:
        tx.query(f"DELETE FROM {table} WHERE tenant = :t AND id = :row", row=row)
    _drop_unsound(tx)
    return Remade(len(indexed), texts_, labels, len(bad))


_PASSES = {"scores": "surprise", "composed": "compose", "profiles": "profiles", "strengths": "uses"}


def _drop_unsound(tx: Tx) -> None:
    """What nights left and somebody changed; the next one counts it anew."""
    for table, key in list(nights.unsound(tx.store.query, tx.tenant)):
        nights.derive(tx.store, table, (), [key])
        tx.query("DELETE FROM sleep WHERE tenant = :t AND pass = :name", name=_PASSES[table])


def _redescribe(tx: Tx, everything: list[IndexedText]) -> int:
    """Places stay where they are sound; of a session whose places are not, all are given anew."""
    wanted = {text.node: text for text in everything}
    count = 0
    lost = _without_place(tx.store.query, tx.tenant, everything)
    if lost:
        blank = [(t.node, tx.tenant, t.world or t.node, 0, "", "people", None, b"") for t in lost]
        tx.store.put("texts", blank)
    bad = bool(lost) or any(True for _ in _wrong_seats(tx.store.query, tx.tenant))
    for table in ("texts", "cold_texts"):
        for node, position in tx.query(f"SELECT node, position FROM {table} WHERE tenant = :t ORDER BY node"):
            text = wanted.get(node)
            if text is None or text.draft.type in UNDESCRIBED or is_silent(text.draft.type, text.draft.made):
                tx.query(f"DELETE FROM {table} WHERE tenant = :t AND node = :node", node=node)
                continue
            count += 1
            alone = text.draft.type != "Turn" or not text.world
            seat = text.world or node
            place = -2 * node if alone else position
            speaker, role, said_at, held = described(text.draft)
            tx.query(
                f"UPDATE {table} SET session = :session, position = :position, speaker = :speaker, role = :role,"
                " said_at = :said_at, described = :described WHERE tenant = :t AND node = :node",
                session=seat, position=place, speaker=speaker, role=role, said_at=said_at, described=held, node=node,
            )  # fmt: skip
    if bad:
        _reseat(tx)
    return count


def _reseat(tx: Tx) -> None:
    rows = [
        (table, *row)
        for table in ("texts", "cold_texts")
        for row in tx.query(
            f"SELECT s.session, s.node, n.line FROM {table} s CROSS JOIN nodes n ON n.tenant = :t AND n.id = s.node"
            " WHERE s.tenant = :t AND s.position >= 0"
        )
    ]
    seats, places = dict[int, int](), dict[int, int]()
    for table, session, node, line in sorted(rows, key=lambda row: (row[1], row[3], row[2])):
        if line == node or line not in places:
            seats[session] = seats.get(session, -1) + 1
            places[line] = seats[session]
        tx.query(
            f"UPDATE {table} SET position = :place WHERE tenant = :t AND node = :node",
            place=places[line],
            node=node,
        )


def _relabel(tx: Tx) -> int:
    given = tx.query(
        "SELECT id, scope, metadata FROM nodes WHERE tenant = :t AND metadata IS NOT NULL UNION ALL"
        " SELECT node, scope, metadata FROM metadata WHERE tenant = :t"
    )
    rows = sorted(
        {
            (tx.tenant, label, label_value(value), node, scope)
            for node, scope, metadata in given
            for label, value in metadata_from(metadata).items()
        }
    )
    tx.query("DELETE FROM labels WHERE tenant = :t")
    if rows:
        tx.store.put("labels", rows)
    return len(rows)


# A whole memory as its rows -----------------------------------------------------------------------
#
# A whole memory as its rows, table by table: told as they are, and put into a store where nothing is yet.
#
# Row numbers, both time axes and the log stay what they were, so that the copy proves itself with the same
# head. Words are indexed anew from the texts; vectors are left to the embedder of the store that takes it in.


TENANT = ("root", "last_known", "sequence", "head", "texts", "tokens")
TABLES: dict[str, tuple[str, ...]] = {
    **{
        table: tuple(column for column in columns if column != "tenant") for table, columns in COLUMNS.items()
    },
    "worlds": ("line", "head", "hash", "digest"),
    "log": ("sequence", "known", "kind", "body", "previous", "hash"),
    "strengths": ("line", "scope", "salience", "reinforced_at", "cold_at", "uses", "useful", "wrong", "seal"),
    "uses": ("id", "line", "scope", "kind", "at"),
    "scores": ("node", "name", "value", "seal"),
    "scorers": ("name", "version", "weight"),
    "sleep": ("owner", "pass", "cursor", "state"),
    "profiles": ("speaker", "scope", "body", "style", "seal"),
}
"""The columns of everything that is told; what is archived is told among the other texts."""
_HASHES = {
    "tenants": ("head",), "nodes": ("hash",), "edges": ("hash",), "events": ("key",), "proposals": ("hash",),
    "worlds": ("hash",), "world_hashes": ("hash",), "log": ("previous", "hash"), "origins": ("store",),
}  # fmt: skip
"""Columns of bytes that are told as hex digits, as ids are."""
_PACKED = {
    "events": ("reading",), "texts": ("described",), "worlds": ("digest",), "log": ("body",),
    "profiles": ("style",), "erased": ("rows", "kept"),
}  # fmt: skip
"""Columns of bytes that are told in base 64."""
_KEYS = {"labels": "label, value, node, scope", "wordings": "object, key, kind", "blocks": "key, line",
         "worlds": "line", "log": "sequence", "strengths": "line", "scores": "node, name", "scorers": "name",
         "sleep": "owner, pass", "profiles": "speaker, scope", **KEYED}  # fmt: skip


class RowOf(NamedTuple):
    """A row of a table: its columns by name, bytes as text."""

    table: str
    values: dict[str, Any]


_MADE_AGAIN = ", ".join(f"'{name}'" for name in ("compose", *counting.PASSES))
"""Passes whose work is made again: with the vectors, and when somebody asks how much there is."""


def _columns(table: str) -> str:
    return ", ".join(f'"{column}"' for column in TABLES[table])


# Telling --------------------------------------------------------------------------------------------


def tenant_of(view: View) -> RowOf | None:
    """Where a memory stands: its root, its last known time and the head of its log."""
    rows = view.query(f"SELECT {', '.join(TENANT)} FROM tenants WHERE tenant = :t")
    return RowOf("tenants", _told("tenants", TENANT, rows[0])) if rows else None


def rows_of(view: View) -> Iterator[RowOf]:
    """Every row of a memory, table by table."""
    for table, columns in TABLES.items():
        source = f"SELECT {_columns(table)} FROM {table} WHERE tenant = :t"
        if table == "texts":
            source += f" UNION ALL SELECT {_columns(table)} FROM cold_texts WHERE tenant = :t"
        if table == "sleep":
            source += f" AND pass NOT IN ({_MADE_AGAIN})"
        for row in view.query(f"{source} ORDER BY {_KEYS.get(table, 'id')}"):
            yield RowOf(table, _told(table, columns, row))


def _told(table: str, columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    values = dict(zip(columns, row, strict=True))
    for column in _HASHES.get(table, ()):
        values[column] = values[column].hex()
    for column in _PACKED.get(table, ()):
        values[column] = None if values[column] is None else b64encode(values[column]).decode()
    return values


# Taking in ------------------------------------------------------------------------------------------


def read_row(table: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A told row as it is stored; KeyError, TypeError or ValueError where it is none."""
    columns = TENANT if table == "tenants" else TABLES[table]
    row = {column: values.get(column, 0) if column == "seal" else values[column] for column in columns}
    for column in _HASHES.get(table, ()):
        row[column] = bytes.fromhex(row[column])
    for column in _PACKED.get(table, ()):
        row[column] = None if row[column] is None else b64decode(row[column], validate=True)
    if table == "blocks":
        row["key"] = block_key(row["key"])
    return tuple(row.values())


def put_rows(
    store: Store, name: str, tenant: Sequence[Any], rows: Mapping[str, Sequence[Sequence[Any]]]
) -> int:
    """Puts told rows in the place of an empty memory, inside a write transaction; the tenant's number."""
    number = store.number(name)
    for table in (*TABLES, "cold_texts", "composed", "words", "fresh_words", "words_total"):
        store.execute(f"DELETE FROM {table} WHERE tenant = :t", {"t": number})
    store.execute(
        f"INSERT INTO tenants (tenant, name, {', '.join(TENANT)})"
        f" VALUES (:t, :name, {', '.join(f':{column}' for column in TENANT)}) ON CONFLICT (tenant) DO UPDATE SET"
        f" {', '.join(f'{column} = excluded.{column}' for column in TENANT)}",
        {"t": number, "name": name, **dict(zip(TENANT, tenant, strict=True))},
    )
    for table, columns in TABLES.items():
        store.insert(
            f"INSERT INTO {table} (tenant, {_columns(table)}) VALUES (?{', ?' * len(columns)})"
            " ON CONFLICT DO NOTHING",
            [(number, *row) for row in rows.get(table, ())],
        )
    return number


def index_words(tx: Tx) -> list[int]:
    """Makes every text findable by its words, and moves what is archived aside; the nodes that have words."""
    nodes = tx.query(
        "SELECT id, type, name, content, metadata, scope, made FROM nodes WHERE tenant = :t ORDER BY id"
    )
    found, texts = [], []
    for key, type_, name, content, metadata, scope, made in nodes:
        draft = NodeDraft(type_, name, content, metadata=metadata_from(metadata), scope=scope, made=made)
        if not is_silent(type_, made):
            texts += words_of(key, draft, tx.owner_of(key), tx.language)
            found.append(key)
    tx.words().add(texts)
    archived = tx.query(
        "SELECT DISTINCT line FROM marks WHERE tenant = :t AND kind = :kind AND kt = :forever ORDER BY line",
        kind=indexing.ARCHIVED,
    )
    for (line,) in archived:
        indexing.freeze(tx, line)
    return found


# What is wrong with a store that can be seen without proving every hash, and what mends it --------


class Ailment(NamedTuple):
    """Something wrong (`bad`) or left to do (`note`)."""

    state: str
    about: str
    told: str


def ailments(store: Store, tenant: int, embedder: str | None) -> tuple[Ailment, ...]:
    """Everything that is wrong, worst first; `embedder` is the one that would be asked today."""
    found = [
        Ailment("bad", "file", f"{problem}; worldline restore BACKUP puts a backup in its place")
        for problem in store.problems()
    ]
    if missing := store.missing_indexes():
        found.append(Ailment("bad", "indexes", f"{', '.join(missing)} missing; worldline reindex makes them"))
    if bad := unusable(store.query, tenant):
        found.append(
            Ailment(
                "bad",
                "vectors",
                f"{len(bad):,} cannot be compared with others; worldline reindex makes them anew",
            )
        )
    known = embedder_of(store, tenant)
    if known is not None and embedder is not None and not same_embedder(known, embedder):
        found.append(
            Ailment(
                "bad",
                "embedder",
                f"vectors are of {known}, the setting is {embedder}; worldline reembed makes them anew",
            )
        )
    if erasing.is_unswept(store, tenant):
        found.append(
            Ailment("bad", "pages", "they may hold what was erased; worldline sleep rewrites the file")
        )
    return tuple(found)
