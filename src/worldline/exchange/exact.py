"""An exact copy as JSON Lines: every row of a memory as it is, one object a line, `kind` the table it is of.

Put into an empty store it is that memory: both time axes, the log, marks and strengths, the same head. It is
proved before it is kept. A file that does not prove itself, another tenant's name, or a store that holds
something already take the other way: the rows are read aside, and told from there as any memory is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct, field

from worldline import __version__
from worldline.errors import InvalidInput, StoreError
from worldline.exchange.records import Bad, Imported, Record
from worldline.handle import Handle
from worldline.ports import View
from worldline.store import reindexing
from worldline.store.sqlite import SqliteStore
from worldline.store.verify import verify
from worldline.write.gate import redact

FORMAT = 2


class CopiedRows(Struct):
    """The rows of a file, as they are to be stored."""

    name: str
    tenant: tuple[Any, ...] = ()
    tables: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    others: list[Record | Bad] = field(default_factory=list)
    """What is no row."""


class Unproved(Exception):
    """The rows do not make a memory that proves itself."""


def lines(view: View, name: str) -> Iterator[dict[str, Any]]:
    """The whole memory of a tenant."""
    yield {"kind": "worldline", "format": FORMAT, "version": __version__, "tenant": name}
    tenant = reindexing.tenant_of(view)
    if tenant is not None:
        yield {"kind": "tenants", **tenant.values}
        for row in reindexing.rows_of(view):
            yield {"kind": "row", "of": row.table, "values": row.values}


def fits(record: Record | Bad) -> bool:
    """Whether a record is the first line of such a file; an even newer form is refused."""
    if (
        isinstance(record, Bad)
        or not isinstance(record.value, dict)
        or record.value.get("kind") != "worldline"
    ):
        return False
    format_ = record.value.get("format", 0)
    if isinstance(format_, int) and format_ > FORMAT:
        raise InvalidInput(f"this export has format {format_}; upgrade Worldline to read it")
    return bool(format_ == FORMAT)


def gathered(head: Record, records: Iterable[Record | Bad]) -> CopiedRows:
    """The rows of a file, by their tables."""
    rows = CopiedRows(str(head.value.get("tenant", "")), tables={table: [] for table in reindexing.TABLES})
    for record in records:
        value = None if isinstance(record, Bad) else record.value
        try:
            if isinstance(value, dict) and value.get("kind") == "tenants":
                rows.tenant = reindexing.read_row("tenants", value)
            elif isinstance(value, dict) and value.get("kind") == "row":
                rows.tables[value["of"]].append(reindexing.read_row(value["of"], value["values"]))
            else:
                rows.others.append(record)
        except (KeyError, TypeError, ValueError) as error:
            rows.others.append(Bad(getattr(record, "position", ""), f"it is no row of a memory ({error})"))
    return rows


def holds_secrets(rows: CopiedRows) -> bool:
    """Whether a text among the rows is one that this store would not keep as it is."""
    told = (row for table in ("nodes", "metadata", "aliases") for row in rows.tables[table])
    return any(redact(value)[1] for row in told for value in row if isinstance(value, str))


def restore(handle: Handle, rows: CopiedRows, *, dry_run: bool = False) -> Imported | None:
    """Puts the rows into this empty store as they are; None where that cannot be, and nothing was written."""
    if handle.config.redact and holds_secrets(rows):
        return None
    if rows.name != handle.tenant or not rows.tenant:
        return None
    try:
        with handle.writing(keep=not dry_run):
            put = _put(handle, rows)
            if verify(handle.store, handle.tenant_row()).damage:
                raise Unproved
    except Unproved:
        return None
    if put and not dry_run:
        with suppress(StoreError):
            handle.after_write(handle, put)
    at = reindexing.TABLES["nodes"].index("type")
    stored = sum(row[at] != "Scope" for row in rows.tables["nodes"])
    skipped = [one if isinstance(one, Bad) else Bad(one.position, "it is no row") for one in rows.others]
    return Imported("worldline", stored, skipped=tuple(skipped), dry_run=dry_run)


def _put(handle: Handle, rows: CopiedRows) -> list[int]:
    reindexing.put_rows(handle.store, rows.name, rows.tenant, rows.tables)
    return reindexing.index_words(handle._begin(False))


@contextmanager
def aside(handle: Handle, rows: CopiedRows) -> Iterator[Handle]:
    """The memory of these rows in a store of its own, to be read from."""
    store = SqliteStore(":memory:", handle.config)
    try:
        origin = Handle(store, handle.config, handle.clock, rows.name, handle.types)
        if rows.tenant:
            with origin.writing():
                reindexing.put_rows(store, rows.name, rows.tenant, rows.tables)
        yield origin
    finally:
        store.close()
