"""One web server for REST, MCP and the explorer.

It knows who is asking (a token's tenant, or this machine's own user where there are no tokens),
runs the synchronous engine in threads, and turns errors into problem documents. Requests of other
web pages are refused: no CORS, JSON bodies only, and without tokens a known Host and Origin. A client
has so much time to send a body, and so many requests a second; every request is counted.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple, TextIO
from urllib.parse import urlsplit

import msgspec
import orjson
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from worldline import errors
from worldline.memory import Memory
from worldline.model import Scope, clean_name
from worldline.read.history import offsets as offsets_of
from worldline.surfaces import rest
from worldline.surfaces.auth import AccessPass, Tokens, is_loopback
from worldline.surfaces.limits import BODY_SECONDS, Connections, Rates, Workers, require_shallow
from worldline.surfaces.mcp_tools import Desk
from worldline.surfaces.render import nodes_in, plain
from worldline.surfaces.verbs import Binding

MAX_BODY = 20 * 1024 * 1024
_TOO_LARGE = f"a body has at most {MAX_BODY >> 20} MiB; send less at once"
STATUS: dict[type[errors.WorldlineError], int] = {
    errors.InvalidInput: 400,
    errors.NotFound: 404,
    errors.Ambiguous: 409,
    errors.Conflict: 409,
    errors.ReadOnly: 409,
    errors.Refused: 422,
    errors.StoreBusy: 503,
    errors.StoreAway: 503,
    errors.StoreFull: 507,
    errors.StoreError: 500,
}
PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/graph.js": ("graph.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
}
OPEN = frozenset({*PAGE, "/openapi.json", "/health", "/healthz"})
RATE = 200.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "DELETE", "PUT", "PATCH"})
_SAFE = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Service(NamedTuple):
    """What a server serves, and to whom."""

    memory: Memory
    tokens: Tokens
    tenant: str = "default"
    host: str = "127.0.0.1"
    scope: Scope = Scope()
    tools: Any = "core"
    rate: float = RATE
    """Requests a second of one client; 0 for any number."""
    log: TextIO | None = None
    connections: Connections = Connections()
    body_seconds: float = BODY_SECONDS

    def of(self, tenant: str) -> Memory:
        """A tenant's memory, confined to the server's scope; all share one store and one embedder."""
        memory = Memory(replace(self.memory.handle, tenant=clean_name(tenant, "tenant")))
        return memory.confined(self.scope)


def app(service: Service) -> Starlette:
    """The whole application."""
    workers, observer = Workers(), Observer(service.log)
    manager, door = _mcp(service, workers), Door(service, workers, observer)
    at: dict[str, dict[str, rest.Route]] = {}
    folder = files("worldline.surfaces") / "explorer"
    for route in rest.ROUTES:
        at.setdefault(route.path, {})[route.method] = route
    routes = [
        Route(path, partial(door.answer, by_method), methods=list(by_method))
        for path, by_method in at.items()
    ]
    routes += [
        Route(path, partial(_page, (folder / name).read_bytes(), kind)) for path, (name, kind) in PAGE.items()
    ]
    routes += [
        Route("/openapi.json", door.document),
        Route("/health", door.health),
        Route("/healthz", door.ready),
        Route("/metrics", door.metrics),
    ]
    if manager is not None:
        routes.append(Route("/mcp", endpoint=manager.asgi_app))

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncIterator[None]:
        try:
            async with nullcontext() if manager is None else manager.run():
                yield
        finally:
            workers.close()

    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, service=service, observer=observer)],
        exception_handlers={
            errors.WorldlineError: _on_error,
            HTTPException: _on_http,
            Exception: _on_failure,
        },
        lifespan=lifespan,
    )


# REST --------------------------------------------------------------------------------------------


class Door(NamedTuple):
    """The endpoints of a server, and what they share."""

    service: Service
    workers: Workers
    observer: Observer

    async def answer(self, by_method: Mapping[str, rest.Route], request: Request) -> Response:
        """A route of the table, or why not."""
        route = by_method["GET" if request.method == "HEAD" else request.method]
        request.state.route = route.path
        if request.state.read_only and not route.reads:
            return problem(403, "forbidden", "Not with this token.", "this token only reads")
        try:
            return await self._asked(route, request)
        except (errors.WorldlineError, HTTPException):
            raise
        except ClientDisconnect:  # nobody is left to read an answer, and it is no fault of ours
            return Response(status_code=499)
        except RecursionError:
            raise errors.InvalidInput("the request is nested too deeply") from None
        except Exception as error:
            self.observer.failed(error)
            return _on_failure(request, error)

    async def _asked(self, route: rest.Route, request: Request) -> Response:
        given = dict(request.query_params)
        binding = {name: given.pop(name) for name in Binding.__struct_fields__ if name in given}
        if route.method == "POST":
            if given:
                raise errors.InvalidInput(f"unknown query parameter {sorted(given)[0]!r}")
            given = await _body(request)
        wanted = rest.parse(route, given, dict(request.path_params))
        whose = msgspec.convert(binding, Binding)
        tenant = request.state.tenant
        memory = self.service.of(tenant)

        def look() -> Response:
            bound = whose.bind(memory)
            value = route.run(bound, wanted)
            return _json(value, offsets_of(bound.handle, nodes_in(value)))

        try:
            return await self.workers.run(look, tenant)
        except errors.InvalidTime as error:
            if any(map(_LOST_PLUS.search, request.query_params.values())):
                raise errors.InvalidTime(f"{error} (in an address, + is written %2B)") from None
            raise

    async def document(self, request: Request) -> Response:
        return _json(rest.document())

    async def health(self, request: Request) -> Response:
        """Whether the server runs."""
        return _json({"ok": True})

    async def ready(self, request: Request) -> Response:
        """Whether the store can be read now, by a thread of those that answer."""
        try:
            await asyncio.wait_for(self.workers.run(self.service.memory.handle.store.tenants), 5)
        except (errors.WorldlineError, TimeoutError):
            return problem(503, "busy", "Not ready.", "no answer from the store", **{"retry-after": "1"})
        return _json({"ok": True})

    async def metrics(self, request: Request) -> Response:
        """What was done so far, for a scraper."""
        connections = self.service.connections
        text = self.observer.metrics(
            work_waiting=self.workers.waiting, connections_open=connections.open,
            connections_dropped=connections.dropped,
        )  # fmt: skip
        return await _page(text, "text/plain; version=0.0.4", request)


_HALF = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
"""A half of a surrogate pair, as JSON escapes it."""
_LOST_PLUS = re.compile(r"T[\d:.]+ \d\d:?\d\d$")
"""A time whose + was read as a space."""


async def _body(request: Request) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "") or (await request.body() and not kind):
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    raw = await request.body()
    try:
        value = msgspec.json.decode(raw) if raw else {}
        require_shallow(value)
    except RecursionError:
        raise errors.InvalidInput("the body is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if half := _HALF.search(raw):
            told = f"{half[0].decode()} at byte {half.start()} is half of a surrogate pair"
            raise errors.InvalidText(
                f"the body is not valid Unicode: {told}; send the whole character"
            ) from None
        raise errors.InvalidInput(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise errors.InvalidInput("the body must be a JSON object")
    return value


def _json(value: Any, offsets: Mapping[str, int] = {}) -> Response:
    return Response(orjson.dumps(plain(value, offsets=offsets)), media_type="application/json", headers=_SAFE)


async def _page(content: bytes | str, kind: str, request: Request) -> Response:
    return Response(content, headers={**_SAFE, "content-type": kind})


# Errors ------------------------------------------------------------------------------------------


def problem(status: int, name: str, title: str, detail: str, **headers: str) -> Response:
    """An error as an RFC 9457 document."""
    value = {"type": f"urn:worldline:{name}", "title": title, "status": status, "detail": detail}
    return Response(orjson.dumps(value), status, {**_SAFE, **headers}, media_type="application/problem+json")


def _on_error(request: Request, error: Exception) -> Response:
    status = next(code for type_, code in STATUS.items() if isinstance(error, type_))
    title = (type(error).__doc__ or "").splitlines()[0]
    retry = {"retry-after": "1"} if status == 503 else {}
    return problem(status, type(error).__name__, title, str(error), **retry)


def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
    return problem(error.status_code, "http", "Not served.", error.detail, **headers)


def _on_failure(request: Request, error: Exception) -> Response:
    return problem(
        500, "failure", "Something broke.", "this is a fault of the server; its log has the details"
    )


# Who is asking -----------------------------------------------------------------------------------


class Guard:
    """Lets a request in, with its tenant, or answers why not."""

    def __init__(self, app: ASGIApp, service: Service, observer: Observer) -> None:
        self._app, self._service, self._observer = app, service, observer
        self._rates = Rates(service.rate)

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Looks at host, origin, token and rate, and notes how it ended."""
        if connection["type"] != "http":
            await self._app(connection, receive, send)
            return
        clock, status = asyncio.get_running_loop().time, 0
        began = clock()

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        self._observer.under_way += 1
        try:
            refusal = self._refusal(connection, began)
            await (refusal or self._app)(connection, self._in_bounds(connection, receive), noted)
        finally:
            self._observer.under_way -= 1
            state, path = connection.get("state", {}), connection["path"]
            route = state.get("route") or (path if path in OPEN or path in ("/mcp", "/metrics") else "other")
            method = connection["method"] if connection["method"] in _METHODS else "other"
            self._observer.answered(
                method, route, status, clock() - began, tenant=state.get("tenant"), client=_client(connection)
            )

    def _in_bounds(self, connection: Connection, receive: Receive) -> Receive:
        """The body, which may be so large, whether its length was told or not, and has to be here in time."""
        clock = asyncio.get_running_loop().time
        end, whole, size = clock() + self._service.body_seconds, False, 0
        told = Headers(scope=connection).get("content-length", "")
        length = int(told) if told.isdecimal() else 0

        async def next_part() -> Message:
            nonlocal whole, size
            if whole:
                return await receive()
            if length > MAX_BODY:
                raise HTTPException(413, _TOO_LARGE)
            try:
                message = await asyncio.wait_for(receive(), max(0.001, end - clock()))
            except TimeoutError:
                raise HTTPException(408, "the body did not come in time") from None
            size += len(message.get("body", b""))
            if size > MAX_BODY:
                raise HTTPException(413, _TOO_LARGE)
            whole = not message.get("more_body", False)
            return message

        return next_part

    def _refusal(self, connection: Connection, now: float) -> Response | None:
        headers = Headers(scope=connection)
        opened: AccessPass | None = AccessPass(self._service.tenant)
        if self._service.tokens:
            opened = self._service.tokens.opens(headers.get("authorization"))
        elif not _is_own(headers, self._service.host):
            return problem(403, "forbidden", "Not for other pages.", "this Host or Origin is not served here")
        whose = f"{opened.tenant if opened else ''} {_client(connection)}"
        if not self._rates.allows(whose, now):
            told = "too many requests; wait a moment"
            return problem(429, "rate", "Too many requests.", told, **{"retry-after": "1"})
        if opened is None and connection["path"] not in OPEN:
            told = "send the header Authorization: Bearer TOKEN"
            return problem(401, "unauthorized", "No valid token.", told, **{"www-authenticate": "Bearer"})
        state = connection.setdefault("state", {})
        state["tenant"] = opened.tenant if opened else None
        state["read_only"] = bool(opened and opened.read_only)
        return None


