"""What a store knows across time: where rows came from, what a belief rests on, what a changeset put and closed.

These reads ignore the valid time of an edge's ends, but never the scope, the world or the known time. For taking a
changeset back they also say what stands in the place of its rows now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from worldline.clock import LATEST, Instant, Interval
from worldline.model import Edge, Node, Origin
from worldline.ports import Tx, View
from worldline.store import erasing, ledger
from worldline.store.registry import Target
from worldline.store.schema import COLUMNS
from worldline.store.view import EDGE, LISTED, NODE, edge_from, listed, node_from

LOOK_AT = 400
"""So many rows at a time."""


class Noted(NamedTuple):
    """Where a row was before, and when this store learned of it."""

    origin: Origin
    at: Instant


class Logged(NamedTuple):
    """A changeset: when it was learned, and its rows as the ledger packs them."""

    known: Instant
    body: bytes


class Window(NamedTuple):
    """What lies between two moments, on both axes."""

    low: Instant
    high: Instant
    early: Instant
    late: Instant


def origins(view: View, table: Literal["beliefs", "edges"], rows: Collection[int]) -> dict[int, list[Noted]]:
    """The stores that rows of a table were in before, by row."""
    found: dict[int, list[Noted]] = {}
    for row, store, noted, *times in view.query(
        "SELECT o.row, o.store, o.noted, o.vf, o.vt, o.kf, o.kt FROM origins o WHERE o.tenant = :t"
        f" AND o.of = :table AND o.row IN {LISTED} AND o.noted <= :k ORDER BY o.id",
        table=table, among=listed(rows),
    ):  # fmt: skip
        origin = Origin(store.hex(), Interval(*times[:2]), Interval(*times[2:]))
        found.setdefault(row, []).append(Noted(origin, noted))
    return found


def edges_chosen(view: View, chosen: str, **args: Any) -> list[Edge]:
    """The edges whose numbers a statement selects, whatever their ends, in the order they were learned."""
    rows = view.query(
        f"SELECT {EDGE} FROM ({chosen}) c CROSS JOIN edges e ON e.tenant = :t AND e.id = c.id"
        f" WHERE e.kf <= :k AND {view.scoped('e')} AND {view.edge_ever_inside()} ORDER BY e.kf, e.id",
        **args,
    )
    return [edge_from(row) for row in rows]


def version_edges(view: View, keys: Collection[int]) -> list[Edge]:
    """What replaced these versions, what they replaced, and what they were drawn from."""
    return edges_chosen(
        view,
        f"SELECT x.id FROM edges x WHERE x.tenant = :t AND x.src IN {LISTED}"
        " AND x.type IN ('supersedes', 'derived_from')"
        f" UNION SELECT x.id FROM edges x WHERE x.tenant = :t AND x.dst IN {LISTED} AND x.type = 'supersedes'",
        among=listed(keys),
    )


def log(view: View, start: Instant) -> Iterator[Logged]:
    """The changesets from a known time on, a few at a time."""
    while rows := view.query(
        "SELECT known, body FROM log WHERE tenant = :t AND known >= :start AND known <= :k"
        " ORDER BY known LIMIT :most",
        start=start, most=LOOK_AT,
    ):  # fmt: skip
        yield from (Logged(*row) for row in rows)
        start = rows[-1][0] + 1


def nodes_of(view: View, beliefs: Collection[int]) -> list[Node]:
    """What these very beliefs are in, whatever the moment and however doubtful."""
    rows = view.query(
        f"SELECT {NODE} FROM json_each(:among) j CROSS JOIN beliefs b ON b.tenant = :t AND b.id = j.value"
        " CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
        f" WHERE {view.scoped('b')} AND {view.ever_inside('b.line')} ORDER BY b.id",
        among=listed(beliefs),
    )
    return [node_from(row) for row in rows]


def edges_of(view: View, rows: Collection[int]) -> list[Edge]:
    """These very edges, whatever their ends."""
    return edges_chosen(view, "SELECT j.value AS id FROM json_each(:among) j", among=listed(rows))


def lines_touched(view: View, window: Window) -> list[int]:
    """The lineages in which some belief began or ended between two moments."""
    return _touched(view, "b", "b.line", "beliefs", window)


def sources_touched(view: View, window: Window) -> list[int]:
    """The lineages from which some edge began or ended between two moments."""
    return _touched(view, "e", "e.src", "edges", window)


def _touched(view: View, row: str, column: str, table: str, window: Window) -> list[int]:
    rows = view.bind(known=LATEST).query(
        f"SELECT DISTINCT {column} FROM {table} {row} WHERE {row}.tenant = :t"
        f" AND (({row}.kf > :low AND {row}.kf <= :high) OR ({row}.kt > :low AND {row}.kt <= :high)"
        f" OR ({row}.vf > :early AND {row}.vf <= :late) OR ({row}.vt > :early AND {row}.vt <= :late))"
        f" AND {view.scoped(row)} ORDER BY 1",
        **window._asdict(),
    )
    return [found[0] for found in rows]


def evidence_edges(view: View, ends: Collection[int]) -> list[Edge]:
    """The edges from these lineages or versions towards what they rest on, and still do."""
    return edges_chosen(
        view,
        f"SELECT x.id FROM edges x WHERE x.tenant = :t AND x.src IN {LISTED} AND x.type = 'derived_from' AND x.kt > :k"
        f" UNION SELECT x.id FROM edges x WHERE x.tenant = :t AND x.dst IN {LISTED}"
        " AND x.type IN ('supports', 'implies') AND x.kt > :k",
        among=listed(ends),
    )


def mentions_of(view: View, lines: Collection[int]) -> list[Edge]:
    """What refers to these entities or made them known, and still stands."""
    return edges_chosen(
        view,
        f"SELECT x.id FROM edges x WHERE x.tenant = :t AND x.dst IN {LISTED}"
        " AND x.type IN ('refers_to', 'derived_from') AND x.kt > :k",
        among=listed(lines),
    )


def edges_between(view: View, source: Target, type_: str, target: Target) -> list[Edge]:
    """The believed edges of a type between two memories, whichever of their versions they join."""
    versions = (
        "(SELECT :{0} UNION SELECT v.id FROM nodes v WHERE v.tenant = :t AND v.line = :{0} AND v.line <> v.id"
        " AND (:{0}_key = 0 OR v.id = :{0}_key))"
    )
    return view.edge_rows(
        f"e.src IN {versions.format('src')} AND e.type = :type AND e.dst IN {versions.format('dst')}"
        " AND e.kt = :forever",
        src=source.line, src_key=source.key, type=type_, dst=target.line, dst_key=target.key,
    )  # fmt: skip


def beliefs_in(view: View, edge: Edge) -> list[Edge]:
    """Every belief in an edge by this known time, in this scope and world."""
    return view.edge_rows(
        "e.hash = :id AND e.src = :src AND e.type = :type AND e.dst = :dst",
        id=bytes.fromhex(edge.id), src=edge.src_line, type=edge.type, dst=edge.dst_line,
    )  # fmt: skip


_NULLABLE = frozenset({"status", "confidence", "precision", "reason"})
_APART = frozenset({"id", "tenant", "kf", "kt", "metadata", "world"})


class Entry(NamedTuple):
    """A row that a changeset put, or (closed) closed."""

    table: str
    number: int
    closed: bool


class Marked(NamedTuple):
    """A mark on a memory."""

    line: int
    scope: int
    kind: str
    value: str | None
    reason: str | None
    since: Instant
    until: Instant
    taken: bool
    """Whether a mark of the same kind stands now."""


def entries(tx: Tx, known_at: Instant) -> list[Entry] | None:
    """Every row that the changeset of a known time touched; None where there is none."""
    rows = tx.query("SELECT body FROM log WHERE tenant = :t AND known = :at", at=known_at)
    if not rows:
        return None
    return [
        Entry(table, number, closed)
        for table, closed, numbers, _ in ledger.sections(rows[0][0])
        for number in numbers
    ]


def not_erased(tx: Tx, entries: list[Entry]) -> list[Entry]:
    """Those of these rows that are still there."""
    gone = erasing.tombs(lambda sql, args: tx.store.query(sql, args), tx.tenant).rows
    return [entry for entry in entries if entry.number not in gone.get(entry.table, {})]


def needed(tx: Tx, put: Sequence[Entry]) -> set[Entry]:
    """The beliefs in entities, of those put, that a fact or a mention of another write stands on."""
    going = {table: [e.number for e in put if e.table == table] for table in ("beliefs", "edges")}
    rows = tx.query(
        "SELECT b.id FROM beliefs b WHERE b.tenant = :t AND b.id IN (SELECT value FROM json_each(:beliefs))"
        " AND b.type = 'Entity' AND (EXISTS (SELECT 1 FROM facts f CROSS JOIN beliefs o ON o.tenant = :t"
        " AND o.line = f.node AND o.kt = :forever WHERE f.tenant = :t"
        " AND (f.subject = b.line OR f.object = b.line)"
        " AND o.id NOT IN (SELECT value FROM json_each(:beliefs)))"
        " OR EXISTS (SELECT 1 FROM edges e WHERE e.tenant = :t AND e.dst = b.line AND e.type = 'refers_to'"
        " AND e.kt = :forever AND e.id NOT IN (SELECT value FROM json_each(:edges))))",
        beliefs=listed(going["beliefs"]),
        edges=listed(going["edges"]),
    )
    return {Entry("beliefs", row[0], False) for row in rows}


def kind_of(tx: Tx, known_at: Instant) -> str:
    """The verb of a changeset; empty where there is none of that known time."""
    rows = tx.query("SELECT kind FROM log WHERE tenant = :t AND known = :at", at=known_at)
    return str(rows[0][0]) if rows else ""


def columns_of(tx: Tx, table: str, number: int) -> dict[str, Any]:
    """A row of a table, by its columns' names."""
    rows = tx.query(
        f"SELECT {_columns(table)} FROM {table} WHERE tenant = :t AND id = :number", number=number
    )
    return dict(zip(COLUMNS[table], rows[0], strict=True))


