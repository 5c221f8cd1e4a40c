"""Absorbing another memory, straight through: read it, see that it fits, join it in batches, tell.

    path or Memory → lines → Copy → types known? → changesets → Absorbed

The other store is only read. What both hold is one; known times are those of this store, with the
origin's beside them; what was given up there arrives as history. Nothing that is believed here is
closed: what does not go together becomes contradicts edges, merge proposals, or a difference that is
told. A batch is one changeset; after a crash the next run goes on, because it joins only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from worldline.clock import NOW, Instant
from worldline.errors import NotFound, Refused
from worldline.exchange import exact, joining, jsonl, restore
from worldline.exchange.records import Bad, Imported, Record
from worldline.exchange.restore import Copy, guarded, require_handlers, require_types
from worldline.handle import Handle
from worldline.model import Receipt
from worldline.ports import Tx
from worldline.rules import handlers
from worldline.store import copying, registry
from worldline.store.sqlite import reading_only

Progress: TypeAlias = Callable[[str, int], None]
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
        copy = origin.read(
            lambda view: restore.gathered(_records(jsonl.lines(view), progress), plain=handle.config.redact)
        )
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
    if isinstance(head, Record) and exact.fits(head):
        rows = exact.gathered(head, rest)
        if restore.is_empty(handle) and (done := exact.restore(handle, rows, dry_run=dry_run)):
            return done
        with exact.aside(handle, rows) as origin:
            copy = origin.read(
                lambda view: restore.gathered(
                    (*_records(jsonl.lines(view), progress), *rows.others), plain=handle.config.redact
                )
            )
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


def _records(lines: Iterable[dict[str, Any]], progress: Progress | None) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if progress is not None and number % BATCH == 0:
            progress("reading", number)
        yield Record(f"{line['kind']} {str(line.get('id') or line.get('of') or '')[:12]}".rstrip(), line)


# Joining -------------------------------------------------------------------------------------------


def _join(handle: Handle, copy: Copy, dry_run: bool, progress: Progress | None) -> Absorbed:
    union = joining.united(copy)
    same = handle.read(lambda view: _already_here(handle, union))
    run = _Run(handle, dry_run, progress or (lambda stage, done: None))
    if copy.lines["node"]:
        with run.whole():
            _check_types(handle, copy, run)
            _memories(run, union)
            _edges(run, union)
            _merges(run, union)
        if run.indexed and not dry_run:
            handle._follow_up(run.indexed)
    stamps = run.stamps[::-1]
    receipt = Receipt(
        "absorb", None, bool(stamps), stamps[0] if stamps else handle.now(), _told(union),
        tuple(dict.fromkeys(run.proposed)), dry_run=dry_run, also=tuple(stamps[1:]),
    )  # fmt: skip
    return Absorbed(
        copy.root.hex(), union.memories, same, union.beliefs, union.edges, union.contradictions,
        tuple(union.differences), tuple(copy.skipped), receipt,
    )  # fmt: skip


def _told(union: joining.Union) -> tuple[str, ...]:
    counts = ((union.memories, "memories"), (union.beliefs, "beliefs"), (union.edges, "edges"))
    return tuple(f"{count:,} {what}" for count, what in counts if count)


def _already_here(handle: Handle, union: joining.Union) -> int:
    """How many versions are here already; from now on the union knows them."""
    types = {line["id"]: line["type"] for _, line in union.copy.lines["node"]}
    found = copying.stored_among(handle.store, handle.tenant_row()[0], types)
    for id_, (key, home) in found.items():
        union.copy.keys[id_], union.home[key] = key, home
    return sum(types[id_] != "Scope" for id_ in found)


def _check_types(handle: Handle, copy: Copy, run: _Run) -> None:
    """Refuses, before anything is written, what this store's ontology does not know."""
    versions = {line["name"]: line["version"] for _, line in copy.lines["type"] if line["of"] == "edge"}
    used = {line["type"] for _, line in copy.lines["edge"]}
    require_handlers(used, versions, {name: type_.version for name, type_ in handle.types.items()})
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
        require_types(unknown)


def _nearest(world: str | None, worlds: dict[str, str | None], copy: Copy) -> int:
    """The innermost world around a memory that is here already; 0 for the root."""
    while world is not None and world not in copy.keys:
        world = worlds.get(world)
    return copy.keys[world] if world is not None else 0


def _memories(run: _Run, union: joining.Union) -> None:
    copy = union.copy
    for done, batch in _batches(copy.lines["node"]):
        with run.changeset() as tx:
            restore.scope_sets(tx, copy)
            for position, line in batch:
                guarded(copy, position, joining.join_memory, tx, union, line)
        run.progress("memories", done)
    with run.changeset() as tx:
        for position, line in copy.lines["type"]:
            guarded(copy, position, joining.join_predicate, tx, union, line)


def _edges(run: _Run, union: joining.Union) -> None:
    copy, moves = union.copy, list[tuple[str, restore.Line]]()
    for done, batch in _batches(copy.lines["edge"]):
        with run.changeset() as tx:
            for position, line in batch:
                if guarded(copy, position, joining.join_edge, tx, union, line):
                    moves.append((position, line))
        run.progress("edges", done)
    for position, line in moves:
        with run.changeset() as tx:
            guarded(copy, position, joining.move, tx, union, line)


def _merges(run: _Run, union: joining.Union) -> None:
    with run.changeset() as tx:
        for position, line in union.copy.lines["merge"]:
            guarded(union.copy, position, joining.join_merge, tx, union, line)


def _batches(lines: Sequence[Any]) -> Iterator[tuple[int, list[Any]]]:
    rest, done = iter(lines), 0
    while batch := list(islice(rest, BATCH)):
        done += len(batch)
        yield done, batch
