"""Several processes write one file at once: who got how far, and is everything there?

Used by the suite with a few writes and by `bench/soak.py` with many.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from msgspec import Struct
from workers import end, start

from worldline.memory import Memory

Child = subprocess.Popen[str]


class Race(Struct, frozen=True):
    """How a race of writers went."""

    acknowledged: int
    fastest: int
    slowest: int
    """How many writes each had done when the first one finished."""
    seconds: float
    looks: int
    """How many snapshots the readers took meanwhile."""

    @property
    def fairness(self) -> float:
        return self.slowest / self.fastest


def race(path: Path, writers: int, writes: int, readers: int = 2) -> Race:
    """All writers start at one signal; raises when any of them, or a reader, meets an error."""
    children = [start("write", path, f"w{n}", writes, cold=n == 0) for n in range(writers)]
    watching = [start("read", path) for _ in range(readers)]
    try:
        return _run(path, children, watching, writes)
    finally:
        for child in (*children, *watching):
            child.kill()
            child.wait()


def _run(path: Path, children: list[Child], watching: list[Child], writes: int) -> Race:
    for child in (*children, *watching):
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n", child.communicate()[1]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    lines = [end(child, 900) for child in children]
    looks = [int(end(child)[-1]) for child in watching]
    times = [[float(line.split()[1]) for line in own] for own in lines]
    ids = {line.split()[0] for own in lines for line in own}
    assert all(len(own) == writes for own in lines)
    assert len(ids) == len(children) * writes
    _all_there(path, ids, len(children))
    finish = min(own[-1] for own in times)
    done = [sum(at <= finish for at in own) for own in times]
    return Race(
        len(ids),
        max(done),
        min(done),
        max(own[-1] for own in times) - min(own[0] for own in times),
        sum(looks),
    )


def _all_there(path: Path, ids: set[str], writers: int) -> None:
    with Memory.open(path) as memory:
        stored = {row[0].hex() for row in memory.handle.store.query("SELECT hash FROM nodes")}
        assert ids <= stored, f"{len(ids - stored)} acknowledged writes are missing"
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]
        senders = Counter(row[0] for row in memory.handle.store.query("SELECT sender FROM events"))
        assert len(senders) == writers
        assert len(set(senders.values())) == 1
