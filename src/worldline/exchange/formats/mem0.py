"""Memories of mem0: what `get_all()` returns (a list, or an object with `results`), as JSON or JSON Lines.

Each memory becomes a note that holds from its `created_at` on; a memory whose text has changed since
the last import is amended as of its `updated_at`. Its owner becomes the note's scope. The `relations` of
its graph become facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from worldline.exchange.records import Bad, Item, KnownItem, Record, StatedItem, each, shortened, when
from worldline.model import Fact, Scope

_OWNERS = {"user": "user_id", "agent": "agent_id", "app": "app_id", "run": "run_id"}


def fits(record: Any) -> bool:
    """Whether a record is a memory of mem0, or a relation of its graph."""
    return isinstance(record, dict) and (isinstance(record.get("memory"), str) or _is_relation(record))


def _is_relation(record: Any) -> bool:
    return isinstance(record, dict) and "source" in record and "relationship" in record


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """One note a memory, one fact a relation."""
    return each(records, lambda record: (_relation if _is_relation(record.value) else _memory)(record))


def _relation(record: Record) -> Iterator[Item]:
    given = record.value
    end = given.get("destination") or given.get("target")
    if not end:
        raise KeyError("destination")
    subject, object_ = (str(name).replace("_", " ").strip() for name in (given["source"], end))
    phrase = str(given["relationship"]).replace("_", " ").strip()
    yield StatedItem(record.position, Fact(subject, phrase, object_), _owner(given))


def _owner(given: dict[str, Any]) -> Scope:
    return Scope(**{kind: str(given[key]) for kind, key in _OWNERS.items() if given.get(key)})


def _memory(record: Record) -> Iterator[Item]:
    memory = record.value
    text = memory["memory"]
    metadata = dict(memory.get("metadata") or {})
    if categories := memory.get("categories"):
        metadata["categories"] = categories
    yield KnownItem(
        record.position,
        f"mem0:{memory['id']}",
        "context",
        shortened(text),
        text,
        when(memory.get("created_at")),
        when(memory.get("updated_at")),
        metadata,
        _owner(memory),
    )
