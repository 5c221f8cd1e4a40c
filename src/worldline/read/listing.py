"""Lists: pages of memories, how much there is, and what is believed and cannot all be true."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import msgspec

from worldline.clock import FOREVER
from worldline.errors import InvalidInput
from worldline.model import Ask, Contradiction, Edge, Metadata, Node, Page, Side, Utterance
from worldline.ports import Store, View
from worldline.query import bind, finish
from worldline.store import people, registry
from worldline.store.ledger import mentions_of
from worldline.store.people import Worded

MOST = 5
"""Sources that are shown for a side of a contradiction."""


def listing(
    view: View,
    ask: Ask,
    type_: str | Sequence[str] | None,
    metadata: Metadata,
    limit: int,
    page: str | None,
) -> Page:
    """Visible memories, newest first, and the mark of the next page."""
    types = [type_] if isinstance(type_, str) else type_
    named = types is None or (isinstance(types, list | tuple) and all(map(_is_text, types)))
    if not named or not isinstance(page, str | None):
        raise InvalidInput("the type and the page mark of a list are text")
    if not isinstance(metadata, dict) or not all(isinstance(label, str) for label in metadata):
        raise InvalidInput("metadata to look for is a dict whose keys are text")
    if type(limit) is not int or not 1 <= limit <= 1000:
        raise InvalidInput(f"a page has 1 to 1000 items, not {limit}")
    bound = bind(view, ask)
    start = None if page is None else unpacked(page)
    nodes = registry.page(bound, types, metadata, limit + 1, start)
    rest = nodes[limit:]
    shown = finish(nodes[:limit], bound, ask)
    return Page(tuple(shown), packed(nodes[limit - 1].valid.start, nodes[limit - 1].key) if rest else None)


def stats(view: View, store: Store) -> dict[str, Any]:
    """How much this tenant holds, by type; and the size of the file."""
    return {**msgspec.structs.asdict(registry.amounts(view)), "bytes": store.size()}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.encode(errors="ignore").decode() == value


def members(view: View, line: int) -> list[Node]:
    """Everything accepted as the same as a memory, itself included."""
    return [node for one in view.same_as(line) if (node := view.latest(one)) is not None]


def identity(view: View, line: int) -> dict[str, Any]:
    """One identity with all its names, and where each of them comes from."""
    lines, same = view.same_as(line), members(view, line)
    return {
        "representative": same[0].id,
        "members": [{"id": n.id, "type": n.type, "name": n.name} for n in same],
        "names": list(dict.fromkeys([*(n.name for n in same), *people.names_of(view, lines)])),
        "provenance": [{"memory": e.src, "of": e.dst, **e.metadata} for e in mentions_of(view, lines)],
        "merges": [msgspec.to_builtins(p) for p in people.accepted_among(view, lines)],
    }


# Contradictions ----------------------------------------------------------------------------------


def conflicts(view: View) -> tuple[Contradiction, ...]:
    """Every open conflict, the one noticed last first; each pair once.

    Only what the view sees: both sides, and the edge between them, at its moment, in its scope and world.
    Two deadlines are at odds before either of them has come, so that the present sees what is ahead as well.
    """
    views = (view,) if view.cold else (view, view.bind(valid=FOREVER - 1))
    found = {frozenset(s.node.line for s in c.sides): c for seen in reversed(views) for c in _in_sight(seen)}
    return tuple(sorted(found.values(), key=lambda c: (-c.since, c.sides[0].node.key)))


def _in_sight(view: View) -> list[Contradiction]:
    edges = view.edges(people.disputed(view), ("contradicts",), "out")
    pairs: dict[frozenset[int], Edge] = {}
    for edge in sorted((e for e in edges if "about" not in e.metadata), key=lambda e: (e.known.start, e.key)):
        pairs.setdefault(frozenset((edge.src_line, edge.dst_line)), edge)
    lines = {line for pair in pairs for line in pair}
    nodes = {node.line: node for node in view.visible(sorted(lines))}
    about, said = people.worded(view, lines), people.sources(view, lines)
    return [_conflict(edge, nodes, about, said) for edge in pairs.values()]


def _conflict(
    edge: Edge,
    nodes: dict[int, Node],
    about: dict[int, Worded],
    said: dict[int, list[Utterance]],
) -> Contradiction:
    ends = sorted((nodes[line] for line in (edge.src_line, edge.dst_line)), key=_begins)
    first, second = (Side(node, tuple(said.get(node.line, ())[:MOST])) for node in ends)
    entity, predicate = about.get(ends[0].line, (None, None))
    inferred = edge.made == "inferred"
    return Contradiction(entity, predicate, (first, second), edge.known.start, inferred)


def _begins(node: Node) -> tuple[int, int]:
    return node.valid.start, node.key


# Marks of pages -----------------------------------------------------------------------------------
#
# Marks of pages: a place in an ordered list as a short text that means nothing to whoever carries it.


def packed(*numbers: int) -> str:
    """Numbers as one mark.

    >>> unpacked(packed(1_794_787_200_000_000, 42)), len(packed(1_794_787_200_000_000, 42)) < 16
    ((1794787200000000, 42), True)
    """
    parts = [number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True) for number in numbers]
    body = b"".join(bytes([len(part)]) + part for part in parts)
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def unpacked(mark: str) -> tuple[int, int]:
    """The two numbers of a mark; anything else is refused."""
    try:
        body = base64.urlsafe_b64decode(mark + "=" * (-len(mark) % 4))
    except (binascii.Error, ValueError):
        body = b""
    numbers = []
    while body:
        size, rest = body[0], body[1:]
        if not 0 < size <= len(rest) or size > 9:
            break
        numbers.append(int.from_bytes(rest[:size], "big", signed=True))
        body = rest[size:]
    if body or len(numbers) != 2 or packed(*numbers) != mark:
        raise InvalidInput(f"{mark[:40]!r} is not the mark of a page; use the `next` of the page before")
    return numbers[0], numbers[1]
