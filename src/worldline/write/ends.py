"""The two ends of an edge: lineages as a rule, versions for the few types that join versions."""

from __future__ import annotations

from msgspec import Struct

from worldline.clock import FOREVER, Instant
from worldline.errors import Refused
from worldline.ports import Tx
from worldline.store.lookup import Target


class Ends(Struct, frozen=True):
    """Rows to join, and the moment the edge begins when its type decides that."""

    src: int
    dst: int
    since: Instant | None = None


def ends(tx: Tx, type_: str, source: Target, target: Target) -> Ends:
    """Where an edge begins and ends."""
    if not tx.types[type_].versions:
        return Ends(source.line, target.line)
    src, since = _newest(tx, source)
    dst, _ = _newest(tx, target)
    return Ends(src, dst, since)


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
