"""What would go with what is to be forgotten: what rests on it alone, what lies in it, and what of it others have too.

Only looks: which lineages are meant is decided in `write/forget.py`, and how rows leave is in `store/erasing.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import FOREVER, Instant
from worldline.model import Made, Scope
from worldline.ports import Row, View
from worldline.store import held, words
from worldline.store.view import LISTED, listed, metadata_from


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
    rests: dict[int, list[int]] = {}
    for src, line, *_ in grounds:
        rests.setdefault(src, []).append(line)
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


class WrittenText(NamedTuple):
    """A stored version."""

    node: int
    line: int
    type: str
    name: str
    content: str
    metadata: str | None
    made: Made | None


def written(view: View, nodes: Collection[int]) -> list[WrittenText]:
    """These versions."""
    rows = view.query(
        "SELECT id, line, type, name, content, metadata, made FROM nodes WHERE tenant = :t"
        f" AND id IN {LISTED} ORDER BY id",
        among=listed(nodes),
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
