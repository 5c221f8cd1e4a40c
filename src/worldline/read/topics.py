"""The topics lane: a broad question is about a course of things, so evidence speaks for the rest of its topic.

Sleep has gathered stretches of talk into topics and written summaries that cite turns. For a question
that asks for a summary or an order, the topics of what was found bring their other turns into the pool;
a turn is raised towards the best of its topic (the factor `topic`), and what a summary cites counts a
little more (`summary`), together with the answer to it. Any other question is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from worldline.read.features import Column, Turn, standard
from worldline.read.score import Board
from worldline.read.weights import CITED, TOPIC
from worldline.store import search
from worldline.store.view import SqlView

TOPICS, ROOM = 24, 400
"""So many topics are looked at, and so many turns of theirs."""
BEST = 3
"""A topic's evidence is the mean of so many of its best turns."""


class Course(Struct, frozen=True):
    """The topics that the pool has part in, and what summaries cite of it."""

    topics: Mapping[int, Sequence[int]] = {}
    """The turns of each topic, by lineage."""
    cited: frozenset[int] = frozenset()

    @property
    def turns(self) -> list[int]:
        """All turns of these topics, those of the best topic first."""
        return list(dict.fromkeys(turn for turns in self.topics.values() for turn in turns))


def course(view: SqlView, nodes: Sequence[int]) -> Course:
    """The topics of these turns, given best first, with all that belongs to them."""
    topics: dict[int, list[int]] = {}
    cited: set[int] = set()
    for topic, node in search.in_topics(view, nodes, TOPICS, ROOM):
        if topic:
            topics.setdefault(topic, []).append(node)
        else:
            cited.add(node)
    return Course(topics, frozenset(cited))


def lift(board: Board, found: Course) -> Board:
    """The board with what topics and summaries give to each turn."""
    if not found.topics and not found.cited:
        return board
    parts = dict(board.parts)
    if found.topics:
        parts["topic"] = TOPIC * _raised(board, found.topics)
    if found.cited:
        parts["summary"] = CITED * _cited(board.turns, found.cited)
    return replace(board, parts=parts, scores=np.asarray(sum(parts.values())))


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
