"""A claim: what one stretch of text says about one thing, before anybody has checked or stored it.

A value type and the making of predicate keys; extraction fills it, slots.py and the store read it.
Two wordings meet when their keys are equal: stems of the content words, then a class of preposition.

    predicate_key(["is", "married"], "to") == "marri|to"
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import msgspec

from worldline.text import word_set, words

Cue = Literal["", "closes", "adds", "series", "correction", "ends"]
Rank = Literal["given", "user", "other", "inferred"]
Effect = Literal["holds", "begins", "ends"]

LIGHT = word_set(
    "name named current currently type kind sort be is are was were am been being has have "
    "had do does did the a an of that which who where whose in at on located situated based "
    "first originally also now still just really very so then there it its his her their my "
    "our your this these those one some any not will would can could may might shall should "
    "must"
)
PLACED = word_set("located situated based named")  # carry meaning only when alone
PREPOSITION_CLASS = {
    "at": "in",
    "within": "in",
    "inside": "in",
    "into": "in",
    "as": "as",
    "near": "in",
}


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """Subject, predicate, object, and everything the wording gave away about how they hold."""

    subject: str
    predicate: str  # as worded, for people
    key: str  # for slots
    object: str
    kind: str = "entity"  # entity, text, count, money, duration, frequency, clock, weekday, …
    unit: str = ""
    number: float | None = None
    types: tuple[str, ...] = ()  # what the wording calls the object ("the city of …")
    cue: Cue = ""
    replaces: str = ""  # the old value, where the text names it
    definite: bool = False  # "my/the R is": one value at a time
    record: bool = False  # the whole text is one bare relation between two named things
    active: bool = False  # "Y founded X": may answer a slot of X
    event: bool = False  # happened once; another one is another one
    valid_from: int | None = None  # µs UTC, when the text dates it
    begins: bool = False  # the text says that it began then, not only that it held
    precision: str = ""
    confidence: float = 0.8
    rank: Rank = "other"
    chars: tuple[int, int] = (0, 0)
    family: str = ""  # the relation family whose slot it falls into; empty for an open relation
    others: tuple[
        str, ...
    ] = ()  # further families that the wording fits: where one already holds, it is meant
    effect: Effect = "holds"
    holds: str = ""  # one, many or series, where the family or the wording says so
    fixed: bool = False  # of something that cannot change
    negated: bool = False
    valid_to: int | None = None
    of_speaker: bool = False  # the subject is the one who speaks
    switches: bool = False  # "switched to", "moved over to": what was held of this matter is over
    matter: str = ""  # the head noun of the object, for ends that name a thing by another name


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The word's stem, or itself where the tokeniser finds none."""
    found = words(word)
    return found[0] if found else word.lower()


def predicate_key(content: Iterable[str], preposition: str) -> str:
    """Sorted stems of the content words | class of the preposition."""
    content = [w.lower() for w in content]
    heavy = [w for w in content if w not in LIGHT] or [w for w in content if w in PLACED]
    stems = sorted({stem(w) for w in heavy})
    preposition = preposition.lower()
    return " ".join(stems) + "|" + PREPOSITION_CLASS.get(preposition, preposition)
