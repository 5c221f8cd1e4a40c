"""Formats made of JSON records that can be imported, one below the other: whether a record fits, and what it holds.

`chat` is plain chat as JSON Lines (or a JSON list), a message a record or a conversation a record:

    {"role": "user", "content": "…", "timestamp": "2026-03-05T14:30Z", "session": "monday", "id": "1"}
    {"messages": [{"role": "user", "content": "…"}, …]}

Only the words are needed. `chatgpt` and `claude` are the data exports of those (`conversations.json`, or the ZIP
that it comes in), `claude-code` is a session's transcript, `mem0` what its `get_all()` returns, and
`server-memory` the graph of the MCP reference server "memory".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from worldline.clock import instant
from worldline.exchange.records import (
    Bad,
    Item,
    KnownItem,
    LeftOut,
    Record,
    SaidItem,
    StatedItem,
    each,
    shortened,
    text_of,
    when,
)
from worldline.hashing import record_id
from worldline.model import Event, Fact, Scope

_Read: TypeAlias = Callable[[Record], Iterator[Item]]


class JsonFormat(NamedTuple):
    """How records of one format are known and read."""

    fits: Callable[[dict[str, Any]], bool]
    reader: Callable[[], _Read]
    """A reader for one import: what it has seen is its own."""

    def read(self, records: Iterable[Record | Bad]) -> Iterator[Item]:
        """The items of the records; one that cannot be read is told."""
        return each(records, self.reader())


def _conversation(
    messages: Iterable[tuple[str, Any]], event: Callable[[Any], Event | LeftOut], what: str
) -> Iterator[Item]:
    """What was said in (position, message); a message that cannot be read is told, and the others go on."""
    events, positions = [], []
    for position, message in messages:
        try:
            found = event(message)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Bad(position, f"it is not {what} ({error})")
            continue
        if isinstance(found, LeftOut):
            yield found
        else:
            events.append(found)
            positions.append(position)
    if events:
        yield SaidItem(tuple(events), tuple(positions))


# Plain chat --------------------------------------------------------------------------------------

_TEXT = ("content", "text", "message")
_SPEAKER = ("name", "speaker", "role", "sender", "author")
_TIME = ("timestamp", "said_at", "created_at", "time", "date")
_SESSION = ("session", "session_id", "conversation_id", "thread_id")


def _is_chat(record: dict[str, Any]) -> bool:
    return isinstance(record.get("messages"), list) or bool(_first(record, _TEXT))


def _chat() -> _Read:
    seen: Counter[bytes] = Counter()

    def read(record: Record) -> Iterator[Item]:
        value = record.value
        messages = value["messages"] if isinstance(value.get("messages"), list) else [value]
        many = len(messages) > 1
        session = _first(value, _SESSION)
        if session is None and many:
            session = record.position
        told = (
            (f"{record.position}, message {n}" if many else record.position, m)
            for n, m in enumerate(messages, 1)
        )
        return _conversation(told, lambda message: _of_chat(message, session, seen), "a message")

    return read


def _of_chat(message: dict[str, Any], session: Any, seen: Counter[bytes]) -> Event:
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


# ChatGPT -----------------------------------------------------------------------------------------

_SPOKEN = ("text", "multimodal_text")


def _read_chatgpt(record: Record) -> Iterator[Item]:
    """A conversation is a tree; its active branch, from `current_node` up, is what was on the screen."""
    talk = record.value
    id_ = str(talk.get("conversation_id") or talk.get("id") or talk["create_time"])
    session = f"{str(talk.get('title') or 'ChatGPT').strip()} ({id_[:8]})"
    branch = _branch(talk)
    others = sum(1 for node in talk["mapping"].values() if node.get("message")) - len(branch)
    if others:
        yield LeftOut("messages of other branches", others)
    last = instant(when(talk.get("create_time")) or 0)

    def event(message: dict[str, Any]) -> Event | LeftOut:
        nonlocal last
        found = _of_chatgpt(message, session, last + 1)
        last = last if isinstance(found, LeftOut) else max(last, instant(found.said_at))
        return found

    told = ((f"{record.position}, message {node_id}", message) for node_id, message in branch)
    yield from _conversation(told, event, "a message of ChatGPT")


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


def _of_chatgpt(message: dict[str, Any], session: str, next_: int) -> Event | LeftOut:
    """What was said, not tool output, hidden messages or thoughts; without a time it follows the one before it."""
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


# Claude ------------------------------------------------------------------------------------------

_SPEAKERS = {"human": "user", "assistant": "assistant"}


def _read_claude(record: Record) -> Iterator[Item]:
    talk = record.value
    session = f"{str(talk.get('name') or 'Claude').strip()} ({str(talk['uuid'])[:8]})"
    told = ((f"{record.position}, message {number}", m) for number, m in enumerate(talk["chat_messages"], 1))
    began = talk.get("created_at")
    return _conversation(told, lambda message: _of_claude(message, session, began), "a message of Claude")


def _of_claude(message: dict[str, Any], session: str, began: Any) -> Event | LeftOut:
    """Its text blocks (older exports have only `text`) and what a user attached as text; no thinking, no tools."""
    speaker = _SPEAKERS[message["sender"]]
    parts = [text_of(message.get("content")) or str(message.get("text") or "")]
    for file in message.get("attachments") or ():
        if extracted := file.get("extracted_content"):
            parts.append(f"[{file.get('file_name') or 'attachment'}]\n{extracted}")
    text = "\n\n".join(part for part in parts if part.strip())
    if not text:
        return LeftOut("messages without words")
    said_at = when(message.get("created_at")) or when(began)
    return Event(
        text, speaker, said_at, session=session, source="claude", external_id=f"claude:{message['uuid']}"
    )


# Claude Code -------------------------------------------------------------------------------------

_MACHINERY = re.compile(r"^\s*<(?:command-|local-command|system-reminder|bash-|task-notification)")


def _read_claude_code(record: Record) -> Iterator[Item]:
    """What the user typed and what the assistant answered in words."""
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


# mem0 --------------------------------------------------------------------------------------------

_OWNERS = {"user": "user_id", "agent": "agent_id", "app": "app_id", "run": "run_id"}


def _is_relation(record: dict[str, Any]) -> bool:
    return "source" in record and "relationship" in record


def _read_mem0(record: Record) -> Iterator[Item]:
    """A memory is a note, changed as of its `updated_at`; a relation of the graph is a fact."""
    given = record.value
    owner = Scope(**{kind: str(given[key]) for kind, key in _OWNERS.items() if given.get(key)})
    if _is_relation(given):
        yield StatedItem(record.position, _relation(given), owner)
        return
    text = given["memory"]
    metadata = dict(given.get("metadata") or {})
    if categories := given.get("categories"):
        metadata["categories"] = categories
    yield KnownItem(
        record.position, f"mem0:{given['id']}", "context", shortened(text), text,
        when(given.get("created_at")), when(given.get("updated_at")), metadata, owner,
    )  # fmt: skip


def _relation(given: dict[str, Any]) -> Fact:
    end = given.get("destination") or given.get("target")
    if not end:
        raise KeyError("destination")
    subject, object_ = (str(name).replace("_", " ").strip() for name in (given["source"], end))
    return Fact(subject, str(given["relationship"]).replace("_", " ").strip(), object_)


# The server "memory" -----------------------------------------------------------------------------


def _is_of_server_memory(record: dict[str, Any]) -> bool:
    return (record.get("type") == "entity" and "entityType" in record) or (
        record.get("type") == "relation" and "relationType" in record
    )


def _read_server_memory(record: Record) -> Iterator[Item]:
    """An observation is a note under its entity's name, a relation a fact, a type a fact with "is a"; none is dated."""
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


FORMATS: dict[str, JsonFormat] = {
    "chatgpt": JsonFormat(lambda r: isinstance(r.get("mapping"), dict), lambda: _read_chatgpt),
    "claude": JsonFormat(lambda r: isinstance(r.get("chat_messages"), list), lambda: _read_claude),
    "claude-code": JsonFormat(lambda r: "sessionId" in r and "type" in r, lambda: _read_claude_code),
    "server-memory": JsonFormat(_is_of_server_memory, lambda: _read_server_memory),
    "mem0": JsonFormat(lambda r: isinstance(r.get("memory"), str) or _is_relation(r), lambda: _read_mem0),
    "chat": JsonFormat(_is_chat, _chat),
}
"""In the order in which they are tried."""


def format_of(record: Any) -> str | None:
    """The format that a record has the marks of, if any."""
    if not isinstance(record, dict):
        return None
    return next((name for name, one in FORMATS.items() if one.fits(record)), None)
