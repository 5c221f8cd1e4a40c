"""Absorbing another memory, straight through: read it, see that it fits, join it in batches, tell.

    path or Memory → lines → Copy → types known? → changesets → Absorbed

The other store is only read. What both hold is one; known times are those of this store, with the
origin's beside them; what was given up there arrives as history. Nothing that is believed here is
closed: handlers may veto an edge, what they once did at the origin comes over as rows, and what does not go together
becomes contradicts edges, merge proposals, or a difference that is told. A batch is one changeset; after a crash the
next run goes on, because it joins only what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from worldline.clock import FOREVER, NOW, Instant, Interval
from worldline.errors import NotFound, Refused
from worldline.exchange import exporters, restore
from worldline.exchange.formats import Bad, Imported, Record
from worldline.exchange.restore import Copy, Line, ToldRow
from worldline.handle import Handle
from worldline.hashing import edge_id
from worldline.model import EdgeDraft, Propose, Receipt, Refuse, Scope
from worldline.ports import View
from worldline.rules import handlers
from worldline.store import copying, erasing, people, registry
from worldline.store.copying import SIDE, HeldRow
from worldline.store.erasing import mark_of
from worldline.store.registry import set_key
from worldline.store.slots import holds_one
from worldline.store.sqlite import reading_only
from worldline.store.tx import Tx
from worldline.write.given import propose_alike

Progress: TypeAlias = Callable[[str, int], None]
_GIVEN_UP = ("given up here, believed there", "believed here, given up there")
BATCH = 2000
"""So many memories or edges are one changeset."""


class Absorbed(Struct, frozen=True):
    """What absorbing another memory did."""

    store: str
    """The hash of the other store's whole memory."""
    memories: int = 0
    """Versions that are new here."""
    same: int = 0
    """Versions that were here already."""
    beliefs: int = 0
    edges: int = 0
    contradictions: int = 0
    """Contradicts edges that were added, because both sides cannot hold."""
    differences: tuple[Bad, ...] = ()
    """What was left as it is here, although the other memory says otherwise."""
    skipped: tuple[Bad, ...] = ()
    receipt: Receipt = Receipt("absorb", None, False, 0)
    """For `undo`; its proposals are the merges that somebody should decide."""

    @property
    def changed(self) -> bool:
        return self.receipt.changed


class _Run(Struct):
    """The changesets of one absorption."""

    handle: Handle
    dry_run: bool
    progress: Progress
    stamps: list[Instant] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)
    indexed: list[int] = field(default_factory=list)

    def whole(self) -> AbstractContextManager[object]:
        """A dry run is one transaction that is not kept."""
        return self.handle.writing(keep=False) if self.dry_run else nullcontext()

    @contextmanager
    def changeset(self) -> Iterator[Tx]:
        """One batch: everything in it, or nothing."""
        with nullcontext() if self.dry_run else self.handle.writing():
            tx = self.handle._begin(False)
            yield tx
            tx.finish("absorb")
        if not tx.ledger.empty:
            self.stamps.append(tx.stamp)
            self.proposed += tx.proposed
            self.indexed += tx.indexed_nodes


