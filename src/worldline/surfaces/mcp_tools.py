"""The MCP tools as plain functions: (memory, what it takes) → the payload of the answer.

A tool is described by its function: name, docstring and signature. The memory is that of a desk, as an agent meets
it: agent-facing types only, perhaps confined to a scope, and bound to the scope and moment that a call names; a tool
about scopes gets the desk itself. Every payload holds the answer twice, as text and as structure, because some
clients show only one of them to their model; a budget counts both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from worldline.clock import show
from worldline.errors import InvalidInput, Refused
from worldline.memory import Memory
from worldline.model import Hit, Node, Reason, Receipt, Scope
from worldline.read.history import speaker
from worldline.read.profile import Context
from worldline.reading.families import HINT
from worldline.rules.handlers import AGENT_TYPES
from worldline.rules.slots import told
from worldline.surfaces import budget, render, verbs
from worldline.surfaces.budget import Cited, fitted, size
from worldline.surfaces.verbs import Depth, Many, ScopeOf, Verdict, Way, shape
from worldline.text import inert
from worldline.write import change

Payload = dict[str, Any]
ScopeKind = Literal["user", "agent", "app", "run"]
NOTES = [*AGENT_TYPES, "said"]
LISTED = [*AGENT_TYPES, "Turn", "Fact", "Entity", "Decision", "Topic", "Summary"]
Needed = Annotated[str, Meta(min_length=1)]
Tokens = Annotated[int, Meta(ge=60)]
Few = Annotated[int, Meta(ge=1, le=200)]
Kind = Annotated[str, Meta(extra_json_schema={"enum": LISTED})]
_DIGITS = 12
_PREVIEW = 240
_SHORTEST = 16
_NAME = 80


# Parts of what they take ---------------------------------------------------------------------------


class Looking(ScopeOf, kw_only=True):
    """Whose memory, and from which moment; what is left out falls back to the server's own scope, and to now."""

    valid_at: str | None = None
    known_at: str | None = None
    as_of: str | None = None


