"""What a verb costs a server: how many statements, and that nothing is seen too late by sending them together."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest

from conformance.test_statements import unbound
from worldline import Config, Memory
from worldline.store import postgres
from worldline.testing import HashEmbedder

KNOWN = (
    "My sister Hanna works at Blue Kite.",
    "I bought a kayak.",
    "Ina works at Tarn Labs.",
    "My boss is Clara Holm.",
)
TOLD = (
    "I bought a telescope.",
    "My sister Hanna works at Tarn Labs.",
    "My doctor is Petra Holm and I am allergic to walnuts.",
    "I moved to Bergen in March and my boss is Clara Holm.",
)
ASKED = ("Where does Hanna work?", "Who is my boss?", "What did I buy?", "Who works at Tarn Labs?")


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    """A memory on a server, with vectors, that has heard a little."""
    with Memory.open(url, Config(embedder="none"), uuid.uuid4().hex, embedder=HashEmbedder()) as opened:
        for text in KNOWN:
            opened.remember(text, speaker="Vera")
        yield opened


def test_statements_are_few(memory: Memory) -> None:
    """A turn with its facts and its vector takes 30 statements at most, a question 12."""
    store = memory.handle.store
    for text in TOLD:
        before = store.statements
        memory.remember(text, speaker="Vera")
        assert store.statements - before <= 30, text
    for question in ASKED:  # then the vectors are in memory
        memory.recall(question)
    for question in ASKED:
        before = store.statements
        memory.recall(question)
        assert store.statements - before <= 12, question
    assert memory.verify().ok


def test_what_waits_is_seen(memory: Memory) -> None:
    """Rows and statements that wait are there for whoever asks for them inside the transaction, and only then sent."""
    store, tenant = memory.handle.store, memory.handle.tenant_row().id
    args, columns = {"t": tenant}, ("tenant", "key", "line")
    sql = "SELECT key, line FROM blocks WHERE tenant = :t AND key IN ('#a', '#b') ORDER BY key"
    with memory.handle.writing(keep=False):
        before = store.statements
        store.put("blocks", [(tenant, "#a", 1)], columns)
        store.put("blocks", [(tenant, "#b", 2)], columns)
        store.query("SELECT 1 FROM nodes WHERE tenant = :t LIMIT 1", args)
        assert store.statements - before == 1
        store.later("UPDATE blocks SET line = line + 10 WHERE tenant = :t AND key IN ('#a', '#b')", args)
        store.put("blocks", [(tenant, "#b", 12)], columns)
        assert store.query(sql, args) == [("#a", 11), ("#b", 12)]
    assert store.query(sql, args) == []


def test_a_statement_of_many_parts_is_bound(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes out together names the tenant beside every table, in every part."""
    sent: list[str] = []
    original = postgres.joined

    def listening(parts: list[postgres.Part]) -> postgres.Part:
        sent.extend(sql for sql, _ in parts)
        return original(parts)

    monkeypatch.setattr(postgres, "joined", listening)
    memory.remember("My cousin Ana lives in Graz with Petra Holm.", speaker="Vera")
    assert len(sent) > 10
    assert {sql for sql in sent if unbound(re.sub(r"%\((\w+)\)s", r":\1", sql), "postgres")} == set()
