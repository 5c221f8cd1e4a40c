"""What the MCP tools take and give: their JSON schemas come from these classes.

Answers are small: ids are twelve digits, and whatever is empty is left out.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

from worldline.reading.given import HINT

Ref: TypeAlias = Annotated[str, Meta(description="Id of a memory (8 or more digits).")]
Time: TypeAlias = Annotated[str, Meta(description="ISO time, e.g. 2026-03-05 or 2026-03-05T14:30+01:00.")]
Tokens: TypeAlias = Annotated[int, Meta(ge=60, description="Budget for the whole result, all of it counted.")]
Reason: TypeAlias = Annotated[str, Meta(description="Why; kept with the belief.")]


class Given(Struct, kw_only=True, forbid_unknown_fields=True):
    """Whose memory; what is left out falls back to the server's own scope."""

    user: Annotated[str, Meta(description="Whose memory: a user's id.")] | None = None
    agent: Annotated[str, Meta(description="An agent's id.")] | None = None
    app: Annotated[str, Meta(description="An app's id.")] | None = None
    run: Annotated[str, Meta(description="A run's id.")] | None = None


class Looking(Given, kw_only=True):
    """And from which moment."""

    valid_at: Annotated[str, Meta(description="What held then [now]; ISO time.")] | None = None
    known_at: Annotated[str, Meta(description="What was believed then [now]; ISO time.")] | None = None
    as_of: Annotated[str, Meta(description="Both axes at once; ISO time.")] | None = None


class ScopeOf(Struct, kw_only=True, forbid_unknown_fields=True):
    """A scope: the kinds that are set must all fit."""

    user: str | None = None
    agent: str | None = None
    app: str | None = None
    run: str | None = None


