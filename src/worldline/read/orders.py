"""Which came first: the things that a question sets beside each other, in the order they happened.

A question that names its answers ("the engagement or the race?", "put in order: …") is answered by
looking for each of them on its own: the text that tells of it best dates it, by the date in the
sentence, else by when it was said. All of them have to be found, each in another sentence and none of
them doubted; else there is no answer. The answer has the question's own words.

>>> listed("Which came first, the move to Oslo or the wedding?")
Alternatives(things=('the move to Oslo', 'the wedding'), pick='first')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from worldline.clock import Instant, to_datetime
from worldline.read.candidates import nearest_dates
from worldline.rules.happenings import only_asks, sentences
from worldline.text import stop, words

MOST = 6
"""Things that are set beside each other."""
MET = 0.5
"""The share of a thing's words that one sentence has to hold."""
_EARLY, _LATE = "first|earlier|earliest|sooner|before", "later|last|latest|second|after|most recent(?:ly)?"
_PAIR = re.compile(
    rf"^\W*(?:which|what)\b[^,:?]*?\b(?:(?P<early>{_EARLY})|(?:{_LATE}))\b[^,:?]*[,:]\s*"
    r"(?P<one>[^?]+?),?\s+or\s+(?P<other>[^?]+?)\W*$"
    r"|^\W*did (?P<this>[^?]+?) or (?P<that>[^?]+?) (?:come|happen|take place|start) "
    rf"(?:(?P<soon>{_EARLY})|(?:{_LATE}))\W*$",
    re.I,
)
_ROW = re.compile(
    r"\b(?:in (?:the |what |which )?(?:\w+ )?order|chronological\w*)\b[^:]*:\s*(?P<row>.+?)[.?!\s]*$", re.I
)
_AND = re.compile(r",\s*(?:and\s+)?|;\s*(?:and\s+)?")


class Alternatives(Struct, frozen=True):
    """The things that a question names as its answers, and which of them it asks for."""

    things: tuple[str, ...]
    pick: str
    """first, last, or all of them in order."""


class DatedThing(Struct, frozen=True):
    """A thing, the text that tells of it, and when it happened as far as that says."""

    thing: str
    turn: int
    id: str
    at: Instant
    sentence: str


class Telling(Struct, frozen=True):
    """A text that may tell of a thing."""

    key: int
    id: str
    text: str
    said_at: Instant
    offset: int


def listed(question: str) -> Alternatives | None:
    """What a question sets beside each other, if it does."""
    found = None
    if pair := _PAIR.match(question):
        things = (pair["this"], pair["that"]) if pair["this"] else (pair["one"], pair["other"])
        found = Alternatives(things, "first" if pair["early"] or pair["soon"] else "last")
    elif row := _ROW.search(question):
        found = Alternatives(tuple(part.strip() for part in _AND.split(row["row"]) if part.strip()), "all")
    return found if found and 2 <= len(found.things) <= MOST and all(map(_happens, found.things)) else None


def _happens(thing: str) -> bool:
    """Whether this can be an event: a name alone is somebody of whom many things are told."""
    return any(word.islower() and words(word) and words(word)[0] not in stop() for word in thing.split())


def in_order(
    asked: Alternatives, look: Callable[[str], Sequence[Telling]]
) -> tuple[str, tuple[DatedThing, ...]] | None:
    """The answer and what it rests on, the earliest first; None where one thing is not found, or two at one time."""
    found: list[DatedThing] = []
    for thing in asked.things:
        best = _told(thing, look(thing))
        if best is None or any(best.sentence == other.sentence or best.at == other.at for other in found):
            return None
        found.append(best)
    found.sort(key=lambda dated: dated.at)
    if asked.pick == "all":
        return "; ".join(dated.thing for dated in found), tuple(found)
    chosen = found[0 if asked.pick == "first" else -1]
    return chosen.thing, (chosen, *(dated for dated in found if dated is not chosen))


def _told(thing: str, texts: Sequence[Telling]) -> DatedThing | None:
    """The sentence that holds most of a thing's words; of equals the one found first."""
    wanted = {word for word in words(thing) if word not in stop()}
    best, most = None, 0.0
    for text in texts:
        for begin, end in sentences(text.text):
            sentence = text.text[begin:end]
            if only_asks(sentence):
                continue
            share = len(wanted & set(words(sentence))) / len(wanted) if wanted else 0.0
            if share > most:
                best, most = DatedThing(thing, text.key, text.id, _when(sentence, text), sentence), share
    return best if most >= MET else None


def _when(sentence: str, text: Telling) -> Instant:
    said_at: datetime = to_datetime(text.said_at, text.offset)
    dates = [span for span in nearest_dates(sentence, said_at) if span.role != "end"]
    return dates[0].start if dates else text.said_at
