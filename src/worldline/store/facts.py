"""Facts as reading asks for them: what is believed of somebody, the steps of a walk, stages and disputes.

Everything passes the view, so nobody steps on what is over, withdrawn, doubtful, or somebody else's.
Accepted identities are one entity here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import Instant, Interval
from worldline.model import Believed, Utterance
from worldline.ports import View
from worldline.rules.wording import label
from worldline.store.people import first_of, joined
from worldline.store.view import LISTED, listed

_HOME = (
    "(SELECT h.id FROM scopes s CROSS JOIN scopes h ON h.tenant = s.tenant"
    ' AND h."user" IS NOT DISTINCT FROM s."user" AND h.agent IS NOT DISTINCT FROM s.agent'
    " AND h.app IS NOT DISTINCT FROM s.app AND h.run IS NULL AND h.part_of = h.id"
    " WHERE s.tenant = :t AND s.id = b.scope AND s.run IS NOT NULL ORDER BY h.id LIMIT 1)"
)
_OWN = f"m.tenant = :t AND m.line = b.line AND m.kind = 'stage' AND (m.scope = b.scope OR m.scope = {_HOME})"
_STAGE = f"(SELECT m.value FROM marks m WHERE {_OWN} AND m.kf <= :k AND m.kt > :k ORDER BY m.id LIMIT 1)"
"""As a column beside a belief `b`: its stage at the view's known time. Marks belong to an owner as such;
what was said in one of the owner's runs has the owner's mark."""
_HELD = (
    " CROSS JOIN nodes n ON n.tenant = f.tenant AND n.id = f.node"
    " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
)
_WARM = (
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


class Worded(NamedTuple):
    """Whom a fact is about, by name, and its predicate as it was worded."""

    subject: str
    predicate: str


def concerning(also: str = "") -> str:
    """`u`: the facts in which the entities `among` stand, the latest `reach` on either side, and others."""
    sides = [
        f"SELECT node FROM (SELECT i.node FROM facts i WHERE i.tenant = :t AND i.{end} IN {LISTED}"
        f" ORDER BY i.node DESC LIMIT :reach) of_{end}"
        for end in ("subject", "object")
    ]
    return f"WITH u AS MATERIALIZED ({' UNION '.join([*sides, also] if also else sides)})"


def widened(view: View, sql: str, limit: int, **args: Any) -> list[tuple[Any, ...]]:
    """What a look at the latest facts brings; at more of them where others' facts, or later ones, left too few.

    The last column tells how many were looked at, also where none of them may be seen.
    """
    reach = REACH
    while True:
        rows = view.query(sql, **args, limit=limit, reach=reach)
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
        f" WHERE {view.seen()}{'' if view.whole else f' AND {_WARM}'} ORDER BY 1 DESC, 2 DESC, 3 LIMIT :limit"
    )
    sql = (
        f"{concerning()} SELECT b.hash, b.content, s.name, b.name, b.vf, b.vt, b.confidence, b.line, {_STAGE},"
        f" b.precision, f.subject, r.looked_at FROM {REACHED} r LEFT JOIN ({chosen}) b ON TRUE"
        " LEFT JOIN facts f ON f.tenant = :t AND f.node = b.fact"
        " LEFT JOIN nodes s ON s.tenant = :t AND s.id = f.subject ORDER BY b.vf DESC, b.fact DESC, b.id"
    )
    rows = widened(view, sql, limit, among=listed(lines))
    return [_held(row) for row in rows]


def _held(r: Any) -> Ascribed:
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
        few = (
            "f.object IN (SELECT g.object FROM facts g WHERE g.tenant = :t AND g.object IN (SELECT line FROM same)"
            f" AND {mine} GROUP BY g.object HAVING count(*) <= :fan_in)"
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


def called(view: View, relations: Collection[str]) -> dict[str, list[set[str]]]:
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
        relations=orjson.dumps(sorted(relations)).decode(),
        most=_SOME,
    )
    found: dict[str, list[set[str]]] = {}
    for relation, slots in rows:
        found.setdefault(relation, []).append({_kind(slot) for slot in orjson.loads(slots)})
    return found


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
    rows = view.query(
        "SELECT DISTINCT e.src FROM (SELECT x.id FROM edges x WHERE x.tenant = :t AND x.type = 'contradicts') c"
        f" CROSS JOIN edges e ON e.tenant = :t AND e.id = c.id WHERE {view.time('e')} AND {view.scoped('e')}"
        " ORDER BY e.src"
    )
    return [row[0] for row in rows]


def worded(view: View, nodes: Collection[int]) -> dict[int, Worded]:
    """Those of these that are facts: whom they are about, and how."""
    rows = view.query(
        "SELECT f.node, s.name, f.phrase FROM json_each(:among) j CROSS JOIN facts f ON f.tenant = :t"
        " AND f.node = j.value CROSS JOIN nodes s ON s.tenant = f.tenant AND s.id = f.subject",
        among=listed(nodes),
    )
    return {node: Worded(name, label(phrase)) for node, name, phrase in rows}


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
    found: dict[int, list[Utterance]] = {}
    for line, hash_, sender, said_at, session, text in rows:
        found.setdefault(line, []).append(Utterance(hash_.hex(), sender, said_at, session, text))
    return found


# Around a question -----------------------------------------------------------------------------------


MOST = 400
"""So many facts are looked at for one question."""


class FactAround(Struct, frozen=True, gc=False):
    """A fact near a question: both ends, how it reads, when it held, and where it was said."""

    node: int
    subject: int
    subject_name: str
    slot: str
    phrase: str
    object: int
    value: str
    kind: str
    one: bool
    dated: bool
    start: Instant
    end: Instant
    known: Instant
    precision: str
    text: str
    event: int
    chars: tuple[int, int]
    said_at: Instant
    offset: int
    line: int
    withdrawn: bool = False
    """Taken back: it never held."""
    id: str = ""


def facts_near(
    view: View, lines: Collection[int], turns: Collection[int], limit: int = MOST
) -> list[FactAround]:
    """What was ever believed of these entities or drawn from these turns: what stands first, then the newest."""
    if not lines and not turns:
        return []
    drawn = (
        "SELECT src AS node FROM edges WHERE tenant = :t AND type = 'derived_from' AND dst IN"
        " (SELECT value FROM json_each(:turns))"
    )
    chosen = (
        "SELECT n.id AS fact, b.kt <= :k AS gone, b.vf AS since, b.id AS belief, b.vt AS ended, b.kf AS known,"
        " b.precision, n.content, n.line, n.hash FROM u"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = u.node AND n.type = 'Fact'"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE b.kf <= :k AND {view.scoped('b')} AND {view.trusted()} AND {view.inside('b.line')}"
        " ORDER BY 2, 3 DESC, 1 DESC, 4 DESC LIMIT :limit"
    )
    sql = (
        f"{concerning(drawn)} SELECT f.node, f.subject, s.name, f.predicate, f.phrase, f.object, o.name, f.literal,"
        " f.kind, f.one, f.dated, c.since, c.ended, c.known, c.precision, c.content, e.node, d.metadata, e.said_at,"
        f" e.utc_offset, c.line, c.gone, c.hash, r.looked_at FROM {REACHED} r LEFT JOIN ({chosen}) c ON TRUE"
        " LEFT JOIN facts f ON f.tenant = :t AND f.node = c.fact"
        " LEFT JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
        " LEFT JOIN edges d ON d.tenant = :t AND d.src = f.node AND d.type = 'derived_from' AND d.kf <= :k"
        f" AND d.kt > :k AND {view.scoped('d')}"
        " LEFT JOIN events e ON e.tenant = :t AND e.node = d.dst"
        " ORDER BY c.gone, c.since DESC, c.fact DESC, d.id DESC, c.belief DESC LIMIT :limit"
    )
    rows = widened(view, sql, limit, among=listed(lines), turns=listed(turns))
    return list({row[0]: _around(row) for row in reversed(rows)}.values())[::-1]


def _around(row: Sequence[Any]) -> FactAround:
    value = row[6] if row[5] else str(orjson.loads(row[7] or '""'))
    span = orjson.loads(row[17]) if row[17] else {}
    return FactAround(
        row[0], row[1], row[2], row[3], row[4], row[5], value or "", row[8], bool(row[9]), bool(row[10]), row[11],
        row[12], row[13], row[14] or "", row[15], row[16] or 0, (span.get("start") or 0, span.get("end") or 0),
        row[18] or 0, row[19] or 0, row[20], bool(row[21]), row[22].hex(),
    )  # fmt: skip
