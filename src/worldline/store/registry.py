"""What a store has on record: tenants, scope sets, and the ontology of each world and all below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
import orjson

from worldline.clock import EARLIEST, FOREVER, Instant, Interval
from worldline.errors import Conflict, InvalidInput, Refused
from worldline.hashing import GENESIS
from worldline.inputs import clean_name
from worldline.model import EdgeType, NodeDraft, NodeType, Predicate, Scope
from worldline.ports import Row, Store, Tenant, Tx
from worldline.rules import ontology
from worldline.store.held import CLAIM, its_own
from worldline.store.tx import begin


def new_tenant(store: Store, name: str, now: Instant, types: Mapping[str, EdgeType]) -> Tenant:
    """A tenant and its root world, inside the write transaction that first needs them."""
    number = store.number(name)
    claimed = its_own(store.execute(CLAIM, {"t": number, "name": name, "now": now, "head": GENESIS}), name)
    if claimed.root:
        return claimed
    tx = begin(store, Tenant(number, name, 1, now), known=now + 1, types=types)
    key, _ = tx.put(NodeDraft("Scope", "root", valid=Interval(EARLIEST)))
    store.execute("UPDATE tenants SET root = :root WHERE tenant = :t", {"root": key, "t": number})
    tx.finish("open")
    return Tenant(number, name, key, tx.stamp, tx.sequence, tx.head)


def begun_in(scopes: Sequence[Scope], store: Store, tenant: Tenant, *, settled: bool, **how: Any) -> Tx:
    """A new changeset of a tenant that reads in the first of these scopes; settled, it writes to all of them.

    Their scope set is made at first use.
    """
    key = set_key(scopes)
    tx = begin(store, tenant, scope=scopes[0] if scopes else Scope(), scope_key=key, **how)
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
        values = [getattr(scope, kind) for kind in ("user", "agent", "app", "run")]
        tx.add("scopes", f"{key}#{alone}", *values, whole)
    return whole


def _add_scope(tx: Tx, key: str, scope: Scope) -> int:
    values = [getattr(scope, kind) for kind in ("user", "agent", "app", "run")]
    number = tx.add("scopes", key, *values, tx.next_row("scopes"))
    for kind, value in scope.bound().items():
        alone = Scope(**{kind: value})
        if alone == scope:
            tx.put(NodeDraft("Scope", f"{kind}:{value}", valid=Interval(EARLIEST), scope=number))
        else:
            scope_set(tx, [alone])
    return number


def scope_key(scope: Scope) -> str:
    """The canonical text of a scope: `agent=a&user=u`."""
    return "&".join(f"{kind}={quote(value)}" for kind, value in sorted(scope.bound().items()))


def register(tx: Tx, item: EdgeType | NodeType | Predicate, world: int) -> bool:
    """Records a type for a world; the same name and version again changes nothing."""
    name = getattr(item, "name", None)
    if clean_name(name) != name:
        raise InvalidInput(f"a name has no space around it and one line: {name!r}")
    kind = _kind(item)
    built_in = ontology.NODE_TYPES if kind == "node" else ontology.EDGE_TYPES
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
    return ontology.AGENT_TYPES + own + (() if agent else ontology.OPERATOR_TYPES)


def edge_type(tx: Tx, name: str, world: int, *, agent: bool) -> None:
    """Refuses an edge type that this world does not know, or that this process cannot run."""
    if isinstance(name, str) and name not in ontology.EDGE_TYPES:
        rows = _here(tx, "edge", name, world)
        if rows:
            _require_handler(tx, name, rows[0][2])
    allowed = ontology.AGENT_EDGES if agent else ontology.EDGE_TYPES
    own = tuple(row[4] for row in _here(tx, "edge", None, world) if not agent or _for_agents(tx, row[4]))
    ontology.require(name, allowed + own, "edge type")
    return


def _for_agents(tx: Tx, name: str) -> bool:
    held = tx.types.get(name)
    return held is not None and held.agent_facing


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
