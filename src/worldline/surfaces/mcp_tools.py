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
from worldline.model import Dated, Hit, Node, Reason, Receipt, Scope
from worldline.read.pack import speaker
from worldline.surfaces import mcp_values as v
from worldline.surfaces import render
from worldline.surfaces.budget import fitted, size, trimmed
from worldline.text import inert

Payload = dict[str, Any]
_DIGITS = 12
_PREVIEW = 240
_NAME = 80
_ALL = 1_000_000_000
_SHOWN_IDS = 20
_EVERYTHING = (None, "Fact", "Turn")


class Desk(NamedTuple):
    """A tenant's memory, for agents; where it is confined to a scope, every call is."""

    memory: Memory
    read_only: bool = False

    def bound(self, asked: v.Given) -> Memory:
        """The memory in the scope of a call, at its moment."""
        given = {kind: getattr(asked, kind) for kind in ("user", "agent", "app", "run")}
        memory = self.memory.scoped(**{kind: name for kind, name in given.items() if name is not None})
        if isinstance(asked, v.Looking) and (asked.valid_at or asked.known_at or asked.as_of):
            memory = memory.at(asked.valid_at, asked.known_at, asked.as_of)
        return memory

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
    title: str
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


# The nine ----------------------------------------------------------------------------------------


def write(desk: Desk, asked: v.Write) -> Payload:
    """Remember something: a note of a type, or (type `said`) words that somebody said, verbatim. The same
    note twice is stored once. If something changed, use memory_amend on the old memory instead. Give the
    facts that it states: later questions are answered from them."""
    memory = desk.shared(asked)
    facts = [msgspec.to_builtins(fact) for fact in asked.facts]
    if asked.type == "said":
        if asked.valid_from or asked.valid_to or asked.name:
            raise InvalidInput("words have no name and no validity; give said_at, speaker and session")
        done = memory.scoped(session=asked.session).remember(
            asked.content, said_at=asked.said_at, speaker=asked.speaker, metadata=asked.metadata, facts=facts
        )
        return _written(done, "remembered")
    if asked.said_at or asked.speaker:
        raise InvalidInput("`speaker` and `said_at` belong to type `said`")
    done = memory.note(
        asked.type,
        asked.name or _title(asked.content),
        asked.content,
        valid_from=asked.valid_from,
        valid_to=asked.valid_to,
        metadata=asked.metadata or None,
        facts=facts,
    )
    return _written(done, "stored")


