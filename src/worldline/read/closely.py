"""The few that lead are read closely: how near each is to the question, whether it tells what is asked, and where.

The packaged cross-encoder sees question and text at once. The odds that the text tells what is asked are a factor of
the score; the best odds, and the best number of the model itself, are measures of the doubt; the place in the text may
be the answer.

Two of them at once tell which one answers (`succession`).

It does not decide which texts lead before, what holds now, or what is believed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from worldline.ports import CloseReader, CloseReading
from worldline.read.candidates import Item, SaidTurn
from worldline.read.cues import Asked
from worldline.read.recency import Succession
from worldline.read.score import Board
from worldline.read.weighing import FITS, is_yet_to_begin, key_of
from worldline.reading.questions import Question
from worldline.store.nights import Verbatim
from worldline.text import tokens

CLOSELY, WITHIN = 8, 4.0
"""At most so many of the best, and none that lies farther behind the first, are read beside the question by a
cross-encoder, where there is one: what lies farther behind is hardly ever brought to the front."""
ANSWERS = "answers"
"""The factor of the score that comes from it."""
READ, LONGEST_READ = 400, 6000
"""So many letters of a text at once, chosen from so many."""
READ_OF_TWO = 260
"""So many of each of two."""
TOLD = 0.9
"""What the odds that a text tells what is asked are worth above the least of those that were read. Over sixteen sets by
fifteen hands; .5 to 1.5 do as well."""


class Closely(Struct, frozen=True):
    """The board with what the reading gives, and the readings by the texts' keys."""

    board: Board
    readings: Mapping[int, CloseReading] = {}


class _Shown(Struct, frozen=True):
    """What is read of a text: who says it, and the part of it that has most words of the question."""

    text: str
    begin: int
    """Where the words of the text begin behind whoever says them."""
    offset: int
    """Where the part begins in the whole text."""


def read_closely(
    asked: Asked, board: Board, first: Sequence[int], told: Mapping[int, Verbatim], closer: CloseReader
) -> Closely:
    """What reading the first beside the question gives; who lies far behind gets nothing."""
    least = max((board.scores[at] for at in first), default=0.0) - WITHIN
    read = [at for at in first if board.turns[at].key in told and board.scores[at] >= least]
    if not read:
        return Closely(board)
    shown = [_beside_the_question(asked, told[board.turns[at].key]) for at in read]
    found = closer.read(asked.text, [(one.text, one.begin) for one in shown])
    column, told_least = np.zeros(len(board.turns)), min(one.told for one in found)
    column[read] = [TOLD * (one.told - told_least) for one in found]
    readings = {
        board.turns[at].key: _placed(reading, part)
        for at, reading, part in zip(read, found, shown, strict=True)
    }
    parts = {**board.parts, ANSWERS: column}
    return Closely(replace(board, parts=parts, scores=board.scores + column), readings)


def _placed(reading: CloseReading, part: _Shown) -> CloseReading:
    """The reading with its place in the whole text."""
    moved = part.offset - part.begin
    return reading._replace(begin=reading.begin + moved, end=reading.end + moved)


def is_latin(question: str) -> bool:
    """Whether there is anything to read, and all but a few letters are such as the cross-encoder has learned."""
    letters = [char for char in question if char.isalpha()]
    return any(map(str.isalnum, question)) and 5 * sum(char > "\u024f" for char in letters) <= len(letters)