def _client(connection: Connection) -> str:
    """The address that a request comes from."""
    return connection["client"][0] if connection.get("client") else ""


def _is_own(headers: Headers, bound: str) -> bool:
    """Whether the request names this server, and comes from its own page or from no page."""
    host = headers.get("host", "")
    name = urlsplit(f"//{host}").hostname or ""
    origin = headers.get("origin")
    own = is_loopback(name) or name == bound
    return own and (origin is None or urlsplit(origin).netloc == host)


# MCP ---------------------------------------------------------------------------------------


def _mcp(service: Service, workers: Workers) -> Any:
    """The MCP session manager, where the SDK is installed."""
    if find_spec("mcp") is None:
        return None
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from worldline.surfaces.mcp_server import server

    def desk(ctx: Any) -> Desk:
        state = ctx.request.state
        return Desk(service.of(state.tenant).as_agent(), state.read_only)

    return StreamableHTTPSessionManager(
        server(desk, workers, service.tools),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Guard does it
        max_request_body_size=sys.maxsize,  # Guard does this too
    )


# What a server tells its operator: counts for a scraper, and a line for each request --------------
#
# Neither holds anything of a memory: routes are named by their pattern, never by their path, and an
# error by its type and place, never by its words.


_BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)


class Observer:
    """Counts requests; writes a JSON line for each where there is a log."""

    def __init__(self, log: TextIO | None = None) -> None:
        self._log = log
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0
        self.under_way = 0

    def answered(self, method: str, route: str, status: int, seconds: float, **more: Any) -> None:
        """A request is over."""
        self._requests[method, route, status] += 1
        self._seconds += seconds
        for bound in _BUCKETS:
            self._within[bound] += seconds <= bound
        self._line("request", method=method, route=route, status=status, ms=round(seconds * 1000, 1), **more)

    def failed(self, error: BaseException) -> None:
        """A fault of ours: its type and where it happened. It goes to standard error in any case."""
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{frame.filename.rpartition('worldline')[2]}:{frame.lineno}" for frame in frames[-6:]]
        self._line("failure", self._log or sys.stderr, error=type(error).__name__, at=places)

    def _line(self, event: str, log: TextIO | None = None, **fields: Any) -> None:
        log = log or self._log
        if log is not None:
            value = {"time": round(time.time(), 3), "event": event, **fields}
            log.write(orjson.dumps(value).decode() + "\n")
            log.flush()

    def metrics(self, **gauges: float) -> str:
        """Everything counted, in Prometheus' text format."""
        lines = ["# TYPE worldline_requests_total counter"]
        lines += [
            f'worldline_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
            for (method, route, status), count in sorted(self._requests.items())
        ]
        total = sum(self._requests.values())
        lines.append("# TYPE worldline_request_seconds histogram")
        lines += [f'worldline_request_seconds_bucket{{le="{b}"}} {self._within[b]}' for b in _BUCKETS]
        lines += [
            f'worldline_request_seconds_bucket{{le="+Inf"}} {total}',
            f"worldline_request_seconds_sum {self._seconds:.6f}",
            f"worldline_request_seconds_count {total}",
        ]
        for name, value in {"requests_under_way": self.under_way, **gauges}.items():
            lines += [f"# TYPE worldline_{name} gauge", f"worldline_{name} {value}"]
        return "\n".join(lines) + "\n"
