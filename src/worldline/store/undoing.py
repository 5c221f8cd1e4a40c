"""The rows of a changeset, for taking it back: what it put and closed, and what stands in its place now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from worldline.clock import Instant, Interval
from worldline.ports import Tx
from worldline.store import erasing, ledger
from worldline.store.schema import COLUMNS
from worldline.store.view import listed

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
