"""JSON schemas as clients see them: from the classes, without what never leaves the store.

`render.plain` decides how results look; `shown` says the same about their schemas.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from worldline.surfaces.render import HIDDEN, TIMES

Schema = dict[str, Any]
_TIME: Schema = {"type": "string", "format": "date-time"}
_OPEN: Schema = {"anyOf": [_TIME, {"type": "null"}]}
_INTERVAL: Schema = {
    "title": "Interval",
    "description": "[from, to): at `to` it is over; null is an open end.",
    "type": "object",
    "properties": {"from": _OPEN, "to": _OPEN},
    "required": ["from", "to"],
}


def of(type_: Any, *, brief: bool = False) -> Schema:
    """The schema of one class, itself at the root; `brief` leaves out titles and nulls."""
    (root,), parts = msgspec.json.schema_components([type_], ref_template="#/$defs/{name}")
    name = root["$ref"].rsplit("/", 1)[1]
    schema = dict(parts.pop(name))
    if parts:
        schema["$defs"] = parts
    found: Schema = _brief(schema) if brief else schema
    return found


def outline(type_: Any) -> Schema:
    """What a result has in it, without what its parts have in theirs: enough to know where to look."""
    schema = of(type_, brief=True)
    fields = {name: _outlined(part) for name, part in schema.get("properties", {}).items()}
    return {"type": "object", "properties": fields}


def _outlined(part: Schema) -> Schema:
    if "type" not in part:
        return {"type": "object"} if "$ref" in part else {}
    return {"type": part["type"]}


def _brief(schema: Any) -> Any:
    """Fewer tokens for the same meaning: an optional value may simply be left out."""
    if isinstance(schema, list):
        return [_brief(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    choices = schema.get("anyOf", ())
    if choices and all(choice.keys() == {"type"} for choice in choices) and len(choices) > 2:
        named = [choice["type"] for choice in choices if choice["type"] not in ("null", "integer")]
        schema = {**{k: x for k, x in schema.items() if k != "anyOf"}, "type": named}
    kept = [choice for choice in choices if choice != {"type": "null"}]
    if len(choices) == 2 and len(kept) == 1:
        schema = {**{k: x for k, x in schema.items() if k != "anyOf"}, **kept[0]}
    return {
        key: {name: _brief(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else _brief(value)
        for key, value in schema.items()
        if key != "title"
        and not (key in ("default", "required") and not value)
        and not (key == "description" and "properties" in schema)
    }


def shown(types: Iterable[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """The schemas of results (in the order given) and the components that they refer to."""
    roots, parts = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return list(roots), {name: _shown(name, part) for name, part in parts.items()}


def _shown(name: str, part: Schema) -> Schema:
    if name == "Interval":
        return _INTERVAL
    fields = {
        field: _time(value) if field in TIMES else value
        for field, value in part.get("properties", {}).items()
        if field not in HIDDEN
    }
    required = [field for field in part.get("required", []) if field in fields]
    return {**part, "properties": fields, "required": required} if fields else part


def _time(value: Schema) -> Schema:
    return {"type": "array", "items": _TIME} if value.get("type") == "array" else _OPEN
