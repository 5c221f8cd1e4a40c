"""What people said, as it may be seen here, and who spoke before them.

It reads turns by their lineages, hot or archived; it decides only that an assistant is nobody whose
life is remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import orjson
from msgspec import Struct

from worldline.clock import Instant
from worldline.reading.voices import role_of
from worldline.store.view import LISTED, SqlView, listed
from worldline.text import fold

BATCH = 2000
"""So many texts are read at a time."""
SEATS = " UNION ALL ".join(
    f"SELECT {{columns}} FROM {table} t WHERE t.tenant = :t AND {{where}}"
    for table in ("texts", "cold_texts")
)
"""Where turns sit, hot or archived."""
SEATED = SEATS.replace("t.tenant", "+t.tenant").format(columns="{columns}", where=f"t.node IN {LISTED}")
"""The same for listed turns, which are found by their number and not among all of a tenant."""


class Spoken(Struct, frozen=True):
    """A visible turn of a person; `answers` is whoever spoke right before, if it was somebody else."""

    line: int
    node: int
    name: str
    speaker: str
    text: str
    said_at: Instant
    answers: str = ""


def spoken(view: SqlView, lines: Collection[int]) -> Iterator[Spoken]:
    """The visible turns of people among these lineages, oldest first."""
    ordered = sorted(lines)
    for start in range(0, len(ordered), BATCH):
        yield from _some(view, ordered[start : start + BATCH])


def _some(view: SqlView, lines: Sequence[int]) -> Iterator[Spoken]:
    rows = view.query(
        "SELECT b.line, n.id, n.name, n.content, b.vf FROM beliefs b CROSS JOIN nodes n ON n.id = b.node"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND +b.type = 'Turn' AND {view.seen()}"
        " GROUP BY b.line ORDER BY b.line",
        among=listed(lines),
    )
    before = _before(view, [row[1] for row in rows])
    for line, node, name, content, said_at in rows:
        speaker = fold(name)
        if speaker and role_of(name) != "assistant":
            other = before.get(node, "")
            yield Spoken(line, node, name, speaker, content, said_at, other if other != speaker else "")


def _before(view: SqlView, nodes: Collection[int]) -> dict[int, str]:
    """Who, if a person, said what stands right before each of these, and may be seen."""
    seats = view.query(
        SEATED.format(columns="t.node, t.session, t.position"),
        among=listed(nodes),
    )
    among = orjson.dumps([[node, session, at - 1] for node, session, at in seats if at > 0]).decode()
    found: dict[int, str] = {}
    for table in ("texts", "cold_texts"):
        rows = view.query(
            f"SELECT j.value ->> 0, n.name FROM json_each(:among) j CROSS JOIN {table} t ON t.tenant = :t"
            " AND t.session = j.value ->> 1 AND t.position = j.value ->> 2 CROSS JOIN nodes n ON n.id = t.node"
            " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
            f" WHERE {view.seen()} ORDER BY n.id",
            among=among,
        )
        found.update((node, fold(name)) for node, name in rows if role_of(name) != "assistant")
    return found


def not_yet(view: SqlView, lines: Collection[int]) -> tuple[int, ...]:
    """What is dated ahead of the clock: nothing new will tell when its time has come."""
    if not lines:
        return ()
    rows = view.query(
        f"SELECT DISTINCT b.line FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED} AND b.kt = :forever"
        f" AND b.vf > :v AND {view.scoped('b')} ORDER BY b.line",
        among=listed(sorted(lines)),
    )
    return tuple(row[0] for row in rows)
