"""MCP with the SDK's own client: the tools, both transports, several clients and the shell on one file."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import warm
from clock import children_cpu
from serving import running
from worldline import Config, Memory, Scope
from worldline.clock import show
from worldline.surfaces.budget import size
from worldline.surfaces.limits import Workers
from worldline.surfaces.mcp_server import ToolSet, server
from worldline.surfaces.mcp_tools import CORE, Desk
from worldline.text import estimate_tokens

_TEN = [
    "memory_write", "memory_recall", "memory_context", "memory_list", "memory_read", "memory_amend", "memory_retire",
    "memory_retire_all", "memory_purge_scope", "memory_list_scopes",
]  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A store's path; the file is not there yet."""
    return str(tmp_path / "me.db")


def stdio(db: str, *args: str, cold: bool = False, **environ: str) -> Client:
    """A client whose server is a child process on standard input and output."""
    environ = {"WORLDLINE_DB": db, "WORLDLINE_EMBEDDER": "none", **environ}
    environ |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    python, *more = [sys.executable] if cold else warm.python()
    command = [*more, "-m", "worldline", "mcp", *args]
    return Client(StdioServerParameters(command=python, args=command, env=environ))


class Tools:
    """Calls tools and checks how they ended."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **given: Any) -> Any:
        """The structured answer; its text must tell something too."""
        answer = await self.client.call_tool(f"memory_{tool}", given)
        assert not answer.is_error, answer.content
        assert answer.content[0].text
        return answer.structured_content

    async def refused(self, tool: str, **given: Any) -> str:
        """The message of a tool error."""
        answer = await self.client.call_tool(f"memory_{tool}", given)
        assert answer.is_error
        return answer.content[0].text


def session(client: Client, work: Callable[[Tools], Awaitable[None]]) -> None:
    """Runs one conversation."""

    async def talk() -> None:
        async with client as opened:
            await work(Tools(opened))

    run(talk())


def within(
    db: str, work: Callable[[Tools], Awaitable[None]], user: str | None = None, tools: ToolSet = "core"
) -> None:
    """Runs one conversation with the server in this process: the protocol whole, without a start of its own."""
    workers = Workers()
    try:
        with Memory.open(db, Config(embedder="none")) as memory:
            desk = Desk(memory.confined(Scope(user=user)).as_agent())
            session(Client(server(lambda ctx: desk, workers, tools)), work)
    finally:
        workers.close()


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine in a thread of its own: another test's loop may be running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


# Every tool; one life of a memory over standard input and output -----------------------------------


def test_ten_tools_with_annotations_and_schemas(db: str) -> None:
    """The default set is the ten, each with hints, a closed input schema and an output schema."""

    async def work(call: Tools) -> None:
        tools = {tool.name: tool for tool in (await call.client.list_tools()).tools}

        assert list(tools) == _TEN
        reading = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
        ending = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
        assert reading == {
            "memory_recall", "memory_context", "memory_list", "memory_read", "memory_list_scopes",
        }  # fmt: skip
        assert ending == {"memory_amend", "memory_retire", "memory_retire_all", "memory_purge_scope"}
        for tool in tools.values():
            assert tool.annotations.idempotent_hint
            assert tool.description
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema["type"] == "object"
        with pytest.raises(MCPError, match="memory_recall"):
            await call.client.call_tool("memory_eat", {})

    within(db, work)


def test_facts_given_with_words_and_notes(db: str) -> None:
    """What an agent understood is believed under the bound user's name, ends what was so, and is told."""

    async def work(call: Tools) -> None:
        lives = {"subject": "user", "relation": "lives in", "object": "Berlin", "since": "2024"}
        first = await call("write", type="said", content="Hi!", said_at="2026-01-01", facts=[lives])
        assert first["changes"] == ["ana lives in Berlin (new)"]
        moved = [
            {"subject": "I", "relation": "moved_to", "object": "Porto", "since": "2026-03-05"},
            {"subject": "I", "relation": "allergy", "object": "peanuts"},
            {"subject": "the user", "relation": "age", "object": 41},
        ]
        note = await call("write", content="Ana is in Porto now", facts=moved)
        assert "ana lives in Porto (ends “ana lives in Berlin”)" in note["changes"]
        facts = {item["text"]: item for item in (await call("list", type="Fact"))["items"]}
        assert set(facts) == {"ana lives in Porto", "ana is allergic to peanuts", "ana is aged 41"}
        assert facts["ana lives in Porto"]["valid_from"] == "2026-03-05"
        read = await call("read", id=facts["ana lives in Porto"]["id"], explain=True)
        assert [item["text"] for item in read["evidence"]] == ["Ana is in Porto now"]
        over = {"subject": "I", "relation": "is allergic to", "object": "Peanuts", "ended": True}
        gone = await call("write", content="no allergy any more", facts=[over])
        assert "ana is allergic to peanuts (over)" in gone["changes"]
        assert "object" in await call.refused(
            "write", content="x", facts=[{"subject": "I", "relation": "likes"}]
        )
        assert "subject" in await call.refused(
            "write", content="x", facts=[{"relation": "likes", "object": "y"}]
        )

    within(db, work, user="ana")


