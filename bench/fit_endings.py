"""Fits how a held fact and a message are read beside each other: is the fact over?

    python bench/fit_endings.py [--talk FILE]                # leaves hands out by thirds, prints what is found
    python bench/fit_endings.py [--talk FILE] --write FILE   # fits on all and puts the directions into that file
    python bench/fit_endings.py --words FILE                 # the words in which people tell of a change

Texts: the little histories and long stories of `bench/texts`, and with `--talk` three conversations of a LoCoMo file,
in which next to nothing ends. Each is told to a store; wherever a message meets held facts, it is read beside each as
the fact reads and beside the words that it was drawn from. Pairs of whole messages are added: what a change overtakes,
and what only sounds like it. Three directions of the layer's space (pair, fact, message) are a logistic fit; a few
measures of the message beside it are weighed by a second. Some twenty minutes; progress on the standard error.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import hands
import numpy as np
from numpy.typing import NDArray

from worldline import Config, Memory
from worldline.clock import instant
from worldline.plugins import Closer, open_closeness
from worldline.read.cues import is_everyday
from worldline.rules import changes, matter
from worldline.text import tokens
from worldline.write import reconcile

KEPT = ("keeps_both", "series", "reassert")
NEAREST = 3
"""Of the facts near a message of a long story so many are read beside it."""
EVERYTHING = 9.0
"""So surely may a reading tell here that a fact is over, so that every fact near a message is read."""
RIDGE, LONG_TALK = 100.0, 0.5
RARE, ALONE, LEAST = 4, 3, 0.1
"""A word in fewer texts, of fewer hands, or that weighs less, is left out."""
THIRDS = 3
PARTS = ("whole", "held", "said")
Array = NDArray[np.float64]


class Pair(NamedTuple):
    """A fact, or an earlier message, beside a later one."""

    hand: str
    seen: Sequence[NDArray[np.float32]]
    """The layer's mean over the pair's three parts, one behind the other; for each way in which a fact is told."""
    over: bool
    weight: float
    measures: Mapping[str, float] | None = None
    """What the product measures besides; None for two messages."""


def beside(reader: Closer, ways: Sequence[str], later: str) -> list[NDArray[np.float32]]:
    """A pair through the model, in each way; nothing where one of them has no word."""
    seen = [reader.beside(earlier, later[: matter.MOST_READ]) for earlier in ways]
    return [each.reshape(-1) for each in seen if each is not None]


# Two messages -------------------------------------------------------------------------------------------


def of_history(item: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], bool]]:
    """Each two messages of a little history of which it is known whether the later one ends what the earlier says."""
    said = item["statements"]
    for later in range(1, len(said)):
        for earlier in range(later):
            if item["expect"] in KEPT:
                yield said[earlier], said[later], False
            elif item["expect"] in ("closes", "correction") and earlier == 0:
                if later in item["current"]:
                    yield said[0], said[later], True
                elif later < min(item["current"]):
                    yield said[0], said[later], False


def near_in(talk: Sequence[Mapping[str, Any]], rng: random.Random) -> Iterator[tuple[Any, Any, bool]]:
    """Messages of a conversation in which nothing ends, each with the two by the same speaker most like it."""
    said = [set(re.findall(r"[a-z0-9]{5,}", each["text"].lower())) for each in talk]
    for later in sorted(rng.sample(range(20, len(talk)), min(260, len(talk) - 20))):
        mine = [at for at in range(later) if talk[at]["speaker"] == talk[later]["speaker"]]
        for at in sorted(mine, key=lambda at: -len(said[at] & said[later]) / (4 + len(said[at])))[:2]:
            yield talk[at], talk[later], False


def two_messages(reader: Closer, hand: str, pairs: Iterable[tuple[Any, Any, bool]]) -> Iterator[Pair]:
    """The same, read; who speaks is told where two do."""
    for earlier, later, over in pairs:
        texts = [each["text"] for each in (earlier, later)]
        if earlier["speaker"] != later["speaker"]:
            texts = [f"{each['speaker']}: {text}" for each, text in zip((earlier, later), texts, strict=True)]
        yield Pair(hand, beside(reader, texts[:1], texts[1]), over, LONG_TALK)


# A fact and a message -----------------------------------------------------------------------------------


class Recorder:
    """Stands where a message is held against facts, and keeps what was asked there."""

    def __init__(self) -> None:
        self._ask, self.asked = reconcile.ended_by, list[tuple[Any, ...]]()
        reconcile.ended_by = self  # type: ignore[assignment]

    def __call__(
        self, said: Iterable[matter.ToldSentence], facts: Any, speaker: str, teller: str, _: Any
    ) -> Any:
        sentences = list(said)
        self.asked.append((sentences, facts, speaker, teller))
        return self._ask(sentences, facts, speaker, teller, lambda *_: None)


def with_facts(
    reader: Closer, hand: str, items: Sequence[Mapping[str, Any]], recorder: Recorder
) -> Iterator[Pair]:
    """Tells each item to a store of its own, and yields what was held against what."""
    for item in items:
        clock, long = [0], "statements" not in item
        with Memory.open(
            ":memory:", Config(embedder="none", log_uses=False), clock=partial(max, clock)
        ) as memory:
            mine = memory.scoped(user=item["user"]) if item.get("user") else memory
            source: dict[str, Any] = {}
            for at, said in enumerate(item["messages"] if long else item["statements"]):
                clock.append(instant(said["said_at"]))
                recorder.asked.clear()
                mine.remember(said["text"], speaker=said["speaker"], said_at=said["said_at"])
                name = said.get("id", at)
                for ways, measures in _held_against(recorder.asked, long):
                    over = _label(item, name, source.get(ways[0]), ways[0])
                    if over is not None:
                        seen = beside(reader, ways, said["text"])
                        yield Pair(hand, seen, over, LONG_TALK if long else 1.0, measures)
                for fact in _facts(memory):
                    source.setdefault(fact, name)
        print(f"\r{hand} {item['id']}    ", end="", file=sys.stderr)


def _held_against(asked: Iterable[Any], long: bool) -> list[tuple[list[str], Mapping[str, float]]]:
    """The ways in which each fact is told that a message may end, the nearest first, and what the message is like."""
    found: dict[str, tuple[list[str], Mapping[str, float]]] = {}
    for sentences, facts, speaker, teller in asked:
        for fact in matter.around_each(facts, speaker):
            able = [each for each in sentences if changes.can_end(each, fact, teller)]
            if able:
                ways = matter.told_of(fact)
                found.setdefault(ways[0], (ways, matter.measures(max(able, key=matter.odds))))
    return list(found.values())[: NEAREST if long else None]


def _facts(memory: Memory) -> list[str]:
    found, page = list[str](), None
    while True:
        got = memory.list("Fact", include_superseded=True, limit=200, page=page)
        found += [fact.content for fact in got.items]
        page = got.next
        if not page:
            return found


def plain(text: str) -> str:
    """A text as it is compared: words alone."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def _label(item: Mapping[str, Any], now: Any, then: Any, fact: str) -> bool | None:
    """Whether a fact of one message is over by another; None where nobody can tell."""
    if "statements" in item:
        if item["expect"] in KEPT:
            return False
        if item["expect"] != "closes" or then != 0:
            return None
        if now not in item["current"]:
            return False if now < min(item["current"]) else None
        return True if plain(item["stale_answer"]) in plain(fact) else None
    for q in item["questions"]:
        if then in q["stale"]:
            old = plain(q.get("stale_answer") or "").strip()
            right = q["kind"] == "current" and now in q["gold"] and old and f" {old} " in plain(fact)
            return True if right else None
    return False


