"""What a store keeps in mind between calls, whichever engine it lies in: texts that wait, vectors, claims on tenants.

All of it can be lost. Up to two thousand texts may wait to be folded into the words index, and every question and
every write looks at them; so each look reads only what has come since. What is kept is right as long as the last text
that was seen is still there and none has gone: they come in the order of their rows, are folded all at once, and
a row that went never comes back. A look inside a write transaction adds nothing: what it sees may be undone.

The index of vectors is caught up from SQL before each search. Up to `EXACT` vectors lie in memory and are all
compared. Of more, memory holds the signs alone (`packing`), which choose the few hundred that are read from SQL and
compared exactly. It knows nothing of time and worlds: the view filters what it returns.
"""

from __future__ import annotations

import struct
import threading
from base64 import b64decode
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import orjson
from msgspec import Struct

from worldline import Later
from worldline.config import Config
from worldline.errors import Conflict, Refused
from worldline.ports import Row, Store, Tenant, Vectors, View
from worldline.store import packing
from worldline.store.schema import WORDS_PER_NODE
from worldline.text import forget_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from worldline.ports import Texts

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Compare = Callable[[Rows, Floats], Floats]
else:
    np = Later("numpy")

# Texts that wait ======================================================================================

WaitingText: TypeAlias = tuple[int, str, str, str]
"""A passage: its row, its owners, its words and its kinds."""
KIND, OWNER, APART, EVERY = "#", "@", "=", ""
"""What a term begins with that is no word of a text: a kind, an owner; and the list of all texts."""
FRESH = 2048
"""So many new texts wait at most. The more, the fewer pages are written for each: 15 with 192, 4 with 2,048."""
TENANTS = 32
"""So many tenants' texts are kept in mind."""
MOST_LENGTH = 65_535
WAITING = "SELECT row, owner, text, kinds FROM fresh_words WHERE tenant = :t"
_TOGETHER = 16
"""So many of those that a transaction has put are looked at as one."""
_HEAD = struct.Struct(">IHH")
_OFTEN = [bytes((min(often, 255),)) for often in range(256)]


def terms_of(text: WaitingText) -> Counter[str]:
    """What a passage is found by, and how often it has it; its tenant's own token is not among them."""
    return Counter(_tokens(text))


def _tokens(text: WaitingText) -> list[str]:
    _, owner, held, kinds = text
    found = held.split()
    if kinds:
        found += [KIND + kind for kind in kinds.split()]
    if " " in owner:
        found += [OWNER + token for token in owner.split()[1:]]
    return found


def length_of(text: WaitingText) -> int:
    """How many tokens a text is counted with."""
    _, owner, held, kinds = text
    parts = (owner != "") + (held != "") + (kinds != "")
    return parts + owner.count(" ") + held.count(" ") + kinds.count(" ")


