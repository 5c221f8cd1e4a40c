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
    rows = memory._h.store.query(
        "SELECT n.hash, b.vf, b.vt, (SELECT key FROM scopes WHERE id = b.scope), b.status, l.hash"
        " FROM beliefs b JOIN nodes n ON n.id = b.node JOIN nodes l ON l.id = b.line"
        " WHERE b.kt = 9223372036854775807"
    )
    return sorted((str(row), row) for row in rows)


def edges(memory: Memory) -> list[tuple[object, ...]]:
    """Every edge that is still believed."""
    rows = memory._h.store.query(
        "SELECT hash, type, vf, vt, (SELECT key FROM scopes WHERE id = scope) FROM edges"
        " WHERE kt = 9223372036854775807"
    )
    return sorted((str(row), row) for row in rows)


@given(histories)
@settings(max_examples=40)
def test_a_copy_is_the_same_memory(history: list[tuple[object, ...]]) -> None:
    """What is believed, what is linked and every history's length survive a copy, and it proves itself.

    Worlds' hashes do too, unless something was put into a world after that world had moved.
    """
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
    if not any(op[0] in ("end_edge", "undo") or op[3:4] == ("contains",) for op in history):
        assert copy.hash() == origin.hash()
    count = "SELECT count(*) FROM beliefs"
    assert copy._h.store.query(count) == origin._h.store.query(count)
