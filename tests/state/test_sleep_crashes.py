"""SIGKILL in the middle of the night: the next one goes on, and nothing is lost or done twice."""

from __future__ import annotations

import random
from pathlib import Path

from dreaming import derived, fill, products
from workers import QUICK, end, killed_after, start

from worldline.memory import Memory
from worldline.testing import HashEmbedder


def test_a_killed_night_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    """Killed again and again, sleep makes in the end exactly what it makes in one go."""
    base, whole, torn = (tmp_path / f"{name}.db" for name in ("base", "whole", "torn"))
    with Memory.open(base, QUICK, embedder=HashEmbedder()) as memory:
        fill(memory)
        memory.backup(whole)
        memory.backup(torn)
    with Memory.open(whole, QUICK, embedder=HashEmbedder()) as memory:
        assert memory.consolidate().changed
        wanted, rows = products(memory), derived(memory)
    chance = random.Random(7)
    for _ in range(6):
        killed_after(start("sleep", torn), chance.uniform(0, 0.6))
    end(start("sleep", torn, cold=True))
    with Memory.open(torn, QUICK, embedder=HashEmbedder()) as memory:
        assert products(memory) == wanted
        assert derived(memory) == rows
        assert not memory.consolidate().changed
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]


def test_writers_go_on_while_others_sleep(tmp_path: Path) -> None:
    """Two sleepers and two writers on one file: nothing is lost, doubled or damaged."""
    path = tmp_path / "m.db"
    with Memory.open(path, QUICK, embedder=HashEmbedder()) as memory:
        fill(memory)
    writers = [start("write", path, name, 40) for name in ("eve", "fay")]
    sleepers = [start("sleep", path) for _ in range(2)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline().strip() == "ready"
        writer.stdin.write("go\n")
        writer.stdin.flush()
    written = [line.split()[0] for writer in writers for line in end(writer)]
    for sleeper in sleepers:
        end(sleeper)
    with Memory.open(path, QUICK, embedder=HashEmbedder()) as memory:
        assert len({memory.get(id_).id for id_ in written}) == len(written) == 80
        memory.consolidate()
        assert not memory.consolidate().changed
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]
        twice = [what for what, times in products(memory).items() if times > 1]
        assert [what for what in twice if what[0] == "node" and what[1] != "Turn"] == []
