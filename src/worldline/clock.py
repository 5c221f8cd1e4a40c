"""Time: instants, half-open intervals, and the moment a read looks at.

An instant is an integer number of microseconds since 1970-01-01 UTC; it may be negative.
An interval is `[start, end)`; an open end is `FOREVER`, so that no comparison ever meets NULL.
This module parses and prints time; it does not decide what was true when (`rules/handlers.py`).

>>> show(instant("2026-03-05"))
'2026-03-05T00:00:00Z'
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TypeAlias

from msgspec import Struct

from worldline.errors import InvalidTime

Instant: TypeAlias = int
When: TypeAlias = int | str | date | datetime

FOREVER: Instant = 2**63 - 1
LATEST: Instant = FOREVER - 1
"""As a known time: whatever is believed now. Every row still believed ends at FOREVER."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
EARLIEST: Instant = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _TICK
LAST: Instant = (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) - _EPOCH) // _TICK

Clock: TypeAlias = Callable[[], Instant]


class Interval(Struct, frozen=True, order=True, gc=False):
    """`[start, end)`: at `end` it is over, one tick before it is not."""

    start: Instant
    end: Instant = FOREVER

    def __contains__(self, at: Instant) -> bool:
        return self.start <= at < self.end

    def overlaps(self, other: Interval) -> bool:
        return self.start < other.end and other.start < self.end


class AsOf(Struct, frozen=True):
    """The point on both axes that a read looks at; `valid=None` means "now" when it is read."""

    valid: Instant | None = None
    known: Instant = LATEST

    @property
    def is_now(self) -> bool:
        return self == NOW


NOW = AsOf()
"""Where a read looks if nobody says otherwise."""


def system_clock() -> Instant:
    """Microseconds since the epoch by this machine's clock."""
    return time.time_ns() // 1000


def instant(value: When) -> Instant:
    """Microseconds for an int, a date, an aware datetime, or ISO text (no offset means UTC)."""
    return moment(value)[0]


def axes(valid: When | None, known: When | None, as_of: When | None) -> tuple[When | None, When | None]:
    """A moment to look from, on both axes; `as_of` is both, so that it cannot stand beside another time."""
    if as_of is None:
        return valid, known
    if any(other is not None and instant(other) != instant(as_of) for other in (valid, known)):
        raise InvalidTime("as_of is the moment of both axes; give it alone, or give valid and known instead")
    return as_of, as_of


def moment(value: When) -> tuple[Instant, int]:
    """The instant and the UTC offset in minutes that it was said with."""
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, datetime):
        return _in_range(*_from_datetime(value))
    if isinstance(value, date):
        return _from_datetime(datetime(value.year, value.month, value.day, tzinfo=UTC))
    if type(value) is not int:
        raise InvalidTime(f"a time must be a datetime, a date, ISO text or microseconds, not {value!r}")
    return (value, 0) if value == FOREVER else _in_range(value, 0)


def _in_range(at: Instant, offset: int) -> tuple[Instant, int]:
    if not EARLIEST <= at <= LAST:
        raise InvalidTime(f"{at} is outside the years 1 to 9999 (microseconds since 1970, UTC)")
    return at, offset


def _from_datetime(value: datetime) -> tuple[Instant, int]:
    offset = value.utcoffset()
    if offset is None:
        raise InvalidTime(
            f"{value.isoformat()} has no UTC offset; give it one, for example .replace(tzinfo=timezone.utc)"
        )
    ticks = (value.replace(tzinfo=None) - _EPOCH.replace(tzinfo=None)) // _TICK - offset // _TICK
    return ticks, int(offset.total_seconds() // 60)


def _parse(text: str) -> datetime:
    cleaned = text.strip()
    try:
        parsed = datetime.fromisoformat(cleaned)
    except ValueError:
        raise InvalidTime(
            f"cannot read {text!r} as a time; write it like 2026-03-05 or 2026-03-05T14:30:00+01:00"
        ) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def to_datetime(at: Instant, offset_minutes: int = 0) -> datetime:
    """The aware datetime of an instant, in the given offset."""
    return (_EPOCH + at * _TICK).astimezone(timezone(timedelta(minutes=offset_minutes)))


def show(at: Instant, offset_minutes: int = 0) -> str:
    """ISO text, `…Z` for UTC, "forever" for an open end, no fraction when it is zero; in words where no date is."""
    if at >= LATEST:
        return "forever"
    try:
        text = to_datetime(at, offset_minutes).isoformat()
    except OverflowError:
        return "a time after the year 9999" if at > 0 else "a time before the year 1"
    return text.removesuffix("+00:00") + "Z" if offset_minutes == 0 else text


_HALF_A_DAY = 43_200_000_000
_CUT = {"year": 4, "decade": 4, "month": 7}
EXACT = frozenset({"hour", "minute", "second"})
"""Precisions at which a time is more than a day."""


def calendar(at: Instant, precision: str) -> str:
    """A day, month or year as such, wherever it was said: never as the UTC instant of the day before.

    >>> calendar(instant("2026-03-05T00:00+02:00"), "day"), calendar(instant("2026-03-01"), "month")
    ('2026-03-05', '2026-03')
    """
    if not EARLIEST < at < LAST - _HALF_A_DAY:
        return show(at)
    return to_datetime(at + _HALF_A_DAY).date().isoformat()[: _CUT.get(precision, 10)]


def interval(start: When, end: When | None = None) -> Interval:
    """A checked interval; an empty or reversed one is refused."""
    made = Interval(instant(start), FOREVER if end is None else instant(end))
    if made.end <= made.start:
        raise InvalidTime(f"the interval ends ({show(made.end)}) before it has begun ({show(made.start)})")
    return made
