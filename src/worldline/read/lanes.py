"""The lanes: each one looks for candidates its own way, inside one view.

A lane returns nodes, best first, and only such as the view may see; it does not weigh them against
another lane's, and returns None where a question is not for it. Words come from their index, vectors from
the in-memory index, profiles and worlds from what sleep keeps. All obey time, scope and world, because
every id passes through the view before it leaves the lane. What sleep keeps is of today, so a look at
another moment does without it: its answer is the same whatever the nights since have made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from worldline.ports import Vectors, View
from worldline.read.cues import Asked
from worldline.rules.kinds import STANDING
from worldline.store import people, search
from worldline.store.search import SearchGround
from worldline.store.words import All, Either, Match, any_of
from worldline.text import words as tokens_of

if TYPE_CHECKING:
    from worldline.store.held import Floats

DEPTH, INSTRUCTIONS, LANDMARKS = 100, 30, 20
_MANY, _FEW = 200_000, 1_500
"""Above so many matching texts, common terms only count together with another one."""
_BESIDE = 3
_MORE = 10
"""Of so many more finds than are wanted it is asked at first whether they may be seen."""
WORLDS, EACH = 8, 10
"""So many of the nearest worlds are looked into, and so many texts of each are brought."""
_ROOM = 1000
"""So many texts are looked at for that."""
_DEEPER = 8
"""So many times as many worlds, where only those inside one world count."""
TOPICS, TURNS = 24, 400
"""So many topics are looked at, and so many turns of theirs."""


class Semantic(Struct, frozen=True):
    """The question as a vector, who made it, and the index to look it up in."""

    query: Floats
    identity: str
    index: Vectors


class Look(Struct, frozen=True):
    """What every lane is given."""

    view: View
    asked: Asked
    ground: SearchGround
    frequency: Mapping[str, int]
    semantic: Semantic | None
    near: Mapping[int, float]
    """How near each world is to the question, where sleep has composed them."""


# Words -----------------------------------------------------------------------------------------------


def words(
    view: View, asked: Asked, ground: SearchGround, frequency: Mapping[str, int], depth: int | None = DEPTH
) -> list[int]:
    """Nodes that hold the question's words, or are of the kinds it asks for, by BM25."""
    terms, kinds = asked.terms, [tag for tags in asked.kinds for tag in tags]
    if not terms:
        return []
    reach = {token: int(frequency.get(token, 0) * ground.share) for token in (*terms, *kinds)}
    if depth is not None and sum(reach.values()) > _MANY:
        found = search.search_words(view, _narrow(terms, reach), ground.owners, depth)
        if len(found) >= depth:
            return found
        kinds = []
    return search.search_words(view, any_of(terms, kinds), ground.owners, depth)


def _narrow(terms: Sequence[str], reach: dict[str, int]) -> Match:
    """Texts with a rare term, or with one of the two next ones beside another of the rarest."""
    ordered, room = sorted(terms, key=lambda term: (reach[term], term)), _FEW
    rare: list[str] = []
    for term in ordered:
        room -= reach[term]
        if room < 0:
            break
        rare.append(term)
    parts: list[Match] = list(rare)
    for term in ordered[len(rare) : len(rare) + 2]:
        others = [other for other in ordered if other != term][:_BESIDE]
        parts.append(All((term, any_of(others))) if others else term)
    return Either(tuple(parts))


def standing(view: View, ground: SearchGround) -> list[int]:
    """The texts in which somebody said what is to hold from then on."""
    return search.search_words(view, any_of((), [STANDING]), ground.owners, INSTRUCTIONS)


# Meaning ---------------------------------------------------------------------------------------------


def vectors(
    view: View, index: Vectors, query: Floats, ground: SearchGround, depth: int | None = DEPTH
) -> dict[int, float]:
    """Nodes near the question in meaning, with their cosines, nearest first."""
    scopes = ground.scopes if view.owned else None
    inside = search.nodes_inside(view) if view.world else None
    reach = depth + depth // 2 if depth else 1 << 30
    while True:
        near = index.search(view, query, reach, ground.newest, scopes=scopes, nodes=inside)
        kept = _seen_first(view, near, depth)
        if depth is None or len(kept) >= depth or len(near) < reach:
            return dict(list(kept.items())[:depth])
        reach *= 4


def _seen_first(view: View, near: Sequence[tuple[int, float]], depth: int | None) -> dict[int, float]:
    """The nearest that may be seen, at least so many: most may, so that few more are asked about."""
    step, kept = len(near) if depth is None else depth + _MORE, dict[int, float]()
    for start in range(0, len(near), max(step, 1)):
        some = near[start : start + step]
        seen = search.seen_among(view, [node for node, _ in some])
        kept |= {node: cosine for node, cosine in some if node in seen}
        if depth is not None and len(kept) >= depth:
            break
    return kept


def nearness(view: View, semantic: Semantic | None, ground: SearchGround) -> dict[int, float]:
    """The cosine of every world; nothing where none was composed, or where another moment is looked at."""
    if semantic is None or not ground.worlds or view.whole:
        return {}
    scopes = ground.scopes if view.owned else None
    found: dict[int, float] = semantic.index.worlds.cosines(view, semantic.query, ground.worlds, scopes)
    return found


