"""Plain chat as JSON Lines (or a JSON list): a message a record, or a conversation a record.

    {"role": "user", "content": "…", "timestamp": "2026-03-05T14:30Z", "session": "monday", "id": "1"}
    {"messages": [{"role": "user", "content": "…"}, …]}

Only the words are needed. Without an id, the same line of the same file is the same message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from worldline.exchange.records import Bad, Item, Record, SaidItem, each, text_of, when
from worldline.hashing import record_id
from worldline.model import Event

_TEXT = ("content", "text", "message")
_SPEAKER = ("name", "speaker", "role", "sender", "author")
_TIME = ("timestamp", "said_at", "created_at", "time", "date")
_SESSION = ("session", "session_id", "conversation_id", "thread_id")


def fits(record: Any) -> bool:
    """Whether a record has words, or messages that do."""
    if not isinstance(record, dict):
        return False
    return isinstance(record.get("messages"), list) or bool(_first(record, _TEXT))


def read(records: Iterable[Record | Bad]) -> Iterator[Item]:
    """One `Said` a record."""
    seen: Counter[bytes] = Counter()
    return each(records, lambda record: _record(record, seen))


def _record(record: Record, seen: Counter[bytes]) -> Iterator[Item]:
    value = record.value
    messages = value["messages"] if isinstance(value.get("messages"), list) else [value]
    session = _first(value, _SESSION)
    if session is None and messages is not value and len(messages) > 1:
        session = record.position
    events, positions = [], []
    for number, message in enumerate(messages, 1):
        position = f"{record.position}, message {number}" if len(messages) > 1 else record.position
        try:
            events.append(_event(message, session, seen))
            positions.append(position)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Bad(position, f"it is not a message ({error})")
    if events:
        yield SaidItem(tuple(events), tuple(positions))


def _event(message: dict[str, Any], session: Any, seen: Counter[bytes]) -> Event:
    text = text_of(_first(message, _TEXT))
    if not text.strip():
        raise ValueError("it has no words in content or text")
    speaker = str(_first(message, _SPEAKER) or "")
    mine = _first(message, _SESSION) or session
    said_at = when(_first(message, _TIME))
    return Event(
        text, speaker, said_at, session=None if mine is None else str(mine), source="chat",
        external_id=_external_id(message, (str(mine), speaker, str(said_at), text), seen),
        metadata=message["metadata"] if isinstance(message.get("metadata"), dict) else {},
    )  # fmt: skip


def _external_id(message: dict[str, Any], parts: tuple[str, ...], seen: Counter[bytes]) -> str:
    """Its own id; else what it says and how often that was said before, so that a file can grow."""
    if own := message.get("id") or message.get("uuid"):
        return f"chat:{own}"
    key = record_id("chat", *parts)
    seen[key] += 1
    return f"chat:{key.hex()[:32]}:{seen[key]}"


def _first(value: dict[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)
