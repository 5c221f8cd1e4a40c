"""How strong memories are and what keeps them warm, as it is stored: uses, strengths, the archive, reasons to spare.

A strength begins when something is first learned here. It decides nothing: how strengths fade and
what is spared is for sleep to say.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from worldline.clock import Instant
from worldline.ports import View
from worldline.rules.describe import Described
from worldline.rules.salience import Strength, Use, starting
from worldline.store.cold import ARCHIVED
from worldline.store.view import LISTED, listed
from worldline.text import fold

_STRENGTH = "s.salience, s.reinforced_at, s.uses, s.useful, s.wrong, s.line, s.scope"
_FLAGS = msgspec.msgpack.Decoder(Described).decode
_USER = "user"


class Kept(Strength, frozen=True):
    """A strength as it is stored."""

    line: int = 0
    scope: int = 0


class Note(Struct, frozen=True):
    """That something was shown, praised or complained about."""

    id: int
    line: int
    kind: Use
    at: Instant


def notes(view: View, most: int) -> list[Note]:
    """The oldest uses of this owner's memories that have not reached their strengths yet."""
    rows = view.query(
        f"SELECT u.id, u.line, u.kind, u.at FROM uses u WHERE u.tenant = :t AND {view.scoped('u')}"
        " ORDER BY u.id LIMIT :most",
        most=most,
    )
    return [Note(*row) for row in rows]


def strengths(view: View, lines: Collection[int]) -> dict[int, Kept]:
    """The stored strengths of these lineages."""
    if not lines:
        return {}
    rows = view.query(
        f"SELECT {_STRENGTH} FROM json_each(:among) j CROSS JOIN strengths s ON s.tenant = :t AND s.line = j.value"
        " ORDER BY s.line",
        among=listed(lines),
    )
    return _kept(rows)


def _kept(rows: Collection[tuple[Any, ...]]) -> dict[int, Kept]:
    return {r[5]: Kept(*r) for r in rows}


def begun(view: View, lines: Collection[int]) -> dict[int, Kept]:
    """What these lineages begin with, where they have no strength yet: the gate's salience, when first learned."""
    if not lines:
        return {}
    rows = view.query(
        "SELECT b.line, CAST(e.signals ->> 'salience' AS DOUBLE PRECISION), b.kf, b.scope FROM beliefs b"
        " LEFT JOIN events e ON e.tenant = :t AND e.node = b.line"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.scoped('b')} AND NOT EXISTS"
        " (SELECT 1 FROM strengths s WHERE s.tenant = :t AND s.line = b.line) ORDER BY b.line, b.kf, b.id",
        among=listed(lines),
    )
    found: dict[int, Kept] = {}
    for line, judged, since, scope in rows:
        found.setdefault(line, Kept(starting(judged), since, line=line, scope=scope))
    return found


def due(view: View, now: Instant, most: int) -> dict[int, Kept]:
    """Whatever crosses the threshold by now, the longest due first."""
    rows = view.query(
        f"SELECT {_STRENGTH} FROM strengths s WHERE s.tenant = :t AND {view.scoped('s')} AND s.cold_at <= :now"
        " ORDER BY s.cold_at, s.line LIMIT :most",
        now=now,
        most=most,
    )
    return _kept(rows)


def strength_row(view: View, kept: Kept, cold_at: Instant) -> tuple[Any, ...]:
    """A row of the derived table `strengths`."""
    return (
        kept.line, view.tenant, kept.scope, kept.salience, kept.reinforced_at, cold_at, kept.uses,
        kept.useful, kept.wrong,
    )  # fmt: skip


def last_learned(view: View, lines: Collection[int], *, named: bool = False) -> dict[int, Instant]:
    """When each of these was last put, put again, given evidence (or `named` by something) in this store."""
    if not lines:
        return {}
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
    rows = view.query(
        f"SELECT line FROM marks WHERE tenant = :t AND line IN {LISTED} AND kt = :forever"
        " AND (kind = 'pin' OR kind = 'stage' AND value = 'crystal')",
        among=listed(lines),
    )
    return {row[0] for row in rows}


def contradicted(view: View, lines: Collection[int]) -> set[int]:
    """Both sides of an open contradiction."""
    sides = " UNION ".join(
        f"SELECT e.{near} FROM edges e WHERE e.tenant = :t AND e.{near} IN {LISTED} AND e.type = 'contradicts'"
        f" AND {view.time('e')} AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = e.{far}"
        f" AND {view.seen()})"
        for near, far in (("src", "dst"), ("dst", "src"))
    )
    return {row[0] for row in view.query(sides, among=listed(lines))}


def flags(view: View, lines: Collection[int]) -> list[tuple[int, int]]:
    """(lineage, flags) of those of these that are believed texts of people: what they are about, and how."""
    rows = view.query(
        "SELECT b.line, t.described FROM beliefs b CROSS JOIN texts t ON t.tenant = :t AND t.node = b.node"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND t.role <> 'assistant' AND b.type <> 'Fact'"
        f" AND {view.seen()} ORDER BY b.id",
        among=listed(lines),
    )
    return [(line, _FLAGS(described).flags) for line, described in rows]


class Phrased(Struct, frozen=True):
    """A fact by its words: what it says, and of whom (folded)."""

    line: int
    phrase: str
    subject: str


def phrased(view: View, lines: Collection[int]) -> list[Phrased]:
    """Those of these that are believed facts."""
    rows = view.query(
        "SELECT b.line, f.phrase, s.name FROM beliefs b CROSS JOIN facts f ON f.tenant = :t AND f.node = b.node"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()} ORDER BY b.id",
        among=listed(lines),
    )
    return [Phrased(line, phrase, fold(name)) for line, phrase, name in rows]


def speakers(view: View, names: Collection[str]) -> set[str]:
    """Which of these folded names ever spoke here; the user always did."""
    speaks = "EXISTS (SELECT 1 FROM {} x WHERE x.tenant = :t AND x.speaker = j.value)"
    rows = view.query(
        "SELECT j.value FROM json_each(:names) j WHERE j.value = :me"
        f" OR {speaks.format('texts')} OR {speaks.format('cold_texts')}",
        names=orjson.dumps(sorted(names)).decode(),
        me=_USER,
    )
    return {row[0] for row in rows}


def facts_resting_on(view: View, events: Collection[int]) -> list[tuple[int, int]]:
    """(event, fact) of the facts that were derived from these."""
    rows = view.query(
        "SELECT e.dst, e.src FROM edges e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.src AND n.type = 'Fact'"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND {view.time('e')} ORDER BY e.id",
        among=listed(events),
    )
    return [(event, fact) for event, fact in rows]
