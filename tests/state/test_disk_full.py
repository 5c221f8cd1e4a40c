"""A full disk, missing rights and foreign files: one clear error each, and nothing half-written."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace
from workers import QUICK, end, start

from worldline.config import Config
from worldline.errors import NewerFormat, NotAStore, StoreError, StoreFull
from worldline.handle import Handle
from worldline.hashing import tenant_number
from worldline.memory import Memory
from worldline.model import Fact, Place
from worldline.store import migrate, packing, people, schema, sqlite
from worldline.store.tx import Tx
from worldline.testing import HashEmbedder
from worldline.write.given import Note

LONG = "word " * 4000


def _filled(memory: Memory) -> int:
    """Writes until the disk is full; how many writes were kept."""
    for number in range(5000):
        try:
            memory.remember(f"{number} {LONG}")
        except StoreFull as error:
            return _told(error, number)
    raise AssertionError("the disk never got full")


def _told(error: StoreFull, kept: int) -> int:
    assert "disk is full" in str(error)
    return kept


def _still_whole(memory: Memory, kept: int) -> None:
    assert len(memory.list("Turn", limit=500).items) == min(kept, 500)
    assert memory.handle.store.query("SELECT count(*) FROM events") == [(kept,)]
    assert memory.verify().ok


def test_a_full_store_says_so_once_and_goes_on(tmp_path: Path) -> None:
    """With no page left a write is one StoreFull and nothing else; with pages again all goes on."""
    with Memory.open(tmp_path / "m.db", QUICK) as memory:
        connection = memory.handle.store.connection()
        memory.note("learning", "first", "")
        connection.pragma("max_page_count", connection.pragma("page_count") + 160)
        kept = _filled(memory)
        assert kept > 0
        with pytest.raises(StoreFull):
            memory.load([Note("learning", f"n{n}", LONG) for n in range(50)])
        with pytest.raises(StoreFull):
            memory.remember(LONG, facts=[Fact("a", "b", "c")])
        _still_whole(memory, kept)
        connection.pragma("max_page_count", 1_000_000)
        assert memory.remember(LONG, facts=[Fact("a", "b", "c")]).changed
        _still_whole(memory, kept + 1)
        assert memory.resume() == ()


def test_a_disk_that_fills_after_the_commit(tmp_path: Path) -> None:
    """What was committed is acknowledged, even when no space is left for its vectors."""

    def full(handle: Handle, nodes: Sequence[int]) -> None:
        raise StoreFull("no space for vectors")

    with Memory.open(tmp_path / "m.db", QUICK) as memory:
        cramped = Memory(replace(memory.handle, after_write=full))
        assert cramped.remember("kept").changed
        assert not cramped.remember("kept").changed
        _still_whole(memory, 1)


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system of one megabyte; skips where it cannot be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.skipif(not shutil.which("mount") or os.getuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_says_so_and_goes_on(tmp_path: Path) -> None:
    """On a really full disk the same holds, also for a new process, once space is freed."""
    with _small_disk(tmp_path / "small") as folder:
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(200_000))
        with Memory.open(folder / "m.db", QUICK) as memory:
            kept = _filled(memory)
            with pytest.raises(StoreFull):
                memory.remember(LONG * 20)
            _still_whole(memory, kept)
            ballast.unlink()
            assert memory.remember("small again").changed
            _still_whole(memory, kept + 1)
        with Memory.open(folder / "m.db", QUICK) as memory:
            _still_whole(memory, kept + 1)
        with (folder / "ballast").open("wb") as fill:
            fill.write(b"")
            while _grows(fill.fileno()):
                pass
        with pytest.raises(StoreFull):
            Memory.open(folder / "new.db", QUICK).note("learning", "x", LONG)


def _grows(handle: int) -> bool:
    try:
        return os.write(handle, bytes(4096)) > 0
    except OSError:
        return False


# Rights ------------------------------------------------------------------------------------------


def _as_nobody(path: Path) -> list[str]:
    return end(start("tryout", path))


@pytest.fixture
def reachable(tmp_path: Path) -> Iterator[Path]:
    """A folder that any user can reach."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() != "root" or folder.stat().st_mode & 0o005:
            continue
        folder.chmod(folder.stat().st_mode | 0o055)
    place = tmp_path / "place"
    place.mkdir()
    yield place
    place.chmod(0o755)


