"""Worldline's own JSON Lines: every memory, version, belief, edge, fact, merge and scope, exactly.

One object a line, `kind` first; ids are 64 hex digits, times are microseconds, an open end is null.
Lines that others refer to come before them. `restore.py` reads it back.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import orjson

from worldline import __version__
from worldline.clock import FOREVER, Instant
from worldline.hashing import record_id
from worldline.read.listing import hash_of
from worldline.store.schema import COLUMNS
from worldline.store.view import SqlView

FORMAT = 1
_ID = "(SELECT x.hash FROM nodes x WHERE x.id = {})"
_EVENT_SKIPPED = frozenset({"node", "tenant", "key", "session", "draft"})
EVENT_COLUMNS = tuple(c for c in COLUMNS["events"] if c not in _EVENT_SKIPPED)
FACT_COLUMNS = tuple(c for c in COLUMNS["facts"] if c not in ("node", "tenant", "subject", "object"))
SIDE = {"wordings": "object", "blocks": "line"}
"""What understanding has learned of names and wordings, by the column that says of what."""


def lines(view: SqlView) -> Iterator[dict[str, Any]]:
    """Everything that this view's scope and world have ever held."""
    root = view.query("SELECT root FROM tenants WHERE tenant = :t")
    yield _full(
        "worldline", format=FORMAT, version=__version__,
        root=hash_of(view, root[0][0]).hex() if root else None, marked=True,
    )  # fmt: skip
    kept = _kept(view)
    for make in (
        _scopes,
        _ontology,
        _nodes,
        _events,
        _facts,
        _aliases,
        _labels,
        _side,
        _beliefs,
        _edges,
        _merges,
        _marks,
    ):
        yield from make(view, kept)


def _kept(view: SqlView) -> set[int]:
    """The versions that may be told: those with a belief in this scope and world."""
    rows = view.query(
        f"SELECT DISTINCT b.node FROM beliefs b WHERE b.tenant = :t AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')}"
    )
    kept = {row[0] for row in rows}
    while True:
        more = _needed(view, kept) - kept
        if not more:
            return kept
        kept |= more


def _needed(view: SqlView, kept: set[int]) -> set[int]:
    """The lineages, worlds, subjects and objects that these speak of."""
    among = orjson.dumps(sorted(kept)).decode()
    rows = view.query(
        "SELECT line FROM nodes WHERE id IN (SELECT value FROM json_each(:among))"
        " UNION SELECT world FROM nodes WHERE id IN (SELECT value FROM json_each(:among))"
        " UNION SELECT subject FROM facts WHERE node IN (SELECT value FROM json_each(:among))"
        " UNION SELECT object FROM facts WHERE node IN (SELECT value FROM json_each(:among))",
        among=among,
    )
    return {row[0] for row in rows if row[0]}


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _span(start: Instant, end: Instant) -> list[Instant | None]:
    return [start, None if end == FOREVER else end]


def _json(stored: str | None) -> Any:
    return orjson.loads(stored) if stored else None


def _full(kind: str, **fields: Any) -> dict[str, Any]:
    """A line without the fields that say nothing."""
    return {"kind": kind, **{name: value for name, value in fields.items() if value is not None}}


