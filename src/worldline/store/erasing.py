"""What goes with what is forgotten, and how rows leave: deleted, with tombstones that keep the rest provable.

A tombstone says which rows of a table were erased, when and by whom. It keeps ids, the ends of edges
and the digests of the changesets that had written the rows (`was`, and `rest` of what they wrote that is
still there), never words. Which lineages are meant is decided in `write/forget.py`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson
from blake3 import blake3
from msgspec import Struct, field

from worldline.clock import FOREVER, Instant
from worldline.hashing import node_id, record_id
from worldline.model import NodeDraft, Scope
from worldline.ports import Row, Store, View
from worldline.rules import slots
from worldline.store import counting, held, ledger, words
from worldline.store.indexing import UNDESCRIBED, index, is_silent, unindex, written
from worldline.store.nights import voices_around
from worldline.store.schema import COLUMNS, COVERED, KEYED, UNSWEPT, WORDS_PER_NODE, quoted
from worldline.store.view import LISTED, grouped, listed, metadata_from
from worldline.text import fold

if TYPE_CHECKING:
    from worldline.store.tx import Tx

_BATCH = 500
_SPLIT = 50_000
Query = Callable[..., list[Row]]


class KeptRow(NamedTuple):
    """An edge that is no more, as far as the hashes of worlds need it."""

    hash: bytes
    src: int
    type: str
    dst: int
    world: int
    valid_to: int
    since: int
    until: int


class Tombs(Struct):
    """Everything that was ever erased from a tenant's memory."""

    rows: dict[str, dict[int, Instant]] = field(default_factory=dict)
    """When each row was erased, or written over, by table."""
    nodes: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    """(id, lineage) of each node."""
    payloads: dict[int, bytes] = field(default_factory=dict)
    """What the names and texts that were written over hash to now."""
    edges: list[KeptRow] = field(default_factory=list)
    born: dict[int, Instant] = field(default_factory=dict)
    """When each lineage was first believed."""
    told: set[bytes] = field(default_factory=set)
    """What `mark_of` makes of each belief, here and in the stores that held it before."""
    seals: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    """(what a changeset wrote, what is left of it) as digests, by its number."""

    def is_gone(self, table: str, row: int, known: Instant) -> bool:
        """Whether a row that a changeset of this known time wrote was erased since."""
        return self.rows.get(table, {}).get(row, known) > known


def tombs(query: Query, tenant: int) -> Tombs:
    """The tombstones of a tenant."""
    found = Tombs()
    rows = query(
        "SELECT of, rows, kept, kf FROM erased WHERE tenant = :t AND last >= 0 ORDER BY id", {"t": tenant}
    )
    for of, numbers, kept, at in rows:
        for row in array("q", bytes(numbers)):
            found.rows.setdefault(of, {})[row] = at
        if of == "nodes":
            for node, hash_, line, payload in msgspec.msgpack.decode(kept):
                found.nodes[node] = hash_, line
                if payload is not None:
                    found.payloads[node] = payload
        elif of == "edges":
            found.edges += [KeptRow(*each) for each in msgspec.msgpack.decode(kept)]
        elif of == "beliefs":
            for line, since in msgspec.msgpack.decode(kept):
                found.born[line] = min(since, found.born.get(line, FOREVER))
        elif of == "told":
            found.told.update(msgspec.msgpack.decode(kept))
        elif of == "log":
            found.seals.update({at: (was, rest) for at, was, rest in msgspec.msgpack.decode(kept)})
    return found


def digest_of(body: bytes, known: Instant, stored: Callable[[str, list[int]], Mapping[int, bytes]],
              gone: Tombs) -> bytes:  # fmt: skip
    """The digest over the rows of a changeset, those that were erased since counted as empty."""
    content = blake3()
    for table, closed, numbers, _ in ledger.sections(body):
        if closed:
            rows = [ledger.close_bytes(table, number, known) for number in numbers]
        else:
            held = stored(table, numbers)
            rows = [b"" if gone.is_gone(table, n, known) else held.get(n, b"") for n in numbers]
        content.update(b"\n".join(rows) + b"\n")
    return content.digest()


def mark_of(id_: str, scopes: str, mark: tuple[Instant, Instant, Instant]) -> bytes:
    """A hash of a belief: the version's id, the scope set's key, valid start and end, known start."""
    return record_id("told", id_, scopes, *map(str, mark))


_INSTANCES = (
    f"(SELECT id AS row, vf, vt, kf FROM beliefs WHERE tenant = :t AND id IN {LISTED} UNION"
    f" SELECT row, vf, vt, kf FROM origins WHERE tenant = :t AND of = :of AND row IN {LISTED})"
)


