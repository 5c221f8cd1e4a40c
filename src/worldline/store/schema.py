"""The tables, their columns, which columns the changeset log vouches for, and what the planner is told of them.

`COLUMNS` drives every insert; `COVERED` names what the log's checksums cover when a row is put
(what the content hashes cover already, such as a node's text, is left out). A known end is covered
by the changeset that closed it. `tenant` comes first in every key, and rows are numbered within a
tenant, so that a tenant's rows can be moved to another store as they are. The definitions are written
once, in SQLite's words; `dialect` says them to another engine. Without figures SQLite takes "of this tenant" for a
choice of ten rows, and then reads a whole table where an index leads to three; so each store carries the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

FORMAT = 7
UNSWEPT = "unswept"
"""With a tenant's number behind it, what `meta` has where that tenant's deleted rows may still lie in pages."""
APPLICATION_ID = 0x574C444E  # "WLDN" in the file's header
WORDS_PER_NODE = 65536
"""A words row is `node * WORDS_PER_NODE + passage`."""

SILENT = frozenset({"Scope", "Session"})
"""Node types whose text is not worth finding by its words."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "nodes": (
        "id",
        "tenant",
        "hash",
        "line",
        "type",
        "name",
        "content",
        "dated",
        "world",
        "metadata",
        "scope",
        "made",
    ),
    "beliefs": (
        *("id", "tenant", "line", "node", "type", "scope", "vf", "vt", "kf", "kt"),
        *("status", "confidence", "precision", "reason"),
    ),
    "edges": (
        *("id", "tenant", "hash", "src", "type", "dst", "world", "scope"),
        *("vf", "vt", "kf", "kt", "metadata", "made"),
    ),
    "events": (
        *("node", "tenant", "key", "sender", "recipient", "said_at", "utc_offset", "session"),
        *("modality", "category", "source", "external_id", "state", "draft", "signals", "reading"),
    ),
    "facts": (
        *("node", "tenant", "subject", "predicate", "object", "literal"),
        *("phrase", "key", "kind", "one", "rank", "dated"),
    ),
    "wordings": ("tenant", "object", "key", "kind", "placed"),
    "blocks": ("tenant", "key", "line"),
    "aliases": ("id", "tenant", "key", "name", "line", "scope"),
    "labels": ("tenant", "label", "value", "node", "scope"),
    "metadata": ("id", "tenant", "node", "scope", "metadata"),
    "texts": ("node", "tenant", "session", "position", "speaker", "role", "said_at", "described"),
    "scopes": ("id", "tenant", "key", "user", "agent", "app", "run", "part_of"),
    "proposals": (
        *("id", "tenant", "hash", "a", "b", "status", "tier", "score", "reason", "scope", "kf", "kt"),
    ),
    "ontology": ("id", "tenant", "world", "kind", "name", "version", "spec", "kf", "kt"),
    "world_hashes": ("id", "tenant", "line", "hash", "kf"),
    "marks": ("id", "tenant", "line", "scope", "kind", "value", "reason", "kf", "kt"),
    "origins": ("id", "tenant", "of", "row", "store", "vf", "vt", "kf", "kt", "noted"),
    "erased": ("id", "tenant", "of", "last", "rows", "kept", "who", "kf"),
}

COVERED: dict[str, tuple[str, ...]] = {
    "nodes": ("id", "hash", "line", "world", "metadata", "scope"),
    "metadata": ("id", "node", "scope", "metadata"),
    "beliefs": (
        *("id", "line", "node", "type", "scope", "vf", "vt", "kf"),
        *("status", "confidence", "precision", "reason"),
    ),
    "edges": ("id", "src", "type", "dst", "world", "scope", "vf", "vt", "kf", "metadata"),
    "events": (
        *("node", "key", "sender", "recipient", "said_at", "utc_offset", "session"),
        *("modality", "category", "source", "external_id"),
    ),
    "facts": (
        *("node", "subject", "predicate", "object", "literal"),
        *("phrase", "key", "kind", "one", "rank", "dated"),
    ),
    "aliases": ("id", "key", "name", "line", "scope"),
    "scopes": ("id", "key", "user", "agent", "app", "run", "part_of"),
    "proposals": ("id", "hash", "a", "b", "status", "tier", "score", "reason", "scope", "kf"),
    "ontology": ("id", "world", "kind", "name", "version", "spec", "kf"),
    "world_hashes": ("id", "line", "hash", "kf"),
    "marks": ("id", "line", "scope", "kind", "value", "reason", "kf"),
    "origins": ("id", "of", "row", "store", "vf", "vt", "kf", "kt", "noted"),
    "erased": ("id", "of", "last", "rows", "kept", "who", "kf"),
}
"""Tables whose rows a changeset vouches for; `labels`, `texts`, `wordings`, `blocks`, the words and
vectors follow from these."""

