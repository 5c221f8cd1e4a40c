"""OpenAI-style tools: schemas that fit the verbs, and calls that never raise."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from worldline import Config, Memory
from worldline.surfaces import tools


@pytest.fixture
def memory() -> Iterator[Memory]:
    """An empty memory."""
    with Memory.open(":memory:", Config(embedder="none")) as opened:
        yield opened


def call(memory: Memory, tool: str, /, **arguments: Any) -> Any:
    """Calls a tool as a model does: with JSON text."""
    return json.loads(tools.call(memory, tool, json.dumps(arguments)))


def test_schemas_are_well_formed() -> None:
    """Every tool is a closed object schema whose required arguments exist, with a verb behind it."""
    for tool in tools.schemas():
        function = tool["function"]
        rules = function["parameters"]
        assert tool["type"] == "function"
        assert function["description"]
        assert rules["additionalProperties"] is False
        assert set(rules["required"]) <= set(rules["properties"])
        assert all("type" in rule for rule in rules["properties"].values())
    assert {t["function"]["name"] for t in tools.schemas()} == set(tools._VERBS)
    json.dumps(tools.schemas())


def test_anthropic_takes_the_same_tools() -> None:
    """The other form holds the same names, descriptions and parameters."""
    pairs = zip(tools.schemas(), tools.schemas("anthropic"), strict=True)
    for ours, theirs in pairs:
        function = ours["function"]
        assert theirs == {
            "name": function["name"], "description": function["description"],
            "input_schema": function["parameters"],
        }  # fmt: skip


def test_facts_given_in_calls(memory: Memory) -> None:
    """Facts come with words and notes; what they did is told, and what is wrong with one too."""
    fact = {"subject": "I", "relation": "employer", "object": "Acme", "since": "2020-05"}
    done = call(memory.scoped(user="ana"), "remember", text="hello", facts=[fact])
    assert done["facts"] == ["ana works at Acme: given"]
    ended = {"subject": "I", "relation": "works for", "ended": True}
    done = call(memory.scoped(user="ana"), "note", type="user", name="job", content="left", facts=[ended])
    assert "ana works at Acme: over, as given" in done["facts"]
    assert (
        "relation" in call(memory, "remember", text="hello", facts=[{"subject": "I", "object": "x"}])["error"]
    )
    assert "error" in call(memory, "remember", text="hello", facts=["I live in Rome"])


def test_a_story_in_calls(memory: Memory) -> None:
    """Note, amend, recall at both moments, history, list, link, retire."""
    made = call(memory, "note", type="context", name="Acme contract", content="tier: silver",
                valid_from="2026-01-01")  # fmt: skip
    call(memory, "amend", ref=made["id"], content="tier: gold", valid_from="2026-03-01", reason="")
    other = call(memory, "note", type="project", name="Q4", content="plan")
    call(memory, "link", src=made["id"], type="relates_to", dst=other["id"])

    assert call(memory, "get", ref=made["id"])["content"] == "tier: gold"
    assert call(memory, "get", ref=made["id"], valid_at="2026-02-01")["content"] == "tier: silver"
    assert "tier: gold" in call(memory, "recall", question="Which tier has Acme?", max_tokens=200)["evidence"]
    assert [v["change"] for v in call(memory, "history", ref=made["id"])] == ["put", "amended", "superseded"]
    assert [item["name"] for item in call(memory, "list", type="project")["items"]] == ["Q4"]
    retired = call(memory, "retire", ref=other["id"])
    assert retired["changed"]
    assert made["known_at"] == call(memory, "history", ref=made["id"])[0]["node"]["known"]["from"]
    assert made["known_at"] < retired["known_at"]
    assert call(memory, "list", type="project")["items"] == []


def test_remember_and_correct(memory: Memory) -> None:
    """What was said is stored verbatim with its date; a wrong note is withdrawn."""
    call(memory, "remember", text="I moved to Porto", speaker="Ana", said_at="2026-02-01", session="s")
    note = call(memory, "note", type="user", name="tea", content="hates")
    call(memory, "correct", ref=note["id"], content="likes")

    assert memory.list("Turn").items[0].name == "Ana"
    assert call(memory, "get", ref=note["id"])["content"] == "likes"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("fly", "{}", "there is no tool 'fly'"),
        ("note", "{", "unexpected"),
        *(("note", wrong, "must be a JSON object") for wrong in ("[]", "null", None, [1], 5, [("ref", "x")])),
        ("note", {"type": "context"}, "note needs name, content"),
        ("note", {"type": "Entity", "name": "a", "content": "b"}, "unknown type of note"),
        ("get", {"ref": "00000000"}, "no memory"),
        ("get", {"ref": "x", "colour": "red"}, "unknown argument 'colour'"),
        ("recall", {"question": "a", "max_tokens": "many"}, ""),
        ("amend", {"ref": "00000000", "content": "b", "valid_from": "someday"}, "cannot read"),
    ],
)
def test_what_goes_wrong_is_an_answer(memory: Memory, name: str, arguments: Any, told: str) -> None:
    """Errors come back as text that the model can act on; nothing is raised."""
    answer = json.loads(tools.call(memory, name, arguments))

    assert told in answer["error"]


def test_what_is_known_reaches_the_model(memory: Memory) -> None:
    """Answer, proof and confidence come with the evidence; a context block is one call away."""
    memory.remember("I live in Rome.", speaker="Ana")
    found = call(memory, "recall", question="Where does Ana live?")
    doubt = call(memory, "recall", question="Which car does Ana drive?")

    assert (found["answer"], found["proof"][0]["text"]) == ("Rome", "Ana lives in Rome")
    assert 0 < found["confidence"] <= 1
    assert doubt["abstained"]
    assert doubt["reason"]
    assert "Ana lives in Rome" in call(memory, "context", max_tokens=100)
    assert "Ana" in call(memory, "context", about="Anna")["error"]
