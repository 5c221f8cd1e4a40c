"""How well a chain of relations answers the words of a question.

Decides similarity of words and relations (stems, near spellings, meanings when an embedder is
given) and combines it with shape: hops, direction, what is left unanswered.  No graph access.

    Matcher(Likeness(embed)).careful(question, chains) gives one score per chain.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from rapidfuzz.distance import Levenshtein

from worldline.read.question import PlannedQuestion, Word
from worldline.read.synonyms import same_idea
from worldline.reading.claim import LIGHT, stem
from worldline.text import word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from worldline.read.walk import Hop

    Vector = NDArray[np.float32]

Embed = Callable[[Sequence[str]], Any]
Kinds = Callable[[Collection[str]], Mapping[str, Sequence[Collection[str]]]]


class Weights(msgspec.Struct, frozen=True):
    """The score's weights; fitted on questions over synthetic and public facts, then rounded."""

    coverage: float = 1.7
    focus: float = 0.35
    hop: float = -0.13
    inverse: float = -0.85
    link: float = -0.3
    meaning: float = 2.6
    who: float = 0.6
    where: float = 0.7
    dangling: float = -0.7
    bare: float = 0.0
    synonym: float = 0.8


PLACE = word_set("city country continent place town state capital location nation region")
AGENT = re.compile(r"(?:\|by$)|(?:er|or|person|head|officer|author|spouse|chief)\b")


class Likeness:
    """How alike words and relations are: pure, so that it may be kept for all who ask, whoever they are."""

    def __init__(self, embed: Embed | None = None, weights: Weights | None = None) -> None:
        self.embed = embed
        self.weights = weights or Weights()
        self._vectors: dict[str, Vector] = {}
        self._known: dict[tuple[str, str, str], float] = {}

    def vector(self, text: str) -> Vector:
        """The embedding of a text, once."""
        found = self._vectors.get(text)
        if found is None:
            assert self.embed is not None
            found = np.asarray(self.embed([text])[0], np.float32)
            if len(self._vectors) >= KEPT:
                self._vectors.clear()
            self._vectors[text] = found
        return found

    def of(self, word: Word, relation: str, phrase: str) -> float:
        """A word of a question against a relation as it is worded."""
        key = (word.text, relation, phrase)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            found = self._known[key] = self._one(word, relation_stems(relation, phrase), phrase)
        return found

    def _one(self, word: Word, stems: frozenset[str], phrase: str) -> float:
        if word.stem in stems:
            return 1.0
        if any(_typo(word.stem, s) for s in stems):
            return 0.95
        if any(same_idea(word.stem, s) for s in stems):
            return self.weights.synonym
        if any(_inside(word.stem, s) for s in stems):
            return 0.6
        return self._meaning(word, phrase)

    def _meaning(self, word: Word, phrase: str) -> float:
        if self.embed is None:
            return 0.0
        texts = (phrase, *(w for w in phrase.lower().split() if w not in LIGHT and len(w) > 2))
        cosine = max(float(self.vector(word.text) @ self.vector(text)) for text in texts)
        value = 0.9 * min(1.0, max(0.0, (cosine - 0.60) / 0.27))
        return value if value >= 0.15 else 0.0


