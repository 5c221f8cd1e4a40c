"""What a message says about change itself: that something is over, passing, added, or as it was.

Found in the base forms of what is stated, by lists of wordings; questions, orders and what is only
imagined do not count. A cue alone ends nothing: it is looked at beside what is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct

from worldline.lexicon import lines
from worldline.lexicon import words as listed
from worldline.reading.claim import stem
from worldline.reading.parser import Token
from worldline.text import stop


class Cues(Struct, frozen=True, omit_defaults=True):
    """The signs of change in a message, and the stems of what it states."""

    change: bool = False
    """Whether anything is said to be new or over."""
    passing: bool = False
    adds: bool = False
    stays: bool = False
    stems: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Which kinds of values it states: date, money, number."""
    leaves: bool = False
    """Whether somebody goes: quits, retires, moves out, dies."""
    ends: bool = False
    """Whether something is said to be over or to have been changed, not only that something is new."""
    moved: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Verbs of change, each with the stems of the thing that it is done to."""
    states: bool = False
    """Whether it tells of a state that excludes others."""
    own: bool = False
    """Whether the speaker speaks of himself."""
    names: tuple[str, ...] = ()
    """The stems of the names in it."""
    owners: tuple[str, ...] = ()
    """The stems of those that it names only as owners of something: "Zoho's colours"."""

    @property
    def may_end(self) -> bool:
        """Whether anything that was believed may be over by it."""
        return (self.change or self.states or bool(self.moved)) and not (
            self.adds or self.passing or self.stays
        )


EMPTY = frozenset(
    "is has was were have get got be been do does did of in at on to for with by from no longer not use".split()
)
"""Words that tell nothing of the matter."""


def content_stems(said: str) -> frozenset[str]:
    """The stems of the words that tell a matter."""
    words = [
        w
        for w in re.findall(r"[^\W_]+", said.lower().replace("'s", " "))
        if w not in EMPTY and w not in stop()
    ]
    return frozenset(stem(w) for w in words if len(w) > 1)


def stems_of_each(said: Sequence[str]) -> list[frozenset[str]]:
    """The same of each of some texts."""
    return [content_stems(each) for each in said]


@cache
def opposites() -> dict[str, frozenset[frozenset[str]]]:
    """For each state the stems of those that exclude it."""
    found: dict[str, set[frozenset[str]]] = {}
    for line in lines("opposites.txt"):
        states = [state.removeprefix("a ").removeprefix("an ") for state in line.split(" | ")]
        told = [content_stems(state) for state in states]
        for state, own in zip(states, told, strict=True):
            found.setdefault(state, set()).update(other - own for other in told)
    return {state: frozenset(filter(None, others)) for state, others in found.items()}


@cache
def _states() -> tuple[frozenset[str], ...]:
    """The stems of each state that excludes others and that its words alone tell: "at work" is not one."""
    said = (
        [w for w in state.split() if w not in ("a", "an", "the")] for state in opposites() if "-" not in state
    )
    told = (frozenset(stem(w) for w in words if w not in stop()) for words in said if _is_told(words))
    return tuple(dict.fromkeys(filter(None, told)))


def _is_told(words: list[str]) -> bool:
    return len(words) == 1 or sum(w not in stop() for w in words) > 1


_CURRENCY = "|".join(sorted(listed("currencies.txt")))
MONEY = re.compile(rf"[$€£¥₹]|\b(?:{_CURRENCY})\b", re.I)
"""What makes an amount one of money."""
PRICED = re.compile(rf"[$€£¥₹]\s?\d|(?<!\d)(?<!\d[,.])\d[\d,.]*\s?(?:[€£¥₹]|(?:{_CURRENCY})\b)", re.I)
"""A number beside it."""
CONTACT = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?://)?[\w-]+(?:\.[a-z][\w-]+)+(?:/\S*)?|\+?\d[\d ()/-]{5,}\d"
)
"""An address or number by which somebody or something is reached."""
_LIGHT = frozenset("bring take carry send put give pass hand off over".split())
"""What these are done to need not change for that."""
LONGEST = 7
"""Words of the longest wording that is looked for."""


@cache
def _wordings(name: str) -> frozenset[str]:
    return frozenset(lines(name))


def _says(name: str, runs: frozenset[str]) -> bool:
    return not _wordings(name).isdisjoint(runs)


def _runs(words: list[str]) -> frozenset[str]:
    """Every run of words that may be a wording."""
    places = range(len(words))
    return frozenset(" ".join(words[at : at + size]) for size in range(1, LONGEST + 1) for at in places)


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
    words = [_base(t) for t in tokens]  # "Lower Farm" lowers nothing
    unseen = [t.low[:-2] if t.low.endswith("ed") else w for t, w in zip(tokens, words, strict=True)]
    runs, said = _runs(words) | _runs(unseen), " ".join(words)  # "uninstalled" has no base form that is known
    stems = dict.fromkeys(stem(t.low) for t in tokens if t.low not in stop() and len(t.text) > 1)
    moved = tuple(moved)
    ends = _says("change_cues.txt", runs) or any(
        verb in aspects() and verb not in _LIGHT for verb, _ in moved
    )
    return Cues(
        ends or _says("news_cues.txt", runs),
        _says("passing_cues.txt", runs) and not _LASTING.search(said),
        _says("adds_cues.txt", runs) or words[-1:] == ["too"],
        _says("stays_cues.txt", runs),
        tuple(stems),
        tuple(dict.fromkeys(kinds)),
        _says("leaving_cues.txt", runs),
        ends,
        moved,
        any(state <= stems.keys() for state in _states()),
        any(t.low in _OWN for t in tokens),
        tuple(dict.fromkeys(stem(t.low) for t in tokens if t.pos == "PROPN" and len(t.text) > 1)),
        tuple(dict.fromkeys(stem(t.low) for t in tokens if t.dep == "poss" and t.low not in _OWN)),
    )


_STANDS_FOR = frozenset("it they them that this these those one there he she him her his their its".split())
FEW = 3
"""A sentence of no more words than this that tell something speaks of what the one before it spoke of."""


def leans(stated: Sequence[Token]) -> bool:
    """Whether a sentence needs the one before it to be understood, as "Sold it on Friday" does."""
    told = {t.low for t in stated if t.pos in ("NOUN", "PROPN", "NUM", "ADJ", "VERB")}
    return len(told) <= FEW or any(t.low in _STANDS_FOR for t in stated)


_OWN = frozenset("i me my mine we us our ours myself ourselves im i'm".split())


_WHOSE = dict.fromkeys(("his", "her", "our", "their", "your", "its"), "my") | dict.fromkeys(
    ("him", "them", "us"), "me"
)
"""Wordings are listed with "my" and "me", whoever is meant."""


def _base(token: Token) -> str:
    if token.pos == "PROPN" and token.begin and token.text[:1].isupper():
        return "-"
    word = token.lemma.lower() if token.pos in ("VERB", "AUX", "ADV", "NOUN", "ADJ") else token.low
    return _WHOSE.get(word, word)
