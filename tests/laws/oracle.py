"""A memory that is obviously right: a plain list of rows.

Every read is a loop over all of them and every write appends or closes rows, with no index, no SQL and no cache.
Property tests compare a real store with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from worldline.clock import EARLIEST, FOREVER, Instant


class RefusalError(Exception):
    """The oracle holds that this write must be refused."""


@dataclass
class Row:
    """One belief: `what` held during [vf, vt), as believed during [kf, kt), in one scope."""

    line: str
    what: str
    """The version's payload for a node, the triple for an edge."""
    scope: str
    vf: Instant
    vt: Instant
    kf: Instant
    kt: Instant = FOREVER
    edge: tuple[str, str, str] | None = None
    """(source, type, target) by lineage, for an edge."""

    def seen(self, valid: Instant, known: Instant) -> bool:
        return self.vf <= valid < self.vt and self.kf <= known < self.kt

    @property
    def current(self) -> bool:
        return self.kt == FOREVER


@dataclass
class Oracle:
    """Bitemporal semantics by brute force; scopes are opaque names, "" reads them all."""

    rows: list[Row] = field(default_factory=list)
    changesets: dict[Instant, tuple[list[Row], list[Row]]] = field(default_factory=dict)
    """What each changeset put and closed, by its known time."""
    undone: set[Instant] = field(default_factory=set)
    """Known times of the undoing changesets."""

    # Reading -----------------------------------------------------------------------------------

    def nodes(self, valid: Instant, known: Instant, scope: str = "", world: str = "") -> list[Row]:
        """The visible beliefs in nodes, newest last."""
        found = [
            row
            for row in self.rows
            if row.edge is None
            and row.seen(valid, known)
            and scope in ("", row.scope)
            and self.inside(row.line, world, valid, known)
        ]
        return sorted(found, key=lambda row: (row.vf, row.kf))

    def inside(self, line: str, world: str, valid: Instant, known: Instant) -> bool:
        """Whether a lineage lies in a world at that point."""
        if not world or line == world:
            return True
        above = [r.edge[0] for r in self.rows if _stay(r, line) and r.seen(valid, known) and r.edge]
        return any(self.inside(parent, world, valid, known) for parent in above)

    def get(self, line: str, valid: Instant, known: Instant, scope: str = "") -> str | None:
        """The payload that a lineage has at that point."""
        found = [row for row in self.nodes(valid, known, scope) if row.line == line]
        return found[-1].what if found else None

    def edges(
        self, valid: Instant, known: Instant, scope: str = "", world: str = ""
    ) -> set[tuple[str, str, str]]:
        """The visible edges: their own row is, and so are both ends."""
        here = {row.line for row in self.nodes(valid, known, scope, world)}
        anywhere = {row.line for row in self.nodes(valid, known, scope)}
        found = set()
        for row in self.rows:
            if row.edge is None or not row.seen(valid, known):
                continue
            source, type_, target = row.edge
            if scope not in ("", row.scope) and type_ != "contains":
                continue
            if source in here and target in (anywhere if type_ == "refers_to" else here):
                found.add(row.edge)
        return found

    def reached(
        self, start: str, valid: Instant, known: Instant, scope: str = "", depth: int = 1
    ) -> set[str]:
        """The lineages that are reached from one along edges in their direction."""
        edges, seen, frontier = self.edges(valid, known, scope), {start}, {start}
        for _ in range(depth):
            frontier = {target for source, _, target in edges if source in frontier} - seen
            seen |= frontier
        return seen - {start}

    # Writing -----------------------------------------------------------------------------------

    def put(self, line: str, what: str, scope: str, vf: Instant, vt: Instant, now: Instant) -> bool:
        """Believes a payload; what is believed at its start already is not believed twice."""
        holding = [r for r in self._held(line, scope) if r.vf <= vf < r.vt]
        if any(r.what == what for r in holding):
            return False
        if any(r.vf == vf for r in holding):
            raise RefusalError("begins at that very moment")
        self._believe(Row(line, what, scope, vf, vt, now))
        for other in holding:
            self._tighten(other, vf, now)
        return True

    def amend(self, line: str, what: str, scope: str, at: Instant, now: Instant) -> bool:
        """It changed at `at`: what held then ends, and the new payload holds in its place."""
        holding = [r for r in self._held(line, scope) if r.vf <= at < r.vt]
        if not holding:
            raise RefusalError("does not hold then")
        changed = [r for r in holding if r.what != what]
        if any(r.vf == at for r in changed):
            raise RefusalError("begins at that very moment")
        if changed and self._owner(what, line) != line:
            raise RefusalError("another memory says this")
        for row in changed:
            self._believe(Row(line, what, row.scope, at, row.vt, now))
            self._tighten(row, at, now)
        return bool(changed)

    def correct(self, line: str, what: str, scope: str, now: Instant) -> bool:
        """It was wrong: the latest belief is given up, and the new payload has its interval."""
        latest: dict[str, Row] = {}
        for row in sorted(self._held(line, scope), key=lambda r: (r.vf, r.vt)):
            latest[row.scope] = row
        if not latest:
            last = max(self._ever(line, scope), key=lambda r: r.kf)
            latest[last.scope] = last
        changed = [row for row in latest.values() if row.what != what or not row.current]
        if changed and self._owner(what, line) != line:
            raise RefusalError("another memory says this")
        for row in changed:
            if row.current:
                self._close(row, now)
            self._believe(Row(line, what, row.scope, row.vf, row.vt, now))
        return bool(changed)

    def withdraw(self, line: str, scope: str, now: Instant) -> bool:
        """It was never true."""
        held = self._held(line, scope)
        for row in held:
            self._close(row, now)
        return bool(held)

    def retire(self, line: str, scope: str, at: Instant, now: Instant) -> bool:
        """It is over at `at`; what was to come after that is given up."""
        held = self._held(line, scope)
        ending = [r for r in held if r.vt > at]
        if ending and all(r.vf >= at for r in held):
            raise RefusalError("begins later")
        for row in ending:
            if row.vf < at:
                self._tighten(row, at, now)
            else:
                self._close(row, now)
        return bool(ending)

    def link(self, edge: tuple[str, str, str], scope: str, vf: Instant, now: Instant) -> bool:
        """Joins two lineages from `vf` on."""
        shared = edge[1] == "contains"
        mine = [r for r in self.rows if r.edge == edge and r.current and (shared or r.scope == scope)]
        if any(r.vf <= vf < r.vt for r in mine):
            return False
        self._check(edge, vf)
        self._believe(Row(_name(edge), _name(edge), scope, vf, FOREVER, now, edge=edge))
        return True

    def end_edge(self, edge: tuple[str, str, str], scope: str, at: Instant | None, now: Instant) -> bool:
        """Retires an edge at `at`; None: it was never there."""
        held = [r for r in self.rows if r.edge == edge and r.current and scope in ("", r.scope)]
        if at is not None:
            held = [r for r in held if r.vt > at]
            if any(r.vf >= at for r in held):
                raise RefusalError("begins later")
        for row in held:
            if at is None:
                self._close(row, now)
            else:
                self._tighten(row, at, now)
        return bool(held)

    def undo(self, known_at: Instant, now: Instant) -> bool:
        """What a changeset put is given up, what it closed is believed again."""
        put, closed = self.changesets[known_at]
        ends = {row.kt for row in put}
        if ends and ends != {FOREVER}:
            if len(ends) == 1 and ends <= self.undone:
                return False
            raise RefusalError("a later write builds on this one")
        self.undone.add(now)
        back = [row for row in closed if not self._again(row, put)]
        for row in put:
            self._close(row, now)
        for row in back:
            self._believe(replace(row, kf=now, kt=FOREVER))
        return bool(put or back)

    def _again(self, row: Row, without: list[Row]) -> bool:
        """Whether a row to restore is believed already; refuses where its place is taken."""
        held = [r for r in self.rows if r.current and not any(r is x for x in without)]
        for other in held:
            same = (other.line, other.scope) == (row.line, row.scope)
            if same and (other.what, other.vf, other.vt) == (row.what, row.vf, row.vt):
                return True
            if same and other.vf <= row.vf < other.vt:
                raise RefusalError("something else is believed of that time now")
        if row.edge is not None:
            self._check(row.edge, row.vf, held)
        return False

    def _check(self, edge: tuple[str, str, str], vf: Instant, rows: list[Row] | None = None) -> None:
        source, type_, target = edge
        if source == target:
            raise RefusalError("joins itself")
        among = [r for r in (self.rows if rows is None else rows) if r.edge and r.current and r.vt > vf]
        held = [r.edge for r in among if r.edge and r.edge[1] == type_]
        if type_ in ("contains", "precedes", "subtype_of") and _leads(held, target, source):
            raise RefusalError("a circle")
        if type_ == "contains" and any(there == target for _, _, there in held):
            raise RefusalError("another parent")

    def _held(self, line: str, scope: str) -> list[Row]:
        return [
            r for r in self.rows if not r.edge and r.line == line and r.current and scope in ("", r.scope)
        ]

    def _ever(self, line: str, scope: str) -> list[Row]:
        return [r for r in self.rows if not r.edge and r.line == line and scope in ("", r.scope)]

    def _owner(self, what: str, default: str) -> str:
        """The lineage that a payload belongs to."""
        return next((r.line for r in self.rows if r.what == what), default)

    def _believe(self, row: Row) -> None:
        """A row ends where a later one of the same lineage and scope begins."""
        later = [
            r.vf
            for r in self.rows
            if r.current and (r.line, r.scope) == (row.line, row.scope) and r.vf > row.vf
        ]
        row.vt = min([row.vt, *later])
        self.rows.append(row)
        self.changesets.setdefault(row.kf, ([], []))[0].append(row)

    def _close(self, row: Row, now: Instant) -> None:
        row.kt = now
        self.changesets.setdefault(now, ([], []))[1].append(row)

    def _tighten(self, row: Row, vt: Instant, now: Instant) -> None:
        self._close(row, now)
        self._believe(replace(row, vt=vt, kf=now, kt=FOREVER))

    def put_into(self, world: str, line: str, scope: str, now: Instant) -> None:
        """A new lineage lies in its world from the beginning of time."""
        edge = (world, "contains", line)
        self._believe(Row(_name(edge), _name(edge), scope, EARLIEST, FOREVER, now, edge=edge))


def _stay(row: Row, line: str) -> bool:
    return row.edge is not None and row.edge[1] == "contains" and row.edge[2] == line


def _name(edge: tuple[str, str, str]) -> str:
    return " ".join(edge)


def _leads(edges: list[tuple[str, str, str]], start: str, goal: str) -> bool:
    """Whether goal can be reached from start."""
    seen, frontier = {start}, {start}
    while frontier:
        frontier = {there for here, _, there in edges if here in frontier} - seen
        seen |= frontier
    return goal in seen