def _marks(tx: Tx, beliefs: Collection[int]) -> list[bytes]:
    """The same of these beliefs, here and wherever they were held before."""
    rows = tx.query(
        f"SELECT n.hash, coalesce(s.key, ''), x.vf, x.vt, x.kf FROM {_INSTANCES} x"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.id = x.row CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " LEFT JOIN scopes s ON s.tenant = :t AND s.id = b.scope ORDER BY 1, 2, 3, 4, 5",
        of="beliefs",
        among=listed(sorted(beliefs)),
    )
    return [mark_of(bytes(hash_).hex(), key, (vf, vt, kf)) for hash_, key, vf, vt, kf in rows]


def is_unswept(store: Store, tenant: int) -> bool:
    """Whether pages may still hold what a tenant erased: the process that did it was killed, or others were reading."""
    marks = {"mine": f"{UNSWEPT} {tenant}", "all": UNSWEPT}  # an older store has one mark for all
    return bool(store.query("SELECT 1 FROM meta WHERE key IN (:mine, :all)", marks))


def not_erased(tx: Tx, entries: list[ledger.Entry]) -> list[ledger.Entry]:
    """Those of these rows that are still there."""
    gone = tombs(tx.store.query, tx.tenant).rows
    return [entry for entry in entries if entry.number not in gone.get(entry.table, {})]


# What goes with it ------------------------------------------------------------------------------------
#
# What rests on what is to be forgotten alone, what lies in it, and what of it others have too.


class Resting(NamedTuple):
    """Something that rests on what is to be forgotten."""

    line: int
    type: str
    made: str | None
    own: bool
    """It was believed before it had any ground."""
    others: tuple[int, ...]
    """The lineages that it rests on besides."""


class Sets(Struct, frozen=True):
    """Scope sets that are concerned; None for all."""

    numbers: tuple[int, ...] | None = None

    def among(self, row: str) -> str:
        """A condition on a row's scope."""
        return "TRUE" if self.numbers is None else f"{row}.scope IN (SELECT value FROM json_each(:sets))"

    @property
    def bound(self) -> dict[str, str]:
        return {"sets": listed(self.numbers or ())}


def sets_of(view: View, scope: Scope) -> Sets:
    """Every scope set that has this scope in it."""
    bound = scope.bound()
    if not bound:
        return Sets()
    kinds = " AND ".join(f'"{kind}" = :{kind}' for kind in bound)
    rows = view.query(
        f"SELECT DISTINCT part_of FROM scopes WHERE tenant = :t AND {kinds} ORDER BY part_of", **bound
    )
    return Sets(tuple(row[0] for row in rows))


def lines_in(view: View, sets: Sets) -> set[int]:
    """Every lineage that is or was believed in these scope sets."""
    return view.distinct(
        f"SELECT DISTINCT b.line FROM beliefs b WHERE b.tenant = :t AND {sets.among('b')}", **sets.bound
    )


def texts_before(view: View, before: Instant, sets: Sets) -> set[int]:
    """What was said before a moment, and the notes that were first believed before it."""
    return view.distinct(
        "SELECT DISTINCT n.line FROM events v CROSS JOIN nodes n ON n.tenant = :t AND n.id = v.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line"
        f" WHERE v.tenant = :t AND v.said_at < :before AND {sets.among('b')}"
        " UNION SELECT b.line FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.line"
        " WHERE b.tenant = :t AND n.made IS NULL AND b.type NOT IN ('Scope', 'Session', 'Turn', 'Fact', 'Entity')"
        f" AND {sets.among('b')} GROUP BY b.line HAVING min(b.kf) < :before",
        before=before,
        **sets.bound,
    )


def inside(view: View, lines: Collection[int]) -> set[int]:
    """These and everything that they ever contained, at any depth."""
    rows = view.query(
        "WITH RECURSIVE down(line) AS (SELECT value FROM json_each(:among) UNION SELECT e.dst FROM down"
        " CROSS JOIN edges e ON e.tenant = :t AND e.src = down.line AND e.type = 'contains')"
        " SELECT line FROM down",
        among=listed(lines),
    )
    return {row[0] for row in rows} | set(lines)


def resting_on(view: View, lines: Collection[int], sets: Sets) -> list[Resting]:
    """What was ever derived from these, with what else it rests on."""
    rows = view.query(
        "SELECT DISTINCT s.line, s.type, s.made FROM edges e CROSS JOIN nodes s ON s.tenant = :t AND s.id = e.src"
        " CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst WHERE e.tenant = :t AND e.type = 'derived_from'"
        f" AND e.dst IN {LISTED} AND s.line <> d.line AND {sets.among('e')} ORDER BY s.line",
        among=listed(versions(view, lines)),
        **sets.bound,
    )
    found = {line: (type_, made) for line, type_, made in rows}
    if not found:
        return []
    grounds = view.query(
        "SELECT e.src, d.line, e.id, e.kf, CASE WHEN e.made IS NOT NULL THEN e.metadata END FROM edges e"
        " CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst"
        f" WHERE e.tenant = :t AND e.type = 'derived_from' AND e.src IN {LISTED} AND e.src <> d.line"
        f" AND {sets.among('e')} ORDER BY e.id",
        among=listed(found),
        **sets.bound,
    )
    grounds = [row for row in grounds if "merged" not in metadata_from(row[4])]
    beliefs = view.query(
        f"SELECT b.line, b.id, b.kf FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND {sets.among('b')} ORDER BY b.id",
        among=listed(found),
        **sets.bound,
    )
    rests = grouped((src, line) for src, line, *_ in grounds)
    born = _learned(view, "beliefs", beliefs)
    first = _learned(view, "edges", [(src, row, since) for src, _, row, since, _ in grounds])
    own = {
        line
        for (line, where), since in born.items()
        if found[line][0] == "Fact" and line in rests and since < first.get((line, where), FOREVER)
    }
    return [
        Resting(line, type_, made, line in own, tuple(rests.get(line, ())))
        for line, (type_, made) in found.items()
    ]


