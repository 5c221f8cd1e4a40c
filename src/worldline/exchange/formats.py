"""Formats that can be imported, one below the other: whether a record fits, what it holds, and what it is read into.

Every reader turns the records of a file into conversations, notes, links and facts; `importers.py` stores them. A
record that makes no sense becomes a `Bad` with its position, and the rest of the file goes on.

`chat` is plain chat as JSON Lines (or a JSON list), a message a record or a conversation a record:

    {"role": "user", "content": "…", "timestamp": "2026-03-05T14:30Z", "session": "monday", "id": "1"}
    {"messages": [{"role": "user", "content": "…"}, …]}

Only the words are needed. `chatgpt` and `claude` are the data exports of those (`conversations.json`, or the ZIP
that it comes in), `claude-code` is a session's transcript, `mem0` what its `get_all()` returns, and
`server-memory` the graph of the MCP reference server "memory".

In a folder of Markdown each file is a note, named by its first heading, dated by its front matter or else by the
file's own date of change. A file that has changed since the last import is amended; hidden files and folders are left
alone. `[[links]]` join notes. A folder that was written from here (a vault) comes back to the very notes it shows: the
front matter has their ids, and the links below a mark tell the edges by their types; a link that was taken out of a
file is over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from worldline.clock import When, instant
from worldline.errors import WorldlineError
from worldline.hashing import record_id
from worldline.model import Event, Fact, Metadata, Scope
from worldline.rules.handlers import AGENT_EDGES, AGENT_TYPES, EDGE_TYPES
from worldline.text import text_of

_MILLISECONDS, _MICROSECONDS = 10**11, 10**14
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError, WorldlineError)


class Record(Struct, frozen=True):
    """One record of a file, and where it stands there."""

    position: str
    value: Any


class Bad(Struct, frozen=True):
    """A record that was skipped, and why."""

    position: str
    reason: str


class LeftOut(Struct, frozen=True):
    """Something that is no memory and was left out, such as the output of a tool."""

    what: str
    count: int = 1


class SaidItem(Struct, frozen=True):
    """Things said in one conversation, in order; each event has its own position."""

    events: tuple[Event, ...]
    positions: tuple[str, ...]


class KnownItem(Struct, frozen=True):
    """A note; `source_id` is its name at its origin, under which a later import finds it again."""

    position: str
    source_id: str
    type: str
    name: str
    content: str
    valid_from: When | None = None
    changed_at: When | None = None
    metadata: Metadata = {}
    scope: Scope = Scope()
    id: str = ""
    """The id under which this store knows it, where the file tells."""


class JoinedItem(Struct, frozen=True):
    """A link between two notes, each by its id here or its name at its origin."""

    position: str
    src: str
    type: str
    dst: str


class Linked(Struct, frozen=True):
    """All that a file tells of a note's links: one that it knew of and does not tell any more is over."""

    position: str
    src: str
    told: frozenset[tuple[str, str]]
    """(type, id) of each."""
    among: frozenset[str]
    """The notes whose files are there too; links to others are not the file's to end."""
    seen: When
    """When the file was written; links that are younger were not known to it."""


class StatedItem(Struct, frozen=True):
    """A fact."""

    position: str
    fact: Fact
    scope: Scope = Scope()


Item: TypeAlias = SaidItem | KnownItem | StatedItem | JoinedItem | Linked | LeftOut | Bad


class Imported(Struct, frozen=True):
    """What an import did."""

    format: str
    stored: int = 0
    """What is new here."""
    same: int = 0
    """What was here already."""
    skipped: tuple[Bad, ...] = ()
    dry_run: bool = False
    left_out: dict[str, int] = {}
    """What is no memory and was not taken over, by its kind."""
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were taken out."""


def each(records: Iterable[Record | Bad], make: Callable[[Record], Iterable[Item]]) -> Iterator[Item]:
    """What `make` reads from each record; one that it cannot read is told, and the others go on."""
    for record in records:
        if isinstance(record, Bad):
            yield record
            continue
        try:
            yield from list(make(record))
        except _UNREADABLE as error:
            yield Bad(record.position, told(error))


def told(error: Exception) -> str:
    """Why a record could not be read, for a person."""
    if isinstance(error, WorldlineError):
        return str(error)
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start})"
    if isinstance(error, AttributeError | TypeError):
        return "it is not of this format"
    return f"it is not of this format ({error})"


def when(value: Any) -> When | None:
    """A date of another program: ISO text as it is, a number as seconds (or milli-, microseconds)."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        raise ValueError(f"{value} is not a date")
    if isinstance(value, int | float):
        scale = 1 if value > _MICROSECONDS else 1_000 if value > _MILLISECONDS else 1_000_000
        return instant(round(value * scale))
    instant(value)
    found: When = value
    return found


