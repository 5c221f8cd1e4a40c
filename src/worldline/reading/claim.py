"""A claim: what one stretch of text says about one thing, who says it, and what it says about change itself.

Claims are values that nobody has checked or stored yet; extraction makes them, `rules/slots.py` and the store read
them. Two wordings meet when their keys are equal: stems of the content words, then a class of preposition. Cues of
change are found in the base forms of what is stated, by lists of wordings; questions, orders and what is only
imagined do not count. A cue alone ends nothing: it is looked at beside what is believed.

    predicate_key(["is", "married"], "to") == "marri|to"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec import Struct

from worldline.lexicon import lines
from worldline.lexicon import words as listed
from worldline.text import fold, stop, word_set, words

if TYPE_CHECKING:
    from worldline.reading.parser import Token

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


PLAN = "plan "
"""Opens the slot of what somebody means to do."""


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
    ahead: bool = False  # announced, and nothing says for when
    only: bool = False  # the object is the one that is meant: "the top flat", "our van"


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


# Who speaks ------------------------------------------------------------------------------------------


_USER = frozenset({"user", "human", "me", "customer"})
_MACHINE = frozenset({"assistant", "ai", "bot", "agent", "model", "system", "tool", "chatbot"})


def role_of(speaker: str) -> str:
    """Who speaks: a person by name, the user of an assistant, or the assistant."""
    name = fold(speaker)
    return "user" if name in _USER else "assistant" if name in _MACHINE else "people"


NOBODY = "user"
"""Whom "I" means when nobody says who speaks."""


class SpeakerVoice(NamedTuple):
    """Who says something, and to whom."""

    role: str
    who: str
    """Whom "I" means."""
    addressee: str
    """Empty where it is said to an assistant."""


def voices(said: Sequence[tuple[str, str]], user: str | None) -> list[SpeakerVoice]:
    """The voices of messages, each by its speaker and its recipient, where a user may be bound."""
    return [
        SpeakerVoice(
            role_of(speaker), who_speaks(speaker, user), recipient if is_own_voice(recipient) else ""
        )
        for speaker, recipient in said
    ]


def is_user(speaker: str) -> bool:
    """Whether a message is the user's who has no other name."""
    return not speaker or role_of(speaker) == "user"


def is_own_voice(speaker: str) -> bool:
    """Whether somebody speaks for themselves; an assistant does not."""
    return role_of(speaker) != "assistant"


def who_speaks(speaker: str, user: str | None) -> str:
    """Whom "I" means: the one who is named, or the bound user where the speaker is just "user"."""
    if is_user(speaker) or (user and fold(speaker) == fold(user)):
        named = "" if is_user(speaker) else speaker
        return named or user or speaker or NOBODY
    return speaker


def is_one_person(user: str, speaker: str) -> bool:
    """Whether a bound user and a speaker are one: by the whole name, or the one's within the other's.

    >>> is_one_person("Ana Prado", "ana"), is_one_person("ana.prado@mail.example", "Ana"), is_one_person("Ana", "Ben")
    (True, True, False)
    """
    one, other = ({fold(name) for name in _NAMES.findall(said.partition("@")[0])} for said in (user, speaker))
    return bool(one and other) and (one <= other or other <= one)


_NAMES = re.compile(r"[^\W\d_]{2,}")


def assistants(speakers: Sequence[str]) -> frozenset[str]:
    """Those of the speakers, as they are written, that are no people."""
    return frozenset(name for name in dict.fromkeys(speakers) if role_of(name) == "assistant")


def is_somebody(speaker: str) -> bool:
    """Whether a speaker is a person rather than a desk or a book: nobody is the "I" of "Ops log"."""
    said = speaker.split()
    return (
        bool(said)
        and said[-1].lower() not in listed("desks.txt")
        and not (len(said) > 1 and said[-1].islower())
    )


def is_given_name(word: str) -> bool:
    """Whether a word is known as somebody's first name."""
    return fold(word) in listed("given_names.txt") or fold(word) in listed("given_names_more.txt")


