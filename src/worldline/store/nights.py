"""What a night asks of a store and leaves in it: cursors, the news of the log, owners, marks, strengths, derived rows.

Each pass has a cursor for everybody and, where an owner lags or has put something off, one of the
owner's own. Derived rows lie outside the log: they replace each other by primary key. A strength begins when something
is first learned here; how strengths fade and what is spared is for sleep to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec
import orjson
from msgspec import Struct

from worldline.clock import FOREVER, Instant, show
from worldline.model import Node, Scope
from worldline.ports import Row, Store, View
from worldline.rules.describe import Described, Strength, Use, starting
from worldline.store import indexing, ledger
from worldline.store.held import USED
from worldline.store.indexing import ARCHIVED
from worldline.store.schema import SILENT, columns_of, key_of
from worldline.store.search import first_holding
from worldline.store.view import LISTED, NODE, grouped, listed, node_from
from worldline.store.words import owner_token

if TYPE_CHECKING:
    from worldline.store.tx import Tx

EVERYBODY = "*"
"""Whose cursor stands for all owners that have none of their own."""
_BATCH = 5000


# Where a pass stands --------------------------------------------------------------------------------


class Stand(Struct, frozen=True):
    """How far a pass has come for an owner, and what it put off."""

    cursor: int = 0
    waiting: tuple[int, ...] = ()


def stands(view: View, name: str, whose: Collection[str] | None = None) -> dict[str, Stand]:
    """Where a pass stands, by owner (these, or all)."""
    some = "" if whose is None else " AND owner IN (SELECT value FROM json_each(:whose))"
    rows = view.query(
        f"SELECT owner, cursor, state FROM sleep WHERE tenant = :t AND pass = :name{some} ORDER BY owner",
        name=name, whose=listed(whose or ()),
    )  # fmt: skip
    return {
        owner: Stand(cursor, msgspec.json.decode(state, type=tuple[int, ...]))
        for owner, cursor, state in rows
    }


def stand(store: Store, tenant: int, name: str, owner: str, now: Stand) -> None:
    """Moves the cursor of a pass for one owner."""
    row = tenant, owner, name, now.cursor, msgspec.json.encode(now.waiting).decode()
    store.put("sleep", [row], columns_of("sleep"))


def stand_for_all(store: Store, tenant: int, name: str, cursor: int) -> None:
    """Moves everybody's cursor; owners who have come no further and put nothing off need none of their own."""
    stand(store, tenant, name, EVERYBODY, Stand(cursor))
    store.execute(
        "DELETE FROM sleep WHERE tenant = ? AND pass = ? AND cursor <= ? AND state = '[]' AND owner <> ?",
        (tenant, name, cursor, EVERYBODY),
    )


def leave_behind(store: Store, tenant: int, last: int) -> None:
    """Everybody's cursors pass over the nights' own changesets, up to the next of somebody else."""
    store.execute(
        "UPDATE sleep SET cursor = coalesce((SELECT min(l.sequence) FROM log l WHERE l.tenant = sleep.tenant"
        " AND l.sequence > sleep.cursor AND l.kind NOT LIKE 'sleep%') - 1, ?) WHERE tenant = ? AND owner = ?",
        (last, tenant, EVERYBODY),
    )


# What is new ----------------------------------------------------------------------------------------


class NightItem(Struct, frozen=True):
    """A belief that was put, or closed (and perhaps put again, shorter or with another status)."""

    line: int
    node: int
    type: str
    world: int
    """The lineage that it was put into (a turn's session); 0 for the top level."""
    scope: int
    closed: bool
    at: int
    """The number of its changeset."""


class JoinedPair(Struct, frozen=True):
    """An edge that was put or closed."""

    src: int
    type: str
    dst: int
    scope: int
    closed: bool
    at: int


class Changeset(Struct, frozen=True):
    """What one changeset put and closed, in order."""

    kind: str
    items: list[NightItem]
    edges: list[JoinedPair]


