"""What is left of what was forgotten, and how rows leave: deleted, with tombstones that keep the rest provable.

A tombstone says which rows of a table were erased, when and by whom. It keeps ids, the ends of edges
and the digests of the changesets that had written the rows (`was`, and `rest` of what they wrote that is
still there), never words. It does not decide what is to be forgotten.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson
from blake3 import blake3
from msgspec import Struct, field

from worldline.clock import FOREVER, Instant, Interval
from worldline.hashing import node_id, record_id
from worldline.model import NodeDraft
from worldline.ports import Row, Store
from worldline.rules import slots
from worldline.store import counting, ledger, words
from worldline.store.indexing import UNDESCRIBED, described, is_silent, sizes, words_of
from worldline.store.nights import voices_around
from worldline.store.resting import Sets, WrittenText, said_of, versions, written
from worldline.store.schema import COLUMNS, COVERED, KEYED, UNSWEPT, WORDS_PER_NODE, quoted
from worldline.store.view import LISTED, listed, metadata_from
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


def unindex(tx: Tx, nodes: Collection[int]) -> set[int]:
    """Takes the words of these versions out of the index; those that were archived."""
    cold = set[int]()
    for one, draft in _findable(tx, nodes):
        texts = words_of(one.node, draft, tx.owner_of(one.node), tx.language)
        if words.archived(tx.store, tx.tenant, [texts[0][0]]):
            cold.add(one.node)
        tx.words().remove(texts, cold=one.node in cold)
        _recount(tx, texts, -1)
    return cold


def index(tx: Tx, nodes: Collection[int], cold: Collection[int], since: Instant = 0) -> None:
    """Makes versions findable, and described, as they are now; what is not believed yet will be `since` then."""
    for one, draft in _findable(tx, nodes, since):
        texts = words_of(one.node, draft, tx.owner_of(one.node), tx.language)
        tx.words().replace([], texts)
        _recount(tx, texts)
        if one.node in cold:
            tx.words().move(texts, cold=True)
        speaker, role, said_at, told = described(draft)
        for table in ("texts", "cold_texts"):
            tx.query(
                f"UPDATE {table} SET speaker = :speaker, role = :role, said_at = :said_at, described = :told"
                " WHERE tenant = :t AND node = :node",
                speaker=speaker, role=role, said_at=said_at, told=told, node=one.node,
            )  # fmt: skip


def _findable(tx: Tx, nodes: Collection[int], otherwise: Instant = 0) -> list[tuple[WrittenText, NodeDraft]]:
    """Those of these versions that have words in the index, as they were indexed."""
    since: dict[int, Instant] = {}
    for node, start in tx.query(
        "SELECT b.node, b.vf FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE n.tenant = :t AND n.id IN {LISTED} ORDER BY b.id",
        among=listed(nodes),
    ):
        since.setdefault(node, start)
    return [
        (
            one,
            NodeDraft(
                one.type, one.name, one.content, Interval(since.get(one.node, otherwise)),
                metadata=metadata_from(one.metadata), made=one.made,
            ),
        )
        for one in written(tx, nodes)
        if not is_silent(one.type, one.made)
    ]  # fmt: skip


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


def _recount(tx: Tx, rows: Sequence[tuple[int, str, str, str]], sign: int = 1) -> None:
    texts, tokens = sizes(rows)
    tx.query(
        "UPDATE tenants SET texts = texts + :texts, tokens = tokens + :tokens WHERE tenant = :t",
        texts=sign * texts,
        tokens=sign * tokens,
    )


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
    nodes, lines, sets = (
        sorted({*rows["nodes"], *doomed.blank}),
        listed(sorted(doomed.lines)),
        doomed.sets,
    )
    above = listed(_above(tx, [*doomed.lines, *doomed.shares]))
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
    nodes, sets = listed(versions(tx, doomed.shares)), doomed.sets
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
        among=listed(versions(tx, [*doomed.lines, *doomed.shares])),
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
