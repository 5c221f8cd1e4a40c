"""A secret that comes through any door of a memory is in none of its files, and the receipt says so."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from worldline import Config, Event, Fact, Memory, Scope
from worldline.errors import InvalidInput
from worldline.langgraph import WorldlineStore
from worldline.surfaces import rest, tools
from worldline.surfaces.anthropic import MemoryTool
from worldline.surfaces.cli import main
from worldline.surfaces.mcp_tools import Desk
from worldline.surfaces.mcp_tools import amend as mcp_amend
from worldline.surfaces.mcp_tools import write as mcp_write
from worldline.write.given import Note

KEY = "ghp_" + "a1B2c3D4e5F6" * 3
SAID = f"the deploy key is {KEY} for now"
Door = Callable[[Memory, Path], Any]


def _note(memory: Memory) -> Any:
    return memory.note("context", "Deploys", "by hand")


def _file(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def _two(memory: Memory) -> tuple[Any, Any]:
    return memory.note("context", "A", "a"), memory.note("context", "B", "b")


def _link(memory: Memory, folder: Path) -> Any:
    a, b = _two(memory)
    return memory.link(a, "relates_to", b, metadata={"with": SAID})


def _rest(path: str, **body: Any) -> Door:
    def door(memory: Memory, folder: Path) -> Any:
        found = next(r for r in rest.ROUTES if r.path == path and r.method == "POST")
        return found.run(memory, rest.parse(found, body, {}))

    return door


def _shell(memory: Memory, folder: Path) -> Any:
    done = CliRunner().invoke(main, ["remember", SAID, "--db", str(folder / "me.db")])
    assert done.exit_code == 0, done.output
    assert "redacted: github token" in done.output


DOORS: dict[str, Door] = {
    "text": lambda m, f: m.remember(SAID),
    "event": lambda m, f: m.remember(Event("hello there", source=SAID, recipient=SAID, category=SAID)),
    "messages": lambda m, f: m.remember(messages=[{"role": "user", "content": SAID}]),
    "speaker": lambda m, f: m.remember("hello there", speaker=KEY),
    "session": lambda m, f: m.remember("hello there", session=KEY),
    "bound session": lambda m, f: m.scoped(session=KEY).remember("hello there"),
    "external id": lambda m, f: m.remember("hello there", external_id=KEY),
    "metadata": lambda m, f: m.remember("hello there", metadata={"a": [{"b": SAID}], KEY: 1}),
    "facts with words": lambda m, f: m.remember(
        "hello there", facts=[{"subject": "user", "relation": "uses", "object": KEY}]
    ),
    "fact": lambda m, f: m.fact(Fact("user", "deploys with", KEY)),
    "note": lambda m, f: m.note("context", "Deploys", SAID),
    "name": lambda m, f: m.note("context", KEY, "by hand"),
    "note metadata": lambda m, f: m.note("context", "Deploys", "by hand", metadata={"key": KEY}),
    "amend": lambda m, f: m.amend(_note(m), SAID),
    "amend name": lambda m, f: m.amend(_note(m), name=KEY),
    "correct": lambda m, f: m.correct(_note(m), SAID),
    "reason": lambda m, f: m.retire(_note(m), reason=SAID),
    "quarantine": lambda m, f: m.quarantine(_note(m), SAID),
    "confirm": lambda m, f: m.confirm(_note(m), SAID),
    "pin": lambda m, f: m.pin(_note(m), SAID),
    "link": _link,
    "load": lambda m, f: m.load([Note("context", "Deploys", SAID, metadata={"a": KEY})]),
    "chat import": lambda m, f: m.import_(_file(f, "c.jsonl", json.dumps({"role": "user", "content": SAID}))),
    "mem0 import": lambda m, f: m.import_(_file(f, "memories.json", [{"id": "1", "memory": SAID}])),
    "graph import": lambda m, f: m.import_(
        _file(
            f,
            "memory.jsonl",
            json.dumps({"type": "entity", "name": "Acme", "entityType": "x", "observations": [SAID]}),
        )
    ),
    "markdown import": lambda m, f: m.import_(_file(f, "n.md", f"# Deploys\n\n{SAID}\n")),
    "MCP write": lambda m, f: mcp_write(Desk(m.as_agent()), type="said", content=SAID),
    "MCP note": lambda m, f: mcp_write(Desk(m.as_agent()), type="context", content=SAID),
    "MCP amend": lambda m, f: mcp_amend(m.as_agent(), _note(m).id, SAID),
    "REST remember": _rest("/v1/remember", text=SAID),
    "REST note": _rest("/v1/notes", type="context", name="Deploys", content=SAID),
    "tools": lambda m, f: tools.call(m, "note", {"type": "context", "name": "Deploys", "content": SAID}),
    "LangGraph": lambda m, f: WorldlineStore(m).put(("a",), "key", {"text": SAID}),
    "Anthropic": lambda m, f: MemoryTool(m).execute(
        {"command": "create", "path": "/memories/a.txt", "file_text": SAID}
    ),
    "shell": _shell,
}


@pytest.mark.parametrize("door", DOORS)
def test_no_door_lets_a_secret_into_the_files(door, tmp_path):
    """After a write and a night, no byte of the store or its side files holds the key."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        done = DOORS[door](memory, tmp_path)
        memory.consolidate()
        stored = memory.changes()
    told = getattr(done, "redacted", None)

    assert stored
    assert told is None or door == "bound session" or "github token" in told
    for path in tmp_path.glob("me.db*"):
        assert KEY.encode() not in path.read_bytes(), path.name


