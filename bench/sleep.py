"""What a night costs: the same 500 new events in a store of 10,000 and in one of 100,000.

    python bench/sleep.py [SMALL] [LARGE] [NEW] [--embedders none,hash] [--passes a,b] [--json OUT]

Each store gets talk with a realistic vocabulary in sessions of 20 turns, and a first night. Then come the
new events, and a night that is measured pass by pass: CPU time of this process, least of three runs over
copies of the store. A pass is about what is new, so the large store may cost 1.5 times the small one at
most. For a pass above that, the statements that grew most are named. Every pass that `consolidate/run.py`
lists is measured. Exits with 1 when one of them, or the whole night, is above.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worldline import Config, Memory
from worldline.consolidate.run import PASSES
from worldline.store.sqlite import SqliteStore
from worldline.testing import HashEmbedder

BAR, TURNS, RUNS = 1.5, 20, 3
LEAST = 0.02
"""Seconds below which a pass is too short to be told from noise."""
FACTUAL = 0.3
"""The share of turns with a sentence that can be understood; the others only talk."""
HOUR = 3_600_000_000
START = 1_600_000_000_000_000
PLAIN = Config(embedder="none", reranker="none", durability="normal", gate="off")
PEOPLE = "Ana Bruno Clara Dario Elena Farid Greta Hugo Ines Jonas Kaya Luis Mara Nils Olga Pavel".split()
PLACES = "Lisbon Porto Berlin Oslo Rome Madrid Vienna Prague Dublin Zurich Athens Geneva Turin Lyon".split()
TRADES = "nurse teacher baker welder pilot lawyer florist plumber painter librarian surgeon joiner".split()
THINGS = "bicycle guitar garden kitchen boat camera novel marathon piano telescope car laptop tent".split()
ACTS = "bought sold repaired painted cleaned lost found borrowed planned finished started measured".split()
SYLLABLES = "ba re mi to la sen dor ka vel nu pri gan os tem bru fi lo dra quen shi mor ta".split()


def vocabulary(count: int) -> list[str]:
    """Made-up words, always the same; the early ones are said often, the late ones seldom."""
    draw = random.Random(5)
    return ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(count)]


WORDS = vocabulary(20_000)


def told(number: int) -> str:
    """One turn: perhaps a sentence that can be understood, and words that only fill."""
    draw = random.Random(number)

    def word() -> str:
        return WORDS[int(len(WORDS) * draw.random() ** 4)]

    who, where = draw.choice(PEOPLE), draw.choice(PLACES)
    said = draw.choice(
        (
            f"{who} moved to {where}.",
            f"{who} works as a {draw.choice(TRADES)} in {where}.",
            f"I {draw.choice(ACTS)} the {draw.choice(THINGS)} on {draw.randint(1, 28)} May.",
            f"My favourite {draw.choice(THINGS)} is the {word()} one.",
            f"We met {who} in {where} {draw.randint(2, 9)} times, because the {word()} was late.",
            f"How is the {draw.choice(THINGS)} of {who} doing?",
            f"I think the {word()} {word()} is nice.",
        )
    )
    filler = " ".join(word() for _ in range(draw.randint(4, 24)))
    return f"{said} Then {filler}." if draw.random() < FACTUAL else f"Then {filler}."


def session(number: int) -> list[dict[str, Any]]:
    """The messages of one session, an hour apart from the next."""
    return [
        {
            "role": "user" if turn % 2 == 0 else "assistant",
            "content": told(number * TURNS + turn),
            "said_at": START + (number * TURNS + turn) * HOUR // 10,
        }
        for turn in range(TURNS)
    ]


def write(memory: Memory, first: int, events: int) -> None:
    """So many events, from a session number on."""
    for number in range(first, first + events // TURNS):
        memory.remember(messages=session(number), session=f"session {number}")


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """CPU seconds by statement, while it lasts."""
    spent: dict[str, float] = {}
    query, insert = SqliteStore.query, SqliteStore.insert

    def watched(real: Any) -> Any:
        def run(store: SqliteStore, sql: str, *rest: Any) -> Any:
            began = time.process_time()
            try:
                return real(store, sql, *rest)
            finally:
                spent[sql] = spent.get(sql, 0.0) + time.process_time() - began

        return run

    SqliteStore.query, SqliteStore.insert = watched(query), watched(insert)  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        SqliteStore.query, SqliteStore.insert = query, insert  # type: ignore[method-assign]


def nights(memory: Memory, passes: list[str]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """CPU seconds of each pass, and of the statements in it."""
    spent: dict[str, float] = {}
    inside: dict[str, dict[str, float]] = {}
    for name in passes:
        with timed() as statements:
            began = time.process_time()
            memory.consolidate([name])
            spent[name] = time.process_time() - began
        inside[name] = statements
    return spent, inside


class Measured:
    """The night after the new events: the least of several runs."""

    def __init__(self, path: Path, events: int, new: int, passes: list[str], embedder: str) -> None:
        self.spent: dict[str, float] = {}
        self.inside: dict[str, dict[str, float]] = {}
        slept = path.with_suffix(".slept.db")
        shutil.copy(path, slept)
        with opened(slept, embedder) as memory:
            memory.flush()
            began = time.process_time()
            memory.consolidate()
            self.before = [time.process_time() - began]
            write(memory, events // TURNS, new)
        for _ in range(RUNS):
            copy = path.with_suffix(".copy.db")
            shutil.copy(slept, copy)
            with opened(copy, embedder) as memory:
                spent, inside = nights(memory, passes)
            copy.unlink()
            for name, seconds in spent.items():
                if seconds < self.spent.get(name, float("inf")):
                    self.spent[name], self.inside[name] = seconds, inside[name]
        slept.unlink()


def opened(path: Path, embedder: str) -> Memory:
    return Memory.open(path, PLAIN, embedder=HashEmbedder() if embedder == "hash" else None)


def compared(small: Measured, large: Measured) -> Iterator[tuple[str, float, float, float]]:
    """(pass, seconds in the small store, in the large one, ratio), the whole night last."""
    for name, seconds in small.spent.items():
        yield name, seconds, large.spent[name], large.spent[name] / max(seconds, 1e-9)
    whole = sum(small.spent.values()), sum(large.spent.values())
    yield "whole night", *whole, whole[1] / max(whole[0], 1e-9)


def grown(small: Measured, large: Measured, name: str) -> list[tuple[float, float, str]]:
    """The statements of a pass that cost most more in the large store."""
    before, after = small.inside[name], large.inside[name]
    more = [(after[sql], before.get(sql, 0.0), sql) for sql in after]
    return sorted(more, key=lambda one: one[1] - one[0])[:3]


def earlier(measured: Measured) -> str:
    return ", ".join(f"{seconds:.1f}" for seconds in measured.before)


def report(small: Measured, large: Measured, embedder: str, sizes: tuple[int, int]) -> dict[str, Any]:
    """The table, printed, and the same as values."""
    print(
        f"embedder {embedder}: the nights before took {earlier(small)} s at {sizes[0]:,},"
        f" {earlier(large)} s at {sizes[1]:,}"
    )
    print(f"{'pass':<16}{sizes[0]:>10,}{sizes[1]:>10,}  ratio")
    rows: dict[str, Any] = {}
    for name, at_small, at_large, ratio in compared(small, large):
        above = ratio > BAR and at_large > LEAST
        rows[name] = {
            "small": round(at_small, 4),
            "large": round(at_large, 4),
            "ratio": round(ratio, 2),
            "above": above,
        }
        print(
            f"{name:<16}{at_small:>9.3f}s{at_large:>9.3f}s{ratio:>6.2f}{'  ABOVE' if above else ''}",
            flush=True,
        )
        for after, before, sql in grown(small, large, name) if above and name in small.inside else ():
            print(f"    {1000 * before:7.1f} → {1000 * after:7.1f} ms  {' '.join(sql.split())[:220]}")
    return {"embedder": embedder, "before": [small.before, large.before], "passes": rows}


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("small", type=int, nargs="?", default=10_000)
    given.add_argument("large", type=int, nargs="?", default=100_000)
    given.add_argument("new", type=int, nargs="?", default=500)
    given.add_argument("--embedders", default="none,hash")
    given.add_argument("--passes", default=",".join(each.name for each in PASSES))
    given.add_argument("--json", type=Path)
    given.add_argument("--keep", type=Path, help="keep the filled stores here, and use those that are there")
    asked = given.parse_args()
    made = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [filled(folder / f"{size}.db", size) for size in (asked.small, asked.large)]
        for embedder in asked.embedders.split(","):
            small, large = (
                Measured(path, size, asked.new, asked.passes.split(","), embedder)
                for path, size in zip(paths, (asked.small, asked.large), strict=True)
            )
            made.append(report(small, large, embedder, (asked.small, asked.large)))
    if asked.json:
        asked.json.write_text(json.dumps(made, indent=1))
    return int(any(row["above"] for one in made for row in one["passes"].values()))


def filled(path: Path, events: int) -> Path:
    """A store with so many events; one that is there already is used."""
    if not path.exists():
        began, half = time.process_time(), path.with_suffix(".half.db")
        half.unlink(missing_ok=True)
        with opened(half, "none") as memory:
            write(memory, 0, events)
        half.rename(path)
        print(f"{events:,} events stored, {time.process_time() - began:.0f} s", flush=True)
    return path


if __name__ == "__main__":
    sys.exit(main())
