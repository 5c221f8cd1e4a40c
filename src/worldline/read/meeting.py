"""How far a text meets what a question needs: word by word, whatever the size of the store.

A need is a word of the question that evidence has to speak of, or the person it is about. Words
that only ask ("how many", "what kind", "name of", "these days") are none. A need is met by the same
stem, by a slip of one letter, by a word of the same family, idea or kind, and more weakly by the
sentences and turns around. No count of the pool enters, so a store of six texts and one of
sixty thousand are judged alike. Pure.

>>> from worldline.read.cues import ask
>>> [(need.word, need.weight) for need in needs(ask("What kind of tortoise do I have?"))]
[('tortoise', 1.0), ('', 0.6)]
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache

import msgspec
import numpy as np

from worldline.read.cues import Asked
from worldline.read.kindred import derived, idioms, meeting
from worldline.read.turns import Column, Corpus, Turn
from worldline.rules.describe import OF_ME, OF_YOU
from worldline.rules.kinds import ALIKE
from worldline.text import stop
from worldline.text import tokens as words

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
    r"for a living|in the end|at all|in total|(?:19|20)\d\d|"
    r"(?:the |a )?(?:names?|kinds?|types?|sorts?|number|amount) of|how (?:many|much|old|long|far|often|tall|big))\b",
    re.I,
)
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
    own = {token for name in asked.people for token in words(name)}
    said = [(stem, word) for word in _WRITTEN.findall(text) for stem in words(word)]
    found: dict[str, str] = {}
    figures: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    at = 0
    for begin, end, plain in [*idioms([stem for stem, _ in said]), (len(said), len(said), ())]:
        for stem, word in said[at:begin]:
            if stem not in stop() and stem not in _nothing() and stem not in own and not _asks_badly(word):
                found.setdefault(stem, re.sub(r"['’]s?$", "", word))
        if plain and plain[0] not in found:
            found[plain[0]] = " ".join(dict.fromkeys(word for _, word in said[begin:end]))
            figures[plain[0]] = plain[1:], tuple(stem for stem, _ in said[begin:end] if stem not in stop())
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
    stem = words(found[1])[0] if found else ""
    told = [word for s, word in written.items() if s != stem and s not in _little() and word[0].islower()]
    if found and _COPULA.match(found[2]):
        told = [word for word in told if word.endswith(("ing", "ed", "en"))]
    return stem if told else ""


@cache
def _nothing() -> frozenset[str]:
    return frozenset(words(_NOTHING))


@cache
def _little() -> frozenset[str]:
    return frozenset(words(_SAYS_LITTLE))


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
    for line, tokens in zip(found, said, strict=True):
        for stem in known.intersection(tokens):
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
    named = any(f" {token} " in turn.described.words for name in asked.people for token in words(name)[:1])
    return 1.0 if named else 0.5 if flags & OF_YOU else 0.0
