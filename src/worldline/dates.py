"""Dates and times named in a text, resolved against the moment it was said.

Decides which stretch of time an expression means and how precisely ("last Friday" is one day,
"two weeks ago" a week, "in 2019" a year), and joins neighbours ("yesterday" + "at 6 pm", "the
Sunday before" + "25 May", "between" … "and" …).  Frequencies ("every Friday") and durations ("for
nine months") are not dates.  A day is the local day of the speaker's UTC offset.

>>> from datetime import datetime, timezone
>>> find_dates("we met last Friday", datetime(2023, 5, 10, tzinfo=timezone.utc))[0].precision
'day'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from worldline import dates_calendar as cal
from worldline import dates_chinese, dates_english, dates_words
from worldline.dates_calendar import Stretch
from worldline.dates_words import NUM, UNIT, WEEKDAY, WEEKDAYS, Found, Now

EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)


class DateSpan(msgspec.Struct, frozen=True):
    """A stretch of time that a text names: [start, end) in µs UTC, and where it is written."""

    start: int
    end: int
    precision: str
    chars: tuple[int, int]
    text: str


_HAN = re.compile(r"[\u4e00-\u9fff]")
_FUTURE = re.compile(
    r"\b(?:will|shall|won[’']t|gonna|going\s+to|plan(?:s|ning)?\s+(?:to|on|for)|upcoming|tomorrow|"
    r"hop(?:e|ing)\s+to|look(?:ing)?\s+forward|can[’']t\s+wait|let[’']s|scheduled|due|deadline|"
    r"book(?:ed)?\s+for|want(?:s)?\s+to|need(?:s)?\s+to|(?:i|we|you|they|he|she|it)[’']ll)\b|"
    r"\b(?:am|are|is|[’'](?:m|re|s))\s+(?:having|going|meeting|starting|flying|leaving|travel+ing|"
    r"visiting|moving|hosting|throwing|getting|taking|seeing|coming|attending)\b",
    re.I,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|saw|met|took|made|came|bought|gave|ate|found|told|said|left|"
    r"began|ran|won|lost|felt|flew|drove|spent|been|\w{3,}ed)\b",
    re.I,
)


def find_dates(text: str, base: datetime, *, clocks: bool = False, day_first: bool = False) -> list[DateSpan]:
    """All dates of a text, in order of writing; `base` is when, and at which offset, it was said.

    A clock time without a day ("at 6 pm") is a habit as often as a date, so it counts (as of the
    day said) only with `clocks=True`.  "5/7/2023" is 7 May, with `day_first` 5 July.
    """
    han = _HAN.search(text) is not None
    if not han and not dates_english.might_hold(text):
        return []
    offset = base.utcoffset() or timedelta()
    now = Now(base.replace(tzinfo=None), _tense(text), None, day_first, offset)
    found = list(dates_english.scan(text, now))
    if han:
        found += _elsewhere(dates_chinese.scan(text, now), found)
        found.sort(key=lambda f: f.begin)
    joined = _join(text, found, now)
    return [_public(f, text, offset) for f in joined if clocks or f.kind != "clock"]


def _tense(text: str) -> bool | None:
    future, past = _FUTURE.search(text), _PAST.search(text)
    if future and past:
        return None
    return True if future else False if past else None


def _elsewhere(more: Iterator[Found], found: list[Found]) -> list[Found]:
    return [m for m in more if not any(f.begin < m.end and m.begin < f.end for f in found)]


def _public(found: Found, text: str, offset: timedelta) -> DateSpan:
    start = (found.span.start - offset - EPOCH) // MICROSECOND
    end = (found.span.stop - offset - EPOCH) // MICROSECOND
    chars = (found.begin, found.end)
    return DateSpan(start, end, found.span.precision, chars, text[found.begin : found.end])


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
_RANGE_GAP = re.compile(r"\s*(?:-|–|to|until|till|through|and|到|至|–)\s*(?:the\s+)?", re.I)
_BETWEEN = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.I)


def _join(text: str, found: list[Found], now: Now) -> list[Found]:
    """Combine neighbours, left to right."""
    joined: list[Found] = []
    for item in found:
        item = _leaning(text, item, now)
        while joined and joined[-1].begin >= item.begin:
            joined.pop()
        previous = joined[-1] if joined else None
        both = _pair(text, previous, item) if previous else None
        if both is not None:
            joined[-1] = both
        else:
            joined.append(item)
    return [_since(text, item, now) for item in (_with_part(text, j) for j in joined)]


def _with_part(text: str, item: Found) -> Found:
    match = _PART_AFTER.match(text, item.end)
    if match is None or item.span.precision != "day" or item.span.stop - item.span.start != cal.DAY:
        return item
    return Found(item.begin, match.end(), cal.part_of(item.span.start, match["p"].lower()), item.kind)


def _leaning(text: str, item: Found, now: Now) -> Found:
    """ "the week before 9 June", "two days after Christmas", "the Sunday before 25 May"."""
    if item.kind in ("clock", "weekday", "in"):
        return item
    head = text[max(0, item.begin - 48) : item.begin]
    match = _RELATIVE.search(head)
    if match is None:
        return item
    span = _relative(match, item.span)
    if span is None:
        return item
    return Found(item.begin - len(head) + match.start(), item.end, span, "relative")


def _relative(match: re.Match[str], target: Stretch) -> Stretch | None:
    unit, word = match["u"].lower(), match["w"].lower()
    sign = -1 if word in ("before", "preceding") or word.startswith("prior") else 1
    if unit in WEEKDAYS and word != "of":
        before = sign < 0
        day = target.start if before else target.stop - cal.DAY
        return cal.weekday_before(day, WEEKDAYS[unit]) if before else cal.weekday_after(day, WEEKDAYS[unit])
    unit = dates_words.unit_of(unit) if unit not in WEEKDAYS else unit
    if word == "of":
        return cal.unit_span(target.start, unit) if unit in ("week", "weekend", "month") else None
    if match["n"]:
        low, high = dates_words.count_of(match["n"])
        move = dates_words.backwards if sign < 0 else dates_words.forwards
        return move(target.start, low, high, unit)
    return _adjacent(target, unit, sign)


def _adjacent(target: Stretch, unit: str, sign: int) -> Stretch | None:
    """The unit that touches the target: the seven days before a day, the month before a month."""
    if unit in ("week", "day"):
        size = cal.DAY * (7 if unit == "week" else 1)
        start, stop = target.start, cal.midnight(target.stop - MICROSECOND) + cal.DAY
        if sign < 0:
            return Stretch(cal.midnight(start) - size, cal.midnight(start), unit)
        return Stretch(stop, stop + size, unit)
    if unit == "weekend":
        saturday = (
            cal.weekday_before(target.start, 5) if sign < 0 else cal.weekday_after(target.stop - cal.DAY, 5)
        )
        if sign < 0 and saturday.start + cal.DAY * 2 > target.start:
            saturday = cal.weekday_before(saturday.start, 5)
        return cal.unit_span(saturday.start, "weekend")
    if unit in ("night", "morning", "evening"):
        return cal.part_of(cal.shift(target.start, sign, "day"), unit)
    return cal.unit_span(cal.shift(target.start, sign, unit), unit)


def _pair(text: str, left: Found, right: Found) -> Found | None:
    gap = text[left.end : right.begin]
    if "clock" in (left.kind, right.kind) and left.kind != right.kind:
        return _at_time(left, right) if _CLOCK_GAP.fullmatch(gap) else None
    if not _RANGE_GAP.fullmatch(gap) or "clock" in (left.kind, right.kind):
        return None
    opened = _BETWEEN.search(text[max(0, left.begin - 12) : left.begin])
    if gap.strip().lower() == "and" and not (opened and opened.group().lower().startswith("b")):
        return None
    return _from_to(left, right, opened)


def _at_time(left: Found, right: Found) -> Found | None:
    clock, day = (left, right) if left.kind == "clock" else (right, left)
    if day.span.precision not in ("day", "part"):
        return None
    start = cal.midnight(day.span.start) + (clock.span.start - cal.midnight(clock.span.start))
    late = day.span.precision == "part" and day.span.start.hour >= 12
    if late and start.hour < 12 and clock.span.start.hour < 12:
        start += timedelta(hours=12)
    span = Stretch(start, start + (clock.span.stop - clock.span.start), clock.span.precision)
    return Found(min(left.begin, right.begin), max(left.end, right.end), span, "moment")


def _from_to(left: Found, right: Found, opened: re.Match[str] | None) -> Found | None:
    start = left.span.start
    if left.yearless and not right.yearless:
        start = start.replace(year=right.span.start.year)
        start = start if start < right.span.stop else start.replace(year=start.year - 1)
    if start >= right.span.stop:
        return None
    begin = left.begin - len(opened.group()) if opened else left.begin
    return Found(begin, right.end, Stretch(start, right.span.stop, right.span.precision), "range")


def _since(text: str, item: Found, now: Now) -> Found:
    match = _SINCE.search(text[max(0, item.begin - 20) : item.begin])
    if match is None or item.span.start >= now.moment:
        return item
    span = Stretch(item.span.start, now.moment, item.span.precision)
    return Found(item.begin - (match.end() - match.start()), item.end, span, "since")
