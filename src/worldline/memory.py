"""Memory: the façade that users hold, and the only place that knows every part.

A `Memory` is a handle: a store, and what it is bound to (tenant, scope, session, world, moment).
Binding returns a new handle and changes none. Reads never write; each write is one changeset, and
its receipt says what happened.

    with Memory.open("me.db") as m:
        tier = m.note("context", "Acme contract", "tier: silver")
        m.amend(tier, content="tier: gold", valid_from="2026-03-01")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from worldline.clock import FOREVER, LATEST, AsOf, Clock, Instant, When, instant, system_clock
from worldline.config import Config, default_path, load
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.exchanging import Exchanging
from worldline.handle import Done, Handle, Place
from worldline.merging import Merging
from worldline.model import (
    Ask,
    Change,
    Diff,
    Edge,
    EdgeDraft,
    EdgeType,
    Event,
    Fact,
    Metadata,
    Node,
    NodeDraft,
    NodeType,
    Page,
    Predicate,
    Receipt,
    Scope,
    Version,
    Why,
)
from worldline.plugins.embedders import open_embedder
from worldline.plugins.rerankers import open_reranker
from worldline.ports import Tx, View
from worldline.query import Query, run
from worldline.read import history as introspection
from worldline.read import listing
from worldline.reading.given import fact_of
from worldline.recalling import Recalling
from worldline.rules import ontology
from worldline.rules.handlers import BUILT_IN
from worldline.sleeping import Sleeping
from worldline.store import histories, registry
from worldline.store import listing as lists
from worldline.store.dialect import open_store
from worldline.store.lookup import missing
from worldline.tending import Tending
from worldline.write import change, put, refact, undo
from worldline.write import load as bulk
from worldline.write import remember as remembering
from worldline.write.check import clean_interval, clean_metadata, clean_name, clean_scope
from worldline.write.embed import embed_new
from worldline.write.ends import ends
from worldline.write.given import believe
from worldline.write.redact import redacting, require_plain, screened

if TYPE_CHECKING:
    from worldline.ports import Embedder, Reranker


class Memory(Recalling, Merging, Sleeping, Exchanging, Tending):
    """A handle on one tenant's memory."""

    def __init__(self, handle: Handle) -> None:
        self._h = handle

    # Opening and binding -----------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        config: Config | None = None,
        tenant: str = "default",
        *,
        clock: Clock = system_clock,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
    ) -> Memory:
        """Opens a store, and makes it when it is not there: a file, or the URL of a PostgreSQL database.

        No path: the user's data folder.

        An `embedder` or `reranker` of your own stands in for the configured one.
        """
        config = load() if config is None else config
        store = open_store(default_path() if path is None else path, config)
        embedding = cache(lambda: embedder or open_embedder(config.embedder))
        reranking = cache(lambda: reranker or open_reranker(config.reranker))
        handle = Handle(
            store,
            config,
            clock,
            clean_name(tenant, "tenant"),
            dict(BUILT_IN),
            embedder=embedding,
            reranker=reranking,
            after_write=embed_new,
        )
        return cls(handle)

    def close(self) -> None:
        """Closes the store, for every handle that shares it."""
        self._h.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        bound = "&".join(registry.scope_key(scope) for scope in self._h.scopes)
        return f"<Memory {self._h.store.path} tenant={self._h.tenant}{' ' + bound if bound else ''}>"

    def _bind(self, **changes: Any) -> Memory:
        return type(self)(replace(self._h, **changes))

    def scoped(
        self,
        user: str | None = None,
        agent: str | None = None,
        app: str | None = None,
        run: str | None = None,
        session: str | None = None,
    ) -> Memory:
        """A handle that reads and writes this scope only; kinds bound before stay bound."""
        now = self._h.scopes[0] if self._h.scopes else Scope()
        given = {"user": user, "agent": agent, "app": app, "run": run}
        scope = replace(now, **{kind: value for kind, value in given.items() if value is not None})
        scopes = (self._named(scope), *self._h.scopes[1:]) if scope.bound() else ()
        if session and self._h.config.redact:
            session = screened(session)[0]
        return self._bind(scopes=scopes, session=session or self._h.session)

    def confined(self, scope: Scope) -> Memory:
        """A handle in this scope that cannot be left: whatever is made from it stays inside."""
        inside = self.scoped(**scope.bound())
        return inside._bind(confined=inside._h.scope if scope.bound() else self._h.confined)

    def _named(self, scope: Scope) -> Scope:
        """A scope whose ids can be stored: usable text, and no secret."""
        named = self._h.within(clean_scope(scope))
        for kind, name in named.bound().items() if self._h.config.redact else ():
            require_plain(name, f"{kind} id")
        return named

    def shared_with(self, *scopes: Scope) -> Memory:
        """A handle whose writes belong to these scopes as well; its reads stay as they are."""
        return self._bind(scopes=(*(self._h.scopes or (Scope(),)), *map(self._named, scopes)))

    def at(self, valid: When | None = None, known: When | None = None, as_of: When | None = None) -> Memory:
        """A handle that looks from another moment; an omitted axis is now. It cannot write."""
        if as_of is not None:
            valid, known = as_of if valid is None else valid, as_of if known is None else known
        at_valid = self._h.moment.valid if valid is None else instant(valid)
        at_known = self._h.moment.known if known is None else min(instant(known), LATEST)
        return self._bind(moment=AsOf(at_valid, at_known))

    def enter(self, world: Any) -> Memory:
        """A handle inside a world: it sees nothing outside, and what it writes lies inside."""
        return self._bind(world=self._h.read(lambda view: self._inner(view, world)))

    def _inner(self, view: View, world: Any) -> int:
        """A world to enter: inside the one that this handle is in already, at this moment."""
        target = self._h.resolve(view, world)
        if not view.lies_inside(target.line):
            raise missing(view, target)
        return target.line

    def as_agent(self) -> Memory:
        """A handle for an agent's own writes: only the agent-facing types."""
        return self._bind(agent=True)

    # Writing -----------------------------------------------------------------------------------

    def remember(
        self,
        text: str | Event | None = None,
        *,
        messages: Sequence[Mapping[str, Any]] | None = None,
        said_at: When | None = None,
        speaker: str = "",
        session: str | None = None,
        metadata: Metadata | None = None,
        facts: Sequence[Fact | Mapping[str, Any]] = (),
        external_id: str | None = None,
        expires: When | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Stores what was said, verbatim, then believes the facts given with it.

        A fact is a `Fact`, or a dict of subject, relation and object, with since, until and ended if
        need be. The words are durable before any fact is looked at; a failure after that leaves the
        event pending, and `resume` continues it. With `expires`, the words and what rests on them alone are
        over from then on.
        """
        if expires is not None:
            instant(expires)
        if messages is not None and facts:
            raise InvalidInput("facts go with one text; give them with the message that states them")
        if messages is not None:
            events = remembering.events_of(messages, said_at, session, metadata)
            return self._until(remembering.remember_all(self._h, events, dry_run=dry_run), expires)
        if not isinstance(text, Event):
            text = Event(
                text or "",
                speaker,
                said_at,
                session=session,
                metadata=metadata or {},
                external_id=external_id,
            )
        given = [fact_of(fact) for fact in facts]
        return self._until(remembering.remember(self._h, text, given, dry_run=dry_run), expires)

    def _until(self, done: Receipt, expires: When | None) -> Receipt:
        """The same receipt after what it stored was retired ahead of time; undoing it takes the end back."""
        if expires is None or not done.changed or done.dry_run:
            return done
        words = done.ids or ((done.id,) if done.id else ())
        drawn = [
            fact
            for word in words
            for fact in self.walk(word, "derived_from", way="in").nodes
            if fact.type == "Fact" and len(self.walk(fact, "derived_from", way="out").edges) == 1
        ]
        ended = self.retire([*words, *drawn], expires, reason="it was known to expire")
        return replace(done, known_at=ended.known_at, also=())

    def resume(self) -> tuple[Receipt, ...]:
        """Continues every event whose facts were not settled when the process ended."""
        return remembering.resume(self._h)

    @redacting
    def fact(self, fact: Fact | Mapping[str, Any], *, dry_run: bool = False) -> Receipt:
        """Believes one fact given directly: a `Fact`, or a dict as `remember` takes it."""

        def work(tx: Tx, place: Place) -> Done:
            key, changed = believe(tx, fact_of(fact), place, self._h)
            return tx.id_of(key) if key else None, changed

        return self._h.write("fact", work, dry_run=dry_run)

    @redacting
    def note(
        self,
        type: str,
        name: str,
        content: str = "",
        *,
        valid_from: When | None = None,
        valid_to: When | None = None,
        dated: When | None = None,
        metadata: Metadata | None = None,
        facts: Sequence[Fact | Mapping[str, Any]] = (),
        expires: When | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Stores a note of one of the agent-facing types (or one that this world's operator added).

        Facts given with it, as in `remember`, are believed as well, and rest on the note. `expires` is
        another name for `valid_to`.
        """
        if expires is not None and valid_to is not None:
            raise InvalidInput("give either `expires` or `valid_to`; they mean the same")
        valid_to = expires if valid_to is None else valid_to
        given = [fact_of(fact) for fact in facts]

        def work(tx: Tx, place: Place) -> Done:
            allowed = registry.node_types(tx, place.world, agent=self._h.agent)
            draft = NodeDraft(
                ontology.require(type, allowed, "type of note"), name, content,
                clean_interval(valid_from, valid_to, tx.stamp),
                None if dated is None else instant(dated),
            )  # fmt: skip
            key, new = put.note(tx, draft, place, self._h.config.max_text, metadata)
            told = put.Told(key, draft.valid.start)
            changed = [believe(tx, fact, place, self._h, told)[1] for fact in given]
            return tx.id_of(key), new or any(changed)

        return self._h.write("note", work, dry_run=dry_run)

    @redacting
    def link(
        self,
        src: Any,
        type: str,
        dst: Any,
        *,
        valid_from: When | None = None,
        valid_to: When | None = None,
        metadata: Metadata | None = None,
        predicate: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Joins two memories; the edge type's handler decides what follows from it."""

        def work(tx: Tx, place: Place) -> Done:
            registry.edge_type(tx, type, place.world, agent=self._h.agent)
            view = tx.as_view(world=self._h.world)
            source = self._h.resolve(view, src)
            target = self._h.resolve(view.bind(world=0) if type == "refers_to" else view, dst)
            if type == "fact":
                given = Fact(
                    tx.id_of(source.line).hex(), predicate or "", tx.id_of(target.line).hex(),
                    valid_from=valid_from, valid_to=valid_to,
                )  # fmt: skip
                key, changed = believe(tx, given, place, self._h)
                return tx.id_of(key), changed
            joined = ends(tx, type, source, target)
            if type == "contains" and valid_to is not None:
                raise Refused("a contains edge is open when it is made; retire it later")
            valid = clean_interval(valid_from, valid_to, tx.stamp if joined.since is None else joined.since)
            draft = EdgeDraft(joined.src, type, joined.dst, valid, place.scope, clean_metadata(metadata))
            return tx.link(draft)

        return self._h.write("link", work, dry_run=dry_run)

    @redacting
    def amend(
        self,
        ref: Any,
        content: str | None = None,
        *,
        name: str | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """It changed: a new version holds from `valid_from` (now), the old one held until then.

        For a fact the content is its new value, alone or as the whole sentence.
        """
        revision = _revision(name, content, valid_from, valid_to, reason)

        def work(tx: Tx, place: Place) -> Done:
            target = self._h.target(tx, ref)
            if content is not None and refact.is_fact(tx, target):
                return refact.revise(tx, target, revision, place, self._h, wrong=False)
            key, changed = change.amend(tx, target.line, revision, self._h.config.max_text)
            return tx.id_of(key), changed

        return self._h.write("amend", work, dry_run=dry_run)

    @redacting
    def correct(
        self,
        ref: Any,
        content: str | None = None,
        *,
        name: str | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """It was wrong: the old belief stays visible to known-time reads only.

        With nothing to replace it, it was never true at all. This is also how to un-retire:
        `correct(x, valid_to=FOREVER)`.
        """
        revision = _revision(name, content, valid_from, valid_to, reason)

        def work(tx: Tx, place: Place) -> Done:
            if isinstance(ref, Edge) and ref.type != "fact":
                return bytes.fromhex(ref.id), change.end_edge(tx, self._edge(tx, ref), None, wrong=True)
            target = self._h.target(tx, ref)
            if revision == change.Revision(reason=reason):
                return tx.id_of(target.line), change.withdraw(tx, target.line, reason)
            if content is not None and refact.is_fact(tx, target):
                return refact.revise(tx, target, revision, place, self._h, wrong=True)
            key, changed = change.correct(tx, target.line, target.key, revision, self._h.config.max_text)
            return tx.id_of(key), changed

        return self._h.write("correct", work, dry_run=dry_run)

    @redacting
    def retire(
        self, ref: Any, when: When | None = None, *, reason: str | None = None, dry_run: bool = False
    ) -> Receipt:
        """No longer true from `when` (now) on. Works on memories and edges; a list of them is one changeset."""
        at = None if when is None else instant(when)
        if isinstance(ref, list | tuple) and not ref:
            raise InvalidInput("name at least one memory to retire")
        ended: dict[str, None] = {}

        def work(tx: Tx, place: Place) -> Done:
            last = None
            for item in ref if isinstance(ref, list | tuple) else (ref,):
                last, changed = self._retire(tx, item, at, reason)
                ended.update({last.hex(): None} if changed else {})
            return last, bool(ended)

        receipt = self._h.write("retire", work, dry_run=dry_run)
        return replace(receipt, ids=tuple(ended)) if isinstance(ref, list | tuple) else receipt

    def _retire(self, tx: Tx, ref: Any, at: Instant | None, reason: str | None) -> tuple[bytes, bool]:
        if isinstance(ref, Edge) and ref.type != "fact":
            return bytes.fromhex(ref.id), change.end_edge(tx, self._edge(tx, ref), at, wrong=False)
        target = self._h.target(tx, ref)
        return tx.id_of(target.line), change.retire(tx, target.line, at, reason)

    def _edge(self, tx: Tx, edge: Edge) -> list[Edge]:
        """The current beliefs in an edge, in this scope."""
        rows = histories.beliefs_in(tx.as_view(world=self._h.world), edge)
        if not rows:
            raise NotFound(f"no {edge.type} edge {edge.id[:12]} in this tenant, scope and world")
        return [row for row in rows if row.known.end == FOREVER]

    @redacting
    def quarantine(self, ref: Any, reason: str, *, dry_run: bool = False) -> Receipt:
        """Keeps it, but out of every read that does not ask for it."""
        return self._mark(ref, "quarantined", reason, dry_run)

    @redacting
    def confirm(self, ref: Any, reason: str = "confirmed by the user", *, dry_run: bool = False) -> Receipt:
        """Releases something quarantined, or vouches for it."""
        return self._mark(ref, "confirmed", reason, dry_run)

    def _mark(self, ref: Any, status: Any, reason: str, dry_run: bool) -> Receipt:
        def work(tx: Tx, place: Place) -> Done:
            target = self._h.target(tx, ref)
            return tx.id_of(target.line), change.mark(tx, target.line, status, reason)

        return self._h.write(status, work, dry_run=dry_run)

    def undo(self, receipt: Receipt, *, dry_run: bool = False) -> Receipt:
        """Takes back what a receipt's changeset did, as one more changeset."""
        if not isinstance(receipt, Receipt):
            raise InvalidInput(f"undo takes the receipt of a write, not {receipt!r}")
        steps = (receipt.known_at, *receipt.also) if receipt.changed and not receipt.dry_run else ()

        def work(tx: Tx, place: Place) -> Done:
            undone = [undo.undo(tx, at, agent=self._h.agent) for at in steps]
            return None, any(undone)

        return self._h.write("undo", work, dry_run=dry_run)

    def load(self, notes: Iterable[bulk.Note], links: Iterable[bulk.Link] = ()) -> Receipt:
        """Stores many notes and links as one changeset, fast; links name notes by their place.

        Vectors are not made on the way: `flush` makes them.
        """
        return bulk.load_all(self._h, notes, links)

    # Ontology ----------------------------------------------------------------------------------

    @redacting
    def register(self, item: EdgeType | NodeType | Predicate) -> Receipt:
        """Adds a node type, an edge type or a predicate to this world and everything below it."""
        if self._h.agent:
            raise Refused("agents cannot extend the ontology; an operator does")
        name = getattr(item, "name", None)
        if clean_name(name) != name:
            raise InvalidInput(f"a name has no space around it and one line: {name!r}")

        def work(tx: Tx, place: Place) -> Done:
            return None, registry.register(tx, item, place.world)

        receipt = self._h.write("register", work)
        if isinstance(item, EdgeType):
            self._h.types[item.name] = item
        return receipt

    # Reading -----------------------------------------------------------------------------------

    def get(self, ref: Any, *, exact: bool = False) -> Node:
        """A memory by id, prefix or former hash, in the version visible from this handle's moment.

        `exact` gives the very version that the id names, whatever became of it.
        """

        def look(view: View) -> Node:
            target = self._h.resolve(view, ref)
            if exact:
                node = view.payload(target.key or target.line)
            else:
                known = min(view.known, target.known)
                node = view.bind(known=known).one(target.line)
            if node is None:
                raise missing(view, target)
            return node

        return self._h.read(look)

    def edge(self, src: Any, type: str, dst: Any) -> Edge:
        """The edge of this type between two memories, as it is believed now; to retire or correct it."""

        def look(view: View) -> Edge:
            source = self._h.resolve(view, src)
            target = self._h.resolve(view.bind(world=0) if type == "refers_to" else view, dst)
            found = histories.edges_between(view, source, type, target)
            if not found:
                raise NotFound(
                    f"no {type} edge is believed between these two; a fact is a memory of its own, with an id"
                )
            return found[-1]

        return self._h.read(look)

    def list(
        self,
        type: str | Sequence[str] | None = None,
        *,
        metadata: Metadata | None = None,
        include_superseded: bool = False,
        limit: int = 50,
        page: str | None = None,
    ) -> Page:
        """Memories, newest first, of one type or several; without one, all but scopes, sessions, turns and facts."""
        return self._h.read(
            lambda view: listing.listing(
                view,
                run.rewrite(Ask(include_superseded=include_superseded), view, self._h.types),
                type,
                metadata or {},
                limit,
                page,
            )
        )

    def query(self) -> Query:
        """A new query: start set, then verbs, then run() or explain()."""
        return Query(self._run, self._explain)

    def _run(self, query: Query) -> Any:
        with self._h.reading():
            view = self._query_view(query)
            return run.answer(query, view, self._h.types, lambda ref: self._h.resolve(view, ref).line)

    def _explain(self, query: Query) -> str:
        with self._h.reading():
            view = self._query_view(query)
            ask = run.rewrite(Ask(include_superseded=query.closed), view, self._h.types)
            return "\n".join(run.plan(query, view, ask))

    def _query_view(self, query: Query) -> View:
        view = self._h.view()
        changes: dict[str, Any] = {}
        if query.world is not None:
            changes["world"] = self._inner(view, query.world)
        if query.valid is not None:
            changes["valid"] = instant(query.valid)
        if query.known is not None:
            changes["known"] = instant(query.known)
        return view.bind(**changes) if changes else view

    def walk(self, ref: Any, *types: str, way: Any = "both", depth: int = 1) -> Any:
        """What lies around a memory: the memory itself, what is reached, and the edges between."""
        reached = self.query().seeds(ref).follow(*types, way=way, depth=depth).run()
        return replace(reached, nodes=(self.get(ref), *reached.nodes))

    def history(self, ref: Any) -> tuple[Version, ...]:
        """Every belief ever held in a memory, and what each one was."""
        return self._h.read(lambda view: introspection.history(view, self._h.resolve(view, ref).line))

    def diff(self, a: Any, b: Any = None) -> Diff:
        """What changed between two moments (times, or hashes that a world has had)."""

        def look(view: View) -> Diff:
            before, after = (self._moment_view(view, at) for at in (a, b))
            return introspection.diff(before, after)

        return self._h.read(look)

    def _moment_view(self, view: View, at: Any) -> View:
        if at is None:
            return view
        if isinstance(at, str) and len(at) >= self._h.config.prefix_length and _is_hex(at):
            target = self._h.resolve(view, at)
            known = view.valid if target.known == LATEST else target.known
            return view.bind(valid=known, known=known, world=target.line)
        return view.bind(valid=instant(at), known=instant(at))

    def why(self, ref: Any) -> Why:
        """Why something is believed: the path to verbatim events."""

        def look(view: View) -> Why:
            target = self._h.resolve(view, ref)
            node = view.one(target.line) or view.latest(target.line)
            if node is None:
                raise missing(view, target)
            return introspection.why(view, node)

        return self._h.read(look)

    def changes(
        self, since: When = 0, *, limit: int | None = None, page: str | None = None
    ) -> tuple[Change, ...]:
        """The feed: what was believed or given up after a known time; or from the mark of a page on."""
        return self._h.read(lambda view: introspection.changes(view, instant(since), limit, page))

    def hash(self, ref: Any = None) -> str:
        """The hash of a world and all inside it; without one, of the whole memory."""

        def look(view: View) -> str:
            line = self._h.tenant_row().root if ref is None else self._h.resolve(view, ref).line
            return lists.hash_of(view, line).hex()

        return self._h.read(look)

    def worlds(self) -> tuple[tuple[Node, str], ...]:
        """Every world (whatever contains something) with its hash."""
        return self._h.read(lists.worlds)


def _revision(
    name: str | None, content: str | None, start: When | None, end: When | None, reason: str | None
) -> change.Revision:
    return change.Revision(
        name,
        content,
        None if start is None else instant(start),
        None if end is None else instant(end),
        reason,
    )


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdef" for c in text.lower())
