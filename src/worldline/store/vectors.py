"""The vector lane's index, caught up from SQL before each search.

It is disposable: the truth is the `embeddings` table, and this is rebuilt from it at any time. Up to `EXACT` vectors
lie in memory and are all compared. Of more, memory holds the signs alone (`signs`), which choose the few hundred that
are read from SQL and compared exactly. It knows nothing of time and worlds: the view filters what it returns.
"""

from __future__ import annotations

import threading
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from msgspec import Struct

from worldline.errors import Conflict
from worldline.ports import View
from worldline.store import packing
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
WIDE, NARROW = 8, 3
"""So many times as many as asked for are chosen by their signs, and so many are compared exactly."""
_REMEMBERED = 8
"""So many scopes whose rows are remembered between searches."""
_ENTRY = 64
"""Bytes that a number in a set takes, nearly."""
_AT_ONCE = 20_000
"""So many rows are read at a time."""


class Newest(Struct, frozen=True):
    """The newest rows that a snapshot has: what an index must know to be up to date."""

    vector: int
    belief: int
    moved: int = 0
    """How often rows were moved to the archive or back, or erased."""


class Beside(Protocol):
    """Where a store lets a file of signs lie."""

    def signs_path(self, tenant: int) -> str:
        """Its name; empty where there can be none."""

    def keep_signs(self, tenant: int, moved: int, write: Callable[[str], None]) -> bool:
        """Has it written, unless rows were moved or erased since, or somebody else writes; whether that was done."""


