"""Vectors come after the words: what has none yet is embedded outside any transaction.

The queue is what the store itself says is missing, so it survives a crash. The first embedder that
a store sees is written into it; another one is refused until everything is embedded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from worldline.handle import Handle
from worldline.ports import Embedder, View
from worldline.reading.voices import role_of
from worldline.store import indexing
from worldline.store.held import require_identity
from worldline.store.indexing import Text, keep_vectors, without_vectors
from worldline.store.schema import WORDS_PER_NODE
from worldline.text import PASSAGE, passages

_BATCH = 64
SWEEP = 32
"""So many left-over texts are embedded with the first write of a process; flush does the rest."""
Progress = Callable[[int, int], None]


def embed_new(handle: Handle, nodes: Iterable[int]) -> int:
    """Embeds these nodes; the first time in a process, a few that a crash has left without a vector too."""
    embedder = handle.embedder()
    if embedder is None:
        return 0
    left: list[int] = []
    if handle.tenant not in handle.store.swept:
        handle.store.swept.add(handle.tenant)
        left = [text.node for text in handle.read(lambda view: without_vectors(view, most=SWEEP))]
    chosen = {*left, *nodes}
    return _embed(handle, embedder, chosen, None) if chosen else 0


def embed_pending(handle: Handle, embedder: Embedder, progress: Progress | None = None) -> int:
    """Embeds everything that has no vector yet."""
    return _embed(handle, embedder, None, progress)


def _embed(
    handle: Handle, embedder: Embedder, nodes: Collection[int] | None, progress: Progress | None
) -> int:
    missing = handle.read(lambda view: _missing(handle, embedder, view, nodes))
    texts = _passages(missing)
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        vectors = embedder.embed([text for _, text in batch])
        _store(handle, embedder, [passage for passage, _ in batch], vectors)
        if progress:
            progress(min(start + _BATCH, len(texts)), len(texts))
    return len(texts)


def _missing(handle: Handle, embedder: Embedder, view: View, nodes: Collection[int] | None) -> list[Text]:
    """The texts that have no vector yet; refused for another embedder than the one whose vectors are stored."""
    known = handle.tenant_row().embedder
    if known is not None:
        require_identity(known, embedder.identity)
    return without_vectors(view, nodes)


def _passages(missing: Sequence[Text]) -> list[tuple[int, str]]:
    return [(one.node * WORDS_PER_NODE + at, text) for one in missing for at, text in enumerate(_texts(one))]


def _texts(text: Text) -> list[str]:
    """What is embedded of a memory, passage by passage: who speaks or what it is called, and the words."""
    _, type_, name, content, metadata = text
    caption = metadata.get("caption")
    tail = f" [image: {caption}]" if isinstance(caption, str) else ""
    opening = f"{name}: " if name and not (type_ == "Turn" and role_of(name) != "people") else ""
    if len(content) <= PASSAGE:
        return [f"{opening}{content}{tail}"]
    parts = [opening + content[start:end] for start, end in passages(content)]
    return [parts[0] + tail, *parts[1:]]


def _store(handle: Handle, embedder: Embedder, ids: Sequence[int], vectors: Any) -> None:
    with handle.writing() as tenant:
        if tenant.embedder is None:
            indexing.sign_embedder(handle.store, tenant.id, embedder.identity)
        keep_vectors(handle.store, tenant.id, list(zip(ids, _packed(vectors), strict=True)))


def _packed(vectors: Any) -> list[bytes]:
    import numpy as np

    return [np.asarray(vector, np.float16).tobytes() for vector in vectors]


def embed_anew(handle: Handle, embedder: Embedder, progress: Progress | None, batch: int = _BATCH) -> int:
    """Makes every vector anew beside those in use, and switches once none is missing; how many texts that were."""
    number, done = handle.store.number(handle.tenant), 0
    with handle.writing():
        indexing.begin_anew(handle.store, number, embedder.identity)
    while True:
        texts = _passages(handle.read(indexing.not_anew))
        for start in range(0, len(texts), batch):
            part = texts[start : start + batch]
            packed = _packed(embedder.embed([text for _, text in part]))
            with handle.writing():
                vectors = list(zip([passage for passage, _ in part], packed, strict=True))
                indexing.keep_anew(handle.store, number, embedder.identity, vectors)
            done += len(part)
            if progress:
                progress(done, done + len(texts) - start - len(part))
        with handle.writing() as tenant:
            if not indexing.not_anew(handle.view(tenant)):
                indexing.switch_embedder(handle.store, number, embedder.identity)
                break
    handle.store.forget(handle.tenant)
    handle.store.swept.discard(handle.tenant)
    return done
