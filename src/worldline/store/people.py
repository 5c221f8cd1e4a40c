"""Who is who in a store, and what is believed of them: names, speakers who were heard, facts, stages and disputes.

Names are looked up by their folded form, alike ones by block keys. A name has a dozen of those, all over the table:
so a new one lies there whole at first (`KEYLESS`), and many get their keys together. Entities live in the root,
whichever world speaks of them; accepted identities are one. Facts pass the view, so nobody steps on what is over,
withdrawn, doubtful, or somebody else's.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import Instant, Interval
from worldline.model import Believed, Edge, Proposal, Utterance
from worldline.ports import View
from worldline.reading.claim import role_of
from worldline.rules.identity import block_keys
from worldline.rules.slots import label
from worldline.store.events import SEATS, TURN_TABLES
from worldline.store.view import LISTED, grouped, joined, listed
from worldline.text import fold, unsigned

if TYPE_CHECKING:
    from worldline.store.tx import Tx

# Names ================================================================================================

KEYLESS = "  "
"""What the key of a name begins with that has not got its own yet."""
MOST_KEYLESS = 128
"""So many names wait for their keys; while a changeset settles much at once, eight times as many."""
_KEYS = "(SELECT value FROM json_each(:keys))"
_NEAR = (
    f"(SELECT b.key, b.line FROM blocks b WHERE b.tenant = :t AND b.key IN {_KEYS}"
    " UNION SELECT j.value ->> 0, CAST(j.value ->> 1 AS BIGINT) FROM json_each(:waiting) j)"
)
"""The rows of `blocks` under these keys, with those that names will have which wait for theirs."""
_WAITING = "SELECT key, line FROM blocks WHERE tenant = :t AND key >= '  ' AND key < ' !' ORDER BY key, line"
_FACT_ENDS = "SELECT subject, object FROM facts WHERE tenant = :t AND object <> 0 AND"


class Called(NamedTuple):
    """A name that is known here: folded, as it was written, of whom, and whether that one is believed now."""

    key: str
    name: str
    line: int
    believed: bool


_Part = tuple[int, str, bool]
"""A name that shares a block with another one, of whom it is, and whether it is that very name."""


# Whom a name means ----------------------------------------------------------------------------------


def name_keys(name: str) -> tuple[str, str]:
    """The folded forms under which a name is found; old files have it without its signs (C++ as C)."""
    return fold(name) or name, unsigned(fold(name))


def exactly(tx: Tx, name: str, scope: int) -> Called | None:
    """Who has exactly this name in a scope; C++ is not C, though old files key it so."""
    return exactly_each(tx, [name], scope)[name]


def exactly_each(tx: Tx, names: Collection[str], scope: int) -> dict[str, Called | None]:
    """The same of some names."""
    rows = known_names(tx, [key for name in names for key in name_keys(name)], scope)
    return {name: next((row for row in rows if fold(row.name) == fold(name)), None) for name in names}


def known_names(tx: Tx, keys: Collection[str], scope: int) -> list[Called]:
    """Whom these folded names stand for in a scope, the oldest first."""
    known: list[Called] | None = tx.gathering.called(keys, scope) if tx.gathering else None
    return stored_names(tx, keys, scope) if known is None else known


def stored_names(view: View, keys: Collection[str], scope: int) -> list[Called]:
    """The same, as it is stored."""
    rows = view.query(
        "SELECT a.key, a.name, a.line, EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = a.line"
        " AND b.scope = :scope AND b.kt = :forever AND b.vf <= :v AND b.vt > :v) FROM aliases a"
        f" WHERE a.tenant = :t AND a.key IN {_KEYS} AND a.scope = :scope ORDER BY a.id",
        keys=listed(keys),
        scope=scope,
    )
    return [Called(key, name, line, bool(believed)) for key, name, line, believed in rows]


def parts(tx: Tx, keys: Collection[str], exact: str, slot: str, scope: int, most: int) -> list[_Part]:
    """Names that share a block key, of whom a slot says something; and the very name, if it is known."""
    fresh = _fresh_parts(tx, keys, exact, slot, scope) if tx.gathering else None
    told = {row[2] for row in tx.rows["facts"] if row[3] == slot}
    rows = (tx if fresh is None else tx.peek()).query(
        f"SELECT DISTINCT a.line, a.name, a.key = :exact FROM {_NEAR} k"
        " CROSS JOIN aliases a ON a.tenant = :t AND a.line = k.line"
        " LEFT JOIN facts f ON f.tenant = :t AND f.subject = a.line AND f.predicate = :slot"
        " WHERE a.scope = :scope"
        f" AND (f.node IS NOT NULL OR a.key = :exact OR a.line IN {LISTED}) ORDER BY 3 DESC, 1, 2 LIMIT :most",
        keys=listed(keys), slot=slot, scope=scope, exact=exact, most=most, among=listed(told),
        waiting=_waiting(tx, keys, peek=fresh is not None),
    )  # fmt: skip
    found = [(line, name, bool(same)) for line, name, same in rows]
    return sorted({*found, *fresh}, key=lambda part: (not part[2], *part))[:most] if fresh else found


def _fresh_parts(tx: Tx, keys: Collection[str], exact: str, slot: str, scope: int) -> list[_Part] | None:
    """Those among the names that the changeset has gathered; None where the store has to tell."""
    if any(not tx.is_new(row[4]) for row in tx.rows["aliases"]):
        return None
    near = {line for _, key, line in tx.rows["blocks"] if _meets(key, keys)}
    told = {row[2] for row in tx.rows["facts"] if row[3] == slot}
    return [
        (line, name, key == exact)
        for _, _, key, name, line, where in tx.rows["aliases"]
        if line in near and where == scope and (line in told or key == exact)
    ]


def alike(
    tx: Tx, keys: Collection[str], but: Collection[int], scope: int, most: int
) -> list[tuple[int, str]]:
    """(entity, name) of names that share block keys with a new one; those that share the most, if there are many."""
    rows = (tx.peek() if tx.gathering else tx).query(
        f"SELECT a.line, a.name FROM {_NEAR} k CROSS JOIN aliases a ON a.tenant = :t AND a.line = k.line"
        f" WHERE a.scope = :scope AND a.line NOT IN {LISTED}"
        " GROUP BY a.line, a.name ORDER BY count(*) DESC, a.line, a.name LIMIT :most",
        keys=listed(keys), scope=scope, among=listed(but), most=most,
        waiting=_waiting(tx, keys, peek=bool(tx.gathering)),
    )  # fmt: skip
    lines = {line for _, key, line in tx.rows["blocks"] if _meets(key, keys)} - set(but)
    fresh = [(row[4], row[3]) for row in tx.rows["aliases"] if row[4] in lines and row[5] == scope]
    return [*((line, name) for line, name in rows), *fresh]


def _meets(key: str, keys: Collection[str]) -> bool:
    """Whether a row of `blocks` is under one of these keys, or its name will be."""
    return not block_keys(key[len(KEYLESS) :]).isdisjoint(keys) if key.startswith(KEYLESS) else key in keys


def _waiting(tx: Tx, keys: Collection[str], *, peek: bool) -> str:
    """(key, lineage) of the names that wait for their keys and will be under one of these."""
    if not peek:
        tx.flush()
    if tx.keyless is None:
        rows = tx.peek().query(_WAITING)
        tx.keyless = [(block_keys(held[len(KEYLESS) :]), line) for held, line in rows]
    near = {
        (key, line)
        for held, line in tx.keyless
        if not held.isdisjoint(keys)
        for key in held.intersection(keys)
    }
    return orjson.dumps(sorted(near)).decode()


def add_keys(tx: Tx, name: str, line: int) -> None:
    """Makes a name findable for others like it."""
    if tx.keyless is not None and len(tx.keyless) >= MOST_KEYLESS * (8 if tx.gathering else 1):
        give_keys(tx)
    tx.add("blocks", KEYLESS + name, line)


def give_keys(tx: Tx) -> None:
    """Puts the keys of all names that wait for theirs."""
    for held, line in tx.query(_WAITING):
        for key in sorted(block_keys(held[len(KEYLESS) :])):
            tx.add("blocks", key, line)
    tx.query("DELETE FROM blocks WHERE tenant = :t AND key >= '  ' AND key < ' !'")
    tx.keyless = []


def ever_called(view: View, line: int) -> set[str]:
    """Every name under which an entity was ever known, in any scope."""
    return view.distinct(
        "SELECT name FROM aliases WHERE tenant = :t AND line = :line"
        " UNION SELECT name FROM nodes WHERE tenant = :t AND id = :line",
        line=line,
    )


def namesakes(tx: Tx, line: int, scope: int) -> list[int]:
    """Others that share a name with this entity in a scope."""
    return tx.column(
        "SELECT DISTINCT a.line FROM aliases o CROSS JOIN aliases a ON a.tenant = :t AND a.key = o.key"
        " AND a.scope = o.scope AND a.line <> o.line WHERE o.tenant = :t AND o.line = :line AND o.scope = :scope"
        " ORDER BY a.line",
        line=line,
        scope=scope,
    )


# Who is near whom -----------------------------------------------------------------------------------


def _ends_of(lines: str) -> str:
    """The ends of the facts of these; of whoever has very many not all, so that nobody is everybody's neighbour."""
    first, second = (
        f"SELECT * FROM ({_FACT_ENDS} {end} IN ({lines}) ORDER BY {end}, predicate, node LIMIT :most) x"
        for end in ("subject", "object")
    )
    return f"SELECT subject AS a, object AS b FROM ({first} UNION {second}) y"


