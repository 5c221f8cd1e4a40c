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

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field

from worldline.consolidate.changes import Plan, Rows
from worldline.consolidate.news import News
from worldline.rules import composition
from worldline.rules.composition import Floats
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.search import STRETCH
from worldline.store.view import LISTED, SqlView, listed

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
_SILENT = (
    "n.type IN ('Scope', 'Session', 'Entity', 'Fact')"
    ' OR ifnull(instr(n.metadata, \'"made_by":"sleep"\'), 0) > 0'
)
"""What never has a vector of its own: structure, and what sleep made of texts that have theirs."""


def compose(view: SqlView, night: Night) -> Plan:
    """The rows of every world that what is new has touched."""
    newest, made = _stands(view)
    if not newest:
        return Plan(
            waiting=(0, EVERYTHING), note="nothing to compose: this memory has no vectors (no embedder)"
        )
    put_off = set(night.waiting[1:])
    due = put_off if night.waiting[:1] != (newest,) else set()
    started = _touched(night.news) | _topics_of(view, night.news) | due
    if EVERYTHING in due:
        started |= _all_worlds(view)
    changed, missing = _composed(view, _climbed(view, started - {EVERYTHING}), made + 1)
    late = sorted(missing | (put_off - due))
    waiting = () if not late else (newest, *late) if len(late) <= _MUCH else (newest, EVERYTHING)
    return Plan((Rows("composed", tuple(changed)),) if changed else (), waiting)


def _stands(view: SqlView) -> tuple[int, int]:
    """The newest vector, and the count by which readers notice new rows."""
    rows = view.query(
        "SELECT (SELECT max(id) FROM embeddings), (SELECT max(made) FROM composed WHERE tenant = :t)"
    )
    return rows[0][0] or 0, rows[0][1] or 0


# Which worlds ---------------------------------------------------------------------------------------


def _touched(news: News) -> set[int]:
    """Whatever was put, closed or moved, and the worlds that it was put into or moved between."""
    lines = {line for item in news.items for line in (item.line, item.world)}
    lines |= {end for edge in news.edges if edge.type == "contains" for end in (edge.src, edge.dst)}
    return lines - {0}


def _topics_of(view: SqlView, news: News) -> set[int]:
    """The topics that may have gathered a turn which says something else now, or nothing."""
    changed = {item.world for item in news.of("Turn") if item.closed or item.node != item.line}
    if not changed:
        return set()
    rows = view.query(
        "SELECT DISTINCT e.src FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t AND e.dst = w.value"
        f" AND e.type = 'derived_from' AND {view.time('e')} CROSS JOIN nodes n ON n.id = e.src"
        " WHERE n.type = 'Topic'",
        among=listed(sorted(changed)),
    )
    return {row[0] for row in rows}


def _all_worlds(view: SqlView) -> set[int]:
    rows = view.query(
        f"SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND {_contains(view)} UNION"
        f" SELECT b.line FROM beliefs b WHERE b.tenant = :t AND b.type = 'Topic' AND {view.seen()}"
    )
    return {row[0] for row in rows}


def _contains(view: SqlView, row: str = "e") -> str:
    return f"{row}.type = 'contains' AND {view.time(row)}"


def _climbed(view: SqlView, lines: Collection[int]) -> list[list[int]]:
    """These and all above them, level by level: whatever lies inside another comes before it."""
    rows = view.query(
        "WITH RECURSIVE up(line, level) AS (SELECT value, 0 FROM json_each(:among) UNION"
        " SELECT e.src, level + 1 FROM up CROSS JOIN edges e ON e.tenant = :t AND e.dst = up.line"
        f" AND {_contains(view)}) SELECT line, max(level) FROM up GROUP BY line ORDER BY line",
        among=listed(sorted(lines)),
    )
    levels: dict[int, list[int]] = {}
    for line, level in rows:
        levels.setdefault(level, []).append(line)
    return [levels[level] for level in sorted(levels)]


# What they are made of --------------------------------------------------------------------------------

_Stored = dict[int, dict[int, tuple[bytes, int]]]
"""Of each world, by scope: its vector and how many children it was made of."""


class _Child(Struct, frozen=True):
    line: int
    node: int
    silent: int


class _World(Struct):
    """A lineage as it is seen now, and what it contains."""

    line: int
    node: int = 0
    type: str = ""
    silent: int = 1
    scopes: set[int] = field(default_factory=set)
    children: list[_Child] = field(default_factory=list)


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
            stored = _stored(view, worlds)
            inner = {line: max(rows.values())[0] for line, rows in stored.items()} | fresh
            vectors = _vectors(view, worlds, inner)
            for world in worlds:
                vector, members, whole = _pooled(world, inner, vectors)
                fresh[world.line] = vector
                held = stored.get(world.line, {})
                changed += [
                    (view.tenant, world.line, scope, *row, made)
                    for scope, row in _rows(world, vector, members, held).items()
                ]
                if not whole:
                    missing.add(world.line)
    return changed, missing


def _rows(
    world: _World, vector: bytes, members: int, held: Mapping[int, tuple[bytes, int]]
) -> dict[int, tuple[bytes, int]]:
    """What is to be written, by scope; a world that is none any more keeps an empty row, so that readers notice."""
    wanted = dict.fromkeys(held, (b"", 0))
    if members:
        wanted |= dict.fromkeys(sorted(world.scopes), (vector, members))
    return {scope: row for scope, row in wanted.items() if held.get(scope) != row}


