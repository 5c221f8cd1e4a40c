"""verify() finds every changed value in every table, and names the row or the world it is in."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from worldline.config import Config
from worldline.errors import StoreError
from worldline.memory import Memory
from worldline.model import EdgeType, Event, Evidence, Fact, NodeType, Predicate, Scope, Verification
from worldline.store.nights import set_mark
from worldline.store.schema import COLUMNS, COVERED
from worldline.write.given import Link, Note

UNCOVERED = {("events", "state"), ("events", "draft"), ("events", "signals"), ("events", "reading")}
"""What is done about an event after it is stored: it changes, so no checksum covers it."""
EXTRA = {
    "worlds": ("line", "head", "hash", "digest"),
    "log": ("sequence", "known", "kind", "body", "previous", "hash"),
    "tenants": ("root", "last_known", "sequence", "head"),
}
TEXT = "findable needle text"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with everything in it: events, facts, merges, moves, corrections, undo, own types."""
    path = tmp_path_factory.mktemp("whole") / "m.db"
    with Memory.open(path, Config(embedder="none")) as memory, Memory.open(":memory:") as other:
        _fill(memory)
        other.amend(other.note("learning", "elsewhere", "old", valid_from="2026-01-01"), "new")
        memory.absorb(other)
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]
    return path


def _fill(m: Memory) -> None:
    m.register(Predicate("lives_in", functional=True))
    m.register(Predicate("lives_in", functional=True, threshold_class="medical"))
    m.register(NodeType("recipe"))
    m.register(EdgeType("tastes_of"))
    ann = m.scoped(user="ann", agent="a", app="b", run="c", session="monday").shared_with(Scope(user="bob"))
    ann.remember(
        Event(
            TEXT,
            "Ann",
            "2026-01-02T10:00:00+01:00",
            "Bob",
            category="chat",
            source="phone",
            external_id="x1",
            metadata={"mood": "good", "n": 1},
        )
    )
    said = m.remember(
        "Ann moved to Rome. " * 90,
        said_at="2026-01-03",
        speaker="Ann",
        facts=[Fact("Ann", "lives_in", "Rome"), Fact("Ann", "age", literal=40, confidence=0.3)],
    )
    m.fact(
        Fact(
            "Ann",
            "lives_in",
            "Oslo",
            valid_from="2026-02-01",
            confidence=0.95,
            precision="day",
            reason="told",
            evidence=(Evidence(said.id or "", 0, 9),),
        )
    )
    outer, other = m.note("project", "outer"), m.note("project", "other")
    inner = m.enter(outer).note("project", "inner")
    for user in ("ann", "bob"):
        m.scoped(user=user).note("learning", "shared", "words", metadata={"of": user})
    leaf = m.enter(inner).note("learning", "leaf", "old", valid_from="2026-01-01", metadata={"k": "v"})
    m.amend(leaf, "new", valid_from="2026-02-01")
    m.correct(leaf, "newer", reason="it was wrong")
    (held,) = m.walk(leaf, "contains", way="in").edges
    m.retire(held)
    m.link(other, "contains", leaf)
    a, b = m.note("Entity", "Anna"), m.note("Entity", "Anne")
    m.link(a, "same_as", b)
    m.accept_merge(m.merges()[0])
    m.undo_merge(m.merges("accepted")[0])
    m.link(a, "relates_to", b, metadata={"why": "test"}, valid_from="2026-01-01", valid_to="2027-01-01")
    m.link(m.note("recipe", "soup", dated="2026-01-01"), "tastes_of", a)
    m.quarantine(b, "doubt")
    m.undo(m.retire(a))
    m.load([Note("learning", "l0"), Note("learning", "l1", inside=0)], [Link(0, "refines", 1)])
    m.forget(m.remember("a text to forget", speaker="Eve", session="tuesday"), confirm=True)
    for value in ("unit", "crystal", None, "unit"):
        m.handle.write(
            "sleep", lambda tx, place, v=value: (None, set_mark(tx, 3, "stage", v, "said thrice", 0))
        )


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copy(whole, tmp_path / "m.db"))


def _verified(path: Path) -> Verification:
    with Memory.open(path) as memory:
        return memory.verify()


def _changed(value: object) -> object:
    """The smallest change of a value."""
    if value is None:
        return 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(value, int):
        return value - 1 if value > 2**62 else value + 1
    if isinstance(value, float):
        return value / 2
    return str(value) + "x"


def _keys(table: str) -> str:
    keys = {"worlds": "line", "log": "sequence", "events": "node", "facts": "node", "tenants": "tenant"}
    return keys.get(table, "id")