def beside(view: View, lines: Collection[int], most: int) -> list[int]:
    """The other ends of the facts of these."""
    rows = view.query(_ends_of("SELECT value FROM json_each(:among)"), among=listed(lines), most=most)
    return sorted({line for row in rows for line in row} - set(lines))


class Near(NamedTuple):
    """An entity within two facts of others: how far, and its names in a scope."""

    line: int
    far: int
    names: tuple[str, ...]


def within_two_facts(view: View, lines: Collection[int], scope: int, most: int) -> list[Near]:
    """These entities and those within two facts of them, the nearest first, then the oldest."""
    own = "SELECT value FROM json_each(:among)"
    rows = view.query(
        f"WITH one AS MATERIALIZED ({_ends_of(own)}),"
        " first AS MATERIALIZED (SELECT line FROM (SELECT a AS line FROM one UNION SELECT b FROM one) p"
        f" WHERE line NOT IN ({own})),"
        f" two AS MATERIALIZED ({_ends_of('SELECT line FROM first')}), near AS (SELECT line, min(far) AS far FROM"
        f" (SELECT value AS line, 0 AS far FROM json_each(:among) UNION ALL SELECT line, 1 FROM first"
        " UNION ALL SELECT a, 2 FROM two UNION ALL SELECT b, 2 FROM two) q GROUP BY line)"
        " SELECT near.line, near.far, a.name FROM near LEFT JOIN aliases a ON a.tenant = :t AND a.line = near.line"
        " AND a.scope = :scope ORDER BY near.far, near.line, a.id",
        among=listed(lines),
        scope=scope,
        most=most,
    )
    return [
        Near(line, far, tuple(name for *_, name in each if name is not None))
        for (line, far), each in groupby(rows, lambda row: row[:2])
    ]


