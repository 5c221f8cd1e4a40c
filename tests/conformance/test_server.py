"""What a server can do to a memory and a file cannot: go away, mix tenants, let many write at once."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from conformance.killing import kill_under_writers
from conformance.server import Server
from worldline import Memory
from worldline.config import Config
from worldline.errors import (
    InvalidInput,
    InvalidText,
    NewerFormat,
    NotAStore,
    StoreAway,
    StoreBusy,
    StoreError,
)
from worldline.hashing import tenant_number
from worldline.store import people
from worldline.store.copying import move
from worldline.store.schema import TABLES

PLAIN = Config(embedder="none", understand="off", lock_seconds=20.0)


@pytest.fixture
def whose() -> str:
    """A tenant of a test's own."""
    return uuid.uuid4().hex


# Whose rows ----------------------------------------------------------------------------------------


def test_a_statement_without_a_tenant_sees_one(url: str, whose: str) -> None:
    """Even a statement that forgets the tenant, or names another one, meets only rows of its own."""
    with Memory.open(url, PLAIN, whose) as mine, Memory.open(url, PLAIN, whose + "2") as theirs:
        for memory in (mine, theirs):
            memory.remember("I live in Porto.", speaker="Ana", session="s", metadata={"a": 1})
        store, args = mine.handle.store, {"t": tenant_number(whose), "other": tenant_number(whose + "2")}
        for table in (name for name in TABLES if name != "meta"):
            with mine.handle.reading():
                found = {row[0] for row in store.query(f"SELECT DISTINCT tenant FROM {table}", args)}
                assert found <= {args["t"]}, table
                assert not store.query(f"SELECT 1 FROM {table} WHERE tenant = :other", args)


def test_a_row_of_another_tenant_cannot_be_written(url: str, whose: str) -> None:
    """A write that names another tenant is refused by the server, and what it would change stays."""
    with Memory.open(url, PLAIN, whose) as mine, Memory.open(url, PLAIN, whose + "2") as theirs:
        mine.note("context", "tea", "green")
        theirs.note("context", "tea", "black")
        args = {"t": tenant_number(whose), "other": tenant_number(whose + "2")}
        with mine.handle.writing():
            mine.handle.store.execute("UPDATE nodes SET content = 'none' WHERE tenant = :other", args)
            mine.handle.store.execute("DELETE FROM beliefs WHERE tenant = :other", args)
        with pytest.raises(StoreError), mine.handle.writing():
            mine.handle.store.execute("INSERT INTO sleep VALUES (:other, 'a', 'b', 1, '')", args)
        assert theirs.verify().ok
        assert [node.content for node in theirs.list("context").items] == ["black"]


def test_a_name_with_a_number_that_is_taken_is_refused(url: str, whose: str) -> None:
    """Two names with one number never share rows: the second one is refused."""
    with Memory.open(url, PLAIN, whose) as mine:
        mine.note("context", "tea", "green")
        with psycopg.connect(url.replace("worldline_tester", "postgres"), autocommit=True) as connection:
            connection.execute(
                "UPDATE worldline.tenants SET name = 'somebody else' WHERE tenant = %s",
                (tenant_number(whose),),
            )
        for attempt in (lambda: mine.list("context"), lambda: mine.note("context", "tea", "black")):
            with pytest.raises(Exception, match="somebody else"):
                attempt()


# Many at once --------------------------------------------------------------------------------------


def test_writers_of_one_tenant_queue(url: str, whose: str) -> None:
    """Writers in threads and handles of their own leave a log without gaps and rising known times."""
    memories = [Memory.open(url, PLAIN, whose) for _ in range(4)]

    def write(number: int) -> None:
        for turn in range(5):
            memories[number].note("context", f"n{number} {turn}", "x")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with memories[0] as memory:
        assert memory.verify().ok
        assert len(memory.list("context", limit=50).items) == 20
        log = memory.handle.store.query(
            "SELECT sequence, known FROM log WHERE tenant = :t ORDER BY sequence", {"t": tenant_number(whose)}
        )
        assert [row[0] for row in log] == list(range(1, 22))
        assert [row[1] for row in log] == sorted({row[1] for row in log})
    for memory in memories[1:]:
        memory.close()


