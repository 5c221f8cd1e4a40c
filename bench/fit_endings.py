"""Fits how a held fact and a message are read beside each other: is the fact over, was it wrong, are they at odds?

    python bench/fit_endings.py [--talk FILE]                # leaves hands out by thirds, prints what is found
    python bench/fit_endings.py [--talk FILE] --write FILE   # fits on all and puts the directions into that file
    python bench/fit_endings.py --words FILE                 # the words in which people tell of a change or a slip

Texts: the little histories and long stories of `bench/texts`, and with `--talk` three conversations of a LoCoMo file,
in which next to nothing ends. Each is told to a store; wherever a message meets held facts, it is read beside each as
the fact reads and beside the words that it was drawn from; so are messages of small memories that have nothing to do
with each other. Pairs of whole messages are added: what a change overtakes or a slip was, what only sounds like it, and
what two people say. For each of over, wrong and at odds a logistic fit gives three directions of the layer's space
(pair, fact, message); a second weighs a few measures of the message beside it. A quarter of an hour; progress on the
standard error.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from worldline.reading.claim import content_stems
from worldline.reading.read import ToRead, read_all
from worldline.rules import changes, matter
from worldline.rules.slots import sentence
from worldline.text import tokens
from worldline.write import reconcile

KEPT = ("keeps_both", "series", "reassert")
NEAREST = 3
"""Of the facts near a message of a long story so many are read beside it."""
EVERYTHING = 9.0
"""So surely may a reading tell here that a fact is over, so that every fact near a message is read."""
LONG_TALK = 0.5
MEMORIES, UNRELATED = 60, 3
"""Of so many small memories of a hand, so many pairs of messages each that have nothing to do with each other."""
NAMES = "Ana Bo Marek Ilse Priya Tom Fatou Hana Jonas Rosa Omar Greta".split()
"""Who speaks, where somebody goes on and is read as if two did."""
VOICES = 3.0
"""How much more two who really spoke count than one who goes on."""
RARE, ALONE, LEAST = 6, 4, 0.15
"""A word in fewer texts, of fewer hands, or that weighs less, is left out."""
THIRDS = 3
MOST_OF_TALK, MOST_OF_STORY = 260, 25
"""So many messages of a conversation are read beside others."""
LIMITS = ((0.0, matter.LIKELY, 1.0), (-1.0, 0.0, 1.0), (0.0, 1.0, 1.5, 2.0, 3.0))
PARTS = ("whole", "held", "said")
Array = NDArray[np.float64]


class Pair(NamedTuple):
    """A fact, or an earlier message, beside a later one."""

    hand: str
    seen: Sequence[NDArray[np.float32]]
    """The layer's mean over the pair's three parts, one behind the other; for each way in which a fact is told."""
    what: str
    """What the later one does to the other: over, wrong, odds or none."""
    weight: float
    measures: Mapping[str, float] | None = None
    """What the product measures of an end besides; None for two messages."""
    slip: Mapping[str, float] | None = None
    """The same of a correction."""
    voices: bool = False
    """Whether two people speak."""


def beside(reader: Closer, ways: Sequence[str], later: str) -> list[NDArray[np.float32]]:
    """A pair through the model, in each way; nothing where one of them has no word."""
    seen = [reader.beside(earlier, later[: matter.MOST_READ]) for earlier in ways]
    return [each.reshape(-1) for each in seen if each is not None]


# Two messages -------------------------------------------------------------------------------------------

Said = Mapping[str, Any]
ENDINGS = {"closes": "over", "correction": "wrong"}
DISAGREEING = {"contradiction": "odds", "closes": "over"}
"""What somebody else tells: that it changed since is no disagreement."""


def of_history(item: Said) -> Iterator[tuple[Said, Said, str]]:
    """Each two messages of a little history of which it is known what the later one does to the earlier."""
    said = item["statements"]
    for later in range(1, len(said)):
        for earlier in range(later):
            if item["expect"] in KEPT:
                yield said[earlier], said[later], "none"
            elif item["expect"] in ENDINGS and earlier == 0:
                if later in item["current"]:
                    yield said[0], said[later], ENDINGS[item["expect"]]
                elif later < min(item["current"]):
                    yield said[0], said[later], "none"


def disagreeing(item: Said) -> Iterator[tuple[Said, Said, str]]:
    """Each two messages of a little history in which two disagree, or the later one is so besides or since then."""
    said = item["statements"]
    for later in range(1, len(said)):
        for earlier in range(later):
            if item["expect"] in KEPT:
                yield said[earlier], said[later], "none"
            elif item["expect"] in DISAGREEING and earlier == 0 and later in item["current"]:
                yield said[0], said[later], DISAGREEING[item["expect"]]


def near_in(
    talk: Sequence[Said], rng: random.Random, most: int, *, voices: bool
) -> Iterator[tuple[Said, Said, str]]:
    """Messages of a conversation, each with the two before it, of the same speaker or of others, most like it."""
    said = [set(re.findall(r"[a-z0-9]{5,}", each["text"].lower())) for each in talk]
    for later in sorted(rng.sample(range(10, len(talk)), min(most, len(talk) - 10))):
        mine = [at for at in range(later) if (talk[at]["speaker"] != talk[later]["speaker"]) == voices]
        for at in sorted(mine, key=lambda at: -len(said[at] & said[later]) / (4 + len(said[at])))[:2]:
            yield talk[at], talk[later], "none"


def two_messages(reader: Closer, hand: str, pairs: Iterable[tuple[Said, Said, str]]) -> Iterator[Pair]:
    """The same, read."""
    for earlier, later, what in pairs:
        yield Pair(hand, beside(reader, [earlier["text"]], later["text"]), what, LONG_TALK)


def two_voices(
    reader: Closer, hand: str, pairs: Iterable[tuple[Said, Said, str]], rng: random.Random, weight: float
) -> Iterator[Pair]:
    """The same as two people say it."""
    for earlier, later, what in pairs:
        names, alone = [earlier["speaker"], later["speaker"]], earlier["speaker"] == later["speaker"]
        names = rng.sample(NAMES, 2) if alone else names
        one, other = (
            matter.voiced(name, each["text"]) for name, each in zip(names, (earlier, later), strict=True)
        )
        yield Pair(hand, beside(reader, [one], other), what, weight * (1 if alone else VOICES), voices=True)


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
                for ways, measures, slip in _held_against(recorder.asked, long):
                    what = _label(item, name, source.get(ways[0]), ways[0])
                    if what is not None:
                        seen = beside(reader, ways, said["text"])
                        yield Pair(hand, seen, what, LONG_TALK if long else 1.0, measures, slip)
                for fact in _facts(memory):
                    source.setdefault(fact, name)
        print(f"\r{hand} {item['id']}    ", end="", file=sys.stderr)


def _held_against(
    asked: Iterable[Any], long: bool
) -> list[tuple[list[str], Mapping[str, float], Mapping[str, float]]]:
    """The ways in which each fact is told that a message may end, the nearest first, and what the message is like."""
    found: dict[str, tuple[list[str], Mapping[str, float], Mapping[str, float]]] = {}
    for sentences, facts, speaker, teller in asked:
        for fact in matter.around_each(facts, speaker):
            able = [each for each in sentences if changes.can_end(each, fact, teller)]
            if able:
                ways = matter.told_of(fact)
                over, slip = max(able, key=matter.odds), max(able, key=matter.odds_of_slip)
                found.setdefault(ways[0], (ways, matter.measures(over), matter.measures_of_slip(slip)))
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


def _label(item: Said, now: Any, then: Any, fact: str) -> str | None:
    """What a message does to a fact of another; None where nobody can tell."""
    if "statements" in item:
        if item["expect"] in KEPT:
            return "none"
        if item["expect"] not in ENDINGS or then != 0:
            return None
        if now not in item["current"]:
            return "none" if now < min(item["current"]) else None
        return ENDINGS[item["expect"]] if plain(item["stale_answer"]) in plain(fact) else None
    for q in item["questions"]:
        if then in q["stale"]:
            old = plain(q.get("stale_answer") or "").strip()
            right = q["kind"] == "current" and now in q["gold"] and old and f" {old} " in plain(fact)
            return "over" if right else None
    return "none"


def unrelated(reader: Closer, hand: str, path: Path, rng: random.Random) -> Iterator[Pair]:
    """Messages of small memories beside facts of earlier ones with which they share no word: none of them is over."""
    memories = [said for said, _ in hands.memories(path)]
    for said in rng.sample(memories, min(MEMORIES, len(memories))):
        readings = read_all([ToRead(text, who) for who, text in said])
        near = [
            (i, j) for j in range(len(said)) for i in range(max(0, j - 3), j)
            if said[i][0] == said[j][0] and readings[i].claims
            and content_stems(said[i][1]).isdisjoint(content_stems(said[j][1]))
        ]  # fmt: skip
        for i, j in rng.sample(near, min(UNRELATED, len(near))):
            claim, text = rng.choice(readings[i].claims), said[j][1]
            told = max(matter.told_in(readings[j], text), key=matter.odds)
            ways = [sentence(claim.subject, claim.predicate, claim.object), said[i][1]]
            measures = matter.measures(told), matter.measures_of_slip(told)
            yield Pair(hand, beside(reader, ways, told.text), "none", 1.0, *measures)


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


class Task(NamedTuple):
    """One of the three things that are read: which pairs tell it, which do not, and how much those that do count."""

    name: str
    yes: Callable[[Pair], bool]
    counts: Callable[[Pair], bool]
    more: float = 1.0
    ridge: float = 100.0


TASKS = (
    # a slip is over as well, but of a fact of a little history it is not asked here
    Task("over", lambda p: p.what in ("over", "wrong"), lambda p: not p.voices and (p.what != "wrong" or not p.slip),
         ridge=30.0),
    Task("wrong", lambda p: p.what == "wrong", lambda p: not p.voices),
    Task("odds", lambda p: p.what == "odds", lambda p: p.voices, 8.0),
)  # fmt: skip


def directions(task: Task, pairs: Sequence[Pair]) -> Array:
    """The constant and the three directions, behind each other."""
    pairs = [pair for pair in pairs if task.counts(pair)]
    x = np.array([seen for pair in pairs for seen in pair.seen], float)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    ones = np.ones((len(x), 1))
    told = [(task.yes(pair), pair.weight) for pair in pairs for _ in pair.seen]
    y = np.array([float(yes) for yes, _ in told])
    weight = np.array([weight * (task.more if yes else 1.0) for yes, weight in told])
    b = logistic(np.hstack([ones, (x - mean) / spread]), y, weight, task.ridge)
    return np.concatenate([[b[0] - (mean * b[1:] / spread).sum()], b[1:] / spread])


def tried(task: Task, pairs: Sequence[Pair]) -> Array:
    """Each pair's odds by directions that were fitted without its hand."""
    all_hands = sorted({pair.hand for pair in pairs})
    odds = np.zeros(len(pairs))
    for third in range(THIRDS):
        out = set(all_hands[third::THIRDS])
        way = directions(task, [pair for pair in pairs if pair.hand not in out])
        for at, pair in enumerate(pairs):
            if pair.hand in out:
                odds[at] = way[0] + np.mean(pair.seen, axis=0) @ way[1:]
    return odds


