"""What every date expression is made of: stretches of the calendar, which way words point, the vocabulary of English.

Weeks begin on Monday, seasons are northern, by whole months; everything is naive local time, half-open. Words around a
date point ahead of the time said or behind it: by the word that leads to the date ("by Friday" is ahead, "back in May"
behind), then by the nearest verb of the sentence before the date, then after it.  A plan is ahead although its verb
ends in -ed ("was moved to Friday").  The lead also says what the date does: begin ("since") or end ("until") something.
Of words it is decided what "a few", "mid-", "last" and a year of two digits mean; the forms that use them are in
forms.py.

    unit_span(datetime(2023, 5, 10), "week") == DateStretch(8 May 2023, 15 May 2023, "week")
    Pointer("see you Thursday").at(8, 16, "weekday").future is True
    count_of("a few") == (2, 5)
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import Calendar
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import takewhile
from typing import Literal

import msgspec

# The calendar =========================================================================================

DAY = timedelta(days=1)
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
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
    if unit in MONTHS_IN:
        return add_months(moment, count * MONTHS_IN[unit])
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
    months = MONTHS_IN[unit]
    year, month = divmod((moment.year * 12 + moment.month - 1) // months * months, 12)
    return _from_month(year, month + 1, months, unit)


def _from_month(year: int, month: int, months: int, precision: str) -> DateStretch:
    start = datetime(year, month, 1)
    return DateStretch(start, add_months(start, months), precision)


def month_span(year: int, month: int) -> DateStretch:
    """A whole month."""
    return _from_month(year, month, 1, "month")


def year_span(year: int) -> DateStretch:
    """A whole year."""
    return _from_month(year, 1, 12, "year")


def season_of(year: int, name: str) -> DateStretch:
    """Three months; a winter is named after the year in which it begins."""
    return _from_month(year, SEASON_STARTS[name], 3, "season")


def slice_of(year: int, which: int, months: int) -> DateStretch:
    """The first, second … quarter or half of a year."""
    return _from_month(year, (which - 1) * months + 1, months, "half" if months == 6 else "quarter")


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
    days = Calendar().itermonthdates(year, month)
    found = [day for day in days if day.month == month and day.weekday() == weekday]
    return found[nth - (nth > 0)]


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


# Which way words point ================================================================================

Role = Literal["", "start", "end", "range"]


class Pointed(msgspec.Struct, frozen=True):
    """Where a date lies (None: nothing says), whether today will do, and what the date does."""

    future: bool | None = None
    mild: bool = False
    role: Role = ""


# What a word before a date says: the way, whether that outweighs the verb, and the role.
_Lead = tuple[bool | None, bool, Role]
_NO_LEAD: _Lead = (None, False, "")
_STARTING: _Lead = (True, False, "start")
_TABLE: list[tuple[str, _Lead]] = [
    ("since|ever since", (False, True, "start")),
    ("back in|back on|was|were|is from|are from|was from|were from", (False, True, "")),
    ("for|to|is|are|it's|that's", (True, True, "")),
    ("by|before", (True, False, "")),
    ("until|till|til|through|thru|up to|up until|直到|截至|截止|截止到", (True, False, "end")),
    ("starting|beginning|commencing", _STARTING),
    ("from|as of|effective|从|自|自从", (None, False, "start")),
]
_LEADS = {word: lead for words, lead in _TABLE for word in words.split("|")}
_MILD = ("is", "are", "it's", "that's")
_EVENTFUL = ("holiday", "season")  # "got it for Christmas", "went home for the summer"
_ENGLISH_LEADS = "|".join(sorted((w for w in _LEADS if w.isascii()), key=len, reverse=True))
_LEAD = re.compile(
    rf"(?<![\w'])(?P<w>{_ENGLISH_LEADS.replace(' ', chr(92) + 's+')})\s+"
    r"(?:(?:on|in|at|about|around|the|early|mid|late)\s+)*$"
    r"|(?P<h>自从?|从|直到|截至|截止到?)$",
    re.I,
)
_DIRECT = re.compile(r"\b(?:to|for)\s+(?:(?:the|early|mid|late)\s+)*$", re.I)
MOVED = re.compile(  # "we moved the call from Monday to Thursday" is no range
    r"\b(?:mov|push|postpon|reschedul|shift|chang|switch|delay|bump)(?:ed?)?\s+"
    r"(?:(?!to\b|and\b|in\b|at\b)[\w’']+\s+){0,4}from\s",
    re.I,
)
_LEANING = re.compile(r"(?:day|week|weekend|month|year|night|morning|evening|hour)s?\s+before\s", re.I)
_THING = re.compile(
    r"(?:(?P<p>[\w’']+)\s+)?\b(?:an?|the|my|our|your|his|her|their|its|this|that|these|those|some)\s+"
    r"(?P<n>(?:[\w’'-]+\s+){1,4})from\s+$|\b(?:is|are|was|were|it[’']s|that[’']s)\s+"
    r"(?:(?:all|also|just|mostly|only|probably|really|still)\s+)?from\s+$",
    re.I,
)
_RANGE = re.compile(r"\d\s*(?:to|until|till|through|-|–)\s*\d")
_PLACED = frozenset("at in for with as on to by near".split())
_CUE = re.compile(
    r"(?P<stop>[.!?](?=\s(?-i:[A-Z\"'(]))|[;\n。！？；])"
    r"|(?P<turn>,\s(?:and|but|so|while|which|because|though)\b)"
    r"|(?P<ahead>\b(?:(?:wants?|expects?|prefers?|would\s+like)|"
    r"(?:can|could|must|should|to)\s+(?:\w+\s+)?(?:have|get))\s+(?:it|them|this|that|everything|"
    r"(?:the|my|our|his|her|their|all)\s+\w+(?:\s+\w+)?)\s+\w{3,}ed\b"
    r"|\b(?:will(?:\s+have\s+\w+)?|shall|won[’']t|gonna|gotta|going\s+to|plan(?:s|ning)?\s+(?:to|on|for)|planned|"
    r"scheduled|slated|supposed|upcoming|tomorrow|hop(?:e|ing)\s+to|look(?:ing)?\s+forward|"
    r"can[’']t\s+wait|let[’']s|due(?!\s+to)|thinking\s+(?:of|about\s+\w+ing)|wants?\s+to|needs?|ha(?:ve|s)\s+to|must|should|"
    r"(?:see|catch|meet|join)\s+(?:you|me|us)|remind|remember\s+to|don[’']t\s+forget|please|"
    r"can\s+(?:we|you|i)|could\s+(?:we|you|i)|would\s+(?:like|love)|departs|arrives|starts|begins|"
    r"opens|launches|ships|expires|ends|closes|returns|lands)\b|[’']ll\b"
    r"|\b(?:is|are|be)\s+(?:(?:not|also|now|still)\s+)?"
    r"(?:(?!interested|excited|tired|worried|used|based)\w{2,}ed|sent|paid|held|built|sold|made|kept)\b"
    r"|(?:\b(?:am|are|is)|[’'](?:m|re)|\b(?:he|she|it|that)[’']s)\s+(?:(?:not|also|now|still)\s+)?"
    r"(?:having|going|meeting|starting|flying|leaving|travel+ing|visiting|moving|hosting|throwing|getting|"
    r"taking|seeing|coming|attending|arriving|planning)\b|将|打算|计划|准备|预[定约订])"
    r"|(?P<weak>\b(?:deadline|appointment|appt|reservation|leaves)\b|截止)"
    r"|\A(?:closed|shut)\b|\b(?:hundred|indeed|speed|excited|interested|tired|worried|booked|reserved|arranged|"
    r"organi[sz]ed|confirmed|registered|invited|postponed|rescheduled|signed\s+up)\b"
    r"|(?P<behind>\b(?:(?:was|were)(?:\s+due)?|did|had|went|got|saw|met|took|made|came|bought|gave|ate|found|told|said|"
    r"left|began|ran|won|lost|felt|flew|drove|spent|been|broke|wrote|sent|paid|sold|taught|caught|"
    r"brought|heard|held|kept|knew|slept|spoke|stood|woke|wore|grew|fell|chose|built|became|rode|"
    r"\w{3,}ed)\b|(?<![为除])了(?!解)|曾)",
    re.I,
)
_REACH = 12  # so many cues on either side are looked at


class Pointer:
    """The cues of one text, found when the first date asks for them."""

    def __init__(self, text: str, told: bool | None = None) -> None:
        self._text, self._told = text, told
        self._cues: list[tuple[int, str]] | None = None

    def at(self, begin: int, end: int, form: str, follows: int = 0) -> Pointed:
        """What the words say of the date written at [begin, end); `follows` is where the last ended."""
        head = self._text[max(0, begin - 60) : begin].replace("’", "'")
        match = _LEAD.search(head)
        word = re.sub(r"\s+", " ", (match["w"] or match["h"]).lower()) if match else ""
        lead = _LEADS.get(word, _NO_LEAD)
        ranged = follows and self._text[follows:begin].strip().lower().startswith("to")
        ranged = ranged and not MOVED.search(self._text[max(0, follows - 60) : follows])
        if word in ("to", "for") and (ranged or not _DIRECT.search(head)):
            lead = _NO_LEAD  # the end of a range, "subscribed to in May"
        ranges = _RANGE.search(self._text[begin:end]) is not None
        if word == "from" and not ranges and is_of_a_thing(head):
            lead = (False, True, "")
        elif word == "from" and MOVED.search(head):
            lead = (None, True, "")
        elif word == "from" and form == "weekday":
            lead = _STARTING
        elif word == "before" and _LEANING.search(head):
            lead = _NO_LEAD
        return Pointed(self._way(begin, end, form, lead), word in _MILD, lead[2])

    def _way(self, begin: int, end: int, form: str, lead: _Lead) -> bool | None:
        if self._told is not None:
            return self._told
        future, firm, role = lead
        if firm and not (future and not role and form in _EVENTFUL):
            return future
        return future if (worded := self._worded(begin, end)) is None else worded

    def _worded(self, begin: int, end: int) -> bool | None:
        if self._cues is None:
            found = ((m.start(), m.lastgroup) for m in _CUE.finditer(self._text))
            self._cues = [(start, kind) for start, kind in found if kind]
        index = bisect_left(self._cues, (begin, ""))
        after = bisect_left(self._cues, (end, ""))
        kinds = [kind for _, kind in reversed(self._cues[max(0, index - _REACH) : index])]
        rest = [kind for _, kind in self._cues[after : after + _REACH]]
        seen = [*takewhile("stop".__ne__, kinds), *takewhile(lambda k: k not in ("stop", "turn"), rest)]
        seen = [kind for kind in seen if kind != "turn"]
        strong = next((kind for kind in seen if kind != "weak"), "")
        return True if strong == "ahead" or (seen and not strong) else False if strong else None


def is_of_a_thing(head: str) -> bool:
    """Whether words that end with "from" make what follows the origin of a thing ("a wine from")."""
    match = _THING.search(head)
    if match is None or (match["p"] or "").lower() in _PLACED:
        return False
    between = match["n"] or ""
    return not re.search(r"\b(?:t?here\b|and\b|(?:is|are)\s+\w)", between) and not any(
        m.lastgroup == "behind" for m in _CUE.finditer(between)
    )


# The vocabulary =======================================================================================


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
        return midnight(self.moment)


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
        start = of_date(date(in_year, month, first))
        if last is None:
            return start
        stop = of_date(date(in_year, month, last))
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
    near, far = (unit_span(shift(now, -int(n), unit), unit) for n in (low, high))
    return DateStretch(far.start, near.stop, near.precision)


def forwards(now: datetime, low: float, high: float, unit: str) -> DateStretch:
    """The calendar unit a number of units ahead."""
    near, far = (unit_span(shift(now, int(n), unit), unit) for n in (low, high))
    return DateStretch(near.start, far.stop, near.precision)


def thirded(prefix: str | None, span: DateStretch) -> DateStretch:
    """Apply "early", "the end of" … to a stretch."""
    if not prefix:
        return span
    word = re.sub(r"[\s-]+(?:in|of)?\s*$", "", prefix.lower()).split()[-1]
    named = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
    return third_of(span, named.get(word, word))


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
    here = unit_span(moment, "weekend")
    if mod.endswith("coming"):
        step = 0 if moment < here.start else 1
    return unit_span(here.start + timedelta(weeks=step), "weekend")


def in_part(day: DateStretch, part: str | None) -> DateStretch:
    """A part of a day, if one is named."""
    return part_of(day.start, part.lower()) if part else day


def pointed(now: Now, way: Pointed, anchor: datetime | None = None) -> Now:
    """The same moment, seen from one place of the text."""
    return msgspec.structs.replace(now, future=way.future, mild=way.mild, anchor=anchor)
