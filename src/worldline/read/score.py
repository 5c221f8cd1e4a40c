"""One linear score over what is measured of each turn, and what each feature gave to it.

A turn is measured by how far it meets what the question needs, word by word: a need is a word that evidence has to
speak of, or the person it is about; words that only ask ("how many", "what kind", "these days") are none. A need is met
by the same stem, by a slip of one letter, by a word of the same family, idea or kind, and more weakly by the sentences
and turns around; no count of the pool enters, so a store of six texts and one of sixty thousand are judged alike.
A turn inherits evidence from its neighbours and from the session that contains it. Features are few, and such as mean
the same in every conversation: each was kept because weights fitted on other data sets rank worse
without it (`worldline bench fit`). A lane that was not searched (no embedder) leaves its features at rest.

The score decides the order of a pool, how many turns a question needs, and whether there is evidence at all, for
saying "I don't know": ranks always have a first place, so that is measured absolutely, by how far the best
sentences meet what the question needs, whether a value of the wanted kind stands there, and whether
it belongs to the person asked about. Deterministic: equal pool, equal order.

What each feature is worth is one table for every store, language and kind of conversation. How it was fitted:
listwise softmax (`bench/fit.py`) over the pools of three public development
sets, of stories and of small memories, with and without vectors (the latter at half weight), each set
counting the same; checked on whole sets that were left out, and on conversations; rounded to .05.
``EVIDENCE`` is a logistic fit, classes balanced, of answerable against unanswerable questions: of a public set, of
small memories by four hands, and of stories by two, each counting the same, with and without vectors; checked on
whole files that were left out. "own" alone was doubled by hand: it tells nothing but where two people talk, and there
it tells most. How near the vectors are told nothing beside the rest.

>>> from worldline.read.cues import ask
>>> from worldline.rules.describe import describe
>>> [(need.word, need.weight) for need in needs(ask("What kind of tortoise do I have?"))]
[('tortoise', 1.0), ('', 0.6)]
>>> pool = [Turn(1, "s", 0, describe("We swam in the lake")), Turn(2, "s", 1, describe("Nice!"))]
>>> measure(ask("Where did they swim?"), pool[:1], Corpus(1, 5.0, {"swim": 1}))["cover"]
array([1.])
>>> score(ask("Who swam?"), pool, Corpus(2, 3.0, {"swim": 1})).order()
[0, 1]
>>> weigh_evidence({"own": 0.5}) > weigh_evidence({"own": -0.5})
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from worldline.lexicon import ALIKE
from worldline.ports import CloseReading
from worldline.read.cues import Asked, Course, derived, idioms, meeting
from worldline.rules.describe import (
    ASKS,
    CLOCK,
    DATE,
    INSTRUCTS,
    NAME,
    NUMBER,
    OF_ME,
    OF_YOU,
    PREFERS,
    REACTS,
    TIME,
    Described,
)
from worldline.text import stop, tokens, words

Column: TypeAlias = NDArray[np.float64]
"""One number for each turn of a pool."""

DAY = 86_400_000_000


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One text of the pool; ``role`` is people, user or assistant; ``speaker`` is folded."""

    key: int
    session: str
    position: int
    described: Described
    speaker: str = ""
    role: str = "people"
    said_at: int | None = None
    cosine: float | None = None
    facts: tuple[str, ...] = ()
    """The facts drawn from it, as stems; of the best candidates only."""


class Corpus(msgspec.Struct, frozen=True):
    """Counts over everything searched: texts, words a text, texts with a term."""

    size: int
    mean_length: float
    frequency: Mapping[str, int]

    def idf(self, term: str) -> float:
        count = self.frequency.get(term, 0)
        return math.log(1 + (self.size - count + 0.5) / (count + 0.5))


# How far a text meets what a question needs ----------------------------------------------------------


LIGHT, SORT, PERSON = 0.35, 0.7, 0.6
"""What a word weighs that says little, the sort of thing asked for, and the person, beside other words (1.0)."""
SLIP = 0.9
"""How far a slip of one letter meets a need."""
TURN, BESIDE = 0.85, 0.6
"""How far the rest of a turn, and the turns beside it, lend to one of its sentences."""
BEFORE, USUAL = 1000, 10
"""The background of a word's rarity: so many texts, of which so many have a word of no special kind."""

LEAD = 300
"""So many letters of a text tell what it is about."""

