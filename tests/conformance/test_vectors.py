"""Vectors that the server compares: the same nodes and cosines as in memory, and room that stays bounded."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from conformance.server import Server
from worldline import Config, Memory
from worldline.store import dialect, held
from worldline.store.dialect import ScannedIndex
from worldline.store.held import Newest, VectorIndex
from worldline.store.schema import WORDS_PER_NODE
from worldline.testing import HashEmbedder

PLAIN = Config(embedder="none", understand="off")
WIDTH = 16


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    """A tenant with notes in three scopes and vectors of one to three passages, some of them of no use."""
    rng = np.random.default_rng(3)
    with Memory.open(url, PLAIN, uuid.uuid4().hex) as opened:
        for number in range(240):
            scoped = opened.scoped(user=f"u{number % 3}") if number % 4 else opened
            scoped.note("context", f"n{number}", f"text {number}")
        with opened._h.writing() as tenant:
            sql = "SELECT id FROM nodes WHERE tenant = :t ORDER BY id"
            nodes = [row[0] for row in opened._h.store.query(sql, {"t": tenant.id})]
            rows = []
            for node in nodes:
                for part in range(1 + node % 3):
                    vector = rng.standard_normal(WIDTH)
                    packed = (vector / np.linalg.norm(vector)).astype(np.float16).tobytes()
                    rows.append((len(rows) + 1, tenant.id, node * WORDS_PER_NODE + part, packed))
            rows.append((len(rows) + 1, tenant.id, (max(nodes) + 1) * WORDS_PER_NODE, b"\0\0" * 3))
            none = np.full(WIDTH, np.nan, np.float16).tobytes()
            rows.append((len(rows) + 1, tenant.id, (max(nodes) + 2) * WORDS_PER_NODE, none))
            columns, middle = ("id", "tenant", "passage", "vector"), nodes[len(nodes) // 3] * WORDS_PER_NODE
            opened._h.store.put("embeddings", [row for row in rows if row[2] >= middle], columns)
            opened._h.store.put("cold_embeddings", [row for row in rows if row[2] < middle], columns)
        yield opened


@pytest.mark.parametrize("archive", [False, True])
@pytest.mark.parametrize("narrowed", ["no", "scopes", "nodes", "both"])
def test_as_in_memory(memory: Memory, narrowed: str, archive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """For random questions, narrowed or not, the server and memory agree on every node and cosine."""
    monkeypatch.setattr(dialect, "SCANS", 1000)
    monkeypatch.setattr(dialect, "SMALL", 0)
    handle, rng = memory._h, np.random.default_rng(5)
    tenant = handle.tenant_row().id
    known = dict(memory._h.store.query("SELECT name, id FROM nodes WHERE tenant = :t", {"t": tenant}))
    scopes = {row[0] for row in handle.store.query("SELECT id FROM scopes WHERE tenant = :t", {"t": tenant})}
    wish = {
        "scopes": sorted(scopes)[:2] if narrowed in ("scopes", "both") else None,
        "nodes": sorted(known.values())[::2] if narrowed in ("nodes", "both") else None,
    }
    ours, theirs = handle.store.index_of(handle.tenant), VectorIndex()
    assert isinstance(ours, ScannedIndex)
    with handle.reading() as row:
        view = handle.view(row)
        view = view.bind(cold=True) if archive else view
        ((vector, belief),) = view.query(
            "SELECT (SELECT max(id) FROM embeddings WHERE tenant = :t), (SELECT max(id) FROM beliefs WHERE tenant = :t)"
        )
        for _ in range(20):
            query = rng.standard_normal(WIDTH).astype(np.float32)
            found = [
                index.search(view, query, 10, Newest(vector, belief), **wish) for index in (ours, theirs)
            ]
            assert found[0] == found[1]
            assert len(found[0]) == 10
            among = list(known.values())[:50]
            assert ours.cosines(view, query, among) == theirs.cosines(view, query, among)
    assert ours.size == 0


def test_whoever_asks_again_is_kept_in_memory(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first questions are the server's; then the vectors are loaded, and answers stay what they were."""
    monkeypatch.setattr(dialect, "SMALL", 0)
    with Memory.open(url, PLAIN, uuid.uuid4().hex, embedder=HashEmbedder(64)) as memory:
        for text in ("I bought a kayak.", "My boss is Clara.", "Ina lives in Graz.", "We planted tomatoes."):
            memory.remember(text, speaker="Vera")
        index = memory._h.store.index_of(memory._h.tenant)
        told = []
        for asked in range(1, 5):
            told.append([(hit.node.id, hit.score) for hit in memory.recall("What did Vera buy?").hits])
            assert bool(index.size) == (asked > dialect.SCANS)
        assert told[0] == told[-1]


def test_room_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tenants a process is asked about, what it keeps of their vectors stays within its room."""
    monkeypatch.setattr(held, "ROOM", 3_000_000)
    kept, one = held.Held(PLAIN), 0
    for number in range(60):
        index = kept.index_of(f"t{number}")
        assert isinstance(index, VectorIndex)
        assert sum(other.size for other in kept.vectors.values()) <= 3_000_000 + one
        index.take([(row * WORDS_PER_NODE, bytes(2 * 64)) for row in range(900)], 64)
        one = index.size
    assert one > 200_000
    assert "t59" in kept.vectors
    assert "t40" not in kept.vectors


def test_a_server_without_the_extension_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors lie in memory until the extension is there; then they are given to it when the store is opened next."""
    monkeypatch.setattr(dialect, "SMALL", 0)
    server = Server()
    server.start()
    try:
        told = []
        for installed in (False, True):
            with Memory.open(server.url(), PLAIN, "a", embedder=HashEmbedder(64)) as memory:
                if not installed:
                    memory.remember("I bought a kayak.", speaker="Vera")
                assert isinstance(memory._h.store.index_of("a"), ScannedIndex) == installed
                told.append([(hit.node.id, hit.score) for hit in memory.recall("What did Vera buy?").hits])
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        assert told[0] == told[1] != []
    finally:
        server.stop()
