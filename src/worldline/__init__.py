"""Worldline: the memory of long-running AI agents, on both time axes, traceable to verbatim text."""

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
)
from worldline.query import Query

__version__ = "0.1.0"

__all__ = [
    "FOREVER", "AsOf", "Ask", "Config", "EdgeType", "Event", "Evidence", "Fact", "Interval", "Memory",
    "NodeType", "Predicate", "Query", "Receipt", "Scope", "WorldlineError",
]  # fmt: skip
