"""Indexes are disposable: bad rows do no harm, verify sees them, reindex makes them anew; nothing is wrong silently."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import numpy as np
import pytest

from worldline import Memory
from worldline.config import Config
from worldline.errors import WorldlineError
from worldline.model import Fact
from worldline.store import reindexing
from worldline.store.schema import TABLES
from worldline.testing import HashEmbedder

CONFIG = Config(embedder="none")
WIDTH = 32
QUESTIONS = ("Where does Ann live?", "piano lessons", "Who is Bob?", "zebra")


def opened(path: Path) -> Memory:
    """A store with vectors."""
    return Memory.open(path, CONFIG, embedder=HashEmbedder(WIDTH), clock=lambda: 1_767_225_600_000_000)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with talk, notes, a night and something archived."""
    path = tmp_path_factory.mktemp("derived") / "m.db"
    with opened(path) as m:
        for day, (who, text) in enumerate(
            [
                ("Ann", "I live in Oslo now."), ("Bob", "I work at the zoo with a zebra."),
                ("Ann", "My piano lessons begin in May."), ("Bob", "Ann is my sister, she lives in Oslo."),
                ("Ann", "Bob likes the piano too."), ("Ann", "The city of Oslo is cold in winter."),
            ],
            1,
        ):  # fmt: skip
            m.remember(text, speaker=who, said_at=f"2025-01-0{day}", session="talk", metadata={"day": day})
        m.note("learning", "zebra", "A zebra has stripes.", metadata={"animal": True})
        m.fact(Fact("Ann", "plays", "piano"))
        m.consolidate()
        m.recall("zebra")
        m.remember(
            "And one more thing about the winter.", speaker="Ann", said_at="2025-01-08", session="talk"
        )
        assert m.verify().ok
    return path


def answers(path: Path) -> Any:
    """What a store says to everything that a caller would ask first."""
    with opened(path) as m:
        recalled = [
            (found.answer, [hit.node.id for hit in found.hits]) for found in (m.recall(q) for q in QUESTIONS)
        ]
        listed = [node.id for node in m.list(["Turn", "learning", "Fact", "Entity"]).items]
        labelled = [node.id for node in m.list("Turn", metadata={"day": 2}).items]
        known = [msgspec.to_builtins(m.profile(name)) for name in ("Ann", "Bob")]
        return recalled, listed, labelled, known, m.context(max_tokens=300).text


@pytest.fixture(scope="module")
def before(filled: Path) -> Any:
    """What it says while nothing is changed."""
    return answers(filled)


def sql(path: Path, statement: str, args: tuple[Any, ...] = ()) -> None:
    """One statement behind the engine's back."""
    connection = apsw.Connection(str(path))
    connection.execute(statement, args)
    connection.close()


@pytest.mark.parametrize(
    "vector", [np.full(WIDTH, np.nan, np.float16).tobytes(), b"\0\0" * 7, b"", b"\1" * 3], ids=str
)
def test_a_bad_vector_does_no_harm(filled: Path, tmp_path: Path, vector: bytes) -> None:
    """Recall and sleep go on without it, verify tells, reindex mends."""
    path = Path(shutil.copy(filled, tmp_path / "m.db"))
    before = answers(path)
    sql(path, "UPDATE embeddings SET vector = ? WHERE id = 1", (vector,))
    with opened(path) as m:
        assert m.recall("zebra").hits
        m.consolidate()
        assert not m.verify().ok
        assert m.reindex().vectors == 1
        verified = m.verify()
        assert verified.ok, verified.damage[:3]
    assert answers(path) == before


def test_reindex_mends_what_is_derived(filled: Path, tmp_path: Path) -> None:
    """Words, descriptions and labels that were lost or changed are made anew, and answers are as before."""
    path = Path(shutil.copy(filled, tmp_path / "m.db"))
    before = answers(path)
    for table in ("words", "fresh_words", "labels"):
        sql(path, f"DELETE FROM {table}")
    sql(path, "UPDATE texts SET speaker = 'mallory', position = position + 1")
    sql(path, "UPDATE words_total SET texts = 1")
    sql(path, "DELETE FROM texts WHERE node = (SELECT max(node) FROM texts)")
    with opened(path) as m:
        assert not m.verify().ok
        m.reindex()
        verified = m.verify()
        assert verified.ok, verified.damage[:3]
    assert answers(path) == before


def cells() -> Iterator[tuple[str, str]]:
    """Every column of every table that is there."""
    connection = apsw.Connection(":memory:")
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({columns})")
        for row in connection.execute(f"PRAGMA table_info({table})").fetchall():
            yield table, row[1]


def changed(value: Any) -> Any:
    """A value that differs enough to matter."""
    if value is None:
        return 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 0x41]) + value[1:] if value else b"x"
    if isinstance(value, int):
        return value + 1 if value < 2**62 else value - 1
    if isinstance(value, float):
        return value / 2 + 0.1
    return str(value) + "x"


