"""Questions about what has changed: does the current value's turn stand above the stale one's?

For questions of the kind knowledge-update whose evidence was said at two moments. A few of them ask
for the former value ("initially", "previously"); they are counted apart, because there the older turn
is the right one to show first. `stale_facts` counts the questions for which a fact is shown that rests
on the older turn alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from worldline.bench.datasets import Conversation
from worldline.bench.report import ReportRow

CATEGORY = "knowledge-update"
_FORMER = re.compile(r"\b(?:initial\w*|original\w*|previous\w*|former\w*|at first|used to)\b", re.I)


def knowledge_update(rows: Sequence[ReportRow], talks: Iterable[Conversation]) -> dict[str, Any]:
    """Shares by system, over all such questions and over those that ask for the present."""
    said = {(talk.name, m.id): m.said_at for talk in talks for m in talk.messages}
    asked = [(row, pair) for row in rows if (pair := _pair(row, said)) is not None]
    present = [(row, pair) for row, pair in asked if not _FORMER.search(row.question.text)]
    names = list(rows[0].systems) if rows else []
    return {
        "questions": len(asked),
        "asking_for_the_present": len(present),
        "current_above_stale": {name: _share(asked, name) for name in names},
        "current_above_stale_present": {name: _share(present, name) for name in names},
        "stale_facts": sum(_shows_stale(row, old, new) for row, (old, new) in present),
    }


Pair = tuple[frozenset[str], frozenset[str]]
"""The evidence of the earlier moment, and of the later one."""


def _pair(row: ReportRow, said: Mapping[tuple[str, str], int | None]) -> Pair | None:
    question = row.question
    if question.category != CATEGORY or not question.answerable:
        return None
    moments: dict[int, set[str]] = {}
    for turn in question.gold:
        moments.setdefault(said[row.conversation, turn] or 0, set()).add(turn)
    if len(moments) != 2:
        return None
    return frozenset(moments[min(moments)]), frozenset(moments[max(moments)])


def _share(asked: Sequence[tuple[ReportRow, Pair]], system: str) -> float | None:
    if not asked:
        return None
    above = [_first(row.systems[system].turns, new) < _first(row.systems[system].turns, old)
             for row, (old, new) in asked]  # fmt: skip
    return round(sum(above) / len(above), 4)


def _first(turns: Sequence[str], wanted: frozenset[str]) -> int:
    return next((place for place, turn in enumerate(turns) if turn in wanted), len(turns))


def _shows_stale(row: ReportRow, old: frozenset[str], new: frozenset[str]) -> bool:
    cited = row.systems["worldline"].facts if "worldline" in row.systems else ()
    return any(set(turns) & old and not set(turns) & new for turns in cited)