def test_definitions_stay_small() -> None:
    """What a client pays for the ten tools before anything is asked: ten kilobytes, types as enums."""
    from worldline.surfaces.mcp_server import described

    listed = [described(tool).model_dump(mode="json", by_alias=True, exclude_none=True) for tool in CORE]
    fields = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed}

    assert len(json.dumps(listed, separators=(",", ":"))) <= 10_000
    assert "said" in fields["memory_write"]["type"]["enum"]
    assert {"Fact", "Turn", "context"} <= set(fields["memory_list"]["type"]["enum"])


def test_what_is_known_reaches_the_agent(db: str) -> None:
    """Answer, proof, facts and confidence stand in the structure and in the text; a doubt has its reason."""

    async def work(call: Tools) -> None:
        await call("write", type="said", content="I live in Rome and work at Siemens.", speaker="Ana")
        for filler in ("The roof leaks.", "Bo plays chess.", "Tea is at four."):
            await call("write", type="said", content=filler, speaker="Bo")
        found = await call("recall", question="Where does Ana live?")
        text = (
            (await call.client.call_tool("memory_recall", {"question": "Where does Ana live?"}))
            .content[0]
            .text
        )

        assert found["answer"] == "Rome"
        assert found["proof"][0]["text"] == "Ana lives in Rome"
        assert 0.3 < found["confidence"] <= 1
        assert len(found["items"]) == 1
        assert "Answer: Rome" in text
        doubt = await call("recall", question="What is Ana's blood type?")
        assert (doubt["abstained"], bool(doubt["reason"]), "answer" in doubt) == (True, True, False)
        fact = found["proof"][0]["id"]
        done = await call("amend", id=fact, content="Porto")
        assert (await call("recall", question="Where does Ana live?"))["answer"] == "Porto", done
        wrong = (await call("recall", question="Where does Ana live?"))["proof"][0]["id"]
        await call("amend", id=wrong, content="Ana lives in Faro", was_wrong=True)
        now = await call("recall", question="Where does Ana live?")
        assert now["answer"] == "Faro"
        await call("retire", id=now["proof"][0]["id"])
        assert "Ana lives in Faro" not in [i["text"] for i in (await call("list", type="fact"))["items"]]

    within(db, work)


