"""What is wrong with a store that can be seen without proving every hash, and what mends it."""

from __future__ import annotations

from typing import NamedTuple

from worldline.ports import Store
from worldline.store import erasing, reindexing
from worldline.store.vectorising import embedder_of
from worldline.store.vectors import same_embedder


class Ailment(NamedTuple):
    """Something wrong (`bad`) or left to do (`note`)."""

    state: str
    about: str
    told: str


def ailments(store: Store, tenant: int, embedder: str | None) -> tuple[Ailment, ...]:
    """Everything that is wrong, worst first; `embedder` is the one that would be asked today."""
    found = [
        Ailment("bad", "file", f"{problem}; worldline restore BACKUP puts a backup in its place")
        for problem in store.problems()
    ]
    if missing := store.missing_indexes():
        found.append(Ailment("bad", "indexes", f"{', '.join(missing)} missing; worldline reindex makes them"))
    if bad := reindexing.unusable(store.query, tenant):
        found.append(
            Ailment(
                "bad",
                "vectors",
                f"{len(bad):,} cannot be compared with others; worldline reindex makes them anew",
            )
        )
    known = embedder_of(store, tenant)
    if known is not None and embedder is not None and not same_embedder(known, embedder):
        found.append(
            Ailment(
                "bad",
                "embedder",
                f"vectors are of {known}, the setting is {embedder}; worldline reembed makes them anew",
            )
        )
    if erasing.is_unswept(store):
        found.append(
            Ailment("bad", "pages", "they may hold what was erased; worldline sleep rewrites the file")
        )
    return tuple(found)