_SENTENCES = re.compile(r" [.()] ")
_WRITTEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MYSELF = re.compile(r"\b(?:I|my|me|mine|we|our|us|i|My|We|Our)\b")
_NOTHING = (
    "many much exactly actually really currently current nowadays now lately recently present moment right "
    "happen happened exist there still already yet ever anymore else please tell know remember mention say "
    "thing anything something someone anyone person one way kind sort type various certain particular total "
    "until till since dr mr mrs ms sir prof most whole per latest newest"
)
"""Words that ask and do not tell: they never count as missing."""
_PHRASES = re.compile(
    r"\b(?:these days|at the moment|at present|right now|for the time being|so far|to date|as of now|"
    r"in the end|at all|in total|(?:19|20)\d\d|"
    r"(?:the |a )?(?:names?|kinds?|types?|sorts?|number|amount) of|how (?:many|much|old|long|far|often|tall|big))\b",
    re.I,
)
SHORT = 4
"""So short a word of a figure means something else on its own: who does something for a living does not live there."""
_SAYS_LITTLE = (
    "name call title colour color city town country place day date time year month week hour number amount age old "
    "long often far first last next new other good best like want need get go come make take give have do use put "
    "keep let become feel think look see find plan try help talk show ask turn part along end another set stay "
    "earlier later before after early late middle mid beginning together half more less without towards "
    "january february march april june july august september october november december"
)
_WHICH = re.compile(
    r"\b(?:what|which|whose)\s+(?:\w+\s+)?(\w+)\s+(did|does|do|has|have|had|can|will|am|is|are|was|were|should)\b",
    re.I,
)
_ASKING = ("what", "when", "where", "which", "who", "whose", "how", "many", "much")
_COPULA = re.compile(r"is|are|was|were", re.I)


class Need(msgspec.Struct, frozen=True):
    """A stem that evidence should hold, as it was written, and what it weighs; the person has no stem."""

    stem: str
    word: str
    weight: float
    slips: bool = False
    """Whether nothing stored has it, so that a word one letter off may be meant."""
    ways: tuple[str, ...] = ()
    """Further stems that say the same: "behind the wheel" is to drive, or to be the driver."""
    figure: tuple[str, ...] = ()
    """The stems of a figure of speech, which say it all together: "behind", "wheel"."""


class Unit(msgspec.Struct, frozen=True):
    """The best sentence for a question: its turn, how far it meets each need, and its share of the whole."""

    turn: int
    degrees: tuple[float, ...]
    share: float
    sentence: str = ""

    def gap(self, wanted: Sequence[Need]) -> float:
        """What this leaves open of the question."""
        return left_open(wanted, self.degrees)


def left_open(wanted: Sequence[Need], degrees: Sequence[float]) -> float:
    """The length of what is not met: one of two words missing is worse than two of six, none met is worst."""
    total = sum(need.weight for need in wanted if need.stem) or 1.0
    open_ = [
        need.weight * (1 - degree) / total for need, degree in zip(wanted, degrees, strict=True) if need.stem
    ]
    return math.hypot(*open_)


def needs(asked: Asked, corpus: Corpus | None = None) -> tuple[Need, ...]:
    """What evidence for a question must speak of; a corpus tells which words are rare, and which are not stored."""
    written, figures = _written(asked)
    which = _asked_noun(asked, written)
    little = {stem for stem in written if stem in _little()}
    if all(stem in little or word[0].isupper() for stem, word in written.items()):
        little = set()  # a name and "like": then the little word is what is asked
    found = [
        Need(stem, word, weight * _rarity(stem, corpus), _is_new(stem, corpus), *figures.get(stem, ()))
        for stem, word in written.items()
        if (weight := LIGHT if stem in little else SORT if stem == which else 1.0)
    ]
    if _of_somebody(asked):
        found.append(Need("", "", PERSON))
    return tuple(found)


def _is_new(stem: str, corpus: Corpus | None) -> bool:
    return corpus is not None and not corpus.frequency.get(stem)


def _rarity(stem: str, corpus: Corpus | None) -> float:
    """The weight of a word by how many texts have it, beside a thousand imagined ones: 1 in a new store."""
    if corpus is None or stem not in corpus.frequency:
        return 1.0
    seen = math.log((BEFORE + corpus.size) / (USUAL + corpus.frequency[stem]))
    return min(max(seen / math.log(BEFORE / USUAL), 0.3), 1.3)