_Logged = tuple[int, bool, int]
"""A row's number, whether it was closed, and by which changeset."""
_BELIEFS = (
    "SELECT b.id, b.line, b.node, b.type, n.world, b.scope FROM json_each(:among) j"
    " CROSS JOIN beliefs b ON b.tenant = :t AND b.id = j.value"
    " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE b.type <> 'Scope' ORDER BY b.id"
)
_EDGES = (
    "SELECT e.id, e.src, e.type, e.dst, e.scope FROM json_each(:among) j"
    " CROSS JOIN edges e ON e.tenant = :t AND e.id = j.value ORDER BY e.id"
)


def changesets(view: View, since: int, until: int) -> dict[int, Changeset]:
    """The changesets from the one after `since` up to `until`, by their number."""
    beliefs: list[_Logged] = []
    edges: list[_Logged] = []
    found: dict[int, Changeset] = {}
    rows = view.query(
        "SELECT sequence, kind, body FROM log WHERE tenant = :t AND sequence > :since AND sequence <= :until"
        " ORDER BY sequence",
        since=since,
        until=until,
    )
    for at, kind, body in rows:
        found[at] = Changeset(kind, [], [])
        for table, closed, numbers, _ in ledger.sections(body):
            if table in ("beliefs", "edges"):
                wanted = beliefs if table == "beliefs" else edges
                wanted += [(number, closed, at) for number in numbers]
    for row, closed, at in _looked_up(view, _BELIEFS, beliefs):
        line, node, type_, world, scope = row
        found[at].items.append(NightItem(line, node, type_, world, scope, closed, at))
    for row, closed, at in _looked_up(view, _EDGES, edges):
        src, type_, dst, scope = row
        found[at].edges.append(JoinedPair(src, type_, dst, scope, closed, at))
    return found


def _looked_up(view: View, sql: str, logged: Sequence[_Logged]) -> Iterator[tuple[Row, bool, int]]:
    """The rows themselves, in the order of the log."""
    for start in range(0, len(logged), _BATCH):
        batch = logged[start : start + _BATCH]
        among = listed({number for number, _, _ in batch})
        rows = {row[0]: row[1:] for row in view.query(sql, among=among)}
        for number, closed, at in batch:
            if number in rows:
                yield rows[number], closed, at


# Whose it is ----------------------------------------------------------------------------------------


def members(view: View) -> dict[int, list[Scope]]:
    """The scope sets that may be seen here, each with its scopes."""
    rows = view.query(
        'SELECT x.scope, x."user", x.agent, x.app, x.run FROM (SELECT s.id, s.part_of AS scope, s."user", s.agent,'
        f" s.app, s.run FROM scopes s WHERE s.tenant = :t) x WHERE {view.scoped('x')} ORDER BY x.scope, x.id"
    )
    return grouped((whole, Scope(*kinds)) for whole, *kinds in rows)


def scope_set(view: View, key: str) -> int | None:
    """The number of the scope set of this key; None where nobody has needed it yet."""
    rows = view.query("SELECT id FROM scopes WHERE tenant = :t AND key = :key", key=key)
    return int(rows[0][0]) if rows else None


# Marks, derived rows, the names in a report -----------------------------------------------------------


def set_mark(tx: Tx, line: int, kind: str, value: str | None, reason: str, scope: int) -> bool:
    """One mark of a kind stands at a time for a lineage and scope; False if it stands already."""
    if kind == indexing.ARCHIVED and value is None:
        return indexing.wake(tx, line)
    held = tx.query(
        "SELECT id, value FROM marks WHERE tenant = :t AND line = :line AND kind = :kind AND kt = :forever"
        " AND scope = :scope ORDER BY id",
        line=line, kind=kind, scope=scope,
    )  # fmt: skip
    if (held[0][1] if held else None) == value:
        return False
    for row, _ in held:
        tx.end_row("marks", row)
    if kind == indexing.ARCHIVED:
        indexing.freeze(tx, line)
    if value is not None:
        tx.add("marks", line, scope, kind, value, reason, tx.stamp, FOREVER)
    return True


SEALED = {table: columns_of(table)[:-1] for table in ("scores", "strengths", "composed", "profiles")}
"""Derived tables that nothing else could be compared with: each row carries a checksum over these columns."""
_REAL = frozenset({"value", "salience"})


