"""LangGraph's long-term memory over worlds: `WorldlineStore` is a `BaseStore`.

A namespace is a world inside the world of the namespace above it, an item is a note in it. Putting
over an existing key amends the note, so its history stays; deleting retires it. A search with a
query is a recall inside the world of the prefix; what recall did not find follows without a score,
as BaseStore's own stores do it. An item with a TTL is a note that ends by itself; reading it puts the end
off. Writes of one store come one after the other, and closing waits for what is under way.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from langgraph.store import base
from langgraph.store.base.embed import get_text_at_path

from worldline.asynchronous import in_thread
from worldline.clock import FOREVER, LATEST, NOW, to_datetime
from worldline.errors import Conflict, InvalidInput, StoreError
from worldline.memory import Memory
from worldline.model import Node, require_finite
from worldline.store.sqlite import CLOSED
from worldline.surfaces import budget
from worldline.surfaces.verbs import every
from worldline.text import content_words

ROOT = "LangGraph store"
_ITEM = {"langgraph": "item"}
_PAGE = 1000
_PLAIN = "$value"
"""Wraps a value that has more to it: what of it may be found by its words, and how long it lives."""
_MINUTE = 60_000_000

_CHECK: Callable[[base.Op], None] = getattr(base, "validate_op_namespace", lambda op: None)
"""Older releases of LangGraph check a namespace in the methods of its BaseStore alone."""

Namespace = tuple[str, ...]


class WorldlineStore(base.BaseStore):
    """A memory as LangGraph's store. `store.memory` is the memory itself, with everything it can do."""

    supports_ttl = True
    __slots__ = ("_closed", "_lock", "_owned", "_pool", "_worlds", "memory", "ttl_config")

    def __init__(self, memory: Memory | str | Path, *, ttl: base.TTLConfig | None = None) -> None:
        self._owned = not isinstance(memory, Memory)
        self.memory = memory if isinstance(memory, Memory) else Memory.open(memory)
        self.ttl_config = ttl
        self._worlds: dict[Namespace, str] = {}
        self._lock = threading.RLock()
        self._pool = ThreadPoolExecutor(4, "worldline-store")
        self._closed = False

    def close(self) -> None:
        """Waits for what is under way, then closes a memory that this store opened; one that was given stays open."""
        self._pool.shutdown()
        self._closed = True
        if self._owned:
            self.memory.close()

    def __enter__(self) -> WorldlineStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Reads see what was there before the batch; of several puts to one key the last one counts.

        A namespace that LangGraph would not allow, or an operation that means nothing, is refused before anything
        is done.
        """
        if self._closed:
            raise StoreError(CLOSED)
        ops = list(ops)
        for op in ops:
            _CHECK(op)
            if isinstance(op, base.PutOp) and not isinstance(op.value, Mapping | None):
                raise InvalidInput(f"the value of {op.key!r} must be a dict, not {type(op.value).__name__}")
            if isinstance(op, base.SearchOp | base.ListNamespacesOp) and op.offset < 0:
                raise InvalidInput(f"an offset is 0 or more, not {op.offset}")
        results = [self._answer(op) for op in ops]
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, base.PutOp)}
        for put in puts.values():
            with self._lock:
                self._put(put)
        return results

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """The same, in a thread, so that the event loop goes on."""
        return await in_thread(self._pool, partial(self.batch, list(ops)))

    def known(self, namespace_prefix: Namespace, question: str) -> dict[str, Any]:
        """What is known of a question below a namespace: the answer, its proof, facts, and how sure that is."""
        world = self._world(namespace_prefix)
        inside = self.memory if world is None else self.memory.enter(world)
        return budget.plain(budget.known(inside, inside.recall(question)))

    def history(self, namespace: Namespace, key: str) -> list[dict[str, Any]]:
        """Every value that a key has had, oldest first, deleted or not; beyond what BaseStore asks for."""
        world = self._world(namespace)
        if world is None:
            return []
        inside = self.memory.enter(world)
        found = every(inside, "context", metadata=_label(namespace, key), include_superseded=True)
        lineages = {node.lineage: node for node in found}
        versions = [v for node in lineages.values() for v in inside.history(node)]
        return [
            {"change": v.change, "value": _parts(v.node)[0], "valid": v.node.valid, "known": v.node.known}
            for v in sorted(versions, key=lambda v: v.node.known)
        ]

    # Operations --------------------------------------------------------------------------------

    def _answer(self, op: base.Op) -> base.Result:
        if isinstance(op, base.GetOp):
            held = self._held(op.namespace, op.key)
            return self._item(self._kept(held[0], op.refresh_ttl)) if held else None
        if isinstance(op, base.SearchOp):
            return self._search(op)
        if isinstance(op, base.ListNamespacesOp):
            return self._namespaces(op)
        if isinstance(op, base.PutOp):
            return None
        raise ValueError(f"unknown operation type: {type(op)}")

    def _held(self, namespace: Namespace, key: str) -> tuple[Node, ...]:
        """What a key holds: one note, and older ones where a put was broken off or two came at once."""
        world = self._world(namespace)
        if world is None:
            return ()
        return self.memory.enter(world).list("context", metadata=_label(namespace, key)).items

    def _put(self, op: base.PutOp) -> None:
        held = self._held(op.namespace, op.key)
        if op.value is None:
            if held:
                self.memory.retire(held, reason="deleted from the LangGraph store")
            return
        content = _content(op.value, op.index, op.ttl)
        end = FOREVER if op.ttl is None else self.memory.handle.now() + int(op.ttl * _MINUTE)
        inside = self.memory.enter(self._make_world(op.namespace))
        label = _label(op.namespace, op.key)
        note = partial(inside.note, "context", _name(op.key), content, metadata=label, valid_to=end)
        if not held:
            note()
            return
        node = held[0]
        if node.valid.end != end:
            inside.correct(node, valid_to=end, reason="its time to live changed")
        if node.content != content:
            try:
                inside.amend(node, content)
            except Conflict:  # said before the key was deleted, or by somebody else: that note goes on
                inside.link(note().id, "supersedes", node)

    def _kept(self, node: Node, refresh: bool | None) -> Node:
        """The item, with its end put off where reading does that."""
        minutes = _parts(node)[2]
        on_read = (self.ttl_config or {}).get("refresh_on_read", True) if refresh is None else refresh
        if minutes is None or not on_read or node.valid.end >= LATEST or self.memory.handle.moment != NOW:
            return node
        with self._lock:
            end = self.memory.handle.now() + int(minutes * _MINUTE)
            self.memory.correct(node, valid_to=end, reason="it was read")
        return node

    def _search(self, op: base.SearchOp) -> list[base.SearchItem]:
        world = self._world(tuple(op.namespace_prefix))
        if world is None or op.limit <= 0:
            return []
        inside = self.memory.enter(world)
        scored = self._scored(inside, op) if op.query else []
        wanted = op.offset + op.limit
        if len(scored) < wanted:
            seen = {node.lineage for node, _ in scored}
            items = every(inside, "context", metadata=_ITEM)
            rest = [node for node in items if node.lineage not in seen and _passes(node, op.filter)]
            rest.sort(key=lambda node: node.key)
            scored += [(node, None) for node in rest]
        chosen = scored[op.offset : wanted]
        return [self._item(self._kept(node, op.refresh_ttl), score) for node, score in chosen]

    def _scored(self, inside: Memory, op: base.SearchOp) -> list[tuple[Node, float | None]]:
        """What recall finds, best first; it may look further when a filter takes some away."""
        most = op.offset + op.limit if not op.filter else _PAGE
        found = inside.recall(op.query or "", limit=most, filters=_ITEM)
        return [
            (hit.node, hit.score)
            for hit in found.hits
            if "neighbour" not in hit.lanes
            and _is_indexed(hit.node, op.query or "")
            and _passes(hit.node, op.filter)
        ]

    def _namespaces(self, op: base.ListNamespacesOp) -> list[Namespace]:
        world = self._world(())
        if world is None:
            return []
        items = every(self.memory.enter(world), "context", metadata=_ITEM)
        found = {tuple(node.metadata["namespace"]) for node in items}
        for condition in op.match_conditions or ():
            found = {namespace for namespace in found if _matches(condition, namespace)}
        if op.max_depth is not None:
            found = {namespace[: op.max_depth] for namespace in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    # Worlds ------------------------------------------------------------------------------------

    def _world(self, namespace: Namespace) -> str | None:
        """The world of a namespace, if anything was ever put below it."""
        if namespace not in self._worlds:
            found = self.memory.list("context", metadata=_place(namespace), limit=1).items
            if not found:
                return None
            self._worlds[namespace] = found[0].id
        return self._worlds[namespace]

    def _make_world(self, namespace: Namespace) -> str:
        known = self._world(namespace)
        if known is not None:
            return known
        within = self.memory.enter(self._make_world(namespace[:-1])) if namespace else self.memory
        name = _name(namespace[-1]) if namespace else ROOT
        made = within.note("context", name, valid_from=0, metadata=_place(namespace))
        self._worlds[namespace] = made.id or ""
        return self._worlds[namespace]

    def _item(self, node: Node, score: float | None = None) -> base.SearchItem:
        first = self.memory.history(node)[0].node
        return base.SearchItem(
            tuple(node.metadata["namespace"]),
            node.metadata["key"],
            _parts(node)[0],
            to_datetime(first.valid.start),
            to_datetime(node.valid.start),
            score,
        )


def _label(namespace: Namespace, key: str) -> dict[str, Any]:
    return {**_ITEM, "namespace": list(namespace), "key": key}


def _place(namespace: Namespace) -> dict[str, Any]:
    return {"langgraph": "namespace", "namespace": list(namespace)}


def _name(text: str) -> str:
    """A note's name for a key: the key itself, or an escaped form where a name could not hold it."""
    if text and text == " ".join(text.split()) and text.isascii() and "%" not in text and len(text) < 1000:
        return text
    return quote(text, safe="")[:4000] or "%"


