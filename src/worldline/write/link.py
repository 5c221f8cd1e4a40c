"""Joining two memories: whom the ends mean, lineages as a rule, versions for the few types that join versions."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from worldline.clock import FOREVER, Instant, When
from worldline.errors import Refused
from worldline.handle import Done, Handle, Place
from worldline.inputs import clean_interval, clean_metadata
from worldline.model import EdgeDraft, Fact, Metadata
from worldline.ports import Tx
from worldline.store import registry
from worldline.store.lookup import Target
from worldline.write.given import believe


class Joining(Struct, frozen=True):
    """An edge as somebody states it."""

    src: Any
    type: str
    dst: Any
    valid_from: When | None = None
    valid_to: When | None = None
    metadata: Metadata | None = None
    predicate: str | None = None


def link(tx: Tx, place: Place, handle: Handle, edge: Joining) -> Done:
    """Puts the edge; a fact is believed as any fact is."""
    registry.edge_type(tx, edge.type, place.world, agent=handle.agent)
    view = tx.as_view(world=handle.world)
    source = handle.resolve(view, edge.src)
    target = handle.resolve(view.bind(world=0) if edge.type == "refers_to" else view, edge.dst)
    if edge.type == "fact":
        given = Fact(
            tx.id_of(source.line).hex(), edge.predicate or "", tx.id_of(target.line).hex(),
            valid_from=edge.valid_from, valid_to=edge.valid_to,
        )  # fmt: skip
        key, changed = believe(tx, given, place, handle)
        return tx.id_of(key), changed
    src, dst, since = _ends(tx, edge.type, source, target)
    if edge.type == "contains" and edge.valid_to is not None:
        raise Refused("a contains edge is open when it is made; retire it later")
    valid = clean_interval(edge.valid_from, edge.valid_to, tx.stamp if since is None else since)
    return tx.link(EdgeDraft(src, edge.type, dst, valid, place.scope, clean_metadata(edge.metadata)))


def _ends(tx: Tx, type_: str, source: Target, target: Target) -> tuple[int, int, Instant | None]:
    """Rows to join, and the moment the edge begins when its type decides that."""
    if not tx.types[type_].versions:
        return source.line, target.line, None
    src, since = _newest(tx, source)
    return src, _newest(tx, target)[0], since


def _newest(tx: Tx, target: Target) -> tuple[int, Instant]:
    """The version that was meant, or the newest believed one, and where it begins."""
    held = [
        (belief.valid.start, node.key)
        for belief, node in tx.history(target.line)
        if belief.known.end == FOREVER and target.key in (0, node.key)
    ]
    if not held:
        raise Refused("one end of the edge is not believed any more")
    since, key = max(held)
    return key, since
