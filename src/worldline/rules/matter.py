"""What a message has to do with what is held: how likely this is over, was wrong, or stands at odds with it.

Fact and message are read beside each other by the packaged cross-encoder, which says how likely the one is over or
taken back by the other; a few measures of the message stand beside that: words in which people tell of a change or
correct themselves, and how much else it speaks of. They are read only where that can decide. A rule that finds a fact
to be over is believed unless the reading speaks clearly against it; without a cross-encoder rules alone decide. What
two people say of one thing, and neither as a change, is read in the same way.

    held "Juno has morning coffee at Rosie's", then "These days my morning coffee is at the Tin Cup" → likely over
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice, product
from typing import NamedTuple

from msgspec import Struct

from worldline.lexicon import lines
from worldline.lexicon import words as listed
from worldline.ports import Bearing
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
from worldline.reading.read import Reading
from worldline.rules.happenings import sentences
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
    "always": -2.46,
    "words of change": 0.31,
    "speaks of change": 0.81,
    "brief": 1.37,
    "reading": 0.97,
}
"""What speaks for a fact being over by a message (`bench/fit_endings.py`), as log odds."""
LIKELY = 0.7
"""From here on it is taken to be over, though no rule says so."""
DOUBTED = -1.5
"""Below this it is not, though a rule says so."""
PRESUMED = 1.25
"""What is taken for the reading, to see whether reading can decide."""
WRONG: Mapping[str, float] = {
    "always": -3.01,
    "words of correction": 0.5,
    "corrects": 1.06,
    "brief": 0.52,
    "reading": 0.93,
}
"""What speaks for a message taking a fact back, as log odds.

