"""Worldline: the memory of long-running AI agents, on both time axes, traceable to verbatim text.

Names are imported when they are first used, so that `worldline --help` does not load the engine; for the same end
a module may name another one at its top as `Later`, and a type checker reads the plain import instead.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldline.asynchronous import AsyncMemory
    from worldline.clock import FOREVER, AsOf, Interval
    from worldline.config import Config
    from worldline.errors import WorldlineError
    from worldline.memory import Memory
    from worldline.model import (
        Ask,
        EdgeType,
        Event,
        Evidence,
        Fact,
        NodeType,
        Predicate,
        Receipt,
        Scope,
        Scorer,
    )
    from worldline.query import Query

__version__ = "0.1.0"

__all__ = [
    "FOREVER", "AsOf", "Ask", "AsyncMemory", "Config", "EdgeType", "Event", "Evidence", "Fact", "Interval", "Memory",
    "NodeType", "Predicate", "Query", "Receipt", "Scope", "Scorer", "WorldlineError",
]  # fmt: skip

_HOMES = {
    "asynchronous": ("AsyncMemory",),
    "clock": ("FOREVER", "AsOf", "Interval"),
    "config": ("Config",),
    "errors": ("WorldlineError",),
    "memory": ("Memory",),
    "model": (
        "Ask",
        "EdgeType",
        "Event",
        "Evidence",
        "Fact",
        "NodeType",
        "Predicate",
        "Receipt",
        "Scope",
        "Scorer",
    ),
    "query": ("Query",),
}


class Later:
    """A module, not loaded yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Something of the module; loads it, and keeps what was asked for."""
        found = self.__dict__[name] = getattr(import_module(self._name), name)
        return found


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"worldline.{home}"), name)
            return found
    raise AttributeError(f"module 'worldline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
