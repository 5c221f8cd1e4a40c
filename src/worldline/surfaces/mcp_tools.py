"""The MCP tools as plain functions: (desk, what was asked) → the payload of the answer.

A desk is the memory as an agent meets it: agent-facing types only, and perhaps confined to a scope.
Every payload holds the answer twice, as text and as structure, because some clients show only
one of them to their model; a budget counts both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from worldline.clock import EARLIEST, EXACT, LATEST, Instant, calendar, show
from worldline.errors import InvalidInput, Refused
from worldline.memory import Memory
from worldline.model import Hit, Node, Reason, Receipt, Scope
from worldline.read.history import speaker
from worldline.rules.slots import told
from worldline.surfaces import budget, render
from worldline.surfaces import mcp_values as v
from worldline.surfaces.budget import Cited, fitted, size
from worldline.surfaces.verbs import every, scope_names
from worldline.text import inert

Payload = dict[str, Any]
_DIGITS = 12
_PREVIEW = 240
_SHORTEST = 16
_NAME = 80
_SHOWN_IDS = 20
_EVERYTHING = (None, "Fact", "Entity", "Topic", "Summary")


class Desk(NamedTuple):
    """A tenant's memory, for agents; where it is confined to a scope, every call is."""

    memory: Memory
    read_only: bool = False

    def bound(self, asked: v.Given) -> Memory:
        """The memory in the scope of a call, at its moment."""
        given = {kind: getattr(asked, kind) for kind in ("user", "agent", "app", "run")}
        memory = self.memory.scoped(**{kind: name for kind, name in given.items() if name is not None})
        return (
            memory.at(asked.valid_at, asked.known_at, asked.as_of) if isinstance(asked, v.Looking) else memory
        )

    def shared(self, asked: v.Write) -> Memory:
        """The memory for a write to one or more scopes."""
        if not asked.scopes:
            return self.bound(asked)
        if asked.user or asked.agent or asked.app or asked.run:
            raise InvalidInput("give either `scopes` or user/agent/app/run, not both")
        first, *others = (Scope(**msgspec.structs.asdict(scope)) for scope in asked.scopes)
        return self.memory.scoped(**first.bound()).shared_with(*others)


class Tool(NamedTuple):
    """A tool: its name, what it takes and gives, and what a client may expect of it."""

    name: str
    takes: type[msgspec.Struct]
    gives: type[msgspec.Struct]
    run: Callable[[Desk, Any], Payload]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True

    @property
    def description(self) -> str:
        """The docstring, on one line."""
        return " ".join((self.run.__doc__ or "").split())


# The ten ----------------------------------------------------------------------------------------


def write(desk: Desk, asked: v.Write) -> Payload:
    """Remember a note, or (type `said`) words that somebody said. The same twice is one. If something changed,
    amend the old memory instead. Give the facts that it states: later questions are answered from them."""
    memory = desk.shared(asked)
    facts = [msgspec.to_builtins(fact) for fact in asked.facts]
    if asked.type == "said":
        if asked.valid_from or asked.name:
            raise InvalidInput("words have no name and no beginning; give said_at, speaker and session")
        done = memory.scoped(session=asked.session).remember(
            asked.content, said_at=asked.said_at, speaker=asked.speaker, metadata=asked.metadata, facts=facts,
            expires=asked.valid_to,
        )  # fmt: skip
        return _written(done, "remembered")
    if asked.said_at or asked.speaker:
        raise InvalidInput("`speaker` and `said_at` belong to type `said`")
    done = memory.note(
        asked.type, asked.name or _title(asked.content), asked.content, valid_from=asked.valid_from,
        valid_to=asked.valid_to, metadata=asked.metadata or None, facts=facts,
    )  # fmt: skip
    return _written(done, "stored")


