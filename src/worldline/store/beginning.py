"""How a changeset begins: one statement tells what it would otherwise ask on its way, piece by piece."""

from __future__ import annotations

from typing import NamedTuple

from worldline.clock import FOREVER
from worldline.ports import Row, Store

NUMBERED = ("nodes", "beliefs", "edges", "aliases", "world_hashes")
"""Tables that almost every changeset writes to."""


def _last(table: str) -> str:
    """The last row number of a table; the number of what was erased is not given again."""
    return (
        f"(SELECT coalesce(max(y.last), 0) FROM (SELECT max(x.id) AS last FROM {table} x WHERE x.tenant = :t"
        f" UNION ALL SELECT max(e.last) FROM erased e WHERE e.tenant = :t AND e.of = '{table}') y)"
    )


_LAST = ", ".join(map(_last, NUMBERED))


class Begun(NamedTuple):
    """A memory as a changeset finds it."""

    last: dict[str, int]
    """The last row numbers of the tables that almost every changeset writes to."""
    root: Row | None
    """(id, name, lineage) of the whole memory's own node."""
    world: tuple[int, bytes, bytes] | None
    """(newest version, hash, digest) of the whole memory."""
    merged: bool
    """Whether any merge was ever accepted."""
    typed: bool
    """Whether any type or predicate is registered."""
    scope: int
    """The number of the scope set that was asked for; 0 where it is not made yet."""


def begun(store: Store, tenant: int, root: int, scope: str) -> Begun:
    """Where the memory of a tenant stands, for a changeset in this scope set."""
    rows = store.query(
        f"SELECT {_LAST}, r.hash, r.name, r.line, w.head, w.hash, w.digest,"
        " EXISTS (SELECT 1 FROM proposals p WHERE p.tenant = :t AND p.status = 'accepted'),"
        " EXISTS (SELECT 1 FROM ontology o WHERE o.tenant = :t AND o.kt = :forever),"
        " coalesce((SELECT s.id FROM scopes s WHERE s.tenant = :t AND s.key = :scope), 0)"
        " FROM tenants t LEFT JOIN nodes r ON r.tenant = :t AND r.id = :root"
        " LEFT JOIN worlds w ON w.tenant = :t AND w.line = :root WHERE t.tenant = :t",
        {"t": tenant, "root": root, "scope": scope, "forever": FOREVER},
    )
    row, at = rows[0], len(NUMBERED)
    return Begun(
        dict(zip(NUMBERED, row[:at], strict=True)),
        row[at : at + 3] if row[at] is not None else None,
        row[at + 3 : at + 6] if row[at + 3] is not None else None,
        bool(row[at + 6]),
        bool(row[at + 7]),
        int(row[at + 8]),
    )


def last_row(store: Store, tenant: int, table: str) -> int:
    """The last row number of one table."""
    rows = store.query(f"SELECT {_last(table)}", {"t": tenant})
    return int(rows[0][0])
