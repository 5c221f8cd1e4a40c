"""What understanding costs: 18,000 generated facts, remembered one by one, then questions of two hops.

    python bench/understand.py [FACTS] [EMBEDDER]

CPU time of this process. Beside it, in turn with every thousand facts, a fixed piece of work in
Python and SQLite is timed, so that a busy machine can be told from a slow program: `scaled` is what
the number would be if that piece took what it takes on an idle core of the reference machine.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from fact_graph import sentences

from worldline import Config, Memory
from worldline.plugins import open_embedder

STEP = 1000
REFERENCE = 7.6
"""Milliseconds of the yardstick on an idle core."""


def yardstick() -> float:
    """Milliseconds of CPU for a fixed piece of work: words, a dict, and a thousand small statements."""
    began = time.process_time()
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, key TEXT, value TEXT); CREATE INDEX k ON t (key)")
    pattern, seen = re.compile(r"[a-z]+"), {}
    with db:
        for number in range(1000):
            text = f"the founder of firm {number} was born in town {number % 97}"
            for word in pattern.findall(text):
                seen[word] = seen.get(word, 0) + 1
            db.execute("INSERT INTO t (key, value) VALUES (?, ?)", (str(number % 97), text))
            db.execute("SELECT id, value FROM t WHERE key = ? LIMIT 3", (str(number % 31),)).fetchall()
    db.close()
    return 1000 * (time.process_time() - began)


def main(count: int, embedder: str) -> None:
    told, questions = sentences(1, count)
    meanings = open_embedder(embedder)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        write(path, told)
        ask(path, questions[:200], meanings)


def write(path: Path, told: list[str]) -> None:
    rows = []
    with Memory.open(path, Config(embedder="none", reranker="none", durability="normal")) as memory:
        for start in range(0, len(told), STEP):
            beside = yardstick()
            began, before = time.process_time(), memory.handle.store.statements
            for sentence in told[start : start + STEP]:
                memory.remember(sentence)
            spent = 1000 * (time.process_time() - began) / len(told[start : start + STEP])
            beside = (beside + yardstick()) / 2
            statements = (memory.handle.store.statements - before) / STEP
            rows.append((spent, beside))
            print(
                f"{start + STEP:>6} facts: {spent:5.2f} ms, yardstick {beside:5.1f} ms, "
                f"scaled {spent * REFERENCE / beside:5.2f} ms, {statements:.0f} statements", flush=True,
            )  # fmt: skip
    mean = sum(s for s, _ in rows) / len(rows)
    scaled = sum(s * REFERENCE / b for s, b in rows) / len(rows)
    least = min(s for s, _ in rows)
    print(f"a fact: mean {mean:.2f} ms, least {least:.2f} ms, scaled {scaled:.2f} ms (bar 4)")


def ask(path: Path, questions: list[tuple[str, str]], meanings: object) -> None:
    right, spent = 0, []
    quiet = Config(embedder="none", reranker="none")
    with Memory.open(path, quiet, embedder=meanings) as memory:
        for question, answer in questions:
            began = time.process_time()
            chains = memory.walk_answer(question).chains
            spent.append(1000 * (time.process_time() - began))
            right += bool(chains) and chains[0].name == answer
    spent.sort()
    mean = sum(spent) / len(spent)
    print(f"a question: mean {mean:.1f} ms, 95 % under {spent[int(0.95 * len(spent))]:.1f} ms (bar 150); "
          f"{right}/{len(spent)} right")  # fmt: skip


if __name__ == "__main__":
    arguments = [*sys.argv[1:], "18000", "none"][: max(2, len(sys.argv) - 1)]
    main(int(arguments[0]), arguments[1] if len(sys.argv) > 2 else "none")
