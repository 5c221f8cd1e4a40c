"""What one call costs as a store grows: 1,000 messages, 10,000, 100,000, through the public verbs.

    python bench/scale.py [--sizes 1000,10000,100000] [--profile talk|person|scopes] [--bulk] [--json OUT]
    python bench/scale.py --quick

Texts are made of words whose frequencies fall as in a language, a third of them state something that
the rules understand. `talk`: ten people, one user. `person`: one speaker, and every message states
something about them. `scopes`: a hundred messages a user. CPU time, because other programs share the
machine; `ref` is a fixed piece of Python work timed beside each figure, and `x` how many of it the
figure is. `FTS5` is SQLite's own full text search over the same texts, one table and nothing else.
Bytes are those that the process hands to the disk. In a folder that holds a store already, this one grows.
With `--bulk` only the last messages before a size are read for facts; of the others the words are stored,
five hundred at once, so that a hundred thousand take minutes.
`--quick` measures a store of one person's facts at two sizes and exits with 1 where a call sends more
statements, costs more beside `ref`, or grows more with the store than `QUICK` allows.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw

from worldline import Config, Memory
from worldline.read import cues, recall
from worldline.store import search
from worldline.testing import HashEmbedder, reference

PEOPLE = ("Ana", "Ben", "Chloe", "Dmitri", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jonas")
PLACES = ("Lisbon", "Oslo", "Kyoto", "Lima", "Quito", "Accra", "Cairo", "Turin", "Graz", "Lyon", "Ghent")
STATED = (
    "I bought a {noun}.",
    "I am learning the {noun}.",
    "Last week I visited {place} with {name}.",
    "I have a {noun} called {Noun}.",
    "I met {Noun} {Other} at the {noun}.",
    "{Noun} {Other} works at {Other} Labs.",
    "My friend {Noun} lives in {place}.",
    "I read a book about the {noun}.",
    "I like {noun}s more than {other}s.",
    "I am allergic to {noun}s.",
)
ASKED = (
    "What did {name} buy?",
    "Where does {name} live now?",
    "When did {name} visit {place}?",
    "Which {noun} did {name} talk about?",
    "Who likes the {noun} in {place}?",
    "What is {name}'s favourite {noun}?",
)
BEGUN, APART = 1_600_000_000_000_000, 120_000_000
"""When the first message was said, and how far apart they are: a million of them end before today, because what is
said to be in the future is not believed yet."""
SINGLE = 60
"""Messages that are remembered one by one at each size, and questions that are asked."""
QUICK = {"remember": (40, 5.5, 1.5), "recall": (18, 9.0, 2.0), "list 50": (5, 0.5, 2.2)}
"""Statements of the middle call, how many `ref` it may cost, and how many times as much at four times the size."""
SMALL = 100
READ, AT_ONCE = 5_000, 500
"""With `--bulk`: so many messages before each size are read for facts; the others are stored so many at once."""
Said = dict[str, Any]
Figures = dict[str, float]


class Talk:
    """Messages and questions, always the same ones."""

    def __init__(self, profile: str) -> None:
        self.profile, self.dice = profile, random.Random(7)
        begin = "b br c d f g gr h k l m n p r s st t tr v w".split()
        middle = "a e i o u ea ou".split()
        end = "ck l m n nd r st t x ple ver ster ling ton".split()
        stems = ["".join(parts) for parts in itertools.product(begin, middle, end)]
        self.words = [stem + tail for stem in stems for tail in ("", "er", "y", "ing", "ish")]
        random.Random(3).shuffle(self.words)
        self._often = list(itertools.accumulate(1 / (n + 3) for n in range(len(self.words))))

    def some(self, count: int) -> list[str]:
        """So many words, as often as in a language."""
        return self.dice.choices(self.words, cum_weights=self._often, k=count)

    def _filled(self, shape: str) -> str:
        noun, other = self.dice.choices(self.words, k=2)
        return shape.format(
            name=self.dice.choice(PEOPLE),
            place=self.dice.choice(PLACES),
            noun=noun,
            other=other,
            Noun=noun.title(),
            Other=other.title(),
        )

    def messages(self, start: int, count: int) -> list[Said]:
        """Messages by their number: speaker, text, moment."""
        found = []
        for number in range(start, start + count):
            self.dice.seed(number)  # the same text for the same number, also where a store is grown further
            rest = self.some(2 + int(self.dice.expovariate(1 / 14)))
            text = " ".join(rest).capitalize() + "."
            if self.profile == "person" or self.dice.random() < 1 / 3:
                text = f"{self._filled(self.dice.choice(STATED))} {text}"
            name = "Ana" if self.profile == "person" else self.dice.choice(PEOPLE)
            said_at = BEGUN + number * APART
            found.append({"name": name, "content": text, "said_at": said_at})
        return found

    def questions(self, count: int) -> list[str]:
        """As people ask."""
        return [self._filled(self.dice.choice(ASKED)) for _ in range(count)]


def written() -> int:
    """Bytes that this process has handed to the disk so far; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return int(lines[1].partition(": ")[2])


