"""One linear score over the features of all lanes, and what each feature gave to it.

It decides the order of a pool, how many turns a question needs, and whether there is evidence at all, for
saying "I don't know": ranks always have a first place, so that is measured absolutely, by how far the best
sentences meet what the question needs (`meeting.py`), whether a value of the wanted kind stands there, and whether
it belongs to the person asked about. The features are in `features.py`. Deterministic: equal pool, equal order.

What each feature is worth is one table for every store, language and kind of conversation. How it was fitted:
listwise softmax (`bench/fit.py`) over the pools of three public development
sets, of stories and of small memories, with and without vectors (the latter at half weight), each set
counting the same; checked on whole sets that were left out, and on conversations; rounded to .05.
``EVIDENCE`` is a logistic fit, classes balanced, of answerable against unanswerable questions: of a public set, of
small memories by four hands, and of stories by two, each counting the same, with and without vectors; checked on
whole files that were left out. "own" alone was doubled by hand: it tells nothing but where two people talk, and there
it tells most. How near the vectors are told nothing beside the rest.

>>> from worldline.read.cues import ask
>>> from worldline.rules.describe import describe
>>> pool = [Turn(1, "s", 0, describe("We swam in the lake")), Turn(2, "s", 1, describe("Nice!"))]
>>> [hit.key for hit in rank(ask("Who swam?"), pool, Corpus(2, 3.0, {"swim": 1}))]
[1, 2]
>>> weigh_evidence({"own": 0.5}) > weigh_evidence({"own": -0.5})
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np

from worldline.read.cues import Asked
from worldline.read.features import measure
from worldline.read.meeting import Need, Unit, left_open, needs, sentences, units
from worldline.read.turns import DAY, Column, Corpus, Turn
from worldline.rules.describe import CLOCK, DATE, NUMBER, TIME
from worldline.text import words

WEIGHTS: dict[str, float] = {
    "meaning": 0.5,
    "cover": 2.15,
    "news": 1.6,
    "told": 1.15,
    "session": 0.3,
    "before": 0.35,
    "after": 0.2,
    "answers": 0.35,
    "own": 0.75,
    "length": 0.2,
    "details": 0.2,
    "reacts": -0.4,
    "role": 2.75,
    "speaker": 0.9,
    "window": 2.35,
    "wanted": 0.85,
    "advice": 4.35,
}

TOPIC, CITED = 0.75, 0.25
"""For broad questions: how far a turn is raised towards the best of its topic, and what it is worth to be cited by
a summary. By leave-one-conversation-out over the questions of two public sets that ask for summaries and orders."""

WORLD = 0.05
"""What the nearness of a turn's world is worth: the least that shows. No weight gained anything that is
significant on the development sets, so the worlds lane is there for the candidates that it brings."""

THIS_SESSION = 0.4
"""What it is worth to have been said in the session at hand; set by hand, no public file has one."""

FEW, MANY = 10, 20
"""How many turns are returned when the caller names no limit; MANY when several are asked for."""

EVIDENCE: dict[str, float] = {
    "open": -0.85,
    "detail": -0.85,
    "lacks": -1.65,
    "own": 5.0,
    "answered": 1.65,
    "reach": 4.0,
}
CERTAIN = -0.25
"""The constant of the same fit: together they give the probability that there is an answer."""
THRESHOLD = 0.3
"""Below this, recall says that it does not know: chosen on small memories, stories and long talks together."""

UNTOLD = 0.4
"""The most that a question reaches which asks for no value: whether, why, how; less, the more of it is left open."""

PROFILE = 0.1
"""What it is worth that a turn tells a landmark of the kind and the person asked for; more did not help."""

SIGNALS: dict[str, float] = {"surprise": 0.05, "strength": 0.5, "landmark": 0.1, "cause": 0.2}
"""What the signals that sleep leaves are worth (`read/beside.py`)."""


TOP, DEPTH = 5, 60
MET = 0.55
"""What is met less than this is missing."""
ME = frozenset({"i", "im", "iv", "id", "ill", "my", "me", "mine", "we", "our", "us", "wev", "wer"})
YOU = frozenset({"you", "your", "youv"})
_STANDS_FOR = frozenset("it they them their he she his her him one that this there".split())
_PLACED = frozenset(
    words("in at behind under near beside inside outside downstairs upstairs home next between above")
)
_DETAIL = re.compile(
    r"\b(?:what|which)(?:'s)?\b(?! (?:time|day|date|month|year|weekday)\b)|\b(?:who(?:m|se|'s)?|where)\b"
    r"|\bhow (?:many|much|old|long|often|far|tall|big|fast)\b",
    re.I,
)
"""A thing, a name, a place or a number may be left untold by what speaks of it; when, why and whether seldom are."""
_NAMED = re.compile(r"\b(?:names?|surnames?|called|named|title)\b", re.I)
_WHERE = re.compile(r"\bwhere\b", re.I)


class EvidenceSum(msgspec.Struct, frozen=True):
    """Named measures, and the words of the question that nothing found speaks of."""

    measures: dict[str, float]
    missing: tuple[str, ...] = ()


def evidence(
    asked: Asked, wanted: Sequence[Need], turns: Sequence[Turn], pool: Sequence[Turn]
) -> EvidenceSum:
    """Absolute measures over the turns of a pool, best first; `pool` has their neighbours too."""
    best = turns[:TOP]
    seats = {(turn.session, turn.position): turn for turn in pool}
    found = units(asked, wanted, best, lambda turn: _beside(turn, seats, best))
    top = max(found, key=lambda unit: (unit.share, -unit.turn))
    together = [max(unit.degrees[at] for unit in found) for at in range(len(wanted))]
    gap = (min(unit.gap(wanted) for unit in found) + left_open(wanted, together)) / 2
    lacks = _lacks(asked, wanted, best[top.turn])
    measures = {
        "open": gap,
        "detail": float(bool(_DETAIL.search(asked.text))),
        "lacks": lacks,
        "person": _person(wanted, top),
        "own": _own(asked, wanted, turns[:DEPTH]),
        "reach": UNTOLD * (1 - gap) ** 2 * (1 - lacks),
    }
    missing = [need for need, degree in zip(wanted, together, strict=True) if need.stem and degree < MET]
    missing.sort(key=lambda need: -need.weight)
    return EvidenceSum(measures, tuple(need.word for need in missing))


def _beside(turn: Turn, seats: Mapping[tuple[str, int], Turn], best: Sequence[Turn]) -> list[Turn]:
    """The turns before and after; where a pronoun stands for something, also what was said before it that day."""
    near = [seats[at] for step in (-1, 1) if (at := (turn.session, turn.position + step)) in seats]
    if _STANDS_FOR.isdisjoint(turn.described.words.split()):
        return near
    return near + [one for one in best if one.key < turn.key and _gap(one, turn) < DAY]


def _gap(one: Turn, other: Turn) -> int:
    return abs((one.said_at or 0) - (other.said_at or 0))


def _lacks(asked: Asked, wanted: Sequence[Need], turn: Turn) -> float:
    """1 where a number, a time or a name is asked for and the text has none; ½ for a place, which may have no name."""
    flags, text = turn.described.flags, turn.described.words
    if asked.wants & NUMBER:
        return float(not flags & NUMBER)
    if asked.wants & TIME:
        return float(not flags & (TIME | DATE | CLOCK | NUMBER) and not turn.described.dates)
    if turn.described.names > sum(need.word[:1].isupper() and f" {need.stem} " in text for need in wanted):
        return 0.0
    if _NAMED.search(asked.text):
        return float(" call " not in text and " name " not in text)
    return 0.5 * (bool(_WHERE.search(asked.text)) and _PLACED.isdisjoint(text.split()))


def _person(wanted: Sequence[Need], unit: Unit) -> float:
    return next((degree for need, degree in zip(wanted, unit.degrees, strict=True) if not need.stem), 1.0)


def _own(asked: Asked, wanted: Sequence[Need], turns: Sequence[Turn]) -> float:
    """Between two people who talk: how much better words about the one asked for fit than words about the other.

    What somebody says of themselves counts, what another says to them as "you", and half of all they say.
    """
    if len(asked.people) != 1 or len({turn.speaker for turn in turns if turn.role == "people"}) != 2:
        return 0.0
    about, by = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    total = sum(need.weight for need in wanted if need.stem) or 1.0
    stems = frozenset(need.stem for need in wanted)
    for turn in turns:
        theirs = turn.speaker == asked.people[0]
        for sentence in () if stems.isdisjoint(turn.described.words.split()) else sentences(turn):
            tokens = sentence.split()
            share = sum(need.weight for need in wanted if need.stem in tokens) / total
            by[theirs] = max(by[theirs], share)
            for person, whom in ((ME, theirs), (YOU, not theirs)):
                if share > about[whom] and not person.isdisjoint(tokens):
                    about[whom] = share
    return about[True] - about[False] + (by[True] - by[False]) / 2


def weigh_evidence(measures: Mapping[str, float]) -> float:
    """One probability: how sure we may be that the question can be answered."""
    total = CERTAIN + sum(EVIDENCE.get(name, 0.0) * value for name, value in measures.items())
    return 1 / (1 + math.exp(-total))


class Scored(msgspec.Struct, frozen=True):
    """A turn's place in the order; ``factors`` are weight × value and add up to ``score``."""

    key: int
    score: float
    factors: dict[str, float]