def test_a_read_only_file_is_a_clear_error(reachable: Path) -> None:
    """Without the right to write, a write is a StoreError that says what to check; reading still works."""
    with Memory.open(reachable / "m.db") as memory:
        memory.note("learning", "first", "")
    (reachable / "m.db").chmod(0o444)
    (reachable / "m.db.lock").unlink(missing_ok=True)
    reachable.chmod(0o555)
    lines = _as_nobody(reachable / "m.db")
    assert lines[-1].startswith("StoreError"), lines
    assert "rights" in lines[-1] or "may you write" in lines[-1]
    with Memory.open(reachable / "m.db") as memory:
        assert memory.verify().ok


def test_a_folder_without_rights_is_a_clear_error(reachable: Path) -> None:
    """A new store in a folder that may not be written to is a StoreError, not a traceback."""
    reachable.chmod(0o555)
    for path in (reachable / "new.db", reachable / "deeper" / "new.db"):
        lines = _as_nobody(path)
        assert lines[-1].startswith("StoreError"), lines


def test_a_folder_or_a_file_in_the_way(tmp_path: Path) -> None:
    """A folder where the file should be, or a file where its folder should be, is a StoreError."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("hello")
    for path in (tmp_path / "folder", tmp_path / "file" / "m.db"):
        with pytest.raises(StoreError):
            Memory.open(path)


# Foreign files -----------------------------------------------------------------------------------


def test_a_text_file_is_not_a_store(tmp_path: Path) -> None:
    """Any other file is refused and stays as it was."""
    for name, content in (("a.txt", b"just some text\n" * 100), ("b", b"x"), ("c", os.urandom(9000))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(NotAStore):
            Memory.open(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content


def test_another_programs_sqlite_file_is_not_a_store(tmp_path: Path) -> None:
    """An SQLite file of another program is refused and stays as it was."""
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (a)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(NotAStore, match="another program"):
        Memory.open(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_file_with_our_mark_and_nothing_in_it(tmp_path: Path) -> None:
    """A file that says it is a store but has no tables is a StoreError."""
    other = sqlite3.connect(tmp_path / "m.db")
    other.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    other.execute("PRAGMA user_version = 1")
    other.execute("CREATE TABLE t (a)")
    other.close()
    with pytest.raises(StoreError):
        Memory.open(tmp_path / "m.db")


def _store(path: Path) -> Path:
    with Memory.open(path, QUICK) as memory:
        for number in range(30):
            memory.note("learning", f"n{number}", LONG[:3000])
    return path


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.97])
def test_a_truncated_store_is_a_clear_error(tmp_path: Path, share: float) -> None:
    """A store cut short is refused, or verify says that it is damaged; it never passes for whole."""
    path = _store(tmp_path / "m.db")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert _says_damaged(path)


def _says_damaged(path: Path) -> bool:
    try:
        with Memory.open(path) as memory:
            return not memory.verify().ok
    except StoreError as error:
        return "damaged" in str(error) or isinstance(error, NotAStore)


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    """A file of a later format is refused with the advice to upgrade, and is not touched."""
    path = _store(tmp_path / "m.db")
    _sql(path, f"PRAGMA user_version = {schema.FORMAT + 1}")
    with pytest.raises(NewerFormat, match="upgrade"):
        Memory.open(path)
    _sql(path, f"PRAGMA user_version = {schema.FORMAT}")
    with Memory.open(path) as memory:
        assert memory.verify().ok


def test_another_hash_algorithm_is_refused(tmp_path: Path) -> None:
    """There is no silent fall-back: a store hashed otherwise is refused by name."""
    path = _store(tmp_path / "m.db")
    _sql(path, "UPDATE meta SET value = 'sha-256' WHERE key = 'hash'")
    with pytest.raises(NotAStore, match="sha-256"):
        Memory.open(path)
    _sql(path, "DELETE FROM meta")
    with pytest.raises(NotAStore):
        Memory.open(path)


def _sql(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


# Migration ---------------------------------------------------------------------------------------


def _next_format(monkeypatch: pytest.MonkeyPatch, step: str | None) -> None:
    """This program as its next version would be."""
    monkeypatch.setattr(schema, "FORMAT", schema.FORMAT + 1)
    monkeypatch.setattr(sqlite, "FORMAT", schema.FORMAT)
    taken = {schema.FORMAT - 1: lambda connection, language: connection.execute(step)}
    monkeypatch.setattr(migrate, "STEPS", {} if step is None else taken)


def test_an_older_file_is_migrated_with_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps run once, the file before them lies beside it, and both are whole."""
    path = _store(tmp_path / "m.db")
    _next_format(monkeypatch, "CREATE TABLE later (a); INSERT INTO later VALUES (7)")
    for _ in range(2):
        with Memory.open(path) as memory:
            assert memory.handle.store.query("SELECT a FROM later") == [(7,)]
            assert memory.verify().ok
            assert memory.handle.store.connection().pragma("user_version") == schema.FORMAT
    backup = tmp_path / f"m.db.format{schema.FORMAT - 1}.backup"
    monkeypatch.undo()
    with Memory.open(backup) as memory:
        assert len(memory.list("learning", limit=50).items) == 30
        assert memory.verify().ok
    with pytest.raises(NewerFormat):
        Memory.open(path)