def _columns(table: str) -> str:
    return ", ".join(f'"{column}"' for column in COLUMNS[table])


def is_mine(tx: Tx, table: str, number: int) -> bool:
    """Whether a row belongs to the scope of this changeset."""
    rows = tx.query(
        f"SELECT 1 FROM {table} r WHERE r.tenant = :t AND r.id = :number AND {tx.scoped('r')}", number=number
    )
    return bool(rows)


def known_of(tx: Tx, table: str, number: int) -> Interval:
    """From when until when a row was believed."""
    rows = tx.query(f"SELECT kf, kt FROM {table} WHERE tenant = :t AND id = :number", number=number)
    return Interval(*rows[0])


def stands_again(tx: Tx, table: str, columns: dict[str, Any]) -> bool:
    """Whether a row of the same content is believed."""
    equal, given = _same(columns)
    rows = tx.query(
        f"SELECT 1 FROM {table} r WHERE r.tenant = :t AND r.kt = :forever AND {equal} LIMIT 1", **given
    )
    return bool(rows)


def restored(tx: Tx, entry: Entry, known: Interval) -> tuple[Entry, Interval]:
    """A row that a later write closed as it stands since that write was undone; itself where it was not."""
    if entry.closed or kind_of(tx, known.end) in ("", "undo"):
        return entry, known
    equal, given = _same(columns_of(tx, entry.table, entry.number))
    rows = tx.query(
        f"SELECT r.id, r.kf, r.kt FROM {entry.table} r CROSS JOIN log l ON l.tenant = :t AND l.known = r.kf"
        f" AND l.kind = 'undo' WHERE r.tenant = :t AND r.kf > :since AND {equal} ORDER BY r.kf DESC LIMIT 1",
        since=known.start,
        **given,
    )
    return (entry._replace(number=rows[0][0]), Interval(*rows[0][1:])) if rows else (entry, known)


