"""One SQLite file: connections, the write lock, transactions, and errors that say what to do.

Readers never wait. Writers queue on an advisory file lock (SQLite's own busy handler starves some
of them), then take SQLite's write lock. A crash at any moment rolls back to the last commit.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from worldline.config import Config
from worldline.errors import InvalidText, NewerFormat, NotAStore, StoreBusy, StoreError, StoreFull
from worldline.hashing import ALGORITHM
from worldline.store import archive, migrate
from worldline.store.schema import APPLICATION_ID, BULK, FORMAT, INDEXES, SLEEP_TABLES, TABLES
from worldline.store.vectors import VectorIndex

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None  # type: ignore[assignment]

_OFD = (fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW) if hasattr(fcntl, "F_OFD_SETLK") else None
"""Locks of an open file (try, wait), where the system has them; elsewhere flock."""
_COUNTER, _QUEUE = 0, 1
SHOWN = 4096
"""So many shown memories are kept in mind between two writes; the oldest are dropped."""
USED = (
    "INSERT INTO uses (tenant, line, scope, kind, at) SELECT ?1, ?2, coalesce((SELECT b.scope FROM beliefs b"
    " WHERE b.tenant = ?1 AND b.line = ?2 ORDER BY b.id LIMIT 1), 0), ?3, ?4"
)
"""Notes aside that a lineage was shown, useful or wrong, for whoever sleeps over its owner's memory."""
Row = tuple[Any, ...]
FULL = "the disk is full; nothing of this write was kept; free some space and repeat"


