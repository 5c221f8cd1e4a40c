"""The seams: what rules may ask of a store, and what a store must offer.

Each protocol is small on purpose. `View` is bound once to tenant, scope, world and moment, so that
no caller passes them and none can forget one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol

from worldline.clock import LATEST, Instant
from worldline.config import Config
from worldline.hashing import GENESIS
from worldline.model import Belief, Edge, FactRow, Node

Direction = Literal["out", "in"]
Row = tuple[Any, ...]


class Tenant(NamedTuple):
    """A tenant as the store keeps it; zeros for one without memories."""

    id: int = 0
    name: str = ""
    root: int = 0
    last_known: Instant = 0
    sequence: int = 0
    head: bytes = GENESIS
    embedder: str | None = None
    """Who made its vectors, if there are any."""


class Store(Protocol):
    """Where memories lie: transactions of one tenant, statements inside them, and the store as a whole.

    Statements are SQL as every engine reads it, with `:name` or `?` for values; what differs between
    engines is the store's own business. Caches can be lost at any time.
    """

    config: Config
    path: str
    """What the store is called in messages: a file, or a server without its password."""
    in_memory: bool
    statements: int
    """How many were sent so far."""
    vectors: dict[str, Any]
    matcher: Any
    meanings: dict[str, Any]
    common: dict[tuple[int, str], int]
    swept: set[str]
    leaves: dict[int, Any]
    met: set[tuple[int, str]]
    shown: dict[int, dict[int, int]]

    def reading(self, tenant: str) -> AbstractContextManager[Tenant]:
        """One snapshot for several statements; yields what is kept of the tenant."""

    def writing(self, tenant: str, *, keep: bool = True, wait: bool = True) -> AbstractContextManager[Tenant]:
        """One write transaction, all or nothing; writers of one tenant queue. `keep=False` rolls back."""

    def tenant_row(self, tenant: str) -> Tenant:
        """What is kept of a tenant."""

    def query(self, sql: str, args: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """All rows of one statement; `t` among the values names the tenant."""

    def readable(self, sql: str, args: Mapping[str, Any]) -> list[Row]:
        """The rows whose text is text, where a file may be damaged."""

    def execute(self, sql: str, args: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """One statement inside the write transaction."""

    def later(self, sql: str, args: Mapping[str, Any]) -> None:
        """The same where nobody looks at the outcome: done before any statement that could."""

    def insert(self, sql: str, rows: Iterable[Row | Mapping[str, Any]]) -> None:
        """The same statement for many rows."""

    def put(self, table: str, rows: Sequence[Row], columns: Sequence[str] | None = None) -> None:
        """New rows of a table, as many as there are at once; there before any statement that names the table."""

    def tenants(self) -> list[str]:
        """The names of all tenants that have memories."""

    def size(self) -> int:
        """Bytes on disk."""

    def backup(self, target: str) -> None:
        """A whole copy in a file, while the store is in use."""

    def problems(self) -> list[str]:
        """What the engine itself finds wrong."""

    def missing_indexes(self) -> list[str]:
        """The indexes that are not there, by name."""

    def mend_indexes(self) -> None:
        """Inside a write transaction: makes those that are missing."""

    def sweep(self) -> bool:
        """Leaves nothing of deleted rows in free space or logs; False where a reader still holds an older state."""

    def forget_caches(self) -> None:
        """Drops what is held in memory beside the rows."""

    def bulk(self) -> AbstractContextManager[None]:
        """Around a load of very many rows."""

    def drop_indexes(self) -> None:
        """Inside the first write transaction of a store: forget some indexes until `make_indexes`."""

    def make_indexes(self) -> None:
        """Inside the same transaction: make them again."""

    def distribute(self) -> list[str]:
        """Spreads the tables over the nodes of a cluster by tenant; which ones were not yet."""

    def note_shown(self, tenant: int, lines: Iterable[int], at: int) -> None:
        """Lineages that a recall has shown; written down with the tenant's next write."""

    def index_of(self, tenant: str) -> Any:
        """A tenant's vectors in memory."""

    def forget(self, tenant: str) -> None:
        """Drops what is kept in mind of a tenant whose rows were replaced."""

    def close(self) -> None:
        """Gives everything back."""


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