# Merges ---------------------------------------------------------------------------------------------


def staged(view: View, older: Collection[int]) -> set[tuple[int, int]]:
    """(younger, older) of every pair with one of these as the older, for which a merge stands staged or decided."""
    rows = view.query(
        f"SELECT p.b, p.a FROM proposals p WHERE p.tenant = :t AND p.a IN {LISTED} AND p.kt = :forever"
        f" AND {view.scoped('p')}",
        among=listed(older),
    )
    return {(younger, older) for younger, older in rows}


def merge_status(tx: Tx, a: int, b: int, scope: int) -> str:
    """How a merge of two entities stands in a scope; empty where nobody ever staged it."""
    older, younger = sorted((a, b))
    rows = tx.query(
        "SELECT status FROM proposals WHERE tenant = :t AND a = :a AND b = :b AND scope = :scope AND kt = :forever",
        a=older, b=younger, scope=scope,
    )  # fmt: skip
    return str(rows[0][0]) if rows else ""


def proposal_scope(tx: Tx, proposal: Proposal) -> int:
    """The scope set that a merge was staged in."""
    rows = tx.query("SELECT scope FROM proposals WHERE tenant = :t AND id = :row", row=proposal.row)
    return int(rows[0][0])


def identities(tx: Tx, a: int, b: int) -> list[Edge]:
    """The believed same_as edges between two entities, both ways."""
    return tx.edge_rows(
        "e.type = 'same_as' AND e.kt = :forever AND e.src IN (:a, :b) AND e.dst IN (:a, :b)", a=a, b=b
    )