class SqliteStore:
    """A store in one file, or in memory for `:memory:`."""

    def __init__(self, path: str | Path, config: Config) -> None:
        self.path = str(path)
        self.config = config
        self.in_memory = self.path == ":memory:"
        self.statements = 0
        self.vectors: dict[str, VectorIndex] = {}
        self.matcher: Any = None
        """What the walk has learned about similar words, kept between questions."""
        self.meanings: dict[str, Any] = {}
        """Vectors of names that were compared."""
        self.common: dict[str, int] = {}
        """Words that many texts hold, with a count of some time ago: counting them again costs the most."""
        self.swept: set[str] = set()
        """Tenants whose missing vectors have been looked for since the store was opened."""
        self.leaves: dict[int, Any] = {}
        """By tenant, the hashes of single memories, which are not stored because they follow from their ids."""
        self.shown: dict[tuple[int, int], int] = {}
        """(tenant, lineage) → moment: what recalls have shown since the last write; never much."""
        self._local = threading.local()
        self._write_lock = threading.RLock()
        self._open: list[tuple[threading.Thread, apsw.Connection]] = []
        """Each with the thread that it belongs to: what a thread leaves behind is closed for it."""
        self._opening = threading.Lock()
        self._shared = self._connect() if self.in_memory else None
        try:
            with translated():
                self._prepare()
        except BaseException:
            self.close()
            raise

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
            connection = self._file()
            connection.set_busy_timeout(int(self.config.lock_seconds * 1000))
            connection.execute(f"PRAGMA synchronous = {self.config.durability}")
            connection.execute("PRAGMA cache_size = -16000")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.register_fts5_function(archive.FUNCTION, archive.rank_in_all)
            with self._opening:
                for owner, left in [pair for pair in self._open if not pair[0].is_alive()]:
                    left.close(True)
                    self._open.remove((owner, left))
                self._open.append((threading.current_thread(), connection))
            return connection

    def note_shown(self, tenant: int, lines: Iterable[int], at: int) -> None:
        """Lineages that a recall has shown; written down with the next write, not by the read."""
        for line in lines:
            self.shown[tenant, line] = at
        while len(self.shown) > SHOWN:
            self.shown.pop(next(iter(self.shown)), None)

    def keep_shown(self) -> None:
        """Writes down what was shown, if that can be done at once; a busy or read-only file is left alone."""
        if not self.shown or self.in_memory:
            return
        with contextlib.suppress(apsw.Error, StoreError, OSError):
            connection = self.connection()
            connection.set_busy_timeout(0)
            connection.execute("PRAGMA synchronous = NORMAL")  # losing it in a power cut would not matter
            try:
                with self.writing(wait=False):
                    pass
            finally:
                connection.set_busy_timeout(int(self.config.lock_seconds * 1000))
                connection.execute(f"PRAGMA synchronous = {self.config.durability}")

    def _file(self) -> apsw.Connection:
        if not self.in_memory:
            migrate.make_private(self.path)
        return apsw.Connection(self.path)

    def close(self) -> None:
        """Closes every connection that this store opened, in any thread."""
        if self._open:
            self.keep_shown()
        for _, connection in self._open:
            while True:
                try:
                    connection.close(True)
                    break
                except apsw.ThreadingViolationError:  # another thread is in the midst of a statement
                    connection.interrupt()
                    time.sleep(0.001)
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
            empty = connection.execute("SELECT count(*) FROM sqlite_master").get == 0
            application = connection.pragma("application_id")  # after it: both are committed at once
        except apsw.NotADBError:
            raise NotAStore(f"{self.path} is not a Worldline store (nor any SQLite file)") from None
        if empty and application == 0:
            if not self.in_memory and os.path.getsize(self.path) == 1:  # SQLite would write over it
                raise NotAStore(f"{self.path} holds one byte and is not a Worldline store")
            return None
        if application != APPLICATION_ID:
            raise NotAStore(f"{self.path} is an SQLite file of another program, not a Worldline store")
        version = int(connection.pragma("user_version"))
        if version > FORMAT:
            raise NewerFormat(
                f"{self.path} has format {version}, this Worldline reads up to {FORMAT}; upgrade Worldline"
            )
        try:
            algorithm = connection.execute("SELECT value FROM meta WHERE key = 'hash'").get
        except apsw.SQLError:
            raise NotAStore(f"{self.path} has a Worldline store's mark and not its tables") from None
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

    def problems(self) -> list[str]:
        """What SQLite itself finds wrong.

        Through a connection of its own: FTS5 checks against a structure that it cached before
        others wrote, and then reports corruption where there is none.
        """
        fresh = None if self._shared else apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = (fresh or self.connection()).execute("PRAGMA quick_check(1)").fetchall()
        finally:
            if fresh:
                fresh.close()
        return [str(row[0]) for row in found if row[0] != "ok"]

    # Writing -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self, *, keep: bool = True, wait: bool = True) -> Iterator[None]:
        """One write transaction; everything or nothing. `keep=False` rolls back (a dry run).

        What recalls have shown since the last one is written down with it. Without `wait` it is now
        or not at all.
        """
        connection = self.connection()
        with self._exclusive(wait=wait), translated():
            if connection.in_transaction:
                raise StoreError("a write was started inside another transaction of the same thread")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                shown = dict(self.shown) if keep else {}
                if shown:
                    self.insert(USED, [(*key, "shown", at) for key, at in shown.items()])
                connection.execute("COMMIT" if keep else "ROLLBACK")
                for key, at in shown.items():
                    if self.shown.get(key) == at:
                        self.shown.pop(key, None)
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
    def _exclusive(self, *, wait: bool = True) -> Iterator[None]:
        if not self._write_lock.acquire(wait):
            raise StoreBusy("another thread is writing")
        with contextlib.ExitStack() as held:
            held.callback(self._write_lock.release)
            if self.in_memory or fcntl is None:
                yield
                return
            handle = _locked(self.path + ".lock", self.config.lock_seconds if wait else None)
            try:
                yield
            finally:
                os.close(handle)

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Inside: one big commit is not copied back from the WAL at once. Then planner statistics."""
        connection = self.connection()
        with self._shared_access(), translated():
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("PRAGMA cache_size = -512000")
            try:
                yield
            finally:
                connection.execute("PRAGMA wal_autocheckpoint = 1000")
                connection.execute("PRAGMA cache_size = -16000")
                connection.execute("PRAGMA analysis_limit = 400")
                with contextlib.suppress(apsw.BusyError):  # statistics can wait for the next load
                    connection.execute("PRAGMA optimize")

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
    connection.execute(TABLES + SLEEP_TABLES)
    for definition in INDEXES.values():
        connection.execute(f"CREATE {definition}")
    connection.execute("INSERT INTO meta VALUES ('hash', ?)", (ALGORITHM,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def make_folder(path: Path) -> None:
    """The folder that a store is to lie in."""
    try:
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder of {path} ({error.strerror})") from None


def _locked(path: str, seconds: float | None) -> int:
    """A handle that holds the advisory lock; without `seconds` it is had at once or not at all.

    Two locks in one file, as in a shop with a counter and a queue: whoever comes queues first, and
    leaves the queue only once at the counter. So a writer that comes back at once cannot pass those
    who wait, as it would with one lock.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(FULL) from None
        raise StoreError(f"cannot write here ({error}); check the rights on the folder") from None
    if not _lock(handle, wait=False):
        if seconds is None:
            os.close(handle)
            raise StoreBusy(f"another process holds {path}")
        _in_time(handle, path, seconds)
    return handle