class Costs:
    """CPU seconds, statements and bytes written of the same call, many times."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = memory
        self.seconds: list[float] = []
        self.statements: list[int] = []
        self.bytes: list[int] = []

    def take(self, call: Callable[..., object], *args: Any, **named: Any) -> None:
        """Makes the call, and notes what it cost."""
        store = self.memory.handle.store if self.memory is not None else None
        before, bytes_, start = store.statements if store else 0, written(), time.process_time()
        call(*args, **named)
        self.seconds.append(time.process_time() - start)
        self.bytes.append(written() - bytes_)
        self.statements.append((store.statements if store else 0) - before)

    def told(self, ref: float) -> Figures:
        """The middle and the worst twentieth in milliseconds, beside `ref`."""
        ordered = sorted(self.seconds)
        middle = statistics.median(ordered)
        return {
            "p50_ms": 1e3 * middle,
            "p95_ms": 1e3 * ordered[int(len(ordered) * 0.95)],
            "x": middle / ref,
            "statements": statistics.median(self.statements),
            "most": max(self.statements),
            "kB": statistics.mean(self.bytes) / 1e3,
        }


class Plain:
    """FTS5 and nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = apsw.Connection(str(path))
        self.connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        self.connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts5(speaker, text, tokenize='porter')"
        )

    def put(self, said: list[Said]) -> None:
        with self.connection:
            self.connection.executemany(
                "INSERT INTO f (speaker, text) VALUES (?, ?)", [(m["name"], m["content"]) for m in said]
            )

    def find(self, question: str) -> list[Any]:
        words = ["".join(filter(str.isalnum, word)) for word in question.split()]
        match = " OR ".join(f'"{word}"' for word in words if word)
        sql = "SELECT speaker, text FROM f WHERE f MATCH ? ORDER BY rank LIMIT 10"
        return self.connection.execute(sql, (match,)).fetchall()


