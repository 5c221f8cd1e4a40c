"""Folds what was shown, praised and complained about into the strengths of memories.

Uses are noted aside by recalls and by `feedback`; here they reach the memories they are about, and
the notes go, in one transaction. What was archived and is called useful comes back.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from worldline.clock import Instant
from worldline.config import Config
from worldline.consolidate.changes import Change, Marked, Plan, Rows
from worldline.consolidate.night import Night
from worldline.rules.salience import Strength, cold_at, starting, used
from worldline.store.cold import ARCHIVED
from worldline.store.view import LISTED, SqlView, listed

MOST = 20_000
"""So many notes are folded in one night; the rest waits for the next."""
_SALIENCE = "json_extract(e.signals, '$.salience')"


class Kept(Strength, frozen=True):
    """A strength as it is stored."""

    line: int = 0
    scope: int = 0


def fold(view: SqlView, night: Night) -> Plan:
    """The strengths after all uses of this owner's memories."""
    notes = view.query(
        f"SELECT u.id, u.line, u.kind, u.at FROM uses u WHERE u.tenant = :t AND {view.scoped('u')}"
        " ORDER BY u.id LIMIT :most",
        most=MOST,
    )
    if not notes:
        return Plan()
    lines = {line for _, line, _, _ in notes}
    kept = strengths(view, lines) | begun(view, lines)
    praised = set()
    for _, line, kind, at in notes:
        if line in kept:
            kept[line] = used(kept[line], kind, at)
            if kind == "useful":
                praised.add(line)
    cold = archived(view, lines)
    changes: list[Change] = [
        Marked(line, ARCHIVED, None, "called useful") for line in sorted(praised & cold.keys())
    ]
    held = [row(view, one, night.config, cold=one.line in cold.keys() - praised) for one in kept.values()]
    changes.append(Rows("strengths", tuple(held)))
    changes.append(Rows("uses", gone=tuple((note[0],) for note in notes)))
    return Plan(tuple(changes))


# Strengths, for this pass and for decay ---------------------------------------------------------------


def strengths(view: SqlView, lines: Collection[int]) -> dict[int, Kept]:
    """The stored strengths of these lineages."""
    rows = view.query(
        "SELECT s.salience, s.reinforced_at, s.uses, s.useful, s.wrong, s.line, s.scope FROM json_each(:among) j"
        " CROSS JOIN strengths s ON s.line = j.value WHERE s.tenant = :t ORDER BY s.line",
        among=listed(lines),
    )
    return {r[5]: Kept(*r) for r in rows}


def begun(view: SqlView, lines: Collection[int]) -> dict[int, Kept]:
    """What these lineages begin with, where they have no strength yet: the gate's salience, when learned."""
    rows = view.query(
        f"SELECT b.line, {_SALIENCE}, min(b.kf), b.scope FROM beliefs b LEFT JOIN events e ON e.node = b.line"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.scoped('b')} AND NOT EXISTS"
        " (SELECT 1 FROM strengths s WHERE s.line = b.line) GROUP BY b.line ORDER BY b.line",
        among=listed(lines),
    )
    return {
        line: Kept(starting(judged), since, line=line, scope=scope) for line, judged, since, scope in rows
    }


def archived(view: SqlView, lines: Collection[int]) -> dict[int, Instant]:
    """Which of these lineages are archived, and since when."""
    rows = view.query(
        f"SELECT line, kf FROM marks WHERE tenant = :t AND line IN {LISTED} AND kind = :kind AND kt = :forever",
        among=listed(lines),
        kind=ARCHIVED,
    )
    return dict(rows)


def row(
    view: SqlView, kept: Kept, config: Config, *, cold: bool = False, later: Instant = 0
) -> tuple[Any, ...]:
    """A row of the table; what is archived is due no more, and `later` puts off a due one."""
    due = view.args["forever"] if cold else max(later, cold_at(kept, config.decay_rate, config.cold_below))
    return (
        kept.line, view.tenant, kept.scope, kept.salience, kept.reinforced_at, due, kept.uses, kept.useful,
        kept.wrong,
    )  # fmt: skip
