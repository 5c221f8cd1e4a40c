"""The REST routes: one table, from which the server, the OpenAPI document and the docs are made.

A route is a path and a function of (memory, what it takes); its signature is the description of what it takes, and
a verb of `Memory` stands for itself. What is in the path or, for GET, in the query goes into the same class as the
fields of a body. Who and when (scope, world, moment) is bound before the function is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta, Struct, field

from worldline import __version__, model
from worldline.clock import EARLIEST, instant
from worldline.errors import InvalidInput
from worldline.memory import Memory
from worldline.read.history import mark_after
from worldline.read.profile import Context as Briefing
from worldline.read.profile import Episode, Profile
from worldline.store.registry import span
from worldline.surfaces import budget, verbs
from worldline.surfaces.render import HIDDEN, plain
from worldline.surfaces.verbs import TIMED, Binding, Body, Depth, Many, Ref, Time, Way, given, shape
from worldline.write.afterwards import Reread
from worldline.write.forget import Forgotten
from worldline.write.given import Link as LinkToLoad
from worldline.write.given import Note as NoteToLoad

_LOOKS = frozenset({"/v1/recall", "/v1/context", "/v1/walk", "/v1/query", "/v1/explain"})


# Parts of what the routes take ---------------------------------------------------------------------


class LoadNote(Body):
    """A note to load; `inside` is the place in the list of the note that contains it."""

    type: str
    name: str
    content: str = ""
    valid_from: Time | None = None
    valid_to: Time | None = None
    dated: Time | None = None
    metadata: model.Metadata | None = None
    inside: int | None = None


class LoadLink(Body):
    """An edge to load; an end is the place of a note in the list."""

    src: int
    type: str
    dst: int
    valid_from: Time | None = None
    valid_to: Time | None = None
    metadata: model.Metadata | None = None


class FollowStep(Body):
    """Move on along edges."""

    types: list[str] = field(default_factory=list)
    way: Way = "out"
    depth: int = 1


class WhereStep(Body):
    """Keep what fits."""

    type: list[str] = field(default_factory=list)
    name: str | None = None
    kind: str | None = None
    contains: str | None = None
    metadata: model.Metadata = field(default_factory=dict)


class ConnectedStep(Body):
    """Keep what has an edge."""

    type: str
    to: list[str] = field(default_factory=list)
    way: Way = "both"
    absent: bool = False


class QueryStep(Body):
    """One step of a query: exactly one of these."""

    follow: FollowStep | None = None
    where: WhereStep | None = None
    connected: ConnectedStep | None = None


# What some of them give, for whoever reads the document --------------------------------------------

Answered = shape(
    "Answered: The answer to a question; `hits` are best first, a hit that did not fit whole has only the beginning.",
    confidence=float, abstained=bool, reason=str | None, answer=str | None, proof=list[budget.Cited],
    facts=list[budget.Cited], hits=list[dict[str, Any]], returned=int, found=int, sure=float, trace=(list[str], []),
)  # fmt: skip
Walked = shape(
    "Walked: Answers of several hops, best first, each with the facts that it walks.",
    confidence=float, chains=list[dict[str, Any]],
)  # fmt: skip
FeedPage = shape(
    "FeedPage: A page of what was believed and given up.", items=list[dict[str, Any]], next=str | None
)
IdentityOf = shape(
    "IdentityOf: One identity with all its names.", representative=str, members=list[dict[str, str]],
    names=list[str], provenance=list[dict[str, Any]], merges=list[dict[str, Any]],
)  # fmt: skip
QueryPlan = shape("QueryPlan: A query's plan.", plan=str)
Hash = shape("Hash: A hash.", hash=str)
Counted = shape("Counted: How many.", count=int)
Problem = shape("Problem: An error.", type=str, title=str, status=int, detail=str)


class NamedProposal(Struct):
    """A proposal with the names of its ends."""

    proposal: model.Proposal
    a_name: str
    b_name: str


class WorldHash(Struct):
    """A world and its hash."""

    hash: str
    node: model.Node


Worlds = shape("Worlds: The hash of everything, and every world.", hash=str, worlds=list[WorldHash])


# The functions -----------------------------------------------------------------------------------


def recall(
    memory: Memory,
    question: str,
    max_tokens: Annotated[int, Meta(ge=100, description="Budget for the whole response body.")] = 4000,
    asked_at: Time | None = None,
    limit: Many | None = None,
    filters: Mapping[str, Any] = {},
    explain: Annotated[bool, Meta(description="Also lanes, factors and the plan.")] = False,
    include_superseded: bool = False,
    include_quarantined: bool = False,
    without: Sequence[str] = (),
) -> Any:
    """The answer where it is known, with its proof, and verbatim, dated evidence, best first; or the reason why
    there is none. The whole body stays within max_tokens; what `explain` adds has as much again."""
    found = memory.recall(
        question, max_tokens=budget.ALL, asked_at=asked_at, limit=limit, filters=dict(filters), explain=explain,
        include_superseded=include_superseded, include_quarantined=include_quarantined, without=without,
    )  # fmt: skip
    return budget.answered(memory, found, limit, max_tokens, explain=explain)


def context(
    memory: Memory,
    about: Annotated[str, Meta(description="A user of this memory, or a name in it [the user].")]
    | None = None,
    max_tokens: Annotated[int, Meta(ge=20, le=100_000, description="Budget of the text.")] = 800,
) -> Briefing:
    """What to know before a session begins: who the user is, what they asked for, what comes up, holds and
    changed; each line with the id of its memory."""
    return memory.context(about, max_tokens=max_tokens)


def walk_answer(memory: Memory, question: str, limit: Annotated[int, Meta(ge=1, le=50)] = 5) -> Any:
    """Answers a question of several hops by walking what is currently believed; the path is its proof."""
    found = memory.walk_answer(question, limit=limit)
    keys = ("fact", "source", "target", "relation", "phrase", "inverse")
    chains = [
        {
            "answer": chain.name, "id": chain.answer, "score": chain.score,
            "hops": [{key: getattr(hop, key) for key in keys} for hop in chain.hops],
        }
        for chain in found.chains
    ]  # fmt: skip
    return {"confidence": found.confidence, "chains": chains}


def load(memory: Memory, notes: list[LoadNote], links: Sequence[LoadLink] = ()) -> model.Receipt:
    """Stores many notes and links as one changeset."""
    return memory.load(
        [NoteToLoad(**given(one)) for one in notes], [LinkToLoad(**given(one)) for one in links]
    )


def retire_edge(
    memory: Memory, src: Ref, type: str, dst: Ref, when: Time | None = None, reason: str | None = None,
    dry_run: bool = False,
) -> model.Receipt:  # fmt: skip
    """Ends an edge: it does not hold any more."""
    return memory.retire(memory.edge(src, type, dst), when, reason=reason, dry_run=dry_run)


def correct_edge(
    memory: Memory, src: Ref, type: str, dst: Ref, when: Time | None = None, reason: str | None = None,
    dry_run: bool = False,
) -> model.Receipt:  # fmt: skip
    """Withdraws an edge: it never held."""
    return memory.correct(memory.edge(src, type, dst), reason=reason, dry_run=dry_run)


def walk(
    memory: Memory,
    ref: Ref,
    types: Annotated[str, Meta(description="Edge types, separated by commas [all].")] = "",
    way: Way = "both",
    depth: Depth = 1,
) -> Any:
    """What lies around a memory, and the edges between."""
    named = [name.strip() for name in types.split(",") if name.strip()]
    return memory.walk(ref, *named, way=way, depth=depth)


def identity(memory: Memory, ref: Ref) -> Any:
    """One identity with all its names, and where each of them comes from."""
    found = memory.export_identity(ref)
    merges = [{name: of for name, of in merge.items() if name not in HIDDEN} for merge in found["merges"]]
    return {**found, "merges": merges}


def split(
    memory: Memory,
    ref: Ref,
    mentions: Annotated[list[str], Meta(description="The memories that mention it.")],
    name: str,
) -> model.Receipt:
    """Moves mentions off an entity, to a new one."""
    return memory.split(ref, [memory.edge(src, "refers_to", ref) for src in mentions], name)


def query(
    memory: Memory,
    seeds: Sequence[Ref] = (),
    text: str | None = None,
    steps: Sequence[QueryStep] = (),
    within: Ref | None = None,
    during: tuple[str, str] | None = None,
    include_superseded: bool = False,
    limit: Annotated[int, Meta(ge=1, le=10000)] | None = None,
    explain: Annotated[bool, Meta(description="Only the plan.")] = False,
) -> Any:
    """A query: seeds or text, then steps; answers with a subgraph, or with its plan."""
    made = memory.query()
    made = made.seeds(*seeds) if seeds else made
    made = made if text is None else made.text(text)
    for step in steps:
        match [part for part in (step.follow, step.where, step.connected) if part is not None]:
            case [FollowStep(types, way, depth)]:
                made = made.follow(*types, way=way, depth=depth)
            case [WhereStep(type, name, kind, contains, metadata)]:
                made = made.where(tuple(type) or None, name, kind, contains, metadata)
            case [ConnectedStep(type, to, way, absent)]:
                made = made.where_connected(type, *to, way=way, absent=absent)
            case _:
                raise InvalidInput("a step has exactly one of: follow, where, connected")
    made = made.within(within) if within else made
    made = made.during(*during) if during else made
    made = made.include_superseded() if include_superseded else made
    made = made.limit(limit) if limit else made
    return {"plan": made.explain()} if explain else made.run()


def changes(memory: Memory, since: Time | None = None, limit: Many = 200, page: str | None = None) -> Any:
    """The feed: what was believed or given up after a known time, and the mark to ask for what follows."""
    found = memory.changes(EARLIEST if since is None else since, limit=limit + 1, page=page)
    shown = found[:limit]
    return {"items": shown, "next": mark_after(shown, page) if len(found) > len(shown) else None}


def merges(
    memory: Memory, status: Literal["pending", "accepted", "rejected", "undone", "all"] = "pending"
) -> list[NamedProposal]:
    """Merge proposals, with the names of both ends."""
    found = memory.merges(None if status == "all" else status)
    return [NamedProposal(p, *(memory.get(end, exact=True).name for end in (p.a, p.b))) for p in found]


def worlds(memory: Memory) -> Any:
    """Every world with its hash, and the hash of everything."""
    return {
        "hash": memory.hash(),
        "worlds": [WorldHash(hash=hash_, node=node) for node, hash_ in memory.worlds()],
    }


def hash_(memory: Memory, ref: Ref | None = None) -> Any:
    """The hash of a world and all inside it; without one, of the whole memory."""
    return {"hash": memory.hash(ref)}


def undo(memory: Memory, known_at: str, also: Sequence[str] = (), dry_run: bool = False) -> model.Receipt:
    """Takes back what a receipt's changeset did, as one more changeset."""
    at, *earlier = map(instant, (known_at, *also))
    return memory.undo(model.Receipt("undo", None, True, at, also=tuple(earlier)), dry_run=dry_run)


