"""What an answer asks of a store: the facts around a question, and who speaks here.

Each is one statement, bound by the view's scope, world and known time. What held when is told with
every row, so that a question about the past needs no second look.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import orjson
from msgspec import Struct

from worldline.clock import Instant
from worldline.ports import View
from worldline.reading.voices import role_of
from worldline.store.facts import REACHED, concerning, widened
from worldline.store.view import listed

MOST = 400
"""So many facts are looked at for one question."""
_NEXT = "(SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > s.name)"


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