def seal(table: str, row: Sequence[Any]) -> int:
    """The checksum of a row, as it is when it is read again; never 0."""
    named = zip(SEALED[table], row, strict=True)
    held = [
        value if isinstance(value, bytes | str) else float(value) if column in _REAL else int(value)
        for column, value in named
    ]
    return crc32(ledger.row_bytes(held)) or 1


def unsound(query: Callable[..., list[Row]], tenant: int) -> Iterator[tuple[str, Row]]:
    """(table, key) of rows that are not what a night left there."""
    for table, columns in SEALED.items():
        sql = f"SELECT {', '.join(columns)}, seal FROM {table} WHERE tenant = :t AND seal <> 0"
        for *row, sealed in query(sql, {"t": tenant}):
            held = [bytes(value) if isinstance(value, memoryview) else value for value in row]
            if seal(table, held) != sealed:
                keys = key_of(table)
                yield table, tuple(v for name, v in zip(columns, held, strict=True) if name in keys)


def derive(
    store: Store, table: str, rows: Sequence[tuple[Any, ...]], gone: Sequence[tuple[Any, ...]] = ()
) -> int:
    """Replaces derived rows by primary key and deletes those whose keys are `gone`; how many those are."""
    if table in SEALED:
        rows = [(*row, seal(table, row)) for row in rows]
    if gone:
        store.insert(f"DELETE FROM {table} WHERE {' AND '.join(f'{key} = ?' for key in key_of(table))}", gone)
    if rows:
        store.put(table, rows, columns_of(table))
    return len(rows) + len(gone)


def names(view: View, lines: Collection[int], length: int) -> dict[int, str]:
    """What a report calls each of these: facts and texts go by so much of their words, others by their name."""
    rows = view.query(
        "SELECT n.id, n.type, n.name, substr(n.content, 1, :length), n.hash FROM json_each(:among) j"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value ORDER BY n.id",
        among=listed(sorted(lines)),
        length=length,
    )
    told = {
        key: content if type_ in ("Fact", "Turn") else name or content
        for key, type_, name, content, _ in rows
    }
    return {key: " ".join(told[key].split()) or hash_.hex()[:12] for key, *_, hash_ in rows}


# The words index --------------------------------------------------------------------------------------

_FAR = 200
"""So many texts with a token are looked at for one of an owner's; only a shared index has more of others'."""


def first_with(view: View, tokens: Collection[str]) -> dict[str, int]:
    """The first version of this owner's that has each token; by the owner's tokens the index leaves out others."""
    rows = view.query(
        'SELECT "user", agent, app FROM scopes WHERE tenant = :t'
        " AND part_of = (SELECT min(j.value) FROM json_each(:only) j) ORDER BY id"
    )
    named = [pair for row in rows for pair in zip(("user", "agent", "app"), row, strict=True)]
    owned = list(dict.fromkeys(owner_token(kind, value) for kind, value in named if value))
    return first_holding(view, sorted(tokens), owned, _FAR)


def whole_texts(view: View, nodes: Collection[int]) -> dict[int, tuple[str, str]]:
    """Who said these versions, and their whole texts."""
    rows = view.query(
        "SELECT n.id, n.name, n.content FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        " ORDER BY n.id",
        among=listed(sorted(nodes)),
    )
    return {node: (name, content) for node, name, content in rows}


# Scorers of somebody's own ------------------------------------------------------------------------------

_UNRANKED = SILENT | {"Fact", "Entity"}
"""Types that recall does not rank."""
_RANKED = (
    "FROM nodes WHERE tenant = :t AND id > :last AND type NOT IN (SELECT value FROM json_each(:unranked))"
)


def keep_scorer(tx: Tx, name: str, signal: str, version: str, weight: float) -> None:
    """Takes down a scorer; what another version of it said goes."""
    known = tx.query("SELECT version FROM scorers WHERE tenant = :t AND name = :name", name=name)
    if known and known[0][0] != version:
        _drop_scores(tx, signal)
    tx.store.put("scorers", [(tx.tenant, name, version, weight)], columns_of("scorers"))


