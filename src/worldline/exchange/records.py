"""What every format is read into: conversations, notes, facts, and records that could not be read.

A reader turns the records of a file into these; `importers.py` stores them. A record that makes no
sense becomes a `Bad` with its position, and the rest of the file goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from worldline.clock import When, instant
from worldline.errors import WorldlineError
from worldline.model import Event, Fact, Metadata, Scope

_MILLISECONDS, _MICROSECONDS = 10**11, 10**14
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError, WorldlineError)


class Record(Struct, frozen=True):
    """One record of a file, and where it stands there."""

    position: str
    value: Any


class Bad(Struct, frozen=True):
    """A record that was skipped, and why."""

    position: str
    reason: str


class LeftOut(Struct, frozen=True):
    """Something that is no memory and was left out, such as the output of a tool."""

    what: str
    count: int = 1


class SaidItem(Struct, frozen=True):
    """Things said in one conversation, in order; each event has its own position."""

    events: tuple[Event, ...]
    positions: tuple[str, ...]


class KnownItem(Struct, frozen=True):
    """A note; `source_id` is its name at its origin, under which a later import finds it again."""

    position: str
    source_id: str
    type: str
    name: str
    content: str
    valid_from: When | None = None
    changed_at: When | None = None
    metadata: Metadata = {}
    scope: Scope = Scope()
    id: str = ""
    """The id under which this store knows it, where the file tells."""


class JoinedItem(Struct, frozen=True):
    """A link between two notes, each by its id here or its name at its origin."""

    position: str
    src: str
    type: str
    dst: str


class Linked(Struct, frozen=True):
    """All that a file tells of a note's links: one that it knew of and does not tell any more is over."""

    position: str
    src: str
    told: frozenset[tuple[str, str]]
    """(type, id) of each."""
    among: frozenset[str]
    """The notes whose files are there too; links to others are not the file's to end."""
    seen: When
    """When the file was written; links that are younger were not known to it."""


class StatedItem(Struct, frozen=True):
    """A fact."""

    position: str
    fact: Fact
    scope: Scope = Scope()


Item: TypeAlias = SaidItem | KnownItem | StatedItem | JoinedItem | Linked | LeftOut | Bad


class Imported(Struct, frozen=True):
    """What an import did."""

    format: str
    stored: int = 0
    """What is new here."""
    same: int = 0
    """What was here already."""
    skipped: tuple[Bad, ...] = ()
    dry_run: bool = False
    left_out: dict[str, int] = {}
    """What is no memory and was not taken over, by its kind."""
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were taken out."""


def each(records: Iterable[Record | Bad], make: Callable[[Record], Iterable[Item]]) -> Iterator[Item]:
    """What `make` reads from each record; one that it cannot read is told, and the others go on."""
    for record in records:
        if isinstance(record, Bad):
            yield record
            continue
        try:
            yield from list(make(record))
        except _UNREADABLE as error:
            yield Bad(record.position, told(error))


def told(error: Exception) -> str:
    """Why a record could not be read, for a person."""
    if isinstance(error, WorldlineError):
        return str(error)
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start})"
    if isinstance(error, AttributeError | TypeError):
        return "it is not of this format"
    return f"it is not of this format ({error})"


def when(value: Any) -> When | None:
    """A date of another program: ISO text as it is, a number as seconds (or milli-, microseconds)."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        raise ValueError(f"{value} is not a date")
    if isinstance(value, int | float):
        scale = 1 if value > _MICROSECONDS else 1_000 if value > _MILLISECONDS else 1_000_000
        return instant(round(value * scale))
    instant(value)
    found: When = value
    return found


def shortened(text: str, width: int = 60) -> str:
    """The beginning of a text on one line, as a name."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


def text_of(content: Any) -> str:
    """The words of a message: plain text, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [block if isinstance(block, str) else _block(block) for block in content]
    return "\n".join(block for block in blocks if block.strip())


def _block(block: Any) -> str:
    if isinstance(block, dict) and block.get("type", "text") in ("text", "input_text", "output_text"):
        found = block.get("text", "")
        return found if isinstance(found, str) else ""
    return ""
