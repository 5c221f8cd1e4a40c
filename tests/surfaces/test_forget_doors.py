"""Erasing from every surface: the shell asks, tools and routes want an explicit word, a scope cannot be left."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from worldline import Memory
from worldline.config import Config
from worldline.errors import Refused
from worldline.model import Scope
from worldline.surfaces import rest
from worldline.surfaces.cli import main
from worldline.surfaces.mcp_tools import MORE, Desk


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store with a text of Ann and one of Bob."""
    path = tmp_path / "m.db"
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.scoped(user="ann").remember("The word is gallimaufry.", speaker="Ann")
        memory.scoped(user="bob").remember("The word is bibelot.", speaker="Bob")
    return path


def held(path: Path) -> bytes:
    """All bytes of a store."""
    return b"".join(found.read_bytes() for found in path.parent.iterdir() if found.name.startswith(path.name))


def run(path: Path, *args: str, code: int = 0) -> Any:
    """A verb of the shell, its answer as JSON."""
    done = CliRunner().invoke(main, [*args, "--db", str(path), "--json"], env={"WORLDLINE_EMBEDDER": "none"})
    assert done.exit_code == code, done.output
    return msgspec.json.decode(done.stdout)


def told(payload: Any) -> dict[str, Any]:
    """The structured part of a tool's answer."""
    found: dict[str, Any] = msgspec.to_builtins(payload["structuredContent"])
    return found


def test_the_shell_counts_asks_and_erases(db: Path) -> None:
    """A dry run counts, without --yes nothing happens, with it nothing is left."""
    assert run(db, "forget", "--user", "ann", "--dry-run")["memories"] == 1
    assert "cannot be taken back" in run(db, "forget", "--user", "ann", code=1)["error"]["message"]
    assert b"gallimaufry" in held(db)
    assert run(db, "forget", "--user", "ann", "--yes")["swept"]
    assert b"gallimaufry" not in held(db)
    assert b"bibelot" in held(db)
    assert run(db, "verify")["ok"]


def test_an_agent_says_erase(db: Path) -> None:
    """Without the word, memory_forget only counts; a whole store is never erased."""
    with Memory.open(db, Config(embedder="none")) as memory:
        forget = next(tool for tool in MORE if tool.name == "memory_forget").answer
        desk = Desk(memory.as_agent())
        assert told(forget(desk, {"user": "ann"}))["erased"] is False
        assert b"gallimaufry" in held(db)
        with pytest.raises(Refused):
            forget(desk, {"confirm": "erase"})
        with pytest.raises(Refused):
            forget(Desk(memory.confined(Scope(user="bob"))), {"user": "ann", "confirm": "erase"})
        assert told(forget(desk, {"user": "ann", "confirm": "erase"}))["erased"]
    assert b"gallimaufry" not in held(db)


def test_a_route_wants_confirmation(db: Path) -> None:
    """POST /v1/forget erases what is named, once it is confirmed."""
    with Memory.open(db, Config(embedder="none")) as memory:
        ann = memory.scoped(user="ann")
        said = ann.recall("word").hits[0].node.id
        with pytest.raises(Refused):
            rest.forget(ann, ids=[said])
        assert rest.forget(ann, ids=[said], confirm=True).memories == 1
    assert b"gallimaufry" not in held(db)
