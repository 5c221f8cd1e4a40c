"""The features of a candidate turn: how it meets the question, alone and within its session.

It decides what is measured, not what each measure is worth (`weights.py`).  A turn inherits
evidence from its neighbours and from the session that contains it.  Pure: the pool and the corpus
counts come from the caller; a lane that was not searched (no embedder) leaves its features at rest.

>>> from worldline.read.cues import ask
>>> from worldline.rules.describe import describe
>>> pool = [Turn(1, "s", 0, describe("We swam in the lake"))]
>>> measure(ask("Where did they swim?"), pool, Corpus(1, 5.0, {"swim": 1}))["lead"]
array([1.])
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from worldline.read.cues import AskedFor
from worldline.rules.describe import (
    ASKS,
    INSTRUCTS,
    NAME,
    NUMBER,
    OF_ME,
    OF_YOU,
    PREFERS,
    REACTS,
    TIME,
    Described,
)

Column: TypeAlias = NDArray[np.float64]

K1, B = 1.2, 0.75
LEAD = 300
DAY = 86_400_000_000


class Turn(msgspec.Struct, frozen=True):
    """One text of the pool; ``role`` is people, user or assistant; ``speaker`` is folded."""

    key: int
    session: str
    position: int
    described: Described
    speaker: str = ""
    role: str = "people"
    said_at: int | None = None
    cosine: float | None = None


class Corpus(msgspec.Struct, frozen=True):
    """Counts over everything searched: texts, words a text, texts with a term."""

    size: int
    mean_length: float
    frequency: Mapping[str, int]

    def idf(self, term: str) -> float:
        count = self.frequency.get(term, 0)
        return math.log(1 + (self.size - count + 0.5) / (count + 0.5))


class Matches(msgspec.Struct, frozen=True):
    """Terms × turns: how often each term occurs, and whether it is stated."""

    idf: Column
    counts: Column
    stated: Column
    lead: Column
    kinds: Column


def match(asked: AskedFor, turns: Sequence[Turn], corpus: Corpus) -> Matches:
    """Count every question term in every turn."""
    counts = np.zeros((len(asked.terms), len(turns)))
    stated, lead = np.zeros_like(counts), np.zeros_like(counts)
    needles = list(enumerate(f" {term} " for term in asked.terms))
    for column, turn in enumerate(turns):
        blob = turn.described.words
        for row, needle in needles:
            at = blob.find(needle)
            if at >= 0:
                counts[row, column] = blob.count(needle)
                stated[row, column] = _is_stated(blob, needle, at)
                lead[row, column] = at < LEAD
    idf = np.array([corpus.idf(t) for t in asked.terms])
    return Matches(idf, counts, stated, lead, _kinds(asked, turns, corpus))


def _is_stated(blob: str, needle: str, at: int) -> bool:
    """Whether a term occurs outside the brackets of what is only asked or wished."""
    while at >= 0:
        if blob.rfind("(", 0, at) <= blob.rfind(")", 0, at):
            return True
        at = blob.find(needle, blob.find(")", at))
    return False


def _kinds(asked: AskedFor, turns: Sequence[Turn], corpus: Corpus) -> Column:
    """Terms × turns: the weight of the best kind that a term asks for and a turn is of."""
    credit = np.zeros((len(asked.terms), len(turns)))
    for row, tags in enumerate(asked.kinds):
        for tag in tags:
            worth, needle = corpus.idf(tag), f" {tag} "
            has = np.array([needle in t.described.kinds for t in turns])
            credit[row] = np.maximum(credit[row], worth * has)
    return credit


def bm25(found: Matches, turns: Sequence[Turn], corpus: Corpus) -> Column:
    """BM25 over the question's terms, the same on every store."""
    length = np.array([t.described.length for t in turns], float)
    norm = K1 * (1 - B + B * length / max(corpus.mean_length, 1.0))
    return np.asarray(found.idf @ (found.counts * (K1 + 1) / (found.counts + norm)))


def standard(values: Column) -> Column:
    """Standard scores over the pool, clipped."""
    spread = float(values.std())
    if spread < 1e-9:
        return np.zeros_like(values)
    return np.asarray(np.clip((values - values.mean()) / spread, -3, 6))


def coverage(found: Matches, present: Column) -> Column:
    """Share of the question's weight whose terms are present."""
    return np.asarray(np.divide(found.idf @ present, max(float(found.idf.sum()), 1e-9)))


