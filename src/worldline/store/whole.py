"""A whole memory as its rows, table by table: told as they are, and put into a store where nothing is yet.

Row numbers, both time axes and the log stay what they were, so that the copy proves itself with the same
head. Words are indexed anew from the texts; vectors are left to the embedder of the store that takes it in.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from worldline.hashing import tenant_number
from worldline.model import NodeDraft
from worldline.ports import Store, Tx, View
from worldline.store import cold
from worldline.store.indexing import is_silent, words_of
from worldline.store.schema import COLUMNS, KEYED
from worldline.store.view import metadata_from

TENANT = ("root", "last_known", "sequence", "head", "texts", "tokens")
TABLES: dict[str, tuple[str, ...]] = {
    **{
        table: tuple(column for column in columns if column != "tenant") for table, columns in COLUMNS.items()
    },
    "worlds": ("line", "head", "hash", "digest"),
    "log": ("sequence", "known", "kind", "body", "previous", "hash"),
    "strengths": ("line", "scope", "salience", "reinforced_at", "cold_at", "uses", "useful", "wrong", "seal"),
    "uses": ("id", "line", "scope", "kind", "at"),
    "scores": ("node", "name", "value", "seal"),
    "scorers": ("name", "version", "weight"),
    "sleep": ("owner", "pass", "cursor", "state"),
    "profiles": ("speaker", "scope", "body", "style", "seal"),
}
"""The columns of everything that is told; what is archived is told among the other texts."""
_HASHES = {
    "tenants": ("head",), "nodes": ("hash",), "edges": ("hash",), "events": ("key",), "proposals": ("hash",),
    "worlds": ("hash",), "world_hashes": ("hash",), "log": ("previous", "hash"), "origins": ("store",),
}  # fmt: skip
"""Columns of bytes that are told as hex digits, as ids are."""
_PACKED = {
    "events": ("reading",), "texts": ("described",), "worlds": ("digest",), "log": ("body",),
    "profiles": ("style",), "erased": ("rows", "kept"),
}  # fmt: skip
"""Columns of bytes that are told in base 64."""
_KEYS = {"labels": "label, value, node, scope", "wordings": "object, key, kind", "blocks": "key, line",
         "worlds": "line", "log": "sequence", "strengths": "line", "scores": "node, name", "scorers": "name",
         "sleep": "owner, pass", "profiles": "speaker, scope", **KEYED}  # fmt: skip


class RowOf(NamedTuple):
    """A row of a table: its columns by name, bytes as text."""

    table: str
    values: dict[str, Any]


def _columns(table: str) -> str:
    return ", ".join(f'"{column}"' for column in TABLES[table])


# Telling --------------------------------------------------------------------------------------------


def tenant_of(view: View) -> RowOf | None:
    """Where a memory stands: its root, its last known time and the head of its log."""
    rows = view.query(f"SELECT {', '.join(TENANT)} FROM tenants WHERE tenant = :t")
    return RowOf("tenants", _told("tenants", TENANT, rows[0])) if rows else None


def rows_of(view: View) -> Iterator[RowOf]:
    """Every row of a memory, table by table."""
    for table, columns in TABLES.items():
        source = f"SELECT {_columns(table)} FROM {table} WHERE tenant = :t"
        if table == "texts":
            source += f" UNION ALL SELECT {_columns(table)} FROM cold_texts WHERE tenant = :t"
        if table == "sleep":
            source += " AND pass <> 'compose'"  # what is composed of vectors is made again with them
        for row in view.query(f"{source} ORDER BY {_KEYS.get(table, 'id')}"):
            yield RowOf(table, _told(table, columns, row))


def _told(table: str, columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    values = dict(zip(columns, row, strict=True))
    for column in _HASHES.get(table, ()):
        values[column] = values[column].hex()
    for column in _PACKED.get(table, ()):
        values[column] = None if values[column] is None else b64encode(values[column]).decode()
    return values


# Taking in ------------------------------------------------------------------------------------------


def read_row(table: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A told row as it is stored; KeyError, TypeError or ValueError where it is none."""
    columns = TENANT if table == "tenants" else TABLES[table]
    row = {column: values.get(column, 0) if column == "seal" else values[column] for column in columns}
    for column in _HASHES.get(table, ()):
        row[column] = bytes.fromhex(row[column])
    for column in _PACKED.get(table, ()):
        row[column] = None if row[column] is None else b64decode(row[column], validate=True)
    return tuple(row.values())


def put_rows(
    store: Store, name: str, tenant: Sequence[Any], rows: Mapping[str, Sequence[Sequence[Any]]]
) -> int:
    """Puts told rows in the place of an empty memory, inside a write transaction; the tenant's number."""
    number = tenant_number(name)
    for table in (*TABLES, "cold_texts", "composed", "words", "fresh_words", "words_total"):
        store.execute(f"DELETE FROM {table} WHERE tenant = :t", {"t": number})
    store.execute(
        f"INSERT INTO tenants (tenant, name, {', '.join(TENANT)})"
        f" VALUES (:t, :name, {', '.join(f':{column}' for column in TENANT)}) ON CONFLICT (tenant) DO UPDATE SET"
        f" {', '.join(f'{column} = excluded.{column}' for column in TENANT)}",
        {"t": number, "name": name, **dict(zip(TENANT, tenant, strict=True))},
    )
    for table, columns in TABLES.items():
        store.insert(
            f"INSERT INTO {table} (tenant, {_columns(table)}) VALUES (?{', ?' * len(columns)})"
            " ON CONFLICT DO NOTHING",
            [(number, *row) for row in rows.get(table, ())],
        )
    return number


def index_words(tx: Tx) -> list[int]:
    """Makes every text findable by its words, and moves what is archived aside; the nodes that have words."""
    nodes = tx.query(
        "SELECT id, type, name, content, metadata, scope, made FROM nodes WHERE tenant = :t ORDER BY id"
    )
    found, texts = [], []
    for key, type_, name, content, metadata, scope, made in nodes:
        draft = NodeDraft(type_, name, content, metadata=metadata_from(metadata), scope=scope, made=made)
        if not is_silent(type_, made):
            texts += words_of(key, draft, tx.owner_of(key) or tx.owner_in(scope), tx.language)
            found.append(key)
    tx.words().add(texts)
    archived = tx.query(
        "SELECT DISTINCT line FROM marks WHERE tenant = :t AND kind = :kind AND kt = :forever ORDER BY line",
        kind=cold.ARCHIVED,
    )
    for (line,) in archived:
        cold.freeze(tx, line)
    return found
