"""A model reads after the rules: bounded, grounded in the text, resumable, its prompt on record."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from worldline import Config, Memory
from worldline.errors import InvalidInput
from worldline.testing import FrozenClock
from worldline.write.afterwards import ChatMessage, ModelReply, checked, parsed, prompt

TEXT = "The kitchen is being redone; Marta Silva from Studio Norte draws the plans for us."
FACT = {
    "subject": "Marta Silva", "predicate": "works for", "object": "Studio Norte",
    "quote": "Marta Silva from Studio Norte", "since": "", "change": "", "confidence": 0.9,
}  # fmt: skip


class _Scripted(BaseHTTPRequestHandler):
    answers: ClassVar[list[Any]] = []
    seen: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        """Gives the next answer of the script; the last one again and again."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append(body)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.send_response(500 if answer is None else 200)
        self.end_headers()
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.wfile.write(json.dumps({"choices": [{"message": {"content": text}}]}).encode())

    def log_message(self, *args: Any) -> None:
        """Stays silent."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The address of a scripted model on loopback."""
    _Scripted.seen.clear()
    _Scripted.answers[:] = [{"facts": [FACT]}]
    server = HTTPServer(("127.0.0.1", 0), _Scripted)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1#scripted"
    server.shutdown()
    server.server_close()
    thread.join()


def opened(endpoint: str, **more: Any) -> Memory:
    """A memory that lets this model read."""
    config = Config(embedder="none", understand="model", model=endpoint, gate="off", **more)
    return Memory.open(":memory:", config, clock=FrozenClock("2026-03-01"))


def facts(memory: Memory) -> set[str]:
    """What is believed."""
    return {node.content for node in memory.list("Fact", limit=200).items}


def state(memory: Memory) -> list[tuple[Any, ...]]:
    """State and signals of every event."""
    rows = memory.handle.store.query("SELECT state, signals FROM events ORDER BY node")
    return [(row[0], json.loads(row[1]) if row[1] else {}) for row in rows]


def test_a_model_adds_to_the_rules(endpoint: str) -> None:
    """Its facts are believed with their span, model and prompt; the rules' facts stay."""
    with opened(endpoint) as memory:
        receipt = memory.remember(f"I live in Porto. {TEXT}", speaker="Ana")

        assert facts(memory) >= {"Ana lives in Porto", "Marta Silva works for Studio Norte"}
        (fact,) = [n for n in memory.list("Fact").items if "Studio Norte" in n.content]
        (edge,) = memory.walk(fact, "derived_from", way="out").edges
        assert (edge.dst, edge.metadata["prompt"]) == (receipt.id, prompt()[1])
        assert edge.metadata["model"] == endpoint
        assert prompt()[1] in (fact.reason or "")
        assert state(memory)[0][1]["model"]["claims"] == 1
        assert memory.verify().ok


def test_the_request_is_bounded_and_asks_for_json(endpoint: str) -> None:
    """One call a message, with a limit, a schema, and the text quoted as data."""
    with opened(endpoint, model_tokens=77) as memory:
        memory.remember(TEXT, speaker="Ana")

    (body,) = _Scripted.seen
    assert body["max_tokens"] == 77
    assert body["response_format"]["type"] == "json_schema"
    assert body["messages"][1]["content"].count("=== message") == 2


def test_undo_takes_the_models_facts_back(endpoint: str) -> None:
    """One receipt covers words, rules and model."""
    with opened(endpoint) as memory:
        memory.undo(memory.remember(TEXT, speaker="Ana"))

        assert facts(memory) == set()


def test_a_broken_answer_is_repaired_or_asked_again(endpoint: str) -> None:
    """Fences and trailing commas are repaired; anything else gets one more chance, and the reason is kept."""
    fenced = "```json\n" + json.dumps({"facts": [FACT]})[:-2] + ",]}\n```"
    _Scripted.answers[:] = ["I would rather not.", fenced]
    with opened(endpoint) as memory:
        memory.remember(TEXT, speaker="Ana")

        assert "Marta Silva works for Studio Norte" in facts(memory)
        kept = state(memory)[0][1]["model"]
        assert (kept["calls"], len(kept["rejected"])) == (2, 1)
        assert "no JSON" in kept["rejected"][0]


