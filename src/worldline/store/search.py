"""What recall asks of a store: few, bounded statements, each of them bound by the view.

Words are found by FTS5, what lies around a hit by session and position. Nothing here weighs one
find against another; every node that leaves has passed the view's time, scope and world.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import orjson
from msgspec import Struct

from worldline.rules.describe import role_of
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.vectors import Newest
from worldline.store.view import FOUND_APART, LISTED, NODE, SqlView, listed, node_from, owner_token

_HELD = " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
_SESSIONS, _ROOM = 8, 100
"""So many of the best sessions come in whole, and so many turns of theirs at most."""


class Ground(Struct, frozen=True):
    """What a question stands on: who speaks here, how much there is, and whose vectors."""

    speakers: tuple[str, ...]
    texts: int
    mean_length: float
    embedder: str | None
    newest: Newest
    scopes: tuple[int, ...]
    """The scope sets that the bound scope may see."""
    owners: tuple[str, ...]
    """Tokens of tenant and scope, where the store has others too."""
    share: float
    """A guess at the part of all texts that may be seen."""
    scorers: dict[str, float] | None = None
    """The scorers that somebody registered, with their weights; None where sleep has left no signals."""


def ground(view: SqlView) -> Ground:
    """One look at the tenant."""
    bound = view.scope.bound()
    kinds = " AND ".join(["tenant = :t", *(f"{kind} = :{kind}" for kind in bound)])
    rows = view.query(
        "SELECT (SELECT texts FROM tenants WHERE id = :t), (SELECT tokens FROM tenants WHERE id = :t),"
        " (SELECT value FROM meta WHERE key = 'embedder'), (SELECT max(id) FROM embeddings),"
        " (SELECT max(id) FROM beliefs), (SELECT count(*) FROM (SELECT 1 FROM tenants LIMIT 2)),"
        " (SELECT count(*) FROM (SELECT 1 FROM scopes WHERE tenant = :t LIMIT 20)),"
        f" (SELECT json_group_array(part_of) FROM scopes WHERE {kinds} AND {1 if bound else 0}),"
        " (WITH RECURSIVE s(name) AS (SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > ''"
        " UNION ALL SELECT (SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > s.name)"
        " FROM s WHERE s.name IS NOT NULL LIMIT 1000)"
        " SELECT json_group_array(name) FROM s WHERE name IS NOT NULL),"
        " CASE WHEN EXISTS (SELECT 1 FROM scores WHERE tenant = :t) THEN"
        " (SELECT json_group_object(name, weight) FROM scorers WHERE tenant = :t) END"
    )
    texts, tokens, embedder, vectors, beliefs, tenants, scopes, seen, names, scorers = rows[0]
    people = tuple(name for name in orjson.loads(names or "[]") if role_of(name) == "people")
    own: tuple[str, ...] = (f"t{view.tenant}",) if tenants > 1 else ()
    if bound and scopes > 1:
        own += tuple(owner_token(kind, value) for kind, value in bound.items())
    return Ground(
        people,
        texts or 0,
        tokens / texts if texts else 1.0,
        embedder,
        Newest(vectors or 0, beliefs or 0),
        tuple(orjson.loads(seen)),
        own,
        1 / scopes if bound and scopes > 1 else 1.0,
        None if scorers is None else orjson.loads(scorers),
    )


def search_words(view: SqlView, match: str, owners: Collection[str], depth: int | None) -> list[int]:
    """Visible nodes whose text matches, best first; `owners` narrow it down before it is ranked."""
    own = f"owner : ({' AND '.join(owners)}) AND " if owners else ""
    rows = view.query(
        f"SELECT n.id FROM words CROSS JOIN nodes n ON n.id = words.rowid / {WORDS_PER_NODE}{_HELD}"
        f" WHERE words MATCH :match AND b.type NOT IN {FOUND_APART} AND {view.seen()}"
        " ORDER BY words.rank LIMIT :depth",
        match=own + match,
        depth=-1 if depth is None else depth + depth // 2,
    )
    return list(dict.fromkeys(row[0] for row in rows))[:depth]


def around(view: SqlView, nodes: Sequence[int], best: Sequence[int]) -> tuple[list[int], list[int]]:
    """(turns beside these, turns of the sessions that the best of them are in).

    The sessions come in the order of their best turn, because the loop over them is the outer one.
    """
    rows = view.query(
        "SELECT 0, t.node FROM texts o CROSS JOIN texts t ON t.tenant = :t AND t.session = o.session"
        f" AND t.position IN (o.position - 1, o.position + 1) WHERE o.node IN {LISTED} UNION ALL"
        " SELECT 1, node FROM (SELECT t.node FROM (SELECT o.session AS home, min(j.key) AS place"
        " FROM json_each(:best) j CROSS JOIN texts o ON o.node = j.value GROUP BY o.session"
        " ORDER BY place LIMIT :sessions) CROSS JOIN texts t ON t.tenant = :t AND t.session = home"
        " LIMIT :room)",
        among=listed(nodes),
        best=listed(best),
        sessions=_SESSIONS,
        room=_ROOM if best else 0,
    )
    beside = dict.fromkeys(node for kind, node in rows if kind == 0)
    within = dict.fromkeys(node for kind, node in rows if kind == 1)
    return sorted(beside), list(within)


def seen_among(view: SqlView, nodes: Collection[int]) -> set[int]:
    """Which of these versions are visible."""
    rows = view.query(
        f"SELECT b.node FROM nodes n{_HELD} WHERE n.id IN {LISTED} AND {view.seen()}", among=listed(nodes)
    )
    return {row[0] for row in rows}


def described(view: SqlView, nodes: Collection[int]) -> list[tuple[Any, ...]]:
    """These texts as scoring reads them, where they may be seen; the text itself if it was never read."""
    return view.query(
        "SELECT n.id, t.session, t.position, t.described, t.speaker, t.role, t.said_at,"
        " CASE WHEN t.node IS NULL THEN n.type END, n.name, CASE WHEN t.node IS NULL THEN n.content END"
        f" FROM nodes n{_HELD} LEFT JOIN texts t ON t.node = n.id"
        f" WHERE n.id IN {LISTED} AND b.type NOT IN {FOUND_APART} AND {view.seen()} GROUP BY n.id",
        among=listed(nodes),
    )


def told(view: SqlView, nodes: Collection[int]) -> dict[int, tuple[Any, tuple[Any, ...]]]:
    """These nodes, verbatim, with (sender, said at, offset, session) where they are events."""
    rows = view.query(
        f"SELECT {NODE}, e.sender, e.said_at, e.utc_offset, (SELECT name FROM nodes w WHERE w.id = e.session)"
        f" FROM nodes n{_HELD} LEFT JOIN events e ON e.node = n.id"
        f" WHERE n.id IN {LISTED} AND {view.seen()} GROUP BY n.id",
        among=listed(nodes),
    )
    return {row[0]: (node_from(row), row[19:]) for row in rows}


def remarks(view: SqlView, lines: Collection[int]) -> list[tuple[int, str, str, str]]:
    """(lineage, kind, name, text): what openly contradicts these, and facts of theirs that are over."""
    step = (
        "SELECT e.{near}, 'contradicted by', n.name, n.content, n.id FROM edges e"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.{far}"
        " CROSS JOIN nodes n ON n.id = b.node WHERE e.tenant = :t"
        f" AND e.{{near}} IN {LISTED} AND e.type = 'contradicts' AND {view.time('e')} AND {view.scoped('e')}"
        f" AND {view.seen()}"
    )
    over = (
        "SELECT e.dst, 'no longer so', '', n.content, n.id FROM edges e"
        " CROSS JOIN nodes n ON n.id = e.src AND n.type = 'Fact'"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.kf <= :k AND b.kt > :k"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND e.kf <= :k AND e.kt > :k"
        f" AND b.vt <= :v AND {view.scoped('b')}"
    )
    parts = (step.format(near="src", far="dst"), step.format(near="dst", far="src"), over)
    return [row[:4] for row in view.query(f"{' UNION '.join(parts)} ORDER BY 1, 2, 5", among=listed(lines))]


def nodes_inside(view: SqlView) -> list[int]:
    """Every version of everything in the entered world, at this moment."""
    rows = view.query(
        "WITH RECURSIVE down(line) AS (SELECT :w UNION SELECT e.dst FROM down CROSS JOIN edges e"
        " ON e.tenant = :t AND e.src = down.line AND e.type = 'contains' AND e.vf <= :v AND e.vt > :v"
        " AND e.kf <= :k AND e.kt > :k) SELECT DISTINCT b.node FROM down CROSS JOIN beliefs b"
        " ON b.tenant = :t AND b.line = down.line"
    )
    return [row[0] for row in rows]
