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
