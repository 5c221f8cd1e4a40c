"""What a memory learned since a moment, read from the changeset log: the reason why a night is cheap.

Only rows of later changesets are looked at, so the cost is that of what is new, whatever the store
holds. Changesets of the pass that asks are left out: a pass does not chew its own cud.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from worldline.store import ledger
from worldline.store.sqlite import Row
from worldline.store.view import LISTED, SqlView, listed

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

    def within(self, scopes: Iterable[int], since: int = 0) -> News:
        """The part that belongs to these scope sets and came after this changeset."""
        held = set(scopes)
        return News(
            max(self.since, since),
            self.until,
            tuple(item for item in self.items if item.scope in held and item.at > since),
            tuple(edge for edge in self.edges if edge.scope in held and edge.at > since),
        )


def news(view: SqlView, since: int, until: int, but: str = "") -> News:
    """Everything that these changesets put and closed, except those of the kind `but`."""
    items: list[Item] = []
    edges: list[Joined] = []
    for at, table, closed, numbers in _rows(view, since, until, but):
        for start in range(0, len(numbers), _BATCH):
            among = listed(numbers[start : start + _BATCH])
            if table == "beliefs":
                items += [_item(row, closed, at) for row in view.query(_BELIEFS, among=among)]
            elif table == "edges":
                edges += [_joined(row, closed, at) for row in view.query(_EDGES, among=among)]
    return News(since, until, tuple(items), tuple(edges))


def _item(row: Row, closed: bool, at: int) -> Item:
    line, node, type_, world, scope = row
    return Item(line, node, type_, world, scope, closed, at)


def _joined(row: Row, closed: bool, at: int) -> Joined:
    src, type_, dst, scope = row
    return Joined(src, type_, dst, scope, closed, at)


_BELIEFS = (
    "SELECT b.line, b.node, b.type, n.world, b.scope FROM beliefs b CROSS JOIN nodes n ON n.id = b.node"
    f" WHERE b.tenant = :t AND b.id IN {LISTED} AND b.type != 'Scope' ORDER BY b.id"
)
_EDGES = f"SELECT src, type, dst, scope FROM edges WHERE tenant = :t AND id IN {LISTED} ORDER BY id"


def _rows(view: SqlView, since: int, until: int, but: str) -> Iterator[tuple[int, str, bool, list[int]]]:
    rows = view.query(
        "SELECT sequence, body FROM log WHERE tenant = :t AND sequence > :since AND sequence <= :until"
        " AND kind != :but ORDER BY sequence",
        since=since, until=until, but=but,
    )  # fmt: skip
    for at, body in rows:
        for table, closed, numbers, _ in ledger.sections(body):
            yield at, table, closed, numbers
