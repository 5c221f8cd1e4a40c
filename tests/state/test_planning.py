"""The planner knows every index from the first row on, and nothing that is done to a store makes it forget."""

import apsw
import pytest

from worldline import Config, Event, Memory
from worldline.store import schema
from worldline.store.schema import INDEXES
from worldline.store.sqlite import SqliteStore
from worldline.write.given import Note

PLAIN = Config(embedder="none")
LATEST = (
    "SELECT v.sender FROM edges d CROSS JOIN events v ON v.tenant = :t AND v.node = d.dst WHERE d.tenant = :t"
    " AND d.src = :src AND d.type = 'derived_from' ORDER BY d.id LIMIT 1"
)


def told(path) -> bool:
    """Whether the file has the figures."""
    connection = apsw.Connection(str(path))
    try:
        return schema.planner_is_told(connection)
    finally:
        connection.close()


def test_figures_name_every_index_as_the_store_does(tmp_path):
    """SQLite itself knows each index under the name, and with as many columns, as the figures say."""
    Memory.open(tmp_path / "m.db", PLAIN).close()
    connection = apsw.Connection(str(tmp_path / "m.db"))
    for table, index, figures in schema.figures():
        held = [row[1] for row in connection.execute(f"PRAGMA index_list({table})")]
        if index != table:
            assert index in held
            columns = list(connection.execute(f"PRAGMA index_info({index})"))
            assert len(figures.split()) == len(columns) + 1, index
    assert {index for _, index, _ in schema.figures()} >= set(INDEXES)
    connection.close()


def test_one_row_is_found_by_its_index_in_a_store_without_rows(tmp_path):
    """The first of a few edges is not looked for in all of them."""
    store = SqliteStore(tmp_path / "m.db", PLAIN)
    plan = [
        row[3]
        for row in store.connection().execute(f"EXPLAIN QUERY PLAN {LATEST}", {"t": 1, "src": 1}).fetchall()
    ]
    assert any("edges_out (tenant=? AND src=?" in step for step in plan), plan
    store.close()


@pytest.mark.parametrize("what", ["forget", "load", "reindex"])
def test_the_planner_keeps_its_figures(tmp_path, what):
    """Sweeping a store, loading one whose indexes are made afterwards, and reindexing leave them."""
    with Memory.open(tmp_path / "m.db", PLAIN) as memory:
        if what == "load":
            memory.load([Note("learning", f"note {n}") for n in range(50)])
        else:
            memory.remember(Event("I bought a telescope.", "Vera"))
            memory.forget(
                memory.list("Turn").items[0], confirm=True
            ) if what == "forget" else memory.reindex()
    assert told(tmp_path / "m.db")


def test_an_older_store_is_told_when_it_is_opened(tmp_path):
    """A store that has none, or others that were taken from its rows, gets these."""
    path = tmp_path / "m.db"
    Memory.open(path, PLAIN).close()
    connection = apsw.Connection(str(path))
    connection.execute("ANALYZE")
    connection.close()
    assert not told(path)
    Memory.open(path, PLAIN).close()
    assert told(path)
