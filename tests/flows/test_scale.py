"""What a call costs does not grow with the store, nor from one change to the next."""

import importlib
import subprocess
from pathlib import Path

import pytest

import warm

BENCH = Path(__file__).parents[2] / "bench" / "scale.py"


def test_no_call_got_dearer():
    """In a store of one person's facts no call sends more statements, costs more or grows more than is allowed."""
    done = subprocess.run(
        [*warm.python(), str(BENCH), "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_large_store_is_grown_by_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In bulk only the last messages are read for facts, and a folder that has a store already goes on with it."""
    monkeypatch.syspath_prepend(BENCH.parent)
    scale = importlib.import_module("scale")
    monkeypatch.setattr(scale, "READ", 10)
    for size in (110, 210):
        grown = scale.Scale(tmp_path, "person", vectors=False, bulk=True)
        grown.grow(size)
        assert scale.Scale(tmp_path, "person").size == size
    with grown.open(vectors=False) as memory:
        cited = {fact.valid.start for fact in memory.list("Fact", limit=100).items}
        assert len(memory.list("Turn", limit=500).items) == 210
    assert 0 < len(cited) <= 20
