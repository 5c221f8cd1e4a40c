"""What a message says about change itself: that something is over, passing, added, or as it was.

Found in the base forms of what is stated, by lists of wordings; questions, orders and what is only
imagined do not count. A cue alone ends nothing: it is looked at beside what is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from worldline.lexicon import lines
from worldline.reading.claim import stem
from worldline.reading.parser import Token
from worldline.text import stop

_STAYS = re.compile(
    r"\b(?:still|as before|unchanged|have not change|has not change|same as|remain|confirm|as always|continue|"
    r"once again|no change|not change)\b"
)
_ADDS = re.compile(
    r"\b(?:also|too$|as well|another|second|additional|in addition|besides|on top|plus|one more|extra)\b"
)


class Cues(Struct, frozen=True, omit_defaults=True):
    """The signs of change in a message, and the stems of what it states."""

    change: bool = False
    passing: bool = False
    adds: bool = False
    stays: bool = False
    stems: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Which kinds of values it states: date, money, number."""
    leaves: bool = False
    """Whether somebody goes: quits, retires, moves out, dies."""
    moved: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Verbs of change, each with the stems of the thing that it is done to."""


@cache
def _found_by(name: str) -> re.Pattern[str]:
    wordings = sorted(lines(name), key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(re.escape(w) for w in wordings) + r")\b")


_LASTING = re.compile(
    r"\b(?:extend|postpone|push|reschedule|delay|slip|move|put back|bring forward|renew|relocate|sell|leave|quit)\b"
)


@cache
def aspects() -> dict[str, frozenset[str]]:
    """For each verb of change, the kinds of values that it changes."""
    found: dict[str, set[str]] = {}
    for line in lines("change_aspects.txt"):
        kind, _, verbs = line.partition(":")
        for verb in verbs.split():
            found.setdefault(verb, set()).add(kind)
    return {verb: frozenset(kinds) for verb, kinds in found.items()}


def cues(
    stated: Iterable[Token], kinds: Iterable[str] = (), moved: Iterable[tuple[str, tuple[str, ...]]] = ()
) -> Cues:
    """The cues in the words that are stated, in order; `kinds` are those of the values beside them."""
    tokens = [t for t in stated if t.pos not in ("PUNCT", "SPACE")]
    said = " ".join(_base(t) for t in tokens)  # "Lower Farm" lowers nothing
    stems = dict.fromkeys(stem(t.low) for t in tokens if t.low not in stop() and len(t.text) > 1)
    return Cues(
        bool(_found_by("change_cues.txt").search(said)),
        bool(_found_by("passing_cues.txt").search(said)) and not _LASTING.search(said),
        bool(_ADDS.search(said)),
        bool(_STAYS.search(said)),
        tuple(stems),
        tuple(dict.fromkeys(kinds)),
        bool(_found_by("leaving_cues.txt").search(said)),
        tuple(moved),
    )


def _base(token: Token) -> str:
    if token.pos == "PROPN" and token.begin and token.text[:1].isupper():
        return "-"
    return token.lemma.lower() if token.pos in ("VERB", "AUX", "ADV", "NOUN", "ADJ") else token.low
