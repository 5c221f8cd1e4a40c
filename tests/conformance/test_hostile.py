"""Every read path, turned against another tenant: what the statements of one tenant see of another is nothing."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.test_copy import filled
from conformance.test_statements import WHOLE, live
from worldline.hashing import tenant_number
from worldline.store.postgres import PostgresStore

_OWN = re.compile(r":t\b")


def test_a_statement_that_names_another_tenant_finds_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one tenant's transaction, each statement of the product finds of another what it finds of nobody: nothing."""
    mine, theirs, nobody = (uuid.uuid4().hex for _ in range(3))
    asked: dict[str, dict[str, Any]] = {}
    with filled(url, theirs) as other, filled(url, mine) as memory:
        live(other, tmp_path)
        original = PostgresStore.query

        def listening(self: PostgresStore, sql: str, args: Any = ()) -> list[Any]:
            if isinstance(args, Mapping) and "t" in args and sql.lstrip().startswith(("SELECT", "WITH")):
                asked.setdefault(sql, dict(args))
            return original(self, sql, args)

        with monkeypatch.context() as recording:
            recording.setattr(PostgresStore, "query", listening)
            live(memory, tmp_path)
        store, seen = memory._h.store, dict[str, list[Any]]()
        with memory._h.reading():
            for sql, args in asked.items():
                if sql.startswith(WHOLE) or "INSERT INTO" in sql or "UPDATE" in sql:
                    continue
                hostile = _OWN.sub(":other", sql)
                rest = {name: value for name, value in args.items() if name != "t"}
                answers = [
                    store.query(hostile, {**rest, "other": tenant_number(whose)})
                    for whose in (theirs, nobody)
                ]
                if answers[0] != answers[1]:
                    seen[sql] = answers[0]
        assert len(asked) > 200
        assert seen == {}
        with other._h.reading():  # the same statements, asked by whom they are about, do find something
            own = [
                sql for sql, args in asked.items() if _found(other._h.store, sql, args, tenant_number(theirs))
            ]
        assert len(own) > 100


def _found(store: Any, sql: str, args: dict[str, Any], tenant: int) -> bool:
    if sql.startswith(WHOLE) or "INSERT INTO" in sql or "UPDATE" in sql:
        return False
    return any(any(value for value in row) for row in store.query(sql, {**args, "t": tenant}))
