"""Real processes on one server, of one tenant and of two: nothing lost, nothing doubled, every night whole."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest

from worldline import Memory

sys.path.insert(0, str(Path(__file__).parent.parent / "state"))
from workers import QUICK, end, start

WRITES = 6


@pytest.fixture
def tenants() -> tuple[str, str]:
    """Two that nobody else uses."""
    return uuid.uuid4().hex, uuid.uuid4().hex


def test_processes_write_and_sleep_side_by_side(url: str, tenants: tuple[str, str]) -> None:
    """Two processes on one tenant and one on another, all writing and sleeping at once."""
    one, another = tenants
    names = ((one, "Ana"), (one, "Ben"), (another, "Ana"))
    children = {
        (whose, name): start("share", url, whose, name, WRITES, cold=whose == another)
        for whose, name in names
    }
    try:
        for child in children.values():
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n", child.communicate()[1]
        for child in children.values():
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        told = {key: [line.split() for line in end(child)] for key, child in children.items()}
    finally:
        for child in children.values():
            child.kill()
            child.wait()
    for whose in tenants:
        own = {line[0] for key, lines in told.items() if key[0] == whose for line in lines}
        same = {line[1] for key, lines in told.items() if key[0] == whose for line in lines}
        assert (len(own), len(same)) == (WRITES * sum(key[0] == whose for key in names), WRITES)
        with Memory.open(url, QUICK, whose) as memory:
            assert {turn.id for turn in memory.list("Turn", limit=100).items} == own | same
            memory.consolidate()
            assert not memory.consolidate().changed
            verified = memory.verify()
            assert verified.ok, verified.damage[:3]