def _pooled(
    world: _World, inner: Mapping[int, bytes], vectors: Mapping[int, Floats]
) -> tuple[bytes, int, bool]:
    """(vector, how many children it was made of, whether none of them still waits for its own)."""
    found = []
    content = None if world.silent else vectors.get(world.node)
    whole = bool(world.silent) or content is not None
    for child in world.children:
        if inner.get(child.line):
            found.append(np.frombuffer(inner[child.line], np.float16).astype(np.float64))
        elif child.node in vectors:
            found.append(vectors[child.node])
        else:
            whole = whole and bool(child.silent)
    if not found:
        return b"", 0, whole
    vector = composition.effective(content, np.array(found))
    return vector.astype(np.float16).tobytes(), len(found), whole


def _worlds(view: SqlView, lines: Sequence[int]) -> list[_World]:
    """Those of these lineages that contain something, or have a vector from a time when they did."""
    found = {line: _World(line) for line in lines}
    for line, node, type_, silent, scope in view.query(
        f"SELECT b.line, b.node, b.type, {_SILENT}, b.scope FROM beliefs b CROSS JOIN nodes n ON n.id = b.node"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()} ORDER BY b.line, b.vf, b.kf, b.node",
        among=listed(lines),
    ):
        world = found[line]
        world.node, world.type, world.silent = node, type_, silent
        world.scopes.add(scope)
    topics = [line for line, world in found.items() if world.type == "Topic"]
    children = {(row[0], row[1]): _Child(*row[1:]) for row in _inside(view, lines) + _gathered(view, topics)}
    for (line, _), child in sorted(children.items()):
        found[line].children.append(child)
    rows = view.query(
        f"SELECT DISTINCT line FROM composed WHERE tenant = :t AND line IN {LISTED}", among=listed(lines)
    )
    composed = {row[0] for row in rows}
    return [world for line, world in found.items() if world.children or line in composed]


def _inside(view: SqlView, worlds: Sequence[int]) -> list[tuple[Any, ...]]:
    """(world, lineage, node, whether it is silent) of what these contain, the newest of each lineage last."""
    return view.query(
        f"SELECT w.value, e.dst, b.node, {_SILENT} FROM json_each(:among) w CROSS JOIN edges e ON e.id IN"
        f" (SELECT c.id FROM edges c WHERE c.tenant = :t AND c.src = w.value AND {_contains(view, 'c')}"
        " ORDER BY c.dst DESC LIMIT :most) CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.dst"
        f" CROSS JOIN nodes n ON n.id = b.node WHERE {view.seen()} ORDER BY w.value, e.dst, b.vf, b.kf, b.node",
        among=listed(worlds),
        most=MOST,
    )


def _gathered(view: SqlView, topics: Sequence[int]) -> list[tuple[Any, ...]]:
    """The same of topics, which gather stretches of talk that lie in sessions."""
    if not topics:
        return []
    return view.query(
        "SELECT w.value, b.line, b.node, 0 FROM json_each(:among) w CROSS JOIN edges e ON e.id IN"
        " (SELECT c.id FROM edges c WHERE c.tenant = :t AND c.src = w.value AND c.type = 'derived_from'"
        f" AND {view.time('c')} AND {view.scoped('c')} ORDER BY c.dst DESC LIMIT :most)"
        f" CROSS JOIN texts o ON o.node = e.dst {STRETCH} CROSS JOIN nodes n ON n.id = t.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE b.type = 'Turn' AND {view.seen()} ORDER BY w.value, b.line, b.vf, b.kf, b.node",
        among=listed(topics),
        most=STRETCHES,
    )


def _stored(view: SqlView, worlds: Sequence[_World]) -> _Stored:
    """The rows of these worlds and of their children, as this owner has them."""
    lines = [world.line for world in worlds] + [child.line for world in worlds for child in world.children]
    found: _Stored = {}
    for line, scope, vector, members in view.query(
        f"SELECT line, scope, vector, members FROM composed x WHERE tenant = :t AND line IN {LISTED}"
        f" AND {view.scoped('x')}",
        among=listed(lines),
    ):
        found.setdefault(line, {})[scope] = vector, members
    return found


def _vectors(view: SqlView, worlds: Sequence[_World], inner: Mapping[int, bytes]) -> dict[int, Floats]:
    """The stored vectors of leaves and of the worlds' own words; a long text's passages count alike."""
    leaves = (child for world in worlds for child in world.children if not inner.get(child.line))
    nodes = {child.node for child in leaves if not child.silent}
    nodes |= {world.node for world in worlds if not world.silent}
    passages: dict[int, list[bytes]] = {}
    for table in ("embeddings", "cold_embeddings"):
        for node, vector in view.query(
            f"SELECT j.value, v.vector FROM json_each(:among) j CROSS JOIN {table} v"
            f" ON v.passage >= j.value * {WORDS_PER_NODE} AND v.passage < (j.value + 1) * {WORDS_PER_NODE}"
            " ORDER BY v.passage",
            among=listed(sorted(nodes)),
        ):
            passages.setdefault(node, []).append(vector)
    return {
        node: composition.mean(np.frombuffer(b"".join(rows), np.float16).reshape(len(rows), -1))
        for node, rows in passages.items()
    }