def _lock(handle: int, *, wait: bool) -> bool:
    """Queue, counter, and out of the queue; False when it would have to wait and may not."""
    flags = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
    try:
        if _OFD is None:
            fcntl.flock(handle, flags)
            return True
        for byte in (_QUEUE, _COUNTER):
            fcntl.fcntl(handle, _OFD[wait], _range(fcntl.F_WRLCK, byte))
    except BlockingIOError:
        if _OFD is not None:
            fcntl.fcntl(handle, _OFD[0], _range(fcntl.F_UNLCK, _QUEUE))
        return False
    fcntl.fcntl(handle, _OFD[0], _range(fcntl.F_UNLCK, _QUEUE))
    return True


def _range(kind: int, byte: int) -> bytes:
    """A `struct flock` for one byte of the lock file."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0)


def _in_time(handle: int, path: str, seconds: float) -> None:
    """Waits in a thread, because only a blocking lock is fair and it has no timeout of its own."""
    taken, guard = threading.Event(), threading.Lock()
    abandoned: list[bool] = []

    def wait() -> None:
        _lock(handle, wait=True)
        with guard:
            taken.set()
            if abandoned:
                os.close(handle)

    def give_up() -> bool:
        """Whether the lock came at the last moment after all."""
        with guard:
            abandoned.append(True)
            return taken.is_set()

    threading.Thread(target=wait, daemon=True).start()
    try:
        if taken.wait(seconds) or give_up():
            return
    except BaseException:  # an interrupt must not leave the lock with a thread that nobody waits for
        if give_up():
            os.close(handle)
        raise
    raise StoreBusy(f"another process has held {path} for {seconds:g} s; is one of them stopped?")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """SQLite's errors as Worldline's, each with what to do."""
    try:
        yield
    except apsw.FullError:
        raise StoreFull(FULL) from None
    except UnicodeEncodeError as error:
        raise InvalidText(f"half of a surrogate pair is not valid Unicode: {error.object[:40]!r}") from None
    except apsw.BusyError:
        raise StoreBusy("another program holds the store's write lock; try again") from None
    except apsw.ReadOnlyError:
        raise StoreError("the store is read-only here; check the rights on the file and its folder") from None
    except apsw.CantOpenError as error:
        raise StoreError(f"cannot open the store ({error}); may you write in its folder?") from None
    except apsw.NotADBError:
        raise NotAStore("the file is not a Worldline store (nor any SQLite file)") from None
    except apsw.CorruptError as error:
        raise StoreError(f"the file is damaged ({error}); restore a backup") from None
    except apsw.IOError as error:
        raise StoreError(f"the disk reports an error ({error}); nothing of this write was kept") from None