class Understood(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fact that an agent has understood."""

    subject: Annotated[str, Meta(min_length=1, description="Who or what; `user` for the user.")]
    relation: Annotated[str, Meta(min_length=1, description=f"Such as: {HINT}. Or your own words.")]
    object: Annotated[str | int | float | bool, Meta(description="One name or value.")] | None = None
    since: Annotated[str, Meta(description="ISO date, month or year.")] | None = None
    until: str | None = None
    ended: Annotated[bool, Meta(description="No longer so.")] = False


# What the tools take -----------------------------------------------------------------------------


class Write(Given, kw_only=True):
    """Remember something."""

    content: Annotated[str, Meta(min_length=1, description="What to remember, in full.")]
    type: Annotated[
        str,
        Meta(
            description="project, reference, learning, feedback, context or user; or `said` for words "
            "that somebody said, kept verbatim."
        ),
    ] = "context"
    name: Annotated[str, Meta(description="A short title [the first line].")] | None = None
    speaker: Annotated[str, Meta(description="With `said`: who said it.")] = ""
    said_at: Annotated[str, Meta(description="With `said`: when [now]; ISO time.")] | None = None
    session: Annotated[str, Meta(description="With `said`: the conversation.")] | None = None
    valid_from: Annotated[str, Meta(description="True from then on [now]; ISO time.")] | None = None
    valid_to: Annotated[str, Meta(description="No longer true from then on; ISO time.")] | None = None
    metadata: Annotated[dict[str, Any], Meta(description="Labels to filter by later.")] = field(
        default_factory=dict
    )
    facts: Annotated[
        list[Understood],
        Meta(description="What this says, as you understand it; a fact ends what it replaces."),
    ] = field(default_factory=list)
    scopes: Annotated[
        list[ScopeOf], Meta(description="Instead of user/agent/app/run: the scopes that share this memory.")
    ] = field(default_factory=list)


class Recall(Looking, kw_only=True):
    """Ask the memory."""

    question: Annotated[str, Meta(min_length=1, description="The question, in plain words.")]
    max_tokens: Tokens = 4000
    limit: Annotated[int, Meta(ge=1, le=200, description="Most hits [as the question needs].")] | None = None
    asked_at: Annotated[str, Meta(description="What `yesterday` is relative to [now].")] | None = None
    session: Annotated[str, Meta(description="Prefer what was said here.")] | None = None
    filters: Annotated[dict[str, Any], Meta(description="Metadata that must be equal.")] = field(
        default_factory=dict
    )
    include_superseded: Annotated[bool, Meta(description="Also what is over or was wrong.")] = False
    include_quarantined: Annotated[bool, Meta(description="Also what is not trusted.")] = False
    explain: Annotated[bool, Meta(description="Say how each hit was found.")] = False


class List(Looking, kw_only=True):
    """List memories."""

    type: Annotated[str, Meta(description="Only this type (`Turn`: what was said; `Fact`).")] | None = None
    retired: Annotated[bool, Meta(description="Also what is over, replaced or withdrawn.")] = False
    metadata: Annotated[dict[str, Any], Meta(description="Labels that must be equal.")] = field(
        default_factory=dict
    )
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    page: Annotated[str, Meta(description="The `next` of the page before.")] | None = None
    max_tokens: Tokens = 4000


class Read(Looking, kw_only=True):
    """Read one memory."""

    id: Ref
    exact: Annotated[bool, Meta(description="The very version that the id names.")] = False
    history: Annotated[bool, Meta(description="Also every belief ever held in it.")] = False
    explain: Annotated[bool, Meta(description="Also the words that it rests on.")] = False
    max_tokens: Tokens = 8000


class Amend(Given, kw_only=True):
    """Change a memory."""

    id: Ref
    content: Annotated[str, Meta(description="The new content.")] | None = None
    name: Annotated[str, Meta(description="A new name.")] | None = None
    valid_from: Annotated[str, Meta(description="Since when the new one holds [now].")] | None = None
    valid_to: Annotated[str, Meta(description="Until when it holds.")] | None = None
    was_wrong: Annotated[
        bool, Meta(description="true: the old one was never true. false: it was, until now.")
    ] = False
    reason: Reason | None = None


class Retire(Given, kw_only=True):
    """End a memory."""

    id: Ref
    when: Annotated[str, Meta(description="From when on it is not true any more [now].")] | None = None
    reason: Reason | None = None


class RetireAll(Given, kw_only=True):
    """End many memories."""

    type: Annotated[str, Meta(description="Only this type.")] | None = None
    metadata: Annotated[dict[str, Any], Meta(description="Only with these labels.")] = field(
        default_factory=dict
    )
    when: Annotated[str, Meta(description="From when on [now].")] | None = None
    reason: Reason | None = None
    dry_run: Annotated[bool, Meta(description="Only count.")] = False


class PurgeScope(Struct, kw_only=True, forbid_unknown_fields=True):
    """End a whole scope."""

    kind: Literal["user", "agent", "app", "run"]
    name: Annotated[str, Meta(min_length=1, description="The scope's name.")]
    confirm: Annotated[str, Meta(description="The same name, typed again.")]
    reason: Reason | None = None


class Forget(Given, kw_only=True):
    """Erase for good."""

    ids: Annotated[list[str], Meta(description="The memories; none: all of the scope.")] = field(default_factory=list)
    before: Annotated[str, Meta(description="Only what was said or noted before then; ISO time.")] | None = None
    confirm: (
        Annotated[Literal["erase"], Meta(description="`erase`, once the user has agreed; without it, only count.")] | None
    ) = None


class ListScopes(Struct, kw_only=True, forbid_unknown_fields=True):
    """List scopes."""

    kind: Literal["user", "agent", "app", "run"] | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    page: Annotated[str, Meta(description="The `next` of the page before.")] | None = None


class Link(Given, kw_only=True):
    """Join two memories."""

    src: Ref
    type: Literal["relates_to", "refines", "contradicts", "supersedes", "supports"]
    dst: Ref
    valid_from: Annotated[str, Meta(description="Since when [now].")] | None = None


class Walk(Looking, kw_only=True):
    """Look around a memory."""

    id: Ref
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

    id: Ref
    verdict: Literal["useful", "wrong"]


class Merges(Given, kw_only=True):
    """Merge proposals."""

    action: Literal["list", "accept", "reject", "undo"] = "list"
    proposal: Annotated[str, Meta(description="Its id, for accept, reject and undo.")] | None = None
    max_tokens: Tokens = 4000


# What they give ----------------------------------------------------------------------------------


class Written(Struct, kw_only=True, omit_defaults=True):
    """What a write did."""

    id: str | None = None
    changed: bool
    changes: list[str] = []
    proposals: list[str] = []
    redacted: list[str] = []
    known_at: str | None = None


class Item(Struct, kw_only=True, omit_defaults=True):
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


class Found(Struct, kw_only=True, omit_defaults=True):
    """The answer to a question."""

    items: list[Item] = []
    found: int
    abstained: bool = False
    reason: str | None = None
    trace: list[str] = []


class Listed(Struct, kw_only=True, omit_defaults=True):
    """A page of memories."""

    items: list[Item] = []
    next: str | None = None


class Whole(Struct, kw_only=True, omit_defaults=True):
    """One memory with what was asked for beside it."""

    memory: Item
    history: list[Item] = []
    evidence: list[Item] = []
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


class Joined(Struct, kw_only=True, omit_defaults=True):
    """One edge."""

    src: str
    type: str
    dst: str


class Around(Struct, kw_only=True, omit_defaults=True):
    """Memories and the edges between them."""

    items: list[Item] = []
    edges: list[Joined] = []
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
