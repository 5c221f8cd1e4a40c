"""SQL lives in the store: whoever reads, queries or serves asks it by what it returns."""

from __future__ import annotations

import re
from pathlib import Path

import worldline

ROOT = Path(worldline.__file__).parent
SPOKEN = re.compile(
    r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY|GROUP BY|JOIN|FROM) (?!else\b)[a-z:({*]"
)
"""The beginnings of SQL clauses, as statements and fragments write them."""
ASKED = re.compile(r"(?:view|store|tx)\.(?:query|column|distinct|execute|insert|nodes|edge_rows|proposals)\(")
"""Ways to hand SQL to the store."""
FREE = sorted(
    path for path in ROOT.rglob("*.py") if path.parts[len(ROOT.parts)] not in ("store", "bench", "testing.py")
)


def test_no_sql_outside_the_store():
    """No module writes a statement or a part of one, or hands one to the store."""
    told = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in FREE
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if SPOKEN.search(line) or ASKED.search(line)
    ]

    assert not told


BEYOND = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT / "store")


def test_ports_are_named_not_what_is_behind_them():
    """No module outside the store names a view or an index of SQL: it takes the protocol."""
    behind = re.compile(r"\b(?:SqlView|VectorIndex)\b")

    assert [str(path.relative_to(ROOT)) for path in BEYOND if behind.search(path.read_text())] == []


def test_sql_would_be_found():
    """What the law looks for stands in the store itself, so it can be found."""
    store = "".join(path.read_text() for path in (ROOT / "store").glob("*.py"))

    assert SPOKEN.search(store)
    assert ASKED.search(store)