def believed_edges(tx: Tx, edge: Edge) -> list[Edge]:
    """An edge as it is believed now, whatever became of it since the caller read it."""
    return tx.edge_rows(
        "e.src = :src AND e.type = :type AND e.dst = :dst AND e.kt = :forever",
        src=edge.src_line, type=edge.type, dst=edge.dst_line,
    )  # fmt: skip


# Who was heard ========================================================================================

_MOST_SPEAKERS = 2000
_SPELLINGS = 100
"""Of so many texts of a speaker, those that came first, the name is taken: nobody reads all that somebody ever said."""
_MERGED = "EXISTS (SELECT 1 FROM proposals p WHERE p.tenant = :t AND p.status = 'accepted')"


class NamedEntity(NamedTuple):
    """An entity that goes by a name; `first` stands for it and for all that was accepted as the same."""

    line: int
    name: str
    first: int


def first_of(view: View, line: str) -> str:
    """The lineage that stands for the identity of a column; itself where nothing was ever merged."""
    first = f"{joined(view, f'SELECT {line}')} SELECT min(same.line) FROM same"
    return f"CASE WHEN {_MERGED} THEN ({first}) ELSE {line} END"


def called(view: View, names: Collection[str]) -> list[NamedEntity]:
    """The entities that go by one of these folded names, the newest name first."""
    rows = view.query(
        f"SELECT a.line, a.name, {first_of(view, 'a.line')} FROM aliases a WHERE a.tenant = :t"
        f" AND a.key IN (SELECT value FROM json_each(:names)) AND {view.scoped('a')} ORDER BY a.id DESC",
        names=listed({*names, *map(unsigned, names)}),
    )
    # an old file's key for C++ is that of C
    return [NamedEntity(*row) for row in rows if fold(row[1]) in names]


def names_of(view: View, lines: Collection[int]) -> list[str]:
    """Everything that these entities are called, the oldest name first."""
    return view.column(
        f"SELECT a.name FROM aliases a WHERE a.tenant = :t AND a.line IN {LISTED} AND {view.scoped('a')} ORDER BY a.id",
        among=listed(lines),
    )


def names_near(view: View, key: str) -> dict[str, str]:
    """Names that begin as a folded one does, by their key; not too many."""
    rows = view.query(
        f"SELECT DISTINCT a.key, a.name FROM aliases a WHERE a.tenant = :t AND {view.scoped('a')}"
        " AND a.key >= :low AND a.key < :high ORDER BY a.key, a.name LIMIT :most",
        low=key[:2], high=key[:2] + "\U0010ffff", most=500,
    )  # fmt: skip
    return dict(rows)


def heard(view: View, speakers: Collection[str]) -> list[str]:
    """Which of these have said something that may be seen."""
    held = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} t{SEATS} WHERE t.tenant = :t AND t.speaker = j.value AND {view.seen()})"
        for table in TURN_TABLES
    )
    return view.column(
        f"SELECT j.value FROM json_each(:speakers) j WHERE {held} ORDER BY j.key", speakers=listed(speakers)
    )


