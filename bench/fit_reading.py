"""Fits how the packaged cross-encoder's inner layer is read: is it told, and where?

    python bench/fit_reading.py                # leaves six hands out, prints what is found without them
    python bench/fit_reading.py --write FILE   # fits on all texts of bench/texts and puts the weights into that file

Six directions of the layer's space and two numbers: where a value begins and ends (a choice among the words of the text
that tells it), and the odds that a text tells what is asked (yes or no, for every text of a memory). The model itself
is not changed. Some forty minutes and 6 GB for all texts; progress on the standard error.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import hands
import numpy as np

from worldline import Config, Memory
from worldline.clock import instant
from worldline.plugins import Closer, open_closeness

HELD_OUT = ("p1", "p3", "p7", "h2", "h5", "h9")
NAMES = ("begins", "ends", "whole", "asked", "said", "met")
EPOCHS, BATCH, RATE, SHRINK, TELLING, TOLD_WEIGHT = 10, 256, 0.01, 1e-3, 3.0, 2.0
MOST_TEXTS = 14
"""Beside a question at most so many texts are read."""


class Pair(NamedTuple):
    """A question beside a text, as the layer has it."""

    question: str
    layer: np.ndarray
    asked: np.ndarray
    said: np.ndarray
    told: bool
    span: tuple[int, int] | None
    answerable: bool


Asked = tuple[str, set[int], list[str], list[int]]
"""A question, the texts that tell it, the answer's wordings, and the texts that are read beside it."""


def of_memories(path: Path) -> Iterator[tuple[list[tuple[str, str]], list[Asked]]]:
    """Small memories, whose texts are all read."""
    for said, asked in hands.memories(path):
        few = list(range(len(said)))[:MOST_TEXTS]
        yield said, [(question, gold, wordings, few) for question, gold, wordings in asked]


def of_stories(path: Path) -> Iterator[tuple[list[tuple[str, str]], list[Asked]]]:
    """Long stories, of which those texts are read that a recall by words and vectors brings, and those that tell it."""
    for story in hands.stories(path):
        clock = [0]
        config = Config(reranker="none", log_uses=False)
        with Memory.open(":memory:", config, clock=partial(max, clock)) as memory:
            mine, number = memory.scoped(user=story["user"]), {}
            for at, said in enumerate(story["messages"]):
                clock.append(instant(said["said_at"]))
                receipt = mine.remember(
                    said["text"], speaker=said["speaker"], said_at=said["said_at"], session=said["session"]
                )
                number[receipt.id] = at
            memory.flush()
            ids, asked = [said["id"] for said in story["messages"]], list[Asked]()
            for q in story["questions"]:
                if q["as_of"] or q["kind"] == "order":
                    continue
                clock.append(instant(q["asked_at"]))
                hits = mine.recall(q["question"], asked_at=q["asked_at"], limit=MOST_TEXTS - 2).hits
                gold = {ids.index(each) for each in q["gold"]}
                few = [number[hit.node.id] for hit in hits if hit.node.id in number]
                wordings = [q["answer"], *q["accept"]] if gold else []
                asked.append((q["question"], gold, wordings, list(dict.fromkeys([*few, *sorted(gold)]))))
        yield [(said["speaker"], said["text"]) for said in story["messages"]], asked


def place(text: str, wordings: list[str]) -> tuple[int, int] | None:
    """Where one of the wordings stands as whole words."""
    for wording in wordings:
        for said in (wording.strip(), re.sub(r"^(?:the|an?|my|our) ", "", wording.strip(), flags=re.I)):
            found = said and re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text, re.I)
            if found:
                return found.span()
    return None


def read(reader: Closer, path: Path) -> list[Pair]:
    """Every question of a file beside the texts of its memory; of a story beside those that a recall finds."""
    pairs: list[Pair] = []
    for texts, asked in of_memories(path) if path.parent.name == "questions" else of_stories(path):
        for question, gold, wordings, few in asked:
            for at in few:
                pairs.append(
                    beside(reader, question, *texts[at], at in gold, wordings, answerable=bool(gold))
                )
        print(f"\r{path.stem}: {len(pairs)} pairs", end="", file=sys.stderr)
    print(file=sys.stderr)
    return pairs


def beside(reader, question, who, text, told, wordings, *, answerable) -> Pair:
    """One pair through the model."""
    encoded = reader._tokenizer.encode(question, f"{who}: {text}")
    layer = reader._run(encoded, 2)[1][0].astype(np.float16)
    words = ~np.array(encoded.special_tokens_mask, bool)
    types = np.array(encoded.type_ids, bool)
    value = [at for at in np.flatnonzero(words & types) if encoded.offsets[at][0] >= len(who) + 2]
    span = None
    if told and (found := place(text, wordings)):
        begin, end = (number + len(who) + 2 for number in found)
        first = [at for at in value if encoded.offsets[at][0] <= begin < encoded.offsets[at][1]]
        last = [at for at in value if encoded.offsets[at][0] < end <= encoded.offsets[at][1]]
        span = (first[0], last[0]) if first and last else None
    return Pair(question, layer, words & ~types, np.array(value, int), told, span, answerable)