KEYED = {"events": "node", "facts": "node", "texts": "node"}
"""Tables whose row number is another table's."""

CLOSABLE = ("beliefs", "edges", "proposals", "ontology", "marks")

VECTORS = ("embeddings", "cold_embeddings")
"""Tables of vectors, which stand in the last column (`packing`)."""

UNNUMBERED = ("labels", "wordings", "blocks")
"""Tables without row numbers, in which a row may be there already."""
_STAYS = frozenset((*UNNUMBERED, *VECTORS))
_GIVES_WAY = frozenset(("worlds", "sleep", "scores", "scorers", "strengths", "composed", "profiles"))
"""Tables in which a new row takes the place of the one with its key."""


def quoted(column: str) -> str:
    """A column's name as SQL reads it everywhere."""
    return '"user"' if column == "user" else column


TABLES: dict[str, str] = {
    "meta": "key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key)",
    "tenants": "tenant INTEGER NOT NULL, name TEXT NOT NULL, root INTEGER NOT NULL, last_known INTEGER NOT NULL,"
    " sequence INTEGER NOT NULL, head BLOB NOT NULL, texts INTEGER NOT NULL DEFAULT 0,"
    " tokens INTEGER NOT NULL DEFAULT 0, moved INTEGER NOT NULL DEFAULT 0, embedder TEXT, PRIMARY KEY (tenant)",
    "nodes": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, hash BLOB NOT NULL, line INTEGER NOT NULL,"
    " type TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, dated INTEGER, world INTEGER NOT NULL,"
    " metadata TEXT, scope INTEGER NOT NULL, made TEXT, PRIMARY KEY (tenant, id)",
    "metadata": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, node INTEGER NOT NULL, scope INTEGER NOT NULL,"
    " metadata TEXT NOT NULL, PRIMARY KEY (tenant, id)",
    "beliefs": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, line INTEGER NOT NULL, node INTEGER NOT NULL,"
    " type TEXT NOT NULL, scope INTEGER NOT NULL, vf INTEGER NOT NULL, vt INTEGER NOT NULL,"
    " kf INTEGER NOT NULL, kt INTEGER NOT NULL, status TEXT, confidence REAL, precision TEXT, reason TEXT,"
    " PRIMARY KEY (tenant, id)",
    "edges": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, hash BLOB NOT NULL, src INTEGER NOT NULL,"
    " type TEXT NOT NULL, dst INTEGER NOT NULL, world INTEGER NOT NULL, scope INTEGER NOT NULL,"
    " vf INTEGER NOT NULL, vt INTEGER NOT NULL, kf INTEGER NOT NULL, kt INTEGER NOT NULL, metadata TEXT,"
    " made TEXT, PRIMARY KEY (tenant, id)",
    "events": "node INTEGER NOT NULL, tenant INTEGER NOT NULL, key BLOB NOT NULL, sender TEXT NOT NULL,"
    " recipient TEXT, said_at INTEGER NOT NULL, utc_offset INTEGER NOT NULL, session INTEGER,"
    " modality TEXT NOT NULL, category TEXT, source TEXT, external_id TEXT, state TEXT NOT NULL, draft TEXT,"
    " signals TEXT, reading BLOB, PRIMARY KEY (tenant, node)",
    "facts": "node INTEGER NOT NULL, tenant INTEGER NOT NULL, subject INTEGER NOT NULL, predicate TEXT NOT NULL,"
    " object INTEGER NOT NULL, literal TEXT, phrase TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,"
    " one INTEGER NOT NULL, rank TEXT NOT NULL, dated INTEGER NOT NULL, PRIMARY KEY (tenant, node)",
    "wordings": "tenant INTEGER NOT NULL, object INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,"
    " placed INTEGER NOT NULL, PRIMARY KEY (tenant, object, key, kind)",
    "blocks": "tenant INTEGER NOT NULL, key TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (tenant, key, line)",
    "aliases": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,"
    " line INTEGER NOT NULL, scope INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "labels": "tenant INTEGER NOT NULL, label TEXT NOT NULL, value TEXT NOT NULL, node INTEGER NOT NULL,"
    " scope INTEGER NOT NULL, PRIMARY KEY (tenant, label, value, node, scope)",
    "scopes": 'id INTEGER NOT NULL, tenant INTEGER NOT NULL, key TEXT NOT NULL, "user" TEXT, agent TEXT, app TEXT,'
    " run TEXT, part_of INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "proposals": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, hash BLOB NOT NULL, a INTEGER NOT NULL,"
    " b INTEGER NOT NULL, status TEXT NOT NULL, tier TEXT NOT NULL, score REAL NOT NULL, reason TEXT,"
    " scope INTEGER NOT NULL, kf INTEGER NOT NULL, kt INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "ontology": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, world INTEGER NOT NULL, kind TEXT NOT NULL,"
    " name TEXT NOT NULL, version TEXT NOT NULL, spec TEXT, kf INTEGER NOT NULL, kt INTEGER NOT NULL,"
    " PRIMARY KEY (tenant, id)",
    "worlds": "line INTEGER NOT NULL, tenant INTEGER NOT NULL, head INTEGER NOT NULL, hash BLOB NOT NULL,"
    " digest BLOB NOT NULL, PRIMARY KEY (tenant, line)",
    "world_hashes": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, line INTEGER NOT NULL, hash BLOB NOT NULL,"
    " kf INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "log": "tenant INTEGER NOT NULL, sequence INTEGER NOT NULL, known INTEGER NOT NULL, kind TEXT NOT NULL,"
    " body BLOB NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (tenant, sequence)",
    "texts": "node INTEGER NOT NULL, tenant INTEGER NOT NULL, session INTEGER NOT NULL, position INTEGER NOT NULL,"
    " speaker TEXT NOT NULL, role TEXT NOT NULL, said_at INTEGER, described BLOB NOT NULL,"
    " PRIMARY KEY (tenant, node)",
    "embeddings": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, passage INTEGER NOT NULL, vector BLOB NOT NULL,"
    " PRIMARY KEY (tenant, id)",
    "reembedding": "tenant INTEGER NOT NULL, passage INTEGER NOT NULL, vector BLOB NOT NULL, embedder TEXT NOT NULL,"
    " PRIMARY KEY (tenant, passage)",
    "words": "tenant INTEGER NOT NULL, term TEXT NOT NULL, cold INTEGER NOT NULL, chunk INTEGER NOT NULL,"
    " n INTEGER NOT NULL, rows BLOB NOT NULL, PRIMARY KEY (tenant, term, cold, chunk)",
    "fresh_words": "tenant INTEGER NOT NULL, row INTEGER NOT NULL, owner TEXT NOT NULL, text TEXT NOT NULL,"
    " kinds TEXT NOT NULL, PRIMARY KEY (tenant, row)",
    "words_total": "tenant INTEGER NOT NULL, cold INTEGER NOT NULL, texts INTEGER NOT NULL,"
    " tokens INTEGER NOT NULL, fresh INTEGER NOT NULL, PRIMARY KEY (tenant, cold)",
    "sleep": "tenant INTEGER NOT NULL, owner TEXT NOT NULL, pass TEXT NOT NULL, cursor INTEGER NOT NULL,"
    " state TEXT NOT NULL, PRIMARY KEY (tenant, owner, pass)",
    "marks": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, line INTEGER NOT NULL, scope INTEGER NOT NULL,"
    " kind TEXT NOT NULL, value TEXT, reason TEXT, kf INTEGER NOT NULL, kt INTEGER NOT NULL,"
    " PRIMARY KEY (tenant, id)",
    "origins": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, of TEXT NOT NULL, row INTEGER NOT NULL,"
    " store BLOB NOT NULL, vf INTEGER NOT NULL, vt INTEGER NOT NULL, kf INTEGER NOT NULL,"
    " kt INTEGER NOT NULL, noted INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "erased": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, of TEXT NOT NULL, last INTEGER NOT NULL,"
    " rows BLOB NOT NULL, kept BLOB NOT NULL, who TEXT NOT NULL, kf INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "scores": "tenant INTEGER NOT NULL, node INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,"
    " seal INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (tenant, node, name)",
    "scorers": "tenant INTEGER NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, weight REAL NOT NULL,"
    " PRIMARY KEY (tenant, name)",
    "uses": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, line INTEGER NOT NULL, scope INTEGER NOT NULL,"
    " kind TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (tenant, id)",
    "strengths": "line INTEGER NOT NULL, tenant INTEGER NOT NULL, scope INTEGER NOT NULL, salience REAL NOT NULL,"
    " reinforced_at INTEGER NOT NULL, cold_at INTEGER NOT NULL, uses INTEGER NOT NULL, useful INTEGER NOT NULL,"
    " wrong INTEGER NOT NULL, seal INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (tenant, line)",
    "composed": "tenant INTEGER NOT NULL, line INTEGER NOT NULL, scope INTEGER NOT NULL, vector BLOB NOT NULL,"
    " members INTEGER NOT NULL, made INTEGER NOT NULL, seal INTEGER NOT NULL DEFAULT 0,"
    " PRIMARY KEY (tenant, line, scope)",
    "profiles": "tenant INTEGER NOT NULL, speaker TEXT NOT NULL, scope INTEGER NOT NULL, body TEXT NOT NULL,"
    " style BLOB NOT NULL, seal INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (tenant, speaker, scope)",
    "cold_texts": "node INTEGER NOT NULL, tenant INTEGER NOT NULL, session INTEGER NOT NULL,"
    " position INTEGER NOT NULL, speaker TEXT NOT NULL, role TEXT NOT NULL, said_at INTEGER,"
    " described BLOB NOT NULL, PRIMARY KEY (tenant, node)",
    "cold_embeddings": "id INTEGER NOT NULL, tenant INTEGER NOT NULL, passage INTEGER NOT NULL,"
    " vector BLOB NOT NULL, PRIMARY KEY (tenant, id)",
}
"""Every table with its columns and key. `reembedding` holds
vectors of another embedder until all are made. `words` holds postings in chunks, `fresh_words` new texts that wait to
be folded into them, `words_total` their totals. `erased` is what is left of what was forgotten: which rows of
which table (the highest is `last`), when and by whom, and the hashes without which the rest could not be proved.
`sleep` and what follows is what consolidation keeps: where each
pass stands, marks, signals, strengths, world vectors, cold rows; and which beliefs and edges (`of`, `row`)
were held by another store before, and when. `seal` is a checksum over the row, 0 where nobody has taken one."""


