"""What a message has to do with a held fact, and how likely it says that this is over.

It is over where the message tells of a change and speaks of the same matter. How likely each of the two is, a few
measures tell, weighed by a fit to little histories; both chances multiplied are the chance that the fact has ended, so
that neither a change in something else nor another word about the same thing ends it. Where that can decide it, fact
and message are read side by side by a cross-encoder; without one, nothing is weighed.

    held "Juno has morning coffee at Rosie's", then "These days my morning coffee is at the Tin Cup" → likely over
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from worldline.lexicon import lines
from worldline.lexicon import words as listed
from worldline.reading.claim import (
    CONTACT,
    EMPTY,
    MONEY,
    PLAN,
    Claim,
    Cues,
    content_stems,
    is_given_name,
    stem,
    stems_of_each,
)
from worldline.reading.families import families
from worldline.rules.kinds import told
from worldline.rules.slots import NOT, HeldValue, sentence
from worldline.text import fold, stop, tokens

PASSED = ("was ", "did ", PLAN)
"""Slots of what was, happened or is planned: nothing that is so now."""
NUMBER = re.compile(r"\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty) \w", re.I)


class Around(Struct, frozen=True):
    """A held fact with the words of its three parts."""

    held: HeldValue
    subject: frozenset[str]
    relation: frozenset[str]
    object: frozenset[str]
    of_speaker: bool
    name: str = ""
    """What the subject is called."""
    key_words: frozenset[str] = frozenset()
    """The names in the object, or its last word: saying one of them is naming it."""
    many: bool = False


def around_each(facts: Sequence[tuple[HeldValue, str]], speaker: str) -> list[Around]:
    """Held facts, each with what its subject is called, taken apart into stems."""
    own, *parts = stems_of_each(
        [speaker, *(p for held, name in facts for p in (name, held.phrase, held.object))]
    )
    return [
        _around(held, name, speaker, (parts[at] - own, parts[at + 1], parts[at + 2]))
        for at, (held, name) in zip(range(0, len(parts), 3), facts, strict=True)
    ]


def _around(held: HeldValue, subject: str, speaker: str, stems: tuple[frozenset[str], ...]) -> Around:
    mine = fold(subject) == fold(speaker) or fold(subject).startswith(f"{fold(speaker)} ")
    named, relation, object_ = stems
    return Around(
        held, named - thing_kinds() or named, relation, object_, mine, subject, _key_words(held.object),
        _holds_many(held.slot),
    )  # fmt: skip


@cache
def thing_kinds() -> frozenset[str]:
    """Stems that say of what kind a thing is and not which one."""
    return frozenset(stem(w) for w in listed("thing_kinds.txt"))


def _key_words(value: str) -> frozenset[str]:
    words = [
        w for w in re.findall(r"[^\W_][\w.-]*", value) if w.lower() not in stop() and w.lower() not in EMPTY
    ]
    words = [w for w in words if w.lower().rstrip(".") not in listed("titles.txt")] or words
    numbers = [w for w in words if any(c.isdigit() for c in w)]
    rest = [w for w in words if w not in numbers and w.lower() not in listed("units.txt")]
    if numbers and not rest:
        return frozenset(stem(w.lower()) for w in numbers if len(w) > 1)
    words = rest or words
    names = [w for w in words if w[0].isupper() and not w.endswith(".")]
    return frozenset(stem(w.lower()) for w in (names or words[-1:]))


def _holds_many(slot: str) -> bool:
    family = families().all.get(slot.partition(":")[0])
    return family is not None and family.holds != "one"


def is_somebody(fact: Around) -> bool:
    """Whether a fact is of a person: "Grant", but no "grant application"."""
    named = fact.name.split()
    return fact.of_speaker or (
        bool(named) and is_given_name(named[0].lower()) and all(w[:1].isupper() for w in named)
    )


def bond(fact: Around) -> str:
    """Whether it ties two people, and for how long: kin or life."""
    family = families().all.get(fact.held.slot.partition(":")[0])
    return family.bond if family is not None else ""


def same_subject(claim: Claim, fact: Around) -> bool:
    """Whether a claim is of the same thing as a fact, by its whole name or a part of it."""
    if fold(claim.subject) == fold(fact.name):
        return True
    if claim.subject.lower().startswith(f"{fact.name.lower()}'s "):
        return False  # "Hamish's sister" is not Hamish
    if not fact.subject or fact.name.lower().startswith(f"{claim.subject.lower()}'s "):
        return False
    mine = content_stems(claim.subject)
    return bool(mine) and (mine <= fact.subject or fact.subject <= mine)


def kind_of(said: str, kind: str) -> str:
    """What sort of value this is: date, money, contact, number, name or text."""
    if kind == "date":
        return "date"
    if MONEY.search(said):
        return "money"
    if CONTACT.fullmatch(said):
        return "contact"
    return "number" if NUMBER.search(said) else "name" if said[:1].isupper() else "text"


# How likely it is over --------------------------------------------------------------------------------


CHANGE: Mapping[str, float] = {
    "always": -0.72,
    "words of change": 0.53,
    "something is over": 1.46,
    "begins something": 1.02,
    "ends something": 0.93,
}
"""What speaks for a message telling of a change (`bench/fit_endings.py`)."""
MATTER: Mapping[str, float] = {
    "always": 1.94,
    "thing named": 1.13,
    "another value": 0.76,
    "holds many": -1.41,
    "known relation": 1.1,
    "length": -1.33,
    "parts met": 1.08,
    "no other named": 1.81,
    "closeness": 0.43,
}
"""What speaks for its being about the matter of a fact."""
HALF = 0.5
LIKELY = 0.6
"""From here on a fact is taken to be over."""
FEW = 4
"""So many facts are read beside a correction."""
CLOSEST = 8.0
"""No text reads closer than this to a fact."""
Closeness = Callable[[str, str], float]
"""How close a text reads to what a fact says, as a cross-encoder puts it."""


BRIEF = 14
"""A message with more words that tell something is about many a matter: of 37 endings of histories that are found so
one stood in such a one, of those in long talk, most of which are wrong, every second."""


class ToldSentence(NamedTuple):
    """A sentence of a message: what it says of change and what it claims; and what the whole message is like."""

    cues: Cues
    claims: Sequence[Claim]
    text: str
    words: float
    """How far its words are those in which people tell of a change."""
    brief: bool


def sentence_in(text: str, cues: Cues, claims: Sequence[Claim]) -> ToldSentence:
    """A sentence of a message; what the whole text is like is the same for all its sentences."""
    stems = tokens(text)
    brief = sum(stem not in stop() for stem in stems) <= BRIEF
    return ToldSentence(cues, claims, text, of_change(stems), brief)


def of_change(stems: Iterable[str]) -> float:
    """How far the words of a text are those in which people tell of a change."""
    known = _word_weights()
    return sum(known.get(word, 0.0) for word in words_in(stems))


def words_in(stems: Iterable[str]) -> Mapping[str, None]:
    """The words of a text, each once and in their order, every number as one."""
    return dict.fromkeys("0" if any(map(str.isdigit, stem)) else stem for stem in stems)


@cache
def _word_weights() -> Mapping[str, float]:
    split = (line.split() for line in lines("turning_words.txt"))
    return {word: float(weight) for word, weight in split}


def is_likely_over(said: ToldSentence, fact: Around, often: Counter[str], close: Closeness) -> bool:
    """Whether a sentence most likely says that a fact is over; `often` counts the key words of all facts near it.

    Both are read side by side only where that can decide it.
    """
    change, matter = measures(said, fact, often)
    told = chance(change, CHANGE)
    if told * chance({**matter, "closeness": CLOSEST}, MATTER) <= LIKELY:
        return False
    return told * chance({**matter, "closeness": _closeness(said, fact, close)}, MATTER) > LIKELY


def likely_meant(
    said: Sequence[tuple[ToldSentence, Around]], often: Counter[str], close: Closeness
) -> Around | None:
    """Which of some facts a correction most likely takes back: of the likeliest few, the one that reads closest."""
    measured = [measures(each, fact, often)[1] for each, fact in said]
    alone = [chance(matter, MATTER) for matter in measured]
    few = sorted(range(len(said)), key=lambda at: (alone[at], at), reverse=True)[:FEW]
    read = {at: chance({**measured[at], "closeness": _closeness(*said[at], close)}, MATTER) for at in few}
    best = max(few, key=read.__getitem__, default=None)
    return None if best is None or read[best] <= LIKELY else said[best][1]


def _closeness(said: ToldSentence, fact: Around, close: Closeness) -> float:
    return close(sentence(fact.name, fact.held.phrase, fact.held.object), said.text)


def may_be_over(said: ToldSentence, fact: Around, teller: str) -> bool:
    """Whether this sentence can end the fact: who tells the fact says it, and it is of something that can change.

    Not what was, nor what people are to each other, nor a reading among others; and if the like is said to be over of
    something else, it is that.
    """
    family = families().all.get(fact.held.slot.partition(":")[0])
    lasting = family is not None and (family.holds == "series" or bool(family.bond) or not family.changes)
    if lasting or has_passed(fact.held) or fold(fact.held.teller) != fold(teller):
        return False
    if is_somebody(fact) and fact.object.isdisjoint(said.cues.stems):
        kind = kind_of(fact.held.object, fact.held.kind)
        same = [claim for claim in said.claims if same_subject(claim, fact)]
        if not any(claim.effect == "ends" or _is_another(claim, fact, kind) for claim in same):
            return False  # that Tom made a sign, or has changed a lot, is no news of where he works
    return not any(_is_another_end(claim, fact) or is_of_another_number(claim, fact) for claim in said.claims)


def _is_another_end(claim: Claim, fact: Around) -> bool:
    """ "Just finished reading Beloved" ends no reading of Middlemarch."""
    like = claim.effect == "ends" and claim.key == fact.held.slot and bool(claim.object)
    return like and content_stems(claim.object).isdisjoint(fact.object)


def is_of_another_number(claim: Claim, fact: Around) -> bool:
    """Whether a claim is of the like thing with another number: truck 3, where truck 1 is held."""
    mine, other = set(_DIGITS.findall(fact.name)), set(_DIGITS.findall(claim.subject))
    return bool(mine and other) and mine.isdisjoint(other) and content_stems(claim.subject) == fact.subject


_DIGITS = re.compile(r"\d+")


def has_passed(held: HeldValue) -> bool:
    """Whether a fact tells what was or happened: sold tickets stay sold."""
    happened = {"not", "no", "cannot", "from"}.isdisjoint(held.phrase.split())
    return (held.slot.startswith(NOT) and happened) or held.slot.startswith(PASSED)


def chance(measured: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """A weighed sum as a chance."""
    return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in measured.items())))


def measures(
    said: ToldSentence, fact: Around, often: Counter[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """What speaks for a change, and what, beside a close reading, for it being one in this very matter."""
    cues, claims = said.cues, said.claims
    stems, kind = frozenset(cues.stems), kind_of(fact.held.object, fact.held.kind)
    same = [claim for claim in claims if same_subject(claim, fact)]
    relation = _met(fact.relation, stems - frozenset(cues.names), nearly=True)
    named, key = _met(fact.subject, stems), _met(fact.key_words, stems)
    if kind in ("date", "number", "money") and named < HALF:
        key = 0.0  # the 17th may be that of anything
    mine = fact.of_speaker and not fact.subject and (cues.own or all(claim.of_speaker for claim in claims))
    change = {
        "always": 1.0,
        "words of change": said.words,
        "something is over": float(cues.ends),
        "begins something": float(any(claim.effect == "begins" or claim.switches for claim in claims)),
        "ends something": float(any(claim.effect == "ends" for claim in claims)),
    }
    matter = {
        "always": 1.0,
        "thing named": 0.0 if is_somebody(fact) else named,
        "another value": float(any(_is_another(claim, fact, kind) for claim in same)),
        "holds many": float(fact.many),
        "known relation": float(fact.held.slot in families().all),
        "length": math.log1p(len(cues.stems)),
        "parts met": float((named > HALF or mine) + (relation > HALF) + (key > 0.4)),
        "no other named": float(all(often[word] == 1 for word in fact.key_words & stems)),
    }
    return change, matter


def _is_another(claim: Claim, fact: Around, kind: str) -> bool:
    """Whether a claim gives another value of the same sort, of how things are."""
    other = kind_of(claim.object, claim.kind) == kind and fold(claim.object) != fold(fact.held.object)
    return other and not claim.negated and not claim.key.startswith(PASSED)


def _met(words: frozenset[str], said: frozenset[str], *, nearly: bool = False) -> float:
    """The share of some words that is said, or said in other words."""
    if not words:
        return 0.0
    if not nearly:
        return len(words & said) / len(words)
    return sum(1.0 if word in said else _nearest(word, said) for word in words) / len(words)


def _nearest(word: str, said: frozenset[str]) -> float:
    own = told(word)
    return max((max(own.get(other, 0.0), told(other).get(word, 0.0)) for other in said), default=0.0)