# Cues of change --------------------------------------------------------------------------------------


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
    parts: bool = False
    """Whether people part or die: divorce, break up, pass away."""
    modifiers: tuple[str, ...] = ()
    """The stems of the nouns that only say what sort another is: "violin teacher"."""

    @property
    def may_end(self) -> bool:
        """Whether it speaks of a change by which anything that was believed may be over."""
        return (self.change or self.states or bool(self.moved)) and not self.keeps

    @property
    def keeps(self) -> bool:
        """Whether it says that something comes besides, is so for a while only, or stays as it was."""
        return self.adds or self.passing or self.stays


EMPTY = frozenset(
    "is has was were have get got be been do does did of in at on to for with by from no longer not use".split()
)
"""Words that tell nothing of the matter."""


@lru_cache(maxsize=4096)
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


@cache
def _states_with() -> dict[str, list[frozenset[str]]]:
    """The same by one of their stems, without which they are not told."""
    found: dict[str, list[frozenset[str]]] = {}
    for state in _states():
        found.setdefault(min(state), []).append(state)
    return found


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


_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_LASTING = re.compile(
    r"\b(?:extend|postpone|push|reschedule|delay|slip|move|put back|bring forward|renew|relocate|sell|quit|"
    r"(?:have|get|give (?:me|it)) (?:until|till)|"
    r"leave(?! (?:(?:the|my) \w+ )?(?:early|late|home|at|for)))\b"
)


_LONGER = re.compile(
    r"\b(?:give|get|grant|allow|have)\b.*\b(?:more|another|extra|further)\b(?: \w+)? (?:day|week|month|fortnight)s?\b"
)
"""More time is no further thing: "they've given us two more weeks"."""


_OPEN_UNTIL = re.compile(
    r"\b(?:until|till) (?:\d{1,2}(?::\d\d)?(?: ?[ap]m)?|noon|midnight|(?:half past )?(?:" + _HOURS + r"))"
    r"(?! (?:of )?(?:january|february|march|april|may|june|july|august|september|october|november|december)|\w)"
)
"""Until when a day lasts is nothing that passes: "open until six"."""


_FOR_NOW = re.compile(
    r"^(?!.*\b(?:from|since|as of|start|begin)\b).*\bbe\b.*\b(?:this (?:week|weekend|month)|tonight)\b"
)
"""Where somebody is this week tells nothing of the weeks to come; what is so from this week on does."""


def _passes(runs: frozenset[str], said: str, done: bool) -> bool:
    """Whether something is so for a while only; what was done over the weekend is done."""
    wordings = _wordings("passing_cues.txt") & runs
    if done:
        wordings = frozenset(each for each in wordings if not each.startswith("over "))
    if _OPEN_UNTIL.search(said):
        wordings -= {"until", "till"}
    return bool(wordings or _FOR_NOW.search(said)) and not _LASTING.search(said)


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
        _passes(runs, said, any(t.tag in ("VBD", "VBN") for t in tokens)),
        (_says("adds_cues.txt", runs) and not _LONGER.search(said)) or words[-1:] == ["too"],
        _says("stays_cues.txt", runs),
        tuple(stems),
        tuple(dict.fromkeys(kinds)),
        _says("leaving_cues.txt", runs),
        ends,
        moved,
        any(state <= stems.keys() for word in stems for state in _states_with().get(word, ())),
        any(t.low in _OWN for t in tokens),
        tuple(dict.fromkeys(stem(t.low) for t in tokens if t.pos == "PROPN" and len(t.text) > 1)),
        tuple(dict.fromkeys(stem(t.low) for t in tokens if t.dep == "poss" and t.low not in _OWN)),
        _says("parting_cues.txt", runs),
        tuple(dict.fromkeys(stem(t.low) for t in tokens if t.dep in _SORTING and t.pos != "PROPN")),
    )


_STANDS_FOR = frozenset("it they them that this these those one there he she him her his their its".split())
FEW = 3
"""A sentence of no more words than this that tell something speaks of what the one before it spoke of."""


def leans(stated: Sequence[Token]) -> bool:
    """Whether a sentence needs the one before it to be understood, as "Sold it on Friday" does."""
    told = {t.low for t in stated if t.pos in ("NOUN", "PROPN", "NUM", "ADJ", "VERB")}
    return len(told) <= FEW or any(t.low in _STANDS_FOR for t in stated)


_SORTING = frozenset({"compound", "amod", "nmod"})
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