The words count half as much as fitted: they were chosen from the same texts.
"""
MEANT = -1.0
"""From here on it does."""
SURELY_READ = 1.0
"""What is taken for that reading, to see whether reading can decide."""
CLASH = 2.0
"""From here on what two people say is at odds."""
FEW = 3
"""So many facts, the nearest, are read beside a message where no rule tells that they are over."""
Beside = Callable[[Sequence[str], str], Bearing | None]
"""What a text does to what is told in some ways, as a close reading says; None where nothing reads."""


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
    changes: bool
    """Whether it speaks of a change by which something may be over."""
    brief: bool
    mends: float
    """How far its words are those in which people correct themselves."""
    corrects: bool
    """Whether it says that it corrects something."""

    @property
    def decides(self) -> bool:
        """Whether reading it beside a fact can show that the fact is over."""
        able = odds(self) + OVER["reading"] * PRESUMED > LIKELY
        return able and (self.changes or not self.cues.keeps)

    @property
    def turns(self) -> bool:
        """Whether anything that is held may be over or wrong by it."""
        return self.changes or self.decides or self.may_correct

    @property
    def may_correct(self) -> bool:
        """Whether reading it beside a fact can show that the fact was wrong."""
        return odds_of_slip(self) + WRONG["reading"] * SURELY_READ > MEANT


MOST_READ = 400
"""So many letters of a text are read beside what is held."""


def told_in(said: Reading, text: str) -> list[ToldSentence]:
    """What each sentence of a message says about change, with its own claims: one ends nothing for another.

    What the whole text is like is the same for all its sentences.
    """
    stems = tokens(text)
    brief = sum(stem not in stop() for stem in stems) <= BRIEF
    whole = ToldSentence(
        said.cues, said.claims, text, of_change(stems), said.cues.may_end, brief, of_correction(stems),
        said.corrects,
    )  # fmt: skip
    found = []
    for part in said.parts:
        begin, end = part.chars
        claims = [c for c in said.claims if c.chars[0] < end and begin < c.chars[1]]
        read = text if len(text) <= MOST_READ else text[begin:end]
        found.append(whole._replace(cues=part.cues, claims=claims, text=read, changes=part.cues.may_end))
    return found or [whole]


def of_change(stems: Iterable[str]) -> float:
    """How far the words of a text are those in which people tell of a change."""
    known = _word_weights()
    return sum(known[word][0] for word in words_in(stems) if word in known)


def of_correction(stems: Iterable[str]) -> float:
    """How far the words of a text are those in which people correct themselves."""
    known = _word_weights()
    return sum(known[word][1] for word in words_in(stems) if word in known)


def words_in(stems: Iterable[str]) -> Mapping[str, None]:
    """The words of a text, each once and in their order, every number as one."""
    return dict.fromkeys("0" if any(map(str.isdigit, stem)) else stem for stem in stems)


@cache
def _word_weights() -> Mapping[str, tuple[float, float]]:
    split = (line.split() for line in lines("turning_words.txt"))
    return {word: (float(change), float(correction)) for word, change, correction in split}


def odds(said: ToldSentence) -> float:
    """The log odds that a sentence ends a fact near it, before both are read beside each other."""
    return sum(OVER[name] * value for name, value in measures(said).items())


def measures(said: ToldSentence) -> dict[str, float]:
    """What speaks for it, besides the reading."""
    return {
        "always": 1.0,
        "words of change": said.words,
        "speaks of change": float(said.changes),
        "brief": float(said.brief),
    }


def odds_of_slip(said: ToldSentence) -> float:
    """The log odds that a sentence takes a fact near it back, before both are read beside each other."""
    return sum(WRONG[name] * value for name, value in measures_of_slip(said).items())


def measures_of_slip(said: ToldSentence) -> dict[str, float]:
    """What speaks for that, besides the reading."""
    return {
        "always": 1.0,
        "words of correction": said.mends,
        "corrects": float(said.corrects),
        "brief": float(said.brief),
    }


def is_over(said: ToldSentence, fact: Around, beside: Beside, *, by_rule: bool) -> bool:
    """Whether a fact is over: by a rule unless the reading speaks against it, else where that makes it likely."""
    read = odds_over(said, fact, beside)
    return by_rule if read is None else read > (DOUBTED if by_rule else LIKELY)


def odds_over(said: ToldSentence, fact: Around, beside: Beside) -> float | None:
    """The log odds that a fact is over by a sentence, both read beside each other; None where nothing reads."""
    reading = beside(told_of(fact), said.text)
    return None if reading is None else odds(said) + OVER["reading"] * reading.over


def voiced(speaker: str, text: str) -> str:
    """A text with who says it."""
    return f"{speaker}: {text[:MOST_READ]}"


def told_of(fact: Around) -> list[str]:
    """A fact as it reads, and the sentence that it was drawn from."""
    held = fact.held
    drawn = (held.said[begin:end] for begin, end in sentences(held.said) if held.at < end)
    return [sentence(fact.name, held.phrase, held.object), *islice(drawn, 1)]


def likely_meant(said: Iterable[tuple[ToldSentence, Around]], beside: Beside) -> Around | None:
    """Which of some facts, the nearest first, a message takes back: of a few the one that reads most likely so."""
    read = [(odds_of_slip(each), beside(told_of(fact), each.text), fact) for each, fact in islice(said, FEW)]
    weighed = [
        (alone + WRONG["reading"] * reading.wrong, fact)
        for alone, reading, fact in read
        if reading is not None
    ]
    best = max(weighed, key=lambda one: one[0], default=None)
    return None if best is None or best[0] <= MEANT else best[1]


# Two who disagree ---------------------------------------------------------------------------------------


_MYSELF = re.compile(r"\b(?:I|my|mine|me|myself)\b|\bI['’]", re.I)


def may_clash(one: str, other: str) -> bool:
    """Whether two people may say of one thing what cannot both be so.

    Nobody asks, nor does each speak of himself, and who tells of many things contradicts nobody by the way.
    """
    if any(text.rstrip().endswith("?") or len(content_stems(text)) > BRIEF for text in (one, other)):
        return False
    return not (_MYSELF.search(one) and _MYSELF.search(other))


def clash(one: str, other: str, beside: Beside) -> bool:
    """Whether what two people say, each with who says it, cannot both be so: "Ana: It is at nine"."""
    reading = beside([one], other)
    return reading is not None and reading.at_odds > CLASH


Drawn = tuple[int, HeldValue, str]
"""A fact: its row, how it is held, and what its subject is called."""


def of_one_thing(mine: Sequence[Drawn], theirs: Sequence[Drawn]) -> tuple[int, int] | None:
    """Which two facts speak of one thing with other values: those that share most words; None where none do."""
    shared = {
        (one, two): len(_words_of(a, name) & _words_of(b, other))
        for (one, a, name), (two, b, other) in product(mine, theirs)
        if fold(a.object) != fold(b.object)
    }
    best = max(shared, key=lambda pair: shared[pair], default=None)
    return best if best and shared[best] else None


def _words_of(held: HeldValue, name: str) -> frozenset[str]:
    return content_stems(f"{name} {held.phrase}")


def can_be_over(said: ToldSentence, fact: Around, teller: str) -> bool:
    """Whether a sentence can end the fact: it is its teller's and of now, and no other such thing is meant."""
    of_another = any(
        _is_another_end(claim, fact) or is_of_another_number(claim, fact) for claim in said.claims
    )
    return is_of_now(fact, teller) and not of_another


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