def forward(ways: np.ndarray, pair: Pair):
    """The six numbers of each word, the odds, and which words gave the best value."""
    layer = pair.layer.astype(np.float32)
    out = layer @ ways[:, :384].T
    begin = pair.said[out[pair.said, 0].argmax()]
    end = pair.said[out[pair.said, 1].argmax()]
    unmet = -out[pair.asked, 5]
    best = out[begin, 0] + out[end, 1]
    odds = ways[2, 384] + out[0, 2] + ways[0, 384] * best
    odds += out[pair.asked, 3].mean() + out[pair.said, 4].mean() - np.logaddexp.reduce(unmet)
    return layer, out, float(odds), int(begin), int(end), float(best)


def gradient(ways: np.ndarray, pair: Pair, into: np.ndarray) -> None:
    """Adds what one pair asks to be changed; the bias and the weight of the best value stand in the last column."""
    layer, out, odds, begin, end, best = forward(ways, pair)
    if pair.span is not None:
        for way, target in enumerate(pair.span):
            shares = softmax(out[pair.said, way])
            into[way, :384] += shares @ layer[pair.said] - layer[target]
    step = TOLD_WEIGHT * (TELLING if pair.told else 1.0) * (1 / (1 + np.exp(-odds)) - pair.told)
    into[2, :384] += step * layer[0]
    into[2, 384] += step
    into[0, 384] += step * best
    into[0, :384] += step * ways[0, 384] * layer[begin]
    into[1, :384] += step * ways[0, 384] * layer[end]
    into[3, :384] += step * layer[pair.asked].mean(axis=0)
    into[4, :384] += step * layer[pair.said].mean(axis=0)
    into[5, :384] += step * (softmax(-out[pair.asked, 5]) @ layer[pair.asked])


def softmax(logits: np.ndarray) -> np.ndarray:
    """Shares of one."""
    risen = np.exp(logits - logits.max())
    return risen / risen.sum()


def fit(pairs: list[Pair]) -> np.ndarray:
    """Adam over small batches, with a rate that falls to nothing; the same pairs give the same weights."""
    rng = np.random.default_rng(0)
    ways = np.zeros((6, 385), np.float32)
    ways[5, :384] = rng.normal(0, 0.01, 384)
    ways[0, 384] = 0.3
    first, second, step = np.zeros_like(ways), np.zeros_like(ways), 0
    batches = -(-len(pairs) // BATCH)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(pairs))
        for at in range(0, len(pairs), BATCH):
            batch, grad = order[at : at + BATCH], np.zeros_like(ways)
            for index in batch:
                gradient(ways, pairs[index], grad)
            grad /= len(batch)
            grad[:, :384] += 2 * SHRINK * ways[:, :384]
            step += 1
            first += 0.1 * (grad - first)
            second += 0.001 * (grad**2 - second)
            rate = RATE * max(0.02, 1 - step / (EPOCHS * batches))
            ways -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        print(f"\rfitting: {epoch + 1} of {EPOCHS}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return ways


def tried(ways: np.ndarray, pairs: list[Pair]) -> str:
    """How well a hand that was left out is read."""
    by_question: dict[str, list[tuple[float, Pair, int, int]]] = {}
    for at, pair in enumerate(pairs):
        if at and pair.question != pairs[at - 1].question and pair.question in by_question:
            continue  # asked of another memory too
        _, _, odds, begin, end, _ = forward(ways, pair)
        by_question.setdefault(pair.question, []).append((odds, pair, begin, end))
    best = [max(found, key=lambda one: one[0]) for found in by_question.values()]
    yes = np.array([one[0] for one in best if one[1].answerable])
    no = np.array([one[0] for one in best if not one[1].answerable])
    auc = (yes[:, None] > no[None]).mean()
    first = np.mean([one[1].told for one in best if one[1].answerable])
    there = [(one[1].span, (one[2], one[3])) for one in best if one[1].span is not None]
    exact = np.mean([span == found for span, found in there])
    return f"AUC {auc:.3f}, the right text first {first:.3f}, exactly the value in it {exact:.3f}"


def main() -> int:
    """Fits, and prints or writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", metavar="FILE", help="fit on all texts and write the weights there")
    args = parser.parse_args()
    reader = open_closeness("auto")
    if reader is None:
        print("the cross-encoder is not installed; run: pip install 'worldline[closer]'", file=sys.stderr)
        return 1
    files = [*hands.hands("questions").values(), *hands.hands("stories").values()]
    pairs = {path.stem: [p for p in read(reader, path) if len(p.said) and p.asked.any()] for path in files}
    if args.write:
        ways = fit([pair for found in pairs.values() for pair in found])
        rows = [
            f"{name} {' '.join(f'{n:.4g}' for n in way[:384])}" for name, way in zip(NAMES, ways, strict=True)
        ]
        rows += [f"best {ways[0, 384]:.4g}", f"bias {ways[2, 384]:.4g}"]
        own = {*NAMES, "best", "bias"}
        others = [line for line in Path(args.write).read_text().splitlines() if line.split()[0] not in own]
        Path(args.write).write_text("\n".join([*rows, *others, ""]))
        return 0
    ways = fit([pair for name, found in pairs.items() if name not in HELD_OUT for pair in found])
    for name in HELD_OUT:
        print(f"{name}, left out: {tried(ways, pairs[name])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
