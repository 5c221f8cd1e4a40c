"""What many texts add up to: the topics of talk, the sentences that stand for a world, and a person's own tally.

It decides which terms recur enough to be a subject, where a stretch of turns ends, which stretches
join one topic, and which topics are related; the same turns give the same topics. Sentences are chosen by greedy
coverage, nothing rewritten: what is said by people counts more than what answers them, what comes first more than what
follows, and what was covered once counts for nothing again.

A tally says how much somebody wrote, whom they answer, of whom they speak, what befell them. It is a sum: two of them
can be added, and the order of the texts leaves no trace. Every count keeps the newest text that it stands on, so that
whoever shows it can look whether that may be seen. A style is 256 numbers from hashed runs of three, four and five
characters: case, punctuation and spacing are part of it. Its counts are integers that add up, so one text can
be taken out again exactly, and nothing drifts.

>>> first = TopicStretch(1, 10, 0, 1, 0, {"nvivo": 3.0, "greg": 4.0})
>>> later = TopicStretch(2, 20, 0, 1, 9, {"greg": 4.0, "nvivo": 3.0})
>>> other = TopicStretch(2, 22, 2, 3, 9, {"soup": 3.0})
>>> [[stretch.opens for stretch in topic.members] for topic in gather([first, later, other], ())]
[[10, 20], [22]]
>>> said = [Sentence(1, 0, 9, 3, frozenset({"ana", "porto"})), Sentence(2, 0, 9, 3, frozenset({"ana"}))]
>>> [sentence.event for sentence in choose(said, {"ana": 1.0, "porto": 2.0}, 6)]
[1]
>>> mine = tally([SaidWords(7, "Ben and my sister Ida moved to Oslo.", 100, answers="ben")])
>>> mine.turns, sorted(mine.names), mine.together["ben|ida"].count
(1, ['ben', 'ida'], 1)
>>> shy, loud = counted("i guess so... maybe later?"), counted("YES!!! Let's GO!!!")
>>> alike(shy, counted("maybe... i guess?")) > alike(shy, loud)
True
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

from worldline import lexicon
from worldline.clock import Instant, to_datetime
from worldline.dates import find_dates
from worldline.dates.words import ANY_WEEKDAY, MONTH
from worldline.rules import TURNS
from worldline.rules.happenings import causes, landmarks, sentences
from worldline.rules.identity import GIVEN
from worldline.text import estimate_tokens, fold, stop, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]
    Unit: TypeAlias = NDArray[np.float64]

# Topics ===============================================================================================

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
    """Terms that say nothing about what talk is about."""
    return frozenset(words(" ".join(lexicon.lines("dull_words.txt")))) | stop()


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


# Sentences that stand for a world =====================================================================

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
    terms = {term for term in words(piece) if term not in _dull() and not term.isdigit()}
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


# A tally ==============================================================================================

TALLIED = 50
"""So many landmarks of a kind are kept for a person, the newest."""
MOST_NAMED = 6
"""Of so many people at most a text is taken to speak; a longer list is a list."""


class Met(Struct, frozen=True, array_like=True):
    """How often, when last, and the lineage of the text that shows it."""

    count: int
    last: Instant
    line: int


class Marker(Struct, frozen=True, array_like=True):
    """A landmark that a text tells: its lineage, its weight, and of whom (empty: of the one who speaks)."""

    line: int
    weight: float
    of: str


class SaidWords(Struct, frozen=True):
    """One text of a person."""

    line: int
    text: str
    said_at: Instant
    answers: str = ""
    """Who spoke just before, if it was somebody else."""


class Tally(Struct, frozen=True):
    """The sum over a person's texts."""

    upto: int = 0
    """The newest lineage that is counted."""
    turns: int = 0
    characters: int = 0
    words: int = 0
    first: Instant = 0
    last: Instant = 0
    answers: dict[str, Met] = {}
    names: dict[str, Met] = {}
    together: dict[str, Met] = {}
    """Two people spoken of in one text; their names in order, joined by a bar."""
    landmarks: dict[str, tuple[Marker, ...]] = {}
    reasons: tuple[int, ...] = ()
    """The newest texts that say what caused what."""


def tally(said: Iterable[SaidWords]) -> Tally:
    """The sum over some texts of one person."""
    return combined(map(_one, said))