def forget(
    memory: Memory,
    ids: Sequence[Ref] = (),
    before: Time | None = None,
    confirm: Annotated[bool, Meta(description="Without it nothing is erased.")] = False,
    dry_run: bool = False,
) -> Forgotten:
    """Erases for good: memories, all of the bound scope, or what is older than a moment; wants `confirm`."""
    scope = memory.handle.scope if not ids and memory.handle.scope.bound() else None
    return memory.forget(ids or None, scope=scope, before=before, confirm=confirm, dry_run=dry_run)


def reindex(memory: Memory) -> Any:
    """Makes words, descriptions and labels anew from the texts; how many, and how many vectors were dropped."""
    return memory.reindex()


def scopes(memory: Memory) -> dict[str, list[str]]:
    """The users, agents, apps and runs that have memories, by kind."""
    names = sorted(verbs.scope_names(memory))
    return {kind: [n.partition(":")[2] for n in names if n.startswith(f"{kind}:")] for kind in verbs.SCOPES}


def span_(memory: Memory) -> Any:
    """From the first to the last moment that this memory knows of, on both axes."""
    return memory.handle.read(span)


def verify(memory: Memory) -> Any:
    """Recomputes every hash and looks at every logged row."""
    found = memory.verify()
    return {"ok": found.ok, **plain(found)}