def test_context_and_profile(db: str) -> None:
    """The context block keeps to its budget in both forms together; a profile names what it cites."""

    async def work(call: Tools) -> None:
        await call(
            "write", type="said", content="I live in Rome. Please always answer in verse.", speaker="Ana"
        )
        for budget in (120, 400, 1200):
            answer = await call.client.call_tool("memory_context", {"max_tokens": budget})
            whole = answer.model_dump(mode="json", by_alias=True, include={"content", "structured_content"})
            assert estimate_tokens(json.dumps(whole, ensure_ascii=False, separators=(",", ":"))) <= budget
        block = await call("context")
        assert block["user"] == "Ana"
        assert block["sections"][0]["lines"][0]["text"] == "Ana lives in Rome"
        known = await call("profile", who="Ana")
        assert [one["text"] for one in known["attributes"]] == ["Ana lives in Rome"]

    within(db, work, tools="full")


def test_explaining_does_not_eat_the_hits(memory: Memory) -> None:
    """With `explain` the same hits come, as much of them as without; lanes and factors have a budget of their own."""
    for number in range(12):
        memory.note("learning", f"tea {number}", f"Green tea number {number} steeps for three minutes. " * 4)
    tool = next(tool for tool in CORE if tool.name == "memory_recall")
    desk = Desk(memory.as_agent())
    plain, told = (
        tool.answer(desk, {"question": "green tea", "max_tokens": 900, "explain": explain})[
            "structuredContent"
        ]
        for explain in (False, True)
    )

    assert [item["text"] for item in told["items"]] == [item["text"] for item in plain["items"]]
    assert told["items"][0]["factors"]
    assert told["trace"]


def test_a_small_budget_still_brings_the_best_hit(memory: Memory) -> None:
    """150 tokens hold the answer and the beginning of the best hit."""
    memory.remember(
        "Ana lives in Rome, near the river, above a bakery that opens at five. " * 8, speaker="Ana"
    )
    tool = next(tool for tool in CORE if tool.name == "memory_recall")
    payload = tool.answer(Desk(memory.as_agent()), {"question": "Where does Ana live?", "max_tokens": 150})

    assert size(payload) <= 150
    assert payload["structuredContent"]["items"][0]["text"].startswith("Ana lives in Rome")


def test_the_smallest_budget_holds_an_answer(memory: Memory) -> None:
    """What the schema allows is enough to say that it is not known, or that there is no room for what is."""
    desk = Desk(memory.as_agent())
    briefing = next(tool for tool in CORE if tool.name == "memory_context")
    assert briefing.answer(desk, {"max_tokens": 60})["content"][0]["text"] == "nothing to know yet"
    memory.remember("I live in Rome, near the river. I work at Acme.", speaker="Anastasia Papadopoulou")
    for name, given in (("recall", {"question": "zzz unknown"}), ("context", {})):
        tool = next(tool for tool in CORE if tool.name == f"memory_{name}")
        for budget in (60, 61, 70):
            payload = tool.answer(desk, {**given, "max_tokens": budget})
            assert size(payload) <= budget
            assert "nothing to know" not in payload["content"][0]["text"]


def test_a_memory_from_write_to_retire(db: str) -> None:
    """Written, recalled, amended, read with its history, corrected, retired: each step shows."""

    async def work(call: Tools) -> None:
        note = {"content": "Acme is on the silver tier", "name": "Acme contract", "valid_from": "2026-01-01"}
        id_ = (await call("write", **note))["id"]
        assert (await call("write", **note))["changed"] is False
        await call("amend", id=id_, content="Acme is on the gold tier", valid_from="2026-03-01")

        found = await call("recall", question="Which tier is Acme on?", explain=True)
        assert [item["text"] for item in found["items"]] == ["Acme is on the gold tier"]
        assert found["items"][0]["lanes"]
        assert found["trace"]
        past = await call("recall", question="Which tier is Acme on?", valid_at="2026-02-01")
        assert [item["text"] for item in past["items"]] == ["Acme is on the silver tier"]

        read = await call("read", id=id_, history=True)
        assert read["memory"]["text"] == "Acme is on the gold tier"
        assert [item["change"] for item in read["history"]] == ["put", "amended", "superseded"]
        await call("amend", id=id_, content="Acme is on the bronze tier", was_wrong=True, reason="misread")
        assert (await call("read", id=id_))["memory"]["text"] == "Acme is on the bronze tier"

        assert (await call("retire", id=id_))["changed"] is True
        assert (await call("retire", id=id_))["changed"] is False
        assert await call("list") == {}
        assert len((await call("list", retired=True))["items"]) >= 2

    session(stdio(db), work)