class VectorIndex:
    """All vectors of one tenant: rows are passages, each with its node and scope.

    `cold` is the same for what is archived, filled by the first read that looks there.
    """

    def __init__(self, table: str = "embeddings", beside: Beside | None = None) -> None:
        self._table, self._beside = table, beside
        self.cold = VectorIndex("cold_embeddings") if table == "embeddings" else None
        self._lock = threading.Lock()
        self._moved = 0
        self.worlds = WorldIndex()
        self._empty()

    def _empty(self, many: packing.Gathered | None = None) -> None:
        self._last, self._last_belief = 0, 0
        self._few = Few()
        self._many = many
        self._compared: tuple[Any, Few] = None, Few()
        """The query that was looked for last, and the vectors that were read for it."""
        self._unkept = False
        """Whether the base is one that no file holds yet."""

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

        A view that looks at the archive too chooses among all rows at once, so that an answer as of some
        moment is the same wherever its vectors lie by now.
        """
        looked = [self, self.cold] if self.cold is not None and view.whole else [self]
        with self._lock:
            for index in looked:
                index._catch_up(view, newest, len(query), bound=scopes is not None)
            if sum(map(len, looked)) <= EXACT:
                near = [one for i in looked for one in i._few.within(query, depth, scopes, nodes)]
                return sorted(near, key=lambda found: (-found[1], found[0]))[:depth]
            pieces = [piece for index in looked for piece in index._pieces(scopes, nodes)]
        chosen = packing.most_alike(pieces, query, WIDE * depth + 800, NARROW * depth)
        compared = _read(view, chosen.tolist(), len(query))
        self._compared = query, compared
        return compared.nearest(query, depth)

    def __len__(self) -> int:
        return len(self._many) if self._many is not None else len(self._few)

    @property
    def size(self) -> int:
        """Bytes that it takes, nearly."""
        held = self._few.size
        if self._many is not None:
            held += self._many.base.size + self._many.rest.size
        return held + (self.cold.size if self.cold is not None else 0)

    def cosines(self, view: View, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""
        if self._many is not None or (self.cold is not None and self.cold._many is not None):
            last, compared = self._compared
            known = compared.cosines(query, nodes) if last is query else {}
            rest = [node for node in nodes if node not in known]
            return known | _read(view, rest, len(query)).cosines(query, rest)
        with self._lock:
            known = self.cold._few.cosines(query, nodes) if self.cold is not None else {}
            return known | self._few.cosines(query, nodes)

    def take(self, rows: Sequence[Row], width: int) -> None:
        """Passages with their vectors, to be compared with no look for more."""
        self._few.take(rows, width)

    def _pieces(self, scopes: Collection[int] | None, nodes: Collection[int] | None) -> list[packing.Piece]:
        """The rows that may be returned, by their signs."""
        if self._many is not None:
            return self._many.pieces(scopes, nodes)
        return self._few.pieces(scopes, nodes)

    # Catching up -------------------------------------------------------------------------------

    def _catch_up(self, view: View, newest: Newest, width: int, *, bound: bool) -> None:
        """Loads the vectors and beliefs that were stored since the last look; what is no vector is left out."""
        if newest.moved != self._moved:  # rows were erased, have left for the archive, or come back
            self._moved = newest.moved
            self._empty()
        is_hot = self.cold is not None
        if self._many is None and max(len(self._few), newest.vector if is_hot else 0) > EXACT:
            self._empty(packing.Gathered(width))
        if self._many is not None and self._last == 0:
            self._begin(view, self._many)
        if newest.vector > self._last or not is_hot:
            found = self._take(self._since(view, "passage, vector, id", self._table, self._last), width)
            self._last = newest.vector if is_hot else max(found, self._last)
        if bound and newest.belief > self._last_belief:
            into = self._few if self._many is None else self._many
            into.believe(self._since(view, "scope, node, id", "beliefs", self._last_belief))
            self._last_belief = newest.belief
        if self._many is not None:
            self._settle(view, self._many)

    def _since(self, view: View, columns: str, table: str, last: int) -> Iterator[Sequence[Row]]:
        """The rows of a table after one of them, so many at a time."""
        sql = f"SELECT {columns} FROM {table} WHERE tenant = :t AND id > :last ORDER BY id LIMIT :most"
        while rows := view.query(sql, last=last, most=_AT_ONCE):
            yield rows
            if len(rows) < _AT_ONCE:
                return
            last = rows[-1][2]

    def _take(self, batches: Iterable[Sequence[Row]], width: int) -> int:
        """Vectors that came since; the number of the last, 0 for none."""
        if self._many is not None:
            return self._many.take(batches)
        last = 0
        for rows in batches:
            last = rows[-1][2]
            self._few.take(rows, width)
        return last

    # The file beside the store -------------------------------------------------------------------

    def _begin(self, view: View, many: packing.Gathered) -> None:
        """From the file, where it holds more than is known and is of this history."""
        path = self._beside.signs_path(view.tenant) if self._beside is not None else ""
        found = packing.read(path) if path else None
        if found is None:
            return
        base, stamp = found
        if (
            stamp.width == many.width
            and stamp.moved == self._moved
            and stamp.last > self._last
            and stamp.belief >= self._last_belief
            and _told(view, stamp.last, stamp.sequence) == (stamp.passage, stamp.head)
        ):
            many.begin(base)
            self._last, self._last_belief = stamp.last, stamp.belief

    def _settle(self, view: View, many: packing.Gathered) -> None:
        """Joins what came after the base to it, and writes that down, where it can be done at once."""
        if many.is_due:
            many.settle()
            self._unkept = True
        if not self._unkept or self._beside is None or self._last == 0:
            return
        ((sequence, head),) = view.query("SELECT sequence, head FROM tenants WHERE tenant = :t")
        passage, _ = _told(view, self._last, sequence)
        if len(many.rest.signs) or passage is None:
            return
        stamp = packing.Stamp(
            many.width, self._last, passage, self._last_belief, self._moved, sequence, head.hex()
        )
        done = self._beside.keep_signs(
            view.tenant, self._moved, lambda path: packing.write(path, many.base, stamp)
        )
        kept = packing.read(self._beside.signs_path(view.tenant)) if done else None
        if kept is not None:
            self._unkept = False
            many.begin(kept[0])  # mapped, so that all processes share it


def _told(view: View, last: int, sequence: int) -> tuple[int | None, str | None]:
    """The passage of a vector and the hash of a changeset: another history has others."""
    ((passage, head),) = view.query(
        "SELECT (SELECT e.passage FROM embeddings e WHERE e.tenant = :t AND e.id = :last),"
        " (SELECT l.hash FROM log l WHERE l.tenant = :t AND l.sequence = :sequence)",
        last=last, sequence=sequence,
    )  # fmt: skip
    return passage, head.hex() if head is not None else None


def _read(view: View, nodes: Collection[int], width: int) -> Few:
    """The vectors of these nodes, from SQL; the archived ones too, where the view looks there."""
    parts = (
        f"SELECT v.passage, v.vector FROM json_each(:among) j CROSS JOIN {table} v ON v.tenant = :t"
        f" AND v.passage >= j.value * {WORDS_PER_NODE} AND v.passage < (j.value + 1) * {WORDS_PER_NODE}"
        for table in (("embeddings", "cold_embeddings") if view.whole else ("embeddings",))
    )
    found = Few()
    if nodes:
        found.take(view.query(" UNION ALL ".join(parts), among=orjson.dumps(sorted(nodes)).decode()), width)
    return found


class Few:
    """Vectors that lie in memory as they are."""

    def __init__(self) -> None:
        self._size = 0
        self._scopes: dict[int, set[int]] = {}
        """The nodes that were ever believed in a scope."""
        self._matrix: Floats | None = None
        self._passages: Rows | None = None
        self._order: Rows | None = None
        """Rows in the order of their passages, made when it is needed."""
        self._chosen: dict[frozenset[int], Rows] = {}

    def __len__(self) -> int:
        return self._size

    @property
    def size(self) -> int:
        """Bytes that it takes, nearly."""
        arrays = self._matrix, self._passages, self._order
        held = sum(array.nbytes for array in arrays if array is not None)
        return held + _ENTRY * sum(len(nodes) for nodes in self._scopes.values())

    def take(self, rows: Sequence[Row], width: int) -> None:
        """Passages with their vectors; those of another width cannot be compared with anything."""
        import numpy as np

        whole = packing.lengths(width)
        rows = [row for row in rows if len(row[1]) in whole]
        if not rows:
            return
        block = packing.unpacked([row[1] for row in rows], width)
        sound = packing.are_finite(block)
        self._append(np.array([row[0] for row in rows], np.int64)[sound], block[sound].astype(np.float32))
        self._order = None
        self._chosen.clear()

    def believe(self, batches: Iterable[Sequence[Row]]) -> None:
        """(scope, node, number) of what was believed since."""
        for rows in batches:
            for scope, node, _ in rows:
                self._scopes.setdefault(scope, set()).add(node)
            self._chosen.clear()

    def within(
        self, query: Floats, depth: int, scopes: Collection[int] | None, nodes: Collection[int] | None
    ) -> list[tuple[int, float]]:
        """The nearest in these scopes and among these nodes, if given."""
        return self.nearest(query, depth, self._allowed(scopes, nodes)) if self._size else []

    def pieces(self, scopes: Collection[int] | None, nodes: Collection[int] | None) -> list[packing.Piece]:
        """The same rows by their signs."""
        import numpy as np

        if not self._size:
            return []
        rows = self._allowed(scopes, nodes)
        rows = np.arange(self._size) if rows is None else rows
        return [(packing.Signs.of(self._held_passages()[rows], self._held()[rows].astype(np.float16)), None)]

    def cosines(self, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""
        import numpy as np

        if not self._size or not nodes:
            return {}
        rows = self._rows_of(np.fromiter(nodes, np.int64, len(nodes)))
        found, values = self._by_node(rows, query, self._alike)
        return dict(zip(found.tolist(), values.tolist(), strict=True))

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

    def nearest(self, query: Floats, depth: int, rows: Rows | None = None) -> list[tuple[int, float]]:
        """The nearest (of these rows), exactly."""
        import numpy as np

        if not self._size:
            return []
        nodes, cosines = self._by_node(np.arange(self._size) if rows is None else rows, query, self._fast)
        first = self._rows_of(np.sort(nodes[np.lexsort((nodes, -cosines))[: depth + BESIDE]]))
        nodes, cosines = self._by_node(first, query, self._alike)
        best = np.lexsort((nodes, -cosines))[:depth]
        return list(zip(nodes[best].tolist(), cosines[best].tolist(), strict=True))

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
