"""What a message has to do with a held fact, and how likely it says that this is over.

Fact and message are read beside each other by the packaged cross-encoder, which says how likely the one is over by the
other; a few measures stand beside that: words in which people tell of a change, another value of the same sort, how
much else the message speaks of. They are read only where it can decide. A rule that finds a fact to be over is believed
unless the reading speaks clearly against it; without a cross-encoder rules alone decide.

    held "Juno has morning coffee at Rosie's", then "These days my morning coffee is at the Tin Cup" → likely over
"""

from __future__ import annotations

import re
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


OVER: Mapping[str, float] = {
    "always": -2.1,
    "words of change": 0.25,
    "another value": 0.85,
    "may end": 0.45,
    "brief": 1.3,
    "reading": 1.05,
}
"""What speaks for a fact being over by a message (`bench/fit_endings.py`), as log odds."""
LIKELY = 0.4
"""From here on it is taken to be over, though no rule says so."""
DOUBTED = -1.5
"""Below this it is not, though a rule says so."""
MEANT = -3.0
"""From here on a correction is taken to mean it: something has to be meant."""
PRESUMED = 1.0
"""What is taken for the reading, to see whether reading can decide."""
FEW = 4
"""So many facts, the likeliest, are read beside a message where no rule tells that they are over."""
Over = Callable[[str, str], float | None]
"""The log odds that a statement is over by a text, as a close reading of both says; None where nothing reads."""


BRIEF = 14
"""A message with more words that tell something is about many a matter: of 37 endings of histories that are found so
one stood in such a one, of those in long talk, most of which are wrong, every second."""


class ToldSentence(NamedTuple):
    """A sentence of a message: what it says of change and what it claims; and what the whole message is like."""

    cues: Cues
    claims: Sequence[Claim]
    text: str
    """What is read beside a fact: the message, or of a long one the sentence."""
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


def odds(said: ToldSentence, fact: Around, *, may_end: bool) -> float:
    """The log odds that a fact is over by a sentence, before both are read beside each other."""
    return sum(OVER[name] * value for name, value in measures(said, fact, may_end).items())


def measures(said: ToldSentence, fact: Around, may_end: bool) -> dict[str, float]:
    """What speaks for it, besides the reading."""
    kind = kind_of(fact.held.object, fact.held.kind)
    another = any(same_subject(claim, fact) and _is_another(claim, fact, kind) for claim in said.claims)
    return {
        "always": 1.0,
        "words of change": said.words,
        "another value": float(another),
        "may end": float(may_end),
        "brief": float(said.brief),
    }


def is_over(said: ToldSentence, fact: Around, unread: float, over: Over, *, by_rule: bool) -> bool:
    """Whether a fact is over: by a rule unless the reading speaks against it, else where that makes it likely.

    Both are read beside each other only where that can decide it.
    """
    if not by_rule and unread + OVER["reading"] * PRESUMED <= LIKELY:
        return False
    reading = _reading(said, fact, over)
    if reading is None:
        return by_rule
    return unread + OVER["reading"] * reading > (DOUBTED if by_rule else LIKELY)


def _reading(said: ToldSentence, fact: Around, over: Over) -> float | None:
    return over(sentence(fact.name, fact.held.phrase, fact.held.object), said.text)


def likely_meant(said: Sequence[tuple[ToldSentence, Around]], over: Over) -> Around | None:
    """Which of some facts a correction most likely takes back: of the likeliest few the one that reads most so."""
    alone = [odds(each, fact, may_end=True) for each, fact in said]
    few = sorted(range(len(said)), key=lambda at: (alone[at], at), reverse=True)[:FEW]
    read = {at: _reading(*said[at], over) for at in few}
    weighed = {
        at: alone[at] + OVER["reading"] * reading for at, reading in read.items() if reading is not None
    }
    best = max(weighed, key=weighed.__getitem__, default=None)
    return None if best is None or weighed[best] <= MEANT else said[best][1]


def may_be_over(said: ToldSentence, fact: Around, teller: str) -> bool:
    """Whether this sentence can end the fact: who tells the fact says it, and it is of something that can change.

    Not what was, nor what people are to each other, nor a reading among others; and if the like is said to be over of
    something else, it is that.
    """
    if not is_of_now(fact, teller):
        return False
    if is_somebody(fact) and fact.object.isdisjoint(said.cues.stems):
        kind = kind_of(fact.held.object, fact.held.kind)
        same = [claim for claim in said.claims if same_subject(claim, fact)]
        if not any(claim.effect == "ends" or _is_another(claim, fact, kind) for claim in same):
            return False  # that Tom made a sign, or has changed a lot, is no news of where he works
    return not any(_is_another_end(claim, fact) or is_of_another_number(claim, fact) for claim in said.claims)


def is_of_now(fact: Around, teller: str) -> bool:
    """Whether a fact is its teller's own, and of something that can change: no reading, no kinship, nothing past."""
    family = families().all.get(fact.held.slot.partition(":")[0])
    lasting = family is not None and (family.holds == "series" or bool(family.bond) or not family.changes)
    return not lasting and not has_passed(fact.held) and fold(fact.held.teller) == fold(teller)


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


def _is_another(claim: Claim, fact: Around, kind: str) -> bool:
    """Whether a claim gives another value of the same sort, of how things are."""
    other = kind_of(claim.object, claim.kind) == kind and fold(claim.object) != fold(fact.held.object)
    return other and not claim.negated and not claim.key.startswith(PASSED)
