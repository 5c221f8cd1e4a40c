"""What a store has on record, and how it is found: tenants, scope sets, types, lineages by id, lists and counts.

Types are those of a world and all below it. From what a caller holds (an id, a prefix, a former hash, a value) a
look-up never guesses: a prefix that fits several memories is an error that lists them.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from worldline.clock import EARLIEST, FOREVER, LATEST, Instant, Interval, show
from worldline.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from worldline.hashing import GENESIS, node_id, world_hash
from worldline.model import (
    Believed,
    Edge,
    EdgeType,
    Hit,
    Metadata,
    Node,
    NodeDraft,
    NodeType,
    Predicate,
    Receipt,
    Scope,
    clean_name,
)
from worldline.ports import Row, Store, Tenant, View
from worldline.rules import handlers
from worldline.store.held import CLAIM, its_own
from worldline.store.tx import Tx
from worldline.store.view import NODE, listed, node_from, scope_key


def new_tenant(store: Store, name: str, now: Instant, types: Mapping[str, EdgeType]) -> Tenant:
    """A tenant and its root world, inside the write transaction that first needs them."""
    number = store.number(name)
    claimed = its_own(store.execute(CLAIM, {"t": number, "name": name, "now": now, "head": GENESIS}), name)
    if claimed.root:
        return claimed
    tx = Tx(store, Tenant(number, name, 1, now), known=now + 1, types=types)
    key, _ = tx.put(NodeDraft("Scope", "root", valid=Interval(EARLIEST)))
    store.execute("UPDATE tenants SET root = :root WHERE tenant = :t", {"root": key, "t": number})
    tx.finish("open")
    return Tenant(number, name, key, tx.stamp, tx.sequence, tx.head)


def begun_in(scopes: Sequence[Scope], store: Store, tenant: Tenant, *, settled: bool, **how: Any) -> Tx:
    """A new changeset of a tenant that reads in the first of these scopes; settled, it writes to all of them.

    Their scope set is made at first use.
    """
    key = set_key(scopes)
    tx = Tx(store, tenant, scope=scopes[0] if scopes else Scope(), scope_key=key, **how)
    if settled:
        tx.scope_id = tx.scope_id or scope_set(tx, scopes)
        tx.belongs(tx.scope_id, key, scopes)
    return tx


def _bound(scopes: Sequence[Scope]) -> list[Scope]:
    return sorted({scope for scope in scopes if scope.bound()}, key=scope_key)


def set_key(scopes: Sequence[Scope]) -> str:
    """The canonical text of a scope set; empty for no scope at all."""
    return "|".join(scope_key(scope) for scope in _bound(scopes))


def scope_set(tx: Tx, scopes: Sequence[Scope]) -> int:
    """The number of a scope set, made at first use; 0 for no scope at all."""
    bound, key = _bound(scopes), set_key(scopes)
    if not bound:
        return 0
    rows = tx.query("SELECT id FROM scopes WHERE tenant = :t AND key = :key", key=key)
    if rows:
        return int(rows[0][0])
    if len(bound) == 1:
        return _add_scope(tx, key, bound[0])
    whole = tx.add("scopes", key, None, None, None, None, tx.next_row("scopes"))
    for scope in bound:
        alone = scope_set(tx, [scope])
        tx.add("scopes", f"{key}#{alone}", *msgspec.structs.astuple(scope), whole)
    return whole


def _add_scope(tx: Tx, key: str, scope: Scope) -> int:
    number = tx.add("scopes", key, *msgspec.structs.astuple(scope), tx.next_row("scopes"))
    for kind, value in scope.bound().items():
        alone = Scope(**{kind: value})
        if alone == scope:
            tx.put(NodeDraft("Scope", f"{kind}:{value}", valid=Interval(EARLIEST), scope=number))
        else:
            scope_set(tx, [alone])
    return number


def scope_names(view: View) -> set[str]:
    """`kind:name` of every scope known by now, as far as the bound scope reaches: its own and those within it."""
    kinds = "".join(f' AND "{kind}" = :{kind}' for kind in view.scope.bound())
    rows = view.query(f'SELECT "user", agent, app, run FROM scopes WHERE tenant = :t{kinds}')
    names = {f"{kind}:{name}" for row in rows for kind, name in Scope(*row).bound().items()}
    held = view.bind(scope=Scope(), owned={}).nodes(
        "b.type = 'Scope' AND n.name IN (SELECT value FROM json_each(:among))",
        among=listed(sorted(names)),
    )
    return {node.name for node in held}


def register(tx: Tx, item: EdgeType | NodeType | Predicate, world: int) -> bool:
    """Records a type for a world; the same name and version again changes nothing."""
    name = getattr(item, "name", None)
    if clean_name(name) != name:
        raise InvalidInput(f"a name has no space around it and one line: {name!r}")
    kind = _kind(item)
    built_in = handlers.NODE_TYPES if kind == "node" else handlers.EDGE_TYPES
    if kind != "predicate" and item.name in built_in and not _registered(tx, kind, item.name):
        raise Refused(f"{item.name!r} is built in and cannot be registered again")
    version = getattr(item, "version", "1")
    spec = orjson.dumps(msgspec.to_builtins(item)).decode() if isinstance(item, Predicate) else None
    found = [row for row in _registered(tx, kind, item.name) if row[1] == world]
    if found and (found[0][2], found[0][3]) == (version, spec):
        return False
    for row in found:
        tx.end_row("ontology", row[0])
    tx.add("ontology", world, kind, item.name, version, spec, tx.stamp, FOREVER)
    return True


def take_back(tx: Tx, put: Sequence[int], ended: Sequence[int]) -> bool:
    """Undoes registrations: those put end, those ended stand again; a conflict where one is in use by now."""
    rows = [_registration(tx, number) for number in put]
    before = [_registration(tx, number) for number in ended]
    standing = [row for row in rows if row[-1] == FOREVER]
    for number, *named, _, _, _ in standing:
        if named not in [row[1:4] for row in before] and _is_used(tx, *named[1:]):
            raise Conflict(f"memories of the type {named[2]!r} were written since; end them first")
        tx.end_row("ontology", number)
    for _, world, kind, name, version, spec, _ in before if standing else ():
        if world not in {row[1] for row in _registered(tx, kind, name)}:
            tx.add("ontology", world, kind, name, version, spec, tx.stamp, FOREVER)
    return bool(standing)


def _registration(tx: Tx, number: int) -> list[Any]:
    row = tx.query(
        "SELECT id, world, kind, name, version, spec, kt FROM ontology WHERE tenant = :t AND id = :n",
        n=number,
    )
    return list(row[0])


def _is_used(tx: Tx, kind: str, name: str) -> bool:
    """Whether something of this type is believed; a predicate's facts do without a rule for it."""
    if kind == "predicate":
        return False
    table = "beliefs" if kind == "node" else "edges"
    sql = f"SELECT 1 FROM {table} WHERE tenant = :t AND type = :name AND kt = :forever LIMIT 1"
    return bool(tx.query(sql, name=name))


