"""The second reading: the best candidates once more, by whatever reranker the user has set.

It decides how many are read again and that the rest keeps its order behind them. A reranker that
fails changes nothing: the first order was good enough to begin with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from worldline.errors import WorldlineError
from worldline.model import Hit

if TYPE_CHECKING:
    from worldline.ports import Reranker

CANDIDATES = 25


def rerank(question: str, hits: Sequence[Hit], reranker: Reranker) -> tuple[Hit, ...]:
    """The hits in their new order; each says where the reranker put it."""
    first, rest = hits[:CANDIDATES], hits[CANDIDATES:]
    if not first:
        return tuple(hits)
    try:
        scores = reranker.rerank(question, [_read(hit) for hit in first])
    except WorldlineError:
        return tuple(hits)
    order = sorted(range(len(first)), key=lambda at: (-float(scores[at]), at))
    placed = [replace(first[at], lanes={**first[at].lanes, "reranker": n}) for n, at in enumerate(order, 1)]
    return (*placed, *rest)


def _read(hit: Hit) -> str:
    who = f"{hit.speaker}: " if hit.speaker else f"{hit.node.name}: " if hit.node.name else ""
    return who + hit.node.content
