"""The graph of the MCP reference server "memory": JSON Lines of entities and relations.

An observation becomes a note under its entity's name, a relation a fact, and an entity's type a
fact with the predicate "is a". The source has no dates, so all of it holds from the import on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from worldline.exchange.records import Bad, Item, KnownItem, Record, StatedItem, each
from worldline.model import Fact


def fits(record: Any) -> bool:
    """Whether a record is a line of that server's file."""
    if not isinstance(record, dict):
        return False
    return (record.get("type") == "entity" and "entityType" in record) or (
        record.get("type") == "relation" and "relationType" in record
    )


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """Notes and facts."""
    return each(records, _line)


def _line(record: Record) -> Iterator[Item]:
    line = record.value
    if line["type"] == "relation":
        yield StatedItem(record.position, Fact(line["from"], line["relationType"], line["to"]))
        return
    if line["type"] != "entity":
        raise ValueError(f"its type is {line['type']!r}, neither entity nor relation")
    name = line["name"]
    if kind := line.get("entityType"):
        yield StatedItem(record.position, Fact(name, "is a", kind))
    for number, observation in enumerate(line.get("observations") or (), 1):
        if not isinstance(observation, str):
            yield Bad(f"{record.position}, observation {number}", "it is not text")
            continue
        yield KnownItem(
            f"{record.position}, observation {number}", f"server-memory:{name}\n{observation}",
            "context", name, observation,
        )  # fmt: skip
