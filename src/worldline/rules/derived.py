"""Edges that sleep derives from others: where they hold, and what to end or put so that they hold there.

A derived edge holds exactly as long as what it was derived from. When that ends, the derived edge is
ended on the same axis: shortened where its ground was retired, withdrawn where it was wrong. These
functions decide; they neither read nor write.

>>> without([Interval(0, 10)], [Interval(3, 5)])
[Interval(start=0, end=3), Interval(start=5, end=10)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from worldline.clock import Interval
from worldline.model import Belief, Close, Made, Metadata

INFERRED: Metadata = {"inferred": True, "made_by": "sleep"}
"""What a derived edge tells its readers; the engine goes by `made`, which nobody else can write."""
RETOLD = ("Happening", "Topic", "Summary")
"""Types of which sleep makes some from texts that are found by their own words."""


class WantedEdge(Struct, frozen=True):
    """An interval in which a derived edge should hold, with what there is to say about it."""

    valid: Interval
    metadata: Metadata = {}
    scope: int = 0


class HeldEdge(Struct, frozen=True):
    """A derived edge as it is believed now."""

    belief: Belief
    metadata: Metadata = {}


class _Marked(Protocol):
    @property
    def made(self) -> Made | None: ...


def is_inferred(edge: _Marked) -> bool:
    """Whether an edge was derived by sleep rather than stated by somebody."""
    return edge.made == "inferred"


def node_made(type_: str, metadata: Metadata) -> Made | None:
    """Who made a memory, by what copies from before there were marks say of it."""
    return "sleep" if type_ in RETOLD and metadata.get("made_by") == "sleep" else None


def edge_made(metadata: Metadata) -> Made | None:
    """The same of an edge: derived from others, or drawn and carried over by sleep."""
    if metadata.get("made_by") != "sleep":
        return None
    if metadata.get("inferred") is True:
        return "inferred"
    return "sleep" if "cue" in metadata or "from" in metadata else None


def overlap(*intervals: Interval) -> Interval | None:
    """Where all of them hold, if anywhere."""
    start, end = max(i.start for i in intervals), min(i.end for i in intervals)
    return Interval(start, end) if start < end else None


def without(intervals: Iterable[Interval], taken: Iterable[Interval]) -> list[Interval]:
    """What is left of these intervals when others are cut out of them."""
    left = list(intervals)
    for cut in taken:
        pieces = [((i.start, min(i.end, cut.start)), (max(i.start, cut.end), i.end)) for i in left]
        left = [Interval(start, end) for both in pieces for start, end in both if start < end]
    return sorted(set(left))


def refit(
    wanted: Sequence[WantedEdge], held: Sequence[HeldEdge], reason: str
) -> tuple[list[Close], list[WantedEdge]]:
    """The closes that end what should not hold, and what is then missing."""
    closes: list[Close] = []
    missing = list(wanted)
    for row in held:
        keeps = [w for w in missing if _same(w, row) and w.valid.end <= row.belief.valid.end]
        if not keeps:
            closes.append(Close(row.belief, "edges", reason=reason))
            continue
        missing.remove(keeps[0])
        if keeps[0].valid.end < row.belief.valid.end:
            closes.append(Close(row.belief, "edges", valid_to=keeps[0].valid.end, reason=reason))
    return closes, missing


def _same(wanted: WantedEdge, row: HeldEdge) -> bool:
    return (wanted.valid.start, wanted.metadata, wanted.scope) == (
        row.belief.valid.start,
        row.metadata,
        row.belief.scope,
    )
