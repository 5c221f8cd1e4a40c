"""Vectors that a server compares by itself, where it has pgvector: exact, within one tenant.

A column beside each vector holds it as pgvector reads it; the server makes it from the bytes, so that no writer
knows of it. One statement brings the vectors of the nearest nodes, and they are compared again here as an index in
memory does, to the last bit. Whoever is asked about often is worth loading: after some questions a tenant's vectors
are kept in memory, as those of a file, as long as they are not too many; a few are loaded at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from worldline.ports import Row
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.vectors import BESIDE, EXACT, Few, Newest, VectorIndex, WorldIndex
from worldline.store.view import LISTED, listed

if TYPE_CHECKING:
    from worldline.ports import View
    from worldline.store.vectors import Floats

SCANS = 2
"""So many questions about a tenant are left to the server."""
SMALL, LARGEST = 2_000, EXACT
"""A tenant with no more vectors is loaded at once, which takes no longer than a few questions to the server; one with
more than the second number never is."""
TABLES = ("embeddings", "cold_embeddings")
_SCOPES = "(SELECT value FROM json_each(:scopes))"


def definitions(home: str) -> list[str]:
    """The statements that add the column, given the schema that pgvector lies in."""
    return [
        f"CREATE FUNCTION halves(given bytea) RETURNS {home}.halfvec LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$"
        f" SELECT CASE WHEN bool_and(h.e < 31) THEN CAST(CAST(array_agg(h.sign * CASE WHEN h.e = 0 THEN h.m"
        f" ELSE (1024 + h.m) * (CAST(1 AS bigint) << (h.e - 1)) END / 16777216.0) AS real[]) AS {home}.halfvec) END"
        " FROM (SELECT (x.bits >> 10) & 31 AS e, x.bits & 1023 AS m, CASE WHEN x.bits > 32767 THEN -1.0 ELSE 1.0 END"
        " AS sign FROM (SELECT get_byte(given, 2 * i) + 256 * get_byte(given, 2 * i + 1) AS bits"
        " FROM generate_series(0, length(given) / 2 - 1) i) x) h $$",
        *(
            f"ALTER TABLE {table} ADD COLUMN near {home}.halfvec GENERATED ALWAYS AS (worldline.halves(vector)) STORED"
            for table in TABLES
        ),
    ]


class ScannedIndex:
    """The vectors of one tenant, on the server until they are asked for often."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._asked = 0
        self._memory: VectorIndex | None = None
        self.worlds = WorldIndex()

    @property
    def size(self) -> int:
        """Bytes that are held in memory."""
        held = self._memory
        return held.size if held else 0

    def search(
        self,
        view: View,
        query: Floats,
        depth: int,
        newest: Newest,
        *,
        scopes: Collection[int] | None = None,
        nodes: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """As in memory."""
        self._asked += 1
        if newest.vector > LARGEST:
            self._memory = None
        elif self._asked > SCANS or newest.vector <= SMALL:
            self._memory = self._memory or VectorIndex()
        held = self._memory  # another thread may let it go meanwhile
        if held is not None:
            return held.search(view, query, depth, newest, scopes=scopes, nodes=nodes)
        rows = view.query(
            f"SELECT v.passage, v.vector FROM ({self._nearest(view, scopes, nodes)}) best JOIN {_held(view)} v"
            f" ON v.passage >= best.node * {WORDS_PER_NODE} AND v.passage < (best.node + 1) * {WORDS_PER_NODE}",
            query=_written(query),
            bytes=2 * len(query),
            most=depth + BESIDE,
            **({} if scopes is None else {"scopes": listed(scopes)}),
            **({} if nodes is None else {"among": listed(nodes)}),
        )
        return _index(rows, len(query)).nearest(query, depth)

    def _nearest(self, view: View, scopes: Collection[int] | None, nodes: Collection[int] | None) -> str:
        """Nodes by the mean of their best and their first passage, as the server sees it."""
        node, chosen = f"v.passage / {WORDS_PER_NODE}", ""
        if scopes is not None:
            chosen += (
                f" AND {node} IN (SELECT b.node FROM beliefs b WHERE b.tenant = :t AND b.scope IN {_SCOPES})"
            )
        if nodes is not None:
            chosen += f" AND {node} IN {LISTED}"
        return (
            f"SELECT x.node FROM (SELECT {node} AS node, v.passage % {WORDS_PER_NODE} AS part,"
            f" -(v.near OPERATOR({self._home}.<#>) CAST(:query AS {self._home}.halfvec)) AS cosine FROM {_held(view)} v"
            f" WHERE v.near IS NOT NULL AND length(v.vector) = :bytes{chosen}) x GROUP BY x.node ORDER BY max(x.cosine)"
            " + coalesce(max(x.cosine) FILTER (WHERE x.part = 0), max(x.cosine)) DESC, x.node LIMIT :most"
        )

    def cosines(self, view: View, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """As in memory; from the server where they are not there."""
        held = self._memory
        if held is not None or not nodes:
            return held.cosines(view, query, nodes) if held else {}
        rows = view.query(
            f"SELECT v.passage, v.vector FROM json_each(:among) j CROSS JOIN {_held(view)} v"
            f" ON v.passage >= j.value * {WORDS_PER_NODE} AND v.passage < (j.value + 1) * {WORDS_PER_NODE}",
            among=listed(nodes),
        )
        return _index(rows, len(query)).cosines(query, nodes)


def _held(view: View) -> str:
    """A tenant's vectors; the archived ones too, where a view looks there."""
    tables = TABLES if view.whole else TABLES[:1]
    parts = (f"SELECT e.passage, e.vector, e.near FROM {table} e WHERE e.tenant = :t" for table in tables)
    return f"({' UNION ALL '.join(parts)})"


def _index(rows: Sequence[Row], width: int) -> Few:
    """A few vectors, to be compared as all of them would be."""
    found = Few()
    found.take(rows, width)
    return found


def _written(query: Floats) -> str:
    return f"[{','.join(map(str, query.tolist()))}]"