def flush(memory: Memory) -> Any:
    """Embeds everything that has no vector yet."""
    return {"count": memory.flush()}


# The routes ---------------------------------------------------------------------------------------


class Route(NamedTuple):
    """One route."""

    method: str
    path: str
    name: str
    summary: str
    run: Callable[[Memory, Any], Any]
    takes: type[Struct]
    gives: tuple[Any, ...]

    @property
    def reads(self) -> bool:
        """Whether it only looks; what takes a long question is a POST all the same."""
        return self.method == "GET" or self.path in _LOOKS


def _route(
    where: str, does: str | Callable[..., Any], *gives: Any, body: str = "", without: Sequence[str] = (), name: str = ""
) -> Route:  # fmt: skip
    """A function, or a verb of `Memory`, at a path; `body` is the name and description of what it takes.

    What it gives is what its signature says, where that says more than that it is something.
    """
    run = getattr(Memory, does) if isinstance(does, str) else does
    title, _, doc = body.partition(": ")
    takes = verbs.taken(run, name=title, does=doc, without=without)
    method, path = where.split()

    def answer(memory: Memory, asked: Any) -> Any:
        return run(memory, **given(asked))

    gives = gives or tuple(one for one in [_returned(run)] if one is not Any)
    return Route(method, path, name or run.__name__.rstrip("_"), verbs.told(run), answer, takes, gives)


