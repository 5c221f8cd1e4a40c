"""What a store keeps in mind between calls, whichever engine it lies in; all of it can be lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from worldline.config import Config
from worldline.errors import Refused
from worldline.ports import Row, Tenant, Vectors
from worldline.store.vectors import VectorIndex
from worldline.store.waiting import Waiting
from worldline.text import forget_names

SHOWN = 4096
"""So many shown memories are kept in mind between two writes; the oldest are dropped."""
INDEXES, ROOM = 256, 512 << 20
"""The vectors of so many tenants are kept in memory, and so many bytes of them; those asked longest ago are dropped."""
USED = (
    "INSERT INTO uses (id, tenant, line, scope, kind, at) SELECT"
    " (SELECT CASE WHEN coalesce(max(u.id), 0) < :at THEN :at ELSE max(u.id) + 1 END FROM uses u WHERE u.tenant = :t),"
    " CAST(:t AS BIGINT), CAST(:line AS BIGINT), coalesce((SELECT b.scope FROM beliefs b WHERE b.tenant = :t"
    " AND b.line = :line ORDER BY b.id LIMIT 1), 0), CAST(:kind AS TEXT), CAST(:at AS BIGINT)"
)
"""Notes aside that a lineage was shown, useful or wrong, for whoever sleeps over its owner's memory. Its
number is its moment, or the next one that is free, so that no number is given twice."""
TENANT = "SELECT tenant, name, root, last_known, sequence, head, embedder FROM tenants WHERE tenant = :t AND root <> 0"
CLAIM = (
    "INSERT INTO tenants (tenant, name, root, last_known, sequence, head) VALUES (:t, :name, 0, :now, 0, :head)"
    " ON CONFLICT (tenant) DO UPDATE SET name = tenants.name RETURNING tenant, name, root, last_known, sequence, head"
)
"""Whoever comes second waits for the first, and finds the tenant that it has made."""


class Share(NamedTuple):
    """How much of a memory an owner had when it was counted: until it is twice as large, about that still."""

    texts: int
    least: int
    rows: Sequence[Row]

    def now(self, texts: int) -> list[Row]:
        """The rows of the count as they may be by now; no fewer than what made it worth keeping."""
        return [(*row[:2], max(int(row[2]) * texts // self.texts, self.least), *row[3:]) for row in self.rows]


def large(owners: Mapping[str, Sequence[Row]], texts: int, short: int) -> Iterator[tuple[str, Share]]:
    """Owners of very many texts are not counted again at every question: that takes as long as their list."""
    for term, rows in owners.items():
        counted = [row for row in rows if row[0] == 1]
        if any(int(row[2]) > short for row in counted):
            yield term, Share(texts, short + 1, counted)


class Held:
    """Caches of one open store, and what recalls have shown since the last write."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.statements = 0
        self.vectors: dict[str, Vectors] = {}
        self.likeness: Any = None
        """What the walk has learned about similar words, kept between questions."""
        self.meanings: dict[str, Any] = {}
        """Vectors of names that were compared."""
        self.common: dict[tuple[int, str], int] = {}
        """Words that many texts hold, with a count of some time ago: counting them again costs the most."""
        self.spread: dict[int, tuple[int, dict[str, int]]] = {}
        """How many texts a tenant had, and in how many of them very common words stood, when they were counted."""
        self.shares: dict[tuple[int, str], Share] = {}
        """By tenant and owner, how much of the memory is theirs, as it was counted some time ago."""
        self.counts: dict[Any, Any] = {}
        """How much a view holds, as it was counted after some changeset."""
        self.waiting: dict[int, Waiting] = {}
        """By tenant, what was seen of the texts that wait to be folded into the words index."""
        self.swept: set[str] = set()
        """Tenants whose missing vectors have been looked for since the store was opened."""
        self.leaves: dict[int, Any] = {}
        """By tenant, the hashes of single memories, which are not stored because they follow from their ids."""
        self.met: set[tuple[int, str]] = set()
        """(tenant, embedder) whose vectors this process has compared with."""
        self.shown: dict[int, dict[int, int]] = {}
        """tenant → lineage → moment: what recalls have shown since the tenant's last write; never much."""

    def forget_caches(self) -> None:
        """Drops whatever was learned from texts."""
        self.likeness = None
        self.meanings.clear()
        self.common.clear()
        self.spread.clear()
        self.shares.clear()
        self.counts.clear()
        self.waiting.clear()
        self.shown.clear()
        forget_names()

    def note_shown(self, tenant: int, lines: Iterable[int], at: int) -> None:
        """Lineages that a recall has shown; written down with the tenant's next write, not by the read."""
        held = self.shown.setdefault(tenant, {})
        for line in lines:
            held[line] = at
        while len(held) > SHOWN:
            held.pop(next(iter(held)), None)

    def shown_rows(self, tenant: int) -> list[dict[str, Any]]:
        """What is to be written down for a tenant, as `USED` takes it."""
        held = dict(self.shown.get(tenant, {}))
        return [{"t": tenant, "line": line, "kind": "shown", "at": at} for line, at in held.items()]

    def forget_shown(self, tenant: int, rows: Iterable[dict[str, Any]]) -> None:
        """Those that have been written down; what was shown again meanwhile stays."""
        held = self.shown.get(tenant, {})
        for row in rows:
            if held.get(row["line"]) == row["at"]:
                held.pop(row["line"], None)
        if not held:
            self.shown.pop(tenant, None)

    def forget(self, tenant: str) -> None:
        """Drops what is kept in mind of a tenant whose rows were replaced."""
        self.vectors.pop(tenant, None)
        self.counts.clear()
        self.swept.discard(tenant)
        self.waiting.clear()

    def index_of(self, tenant: str) -> Vectors:
        """A tenant's vectors; whoever was asked longest ago gives up the room that others need."""
        index = self.vectors.pop(tenant, None) or self._new_index()
        self.vectors[tenant] = index
        while len(self.vectors) > 1 and (
            len(self.vectors) > INDEXES or sum(held.size for held in self.vectors.values()) > ROOM
        ):
            self.vectors.pop(next(iter(self.vectors)), None)
        return index

    def _new_index(self) -> Vectors:
        return VectorIndex()


def its_own(rows: Sequence[Row], name: str) -> Tenant:
    """A tenant from its row, if there is one; refused where another name has the same number."""
    if rows and rows[0][1] != name:
        raise Refused(f"the tenant {name!r} cannot live beside {rows[0][1]!r}: their numbers are the same")
    return Tenant(*rows[0]) if rows else Tenant()
