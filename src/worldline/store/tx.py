"""One changeset: the only code that writes memories.

Rows are gathered and flushed in one go; a read inside the transaction flushes first, so handlers
see what came before them. There is no way to add an edge but `link`, and `link` runs the edge
type's handler. `finish` computes the hashes of every world touched and appends the log row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson

from worldline.clock import EARLIEST, FOREVER, LATEST, Instant, Interval
from worldline.errors import Conflict, Refused
from worldline.hashing import edge_id, edge_ids, node_id, record_id
from worldline.model import (
    Belief,
    Close,
    Edge,
    EdgeDraft,
    EdgeType,
    FactRow,
    NodeDraft,
    Op,
    Propose,
    Refuse,
    Scope,
)
from worldline.ports import Row, Store, Tenant
from worldline.store import counting, erasing, indexing, ledger
from worldline.store.held import FRESH
from worldline.store.indexing import ALWAYS, UNDESCRIBED, Indexing, is_silent
from worldline.store.schema import CLOSABLE, COLUMNS, KEYED, UNNUMBERED
from worldline.store.view import LISTED, SqlView, as_belief, json_text, label_value, listed
from worldline.store.words import owner_token

if TYPE_CHECKING:
    from worldline.store.slots import Gathering

MANY_WORDS = 200_000
"""So many words are gathered before they are put into the index all together."""


class Tx(Indexing):
    """A write transaction of one tenant; as a view it sees everything current, in one scope.

    Its known time (`stamp`) is later than every one before. By table, `rows` are gathered and not written out, and
    `closes` are to be closed. Where the store was empty (`fresh`), nothing need be looked for.
    """

    def __init__(
        self,
        store: Store,
        tenant: Tenant,
        *,
        known: Instant,
        scope: Scope = Scope(),
        types: Mapping[str, EdgeType],
        language: str = "english",
        fresh: bool = False,
        scope_key: str = "",
    ) -> None:
        super().__init__(store, tenant.id, valid=known, scope=scope)
        found = begun(store, tenant.id, tenant.root, scope_key)
        self.name, self.root, self.stamp = tenant.name, tenant.root, known
        self.sequence, self.head = tenant.sequence, tenant.head
        self.types, self.language, self.fresh = types, language, fresh
        self.scope_id = found.scope
        """The scope set that this handle writes to."""
        self.changes: list[str] = []
        self.proposed: list[str] = []
        self.ledger = ledger.Entries()
        """What the log will say of it."""
        self.worlds = ledger.Touched()
        """What world hashes are to be made anew."""
        self.gathering: Gathering | None = None
        """What settling an event has looked up, as long as nothing is written out."""
        self.held_worlds = {self.root: found.world} if found.world else {}
        self.typed = found.typed
        """Whether any type or predicate is registered."""
        self.forgot = found.forgot
        """Whether anything was ever erased."""
        self._erased: set[tuple[int, str, int]] | None = None
        """The edges that were, where somebody asked."""
        self._merged = found.merged
        self._next = dict(found.last)
        self._counted = found.counted
        self._far = self.sequence + self._next["beliefs"] + self._next["edges"]
        """How many changesets and rows there were when it began."""
        self.rows: dict[str, list[Row]] = {table: [] for table in COLUMNS}
        self._words: list[tuple[int, str, str, str]] = []
        self._texts, self._tokens, self._told = 0, 0, 0
        self._dirty = self._unwritten = False
        """Whether anything is gathered that is not noted yet, and that is noted and not written."""
        self._noted: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        """By table, how many of the gathered rows and ends are noted."""
        self.indexed_nodes: list[int] = []
        """The nodes whose text this changeset put and which get a vector."""
        self.closes: dict[str, list[int]] = {table: [] for table in CLOSABLE}
        self._ids: dict[int, bytes] = {}
        self._keys: dict[bytes, tuple[int, int]] = {}
        self._parents: dict[int, int | None] = {}
        self._new: dict[int, str] = {}
        """Lineages that began in this changeset, and their types; then the entities, and those that are believed."""
        self.born: list[int] = []
        self._begun: set[int] = set()
        self._stored: dict[int, Row] = {self.root: found.root} if found.root else {}
        self.keyless: list[tuple[frozenset[str], int]] | None = None
        """The block keys, and whose they are, of the stored names that wait for theirs, where somebody asked."""
        self.heard: set[bytes] = set()
        """The keys of the events that this changeset has put."""
        self._sat: set[int] = set()
        """The sessions that they were said in."""
        self.scope_keys: dict[int, str] = {}
        """The canonical texts of scope sets."""
        self._not_stored: set[bytes] = set()
        """Ids that are known not to be stored."""
        self._bare: set[tuple[int, str]] = set()
        """(node, type) of ends that had no edge of a type when the changeset began."""
        self._put_at: set[tuple[int, str, int, int, Instant]] = set()
        """Edges that this changeset put and did not close, with scope and start."""
        self._parental: set[int] = set()
        self._said_again: dict[int, None] = {}
        """Stored versions that got one more belief: a scope that did not put them must find them too."""
        self._put_here: dict[int, int] = {}
        """Versions that this changeset has put, and the scope set that they were put in."""
        self._linked: set[tuple[int, str, int]] = set()
        self._owners: dict[int, str] = {}
        self._seats: dict[int, int] = {}

    # Reading inside the transaction ------------------------------------------------------------

    def query(self, sql: str, **args: Any) -> list[Row]:
        """A statement that sees all that this changeset has gathered."""
        self.flush()
        return super().query(sql, **args)

    def peek(self) -> SqlView:
        """The store without what this changeset has gathered: for whoever adds that by himself."""
        return SqlView(
            self.store, self.tenant, valid=self.valid, known=self.known, scope=self.scope, owned=self.owned
        )

    def recollect(self, key: int, payload: Row, parent: int | Literal[False] | None = False) -> None:
        """What a look-up has brought of a stored node: (id, name, lineage), and the world that it lies in."""
        self._stored[key], self._ids[key] = payload, payload[0]
        self._keys[payload[0]] = (key, payload[2])
        if parent is not False:
            self._parents.setdefault(key, parent)

    def absent(self, *ids: bytes) -> None:
        """Ids that a look-up has not found."""
        self._not_stored.update(ids)

    def bare(self, key: int, *types: str) -> None:
        """Types of edges that a look-up has not found at a node, neither out of it nor into it."""
        self._bare.update((key, type_) for type_ in types)

    def seated(self, world: int, state: tuple[int, bytes, bytes] | None, last: int | None = None) -> None:
        """What a look-up has brought of a world: (newest version, hash, digest), and the last place in its talk."""
        if state is not None:
            self.held_worlds.setdefault(world, state)
        if last is not None:
            self._seats.setdefault(world, last)

    def sitting_in(self, id_: bytes) -> int:
        """The session of an id in which this changeset has put something already; 0 for none."""
        key = self._keys.get(id_, (0, 0))[0]
        return key if key in self._sat else 0

    def as_view(self, **changes: Any) -> SqlView:
        """A plain view of the store as this changeset has left it."""
        self.flush()
        self.words()
        bound: dict[str, Any] = {"valid": self.valid, "known": self.known, "scope": self.scope}
        return SqlView(self.store, self.tenant, **(bound | changes))

    def matching(
        self, tokens: Sequence[str], limit: int, *, texts: bool = True, facts: bool = True
    ) -> list[tuple[int, float]]:
        """As in the view, with the words that this changeset has gathered; few need not be written out for it."""
        self.note()
        view = self.peek()
        if len(self._words) < FRESH:
            view.gathered = self._words
        else:
            self.words()
        return view.matching(tokens, limit, texts=texts, facts=facts)

    def frequencies(self, tokens: Collection[str], common: int | None = None) -> dict[str, int]:
        """As in the view, with the words that this changeset has gathered."""
        self.words()
        return super().frequencies(tokens, common)

    def id_of(self, key: int) -> bytes:
        """The 32 bytes of a node's id."""
        held = self._ids.get(key)
        if held is None:
            held = self._ids[key] = self._payload(key)[0]
        return held

    def name_of(self, key: int) -> str:
        """What a stored node is called."""
        return str(self._payload(key)[1])

    def renamed(self, keys: Iterable[int]) -> None:
        """Names of these are read again."""
        for key in keys:
            self._stored.pop(key, None)

    def is_new(self, key: int) -> bool:
        """Whether a lineage began in this changeset."""
        return key in self._new

    def is_believed(self, line: int) -> bool:
        """Whether a lineage that began in this changeset is believed already."""
        return line in self._begun

    def belongs(self, scope: int, key: str, scopes: Sequence[Scope]) -> None:
        """What a scope set is called and made of, for whoever indexes words or opens a session in it."""
        self.scope_keys[scope] = key
        bound = [pair for each in scopes for pair in each.bound().items()]
        self._owners[scope] = " ".join([f"t{self.tenant}", *(owner_token(*pair) for pair in bound)])

    def _payload(self, key: int) -> Row:
        """(id, name, lineage) of a stored node; they never change."""
        held = self._stored.get(key)
        if held is None:
            rows = (self if key in self._put_here else self.peek()).query(
                "SELECT hash, name, line FROM nodes WHERE tenant = :t AND id = :key", key=key
            )
            held = self._stored[key] = rows[0]
        return held

    def same_as(self, *lines: int) -> list[int]:
        """As in the view; where nothing was ever merged, everything is only itself."""
        return super().same_as(*lines) if self.has_merges() else sorted(set(lines))

    def find(self, id_: bytes) -> tuple[int, int] | None:
        """(key, lineage) of a stored node."""
        if id_ not in self._keys and id_ not in self._not_stored and not self.fresh:
            rows = self.store.query(
                "SELECT id, line FROM nodes WHERE tenant = :t AND hash = :id", {"t": self.tenant, "id": id_}
            )
            if rows:
                self._keys[id_] = rows[0]
        return self._keys.get(id_)

    def stored_among(self, ids: Sequence[bytes]) -> set[bytes]:
        """Those of these ids that are stored already, or that this changeset has put or met."""
        found = set(filter(self._keys.__contains__, ids))
        if not self.fresh:
            rows = self.store.query(
                "SELECT n.hash, n.id, n.line FROM json_each(:wanted) j CROSS JOIN nodes n ON n.tenant = :t"
                " AND n.hash = unhex(j.value)",
                {"t": self.tenant, "wanted": orjson.dumps([id_.hex() for id_ in ids]).decode()},
            )
            found.update(row[0] for row in rows)
        return found

    def parent(self, line: int, since: Instant = LATEST) -> int | None:
        """As in the view, remembered."""
        if since != LATEST and line not in self._new:
            return super().parent(line, since)
        try:
            return self._parents[line]
        except KeyError:  # what settling an event moves is there already
            found = self.peek().parent(line) if self.gathering else super().parent(line)
            self._parents[line] = found
            return found

    def slot(self, subject: int, predicate: str, scope: int, beside: int) -> Sequence[FactRow]:
        """As in the view; from the look-up where it has the answer."""
        found = self.gathering.slot(subject, predicate, scope, beside) if self.gathering else None
        return super().slot(subject, predicate, scope, beside) if found is None else found

    def reaches(self, start: int, goal: int, type_: str, since: Instant) -> bool:
        """As in the view; what is new and has no children encloses nothing."""
        if type_ == "contains" and start in self._new and start not in self._parental:
            return start == goal
        return super().reaches(start, goal, type_, since)

    def height(self, line: int) -> int:
        """As in the view; what is new and has no children needs no look."""
        return 0 if line in self._new and line not in self._parental else super().height(line)

    def lies_in(self, line: int, world: int) -> None:
        """A lineage has come to lie in a world."""
        self._parents[line] = world
        self._parental.add(world)

    def is_put(self, id_: bytes) -> bool:
        """Whether this changeset has put or met a node of this id."""
        return id_ in self._keys

    def world_of(self, line: int) -> int:
        """The world that a lineage lies in; the root's number for the top level."""
        return self.parent(line) or self.root

    # Nodes and beliefs -------------------------------------------------------------------------

    def put(self, draft: NodeDraft) -> tuple[int, bool]:
        """Stores a payload and believes it; (key, whether anything changed)."""
        key, line, new = self.payload_only(draft)
        if new and key == line:
            self._believe_new(key, draft)
            return key, True
        if not new and self._holds(key, draft):
            return key, False
        self.believe(key, line, draft)
        if not new:
            self.wake(line)
            self.own_metadata(key, draft)
            self._come_back(line, draft)
        return key, True

    def payload_only(self, draft: NodeDraft, *, place: bool = True) -> tuple[int, int, bool]:
        """Stores a payload without believing it yet: (key, lineage, whether it is new).

        Without `place`, whoever calls says where it lies.
        """
        world = draft.world
        id_ = draft.id or node_id(
            draft.type, draft.name, draft.content, draft.dated, self.id_of(world) if world else None
        )
        if found := self.find(id_):
            if self.forgot:
                erasing.write_again(self, found[0], draft)
            return (*found, False)
        key = self._next["nodes"] = self._next["nodes"] + 1
        line = draft.lineage or key
        stored = json_text(draft.metadata) if draft.metadata else None
        self._dirty = True
        self.rows["nodes"].append(
            (key, self.tenant, id_, line, draft.type, draft.name, draft.content, draft.dated, world, stored,
             draft.scope, draft.made)
        )  # fmt: skip
        self._ids[key], self._keys[id_] = id_, (key, line)
        self._put_here[key] = draft.scope
        self._stored[key] = (id_, draft.name, line)
        if stored:
            self._label(key, draft)
        self._index(key, draft)
        if not (self.fresh or draft.type in UNDESCRIBED or is_silent(draft.type, draft.made)):
            self._describe(key, line, draft)
        if line != key:
            self.wake(line)
            self.worlds.new_version(line, key)
            return key, line, True
        self._new[key] = draft.type
        if draft.type == "Entity":
            self.born.append(key)
        self._parents[key] = None
        self.worlds.appeared[key] = id_
        if world and place:
            self._place(EdgeDraft(world, "contains", key, ALWAYS, draft.scope), id_)
        return key, line, True

    def wake(self, line: int) -> None:
        """What is said again, or changes, is not cold any more."""
        if line not in self._new and indexing.wake(self, line):
            self.changes.append("brought back from the archive")

    def _place(self, edge: EdgeDraft, child: bytes) -> None:
        """Puts a newborn into its world: a contains edge that cannot have been there before."""
        if ops := self.types["contains"].on_insert(edge, self):
            self.apply(ops, "contains")
        self._insert_edge(edge, edge_id(self._ids[edge.src], "contains", child), FOREVER, True)

    def _believe_new(self, key: int, draft: NodeDraft) -> None:
        """The first belief in a new lineage, which cannot meet another one."""
        row = self._next["beliefs"] = self._next["beliefs"] + 1
        self._begun.add(key)
        valid, status = draft.valid, draft.status
        self._dirty = True
        self.rows["beliefs"].append(
            (row, self.tenant, key, key, draft.type, draft.scope, valid.start, valid.end, self.stamp, FOREVER,
             None if status == "believed" else status, draft.confidence, draft.precision, draft.reason)
        )  # fmt: skip

    def _come_back(self, line: int, draft: NodeDraft) -> None:
        """What is believed again after it was given up lies where it was put, unless it moved."""
        if draft.world and self.parent(line) is None:
            since = self.stamp if self.parent(line, EARLIEST) else EARLIEST
            self.link(EdgeDraft(draft.world, "contains", line, Interval(since), draft.scope))

    def _holds(self, key: int, draft: NodeDraft) -> bool:
        """Whether this scope already believes the payload at the draft's start."""
        return any(draft.valid.start in b.valid for b in self.held_in(key, draft.scope))

    def held_in(self, key: int, scope: int) -> list[Belief]:
        """The current beliefs in one version in exactly this scope, whatever the handle's own is."""
        return [b for b in self.as_view(scope=Scope()).beliefs(key) if b.scope == scope]

    def believe(self, key: int, line: int, draft: NodeDraft) -> None:
        """A new belief in a stored version; it ends where a later one of the same scope begins."""
        end = min(draft.valid.end, self._next_begins(line, draft))
        if self._put_here.get(key) != draft.scope:
            self._said_again[key] = None
        self._begun.add(line)
        status = None if draft.status == "believed" else draft.status
        self._dirty = True
        self.rows["beliefs"].append(
            (self._row("beliefs"), self.tenant, line, key, draft.type, draft.scope, draft.valid.start,
             end, self.stamp, FOREVER, status, draft.confidence, draft.precision, draft.reason)
        )  # fmt: skip

    def _next_begins(self, line: int, draft: NodeDraft) -> Instant:
        if line in self._new and line not in self._begun:
            return FOREVER
        if self.gathering:
            known = self.gathering.next_begins(line, draft.scope, draft.valid.start)
            if known is not None:
                return known
        later = self.query(
            "SELECT min(vf) FROM beliefs WHERE tenant = :t AND line = :line AND kt = :forever"
            " AND scope = :scope AND vf > :start",
            line=line, scope=draft.scope, start=draft.valid.start,
        )[0][0]  # fmt: skip
        return FOREVER if later is None else int(later)

    def own_metadata(self, key: int, draft: NodeDraft) -> None:
        """Another scope with the same words keeps its own metadata, apart from the first one's."""
        known = "SELECT 1 FROM nodes WHERE tenant = :t AND id = :key AND scope = :scope UNION ALL"
        known += " SELECT 1 FROM metadata WHERE tenant = :t AND node = :key AND scope = :scope"
        if draft.metadata and not self.query(known, key=key, scope=draft.scope):
            self.add("metadata", key, draft.scope, json_text(draft.metadata))
            self._label(key, draft)

    def _label(self, key: int, draft: NodeDraft) -> None:
        for label, value in draft.metadata.items():
            self._add("labels", (self.tenant, label, label_value(value), key, draft.scope))

    # Edges -------------------------------------------------------------------------------------

    def link(self, edge: EdgeDraft) -> tuple[bytes, bool]:
        """Runs the edge type's handler and carries out what it answers; (id, whether it is new)."""
        src, dst, type_ = edge.src, edge.dst, edge.type
        if edge.fact is not None:
            return b"", self.apply(self.types[type_].on_insert(edge, self), type_)
        ids = self._ids
        id_ = edge_id(ids.get(src) or self.id_of(src), type_, ids.get(dst) or self.id_of(dst))
        return id_, self._link(edge, id_)

    def link_all(self, edges: Sequence[EdgeDraft]) -> list[bool]:
        """The same for edges that are no facts; whether each is new."""
        ids = edge_ids([(self.id_of(edge.src), edge.type, self.id_of(edge.dst)) for edge in edges])
        return [self._link(edge, id_) for edge, id_ in zip(edges, ids, strict=True)]

    def _link(self, edge: EdgeDraft, id_: bytes) -> bool:
        src, dst, type_ = edge.src, edge.dst, edge.type
        start, end, first = edge.valid.start, edge.valid.end, True
        if (src, type_, dst, edge.scope, start) in self._put_at:
            return False
        if (src, type_, dst) in self._linked or not self._is_first(src, type_, dst):
            rows = self._rows_of(edge)
            mine = [row for row in rows if row.known.end == FOREVER
                    and (row.scope == edge.scope or type_ == "contains")]  # fmt: skip
            if self.types[type_].versions:  # each supersession has its own moment
                mine = [row for row in mine if row.valid.start == start]
            mine = self._give_way(edge, mine)
            if any(start in row.valid for row in mine):
                return False
            end, first = min([end, *(r.valid.start for r in mine if r.valid.start > start)]), not rows
        ops = () if src != dst and self.is_plain_edge(type_) else self.types[type_].on_insert(edge, self)
        if ops and any(isinstance(op, Propose) for op in ops):
            told = len(self.changes)
            self.apply(ops, type_)
            return len(self.changes) > told
        self._insert_edge(edge, id_, end, first)
        if ops:
            self.apply(ops, type_)
        return True

    def _is_first(self, src: int, type_: str, dst: int) -> bool:
        """Whether no such edge can be stored: one of its ends is new, or was bare."""
        ends = (src, type_), (dst, type_)
        return src in self._new or dst in self._new or any(end in self._bare for end in ends)

    def _give_way(self, edge: EdgeDraft, rows: list[Edge]) -> list[Edge]:
        """What sleep had derived makes room for somebody who states the same edge."""
        derived = [] if edge.made == "inferred" else [row for row in rows if row.made == "inferred"]
        for row in derived:
            self.close(Close(as_belief(row), "edges", reason="stated now"), edge.type)
        return [row for row in rows if row not in derived]

    def _rows_of(self, edge: EdgeDraft) -> list[Edge]:
        """Every belief ever held in this triple, in any scope."""
        ends = {"src": edge.src, "type": edge.type, "dst": edge.dst}
        some = "SELECT 1 FROM edges WHERE tenant = :t AND src = :src AND type = :type AND dst = :dst LIMIT 1"
        if not self.query(some, **ends):
            return []
        return self.as_view(scope=Scope()).edge_rows(
            "e.src = :src AND e.type = :type AND e.dst = :dst", **ends
        )

    def _insert_edge(self, edge: EdgeDraft, id_: bytes, end: Instant, first: bool) -> None:
        src, dst, type_ = edge.src, edge.dst, edge.type
        world = src if type_ == "contains" else self.owning_world(src, type_, dst)
        if type_ == "contains" and dst not in self._new:
            self.worlds.move(dst, self.world_of(dst), src)
        row = self._next["edges"] = self._next["edges"] + 1
        self._dirty = True
        self.rows["edges"].append(
            (row, self.tenant, id_, src, type_, dst, world, edge.scope, edge.valid.start, end,
             self.stamp, FOREVER, json_text(edge.metadata) if edge.metadata else None, edge.made)
        )  # fmt: skip
        self._linked.add((src, type_, dst))
        if end == FOREVER and edge.made != "inferred":
            self._put_at.add((src, type_, dst, edge.scope, edge.valid.start))
        if type_ == "same_as":
            self._merged = True
        if type_ == "contains":
            self.lies_in(dst, src)
        elif first and not self.is_counted(src, type_, dst):
            self.worlds.add(world, id_)

    def is_counted(self, src: int, type_: str, dst: int) -> bool:
        """Whether such an edge was erased: the hash of its world counts it as before."""
        if not self.forgot or src in self._new or dst in self._new:
            return False
        if self._erased is None:
            gone = erasing.tombs(self.store.query, self.tenant).edges
            self._erased = {(edge.src, edge.type, edge.dst) for edge in gone}
        return (src, type_, dst) in self._erased

    def owning_world(self, src: int, type_: str, dst: int) -> int:
        """The lowest world that holds both ends; refers_to belongs to its source's world."""
        here = self.world_of(src if src in self._new else self._line_of(src))
        if type_ == "refers_to":
            return here
        there = self.world_of(dst if dst in self._new else self._line_of(dst))
        if here == there:
            return here
        above = self._ancestors(here)
        while there not in above:
            there = self.world_of(there)
        return there

    def _line_of(self, key: int) -> int:
        """The lineage of a version (an end of a supersedes edge may be one)."""
        return int(self._payload(key)[2])

    def _ancestors(self, world: int) -> set[int]:
        above = {world}
        while world != self.root:
            world = self.world_of(world)
            above.add(world)
        return above

    # Ops ---------------------------------------------------------------------------------------

    def apply(self, ops: Sequence[Op], by: str) -> bool:
        """Carries out a handler's answer; a refusal undoes the whole changeset."""
        for op in ops:
            if isinstance(op, Refuse):
                raise Refused(op.reason)
            if isinstance(op, Close):
                self.close(op, by)
            elif isinstance(op, Propose):
                self.propose(op)
            elif op.edge is not None:
                self.link(op.edge)
            elif op.reopen is not None:
                self._reopen(op.table, op.reopen)
        return bool(ops)

    def close(self, op: Close, by: str) -> None:
        """Ends a belief on the known axis, and believes the shorter interval instead if there is one."""
        row = self._held(op.table, op.target.row)
        if row[COLUMNS[op.table].index("kt")] != FOREVER:
            raise Conflict("this belief was given up already; read again and repeat")
        self.end_row(op.table, op.target.row)
        self.changes.append(_told(op, by))
        if op.valid_to is None and op.status is None:
            self._contained_no_more(op.table, row)
            return
        columns = dict(zip(COLUMNS[op.table], row, strict=True))
        columns.update(id=self._row(op.table), kf=self.stamp, kt=FOREVER)
        if op.valid_to is not None:
            columns["vt"] = op.valid_to
            self._contained_no_more(op.table, row)
        if op.status is not None:
            columns.update(status=op.status, reason=op.reason)
        self._add(op.table, tuple(columns.values()))

    def end_row(self, table: str, row: int) -> None:
        """Closes a row on the known axis, with nothing in its place."""
        self._dirty = True
        if table == "edges":
            self._put_at.clear()
        self.closes[table].append(row)

    def _held(self, table: str, row: int) -> Row:
        known = self.gathering.belief(row) if self.gathering and table == "beliefs" else None
        if known is not None:
            return known
        found = self.query(
            f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE tenant = :t AND id = :row", row=row
        )
        return found[0]

    def _contained_no_more(self, table: str, row: Row) -> None:
        """Ending a contains edge puts its child back into the root."""
        if table == "edges" and row[4] == "contains" and row[9] == FOREVER:
            self.worlds.move(row[5], row[3], self.root)
            self._parents[row[5]] = None

    def _reopen(self, table: str, belief: Belief) -> None:
        """Another interval of a stored version or edge."""
        if table == "edges":
            columns = dict(zip(COLUMNS["edges"], self._held("edges", belief.of), strict=True))
            columns.update(id=self._row("edges"), vf=belief.valid.start, vt=belief.valid.end)
            columns.update(kf=self.stamp, kt=FOREVER)
            if columns["type"] == "contains" and columns["vt"] == FOREVER:
                self.worlds.move(columns["dst"], self.world_of(columns["dst"]), columns["src"])
                self._parents[columns["dst"]] = columns["src"]
            self._add("edges", tuple(columns.values()))
            return
        line, type_ = belief.of, self._new.get(belief.of, "")
        if not type_:
            line, type_ = self.query(
                "SELECT line, type FROM nodes WHERE tenant = :t AND id = :key", key=belief.of
            )[0]
        draft = NodeDraft(
            type_, "", valid=belief.valid, scope=belief.scope, status=belief.status,
            confidence=belief.confidence, precision=belief.precision, reason=belief.reason,
        )  # fmt: skip
        self.believe(belief.of, line, draft)

    def propose(self, op: Propose) -> None:
        """Stages a merge once a scope; one that was decided before is not staged again."""
        a, b = sorted((op.a, op.b))
        gathered = [
            row[2:] for row in self.rows["proposals"] if (row[3], row[4], row[9]) == (a, b, self.scope_id)
        ]
        found = gathered or (self if self.closes["proposals"] else self.peek()).query(
            "SELECT hash, status FROM proposals WHERE tenant = :t AND a = :a AND b = :b AND kt = :forever"
            " AND scope = :scope",
            a=a, b=b, scope=self.scope_id,
        )  # fmt: skip
        id_ = found[0][0] if found else self.proposal_id(a, b)
        self.proposed.append(id_.hex())
        if not found:
            self.add_proposal(id_, a, b, "pending", op.tier, op.score, op.reason, self.scope_id)
            self.changes.append("proposed a merge")

    def proposal_id(self, a: int, b: int) -> bytes:
        """The same pair in another scope is another proposal, for its owner to decide."""
        key = self.scope_keys.get(self.scope_id) if self.scope_id else None
        if key is None:
            rows = self.query("SELECT key FROM scopes WHERE tenant = :t AND id = :scope", scope=self.scope_id)
            key = rows[0][0] if rows else None
        return record_id(
            "proposal", self.id_of(a).hex(), self.id_of(b).hex(), *([] if key is None else [key])
        )

    def add_proposal(self, id_: bytes, *rest: Any) -> None:
        """A row for a proposal's new status."""
        a, b, status, tier, score, reason, scope = rest
        self._add(
            "proposals",
            (self._row("proposals"), self.tenant, id_, a, b, status, tier, score, reason, scope,
             self.stamp, FOREVER),
        )  # fmt: skip

    # Other rows --------------------------------------------------------------------------------

    def add(self, table: str, *values: Any) -> int:
        """A row of one of the side tables (events, facts, aliases, scopes, ontology, …)."""
        if table == "events":
            self.heard.add(values[1])
            self._sat.add(values[6])
        self.typed |= table == "ontology"
        self._merged = self._merged or (table == "edges" and values[2] == "same_as")
        if table in UNNUMBERED:
            self._add(table, (self.tenant, *values))
            return 0
        row = values[0] if table in KEYED else self._row(table)
        self._add(table, (row, self.tenant, *(values[1:] if table in KEYED else values)))
        return int(row)

    def place_fact(self, edge: EdgeDraft) -> bool:
        """Runs the fact handler; whether anything was believed or ended by it."""
        before = len(self.changes), self._next["beliefs"]
        self.link(edge)
        return before != (len(self.changes), self._next["beliefs"])

    # Rows --------------------------------------------------------------------------------------

    def _row(self, table: str) -> int:
        row = self._next[table] = self.next_row(table)
        return row

    def next_row(self, table: str) -> int:
        """The number that the next row of a table will get."""
        if table not in self._next:
            self._next[table] = last_row(self.store, self.tenant, table)
        return self._next[table] + 1

    def _add(self, table: str, row: Row) -> None:
        self._dirty = True
        self.rows[table].append(row)

    def flush(self) -> None:
        """Writes what has been gathered, and notes it for the log."""
        self.note()
        if self._unwritten:
            self._unwritten = False
            self._write()

    def note(self) -> None:
        """Notes for the log what has been gathered; written out it is with the next rows, or before they are read."""
        if not self._dirty:
            return
        self._dirty, self._unwritten, self.gathering = False, True, None
        for table, rows in self.rows.items():
            if len(rows) > (known := self._noted.get(table, 0)):
                self.ledger.put(table, rows[known:] if known else rows)
                self._noted[table] = len(rows)
        for table, closed in self.closes.items():
            if len(closed) > (known := self._ended.get(table, 0)):
                self.ledger.closed(table, closed[known:], self.stamp)
                self._ended[table] = len(closed)

    def _write(self) -> None:
        self._noted.clear()
        self._ended.clear()
        self.keyless = None
        for table, rows in self.rows.items():
            if rows:
                self.rows[table] = []
                self.store.put(table, rows)
        if self._tokens - self._told >= MANY_WORDS:
            self._told = self._tokens
            self.words()
        for table, closed in self.closes.items():
            if closed:
                self.closes[table] = []
                self.store.later(
                    f"UPDATE {table} SET kt = :stamp WHERE tenant = :t AND id IN {LISTED} AND kt = :forever",
                    {"t": self.tenant, "stamp": self.stamp, "forever": FOREVER, "among": listed(closed)},
                )

    def finish(self, kind: str) -> None:
        """Hashes of every world touched, then one row in the log."""
        self.flush()
        self.reindex_shared(self._said_again)
        self.words()
        if self.ledger.empty:
            return
        ledger.settle_worlds(self)
        self.flush()
        body, rows = self.ledger.seal()
        self.sequence += 1
        self.head = ledger.append(self, kind, body, rows)
        self.store.later(
            "UPDATE tenants SET last_known = :stamp, sequence = :sequence, head = :head, texts = texts + :texts,"
            " tokens = tokens + :tokens WHERE tenant = :t",
            {
                "t": self.tenant,
                "stamp": self.stamp,
                "sequence": self.sequence,
                "head": self.head,
                "texts": self._texts,
                "tokens": self._tokens,
            },
        )
        at = counting.Standing(
            self.sequence, self.head, self.stamp, *(self._next[t] for t in ("nodes", "beliefs", "edges"))
        )
        counting.follow(self.store, self.tenant, at, self._counted, self._far)


