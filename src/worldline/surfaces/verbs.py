"""What a verb takes, said once for every door, and how doors describe it.

A door's function says in its own signature what it takes; where a door is nothing but a verb of `Memory`, names,
order and defaults are those of the method, and `PARAMETERS` adds what a signature cannot say: how a value is written
in JSON, between which bounds, and what it means. The bodies of REST, the OpenAPI document, the schemas of tools and
their reference pages are made from these.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta, Struct

from worldline.memory import Memory
from worldline.model import Evidence, Metadata, Node
from worldline.reading.families import HINT
from worldline.store import registry
from worldline.surfaces import render
from worldline.surfaces.render import HIDDEN, moment

TIMED = {"anyOf": [{"format": "date-time"}, {"format": "date"}, {"const": "forever"}]}
Time = Annotated[
    str,
    Meta(
        description="ISO time such as 2026-03-05 or 2026-03-05T14:30+01:00, or `forever`.",
        extra_json_schema=TIMED,
    ),
]
Ref = Annotated[
    str,
    Meta(
        description="An id, its first 8 or more digits, or a hash that a world has had.",
        extra_json_schema={"minLength": 8},
    ),
]
SCOPES = ("user", "agent", "app", "run")
Many = Annotated[int, Meta(ge=1, le=1000)]
Depth = Annotated[int, Meta(ge=1, le=8)]
Way = Literal["out", "in", "both"]
Verdict = Literal["useful", "wrong"]


class Body(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is asked; nothing, here."""


class ScopeOf(Struct, kw_only=True, forbid_unknown_fields=True):
    """A scope: the kinds that are set must all fit."""

    user: str | None = None
    agent: str | None = None
    app: str | None = None
    run: str | None = None


class Binding(ScopeOf, kw_only=True):
    """Whose memory and from which moment: options of the shell, and query parameters of every route."""

    session: str | None = None
    world: str | None = None
    valid_at: str | None = None
    known_at: str | None = None
    as_of: str | None = None

    def bind(self, memory: Memory) -> Memory:
        """The memory, bound."""
        # an empty name is refused, never taken for everybody
        memory = memory.scoped(self.user, self.agent, self.app, self.run, self.session)
        if self.world is not None:
            memory = memory.enter(self.world)
        return memory.at(moment(self.valid_at), moment(self.known_at), moment(self.as_of))


def shape(described: str, **fields: Any) -> Any:
    """A class for a result, by its name and what it is; a field is its type, or its type and its default."""
    name, _, doc = described.partition(": ")
    typed = [(field, *(type_ if isinstance(type_, tuple) else (type_,))) for field, type_ in fields.items()]
    return msgspec.defstruct(name, typed, namespace={"__doc__": doc}, kw_only=True, omit_defaults=True)


