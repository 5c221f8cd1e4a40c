"""A memory moves between a file and a server as it is: both time axes, log, hashes, words and vectors."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner

from worldline import Memory
from worldline.config import Config
from worldline.errors import Refused, StoreError
from worldline.store import packing
from worldline.store.copying import move
from worldline.surfaces.cli import main
from worldline.testing import HashEmbedder

PLAIN = Config(embedder="none")


def filled(path: str | Path, tenant: str) -> Memory:
    """A memory with versions, edges, facts, scopes, worlds and a night."""
    memory = Memory.open(path, PLAIN, tenant, embedder=HashEmbedder())
    tea = memory.note("context", "tea", "green tea with lemon", metadata={"mood": "calm"})
    memory.amend(tea, content="black tea")
    memory.scoped(user="u").note("context", "mine", "only user u")
    for number in range(30):
        told = f"I live in Porto since {1990 + number}."
        memory.remember(told, speaker="Ana", session=f"s{number // 10}")
    memory.consolidate()
    return memory


def told(memory: Memory) -> list[object]:
    """What it answers, now and as of its past."""
    start = memory.list("context").items[-1].known.start
    return [
        memory.recall("Where does Ana live?").text,
        memory.recall("tea").text,
        [node.id for node in memory.list("context").items],
        [node.content for node in memory.at(known=start + 1).list("context").items],
        memory.handle.tenant_row(),
    ]


def vectors(memory: Memory) -> list[bytes]:
    """The vectors of all passages, as they are kept."""
    sql = "SELECT vector FROM embeddings WHERE tenant = :t ORDER BY passage"
    return [
        bytes(row[0])
        for row in memory.handle.store.query(sql, {"t": memory.handle.store.number(memory.handle.tenant)})
    ]


def test_there_and_back(url: str, tmp_path: Path) -> None:
    """From a file to a server and into another file: the same head, the same answers, and it goes on."""
    whose = uuid.uuid4().hex
    with (
        filled(tmp_path / "a.db", whose) as origin,
        Memory.open(url, PLAIN, whose, embedder=HashEmbedder()) as server,
        Memory.open(tmp_path / "b.db", PLAIN, whose, embedder=HashEmbedder()) as back,
    ):
        done = move(origin.handle.store, server.handle.store, whose)
        again = move(server.handle.store, back.handle.store, whose)
        assert (done.head, done.rows) == (again.head, again.rows)
        assert told(server) == told(origin) == told(back)
        assert set(map(len, vectors(server))).isdisjoint(map(len, vectors(back)))  # each in its own way
        assert vectors(back) == vectors(origin) == [packing.packed(vector) for vector in vectors(server)]
        assert move(origin.handle.store, server.handle.store, whose).already

        origin.note("context", "later", "x")
        assert not move(origin.handle.store, server.handle.store, whose).already
        assert server.note("context", "on the server", "y").changed
        assert server.verify().ok
        assert len(server.list("context").items) == 4
        with pytest.raises(Refused, match="another memory"):
            move(origin.handle.store, server.handle.store, whose)


def test_a_copy_that_fails_leaves_nothing(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut short in the middle of a tenant, the target holds nothing of it, and the next try completes it."""
    whose = uuid.uuid4().hex
    with filled(tmp_path / "a.db", whose) as origin, Memory.open(url, PLAIN, whose) as server:
        store = server.handle.store
        original = type(store).put

        def broken(self: object, table: str, *rest: object) -> None:
            if table == "facts":
                raise StoreError("cut short")
            original(self, table, *rest)  # type: ignore[arg-type]

        with monkeypatch.context() as cut:
            cut.setattr(type(store), "put", broken)
            with pytest.raises(StoreError, match="cut short"):
                move(origin.handle.store, store, whose)
        assert not server.handle.tenant_row().id
        assert server.list("context").items == ()
        assert move(origin.handle.store, store, whose).head == origin.handle.tenant_row().head.hex()


def test_from_the_shell(url: str, tmp_path: Path) -> None:
    """`worldline copy` moves every tenant of a file, or one, and says what it did."""
    first, second = uuid.uuid4().hex, uuid.uuid4().hex
    for tenant in (first, second):
        with Memory.open(tmp_path / "a.db", PLAIN, tenant) as memory:
            memory.note("context", "tea", tenant)
    run = CliRunner().invoke
    done = run(main, ["copy", str(tmp_path / "a.db"), url, "--tenant", first, "--json"])
    assert [item["tenant"] for item in json.loads(done.stdout)["tenants"]] == [first]
    done = run(main, ["copy", str(tmp_path / "a.db"), url, "--json"])
    assert sorted(item["already"] for item in json.loads(done.stdout)["tenants"]) == [False, True]
    with Memory.open(url, PLAIN, second) as memory:
        assert [node.content for node in memory.list("context").items] == [second]
    missing = run(main, ["copy", str(tmp_path / "none.db"), url])
    assert missing.exit_code == 1
    assert not (tmp_path / "none.db").exists()


def test_other_verbs_take_a_url(url: str) -> None:
    """The shell works on a server as on a file: init, note, recall, verify, doctor, migrate."""
    whose = ["--db", url, "--tenant", uuid.uuid4().hex]
    run = CliRunner().invoke
    assert run(main, ["init", *whose]).exit_code == 0
    assert run(main, ["note", "context", "tea", "green", *whose]).exit_code == 0
    assert "green" in run(main, ["recall", "tea", *whose]).stdout
    assert run(main, ["verify", *whose]).exit_code == 0
    assert "format" in run(main, ["doctor", *whose]).stdout
    assert "up to date" in run(main, ["migrate", *whose]).stdout
    refused = run(main, ["backup", "x.db", *whose])
    assert "pg_dump" in refused.output
    refused = run(main, ["distribute", url])
    assert "no extension citus" in refused.output
    assert refused.exit_code == 1
