"""The seams: what rules may ask of a store, and what a store must offer.

Each protocol is small on purpose. `View` is bound once to tenant, scope, world and moment, so that
no caller passes them and none can forget one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, Protocol

from worldline.clock import LATEST, Instant
from worldline.model import Belief, Edge, FactRow, Node

Direction = Literal["out", "in"]


class Embedder(Protocol):
    """One method: rows are unit vectors, in the order of the texts."""

    name: str
    dimension: int
    identity: str

    def embed(self, texts: Sequence[str]) -> Any:
        """A matrix of float32, the same row for the same text whatever else is in the batch."""


class Reranker(Protocol):
    """One method: how well each text answers the question; only the order of the numbers counts."""

    name: str

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """A number for each text, the higher the better."""


class View(Protocol):
    """Reads, bound to one tenant, scope, world and moment."""

    def visible(self, lines: Collection[int]) -> list[Node]:
        """The visible version of each lineage, where there is one."""

    def payload(self, key: int) -> Node | None:
        """One version whatever the moment, through its newest belief."""

    def beliefs(self, key: int, *, ever: bool = False) -> list[Belief]:
        """The beliefs in one version that are current (or that ever were), in this scope."""

    def edges(
        self, lines: Collection[int], types: Collection[str] | None, direction: Direction
    ) -> list[Edge]:
        """The visible edges that leave (or reach) these lineages."""

    def parent(self, line: int, since: Instant = LATEST) -> int | None:
        """The world that contains a lineage now (or at any time from `since` on); None: the root."""

    def height(self, line: int) -> int:
        """How many levels of worlds lie below a lineage."""

    def reaches(self, start: int, goal: int, type_: str, since: Instant) -> bool:
        """Whether `goal` can be reached from `start` along edges of one type that hold after `since`."""

    def slot(self, subject: int, predicate: str, scope: int, beside: int) -> Sequence[FactRow]:
        """The currently believed facts of a subject and predicate: same owner, same world as `beside`."""