def _beside_the_question(asked: Asked, one: Verbatim) -> _Shown:
    """Who says it and what; of a long text the part that has most words of the question."""
    node, who = one.node, one.sender or one.node.name
    text, offset = node.content, 0
    if len(text) > READ:
        terms = set(asked.terms)
        starts = range(0, min(len(text), LONGEST_READ), READ // 2)
        offset = max(starts, key=lambda at: len(terms.intersection(tokens(text[at : at + READ]))))
        text = text[offset : offset + READ]
    said_by = f"{who}: " if who else ""
    return _Shown(said_by + text, len(said_by), offset)


def succession(
    asked: Asked, told: Mapping[int, Verbatim], readings: Mapping[int, CloseReading], closer: CloseReader
) -> Succession:
    """How likely of two texts, by key, the later one answers the question instead of the older one."""

    @cache
    def shown(key: int) -> str:
        part = _beside_the_question(asked, told[key])
        return part.text[: part.begin + READ_OF_TWO]

    @cache
    def read(older: int, later: int) -> float | None:
        both = older in told and later in told
        return closer.succeeds(asked.text, shown(older), shown(later)) if both else None

    return Succession(read, {key: reading.told for key, reading in readings.items()})


# The answer in the text that leads --------------------------------------------------------------------


POINTED: Mapping[str, float] = {"always": -0.2, "told": 0.56, "share": 0.5, "agrees": 1.1, "differs": -1.1}
"""What speaks for the value that a reading points at; the chance that it is right, fitted over fifteen hands."""
SURE_ALONE, SURE_TOGETHER = 0.75, 0.5
"""Of four answers at least three have to be right; less is asked where facts or typed values say the same."""
BORNE_OUT = 1.0
"""What is told no less than this may be told by another text than the first, or in another form."""


class ReadValue(Struct, frozen=True):
    """The value that the leading text gives to the question, and how likely it does so."""

    value: str
    turn: int
    id: str
    """Of the turn."""
    told: float
    share: float

    def chance(self, other: str) -> float:
        """How likely it is right, beside what facts and typed values say (nothing, where that is empty)."""
        same = bool(other) and _is_one(self.value, other)
        measures = {
            "always": 1.0,
            "told": self.told,
            "share": math.log(self.share),
            "agrees": float(same),
            "differs": float(bool(other) and not same),
        }
        return 1 / (1 + math.exp(-sum(POINTED[name] * value for name, value in measures.items())))


def _is_one(value: str, other: str) -> bool:
    """Whether two values say the same, one of them perhaps in more words."""
    these, those = set(key_of(value).split()), set(key_of(other).split())
    return bool(these and those) and (these <= those or those <= these)


def is_borne_out(
    answer: str, pointed: ReadValue | None, readings: Mapping[int, CloseReading], *, believed: bool
) -> bool:
    """Whether a close reading speaks for an answer; what is believed stands against a text that says otherwise."""
    if pointed is None:
        return any(reading.told > BORNE_OUT for reading in readings.values())
    if not _is_one(pointed.value, answer):
        return believed
    return pointed.chance(answer) >= SURE_TOGETHER


def pointed_at(
    question: Question, turns: Sequence[SaidTurn], items: Sequence[Item], readings: Mapping[int, CloseReading]
) -> ReadValue | None:
    """What the first text says where its reading points: a typed value there, or the words themselves.

    Nothing where many things are asked for, or where that value is believed to be over, or yet to begin, when it is
    asked for.
    """
    first = turns[0] if turns else None
    reading = readings.get(first.key) if first else None
    if first is None or reading is None or reading.end <= reading.begin or question.many:
        return None
    value = _value_at(question, first, items, reading)
    if not value or _is_not_so(question, value, items):
        return None
    return ReadValue(value, first.key, first.id, reading.told, reading.share)


def _is_not_so(asked: Question, value: str, items: Sequence[Item]) -> bool:
    told = [item for item in items if item.fact and item.role == "O" and _is_one(item.value, value)]
    over = asked.mode == "now" and any(item.state in ("over", "withdrawn") for item in told)
    unreal = over or any(is_yet_to_begin(asked, item) for item in told)
    return unreal and all(item.state != "holds" for item in told)


def _value_at(question: Question, turn: SaidTurn, items: Sequence[Item], reading: CloseReading) -> str:
    """The value of a wanted kind that stands there; for names and things else the words themselves."""
    begins = {sentence.text: sentence.begin for sentence in turn.sentences}
    fits = FITS.get(question.wants, {})
    found = [
        (min(end, reading.end) - max(begin, reading.begin), fits[item.kind], item.value)
        for item in items
        if item.turn == turn.key and not item.fact and item.kind in fits and item.kind != "phrase"
        and (begin := begins.get(item.sentence, len(turn.text)) + item.at) < reading.end
        and (end := begin + len(item.value)) > reading.begin
    ]  # fmt: skip
    if found:
        return max(found)[2]
    return _widened(turn.text, reading.begin, reading.end) if question.wants in _OF_WORDS else ""


_OF_WORDS = frozenset({"name", "place", "thing", "code", "reason"})
_PIECE = re.compile(r"[\w’'&.-]")
LONGEST_WORD = 60
"""No word is widened farther than this."""
_ARTICLE = re.compile(r"^(?:an?|the) (?=\w)")
_NAME_GOES_ON = re.compile(r"(?:\s+(?:&\s+|of\s+|de\s+|van\s+)?[A-Z][\w’'-]*)+")


def _widened(text: str, begin: int, end: int) -> str:
    """The words there whole; a name with all that belongs to it."""
    least, most = max(0, begin - LONGEST_WORD), min(len(text), end + LONGEST_WORD)
    while begin > least and _PIECE.match(text[begin - 1]):
        begin -= 1
    while end < most and _PIECE.match(text[end]):
        end += 1
    if text[begin].isupper() and (more := _NAME_GOES_ON.match(text, end, most)):
        end = more.end()
    return _ARTICLE.sub("", text[begin:end].strip(" \t\n.,;:!?'’\"“”()-"))
