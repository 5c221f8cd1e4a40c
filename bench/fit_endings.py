"""Fits the weights of `rules/matter.py` and the words of change, and says how well they carry over to others' texts.

    python bench/fit_endings.py AUTHOR=FILE [AUTHOR=FILE …] [--words OUT]

A file holds histories (`{id, statements, expect, current, stale_answer}`) or stories (`{id, messages, questions}`).
Each is told to a store of its own; whenever a message is held against facts, the pair is written down. A pair is an
ending where the history says so, none where everything stays, and left out where nobody can tell. All is fitted without
one author and tried on that author, for each of them; then to all together, which is printed. `--words` writes words.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldline import Config, Memory
from worldline.clock import FOREVER, instant
from worldline.read.cues import is_everyday
from worldline.rules import matter
from worldline.rules.changes import may_end
from worldline.rules.slots import sentence
from worldline.text import tokens
from worldline.write import reconcile

KEPT = ("keeps_both", "series", "reassert")
RARE, ALONE = 4, 3
"""A word in fewer texts, or of fewer authors, is not weighed."""
UNLIKELY = 0.3
"""A message that tells of a change less likely, by the weights so far, is not read beside facts."""
LEAST = 0.1
"""A word that weighs less is left out."""
Array = NDArray[np.float64]


class Pair(NamedTuple):
    """A message and a fact that it was held against: each of its sentences as it was measured."""

    author: str
    item: str
    texts: tuple[str, ...]
    fact: str
    measured: tuple[tuple[dict[str, float], dict[str, float]], ...]
    ended: bool
    weight: float
    already: bool
    """Whether the fact is ended without the weights."""


class Heard(NamedTuple):
    """A text, and whether it tells of a change that ends something."""

    author: str
    text: str
    change: bool


def plain(text: str) -> str:
    """A text as it is compared: words alone."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


class Recorder:
    """Stands where a message is held against facts, and keeps what was asked there."""

    def __init__(self) -> None:
        self._ask, self.asked = reconcile.ended_by, list[tuple[Any, ...]]()
        reconcile.ended_by = self  # type: ignore[assignment]
        matter.LIKELY = 1.0  # nothing is ended by the weights of today

    def __call__(
        self,
        said: Iterable[matter.ToldSentence],
        facts: Any,
        speaker: str,
        teller: str,
        close: matter.Closeness,
    ) -> Any:
        sentences = list(said)
        self.asked.append((sentences, facts, speaker, teller, close))
        return self._ask(sentences, facts, speaker, teller, close)


def texts_of(author: str, items: Sequence[Mapping[str, Any]]) -> Iterator[Heard]:
    """The texts of histories and stories, those of which it is known whether they end something."""
    for item in items:
        if "statements" in item:
            for at, said in enumerate(item["statements"]):
                if item["expect"] == "closes" and at in item["current"]:
                    yield Heard(author, said["text"], True)
                elif at == 0 or item["expect"] in KEPT:
                    yield Heard(author, said["text"], False)
        else:
            news = {id_ for q in item["questions"] if q["kind"] == "current" for id_ in q["gold"]}
            yield from (Heard(author, m["text"], False) for m in item["messages"] if m["id"] not in news)


