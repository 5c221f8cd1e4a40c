"""Older files, step by step to this format, with a backup beside them first.

`STEPS[n]` is the SQL that turns format n into n + 1. All steps run in one transaction, so that a
crash leaves the old format whole.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from worldline.errors import StoreError
from worldline.store import schema

_SAID = "CASE WHEN json_valid(metadata) THEN metadata ->> '{}' END"
_BY_SLEEP = f"{_SAID.format('made_by')} = 'sleep'"
_MARKS = f"""
ALTER TABLE nodes ADD COLUMN made TEXT;
ALTER TABLE edges ADD COLUMN made TEXT;
UPDATE nodes SET made = 'sleep' WHERE type IN ('Happening', 'Topic', 'Summary') AND {_BY_SLEEP};
UPDATE edges SET made = 'inferred' WHERE {_BY_SLEEP} AND {_SAID.format("inferred")} = 1;
UPDATE edges SET made = 'sleep' WHERE made IS NULL AND {_BY_SLEEP}
  AND coalesce({_SAID.format("cue")}, {_SAID.format("from")}) IS NOT NULL;
"""
"""What sleep made was known by its metadata; it is marked where it has the shape of sleep's own work."""

LAST_WITH_FTS5 = 4
STEPS: dict[int, str] = {
    1: schema.SLEEP_TABLES,
    2: "ALTER TABLE events ADD COLUMN reading BLOB",
    3: _MARKS,
    4: "",  # words leave FTS5, see below
}


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
            connection.execute(STEPS[step])
        if version <= LAST_WITH_FTS5:
            from worldline.store.rewording import replace_fts5

            replace_fts5(connection, language)
        connection.execute(f"PRAGMA user_version = {schema.FORMAT}")
        connection.execute("COMMIT")
    except apsw.Error as error:
        connection.execute("ROLLBACK")
        raise StoreError(f"the migration of {path} failed ({error}); it is as it was before") from None
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def backup(connection: apsw.Connection, path: str) -> None:
    """A whole copy of the store in another file, written aside and then put in place."""
    partial = Path(path + ".partial")
    try:
        partial.unlink(missing_ok=True)
        _copy(connection, str(partial))
        partial.replace(path)
    except (apsw.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(f"cannot write the backup {path} ({error})") from None


def _copy(connection: apsw.Connection, path: str) -> None:
    target = apsw.Connection(path)
    try:
        with target.backup("main", connection, "main") as copying:
            while not copying.done:
                copying.step(1000)
    finally:
        target.close()