def drop_scorer(tx: Tx, name: str, signal: str) -> bool:
    """Forgets a scorer and all that it said; False where there is none of that name."""
    known = tx.query("DELETE FROM scorers WHERE tenant = :t AND name = :name RETURNING 1", name=name)
    _drop_scores(tx, signal)
    return bool(known)


def _drop_scores(tx: Tx, signal: str) -> None:
    tx.store.execute("DELETE FROM scores WHERE tenant = ? AND name = ?", (tx.tenant, signal))
    tx.store.execute("DELETE FROM sleep WHERE tenant = ? AND pass = ?", (tx.tenant, signal))


def unjudged(view: View, signal: str, most: int) -> list[tuple[int, Node | None]]:
    """The next versions in the order of their rows, each through its newest belief, if it ever had one."""
    rows = view.query(f"SELECT id {_RANKED} ORDER BY id LIMIT :most", most=most, **_after(view, signal))
    return [(row[0], view.payload(row[0])) for row in rows]


def count_unjudged(view: View, signal: str) -> int:
    """How many versions a scorer has not seen yet."""
    return int(view.query(f"SELECT count(*) {_RANKED}", **_after(view, signal))[0][0])


def _after(view: View, signal: str) -> Mapping[str, Any]:
    stood = stands(view, signal).get(EVERYBODY, Stand())
    return {"last": stood.cursor, "unranked": listed(sorted(_UNRANKED))}


# What is kept of each speaker ---------------------------------------------------------------------
#
# What is kept of each speaker, and which turns it is counted from; hot or archived, in the owner's scope.


_TABLES = ("texts", "cold_texts")


def profiles(view: View, scope: int, speakers: Collection[str]) -> list[tuple[str, str, bytes]]:
    """(speaker, tally, style) of these speakers, as they are stored."""
    return view.query(
        "SELECT speaker, body, style FROM profiles WHERE tenant = :t AND scope = :scope"
        " AND speaker IN (SELECT value FROM json_each(:speakers)) ORDER BY speaker",
        scope=scope,
        speakers=listed(sorted(speakers)),
    )


def voices_around(view: View, turns: Collection[int]) -> set[str]:
    """The names of whoever said these, or spoke right after one of them."""
    after = (
        " CROSS JOIN {0} s ON s.tenant = :t AND s.node = j.value AND s.position >= 0 CROSS JOIN {1} t"
        " ON t.tenant = :t AND t.session = s.session AND t.position = s.position + 1"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node"
    )
    parts = ["SELECT n.name FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"]
    parts += [
        f"SELECT n.name FROM json_each(:among) j{after.format(mine, theirs)}"
        for mine in _TABLES
        for theirs in _TABLES
    ]
    return view.distinct(" UNION ".join(parts), among=listed(sorted(turns)))


def turns_by(view: View, speaker: str) -> list[int]:
    """The lineages of everything that somebody ever said, in any scope."""
    seats = " UNION ALL ".join(
        f"SELECT t.node FROM {table} t WHERE t.tenant = :t AND t.speaker = :speaker" for table in _TABLES
    )
    return view.column(
        f"SELECT DISTINCT n.line FROM ({seats}) s CROSS JOIN nodes n ON n.tenant = :t AND n.id = s.node"
        " ORDER BY n.line",
        speaker=speaker,
    )


_STRENGTH = "s.salience, s.reinforced_at, s.uses, s.useful, s.wrong, s.line, s.scope"
_FLAGS = msgspec.msgpack.Decoder(Described).decode
_USER = "user"


class KeptStrength(Strength, frozen=True):
    """A strength as it is stored."""

    line: int = 0
    scope: int = 0


def notes(view: View, most: int) -> list[tuple[int, int, Use, Instant]]:
    """(row, lineage, kind, moment) of this owner's oldest uses that have not reached their strengths."""
    return view.query(
        f"SELECT u.id, u.line, u.kind, u.at FROM uses u WHERE u.tenant = :t AND {view.scoped('u')}"
        " ORDER BY u.id LIMIT :most",
        most=most,
    )


def strengths(view: View, lines: Collection[int]) -> dict[int, KeptStrength]:
    """The stored strengths of these lineages."""
    rows = view.query(
        f"SELECT {_STRENGTH} FROM json_each(:among) j CROSS JOIN strengths s ON s.tenant = :t AND s.line = j.value"
        " ORDER BY s.line",
        among=listed(lines),
    )
    return {row[5]: KeptStrength(*row) for row in rows}


