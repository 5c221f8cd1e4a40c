"""Older files, step by step to this format, with a backup beside them first.

`STEPS[n]` is the SQL that turns format n into n + 1. All steps run in one transaction, so that a
crash leaves the old format whole.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import apsw

from worldline.errors import StoreError
from worldline.store import schema

STEPS: dict[int, str] = {1: schema.SLEEP_TABLES, 2: "ALTER TABLE events ADD COLUMN reading BLOB"}


def upgrade(connection: apsw.Connection, path: str) -> None:
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
        partial.replace(path)
    except (apsw.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(f"cannot write the backup {path} ({error})") from None


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
