"""From what a caller holds (an id, a prefix, a former hash, a value) to a lineage in the view.

It never guesses: a prefix that fits several memories is an error that lists them.
"""

from __future__ import annotations

import re
from array import array
from threading import Lock
from typing import Any

from msgspec import Struct

from worldline.clock import LATEST, Instant, show
from worldline.errors import Ambiguous, InvalidInput, NotFound
from worldline.hashing import world_hash
from worldline.model import Believed, Edge, Hit, Node, Receipt
from worldline.ports import View

_HEX = re.compile(r"[0-9a-f]+")


class Target(Struct, frozen=True):
    """A lineage; the version that was meant, if one was; and the moment a former hash stands for."""

    line: int
    key: int = 0
    known: Instant = LATEST


class Leaves:
    """The first digits of the hash of every single memory of a tenant: worked out once, then only for new ones."""

    def __init__(self) -> None:
        self._last = 0
        self._heads, self._keys = array("Q"), array("q")
        self._lock = Lock()

    def find(self, view: View, wanted: bytes) -> list[int]:
        """The memories whose hash begins as this one."""
        rows = view.query("SELECT id, hash FROM nodes WHERE tenant = :t AND id > :last", last=self._last)
        with self._lock:
            for key, id_ in rows:
                if key > self._last:
                    self._heads.append(_head(world_hash(id_)))
                    self._keys.append(key)
            self._last = max(self._last, *(row[0] for row in rows)) if rows else self._last
            head, at, found = _head(wanted), -1, list[int]()
            while True:
                try:
                    at = self._heads.index(head, at + 1)
                except ValueError:
                    return found
                found.append(self._keys[at])


def _head(hash_: bytes) -> int:
    return int.from_bytes(hash_[:8], "big")


def resolve(view: View, ref: Any, shortest: int = 8) -> Target:
    """The memory that `ref` means in this scope and world."""
    if isinstance(ref, Hit):
        ref = ref.node
    if isinstance(ref, Node):
        _require_visible(view, ref)
        return Target(ref.line, ref.key)
    if isinstance(ref, Receipt | Believed) or (isinstance(ref, Edge) and ref.type == "fact"):
        ref = ref.id
    if not isinstance(ref, str):
        raise InvalidInput(f"name a memory by its id, a prefix of it, or the memory itself, not {ref!r}")
    text = ref.strip().lower()
    if not _HEX.fullmatch(text) or not shortest <= len(text) <= 64:
        raise InvalidInput(
            f"{ref[:80]!r} is not an id: give at least {shortest} of its 64 hex digits (list shows them)"
        )
    return _by_prefix(view, text)


def _require_visible(view: View, node: Node) -> None:
    if (node.key, node.line) not in view.named(node.id):
        raise NotFound(f"{node.id[:12]} ({node.name}) is not in this tenant, scope and world")


def _by_prefix(view: View, prefix: str) -> Target:
    found = view.named(prefix)
    lines = {line for _, line in found}
    former = view.former(prefix)
    if len(lines | {line for line, _, _ in former}) > 1:
        raise Ambiguous(f"{prefix} fits several memories: {_candidates(view, found, former)}")
    if found:
        key, line = found[0]
        return Target(line, key if key != line and len(found) == 1 else 0)
    if former:
        return Target(former[-1][0], known=former[-1][2])
    return _leaf(view, prefix)


def _leaf(view: View, prefix: str) -> Target:
    """A leaf's hash is not stored, because it follows from its id; a whole one is looked for."""
    if len(prefix) == 64:
        wanted = bytes.fromhex(prefix)
        for key in view.store.leaves.setdefault(view.tenant, Leaves()).find(view, wanted):
            line, id_ = view.query("SELECT line, hash FROM nodes WHERE tenant = :t AND id = :key", key=key)[0]
            if world_hash(id_) == wanted and view.named(id_.hex()):
                return Target(line, key)
    raise NotFound(f"no memory {prefix[:16]} in this tenant, scope and world")


def _candidates(view: View, found: list[tuple[int, int]], former: list[Any]) -> str:
    told = []
    for key, _ in found[:6]:
        node = view.payload(key)
        if node is not None:
            told.append(f"{node.id[:16]} ({node.type} {node.name[:40]!r})")
    told += [f"{hash_[:16]} (a world's hash from {show(since)})" for _, hash_, since in former[:6]]
    return ", ".join(told)


def missing(view: View, target: Target) -> NotFound:
    """Why a memory that exists cannot be seen from this moment."""
    history = view.bind(known=LATEST).history(target.line)
    if not history:
        return NotFound("no such memory in this tenant, scope and world")
    belief, node = history[-1]
    return NotFound(
        f"{node.id[:12]} ({node.name}) is not visible at this moment; it was last believed to hold "
        f"from {show(belief.valid.start)} until {show(belief.valid.end)}; see its history"
    )
