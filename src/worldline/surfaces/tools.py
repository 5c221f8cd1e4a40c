"""The core verbs as OpenAI-style tools, for agents that are not reached over MCP.

    tools = schemas()                                   # for `tools=` of a chat completion
    answer = call(memory, name, arguments)              # for each tool call; JSON text

An agent's writes go through `memory.as_agent()`, so only the agent-facing types are open to it. What
goes wrong comes back as `{"error": …}`, because the model that made the call can mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import orjson

from worldline.errors import WorldlineError
from worldline.memory import Memory
from worldline.model import Receipt
from worldline.reading.given import HINT
from worldline.rules.ontology import AGENT_EDGES, AGENT_TYPES
from worldline.surfaces import answering
from worldline.surfaces.render import plain

_TEXT = {"type": "string"}
_TIME = {"type": "string", "description": "ISO time such as 2026-03-05 or 2026-03-05T14:30+01:00."}
_REF = {"type": "string", "description": "The id of a memory, or its first 8 or more hex digits."}
_AT = {
    "valid_at": {**_TIME, "description": "What held then (ISO time); now if left out."},
    "known_at": {**_TIME, "description": "What was believed then (ISO time); now if left out."},
}
_FACTS = {
    "type": "array",
    "description": "What it states, as you understand it; a fact ends what it replaces.",
    "items": {
        "type": "object",
        "properties": {
            "subject": {"type": "string", "description": "Who or what; `user` for the user."},
            "relation": {"type": "string", "description": f"Such as: {HINT}. Or your own words."},
            "object": {"type": "string", "description": "One name or value."},
            "since": {"type": "string", "description": "ISO date, month or year."},
            "until": {"type": "string", "description": "ISO date, month or year."},
            "ended": {"type": "boolean", "description": "No longer so."},
        },
        "required": ["subject", "relation"],
        "additionalProperties": False,
    },
}
_MOST = 200


def _tool(description: str, required: str, **properties: Any) -> dict[str, Any]:
    return {
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required.split(),
            "additionalProperties": False,
        },
    }


_SCHEMAS: dict[str, dict[str, Any]] = {
    "remember": _tool(
        "Store what somebody said, word for word.", "text",
        text={**_TEXT, "description": "The words, unchanged."},
        speaker={**_TEXT, "description": "Who said it."},
        said_at=_TIME,
        session={**_TEXT, "description": "The conversation it belongs to."},
        facts=_FACTS,
    ),
    "recall": _tool(
        "Find what is remembered: the answer where it is known, its proof, dated evidence; or why there is none.",
        "question",
        question=_TEXT,
        max_tokens={"type": "integer", "minimum": 50, "description": "Budget of the evidence."},
        **_AT,
    ),
    "context": _tool(
        "What to know first: who the user is, what they asked for, what comes up, holds and changed, with ids.", "",
        about={**_TEXT, "description": "A name; the user if left out."},
        max_tokens={"type": "integer", "minimum": 50, "description": "Budget of the text."},
    ),
    "note": _tool(
        "Store something to know, as a note. The same note twice is one.", "type name content",
        type={"type": "string", "enum": list(AGENT_TYPES)},
        name={**_TEXT, "description": "What it is about, in a few words."},
        content=_TEXT,
        valid_from={**_TIME, "description": "Since when it is true (ISO time); now if left out."},
        facts=_FACTS,
    ),
    "amend": _tool(
        "It changed: a new version holds from now (or valid_from) on; the old one stays true of its time.",
        "ref content",
        ref=_REF, content=_TEXT, valid_from=_TIME,
        reason={**_TEXT, "description": "Why it changed."},
    ),
    "correct": _tool(
        "It was wrong from the start: replace it, or withdraw it where no content is given.", "ref",
        ref=_REF, content=_TEXT, reason={**_TEXT, "description": "Why it was wrong."},
    ),
    "retire": _tool(
        "It is over: no longer true. Nothing is deleted.", "ref",
        ref=_REF, when=_TIME, reason={**_TEXT, "description": "Why it is over."},
    ),
    "link": _tool(
        "Join two memories by a typed edge.", "src type dst",
        src=_REF, type={"type": "string", "enum": list(AGENT_EDGES)}, dst=_REF,
    ),
    "get": _tool("Show one memory.", "ref", ref=_REF, **_AT),
    "list": _tool(
        "List notes, newest first.", "",
        type={"type": "string", "description": "Only this type; Turn lists what was said."},
        limit={"type": "integer", "minimum": 1, "maximum": _MOST},
        page={**_TEXT, "description": "The `next` of the page before."},
        **_AT,
    ),
    "history": _tool("Every belief ever held in a memory.", "ref", ref=_REF),
}  # fmt: skip


def schemas(style: Literal["openai", "anthropic"] = "openai") -> list[dict[str, Any]]:
    """The tools, in the form that chat completions take, or that Anthropic's messages do."""
    if style == "anthropic":
        return [
            {"name": name, "description": tool["description"], "input_schema": tool["parameters"]}
            for name, tool in _SCHEMAS.items()
        ]
    return [{"type": "function", "function": {"name": name, **tool}} for name, tool in _SCHEMAS.items()]


