"""What one remember and one recall cost on their way through the code: statements, flushes, lock time, hops.

    python bench/walk_costs.py [MESSAGES] [--sql]

A store of some hundred invented messages is asked and told a few more. A statement is one call of the
store; a flush is one writing out of gathered rows; lock time is the CPU time between taking and leaving
the write lock; a hop is a call from one package of Worldline into another. `--sql` prints the statements
of the last remember and the last recall. Numbers are medians of those messages and questions.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

from worldline import Config, Event, Memory
from worldline.store.sqlite import SqliteStore
from worldline.store.tx import Tx

PEOPLE = ("Ines", "Marek", "Yusuf", "Clara", "Tomas", "Priya", "Oleg", "Hanna", "Luis", "Greta")
TOWNS = ("Porto", "Graz", "Lyon", "Turku", "Cadiz", "Ghent", "Split", "Bergen", "Trento", "Leeds")
FIRMS = ("Norvia", "Helmut Print", "Casa Verde", "Blue Kite", "Tarn Labs")
THINGS = ("a kayak", "an old Volvo", "a sewing machine", "a telescope", "a cargo bike")
FORMS = (
    "I moved to {town} last spring.",
    "My sister {person} works at {firm}.",
    "I bought {thing} and it is still in the garage.",
    "{person} lives in {town} now.",
    "My favourite dish is the one that {person} cooks in {town}.",
    "{person} is the head of {firm}.",
    "We talked about the garden and the rain for an hour.",
    "My son {person} plays football with {other}.",
    "I work at {firm} and my boss is {person}.",
    "I don't drink coffee any more, only tea with {person}.",
)
TOLD = (
    "I moved to Bergen in March and my boss is Clara.",
    "My sister Hanna works at Tarn Labs.",
    "Marek lives in Trento now.",
    "I bought a telescope.",
    "My doctor is Petra Holm and I am allergic to walnuts.",
)
ASKED = (
    "Where does Marek live?",
    "Who works at Tarn Labs?",
    "What did I buy?",
    "Who is my boss?",
    "Where did I move?",
)


class Walk:
    """What was counted during one verb."""

    def __init__(self) -> None:
        self.sql: list[str] = []
        self.flushes, self.hops, self.locked = 0, 0, 0.0
        self.modules: set[str] = set()


def messages(count: int) -> Iterator[Event]:
    """Invented messages of one person, an hour apart."""
    for n in range(count):
        text = FORMS[n % len(FORMS)].format(
            person=PEOPLE[n * 7 % 10], other=PEOPLE[n * 3 % 10], town=TOWNS[n * 9 % 10], firm=FIRMS[n % 5],
            thing=THINGS[n * 2 % 5],
        )  # fmt: skip
        yield Event(text, "Vera", said_at=f"2025-{1 + n // 28 % 12:02d}-{1 + n % 28:02d}T{n % 24:02d}:00:00Z")


@contextmanager
def counted(walk: Walk) -> Iterator[None]:
    """Counts statements, flushes and lock time while it is open."""
    query, insert, write, writing = SqliteStore.query, SqliteStore.insert, Tx._write, SqliteStore.writing

    def counting_query(self: SqliteStore, sql: str, args: Any = ()) -> Any:
        walk.sql.append(sql)
        return query(self, sql, args)

    def counting_insert(self: SqliteStore, sql: str, rows: Any) -> None:
        walk.sql.append(sql)
        insert(self, sql, rows)

    def counting_write(self: Tx) -> None:
        walk.flushes += 1
        write(self)

    @contextmanager
    def timed_writing(self: SqliteStore, tenant: str, **how: Any) -> Iterator[Any]:
        with writing(self, tenant, **how) as found:
            began = time.process_time()
            yield found
            walk.locked += time.process_time() - began

    SqliteStore.query, SqliteStore.insert = counting_query, counting_insert  # type: ignore[method-assign]
    Tx._write, SqliteStore.writing = counting_write, timed_writing  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        SqliteStore.query, SqliteStore.insert = query, insert  # type: ignore[method-assign]
        Tx._write, SqliteStore.writing = write, writing  # type: ignore[method-assign]


def _package(frame: FrameType | None) -> str:
    name = frame.f_globals.get("__name__", "") if frame is not None else ""
    parts = name.split(".")
    return (parts[1] if len(parts) > 1 else "worldline") if parts[0] == "worldline" else ""


@contextmanager
def hopping(walk: Walk) -> Iterator[None]:
    """Counts calls from one package into another (slow, so never together with times)."""

    def look(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            here, there = _package(frame.f_back), _package(frame)
            if there:
                walk.modules.add(frame.f_globals["__name__"])
            walk.hops += bool(here and there and here != there)

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)


def walked(work: Callable[[], object]) -> Walk:
    """One verb, counted."""
    walk = Walk()
    with counted(walk):
        work()
    return walk


def hopped(work: Callable[[], object]) -> Walk:
    """One verb, followed from package to package."""
    walk = Walk()
    with hopping(walk):
        work()
    return walk


def told(name: str, walks: list[Walk], hops: list[Walk]) -> str:
    """One line of the report."""
    return (
        f"{name:9} statements {median(len(w.sql) for w in walks):5.0f}"
        f"   flushes {median(w.flushes for w in walks):3.0f}"
        f"   lock {median(1000 * w.locked for w in walks):6.2f} ms"
        f"   hops {median(w.hops for w in hops):5.0f}   modules {median(len(w.modules) for w in hops):4.0f}"
    )


def main(count: int, *, sql: bool) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "store.db", Config(embedder="none", reranker="none")) as memory,
    ):
        for event in messages(count):
            memory.remember(event)
        memory.recall(ASKED[0])
        writes = [walked(lambda t=text: memory.remember(Event(t, "Vera"))) for text in TOLD]  # type: ignore[misc]
        reads = [walked(lambda q=question: memory.recall(q)) for question in ASKED]  # type: ignore[misc]
        for walk in (writes[-1], reads[-1]) if sql else ():
            print("\n".join(f"{n:3} {text}" for n, text in enumerate(walk.sql, 1)), "\n")
        again = [hopped(lambda t=t: memory.remember(Event(f"{t} Really.", "Vera"))) for t in TOLD]  # type: ignore[misc]
        asked = [hopped(lambda q=question: memory.recall(q)) for question in ASKED]  # type: ignore[misc]
        print(told("remember", writes, again))
        print(told("recall", reads, asked))


if __name__ == "__main__":
    numbers = [int(value) for value in sys.argv[1:] if value.isdigit()]
    main(numbers[0] if numbers else 200, sql="--sql" in sys.argv)
