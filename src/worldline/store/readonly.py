"""Another store, to be read and never written: not a byte of its file changes.

A file of an older format is read through an upgraded copy that is thrown away afterwards.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from worldline.config import Config, place
from worldline.errors import NotAStore, NotFound, Refused, StoreError
from worldline.ports import Store
from worldline.store import migrate
from worldline.store.dialect import open_store
from worldline.store.schema import FORMAT
from worldline.store.sqlite import SqliteStore, locked, only_reading, translated


class ReadOnlyStore(SqliteStore):
    """A store whose connections cannot write."""

    is_older = False
    """Whether it must be upgraded before it can be read."""

    def _file(self) -> apsw.Connection:
        return only_reading(self.path)

    def _make(self) -> None:
        raise NotAStore(f"{self.path} is empty and not a Worldline store")

    def _prepare(self) -> None:
        found = self._format(self.connection())
        if found is None:
            raise NotAStore(f"{self.path} is empty and not a Worldline store")
        self.is_older = found < FORMAT


@contextmanager
def reading_only(path: str | Path, config: Config) -> Iterator[Store]:
    """A store at a path, as a whole that can only be read."""
    where = place(path)
    if isinstance(where, str):
        with closing(open_store(where, config)) as served:
            yield served
        return
    if not where.exists():
        raise NotFound(f"there is no store at {where}")
    if not where.is_file():
        raise NotAStore(f"{where} is not a file, so it is not a Worldline store")
    store = ReadOnlyStore(where, config)
    try:
        if store.is_older:
            with _upgraded(store) as copy:
                yield copy
        else:
            yield store
    finally:
        store.close()


def put_back(backup: str | Path, target: str | Path, config: Config) -> int:
    """Puts a backup in the place of a store, whole; what a killed process left beside it goes. Its bytes."""
    source, there = Path(backup).expanduser(), Path(target).expanduser()
    if there.exists() and there.samefile(source):
        raise Refused(f"{source} is the store itself; name a backup of it")
    with reading_only(source, config) as store:
        if wrong := store.problems():
            raise StoreError(f"{source} is damaged itself ({wrong[0]}); name another backup")
        handle = locked(f"{there}.lock", config.lock_seconds)
        try:
            store.backup(str(there))
        finally:
            os.close(handle)
    return there.stat().st_size


@contextmanager
def _upgraded(store: SqliteStore) -> Iterator[SqliteStore]:
    with tempfile.TemporaryDirectory(prefix="worldline-") as folder:
        path = Path(folder) / "copy.db"
        with translated():
            migrate.backup(store.connection(), str(path))
        copy = SqliteStore(path, store.config)
        try:
            yield copy
        finally:
            copy.close()
