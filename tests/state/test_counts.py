"""How much there is: counted once between two writes, and never what it was before."""

from pathlib import Path

from worldline import Config, Memory
from worldline.store.sqlite import SqliteStore
from worldline.testing import FrozenClock

PLAIN = Config(embedder="none", understand="off")


def fresh(path: Path, clock: FrozenClock, user: str = "") -> dict:
    """What a process says that has counted nothing yet."""
    with Memory.open(path, PLAIN, clock=clock) as memory:
        return (memory.scoped(user=user) if user else memory).stats()


def test_what_is_kept_in_mind_is_what_would_be_counted(tmp_path: Path) -> None:
    """After a write, an erasure, another process's write, and when something ends or begins, the counts are new."""
    path, clock = tmp_path / "m.db", FrozenClock("2026-01-01")
    with Memory.open(path, PLAIN, clock=clock) as memory:
        ana = memory.scoped(user="ana")
        seen = []

        def look() -> None:
            for handle, user in ((memory, ""), (ana, "ana")):
                told = handle.stats()
                assert told == handle.stats() == fresh(path, clock, user)
                seen.append(told)

        ana.note("context", "tea", "Ana drinks tea.", valid_to="2026-03-01")
        memory.note("context", "later", "From May on.", valid_from="2026-05-01")
        look()
        clock.set("2026-04-01")
        look()
        clock.set("2026-06-01")
        look()
        with Memory.open(path, PLAIN, clock=clock) as other:
            gone = other.scoped(user="ana").note("context", "coffee", "Ana drinks coffee.")
        look()
        ana.forget(gone.id, confirm=True)
        look()
    assert len({str(told["visible"]) for told in seen[::2]}) > 2


def test_nothing_is_counted_twice(tmp_path: Path, monkeypatch) -> None:
    """A second look at the same state reads neither beliefs nor edges."""
    with Memory.open(tmp_path / "m.db", PLAIN) as memory:
        memory.note("context", "tea", "Ana drinks tea.")
        memory.stats()
        asked: list[str] = []
        plain = SqliteStore.query
        monkeypatch.setattr(
            SqliteStore, "query", lambda self, sql, args=(): asked.append(sql) or plain(self, sql, args)
        )
        memory.stats()
    assert asked
    assert not [sql for sql in asked if "GROUP BY" in sql]


def test_what_was_written_since_is_all_that_is_counted(tmp_path: Path, monkeypatch) -> None:
    """After notes, links, amendments, ends and undone writes the counts are right without a look at everything."""
    path, clock = tmp_path / "m.db", FrozenClock("2026-01-01")
    asked: list[str] = []
    plain = SqliteStore.query
    with Memory.open(path, PLAIN, clock=clock) as memory:
        ana = memory.scoped(user="ana")
        tea = ana.note("context", "tea", "Ana drinks tea.", valid_from="2025-11-01").id
        cup = memory.note("context", "cup", "A blue cup.").id
        kept = [handle.stats() for handle in (memory, ana)]
        last: list = []
        writes = [
            lambda: last.append(ana.note("context", "coffee", "Ana drinks coffee.")),
            lambda: ana.amend(tea, "Ana drinks green tea.", valid_from="2025-12-01"),
            lambda: last.append(
                memory.link(cup, "relates_to", memory.note("context", "shelf", "A shelf.").id)
            ),
            lambda: memory.correct(cup, "A red cup."),
            lambda: ana.retire(tea, when="2025-12-24"),
            lambda: memory.undo(last[1]),
            lambda: memory.note("context", "later", "From May on.", valid_from="2026-05-01"),
        ]
        for write in writes:
            write()
            monkeypatch.setattr(
                SqliteStore, "query", lambda self, sql, args=(): asked.append(sql) or plain(self, sql, args)
            )
            told = [handle.stats() for handle in (memory, ana)]
            monkeypatch.setattr(SqliteStore, "query", plain)
            assert told == [fresh(path, clock), fresh(path, clock, "ana")]
            assert told != kept
            kept = told
    assert asked
    assert not [sql for sql in asked if "GROUP BY" in sql and " u CROSS JOIN " not in sql]
