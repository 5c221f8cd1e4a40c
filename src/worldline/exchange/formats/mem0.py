"""Memories of mem0: what `get_all()` returns (a list, or an object with `results`), as JSON or JSON Lines.

Each memory becomes a note that holds from its `created_at` on; a memory whose text has changed since
the last import is amended as of its `updated_at`. Its owner becomes the note's scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from worldline.exchange.records import Bad, Item, Known, Record, each, shortened, when
from worldline.model import Scope

_OWNERS = {"user": "user_id", "agent": "agent_id", "app": "app_id", "run": "run_id"}


def fits(record: Any) -> bool:
    """Whether a record is a memory of mem0."""
    return isinstance(record, dict) and isinstance(record.get("memory"), str)


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """One note a memory."""
    return each(records, _memory)


def _memory(record: Record) -> Iterator[Item]:
    memory = record.value
    text = memory["memory"]
    metadata = dict(memory.get("metadata") or {})
    if categories := memory.get("categories"):
        metadata["categories"] = categories
    yield Known(
        record.position,
        f"mem0:{memory['id']}",
        "context",
        shortened(text),
        text,
        when(memory.get("created_at")),
        when(memory.get("updated_at")),
        metadata,
        Scope(**{kind: str(memory[key]) for kind, key in _OWNERS.items() if memory.get(key)}),
    )