def pairs_of(author: str, items: Sequence[Mapping[str, Any]], recorder: Recorder) -> Iterator[Pair]:
    """Tells each item to a store of its own, and yields what was held against what."""
    for item in items:
        clock = [0]
        with Memory.open(
            ":memory:", Config(embedder="none", log_uses=False), clock=partial(max, clock)
        ) as memory:
            mine = memory.scoped(user=item["user"]) if "user" in item else memory
            source: dict[str, Any] = {}
            said_here = item.get("statements") or item["messages"]
            for at, said in enumerate(said_here):
                clock.append(instant(said["said_at"]))
                recorder.asked.clear()
                mine.remember(said["text"], speaker=said["speaker"], said_at=said["said_at"])
                held = {f.content: f.valid.end == FOREVER == f.known.end for f in _facts(memory)}
                name = said.get("id", at)
                for sentences, facts, speaker, teller, close in recorder.asked:
                    apart = matter.around_each(facts, speaker)
                    often = Counter(word for fact in apart for word in fact.key_words)
                    for fact in apart:
                        told = sentence(fact.name, fact.held.phrase, fact.held.object)
                        ended = _label(item, name, source.get(told), told)
                        if ended is not None:
                            may = [each for each in sentences if may_end(each, fact, teller, apart)]
                            both = [(each, matter.measures(each, fact, often)) for each in may]
                            both = [(s, m) for s, m in both if matter.chance(m[0], matter.CHANGE) > UNLIKELY]
                            near = close(told, said["text"]) if both else 0.0
                            measured = tuple((c, {**same, "closeness": near}) for _, (c, same) in both)
                            texts, long = tuple(each.text for each, _ in both), "statements" not in item
                            yield Pair(author, f"{author} {item['id']}", texts, told, measured, ended,
                                       0.5 if long else 1.0, not held.get(told, True))  # fmt: skip
                for content in held:
                    source.setdefault(content, name)


def _facts(memory: Memory) -> list[Any]:
    found, page = list[Any](), None
    while True:
        got = memory.list("Fact", include_superseded=True, limit=200, page=page)
        found += got.items
        page = got.next
        if not page:
            return found


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


# Fitting ----------------------------------------------------------------------------------------------


def logistic(x: Array, y: Array, weight: Array, ridge: float, start: Array | None = None) -> Array:
    """Weights of a logistic fit by Newton's way; the first column, a constant, is not held small."""
    b = np.zeros(x.shape[1]) if start is None else start
    small = np.full(x.shape[1], ridge)
    small[0] = 1e-3
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(small)
        step = np.linalg.solve(hessian, x.T @ (weight * (p - y)) + small * b)
        b = b - step
        if np.abs(step).max() < 1e-4:
            break
    return b


_SMALL = re.compile(r"(?<![\w'’])(?:[a-z][\w'’]*|\d+)")
"""What is written without a capital: no name is so most of the time."""


