"""The REST routes around sleep and what it finds: their functions, and what they take.

The table of routes is in `rest.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from worldline.memory import Memory
from worldline.model import Dated, Density, Explanation, Metadata, Receipt
from worldline.surfaces.rest_values import Asked, Given, Ref

Few = Annotated[int, Meta(ge=1, le=1000)]


class Sleep(Asked):
    """Which passes; all of them, if none is named."""

    passes: list[str] | None = None
    dry_run: Annotated[bool, Meta(description="Say what each pass by itself would change.")] = False


class Verdict(Asked):
    """What came of something that was recalled."""

    ref: Ref
    verdict: Literal["useful", "wrong"]


class Pin(Asked):
    """What is never to go cold."""

    ref: Ref
    reason: str = "pinned by the user"
    dry_run: bool = False


class Unpin(Asked):
    """What may go cold again."""

    ref: Ref
    dry_run: bool = False


class Who(Asked):
    """Somebody, by name or id."""

    who: str


class Stretch(Asked):
    """A stretch of time."""

    from_: Given | None = field(default=None, name="from")
    to: Given | None = None
    limit: Few = 20
    read: Annotated[bool, Meta(description="Also what was said.")] = False


class Topic(Asked):
    """What it is about."""

    topic: str


class Timeline(Topic):
    """What it is about, and when."""

    from_: Given | None = field(default=None, name="from")
    to: Given | None = None
    limit: Few = 50
    include_superseded: bool = False


class Expected(Asked):
    """A question, and the memory that was expected in its answer."""

    question: str
    expect: Ref
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    asked_at: Given | None = None
    limit: Few | None = None
    filters: Metadata = field(default_factory=dict)


def consolidate(memory: Memory, asked: Sleep) -> Any:
    """Thinks over what is new; what each pass did, for whom. Only adds understanding."""
    return memory.consolidate(asked.passes, dry_run=asked.dry_run)


def feedback(memory: Memory, asked: Verdict) -> Receipt:
    """Says of something recalled that it was useful, or wrong; sleep folds it in."""
    return memory.feedback(asked.ref, asked.verdict)


def pin(memory: Memory, asked: Pin) -> Receipt:
    """Keeps a memory from ever going cold."""
    return memory.pin(asked.ref, asked.reason, dry_run=asked.dry_run)


def unpin(memory: Memory, asked: Unpin) -> Receipt:
    """Lets a pinned memory fade again like others."""
    return memory.unpin(asked.ref, dry_run=asked.dry_run)


def profile(memory: Memory, asked: Who) -> Any:
    """What is known of a person: attributes, style, relations, landmarks, what led to what."""
    return memory.profile(asked.who)


def episodes(memory: Memory, asked: Stretch) -> Any:
    """Stretches of talk parted by pauses, oldest first."""
    return memory.episodes(asked.from_, asked.to, limit=asked.limit, read=asked.read)


def conflicts(memory: Memory, asked: Asked) -> Any:
    """What is believed and cannot all be true: both sides, with their dates and sources."""
    return memory.conflicts()


def timeline(memory: Memory, asked: Timeline) -> tuple[Dated, ...]:
    """What happened about a topic, in order, each with its evidence."""
    return memory.timeline(
        asked.topic, asked.from_, asked.to, limit=asked.limit, include_superseded=asked.include_superseded
    )


def density(memory: Memory, asked: Topic) -> Density:
    """What is already covered around a topic."""
    return memory.density(asked.topic)


def explain(memory: Memory, asked: Expected) -> Explanation:
    """Why a memory is not in the answer to a question: which filter, lane, rank or budget lost it."""
    return memory.explain(
        asked.question, asked.expect, max_tokens=asked.max_tokens, asked_at=asked.asked_at,
        limit=asked.limit, filters=asked.filters,
    )  # fmt: skip