def test_a_failed_migration_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that fails is rolled back whole, and the older program still reads the file."""
    path = _store(tmp_path / "m.db")
    with monkeypatch.context() as later:
        _next_format(later, "CREATE TABLE later (a); INSERT INTO missing VALUES (7)")
        with pytest.raises(StoreError, match="migrat"):
            Memory.open(path)
    with Memory.open(path) as memory:
        assert memory.handle.store.query("SELECT count(*) FROM sqlite_master WHERE name = 'later'") == [(0,)]
        assert memory.note("learning", "still here", "").changed
        assert memory.verify().ok


def with_keys(memory: Memory) -> None:
    """Gives the names that wait for them their block keys, as older programs did at once."""

    def work(tx: Tx, place: Place) -> tuple[None, bool]:
        people.give_keys(tx)
        return None, True

    memory.handle.write("keys", work)


def test_a_file_of_format_6_opens(tmp_path: Path) -> None:
    """Vectors take fewer bytes and have the very same numbers; the file as it was is left beside it."""
    path, embedder = tmp_path / "old.db", HashEmbedder(384)
    plain = "SELECT passage, vector FROM embeddings ORDER BY passage"
    with Memory.open(path, Config(embedder="none"), embedder=embedder) as memory:
        for number in range(40):
            memory.remember(f"I bought kettle {number} in Porto.", speaker="Ana")
        store = memory.handle.store
        before = [(passage, packing.plain(vector)) for passage, vector in store.query(plain)]
        hits = [hit.node.id for hit in memory.recall("Which kettle did Ana buy?").hits]
        store.connection().executemany(
            "UPDATE embeddings SET vector = ? WHERE passage = ?",
            [(vector, passage) for passage, vector in before],
        )
    _sql(path, "PRAGMA user_version = 6")

    with Memory.open(path, Config(embedder="none"), embedder=embedder) as memory:
        store = memory.handle.store
        after = store.query(plain)
        assert {len(vector) for _, vector in after} == {packing.packed_length(384)}
        assert [(passage, packing.plain(vector)) for passage, vector in after] == before
        assert store.missing_indexes() == []
        assert memory.verify().ok
        assert [hit.node.id for hit in memory.recall("Which kettle did Ana buy?").hits] == hits
        assert store.connection().pragma("user_version") == schema.FORMAT > 6
    assert (tmp_path / "old.db.format6.backup").exists()


def test_a_file_of_format_5_opens(tmp_path: Path) -> None:
    """The usual tenant gets the number that takes no space, others keep theirs, and everything proves itself."""
    path = tmp_path / "old.db"
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.remember("Katarzyna Nowak lives in Porto.", speaker="Ana")
        Memory.open(path, Config(embedder="none"), tenant="other").remember("Ben keeps bees.", speaker="Ben")
        heads = dict(memory.handle.store.query("SELECT name, head FROM tenants"))
    for table in schema.TABLES:
        if table != "meta":
            _sql(path, f"UPDATE {table} SET tenant = {tenant_number('default')} WHERE tenant = 1")
    _sql(path, "PRAGMA user_version = 5")

    for tenant, number in (("default", 1), ("other", tenant_number("other"))):
        with Memory.open(path, Config(embedder="none"), tenant=tenant) as memory:
            store = memory.handle.store
            assert store.query("SELECT tenant FROM tenants WHERE name = :name", {"name": tenant}) == [
                (number,)
            ]
            assert store.tenant_row(tenant).head == heads[tenant]
            assert store.missing_indexes() == []
            assert memory.verify().ok
            assert memory.remember("Katarzyna Nowack lives in Braga.", speaker="Ana").changed
            assert memory.verify().ok


def test_a_file_of_format_4_opens(tmp_path: Path) -> None:
    """Names that resemble a known one are found under the keys that older files have, and the log stays whole."""
    path = tmp_path / "old.db"
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.remember("Katarzyna Nowak lives in Porto.", speaker="Ana")
        with_keys(memory)
        keys = set(memory.handle.store.query("SELECT key, line FROM blocks"))
    for statement in (
        "UPDATE blocks SET key = substr(key, -1) || ':' || substr(key, 1, length(key) - 2)",
        "DROP INDEX events_sender; DROP INDEX facts_key; CREATE INDEX facts_key ON facts (tenant, key)",
        "CREATE INDEX events_session ON events (tenant, session, said_at); PRAGMA user_version = 4",
    ):
        _sql(path, statement)

    with Memory.open(path, Config(embedder="none")) as memory:
        assert set(memory.handle.store.query("SELECT key, line FROM blocks")) == keys
        assert memory.handle.store.missing_indexes() == []
        memory.remember("Katarzyna Nowack lives in Braga.", speaker="Ana")
        assert len(memory.merges()) == 1
        assert memory.verify().ok


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_file_of_each_older_format_opens(tmp_path: Path, version: int) -> None:
    """Rows get their tenants' own numbers; hashes, heads, owners and vectors stay what they were."""
    path = tmp_path / "old.db"
    _sql(path, (Path(__file__).parent / "format3.sql").read_text("utf-8"))
    before = (
        apsw.Connection(str(path))
        .execute("SELECT name, head, sequence FROM tenants ORDER BY name")
        .fetchall()
    )
    if version < 3:
        _sql(path, "ALTER TABLE events DROP COLUMN reading")
    if version < 2:
        for table in (
            "scores",
            "strengths",
            "composed",
            "profiles",
            "cold_texts",
            "cold_embeddings",
            "cold_words",
        ):
            _sql(path, f"DROP TABLE {table}")
    _sql(path, f"PRAGMA user_version = {version}")

    for tenant, other in (("default", "other"), ("other", "default")):
        with Memory.open(path, tenant=tenant) as memory:
            rows = memory.handle.store.query("SELECT name, head, sequence FROM tenants ORDER BY name")
            assert [*map(tuple, rows)] == before
            assert memory.verify().damage == ()
            assert {n.name for n in memory.list("context").items} == {f"tea of {tenant}", "mine"}
            assert [n.name for n in memory.scoped(user="u").list("context").items] == ["mine"]
            assert memory.recall("tea").hits[0].node.content == "black tea"
            assert other not in memory.recall("Where does Ana work?").text
            assert memory.flush() == 0
    assert (tmp_path / f"old.db.format{version}.backup").exists()


def test_a_format_without_a_way_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older format that no step leads from is refused, and nothing is written beside it."""
    path = _store(tmp_path / "m.db")
    _next_format(monkeypatch, None)
    with pytest.raises(StoreError, match="no migration"):
        Memory.open(path)
    assert not list(tmp_path.glob("*.backup"))


def test_a_backup_is_a_whole_store(tmp_path: Path) -> None:
    """A backup taken from a store in use opens and verifies; a bad target is a StoreError."""
    with Memory.open(_store(tmp_path / "m.db")) as memory:
        memory.backup(tmp_path / "copy.db")
        with pytest.raises(StoreError):
            memory.backup(tmp_path / "nowhere" / "copy.db")
    with Memory.open(tmp_path / "copy.db") as copy:
        assert len(copy.list("learning", limit=50).items) == 30
        assert copy.verify().ok
