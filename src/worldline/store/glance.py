"""A quick look into a store file, by words only, for callers that have a fraction of a second.

No engine, no embedder, no numpy: one read-only connection and one or two statements. It sees what
is believed and holds now, in one tenant; it never makes, migrates or writes a file. `recall` finds
more and knows when it does not know; this is what a hook can afford.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from worldline.store.schema import APPLICATION_ID, FORMAT, WORDS_PER_NODE
from worldline.text import content_words

RAREST = 5
WITH_WORDS = 4
"""The first format whose words can be read here; an older file is brought to it when it is next opened."""
_ROOM, _LOOKED_AT = 20_000, 400
"""Postings that are scored, and nodes that are looked at, for one question."""
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


class StoreGlance:
    """A store file, opened for reading."""

    def __init__(self, path: Path, tenant: str, now: int) -> None:
        self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        pragma = self._connection.pragma
        if pragma("application_id") != APPLICATION_ID or int(pragma("user_version")) > FORMAT:
            raise apsw.NotADBError(f"{path} is not a store that this version reads")
        number = "tenant" if int(pragma("user_version")) >= WITH_WORDS else "id"
        rows = self._query(f"SELECT {number}, texts FROM tenants WHERE name = :name", name=tenant)
        self._tenant, self._texts = rows[0] if rows else (0, 0)
        self._has_words = int(pragma("user_version")) >= WITH_WORDS
        self._fresh: dict[str, list[tuple[int, int, int]]] = {}
        self._args = {"t": self._tenant, "now": now, "forever": _FOREVER}

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _query(self, sql: str, **args: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, args).fetchall()

    def matching(self, question: str, language: str, limit: int) -> list[Glimpse]:
        """The memories that meet enough of the question's rare words, best first."""
        terms = list(dict.fromkeys(content_words(question, language)))
        found = self._counts(terms) if self._has_words else {}
        known = sorted((t for t in terms if found.get(t)), key=lambda t: (found[t], t))[:RAREST]
        weights = {t: math.log(1 + max(self._texts, 1) / (found.get(t) or 0.5)) for t in terms}
        if not known:
            return []
        scores = self._scores(known, found)
        best = sorted(scores, key=lambda node: (-scores[node], node))
        seen: list[Glimpse] = []
        for start in range(0, min(len(best), _LOOKED_AT), 8 * limit):
            chosen = best[start : start + 8 * limit]
            held = self._held(chosen)
            seen += [held[n] for n in chosen if n in held and _covers(held[n], weights, language)]
            if len(seen) >= limit:
                break
        return seen[:limit]

    def _counts(self, terms: list[str]) -> dict[str, int]:
        """In how many texts each word is, those that wait to be indexed among them."""
        rows = self._query(
            "SELECT row, text, owner, kinds FROM fresh_words WHERE tenant = :t ORDER BY row", t=self._tenant
        )
        for row, text, owner, kinds in rows:
            if not any(term in text for term in terms):
                continue
            held = text.split()
            length = len(held) + len(owner.split()) + len(kinds.split())
            for term in set(terms).intersection(held):
                posting = (row // WORDS_PER_NODE, length, held.count(term))
                self._fresh.setdefault(term, []).append(posting)
        counted = dict(self._query(
            "SELECT term, sum(n) FROM words WHERE tenant = :t AND cold = 0"
            " AND term IN (SELECT value FROM json_each(:terms)) GROUP BY term",
            t=self._tenant, terms=json.dumps(terms),
        ))  # fmt: skip
        return {term: counted.get(term, 0) + len(self._fresh.get(term, ())) for term in terms}

    def _scores(self, terms: list[str], found: dict[str, int]) -> dict[int, float]:
        """BM25 of the nodes that hold the rarest of these words, the newest where there are too many."""
        totals = self._query(
            "SELECT texts, tokens FROM words_total WHERE tenant = :t AND cold = 0", t=self._tenant
        )
        texts, tokens = totals[0] if totals else (1, 1)
        mean, room = max(tokens, 1) / max(texts, 1), _ROOM
        scores: dict[int, float] = {}
        for term in terms:
            worth = max(math.log((texts - found[term] + 0.5) / (found[term] + 0.5)), 1e-6)
            passages: dict[int, float] = {}
            for node, length, often in islice(self._postings(term), max(room, 0)):
                share = worth * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length / mean))
                passages[node] = max(share, passages.get(node, 0.0))
            for node, share in passages.items():
                scores[node] = scores.get(node, 0.0) + share
            room -= found[term]
            if room <= 0:
                break
        return scores

    def _postings(self, term: str) -> Iterator[tuple[int, int, int]]:
        """(node, words, how often) of the texts with a word, newest first."""
        yield from reversed(self._fresh.get(term, ()))
        chunks = self._connection.execute(
            "SELECT rows FROM words WHERE tenant = :t AND term = :term AND cold = 0"
            " ORDER BY CASE WHEN chunk = 0 THEN 0 ELSE 1 END, chunk DESC",
            {"t": self._tenant, "term": term},
        )
        for (rows,) in chunks:
            for node, _, length, often in reversed(list(struct.iter_unpack(">IHHB", rows))):
                yield node, length, often

    def _held(self, nodes: list[int]) -> dict[int, Glimpse]:
        rows = self._query(
            "SELECT n.type, n.name, n.content, coalesce(e.sender, ''), coalesce(e.said_at, b.vf), n.id"
            " FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
            " LEFT JOIN events e ON e.tenant = :t AND e.node = n.id"
            f" WHERE n.tenant = :t AND n.id IN (SELECT value FROM json_each(:among)) AND {_HOLDS} ORDER BY b.id",
            among=json.dumps(nodes), **self._args,
        )  # fmt: skip
        return {row[5]: Glimpse(*row[:5]) for row in rows}

    def newest(self, limit: int, turns: int) -> list[Glimpse]:
        """The newest notes, then the last things said, each oldest first."""
        notes = self._query(
            "SELECT n.type, n.name, n.content, '', b.vf FROM beliefs b JOIN nodes n ON n.tenant = :t AND n.id = b.node"
            f" WHERE {_HOLDS} AND b.type IN {_NOTES} AND n.content != '' ORDER BY b.vf DESC, b.id DESC"
            " LIMIT :most", most=limit, **self._args,
        )  # fmt: skip
        said = self._query(
            "SELECT 'Turn', '', n.content, e.sender, e.said_at FROM beliefs b"
            " JOIN nodes n ON n.tenant = :t AND n.id = b.node"
            f" JOIN events e ON e.tenant = :t AND e.node = n.id WHERE {_HOLDS} AND b.type = 'Turn'"
            " ORDER BY b.vf DESC, b.id DESC LIMIT :most", most=turns, **self._args,
        )  # fmt: skip
        return [Glimpse(*row) for row in (*reversed(notes), *reversed(said))]


def _covers(found: Glimpse, weights: dict[str, float], language: str) -> bool:
    words = set(content_words(f"{found.name} {found.speaker} {found.content[:4000]}", language))
    met = [term for term in weights if term in words]
    share = sum(weights[term] for term in met) / sum(weights.values())
    return share >= _COVERED and len(met) >= min(2, len(weights))
