"""The systems to beat, as plainly as they are usually built: FTS5, cosine, and their fusion.

Decides nothing about Worldline; it shares no code with recall, so that it cannot profit from it.
``fts5`` is SQLite's BM25 with the porter stemmer over raw text, OR of the non-stop words; ``dense``
is cosine over raw text; ``rrf`` fuses both by reciprocal rank, k = 60.

>>> rrf([["a", "b"], ["b", "c"]])[0]
'b'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 200
_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = (
    "a about after all also am an and any are as at be been before but by can could did do does for "
    "from had has have he her him his how i if in into is it its just like me my no not of on or our "
    "she should so some than that the their them then there these they this those to up us was we "
    "were what when where which who whom whose why will with would you your"
)
_STOP = frozenset(_STOP_WORDS.split())


def _match(question: str) -> str:
    """The question as an OR of its words; without stop words, if any other is left."""
    terms = dict.fromkeys(w.lower() for w in _WORD.findall(question))
    asked = [t for t in terms if t not in _STOP] or list(terms)
    return " OR ".join(f'"{term}"' for term in asked)


class Fts5:
    """Raw texts in a plain FTS5 table; the group is what a question may be limited to."""

    def __init__(self, texts: Iterable[tuple[str, str, str]]) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE t USING fts5"
            "(id UNINDEXED, grp UNINDEXED, body, tokenize='porter unicode61')"
        )
        with self._db:
            self._db.executemany("INSERT INTO t VALUES (?, ?, ?)", texts)

    def scored(self, question: str, depth: int = DEPTH) -> list[tuple[str, float]]:
        """Ids with their BM25 score (higher is better), best first."""
        match = _match(question)
        rows = self._db.execute(
            "SELECT id, -rank FROM t WHERE body MATCH ? ORDER BY rank, rowid LIMIT ?", (match, depth)
        )
        return [(str(ident), float(score)) for ident, score in rows] if match else []

    def search(self, question: str, groups: Iterable[str] | None = None, depth: int = DEPTH) -> list[str]:
        """Ids by BM25, best first."""
        match = _match(question)
        if not match:
            return []
        wanted = None if groups is None else set(groups)
        rows = self._db.execute("SELECT id, grp FROM t WHERE body MATCH ? ORDER BY rank", (match,))
        found: list[str] = []
        for ident, group in rows:
            if wanted is None or group in wanted:
                found.append(str(ident))
                if len(found) == depth:
                    break
        return found


def dense(query: NDArray[np.float32], vectors: NDArray[np.float32], ids: Sequence[str]) -> list[str]:
    """Ids by cosine (all vectors are unit length), best first, ties by position."""
    import numpy as np

    order = np.argsort(-(vectors @ query), kind="stable")[:DEPTH]
    return [ids[i] for i in order]


def rrf(rankings: Sequence[Sequence[str]], k: int = 60) -> list[str]:
    """Reciprocal rank fusion; ties by the first ranking that has the id."""
    totals: dict[str, float] = {}
    for ranking in rankings:
        for place, ident in enumerate(ranking, 1):
            totals[ident] = totals.get(ident, 0.0) + 1.0 / (k + place)
    return sorted(totals, key=lambda ident: -totals[ident])[:DEPTH]