def begun(view: View, lines: Collection[int]) -> dict[int, KeptStrength]:
    """What these lineages begin with, where they have no strength yet: the gate's salience, when first learned."""
    rows = view.query(
        "SELECT b.line, CAST(e.signals ->> 'salience' AS DOUBLE PRECISION), b.kf, b.scope FROM beliefs b"
        " LEFT JOIN events e ON e.tenant = :t AND e.node = b.line"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.scoped('b')} AND NOT EXISTS"
        " (SELECT 1 FROM strengths s WHERE s.tenant = :t AND s.line = b.line) ORDER BY b.line, b.kf, b.id",
        among=listed(lines),
    )
    found: dict[int, KeptStrength] = {}
    for line, judged, since, scope in rows:
        found.setdefault(line, KeptStrength(starting(judged), since, line=line, scope=scope))
    return found


def due(view: View, now: Instant, most: int) -> dict[int, KeptStrength]:
    """Whatever crosses the threshold by now, the longest due first."""
    rows = view.query(
        f"SELECT {_STRENGTH} FROM strengths s WHERE s.tenant = :t AND {view.scoped('s')} AND s.cold_at <= :now"
        " ORDER BY s.cold_at, s.line LIMIT :most",
        now=now,
        most=most,
    )
    return {row[5]: KeptStrength(*row) for row in rows}


def strength_row(view: View, kept: KeptStrength, cold_at: Instant) -> tuple[Any, ...]:
    """A row of the derived table `strengths`."""
    return (
        kept.line, view.tenant, kept.scope, kept.salience, kept.reinforced_at, cold_at, kept.uses,
        kept.useful, kept.wrong,
    )  # fmt: skip


def last_learned(view: View, lines: Collection[int], *, named: bool = False) -> dict[int, Instant]:
    """When each of these was last put, put again, given evidence (or `named` by something) in this store."""
    ends = (("src", "derived_from"), ("dst", "refers_to")) if named else (("src", "derived_from"),)
    edges = "".join(
        f" UNION ALL SELECT e.{end}, e.kf FROM edges e WHERE e.tenant = :t AND e.{end} IN {LISTED}"
        f" AND e.type = '{type_}' AND {view.scoped('e')}"
        for end, type_ in ends
    )
    rows = view.query(
        "SELECT x.line, max(x.kf) FROM (SELECT b.line, b.kf FROM beliefs b WHERE b.tenant = :t"
        f" AND b.line IN {LISTED} AND {view.seen()}{edges}) x GROUP BY x.line",
        among=listed(lines),
    )
    return dict(rows)


def archived(view: View, lines: Collection[int]) -> dict[int, Instant]:
    """Which of these lineages are archived, and since when."""
    rows = view.query(
        f"SELECT line, kf FROM marks WHERE tenant = :t AND line IN {LISTED} AND kind = :kind AND kt = :forever"
        " ORDER BY id",
        among=listed(lines),
        kind=ARCHIVED,
    )
    return dict(rows)


# Reasons to spare ---------------------------------------------------------------------------------------


def pinned(view: View, lines: Collection[int]) -> set[int]:
    """Those of these that are pinned, or settled beyond doubt."""
    return view.distinct(
        f"SELECT line FROM marks WHERE tenant = :t AND line IN {LISTED} AND kt = :forever"
        " AND (kind = 'pin' OR kind = 'stage' AND value = 'crystal')",
        among=listed(lines),
    )


def contradicted(view: View, lines: Collection[int]) -> set[int]:
    """Both sides of an open contradiction."""
    sides = " UNION ".join(
        f"SELECT e.{near} FROM edges e WHERE e.tenant = :t AND e.{near} IN {LISTED} AND e.type = 'contradicts'"
        f" AND {view.time('e')} AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = e.{far}"
        f" AND {view.seen()})"
        for near, far in (("src", "dst"), ("dst", "src"))
    )
    return view.distinct(sides, among=listed(lines))


