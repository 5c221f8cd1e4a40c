"""What is left of what was forgotten, and how rows leave: deleted, with tombstones that keep the rest provable.

A tombstone says which rows of a table were erased, when and by whom. It keeps ids, the ends of edges
and the digests of the changesets that had written the rows (`was`, and `rest` of what they wrote that is
still there), never words. It does not decide what is to be forgotten.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import orjson
from blake3 import blake3
from msgspec import Struct, field

from worldline.clock import FOREVER, Instant
from worldline.hashing import node_id
from worldline.model import Made, NodeDraft, Scope
from worldline.ports import Row, Store, Tx, View
from worldline.rules import slots
from worldline.store import counting, held, ledger, words
from worldline.store.indexing import is_silent, sizes, words_of
from worldline.store.nights import voices_around
from worldline.store.schema import COLUMNS, COVERED, KEYED, UNSWEPT, WORDS_PER_NODE, quoted
from worldline.store.view import LISTED, listed, metadata_from
from worldline.text import fold

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


def is_unswept(store: Store, tenant: int) -> bool:
    """Whether pages may still hold what a tenant erased: the process that did it was killed, or others were reading."""
    marks = {"mine": f"{UNSWEPT} {tenant}", "all": UNSWEPT}  # an older store has one mark for all
    return bool(store.query("SELECT 1 FROM meta WHERE key IN (:mine, :all)", marks))


# What is to go ----------------------------------------------------------------------------------------


def not_erased(tx: Tx, entries: list[ledger.Entry]) -> list[ledger.Entry]:
    """Those of these rows that are still there."""
    gone = tombs(tx.store.query, tx.tenant).rows
    return [entry for entry in entries if entry.number not in gone.get(entry.table, {})]


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
    rows = view.query(
        f"SELECT DISTINCT b.line FROM beliefs b WHERE b.tenant = :t AND {sets.among('b')}", **sets.bound
    )
    return {row[0] for row in rows}


def texts_before(view: View, before: Instant, sets: Sets) -> set[int]:
    """What was said before a moment, and the notes that were first believed before it."""
    rows = view.query(
        "SELECT DISTINCT n.line FROM events v CROSS JOIN nodes n ON n.tenant = :t AND n.id = v.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line"
        f" WHERE v.tenant = :t AND v.said_at < :before AND {sets.among('b')}"
        " UNION SELECT b.line FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.line"
        " WHERE b.tenant = :t AND n.made IS NULL AND b.type NOT IN ('Scope', 'Session', 'Turn', 'Fact', 'Entity')"
        f" AND {sets.among('b')} GROUP BY b.line HAVING min(b.kf) < :before",
        before=before,
        **sets.bound,
    )
    return {row[0] for row in rows}


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
        among=listed(_versions(view, lines)),
        **sets.bound,
    )
    found = {line: (type_, made) for line, type_, made in rows}
    if not found:
        return []
    grounds = view.query(
        "SELECT e.src, d.line, e.kf, CASE WHEN e.made IS NOT NULL THEN e.metadata END FROM edges e"
        " CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst"
        f" WHERE e.tenant = :t AND e.type = 'derived_from' AND e.src IN {LISTED} AND e.src <> d.line"
        f" AND {sets.among('e')} ORDER BY e.id",
        among=listed(found),
        **sets.bound,
    )
    born: dict[int, Instant] = dict(
        view.query(
            f"SELECT b.line, min(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
            f" AND {sets.among('b')} GROUP BY b.line",
            among=listed(found),
            **sets.bound,
        )
    )
    rests: dict[int, list[int]] = {}
    first: dict[int, Instant] = {}
    for src, line, since, noted in grounds:
        if "merged" not in metadata_from(noted):
            rests.setdefault(src, []).append(line)
            first[src] = min(since, first.get(src, FOREVER))
    own = {line for line in found if found[line][0] == "Fact" and born.get(line, 0) < first.get(line, 0)}
    return [
        Resting(line, type_, made, line in own, tuple(rests.get(line, ())))
        for line, (type_, made) in found.items()
    ]


def facts_about(view: View, lines: Collection[int], sets: Sets) -> set[int]:
    """The facts of which any of these is an end."""
    rows = view.query(
        "SELECT DISTINCT b.line FROM facts f CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node"
        f" WHERE f.tenant = :t AND (f.subject IN {LISTED} OR f.object IN {LISTED}) AND {sets.among('b')}",
        among=listed(lines),
        **sets.bound,
    )
    return {row[0] for row in rows}


def around(view: View, lines: Collection[int]) -> tuple[set[int], set[int]]:
    """(entities, sessions) that these speak of or lie in."""
    among = listed(_versions(view, lines))
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
    rows = view.query(
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
    return {row[0] for row in rows}


def emptied(view: View, sessions: Collection[int], gone: Collection[int]) -> set[int]:
    """Those of these sessions that hold nothing else."""
    rows = view.query(
        f"SELECT n.id FROM nodes n WHERE n.tenant = :t AND n.id IN {LISTED} AND NOT EXISTS (SELECT 1 FROM edges e"
        " WHERE e.tenant = :t AND e.src = n.id AND e.type = 'contains'"
        " AND e.dst NOT IN (SELECT value FROM json_each(:dead)))",
        among=listed(sessions),
        dead=listed(gone),
    )
    return {row[0] for row in rows}


def shared(view: View, lines: Collection[int], sets: Sets) -> set[int]:
    """Those of these lineages that somebody believes whom it does not concern."""
    if sets.numbers is None or not lines:
        return set()
    rows = view.query(
        f"SELECT DISTINCT b.line FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED} AND NOT {sets.among('b')}",
        among=listed(lines),
        **sets.bound,
    )
    return {row[0] for row in rows}


def holding_others(view: View, lines: Collection[int], stay: Collection[int]) -> set[int]:
    """Those of these worlds in which something lies that stays."""
    rows = view.query(
        f"SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND e.type = 'contains' AND e.src IN {LISTED}"
        " AND (e.dst NOT IN (SELECT value FROM json_each(:dead)))",
        among=listed(lines),
        dead=listed(set(lines) - set(stay)),
    )
    return {row[0] for row in rows}


class WrittenText(NamedTuple):
    """A stored version."""

    node: int
    line: int
    type: str
    name: str
    content: str
    metadata: str | None
    made: Made | None


def written(view: View, lines: Collection[int]) -> list[WrittenText]:
    """Every version of these lineages."""
    rows = view.query(
        "SELECT id, line, type, name, content, metadata, made FROM nodes WHERE tenant = :t"
        f" AND id IN {LISTED} ORDER BY id",
        among=listed(_versions(view, lines)),
    )
    return [WrittenText(*row) for row in rows]


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
    rows = view.query(
        "SELECT DISTINCT v.node FROM edges e CROSS JOIN events v ON v.tenant = :t AND v.node = e.dst"
        f" WHERE e.tenant = :t AND e.type = 'derived_from' AND e.src IN {LISTED} ORDER BY v.node",
        among=listed(lines),
    )
    return [row[0] for row in rows]


def _versions(view: View, lines: Collection[int]) -> list[int]:
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
    aliases: set[int] = field(default_factory=set)
    proposals: set[int] = field(default_factory=set)
    blocks: dict[int, set[str]] = field(default_factory=dict)
    """The block keys that are left of an entity that lost a name."""
    wordings: set[tuple[int, str]] = field(default_factory=set)
    renamed: dict[int, tuple[str, str]] = field(default_factory=dict)
    """(name, text) that take the place of those of a node."""
    reread: set[int] = field(default_factory=set)
    """Events whose reading goes, so that they are read again."""


def unindex(tx: Tx, lines: Collection[int], sets: Sets, *, share: bool) -> int:
    """Takes the words of these out of the index; of a share, only its owners. How many passages had words."""
    count = 0
    index = tx.words()
    for one in written(tx, lines):
        if is_silent(one.type, one.made):
            continue
        draft = NodeDraft(
            one.type, one.name, one.content, metadata=metadata_from(one.metadata), made=one.made
        )
        texts = words_of(one.node, draft, tx.owner_of(one.node), tx.language)
        cold = bool(words.archived(tx.store, tx.tenant, [texts[0][0]]))
        index.remove(texts, cold=cold)
        count += len(texts)
        if not share:
            _recount(tx, texts, -1)
            continue
        owner = _owner_without(tx, one.node, sets)
        kept = [(row, owner, tokens, kinds) for row, _, tokens, kinds in texts]
        index.replace([], kept)
        if cold:
            index.move(kept, cold=True)
    return count


def index(tx: Tx, renamed: Mapping[int, tuple[str, str]]) -> None:
    """Makes nodes findable by other names and texts than they have."""
    for one in written(tx, renamed):
        if one.node in renamed:
            name, content = renamed[one.node]
            draft = NodeDraft(one.type, name, content, metadata=metadata_from(one.metadata))
            texts = words_of(one.node, draft, tx.owner_of(one.node), tx.language)
            tx.words().replace([], texts)
            _recount(tx, texts)


def name_again(tx: Tx, line: int, name: str) -> None:
    """An entity that had lost its name is called by it again; so it is in what is said of it."""
    renamed = {line: (name, "")}
    for fact in said_of(tx, [line]):
        subject = name if fact.subject == line else fact.subject_name
        value = name if fact.object == line else fact.value
        renamed[fact.node] = slots.label(fact.phrase), slots.sentence(subject, fact.phrase, value)
    unindex(tx, renamed, Sets(), share=False)
    index(tx, renamed)
    for node, words_ in renamed.items():
        _rename(tx, node, *words_)
    tx.renamed(renamed)


def _rename(tx: Tx, node: int, name: str, content: str) -> None:
    tx.query(
        "UPDATE nodes SET name = :name, content = :content WHERE tenant = :t AND id = :node",
        name=name, content=content, node=node,
    )  # fmt: skip


def _recount(tx: Tx, rows: Sequence[tuple[int, str, str, str]], sign: int = 1) -> None:
    texts, tokens = sizes(rows)
    tx.query(
        "UPDATE tenants SET texts = texts + :texts, tokens = tokens + :tokens WHERE tenant = :t",
        texts=sign * texts,
        tokens=sign * tokens,
    )


def _owner_without(tx: Tx, node: int, sets: Sets) -> str:
    rows = tx.query(
        f"SELECT DISTINCT b.scope FROM beliefs b WHERE b.tenant = :t AND b.node = :key AND NOT {sets.among('b')}"
        " ORDER BY b.scope",
        key=node,
        **sets.bound,
    )
    return " ".join(dict.fromkeys(" ".join(tx.owner_in(row[0]) for row in rows).split()))


def erase(tx: Tx, doomed: Doomed, who: str) -> tuple[int, int]:
    """Deletes the rows, writes some over, and leaves the tombstones; how many rows and vectors are gone."""
    before = tombs(tx.store.query, tx.tenant)
    rows = _rows_of(tx, doomed)
    over = sorted({*doomed.renamed, *(_first_owned(tx, doomed))} - rows["nodes"])
    kept = _kept(tx, doomed, rows, over)
    gone = {table: sorted(rows[table]) for table in rows}
    gone["nodes"] = sorted({*rows["nodes"], *over})
    seals = _seals(tx, gone, before)
    vectors = _delete(tx, doomed, rows)
    _write_over(tx, doomed, over)
    for table, numbers in gone.items():
        if numbers:
            _leave(tx, table, numbers, kept.get(table, []), who)
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
    lines, nodes = sorted(doomed.lines), _versions(tx, doomed.lines)
    ends = sorted({*lines, *nodes})
    shares, theirs = sorted(doomed.shares), _versions(tx, doomed.shares)
    sets = doomed.sets

    def numbers(table: str, condition: str, among: Iterable[int], share: bool = False) -> set[int]:
        column = KEYED.get(table, "id")
        own = f" AND {sets.among('r')}" if share else ""
        sql = f"SELECT r.{column} FROM {table} r WHERE r.tenant = :t AND {condition.format(LISTED)}{own}"
        return {row[0] for row in tx.query(sql, among=listed(among), **sets.bound)}

    found = {table: set[int]() for table in COVERED if table not in ("erased", "world_hashes")}
    for table, condition, whole, part in (
        ("nodes", "r.id IN {0}", nodes, []),
        ("events", "r.node IN {0}", nodes, []),
        ("facts", "r.node IN {0}", nodes, []),
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
        found["origins"] |= {row[0] for row in tx.query(sql, of=of, among=listed(sorted(found[of])))}
    return found


def _first_owned(tx: Tx, doomed: Doomed) -> set[int]:
    """Of shared payloads those that carry the metadata of somebody who goes."""
    if not doomed.shares:
        return set()
    rows = tx.query(
        f"SELECT n.id FROM nodes n WHERE n.tenant = :t AND n.id IN {LISTED} AND {doomed.sets.among('n')}",
        among=listed(_versions(tx, doomed.shares)),
        **doomed.sets.bound,
    )
    return {row[0] for row in rows}


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


def _delete(tx: Tx, doomed: Doomed, rows: Mapping[str, Collection[int]]) -> int:
    """Deletes rows and all that is derived of them; how many vectors that were."""
    nodes, lines, sets = sorted(rows["nodes"]), listed(sorted(doomed.lines)), doomed.sets
    above = listed(_above(tx, [*doomed.lines, *doomed.shares]))
    _reset_passes(tx, doomed, above)
    vectors = 0
    for table in ("reembedding", "embeddings", "cold_embeddings"):
        gone = tx.query(
            f"DELETE FROM {table} WHERE tenant = :t AND passage IN (SELECT v.passage FROM json_each(:among) j"
            f" CROSS JOIN {table} v ON v.tenant = :t AND v.passage >= j.value * {WORDS_PER_NODE}"
            f" AND v.passage < (j.value + 1) * {WORDS_PER_NODE}) RETURNING 1",
            among=listed(nodes),
        )
        vectors += len(gone) if table != "reembedding" else 0
    for table in _BY_NODE:
        tx.query(f"DELETE FROM {table} WHERE tenant = :t AND node IN {LISTED}", among=listed(nodes))
    for table in _BY_LINE:
        tx.query(f"DELETE FROM {table} WHERE tenant = :t AND line IN {LISTED}", among=lines)
    tx.query(f"DELETE FROM composed WHERE tenant = :t AND line IN {LISTED}", among=above)
    tx.query(
        f"DELETE FROM wordings WHERE tenant = :t AND object IN {LISTED}",
        among=listed([*nodes, *doomed.lines]),
    )
    for object_, kind in doomed.wordings:
        tx.query(
            "DELETE FROM wordings WHERE tenant = :t AND object = :o AND kind = :kind", o=object_, kind=kind
        )
    for line, keys in doomed.blocks.items():
        tx.query("DELETE FROM blocks WHERE tenant = :t AND line = :line", line=line)
        for key in sorted(keys):
            tx.add("blocks", key, line)
    for table, numbers in rows.items():
        key = ledger.key_column(table)
        tx.query(
            f"DELETE FROM {table} WHERE tenant = :t AND {key} IN {LISTED}", among=listed(sorted(numbers))
        )
    tx.query(
        f"UPDATE events SET reading = NULL WHERE tenant = :t AND node IN {LISTED}",
        among=listed(doomed.reread),
    )
    if doomed.shares:
        _delete_shares(tx, doomed)
    if doomed.scopes:
        for table in ("profiles", "composed"):
            tx.query(
                f"DELETE FROM {table} WHERE tenant = :t AND scope IN (SELECT value FROM json_each(:sets))",
                **sets.bound,
            )
    return vectors


def _delete_shares(tx: Tx, doomed: Doomed) -> None:
    """Of what stays for others, what is counted and labelled for those who go."""
    nodes, sets = listed(_versions(tx, doomed.shares)), doomed.sets
    lines = listed(sorted(doomed.shares))
    tx.query(
        f"DELETE FROM labels WHERE tenant = :t AND node IN {LISTED} AND scope IN (SELECT value FROM json_each(:sets))",
        among=nodes,
        **sets.bound,
    )
    for table in ("uses", "strengths", "composed"):
        tx.query(
            f"DELETE FROM {table} WHERE tenant = :t AND line IN {LISTED}"
            " AND scope IN (SELECT value FROM json_each(:sets))",
            among=lines,
            **sets.bound,
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


def _reset_passes(tx: Tx, doomed: Doomed, above: str) -> None:
    """What nights had counted from what goes is dropped, and counted anew in the next one."""
    turns = tx.query(
        f"SELECT n.id FROM nodes n WHERE n.tenant = :t AND n.type = 'Turn' AND n.id IN {LISTED}",
        among=listed(_versions(tx, [*doomed.lines, *doomed.shares])),
    )
    passes = {"topics", "summaries"} if doomed.lines else set()
    speakers = {fold(name) for name in voices_around(tx, [row[0] for row in turns])}
    if speakers and tx.query(
        "DELETE FROM profiles WHERE tenant = :t AND speaker IN (SELECT value FROM json_each(:speakers)) RETURNING 1",
        speakers=orjson.dumps(sorted(speakers)).decode(),
    ):
        passes.add("profiles")
    if tx.query(f"SELECT 1 FROM composed WHERE tenant = :t AND line IN {LISTED} LIMIT 1", among=above):
        passes.add("compose")
    if passes:
        tx.query(
            "DELETE FROM sleep WHERE tenant = :t AND pass IN (SELECT value FROM json_each(:passes))",
            passes=orjson.dumps(sorted(passes)).decode(),
        )
    if doomed.scopes:
        tx.query(
            "DELETE FROM sleep WHERE tenant = :t AND owner IN (SELECT key FROM scopes WHERE tenant = :t"
            " AND part_of IN (SELECT value FROM json_each(:sets)))",
            **doomed.sets.bound,
        )


def _write_over(tx: Tx, doomed: Doomed, nodes: Sequence[int]) -> None:
    """Nodes that stay without their metadata, or under another name; the changeset vouches for them anew."""
    for node in nodes:
        if node in doomed.renamed:
            _rename(tx, node, *doomed.renamed[node])
        else:
            tx.query(
                "UPDATE nodes SET metadata = NULL, scope = 0 WHERE tenant = :t AND id = :node", node=node
            )
        columns = ", ".join(COLUMNS["nodes"])
        tx.ledger.put(
            "nodes", tx.query(f"SELECT {columns} FROM nodes WHERE tenant = :t AND id = :node", node=node)
        )
