"""Sleep as a whole: what it may and may not do, whatever the passes are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldline import Memory
from worldline.config import Config
from worldline.consolidate import Arrow, NewLines, Night, Pass, Plan, run
from worldline.errors import InvalidInput, ReadOnly, Refused
from worldline.ports import View
from worldline.surfaces import serving
from worldline.testing import HashEmbedder


def _count(view: View, night: Night) -> Plan:
    """A small pass: a topic that counts the turns it has seen."""
    turns = night.news.of("Turn")
    if not turns:
        return Plan()
    named = view.nodes("b.type = 'Topic' AND n.name = 'count'")
    seen = int(named[0].content) if named else 0
    evidence = tuple(Arrow("derived_from", turn.line) for turn in turns)
    line = named[0].line if named else 0
    return Plan((NewLines("Topic", "count", str(seen + len(turns)), line=line, edges=evidence),))


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sleep has one pass, which counts."""
    monkeypatch.setattr(run, "PASSES", (Pass("count", "counts turns", _count),))
    return


def _counts(memory: Memory) -> list[str]:
    return [node.content for node in memory.list("Topic").items]


def _log(memory: Memory) -> list[tuple[object, ...]]:
    return memory.handle.store.query("SELECT sequence, kind, hash FROM log ORDER BY tenant, sequence")


@pytest.mark.usefixtures("counting")
def test_a_second_night_changes_nothing() -> None:
    """What was thought over once is not thought over again, and leaves no changeset."""
    with Memory.open(":memory:") as memory:
        memory.remember("I moved to Porto.")
        memory.remember("I bought a boat.")
        assert memory.consolidate().changed
        before = _log(memory)
        assert not memory.consolidate().changed
        assert _log(memory) == before
        memory.remember("The boat leaks.")
        assert memory.consolidate().changed
        assert _counts(memory) == ["3"]
        assert memory.verify().ok


@pytest.mark.usefixtures("counting")
def test_a_dry_run_changes_nothing_and_says_what_would() -> None:
    """A dry night tells its changes; the next real one makes them."""
    with Memory.open(":memory:") as memory:
        memory.remember("I moved to Porto.")
        before = _log(memory)
        dry = memory.consolidate(dry_run=True)
        assert dry.changed
        assert dry.dry_run
        assert _log(memory) == before
        assert memory.list("Topic").items == ()
        wet = memory.consolidate()
        assert [slept.changes for slept in wet.passes] == [slept.changes for slept in dry.passes]


@pytest.mark.usefixtures("counting")
def test_owners_are_thought_of_apart() -> None:
    """What is made of one user's memories belongs to that user, all runs together."""
    with Memory.open(":memory:") as memory:
        memory.remember("Shared.")
        memory.scoped(user="ann", run="1").remember("Ann said this.")
        memory.scoped(user="ann", run="2").remember("Ann said that.")
        memory.scoped(user="bob").remember("Bob said this.")
        memory.scoped(run="alone").remember("Nobody in particular said this.")
        memory.consolidate()
        assert _counts(memory.scoped(user="ann")) == ["2"]
        assert _counts(memory.scoped(user="bob")) == ["1"]
        assert _counts(memory.scoped(run="alone")) == ["1"]
        assert _counts(memory.scoped(user="eve")) == []
        assert memory.verify().ok


@pytest.mark.usefixtures("counting")
def test_a_bound_handle_thinks_of_its_own_only() -> None:
    """A user's own night leaves the others for later, and is not done again then."""
    with Memory.open(":memory:") as memory:
        memory.scoped(user="ann", run="1").remember("Ann said this.")
        memory.scoped(user="ann").remember("Ann said that.")
        memory.scoped(user="bob").remember("Bob said this.")
        memory.scoped(user="ann", run="1").consolidate()
        assert _counts(memory) == ["2"]
        memory.consolidate()
        assert _counts(memory.scoped(user="ann")) == ["2"]
        assert _counts(memory.scoped(user="bob")) == ["1"]
        assert not memory.consolidate().changed


