"""Facts for a question: the graph that the walk sees, and what is currently believed of what it names.

Everything goes through the view, so the walk cannot step on what is over, withdrawn, doubtful, or
somebody else's. Accepted identities are one entity here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from worldline.clock import Interval
from worldline.model import Believed
from worldline.read.stage import STAGE
from worldline.read.walk import Answer, Hop, Step
from worldline.rules.wording import label
from worldline.store.view import LISTED, SqlView, listed
from worldline.text import fold, unsigned

_STEP = (
    "SELECT n.id, f.subject, f.predicate, f.phrase, f.object FROM facts f CROSS JOIN nodes n ON n.id = f.node"
    " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
    " WHERE f.tenant = :t AND f.object != 0 AND "
)


class ViewGraph:
    """The currently valid facts of one view, as the walk asks for them."""

    def __init__(self, view: SqlView) -> None:
        self._view = view
        self._names: dict[str, str] = {}
        self._first: dict[int, int] = {}

    def link(self, names: Collection[str]) -> dict[str, str]:
        """Folded names that are known here → entity."""
        rows = self._view.query(
            "SELECT a.line, a.name FROM aliases a WHERE a.tenant = :t"
            f" AND a.key IN (SELECT value FROM json_each(:names)) AND {self._view.scoped('a')} ORDER BY a.id DESC",
            names=orjson.dumps(list({*names, *map(unsigned, names)})).decode(),
        )
        found = {}
        for line, name in rows:
            if (key := fold(name)) not in names:
                continue  # an old file's key for C++ is that of C
            entity = str(self._same(line))
            self._names.setdefault(entity, name)
            found[key] = entity
        return found

    def outgoing(self, entities: Collection[str]) -> Sequence[Step]:
        """Facts about these entities."""
        return self._steps("f.subject", self._members(entities))

    def incoming(self, entities: Collection[str], limit: int) -> Sequence[Step]:
        """Facts whose object is one of these; none for an entity that has more than `limit`."""
        members = self._members(entities)
        rows = self._view.query(
            f"SELECT object FROM facts WHERE tenant = :t AND object IN {LISTED} GROUP BY object"
            " HAVING count(*) <= :limit",
            among=listed(members),
            limit=4 * limit,
        )
        steps = self._steps("f.object", [row[0] for row in rows])
        count: dict[str, int] = {}
        for step in steps:
            count[step.object] = count.get(step.object, 0) + 1
        return [step for step in steps if count[step.object] <= limit]

    def _steps(self, end: str, lines: Collection[int]) -> list[Step]:
        if not lines:
            return []
        rows = self._view.query(
            f"{_STEP}{end} IN {LISTED} AND {self._view.seen()} ORDER BY b.id", among=listed(lines)
        )
        return [
            Step(str(r[0]), str(self._same(r[1])), r[2], label(r[3]), str(self._same(r[4]))) for r in rows
        ]

    def ranges(self, relations: Collection[str]) -> dict[str, dict[str, float]]:
        """For each relation, the kinds that its objects are called, with their share."""
        wanted = orjson.dumps(list(relations)).decode()
        totals = dict(
            self._view.query(
                "SELECT predicate, count(*) FROM facts WHERE tenant = :t AND object != 0"
                " AND predicate IN (SELECT value FROM json_each(:wanted)) GROUP BY predicate",
                wanted=wanted,
            )
        )
        found: dict[str, dict[str, float]] = {relation: {} for relation in relations}
        for relation, kind, count in self._view.query(
            "SELECT f.predicate, w.kind, count(DISTINCT f.node) FROM facts f CROSS JOIN wordings w"
            " ON w.tenant = :t AND w.object = f.object WHERE f.tenant = :t"
            " AND f.predicate IN (SELECT value FROM json_each(:wanted)) GROUP BY 1, 2",
            wanted=wanted,
        ):
            found[relation][kind] = count / totals[relation]
        return found

    def name(self, entity: str) -> str:
        """What to call an entity."""
        if entity not in self._names:  # an entity lives in the root, whichever world speaks of it
            rows = self._view.query("SELECT name FROM nodes WHERE id = :line", line=int(entity))
            self._names[entity] = str(rows[0][0])
        return self._names[entity]

    def _same(self, line: int) -> int:
        """The representative of an identity."""
        if not self._first and not self._view.has_merges():
            return line
        if line not in self._first:
            self._first[line] = self._view.same_as(line)[0]
        return self._first[line]

    def _members(self, entities: Collection[str]) -> list[int]:
        lines = [int(entity) for entity in entities]
        return self._view.same_as(*lines) if self._first or self._view.has_merges() else lines


def with_ids(view: SqlView, answer: Answer) -> Answer:
    """An answer whose entities and facts go by their ids, as everything does outside the store."""
    hops = [hop for chain in answer.chains for hop in chain.hops]
    ends = [end for hop in hops for end in (hop.fact, hop.source, hop.target)]
    rows = {*answer.starts, *(chain.answer for chain in answer.chains), *ends}
    numbers = sorted(int(row) for row in rows)
    ids = dict(zip(map(str, numbers), view.ids(numbers), strict=True))
    return replace(
        answer,
        starts=tuple(ids[row] for row in answer.starts),
        chains=tuple(
            replace(chain, answer=ids[chain.answer], hops=tuple(_named_by_id(hop, ids) for hop in chain.hops))
            for chain in answer.chains
        ),
    )


def _named_by_id(hop: Hop, ids: Mapping[str, str]) -> Hop:
    return replace(hop, fact=ids[hop.fact], source=ids[hop.source], target=ids[hop.target])


def about(view: SqlView, lines: Collection[int], limit: int = 40) -> list[Believed]:
    """What is currently believed of these entities, newest first."""
    rows: list[Any] = view.query(
        f"SELECT n.hash, n.content, s.name, f.phrase, b.vf, b.vt, b.confidence, n.line, {STAGE}, b.precision"
        " FROM facts f"
        " CROSS JOIN nodes n ON n.id = f.node CROSS JOIN nodes s ON s.id = f.subject"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE f.node IN (SELECT node FROM facts WHERE tenant = :t AND subject IN {LISTED} UNION"
        f" SELECT node FROM facts WHERE tenant = :t AND object IN {LISTED}) AND {view.seen()}{_warm(view)}"
        " ORDER BY b.vf DESC, n.id DESC LIMIT :limit",
        among=listed(lines),
        limit=limit,
    )
    return [
        Believed(r[0].hex(), r[1], r[2], label(r[3]), Interval(r[4], r[5]), r[6], r[7], r[8] or "trace", r[9])
        for r in rows
    ]


def _warm(view: SqlView) -> str:
    """Leaves out what is archived, where the view does not look at that."""
    if view.whole:
        return ""
    return (
        " AND NOT EXISTS (SELECT 1 FROM marks m WHERE m.tenant = :t AND m.line = n.line AND m.kind = 'archived'"
        " AND m.kt = :forever)"
    )
