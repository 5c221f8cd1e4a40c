"""Vectors in few bits: sixteen or fifteen a number as they lie in a table, and two a number to choose among very many.

The numbers of a unit vector are below 2, so that the highest bit of a half's exponent is never set and need not be
kept: the very same numbers, and small enough that in a file two vectors of 384 numbers share what hangs over a page.
Packed are a mark, the lower byte of each number, and seven bits of the upper byte of the first seven eighths of them;
the eighth bits hold the upper bytes of the last eighth, bit by bit. Packed vectors have an odd length, plain ones an
even one.

The signs of vectors, and which of their numbers are large, are enough to say which few are worth comparing exactly. A
row is a passage; rows lie in the order of their passages, and each stands for itself alone, so the same rows are
chosen wherever they lie. `Gathered` is what a process knows of one table: a base that does not change, which a file
beside the store may hold, and what came after it. The file is disposable: it is mapped, not read, and one that is
missing, damaged, of another history or from before something was erased counts as none.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct

from worldline import Later
from worldline.store.schema import WORDS_PER_NODE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves: TypeAlias = NDArray[np.float16]
    Octets: TypeAlias = NDArray[np.uint8]
    from worldline.ports import Row

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Planes = NDArray[np.uint64]
else:
    np = Later("numpy")

# Halves ===============================================================================================

_PACKED = b"\x0f"
_STEP = 16
"""Vectors of so many numbers, or a multiple of it, can be packed."""
_EXPONENT = 0x40
"""The bit of an upper byte that no number below 2 has."""
_SIGN = 0x40
"""The bit of the sign, where that bit is left out."""


def packed_length(width: int) -> int:
    """Bytes of a packed vector."""
    return 1 + width + width // 8 * 7


def lengths(width: int) -> frozenset[int]:
    """Bytes that a vector of so many numbers may take."""
    return frozenset([2 * width, packed_length(width)] if width % _STEP == 0 else [2 * width])


def width_of(vector: bytes) -> int:
    """How many numbers a stored vector has; 0 where it is none.

    >>> width_of(bytes(768)), width_of(bytes(721)), width_of(bytes(7))
    (384, 384, 0)
    """
    if len(vector) % 2 == 0:
        return len(vector) // 2
    width = (len(vector) - 1) // 15 * 8
    return width if width % _STEP == 0 and packed_length(width) == len(vector) else 0


def packed(vector: bytes) -> bytes:
    """A plain vector in fifteen bits a number; one for which that is too little stays as it is."""
    if len(vector) % (2 * _STEP) or not vector:
        return vector

    octets = np.frombuffer(vector, np.uint8).reshape(-1, 2)
    lower, upper = octets[:, 0], octets[:, 1]
    if (upper & _EXPONENT).any():
        return vector
    seven = ((upper & 0x80) >> 1 | upper & 0x3F).reshape(8, -1)
    bits = seven[7] >> np.arange(7, dtype=np.uint8)[:, None]
    return b"".join((_PACKED, lower.tobytes(), (seven[:7] | bits << 7).tobytes()))


def plain(vector: bytes) -> bytes:
    """A stored vector in sixteen bits a number; what is none stays as it is."""
    return unpacked([vector], width).tobytes() if (width := width_of(vector)) else vector


def unpacked(vectors: Sequence[bytes], width: int) -> Halves:
    """A row of numbers for each of these vectors, which all have so many, packed or plain."""
    held = list(map(len, vectors))
    if held.count(packed_length(width)) == len(held):
        octets = np.frombuffer(b"".join(vectors), np.uint8)
        return _opened(octets.reshape(-1, packed_length(width)), width).view(np.float16)
    found = np.empty((len(vectors), 2 * width), np.uint8)
    for length, read in ((2 * width, _plain), (packed_length(width), _opened)):
        rows = [row for row, size in enumerate(held) if size == length]
        if rows:
            octets = np.frombuffer(b"".join([vectors[row] for row in rows]), np.uint8)
            found[rows] = read(octets.reshape(-1, length), width)
    return found.view(np.float16)


def _plain(octets: Octets, width: int) -> Octets:
    return octets


def _opened(octets: Octets, width: int) -> Octets:
    upper = _upper(octets, width)
    found = np.empty((len(octets), width, 2), np.uint8)
    found[:, :, 0] = octets[:, 1 : width + 1]
    found[:, :, 1] = (upper & _SIGN) << 1 | upper & _SIGN - 1
    return found.reshape(len(octets), 2 * width)


def _upper(octets: Octets, width: int) -> Octets:
    """The upper bytes of packed vectors, in seven bits: the sign, and what is left of it."""
    eighth = width // 8
    kept = octets[:, width + 1 :]
    upper = np.empty((len(octets), width), np.uint8)
    rest = upper[:, 7 * eighth :]
    np.bitwise_and(kept, 0x7F, out=upper[:, : 7 * eighth])
    rest[:] = 0
    for place in range(7):
        rest |= (kept[:, place * eighth : (place + 1) * eighth] & 0x80) >> (7 - place)
    return upper


# Signs ================================================================================================

_BLOCK = 32_768
"""So many rows are compared at a time: what is reckoned on stays in the processor's cache."""
_NEAR = 256
"""So many vectors are put together, or taken apart, at a time, for the same reason."""
_LARGE, _LEVELS = 0.98, (0.4528, 1.51)
"""Above which part of its share in the length a number is large, and what small and large ones stand for: what loses
least where numbers are spread as chance would have it."""
_SIGNS_FILE = b"WLSIGNS1"
_LENGTH = 1016
"""Bytes that the header has room for, behind the mark."""
_REMEMBERED = 8
"""So many scopes whose rows are remembered between searches."""
FRESH = 5_000
"""So many rows, or an eighth of all, come after the base before both are joined."""