@pytest.mark.parametrize(("table", "column"), list(cells()), ids=[f"{t}.{c}" for t, c in cells()])
def test_no_changed_value_changes_an_answer_silently(
    filled: Path, before: Any, tmp_path: Path, table: str, column: str
) -> None:
    """A changed value is seen by verify (or keeps the store from opening), or no answer differs."""
    source = apsw.Connection(str(filled))
    name = f'"{column}"'
    values = source.execute(
        f"SELECT DISTINCT {name} FROM {table} ORDER BY {name} IS NULL, 1 DESC LIMIT 2"
    ).fetchall()
    source.close()
    for number, (value,) in enumerate(values):
        path = Path(shutil.copy(filled, tmp_path / f"{number}.db"))
        try:
            sql(path, f"UPDATE OR IGNORE {table} SET {name} = ? WHERE {name} IS ?", (changed(value), value))
        except apsw.ConstraintError:  # the table itself refuses it
            continue
        try:
            with opened(path) as m:
                seen = not m.verify().ok
            after = before if seen else answers(path)
        except WorldlineError:  # a refusal in plain words is not a silent answer; any other error is a defect
            continue
        assert seen or after == before, f"{value!r} → {changed(value)!r}"


@pytest.mark.parametrize("table", sorted({table for table, _ in cells()} - {"embeddings", "cold_embeddings"}))
def test_no_lost_row_changes_an_answer_silently(
    filled: Path, before: Any, tmp_path: Path, table: str
) -> None:
    """A row that is gone is noticed by verify (or keeps the store from opening), or no answer differs.

    A text without a vector is a usual state (it was told where there was no embedder), so that is not damage.
    """
    source = apsw.Connection(str(filled))
    rows = source.execute(f"SELECT * FROM {table}").fetchall()
    names = [row[1] for row in source.execute(f"PRAGMA table_info({table})").fetchall()]
    source.close()
    its_own = " AND ".join(f'"{name}" IS ?' for name in names)
    for number in {0, len(rows) // 2, len(rows) - 1} if rows else ():
        path = Path(shutil.copy(filled, tmp_path / f"{number}.db"))
        sql(path, f"DELETE FROM {table} WHERE {its_own}", rows[number])
        try:
            with opened(path) as m:
                seen = not m.verify().ok
            after = before if seen else answers(path)
        except WorldlineError:
            continue
        assert seen or after == before, f"{dict(zip(names, rows[number], strict=True))}"


# Descriptions and their checksums ---------------------------------------------------------------------


def described(path: Path) -> dict[int, bytes]:
    """The stored descriptions."""
    connection = apsw.Connection(str(path))
    return dict(connection.execute("SELECT node, described FROM texts ORDER BY node"))


def test_every_description_has_a_seal_and_is_what_describing_gives(filled: Path) -> None:
    """What a checksum vouches for is what the text, described anew, would be."""
    with opened(filled) as m:
        whole = reindexing.texts(m.handle.store.query, m.handle.tenant_row().id)
        anew = {text.node: reindexing.described(text.draft)[3] for text in whole}
    held = described(filled)
    assert held == {node: anew[node] for node in held}
    assert all(blob[:1] == b"\x97" for blob in held.values())


def test_a_sound_description_of_another_text_is_found_out(filled: Path, tmp_path: Path) -> None:
    """A checksum is of the text too: two descriptions that changed places are told."""
    path = Path(shutil.copy(filled, tmp_path / "m.db"))
    (one, first), (other, second) = [
        item for item in described(path).items() if item[1] != described(path)[min(described(path))]
    ][:2]
    sql(path, "UPDATE texts SET described = ? WHERE node = ?", (first, other))
    sql(path, "UPDATE texts SET described = ? WHERE node = ?", (second, one))
    with opened(path) as m:
        assert [damage.what for damage in m.verify().damage] == ["it is not that of its text"]


def test_descriptions_without_a_seal_are_made_anew_to_compare(filled: Path, tmp_path: Path) -> None:
    """An older file has none, and is as sound; a change in one of its descriptions is found all the same."""
    path = Path(shutil.copy(filled, tmp_path / "m.db"))
    bare = {node: b"\x96" + blob[1:-5] for node, blob in described(path).items()}
    for node, blob in bare.items():
        sql(path, "UPDATE texts SET described = ? WHERE node = ?", (blob, node))
    with opened(path) as m:
        assert m.verify().ok
    node, blob = next(iter(bare.items()))
    changed_blob = blob[:3] + bytes([blob[3] ^ 1]) + blob[4:]
    sql(path, "UPDATE texts SET described = ? WHERE node = ?", (changed_blob, node))
    with opened(path) as m:
        assert not m.verify().ok
