"""A query is a frozen value: each verb returns a new one, `explain` prints it, `run` answers it.

    memory.query().seeds(project).follow("relates_to", depth=2).where(type="Decision").run()

Without seeds or text a query starts from everything visible. `follow` moves on to what is reached;
`where` and `where_connected` keep part of what is there; none of them sees past the view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import Interval, When, interval
from worldline.errors import InvalidInput, InvalidText
from worldline.model import Metadata, Subgraph

Way = Literal["out", "in", "both"]


class Follow(Struct, frozen=True):
    """Walk along edges of these types (None: all), up to `depth` steps."""

    types: tuple[str, ...] | None
    way: Way = "out"
    depth: int = 1


class Where(Struct, frozen=True):
    """Keep what has this type, name, kind, content and metadata."""

    type: tuple[str, ...] | None = None
    name: str | None = None
    kind: Any = None
    contains: str | None = None
    metadata: Metadata = {}


class Connected(Struct, frozen=True):
    """Keep what has an edge of this type (to one of these, if given)."""

    type: str
    to: tuple[Any, ...] = ()
    way: Way = "both"
    absent: bool = False


Step = Follow | Where | Connected


def _text(value: Any, what: str) -> str:
    """Text that can be compared with what is stored."""
    if not isinstance(value, str) or "\0" in value:
        raise InvalidText(f"the {what} must be text without NUL, not {value!r}")
    return value


def _way(way: Any) -> Way:
    if way not in ("out", "in", "both"):
        raise InvalidInput(f"way is out, in or both, not {way!r}")
    return cast(Way, way)


class Query(Struct, frozen=True):
    """What to start from and what to do with it."""

    runner: Callable[[Query], Subgraph]
    explainer: Callable[[Query], str]
    starts: tuple[Any, ...] = ()
    words: str | None = None
    steps: tuple[Step, ...] = ()
    world: Any = None
    valid: When | None = None
    known: When | None = None
    window: Interval | None = None
    closed: bool = False
    most: int | None = None
    summaries: bool = False

    def seeds(self, *refs: Any) -> Query:
        """Start from these memories."""
        return replace(self, starts=self.starts + refs)

    def text(self, words: str) -> Query:
        """Start from what holds any of these words, best first (seeds go before it)."""
        return replace(self, words=_text(words, "text"))

    def follow(self, *types: str, way: Way = "out", depth: int = 1) -> Query:
        """Move on along edges of these types (all, if none is named)."""
        _way(way)
        for name in types:
            _text(name, "edge type")
        if type(depth) is not int or not 1 <= depth <= 64:
            raise InvalidInput(f"depth lies between 1 and 64, not at {depth}")
        return self._then(Follow(types or None, way, depth))

    def where(
        self,
        type: str | tuple[str, ...] | None = None,
        name: str | None = None,
        kind: Any = None,
        contains: str | None = None,
        metadata: Metadata | None = None,
    ) -> Query:
        """Keep what fits. `kind` means: an instance of that memory or of a subtype of it."""
        types = (type,) if isinstance(type, str) else type
        if not isinstance(types, tuple | None) or not isinstance(metadata, dict | None):
            raise InvalidInput("type is a name or a tuple of names; metadata is a dict")
        for text in (*(types or ()), name, contains):
            if text is not None:
                _text(text, "text to look for")
        return self._then(Where(types, name, kind, contains, metadata or {}))

    def where_connected(self, type: str, *to: Any, way: Way = "both", absent: bool = False) -> Query:
        """Keep what has an edge of this type, to one of `to` if any is given (absent: has none)."""
        return self._then(Connected(_text(type, "edge type"), to, _way(way), absent))

    def within(self, world: Any) -> Query:
        """Stay inside this world."""
        return replace(self, world=world)

    def at(self, valid: When | None = None, known: When | None = None, as_of: When | None = None) -> Query:
        """Look from another moment."""
        if as_of is not None:
            valid, known = as_of if valid is None else valid, as_of if known is None else known
        return replace(self, valid=valid, known=known)

    def during(self, start: When, end: When) -> Query:
        """Keep what held at some time in `[start, end)`."""
        return replace(self, window=interval(start, end))

    def include_superseded(self) -> Query:
        """See what is over or was withdrawn as well."""
        return replace(self, closed=True)

    def prefer_summaries(self) -> Query:
        """Show a world that has a Summary by that instead; `follow("contains")` goes down a level.

        Within a world and without a start of its own, the query reads that world.
        """
        return replace(self, summaries=True)

    def limit(self, most: int) -> Query:
        """At most this many nodes."""
        if type(most) is not int or most < 1:
            raise InvalidInput(f"a limit is at least 1, not {most}")
        return replace(self, most=most)

    def run(self) -> Subgraph:
        """The answer."""
        return self.runner(self)

    def explain(self) -> str:
        """The plan, in words."""
        return self.explainer(self)

    def _then(self, step: Step) -> Query:
        return replace(self, steps=(*self.steps, step))