class GivenFact(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fact: a relation in your own words, or a predicate that you keep exactly as it is written."""

    subject: Annotated[str, Meta(description="Who or what; `I` or `user` for the bound user.")]
    relation: Annotated[str, Meta(description=f"Such as: {HINT}. Or your own words.")] | None = None
    object: Annotated[str | int | float | bool, Meta(description="A name or a value.")] | None = None
    since: Annotated[str, Meta(description="ISO date, month or year [when it was said].")] | None = None
    until: Annotated[str, Meta(description="No longer so from then on.")] | None = None
    ended: Annotated[bool, Meta(description="It is over.")] = False
    predicate: Annotated[str, Meta(description="Instead of `relation`.")] | None = None
    literal: (
        Annotated[str | int | bool, Meta(description="Instead of `object`: a value, not a name.")] | None
    ) = None
    valid_from: Annotated[str | int, Meta(description="As `since`.")] | None = None
    valid_to: Annotated[str | int, Meta(description="As `until`.")] | None = None
    precision: str | None = None
    confidence: float = 1.0
    reason: str | None = None
    functional: Annotated[bool, Meta(description="Whether it replaces the old object.")] | None = None
    correction: Annotated[bool, Meta(description="The old one was wrong.")] = False
    evidence: list[Evidence] = msgspec.field(default_factory=list)


def _said(type_: Any, description: str) -> Any:
    return Annotated[type_, Meta(description=description)]


def _time(description: str) -> Any:
    return Annotated[str, Meta(description=f"{description}; ISO time.", extra_json_schema=TIMED)]


PARAMETERS: dict[str, Any] = {
    "a": _said(str, "A time, or a hash that a world has had."),
    "asked_at": _time("The moment that `yesterday` is relative to [now]"),
    "b": _said(str, "The same; without it: now."),
    "content": str,
    "dated": _time("The author's date; part of a note's identity"),
    "depth": Depth,
    "dry_run": _said(bool, "Say what it would do, and leave nothing behind."),
    "dst": Ref,
    "everything": _said(bool, "Also what this reader has read."),
    "exact": _said(bool, "This very version, whatever became of it."),
    "expect": Ref,
    "expires": _time("Over from then on, with what rests on it alone"),
    "external_id": _said(str, "Your own id for it; sent twice, it is stored once."),
    "fact": GivenFact,
    "facts": _said(list[GivenFact], "What it states, as you understand it; a fact ends what it replaces."),
    "filters": _said(Metadata, "By metadata: a value, or {$gt|$gte|$lt|$lte|$in|$ne|$contains: x}."),
    "from_": _time("From this time on"),
    "include_quarantined": _said(bool, "Also what is kept back."),
    "include_superseded": _said(bool, "Also what is over or withdrawn."),
    "limit": Many,
    "max_tokens": Annotated[int, Meta(ge=1)],
    "messages": list[dict[str, Any]],
    "metadata": Metadata,
    "name": _said(str, "What it is about, in a few words."),
    "page": _said(str, "The `next` of the page before."),
    "passes": list[str],
    "predicate": _said(str, "For an edge of type fact: what it says."),
    "proposal": _said(str, "The id of a merge proposal."),
    "question": str,
    "read": _said(bool, "Also what was said."),
    "reason": _said(str, "Why; kept with the belief."),
    "ref": Ref,
    "said_at": _time("When it was said [now]"),
    "session": _said(str, "The conversation it belongs to."),
    "speaker": _said(str, "Who said it."),
    "src": Ref,
    "text": _said(str, "The words, unchanged."),
    "to": _time("Before this time"),
    "topic": _said(str, "What it is about."),
    "type": str,
    "valid_from": _time("Since when it is true [now]"),
    "valid_to": _time("Until when it is true [open]"),
    "verdict": Verdict,
    "when": _time("From when on it is not true any more [now]"),
    "who": _said(str, "A name, or the id of an entity."),
}
TIMES = frozenset("asked_at before dated expires from_ said_at since to valid_from valid_to when".split())


def told(run: Callable[..., Any]) -> str:
    """What a function does, in the words of its docstring: the first paragraph, on one line."""
    return " ".join((inspect.getdoc(run) or "").partition("\n\n")[0].split())


def taken(
    run: Callable[..., Any],
    *bases: type[Struct],
    name: str = "",
    does: str = "",
    without: Collection[str] = (),
    only: Collection[str] | None = None,
) -> type[Struct]:
    """A class for what a function takes after the memory: all of it, or without some, or only some of it."""
    own = getattr(Memory, run.__name__, None) is run
    hints = PARAMETERS if own else get_type_hints(run, include_extras=True)
    _, *named = inspect.signature(run).parameters.values()
    wanted = [one for one in named if one.name in hints and one.name not in without]
    chosen = {one.name: one.default for one in wanted if only is None or one.name in only}
    return msgspec.defstruct(
        name or run.__name__.title().replace("_", ""),
        [_field(name, hints[name], default) for name, default in chosen.items()],
        bases=bases or (Body,),
        namespace={"__doc__": does or told(run)},
        rename={name: name.rstrip("_") for name in chosen if name.endswith("_")},
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _field(name: str, type_: Any, default: Any) -> tuple[Any, ...]:
    if default is inspect.Parameter.empty:
        return name, type_
    if name in ("metadata", "filters") or default == {}:
        return name, type_, msgspec.field(default_factory=dict)
    if default == ():
        return name, type_, msgspec.field(default_factory=list)
    return name, (type_ | None if default is None or name == "reason" else type_), default


def given(asked: Struct) -> dict[str, Any]:
    """What was asked, as the verb takes it: times as moments, facts as dicts, nothing for what is empty."""
    found: dict[str, Any] = {}
    for name in asked.__struct_fields__:
        value = getattr(asked, name)
        if name in TIMES:
            value = moment(value)
        elif name in ("facts", "fact"):
            value = msgspec.to_builtins(value)
        if value is not None and not (name in ("metadata", "filters") and not value):
            found[name] = value
    return found


def every(memory: Memory, type_: str | None = None, **filters: Any) -> Iterator[Node]:
    """All memories of a type, however many pages they take."""
    page: str | None = None
    while True:
        found = memory.list(type_, limit=1000, page=page, **filters)
        yield from found.items
        page = found.next
        if page is None:
            return


def scope_names(memory: Memory) -> set[str]:
    """`kind:name` of every scope that this handle reaches."""
    return memory.handle.read(registry.scope_names)


# Schemas, as clients see them ----------------------------------------------------------------------
#
# `render.plain` decides how results look; `shown` says the same about their schemas.

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


def schema_of(type_: Any) -> Schema:
    """The schema of one class, itself at the root, without titles and nulls."""
    (root,), parts = msgspec.json.schema_components([type_], ref_template="#/$defs/{name}")
    name = root["$ref"].rsplit("/", 1)[1]
    found: Schema = _brief({**parts.pop(name), **({"$defs": parts} if parts else {})})
    return found


def outline(type_: Any) -> Schema:
    """What a result has in it, without what its parts have in theirs: enough to know where to look."""
    parts = schema_of(type_).get("properties", {})
    kinds = {name: part.get("type", "object" if "$ref" in part else None) for name, part in parts.items()}
    return {
        "type": "object",
        "properties": {name: {"type": kind} if kind else {} for name, kind in kinds.items()},
    }


def _brief(schema: Any) -> Any:
    """Fewer tokens for the same meaning: an optional value may simply be left out."""
    if isinstance(schema, list):
        return [_brief(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    choices, rest = schema.get("anyOf", ()), {k: x for k, x in schema.items() if k != "anyOf"}
    kept = [choice for choice in choices if choice != {"type": "null"}]
    if len(choices) > 2 and all(choice.keys() == {"type"} for choice in choices):
        schema = {**rest, "type": [choice["type"] for choice in kept if choice["type"] != "integer"]}
    elif len(choices) == 2 and len(kept) == 1:
        schema = {**rest, **kept[0]}
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
    fields = {field: value for field, value in part.get("properties", {}).items() if field not in HIDDEN}
    for field in render.TIMES & fields.keys():
        fields[field] = {"type": "array", "items": _TIME} if fields[field].get("type") == "array" else _OPEN
    required = [field for field in part.get("required", []) if field in fields]
    return {**part, "properties": fields, "required": required} if fields else part
