"""How long a whole memory takes from a file to a server and back, row by row as it is.

    python bench/copying.py [--events 100000] [--store FILE] [--json OUT]

Fills a file (or takes one that a run has left in `--store`), copies it to a server, from there into another file, and
compares the heads of all three logs. Each copy is proved before it is kept, as always.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from recall import fill

from conformance.server import Server
from worldline import Config, Memory
from worldline.store.copying import move
from worldline.testing import HashEmbedder

CONFIG = Config(embedder="none", durability="normal", understand="off")
TENANT = "default"


def opened(where: str | Path) -> Memory:
    """A memory in a file or on a server."""
    return Memory.open(where, CONFIG, TENANT, embedder=HashEmbedder(256))


def copied(source: str | Path, target: str | Path) -> dict[str, Any]:
    """Seconds, CPU and rows of one copy, and the head that it ends in."""
    with opened(source) as origin, opened(target) as copy:
        wall, cpu, stages = time.monotonic(), time.process_time(), dict[str, float]()
        done = move(
            origin._h.store, copy._h.store, TENANT, lambda stage, _: stages.update({stage: time.monotonic()})
        )
        taken = time.monotonic() - wall
        last = max((at for stage, at in stages.items() if "proving" not in stage), default=wall)
        return {
            "seconds": round(taken, 1),
            "rows first": round(last - wall, 1),
            "cpu": round(time.process_time() - cpu, 1),
            "rows": done.rows,
            "changesets": done.changesets,
            "head": done.head,
            "stages": {stage: round(at - wall, 1) for stage, at in stages.items()},
        }


def main() -> int:
    """Prints both ways; exits with 1 where the heads differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    server = Server()
    server.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            first = options.store or Path(folder) / "a.db"
            if not first.exists():
                began = time.monotonic()
                with opened(first) as memory:
                    fill(memory, options.events)
                print(f"filled in {time.monotonic() - began:.0f} s", flush=True)
            found = {
                "file to server": copied(first, server.url()),
                "server to file": copied(server.url(), Path(folder) / "b.db"),
            }
    finally:
        server.stop()
    for way, one in found.items():
        print(f"{way}: {one['rows']:,} rows in {one['seconds']} s, {one['cpu']} s CPU here;", end=" ")
        print(f"all lay there after {one['rows first']} s, the rest proved them")
    memory_ = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    heads = {one["head"] for one in found.values()}
    print(f"heads {'equal' if len(heads) == 1 else 'DIFFER'}, {memory_} MB at most")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return int(len(heads) != 1)


if __name__ == "__main__":
    sys.exit(main())
