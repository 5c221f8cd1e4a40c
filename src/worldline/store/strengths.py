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

from worldline.clock import Instant, show
from worldline.model import Node
from worldline.ports import Tx, View
from worldline.rules.describe import Described
from worldline.rules.salience import Strength, Use, starting
from worldline.store.cold import ARCHIVED
from worldline.store.held import USED
from worldline.store.view import LISTED, NODE, listed, node_from
from worldline.text import fold

_STRENGTH = "s.salience, s.reinforced_at, s.uses, s.useful, s.wrong, s.line, s.scope"
_FLAGS = msgspec.msgpack.Decoder(Described).decode
_USER = "user"


class KeptStrength(Strength, frozen=True):
    """A strength as it is stored."""

    line: int = 0
    scope: int = 0


class NotedStrength(Struct, frozen=True):
    """That something was shown, praised or complained about."""

    id: int
    line: int
    kind: Use
    at: Instant


def notes(view: View, most: int) -> list[NotedStrength]:
    """The oldest uses of this owner's memories that have not reached their strengths yet."""
    rows = view.query(
        f"SELECT u.id, u.line, u.kind, u.at FROM uses u WHERE u.tenant = :t AND {view.scoped('u')}"
        " ORDER BY u.id LIMIT :most",
        most=most,
    )
    return [NotedStrength(*row) for row in rows]


def strengths(view: View, lines: Collection[int]) -> dict[int, KeptStrength]:
    """The stored strengths of these lineages."""
    if not lines:
        return {}
    rows = view.query(
        f"SELECT {_STRENGTH} FROM json_each(:among) j CROSS JOIN strengths s ON s.tenant = :t AND s.line = j.value"
        " ORDER BY s.line",
        among=listed(lines),
    )
    return _kept(rows)


def _kept(rows: Collection[tuple[Any, ...]]) -> dict[int, KeptStrength]:
    return {r[5]: KeptStrength(*r) for r in rows}


def begun(view: View, lines: Collection[int]) -> dict[int, KeptStrength]:
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
    return _kept(rows)


def strength_row(view: View, kept: KeptStrength, cold_at: Instant) -> tuple[Any, ...]:
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
        one = _verbatim(row)
        found.setdefault(one.node.key, one)
    return found


def _verbatim(row: Any) -> Verbatim:
    remarks, doubtful, sender, said_at, offset, session, reading, event = row[:8]
    trusted = (reading or b"") if event is not None and not doubtful else None
    return Verbatim(
        node_from(row[12:]), sender or "", said_at, offset or 0, session, _worded(remarks), trusted
    )


def _worded(remarks: str) -> tuple[str, ...]:
    """Each remark in words, by kind and then by age."""
    found = sorted({tuple(one) for one in orjson.loads(remarks)}, key=lambda one: (one[0], one[3]))
    return tuple(f"{_whose(kind, name, at)}: {text}" for kind, name, text, _, at in found)


def _whose(kind: str, name: str, at: Instant | None) -> str:
    """What a remark says, of whose words, and of which day."""
    whose = name if at is None else f"{name} on {show(at)[:10]}".lstrip()
    return f"{kind} {whose}".rstrip()


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
