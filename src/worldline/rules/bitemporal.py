"""Both time axes: what is visible when, and what a change does to the beliefs before it.

These functions decide; they neither read nor write. A belief is never edited: tightening it means
closing its known interval and believing a shorter valid interval from then on.

>>> visible(Interval(0, 10), Interval(5), valid=3, known=7)
True
"""

from __future__ import annotations

from collections.abc import Sequence

from worldline.clock import FOREVER, Instant, Interval
from worldline.model import Belief, Close, FactRow, Op, Put, Refuse


def visible(valid_interval: Interval, known_interval: Interval, valid: Instant, known: Instant) -> bool:
    """Whether a row is seen from the point (valid, known)."""
    return valid in valid_interval and known in known_interval


def tighten(belief: Belief, valid_to: Instant) -> Close | None:
    """The close that ends a belief at `valid_to`, or None when it ends by then already."""
    if belief.valid.end <= valid_to:
        return None
    return Close(belief, valid_to=valid_to)


def supersede(beliefs: Sequence[Belief], at: Instant) -> list[Op]:
    """Ends every belief that holds at `at`; refuses where there are only later ones to end."""
    ops: list[Op] = [Close(b, valid_to=at) for b in beliefs if b.valid.start < at < b.valid.end]
    if not ops and any(b.valid.start >= at for b in beliefs):
        return [
            Refuse(
                "the new version would begin no later than the old one did; "
                "if the old one was never true, use correct"
            )
        ]
    return ops


def place_fact(
    slot: Sequence[FactRow], same: Sequence[Belief], new: Interval, *, functional: bool, stated: bool
) -> tuple[Interval | None, list[Op], list[FactRow]]:
    """Where a new fact goes in its slot: its interval (None: already there), closes, conflicts.

    `slot` holds the current beliefs with another object, `same` those with the same one. `stated`
    says that the source gave the start explicitly, rather than it being the time of telling.
    """
    interval, closes = _beside_itself(same, new, stated)
    if interval is None or not functional:
        return interval, closes, []
    interval = Interval(interval.start, min([interval.end, *_later_starts(slot, interval.start)]))
    conflicts = [row for row in slot if row.belief.valid.start == interval.start]
    ended = [
        close
        for row in slot
        if row.belief.valid.start < interval.start
        and (close := tighten(row.belief, interval.start)) is not None
    ]
    return interval, [*closes, *ended], conflicts


def _later_starts(slot: Sequence[FactRow], start: Instant) -> list[Instant]:
    return [row.belief.valid.start for row in slot if row.belief.valid.start > start]


def _beside_itself(same: Sequence[Belief], new: Interval, stated: bool) -> tuple[Interval | None, list[Op]]:
    """A repetition moves nothing; a stated later start revises; an earlier one adds what is missing."""
    for belief in same:
        if new.start in belief.valid:
            if not stated or new.start == belief.valid.start:
                return None, []
            return Interval(new.start, belief.valid.end), [Close(belief)]
    later = [b.valid.start for b in same if b.valid.start > new.start]
    return Interval(new.start, min([new.end, *later])), []


def restore(beliefs: Sequence[Belief], closed_at: Instant, before: Interval) -> list[Op]:
    """Undoes a tightening: the belief that was cut at `closed_at` gets its former interval back."""
    ops: list[Op] = []
    for belief in beliefs:
        if belief.valid.start == before.start and belief.valid.end == closed_at < before.end:
            ops += [Close(belief), Put(reopen=_with_valid(belief, before))]
    return ops


def _with_valid(belief: Belief, valid: Interval) -> Belief:
    return Belief(
        row=0,
        of=belief.of,
        valid=valid,
        known=Interval(belief.known.start, FOREVER),
        scope=belief.scope,
        status=belief.status,
        confidence=belief.confidence,
        precision=belief.precision,
    )
