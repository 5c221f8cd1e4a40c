"""How strong a memory is: what it began with, what use has made of it, and how fast it fades.

Decides numbers only: nothing here archives anything. Effective salience is computed when it is read,
`s₀·e^(−rate·days since the last reinforcement)`, so a memory that nobody touches costs nothing.

>>> trace = Strength(0.5, 0)
>>> round(effective(trace, 365 * DAY, 0.002), 2)
0.24
>>> effective(used(trace, "useful", 365 * DAY), 365 * DAY, 0.002) > 0.5
True
"""

from __future__ import annotations

import math
import re
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant
from worldline.reading.claim import stem

DAY = 86_400_000_000
Use: TypeAlias = Literal["shown", "useful", "wrong"]
ORDINARY = 0.5
"""The salience of what nobody has judged: a note, a fact, a text without signals."""
_LEAST, _SPREAD = 0.28, 0.44
"""A greeting starts at .3 and a commitment at .63, so that chatter lasts a third as long as the rest."""
_RAISED, _LOWERED = 0.3, 0.5
_SHOWN, _USEFUL, _WRONG, _MOST_SHOWN = 0.1, 0.5, 0.75, 0.3
"""What a retrieval, a praise and a complaint are worth in recall; retrievals alone never count for much."""


class Strength(Struct, frozen=True):
    """A lineage's salience at its last reinforcement, and how it has been used."""

    salience: float
    reinforced_at: Instant
    uses: int = 0
    useful: int = 0
    wrong: int = 0


def starting(judged: float | None) -> float:
    """The salience to begin with, from the gate's own."""
    return ORDINARY if judged is None else _LEAST + _SPREAD * min(1.0, max(0.0, judged))


def effective(strength: Strength, now: Instant, rate: float) -> float:
    """What is left of it now; `rate` is per day."""
    return strength.salience * math.exp(-rate * max(0, now - strength.reinforced_at) / DAY)


def cold_at(strength: Strength, rate: float, below: float) -> Instant:
    """The moment at which it falls below the threshold, if nothing happens before."""
    if strength.salience <= below:
        return strength.reinforced_at
    if rate <= 0 or below <= 0:
        return FOREVER
    days = math.log(strength.salience / below) / rate
    return min(FOREVER, strength.reinforced_at + int(days * DAY))


S = TypeVar("S", bound=Strength)


def used(strength: S, kind: Use, at: Instant) -> S:
    """After one use: shown and useful reinforce, useful also raises, wrong only lowers."""
    if kind == "wrong":
        return replace(strength, salience=strength.salience * _LOWERED, wrong=strength.wrong + 1)
    fresh = max(at, strength.reinforced_at)
    if kind == "shown":
        return replace(strength, reinforced_at=fresh, uses=strength.uses + 1)
    raised = strength.salience + _RAISED * (1 - strength.salience)
    return replace(strength, salience=raised, reinforced_at=fresh, useful=strength.useful + 1)


def standing(strength: Strength, now: Instant, rate: float) -> float:
    """What its use says for it in recall, from −1 to 1, fading like the rest; 0 when it was never used."""
    credit = min(_MOST_SHOWN, _SHOWN * strength.uses) + _USEFUL * strength.useful - _WRONG * strength.wrong
    return max(-1.0, min(1.0, credit)) * effective(replace(strength, salience=1.0), now, rate)


# What never fades ------------------------------------------------------------------------------------

_WORDS = re.compile(r"\w+")
_LASTING = frozenset(
    stem(word)
    for word in (
        "name named surname nickname birthday birthdate birthplace born age gender pronoun pronouns "
        "live lives living reside home hometown address based timezone nationality citizenship citizen "
        "religion language speak email phone work works employed employer job occupation profession role "
        "title boss study university degree married engaged spouse wife husband partner boyfriend girlfriend "
        "fiance fiancee child children son daughter mother father mom mum dad parent sister brother sibling "
        "pet dog cat allergic allergy allergies intolerant diet vegetarian vegan blood disability condition "
        "medication like love adore enjoy prefer dislike hate favourite favorite fan hobby avoid"
    ).split()
)


def is_lasting(phrase: str) -> bool:
    """Whether a predicate's words say who somebody is or what they like; such facts never go cold.

    >>> is_lasting("favourite food"), is_lasting("bought")
    (True, False)
    """
    return any(stem(word) in _LASTING for word in _WORDS.findall(phrase.casefold()))