def _learned(view: View, of: str, rows: Sequence[Row]) -> dict[tuple[int, bytes], Instant]:
    """When rows (lineage, number, known start) were first known, by lineage and store: here, or where they came from.

    What is absorbed is put piece by piece, so that only where it was learned tells what was known before what.
    """
    told: dict[tuple[int, Instant], list[tuple[bytes, Instant]]] = {}
    for row, store, since, noted in view.query(
        f"SELECT row, store, kf, noted FROM origins WHERE tenant = :t AND of = :of AND row IN {LISTED} ORDER BY id",
        of=of,
        among=listed(row[1] for row in rows),
    ):
        told.setdefault((row, noted), []).append((bytes(store), since))
    by_row: dict[int, list[tuple[bytes, Instant]]] = {}
    for (row, _), stores in told.items():  # of several the one that told it last had it from the others
        by_row.setdefault(row, []).extend(stores[1:] or stores)
    first: dict[tuple[int, bytes], Instant] = {}
    for line, row, since in rows:
        here = [] if (row, since) in told else [(b"", since)]
        for where, at in (*by_row.get(row, ()), *here):
            first[line, where] = min(at, first.get((line, where), FOREVER))
    return first


def facts_about(view: View, lines: Collection[int], sets: Sets) -> set[int]:
    """The facts of which any of these is an end."""
    return view.distinct(
        "SELECT DISTINCT b.line FROM facts f CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node"
        f" WHERE f.tenant = :t AND (f.subject IN {LISTED} OR f.object IN {LISTED}) AND {sets.among('b')}",
        among=listed(lines),
        **sets.bound,
    )


def around(view: View, lines: Collection[int]) -> tuple[set[int], set[int]]:
    """(entities, sessions) that these speak of or lie in."""
    among = listed(versions(view, lines))
    rows = view.query(
        "SELECT n.line, n.type FROM (SELECT subject AS at FROM facts WHERE tenant = :t AND node IN"
        f" {LISTED} UNION SELECT object FROM facts WHERE tenant = :t AND node IN {LISTED}"
        f" UNION SELECT dst FROM edges WHERE tenant = :t AND src IN {LISTED}"
        f" UNION SELECT src FROM edges WHERE tenant = :t AND dst IN {LISTED}) x"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = x.at WHERE n.type IN ('Entity', 'Session')",
        among=among,
    )
    entities = {line for line, type_ in rows if type_ == "Entity"}
    return entities, {line for line, type_ in rows if type_ == "Session"}


def unused(view: View, entities: Collection[int], gone: Collection[int], sets: Sets) -> set[int]:
    """Those of these entities of which nothing else speaks, and that nobody put by hand."""
    among, dead = listed(set(entities) - set(gone)), listed(gone)
    return view.distinct(
        f"SELECT DISTINCT n.id FROM nodes n WHERE n.tenant = :t AND n.id IN {LISTED} AND n.content = ''"
        " AND n.metadata IS NULL AND NOT EXISTS (SELECT 1 FROM facts f CROSS JOIN beliefs b ON b.tenant = :t"
        f" AND b.line = f.node AND {sets.among('b')} WHERE f.tenant = :t AND (f.subject = n.id OR f.object = n.id)"
        " AND f.node NOT IN (SELECT value FROM json_each(:dead)))"
        f" AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.tenant = :t AND e.src = n.id AND {sets.among('e')}"
        " AND e.type <> 'contains' AND e.dst NOT IN (SELECT value FROM json_each(:dead)))"
        f" AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.tenant = :t AND e.dst = n.id AND {sets.among('e')}"
        " AND e.type <> 'contains' AND e.src NOT IN (SELECT value FROM json_each(:dead)))"
        " AND NOT EXISTS (SELECT 1 FROM beliefs b CROSS JOIN log l ON l.tenant = :t AND l.known = b.kf"
        f" WHERE b.tenant = :t AND b.line = n.id AND {sets.among('b')} AND l.kind = 'note')",
        among=among,
        dead=dead,
        **sets.bound,
    )


