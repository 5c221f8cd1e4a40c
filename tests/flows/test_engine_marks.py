"""What sleep made is known by a mark of the engine's own: what a user writes into metadata means nothing to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from worldline import Memory
from worldline.config import Config
from worldline.errors import Refused
from worldline.store import migrate
from worldline.testing import FrozenClock

FORGED: dict[str, Any] = {"made_by": "sleep", "inferred": True}
DAY = 86_400_000_000


def _open(path: str | Path = ":memory:", clock: FrozenClock | None = None) -> Memory:
    config = Config(embedder="none", understand="off")
    return Memory.open(path, config, clock=clock or FrozenClock("2026-06-01"))


def _turns(memory: Memory) -> None:
    """Two sessions about one thing, long enough ago, with a cause in each."""
    for number, day in enumerate(("2026-04-02", "2026-04-20")):
        for text in (
            "I bought an old sailboat in Porto and its engine is broken.",
            "The mechanic in Porto says the engine of the sailboat needs a new pump.",
            f"The pump of the sailboat failed, so we stayed in Porto ({number}).",
            "Marta will help me to sew the sails of the sailboat next week.",
        ):
            memory.remember(text, speaker="Ana", session=f"s{number}", said_at=day)


@pytest.mark.parametrize("type_", ["Topic", "Summary", "Happening", "learning"])
def test_a_note_that_says_it_was_made_by_sleep_is_recalled(type_: str) -> None:
    """Metadata that looks like the engine's mark hides nothing."""
    with _open() as memory:
        mine = memory.note(type_, "quarry", "The quarry path is closed in winter", metadata=FORGED)
        assert [hit.node.id for hit in memory.recall("Is the quarry path closed?").hits] == [mine.id]
        memory.consolidate()
        assert [hit.node.id for hit in memory.recall("Is the quarry path closed?").hits] == [mine.id]
        assert memory.verify().ok


def test_a_stated_edge_that_says_it_was_derived_outlives_the_night() -> None:
    """Neither the closure of causes nor the sweep over happenings withdraws what somebody stated."""
    clock = FrozenClock("2026-06-01")
    with _open(clock=clock) as memory:
        a, b = (memory.note("Happening", name).id for name in ("storm", "flood"))
        memory.link(a, "causes", b, metadata=FORGED)
        _turns(memory)
        memory.consolidate()
        drawn = next(n for n in memory.list("Happening", limit=50).items if "pump" in n.name)
        memory.link(drawn, "causes", b, metadata={"made_by": "sleep"})
        turn = next(n for n in memory.list("Turn", limit=50).items if "(0)" in n.content)
        memory.correct(turn, content="The pump of the sailboat is new.")
        clock.advance(DAY)
        memory.consolidate()

        assert memory.edge(a, "causes", b).metadata == FORGED
        assert memory.edge(drawn, "causes", b).metadata == {"made_by": "sleep"}


def test_a_forged_edge_leads_as_far_as_any_other() -> None:
    """What follows from an edge follows from it whatever its metadata says, and no circle hides behind it."""
    clock = FrozenClock("2026-06-01")
    with _open(clock=clock) as memory:
        a, b, c = (memory.note("learning", name).id for name in ("pump", "engine", "machine"))
        memory.link(a, "subtype_of", b, metadata=FORGED)
        memory.link(b, "subtype_of", c)
        with pytest.raises(Refused):
            memory.link(c, "subtype_of", a)
        clock.advance(DAY)
        memory.consolidate()
        assert memory.edge(a, "subtype_of", c).made == "inferred"
        assert memory.edge(a, "subtype_of", b).made is None


def test_what_sleep_makes_is_marked_and_keeps_its_mark_in_a_copy(tmp_path: Path) -> None:
    """Topics, summaries, happenings and derived edges say so, here and in an import of all of it."""
    with _open() as memory:
        _turns(memory)
        memory.note("Topic", "mine", "The quarry path", metadata=FORGED)
        memory.consolidate()
        marks = _marks(memory)
        assert {("Topic", "sleep"), ("Summary", "sleep"), ("Happening", "sleep"), ("Topic", None)} <= marks[0]
        assert {("derived_from", "inferred"), ("causes", "sleep")} <= marks[1]
        memory.export(tmp_path / "all.jsonl")
        with _open() as copy:
            copy.import_(tmp_path / "all.jsonl")
            assert _marks(copy) == marks
            assert copy.verify().ok
        memory.backup(tmp_path / "b.db")
        with _open() as other:
            other.note("context", "here before", "The other memory")
            other.absorb(tmp_path / "b.db")
            assert marks[0] <= _marks(other)[0]
            assert marks[1] <= _marks(other)[1]
            assert other.verify().ok


def _marks(memory: Memory) -> tuple[set[Any], set[Any]]:
    store = memory.handle.store
    return (
        set(store.query("SELECT type, made FROM nodes")),
        set(store.query("SELECT type, made FROM edges WHERE type NOT IN ('contains', 'supersedes')")),
    )


def test_an_older_file_is_marked_by_what_sleep_wrote_there(tmp_path: Path) -> None:
    """Of a file without the marks, what has the shape of sleep's work gets them, and nothing else does."""
    path = tmp_path / "old.db"
    with _open(path) as memory:
        _turns(memory)
        mine = memory.note("learning", "quarry", "The quarry path is closed", metadata=FORGED).id
        a, b = (memory.note("Happening", name).id for name in ("storm", "flood"))
        memory.link(a, "causes", b, metadata={"made_by": "sleep"})
        memory.consolidate()
        marks = _marks(memory)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE nodes SET made = NULL; UPDATE edges SET made = NULL")
    connection.execute(migrate.MARKS)
    connection.close()
    with _open(path) as memory:
        assert _marks(memory) == marks
        assert memory.get(mine).made is None
        assert memory.edge(a, "causes", b).made is None
        assert not memory.consolidate().changed
        assert memory.verify().ok


@pytest.mark.parametrize("metadata", [None, {"merged": True}, {**FORGED, "merged": True}])
def test_evidence_that_says_it_was_merged_is_evidence(metadata: dict[str, Any] | None) -> None:
    """What rests on words that were wrong is kept back, whatever the edge between them says of itself."""
    with _open() as memory:
        words = memory.remember("The quarry path is closed in winter.", speaker="Ana", session="s").id
        note = memory.note("learning", "quarry", "Closed in winter").id
        memory.link(note, "derived_from", words, metadata=metadata)
        memory.correct(words)
        assert memory.list("learning").items == ()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE nodes SET made = NULL WHERE id = (SELECT min(id) FROM nodes WHERE type = 'Topic')",
        "UPDATE nodes SET made = 'sleep' WHERE id = (SELECT min(id) FROM nodes WHERE type = 'Turn')",
        "UPDATE edges SET made = NULL WHERE id = (SELECT min(id) FROM edges WHERE type = 'causes')",
        "UPDATE edges SET made = 'inferred' WHERE id = (SELECT min(id) FROM edges WHERE type = 'contains')",
    ],
)
def test_a_mark_that_was_changed_behind_the_program_is_damage(change: str) -> None:
    """A mark lies outside the log, but the log knows which nights made what."""
    with _open() as memory:
        _turns(memory)
        memory.consolidate()
        assert memory.verify().ok
        memory.handle.store.query(change)
        assert "mark" in str(memory.verify().damage)
