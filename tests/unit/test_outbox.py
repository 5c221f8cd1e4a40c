"""What waits to be sent to a server goes out as one statement, before anything that could look at it."""

from worldline.store.postgres import Outbox, joined, tables_of

COLUMNS = ("tenant", "key", "line")


def test_parts_become_one_statement_with_names_of_their_own() -> None:
    """Two parts that call a value the same do not meet in the statement."""
    box = Outbox()
    box.later("UPDATE tenants SET head = %(head)s WHERE tenant = %(t)s", {"head": b"h", "t": 1})
    box.add("blocks", COLUMNS, [(1, "a", 2)])
    box.add("blocks", COLUMNS, [(1, "b", 3)])
    sql, values = joined(box.emptied())

    assert sql.startswith(
        "WITH w0 AS (UPDATE tenants SET head = %(head_0)s WHERE tenant = %(t_0)s) INSERT INTO"
    )
    assert sql.endswith(" ON CONFLICT DO NOTHING")
    assert values == {"head_0": b"h", "t_0": 1, "tenant_1": [1, 1], "key_1": ["a", "b"], "line_1": [2, 3]}
    assert box.emptied() == []


def test_it_knows_whom_it_concerns() -> None:
    """A statement that names a table of what waits is one that could look at it; others are not."""
    box = Outbox()
    assert not box.names("SELECT 1 FROM blocks")
    box.add("blocks", COLUMNS, [(1, "a", 2)])
    assert box.names("SELECT 1 FROM nodes n JOIN blocks b ON b.line = n.id")
    assert not box.names("SELECT 1 FROM nodes")
    assert not box.has("blocks")
    box.later("UPDATE nodes SET name = %(name)s", {"name": "x"})
    assert box.has("nodes")
    assert tables_of("SELECT texts FROM nodes CROSS JOIN (SELECT 1 FROM edges) x") == {"nodes", "edges"}