def absorb(
    handle: Handle,
    other: Handle | str | Path,
    *,
    tenant: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Absorbed:
    """Unions another memory into this one; absorbing the same again changes nothing."""
    restore.require_whole(handle)
    if handle.agent:
        raise Refused("agents cannot absorb a memory; an operator does")
    with _opened(handle, other, tenant) as origin:
        _require_another(handle, origin)
        copy = _told_by(origin, handle, progress)
    return _join(handle, copy, dry_run, progress)


def put_back(
    handle: Handle,
    records: Iterable[Record | Bad],
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """An exported memory: restored as it was in an empty store, absorbed where other memories are."""
    restore.require_whole(handle)
    rest = iter(records)
    head = next(rest, None)
    if isinstance(head, Record) and restore.fits_exactly(head):
        rows = restore.gathered_rows(head, rest)
        if restore.is_empty(handle) and (done := restore.restore_exactly(handle, rows, dry_run=dry_run)):
            return done
        with restore.aside(handle, rows) as origin:
            copy = _told_by(origin, handle, progress, rows.others)
    else:
        copy = restore.gathered(rest if head is None else (head, *rest), plain=handle.config.redact)
    if restore.is_empty(handle):
        return restore.restore(handle, copy, dry_run=dry_run)
    joined = _join(handle, copy, dry_run, progress)
    return Imported("worldline", joined.memories, joined.same, joined.skipped, dry_run)


# The other memory ----------------------------------------------------------------------------------


@contextmanager
def _opened(handle: Handle, other: Handle | str | Path, tenant: str | None) -> Iterator[Handle]:
    if isinstance(other, Handle):
        if other.moment != NOW:
            raise Refused("that handle looks at another moment; absorb the one that it was made from")
        yield other if tenant is None else replace(other, tenant=tenant)
        return
    with reading_only(other, handle.config) as store:
        wanted = handle.tenant if tenant is None else tenant
        names = store.tenants()
        if names and wanted not in names:
            raise NotFound(f"{store.path} has no tenant {wanted!r}; it has: {', '.join(map(repr, names))}")
        yield Handle(store, handle.config, handle.clock, wanted, handle.types)


def _require_another(handle: Handle, origin: Handle) -> None:
    mine, other = handle.store, origin.store
    same = mine is other
    if not (mine.in_memory or other.in_memory):
        same = same or Path(mine.path).resolve() == Path(other.path).resolve()
    if same and handle.tenant == origin.tenant:
        raise Refused("that is this very memory; absorb another one")


def _told_by(
    origin: Handle, handle: Handle, progress: Progress | None, others: Iterable[Record | Bad] = ()
) -> Copy:
    """All that another memory tells, and these."""

    def records(view: View) -> Iterator[Record | Bad]:
        for number, line in enumerate(exporters.told_lines(view), 1):
            if progress is not None and number % BATCH == 0:
                progress("reading", number)
            yield Record(f"{line['kind']} {str(line.get('id') or line.get('of') or '')[:12]}".rstrip(), line)
        yield from others

    return origin.read(lambda view: restore.gathered(records(view), plain=handle.config.redact))


# Joining -------------------------------------------------------------------------------------------


def _join(handle: Handle, copy: Copy, dry_run: bool, progress: Progress | None) -> Absorbed:
    union = Union(copy)
    same = handle.read(lambda view: _already_here(handle, union, view))
    gather(union)
    run = _Run(handle, dry_run, progress or (lambda stage, done: None))
    if copy.lines["node"]:
        with run.whole():
            _check_types(handle, copy, run)
            _memories(run, union)
            _edges(run, union)
            with run.changeset() as tx:
                for position, line in copy.lines["merge"]:
                    with restore.guarded(copy, position):
                        join_merge(tx, union, line)
        if run.indexed and not dry_run:
            handle._follow_up(run.indexed)
    stamps = run.stamps[::-1]
    counts = ((union.memories, "memories"), (union.beliefs, "beliefs"), (union.edges, "edges"))
    receipt = Receipt(
        "absorb", None, bool(stamps), stamps[0] if stamps else handle.now(),
        tuple(f"{count:,} {what}" for count, what in counts if count),
        tuple(dict.fromkeys(run.proposed)), dry_run=dry_run, also=tuple(stamps[1:]),
    )  # fmt: skip
    return Absorbed(
        copy.root.hex(), union.memories, same, union.beliefs, union.edges, union.contradictions,
        tuple(union.differences), tuple(copy.skipped), receipt,
    )  # fmt: skip


def _already_here(handle: Handle, union: Union, view: View) -> int:
    """How many versions are here already; from now on the union knows them, and what was forgotten here is left out."""
    types = {line["id"]: line["type"] for _, line in union.copy.lines["node"]}
    found = copying.stored_among(handle.store, handle.tenant_row()[0], types)
    for id_, (key, home) in found.items():
        union.copy.keys[id_], union.home[key] = key, home
    gone = erasing.tombs(view.store.query, view.tenant)
    union.wordless = set(gone.payloads)
    for id_ in leave_out(union.copy, gone.told):
        union.copy.skip(id_[:12], "it was forgotten here")
    return sum(types[id_] != "Scope" for id_ in found)


def _check_types(handle: Handle, copy: Copy, run: _Run) -> None:
    """Refuses, before anything is written, what this store's ontology does not know."""
    versions = {line["name"]: line["version"] for _, line in copy.lines["type"] if line["of"] == "edge"}
    used = {line["type"] for _, line in copy.lines["edge"]}
    restore.require_handlers(used, versions, {name: type_.version for name, type_ in handle.types.items()})
    worlds = {line["id"]: line.get("world") for _, line in copy.lines["node"]}
    own = {
        (line["type"], _nearest(line.get("world"), worlds, copy))
        for _, line in copy.lines["node"]
        if line["type"] not in handlers.NODE_TYPES
    }
    if own:
        with run.changeset() as tx:
            unknown = {
                type_ for type_, world in own if type_ not in registry.node_types(tx, world, agent=False)
            }
        restore.require_types(unknown)


def _nearest(world: str | None, worlds: dict[str, str | None], copy: Copy) -> int:
    """The innermost world around a memory that is here already; 0 for the root."""
    while world is not None and world not in copy.keys:
        world = worlds.get(world)
    return copy.keys[world] if world is not None else 0


def _memories(run: _Run, union: Union) -> None:
    copy = union.copy
    for done, batch in _batches(copy.lines["node"]):
        with run.changeset() as tx:
            restore.scope_sets(tx, copy)
            for position, line in batch:
                with restore.guarded(copy, position):
                    join_memory(tx, union, line)
        run.progress("memories", done)
    with run.changeset() as tx:
        for position, line in copy.lines["type"]:
            with restore.guarded(copy, position):
                join_predicate(tx, union, line)


def _edges(run: _Run, union: Union) -> None:
    copy, moves = union.copy, list[tuple[str, restore.Line]]()
    for done, batch in _batches(copy.lines["edge"]):
        with run.changeset() as tx:
            for position, line in batch:
                with restore.guarded(copy, position):
                    if join_edge(tx, union, line):
                        moves.append((position, line))
        run.progress("edges", done)
    for position, line in moves:
        with run.changeset() as tx, restore.guarded(copy, position):
            move(tx, union, line)


def _batches(lines: Sequence[Any]) -> Iterator[tuple[int, list[Any]]]:
    rest, done = iter(lines), 0
    while batch := list(islice(rest, BATCH)):
        done += len(batch)
        yield done, batch


class Union(Struct):
    """The other memory, and how far its union with this one has come."""

    copy: Copy
    home: dict[int, int] = field(default_factory=dict)
    """The lineage that each version has here."""
    born: set[int] = field(default_factory=set)
    """Versions that this union has put."""
    wordless: set[int] = field(default_factory=set)
    """Versions that are here without their words, because those were forgotten."""
    linked: set[tuple[int, str, int]] = field(default_factory=set)
    grouped: dict[str, dict[str, list[Line]]] = field(default_factory=dict)
    versions: dict[str, list[str]] = field(default_factory=dict)
    """The versions of each lineage there, in their order."""
    believed: set[str] = field(default_factory=set)
    """Ids that the other store believes now."""
    placed: set[int] = field(default_factory=set)
    """Contains edges that came with their children, by their row there."""
    differences: list[Bad] = field(default_factory=list)
    memories: int = 0
    beliefs: int = 0
    edges: int = 0
    contradictions: int = 0

    def of(self, kind: str, id_: str) -> Sequence[Line]:
        return self.grouped[kind].get(id_, ())

    def differ(self, id_: str, why: str) -> None:
        self.differences.append(Bad(id_[:12], why))

    def line(self, id_: str) -> int:
        """The lineage here of a memory there."""
        return self.home[self.copy.keys[id_]]


def gather(union: Union) -> None:
    """Groups what the other memory tells, before anything of it is joined."""
    copy = union.copy
    keys = {"alias": "of", "wordings": "of", "blocks": "of", "metadata": "of", "belief": "of", "edge": "dst"}
    for kind, key in keys.items():
        groups = union.grouped[kind] = defaultdict(list)
        for _, line in copy.lines[kind]:
            if kind != "edge" or line["type"] == "contains":
                groups[line[key]].append(line)
    union.believed = {line["of"] for _, line in copy.lines["belief"] if line["known"][1] is None}
    copy.lineages = {line["id"]: line["lineage"] for _, line in copy.lines["node"]}
    for id_, lineage in copy.lineages.items():
        union.versions.setdefault(lineage, []).append(id_)


# Memories ------------------------------------------------------------------------------------------


def join_memory(tx: Tx, union: Union, line: Line) -> None:
    """A version with its names, notes and beliefs."""
    copy, id_ = union.copy, line["id"]
    if line["type"] == "Scope":
        if found := tx.find(bytes.fromhex(id_)):
            copy.keys[id_], union.home[found[0]] = found
        return
    if id_ not in copy.keys:
        _put(tx, union, line)
    elif copy.keys[id_] in union.wordless:
        restore.write_again(tx, copy, line, copy.keys[id_])
    key = copy.keys[id_]
    names = _aliases(tx, union, line, key)
    _notes(tx, union, line, key)
    _beliefs(tx, union, line, key)
    if line["type"] == "Entity" and key in union.born:
        for name, scope in names:
            _propose(tx, union, key, name, scope)


def _put(tx: Tx, union: Union, line: Line) -> None:
    copy, id_ = union.copy, line["id"]
    lineage = 0 if line["lineage"] == id_ else _lineage(tx, union, line)
    former = tx.worlds.heads.get(lineage)
    key, home = restore.put_version(tx, copy, line, lineage, place=False)
    if former is not None:  # of several new versions each but the last is a former one
        tx.worlds.add(lineage, tx.id_of(former))
    union.home[key] = home
    union.born.add(key)
    union.memories += 1
    if home == key:
        _place(tx, union, id_, key)


def _lineage(tx: Tx, union: Union, line: Line) -> int:
    """The lineage that a new version joins; 0 where this store believes something else of its time."""
    first = union.copy.keys[line["lineage"]]
    home = union.home[first]
    keys = [union.copy.keys[id_] for id_ in union.versions[line["lineage"]] if id_ in union.copy.keys]
    apart = [union.home[key] for key in keys if union.home[key] != home]
    if apart:
        return apart[0]
    for belief in union.of("belief", line["id"]):
        row = restore.told(belief, union.copy.root)
        if row.current and _unlike(tx, union, belief, row, home):
            return 0
    return home


def _unlike(tx: Tx, union: Union, belief: Line, row: ToldRow, home: int) -> bool:
    """Whether another version is believed here of the same time, which the other store does not believe."""
    scope = union.copy.scope(belief)
    for own in copying.held_beliefs(tx, home):
        theirs = [restore.told(b, union.copy.root) for b in union.of("belief", own.id)]
        shared = any(t.current and t.valid == own.valid and t.marks & own.marks for t in theirs)
        same = union.copy.keys.get(belief["of"]) == own.node
        if own.scope == scope and not same and not shared and restore.rivals(row, [own]):
            return True
    return False


def _place(tx: Tx, union: Union, id_: str, key: int) -> None:
    """A new lineage lies where the other store has it, if that world is here already."""
    for line in union.of("edge", id_):
        if line["src"] not in union.copy.keys:
            continue
        src, row = union.line(line["src"]), restore.told(line, union.copy.root)
        if row.current and row.valid.end == FOREVER:
            draft = EdgeDraft(src, "contains", key, row.valid)
            if any(isinstance(op, Refuse) for op in tx.types["contains"].on_insert(draft, tx)):
                continue
            tx.lies_in(key, src)
        union.placed.add(line["row"])
        _add_edge(tx, union, line, row, (src, key))


def _aliases(tx: Tx, union: Union, line: Line, key: int) -> list[tuple[str, int]]:
    """The names that are new here, with their scopes."""
    wanted = union.of("alias", line["id"])
    home, new = union.home[key], list[tuple[str, int]]()
    there = copying.names_here(tx, home) if wanted and key not in union.born else set()
    for alias in wanted:
        scope = union.copy.scope(alias)
        if (alias["key"], alias["name"], scope) not in there:
            tx.add("aliases", alias["key"], alias["name"], home, scope)
            new.append((alias["name"], scope))
    for table in SIDE:
        for side in union.of(table, line["id"]):
            restore.put_aside(tx, table, side, home)
    return new


def _notes(tx: Tx, union: Union, line: Line, key: int) -> None:
    """What each scope has noted beside it; what this store noted itself stays."""
    noted = [(union.copy.scope(n), n["metadata"]) for n in union.of("metadata", line["id"])]
    if line.get("metadata") and key not in union.born:
        noted.append((union.copy.scope(line), line["metadata"]))
    for scope, metadata in noted:
        restore.note_beside(tx, line, key, scope, metadata)


def _beliefs(tx: Tx, union: Union, line: Line, key: int) -> None:
    wanted = union.of("belief", line["id"])
    home = union.home[key]
    here = [] if key in union.born else [own for own in copying.held_beliefs(tx, home) if own.node == key]
    scopes = {own.scope for own in here}
    for belief in wanted:
        scope, row = union.copy.scope(belief), restore.told(belief, union.copy.root)
        verdict, own = restore.judge(row, [h for h in here if h.scope == scope])
        if verdict == "known" and own is not None:
            if own.current != row.current:
                union.differ(line["id"], _GIVEN_UP[own.current])
            continue
        if own:
            restore.note_origin(tx, "beliefs", own.row, row)
            continue
        number = restore.put_belief(tx, union.copy, belief, (home, key, line["type"]))
        scopes.add(scope)
        union.beliefs += 1
        if row.current:
            tx.wake(home)
            _beside_others(tx, union, line, belief, row)
        else:
            tx.end_row("beliefs", number)
    if len(scopes) > 1 and (key in union.born or scopes - {own.scope for own in here}):
        tx.reindex_shared([key])  # the words are found from every scope that believes them


# Differences ---------------------------------------------------------------------------------------


def _beside_others(tx: Tx, union: Union, line: Line, belief: Line, row: ToldRow) -> None:
    """A belief that is new here, beside what is believed here already."""
    key = union.copy.keys[line["id"]]
    if line["type"] == "Fact":
        _against_facts(tx, union, line["id"], belief, row)
    elif line["lineage"] != line["id"] and union.home[key] != union.line(line["lineage"]) and row.rank:
        scope = union.copy.scope(belief)
        _contradict(tx, union, (union.home[key], union.line(line["lineage"])), row.valid.start, scope)
    elif key not in union.born and _unlike(tx, union, belief, row, union.home[key]):
        union.differ(line["id"], "believed there; here another version holds at that time")


def _against_facts(tx: Tx, union: Union, id_: str, belief: Line, row: ToldRow) -> None:
    """Another object in a slot that holds one at a time contradicts; nothing is closed."""
    key, fact = union.copy.keys[id_], union.copy.facts.get(id_)
    if fact is None or not row.rank:
        return
    subject, scope = union.copy.keys[fact["subject"]], union.copy.scope(belief)
    slot = fact["values"]["predicate"]
    others = [
        other
        for other in tx.slot(subject, slot, scope, key)
        if other.node != key
        and other.belief.status != "quarantined"
        and other.belief.valid.overlaps(row.valid)
    ]
    if not others:
        return
    one = bool(fact["values"]["one"]) or registry.predicate(tx, slot, tx.world_of(key)).functional
    objects = tx.same_as(union.copy.keys[fact["object"]]) if fact.get("object") else []
    for other in others:
        theirs = tx.id_of(other.node).hex() in union.believed
        if not theirs and other.object not in objects and (one or holds_one(tx, other.node)):
            start = max(row.valid.start, other.belief.valid.start)
            _contradict(tx, union, (key, other.node), start, scope)


def _contradict(tx: Tx, union: Union, pair: tuple[int, int], start: int, scope: int) -> None:
    a, b = sorted(pair, key=tx.id_of)
    if a != b and not copying.is_contradicted(tx, a, b, scope):
        tx.link(EdgeDraft(a, "contradicts", b, Interval(start), scope))
        union.contradictions += 1
        union.linked.add((a, "contradicts", b))


def _propose(tx: Tx, union: Union, key: int, name: str, scope: int) -> None:
    """Names here that the other store does not know, and that may mean the same, are proposed."""
    tx.scope_id = scope
    known = union.home
    propose_alike(tx, key, name, scope, known)
    for line in people.namesakes(tx, key, scope):
        if line not in known:
            tx.propose(Propose(line, key, "exact", 1.0, f"{name!r} is a name of both"))


# Edges ---------------------------------------------------------------------------------------------


def join_edge(tx: Tx, union: Union, line: Line) -> bool:
    """An edge as rows; whether it is a move to another world, which is a changeset of its own."""
    if line["row"] in union.placed:
        return False
    ends, row = _ends(tx, union, line), restore.told(line, union.copy.root)
    scope = union.copy.scope(line)
    here = _held_edges(tx, union, ends, line["type"])
    mine = [own for own in here if own.scope == scope or line["type"] == "contains"]
    verdict, own = restore.judge(row, mine, at_once=tx.types[line["type"]].versions)
    if own is not None:
        if verdict != "known":
            restore.note_origin(tx, "edges", own.row, row)
        return False
    if verdict == "new" and not _may_stand(tx, union, line, ends, row):
        return False
    if verdict == "new" and line["type"] == "contains" and row.valid.end == FOREVER:
        return True
    _add_edge(tx, union, line, row, ends, first=not here)
    return False


def move(tx: Tx, union: Union, line: Line) -> None:
    """What lies in no world here goes into the one that the other store has it in."""
    (src, dst), row = _ends(tx, union, line), restore.told(line, union.copy.root)
    if _may_stand(tx, union, line, (src, dst), row):
        tx.worlds.move(dst, tx.world_of(dst), src)
        tx.lies_in(dst, src)
        _add_edge(tx, union, line, row, (src, dst))


def _ends(tx: Tx, union: Union, line: Line) -> tuple[int, int]:
    """The ends here: lineages, where the other store joins lineages; else versions."""
    keys, lineages = union.copy.keys, union.copy.lineages
    if tx.types[line["type"]].versions:
        return keys[line["src"]], keys[line["dst"]]
    src, dst = (
        union.home[keys[end]] if lineages.get(end, end) == end else keys[end]
        for end in (line["src"], line["dst"])
    )
    return src, dst


def _held_edges(tx: Tx, union: Union, ends: tuple[int, int], type_: str) -> list[HeldRow]:
    triple = ends[0], type_, ends[1]
    if triple not in union.linked and (ends[0] in union.born or ends[1] in union.born):
        return []
    return copying.held_edges(tx, *triple)


def _may_stand(tx: Tx, union: Union, line: Line, ends: tuple[int, int], row: ToldRow) -> bool:
    """Whether an edge can stand beside what is here; if not, that is told."""
    (src, dst), scope, type_ = ends, union.copy.scope(line), line["type"]
    if src == dst:
        return False
    if type_ == "same_as":
        return _may_merge(tx, union, line, ends)
    if type_ == "supersedes":
        if not any(b.valid.start < row.valid.start < b.valid.end for b in tx.held_in(dst, scope)):
            return True
        # what is still believed here is contradicted by what replaced it there, not closed
        _contradict(tx, union, (union.home[src], union.home[dst]), row.valid.start, scope)
        return False
    if type_ == "contains":
        if any(own.overlaps(row.valid) for own in copying.contained_when(tx, dst)):
            union.differ(line["dst"], "it lies in another world here")
            return False
        if row.valid.end != FOREVER:
            return True
    draft = EdgeDraft(src, type_, dst, row.valid, scope, line.get("metadata") or {}, made=line.get("made"))
    refused = [op.reason for op in tx.types[type_].on_insert(draft, tx) if isinstance(op, Refuse)]
    if refused:
        union.differ(line["id"], f"its {type_} edge cannot stand here: {refused[0]}")
    return not refused


def _may_merge(tx: Tx, union: Union, line: Line, ends: tuple[int, int]) -> bool:
    """A decision of this store stands; two that it has both known by itself are proposed only."""
    a, b = sorted(ends)
    scope = union.copy.scope(line)
    status = people.merge_status(tx, a, b, scope)
    if status:
        if status != "accepted":
            union.differ(line["src"], f"one and the same there; that merge is {status} here")
        return status == "accepted"
    if any(copying.first_told_by(tx, line) in ("", "absorb", "import") for line in ends):
        return True  # this store did not know both before another one told it
    tx.scope_id = scope
    tx.propose(Propose(a, b, reason="one and the same in the memory that was absorbed"))
    return False


def _add_edge(
    tx: Tx, union: Union, line: Line, row: ToldRow, ends: tuple[int, int], *, first: bool = True
) -> None:
    (src, dst), type_ = ends, line["type"]
    world = src if type_ == "contains" else tx.owning_world(src, type_, dst)
    number = restore.put_edge(tx, union.copy, line, ends, world)
    if not row.current:
        tx.end_row("edges", number)
    if type_ != "contains" and first and not tx.is_counted(src, type_, dst):
        tx.worlds.add(world, edge_id(tx.id_of(src), type_, tx.id_of(dst)))
    union.linked.add((src, type_, dst))
    union.edges += 1


# Merges and types ----------------------------------------------------------------------------------


def join_merge(tx: Tx, union: Union, line: Line) -> None:
    """A staged or decided merge, where nobody has staged or decided it here."""
    if line["known"][1] is not None:
        return
    a, b = sorted((union.line(line["a"]), union.line(line["b"])))
    scope = union.copy.scope(line)
    if a == b or people.merge_status(tx, a, b, scope):
        return
    tx.scope_id = scope
    tx.add_proposal(
        tx.proposal_id(a, b), a, b, line["status"], line["tier"], line["score"], line.get("reason"), scope
    )


def join_predicate(tx: Tx, union: Union, line: Line) -> None:
    """How a predicate's facts reconcile, where this store has no rule of its own for it."""
    world = union.line(line["world"]) if line.get("world") else 0
    if line["of"] == "predicate" and not registry._here(tx, "predicate", line["name"], world):
        tx.add(
            "ontology", world, "predicate", line["name"], line["version"], line.get("spec"), tx.stamp, FOREVER
        )


# What was forgotten here ---------------------------------------------------------------------------
#
# What of another memory was forgotten here, and is not taken in again.
#
# A tombstone knows the beliefs that it stands for by hashes of what they were about, of whom, and of when they were
# learned, here or in a store that held them before. A memory of which any belief is known by one was forgotten for that
# scope, with all that became of it since. So is what was drawn from it alone. What somebody else knows, or has
# learned by himself, is another memory. A name, a session or a world comes with the first new thing that needs it, a
# fact with a text that is new here and states it too.


Pair = tuple[str, int]
"""A lineage, and the scope set that believes in it, both as the other store has them."""
_FRAMES = ("Entity", "Session", "Scope")


def leave_out(copy: Copy, marks: Collection[bytes]) -> list[str]:
    """Takes out of a copy what was forgotten here; the ids of those memories. `copy.keys` has what is here."""
    sift = _Sift(copy)
    sift.gone = set(sift.pairs_of(marks))
    if not sift.gone:
        return []
    sift.settle()
    sift.carry_out()
    lineages = dict.fromkeys(lineage for lineage, _ in sorted(sift.gone))
    return [lineage for lineage in lineages if sift.types.get(lineage) not in _FRAMES]


class _Sift:
    """The other memory by lineages, and what of it is not to be taken."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        nodes = [line for _, line in copy.lines["node"]]
        self.lineage: dict[str, str] = {line["id"]: line["lineage"] for line in nodes}
        self.types: dict[str, str] = {line["id"]: line["type"] for line in nodes}
        self.gone: set[Pair] = set()
        self.scopes: dict[str, set[int]] = defaultdict(set)
        """Who believes in each lineage."""
        for _, belief in copy.lines["belief"]:
            self.scopes[self.root(belief["of"])].add(_scope(belief))
        self.grounds: dict[Pair, set[str]] = defaultdict(set)
        """What each memory was drawn from."""
        for _, edge in copy.lines["edge"]:
            if edge["type"] == "derived_from":
                self.grounds[self.root(edge["src"]), _scope(edge)].add(self.root(edge["dst"]))
        self.frames: dict[str, set[str]] = defaultdict(set)
        """What each lineage lies in and speaks of."""
        for line in nodes:
            self.frames[line["lineage"]] |= {self.root(line["world"])} if line.get("world") else set()
        for id_, fact in copy.facts.items():
            self.frames[self.root(id_)] |= {
                self.root(fact[end]) for end in ("subject", "object") if fact.get(end)
            }

    def root(self, id_: str) -> str:
        return self.lineage.get(id_, id_)

    def is_here(self, id_: str) -> bool:
        return id_ in self.copy.keys

    def pairs_of(self, marks: Collection[bytes]) -> Iterator[Pair]:
        """Of whom which lineage was forgotten."""
        keys = {
            line["number"]: set_key([Scope(**scope) for scope in line["scopes"]])
            for _, line in self.copy.lines["scope"]
        }
        for _, belief in self.copy.lines["belief"]:
            row, whose = restore.told(belief, self.copy.root), keys.get(_scope(belief), "")
            if any(mark_of(belief["of"], whose, mark) in marks for mark in row.marks):
                yield self.root(belief["of"]), _scope(belief)

    def settle(self) -> None:
        """What comes although it was forgotten, because of something new; and what goes although it was not."""
        self.gone -= {pair for pair in self.gone if self.has_news(*pair)}
        more = self.gone
        while more:
            more = {
                (lineage, scope)
                for (lineage, scope), grounds in self.grounds.items()
                if not self.is_here(lineage) and all((ground, scope) in self.gone for ground in grounds)
            } - self.gone
            self.gone |= more
        needed = [(line, scope) for line, scopes in self.scopes.items() for scope in scopes]
        needed = [pair for pair in needed if pair not in self.gone]
        while needed:
            lineage, scope = needed.pop()
            for frame in self.frames[lineage]:
                if (frame, scope) in self.gone:
                    self.gone.discard((frame, scope))
                    needed.append((frame, scope))

    def has_news(self, lineage: str, scope: int) -> bool:
        """Whether a text states it that is new here."""
        return any(
            not self.is_here(ground) and (ground, scope) not in self.gone
            for ground in self.grounds.get((lineage, scope), ())
        )

    def carry_out(self) -> None:
        """Drops the lines of what is gone, and the words of what is needed all the same."""
        copy = self.copy
        staying = {
            line for line, s in self.scopes.items() if any((line, each) not in self.gone for each in s)
        }
        needed = staying.union(*(self.frames[line] for line in staying))
        lost = self.scopes.keys() - needed
        believed = {b["of"] for _, b in copy.lines["belief"]}
        believed -= {b["of"] for _, b in copy.lines["belief"] if not self.is_gone(b["of"], b)}
        dropped = {id_ for id_ in believed if self.is_here(id_) or id_ not in needed}
        known = {id_ for id_, type_ in self.types.items() if type_ == "Entity" and self.is_here(id_)}
        silent = (believed - dropped) | (known - self.spoken_of(staying))

        def stays(kind: str, line: Line) -> bool:
            if kind in ("worldline", "type", "scope"):
                return True
            if kind in ("node", "event", "fact"):
                return line["id"] not in (dropped if kind == "node" else believed)
            ends = [line[end] for end in ("of", "src", "dst", "a", "b") if end in line]
            if any(self.root(end) in lost or end in dropped for end in ends):
                return False
            if kind in ("alias", *SIDE):
                return line["of"] not in silent and not self.is_gone(line["of"], line)
            is_place = kind == "edge" and line["type"] == "contains"
            return is_place or not any(self.is_gone(end, line) for end in ends)

        for kind, lines in copy.lines.items():
            lines[:] = [(at, self.shorn(kind, line, silent)) for at, line in lines if stays(kind, line)]
        used = {_scope(line) for kind, lines in copy.lines.items() if kind != "scope" for _, line in lines}
        copy.lines["scope"][:] = [(at, line) for at, line in copy.lines["scope"] if line["number"] in used]
        copy.first.clear()
        for _, belief in copy.lines["belief"]:
            copy.first.setdefault(belief["of"], belief)

    def is_gone(self, id_: str, line: Line) -> bool:
        return (self.root(id_), _scope(line)) in self.gone

    def spoken_of(self, staying: Collection[str]) -> set[str]:
        """What new facts speak of, and facts that a new text states."""
        return {
            end
            for line in staying
            if self.types.get(line) == "Fact"
            and (not self.is_here(line) or any(self.has_news(line, scope) for scope in self.scopes[line]))
            for end in self.frames[line]
        }

    def shorn(self, kind: str, line: Line, silent: Collection[str]) -> Line:
        """A memory without the words, and without the notes, that were forgotten."""
        if kind == "node" and line["id"] in silent:
            line = {**line, "name": "", "content": ""}
        if kind == "node" and self.is_gone(line["id"], line):
            line = {name: value for name, value in line.items() if name not in ("metadata", "scope")}
        return line


def _scope(line: Line) -> int:
    return line.get("scope") or 0