def words_of_change(heard: Sequence[Heard]) -> dict[str, float]:
    """Each everyday word that is no name, and how much it speaks for a change."""
    said = [matter.words_in(tokens(each.text)) for each in heard]
    often = Counter(word for each in said for word in each)
    told = Counter(word for _, word in {(h.author, w) for h, ws in zip(heard, said, strict=True) for w in ws})
    small = Counter(
        word for each in heard for word in matter.words_in(tokens(" ".join(_SMALL.findall(each.text))))
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
    b = logistic(x, np.array([float(h.change) for h in heard]), np.ones(len(said)), 3.0)
    return {word: round(float(b[at]), 2) for word, at in place.items() if abs(b[at]) >= LEAST}


class Rows(NamedTuple):
    """The sentences of all pairs as arrays, and which pair each belongs to."""

    change: Array
    matter: Array
    pair: NDArray[np.int64]


def rows_of(pairs: Sequence[Pair], words: Mapping[str, Mapping[str, float]]) -> Rows:
    """What was measured, the words of change by the table of each author."""
    change, same, own = [], [], []
    for at, pair in enumerate(pairs):
        for (c, m), text in zip(pair.measured, pair.texts, strict=True):
            told = sum(words[pair.author].get(word, 0.0) for word in matter.words_in(tokens(text)))
            change.append([*({**c, "words of change": told}.values())])
            same.append([*m.values()])
            own.append(at)
    return Rows(np.array(change), np.array(same), np.array(own))


class Fit(NamedTuple):
    """Both tables of weights, and the measures that they belong to."""

    change: Array
    matter: Array

    def chances(self, rows: Rows) -> Array:
        """How likely each sentence ends the fact."""
        return _chance(rows.change @ self.change) * _chance(rows.matter @ self.matter)


def _chance(odds: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return found


def fit(pairs: Sequence[Pair], rows: Rows, wanted: NDArray[np.bool_]) -> Fit:
    """Both at once: what is no ending may lack the change, or the matter, or both, as likely as the fit so far says."""
    kept = wanted[rows.pair]
    rows = Rows(rows.change[kept], rows.matter[kept], rows.pair[kept])
    ids, best = np.unique(rows.pair, return_index=True)
    y = np.array([float(pairs[at].ended) for at in ids])
    weight = np.array([pairs[at].weight for at in ids])
    found = Fit(np.zeros(rows.change.shape[1]), np.zeros(rows.matter.shape[1]))
    for turn in range(24):
        a, b = rows.change[best], rows.matter[best]
        p, q = _chance(a @ found.change), _chance(b @ found.matter)
        left = np.maximum(1 - p * q, 1e-9)
        changed = np.where(y == 1, 1.0, p * (1 - q) / left)
        same = np.where(y == 1, 1.0, q * (1 - p) / left)
        found = Fit(
            logistic(a, changed, weight, 2.0, found.change), logistic(b, same, weight, 2.0, found.matter)
        )
        if turn in (7, 15):
            order = np.lexsort((-found.chances(rows), rows.pair))
            best = order[np.unique(rows.pair[order], return_index=True)[1]]
    return found


def main() -> int:
    """Prints how the fit carries over to each author, and the weights of all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="AUTHOR=FILE")
    parser.add_argument("--words", type=Path)
    options = parser.parse_args()
    recorder, heard, pairs = Recorder(), list[Heard](), list[Pair]()
    for name in options.files:
        author, _, file = name.partition("=")
        items = json.loads(Path(file).read_text())
        heard += texts_of(author, items)
        pairs += pairs_of(author, items, recorder)
        print(f"{author}: {len(pairs):,} pairs so far", flush=True)
    authors = sorted({pair.author for pair in pairs})

    @cache
    def without(left_out: frozenset[str]) -> dict[str, float]:
        return words_of_change([each for each in heard if each.author not in left_out])

    rows = rows_of(pairs, {author: without(frozenset({author})) for author in authors})
    whose = np.array([pair.author for pair in pairs])
    odds = np.zeros(len(pairs))
    for author in authors:
        chances = fit(pairs, rows, whose != author).chances(rows)
        theirs = whose[rows.pair] == author
        np.maximum.at(odds, rows.pair[theirs], chances[theirs])
    for limit in (0.5, 0.6, 0.7, 0.8):
        print(f"above {limit}: " + "  ".join(_tried(author, pairs, odds, limit) for author in authors))
    found = fit(pairs, rows, np.ones(len(pairs), bool))
    for names, weights in zip(next(p.measured[0] for p in pairs if p.measured), found, strict=True):
        print({name: round(float(w), 2) for name, w in zip(names, weights, strict=True)})
    if options.words:
        options.words.write_text(
            "".join(f"{word} {weight}\n" for word, weight in sorted(without(frozenset()).items()))
        )
    return 0


def _tried(author: str, pairs: Sequence[Pair], odds: Array, limit: float) -> str:
    """Histories that would be ended rightly beyond those that are, wrongly, and the endings in stories."""
    own = [(pair, odds[at]) for at, pair in enumerate(pairs) if pair.author == author]
    talk = [(pair, odd) for pair, odd in own if pair.weight == 1]
    done = {pair.item for pair, _ in talk if pair.ended and pair.already}
    right = {pair.item for pair, odd in talk if pair.ended and odd > limit} - done
    wrong = {pair.item for pair, odd in talk if not pair.ended and odd > limit}
    long = [pair.ended for pair, odd in own if pair.weight < 1 and odd > limit]
    return f"{author} +{len(right)} -{len(wrong)} ({sum(long)} of {len(long)})"


if __name__ == "__main__":
    raise SystemExit(main())
