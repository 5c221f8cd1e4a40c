"""One real PostgreSQL server for all tests of a run, and the same tests against it as against files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from hypothesis import settings

from conformance.server import SETTINGS, Server
from worldline import Memory
from worldline.config import load
from worldline.hashing import tenant_number
from worldline.store import sqlite
from worldline.store.postgres import PostgresStore

EXAMPLES = 4
ROLE = "worldline_tester"
"""Nobody special: row-level security holds for it."""


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database that the workers of a run share; whoever comes first starts the server, the last one ends it."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if hasattr(request.config, "workerinput") else folder
    state, lock = folder / "postgres.json", folder / "postgres.lock"
    with _alone(lock):
        if not state.exists():
            server = Server(settings=SETTINGS | {"synchronous_commit": "off"})  # nobody kills this one
            server.start()
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute(f"CREATE ROLE {ROLE} LOGIN")
                connection.execute(f"CREATE DATABASE tests OWNER {ROLE}")
            with psycopg.connect(server.url("tests"), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION vector")
            held = {"url": server.url("tests", ROLE), "folder": str(server.folder), "users": 0}
            state.write_text(json.dumps(held))
        held = json.loads(state.read_text())
        state.write_text(json.dumps({**held, "users": held["users"] + 1}))
    yield held["url"]
    with _alone(lock):
        held = json.loads(state.read_text())
        state.write_text(json.dumps({**held, "users": held["users"] - 1}))
        if held["users"] == 1:
            Server(Path(held["folder"])).stop()


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest) -> str:
    """What a store lies in: `file`, or a server, where every store of the test is a tenant of one database."""
    chosen = getattr(request, "param", "file")
    if chosen != "file":
        request.getfixturevalue("on_postgres")
        _fewer_examples(request.function, request.getfixturevalue("monkeypatch"))
    return str(chosen)


def _fewer_examples(test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is searched for broken laws is the engine above the store; the other store needs less of it."""
    held = getattr(test, "_hypothesis_internal_use_settings", None)
    if held is not None:
        fewer = settings(held, max_examples=min(EXAMPLES, held.max_examples))
        monkeypatch.setattr(test, "_hypothesis_internal_use_settings", fewer)


@pytest.fixture
def on_postgres(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store that a test opens, whatever its path, is a tenant of one database with a name of its own."""
    cluster = request.node.callspec.params.get("engine") == "citus"
    url = _distributed() if cluster else request.getfixturevalue("url")
    original, own_tenants = Memory.open.__func__, set[str]()  # type: ignore[attr-defined]

    def opened(
        cls: Any, path: Any = None, config: Any = None, tenant: Any = "default", **more: Any
    ) -> Memory:
        own = uuid.uuid4().hex if str(path) == ":memory:" else hashlib.sha1(str(path).encode()).hexdigest()
        whose = f"{own[:12]}/{tenant}" if isinstance(tenant, str) else tenant
        memory = original(cls, url, load() if config is None else config, whose, **more)
        memory.handle.store.recent = tenant_number(memory.handle.tenant)
        own_tenants.add(memory.handle.tenant)
        memory.handle.store.opened = own_tenants
        return memory

    monkeypatch.setattr(Memory, "open", classmethod(opened))
    monkeypatch.setattr(sqlite, "_server", _shared)


@cache
def _distributed() -> str:
    """The cluster's URL, once every table is distributed."""
    import conftest

    with closing(PostgresStore(conftest.CITUS, load())) as store:
        store.distribute()
    return conftest.CITUS


class _Lasting(PostgresStore):
    """A store that many tests share: opening one costs more than most tests do.

    A statement of a test's own that names no tenant is about the one that was opened last.
    """

    recent = 0
    opened: frozenset[str] | set[str] = frozenset()
    """The tenants of the test that runs: others lie beside them."""

    def query(self, sql: str, args: Any = ()) -> list[Any]:
        """As in the store."""
        if not self._stack() and not (isinstance(args, dict) and "t" in args):
            with self._reading(self.recent):
                return super().query(sql, args)
        return super().query(sql, args)

    def tenants(self) -> list[str]:
        """Those of this test; the store is asked as nobody."""
        with self._reading(0):
            return [name for name in super().tenants() if name in self.opened]

    def close(self) -> None:
        self.keep_shown()

    def really_close(self) -> None:
        super().close()


_stores: dict[tuple[str, bytes], _Lasting] = {}


def _shared(url: str, config: Any) -> _Lasting:
    key = url, msgspec.json.encode(config)
    if key not in _stores:
        _stores[key] = _Lasting(url, config)
    return _stores[key]


@pytest.fixture(scope="session", autouse=True)
def _ended() -> Iterator[None]:
    yield
    for store in _stores.values():
        store.really_close()
    _stores.clear()
