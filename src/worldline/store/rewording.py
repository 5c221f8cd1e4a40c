"""Making the words index anew from the texts that are stored: for files that had another one.

Up to format 3 words lay in tables of SQLite's FTS5. They are dropped, and every text that was in them
is read again; what was archived stays archived.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from worldline.model import NodeDraft
from worldline.store import schema
from worldline.store.indexing import is_silent, sizes, words_of
from worldline.store.sqlite import insertion
from worldline.store.view import metadata_from
from worldline.store.words import Index, owner_token

_BATCH = 10_000
_PATIENCE = 5.0
"""After so many seconds, and then again, it is told how far it is."""
_FTS5 = ("terms", "cold_terms", "words", "cold_words")


class _Plain:
    """A connection as the index wants it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def query(self, sql: str, args: Any = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, args).fetchall()

    execute = query

    def insert(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        self._connection.executemany(sql, rows)

    def put(self, table: str, rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> None:
        self.insert(insertion(table, columns), rows)


def drop_fts5(connection: apsw.Connection) -> set[int]:
    """Drops the FTS5 tables; the nodes whose words were archived."""
    had = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    cold: set[int] = set()
    if "cold_words" in had:
        rows = connection.execute("SELECT DISTINCT id / 65536 FROM cold_words_docsize")
        cold = {int(row[0]) for row in rows}
    for table in _FTS5:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    return cold


def reword(connection: apsw.Connection, language: str, cold: set[int]) -> None:
    """Every stored text into the empty index, those of `cold` nodes into its archive."""
    store, start = _Plain(connection), time.monotonic()
    owners = _owners(store)
    connection.execute("UPDATE tenants SET texts = 0, tokens = 0")
    ((of,),) = store.query("SELECT count(*) FROM nodes")
    done, told = 0, start
    for tenant, batch in _batches(store):
        texts = [
            text
            for key, draft in batch
            for text in words_of(key, draft, owners.get((tenant, key), f"t{tenant}"), language)
        ]
        connection.execute(
            "UPDATE tenants SET texts = texts + ?, tokens = tokens + ? WHERE tenant = ?",
            (*sizes(texts), tenant),
        )
        index = Index(store, tenant)
        index.add(texts)
        index.fold()
        index.move([text for text in texts if text[0] // schema.WORDS_PER_NODE in cold], cold=True)
        done += len(batch)
        if time.monotonic() - told > _PATIENCE:
            told = time.monotonic()
            logging.getLogger("worldline").warning(
                "indexing words anew: %s of %s texts", f"{done:,}", f"{of:,}"
            )


def _batches(store: _Plain) -> Iterator[tuple[int, list[tuple[int, NodeDraft]]]]:
    """(tenant, texts that are found by their words), in the order of their numbers."""
    for (tenant,) in store.query("SELECT tenant FROM tenants ORDER BY tenant"):
        last = 0
        while rows := store.query(
            "SELECT id, type, name, content, metadata, made FROM nodes WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?",
            (tenant, last, _BATCH),
        ):
            last = rows[-1][0]
            drafts = [
                (row[0], NodeDraft(row[1], row[2], row[3], metadata=metadata_from(row[4]), made=row[5]))
                for row in rows
            ]
            yield tenant, [(key, draft) for key, draft in drafts if not is_silent(draft.type, draft.made)]


def _owners(store: _Plain) -> Mapping[tuple[int, int], str]:
    """The owner tokens of every node that is believed in some scope."""
    tokens: dict[tuple[int, int], list[str]] = defaultdict(list)
    kinds = ("user", "agent", "app", "run")
    rows = store.query('SELECT tenant, part_of, "user", agent, app, run FROM scopes ORDER BY tenant, id')
    for tenant, part_of, *values in rows:
        tokens[tenant, part_of] += [owner_token(k, v) for k, v in zip(kinds, values, strict=True) if v]
    found: dict[tuple[int, int], dict[str, None]] = {}
    rows = store.query(
        "SELECT DISTINCT tenant, node, scope FROM beliefs WHERE scope <> 0 ORDER BY tenant, node, scope"
    )
    for tenant, node, scope in rows:
        held = found.setdefault((tenant, node), {f"t{tenant}": None})
        held.update(dict.fromkeys(tokens[tenant, scope]))
    return {key: " ".join(held) for key, held in found.items()}