def test_what_was_believed_and_what_was_true_over_mcp(db: str) -> None:
    """A change learned late answers differently on the two axes."""
    with Memory.open(db) as memory:
        first = memory.note("context", "Acme", "tier: silver", valid_from="2026-01-01")
        memory.amend(first.id, "tier: gold", valid_from="2026-03-01")

    async def work(call: Tools) -> None:
        known = show(first.known_at)
        believed = await call("read", id=first.id, valid_at="2026-03-03", known_at=known)
        true = await call("read", id=first.id, valid_at="2026-03-03")

        assert believed["memory"]["text"] == "tier: silver"
        assert true["memory"]["text"] == "tier: gold"
        assert await call("list", as_of="2020-01-01") == {}

    within(db, work)


def test_an_empty_name_or_time_is_refused(db: str) -> None:
    """Neither an empty user nor an empty moment means everybody or now."""

    async def work(call: Tools) -> None:
        await call("write", content="Alice likes tea", user="alice")
        for kind in ("user", "agent", "app", "run", "valid_at", "known_at", "as_of"):
            assert "tea" not in await call.refused("list", **{kind: ""})

    within(db, work)


def test_scopes_by_call_by_server_and_several_at_once(db: str) -> None:
    """A server without a scope lets each call name its own; a write may go to several."""

    async def work(call: Tools) -> None:
        await call("write", content="Alice likes tea", user="alice")
        await call("write", content="Bo likes coffee", user="bo")
        await call(
            "write", content="The office is closed", scopes=[{"user": "alice"}, {"user": "bo", "app": "x"}]
        )

        assert {i["text"] for i in (await call("list", user="alice"))["items"]} == {
            "Alice likes tea",
            "The office is closed",
        }
        assert {i["text"] for i in (await call("list", user="bo"))["items"]} == {
            "Bo likes coffee", "The office is closed",
        }  # fmt: skip
        assert await call("list_scopes") == {"app": ["x"], "user": ["alice", "bo"]}
        assert await call("list_scopes", kind="app") == {"app": ["x"]}
        first = await call("list_scopes", limit=2)
        assert await call("list_scopes", limit=2, page=first["next"]) == {"user": ["bo"]}

    async def bound(call: Tools) -> None:
        assert {i["text"] for i in (await call("list"))["items"]} == {
            "Alice likes tea",
            "The office is closed",
        }
        assert "confined to user 'alice'" in await call.refused("list", user="bo")
        assert "confined to user 'alice'" in await call.refused(
            "purge_scope", kind="user", name="bo", confirm="bo"
        ) or "there is no" in await call.refused("purge_scope", kind="user", name="bo", confirm="bo")
        assert await call("list_scopes") == {"user": ["alice"]}

    within(db, work)
    within(db, bound, user="alice")


def _changesets(db: str) -> int:
    with Memory.open(db, Config(embedder="none")) as memory:
        return int(memory.stats()["changesets"])


