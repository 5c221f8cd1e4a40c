"""Keeps what is known of each speaker from their own texts: a tally and a style, one row a speaker.

New texts are added to the row, so a night costs what is new. Where something of a speaker was given
up, came back, or is not known to be counted, the row is made anew from all of their texts. The
result is the same either way: everything in a row is a sum of whole numbers, or the newest of some.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from worldline.consolidate.changes import Change, NewRows, Night, Plan
from worldline.ports import View
from worldline.reading.voices import role_of
from worldline.rules.tally import (
    DECODER,
    ENCODER,
    SaidWords,
    Tally,
    combined,
    counted,
    packed,
    tally,
    unpacked,
)
from worldline.store.events import TURNS_AT_ONCE, Spoken, not_yet, spoken
from worldline.store.nights import profiles, turns_by, voices_around
from worldline.text import fold

if TYPE_CHECKING:
    from worldline.rules.tally import Counts


class _Row(Struct, frozen=True):
    tally: Tally
    style: Counts


def profile(view: View, night: Night) -> Plan:
    """The rows of everybody of whom something is new."""
    turns = night.news.of("Turn")
    ahead = not_yet(view, {*(item.line for item in turns), *night.waiting})
    closed = {item.line for item in turns if item.closed} | (set(night.waiting) - set(ahead))
    fresh = {item.line for item in turns} - closed
    again = {fold(n) for n in voices_around(view, closed) if fold(n) and role_of(n) != "assistant"}
    new: dict[str, list[SaidWords]] = {}
    for turn in spoken(view, {*fresh, *closed}):
        new.setdefault(turn.speaker, []).append(_said(turn))
    return Plan(tuple(_rows(view, night.scope, new, again)), ahead)


def _rows(
    view: View, scope: int, new: Mapping[str, Sequence[SaidWords]], again: Collection[str]
) -> list[Change]:
    stored = profiles(view, scope, {*new, *again})
    held = {who: _Row(DECODER.decode(row.tally), unpacked(row.style)) for who, row in stored.items()}
    rows, gone = [], []
    for speaker in sorted({*new, *again}):
        row = _renewed(view, speaker, held.get(speaker), () if speaker in again else new[speaker])
        if not row.tally.turns:
            gone += [(view.tenant, speaker, scope)] if speaker in held else []
        elif speaker not in held or not _same(row, held[speaker]):
            rows.append((view.tenant, speaker, scope, ENCODER.encode(row.tally).decode(), packed(row.style)))
    return [NewRows("profiles", tuple(rows), tuple(gone))] if rows or gone else []


def _same(one: _Row, other: _Row) -> bool:
    return one.tally == other.tally and bool((one.style == other.style).all())


def _said(turn: Spoken) -> SaidWords:
    return SaidWords(turn.line, turn.text, turn.said_at, turn.answers)


def _renewed(view: View, speaker: str, held: _Row | None, new: Sequence[SaidWords]) -> _Row:
    """The row with the new texts in it; counted from the beginning where that is not enough."""
    if held is None or not new or min(said.line for said in new) <= held.tally.upto:
        return _summed(
            _said(turn) for turn in spoken(view, turns_by(view, speaker)) if turn.speaker == speaker
        )
    more = _summed(new)
    return _Row(combined([held.tally, more.tally]), held.style + more.style)


def _summed(said: Iterable[SaidWords]) -> _Row:
    """Batch by batch, so that a long life needs no more memory than a short one."""
    total, style, batch = Tally(), counted(""), list[SaidWords]()
    for one in said:
        batch.append(one)
        style = style + counted(one.text)
        if len(batch) >= TURNS_AT_ONCE:
            total, batch = combined([total, tally(batch)]), []
    return _Row(combined([total, tally(batch)]), style)