class Scale:
    """One store that grows, measured at each size."""

    def __init__(self, folder: Path, profile: str, *, vectors: bool = True, bulk: bool = False) -> None:
        self.path, self.talk, self.vectors = folder / "store.db", Talk(profile), vectors
        self.bulk = bulk
        self.plain = Plain(folder / "plain.db")
        self.config = Config(embedder="none", reranker="none", durability="normal")
        self.size = int(self.plain.connection.execute("SELECT count(*) FROM f").get)

    def open(self, *, vectors: bool, config: Config | None = None) -> Memory:
        return Memory.open(self.path, config or self.config, embedder=HashEmbedder(384) if vectors else None)

    def user(self, memory: Memory) -> Memory:
        """Whose messages come now."""
        return memory.scoped(user=f"user {self.size // 100}" if self.talk.profile == "scopes" else "me")

    def fill(self, size: int) -> None:
        """Up to so many messages, of which the words alone are stored."""
        words = Config(embedder="none", reranker="none", durability="normal", understand="off")
        with self.open(vectors=self.vectors, config=words) as memory:
            while self.size < size:
                said = self.talk.messages(self.size, min(AT_ONCE, size - self.size))
                self.user(memory).remember(messages=said, session=f"session {self.size // 20}")
                self.plain.put(said)
                self.size += len(said)
                if self.size % 10_000 < AT_ONCE:
                    print(f"{self.size:,} stored", file=sys.stderr, flush=True)

    def grow(self, size: int) -> Costs:
        """Up to so many messages, twenty at a time; what the last fifty times cost."""
        if self.bulk:
            self.fill(size - READ)
        with self.open(vectors=self.vectors) as memory:
            costs = Costs(memory)
            while self.size < size:
                said = self.talk.messages(self.size, min(20, size - self.size))
                costs.take(self.user(memory).remember, messages=said, session=f"session {self.size // 20}")
                self.plain.put(said)
                self.size += len(said)
                if sys.stderr.isatty() and self.size % 1000 == 0:
                    print(f"\r{self.size:,}", end="", file=sys.stderr)
        for held in (costs.seconds, costs.statements, costs.bytes):
            del held[:-50]
        return costs

    def measure(self, size: int) -> Iterator[tuple[str, Figures]]:
        """(what, figures) at this size."""
        grown = self.grow(size)
        if grown.seconds:  # else the folder had a store of this size
            batches = grown.told(reference())
            each = ("p50_ms", "p95_ms", "x", "kB", "statements")
            yield (
                "remember, twenty at once, a message",
                {name: value / 20 if name in each else value for name, value in batches.items()},
            )
        yield "file, bytes a message", {"bytes": self.path.stat().st_size / self.size}
        with self.open(vectors=False) as memory:
            yield self._first(memory, "first recall after open")
            yield self._singles(memory, "remember")
            yield self._asked(memory, "recall, words alone")
            yield from self._lists(memory)
            yield from self._steps(memory)
        if self.vectors:
            with self.open(vectors=True) as memory:
                yield self._first(memory, "first recall with vectors")
                yield self._singles(memory, "remember with vectors")
                yield self._asked(memory, "recall with vectors")
                yield self._nearest(memory)
        yield "memory of the process, MB", {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}
        yield from self._against()
        with self.open(vectors=False) as memory:
            yield self._timed("verify", memory, 1, memory.verify)

    def quickly(self, size: int) -> Iterator[tuple[str, Figures]]:
        """The figures that `QUICK` bounds."""
        self.grow(size)
        with self.open(vectors=False) as memory:
            yield self._singles(memory, "remember")
            yield self._asked(memory, "recall")
            yield next(self._lists(memory))

    def _first(self, memory: Memory, name: str) -> tuple[str, Figures]:
        costs = Costs(memory)
        costs.take(self.user(memory).recall, self.talk.questions(1)[0])
        return name, costs.told(reference())

    def _singles(self, memory: Memory, name: str) -> tuple[str, Figures]:
        costs, session = Costs(memory), f"talk {self.size}"
        for message in self.talk.messages(self.size, SINGLE):
            costs.take(self.user(memory).remember, messages=[message], session=session)
            self.plain.put([message])
            self.size += 1
        return name, costs.told(reference())

    def _asked(self, memory: Memory, name: str) -> tuple[str, Figures]:
        costs, asked, user = Costs(memory), self.talk.questions(SINGLE + 3), self.user(memory)
        for question in asked[:3]:
            user.recall(question)
        for question in asked[3:]:
            costs.take(user.recall, question)
        return name, costs.told(reference())

    def _lists(self, memory: Memory) -> Iterator[tuple[str, Figures]]:
        user = memory if self.talk.profile == "scopes" else self.user(memory)
        fact = user.list("Fact", limit=1).items[0].id
        calls: tuple[tuple[str, int, Callable[..., object], tuple[Any, ...]], ...] = (
            ("list 50", 40, user.list, ()),
            ("stats, the first", 1, user.stats, ()),
            ("stats", 5, user.stats, ()),
            ("context", 5, user.context, ()),
            ("profile", 5, user.profile, ("Ana",)),
            ("history of a fact", 5, user.history, (fact,)),
        )
        for name, times, call, args in calls:
            yield self._timed(name, memory, times, call, *args)

    def _timed(
        self, name: str, memory: Memory, times: int, call: Callable[..., object], *args: Any
    ) -> tuple[str, Figures]:
        costs = Costs(memory)
        for _ in range(times):
            costs.take(call, *args)
        return name, costs.told(reference())

    def _steps(self, memory: Memory) -> Iterator[tuple[str, Figures]]:
        """Single steps of a query; WorldDB's paper has a P95 of 13 ms for a hop and 97 for words, at a million."""
        user = memory if self.talk.profile == "scopes" else self.user(memory)
        facts, hops, words = user.list("Fact", limit=SINGLE).items, Costs(memory), Costs(memory)
        for fact in facts:
            hops.take(user.query().seeds(fact.id).follow(way="both").run)
        for question in self.talk.questions(SINGLE):
            words.take(user.query().text(question).limit(10).run)
        yield "one hop (paper: P95 13)", hops.told(reference())
        yield "words of a question (paper: P95 97)", words.told(reference())

    def _nearest(self, memory: Memory) -> tuple[str, Figures]:
        """The vector lane, without the question's embedding; the paper has a P95 of 3.1 ms."""
        handle, costs = self.user(memory).handle, Costs(memory)
        for question in self.talk.questions(SINGLE):
            meant = recall.meaning(handle, question)
            assert meant is not None
            with handle.reading() as tenant:
                view = handle.view(tenant)
                ground = search.ground(view, ())
                costs.take(cues.vectors, view, meant.index, meant.query, ground)
        return "vectors of a question (paper: P95 3.1)", costs.told(reference())

    def _against(self) -> Iterator[tuple[str, Figures]]:
        puts, finds = Costs(), Costs()
        for message in self.talk.messages(10**9, SINGLE):
            puts.take(self.plain.put, [message])
        self.plain.connection.execute("DELETE FROM f WHERE rowid > (SELECT max(rowid) FROM f) - ?", (SINGLE,))
        for question in self.talk.questions(SINGLE):
            finds.take(self.plain.find, question)
        yield "FTS5, one text", puts.told(reference())
        yield "FTS5, one question", finds.told(reference())
        yield "FTS5, bytes a message", {"bytes": self.plain.path.stat().st_size / self.size}