def test_ending_many(db: str) -> None:
    """retire_all ends one scope's memories; purge_scope wants the name again, and erases nothing."""

    async def work(call: Tools) -> None:
        for user in ("ana", "bo"):
            await call("write", content=f"{user} likes tea", user=user)
            await call("write", content="I moved to Porto.", type="said", speaker=user, user=user)
        before = (await call("list", user="ana", type="context"))["items"]

        assert "name whose" in await call.refused("retire_all")
        assert (await call("retire_all", user="bo", type="context", dry_run=True))["count"] == 1
        assert (await call("retire_all", user="bo", type="context"))["count"] == 1
        assert "must be exactly 'ana'" in await call.refused(
            "purge_scope", kind="user", name="ana", confirm="anna"
        )
        assert "there is no" in await call.refused("purge_scope", kind="run", name="x", confirm="x")
        changesets = _changesets(db)
        assert (await call("purge_scope", kind="user", name="ana", confirm="ana"))["count"] >= 2
        assert _changesets(db) == changesets + 1
        assert await call("list", user="ana") == {}
        assert await call("list", user="ana", type="Turn") == {}
        kept = (await call("list", user="ana", retired=True))["items"]
        assert {item["text"] for item in before} <= {item.get("text") for item in kept}

    within(db, work)


def test_pages_and_budgets(db: str) -> None:
    """Pages follow each other, and no whole payload passes max_tokens, in any script."""
    with Memory.open(db) as memory:
        for number in range(12):
            memory.note("learning", f"tea {number}", f"Green tea {number} steeps for three minutes. " * 20)
        memory.remember("黄金会员每年一月续费。" * 40, speaker="Ana")

    async def work(call: Tools) -> None:
        first = await call("list", limit=5)
        second = await call("list", limit=100, page=first["next"])
        assert len({item["id"] for item in first["items"] + second["items"]}) == 13
        assert "next" not in second

        for tool, given in (
            ("recall", {"question": "How long does green tea steep?"}),
            ("recall", {"question": "黄金会员什么时候续费？", "explain": True}),
            ("list", {"limit": 100}),
            ("read", {"id": first["items"][0]["id"], "history": True}),
        ):
            for budget in (150, 300, 1000):
                answer = await call.client.call_tool(f"memory_{tool}", {**given, "max_tokens": budget})
                assert not answer.is_error, answer.content
                whole = answer.model_dump(
                    mode="json", by_alias=True, include={"content", "structured_content"}, exclude_none=True
                )
                most = (
                    2 * budget if "explain" in given else budget
                )  # what it explains has a budget of its own
                assert estimate_tokens(json.dumps(whole, ensure_ascii=False, separators=(",", ":"))) <= most
        assert "takes" in await call.refused("list", max_tokens=60)

    within(db, work)


def test_clear_errors(db: str) -> None:
    """What a model can mend is told inside the result, with what is allowed."""

    async def work(call: Tools) -> None:
        assert "project, reference" in await call.refused("write", content="x", type="Entity")
        assert "unknown field `vaild_at`" in await call.refused("list", vaild_at="2026-01-01")
        assert "2026-03-05" in await call.refused("list", as_of="soon")
        assert "missing required field `question`" in await call.refused("recall")
        assert "no memory" in await call.refused("read", id="0" * 12)
        assert "not both" in await call.refused("write", content="x", user="a", scopes=[{"user": "b"}])
        assert "new content" in await call.refused("amend", id="0" * 12)

    within(db, work)


def test_full_set_links_walks_and_merges(db: str) -> None:
    """`--tools full` adds tools for edges and merge proposals."""
    with Memory.open(db) as memory:
        a, b = (memory.note("user", name).id or "" for name in ("Ana", "Anna"))
        memory.link(a, "same_as", b)

    async def work(call: Tools) -> None:
        names = [tool.name for tool in (await call.client.list_tools()).tools]
        more = {
            "memory_forget",
            "memory_profile",
            "memory_link",
            "memory_walk",
            "memory_timeline",
            "memory_feedback",
            "memory_merges",
        }
        assert set(names) - set(_TEN) == more

        await call("link", src=a, type="relates_to", dst=b)
        around = await call("walk", id=a)
        assert [edge["type"] for edge in around["edges"]] == ["relates_to"]
        assert "contains" in await call.refused("link", src=a, type="contains", dst=b)

        assert (await call("feedback", id=a, verdict="useful"))["id"]
        assert await call.refused("feedback", id=a, verdict="great")

        (proposal,) = (await call("merges"))["items"]
        assert {proposal["a_name"], proposal["b_name"]} == {"Ana", "Anna"}
        assert await call("merges", action="accept", proposal=proposal["id"]) == {"changed": True}
        assert await call("merges") == {}

    within(db, work, tools="full")