class Signs(Struct, frozen=True):
    """Passages, rising, and the bits of their vectors, word by word of all rows: a scan runs through memory.

    The words of the signs come first, then those that say which numbers are large.
    """

    passages: Rows
    planes: Planes

    @classmethod
    def of(cls, passages: Rows, numbers: NDArray[np.float16]) -> Signs:
        """The signs of these vectors; those that hold what is no number are left out."""
        bits, sound = np.ascontiguousarray(numbers).view(np.int16), are_finite(numbers)
        order = np.argsort(passages[sound], kind="stable")
        bits = bits[sound][order]
        large = _large(numbers.shape[1])
        planes = np.concatenate([_packed(bits > 0), _packed((bits & 0x7FFF) > large)])
        return cls(passages[sound][order], planes)

    @classmethod
    def of_packed(cls, passages: Rows, octets: Octets, width: int) -> Signs:
        """The same of packed vectors, whose numbers are not put together for it; what is no number cannot be packed.

        The upper byte says nearly all: a sign, and unless it is the limit's own, which numbers are large.
        """
        high, low = divmod(_large(width), 256)
        found = np.zeros((len(octets), 2, 4 * _words(width)), np.uint8)
        for start in range(0, len(octets), _NEAR):
            block = octets[start : start + _NEAR]
            lower, upper = block[:, 1 : width + 1], _upper(block, width)
            above = upper < _SIGN
            above &= (upper | lower) != 0
            upper &= _SIGN - 1
            large = upper == high
            large &= lower > low
            large |= upper > high
            found[start : start + _NEAR, 0, : width // 8] = np.packbits(above, axis=1)
            found[start : start + _NEAR, 1, : width // 8] = np.packbits(large, axis=1)
        planes = found.reshape(len(octets), -1).view(np.uint64).T
        if not _are_rising(passages):
            order = np.argsort(passages, kind="stable")
            passages, planes = passages[order], planes[:, order]
        return cls(passages, np.ascontiguousarray(planes))

    @classmethod
    def none(cls, width: int) -> Signs:
        return cls(np.zeros(0, np.int64), np.zeros((_words(width), 0), np.uint64))

    def __len__(self) -> int:
        return len(self.passages)

    def joined(self, *more: Signs) -> Signs:
        """All of them; of a passage that several have, the last."""
        parts = [part for part in (self, *more) if len(part)] or [self]
        passages = np.concatenate([part.passages for part in parts])
        if _are_rising(passages):
            return Signs(passages, np.concatenate([part.planes for part in parts], axis=1))
        parts.reverse()
        kept, first = np.unique(np.concatenate([part.passages for part in parts]), return_index=True)
        return Signs(kept, np.concatenate([part.planes for part in parts], axis=1)[:, first])

    def rows_of(self, nodes: Rows) -> Rows:
        """Every row of these nodes, which rise."""
        first = np.searchsorted(self.passages, nodes * WORDS_PER_NODE)
        return _runs(first, np.searchsorted(self.passages, (nodes + 1) * WORDS_PER_NODE))

    def apart(self, query: Planes, rows: Rows | None) -> NDArray[np.uint16]:
        """In how many signs each row (of these) differs from the query."""
        planes = self.planes[: len(query)] if rows is None else self.planes[: len(query), rows]
        found = np.empty(planes.shape[1], np.uint16)
        for start in range(0, len(found), _BLOCK):
            block = found[start : start + _BLOCK]
            block[:] = 0
            for plane, word in zip(planes, query, strict=True):
                block += np.bitwise_count(plane[start : start + _BLOCK] ^ word)
        return found

    def products(self, query: Floats, rows: Rows) -> Floats:
        """The query against what the bits of these rows stand for, at one length."""
        small, large = _LEVELS
        signs, big = np.split(self.planes[:, rows], 2)
        up, high, above = (_sums(planes, query) for planes in (signs, big, signs & big))
        found = small * (2 * up - query.sum()) + (large - small) * (2 * above - high)
        count = np.bitwise_count(big).sum(axis=0)
        return np.asarray(found / np.sqrt(small**2 * len(query) + (large**2 - small**2) * count))


def are_finite(numbers: NDArray[np.float16]) -> NDArray[np.bool_]:
    """Of each vector whether all of it is numbers."""
    return np.asarray(((np.ascontiguousarray(numbers).view(np.int16) & 0x7FFF) < 0x7C00).all(axis=1))


def _sums(planes: Planes, query: Floats) -> Floats:
    """For each row the sum of the query's numbers where its bits are set."""
    octets, found = np.ascontiguousarray(planes.T).view(np.uint8), np.empty(planes.shape[1], np.float32)
    for start in range(0, len(found), _NEAR):
        bits = np.unpackbits(octets[start : start + _NEAR], axis=1, count=len(query)).astype(np.float32)
        found[start : start + _NEAR] = np.einsum("ij,j->i", bits, query)
    return found


def _large(width: int) -> int:
    """The bits of the largest number that is not large."""
    return int(np.float16(_LARGE / width**0.5).view(np.int16))


def _are_rising(passages: Rows) -> bool:
    return bool((passages[1:] > passages[:-1]).all())


def _words(width: int) -> int:
    """Words of 64 bits that a vector takes."""
    return 2 * -(-width // 64)


def _packed(bits: NDArray[np.bool_]) -> Planes:
    octets = np.packbits(bits, axis=1)
    room = np.zeros((len(octets), -(-octets.shape[1] // 8) * 8), np.uint8)
    room[:, : octets.shape[1]] = octets
    return np.ascontiguousarray(room.view(np.uint64).T)


Piece = tuple[Signs, "Rows | None"]
"""Signs, and which of their rows may be returned; None for all."""


def most_alike(pieces: Sequence[Piece], query: Floats, wide: int, narrow: int) -> Rows:
    """The nodes of the rows most like a query: `wide` by their equal signs, of these `narrow` by its own numbers."""
    signs = _packed((query > 0)[None, :])[:, 0]
    apart = [piece.apart(signs, rows) for piece, rows in pieces]
    furthest = np.searchsorted(np.cumsum(np.bincount(np.concatenate(apart))), wide)
    passages, products = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for (piece, rows), far in zip(pieces, apart, strict=True):
        near = np.flatnonzero(far <= furthest)
        near = near if rows is None else rows[near]
        passages.append(np.asarray(piece.passages[near]))
        products.append(piece.products(query, near))
    found, near_ = np.concatenate(passages), np.concatenate(products)
    best = np.lexsort((found, -near_))[:narrow]
    return np.unique(found[best] // WORDS_PER_NODE)


# Who may see what --------------------------------------------------------------------------------------


class Owned(Struct, frozen=True):
    """The nodes, rising, that were ever believed, each with a scope that it was believed in."""

    nodes: Rows
    scopes: Rows

    @classmethod
    def of(cls, pairs: Rows) -> Owned:
        """(scope, node) pairs, at least one; each counts once."""
        known = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
        anew = np.concatenate([[True], (known[1:] != known[:-1]).any(axis=1)])
        return cls(np.ascontiguousarray(known[anew, 1]), np.ascontiguousarray(known[anew, 0]))

    def joined(self, *more: Owned) -> Owned:
        if not len(self.nodes) and len(more) == 1:
            return more[0]
        nodes = np.concatenate([self.nodes, *(part.nodes for part in more)])
        order = np.argsort(nodes, kind="stable")
        return Owned(nodes[order], np.concatenate([self.scopes, *(part.scopes for part in more)])[order])

    def within(self, scopes: Collection[int]) -> Rows:
        """The nodes that were believed in one of these."""
        return _once(self.nodes[np.isin(self.scopes, list(scopes))])

    def among(self, nodes: Rows, scopes: Collection[int]) -> Rows:
        """Those of these nodes, which rise, that were believed in one of these scopes."""
        rows = _runs(np.searchsorted(self.nodes, nodes), np.searchsorted(self.nodes, nodes, side="right"))
        return _once(self.nodes[rows][np.isin(self.scopes[rows], list(scopes))])


def _runs(first: Rows, behind: Rows) -> Rows:
    """The numbers from each of the first up to what stands behind it, run after run."""
    counts = behind - first
    starts = np.repeat(first - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return np.asarray(starts + np.arange(int(counts.sum())))


def _once(rising: Rows) -> Rows:
    return np.asarray(rising[np.concatenate([[True], rising[1:] != rising[:-1]])] if len(rising) else rising)


class SignsPart(Struct, frozen=True):
    """Rows, and whose they are."""

    signs: Signs
    believed: Owned

    def joined(self, more: SignsPart) -> SignsPart:
        return SignsPart(self.signs.joined(more.signs), self.believed.joined(more.believed))

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """As they lie in the file."""
        return self.signs.passages, self.signs.planes, self.believed.nodes, self.believed.scopes

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(array.nbytes for array in self.arrays)


class Gathered:
    """What is known of a table: the base and what came after it."""

    def __init__(self, width: int) -> None:
        nothing = np.zeros(0, np.int64)
        self.width, self._nothing = width, SignsPart(Signs.none(width), Owned(nothing, nothing))
        self.base = self.rest = self._nothing
        self._chosen: dict[frozenset[int], Rows | None] = {}

    def __len__(self) -> int:
        return len(self.base.signs) + len(self.rest.signs)

    @property
    def is_due(self) -> bool:
        """Whether so much came after the base that both should be joined."""
        rest = len(self.rest.signs) + len(self.rest.believed.nodes)
        return rest > FRESH + len(self.base.signs) // 8

    def begin(self, base: SignsPart) -> None:
        """With this base, and nothing after it."""
        self.base, self.rest = base, self._nothing
        self._chosen.clear()

    def settle(self) -> None:
        """Joins what came after the base to it."""
        self.begin(self.base.joined(self.rest))

    def take(self, batches: Iterable[Sequence[Row]]) -> int:
        """(passage, vector, number) of rows that came since; the number of the last, 0 for none."""
        last, found = 0, list[Signs]()
        for rows in batches:
            last = rows[-1][2]
            found += self._signs(rows)
        if found:
            self.rest = SignsPart(self.rest.signs.joined(*found), self.rest.believed)
        return last

    def _signs(self, rows: Sequence[Row]) -> Iterator[Signs]:
        """Those of another width cannot be compared with anything."""
        passages, vectors, _ = zip(*rows, strict=True)
        found = set(map(len, vectors))
        for length in lengths(self.width) & found:
            if len(found) > 1:
                passages, vectors, _ = zip(*(row for row in rows if len(row[1]) == length), strict=True)
            octets = np.frombuffer(b"".join(vectors), np.uint8).reshape(-1, length)
            which = np.array(passages, np.int64)
            if length == 2 * self.width:
                yield Signs.of(which, octets.view(np.float16))
            else:
                yield Signs.of_packed(which, octets, self.width)

    def believe(self, batches: Iterable[Sequence[Row]]) -> None:
        """(scope, node, number) of what was believed since."""
        found = [
            np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows)).reshape(-1, 3)[:, :2]
            for rows in batches
        ]
        if found:
            more = Owned.of(np.concatenate(found))
            self.rest = SignsPart(self.rest.signs, self.rest.believed.joined(more))

    def pieces(self, scopes: Collection[int] | None, nodes: Collection[int] | None) -> list[Piece]:
        """The rows that may be returned, of the base and of what came after."""
        if scopes is None and nodes is None:
            return [(self.base.signs, None), (self.rest.signs, None)]
        if nodes is not None:
            asked = np.unique(np.fromiter(nodes, np.int64, len(nodes)))
            seen = asked if scopes is None else self._seen(asked, scopes)
            return [(part.signs, part.signs.rows_of(seen)) for part in (self.base, self.rest)]
        assert scopes is not None
        later = self.rest.believed.within(scopes)
        fresh = _once(self.rest.signs.passages // WORDS_PER_NODE)
        mine = self.rest.signs.rows_of(self._seen(fresh, scopes))
        return [(self.base.signs, self._of_base(scopes, later)), (self.rest.signs, mine)]

    def _seen(self, nodes: Rows, scopes: Collection[int]) -> Rows:
        return np.union1d(*(part.believed.among(nodes, scopes) for part in (self.base, self.rest)))

    def _of_base(self, scopes: Collection[int], later: Rows) -> Rows | None:
        """Its rows in these scopes, and those of nodes that were believed there since."""
        key, signs = frozenset(scopes), self.base.signs
        if key not in self._chosen:
            if len(self._chosen) >= _REMEMBERED:
                self._chosen.clear()
            rows = signs.rows_of(self.base.believed.within(scopes))
            self._chosen[key] = None if len(rows) == len(signs) else rows
        rows_, more = self._chosen[key], signs.rows_of(later)
        return rows_ if rows_ is None or not len(more) else np.union1d(rows_, more)


# The file ----------------------------------------------------------------------------------------------


class Stamp(Struct, frozen=True):
    """What a base was made of: up to which rows, in which history, and how often rows had moved or been erased."""

    width: int
    last: int
    passage: int
    belief: int
    moved: int
    sequence: int
    head: str


class _Header(Struct, frozen=True):
    stamp: Stamp
    rows: int
    pairs: int
    checksum: int


def write(path: str, base: SignsPart, stamp: Stamp) -> None:
    """Puts the file in its place whole; only its owner can read it."""
    blocks = [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in base.arrays]
    checksum = 0
    for block in blocks:
        checksum = zlib.crc32(block, checksum)
    header = msgspec.json.encode(_Header(stamp, len(base.signs), len(base.believed.nodes), checksum))
    aside = f"{path}.making"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(aside)
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(_SIGNS_FILE + header.ljust(_LENGTH))
            for block in blocks:
                file.write(block)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def read(path: str) -> tuple[SignsPart, Stamp] | None:
    """The base that a file holds, mapped; None where there is none that is whole."""
    try:
        with open(path, "rb") as file:
            begin = file.read(len(_SIGNS_FILE) + _LENGTH)
            header = msgspec.json.decode(begin[len(_SIGNS_FILE) :], type=_Header)
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    words = _words(header.stamp.width)
    shapes: tuple[tuple[Any, tuple[int, ...]], ...] = (
        (np.int64, (header.rows,)), (np.uint64, (words, header.rows)), (np.int64, (header.pairs,)),
        (np.int64, (header.pairs,)),
    )  # fmt: skip
    arrays, at = [], len(begin)
    for kind, shape in shapes:
        count = math.prod(shape)
        if min(shape) < 0 or at + 8 * count > len(held):
            return None
        arrays.append(np.frombuffer(held, kind, count, at).reshape(shape))
        at += 8 * count
    sound = begin.startswith(_SIGNS_FILE) and at == len(held)
    if not sound or zlib.crc32(memoryview(held)[len(begin) :]) != header.checksum:
        return None
    return SignsPart(Signs(arrays[0], arrays[1]), Owned(arrays[2], arrays[3])), header.stamp
