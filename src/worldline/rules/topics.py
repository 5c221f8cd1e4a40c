"""What talk is about, and what stands for it: where a conversation moves on, which stretches belong together, and
the sentences that together say most of what a world says.

It decides which terms recur enough to be a subject, where a stretch of turns ends, which stretches
join one topic, and which topics are related. It reads and writes nothing: turns come in the order of
their sessions, as terms with weights; the same turns give the same topics. Sentences are chosen by greedy coverage,
nothing rewritten: what is said by people counts more than what answers them, what comes first more than what follows,
and what was covered once counts for nothing again.

>>> first = TopicStretch(1, 10, 0, 1, 0, {"nvivo": 3.0, "greg": 4.0})
>>> later = TopicStretch(2, 20, 0, 1, 9, {"greg": 4.0, "nvivo": 3.0})
>>> other = TopicStretch(2, 22, 2, 3, 9, {"soup": 3.0})
>>> [[stretch.opens for stretch in topic.members] for topic in gather([first, later, other], ())]
[[10, 20], [22]]
>>> said = [Sentence(1, 0, 9, 3, frozenset({"ana", "porto"})), Sentence(2, 0, 9, 3, frozenset({"ana"}))]
>>> [sentence.event for sentence in choose(said, {"ana": 1.0, "porto": 2.0}, 6)]
[1]
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from worldline.clock import Instant, to_datetime
from worldline.dates import find_dates
from worldline.rules.happenings import sentences
from worldline.text import estimate_tokens, stop, words

TURNS = 8
"""A stretch is at most so long."""
SETTLED = 6
"""So many terms a stretch has before talk can move on from it."""
RECURS, COMMON, SEVERAL = 3, 0.2, 12
"""A term is a subject if so many turns use it, and at most this share of them (or a handful)."""
KEPT, ANSWERED, TOPIC_TERMS = 16, 20, 24
"""Terms of a stretch, of an assistant's turn, and of a topic."""
JOIN, NEAR = 0.2, 0.1
"""A stretch joins a topic from this likeness on; topics are told to be related from that one on."""
REACH = 60 * 86_400_000_000
"""A topic that nobody has touched for so long is over: what comes after it opens a new one."""
NAMED, ECHOED = 2.0, 0.3
"""What a name counts, and what a word of an assistant does, beside a word of somebody's own."""
BY, _LOOKED_AT = 8, 64
"""A topic is looked for by so many of its terms, among so many that share one."""
_NAME = re.compile(r"(?<=[a-z,;:'’\)] )(?!I\b|I'|OK\b|TV\b)[A-Z][\w&-]*")
_DULL = (
    "january february march april june july august september october november december jan feb mar apr jun "
    "jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday am pm today "
    "tomorrow yesterday day week weekend month year time hour minute morning evening afternoon ok okay cool "
    "kinda yeah sure thanks thank hmm great sound good nice get think make want need know help feel worry "
    "curious wonder really thing way lot now maybe gonna stuff actually like try use work look go see come "
    "say tell give take keep find never always enough already much more most well still right even one two "
    "first last new next hey hi hello please yes no bit something anything everything someone "
    "totally agree true able such through happy love amazing awesome wow lovely glad definitely other different"
)


class TopicTurn(Struct, frozen=True):
    """One turn as topics see it: its place, and what its words weigh."""

    line: int
    session: int
    position: int
    at: Instant
    terms: Mapping[str, float]
    opens: bool = True
    """Whether talk may move on here: an answer belongs to what it answers."""


class TopicStretch(Struct, frozen=True):
    """Turns of one session that speak of one thing, from one position through another."""

    session: int
    opens: int
    """The turn that it begins with."""
    start: int
    end: int
    at: Instant
    terms: Mapping[str, float]


class Topic(Struct):
    """Stretches that belong together; `line` is 0 where it is not stored yet."""

    line: int
    terms: dict[str, float]
    first: Instant
    last: Instant
    members: list[TopicStretch]
    """Those that have joined it now."""


@cache
def _dull() -> frozenset[str]:
    return frozenset(words(_DULL)) | stop()


def is_dull(term: str) -> bool:
    """Whether a term says nothing about what talk is about."""
    return term in _dull()


def subjects(counts: Mapping[str, int], turns: int) -> dict[str, float]:
    """The terms that recur, with what each is worth: the rarer, the more."""
    most = max(COMMON * turns, SEVERAL)
    return {
        term: math.log(1 + turns / count)
        for term, count in counts.items()
        if RECURS <= count <= most and term not in _dull() and not term[0].isdigit()
    }


def names_in(text: str) -> frozenset[str]:
    """The tokens of what is written like a name inside a sentence."""
    return frozenset(token for name in _NAME.findall(text) for token in words(name))


