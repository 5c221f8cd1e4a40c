"""A session transcript of Claude Code: JSON Lines with `type`, `message`, `uuid`, `timestamp`.

Only what the user typed and what the assistant answered in words; tool calls and their results,
thinking, side chains (subagents) and messages that the program itself made are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from worldline.exchange.records import Bad, Item, LeftOut, Record, SaidItem, each, text_of, when
from worldline.model import Event

_MACHINERY = re.compile(r"^\s*<(?:command-|local-command|system-reminder|bash-|task-notification)")


def fits(record: Any) -> bool:
    """Whether a record is a line of a transcript."""
    return isinstance(record, dict) and "sessionId" in record and "type" in record


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """One `Said` a line; lines that carry no words give nothing."""
    return each(records, _line)


def _line(record: Record) -> Iterator[Item]:
    line = record.value
    if line.get("type") not in ("user", "assistant") or line.get("isSidechain") or line.get("isMeta"):
        yield LeftOut("lines of side chains and of the program itself")
        return
    text = text_of(line["message"].get("content"))
    if not text.strip() or _MACHINERY.match(text):
        yield LeftOut("tool calls, their results and thinking")
        return
    event = Event(
        text, line["type"], when(line.get("timestamp")), session=f"claude-code {line['sessionId']}",
        source="claude-code", external_id=f"claude-code:{line['uuid']}",
        metadata={"cwd": line["cwd"]} if line.get("cwd") else {},
    )  # fmt: skip
    yield SaidItem((event,), (record.position,))
