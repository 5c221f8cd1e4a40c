"""Filters by metadata: a value that must be equal, or comparisons such as {"$gte": 3, "$lt": 9}.

It decides what a comparison means: numbers compare with numbers and texts with texts, `$in` and `$contains`
look inside lists (and texts), `$ne` also lets through what has no such label. A key with dots reaches into
objects. Comparisons are made over the distinct values of a label, so every store makes them alike.

>>> passes(5, {"$gt": 3, "$lte": 5}), passes("b", {"$in": ["a", "b"]}), passes([1, 2], {"$contains": 2})
(True, True, True)
>>> passes("5", {"$gt": 3}), passes({"a": {"b": 1}}, {"$eq": 1}, ("a", "b"))
(False, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from msgspec import Struct

from worldline.errors import InvalidInput

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$contains")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}


class Wanted(Struct, frozen=True):
    """The label to look at, the values of it that fit (as they are stored), and whether those are to be left out."""

    label: str
    values: str
    absent: bool = False


def compares(condition: Any) -> bool:
    """Whether a condition holds comparisons rather than a value; unknown ones are refused."""
    if not isinstance(condition, Mapping) or not any(str(key).startswith("$") for key in condition):
        return False
    unknown = [key for key in condition if key not in OPERATORS]
    if unknown:
        raise InvalidInput(f"unknown comparison {unknown[0]!r}; there are: {', '.join(OPERATORS)}")
    if "$in" in condition and not isinstance(condition["$in"], list | tuple):
        raise InvalidInput("$in takes a list of values")
    return True


def passes(value: Any, condition: Any, path: tuple[str, ...] = ()) -> bool:
    """Whether a value, or what lies at a path inside it, meets a condition."""
    for step in path:
        if not isinstance(value, Mapping) or step not in value:
            return False
        value = value[step]
    if not compares(condition):
        return bool(value == condition)
    return all(_meets(value, name, bound) for name, bound in condition.items())


def _meets(value: Any, operator: str, bound: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool((value == bound) == (operator == "$eq"))
    if operator == "$in":
        return any(value == one for one in bound)
    if operator == "$contains":
        if isinstance(value, str):
            return isinstance(bound, str) and bound.casefold() in value.casefold()
        return isinstance(value, list) and bound in value
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, bound))
    texts = isinstance(value, str) and isinstance(bound, str)
    return (numbers or texts) and _ORDER[operator](value, bound)


def wanted(label: str, condition: Any, values_of: Callable[[str], list[str]]) -> Wanted | None:
    """How to look for a condition; None where the value must simply be equal."""
    head, *path = label.split(".")
    if not compares(condition) and not path:
        return None
    values = values_of(label)
    if not compares(condition) and values:
        return None
    if not values and path:
        label, values = head, values_of(head)
    else:
        path = []
    absent = compares(condition) and list(condition) == ["$ne"]
    asked = {"$eq": condition["$ne"]} if absent else condition
    fitting = [value for value in values if passes(orjson.loads(value), asked, tuple(path))]
    return Wanted(label, orjson.dumps(fitting).decode(), absent)