Measured = Mapping[str, float]


def weighed(task: Task, told: Sequence[tuple[Pair, Measured, float]]) -> dict[str, float]:
    """The weights of what stands beside a reading: of pairs, what is measured of each, and its odds."""
    names = [*told[0][1], "reading"]
    x = np.array([[*measures.values(), odds] for _, measures, odds in told])
    y, weight = (
        np.array(each) for each in zip(*((float(task.yes(p)), p.weight) for p, *_ in told), strict=True)
    )
    return dict(zip(names, logistic(x, y, weight, 1.0).round(2).tolist(), strict=True))


def report(
    task: Task,
    told: Sequence[tuple[Pair, Measured, float]],
    weights: Mapping[str, float],
    limits: Sequence[float],
) -> str:
    """How well it is found by what was fitted on others."""
    lines = []
    for name, chosen in (
        ("histories", [each for each in told if each[0].weight == 1]),
        ("long talk", [each for each in told if each[0].weight < 1]),
        ("two who spoke", [each for each in told if each[0].weight > 1]),
    ):
        total = np.array(
            [sum(weights[k] * v for k, v in m.items()) + weights["reading"] * odds for _, m, odds in chosen]
        )
        yes = np.array([task.yes(p) for p, *_ in chosen], bool)
        found = ", ".join(
            f"above {limit} {(total[yes] > limit).sum()} right {(total[~yes] > limit).sum()} wrong"
            for limit in limits
        ) if len(yes) else ""  # fmt: skip
        auc = f"AUC {(total[yes][:, None] > total[~yes][None]).mean():.3f}; " if yes.any() else ""
        lines.append(f"{task.name}, {name}: {yes.sum()} of {len(yes)}, {auc}{found}")
    return "\n".join(lines)


