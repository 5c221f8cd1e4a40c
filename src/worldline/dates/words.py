"""The vocabulary of English dates: month and number words, patterns, and what a word does to a stretch.

Decides what "a few", "mid-", "last" and a year of two digits mean; the forms that use them are in
english.py.

    count_of("a few") == (2, 5)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo

import msgspec

from worldline.dates import spans as cal
from worldline.dates.spans import DateStretch
from worldline.dates.tense import Pointed, Role


def numbered(text: str, first: int = 0) -> dict[str, int]:
    """Words with their numbers: groups at the bars count up, the words of a group share one."""
    return {word: number for number, group in enumerate(text.split("|"), first) for word in group.split()}


MONTHS = numbered(
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep"
    "|october oct|november nov|december dec",
    1,
)
WEEKDAYS = numbered(
    "monday mon|tuesday tues tue|wednesday wed|thursday thurs thur thu|friday fri|saturday sat|sunday sun"
)
NUMBERS = numbered(
    "zero|one a an|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen|twenty"
) | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}
ORDINALS = numbered(
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth"
    "|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth",
    1,
)
DECADES = numbered("thirties|forties|fifties|sixties|seventies|eighties|nineties", 3)
VAGUE = {"few": (2, 5), "several": (3, 7), "some": (2, 6), "many": (4, 12)}

LONG_MONTH = "(?:" + "|".join(m for m in MONTHS if len(m) > 4 or m in ("may", "june", "july")) + ")"
MONTH = rf"(?:{LONG_MONTH}\b|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
ANY_WEEKDAY = rf"(?:{WEEKDAY}\b|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b\.?)"
TH = "(?:st|nd|rd|th)"
YEAR = r"(?:(?:18|19|20|21)\d{2}|[’']\d{2})(?![\d%])"
UNIT = "(?:second|minute|hour|day|week|weekend|fortnight|month|quarter|year|decade|night|min|hr)s?"
NUM = (
    r"(?:(?:a|the)\s+)?(?:couple(?:\s+of)?|few|several|some|many|half\s+an?|"
    r"\d{1,6}(?:\.\d{1,6})?|(?:twenty|thirty|forty|fifty)[-\s](?:one|two|three|four|five|six|seven|eight|nine)|"
    + "|".join(sorted(NUMBERS, key=len, reverse=True))
    + r")(?:\s+or\s+(?:so|\w+))?"
)
SEASON = "(?:spring|summer|autumn|fall|winter)"
PART = "(?:morning|afternoon|evening|night)"
HOLIDAY = (
    r"(?:christmas(?:\s+(?:eve|day))?|boxing\s+day|new\s+year(?:[’']?s)?(?:\s+(?:eve|day))?|"
    r"valentine[’']?s(?:\s+day)?|halloween|thanksgiving|easter(?:\s+(?:sunday|monday))?|good\s+friday|independence\s+day|"
    r"(?:the\s+)?(?:4th|fourth)\s+of\s+july|mother[’']?s\s+day|father[’']?s\s+day|labor\s+day|"
    r"memorial\s+day|st\.?\s+patrick[’']?s\s+day)"
)
MOD = "(?:last|this|next|past|previous|coming|following|current|upcoming|this\\s+past|this\\s+coming)"
THIRD = r"(?:(?:early|mid|late)[\s-]+(?:in\s+)?|(?:the\s+)?(?:beginning|start|middle|end)\s+of\s+)"
CLOCK = (
    r"(?:\d{1,2}(?::\d{2})(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?|"
    r"\d{1,2}\s+o[’']clock|noon|midnight|half\s+past\s+\w+)"
)


class FoundDate(msgspec.Struct, frozen=True):
    """One expression: where it stands, what it means, and how it may combine."""

    begin: int
    end: int
    span: DateStretch
    kind: str  # the form's name
    yearless: bool = False
    dated: bool = False  # a year is written
    future: bool | None = None
    role: Role = ""


class Now(msgspec.Struct, frozen=True):
    """What an expression is relative to: the time said, and where the words around it point."""

    moment: datetime
    future: bool | None = None
    mild: bool = False
    anchor: datetime | None = None
    zone: tzinfo = UTC

    @property
    def today(self) -> datetime:
        return cal.midnight(self.moment)


def count_of(text: str) -> tuple[float, float]:
    """A number word as a range: "three" (3, 3), "a few" (2, 5), "half a" (.5, .5)."""
    text = re.sub(r"\s+or\s+(?:so|\w+)$", "", text.lower().strip())
    bare = re.sub(r"^(?:a|the)\s+(?=\w)", "", text)
    if bare.startswith("couple"):
        return 2, 2
    if bare.startswith("half"):
        return 0.5, 0.5
    if bare in VAGUE:
        return VAGUE[bare]
    if bare[0].isdigit():
        return float(bare), float(bare)
    total = sum(NUMBERS.get(word, 0) for word in re.split(r"[-\s]", bare))
    return total, total


def unit_of(text: str) -> str:
    """The unit's plain name: "weeks" → "week", "hrs" → "hour"."""
    bare = text.lower().rstrip("s")
    return {"min": "minute", "hr": "hour"}.get(bare, bare)