def speakers(view: View) -> list[str]:
    """Every name under which anybody speaks in this tenant; seen or not, so it is only to choose from."""
    steps = ", ".join(
        f"{table}_by(name, place) AS (SELECT min(x.speaker), 1 FROM {table} x WHERE x.tenant = :t AND x.speaker > ''"
        f" UNION ALL SELECT (SELECT min(x.speaker) FROM {table} x WHERE x.tenant = :t AND x.speaker > s.name),"
        f" place + 1 FROM {table}_by s WHERE s.name IS NOT NULL AND place < :most)"
        for table in TURN_TABLES
    )
    found = " UNION ".join(f"SELECT name FROM {table}_by WHERE name IS NOT NULL" for table in TURN_TABLES)
    return view.column(f"WITH RECURSIVE {steps} {found} ORDER BY 1", most=_MOST_SPEAKERS)


def written(view: View, speaker: str) -> str:
    """A speaker's name as it was first written; empty for nobody."""
    parts = (
        f"SELECT {place} AS place, n.name FROM (SELECT min(f.node) AS node FROM (SELECT x.node FROM {table} x"
        f" WHERE x.tenant = :t AND x.speaker = :speaker LIMIT {_SPELLINGS}) f) t"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node"
        for place, table in enumerate(TURN_TABLES)
    )
    rows = view.query(f"{' UNION ALL '.join(parts)} ORDER BY 1 LIMIT 1", speaker=speaker)
    return str(rows[0][1]) if rows else ""


def kept(view: View, first: Collection[str], most: int) -> list[tuple[str, str, bytes]]:
    """(speaker, tally, style): what sleep keeps of people and this view may see; these people's before others'."""
    return view.query(
        f"SELECT p.speaker, p.body, p.style FROM profiles p WHERE p.tenant = :t AND {view.scoped('p')}"
        " ORDER BY p.speaker NOT IN (SELECT value FROM json_each(:first)), p.speaker, p.scope LIMIT :most",
        first=listed(first), most=most,
    )  # fmt: skip


def landmarks_of(view: View, people: Collection[str], kinds: Collection[str], most: int) -> list[int]:
    """Visible texts that tell a landmark of one of these kinds of one of these speakers, weightiest first."""
    bodies = view.query(
        "SELECT p.body FROM profiles p WHERE p.tenant = :t AND p.speaker IN (SELECT value FROM json_each(:people))"
        f" AND {view.scoped('p')} ORDER BY p.speaker, p.scope",
        people=listed(people),
    )
    weights: dict[int, float] = {}
    for (body,) in bodies:
        for kind, held in (orjson.loads(body).get("landmarks") or {}).items():
            for line, weight, *_ in held if kind in kinds else ():
                weights[line] = max(weight, weights.get(line, weight))
    if not weights:
        return []
    rows = view.query(
        f"SELECT b.line, b.node FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()}",
        among=listed(weights),
    )
    best = sorted(rows, key=lambda row: (-weights[row[0]], row[1]))[:most]
    return list(dict.fromkeys(node for _, node in best))


# Merges ------------------------------------------------------------------------------------------


def proposals(view: View, status: str | None = None) -> list[Proposal]:
    """Merge proposals of a status (None: all), as they stood at this known time."""
    return view.proposals() if status is None else view.proposals("p.status = :status", status=status)


def accepted_among(view: View, lines: Collection[int]) -> list[Proposal]:
    """The accepted merges that one of these entities has part in."""
    return view.proposals(
        f"p.status = 'accepted' AND (p.a IN {LISTED} OR p.b IN {LISTED})", among=listed(lines)
    )


_NEXT = "(SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > s.name)"


def only_speaker(view: View) -> str:
    """The one person who speaks here beside assistants; empty where there are none or several."""
    heard = (
        "EXISTS (SELECT 1 FROM texts t CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node CROSS JOIN beliefs b"
        " ON b.tenant = :t AND b.line = n.line AND b.node = n.id WHERE t.tenant = :t AND t.speaker = s.name"
        f" AND {view.scoped('b')})"
    )
    rows = view.query(
        "WITH RECURSIVE s(name, n) AS (SELECT (SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > ''), 1"
        f" UNION ALL SELECT {_NEXT}, n + 1 FROM s WHERE s.name IS NOT NULL AND n < :most)"
        f" SELECT name FROM s WHERE name IS NOT NULL AND {heard} ORDER BY name LIMIT 6",
        most=6 if not view.owned else 1000,
    )
    people = [row[0] for row in rows if role_of(row[0]) != "assistant"]
    return people[0] if len(people) == 1 else ""