def emptied(view: View, sessions: Collection[int], gone: Collection[int]) -> set[int]:
    """Those of these sessions that hold nothing else."""
    return view.distinct(
        f"SELECT n.id FROM nodes n WHERE n.tenant = :t AND n.id IN {LISTED} AND NOT EXISTS (SELECT 1 FROM edges e"
        " WHERE e.tenant = :t AND e.src = n.id AND e.type = 'contains'"
        " AND e.dst NOT IN (SELECT value FROM json_each(:dead)))",
        among=listed(sessions),
        dead=listed(gone),
    )


def shared(view: View, lines: Collection[int], sets: Sets) -> set[int]:
    """Those of these lineages that somebody believes whom it does not concern."""
    if sets.numbers is None or not lines:
        return set()
    return view.distinct(
        f"SELECT DISTINCT b.line FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED} AND NOT {sets.among('b')}",
        among=listed(lines),
        **sets.bound,
    )


def only_theirs(view: View, lines: Collection[int], sets: Sets) -> set[int]:
    """The versions of these lineages that nobody believes whom it does not concern."""
    return view.distinct(
        f"SELECT DISTINCT b.node FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED} AND {sets.among('b')}"
        " AND NOT EXISTS (SELECT 1 FROM beliefs o WHERE o.tenant = :t AND o.line = b.line AND o.node = b.node"
        f" AND NOT {sets.among('o')})",
        among=listed(lines),
        **sets.bound,
    )


def holding_others(view: View, lines: Collection[int], stay: Collection[int]) -> set[int]:
    """Those of these worlds in which something lies that stays."""
    return view.distinct(
        f"SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND e.type = 'contains' AND e.src IN {LISTED}"
        " AND (e.dst NOT IN (SELECT value FROM json_each(:dead)))",
        among=listed(lines),
        dead=listed(set(lines) - set(stay)),
    )


def names_of(view: View, lines: Collection[int]) -> list[tuple[int, int, str]]:
    """(row, entity, name) of every alias of these."""
    sql = f"SELECT id, line, name FROM aliases WHERE tenant = :t AND line IN {LISTED} ORDER BY id"
    return view.query(sql, among=listed(lines))


def reasons_of(view: View, lines: Collection[int]) -> list[tuple[int, str]]:
    """(row, reason) of every proposal to merge any of these."""
    return view.query(
        f"SELECT id, reason FROM proposals WHERE tenant = :t AND (a IN {LISTED} OR b IN {LISTED})"
        " AND reason IS NOT NULL ORDER BY id",
        among=listed(lines),
    )


def wordings_of(view: View, lines: Collection[int]) -> list[tuple[int, str]]:
    """(object, kind) of what texts call these."""
    sql = f"SELECT DISTINCT object, kind FROM wordings WHERE tenant = :t AND object IN {LISTED} ORDER BY 1, 2"
    return view.query(sql, among=listed(lines))


def texts_holding(view: View, terms: Collection[str], most: int) -> list[str]:
    """What somebody wrote or gave and that holds any of these terms: names and words together.

    A fact or a name that was given by itself counts; one that was drawn from a text does not.
    """
    everywhere = {*terms, *(held.APART + term for term in terms)}
    nodes = words.nodes_with(view.store.query, view.tenant, everywhere)
    rows = view.query(
        f"SELECT n.name, n.content, n.metadata FROM nodes n WHERE n.tenant = :t AND n.id IN {LISTED} AND n.made IS NULL"
        " AND (n.type NOT IN ('Fact', 'Entity', 'Scope', 'Session') OR (n.type = 'Fact' AND NOT EXISTS (SELECT 1"
        " FROM edges e WHERE e.tenant = :t AND e.src = n.id AND e.type = 'derived_from')) OR (n.type = 'Entity'"
        " AND EXISTS (SELECT 1 FROM beliefs b CROSS JOIN log l ON l.tenant = :t AND l.known = b.kf"
        " WHERE b.tenant = :t AND b.line = n.id AND l.kind = 'note'))) ORDER BY n.id LIMIT :most",
        among=listed(sorted(nodes)),
        most=most,
    )
    return [f"{name} {content} {metadata or ''}" for name, content, metadata in rows]


class SaidOf(NamedTuple):
    """A fact as its text is made."""

    node: int
    subject: int
    subject_name: str
    phrase: str
    object: int
    value: Any


def said_of(view: View, entities: Collection[int]) -> list[SaidOf]:
    """The facts of which any of these is an end, with the names of both."""
    rows = view.query(
        "SELECT f.node, f.subject, s.name, f.phrase, f.object, o.name, f.literal FROM facts f"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
        f" WHERE f.tenant = :t AND (f.subject IN {LISTED} OR f.object IN {LISTED}) ORDER BY f.node",
        among=listed(entities),
    )
    return [
        SaidOf(node, subject, name, phrase, object_, value if object_ else orjson.loads(literal or "null"))
        for node, subject, name, phrase, object_, value, literal in rows
    ]


