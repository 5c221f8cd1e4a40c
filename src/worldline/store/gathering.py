"""What worlds are made of, as the passes over worlds read it: turns and topics, children and summaries, vectors.

Every read is bounded by what is asked for or by a window. How talk is cut, what a summary says and
how vectors are pooled is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from worldline.clock import Instant
from worldline.model import Node
from worldline.ports import View
from worldline.rules.describe import Described
from worldline.store import packing
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.search import STRETCH
from worldline.store.view import LISTED, MADE_APART, NODE, listed, node_from

_DECODER = msgspec.msgpack.Decoder(Described)
_MARKS = frozenset("(.)")
_NO_TEXTS = "('Fact', 'Entity', 'Scope')"
_SILENT = "n.type IN ('Scope', 'Session', 'Entity', 'Fact') OR n.made IS NOT NULL"
"""What never has a vector of its own: structure, and what sleep made of texts that have theirs."""
_VERSION = " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"


def _contains(view: View) -> str:
    return f"e.type = 'contains' AND {view.time('e')}"


# Worlds within worlds ---------------------------------------------------------------------------------


def climbed(view: View, lines: Collection[int]) -> list[list[int]]:
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


def every_world(view: View) -> set[int]:
    """Everything that contains something, and every topic."""
    rows = view.query(
        f"SELECT e.src FROM edges e WHERE e.tenant = :t AND {_contains(view)} UNION"
        f" SELECT b.line FROM beliefs b WHERE b.tenant = :t AND b.type = 'Topic' AND {view.seen()}"
    )
    return {row[0] for row in rows}


def worlds_among(view: View, lines: Sequence[int]) -> set[int]:
    """Those of these that contain something."""
    rows = view.query(
        "SELECT j.value FROM json_each(:among) j WHERE EXISTS (SELECT 1 FROM edges e WHERE e.tenant = :t"
        f" AND e.src = j.value AND {_contains(view)})",
        among=listed(lines),
    )
    return {row[0] for row in rows}


def texts_inside(view: View, worlds: Sequence[int]) -> list[Node]:
    """What these contain, facts and names apart; the newest version of each lineage."""
    rows = view.query(
        f"SELECT {NODE} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " WHERE b.tenant = :t AND b.line IN"
        f" (SELECT e.dst FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND {_contains(view)})"
        f" AND b.type NOT IN {_NO_TEXTS} AND {view.seen()} ORDER BY b.line, b.vf, b.kf, b.node",
        among=listed(worlds),
    )
    return list({node.line: node for node in map(node_from, rows)}.values())


def summaries_inside(view: View, worlds: Sequence[int]) -> dict[int, int]:
    """The summary that sleep made of each of these, where there is one."""
    rows = view.query(
        "SELECT w.value, b.line FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t AND e.src = w.value"
        f" AND {_contains(view)} CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.dst AND {view.seen()}"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node AND n.type = 'Summary' AND {MADE_APART}"
        " ORDER BY w.value, b.id",
        among=listed(worlds),
    )
    return dict(rows)


# Turns and topics -------------------------------------------------------------------------------------


class Seated(Struct, frozen=True):
    """A turn as it was stored: its place, its words, and its beginning."""

    line: int
    session: int
    position: int
    role: str
    at: Instant
    tokens: tuple[str, ...]
    content: str


def seated(view: View, nodes: Sequence[int], length: int) -> list[Seated]:
    """These turns, where they may be seen, in the order of their sessions, with so much of their text."""
    if not nodes:
        return []
    rows = view.query(
        "SELECT n.line, t.session, t.position, t.role, t.said_at, t.described, substr(n.content, 1, :length)"
        " FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        f" CROSS JOIN texts t ON t.tenant = :t AND t.node = n.id{_VERSION}"
        f" WHERE n.type = 'Turn' AND {view.seen()} ORDER BY t.session, t.position, n.line, b.id",
        among=listed(nodes),
        length=length,
    )
    found = {
        line: Seated(line, session, position, role, at or 0, _tokens(described), content)
        for line, session, position, role, at, described, content in rows
    }
    return sorted(found.values(), key=lambda turn: (turn.session, turn.position))


def _tokens(described: bytes) -> tuple[str, ...]:
    found = _DECODER.decode(described).words.split()
    return tuple(dict.fromkeys(token for token in found if token not in _MARKS))


def lately_said(view: View, but: Iterable[int], window: int, scanned: int) -> list[tuple[str, ...]]:
    """The tokens of the last turns of people's own, `window` at most, among so many of everybody's."""
    rows = view.query(
        "SELECT t.described FROM (SELECT b.id, b.node, b.line, b.scope, b.vf, b.vt, b.kf, b.kt, b.status"
        " FROM beliefs b WHERE b.tenant = :t AND b.type = 'Turn' ORDER BY b.vf DESC, b.id DESC LIMIT :scanned) b"
        " CROSS JOIN texts t ON t.tenant = :t AND t.node = b.node"
        f" WHERE t.role <> 'assistant' AND {view.seen()} AND b.line NOT IN {LISTED}"
        " ORDER BY b.vf DESC, b.id DESC LIMIT :window",
        scanned=scanned,
        window=max(window, 0),
        among=listed(but),
    )
    return [_tokens(row[0]) for row in rows]


def topics_labelled(view: View, labels: Iterable[str], most: int) -> list[Node]:
    """The stored topics that have any of these labels, the latest ones."""
    rows = view.query(
        f"SELECT {NODE} FROM (SELECT DISTINCT l.node FROM json_each(:terms) j CROSS JOIN labels l"
        " ON l.tenant = :t AND l.label = j.value ORDER BY l.node DESC LIMIT :most) found"
        " CROSS JOIN nodes m ON m.tenant = :t AND m.id = found.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = m.line"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node AND n.type = 'Topic'"
        f" WHERE {view.seen()} ORDER BY b.line, b.id",
        terms=orjson.dumps(sorted(labels)).decode(),
        most=most,
    )
    return [node_from(row) for row in rows]


def opening(view: View, turns: Collection[int]) -> set[int]:
    """Those of these turns that open a stretch of some topic."""
    rows = view.query(
        "SELECT e.dst FROM edges e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.src AND n.type = 'Topic'"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.src"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND {view.time('e')}"
        f" AND {view.scoped('e')} AND {view.seen()}",
        among=listed(turns),
    )
    return {row[0] for row in rows}


def made_of(view: View, topic: int, among: Collection[int]) -> set[int]:
    """Those of these that a topic is derived from already."""
    rows = view.query(
        "SELECT e.dst FROM edges e WHERE e.tenant = :t AND e.src = :topic AND e.type = 'derived_from'"
        f" AND e.dst IN {LISTED} AND {view.time('e')} AND {view.scoped('e')}",
        topic=topic,
        among=listed(among),
    )
    return {row[0] for row in rows}


def topics_of(view: View, sessions: Collection[int]) -> set[int]:
    """The topics that have gathered something of these sessions."""
    if not sessions:
        return set()
    rows = view.query(
        "SELECT DISTINCT e.src FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t AND e.dst = w.value"
        f" AND e.type = 'derived_from' AND {view.time('e')} CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.src"
        " WHERE n.type = 'Topic'",
        among=listed(sorted(sessions)),
    )
    return {row[0] for row in rows}


class ToldNow(Struct, frozen=True):
    """A turn that a topic has gathered."""

    line: int
    text: str
    at: Instant
    speaker: str


def gathered(view: View, topic: int) -> list[ToldNow]:
    """The turns of the stretches that a topic was made of, in the order of time."""
    rows = view.query(
        "SELECT n.line, n.content, b.vf, n.name FROM edges e CROSS JOIN texts o ON o.tenant = :t AND o.node = e.dst"
        f" {STRETCH} CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node{_VERSION} WHERE e.tenant = :t"
        f" AND e.src = :topic AND e.type = 'derived_from' AND {view.time('e')} AND {view.scoped('e')}"
        f" AND {view.seen()} ORDER BY b.vf, n.id, b.id",
        topic=topic,
    )
    return list({row[0]: ToldNow(*row) for row in rows}.values())


# Vectors ----------------------------------------------------------------------------------------------


class VectorsMade(Struct, frozen=True):
    """The newest vector of a text, and the count by which readers notice new vectors of worlds."""

    newest: int
    made: int


def vectors_made(view: View) -> VectorsMade:
    """How far the vectors of texts and of worlds have come."""
    rows = view.query(
        "SELECT (SELECT id FROM embeddings WHERE tenant = :t ORDER BY id DESC LIMIT 1),"
        " (SELECT max(made) FROM composed WHERE tenant = :t)"
    )
    return VectorsMade(rows[0][0] or 0, rows[0][1] or 0)


class Seen(Struct, frozen=True):
    """A lineage as it is seen now, in one scope."""

    line: int
    node: int
    type: str
    silent: bool
    scope: int


def seen_now(view: View, lines: Sequence[int]) -> list[Seen]:
    """These lineages, the newest version of each last."""
    rows = view.query(
        f"SELECT b.line, b.node, b.type, {_SILENT}, b.scope FROM beliefs b"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()} ORDER BY b.line, b.vf, b.kf, b.node",
        among=listed(lines),
    )
    return [Seen(line, node, type_, bool(silent), scope) for line, node, type_, silent, scope in rows]


class Child(Struct, frozen=True):
    """Something that a world contains or a topic gathers."""

    world: int
    line: int
    node: int
    silent: bool


def children(view: View, worlds: Sequence[int], most: int) -> list[Child]:
    """What these contain, so many each, the newest version of each lineage last."""
    rows = view.query(
        f"SELECT w.value, b.line, b.node, {_SILENT} FROM json_each(:among) w CROSS JOIN beliefs b ON b.tenant = :t"
        f" AND b.line IN (SELECT e.dst FROM edges e WHERE e.tenant = :t AND e.src = w.value AND {_contains(view)}"
        " ORDER BY e.dst DESC LIMIT :most)"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE {view.seen()}"
        " ORDER BY w.value, b.line, b.vf, b.kf, b.node",
        among=listed(worlds),
        most=most,
    )
    return [Child(world, line, node, bool(silent)) for world, line, node, silent in rows]


def turns_gathered(view: View, topics: Sequence[int], most: int) -> list[Child]:
    """The same of topics, which gather stretches of talk that lie in sessions, so many each."""
    if not topics:
        return []
    rows = view.query(
        "SELECT w.value, b.line, b.node FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t"
        f" AND e.src = w.value AND e.type = 'derived_from' AND {view.time('e')} AND {view.scoped('e')} AND e.dst IN"
        " (SELECT c.dst FROM edges c WHERE c.tenant = :t AND c.src = w.value AND c.type = 'derived_from'"
        f" AND {view.time('c')} AND {view.scoped('c')} ORDER BY c.dst DESC LIMIT :most)"
        f" CROSS JOIN texts o ON o.tenant = :t AND o.node = e.dst {STRETCH}"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node{_VERSION}"
        f" WHERE n.type = 'Turn' AND {view.seen()} ORDER BY w.value, b.line, b.vf, b.kf, b.node",
        among=listed(topics),
        most=most,
    )
    return [Child(world, line, node, silent=False) for world, line, node in rows]


def ever_composed(view: View, lines: Sequence[int]) -> set[int]:
    """Those of these that have a vector as a world, in any scope."""
    rows = view.query(
        f"SELECT DISTINCT line FROM composed WHERE tenant = :t AND line IN {LISTED}", among=listed(lines)
    )
    return {row[0] for row in rows}


class Composed(Struct, frozen=True, order=True):
    """The vector of a world, and how many children it was made of."""

    vector: bytes = b""
    members: int = 0


def composed(view: View, lines: Iterable[int]) -> dict[int, dict[int, Composed]]:
    """The vectors of these worlds by scope, as this owner has them."""
    rows = view.query(
        f"SELECT x.line, x.scope, x.vector, x.members FROM composed x WHERE x.tenant = :t AND x.line IN {LISTED}"
        f" AND {view.scoped('x')} ORDER BY x.line, x.scope",
        among=listed(lines),
    )
    found: dict[int, dict[int, Composed]] = {}
    for line, scope, vector, members in rows:
        found.setdefault(line, {})[scope] = Composed(vector, members)
    return found


def passages(view: View, nodes: Collection[int]) -> dict[int, list[bytes]]:
    """The stored vectors of the passages of each of these, hot or archived."""
    found: dict[int, list[bytes]] = {}
    for table in ("embeddings", "cold_embeddings"):
        rows: list[tuple[Any, ...]] = view.query(
            f"SELECT j.value, v.vector FROM json_each(:among) j CROSS JOIN {table} v ON v.tenant = :t"
            f" AND v.passage >= j.value * {WORDS_PER_NODE} AND v.passage < (j.value + 1) * {WORDS_PER_NODE}"
            " ORDER BY v.passage",
            among=listed(sorted(nodes)),
        )
        for node, vector in rows:
            found.setdefault(node, []).append(packing.plain(vector))
    return found
