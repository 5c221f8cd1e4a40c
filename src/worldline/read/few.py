"""How many of the hits stand out, so that a short memory does not print itself for every question.

It decides by the scores alone: what lies far behind the best is context, not an answer. A clear answer
brings one to three hits; a question for several things, or one whose evidence lies close together,
brings them all.

>>> few([8.4, 4.7, 1.4, -1.4], answered=True), few([8.5, 1.4, 0.3], several=True)
(1, 1)
>>> few([4.2, 10.5, 4.0])  # what holds now was put before what it replaced
2
>>> few([7.1, 5.8, 5.5, 5.2, 0.2]), few([]), few([3.0, 2.9, 2.8, 2.7, 2.6], doubted=True)
(4, 0, 3)
"""

from __future__ import annotations

from collections.abc import Sequence

BEHIND = 5.0
"""So far behind the best a hit still counts: of the questions that ten hits answer, all but one or two in a hundred
keep their evidence, with a quarter fewer hits; in a small memory one or two are left of six."""
CLEARLY = 2.5
MOST = 3
"""So many at most where the answer is known, or where it is doubted that there is one."""


def few(
    scores: Sequence[float], *, answered: bool = False, several: bool = False, doubted: bool = False
) -> int:
    """How many of the hits, best first, are worth a look."""
    if not scores:
        return 0
    margin = CLEARLY if answered and not several else BEHIND
    near = 1 + max(at for at, score in enumerate(scores) if score >= max(scores) - margin)
    return min(near, MOST) if (answered or doubted) and not several else near
