"""What the same memory costs in a file and on one PostgreSQL server, in one run.

    python bench/stores.py [--events 400] [--turns 60] [--json OUT]

Both stores hear the same invented messages and are asked the same questions, turn about, so that whatever
else the machine does hits both. CPU is that of this process and of all processes of the server together;
round trips are what is sent to the server. Size is what the messages took on disk, indexes included.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from walk_costs import ASKED, TOLD, messages

from conformance.server import Server
from worldline import Config, Event, Memory
from worldline.testing import HashEmbedder

BARS = {"remember": (3.0, 30), "recall": (2.2, 12)}
"""How many times the CPU of a file, and how many statements."""


class Measured:
    """One store, and what its verbs have cost so far."""

    def __init__(self, memory: Memory, server: Server | None) -> None:
        self.memory, self._server = memory, server
        self.statements: dict[str, list[int]] = {}
        self.cpu: dict[str, list[tuple[float, float]]] = {}

    def __call__(self, verb: str, works: list[Callable[[Memory], object]]) -> None:
        """Some calls of a verb, measured together."""
        store = self.memory.handle.store
        before = time.process_time(), self._server.cpu() if self._server else 0.0
        for work in works:
            sent = store.statements
            work(self.memory)
            self.statements.setdefault(verb, []).append(store.statements - sent)
        after = time.process_time(), self._server.cpu() if self._server else 0.0
        share = [(end - start) / len(works) for start, end in zip(before, after, strict=True)]
        self.cpu.setdefault(verb, []).append((share[0], share[1]))

    def told(self, verb: str) -> dict[str, float]:
        """Milliseconds of both sides, and statements."""
        client, server = (1000 * median(pair[side] for pair in self.cpu[verb]) for side in (0, 1))
        sent = self.statements[verb]
        return {"client": client, "server": server, "statements": median(sent), "most": max(sent)}


def said(number: int) -> Event:
    """One more message, unlike those before it."""
    return Event(
        f"{TOLD[number % len(TOLD)]} That was on day {number}.",
        "Vera",
        said_at=f"2026-02-01T10:{number % 60:02d}:00Z",
    )


def run(events: int, turns: int) -> dict[str, Any]:
    """Fills both stores, then tells and asks them turn about."""
    config = Config(embedder="none", reranker="none", lock_seconds=30.0)
    server = Server()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server.start()
        stack.callback(server.stop)
        both = {
            name: Measured(stack.enter_context(Memory.open(where, config, embedder=HashEmbedder(256))), own)
            for name, where, own in (("file", Path(folder) / "m.db", None), ("server", server.url(), server))
        }
        empty = {name: one.memory.handle.store.size() for name, one in both.items()}
        for event in messages(events):
            for one in both.values():
                one.memory.remember(event)
        size = {name: (one.memory.handle.store.size() - empty[name]) / events for name, one in both.items()}
        for number in range(0, turns, 5):
            for one in both.values():
                one("remember", [lambda m, n=n: m.remember(said(n)) for n in range(number, number + 5)])  # type: ignore[misc]
                one("recall", [lambda m, q=q: m.recall(q) for q in ASKED])  # type: ignore[misc]
        return {
            "events": events,
            "bytes an event": {name: round(value) for name, value in size.items()},
            **{verb: {name: one.told(verb) for name, one in both.items()} for verb in BARS},
        }


def main() -> int:
    """Prints a table; exits with 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=400)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result, failed = run(options.events, options.turns), False
    for verb, (times, statements) in BARS.items():
        file, server = result[verb]["file"], result[verb]["server"]
        ratio = (server["client"] + server["server"]) / file["client"]
        failed |= ratio > times or server["statements"] > statements
        print(f"{verb}: file {file['client']:.1f} ms, {file['statements']:.0f} statements")
        print(
            f"  server {server['client']:.1f} + {server['server']:.1f} ms = {ratio:.2f} x the file (bar {times}),"
        )
        print(f"  {server['statements']:.0f} statements, at most {server['most']} (bar {statements})")
    print(f"bytes an event: {result['bytes an event']}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
