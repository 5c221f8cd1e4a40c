"""Sick stores are found, told with the command that mends them, and never written over or acknowledged into."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import apsw
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

import warm
from worldline import Memory
from worldline.config import Config
from worldline.errors import NotAStore, Refused, StoreError
from worldline.model import Event
from worldline.store import events
from worldline.surfaces.cli import main
from worldline.testing import HashEmbedder
from worldline.write import remember as remembering

CONFIG = Config(embedder="none")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A small store."""
    path = tmp_path / "m.db"
    with Memory.open(path, CONFIG, embedder=HashEmbedder(16)) as memory:
        memory.remember("I live in Oslo.", speaker="Ann", said_at="2025-01-01")
        memory.note("learning", "tea", "green")
    return path


def run(path: Path, *args: str, code: int = 0) -> Any:
    """A verb of the shell, its answer as JSON."""
    done = CliRunner().invoke(main, [*args, "--db", str(path), "--json"], env={"WORLDLINE_EMBEDDER": "none"})
    assert done.exit_code == code, done.output
    return msgspec.json.decode(done.stdout)


def told(path: Path, code: int = 1) -> str:
    """What the doctor finds bad or notes."""
    return "\n".join(item["told"] for item in run(path, "doctor", code=code) if item["state"] != "ok")


def sql(path: Path, statement: str, args: tuple[Any, ...] = ()) -> None:
    """One statement behind the engine's back."""
    connection = apsw.Connection(str(path))
    connection.execute(statement, args)
    connection.close()


def test_a_store_cut_to_nothing_is_refused(db: Path) -> None:
    """0 bytes are no empty memory: every verb refuses, the doctor names the mending."""
    db.write_bytes(b"")
    with pytest.raises(NotAStore, match="0 bytes"):
        Memory.open(db, CONFIG)
    assert "restore" in told(db)
    assert db.stat().st_size == 0