@cache
def columns_of(table: str) -> tuple[str, ...]:
    """The columns of a table, in their order."""
    return tuple(re.findall(r'(?:^|, )"?(\w+)"? (?:INTEGER|REAL|BLOB|TEXT)', TABLES[table]))


@cache
def key_of(table: str) -> tuple[str, ...]:
    """The columns of its primary key."""
    found = re.search(r"PRIMARY KEY \(([^)]*)\)", TABLES[table])
    return tuple(found[1].split(", ")) if found else ()


def block_key(key: str) -> str:
    """A key of `blocks` as it is written now; before format 5 what it is of stood first ("w:ana")."""
    return f"{key[2:]}|{key[0]}" if key[1:2] == ":" and key[-2:-1] != "|" else key


def on_conflict(table: str, columns: tuple[str, ...]) -> str:
    """What becomes of a new row whose key is there already: it is refused, left out, or takes its place."""
    if table in _STAYS:
        return " ON CONFLICT DO NOTHING"
    if table not in _GIVES_WAY:
        return ""
    key = key_of(table)
    anew = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    return f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {anew}"


def insertion(table: str, columns: Sequence[str]) -> str:
    """The statement for a row of a table."""
    names, end = ", ".join(map(quoted, columns)), on_conflict(table, tuple(columns))
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))}){end}"