def grounds_of(view: View, lines: Collection[int]) -> list[int]:
    """The events that these rest on."""
    return view.column(
        "SELECT DISTINCT v.node FROM edges e CROSS JOIN events v ON v.tenant = :t AND v.node = e.dst"
        f" WHERE e.tenant = :t AND e.type = 'derived_from' AND e.src IN {LISTED} ORDER BY v.node",
        among=listed(lines),
    )


def versions(view: View, lines: Collection[int]) -> list[int]:
    """The numbers of every version of these lineages."""
    rows = view.query(
        f"SELECT id FROM nodes WHERE tenant = :t AND id IN {LISTED} UNION SELECT id FROM nodes WHERE tenant = :t"
        f" AND line IN {LISTED} AND line <> id",
        among=listed(lines),
    )
    return sorted({row[0] for row in rows})


# Leaving ----------------------------------------------------------------------------------------------


class Doomed(Struct):
    """What leaves in one changeset: whole lineages, shares of some, names, and rows that are written over."""

    lines: set[int]
    shares: set[int]
    sets: Sets
    scopes: bool = False
    """Whether the scope sets themselves go."""
    blank: set[int] = field(default_factory=set)
    """Versions of the shares that only those had who go: their rows stay, without words."""
    aliases: set[int] = field(default_factory=set)
    proposals: set[int] = field(default_factory=set)
    blocks: dict[int, set[str]] = field(default_factory=dict)
    """The block keys that are left of an entity that lost a name."""
    wordings: set[tuple[int, str]] = field(default_factory=set)
    renamed: dict[int, tuple[str, str]] = field(default_factory=dict)
    """(name, text) that take the place of those of a node."""
    reread: set[int] = field(default_factory=set)
    """Events whose reading goes, so that they are read again."""
    unindexed: set[int] = field(default_factory=set)
    """Nodes whose words are out of the index already."""


def write_again(tx: Tx, key: int, draft: NodeDraft) -> None:
    """What was written over when it was forgotten has its words again, as has what is said of it: it is stated anew."""
    (one,) = written(tx, [key])
    if one.type in ("Fact", "Turn") or (one.name, one.content) == (draft.name, draft.content):
        return
    renamed = {key: (draft.name, draft.content)}
    for fact in said_of(tx, [key]) if one.type == "Entity" else ():
        subject = draft.name if fact.subject == key else fact.subject_name
        value = draft.name if fact.object == key else fact.value
        renamed[fact.node] = slots.label(fact.phrase), slots.sentence(subject, fact.phrase, value)
    cold = unindex(tx, renamed)
    for node, words_ in renamed.items():
        _rename(tx, node, *words_)
    index(tx, renamed, cold, draft.valid.start)
    tx.renamed(renamed)
    if one.type not in UNDESCRIBED and not is_silent(one.type, one.made):
        tx.indexed_nodes.append(key)


def leave_wordless(tx: Tx, key: int, draft: NodeDraft) -> None:
    """Vouches for a memory that comes from another store by its id alone, because its words were forgotten there."""
    kept = [(key, draft.id, draft.lineage or key, node_id(draft.type, draft.name, draft.content))]
    _leave(tx, "nodes", [key], kept, "")


def _rename(tx: Tx, node: int, name: str, content: str) -> None:
    tx.query(
        "UPDATE nodes SET name = :name, content = :content WHERE tenant = :t AND id = :node",
        name=name, content=content, node=node,
    )  # fmt: skip


def erase(tx: Tx, doomed: Doomed, who: str) -> tuple[int, int]:
    """Deletes the rows, writes some over, and leaves the tombstones; how many rows and vectors are gone."""
    before = tombs(tx.store.query, tx.tenant)
    rows = _rows_of(tx, doomed)
    left = {*versions(tx, doomed.shares), *doomed.renamed} - rows["nodes"]
    cold = unindex(tx, left - doomed.unindexed)
    noted = _first_owned(tx, doomed)
    over = sorted({*doomed.renamed, *noted} - rows["nodes"])
    bare = _labelled_places(tx, doomed) - rows["edges"]
    kept, marks = _kept(tx, doomed, rows, over), _marks(tx, rows["beliefs"])
    gone = {table: sorted(rows[table]) for table in rows}
    gone["nodes"], gone["edges"] = sorted({*rows["nodes"], *over}), sorted({*rows["edges"], *bare})
    seals = _seals(tx, gone, before)
    vectors = _delete(tx, doomed, rows, noted)
    _write_over(tx, doomed, over, noted)
    _lay_bare(tx, bare)
    index(tx, left, cold)
    for table, numbers in gone.items():
        if numbers:
            _leave(tx, table, numbers, kept.get(table, []), who)
    if marks:
        _leave(tx, "told", [0], marks, who)
    if seals:
        _leave(tx, "log", [at for at, _, _ in seals], seals, who)
    tx.query("UPDATE tenants SET moved = moved + 1 WHERE tenant = :t")
    counting.drop(tx.store, tx.tenant)
    tx.query(
        "INSERT INTO meta (key, value) VALUES (:key, :stamp) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        key=f"{UNSWEPT} {tx.tenant}",
        stamp=str(tx.stamp),
    )
    return sum(map(len, rows.values())), vectors


