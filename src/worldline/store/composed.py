"""The worlds' vectors in memory, caught up from SQL before each search.

It is disposable: the truth is the `composed` table. A world has a row for each scope it is believed in;
an empty one says that it contains nothing any more. It knows nothing of time and visibility: whatever
is found by way of a world passes the view before it leaves.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from worldline.ports import View

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]


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
            near, lines = self._matrix[:size] @ query, self._keys[:size, 0]
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