# What is believed of them =============================================================================

_HOME = (
    "(SELECT h.id FROM scopes s CROSS JOIN scopes h ON h.tenant = s.tenant"
    ' AND h."user" IS NOT DISTINCT FROM s."user" AND h.agent IS NOT DISTINCT FROM s.agent'
    " AND h.app IS NOT DISTINCT FROM s.app AND h.run IS NULL AND h.part_of = h.id"
    " WHERE s.tenant = :t AND s.id = b.scope AND s.run IS NOT NULL ORDER BY h.id LIMIT 1)"
)
_OWN = f"m.tenant = :t AND m.line = b.line AND m.kind = 'stage' AND (m.scope = b.scope OR m.scope = {_HOME})"
STAGE = f"(SELECT m.value FROM marks m WHERE {_OWN} AND m.kf <= :k AND m.kt > :k ORDER BY m.id LIMIT 1)"
"""As a column beside a belief `b`: its stage at the view's known time. Marks belong to an owner as such;
what was said in one of the owner's runs has the owner's mark."""
_HELD = (
    " CROSS JOIN nodes n ON n.tenant = f.tenant AND n.id = f.node"
    " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
)
WARM = (
    "NOT EXISTS (SELECT 1 FROM marks a WHERE a.tenant = :t AND a.line = n.line AND a.kind = 'archived'"
    " AND a.kt = :forever)"
)

REACH = 600
"""So many of the latest facts on either side of an entity are looked at first, however many there are."""
REACHED = "(SELECT count(*) AS looked_at FROM u)"
_SOME = 6
"""So many of a relation's objects tell what they all are."""


class Stage(NamedTuple):
    """A stage that a memory came to, why, and how long it stood."""

    value: str
    reason: str | None
    start: Instant
    end: Instant


class Ascribed(Struct, frozen=True, gc=False):
    """A fact that is believed of somebody, and the lineage that it is about; its stage where one is marked."""

    fact: Believed
    subject: int
    stage: str | None


class Joint(NamedTuple):
    """A fact between two entities, as a walk steps over it; `inverse` where it was found from its object."""

    inverse: bool
    fact: int
    id: str
    subject: int
    subject_name: str
    relation: str
    phrase: str
    object: int
    object_name: str


def concerning(also: str = "") -> str:
    """`u`: the facts in which the entities `among` stand, the latest `reach` on either side, and others."""
    sides = [
        f"SELECT node FROM (SELECT i.node FROM facts i WHERE i.tenant = :t AND i.{end} IN {LISTED}"
        f" ORDER BY i.node DESC LIMIT :reach) of_{end}"
        for end in ("subject", "object")
    ]
    return f"WITH u AS MATERIALIZED ({' UNION '.join([*sides, also] if also else sides)})"


def widened(
    view: View, sql: str, limit: int, looks: list[list[tuple[Any, ...]]] | None = None, **args: Any
) -> list[tuple[Any, ...]]:
    """What a look at the latest facts brings; at more of them where others' facts, or later ones, left too few.

    The last column tells how many were looked at, also where none of them may be seen; `looks` gets every look.
    """
    reach = REACH
    while True:
        rows = view.query(sql, **args, limit=limit, reach=reach)
        if looks is not None:
            looks.append(rows)
        if rows[0][-1] < reach or len(rows) >= limit:
            return [row for row in rows if row[0] is not None]
        reach *= 8


