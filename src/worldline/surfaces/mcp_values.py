"""What the MCP tools take and give: their JSON schemas come from these classes.

Answers are small: ids are twelve digits, and whatever is empty is left out.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

from worldline.reading.families import HINT
from worldline.rules.handlers import AGENT_TYPES
from worldline.surfaces.budget import Cited

NOTES = [*AGENT_TYPES, "said"]
LISTED = [*AGENT_TYPES, "Turn", "Fact", "Entity", "Decision", "Topic", "Summary"]
Tokens: TypeAlias = Annotated[int, Meta(ge=60)]
Labels: TypeAlias = dict[str, Any]
Kind: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": LISTED})]


class ScopeOf(Struct, kw_only=True, forbid_unknown_fields=True):
    """A scope: the kinds that are set must all fit."""

    user: str | None = None
    agent: str | None = None
    app: str | None = None
    run: str | None = None


class Given(ScopeOf, kw_only=True):
    """Whose memory; what is left out falls back to the server's own scope."""


class Looking(Given, kw_only=True):
    """And from which moment."""

    valid_at: str | None = None
    known_at: str | None = None
    as_of: str | None = None


class Understood(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fact that an agent has understood."""

    subject: Annotated[str, Meta(min_length=1, description="Who or what; `user` for the user.")]
    relation: Annotated[str, Meta(min_length=1, description=f"Such as: {HINT}. Or your own words.")]
    object: str | int | float | bool | None = None
    since: str | None = None
    until: str | None = None
    ended: Annotated[bool, Meta(description="No longer so.")] = False


# What the tools take -----------------------------------------------------------------------------


class Write(Given, kw_only=True):
    """Remember something."""

    content: Annotated[str, Meta(min_length=1)]
    type: Annotated[
        str, Meta(description="`said`: words of somebody, verbatim.", extra_json_schema={"enum": NOTES})
    ] = "context"
    name: Annotated[str, Meta(description="A title.")] | None = None
    speaker: Annotated[str, Meta(description="Of `said`.")] = ""
    said_at: Annotated[str, Meta(description="Of `said` [now].")] | None = None
    session: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    metadata: Labels = field(default_factory=dict)
    facts: Annotated[list[Understood], Meta(description="What this says; a fact ends what it replaces.")] = (
        field(default_factory=list)
    )
    scopes: Annotated[list[ScopeOf], Meta(description="Who share it.")] = field(default_factory=list)


class RecallOf(Looking, kw_only=True):
    """Ask the memory."""

    question: Annotated[str, Meta(min_length=1)]
    max_tokens: Tokens = 4000
    limit: Annotated[int, Meta(ge=1, le=200, description="Hits [as the evidence needs].")] | None = None
    asked_at: Annotated[str, Meta(description="When `yesterday` is said [now].")] | None = None
    session: str | None = None
    filters: Annotated[
        Labels, Meta(description="By metadata: value, or {$gt|$gte|$lt|$lte|$in|$ne|$contains: x}.")
    ] = field(default_factory=dict)
    include_superseded: bool = False
    include_quarantined: bool = False
    explain: bool = False


class ContextOf(Looking, kw_only=True):
    """What to know first."""

    about: Annotated[str, Meta(description="A name [the user].")] | None = None
    max_tokens: Tokens = 1200


class ProfileOf(Looking, kw_only=True):
    """Who somebody is."""

    who: Annotated[str, Meta(min_length=1, description="A name.")]
    max_tokens: Tokens = 2000


class List(Looking, kw_only=True):
    """List memories."""

    type: Kind | None = None
    retired: Annotated[bool, Meta(description="Also what is over.")] = False
    metadata: Labels = field(default_factory=dict)
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    page: Annotated[str, Meta(description="`next` of the page before.")] | None = None
    max_tokens: Tokens = 4000


class Read(Looking, kw_only=True):
    """Read one memory."""

    id: str
    exact: Annotated[bool, Meta(description="This very version.")] = False
    history: bool = False
    explain: bool = False
    max_tokens: Tokens = 8000


class Amend(Given, kw_only=True):
    """Change a memory."""

    id: str
    content: Annotated[str, Meta(description="The new content; of a fact: its new value.")] | None = None
    name: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    was_wrong: Annotated[bool, Meta(description="It was never true.")] = False
    reason: str | None = None


class Retire(Given, kw_only=True):
    """End a memory."""

    id: str
    when: str | None = None
    reason: str | None = None


class RetireAll(Given, kw_only=True):
    """End many memories."""

    type: Kind | None = None
    metadata: Labels = field(default_factory=dict)
    when: str | None = None
    reason: str | None = None
    dry_run: bool = False


class PurgeScope(Struct, kw_only=True, forbid_unknown_fields=True):
    """End a whole scope."""

    kind: Literal["user", "agent", "app", "run"]
    name: Annotated[str, Meta(min_length=1)]
    confirm: Annotated[str, Meta(description="Its name.")]
    reason: str | None = None


class ForgetSome(Given, kw_only=True):
    """Erase for good."""

    ids: Annotated[list[str], Meta(description="The memories; none: all of the scope.")] = field(
        default_factory=list
    )
    before: Annotated[str, Meta(description="Only what was said or noted before then; ISO time.")] | None = (
        None
    )
    confirm: (
        Annotated[
            Literal["erase"], Meta(description="`erase`, once the user has agreed; without it, only count.")
        ]
        | None
    ) = None


class ListScopes(Struct, kw_only=True, forbid_unknown_fields=True):
    """List scopes."""

    kind: Literal["user", "agent", "app", "run"] | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    page: str | None = None


class LinkTwo(Given, kw_only=True):
    """Join two memories."""

    src: str
    type: Literal["relates_to", "refines", "contradicts", "supersedes", "supports"]
    dst: str
    valid_from: Annotated[str, Meta(description="Since when [now].")] | None = None


class WalkFrom(Looking, kw_only=True):
    """Look around a memory."""

    id: str
    types: Annotated[list[str], Meta(description="Only along these edges [all].")] = field(
        default_factory=list
    )
    way: Literal["out", "in", "both"] = "both"
    depth: Annotated[int, Meta(ge=1, le=8)] = 1
    max_tokens: Tokens = 4000


class Timeline(Looking, kw_only=True):
    """What happened, in order."""

    topic: Annotated[str, Meta(min_length=1, description="What it is about.")]
    start: Annotated[str, Meta(description="From this time on.")] | None = None
    end: Annotated[str, Meta(description="Before this time.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    max_tokens: Tokens = 4000


class Feedback(Given, kw_only=True):
    """What came of something recalled."""

    id: str
    verdict: Literal["useful", "wrong"]


class Merges(Given, kw_only=True):
    """Merge proposals."""

    action: Literal["list", "accept", "reject", "undo"] = "list"
    proposal: Annotated[str, Meta(description="Its id, for accept, reject and undo.")] | None = None
    max_tokens: Tokens = 4000


# What they give ----------------------------------------------------------------------------------


class WriteDone(Struct, kw_only=True, omit_defaults=True):
    """What a write did."""

    id: str | None = None
    changed: bool
    changes: list[str] = []
    proposals: list[str] = []
    redacted: list[str] = []
    known_at: str | None = None


class MemoryItem(Struct, kw_only=True, omit_defaults=True):
    """One memory."""

    id: str
    type: str
    name: str = ""
    text: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    known_from: str | None = None
    known_to: str | None = None
    status: str = "believed"
    said_at: str | None = None
    speaker: str = ""
    notes: list[str] = []
    metadata: dict[str, Any] = {}
    score: float | None = None
    lanes: dict[str, int] = {}
    factors: dict[str, float] = {}
    change: str = ""


class Recalled(Struct, kw_only=True, omit_defaults=True):
    """The answer to a question."""

    answer: str | None = None
    confidence: float
    abstained: bool = False
    reason: str | None = None
    proof: list[Cited] = []
    facts: list[Cited] = []
    items: list[MemoryItem] = []
    found: int
    trace: list[str] = []


class BriefSection(Struct, kw_only=True, omit_defaults=True):
    """One kind of knowledge."""

    title: str
    lines: list[Cited] = []


class Briefing(Struct, kw_only=True, omit_defaults=True):
    """What to know before a session."""

    user: str = ""
    sections: list[BriefSection] = []


class KnownPerson(Struct, kw_only=True, omit_defaults=True):
    """What is known of a person."""

    name: str
    turns: int = 0
    attributes: list[Cited] = []
    relations: list[str] = []
    landmarks: list[Cited] = []
    left_out: int = 0


class Listed(Struct, kw_only=True, omit_defaults=True):
    """A page of memories."""

    items: list[MemoryItem] = []
    next: str | None = None


class Whole(Struct, kw_only=True, omit_defaults=True):
    """One memory with what was asked for beside it."""

    memory: MemoryItem
    history: list[MemoryItem] = []
    evidence: list[MemoryItem] = []
    left_out: int = 0


class Retired(Struct, kw_only=True, omit_defaults=True):
    """How many were ended."""

    count: int
    ids: list[str] = []
    """The first twenty of them."""
    dry_run: bool = False


class Erased(Struct, kw_only=True, omit_defaults=True):
    """How much was erased, or would be."""

    memories: int
    facts: int
    derived: int
    entities: int
    erased: bool
    """False where it was only counted."""


class Scopes(Struct, kw_only=True, omit_defaults=True):
    """Names by kind."""

    user: list[str] = []
    agent: list[str] = []
    app: list[str] = []
    run: list[str] = []
    next: str | None = None


class EdgeItem(Struct, kw_only=True, omit_defaults=True):
    """One edge."""

    src: str
    type: str
    dst: str


class Neighbours(Struct, kw_only=True, omit_defaults=True):
    """Memories and the edges between them."""

    items: list[MemoryItem] = []
    edges: list[EdgeItem] = []
    left_out: int = 0


class Proposed(Struct, kw_only=True, omit_defaults=True):
    """One merge proposal."""

    id: str
    a: str
    b: str
    a_name: str = ""
    b_name: str = ""
    status: str
    tier: str
    score: float
    reason: str | None = None


class Proposals(Struct, kw_only=True, omit_defaults=True):
    """Merge proposals, or what a decision did."""

    items: list[Proposed] = []
    changed: bool | None = None
    left_out: int = 0