def test_a_write_between_plan_and_commit_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A plan that somebody overtook is made again, so that it never rests on what is over."""
    path = tmp_path / "m.db"
    with Memory.open(path) as memory, Memory.open(path) as other:
        looks: list[int] = []

        def plan(view: View, night: Night) -> Plan:
            notes = view.nodes("b.type = 'learning'")
            looks.append(len(notes))
            if len(looks) < 3:
                other.note("learning", f"overtaking {len(looks)}")
            return Plan((NewLines("Topic", "count", str(len(notes))),))

        monkeypatch.setattr(run, "PASSES", (Pass("count", "counts notes", plan),))
        memory.note("learning", "first")
        memory.consolidate()
        assert looks == [1, 2, 3]
        assert _counts(memory) == ["3"]


@pytest.mark.usefixtures("counting")
def test_undoing_a_night(tmp_path: Path) -> None:
    """The report names the changeset of each pass; a receipt of it takes the pass back."""
    from worldline.model import Receipt

    with Memory.open(tmp_path / "m.db") as memory:
        memory.remember("I moved to Porto.")
        (slept,) = memory.consolidate().passes
        assert slept.known_at is not None
        memory.undo(Receipt("sleep", None, True, slept.known_at))
        assert _counts(memory) == []
        assert memory.verify().ok


@pytest.mark.parametrize("wrong", ["topics", ["nonsense"], [""], 5, b"topics", [None]])
def test_unknown_passes_are_named(wrong: object) -> None:
    """A pass that does not exist is an error that lists those that do."""
    with Memory.open(":memory:") as memory, pytest.raises(InvalidInput, match="passes"):
        memory.consolidate(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, 1001, None, "ten", 1.5, True])
def test_a_wrong_number_of_episodes_is_said(wrong: object) -> None:
    """Episodes are asked for by a whole number."""
    with Memory.open(":memory:") as memory, pytest.raises(InvalidInput, match="episodes"):
        memory.episodes(limit=wrong)  # type: ignore[arg-type]


def test_sleep_is_for_a_whole_memory_and_for_now() -> None:
    """A handle on another moment or inside a world refuses, and says which one to use."""
    with Memory.open(":memory:") as memory:
        world = memory.note("project", "house")
        with pytest.raises(ReadOnly, match="moment"):
            memory.at(known="2020-01-01").consolidate()
        with pytest.raises(Refused, match="whole memory"):
            memory.enter(world).consolidate()


@pytest.mark.usefixtures("counting")
def test_the_watch_sleeps_for_every_tenant_and_ends(tmp_path: Path) -> None:
    """A server's watch sleeps now and then, for all tenants, and ends with the server."""
    path = tmp_path / "m.db"
    done = threading.Event()
    with Memory.open(path, Config(embedder="none")) as memory, Memory.open(path, tenant="b") as second:
        memory.remember("I moved to Porto.")
        second.remember("I moved to Rome.")
        with serving.watch(memory, 0.001):
            for _ in range(200):
                if _counts(memory) and _counts(second):
                    done.set()
                    break
                done.wait(0.05)
        assert done.is_set()
        assert "sleep" not in [thread.name for thread in threading.enumerate()]


def test_a_night_changes_no_answer_about_an_earlier_moment() -> None:
    """What recall says as of a known moment is the same before and after sleep: texts, order and scores."""
    with Memory.open(":memory:", embedder=HashEmbedder()) as memory:
        for number, line in enumerate(
            (
                "I lost my job at the mill in Porto.",
                "We moved to Lisbon because I lost my job at the mill.",
                "My sister Ana married in Lisbon.",
                "The mill in Porto burned down.",
            )
        ):
            memory.remember(line, speaker="Maria", session=f"s{number % 2}", said_at=f"2026-01-0{number + 1}")
        questions = ("Why did Maria move?", "When did Ana marry?", "What about the mill?")
        moment = memory.remember("The end.", speaker="Maria", said_at="2026-01-09").known_at
        then = memory.at(known=moment)
        before = [[(hit.node.id, hit.score) for hit in then.recall(q).hits] for q in questions]
        assert memory.consolidate().changed
        assert [[(hit.node.id, hit.score) for hit in then.recall(q).hits] for q in questions] == before
        assert all(before)
