"""Older files, step by step to this format, with a backup beside them first.

`STEPS[n]` turns format n into n + 1. All steps run in one transaction, so that a
crash leaves the old format whole. Up to format 3 words lay in tables of SQLite's FTS5: they are dropped, and
every text that was in them is read again; what was archived stays archived.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from worldline.errors import StoreError
from worldline.hashing import tenant_number
from worldline.model import NodeDraft
from worldline.ports import Row
from worldline.store import packing, schema
from worldline.store.indexing import is_silent, sizes, words_of
from worldline.store.reindexing import owners
from worldline.store.schema import insertion
from worldline.store.view import metadata_from
from worldline.store.words import Index

_SAID = "CASE WHEN json_valid(metadata) THEN metadata ->> '{}' END"
_BY_SLEEP = f"{_SAID.format('made_by')} = 'sleep'"
MARKS = f"""
UPDATE nodes SET made = 'sleep' WHERE type IN ('Happening', 'Topic', 'Summary') AND {_BY_SLEEP};
UPDATE edges SET made = 'inferred' WHERE {_BY_SLEEP} AND {_SAID.format("inferred")} = 1;
UPDATE edges SET made = 'sleep' WHERE made IS NULL AND {_BY_SLEEP}
  AND coalesce({_SAID.format("cue")}, {_SAID.format("from")}) IS NOT NULL;
"""
"""What sleep made was known by its metadata; it is marked where it has the shape of sleep's own work."""


ALONE = "default"
"""The tenant of whoever names none: most files hold it alone."""


def number_in_file(name: str) -> int:
    """A tenant's number in a file. The usual one has 1, which takes no byte in a row; others have their own."""
    return 1 if name == ALONE else tenant_number(name)


def table(name: str, *, called: str = "") -> str:
    """The statement that makes a table."""
    clustered = " WITHOUT ROWID" if name in schema.CLUSTERED else ""
    return f"CREATE TABLE {called or name} ({schema.TABLES[name]}){clustered}"


def _tenants_first(connection: apsw.Connection, language: str) -> None:
    """Formats 1 to 3 numbered rows across tenants: the same rows under keys that begin with the tenant.

    A tenant gets the number that follows from its name; what the file knew of its vectors, its tenants know.
    Words lay in tables of FTS5, and are indexed anew.
    """
    cold = drop_fts5(connection)
    names = connection.execute("SELECT id, name FROM tenants").fetchall()
    _renumber(connection, [(old, number_in_file(str(name))) for old, name in names])
    connection.execute(
        "UPDATE tenants SET moved = coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'moved'), 0);"
        "UPDATE tenants SET embedder = (SELECT value FROM meta WHERE key = 'embedder') WHERE tenant IN"
        " (SELECT tenant FROM embeddings UNION SELECT tenant FROM cold_embeddings);"
        "DELETE FROM meta WHERE key IN ('moved', 'embedder')"
    )
    connection.execute(MARKS)
    reword(connection, language, cold)


def _renumber(connection: apsw.Connection, numbers: Sequence[tuple[Any, int]]) -> None:
    """Every table anew, with the tenants' (old, new) numbers, and its indexes."""
    connection.execute("CREATE TEMP TABLE numbers (old INTEGER PRIMARY KEY, new INTEGER NOT NULL UNIQUE)")
    connection.executemany("INSERT INTO numbers VALUES (?, ?)", numbers)
    for name in schema.TABLES:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        if name != "meta":
            connection.execute(table(name, called="moving"))
            if columns:
                _carry(connection, name, columns)
                connection.execute(f"DROP TABLE {name}")
            connection.execute(f"ALTER TABLE moving RENAME TO {name}")
    for definition in schema.INDEXES.values():
        connection.execute(f"CREATE {definition}")
    connection.execute("DROP TABLE numbers")


def _carry(connection: apsw.Connection, name: str, columns: Sequence[str]) -> None:
    """All rows of a table, with their tenants' new numbers."""
    number = "(SELECT n.new FROM numbers n WHERE n.old = o.{})"
    source = {
        column: f"o.{schema.quoted(column)}" for column in columns if (name, column) != ("tenants", "id")
    }
    source["tenant"] = number.format("id" if "tenant" not in columns else "tenant")
    names = ", ".join(map(schema.quoted, source))
    connection.execute(
        f"INSERT INTO moving ({names}) SELECT {', '.join(source.values())} FROM {name} o ORDER BY 1"
    )


NARROWER = (
    "DROP INDEX IF EXISTS events_session",
    "DROP INDEX IF EXISTS facts_key",
    *(
        f"CREATE {schema.INDEXES[name].replace('INDEX', 'INDEX IF NOT EXISTS', 1)}"
        for name in ("events_sender", "facts_key")
    ),
    "UPDATE blocks SET key = substr(key, 3) || '|' || substr(key, 1, 1) WHERE substr(key, 2, 1) = ':'",
)
"""Format 5: what a block key is of stands at its end, and two indexes hold what is asked of them alone."""