class Matcher:
    """The relations that one walk has met so far, against the words of its question.

    What is rare is rare among these: nothing that was asked before, or by others, counts.
    """

    def __init__(self, likeness: Likeness) -> None:
        self.likeness, self.weights = likeness, likeness.weights
        self.relations: dict[str, int] = {}
        self.phrases: list[str] = []
        self.kinds: dict[str, dict[str, float]] = {}

    def learn(self, relations: Collection[tuple[str, str]]) -> None:
        """Meet relations for the first time; the longest wording stands for a relation."""
        wordings: dict[str, str] = {}
        for relation, phrase in sorted(relations):
            if relation not in self.relations and len(phrase) >= len(wordings.get(relation, "")):
                wordings[relation] = phrase
        for relation, phrase in wordings.items():
            self.relations[relation] = len(self.phrases)
            self.phrases.append(phrase)

    def learn_kinds(self, called: Kinds) -> None:
        """What the objects of the relations are called: asked once, when all that the walk meets is known."""
        found = called(self.relations) if self.relations else {}
        self.kinds = {relation: _shares(kinds) for relation, kinds in found.items()}

    def table(self, asked: PlannedQuestion) -> Any:
        """words × relations."""
        of = self.likeness.of
        known = [
            (relation, phrase, self.kinds.get(relation, {}))
            for relation, phrase in zip(self.relations, self.phrases, strict=True)
        ]
        rows = [
            [max(of(word, relation, phrase), kinds.get(word.stem, 0.0)) for relation, phrase, kinds in known]
            for word in asked.words
        ]
        return np.array(rows, np.float32).reshape(len(asked.words), len(known))

    def quick(self, asked: PlannedQuestion) -> Callable[[Sequence[Hop], int], Callable[[Hop], float]]:
        """Given a chain, the score of it with one more hop, without the meaning of it as a whole.

        Many are of the same relations, and scored once. It holds until further relations are learned.
        """
        tables = self._tables(asked)
        known: dict[tuple[Any, ...], dict[tuple[str, bool], float]] = {}

        def after(hops: Sequence[Hop], start: int) -> Callable[[Hop], float]:
            begun = start, *((hop.relation, hop.inverse) for hop in hops)
            mine = known.setdefault(begun, {})

            def score(hop: Hop) -> float:
                key = hop.relation, hop.inverse
                found = mine.get(key)
                if found is None:
                    found = mine[key] = self.shape(asked, (*hops, hop), start, tables)
                return found

            return score

        return after

    def _tables(self, asked: PlannedQuestion) -> tuple[Any, Any]:
        table = self.table(asked)
        mass = table.sum(axis=1)
        return table, np.maximum(0.15, np.log((IMAGINED + len(self.phrases)) / (0.5 + mass)))

    def shape(
        self, asked: PlannedQuestion, hops: Sequence[Hop], start: int, tables: tuple[Any, Any]
    ) -> float:
        """Coverage, focus, hops, direction, loose ends, weighed."""
        return float(self.features(asked, hops, start, tables) @ self.vector_of_weights)

    def features(
        self, asked: PlannedQuestion, hops: Sequence[Hop], start: int, tables: tuple[Any, Any]
    ) -> Any:
        """The features that need no embedding of the chain, in the order of `Weights`."""
        table, idf = tables
        inverse = sum(h.inverse for h in hops)
        gap = _gap(asked, start)
        if not asked.words:
            return np.array([0, 0, len(hops), inverse, gap, 0, 0, 0, 0], np.float32)
        sims = table[:, [self.relations[h.relation] for h in hops]]
        best, last = sims.max(axis=1), sims[:, -1]
        total = float(idf.sum())
        parts = _FOCUS[: len(last)]
        who, where = self._asked_kind(asked, hops[-1])
        bare = float((sims.max(axis=0) < 0.3).sum())
        loose = _dangling(asked, last, idf, 1 - best, start) / total
        covered = float((idf * best).sum()) / total
        focus = float((parts * last[:3]).sum() / parts.sum())
        return np.array([covered, focus, len(hops), inverse, gap, who, where, loose, bare], np.float32)

    @cached_property
    def vector_of_weights(self) -> Any:
        w = self.weights
        return np.array(
            [
                w.coverage,
                w.focus,
                w.hop,
                w.inverse,
                w.link,
                w.who,
                w.where,
                w.dangling,
                w.bare,
            ],
            np.float32,
        )

    def _asked_kind(self, asked: PlannedQuestion, last: Hop) -> tuple[bool, bool]:
        opening = asked.text.lower().split()[:3]
        key, _, kind = last.relation.partition("#")
        agent = AGENT.search(key) or AGENT.search(self.phrases[self.relations[last.relation]])
        who = ("who" in opening or "whom" in opening) and bool(agent) and not last.inverse
        where = "where" in opening and (kind in PLACE_STEMS or key.endswith("|in"))
        return who, where

    def careful(self, asked: PlannedQuestion, chains: Sequence[tuple[Sequence[Hop], int]]) -> list[float]:
        """The full score: shape, and what whole chains mean."""
        after = self.quick(asked)
        scores = [after(hops[:-1], start)(hops[-1]) for hops, start in chains]
        if self.likeness.embed is None or not chains:
            return scores
        return self._with_meaning(asked, chains, scores)

    def _with_meaning(
        self, asked: PlannedQuestion, chains: Sequence[tuple[Sequence[Hop], int]], scores: list[float]
    ) -> list[float]:
        described = [self.describe(hops) for hops, _ in chains]
        order = sorted(range(len(chains)), key=lambda i: -scores[i])
        wanted = list(dict.fromkeys(described[i] for i in order))[:RERANK]
        vector = self.likeness.vector
        question = vector(asked.masked)
        meaning = {text: float(question @ vector(text)) for text in wanted}
        floor = min(meaning.values()) - 0.05
        return [
            score + self.weights.meaning * meaning.get(text, floor)
            for score, text in zip(scores, described, strict=True)
        ]

    def describe(self, hops: Sequence[Hop]) -> str:
        """A chain as one nested noun phrase: "the capital of the country of citizenship of X"."""
        text = "X"
        for hop in hops:
            text = nested(self.phrases[self.relations[hop.relation]], text, hop.inverse)
        return text


