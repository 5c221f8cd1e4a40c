"""The REST routes: one table, from which the server, the OpenAPI document and the docs are made.

A route is a path, a class of what it takes, and a function (memory, what was asked) → result. What
stands in the path or, for GET, in the query, goes into the same class as the fields of a body. Who
and when (scope, world, moment) is bound before the function is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

from worldline import __version__, model
from worldline.clock import EARLIEST, instant
from worldline.errors import InvalidInput
from worldline.memory import Memory
from worldline.query import Query
from worldline.read.history import mark_after
from worldline.read.profile import Context as Briefing
from worldline.read.profile import Episode, Profile
from worldline.store.registry import span
from worldline.surfaces import budget, verbs
from worldline.surfaces.render import HIDDEN, moment, plain
from worldline.surfaces.verbs import TIMED, Body, Ref, Time, forward, given, taken
from worldline.write.afterwards import Reread
from worldline.write.forget import Forgotten
from worldline.write.given import Link as LinkToLoad
from worldline.write.given import Note as NoteToLoad

_LOOKS = frozenset({"/v1/recall", "/v1/context", "/v1/walk", "/v1/query", "/v1/explain"})
Way = Literal["out", "in", "both"]


# What the routes take ----------------------------------------------------------------------------


class RecallBody(Body):
    """A question."""

    question: str
    max_tokens: Annotated[int, Meta(ge=100, description="Budget for the whole response body.")] = 4000
    asked_at: Time | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    filters: model.Metadata = field(default_factory=dict)
    explain: Annotated[bool, Meta(description="Also lanes, factors and the plan.")] = False
    include_superseded: bool = False
    include_quarantined: bool = False
    without: list[str] = field(default_factory=list)


class ContextBody(Body):
    """What to know first."""

    about: Annotated[str, Meta(description="A user of this memory, or a name in it [the user].")] | None = (
        None
    )
    max_tokens: Annotated[int, Meta(ge=20, le=100_000, description="Budget of the text.")] = 800


class WalkAnswer(Body):
    """A question of several hops."""

    question: str
    limit: Annotated[int, Meta(ge=1, le=50)] = 5


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


class Load(Body):
    """Many notes and links."""

    notes: list[LoadNote]
    links: list[LoadLink] = field(default_factory=list)


class EndEdge(Body):
    """An edge that ends."""

    src: Ref
    type: str
    dst: Ref
    when: Time | None = None
    reason: str | None = None
    dry_run: bool = False


class Of(Body):
    """One memory."""

    ref: Ref


class WalkBody(Of):
    """A memory and how far around it."""

    types: Annotated[str, Meta(description="Edge types, separated by commas [all].")] = ""
    way: Way = "both"
    depth: Annotated[int, Meta(ge=1, le=8)] = 1


class SplitBody(Of):
    """Mentions that belong to somebody else."""

    mentions: Annotated[list[str], Meta(description="The memories that mention it.")]
    name: str


class QueryStep(Body):
    """One step of a query: exactly one of these."""

    follow: FollowStep | None = None
    where: WhereStep | None = None
    connected: ConnectedStep | None = None


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


class QueryBody(Body):
    """A query: where to start, then steps."""

    seeds: list[Ref] = field(default_factory=list)
    text: str | None = None
    steps: list[QueryStep] = field(default_factory=list)
    within: Ref | None = None
    during: tuple[str, str] | None = None
    include_superseded: bool = False
    limit: Annotated[int, Meta(ge=1, le=10000)] | None = None
    explain: Annotated[bool, Meta(description="Only the plan.")] = False


class Since(Body):
    """A page of what came after a known time."""

    since: Time | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    page: str | None = None


class Decided(Body):
    """Proposals of a status."""

    status: Literal["pending", "accepted", "rejected", "undone", "all"] = "pending"


class HashOf(Body):
    """A world, or everything."""

    ref: Ref | None = None


class ForgetBody(Body):
    """What to erase: memories, or what a scope holds, or what is older than a moment."""

    ids: list[Ref] = field(default_factory=list)
    before: Time | None = None
    confirm: Annotated[bool, Meta(description="Without it nothing is erased.")] = False
    dry_run: bool = False


class Undo(Body):
    """The known times of a receipt."""

    known_at: str
    also: list[str] = field(default_factory=list)
    dry_run: bool = False


# What some of them give --------------------------------------------------------------------------


class Answered(Struct, omit_defaults=True):
    """The answer to a question; `hits` are best first, a hit that did not fit whole has only the beginning."""

    confidence: float
    abstained: bool
    reason: str | None
    answer: str | None
    proof: list[budget.Cited]
    facts: list[budget.Cited]
    hits: list[dict[str, Any]]
    returned: int
    found: int
    sure: float
    trace: list[str] = []


class Walked(Struct):
    """Answers of several hops, best first, each with the facts that it walks."""

    confidence: float
    chains: list[dict[str, Any]]


class FeedPage(Struct):
    """A page of what was believed and given up."""

    items: list[dict[str, Any]]
    next: str | None


class IdentityOf(Struct):
    """One identity with all its names."""

    representative: str
    members: list[dict[str, str]]
    names: list[str]
    provenance: list[dict[str, Any]]
    merges: list[dict[str, Any]]


class QueryPlan(Struct):
    """A query's plan."""

    plan: str


