"""Any history, exported and put back, is the same memory: contents, ids, intervals, edges, proofs."""

import tempfile
from pathlib import Path

from hypothesis import given, settings

from laws.harness import Pair, histories
from worldline import Memory
from worldline.testing import FrozenClock

LATER = 10**9


def beliefs(memory: Memory) -> list[tuple[object, ...]]:
    """Every belief that is still held, without this store's own times and numbers."""
    rows = memory.handle.store.query(
        "SELECT n.hash, b.vf, b.vt, (SELECT key FROM scopes WHERE id = b.scope), b.status, l.hash"
        " FROM beliefs b JOIN nodes n ON n.id = b.node JOIN nodes l ON l.id = b.line"
        " WHERE b.kt = 9223372036854775807"
    )
    return sorted((str(row), row) for row in rows)


def edges(memory: Memory) -> list[tuple[object, ...]]:
    """Every edge that is still believed."""
    rows = memory.handle.store.query(
        "SELECT hash, type, vf, vt, (SELECT key FROM scopes WHERE id = scope) FROM edges"
        " WHERE kt = 9223372036854775807"
    )
    return sorted((str(row), row) for row in rows)


@given(histories)
@settings(max_examples=40)
def test_a_copy_is_the_same_memory(history: list[tuple[object, ...]]) -> None:
    """What was ever believed and linked survives a copy, with its times; worlds and log end in the same hashes."""
    pair = Pair()
    for op in history:
        pair.apply(op)
    origin = pair.memory
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.jsonl"
        origin.export(path)
        copy = Memory.open(":memory:", clock=FrozenClock(LATER))
        report = copy.import_(path)

    assert report.skipped == ()
    assert copy.verify().damage == ()
    assert beliefs(copy) == beliefs(origin)
    assert edges(copy) == edges(origin)
    assert {node.id for node, _ in copy.worlds()} == {node.id for node, _ in origin.worlds()}
    assert copy.hash() == origin.hash()
    assert copy.handle.tenant_row() == origin.handle.tenant_row()
    ever = "SELECT * FROM beliefs ORDER BY id"
    assert copy.handle.store.query(ever) == origin.handle.store.query(ever)
