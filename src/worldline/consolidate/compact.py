"""Folds the words indexes: many small segments, left by many small writes and moves, become few.

Nothing that anybody can see changes, at any moment of either axis: rows of beliefs are never dropped,
because the log vouches for each of them. Pages that the archive has freed are used again by what
comes; the file is not rewritten under its readers.
"""

from __future__ import annotations

from worldline.consolidate.changes import Fold, Plan
from worldline.consolidate.night import Night
from worldline.store.nights import segments
from worldline.store.view import SqlView

TABLES = ("words", "cold_words")
MANY = 16
"""An index of more segments than this is folded."""
PAGES = 8000
"""So much work is done in one night at most, in pages: enough for some 200,000 texts."""


def compact(view: SqlView, night: Night) -> Plan:
    """Which indexes to fold."""
    return Plan(tuple(Fold(table, PAGES) for table in TABLES if segments(view, table) > MANY))
