"""Memory: the façade that users hold, and the only place that knows every part.

A `Memory` is a handle: a store, and what it is bound to (tenant, scope, session, world, moment).
Binding returns a new handle and changes none. Reads never write; each write is one changeset, and
its receipt says what happened.

    with Memory.open("me.db") as m:
        tier = m.note("context", "Acme contract", "tier: silver")
        m.amend(tier, content="tier: gold", valid_from="2026-03-01")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from worldline import Later
from worldline.clock import EARLIEST, FOREVER, LATEST, AsOf, Clock, When, axes, instant, system_clock
from worldline.config import Config, checked, default_path, load
from worldline.errors import InvalidInput, InvalidText, Refused
from worldline.handle import Done, Handle
from worldline.model import (
    Ask,
    Change,
    Contradiction,
    Dated,
    Density,
    Diff,
    Edge,
    EdgeType,
    Event,
    Explanation,
    Fact,
    Metadata,
    Node,
    NodeDraft,
    NodeType,
    Page,
    Place,
    Predicate,
    Proposal,
    Recall,
    Receipt,
    Scope,
    Scorer,
    Verification,
    Version,
    Why,
    clean_count,
    clean_interval,
    clean_metadata,
    clean_name,
    clean_scope,
    clean_text,
)
from worldline.plugins import open_closeness, open_embedder, open_reranker, require_named
from worldline.ports import Embedder, Reranker, View
from worldline.query import Query, explain_query, rewrite, run_query
from worldline.read import history as introspection
from worldline.reading.families import fact_of, facts_of
from worldline.rules.handlers import BUILT_IN
from worldline.store import counting, people, registry, reindexing, verify
from worldline.store.erasing import is_unswept
from worldline.store.indexing import wake
from worldline.store.nights import note_use, set_mark
from worldline.store.tx import Tx
from worldline.store.view import scope_key
from worldline.write import afterwards, change
from worldline.write import forget as forgetting
from worldline.write import remember as remembering
from worldline.write.afterwards import embed_anew, embed_new, embed_pending
from worldline.write.gate import redacting, require_plain, screened
from worldline.write.given import (
    Link,
    Note,
    ToldBy,
    believe,
    decide_merge,
    proposal_named,
    split_entity,
    stated,
)
from worldline.write.loading import load_all

if TYPE_CHECKING:
    from worldline.consolidate import facts as settling
    from worldline.consolidate import run as night
    from worldline.consolidate import weight
    from worldline.consolidate.run import Progress, Report
    from worldline.exchange import absorb as absorbing
    from worldline.exchange import exporters, importers
    from worldline.exchange.absorb import Absorbed
    from worldline.exchange.formats import Imported
    from worldline.read import answers as answering
    from worldline.read import profile as profiling
    from worldline.read import recall as recalling
    from worldline.read.answers import Answer
    from worldline.read.profile import Context, Episode, Profile
    from worldline.store import sqlite
    from worldline.store.reindexing import Ailment, Remade
    from worldline.write.afterwards import Reread
    from worldline.write.forget import Forgotten
else:
    night, weight = Later("worldline.consolidate.run"), Later("worldline.consolidate.weight")
    absorbing, exporters = Later("worldline.exchange.absorb"), Later("worldline.exchange.exporters")
    importers, recalling = Later("worldline.exchange.importers"), Later("worldline.read.recall")
    answering, profiling = Later("worldline.read.answers"), Later("worldline.read.profile")
    sqlite, settling = Later("worldline.store.sqlite"), Later("worldline.consolidate.facts")

CONTEXT = 800
"""Tokens of a context block, where nobody says how many."""

_SELDOM = 0xF800_0000
"""Of new texts, one in 32, spread evenly whatever their numbers have in common, has profiles taken up to it."""


def _followed_up(handle: Handle, nodes: Sequence[int]) -> int:
    """What comes after new texts are safe: their vectors, and now and then what is kept of who speaks."""
    done = embed_new(handle, nodes)
    if any(not node * 2_654_435_761 & _SELDOM for node in nodes):
        night.keep_up(handle)
    return done


class Memory:
    """A handle on one tenant's memory."""

    def __init__(self, handle: Handle) -> None:
        self._h = self.handle = handle
        """What it is bound to, for whoever works with the parts."""

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
        config = checked(load() if config is None else config)
        require_named(config)
        store = sqlite.open_store(default_path() if path is None else path, config)
        embedding = cache(lambda: embedder or open_embedder(config.embedder))
        reranking = cache(lambda: reranker or open_reranker(config.reranker))
        closeness = cache(lambda: None if reranker else open_closeness(config.reranker))
        handle = Handle(
            store,
            config,
            clock,
            clean_name(tenant, "tenant"),
            dict(BUILT_IN),
            embedder=embedding,
            reranker=reranking,
            closeness=closeness,
            after_write=_followed_up,
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
        bound = "&".join(scope_key(scope) for scope in self._h.scopes)
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
        if session is not None:
            session = clean_text(session, "session", 4096)
            session = screened(session)[0] if self._h.config.redact else session
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
        valid, known = axes(valid, known, as_of)
        at_valid = self._h.moment.valid if valid is None else instant(valid)
        at_known = self._h.moment.known if known is None else min(instant(known), LATEST)
        return self._bind(moment=AsOf(at_valid, at_known))

    def enter(self, world: Any) -> Memory:
        """A handle inside a world: it sees nothing outside, and what it writes lies inside."""
        return self._bind(world=self._h.read(lambda view: self._h.inner(view, world)))

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
        over from then on. `messages` are those of a chat; one without words (a call of tools) is left out.
        """
        if expires is not None:
            instant(expires)
        if (text is None) == (messages is None) or (messages is not None and facts):
            raise InvalidText("give either `text` or `messages`; facts go with the one text that states them")
        if messages is not None:
            done = remembering.remember_messages(
                self._h, messages, said_at, session, metadata, dry_run=dry_run
            )
            return done if expires is None else change.until(self._h, done, expires)
        if not isinstance(text, Event):
            labels = metadata or {}
            text = Event(
                text or "", speaker, said_at, session=session, metadata=labels, external_id=external_id
            )
        done = remembering.remember(self._h, text, facts_of(facts) if facts else (), dry_run=dry_run)
        return done if expires is None else change.until(self._h, done, expires)

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
        given = facts_of(facts)

        def work(tx: Tx, place: Place) -> Done:
            draft = NodeDraft(type, name, content, clean_interval(valid_from, valid_to, tx.stamp))
            draft.dated = None if dated is None else instant(dated)
            key, new = stated(tx, draft, place, self._h, metadata)
            told = ToldBy(key, draft.valid.start)
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
        edge = change.Joining(src, type, dst, valid_from, valid_to, metadata, predicate)
        return self._h.write("link", lambda tx, place: change.link(tx, place, self._h, edge), dry_run=dry_run)

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
        revision = change.Revision.of(name, content, valid_from, valid_to, reason)
        return self._h.write(
            "amend", lambda tx, place: change.amend(tx, place, self._h, ref, revision), dry_run=dry_run
        )

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
        revision = change.Revision.of(name, content, valid_from, valid_to, reason)
        return self._h.write(
            "correct", lambda tx, place: change.correct(tx, place, self._h, ref, revision), dry_run=dry_run
        )

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
                last, changed = change.retire(tx, self._h, item, at, reason)
                ended.update({last.hex(): None} if changed else {})
            return last, bool(ended)

        receipt = self._h.write("retire", work, dry_run=dry_run)
        return replace(receipt, ids=tuple(ended)) if isinstance(ref, list | tuple) else receipt

    @redacting
    def quarantine(self, ref: Any, reason: str = "", *, dry_run: bool = False) -> Receipt:
        """Keeps it, but out of every read that does not ask for it."""
        return self._h.change(
            "quarantined", ref, lambda tx, line: change.mark(tx, line, "quarantined", reason), dry_run
        )

    @redacting
    def confirm(self, ref: Any, reason: str = "confirmed by the user", *, dry_run: bool = False) -> Receipt:
        """Releases something quarantined, or vouches for it."""
        return self._h.change(
            "confirmed", ref, lambda tx, line: change.mark(tx, line, "confirmed", reason), dry_run
        )

    def undo(self, receipt: Receipt, *, dry_run: bool = False) -> Receipt:
        """Takes back what a receipt's changeset did, as one more changeset."""
        bound = self._h.agent or bool(self._h.confined.bound())
        return self._h.write(
            "undo", lambda tx, _: (None, change.undo_all(tx, receipt, agent=bound)), dry_run=dry_run
        )

    def load(self, notes: Iterable[Note], links: Iterable[Link] = ()) -> Receipt:
        """Stores many notes and links as one changeset, fast; links name notes by their place.

        Vectors are not made on the way: `flush` makes them.
        """
        return load_all(self._h, notes, links)

    # Ontology ----------------------------------------------------------------------------------

    @redacting
    def register(self, item: EdgeType | NodeType | Predicate) -> Receipt:
        """Adds a node type, an edge type or a predicate to this world and everything below it."""
        if self._h.agent:
            raise Refused("agents cannot extend the ontology; an operator does")
        self._h.require_free("extended")
        receipt = self._h.write(
            "register", lambda tx, place: (None, registry.register(tx, item, place.world))
        )
        if isinstance(item, EdgeType):
            self._h.types[item.name] = item
        return receipt

    # Reading -----------------------------------------------------------------------------------

    def get(self, ref: Any, *, exact: bool = False) -> Node:
        """A memory by id, prefix or former hash, in the version visible from this handle's moment.

        `exact` gives the very version that the id names, whatever became of it.
        """
        return self._h.read(lambda view: introspection.one(view, self._h, ref, exact=exact))

    def edge(self, src: Any, type: str, dst: Any) -> Edge:
        """The edge of this type between two memories, as it is believed now; to retire or correct it."""
        return self._h.read(lambda view: introspection.edge(view, self._h, src, type, dst))

    def list(
        self,
        type: str | Sequence[str] | None = None,
        *,
        metadata: Metadata | None = None,
        include_superseded: bool = False,
        include_quarantined: bool = False,
        limit: int = 50,
        page: str | None = None,
    ) -> Page:
        """Memories, newest first, of one type or several; without one, notes and what was said."""

        def look(view: View) -> Page:
            ask = rewrite(Ask(include_superseded=include_superseded), view, self._h.types)
            return introspection.listing(view, ask, type, metadata or {}, limit, page)

        return self._h.read(look, quarantined=include_quarantined)

    def query(self) -> Query:
        """A new query: start set, then verbs, then run() or explain()."""
        return Query(partial(run_query, self._h), partial(explain_query, self._h))

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
            before, after = (introspection.seen_at(view, self._h, at) for at in (a, b))
            return introspection.diff(before, after)

        return self._h.read(look)

    def why(self, ref: Any) -> Why:
        """Why something is believed: the path to verbatim events."""
        return self._h.read(lambda view: introspection.why(view, introspection.named(view, self._h, ref)))

    def changes(
        self, since: When = 0, *, limit: int | None = None, page: str | None = None
    ) -> tuple[Change, ...]:
        """The feed: what was believed or given up after a known time; or from the mark of a page on."""
        return self._h.read(lambda view: introspection.changes(view, instant(since), limit, page))

    def hash(self, ref: Any = None) -> str:
        """The hash of a world and all inside it; without one, of the whole memory."""

        def look(view: View) -> str:
            line = self._h.tenant_row().root if ref is None else self._h.resolve(view, ref).line
            return registry.hash_of(view, line).hex()

        return self._h.read(look)

    def worlds(self) -> tuple[tuple[Node, str], ...]:
        """Every world (whatever contains something) with its hash."""
        return self._h.read(registry.worlds)

    # Asking ------------------------------------------------------------------------------------

    def recall(
        self,
        question: str,
        *,
        max_tokens: int | None = None,
        asked_at: When | None = None,
        limit: int | None = None,
        filters: Metadata | None = None,
        explain: bool = False,
        include_superseded: bool = False,
        include_quarantined: bool = False,
        without: Collection[str] = (),
    ) -> Recall:
        """The evidence for an answer, verbatim and dated, within `max_tokens`; or why there is none.

        `asked_at` is the moment that "yesterday" is relative to. Without a `limit` the question
        decides: more for lists, orders and summaries. `filters` is metadata that must be equal.
        """
        return recalling.recalled(
            self._h, question, asked_at, filters, closed=include_superseded, quarantined=include_quarantined,
            max_tokens=max_tokens, limit=limit, explain=explain, without=frozenset(without),
        )  # fmt: skip

    def context(self, user: str | None = None, *, max_tokens: int = CONTEXT) -> Context:
        """What to know before a session begins: who the user is, what they asked for, what holds, comes and went.

        `user` is a user scope of this memory, or the name of somebody who speaks or is spoken of in it (NotFound,
        where nobody is); without one, the bound user, or the only one who speaks here.
        """
        room = clean_count(max_tokens, "max_tokens")
        return self._h.read(lambda view: profiling.context(profiling.of_user(view, user), user, room))

    def timeline(
        self,
        topic: str,
        from_: When | None = None,
        to: When | None = None,
        *,
        limit: int = 50,
        include_superseded: bool = False,
    ) -> tuple[Dated, ...]:
        """What happened about a topic within a stretch of time, in order, each with its evidence."""
        semantic = recalling.meaning(self._h, topic)
        within = (EARLIEST if from_ is None else instant(from_), FOREVER if to is None else instant(to))

        def look(view: View) -> tuple[Dated, ...]:
            view, wish = view.bind(closed=True), recalling.wish(self._h, view, None, limit=limit)
            return recalling.timeline(
                view, recalling.heard(topic), wish, semantic, within, withdrawn=include_superseded
            )

        return self._h.read(look)

    def density(self, topic: str) -> Density:
        """What is already covered around a topic: memories, facts, sources, freshness, open conflicts."""
        heard = recalling.heard(topic, "topic")
        return self._h.read(lambda view: answering.density(view, heard))

    def explain(
        self,
        question: str,
        expect: Any,
        *,
        max_tokens: int | None = None,
        asked_at: When | None = None,
        limit: int | None = None,
        filters: Metadata | None = None,
    ) -> Explanation:
        """Why a memory is not in the answer to a question: which filter, lane, rank or budget lost it."""
        means = recalling.means_of(self._h, question)

        def look(view: View) -> Explanation:
            node = recalling.expected(self._h, view, expect)
            bound = view.bind(labels=clean_metadata(filters))
            wish = recalling.wish(self._h, view, asked_at, max_tokens=max_tokens, limit=limit)
            return recalling.explain(bound, recalling.heard(question), wish, means, node)

        return self._h.read(look)

    def walk_answer(self, question: str, *, limit: int = 5) -> Answer:
        """Answers a question of several hops by walking what is currently believed; the path is its proof."""
        heard, likeness = recalling.heard(question), recalling.likeness(self._h)
        most = clean_count(limit, "limit", 1)
        return self._h.read(lambda view: answering.walk_answer(view, heard, likeness, most))

    # Who is who --------------------------------------------------------------------------------

    def merges(self, status: str | None = "pending") -> tuple[Proposal, ...]:
        """Merge proposals of a status (None: all)."""
        if status not in (None, "pending", "accepted", "rejected", "undone"):
            raise InvalidInput(f"a merge is pending, accepted, rejected or undone, not {status!r}")
        return self._h.read(lambda view: tuple(people.proposals(view, status)))

    def accept_merge(self, proposal: Proposal | str, *, dry_run: bool = False) -> Receipt:
        """From now on both are read as one; nothing is rewritten."""
        return self._decide(proposal, "accepted", dry_run)

    def reject_merge(self, proposal: Proposal | str, *, dry_run: bool = False) -> Receipt:
        """They are not the same; the proposal is not made again."""
        return self._decide(proposal, "rejected", dry_run)

    def undo_merge(self, proposal: Proposal | str, *, dry_run: bool = False) -> Receipt:
        """They are read as two again."""
        return self._decide(proposal, "undone", dry_run)

    def _decide(self, proposal: Proposal | str, status: str, dry_run: bool) -> Receipt:
        if not isinstance(proposal, Proposal | str):
            raise InvalidInput(f"name a merge proposal by its id, not {proposal!r}")
        wanted = proposal if isinstance(proposal, str) else proposal.id

        def work(tx: Tx, place: Place) -> Done:
            found = proposal_named(tx, self._h, wanted)
            changed = decide_merge(tx, found, status)
            if changed and status != "rejected":
                settling.decided(tx, found)
            return bytes.fromhex(found.id), changed

        return self._h.write(f"merge {status}", work, dry_run=dry_run)

    def equivalence_class(self, ref: Any) -> tuple[Node, ...]:
        """Everything accepted as the same as this, itself included."""
        return self._h.read(lambda view: tuple(introspection.members(view, self._h.resolve(view, ref).line)))

    def export_identity(self, ref: Any) -> dict[str, Any]:
        """One identity with all its names, and where each of them comes from."""
        return self._h.read(lambda view: introspection.identity(view, self._h.resolve(view, ref).line))

    @redacting
    def split(self, entity: Any, mentions: Sequence[Edge], name: str) -> Receipt:
        """Moves mentions (refers_to edges) off an entity, to a new one of that name."""

        def work(tx: Tx, place: Place) -> Done:
            line = self._h.target(tx, entity).line
            key, changed = split_entity(tx, line, mentions, name, place, self._h.config.max_text)
            return tx.id_of(key), changed

        return self._h.write("split", work)

    # Sleeping: the modules behind it are loaded when they are needed ---------------------------

    def consolidate(
        self, passes: Sequence[str] | None = None, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Report:
        """Thinks over what is new: all passes, or the named ones, in their order.

        It only adds understanding and never deletes a source. A second run right after the first
        changes nothing; `dry_run` says what each pass, by itself, would change.
        """
        self._h.require_free("consolidated")
        if self._h.scorers and passes is None and not dry_run:
            weight.catch_up(self._h.whole("scored"), self._h.scorers.values())
        if not dry_run and passes is None:
            remembering.resume(self._h, by_rules=True)
        if not dry_run and is_unswept(self._h.store, self._h.tenant_row().id):
            self._h.store.sweep()
        return night.consolidate(self._h, passes, dry_run=dry_run, progress=progress)

    def feedback(self, ref: Any, verdict: Literal["useful", "wrong"]) -> Receipt:
        """Says of something recalled that it helped, or that it did not; sleep makes it count."""
        if verdict not in ("useful", "wrong"):
            raise InvalidInput(f"feedback is useful or wrong, not {verdict!r}")

        return self._h.change("feedback", ref, lambda tx, line: note_use(tx, line, verdict))

    @redacting
    def pin(self, ref: Any, reason: str = "pinned by the user", *, dry_run: bool = False) -> Receipt:
        """Keeps it from going cold, and brings it back if it has."""

        def work(tx: Tx, line: int) -> bool:
            return set_mark(tx, line, "pin", "pinned", reason, tx.scope_id) | wake(tx, line)

        return self._h.change("pin", ref, work, dry_run)

    def unpin(self, ref: Any, *, dry_run: bool = False) -> Receipt:
        """Lets it fade like the rest again."""

        def work(tx: Tx, line: int) -> bool:
            return set_mark(tx, line, "pin", None, "no longer pinned", tx.scope_id)

        return self._h.change("unpin", ref, work, dry_run)

    def score_with(self, scorer: Scorer, progress: Callable[[int, int], None] | None = None) -> int:
        """Adds a scorer and runs it over everything stored; how many memories it has judged now.

        Recall adds its weight times its score as a factor. This process runs it each night over what
        is new; a run that is ended goes on where it was.
        """
        if not isinstance(scorer, Scorer):
            raise InvalidInput(f"score_with takes a Scorer(name, version, score, weight), not {scorer!r}")
        clean_name(scorer.name)
        handle = self._h.whole("scored")
        weight.register(handle, scorer)
        self._h.scorers[scorer.name] = scorer
        return weight.score_all(handle, scorer, progress)

    def drop_scorer(self, name: str) -> bool:
        """Takes a scorer and all its scores away; recall is as it was before. False where there is none."""
        dropped = weight.unregister(self._h.whole("scored"), name)
        self._h.scorers.pop(name, None)
        return dropped

    def profile(self, who: Any) -> Profile:
        """What is known of a person, by name or entity: attributes, style, relations, landmarks, causes."""
        return self._h.read(lambda view: profiling.profile(view, profiling.somebody(view, self._h, who)))

    def episodes(
        self, from_: When | None = None, to: When | None = None, *, limit: int = 20, read: bool = False
    ) -> tuple[Episode, ...]:
        """The newest stretches of talk in some time, oldest first; with `read`, what was said in them."""
        within = (EARLIEST if from_ is None else instant(from_), FOREVER if to is None else instant(to))
        return self._h.read(lambda view: profiling.episodes(view, within, limit, read=read))

    def conflicts(self) -> tuple[Contradiction, ...]:
        """What is believed and cannot all be true: both sides, with their dates and sources."""
        return self._h.read(introspection.conflicts)

    # Taking over from others, and giving them --------------------------------------------------

    def export(self, path: str | Path, format: str = "jsonl") -> int:
        """Writes jsonl (everything, exactly), markdown or graphml; how many lines or memories."""
        return exporters.export(self._h, path, format)

    def import_(
        self,
        path: str | Path,
        format: str = "auto",
        *,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> Imported:
        """Reads another memory's file, folder or archive; what it could not read is in the report."""
        return importers.import_(self._h, path, format, dry_run=dry_run, progress=progress)

    def absorb(
        self,
        other: Any,
        *,
        tenant: str | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> Absorbed:
        """Unions another memory (a Memory, or the path of a store) into this one.

        What both hold is one. Nothing that is believed here is closed: what cannot stand beside it
        becomes contradicts edges and merge proposals. The other store is only read; `tenant` names the
        one to absorb, if it is not called as this one. The same again changes nothing.
        """
        if not isinstance(other, Memory | str | Path):
            raise InvalidInput(f"absorb takes a Memory or the path of a store, not {other!r}")
        source = other._h if isinstance(other, Memory) else other
        return absorbing.absorb(self._h, source, tenant=tenant, dry_run=dry_run, progress=progress)

    # Looking after it --------------------------------------------------------------------------

    def verify(self, progress: verify.Progress | None = None) -> Verification:
        """Recomputes every hash and looks at every logged row; names whatever is damaged."""
        self._h.require_free("verified")
        with self._h.reading():
            return verify.verify(self._h.store, self._h.tenant_row(), progress, called=self._h.tenant)

    def forget(
        self,
        ref: Any = None,
        *,
        user: str | None = None,
        scope: Scope | None = None,
        before: When | None = None,
        confirm: bool = False,
        dry_run: bool = False,
        backups: Sequence[str | Path] = (),
        by: str | None = None,
    ) -> Forgotten:
        """Erases for good: a memory (or several), all of a user or another scope, or what is older than a moment.

        With it go its words, vectors, readings, labels, and all that was derived from it alone; what others have
        said too stays theirs. Nobody can bring it back, so it wants `confirm=True`; `dry_run` counts only. A
        tombstone says when and by whom (`by`) something was erased, and `verify` holds as before. `backups` names
        copies of this store in which it is to be erased too.
        """
        who = by or ("agent" if self._h.agent else "owner" if self._h.scope.bound() else "operator")
        told = forgetting.ToForget(ref, user, scope, None if before is None else instant(before))
        return forgetting.forget_for_good(
            self._h, told, who, confirm=confirm, dry_run=dry_run, backups=backups
        )

    def reindex(self) -> Remade:
        """Makes words, descriptions and labels anew from the texts, and drops vectors that nobody can compare.

        Nothing that is believed changes; with an embedder at hand, missing vectors are made as well.
        """
        self._h.require_free("indexed")
        with self._h.changeset("reindex") as (tx, _):
            done = reindexing.reindex(tx)
        self._h.store.forget(self._h.tenant)
        self._h.store.forget_caches()
        embedder = self._h.embedder()
        if embedder is not None:
            embed_pending(self._h, embedder)
        return done

    def ailments(self) -> tuple[Ailment, ...]:
        """What is wrong with the store that can be seen at once, each with the command that mends it."""
        self._h.require_free("examined")
        embedder = self._h.embedder()
        with self._h.reading():
            return reindexing.ailments(
                self._h.store, self._h.tenant_row().id, embedder.identity if embedder else None
            )

    def stats(self) -> dict[str, Any]:
        """How much is stored, and where."""
        found = self._h.read(lambda view: introspection.stats(view, self._h.store))
        counting.keep(self._h.store, self._h.tenant)
        of_all = ("changesets", "bytes") if self._h.confined.bound() else ()
        return {name: count for name, count in found.items() if name not in of_all}

    def readers(self) -> dict[str, int]:
        """Who has read the events of this tenant, and how many each; the empty name stands for nobody."""
        self._h.require_free("counted")
        return self._h.read(afterwards.readers)

    def reread(
        self,
        *,
        everything: bool = False,
        progress: afterwards.RereadProgress | None = None,
        dry_run: bool = False,
    ) -> Reread:
        """Reads again what another reader read, or everything, and brings the facts up to date.

        What is no longer drawn from a text is withdrawn, what is new is believed, everything else is
        left alone; so is what was given, confirmed or corrected by hand. A second run changes nothing.
        """
        self._h.require_free("read again")
        return afterwards.reread(self._h, everything=everything, progress=progress, dry_run=dry_run)

    def backup(self, path: str | Path) -> None:
        """A whole copy of the store in another file, taken while others go on writing."""
        self._h.require_free("copied")
        target = Path(path).expanduser()
        if _is_same_file(target, Path(self._h.store.path)):
            raise Refused(f"{target} is the store itself; back it up into another file")
        self._h.store.backup(str(target))

    def flush(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Embeds everything that has no vector yet; how many texts that were."""
        self._h.require_free("embedded")
        embedder = self._h.embedder()
        return 0 if embedder is None else embed_pending(self._h, embedder, progress)

    def reembed(self, progress: Callable[[int, int], None] | None = None, *, batch: int = 64) -> int:
        """Makes every vector anew with the embedder that is configured now; how many texts that were.

        The new ones lie beside the old ones, which answer until none is missing; then all are switched at once.
        Broken off, it goes on where it stopped. A process that runs with the old embedder answers by words then.
        """
        self._h.require_free("embedded")
        embedder = self._h.embedder()
        return 0 if embedder is None else embed_anew(self._h, embedder, progress, batch)


def _is_same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))
