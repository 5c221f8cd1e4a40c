"""Subgraph queries: a frozen, printable plan and the code that runs it."""

from worldline.query.query import Query

__all__ = ["Query"]