def _cells(connection: apsw.Connection, table: str, column: str) -> Iterator[tuple[int, object]]:
    """(key, value) of rows worth damaging: one per type of node or edge, filled ones first."""
    key = _keys(table)
    group = "type" if table in ("nodes", "edges", "beliefs") else "1"
    seen: set[object] = set()
    for row, value, kind in connection.execute(
        f"SELECT {key}, {column}, {group} FROM {table} ORDER BY {column} IS NULL, {key} DESC"
    ).fetchall():
        if kind not in seen:
            seen.add(kind)
            yield row, value


def _names(table: str, key: int, found: Verification) -> bool:
    """Whether some damage names this very row (or its world, or its changeset)."""
    wanted = {
        "nodes": (f"(row {key})", f"nodes row {key}"),
        "edges": (f"(row {key})", f"edges row {key}"),
        "worlds": (f"(lineage {key})",),
        "log": (f"changeset {key} ", f"changeset {key + 1} ", "the end of the log"),
        "tenants": ("the end of the log", "world"),
    }.get(table, (f"{table} row {key}",))
    return any(name in damage.where + " " for damage in found.damage for name in wanted)


VOUCHED = {table: COLUMNS[table] for table in COVERED}
"""Everything but what is derived from it (labels, words and the like)."""
CELLS = [(t, c) for t, columns in {**VOUCHED, **EXTRA}.items() for c in columns if (t, c) not in UNCOVERED]


@pytest.mark.parametrize(("table", "column"), CELLS, ids=[f"{t}.{c}" for t, c in CELLS])
def test_a_changed_value_is_found_and_named(whole: Path, tmp_path: Path, table: str, column: str) -> None:
    """One changed value in any column, in a row of every kind, is reported with its place."""
    source = apsw.Connection(str(whole))
    cells = list(_cells(source, table, column))
    source.close()
    assert cells
    for number, (key, value) in enumerate(cells):
        path = Path(shutil.copy(whole, tmp_path / f"{number}.db"))
        new = (
            9999 if column in ("id", "node", "line", "tenant") and column == _keys(table) else _changed(value)
        )
        _sql(path, f"UPDATE {table} SET {column} = ? WHERE {_keys(table)} = ?", (new, key))
        found = _verified(path)
        assert _names(table, key, found), f"{table} {key}: {value!r} became {new!r}, found {found.damage[:4]}"


def _sql(path: Path, statement: str, args: tuple[object, ...] = ()) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement, args)  # type: ignore[arg-type]
    connection.close()


@pytest.mark.parametrize("table", [*VOUCHED, "worlds", "log"])
def test_a_deleted_row_is_found_and_named(whole: Path, copy: Path, table: str) -> None:
    """A row that was deleted behind the engine's back is missed by name."""
    connection = apsw.Connection(str(copy))
    ((key,),) = connection.execute(f"SELECT max({_keys(table)}) FROM {table}").fetchall()
    connection.execute(f"DELETE FROM {table} WHERE {_keys(table)} = ?", (key,))
    connection.close()
    found = _verified(copy)
    assert _names(table, key, found), found.damage[:4]


@pytest.mark.parametrize("table", VOUCHED)
def test_an_inserted_row_is_found_and_named(copy: Path, table: str) -> None:
    """A row that no changeset wrote is named."""
    key = _keys(table)
    columns = ", ".join(c for c in COLUMNS[table] if c != key)
    values = columns.replace("hash", "zeroblob(32)").replace(
        "key", "'other'" if table != "events" else "zeroblob(32)"
    )
    if table == "metadata":  # one row for each node and scope
        values = values.replace("scope", "scope + 1000")
    _sql(copy, f"INSERT INTO {table} ({key}, {columns}) SELECT 7777, {values} FROM {table} LIMIT 1")
    found = _verified(copy)
    assert _names(table, 7777, found), found.damage[:4]


def test_the_words_index_is_checked(copy: Path) -> None:
    """A missing row of the words index is named by its node, and a foreign one by itself."""
    connection = apsw.Connection(str(copy))
    (whole,) = connection.execute("SELECT * FROM fresh_words ORDER BY row DESC LIMIT 1").fetchall()
    tenant, row = whole[:2]
    connection.execute("DELETE FROM fresh_words WHERE row = ?", (row,))
    assert any(f"node row {row // 65536}" in d.where for d in _verified(copy).damage)
    connection.execute("INSERT INTO fresh_words VALUES (?, ?, ?, ?, ?)", whole)
    assert _verified(copy).ok
    connection.execute("INSERT INTO fresh_words VALUES (?, 655360000, 't1', 'needle', '')", (tenant,))
    connection.close()
    assert any("words row 655360000" in d.where for d in _verified(copy).damage)