CLUSTERED = frozenset(
    [
        *("meta", "tenants", "wordings", "blocks", "labels", "words", "fresh_words", "words_total"),
        *("sleep", "scores", "scorers", "profiles"),
    ]
)
"""Tables that a file keeps in the order of their key; rows of the others lie in the order they came, which
measured faster for them (remember 16.2 against 17.4 ms, recall 71 against 76) at 1.5 % more space."""

INDEXES: dict[str, str] = {
    "nodes_hash": "UNIQUE INDEX nodes_hash ON nodes (tenant, hash)",
    "nodes_line": "INDEX nodes_line ON nodes (tenant, line) WHERE line <> id",
    "beliefs_line": "INDEX beliefs_line ON beliefs (tenant, line, kt)",
    "beliefs_type": "INDEX beliefs_type ON beliefs (tenant, type, vf, node)",
    "edges_out": "INDEX edges_out ON edges (tenant, src, type, dst, vf, vt, kf, kt, scope)",
    "edges_in": "INDEX edges_in ON edges (tenant, dst, type, src, vf, vt, kf, kt, scope)",
    "events_key": "UNIQUE INDEX events_key ON events (tenant, key)",
    "events_sender": "INDEX events_sender ON events (tenant, sender, said_at)",
    "events_pending": "INDEX events_pending ON events (tenant, node) WHERE state = 'pending'",
    "embeddings_passage": "UNIQUE INDEX embeddings_passage ON embeddings (tenant, passage)",
    "texts_session": "INDEX texts_session ON texts (tenant, session, position)",
    "texts_speaker": "INDEX texts_speaker ON texts (tenant, speaker, node)",
    "facts_subject": "INDEX facts_subject ON facts (tenant, subject, predicate, node)",
    "facts_key": "INDEX facts_key ON facts (tenant, key) WHERE key <> predicate",
    "facts_predicate": "INDEX facts_predicate ON facts (tenant, predicate, node)",
    "wordings_key": "INDEX wordings_key ON wordings (tenant, key, kind) WHERE placed <> 0",
    "facts_object": "INDEX facts_object ON facts (tenant, object, predicate)",
    "metadata_node": "UNIQUE INDEX metadata_node ON metadata (tenant, node, scope)",
    "aliases_key": "INDEX aliases_key ON aliases (tenant, key)",
    "aliases_line": "INDEX aliases_line ON aliases (tenant, line)",
    "scopes_key": "UNIQUE INDEX scopes_key ON scopes (tenant, key)",
    "scopes_user": 'INDEX scopes_user ON scopes (tenant, "user")',
    "proposals_pair": "INDEX proposals_pair ON proposals (tenant, a, b)",
    "proposals_merged": "INDEX proposals_merged ON proposals (tenant) WHERE status = 'accepted'",
    "ontology_name": "INDEX ontology_name ON ontology (tenant, kind, name)",
    "world_hashes_line": "INDEX world_hashes_line ON world_hashes (tenant, line, kf)",
    "world_hashes_hash": "INDEX world_hashes_hash ON world_hashes (tenant, hash)",
    "words_thin": "INDEX words_thin ON words (tenant, term) WHERE chunk > 0 AND n < 26",
    "marks_line": "INDEX marks_line ON marks (tenant, line, kind, kt)",
    "edges_contradicts": "INDEX edges_contradicts ON edges (tenant, src) WHERE type = 'contradicts'",
    "erased_of": "INDEX erased_of ON erased (tenant, of, last)",
    "origins_row": "INDEX origins_row ON origins (tenant, of, row)",
    "uses_scope": "INDEX uses_scope ON uses (tenant, scope)",
    "strengths_cold": "INDEX strengths_cold ON strengths (tenant, scope, cold_at)",
    "strengths_used": "INDEX strengths_used ON strengths (tenant, line) WHERE uses + useful + wrong > 0",
    "composed_made": "INDEX composed_made ON composed (tenant, made)",
    "cold_texts_session": "INDEX cold_texts_session ON cold_texts (tenant, session, position)",
    "cold_texts_speaker": "INDEX cold_texts_speaker ON cold_texts (tenant, speaker, node)",
    "cold_embeddings_passage": "UNIQUE INDEX cold_embeddings_passage ON cold_embeddings (tenant, passage)",
}

