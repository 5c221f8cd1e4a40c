"""A server under pressure: who is bound stays bound, who is silent gives way, and counts tell no words."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

import warm
from serving import rest, running, web
from worldline import Config, Memory, NodeType, Predicate, Scope
from worldline.errors import InvalidInput, NotFound, Refused, StoreBusy
from worldline.surfaces import auth, limits, mcp_tools
from worldline.surfaces.limits import OF_ONE, Connections, Rates, Workers, require_shallow
from worldline.surfaces.mcp_tools import Desk
from worldline.surfaces.rest import ROUTES

TOKEN = "ana-token-0123456789"


# Bound servers -------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Memory]:
    """A store with notes of two users."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        memory.scoped(user="ann").note("context", "Ann's tea", "green")
        memory.scoped(user="bob").note("context", "Bob's tea", "black")
        yield memory


def test_a_confined_handle_cannot_be_left(two):
    """No way of binding leads from one user's handle to another's, and a shared write stays inside."""
    ann = two.confined(Scope(user="ann"))

    for leave in (
        lambda: ann.scoped(user="bob"),
        lambda: ann.shared_with(Scope(user="bob")),
        lambda: ann.confined(Scope(user="bob")),
        lambda: ann.scoped(app="x").scoped(user="bob"),
        ann.verify,
        ann.readers,
        ann.reread,
        ann.flush,
        ann.consolidate,
    ):
        with pytest.raises(Refused):
            leave()
    assert {node.name for node in ann.list().items} == {"Ann's tea"}
    ann.shared_with(Scope(app="x")).note("context", "Shared", "")
    assert "Shared" not in {node.name for node in two.scoped(user="bob").list().items}
    assert "Shared" not in {node.name for node in two.scoped(app="x", user="bob").list().items}


def test_a_confined_handle_changes_no_type_of_others(two):
    """What a type means holds for everybody: a handle confined to one user neither adds one nor takes one back."""
    ann = two.confined(Scope(user="ann"))
    for item in (Predicate("hobby", functional=True), NodeType("Zed")):
        with pytest.raises(Refused, match="confined"):
            ann.register(item)
    done = two.register(Predicate("hobby"))
    with pytest.raises(Refused):
        ann.undo(done)
    two.register(NodeType("Zed"))
    ann.note("Zed", "one")


@pytest.mark.parametrize("tool", [tool.name for tool in mcp_tools.SETS["full"]])
def test_no_tool_of_a_bound_server_reaches_another_user(two, tool):
    """Whatever names another user is refused, and his memories stand."""
    desk = Desk(two.confined(Scope(user="ann")).as_agent())
    bobs = two.scoped(user="bob").list().items[0].id
    given: dict[str, dict[str, Any]] = {
        "memory_write": {"content": "x"},
        "memory_recall": {"question": "tea?"},
        "memory_context": {"about": "bob"},
        "memory_profile": {"who": "bob"},
        "memory_read": {"id": bobs},
        "memory_amend": {"id": bobs, "content": "x"},
        "memory_retire": {"id": bobs},
        "memory_purge_scope": {"kind": "user", "name": "bob", "confirm": "bob"},
        "memory_link": {"src": bobs, "type": "relates_to", "dst": bobs},
        "memory_walk": {"id": bobs},
        "memory_timeline": {"topic": "tea"},
        "memory_feedback": {"id": bobs, "verdict": "wrong"},
    }
    chosen = next(t for t in mcp_tools.SETS["full"] if t.name == tool)
    whose = {"user": "bob"} if "user" in chosen.takes.__struct_fields__ else {}
    try:
        told = json.dumps(chosen.answer(desk, {**given.get(tool, {}), **whose}))
    except (Refused, NotFound) as error:
        told = str(error)

    assert "black" not in told
    assert "Bob's tea" not in told
    assert two.scoped(user="bob").list().items[0].content == "black"


def test_a_write_to_several_scopes_stays_inside(two):
    """`scopes` of a bound server's write cannot name another user either."""
    desk = Desk(two.confined(Scope(user="ann")).as_agent())
    with pytest.raises(Refused, match="confined to user 'ann'"):
        mcp_tools.write(
            desk, content="x", scopes=[mcp_tools.ScopeOf(user="ann"), mcp_tools.ScopeOf(user="bob")]
        )


def test_serve_with_a_user_binds_every_route(tmp_path):
    """Over REST, nothing of another user is returned, by any route, whoever is named."""
    db = str(tmp_path / "me.db")
    with Memory.open(db, Config(embedder="none")) as memory:
        bobs = memory.scoped(user="bob").note("context", "Bob's tea", "black").id
    with (
        running(db, "--user", "ann") as url,
        rest(url) as client,
        httpx2.Client(base_url=url, verify=False, timeout=60) as anyone,
    ):
        client.post("notes", {"type": "context", "name": "Ann's tea"})
        for route in ROUTES:
            path = route.path.replace("{ref}", bobs).replace("{who}", "bob").replace("{proposal}", bobs)
            for query in ({}, {"user": "bob"}):
                ask = anyone.get if route.method == "GET" else anyone.post
                more = {} if route.method == "GET" else {"json": {"question": "Which tea does Bob like?"}}
                answer = ask(path, params=query, **more)
                assert "black" not in answer.text, path
                assert "Bob's tea" not in answer.text, path
                assert not query or answer.status_code >= 400, path
    with Memory.open(db, Config(embedder="none")) as memory:
        assert memory.scoped(user="bob").get(bobs).content == "black"
        assert memory.scoped(user="ann").list().items[0].name == "Ann's tea"