def _returned(run: Callable[..., Any]) -> Any:
    try:
        return get_type_hints(run)["return"]
    except NameError:  # named for type checkers only
        return Any


_NOTHING = "Body: What is asked; nothing, here."
_ENDED = "EndEdge: An edge that ends."

ROUTES = (
    _route("POST /v1/recall", recall, Answered, body="RecallBody: A question."),
    _route("POST /v1/context", context, body="ContextBody: What to know first."),
    _route("POST /v1/walk", walk_answer, Walked, body="WalkAnswer: A question of several hops."),
    _route("POST /v1/remember", "remember"),
    _route("POST /v1/resume", "resume"),
    _route("POST /v1/facts", "fact"),
    _route("POST /v1/notes", "note", without=("expires",)),
    _route("POST /v1/load", load, body="Load: Many notes and links."),
    _route("POST /v1/undo", undo, body="Undo: The known times of a receipt."),
    _route(
        "POST /v1/forget",
        forget,
        body="ForgetBody: What to erase: memories, or what a scope holds, or what is older than a moment.",
    ),
    _route("POST /v1/reindex", reindex, dict[str, int], body=_NOTHING),
    _route("GET /v1/ailments", "ailments", list[dict[str, str]]),
    _route("POST /v1/flush", flush, Counted, body=_NOTHING),
    _route("POST /v1/links", "link"),
    _route("GET /v1/links", "edge"),
    _route("POST /v1/links/retire", retire_edge, body=_ENDED),
    _route("POST /v1/links/correct", correct_edge, body=_ENDED),
    _route("GET /v1/memories", "list"),
    _route("GET /v1/memories/{ref}", "get"),
    _route("GET /v1/memories/{ref}/history", "history"),
    _route("GET /v1/memories/{ref}/why", "why"),
    _route("GET /v1/memories/{ref}/walk", walk, model.Subgraph),
    _route("GET /v1/memories/{ref}/same", "equivalence_class", name="same"),
    _route("GET /v1/memories/{ref}/identity", identity, IdentityOf),
    _route("POST /v1/memories/{ref}/amend", "amend"),
    _route("POST /v1/memories/{ref}/correct", "correct"),
    _route("POST /v1/memories/{ref}/retire", "retire"),
    _route("POST /v1/memories/{ref}/confirm", "confirm"),
    _route("POST /v1/memories/{ref}/quarantine", "quarantine"),
    _route("POST /v1/memories/{ref}/split", split, body="SplitBody: Mentions that belong to somebody else."),
    _route(
        "POST /v1/query",
        query,
        model.Subgraph,
        QueryPlan,
        body="QueryBody: A query: where to start, then steps.",
    ),
    _route("GET /v1/diff", "diff"),
    _route("GET /v1/changes", changes, FeedPage),
    _route("GET /v1/merges", merges),
    _route("POST /v1/merges/{proposal}/accept", "accept_merge"),
    _route("POST /v1/merges/{proposal}/reject", "reject_merge"),
    _route("POST /v1/merges/{proposal}/undo", "undo_merge"),
    _route("GET /v1/worlds", worlds, Worlds),
    _route("GET /v1/hash", hash_, Hash),
    _route("GET /v1/scopes", scopes),
    _route("GET /v1/span", span_),
    _route("GET /v1/stats", "stats"),
    _route("GET /v1/readers", "readers"),
    _route("POST /v1/reread", "reread", Reread),
    _route("GET /v1/verify", verify, model.Verification),
    _route("GET /v1/timeline", "timeline"),
    _route("GET /v1/density", "density"),
    _route("POST /v1/explain", "explain"),
    _route("POST /v1/sleep", "consolidate"),
    _route("POST /v1/memories/{ref}/feedback", "feedback"),
    _route("POST /v1/memories/{ref}/pin", "pin"),
    _route("POST /v1/memories/{ref}/unpin", "unpin"),
    _route("GET /v1/people/{who}", "profile", Profile),
    _route("GET /v1/episodes", "episodes", list[Episode]),
    _route("GET /v1/conflicts", "conflicts"),
)


