"""What the REST routes take and give: the OpenAPI document and its schemas come from these classes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from worldline.model import Metadata, Node, Proposal
from worldline.surfaces.answering import Cited
from worldline.surfaces.verbs import Body, Ref, Time

Way = Literal["out", "in", "both"]


# What the routes take ----------------------------------------------------------------------------


class RecallBody(Body):
    """A question."""

    question: str
    max_tokens: Annotated[int, Meta(ge=100, description="Budget for the whole response body.")] = 4000
    asked_at: Time | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    filters: Metadata = field(default_factory=dict)
    explain: Annotated[bool, Meta(description="Also lanes, factors and the plan.")] = False
    include_superseded: bool = False
    include_quarantined: bool = False
    without: list[str] = field(default_factory=list)


class ContextBody(Body):
    """What to know first."""

    about: Annotated[str, Meta(description="A user of this memory, or a name in it [the user].")] | None = (
        None
    )
    max_tokens: Annotated[int, Meta(ge=20, le=100_000, description="Budget of the text.")] = 800


class WalkAnswer(Body):
    """A question of several hops."""

    question: str
    limit: Annotated[int, Meta(ge=1, le=50)] = 5


class LoadNote(Body):
    """A note to load; `inside` is the place in the list of the note that contains it."""

    type: str
    name: str
    content: str = ""
    valid_from: Time | None = None
    valid_to: Time | None = None
    dated: Time | None = None
    metadata: Metadata | None = None
    inside: int | None = None


class LoadLink(Body):
    """An edge to load; an end is the place of a note in the list."""

    src: int
    type: str
    dst: int
    valid_from: Time | None = None
    valid_to: Time | None = None
    metadata: Metadata | None = None


class Load(Body):
    """Many notes and links."""

    notes: list[LoadNote]
    links: list[LoadLink] = field(default_factory=list)


class EdgeOf(Body):
    """An edge by its three parts."""

    src: Ref
    type: str
    dst: Ref


class EndEdge(EdgeOf):
    """An edge that ends."""

    when: Time | None = None
    reason: str | None = None
    dry_run: bool = False


class Of(Body):
    """One memory."""

    ref: Ref


class WalkBody(Of):
    """A memory and how far around it."""

    types: Annotated[str, Meta(description="Edge types, separated by commas [all].")] = ""
    way: Way = "both"
    depth: Annotated[int, Meta(ge=1, le=8)] = 1


class SplitBody(Of):
    """Mentions that belong to somebody else."""

    mentions: Annotated[list[str], Meta(description="The memories that mention it.")]
    name: str


class QueryStep(Body):
    """One step of a query: exactly one of these."""

    follow: FollowStep | None = None
    where: WhereStep | None = None
    connected: ConnectedStep | None = None


class FollowStep(Body):
    """Move on along edges."""

    types: list[str] = field(default_factory=list)
    way: Way = "out"
    depth: int = 1


class WhereStep(Body):
    """Keep what fits."""

    type: list[str] = field(default_factory=list)
    name: str | None = None
    kind: str | None = None
    contains: str | None = None
    metadata: Metadata = field(default_factory=dict)


class ConnectedStep(Body):
    """Keep what has an edge."""

    type: str
    to: list[str] = field(default_factory=list)
    way: Way = "both"
    absent: bool = False


class QueryBody(Body):
    """A query: where to start, then steps."""

    seeds: list[Ref] = field(default_factory=list)
    text: str | None = None
    steps: list[QueryStep] = field(default_factory=list)
    within: Ref | None = None
    during: tuple[str, str] | None = None
    include_superseded: bool = False
    limit: Annotated[int, Meta(ge=1, le=10000)] | None = None
    explain: Annotated[bool, Meta(description="Only the plan.")] = False


class Since(Body):
    """A page of what came after a known time."""

    since: Time | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    page: str | None = None


class Decided(Body):
    """Proposals of a status."""

    status: Literal["pending", "accepted", "rejected", "undone", "all"] = "pending"


class HashOf(Body):
    """A world, or everything."""

    ref: Ref | None = None


class ForgetBody(Body):
    """What to erase: memories, or what a scope holds, or what is older than a moment."""

    ids: list[Ref] = field(default_factory=list)
    before: Time | None = None
    confirm: Annotated[bool, Meta(description="Without it nothing is erased.")] = False
    dry_run: bool = False


class Undo(Body):
    """The known times of a receipt."""

    known_at: str
    also: list[str] = field(default_factory=list)
    dry_run: bool = False


# What some of them give --------------------------------------------------------------------------


class Answered(Struct, omit_defaults=True):
    """The answer to a question; `hits` are best first, a hit that did not fit whole has only the beginning."""

    confidence: float
    abstained: bool
    reason: str | None
    answer: str | None
    proof: list[Cited]
    facts: list[Cited]
    hits: list[dict[str, Any]]
    returned: int
    found: int
    sure: float
    trace: list[str] = []


class Walked(Struct):
    """Answers of several hops, best first, each with the facts that it walks."""

    confidence: float
    chains: list[dict[str, Any]]


class FeedPage(Struct):
    """A page of what was believed and given up."""

    items: list[dict[str, Any]]
    next: str | None


class IdentityOf(Struct):
    """One identity with all its names."""

    representative: str
    members: list[dict[str, str]]
    names: list[str]
    provenance: list[dict[str, Any]]
    merges: list[dict[str, Any]]


class QueryPlan(Struct):
    """A query's plan."""

    plan: str


class Hash(Struct):
    """A hash."""

    hash: str


class WorldHash(Struct):
    """A world and its hash."""

    hash: str
    node: Node


class Worlds(Struct):
    """The hash of everything, and every world."""

    hash: str
    worlds: list[WorldHash]


class NamedProposal(Struct):
    """A proposal with the names of its ends."""

    proposal: Proposal
    a_name: str
    b_name: str


class Counted(Struct):
    """How many."""

    count: int
