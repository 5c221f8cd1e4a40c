"""Kill −9 at random moments, and what must be true afterwards.

Used by the suite a few times and by `bench/soak.py` many times.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from workers import killed_after, start

from worldline.memory import Memory


def kill_writers(path: Path, kills: int, seed: int = 0) -> int:
    """Kills one of two writers again and again; returns how many acknowledged writes were checked."""
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    for turn in range(kills):
        children = [start("facts", path, f"p{turn}{who}", cold=turn == 0) for who in "ab"[: 1 + turn % 2]]
        for child in children:
            acknowledged.update(killed_after(child, chance.uniform(0, 0.5)))
        check_after(path, acknowledged)
    return len(acknowledged)


def check_after(path: Path, acknowledged: set[str]) -> None:
    """Everything acknowledged is there, nothing is damaged, and what was pending is completed once."""
    ids = {line.split()[0] for line in acknowledged}
    with Memory.open(path) as memory:
        query = memory.handle.store.query
        stored = {row[0].hex() for row in query("SELECT hash FROM nodes WHERE type = 'Turn'")}
        assert ids <= stored, f"{len(ids - stored)} acknowledged events are gone"
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]
        pending = {
            row[0].hex()
            for row in query(
                "SELECT n.hash FROM events e JOIN nodes n ON n.id = e.node WHERE e.state = 'pending'"
            )
        }
        assert not pending & ids, "an acknowledged event is still pending"
        resumed = memory.resume()
        assert {receipt.id for receipt in resumed} == pending
        assert memory.resume() == ()
        assert memory.verify().ok
        check_facts(memory)


def check_facts(memory: Memory) -> None:
    """Every event's facts, given and read, are there exactly once; each person lives in the last town."""
    query = memory.handle.store.query
    facts = Counter(
        query(
            "SELECT s.name, f.predicate, o.name FROM facts f JOIN nodes s ON s.id = f.subject"
            " JOIN nodes o ON o.id = f.object"
        )
    )
    spoken = query("SELECT e.sender, e.said_at / 1000000 FROM events e")
    wanted = {
        (who, verb, f"{thing} {n}")
        for who, n in spoken
        for verb, thing in (("lives_in", "town"), ("saw", "sight"))
    }
    assert set(facts) == wanted, (set(facts) - wanted, wanted - set(facts))
    assert set(facts.values()) <= {1}
    last: dict[str, int] = {}
    for who, number in spoken:
        last[who] = max(number, last.get(who, 0))
    homes = query(
        "SELECT s.name, o.name FROM facts f JOIN nodes n ON n.id = f.node JOIN beliefs b ON b.node = f.node"
        " JOIN nodes s ON s.id = f.subject JOIN nodes o ON o.id = f.object"
        " WHERE f.predicate = 'lives_in' AND b.kt = 9223372036854775807 AND b.vt = 9223372036854775807"
    )
    assert sorted(homes) == sorted((who, f"town {number}") for who, number in last.items())


def kill_loaders(path: Path, kills: int, size: int, seed: int = 0) -> int:
    """Kills bulk loads; a batch is there whole or not at all. Returns the batches acknowledged."""
    chance, whole = random.Random(seed), 0
    for turn in range(kills):
        file = path.with_name(f"{turn}{path.name}")
        lines = killed_after(start("load", file, size, cold=turn == 0), chance.uniform(0, size / 400))
        with Memory.open(file) as memory:
            worlds = {node.id for node in memory.list("project", limit=500).items}
            assert {line.split()[1] for line in lines} <= worlds
            assert memory.verify().ok
            for world in worlds:
                assert len(memory.enter(world).list("learning", limit=500).items) == min(size, 500)
            indexes = memory.handle.store.query(
                "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql != ''"
            )
            assert indexes[0][0] == _index_count()
            assert memory.note("learning", "after the crash", "").changed
        whole += len(lines)
    return whole


def _index_count() -> int:
    with Memory.open(":memory:") as memory:
        rows = memory.handle.store.query(
            "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql != ''"
        )
        return int(rows[0][0])