def parse(route: Route, given: dict[str, Any], path: dict[str, str]) -> Any:
    """What was asked, checked; texts of a query become the types that the class wants."""
    both = set(given) & set(path)
    if both:
        raise InvalidInput(f"{sorted(both)[0]!r} stands in the path already")
    if route.method == "GET" and "metadata" in given:
        try:
            given = {**given, "metadata": msgspec.json.decode(given["metadata"])}
        except msgspec.DecodeError:
            raise InvalidInput('metadata is a JSON object, such as {"kind":"x"}') from None
    try:
        return msgspec.convert({**given, **path}, route.takes, strict=route.method != "GET")
    except msgspec.ValidationError as error:
        raise InvalidInput(str(error)) from None


# The OpenAPI document, made from the table and the classes in it ----------------------------------

_PROBLEM = {
    "description": "What went wrong, and what to do about it (RFC 9457).",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def document() -> dict[str, Any]:
    """The whole document."""
    roots, parts = verbs.shown([*(given for route in ROUTES for given in route.gives), Problem])
    shown = iter(roots)
    paths: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    for route in ROUTES:
        answers = [next(shown) for _ in route.gives]
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


def _operation(route: Route, answer: Any, taken: dict[str, Any]) -> dict[str, Any]:
    """A route as the document has it; the classes of what it takes are added to `taken`."""
    _, parts = msgspec.json.schema_components([route.takes], ref_template="#/components/schemas/{name}")
    own = parts.pop(route.takes.__name__)
    taken.update(parts)
    in_path = re.findall(r"{(\w+)}", route.path)
    asked = {name: part for name, part in own["properties"].items() if name not in in_path}
    required = [name for name in own["required"] if name in asked]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": own["properties"][name]} for name in in_path
    ]
    if route.method == "GET":
        parameters += [_in_query(name, part, name in required) for name, part in asked.items()]
    parameters += [_in_query(name, _bound(name)) for name in Binding.__struct_fields__]
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
        taken[f"{route.name}_body"] = {**own, "properties": asked, "required": required}
        schema = {"$ref": f"#/components/schemas/{route.name}_body"}
        content = {"application/json": {"schema": schema}}
        made["requestBody"] = {"required": bool(required), "content": content}
    return made


def _bound(name: str) -> dict[str, Any]:
    """Whose memory it is, or from which moment it is looked at."""
    if name in ("valid_at", "known_at", "as_of"):
        return {"type": "string", **TIMED}
    return {"type": "string", "minLength": 8 if name == "world" else 1}


def _in_query(name: str, part: Any, required: bool = False) -> dict[str, Any]:
    schema = {"schema": part}
    written = {"content": {"application/json": schema}} if part.get("type") == "object" else schema
    return {"name": name, "in": "query", "required": required, **written}
