"""The pass `compose`: a vector for every world, of what it contains, so that recall can find the world.

It starts from what changed and climbs: a changed leaf recomposes the worlds above it and no other, from
vectors that are stored already (no model is asked). A world attends with the words that somebody gave
it, its name and text. A session has none, and what sleep writes about a world does not count as such
(attending with an extract finds fewer sessions than the plain mean), so there all children count alike.
A topic contains the turns that it gathers. How vectors are pooled is in `rules/composition.py`. What is
the same as before is not written again.

Vectors come after words, so a child may have none yet: its worlds are put off until a newer vector is
stored. A memory without an embedder puts off everything, and the first vectors bring it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field

from worldline.consolidate.changes import Plan, Rows
from worldline.consolidate.news import News
from worldline.rules import composition
from worldline.rules.composition import Floats
from worldline.store.gathering import (
    Child,
    Composed,
    children,
    climbed,
    composed,
    ever_composed,
    every_world,
    passages,
    seen_now,
    topics_of,
    turns_gathered,
    vectors_made,
)
from worldline.store.view import SqlView

if TYPE_CHECKING:
    from worldline.consolidate.night import Night

EVERYTHING = 0
"""Put off in place of a world's number: all of them."""
MOST, STRETCHES = 1000, 50
"""So many children of a world, or stretches of a topic, are looked at, the newest ones: what is larger is
about everything anyway."""
_MUCH = 1000
"""Above so many worlds put off, everything is."""
_AT_ONCE = 200


def compose(view: SqlView, night: Night) -> Plan:
    """The rows of every world that what is new has touched."""
    stood = vectors_made(view)
    newest = stood.newest
    if not newest:
        return Plan(
            waiting=(0, EVERYTHING), note="nothing to compose: this memory has no vectors (no embedder)"
        )
    put_off = set(night.waiting[1:])
    due = put_off if night.waiting[:1] != (newest,) else set()
    started = _touched(night.news) | topics_of(view, _retold(night.news)) | due
    if EVERYTHING in due:
        started |= every_world(view)
    changed, missing = _composed(view, climbed(view, started - {EVERYTHING}), stood.made + 1)
    late = sorted(missing | (put_off - due))
    waiting = () if not late else (newest, *late) if len(late) <= _MUCH else (newest, EVERYTHING)
    return Plan((Rows("composed", tuple(changed)),) if changed else (), waiting)


# Which worlds ---------------------------------------------------------------------------------------


def _touched(news: News) -> set[int]:
    """Whatever was put, closed or moved, and the worlds that it was put into or moved between."""
    lines = {line for item in news.items for line in (item.line, item.world)}
    lines |= {end for edge in news.edges if edge.type == "contains" for end in (edge.src, edge.dst)}
    return lines - {0}


def _retold(news: News) -> set[int]:
    """The sessions with a turn that says something else now, or nothing."""
    return {item.world for item in news.of("Turn") if item.closed or item.node != item.line}


# What they are made of --------------------------------------------------------------------------------


class _World(Struct):
    """A lineage as it is seen now, and what it contains."""

    line: int
    node: int = 0
    type: str = ""
    silent: bool = True
    scopes: set[int] = field(default_factory=set)
    children: list[Child] = field(default_factory=list)


def _composed(
    view: SqlView, levels: Iterable[Sequence[int]], made: int
) -> tuple[list[tuple[Any, ...]], set[int]]:
    """(rows that differ from what is stored, worlds that something has no vector for yet)."""
    changed: list[tuple[Any, ...]] = []
    missing: set[int] = set()
    fresh: dict[int, bytes] = {}
    for level in levels:
        for start in range(0, len(level), _AT_ONCE):
            worlds = _worlds(view, level[start : start + _AT_ONCE])
            stored = composed(view, _lines_of(worlds))
            inner = {line: max(rows.values()).vector for line, rows in stored.items()} | fresh
            vectors = _vectors(view, worlds, inner)
            for world in worlds:
                vector, members, whole = _pooled(world, inner, vectors)
                fresh[world.line] = vector
                held = stored.get(world.line, {})
                changed += [
                    (view.tenant, world.line, scope, row.vector, row.members, made)
                    for scope, row in _rows(world, vector, members, held).items()
                ]
                if not whole:
                    missing.add(world.line)
    return changed, missing


def _rows(world: _World, vector: bytes, members: int, held: Mapping[int, Composed]) -> dict[int, Composed]:
    """What is to be written, by scope; a world that is none any more keeps an empty row, so that readers notice."""
    wanted = dict.fromkeys(held, Composed())
    if members:
        wanted |= dict.fromkeys(sorted(world.scopes), Composed(vector, members))
    return {scope: row for scope, row in wanted.items() if held.get(scope) != row}


def _pooled(
    world: _World, inner: Mapping[int, bytes], vectors: Mapping[int, Floats]
) -> tuple[bytes, int, bool]:
    """(vector, how many children it was made of, whether none of them still waits for its own)."""
    found = []
    content = None if world.silent else vectors.get(world.node)
    whole = world.silent or content is not None
    for child in world.children:
        if inner.get(child.line):
            found.append(np.frombuffer(inner[child.line], np.float16).astype(np.float64))
        elif child.node in vectors:
            found.append(vectors[child.node])
        else:
            whole = whole and child.silent
    if not found:
        return b"", 0, whole
    vector = composition.effective(content, np.array(found))
    return vector.astype(np.float16).tobytes(), len(found), whole


def _worlds(view: SqlView, lines: Sequence[int]) -> list[_World]:
    """Those of these lineages that contain something, or have a vector from a time when they did."""
    found = {line: _World(line) for line in lines}
    for seen in seen_now(view, lines):
        world = found[seen.line]
        world.node, world.type, world.silent = seen.node, seen.type, seen.silent
        world.scopes.add(seen.scope)
    topics = [line for line, world in found.items() if world.type == "Topic"]
    inside = [*children(view, lines, MOST), *turns_gathered(view, topics, STRETCHES)]
    newest = {(child.world, child.line): child for child in inside}
    for (line, _), child in sorted(newest.items()):
        found[line].children.append(child)
    before = ever_composed(view, lines)
    return [world for line, world in found.items() if world.children or line in before]


def _lines_of(worlds: Sequence[_World]) -> list[int]:
    """These worlds and their children."""
    return [world.line for world in worlds] + [child.line for world in worlds for child in world.children]


def _vectors(view: SqlView, worlds: Sequence[_World], inner: Mapping[int, bytes]) -> dict[int, Floats]:
    """The stored vectors of leaves and of the worlds' own words; a long text's passages count alike."""
    leaves = (child for world in worlds for child in world.children if not inner.get(child.line))
    nodes = {child.node for child in leaves if not child.silent}
    nodes |= {world.node for world in worlds if not world.silent}
    return {
        node: composition.mean(np.frombuffer(b"".join(rows), np.float16).reshape(len(rows), -1))
        for node, rows in passages(view, nodes).items()
    }