# Words of change ----------------------------------------------------------------------------------------


_SMALL = re.compile(r"(?<![\w'’])(?:[a-z][\w'’]*|\d+)")
"""What is written without a capital: no name is so most of the time."""


def turning_words(items: Mapping[str, Sequence[Said]]) -> dict[str, tuple[float, float]]:
    """Each everyday word that is no name, and how much it speaks for a change and for a slip taken back."""
    heard = [each for hand, found in items.items() for item in found for each in _heard(hand, item)]
    both = (_weights(heard, what) for what in ("over", "wrong"))
    change, slip = ({word: w for word, w in each.items() if abs(w) >= LEAST} for each in both)
    return {word: (change.get(word, 0.0), slip.get(word, 0.0)) for word in sorted({*change, *slip})}


def _weights(heard: Sequence[tuple[str, str, str]], what: str) -> dict[str, float]:
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
    b = logistic(x, np.array([float(told == what) for *_, told in heard]), np.ones(len(said)), 3.0)
    return {word: round(float(b[at]), 2) for word, at in place.items()}


def _heard(hand: str, item: Said) -> Iterator[tuple[str, str, str]]:
    """What each message tells: over, wrong or neither; none of which nobody knows."""
    if "statements" not in item:
        news = {id_ for q in item["questions"] if q["kind"] == "current" for id_ in q["gold"]}
        yield from ((hand, m["text"], "none") for m in item["messages"] if m["id"] not in news)
        return
    for at, said in enumerate(item["statements"]):
        if at == 0 or item["expect"] in KEPT:
            yield hand, said["text"], "none"
        elif item["expect"] in ENDINGS and at in item["current"]:
            yield hand, said["text"], ENDINGS[item["expect"]]


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
        "--words", metavar="FILE", type=Path, help="write the words of change and of slips, and nothing else"
    )
    args = parser.parse_args()
    little = {hand: hands.histories(path) for hand, path in hands.hands("changes").items()}
    long = {hand: hands.stories(path) for hand, path in hands.hands("stories").items()}
    if args.words:
        found = turning_words({**little, **long})
        head = [line for line in args.words.read_text("utf-8").splitlines() if line.startswith("#")]
        rows = [f"{word} {change:g} {slip:g}" for word, (change, slip) in found.items()]
        args.words.write_text("\n".join([*head, *rows, ""]), "utf-8")
        return 0
    reader = open_closeness("auto")
    if reader is None:
        print("the cross-encoder is not installed; run: pip install 'worldline[closer]'", file=sys.stderr)
        return 1
    spoken = talks(args.talk) if args.talk else {}
    pairs = [pair for pair in _pairs(reader, little, long, spoken) if pair.seen]
    print(f"\r{len(pairs):,} pairs of {len({pair.hand for pair in pairs})} hands", file=sys.stderr)
    for task, limits in zip(TASKS, LIMITS, strict=True):
        print(tell(task, pairs, limits))
    if args.write:
        kept = [
            line for line in args.write.read_text("utf-8").splitlines()
            if line.partition("_")[0] not in {task.name for task in TASKS}
        ]  # fmt: skip
        rows = [row for task in TASKS for row in _rows(task.name, directions(task, pairs))]
        args.write.write_text("\n".join([*kept, *rows, ""]), "utf-8")
    return 0


