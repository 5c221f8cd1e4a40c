"""What a memory learned since a moment, read from the changeset log: the reason why a night is cheap.

Only rows of later changesets are looked at, so the cost is that of what is new, whatever the store
holds. Changesets of the pass that asks are left out: a pass does not chew its own cud.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from worldline.ports import View
from worldline.store.nights import Changeset, Item, Joined, changesets


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
        self._read: dict[int, Changeset] = {}

    def news(self, view: View, since: int, until: int, but: str = "") -> News:
        """Everything that these changesets put and closed, except those of the kind `but`."""
        if not self._read:
            self._since = self._until = since
        if since < self._since:
            self._read |= changesets(view, since, self._since)
            self._since = since
        if until > self._until:
            self._read |= changesets(view, self._until, until)
            self._until = until
        chosen = [self._read[at] for at in range(since + 1, until + 1) if at in self._read]
        told = [changeset for changeset in chosen if changeset.kind != but]
        return News(
            since,
            until,
            tuple(item for changeset in told for item in changeset.items),
            tuple(edge for changeset in told for edge in changeset.edges),
        )