def _kind(item: Any) -> str:
    for type_, kind in ((EdgeType, "edge"), (NodeType, "node"), (Predicate, "predicate")):
        if isinstance(item, type_):
            return kind
    raise InvalidInput(f"register an EdgeType, a NodeType or a Predicate, not {item!r}")


def _registered(tx: Tx, kind: str, name: str | None) -> list[Row]:
    """(row, world, version, spec, name) of what is registered now."""
    if not tx.typed:
        return []
    chosen = "TRUE" if name is None else "name = :name"
    return tx.query(
        "SELECT id, world, version, spec, name FROM ontology WHERE tenant = :t AND kind = :kind"
        f" AND {chosen} AND kt = :forever ORDER BY id",
        kind=kind, name=name,
    )  # fmt: skip


def _here(tx: Tx, kind: str, name: str | None, world: int) -> list[Row]:
    """The same, for this world and those above it, nearest first."""
    above, at = [world], world
    while at and (parent := tx.parent(at)):
        at = parent
        above.append(at)
    order = {line: place for place, line in enumerate([*above, 0])}
    rows = [row for row in _registered(tx, kind, name) if row[1] in order]
    return sorted(rows, key=lambda row: order[row[1]])


def node_types(tx: Tx, world: int, *, agent: bool) -> tuple[str, ...]:
    """The types that a note may have here."""
    own = tuple(row[4] for row in _here(tx, "node", None, world))
    return handlers.AGENT_TYPES + own + (() if agent else handlers.OPERATOR_TYPES)


