"""How memories leave a store and come into another: rows by ids for an export or a union, and whole tenants.

Row numbers are this store's own, so that what leaves it by an export goes by ids; a `key` beside an id is
the row number, by which the caller chooses what may be told. A tenant that moves keeps its rows, both time axes, log
and hashes: they are numbered within it, so nothing is translated but its own number, which a file has smaller. One
tenant is one transaction: a copy that was cut short is begun again for the tenants that are missing. It is
proved before it is kept: every row that the log vouches for; indexes are copied with what they index.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import FOREVER, Instant, Interval
from worldline.errors import Refused, StoreError
from worldline.hashing import GENESIS
from worldline.model import Node
from worldline.ports import Store, Tenant, View
from worldline.store import packing
from worldline.store.events import event_key
from worldline.store.held import CLAIM
from worldline.store.schema import COLUMNS, TABLES, VECTORS, columns_of, key_of, quoted
from worldline.store.verify import verify
from worldline.store.view import LISTED, grouped, listed

if TYPE_CHECKING:
    from worldline.store.tx import Tx

_NOT_TOLD = frozenset({"node", "tenant", "key", "session", "draft"})
_ID = "(SELECT x.hash FROM nodes x WHERE x.tenant = :t AND x.id = {})"
SIDE = {"wordings": "object", "blocks": "line"}
"""What understanding has learned of names and wordings, by the column that says of what."""
Mark = tuple[Instant, Instant, Instant]
"""Valid start, valid end and known start of a row in another store."""


RANKS = {"quarantined": 0, None: 1, "believed": 1, "confirmed": 2}
"""How far a belief is trusted."""


class HeldRow(NamedTuple):
    """A row of this store, with the version it is about, and its marks here and in the stores that held it before."""

    node: int
    id: str
    row: int
    scope: int
    valid: Interval
    known: Interval
    rank: int
    marks: frozenset[Mark]

    @property
    def current(self) -> bool:
        return self.known.end == FOREVER


# What an export tells -------------------------------------------------------------------------------


def root_of(view: View) -> int | None:
    """The lineage of the whole memory; None where nothing was ever written."""
    rows = view.query("SELECT root FROM tenants WHERE tenant = :t")
    return int(rows[0][0]) if rows else None


def believed_ever(view: View) -> set[int]:
    """The versions with a belief in this scope and world."""
    return view.distinct(
        f"SELECT DISTINCT b.node FROM beliefs b WHERE b.tenant = :t AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')}"
    )


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


class _Told(NamedTuple):
    """How the rows `r` of a table are told."""

    rows: str
    """Where they come from; `{scoped}` is the condition of this view's scope."""
    about: tuple[str, ...]
    """The columns of the versions that must all be among those that may be told."""
    fields: dict[str, str]
    """The name of each field of a line, and the column that it holds."""
    values: tuple[str, ...] = ()
    """Columns that go together, as one field, under their own names."""


def _same(names: str) -> dict[str, str]:
    return {name: f"r.{name}" for name in names.split()}


def _ids(**columns: str) -> dict[str, str]:
    return {name: _ID.format(column) for name, column in columns.items()}


_SCOPED = "{table} r WHERE r.tenant = :t AND {{scoped}} ORDER BY r.id"
_VERSIONED = "CROSS JOIN nodes n ON n.tenant = :t AND n.id = r.node WHERE r.tenant = :t"
_HELD = {"row": "r.id", **_same("vf vt kf kt scope")}
_TOLD = {
    "type": _Told(
        "ontology r WHERE r.tenant = :t AND r.kt = :forever ORDER BY r.id",
        ("r.world",),
        {"of": "r.kind", **_same("name version spec"), **_ids(world="r.world")},
    ),
    "node": _Told(
        "nodes r WHERE r.tenant = :t ORDER BY r.id",
        ("r.id",),
        {
            "id": "r.hash",
            **_ids(lineage="r.line"),
            **_same("type name content dated"),
            **_ids(world="r.world"),
            "metadata": "CASE WHEN {scoped} THEN r.metadata END",
            "scope": "CASE WHEN {scoped} THEN r.scope END",
            "made": "r.made",
        },
    ),
    "event": _Told(
        f"events r {_VERSIONED} ORDER BY r.node",
        ("r.node",),
        {
            "id": "n.hash",
            "draft": "r.draft",
            **{name: f"r.{name}" for name in COLUMNS["events"] if name not in _NOT_TOLD},
            "key": "r.key",
            "world": "coalesce(n.world, 0)",
            "text": "n.content",
            "scope": "coalesce((SELECT b.scope FROM beliefs b WHERE b.tenant = :t AND b.line = n.line"
            " ORDER BY b.id LIMIT 1), 0)",
        },
    ),
    "fact": _Told(
        f"facts r {_VERSIONED} ORDER BY r.node",
        ("r.node",),
        {"id": "n.hash", **_ids(subject="r.subject", object="r.object")},
        tuple(name for name in COLUMNS["facts"] if name not in ("node", "tenant", "subject", "object")),
    ),
    "alias": _Told(
        _SCOPED.format(table="aliases"), ("r.line",), {**_ids(of="r.line"), **_same("key name scope")}
    ),
    "metadata": _Told(
        _SCOPED.format(table="metadata"), ("r.node",), {**_ids(of="r.node"), **_same("scope metadata")}
    ),
    **{
        table: _Told(
            f"{table} r WHERE r.tenant = :t ORDER BY r.{of}, {', '.join(f'r.{name}' for name in rest)}",
            (f"r.{of}",),
            _ids(of=f"r.{of}"),
            rest,
        )
        for table, of in SIDE.items()
        for rest in [tuple(name for name in COLUMNS[table] if name not in ("tenant", of))]
    },
    "belief": _Told(
        f"beliefs r {_VERSIONED} AND {{scoped}} ORDER BY r.id",
        ("r.node",),
        {"of": "n.hash", **_HELD, **_same("status confidence precision reason")},
    ),
    "edge": _Told(
        _SCOPED.format(table="edges"),
        ("r.src", "r.dst"),
        {
            "id": "r.hash",
            **_ids(src="r.src", dst="r.dst", world="r.world"),
            **_HELD,
            **_same("type metadata made"),
            "inside": "r.world",
        },
    ),
    "merge": _Told(
        _SCOPED.format(table="proposals"),
        ("r.a", "r.b"),
        {
            "row": "r.id",
            "id": "r.hash",
            **_ids(a="r.a", b="r.b"),
            **_same("status tier score reason scope kf kt"),
        },
    ),
    "mark": _Told(
        "marks r WHERE r.tenant = :t AND r.kind <> 'archived' AND {scoped} ORDER BY r.id",
        ("r.line",),
        {"row": "r.id", **_ids(of="r.line"), "mark": "r.kind", **_same("value reason scope kf kt")},
    ),
}
"""Pins and stages are marks; what is archived is left to the nights of the store that reads this."""


