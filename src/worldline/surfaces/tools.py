"""The core verbs as OpenAI-style tools, for agents that are not reached over MCP.

    tools = schemas()                                   # for `tools=` of a chat completion
    answer = call(memory, name, arguments)              # for each tool call; JSON text

An agent's writes go through `memory.as_agent()`, so only the agent-facing types are open to it. What
goes wrong comes back as `{"error": …}`, because the model that made the call can mend it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import orjson

from worldline.errors import WorldlineError
from worldline.memory import Memory
from worldline.model import Receipt
from worldline.rules.handlers import AGENT_EDGES, AGENT_TYPES
from worldline.surfaces import budget
from worldline.surfaces.render import iso, plain
from worldline.surfaces.verbs import schema_of, taken, told

_MOST = 200
_AT = {
    "valid_at": "What held then (ISO time); now if left out.",
    "known_at": "What was believed then (ISO time); now if left out.",
}
_FACT = "subject relation object since until ended"
"""What of a fact a model is asked for."""


def _tool(verb: str, takes: str, required: str = "", does: str = "", *, at: bool = False, **more: Any) -> Any:
    """A verb as a tool: these of its parameters, and what is to be said of them apart."""
    run = getattr(Memory, verb)
    schema = schema_of(taken(run, only=takes.split()))
    properties = {
        name: {**schema["properties"].get(name, {}), **more.get(name, {})} for name in takes.split()
    }
    if "facts" in properties:
        fact = schema["$defs"]["GivenFact"]["properties"]
        properties["facts"]["items"] = {
            "type": "object",
            "properties": {name: fact[name] for name in _FACT.split()},
            "required": ["subject", "relation"],
            "additionalProperties": False,
        }
    properties |= {name: {"type": "string", "description": text} for name, text in _AT.items() if at}
    return {
        "description": does or told(run),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required.split(),
            "additionalProperties": False,
        },
    }


_VERBS: dict[str, dict[str, Any]] = {
    "remember": _tool("remember", "text speaker said_at session facts", "text"),
    "recall": _tool(
        "recall", "question max_tokens", "question",
        "Find what is remembered: the answer where it is known, its proof, dated evidence; or why there is none.",
        at=True, max_tokens={"minimum": 50, "description": "Budget of the evidence."},
    ),
    "context": _tool(
        "context", "about max_tokens", about={"type": "string", "description": "A name; the user if left out."},
        max_tokens={"minimum": 50, "description": "Budget of the text."},
    ),
    "note": _tool(
        "note", "type name content valid_from facts", "type name content",
        "Store something to know, as a note. The same note twice is one.", type={"enum": list(AGENT_TYPES)},
    ),
    "amend": _tool("amend", "ref content valid_from reason", "ref content"),
    "correct": _tool("correct", "ref content reason", "ref"),
    "retire": _tool("retire", "ref when reason", "ref", "It is over: no longer true. Nothing is deleted."),
    "link": _tool("link", "src type dst", "src type dst", type={"enum": list(AGENT_EDGES)}),
    "get": _tool("get", "ref", "ref", at=True),
    "list": _tool(
        "list", "type limit page", at=True, limit={"maximum": _MOST},
        type={"description": "Only this type [notes and what was said]."},
    ),
    "history": _tool("history", "ref", "ref"),
}  # fmt: skip


def schemas(style: Literal["openai", "anthropic"] = "openai") -> list[dict[str, Any]]:
    """The tools, in the form that chat completions take, or that Anthropic's messages do."""
    if style == "anthropic":
        return [
            {"name": name, "description": tool["description"], "input_schema": tool["parameters"]}
            for name, tool in _VERBS.items()
        ]
    return [{"type": "function", "function": {"name": name, **tool}} for name, tool in _VERBS.items()]


def call(memory: Memory, name: str, arguments: str | Mapping[str, Any]) -> str:
    """Carries a tool call out; the answer is JSON text, also where it failed."""
    try:
        answer = _answer(memory.as_agent(), name, _checked(name, arguments))
    except (WorldlineError, ValueError, TypeError) as error:
        answer = {"error": str(error)}
    return orjson.dumps(plain(answer)).decode()


def _checked(name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, known by name; a model's empty text for something optional means nothing."""
    if name not in _VERBS:
        raise ValueError(f"there is no tool {name!r}; the tools are: {', '.join(_VERBS)}")
    given = orjson.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    if not isinstance(given, Mapping):
        raise ValueError("the arguments must be a JSON object")
    rules = _VERBS[name]["parameters"]
    unknown = sorted(set(given) - set(rules["properties"]))
    if unknown:
        raise ValueError(f"unknown argument {unknown[0]!r}; {name} takes: {', '.join(rules['properties'])}")
    missing = [key for key in rules["required"] if given.get(key) is None]
    if missing:
        raise ValueError(f"{name} needs {', '.join(missing)}")
    wanted = {key: value for key, value in given.items() if value is not None}
    return {k: v for k, v in wanted.items() if v != "" or k in rules["required"]}


def _answer(memory: Memory, name: str, given: dict[str, Any]) -> Any:
    valid, known = given.pop("valid_at", None), given.pop("known_at", None)
    memory = memory.at(valid, known) if valid or known else memory
    if name == "context":
        return memory.context(given.pop("about", None), **given).text
    if name == "list":
        given["limit"] = min(given.get("limit", 20), _MOST)
    found = getattr(memory, name)(**given)
    if name == "recall":
        return {**budget.plain(budget.known(memory, found, 12)), "evidence": found.text}
    return _done(found) if isinstance(found, Receipt) else found


def _done(receipt: Receipt) -> dict[str, Any]:
    done: dict[str, Any] = {"id": receipt.id, "changed": receipt.changed, "known_at": iso(receipt.known_at)}
    facts = [change for change in receipt.changes if ": " in change]
    done |= {"facts": facts} if facts else {}
    return done | ({"redacted": receipt.redacted} if receipt.redacted else {})
