"""Read as a reader would: the few that lead are read closely, and what no reader would answer is left out.

The packaged cross-encoder sees question and text at once. The odds that the text tells what is asked are a factor of
the score; the best odds, and the best number of the model itself, are measures of the doubt; the place in the text may
be the answer. Two of them at once tell which one answers (`succession`).

A value, however likely, is no answer unless it is told of those and of that which is asked about (`is_sound`): "The old
Korona copier has 30 pages left" → Korona is nobody who gets the old copier.

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

from worldline.clock import to_datetime
from worldline.dates import find_dates
from worldline.lexicon import words as listed_words
from worldline.ports import CloseReader, CloseReading
from worldline.read.candidates import (
    Item,
    SaidTurn,
    clause,
    is_strangers,
    is_told_of,
    names_in,
    others_asked,
    parts_behind,
    up_to,
)
from worldline.read.cues import Asked
from worldline.read.recency import Succession
from worldline.read.score import DAY, Board
from worldline.read.weighing import (
    FITS,
    HOUR,
    MET,
    NUMBERS,
    Ground,
    Suited,
    family_asked,
    is_of_another,
    is_persons_name,
    is_what_it_is_called,
    is_yet_to_begin,
    key_of,
    met_by,
    next_word,
    own_words,
    stems_of,
)
from worldline.reading.claim import stem
from worldline.reading.questions import Question
from worldline.store.nights import Verbatim
from worldline.text import tokens

# Read closely =========================================================================================

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


# What no reader would answer ==========================================================================


def is_sound(ground: Ground, item: Item) -> bool:
    """Whether a reader could give this answer: it is told of those who are asked about, where the question points."""
    asked = ground.question
    if is_strangers(ground, item) or not is_told_of(ground, item) or is_of_another(asked, item):
        return False
    if asked.wants == "name" and (not _may_be_named(ground, item) or _is_no_name_of(asked, item)):
        return False
    if asked.wants == "thing" and asked.noun and not _is_such_a_thing(asked, item):
        return False
    if any(name & names_in(item.value) for name in others_asked(ground)):
        return False  # the Sandpiper demo is not in Sandpiper Travel
    if asked.wh in ("who", "whom", "whose") and (not _may_be_somebody(item) or _is_of_a_thing(asked, item)):
        return False
    if asked.wants == "place" and item.fact and item.kind != "place" and item.phrase in ("is", "are"):
        return False  # it is a Korona, and in no Korona
    if item.kind == "date" and _is_only_planned(asked, item):
        return False
    if (
        item.kind == "spot"
        and min(met_by(ground, asked.words, stems_of(clause(item)), ()), default=0.0) < MET
    ):
        return False
    if item.kind in ("weekday", "date") and _WEEKDAY.search(asked.text) and not HOUR.search(item.value):
        return False
    if asked.wants in NUMBERS and not _is_counted_so(ground, item):
        return False
    return not (asked.wants == "thing" and _WEEKDAY.search(item.value)) and not _is_passed_over(asked, item)


_PARTS = {"subject": "S", "object": "O"}


def in_its_part(ground: Ground, able: Suited) -> Suited:
    """Of what may answer, those who do what is asked about, where that is known: "my father planted it" of who did.

    Whoever only had something else done to them did not do it: "I beat Walter" does not tell that he won.
    """
    asked = ground.question
    if not asked.verb or asked.gap not in _PARTS:
        return able
    rest = [word for word in asked.words if word != stem(asked.verb)]
    told = [i for i in able.telling if i.role == _PARTS[asked.gap] and _verb(i) == stem(asked.verb)]
    if found := [i for i in told if not rest or max(met_by(ground, rest, stems_of(i.other), ())) >= MET]:
        return Suited(ground, found)
    if asked.gap == "object":
        return able
    every = (*able.telling, *able.silent)
    done_to = {(i.turn, i.value) for i in every if i.role == "O" and _verb(i)}
    return able.but(done_to - {(i.turn, i.value) for i in every if i.role == "S"})


def _verb(item: Item) -> str:
    """The verb of what somebody did, as a stem; empty where a fact tells no deed."""
    verb, _, how = item.slot.removeprefix("did ").partition("|")
    return verb if item.fact and item.slot.startswith("did ") and how != "by" else ""


def _is_such_a_thing(asked: Question, item: Item) -> bool:
    """Whether anything says that it is what the question calls it: a scrapyard is no colour."""
    return bool(family_asked(asked, item) or is_what_it_is_called(asked, item, own_words(item)))


def _may_be_named(ground: Ground, item: Item) -> bool:
    """Whether a name suits: no mere place, nobody where none is asked for, and not of a thing that the question does
    not name, as who is in charge of the grill where the music is asked for."""
    wanted, thing = ground.question.words, item.fact and item.role == "O" and item.other[:1].islower()
    if thing and len(wanted) > 1 and max(met_by(ground, wanted, stems_of(item.other), ())) < MET:
        return False
    if _is_in_another_role(ground, item):
        return False
    told = (
        family_asked(ground.question, item)
        or _names_a_person(ground.question)
        or not is_persons_name(item.value)
    )
    return bool(told) and not (item.kind == "place" and not item.fact)


_WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b", re.I)
_WHEN = re.compile(r"\b(?:since|until|till|during|before|after|every|last|next|this|in|at|near|on)\s+$", re.I)
_RECKONED = re.compile(r"\b(?:left|remain\w*|still|total|altogether|together|more|fewer|less|half)\b", re.I)
"""Who asks for these wants what has to be reckoned, unless it was said so."""


def _may_be_somebody(item: Item) -> bool:
    """Whether a value may be a person or a group: no place, no feast, no word that only begins a sentence."""
    if item.fact:
        return item.role != "O" or item.slot.partition("|")[2] not in _PLACING
    known = is_persons_name(item.value)
    if item.kind == "place" or (not known and _WHEN.search(item.sentence[: item.at])):
        return False
    return known or item.at > 0 or any(word[:1].isupper() for word in item.value.split()[1:])


_PLACING = frozenset({"in", "on", "at"})
"""Who gets married in Ghent does not marry Ghent."""
_WHOSE = re.compile(r"['’]s [a-z]+$")
_JOINED = re.compile(r"\b(?:for|by|from|at|in|on|with|to|of|about) (?:(?:the|a|an|my|our) )?$")


def _is_no_name_of(asked: Question, item: Item) -> bool:
    """Whether what is asked for by name is not named: "Ida's mother", or "the heron for Press & Co" of the heron."""
    if asked.wh != "what" or _WHOSE.search(item.value):
        return asked.wh == "what"
    return asked.noun == "name" and not item.fact and bool(_JOINED.search(item.sentence[: item.at]))


def _is_of_a_thing(asked: Question, item: Item) -> bool:
    """Whether a name only says which one of what is asked about: "the old Korona copier"."""
    behind = set(tokens(next_word(item))) & set(asked.words) - {asked.verb}
    return bool(behind) and not item.fact and not is_persons_name(item.value)


SAME_ROLE = 0.65
"""A boss is a manager; that a treasurer is elected makes none of whoever is."""


def _is_in_another_role(ground: Ground, item: Item) -> bool:
    """Whether the treasurer is asked for, and nothing says that whoever was elected chair is that."""
    asked = ground.question
    if asked.noun not in listed_words("person_roles.txt") or family_asked(asked, item) is not None:
        return False
    return met_by(ground, [stem(asked.noun)], stems_of(item.sentence) | own_words(item), ())[0] < SAME_ROLE


_PLANNED = re.compile(
    r"\b(?:due|meant|supposed|planned|scheduled|set|expect\w*|original\w*|first|going)\b", re.I
)
_HAPPENED = re.compile(r"\b(?:did|was|were)\b", re.I)


def _is_only_planned(asked: Question, item: Item) -> bool:
    """Whether it is asked when something happened, and the date was still to come when it was told."""
    if not _HAPPENED.search(asked.text) or _PLANNED.search(asked.text):
        return False
    found = find_dates(item.value, to_datetime(item.said_at))
    return any(span.start > item.said_at + DAY for span in found)


def _names_a_person(asked: Question) -> bool:
    """Whether the name of somebody is asked for, or of an animal."""
    listed = listed_words("person_roles.txt") | listed_words("animals.txt") | listed_words("professions.txt")
    return asked.wh not in ("what", "which") or asked.noun in listed | {
        "",
        "pet",
        "person",
        "man",
        "woman",
        "boy",
        "girl",
    }


def _is_counted_so(ground: Ground, item: Item) -> bool:
    """Whether a number is of what is asked for: not to be reckoned, of these things, no mere number for a price."""
    asked, said = ground.question, clause(item)
    if any(word.lower() not in said.lower() for word in _RECKONED.findall(asked.text)):
        return False
    if asked.wants == "count":
        if re.match(r"\d+\.\d{1,2}(?!\d)", item.value):
            return False  # nobody counts 4.2 people
        more = [w for w in tokens(item.value)[1:] if w in _ADDED and w not in asked.words]
        return not more and all(
            m >= MET for m in met_by(ground, asked.words, stems_of(item.sentence) | own_words(item), ())
        )
    return bool(item.fact) or item.kind != "count"


_TELLS_A_NUMBER = re.compile(
    r"\d|\b(?:half|free|nothing|double|twice|two|three|four|five|six|seven|eight|nine|ten)\b", re.I
)
_DATED = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*|\b(?:19|20)\d\d\b"
)
_ADDED = frozenset("new more other further extra addit second anoth".split())
"""Two new members are not all of them."""


def _is_passed_over(asked: Question, item: Item) -> bool:
    """Whether a later part of the sentence is the one that is asked about: "150 kronor, children 60" for a child."""
    if item.role in ("S", "T") or asked.wants not in NUMBERS:
        return False
    here = stems_of(up_to(item))
    behind = [stems_of(said) for said in parts_behind(item) if _TELLS_A_NUMBER.search(_DATED.sub(" ", said))]
    return any(word in said for word in asked.words if word not in here for said in behind)
