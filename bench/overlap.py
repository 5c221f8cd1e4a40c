"""Whether a server answers as a file does: the overlap of their ten best on conversations of a data set.

    python bench/overlap.py DATA [--dataset locomo] [--conversations 1] [--questions 0] [--json OUT]

Both stores hear the same conversation and are asked the same questions (0: all of them), with vectors of a cheap hash
embedder. Exits with 1 where less than .98 of the ten best are the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from conformance.server import Server
from worldline.bench.datasets import Conversation, load
from worldline.bench.systems import Worldline
from worldline.testing import HashEmbedder

BAR, BEST = 0.98, 10


def told(talk: Conversation, where: str | Path, most: int | None) -> list[tuple[str, ...]]:
    """The ten best of every question in one store."""
    system = Worldline(talk, where, HashEmbedder(256), lambda done: None)  # type: ignore[arg-type]
    found = [system.rank(question).turns[:BEST] for question in talk.questions[:most]]
    system.close()
    return found


def overlap(ours: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    """The share of the ten best that both have; two empty answers are the same."""
    return len({*ours} & {*theirs}) / max(len(ours), len(theirs), 1) if ours or theirs else 1.0


def main() -> int:
    """One line a conversation, then the mean over all questions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--dataset", default="locomo")
    parser.add_argument("--conversations", type=int, default=1)
    parser.add_argument("--questions", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    server, shares, same = Server(), list[float](), 0
    server.start()
    try:
        for number, talk in enumerate(load(options.dataset, options.data)[: options.conversations]):
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE talk{number}")
            with tempfile.TemporaryDirectory() as folder:
                both = [
                    told(talk, where, options.questions or None)
                    for where in (Path(folder) / "m.db", server.url(f"talk{number}"))
                ]
            found = [overlap(*pair) for pair in zip(*both, strict=True)]
            same += sum(ours == theirs for ours, theirs in zip(*both, strict=True))
            shares += found
            print(f"{talk.name}: {len(talk.messages)} messages, {len(found)} questions,", end=" ")
            print(f"overlap {sum(found) / len(found):.4f}", flush=True)
    finally:
        server.stop()
    mean = sum(shares) / len(shares)
    print(
        f"{len(shares)} questions: overlap {mean:.4f} (bar {BAR}), {same} with the same ten in the same order"
    )
    if options.json:
        options.json.write_text(json.dumps({"questions": len(shares), "overlap": mean, "same order": same}))
    return int(mean < BAR)


if __name__ == "__main__":
    sys.exit(main())