def edge_type(tx: Tx, name: str, world: int, *, agent: bool) -> None:
    """Refuses an edge type that this world does not know, or that this process cannot run."""
    if isinstance(name, str) and name not in handlers.EDGE_TYPES:
        rows = _here(tx, "edge", name, world)
        if rows:
            _require_handler(tx, name, rows[0][2])
    allowed = handlers.AGENT_EDGES if agent else handlers.EDGE_TYPES
    names = [row[4] for row in _here(tx, "edge", None, world)]
    facing = {type_.name for type_ in tx.types.values() if type_.agent_facing}
    own = tuple(name for name in names if not agent or name in facing)
    handlers.require(name, allowed + own, "edge type")


def _require_handler(tx: Tx, name: str, version: str) -> None:
    held = tx.types.get(name)
    if held is None or held.version != version:
        raise Refused(
            f"this process has no handler for {name!r} version {version}; "
            "register its EdgeType here before writing such edges (reading works)"
        )


def predicate(tx: Tx, name: str, world: int) -> Predicate:
    """How facts with this predicate reconcile here; an unknown one may have many objects."""
    rows = _here(tx, "predicate", name, world)
    return msgspec.json.decode(rows[0][3], type=Predicate) if rows else Predicate(name)


def knows_predicate(tx: Tx, name: str, world: int) -> bool:
    """Whether somebody registered this predicate, here or above."""
    return bool(_here(tx, "predicate", name, world))


_HEX = re.compile(r"[0-9a-f]+")


class Target(Struct, frozen=True):
    """A lineage; the version that was meant, if one was; and the moment a former hash stands for."""

    line: int
    key: int = 0
    known: Instant = LATEST


class Leaves:
    """The first digits of the hash of every single memory of a tenant: worked out once, then only for new ones."""

    def __init__(self) -> None:
        self._last = 0
        self._heads, self._keys = array("Q"), array("q")
        self._lock = Lock()

    def find(self, view: View, wanted: bytes) -> list[int]:
        """The memories whose hash begins as this one."""
        rows = view.query("SELECT id, hash FROM nodes WHERE tenant = :t AND id > :last", last=self._last)
        with self._lock:
            for key, id_ in rows:
                if key > self._last:
                    self._heads.append(_head(world_hash(id_)))
                    self._keys.append(key)
            self._last = max(self._last, *(row[0] for row in rows)) if rows else self._last
            head, at, found = _head(wanted), -1, list[int]()
            while True:
                try:
                    at = self._heads.index(head, at + 1)
                except ValueError:
                    return found
                found.append(self._keys[at])


def _head(hash_: bytes) -> int:
    return int.from_bytes(hash_[:8], "big")


def resolve(view: View, ref: Any, shortest: int = 8) -> Target:
    """The memory that `ref` means in this scope and world."""
    if isinstance(ref, Hit):
        ref = ref.node
    if isinstance(ref, Node):
        if (ref.key, ref.line) not in view.named(ref.id):
            raise NotFound(f"{ref.id[:12]} ({ref.name}) is not in this tenant, scope and world")
        return Target(ref.line, ref.key)
    if isinstance(ref, Receipt | Believed) or (isinstance(ref, Edge) and ref.type == "fact"):
        ref = ref.id
    if not isinstance(ref, str):
        raise InvalidInput(f"name a memory by its id, a prefix of it, or the memory itself, not {ref!r}")
    text = ref.strip().lower()
    if not _HEX.fullmatch(text) or not shortest <= len(text) <= 64:
        raise InvalidInput(
            f"{ref[:80]!r} is not an id: give at least {shortest} of its 64 hex digits (list shows them)"
        )
    return _by_prefix(view, text)