# Transports, neighbours and speed ------------------------------------------------------------------


def test_streamable_http_keeps_tenants_apart(db: str, tmp_path: Path) -> None:
    """Over HTTP a token opens its own tenant's memory, and no token opens none."""
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('ana = "ana-token-0123456789"\nbo = ["bo-token-0123456789"]\n')
    tokens.chmod(0o600)

    async def talk(url: str) -> None:
        for who in ("ana", "bo"):
            headers = {"authorization": f"Bearer {who}-token-0123456789"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as http,
                Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
            ):
                call = Tools(client)
                assert await call("list") == {}
                await call("write", content=f"{who} was here")
                assert [i["text"] for i in (await call("list"))["items"]] == [f"{who} was here"]
        async with httpx2.AsyncClient() as http:
            assert (await http.post(f"{url}/mcp", json={})).status_code == 401

    with running(db, "--tokens", str(tokens)) as url:
        run(talk(url))


def test_several_clients_and_the_shell_on_one_file(db: str) -> None:
    """Three clients over both transports write at once while the shell works; nothing is lost."""

    async def write(client: Client, who: str) -> None:
        async with client as opened:
            call = Tools(opened)
            for number in range(8):
                await call("write", content=f"{who} {number}")
                assert (await call("recall", question=f"{who} {number}"))["items"]

    async def shell() -> None:
        for number in range(3):
            command = [*warm.python(), "-m", "worldline", "note", "context", f"shell {number}", "--db", db]
            process = await asyncio.create_subprocess_exec(
                *command, stdout=subprocess.DEVNULL, env=dict(os.environ)
            )
            assert await process.wait() == 0

    async def everybody(url: str) -> None:
        await asyncio.gather(
            write(stdio(db), "first"),
            write(stdio(db), "second"),
            write(Client(f"{url}/mcp"), "third"),
            shell(),
        )

    with running(db) as url:
        run(everybody(url))
    with Memory.open(db) as memory:
        assert len(memory.list("context", limit=100).items) == 27
        assert memory.verify().ok


def test_first_answer_after_a_cold_start(db: str) -> None:
    """Starting the server and answering takes little more CPU than loading what it needs: MCP and three models."""
    loading = (
        "import mcp.server, worldline.reading.parser as parser; parser.parse(['It works.']);"
        "from worldline.plugins import open_closeness, open_embedder; open_embedder('auto').embed(['It works.']);"
        "open_closeness('auto').read('Does it?', [('It works.', 0)])"
    )
    with Memory.open(db) as memory:
        memory.remember("We moved Acme to the gold tier.", speaker="Ana")

    async def work(call: Tools) -> None:
        assert (await call("recall", question="Which tier is Acme on?"))["items"]

    def first() -> None:
        session(stdio(db, cold=True, WORLDLINE_EMBEDDER="auto"), work)

    def load() -> None:
        subprocess.run([sys.executable, "-c", loading], check=True)

    assert any(children_cpu(first) / children_cpu(load) < 1.6 for _ in range(3))


def test_budget_counts_both_forms(memory: Memory) -> None:
    """The size of a payload is that of its text and its structure together."""
    memory.note("learning", "tea", "green " * 2000)
    recall = next(tool for tool in CORE if tool.name == "memory_recall")

    payload = recall.answer(Desk(memory.as_agent()), {"question": "tea", "max_tokens": 400})

    assert 200 < size(payload) <= 400
    assert payload["content"][0]["text"].count("green") > 20
    assert payload["structuredContent"]["items"][0]["text"].count("green") > 20
