"""Fits how two texts are read at once beside a question: which of them answers it, the earlier or the later one?

    python bench/fit_succession.py                # leaves hands out by fourths, prints what is found without them
    python bench/fit_succession.py --write FILE   # fits on all texts of bench/texts, puts the directions into that file

Four directions of the cross-encoder's inner layer (the whole, and question, earlier and later text on the average) are
a logistic fit over pairs of texts of which one is the evidence: all of a little history, the evidence of a small memory
and two texts drawn by lot, that of a long story and what is outdated or what a recall brings besides. Beside that
reading a few measures are weighed (`SUCCEEDS`), over the pairs that a recall really meets: the text that leads and the
later ones behind it. Some twenty minutes; progress on the standard error.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import hands
import numpy as np
from fit_endings import logistic
from numpy.typing import NDArray

from worldline import Config, Memory
from worldline.clock import instant
from worldline.plugins import Closer, open_closeness
from worldline.read import recency

PARTS = ("whole", "asked", "older", "later")
LEFT_OUT = ("former", "order", "list", "multi_hop", "contradiction")
"""Who asks so is not told by one text instead of another."""
RIDGE, FOURTHS = 300.0, 4
COUNTS = {"changes": 3.0, "questions": 0.6, "stories": 1.0}
OTHERS, NEAR = 2, 3
LETTERS = 260
Array = NDArray[np.float64]


class Asked(NamedTuple):
    """A question about some texts, those that tell it, and those that are near it."""

    question: str
    gold: set[int]
    near: list[int]


class Told(NamedTuple):
    """What is told to a store: texts in order of time, and what is asked of them."""

    folder: str
    hand: str
    user: str | None
    said: list[dict[str, Any]]
    asked: list[Asked]


class Pair(NamedTuple):
    """Two texts beside a question, as the layer has them."""

    folder: str
    hand: str
    seen: NDArray[np.float16]
    later: bool
    """Whether the later one answers."""


# Texts --------------------------------------------------------------------------------------------------


def everything(only: str = "") -> Iterator[Told]:
    """All texts of the project, hand by hand."""
    ways = {"changes": of_changes, "questions": of_questions, "stories": of_stories}
    for folder in [only] if only else ways:
        for hand, path in hands.hands(folder).items():
            print(f"\r{folder} {hand}    ", end="", file=sys.stderr)
            for told in ways[folder](path):
                yield told._replace(folder=folder, hand=hand)


def of_changes(path: Path) -> Iterator[Told]:
    """Little histories."""
    for item in hands.histories(path):
        said, gold = item["statements"], set(item["current"])
        asked = [Asked(item["question"], gold, [at for at in range(len(said)) if at not in gold])]
        yield Told("", "", None, said, asked if item["expect"] not in LEFT_OUT else [])


def of_questions(path: Path) -> Iterator[Told]:
    """Small memories; what else was said is drawn by lot."""
    lot = random.Random(path.stem)
    for said, questions in hands.memories(path):
        days = [f"2025-01-{1 + at:02}T10:00:00" for at in range(len(said))]
        told = [
            {"text": text, "speaker": who, "said_at": day}
            for (who, text), day in zip(said, days, strict=True)
        ]
        asked = []
        for question, gold, _ in questions:
            rest = [at for at in range(len(said)) if at not in gold]
            if gold:
                asked.append(Asked(question, gold, lot.sample(rest, min(OTHERS, len(rest)))))
        yield Told("", "", None, told, asked)


def of_stories(path: Path) -> Iterator[Told]:
    """Long stories, with what is outdated and what a recall brings besides."""
    for story in hands.stories(path):
        ids, asked = [said["id"] for said in story["messages"]], []
        with Store(story["user"], story["messages"], Config(reranker="none", log_uses=False)) as (
            mine,
            places,
        ):
            for q in story["questions"]:
                gold = {ids.index(each) for each in q["gold"]}
                if q["as_of"] or not gold or q["kind"] in LEFT_OUT:
                    continue
                hits = mine.recall(q["question"], asked_at=q["asked_at"], limit=8).hits
                stale = [at for each in q["stale"] if (at := ids.index(each)) not in gold]
                found = [places[hit.node.id] for hit in hits if hit.node.id in places]
                rest = [at for at in found if at not in gold and at not in stale]
                asked.append(Asked(q["question"], gold, [*stale[:NEAR], *rest[:NEAR]]))
        yield Told("", "", story["user"], story["messages"], asked)


class Store:
    """A store to which texts were told, and the place of each by its id."""

    def __init__(self, user: str | None, said: list[dict[str, Any]], config: Config) -> None:
        clock = [0]
        self.memory = Memory.open(":memory:", config, clock=partial(max, clock))
        self.mine = self.memory.scoped(user=user) if user else self.memory
        self.places: dict[str, int] = {}
        for at, each in enumerate(said):
            clock.append(instant(each["said_at"]))
            kept = {key: each[key] for key in ("speaker", "said_at", "session") if key in each}
            self.places[self.mine.remember(each["text"], **kept).id] = at
        self.memory.flush()

    def __enter__(self) -> tuple[Memory, dict[str, int]]:
        return self.mine, self.places

    def __exit__(self, *_: object) -> None:
        self.memory.close()


# Directions ---------------------------------------------------------------------------------------------


def pairs(reader: Closer, told: Told) -> Iterator[Pair]:
    """The last text that answers each question beside each of the others near it, in order of time."""
    texts = [f"{each['speaker']}: {each['text'][:LETTERS]}" for each in told.said]
    assistant = {at for at, each in enumerate(told.said) if each["speaker"].lower() == "assistant"}
    for question, gold, near in told.asked:
        best = max(gold)
        for other in near:
            if not assistant.isdisjoint({best, other}):
                continue
            older, later = sorted((best, other))
            seen = reader.both_beside(question, texts[older], texts[later])
            if seen is not None:
                yield Pair(told.folder, told.hand, seen.reshape(-1).astype(np.float16), later == best)


def directions(found: list[Pair]) -> Array:
    """The constant and the four directions, behind each other."""
    x = np.array([pair.seen for pair in found], float)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    y = np.array([float(pair.later) for pair in found])
    weight = np.array([COUNTS[pair.folder] for pair in found])
    b = logistic(np.hstack([np.ones((len(x), 1)), (x - mean) / spread]), y, weight, RIDGE)
    return np.concatenate([[b[0] - (mean * b[1:] / spread).sum()], b[1:] / spread])


# What stands beside the reading -------------------------------------------------------------------------


class Weighed(NamedTuple):
    """The measures of a leader and a later text of which one answers, and whether the later one does."""

    folder: str
    measures: dict[str, float]
    later: bool


def weighed(told: Told, way: Array) -> Iterator[Weighed]:
    """What a recall measures of the text that leads and the later ones behind it, read along these directions."""
    config = Config(log_uses=False, embedder="auto" if told.folder == "stories" else "none")
    noted: list[tuple[int, int, dict[str, float]]] = []

    def note(versions: recency._Versions, old: int, new: int, reading: float) -> float:
        turns = versions.board.turns
        measures = {
            "always": 1.0, "reading": reading, "far down": float(np.log1p(versions.place[new])),
            "words of change": versions.changes[new], "asked as of now": float(versions.now),
        }  # fmt: skip
        noted.append((turns[old].key, turns[new].key, measures))
        return float("-inf")

    plain, recency._Versions._read = recency._Versions._read, note  # type: ignore[method-assign]
    closer = open_closeness("auto")
    assert isinstance(closer, Closer)
    closer._succession_bias, closer._succession = way[0], way[1:].reshape(len(PARTS), -1)
    try:
        with Store(told.user, told.said, config) as (mine, places):
            for question, gold, _ in told.asked:
                noted.clear()
                hits = mine.recall(question, limit=10).hits
                at = {hit.node.key: places[hit.node.id] for hit in hits if hit.node.id in places}
                for old, new, measures in noted:
                    if old in at and new in at and (at[old] in gold) != (at[new] in gold):
                        yield Weighed(told.folder, measures, at[new] in gold)
    finally:
        recency._Versions._read = plain  # type: ignore[method-assign]


def weights(found: list[Weighed]) -> dict[str, float]:
    """What each measure is worth; each kind of text counts the same."""
    x = np.array([list(one.measures.values()) for one in found])
    y = np.array([float(one.later) for one in found])
    many = {folder: sum(one.folder == folder for one in found) for folder in COUNTS}
    share = np.array([1000 / many[one.folder] for one in found])
    return dict(zip(found[0].measures, logistic(x, y, share, 3.0).round(2).tolist(), strict=True))


def area(odds: Array, yes: NDArray[np.bool_]) -> float:
    """The chance that one of those has higher odds than one of the others."""
    return float((odds[yes][:, None] > odds[~yes][None]).mean())


def main() -> int:
    """Fits, and prints or writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", metavar="FILE", help="fit on all texts and write the directions there")
    args = parser.parse_args()
    reader = open_closeness("auto")
    if not isinstance(reader, Closer):
        print("the cross-encoder is not installed; run: pip install 'worldline[closer]'", file=sys.stderr)
        return 1
    found = [pair for told in everything() for pair in pairs(reader, told)]
    print(f"\r{len(found)} pairs          ", file=sys.stderr)
    if args.write:
        way = directions(found)
        rows = {"succession_bias": way[:1]}
        rows |= {
            f"succession_{part}": row
            for part, row in zip(PARTS, way[1:].reshape(len(PARTS), -1), strict=True)
        }
        others = [line for line in Path(args.write).read_text().splitlines() if line.split()[0] not in rows]
        own = [f"{name} {' '.join(f'{n:.4g}' for n in row)}" for name, row in rows.items()]
        Path(args.write).write_text("\n".join([*others, *own, ""]))
        return 0
    everyone = sorted({pair.hand for pair in found})
    out = {hand: at % FOURTHS for at, hand in enumerate(everyone)}
    ways = [directions([pair for pair in found if out[pair.hand] != fourth]) for fourth in range(FOURTHS)]
    odds = np.array([ways[out[p.hand]][0] + p.seen.astype(float) @ ways[out[p.hand]][1:] for p in found])
    for folder in COUNTS:
        of = np.array([pair.folder == folder for pair in found])
        yes = np.array([pair.later for pair in found])[of]
        print(f"{folder}: {of.sum()} pairs of hands left out, AUC {area(odds[of], yes):.3f}")
    met = [one for told in everything() for one in weighed(told, ways[out[told.hand]])]
    print(f"\r{len(met)} pairs that a recall meets; weights {weights(met)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
