"""How memories leave a store and come into another: rows by ids for an export or a union, and whole tenants.

Row numbers are this store's own, so that what leaves it by an export goes by ids; a `key` beside an id is
the row number, by which the caller chooses what may be told. A tenant that moves keeps its rows, both time axes, log
and hashes: they are numbered within it, so nothing is translated but its own number, which a file has smaller. One
tenant is one transaction: a copy that was cut short is begun again for the tenants that are missing. It is
proved before it is kept: every row that the log vouches for; indexes are copied with what they index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import Instant, Interval
from worldline.errors import Refused, StoreError
from worldline.hashing import GENESIS
from worldline.model import Node
from worldline.ports import Store, Tenant, Tx, View
from worldline.store import packing
from worldline.store.held import CLAIM
from worldline.store.schema import COLUMNS, TABLES, VECTORS, columns_of, key_of, quoted
from worldline.store.verify import verify
from worldline.store.view import LISTED, listed

_ID = "(SELECT x.hash FROM nodes x WHERE x.tenant = :t AND x.id = {})"
_EVENT_SKIPPED = frozenset({"node", "tenant", "key", "session", "draft"})
EVENT_COLUMNS = tuple(c for c in COLUMNS["events"] if c not in _EVENT_SKIPPED)
FACT_COLUMNS = tuple(c for c in COLUMNS["facts"] if c not in ("node", "tenant", "subject", "object"))
SIDE = {"wordings": "object", "blocks": "line"}
"""What understanding has learned of names and wordings, by the column that says of what."""
Mark = tuple[Instant, Instant, Instant]
"""Valid start, valid end and known start of a row in another store."""


class TypeRow(NamedTuple):
    """A registered type or predicate."""

    kind: str
    name: str
    version: str
    spec: str | None
    world_id: bytes | None
    world: int


class NodeRow(NamedTuple):
    """A version of a memory."""

    key: int
    id: bytes
    lineage: bytes
    type: str
    name: str
    content: str
    dated: Instant | None
    world_id: bytes | None
    metadata: str | None
    scope: int | None
    made: str | None


class EventRow(NamedTuple):
    """Something said: its words, what is left to do with it, and its other columns by name."""

    node: int
    id: bytes
    key: bytes
    world: int
    text: str
    scope: int
    draft: str | None
    values: dict[str, Any]


class FactRowById(NamedTuple):
    """A fact with its ends by id, and its other columns by name."""

    node: int
    id: bytes
    subject: bytes | None
    object: bytes | None
    values: dict[str, Any]


class AliasRow(NamedTuple):
    """A name of somebody."""

    line: int
    of: bytes
    key: str
    name: str
    scope: int


class NoteRow(NamedTuple):
    """What another scope has noted beside the same words."""

    node: int
    of: bytes
    scope: int
    metadata: str


class SideRow(NamedTuple):
    """A wording or a block key of a name."""

    table: str
    of_key: int
    of: bytes
    values: dict[str, Any]


class CopiedOrigin(NamedTuple):
    """A store that held a row before, and how it held it."""

    store: bytes
    valid: Interval
    known: Interval


class BeliefRow(NamedTuple):
    """A belief in a version."""

    row: int
    of: bytes
    valid: Interval
    known: Interval
    scope: int
    status: str | None
    confidence: float | None
    precision: str | None
    reason: str | None
    node: int


class EdgeRow(NamedTuple):
    """An edge with its ends by id."""

    row: int
    id: bytes
    src_id: bytes
    type: str
    dst_id: bytes
    world_id: bytes | None
    valid: Interval
    known: Interval
    scope: int
    metadata: str | None
    src: int
    dst: int
    world: int
    made: str | None


class MergeRow(NamedTuple):
    """A merge that was staged or decided."""

    row: int
    id: bytes
    a_id: bytes
    b_id: bytes
    status: str
    tier: str
    score: float
    reason: str | None
    scope: int
    known: Interval
    a: int
    b: int


class MarkRow(NamedTuple):
    """A pin or a stage."""

    row: int
    of: bytes
    kind: str
    value: str | None
    reason: str | None
    scope: int
    known: Interval
    line: int


class HeldRow(NamedTuple):
    """A row of this store, with the version it is about, and its marks in the stores that held it before."""

    node: int
    id: str
    row: int
    scope: int
    valid: Interval
    known: Interval
    status: str | None
    marks: tuple[Mark, ...]


# What an export tells -------------------------------------------------------------------------------


def root_of(view: View) -> int | None:
    """The lineage of the whole memory; None where nothing was ever written."""
    rows = view.query("SELECT root FROM tenants WHERE tenant = :t")
    return int(rows[0][0]) if rows else None


def believed_ever(view: View) -> set[int]:
    """The versions with a belief in this scope and world."""
    rows = view.query(
        f"SELECT DISTINCT b.node FROM beliefs b WHERE b.tenant = :t AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')}"
    )
    return {row[0] for row in rows}


def spoken_of(view: View, nodes: Collection[int]) -> set[int]:
    """The lineages, worlds, subjects and objects that these versions speak of."""
    rows = view.query(
        f"SELECT line FROM nodes WHERE tenant = :t AND id IN {LISTED}"
        f" UNION SELECT world FROM nodes WHERE tenant = :t AND id IN {LISTED}"
        f" UNION SELECT subject FROM facts WHERE tenant = :t AND node IN {LISTED}"
        f" UNION SELECT object FROM facts WHERE tenant = :t AND node IN {LISTED}",
        among=listed(nodes),
    )
    return {row[0] for row in rows if row[0]}


def scope_parts(view: View) -> dict[int, list[dict[str, str]]]:
    """The scopes of every scope set that this view may tell, by its number."""
    rows = view.query(
        'SELECT r.scope, r."user", r.agent, r.app, r.run FROM (SELECT id, tenant, part_of AS scope, "user",'
        " agent, app, run FROM scopes WHERE tenant = :t) r"
        f" WHERE r.tenant = :t AND {view.scoped('r')} ORDER BY r.id"
    )
    sets: dict[int, list[dict[str, str]]] = {}
    for number, *values in rows:
        bound = {k: v for k, v in zip(("user", "agent", "app", "run"), values, strict=True) if v}
        sets.setdefault(number, []).extend([bound] if bound else [])
    return sets


def types(view: View) -> list[TypeRow]:
    """Everything that is registered now."""
    rows = view.query(
        f"SELECT o.kind, o.name, o.version, o.spec, {_ID.format('o.world')}, o.world FROM ontology o"
        " WHERE o.tenant = :t AND o.kt = :forever ORDER BY o.id"
    )
    return [TypeRow(*row) for row in rows]


def nodes(view: View) -> Iterator[NodeRow]:
    """Every version; metadata and scope only of those that this view may tell."""
    rows = view.query(
        f"SELECT n.id, n.hash, {_ID.format('n.line')}, n.type, n.name, n.content, n.dated,"
        f" {_ID.format('n.world')}, CASE WHEN {view.scoped('n')} THEN n.metadata END,"
        f" CASE WHEN {view.scoped('n')} THEN n.scope END, n.made"
        " FROM nodes n WHERE n.tenant = :t ORDER BY n.id"
    )
    return (NodeRow(*row) for row in rows)


def events(view: View) -> Iterator[EventRow]:
    """Everything that was ever said."""
    columns = ", ".join(f"e.{column}" for column in EVENT_COLUMNS)
    rows = view.query(
        "SELECT e.node, n.hash, e.key, coalesce(n.world, 0), n.content, coalesce((SELECT b.scope FROM beliefs b"
        " WHERE b.tenant = :t AND b.line = n.line ORDER BY b.id LIMIT 1), 0),"
        f" e.draft, {columns} FROM events e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.node"
        " WHERE e.tenant = :t ORDER BY e.node"
    )
    return (EventRow._make((*row[:7], dict(zip(EVENT_COLUMNS, row[7:], strict=True)))) for row in rows)


def id_of(view: View, key: int) -> str | None:
    """The id of a version; None for what is not stored."""
    rows = view.query("SELECT hash FROM nodes WHERE tenant = :t AND id = :key", key=key)
    return rows[0][0].hex() if rows else None


def facts(view: View) -> Iterator[FactRowById]:
    """Every fact."""
    columns = ", ".join(f"f.{column}" for column in FACT_COLUMNS)
    rows = view.query(
        f"SELECT f.node, n.hash, {_ID.format('f.subject')}, {_ID.format('f.object')}, {columns}"
        " FROM facts f CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node WHERE f.tenant = :t ORDER BY f.node"
    )
    return (FactRowById._make((*row[:4], dict(zip(FACT_COLUMNS, row[4:], strict=True)))) for row in rows)


def aliases(view: View) -> list[AliasRow]:
    """Every name in this scope."""
    rows = view.query(
        f"SELECT a.line, {_ID.format('a.line')}, a.key, a.name, a.scope FROM aliases a"
        f" WHERE a.tenant = :t AND {view.scoped('a')} ORDER BY a.id"
    )
    return [AliasRow(*row) for row in rows]


def notes(view: View) -> list[NoteRow]:
    """What other scopes have noted beside the same words."""
    rows = view.query(
        f"SELECT m.node, {_ID.format('m.node')}, m.scope, m.metadata FROM metadata m"
        f" WHERE m.tenant = :t AND {view.scoped('m')} ORDER BY m.id"
    )
    return [NoteRow(*row) for row in rows]


def sides(view: View) -> Iterator[SideRow]:
    """Wordings and block keys of names."""
    for table, of in SIDE.items():
        columns = [column for column in COLUMNS[table] if column not in ("tenant", of)]
        rows = view.query(
            f"SELECT r.{of}, {_ID.format('r.' + of)}, {', '.join(f'r.{c}' for c in columns)} FROM {table} r"
            f" WHERE r.tenant = :t ORDER BY r.{of}, {', '.join(f'r.{c}' for c in columns)}"
        )
        for key, id_, *values in rows:
            yield SideRow(table, key, id_, dict(zip(columns, values, strict=True)))


def origins(view: View, table: str) -> dict[int, list[CopiedOrigin]]:
    """Where the rows of a table come from, if another store held them first."""
    found: dict[int, list[CopiedOrigin]] = {}
    rows = view.query(
        "SELECT o.row, o.store, o.vf, o.vt, o.kf, o.kt FROM origins o WHERE o.tenant = :t AND o.of = :table"
        " ORDER BY o.id",
        table=table,
    )
    for row, store, vf, vt, kf, kt in rows:
        found.setdefault(row, []).append(CopiedOrigin(store, Interval(vf, vt), Interval(kf, kt)))
    return found


def beliefs(view: View) -> Iterator[BeliefRow]:
    """Every belief of this scope."""
    rows = view.query(
        "SELECT b.id, n.hash, b.vf, b.vt, b.kf, b.kt, b.scope, b.status, b.confidence, b.precision,"
        " b.reason, b.node FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        f" WHERE b.tenant = :t AND {view.scoped('b')} ORDER BY b.id"
    )
    return (BeliefRow._make((r[0], r[1], Interval(r[2], r[3]), Interval(r[4], r[5]), *r[6:])) for r in rows)


def edges(view: View) -> Iterator[EdgeRow]:
    """Every edge of this scope."""
    rows = view.query(
        f"SELECT e.id, e.hash, {_ID.format('e.src')}, e.type, {_ID.format('e.dst')},"
        f" {_ID.format('e.world')}, e.vf, e.vt, e.kf, e.kt, e.scope, e.metadata, e.src, e.dst, e.world, e.made"
        f" FROM edges e WHERE e.tenant = :t AND {view.scoped('e')} ORDER BY e.id"
    )
    return (EdgeRow._make((*r[:6], Interval(r[6], r[7]), Interval(r[8], r[9]), *r[10:])) for r in rows)


def merges(view: View) -> list[MergeRow]:
    """Every merge of this scope, as it was staged and decided."""
    rows = view.query(
        f"SELECT p.id, p.hash, {_ID.format('p.a')}, {_ID.format('p.b')}, p.status, p.tier, p.score,"
        " p.reason, p.scope, p.kf, p.kt, p.a, p.b FROM proposals p"
        f" WHERE p.tenant = :t AND {view.scoped('p')} ORDER BY p.id"
    )
    return [MergeRow._make((*r[:9], Interval(r[9], r[10]), *r[11:])) for r in rows]


def marks(view: View) -> list[MarkRow]:
    """Pins and stages; what is archived is left to the nights of the store that reads this."""
    rows = view.query(
        f"SELECT m.id, {_ID.format('m.line')}, m.kind, m.value, m.reason, m.scope, m.kf, m.kt, m.line"
        f" FROM marks m WHERE m.tenant = :t AND m.kind <> 'archived' AND {view.scoped('m')} ORDER BY m.id"
    )
    return [MarkRow._make((*r[:6], Interval(r[6], r[7]), r[8])) for r in rows]


# What a union asks ----------------------------------------------------------------------------------


def is_empty(store: Store, tenant: int) -> bool:
    """Whether nothing was ever stored for a tenant."""
    return not store.query("SELECT 1 FROM nodes WHERE tenant = :t AND type <> 'Scope' LIMIT 1", {"t": tenant})


def stored_among(store: Store, tenant: int, ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """(key, lineage) of those of these ids that are stored."""
    found = {}
    for id_ in ids:
        rows = store.query(
            "SELECT id, line FROM nodes WHERE tenant = :t AND hash = :hash",
            {"t": tenant, "hash": bytes.fromhex(id_)},
        )
        if rows:
            found[id_] = (int(rows[0][0]), int(rows[0][1]))
    return found


def line_and_type(tx: Tx, key: int) -> tuple[int, str]:
    """The lineage and the type of a version."""
    rows = tx.query("SELECT line, type FROM nodes WHERE tenant = :t AND id = :key", key=key)
    return int(rows[0][0]), str(rows[0][1])


def placed(tx: Tx) -> dict[tuple[int, int], int]:
    """The rows of all contains edges, by world and child."""
    rows = tx.query("SELECT id, src, dst FROM edges WHERE tenant = :t AND type = 'contains' ORDER BY id")
    return {(src, dst): row for row, src, dst in rows}


def names_here(tx: Tx, line: int) -> set[tuple[str, str, int]]:
    """(folded name, name, scope) of every name that an entity has here."""
    rows = tx.query("SELECT key, name, scope FROM aliases WHERE tenant = :t AND line = :line", line=line)
    return {(key, name, scope) for key, name, scope in rows}


_MARKS = (
    "(SELECT json_group_array(json_array(o.vf, o.vt, o.kf)) FROM origins o"
    " WHERE o.tenant = :t AND o.of = :of AND o.row = r.id)"
)


def held_beliefs(tx: Tx, line: int) -> list[HeldRow]:
    """Every belief ever held in a lineage."""
    rows = tx.query(
        f"SELECT r.node, n.hash, r.id, r.scope, r.vf, r.vt, r.kf, r.kt, r.status, {_MARKS}"
        " FROM beliefs r CROSS JOIN nodes n ON n.tenant = :t AND n.id = r.node"
        " WHERE r.tenant = :t AND r.line = :line ORDER BY r.id",
        line=line,
        of="beliefs",
    )
    return [_held(row) for row in rows]


def held_edges(tx: Tx, src: int, type_: str, dst: int) -> list[HeldRow]:
    """Every belief ever held in a triple."""
    rows = tx.query(
        f"SELECT 0, r.hash, r.id, r.scope, r.vf, r.vt, r.kf, r.kt, NULL, {_MARKS} FROM edges r"
        " WHERE r.tenant = :t AND r.src = :src AND r.type = :type AND r.dst = :dst ORDER BY r.id",
        src=src, type=type_, dst=dst, of="edges",
    )  # fmt: skip
    return [_held(row) for row in rows]


def _held(row: tuple[Any, ...]) -> HeldRow:
    node, id_, number, scope, vf, vt, kf, kt, status, marks_ = row
    earlier = tuple((mark[0], mark[1], mark[2]) for mark in orjson.loads(marks_))
    return HeldRow(node, id_.hex(), number, scope, Interval(vf, vt), Interval(kf, kt), status, earlier)


def is_contradicted(tx: Tx, a: int, b: int, scope: int) -> bool:
    """Whether a contradicts edge was ever put between two, in a scope."""
    rows = tx.query(
        "SELECT 1 FROM edges WHERE tenant = :t AND type = 'contradicts' AND src IN (:a, :b) AND dst IN (:a, :b)"
        " AND scope = :scope LIMIT 1",
        a=a, b=b, scope=scope,
    )  # fmt: skip
    return bool(rows)


def contained_when(tx: Tx, line: int) -> list[Interval]:
    """When something is believed to lie in any world."""
    rows = tx.query(
        "SELECT vf, vt FROM edges WHERE tenant = :t AND dst = :dst AND type = 'contains' AND kt = :forever"
        " ORDER BY vf, id",
        dst=line,
    )
    return [Interval(*row) for row in rows]


def first_told_by(tx: Tx, line: int) -> str:
    """The verb of the changeset in which a lineage was first believed."""
    rows = tx.query(
        "SELECT g.kind FROM log g WHERE g.tenant = :t AND g.known ="
        " (SELECT min(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.line = :line)",
        line=line,
    )
    return str(rows[0][0]) if rows else ""


# Shown to people ------------------------------------------------------------------------------------


def shown_notes(view: View) -> list[Node]:
    """Every visible memory but what was said, its facts and its frames, by type and name."""
    return view.nodes("b.type NOT IN ('Scope', 'Session', 'Turn', 'Fact')", "ORDER BY b.type, n.name, b.id")


def shown_facts(view: View) -> list[Node]:
    """Every visible fact, by its words."""
    return view.nodes("b.type = 'Fact'", "ORDER BY n.content, b.id")


def shown(view: View) -> list[Node]:
    """Every visible memory, the oldest first."""
    return view.nodes("b.type <> 'Scope'", "ORDER BY n.id, b.id")


def of_type(view: View, type_: str) -> list[Node]:
    """The visible memories of one type, the oldest belief first."""
    return view.nodes("b.type = :type", "ORDER BY b.id", type=type_)


BATCH = 2000
Progress = Callable[[str, int], None]
_MOVED = tuple(table for table in TABLES if table not in ("meta", "tenants"))


class Moved(Struct, frozen=True):
    """A tenant that was copied, or was there already."""

    tenant: str
    rows: int
    changesets: int
    head: str
    already: bool = False


def move(source: Store, target: Store, name: str, progress: Progress | None = None) -> Moved:
    """Copies one tenant; one that the target has as it is is left alone, an earlier state of it is replaced."""
    with source.reading(name) as tenant:
        if not tenant.id:
            raise Refused(
                f"{source.path} has no tenant {name!r}; it has: {', '.join(source.tenants()) or 'none'}"
            )
        with target.writing(name) as held:
            if held.head == tenant.head:
                return Moved(name, 0, tenant.sequence, tenant.head.hex(), True)
            if held.id and not _led_to(source, tenant.id, held):
                raise Refused(
                    f"{target.path} holds another memory of the tenant {name!r}; copy into another store"
                )
            told = progress or (lambda stage, done: None)
            rows = _carry(source, target, tenant, told)
            found = verify(
                target,
                target.tenant_row(name),
                lambda stage, done: told(f"{name}: proving {stage}", done),
                derived=False,
            )
            if found.damage or target.tenant_row(name).head != tenant.head:
                raise StoreError(
                    f"the copy of {name!r} does not prove itself ({found.damage[:1]}); nothing was kept"
                )
    target.forget(name)
    return Moved(name, rows, tenant.sequence, tenant.head.hex())


def _led_to(source: Store, number: int, held: Tenant) -> bool:
    """Whether the source was once as the target is now."""
    rows = source.query(
        "SELECT hash FROM log WHERE tenant = :t AND sequence = :sequence",
        {"t": number, "sequence": held.sequence},
    )
    return bool(rows) and bytes(rows[0][0]) == held.head


def _carry(source: Store, target: Store, tenant: Tenant, progress: Progress) -> int:
    number = target.number(tenant.name)
    args = {"t": number, "name": tenant.name, "now": tenant.last_known, "head": GENESIS}
    target.execute(CLAIM, args)
    done = 0
    for table in _MOVED:
        target.execute(f"DELETE FROM {table} WHERE tenant = :t", {"t": number})
        at = columns_of(table).index("tenant")
        for rows in _batches(source, table, tenant.id):
            carried = [(*row[:at], number, *row[at + 1 :]) for row in rows]
            target.put(table, _as_kept(target, table, carried), columns_of(table))
            done += len(rows)
            progress(f"{tenant.name}: {table}", done)
    columns = [column for column in columns_of("tenants") if column not in ("tenant", "name")]
    ((*values,),) = source.query(
        f"SELECT {', '.join(columns)} FROM tenants WHERE tenant = :t", {"t": tenant.id}
    )
    target.execute(
        f"UPDATE tenants SET {', '.join(f'{column} = :{column}' for column in columns)} WHERE tenant = :t",
        {"t": number, **dict(zip(columns, values, strict=True))},
    )
    return done


def _as_kept(target: Store, table: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The same rows, their vectors as the target keeps them."""
    if table not in VECTORS:
        return rows
    kept = packing.packed if target.packs else packing.plain
    return [(*rest, kept(bytes(vector))) for *rest, vector in rows]


def _batches(source: Store, table: str, number: int) -> Iterator[list[tuple[Any, ...]]]:
    """All rows of a tenant, in the order of their key."""
    columns, keys = columns_of(table), key_of(table)[1:]
    names = ", ".join(map(quoted, columns))
    order, after = ", ".join(keys), ", ".join(f":{key}" for key in keys)
    last: dict[str, Any] = {}
    while True:
        beyond = f" AND ({order}) > ({after})" if last else ""
        rows = source.query(
            f"SELECT {names} FROM {table} WHERE tenant = :t{beyond} ORDER BY {order} LIMIT {BATCH}",
            {"t": number, **last},
        )
        if rows:
            yield rows
        if len(rows) < BATCH:
            return
        last = {key: rows[-1][columns.index(key)] for key in keys}
