"""The changeset log, the hashes of worlds, and what both tell of the past.

The log is a hash chain over every row that a changeset put or closed. Content hashes leave intervals, confidence and
provenance out; the log covers them. Each changeset lists the rows it wrote with a checksum each, so that damage is
named row by row, and chains a blake3 over all of them, so that nobody can repair a checksum without breaking the chain.

A world's digest is a set hash over the hashes of its children, its interior edges and its former
versions. A child that moves away stays in the old parent's digest as it was; in the new parent it
counts as it is. So one append costs a few additions per ancestor, whatever the siblings. What is stored is a digest of
some time ago, and before it the last few members that came and went (`NOTED`): a digest has two kilobytes, and most
changesets touch only the page that the notes lie in.

Reads across time (where rows came from, what a belief rests on, what a changeset touched) ignore the valid time of an
edge's ends, but never the scope, the world or the known time. For taking a changeset back they also say what it put
and closed, and what stands in the place of its rows now.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from zlib import crc32

import orjson
from blake3 import blake3
from msgspec import Struct, field

from worldline.clock import LATEST, Instant, Interval
from worldline.hashing import DIGEST_SIZE, EMPTY_DIGEST, chain, digest_update, world_after, world_hash
from worldline.model import Edge, Node, Origin
from worldline.ports import Row, View
from worldline.store.schema import COLUMNS, COVERED, KEYED
from worldline.store.view import EDGE, LISTED, NODE, edge_from, listed, node_from

if TYPE_CHECKING:
    from worldline.store.registry import Target
    from worldline.store.tx import Tx

# The log ==============================================================================================

TABLES = tuple(COVERED)
_PICK = {t: itemgetter(*[COLUMNS[t].index(c) for c in COVERED[t]]) for t in TABLES}
_HEADER = struct.Struct("<BBQ")
_PUT, _CLOSED = 0, 1
_TOGETHER = 1000
"""Rows that are written out together: few enough to stay near at hand."""
_NEXT_ROW, _NEXT_LINE = b"],[", b"]\n["


def row_bytes(values: Sequence[Any]) -> bytes:
    """The canonical bytes of the covered columns of a row: a JSON array, blobs in hex."""
    return orjson.dumps(values, default=_hex)


def rows_bytes(rows: Sequence[Sequence[Any]]) -> list[bytes]:
    """The same of many rows: written as one array and cut where a row ends, unless a text looks like such a place."""
    cut = orjson.dumps(rows, default=_hex)[1:-1].replace(_NEXT_ROW, _NEXT_LINE).split(b"\n")
    return cut if len(cut) == len(rows) else list(map(row_bytes, rows))


def _hex(value: Any) -> str:
    return bytes(value).hex()


def close_bytes(table: str, row: int, known: int) -> bytes:
    """The canonical bytes of closing a row."""
    return b"%s %d %d" % (table.encode(), row, known)


class Entries:
    """The rows of a changeset under way."""

    def __init__(self) -> None:
        self._sections: list[bytes] = []
        self._content = blake3()

    @property
    def empty(self) -> bool:
        return not self._sections

    def put(self, table: str, rows: Sequence[Row]) -> None:
        """Rows just inserted."""
        if table in COVERED:
            sums = array("I")
            for start in range(0, len(rows), _TOGETHER):
                covered = rows_bytes(list(map(_PICK[table], rows[start : start + _TOGETHER])))
                self._content.update(b"\n".join(covered) + b"\n")
                sums.extend(map(crc32, covered))
            self._note(table, _PUT, [row[0] for row in rows], sums)

    def closed(self, table: str, rows: Sequence[int], known: int) -> None:
        """Rows just closed on the known axis."""
        covered = [close_bytes(table, row, known) for row in rows]
        self._content.update(b"\n".join(covered) + b"\n")
        self._note(table, _CLOSED, rows, array("I", map(crc32, covered)))

    def _note(self, table: str, mode: int, rows: Sequence[int], sums: array[int]) -> None:
        header = _HEADER.pack(TABLES.index(table), mode, len(rows))
        self._sections.append(header + array("q", rows).tobytes() + sums.tobytes())

    def seal(self) -> tuple[bytes, bytes]:
        """The body of the log row, and the hash over all covered bytes in order."""
        return b"".join(self._sections), self._content.digest()


def append(tx: Tx, kind: str, body: bytes, rows: bytes) -> bytes:
    """Writes the log row and returns the new head of the chain."""
    head = chain(tx.head, tx.name, tx.stamp, kind, body, rows)
    row = tx.tenant, tx.sequence, tx.stamp, kind, body, tx.head, head
    tx.store.put("log", [row], ("tenant", "sequence", "known", "kind", "body", "previous", "hash"))
    return head


def sections(body: bytes) -> Iterator[tuple[str, bool, list[int], list[int]]]:
    """(table, closed?, rows, checksums) of a log row's body; ValueError on a damaged one."""
    at = 0
    while at < len(body):
        table, mode, count = _HEADER.unpack_from(body, at)
        at += _HEADER.size
        end = at + 12 * count
        if table >= len(TABLES) or mode > 1 or end > len(body):
            raise ValueError("the body of the log row is damaged")
        rows, sums = array("q", body[at : at + 8 * count]), array("I", body[at + 8 * count : end])
        yield TABLES[table], mode == _CLOSED, rows.tolist(), sums.tolist()
        at = end


