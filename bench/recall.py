"""The speed of recall at 100,000 events in one scope: CPU time and SQL statements of one question.

    python bench/recall.py [--events 100000] [--questions 60] [--store FILE] [--understand] [--json OUT]

Vectors come from a cheap hash embedder, so the query's own embedding costs next to nothing: the
figures are what recall costs beyond it. CPU time, because other programs share the machine.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from worldline import Config, Memory
from worldline.testing import HashEmbedder

SUBJECTS = ["Ana", "Ben", "Chloe", "Dmitri", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jonas"]
VERBS = [
    "bought",
    "sold",
    "painted",
    "repaired",
    "visited",
    "planned",
    "cancelled",
    "booked",
    "lost",
    "found",
    "borrowed",
    "cooked",
    "wrote",
    "read",
    "watched",
    "joined",
    "left",
    "met",
    "called",
    "taught",
    "learned",
    "tried",
    "fixed",
    "cleaned",
    "moved",
    "started",
    "finished",
]
THINGS = [
    "bicycle",
    "guitar",
    "kitchen",
    "garden",
    "novel",
    "laptop",
    "ticket",
    "recipe",
    "contract",
    "budget",
    "camera",
    "sofa",
    "piano",
    "violin",
    "passport",
    "garage",
    "museum",
    "concert",
    "marathon",
    "lecture",
    "invoice",
    "birthday",
    "wedding",
    "hotel",
    "flight",
    "train",
    "coffee",
    "salad",
    "terrace",
    "balcony",
    "painting",
    "sculpture",
    "battery",
    "solar",
    "panel",
    "letter",
    "parcel",
    "boat",
    "tent",
    "canoe",
    "ladder",
]
PLACES = [
    "Lisbon",
    "Porto",
    "Berlin",
    "Oslo",
    "Kyoto",
    "Lima",
    "Quito",
    "Accra",
    "Cairo",
    "Delhi",
    "Turin",
    "Graz",
    "Lyon",
    "Ghent",
    "Bergen",
]
PREFIXES = ("bar", "bel", "cor", "dan", "fen", "gor", "hal", "jun", "kel", "lor")
MORE = [
    "because it rained all week",
    "and it cost 40 euros",
    "after the meeting on Friday",
    "with my sister",
    "for the third time this year",
    "before the holidays",
    "although nobody asked",
    "in the old town",
    "and I loved every minute",
    "but the shop was closed",
    "on the way home from work",
    "with two colleagues",
]


def events(count: int) -> list[dict[str, object]]:
    """Small talk of ten people, twenty turns a session, a day apart."""
    rng = random.Random(7)
    rare = [f"{a}{b}" for a in PREFIXES for b in THINGS[:40]]
    found: list[dict[str, object]] = []
    for number in range(count):
        text = f"I {rng.choice(VERBS)} the {rng.choice(THINGS)} in {rng.choice(PLACES)} {rng.choice(MORE)}."
        if rng.random() < 0.3:
            text += f" We talked about {rng.choice(rare)} and the {rng.choice(THINGS)}."
        said_at = 1_600_000_000_000_000 + number // 20 * 86_400_000_000 // 4
        found.append({"name": rng.choice(SUBJECTS), "content": text, "said_at": said_at})
    return found


def questions(count: int) -> list[str]:
    """As people ask: a person, a thing, a place, sometimes a time."""
    rng = random.Random(11)
    shapes = (
        "When did {who} get the {thing} repaired in {place}?",
        "What did {who} buy in {place}?",
        "How many times has {who} visited the {thing} in {place}?",
        "Who painted the {thing} before the holidays?",
        "Which city did {who} move the {thing} to last year?",
        "What activities has {who} tried with colleagues?",
    )
    return [
        rng.choice(shapes).format(
            who=rng.choice(SUBJECTS), thing=rng.choice(THINGS), place=rng.choice(PLACES)
        )
        for _ in range(count)
    ]


def fill(memory: Memory, count: int) -> None:
    """Remembers everything, session by session."""
    said = events(count)
    for start in range(0, count, 20):
        memory.remember(messages=said[start : start + 20], session=f"session {start // 20}")


def measure(memory: Memory, asked: list[str]) -> dict[str, float]:
    """CPU milliseconds and statements of one recall."""
    for question in asked[:3]:
        memory.recall(question)
    times, statements = [], []
    for question in asked:
        before, start = memory.handle.store.statements, time.process_time()
        memory.recall(question)
        times.append(1000 * (time.process_time() - start))
        statements.append(memory.handle.store.statements - before)
    times.sort()
    return {
        "cpu_p50_ms": round(statistics.median(times), 2),
        "cpu_p95_ms": round(times[int(0.95 * len(times))], 2),
        "statements": max(statements),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--understand", action="store_true", help="draw facts from every event, too (slow)")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.store or Path(folder) / "store.db"
        new = not path.exists()
        understand = "rules" if args.understand else "off"
        config = Config(embedder="none", reranker="none", durability="normal", understand=understand)
        with Memory.open(path, config, embedder=HashEmbedder(384)) as memory:
            scoped = memory.scoped(user="ana")
            if new:
                fill(scoped, args.events)
            found = {"events": args.events, "with vectors": measure(scoped, questions(args.questions))}
        with Memory.open(path, config) as memory:
            found["without vectors"] = measure(memory.scoped(user="ana"), questions(args.questions))
    print(json.dumps(found, indent=1))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
