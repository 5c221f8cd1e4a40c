"""What a handle is bound to, and its two ways into the store: a view to read, a changeset to write.

Binding is done once, here: no stage takes a tenant, a scope or a moment, so none can forget one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from worldline.clock import NOW, AsOf, Clock, Instant, instant, show
from worldline.config import CLOSER, Config
from worldline.errors import InvalidTime, ReadOnly, Refused, StoreAway, WorldlineError
from worldline.model import EdgeType, Place, Receipt, Scope, Scorer
from worldline.ports import Bearing, CloseReader, Embedder, Reranker, Store, Tenant, View
from worldline.store import registry
from worldline.store.tx import Tx
from worldline.store.view import bound

T = TypeVar("T")
_AGAIN = 2
Done: TypeAlias = tuple[bytes | None, bool]
"""What the work of a changeset returns: the id it was about, and whether anything changed."""
LAST_CLOCK: Instant = instant("2200-01-01")
"""What is learned later than this is a clock's mistake, and would stand in the way of all that is learned after."""


def _no_embedder() -> None:
    return None


def _nothing_more(handle: Handle, nodes: Sequence[int]) -> int:
    return 0


def _patiently(once: Callable[[], T]) -> T:
    """Does what leaves nothing behind when it fails, and again where the server went away before it was kept."""
    for _ in range(_AGAIN):
        try:
            return once()
        except StoreAway as away:
            if away.undecided:
                raise
    return once()


