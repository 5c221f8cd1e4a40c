"""Whether a value stands where the question points: in a clause about those it names, with its words.

A sentence tells of several things: "I'm Henrike, 41, and I live with Jonas and our girls" holds an age, and it is
not a girl's. A clause is what stands between two commas, colons or joining words; what stands before a colon is
the topic of all that follows it. Pure: it looks at the words of one sentence and the turn around it.

    "Dues are $60 a term, students pay half" → $60 is not told of students
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from worldline.lexicon import words as listed_words
from worldline.text import fold

if TYPE_CHECKING:
    from worldline.read.candidates import Item
    from worldline.read.weighing import Ground

SENTENCE, TURN = 0.8, 0.5
"""How far a name tells whose a value is that stands in the same sentence, or only in the same turn."""
ABSENT = 0.4
"""What is left of a value where whoever is asked about is named nowhere around it."""
OTHERS = 0.4
"""What is left of a value that the speaker tells of themselves, where somebody else is asked about."""

_SUBJECT = r"(?:I|we|he|she|it|they|you|my|our|his|her|their|the|there|[A-Z]\w+)\b"
_JOINED = re.compile(
    rf"[;()]|\s[-–—]\s|[.!?]\s|,\s+(?:and|but|so|or|because|while|then)\b|,\s+(?={_SUBJECT})"
    rf"|\s(?:and|but|so|because|while|although|though|then)\s+(?={_SUBJECT}\s+\w)",
)
_TOPIC = re.compile(r"^[^:,;.!?]{1,40}:\s")
_FIRST_PERSON = re.compile(r"\b(?:I|I['’]\w+|my|mine|me|we|we['’]\w+|our|ours|us)\b", re.I)
_THIRD_PERSON = re.compile(
    r"\b(?:he|she|it|they|his|her|hers|its|their|him|them|who|which)(?:['’]\w+)?\b", re.I
)
_POSSESSIVE = re.compile(r"['’]s?(?![\w])")


def clause(item: Item) -> str:
    """The clause in which a value stands, behind its topic."""
    return _clause(item.sentence, item.at, item.at + len(item.value))


@lru_cache(maxsize=4096)
def _clause(sentence: str, begin: int, end: int) -> str:
    topic = _TOPIC.match(sentence)
    start = topic.end() if topic and topic.end() <= begin else 0
    cuts = [start, *(m.start() for m in _JOINED.finditer(sentence, start))]
    low = max((cut for cut in cuts if cut <= begin), default=0)
    high = min((cut for cut in cuts if cut >= end), default=len(sentence))
    return (topic.group() if start and topic else "") + sentence[low:high]


@lru_cache(maxsize=4096)
def names_in(text: str) -> frozenset[str]:
    """The words of a text as names are compared: "Tom's" says Tom."""
    return frozenset(fold(_POSSESSIVE.sub("", text)).split())


def others_asked(ground: Ground) -> Sequence[frozenset[str]]:
    """The words of each name that is asked about but the asker's, or of those whom the roles mean."""
    about, question = ground.about, ground.question
    return _others(about.meant if about.roles else None, tuple(question.names), question.noun, about.me)


@lru_cache(maxsize=64)
def _others(
    meant: frozenset[str] | None, names: tuple[str, ...], called: str, me: frozenset[str]
) -> Sequence[frozenset[str]]:
    """The same for all candidates of a question."""
    asked = [fold(name) for name in names if name.lower() != called] if meant is None else meant
    titles = listed_words("titles.txt")
    kept = [frozenset(name.split()) for name in asked if name not in me and name not in _FEASTS]
    return [name - titles or name for name in kept]


_FEASTS = frozenset("christmas easter hanukkah passover ramadan eid diwali thanksgiving halloween".split())
"""They tell when and not of whom."""


def standing(ground: Ground, item: Item) -> float:
    """How near to the value those stand who are asked about: 1 in its clause or its fact, 0 where nobody names them."""
    return min((_standing(ground, item, name) for name in others_asked(ground)), default=1.0)


def _standing(ground: Ground, item: Item, name: frozenset[str]) -> float:
    if name & names_in(item.other) or name & names_in(clause(item)) or name & names_in(item.speaker):
        return 1.0
    if name & names_in(item.sentence):
        return SENTENCE
    return TURN if name & names_in(ground.texts.get(item.turn, "")) else 0.0


def is_strangers(ground: Ground, item: Item) -> bool:
    """Whether the speaker tells it of themselves, where somebody else is asked about."""
    names = others_asked(ground)
    if not names or item.other:
        return False
    here = names_in(clause(item)) | names_in(item.speaker)
    return all(name.isdisjoint(here) for name in names) and _is_speakers(item)


def _is_speakers(item: Item) -> bool:
    """Whether a clause tells of the speaker, and of nobody else by a pronoun."""
    said = clause(item)
    return bool(_FIRST_PERSON.search(said)) and not _THIRD_PERSON.search(said)


def bears(ground: Ground, item: Item) -> float:
    """What is left of a value by how it stands to those who are asked about."""
    near = ABSENT + (1 - ABSENT) * standing(ground, item)
    return near * OTHERS if is_strangers(ground, item) else near


def is_told_of(ground: Ground, item: Item) -> bool:
    """Whether the value is said of all whom the question names: in its clause, or by a word that stands for them."""
    return all(_is_told_of(ground, item, name) for name in others_asked(ground))


def _is_told_of(ground: Ground, item: Item, name: frozenset[str]) -> bool:
    near = _standing(ground, item, name)
    if near == 1.0:
        return True
    if near == 0.0:  # where nobody speaks of it at all, it tells nothing of this one
        return all(name.isdisjoint(names_in(text)) for text in ground.texts.values())
    if _THIRD_PERSON.search(clause(item)):
        return True
    text = ground.texts.get(item.turn, item.sentence)
    before = text[: max(0, text.find(item.sentence)) + item.at]
    return bool(name & names_in(before)) and not _is_speakers(item) and not _names_another(item)


def _names_another(item: Item) -> bool:
    """Whether the clause begins with a name of its own; that of a sentence begins with a capital anyway."""
    said = clause(item)
    first = re.match(r"\W*(?:(?:and|but|so|then)\b\W*)?([A-Z]\w+)", said)
    if first is None or first[1] in item.value:
        return False
    return not item.sentence.startswith(said) or first[1].lower() in listed_words("given_names.txt")


_OWNED = re.compile(r"(?:\b([A-Z]\w+)['’]s|\b(his|her|their))\s+(?:\w+\s+){0,2}$")


def is_owned_otherwise(ground: Ground, item: Item) -> bool:
    """Whether my birthday is asked for and the sentence tells of Anjali's."""
    mine = [one.roles[0] for one in ground.question.whose if not one.name and len(one.roles) == 1]
    if not mine:
        return False
    said = clause(item)
    found = [re.search(rf"\b{re.escape(noun)}", said, re.I) for noun in mine]
    return any(one is not None and _OWNED.search(said[: one.start()]) for one in found)


def parts_behind(item: Item) -> list[str]:
    """What the sentence goes on with behind the value, cut at its commas."""
    rest = item.sentence[item.at + len(item.value) :]
    return re.split(r"[,;.!?]\s", rest)[1:]


def up_to(item: Item) -> str:
    """The sentence up to the end of the part that holds the value."""
    end = item.at + len(item.value)
    return item.sentence[:end] + re.split(r"[,;.!?](?:\s|$)", item.sentence[end:])[0]