def _by_worlds(look: Look) -> list[int] | None:
    """The best texts of the sessions, topics and projects nearest to the question, best first."""
    if look.semantic is None or not look.near:
        return None
    view, near = look.view, look.near
    if view.owned:
        view = view.bind(only=look.ground.scopes)  # the same scope sets, without looking for them again
    reach = WORLDS * (_DEEPER if view.world else 1)
    best = sorted(near, key=lambda world: (-near[world], world))[:reach]
    inside = search.inside_worlds(view, best, _ROOM)
    cosines = look.semantic.index.cosines(view, look.semantic.query, [node for _, node in inside])
    ordered = sorted(
        ((near[world] + cosines[node], node, world) for world, node in inside if node in cosines),
        key=lambda one: (-one[0], one[1]),
    )
    taken: dict[int, int] = {}
    found: list[int] = []
    for _, node, world in ordered:
        taken[world] = taken.get(world, 0) + 1
        if taken[world] <= EACH:
            found.append(node)
    return list(dict.fromkeys(found))


# People ----------------------------------------------------------------------------------------------

_ASKED = {
    "job": "job work career hire promote retire company business store shop startup fire quit internship position "
    "role employ employer promotion occupation profession",
    "move": "move relocate live home apartment emigrate hometown",
    "health": "ill sick injury injure hurt hospital surgery diagnose disease health recover break ankle leg doctor",
    "birth": "baby birth born pregnant child parent mother father adopt adoption son daughter twin kid",
    "marriage": "marry wedding engage engagement divorce propose date boyfriend girlfriend husband wife partner",
    "graduation": "graduate graduation degree college university school exam study certificate diploma license",
    "loss": "die death lose funeral pass grief mourn",
    "mishap": "accident crash rob arrest incident",
    "achievement": "win award prize medal tournament race marathon record publish novel competition achieve trophy",
    "identity": "gay lesbian transgender transition citizen baptize convert identity religion",
    "purchase": "buy purchase car house sell vehicle truck",
    "pet": "pet dog cat puppy kitten animal adopt",
    "travel": "travel trip visit vacation country fly tour abroad road holiday hike camp city",
    "beginning": "start join begin class club group hobby sign launch found blog course create organization community",
    "event": "attend event party concert festival conference parade wedding host show competition tournament perform "
    "celebrate exhibit workshop retreat fundraiser race gig",
}


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """Token of a question → the kinds of landmarks it may be about."""
    found: dict[str, set[str]] = {}
    for kind, text in _ASKED.items():
        for token in tokens_of(text):
            found.setdefault(token, set()).add(kind)
    return {token: frozenset(kinds) for token, kinds in found.items()}


def asked_for(terms: Sequence[str]) -> frozenset[str]:
    """The kinds of landmarks that the terms of a question speak of."""
    return frozenset(kind for term in terms for kind in _kinds().get(term, ()))


def _by_profiles(look: Look) -> list[int] | None:
    """Turns that tell a landmark of the kind asked for, of the people asked about, weightiest first."""
    asked = look.asked
    if not asked.people or not look.ground.profiles or look.view.cold:
        return None
    kinds = asked_for(asked.terms)
    return people.landmarks_of(look.view, asked.people, kinds, 2 * LANDMARKS)[:LANDMARKS] if kinds else []


def _by_words(look: Look) -> list[int]:
    return words(look.view, look.asked, look.ground, look.frequency)


def _by_vectors(look: Look) -> list[int] | None:
    meant = look.semantic
    return None if meant is None else list(vectors(look.view, meant.index, meant.query, look.ground))


def _by_standing(look: Look) -> list[int] | None:
    return standing(look.view, look.ground) if look.asked.advice else None


LANES: Mapping[str, Callable[[Look], list[int] | None]] = {
    "words": _by_words,
    "vectors": _by_vectors,
    "standing": _by_standing,
    "worlds": _by_worlds,
    "profile": _by_profiles,
}


# Topics ----------------------------------------------------------------------------------------------


class Course(Struct, frozen=True):
    """The topics that the pool has part in, and what summaries cite of it."""

    topics: Mapping[int, Sequence[int]] = {}
    """The turns of each topic, by lineage."""
    cited: frozenset[int] = frozenset()

    @property
    def turns(self) -> list[int]:
        """All turns of these topics, those of the best topic first."""
        return list(dict.fromkeys(turn for turns in self.topics.values() for turn in turns))


def course(view: View, nodes: Sequence[int]) -> Course:
    """The topics of these turns, given best first, with all that belongs to them.

    A broad question is about a course of things: the topics of what was found bring their other turns.
    """
    topics: dict[int, list[int]] = {}
    cited: set[int] = set()
    for topic, node in search.in_topics(view, nodes, TOPICS, TURNS):
        if topic:
            topics.setdefault(topic, []).append(node)
        else:
            cited.add(node)
    return Course(topics, frozenset(cited))