def recall(desk: Desk, asked: v.RecallOf) -> Payload:
    """Ask in plain words. Returns the answer where it is known, its proof, and dated evidence, best first; or
    why it is not known. Only what holds now, unless a time is given."""
    memory = desk.bound(asked).scoped(session=asked.session)
    answer = memory.recall(
        asked.question, max_tokens=budget.ALL, asked_at=asked.asked_at, limit=asked.limit, filters=asked.filters,
        explain=asked.explain, include_superseded=asked.include_superseded,
        include_quarantined=asked.include_quarantined,
    )  # fmt: skip
    told = budget.known(memory, answer, _DIGITS)
    told = budget.shortened(told, int(asked.max_tokens * budget.KNOWN))
    hits = budget.worth_showing(answer, asked.limit)

    def build(items: Sequence[v.MemoryItem], trace: Sequence[str] = ()) -> Payload:
        value = v.Recalled(
            **msgspec.structs.asdict(told), items=list(items), found=len(answer.hits), trace=list(trace),
        )  # fmt: skip
        footer = f"({len(items)} of {value.found} found)"
        return _payload([*budget.opening(told), *trace, *map(_line, items), footer], value)

    payload, kept = fitted([_hit(hit) for hit in hits], build, _cut, asked.max_tokens)
    if not asked.explain:
        return payload
    weighed = (_weighed(item, hit) for item, hit in zip(kept, hits, strict=False))
    return budget.explained(kept, weighed, answer.trace, build, asked.max_tokens)


def context(desk: Desk, asked: v.ContextOf) -> Payload:
    """What to know first: who the user is, what they asked for, what comes up, holds and changed, with ids."""
    memory, most = desk.bound(asked), asked.max_tokens // 2
    while True:
        found = memory.context(asked.about, max_tokens=max(20, most))
        value = v.Briefing(
            user=found.user,
            sections=[
                v.BriefSection(
                    title=section.title,
                    lines=[Cited(x.id[:_DIGITS], x.text, x.when or None) for x in section.lines],
                )
                for section in found.sections
            ],
        )
        payload = _payload([found.text or "nothing to know yet"], value)
        if size(payload) <= asked.max_tokens or most < 20:
            return payload
        most = most * 3 // 4