class Hash(Struct):
    """A hash."""

    hash: str


class WorldHash(Struct):
    """A world and its hash."""

    hash: str
    node: model.Node


class Worlds(Struct):
    """The hash of everything, and every world."""

    hash: str
    worlds: list[WorldHash]


class NamedProposal(Struct):
    """A proposal with the names of its ends."""

    proposal: model.Proposal
    a_name: str
    b_name: str


class Counted(Struct):
    """How many."""

    count: int


# The routes ---------------------------------------------------------------------------------------


class Binding(Struct, kw_only=True, forbid_unknown_fields=True):
    """Whose memory and from which moment: query parameters of every route."""

    user: str | None = None
    agent: str | None = None
    app: str | None = None
    run: str | None = None
    session: str | None = None
    world: str | None = None
    valid_at: str | None = None
    known_at: str | None = None
    as_of: str | None = None

    def bind(self, memory: Memory) -> Memory:
        """The memory, bound."""
        memory = memory.scoped(self.user, self.agent, self.app, self.run, self.session)
        if self.world is not None:
            memory = memory.enter(self.world)
        return memory.at(moment(self.valid_at), moment(self.known_at), moment(self.as_of))


class Route(NamedTuple):
    """One route."""

    method: Literal["GET", "POST"]
    path: str
    run: Callable[[Memory, Any], Any]
    takes: type[Struct] = Body
    gives: Any = None

    @property
    def reads(self) -> bool:
        """Whether it only looks; what takes a long question is a POST all the same."""
        return self.method == "GET" or self.path in _LOOKS

    @property
    def summary(self) -> str:
        """The function's docstring, on one line."""
        return " ".join((self.run.__doc__ or "").split())

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.run.__name__.rstrip("_")


def _verb(
    method: Literal["GET", "POST"],
    path: str,
    verb: str,
    gives: Any = None,
    *,
    without: Sequence[str] = (),
    name: str = "",
) -> Route:
    """A route that is nothing but a verb of `Memory`."""
    run = forward(verb)
    run.__name__ = name or verb
    return Route(method, path, run, taken(verb, frozenset(without)), gives)


# The functions -----------------------------------------------------------------------------------


def recall(memory: Memory, asked: RecallBody) -> Any:
    """The answer where it is known, with its proof, and verbatim, dated evidence, best first; or the reason why
    there is none. The whole body stays within max_tokens; what `explain` adds has as much again."""
    found = memory.recall(**{**given(asked), "max_tokens": budget.ALL})
    told = budget.shortened(budget.known(memory, found), int(asked.max_tokens * budget.KNOWN))
    known = {
        "answer": None,
        "reason": None,
        "abstained": False,
        "proof": [],
        "facts": [],
        **budget.plain(told),
    }
    whole = plain(budget.worth_showing(found, asked.limit))
    hits = [{key: value for key, value in hit.items() if key not in ("lanes", "factors")} for hit in whole]

    def build(chosen: Any, trace: Any = None) -> Any:
        value = {
            **known, "hits": list(chosen), "returned": len(chosen), "found": len(found.hits),
            "sure": round(found.sure, 4),
        }  # fmt: skip
        return value if trace is None else {**value, "trace": trace}

    body, kept = budget.fitted(hits, build, _cut_hit, asked.max_tokens)
    if not asked.explain:
        return body
    beside = [{"lanes": hit["lanes"], "factors": hit["factors"]} for hit in whole]
    weighed = ({**hit, **more} for hit, more in zip(kept, beside, strict=False))
    return budget.explained(kept, weighed, found.trace, build, asked.max_tokens)


