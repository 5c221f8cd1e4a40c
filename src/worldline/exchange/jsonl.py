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
from worldline.clock import FOREVER, Instant, Interval
from worldline.hashing import record_id
from worldline.ports import View
from worldline.store import copying
from worldline.store.registry import hash_of

FORMAT = 1


def lines(view: View) -> Iterator[dict[str, Any]]:
    """Everything that this view's scope and world have ever held."""
    root = copying.root_of(view)
    yield _full(
        "worldline", format=FORMAT, version=__version__,
        root=hash_of(view, root).hex() if root is not None else None, marked=True,
    )  # fmt: skip
    kept = _kept(view)
    for number, scopes in copying.scope_parts(view).items():
        yield _full("scope", number=number, scopes=scopes)
    for make in (
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


def _kept(view: View) -> set[int]:
    """The versions that may be told: those with a belief in this scope and world, and what they speak of."""
    kept = copying.believed_ever(view)
    while more := copying.spoken_of(view, kept) - kept:
        kept |= more
    return kept


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _span(interval: Interval) -> list[Instant | None]:
    return [interval.start, None if interval.end == FOREVER else interval.end]


def _json(stored: str | None) -> Any:
    return orjson.loads(stored) if stored else None


def _full(kind: str, **fields: Any) -> dict[str, Any]:
    """A line without the fields that say nothing."""
    return {"kind": kind, **{name: value for name, value in fields.items() if value is not None}}


def _ontology(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.types(view):
        if not row.world or row.world in kept:
            yield _full(
                "type",
                of=row.kind,
                name=row.name,
                version=row.version,
                spec=row.spec,
                world=_hex(row.world_id),
            )


def _nodes(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.nodes(view):
        if row.key in kept:
            yield _full(
                "node", id=_hex(row.id), lineage=_hex(row.lineage), type=row.type, name=row.name,
                content=row.content, dated=row.dated, world=_hex(row.world_id), metadata=_json(row.metadata),
                scope=row.scope or None, made=row.made,
            )  # fmt: skip


def _events(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.events(view):
        if row.node in kept:
            event = dict(row.values)
            event["reading"] = b64encode(event["reading"]).decode() if event["reading"] else None
            dated = row.key == event_key(event, row.scope, row.world, row.text, undated=False)
            left = _left(view, row.draft) if row.draft else None
            yield _full("event", id=_hex(row.id), undated=None if dated else True, draft=left, **event)


def _left(view: View, draft: str) -> list[dict[str, Any]]:
    """What is still to be done with an event; the world it was told in goes by its id."""
    left: list[dict[str, Any]] = orjson.loads(draft)
    return [{**item, "world": copying.id_of(view, item["world"])} for item in left]


def event_key(event: dict[str, Any], scope: int, world: int, text: str, *, undated: bool) -> bytes:
    """The key by which the same event, sent again, is recognised in a store with these row numbers."""
    if event.get("external_id") is not None:
        return record_id("external", str(scope), event["external_id"])
    when = "" if undated else str(event["said_at"])
    return record_id("event", str(scope), str(world), event["sender"], when, text)


def _facts(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.facts(view):
        if row.node in kept:
            yield _full(
                "fact", id=_hex(row.id), subject=_hex(row.subject), object=_hex(row.object), values=row.values
            )


def _aliases(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.aliases(view):
        if row.line in kept:
            yield _full("alias", of=_hex(row.of), key=row.key, name=row.name, scope=row.scope or None)


def _labels(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    """What other scopes have noted beside the same words."""
    for row in copying.notes(view):
        if row.node in kept:
            yield _full("metadata", of=_hex(row.of), scope=row.scope or None, metadata=_json(row.metadata))


def _side(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.sides(view):
        if row.of_key in kept:
            yield _full(row.table, of=_hex(row.of), values=row.values)


def _origins(view: View, table: str) -> dict[int, list[Any]]:
    """Where the rows of a table come from, if another store held them first: store, valid, known."""
    return {
        row: [[one.store.hex(), _span(one.valid), _span(one.known)] for one in each]
        for row, each in copying.origins(view, table).items()
    }


def _beliefs(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    origins = _origins(view, "beliefs")
    for row in copying.beliefs(view):
        if row.node in kept:
            yield _full(
                "belief", row=row.row, of=_hex(row.of), valid=_span(row.valid), known=_span(row.known),
                scope=row.scope or None, status=row.status, confidence=row.confidence,
                precision=row.precision, reason=row.reason, origin=origins.get(row.row),
            )  # fmt: skip


def _edges(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    origins = _origins(view, "edges")
    for row in copying.edges(view):
        if row.src in kept and row.dst in kept:
            yield _full(
                "edge", row=row.row, id=_hex(row.id), src=_hex(row.src_id), type=row.type,
                dst=_hex(row.dst_id), world=_hex(row.world_id if row.world in kept else None),
                valid=_span(row.valid), known=_span(row.known), scope=row.scope or None,
                metadata=_json(row.metadata), origin=origins.get(row.row), made=row.made,
            )  # fmt: skip


def _merges(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.merges(view):
        if row.a in kept and row.b in kept:
            yield _full(
                "merge", row=row.row, id=_hex(row.id), a=_hex(row.a_id), b=_hex(row.b_id), status=row.status,
                tier=row.tier, score=row.score, reason=row.reason, scope=row.scope or None,
                known=_span(row.known),
            )  # fmt: skip


def _marks(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    """Pins and stages; what is archived is left to the nights of the store that reads this."""
    for row in copying.marks(view):
        if row.line in kept:
            yield _full(
                "mark", row=row.row, of=_hex(row.of), mark=row.kind, value=row.value, reason=row.reason,
                scope=row.scope or None, known=_span(row.known),
            )  # fmt: skip
