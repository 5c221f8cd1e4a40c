"""Many processes and threads on one store: no lost write, no error, fair turns, whole snapshots."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from contention import race
from workers import QUICK, end, start

from worldline.errors import StoreBusy, StoreError
from worldline.memory import Memory


def test_eight_processes_write_one_file(tmp_path: Path) -> None:
    """Eight writers and two readers: all events there, nobody sees an error, nobody starves."""
    results = []
    for attempt in range(3):  # on a busy machine one short race may be lost by chance; starving is no chance
        results.append(race(tmp_path / f"{attempt}.db", writers=8, writes=60))
        assert results[-1].acknowledged == 480
        assert results[-1].looks > 2
        if results[-1].fairness >= 0.5:
            return
    raise AssertionError(results)


def test_a_new_file_is_made_once_by_eight_processes(tmp_path: Path) -> None:
    """Opening a file that is not there from eight processes at once makes one store."""
    for attempt in range(2):
        path = tmp_path / f"new{attempt}.db"
        children = [start("open", path, cold=attempt == 0) for _ in range(8)]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        ids = {end(child)[0] for child in children}
        with Memory.open(path) as memory:
            assert {node.id for node in memory.list(limit=50).items} == ids
            assert len(ids) == 8
            assert memory.verify().ok


@pytest.mark.parametrize("where", ["file", ":memory:"])
def test_threads_share_one_memory(tmp_path: Path, where: str) -> None:
    """Threads write and read through one object, and each write is there once."""
    with Memory.open(tmp_path / "m.db" if where == "file" else where, QUICK) as memory:
        world = memory.note("project", "shared")
        run_together([_writer(memory, world.id or "", n) for n in range(4)] + [_reader(memory)] * 2)
        assert len(memory.list("learning", limit=500).items) == 4 * 10
        assert len(memory.list("Turn", limit=500).items) == 4 * 10
        assert memory.verify().ok


def _writer(memory: Memory, world: str, number: int) -> Callable[[], None]:
    def work() -> None:
        inside = memory.enter(world).scoped(user=f"u{number}")
        for turn in range(10):
            inside.note("learning", f"{number}/{turn}", "by a thread")
            inside.remember(f"{number} says {turn}", session="all")

    return work


def _reader(memory: Memory) -> Callable[[], None]:
    def work() -> None:
        for _ in range(4):
            assert memory.verify().ok
            memory.list("learning", limit=500)
            memory.changes()

    return work


def run_together(tasks: list[Callable[[], None]]) -> None:
    """Every task in a thread of its own; the first error is raised here."""
    errors: list[BaseException] = []

    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_load_into_one_empty_store(tmp_path: Path) -> None:
    """Bulk loads that begin at the same moment in an empty store are all kept, each note once."""
    from worldline.write.given import Link, Note

    for where in (tmp_path / "m.db", ":memory:"):
        with Memory.open(where, QUICK) as memory:
            notes = [Note("learning", f"n{n}") for n in range(50)]
            run_together([lambda m=memory, n=notes: m.load(n, [Link(0, "relates_to", 1)])] * 4)  # type: ignore[misc]
            assert len(memory.list("learning", limit=500).items) == 50
            assert memory.verify().ok


def test_a_stopped_writer_gives_one_clear_error(tmp_path: Path) -> None:
    """A write waits for the lock as long as configured, says StoreBusy, and works when it is free."""
    from msgspec.structs import replace

    path = tmp_path / "m.db"
    with Memory.open(path, QUICK) as holder, Memory.open(path, replace(QUICK, lock_seconds=0.3)) as memory:
        with (
            holder.handle.store.writing("default"),
            pytest.raises(StoreBusy, match="another process has held"),
        ):
            memory.note("learning", "later", "")
        for turn in range(3):
            assert memory.note("learning", f"now {turn}", "").changed
            assert holder.note("learning", f"then {turn}", "").changed
        assert len(memory.list().items) == 6


def test_a_write_inside_a_read_is_refused(tmp_path: Path) -> None:
    """A write begun inside a snapshot of the same thread is refused, and the store goes on."""
    with Memory.open(tmp_path / "m.db", QUICK) as memory:
        memory.note("learning", "before", "")
        with (
            memory.handle.store.reading("default"),
            pytest.raises(StoreError, match="inside another transaction"),
        ):
            memory.note("learning", "inside", "")
        assert memory.note("learning", "after", "").changed
