"""The verbs that serve: MCP on standard input and output, or everything over HTTP."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from worldline.errors import Refused, WorldlineError
from worldline.memory import Memory
from worldline.model import Scope
from worldline.surfaces import auth, limits
from worldline.surfaces.options import Bound, Told, alone, serves
from worldline.surfaces.verbs import SCOPES

_TOOLS = click.option(
    "--tools", type=click.Choice(["core", "full"]), default="core", show_default=True,
    help="The ten tools, or also profile, link, walk, timeline, feedback and merges.",
)  # fmt: skip


_SLEEP = click.option(
    "--sleep-every", metavar="MINUTES", type=click.FloatRange(min=0), default=0.0,
    help="Consolidate in the background, so often [never].",
)  # fmt: skip


@serves
@_TOOLS
@_SLEEP
def mcp(bound: Bound, tools: str, sleep_every: float) -> None:
    """The scope given here binds every call: none can name another user, agent, app or run. Without one,
    calls choose their own.

    Example:
      claude mcp add memory -- worldline mcp --user alice
      worldline mcp --db team.db --agent reviewer --tools full
    """
    _require("mcp", "mcp")
    from worldline.surfaces.mcp_server import run_stdio

    scope, unscoped = _scope(bound)
    with unscoped.memory() as memory, watch(memory, sleep_every):
        run_stdio(memory, scope, "full" if tools == "full" else "core")


@serves
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7733, show_default=True,
    help="Port to listen on; 0 chooses a free one.",
)  # fmt: skip
@click.option(
    "--tokens", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help='TOML: tenant = "token" or a list of them; chmod 600.',
)  # fmt: skip
@click.option(
    "--rate", metavar="N", type=click.FloatRange(min=0), default=200.0, show_default=True,
    help="Requests a second of one client; 0 for any number.",
)  # fmt: skip
@click.option("--log", is_flag=True, help="A JSON line a request on standard error, without memory text.")
@_TOOLS
@_SLEEP
def serve(
    bound: Bound, host: str, port: int, tokens: Path | None, rate: float, log: bool, tools: str,
    sleep_every: float,
) -> None:  # fmt: skip
    """Without tokens (a file, or WORLDLINE_TOKEN) it listens on this machine only. The explorer is at
    /, the REST API under /v1 (described in /openapi.json), MCP at /mcp; /healthz tells whether it is
    ready, /metrics what it has done. A scope given here binds every request: none can name another.

    Example:
      worldline serve
      worldline serve --host 0.0.0.0 --tokens tokens.toml --sleep-every 60
    """
    _require("uvicorn", "web")
    import uvicorn

    from worldline.surfaces import http

    known = auth.load(tokens, bound.tenant, os.environ)
    auth.require_safe(host, known)
    scope, unscoped = _scope(bound)
    with unscoped.memory() as memory, _listening(host, port) as listening, watch(memory, sleep_every):
        connections = limits.Connections()
        service = http.Service(
            memory, known, bound.tenant, host, scope, tools, rate, sys.stderr if log else None, connections
        )
        at = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        bound.answer({"url": at}, [f"{at}  explorer; {at}/v1 REST; {at}/mcp MCP   (Ctrl-C ends it)"])
        sys.stdout.flush()
        config = uvicorn.Config(
            http.app(service), log_level="warning", access_log=False, server_header=False, ws="none",
            timeout_graceful_shutdown=3, http=limits.protocol(connections),
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1024)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each body waits 40 ms
        return listening
    except OSError as error:
        raise Refused(f"cannot listen on {host} port {port}: {error.strerror or error}") from None


def _scope(bound: Bound) -> tuple[Scope, Bound]:
    """The scope that binds every call, and the same options without it."""
    scope = Scope(**{kind: getattr(bound.whose, kind) for kind in SCOPES})
    return scope, bound._replace(whose=replace(bound.whose, **dict.fromkeys(SCOPES)))


def _require(module: str, extra: str) -> None:
    if find_spec(module) is None:
        raise Refused(f"this needs an optional part: pip install 'worldline[{extra}]'")


@alone
@click.option(
    "--tokens", metavar="FILE", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="The tokens file of `worldline serve`; it is made if it is not there.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="The token opens reads only.")
@click.option("--rotate", is_flag=True, help="Take the tenant's other tokens away.")
def token(bound: Bound, tenant: str, tokens: Path, read_only: bool, rotate: bool) -> Told:
    """The file keeps its hash. A running server reads the file again by itself.

    Example:
      worldline token default --tokens tokens.toml
      worldline token default --tokens tokens.toml --rotate
    """
    made = auth.issue(tokens, tenant, read_only=read_only, alone=rotate)
    return {"tenant": tenant, "token": made, "read_only": read_only}, [made]


# The watch that lets a server sleep now and then --------------------------------------------------
#
# It is one thread of the server. It sleeps for every tenant, gives way between two passes when the server ends,
# and tells trouble in the log instead of ending with it.


_GIVES_WAY = 10.0
"""Seconds that a server waits for the pass under way when it ends."""


class _Woken(Exception):
    """The server ends: no further pass is begun."""


@contextmanager
def watch(memory: Memory, minutes: float) -> Iterator[None]:
    """Sleeps every so many minutes, in a thread of its own, until the block ends; never for 0."""
    if not minutes:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(memory, minutes, over), daemon=True, name="sleep")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_GIVES_WAY)


def _watch(memory: Memory, minutes: float, over: threading.Event) -> None:
    log = logging.getLogger("worldline")

    def progress(*_: Any) -> None:
        if over.is_set():
            raise _Woken

    while not over.wait(60 * minutes):
        try:
            for tenant in memory.handle.store.tenants():
                Memory(replace(memory.handle, tenant=tenant)).consolidate(progress=progress)
        except _Woken:
            return
        except WorldlineError as error:
            log.warning("sleep was disturbed and goes on at the next time: %s", error)
        except Exception:
            log.exception("sleep failed; it is tried again at the next time")