def _leave(tx: Tx, table: str, numbers: Sequence[int], kept: Sequence[Any], who: str) -> None:
    for start in range(0, len(numbers), _SPLIT):
        part = numbers[start : start + _SPLIT]
        own = kept if not start else []
        tx.add(
            "erased", table, part[-1], array("q", part).tobytes(), msgspec.msgpack.encode(own), who, tx.stamp
        )


def _rows_of(tx: Tx, doomed: Doomed) -> dict[str, set[int]]:
    """The numbers of every row that goes, by table."""
    lines, nodes = sorted(doomed.lines), versions(tx, doomed.lines)
    ends = sorted({*lines, *nodes})
    shares, theirs = sorted(doomed.shares), versions(tx, doomed.shares)
    sets = doomed.sets

    def numbers(table: str, condition: str, among: Iterable[int], share: bool = False) -> set[int]:
        column = KEYED.get(table, "id")
        own = f" AND {sets.among('r')}" if share else ""
        sql = f"SELECT r.{column} FROM {table} r WHERE r.tenant = :t AND {condition.format(LISTED)}{own}"
        return tx.distinct(sql, among=listed(among), **sets.bound)

    found = {table: set[int]() for table in COVERED if table not in ("erased", "world_hashes")}
    for table, condition, whole, part in (
        ("nodes", "r.id IN {0}", nodes, []),
        ("events", "r.node IN {0}", [*nodes, *doomed.blank], []),
        ("facts", "r.node IN {0}", [*nodes, *doomed.blank], []),
        ("ontology", "r.world IN {0}", lines, []),
        ("metadata", "r.node IN {0}", nodes, theirs),
        ("beliefs", "r.line IN {0}", lines, shares),
        ("aliases", "r.line IN {0}", lines, shares),
        ("marks", "r.line IN {0}", lines, shares),
        ("proposals", "(r.a IN {0} OR r.b IN {0})", lines, shares),
        ("edges", "(r.src IN {0} OR r.dst IN {0})", ends, sorted({*shares, *theirs})),
    ):
        found[table] |= numbers(table, condition, whole) if whole else set()
        if part:
            own = condition + " AND r.type <> 'contains'" if table == "edges" else condition
            found[table] |= numbers(table, own, part, share=True)
    found["aliases"] |= doomed.aliases
    found["proposals"] |= doomed.proposals
    if doomed.scopes and sets.numbers:
        found["scopes"] = numbers("scopes", "r.part_of IN {0}", sets.numbers)
    for of in ("beliefs", "edges"):
        sql = f"SELECT id FROM origins WHERE tenant = :t AND of = :of AND row IN {LISTED}"
        found["origins"] |= tx.distinct(sql, of=of, among=listed(sorted(found[of])))
    return found


def _first_owned(tx: Tx, doomed: Doomed) -> dict[int, bool]:
    """Of shared payloads those that carry the metadata of somebody who goes, and whether a caption is in it."""
    if not doomed.shares:
        return {}
    rows = tx.query(
        f"SELECT n.id, n.metadata FROM nodes n WHERE n.tenant = :t AND n.id IN {LISTED} AND {doomed.sets.among('n')}",
        among=listed(versions(tx, doomed.shares)),
        **doomed.sets.bound,
    )
    return {node: "caption" in metadata_from(metadata) for node, metadata in rows}


def _labelled_places(tx: Tx, doomed: Doomed) -> set[int]:
    """The edges by which what stays lies where it does, as far as somebody who goes has labelled them."""
    return tx.distinct(
        "SELECT e.id FROM edges e WHERE e.tenant = :t AND e.type = 'contains' AND e.metadata IS NOT NULL"
        f" AND (e.src IN {LISTED} OR e.dst IN {LISTED}) AND {doomed.sets.among('e')}",
        among=listed(sorted(doomed.shares)),
        **doomed.sets.bound,
    )


def _lay_bare(tx: Tx, edges: Collection[int]) -> None:
    """Edges that stay without their metadata; the changeset vouches for them anew."""
    among = listed(sorted(edges))
    tx.query(f"UPDATE edges SET metadata = NULL WHERE tenant = :t AND id IN {LISTED}", among=among)
    columns = ", ".join(COLUMNS["edges"])
    rows = tx.query(
        f"SELECT {columns} FROM edges WHERE tenant = :t AND id IN {LISTED} ORDER BY id", among=among
    )
    if rows:
        tx.ledger.put("edges", rows)


