"""Files of others that mean harm: archives that grow, JSON that nests, and files that others may not read."""

from __future__ import annotations

import json
import stat
import threading
import zipfile

import pytest

from worldline import Config, Memory
from worldline.errors import InvalidInput, InvalidTime, NotFound, WorldlineError
from worldline.testing import FrozenClock


@pytest.fixture
def memory():
    """An empty memory."""
    with Memory.open(":memory:", Config(embedder="none")) as opened:
        yield opened


def test_an_archive_that_grows_is_not_unpacked(memory, tmp_path):
    """A small archive of a huge file is refused before it is in memory; one of ordinary talk is read."""
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("conversations.json", b" " * 40_000_000)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        memory.import_(bomb)
    good = tmp_path / "good.zip"
    with zipfile.ZipFile(good, "w", zipfile.ZIP_DEFLATED) as archive:
        talk = [{"role": "user", "content": f"My number {n} is here."} for n in range(3)]
        archive.writestr("conversations.json", json.dumps({"messages": talk}))
    assert memory.import_(good).stored == 3


def test_a_member_that_lies_about_its_size_is_cut(memory, tmp_path):
    """The size in an archive's table is not believed."""
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * 20_000_000)
    raw = bytearray(bomb.read_bytes())
    at = raw.rfind(b"PK\x01\x02")
    raw[at + 24 : at + 28] = (10).to_bytes(4, "little")
    bomb.write_bytes(raw)
    with pytest.raises(InvalidInput):
        memory.import_(bomb)


@pytest.mark.parametrize("depth", [500, 100_000])
def test_nested_json_is_told(memory, tmp_path, depth):
    """JSON that nests beyond reason is a clear error or a skipped record, never a crash."""
    inner = "[" * depth + "]" * depth
    lines = tmp_path / "talk.jsonl"
    lines.write_text(
        f'{{"role": "user", "content": "hello", "x": {inner}}}\n{{"role": "user", "content": "bye"}}\n'
    )
    whole = tmp_path / "talk.json"
    whole.write_text(f'[{{"role": "user", "content": "hello", "metadata": {{"a": {inner}}}}}]')

    report = memory.import_(lines, "chat")
    assert report.stored + len(report.skipped) == 2
    try:
        told = memory.import_(whole, "chat").skipped[0].reason
    except InvalidInput as error:
        told = str(error)
    assert "nested" in told or "JSON" in told


def test_the_store_and_its_copies_are_the_owners(tmp_path):
    """Store, lock, backup and export are readable by their owner only."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        memory.note("context", "Tea", "green")
        memory.backup(tmp_path / "copy.db")
        memory.export(tmp_path / "copy.jsonl")
        for path in tmp_path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name
    assert (tmp_path / "copy.db").exists()


def test_a_clock_far_ahead_does_not_spoil_the_store(tmp_path):
    """A write at year 9999 is refused with a word about the clock, and the next one is stored."""
    clock = FrozenClock("9999-01-01")
    with Memory.open(tmp_path / "me.db", Config(embedder="none"), clock=clock) as memory:
        with pytest.raises(InvalidTime, match="clock"):
            memory.note("context", "Tea", "green")
        clock.set("2026-01-01")
        assert memory.note("context", "Tea", "green").changed


def test_an_unknown_hash_is_looked_for_without_a_scan(tmp_path):
    """After the first time, an unknown 64-digit id reads only what is new; a leaf's own hash is found."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        notes = [memory.note("context", f"n{n}", "x") for n in range(50)]
        leaf = memory.hash(notes[7])
        with pytest.raises(NotFound):
            memory.get("ab" * 32)
        read: list[int] = []
        query = memory.handle.store.query

        def counted(sql, args=()):  # type: ignore[no-untyped-def]
            rows = query(sql, args)
            read.append(len(rows))
            return rows

        memory.handle.store.query = counted  # type: ignore[method-assign]
        with pytest.raises(NotFound):
            memory.get("cd" * 32)
        assert max(read) < 10
        assert memory.get(leaf).name == "n7"
        late = memory.note("context", "late", "x")
        assert memory.get(memory.hash(late)).name == "late"


def test_threads_leave_no_connections_and_close_waits_for_them(tmp_path):
    """A thread that is gone takes its connection with it, and closing never meets one in use."""
    memory = Memory.open(tmp_path / "me.db", Config(embedder="none"))
    memory.note("context", "Tea", "green")
    for _ in range(5):
        threads = [threading.Thread(target=memory.list) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    memory.list()
    assert len(memory.handle.store._open) <= 10

    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            try:
                memory.list()
            except WorldlineError:
                return

    workers = [threading.Thread(target=busy) for _ in range(4)]
    for worker in workers:
        worker.start()
    memory.close()
    stop.set()
    for worker in workers:
        worker.join()
    memory.close()