def told(view: View) -> Iterator[dict[str, Any]]:
    """A line for every row of this view's scope and world, those that others refer to before them.

    Versions may be told that have a belief there, and what these speak of.
    """
    kept = {0, *believed_ever(view)}
    while more := spoken_of(view, kept) - kept:
        kept |= more
    for kind, how in _TOLD.items():
        origins = _origins(view, f"{kind}s") if kind in ("belief", "edge") else {}
        columns = [*how.about, *how.fields.values(), *(f"r.{name}" for name in how.values)]
        sql = f"SELECT {', '.join(columns)} FROM {how.rows}".replace("{scoped}", view.scoped("r"))
        start, end = len(how.about), len(how.about) + len(how.fields)
        for row in view.query(sql):
            if kept.issuperset(row[:start]):
                line = {"kind": kind, **dict(zip(how.fields, row[start:end], strict=True))}
                if how.values:
                    line["values"] = dict(zip(how.values, row[end:], strict=True))
                if kind == "event":
                    _tell_event(view, line)
                elif kind == "edge" and line.pop("inside") not in kept:
                    line["world"] = None
                yield _plain({**line, "origin": origins.get(line.get("row", 0))})


def _tell_event(view: View, line: dict[str, Any]) -> None:
    """What is left to do goes by ids; whether its key counts its date is told, since row numbers make the key."""
    key, scope, world, text = (line.pop(name) for name in ("key", "scope", "world", "text"))
    line["reading"] = b64encode(line["reading"]).decode() if line["reading"] else None
    own = event_key(line["external_id"], scope, world, line["sender"], line["said_at"], text)
    line["undated"] = None if key == own else True
    if line["draft"]:
        left = orjson.loads(line["draft"])
        line["draft"] = [{**item, "world": id_of(view, item["world"])} for item in left]
    else:
        line["draft"] = None


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """Ids as digits, intervals with an open end that is null; fields that say nothing are left out."""
    for span, start, end in (("valid", "vf", "vt"), ("known", "kf", "kt")):
        if start in line:
            line[span] = _span(line.pop(start), line.pop(end))
    if line.get("scope") == 0:
        line["scope"] = None
    if isinstance(line.get("metadata"), str):
        line["metadata"] = orjson.loads(line["metadata"])
    return {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in line.items()
        if value is not None
    }


def _span(start: Instant, end: Instant) -> list[Instant | None]:
    return [start, None if end == FOREVER else end]


def id_of(view: View, key: int) -> str | None:
    """The id of a version; None for what is not stored."""
    rows = view.query("SELECT hash FROM nodes WHERE tenant = :t AND id = :key", key=key)
    return rows[0][0].hex() if rows else None


def _origins(view: View, table: str) -> dict[int, list[Any]]:
    """Where the rows of a table come from, if another store held them first: store, valid, known."""
    rows = view.query(
        "SELECT o.row, o.store, o.vf, o.vt, o.kf, o.kt FROM origins o WHERE o.tenant = :t AND o.of = :table"
        " ORDER BY o.id",
        table=table,
    )
    return grouped((row, [store.hex(), _span(*span[:2]), _span(*span[2:])]) for row, store, *span in rows)


# What a union asks ----------------------------------------------------------------------------------


def is_empty(store: Store, tenant: int) -> bool:
    """Whether nothing was ever stored for a tenant."""
    some = "SELECT 1 FROM nodes WHERE tenant = :t AND type <> 'Scope' UNION ALL SELECT 1 FROM erased WHERE tenant = :t"
    return not store.query(f"{some} LIMIT 1", {"t": tenant})


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
    marks = frozenset([(vf, vt, kf), *map(tuple, orjson.loads(marks_))])
    return HeldRow(node, id_.hex(), number, scope, Interval(vf, vt), Interval(kf, kt), RANKS[status], marks)


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
