"""Reading and printing time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from worldline import Memory
from worldline.clock import (
    EARLIEST,
    FOREVER,
    LAST,
    LATEST,
    AsOf,
    Interval,
    instant,
    interval,
    moment,
    show,
    to_datetime,
)
from worldline.errors import InvalidTime
from worldline.testing import FrozenClock

DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, 0),
        (-5, -5),
        ("1970-01-02", DAY),
        ("1970-01-01T00:00:00.000001", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        (" 1970-01-02 ", DAY),
        ("1969-12-31", -DAY),
        ("0001-01-01", EARLIEST),
        ("9999-12-31T23:59:59.999999Z", LAST),
        (date(1970, 1, 2), DAY),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
        (FOREVER, FOREVER),
    ],
)
def test_instants(given, expected):
    """Whole numbers, dates, aware datetimes and ISO text all become microseconds UTC."""
    assert instant(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        datetime(2026, 1, 1),
        "yesterday",
        "",
        "2026-13-01",
        None,
        1.5,
        True,
        [],
        LAST + 1,
        EARLIEST - 1,
        LATEST,
        10**30,
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_what_is_no_time_is_refused(given):
    """Naive datetimes, nonsense, and times outside the years 1 to 9999 are InvalidTime."""
    with pytest.raises(InvalidTime):
        instant(given)


def test_the_offset_is_kept():
    """The offset that a time was said with comes back in minutes."""
    assert moment("2026-03-05T14:30:00+05:30") == (instant("2026-03-05T09:00:00"), 330)
    assert moment("2026-03-05T14:30:00-03:30")[1] == -210


@pytest.mark.parametrize("at", [EARLIEST, -1, 0, 1, LAST])
def test_showing_is_the_inverse_of_reading(at):
    """What is printed can be read again."""
    assert instant(show(at)) == at
    assert instant(show(at, 0)) == at


def test_showing_with_an_offset():
    """The speaker's offset is printed, and reads back to the same instant."""
    assert show(0, 330) == "1970-01-01T05:30:00+05:30"
    assert instant(show(0, 330)) == 0
    assert show(FOREVER) == "forever"
    assert to_datetime(0) == datetime(1970, 1, 1, tzinfo=UTC)


def test_half_open_intervals():
    """The end is outside, one tick before it is inside; what only touches does not overlap."""
    one = Interval(10, 20)
    assert 10 in one
    assert 19 in one
    assert 20 not in one
    assert not one.overlaps(Interval(20, 30))
    assert one.overlaps(Interval(19, 30))


@pytest.mark.parametrize("ends", [(5, 5), (6, 5), (FOREVER, FOREVER)])
def test_empty_intervals_are_refused(ends):
    """An interval that ends before it has begun is InvalidTime."""
    with pytest.raises(InvalidTime):
        interval(*ends)


def test_now_is_both_axes_unset():
    """Only a moment without either axis is now."""
    assert AsOf().is_now
    assert not AsOf(5).is_now
    assert not AsOf(None, 5).is_now


def test_the_frozen_clock():
    """It moves when told, and not otherwise."""
    clock = FrozenClock("1970-01-02")
    assert clock() == clock() == DAY
    assert clock.advance(5) == clock() == DAY + 5
    assert clock.set(7) == clock() == 7


@pytest.mark.parametrize(("at", "told"), [(2**62, "after the year 9999"), (-(2**62), "before the year 1")])
def test_what_no_calendar_has_is_shown_in_words(at, told):
    """Whoever tells of such a time does not fail himself."""
    assert told in show(at)


def test_a_clock_gone_mad_is_told():
    """A write is refused with a word about the clock."""
    clock = FrozenClock(0)
    clock.now = 2**62
    with Memory.open(":memory:", clock=clock) as memory, pytest.raises(InvalidTime, match="year 9999"):
        memory.note("learning", "a", "b")