def weighed(
    tokens: Iterable[str], worth: Mapping[str, float], names: frozenset[str], own: bool
) -> dict[str, float]:
    """What the words of a turn weigh; `own` is what somebody says for themselves."""
    if own:
        return {t: worth[t] * (NAMED if t in names else 1.0) for t in dict.fromkeys(tokens) if t in worth}
    return best({t: ECHOED * worth[t] for t in tokens if t in worth}, ANSWERED)


def stretches(turns: Sequence[TopicTurn]) -> list[TopicStretch]:
    """The turns of one session, cut where they move on; a cut depends on what came before it only."""
    found: list[list[TopicTurn]] = []
    held: dict[str, float] = {}
    for turn in turns:
        if not found or _moves_on(turn, found[-1], held):
            found.append([])
            held = {}
        found[-1].append(turn)
        _add(held, turn.terms)
    return [_stretch(run) for run in found]


def _moves_on(turn: TopicTurn, run: Sequence[TopicTurn], held: Mapping[str, float]) -> bool:
    if turn.position != run[-1].position + 1 or len(run) >= TURNS:
        return True
    return turn.opens and len(held) >= SETTLED and likeness(turn.terms, held) < JOIN


def _stretch(run: Sequence[TopicTurn]) -> TopicStretch:
    total: dict[str, float] = {}
    for turn in run:
        _add(total, turn.terms)
    first = run[0]
    return TopicStretch(
        first.session, first.line, first.position, run[-1].position, first.at, best(total, KEPT)
    )


def _add(total: dict[str, float], terms: Mapping[str, float]) -> None:
    for term, weight in terms.items():
        total[term] = total.get(term, 0.0) + weight


def best(terms: Mapping[str, float], most: int) -> dict[str, float]:
    """The weightiest terms, in order; ties by the alphabet."""
    ordered = sorted(terms.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:most])


def likeness(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """The cosine of two bags of weighted terms."""
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    shared = sum(weight * large[term] for term, weight in small.items() if term in large)
    return shared / (_length(a) * _length(b)) if shared else 0.0


def _length(terms: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in terms.values())) or 1.0


def gather(found: Iterable[TopicStretch], known: Iterable[Topic]) -> list[Topic]:
    """Every stretch put to the topic that it is most like, or made the first of a new one.

    The topics that were known come first, whether they took something in or not.
    """
    topics = list(known)
    about: dict[str, list[int]] = {}
    for number, topic in enumerate(topics):
        _enlist(about, topic, number)
    for stretch in sorted(found, key=lambda s: (s.at, s.session, s.start)):
        number = _home(stretch, topics, about)
        if number < 0:
            number = len(topics)
            topics.append(Topic(0, {}, stretch.at, stretch.at, []))
        topic = topics[number]
        topic.members.append(stretch)
        topic.first, topic.last = min(topic.first, stretch.at), max(topic.last, stretch.at)
        _add(topic.terms, stretch.terms)
        topic.terms = best(topic.terms, TOPIC_TERMS)
        _enlist(about, topic, number)
    return topics


def _enlist(about: dict[str, list[int]], topic: Topic, number: int) -> None:
    for term in list(topic.terms)[:BY]:
        held = about.setdefault(term, [])
        if number not in held[-_LOOKED_AT:]:
            held.append(number)


def _home(stretch: TopicStretch, topics: Sequence[Topic], about: Mapping[str, list[int]]) -> int:
    """The most similar topic within reach, the older one of equals; −1 where none is similar enough."""
    among: set[int] = set()
    for term in list(stretch.terms)[:BY]:
        among.update(about.get(term, ())[-_LOOKED_AT:])
    near = [
        (likeness(stretch.terms, topics[number].terms), -number)
        for number in among
        if abs(stretch.at - topics[number].last) <= REACH
    ]
    like, number = max(near, default=(0.0, 0))
    return -number if like >= JOIN else -1


def related(topic: Topic, others: Sequence[Topic], most: int) -> Iterator[tuple[Topic, list[str]]]:
    """The topics most like this one, with the terms they share, weightiest first."""
    near = [(likeness(topic.terms, other.terms), at) for at, other in enumerate(others) if other is not topic]
    for like, at in sorted(near, key=lambda pair: (-pair[0], pair[1]))[:most]:
        if like >= NEAR:
            shared = {t: w * others[at].terms[t] for t, w in topic.terms.items() if t in others[at].terms}
            yield others[at], list(best(shared, 5))


SHORT, LONG = 6, 120
"""A sentence counts as at least so many tokens, since one that says little is no bargain; longer ones are
left out."""
TELLS = 3
"""A sentence with fewer terms tells nothing."""
LEAD, HALF = 2.0, 10
"""How much more the beginning of a world counts, and after how many texts that is halved."""
ANSWERS, PIECES = 0.5, 12
"""What a sentence of an assistant counts, and how many of one turn are looked at."""
NAME_COUNTS, DATE_COUNTS, DATABLE = 2.0, 2.0, 600
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
        * (
            DATE_COUNTS
            if item.startswith(_DATE)
            else rarity.get(item, 1.0) * (NAME_COUNTS if item in names else 1.0)
        )
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
