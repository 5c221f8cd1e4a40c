"""Choosing sentences that together say most of what a world says: greedy coverage, nothing rewritten.

It decides what the terms, names and dates of a world are worth, which sentences stand for it, and in
which order; it does not write any. What is said by people counts more than what answers them, what
comes first more than what follows, and what was covered once counts for nothing again.

>>> said = [Sentence(1, 0, 9, 3, frozenset({"ana", "porto"})), Sentence(2, 0, 9, 3, frozenset({"ana"}))]
>>> [sentence.event for sentence in choose(said, {"ana": 1.0, "porto": 2.0}, 6)]
[1]
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from worldline.clock import Instant, to_datetime
from worldline.dates import find_dates
from worldline.rules.sentences import sentences
from worldline.rules.topics import is_dull, names_in
from worldline.text import estimate_tokens, words

SHORT, LONG = 6, 120
"""A sentence counts as at least so many tokens, since one that says little is no bargain; longer ones are
left out."""
TELLS = 3
"""A sentence with fewer terms tells nothing."""
LEAD, HALF = 2.0, 10
"""How much more the beginning of a world counts, and after how many texts that is halved."""
ANSWERS, PIECES = 0.5, 12
"""What a sentence of an assistant counts, and how many of one turn are looked at."""
NAMED, DATED, DATABLE = 2.0, 2.0, 600
_SCANNED = 8000
_DATE = "@"


class CoverageSource(Struct, frozen=True):
    """A text of a world: who says it, when, and whether somebody says it for themselves."""

    event: int
    text: str
    at: Instant
    speaker: str = ""
    own: bool = True
    dated: bool = False
    """Whether its lines say themselves when they were said."""


class Sentence(Struct, frozen=True):
    """A sentence of an event: its offsets, its size in tokens, and what it covers."""

    event: int
    start: int
    end: int
    tokens: int
    covers: frozenset[str]
    prior: float = 1.0
    """How much its place and its speaker speak for it."""


def cut(sources: Sequence[CoverageSource]) -> list[Sentence]:
    """The sentences of these texts, in order, with what each covers."""
    return [sentence for place, source in enumerate(sources) for sentence in _pieces(source, place)]


def _pieces(source: CoverageSource, place: int) -> Iterator[Sentence]:
    prior = (1.0 if source.own else ANSWERS) * (1 + LEAD / (1 + place / HALF))
    text = source.text[:_SCANNED]
    for number, (start, end) in enumerate(sentences(text)):
        if not source.own and number >= PIECES:
            return
        piece = text[start:end]
        size = estimate_tokens(piece)
        if size <= LONG and (covers := _covers(piece, source.at)):
            yield Sentence(source.event, start, end, size, covers, prior)


def _covers(piece: str, at: Instant) -> frozenset[str]:
    """Its terms, and its dates as days; nothing where it says next to nothing."""
    terms = {term for term in words(piece) if not is_dull(term) and not term.isdigit()}
    if len(terms) < TELLS:
        return frozenset()
    if len(piece) <= DATABLE:
        terms |= {f"{_DATE}{span.start}" for span in find_dates(piece, to_datetime(at))}
    return frozenset(terms)


def recurring(said: Sequence[Sentence]) -> dict[str, int]:
    """The terms and dates that come up in several texts, with in how many."""
    held: dict[int, set[str]] = {}
    for sentence in said:
        held.setdefault(sentence.event, set()).update(sentence.covers)
    counts = Counter(item for items in held.values() for item in items)
    return {item: count for item, count in counts.items() if count > 1}


def worth(
    sources: Sequence[CoverageSource], counts: Mapping[str, int], rarity: Mapping[str, float]
) -> dict[str, float]:
    """What each term and date of a world is worth: how often it comes up, how rare it is elsewhere."""
    names = frozenset(name for source in sources if source.own for name in names_in(source.text[:_SCANNED]))
    return {
        item: math.log(1 + count)
        * (DATED if item.startswith(_DATE) else rarity.get(item, 1.0) * (NAMED if item in names else 1.0))
        for item, count in counts.items()
    }


def budget(texts: int) -> int:
    """How many tokens stand for so many texts: more for more, but ever less for each."""
    return min(3000, max(60, round(30 * math.sqrt(texts))))


def choose(said: Sequence[Sentence], worth: Mapping[str, float], budget: int) -> list[Sentence]:
    """The sentences that cover most for their size, at most `budget` tokens, in their own order.

    The gain of a sentence only falls, so a stale gain on top of the heap is computed anew, and a
    fresh one is the best.
    """
    covered: set[str] = set()
    chosen: list[int] = []
    heap = [(-_gain(sentence, worth, covered), at, 0) for at, sentence in enumerate(said)]
    heapq.heapify(heap)
    room = budget
    while heap:
        gain, at, seen = heapq.heappop(heap)
        sentence = said[at]
        if gain >= 0 or sentence.tokens > room:
            continue
        if seen != len(chosen):
            heapq.heappush(heap, (-_gain(sentence, worth, covered), at, len(chosen)))
            continue
        chosen.append(at)
        covered |= sentence.covers
        room -= sentence.tokens
    return [said[at] for at in sorted(chosen)]


def _gain(sentence: Sentence, worth: Mapping[str, float], covered: set[str]) -> float:
    new = sum(worth.get(item, 0.0) for item in sorted(sentence.covers) if item not in covered)
    return sentence.prior * new / math.sqrt(max(sentence.tokens, SHORT))
