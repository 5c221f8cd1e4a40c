"""SIGKILL at random moments: nothing acknowledged is lost, nothing is half-written or doubled."""

import sqlite3
from datetime import date
from pathlib import Path

import pytest
from crashing import kill_loaders, kill_writers

from worldline.config import Config
from worldline.errors import InvalidInput
from worldline.memory import Memory
from worldline.model import Event, Fact, Predicate
from worldline.write import remember

GIVEN = Config(embedder="none", understand="off")
"""Only the facts that are given, none that are read from the words."""


def test_killed_writers_lose_nothing(tmp_path: Path) -> None:
    """Eight kills: every acknowledged event is there, verify is clean, resume completes the rest once."""
    acknowledged = 0
    for attempt in range(3):  # on a busy machine eight writers may be killed before they have written much
        acknowledged += kill_writers(tmp_path / f"{attempt}.db", kills=8, seed=attempt)
        if acknowledged > 8:
            return
    raise AssertionError(acknowledged)


def test_killed_loads_are_whole_or_absent(tmp_path: Path) -> None:
    """A bulk load that is killed leaves none of its notes, and all of its indexes."""
    kill_loaders(tmp_path / "m.db", kills=4, size=400)


def _leave_pending(memory: Memory, text: str, facts: list[Fact], said_at: str | None = None) -> str:
    """An event as it stays when what it says could not be settled."""
    left = remember.Pending(memory.handle.scopes, memory.handle.world, tuple(facts))
    receipt = remember.Intake(memory.handle, [Event(text, said_at=said_at)], left).kept()
    return receipt.id or ""


def test_resume_finishes_each_event_once(tmp_path: Path) -> None:
    """Pending events are completed by resume, by a repeated call, or by both, with one result."""
    with Memory.open(tmp_path / "m.db", GIVEN) as memory:
        memory.register(Predicate("lives_in", functional=True))
        facts = [Fact("Ann", "lives_in", "Oslo")]
        id_ = _leave_pending(memory, "Ann lives in Oslo", facts)
        assert memory.list("Fact").items == ()
        assert memory.remember("Ann lives in Oslo", facts=facts).id == id_
        assert memory.resume() == ()
        _leave_pending(memory, "Ann moved to Rome", [Fact("Ann", "lives_in", "Rome")])
        assert [receipt.changed for receipt in memory.resume()] == [True]
        assert [node.content for node in memory.list("Fact").items] == ["Ann lives_in Rome"]
        assert memory.why(memory.list("Fact").items[0]).events[0].content == "Ann moved to Rome"
        assert memory.verify().ok


def test_resume_keeps_scope_and_world(tmp_path: Path) -> None:
    """Facts that are completed later belong to the event's scope and world, whoever resumes them."""
    with Memory.open(tmp_path / "m.db") as memory:
        world = memory.note("project", "house")
        ann = memory.scoped(user="ann", session="morning").enter(
            memory.scoped(user="ann").note("project", "flat")
        )
        _leave_pending(ann, "Ann has a cat", [Fact("Ann", "has", "a cat")])
        assert len(memory.resume()) == 1
        assert [node.content for node in ann.list("Fact").items] == ["Ann has a cat"]
        assert memory.scoped(user="bob").list("Fact").items == ()
        assert memory.enter(world).list("Fact").items == ()
        assert memory.verify().ok


def test_the_same_words_in_two_scopes_are_both_finished(tmp_path: Path) -> None:
    """An event said in two scopes leaves two drafts behind, and resume completes both."""
    with Memory.open(tmp_path / "m.db", GIVEN) as memory:
        for user in ("ann", "bob"):
            given = [Fact("shop", "is", literal=user, valid_from=date(2026, 1, 2))]
            _leave_pending(memory.scoped(user=user), "the shop is shut", given, "2026-01-03")
        assert len(memory.list("Turn").items) == 1
        assert len(memory.scoped(user="bob").resume()) == 1
        assert len(memory.resume()) == 1
        assert memory.resume() == ()
        for user in ("ann", "bob"):
            assert [n.content for n in memory.scoped(user=user).list("Fact").items] == [f"shop is {user}"]


def test_bad_facts_do_not_block_the_rest(tmp_path: Path) -> None:
    """A draft that can never be stored is given up; its words stay, and later events are completed."""
    with Memory.open(tmp_path / "m.db") as memory:
        _leave_pending(memory, "nonsense", [Fact("a", "b")])
        _leave_pending(memory, "sense", [Fact("a", "b", "c")])
        memory.resume()
        assert memory.resume() == ()
        assert [node.content for node in memory.list("Fact").items] == ["a b c"]
        with pytest.raises(InvalidInput):
            memory.remember("more nonsense", facts=[Fact("a", "b")])
        assert memory.resume() == ()
        assert len(memory.list("Turn").items) == 3


def test_the_file_is_readable_without_worldline(tmp_path: Path) -> None:
    """Any SQLite tool opens the file, with its words, after a crash or not."""
    with Memory.open(tmp_path / "m.db") as memory:
        memory.remember("the quick brown fox")
        plain = sqlite3.connect(tmp_path / "m.db")
        assert plain.execute("SELECT content FROM nodes WHERE type = 'Turn'").fetchall() == [
            ("the quick brown fox",)
        ]
        plain.close()
