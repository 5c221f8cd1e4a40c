"""Is there evidence at all?  Absolute measures of the best candidates, for saying "I don't know".

Ranks always have a first place; this looks at how far the best sentences meet what the question
needs (`meeting.py`), whether a value of the wanted kind stands there, and whether it belongs to the person
asked about. No measure depends on how many texts are stored. Pure; the weights are in `weights.py`.

>>> weigh_evidence({"own": 0.5}) > weigh_evidence({"own": -0.5})
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from worldline.read.cues import Asked
from worldline.read.meeting import Need, Unit, left_open, sentences, units
from worldline.read.turns import DAY, Turn
from worldline.read.weights import CERTAIN, EVIDENCE, UNTOLD
from worldline.rules.describe import CLOCK, DATE, NUMBER, TIME
from worldline.text import words

TOP, DEPTH = 5, 60
MET = 0.55
"""What is met less than this is missing."""
ME = frozenset({"i", "im", "iv", "id", "ill", "my", "me", "mine", "we", "our", "us", "wev", "wer"})
YOU = frozenset({"you", "your", "youv"})
_STANDS_FOR = frozenset("it they them their he she his her him one that this there".split())
_PLACED = frozenset(
    words("in at behind under near beside inside outside downstairs upstairs home next between above")
)
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
    cosines = sorted((turn.cosine for turn in turns if turn.cosine is not None), reverse=True)
    gap = (min(unit.gap(wanted) for unit in found) + left_open(wanted, together)) / 2
    lacks = _lacks(asked, wanted, best[top.turn])
    measures = {
        "open": gap,
        "lacks": lacks,
        "person": _person(wanted, top),
        "own": _own(asked, wanted, turns[:DEPTH]),
        "meaning": sum(cosines[:3]) / 3 - 0.6 if len(cosines) > 2 else 0.0,
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
    for turn in turns:
        theirs = turn.speaker == asked.people[0]
        for sentence in sentences(turn):
            tokens = set(sentence.split())
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
