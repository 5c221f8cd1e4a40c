"""Dates and times named in a text, resolved against the moment it was said.

Decides which stretch of time an expression means and how precisely ("last Friday" is one day,
"two weeks ago" a week, "in 2019" a year), and joins neighbours ("yesterday" + "at 6 pm", "the
Sunday before" + "25 May", "between" … "and" …).  Frequencies ("every Friday", "open Monday to
Friday") and durations ("for nine months") are not dates, nor is "the other day".  The year of a
thing ("a 2016 Mazda", "a Bordeaux from 2019") dates no event and is left out.  A day is the local
day of the speaker's time zone.

>>> from datetime import datetime, timezone
>>> find_dates("we met last Friday", datetime(2023, 5, 10, tzinfo=timezone.utc))[0].precision
'day'
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

import msgspec

from worldline.dates import forms, words
from worldline.dates.words import MOVED, NUM, UNIT, WEEKDAY, WEEKDAYS, DateStretch, FoundDate, Now, Pointer

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_TOLD = {"past": False, "future": True}


class DateSpan(msgspec.Struct, frozen=True):
    """A stretch of time that a text names: [start, end) in µs UTC, and where it is written.

    `role` is what the stretch does: "range" from one date to another, "start" of something ("since
    March", "as of 1 July", "starting Monday"), "end" of something ("until 3 March", "through
    Sunday"), else "".  What is named with "since" reaches until the time said.
    """

    start: int
    end: int
    precision: str
    chars: tuple[int, int]
    text: str
    role: Literal["", "start", "end", "range"] = ""


def find_dates(text: str, said_at: datetime, *, tense: Literal["", "past", "future"] = "") -> list[DateSpan]:
    """All dates of a text, in order of writing; `said_at` is when, and in which zone, it was said.

    `tense` decides weekdays, months and days without a year: the latest one not after the time
    said, or the next one; unless it is told, the words around each date decide, and where they say
    nothing the nearest date is meant (of weekdays the last).  A clock time without a day ("at 6
    pm") is a habit as often as a date, and does not count. "5/7/2023" is 7 May.
    """
    han = _HAN.search(text) is not None
    if not han and not forms.might_hold(text):
        return []
    zone = said_at.tzinfo or UTC
    now = Now(said_at.replace(tzinfo=None), zone=zone)
    pointer = Pointer(text, _TOLD.get(tense))
    found = list(forms.scan_english(text, now, pointer))
    if han:
        found += apart(forms.scan_chinese(text, now, pointer), found)
        found.sort(key=lambda f: f.begin)
    joined = join(text, found, now)
    return [_public(f, text, zone) for f in joined if f.kind != "clock"]


def _public(found: FoundDate, text: str, zone: tzinfo) -> DateSpan:
    edges = (found.span.start, found.span.stop)
    start, end = ((edge.replace(tzinfo=zone) - EPOCH) // MICROSECOND for edge in edges)
    begin, stop = found.begin, found.end
    return DateSpan(start, end, found.span.precision, (begin, stop), text[begin:stop], found.role)


WIDEST_GAP = 24


def apart(more: Iterable[FoundDate], found: list[FoundDate]) -> list[FoundDate]:
    """Those that overlap none of the ones found, which stand in order."""
    ends = [f.end for f in found]
    begins = [*(f.begin for f in found), sys.maxsize]
    return [item for item in more if begins[bisect_left(ends, item.begin + 1)] >= item.end]


_CLOCK_GAP = re.compile(r"(?:,?\s*(?:at|on|around|about|from|by|in\s+the)?\s*)")
_PART_AFTER = re.compile(
    r",?\s+(?:in\s+the|at|early\s+in\s+the)\s+(?P<p>morning|afternoon|evening|night)\b", re.I
)
_RELATIVE = re.compile(
    rf"(?:the\s+|a\s+|on\s+)*(?:(?P<n>{NUM})\s+)?(?P<u>{UNIT}|{WEEKDAY}|morning|evening)\s+"
    r"(?P<w>before|after|of|following|preceding|prior\s+to)\s+(?:the\s+)?$",
    re.I,
)
_SINCE = re.compile(r"\b(?:ever\s+)?since\s+(?:about\s+|the\s+)?$", re.I)
_RANGE_GAP = re.compile(r"\s*(?:-|–|—|to|until|till|through|thru|and|到|至)\s*(?:the\s+)?", re.I)
_BETWEEN = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.I)


def join(text: str, found: list[FoundDate], now: Now) -> list[FoundDate]:
    """Combine neighbours, left to right."""
    joined: list[FoundDate] = []
    for item in found:
        item = _leaning(text, item)
        while joined and joined[-1].begin >= item.begin:
            joined.pop()
        previous = joined[-1] if joined else None
        both = _pair(text, previous, item, now) if previous else None
        if both is not None:
            joined[-1] = both
        else:
            joined.append(item)
    return [_since(text, item, now) for item in (_with_part(text, j) for j in joined)]


def _with_part(text: str, item: FoundDate) -> FoundDate:
    match = _PART_AFTER.match(text, item.end)
    if match is None or item.span.precision != "day" or item.span.stop - item.span.start != words.DAY:
        return item
    part = words.part_of(item.span.start, match["p"].lower())
    return msgspec.structs.replace(item, end=match.end(), span=part)


def _leaning(text: str, item: FoundDate) -> FoundDate:
    """ "the week before 9 June", "two days after Christmas", "the Sunday before 25 May"."""
    if item.kind in ("clock", "weekday", "in"):
        return item
    head = text[max(0, item.begin - 48) : item.begin]
    match = _RELATIVE.search(head)
    if match is None:
        return item
    try:
        span = _relative(match, item.span)
    except (ValueError, OverflowError):
        return item
    if span is None:
        return item
    return FoundDate(item.begin - len(head) + match.start(), item.end, span, "relative")


def _relative(match: re.Match[str], target: DateStretch) -> DateStretch | None:
    unit, word = match["u"].lower(), match["w"].lower()
    sign = -1 if word in ("before", "preceding") or word.startswith("prior") else 1
    if unit in WEEKDAYS and word != "of":
        if sign < 0:
            return words.weekday_before(target.start, WEEKDAYS[unit])
        return words.weekday_after(target.stop - words.DAY, WEEKDAYS[unit])
    unit = words.unit_of(unit) if unit not in WEEKDAYS else unit
    if word == "of":
        return words.unit_span(target.start, unit) if unit in ("week", "weekend", "month") else None
    if match["n"]:
        low, high = words.count_of(match["n"])
        move = words.backwards if sign < 0 else words.forwards
        return move(target.start, low, high, unit)
    return _adjacent(target, unit, sign)


def _adjacent(target: DateStretch, unit: str, sign: int) -> DateStretch | None:
    """The unit that touches the target: the seven days before a day, the month before a month."""
    if unit in ("week", "day"):
        size = words.DAY * (7 if unit == "week" else 1)
        start, stop = target.start, words.midnight(target.stop - MICROSECOND) + words.DAY
        if sign < 0:
            return DateStretch(words.midnight(start) - size, words.midnight(start), unit)
        return DateStretch(stop, stop + size, unit)
    if unit == "weekend":
        day = words.weekday_after(target.stop - words.DAY, 5).start
        if sign < 0:
            day = words.weekday_before(target.start, 5).start
            day -= words.DAY * (7 if day + words.DAY * 2 > target.start else 0)
        return words.unit_span(day, "weekend")
    return words.unit_span(words.shift(target.start, sign, unit), unit)


def _pair(text: str, left: FoundDate, right: FoundDate, now: Now) -> FoundDate | None:
    if right.begin - left.end > WIDEST_GAP:
        return None
    gap = text[left.end : right.begin]
    if "clock" in (left.kind, right.kind) and left.kind != right.kind:
        return _at_time(left, right) if _CLOCK_GAP.fullmatch(gap) else None
    moved = MOVED.search(text[max(0, left.begin - 60) : left.begin])
    if moved or not _RANGE_GAP.fullmatch(gap) or "clock" in (left.kind, right.kind):
        return None
    opened = _BETWEEN.search(text[max(0, left.begin - 12) : left.begin])
    if gap.strip().lower() == "and" and not (opened and opened.group().lower().startswith("b")):
        return None
    try:
        span = _from_to(left, right, now)
    except (ValueError, OverflowError):
        return None
    begin = left.begin - len(opened.group()) if opened else left.begin
    return FoundDate(begin, right.end, span, "range", role="range") if span else None


def _at_time(left: FoundDate, right: FoundDate) -> FoundDate | None:
    clock, day = (left, right) if left.kind == "clock" else (right, left)
    if day.span.precision not in ("day", "part"):
        return None
    start = words.midnight(day.span.start) + (clock.span.start - words.midnight(clock.span.start))
    late = day.span.precision == "part" and day.span.start.hour >= 12
    if late and start.hour < 12 and clock.span.start.hour < 12:
        start += timedelta(hours=12)
    span = DateStretch(start, start + (clock.span.stop - clock.span.start), clock.span.precision)
    return FoundDate(min(left.begin, right.begin), max(left.end, right.end), span, "moment", role=day.role)


def _from_to(left: FoundDate, right: FoundDate, now: Now) -> DateStretch | None:
    """The stretch between two dates; the one without a year follows the other."""
    first, last = left.span, right.span
    if left.yearless and not right.yearless:
        first = words.moved(first, 12 * (last.start.year - first.start.year))
        first = first if first.start < last.stop else words.moved(first, -12)
    elif right.yearless and left.dated:
        last = words.moved(last, 12 * (first.start.year - last.start.year))
        last = last if first.start < last.stop else words.moved(last, 12)
    elif first.start >= last.stop and (left.yearless or right.kind == "weekday"):
        months, days = (12, 0) if left.yearless else (0, 7)
        earlier, later = words.moved(first, -months, -days), words.moved(last, months, days)
        near = now.moment - last.stop < first.start - now.moment
        if right.future is False or last.stop > now.moment or (right.future is None and near):
            first = earlier
        else:
            last = later
    return DateStretch(first.start, last.stop, last.precision) if first.start < last.stop else None


def _since(text: str, item: FoundDate, now: Now) -> FoundDate:
    match = _SINCE.search(text[max(0, item.begin - 20) : item.begin])
    if match is None or item.span.start >= now.moment:
        return item
    span = DateStretch(item.span.start, now.moment, item.span.precision)
    return FoundDate(item.begin - (match.end() - match.start()), item.end, span, "since", role="start")
