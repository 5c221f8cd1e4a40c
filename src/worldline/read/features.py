"""The features of a candidate turn: how it meets the question, alone and within its session.

It decides what is measured, not what each measure is worth (`score.py`).  A turn inherits
evidence from its neighbours and from the session that contains it.  Few features, and such as mean
the same in every conversation: each was kept because weights fitted on other data sets rank worse
without it (`worldline bench fit`).  Pure: the pool and the corpus counts come from the caller; a lane
that was not searched (no embedder) leaves its features at rest.

>>> from worldline.read.cues import ask
>>> from worldline.rules.describe import describe
>>> pool = [Turn(1, "s", 0, describe("We swam in the lake"))]
>>> measure(ask("Where did they swim?"), pool, Corpus(1, 5.0, {"swim": 1}))["cover"]
array([1.])
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worldline.read.cues import Asked
from worldline.read.meeting import LEAD, Need, met, needs
from worldline.read.turns import DAY, Column, Corpus, Turn
from worldline.rules.describe import ASKS, INSTRUCTS, NAME, NUMBER, OF_ME, OF_YOU, PREFERS, REACTS, TIME

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
    place = {(t.session, t.position): i for i, t in enumerate(turns)}
    before = [place.get((t.session, t.position - 1), -1) for t in turns]
    after = [place.get((t.session, t.position + 1), -1) for t in turns]
    return np.array(before), np.array(after)


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
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(t.session, len(seen)) for t in turns])


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
    found = np.zeros(len(turns))
    for at, turn in enumerate(turns):
        if turn.facts:
            found[at] = met(wanted, turn.facts).sum(axis=1).max()
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