def _content(value: Mapping[str, Any], index: Any, ttl: float | None) -> str:
    stored = dict(value)
    if index is not None or ttl is not None:
        stored = {_PLAIN: stored, "$index": index, "$ttl": ttl}
    try:
        encoded = orjson.dumps(stored, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError as error:
        raise InvalidInput(f"a value must be plain JSON: {error}") from None
    require_finite(value, encoded, "the value")
    return encoded.decode()


def _parts(node: Node) -> tuple[dict[str, Any], Any, float | None]:
    """The value, the fields of it that may be found by their words (None: all), and the minutes it lives."""
    stored: dict[str, Any] = orjson.loads(node.content)
    if isinstance(stored.get(_PLAIN), dict) and "$index" in stored:
        return stored[_PLAIN], stored["$index"], stored.get("$ttl")
    return stored, None, None


def _is_indexed(node: Node, query: str) -> bool:
    """Whether an item may be found so: all of it, none of it, or by the words of some fields."""
    value, fields, _ = _parts(node)
    if not isinstance(fields, list):
        return fields is not False
    text = " ".join(part for path in fields for part in get_text_at_path(value, path))
    return not set(content_words(query, "english")).isdisjoint(content_words(text, "english"))


# Filters -------------------------------------------------------------------------------------------


def _passes(node: Node, wanted: dict[str, Any] | None) -> bool:
    if not wanted:
        return True
    value = _parts(node)[0]
    return all(_equal(_at(value, name), condition) for name, condition in wanted.items())


def _at(value: Any, name: str) -> Any:
    """What a key names: itself, or with dots something further inside."""
    if name in value or "." not in name:
        return value.get(name)
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _equal(value: Any, wanted: Any) -> bool:
    """Equal in the way of JSON documents; an object with `$…` keys holds comparisons."""
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compared(value, name, bound) for name, bound in wanted.items())
        return isinstance(value, dict) and all(_equal(value.get(n), w) for n, w in wanted.items())
    if isinstance(wanted, list | tuple):
        alike = isinstance(value, list) and len(value) == len(wanted)
        return alike and all(_equal(v, w) for v, w in zip(value, wanted, strict=True))
    return bool(value == wanted)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq, "$ne": operator.ne, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt,
    "$lte": operator.le,
}  # fmt: skip


def _compared(value: Any, name: str, bound: Any) -> bool:
    if (compare := _COMPARISONS.get(name)) is None:
        raise ValueError(f"unsupported operator: {name}")
    if name in ("$eq", "$ne"):
        return compare(value, bound)
    return value is not None and bool(compare(float(value), float(bound)))


def _matches(condition: base.MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"unsupported match type: {condition.match_type}")
    if len(namespace) < len(path):
        return False
    begin = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    return all(wanted in ("*", label) for wanted, label in zip(path, namespace[begin:], strict=False))
