"""Moving tenants between stores, whatever they lie in: rows as they are, both time axes, log and hashes.

A tenant's rows are numbered within it, so nothing is translated but its own number, which a file has smaller. One
tenant is one transaction: a copy that was cut short is begun again for the tenants that are missing. It is
proved before it is kept: every row that the log vouches for; indexes are copied with what they index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from worldline.errors import Refused, StoreError
from worldline.hashing import GENESIS
from worldline.ports import Store, Tenant
from worldline.store import packing
from worldline.store.held import CLAIM
from worldline.store.schema import TABLES, VECTORS, columns_of, key_of, quoted
from worldline.store.verify import verify

BATCH = 2000
Progress = Callable[[str, int], None]
_MOVED = tuple(table for table in TABLES if table not in ("meta", "tenants"))


class Moved(Struct, frozen=True):
    """A tenant that was copied, or was there already."""

    tenant: str
    rows: int
    changesets: int
    head: str
    already: bool = False


def move(source: Store, target: Store, name: str, progress: Progress | None = None) -> Moved:
    """Copies one tenant; one that the target has as it is is left alone, an earlier state of it is replaced."""
    with source.reading(name) as tenant:
        if not tenant.id:
            raise Refused(
                f"{source.path} has no tenant {name!r}; it has: {', '.join(source.tenants()) or 'none'}"
            )
        with target.writing(name) as held:
            if held.head == tenant.head:
                return Moved(name, 0, tenant.sequence, tenant.head.hex(), True)
            if held.id and not _led_to(source, tenant.id, held):
                raise Refused(
                    f"{target.path} holds another memory of the tenant {name!r}; copy into another store"
                )
            told = progress or (lambda stage, done: None)
            rows = _carry(source, target, tenant, told)
            found = verify(
                target,
                target.tenant_row(name),
                lambda stage, done: told(f"{name}: proving {stage}", done),
                derived=False,
            )
            if found.damage or target.tenant_row(name).head != tenant.head:
                raise StoreError(
                    f"the copy of {name!r} does not prove itself ({found.damage[:1]}); nothing was kept"
                )
    target.forget(name)
    return Moved(name, rows, tenant.sequence, tenant.head.hex())


def _led_to(source: Store, number: int, held: Tenant) -> bool:
    """Whether the source was once as the target is now."""
    rows = source.query(
        "SELECT hash FROM log WHERE tenant = :t AND sequence = :sequence",
        {"t": number, "sequence": held.sequence},
    )
    return bool(rows) and bytes(rows[0][0]) == held.head


def _carry(source: Store, target: Store, tenant: Tenant, progress: Progress) -> int:
    number = target.number(tenant.name)
    args = {"t": number, "name": tenant.name, "now": tenant.last_known, "head": GENESIS}
    target.execute(CLAIM, args)
    done = 0
    for table in _MOVED:
        target.execute(f"DELETE FROM {table} WHERE tenant = :t", {"t": number})
        at = columns_of(table).index("tenant")
        for rows in _batches(source, table, tenant.id):
            carried = [(*row[:at], number, *row[at + 1 :]) for row in rows]
            target.put(table, _as_kept(target, table, carried), columns_of(table))
            done += len(rows)
            progress(f"{tenant.name}: {table}", done)
    columns = [column for column in columns_of("tenants") if column not in ("tenant", "name")]
    ((*values,),) = source.query(
        f"SELECT {', '.join(columns)} FROM tenants WHERE tenant = :t", {"t": tenant.id}
    )
    target.execute(
        f"UPDATE tenants SET {', '.join(f'{column} = :{column}' for column in columns)} WHERE tenant = :t",
        {"t": number, **dict(zip(columns, values, strict=True))},
    )
    return done


def _as_kept(target: Store, table: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The same rows, their vectors as the target keeps them."""
    if table not in VECTORS:
        return rows
    kept = packing.packed if target.packs else packing.plain
    return [(*rest, kept(bytes(vector))) for *rest, vector in rows]


def _batches(source: Store, table: str, number: int) -> Iterator[list[tuple[Any, ...]]]:
    """All rows of a tenant, in the order of their key."""
    columns, keys = columns_of(table), key_of(table)[1:]
    names = ", ".join(map(quoted, columns))
    order, after = ", ".join(keys), ", ".join(f":{key}" for key in keys)
    last: dict[str, Any] = {}
    while True:
        beyond = f" AND ({order}) > ({after})" if last else ""
        rows = source.query(
            f"SELECT {names} FROM {table} WHERE tenant = :t{beyond} ORDER BY {order} LIMIT {BATCH}",
            {"t": number, **last},
        )
        if rows:
            yield rows
        if len(rows) < BATCH:
            return
        last = {key: rows[-1][columns.index(key)] for key in keys}