def neighbours(turns: Sequence[Turn]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index of the turn before and after in the same session; −1 where there is none."""
    place = {(t.session, t.position): i for i, t in enumerate(turns)}
    before = [place.get((t.session, t.position - 1), -1) for t in turns]
    after = [place.get((t.session, t.position + 1), -1) for t in turns]
    return np.array(before), np.array(after)


def _at(values: Column, index: NDArray[np.int64]) -> Column:
    return np.where(index >= 0, values[index], 0.0)


def window(asked: AskedFor, turns: Sequence[Turn]) -> Column:
    """1 inside a stretch of time that the question names, fading with the days outside it."""
    if not asked.windows:
        return np.zeros(len(turns))
    return np.array([max((_near(w, t) for w in asked.windows), default=0.0) for t in turns])


def _near(span: tuple[int, int], turn: Turn) -> float:
    if any(start < span[1] and span[0] < end for start, end in turn.described.dates):
        return 1.0
    if turn.said_at is None:
        return 0.0
    gap = max(span[0] - turn.said_at, turn.said_at - span[1], 0) / DAY
    return math.exp(-gap / (7 if turn.said_at > span[1] else 3))


def spoken_by(asked: AskedFor, turns: Sequence[Turn]) -> Column:
    """+1 said by the one person named, −1 by another, 0 where that says nothing."""
    if len(asked.people) != 1:
        return np.zeros(len(turns))
    named = asked.people[0]
    return np.array([0.0 if t.role != "people" else 1.0 if t.speaker == named else -1.0 for t in turns])


def by_session(turns: Sequence[Turn]) -> NDArray[np.int64]:
    """A number for each turn's session."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(t.session, len(seen)) for t in turns])


def _session_max(values: Column, session: NDArray[np.int64]) -> Column:
    best = np.full(int(session.max()) + 1, -np.inf)
    np.maximum.at(best, session, values)
    return best[session]


def measure(
    asked: AskedFor, turns: Sequence[Turn], corpus: Corpus, found: Matches | None = None
) -> dict[str, Column]:
    """Every feature of every turn, by name."""
    found = found or match(asked, turns, corpus)
    present = (found.counts > 0).astype(float)
    before, after = neighbours(turns)
    session = by_session(turns)
    flags = np.array([t.described.flags for t in turns])
    role = np.array([t.role for t in turns])
    people, user, machine = ((role == r).astype(float) for r in ("people", "user", "assistant"))
    raw = bm25(found, turns, corpus)
    zb = standard(raw)
    dense = turns[0].cosine is not None
    zd = standard(np.array([t.cosine or 0.0 for t in turns])) if dense else zb
    c = (zb + zd) / 2
    length = np.log1p([t.described.length for t in turns]) - 3
    around = np.maximum(present, np.maximum(_around(present, before), _around(present, after)))
    union = np.zeros((int(session.max()) + 1, len(asked.terms)))
    np.maximum.at(union, session, present.T)

    def has(bit: int) -> Column:
        return ((flags & bit) > 0).astype(float)

    asks = has(ASKS)
    prev, nxt = _at(c, before), _at(c, after)
    speaker = spoken_by(asked, turns)
    said = 0.0 if asked.to_assistant else 1.0
    return {
        "words": zb,
        "meaning": zd,
        "stated": coverage(found, found.stated),
        "lead": coverage(found, found.lead),
        "around": coverage(found, around),
        "kind": _kind_cover(found, present),
        "session best": _session_max(c, session),
        "session cover": coverage(found, union.T)[session],
        "people: before": people * prev,
        "people: after": people * nxt,
        "people: answers it": people * _at(asks * np.maximum(c, 0), before),
        "people: before that": people * _at(prev, before),
        "people: own": people * (speaker > 0) * has(OF_ME),
        "people: to them": people * (speaker < 0) * has(OF_YOU),
        "user: own": user * has(OF_ME),
        "people: length": people * length,
        "people: names": people * np.log1p([t.described.names for t in turns]),
        "people: time": people * has(TIME),
        "people: reacts": people * has(REACTS),
        "user: after": user * nxt,
        "user: length": user * length,
        "user: opens": user * np.array([t.position == 0 for t in turns]),
        "user: reacts": user * has(REACTS),
        "user: asked of me": user * said,
        "assistant: before": machine * prev,
        "assistant: after": machine * nxt,
        "assistant: length": machine * length,
        "assistant: asked of it": machine * (1 - said),
        "summary: assistant": machine * asked.summary,
        "speaker": speaker,
        "window": window(asked, turns),
        "when": has(TIME) * bool(asked.wants & TIME),
        "how many": has(NUMBER) * bool(asked.wants & NUMBER),
        "name": has(NAME) * bool(asked.wants & NAME),
        "strict": ((flags & asked.strict) > 0).astype(float),
        "instruction": has(INSTRUCTS) * asked.advice * (1 - machine),
        "preference": has(PREFERS) * asked.advice * (1 - machine),
    }


def _kind_cover(found: Matches, present: Column) -> Column:
    """Share of the question's weight met by kind only, where the word itself is missing."""
    met = np.minimum(found.kinds, found.idf[:, None]) * (1 - present)
    return np.asarray(met.sum(axis=0)) / max(float(found.idf.sum()), 1e-9)


def _around(present: Column, index: NDArray[np.int64]) -> Column:
    return np.where(index >= 0, present[:, index], 0.0)
