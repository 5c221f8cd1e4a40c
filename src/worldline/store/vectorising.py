"""Which texts have no vector yet, and where vectors are kept: beside the words that they stand for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from worldline.model import Metadata
from worldline.ports import Store, View
from worldline.store import packing
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.view import listed, metadata_from
from worldline.store.words import archived

_UNEMBEDDED = "('Scope', 'Session', 'Entity', 'Fact')"
_STATED = "n.made IS NULL"
"""Not something that sleep made of texts which have vectors themselves."""


_BEGUN = -1
"""No passage: a row that says who makes vectors anew."""


class Text(NamedTuple):
    """A memory whose words are to be embedded."""

    node: int
    type: str
    name: str
    content: str
    metadata: Metadata


def without_vectors(view: View, nodes: Collection[int] | None = None, most: int | None = None) -> list[Text]:
    """The texts (of these nodes, or of all) that have no vector yet."""
    chosen = "nodes n" if nodes is None else "json_each(:among) j CROSS JOIN nodes n ON n.id = j.value"
    first = f"n.id * {WORDS_PER_NODE}"
    rows = view.query(
        f"SELECT n.id, n.type, n.name, n.content, n.metadata FROM {chosen} WHERE n.tenant = :t"
        f" AND n.type NOT IN {_UNEMBEDDED} AND {_STATED}"
        f" AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.tenant = :t AND e.passage = {first})"
        f" AND NOT EXISTS (SELECT 1 FROM cold_embeddings e WHERE e.tenant = :t AND e.passage = {first})"
        f" ORDER BY n.id{'' if most is None else ' LIMIT :most'}",
        **({} if nodes is None else {"among": listed(nodes)}),
        **({} if most is None else {"most": most}),
    )
    return [Text._make((*row[:4], metadata_from(row[4]))) for row in rows]


def embedder_of(store: Store, tenant: int) -> str | None:
    """Who made the vectors of a tenant; None as long as there are none."""
    rows = store.query(
        "SELECT embedder FROM tenants WHERE tenant = :t AND embedder IS NOT NULL", {"t": tenant}
    )
    return str(rows[0][0]) if rows else None


def sign(store: Store, tenant: int, embedder: str) -> None:
    """Notes who makes the vectors of a tenant, inside the write transaction that keeps the first ones."""
    store.later(
        "UPDATE tenants SET embedder = :identity WHERE tenant = :t", {"identity": embedder, "t": tenant}
    )


def keep_vectors(store: Store, tenant: int, vectors: Sequence[tuple[int, bytes]], after: int = 0) -> None:
    """Vectors by passage, inside a write transaction; those of archived words go to the archive."""
    cold = archived(store, tenant, [passage for passage, _ in vectors])
    for table, is_cold in (("embeddings", False), ("cold_embeddings", True)):
        chosen = [(passage, vector) for passage, vector in vectors if (passage in cold) == is_cold]
        if store.packs:
            chosen = [(passage, packing.packed(vector)) for passage, vector in chosen]
        if chosen:
            ((last,),) = store.query(
                f"SELECT coalesce(max(id), 0) FROM {table} WHERE tenant = :t", {"t": tenant}
            )
            rows = [(max(last, after) + number, tenant, *one) for number, one in enumerate(chosen, 1)]
            store.put(table, rows, ("id", "tenant", "passage", "vector"))


# Another embedder -------------------------------------------------------------------------------------


def begun_by(store: Store, tenant: int) -> str | None:
    """Who makes all vectors anew at the moment, or began to; None for nobody."""
    rows = store.query("SELECT embedder FROM reembedding WHERE tenant = :t LIMIT 1", {"t": tenant})
    return str(rows[0][0]) if rows else None


def begin_anew(store: Store, tenant: int, embedder: str) -> None:
    """Drops what another one had begun and says who begins, inside a write transaction."""
    store.execute(
        "DELETE FROM reembedding WHERE tenant = :t AND embedder <> :embedder",
        {"t": tenant, "embedder": embedder},
    )
    keep_anew(store, tenant, embedder, [(_BEGUN, b"")])


def not_anew(view: View) -> list[Text]:
    """The texts that have no vector of the new embedder yet."""
    rows = view.query(
        f"SELECT n.id, n.type, n.name, n.content, n.metadata FROM nodes n WHERE n.tenant = :t"
        f" AND n.type NOT IN {_UNEMBEDDED} AND {_STATED} AND NOT EXISTS (SELECT 1 FROM reembedding r"
        f" WHERE r.tenant = :t AND r.passage = n.id * {WORDS_PER_NODE}) ORDER BY n.id"
    )
    return [Text._make((*row[:4], metadata_from(row[4]))) for row in rows]


def keep_anew(store: Store, tenant: int, embedder: str, vectors: Sequence[tuple[int, bytes]]) -> None:
    """Vectors beside those that are in use, inside a write transaction."""
    store.insert(
        "INSERT INTO reembedding (tenant, passage, vector, embedder) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(tenant, passage, vector, embedder) for passage, vector in vectors],
    )


def switch(store: Store, tenant: int, embedder: str) -> None:
    """Puts the new vectors in the place of the old ones, inside a write transaction; worlds are composed anew."""
    whose = {"t": tenant}
    ((last,),) = store.query("SELECT coalesce(max(id), 0) FROM embeddings WHERE tenant = :t", whose)
    made = store.query(
        "SELECT passage, vector FROM reembedding WHERE tenant = :t AND passage >= 0 ORDER BY passage", whose
    )
    for table in ("embeddings", "cold_embeddings", "composed", "reembedding"):
        store.execute(f"DELETE FROM {table} WHERE tenant = :t", whose)
    store.execute("DELETE FROM sleep WHERE tenant = :t AND pass = 'compose'", whose)
    store.execute(
        "UPDATE tenants SET embedder = :embedder, moved = moved + 1 WHERE tenant = :t",
        {**whose, "embedder": embedder},
    )
    keep_vectors(store, tenant, [(row[0], bytes(row[1])) for row in made], after=last)