def recall(desk: Desk, asked: v.Recall) -> Payload:
    """Ask the memory a question in plain words. Returns verbatim, dated evidence, best first, or says why it
    is not sure that this is known. Only what holds now, unless a time is given."""
    memory = desk.bound(asked).scoped(session=asked.session)
    answer = memory.recall(
        asked.question, max_tokens=_ALL, asked_at=asked.asked_at, limit=asked.limit, filters=asked.filters,
        explain=asked.explain, include_superseded=asked.include_superseded,
        include_quarantined=asked.include_quarantined,
    )  # fmt: skip
    reason = answer.reason[:160] if answer.reason else None
    trace = trimmed(answer.trace, asked.max_tokens // 4)

    def build(items: Sequence[v.Item]) -> Payload:
        value = v.Found(
            items=list(items), found=len(answer.hits), abstained=answer.abstained, reason=reason,
            trace=trace,
        )  # fmt: skip
        opening = [f"Not sure that this is known: {reason}"] if reason else []
        footer = f"(returned {len(items)}/{value.found}, at most {asked.max_tokens} tokens)"
        return _payload([*opening, *trace, *map(_line, items), footer], value)

    return fitted([_hit(h, asked.explain) for h in answer.hits], build, _cut, asked.max_tokens)[0]


def list_(desk: Desk, asked: v.List) -> Payload:
    """List memories, newest first, a page at a time; long texts are shown by their beginning (memory_read
    shows the whole). `retired` also shows what is over."""
    memory, limit = desk.bound(asked), asked.limit
    most = min(_PREVIEW, asked.max_tokens // 2)
    while True:
        page = memory.list(
            asked.type, metadata=asked.metadata, include_superseded=asked.retired, limit=limit,
            page=asked.page,
        )  # fmt: skip
        value = v.Listed(
            items=[_preview(_item(n, known=asked.retired), most) for n in page.items], next=page.next
        )
        more = [f"(more: page {page.next})"] if page.next else []
        payload = _payload([*(map(_line, value.items) if value.items else ["nothing here"]), *more], value)
        if size(payload) <= asked.max_tokens:
            return payload
        if limit == 1:
            raise InvalidInput(f"max_tokens is too small for one item; it takes {size(payload)}")
        limit = max(1, limit * 3 // 4)


def read(desk: Desk, asked: v.Read) -> Payload:
    """Read one memory whole; `history` adds every belief ever held in it, `explain` the verbatim words that
    it rests on."""
    memory = desk.bound(asked)
    first = _item(memory.get(asked.id, exact=asked.exact), known=True)
    beside = [
        *([_version(x) for x in memory.history(asked.id)] if asked.history else []),
        *([_evidence(r) for r in memory.why(asked.id).reasons] if asked.explain else []),
    ]
    told = len(beside)

    def build(items: Sequence[v.Item]) -> Payload:
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
    """Change a memory. By default the old version was true until now (or valid_from); with `was_wrong` it was
    never true. Nothing is lost: earlier moments still show the old one."""
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
    """End a memory: no longer true from now (or `when`) on. Nothing is erased."""
    done = desk.bound(asked).retire(asked.id, asked.when, reason=asked.reason)
    return _written(done, "retired")


def retire_all(desk: Desk, asked: v.RetireAll) -> Payload:
    """End every memory of a scope, or only those of a type or with certain labels. Needs a scope. Nothing is
    erased; earlier moments still show them."""
    memory = desk.bound(asked)
    if not memory._h.scope.bound():
        raise Refused("name whose memories: user, agent, app or run; a whole store is never retired at once")
    found = _all_ids(memory, (asked.type,) if asked.type else _EVERYTHING, asked.metadata)
    return _retired(memory, found, asked.when, asked.reason, dry_run=asked.dry_run)


def purge_scope(desk: Desk, asked: v.PurgeScope) -> Payload:
    """End everything in one scope, for example when a user leaves. `confirm` must repeat the scope's name.
    It retires and never erases: earlier moments still show what was there."""
    if asked.confirm != asked.name:
        raise Refused(
            f"not confirmed: to end everything of {asked.kind} {asked.name!r}, `confirm` must be "
            f"exactly {asked.name!r}"
        )
    if f"{asked.kind}:{asked.name}" not in _scope_names(desk.memory):
        raise Refused(f"there is no {asked.kind} {asked.name!r}; memory_list_scopes lists them")
    memory = desk.memory.scoped(**{asked.kind: asked.name})
    reason = asked.reason or "its scope was purged"
    return _retired(memory, _all_ids(memory, _EVERYTHING, {}), None, reason)


def forget(desk: Desk, asked: v.Forget) -> Payload:
    """Erase memories for good, with all that was derived from them alone; nothing brings them back. For what is
    over or wrong use memory_retire or memory_amend. Without `confirm` it only counts: tell the user first."""
    memory = desk.bound(asked)
    scope = memory._h.scope
    if not (asked.ids or scope.bound()):
        raise Refused("name the memories, or whose: user, agent, app or run; a whole store is never erased at once")
    chosen = {"scope": None if asked.ids else scope, "before": asked.before, "by": "agent"}
    wanted = asked.confirm == "erase"
    done = memory.forget(asked.ids or None, **chosen, confirm=wanted, dry_run=not wanted)
    value = v.Erased(
        memories=done.memories, facts=done.facts, derived=done.derived, entities=done.entities, erased=wanted
    )
    told = "erased for good" if wanted else "would be erased; nothing was erased yet"
    return _payload([f"{done.memories} memories and {done.facts} facts {told}"], value)


def list_scopes(desk: Desk, asked: v.ListScopes) -> Payload:
    """List the users, agents, apps and runs that have memories."""
    names = sorted(n for n in _scope_names(desk.memory) if asked.kind in (None, n.partition(":")[0]))
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


def link(desk: Desk, asked: v.Link) -> Payload:
    """Join two memories. `supersedes` ends the target; `contradicts` keeps both and shows the conflict."""
    done = desk.bound(asked).link(asked.src, asked.type, asked.dst, valid_from=asked.valid_from)
    return _written(done, "linked")


def walk(desk: Desk, asked: v.Walk) -> Payload:
    """Show what lies around a memory: neighbours and the edges between them."""
    found = desk.bound(asked).walk(asked.id, *asked.types, way=asked.way, depth=asked.depth)
    ids = {node.lineage: node.id[:_DIGITS] for node in found.nodes}
    joined = [
        v.Joined(src=ids[e.src], type=render.relation(e), dst=ids[e.dst])
        for e in found.edges
        if e.src in ids and e.dst in ids
    ]

    def build(items: Sequence[v.Item]) -> Payload:
        here = {item.id for item in items}
        edges = [edge for edge in joined if edge.src in here and edge.dst in here]
        value = v.Around(items=list(items), edges=edges, left_out=len(found.nodes) - len(items))
        return _payload([*map(_line, items), *(f"{e.src} -{e.type}-> {e.dst}" for e in edges)], value)

    items = [_preview(_item(node)) for node in found.nodes]
    return fitted(items, build, _cut, asked.max_tokens)[0]


def timeline(desk: Desk, asked: v.Timeline) -> Payload:
    """What happened about a topic, in order, with dates."""
    found = desk.bound(asked).timeline(asked.topic, asked.start, asked.end, limit=asked.limit)
    items = [_preview(_moment(entry)) for entry in found]

    def build(chosen: Sequence[v.Item]) -> Payload:
        value = v.Around(items=list(chosen), left_out=len(items) - len(chosen))
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
    value = v.Written(
        id=done.id[:_DIGITS] if done.id else None,
        changed=done.changed,
        changes=list(done.changes[:_SHOWN_IDS]),
        proposals=[id_[:_DIGITS] for id_ in done.proposals],
        redacted=list(done.redacted),
        known_at=_iso(done.known_at) if done.changed else None,
    )
    state = verb if done.changed else "was so already; nothing changed"
    told = [f"merge proposal {id_}: somebody should decide it" for id_ in value.proposals]
    hidden = [f"redacted: {', '.join(value.redacted)}"] if value.redacted else []
    facts = [f"  {change}" for change in value.changes if ": " in change]
    return _payload([f"{state}: {value.id}" if value.id else state, *facts, *told, *hidden], value)


def _retired(
    memory: Memory, ids: Sequence[str], when: str | None, reason: str | None, *, dry_run: bool = False
) -> Payload:
    """All of them or none, as one changeset, which one undo takes back."""
    done = memory.retire(list(ids), when, reason=reason, dry_run=dry_run).ids if ids else ()
    value = v.Retired(count=len(done), ids=[id_[:_DIGITS] for id_ in done[:_SHOWN_IDS]], dry_run=dry_run)
    return _payload([f"{'would retire' if dry_run else 'retired'} {value.count} memories"], value)


def _all_ids(memory: Memory, types: Iterable[str | None], metadata: dict[str, Any]) -> list[str]:
    """Every visible memory, gathered before the first one is ended."""
    found: dict[str, None] = {}
    for type_ in types:
        page: str | None = None
        while True:
            listed = memory.list(type_, metadata=metadata, limit=1000, page=page)
            found |= dict.fromkeys(node.lineage for node in listed.items)
            page = listed.next
            if page is None:
                break
    return list(found)


def _scope_names(memory: Memory) -> set[str]:
    """`kind:name` of every scope."""
    names: set[str] = set()
    page: str | None = None
    while True:
        listed = memory.list("Scope", limit=1000, page=page)
        names |= {node.name for node in listed.items if ":" in node.name}
        page = listed.next
        if page is None:
            return names


def _item(node: Node, *, known: bool = False) -> v.Item:
    spoken = node.type == "Turn"
    return v.Item(
        id=node.id[:_DIGITS],
        type=node.type,
        name="" if spoken or node.type == "Fact" else node.name,
        speaker=node.name if spoken else "",
        text=node.content,
        valid_from=_iso(node.valid.start, node.precision),
        valid_to=_iso(node.valid.end, render.of_end(node.valid, node.precision)),
        known_from=_iso(node.known.start) if known else None,
        known_to=_iso(node.known.end) if known else None,
        status=node.status,
        notes=list(node.notes),
        metadata=node.metadata,
    )


def _hit(hit: Hit, explain: bool) -> v.Item:
    item = _item(hit.node)
    item.said_at = None if hit.said_at is None else show(hit.said_at, hit.utc_offset)
    item.speaker = hit.speaker or item.speaker
    if explain:
        item.score = round(hit.score, 3)
        item.lanes = hit.lanes
        item.factors = {name: round(given, 3) for name, given in hit.factors.items() if abs(given) >= 0.001}
    return item


def _version(version: Any) -> v.Item:
    item = _item(version.node, known=True)
    item.change = version.change
    return item


def _evidence(reason: Reason) -> v.Item:
    item = _item(reason.node)
    item.change = reason.via
    if reason.span:
        item.text = reason.node.content[slice(*reason.span)]
    return item


def _moment(entry: Dated) -> v.Item:
    item = _item(entry.node)
    item.said_at = _iso(entry.at)
    return item


def _line(item: v.Item) -> str:
    """An item on one line, or as many as its text has."""
    when = (item.said_at or item.valid_from or "")[:16].replace("T", " ")
    until = f" to {item.valid_to[:10]}" if item.valid_to else ""
    who = f"{speaker(item.speaker)}: " if item.speaker else f"{inert(item.name, ' ')}: " if item.name else ""
    status = f" ({item.status})" if item.status != "believed" else ""
    notes = "".join(f"\n  ! {inert(note, ' ')}" for note in item.notes)
    return f"[{item.id}] {item.type} {when}{until}{status} {who}{inert(item.text)}{notes}"


def _preview(item: v.Item, most: int = _PREVIEW) -> v.Item:
    item.text = item.text if len(item.text) <= most else item.text[: most - 2].rstrip() + " …"
    return item


def _cut(item: v.Item, room: int) -> v.Item:
    return replace(item, text=item.text[: room // 2].rstrip() + " …", notes=[], metadata={})


def _title(content: str) -> str:
    first = content.strip().partition("\n")[0].strip() or "note"
    return first if len(first) <= _NAME else first[: _NAME - 2].rstrip() + " …"


def _iso(at: Instant, precision: str | None = None) -> str | None:
    if at >= LATEST or at <= EARLIEST:
        return None
    return calendar(at, precision) if precision and precision not in EXACT else show(at)


CORE = (
    Tool("memory_write", "Remember something", v.Write, v.Written, write),
    Tool("memory_recall", "Ask the memory", v.Recall, v.Found, recall, read_only=True),
    Tool("memory_list", "List memories", v.List, v.Listed, list_, read_only=True),
    Tool("memory_read", "Read a memory", v.Read, v.Whole, read, read_only=True),
    Tool("memory_amend", "Change a memory", v.Amend, v.Written, amend, destructive=True),
    Tool("memory_retire", "End a memory", v.Retire, v.Written, retire, destructive=True),
    Tool("memory_retire_all", "End many memories", v.RetireAll, v.Retired, retire_all, destructive=True),
    Tool("memory_purge_scope", "End a whole scope", v.PurgeScope, v.Retired, purge_scope, destructive=True),
    Tool("memory_list_scopes", "List scopes", v.ListScopes, v.Scopes, list_scopes, read_only=True),
)
MORE = (
    Tool("memory_forget", "Erase for good", v.Forget, v.Erased, forget, destructive=True),
    Tool("memory_link", "Join two memories", v.Link, v.Written, link),
    Tool("memory_walk", "Look around a memory", v.Walk, v.Around, walk, read_only=True),
    Tool("memory_timeline", "What happened when", v.Timeline, v.Around, timeline, read_only=True),
    Tool("memory_feedback", "Was it useful?", v.Feedback, v.Written, feedback),
    Tool("memory_merges", "Merge proposals", v.Merges, v.Proposals, merges, idempotent=True),
)
SETS = {"core": CORE, "full": CORE + MORE}