def _pairs(
    reader: Closer,
    little: Mapping[str, list[Any]],
    long: Mapping[str, list[Any]],
    spoken: Mapping[str, list[Any]],
) -> Iterator[Pair]:
    """All that is fitted on."""
    recorder, rng = Recorder(), random.Random(1)
    matter.PRESUMED = matter.SURELY_READ = EVERYTHING
    for hand, items in {**little, **long, **spoken}.items():
        yield from with_facts(reader, hand, items, recorder)
    for hand, path in hands.hands("questions").items():
        yield from unrelated(reader, hand, path, rng)
    for hand, items in little.items():
        yield from two_messages(reader, hand, (pair for item in items for pair in of_history(item)))
        told = (pair for item in items for pair in disagreeing(item))
        yield from two_voices(reader, hand, told, rng, 1.0)
    for hand, items in {**spoken, **long}.items():
        most = MOST_OF_TALK if hand in spoken else MOST_OF_STORY
        for item in items:
            talk = item["messages"]
            if hand in spoken:
                yield from two_messages(reader, hand, near_in(talk, rng, most, voices=False))
            if len({each["speaker"] for each in talk if each.get("role") != "assistant"}) > 1:
                yield from two_voices(reader, hand, near_in(talk, rng, most, voices=True), rng, 0.4 / VOICES)


def tell(task: Task, pairs: Sequence[Pair], limits: Sequence[float]) -> str:
    """How well one thing is read by directions that were fitted without a hand, and the weights beside them."""
    chosen = [pair for pair in pairs if task.counts(pair) and (pair.voices or pair.measures is not None)]
    fitted = dict(zip(map(id, pairs), tried(task, pairs).tolist(), strict=True))
    beside_it = [
        (pair, (pair.slip if task.name == "wrong" else pair.measures) or {"always": 1.0}, fitted[id(pair)])
        for pair in chosen
    ]
    plain_odds = task.name == "odds"
    weights = {"always": 0.0, "reading": 1.0} if plain_odds else weighed(task, beside_it)
    return f"{report(task, beside_it, weights, limits)}\n{weights}"


def _rows(name: str, way: Array) -> Iterator[str]:
    yield f"{name}_bias {way[0]:.4g}"
    for part, numbers in zip(PARTS, np.split(way[1:], len(PARTS)), strict=True):
        yield f"{name}_{part} {' '.join(f'{n:.4g}' for n in numbers)}"


if __name__ == "__main__":
    sys.exit(main())
