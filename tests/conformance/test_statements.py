"""Every statement of the product names the tenant beside every table, so that it reaches one shard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from conformance.test_copy import filled
from worldline import Memory
from worldline.config import Config
from worldline.store.postgres import PostgresStore, tables_of
from worldline.store.schema import TABLES
from worldline.store.sqlite import SqliteStore
from worldline.testing import HashEmbedder

TENANTS = set(TABLES) - {"meta"}
WHOLE = (
    "SELECT name FROM tenants",
    "SELECT tenant, name FROM tenants",
    "SELECT 1 FROM tenants LIMIT 2",
    "DROP INDEX",
    "CREATE ",
)
"""What concerns a store as a whole: who is in it."""


def unbound(statement: str, dialect: str = "sqlite") -> list[str]:
    """The tables of a statement that are not bound to a tenant."""
    return [table.sql() for table in _tables(statement, dialect) if not _is_bound(table)]


def named(statement: str) -> set[str]:
    """The tables of a statement, as a parser reads it."""
    return {table.name for table in _tables(statement)}


def _tables(statement: str, dialect: str = "sqlite") -> list[exp.Table]:
    sql = re.sub(r":only\b", ":only_", statement)  # a word of its own to the parser
    tree = sqlglot.parse_one(sql, read=dialect)
    return [table for table in tree.find_all(exp.Table) if table.name in TENANTS]


def _is_bound(table: exp.Table) -> bool:
    home = table.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Insert)
    if isinstance(home, exp.Insert):
        return any(
            column.name == "tenant" for column in home.this.find_all(exp.Identifier, exp.Column)
        ) or bool(table.find_ancestor(exp.Select))
    alone = len([t for t in _own(home, exp.Table) if t.name in TABLES]) == 1
    names = {table.alias_or_name} | ({""} if alone else set())
    return any(
        side.table in names
        for equal in _own(home, exp.EQ)
        for side in (equal.left, equal.right)
        if isinstance(side, exp.Column) and side.name == "tenant"
    )


def _own(home: exp.Expression | None, kind: type[exp.Expression]) -> Iterator[exp.Expression]:
    """The nodes of a kind that belong to a select itself, and not to one inside it."""
    assert home is not None
    for node in home.find_all(kind):
        if node.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Insert) is home:
            yield node


def test_the_check_finds_what_is_not_bound() -> None:
    """A join, a sub-select and an update without a tenant are found."""
    assert unbound("SELECT 1 FROM nodes n CROSS JOIN beliefs b ON b.node = n.id WHERE n.tenant = :t") == [
        "beliefs AS b"
    ]
    assert unbound("SELECT (SELECT max(id) FROM edges) FROM nodes WHERE tenant = :t") == ["edges"]
    assert unbound("UPDATE events SET state = 'x' WHERE node = 3") == ["events"]
    assert unbound("INSERT INTO labels (label) VALUES ('x')") == ["labels"]
    above = "WITH RECURSIVE x(id) AS (SELECT 1 UNION SELECT e.dst FROM x JOIN edges e ON e.src = x.id) SELECT id FROM x"
    assert unbound(above) == ["edges AS e"]
    assert unbound(above.replace(" ON e", " ON e.tenant = :t AND e")) == []
    assert unbound(
        "SELECT 1 FROM nodes WHERE tenant = :t AND EXISTS (SELECT 1 FROM facts WHERE node = id)"
    ) == ["facts"]
    assert unbound("SELECT 1 FROM nodes WHERE tenant = :t UNION ALL SELECT 1 FROM events WHERE node = 1") == [
        "events"
    ]
    assert unbound("INSERT INTO labels (tenant, label) SELECT 1, name FROM nodes WHERE id = 1") == ["nodes"]
    assert unbound("WITH x AS (SELECT id FROM edges) SELECT 1 FROM nodes WHERE tenant = :t AND id IN x") == [
        "edges"
    ]
    assert unbound("SELECT 1 FROM nodes n JOIN beliefs b ON b.tenant = n.tenant WHERE n.tenant = :t") == []


def live(memory: Memory, folder: Path) -> None:
    """As many verbs as one memory can be asked."""
    memory.remember(
        "My sister Carla moved to Oslo in May 2024.", speaker="Ana", session="t", said_at="2026-01-02"
    )
    memory.remember("No, Carla lives in Bergen now.", speaker="Ana", session="t", said_at="2026-01-02")
    a, b = memory.note("Entity", "Karla"), memory.note("Entity", "Carla Maria")
    memory.link(a, "same_as", b)
    for proposal in memory.merges()[:1]:
        memory.accept_merge(proposal)
    world = memory.note("project", "house", "a new roof")
    memory.enter(world.id).note("context", "colour", "red")
    memory.quarantine(world, "doubt")
    memory.confirm(world)
    memory.fact({"subject": "Ana", "relation": "lives in", "object": "Lisbon"})
    for handle in (memory, memory.scoped(user="u"), memory.at(as_of="2030-01-01"), memory.enter(world.id)):
        for question in ("Where does Carla live?", "Who likes tea?", "What should I cook tonight?"):
            handle.recall(question)
        handle.list("context", metadata={"mood": "calm"})
        handle.timeline("Carla")
        handle.density("tea")
        handle.worlds()
        handle.stats()
        list(handle.changes())
    hit = memory.recall("Where does Carla live?").hits[0].node
    memory.why(hit)
    memory.history(hit)
    memory.walk(hit)
    memory.conflicts()
    memory.feedback(hit, "useful")
    memory.explain("tea", hit)
    memory.undo(memory.note("context", "to be undone", "x"))
    memory.diff("2020-01-01", "2030-01-01")
    memory.profile("Ana")
    memory.episodes()
    memory.context()
    memory.pin(hit)
    memory.consolidate()
    memory.export(folder / "all.jsonl")
    memory.verify()
    memory.reembed()
    memory.reread(everything=True)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every statement that is sent to a store."""
    found: set[str] = set()
    for store in (SqliteStore, PostgresStore):
        for name in ("query", "insert", "later"):

            def listening(self, sql, args=(), original=getattr(store, name)):
                found.add(sql)
                return original(self, sql, args)

            monkeypatch.setattr(store, name, listening)
    return found


def test_every_statement_names_its_tenant(tmp_path: Path, recorded: set[str]) -> None:
    """Over a life with nights, merges, worlds, scopes, exports and undoing, no table is left without."""
    with filled(tmp_path / "a.db", "default") as memory:
        live(memory, tmp_path)
    with Memory.open(tmp_path / "b.db", Config(embedder="none"), embedder=HashEmbedder()) as other:
        other.import_(tmp_path / "all.jsonl")
        other.absorb(tmp_path / "a.db", tenant="default")
    own = [
        sql
        for sql in recorded
        if not sql.startswith(WHOLE) and "NOT EXISTS (SELECT 1 FROM tenants" not in sql
    ]
    assert len(own) > 250
    assert {sql: missing for sql in own if (missing := unbound(sql))} == {}
    assert {sql for sql in own if named(sql) - tables_of(sql)} == set()
