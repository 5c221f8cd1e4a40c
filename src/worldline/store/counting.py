"""How much there is, by type and for every owner: counted once, kept, and never what it was before.

Now and then a changeset brings up to date what is kept, in its own transaction: after so many rows, with what was put
and closed since. Whoever asks adds the few rows that came later, so that a count is exact at any time and costs the
same whatever the store holds. What begins or ends by itself is kept with its moment. Where rows were erased, or the log
does not lead on from where the counts stand, everything is counted anew by the next who asks, and kept.

What is kept counts for whoever looks at all that is believed now, in a whole memory or as one owner: a user, an agent,
any kinds of a scope together. In a world, at an earlier moment or with a filter everything is counted, as ever.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import msgspec
from msgspec import Struct, field

from worldline.clock import FOREVER, LATEST, Instant
from worldline.errors import StoreError
from worldline.model import Scope
from worldline.ports import Row, Store, View
from worldline.store import ledger
from worldline.store.schema import columns_of
from worldline.store.view import listed, scope_key

Query = Callable[[str, Mapping[str, Any]], list[Row]]
T = TypeVar("T")

_COUNTS = 64
"""Of so many views it is kept in mind how much they hold."""
_SINCE = 2_000
"""So many changesets are caught up with; after more, everything is counted anew."""
_TAIL = 512
"""After so many rows and changesets what is kept is brought up to date."""
_SMALL = 16 * _TAIL
"""A store with no more rows is counted by whoever writes, if nobody has done so yet."""
_TURNS = 1_000
"""So many moments at which something begins or ends by itself are kept, the next ones."""


class Amounts(Struct, array_like=True):
    """What some rows amount to: what is visible by type, edges by type, and every version, belief and edge ever."""

    visible: dict[str, int] = field(default_factory=dict)
    edges: dict[str, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=lambda: [0, 0, 0])

    def add(self, other: Amounts, sign: int = 1) -> None:
        """The same with some more, or without them."""
        for mine, more in ((self.visible, other.visible), (self.edges, other.edges)):
            for name, count in more.items():
                mine[name] = mine.get(name, 0) + sign * count
        self.rows = [held + sign * more for held, more in zip(self.rows, other.rows, strict=True)]

    def told(self) -> Amounts:
        """In the order of their names, without what there is none of."""
        visible, edges = ({n: c for n, c in sorted(held.items()) if c} for held in (self.visible, self.edges))
        return Amounts(visible, edges, self.rows)


class Standing(Struct, array_like=True, frozen=True):
    """Where a history stands: its last changeset, and the last rows that it gave numbers to."""

    sequence: int = 0
    head: bytes = b""
    known: Instant = 0
    """When that was learned. What is kept holds at this moment."""
    node: int = 0
    belief: int = 0
    edge: int = 0

    @property
    def far(self) -> int:
        """How many rows and changesets have led here."""
        return self.sequence + self.belief + self.edge


class Kept(Struct, array_like=True, frozen=True):
    """Where the counts stand that are kept, and what begins or ends by itself afterwards."""

    at: Standing = Standing()
    until: Instant = FOREVER
    """Up to this moment all turns are listed."""
    turns: tuple[tuple[Instant, bool, int], ...] = ()
    """(moment, whether it is an edge, row) in order."""


class Ended(NamedTuple):
    """The rows that changesets have closed."""

    beliefs: list[int]
    edges: list[int]


class _Counted(NamedTuple):
    """What a view amounted to, where the history stood, at which moment, and until when nothing turns by itself."""

    at: Standing
    since: Instant
    sum: Amounts
    until: Instant
    turned: Ended = Ended([], [])
    """Rows that have begun or ended by themselves since."""


# What a view holds ------------------------------------------------------------------------------------


def amounts(view: View) -> dict[str, Any]:
    """How much this tenant holds, as far as scope and world reach: what is visible by type, and every row ever written.

    After a write, only what it touched is counted.
    """
    pending = (
        "(SELECT count(*) FROM events v CROSS JOIN nodes n ON n.tenant = :t AND n.id = v.node WHERE v.tenant = :t"
        " AND v.state = 'pending' AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = n.line"
        f" AND b.node = n.id AND {view.scoped('b')} AND {view.ever_inside('b.line')}))"
    )
    *standing, events = view.query(_NOW.replace(" FROM (SELECT 1", f", {pending} FROM (SELECT 1"))[0]
    at = _standing(standing)
    found = _counted(view, at).told()
    versions, beliefs, edges = found.rows
    return {
        "visible": found.visible, "edges": found.edges, "versions": versions, "beliefs": beliefs, "edge_rows": edges,
        "changesets": at.sequence, "pending_events": events, "pending_merges": view.pending_merges(),
    }  # fmt: skip


_NOW = (
    "SELECT t.sequence, t.head, t.last_known, (SELECT max(n.id) FROM nodes n WHERE n.tenant = :t),"
    " (SELECT max(b.id) FROM beliefs b WHERE b.tenant = :t), (SELECT max(e.id) FROM edges e WHERE e.tenant = :t)"
    " FROM (SELECT 1 AS one) o LEFT JOIN tenants t ON t.tenant = :t"
)
"""Where a history stands."""


def _standing(row: Sequence[Any]) -> Standing:
    sequence, head, *numbers = row
    return Standing(sequence or 0, bytes(head or b""), *(number or 0 for number in numbers))


def _counted(view: View, at: Standing) -> Amounts:
    """From mind or from what is kept, and from what was written since; else everything is counted."""
    if view.known < LATEST or view.closed or view.labels or view.only is not None or not view.is_snapshot:
        return _sum(view)[0]
    key = view.tenant, tuple(view.owned.items()), view.world, view.quarantined, view.hindsight
    held: dict[Any, _Counted] = view.store.counts
    found = held.get(key)
    now = _caught_up(view, found, at) if found and found.since <= view.valid < found.until else None
    if now is None and _is_plain(view):
        now = _from_kept(view, at)
    if now is None:
        now = _Counted(at, view.valid, *_sum(view))
    if len(held) >= _COUNTS and key not in held:
        held.clear()
    held[key] = now
    return now.sum


def _is_plain(view: View) -> bool:
    """Whether it is one of those whose counts are kept."""
    return not (view.world or view.quarantined or view.hindsight)


def _caught_up(view: View, found: _Counted, at: Standing) -> _Counted | None:
    """With what was put, closed and turned since; None where the log does not lead from there, or in a world."""
    if found.at == at and not any(found.turned):
        return found
    ended = _since(view.store.query, view.tenant, found.at, at.sequence)
    if ended is None or view.world:
        return None
    touched = {
        "belief": found.at.belief, "edge": found.at.edge,
        "unbelieved": listed([*ended.beliefs, *found.turned.beliefs]),
        "unlinked": listed([*ended.edges, *found.turned.edges]),
    }  # fmt: skip
    before, _ = _sum(view.bind(valid=found.since, known=found.at.known), **touched)
    after, until = _sum(view, **touched)
    total = Amounts(dict(found.sum.visible), dict(found.sum.edges), found.sum.rows)
    total.add(after)
    total.add(before, -1)
    return _Counted(at, view.valid, total, min(found.until, until))


def _since(query: Query, tenant: int, then: Standing, last: int) -> Ended | None:
    """What was closed after a changeset; None where rows were erased, or another history is looked at."""
    log = query(
        "SELECT l.sequence, l.hash, l.body FROM log l WHERE l.tenant = :t AND l.sequence >= :then"
        " ORDER BY l.sequence LIMIT :most",
        {"t": tenant, "then": then.sequence, "most": _SINCE + 1},
    )
    begins = [(row[0], bytes(row[1])) for row in log[:1]] == [(then.sequence, then.head)]
    if not begins or log[-1][0] != last:
        return None
    ended = Ended([], [])
    try:
        for table, closed, numbers, _ in (s for *_, body in log[1:] for s in ledger.sections(bytes(body))):
            if table == "erased":
                return None
            if closed and table in ended._fields:
                getattr(ended, table).extend(numbers)
    except (ValueError, struct.error):  # damaged
        return None
    return ended


_LINES = (
    "(SELECT +x.line AS line FROM beliefs x WHERE x.tenant = :t AND x.id > :belief UNION SELECT +y.line FROM beliefs y"
    " WHERE y.tenant = :t AND y.id IN (SELECT value FROM json_each(:unbelieved))) u CROSS JOIN beliefs b"
    " ON b.tenant = :t AND b.line = u.line AND b.kf <= :k"
)
"""Of the lineages in which something is believed anew or no longer. The sign keeps SQLite from reading all lineages
in their order to join the two lists, where the few rows are found by their numbers."""
_EDGES = (
    "(SELECT x.id FROM edges x WHERE x.tenant = :t AND x.id > :edge UNION SELECT y.id FROM edges y"
    " WHERE y.tenant = :t AND y.id IN (SELECT value FROM json_each(:unlinked))) u CROSS JOIN edges e"
    " ON e.tenant = :t AND e.id = u.id AND e.kf <= :k"
)


def _sum(view: View, **touched: Any) -> tuple[Amounts, Instant]:
    """Everything, or what the touched rows amount to by this known time: beliefs by lineages, edges by themselves.

    And when the next of them begins or ends by itself.
    """
    turns = (
        "min(CASE WHEN {0}.vf > :v THEN {0}.vf ELSE :forever END), min(CASE WHEN {0}.vt > :v THEN {0}.vt ELSE"
        " :forever END)"
    )
    believed = view.query(
        f"SELECT b.type, count(DISTINCT CASE WHEN {view.seen()} THEN b.line END), count(DISTINCT b.node), count(*),"
        f" {turns.format('b')} FROM {_LINES if touched else 'beliefs b'} WHERE b.tenant = :t AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')} GROUP BY b.type ORDER BY b.type",
        **touched,
    )
    linked = view.query(
        f"SELECT e.type, count(CASE WHEN {view.time('e')} THEN 1 END), count(*), {turns.format('e')}"
        f" FROM {_EDGES if touched else 'edges e'} WHERE e.tenant = :t AND {view.scoped('e')}"
        f" AND {view.edge_ever_inside()} GROUP BY e.type ORDER BY e.type",
        **touched,
    )
    versions, beliefs = (sum(row[at] for row in believed) for at in (2, 3))
    amounted = Amounts(
        {row[0]: row[1] for row in believed},
        {row[0]: row[1] for row in linked},
        [versions, beliefs, sum(row[2] for row in linked)],
    )
    return amounted, min((moment for row in (*believed, *linked) for moment in row[-2:]), default=FOREVER)


# What is kept -----------------------------------------------------------------------------------------
#
# In the table of what passes keep: by owner what there is (`_KEPT`; everything under the empty name), and where that
# stands (`_STANDS`). Each row begins with its checksum.


_KEPT, _STANDS = "counts", "counted"
PASSES = (_KEPT, _STANDS)
EVERYTHING = ""


class Whole(NamedTuple):
    """The counts of all owners, and where they stand."""

    kept: Kept
    of: dict[str, Amounts]


def _read(kind: type[T], owner: str, state: str) -> T | None:
    """What a row says; None where it is damaged."""
    seal, _, body = str(state).partition(" ")
    if seal != str(crc32(f"{owner} {body}".encode())):
        return None
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(body, type=kind)
    return None


def _written(owner: str, value: Amounts | Kept) -> str:
    body = msgspec.json.encode(value).decode()
    return f"{crc32(f'{owner} {body}'.encode())} {body}"


def stands(query: Query, tenant: int) -> Kept | None:
    """Where what is kept stands, if anything is."""
    rows = query(
        "SELECT s.state FROM sleep s WHERE s.tenant = :t AND s.owner = '' AND s.pass = :stands",
        {"t": tenant, "stands": _STANDS},
    )
    return _read(Kept, EVERYTHING, rows[0][0]) if rows else None


def _from_kept(view: View, at: Standing) -> _Counted | None:
    """What is kept for a view, and what came since; where nothing is, everything is counted, to be kept."""
    query, owner = view.store.query, scope_key(Scope(**view.owned))
    if view.valid < at.known:
        return None
    states: dict[str, str] = {}
    with suppress(UnicodeDecodeError):  # damaged
        states |= query(
            "SELECT s.pass, s.state FROM sleep s WHERE s.tenant = :t AND s.owner = '' AND s.pass = :stands UNION ALL"
            " SELECT o.pass, o.state FROM sleep o WHERE o.tenant = :t AND o.owner = :owner AND o.pass = :counts",
            {"t": view.tenant, "owner": owner, "stands": _STANDS, "counts": _KEPT},
        )
    kept = _read(Kept, EVERYTHING, states[_STANDS]) if _STANDS in states else None
    mine = _read(Amounts, owner, states[_KEPT]) if _KEPT in states else Amounts() if owner else None
    now = None
    if kept and mine and view.valid < kept.until:
        now = _caught_up(view, _turned(kept, mine, view.valid), at)
    if now is None and at.far > _SMALL:
        whole = view.store.counted[view.tenant] = _brought_up(query, view.tenant, Kept(), at, Ended([], []))
        if view.valid < whole.kept.until:
            now = _caught_up(view, _turned(whole.kept, whole.of.get(owner, Amounts()), view.valid), at)
    return now


def _turned(kept: Kept, mine: Amounts, valid: Instant) -> _Counted:
    """What is kept, as a view at a later moment finds it."""
    passed, turned = 0, Ended([], [])
    for moment, is_edge, row in kept.turns:
        if moment > valid:
            break
        passed += 1
        turned[is_edge].append(row)
    until = kept.turns[passed][0] if passed < len(kept.turns) else kept.until
    return _Counted(kept.at, kept.at.known, mine, until, turned)


def keep(store: Store, tenant: str) -> None:
    """Writes down what was counted for a reader, if that can be done at once; a busy or read-only store is left."""
    number = store.number(tenant)
    whole = store.counted.pop(number, None)
    if whole is None:
        return
    with suppress(StoreError, OSError), store.writing(tenant, wait=False) as now:
        if _since(store.query, number, whole.kept.at, now.sequence) is not None:
            drop(store, number)
            _put(store, number, whole)


def drop(store: Store, tenant: int) -> None:
    """Forgets what is kept of a tenant; the next who asks counts everything."""
    store.execute(
        "DELETE FROM sleep WHERE tenant = :t AND pass IN (:counts, :stands)",
        {"t": tenant, "counts": _KEPT, "stands": _STANDS},
    )


def _put(store: Store, tenant: int, whole: Whole) -> None:
    far = whole.kept.at.far
    rows = [(tenant, owner, _KEPT, far, _written(owner, of.told())) for owner, of in whole.of.items()]
    rows.append((tenant, EVERYTHING, _STANDS, far, _written(EVERYTHING, whole.kept)))
    store.put("sleep", rows, columns_of("sleep"))


FAR = "(SELECT s.cursor FROM sleep s WHERE s.tenant = :t AND s.owner = '' AND s.pass = 'counted')"
"""How far what is kept has come; for a changeset that looks whether it is its turn to bring it up to date."""


def follow(store: Store, tenant: int, at: Standing, far: int | None, before: int) -> None:
    """At the end of a changeset: brings what is kept up to date, if much was written since.

    A large store of which nothing is kept is left to whoever asks how much there is.
    """
    if at.far - (far or 0) >= _TAIL and (far is not None or before <= _SMALL):
        try:
            _bring_up(store, tenant, at, far is not None, before)
        except UnicodeDecodeError:  # damaged rows keep nobody from writing
            drop(store, tenant)


def _bring_up(store: Store, tenant: int, at: Standing, is_kept: bool, before: int) -> None:
    kept = stands(store.query, tenant) if is_kept else None
    ended = _since(store.query, tenant, kept.at, at.sequence) if kept else None
    if kept is None or ended is None or at.known >= kept.until:
        drop(store, tenant)
        if before > _SMALL:
            return
        kept, ended = Kept(), Ended([], [])
    changes = _brought_up(store.query, tenant, kept, at, ended)
    rows = store.query(
        "SELECT s.owner, s.state FROM sleep s WHERE s.tenant = :t AND s.pass = :counts"
        " AND s.owner IN (SELECT value FROM json_each(:owners))",
        {"t": tenant, "counts": _KEPT, "owners": listed(changes.of)},
    )
    held = {owner: _read(Amounts, owner, state) for owner, state in rows}
    if None in held.values() or (kept.at.sequence and EVERYTHING in changes.of and EVERYTHING not in held):
        drop(store, tenant)
        return
    for owner, amounted in held.items():
        changes.of[owner].add(amounted or Amounts())
    _put(store, tenant, changes)


def is_sound(query: Query, tenant: int) -> bool:
    """Whether what is kept of a tenant, with what came since, is what its rows amount to; nothing kept is sound."""
    rows = query(
        "SELECT s.owner, s.state FROM sleep s WHERE s.tenant = :t AND s.pass = :counts ORDER BY s.owner",
        {"t": tenant, "counts": _KEPT},
    )
    there = query(f"SELECT {FAR}", {"t": tenant})
    if not rows and there[0][0] is None:
        return True
    kept, held = stands(query, tenant), {owner: _read(Amounts, owner, state) for owner, state in rows}
    at = _standing(query(_NOW, {"t": tenant})[0])
    if kept is None or None in held.values():
        return False
    ended = _since(query, tenant, kept.at, at.sequence)
    if ended is None or at.known >= kept.until:
        return True  # nobody takes them for what there is
    changes = _brought_up(query, tenant, kept, at, ended).of
    for owner, before in held.items():
        changes.setdefault(owner, Amounts()).add(before or Amounts())
    anew = _brought_up(query, tenant, Kept(), at, Ended([], [])).of
    return all(changes.get(o, Amounts()).told() == anew.get(o, Amounts()).told() for o in {*changes, *anew})


# Counting for all owners at once ----------------------------------------------------------------------


_SEEN = "{0}.kt = :forever AND {0}.vf <= :v AND {0}.vt > :v"
_TRUSTED = "b.status IS DISTINCT FROM 'quarantined'"
_ONCE = (
    "SELECT l.type, l.scope, sum(l.seen), count(*) FROM (SELECT min(b.type) AS type, min(b.scope) AS scope,"
    f" max(CASE WHEN {_SEEN.format('b')} AND {_TRUSTED} THEN 1 ELSE 0 END) AS seen FROM beliefs b"
    " WHERE b.tenant = :t AND b.line > :node GROUP BY b.line HAVING count(*) = 1) l GROUP BY l.type, l.scope"
    " ORDER BY l.type, l.scope"
)
"""Lineages that are new and were believed once, which most are."""
_OFTEN = (
    "SELECT b.id, b.line, b.node, b.type, b.scope, b.vf, b.vt, b.kt, b.status FROM (SELECT x.line FROM beliefs x"
    " WHERE x.tenant = :t AND x.line > :node GROUP BY x.line HAVING count(*) > 1 UNION SELECT +y.line FROM beliefs y"
    " WHERE y.tenant = :t AND y.id > :belief AND +y.line <= :node UNION SELECT +z.line FROM beliefs z"
    " WHERE z.tenant = :t AND +z.line <= :node AND z.id IN (SELECT value FROM json_each(:unbelieved))) u"
    " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = u.line"
)
"""Every belief in all other lineages that were touched."""
_NEW_EDGES = (
    f"SELECT e.type, e.scope, sum(CASE WHEN {_SEEN.format('e')} THEN 1 ELSE 0 END), count(*) FROM edges e"
    " WHERE e.tenant = :t AND e.id > :edge GROUP BY e.type, e.scope ORDER BY e.type, e.scope"
)
_OLD_EDGES = (
    "SELECT e.id, e.type, e.scope, e.vf, e.vt, e.kt FROM edges e WHERE e.tenant = :t AND e.id <= :edge"
    " AND e.id IN (SELECT value FROM json_each(:unlinked))"
)
_TURNING = (
    "SELECT {1} AS is_edge, x.id, x.vf, x.vt FROM {0} x WHERE x.tenant = :t AND x.id > :{2} AND x.kt = :forever"
    " AND (x.vf > :v OR (x.vt > :v AND x.vt < :forever))"
)


def _brought_up(query: Query, tenant: int, kept: Kept, at: Standing, ended: Ended) -> Whole:
    """What has changed for each owner since what is kept, and where that stands then."""
    turned = _turned(kept, Amounts(), at.known).turned
    args = {
        "t": tenant, "v": at.known, "forever": FOREVER, "node": kept.at.node, "belief": kept.at.belief,
        "edge": kept.at.edge, "unbelieved": listed([*ended.beliefs, *turned.beliefs]),
        "unlinked": listed([*ended.edges, *turned.edges]),
    }  # fmt: skip
    once, often, new, old = (query(sql, args) for sql in (_ONCE, _OFTEN, _NEW_EDGES, _OLD_EDGES))
    scopes = {row[place] for rows, place in ((once, 1), (often, 4), (new, 1), (old, 2)) for row in rows}
    changes = _Changes(_owners(query, tenant, scopes))
    for type_, scope, seen, count in once:
        changes.add(scope, Amounts({type_: seen}, {}, [count, count, 0]))
    changes.believed(often, kept, at, set(ended.beliefs))
    for type_, scope, seen, count in new:
        changes.add(scope, Amounts({}, {type_: seen}, [0, 0, count]))
    closed = set(ended.edges)
    for row, type_, scope, vf, vt, kt in old:
        was = vf <= kept.at.known < vt and (kt == FOREVER or row in closed)
        now = vf <= at.known < vt and kt == FOREVER
        changes.add(scope, Amounts({}, {type_: now - was}))
    both = (("beliefs", "0", "belief"), ("edges", "1", "edge"))
    coming = query(" UNION ALL ".join(_TURNING.format(*names) for names in both), args)
    return Whole(_stood(kept, at, ended, coming), changes.of)


def _owners(query: Query, tenant: int, scopes: Collection[int]) -> dict[int, list[str]]:
    """Who sees what belongs to a scope set: whoever is bound to nothing, or to kinds of one of its scopes."""
    found = {scope: [EVERYTHING] for scope in scopes}
    rows = query(
        'SELECT s.part_of, s."user", s.agent, s.app, s.run FROM scopes s WHERE s.tenant = :t AND s.part_of IN'
        " (SELECT value FROM json_each(:only)) ORDER BY s.id",
        {"t": tenant, "only": listed(scopes)},
    )
    for scope, *values in rows:
        found[scope] += [owner for owner in _bound_to(*values) if owner not in found[scope]]
    return found


def _bound_to(*values: str | None) -> Iterable[str]:
    """The names of all owners that are bound to some of these kinds."""
    bound = Scope(*values).bound()
    for count in range(1, len(bound) + 1):
        for kinds in combinations(bound.items(), count):
            yield scope_key(Scope(**dict(kinds)))


def _stood(kept: Kept, at: Standing, ended: Ended, coming: Iterable[Row]) -> Kept:
    """Where counts stand once they are brought up to date, with the next turns."""
    gone = [set(rows) for rows in ended]
    turns = [turn for turn in kept.turns if turn[0] > at.known and turn[2] not in gone[turn[1]]]
    for is_edge, row, *moments in coming:
        turns += [(moment, bool(is_edge), row) for moment in moments if at.known < moment < kept.until]
    turns.sort()
    until = min(kept.until, turns[_TURNS][0]) if len(turns) > _TURNS else kept.until
    return Kept(at, until, tuple(turn for turn in turns if turn[0] < until))


class _Changes:
    """What changed, by owner: everything, and whoever is bound to some kinds of a scope."""

    def __init__(self, owners: Mapping[int, Sequence[str]]) -> None:
        self.of: dict[str, Amounts] = {}
        self._owners = owners
        """By scope set."""

    def add(self, scope: int, amounted: Amounts) -> None:
        """Rows of one scope set, which no other has a part in."""
        for owner in self._owners[scope]:
            self._of(owner).add(amounted)

    def _of(self, owner: str) -> Amounts:
        found = self.of.get(owner)
        if found is None:
            found = self.of[owner] = Amounts()
        return found

    def believed(self, rows: Iterable[Row], kept: Kept, at: Standing, ended: Collection[int]) -> None:
        """Lineages that were touched: what each owner sees of one then and now, whatever the scopes it is held in."""
        lines: dict[tuple[int, str], list[Row]] = defaultdict(list)
        for row in rows:
            lines[row[1], row[3]].append(row)
        for (_, type_), held in lines.items():
            by_owner: dict[str, list[Row]] = defaultdict(list)
            for row in held:
                for owner in self._owners[row[4]]:
                    by_owner[owner].append(row)
            for owner, mine in by_owner.items():
                then = [row for row in mine if row[0] <= kept.at.belief]
                change = self._of(owner)
                change.add(_of_line(type_, mine, at.known, ()))
                change.add(_of_line(type_, then, kept.at.known, ended), -1)


def _of_line(type_: str, rows: Sequence[Row], moment: Instant, still: Collection[int]) -> Amounts:
    """What the beliefs in one lineage amount to; those in `still` were closed later."""
    seen = any(
        vf <= moment < vt and (kt == FOREVER or row in still) and status != "quarantined"
        for row, _, _, _, _, vf, vt, kt, status in rows
    )
    return Amounts({type_: int(seen)}, {}, [len({row[2] for row in rows}), len(rows), 0])