def test_labels_are_checked(copy: Path) -> None:
    """A label that was removed or invented is named by its node."""
    _sql(copy, "UPDATE labels SET value = '\"bad\"' WHERE label = 'mood'")
    assert any(d.where.startswith("labels of node row") for d in _verified(copy).damage)


def test_text_that_is_no_longer_text(copy: Path) -> None:
    """A byte that makes text unreadable is damage with a name, not a crash of verify."""
    for table, column in (
        ("nodes", "content"),
        ("nodes", "metadata"),
        ("beliefs", "reason"),
        ("aliases", "name"),
        ("log", "kind"),
        ("nodes", "name"),
        ("edges", "metadata"),
    ):
        path = Path(shutil.copy(copy, copy.with_name(f"{table}.{column}.db")))
        connection = apsw.Connection(str(path))
        key = _keys(table)
        ((row,),) = connection.execute(f"SELECT max({key}) FROM {table} WHERE {column} != ''").fetchall()
        connection.execute(f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT) WHERE {key} = ?", (row,))
        connection.close()
        found = _verified(path)
        assert _names(table, row, found), (table, column, found.damage[:4])


def test_what_cannot_be_read_hides_nothing_behind_it(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is read to its end, however many batches lack a row."""
    monkeypatch.setattr("worldline.store.verify.BATCH", 3)
    _sql(copy, "UPDATE nodes SET content = CAST(x'ff41' AS TEXT) WHERE id = (SELECT min(id) FROM nodes)")
    ((first,),) = apsw.Connection(str(copy)).execute("SELECT min(id) FROM nodes").fetchall()
    unread = [d.where for d in _verified(copy).damage if d.what == "its text cannot be read any more"]
    assert len(unread) == 1
    assert f"(row {first})" in unread[0]


def test_flipped_bytes_in_the_file(copy: Path) -> None:
    """A bit flipped anywhere in stored text, on disk, is found; verify never crashes on any flip."""
    content = copy.read_bytes()
    places = [i for i in range(len(content)) if content.startswith(TEXT.encode(), i)]
    assert places
    chance = random.Random(7)
    for number in range(40):
        at = (
            chance.choice(places) + chance.randrange(len(TEXT))
            if number % 2
            else chance.randrange(100, len(content))
        )
        damaged = bytearray(content)
        damaged[at] ^= 1 << chance.randrange(8)
        path = copy.with_name(f"flip{number}.db")
        path.write_bytes(damaged)
        try:
            found = _verified(path)
        except StoreError:
            continue
        assert number % 2 == 0 or not found.ok, f"bit at {at} was not found"


def test_a_repaired_checksum_does_not_help(copy: Path) -> None:
    """Whoever changes a row and its checksum in the log still breaks the chain."""
    connection = apsw.Connection(str(copy))
    connection.execute("UPDATE beliefs SET vf = vf + 1 WHERE id = 9")
    rows = connection.execute("SELECT sequence, body FROM log").fetchall()
    sequence, body = rows[3]
    changed = body[:-1] + bytes([body[-1] ^ 1])
    connection.execute("UPDATE log SET body = ? WHERE sequence = ?", (changed, sequence))
    connection.close()
    where = " ".join(d.where for d in _verified(copy).damage)
    assert "beliefs row 9" in where
    assert f"changeset {sequence} " in where


def test_a_cut_log_is_found(copy: Path) -> None:
    """Dropping the newest changesets, rows and all, is found by the head that the tenant keeps."""
    _sql(copy, "DELETE FROM log WHERE sequence = (SELECT max(sequence) FROM log)")
    assert any("end of the log" in d.where for d in _verified(copy).damage)


@pytest.mark.parametrize("change", ["UPDATE tenants SET root = 0", "DELETE FROM tenants"])
def test_a_tenant_that_is_no_longer_listed_is_noticed(tmp_path: Path, whole: Path, change: str) -> None:
    """It would read as an empty memory: verify and the doctor say that it is none."""
    path = tmp_path / "unlisted.db"
    shutil.copy(whole, path)
    connection = apsw.Connection(str(path))
    connection.execute(change)
    connection.close()
    with Memory.open(path, Config(embedder="none")) as memory:
        assert memory.list().items == ()
        assert "tenants" in [damage.where for damage in memory.verify().damage]
        assert any(found.about == "file" for found in memory.ailments())


def test_an_empty_store_is_whole(tmp_path: Path) -> None:
    """Nothing was ever written, and nothing is missing."""
    with Memory.open(tmp_path / "new.db", Config(embedder="none")) as memory:
        assert memory.verify().ok
        assert not any(found.about == "file" for found in memory.ailments())
