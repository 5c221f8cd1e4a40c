"""One SQLite file: connections, the write lock, transactions, and errors that say what to do.

Readers never wait. Writers queue on an advisory file lock (SQLite's own busy handler starves some
of them), then take SQLite's write lock. A crash at any moment rolls back to the last commit.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from worldline.config import Config
from worldline.errors import NewerFormat, NotAStore, StoreBusy, StoreError, StoreFull
from worldline.hashing import ALGORITHM
from worldline.store import migrate
from worldline.store.schema import APPLICATION_ID, BULK, FORMAT, INDEXES, TABLES

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None  # type: ignore[assignment]

Row = tuple[Any, ...]


class SqliteStore:
    """A store in one file, or in memory for `:memory:`."""

    def __init__(self, path: str | Path, config: Config) -> None:
        self.path = str(path)
        self.config = config
        self.in_memory = self.path == ":memory:"
        self.statements = 0
        self._local = threading.local()
        self._write_lock = threading.RLock()
        self._open: list[apsw.Connection] = []
        self._shared = self._connect() if self.in_memory else None
        with translated():
            self._prepare()

    # Connections -------------------------------------------------------------------------------

    def connection(self) -> apsw.Connection:
        """This thread's connection (the only one, for a store in memory)."""
        if self._shared is not None:
            return self._shared
        found = getattr(self._local, "connection", None)
        if found is None:
            found = self._local.connection = self._connect()
        return found

    def _connect(self) -> apsw.Connection:
        with translated():
            connection = apsw.Connection(self.path)
            connection.set_busy_timeout(int(self.config.lock_seconds * 1000))
            connection.execute(f"PRAGMA synchronous = {self.config.durability}")
            connection.execute("PRAGMA cache_size = -16000")
            connection.execute("PRAGMA temp_store = MEMORY")
            self._open.append(connection)
            return connection

    def close(self) -> None:
        """Closes every connection that this store opened, in any thread."""
        for connection in self._open:
            connection.close(True)
        self._open.clear()
        self._local = threading.local()

    def _prepare(self) -> None:
        connection = self.connection()
        if self._format(connection) == FORMAT:
            return
        with self._exclusive():
            found = self._format(connection)
            if found is None:
                connection.execute("PRAGMA journal_mode = WAL")
                create(connection)
            else:
                migrate.upgrade(connection, self.path)

    def _format(self, connection: apsw.Connection) -> int | None:
        """The file's format, None for an empty file; raises where it can never be a store."""
        try:
            application = connection.pragma("application_id")
            empty = connection.execute("SELECT count(*) FROM sqlite_master").get == 0
        except apsw.NotADBError:
            raise NotAStore(f"{self.path} is not a Worldline store (nor any SQLite file)") from None
        if empty and application == 0:
            return None
        if application != APPLICATION_ID:
            raise NotAStore(f"{self.path} is an SQLite file of another program, not a Worldline store")
        version = int(connection.pragma("user_version"))
        if version > FORMAT:
            raise NewerFormat(
                f"{self.path} has format {version}, this Worldline reads up to {FORMAT}; upgrade Worldline"
            )
        algorithm = connection.execute("SELECT value FROM meta WHERE key = 'hash'").get
        if algorithm != ALGORITHM:
            raise NotAStore(f"{self.path} is hashed with {algorithm}, and this Worldline knows {ALGORITHM}")
        return version

    # Reading -----------------------------------------------------------------------------------

    def query(self, sql: str, args: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """All rows of one statement."""
        self.statements += 1
        return self.connection().execute(sql, args).fetchall()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """One snapshot for several statements."""
        with self._shared_access():
            connection = self.connection()
            if connection.in_transaction:
                yield
                return
            with translated():
                connection.execute("BEGIN")
                try:
                    yield
                finally:
                    connection.execute("COMMIT")

    def _shared_access(self) -> contextlib.AbstractContextManager[Any]:
        return self._write_lock if self._shared is not None else contextlib.nullcontext()

    # Writing -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self, *, keep: bool = True) -> Iterator[None]:
        """One write transaction; everything or nothing. `keep=False` rolls back (a dry run)."""
        connection = self.connection()
        with self._exclusive(), translated():
            if connection.in_transaction:
                raise StoreError("a write was started inside another transaction of the same thread")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                connection.execute("COMMIT" if keep else "ROLLBACK")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def execute(self, sql: str, args: Sequence[Any] = ()) -> list[Row]:
        """One statement inside the write transaction."""
        return self.query(sql, args)

    def insert(self, sql: str, rows: Iterable[Row]) -> None:
        """The same insert for many rows."""
        self.statements += 1
        self.connection().executemany(sql, rows)

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        with self._write_lock:
            if self.in_memory or fcntl is None:
                yield
                return
            handle = _locked(self.path + ".lock", self.config.lock_seconds)
            try:
                yield
            finally:
                os.close(handle)

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Inside: no syncs, and no bulk indexes where the store was empty. Then all is made good."""
        connection = self.connection()
        empty = connection.execute("SELECT count(*) FROM (SELECT 1 FROM nodes LIMIT 9)").get < 9
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        try:
            yield
        finally:
            connection.execute("PRAGMA wal_autocheckpoint = 1000")
            connection.execute(f"PRAGMA synchronous = {self.config.durability}")
            if not self.in_memory:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if empty:
                connection.execute("PRAGMA analysis_limit = 400")
                connection.execute("ANALYZE")

    def drop_indexes(self) -> None:
        """Inside a write transaction: forget the bulk indexes until `make_indexes`."""
        for name in BULK:
            self.execute(f"DROP INDEX {name}")

    def make_indexes(self) -> None:
        """Inside the same transaction: make them again."""
        for name in BULK:
            self.execute(f"CREATE {INDEXES[name]}")


def create(connection: apsw.Connection) -> None:
    """A new, empty store."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(TABLES)
    for definition in INDEXES.values():
        connection.execute(f"CREATE {definition}")
    connection.execute("INSERT INTO meta VALUES ('hash', ?)", (ALGORITHM,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def _locked(path: str, seconds: float) -> int:
    """A handle that holds the advisory lock; waiters are served in turn."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle
    except BlockingIOError:
        return _wait_for_lock(handle, path, seconds)


def _wait_for_lock(handle: int, path: str, seconds: float) -> int:
    """Waits in a thread, because only a blocking lock is fair and it has no timeout of its own."""
    state = {"abandoned": False}
    done = threading.Event()

    def wait() -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done.set()
        if state["abandoned"]:
            os.close(handle)

    threading.Thread(target=wait, daemon=True).start()
    if done.wait(seconds):
        return handle
    state["abandoned"] = True
    if done.is_set():
        return handle
    raise StoreBusy(f"another process has held {path} for {seconds:g} s; is one of them stopped?")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """SQLite's errors as Worldline's, each with what to do."""
    try:
        yield
    except apsw.FullError:
        raise StoreFull(
            "the disk is full; nothing of this write was kept; free some space and repeat"
        ) from None
    except apsw.BusyError:
        raise StoreBusy("another program holds the store's write lock; try again") from None
    except apsw.ReadOnlyError:
        raise StoreError("the store is read-only here; check the rights on the file and its folder") from None
    except apsw.CantOpenError as error:
        raise StoreError(f"cannot open the store ({error}); may you write in its folder?") from None
    except apsw.CorruptError as error:
        raise StoreError(f"the file is damaged ({error}); restore a backup") from None
    except apsw.IOError as error:
        raise StoreError(f"the disk reports an error ({error}); nothing of this write was kept") from None
