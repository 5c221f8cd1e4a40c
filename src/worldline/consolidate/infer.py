"""Edges that follow from others: what causes a cause, and what a subtype's type is a subtype of.

Around each new or closed edge, and only there, the closure of the stated edges is computed and
compared with what was derived before; so a night derives what is missing, shortens or withdraws
what has lost its ground, and a second night does nothing. A derived edge holds where all its parts
hold, is marked as inferred, names what it goes through, and never goes through anything that lies
outside the smallest world that holds both its ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from worldline.clock import FOREVER, Interval
from worldline.consolidate.changes import Change, Plan
from worldline.consolidate.night import Night
from worldline.model import Belief, EdgeDraft
from worldline.rules.derived import INFERRED, Held, Wanted, is_inferred, overlap, refit, without
from worldline.store.held import Row
from worldline.store.view import LISTED, SqlView, listed, metadata_from

TYPES = ("causes", "subtype_of")
LONGEST = 8
"""Stated edges that one derived edge may stand for."""
MOST = 64
"""Ends that are derived for one memory, nearest first; what leads to everything explains nothing."""
WHY = "what it follows from no longer leads there"


class _Arc(Struct, frozen=True):
    """A stated edge that is believed now."""

    dst: int
    valid: Interval
    scope: int


class _Path(Struct, frozen=True):
    """A way from one memory to another."""

    end: int
    valid: Interval
    through: tuple[int, ...]
    scopes: frozenset[int]


class _Graph:
    """The edges of one type around some memories, read level by level."""

    def __init__(self, view: SqlView, type_: str) -> None:
        self._view, self._type = view, type_
        self.arcs: dict[int, list[_Arc]] = {}
        self.derived: dict[int, dict[int, list[Held]]] = {}
        self.holds: dict[int, Interval] = {}
        """When each memory holds at all; nothing for one that is given up or kept back."""
        self._above: dict[int, tuple[int, ...]] = {}

    def before(self, lines: Collection[int]) -> set[int]:
        """These, and everything from which they can be reached."""
        found, frontier = set(lines), set(lines)
        for _ in range(LONGEST - 1):
            frontier = {row[0] for row in self._rows("dst", frontier) if not _derived(row)} - found
            found |= frontier
            if not frontier:
                break
        return found

    def load(self, lines: Collection[int]) -> None:
        """Everything that can be reached from these."""
        frontier = set(lines)
        for _ in range(LONGEST):
            frontier -= self.arcs.keys()
            if not frontier:
                break
            for line in frontier:
                self.arcs[line], self.derived[line] = [], {}
            for row in self._rows("src", frontier):
                self._add(row)
            self.holds.update(_holding(self._view, frontier))
            frontier = {arc.dst for line in frontier for arc in self.arcs[line]}
        last = {arc.dst for arcs in self.arcs.values() for arc in arcs}
        self.holds.update(_holding(self._view, last - self.holds.keys()))

    def _add(self, row: Row) -> None:
        src, dst, number, start, end, scope, metadata, known = row
        if _derived(row):
            belief = Belief(number, number, Interval(start, end), Interval(known), scope)
            self.derived[src].setdefault(dst, []).append(Held(belief, metadata_from(metadata)))
        else:
            self.arcs[src].append(_Arc(dst, Interval(start, end), scope))

    def _rows(self, end: str, lines: Collection[int]) -> list[Row]:
        return self._view.query(
            "SELECT e.src, e.dst, e.id, e.vf, e.vt, e.scope, e.metadata, e.kf FROM edges e WHERE e.tenant = :t"
            f" AND e.{end} IN {LISTED} AND e.type = :type AND e.kt = :forever AND {self._view.scoped('e')}"
            " ORDER BY e.id",
            among=listed(sorted(lines)),
            type=self._type,
        )

    def above(self, line: int) -> tuple[int, ...]:
        """A memory and the worlds around it, innermost first; 0 is the root."""
        if line not in self._above:
            parent = self._view.parent(line)
            self._above[line] = (line, *(self.above(parent) if parent is not None else (0,)))
        return self._above[line]

    def stays_inside(self, path: _Path, start: int) -> bool:
        """Whether whoever may see both ends may see all that lies between."""
        around = self.above(path.end)
        smallest = next(world for world in self.above(start) if world in around)
        return all(smallest in self.above(line) for line in path.through)


def _derived(row: Row) -> bool:
    return row[6] is not None and is_inferred(metadata_from(row[6]))


def _holding(view: SqlView, lines: Collection[int]) -> dict[int, Interval]:
    rows = view.query(
        f"SELECT b.line, min(b.vf), max(b.vt) FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND b.kt = :forever AND b.status IS NOT 'quarantined' AND {view.scoped('b')} GROUP BY b.line",
        among=listed(sorted(lines)),
    )
    return {line: Interval(start, end) for line, start, end in rows}


def infer(view: SqlView, night: Night) -> Plan:
    """The derived edges to end and to put, around all that changed."""
    changes: list[Change] = []
    for type_ in TYPES:
        starts = _starts(view, night, type_)
        if starts:
            changes += _around(view, _Graph(view, type_), starts, night.scope, type_)
    return Plan(tuple(changes))


def _starts(view: SqlView, night: Night, type_: str) -> set[int]:
    """Where edges of the type changed, and memories between two of them that changed or moved."""
    news = night.news
    touched = {item.line for item in news.items} | {e.dst for e in news.edges if e.type == "contains"}
    rows = view.query(
        f"SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = :type"
        f" AND {view.scoped('e')}",
        among=listed(sorted(touched)),
        type=type_,
    )
    return {edge.src for edge in news.edges if edge.type == type_} | {row[0] for row in rows}


def _around(
    view: SqlView, graph: _Graph, starts: Collection[int], scope: int, type_: str
) -> Iterable[Change]:
    sources = sorted(graph.before(starts))
    graph.load(sources)
    ends: list[Change] = []
    puts: list[Change] = []
    for source in sources:
        wanted = _wanted(view, graph, source, scope)
        held = graph.derived[source]
        for end in sorted({*wanted, *held}):
            closes, missing = refit(wanted.get(end, ()), held.get(end, ()), WHY)
            ends += closes
            puts += [EdgeDraft(source, type_, end, w.valid, w.scope, w.metadata) for w in missing]
    return [*ends, *puts]


def _wanted(view: SqlView, graph: _Graph, start: int, scope: int) -> dict[int, list[Wanted]]:
    """What should be derived for one memory: end → intervals, by the nearest way."""
    stated: dict[int, list[Interval]] = {}
    for arc in graph.arcs[start]:
        stated.setdefault(arc.dst, []).append(arc.valid)
    wanted: dict[int, list[Wanted]] = {}
    for path in _paths(graph, start):
        taken = [*stated.get(path.end, ()), *(w.valid for w in wanted.get(path.end, ()))]
        left = without([path.valid], taken)
        if not left or not graph.stays_inside(path, start):
            continue
        if path.end not in wanted and len(wanted) >= MOST:
            break
        metadata = {**INFERRED, "through": list(view.ids(path.through))}
        owner = next(iter(path.scopes)) if len(path.scopes) == 1 else scope
        wanted.setdefault(path.end, []).extend(Wanted(piece, metadata, owner) for piece in left)
    return wanted


def _paths(graph: _Graph, start: int) -> Iterable[_Path]:
    """Ways of two and more steps, shortest first; a way that adds no time to its end is not gone."""
    reached: dict[int, list[Interval]] = {}
    level = [_Path(start, Interval(-FOREVER), (), frozenset())]
    for step in range(LONGEST):
        ahead: list[_Path] = []
        for path in level:
            for arc in graph.arcs.get(path.end, ()):
                further = _further(graph, path, arc, first=not step)
                if further is None or arc.dst == start:
                    continue
                if not without([further.valid], reached.get(arc.dst, ())):
                    continue
                reached.setdefault(arc.dst, []).append(further.valid)
                ahead.append(further)
        if step:
            yield from ahead
        level = ahead


def _further(graph: _Graph, path: _Path, arc: _Arc, *, first: bool) -> _Path | None:
    """One step on; only as long as what it steps from holds."""
    if first:
        return _Path(arc.dst, arc.valid, (), frozenset({arc.scope}))
    holds = graph.holds.get(path.end)
    valid = None if holds is None else overlap(path.valid, arc.valid, holds)
    if valid is None:
        return None
    return _Path(arc.dst, valid, (*path.through, path.end), path.scopes | {arc.scope})