def _narrower(connection: apsw.Connection, language: str) -> None:
    """The same rows, fewer bytes; rows of the log lie in the order they came, whole beside each other."""
    for statement in NARROWER:
        connection.execute(statement)
    connection.execute(table("log", called="moving"))
    connection.execute("INSERT INTO moving SELECT * FROM log ORDER BY tenant, sequence")
    connection.execute("DROP TABLE log; ALTER TABLE moving RENAME TO log")


def _small_number(connection: apsw.Connection, language: str) -> None:
    """Format 6: the usual tenant's number is 1, and rows lie side by side again."""
    names = connection.execute("SELECT tenant, name FROM tenants").fetchall()
    numbers = [(old, number_in_file(str(name))) for old, name in names]
    if any(old != new for old, new in numbers):
        _renumber(connection, numbers)


def _fifteen_bits(connection: apsw.Connection, language: str) -> None:
    """Format 7: the numbers of vectors without the bit that none of them has, rows side by side again."""
    connection.create_scalar_function("packed", lambda *given: packing.packed(given[0]), 1)
    for name in schema.VECTORS:
        connection.execute(table(name, called="moving"))
        connection.execute(
            "INSERT INTO moving (id, tenant, passage, vector) SELECT id, tenant, passage,"
            f" CASE typeof(vector) WHEN 'blob' THEN packed(vector) ELSE vector END FROM {name} ORDER BY tenant, id"
        )
        connection.execute(f"DROP TABLE {name}; ALTER TABLE moving RENAME TO {name}")
        connection.execute(f"CREATE {schema.INDEXES[f'{name}_passage']}")


STEPS = {3: _tenants_first, 4: _narrower, 5: _small_number, 6: _fifteen_bits}
"""Format 3 added a column to 2, and 2 tables to 1; the step from 3 copes with either."""


def upgrade(connection: apsw.Connection, path: str, language: str) -> None:
    """Brings an older file to this program's format; does nothing to a current one."""
    version = connection.pragma("user_version")
    if version >= schema.FORMAT:
        return
    wanted = range(max(version, 3), schema.FORMAT)
    if version < 1 or not STEPS.keys() >= set(wanted):
        raise StoreError(f"{path} has format {version}, for which there is no migration")
    backup(connection, f"{path}.format{version}.backup")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in wanted:
            STEPS[step](connection, language)
        connection.execute(f"PRAGMA user_version = {schema.FORMAT}")
        connection.execute("COMMIT")
    except apsw.Error as error:
        connection.execute("ROLLBACK")
        raise StoreError(f"the migration of {path} failed ({error}); it is as it was before") from None


def backup(connection: apsw.Connection, path: str) -> None:
    """A whole copy of the store in another file, written aside and then put in place."""
    partial = Path(path + ".partial")
    try:
        partial.unlink(missing_ok=True)
        _copy(connection, str(partial))
        drop_logs(path)
        partial.replace(path)
    except (apsw.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(f"cannot write the backup {path} ({error})") from None


def drop_logs(path: str) -> None:
    """Takes away the logs of whatever lay here before: SQLite would play them into the new file."""
    for end in ("-wal", "-shm"):
        Path(path + end).unlink(missing_ok=True)


def make_private(path: str) -> None:
    """A new, empty file that only its owner can read; one that is there stays as it is."""
    with contextlib.suppress(OSError):  # whoever opens it says what is wrong
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _copy(connection: apsw.Connection, path: str) -> None:
    make_private(path)
    target = apsw.Connection(path)
    try:
        with target.backup("main", connection, "main") as copying:
            while not copying.done:
                copying.step(1000)
    finally:
        target.close()


_BATCH = 10_000
_PATIENCE = 5.0
"""After so many seconds, and then again, it is told how far it is."""
_FTS5 = ("terms", "cold_terms", "words", "cold_words")


class _Plain:
    """A connection as the index wants it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def query(self, sql: str, args: Any = ()) -> list[Row]:
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
    whose: dict[int, Mapping[int, str]] = {}
    connection.execute("UPDATE tenants SET texts = 0, tokens = 0")
    ((of,),) = store.query("SELECT count(*) FROM nodes")
    done, told = 0, start
    for tenant, batch in _batches(store):
        if tenant not in whose:
            whose = {tenant: owners(store.query, tenant)}
        texts = [
            text
            for key, draft in batch
            for text in words_of(key, draft, whose[tenant].get(key, f"t{tenant}"), language)
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