def call(memory: Memory, name: str, arguments: str | Mapping[str, Any]) -> str:
    """Carries a tool call out; the answer is JSON text, also where it failed."""
    try:
        return _json(_VERBS[name](memory.as_agent(), _checked(name, arguments)))
    except KeyError:
        return _json({"error": f"there is no tool {name!r}; the tools are: {', '.join(_SCHEMAS)}"})
    except (WorldlineError, ValueError, TypeError) as error:
        return _json({"error": str(error)})


def _json(value: Any) -> str:
    return orjson.dumps(plain(value)).decode()


def _checked(name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, known by name; a model's empty text for something optional means nothing."""
    given = orjson.loads(arguments or "{}") if isinstance(arguments, str) else dict(arguments)
    if not isinstance(given, dict):
        raise ValueError("the arguments must be a JSON object")
    rules = _SCHEMAS[name]["parameters"]
    unknown = sorted(set(given) - set(rules["properties"]))
    if unknown:
        raise ValueError(f"unknown argument {unknown[0]!r}; {name} takes: {', '.join(rules['properties'])}")
    missing = [key for key in rules["required"] if given.get(key) is None]
    if missing:
        raise ValueError(f"{name} needs {', '.join(missing)}")
    wanted = {key: value for key, value in given.items() if value is not None}
    return {k: v for k, v in wanted.items() if v != "" or k in rules["required"]}


def _at(memory: Memory, given: dict[str, Any]) -> Memory:
    valid, known = given.pop("valid_at", None), given.pop("known_at", None)
    return memory.at(valid, known) if valid or known else memory


def _done(receipt: Receipt) -> dict[str, Any]:
    done: dict[str, Any] = {"id": receipt.id, "changed": receipt.changed, "known_at": receipt.known_at}
    facts = [change for change in receipt.changes if ": " in change]
    done |= {"facts": facts} if facts else {}
    return done | ({"redacted": receipt.redacted} if receipt.redacted else {})


def _recall(memory: Memory, given: dict[str, Any]) -> Any:
    found = _at(memory, given).recall(**given)
    return {**answering.plain(answering.known(memory, found, 12)), "evidence": found.text}


def _link(memory: Memory, given: dict[str, Any]) -> Any:
    return _done(memory.link(given["src"], given["type"], given["dst"]))


def _list(memory: Memory, given: dict[str, Any]) -> Any:
    given["limit"] = min(given.get("limit", 20), _MOST)
    return _at(memory, given).list(**given)


_VERBS: dict[str, Callable[[Memory, dict[str, Any]], Any]] = {
    "remember": lambda memory, given: _done(memory.remember(**given)),
    "recall": _recall,
    "context": lambda memory, given: memory.context(given.pop("about", None), **given).text,
    "note": lambda memory, given: _done(memory.note(**given)),
    "amend": lambda memory, given: _done(memory.amend(**given)),
    "correct": lambda memory, given: _done(memory.correct(**given)),
    "retire": lambda memory, given: _done(memory.retire(**given)),
    "link": _link,
    "get": lambda memory, given: _at(memory, given).get(given["ref"]),
    "list": _list,
    "history": lambda memory, given: memory.history(given["ref"]),
}
