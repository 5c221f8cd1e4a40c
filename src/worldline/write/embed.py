"""Vectors come after the words: what has none yet is embedded outside any transaction.

The queue is what the store itself says is missing, so it survives a crash. The first embedder that
a store sees is written into it; another one is refused until everything is embedded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import orjson

from worldline.handle import Handle
from worldline.hashing import tenant_number
from worldline.ports import Embedder
from worldline.reading.voices import role_of
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.words import archived
from worldline.store.held import Row
from worldline.store.vectors import require_identity
from worldline.text import PASSAGE, passages

_BATCH = 64
SWEEP = 32
"""So many left-over texts are embedded with the first write of a process; flush does the rest."""
_UNEMBEDDED = "('Scope', 'Session', 'Entity', 'Fact')"
_STATED = "n.made IS NULL"
"""Not something that sleep made of texts which have vectors themselves."""
Progress = Callable[[int, int], None]


def embed_new(handle: Handle, nodes: Iterable[int]) -> int:
    """Embeds these nodes; the first time in a process, a few that a crash has left without a vector too."""
    embedder = handle.embedder()
    if embedder is None:
        return 0
    left: list[int] = []
    if handle.tenant not in handle.store.swept:
        handle.store.swept.add(handle.tenant)
        left = [row[0] for row in _missing(handle, "1", SWEEP)]
    chosen = ",".join(map(str, {*left, *nodes}))
    return _embed(handle, embedder, f"n.id IN ({chosen})", None) if chosen else 0


def embed_pending(handle: Handle, embedder: Embedder, progress: Progress | None = None) -> int:
    """Embeds everything that has no vector yet."""
    return _embed(handle, embedder, "1", progress)


def _embed(handle: Handle, embedder: Embedder, where: str, progress: Progress | None) -> int:
    require_same(handle, embedder)
    rows = _missing(handle, where)
    texts = [(row[0] * WORDS_PER_NODE + at, text) for row in rows for at, text in enumerate(_texts(row))]
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        vectors = embedder.embed([text for _, text in batch])
        _store(handle, embedder, [passage for passage, _ in batch], vectors)
        if progress:
            progress(min(start + _BATCH, len(texts)), len(texts))
    return len(texts)


def _missing(handle: Handle, where: str, most: int = -1) -> list[Row]:
    """The texts that have no vector yet."""
    return handle.read(
        lambda view: view.query(
            f"SELECT n.id, n.type, n.name, n.content, n.metadata FROM nodes n WHERE n.tenant = :t AND {where}"
            f" AND n.type NOT IN {_UNEMBEDDED} AND {_STATED} AND NOT EXISTS (SELECT 1 FROM embeddings e"
            f" WHERE e.passage = n.id * {WORDS_PER_NODE}) AND NOT EXISTS (SELECT 1 FROM cold_embeddings e"
            f" WHERE e.passage = n.id * {WORDS_PER_NODE}) ORDER BY n.id LIMIT {most}"
        )
    )


def _texts(row: Sequence[Any]) -> list[str]:
    """What is embedded of a memory, passage by passage: who speaks or what it is called, and the words."""
    _, type_, name, content, metadata = row
    caption = orjson.loads(metadata).get("caption") if metadata else None
    tail = f" [image: {caption}]" if isinstance(caption, str) else ""
    opening = f"{name}: " if name and not (type_ == "Turn" and role_of(name) != "people") else ""
    if len(content) <= PASSAGE:
        return [f"{opening}{content}{tail}"]
    parts = [opening + content[start:end] for start, end in passages(content)]
    return [parts[0] + tail, *parts[1:]]


def _store(handle: Handle, embedder: Embedder, ids: Sequence[int], vectors: Any) -> None:
    import numpy as np

    with handle.writing():
        tenant = handle.tenant_row()[0]
        handle.store.execute(
            "UPDATE tenants SET embedder = coalesce(embedder, :identity) WHERE tenant = :t",
            {"identity": embedder.identity, "t": tenant},
        )
        rows = [
            (tenant, passage, np.asarray(vector, np.float16).tobytes())
            for passage, vector in zip(ids, vectors, strict=True)
        ]
        cold = archived(handle.store, tenant, ids)  # the vectors of what is archived belong there too
        for table, chosen in (
            ("embeddings", [row for row in rows if row[1] not in cold]),
            ("cold_embeddings", [row for row in rows if row[1] in cold]),
        ):
            handle.store.insert(
                f"INSERT INTO {table} (id, tenant, passage, vector) VALUES ((SELECT coalesce(max(m.id), 0) + 1"
                f" FROM {table} m WHERE m.tenant = ?), ?, ?, ?) ON CONFLICT DO NOTHING",
                [(row[0], *row) for row in chosen],
            )


def require_same(handle: Handle, embedder: Embedder) -> None:
    """Refuses another embedder than the one whose vectors are stored."""
    rows = handle.store.query(
        "SELECT embedder FROM tenants WHERE tenant = :t AND embedder IS NOT NULL", {"t": tenant_number(handle.tenant)}
    )
    if rows:
        require_identity(rows[0][0], embedder.identity)


def forget_vectors(handle: Handle) -> None:
    """Drops every vector of the tenant and the memory of who made them."""
    tenant = {"t": tenant_number(handle.tenant)}
    with handle.writing():
        for table in ("embeddings", "cold_embeddings", "composed"):
            handle.store.execute(f"DELETE FROM {table} WHERE tenant = :t", tenant)
        # worlds are composed anew, all of them
        handle.store.execute("DELETE FROM sleep WHERE tenant = :t AND pass = 'compose'", tenant)
        handle.store.execute("UPDATE tenants SET embedder = NULL WHERE tenant = :t", tenant)
    handle.store.vectors.pop(handle.tenant, None)
    handle.store.swept.discard(handle.tenant)
