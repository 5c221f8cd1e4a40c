"""System 2: answer a question of several hops by walking currently valid facts from what it names.

Decides which entities a question names, which chains of facts speak to its words, and how sure the
best chain is; the chain is the proof.  It reads a small graph protocol, so it cannot see what is
superseded unless the graph shows it.  It generates no text.

    walk("Where was the founder of Acme born?", graph) → Porto, by Acme –founded by→ Ana –born in→ Porto
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from operator import itemgetter
from typing import Protocol

import msgspec

from worldline.read.question import PlannedQuestion, read_question
from worldline.read.relation_match import Likeness, Matcher
from worldline.read.synonyms import plain

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
    for _ in range(MAX_HOPS):
        ends = {_end(asked, path) for path in frontier}
        steps = _steps(ends, graph)
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


def _steps(ends: set[str], graph: Graph) -> dict[str, list[Hop]]:
    steps: dict[str, list[Hop]] = {}
    outgoing, incoming = graph.around(sorted(ends), FAN_IN)
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