def _by_prefix(view: View, prefix: str) -> Target:
    found = view.named(prefix)
    lines = {line for _, line in found}
    former = view.former(prefix)
    if len(lines | {line for line, _, _ in former}) > 1:
        raise Ambiguous(f"{prefix} fits several memories: {_candidates(view, found, former)}")
    if found:
        key, line = found[0]
        return Target(line, key if key != line and len(found) == 1 else 0)
    if former:
        return Target(former[-1][0], known=former[-1][2])
    return _leaf(view, prefix)


def _leaf(view: View, prefix: str) -> Target:
    """A leaf's hash is not stored, because it follows from its id; a whole one is looked for."""
    if len(prefix) == 64:
        wanted = bytes.fromhex(prefix)
        for key in view.store.leaves.setdefault(view.tenant, Leaves()).find(view, wanted):
            line, id_ = view.query("SELECT line, hash FROM nodes WHERE tenant = :t AND id = :key", key=key)[0]
            if world_hash(id_) == wanted and view.named(id_.hex()):
                return Target(line, key)
    raise NotFound(f"no memory {prefix[:16]} in this tenant, scope and world")


def _candidates(view: View, found: list[tuple[int, int]], former: list[Any]) -> str:
    told = []
    for key, _ in found[:6]:
        node = view.payload(key)
        if node is not None:
            told.append(f"{node.id[:16]} ({node.type} {node.name[:40]!r})")
    told += [f"{hash_[:16]} (a world's hash from {show(since)})" for _, hash_, since in former[:6]]
    return ", ".join(told)


def missing(view: View, target: Target) -> NotFound:
    """Why a memory that exists cannot be seen from this moment."""
    history = view.bind(known=LATEST).history(target.line)
    if not history:
        return NotFound("no such memory in this tenant, scope and world")
    belief, node = history[-1]
    return NotFound(
        f"{node.id[:12]} ({node.name}) is not visible at this moment; it was last believed to hold "
        f"from {show(belief.valid.start)} until {show(belief.valid.end)}; see its history"
    )


# Nodes -------------------------------------------------------------------------------------------


def page(
    view: View,
    types: Sequence[str] | None,
    metadata: Metadata,
    most: int,
    after: tuple[Instant, int] | None = None,
) -> list[Node]:
    """Visible memories of these types (None: all but what is drawn from others), newest first, after a mark.

    Of each type no more are read than the page may have.
    """
    args: dict[str, Any] = {"most": most, "types": listed(types or ())}
    page_vf, page_id = after or (FOREVER, 0)
    view = view.bind(labels={**view.labels, **metadata}) if metadata else view
    newest = "ORDER BY b.vf DESC, b.node DESC, b.id LIMIT :most"
    rows = view.query(
        f"{_TYPES if types is None else _GIVEN} SELECT {NODE} FROM k CROSS JOIN beliefs b ON b.tenant = :t AND b.id IN"
        " (SELECT b.id FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE b.tenant = :t"
        " AND b.type = k.type AND b.vf <= :page_vf AND (b.vf < :page_vf OR b.node < :page_id)"
        f" AND {view.seen()} {newest}) CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node {newest}",
        page_vf=page_vf, page_id=page_id, **args,
    )  # fmt: skip
    return [node_from(row) for row in rows]