def _told(op: Close, by: str) -> str:
    if op.status is not None:
        return f"{op.status} ({op.reason or by})"
    return f"withdrawn ({op.reason or by})" if op.valid_to is None else f"ended ({by})"


# How a changeset begins ---------------------------------------------------------------------------
#
# How a changeset begins: one statement tells what it would otherwise ask on its way, piece by piece.


NUMBERED = ("nodes", "beliefs", "edges", "aliases", "world_hashes")
"""Tables that almost every changeset writes to."""


def _last(table: str) -> str:
    """The last row number of a table; the number of what was erased is not given again."""
    return (
        f"(SELECT coalesce(max(y.last), 0) FROM (SELECT max(x.id) AS last FROM {table} x WHERE x.tenant = :t"
        f" UNION ALL SELECT max(e.last) FROM erased e WHERE e.tenant = :t AND e.of = '{table}') y)"
    )


_LAST = ", ".join(map(_last, NUMBERED))


class Begun(NamedTuple):
    """A memory as a changeset finds it."""

    last: dict[str, int]
    """The last row numbers of the tables that almost every changeset writes to."""
    root: Row | None
    """(id, name, lineage) of the whole memory's own node."""
    world: tuple[int, bytes, bytes] | None
    """(newest version, hash, digest) of the whole memory."""
    merged: bool
    """Whether any merge was ever accepted."""
    typed: bool
    """Whether any type or predicate is registered."""
    forgot: bool
    """Whether anything was ever erased."""
    scope: int
    """The number of the scope set that was asked for; 0 where it is not made yet."""
    counted: int | None
    """How far the counts that are kept have come."""


