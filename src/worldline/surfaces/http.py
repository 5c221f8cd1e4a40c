"""One web server for REST, MCP and the explorer.

It knows who is asking (a token's tenant, or this machine's own user where there are no tokens),
runs the synchronous engine in threads, and turns errors into problem documents. Requests of other
web pages are refused: no CORS, JSON bodies only, and without tokens a known Host and Origin.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import orjson
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from worldline import errors
from worldline.memory import Memory
from worldline.model import Scope
from worldline.surfaces import openapi, rest
from worldline.surfaces.auth import Tokens, is_loopback
from worldline.surfaces.render import plain
from worldline.surfaces.workers import Workers
from worldline.write.check import clean_name

MAX_BODY = 20 * 1024 * 1024
STATUS: dict[type[errors.WorldlineError], int] = {
    errors.InvalidInput: 400,
    errors.NotFound: 404,
    errors.Ambiguous: 409,
    errors.Conflict: 409,
    errors.ReadOnly: 409,
    errors.Refused: 422,
    errors.StoreBusy: 503,
    errors.StoreFull: 507,
    errors.StoreError: 500,
}
PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/graph.js": ("graph.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
}
OPEN = frozenset({*PAGE, "/openapi.json", "/health"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
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

    def of(self, tenant: str) -> Memory:
        """A tenant's memory; all of them share one store and one embedder."""
        return Memory(replace(self.memory._h, tenant=clean_name(tenant, "tenant")))


def app(service: Service) -> Starlette:
    """The whole application."""
    workers = Workers()
    manager = _mcp(service, workers)
    routes = [Route(r.path, _endpoint(r, service, workers), methods=[r.method]) for r in rest.ROUTES]
    routes += [Route(path, _static(name, kind)) for path, (name, kind) in PAGE.items()]
    routes += [Route("/openapi.json", _openapi), Route("/health", _health)]
    if manager is not None:
        routes.append(Route("/mcp", endpoint=_Mcp(manager)))

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncIterator[None]:
        try:
            if manager is None:
                yield
            else:
                async with manager.run():
                    yield
        finally:
            workers.close()

    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, service=service)],
        exception_handlers={
            errors.WorldlineError: _on_error,
            HTTPException: _on_http,
            Exception: _on_failure,
        },
        lifespan=lifespan,
        max_body_size=MAX_BODY,
    )


# REST --------------------------------------------------------------------------------------------


def _endpoint(
    route: rest.Route, service: Service, workers: Workers
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        query = dict(request.query_params)
        binding = {name: query.pop(name) for name in rest.Binding.__struct_fields__ if name in query}
        if route.method == "POST":
            if query:
                raise errors.InvalidInput(f"unknown query parameter {sorted(query)[0]!r}")
            given = await _body(request)
        else:
            given = query
        asked = rest.parse(route, given, dict(request.path_params))
        whose = msgspec.convert(binding, rest.Binding)
        memory = service.of(request.state.tenant)
        return await workers.run(lambda: _json(route.run(whose.bind(memory), asked)))

    return answer


async def _body(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    raw = await request.body()
    try:
        value = msgspec.json.decode(raw) if raw else {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise errors.InvalidInput(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise errors.InvalidInput("the body must be a JSON object")
    return value


def _json(value: Any) -> Response:
    return Response(orjson.dumps(plain(value)), media_type="application/json", headers=_SAFE)


async def _openapi(request: Request) -> Response:
    return _json(openapi.document())


async def _health(request: Request) -> Response:
    return _json({"ok": True})


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
    return problem(error.status_code, "http", "Not served.", error.detail, **dict(error.headers or {}))


def _on_failure(request: Request, error: Exception) -> Response:
    return problem(
        500, "failure", "Something broke.", "this is a fault of the server; its log has the details"
    )


# Who is asking -----------------------------------------------------------------------------------


class Guard:
    """Lets a request in, with its tenant, or answers why not."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Looks at host, origin and token."""
        if connection["type"] != "http":
            await self._app(connection, receive, send)
            return
        refusal = self._refusal(connection)
        await (refusal or self._app)(connection, receive, send)

    def _refusal(self, connection: Connection) -> Response | None:
        headers = Headers(scope=connection)
        tenant: str | None = self._service.tenant
        if self._service.tokens:
            tenant = self._service.tokens.tenant(headers.get("authorization"))
        elif not _is_own(headers, self._service.host):
            return problem(403, "forbidden", "Not for other pages.", "this Host or Origin is not served here")
        if tenant is None and connection["path"] not in OPEN:
            told = "send the header Authorization: Bearer TOKEN"
            return problem(401, "unauthorized", "No valid token.", told, **{"www-authenticate": "Bearer"})
        connection.setdefault("state", {})["tenant"] = tenant
        return None


def _is_own(headers: Headers, bound: str) -> bool:
    """Whether the request names this server, and comes from its own page or from no page."""
    host = headers.get("host", "")
    name = urlsplit(f"//{host}").hostname or ""
    origin = headers.get("origin")
    own = is_loopback(name) or name == bound
    return own and (origin is None or urlsplit(origin).netloc == host)


# The page and MCP --------------------------------------------------------------------------------


def _static(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    content = files("worldline.surfaces").joinpath("explorer", name).read_bytes()

    async def answer(request: Request) -> Response:
        return Response(content, headers={**_SAFE, "content-type": kind})

    return answer


def _mcp(service: Service, workers: Workers) -> Any:
    """The MCP session manager, where the SDK is installed."""
    if find_spec("mcp") is None:
        return None
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from worldline.surfaces.mcp_server import server
    from worldline.surfaces.mcp_tools import Desk

    def desk(ctx: Any) -> Desk:
        return Desk(service.of(ctx.request.state.tenant).as_agent(), service.scope)

    return StreamableHTTPSessionManager(
        server(desk, workers, service.tools),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Guard does it
        max_request_body_size=MAX_BODY,
    )


class _Mcp:
    """The manager as an application of its own."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(connection, receive, send)