def year_of(text: str | None) -> int | None:
    """A year as written: "2023" or "'23"."""
    if not text:
        return None
    if len(text) == 3:
        short = int(text[1:])
        return 2000 + short if short < 50 else 1900 + short
    return int(text)


def nearest(candidates: list[DateStretch], now: Now) -> DateStretch:
    """The candidate that the sentence's tense points to, else the nearest one."""
    if now.future is True:
        candidates = [c for c in candidates if c.stop > now.today][:1] or candidates
    elif now.future is False:
        candidates = [c for c in candidates if c.start <= now.moment][-1:] or candidates
    return min(candidates, key=lambda c: (abs((c.start - now.today).total_seconds()), c.start))


def over_years(make: Callable[[int], DateStretch], now: Now) -> list[DateStretch]:
    """The same yearly date in the years around now, where it exists."""
    found = []
    for year in range(now.moment.year - 1, now.moment.year + 2):
        try:
            found.append(make(year))
        except ValueError:
            continue
    return found


def weekday_of(word: str | None) -> int | None:
    """The number of a weekday, short or long."""
    return WEEKDAYS[word.lower().rstrip(".")] if word else None


def month_of(word: str) -> int:
    """The number of a month, short or long."""
    return MONTHS[word.lower().rstrip(".")]


def month_day(
    year: str | None, month: int, days: tuple[int, int | None], on: int | None, now: Now
) -> DateStretch:
    """A day or a range of days in a month, in the given or the nearest year in which the weekday fits."""
    first, last = days

    def make(in_year: int) -> DateStretch:
        start = cal.of_date(date(in_year, month, first))
        if last is None:
            return start
        stop = cal.of_date(date(in_year, month, last))
        return DateStretch(start.start, stop.stop, "day")

    given = year_of(year)
    return make(given) if given else nearest(fitting(over_years(make, now), on), now)


def fitting(candidates: list[DateStretch], weekday: int | None) -> list[DateStretch]:
    """Those that begin on the weekday, or all where none does."""
    return [c for c in candidates if c.start.weekday() == weekday] or candidates


def backwards(now: datetime, low: float, high: float, unit: str) -> DateStretch:
    """The calendar unit (or run of units, when vague) a number of units ago."""
    if low == 0.5:
        low, high, unit = {"year": (6, 6, "month"), "hour": (30, 30, "minute")}.get(unit, (1, 1, unit))
    if low == high and low != int(low):
        low, high, unit = {
            "year": (low * 12, high * 12, "month"),
            "day": (low * 24, high * 24, "hour"),
            "hour": (low * 60, high * 60, "minute"),
        }.get(unit, (low, high, unit))
    near, far = (cal.unit_span(cal.shift(now, -int(n), unit), unit) for n in (low, high))
    return DateStretch(far.start, near.stop, near.precision)


def forwards(now: datetime, low: float, high: float, unit: str) -> DateStretch:
    """The calendar unit a number of units ahead."""
    near, far = (cal.unit_span(cal.shift(now, int(n), unit), unit) for n in (low, high))
    return DateStretch(near.start, far.stop, near.precision)


def thirded(prefix: str | None, span: DateStretch) -> DateStretch:
    """Apply "early", "the end of" … to a stretch."""
    if not prefix:
        return span
    word = re.sub(r"[\s-]+(?:in|of)?\s*$", "", prefix.lower()).split()[-1]
    named = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
    return cal.third_of(span, named.get(word, word))


def step_of(mod: str | None) -> int | None:
    """Which one "last", "this" or "next" picks, from the one at hand."""
    word = (mod or "").lower()
    if word.endswith(("last", "past", "previous")):
        return -1
    return 1 if word.endswith(("next", "following", "coming")) else 0 if word in ("this", "current") else None


def modded(mod: str | None, candidates: list[DateStretch], now: Now) -> DateStretch | None:
    """Pick among yearly candidates by "last", "this", "next", else by tense and nearness."""
    step = step_of(mod)
    if step is None:
        return nearest(candidates, now)
    if step < 0:
        return next((c for c in reversed(candidates) if c.stop <= now.moment), None)
    if step > 0:
        return next((c for c in candidates if c.start > now.moment), None)
    return next((c for c in candidates if c.start.year == now.moment.year), None)


def weekend(moment: datetime, step: int, mod: str) -> DateStretch:
    """ "Last weekend" is over, "this weekend" is on or coming, "next" is the one after."""
    here = cal.unit_span(moment, "weekend")
    if mod.endswith("coming"):
        step = 0 if moment < here.start else 1
    return cal.unit_span(here.start + timedelta(weeks=step), "weekend")


def in_part(day: DateStretch, part: str | None) -> DateStretch:
    """A part of a day, if one is named."""
    return cal.part_of(day.start, part.lower()) if part else day


def pointed(now: Now, way: Pointed, anchor: datetime | None = None) -> Now:
    """The same moment, seen from one place of the text."""
    return msgspec.structs.replace(now, future=way.future, mild=way.mild, anchor=anchor)