def key_column(table: str) -> str:
    """The column that numbers a table's rows."""
    return KEYED.get(table, "id")


# Worlds ===============================================================================================

NOTED = 12
"""So many members are noted before they are added up; with the other columns they fill a page's part of the row."""
_CAME, _WENT = b"+", b"-"
_NOTE = 33
_KNOWN: dict[bytes, bytes] = {}
"""World hash → its digest, which follows from it: so that the notes are not added up with every changeset."""
_MOST_KNOWN = 256


def current_digest(stored: bytes, hash_: bytes = b"") -> bytes:
    """The digest that a stored one and its notes amount to."""
    if (known := _KNOWN.get(hash_)) is not None:
        return known
    notes = _notes(stored)
    came, went = ([note[1:] for note in notes if note[:1] == sign] for sign in (_CAME, _WENT))
    return digest_update(stored[-DIGEST_SIZE:], came, went) if notes else stored[-DIGEST_SIZE:]


def _notes(stored: bytes) -> list[bytes]:
    parts = [stored[at : at + _NOTE] for at in range(0, len(stored) - DIGEST_SIZE, _NOTE)]
    return [part for part in parts if part[:1] in (_CAME, _WENT)]


def _keep(hash_: bytes, digest: bytes) -> None:
    _KNOWN[hash_] = digest
    while len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.pop(next(iter(_KNOWN)), None)


def _with_notes(stored: bytes, members: Members, digest: bytes) -> bytes:
    """What is stored after members came and went: one more note for each, or the digest itself."""
    notes = _notes(stored)
    for member in members.removed:  # of what came and went meanwhile nothing is noted
        notes.remove(_CAME + member) if _CAME + member in notes else notes.append(_WENT + member)
    notes += [_CAME + member for member in members.added]
    if len(notes) > NOTED:
        notes, stored = [], digest
    return b"".join(notes).ljust(NOTED * _NOTE, b"\0") + stored[-DIGEST_SIZE:]


class Members(Struct):
    """What a changeset adds to and takes from one world's digest."""

    added: list[bytes] = field(default_factory=list)
    removed: list[bytes] = field(default_factory=list)
    born: list[bytes] = field(default_factory=list)
    """The ids of those that are new, and have nothing inside."""


class Touched(Struct):
    """What a changeset did to worlds, gathered while it ran."""

    members: dict[int, Members] = field(default_factory=dict)
    appeared: dict[int, bytes] = field(default_factory=dict)
    heads: dict[int, int] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)
    """Lineages that changed their world in this changeset, with the world they came from."""

    def of(self, world: int) -> Members:
        found = self.members.get(world)
        if found is None:
            found = self.members[world] = Members()
        return found

    def new_version(self, line: int, key: int) -> None:
        self.heads[line] = key
        self.of(line)

    def add(self, world: int, member: bytes) -> None:
        self.of(world).added.append(member)

    def move(self, line: int, source: int, target: int) -> None:
        if source != target and line not in self.appeared:
            self.moved.setdefault(line, source)


