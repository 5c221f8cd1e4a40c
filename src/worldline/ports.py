"""The seams: what rules may ask of a store, and what a store must offer.

Each protocol is small on purpose. `View` is bound once to tenant, scope, world and moment, so that
no caller passes them and none can forget one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from worldline.clock import LATEST, Instant
from worldline.config import Config
from worldline.hashing import GENESIS
from worldline.model import (
    Belief,
    Edge,
    FactRow,
    Metadata,
    Node,
    Proposal,
    Scope,
)

Direction = Literal["out", "in"]
Row = tuple[Any, ...]
Texts: TypeAlias = Sequence[tuple[int, str, str, str]]
"""(row, owners, words, kinds) of passages, tokens separated by spaces."""


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
    packs: bool
    """Whether vectors are kept in fifteen bits a number (`store/packing.py`)."""
    statements: int
    """How many were sent so far."""
    likeness: Any
    meanings: dict[str, Any]
    common: dict[tuple[int, str], int]
    spread: dict[int, tuple[int, dict[str, int]]]
    shares: dict[tuple[int, str], Any]
    counts: dict[Any, Any]
    counted: dict[int, Any]
    landmarks: dict[tuple[str, int], Any]
    waiting: dict[int, Any]
    facts: dict[tuple[int, int], Any]
    ends: dict[int, Any]
    swept: set[str]
    unseen: dict[str, int]
    leaves: dict[int, Any]
    met: set[tuple[int, str]]
    shown: dict[int, dict[int, int]]

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write transaction."""

    def reading(self, tenant: str) -> AbstractContextManager[Tenant]:
        """One snapshot for several statements; yields what is kept of the tenant."""

    def writing(self, tenant: str, *, keep: bool = True, wait: bool = True) -> AbstractContextManager[Tenant]:
        """One write transaction, all or nothing; writers of one tenant queue. `keep=False` rolls back."""

    def number(self, tenant: str) -> int:
        """The number that a tenant's rows carry in this store."""

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

    def index_of(self, tenant: str) -> Vectors:
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


class CloseReading(NamedTuple):
    """What a close reading says of one text beside a question."""

    logit: float
    """How near the two are."""
    told: float
    """The log odds that the text tells what is asked."""
    begin: int
    end: int
    """Where the text would say it, in characters."""
    share: float
    """How sure that place is among all others, from 0 to 1."""


class Bearing(NamedTuple):
    """What a later text does to a statement, as a close reading of both says: log odds."""

    over: float
    """It has changed."""
    wrong: float
    """It was never so."""
    at_odds: float
    """One of the two cannot be so, and nobody speaks of a change."""


class CloseReader(Reranker, Protocol):
    """A reranker that also says whether a text tells what is asked, where, and what it does to another text."""

    def read(self, question: str, texts: Sequence[tuple[str, int]]) -> Sequence[CloseReading]:
        """One reading for each text, whose value may begin from the given character on."""

    def bearing(self, statement: str, text: str) -> Bearing | None:
        """What a later text does to what a statement says; None where one of them has no word."""

    def succeeds(self, question: str, older: str, later: str) -> float | None:
        """The log odds that of two texts the later one answers a question; None where one of them has no word."""