def profile(desk: Desk, asked: v.ProfileOf) -> Payload:
    """Who somebody is: what is believed of them, whom they know, and what befell them."""
    found = desk.bound(asked).profile(asked.who)
    facts = [Cited(x.fact[:_DIGITS], x.text, _iso(x.valid.start, x.precision)) for x in found.attributes]
    marks = [Cited(x.evidence[:_DIGITS], x.text, _iso(x.happened, "day")) for x in found.landmarks]
    known = [*facts, *marks]

    def build(chosen: Sequence[Cited]) -> Payload:
        value = v.KnownPerson(
            name=found.name, turns=found.turns, attributes=[c for c in chosen if c in facts],
            relations=[one.name for one in found.relations[:10]], landmarks=[c for c in chosen if c not in facts],
            left_out=len(known) - len(chosen),
        )  # fmt: skip
        people = [f"knows {', '.join(value.relations)}"] if value.relations else []
        return _payload([found.name, *people, *(f"[{c.id}] {c.since or ''} {c.text}" for c in chosen)], value)

    return fitted(
        known, build, lambda item, room: replace(item, text=item.text[: room // 2]), asked.max_tokens
    )[0]


def list_(desk: Desk, asked: v.List) -> Payload:
    """Memories, newest first, a page at a time; long texts by their beginning."""
    memory, limit = desk.bound(asked), asked.limit
    most = min(_PREVIEW, asked.max_tokens // 2)
    while True:
        page = memory.list(
            render.spelled(asked.type), metadata=asked.metadata, include_superseded=asked.retired, limit=limit,
            page=asked.page,
        )  # fmt: skip
        value = v.Listed(
            items=[_preview(_item(n, known=asked.retired), most) for n in page.items], next=page.next
        )
        more = [f"(more: page {page.next})"] if page.next else []
        payload = _payload([*(map(_line, value.items) if value.items else ["nothing here"]), *more], value)
        if size(payload) <= asked.max_tokens:
            return payload
        if limit == 1 and most < _SHORTEST:
            raise InvalidInput(f"max_tokens is too small for one item; it takes {size(payload)}")
        limit, most = max(1, limit * 3 // 4), most // 2 if limit == 1 else most


def read(desk: Desk, asked: v.Read) -> Payload:
    """One memory whole; `history` adds every belief ever held in it, `explain` the words that it rests on."""
    memory = desk.bound(asked)
    first = _item(memory.get(asked.id, exact=asked.exact), known=True)
    held = memory.history(asked.id) if asked.history else ()
    beside = [replace(_item(version.node, known=True), change=version.change) for version in held]
    beside += [_evidence(reason) for reason in memory.why(asked.id).reasons] if asked.explain else []
    told = len(beside)

    def build(items: Sequence[v.MemoryItem]) -> Payload:
        head, rest = (items[0], items[1:]) if items else (replace(first, text="…"), ())
        value = v.Whole(
            memory=head,
            history=[item for item in rest if item.change in _CHANGES],
            evidence=[item for item in rest if item.change not in _CHANGES],
            left_out=told - len(rest),
        )
        return _payload([_line(head), *(f"  {item.change}: {_line(item)}" for item in rest)], value)

    return fitted([first, *beside], build, _cut, asked.max_tokens)[0]


def amend(desk: Desk, asked: v.Amend) -> Payload:
    """Change a memory or a fact. The old one was true until now (or valid_from); with `was_wrong` it never
    was. Nothing is lost."""
    memory = desk.bound(asked)
    if asked.content is None and asked.name is None and not (asked.valid_from or asked.valid_to):
        raise InvalidInput("give new content, a name or a time; to end a memory use memory_retire")
    change = memory.correct if asked.was_wrong else memory.amend
    done = change(
        asked.id, asked.content, name=asked.name, valid_from=asked.valid_from, valid_to=asked.valid_to,
        reason=asked.reason,
    )  # fmt: skip
    return _written(done, "corrected" if asked.was_wrong else "amended")


def retire(desk: Desk, asked: v.Retire) -> Payload:
    """End a memory or a fact: no longer true from now (or `when`) on. Nothing is erased."""
    done = desk.bound(asked).retire(asked.id, asked.when, reason=asked.reason)
    return _written(done, "retired")


def retire_all(desk: Desk, asked: v.RetireAll) -> Payload:
    """End every memory of a scope, or only those of a type or with labels. Nothing is erased."""
    memory = desk.bound(asked)
    if not memory.handle.scope.bound():
        raise Refused("name whose memories: user, agent, app or run; a whole store is never retired at once")
    types = (asked.type,) if asked.type else _EVERYTHING
    return _retired(memory, types, asked.metadata, asked.when, asked.reason, dry_run=asked.dry_run)


def purge_scope(desk: Desk, asked: v.PurgeScope) -> Payload:
    """End everything in one scope, as when a user leaves; `confirm` repeats its name. Nothing is erased."""
    if asked.confirm != asked.name:
        raise Refused(
            f"not confirmed: to end everything of {asked.kind} {asked.name!r}, `confirm` must be "
            f"exactly {asked.name!r}"
        )
    if f"{asked.kind}:{asked.name}" not in scope_names(desk.memory):
        raise Refused(f"there is no {asked.kind} {asked.name!r}; memory_list_scopes lists them")
    memory = desk.memory.scoped(**{asked.kind: asked.name})
    reason = asked.reason or "its scope was purged"
    return _retired(memory, _EVERYTHING, {}, None, reason)


def forget(desk: Desk, asked: v.ForgetSome) -> Payload:
    """Erase memories for good, with all that was derived from them alone; nothing brings them back. For what is
    over or wrong use memory_retire or memory_amend. Without `confirm` it only counts: tell the user first."""
    memory = desk.bound(asked)
    scope = memory.handle.scope
    if not (asked.ids or scope.bound()):
        raise Refused(
            "name the memories, or whose: user, agent, app or run; a whole store is never erased at once"
        )
    wanted = asked.confirm == "erase"
    done = memory.forget(
        asked.ids or None, scope=None if asked.ids else scope, before=asked.before, by="agent", confirm=wanted,
        dry_run=not wanted,
    )  # fmt: skip
    value = v.Erased(
        memories=done.memories, facts=done.facts, derived=done.derived, entities=done.entities, erased=wanted
    )
    told = "erased for good" if wanted else "would be erased; nothing was erased yet"
    return _payload([f"{done.memories} memories and {done.facts} facts {told}"], value)


def list_scopes(desk: Desk, asked: v.ListScopes) -> Payload:
    """List the users, agents, apps and runs that have memories."""
    names = sorted(n for n in scope_names(desk.memory) if asked.kind in (None, n.partition(":")[0]))
    start = names.index(asked.page) + 1 if asked.page in names else 0
    if asked.page and not start:
        raise InvalidInput(f"{asked.page!r} is not the mark of a page; use the `next` of the page before")
    shown = names[start : start + asked.limit]
    by_kind: dict[str, list[str]] = {}
    for name in shown:
        kind, _, of = name.partition(":")
        by_kind.setdefault(kind, []).append(of)
    value = v.Scopes(**by_kind, next=shown[-1] if len(names) > start + len(shown) else None)
    lines = [f"{kind}: {', '.join(of)}" for kind, of in by_kind.items()]
    return _payload(lines or ["no scopes yet"], value)


# The full set ------------------------------------------------------------------------------------


def link(desk: Desk, asked: v.LinkTwo) -> Payload:
    """Join two memories. `supersedes` ends the target; `contradicts` keeps both and shows the conflict."""
    done = desk.bound(asked).link(asked.src, asked.type, asked.dst, valid_from=asked.valid_from)
    return _written(done, "linked")


def walk(desk: Desk, asked: v.WalkFrom) -> Payload:
    """Show what lies around a memory: neighbours and the edges between them."""
    found = desk.bound(asked).walk(asked.id, *asked.types, way=asked.way, depth=asked.depth)
    ids = {node.lineage: node.id[:_DIGITS] for node in found.nodes}
    joined = [
        v.EdgeItem(src=ids[e.src], type=render.relation(e), dst=ids[e.dst])
        for e in found.edges
        if e.src in ids and e.dst in ids
    ]

    def build(items: Sequence[v.MemoryItem]) -> Payload:
        here = {item.id for item in items}
        edges = [edge for edge in joined if edge.src in here and edge.dst in here]
        value = v.Neighbours(items=list(items), edges=edges, left_out=len(found.nodes) - len(items))
        return _payload([*map(_line, items), *(f"{e.src} -{e.type}-> {e.dst}" for e in edges)], value)

    items = [_preview(_item(node)) for node in found.nodes]
    return fitted(items, build, _cut, asked.max_tokens)[0]


def timeline(desk: Desk, asked: v.Timeline) -> Payload:
    """What happened about a topic, in order, with dates."""
    found = desk.bound(asked).timeline(asked.topic, asked.start, asked.end, limit=asked.limit)
    items = [_preview(replace(_item(entry.node), said_at=_iso(entry.at))) for entry in found]

    def build(chosen: Sequence[v.MemoryItem]) -> Payload:
        value = v.Neighbours(items=list(chosen), left_out=len(items) - len(chosen))
        return _payload(list(map(_line, chosen)) or ["nothing dated about that"], value)

    return fitted(items, build, _cut, asked.max_tokens)[0]


def feedback(desk: Desk, asked: v.Feedback) -> Payload:
    """Say of something recalled that it was useful or wrong; useful memories stay warm, wrong ones fade."""
    return _written(desk.bound(asked).feedback(asked.id, asked.verdict), asked.verdict)


def merges(desk: Desk, asked: v.Merges) -> Payload:
    """List the proposals to read two memories as one, or decide one; a decision can be undone."""
    memory = desk.bound(asked)
    if asked.action != "list":
        if not asked.proposal:
            raise InvalidInput(f"`{asked.action}` needs the id of a proposal")
        decide = {"accept": memory.accept_merge, "reject": memory.reject_merge, "undo": memory.undo_merge}
        done = decide[asked.action](asked.proposal)
        value = v.Proposals(changed=done.changed)
        return _payload([f"{asked.action}: {'done' if done.changed else 'was so already'}"], value)
    items = [
        v.Proposed(
            id=p.id[:_DIGITS], a=p.a[:_DIGITS], b=p.b[:_DIGITS], a_name=memory.get(p.a, exact=True).name,
            b_name=memory.get(p.b, exact=True).name, status=p.status, tier=p.tier, score=round(p.score, 3),
            reason=p.reason,
        )
        for p in memory.merges()
    ]  # fmt: skip

    def build(chosen: Sequence[v.Proposed]) -> Payload:
        lines = [f"{p.id}  {p.a_name} = {p.b_name}?  {p.tier} {p.score:g}" for p in chosen]
        value = v.Proposals(items=list(chosen), left_out=len(items) - len(chosen))
        return _payload(lines or ["no merge proposals"], value)

    return fitted(items, build, lambda item, room: item, asked.max_tokens)[0]


# Shapes ------------------------------------------------------------------------------------------

_CHANGES = frozenset(
    {"put", "amended", "corrected", "retired", "superseded", "quarantined", "confirmed", "restored"}
)


def _payload(lines: Iterable[str], value: msgspec.Struct) -> Payload:
    return {
        "content": [{"type": "text", "text": "\n".join(lines)}],
        "structuredContent": msgspec.to_builtins(value),
    }


def _written(done: Receipt, verb: str) -> Payload:
    value = v.WriteDone(
        id=done.id[:_DIGITS] if done.id else None,
        changed=done.changed,
        changes=[told(change) for change in done.changes[:_SHOWN_IDS] if ": " in change],
        proposals=[id_[:_DIGITS] for id_ in done.proposals],
        redacted=list(done.redacted),
        known_at=_iso(done.known_at) if done.changed else None,
    )
    state = verb if done.changed else "was so already; nothing changed"
    merges = [f"merge proposal {id_}: somebody should decide it" for id_ in value.proposals]
    hidden = [f"redacted: {', '.join(value.redacted)}"] if value.redacted else []
    facts = [f"  {change}" for change in value.changes]
    return _payload([f"{state}: {value.id}" if value.id else state, *facts, *merges, *hidden], value)


def _retired(
    memory: Memory, types: Iterable[str | None], metadata: dict[str, Any], when: str | None, reason: str | None,
    *, dry_run: bool = False,
) -> Payload:  # fmt: skip
    """All of them or none, as one changeset, which one undo takes back; gathered before the first one is ended."""
    ids = list({node.lineage: None for type_ in types for node in every(memory, type_, metadata=metadata)})
    done = memory.retire(ids, when, reason=reason, dry_run=dry_run).ids if ids else ()
    value = v.Retired(count=len(done), ids=[id_[:_DIGITS] for id_ in done[:_SHOWN_IDS]], dry_run=dry_run)
    state = "would retire" if dry_run else "retired"
    return _payload([f"{state} {render.plural(value.count, 'memory')}"], value)


def _item(node: Node, *, known: bool = False) -> v.MemoryItem:
    spoken = node.type == "Turn"
    return v.MemoryItem(
        id=node.id[:_DIGITS], type=node.type, name="" if spoken or node.type == "Fact" else node.name,
        speaker=node.name if spoken else "", text=node.content,
        valid_from=_iso(node.valid.start, node.precision),
        valid_to=_iso(node.valid.end, render.of_end(node.valid, node.precision)),
        known_from=_iso(node.known.start) if known else None,
        known_to=_iso(node.known.end) if known else None,
        status=node.status, notes=list(node.notes), metadata=node.metadata,
    )  # fmt: skip


def _hit(hit: Hit) -> v.MemoryItem:
    item = _item(hit.node)
    said = None if hit.said_at is None else show(hit.said_at, hit.utc_offset)
    return replace(item, said_at=said, speaker=hit.speaker or item.speaker, score=round(hit.score, 2))


def _weighed(item: v.MemoryItem, hit: Hit) -> v.MemoryItem:
    factors = {name: round(given, 3) for name, given in hit.factors.items() if abs(given) >= 0.001}
    return replace(item, lanes=hit.lanes, factors=factors)


def _evidence(reason: Reason) -> v.MemoryItem:
    item = replace(_item(reason.node), change=reason.via)
    return replace(item, text=item.text[slice(*reason.span)]) if reason.span else item


def _line(item: v.MemoryItem) -> str:
    """An item on one line, or as many as its text has."""
    when = (item.said_at or item.valid_from or "")[:16].replace("T", " ")
    until = f" to {item.valid_to[:10]}" if item.valid_to else ""
    who = f"{speaker(item.speaker)}: " if item.speaker else f"{inert(item.name, ' ')}: " if item.name else ""
    status = f" ({item.status})" if item.status != "believed" else ""
    notes = "".join(f"\n  ! {inert(note, ' ')}" for note in item.notes)
    return f"[{item.id}] {item.type} {when}{until}{status} {who}{inert(item.text)}{notes}"


def _preview(item: v.MemoryItem, most: int = _PREVIEW) -> v.MemoryItem:
    item.text = item.text if len(item.text) <= most else item.text[: most - 2].rstrip() + " …"
    return item


def _cut(item: v.MemoryItem, room: int) -> v.MemoryItem:
    return replace(item, text=item.text[: room // 2].rstrip() + " …", notes=[], metadata={})


def _title(content: str) -> str:
    first = content.strip().partition("\n")[0].strip() or "note"
    return first if len(first) <= _NAME else first[: _NAME - 2].rstrip() + " …"


def _iso(at: Instant, precision: str | None = None) -> str | None:
    if at >= LATEST or at <= EARLIEST:
        return None
    return calendar(at, precision) if precision and precision not in EXACT else show(at)


CORE = (
    Tool("memory_write", v.Write, v.WriteDone, write),
    Tool("memory_recall", v.RecallOf, v.Recalled, recall, read_only=True),
    Tool("memory_context", v.ContextOf, v.Briefing, context, read_only=True),
    Tool("memory_list", v.List, v.Listed, list_, read_only=True),
    Tool("memory_read", v.Read, v.Whole, read, read_only=True),
    Tool("memory_amend", v.Amend, v.WriteDone, amend, destructive=True),
    Tool("memory_retire", v.Retire, v.WriteDone, retire, destructive=True),
    Tool("memory_retire_all", v.RetireAll, v.Retired, retire_all, destructive=True),
    Tool("memory_purge_scope", v.PurgeScope, v.Retired, purge_scope, destructive=True),
    Tool("memory_list_scopes", v.ListScopes, v.Scopes, list_scopes, read_only=True),
)
MORE = (
    Tool("memory_forget", v.ForgetSome, v.Erased, forget, destructive=True),
    Tool("memory_profile", v.ProfileOf, v.KnownPerson, profile, read_only=True),
    Tool("memory_link", v.LinkTwo, v.WriteDone, link),
    Tool("memory_walk", v.WalkFrom, v.Neighbours, walk, read_only=True),
    Tool("memory_timeline", v.Timeline, v.Neighbours, timeline, read_only=True),
    Tool("memory_feedback", v.Feedback, v.WriteDone, feedback),
    Tool("memory_merges", v.Merges, v.Proposals, merges, idempotent=True),
)
SETS = {"core": CORE, "full": CORE + MORE}
