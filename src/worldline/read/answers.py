"""One answer to a question, where it is sure: by walking over facts, or the best of many candidates.

A walk answers a question of several hops: it decides which chains of currently valid facts speak to the question's
words (stems, near spellings, meanings when an embedder is given, and the shape of the chain), and how sure the best
one is; the chain is the proof. It reads a small graph protocol. The graph of a view shows nothing that is over,
withdrawn, doubtful, or somebody else's; accepted identities are one entity there. No text is generated.

    walk("Where was the founder of Acme born?", graph) → Porto, by Acme –founded by→ Ana –born in→ Porto

Every candidate (`read/candidates.py`) is weighed by what speaks for it (`read/weighing.py`): the family of
the relation, the share of the question's words that are met, the kind of value, whose it is, how good
the evidence is, whether it still holds. The weights give a probability, shared with "none of these";
below the threshold nothing is answered: a wrong answer costs three right ones.

    "Where does Ana live?" + fact "Ana lives in Rome" → Rome, proved by that fact

How much is covered around a topic is counted two steps around the entities that it names, or around the texts that
match it, where it names none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from rapidfuzz.distance import Levenshtein

from worldline.model import Density, Edge, Node
from worldline.ports import View
from worldline.read.candidates import Item, clause, is_left
from worldline.read.closely import in_its_part, is_sound
from worldline.read.cues import PlannedQuestion, Word, plain, read_question, same_idea
from worldline.read.weighing import (
    FITS,
    Ground,
    Suited,
    is_settled,
    is_yet_to_begin,
    key_of,
    measured,
    nearness,
    slot_of,
)
from worldline.reading.claim import LIGHT, PLAN, stem
from worldline.reading.questions import AHEAD, Question
from worldline.rules.slots import NOT, label
from worldline.store import people, search
from worldline.store.nights import verbatim
from worldline.store.words import any_of
from worldline.text import content_words, fold, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


# Walking ---------------------------------------------------------------------------------------------


MAX_HOPS = 4
BEAM = 150
FAN_IN = 20
FAN_OUT = 60
STARTS = 4
SURE_WITH_MEANING = 2.9  # keeps 99 of 100 right answers of one hop and 86 of several, see the benchmarks
SURE_WITHOUT = 0.65
SLOPE = 0.25


class Step(msgspec.Struct, frozen=True, gc=False):
    """One current fact, as the walk sees it."""

    fact: str  # id
    subject: str  # entity id
    relation: str  # slot name: key and type
    phrase: str  # the predicate as worded
    object: str  # entity id


class Graph(Protocol):
    """What the walk may ask; everything is already limited to what is currently valid."""

    def link(self, names: Collection[str]) -> dict[str, str]:
        """Folded names or aliases that are known → entity id."""

    def around(self, entities: Collection[str], limit: int) -> tuple[Sequence[Step], Sequence[Step]]:
        """Facts about these entities; and facts whose object is one of them, if it has no more than `limit`."""

    def called(self, relations: Collection[str]) -> Mapping[str, Sequence[Collection[str]]]:
        """For each relation, what some of its objects are called, as stems."""

    def name(self, entity: str) -> str:
        """What to call an entity."""


class Hop(msgspec.Struct, frozen=True, gc=False):
    """A step of a chain, walked forwards or (inverse) from object to subject."""

    fact: str
    relation: str
    phrase: str
    source: str
    target: str
    inverse: bool


class Chain(msgspec.Struct, frozen=True):
    """An answer with its proof and its score."""

    answer: str
    name: str
    hops: tuple[Hop, ...]
    score: float


class Answer(msgspec.Struct, frozen=True):
    """The best answers, and how sure the first one is: below .5 it is better to abstain."""

    chains: tuple[Chain, ...]
    confidence: float
    starts: tuple[str, ...] = ()


class _Path(msgspec.Struct, frozen=True, gc=False):
    hops: tuple[Hop, ...]
    seen: frozenset[str]
    start: int  # index into the question's mentions


def walk(question: str, graph: Graph, likeness: Likeness | None = None, limit: int = 10) -> Answer:
    """Ranked answers to a question, each with the chain of facts that leads to it."""
    matcher = Matcher(likeness or Likeness())
    asked = read_question(plain(question), graph.link)
    if not asked.mentions:
        return Answer((), 0.0)
    paths = _search(asked, graph, matcher)
    chains = _rank(asked, paths, graph, matcher)
    names = tuple(m.entity for m in asked.mentions)
    return Answer(tuple(chains[:limit]), _confidence(chains, matcher), names)


def _search(asked: PlannedQuestion, graph: Graph, matcher: Matcher) -> list[_Path]:
    """All chains worth ranking: breadth first, the best `BEAM` of each length go on."""
    named = frozenset(m.entity for m in asked.mentions)
    frontier = [_Path((), frozenset({m.entity}), i) for i, m in enumerate(asked.mentions[:STARTS])]
    found: list[_Path] = []
    denied, ahead = _asks_for_denied(asked.text), bool(AHEAD.search(asked.text))
    apart = tuple(slot for slot, wanted in ((NOT, denied), (PLAN, ahead)) if not wanted)
    for _ in range(MAX_HOPS):
        ends = {_end(asked, path) for path in frontier}
        steps = _steps(ends, graph, apart)
        further = [
            (path, [hop for hop in steps.get(_end(asked, path), ()) if hop.target not in path.seen])
            for path in frontier
        ]
        matcher.learn({(hop.relation, hop.phrase) for _, hops in further for hop in hops})
        after = matcher.quick(asked)
        grown = [
            (-score, path, hop)
            for path, hops in further
            for hop, score in zip(hops, map(after(path.hops, path.start), hops), strict=True)
        ]
        best = nsmallest(BEAM, grown, key=itemgetter(0))
        frontier = [_Path((*path.hops, hop), path.seen | {hop.target}, path.start) for _, path, hop in best]
        found += [p for p in frontier if p.hops[-1].target not in named]
        if not frontier:
            break
    return found


def _end(asked: PlannedQuestion, path: _Path) -> str:
    return path.hops[-1].target if path.hops else asked.mentions[path.start].entity


def _steps(ends: set[str], graph: Graph, apart: tuple[str, ...]) -> dict[str, list[Hop]]:
    """The facts around some entities; not those of slots that begin so: denied, over or planned."""
    steps: dict[str, list[Hop]] = {}
    outgoing, incoming = (
        [s for s in side if not s.relation.startswith(apart)] for side in graph.around(sorted(ends), FAN_IN)
    )
    for s in outgoing:
        mine = steps.setdefault(s.subject, [])
        if len(mine) < FAN_OUT:
            mine.append(Hop(s.fact, s.relation, s.phrase, s.subject, s.object, False))
    for s in incoming:
        hop = Hop(s.fact, s.relation, s.phrase, s.object, s.subject, True)
        steps.setdefault(s.object, []).append(hop)
    return steps


def _rank(asked: PlannedQuestion, paths: list[_Path], graph: Graph, matcher: Matcher) -> list[Chain]:
    """One chain per answer, best first, after the careful score."""
    matcher.learn_kinds(graph.called)
    scores = matcher.careful(asked, [(p.hops, p.start) for p in paths])
    order = sorted(range(len(paths)), key=lambda i: (-scores[i], len(paths[i].hops), i))
    best: dict[str, Chain] = {}
    for i in order:
        target = paths[i].hops[-1].target
        if target not in best:
            best[target] = Chain(target, graph.name(target), paths[i].hops, scores[i])
    return list(best.values())


def _confidence(chains: list[Chain], matcher: Matcher) -> float:
    """The best score on a scale where .5 is the measured operating point."""
    if not chains:
        return 0.0
    middle = SURE_WITH_MEANING if matcher.likeness.embed is not None else SURE_WITHOUT
    return 1 / (1 + math.exp((middle - chains[0].score) / SLOPE))


# The facts of a view ---------------------------------------------------------------------------------


class ViewGraph:
    """The currently valid facts of one view, as the walk asks for them; nothing is looked up twice."""

    def __init__(self, view: View, also: Collection[str] = ()) -> None:
        self._view, self._also = view, also
        """Folded names that will be asked for: they are looked up with the first ones."""
        self._names: dict[str, str] = {}
        self._linked: dict[str, str] = {}
        self._asked: set[str] = set()
        self._stood_at: set[tuple[str, int]] = set()
        """The entities from which steps were looked for: walks come back to people again and again."""
        self._steps: dict[tuple[int, bool, str], list[Step]] = {}
        self.ids: dict[int, str] = {}
        """The ids of the facts that were stepped over."""

    def link(self, names: Collection[str]) -> dict[str, str]:
        """Folded names that are known here → entity."""
        new = {*names, *self._also} - self._asked if set(names) - self._asked else set()
        for one in people.called(self._view, new) if new else ():
            entity = str(one.first)
            self._names.setdefault(entity, one.name)
            self._linked[fold(one.name)] = entity
        self._asked |= new
        return {name: self._linked[name] for name in names if name in self._linked}

    def around(self, entities: Collection[str], limit: int) -> tuple[Sequence[Step], Sequence[Step]]:
        """Facts about these entities, and facts whose object is one of them, if it has no more than `limit`."""
        new = [entity for entity in entities if (entity, limit) not in self._stood_at]
        believed = self._view.bind(quarantined=False)
        for one in people.around(believed, [int(entity) for entity in new], 4 * limit):
            subject, object_ = str(one.subject), str(one.object)
            self._names.setdefault(subject, one.subject_name)
            self._names.setdefault(object_, one.object_name)
            self.ids[one.fact] = one.id
            step = Step(str(one.fact), subject, one.relation, label(one.phrase), object_)
            self._steps.setdefault((limit, one.inverse, object_ if one.inverse else subject), []).append(step)
        self._stood_at.update((entity, limit) for entity in new)
        reached = [self._steps.get((limit, True, entity), []) for entity in entities]
        return (
            [step for entity in entities for step in self._steps.get((limit, False, entity), [])],
            [step for steps in reached if len(steps) <= limit for step in steps],
        )

    def called(self, relations: Collection[str]) -> Mapping[str, Sequence[Collection[str]]]:
        """For each relation, what some of its objects are called, as stems."""
        return people.objects_called(self._view, relations)

    def name(self, entity: str) -> str:
        """What to call an entity."""
        if entity not in self._names:
            self._names[entity] = people.name_of(self._view, int(entity))
        return self._names[entity]


def walk_answer(view: View, question: str, likeness: Likeness, limit: int) -> Answer:
    """What walking over the facts that are believed answers."""
    return with_ids(view, walk(question, ViewGraph(view), likeness, limit))


def with_ids(view: View, answer: Answer) -> Answer:
    """An answer whose entities and facts go by their ids, as everything does outside the store."""
    hops = [hop for chain in answer.chains for hop in chain.hops]
    ends = [end for hop in hops for end in (hop.fact, hop.source, hop.target)]
    rows = {*answer.starts, *(chain.answer for chain in answer.chains), *ends}
    numbers = sorted(int(row) for row in rows)
    ids = dict(zip(map(str, numbers), view.ids(numbers), strict=True))
    return replace(
        answer,
        starts=tuple(ids[row] for row in answer.starts),
        chains=tuple(
            replace(
                chain,
                answer=ids[chain.answer],
                hops=tuple(
                    replace(hop, fact=ids[hop.fact], source=ids[hop.source], target=ids[hop.target])
                    for hop in chain.hops
                ),
            )
            for chain in answer.chains
        ),
    )


# How much there is --------------------------------------------------------------------------------


HOPS = 2
WIDEST = 2_000
"""Beyond so many memories the rest is not walked, and the answer says so."""
_STRUCTURE = frozenset({"Scope", "Session"})


def density(view: View, topic: str) -> Density:
    """Counts within two steps of the topic."""
    starts = _starts(view, topic)
    lines, edges, cut = _around(view, starts)
    nodes = [node for node in view.visible(lines) if node.type not in _STRUCTURE]
    kept = {node.line for node in nodes}
    inner = [edge for edge in edges if {edge.src_line, edge.dst_line} <= kept]
    sources = {node.line for node in nodes if node.type == "Turn"}
    return Density(
        topic,
        tuple(node for node in nodes if node.line in starts),
        len(nodes),
        sum(1 for node in nodes if node.type == "Fact"),
        len(sources),
        round(len(inner) / len(nodes), 3) if nodes else 0.0,
        max((_date(node) for node in nodes), default=None),
        sum(1 for edge in inner if edge.type == "contradicts" and "about" not in edge.metadata),
        cut,
    )


def _date(node: Node) -> int:
    return node.valid.start if node.type != "Entity" else node.known.start


def _starts(view: View, topic: str) -> set[int]:
    """The entities that the topic names, else the texts that hold its words."""
    mentions = read_question(topic, ViewGraph(view).link).mentions
    if mentions:
        return set(view.same_as(*(int(mention.entity) for mention in mentions)))
    tokens = list(dict.fromkeys(content_words(topic)))
    if not tokens:
        return set()
    found = search.search_words(view, any_of(tokens), search.ground(view).owners, 20)
    return {told.node.line for told in verbatim(view, found).values()}


def _around(view: View, starts: Collection[int]) -> tuple[list[int], list[Edge], bool]:
    """(lineages within two steps, the edges seen on the way, whether some were left out)."""
    seen, frontier, edges = dict.fromkeys(starts), list(starts), dict[int, Edge]()
    for _ in range(HOPS):
        found = [*view.edges(frontier, None, "out"), *view.edges(frontier, None, "in")]
        found = [edge for edge in found if edge.type != "contains"]
        edges.update((edge.key if edge.type != "fact" else -edge.key, edge) for edge in found)
        reached = dict.fromkeys(line for edge in found for line in (edge.src_line, edge.dst_line))
        frontier = [line for line in reached if line not in seen][: WIDEST - len(seen)]
        seen.update(dict.fromkeys(frontier))
    return list(seen), list(edges.values()), len(seen) >= WIDEST


# One answer, where it is sure ------------------------------------------------------------------------


SURE = 0.65
"""Of four answers at least three have to be right, in small memories and in long ones."""
SURE_OF_PAST = 0.45
"""Enough for a date or a number of what happened; chosen on development text, where four of five were right."""
SURE_OF_LISTS = 0.3
"""The values of a list share the probability."""
MOST = 6
"""Values of a list."""
WEIGHTS: Mapping[str, float] = {
    "bias": -2.34, "covered": 0.71, "fits": 2.86, "named": -0.81, "rank": 1.86, "fact": -1.59, "noun": 0.51,
    "newest": 0.62, "near": 0.54, "long": -1.02, "missing": -0.45, "asks": -1.13, "family_about": 0.9,
    "behind": -0.68, "alone": 0.57, "gap": 0.27, "of_name": -0.26, "of_thing": -0.78, "of_number": 0.46,
    "crowd": -2.31, "to_machine": 0.34, "full": 0.02, "overtaken": -1.0, "only_one": 0.95,
    "family_full": 0.49,
}  # fmt: skip
"""Fitted on questions over small memories, little histories and long talks; logits beside "none of these"."""


class Reply(Struct, frozen=True):
    """An answer and what it rests on."""

    text: str
    probability: float
    items: tuple[Item, ...]


def reply(ground: Ground, items: Sequence[Item], able: Suited) -> Reply | None:
    """The answer, if one of the suited candidates is sure."""
    asked = ground.question
    if asked.wants not in FITS:
        return None
    things = _called(asked, items)
    if len({fold(item.other) for item in things}) > 1:
        return None  # two budgets are known: which one is meant?
    ranked = weighed(ground, items, in_its_part(ground, able))
    if not ranked:
        return None
    best = ranked[0]
    if asked.many:
        return _listed(best, ranked) if best.probability >= SURE_OF_LISTS else None
    if best.probability >= (SURE_OF_PAST if is_settled(asked) else SURE):
        told = [item for item in best.items if not _is_denied(asked, item)]
        wrong = _is_left_over(ground, items, told) or _is_farther(asked, items, best)
        wrong = wrong or _is_another(asked.pick, best, ranked)
        sound = not wrong and any(is_sound(ground, item) for item in told)
        return replace(best, text=bare_count(asked, best.text)) if sound else None
    values = {key_of(item.value) for item in things}
    return Reply(things[0].value, SURE, tuple(things)) if len(values) == 1 else None


def bare_count(asked: Question, text: str) -> str:
    """A number without the word that the question has already: "three kids" of how many kids."""
    number, _, counted = text.partition(" ")
    return number if asked.wants == "count" and counted.islower() and " " not in counted else text


_DENYING = re.compile(
    r"n't\b|\b(?:not|never|no longer|used to|would|if|wish\w*|considered|quit|almost|former|hates?|hated|against)\b|"
    r"\w'd (?:love|like|rather|prefer|be|have)\b|\bex-|\b(?:dream\w*|thought|think\w*) (?:of|about)\b", re.I,
)  # fmt: skip
_FORMER = re.compile(
    r"\b(?:did|was|were|had|used|before|ever|once|old|previous\w*|formerly|last|first)\b", re.I
)


def _asks_for_denied(question: str) -> bool:
    return bool(_DENYING.search(question) or _FORMER.search(question))


def _is_denied(asked: Question, item: Item) -> bool:
    """Whether a value is named only to be denied, wished for or over: "I don't work at Shell any more"."""
    if asked.mode != "now" or _asks_for_denied(asked.text):
        return False
    said = item.phrase if item.fact else clause(item).partition(item.value)[0]
    ahead = bool(item.fact) and bool(AHEAD.match(said)) and not asked.ahead
    return ahead or bool(_DENYING.search(said))


NEARER = 0.1
"""So much nearer to the words of the question another value of the sentence may not stand."""


def _is_farther(asked: Question, items: Sequence[Item], best: Reply) -> bool:
    """Whether "150 kronor, pupils 60" holds a value that stands nearer to the pupils who are asked about."""
    told = best.items[0]
    if any(item.fact for item in best.items):
        return False
    beside = [i for i in items if i.turn == told.turn and i.sentence == told.sentence and not i.fact]
    end = told.at + len(told.value)
    rivals = [i for i in beside if not (i.at < end and told.at < i.at + len(i.value)) and not is_left(i)]
    near = nearness(asked, told) + NEARER
    return any(i.kind in FITS[asked.wants] and nearness(asked, i) > near for i in rivals)


def _is_another(pick: str, best: Reply, ranked: Sequence[Reply]) -> bool:
    """Whether the first or the latest is asked for, and another value of this kind was said earlier or later."""
    told = best.items[0]
    said = [r.items[0].said_at for r in ranked if r.items[0].kind == told.kind]
    return told.said_at != {"first": min(said), "last": max(said)}.get(pick, told.said_at)


def _is_left_over(ground: Ground, items: Sequence[Item], told: Sequence[Item]) -> bool:
    """Whether the best value is only another word of a sentence whose own value for this is over.

    Ana no longer lives in Rome: "I live in Rome, and my sister works at Siemens" does not make it Siemens.
    """
    families = {one.family.name for one in ground.question.asks}
    meant = ground.about.meant
    about = [i for i in items if i.fact and i.role == "O" and i.family in families and fold(i.other) in meant]
    over = {i.turn for i in about if i.state in ("over", "withdrawn") or is_yet_to_begin(ground.question, i)}
    over -= set(ground.changes)
    held = any(item.state == "holds" for item in about)
    said = all(not item.fact and item.turn in over for item in told)
    return ground.question.mode == "now" and said and not held


def _called(asked: Question, items: Sequence[Item]) -> list[Item]:
    """What is believed of things that a bare noun may mean: "the budget" of the quarterly budget.

    None where the question says more, or something goes by that very name.
    """
    bare = asked.noun and asked.words == (stem(asked.noun),) and asked.mode == "now"
    if not bare or asked.names or asked.whose or asked.mine or asked.many or asked.pick:
        return []
    found = [
        item
        for item in items
        if item.fact and item.role == "O" and item.state == "holds" and item.phrase in ("is", "are")
        and item.kind in FITS[asked.wants] and stem(fold(item.other).rpartition(" ")[2]) == asked.words[0]
    ]  # fmt: skip
    return found if all(" " in item.other for item in found) else []


def _listed(best: Reply, ranked: Sequence[Reply]) -> Reply | None:
    """All that the same slot holds, where a list is asked for; a single value of it is no list."""
    first = best.items[0]
    mates = [r for r in ranked if first.fact and slot_of(r.items[0]) == slot_of(first)]
    if not 2 <= len(mates) <= MOST:
        return None
    return Reply("; ".join(m.text for m in mates), best.probability, tuple(m.items[0] for m in mates))


def weighed(ground: Ground, items: Sequence[Item], able: Suited) -> list[Reply]:
    """The values by how likely each is the answer, one reply a value: they share one with "none of these"."""
    groups: dict[str, list[tuple[float, Item]]] = {}
    for item, features in measured(ground, items, able):
        score = sum(WEIGHTS[name] * value for name, value in features.items())
        groups.setdefault(key_of(item.value), []).append((score, item))
    for group in groups.values():
        group.sort(key=lambda g: -g[0])
    apart: dict[str, list[tuple[float, Item]]] = {}
    for key, group in sorted(groups.items(), key=lambda g: -g[1][0][0]):
        if not any(_is_within(key, other) and _meet(group, apart[other]) for other in apart):
            apart[key] = group  # "100 mg of sertraline", "100 mg" and "100" of one sentence are one answer
    whole = 1.0 + sum(math.exp(group[0][0]) for group in apart.values())
    return [
        Reply(_told(group), math.exp(group[0][0]) / whole, tuple(item for _, item in group))
        for group in apart.values()
    ]


def _is_within(key: str, other: str) -> bool:
    return f" {key} " in f" {other} " or f" {other} " in f" {key} "


def _meet(group: Sequence[tuple[float, Item]], other: Sequence[tuple[float, Item]]) -> bool:
    """Whether two values are said by one turn."""
    return not {item.turn for _, item in group}.isdisjoint(item.turn for _, item in other)


def _told(group: Sequence[tuple[float, Item]]) -> str:
    """A value as a fact has it, where one does: "The Beatles" rather than "Beatles"."""
    return next((item.value for _, item in group if item.fact and item.role != "T"), group[0][1].value)