class Judged(msgspec.Struct, frozen=True):
    """Whether there is evidence: a probability, whether it suffices, and what it comes from."""

    sure: float
    enough: bool
    measures: dict[str, float]
    missing: tuple[str, ...] = ()
    """The words of the question that nothing found speaks of, as they were written."""


class Board(msgspec.Struct, frozen=True):
    """A pool with what every feature gives to every turn, and their sums."""

    turns: Sequence[Turn]
    parts: dict[str, Column]
    scores: Column

    def order(self) -> list[int]:
        """Places in ``turns``, best first, ties by key."""
        keys = np.array([turn.key for turn in self.turns])
        return [int(i) for i in np.lexsort((keys, -np.round(self.scores, 9)))]

    def scored(self, at: int) -> Scored:
        """One turn with the factors of its score."""
        factors = {name: float(part[at]) for name, part in self.parts.items() if part[at]}
        return Scored(self.turns[at].key, float(self.scores[at]), factors)


def score(
    asked: Asked,
    turns: Sequence[Turn],
    corpus: Corpus,
    here: Collection[str] = (),
    beside: Mapping[str, Column] | None = None,
) -> Board:
    """Every turn of a pool weighed; what was said in a session at hand counts a little more.

    `beside` are columns that other parts of recall give to the score, weights included.
    """
    if not turns:
        return Board(turns, {}, np.zeros(0))
    parts = {name: WEIGHTS[name] * column for name, column in measure(asked, turns, corpus).items()}
    if here:
        parts["this session"] = THIS_SESSION * np.array([turn.session in here for turn in turns], float)
    parts.update(beside or {})
    return Board(turns, parts, np.asarray(sum(parts.values())))