def _head(text: WaitingText) -> bytes:
    row = text[0]
    return _HEAD.pack(row // WORDS_PER_NODE, row % WORDS_PER_NODE, min(length_of(text), MOST_LENGTH))


def postings(texts: Texts) -> Iterator[tuple[str, bytes]]:
    """(term, posting) of passages; the list of all texts says how many terms each has."""
    for text in texts:
        head, terms = _head(text), terms_of(text)
        yield from ((term, head + _OFTEN[min(often, 255)]) for term, often in terms.items())
        yield EVERY, head + _OFTEN[min(len(terms), 255)]


@lru_cache(1024)
def _posted_together(texts: tuple[WaitingText, ...]) -> Mapping[str, Sequence[bytes]]:
    """The postings of some passages, term by term; kept, because a transaction looks at its own again and again."""
    found: dict[str, list[bytes]] = {}
    for term, posting in postings(texts):
        if term != EVERY:
            found.setdefault(term, []).append(posting)
    return found


_MANY = 64
"""The postings of a term that has so many places among the texts that wait are kept: everybody's owner is in all."""


class Waiting:
    """The texts of one tenant that wait, as far as they were seen; a reader looks at the first so many."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._texts: list[WaitingText] = []
        self._heads: list[bytes] = []
        self._where: dict[str, list[int]] = {}
        """Term → which texts have it, each as often as it does."""
        self._made: dict[str, tuple[int, int, list[bytes]]] = {}
        """Of a term that many have: up to which text, and how far among its places, its postings were made."""

    def seen(self) -> tuple[int, WaitingText | None]:
        """How many there are, and the last one."""
        with self._guard:
            return len(self._texts), self._texts[-1] if self._texts else None

    def follow(self, count: int, texts: Sequence[WaitingText]) -> bool:
        """Adds the texts that follow the first so many; False where others were added meanwhile."""
        with self._guard:
            if len(self._texts) != count:
                return False
            self._extend(texts)
            return True

    def _extend(self, texts: Sequence[WaitingText]) -> None:
        for text in texts:
            number = len(self._texts)
            self._heads.append(_head(text))
            for token in _tokens(text):
                self._where.setdefault(token, []).append(number)
            self._texts.append(text)

    def held(self, term: str, count: int) -> list[bytes]:
        """The postings of a term among the first so many texts."""
        where = self._where.get(term)
        if where is None:
            return []
        if len(where) < _MANY:
            return self._postings(where if where[-1] < count else where[: bisect_left(where, count)])
        far, done, made = self._made.get(term, (0, 0, []))
        if count < far:
            return self._postings(where[: bisect_left(where, count)])
        upto = bisect_left(where, count)
        if upto > done:
            made = made + self._postings(where[done:upto])
        self._made[term] = count, upto, made
        return made

    def _postings(self, where: Sequence[int]) -> list[bytes]:
        return [self._heads[number] + _OFTEN[min(times, 255)] for number, times in Counter(where).items()]


class SeenWaiting(Struct, frozen=True):
    """The texts that wait as one transaction sees them."""

    known: Waiting
    number: int
    own: Sequence[WaitingText] = ()
    """Those that it alone may see."""

    def beside(self, texts: Sequence[WaitingText]) -> SeenWaiting:
        """With some more that are to come after them."""
        return SeenWaiting(self.known, self.number, [*self.own, *texts]) if texts else self

    def held(self, terms: Set[str]) -> dict[str, list[bytes]]:
        """The postings under each of these terms that any text has."""
        found = {term: held for term in terms if (held := self.known.held(term, self.number))}
        for start in range(0, len(self.own), _TOGETHER):
            posted = _posted_together(tuple(self.own[start : start + _TOGETHER]))
            for term in posted.keys() & terms:
                found[term] = [*found.get(term, ()), *posted[term]]
        return found


def look_at_waiting(
    view: View, before: tuple[Waiting, int, WaitingText | None], total: int, rows: Sequence[WaitingText]
) -> SeenWaiting:
    """All that wait: what was seen before, and the rows from the last of it on; all anew where those do not join."""
    known, count, last = before
    new = rows[1:] if count else rows
    if (count and (not rows or rows[0] != last)) or count + len(new) != total:
        known, count, new = Waiting(), 0, view.query(f"{WAITING} ORDER BY row")
    if view.store.is_writing or not known.follow(count, new):
        return SeenWaiting(known, count, new)
    held = view.store.waiting
    held[view.tenant] = known
    while len(held) > TENANTS:
        held.pop(next(iter(held)), None)
    return SeenWaiting(known, count + len(new))


def seen_waiting(view: View) -> tuple[Waiting, int, WaitingText | None]:
    """What is in mind of a tenant's texts that wait: how many, and the last one."""
    known = view.store.waiting.get(view.tenant) or Waiting()
    return (known, *known.seen())


# Vectors ==============================================================================================

EXACT = 20_000
BESIDE = 50
"""So many more than asked for are compared again to the last bit."""
WIDE, NARROW = 8, 3
"""So many times as many as asked for are chosen by their signs, and so many are compared exactly."""
_REMEMBERED = 8
"""So many scopes whose rows are remembered between searches."""
_ENTRY = 64
"""Bytes that a number in a set takes, nearly."""
_AT_ONCE = 2_000
"""So many rows are read at a time: what is made of them lies in the processor's cache, and in memory that is there."""


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

    def catch_up(self, view: View, newest: Newest, width: int) -> None:
        """Takes in what was stored since, where there is so much that the next question would wait for it."""
        if newest.vector > EXACT:
            with self._lock:
                self._catch_up(view, newest, width, bound=True)

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
        if not self._size:
            return []
        rows = self._allowed(scopes, nodes)
        rows = np.arange(self._size) if rows is None else rows
        return [(packing.Signs.of(self._held_passages()[rows], self._held()[rows].astype(np.float16)), None)]

    def cosines(self, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""
        if not self._size or not nodes:
            return {}
        rows = self._rows_of(np.fromiter(nodes, np.int64, len(nodes)))
        found, values = self._by_node(rows, query, self._alike)
        return dict(zip(found.tolist(), values.tolist(), strict=True))

    def _append(self, passages: Any, block: Floats) -> None:
        """Grows by doubling, so that one more vector does not copy all others."""
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
        if self._order is None:
            self._order = np.argsort(self._held_passages(), kind="stable")
        return self._order, self._held_passages()[self._order]

    def _rows_of(self, nodes: Rows) -> Rows:
        """Every row of these nodes."""
        order, passages = self._ordered()
        low = np.searchsorted(passages, nodes * WORDS_PER_NODE)
        counts = np.searchsorted(passages, (nodes + 1) * WORDS_PER_NODE) - low
        starts = np.repeat(low - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        return np.asarray(order[starts + np.arange(int(counts.sum()))])

    def _allowed(self, scopes: Collection[int] | None, nodes: Collection[int] | None) -> Rows | None:
        """The rows that may be returned; None for all."""
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
        if not self._size:
            return []
        nodes, cosines = self._by_node(np.arange(self._size) if rows is None else rows, query, self._fast)
        first = self._rows_of(np.sort(nodes[np.lexsort((nodes, -cosines))[: depth + BESIDE]]))
        nodes, cosines = self._by_node(first, query, self._alike)
        best = np.lexsort((nodes, -cosines))[:depth]
        return list(zip(nodes[best].tolist(), cosines[best].tolist(), strict=True))

    def _by_node(self, rows: Rows, query: Floats, compare: Compare) -> tuple[Rows, Floats]:
        """Passages roll up: the mean of a node's best and of its first passage."""
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
        return np.asarray((self._held()[rows].astype(np.float64) * query).sum(axis=1), np.float32)


def _products(rows: Floats, query: Floats) -> Floats:
    """Each row times the query, in this thread alone: BLAS would wake others, which wait for longer than they work."""
    return np.asarray(np.einsum("ij,j->i", rows, query))


PROBE = "probe:"
_SAME = 0.99


def same_embedder(stored: str, mine: str) -> bool:
    """Whether two identities are of one embedder; where a probe stands for weights, nearly the same one will do."""
    if stored == mine or not (stored.startswith(PROBE) and mine.startswith(PROBE)):
        return stored == mine
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
        if self._matrix is not None and size <= len(self._matrix):
            return
        matrix = np.zeros((max(256, 2 * size), width), np.float32)
        keys = np.zeros((len(matrix), 2), np.int64)
        if self._matrix is not None:
            matrix[: len(self._matrix)], keys[: len(self._matrix)] = self._matrix, self._keys
        self._matrix, self._keys = matrix, keys


# The store ============================================================================================

SHOWN = 4096
"""So many shown memories are kept in mind between two writes; the oldest are dropped."""
INDEXES, ROOM = 256, 512 << 20
"""The vectors of so many tenants are kept in memory, and so many bytes of them; those asked longest ago are dropped."""
USED = (
    "INSERT INTO uses (id, tenant, line, scope, kind, at) SELECT"
    " (SELECT CASE WHEN coalesce(max(u.id), 0) < :at THEN :at ELSE max(u.id) + 1 END FROM uses u WHERE u.tenant = :t),"
    " CAST(:t AS BIGINT), CAST(:line AS BIGINT), coalesce((SELECT b.scope FROM beliefs b WHERE b.tenant = :t"
    " AND b.line = :line ORDER BY b.id LIMIT 1), 0), CAST(:kind AS TEXT), CAST(:at AS BIGINT)"
)
"""Notes aside that a lineage was shown, useful or wrong, for whoever sleeps over its owner's memory. Its
number is its moment, or the next one that is free, so that no number is given twice."""
TENANT = "SELECT tenant, name, root, last_known, sequence, head, embedder FROM tenants WHERE tenant = :t AND root <> 0"
CLAIM = (
    "INSERT INTO tenants (tenant, name, root, last_known, sequence, head) VALUES (:t, :name, 0, :now, 0, :head)"
    " ON CONFLICT (tenant) DO UPDATE SET name = tenants.name RETURNING tenant, name, root, last_known, sequence, head"
)
"""Whoever comes second waits for the first, and finds the tenant that it has made."""


class Share(NamedTuple):
    """How much of a memory an owner had when it was counted: until it is twice as large, about that still."""

    texts: int
    least: int
    rows: Sequence[Row]

    def now(self, texts: int) -> list[Row]:
        """The rows of the count as they may be by now; no fewer than what made it worth keeping."""
        return [(*row[:2], max(int(row[2]) * texts // self.texts, self.least), *row[3:]) for row in self.rows]


def large(owners: Mapping[str, Sequence[Row]], texts: int, short: int) -> Iterator[tuple[str, Share]]:
    """Owners of very many texts are not counted again at every question: that takes as long as their list."""
    for term, rows in owners.items():
        counted = [row for row in rows if row[0] == 1]
        if any(int(row[2]) > short for row in counted):
            yield term, Share(texts, short + 1, counted)


class Held(Store):
    """Caches of one open store, what recalls have shown since the last write, and what most engines do alike."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.statements = 0
        self.vectors: dict[str, Vectors] = {}
        self.likeness: Any = None
        """What the walk has learned about similar words, kept between questions."""
        self.meanings: dict[str, Any] = {}
        """Vectors of names that were compared."""
        self.common: dict[tuple[int, str], int] = {}
        """Words that many texts hold, with a count of some time ago: counting them again costs the most."""
        self.spread: dict[int, tuple[int, dict[str, int]]] = {}
        """How many texts a tenant had, and in how many of them very common words stood, when they were counted."""
        self.shares: dict[tuple[int, str], Share] = {}
        """By tenant and owner, how much of the memory is theirs, as it was counted some time ago."""
        self.counts: dict[Any, Any] = {}
        """How much a view holds, as it was counted after some changeset."""
        self.counted: dict[int, Any] = {}
        """By tenant, what was counted for a reader and is still to be written down."""
        self.facts: dict[tuple[int, int], Any] = {}
        """By tenant, and how often something was moved or erased there: what facts say, as it was read."""
        self.ends: dict[int, Any] = {}
        """By the number of a fact, what may answer of it, as long as it is the same fact that was read."""
        self.landmarks: dict[tuple[str, int], Any] = {}
        """By id and by when it was said, the landmarks that a text tells of."""
        self.waiting: dict[int, Waiting] = {}
        """By tenant, what was seen of the texts that wait to be folded into the words index."""
        self.swept: set[str] = set()
        """Tenants whose missing vectors have been looked for since the store was opened."""
        self.unseen: dict[str, int] = {}
        """By tenant, how many vectors were stored since its index was last caught up by a write."""
        self.leaves: dict[int, Any] = {}
        """By tenant, the hashes of single memories, which are not stored because they follow from their ids."""
        self.met: set[tuple[int, str]] = set()
        """(tenant, embedder) whose vectors this process has compared with."""
        self.shown: dict[int, dict[int, int]] = {}
        """tenant → lineage → moment: what recalls have shown since the tenant's last write; never much."""

    def forget_caches(self) -> None:
        """Drops whatever was learned from texts."""
        self.likeness = None
        learned: list[dict[Any, Any]] = [
            *(self.meanings, self.common, self.spread, self.shares, self.counts, self.counted, self.facts),
            *(self.ends, self.landmarks, self.waiting, self.shown),
        ]
        for cache in learned:
            cache.clear()
        forget_names()

    def note_shown(self, tenant: int, lines: Iterable[int], at: int) -> None:
        """Lineages that a recall has shown; written down with the tenant's next write, not by the read."""
        held = self.shown.setdefault(tenant, {})
        for line in lines:
            held[line] = at
        while len(held) > SHOWN:
            held.pop(next(iter(held)), None)

    def shown_rows(self, tenant: int) -> list[dict[str, Any]]:
        """What is to be written down for a tenant, as `USED` takes it."""
        held = dict(self.shown.get(tenant, {}))
        return [{"t": tenant, "line": line, "kind": "shown", "at": at} for line, at in held.items()]

    def forget_shown(self, tenant: int, rows: Iterable[dict[str, Any]]) -> None:
        """Those that have been written down; what was shown again meanwhile stays."""
        held = self.shown.get(tenant, {})
        for row in rows:
            if held.get(row["line"]) == row["at"]:
                held.pop(row["line"], None)
        if not held:
            self.shown.pop(tenant, None)

    def forget(self, tenant: str) -> None:
        """Drops what is kept in mind of a tenant whose rows were replaced."""
        self.vectors.pop(tenant, None)
        self.counts.clear()
        self.counted.clear()
        self.facts.clear()
        self.ends.clear()
        self.swept.discard(tenant)
        self.waiting.clear()

    def index_of(self, tenant: str) -> Vectors:
        """A tenant's vectors; whoever was asked longest ago gives up the room that others need."""
        index = self.vectors.pop(tenant, None) or self._new_index()
        self.vectors[tenant] = index
        while len(self.vectors) > 1 and (
            len(self.vectors) > INDEXES or sum(held.size for held in self.vectors.values()) > ROOM
        ):
            self.vectors.pop(next(iter(self.vectors)), None)
        return index

    def _new_index(self) -> Vectors:
        return VectorIndex()

    # Where an engine has no way of its own -----------------------------------------------------------

    def execute(self, sql: str, args: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """One statement inside the write transaction."""
        return self.query(sql, args)

    def readable(self, sql: str, args: Mapping[str, Any]) -> list[Row]:
        """All rows, where no text is kept that is none."""
        return self.query(sql, args)

    def tenants(self) -> list[str]:
        """The names of all tenants that have memories."""
        return [row[0] for row in self.query("SELECT name FROM tenants WHERE root <> 0 ORDER BY name")]

    def missing_indexes(self) -> list[str]:
        """None, where the engine keeps them itself."""
        return []

    def mend_indexes(self) -> None:
        """Nothing, for the same reason."""

    def problems(self) -> list[str]:
        """None, where the engine checks its pages itself."""
        return []

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Nothing special around a big load."""
        yield

    def drop_indexes(self) -> None:
        """Where other tenants use the indexes, they stay."""

    def make_indexes(self) -> None:
        """They have stayed."""


def its_own(rows: Sequence[Row], name: str) -> Tenant:
    """A tenant from its row, if there is one; refused where another name has the same number."""
    if rows and rows[0][1] != name:
        raise Refused(f"the tenant {name!r} cannot live beside {rows[0][1]!r}: their numbers are the same")
    return Tenant(*rows[0]) if rows else Tenant()
