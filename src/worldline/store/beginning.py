"""How a changeset begins: one statement tells where a memory stands, and what the changeset need not ask again."""

from __future__ import annotations

from typing import NamedTuple

from worldline.clock import FOREVER
from worldline.store.sqlite import Row, SqliteStore

UNNUMBERED = ("labels", "wordings", "blocks")
NUMBERED = ("nodes", "beliefs", "edges", "aliases", "world_hashes")
"""Tables that almost every changeset writes to."""
_LAST = ", ".join(f"(SELECT coalesce(max(id), 0) FROM {table})" for table in NUMBERED)


class Begun(NamedTuple):
    """A tenant as a changeset finds it."""

    tenant: Row
    """(id, name, root, last known time, sequence, head)."""
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
    scope: int = 0
    """The number of the scope set that was asked for; 0 where it is not made yet."""


def last_row(store: SqliteStore, table: str) -> int:
    """The last row number of one table."""
    return int(store.query(f"SELECT coalesce(max(id), 0) FROM {table}")[0][0])


def last_rows(store: SqliteStore) -> dict[str, int]:
    """The last row number of each of these tables."""
    return dict(zip(NUMBERED, store.query(f"SELECT {_LAST}")[0], strict=True))


def begun(store: SqliteStore, name: str, scope: str = "") -> Begun | None:
    """Where the memory of a tenant stands, for a changeset in this scope set; None for a tenant without one."""
    rows = store.query(
        f"SELECT t.id, t.name, t.root, t.last_known, t.sequence, t.head, {_LAST}, r.hash, r.name, r.line,"
        " w.head, w.hash, w.digest,"
        " EXISTS (SELECT 1 FROM proposals p WHERE p.tenant = t.id AND p.status = 'accepted'),"
        " EXISTS (SELECT 1 FROM ontology o WHERE o.tenant = t.id AND o.kt = :forever),"
        " coalesce((SELECT s.id FROM scopes s WHERE s.tenant = t.id AND s.key = :scope), 0)"
        " FROM tenants t LEFT JOIN nodes r ON r.tenant = t.id AND r.id = t.root"
        " LEFT JOIN worlds w ON w.tenant = t.id AND w.line = t.root WHERE t.name = :name",
        {"name": name, "forever": FOREVER, "scope": scope},
    )
    if not rows:
        return None
    row, at = rows[0], 6 + len(NUMBERED)
    last = dict(zip(NUMBERED, row[6:at], strict=True))
    world = row[at + 3 : at + 6] if row[at + 3] is not None else None
    return Begun(
        row[:6],
        last,
        row[at : at + 3] if row[at] is not None else None,
        world,
        bool(row[at + 6]),
        bool(row[at + 7]),
        int(row[at + 8]),
    )
