"""ChatGPT's data export: `conversations.json` (or the ZIP that it comes in).

A conversation is a tree; its active branch, from `current_node` up, is what was on the screen.
Tool output, hidden messages, thoughts and custom instructions are not things that were said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from worldline.clock import instant
from worldline.exchange.records import Bad, Item, LeftOut, Record, SaidItem, each, text_of, when
from worldline.model import Event

_SPOKEN = ("text", "multimodal_text")


def fits(record: Any) -> bool:
    """Whether a record is a conversation of ChatGPT."""
    return isinstance(record, dict) and isinstance(record.get("mapping"), dict)


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """One `Said` a conversation."""
    return each(records, _conversation)


def _conversation(record: Record) -> Iterator[Item]:
    talk = record.value
    id_ = str(talk.get("conversation_id") or talk.get("id") or talk["create_time"])
    title = str(talk.get("title") or "ChatGPT").strip()
    session = f"{title} ({id_[:8]})"
    events: list[Event] = []
    positions = []
    branch = _branch(talk)
    others = sum(1 for node in talk["mapping"].values() if node.get("message")) - len(branch)
    if others:
        yield LeftOut("messages of other branches", others)
    last = instant(when(talk.get("create_time")) or 0)
    for node_id, message in branch:
        position = f"{record.position}, message {node_id}"
        try:
            event = _event(message, session, last + 1)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Bad(position, f"it is not a message of ChatGPT ({error})")
            continue
        if isinstance(event, LeftOut):
            yield event
            continue
        events.append(event)
        positions.append(position)
        last = max(last, instant(event.said_at))
    if events:
        yield SaidItem(tuple(events), tuple(positions))


def _branch(talk: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The messages of the active branch, first to last; all by date where no branch is marked."""
    mapping = talk["mapping"]
    at = talk.get("current_node")
    if at not in mapping:
        found = [(id_, node["message"]) for id_, node in mapping.items() if node.get("message")]
        return sorted(found, key=lambda pair: pair[1].get("create_time") or 0)
    branch: list[tuple[str, dict[str, Any]]] = []
    seen: set[Any] = set()
    while at in mapping and at not in seen:
        seen.add(at)
        if message := mapping[at].get("message"):
            branch.append((str(at), message))
        at = mapping[at].get("parent")
    return branch[::-1]


def _event(message: dict[str, Any], session: str, next_: int) -> Event | LeftOut:
    """What was said; a message without a time follows the one before it."""
    role = message["author"]["role"]
    content, labels = message.get("content") or {}, message.get("metadata") or {}
    if role not in ("user", "assistant"):
        return LeftOut(f"{role} messages")
    if content.get("content_type", "text") not in _SPOKEN:
        return LeftOut(f"{content.get('content_type')} messages")
    if labels.get("is_visually_hidden_from_conversation") or message.get("recipient", "all") != "all":
        return LeftOut("hidden messages")
    text = text_of(content.get("parts") or content.get("text") or "")
    if not text.strip():
        return LeftOut("messages without words")
    said_at = when(message.get("create_time")) or next_
    return Event(
        text, role, said_at, session=session, source="chatgpt", external_id=f"chatgpt:{message['id']}",
    )  # fmt: skip