# Tokens --------------------------------------------------------------------------------------------


def test_tokens_are_hashed_rotated_and_may_only_read(tmp_path):
    """The file holds hashes; a running server takes up a new token and drops a rotated one."""
    path = tmp_path / "tokens.toml"
    first = auth.issue(path, "ana")
    reader = auth.issue(path, "ana", read_only=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert first not in path.read_text()
    assert reader not in path.read_text()

    with running(str(tmp_path / "me.db"), "--tokens", str(path)) as url:
        with rest(url, first) as writes, rest(url, reader) as reads:
            id_ = writes.post("notes", {"type": "context", "name": "Tea", "content": "green"})["id"]
            assert reads.get(f"memories/{id_}")["content"] == "green"
            assert reads.post("recall", {"question": "Which tea?", "max_tokens": 500})["hits"]
            for route in ROUTES:
                if not route.reads:
                    told = route.path.removeprefix("/v1/").replace("{ref}", id_).replace("{proposal}", id_)
                    reads.post(told, {}, 403)
            call = {"name": "memory_write", "arguments": {"content": "x"}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            accepts = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {reader}"}
            assert "only reads" in web.post(f"{url}/mcp", json=body, headers=accepts).text
        second = auth.issue(path, "ana", alone=True)
        with rest(url, first) as old, rest(url, second) as new:
            old.get("memories", 401)
            assert len(new.get("memories")["items"]) == 1


def test_a_token_is_made_in_the_shell(tmp_path):
    """`worldline token` shows a token that opens the tenant, and nothing else."""
    path = tmp_path / "tokens.toml"
    command = [sys.executable, "-m", "worldline", "token", "ana", "--tokens", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert auth.load(path, "default", {}).opens(f"Bearer {done.stdout.strip()}") == auth.AccessPass("ana")


# Time, depth, rate ---------------------------------------------------------------------------------


def _half(url: str, count: int, sent: bytes) -> list[socket.socket]:
    """Connections that have sent a part of a request."""
    host, port = url.removeprefix("http://").split(":")
    opened = []
    for _ in range(count):
        connection = socket.create_connection((host, int(port)), timeout=5)
        connection.sendall(sent)
        opened.append(connection)
    return opened


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /v1/remember HTTP/1.1\r\nHost: loc",
        b"POST /v1/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + TOKEN.encode() + b"\r\nContent-Length: 1000\r\n\r\n{",
    ],
)
def test_a_thousand_half_sent_requests_delay_nobody(tmp_path, sent):
    """With 1,000 connections that send a part and wait, an authenticated request takes under a second."""
    with running(str(tmp_path / "me.db"), WORLDLINE_TOKEN=TOKEN) as url, rest(url, TOKEN) as client:
        client.get("stats")
        opened = _half(url, 1000, sent)
        slowest = 0.0
        for number in range(10):
            began = time.monotonic()
            with rest(url, TOKEN) as fresh:
                fresh.post("notes", {"type": "context", "name": f"n{number}"})
            slowest = max(slowest, time.monotonic() - began)
        metrics = web.get(f"{url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
        for connection in opened:
            connection.close()

    assert slowest < 1.0
    gauge = next(line for line in metrics.splitlines() if line.startswith("worldline_connections_open "))
    assert int(gauge.split()[1]) <= limits.CONNECTIONS


def test_who_leaves_in_the_middle_is_no_fault_of_the_server(tmp_path):
    """A body that is never finished is counted as a client that went away, not as a failure."""
    sent = (
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + TOKEN.encode() + b"\r\nContent-Length: 1000\r\n\r\n{"
    )
    with running(str(tmp_path / "me.db"), WORLDLINE_TOKEN=TOKEN) as url, rest(url, TOKEN) as client:
        client.get("stats")
        (connection,) = _half(url, 1, sent)
        time.sleep(0.3)
        connection.close()
        deadline, told = time.monotonic() + 20, ""
        while "/v1/recall" not in told and time.monotonic() < deadline:
            time.sleep(0.1)
            told = web.get(f"{url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text

    assert 'route="/v1/recall",status="499"} 1' in told


def test_the_head_of_a_request_has_its_time():
    """A connection that never ends its request's head is closed, one that asks is answered."""
    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def talk() -> None:
        made = limits.protocol(Connections(), 0.3)
        config = uvicorn.Config(app, port=0, http=made, lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        slow, held = await asyncio.open_connection("127.0.0.1", port)
        quick, out = await asyncio.open_connection("127.0.0.1", port)
        out.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await quick.readuntil(b"ok")).endswith(b"ok")
        out.write(b"GET / HT")
        assert await asyncio.wait_for(_end(slow), 3) == b""
        assert await asyncio.wait_for(_end(quick), 3) == b""
        for writer in (held, out):
            writer.close()
        server.should_exit = True
        await serving

    async def _end(reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""

    asyncio.run(talk())


def test_the_body_of_a_request_has_its_time(tmp_path):
    """A body that does not come is answered with 408."""
    from starlette.exceptions import HTTPException

    from worldline.surfaces.http import Guard, Observer, Service

    async def nothing() -> Any:
        await asyncio.sleep(60)

    async def talk() -> int:
        with Memory.open(":memory:", Config(embedder="none")) as memory:
            guard = Guard(None, Service(memory, auth.Tokens(), body_seconds=0.05), Observer())  # type: ignore[arg-type]
            with pytest.raises(HTTPException) as late:
                await guard._in_bounds({"type": "http", "headers": []}, nothing)()
            return late.value.status_code

    assert asyncio.run(talk()) == 408


def test_deep_bodies_are_a_clear_error(tmp_path):
    """Nesting of 1,000 and of 100,000 is a 400 over REST and an error over MCP, never a fault."""
    with running(str(tmp_path / "me.db")) as url:
        for depth in (150, 1000, 100_000):
            inner = "[" * depth + "]" * depth
            body = f'{{"type": "context", "name": "x", "metadata": {{"a": {inner}}}}}'
            headers = {"content-type": "application/json"}
            answer = web.post(f"{url}/v1/notes", content=body, headers=headers)
            assert answer.status_code == 400
            assert "nested" in answer.text
            call = (
                f'{{"name": "memory_write", "arguments": {{"content": "x", "metadata": {{"a": {inner}}}}}}}'
            )
            rpc = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {call}}}'
            accepts = {**headers, "accept": "application/json, text/event-stream"}
            answer = web.post(f"{url}/mcp", content=rpc, headers=accepts)
            assert answer.status_code < 500
            assert "error" in answer.text.lower()
        assert web.get(f"{url}/healthz").json() == {"ok": True}


def test_depth_is_measured_without_recursion():
    """What is as deep as allowed passes, one more does not, however deep it goes on."""
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidInput, match="nested"):
        require_shallow(value)
    require_shallow({"a": [[{"b": 1}]]}, 4)
    while value:  # taken apart by hand: the collector would recurse
        value = value.pop()


def test_a_client_has_so_many_requests_a_second(tmp_path):
    """Above its rate a client gets 429 and when to come again; another is served."""
    rates = Rates(2, burst=2)
    assert [rates.allows("a", 0.0) for _ in range(5)] == [True] * 4 + [False]
    assert rates.allows("b", 0.0)
    assert rates.allows("a", 0.6)
    with running(str(tmp_path / "me.db"), "--rate", "1") as url:
        codes = [web.get(f"{url}/v1/stats").status_code for _ in range(12)]
    assert codes[0] == 200
    assert 429 in codes


def test_one_tenant_cannot_take_all_places():
    """Whoever has too much under way is told to come again, and the others are served."""

    async def talk() -> None:
        workers = Workers(1)
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()

        busy = [asyncio.create_task(workers.run(wait, "a")) for _ in range(OF_ONE)]
        await asyncio.sleep(0.05)
        with pytest.raises(StoreBusy):
            await workers.run(lambda: 1, "a")
        other = asyncio.create_task(workers.run(lambda: 2, "b"))
        gate.set()
        assert await other == 2
        await asyncio.gather(*busy)
        workers.close()

    asyncio.run(talk())


def test_metrics_and_logs_hold_no_words(tmp_path):
    """Requests are counted and logged by route, status and time; neither has a word of a memory."""
    command = [*warm.python(), "-m", "worldline", "serve", "--db", str(tmp_path / "me.db"), "--port", "0"]
    environ = {**os.environ, "WORLDLINE_EMBEDDER": "none"}
    process = subprocess.Popen(
        [*command, "--json", "--log"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )
    try:
        url = json.loads(process.stdout.readline())["url"]
        with rest(url) as client, ThreadPoolExecutor(4) as pool:
            list(
                pool.map(lambda n: client.post("notes", {"type": "context", "name": f"zebra {n}"}), range(8))
            )
            client.get("people/zebra", 404)
        metrics = web.get(f"{url}/metrics").text
    finally:
        process.terminate()
        _, log = process.communicate(timeout=20)

    lines = [json.loads(line) for line in log.splitlines()]
    assert 'worldline_requests_total{method="POST",route="/v1/notes",status="200"} 8' in metrics
    assert sum(line["route"] == "/v1/notes" and line["status"] == 200 for line in lines) == 8
    assert {"time", "ms", "client", "tenant", "method"} <= lines[0].keys()
    assert "zebra" not in metrics
    assert "zebra" not in log
