"""Fitting an answer into a budget of tokens that counts the whole payload, not only the evidence.

The best items come first and stay longest; the first one that does not fit is cut to its
beginning, where that leaves something worth reading.

>>> fitted(["a" * 40, "b" * 40], lambda chosen: "".join(chosen), lambda text, size: text[:size], 15)
('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson

from worldline.errors import InvalidInput
from worldline.text import estimate_tokens

T = TypeVar("T")
Payload = TypeVar("Payload")
_SHORTEST = 80
"""Fewer characters of a text than this are not worth showing."""


def size(payload: Any) -> int:
    """The estimated tokens of a payload as it goes over the wire."""
    text = payload if isinstance(payload, str) else orjson.dumps(payload).decode()
    return estimate_tokens(text)


def trimmed(lines: Sequence[str], budget: int) -> list[str]:
    """As many of the first lines as fit."""
    kept = list(lines)
    while kept and size(kept) > budget:
        kept.pop()
    return kept


def fitted(
    items: Sequence[T],
    build: Callable[[Sequence[T]], Payload],
    cut: Callable[[T, int], T],
    budget: int,
) -> tuple[Payload, int]:
    """The largest payload within the budget, and how many items are in it."""
    count = len(items)
    while count and size(build(items[:count])) > budget:
        count -= 1
    whole = build(items[:count])
    if (needed := size(whole)) > budget:
        raise InvalidInput(f"max_tokens is too small: even an empty answer takes {needed}, not {budget}")
    if count == len(items):
        return whole, count
    room = 4 * (budget - needed)
    while room >= _SHORTEST:
        longer = build([*items[:count], cut(items[count], room)])
        if size(longer) <= budget:
            return longer, count + 1
        room = room * 3 // 4
    return whole, count