def test_other_tenants_do_not_wait(url: str, whose: str) -> None:
    """While one tenant's row is held, another tenant writes, and the held one is told in time."""
    short = Config(embedder="none", understand="off", lock_seconds=0.2)
    with Memory.open(url, PLAIN, whose) as held, Memory.open(url, short, whose + "2") as other:
        held.note("context", "tea", "green")
        with held.handle.writing(), Memory.open(url, short, whose) as second:
            assert other.note("context", "tea", "black").changed
            with pytest.raises(StoreBusy, match="try again"):
                second.note("context", "tea", "white")
        assert held.note("context", "tea", "white").changed


def test_a_reader_sees_one_snapshot(url: str, whose: str) -> None:
    """What is written while somebody reads is seen by the next read, not by this one."""
    with Memory.open(url, PLAIN, whose) as writer, Memory.open(url, PLAIN, whose) as reader:
        writer.note("context", "one", "x")
        with reader.handle.reading():
            before = reader.list("context").items
            writer.note("context", "two", "x")
            assert reader.list("context").items == before
        assert len(reader.list("context").items) == 2


# Away ----------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of a test's own, to be killed."""
    own = Server()
    own.start()
    yield own
    own.stop()


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(server: Server) -> None:
    """Sixteen writers of four tenants go on after each kill without being restarted; every receipt holds."""
    assert kill_under_writers(server, 4) > 100


def test_a_server_that_is_not_there_is_told_as_such(server: Server) -> None:
    """Opening and reading say within the configured time that nobody answers, and that one may repeat it."""
    short = Config(embedder="none", lock_seconds=0.5)
    memory = Memory.open(server.url(), short, "a")
    memory.note("context", "tea", "green")
    server.kill()
    with pytest.raises(StoreAway, match="repeat"):
        memory.list("context")
    with pytest.raises(StoreAway, match="repeat"):
        Memory.open(server.url(), short, "a")
    server.start()
    assert [node.name for node in memory.list("context").items] == ["tea"]
    memory.close()


def test_a_no_with_the_commit_is_no_lost_connection(url: str, whose: str) -> None:
    """What a server refuses of the last statements of a write is told as what it is, and nothing is kept."""
    with Memory.open(url, PLAIN, whose) as memory:
        memory.note("context", "tea", "green")
        slow = "UPDATE nodes SET name = 'none' WHERE tenant = :t AND CAST(pg_sleep(5) AS text) = ''"

        def write() -> None:
            with memory._h.writing() as tenant:
                memory._h.store.execute("SET LOCAL statement_timeout = '50ms'")
                memory._h.store.later(slow, {"t": tenant.id})

        with pytest.raises(StoreBusy, match="repeat"):
            write()
        assert [node.name for node in memory.list("context").items] == ["tea"]


# What is refused -----------------------------------------------------------------------------------


def test_a_nul_byte_is_refused_in_words_of_our_own(url: str, whose: str) -> None:
    """PostgreSQL cannot hold a NUL byte; looking for one finds nothing or is an InvalidInput, never a crash."""
    with Memory.open(url, PLAIN, whose) as memory:
        with pytest.raises(InvalidText):
            memory.note("context", "a\0b", "x")
        with pytest.raises(InvalidInput):
            memory.list("context", metadata={"a\0": 1})


def test_tables_of_another_format_are_refused(server: Server) -> None:
    """A database of a later format, or hashed otherwise, is refused and not touched."""
    Memory.open(server.url(), PLAIN, "a").close()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("UPDATE worldline.meta SET value = '99' WHERE key = 'format'")
        with pytest.raises(NewerFormat, match="upgrade"):
            Memory.open(server.url(), PLAIN, "a")
        connection.execute("UPDATE worldline.meta SET value = 'sha-256' WHERE key = 'hash'")
        with pytest.raises(NotAStore, match="sha-256"):
            Memory.open(server.url(), PLAIN, "a")