BULK = ("nodes_hash", "beliefs_line", "beliefs_type", "edges_out", "edges_in")
"""Indexes that a bulk load into an empty store makes afterwards."""


_MANY = 1_000_000
_SMALL = frozenset(
    {"meta", "tenants", "ontology", "words_total", "sleep", "scorers", "fresh_words", "erased"}
)
"""Tables that stay small."""
_FEW = 100
_LEADS_TO: dict[str, tuple[int, ...]] = {
    "beliefs_line": (2, 1),
    "beliefs_type": (200_000, 2, 1),
    "edges_out": (5, 4, 1, 1, 1, 1, 1, 1),
    "edges_in": (5, 4, 1, 1, 1, 1, 1, 1),
    "edges_contradicts": (5,),
    "events_sender": (1_000, 1),
    "texts_session": (20, 1),
    "cold_texts_session": (20, 1),
    "texts_speaker": (10_000, 1),
    "cold_texts_speaker": (10_000, 1),
    "facts_subject": (50, 10, 1),
    "facts_object": (20, 10),
    "facts_key": (100,),
    "facts_predicate": (1_000, 1),
    "wordings_key": (100, 10),
    "world_hashes_line": (20, 1),
    "marks_line": (2, 1, 1),
    "erased_of": (10, 1),
    "uses_scope": (10_000,),
    "strengths_cold": (10_000, 10),
    "scores": (5, 1),
    "sleep": (10, 1),
    "profiles": (2, 1),
    "words": (5, 4, 1),
    "labels": (10_000, 10, 1, 1),
    "wordings": (3, 2, 1),
    "blocks": (20, 1),
    "words_thin": (2,),
}
"""How many rows have the first column of a key after the tenant, the first two, and so on; else one at last."""


