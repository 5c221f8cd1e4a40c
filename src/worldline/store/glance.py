"""A quick look into a store file, by words only, for callers that have a fraction of a second.

No engine, no embedder, no numpy: one read-only connection and one or two statements. It sees what
is believed and holds now, in one tenant; it never makes, migrates or writes a file. `recall` finds
more and knows when it does not know; this is what a hook can afford.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from worldline.store.schema import APPLICATION_ID, FORMAT, WORDS_PER_NODE
from worldline.text import content_words

RAREST = 5
_FOREVER = 2**63 - 1  # as in clock.py, whose imports would cost half of the time
_COVERED = 0.34
"""Share of the question's weight that a text must meet."""
_NOTES = "('project', 'reference', 'learning', 'feedback', 'context', 'user', 'Decision')"
_HOLDS = (
    "b.tenant = :t AND b.vf <= :now AND b.vt > :now AND b.kt = :forever AND b.status IS NOT 'quarantined'"
)


class Glimpse(NamedTuple):
    """One memory, as much of it as a hook shows."""

    type: str
    name: str
    content: str
    speaker: str
    at: int
    """When it was said, or since when it holds."""


class Store:
    """A store file, opened for reading."""

    def __init__(self, path: Path, tenant: str, now: int) -> None:
        self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        pragma = self._connection.pragma
        if pragma("application_id") != APPLICATION_ID or int(pragma("user_version")) > FORMAT:
            raise apsw.NotADBError(f"{path} is not a store that this version reads")
        rows = self._query("SELECT tenant, texts FROM tenants WHERE name = :name", name=tenant)
        self._tenant, self._texts = rows[0] if rows else (0, 0)
        self._args = {"t": self._tenant, "now": now, "forever": _FOREVER}

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _query(self, sql: str, **args: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, args).fetchall()

    def matching(self, question: str, language: str, limit: int) -> list[Glimpse]:
        """The memories that meet enough of the question's rare words, best first."""
        terms = list(dict.fromkeys(content_words(question, language)))
        counts = dict(self._query(
            "SELECT term, max(doc) FROM terms WHERE term IN (SELECT value FROM json_each(:terms))"
            " AND col = 'text' GROUP BY term", terms=json.dumps(terms),
        ))  # fmt: skip
        known = sorted((t for t in terms if counts.get(t)), key=lambda t: (counts[t], t))[:RAREST]
        weights = {t: math.log(1 + max(self._texts, 1) / counts.get(t, 0.5)) for t in terms}
        if not known:
            return []
        any_word = " OR ".join(f'"{term}"' for term in known)
        rows = self._query(
            "SELECT n.type, n.name, n.content, coalesce(e.sender, ''), coalesce(e.said_at, b.vf), n.id"
            f" FROM words CROSS JOIN nodes n ON n.id = words.rowid / {WORDS_PER_NODE}"
            " CROSS JOIN beliefs b ON b.line = n.line AND b.node = n.id LEFT JOIN events e ON e.node = n.id"
            f" WHERE words MATCH :match AND {_HOLDS} ORDER BY words.rank LIMIT :most",
            match=f"owner : (t{self._tenant}) AND text : ({any_word})", most=4 * limit, **self._args,
        )  # fmt: skip
        found = {row[5]: Glimpse(*row[:5]) for row in rows}
        enough = [g for g in found.values() if _covers(g, weights, language)]
        return enough[:limit]

    def newest(self, limit: int, turns: int) -> list[Glimpse]:
        """The newest notes, then the last things said, each oldest first."""
        notes = self._query(
            "SELECT n.type, n.name, n.content, '', b.vf FROM beliefs b JOIN nodes n ON n.id = b.node"
            f" WHERE {_HOLDS} AND b.type IN {_NOTES} AND n.content != '' ORDER BY b.vf DESC, b.id DESC"
            " LIMIT :most", most=limit, **self._args,
        )  # fmt: skip
        said = self._query(
            "SELECT 'Turn', '', n.content, e.sender, e.said_at FROM beliefs b JOIN nodes n ON n.id = b.node"
            f" JOIN events e ON e.node = n.id WHERE {_HOLDS} AND b.type = 'Turn'"
            " ORDER BY b.vf DESC, b.id DESC LIMIT :most", most=turns, **self._args,
        )  # fmt: skip
        return [Glimpse(*row) for row in (*reversed(notes), *reversed(said))]


def _covers(found: Glimpse, weights: dict[str, float], language: str) -> bool:
    words = set(content_words(f"{found.name} {found.speaker} {found.content[:4000]}", language))
    met = [term for term in weights if term in words]
    share = sum(weights[term] for term in met) / sum(weights.values())
    return share >= _COVERED and len(met) >= min(2, len(weights))
