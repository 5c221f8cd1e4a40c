"""Another store, to be read and never written: not a byte of its file changes.

A file of an older format is read through an upgraded copy that is thrown away afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from worldline.config import Config, place
from worldline.errors import NotAStore, NotFound
from worldline.ports import Store
from worldline.store import migrate
from worldline.store.dialect import open_store
from worldline.store.schema import FORMAT
from worldline.store.sqlite import SqliteStore, translated


class ReadOnlyStore(SqliteStore):
    """A store whose connections cannot write."""

    is_older = False
    """Whether it must be upgraded before it can be read."""

    def _file(self) -> apsw.Connection:
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError):  # on a disk that cannot be written at all
            connection.close()
            return apsw.Connection(
                f"file:{quote(self.path)}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
        except apsw.NotADBError:
            connection.close()
            raise NotAStore(f"{self.path} is not a Worldline store (nor any SQLite file)") from None
        return connection

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
