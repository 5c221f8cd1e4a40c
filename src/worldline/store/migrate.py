"""Older files, step by step to this format, with a backup beside them first.

`STEPS[n]` turns format n into n + 1. All steps run in one transaction, so that a
crash leaves the old format whole.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from worldline.errors import StoreError
from worldline.hashing import tenant_number
from worldline.store import halves, schema

Step = str | Callable[[apsw.Connection, str], None]
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
    from worldline.store import rewording

    cold = rewording.drop_fts5(connection)
    names = connection.execute("SELECT id, name FROM tenants").fetchall()
    connection.execute("CREATE TEMP TABLE numbers (old INTEGER PRIMARY KEY, new INTEGER NOT NULL UNIQUE)")
    connection.executemany(
        "INSERT INTO numbers VALUES (?, ?)", [(old, number_in_file(str(name))) for old, name in names]
    )
    _renumber(connection)
    connection.execute(
        "UPDATE tenants SET moved = coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'moved'), 0);"
        "UPDATE tenants SET embedder = (SELECT value FROM meta WHERE key = 'embedder') WHERE tenant IN"
        " (SELECT tenant FROM embeddings UNION SELECT tenant FROM cold_embeddings);"
        "DELETE FROM meta WHERE key IN ('moved', 'embedder')"
    )
    connection.execute(MARKS)
    rewording.reword(connection, language, cold)


def _renumber(connection: apsw.Connection) -> None:
    """Every table anew, with the tenants' numbers that `numbers` says, and its indexes."""
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
    if all(old == new for old, new in numbers):
        return
    connection.execute("CREATE TEMP TABLE numbers (old INTEGER PRIMARY KEY, new INTEGER NOT NULL UNIQUE)")
    connection.executemany("INSERT INTO numbers VALUES (?, ?)", numbers)
    _renumber(connection)


def _fifteen_bits(connection: apsw.Connection, language: str) -> None:
    """Format 7: the numbers of vectors without the bit that none of them has, rows side by side again."""
    connection.create_scalar_function("packed", lambda *given: halves.packed(given[0]), 1)
    for name in schema.VECTORS:
        connection.execute(table(name, called="moving"))
        connection.execute(
            "INSERT INTO moving (id, tenant, passage, vector) SELECT id, tenant, passage,"
            f" CASE typeof(vector) WHEN 'blob' THEN packed(vector) ELSE vector END FROM {name} ORDER BY tenant, id"
        )
        connection.execute(f"DROP TABLE {name}; ALTER TABLE moving RENAME TO {name}")
        connection.execute(f"CREATE {schema.INDEXES[f'{name}_passage']}")


STEPS: dict[int, Step] = {
    1: "",
    2: "",
    3: _tenants_first,
    4: _narrower,
    5: _small_number,
    6: _fifteen_bits,
}
"""Format 3 added a column to 2, and 2 tables to 1; the step from 3 copes with either."""


def upgrade(connection: apsw.Connection, path: str, language: str) -> None:
    """Brings an older file to this program's format; does nothing to a current one."""
    version = connection.pragma("user_version")
    if version >= schema.FORMAT:
        return
    missing = [n for n in range(version, schema.FORMAT) if n not in STEPS]
    if missing:
        raise StoreError(f"{path} has format {version}, for which there is no migration")
    backup(connection, f"{path}.format{version}.backup")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version, schema.FORMAT):
            way = STEPS[step]
            if callable(way):
                way(connection, language)
            else:
                connection.execute(way)
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
