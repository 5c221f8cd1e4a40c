"""The words index beside FTS5, on the same texts in the same run: searching, writing, and room taken.

    python bench/words.py [--texts 20000] [--searches 200] [--seed 1]

Texts are made of 30,000 words whose frequencies fall as in a language. FTS5 is the table that stores
had up to format 3 (three columns, contentless, ranked by weight). A search is a natural question of
five words, ranked over all texts (and, for FTS5, also with common words counted only beside another
one, as recall had to ask it); times are of the process. A write is one text in a transaction of its own.
Exits with 1 when the best ten differ from FTS5's.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

import apsw

from worldline.config import Config
from worldline.store.sqlite import SqliteStore
from worldline.store.view import SqlView
from worldline.store.words import Index, any_of, search

FTS5 = (
    "CREATE VIRTUAL TABLE f USING fts5(owner, text, kinds, content='', contentless_delete=1,"
    " tokenize='unicode61 remove_diacritics 0'); INSERT INTO f (f, rank) VALUES ('rank', 'bm25(0.0, 1.0, 0.4)')"
)
PUT = "INSERT INTO f (rowid, owner, text, kinds) VALUES (?, ?, ?, ?)"
FIND = "SELECT rowid / 65536 FROM f WHERE f MATCH ? ORDER BY rank LIMIT 10"
ALONE = 400
"""Texts that are written one by one."""
Text = tuple[int, str, str, str]


class Talk:
    """Words as often as in a language."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.words = [f"w{n}" for n in range(30_000)]
        self._sum = list(itertools.accumulate(1 / (n + 3) for n in range(len(self.words))))

    def some(self, number: int) -> list[str]:
        """So many words."""
        return self.dice.choices(self.words, cum_weights=self._sum, k=number)

    def texts(self, start: int, number: int) -> list[Text]:
        """Texts of some twenty words each, as the index takes them."""
        sizes = [2 + int(self.dice.expovariate(1 / 18)) for _ in range(number)]
        return [(n * 65536, "t1", " ".join(self.some(size)), "") for n, size in enumerate(sizes, start)]

    def question(self) -> list[str]:
        """Five different words."""
        return list(dict.fromkeys(self.some(9)))[:5]


def main() -> int:
    """One table; 1 where the best ten differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, default in (("texts", 20_000), ("searches", 200), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        talk = Talk(options.seed)
        texts, more = talk.texts(1, options.texts), talk.texts(options.texts + 1, ALONE)
        plain = _Plain(f"{folder}/fts5.db")
        own = _Own(f"{folder}/own.db")
        table = [[*_written(system, texts, more)] for system in (plain, own)]
        questions = [talk.question() for _ in range(options.searches)]
        common = plain.common(questions)
        asked = [_timed(lambda q=q: plain.find(q)) for q in questions]  # type: ignore[misc]
        narrow = [_timed(lambda q=q: plain.find_narrow(q, common)) for q in questions]  # type: ignore[misc]
        mine = [_timed(lambda q=q: own.find(q)) for q in questions]  # type: ignore[misc]
    same = sum(a[1] == b[1] for a, b in zip(asked, mine, strict=True))
    table[0] += [_middle(t for t, _ in asked), _middle(t for t, _ in narrow)]
    table[1] += [_middle(t for t, _ in mine), float("nan")]
    names = (
        "batch write, ms/text",
        "one write, ms",
        "kB written a write",
        "bytes/text",
        "search, ms",
        "narrowed, ms",
    )
    print(f"{options.texts:,} texts, {options.searches} questions\n{'':24}{'FTS5':>10}{'own':>10}")
    for name, *values in zip(names, *table, strict=True):
        print(f"{name:24}{values[0]:10.3f}{values[1]:10.3f}")
    print(f"the same best ten: {same} of {options.searches}")
    return 0 if same == options.searches else 1


def _middle(times: Iterator[float]) -> float:
    ordered = sorted(times)
    return 1000 * ordered[len(ordered) // 2]


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


class _Plain:
    """An FTS5 table in a file."""

    def __init__(self, path: str) -> None:
        self.path, self.connection = path, apsw.Connection(path)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute(FTS5)

    def put(self, texts: Sequence[Text]) -> None:
        with self.connection:
            self.connection.executemany(PUT, texts)

    def find(self, question: Sequence[str]) -> list[int]:
        return [row[0] for row in self.connection.execute(FIND, (self._any(question),))]

    def find_narrow(self, question: Sequence[str], common: dict[str, int]) -> list[int]:
        """The rarest word, or one of the two next ones beside another of the rarest."""
        ordered = sorted(question, key=lambda word: common.get(word, 0))
        parts = [f'"{ordered[0]}"']
        for word in ordered[1:3]:
            parts.append(f'("{word}" AND ({self._any([o for o in ordered if o != word][:3])}))')
        return [row[0] for row in self.connection.execute(FIND, (" OR ".join(parts),))]

    def common(self, questions: Sequence[Sequence[str]]) -> dict[str, int]:
        self.connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, f, row)")
        return dict(self.connection.execute("SELECT term, doc FROM temp.v"))

    @staticmethod
    def _any(words: Sequence[str]) -> str:
        return " OR ".join(f'"{word}"' for word in words)


class _Own:
    """A store's words index, without the rest of a store."""

    def __init__(self, path: str) -> None:
        self.path, self.store = path, SqliteStore(path, Config(durability="NORMAL"))
        self.connection = self.store.connection()

    def put(self, texts: Sequence[Text]) -> None:
        with self.store.writing("default"):
            Index(self.store, 1).add(texts)

    def find(self, question: Sequence[str]) -> list[int]:
        view = SqlView(self.store, 1, valid=0)
        return [node for node, _ in search(view, any_of(question), 10)]


def _written(system: _Plain | _Own, texts: Sequence[Text], more: Sequence[Text]) -> Iterator[float]:
    """Time a text in batches and alone, kB written for one alone, bytes a text in the end."""
    system.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    empty = os.path.getsize(system.path)
    start = time.process_time()
    for at in range(0, len(texts), 20_000):
        system.put(texts[at : at + 20_000])
    yield 1000 * (time.process_time() - start) / len(texts)
    system.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    system.connection.execute("PRAGMA wal_autocheckpoint = 0")
    start = time.process_time()
    for text in more:
        system.put([text])
    yield 1000 * (time.process_time() - start) / len(more)
    yield os.path.getsize(system.path + "-wal") / 1000 / len(more)
    system.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    yield (os.path.getsize(system.path) - empty) / (len(texts) + len(more))


if __name__ == "__main__":
    sys.exit(main())
