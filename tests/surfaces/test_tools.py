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
    assert call(memory, "retire", ref=other["id"])["changed"]
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
        ("note", "[]", "must be a JSON object"),
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
