"""Moving a lineage's index rows to cold storage and back: words, description, vectors, all versions.

Nothing that is believed is touched: nodes, beliefs, edges and the log stay as they are. It does not
decide what is cold; an `archived` mark in the log does, and is put or ended together with the move.
"""

from __future__ import annotations

from worldline.model import NodeDraft
from worldline.ports import Tx, View
from worldline.store.indexing import is_silent, words_of
from worldline.store.schema import COLUMNS, WORDS_PER_NODE
from worldline.store.view import metadata_from

ARCHIVED = "archived"
"""The kind of the mark."""
_TEXTS = ", ".join(COLUMNS["texts"])
_MOVED = "UPDATE tenants SET moved = moved + 1 WHERE tenant = :t"


def is_used(view: View) -> bool:
    """Whether this tenant has anything archived."""
    if view.looked is not None:
        return any(what == 0 and cold and texts for what, cold, texts, *_ in view.looked[1].get(None, ()))
    return bool(view.query("SELECT 1 FROM words_total WHERE tenant = :t AND cold <> 0 AND texts > 0"))


def freeze(tx: Tx, line: int) -> None:
    """Out of the tables that default recall searches."""
    _move(tx, line, "", "cold_")


def thaw(tx: Tx, line: int) -> None:
    """Back into them, with its strength as of now; the next night says when it would be cold again."""
    _move(tx, line, "cold_", "")
    tx.query(
        "UPDATE strengths SET reinforced_at = CASE WHEN reinforced_at < :now THEN :now ELSE reinforced_at END,"
        " cold_at = :now, seal = 0 WHERE tenant = :t AND line = :line",
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
        " SELECT id, type, name, content, metadata, made FROM nodes WHERE tenant = :t AND line = :line AND line <> id",
        line=line,
    )
    for key, type_, name, content, metadata, made in versions:
        low, high = key * WORDS_PER_NODE, (key + 1) * WORDS_PER_NODE
        draft = NodeDraft(type_, name, content, metadata=metadata_from(metadata), made=made)
        if not is_silent(type_, draft.made):
            tx.words().move(words_of(key, draft, tx.owner_of(key), tx.language), cold=bool(target))
        tx.query(
            f"INSERT INTO {target}texts ({_TEXTS}) SELECT {_TEXTS} FROM {source}texts WHERE tenant = :t AND node = :key"
            " ON CONFLICT DO NOTHING",
            key=key,
        )
        tx.query(f"DELETE FROM {source}texts WHERE tenant = :t AND node = :key", key=key)
        tx.query(
            f"INSERT INTO {target}embeddings (id, tenant, passage, vector) SELECT (SELECT coalesce(max(m.id), 0)"
            f" FROM {target}embeddings m WHERE m.tenant = :t) + row_number() OVER (ORDER BY e.passage), e.tenant,"
            f" e.passage, e.vector FROM {source}embeddings e WHERE e.tenant = :t AND e.passage >= :low"
            " AND e.passage < :high ORDER BY e.passage ON CONFLICT DO NOTHING",
            low=low,
            high=high,
        )
        tx.query(
            f"DELETE FROM {source}embeddings WHERE tenant = :t AND passage >= :low AND passage < :high",
            low=low,
            high=high,
        )
    tx.query(_MOVED)