def context(memory: Memory, asked: ContextBody) -> Any:
    """What to know before a session begins: who the user is, what they asked for, what comes up, holds and
    changed; each line with the id of its memory."""
    return memory.context(asked.about, max_tokens=asked.max_tokens)


def _cut_hit(hit: Any, room: int) -> Any:
    """The beginning of a hit that does not fit, without what is not needed to read on from its id."""
    node = {name: hit["node"][name] for name in ("id", "type", "name")}
    said = hit["node"]["content"][:room].rstrip() + " …"
    return {"node": {**node, "content": said}, "score": hit["score"], "said_at": hit["said_at"]}


def walk_answer(memory: Memory, asked: WalkAnswer) -> Any:
    """Answers a question of several hops by walking what is currently believed; the path is its proof."""
    found = memory.walk_answer(asked.question, limit=asked.limit)
    keys = ("fact", "source", "target", "relation", "phrase", "inverse")
    chains = [
        {
            "answer": chain.name, "id": chain.answer, "score": chain.score,
            "hops": [{key: getattr(hop, key) for key in keys} for hop in chain.hops],
        }
        for chain in found.chains
    ]  # fmt: skip
    return {"confidence": found.confidence, "chains": chains}


def load(memory: Memory, asked: Load) -> model.Receipt:
    """Stores many notes and links as one changeset."""
    notes = [NoteToLoad(**given(note)) for note in asked.notes]
    return memory.load(notes, [LinkToLoad(**given(link)) for link in asked.links])


def retire_edge(memory: Memory, asked: EndEdge) -> model.Receipt:
    """Ends an edge: it does not hold any more."""
    found = memory.edge(asked.src, asked.type, asked.dst)
    return memory.retire(found, moment(asked.when), reason=asked.reason, dry_run=asked.dry_run)


def correct_edge(memory: Memory, asked: EndEdge) -> model.Receipt:
    """Withdraws an edge: it never held."""
    found = memory.edge(asked.src, asked.type, asked.dst)
    return memory.correct(found, reason=asked.reason, dry_run=asked.dry_run)


def walk(memory: Memory, asked: WalkBody) -> Any:
    """What lies around a memory, and the edges between."""
    types = [name.strip() for name in asked.types.split(",") if name.strip()]
    return memory.walk(asked.ref, *types, way=asked.way, depth=asked.depth)


def identity(memory: Memory, asked: Of) -> Any:
    """One identity with all its names, and where each of them comes from."""
    found = memory.export_identity(asked.ref)
    merges = [{name: of for name, of in merge.items() if name not in HIDDEN} for merge in found["merges"]]
    return {**found, "merges": merges}


def split(memory: Memory, asked: SplitBody) -> model.Receipt:
    """Moves mentions off an entity, to a new one."""
    mentions = [memory.edge(src, "refers_to", asked.ref) for src in asked.mentions]
    return memory.split(asked.ref, mentions, asked.name)


def query(memory: Memory, asked: QueryBody) -> Any:
    """A query: seeds or text, then steps; answers with a subgraph, or with its plan."""
    made = memory.query()
    if asked.seeds:
        made = made.seeds(*asked.seeds)
    if asked.text is not None:
        made = made.text(asked.text)
    for step in asked.steps:
        made = _stepped(made, step)
    if asked.within:
        made = made.within(asked.within)
    if asked.during:
        made = made.during(*asked.during)
    if asked.include_superseded:
        made = made.include_superseded()
    if asked.limit:
        made = made.limit(asked.limit)
    return QueryPlan(made.explain()) if asked.explain else made.run()


def _stepped(made: Query, step: QueryStep) -> Query:
    given = [part for part in (step.follow, step.where, step.connected) if part is not None]
    if len(given) != 1:
        raise InvalidInput("a step has exactly one of: follow, where, connected")
    part = given[0]
    if isinstance(part, FollowStep):
        return made.follow(*part.types, way=part.way, depth=part.depth)
    if isinstance(part, ConnectedStep):
        return made.where_connected(part.type, *part.to, way=part.way, absent=part.absent)
    return made.where(tuple(part.type) or None, part.name, part.kind, part.contains, part.metadata)


