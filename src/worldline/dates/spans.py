"""Calendar arithmetic on local time: which stretch is "that week", "two months before", "last summer".

Decides the bounds of calendar units (weeks begin on Monday, seasons are northern, by whole months).
It knows no language and no time zone: everything is naive local time, half-open.

    unit_span(datetime(2023, 5, 10), "week") == Stretch(8 May 2023, 15 May 2023, "week")
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import msgspec

DAY = timedelta(days=1)
SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
PART_HOURS = {
    "morning": (5, 12),
    "noon": (12, 13),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
    "midnight": (24, 25),
}


class DateStretch(msgspec.Struct, frozen=True):
    """A half-open stretch of local time and how precisely it was meant."""

    start: datetime
    stop: datetime
    precision: str


def midnight(moment: datetime) -> datetime:
    """The first instant of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def of_date(day: date) -> DateStretch:
    """One whole day."""
    start = datetime(day.year, day.month, day.day)
    return DateStretch(start, start + DAY, "day")


def add_months(moment: datetime, months: int) -> datetime:
    """The same day of another month, or its last day where there is none."""
    total = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(total, 12)
    for day in (moment.day, 30, 29, 28):
        try:
            return moment.replace(year=year, month=month + 1, day=min(day, moment.day))
        except ValueError:
            if not 1 <= year <= 9998:
                raise
    raise ValueError("no such month")


def shift(moment: datetime, count: int, unit: str) -> datetime:
    """The moment moved by a number of units."""
    if unit in ("month", "quarter", "year", "decade", "century"):
        months = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}[unit]
        return add_months(moment, count * months)
    if unit in ("weekend", "fortnight"):
        return moment + timedelta(weeks=count if unit == "weekend" else 2 * count)
    if unit in ("night", "morning", "afternoon", "evening"):
        return moment + timedelta(days=count)
    return moment + timedelta(**{unit + "s": count})


def unit_span(moment: datetime, unit: str) -> DateStretch:
    """The calendar unit that holds the moment."""
    day = midnight(moment)
    if unit in PART_HOURS:
        return part_of(day, unit)
    if unit == "day":
        return DateStretch(day, day + DAY, "day")
    if unit in ("week", "fortnight"):
        start = day - DAY * day.weekday()
        return DateStretch(start, start + DAY * 7, "week")
    if unit == "weekend":
        start = day - DAY * day.weekday() + DAY * 5
        return DateStretch(start, start + DAY * 2, "weekend")
    if unit in ("hour", "minute", "second"):
        size = {"hour": 3600, "minute": 60, "second": 1}[unit]
        start = moment.replace(microsecond=0, second=moment.second if unit == "second" else 0)
        start = start.replace(minute=0) if unit == "hour" else start
        return DateStretch(start, start + timedelta(seconds=size), unit)
    return _months_span(moment, unit)


def _months_span(moment: datetime, unit: str) -> DateStretch:
    first = midnight(moment).replace(day=1)
    if unit == "month":
        return DateStretch(first, add_months(first, 1), "month")
    if unit == "quarter":
        start = first.replace(month=(first.month - 1) // 3 * 3 + 1)
        return DateStretch(start, add_months(start, 3), "quarter")
    years = {"year": 1, "decade": 10, "century": 100}[unit]
    start = first.replace(month=1, year=first.year // years * years)
    return DateStretch(start, add_months(start, 12 * years), unit)


def month_of(year: int, month: int) -> DateStretch:
    """A whole month."""
    return _months_span(datetime(year, month, 1), "month")


def year_of(year: int) -> DateStretch:
    """A whole year."""
    return _months_span(datetime(year, 1, 1), "year")


def season_of(year: int, name: str) -> DateStretch:
    """Three months; a winter is named after the year in which it begins."""
    start = datetime(year, SEASON_STARTS[name], 1)
    return DateStretch(start, add_months(start, 3), "season")


def slice_of(year: int, which: int, months: int) -> DateStretch:
    """The first, second … quarter or half of a year."""
    start = datetime(year, (which - 1) * months + 1, 1)
    return DateStretch(start, add_months(start, months), "half" if months == 6 else "quarter")


def moved(span: DateStretch, months: int, days: int = 0) -> DateStretch:
    """The same stretch in another month and day."""
    start, stop = (add_months(edge, months) + DAY * days for edge in (span.start, span.stop))
    return DateStretch(start, stop, span.precision)


def part_of(day: datetime, part: str) -> DateStretch:
    """The morning, afternoon, evening or night of a day."""
    begin, end = PART_HOURS[part]
    start = midnight(day)
    return DateStretch(start + timedelta(hours=begin), start + timedelta(hours=end), "part")


def third_of(span: DateStretch, which: str) -> DateStretch:
    """The early, middle or late third of a stretch, cut at whole days."""
    size = (span.stop - span.start) / 3
    cuts = [span.start, midnight(span.start + size), midnight(span.start + 2 * size), span.stop]
    index = {"early": 0, "mid": 1, "late": 2}[which]
    finer = {"year": "season", "month": "week", "season": "month", "week": "day"}
    return DateStretch(cuts[index], cuts[index + 1], finer.get(span.precision, span.precision))


def weekday_before(day: datetime, weekday: int) -> DateStretch:
    """The last such weekday strictly before the day."""
    back = (day.weekday() - weekday - 1) % 7 + 1
    return unit_span(midnight(day) - DAY * back, "day")


def weekday_after(day: datetime, weekday: int) -> DateStretch:
    """The first such weekday strictly after the day."""
    ahead = (weekday - day.weekday() - 1) % 7 + 1
    return unit_span(midnight(day) + DAY * ahead, "day")


def easter(year: int) -> date:
    """Gregorian Easter Sunday (the anonymous algorithm)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth such weekday of a month (nth = -1: the last)."""
    first = date(year, month, 1)
    day = first + DAY * ((weekday - first.weekday()) % 7) + DAY * 7 * (max(nth, 1) - 1)
    if nth > 0:
        return day
    while (day + DAY * 7).month == month:
        day += DAY * 7
    return day


_FIXED = {
    name: (int(month), int(day))
    for month, day, name in re.findall(
        r"(\d+)/(\d+) ([^|]+)",
        "12/24 christmas eve|12/25 christmas|12/26 boxing|12/31 new years eve|12/31 new year eve|1/1 new years"
        "|1/1 new year|2/14 valentines|10/31 halloween|7/4 independence|7/4 th of july|7/4 fourth of july"
        "|3/17 st patricks",
    )
}
_AFTER_EASTER = {"good friday": -2, "easter": 0, "easter sunday": 0, "easter monday": 1}
_NTH_WEEKDAY = {"thanksgiving": (11, 3, 4), "mothers": (5, 6, 2), "fathers": (6, 6, 3)}
_NTH_WEEKDAY |= {"labor": (9, 0, 1), "memorial": (5, 0, -1)}


def holiday_of(year: int, name: str) -> DateStretch:
    """The day of a holiday in a year; its name is in plain letters, without "day"."""
    if name in _FIXED:
        return of_date(date(year, *_FIXED[name]))
    if name in _AFTER_EASTER:
        return of_date(easter(year) + DAY * _AFTER_EASTER[name])
    return of_date(nth_weekday(year, *_NTH_WEEKDAY[name]))
