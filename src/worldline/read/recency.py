"""The present first: of two turns that meet a question about now equally well, the newer one leads.

It decides which questions ask how things are, and which turns are versions of one statement: said
by the same person in different sessions, holding the same part of the question and the same kind of
value. It only changes the order among the best; nothing enters or leaves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldline.read.cues import Asked
from worldline.read.score import Board

DEPTH = 10
LEADERS = 3
"""Only before so many of the best may a newer turn be put."""
GAP = 2.0
"""How much lower the newer one's score may be."""
ALIKE = 0.7
"""The share of what the older turn holds of the question that the newer one must hold too."""
MEETS = 0.6
"""The share of the question that the older turn must hold."""

_ABOUT_ME = re.compile(r"\b(?:I|my|me|mine|we|our)\b")
_NOW = re.compile(
    r"\b(?:now|current\w*|still|latest|most recent\w*|these days|nowadays|so far|lately|today)\b"
    r"|^\s*how (?:many|much|often|long|far|old)\b.*\b(?:have|has|do|does|can|am|is|are)\b"
    r"|^\s*(?:where|what|which|who)\b.*\b(?:do|does|is|are|am)\b|^\s*(?:do|does|am|is|are)\b",
    re.I,
)
_THEN = re.compile(
    r"\b(?:initial\w*|original\w*|previous\w*|former\w*|before|at first|used to|earlier)\b", re.I
)


def asks_for_now(asked: Asked) -> bool:
    """Whether a question of the speaker about themselves asks how things are, not how they were."""
    if asked.broad or asked.advice or asked.to_assistant or _THEN.search(asked.text):
        return False
    return bool(_ABOUT_ME.search(asked.text) and _NOW.search(asked.text))


def newer_first(asked: Asked, board: Board, order: Sequence[int]) -> list[int]:
    """The order with each newer version of a leading turn right before it."""
    ordered = list(order)
    if not asks_for_now(asked):
        return ordered
    for place in range(min(LEADERS, len(ordered))):
        for other in range(place + 1, min(DEPTH, len(ordered))):
            if _is_newer_version(asked, board, ordered[place], ordered[other]):
                ordered.insert(place, ordered.pop(other))
                break
    return ordered


def _is_newer_version(asked: Asked, board: Board, old: int, new: int) -> bool:
    a, b = board.turns[old], board.turns[new]
    if a.said_at is None or b.said_at is None or b.said_at <= a.said_at or a.session == b.session:
        return False
    if "assistant" in (a.role, b.role) or a.speaker != b.speaker:
        return False
    if asked.wants and not (a.described.flags & asked.wants and b.described.flags & asked.wants):
        return False
    if board.scores[old] - board.scores[new] > GAP:
        return False
    idf, counts = board.found.idf.ravel(), board.found.counts
    held, shared = idf @ (counts[:, old] > 0), idf @ ((counts[:, old] > 0) & (counts[:, new] > 0))
    return bool(held >= MEETS * idf.sum() and shared >= ALIKE * held)
