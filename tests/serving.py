"""A server as a child process, for the tests of every surface that it has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx2

import warm


@contextmanager
def running(db: str, *args: str, cold: bool = False, **environ: str) -> Iterator[str]:
    """`worldline serve` on a free port; gives its address."""
    python = [sys.executable] if cold else warm.python()
    command = [*python, "-m", "worldline", "serve", "--db", db, "--port", "0", "--json", *args]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "WORLDLINE_EMBEDDER": "none", **environ},
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


web = SimpleNamespace(
    **{name: partial(getattr(httpx2, name), verify=False) for name in ("get", "post", "delete", "request")}
)
"""Single requests; to read the list of the world's authorities before each takes longer than the request."""


class Rest:
    """A client of the REST API that returns what it got as JSON."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get(self, path: str, code: int = 200, **query: Any) -> Any:
        """The answer to a GET."""
        return self._checked(self._client.get(f"/v1/{path}", params=query), code)

    def post(self, path: str, body: Any = None, code: int = 200, **query: Any) -> Any:
        """The answer to a POST."""
        return self._checked(self._client.post(f"/v1/{path}", json=body or {}, params=query), code)

    @staticmethod
    def _checked(answer: Any, code: int) -> Any:
        assert answer.status_code == code, answer.text
        return answer.json()


@contextmanager
def rest(url: str, token: str | None = None) -> Iterator[Rest]:
    """A client on an address."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    with httpx2.Client(base_url=url, headers=headers, timeout=60, verify=False) as client:
        yield Rest(client)
