"""Folds the words index: chunks that texts have left for the archive are joined with their neighbours.

Nothing that anybody can see changes, at any moment of either axis: rows of beliefs are never dropped,
because the log vouches for each of them. Pages that the archive has freed are used again by what
comes; the file is not rewritten under its readers.
"""

from __future__ import annotations

from worldline.consolidate.changes import Fold, Plan
from worldline.consolidate.night import Night
from worldline.store import words
from worldline.store.view import SqlView

MOST = 2000
"""So many terms are folded in one night at most."""


def compact(view: SqlView, night: Night) -> Plan:
    """Which terms to fold."""
    terms = words.thin(view, MOST)
    return Plan((Fold(tuple(terms)),) if terms else ())