# Fitting ------------------------------------------------------------------------------------------------


def logistic(x: Array, y: Array, weight: Array, ridge: float) -> Array:
    """Weights of a logistic fit by Newton's way; the first column, a constant, is not held small."""
    b, small = np.zeros(x.shape[1]), np.full(x.shape[1], ridge)
    small[0] = 1e-3
    for _ in range(15):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(small)
        step = np.linalg.solve(hessian, x.T @ (weight * (p - y)) + small * b)
        b = b - step
        if np.abs(step).max() < 1e-4:
            break
    return b


def directions(pairs: Sequence[Pair]) -> Array:
    """The constant and the three directions, behind each other."""
    x = np.array([seen for pair in pairs for seen in pair.seen], float)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    ones = np.ones((len(x), 1))
    y = np.array([float(pair.over) for pair in pairs for _ in pair.seen])
    weight = np.array([pair.weight for pair in pairs for _ in pair.seen])
    b = logistic(np.hstack([ones, (x - mean) / spread]), y, weight, RIDGE)
    return np.concatenate([[b[0] - (mean * b[1:] / spread).sum()], b[1:] / spread])


def tried(pairs: Sequence[Pair]) -> tuple[Array, dict[str, float]]:
    """Each pair's odds by directions that were fitted without its hand, and the weights of what stands beside them."""
    all_hands = sorted({pair.hand for pair in pairs})
    odds = np.zeros(len(pairs))
    for third in range(THIRDS):
        out = set(all_hands[third::THIRDS])
        way = directions([pair for pair in pairs if pair.hand not in out])
        for at, pair in enumerate(pairs):
            if pair.hand in out:
                odds[at] = way[0] + np.mean(pair.seen, axis=0) @ way[1:]
    facts = [at for at, pair in enumerate(pairs) if pair.measures is not None]
    names = [*next(pairs[at].measures or {} for at in facts), "reading"]
    x = np.array([[*(pairs[at].measures or {}).values(), odds[at]] for at in facts])
    y, weight = (np.array([float(getattr(pairs[at], what)) for at in facts]) for what in ("over", "weight"))
    return odds, dict(zip(names, logistic(x, y, weight, 1.0).round(2).tolist(), strict=True))