def _kept(
    tx: Tx, doomed: Doomed, rows: Mapping[str, Collection[int]], over: Collection[int]
) -> dict[str, list[Any]]:
    """What the tombstones of each table must know."""
    nodes = tx.query(
        f"SELECT id, hash, line, type FROM nodes WHERE tenant = :t AND id IN {LISTED} ORDER BY id",
        among=listed([*rows["nodes"], *over]),
    )
    edges = tx.query(
        f"SELECT hash, src, type, dst, world, vt, kf, kt FROM edges WHERE tenant = :t AND id IN {LISTED} ORDER BY id",
        among=listed(sorted(rows["edges"])),
    )
    born = tx.query(
        f"SELECT line, min(kf) FROM beliefs WHERE tenant = :t AND line IN {LISTED} GROUP BY line ORDER BY line",
        among=listed(sorted({*doomed.lines, *doomed.shares})),
    )
    over = {*over} & doomed.renamed.keys()
    return {
        "nodes": [
            (node, bytes(hash_), line, node_id(type_, *doomed.renamed[node]) if node in over else None)
            for node, hash_, line, type_ in nodes
        ],
        "edges": [(bytes(row[0]), *row[1:]) for row in edges],
        "beliefs": [tuple(row) for row in born],
    }


def _seals(tx: Tx, gone: Mapping[str, Sequence[int]], before: Tombs) -> list[tuple[int, bytes, bytes]]:
    """For every changeset that had written any of these rows: the digest as it was, and of what is left."""
    wanted = {(table, number) for table, numbers in gone.items() for number in numbers}
    after = Tombs(
        rows={
            table: {**before.rows.get(table, {}), **dict.fromkeys(gone.get(table, ()), tx.stamp)}
            for table in {*before.rows, *gone}
        }
    )
    seals = []

    def stored(table: str, numbers: list[int]) -> dict[int, bytes]:
        return covered_rows(tx.store.query, tx.tenant, table, numbers)

    known = {
        row[0]
        for table in ("beliefs", "edges", "proposals", "marks")
        for row in tx.query(
            f"SELECT DISTINCT kf FROM {table} WHERE tenant = :t AND id IN {LISTED}",
            among=listed(gone.get(table, ())),
        )
    }
    first = "known IN (SELECT value FROM json_each(:among))"
    for condition in (first, f"NOT {first}"):
        for sequence, at, body in tx.query(
            f"SELECT sequence, known, body FROM log WHERE tenant = :t AND {condition} ORDER BY sequence",
            among=listed(sorted(known)),
        ):
            found = {
                (table, number)
                for table, closed, numbers, _ in ledger.sections(body)
                if not closed and table in gone
                for number in numbers
                if (table, number) in wanted
            }
            if found:
                was = (
                    before.seals[sequence][0]
                    if sequence in before.seals
                    else digest_of(body, at, stored, before)
                )
                seals.append((sequence, was, digest_of(body, at, stored, after)))
                again = before.rows  # a row that was written over once is in two changesets
                wanted -= {pair for pair in found if pair[1] not in again.get(pair[0], {})}
        if not wanted:
            break
    return sorted(seals)


def covered_rows(query: Query, tenant: int, table: str, numbers: Sequence[int]) -> dict[int, bytes]:
    """The canonical bytes of these rows of a table, as far as they are there."""
    key, columns = ledger.key_column(table), ", ".join(map(quoted, COVERED[table]))
    found: dict[int, bytes] = {}
    for start in range(0, len(numbers), _BATCH):
        sql = f"SELECT {columns} FROM {table} WHERE tenant = :t AND {key} IN {LISTED}"
        rows = query(sql, {"t": tenant, "among": listed(numbers[start : start + _BATCH])})
        found.update(zip([row[0] for row in rows], ledger.rows_bytes(rows), strict=True))
    return found


_BY_NODE = ("labels", "texts", "cold_texts", "scores")
_BY_LINE = ("blocks", "uses", "strengths", "composed")