class Vectors(Protocol):
    """The vectors of one tenant, brought up to date by each search."""

    worlds: Any
    """Those of whole worlds, made of their members'."""

    @property
    def size(self) -> int:
        """Bytes that are held in memory."""

    def search(
        self,
        view: View,
        query: Any,
        depth: int,
        newest: Any,
        *,
        scopes: Collection[int] | None = None,
        nodes: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """(node, cosine) of the nearest nodes, best first; only these scopes and nodes, if given."""

    def cosines(self, view: View, query: Any, nodes: Collection[int]) -> dict[int, float]:
        """The cosine of every one of these nodes that has a vector."""

    def catch_up(self, view: View, newest: Any, width: int) -> None:
        """Takes in what was stored since, where there is so much that the next question would wait for it."""


class Bindings(Protocol):
    """What a view is bound to, and how the store's own modules ask with it: nobody else hands it SQL."""

    store: Store
    tenant: int
    scope: Scope
    owned: Mapping[str, str]
    """The kinds of scope that are bound, with their names."""
    world: int
    valid: Instant
    known: Instant
    closed: bool
    """Whether what is over or withdrawn is seen too."""
    quarantined: bool
    cold: bool
    hindsight: bool
    """Whether words that were said after this moment may tell of it."""
    labels: Metadata
    """The metadata that is asked for."""
    only: tuple[int, ...] | None
    """The scope sets that are looked at, where it is these and no others."""
    is_snapshot: bool
    """Whether nothing that it sees can change while it is looked at."""
    gathered: Sequence[Any]
    """Texts that a changeset has put and not written out, to be found among the others."""
    looked: tuple[frozenset[str], Mapping[str | None, list[Row]], int] | None
    """What was counted of some terms, for the search that follows."""

    @property
    def whole(self) -> bool:
        """Whether what is archived is looked at too."""

    def query(self, sql: str, **args: Any) -> list[Row]:
        """One statement with these bindings."""

    def column(self, sql: str, **args: Any) -> list[Any]:
        """The first column of a statement's rows."""

    def distinct(self, sql: str, **args: Any) -> set[Any]:
        """The same, each value once."""

    def time(self, row: str) -> str:
        """The condition that a row is seen from this moment."""

    def scoped(self, row: str) -> str:
        """The condition that a row belongs to every bound kind of scope."""

    def inside(self, line: str) -> str:
        """The condition that a lineage lies in the entered world."""

    def contained(self, row: str) -> str:
        """The condition that a containing edge holds."""

    def ever_inside(self, line: str) -> str:
        """The condition that a lineage has lain in the entered world at some time."""

    def edge_ever_inside(self) -> str:
        """The same of the source of the edge `e`."""

    def trusted(self) -> str:
        """The condition that the belief `b` is not quarantined, unless asked for."""

    def seen(self) -> str:
        """Everything that makes a belief `b` visible here."""

    def same_owner(self, scope: int) -> str:
        """The condition that the belief `b` has the same user, agent and app, whatever the run."""

    def nodes(self, where: str, tail: str = "", **args: Any) -> list[Node]:
        """Visible nodes that meet a condition on `n` and `b`."""

    def edge_rows(self, where: str, **args: Any) -> list[Edge]:
        """Edges that meet a condition on `e`, whatever their ends."""

    def proposals(self, where: str = "TRUE", **args: Any) -> list[Proposal]:
        """Merge proposals as they stood at this known time."""

    def pending_merges(self) -> int:
        """How many proposals wait for a decision."""

    def open_facts(self, subject: int, scope: int, among: Collection[str] | None = None) -> list[Row]:
        """What is believed of a subject and not over; in these slots, if given."""

    def open_facts_among(self, nodes: Collection[int], scope: int | None) -> list[Row]:
        """Which of these are facts that are believed and not over, of a scope's owner or as this view sees them."""


class View(Bindings, Protocol):
    """Reads, bound to one tenant, scope, world and moment."""

    def bind(self, **changes: Any) -> View:
        """The same view with another moment, world, scope or openness."""

    def visible(self, lines: Collection[int]) -> list[Node]:
        """The visible version of each lineage, where there is one; the newest, where several are."""

    def versions(self, lines: Collection[int]) -> list[Node]:
        """Every visible version of these lineages."""

    def one(self, line: int) -> Node | None:
        """The visible version of one lineage."""

    def payload(self, key: int) -> Node | None:
        """One version whatever the moment, through its newest belief."""

    def history(self, line: int) -> list[tuple[Belief, Node]]:
        """Every belief ever held in any version of a lineage up to this known time, oldest first."""

    def latest(self, line: int) -> Node | None:
        """The version of a lineage that was believed last by this known time, over or not."""

    def named(self, prefix: str) -> list[tuple[int, int]]:
        """(key, lineage) of the nodes whose id begins with these hex digits."""

    def former(self, prefix: str) -> list[tuple[int, str, Instant]]:
        """(lineage, hash, known time it began) of the world hashes that begin so."""

    def beliefs(self, key: int, *, ever: bool = False) -> list[Belief]:
        """The beliefs in one version that are current (or that ever were), in this scope."""

    def edges(
        self, lines: Collection[int], types: Collection[str] | None, direction: Direction
    ) -> list[Edge]:
        """The visible edges that leave (or reach) these lineages; facts count as edges."""

    def parent(self, line: int, since: Instant = LATEST) -> int | None:
        """The world that contains a lineage now (or at any time from `since` on); None: the root."""

    def height(self, line: int) -> int:
        """How many levels of worlds lie below a lineage."""

    def lies_inside(self, line: int) -> bool:
        """Whether a lineage lies in the entered world at this moment."""

    def reaches(self, start: int, goal: int, type_: str, since: Instant) -> bool:
        """Whether `goal` can be reached from `start` along edges of one type that hold after `since`."""

    def slot(self, subject: int, predicate: str, scope: int, beside: int) -> Sequence[FactRow]:
        """The currently believed facts of a subject and predicate: same owner, same world as `beside`."""

    def same_as(self, *lines: int) -> list[int]:
        """The lineages accepted as the same as any of these by this known time, themselves included."""

    def merged(self, lines: Sequence[int]) -> set[int]:
        """Those that were accepted as the same as something, whether or not that is still there."""

    def has_merges(self) -> bool:
        """Whether any merge was ever accepted here."""

    def session(self, name: str) -> int:
        """The world of a session of this name in this scope; 0 when there is none."""

    def ids(self, nodes: Sequence[int]) -> tuple[str, ...]:
        """The ids of these versions, in order."""

    def contents(self, nodes: Collection[int]) -> dict[int, tuple[str, str]]:
        """The beginnings of those of these that are texts, where they may be seen, and who said what was said."""

    def matching(
        self, tokens: Sequence[str], limit: int, *, texts: bool = True, facts: bool = True
    ) -> list[tuple[int, float]]:
        """(node, rank) of the texts, and of facts and names, that hold any of these words, best first."""

    def frequencies(self, tokens: Collection[str], common: int | None = None) -> dict[str, int]:
        """In how many texts each of these words occurs; above `common` it may be an earlier count."""
