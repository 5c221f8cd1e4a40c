"""Claude's data export: `conversations.json` (or the ZIP that it comes in).

A message has its text in blocks (`content`) and, in older exports, only as `text`. Thinking and tool
blocks are not things that were said; what a user attached as text is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from worldline.exchange.records import Bad, Item, LeftOut, Record, SaidItem, each, text_of, when
from worldline.model import Event

_SPEAKERS = {"human": "user", "assistant": "assistant"}


def fits(record: Any) -> bool:
    """Whether a record is a conversation of Claude."""
    return isinstance(record, dict) and isinstance(record.get("chat_messages"), list)


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """One `Said` a conversation."""
    return each(records, _conversation)


def _conversation(record: Record) -> Iterator[Item]:
    talk = record.value
    title = str(talk.get("name") or "Claude").strip()
    session = f"{title} ({str(talk['uuid'])[:8]})"
    events, positions = [], []
    for number, message in enumerate(talk["chat_messages"], 1):
        position = f"{record.position}, message {number}"
        try:
            event = _event(message, session, talk.get("created_at"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Bad(position, f"it is not a message of Claude ({error})")
            continue
        if event is None:
            yield LeftOut("messages without words")
            continue
        events.append(event)
        positions.append(position)
    if events:
        yield SaidItem(tuple(events), tuple(positions))


def _event(message: dict[str, Any], session: str, began: Any) -> Event | None:
    speaker = _SPEAKERS[message["sender"]]
    parts = [text_of(message.get("content")) or str(message.get("text") or "")]
    for file in message.get("attachments") or ():
        if extracted := file.get("extracted_content"):
            parts.append(f"[{file.get('file_name') or 'attachment'}]\n{extracted}")
    text = "\n\n".join(part for part in parts if part.strip())
    if not text:
        return None
    said_at = when(message.get("created_at")) or when(began)
    return Event(
        text, speaker, said_at, session=session, source="claude", external_id=f"claude:{message['uuid']}"
    )