def _delete(tx: Tx, doomed: Doomed, rows: Mapping[str, Collection[int]], noted: Mapping[int, bool]) -> int:
    """Deletes rows and all that is derived of them; how many vectors that were."""
    nodes, lines = sorted({*rows["nodes"], *doomed.blank}), sorted(doomed.lines)
    above = _above(tx, [*doomed.lines, *doomed.shares])
    _reset_passes(tx, doomed, above)
    vectors = 0
    for table in ("reembedding", "embeddings", "cold_embeddings"):
        gone = tx.query(
            f"DELETE FROM {table} WHERE tenant = :t AND passage IN (SELECT v.passage FROM json_each(:among) j"
            f" CROSS JOIN {table} v ON v.tenant = :t AND v.passage >= j.value * {WORDS_PER_NODE}"
            f" AND v.passage < (j.value + 1) * {WORDS_PER_NODE}) RETURNING 1",
            among=listed({*nodes, *(node for node in noted if noted[node])}),  # it is embedded with its text
        )
        vectors += len(gone) if table != "reembedding" else 0
    for table in _BY_NODE:
        _drop(tx, table, "node", nodes)
    for table in _BY_LINE:
        _drop(tx, table, "line", lines)
    _drop(tx, "composed", "line", above)
    _drop(tx, "wordings", "object", [*nodes, *doomed.lines])
    for object_, kind in doomed.wordings:
        tx.query(
            "DELETE FROM wordings WHERE tenant = :t AND object = :o AND kind = :kind", o=object_, kind=kind
        )
    for line, keys in doomed.blocks.items():
        _drop(tx, "blocks", "line", [line])
        for key in sorted(keys):
            tx.add("blocks", key, line)
    for table, numbers in rows.items():
        _drop(tx, table, ledger.key_column(table), sorted(numbers))
    tx.query(
        f"UPDATE events SET reading = NULL WHERE tenant = :t AND node IN {LISTED}",
        among=listed(doomed.reread),
    )
    if doomed.shares:  # of what stays for others goes what is counted and labelled for those who go
        _drop(tx, "labels", "node", versions(tx, doomed.shares), doomed.sets)
        for table in ("uses", "strengths", "composed"):
            _drop(tx, table, "line", sorted(doomed.shares), doomed.sets)
    if doomed.scopes:
        for table in ("profiles", "composed"):
            _drop(tx, table, "scope", doomed.sets.numbers or ())
    return vectors


def _drop(tx: Tx, table: str, column: str, among: Iterable[int], sets: Sets | None = None) -> None:
    """Deletes rows by a column of theirs; of these scope sets alone, if given."""
    own = "TRUE" if sets is None else "scope IN (SELECT value FROM json_each(:sets))"
    tx.query(
        f"DELETE FROM {table} WHERE tenant = :t AND {column} IN {LISTED} AND {own}",
        among=listed(among),
        **(sets.bound if sets else {}),
    )


def _above(tx: Tx, lines: Collection[int]) -> list[int]:
    """Everything that ever contained these, at any height, and what was derived of that."""
    rows = tx.query(
        "WITH RECURSIVE up(line) AS (SELECT value FROM json_each(:among) UNION SELECT e.src FROM up"
        " CROSS JOIN edges e ON e.tenant = :t AND e.dst = up.line AND e.type IN ('contains', 'derived_from'))"
        " SELECT line FROM up",
        among=listed(lines),
    )
    return sorted(row[0] for row in rows)


def _reset_passes(tx: Tx, doomed: Doomed, above: Collection[int]) -> None:
    """What nights had counted from what goes is dropped, and counted anew in the next one."""
    turns = tx.query(
        f"SELECT n.id FROM nodes n WHERE n.tenant = :t AND n.type = 'Turn' AND n.id IN {LISTED}",
        among=listed(versions(tx, [*doomed.lines, *doomed.shares])),
    )
    passes = {"topics", "summaries"} if doomed.lines else set()
    speakers = {fold(name) for name in voices_around(tx, [row[0] for row in turns])}
    if speakers and tx.query(
        "DELETE FROM profiles WHERE tenant = :t AND speaker IN (SELECT value FROM json_each(:speakers)) RETURNING 1",
        speakers=listed(sorted(speakers)),
    ):
        passes.add("profiles")
    some = f"SELECT 1 FROM composed WHERE tenant = :t AND line IN {LISTED} LIMIT 1"
    if tx.query(some, among=listed(above)):
        passes.add("compose")
    if passes:
        tx.query(
            "DELETE FROM sleep WHERE tenant = :t AND pass IN (SELECT value FROM json_each(:passes))",
            passes=listed(sorted(passes)),
        )
    if doomed.scopes:
        tx.query(
            "DELETE FROM sleep WHERE tenant = :t AND owner IN (SELECT key FROM scopes WHERE tenant = :t"
            " AND part_of IN (SELECT value FROM json_each(:sets)))",
            **doomed.sets.bound,
        )


_NEXT_OWNER = (
    "(SELECT m.metadata, coalesce(m.scope, 0) FROM (SELECT 1) x LEFT JOIN (SELECT metadata, scope FROM metadata"
    " WHERE tenant = :t AND node = :node ORDER BY id LIMIT 1) m ON TRUE)"
)
"""What the first of those who stay has noted beside a payload, and whose that is."""


def _write_over(tx: Tx, doomed: Doomed, nodes: Sequence[int], noted: Collection[int]) -> None:
    """Nodes that stay with the metadata of others, or with other words; the changeset vouches for them anew."""
    for node in nodes:
        if node in doomed.renamed:
            _rename(tx, node, *doomed.renamed[node])
        if node in noted:
            tx.query(
                f"UPDATE nodes SET (metadata, scope) = {_NEXT_OWNER} WHERE tenant = :t AND id = :node",
                node=node,
            )
        columns = ", ".join(COLUMNS["nodes"])
        tx.ledger.put(
            "nodes", tx.query(f"SELECT {columns} FROM nodes WHERE tenant = :t AND id = :node", node=node)
        )
