"""The OpenAPI document, made from the table of routes and the classes in it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from worldline import __version__
from worldline.surfaces import schemas
from worldline.surfaces.rest import ROUTES, Binding, Route
from worldline.surfaces.verbs import TIMED

_PROBLEM = {
    "description": "What went wrong, and what to do about it (RFC 9457).",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class Problem(msgspec.Struct):
    """An error."""

    type: str
    title: str
    status: int
    detail: str


def document() -> dict[str, Any]:
    """The whole document."""
    types = [given for route in ROUTES for given in _answers(route)]
    roots, parts = schemas.shown([*types, Problem])
    given = iter(roots)
    paths: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    for route in ROUTES:
        answers = [next(given) for _ in _answers(route)]
        answer = {"anyOf": answers} if len(answers) > 1 else answers[0] if answers else {"type": "object"}
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, answer, taken)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Worldline",
            "version": __version__,
            "description": "The memory of long-running AI agents: what was said, what was true when, and "
            "when that was learned. Times are ISO text; an open end is null.",
        },
        "paths": paths,
        "components": {
            "schemas": {**taken, **parts},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"bearer": []}],
    }


def _answers(route: Route) -> tuple[Any, ...]:
    """What a route may answer with: one kind of thing, or one of several."""
    return route.gives if isinstance(route.gives, tuple) else () if route.gives is None else (route.gives,)


def _bound(field: str) -> dict[str, Any]:
    """Whose memory it is, or from which moment it is looked at."""
    if field in ("valid_at", "known_at", "as_of"):
        return {"type": "string", **TIMED}
    return {"type": "string", "minLength": 8 if field == "world" else 1}


def _operation(route: Route, answer: Any, taken: dict[str, Any]) -> dict[str, Any]:
    name, part = _component(route, taken)
    in_path = re.findall(r"{(\w+)}", route.path)
    fields = part.get("properties", {})
    parameters = [
        {"name": field, "in": "path", "required": True, "schema": fields[field]} for field in in_path
    ]
    if route.method == "GET":
        rest = {field: schema for field, schema in fields.items() if field not in in_path}
        parameters += [_in_query(field, schema, part.get("required", ())) for field, schema in rest.items()]
    parameters += [_in_query(field, _bound(field), ()) for field in Binding.__struct_fields__]
    made: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}},
            "default": _PROBLEM,
        },
    }
    if route.method == "POST":
        body = _without(part, in_path)
        taken[name] = body
        schema = {"$ref": f"#/components/schemas/{name}"}
        made["requestBody"] = {
            "required": bool(body.get("required")), "content": {"application/json": {"schema": schema}},
        }  # fmt: skip
    return made


def _component(route: Route, taken: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The class of what a route takes, under a name of its own; nested ones are added as they are."""
    _, parts = msgspec.json.schema_components([route.takes], ref_template="#/components/schemas/{name}")
    own = route.takes.__name__
    taken.update({f"{name}": part for name, part in parts.items() if name != own})
    return f"{route.name}_body", parts[own]


def _without(part: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    left = {field: schema for field, schema in part["properties"].items() if field not in fields}
    required = [field for field in part.get("required", ()) if field in left]
    return {**part, "properties": left, "required": required}


def _in_query(field: str, schema: Any, required: Any) -> dict[str, Any]:
    if schema.get("type") == "object":
        content = {"application/json": {"schema": schema}}
        return {"name": field, "in": "query", "required": field in required, "content": content}
    return {"name": field, "in": "query", "required": field in required, "schema": schema}
