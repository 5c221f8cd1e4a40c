"""Lists and counts: pages of memories, worlds with their hashes, how much there is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import orjson

from worldline.errors import InvalidInput
from worldline.hashing import node_id, world_hash
from worldline.model import Ask, Edge, Metadata, Node, Page
from worldline.query.run import bind, finish
from worldline.read.marks import packed, unpacked
from worldline.store.lookup import Target
from worldline.store.sqlite import SqliteStore
from worldline.store.view import SqlView, label_value

_HIDDEN = "('Scope', 'Session', 'Turn', 'Fact')"


def listing(
    view: SqlView,
    ask: Ask,
    type_: str | Sequence[str] | None,
    metadata: Metadata,
    limit: int,
    page: str | None,
) -> Page:
    """Visible memories, newest first, and the mark of the next page."""
    types = [type_] if isinstance(type_, str) else type_
    if not all(isinstance(one, str) for one in types or ()) or not isinstance(page, str | None):
        raise InvalidInput("the type and the page mark of a list are text")
    if not isinstance(metadata, dict) or not all(isinstance(label, str) for label in metadata):
        raise InvalidInput("metadata to look for is a dict whose keys are text")
    if type(limit) is not int or not 1 <= limit <= 1000:
        raise InvalidInput(f"a page has 1 to 1000 items, not {limit}")
    where = [
        f"b.type NOT IN {_HIDDEN}" if types is None else "b.type IN (SELECT value FROM json_each(:types))"
    ]
    args: dict[str, Any] = {"types": None if types is None else orjson.dumps(list(types)).decode()}
    if page is not None:
        args["page_vf"], args["page_id"] = unpacked(page, 2)
        where.append("(b.vf, n.id) < (:page_vf, :page_id)")
    for number, (label, value) in enumerate(metadata.items()):
        args[f"l{number}"], args[f"m{number}"] = label, label_value(value)
        where.append(
            "(n.id, b.scope) IN (SELECT node, scope FROM labels WHERE tenant = :t AND"
            f" label = :l{number} AND value = :m{number})"
        )
    nodes = bind(view, ask).nodes(
        " AND ".join(where), "ORDER BY b.vf DESC, n.id DESC LIMIT :most", most=limit + 1, **args
    )
    rest = nodes[limit:]
    shown = finish(nodes[:limit], bind(view, ask), ask)
    return Page(tuple(shown), packed(nodes[limit - 1].valid.start, nodes[limit - 1].key) if rest else None)


def edges_between(view: SqlView, source: Target, type_: str, target: Target) -> list[Edge]:
    """The believed edges of a type between two memories, whichever of their versions they join."""
    versions = (
        "(SELECT :{0} UNION SELECT id FROM nodes WHERE tenant = :t AND line = :{0} AND line != id"
        " AND (:{0}_key = 0 OR id = :{0}_key))"
    )
    return view.edge_rows(
        f"e.src IN {versions.format('src')} AND e.type = :type AND e.dst IN {versions.format('dst')}"
        " AND e.kt = :forever",
        src=source.line, src_key=source.key, type=type_, dst=target.line, dst_key=target.key,
    )  # fmt: skip


def hash_of(view: SqlView, line: int) -> bytes:
    """The hash of a world at this known time; a leaf's follows from its id."""
    rows = view.query(
        "SELECT hash FROM world_hashes WHERE tenant = :t AND line = :line AND kf <= :k"
        " ORDER BY kf DESC, id DESC LIMIT 1",
        line=line,
    )
    if rows:
        return bytes(rows[0][0])
    own = view.query("SELECT hash FROM nodes WHERE id = :line", line=line)
    return world_hash(
        own[0][0] if own else node_id("Scope", "root", "")
    )  # nothing was ever written: a bare root


def worlds(view: SqlView) -> tuple[tuple[Node, str], ...]:
    """Every visible memory that contains something, with its hash."""
    lines = view.query(
        "SELECT w.line FROM worlds w WHERE w.tenant = :t AND EXISTS (SELECT 1 FROM edges e"
        " WHERE e.tenant = :t AND e.src = w.line AND e.type = 'contains' AND e.kf <= :k)"
    )
    return tuple((node, hash_of(view, node.line).hex()) for node in view.visible([row[0] for row in lines]))


def stats(view: SqlView, store: SqliteStore) -> dict[str, Any]:
    """How much this tenant holds, by type; and the size of the file."""
    by_type = dict(
        view.query(
            "SELECT b.type, count(DISTINCT b.line) FROM beliefs b WHERE b.tenant = :t AND "
            + view.seen()
            + " GROUP BY 1 ORDER BY 1"
        )
    )
    edges = dict(
        view.query(
            f"SELECT e.type, count(*) FROM edges e WHERE e.tenant = :t AND {view.time('e')}"
            f" AND {view.scoped('e')} AND {view.edge_ever_inside()} GROUP BY 1 ORDER BY 1"
        )
    )
    one = view.query(
        "SELECT count(DISTINCT b.node), count(*),"
        f" (SELECT count(*) FROM edges e WHERE tenant = :t AND {view.scoped('e')} AND {view.edge_ever_inside()}),"
        " (SELECT count(*) FROM log WHERE tenant = :t),"
        " count(DISTINCT (SELECT e.node FROM events e WHERE e.node = b.node AND e.state = 'pending'))"
        f" FROM beliefs b WHERE b.tenant = :t AND {view.scoped('b')} AND {view.ever_inside('b.line')}"
    )[0]
    one = (*one, len(view.proposals("p.status = 'pending'")))
    names = ("versions", "beliefs", "edge_rows", "changesets", "pending_events", "pending_merges")
    size = 0 if store.in_memory else os.path.getsize(store.path)
    return {"visible": by_type, "edges": edges, **dict(zip(names, one, strict=True)), "bytes": size}