@lru_cache(maxsize=8)
def _written(asked: Asked) -> tuple[dict[str, str], dict[str, tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The stems of a question that tell something, with the words they were written as; for figures, what says them."""
    text = _PHRASES.sub(" ", asked.text)
    own = {token for name in asked.people for token in tokens(name)}
    said = [(stem, word) for word in _WRITTEN.findall(text) for stem in tokens(word)]
    found: dict[str, str] = {}
    figures: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    at = 0
    for begin, end, plain in [*idioms([stem for stem, _ in said]), (len(said), len(said), ())]:
        for stem, word in said[at:begin]:
            if stem not in stop() and stem not in _nothing() and stem not in own and not _asks_badly(word):
                found.setdefault(stem, re.sub(r"['’]s?$", "", word))
        if plain and plain[0] not in found:
            found[plain[0]] = " ".join(dict.fromkeys(word for _, word in said[begin:end]))
            figures[plain[0]] = (
                plain[1:],
                tuple(stem for stem, _ in said[begin:end] if stem not in stop() and len(stem) > SHORT),
            )
        at = end
    return found if found or _of_somebody(asked) else {stem: stem for stem in asked.terms}, figures


def _of_somebody(asked: Asked) -> bool:
    return bool(asked.people or _MYSELF.search(asked.text))


def _asks_badly(word: str) -> bool:
    """A question word with a slip in it: wen, mnay, whcih."""
    return len(word) > 2 and any(
        word.lower() != right and is_slip(word.lower(), right, 3) for right in _ASKING
    )


def _asked_noun(asked: Asked, written: dict[str, str]) -> str:
    """In "which drug did she prescribe" the verb tells what is asked: the noun only names the kind of answer."""
    found = _WHICH.search(asked.text)
    stem = tokens(found[1])[0] if found else ""
    told = [word for s, word in written.items() if s != stem and s not in _little() and word[0].islower()]
    if found and _COPULA.match(found[2]):
        told = [word for word in told if word.endswith(("ing", "ed", "en"))]
    return stem if told else ""


@cache
def _nothing() -> frozenset[str]:
    return frozenset(tokens(_NOTHING))


@cache
def _little() -> frozenset[str]:
    return frozenset(tokens(_SAYS_LITTLE))


# A word against a word ------------------------------------------------------------------------------


def is_slip(a: str, b: str, least: int = 5) -> bool:
    """Whether two words differ by one letter, or by two neighbours swapped; short words mean what they say."""
    if abs(len(a) - len(b)) > 1 or max(len(a), len(b)) < least or not (a.isalpha() and b.isalpha()):
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    x, y = a[start:], b[start:]
    return x[1:] == y[1:] or x[1:] == y or x == y[1:] or (x[:2] == y[1::-1] and x[2:] == y[2:])


# A question against turns ----------------------------------------------------------------------------


def units(
    asked: Asked,
    wanted: Sequence[Need],
    turns: Sequence[Turn],
    beside: Callable[[Turn], Sequence[Turn]] = lambda _: (),
) -> list[Unit]:
    """The best sentence of each of these turns."""
    return [_unit(asked, wanted, at, turn, beside(turn)) for at, turn in enumerate(turns)]


def met(wanted: Sequence[Need], texts: Sequence[str]) -> Column:
    """Texts × needs: how far each text, as stems, meets each need, as a share of the whole; the person aside."""
    told = [need for need in wanted if need.stem]
    weights = np.array([need.weight for need in told])
    said = [text.split() for text in texts]
    every = set[str]().union(*said)
    apart, asked = f" {' '.join(every)} ", {need.stem for need in told}
    kin: dict[str, list[tuple[int, float]]] = {}
    for at, need in enumerate(told):
        for stem, degree in (_meeting(need, every, apart, asked) | {need.stem: 1.0}).items():
            kin.setdefault(stem, []).append((at, degree))
    known, found = frozenset(kin), [[0.0] * len(told) for _ in texts]
    for line, stems in zip(found, said, strict=True):
        for stem in known.intersection(stems):
            for at, degree in kin[stem]:
                line[at] = max(line[at], degree)
    shares = np.array(found).reshape(len(texts), len(told)) * weights
    return np.asarray(shares / max(float(weights.sum()), 1e-9))


def _unit(asked: Asked, wanted: Sequence[Need], at: int, turn: Turn, others: Sequence[Turn]) -> Unit:
    whole = _hits(wanted, turn.described.words)
    near = [degrees(wanted, other.described.words) for other in others]
    lent = [max([TURN * _most(hits), *(BESIDE * met[at] for met in near)]) for at, hits in enumerate(whole)]
    person = _of_person(asked, turn)
    total = sum(need.weight for need in wanted) or 1.0
    best = Unit(at, (), -1.0)
    for sentence in sentences(turn):
        tokens = set(sentence.split())
        met = tuple(
            max(borrowed, max((hits[token] for token in tokens & hits.keys()), default=0.0))
            if need.stem
            else person
            for need, hits, borrowed in zip(wanted, whole, lent, strict=True)
        )
        share = sum(need.weight * degree for need, degree in zip(wanted, met, strict=True)) / total
        if share > best.share:
            best = Unit(at, met, share, sentence)
    return best


def sentences(turn: Turn) -> list[str]:
    """The sentences of a turn, as stems."""
    return _SENTENCES.split(turn.described.words)


def degrees(wanted: Sequence[Need], said: str) -> list[float]:
    """How far a text, as stems, meets each need."""
    return [_most(hits) for hits in _hits(wanted, said)]


def _most(hits: Mapping[str, float]) -> float:
    return max(hits.values(), default=0.0)


def _hits(wanted: Sequence[Need], said: str) -> list[dict[str, float]]:
    """For each need the stems of a text that meet it; a word that is itself needed stands for no other."""
    tokens, apart = set(said.split()), f" {said} "
    asked = {need.stem for need in wanted}
    return [
        {need.stem: 1.0} if need.stem in tokens else _meeting(need, tokens, apart, asked) for need in wanted
    ]


def _meeting(need: Need, tokens: set[str], said: str, asked: Collection[str]) -> dict[str, float]:
    if not need.stem:
        return {}
    found = meeting(need.stem, tokens) | dict.fromkeys(tokens.intersection(need.ways), ALIKE)
    if need.figure and tokens.issuperset(need.figure):
        found[need.figure[-1]] = 1.0
    if need.stem[:4] in said:
        found |= derived(need.stem, said)
    if need.slips:
        first, size = need.stem[0], len(need.stem)
        near = [t for t in tokens if t[0] == first and -2 < len(t) - size < 2]
        found |= dict.fromkeys([t for t in near if is_slip(need.stem, t)], SLIP)
    return {token: degree for token, degree in found.items() if token not in asked} if found else found


def _of_person(asked: Asked, turn: Turn) -> float:
    """How far a turn speaks of the one asked about: by themselves, by name, or as "you"."""
    flags = turn.described.flags
    if not asked.people:
        if turn.role == "assistant":
            return 0.7 if flags & OF_YOU else 0.4
        return 1.0 if flags & OF_ME else 0.8
    if turn.role != "people" or turn.speaker in asked.people:
        return 1.0 if flags & OF_ME else 0.7
    named = any(f" {token} " in turn.described.words for name in asked.people for token in tokens(name)[:1])
    return 1.0 if named else 0.5 if flags & OF_YOU else 0.0


# Features of a turn, alone and within its session ----------------------------------------------------


K1, B = 1.2, 0.75


def counted(asked: Asked, turns: Sequence[Turn]) -> Column:
    """Terms × turns: how often every term of the question occurs in every turn."""
    texts = [turn.described.words for turn in turns]
    counts = [[text.count(f" {term} ") for text in texts] for term in asked.terms]
    return np.array(counts, float).reshape(len(asked.terms), len(turns))


def bm25(asked: Asked, turns: Sequence[Turn], corpus: Corpus) -> Column:
    """BM25 over the question's terms, the same on every store."""
    counts = counted(asked, turns)
    length = np.array([t.described.length for t in turns], float)
    norm = K1 * (1 - B + B * length / max(corpus.mean_length, 1.0))
    idf = np.array([corpus.idf(term) for term in asked.terms])
    return np.asarray(idf @ (counts * (K1 + 1) / (counts + norm)))


def standard(values: Column) -> Column:
    """Standard scores over the pool, clipped."""
    spread = float(values.std())
    if spread < 1e-9:
        return np.zeros_like(values)
    return np.asarray(np.clip((values - values.mean()) / spread, -3, 6))


def neighbours(turns: Sequence[Turn]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index of the turn before and after in the same session; −1 where there is none."""
    seats = (by_session(turns) << 40) + np.array([t.position for t in turns], np.int64)
    order = np.argsort(seats, kind="stable")
    rising = seats[order]

    def at(wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        place = np.maximum(np.searchsorted(rising, wanted, side="right") - 1, 0)
        return np.where(rising[place] == wanted, order[place], -1)

    return at(seats - 1), at(seats + 1)


def _at(values: Column, index: NDArray[np.int64]) -> Column:
    return np.where(index >= 0, values[index], 0.0)


def window(asked: Asked, turns: Sequence[Turn]) -> Column:
    """1 inside a stretch of time that the question names, fading with the days outside it."""
    if not asked.windows:
        return np.zeros(len(turns))
    return np.array([max((_near(w, t) for w in asked.windows), default=0.0) for t in turns])


def _near(span: tuple[int, int], turn: Turn) -> float:
    if any(start < span[1] and span[0] < end for start, end in turn.described.dates):
        return 1.0
    if turn.said_at is None:
        return 0.0
    gap = max(span[0] - turn.said_at, turn.said_at - span[1], 0) / DAY
    return math.exp(-gap / (7 if turn.said_at > span[1] else 3))


def spoken_by(asked: Asked, turns: Sequence[Turn]) -> Column:
    """+1 said by the one person named, −1 by another, 0 where that says nothing."""
    if len(asked.people) != 1:
        return np.zeros(len(turns))
    named = asked.people[0]
    return np.array([0.0 if t.role != "people" else 1.0 if t.speaker == named else -1.0 for t in turns])


def by_session(turns: Sequence[Turn]) -> NDArray[np.int64]:
    """A number for each turn's session."""
    sessions = [t.session for t in turns]
    number = {session: at for at, session in enumerate(dict.fromkeys(sessions))}
    return np.array([number[session] for session in sessions], np.int64)


def _session_max(values: Column, session: NDArray[np.int64]) -> Column:
    best = np.full(int(session.max()) + 1, -np.inf)
    np.maximum.at(best, session, values)
    return best[session]


def measure(asked: Asked, turns: Sequence[Turn], corpus: Corpus) -> dict[str, Column]:
    """Every feature of every turn, by name."""
    before, after = neighbours(turns)
    flags = np.array([t.described.flags for t in turns])
    role = np.array([t.role for t in turns])
    people, user, machine = ((role == r).astype(float) for r in ("people", "user", "assistant"))
    zb = standard(bm25(asked, turns, corpus))
    dense = turns[0].cosine is not None
    zd = standard(np.array([t.cosine or 0.0 for t in turns])) if dense else zb
    c = (zb + zd) / 2
    length = np.log1p([t.described.length for t in turns]) - 3

    def has(bit: int) -> Column:
        return ((flags & bit) > 0).astype(float)

    prev, nxt = _at(c, before), _at(c, after)
    speaker = spoken_by(asked, turns)
    said = 0.0 if asked.to_assistant else 1.0
    replies, returns = _dialogue(turns, before)
    wanted = needs(asked, corpus)
    spoken_of = met(wanted, [turn.described.words[:LEAD] for turn in turns])
    return {
        "meaning": zd,
        "cover": spoken_of.sum(axis=1),
        "news": _news(spoken_of, turns),
        "told": _told(wanted, turns),
        "session": _session_max(c, by_session(turns)),
        "before": (people + machine) * prev,
        "after": (people + user) * nxt,
        "answers": replies * _at(has(ASKS) * np.maximum(c, 0), before) + returns * _at(prev, before),
        "own": people * ((speaker > 0) * has(OF_ME) - (speaker < 0) * has(OF_YOU)) + user * has(OF_ME),
        "length": (people - user - machine) * length,
        "details": people * (np.log1p([t.described.names for t in turns]) + has(TIME)),
        "reacts": (people + user) * has(REACTS),
        "role": user * said + 1.5 * machine * ((1 - said) + asked.summary),
        "speaker": speaker,
        "window": window(asked, turns),
        "wanted": _wanted(asked, flags),
        "advice": (has(INSTRUCTS) + 0.5 * has(PREFERS)) * asked.advice * (1 - machine),
    }


def _news(spoken_of: Column, turns: Sequence[Turn]) -> Column:
    """How much of the question each turn is the first of its session to speak of: others take it up or react."""
    session, fresh = by_session(turns), np.zeros(len(turns))
    order = np.lexsort((np.array([turn.position for turn in turns]), session))
    order = order[spoken_of[order].any(axis=1)]  # who speaks of nothing asked for says nothing first
    first = np.flatnonzero(np.diff(session[order], prepend=-1))
    length = np.diff(first, append=len(order))
    so_far = np.zeros((len(first), spoken_of.shape[1]))
    for place in range(
        int(length.max(initial=0))
    ):  # of all sessions that are so long, the turn at this place
        these = np.flatnonzero(length > place)
        turn = order[first[these] + place]
        grown = np.maximum(so_far[these], spoken_of[turn])
        fresh[turn] = (grown - so_far[these]).sum(axis=1)
        so_far[these] = grown
    return fresh


def _told(wanted: Sequence[Need], turns: Sequence[Turn]) -> Column:
    """How much of the question the best of the facts drawn from each turn meets."""
    found, telling = np.zeros(len(turns)), [at for at, turn in enumerate(turns) if turn.facts]
    if any(need.figure for need in wanted):  # the facts of a turn say it together
        for at in telling:
            found[at] = met(wanted, turns[at].facts).sum(axis=1).max()
    elif telling:
        shares = met(wanted, [fact for at in telling for fact in turns[at].facts]).sum(axis=1)
        first = np.cumsum([0, *(len(turns[at].facts) for at in telling[:-1])])
        found[telling] = np.maximum.reduceat(shares, first)
    return found


def _dialogue(turns: Sequence[Turn], before: NDArray[np.int64]) -> tuple[Column, Column]:
    """1 where a person follows another, and where somebody then speaks again: what was asked is answered there."""
    replies, returns = np.zeros(len(turns)), np.zeros(len(turns))
    behind = before.tolist()
    for at, (turn, last) in enumerate(zip(turns, behind, strict=True)):
        if turn.role == "people" and last >= 0 and turns[last].speaker != turn.speaker:
            replies[at] = 1.0
            returns[at] = behind[last] >= 0 and turns[behind[last]].speaker == turn.speaker
    return replies, returns


def _wanted(asked: Asked, flags: NDArray[np.int64]) -> Column:
    """How many of the kinds of value that are asked for a turn has: a time, a number, a name, a stricter one."""
    kinds = [asked.wants & kind for kind in (TIME, NUMBER, NAME)]
    return np.asarray(sum(((flags & kind) > 0).astype(float) for kind in (*kinds, asked.strict)))


# The score -------------------------------------------------------------------------------------------


WEIGHTS: dict[str, float] = {
    "meaning": 0.5,
    "cover": 2.15,
    "news": 1.6,
    "told": 1.15,
    "session": 0.3,
    "before": 0.35,
    "after": 0.2,
    "answers": 0.35,
    "own": 0.75,
    "length": 0.2,
    "details": 0.2,
    "reacts": -0.4,
    "role": 2.75,
    "speaker": 0.9,
    "window": 2.35,
    "wanted": 0.85,
    "advice": 4.35,
}

TOPIC, CITED = 0.75, 0.25
"""For broad questions: how far a turn is raised towards the best of its topic, and what it is worth to be cited by
a summary. By leave-one-conversation-out over the questions of two public sets that ask for summaries and orders."""

WORLD = 0.05
"""What the nearness of a turn's world is worth: the least that shows. No weight gained anything that is
significant on the development sets, so the worlds lane is there for the candidates that it brings."""

THIS_SESSION = 0.4
"""What it is worth to have been said in the session at hand; set by hand, no public file has one."""

FEW, MANY = 10, 20
"""How many turns are returned when the caller names no limit; MANY when several are asked for."""

EVIDENCE: dict[str, float] = {
    "open": -0.85,
    "detail": -0.85,
    "lacks": -1.65,
    "own": 5.0,
    "answered": 1.65,
    "reach": 4.0,
}
CERTAIN = -0.25
"""The constant of the same fit: together they give the probability that there is an answer."""
READ_CLOSELY: dict[str, float] = {"told": 0.85, "near": -0.12, "own": 12.0, "detail": -0.6, "reach": 1.5}
"""The same where the first texts were read beside the question: the best odds that one of them tells what is asked
(`read/closely.py`) say more than words do, and what is near and does not tell it speaks against an answer."""
CERTAIN_THEN = -0.45
THRESHOLD = 0.3
"""Below this, recall says that it does not know: chosen on small memories, stories and long talks together."""

UNTOLD = 0.4
"""The most that a question reaches which asks for no value: whether, why, how; less, the more of it is left open."""

PROFILE = 0.1
"""What it is worth that a turn tells a landmark of the kind and the person asked for; more did not help."""

SIGNALS: dict[str, float] = {"surprise": 0.05, "strength": 0.5, "landmark": 0.1, "cause": 0.2}
"""What the signals that sleep leaves are worth (`read/recall.py`)."""


TOP, DEPTH = 5, 60
MET = 0.55
"""What is met less than this is missing."""
ME = frozenset({"i", "im", "iv", "id", "ill", "my", "me", "mine", "we", "our", "us", "wev", "wer"})
YOU = frozenset({"you", "your", "youv"})
_STANDS_FOR = frozenset("it they them their he she his her him one that this there".split())
_PLACED = frozenset(
    words("in at behind under near beside inside outside downstairs upstairs home next between above")
)
_DETAIL = re.compile(
    r"\b(?:what|which)(?:'s)?\b(?! (?:time|day|date|month|year|weekday)\b)|\b(?:who(?:m|se|'s)?|where)\b"
    r"|\bhow (?:many|much|old|long|often|far|tall|big|fast)\b",
    re.I,
)
"""A thing, a name, a place or a number may be left untold by what speaks of it; when, why and whether seldom are."""
_NAMED = re.compile(r"\b(?:names?|surnames?|called|named|title)\b", re.I)
_WHERE = re.compile(r"\bwhere\b", re.I)


class EvidenceSum(msgspec.Struct, frozen=True):
    """Named measures, and the words of the question that nothing found speaks of."""

    measures: dict[str, float]
    missing: tuple[str, ...] = ()


def evidence(
    asked: Asked, wanted: Sequence[Need], turns: Sequence[Turn], pool: Sequence[Turn]
) -> EvidenceSum:
    """Absolute measures over the turns of a pool, best first; `pool` has their neighbours too."""
    best = turns[:TOP]
    seats = {(turn.session, turn.position): turn for turn in pool}
    found = units(asked, wanted, best, lambda turn: _beside(turn, seats, best))
    top = max(found, key=lambda unit: (unit.share, -unit.turn))
    together = [max(unit.degrees[at] for unit in found) for at in range(len(wanted))]
    gap = (min(unit.gap(wanted) for unit in found) + left_open(wanted, together)) / 2
    lacks = _lacks(asked, wanted, best[top.turn])
    measures = {
        "open": gap,
        "detail": float(bool(_DETAIL.search(asked.text))),
        "lacks": lacks,
        "person": _person(wanted, top),
        "own": _own(asked, wanted, turns[:DEPTH]),
        "reach": UNTOLD * (1 - gap) ** 2 * (1 - lacks),
    }
    missing = [need for need, degree in zip(wanted, together, strict=True) if need.stem and degree < MET]
    missing.sort(key=lambda need: -need.weight)
    return EvidenceSum(measures, tuple(need.word for need in missing))


def _beside(turn: Turn, seats: Mapping[tuple[str, int], Turn], best: Sequence[Turn]) -> list[Turn]:
    """The turns before and after; where a pronoun stands for something, also what was said before it that day."""
    near = [seats[at] for step in (-1, 1) if (at := (turn.session, turn.position + step)) in seats]
    if _STANDS_FOR.isdisjoint(turn.described.words.split()):
        return near
    return near + [one for one in best if one.key < turn.key and _gap(one, turn) < DAY]


def _gap(one: Turn, other: Turn) -> int:
    return abs((one.said_at or 0) - (other.said_at or 0))


def _lacks(asked: Asked, wanted: Sequence[Need], turn: Turn) -> float:
    """1 where a number, a time or a name is asked for and the text has none; ½ for a place, which may have no name."""
    flags, text = turn.described.flags, turn.described.words
    if asked.wants & NUMBER:
        return float(not flags & NUMBER)
    if asked.wants & TIME:
        return float(not flags & (TIME | DATE | CLOCK | NUMBER) and not turn.described.dates)
    if turn.described.names > sum(need.word[:1].isupper() and f" {need.stem} " in text for need in wanted):
        return 0.0
    if _NAMED.search(asked.text):
        return float(" call " not in text and " name " not in text)
    return 0.5 * (bool(_WHERE.search(asked.text)) and _PLACED.isdisjoint(text.split()))


def _person(wanted: Sequence[Need], unit: Unit) -> float:
    return next((degree for need, degree in zip(wanted, unit.degrees, strict=True) if not need.stem), 1.0)


def _own(asked: Asked, wanted: Sequence[Need], turns: Sequence[Turn]) -> float:
    """Between two people who talk: how much better words about the one asked for fit than words about the other.

    What somebody says of themselves counts, what another says to them as "you", and half of all they say.
    """
    if len(asked.people) != 1 or len({turn.speaker for turn in turns if turn.role == "people"}) != 2:
        return 0.0
    about, by = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    total = sum(need.weight for need in wanted if need.stem) or 1.0
    stems = frozenset(need.stem for need in wanted)
    for turn in turns:
        theirs = turn.speaker == asked.people[0]
        for sentence in () if stems.isdisjoint(turn.described.words.split()) else sentences(turn):
            tokens = sentence.split()
            share = sum(need.weight for need in wanted if need.stem in tokens) / total
            by[theirs] = max(by[theirs], share)
            for person, whom in ((ME, theirs), (YOU, not theirs)):
                if share > about[whom] and not person.isdisjoint(tokens):
                    about[whom] = share
    return about[True] - about[False] + (by[True] - by[False]) / 2


def weigh_evidence(measures: Mapping[str, float]) -> float:
    """One probability: how sure we may be that the question can be answered."""
    weights, certain = (READ_CLOSELY, CERTAIN_THEN) if "told" in measures else (EVIDENCE, CERTAIN)
    total = certain + sum(weights.get(name, 0.0) * value for name, value in measures.items())
    return 1 / (1 + math.exp(-total))


class Scored(msgspec.Struct, frozen=True):
    """A turn's place in the order; ``factors`` are weight × value and add up to ``score``."""

    key: int
    score: float
    factors: dict[str, float]


class Judged(msgspec.Struct, frozen=True):
    """Whether there is evidence: a probability, whether it suffices, and what it comes from."""

    sure: float
    enough: bool
    measures: dict[str, float]
    missing: tuple[str, ...] = ()
    """The words of the question that nothing found speaks of, as they were written."""


class Board(msgspec.Struct, frozen=True):
    """A pool with what every feature gives to every turn, and their sums."""

    turns: Sequence[Turn]
    parts: dict[str, Column]
    scores: Column

    def order(self) -> list[int]:
        """Places in ``turns``, best first, ties by key."""
        keys = np.array([turn.key for turn in self.turns])
        return [int(i) for i in np.lexsort((keys, -np.round(self.scores, 9)))]

    def scored(self, at: int) -> Scored:
        """One turn with the factors of its score."""
        factors = {name: float(part[at]) for name, part in self.parts.items() if part[at]}
        return Scored(self.turns[at].key, float(self.scores[at]), factors)


def score(
    asked: Asked,
    turns: Sequence[Turn],
    corpus: Corpus,
    here: Collection[str] = (),
    beside: Mapping[str, Column] | None = None,
) -> Board:
    """Every turn of a pool weighed; what was said in a session at hand counts a little more.

    `beside` are columns that other parts of recall give to the score, weights included.
    """
    if not turns:
        return Board(turns, {}, np.zeros(0))
    parts = {name: WEIGHTS[name] * column for name, column in measure(asked, turns, corpus).items()}
    if here:
        parts["this session"] = THIS_SESSION * np.array([turn.session in here for turn in turns], float)
    parts.update(beside or {})
    return Board(turns, parts, np.asarray(sum(parts.values())))


BEST = 3
"""A topic's evidence is the mean of so many of its best turns."""


def lifted(board: Board, found: Course) -> Board:
    """The board with what topics and summaries give to each turn of a broad question.

    A turn is raised towards the best of its topic (the factor `topic`), and what a summary cites counts a
    little more (`summary`), together with the answer to it.
    """
    if not found.topics and not found.cited:
        return board
    parts = dict(board.parts)
    if found.topics:
        parts["topic"] = TOPIC * _raised(board, found.topics)
    if found.cited:
        parts["summary"] = CITED * _cited(board.turns, found.cited)
    return msgspec.structs.replace(board, parts=parts, scores=np.asarray(sum(parts.values())))


def _raised(board: Board, topics: Mapping[int, Sequence[int]]) -> Column:
    """By how many standard deviations the best of a turn's topic stands above the turn; never below it."""
    place = {turn.key: at for at, turn in enumerate(board.turns)}
    own = standard(board.scores)
    evidence = own.copy()
    for turns in topics.values():
        held = [place[turn] for turn in turns if turn in place]
        if held:
            evidence[held] = np.maximum(evidence[held], np.sort(own[held])[::-1][:BEST].mean())
    return np.asarray(evidence - own)


def _cited(turns: Sequence[Turn], cited: frozenset[int]) -> Column:
    seats = {(turn.session, turn.position) for turn in turns if turn.key in cited}
    return np.array(
        [
            turn.key in cited or (turn.role == "assistant" and (turn.session, turn.position - 1) in seats)
            for turn in turns
        ],
        float,
    )


def judge(
    asked: Asked,
    board: Board,
    corpus: Corpus,
    order: Sequence[int] | None = None,
    close: Collection[CloseReading] = (),
) -> Judged:
    """Whether the best of a pool, in this order, hold evidence, as far as words and a close reading of them tell."""
    wanted = needs(asked, corpus)
    best = [board.turns[at] for at in (board.order() if order is None else order)]
    if not best:
        return Judged(0.0, False, {}, tuple(need.word for need in wanted if need.word))
    found = evidence(asked, wanted, best, board.turns)
    measures = {**found.measures, **_read_closely(close)}
    sure = weigh_evidence(measures)
    return Judged(sure, sure >= THRESHOLD, measures, found.missing)


def _read_closely(close: Collection[CloseReading]) -> dict[str, float]:
    if not close:
        return {}
    return {"told": max(reading.told for reading in close), "near": max(reading.logit for reading in close)}


def settle(verdict: Judged, reach: float | None, answered: bool, detail: bool | None = None) -> Judged:
    """The same, knowing how near a value comes to being the answer; where one is given it is never doubted.

    Whether a detail is asked for is told better by a question that was read than by its surface.
    """
    if not verdict.measures and not answered:
        return verdict
    near = {} if reach is None else {"reach": reach}
    asked = {} if detail is None else {"detail": float(detail)}
    measures = {**verdict.measures, **near, **asked, "answered": float(answered)}
    sure = weigh_evidence(measures)
    sure = max(sure, THRESHOLD) if answered else sure
    return Judged(sure, sure >= THRESHOLD, measures, verdict.missing)


def how_many(asked: Asked) -> int:
    """How many turns to return when the caller did not say: more for lists, orders, summaries."""
    return MANY * 2 if asked.broad else MANY if asked.several else FEW