def shown(figures: Figures) -> str:
    """One cell of the table."""
    if "bytes" in figures:
        return f"{figures['bytes']:,.0f}"
    p50, p95 = figures["p50_ms"], figures["p95_ms"]
    cell = f"{p50:.1f} / {p95:.1f}" if p50 < 1000 else f"{p50:,.0f}"
    cell += f" ({figures['x']:.2f}x"
    if figures["statements"]:
        cell += f", {figures['statements']:.0f} st."
    if figures["kB"] >= 0.5:
        cell += f", {figures['kB']:.0f} kB"
    return cell + ")"


def table(found: dict[int, dict[str, Figures]]) -> Iterator[str]:
    """Markdown: a row for each figure, a column for each size."""
    yield f"| ms of CPU, P50 / P95 | {' | '.join(f'{size:,}' for size in found)} |"
    yield f"|---|{'---|' * len(found)}"
    for name in dict.fromkeys(name for figures in found.values() for name in figures):
        cells = (shown(figures[name]) if name in figures else "" for figures in found.values())
        yield f"| {name} | {' | '.join(cells)} |"


def regressed(folder: Path) -> list[str]:
    """What costs more than `QUICK` allows, in a store of one person's facts."""
    scale = Scale(folder, "person", vectors=False)
    small, large = dict(scale.quickly(SMALL)), dict(scale.quickly(4 * SMALL))
    found = []
    for name, (statements, ratio, growth) in QUICK.items():
        figures = large[name]
        grown = min(
            figures[unit] / small[name][unit] for unit in ("x", "p50_ms")
        )  # `ref` may swing between the two
        if figures["statements"] > statements or figures["x"] > ratio or grown > growth:
            found.append(f"{name}: {figures['statements']:.0f} statements ({statements}), {figures['x']:.2f} x ref"
                         f" ({ratio}), {grown:.2f} times that of a quarter of the store ({growth})")  # fmt: skip
    return found


def main() -> int:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--profile", choices=("talk", "person", "scopes"), default="talk")
    parser.add_argument("--quick", action="store_true", help="only see whether anything got worse")
    parser.add_argument("--no-vectors", action="store_true")
    parser.add_argument("--bulk", action="store_true", help="read only the last messages for facts")
    parser.add_argument("--folder", type=Path, help="keep the stores here")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[int, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if options.quick:
            worse = regressed(folder)
            print("\n".join(worse) or "nothing got worse")
            return int(bool(worse))
        scale = Scale(folder, options.profile, vectors=not options.no_vectors, bulk=options.bulk)
        for size in map(int, options.sizes.split(",")):
            found[size] = {}
            for name, figures in scale.measure(size):
                found[size][name] = figures
                print(f"{size:,}: {name} {shown(figures)}", file=sys.stderr, flush=True)
            print("\n".join(table(found)), flush=True)
            if options.json:
                options.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