def combined(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    held = [one for one in tallies if one.turns]
    if not held:
        return Tally()
    kinds = dict.fromkeys(kind for one in held for kind in one.landmarks)
    return Tally(
        upto=max(one.upto for one in held),
        turns=sum(one.turns for one in held),
        characters=sum(one.characters for one in held),
        words=sum(one.words for one in held),
        first=min(one.first for one in held),
        last=max(one.last for one in held),
        answers=_added(one.answers for one in held),
        names=_added(one.names for one in held),
        together=_added(one.together for one in held),
        landmarks={kind: _newest(m for one in held for m in one.landmarks.get(kind, ())) for kind in kinds},
        reasons=tuple(sorted({line for one in held for line in one.reasons})[-TALLIED:]),
    )


def _added(parts: Iterable[Mapping[str, Met]]) -> dict[str, Met]:
    rest = iter(parts)
    found = dict(next(rest, {}))
    for part in rest:
        for name, met in part.items():
            held = found.get(name)
            if held is None:
                found[name] = met
            else:
                last, line = max((held.last, held.line), (met.last, met.line))
                found[name] = Met(held.count + met.count, last, line)
    return dict(sorted(found.items()))


def _newest(markers: Iterable[Marker]) -> tuple[Marker, ...]:
    ordered = sorted(set(markers), key=lambda m: (m.line, m.of, m.weight))
    return tuple(ordered[-TALLIED:])


def _one(said: SaidWords) -> Tally:
    met = Met(1, said.said_at, said.line)
    names = spoken_of(said.text)
    pairs = [f"{a}|{b}" for at, a in enumerate(names) for b in names[at + 1 :]]
    told: dict[str, tuple[Marker, ...]] = {}
    for mark in landmarks(said.text):
        told[mark.kind] = (*told.get(mark.kind, ()), Marker(said.line, mark.weight, mark.of))
    return Tally(
        said.line, 1, len(said.text), len(said.text.split()), said.said_at, said.said_at,
        {said.answers: met} if said.answers else {},
        dict.fromkeys(names, met), dict.fromkeys(pairs, met), told,
        (said.line,) if causes(said.text) else (),
    )  # fmt: skip


# Of whom a text speaks ------------------------------------------------------------------------------

_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][a-z]+(?:-[A-Z][a-z]+)?(?![\w-])(?!['’](?!s\b))")
_BY_ROLE = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:\w+ ){0,2}?(?:wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?|"
    r"mother|mum|mom|father|dad|sister|brother|son|daughter|aunt|uncle|cousin|niece|nephew|grandmother|grandma|"
    r"grandfather|grandpa|friend|boss|colleague|coworker|neighbou?r|roommate|mentor|teacher|coach|dog|puppy|cat|kitten)"
    r",? (?:named |called )?([A-Z][a-z]+)"
)
_CALENDAR = re.compile(rf"{MONTH}|{ANY_WEEKDAY}", re.I)
_PLACED = re.compile(r"\b(?:in|to|from|at|near|of|the|a|an)\s+$")


def spoken_of(text: str) -> tuple[str, ...]:
    """The given names that a text mentions, folded, in the order of the alphabet; the June of a date is nobody."""
    found = {fold(match.group(1)) for match in _BY_ROLE.finditer(text)}
    for match in _CAPITAL.finditer(text):
        name = fold(match.group())
        if (
            name in GIVEN
            and (name not in lexicon.words("names_that_are_words.txt") or _inside(text, match.start()))
            and not (_CALENDAR.fullmatch(name) and _is_date(text, match.start()))
        ):
            found.add(name)
    return tuple(sorted(found))[:MOST_NAMED]


def _is_date(text: str, at: int) -> bool:
    return any(span.chars[0] <= at < span.chars[1] for span in find_dates(text, to_datetime(0)))


def _inside(text: str, at: int) -> bool:
    before = text[max(0, at - 12) : at]
    return (
        before[-1:] == " " and before.rstrip()[-1:] not in (".", "!", "?", "") and not _PLACED.search(before)
    )


ENCODER, DECODER = msgspec.json.Encoder(order="deterministic"), msgspec.json.Decoder(Tally)


# A style ==============================================================================================

SIZE = 256
RUNS = (3, 4, 5)
LONGEST = 4000
"""Characters of a text that are counted: a pasted document is not a way of writing."""
_MULTIPLIER = 0x9E3779B97F4A7C15


def counted(text: str) -> Counts:
    """How often each bucket's runs of characters occur; half of the runs count downwards."""
    import numpy as np

    flat = f" {' '.join(text[:LONGEST].split())} "
    codes = np.frombuffer(flat.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    hashed = [_hashed(codes, run) for run in RUNS if len(codes) >= run]
    if not hashed:
        return np.zeros(SIZE, np.int64)
    found = np.bincount(np.concatenate(hashed) >> np.uint64(55), minlength=2 * SIZE)
    return np.asarray(found[:SIZE] - found[SIZE:], np.int64)


def _hashed(codes: NDArray[np.uint64], run: int) -> NDArray[np.uint64]:
    """One length of runs; the highest bit of a hash is its sign, the next eight are its bucket."""
    import numpy as np

    many, multiplier = len(codes) - run + 1, np.uint64(_MULTIPLIER)
    mixed = codes[:many] + np.uint64(run)
    for place in range(1, run):
        mixed *= multiplier
        mixed ^= mixed >> np.uint64(29)
        mixed ^= codes[place : place + many]
    mixed *= multiplier
    mixed ^= mixed >> np.uint64(31)
    return mixed * multiplier


def unit(counts: Counts) -> Unit:
    """The style vector: length one, or all zeros where nothing was written."""
    import numpy as np

    length = float(np.sqrt((counts.astype(np.float64) ** 2).sum()))
    return np.asarray(counts / length if length else counts, np.float64)


def alike(one: Counts, other: Counts, usual: Counts | None = None) -> float:
    """The cosine of two styles, from -1 to 1; with `usual`, of how they differ from what is usual."""
    a, b = unit(one), unit(other)
    if usual is not None:
        common = unit(usual)
        a, b = a - (a @ common) * common, b - (b @ common) * common
    lengths = float((a @ a) * (b @ b)) ** 0.5
    return float(a @ b) / lengths if lengths > 1e-12 else 0.0


def nearest(one: Counts, others: Sequence[tuple[str, Counts]]) -> tuple[str, float] | None:
    """Whose style is nearest, and how near, beyond what all of them share; ties by name."""
    if not others:
        return None
    usual = sum((counts for _, counts in others), one * 0)
    if len(others) < 2:
        return others[0][0], alike(one, others[0][1])
    scored = [(-alike(one, counts, usual), name) for name, counts in others]
    least, name = min(scored)
    return name, -least


def packed(counts: Counts) -> bytes:
    """The bytes in which a style is stored."""
    return counts.astype("<i8").tobytes()


def unpacked(stored: bytes) -> Counts:
    """A style from its bytes."""
    import numpy as np

    return np.frombuffer(stored, "<i8").astype(np.int64)
