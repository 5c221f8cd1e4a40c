"""What a store knows across time: where rows came from, what a changeset touched, what a belief rests on.

These reads ignore the valid time of an edge's ends, but never the scope, the world or the known time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple

from worldline.clock import LATEST, Instant, Interval
from worldline.model import Edge, Node, Origin
from worldline.ports import View
from worldline.store.lookup import Target
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
