"""One SQLite file: connections, the write lock, transactions, and errors that say what to do.

Readers never wait. Writers queue on an advisory file lock (SQLite's own busy handler starves some
of them), then take SQLite's write lock. A crash at any moment rolls back to the last commit.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from worldline.config import Config, place
from worldline.errors import (
    InvalidInput,
    InvalidText,
    NewerFormat,
    NotAStore,
    NotFound,
    Refused,
    StoreBusy,
    StoreError,
    StoreFull,
)
from worldline.hashing import ALGORITHM
from worldline.ports import Row, Store, Tenant, Vectors
from worldline.store import migrate, schema
from worldline.store.held import TENANT, USED, Held, VectorIndex, its_own
from worldline.store.schema import (
    APPLICATION_ID,
    BULK,
    COLUMNS,
    FORMAT,
    INDEXES,
    TABLES,
    UNSWEPT,
    insertion,
)

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None  # type: ignore[assignment]

_OFD = (fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW) if hasattr(fcntl, "F_OFD_SETLK") else None
"""Locks of an open file (try, wait), where the system has them; elsewhere flock."""
_COUNTER, _QUEUE = 0, 1
PAGE = 512
"""Bytes of a page. A write touches many pages and changes little in each: small ones write a third less."""
CHECKPOINT = 32000
"""Pages of the log, after which they are copied back; the more, the fewer are copied twice."""
STATEMENTS = 400
"""So many prepared statements are kept; a night, a write and a question have some hundred each."""
CLOSED = "the store was closed meanwhile; open it again"
FULL = "the disk is full; nothing of this write was kept; free some space and repeat"


_PUT = {table: insertion(table, columns) for table, columns in COLUMNS.items()}


class SqliteStore(Held):
    """A store in one file, or in memory for `:memory:`."""

    packs = True

    def __init__(self, path: str | Path, config: Config) -> None:
        super().__init__(config)
        self.path = str(path)
        self.in_memory = self.path == ":memory:"
        self._local = threading.local()
        self._write_lock = threading.RLock()
        self._open: list[tuple[threading.Thread, apsw.Connection]] = []
        """Each with the thread that it belongs to: what a thread leaves behind is closed for it."""
        self._opening = threading.Lock()
        self._closed = False
        self._shared = self._connect() if self.in_memory else None
        self._place: tuple[int, int] | None = None
        """Which file it is, wherever its name leads by now."""
        try:
            with translated():
                if not self.in_memory and not _has_bytes(self.path):
                    self._make()
                self._prepare()
            if not self.in_memory:
                self._place = _place(self.path)
        except BaseException:
            self.close()
            raise

    # Connections -------------------------------------------------------------------------------

    def connection(self) -> apsw.Connection:
        """This thread's connection (the only one, for a store in memory); none is made once the store is closed."""
        if self._shared is not None:
            return self._shared
        found = getattr(self._local, "connection", None)
        if found is None:
            if self._closed:
                raise StoreError(CLOSED)
            found = self._local.connection = self._connect()
        return found

    def _connect(self) -> apsw.Connection:
        with translated():
            connection = self._file()
            connection.set_busy_timeout(int(self.config.lock_seconds * 1000))
            # One plan a statement: else each new value that is bound has it prepared again (STAT4).
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            connection.execute(f"PRAGMA synchronous = {self.config.durability}")
            connection.execute("PRAGMA cache_size = -16000")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
            with self._opening:
                for owner, left in [pair for pair in self._open if not pair[0].is_alive()]:
                    left.close(True)
                    self._open.remove((owner, left))
                self._open.append((threading.current_thread(), connection))
            return connection

    def keep_shown(self) -> None:
        """Writes down what was shown, if that can be done at once; a busy or read-only file is left alone."""
        if not self.shown or self.in_memory:
            return
        with contextlib.suppress(apsw.Error, StoreError, OSError):
            connection = self.connection()
            connection.set_busy_timeout(0)
            connection.execute("PRAGMA synchronous = NORMAL")  # losing it in a power cut would not matter
            try:
                for tenant in list(self.shown):
                    with self._writing(tenant, keep=True, wait=False):
                        pass
            finally:
                connection.set_busy_timeout(int(self.config.lock_seconds * 1000))
                connection.execute(f"PRAGMA synchronous = {self.config.durability}")

    # Signs of vectors, in files beside the store ---------------------------------------------------

    def _new_index(self) -> Vectors:
        return VectorIndex(beside=self)

    def signs_path(self, tenant: int) -> str:
        """The file with the signs of a tenant's vectors; none for a store in memory."""
        return "" if self.in_memory else f"{self.path}.signs-{tenant & (1 << 64) - 1:016x}"

    def keep_signs(self, tenant: int, moved: int, write: Callable[[str], None]) -> bool:
        """Has the file written, unless rows were moved or erased since, or somebody else writes."""
        if self.in_memory or not _is_writable(self.path):
            return False
        with contextlib.suppress(apsw.Error, StoreError, OSError), self._exclusive(wait=False):
            self._require_place()
            with closing(only_reading(self.path)) as now:  # this thread may be looking at an older state
                if now.execute("SELECT moved FROM tenants WHERE tenant = ?", (tenant,)).get == moved:
                    write(self.signs_path(tenant))
                    return True
        return False

    def _file(self) -> apsw.Connection:
        if not self.in_memory and not _is_writable(self.path):
            return only_reading(self.path)
        return apsw.Connection(self.path, statementcachesize=STATEMENTS)

    def _make(self) -> None:
        """A new store, made aside and put in its place whole; a file of 0 bytes that is there is not one of ours."""
        with self._exclusive():
            if _has_bytes(self.path):
                return  # somebody else was faster
            if os.path.exists(self.path):
                raise NotAStore(
                    f"{self.path} holds 0 bytes: it was cut off; put a backup in its place (worldline restore),"
                    " or delete it to begin anew"
                )
            aside = f"{self.path}.making"
            for name in (aside, f"{aside}-wal", f"{aside}-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name)
            migrate.make_private(aside)
            connection = apsw.Connection(aside)
            try:
                _begin(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.close()
                migrate.drop_logs(self.path)
                os.replace(aside, self.path)
            except BaseException:
                connection.close()
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(aside)
                raise

    def _require_place(self) -> None:
        """Refuses to write into a file that nobody would find again."""
        if self._place is not None and _place(self.path) != self._place:
            raise StoreError(
                f"{self.path} was removed or replaced while it was open; nothing of this write was kept:"
                " open the store again"
            )

    def close(self) -> None:
        """Closes every connection that this store opened, in any thread."""
        if self._open:
            self.keep_shown()
        self._closed = True
        for _, connection in self._open:
            while True:
                try:
                    connection.close(True)
                    break
                except apsw.ThreadingViolationError:  # another thread is in the midst of a statement
                    connection.interrupt()
                    time.sleep(0.001)
        self._open.clear()
        self._local, self._shared = threading.local(), None

    def _prepare(self) -> None:
        connection = self.connection()
        if self._format(connection) != FORMAT:
            self._bring_up(connection)
        self._plan(connection)

    def _bring_up(self, connection: apsw.Connection) -> None:
        with self._exclusive():
            found = self._format(connection)
            if found is None and self.in_memory:
                _begin(connection)
            elif found is None:
                connection.execute("PRAGMA journal_mode = WAL")
                _create(connection)
            else:
                migrate.upgrade(connection, self.path, self.config.language)

    def _plan(self, connection: apsw.Connection) -> None:
        """Tells the planner what it must know, where an older program has not; not if that would have to wait."""
        if schema.planner_is_told(connection) or not _is_writable(self.path):
            return
        with contextlib.suppress(StoreBusy, apsw.BusyError), self._exclusive(wait=False), connection:
            schema.tell_planner(connection)

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

    def readable(self, sql: str, args: Mapping[str, Any]) -> list[Row]:
        """The rows whose text is text; damaged ones are missed, and named, by whoever looks for them."""
        try:
            return self.query(sql, args)
        except UnicodeDecodeError:
            cursor, found = iter(self.connection().execute(sql, args)), []
            while True:
                try:
                    found.append(next(cursor))
                except UnicodeDecodeError:
                    continue
                except StopIteration:
                    return found

    @contextlib.contextmanager
    def reading(self, tenant: str) -> Iterator[Tenant]:
        """One snapshot for several statements; yields what is kept of the tenant."""
        with self._shared_access():
            with translated():
                connection = self.connection()
                inside = connection.in_transaction
            if inside:
                yield self.tenant_row(tenant)
                return
            with translated():
                connection.execute("BEGIN")
                try:
                    yield self.tenant_row(tenant)
                finally:
                    connection.execute("COMMIT")

    def _shared_access(self) -> contextlib.AbstractContextManager[Any]:
        return self._write_lock if self._shared is not None else contextlib.nullcontext()

    def tenant_row(self, tenant: str) -> Tenant:
        """What the store keeps of a tenant."""
        return its_own(self.query(TENANT, {"t": self.number(tenant)}), tenant)

    def number(self, tenant: str) -> int:
        """The number that a tenant's rows carry in a file."""
        return migrate.number_in_file(tenant)

    def size(self) -> int:
        """Bytes of the file, 0 in memory."""
        return 0 if self.in_memory else os.path.getsize(self.path)

    def backup(self, target: str) -> None:
        """A whole copy of the file as another one, while it is in use."""
        with translated():
            migrate.backup(self.connection(), target)

    def missing_indexes(self) -> list[str]:
        """The indexes that are not there, by name."""
        held = {row[0] for row in self.query("SELECT name FROM sqlite_master WHERE type = 'index'")}
        return sorted(INDEXES.keys() - held)

    def mend_indexes(self) -> None:
        """Inside a write transaction: makes those that are missing."""
        for name in self.missing_indexes():
            self.execute(f"CREATE {INDEXES[name]}")
        schema.tell_planner(self.connection())

    def distribute(self) -> list[str]:
        """Refused: a file lies on one machine."""
        raise StoreError(f"{self.path} is a file; copy it to a server first: worldline copy")

    def problems(self) -> list[str]:
        """What SQLite itself finds wrong, and rows that are nobody's."""
        found = self.connection().execute("PRAGMA quick_check(1)").fetchall()
        return [*(str(row[0]) for row in found if row[0] != "ok"), *self._strays()]

    def _strays(self) -> Iterator[str]:
        """A tenant's number follows from its name, and every row is somebody's."""
        for number, name in self.query("SELECT tenant, name FROM tenants ORDER BY tenant"):
            if self.number(name) != number:
                yield f"the number of the tenant {name!r} does not follow from its name"
        written = "EXISTS (SELECT 1 FROM log l WHERE l.tenant = t.tenant)"
        for (name,) in self.query(f"SELECT name FROM tenants t WHERE t.root = 0 AND {written}"):
            yield f"the tenant {name!r} has changesets and no root, so it seems empty"
        for table in TABLES:
            somebody = "SELECT 1 FROM tenants t WHERE t.tenant = x.tenant"
            sql = f"SELECT 1 FROM {table} x WHERE NOT EXISTS ({somebody}) LIMIT 1"
            if table not in ("meta", "tenants") and self.query(sql):
                yield f"{table} has rows of a tenant that there is not"

    def sweep(self) -> bool:
        """Leaves nothing of what was deleted in free pages, the planner's samples or the write-ahead log.

        False where another process still reads an older state, so that its log cannot be cut yet.
        """
        connection = self.connection()
        with self._exclusive(), self._shared_access(), translated():
            if connection.in_transaction:
                raise StoreError("a store is swept between transactions, not inside one")
            marks = connection.execute(
                "SELECT key, value FROM meta WHERE key LIKE ?", (f"{UNSWEPT}%",)
            ).fetchall()
            connection.execute("PRAGMA secure_delete = ON")
            try:
                drop_signs(self.path)
                schema.tell_planner(connection)
                connection.execute("VACUUM")
            finally:
                connection.execute("PRAGMA secure_delete = OFF")
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except (apsw.BusyError, apsw.LockedError):
                return False
            connection.executemany("DELETE FROM meta WHERE key = ? AND value = ?", marks)
            return True

    # Writing -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self, tenant: str, *, keep: bool = True, wait: bool = True) -> Iterator[Tenant]:
        """One write transaction; everything or nothing. `keep=False` rolls back (a dry run).

        Yields what is kept of the tenant. What recalls have shown of them since its last write is
        written down with it. Without `wait` it is now or not at all.
        """
        with self._writing(self.number(tenant), keep=keep, wait=wait):
            yield self.tenant_row(tenant)

    @contextlib.contextmanager
    def _writing(self, tenant: int, *, keep: bool, wait: bool) -> Iterator[None]:
        connection = self.connection()
        with self._exclusive(wait=wait), translated():
            if connection.in_transaction:
                raise StoreError("a write was started inside another transaction of the same thread")
            self._require_place()
            connection.execute("BEGIN IMMEDIATE")
            self._local.writes = True
            try:
                yield
                shown = self.shown_rows(tenant) if keep else []
                if shown:
                    self.insert(USED, shown)
                self._require_place()
                connection.execute("COMMIT" if keep else "ROLLBACK")
                self.forget_shown(tenant, shown)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._local.writes = False

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return getattr(self._local, "writes", False)

    def later(self, sql: str, args: Mapping[str, Any]) -> None:
        """At once: a file is not far away."""
        self.query(sql, args)

    def insert(self, sql: str, rows: Iterable[Row | Mapping[str, Any]]) -> None:
        """The same statement for many rows."""
        self.statements += 1
        self.connection().executemany(sql, rows)

    def put(self, table: str, rows: Sequence[Row], columns: Sequence[str] | None = None) -> None:
        """New rows of a table, with these columns or those of `COLUMNS`; an unnumbered one may be there already."""
        self.insert(_PUT[table] if columns is None else insertion(table, columns), rows)

    @contextlib.contextmanager
    def _exclusive(self, *, wait: bool = True) -> Iterator[None]:
        if not self._write_lock.acquire(wait):
            raise StoreBusy("another thread is writing")
        with contextlib.ExitStack() as held:
            held.callback(self._write_lock.release)
            if self.in_memory or fcntl is None:
                yield
                return
            handle = locked(self.path + ".lock", self.config.lock_seconds if wait else None)
            try:
                yield
            finally:
                os.close(handle)

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Inside: one big commit is not copied back from the WAL at once."""
        connection = self.connection()
        with self._shared_access(), translated():
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("PRAGMA cache_size = -512000")
            try:
                yield
            finally:
                connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
                connection.execute("PRAGMA cache_size = -16000")

    def drop_indexes(self) -> None:
        """Inside the first write transaction of a store: forget the bulk indexes until `make_indexes`."""
        if len(self.query("SELECT 1 FROM tenants LIMIT 2")) < 2:
            for name in BULK:
                self.execute(f"DROP INDEX {name}")

    def make_indexes(self) -> None:
        """Inside the same transaction: make them again."""
        for name in BULK:
            self.execute(f"CREATE {INDEXES[name].replace('INDEX', 'INDEX IF NOT EXISTS', 1)}")
        schema.tell_planner(self.connection())


def drop_signs(path: str) -> None:
    """Takes away the files with the signs of vectors; they are made anew when they are needed."""
    there = Path(path)
    for file in there.parent.glob(f"{glob.escape(there.name)}.signs-*"):
        file.unlink(missing_ok=True)


def only_reading(path: str) -> apsw.Connection:
    """A connection that cannot write; on a disk that cannot be written at all, one that trusts the file as it is."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        if _has_bytes(f"{path}-wal"):
            raise StoreError(
                f"{path} has a write-ahead log that cannot be taken in here; copy both to a writable folder"
            ) from None
        plain = f"file:{quote(path)}?immutable=1"
        return apsw.Connection(plain, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except apsw.NotADBError:
        connection.close()
        raise NotAStore(f"{path} is not a Worldline store (nor any SQLite file)") from None
    return connection


def _is_writable(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)


def _has_bytes(path: str) -> bool:
    return os.path.exists(path) and (not os.path.isfile(path) or os.path.getsize(path) > 0)


def _place(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@cache
def _empty() -> bytes:
    """A new, empty store as the bytes of its file: made once, for all that are opened."""
    with closing(apsw.Connection(":memory:")) as connection:
        _create(connection)
        return connection.serialize("main")


def _begin(connection: apsw.Connection) -> None:
    """Makes a connection to nothing one to a new, empty store."""
    with closing(apsw.Connection(":memory:")) as source:
        source.deserialize("main", _empty())
        with connection.backup("main", source, "main") as copy:
            copy.step()


def _create(connection: apsw.Connection) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("BEGIN IMMEDIATE")
    for name in TABLES:
        connection.execute(migrate.table(name))
    for definition in INDEXES.values():
        connection.execute(f"CREATE {definition}")
    connection.execute("INSERT INTO meta (key, value) VALUES ('hash', ?)", (ALGORITHM,))
    schema.tell_planner(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def stored_format(path: Path) -> int:
    """The format that a file says it has."""
    with translated():
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return int(connection.pragma("user_version"))
        finally:
            connection.close()


def make_folder(path: Path) -> None:
    """The folder that a store is to lie in."""
    try:
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder of {path} ({error.strerror})") from None


def locked(path: str, seconds: float | None) -> int:
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


_CLOSED = (apsw.InterruptError, apsw.ConnectionClosedError, apsw.CursorClosedError)
"""What a thread meets whose connection another one closes."""


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
        raise StoreError(
            f"cannot open the store ({error}); is it a file that you may read, and may you write in its folder?"
        ) from None
    except apsw.NotADBError:
        raise NotAStore("the file is not a Worldline store (nor any SQLite file)") from None
    except apsw.CorruptError as error:
        raise StoreError(f"the file is damaged ({error}); restore a backup") from None
    except apsw.IOError as error:
        raise StoreError(f"the disk reports an error ({error}); nothing of this write was kept") from None
    except _CLOSED:
        raise StoreError(CLOSED) from None


# Another store, to be read and never written: not a byte of its file changes ----------------------
#
# A file of an older format is read through an upgraded copy that is thrown away afterwards.


def open_store(where: str | Path, config: Config) -> Store:
    """The store at a path or URL, made when it is not there."""
    found = where if where == ":memory:" else place(where)
    if isinstance(found, str) and found != ":memory:":
        return _server(found, config)
    if isinstance(found, Path):
        make_folder(found)
    return SqliteStore(found, config)


def _server(url: str, config: Config) -> Store:
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInput(f"{url.partition('://')[0]}:// is no store; give a file, or a URL postgresql://…")
    try:
        from worldline.store.postgres import PostgresStore
    except ImportError as error:
        raise StoreError(f"{error.name} is missing: pip install 'worldline[postgres]'") from None
    return PostgresStore(url, config)


def format_of(where: str | Path) -> int | None:
    """The format of the store at a path or URL; None where there is none."""
    found = place(where)
    if isinstance(found, Path):
        return stored_format(found) if found.exists() else None
    from worldline.store.postgres import stored_format as served_format

    return served_format(found)


class ReadOnlyStore(SqliteStore):
    """A store whose connections cannot write."""

    is_older = False
    """Whether it must be upgraded before it can be read."""

    def _file(self) -> apsw.Connection:
        return only_reading(self.path)

    def keep_signs(self, tenant: int, moved: int, write: Callable[[str], None]) -> bool:
        """Never: nothing is written here, nor beside it."""
        return False

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
            drop_signs(str(there))
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