def rank(asked: Asked, turns: Sequence[Turn], corpus: Corpus) -> list[Scored]:
    """All turns of a pool, best first, ties by key."""
    board = score(asked, turns, corpus)
    return [board.scored(at) for at in board.order()]


def judge(asked: Asked, board: Board, corpus: Corpus, order: Sequence[int] | None = None) -> Judged:
    """Whether the best of a pool, in this order, hold evidence."""
    wanted = needs(asked, corpus)
    best = [board.turns[at] for at in (board.order() if order is None else order)]
    if not best:
        return Judged(0.0, False, {}, tuple(need.word for need in wanted if need.word))
    found = evidence(asked, wanted, best, board.turns)
    sure = weigh_evidence(found.measures)
    return Judged(sure, sure >= THRESHOLD, found.measures, found.missing)


def settle(verdict: Judged, reach: float | None, answered: bool, detail: bool | None = None) -> Judged:
    """The same, knowing how near a value comes to being the answer; where one is given it is never doubted.

    Whether a detail is asked for is told better by a question that was read than by its surface.
    """
    if not verdict.measures and not answered:
        return verdict
    near = {} if reach is None else {"reach": reach}
    asked = {} if detail is None else {"detail": float(detail)}
    measures = {**verdict.measures, **near, **asked, "answered": float(answered)}
    sure = weigh_evidence(measures)
    sure = max(sure, THRESHOLD) if answered else sure
    return Judged(sure, sure >= THRESHOLD, measures, verdict.missing)


def how_many(asked: Asked) -> int:
    """How many turns to return when the caller did not say: more for lists, orders, summaries."""
    return MANY * 2 if asked.broad else MANY if asked.several else FEW
