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
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

import msgspec

from worldline.dates import chinese, scanning
from worldline.dates.joining import apart, join
from worldline.dates.tense import Pointer
from worldline.dates.words import FoundDate, Now

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
    if not han and not scanning.might_hold(text):
        return []
    zone = said_at.tzinfo or UTC
    now = Now(said_at.replace(tzinfo=None), zone=zone)
    pointer = Pointer(text, _TOLD.get(tense))
    found = list(scanning.scan(text, now, pointer))
    if han:
        found += apart(chinese.scan(text, now, pointer), found)
        found.sort(key=lambda f: f.begin)
    joined = join(text, found, now)
    return [_public(f, text, zone) for f in joined if f.kind != "clock"]


def _public(found: FoundDate, text: str, zone: tzinfo) -> DateSpan:
    edges = (found.span.start, found.span.stop)
    start, end = ((edge.replace(tzinfo=zone) - EPOCH) // MICROSECOND for edge in edges)
    begin, stop = found.begin, found.end
    return DateSpan(start, end, found.span.precision, (begin, stop), text[begin:stop], found.role)
