"""How many writes one server takes from one tenant, and from many at once.

    python bench/tenants.py [--tenants 16] [--seconds 8] [--rounds 3] [--durable] [--json OUT]

Every tenant is a process of its own: threads of one Python process take turns, so they would measure that and not
the server. Tenants share nothing but the server, so what they write together should grow until its cores are busy.
One and many are measured turn about; `--durable` lets the server wait for its disk with every commit. On a machine
that others use, many processes get more of it than one: the CPU time of a write tells what was left of that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from walk_costs import messages

from conformance.server import SETTINGS, Server
from worldline import Config, Memory

BAR, WARM = 1.6, 40
"""How many times the rate of one; after so many writes every kind of message was met and its statements are known."""
CONFIG = Config(embedder="none", reranker="none", lock_seconds=30.0)


class Rate(NamedTuple):
    """Writes a second, and the CPU seconds that one of them took, here and on the server."""

    writes: float
    cpu: float


def write(url: str, tenant: str, seconds: float, together: Barrier, told: Any) -> None:
    """Writes as one tenant for some time, once all are ready; tells how many writes that were, and their CPU."""
    with Memory.open(url, CONFIG, tenant) as memory:
        said = messages(1_000_000)
        for _ in range(WARM):
            memory.remember(next(said))
        together.wait()
        done, end, cpu = 0, time.monotonic() + seconds, time.process_time()
        while time.monotonic() < end:
            memory.remember(next(said))
            done += 1
        told.put((done, time.process_time() - cpu))
        together.wait()


def rate(server: Server, name: str, tenants: int, seconds: float) -> Rate:
    """What so many tenants write together."""
    kind = multiprocessing.get_context("fork")
    together, told = kind.Barrier(tenants + 1), kind.Queue()
    workers = [
        kind.Process(target=write, args=(server.url(), f"{name} {number}", seconds, together, told))
        for number in range(tenants)
    ]
    for worker in workers:
        worker.start()
    together.wait()
    cpu = server.cpu()
    done = [told.get(timeout=seconds + 300) for _ in workers]
    cpu = server.cpu() - cpu
    together.wait()
    for worker in workers:
        worker.join()
    writes = sum(count for count, _ in done)
    return Rate(writes / seconds, (cpu + sum(own for _, own in done)) / writes)


def main() -> int:
    """Prints the rates of all rounds; exits with 1 where many are not enough faster than one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tenants", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--durable", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    server = Server(
        settings=SETTINGS | ({"fsync": "on", "full_page_writes": "on"} if options.durable else {})
    )
    server.start()
    try:
        Memory.open(server.url(), CONFIG, "first").close()
        rounds = [
            (
                rate(server, f"{number} one", 1, options.seconds),
                rate(server, f"{number}", options.tenants, options.seconds),
            )
            for number in range(options.rounds)
        ]
    finally:
        server.stop()
    for one, many in rounds:
        print(f"one tenant {one.writes:.1f} writes/s, {1000 * one.cpu:.1f} ms CPU each;", end=" ")
        print(
            f"{options.tenants} together {many.writes:.1f}, {1000 * many.cpu:.1f} ms: {many.writes / one.writes:.2f} x"
        )
    ratio = median(many.writes / one.writes for one, many in rounds)
    cores = len(os.sched_getaffinity(0))
    room = median(cores * one.cpu / many.cpu for one, many in rounds)
    print(f"median {ratio:.2f} x on {cores} cores (bar {BAR}); their CPU time alone would allow {room:.2f} x")
    if options.json:
        options.json.write_text(
            json.dumps({"rounds": rounds, "ratio": ratio, "by CPU": room, "cores": cores})
        )
    return int(min(ratio, room) < BAR)


if __name__ == "__main__":
    sys.exit(main())