def _columns(definition: str) -> list[str]:
    inside = definition[definition.index("(") + 1 :]
    return inside[: inside.index(")")].split(", ")


@cache
def figures() -> tuple[tuple[str, str, str], ...]:
    """(table, index, figures) of every index, as SQLite keeps them."""
    found = []
    for table in TABLES:
        key = key_of(table)
        name = table if table in CLUSTERED else f"sqlite_autoindex_{table}_1"
        found.append((table, name, _figure(table, table, len(key))))
    for name, definition in INDEXES.items():
        table = definition.partition(" ON ")[2].partition(" ")[0]
        found.append((table, name, _figure(table, name, len(_columns(definition)))))
    return tuple(found)


def _figure(table: str, index: str, columns: int) -> str:
    rows = _FEW if table in _SMALL else _MANY
    leads = _LEADS_TO.get(index, (1,) * (columns - 1)) if columns > 1 else ()
    first = rows if columns > 1 else 1
    return " ".join(map(str, (rows, first, *(min(rows, each) for each in leads))))


def tell_planner(connection: apsw.Connection) -> None:
    """Gives the planner these figures, in place of any that were taken from the rows; for this connection at once."""
    with connection:  # one commit, not one for each figure
        connection.execute("ANALYZE meta")  # makes the tables that figures are kept in
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_stat%'"
        ).fetchall():
            connection.execute(f"DELETE FROM {name}")
        connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", figures())
        connection.execute("ANALYZE sqlite_schema")


def planner_is_told(connection: apsw.Connection) -> bool:
    """Whether a store has these figures."""
    made = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'").get
    try:
        return bool(made) and set(connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1")) == set(
            figures()
        )
    except UnicodeDecodeError:  # damaged; they are put anew
        return False
