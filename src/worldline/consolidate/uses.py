"""Folds what was shown, praised and complained about into the strengths of memories.

Uses are noted aside by recalls and by `feedback`; here they reach the memories they are about, and
the notes go, in one transaction. What was archived and is called useful comes back.
"""

from __future__ import annotations

from typing import Any

from worldline.clock import FOREVER, Instant
from worldline.config import Config
from worldline.consolidate.changes import Change, Marked, Plan, Rows
from worldline.consolidate.night import Night
from worldline.rules.salience import cold_at, used
from worldline.store.cold import ARCHIVED
from worldline.store.strengths import Kept, archived, begun, notes, row, strengths
from worldline.store.view import SqlView

MOST = 20_000
"""So many notes are folded in one night; the rest waits for the next."""


def fold(view: SqlView, night: Night) -> Plan:
    """The strengths after all uses of this owner's memories."""
    noted = notes(view, MOST)
    if not noted:
        return Plan()
    lines = {note.line for note in noted}
    kept = strengths(view, lines) | begun(view, lines)
    praised = set()
    for note in noted:
        if note.line in kept:
            kept[note.line] = used(kept[note.line], note.kind, note.at)
            if note.kind == "useful":
                praised.add(note.line)
    cold = archived(view, lines)
    changes: list[Change] = [
        Marked(line, ARCHIVED, None, "called useful") for line in sorted(praised & cold.keys())
    ]
    held = [
        strength_row(view, one, night.config, cold=one.line in cold.keys() - praised) for one in kept.values()
    ]
    changes.append(Rows("strengths", tuple(held)))
    changes.append(Rows("uses", gone=tuple((view.tenant, note.id) for note in noted)))
    return Plan(tuple(changes))


def strength_row(
    view: SqlView, kept: Kept, config: Config, *, cold: bool = False, later: Instant = 0
) -> tuple[Any, ...]:
    """A row of the table; what is archived is due no more, and `later` puts off a due one."""
    due = FOREVER if cold else max(later, cold_at(kept, config.decay_rate, config.cold_below))
    return row(view, kept, due)