class Understood(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fact that an agent has understood."""

    subject: Annotated[str, Meta(min_length=1, description="Who or what; `user` for the user.")]
    relation: Annotated[str, Meta(min_length=1, description=f"Such as: {HINT}. Or your own words.")]
    object: str | int | float | bool | None = None
    since: str | None = None
    until: str | None = None
    ended: Annotated[bool, Meta(description="No longer so.")] = False


# What they give: whatever is empty is left out ------------------------------------------------------


class MemoryItem(Struct, kw_only=True, omit_defaults=True):
    """One memory."""

    id: str
    type: str
    name: str = ""
    text: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    known_from: str | None = None
    known_to: str | None = None
    status: str = "believed"
    said_at: str | None = None
    speaker: str = ""
    notes: list[str] = []
    metadata: dict[str, Any] = {}
    score: float | None = None
    lanes: dict[str, int] = {}
    factors: dict[str, float] = {}
    change: str = ""


_TEXT: Any = (str | None, None)
_LINES: Any = (list[str], [])
_CITED: Any = (list[Cited], [])
_ITEMS: Any = (list[MemoryItem], [])
_COUNT: Any = (int, 0)

WriteDone = shape(
    "WriteDone: What a write did.",
    id=_TEXT, changed=bool, changes=_LINES, proposals=_LINES, redacted=_LINES, known_at=_TEXT,
)  # fmt: skip
Recalled = shape(
    "Recalled: The answer to a question.",
    answer=_TEXT, confidence=float, abstained=(bool, False), reason=_TEXT, proof=_CITED, facts=_CITED, items=_ITEMS,
    found=int, trace=_LINES,
)  # fmt: skip
BriefSection = shape("BriefSection: One kind of knowledge.", title=str, lines=_CITED)
Briefing = shape("Briefing: What to know before a session.", user=(str, ""), sections=(list[Any], []))
KnownPerson = shape(
    "KnownPerson: What is known of a person.",
    name=str, turns=_COUNT, attributes=_CITED, relations=_LINES, landmarks=_CITED, left_out=_COUNT,
)  # fmt: skip
Listed = shape("Listed: A page of memories.", items=_ITEMS, next=_TEXT)
Whole = shape(
    "Whole: One memory with what was asked for beside it.",
    memory=MemoryItem, history=_ITEMS, evidence=_ITEMS, left_out=_COUNT,
)  # fmt: skip
Retired = shape(
    "Retired: How many were ended, and the first twenty of them.",
    count=int,
    ids=_LINES,
    dry_run=(bool, False),
)
Erased = shape(
    "Erased: How much was erased, or would be where it was only counted.",
    memories=int, facts=int, derived=int, entities=int, erased=bool,
)  # fmt: skip
Scopes = shape("Scopes: Names by kind.", user=_LINES, agent=_LINES, app=_LINES, run=_LINES, next=_TEXT)
EdgeItem = shape("EdgeItem: One edge.", src=str, type=str, dst=str)
Neighbours = shape(
    "Neighbours: Memories and the edges between them.", items=_ITEMS, edges=(list[Any], []), left_out=_COUNT
)
Proposed = shape(
    "Proposed: One merge proposal.",
    id=str, a=str, b=str, a_name=(str, ""), b_name=(str, ""), status=str, tier=str, score=float, reason=_TEXT,
)  # fmt: skip
Proposals = shape(
    "Proposals: Merge proposals, or what a decision did.",
    items=(list[Any], []), changed=(bool | None, None), left_out=_COUNT,
)  # fmt: skip


# Tools ---------------------------------------------------------------------------------------------


class Desk(NamedTuple):
    """A tenant's memory, for agents; where it is confined to a scope, every call is."""

    memory: Memory
    read_only: bool = False

    def bound(self, whose: ScopeOf) -> Memory:
        """The memory in the scope of a call, at its moment."""
        memory = self.memory.scoped(*(getattr(whose, kind) for kind in verbs.SCOPES))
        return (
            memory.at(whose.valid_at, whose.known_at, whose.as_of) if isinstance(whose, Looking) else memory
        )


class Tool(NamedTuple):
    """A tool: its name, what it takes and gives, and what a client may expect of it."""

    name: str
    description: str
    run: Callable[..., Payload]
    takes: type[msgspec.Struct]
    gives: type[msgspec.Struct]
    read_only: bool
    destructive: bool

    def answer(self, desk: Desk, arguments: Mapping[str, Any]) -> Payload:
        """What the tool gives for these arguments."""
        asked = msgspec.convert(arguments, self.takes)
        if not isinstance(asked, ScopeOf):
            return self.run(desk, **asdict(asked))
        own = {name: of for name, of in asdict(asked).items() if name not in Looking.__struct_fields__}
        return self.run(desk.bound(asked), **own)


def _tool(
    run: Callable[..., Payload], gives: Any, *, read_only: bool = False, destructive: bool = False
) -> Tool:
    """A function as a tool; one that takes a memory takes whose it is too, and from which moment if it reads."""
    bound = "memory" in run.__annotations__
    takes = verbs.taken(run, Looking if bound and read_only else ScopeOf if bound else verbs.Body)
    name = f"memory_{run.__name__.rstrip('_')}"
    return Tool(name, verbs.told(run), run, takes, gives, read_only, destructive)


# The ten ----------------------------------------------------------------------------------------


def write(
    desk: Desk,
    user: str | None = None,
    agent: str | None = None,
    app: str | None = None,
    run: str | None = None,
    *,
    content: Needed,
    type: Annotated[
        str, Meta(description="`said`: words of somebody, verbatim.", extra_json_schema={"enum": NOTES})
    ] = "context",
    name: Annotated[str, Meta(description="A title.")] | None = None,
    speaker: Annotated[str, Meta(description="Of `said`.")] = "",
    said_at: Annotated[str, Meta(description="Of `said` [now].")] | None = None,
    session: str | None = None,
    valid_from: str | None = None,
    valid_to: str | None = None,
    metadata: Mapping[str, Any] = {},
    facts: Annotated[
        Sequence[Understood], Meta(description="What this says; a fact ends what it replaces.")
    ] = (),
    scopes: Annotated[Sequence[ScopeOf], Meta(description="Who share it.")] = (),
) -> Payload:
    """Remember a note, or (type `said`) words that somebody said. The same twice is one. If something changed,
    amend the old memory instead. Give the facts that it states: later questions are answered from them."""
    if scopes and (user or agent or app or run):
        raise InvalidInput("give either `scopes` or user/agent/app/run, not both")
    first, *others = scopes or [ScopeOf(user=user, agent=agent, app=app, run=run)]
    memory = desk.bound(first)
    if scopes:
        memory = memory.shared_with(*(Scope(**asdict(scope)) for scope in others))
    stated, labels = [msgspec.to_builtins(fact) for fact in facts], dict(metadata)
    if type == "said":
        if valid_from or name:
            raise InvalidInput("words have no name and no beginning; give said_at, speaker and session")
        done = memory.scoped(session=session).remember(
            content, said_at=said_at, speaker=speaker, metadata=labels, facts=stated, expires=valid_to
        )
        return _written(done, "remembered")
    if said_at or speaker:
        raise InvalidInput("`speaker` and `said_at` belong to type `said`")
    done = memory.note(
        type, name or _title(content), content, valid_from=valid_from, valid_to=valid_to, metadata=labels or None,
        facts=stated,
    )  # fmt: skip
    return _written(done, "stored")


def recall(
    memory: Memory,
    question: Needed,
    max_tokens: Tokens = 4000,
    limit: Annotated[int, Meta(ge=1, le=200, description="Hits [as the evidence needs].")] | None = None,
    asked_at: Annotated[str, Meta(description="When `yesterday` is said [now].")] | None = None,
    session: str | None = None,
    filters: Annotated[
        Mapping[str, Any],
        Meta(description="By metadata: value, or {$gt|$gte|$lt|$lte|$in|$ne|$contains: x}."),
    ] = {},
    include_superseded: bool = False,
    include_quarantined: bool = False,
    explain: bool = False,
) -> Payload:
    """Ask in plain words. Returns the answer where it is known, its proof, and dated evidence, best first; or
    why it is not known. Only what holds now, unless a time is given."""
    memory = memory.scoped(session=session)
    answer = memory.recall(
        question, max_tokens=budget.ALL, asked_at=asked_at, limit=limit, filters=dict(filters), explain=explain,
        include_superseded=include_superseded, include_quarantined=include_quarantined,
    )  # fmt: skip
    known = budget.shortened(budget.known(memory, answer, _DIGITS), int(max_tokens * budget.KNOWN))
    hits = budget.worth_showing(answer, limit)

    def build(items: Sequence[MemoryItem], trace: Sequence[str] = ()) -> Payload:
        value = Recalled(**asdict(known), items=list(items), found=len(answer.hits), trace=list(trace))
        footer = f"({len(items)} of {value.found} found)"
        return _payload(value, *budget.opening(known), *trace, *map(_line, items), footer)

    payload, kept = fitted([_hit(hit) for hit in hits], build, _cut, max_tokens)
    if not explain:
        return payload
    weighed = (_weighed(item, hit) for item, hit in zip(kept, hits, strict=False))
    return budget.explained(kept, weighed, answer.trace, build, max_tokens)


def context(
    memory: Memory,
    about: Annotated[str, Meta(description="A name [the user].")] | None = None,
    max_tokens: Tokens = 1200,
) -> Payload:
    """What to know first: who the user is, what they asked for, what comes up, holds and changed, with ids."""

    def build(found: Context) -> Payload:
        sections = [
            BriefSection(
                title=section.title,
                lines=[Cited(x.id[:_DIGITS], x.text, x.when or None) for x in section.lines],
            )
            for section in found.sections
        ]
        more = not sections and memory.context(about).sections
        nothing = "max_tokens is too small" if more else "nothing to know yet"
        return _payload(Briefing(user=found.user, sections=sections), found.text or nothing)

    return budget.briefed(memory, about, max_tokens // 2, build, max_tokens)


def profile(
    memory: Memory,
    who: Annotated[str, Meta(min_length=1, description="A name.")],
    max_tokens: Tokens = 2000,
) -> Payload:
    """Who somebody is: what is believed of them, whom they know, and what befell them."""
    found = memory.profile(who)
    facts = [
        Cited(x.fact[:_DIGITS], x.text, render.iso(x.valid.start, precision=x.precision))
        for x in found.attributes
    ]
    marks = [
        Cited(x.evidence[:_DIGITS], x.text, render.iso(x.happened, precision="day")) for x in found.landmarks
    ]
    known, people = [*facts, *marks], [one.name for one in found.relations[:10]]

    def build(chosen: Sequence[Cited]) -> Payload:
        value = KnownPerson(
            name=found.name, turns=found.turns, attributes=[c for c in chosen if c in facts], relations=people,
            landmarks=[c for c in chosen if c not in facts], left_out=len(known) - len(chosen),
        )  # fmt: skip
        knows = [f"knows {', '.join(people)}"] if people else []
        return _payload(value, found.name, *knows, *(f"[{c.id}] {c.since or ''} {c.text}" for c in chosen))

    return fitted(known, build, lambda item, room: replace(item, text=item.text[: room // 2]), max_tokens)[0]


def list_(
    memory: Memory,
    type: Kind | None = None,
    retired: Annotated[bool, Meta(description="Also what is over.")] = False,
    metadata: Mapping[str, Any] = {},
    limit: Few = 20,
    page: Annotated[str, Meta(description="`next` of the page before.")] | None = None,
    max_tokens: Tokens = 4000,
) -> Payload:
    """Memories, newest first, a page at a time; long texts by their beginning."""
    kind = None if type is None else render.spelled(type)
    labels, most = dict(metadata), min(_PREVIEW, max_tokens // 2)
    while True:
        found = memory.list(kind, metadata=labels, include_superseded=retired, limit=limit, page=page)
        items = [_preview(_item(n, known=retired), most) for n in found.items]
        more = [f"(more: page {found.next})"] if found.next else []
        lines = map(_line, items) if items else ["nothing here"]
        payload = _payload(Listed(items=items, next=found.next), *lines, *more)
        if size(payload) <= max_tokens:
            return payload
        if limit == 1 and most < _SHORTEST:
            raise InvalidInput(f"max_tokens is too small for one item; it takes {size(payload)}")
        limit, most = max(1, limit * 3 // 4), most // 2 if limit == 1 else most


def read(
    memory: Memory,
    id: str,
    exact: Annotated[bool, Meta(description="This very version.")] = False,
    history: bool = False,
    explain: bool = False,
    max_tokens: Tokens = 8000,
) -> Payload:
    """One memory whole; `history` adds every belief ever held in it, `explain` the words that it rests on."""
    first = _item(memory.get(id, exact=exact), known=True)
    held = memory.history(id) if history else ()
    beside = [replace(_item(version.node, known=True), change=version.change) for version in held]
    beside += [_evidence(reason) for reason in memory.why(id).reasons] if explain else []

    def build(items: Sequence[MemoryItem]) -> Payload:
        head, rest = (items[0], items[1:]) if items else (replace(first, text="…"), ())
        value = Whole(
            memory=head,
            history=[item for item in rest if item.change in _CHANGES],
            evidence=[item for item in rest if item.change not in _CHANGES],
            left_out=len(beside) - len(rest),
        )
        return _payload(value, _line(head), *(f"  {item.change}: {_line(item)}" for item in rest))

    return fitted([first, *beside], build, _cut, max_tokens)[0]


def amend(
    memory: Memory,
    id: str,
    content: Annotated[str, Meta(description="The new content; of a fact: its new value.")] | None = None,
    name: str | None = None,
    valid_from: str | None = None,
    valid_to: str | None = None,
    was_wrong: Annotated[bool, Meta(description="It was never true.")] = False,
    reason: str | None = None,
) -> Payload:
    """Change a memory or a fact. The old one was true until now (or valid_from); with `was_wrong` it never
    was. Nothing is lost."""
    if content is None and name is None and not (valid_from or valid_to):
        raise InvalidInput("give new content, a name or a time; to end a memory use memory_retire")
    change = memory.correct if was_wrong else memory.amend
    done = change(id, content, name=name, valid_from=valid_from, valid_to=valid_to, reason=reason)
    return _written(done, "corrected" if was_wrong else "amended")


def retire(memory: Memory, id: str, when: str | None = None, reason: str | None = None) -> Payload:
    """End a memory or a fact: no longer true from now (or `when`) on. Nothing is erased."""
    return _written(memory.retire(id, when, reason=reason), "retired")


def retire_all(
    memory: Memory,
    type: Kind | None = None,
    metadata: Mapping[str, Any] = {},
    when: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> Payload:
    """End every memory of a scope, or only those of a type or with labels. Nothing is erased."""
    if not memory.handle.scope.bound():
        raise Refused("name whose memories: user, agent, app or run; a whole store is never retired at once")
    done = change.retire_all(memory.handle, type, dict(metadata), when, reason, dry_run=dry_run)
    value = Retired(count=len(done), ids=[id_[:_DIGITS] for id_ in done[: render.SHOWN]], dry_run=dry_run)
    return _payload(value, f"{'would retire' if dry_run else 'retired'} {render.plural(len(done), 'memory')}")


def purge_scope(
    desk: Desk,
    kind: ScopeKind,
    name: Needed,
    confirm: Annotated[str, Meta(description="Its name.")],
    reason: str | None = None,
) -> Payload:
    """End everything in one scope, as when a user leaves; `confirm` repeats its name. Nothing is erased."""
    if confirm != name:
        raise Refused(
            f"not confirmed: to end everything of {kind} {name!r}, `confirm` must be exactly {name!r}"
        )
    if f"{kind}:{name}" not in verbs.scope_names(desk.memory):
        raise Refused(f"there is no {kind} {name!r}; memory_list_scopes lists them")
    return retire_all(desk.memory.scoped(**{kind: name}), reason=reason or "its scope was purged")


def list_scopes(
    desk: Desk,
    kind: ScopeKind | None = None,
    limit: Many = 200,
    page: str | None = None,
) -> Payload:
    """List the users, agents, apps and runs that have memories."""
    names = sorted(n for n in verbs.scope_names(desk.memory) if kind in (None, n.partition(":")[0]))
    start = names.index(page) + 1 if page in names else 0
    if page and not start:
        raise InvalidInput(f"{page!r} is not the mark of a page; use the `next` of the page before")
    shown = names[start : start + limit]
    by_kind: dict[str, list[str]] = {}
    for name in shown:
        of, _, named = name.partition(":")
        by_kind.setdefault(of, []).append(named)
    value = Scopes(**by_kind, next=shown[-1] if len(names) > start + len(shown) else None)
    lines = [f"{of}: {', '.join(named)}" for of, named in by_kind.items()]
    return _payload(value, *(lines or ["no scopes yet"]))


# The full set ------------------------------------------------------------------------------------


def forget(
    memory: Memory,
    ids: Annotated[Sequence[str], Meta(description="The memories; none: all of the scope.")] = (),
    before: Annotated[str, Meta(description="Only what was said or noted before then; ISO time.")]
    | None = None,
    confirm: Annotated[
        Literal["erase"], Meta(description="`erase`, once the user has agreed; without it, only count.")
    ]
    | None = None,
) -> Payload:
    """Erase memories for good, with all that was derived from them alone; nothing brings them back. For what is
    over or wrong use memory_retire or memory_amend. Without `confirm` it only counts: tell the user first."""
    scope = memory.handle.scope
    if not (ids or scope.bound()):
        raise Refused(
            "name the memories, or whose: user, agent, app or run; a whole store is never erased at once"
        )
    wanted = confirm == "erase"
    done = memory.forget(
        ids or None,
        scope=None if ids else scope,
        before=before,
        by="agent",
        confirm=wanted,
        dry_run=not wanted,
    )
    counts = {name: getattr(done, name) for name in ("memories", "facts", "derived", "entities")}
    state = "erased for good" if wanted else "would be erased; nothing was erased yet"
    told = f"{done.memories} memories and {done.facts} facts {state}"
    return _payload(Erased(**counts, erased=wanted), told)


def link(
    memory: Memory,
    src: str,
    type: Literal["relates_to", "refines", "contradicts", "supersedes", "supports"],
    dst: str,
    valid_from: Annotated[str, Meta(description="Since when [now].")] | None = None,
) -> Payload:
    """Join two memories. `supersedes` ends the target; `contradicts` keeps both and shows the conflict."""
    return _written(memory.link(src, type, dst, valid_from=valid_from), "linked")


def walk(
    memory: Memory,
    id: str,
    types: Annotated[Sequence[str], Meta(description="Only along these edges [all].")] = (),
    way: Way = "both",
    depth: Depth = 1,
    max_tokens: Tokens = 4000,
) -> Payload:
    """Show what lies around a memory: neighbours and the edges between them."""
    found = memory.walk(id, *types, way=way, depth=depth)
    ids = {node.lineage: node.id[:_DIGITS] for node in found.nodes}
    joined = [
        EdgeItem(src=ids[e.src], type=render.relation(e), dst=ids[e.dst])
        for e in found.edges
        if e.src in ids and e.dst in ids
    ]

    def build(items: Sequence[MemoryItem]) -> Payload:
        here = {item.id for item in items}
        edges = [edge for edge in joined if edge.src in here and edge.dst in here]
        value = Neighbours(items=list(items), edges=edges, left_out=len(found.nodes) - len(items))
        return _payload(value, *map(_line, items), *(f"{e.src} -{e.type}-> {e.dst}" for e in edges))

    return fitted([_preview(_item(node)) for node in found.nodes], build, _cut, max_tokens)[0]


def timeline(
    memory: Memory,
    topic: Annotated[str, Meta(min_length=1, description="What it is about.")],
    start: Annotated[str, Meta(description="From this time on.")] | None = None,
    end: Annotated[str, Meta(description="Before this time.")] | None = None,
    limit: Few = 50,
    max_tokens: Tokens = 4000,
) -> Payload:
    """What happened about a topic, in order, with dates."""
    found = memory.timeline(topic, start, end, limit=limit)
    items = [_preview(replace(_item(entry.node), said_at=render.iso(entry.at))) for entry in found]

    def build(chosen: Sequence[MemoryItem]) -> Payload:
        value = Neighbours(items=list(chosen), left_out=len(items) - len(chosen))
        return _payload(value, *(list(map(_line, chosen)) or ["nothing dated about that"]))

    return fitted(items, build, _cut, max_tokens)[0]


def feedback(memory: Memory, id: str, verdict: Verdict) -> Payload:
    """Say of something recalled that it was useful or wrong; useful memories stay warm, wrong ones fade."""
    return _written(memory.feedback(id, verdict), verdict)


def merges(
    memory: Memory,
    action: Literal["list", "accept", "reject", "undo"] = "list",
    proposal: Annotated[str, Meta(description="Its id, for accept, reject and undo.")] | None = None,
    max_tokens: Tokens = 4000,
) -> Payload:
    """List the proposals to read two memories as one, or decide one; a decision can be undone."""
    if action != "list":
        if not proposal:
            raise InvalidInput(f"`{action}` needs the id of a proposal")
        done: Receipt = getattr(memory, f"{action}_merge")(proposal)
        state = "done" if done.changed else "was so already"
        return _payload(Proposals(changed=done.changed), f"{action}: {state}")
    items = [
        Proposed(
            id=p.id[:_DIGITS], a=p.a[:_DIGITS], b=p.b[:_DIGITS], a_name=memory.get(p.a, exact=True).name,
            b_name=memory.get(p.b, exact=True).name, status=p.status, tier=p.tier, score=round(p.score, 3),
            reason=p.reason,
        )
        for p in memory.merges()
    ]  # fmt: skip

    def build(chosen: Sequence[Any]) -> Payload:
        lines = [f"{p.id}  {p.a_name} = {p.b_name}?  {p.tier} {p.score:g}" for p in chosen]
        value = Proposals(items=list(chosen), left_out=len(items) - len(chosen))
        return _payload(value, *(lines or ["no merge proposals"]))

    return fitted(items, build, lambda item, room: item, max_tokens)[0]


# Shapes ------------------------------------------------------------------------------------------

_CHANGES = frozenset(
    {"put", "amended", "corrected", "retired", "superseded", "quarantined", "confirmed", "restored"}
)


def _payload(value: msgspec.Struct, *lines: str) -> Payload:
    return {
        "content": [{"type": "text", "text": "\n".join(lines)}],
        "structuredContent": msgspec.to_builtins(value),
    }


def _written(done: Receipt, verb: str) -> Payload:
    value = WriteDone(
        id=done.id[:_DIGITS] if done.id else None,
        changed=done.changed,
        changes=[told(change) for change in done.changes[: render.SHOWN] if ": " in change],
        proposals=[id_[:_DIGITS] for id_ in done.proposals],
        redacted=list(done.redacted),
        known_at=render.iso(done.known_at) if done.changed else None,
    )
    state = verb if done.changed else "was so already; nothing changed"
    merges = [f"merge proposal {id_}: somebody should decide it" for id_ in value.proposals]
    hidden = [f"redacted: {', '.join(value.redacted)}"] if value.redacted else []
    facts = [f"  {change}" for change in value.changes]
    return _payload(value, f"{state}: {value.id}" if value.id else state, *facts, *merges, *hidden)


def _item(node: Node, *, known: bool = False) -> MemoryItem:
    spoken = node.type == "Turn"
    return MemoryItem(
        id=node.id[:_DIGITS], type=node.type, name="" if spoken or node.type == "Fact" else node.name,
        speaker=node.name if spoken else "", text=node.content,
        valid_from=render.iso(node.valid.start, precision=node.precision),
        valid_to=render.iso(node.valid.end, precision=render.of_end(node.valid, node.precision)),
        known_from=render.iso(node.known.start) if known else None,
        known_to=render.iso(node.known.end) if known else None,
        status=node.status, notes=list(node.notes), metadata=node.metadata,
    )  # fmt: skip


def _hit(hit: Hit) -> MemoryItem:
    item = _item(hit.node)
    said = None if hit.said_at is None else show(hit.said_at, hit.utc_offset)
    return replace(item, said_at=said, speaker=hit.speaker or item.speaker, score=round(hit.score, 2))


def _weighed(item: MemoryItem, hit: Hit) -> MemoryItem:
    factors = {name: round(given, 3) for name, given in hit.factors.items() if abs(given) >= 0.001}
    return replace(item, lanes=hit.lanes, factors=factors)


def _evidence(reason: Reason) -> MemoryItem:
    item = replace(_item(reason.node), change=reason.via)
    return replace(item, text=item.text[slice(*reason.span)]) if reason.span else item


def _line(item: MemoryItem) -> str:
    """An item on one line, or as many as its text has."""
    when = (item.said_at or item.valid_from or "")[:16].replace("T", " ")
    until = f" to {item.valid_to[:10]}" if item.valid_to else ""
    who = f"{speaker(item.speaker)}: " if item.speaker else f"{inert(item.name, ' ')}: " if item.name else ""
    status = f" ({item.status})" if item.status != "believed" else ""
    notes = "".join(f"\n  ! {inert(note, ' ')}" for note in item.notes)
    return f"[{item.id}] {item.type} {when}{until}{status} {who}{inert(item.text)}{notes}"


def _preview(item: MemoryItem, most: int = _PREVIEW) -> MemoryItem:
    item.text = item.text if len(item.text) <= most else item.text[: most - 2].rstrip() + " …"
    return item


def _cut(item: MemoryItem, room: int) -> MemoryItem:
    return replace(item, text=item.text[: room // 2].rstrip() + " …", notes=[], metadata={})


def _title(content: str) -> str:
    first = content.strip().partition("\n")[0].strip() or "note"
    return first if len(first) <= _NAME else first[: _NAME - 2].rstrip() + " …"


CORE = (
    _tool(write, WriteDone),
    _tool(recall, Recalled, read_only=True),
    _tool(context, Briefing, read_only=True),
    _tool(list_, Listed, read_only=True),
    _tool(read, Whole, read_only=True),
    _tool(amend, WriteDone, destructive=True),
    _tool(retire, WriteDone, destructive=True),
    _tool(retire_all, Retired, destructive=True),
    _tool(purge_scope, Retired, destructive=True),
    _tool(list_scopes, Scopes, read_only=True),
)
MORE = (
    _tool(forget, Erased, destructive=True),
    _tool(profile, KnownPerson, read_only=True),
    _tool(link, WriteDone),
    _tool(walk, Neighbours, read_only=True),
    _tool(timeline, Neighbours, read_only=True),
    _tool(feedback, WriteDone),
    _tool(merges, Proposals),
)
SETS = {"core": CORE, "full": CORE + MORE}