def about(view: View, lines: Collection[int], limit: int) -> list[Ascribed]:
    """What is currently believed of these entities, newest first; archived facts only where all is looked at."""
    chosen = (
        "SELECT b.vf, n.id AS fact, b.id, b.vt, b.confidence, b.precision, b.line, b.scope, n.hash, n.name,"
        " n.content FROM u"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = u.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE {view.seen()}{'' if view.whole else f' AND {WARM}'} ORDER BY 1 DESC, 2 DESC, 3 LIMIT :limit"
    )
    sql = (
        f"{concerning()} SELECT b.hash, b.content, s.name, b.name, b.vf, b.vt, b.confidence, b.line, {STAGE},"
        f" b.precision, f.subject, r.looked_at FROM {REACHED} r LEFT JOIN ({chosen}) b ON TRUE"
        " LEFT JOIN facts f ON f.tenant = :t AND f.node = b.fact"
        " LEFT JOIN nodes s ON s.tenant = :t AND s.id = f.subject ORDER BY b.vf DESC, b.fact DESC, b.id"
    )
    rows = widened(view, sql, limit, among=listed(lines))
    return [ascribed(row) for row in rows]


def ascribed(r: Any) -> Ascribed:
    """A fact from the columns that `about` reads."""
    fact = Believed(r[0].hex(), r[1], r[2], r[3], Interval(r[4], r[5]), r[6], r[7], r[8] or "trace", r[9])
    return Ascribed(fact, r[10], r[8])


def around(view: View, entities: Collection[int], fan_in: int) -> list[Joint]:
    """The facts that leave these entities, then those that reach one of them that few facts reach."""
    if not entities:
        return []
    step = (
        "SELECT {inverse} AS inverse, n.id, n.hash, {subject} AS subject, f.predicate, f.phrase, {object} AS object,"
        f" b.id AS belief FROM facts f{_HELD}"
        f" WHERE f.tenant = :t AND f.object <> 0 AND {{chosen}} AND {view.seen()}"
    )
    ends = {"subject": first_of(view, "f.subject"), "object": first_of(view, "f.object")}
    parts = [step.format(inverse=0, chosen="f.subject IN (SELECT line FROM same)", **ends)]
    if fan_in:
        mine = "TRUE"
        if view.owned:  # what others say of a thing makes it no commoner here
            mine = (
                "EXISTS (SELECT 1 FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line"
                f" AND b.node = n.id WHERE n.tenant = :t AND n.id = g.node AND {view.scoped('b')})"
            )
        some = (
            f"SELECT 1 FROM facts g WHERE g.tenant = :t AND g.object = e.object AND {mine} LIMIT :fan_in + 1"
        )
        few = (  # only where there are many at all it is looked whose they are
            "f.object IN (SELECT e.object FROM facts e WHERE e.tenant = :t AND e.object IN (SELECT line FROM same)"
            f" GROUP BY e.object HAVING count(*) <= :fan_in OR (SELECT count(*) FROM ({some}) x) <= :fan_in)"
        )
        parts.append(step.format(inverse=1, chosen=few, **ends))
    name = "(SELECT m.name FROM nodes m WHERE m.tenant = :t AND m.id = w.{})"
    rows = view.query(
        f"{joined(view, 'SELECT value FROM json_each(:among)')} SELECT w.inverse, w.id, w.hash, w.subject,"
        f" {name.format('subject')}, w.predicate, w.phrase, w.object, {name.format('object')}"
        f" FROM ({' UNION ALL '.join(parts)}) w ORDER BY w.inverse, w.belief",
        among=listed(entities),
        fan_in=fan_in,
    )
    return [Joint(bool(row[0]), row[1], row[2].hex(), *row[3:]) for row in rows]