def _same(columns: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """That a row has this content, and the values to bind."""
    same = [c for c in columns if c not in _APART]
    equal = [f"r.{c} IS NOT DISTINCT FROM :{c}" if c in _NULLABLE else f"r.{c} = :{c}" for c in same]
    return " AND ".join(equal), {c: columns[c] for c in same}


def beside_row(tx: Tx, table: str, columns: dict[str, Any]) -> list[Interval]:
    """When the same thing (a lineage, an edge's triple) is believed to hold now, in the same scope."""
    same = "line = :line" if table == "beliefs" else "src = :src AND type = :type AND dst = :dst"
    rows = tx.query(
        f"SELECT vf, vt FROM {table} WHERE tenant = :t AND {same} AND scope = :scope AND kt = :forever"
        " ORDER BY vf, id",
        **{name: columns[name] for name in ("line", "src", "type", "dst", "scope") if name in columns},
    )
    return [Interval(*row) for row in rows]


def marked(tx: Tx, number: int) -> Marked:
    """A mark by its row."""
    rows = tx.query(
        "SELECT m.line, m.scope, m.kind, m.value, m.reason, m.kf, m.kt, EXISTS (SELECT 1 FROM marks o"
        " WHERE o.tenant = :t AND o.line = m.line AND o.kind = m.kind AND o.scope = m.scope AND o.kt = :forever)"
        " FROM marks m WHERE m.tenant = :t AND m.id = :number",
        number=number,
    )
    return Marked._make((*rows[0][:7], bool(rows[0][7])))
