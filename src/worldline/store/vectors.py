"""The vector lane's index: every stored vector in memory, caught up from SQL before each search.

It is disposable: the truth is the `embeddings` table, and this is rebuilt from it at any time. A
search is exact up to `EXACT` rows; above that, a sketch of fewer dimensions chooses the rows that
are compared exactly. It knows nothing of time and worlds: the view filters what it returns.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from worldline.store.schema import WORDS_PER_NODE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from worldline.store.view import SqlView

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]

EXACT = 20_000
SKETCH = 128
_SEED = 20260101


class VectorIndex:
    """All vectors of one tenant: rows are passages, each with its node and scope."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last, self._last_belief, self._size = 0, 0, 0
        self._scopes: dict[int, set[int]] = {}
        self._first: dict[int, int] = {}
        self._matrix: Floats | None = None
        self._sketch: Floats | None = None
        self._nodes: Rows | None = None
        self._projection: Floats | None = None

    def search(
        self,
        view: SqlView,
        query: Floats,
        depth: int,
        *,
        scopes: Collection[int] | None = None,
        nodes: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """(node, cosine) of the nearest nodes, best first; only these scopes and nodes, if given."""
        with self._lock:
            self._catch_up(view)
            if not self._size:
                return []
            return self._nearest(query, depth, self._allowed(scopes, nodes))

    def cosines(self, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""
        import numpy as np

        with self._lock:
            if not self._size:
                return {}
            rows = np.flatnonzero(np.isin(self._held_nodes(), np.fromiter(nodes, np.int64)))
            return dict(self._by_node(rows, self._held()[rows] @ query))

    def _catch_up(self, view: SqlView) -> None:
        """Loads the vectors and beliefs that were stored since the last look."""
        import numpy as np

        for belief, node, scope in view.query(
            "SELECT id, node, scope FROM beliefs WHERE tenant = :t AND id > :last ORDER BY id",
            last=self._last_belief,
        ):
            self._scopes.setdefault(node, set()).add(scope)
            self._last_belief = belief
        rows = view.query(
            "SELECT id, passage, vector FROM embeddings WHERE tenant = :t AND id > :last ORDER BY id",
            last=self._last,
        )
        if rows:
            self._last = rows[-1][0]
            block = np.frombuffer(b"".join(r[2] for r in rows), np.float16).reshape(len(rows), -1)
            self._append(np.array([r[1] for r in rows]), block.astype(np.float32))

    def _append(self, passages: Any, block: Floats) -> None:
        """Grows by doubling, so that one more vector does not copy all others."""
        import numpy as np

        size, width = self._size + len(block), block.shape[1]
        if self._projection is None:
            self._projection = _projection(width)
        if self._matrix is None or size > len(self._matrix):
            room = max(1024, 2 * size)
            matrix, sketch = np.zeros((room, width), np.float32), np.zeros((room, SKETCH), np.float32)
            nodes = np.zeros(room, np.int64)
            if self._matrix is not None and self._sketch is not None and self._nodes is not None:
                matrix[: self._size], sketch[: self._size] = self._held(), self._sketch[: self._size]
                nodes[: self._size] = self._held_nodes()
            self._matrix, self._sketch, self._nodes = matrix, sketch, nodes
        assert self._sketch is not None and self._nodes is not None
        self._matrix[self._size : size] = block
        self._sketch[self._size : size] = block @ self._projection
        self._nodes[self._size : size] = passages // WORDS_PER_NODE
        for row, passage in enumerate(passages.tolist(), self._size):
            if passage % WORDS_PER_NODE == 0:
                self._first[passage // WORDS_PER_NODE] = row
        self._size = size

    def _held(self) -> Floats:
        assert self._matrix is not None
        return self._matrix[: self._size]

    def _held_nodes(self) -> Rows:
        assert self._nodes is not None
        return self._nodes[: self._size]

    def _allowed(self, scopes: Collection[int] | None, nodes: Collection[int] | None) -> Rows | None:
        """The rows that may be returned; None for all."""
        import numpy as np

        if scopes is None and nodes is None:
            return None
        wanted = set(self._scopes) if nodes is None else set(nodes)
        if scopes is not None:
            chosen = set(scopes)
            wanted = {node for node in wanted if not chosen.isdisjoint(self._scopes.get(node, ()))}
        return np.flatnonzero(np.isin(self._held_nodes(), np.fromiter(wanted, np.int64, len(wanted))))

    def _nearest(self, query: Floats, depth: int, rows: Rows | None) -> list[tuple[int, float]]:
        import numpy as np

        count = self._size if rows is None else len(rows)
        if count > max(EXACT, 8 * depth):
            assert self._sketch is not None and self._projection is not None
            sketch = self._sketch[: self._size] if rows is None else self._sketch[rows]
            near = np.argpartition(-(sketch @ (query @ self._projection)), 8 * depth + 2000)
            near = near[: 8 * depth + 2000] if 8 * depth + 2000 < count else near
            rows = near if rows is None else rows[near]
        if rows is None:
            pairs = self._by_node(np.arange(self._size), self._held() @ query)
        else:
            pairs = self._by_node(rows, self._held()[rows] @ query)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:depth]

    def _by_node(self, rows: Rows, cosines: Floats) -> list[tuple[int, float]]:
        """Passages roll up: the mean of a node's best and of its first passage."""
        best: dict[int, float] = {}
        first: dict[int, float] = {}
        held = self._held_nodes()[rows]
        for row, node, cosine in zip(rows.tolist(), held.tolist(), cosines.tolist(), strict=True):
            if cosine > best.get(node, -2.0):
                best[node] = cosine
            if self._first.get(node) == row:
                first[node] = cosine
        return [(node, (cosine + first.get(node, cosine)) / 2) for node, cosine in best.items()]


def _projection(width: int) -> Floats:
    """A fixed random projection: the same on every machine."""
    import numpy as np

    random = np.random.Generator(np.random.PCG64(_SEED))
    return np.asarray(random.standard_normal((width, SKETCH)) / np.sqrt(SKETCH), np.float32)
