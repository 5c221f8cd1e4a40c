"""Moving a lineage's index rows to cold storage and back: words, description, vectors, all versions.

Nothing that is believed is touched: nodes, beliefs, edges and the log stay as they are. It does not
decide what is cold; an `archived` mark in the log does, and is put or ended together with the move.
"""

from __future__ import annotations

from worldline.model import NodeDraft
from worldline.store.indexing import is_silent, words_of
from worldline.store.schema import COLUMNS, WORDS_PER_NODE
from worldline.store.tx import Tx
from worldline.store.view import metadata_from

ARCHIVED = "archived"
"""The kind of the mark."""
_TEXTS = ", ".join(COLUMNS["texts"])
_MOVED = "INSERT INTO meta VALUES ('moved', '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"


def freeze(tx: Tx, line: int) -> None:
    """Out of the tables that default recall searches."""
    _move(tx, line, "", "cold_")


def thaw(tx: Tx, line: int) -> None:
    """Back into them, with its strength as of now; the next night says when it would be cold again."""
    _move(tx, line, "cold_", "")
    tx.query(
        "UPDATE strengths SET reinforced_at = CASE WHEN reinforced_at > :now THEN reinforced_at ELSE :now END,"
        " cold_at = :now WHERE tenant = :t AND line = :line",
        now=tx.stamp,
        line=line,
    )


def wake(tx: Tx, line: int) -> bool:
    """Ends every archived mark of a lineage and thaws it; False where none stands."""
    rows = tx.query(
        "SELECT id FROM marks WHERE tenant = :t AND line = :line AND kind = :kind AND kt = :forever",
        line=line,
        kind=ARCHIVED,
    )
    for (row,) in rows:
        tx.end_row("marks", row)
    if rows:
        thaw(tx, line)
    return bool(rows)


def _move(tx: Tx, line: int, source: str, target: str) -> None:
    """All versions of a lineage; a version that lies there already is left alone."""
    versions = tx.query(
        "SELECT id, type, name, content, metadata, made FROM nodes WHERE tenant = :t AND id = :line UNION ALL"
        " SELECT id, type, name, content, metadata, made FROM nodes WHERE tenant = :t AND line = :line"
        " AND line <> id ORDER BY id",
        line=line,
    )
    for key, type_, name, content, metadata, made in versions:
        if not is_silent(type_, made):
            draft = NodeDraft(type_, name, content, metadata=metadata_from(metadata))
            tx.words().move(words_of(key, draft, tx.owner_of(key), tx.language), cold=bool(target))
        _move_rows(tx, source, target, "texts", _TEXTS, "node = :key", key=key)
        passages = {"low": key * WORDS_PER_NODE, "high": (key + 1) * WORDS_PER_NODE}
        within = "passage >= :low AND passage < :high"
        _move_rows(tx, source, target, "embeddings", "tenant, passage, vector", within, **passages)
    tx.query(_MOVED)


def _move_rows(tx: Tx, source: str, target: str, table: str, columns: str, where: str, **args: int) -> None:
    key = "passage" if table == "embeddings" else "node"
    tx.query(
        f"INSERT INTO {target}{table} ({columns}) SELECT {columns} FROM {source}{table}"
        f" WHERE tenant = :t AND {where} ORDER BY {key} ON CONFLICT DO NOTHING",
        **args,
    )
    tx.query(f"DELETE FROM {source}{table} WHERE tenant = :t AND {where}", **args)