DRAWN = ("Fact", "Entity", "Topic", "Summary", "Scope", "Session")
"""What is drawn from what people add, or only holds it together; it is listed on request."""
_NEXT_TYPE = "SELECT min(x.type) FROM beliefs x WHERE x.tenant = :t"
_TYPES = (
    f"WITH RECURSIVE every(type) AS (SELECT ({_NEXT_TYPE}) UNION ALL SELECT ({_NEXT_TYPE} AND x.type > every.type)"
    " FROM every WHERE every.type IS NOT NULL), k AS (SELECT type FROM every WHERE type IS NOT NULL"
    f" AND type NOT IN {DRAWN!r})"
)
"""The types that there are, without looking at more than one belief of each."""
_GIVEN = "WITH k AS (SELECT DISTINCT value AS type FROM json_each(:types))"


def everything(view: View) -> list[Node]:
    """All visible memories, newest first; not what only holds them together."""
    return view.nodes("b.type NOT IN ('Scope', 'Session')", "ORDER BY b.vf DESC, b.id DESC")


def versions(view: View, keys: Sequence[int]) -> list[Node]:
    """These versions where they are visible, in this order."""
    rows = view.query(
        f"SELECT {NODE} FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
        f" WHERE {view.seen()} ORDER BY j.key, b.kt, b.id",
        among=listed(keys),
    )
    return [node_from(row) for row in rows]


def summaries(view: View, worlds: Collection[int]) -> dict[int, int]:
    """World → the newest summary that it contains."""
    rows = view.query(
        "SELECT w.value, (SELECT n.line FROM edges e CROSS JOIN beliefs b ON b.tenant = e.tenant AND b.line = e.dst"
        " CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
        f" WHERE e.tenant = :t AND e.src = w.value AND e.type = 'contains' AND {view.time('e')}"
        f" AND n.type = 'Summary' AND {view.seen()} ORDER BY e.dst DESC LIMIT 1) FROM json_each(:among) w",
        among=listed(worlds),
    )
    return {world: summary for world, summary in rows if summary is not None}


# Worlds ------------------------------------------------------------------------------------------

_HASH = (
    "(SELECT h.hash FROM world_hashes h WHERE h.tenant = :t AND h.line = {line} AND h.kf <= :k"
    " ORDER BY h.kf DESC, h.id DESC LIMIT 1)"
)


def hash_of(view: View, line: int) -> bytes:
    """The hash of a world at this known time; a leaf's follows from its id."""
    world, own = view.query(
        f"SELECT {_HASH.format(line=':line')}, (SELECT n.hash FROM nodes n WHERE n.tenant = :t AND n.id = :line)",
        line=line,
    )[0]
    return world or world_hash(own or node_id("Scope", "root", ""))  # nothing was ever written: a bare root


def worlds(view: View) -> tuple[tuple[Node, str], ...]:
    """Every visible memory that contains something, with its hash."""
    rows = view.query(
        f"SELECT w.line, {_HASH.format(line='w.line')} FROM worlds w WHERE w.tenant = :t AND EXISTS (SELECT 1"
        " FROM edges e WHERE e.tenant = :t AND e.src = w.line AND e.type = 'contains' AND e.kf <= :k) ORDER BY w.line"
    )
    hashes: dict[int, bytes | None] = dict(rows)
    return tuple(
        (node, (hashes[node.line] or world_hash(bytes.fromhex(node.lineage))).hex())
        for node in view.visible(hashes)
    )


# Spans ---------------------------------------------------------------------------------------------


def span(view: View) -> dict[str, Interval | None]:
    """From the first to the last moment at which something began, for valid and for known time."""
    first_valid, began, ended, first_known, last_known = view.query(
        "SELECT min(b.vf), max(b.vf), max(CASE WHEN b.vt < :forever THEN b.vt ELSE b.vf END),"
        " min(b.kf), max(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.type <> 'Scope' AND b.vf > :earliest"
        f" AND {view.scoped('b')} AND {view.ever_inside('b.line')}",
        earliest=EARLIEST,
    )[0]
    if first_valid is None:
        return {"valid": None, "known": None}
    return {
        "valid": Interval(first_valid, max(began, ended) + 1),
        "known": Interval(first_known, last_known + 1),
    }