RERANK = 8
_FOCUS = np.array([1.0, 0.5, 0.33], np.float32)
KIND, KIND_SHARE = 0.75, 0.3
"""What it is worth that objects are called what is asked for, and the share of them below which it is chance."""
IMAGINED = 100
"""A word is rare among the relations of a walk and so many imagined ones: few are met, and they are alike."""
KEPT = 50_000
"""So many similarities are kept; then they begin anew."""
PLACE_STEMS = frozenset(stem(w) for w in PLACE)


def _shares(called: Sequence[Collection[str]]) -> dict[str, float]:
    """What a relation's objects are called, with what that is worth."""
    counted = Counter(kind for kinds in called for kind in set(kinds))
    shares = {kind: count / len(called) for kind, count in counted.items()}
    return {kind: KIND * share for kind, share in shares.items() if share >= KIND_SHARE}


def _typo(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= 5 and Levenshtein.distance(a, b, score_cutoff=1) <= 1


def _inside(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return len(short) >= 4 and short in long


def relation_stems(relation: str, phrase: str) -> frozenset[str]:
    """Stems that a relation answers to: its key's and its type's."""
    key, _, kind = relation.partition("#")
    own = set(key.partition("|")[0].split()) | {kind} - {""}
    return frozenset(own | {stem(w) for w in phrase.lower().split() if w not in LIGHT})


def nested(phrase: str, inner: str, inverse: bool) -> str:
    """One more relation around a noun phrase."""
    words = phrase.split()
    while words and words[0] in ("is", "was", "are", "were", "the", "a", "an"):
        words = words[1:]
    plain = " ".join(words)
    if inverse:
        return f"the one that {phrase} {inner}"
    if plain.endswith((" of", " in", " for", " by", " with", " to")):
        return f"the {plain.rsplit(' ', 1)[0]} of {inner}"
    return f"the {plain} of {inner}"


def _gap(asked: PlannedQuestion, start: int) -> float:
    """How much weaker the chain's mention is than the strongest one."""
    top = asked.mentions[0].weight
    return (top - asked.mentions[start].weight) / max(1.0, math.sqrt(top))


def _dangling(asked: PlannedQuestion, last: Any, idf: Any, loose: Any, start: int) -> float:
    """Unanswered words on the far side of the last hop's word, seen from the mention."""
    best = int(last.argmax())
    if float(last[best]) < 0.3:
        return float((idf * loose).sum()) * 0.5
    place, here = asked.words[best].place, asked.places[start]
    total = 0.0
    for i, word in enumerate(asked.words):
        outside = word.place < place if place < here else word.place > place
        if outside:
            total += float(idf[i] * loose[i])
    return total
