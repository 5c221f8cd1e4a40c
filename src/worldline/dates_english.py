"""English date expressions: one table of forms, each a pattern and the rule that resolves it.

Decides what a single expression means ("last Friday", "mid-June", "3rd of May 2023"), not how
neighbouring expressions combine (that is dates.py) and not which time zone applies.

    list(scan("see you next month", Now(datetime(2023, 5, 7)))) finds June 2023.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

import msgspec

from worldline import dates_calendar as cal
from worldline.dates_calendar import Stretch
from worldline.dates_words import (
    ANY_WEEKDAY,
    CLOCK,
    HOLIDAY,
    LONG_MONTH,
    MOD,
    MONTH,
    MONTHS,
    NUM,
    NUMBERS,
    PART,
    SEASON,
    THIRD,
    UNIT,
    VAGUE,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    Found,
    Now,
    backwards,
    count_of,
    forwards,
    modded,
    month_day,
    nearest,
    over_years,
    thirded,
    unit_of,
    weekend,
    year_of,
)
from worldline.wordlists import word_set

Rule = Callable[["re.Match[str]", Now], Stretch | None]
FORMS: list[tuple[str, str, Rule]] = []


def form(name: str, pattern: str) -> Callable[[Rule], Rule]:
    """Register a rule for a pattern; earlier forms win where two begin at the same character."""

    def register(rule: Rule) -> Rule:
        FORMS.append((name, pattern, rule))
        return rule

    return register


@form(
    "iso",
    r"\d{4}-\d{2}-\d{2}T?(?:[\sT]?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?",
)
def _iso(match: re.Match[str], now: Now) -> Stretch | None:
    text = match.group().strip()
    if len(text) <= 11:
        return cal.of_date(date.fromisoformat(text[:10]))
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        elsewhere = moment.utcoffset() or timedelta()
        moment = moment.replace(tzinfo=None) - elsewhere + now.offset
    unit = "second" if text.count(":") > 1 else "minute"
    return cal.unit_span(moment, unit)


@form("ymd", r"(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})\b")
def _ymd(match: re.Match[str], now: Now) -> Stretch | None:
    return cal.of_date(date(int(match["y"]), int(match["m"]), int(match["d"])))


@form("year-month", r"(?P<y>(?:19|20)\d{2})[-/](?P<m>0[1-9]|1[0-2])(?![\d-])")
def _year_month(match: re.Match[str], now: Now) -> Stretch | None:
    return cal.month_of(int(match["y"]), int(match["m"]))


@form("numeric", r"(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4}|\d{2})\b")
def _numeric(match: re.Match[str], now: Now) -> Stretch | None:
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    day_first = now.day_first or match["sep"] == "." or first > 12
    month, day = (second, first) if day_first and second <= 12 else (first, second)
    return cal.of_date(date(year, month, day))


@form(
    "day-month",
    rf"(?:{ANY_WEEKDAY},?\s+)?(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?:\s*(?:-|–|to)\s*(?P<e>\d{{1,2}})(?:st|nd|rd|th)?)?\s+(?:of\s+)?(?P<m>{MONTH})"
    rf"(?:,?\s+(?:of\s+)?(?P<y>{YEAR}))?",
)
@form(
    "month-day",
    rf"(?:{ANY_WEEKDAY},?\s+)?(?P<m>{MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?![\d:]|\s?[ap]\.?m\b|\s+(?:times|people|days|weeks|months|years|hours))"
    rf"(?:\s*(?:-|–|to)\s*(?P<e>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]))?(?:,?\s+(?P<y>{YEAR}))?",
)
def _month_day(match: re.Match[str], now: Now) -> Stretch | None:
    month = MONTHS[match["m"].lower().rstrip(".")]
    last = int(match["e"]) if match["e"] else None
    return month_day(match["y"], month, int(match["d"]), last, now)


@form("month-year", rf"(?P<t>{THIRD})?(?P<m>{MONTH}),?\s+(?:of\s+)?(?P<y>{YEAR})")
def _month_year(match: re.Match[str], now: Now) -> Stretch | None:
    year = year_of(match["y"]) or 0
    return thirded(match["t"], cal.month_of(year, MONTHS[match["m"].lower().rstrip(".")]))


@form("season-year", rf"(?P<t>{THIRD})?(?:the\s+)?(?P<s>{SEASON})\s+(?:of\s+)?(?P<y>{YEAR})")
def _season_year(match: re.Match[str], now: Now) -> Stretch | None:
    return thirded(match["t"], cal.season_of(year_of(match["y"]) or 0, match["s"].lower()))


@form("quarter", r"Q(?P<q>[1-4])(?:\s+(?:of\s+)?(?P<y>(?:19|20)\d{2}))?\b")
def _quarter(match: re.Match[str], now: Now) -> Stretch | None:
    year = int(match["y"] or now.moment.year)
    return cal.unit_span(datetime(year, 3 * int(match["q"]) - 2, 1), "quarter")


@form("decade", r"(?:the\s+)?(?P<t>early|mid|late)?[\s-]*(?P<y>(?:18|19|20)\d0|[’']\d0)s\b")
def _decade(match: re.Match[str], now: Now) -> Stretch | None:
    return thirded(match["t"], cal.unit_span(datetime(year_of(match["y"]) or 1, 1, 1), "decade"))


@form("holiday", rf"(?:(?P<mod>{MOD})\s+)?(?P<h>{HOLIDAY})(?:,?\s+(?:of\s+)?(?P<y>{YEAR}))?")
def _holiday(match: re.Match[str], now: Now) -> Stretch | None:
    name = re.sub(r"\s+", " ", match["h"].lower().replace("’", "'"))
    name = re.sub(r"^(?:the )?(?:4th|fourth) of july$", "independence day", name)
    name = re.sub(r"^(mother|father|valentine)s", r"\1's", name).removesuffix("'")
    name = re.sub(r"^new years", "new year's", name).replace("new year eve", "new year's eve")
    name = {"valentine's": "valentine's day", "st patrick's day": "st. patrick's day"}.get(name, name)
    if match["y"]:
        return cal.holiday_of(year_of(match["y"]) or 1, name)
    return modded(match["mod"], over_years(lambda y: cal.holiday_of(y, name), now), now)


@form(
    "beyond",
    r"the\s+(?P<u>day|night|week|weekend|month|year)\s+(?P<w>before\s+(?:last|"
    r"yesterday)|after\s+(?:next|tomorrow))\b",
)
def _beyond(match: re.Match[str], now: Now) -> Stretch | None:
    sign = -2 if match["w"].lower().startswith("before") else 2
    unit = match["u"].lower()
    if unit == "night":
        return cal.part_of(cal.shift(now.moment, sign, "day"), "night")
    return cal.unit_span(cal.shift(now.moment, sign, unit), unit)


@form(
    "ago",
    rf"(?:(?:about|around|almost|nearly|over|roughly|just|maybe|"
    rf"like)\s+)?(?P<n>{NUM})\s+(?P<u>{UNIT})(?P<half>\s+and\s+a\s+half)?\s+(?P<w>ago|"
    rf"back|earlier|prior)\b(?P<t>\s+today)?",
)
def _ago(match: re.Match[str], now: Now) -> Stretch | None:
    low, high = count_of(match["n"])
    if match["half"]:
        low, high = low + 0.5, high + 0.5
    from_anchor = match["w"].lower() in ("earlier", "prior") and now.anchor
    start = now.anchor if from_anchor and now.anchor else now.moment
    if match["t"]:
        return cal.unit_span(cal.shift(start, -int(low), unit_of(match["u"])), "day")
    return backwards(start, low, high, unit_of(match["u"]))


@form(
    "hence",
    rf"(?P<n>{NUM})\s+(?P<u>{UNIT})\s+(?P<w>from\s+(?:now|today|tomorrow)|later|"
    rf"after\s+that|hence)\b",
)
@form(
    "in",
    rf"in\s+(?:about\s+|around\s+|"
    rf"just\s+)?(?P<n>{NUM})\s+(?P<u>{UNIT})(?:\s*[’']?\s*time)?\b(?!\s+of\b)(?P<w>)",
)
def _hence(match: re.Match[str], now: Now) -> Stretch | None:
    word = (match["w"] or "").lower()
    if not word and now.future is False:
        return None  # "finished it in two weeks" is a duration
    low, high = count_of(match["n"])
    start = now.moment
    if word.startswith(("later", "after")):
        start = now.anchor or start
    if word.endswith("tomorrow"):
        start += cal.DAY
    return forwards(start, low, high, unit_of(match["u"]))


@form(
    "window",
    rf"(?:(?:in|over|for|during|within|throughout)\s+)?(?:the\s+)?(?P<w>past|last|"
    rf"previous|next|coming|following)\s+(?P<n>{NUM})\s+(?P<u>{UNIT})\b",
)
@form(
    "rolling",
    r"(?:(?:in|over|for|during|within|throughout)\s+)(?:the\s+|this\s+)?(?P<w>past|"
    r"last)(?P<n>\s+)(?P<u>day|week|month|year|decade)\b",
)
def _window(match: re.Match[str], now: Now) -> Stretch | None:
    count = int(count_of(match["n"])[1]) if match["n"].strip() else 1
    unit = unit_of(match["u"])
    exact = unit in ("hour", "minute", "second")
    if match["w"].lower() in ("past", "last", "previous"):
        start = cal.shift(now.moment, -count, unit)
        return Stretch(start if exact else cal.midnight(start), now.moment, unit)
    stop = cal.shift(now.moment, count, unit)
    return Stretch(now.moment, stop if exact else cal.midnight(stop) + cal.DAY, unit)


@form(
    "sofar",
    r"(?P<w>earlier|later)\s+(?P<p>this|that|last)\s+(?P<u>week|month|year|day|"
    r"morning)|(?P<x>earlier|later)\s+today",
)
def _sofar(match: re.Match[str], now: Now) -> Stretch | None:
    unit = (match["u"] or "day").lower()
    if unit == "morning":
        return cal.part_of(now.moment, "morning")
    back = -1 if (match["p"] or "").lower() == "last" else 0
    whole = cal.unit_span(cal.shift(now.moment, back, unit), unit)
    if back:
        return thirded(match["w"].replace("earlier", "early").replace("later", "late"), whole)
    if (match["w"] or match["x"]).lower() == "earlier":
        return Stretch(whole.start, now.moment, whole.precision)
    return Stretch(now.moment, whole.stop, whole.precision)


@form(
    "mod-unit",
    rf"(?:(?P<t>{THIRD}))?(?:the\s+|on\s+)?(?P<mod>{MOD})\s+(?P<u>day|week(?:end)?|"
    rf"month|quarter|year|decade|century|{PART})\b",
)
def _mod_unit(match: re.Match[str], now: Now) -> Stretch | None:
    unit, mod = match["u"].lower(), match["mod"].lower()
    step = 0
    if mod in ("last", "past", "previous") or mod.endswith("past"):
        step = -1
    elif mod in ("next", "following", "coming", "upcoming") or mod.endswith("coming"):
        step = 1
    start = (now.anchor or now.moment) if mod in ("following", "previous") else now.moment
    if unit == "weekend":
        return thirded(match["t"], weekend(start, step, mod))
    if unit in ("morning", "afternoon", "evening", "night"):
        return cal.part_of(cal.shift(start, step, "day"), unit)
    return thirded(match["t"], cal.unit_span(cal.shift(start, step, unit), unit))


@form("mod-weekday", rf"(?:on\s+)?(?:the\s+)?(?P<mod>{MOD})\s+(?P<d>{WEEKDAY})(?:\s+(?P<p>{PART}))?\b")
def _mod_weekday(match: re.Match[str], now: Now) -> Stretch | None:
    weekday, mod = WEEKDAYS[match["d"].lower()], match["mod"].lower()
    if mod in ("last", "past", "previous") or mod.endswith("past"):
        found = cal.weekday_before(now.today, weekday)
    elif mod in ("this", "current"):
        found = cal.unit_span(now.today + cal.DAY * (weekday - now.today.weekday()), "day")
        if found.stop <= now.today and now.future is not False:
            found = cal.weekday_after(now.today, weekday)
    else:
        found = cal.weekday_after(now.today, weekday)
    return cal.part_of(found.start, match["p"].lower()) if match["p"] else found


@form(
    "weekday-week",
    rf"(?:on\s+)?(?P<d>{WEEKDAY})(?:\s+(?P<p>{PART}))?\s+(?:of\s+)?(?P<mod>last|this|"
    rf"next)\s+week\b",
)
def _weekday_week(match: re.Match[str], now: Now) -> Stretch | None:
    step = {"last": -1, "this": 0, "next": 1}[match["mod"].lower()]
    week = cal.unit_span(now.today + cal.DAY * 7 * step, "week")
    day = week.start + cal.DAY * WEEKDAYS[match["d"].lower()]
    return cal.part_of(day, match["p"].lower()) if match["p"] else cal.unit_span(day, "day")


@form("mod-month", rf"(?P<t>{THIRD})?(?P<mod>{MOD})\s+(?:year\s+in\s+)?(?P<m>{LONG_MONTH})\b(?!\s+\d)")
def _mod_month(match: re.Match[str], now: Now) -> Stretch | None:
    number = MONTHS[match["m"].lower()]
    found = modded(match["mod"], over_years(lambda y: cal.month_of(y, number), now), now)
    return thirded(match["t"], found) if found else None


@form("mod-season", rf"(?P<t>{THIRD})?(?P<mod>{MOD})\s+(?P<s>{SEASON})\b")
def _mod_season(match: re.Match[str], now: Now) -> Stretch | None:
    name = match["s"].lower()
    found = modded(match["mod"], over_years(lambda y: cal.season_of(y, name), now), now)
    return thirded(match["t"], found) if found else None


@form(
    "month-rel-year",
    rf"(?:in\s+)?(?P<t>{THIRD})?(?P<m>{LONG_MONTH})\s+(?:of\s+)?(?P<mod>last|this|"
    rf"next)\s+year\b",
)
def _month_rel_year(match: re.Match[str], now: Now) -> Stretch | None:
    year = now.moment.year + {"last": -1, "this": 0, "next": 1}[match["mod"].lower()]
    return thirded(match["t"], cal.month_of(year, MONTHS[match["m"].lower()]))


@form(
    "day-name",
    rf"(?:(?P<n>yesterday|today|tomorrow)(?:\s+(?P<p>{PART}))?|(?P<tonight>tonight)|"
    rf"(?P<o>the\s+other\s+(?:day|night|week)))\b(?![’']s\s+(?:world|society|age))",
)
def _day_name(match: re.Match[str], now: Now) -> Stretch | None:
    if match["tonight"]:
        return cal.part_of(now.today, "evening")
    if match["o"]:
        week = match["o"].lower().endswith("week")
        return Stretch(now.today - cal.DAY * (21 if week else 7), now.today, "week")
    step = {"yesterday": -1, "today": 0, "tomorrow": 1}[match["n"].lower()]
    day = now.today + cal.DAY * step
    return cal.part_of(day, match["p"].lower()) if match["p"] else cal.unit_span(day, "day")


@form(
    "next-day",
    r"(?:the\s+)(?P<w>next|following|same)\s+(?P<u>day|morning|evening|night|week|"
    r"month|year)\b",
)
def _next_day(match: re.Match[str], now: Now) -> Stretch | None:
    start, unit = now.anchor or now.moment, match["u"].lower()
    step = 0 if match["w"].lower() == "same" else 1
    moved = cal.shift(start, step, unit)
    if unit in ("morning", "evening", "night"):
        return cal.part_of(moved, unit)
    return cal.unit_span(moved, unit)


@form("weekday", rf"(?:on\s+)?(?P<d>{WEEKDAY})(?:\s+(?P<p>{PART}))?\b(?![’']s\b)")
def _weekday(match: re.Match[str], now: Now) -> Stretch | None:
    weekday = WEEKDAYS[match["d"].lower()]
    if weekday == now.today.weekday() and now.future is None:
        found = cal.unit_span(now.today, "day")
    elif now.future:
        found = cal.weekday_after(now.today, weekday)
    else:
        found = cal.weekday_before(now.today, weekday)
    return cal.part_of(found.start, match["p"].lower()) if match["p"] else found


_AFTER_PREPOSITION = "".join(
    f"(?<={word} )|"
    for word in [
        "in",
        "since",
        "until",
        "till",
        "during",
        "by",
        "from",
        "of",
        "year",
        "around",
        "before",
        "after",
        "early",
        "mid",
        "late",
        "circa",
        "between",
        "and",
        "to",
        "through",
        "for",
        "about",
        "early in",
        "late in",
    ]
).rstrip("|")


@form(
    "year",
    rf"(?P<t>{THIRD})?(?:{_AFTER_PREPOSITION}|(?<=[-–(]))(?P<y>(?:18|19|"
    rf"20)\d{{2}})(?![\d%:,]\d|\s+(?:people|dollars|words|steps|calories|miles|km|pages|"
    rf"points|users|lines|feet|pounds|euros|items))\b",
)
def _year(match: re.Match[str], now: Now) -> Stretch | None:
    return thirded(match["t"], cal.year_of(int(match["y"])))


@form(
    "month",
    rf"(?:(?P<t>{THIRD})|{_AFTER_PREPOSITION})(?P<m>{LONG_MONTH})\b(?!\s+(?:be|have|I|"
    rf"you|not|madness)\b)",
)
def _month(match: re.Match[str], now: Now) -> Stretch | None:
    number = MONTHS[match["m"].lower()]
    found = nearest(over_years(lambda y: cal.month_of(y, number), now), now)
    return thirded(match["t"], found)


@form(
    "season",
    rf"(?:(?<=in the )|(?<=during the )|(?<=since the )|(?<=over the )|(?<=in )|"
    rf"(?P<t>(?:early|mid|late)[\s-]))(?P<s>{SEASON})\b(?!\s+(?:in\s+)?love)",
)
def _season(match: re.Match[str], now: Now) -> Stretch | None:
    name = match["s"].lower()
    found = nearest(over_years(lambda y: cal.season_of(y, name), now), now)
    return thirded(match["t"], found)


@form(
    "monthday",
    r"(?:(?<=on )|(?<=by )|(?<=until )|(?<=since )|(?<=from )|(?<=before )|(?<=after "
    r"))the\s+(?P<d>\d{1,2})(?:st|nd|rd|th)(?=\s*(?:[.,;!?)]|$|(?:at|and|for|to|with|"
    r"so|but|because|when)\b))",
)
def _monthday(match: re.Match[str], now: Now) -> Stretch | None:
    found = []
    for step in (-1, 0, 1):
        first = cal.shift(now.today.replace(day=1), step, "month")
        if int(match["d"]) <= (cal.add_months(first, 1) - first).days:
            found.append(cal.unit_span(first.replace(day=int(match["d"])), "day"))
    return nearest(found, now) if found else None


@form("clock", rf"(?:at\s+)?(?:about\s+|around\s+)?(?P<c>{CLOCK})")
def _clock(match: re.Match[str], now: Now) -> Stretch | None:
    text = match["c"].lower().replace(".", "")
    named = {"noon": "12:00", "midnight": "0:00"}
    text = named.get(text, text)
    if text.startswith("half"):
        hour = NUMBERS.get(text.split()[-1], 24)
        text = f"{hour}:30"
    digits = re.findall(r"\d+", text)
    hour, minute = int(digits[0]), int(digits[1]) if len(digits) > 1 else 0
    if text.endswith("pm") and hour < 12:
        hour += 12
    if text.endswith("am") and hour == 12:
        hour = 0
    if hour > 24 or minute > 59:
        return None
    start = now.today + timedelta(hours=hour, minutes=minute)
    unit = "minute" if len(digits) > 1 else "hour"
    return Stretch(start, start + timedelta(minutes=1 if unit == "minute" else 60), unit)


_RULES = {name: (re.compile(pattern, re.I), rule) for name, pattern, rule in FORMS}
_GROUPED = re.compile(r"\(\?P<[a-z]+>")
_REFERENCES = {"(?P=sep)": "[/.-]"}


def _master() -> re.Pattern[str]:
    parts = []
    for name, pattern, _ in FORMS:
        plain = _GROUPED.sub("(?:", pattern)
        for reference, replacement in _REFERENCES.items():
            plain = plain.replace(reference, replacement)
        parts.append(f"(?P<{name.replace('-', '_')}>{plain})")
    return re.compile(r"(?<![\w/.$€£#-])(?:" + "|".join(parts) + ")", re.I)


_MASTER = _master()
_REPEATED = re.compile(r"\b(?:every|each|most|any|all)\s+(?:\w+\s+)?(?:on\s+)?$", re.I)
_TOKEN = re.compile(r"[A-Za-z]+\d?|\d+")
_LETTERS = re.compile(r"[a-z]+")
_DIGIT = re.compile(r"\d")
TRIGGERS = (
    frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | word_set(
        "yesterday today tomorrow tonight ago last next past previous second seconds week weeks "
        "weekend weekends month months year years day days night nights spring summer autumn fall "
        "winter christmas halloween easter thanksgiving valentine valentines independence noon "
        "midnight later earlier since morning afternoon evening clock hour hours hr hrs minute "
        "minutes min mins eve quarter decade q1 q2 q3 q4 coming century"
    )
)
_STARTERS = (
    TRIGGERS
    | frozenset(NUMBERS)
    | frozenset(VAGUE)
    | word_set(
        "the in on over for during within throughout this following current upcoming "
        "early mid late "
        "beginning start middle end about around almost nearly roughly just maybe like couple half at "
        "new st mother mothers father fathers labor memorial boxing fourth"
    )
)


def might_hold(text: str) -> bool:
    """A quick look that spares most sentences the grammar."""
    return _DIGIT.search(text) is not None or not TRIGGERS.isdisjoint(_LETTERS.findall(text.lower()))


def candidates(text: str) -> list[int]:
    """Where an expression could begin: at or a few words before a word that only dates use."""
    tokens = [(m.start(), m.group().lower()) for m in _TOKEN.finditer(text)]
    wanted: set[int] = set()
    for index, (_, word) in enumerate(tokens):
        reach = 3 if word[0].isdigit() else 7 if word in TRIGGERS else 0
        if reach:
            wanted.update(range(max(0, index - reach), index + 1))
    starts = ((tokens[i][0], tokens[i][1]) for i in sorted(wanted))
    return [begin for begin, word in starts if word in _STARTERS or word[0].isdigit()]


def scan(text: str, now: Now) -> Iterator[Found]:
    """Every expression from left to right; later ones may lean on earlier ones."""
    anchor, position = now.anchor, 0
    for begin in candidates(text):
        match = _MASTER.match(text, begin) if begin >= position else None
        if match is None:
            continue
        name = (match.lastgroup or "").replace("_", "-")
        if name == "weekday" and _REPEATED.search(text[max(0, begin - 16) : begin]):
            continue
        here = msgspec.structs.replace(now, anchor=anchor) if anchor else now
        found = _resolve(name, text, begin, here)
        if found is not None:
            yield found
            anchor = found.span.start if found.kind != "clock" else anchor
            position = found.end


def _resolve(name: str, text: str, begin: int, now: Now) -> Found | None:
    pattern, rule = _RULES[name]
    match = pattern.match(text, begin)
    if match is None:
        return None
    try:
        span = rule(match, now)
    except (ValueError, OverflowError, KeyError):
        return None
    if span is None:
        return None
    dated = "y" in match.re.groupindex and match["y"]
    yearless = name in ("month", "day-month", "month-day") and not dated
    return Found(begin, match.end(), span, name, yearless)