class Handle(Struct, frozen=True):
    """A store, and everything that a handle on it is bound to."""

    store: Store
    config: Config
    clock: Clock
    tenant: str
    types: dict[str, EdgeType]
    """The edge types that this process has handlers for."""
    scopes: tuple[Scope, ...] = ()
    """The first one filters reads; writes belong to all of them."""
    confined: Scope = Scope()
    """What no handle made from this one can leave."""
    session: str | None = None
    world: int = 0
    moment: AsOf = AsOf()
    agent: bool = False
    embedder: Callable[[], Embedder | None] = _no_embedder
    """Opened when it is first needed."""
    reranker: Callable[[], Reranker | None] = _no_embedder
    """Has the last word about the order."""
    closeness: Callable[[], CloseReader | None] = _no_embedder
    """Its numbers are a factor of the score."""
    scorers: dict[str, Scorer] = field(default_factory=dict)
    """The scorers that this process has."""
    after_write: Callable[[Handle, Sequence[int]], int] = _nothing_more
    """What happens to new texts once they are safe: vectors come after the words."""

    @property
    def scope(self) -> Scope:
        return self.scopes[0] if self.scopes else Scope()

    def close_reader(self) -> CloseReader | None:
        """The cross-encoder, where there is one; it reads English alone."""
        return self.closeness() if self.config.language == "english" else None

    @property
    def reads_closely(self) -> bool:
        """Whether there may be one, without opening it."""
        return self.config.reranker in ("auto", CLOSER) and self.config.language == "english"

    def bearing_reader(self) -> Callable[[str, str], Bearing | None] | None:
        """What a text does to a statement, as the cross-encoder reads it; None without one."""
        try:
            reader = self.close_reader() if self.reads_closely else None
        except WorldlineError:  # a write does without
            return None
        return None if reader is None else reader.bearing

    def within(self, scope: Scope) -> Scope:
        """A scope inside what this handle is confined to; refused where it would leave that."""
        fixed = self.confined.bound()
        for kind, name in scope.bound().items():
            if fixed.get(kind, name) != name:
                raise Refused(f"this handle is confined to {kind} {fixed[kind]!r} and serves no other")
        return Scope(**{**scope.bound(), **fixed})

    def require_free(self, verb: str) -> None:
        """Refuses what concerns the whole store to a handle that is confined to a part of it."""
        if self.confined.bound():
            raise Refused(f"a store is {verb} by its operator; this handle is confined to one scope of it")

    def whole(self, verb: str) -> Handle:
        """The same without scope, session and world; agents may not have it."""
        if self.agent:
            raise Refused(f"a memory is {verb} by its operator, not by an agent")
        self.require_free(verb)
        return replace(self, scopes=(), session=None, world=0)

    def tenant_row(self) -> Tenant:
        """The tenant as the store keeps it; zeros for one without memories."""
        return self.store.tenant_row(self.tenant)

    def view(self, tenant: Tenant | None = None, **openness: Any) -> View:
        """What this handle may see, with what is opened beside it. "Now" is never before the last thing learned."""
        tenant = tenant or self.tenant_row()
        valid = self.moment.valid
        return bound(
            self.store,
            tenant.id,
            valid=max(self.clock(), tenant.last_known) if valid is None else valid,
            known=self.moment.known,
            scope=self.scope,
            world=self.world,
            cold=self.moment != NOW,
            **openness,
        )

    def read(self, look: Callable[[View], T], **openness: Any) -> T:
        """One snapshot, looked at; again, where the server went away in the middle."""

        def once() -> T:
            with self.reading() as tenant:
                return look(self.view(tenant, **openness))

        return _patiently(once)

    def reading(self) -> AbstractContextManager[Tenant]:
        """One snapshot; brings what the store keeps of the tenant."""
        return self.store.reading(self.tenant)

    def writing(self, *, keep: bool = True) -> AbstractContextManager[Tenant]:
        """A write transaction of this tenant that is no changeset: for what the log does not cover."""
        return self.store.writing(self.tenant, keep=keep)

    def write(self, verb: str, work: Callable[[Tx, Place], Done], *, dry_run: bool = False) -> Receipt:
        """One changeset: everything that `work` does, or nothing.

        It is done again where the server went away before anything was kept.
        """

        def once() -> tuple[Tx, Done]:
            with self.changeset(verb, keep=not dry_run) as (tx, place):
                done = work(tx, place)
            return tx, done

        tx, (id_, changed) = _patiently(once)
        return Receipt(
            verb,
            id_.hex() if id_ else None,
            changed,
            tx.stamp,
            tuple(dict.fromkeys(tx.changes)),
            tuple(dict.fromkeys(tx.proposed)),
            dry_run=dry_run,
        )

    def change(self, verb: str, ref: Any, work: Callable[[Tx, int], bool], dry_run: bool = False) -> Receipt:
        """One changeset about one memory: what `work` does to its lineage."""

        def all_of_it(tx: Tx, place: Place) -> Done:
            line = self.target(tx, ref).line
            return tx.id_of(line), work(tx, line)

        return self.write(verb, all_of_it, dry_run=dry_run)

    @contextmanager
    def changeset(self, verb: str, *, keep: bool = True, fresh: bool = False) -> Iterator[tuple[Tx, Place]]:
        """A write transaction that ends in one log row."""
        if self.moment != NOW:
            raise ReadOnly("this handle looks at another moment; write through the handle it was made from")
        with self.writing(keep=keep) as tenant:
            tx = self._begin(fresh and not tenant.id, tenant, settled=True)
            yield tx, Place(self.world, self.session, tx.scope_id)
            tx.finish(verb)
        if keep and tx.indexed_nodes and not fresh:
            self._follow_up(tx.indexed_nodes)

    def _follow_up(self, nodes: Sequence[int]) -> None:
        """What follows from new words. They are safe already, so trouble here is told, not raised."""
        try:
            self.after_write(self, nodes)
        except WorldlineError as error:
            logging.getLogger("worldline").warning(
                "stored, but without what follows from it for now: %s", error
            )

    def _begin(self, fresh: bool, tenant: Tenant | None = None, *, settled: bool = False) -> Tx:
        now = self.clock()
        if now > LAST_CLOCK:
            raise InvalidTime(
                f"the clock says {show(now)}; nothing is learned after {show(LAST_CLOCK)}, so set it right"
            )
        tenant = tenant or self.tenant_row()
        if not tenant.id:
            tenant = registry.new_tenant(self.store, self.tenant, now, self.types)
        return registry.begun_in(
            self.scopes,
            self.store,
            tenant,
            settled=settled,
            known=max(now, tenant.last_known + 1),
            types=self.types,
            language=self.config.language,
            fresh=fresh,
        )

    def resolve(self, view: View, ref: Any) -> registry.Target:
        """The memory that a caller means."""
        return registry.resolve(view, ref, self.config.prefix_length)

    def target(self, tx: Tx, ref: Any) -> registry.Target:
        """The same, inside a changeset."""
        return self.resolve(tx.as_view(world=self.world), ref)

    def inner(self, view: View, world: Any) -> int:
        """A world to enter: inside the one that this handle is in already, at this moment."""
        target = self.resolve(view, world)
        if not view.lies_inside(target.line):
            raise registry.missing(view, target)
        return target.line

    def now(self) -> Instant:
        """The clock, but never before the last thing that was learned."""
        with self.reading() as tenant:
            return int(max(self.clock(), tenant.last_known))