def test_a_key_is_no_name_of_a_scope(tmp_path):
    """Two keys must not become one scope, so such a name is refused and nothing is stored."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        for bind in (lambda: memory.scoped(user=KEY), lambda: memory.shared_with(Scope(agent=KEY))):
            with pytest.raises(InvalidInput, match="looks like a secret"):
                bind()
        report = memory.import_(
            _file(tmp_path, "memories.json", [{"id": "1", "memory": "likes tea", "user_id": KEY}])
        )

    assert report.stored == 0
    assert "looks like a secret" in report.skipped[0].reason


def test_a_copy_with_secrets_is_taken_as_it_is_or_not_at_all(tmp_path):
    """A copy's hashes name its words, so a line with a secret is skipped and told, unless redact is off."""
    open_ = Config(embedder="none", redact=False)
    with Memory.open(tmp_path / "old.db", open_) as memory:
        memory.note("context", "Deploys", SAID)
        memory.note("context", "Tea", "green")
        memory.export(tmp_path / "copy.jsonl")
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        report = memory.import_(tmp_path / "copy.jsonl")
        assert {node.name for node in memory.list().items} == {"Tea"}
    with Memory.open(tmp_path / "same.db", open_) as memory:
        memory.import_(tmp_path / "copy.jsonl")
        assert {node.name for node in memory.list().items} == {"Tea", "Deploys"}

    assert any("github token" in bad.reason for bad in report.skipped)
    assert KEY.encode() not in (tmp_path / "me.db").read_bytes()


def test_a_secret_is_known_by_the_name_beside_it(tmp_path):
    """In metadata and in facts, a password is one by its key or its relation."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        memory.note("context", "Router", "in the hall", metadata={"password": "hunter-zwei"})
        memory.fact({"subject": "user", "relation": "password", "object": "hunter-zwei"})

    assert b"hunter-zwei" not in (tmp_path / "me.db").read_bytes()


def test_every_verb_that_writes_is_behind_the_door():
    """A new verb that gives a receipt goes through `redacting`, or stands here with its reason."""
    looks_itself = {"remember", "load"}
    takes_no_text = {
        "accept_merge", "reject_merge", "undo_merge", "feedback", "resume", "undo", "unpin",
    }  # fmt: skip
    verbs = {
        name: verb
        for name, verb in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_") and "Receipt" in str(inspect.signature(verb).return_annotation)
    }
    open_ = {name for name, verb in verbs.items() if not hasattr(verb, "__wrapped__")}

    assert open_ == looks_itself | takes_no_text
