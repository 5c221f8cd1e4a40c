"""What the REST routes take and give: the OpenAPI document and its schemas come from these classes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from worldline.model import Evidence, Metadata, Node, Proposal
from worldline.reading.given import HINT
from worldline.surfaces.answering import Cited

Way = Literal["out", "in", "both"]
TIMED = {"anyOf": [{"format": "date-time"}, {"format": "date"}, {"const": "forever"}]}
Given = Annotated[
    str,
    Meta(
        description="ISO time such as 2026-03-05 or 2026-03-05T14:30+01:00, or `forever`.",
        extra_json_schema=TIMED,
    ),
]
Ref = Annotated[
    str,
    Meta(
        description="An id, its first 8 or more digits, or a hash that a world has had.",
        extra_json_schema={"minLength": 8},
    ),
]


class Asked(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a route takes; nothing, here."""


class GivenFact(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fact: a relation in your own words, or a predicate that you keep exactly as it is written."""

    subject: Annotated[str, Meta(description="Who or what; `I` or `user` for the bound user.")]
    relation: Annotated[str, Meta(description=f"Such as: {HINT}. Or your own words.")] | None = None
    object: Annotated[str | int | float | bool, Meta(description="A name or a value.")] | None = None
    since: Annotated[str, Meta(description="ISO date, month or year [when it was said].")] | None = None
    until: Annotated[str, Meta(description="No longer so from then on.")] | None = None
    ended: Annotated[bool, Meta(description="It is over.")] = False
    predicate: Annotated[str, Meta(description="Instead of `relation`.")] | None = None
    literal: (
        Annotated[str | int | bool, Meta(description="Instead of `object`: a value, not a name.")] | None
    ) = None
    valid_from: Annotated[str | int, Meta(description="As `since`.")] | None = None
    valid_to: Annotated[str | int, Meta(description="As `until`.")] | None = None
    precision: str | None = None
    confidence: float = 1.0
    reason: str | None = None
    functional: Annotated[bool, Meta(description="Whether it replaces the old object.")] | None = None
    correction: Annotated[bool, Meta(description="The old one was wrong.")] = False
    evidence: list[Evidence] = field(default_factory=list)


# What the routes take ----------------------------------------------------------------------------


class Recall(Asked):
    """A question."""

    question: str
    max_tokens: Annotated[int, Meta(ge=100, description="Budget for the whole response body.")] = 4000
    asked_at: Given | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    filters: Metadata = field(default_factory=dict)
    explain: Annotated[bool, Meta(description="Also lanes, factors and the plan.")] = False
    include_superseded: bool = False
    include_quarantined: bool = False
    without: list[str] = field(default_factory=list)


class Context(Asked):
    """What to know first."""

    about: Annotated[str, Meta(description="A user of this memory, or a name in it [the user].")] | None = (
        None
    )
    max_tokens: Annotated[int, Meta(ge=20, le=100_000, description="Budget of the text.")] = 800


class WalkAnswer(Asked):
    """A question of several hops."""

    question: str
    limit: Annotated[int, Meta(ge=1, le=50)] = 5


class Remember(Asked):
    """What was said, or several messages."""

    text: str | None = None
    messages: list[dict[str, Any]] | None = None
    said_at: Given | None = None
    speaker: str = ""
    session: str | None = None
    metadata: Metadata = field(default_factory=dict)
    facts: Annotated[list[GivenFact], Meta(description="What it says, as you understand it.")] = field(
        default_factory=list
    )
    external_id: str | None = None
    expires: Given | None = None
    dry_run: bool = False


class OneFact(Asked):
    """A fact given directly."""

    fact: GivenFact
    dry_run: bool = False


class Note(Asked):
    """A note."""

    type: str
    name: str
    content: str = ""
    valid_from: Given | None = None
    valid_to: Given | None = None
    dated: Given | None = None
    metadata: Metadata = field(default_factory=dict)
    facts: list[GivenFact] = field(default_factory=list)
    dry_run: bool = False


class LoadNote(Asked):
    """A note to load; `inside` is the place in the list of the note that contains it."""

    type: str
    name: str
    content: str = ""
    valid_from: Given | None = None
    valid_to: Given | None = None
    dated: Given | None = None
    metadata: Metadata | None = None
    inside: int | None = None


class LoadLink(Asked):
    """An edge to load; an end is the place of a note in the list."""

    src: int
    type: str
    dst: int
    valid_from: Given | None = None
    valid_to: Given | None = None
    metadata: Metadata | None = None


class Load(Asked):
    """Many notes and links."""

    notes: list[LoadNote]
    links: list[LoadLink] = field(default_factory=list)


class EdgeOf(Asked):
    """An edge by its three parts."""

    src: Ref
    type: str
    dst: Ref


class Link(EdgeOf):
    """A new edge."""

    valid_from: Given | None = None
    valid_to: Given | None = None
    metadata: Metadata = field(default_factory=dict)
    predicate: str | None = None
    dry_run: bool = False


class EndEdge(EdgeOf):
    """An edge that ends."""

    when: Given | None = None
    reason: str | None = None
    dry_run: bool = False


class List(Asked):
    """A page."""

    type: str | None = None
    metadata: Metadata = field(default_factory=dict)
    include_superseded: bool = False
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    page: str | None = None


class Of(Asked):
    """One memory."""

    ref: Ref


class Get(Of):
    """One memory or one version."""

    exact: bool = False


class Walk(Of):
    """A memory and how far around it."""

    types: Annotated[str, Meta(description="Edge types, separated by commas [all].")] = ""
    way: Way = "both"
    depth: Annotated[int, Meta(ge=1, le=8)] = 1


class Change(Of):
    """A new version."""

    content: str | None = None
    name: str | None = None
    valid_from: Given | None = None
    valid_to: Given | None = None
    reason: str | None = None
    dry_run: bool = False


class Retire(Of):
    """An end."""

    when: Given | None = None
    reason: str | None = None
    dry_run: bool = False


class Mark(Of):
    """A reason."""

    reason: str | None = None
    dry_run: bool = False


class Split(Of):
    """Mentions that belong to somebody else."""

    mentions: Annotated[list[str], Meta(description="The memories that mention it.")]
    name: str


class Step(Asked):
    """One step of a query: exactly one of these."""

    follow: FollowStep | None = None
    where: WhereStep | None = None
    connected: ConnectedStep | None = None


class FollowStep(Asked):
    """Move on along edges."""

    types: list[str] = field(default_factory=list)
    way: Way = "out"
    depth: int = 1


class WhereStep(Asked):
    """Keep what fits."""

    type: list[str] = field(default_factory=list)
    name: str | None = None
    kind: str | None = None
    contains: str | None = None
    metadata: Metadata = field(default_factory=dict)


class ConnectedStep(Asked):
    """Keep what has an edge."""

    type: str
    to: list[str] = field(default_factory=list)
    way: Way = "both"
    absent: bool = False


class Ask(Asked):
    """A query: where to start, then steps."""

    seeds: list[Ref] = field(default_factory=list)
    text: str | None = None
    steps: list[Step] = field(default_factory=list)
    within: Ref | None = None
    during: tuple[str, str] | None = None
    include_superseded: bool = False
    limit: Annotated[int, Meta(ge=1, le=10000)] | None = None
    explain: Annotated[bool, Meta(description="Only the plan.")] = False


class Between(Asked):
    """Two moments."""

    a: Annotated[str, Meta(description="A time, or a hash that a world has had.")]
    b: Annotated[str, Meta(description="The same; without it: now.")] | None = None


class Since(Asked):
    """A page of what came after a known time."""

    since: Given | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    page: str | None = None


class Decided(Asked):
    """Proposals of a status."""

    status: Literal["pending", "accepted", "rejected", "undone", "all"] = "pending"


class Decide(Asked):
    """One proposal."""

    proposal: str
    dry_run: bool = False


class HashOf(Asked):
    """A world, or everything."""

    ref: Ref | None = None


class Again(Asked):
    """What to read again."""

    everything: Annotated[bool, Meta(description="Also what this reader has read.")] = False
    dry_run: bool = False


class Forget(Asked):
    """What to erase: memories, or what a scope holds, or what is older than a moment."""

    ids: list[Ref] = field(default_factory=list)
    before: Given | None = None
    confirm: Annotated[bool, Meta(description="Without it nothing is erased.")] = False
    dry_run: bool = False


class Undo(Asked):
    """The known times of a receipt."""

    known_at: str
    also: list[str] = field(default_factory=list)
    dry_run: bool = False


# What some of them give --------------------------------------------------------------------------


class Found(Struct, omit_defaults=True):
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


class Feed(Struct):
    """A page of what was believed and given up."""

    items: list[dict[str, Any]]
    next: str | None


class Identity(Struct):
    """One identity with all its names."""

    representative: str
    members: list[dict[str, str]]
    names: list[str]
    provenance: list[dict[str, Any]]
    merges: list[dict[str, Any]]


class Plan(Struct):
    """A query's plan."""

    plan: str


class Hash(Struct):
    """A hash."""

    hash: str


class World(Struct):
    """A world and its hash."""

    hash: str
    node: Node


class Worlds(Struct):
    """The hash of everything, and every world."""

    hash: str
    worlds: list[World]


class Named(Struct):
    """A proposal with the names of its ends."""

    proposal: Proposal
    a_name: str
    b_name: str


class Done(Struct):
    """How many."""

    count: int
