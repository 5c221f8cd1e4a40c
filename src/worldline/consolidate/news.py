"""What a memory learned since a moment, read from the changeset log: the reason why a night is cheap.

Only rows of later changesets are looked at, so the cost is that of what is new, whatever the store
holds. Changesets of the pass that asks are left out: a pass does not chew its own cud.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from worldline.store import ledger
from worldline.store.held import Row
from worldline.store.view import SqlView, listed

_BATCH = 5000


class Item(Struct, frozen=True):
    """A belief that was put, or closed (and perhaps put again, shorter or with another status)."""

    line: int
    node: int
    type: str
    world: int
    """The lineage that it was put into (a turn's session); 0 for the top level."""
    scope: int
    closed: bool
    at: int
    """The number of its changeset."""


class Joined(Struct, frozen=True):
    """An edge that was put or closed."""

    src: int
    type: str
    dst: int
    scope: int
    closed: bool
    at: int


class News(Struct, frozen=True):
    """What was put and closed by the changesets from the one after `since` up to `until`, in order."""

    since: int
    until: int
    items: tuple[Item, ...] = ()
    edges: tuple[Joined, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.items or self.edges)

    def of(self, *types: str) -> list[Item]:
        """The beliefs in memories of these types."""
        return [item for item in self.items if item.type in types]

    def after(self, since: int) -> News:
        """The part that came after this changeset."""
        if since <= self.since:
            return self
        return News(
            since,
            self.until,
            tuple(item for item in self.items if item.at > since),
            tuple(edge for edge in self.edges if edge.at > since),
        )

    def divided(self, parts: Mapping[int, str]) -> dict[str, News]:
        """The news of each part, by the part that a scope set belongs to."""
        items: dict[str, list[Item]] = {}
        edges: dict[str, list[Joined]] = {}
        for item in self.items:
            if item.scope in parts:
                items.setdefault(parts[item.scope], []).append(item)
        for edge in self.edges:
            if edge.scope in parts:
                edges.setdefault(parts[edge.scope], []).append(edge)
        return {
            part: News(self.since, self.until, tuple(items.get(part, ())), tuple(edges.get(part, ())))
            for part in {*items, *edges}
        }


class Feed:
    """The changesets of one night, each read once however many passes ask for it."""

    def __init__(self) -> None:
        self._since, self._until = 0, 0
        self._read: dict[int, tuple[str, list[Item], list[Joined]]] = {}

    def news(self, view: SqlView, since: int, until: int, but: str = "") -> News:
        """Everything that these changesets put and closed, except those of the kind `but`."""
        if not self._read:
            self._since = self._until = since
        if since < self._since:
            self._load(view, since, self._since)
            self._since = since
        if until > self._until:
            self._load(view, self._until, until)
            self._until = until
        chosen = [self._read[at] for at in range(since + 1, until + 1) if at in self._read]
        told = [changeset for changeset in chosen if changeset[0] != but]
        return News(
            since,
            until,
            tuple(item for _, items, _ in told for item in items),
            tuple(edge for _, _, edges in told for edge in edges),
        )

    def _load(self, view: SqlView, since: int, until: int) -> None:
        beliefs: list[_Logged] = []
        edges: list[_Logged] = []
        sql = "SELECT sequence, kind, body FROM log WHERE tenant = :t AND sequence > :since AND sequence <= :until"
        for at, kind, body in view.query(sql, since=since, until=until):
            self._read[at] = (kind, [], [])
            for table, closed, numbers, _ in ledger.sections(body):
                if table in ("beliefs", "edges"):
                    wanted = beliefs if table == "beliefs" else edges
                    wanted += [(number, closed, at) for number in numbers]
        for row, closed, at in _looked_up(view, _BELIEFS, beliefs):
            line, node, type_, world, scope = row
            self._read[at][1].append(Item(line, node, type_, world, scope, closed, at))
        for row, closed, at in _looked_up(view, _EDGES, edges):
            src, type_, dst, scope = row
            self._read[at][2].append(Joined(src, type_, dst, scope, closed, at))


_Logged = tuple[int, bool, int]
"""A row's number, whether it was closed, and by which changeset."""
_BELIEFS = (
    "SELECT b.id, b.line, b.node, b.type, n.world, b.scope FROM json_each(:among) j"
    " CROSS JOIN beliefs b ON b.id = j.value CROSS JOIN nodes n ON n.id = b.node"
    " WHERE b.tenant = :t AND b.type != 'Scope'"
)
_EDGES = (
    "SELECT e.id, e.src, e.type, e.dst, e.scope FROM json_each(:among) j CROSS JOIN edges e ON e.id = j.value"
    " WHERE e.tenant = :t"
)


def _looked_up(view: SqlView, sql: str, logged: Sequence[_Logged]) -> Iterator[tuple[Row, bool, int]]:
    """The rows themselves, in the order of the log."""
    for start in range(0, len(logged), _BATCH):
        batch = logged[start : start + _BATCH]
        among = listed({number for number, _, _ in batch})
        rows = {row[0]: row[1:] for row in view.query(sql, among=among)}
        for number, closed, at in batch:
            if number in rows:
                yield rows[number], closed, at
