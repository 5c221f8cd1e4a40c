"""Two programs on copies of one store, question by question: do they answer alike, and what does each cost?

    python bench/beside.py BEFORE AFTER STORE [--questions 100] [--vectors] [--verbs] [--ask FILE]

BEFORE and AFTER are the `src` folders of two checkouts, STORE is what `bench/scale.py --folder` has left. Each
program is a process of its own with a copy of the store; every question goes to one and then to the other, in turn
the one and the other first, so that whatever else the machine does hits both. CPU time. `--verbs` adds what
`list`, `stats`, `context`, `profile`, `history` and `verify` cost. FILE holds questions, one a line, and stands
for the made-up ones. Exits with 1 where hits, points, facts, answers or text differ.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scale import Talk

FIRST = 3
"""Questions that are asked before anything is counted."""
VERBS = ("list", "stats", "context", "profile", "history", "verify")


class Program:
    """One of the two, with its copy of the store."""

    def __init__(self, name: str, source: str, store: Path, folder: Path, vectors: bool) -> None:
        self.name, self.seconds = name, dict[str, list[float]]()
        copy = folder / name
        copy.mkdir()
        for beside in store.parent.glob(f"{store.name}*"):
            shutil.copy(beside, copy / beside.name)
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(copy / store.name), *(["--vectors"] if vectors else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source},
        )  # fmt: skip

    def call(self, verb: str, argument: str, *, counted: bool) -> str:
        """What it says, its cost noted."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([verb, argument]).encode() + b"\n")
        self.process.stdin.flush()
        seconds, said = json.loads(self.process.stdout.readline())
        if counted:
            self.seconds.setdefault(verb, []).append(seconds)
        return str(said)

    def told(self, verb: str) -> str:
        """P50 / P95 in milliseconds."""
        ordered = sorted(self.seconds[verb])
        middle, worst = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
        return f"{self.name} {1e3 * middle:.1f} / {1e3 * worst:.1f} ms, mean {1e3 * statistics.mean(ordered):.1f}"


def serve(store: str, vectors: bool) -> None:
    """Answers calls until there are no more."""
    import msgspec

    from worldline import Config, Memory
    from worldline.testing import HashEmbedder

    config = Config(embedder="none", reranker="none", durability="normal")
    with Memory.open(store, config, embedder=HashEmbedder(384) if vectors else None) as memory:
        user = memory.scoped(user="me")
        calls: dict[str, Callable[[str], object]] = {
            "recall": lambda question: user.recall(question, asked_at="2026-11-01"),
            "list": lambda _: user.list(),
            "stats": lambda _: len(user.stats()),
            "context": lambda _: user.context(),
            "profile": user.profile,
            "history": user.history,
            "verify": lambda _: memory.verify().ok,
            "fact": lambda _: user.list("Fact", limit=1).items[0].id,
        }
        for line in sys.stdin:
            verb, argument = json.loads(line)
            start = time.process_time()
            answer = calls[verb](argument)
            taken = time.process_time() - start
            said = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
            print(json.dumps([taken, said]), flush=True)


def compare(programs: list[Program], verb: str, arguments: list[str]) -> int:
    """How many of the answers differ."""
    differ = 0
    for number, argument in enumerate(arguments):
        turn = programs[:: 1 if number % 2 else -1]
        said = {program.call(verb, argument, counted=number >= FIRST or verb != "recall") for program in turn}
        if len(said) > 1:
            differ += 1
            print(f"{verb} {argument!r} differs", file=sys.stderr)
    print(
        f"{verb}: {len(arguments)} asked, {differ} differ; {'; '.join(p.told(verb) for p in programs)}",
        flush=True,
    )
    return differ


def main() -> int:
    """A line for each verb."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("before", nargs="?", default="")
    parser.add_argument("after", nargs="?", default="")
    parser.add_argument("store", nargs="?", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--verbs", action="store_true")
    parser.add_argument("--ask", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options: Any = parser.parse_args()
    if options.serve:
        serve(options.serve, options.vectors)
        return 0
    asked = (
        options.ask.read_text().splitlines()
        if options.ask
        else Talk("talk").questions(options.questions + FIRST)
    )
    with tempfile.TemporaryDirectory(dir=options.store.parent) as name:
        programs = [
            Program(one, source, options.store, Path(name), options.vectors)
            for one, source in (("before", options.before), ("after", options.after))
        ]
        differ = compare(programs, "recall", asked)
        for verb in VERBS if options.verbs else ():
            argument = programs[0].call("fact", "", counted=False) if verb == "history" else "Ana"
            differ += compare(programs, verb, [argument] * (2 if verb == "verify" else 10))
        for program in programs:
            program.process.communicate()
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
