"""What the MCP tools give, and the parts of what they take: their JSON schemas come from these classes.

Answers are small: ids are twelve digits, and whatever is empty is left out.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from worldline.reading.families import HINT
from worldline.rules.handlers import AGENT_TYPES
from worldline.surfaces.budget import Cited
from worldline.surfaces.verbs import shape

NOTES = [*AGENT_TYPES, "said"]
LISTED = [*AGENT_TYPES, "Turn", "Fact", "Entity", "Decision", "Topic", "Summary"]
Needed: TypeAlias = Annotated[str, Meta(min_length=1)]
Tokens: TypeAlias = Annotated[int, Meta(ge=60)]
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


# What they give ----------------------------------------------------------------------------------


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


_TEXT: Any = (str | None, None)
_LINES: Any = (list[str], [])
_CITED: Any = (list[Cited], [])
_ITEMS: Any = (list[MemoryItem], [])
_COUNT: Any = (int, 0)

WriteDone = shape(
    "WriteDone: What a write did.",
    id=_TEXT, changed=bool, changes=_LINES, proposals=_LINES, redacted=_LINES, known_at=_TEXT,
)  # fmt: skip
Recalled = shape(
    "Recalled: The answer to a question.",
    answer=_TEXT, confidence=float, abstained=(bool, False), reason=_TEXT, proof=_CITED, facts=_CITED, items=_ITEMS,
    found=int, trace=_LINES,
)  # fmt: skip
BriefSection = shape("BriefSection: One kind of knowledge.", title=str, lines=_CITED)
Briefing = shape("Briefing: What to know before a session.", user=(str, ""), sections=(list[Any], []))
KnownPerson = shape(
    "KnownPerson: What is known of a person.",
    name=str, turns=_COUNT, attributes=_CITED, relations=_LINES, landmarks=_CITED, left_out=_COUNT,
)  # fmt: skip
Listed = shape("Listed: A page of memories.", items=_ITEMS, next=_TEXT)
Whole = shape(
    "Whole: One memory with what was asked for beside it.",
    memory=MemoryItem, history=_ITEMS, evidence=_ITEMS, left_out=_COUNT,
)  # fmt: skip
Retired = shape(
    "Retired: How many were ended, and the first twenty of them.",
    count=int,
    ids=_LINES,
    dry_run=(bool, False),
)
Erased = shape(
    "Erased: How much was erased, or would be where it was only counted.",
    memories=int, facts=int, derived=int, entities=int, erased=bool,
)  # fmt: skip
Scopes = shape("Scopes: Names by kind.", user=_LINES, agent=_LINES, app=_LINES, run=_LINES, next=_TEXT)
EdgeItem = shape("EdgeItem: One edge.", src=str, type=str, dst=str)
Neighbours = shape(
    "Neighbours: Memories and the edges between them.", items=_ITEMS, edges=(list[Any], []), left_out=_COUNT
)
Proposals = shape(
    "Proposals: Merge proposals, or what a decision did.",
    items=(list[Proposed], []), changed=(bool | None, None), left_out=_COUNT,
)  # fmt: skip