def flags(view: View, lines: Collection[int]) -> list[tuple[int, int]]:
    """(lineage, flags) of those of these that are believed texts of people: what they are about, and how."""
    rows = view.query(
        "SELECT b.line, t.described FROM beliefs b CROSS JOIN texts t ON t.tenant = :t AND t.node = b.node"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND t.role <> 'assistant' AND b.type <> 'Fact'"
        f" AND {view.seen()} ORDER BY b.id",
        among=listed(lines),
    )
    return [(line, _FLAGS(described).flags) for line, described in rows]


def phrased(view: View, lines: Collection[int]) -> list[tuple[int, str, str]]:
    """(lineage, phrase, subject's name) of those of these that are believed facts."""
    return view.query(
        "SELECT b.line, f.phrase, s.name FROM beliefs b CROSS JOIN facts f ON f.tenant = :t AND f.node = b.node"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()} ORDER BY b.id",
        among=listed(lines),
    )


def speakers(view: View, names: Collection[str]) -> set[str]:
    """Which of these folded names ever spoke here; the user always did."""
    speaks = "EXISTS (SELECT 1 FROM {} x WHERE x.tenant = :t AND x.speaker = j.value)"
    return view.distinct(
        "SELECT j.value FROM json_each(:names) j WHERE j.value = :me"
        f" OR {speaks.format('texts')} OR {speaks.format('cold_texts')}",
        names=listed(sorted(names)),
        me=_USER,
    )


def facts_resting_on(view: View, events: Collection[int]) -> list[tuple[int, int]]:
    """(event, fact) of the facts that were derived from these."""
    rows = view.query(
        "SELECT e.dst, e.src FROM edges e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.src AND n.type = 'Fact'"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND {view.time('e')} ORDER BY e.id",
        among=listed(events),
    )
    return [(event, fact) for event, fact in rows]


# What recall shows of the texts it chose, and the signals that sleep has left beside them ---------
#
# Each is one statement for the whole of an answer: the words with who said them when, what contradicts
# them, what they were read as; and every score and strength of a pool.


SCORER = "scorer "
"""What the name of a signal begins with that somebody's own scorer gives."""
STRENGTH = "strength"
"""The signal of how often something was used, and to what end."""

_USED = (
    " UNION ALL SELECT 1, n.id, :strength, s.salience, s.reinforced_at, s.uses, s.useful, s.wrong"
    " FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
    " CROSS JOIN strengths s ON s.tenant = n.tenant AND s.line = n.line AND s.uses + s.useful + s.wrong > 0"
)


class Verbatim(Struct, frozen=True):
    """A text, verbatim, with what was said when where it is an event."""

    node: Node
    sender: str
    said_at: Instant | None
    offset: int
    session: str | None
    remarks: tuple[str, ...]
    """What openly contradicts it, and facts of it that are over."""
    reading: bytes | None
    """What the event was read as, packed; None where there is none that may be trusted."""


class Signal(Struct, frozen=True):
    """What one signal says of one text: a value, or how it was used."""

    node: int
    name: str
    value: float
    strength: Strength | None = None


def verbatim(view: View, nodes: Collection[int]) -> dict[int, Verbatim]:
    """These texts as an answer shows them, where they may be seen."""
    rows = view.query(
        f"SELECT {_remarks(view)}, {_doubtful(view)}, o.* FROM (SELECT e.sender, e.said_at, e.utc_offset,"
        " (SELECT w.name FROM nodes w WHERE w.tenant = :t AND w.id = e.session), e.reading, e.node AS event,"
        f" n.id AS version, n.line AS told_of, b.kt AS until, b.id AS belief, {NODE} FROM json_each(:among) j"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
        f" LEFT JOIN events e ON e.tenant = n.tenant AND e.node = n.id WHERE {view.seen()}) o"
        " ORDER BY o.version, o.until, o.belief",
        among=listed(nodes),
    )
    found: dict[int, Verbatim] = {}
    for row in rows:
        remarks, doubtful, sender, said_at, offset, session, reading, event = row[:8]
        trusted = (reading or b"") if event is not None and not doubtful else None
        node = node_from(row[12:])
        one = Verbatim(node, sender or "", said_at, offset or 0, session, _worded(remarks), trusted)
        found.setdefault(node.key, one)
    return found


