"""The long run: random histories, racing processes and kill −9, at full size.

    python bench/soak.py [--seeds 5] [--operations 20000] [--every 500] [--kills 50] [--writes 500]
                         [--outages 20] [--histories 200]

Prints progress and a summary; exits with 1 when a law did not hold or a write was lost.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

os.environ["WORLDLINE_EMBEDDER"] = "none"
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "state"))

from contention import race
from crashing import kill_loaders, kill_writers
from fuzzing import Fuzz, Ticks

from conformance.killing import kill_under_writers
from conformance.server import Server
from worldline.config import Config
from worldline.memory import Memory
from worldline.model import Predicate


def fuzz(folder: Path, seed: int, operations: int, every: int) -> str:
    """One random history, in a file."""
    began = time.monotonic()

    def progress(done: int) -> None:
        if done % (every * 4) == 0:
            print(f"  seed {seed}: {done:,} operations, {time.monotonic() - began:.0f} s", flush=True)

    with Memory.open(
        folder / f"{seed}.db", Config(durability="normal", embedder="none", reranker="none"), clock=Ticks()
    ) as memory:
        memory.register(Predicate("lives_in", functional=True))
        done = Fuzz(memory, seed).run(operations, every, progress)
        rows = memory.handle.store.query(
            "SELECT (SELECT count(*) FROM beliefs), (SELECT count(*) FROM edges)"
        )[0]
    written, refused = sum(done.done.values()), sum(done.refused.values())
    return f"{written:,} writes, {refused:,} refusals, {rows[0]:,} beliefs, {rows[1]:,} edges"


def racing(folder: Path, writes: int) -> str:
    """Eight processes on one file; three tries for fairness, none for losing anything."""
    results = []
    for attempt in range(3):
        results.append(race(folder / f"race{attempt}.db", 8, writes))
        if results[-1].fairness >= 0.5:
            break
    best = results[-1]
    if best.fairness < 0.5:
        raise AssertionError(f"unfair three times: {results}")
    rate = best.acknowledged / best.seconds
    return (
        f"{best.acknowledged:,} writes, {rate:,.0f}/s, slowest at {best.fairness:.0%} of the fastest,"
        f" {best.looks} snapshots read meanwhile"
    )


def killed_server(kills: int) -> str:
    """A PostgreSQL server killed under sixteen writers of four tenants."""
    server = Server()
    server.start()
    try:
        return f"{kill_under_writers(server, kills):,} acknowledged over {kills} kills, none lost"
    finally:
        server.stop()


def forgetting(histories: int) -> str:
    """Random histories with things forgotten, in files and on a server."""
    chosen = ["tests/flows/test_forget.py", "-k", "random_histories_leave_nothing"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *chosen],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "WL_FORGET_SEEDS": str(histories)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stdout[-4000:])
    return f"{histories} histories on each store left nothing"


def main() -> int:
    """Every part, even after one has failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, default in (
        ("seeds", 5),
        ("operations", 20_000),
        ("every", 500),
        ("kills", 50),
        ("writes", 500),
        ("outages", 20),
        ("histories", 200),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], str]] = {
            "processes": lambda: racing(folder, options.writes),
            "killed writers": lambda: (
                f"{kill_writers(folder / 'k.db', options.kills)} acknowledged, none lost"
            ),
            "killed loads": lambda: (
                f"{kill_loaders(folder / 'l.db', options.kills // 3, 2000)} whole batches"
            ),
        }
        parts["killed server"] = lambda: killed_server(options.outages)
        parts["forgetting"] = lambda: forgetting(options.histories)
        for seed in range(1, options.seeds + 1):
            parts[f"fuzz, seed {seed}"] = lambda s=seed: fuzz(folder, s, options.operations, options.every)  # type: ignore[misc]
        failed = [title for title, part in parts.items() if not _passes(title, part)]
    print("all passed" if not failed else f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _passes(title: str, part: Callable[[], str]) -> bool:
    began = time.monotonic()
    try:
        told = part()
    except Exception:
        traceback.print_exc()
        print(f"{title}: FAILED after {time.monotonic() - began:.0f} s", flush=True)
        return False
    print(f"{title}: {told} ({time.monotonic() - began:.0f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
