"""Which texts have no vector yet, and where vectors are kept: beside the words that they stand for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from worldline.model import Metadata
from worldline.store import words
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.sqlite import SqliteStore
from worldline.store.view import LISTED, SqlView, listed, metadata_from

_UNEMBEDDED = "('Scope', 'Session', 'Entity', 'Fact')"
_STATED = "n.made IS NULL"
"""Not something that sleep made of texts which have vectors themselves."""


class Text(NamedTuple):
    """A memory whose words are to be embedded."""

    node: int
    type: str
    name: str
    content: str
    metadata: Metadata


def without_vectors(
    view: SqlView, nodes: Collection[int] | None = None, most: int | None = None
) -> list[Text]:
    """The texts (of these nodes, or of all) that have no vector yet."""
    chosen = "" if nodes is None else f" AND n.id IN {LISTED}"
    first = f"n.id * {WORDS_PER_NODE}"
    rows = view.query(
        f"SELECT n.id, n.type, n.name, n.content, n.metadata FROM nodes n WHERE n.tenant = :t{chosen}"
        f" AND n.type NOT IN {_UNEMBEDDED} AND {_STATED}"
        f" AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.tenant = :t AND e.passage = {first})"
        f" AND NOT EXISTS (SELECT 1 FROM cold_embeddings e WHERE e.tenant = :t AND e.passage = {first})"
        f" ORDER BY n.id{'' if most is None else ' LIMIT :most'}",
        **({} if nodes is None else {"among": listed(nodes)}),
        **({} if most is None else {"most": most}),
    )
    return [Text._make((*row[:4], metadata_from(row[4]))) for row in rows]


def embedder_of(store: SqliteStore) -> str | None:
    """Who made the vectors of this store; None as long as there are none."""
    rows = store.query("SELECT value FROM meta WHERE key = 'embedder'")
    return str(rows[0][0]) if rows else None


def keep_vectors(
    store: SqliteStore, tenant: int, embedder: str, vectors: Sequence[tuple[int, bytes]]
) -> None:
    """Vectors by passage, inside a write transaction; those of archived words go to the archive."""
    store.execute(
        "INSERT INTO meta (key, value) VALUES ('embedder', ?) ON CONFLICT (key) DO NOTHING", (embedder,)
    )
    cold = words.archived(store, tenant, [passage for passage, _ in vectors])
    for table, archived in (("embeddings", False), ("cold_embeddings", True)):
        chosen = [(tenant, passage, vector) for passage, vector in vectors if (passage in cold) == archived]
        store.insert(
            f"INSERT INTO {table} (tenant, passage, vector) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", chosen
        )


def forget_vectors(store: SqliteStore) -> None:
    """Drops every vector, what was composed of them, and the memory of who made them."""
    for table in ("embeddings", "cold_embeddings", "composed"):
        store.execute(f"DELETE FROM {table}")
    store.execute("DELETE FROM sleep WHERE pass = 'compose'")  # worlds are composed anew, all of them
    store.execute("DELETE FROM meta WHERE key = 'embedder'")
