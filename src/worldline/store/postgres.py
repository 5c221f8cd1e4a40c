"""One PostgreSQL database: connections, the tenant's lock, transactions, and errors that say what to do.

A reader takes one snapshot (REPEATABLE READ, READ ONLY) and never waits. Writers of one tenant queue
on its row (SELECT … FOR UPDATE, the first statement of every write, which also brings what the log
stands at); writers of different tenants never meet. A connection sees the rows of one tenant, set for
each transaction, whatever a statement asks for. What a transaction has still to tell (rows, and statements
whose outcome nobody looks at) goes out together as one statement (`WITH … INSERT …`), before the first one that
names a table of theirs, or with the commit: a changeset then costs a few statements instead of twenty. The parts of
one statement do not see each other, so no table is in two of them.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import psycopg
from psycopg import errors, pq
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from worldline.config import Config, without_password
from worldline.errors import InvalidText, NewerFormat, NotAStore, StoreAway, StoreBusy, StoreError, StoreFull
from worldline.hashing import ALGORITHM, tenant_number
from worldline.ports import Row, Tenant, Vectors
from worldline.store import dialect
from worldline.store.held import TENANT, USED, Held, its_own
from worldline.store.migrate import NARROWER
from worldline.store.schema import COLUMNS, FORMAT, TABLES, UNSWEPT, on_conflict, quoted

Part = tuple[str, dict[str, Any]]
"""A statement and its values."""


class Outbox:
    """The rows and statements of one transaction that wait."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        self._statements: list[Part] = []
        self._tables: set[str] = set()

    def names(self, sql: str) -> bool:
        """Whether something waits for a table that a statement names."""
        return not self._tables.isdisjoint(tables_of(sql)) if self._tables else False

    def has(self, table: str) -> bool:
        """Whether a statement waits that is about this table."""
        return any(table in tables_of(sql) for sql, _ in self._statements)

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """New rows of a table."""
        self._tables.add(table)
        self._rows.setdefault((table, tuple(columns)), []).extend(rows)

    def later(self, sql: str, args: Mapping[str, Any]) -> None:
        """A statement in the engine's own words."""
        self._tables |= tables_of(sql)
        self._statements.append((sql, dict(args)))

    def emptied(self) -> list[Part]:
        """All that waits, a part a table."""
        parts = [*self._statements, *(_insertion(*of, rows) for of, rows in self._rows.items())]
        self._rows, self._statements, self._tables = {}, [], set()
        return parts


@lru_cache(4096)
def tables_of(sql: str) -> frozenset[str]:
    """The tables that a statement names; written so everywhere, which a test asserts."""
    return frozenset(TABLES) & frozenset(re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)", sql))


def joined(parts: Sequence[Part]) -> Part:
    """Several parts as one statement; each has its own names for its values."""
    texts, values = [], dict[str, Any]()
    for number, (sql, args) in enumerate(parts):
        texts.append(_numbered(sql, number))
        values |= {f"{name}_{number}": value for name, value in args.items()}
    *before, last = texts
    opening = ", ".join(f"w{number} AS ({text})" for number, text in enumerate(before))
    return (f"WITH {opening} {last}" if before else last), values


@lru_cache(1024)
def _numbered(sql: str, number: int) -> str:
    return re.sub(r"%\((\w+)\)s", rf"%(\1_{number})s", sql)


def _insertion(table: str, columns: tuple[str, ...], rows: Sequence[Row]) -> Part:
    """Many rows in one statement, one array a column, in which all values are of one kind."""
    makers = {"DOUBLE PRECISION": float, "BIGINT": int}
    arrays: dict[str, list[Any]] = {}
    for name, *values in zip(columns, *rows, strict=True):
        make = makers.get(dialect.column_types(table)[name])
        arrays[name] = [value if value is None or make is None else make(value) for value in values]
    return dialect.insertion(table, columns), arrays