def report(pairs: Sequence[Pair], odds: Array, weights: Mapping[str, float]) -> str:
    """How well endings are found by what was fitted on others."""
    lines = []
    facts = [(at, pair) for at, pair in enumerate(pairs) if pair.measures is not None]
    for name, chosen in (
        ("histories", [(at, p) for at, p in facts if p.weight == 1]),
        ("long talk", [(at, p) for at, p in facts if p.weight < 1]),
    ):
        total = np.array(
            [
                sum(weights[k] * v for k, v in (p.measures or {}).items()) + weights["reading"] * odds[at]
                for at, p in chosen
            ]
        )
        over = np.array([p.over for _, p in chosen])
        auc = (total[over][:, None] > total[~over][None]).mean()
        found = ", ".join(
            f"above {limit} {(total[over] > limit).sum()} right {(total[~over] > limit).sum()} wrong"
            for limit in (0.0, matter.LIKELY, 1.0)
        )
        lines.append(f"{name}: {over.sum()} endings of {len(over)}, AUC {auc:.3f}; {found}")
    return "\n".join(lines)


# Words of change ----------------------------------------------------------------------------------------


_SMALL = re.compile(r"(?<![\w'’])(?:[a-z][\w'’]*|\d+)")
"""What is written without a capital: no name is so most of the time."""


def words_of_change(items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, float]:
    """Each everyday word that is no name, and how much it speaks for a change."""
    heard = [each for hand, found in items.items() for item in found for each in _heard(hand, item)]
    said = [matter.words_in(tokens(text)) for _, text, _ in heard]
    often = Counter(word for each in said for word in each)
    told = Counter(
        word for _, word in {(h, w) for (h, _, _), ws in zip(heard, said, strict=True) for w in ws}
    )
    small = Counter(
        w for _, text, _ in heard for w in matter.words_in(tokens(" ".join(_SMALL.findall(text))))
    )
    known = sorted(
        word
        for word, n in often.items()
        if n >= RARE and told[word] >= ALONE and 3 * small[word] >= n and (word == "0" or is_everyday(word))
    )
    place = {word: at + 1 for at, word in enumerate(known)}
    x = np.zeros((len(said), len(known) + 1))
    x[:, 0] = 1
    for row, each in enumerate(said):
        x[row, [place[word] for word in each if word in place]] = 1
    b = logistic(x, np.array([float(change) for *_, change in heard]), np.ones(len(said)), 3.0)
    return {word: round(float(b[at]), 2) for word, at in place.items() if abs(b[at]) >= LEAST}


