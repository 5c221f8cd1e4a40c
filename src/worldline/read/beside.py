"""What stands beside the words in the score: worlds, landmarks, topics, and the signals that sleep has left.

Each gives one factor to every turn of a pool, weight included; a factor that no turn has is left out.
What a signal is worth stands in `score.py`; a scorer that somebody registered brings its own weight.
A store that never slept has none of it, and no statement is run for it. How often something was used
is a matter of now: a read as of another moment leaves it out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from worldline.ports import View
from worldline.read.cues import Asked
from worldline.read.features import standard
from worldline.read.lanes import Course
from worldline.read.score import CITED, PROFILE, SIGNALS, TOPIC, WORLD, Board
from worldline.read.turns import Column, Turn
from worldline.rules.describe import TIME, standing
from worldline.store import nights

FEWEST = 10
"""Where the pool has fewer worlds, the nearness of one of them tells its turns from others too little."""
BEST = 3
"""A topic's evidence is the mean of so many of its best turns."""


def landmarks(turns: Sequence[Turn], found: Collection[int] | None) -> dict[str, Column]:
    """What the lane of profiles gives to the turns that it found."""
    if not found or not turns:
        return {}
    return {"profile": PROFILE * np.array([turn.key in found for turn in turns], float)}


def worlds(turns: Sequence[Turn], near: Mapping[int, float]) -> dict[str, Column]:
    """What its world's nearness gives to each turn; nothing where there are few worlds."""
    if len({turn.session for turn in turns if int(turn.session) in near}) < FEWEST:
        return {}
    return {"world": WORLD * _spread(turns, near)}


def _spread(turns: Sequence[Turn], near: Mapping[int, float]) -> Column:
    """Standard scores over the pool; a turn of no composed world stands in the middle."""
    values = np.array([near.get(int(turn.session), np.nan) for turn in turns])
    if np.isnan(values).all():
        return np.zeros(len(turns))
    return standard(np.where(np.isnan(values), np.nanmean(values), values))


def unasked(asked: Asked) -> frozenset[str]:
    """The signals that have nothing to do with a question: landmarks are for when and for people, causes for why."""
    landmark = bool(asked.wants & TIME) and bool(asked.people)
    return frozenset(name for name, wanted in (("landmark", landmark), ("cause", asked.why)) if not wanted)


def signals(
    view: View, turns: Sequence[Turn], scorers: Mapping[str, float], without: Collection[str] = ()
) -> dict[str, Column]:
    """What each signal gives to each turn."""
    weights = {**SIGNALS, **{nights.SCORER + name: weight for name, weight in scorers.items()}}
    place = {turn.key: at for at, turn in enumerate(turns)}
    found: dict[str, Column] = {}
    for one in nights.signals(view, place):
        if (weight := weights.get(one.name, 0.0)) and one.name not in without:
            used = one.strength
            value = one.value if used is None else standing(used, view.valid, view.store.config.decay_rate)
            found.setdefault(one.name, np.zeros(len(turns)))[place[one.node]] = weight * value
    return found


def lift(board: Board, found: Course) -> Board:
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
