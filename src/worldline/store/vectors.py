"""The vector lane's index: every stored vector in memory, caught up from SQL before each search.

It is disposable: the truth is the `embeddings` table, and this is rebuilt from it at any time. A
search is exact up to `EXACT` rows; above that, a sketch of fewer dimensions chooses the rows that
are compared exactly. It knows nothing of time and worlds: the view filters what it returns.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from worldline.errors import Conflict
from worldline.store.schema import WORDS_PER_NODE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from worldline.store.view import SqlView

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]

EXACT = 20_000
SKETCH = 64
_SAMPLE = 4096
"""The sketch keeps the main directions of so many vectors: always the first ones, whatever comes later."""
_REMEMBERED = 8
"""So many scopes whose rows are remembered between searches."""


class Newest(Struct, frozen=True):
    """The newest rows that a snapshot has: what an index must know to be up to date."""

    vector: int
    belief: int


class VectorIndex:
    """All vectors of one tenant: rows are passages, each with its node and scope."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last, self._last_belief, self._size = 0, 0, 0
        self._scopes: dict[int, set[int]] = {}
        """The nodes that were ever believed in a scope."""
        self._matrix: Floats | None = None
        self._sketch: Floats | None = None
        self._passages: Rows | None = None
        self._order: Rows | None = None
        """Rows in the order of their passages, made when it is needed."""
        self._projection: Floats | None = None
        self._chosen: dict[frozenset[int], Rows] = {}

    def search(
        self,
        view: SqlView,
        query: Floats,
        depth: int,
        newest: Newest,
        *,
        scopes: Collection[int] | None = None,
        nodes: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """(node, cosine) of the nearest nodes, best first; only these scopes and nodes, if given."""
        with self._lock:
            self._catch_up(view, newest)
            if not self._size:
                return []
            return self._nearest(query, depth, self._allowed(scopes, nodes))

    def cosines(self, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""
        import numpy as np

        with self._lock:
            if not self._size or not nodes:
                return {}
            rows = self._rows_of(np.fromiter(nodes, np.int64, len(nodes)))
            found, values = self._by_node(rows, query)
            return dict(zip(found.tolist(), values.tolist(), strict=True))

    # Catching up -------------------------------------------------------------------------------

    def _catch_up(self, view: SqlView, newest: Newest) -> None:
        """Loads the vectors and beliefs that were stored since the last look."""
        import numpy as np

        if newest.belief > self._last_belief:
            self._load_beliefs(view)
            self._last_belief = newest.belief
        if newest.vector <= self._last:
            return
        rows = view.query(
            "SELECT passage, vector FROM embeddings WHERE tenant = :t AND id > :last ORDER BY id",
            last=self._last,
        )
        self._last = newest.vector
        if rows:
            block = np.frombuffer(b"".join(r[1] for r in rows), np.float16).reshape(len(rows), -1)
            self._append(np.array([r[0] for r in rows]), block.astype(np.float32))
            self._order = None
            self._chosen.clear()

    def _load_beliefs(self, view: SqlView) -> None:
        rows = view.query(
            "SELECT DISTINCT scope, node FROM beliefs WHERE tenant = :t AND id > :last",
            last=self._last_belief,
        )
        for scope, node in rows:
            self._scopes.setdefault(scope, set()).add(node)
        if rows:
            self._chosen.clear()

    def _append(self, passages: Any, block: Floats) -> None:
        """Grows by doubling, so that one more vector does not copy all others."""
        import numpy as np

        size, width = self._size + len(block), block.shape[1]
        if self._matrix is None or size > len(self._matrix):
            room = max(1024, 2 * size)
            matrix, held = np.zeros((room, width), np.float32), np.zeros(room, np.int64)
            if self._matrix is not None:
                matrix[: self._size], held[: self._size] = self._held(), self._held_passages()
            self._matrix, self._passages = matrix, held
        assert self._passages is not None
        self._matrix[self._size : size] = block
        self._passages[self._size : size] = passages
        self._size = size

    def _held(self) -> Floats:
        assert self._matrix is not None
        return self._matrix[: self._size]

    def _held_passages(self) -> Rows:
        assert self._passages is not None
        return self._passages[: self._size]

    # Searching ---------------------------------------------------------------------------------

    def _ordered(self) -> tuple[Rows, Rows]:
        """(rows, passages) in the order of the passages."""
        import numpy as np

        if self._order is None:
            self._order = np.argsort(self._held_passages(), kind="stable")
        return self._order, self._held_passages()[self._order]

    def _rows_of(self, nodes: Rows) -> Rows:
        """Every row of these nodes."""
        import numpy as np

        order, passages = self._ordered()
        low = np.searchsorted(passages, nodes * WORDS_PER_NODE)
        counts = np.searchsorted(passages, (nodes + 1) * WORDS_PER_NODE) - low
        starts = np.repeat(low - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        return np.asarray(order[starts + np.arange(int(counts.sum()))])

    def _allowed(self, scopes: Collection[int] | None, nodes: Collection[int] | None) -> Rows | None:
        """The rows that may be returned; None for all."""
        import numpy as np

        if nodes is not None:
            inside = set(nodes)
            if scopes is not None:
                inside &= set().union(*(self._scopes.get(scope, ()) for scope in scopes))
            return np.sort(self._rows_of(np.array(sorted(inside), np.int64)))
        if scopes is None:
            return None
        key = frozenset(scopes)
        if key not in self._chosen:
            if len(self._chosen) >= _REMEMBERED:
                self._chosen.clear()
            seen = set().union(*(self._scopes.get(scope, ()) for scope in key))
            self._chosen[key] = np.sort(self._rows_of(np.array(sorted(seen), np.int64)))
        rows = self._chosen[key]
        return None if len(rows) == self._size else rows

    def _nearest(self, query: Floats, depth: int, rows: Rows | None) -> list[tuple[int, float]]:
        import numpy as np

        count = self._size if rows is None else len(rows)
        if count > max(EXACT, 8 * depth):
            rows = self._sketched(query, min(8 * depth + 2000, count - 1), rows)
        nodes, cosines = self._by_node(np.arange(self._size) if rows is None else rows, query)
        best = np.lexsort((nodes, -cosines))[:depth]
        return list(zip(nodes[best].tolist(), cosines[best].tolist(), strict=True))

    def _sketched(self, query: Floats, count: int, rows: Rows | None) -> Rows:
        """The rows whose sketches are nearest."""
        import numpy as np

        sketch, projection = self._sketches()
        near = sketch @ (query @ projection)
        if rows is not None:
            near = near[rows]
        best = np.argpartition(near, len(near) - count)[-count:]
        return np.asarray(best if rows is None else rows[best])

    def _sketches(self) -> tuple[Floats, Floats]:
        """Every vector in the main directions of the first ones, and those directions."""
        import numpy as np

        held = self._held()
        if self._projection is None:
            first = held[:_SAMPLE].astype(np.float64)
            directions = np.linalg.eigh(first.T @ first)[1][:, ::-1][:, :SKETCH]
            self._projection = np.ascontiguousarray(directions, np.float32)
        done = 0 if self._sketch is None else len(self._sketch)
        if done < self._size:
            more = held[done:] @ self._projection
            self._sketch = more if self._sketch is None else np.concatenate([self._sketch, more])
        assert self._sketch is not None
        return self._sketch, self._projection

    def _by_node(self, rows: Rows, query: Floats) -> tuple[Rows, Floats]:
        """Passages roll up: the mean of a node's best and of its first passage."""
        import numpy as np

        cosines = (self._held() if len(rows) == self._size else self._held()[rows]) @ query
        if len(rows) == self._size:
            rows = np.arange(self._size)
        nodes, place = np.unique(self._held_passages()[rows] // WORDS_PER_NODE, return_inverse=True)
        best = np.full(len(nodes), -2.0, np.float32)
        np.maximum.at(best, place, cosines)
        if len(nodes) == len(rows):
            return nodes, best
        order, passages = self._ordered()
        first = order[np.searchsorted(passages, nodes * WORDS_PER_NODE)]
        return nodes, np.asarray((best + self._held()[first] @ query) / 2, np.float32)


def require_identity(stored: str, mine: str) -> None:
    """Refuses another embedder than the one whose vectors are stored."""
    if stored != mine:
        raise Conflict(
            f"the stored vectors were made by {stored}, not by {mine}; "
            "open the store with that embedder, or make all vectors anew with reembed"
        )