def _scopes(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    rows = view.query(
        "SELECT part_of, user, agent, app, run FROM (SELECT *, part_of AS scope FROM scopes) r"
        f" WHERE r.tenant = :t AND {view.scoped('r')} ORDER BY r.id"
    )
    sets: dict[int, list[dict[str, str]]] = {}
    for number, *values in rows:
        bound = {k: v for k, v in zip(("user", "agent", "app", "run"), values, strict=True) if v}
        sets.setdefault(number, []).extend([bound] if bound else [])
    yield from (_full("scope", number=number, scopes=scopes) for number, scopes in sets.items())


def _ontology(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    rows = view.query(
        f"SELECT kind, name, version, spec, {_ID.format('o.world')}, world FROM ontology o"
        " WHERE tenant = :t AND kt = :forever ORDER BY id"
    )
    for kind, name, version, spec, world, key in rows:
        if not key or key in kept:
            yield _full("type", of=kind, name=name, version=version, spec=spec, world=_hex(world))


def _nodes(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    rows = view.query(
        f"SELECT n.id, n.hash, {_ID.format('n.line')}, n.type, n.name, n.content, n.dated,"
        f" {_ID.format('n.world')}, CASE WHEN {view.scoped('n')} THEN n.metadata END,"
        f" CASE WHEN {view.scoped('n')} THEN n.scope END, n.made"
        " FROM nodes n WHERE n.tenant = :t ORDER BY n.id"
    )
    for key, id_, line, type_, name, content, dated, world, metadata, scope, made in rows:
        if key in kept:
            yield _full(
                "node", id=_hex(id_), lineage=_hex(line), type=type_, name=name, content=content,
                dated=dated, world=_hex(world), metadata=_json(metadata), scope=scope or None,
                made=made,
            )  # fmt: skip


def _events(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    columns = ", ".join(f"e.{column}" for column in EVENT_COLUMNS)
    rows = view.query(
        f"SELECT e.node, n.hash, e.key, coalesce(n.world, 0), n.content,"
        " (SELECT b.scope FROM beliefs b WHERE b.tenant = :t AND b.line = n.line ORDER BY b.id LIMIT 1),"
        f" e.draft, {columns} FROM events e JOIN nodes n ON n.id = e.node WHERE e.tenant = :t ORDER BY e.node"
    )
    for node, id_, key, world, text, scope, draft, *values in rows:
        if node in kept:
            event = dict(zip(EVENT_COLUMNS, values, strict=True))
            event["reading"] = b64encode(event["reading"]).decode() if event["reading"] else None
            dated = key == event_key(event, scope or 0, world, text, undated=False)
            left = _left(view, draft) if draft else None
            yield _full("event", id=_hex(id_), undated=None if dated else True, draft=left, **event)


def _left(view: SqlView, draft: str) -> list[dict[str, Any]]:
    """What is still to be done with an event; the world it was told in goes by its id."""
    left: list[dict[str, Any]] = orjson.loads(draft)
    for item in left:
        world = view.query("SELECT hash FROM nodes WHERE id = :world", world=item["world"])
        item["world"] = world[0][0].hex() if world else None
    return left


def event_key(event: dict[str, Any], scope: int, world: int, text: str, *, undated: bool) -> bytes:
    """The key by which the same event, sent again, is recognised in a store with these row numbers."""
    if event.get("external_id") is not None:
        return record_id("external", str(scope), event["external_id"])
    when = "" if undated else str(event["said_at"])
    return record_id("event", str(scope), str(world), event["sender"], when, text)


def _facts(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    columns = ", ".join(f"f.{column}" for column in FACT_COLUMNS)
    rows = view.query(
        f"SELECT f.node, n.hash, {_ID.format('f.subject')}, {_ID.format('f.object')}, {columns}"
        " FROM facts f JOIN nodes n ON n.id = f.node WHERE f.tenant = :t ORDER BY f.node"
    )
    for node, id_, subject, object_, *values in rows:
        if node in kept:
            fact = dict(zip(FACT_COLUMNS, values, strict=True))
            yield _full("fact", id=_hex(id_), subject=_hex(subject), object=_hex(object_), values=fact)


def _aliases(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    rows = view.query(
        f"SELECT a.line, {_ID.format('a.line')}, a.key, a.name, a.scope FROM aliases a"
        f" WHERE a.tenant = :t AND {view.scoped('a')} ORDER BY a.id"
    )
    for line, of, key, name, scope in rows:
        if line in kept:
            yield _full("alias", of=_hex(of), key=key, name=name, scope=scope or None)


def _labels(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    """What other scopes have noted beside the same words."""
    rows = view.query(
        f"SELECT m.node, {_ID.format('m.node')}, m.scope, m.metadata FROM metadata m"
        f" WHERE m.tenant = :t AND {view.scoped('m')} ORDER BY m.id"
    )
    for node, of, scope, metadata in rows:
        if node in kept:
            yield _full("metadata", of=_hex(of), scope=scope or None, metadata=_json(metadata))


def _side(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    for table, of in SIDE.items():
        columns = [column for column in COLUMNS[table] if column not in ("tenant", of)]
        rows = view.query(
            f"SELECT r.{of}, {_ID.format('r.' + of)}, {', '.join(columns)} FROM {table} r"
            " WHERE r.tenant = :t ORDER BY 1, 3"
        )
        for key, id_, *values in rows:
            if key in kept:
                yield _full(table, of=_hex(id_), values=dict(zip(columns, values, strict=True)))


def _origins(view: SqlView, table: str) -> dict[int, list[Any]]:
    """Where the rows of a table come from, if another store held them first: store, valid, known."""
    found: dict[int, list[Any]] = {}
    rows = view.query(
        "SELECT row, store, vf, vt, kf, kt FROM origins WHERE tenant = :t AND of = :table ORDER BY id",
        table=table,
    )
    for row, store, vf, vt, kf, kt in rows:
        found.setdefault(row, []).append([store.hex(), _span(vf, vt), _span(kf, kt)])
    return found


def _beliefs(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    origins = _origins(view, "beliefs")
    rows = view.query(
        "SELECT b.id, n.hash, b.vf, b.vt, b.kf, b.kt, b.scope, b.status, b.confidence, b.precision,"
        " b.reason, b.node FROM beliefs b JOIN nodes n ON n.id = b.node"
        f" WHERE b.tenant = :t AND {view.scoped('b')} ORDER BY b.id"
    )
    for row, id_, vf, vt, kf, kt, scope, status, confidence, precision, reason, node in rows:
        if node in kept:
            yield _full(
                "belief", row=row, of=_hex(id_), valid=_span(vf, vt), known=_span(kf, kt),
                scope=scope or None, status=status, confidence=confidence, precision=precision,
                reason=reason, origin=origins.get(row),
            )  # fmt: skip


def _edges(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    origins = _origins(view, "edges")
    rows = view.query(
        f"SELECT e.id, e.hash, {_ID.format('e.src')}, e.type, {_ID.format('e.dst')},"
        f" {_ID.format('e.world')}, e.vf, e.vt, e.kf, e.kt, e.scope, e.metadata, e.made, e.src, e.dst, e.world"
        f" FROM edges e WHERE e.tenant = :t AND {view.scoped('e')} ORDER BY e.id"
    )
    for row, id_, src, type_, dst, world, vf, vt, kf, kt, scope, metadata, made, *ends in rows:
        if ends[0] in kept and ends[1] in kept:
            inner = world if ends[2] in kept else None
            yield _full(
                "edge", row=row, id=_hex(id_), src=_hex(src), type=type_, dst=_hex(dst),
                world=_hex(inner), valid=_span(vf, vt), known=_span(kf, kt), scope=scope or None,
                metadata=_json(metadata), origin=origins.get(row), made=made,
            )  # fmt: skip


def _merges(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    rows = view.query(
        f"SELECT p.id, p.hash, {_ID.format('p.a')}, {_ID.format('p.b')}, p.status, p.tier, p.score,"
        " p.reason, p.scope, p.kf, p.kt, p.a, p.b FROM proposals p"
        f" WHERE p.tenant = :t AND {view.scoped('p')} ORDER BY p.id"
    )
    for row, id_, a, b, status, tier, score, reason, scope, kf, kt, *ends in rows:
        if ends[0] in kept and ends[1] in kept:
            yield _full(
                "merge", row=row, id=_hex(id_), a=_hex(a), b=_hex(b), status=status, tier=tier,
                score=score, reason=reason, scope=scope or None, known=_span(kf, kt),
            )  # fmt: skip


def _marks(view: SqlView, kept: set[int]) -> Iterator[dict[str, Any]]:
    """Pins and stages; what is archived is left to the nights of the store that reads this."""
    rows = view.query(
        f"SELECT m.id, {_ID.format('m.line')}, m.kind, m.value, m.reason, m.scope, m.kf, m.kt, m.line"
        f" FROM marks m WHERE m.tenant = :t AND m.kind != 'archived' AND {view.scoped('m')} ORDER BY m.id"
    )
    for row, of, kind, value, reason, scope, kf, kt, line in rows:
        if line in kept:
            yield _full(
                "mark", row=row, of=_hex(of), mark=kind, value=value, reason=reason, scope=scope or None,
                known=_span(kf, kt),
            )  # fmt: skip