def changes(memory: Memory, asked: Since) -> Any:
    """The feed: what was believed or given up after a known time, and the mark to ask for what follows."""
    since = EARLIEST if asked.since is None else moment(asked.since)
    found = memory.changes(since, limit=asked.limit + 1, page=asked.page)
    shown = found[: asked.limit]
    return {"items": shown, "next": mark_after(shown, asked.page) if len(found) > len(shown) else None}


def merges(memory: Memory, asked: Decided) -> Any:
    """Merge proposals, with the names of both ends."""
    found = memory.merges(None if asked.status == "all" else asked.status)
    return [NamedProposal(p, *(memory.get(end, exact=True).name for end in (p.a, p.b))) for p in found]


def worlds(memory: Memory, asked: Body) -> Worlds:
    """Every world with its hash, and the hash of everything."""
    return Worlds(memory.hash(), [WorldHash(hash_, node) for node, hash_ in memory.worlds()])


def hash_(memory: Memory, asked: HashOf) -> Hash:
    """The hash of a world and all inside it; without one, of the whole memory."""
    return Hash(memory.hash(asked.ref))


def undo(memory: Memory, asked: Undo) -> model.Receipt:
    """Takes back what a receipt's changeset did, as one more changeset."""
    at, *also = (instant(time) for time in (asked.known_at, *asked.also))
    return memory.undo(model.Receipt("undo", None, True, at, also=tuple(also)), dry_run=asked.dry_run)


def forget(memory: Memory, asked: ForgetBody) -> Forgotten:
    """Erases for good: memories, all of the bound scope, or what is older than a moment; wants `confirm`."""
    scope = memory.handle.scope if not asked.ids and memory.handle.scope.bound() else None
    return memory.forget(
        asked.ids or None,
        scope=scope,
        before=moment(asked.before),
        confirm=asked.confirm,
        dry_run=asked.dry_run,
    )


def reindex(memory: Memory, asked: Body) -> dict[str, int]:
    """Makes words, descriptions and labels anew from the texts; how many, and how many vectors were dropped."""
    return memory.reindex()._asdict()


def ailments(memory: Memory, asked: Body) -> list[dict[str, str]]:
    """What is wrong with the store that can be seen at once, each with the command that mends it."""
    return [one._asdict() for one in memory.ailments()]


def scopes(memory: Memory, asked: Body) -> dict[str, list[str]]:
    """The users, agents, apps and runs that have memories, by kind."""
    names = sorted(verbs.scope_names(memory))
    kinds = ("user", "agent", "app", "run")
    return {kind: [n.partition(":")[2] for n in names if n.startswith(f"{kind}:")] for kind in kinds}


def span_(memory: Memory, asked: Body) -> Any:
    """From the first to the last moment that this memory knows of, on both axes."""
    return memory.handle.read(span)


def verify(memory: Memory, asked: Body) -> Any:
    """Recomputes every hash and looks at every logged row."""
    found = memory.verify()
    return {"ok": found.ok, **plain(found)}


def flush(memory: Memory, asked: Body) -> Counted:
    """Embeds everything that has no vector yet."""
    return Counted(memory.flush())


