"""The changeset log: a hash chain over every row that a changeset put or closed.

Content hashes leave intervals, confidence and provenance out; the log covers them. Each changeset
lists the rows it wrote with a checksum each, so that damage is named row by row, and chains a
blake3 over all of them, so that nobody can repair a checksum without breaking the chain.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import orjson
from blake3 import blake3

from worldline.hashing import chain
from worldline.store.schema import COLUMNS, COVERED, KEYED

if TYPE_CHECKING:
    from worldline.ports import Row, Tx

TABLES = tuple(COVERED)
_PICK = {t: itemgetter(*[COLUMNS[t].index(c) for c in COVERED[t]]) for t in TABLES}
_HEADER = struct.Struct("<BBQ")
_PUT, _CLOSED = 0, 1


def _hex(value: Any) -> str:
    return bytes(value).hex()


def row_bytes(values: Sequence[Any]) -> bytes:
    """The canonical bytes of the covered columns of a row: a JSON array, blobs in hex."""
    return orjson.dumps(values, default=_hex)


def close_bytes(table: str, row: int, known: int) -> bytes:
    """The canonical bytes of closing a row."""
    return b"%s %d %d" % (table.encode(), row, known)


class Entries:
    """The rows of a changeset under way."""

    def __init__(self) -> None:
        self._sections: list[bytes] = []
        self._content = blake3()

    @property
    def empty(self) -> bool:
        return not self._sections

    def put(self, table: str, rows: Sequence[Row]) -> None:
        """Rows just inserted."""
        if table in COVERED:
            pick = _PICK[table]
            covered = [row_bytes(pick(row)) for row in rows]
            self._note(table, _PUT, [row[0] for row in rows], covered)

    def closed(self, table: str, rows: Sequence[int], known: int) -> None:
        """Rows just closed on the known axis."""
        self._note(table, _CLOSED, rows, [close_bytes(table, row, known) for row in rows])

    def _note(self, table: str, mode: int, rows: Sequence[int], covered: Sequence[bytes]) -> None:
        self._content.update(b"\n".join(covered) + b"\n")
        self._sections.append(
            _HEADER.pack(TABLES.index(table), mode, len(rows))
            + array("q", rows).tobytes()
            + array("I", map(crc32, covered)).tobytes()
        )

    def seal(self) -> tuple[bytes, bytes]:
        """The body of the log row, and the hash over all covered bytes in order."""
        return b"".join(self._sections), self._content.digest()


def append(tx: Tx, kind: str, body: bytes, rows: bytes) -> bytes:
    """Writes the log row and returns the new head of the chain."""
    head = chain(tx.head, tx.name, tx.stamp, kind, body, rows)
    row = tx.tenant, tx.sequence, tx.stamp, kind, body, tx.head, head
    tx.store.put("log", [row], ("tenant", "sequence", "known", "kind", "body", "previous", "hash"))
    return head


def sections(body: bytes) -> Iterator[tuple[str, bool, list[int], list[int]]]:
    """(table, closed?, rows, checksums) of a log row's body; ValueError on a damaged one."""
    at = 0
    while at < len(body):
        table, mode, count = _HEADER.unpack_from(body, at)
        at += _HEADER.size
        end = at + 12 * count
        if table >= len(TABLES) or mode > 1 or end > len(body):
            raise ValueError("the body of the log row is damaged")
        rows, sums = array("q", body[at : at + 8 * count]), array("I", body[at + 8 * count : end])
        yield TABLES[table], mode == _CLOSED, rows.tolist(), sums.tolist()
        at = end


def key_column(table: str) -> str:
    """The column that numbers a table's rows."""
    return KEYED.get(table, "id")
