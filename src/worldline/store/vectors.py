"""The vector lane's index: every stored vector in memory, caught up from SQL before each search.

It is disposable: the truth is the `embeddings` table, and this is rebuilt from it at any time. A
search is exact up to `EXACT` rows; above that, a sketch of fewer dimensions chooses the rows that
are compared exactly. It knows nothing of time and worlds: the view filters what it returns.
"""

from __future__ import annotations

import threading
from base64 import b64decode
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from worldline.errors import Conflict
from worldline.ports import View
from worldline.store.schema import WORDS_PER_NODE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from worldline.ports import Row, View

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Compare = Callable[[Rows, Floats], Floats]

EXACT = 20_000
BESIDE = 50
"""So many more than asked for are compared again to the last bit."""
SKETCH = 64
_SAMPLE = 4096
"""The sketch keeps the main directions of so many vectors: always the first ones, whatever comes later."""
_REMEMBERED = 8
"""So many scopes whose rows are remembered between searches."""
_ENTRY = 64
"""Bytes that a number in a set takes, nearly."""


class Newest(Struct, frozen=True):
    """The newest rows that a snapshot has: what an index must know to be up to date."""

    vector: int
    belief: int
    moved: int = 0
    """How often rows were moved to the archive or back."""


class VectorIndex:
    """All vectors of one tenant: rows are passages, each with its node and scope.

    `cold` is the same for what is archived, filled by the first read that looks there.
    """

    def __init__(self, table: str = "embeddings") -> None:
        self._table = table
        self.cold = VectorIndex("cold_embeddings") if table == "embeddings" else None
        self._lock = threading.Lock()
        self._moved = 0
        self.worlds = WorldIndex()
        self._empty()

    def _empty(self) -> None:
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
        view: View,
        query: Floats,
        depth: int,
        newest: Newest,
        *,
        scopes: Collection[int] | None = None,
        nodes: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """(node, cosine) of the nearest nodes, best first; only these scopes and nodes, if given.

        A view that looks at the archive too compares every vector, so that an answer as of some
        moment is the same wherever its vectors lie by now.
        """
        with self._lock:
            self._catch_up(view, newest, len(query))
            near: list[tuple[int, float]] = []
            if self._size:
                near = self._nearest(query, depth, self._allowed(scopes, nodes), exact=view.whole)
        if self.cold is not None and view.whole:
            near += self.cold.search(view, query, depth, newest, scopes=scopes, nodes=nodes)
            near.sort(key=lambda found: (-found[1], found[0]))
        return near[:depth]

    def nearest(self, query: Floats, depth: int) -> list[tuple[int, float]]:
        """The nearest of those that are here, without a look for more."""
        return self._nearest(query, depth, None, exact=True) if self._size else []

    @property
    def size(self) -> int:
        """Bytes that it takes, nearly."""
        arrays = self._matrix, self._sketch, self._passages, self._order
        held = sum(array.nbytes for array in arrays if array is not None)
        held += _ENTRY * sum(len(nodes) for nodes in self._scopes.values())
        return held + (self.cold.size if self.cold is not None else 0)

    def cosines(self, view: View, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""
        import numpy as np

        known = self.cold.cosines(view, query, nodes) if self.cold is not None else {}
        with self._lock:
            if not self._size or not nodes:
                return known
            rows = self._rows_of(np.fromiter(nodes, np.int64, len(nodes)))
            found, values = self._by_node(rows, query, self._alike)
            return known | dict(zip(found.tolist(), values.tolist(), strict=True))

    # Catching up -------------------------------------------------------------------------------

    def _catch_up(self, view: View, newest: Newest, width: int) -> None:
        """Loads the vectors and beliefs that were stored since the last look; what is no vector is left out."""
        if newest.moved != self._moved:  # rows have left for the archive, or come back
            self._moved = newest.moved
            self._empty()
        if newest.belief > self._last_belief:
            self._load_beliefs(view)
            self._last_belief = newest.belief
        if newest.vector <= self._last and self.cold is not None:
            return
        rows = view.query(
            f"SELECT passage, vector, id FROM {self._table} WHERE tenant = :t AND id > :last ORDER BY id",
            last=self._last,
        )
        self._last = newest.vector if self.cold is not None else rows[-1][2] if rows else self._last
        self.take(rows, width)

    def take(self, rows: Sequence[Row], width: int) -> None:
        """Passages with their vectors; those of another width cannot be compared with anything."""
        import numpy as np

        rows = [row for row in rows if len(row[1]) == 2 * width]
        if not rows:
            return
        block = np.frombuffer(b"".join(row[1] for row in rows), np.float16).reshape(len(rows), width)
        sound = np.isfinite(block).all(axis=1)
        self._append(np.array([row[0] for row in rows], np.int64)[sound], block[sound].astype(np.float32))
        self._order = None
        self._chosen.clear()

    def _load_beliefs(self, view: View) -> None:
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

    def _nearest(
        self, query: Floats, depth: int, rows: Rows | None, *, exact: bool
    ) -> list[tuple[int, float]]:
        import numpy as np

        count = self._size if rows is None else len(rows)
        if count > max(EXACT, 8 * depth) and not exact:
            rows = self._sketched(query, min(8 * depth + 2000, count - 1), rows)
        nodes, cosines = self._by_node(np.arange(self._size) if rows is None else rows, query, self._fast)
        first = self._rows_of(np.sort(nodes[np.lexsort((nodes, -cosines))[: depth + BESIDE]]))
        nodes, cosines = self._by_node(first, query, self._alike)
        best = np.lexsort((nodes, -cosines))[:depth]
        return list(zip(nodes[best].tolist(), cosines[best].tolist(), strict=True))

    def _sketched(self, query: Floats, count: int, rows: Rows | None) -> Rows:
        """The rows whose sketches are nearest."""
        import numpy as np

        sketch, projection = self._sketches()
        near = _products(sketch, _products(projection.T, query))
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

    def _by_node(self, rows: Rows, query: Floats, compare: Compare) -> tuple[Rows, Floats]:
        """Passages roll up: the mean of a node's best and of its first passage."""
        import numpy as np

        cosines = compare(rows, query)
        nodes, place = np.unique(self._held_passages()[rows] // WORDS_PER_NODE, return_inverse=True)
        best = np.full(len(nodes), -2.0, np.float32)
        np.maximum.at(best, place, cosines)
        if len(nodes) == len(rows):
            return nodes, best
        order, passages = self._ordered()
        first = order[np.searchsorted(passages, nodes * WORDS_PER_NODE)]
        return nodes, np.asarray((best + compare(first, query)) / 2, np.float32)

    def _fast(self, rows: Rows, query: Floats) -> Floats:
        """Cosines; their last bits depend on where a row lies in the matrix."""
        held = self._held()
        everything = len(rows) == self._size and bool((rows[1:] > rows[:-1]).all())
        return _products(held if everything else held[rows], query)

    def _alike(self, rows: Rows, query: Floats) -> Floats:
        """Cosines that are the same to the last bit wherever a row lies, so also after it was archived."""
        import numpy as np

        return np.asarray((self._held()[rows].astype(np.float64) * query).sum(axis=1), np.float32)


def _products(rows: Floats, query: Floats) -> Floats:
    """Each row times the query, in this thread alone: BLAS would wake others, which wait for longer than they work."""
    import numpy as np

    return np.asarray(np.einsum("ij,j->i", rows, query))


PROBE = "probe:"
_SAME = 0.99


def same_embedder(stored: str, mine: str) -> bool:
    """Whether two identities are of one embedder; where a probe stands for weights, nearly the same one will do."""
    if stored == mine or not (stored.startswith(PROBE) and mine.startswith(PROBE)):
        return stored == mine
    import numpy as np

    (_, name, a), (_, other, b) = stored.split(":"), mine.split(":")
    first, second = (np.frombuffer(b64decode(one), np.int8).astype(np.float64) for one in (a, b))
    if name != other or len(first) != len(second):
        return False
    return float(first @ second) >= _SAME * float(np.linalg.norm(first) * np.linalg.norm(second))


def require_identity(stored: str, mine: str) -> None:
    """Refuses another embedder than the one whose vectors are stored."""
    if not same_embedder(stored, mine):
        raise Conflict(
            f"the stored vectors were made by {stored}, not by {mine}; "
            "open the store with that embedder, or make all vectors anew with reembed"
        )


# The worlds' vectors in memory, caught up from SQL before each search -----------------------------
#
# It is disposable: the truth is the `composed` table. A world has a row for each scope it is believed in;
# an empty one says that it contains nothing any more. It knows nothing of time and visibility: whatever
# is found by way of a world passes the view before it leaves.


class WorldIndex:
    """All composed vectors of one tenant."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._last = 0
        self._places: dict[tuple[int, int], int] = {}
        """The row of a world in a scope."""
        self._keys: Rows
        """(world, scope) of each row."""
        self._matrix: Floats | None = None

    def cosines(
        self, view: View, query: Floats, newest: int, scopes: Collection[int] | None = None
    ) -> dict[int, float]:
        """Of every world (in these scopes): the cosine of its vector and the query, the best where it has several."""
        import numpy as np

        with self._lock:
            self._catch_up(view, newest, len(query))
            if self._matrix is None:
                return {}
            size = len(self._places)
            near, lines = _products(self._matrix[:size], query), self._keys[:size, 0]
            kept = (
                near != 0.0 if scopes is None else (near != 0.0) & np.isin(self._keys[:size, 1], list(scopes))
            )
            near, lines = near[kept], lines[kept]
            rising = np.argsort(near, kind="stable")  # of several rows, the best is written last
            return dict(zip(lines[rising].tolist(), near[rising].tolist(), strict=True))

    def _catch_up(self, view: View, newest: int, width: int) -> None:
        """Loads the rows that were written since the last look; where all were dropped, begins anew."""
        import numpy as np

        if newest < self._last:
            self._clear()
        if newest == self._last:
            return
        rows = view.query(
            "SELECT line, scope, vector FROM composed WHERE tenant = :t AND made > :last ORDER BY line, scope",
            last=self._last,
        )
        self._last = newest
        if not rows:
            return
        for line, scope, vector in rows:
            at = self._places.setdefault((line, scope), len(self._places))
            self._make_room(len(self._places), width)
            assert self._matrix is not None
            self._keys[at] = line, scope
            held = np.frombuffer(vector, np.float16) if len(vector) == 2 * width else np.zeros(width)
            self._matrix[at] = held if np.isfinite(held).all() else 0.0

    def _make_room(self, size: int, width: int) -> None:
        """Grows by doubling, so that one more world does not copy all others."""
        import numpy as np

        if self._matrix is not None and size <= len(self._matrix):
            return
        matrix = np.zeros((max(256, 2 * size), width), np.float32)
        keys = np.zeros((len(matrix), 2), np.int64)
        if self._matrix is not None:
            matrix[: len(self._matrix)], keys[: len(self._matrix)] = self._matrix, self._keys
        self._matrix, self._keys = matrix, keys