SCHEMA = "worldline"
CONNECTIONS = 16
"""At most so many connections of one process; whoever finds none free waits."""
MANY, AT_ONCE = 200, 2000
"""From so many rows on they are copied in, by a user whom row-level security lets; else so many go as one statement."""
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(0x574C444E)"
_STARTING = (errors.CannotConnectNow, errors.AdminShutdown, errors.CrashShutdown)
_Connection = psycopg.Connection[Row]


def _is_news(record: logging.LogRecord) -> bool:
    """Not what psycopg logs of a connection that was lost: the error that is raised says it."""
    return "error ignored terminating" not in record.getMessage()


logging.getLogger("psycopg").addFilter(_is_news)


class _Number(psycopg.adapt.Loader):
    """A sum of whole numbers is a whole number; other numerics are floats."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "e" in text.lower() else int(text)


class _Flag(Int8Dumper):
    """A flag lies in a column of numbers."""

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class _Transaction:
    """A connection inside a transaction of one tenant."""

    __slots__ = ("connection", "outbox", "rows", "tenant", "writes")

    def __init__(self, connection: _Connection, tenant: int, rows: list[Row], *, writes: bool) -> None:
        self.connection, self.tenant, self.rows, self.writes = connection, tenant, rows, writes
        self.outbox = Outbox()


class _Pool:
    """Connections that wait for work; made by whoever needs one, kept until one breaks."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url, self._seconds = url, seconds
        self._room = threading.BoundedSemaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._closed = False

    def take(self, until: float) -> _Connection:
        """A connection; a new one where none is idle, tried again as long as there is time."""
        if not self._room.acquire(timeout=max(0.0, until - time.monotonic())):
            raise StoreBusy(f"all {CONNECTIONS} connections of this process are in use; try again")
        try:
            while self._idle:
                found = self._idle.pop()
                if not found.closed:
                    return found
            return self._connected(until)
        except BaseException:
            self._room.release()
            raise

    def _connected(self, until: float) -> _Connection:
        while True:
            try:
                made: _Connection = psycopg.connect(
                    self._url, autocommit=True, prepare_threshold=2, connect_timeout=max(2, int(self._seconds)),
                    options=f"-c search_path={SCHEMA}",
                )  # fmt: skip
                _configure(made)
                return made
            except psycopg.OperationalError as error:
                refused = error.sqlstate is not None and not isinstance(error, _STARTING)
                if refused or _wrong_address(error) or time.monotonic() + 0.1 > until:
                    raise
                time.sleep(0.1)

    def give_back(self, connection: _Connection) -> None:
        """Kept for the next one, unless it broke."""
        if self._closed or not _is_sound(connection):
            connection.close()
        else:
            self._idle.append(connection)
        self._room.release()

    @contextlib.contextmanager
    def one(self) -> Iterator[_Connection]:
        """A connection for a moment, outside of any tenant."""
        connection = self.take(time.monotonic() + self._seconds)
        try:
            yield connection
        finally:
            self.give_back(connection)

    def close(self) -> None:
        """Ends those that wait; those in use end when they are given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()


class PostgresStore(Held):
    """A store in the schema `worldline` of one database."""

    in_memory = False
    packs = False
    """The server reads the numbers of a vector itself."""
    _copies = False
    """Whether this user may COPY into tables with row-level security."""
    _spread = False
    """Whether Citus is there, which plans no statement that writes to several tables."""
    _scans_in = ""
    """The schema of pgvector, if the server can compare vectors."""

    def __init__(self, url: str, config: Config) -> None:
        super().__init__(config)
        self.url = url
        self.path = without_password(url)
        self._local = threading.local()
        self._pool = _Pool(url, config.lock_seconds)
        try:
            with self.translated():
                self._prepare()
        except BaseException:
            self.close()
            raise

    # Opening -----------------------------------------------------------------------------------

    def _prepare(self) -> None:
        with self._pool.one() as connection:
            mine = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
            self._copies = bool(connection.execute(mine).fetchall()[0][0])
            self._spread = bool(_home_of(connection, "citus"))
            if self._format(connection) is None:
                make(connection)
            upgrade(connection)
            self._scans_in = _scanning(connection)
            if (found := self._format(connection)) != FORMAT:
                what = f"{self.path} has format {found}, this Worldline reads {FORMAT}"
                raise (
                    NewerFormat(f"{what}; upgrade Worldline")
                    if found and found > FORMAT
                    else StoreError(what)
                )

    def _format(self, connection: _Connection) -> int | None:
        """The format of the tables, None where there are none; raises where they are no store."""
        if not _is_made(connection):
            return None
        held: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        if held.get("hash") != ALGORITHM:
            raise NotAStore(
                f"{self.path} is hashed with {held.get('hash')}, and this Worldline knows {ALGORITHM}"
            )
        return int(held.get("format", 0))

    def close(self) -> None:
        """Gives all connections back."""
        with contextlib.suppress(StoreError):
            self.keep_shown()
        self._pool.close()

    def _new_index(self) -> Vectors:
        return dialect.ScannedIndex(self._scans_in) if self._scans_in else super()._new_index()

    # Transactions ------------------------------------------------------------------------------

    def _stack(self) -> list[_Transaction]:
        found: list[_Transaction] | None = getattr(self._local, "stack", None)
        if found is None:
            found = self._local.stack = []
        return found

    def _current(self, tenant: int | None) -> _Transaction | None:
        """This thread's transaction of a tenant (of any, where none is named)."""
        for held in reversed(self._stack()):
            if tenant is None or held.tenant == tenant:
                return held
        return None

    def number(self, tenant: str) -> int:
        """The number that a tenant's rows carry: on a server, what its name hashes to."""
        return tenant_number(tenant)

    @contextlib.contextmanager
    def reading(self, tenant: str) -> Iterator[Tenant]:
        """One snapshot for several statements; yields what is kept of the tenant."""
        number = tenant_number(tenant)
        if (held := self._current(number)) is not None:
            rows = self.query(TENANT, {"t": number}) if held.writes else held.rows
            yield its_own(rows, tenant)
            return
        with self._reading(number) as begun:
            yield its_own(begun.rows, tenant)

    @contextlib.contextmanager
    def _reading(self, number: int) -> Iterator[_Transaction]:
        begin = (
            f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL {dialect.SETTING} = '{number}';"
            f" {TENANT.replace(':t', str(number))}"
        )
        with self.translated(), self._begun(begin, number, writes=False) as held:
            yield held
            held.connection.execute("COMMIT")

    @contextlib.contextmanager
    def writing(self, tenant: str, *, keep: bool = True, wait: bool = True) -> Iterator[Tenant]:
        """One write transaction; everything or nothing. `keep=False` rolls back (a dry run).

        Yields what is kept of the tenant, whose row is locked. What recalls have shown since the last write
        is written down with it. Without `wait` it is now or not at all.
        """
        number = tenant_number(tenant)
        if self._current(number) is not None:
            raise StoreError("a write was started inside another transaction of the same thread")
        patience = f"SET LOCAL lock_timeout = '{max(1, int(self.config.lock_seconds * 1000))}'"
        begin = (
            f"BEGIN; SET LOCAL {dialect.SETTING} = '{number}'; {patience};"
            f" {TENANT.replace(':t', str(number))} FOR UPDATE{'' if wait else ' NOWAIT'}"
        )
        with self.translated(), self._begun(begin, number, writes=True) as held:
            yield its_own(held.rows, tenant)
            shown = self.shown_rows(number) if keep else []
            if shown:
                self.insert(USED, shown)
            self._end(held, keep=keep)
            self.forget_shown(number, shown)

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return any(held.writes for held in self._stack())

    @contextlib.contextmanager
    def _begun(self, begin: str, tenant: int, *, writes: bool) -> Iterator[_Transaction]:
        connection, rows = self._first(begin)
        held = _Transaction(connection, tenant, rows, writes=writes)
        stack = self._stack()
        stack.append(held)
        try:
            yield held
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            raise
        finally:
            stack.remove(held)
            self._pool.give_back(connection)

    def _first(self, begin: str) -> tuple[_Connection, list[Row]]:
        """A connection that has begun; one that turns out to be dead is replaced, as long as there is time."""
        until = time.monotonic() + self.config.lock_seconds
        while True:
            connection = self._pool.take(until)
            try:
                cursor = connection.execute(cast(Any, begin))
                while cursor.nextset():
                    pass
                return connection, cursor.fetchall()
            except BaseException as error:
                with contextlib.suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                gone = isinstance(error, psycopg.OperationalError) and not _is_sound(connection)
                self._pool.give_back(connection)
                if not gone or time.monotonic() > until:
                    raise

    def tenant_row(self, tenant: str) -> Tenant:
        """What the store keeps of a tenant."""
        with self.reading(tenant) as found:
            return found

    # Statements --------------------------------------------------------------------------------

    def query(self, sql: str, args: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """All rows of one statement, in the transaction of the tenant that it names."""
        self.statements += 1
        tenant, values = None, cast(Any, args)
        if isinstance(args, Mapping):
            tenant, (text, values) = args.get("t"), dialect.bound(sql, args)
        else:
            text = dialect.adapted(sql)
        held = self._current(tenant)
        if held is not None:
            if held.outbox.names(sql):
                self._send(held)
            return _rows(held.connection, text, values)
        with self._reading(dialect.NOBODY if tenant is None else tenant) as begun:
            return _rows(begun.connection, text, values)

    def insert(self, sql: str, rows: Iterable[Row | Mapping[str, Any]]) -> None:
        """The same statement for many rows, sent together."""
        given = list(rows)
        if given:
            held = self._writer()
            if held.outbox.names(sql):
                self._send(held)
            self.statements += 1
            with held.connection.cursor() as cursor:
                cursor.executemany(cast(Any, dialect.adapted(sql)), given)

    def later(self, sql: str, args: Mapping[str, Any]) -> None:
        """A statement whose outcome nobody looks at: it goes out with others."""
        held = self._writer()
        if held.outbox.names(sql):
            self._send(held)
        held.outbox.later(*dialect.bound(sql, args))

    def put(self, table: str, rows: Sequence[Row], columns: Sequence[str] | None = None) -> None:
        """New rows of a table, with these columns or those of `COLUMNS`; few go out with others."""
        held, columns = self._writer(), COLUMNS[table] if columns is None else columns
        if held.outbox.has(table):
            self._send(held)
        many = len(rows) >= MANY
        if many and self._copies and not on_conflict(table, tuple(columns)):
            self._copy(held.connection, table, columns, rows)
            return
        for start in range(0, len(rows), AT_ONCE):
            held.outbox.add(table, columns, rows[start : start + AT_ONCE])
            if many:
                self._send(held)

    def _copy(self, connection: _Connection, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self.statements += 1
        names = ", ".join(map(quoted, columns))
        with (
            connection.cursor() as cursor,
            cursor.copy(cast(Any, f"COPY {table} ({names}) FROM STDIN")) as copying,
        ):
            for row in rows:
                copying.write_row(row)

    def _send(self, held: _Transaction) -> None:
        """What waits, as one statement; a cluster gets it part by part."""
        parts = held.outbox.emptied()
        for text, values in parts if self._spread or not parts else [joined(parts)]:
            self.statements += 1
            held.connection.execute(cast(Any, text), values)

    def _end(self, held: _Transaction, *, keep: bool) -> None:
        """Sends what waits and the end of the transaction together, and waits for both."""
        with _deciding(held.connection), held.connection.pipeline():
            self._send(held)
            held.connection.execute("COMMIT" if keep else "ROLLBACK")

    def _writer(self) -> _Transaction:
        held = self._current(None)
        if held is None or not held.writes:
            raise StoreError("rows are written inside a write transaction only")
        return held

    # The store as a whole ------------------------------------------------------------------------

    def size(self) -> int:
        """Bytes on the server's disk, indexes included, all tenants together."""
        with self.translated(), self._pool.one() as connection:
            rows = connection.execute(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r'"
                f" AND c.relnamespace = CAST('{SCHEMA}' AS regnamespace)"
            ).fetchall()
        return int(rows[0][0] or 0)

    def distribute(self) -> list[str]:
        """Spreads every table over the nodes of a Citus cluster by tenant; which ones were not yet."""
        with self.translated(), self._pool.one() as connection:
            if not _home_of(connection, "citus"):
                raise StoreError(
                    f"{self.path} has no extension citus; install Citus on every node, then CREATE EXTENSION citus"
                )
            spread = "SELECT CAST(logicalrelid AS text) FROM pg_dist_partition"
            there = {str(row[0]).rpartition(".")[2] for row in connection.execute(spread).fetchall()}
            missing = [
                table for table in sorted(TABLES, key=lambda name: name != "tenants") if table not in there
            ]
            for table in missing:
                connection.execute(cast(Any, dialect.spreading(f"{SCHEMA}.{table}", f"{SCHEMA}.tenants")))
        return missing

    def backup(self, target: str) -> None:
        """Refused: a server has its own way."""
        raise StoreError(f"{self.path} is a server: back it up with pg_dump, or copy it: worldline copy")

    def sweep(self) -> bool:
        """Has the server clear the space of deleted rows; its own log and archives are its operator's to expire."""
        with self.translated(), self._pool.one() as connection:
            marks = connection.execute(
                "SELECT key, value FROM meta WHERE key LIKE %s", [f"{UNSWEPT}%"]
            ).fetchall()
            for name in TABLES:
                connection.execute(cast(Any, f"VACUUM {name}"))
            for mark in marks:  # what somebody erased meanwhile is for the next sweep
                connection.execute("DELETE FROM meta WHERE key = %s AND value = %s", mark)
        return True

    def keep_shown(self) -> None:
        """Writes down what was shown, where that can be done at once."""
        for tenant in list(self.shown):
            with contextlib.suppress(psycopg.Error, StoreError):
                for (name,) in self.query("SELECT name FROM tenants WHERE tenant = :t", {"t": tenant}):
                    with self.writing(name, wait=False):
                        pass

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """psycopg's errors as Worldline's, each with what to do."""
        try:
            yield
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise _trouble(error, self.path) from None
        except psycopg.DataError as error:
            if "NUL" in str(error):
                raise InvalidText("a NUL byte cannot be stored or looked for in PostgreSQL") from None
            raise
        except UnicodeEncodeError as error:
            raise InvalidText(
                f"half of a surrogate pair is not valid Unicode: {error.object[:40]!r}"
            ) from None
        except (errors.UniqueViolation, errors.SerializationFailure) as error:
            raise StoreBusy(f"another writer came first ({_short(error)}); repeat the call") from None
        except errors.InsufficientPrivilege as error:
            raise StoreError(f"{self.path}: {_short(error)}; check the rights of the database user") from None


def _is_made(connection: _Connection) -> bool:
    return bool(connection.execute("SELECT to_regclass('worldline.meta')").fetchall()[0][0])


def make(connection: _Connection) -> None:
    """The tables, by whoever comes first; others wait for it."""
    with connection.transaction():
        connection.execute(_ONE_AT_A_TIME)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        if _is_made(connection):
            return
        for statement in dialect.definitions():
            connection.execute(cast(Any, statement))
        for key, value in (("hash", ALGORITHM), ("format", str(FORMAT))):
            connection.execute("INSERT INTO meta (key, value) VALUES (%s, %s)", (key, value))


def upgrade(connection: _Connection) -> None:
    """Brings the tables of formats 4 to 6 to this one, by whoever comes first; the last two changed files alone."""
    older = "SELECT value FROM meta WHERE key = 'format' AND value IN ('4', '5', '6')"
    if not connection.execute(older).fetchall():
        return
    with connection.transaction():
        connection.execute(_ONE_AT_A_TIME)
        if found := connection.execute(older).fetchall():
            if found[0][0] == "4":
                connection.execute("ALTER TABLE blocks NO FORCE ROW LEVEL SECURITY")
                for statement in NARROWER:
                    connection.execute(cast(Any, statement))
                connection.execute("ALTER TABLE blocks FORCE ROW LEVEL SECURITY")
            connection.execute("UPDATE meta SET value = '7' WHERE key = 'format'")


def stored_format(url: str) -> int | None:
    """The format that a database says it has; None where it holds no store."""
    try:
        with psycopg.connect(url, autocommit=True, options=f"-c search_path={SCHEMA}") as connection:
            if not _is_made(connection):
                return None
            rows = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchall()
            return int(rows[0][0]) if rows else None
    except psycopg.OperationalError as error:
        raise _trouble(error, without_password(url)) from None


def _configure(connection: _Connection) -> None:
    adapters = connection.adapters
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(bool, _Flag)
    adapters.register_loader("numeric", _Number)
    connection.prepared_max = 600


def _home_of(connection: _Connection, extension: str) -> str:
    """The schema that an extension lies in; empty where it is not installed."""
    sql = "SELECT CAST(CAST(extnamespace AS regnamespace) AS text) FROM pg_extension WHERE extname = %s"
    rows = connection.execute(sql, (extension,)).fetchall()
    return str(rows[0][0]) if rows else ""


def _scanning(connection: _Connection) -> str:
    """The schema of pgvector, once every vector is there as it reads them; empty where it is not to be had."""
    home = _home_of(connection, "vector")
    if not home or _has_near(connection):
        return home
    try:
        with connection.transaction():
            connection.execute(_ONE_AT_A_TIME)
            for statement in () if _has_near(connection) else dialect.near_definitions(home):
                connection.execute(cast(Any, statement))
    except errors.InsufficientPrivilege:  # the owner of the tables has not been here since it was installed
        return ""
    return home


def _has_near(connection: _Connection) -> bool:
    sql = (
        "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('worldline.embeddings') AND attname = 'near'"
    )
    return bool(connection.execute(sql).fetchall())


def _rows(connection: _Connection, text: str, values: Any) -> list[Row]:
    cursor = connection.execute(cast(Any, text), values or None)
    return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def _deciding(connection: _Connection) -> Iterator[None]:
    """A connection that breaks while it commits leaves open whether the write was kept; a server's no does not."""
    try:
        yield
    except psycopg.OperationalError as error:
        if not (connection.broken or connection.closed):
            raise
        raise StoreAway(
            f"the server went away while it committed ({_short(error)}); the write was kept whole or not at all:"
            " repeat it (an event is not stored twice)",
            undecided=True,
        ) from None


def _trouble(error: Exception, path: str) -> StoreError:
    if isinstance(error, errors.LockNotAvailable):
        return StoreBusy("another writer holds this tenant; try again")
    if isinstance(error, errors.DiskFull):
        return StoreFull(
            "the server's disk is full; nothing of this write was kept; free some space and repeat"
        )
    if isinstance(error, errors.DeadlockDetected | errors.QueryCanceled):
        return StoreBusy(f"the server gave this call up ({_short(error)}); repeat it")
    if advice := _wrong_address(error):
        return StoreError(f"{path} cannot be opened ({_short(error)}): {advice}")
    return StoreAway(f"{path} does not answer ({_short(error)}); nothing of this call was kept: repeat it")


_WRONG = (
    (r'FATAL: +database "[^"]*" does not exist', "create the database, or name one that is there"),
    (
        r"FATAL: +(?:password authentication failed|role |no pg_hba.conf entry)",
        "correct the user or the password",
    ),
    (r"invalid (?:port number|integer value|URI|connection option)", "correct the address"),
    (r"failed to resolve host|could not translate host name", "correct the host"),
)
"""What is said when a connection is made and no repeating helps, and what does."""


def _wrong_address(error: Exception) -> str:
    """What to correct, where the address is wrong; the driver gives such errors no number of their own."""
    return next((advice for said, advice in _WRONG if re.search(said, str(error))), "")


def _is_sound(connection: _Connection) -> bool:
    """Whether nothing is under way on a connection: one that broke inside a pipeline may not know that it is dead."""
    if connection.closed or connection.broken:
        return False
    at_rest = connection.info.transaction_status == pq.TransactionStatus.IDLE
    return at_rest and connection.info.pipeline_status == pq.PipelineStatus.OFF


def _short(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
