"""Vectors as they lie in a table: sixteen bits a number, or fifteen in a file.

The numbers of a unit vector are below 2, so that the highest bit of a half's exponent is never set and need not be
kept: the very same numbers, and small enough that in a file two vectors of 384 numbers share what hangs over a page.
Packed are a mark, the lower byte of each number, and seven bits of the upper byte of the first seven eighths of them;
the eighth bits hold the upper bytes of the last eighth, bit by bit. Packed vectors have an odd length, plain ones an
even one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Halves: TypeAlias = NDArray[np.float16]
    Octets: TypeAlias = NDArray[np.uint8]

_MARK = b"\x0f"
_STEP = 16
"""Vectors of so many numbers, or a multiple of it, can be packed."""
_EXPONENT = 0x40
"""The bit of an upper byte that no number below 2 has."""


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
    import numpy as np

    if len(vector) % (2 * _STEP) or not vector:
        return vector

    octets = np.frombuffer(vector, np.uint8).reshape(-1, 2)
    lower, upper = octets[:, 0], octets[:, 1]
    if (upper & _EXPONENT).any():
        return vector
    seven = ((upper & 0x80) >> 1 | upper & 0x3F).reshape(8, -1)
    bits = seven[7] >> np.arange(7, dtype=np.uint8)[:, None]
    return b"".join((_MARK, lower.tobytes(), (seven[:7] | bits << 7).tobytes()))


def plain(vector: bytes) -> bytes:
    """A stored vector in sixteen bits a number; what is none stays as it is."""
    return unpacked([vector], width).tobytes() if (width := width_of(vector)) else vector


def unpacked(vectors: Sequence[bytes], width: int) -> Halves:
    """A row of numbers for each of these vectors, which all have so many, packed or plain."""
    import numpy as np

    found = np.empty((len(vectors), 2 * width), np.uint8)
    for length, read in ((2 * width, _plain), (packed_length(width), _opened)):
        rows = [row for row, vector in enumerate(vectors) if len(vector) == length]
        if rows:
            octets = np.frombuffer(b"".join([vectors[row] for row in rows]), np.uint8)
            found[rows] = read(octets.reshape(-1, length), width)
    return found.view(np.float16)


def _plain(octets: Octets, width: int) -> Octets:
    return octets


def _opened(octets: Octets, width: int) -> Octets:
    import numpy as np

    eighth = width // 8
    kept = octets[:, width + 1 :]
    upper = np.empty((len(octets), width), np.uint8)
    upper[:, : 7 * eighth], rest = kept, upper[:, 7 * eighth :]
    rest[:] = 0
    for place in range(7):
        rest |= (kept[:, place * eighth : (place + 1) * eighth] & 0x80) >> (7 - place)
    found = np.empty((len(octets), width, 2), np.uint8)
    found[:, :, 0] = octets[:, 1 : width + 1]
    found[:, :, 1] = (upper & 0x40) << 1 | upper & 0x3F
    return found.reshape(len(octets), 2 * width)