def settle_worlds(tx: Tx) -> None:
    """New digests and hashes for every world touched and all above it."""
    touched = tx.worlds
    place = {line: tx.world_of(line) for line in touched.appeared if line != tx.root}
    settled_below = touched.members.keys() | set(place.values())
    for line, world in place.items():
        if line not in settled_below:
            touched.of(world).born.append(touched.appeared[line])
    for line, source in touched.moved.items():
        if tx.world_of(line) != source and line not in touched.members:
            touched.of(tx.world_of(line)).added.append(_stored(tx, line)[1])
    settled = []
    depths = {line: _depth(tx, line) for line in touched.members}
    while depths:
        line = max(depths, key=lambda at: (depths[at], at))
        del depths[line]
        settled.append(_settle_one(tx, line))
        if line != tx.root and (above := tx.world_of(line)) not in depths:
            depths[above] = _depth(tx, above)
    if settled:
        tx.store.put("worlds", settled, ("tenant", "line", "head", "hash", "digest"))


def _depth(tx: Tx, line: int) -> int:
    depth = 0
    while line != tx.root:
        line, depth = tx.world_of(line), depth + 1
    return depth


def _stored(tx: Tx, line: int) -> tuple[int, bytes, bytes]:
    """(head version, hash, digest with its notes) of a lineage before this changeset."""
    if line in tx.held_worlds:
        return tx.held_worlds[line]
    rows = tx.store.query(
        "SELECT head, hash, digest FROM worlds WHERE tenant = :t AND line = :line",
        {"t": tx.tenant, "line": line},
    )
    return rows[0] if rows else (line, world_hash(tx.id_of(line)), EMPTY_DIGEST)


def _keep_leaf_hash(tx: Tx, line: int, before: bytes) -> None:
    """The hash that a lineage had while it was a leaf, from the moment it was first believed."""
    since = tx.query("SELECT min(kf) FROM beliefs WHERE tenant = :t AND line = :line", line=line)[0][0]
    if since is not None and since < tx.stamp:
        tx.add("world_hashes", line, before, since)


def _settle_one(tx: Tx, line: int) -> Row:
    """A world's new row."""
    head, before, stored = _stored(tx, line)
    if stored is EMPTY_DIGEST and line not in tx.worlds.appeared:
        _keep_leaf_hash(tx, line, before)
    members = tx.worlds.members[line]
    new_head = tx.worlds.heads.get(line, head)
    if new_head != head:
        members.added.append(tx.id_of(head))
    after, digest, members.added = world_after(
        tx.id_of(new_head), current_digest(stored, before), members.added, members.removed, members.born
    )
    _keep(after, digest)
    tx.add("world_hashes", line, after, tx.stamp)
    row = tx.tenant, line, new_head, after, _with_notes(stored, members, digest)
    if line == tx.root:
        return row
    parent = tx.worlds.of(tx.world_of(line))
    parent.added.append(after)
    if line not in tx.worlds.appeared and not _came_from_elsewhere(tx, line):
        parent.removed.append(before)
    return row


def _came_from_elsewhere(tx: Tx, line: int) -> bool:
    source = tx.worlds.moved.get(line)
    return source is not None and source != tx.world_of(line)


# Histories ============================================================================================

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


def in_its_place(view: View, fact: int, at: Instant) -> list[Node]:
    """The facts that a changeset believed of the subject and slot of one that it gave up."""
    rows = view.query(
        f"SELECT {NODE} FROM facts f CROSS JOIN facts g ON g.tenant = :t AND g.subject = f.subject"
        " AND g.predicate = f.predicate AND g.node <> f.node CROSS JOIN nodes n ON n.tenant = :t AND n.id = g.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id AND b.kf = :at"
        f" WHERE f.tenant = :t AND f.node = :fact AND {view.scoped('b')} AND {view.ever_inside('b.line')}"
        " ORDER BY b.id",
        fact=fact,
        at=at,
    )
    return [node_from(row) for row in rows]


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


# Taking back ==========================================================================================

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
        for table, closed, numbers, _ in sections(rows[0][0])
        for number in numbers
    ]


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


def kind_of(view: View, known_at: Instant) -> str:
    """The verb of a changeset; empty where there is none of that known time."""
    rows = view.query("SELECT kind FROM log WHERE tenant = :t AND known = :at", at=known_at)
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