def begun(store: Store, tenant: int, root: int, scope: str) -> Begun:
    """Where the memory of a tenant stands, for a changeset in this scope set."""
    rows = store.query(
        f"SELECT {_LAST}, r.hash, r.name, r.line, w.head, w.hash, w.digest,"
        " EXISTS (SELECT 1 FROM proposals p WHERE p.tenant = :t AND p.status = 'accepted'),"
        " EXISTS (SELECT 1 FROM ontology o WHERE o.tenant = :t AND o.kt = :forever),"
        " EXISTS (SELECT 1 FROM erased e WHERE e.tenant = :t AND e.of = 'nodes'),"
        f" coalesce((SELECT s.id FROM scopes s WHERE s.tenant = :t AND s.key = :scope), 0), {counting.FAR}"
        " FROM tenants t LEFT JOIN nodes r ON r.tenant = :t AND r.id = :root"
        " LEFT JOIN worlds w ON w.tenant = :t AND w.line = :root WHERE t.tenant = :t",
        {"t": tenant, "root": root, "scope": scope, "forever": FOREVER},
    )
    row, at = rows[0], len(NUMBERED)
    return Begun(
        dict(zip(NUMBERED, row[:at], strict=True)),
        row[at : at + 3] if row[at] is not None else None,
        row[at + 3 : at + 6] if row[at + 3] is not None else None,
        bool(row[at + 6]),
        bool(row[at + 7]),
        bool(row[at + 8]),
        int(row[at + 9]),
        row[at + 10] if isinstance(row[at + 10], int) else None,
    )


def last_row(store: Store, tenant: int, table: str) -> int:
    """The last row number of one table."""
    rows = store.query(f"SELECT {_last(table)}", {"t": tenant})
    return int(rows[0][0])