def test_tables_of_format_4_are_brought_up(server: Server) -> None:
    """Names are found under the keys that older tables have, of every tenant, and the format is told."""
    url = server.url()
    with Memory.open(url, Config(embedder="none"), "a") as memory:
        memory.remember("Katarzyna Nowak lives in Porto.", speaker="Ana")
        memory.handle.write("keys", lambda tx, place: (people.give_keys(tx), True))
        with memory.handle.reading():
            keys = set(memory.handle.store.query("SELECT key FROM blocks"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE worldline.blocks SET key = right(key, 1) || ':' || left(key, -2)")
        connection.execute("DROP INDEX worldline.events_sender; DROP INDEX worldline.facts_key")
        connection.execute("UPDATE worldline.meta SET value = '4' WHERE key = 'format'")

    with Memory.open(url, Config(embedder="none"), "a") as memory:
        with memory.handle.reading():
            assert set(memory.handle.store.query("SELECT key FROM blocks")) == keys
        assert memory.handle.store.missing_indexes() == []


def test_tables_of_format_5_are_brought_up(server: Server) -> None:
    """Nothing has to change for them: rows written before and after prove themselves."""
    url = server.url()
    with Memory.open(url, Config(embedder="none")) as memory:
        memory.remember("Katarzyna Nowak lives in Porto.", speaker="Ana")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE worldline.meta SET value = '5' WHERE key = 'format'")
    with Memory.open(url, Config(embedder="none")) as memory:
        memory.remember("Katarzyna Nowack lives in Braga.", speaker="Ana")
        assert len(memory.merges()) == 1
        assert memory.verify().ok


def test_the_usual_tenant_moves_between_a_file_and_a_server(server: Server, tmp_path: Path) -> None:
    """Its number is another one there, and its hashes, words and vectors are the same."""
    url, path = server.url(), tmp_path / "m.db"
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.remember("Katarzyna Nowak lives in Porto.", speaker="Ana")
        hits = [hit.node.id for hit in memory.recall("Where does Katarzyna live?").hits]
        with Memory.open(url, Config(embedder="none")) as there:
            assert move(memory.handle.store, there.handle.store, "default").rows
    with Memory.open(url, Config(embedder="none")) as there:
        assert [hit.node.id for hit in there.recall("Where does Katarzyna live?").hits] == hits != []
        there.remember("Katarzyna likes figs.", speaker="Ana")
        with Memory.open(path, Config(embedder="none")) as memory:
            assert move(there.handle.store, memory.handle.store, "default").rows
            assert memory.verify().ok
            assert memory.remember("Katarzyna Nowack lives in Braga.", speaker="Ana").changed


def test_a_password_is_never_shown(url: str) -> None:
    """Messages and representations name the server without its password."""
    with Memory.open(url.replace("worldline_tester@", "worldline_tester:hushed@"), PLAIN) as memory:
        assert "hushed" not in repr(memory)
        assert "worldline_tester@" in repr(memory)
    with pytest.raises(InvalidInput, match="mysql"):
        Memory.open("mysql://somewhere/db")


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda url: url.rpartition("/")[0] + "/nowhere", "create the database"),
        (lambda url: re.sub(r"//[^@/]*@", "//nobody:x@", url), "correct the user"),
        (lambda url: re.sub(r":\d+/", ":99999/", url), "correct the address"),
        (lambda url: "postgresql://nowhere.invalid/memory", "correct the host"),
    ],
)
def test_a_wrong_address_says_at_once_what_is_wrong_with_it(
    url: str, wrong: Callable[[str], str], advice: str
) -> None:
    """A database, user, port or host that is not there is named, and nobody is told to repeat the call."""
    begun = time.monotonic()
    with pytest.raises(StoreError, match=advice) as told:
        Memory.open(wrong(url), PLAIN).stats()
    assert not isinstance(told.value, StoreAway)
    assert time.monotonic() - begun < PLAIN.lock_seconds / 2


def test_a_connection_that_hangs_inside_a_pipeline_is_not_used_again(url: str, whose: str) -> None:
    """A connection that was given back while something was under way on it is closed; the next call takes another."""
    with Memory.open(url, PLAIN, whose) as memory:
        memory.note("context", "tea", "green")
        pool = memory.handle.store._pool
        hanging = pool.take(time.monotonic() + 1)
        hanging.pgconn.enter_pipeline_mode()
        pool.give_back(hanging)
        memory.note("context", "tea", "black")

        assert hanging.closed
        assert memory.verify().ok