def test_a_truncated_store_is_told(db: Path) -> None:
    """Half a file is damage, and the doctor says to put a backup back."""
    whole = db.read_bytes()
    db.write_bytes(whole[: len(whole) // 2])
    assert "worldline restore" in told(db)


def test_what_is_not_ours_is_told(tmp_path: Path) -> None:
    """A text and another program's file are named as such."""
    text, other = tmp_path / "a.txt", tmp_path / "b.db"
    text.write_text("hello, this is some text that is no database at all" * 40)
    sql(other, "CREATE TABLE t (x)")
    assert "not a Worldline store" in told(text)
    assert "another program" in told(other)


def test_a_missing_index_is_told_and_mended(db: Path) -> None:
    """doctor and verify name it, reindex makes it."""
    sql(db, "DROP INDEX beliefs_line")
    assert "beliefs_line" in told(db)
    assert not run(db, "verify", code=1)["ok"]
    run(db, "reindex")
    assert run(db, "verify")["ok"]
    assert "beliefs_line" not in told(db, 0)


def test_bad_vectors_are_told_and_mended(db: Path) -> None:
    """A vector of NaNs and one of another length are told, and dropped by reindex."""
    bad = np.full(16, np.nan, np.float16).tobytes()
    sql(db, "UPDATE embeddings SET vector = ? WHERE id = 1", (bad,))
    assert "worldline reindex" in told(db)
    assert run(db, "reindex")["vectors"] == 1
    assert "cannot be compared" not in told(db, 0)


def test_another_embedder_is_told(db: Path) -> None:
    """Vectors of another embedder than the one that is set are told with the mending."""
    with Memory.open(db, CONFIG, embedder=HashEmbedder(16, "other")) as memory:
        assert any("worldline reembed" in one.told for one in memory.ailments())


def test_a_killed_writers_log_is_told(db: Path) -> None:
    """A log that a killed process left is noted; opening the store takes it in."""
    code = (
        "import os, sys; from worldline import Memory; from worldline.config import Config\n"
        "m = Memory.open(sys.argv[1], Config(embedder='none')); m.note('learning', 'left', 'behind'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(db)], check=False)
    assert "was killed" in told(db, 0)
    with Memory.open(db, CONFIG) as memory:
        assert memory.list("learning").items[0].name in ("left", "tea")
        assert len(memory.list("learning").items) == 2


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_file_that_went_away_takes_no_writes(db: Path, tmp_path: Path, how: str) -> None:
    """A write into a file that nobody would find again is refused, not acknowledged."""
    with Memory.open(db, CONFIG) as memory:
        memory.note("learning", "one", "before")
        if how == "replaced":
            with Memory.open(tmp_path / "other.db", CONFIG) as other:
                other.note("learning", "two", "elsewhere")
            os.replace(tmp_path / "other.db", db)
        else:
            db.unlink()
        with pytest.raises(StoreError, match="removed or replaced"):
            memory.note("learning", "three", "lost")


def test_a_store_that_cannot_be_written_can_be_read() -> None:
    """On a disk or in a folder without the right to write, reads work and writes are refused with a reason."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "m.db"
        with Memory.open(path, CONFIG) as memory:
            memory.remember("I live in Oslo.", speaker="Ann", said_at="2025-01-01")
        code = (
            "import os, sys; from worldline import Memory; from worldline.config import Config\n"
            "from worldline.errors import StoreError\n"
            "def look(path, write):\n"
            "    m = Memory.open(path, Config(embedder='none'))\n"
            "    if write: m.remember('I live in Oslo.', speaker='Ann', said_at='2025-01-01')\n"
            "    print(m.recall('Where does Ann live?').answer, len(m.list('Turn').items), m.verify().ok)\n"
            "    try: m.note('learning', 'x', 'y'); print('written')\n"
            "    except StoreError as error: print('refused:', error)\n"
            "    m.close()\n"
            "look(':memory:', True)\n"  # loads whatever it needs, while it may
            "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
            "look(sys.argv[1], False)"
        )
        path.chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [*warm.python(), "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        folder.chmod(0o755)
        lines = done.stdout.splitlines()
        assert lines[:3] == ["Oslo 1 True", "written", "Oslo 1 True"], done.stdout + done.stderr
        assert lines[3].startswith("refused:")


def test_a_backup_never_replaces_the_store(db: Path, tmp_path: Path) -> None:
    """A hard link or another name of the store itself is refused as a backup."""
    link, symbolic = tmp_path / "link.db", tmp_path / "sym.db"
    os.link(db, link)
    symbolic.symlink_to(db)
    with Memory.open(db, CONFIG) as memory:
        for target in (db, link, symbolic):
            with pytest.raises(Refused):
                memory.backup(target)
    run(db, "restore", str(link), "--force", code=1)


def test_restore_over_a_killed_writers_log(db: Path, tmp_path: Path) -> None:
    """What a killed process left beside the old file is not played into the backup that takes its place."""
    copy = tmp_path / "backup.db"
    with Memory.open(db, CONFIG) as memory:
        memory.backup(copy)
        head = memory.hash()
    code = (
        "import os, sys; from worldline import Memory; from worldline.config import Config\n"
        "m = Memory.open(sys.argv[1], Config(embedder='none'))\n"
        "for n in range(30): m.note('learning', f'left {n}', 'behind')\n"
        "os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(db)], check=False)
    assert Path(f"{db}-wal").stat().st_size > 0
    run(db, "restore", str(copy), code=1)
    run(db, "restore", str(copy), "--force")
    with Memory.open(db, CONFIG) as memory:
        assert memory.hash() == head
        assert memory.verify().ok
    with Memory.open(db, CONFIG) as memory:  # and a backup over a copy with a log of its own
        shutil.copy(db, tmp_path / "old.db")
        (tmp_path / "old.db-wal").write_bytes(b"x" * 4096)
        memory.backup(tmp_path / "old.db")
        assert not (tmp_path / "old.db-wal").exists()


def leave_pending(path: Path, monkeypatch: pytest.MonkeyPatch) -> Event:
    """An event whose process was interrupted while it was understood: the words are kept."""
    event = Event("My name is Ann and I live in Rome.", "Ann", "2025-02-01")

    def killed(*given: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, Memory.open(path, CONFIG) as memory:
        patched.setattr(remembering, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.remember(event)
        assert len(memory.handle.read(events.waiting)) == 1
    return event


@pytest.mark.parametrize("how", ["remember", "messages", "sleep", "resume", "shell"])
def test_what_was_left_is_finished(db: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Sending it again, sleeping and resuming each finish an event that was stored and not understood."""
    event = leave_pending(db, monkeypatch)
    assert "worldline resume" in told(db, 0)
    with Memory.open(db, CONFIG) as memory:
        if how == "remember":
            memory.remember(event)
        elif how == "messages":
            memory.remember(messages=[{"content": event.text, "role": "Ann", "said_at": event.said_at}])
        elif how == "sleep":
            memory.consolidate()
        elif how == "resume":
            memory.resume()
        else:
            run(db, "resume")
        assert memory.handle.read(events.waiting) == []
        assert memory.recall("Where does Ann live?").answer == "Rome"
