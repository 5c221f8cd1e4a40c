"""What no reader would answer: whether a value, however likely, is told of those and of that which is asked about.

"The old Korona copier has 30 pages left" → Korona is nobody who gets the old copier
"""

from __future__ import annotations

import re

from worldline.clock import to_datetime
from worldline.dates import find_dates
from worldline.lexicon import words as listed_words
from worldline.read.candidates import (
    Item,
    clause,
    is_strangers,
    is_told_of,
    names_in,
    others_asked,
    parts_behind,
    up_to,
)
from worldline.read.score import DAY
from worldline.read.weighing import (
    HOUR,
    MET,
    NUMBERS,
    Ground,
    Suited,
    family_asked,
    is_of_another,
    is_persons_name,
    is_what_it_is_called,
    met_by,
    next_word,
    own_words,
    stems_of,
)
from worldline.reading.claim import stem
from worldline.reading.questions import Question
from worldline.text import tokens as words


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
    behind = set(words(next_word(item))) & set(asked.words) - {asked.verb}
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
        more = [w for w in words(item.value)[1:] if w in _ADDED and w not in asked.words]
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