def shortened(text: str, width: int = 60) -> str:
    """The beginning of a text on one line, as a name."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


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
    "server-memory": JsonFormat(
        lambda r: r.get("type") in ("entity", "relation") and f"{r['type']}Type" in r,
        lambda: _read_server_memory,
    ),
    "mem0": JsonFormat(lambda r: isinstance(r.get("memory"), str) or _is_relation(r), lambda: _read_mem0),
    "chat": JsonFormat(lambda r: isinstance(r.get("messages"), list) or bool(_first(r, _TEXT)), _chat),
}
"""In the order in which they are tried."""


def format_of(record: Any) -> str | None:
    """The format that a record has the marks of, if any."""
    if not isinstance(record, dict):
        return None
    return next((name for name, one in FORMATS.items() if one.fits(record)), None)


_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.S)
_PAIR = re.compile(r"^([A-Za-z_][\w-]*):\s*(.*?)\s*$", re.M)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.M)
_ID = re.compile(r"[0-9a-f]{64}")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_TYPED = re.compile(rf"^- ({'|'.join(sorted(EDGE_TYPES))}) \[\[([^\[\]\n]{{1,200}})\]\].*$", re.M)
LINKS = "<!-- links -->"
"""Below this mark a vault tells the edges of a note by their types."""
_DATES = ("date", "created", "created_at", "updated")


def files(folder: Path) -> list[Path]:
    """The Markdown files of a folder, or the one file itself."""
    if folder.is_file():
        return [folder]
    found = [p for p in folder.rglob("*") if p.suffix.lower() in (".md", ".markdown") and p.is_file()]
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def read_folder(folder: Path) -> Iterator[Item]:
    """One note a file, then the links between them."""
    read: dict[str, tuple[KnownItem, str]] = {}
    for path in files(folder):
        name = path.name if folder.is_file() else path.relative_to(folder).as_posix()
        try:
            text = path.read_text("utf-8")
            note = _note(path, name, text)
        except (OSError, ValueError) as error:
            yield Bad(name, told(error) if isinstance(error, ValueError) else str(error))
            continue
        read[name] = (note, text)
        yield note
    called = {key: _known_as(note) for name, (note, _) in read.items() for key in _keys(name, note)}
    for name, (note, text) in read.items():
        yield from _links(name, note, text, called)


def _known_as(note: KnownItem) -> str:
    return note.id or note.source_id


def _keys(name: str, note: KnownItem) -> tuple[str, ...]:
    """What a link may call a note: its title, its file, its path."""
    path = Path(name)
    return tuple(key.casefold() for key in (note.name, path.stem, name, name.removesuffix(path.suffix)))


def _links(name: str, note: KnownItem, text: str, called: dict[str, str]) -> Iterator[Item]:
    """The edges that a file tells of: by type below the mark, and as `relates_to` in its words."""
    front, rest = _front(text)
    body, below = _words(rest), rest.partition(LINKS)[2]
    typed = [(kind, target) for kind, target in _TYPED.findall(below) if kind in AGENT_EDGES]
    plain = [("relates_to", target) for target in _LINK.findall(body)]
    all_told = set()
    for kind, target in dict.fromkeys([*typed, *plain]):
        wanted = called.get(target.partition("|")[0].partition("#")[0].strip().casefold())
        if wanted is None:
            yield LeftOut("links to notes that are not there")
        elif wanted != _known_as(note):
            all_told.add((kind, wanted))
            yield JoinedItem(f"{name}, [[{target}]]", _known_as(note), kind, wanted)
    if note.id and (seen := _date(front.get("seen"))):
        yield Linked(name, note.id, frozenset(all_told), frozenset(called.values()), seen)


def _note(path: Path, name: str, text: str) -> KnownItem:
    front, body = _front(text)
    body = _words(body)
    heading = _HEADING.search(body)
    title = front.get("title") or (heading[1] if heading else "") or path.stem
    began = next((front[key] for key in _DATES if front.get(key)), None)
    changed = path.stat().st_mtime
    metadata: Metadata = {"path": name, **{key: front[key] for key in ("tags",) if front.get(key)}}
    kind = front.get("type", "")
    return KnownItem(
        name, f"markdown:{name}", kind if kind in AGENT_TYPES else "reference", title, body.strip(),
        _date(began) or when(changed), when(changed), metadata,
        id=front.get("id", "") if _ID.fullmatch(front.get("id", "")) else "",
    )  # fmt: skip


def _words(rest: str) -> str:
    """What a file says: all but its list of typed links, and also what was written below that list."""
    body, _, below = rest.partition(LINKS)
    written = _TYPED.sub("", below).strip()
    return f"{body.rstrip()}\n\n{written}" if written else body


def _front(text: str) -> tuple[dict[str, str], str]:
    """The `key: value` lines at the top, and the rest."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    pairs = {key.lower(): value.strip("\"'") for key, value in _PAIR.findall(found[1])}
    return pairs, text[found.end() :]


def _date(text: str | None) -> When | None:
    """A date of the front matter; one that cannot be read is as good as none."""
    try:
        return when(text)
    except ValueError:
        return None
