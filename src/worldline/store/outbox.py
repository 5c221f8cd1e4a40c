"""What a write transaction has still to tell its server: rows, and statements whose outcome nobody looks at.

They go out together as one statement (`WITH … INSERT …`), before the first one that names a table of theirs,
or with the commit: a changeset then costs a few statements instead of twenty. The parts of one statement do not
see each other, so no table is in two of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from worldline.ports import Row
from worldline.store import dialect
from worldline.store.schema import TABLES

Part = tuple[str, dict[str, Any]]
"""A statement and its values."""


class Outbox:
    """The rows and statements of one transaction that wait."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        self._statements: list[Part] = []
        self._tables: set[str] = set()

    def names(self, sql: str) -> bool:
        """Whether something waits for a table that a statement names."""
        return not self._tables.isdisjoint(tables_of(sql)) if self._tables else False

    def has(self, table: str) -> bool:
        """Whether a statement waits that is about this table."""
        return any(table in tables_of(sql) for sql, _ in self._statements)

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """New rows of a table."""
        self._tables.add(table)
        self._rows.setdefault((table, tuple(columns)), []).extend(rows)

    def later(self, sql: str, args: Mapping[str, Any]) -> None:
        """A statement in the engine's own words."""
        self._tables |= tables_of(sql)
        self._statements.append((sql, dict(args)))

    def emptied(self) -> list[Part]:
        """All that waits, a part a table."""
        parts = [*self._statements, *(_insertion(*of, rows) for of, rows in self._rows.items())]
        self._rows, self._statements, self._tables = {}, [], set()
        return parts


@lru_cache(4096)
def tables_of(sql: str) -> frozenset[str]:
    """The tables that a statement names; written so everywhere, which a test asserts."""
    return frozenset(TABLES) & frozenset(re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)", sql))


def joined(parts: Sequence[Part]) -> Part:
    """Several parts as one statement; each has its own names for its values."""
    texts, values = [], dict[str, Any]()
    for number, (sql, args) in enumerate(parts):
        texts.append(_numbered(sql, number))
        values |= {f"{name}_{number}": value for name, value in args.items()}
    *before, last = texts
    opening = ", ".join(f"w{number} AS ({text})" for number, text in enumerate(before))
    return (f"WITH {opening} {last}" if before else last), values


@lru_cache(1024)
def _numbered(sql: str, number: int) -> str:
    return re.sub(r"%\((\w+)\)s", rf"%(\1_{number})s", sql)


def _insertion(table: str, columns: tuple[str, ...], rows: Sequence[Row]) -> Part:
    """Many rows in one statement, one array a column."""
    return dialect.insertion(table, columns), dict(_arrays(table, columns, rows))


def _arrays(table: str, columns: tuple[str, ...], rows: Sequence[Row]) -> Iterator[tuple[str, list[Any]]]:
    types = dialect.column_types(table)
    for at, name in enumerate(columns):
        yield name, [_as(types[name], row[at]) for row in rows]


def _as(type_: str, value: Any) -> Any:
    """All values of a column are of one kind in an array."""
    if value is None:
        return None
    return float(value) if type_ == "DOUBLE PRECISION" else int(value) if type_ == "BIGINT" else value