def _worded(remarks: str) -> tuple[str, ...]:
    """Each remark in words, by kind and then by age: what it says, of whose words, and of which day."""
    found = sorted({tuple(one) for one in orjson.loads(remarks)}, key=lambda one: (one[0], one[3]))
    return tuple(
        " ".join(part for part in (kind, name, "" if at is None else f"on {show(at)[:10]}") if part)
        + f": {text}"
        for kind, name, text, _, at in found
    )


def _remarks(view: View) -> str:
    """[kind, name, text, version, day] of what is to be known of `o.told_of`, as one JSON list."""
    one = (
        "SELECT '{kind}' AS kind, {name} AS name, substr(n.content, 1, 160) AS content, n.id AS id, {day} AS day"
        " FROM edges e"
    )
    against = (
        f"{one.format(kind='contradicted by', name='n.name', day='CASE WHEN n.type = {turn} THEN b.vf END')}"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.{far}"
        " CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
        f" WHERE e.tenant = :t AND e.{{near}} = o.told_of AND e.type = 'contradicts' AND {view.time('e')}"
        f" AND {view.scoped('e')} AND {view.seen()} AND {_open(view)}"
    )
    over = (
        f"{one.format(kind='no longer so', name=repr(''), day='NULL')}"
        " CROSS JOIN nodes n ON n.tenant = e.tenant AND n.id = e.src AND n.type = 'Fact'"
        " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.kf <= :k AND b.kt > :k"
        " WHERE e.tenant = :t AND e.dst = o.told_of AND e.type = 'derived_from' AND e.kf <= :k AND e.kt > :k"
        f" AND b.vt <= :v AND {view.scoped('b')}"
    )
    ends = (("src", "dst"), ("dst", "src"))
    parts = [against.format(near=near, far=far, turn="'Turn'") for near, far in ends]
    every = " UNION ALL ".join([*parts, over])
    return f"(SELECT json_group_array(json_array(r.kind, r.name, r.content, r.id, r.day)) FROM ({every}) r)"


def _open(view: View) -> str:
    """Of a contradiction between words: two of the facts that it is about are both still seen."""
    return (
        "(e.metadata IS NULL OR e.metadata ->> '$.about' IS NULL OR EXISTS (SELECT 1"
        " FROM json_each(e.metadata, '$.about') j WHERE 1 < (SELECT count(DISTINCT f.line)"
        " FROM json_each(j.value, '$.facts') i CROSS JOIN nodes f ON f.tenant = :t AND f.hash = unhex(i.value)"
        f" CROSS JOIN beliefs b ON b.tenant = f.tenant AND b.line = f.line WHERE {view.seen()})))"
    )


def _doubtful(view: View) -> str:
    """Whether something drawn from the event is kept back, and the view does not look at such."""
    if view.quarantined:
        return "FALSE"
    return (
        "EXISTS (SELECT 1 FROM edges d CROSS JOIN beliefs b ON b.tenant = d.tenant AND b.line = d.src"
        " AND b.kt = :forever AND b.status = 'quarantined'"
        " WHERE d.tenant = :t AND d.dst = o.event AND d.type = 'derived_from')"
    )


def signals(view: View, nodes: Collection[int]) -> list[Signal]:
    """Every signal of these texts; how often something was used is of now, and left out at another moment."""
    rows = view.query(
        "SELECT 0 AS used, s.node, s.name, s.value, 0, 0, 0, 0 FROM json_each(:among) j CROSS JOIN scores s"
        f" ON s.tenant = :t AND s.node = j.value{'' if view.whole else _USED} ORDER BY 1, 2, 3",
        among=listed(nodes),
        strength=STRENGTH,
    )
    return [
        Signal(node, name, value, Strength(value, *counts) if used else None)
        for used, node, name, value, *counts in rows
    ]


def note_use(tx: Tx, line: int, use: Use) -> bool:
    """Keeps how a memory has served; sleep makes strength of it."""
    tx.store.execute(USED, {"t": tx.tenant, "line": line, "kind": use, "at": tx.stamp})
    return True
