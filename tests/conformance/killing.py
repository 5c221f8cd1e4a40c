"""Writers whose server is killed under them: what they were told is kept, and they go on by themselves."""

from __future__ import annotations

import threading
import time

from conformance.server import Server
from worldline import Memory
from worldline.config import Config
from worldline.errors import StoreAway, StoreBusy
from worldline.hashing import tenant_number

PATIENT = Config(embedder="none", understand="off", lock_seconds=20.0)
_BETWEEN = 24
"""So many writes are acknowledged between two kills."""
_RECOVERY = 120.0
"""Seconds after which writers that do not go on are given up."""


def kill_under_writers(server: Server, kills: int, writers: int = 16, tenants: int = 4) -> int:
    """Kills a server so many times under its writers; how many writes they were told to be kept, none of them lost."""
    kept: list[list[str]] = [[] for _ in range(writers)]
    over = threading.Event()
    memories = [Memory.open(server.url(), PATIENT, f"t{number % tenants}") for number in range(writers)]

    def write(number: int) -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            name = f"n{number} {turn}"
            try:
                memories[number].note("context", name, "x")
            except (StoreAway, StoreBusy):
                continue
            kept[number].append(name)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(kills):
            _wait_for(kept, sum(map(len, kept)) + _BETWEEN)
            server.kill()
            server.start()
        _wait_for(kept, sum(map(len, kept)) + _BETWEEN)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    for number, memory in enumerate(memories):
        sql, args = "SELECT name FROM nodes WHERE tenant = :t", {"t": tenant_number(f"t{number % tenants}")}
        assert set(kept[number]) <= {row[0] for row in memory._h.store.query(sql, args)}
    assert all(memory.verify().ok for memory in memories[:tenants])
    for memory in memories:
        memory.close()
    return sum(map(len, kept))


def _wait_for(kept: list[list[str]], enough: int) -> None:
    """Until so many writes are acknowledged: after a kill, by writers that nobody has restarted."""
    until = time.monotonic() + _RECOVERY
    while sum(map(len, kept)) < enough:
        assert time.monotonic() < until, "the writers do not go on"
        time.sleep(0.02)
