"""What people said, as a view may see it: their turns, who spoke before, what is new, what was marked.

Turns lie hot (`texts`) or archived (`cold_texts`); by their lineages both are read. It decides only
that an assistant is nobody whose life is remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from worldline.clock import Instant
from worldline.ports import View
from worldline.reading.voices import role_of
from worldline.store.view import listed
from worldline.text import fold

BATCH = 2000
"""So many texts are read at a time."""
BESIDE = 50
"""So many more of somebody's newest texts are looked at than are wanted: some may not be seen."""
TABLES = ("texts", "cold_texts")
SEATED = " UNION ALL ".join(
    f"SELECT {{columns}} FROM json_each(:among) j CROSS JOIN {table} t ON t.tenant = :t AND t.node = j.value"
    for table in TABLES
)
"""The same for listed turns, which are found by their number and not among all of a tenant."""
HELD = (
    " CROSS JOIN nodes n ON n.tenant = t.tenant AND n.id = t.node"
    " CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line AND b.node = n.id"
)
"""The version and the beliefs of a seat `t`."""


class Spoken(Struct, frozen=True):
    """A visible turn of a person; `answers` is whoever spoke right before, if it was somebody else."""

    line: int
    node: int
    name: str
    speaker: str
    text: str
    said_at: Instant
    answers: str = ""


class Uttered(NamedTuple):
    """That something was said: when, by which belief, and where."""

    at: Instant
    row: int
    line: int
    node: int
    sender: str
    session: str | None


def spoken(view: View, lines: Collection[int]) -> Iterator[Spoken]:
    """The visible turns of people among these lineages, oldest first."""
    ordered = sorted(lines)
    for start in range(0, len(ordered), BATCH):
        yield from _some(view, ordered[start : start + BATCH])


def _some(view: View, lines: Sequence[int]) -> Iterator[Spoken]:
    rows = view.query(
        "SELECT b.line, n.id, n.name, n.content, b.vf FROM json_each(:among) j"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = j.value"
        " CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
        f" WHERE n.type = 'Turn' AND {view.seen()} ORDER BY b.line, b.kt, b.id",
        among=listed(lines),
    )
    first = {row[0]: row for row in reversed(rows)}
    before = _before(view, [row[1] for row in first.values()])
    for line, node, name, content, said_at in (first[line] for line in sorted(first)):
        speaker = fold(name)
        if speaker and role_of(name) != "assistant":
            other = before.get(node, "")
            yield Spoken(line, node, name, speaker, content, said_at, other if other != speaker else "")


def _before(view: View, nodes: Collection[int]) -> dict[int, str]:
    """Who, if a person, said what stands right before each of these, and may be seen."""
    own = SEATED.format(columns="t.node, t.session, t.position")
    parts = (
        f"SELECT o.node, n.name, {place} AS place, n.id AS other FROM ({own}) o CROSS JOIN {table} t"
        f" ON t.tenant = :t AND t.session = o.session AND t.position = o.position - 1{HELD}"
        f" WHERE o.position > 0 AND {view.seen()}"
        for place, table in enumerate(TABLES)
    )
    rows = view.query(f"{' UNION ALL '.join(parts)} ORDER BY place, other, 1", among=listed(nodes))
    return {node: fold(name) for node, name, _, _ in rows if role_of(name) != "assistant"}


def not_yet(view: View, lines: Collection[int]) -> tuple[int, ...]:
    """What is dated ahead of the clock: nothing new will tell when its time has come."""
    if not lines:
        return ()
    rows = view.query(
        "SELECT DISTINCT b.line FROM json_each(:among) j CROSS JOIN beliefs b ON b.tenant = :t AND b.line = j.value"
        f" WHERE b.kt = :forever AND b.vf > :v AND {view.scoped('b')} ORDER BY b.line",
        among=listed(lines),
    )
    return tuple(row[0] for row in rows)


def newest_of(view: View, speaker: str, after: int, most: int) -> list[int]:
    """The newest lineages that somebody said after one of them, oldest first."""
    tables = TABLES if view.whole else TABLES[:1]
    found = {line for table in tables for line in _newest_in(view, table, speaker, after, most)}
    return sorted(found)[-most:]


def _newest_in(view: View, table: str, speaker: str, after: int, most: int) -> list[int]:
    """Of one table; whether they may be seen is asked of the newest alone, and of older ones where too few may."""
    reach = most + BESIDE
    while True:
        nodes = view.query(
            f"SELECT x.node FROM {table} x WHERE x.tenant = :t AND x.speaker = :speaker AND x.node > :after"
            " ORDER BY x.node DESC LIMIT :reach",
            speaker=speaker, after=after, reach=reach,
        )  # fmt: skip
        rows = view.query(
            f"SELECT n.line FROM json_each(:among) j CROSS JOIN {table} t ON t.tenant = :t AND t.node = j.value{HELD}"
            f" WHERE n.line > :after AND {view.seen()} ORDER BY t.node DESC, b.id LIMIT :most",
            among=listed(row[0] for row in nodes), after=after, most=most,
        )  # fmt: skip
        if len(rows) == most or len(nodes) < reach:
            return [row[0] for row in rows]
        reach *= 4


def backwards(view: View, within: tuple[Instant, Instant], most: int, batch: int = 1000) -> Iterator[Uttered]:
    """What was said within some time, newest first, batch by batch, until `most` were looked at."""
    at, row, seen = within[1], 1 << 62, 0
    while seen < most:
        rows = view.query(
            "SELECT b.vf, b.id, b.line, n.id, n.name, (SELECT s.name FROM events e"
            " CROSS JOIN nodes s ON s.tenant = e.tenant AND s.id = e.session WHERE e.tenant = :t AND e.node = n.id)"
            " FROM beliefs b CROSS JOIN nodes n ON n.tenant = b.tenant AND n.id = b.node"
            " WHERE b.tenant = :t AND b.type = 'Turn' AND b.vf >= :low AND b.vf <= :at AND (b.vf < :at OR b.id < :row)"
            f" AND b.vf < :high AND {view.seen()} ORDER BY b.vf DESC, b.id DESC LIMIT :batch",
            low=within[0], high=within[1], at=at, row=row, batch=batch,
        )  # fmt: skip
        yield from (Uttered(*found) for found in rows)
        if len(rows) < batch:
            return
        at, row, seen = rows[-1][0], rows[-1][1], seen + len(rows)


def landmarks_among(view: View, nodes: Collection[int]) -> list[int]:
    """The lineages of those in which sleep found a landmark, in the order of their versions."""
    rows = view.query(
        "SELECT n.line FROM json_each(:among) j CROSS JOIN scores s ON s.tenant = :t AND s.node = j.value"
        " AND s.name = 'landmark' CROSS JOIN nodes n ON n.tenant = s.tenant AND n.id = s.node ORDER BY s.node",
        among=listed(nodes),
    )
    return [row[0] for row in rows]


def how_many(view: View) -> int:
    """How many texts this tenant has."""
    rows = view.query("SELECT texts FROM tenants WHERE tenant = :t")
    return int(rows[0][0]) if rows else 0