def objects_called(view: View, relations: Collection[str]) -> dict[str, list[set[str]]]:
    """For each relation, what some of its objects were ever called here: "the city of", "the capital of"."""
    ever = f"b.kf <= :k AND {view.scoped('b')} AND {view.ever_inside('b.line')}"
    some = (
        "SELECT f.object FROM facts f WHERE f.tenant = :t AND f.predicate = r.value AND f.object <> 0 AND EXISTS"
        " (SELECT 1 FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE n.tenant = :t AND n.id = f.node AND {ever}) ORDER BY f.node LIMIT :most"
    )
    call = (
        "SELECT p.predicate FROM (SELECT DISTINCT o.predicate FROM facts o WHERE o.tenant = :t"
        " AND o.object = CAST(j.value AS BIGINT) AND (o.predicate LIKE '%#%' OR o.predicate LIKE '%|of')) p"
        f" WHERE EXISTS (SELECT 1 FROM facts f{_HELD} WHERE f.tenant = :t AND f.object = CAST(j.value AS BIGINT)"
        f" AND f.predicate = p.predicate AND {ever})"
    )
    rows = view.query(
        "WITH s AS (SELECT r.value AS relation, CAST((SELECT json_group_array(x.object)"
        f" FROM ({some}) x) AS TEXT) AS objects FROM json_each(:relations) r)"
        f" SELECT s.relation, (SELECT json_group_array(y.predicate) FROM ({call}) y)"
        " FROM s CROSS JOIN json_each(s.objects) j ORDER BY s.relation, j.key",
        relations=listed(sorted(relations)),
        most=_SOME,
    )
    return grouped((relation, {_kind(slot) for slot in orjson.loads(slots)}) for relation, slots in rows)


def _kind(slot: str) -> str:
    """What a slot says its objects are: its type, or the noun of its role."""
    key, _, kind = slot.partition("#")
    return kind or key.removesuffix("|of").rsplit(" ", 1)[-1]


def name_of(view: View, line: int) -> str:
    """What an entity is called, whichever world speaks of it."""
    rows = view.query("SELECT name FROM nodes WHERE tenant = :t AND id = :line", line=line)
    return str(rows[0][0])


def stages(view: View, line: int) -> list[Stage]:
    """The stages that a memory came to by this known time, in order."""
    rows = view.query(
        "SELECT DISTINCT m.id, m.value, m.reason, m.kf, m.kt FROM beliefs b CROSS JOIN marks m"
        f" ON {_OWN} WHERE b.tenant = :t AND b.line = :line AND m.kf <= :k AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')} ORDER BY m.kf, m.id",
        line=line,
    )
    return [Stage(*row[1:]) for row in rows]


# Disputes ----------------------------------------------------------------------------------------


def disputed(view: View) -> list[int]:
    """The lineages that an open contradiction leaves from."""
    return view.column(
        "SELECT DISTINCT e.src FROM (SELECT x.id FROM edges x WHERE x.tenant = :t AND x.type = 'contradicts') c"
        f" CROSS JOIN edges e ON e.tenant = :t AND e.id = c.id WHERE {view.time('e')} AND {view.scoped('e')}"
        " ORDER BY e.src"
    )


def worded(view: View, nodes: Collection[int]) -> dict[int, tuple[str, str]]:
    """Those of these that are facts: whom they are about, by name, and their predicate as it was worded."""
    rows = view.query(
        "SELECT f.node, s.name, f.phrase FROM json_each(:among) j CROSS JOIN facts f ON f.tenant = :t"
        " AND f.node = j.value CROSS JOIN nodes s ON s.tenant = f.tenant AND s.id = f.subject",
        among=listed(nodes),
    )
    return {node: (name, label(phrase)) for node, name, phrase in rows}


def sources(view: View, lines: Collection[int]) -> dict[int, list[Utterance]]:
    """The visible words that each of these rests on, newest first."""
    rows = view.query(
        "SELECT d.src, n.hash, e.sender, e.said_at, (SELECT w.name FROM nodes w WHERE w.tenant = :t"
        " AND w.id = e.session), n.content"
        " FROM edges d CROSS JOIN nodes n ON n.tenant = d.tenant AND n.id = d.dst"
        " CROSS JOIN events e ON e.tenant = n.tenant AND e.node = n.id"
        " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
        f" WHERE d.tenant = :t AND d.src IN {LISTED} AND d.type = 'derived_from' AND d.kf <= :k AND d.kt > :k"
        f" AND {view.scoped('d')} AND {view.seen()} ORDER BY e.said_at DESC, n.id, d.src, d.id, b.id",
        among=listed(lines),
    )
    return grouped((line, Utterance(hash_.hex(), *rest)) for line, hash_, *rest in rows)
