"""The parts of a stored fact, for putting another value into the same place."""

from __future__ import annotations

import orjson
from msgspec import Struct

from worldline.ports import Tx


class Parts(Struct, frozen=True):
    """Whom a fact is about, what it says of them in words, and its value."""

    subject: str
    """The id of the entity."""
    name: str
    slot: str
    phrase: str
    value: str
    literal: bool
    """Whether the value is a text of its own rather than something with a name."""


def parts_of(tx: Tx, node: int) -> Parts:
    """The parts of the fact at this row."""
    row = tx.query(
        "SELECT s.hash, s.name, f.predicate, f.phrase, coalesce(o.name, ''), f.literal, f.object FROM facts f"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object WHERE f.tenant = :t AND f.node = :node",
        node=node,
    )[0]
    value = row[4] if row[6] else str(orjson.loads(row[5] or '""'))
    return Parts(row[0].hex(), row[1], row[2], row[3], value, not row[6])