ROUTES = (
    Route("POST", "/v1/recall", recall, RecallBody, Answered),
    Route("POST", "/v1/context", context, ContextBody, Briefing),
    Route("POST", "/v1/walk", walk_answer, WalkAnswer, Walked),
    _verb("POST", "/v1/remember", "remember", model.Receipt),
    _verb("POST", "/v1/resume", "resume", list[model.Receipt]),
    _verb("POST", "/v1/facts", "fact", model.Receipt),
    _verb("POST", "/v1/notes", "note", model.Receipt, without=("expires",)),
    Route("POST", "/v1/load", load, Load, model.Receipt),
    Route("POST", "/v1/undo", undo, Undo, model.Receipt),
    Route("POST", "/v1/forget", forget, ForgetBody, Forgotten),
    Route("POST", "/v1/reindex", reindex, gives=dict[str, int]),
    Route("GET", "/v1/ailments", ailments, gives=list[dict[str, str]]),
    Route("POST", "/v1/flush", flush, gives=Counted),
    _verb("POST", "/v1/links", "link", model.Receipt),
    _verb("GET", "/v1/links", "edge", model.Edge),
    Route("POST", "/v1/links/retire", retire_edge, EndEdge, model.Receipt),
    Route("POST", "/v1/links/correct", correct_edge, EndEdge, model.Receipt),
    _verb("GET", "/v1/memories", "list", model.Page),
    _verb("GET", "/v1/memories/{ref}", "get", model.Node),
    _verb("GET", "/v1/memories/{ref}/history", "history", list[model.Version]),
    _verb("GET", "/v1/memories/{ref}/why", "why", model.Why),
    Route("GET", "/v1/memories/{ref}/walk", walk, WalkBody, model.Subgraph),
    _verb("GET", "/v1/memories/{ref}/same", "equivalence_class", list[model.Node], name="same"),
    Route("GET", "/v1/memories/{ref}/identity", identity, Of, IdentityOf),
    _verb("POST", "/v1/memories/{ref}/amend", "amend", model.Receipt),
    _verb("POST", "/v1/memories/{ref}/correct", "correct", model.Receipt),
    _verb("POST", "/v1/memories/{ref}/retire", "retire", model.Receipt),
    _verb("POST", "/v1/memories/{ref}/confirm", "confirm", model.Receipt),
    _verb("POST", "/v1/memories/{ref}/quarantine", "quarantine", model.Receipt),
    Route("POST", "/v1/memories/{ref}/split", split, SplitBody, model.Receipt),
    Route("POST", "/v1/query", query, QueryBody, (model.Subgraph, QueryPlan)),
    _verb("GET", "/v1/diff", "diff", model.Diff),
    Route("GET", "/v1/changes", changes, Since, FeedPage),
    Route("GET", "/v1/merges", merges, Decided, list[NamedProposal]),
    _verb("POST", "/v1/merges/{proposal}/accept", "accept_merge", model.Receipt),
    _verb("POST", "/v1/merges/{proposal}/reject", "reject_merge", model.Receipt),
    _verb("POST", "/v1/merges/{proposal}/undo", "undo_merge", model.Receipt),
    Route("GET", "/v1/worlds", worlds, gives=Worlds),
    Route("GET", "/v1/hash", hash_, HashOf, Hash),
    Route("GET", "/v1/scopes", scopes, gives=dict[str, list[str]]),
    Route("GET", "/v1/span", span_),
    _verb("GET", "/v1/stats", "stats"),
    _verb("GET", "/v1/readers", "readers", dict[str, int]),
    _verb("POST", "/v1/reread", "reread", Reread),
    Route("GET", "/v1/verify", verify, gives=model.Verification),
    _verb("GET", "/v1/timeline", "timeline", list[model.Dated]),
    _verb("GET", "/v1/density", "density", model.Density),
    _verb("POST", "/v1/explain", "explain", model.Explanation),
    _verb("POST", "/v1/sleep", "consolidate"),
    _verb("POST", "/v1/memories/{ref}/feedback", "feedback", model.Receipt),
    _verb("POST", "/v1/memories/{ref}/pin", "pin", model.Receipt),
    _verb("POST", "/v1/memories/{ref}/unpin", "unpin", model.Receipt),
    _verb("GET", "/v1/people/{who}", "profile", Profile),
    _verb("GET", "/v1/episodes", "episodes", list[Episode]),
    _verb("GET", "/v1/conflicts", "conflicts", list[model.Contradiction]),
)


def parse(route: Route, given: dict[str, Any], path: dict[str, str]) -> Any:
    """What was asked, checked; texts of a query become the types that the class wants."""
    both = set(given) & set(path)
    if both:
        raise InvalidInput(f"{sorted(both)[0]!r} stands in the path already")
    if route.method == "GET":
        given = {name: _from_query(name, value) for name, value in given.items()}
    try:
        return msgspec.convert({**given, **path}, route.takes, strict=route.method != "GET")
    except msgspec.ValidationError as error:
        raise InvalidInput(str(error)) from None


def _from_query(name: str, value: str) -> Any:
    if name != "metadata":
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        raise InvalidInput('metadata is a JSON object, such as {"kind":"x"}') from None


# The OpenAPI document, made from the table and the classes in it ----------------------------------

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
    roots, parts = verbs.shown([*types, Problem])
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
    taken.update({name: part for name, part in parts.items() if name != own})
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