def test_an_answer_that_stays_broken_is_turned_down(endpoint: str) -> None:
    """After two answers that are none the event is settled, with the reasons."""
    _Scripted.answers[:] = ["no"]
    with opened(endpoint) as memory:
        receipt = memory.remember(TEXT, speaker="Ana")

        assert len(_Scripted.seen) == 2
        assert state(memory)[0][0] == "stored"
        assert any("not as asked" in change for change in receipt.changes)
        assert memory.resume() == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quote": "Marta is an architect"}, "its quote is not in the text"),
        ({"object": "Siemens"}, "its object is not in the text"),
        ({"subject": "Bruno"}, "its subject is not in the text"),
        ({"object": ""}, "it has no object"),
        ({"confidence": 7}, "its confidence is not between 0 and 1"),
        ({"predicate": "is"}, "it is not a short relation"),
    ],
)
def test_what_the_text_does_not_bear_out_is_rejected(change: dict[str, Any], reason: str) -> None:
    """A claim without its words in the text is turned down with the reason."""
    reply = parsed(json.dumps({"facts": [{**FACT, **change}]}))
    claims, rejected = checked(reply, ChatMessage(TEXT, "Ana", datetime(2026, 3, 1, tzinfo=UTC)))

    assert claims == ()
    assert reason in rejected[0]


def test_parsing_never_crashes() -> None:
    """Odd answers are values or a ValueError with a reason."""
    assert parsed('[{"subject": "a", "predicate": "b"}]').facts[0].subject == "a"
    assert parsed('{"facts": []}') == ModelReply()
    cut = json.dumps({"facts": [FACT, FACT]})[:-40]
    assert [fact.object for fact in parsed(cut).facts] == ["Studio Norte"]
    for odd in ("", "{", "[1]", '{"facts": 3}', "\ud800", "null", "{" * 5000):
        with pytest.raises(ValueError, match=r".+"):
            parsed(odd)


def test_a_model_never_ends_what_somebody_said(endpoint: str) -> None:
    """What is inferred has the lowest authority: it contradicts and closes nothing."""
    wrong = {**FACT, "subject": "Ana", "predicate": "lives in", "object": "Faro", "quote": "Faro",
             "change": "replaces"}  # fmt: skip
    _Scripted.answers[:] = [{"facts": []}, {"facts": [wrong]}]
    with opened(endpoint) as memory:
        memory.remember("I live in Porto.", speaker="Ana", said_at="2026-01-01")
        memory.remember("Faro was lovely this time of the year.", speaker="Ana", said_at="2026-01-05")

        assert "Ana lives in Porto" in facts(memory)


def test_an_endpoint_that_is_away_leaves_it_pending(endpoint: str) -> None:
    """Words and rules' facts are there at once; resume lets the model read exactly once later."""
    _Scripted.answers[:] = [None]
    with opened(endpoint) as memory:
        receipt = memory.remember(f"I live in Porto. {TEXT}", speaker="Ana")
        assert any("left for later" in change for change in receipt.changes)
        assert state(memory)[0][0] == "pending"
        assert facts(memory) >= {"Ana lives in Porto"}

        _Scripted.answers[:] = [{"facts": [FACT]}]
        assert len(memory.resume()) == 1
        assert "Marta Silva works for Studio Norte" in facts(memory)
        assert memory.resume() == ()
        assert state(memory)[0][0] == "stored"


def test_a_run_is_bounded(endpoint: str) -> None:
    """A conversation asks the model so many times at most; the rest waits for resume."""
    told = [{"role": "user", "content": f"{TEXT} Take {n}."} for n in range(5)]
    with opened(endpoint, model_events=2) as memory:
        memory.remember(messages=told)
        assert len(_Scripted.seen) == 2
        assert sorted(s for s, _ in state(memory)) == ["pending"] * 3 + ["stored"] * 2
        memory.resume()
        assert len(_Scripted.seen) == 4
        memory.resume()
        assert [s for s, _ in state(memory)] == ["stored"] * 5


def test_the_gate_decides_who_is_worth_a_model(endpoint: str) -> None:
    """A dull message and an assistant's words are not sent."""
    config = Config(embedder="none", understand="model", model=endpoint)
    with Memory.open(":memory:", config) as memory:
        memory.remember("ok thanks", speaker="Ana")
        memory.remember(messages=[{"role": "assistant", "content": TEXT}])

        assert _Scripted.seen == []
        assert {s for s, _ in state(memory)} == {"stored"}


def test_a_model_must_be_named() -> None:
    """Without an endpoint the setting is refused, with what to set, before anything is stored."""
    with Memory.open(":memory:", Config(embedder="none", understand="model")) as memory:
        with pytest.raises(InvalidInput, match="needs a model"):
            memory.remember(TEXT)
        assert memory.list("Turn").items == ()