def _heard(hand: str, item: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    if "statements" not in item:
        news = {id_ for q in item["questions"] if q["kind"] == "current" for id_ in q["gold"]}
        yield from ((hand, m["text"], False) for m in item["messages"] if m["id"] not in news)
        return
    for at, said in enumerate(item["statements"]):
        if item["expect"] == "closes" and at in item["current"]:
            yield hand, said["text"], True
        elif at == 0 or item["expect"] in KEPT:
            yield hand, said["text"], False


# The whole ----------------------------------------------------------------------------------------------


def talks(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The first conversations of a LoCoMo file as stories without questions."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        found = json.load(file)[:3]
    told = {}
    for number, talk in enumerate(found):
        sessions = talk["conversation"]
        messages = [
            {"id": turn["dia_id"], "speaker": turn["speaker"], "text": turn["text"],
             "said_at": ""}
            for session in range(1, 60) for at, turn in enumerate(sessions.get(f"session_{session}", ()))
        ]  # fmt: skip
        for at, message in enumerate(messages):  # an hour apart: which is all that matters here
            message["said_at"] = f"2024-{1 + at // 672:02}-{1 + at // 24 % 28:02}T{at % 24:02}:00:00"
        told[f"talk{number}"] = [{"id": f"talk{number}", "messages": messages, "questions": []}]
    return told


def main() -> int:
    """Fits, and prints or writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--talk", metavar="FILE", type=Path, help="a LoCoMo file")
    parser.add_argument("--write", metavar="FILE", type=Path, help="put the directions into this file")
    parser.add_argument(
        "--words", metavar="FILE", type=Path, help="write the words of change, and nothing else"
    )
    args = parser.parse_args()
    little = {hand: hands.histories(path) for hand, path in hands.hands("changes").items()}
    long = {hand: hands.stories(path) for hand, path in hands.hands("stories").items()}
    if args.words:
        found = sorted(words_of_change({**little, **long}).items())
        args.words.write_text("".join(f"{word} {weight}\n" for word, weight in found))
        return 0
    reader = open_closeness("auto")
    if reader is None:
        print("the cross-encoder is not installed; run: pip install 'worldline[closer]'", file=sys.stderr)
        return 1
    spoken = talks(args.talk) if args.talk else {}
    recorder, pairs, rng = Recorder(), list[Pair](), random.Random(1)
    matter.PRESUMED = EVERYTHING
    for hand, items in {**little, **long, **spoken}.items():
        pairs += with_facts(reader, hand, items, recorder)
    for hand, items in little.items():
        pairs += two_messages(reader, hand, (pair for item in items for pair in of_history(item)))
    for hand, items in spoken.items():
        pairs += two_messages(reader, hand, near_in(items[0]["messages"], rng))
    pairs = [pair for pair in pairs if pair.seen]
    print(f"\r{len(pairs):,} pairs of {len({pair.hand for pair in pairs})} hands", file=sys.stderr)
    odds, weights = tried(pairs)
    print(report(pairs, odds, weights))
    print(weights)
    if args.write:
        way = directions(pairs)
        kept = [line for line in args.write.read_text().splitlines() if not line.startswith("over_")]
        rows = [f"over_bias {way[0]:.4g}"]
        for part, numbers in zip(PARTS, np.split(way[1:], len(PARTS)), strict=True):
            rows.append(f"over_{part} {' '.join(f'{n:.4g}' for n in numbers)}")
        args.write.write_text("\n".join([*kept, *rows, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
