"""Date expressions in English and Chinese: what each one means, and the scanners that find them.

Decides what a single expression means ("last Friday", "mid-June", 上周五, 三天前), not how neighbouring expressions
combine and not which time zone applies. English is one table of forms, each a pattern and the rule that resolves it;
its scanner keeps the time linear: only a few words before a word that dates use are tried, and each with one pattern
made of all forms. Chinese expressions may have a part of the day or a clock behind them.

    "next month", said on 7 May 2023, is June 2023.
    list(scan_chinese("上周五见过他", Now(datetime(2023, 5, 10)))) finds 5 May 2023.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import cache

from worldline.dates import words as w
from worldline.dates.words import DateStretch, FoundDate, Now, Pointed, Pointer
from worldline.text import word_set

Rule = Callable[["re.Match[str]", w.Now], DateStretch | None]
FORMS: list[tuple[str, str, Rule]] = []


def form(name: str, pattern: str) -> Callable[[Rule], Rule]:
    """Register a rule for a pattern; earlier forms win where two begin at the same character."""

    def register(rule: Rule) -> Rule:
        FORMS.append((name, pattern, rule))
        return rule

    return register


def _yearly(match: re.Match[str], make: Callable[[int], DateStretch], now: w.Now) -> DateStretch | None:
    """What happens once a year, in the year written (`y`), in "last year" (`rel`), or in the one meant."""
    groups = match.groupdict()
    step = w.step_of(groups.get("rel"))
    year = w.year_of(groups.get("y")) if step is None else now.moment.year + step
    found = make(year) if year else w.modded(groups.get("mod"), w.over_years(make, now), now)
    return w.thirded(groups.get("t"), found) if found else None


@form("iso", r"\d{4}-\d{2}-\d{2}T?(?:[\sT]?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?")
def _iso(match: re.Match[str], now: w.Now) -> DateStretch | None:
    text = match.group().strip()
    if len(text) <= 11:
        return w.of_date(date.fromisoformat(text[:10]))
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(now.zone).replace(tzinfo=None)
    return w.unit_span(moment, "second" if text.count(":") > 1 else "minute")


@form("ymd", r"(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})\b")
def _ymd(match: re.Match[str], now: w.Now) -> DateStretch | None:
    return w.of_date(date(int(match["y"]), int(match["m"]), int(match["d"])))


@form("month-slash-year", r"(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d{2})(?![\d/])")
@form("year-month", r"(?P<y>(?:19|20)\d{2})[-/](?P<m>0[1-9]|1[0-2])(?![\d-])")
def _year_month(match: re.Match[str], now: w.Now) -> DateStretch | None:
    return w.month_span(int(match["y"]), int(match["m"]))


@form("numeric", r"(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P<end>[/.-])(?P<y>\d{4}|\d{2})\b")
def _numeric(match: re.Match[str], now: w.Now) -> DateStretch | None:
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    if match["sep"] != match["end"]:
        return None
    year += 0 if year >= 100 else 2000 if year < 70 else 1900
    day_first = match["sep"] == "." or first > 12
    month, day = (second, first) if day_first and second <= 12 else (first, second)
    return w.of_date(date(year, month, day))


_TO = r"\s*(?:-|–|—|to|through|thru|till|until)\s*"
_DAY_MONTH_END = rf"(?:of\s+)?(?P<m>{w.MONTH})(?:,?[\s-]+(?:of\s+)?(?P<y>{w.YEAR}))?"


@form(
    "between-days",
    rf"between\s+(?:the\s+)?(?P<d>\d{{1,2}}){w.TH}?\s+and\s+(?:the\s+)?(?P<e>\d{{1,2}}){w.TH}?\s+{_DAY_MONTH_END}",
)
@form(
    "day-month",
    rf"(?:(?P<w>{w.ANY_WEEKDAY}),?\s+)?(?:the\s+)?(?P<d>\d{{1,2}}|(?:{'|'.join(w.ORDINALS)})(?=\s+of\s)){w.TH}?"
    rf"(?:{_TO}(?:the\s+)?(?P<e>\d{{1,2}}){w.TH}?)?[\s-]+{_DAY_MONTH_END}",
)
@form(
    "month-day",
    rf"(?:(?P<w>{w.ANY_WEEKDAY}),?\s+)?(?P<m>{w.MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}){w.TH}?"
    rf"(?![\d:]|\s?[ap]\.?m\b|\s+(?:times|people|days|weeks|months|years|hours))"
    rf"(?:{_TO}(?P<e>\d{{1,2}}){w.TH}?(?![\d:]))?(?:,?\s+(?P<y>{w.YEAR}))?",
)
def _month_day(match: re.Match[str], now: w.Now) -> DateStretch | None:
    month, day = w.month_of(match["m"]), match["d"].lower()
    days = (w.ORDINALS.get(day) or int(day), int(match["e"]) if match["e"] else None)
    return w.month_day(match["y"], month, days, w.weekday_of(match.groupdict().get("w")), now)


@form("months", rf"(?P<m>{w.MONTH}){_TO}(?P<e>{w.MONTH})(?:,?\s+(?P<y>{w.YEAR}))?")
def _months(match: re.Match[str], now: w.Now) -> DateStretch | None:
    first, last = w.month_of(match["m"]), w.month_of(match["e"])

    def make(year: int) -> DateStretch:
        start = w.month_span(year - (first > last), first).start
        return DateStretch(start, w.month_span(year, last).stop, "month")

    return _yearly(match, make, now)


@form("monthday-of", rf"(?:the\s+)?(?P<d>\d{{1,2}}){w.TH}\s+of\s+(?P<mod>last|this|the|next)\s+month\b")
@form(
    "monthday",
    rf"(?:(?:on\s+)?(?P<w>{w.WEEKDAY}),?\s+(?:the\s+)?|^(?=the\s+\d+{w.TH}\s*(?:$|works\b|suits\b))the\s+|"
    r"(?:(?<=on )|(?<=by )|(?<=until )|(?<=till )|(?<=since )|(?<=from )|(?<=before )|(?<=after )|(?<=for )|"
    rf"(?<=through )|(?<=to ))the\s+)(?P<d>\d{{1,2}}){w.TH}(?=\s*(?:[.,;!?)]|$|(?:at|and|for|to|with|so|but|because|"
    r"when|is|was|works|suits|we|i|he|she|they|it|you|in|if|or|too|instead|as|my)\b))",
)
def _monthday(match: re.Match[str], now: w.Now) -> DateStretch | None:
    groups, day = match.groupdict(), int(match["d"])
    step = w.step_of(groups.get("mod"))
    weekday, found = w.weekday_of(groups.get("w")), []
    reach = 2 if weekday is None else 14
    for months in [step] if step is not None else range(-reach, reach + 1):
        first = w.add_months(now.today.replace(day=1), months)
        if 1 <= day <= (w.add_months(first, 1) - first).days:
            found.append(w.unit_span(first.replace(day=day), "day"))
    return w.nearest(w.fitting(found, weekday), now) if found else None


_PREPOSITIONS = word_set(
    "in since until till during by from of year around before after early mid late circa between and to "
    "through for about starting beginning effective"
)
_AFTER_PREPOSITION = "|".join(f"(?<={word} )" for word in sorted(_PREPOSITIONS))


@form(
    "month",
    rf"(?:(?P<t>{w.THIRD})|{_AFTER_PREPOSITION})(?P<m>{w.LONG_MONTH})\b(?!\s+(?:be|have|not|madness)\b)",
)
@form("mod-month", rf"(?P<t>{w.THIRD})?(?P<mod>{w.MOD})\s+(?:year\s+in\s+)?(?P<m>{w.LONG_MONTH})\b(?!\s+\d)")
@form(
    "month-of",
    rf"(?:in\s+)?(?P<t>{w.THIRD})?(?P<m>{w.LONG_MONTH})\s+(?:of\s+)?(?P<rel>last|this|next)\s+year\b",
)
@form("month-year", rf"(?P<t>{w.THIRD})?(?P<m>{w.MONTH}),?\s+(?:of\s+)?(?P<y>{w.YEAR})")
def _month(match: re.Match[str], now: w.Now) -> DateStretch | None:
    groups, number = match.groupdict(), w.month_of(match["m"])
    verb = match["m"] in ("may", "march") and not any(groups.get(name) for name in ("t", "y", "mod", "rel"))
    if verb and re.search(
        r"\b(?:and|to|for|of)\s$", match.string[max(0, match.start() - 5) : match.start()], re.I
    ):
        return None  # "and may I", "to march"
    return _yearly(match, lambda year: w.month_span(year, number), now)


@form(
    "season",
    r"(?:(?<=in the )|(?<=during the )|(?<=since the )|(?<=over the )|(?<=through the )|(?<=for the )|"
    rf"(?<=until )|(?<=by )|(?<=in )|(?P<t>(?:early|mid|late)[\s-]))(?P<s>{w.SEASON})\b(?!\s+(?:in\s+)?love)",
)
@form("mod-season", rf"(?P<t>{w.THIRD})?(?P<mod>{w.MOD})\s+(?P<s>{w.SEASON})\b")
@form("season-year", rf"(?P<t>{w.THIRD})?(?:the\s+)?(?P<s>{w.SEASON})\s+(?:of\s+)?(?P<y>{w.YEAR})")
def _season(match: re.Match[str], now: w.Now) -> DateStretch | None:
    return _yearly(match, lambda year: w.season_of(year, match["s"].lower()), now)


@form("half-year", rf"H(?P<o>[12])[\s/-]*(?:of\s+)?(?P<y>{w.YEAR})")
@form(
    "quarter",
    rf"Q(?P<o>[1-4])\b(?:[\s/-]*(?:of\s+)?(?P<y>{w.YEAR})|\s+(?:of\s+)?(?P<rel>last|this|next)\s+year\b)?",
)
@form(
    "slice",
    rf"(?:the\s+)?(?P<o>first|second|third|fourth|last|final|[1-4]{w.TH})\s+(?P<u>quarter|half)\s+of\s+"
    rf"(?:(?P<y>{w.YEAR})|(?P<rel>last|this|next)\s+year\b|the\s+year\b)",
)
def _slice(match: re.Match[str], now: w.Now) -> DateStretch | None:
    groups, order = match.groupdict(), match["o"].lower()
    months = 6 if match.group()[0] in "Hh" or (groups.get("u") or "").lower() == "half" else 3
    which = int(order[0]) if order[0].isdigit() else w.ORDINALS.get(order, 12 // months)
    this_year = now.future is None and not match["y"] and not groups.get("rel")
    here = w.slice_of(now.moment.year, which, months)
    return here if this_year else _yearly(match, lambda year: w.slice_of(year, which, months), now)


@form("decade", r"(?:the\s+)?(?P<t>early|mid|late)?[\s-]*(?P<y>(?:18|19|20)\d0|[’']\d0)s\b")
@form("named-decade", rf"the\s+(?:(?P<t>early|mid|late)[\s-]+)?(?P<y>[3-9]0s|{'|'.join(w.DECADES)})\b")
def _decade(match: re.Match[str], now: w.Now) -> DateStretch | None:
    word = match["y"].lower()
    tens = w.DECADES.get(word) or (int(word[0]) if word.endswith("s") else 0)
    year = 1900 + 10 * tens if tens else w.year_of(word) or 1
    return w.thirded(match["t"], w.unit_span(datetime(year, 1, 1), "decade"))


_HOLIDAY_THINGS = (
    r"(?!\s+(?:tree|part(?:y|ies)|presents?|gifts?|cards?|markets?|songs?|music|movies?|lights|shopping|"
    r"decorations?|cookies|costumes?|eggs?|bunny|sales?|resolutions?|carols?|spirit|stockings?|candy|sweaters?)\b)"
)


@form(
    "holiday",
    rf"(?:(?P<mod>{w.MOD})\s+)?(?P<h>{w.HOLIDAY})\b{_HOLIDAY_THINGS}(?:,?\s+(?:of\s+)?(?P<y>{w.YEAR}))?",
)
def _holiday(match: re.Match[str], now: w.Now) -> DateStretch | None:
    name = re.sub(r"^the |[^a-z ]| day$", "", re.sub(r"\s+", " ", match["h"].lower()))
    return _yearly(match, lambda year: w.holiday_of(year, name), now)


@form(
    "beyond",
    r"the\s+(?P<u>day|night|week|weekend|month|year)\s+(?P<w>before\s+(?:last|yesterday)|after\s+(?:next|tomorrow))\b",
)
def _beyond(match: re.Match[str], now: w.Now) -> DateStretch | None:
    unit, steps = match["u"].lower(), -2 if match["w"].lower().startswith("before") else 2
    return w.unit_span(w.shift(now.moment, steps, unit), unit)


@form(
    "ago",
    rf"(?:(?:about|around|almost|nearly|over|roughly|just|maybe|like)\s+)?(?P<n>{w.NUM})\s+(?P<u>{w.UNIT})"
    rf"(?P<half>\s+and\s+a\s+half)?\s+(?P<w>ago|back|earlier|prior)\b(?P<t>\s+today)?",
)
def _ago(match: re.Match[str], now: w.Now) -> DateStretch | None:
    low, high = w.count_of(match["n"])
    if match["half"]:
        low, high = low + 0.5, high + 0.5
    start = (now.anchor if match["w"].lower() in ("earlier", "prior") else None) or now.moment
    if match["t"]:
        return w.unit_span(w.shift(start, -int(low), w.unit_of(match["u"])), "day")
    return w.backwards(start, low, high, w.unit_of(match["u"]))


@form(
    "hence",
    rf"(?P<n>{w.NUM})\s+(?P<u>{w.UNIT})\s+(?P<w>from\s+(?:now|today|tomorrow)|later|after\s+that|hence)\b",
)
@form(
    "in",
    rf"in\s+(?:about\s+|around\s+|just\s+)?(?P<n>{w.NUM})\s+(?P<u>{w.UNIT})(?:\s*[’']?\s*time)?\b(?!\s+of\b)(?P<w>)",
)
def _hence(match: re.Match[str], now: w.Now) -> DateStretch | None:
    word = (match["w"] or "").lower()
    if not word and (now.future is False or match["u"].lower().startswith("night")):
        return None  # "finished it in two weeks" is a duration
    low, high = w.count_of(match["n"])
    start = now.moment
    if word.startswith(("later", "after")):
        start = now.anchor or start
    if word.endswith("tomorrow"):
        start += w.DAY
    if word.endswith(("today", "tomorrow")):
        return w.unit_span(w.shift(start, int(low), w.unit_of(match["u"])), "day")
    return w.forwards(start, low, high, w.unit_of(match["u"]))


@form(
    "weekday-hence",
    rf"(?:on\s+)?(?P<d>{w.WEEKDAY})\s+week\b|(?P<m>{w.NUM})\s+weeks?\s+(?:on|from|this)\s+(?P<x>{w.WEEKDAY})\b",
)
def _weekday_hence(match: re.Match[str], now: w.Now) -> DateStretch | None:
    weeks = int(w.count_of(match["m"])[0]) if match["m"] else 1
    day = w.weekday_after(now.today, w.WEEKDAYS[(match["d"] or match["x"]).lower()])
    return w.moved(day, 0, 7 * weeks)


@form(
    "window",
    rf"(?:(?:in|over|for|during|within|throughout)\s+)?(?:the\s+)?(?P<w>past|last|previous|next|coming|following)\s+"
    rf"(?P<n>{w.NUM})\s+(?P<u>{w.UNIT})\b",
)
@form(
    "rolling",
    r"(?:(?:in|over|for|during|within|throughout)\s+)(?:the\s+|this\s+)?(?P<w>past|last)(?P<n>\s+)"
    r"(?P<u>day|week|fortnight|month|year|decade)\b",
)
def _window(match: re.Match[str], now: w.Now) -> DateStretch | None:
    count = int(w.count_of(match["n"])[1]) if match["n"].strip() else 1
    unit = w.unit_of(match["u"])
    exact = unit in ("hour", "minute", "second")
    if unit == "fortnight":
        unit, count = "week", 2 * count
    if match["w"].lower() in ("past", "last", "previous"):
        start = w.shift(now.moment, -count, unit)
        return DateStretch(start if exact else w.midnight(start), now.moment, unit)
    stop = w.shift(now.moment, count, unit)
    return DateStretch(now.moment, stop if exact else w.midnight(stop) + w.DAY, unit)


@form(
    "sofar",
    r"(?P<w>earlier|later)\s+(?P<p>this|that|last)\s+(?P<u>week|month|year|day|morning)|(?P<x>earlier|later)\s+today",
)
def _sofar(match: re.Match[str], now: w.Now) -> DateStretch | None:
    unit = (match["u"] or "day").lower()
    if unit == "morning":
        return w.part_of(now.moment, "morning")
    back = -1 if (match["p"] or "").lower() == "last" else 0
    whole = w.unit_span(w.shift(now.moment, back, unit), unit)
    if back:
        return w.thirded(match["w"].replace("earlier", "early").replace("later", "late"), whole)
    if (match["w"] or match["x"]).lower() == "earlier":
        return DateStretch(whole.start, now.moment, whole.precision)
    return DateStretch(now.moment, whole.stop, whole.precision)


@form(
    "mod-unit",
    rf"(?:(?P<t>{w.THIRD}))?(?:the\s+|on\s+)?(?P<mod>{w.MOD})\s+(?P<u>day|week(?:end)?|month|quarter|year|decade|century|{w.PART})\b",
)
def _mod_unit(match: re.Match[str], now: w.Now) -> DateStretch | None:
    unit, mod = match["u"].lower(), match["mod"].lower()
    step = w.step_of(mod) or 0
    start = (now.anchor or now.moment) if mod in ("following", "previous") else now.moment
    if unit == "weekend":
        return w.thirded(match["t"], w.weekend(start, step, mod))
    return w.thirded(match["t"], w.unit_span(w.shift(start, step, unit), unit))


@form(
    "of-unit",
    rf"(?P<t>{w.THIRD})(?:the\s+)?(?P<u>week|month|quarter|year|decade)\b(?!\s+(?:of|before|after|\d))|"
    r"(?:the\s+)?(?P<v>month|quarter|year)(?:[’']s)?[\s-]+end\b",
)
def _of_unit(match: re.Match[str], now: w.Now) -> DateStretch | None:
    unit, third = (match["u"] or match["v"]).lower(), match["t"] or "late"
    moments = (w.shift(now.moment, step, unit) for step in (-1, 0, 1))
    found = [w.thirded(third, w.unit_span(moment, unit)) for moment in moments]
    return found[1] if now.future is None else w.nearest(found, now)


@form("mod-weekday", rf"(?:on\s+)?(?:the\s+)?(?P<mod>{w.MOD})\s+(?P<d>{w.WEEKDAY})(?:\s+(?P<p>{w.PART}))?\b")
def _mod_weekday(match: re.Match[str], now: w.Now) -> DateStretch | None:
    weekday, step = w.WEEKDAYS[match["d"].lower()], w.step_of(match["mod"])
    if step == -1:
        found = w.weekday_before(now.today, weekday)
    elif step == 0:
        found = w.unit_span(now.today + w.DAY * (weekday - now.today.weekday()), "day")
        if found.stop <= now.today and now.future is not False:
            found = w.weekday_after(now.today, weekday)
    else:
        found = w.weekday_after(now.today, weekday)
    return w.in_part(found, match["p"])


@form(
    "weekday-week",
    rf"(?:on\s+)?(?P<d>{w.WEEKDAY})(?:\s+(?P<p>{w.PART}))?\s+(?:of\s+)?(?P<mod>last|this|next)\s+week\b",
)
def _weekday_week(match: re.Match[str], now: w.Now) -> DateStretch | None:
    days = 7 * (w.step_of(match["mod"]) or 0) + w.WEEKDAYS[match["d"].lower()]
    week = w.unit_span(now.today, "week")
    return w.in_part(w.unit_span(week.start + w.DAY * days, "day"), match["p"])


@form(
    "day-name",
    rf"(?:(?P<n>yesterday|today|tomorrow)(?:\s+(?P<p>{w.PART}))?|(?P<tonight>tonight))\b"
    r"(?![’']s\s+(?:world|society|age))",
)
def _day_name(match: re.Match[str], now: w.Now) -> DateStretch | None:
    if match["tonight"]:
        return w.part_of(now.today, "evening")
    days = {"yesterday": -1, "today": 0, "tomorrow": 1}[match["n"].lower()]
    return w.in_part(w.unit_span(now.today + w.DAY * days, "day"), match["p"])


@form(
    "next-day", r"(?:the\s+)(?P<w>next|following|same)\s+(?P<u>day|morning|evening|night|week|month|year)\b"
)
def _next_day(match: re.Match[str], now: w.Now) -> DateStretch | None:
    unit, step = match["u"].lower(), 0 if match["w"].lower() == "same" else 1
    return w.unit_span(w.shift(now.anchor or now.moment, step, unit), unit)


@form(
    "weekdays",
    rf"(?P<d>{w.ANY_WEEKDAY}){_TO}(?P<e>{w.ANY_WEEKDAY})(?:\s+(?:of\s+)?(?P<mod>last|this|next)\s+week\b)?",
)
def _weekdays(match: re.Match[str], now: w.Now) -> DateStretch | None:
    first, last = w.weekday_of(match["d"]) or 0, w.weekday_of(match["e"]) or 0
    size = w.DAY * ((last - first) % 7 + 1)
    if match["mod"]:
        days = 7 * (w.step_of(match["mod"]) or 0) + first
        start = w.unit_span(now.today, "week").start + w.DAY * days
    else:
        if (first, last) == (0, 4) or (last + 1 - first) % 7 == 0:
            return None  # "Monday to Friday" is a habit
        start = w.weekday_before(now.today + w.DAY, first).start
        if now.future:
            start = w.weekday_after(now.today, first).start
        elif now.future is False and start + size > now.today + w.DAY:
            start -= w.DAY * 7
    return DateStretch(start, start + size, "day")


@form("weekday", rf"(?:on\s+)?(?P<d>{w.WEEKDAY})(?:\s+(?P<p>{w.PART}))?\b(?![’']s\b|\s+{w.PART}s\b)")
def _weekday(match: re.Match[str], now: w.Now) -> DateStretch | None:
    last = w.weekday_before(now.today + w.DAY, w.WEEKDAYS[match["d"].lower()])
    today = last.start == now.today
    if now.future and not (today and now.mild):
        last = w.moved(last, 0, 7)
    found = w.in_part(last, match["p"])
    return w.moved(found, 0, -7) if now.future is False and found.start > now.moment else found


# what may follow "the plan for 2019" where the year is not an adjective of it
_FUNCTION = word_set(
    "i you he she it we they this that these those there here the a an my your his her its our their who "
    "which what when where while and or but so because if as than then to of in on at by for from with "
    "without about after before until since during over under is are was were be been has have had do does "
    "did will would can could should may might must not also only just too again now already still all both"
)
_ADJECTIVAL = re.compile(r"\b(?:for|of|about)\s+$", re.I)
_ONWARD = ("-", "to", "until", "till", "through", "on", "onward", "onwards")
_NEXT_WORD = re.compile(r"\s([A-Za-z][\w’'-]{0,30})|\s?[-–]")


def _is_label(text: str, begin: int, end: int) -> bool:
    """Whether a year belongs to a thing: "parts for 2016 models", "a Bordeaux from 2019"."""
    head, following = text[max(0, begin - 48) : begin], _NEXT_WORD.match(text, end)
    word = (following[1] or "-").lower() if following else ""
    if _ADJECTIVAL.search(head):
        return word not in ("", "-") and word not in _FUNCTION and not word.endswith("ly")
    return w.is_of_a_thing(head) and word not in _ONWARD


@form(
    "year-done",
    r"(?P<t>)(?:(?<=[a-z]ed )|(?<=built )|(?<=born ))(?P<y>(?:1[789]|20)\d{2})(?=\s*(?:$|[,;)\n]|\.(?!\d)))",
)
@form(
    "year",
    rf"(?P<t>{w.THIRD})?(?:{_AFTER_PREPOSITION}|(?<=[-–(]))(?P<y>(?:18|19|"
    rf"20)\d{{2}})(?![\d%:,]\d|\s+(?:people|dollars|words|steps|calories|miles|km|pages|"
    rf"points|users|lines|feet|pounds|euros|items))\b",
)
def _year(match: re.Match[str], now: w.Now) -> DateStretch | None:
    if not match["t"] and _is_label(match.string, match.start(), match.end()):
        return None
    return w.thirded(match["t"], w.year_span(int(match["y"])))


@form("clock", rf"(?:at\s+)?(?:about\s+|around\s+)?(?P<c>{w.CLOCK})")
def _clock(match: re.Match[str], now: w.Now) -> DateStretch | None:
    text = match["c"].lower().replace(".", "")
    named = {"noon": "12:00", "midnight": "0:00"}
    text = named.get(text, text)
    if text.startswith("half"):
        hour = w.NUMBERS.get(text.split()[-1], 24)
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
    return DateStretch(start, start + timedelta(minutes=1 if unit == "minute" else 60), unit)


_RULES = {name: (pattern, rule) for name, pattern, rule in FORMS}
_GROUPED = re.compile(r"\(\?P<[a-z]+>")


@cache
def _master() -> re.Pattern[str]:
    """All forms as one pattern; made by the first text that might hold a date, because that takes a while."""
    parts = [f"(?P<{name.replace('-', '_')}>{_GROUPED.sub('(?:', pattern)})" for name, pattern, _ in FORMS]
    return re.compile(r"(?<![\w/.$€£#-])(?:" + "|".join(parts) + ")", re.I)


@cache
def _form(name: str) -> re.Pattern[str]:
    return re.compile(_RULES[name][0], re.I)


_REPEATED = {
    "weekday": re.compile(r"\b(?:every|each|most|any|all)\s+(?:\w+\s+)?(?:on\s+)?$", re.I),
    "weekdays": re.compile(
        r"\b(?:every|each|open|opens|hours|works?|available|weekly|always|usually)\b[\s:]*(?:\w+\s+){0,2}$",
        re.I,
    ),
}
_TOKEN = re.compile(r"[A-Za-z]+\d?|\d+")
_LETTERS = re.compile(r"[a-z]+")
_DIGIT = re.compile(r"\d")
TRIGGERS = (
    frozenset(w.MONTHS)
    | frozenset(w.WEEKDAYS)
    | frozenset(w.DECADES)
    | word_set(
        "yesterday today tomorrow tonight ago last next past previous second seconds week weeks "
        "weekend weekends month months year years day days night nights spring summer autumn fall "
        "winter christmas halloween easter thanksgiving valentine valentines independence noon "
        "midnight later earlier since morning afternoon evening clock hour hours hr hrs minute "
        "minutes min mins eve quarter decade fortnight fortnights h1 h2 q1 q2 q3 q4 coming century"
    )
)
_STARTERS = (
    TRIGGERS
    | frozenset(w.NUMBERS)
    | frozenset(w.VAGUE)
    | frozenset(w.ORDINALS)
    | word_set(
        "the in on over for during within throughout this following current upcoming "
        "early mid late "
        "beginning start middle end about around almost nearly roughly just maybe like couple half at "
        "new st mother mothers father fathers labor memorial boxing good final between"
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


def scan_english(text: str, now: Now, pointer: Pointer) -> Iterator[FoundDate]:
    """Every expression from left to right; later ones may lean on earlier ones."""
    anchor, position = now.anchor, 0
    for begin in candidates(text):
        match = _master().match(text, begin) if begin >= position else None
        if match is None:
            continue
        name = (match.lastgroup or "").replace("_", "-")
        if name in _REPEATED and _REPEATED[name].search(text[max(0, begin - 24) : begin]):
            position = match.end()
            continue
        if name == "weekdays" and w.MOVED.search(text[max(0, begin - 60) : begin]):
            name = "weekday"
        way = pointer.at(begin, match.end(), name, position)
        found = _resolve(name, text, begin, w.pointed(now, way, anchor), way)
        if found is not None:
            yield found
            anchor = found.span.start if found.kind != "clock" else anchor
        if found is not None or name == "weekdays":
            position = found.end if found else match.end()


def _resolve(name: str, text: str, begin: int, now: Now, way: Pointed) -> FoundDate | None:
    match, rule = _form(name).match(text, begin), _RULES[name][1]
    if match is None:
        return None
    try:
        span = rule(match, now)
    except (ValueError, OverflowError, KeyError):
        return None
    if span is None:
        return None
    groups = match.groupdict()
    dated = bool(groups.get("y"))
    role: w.Role = "range" if groups.get("e") else way.role
    yearless = name in ("month", "day-month", "month-day") and not dated
    return FoundDate(begin, match.end(), span, name, yearless, dated, way.future, role)


_DIGITS = w.numbered("零 〇|一|二 两|三|四|五|六|七 日 天|八|九")
_DAYS = w.numbered(
    "大前天|前天 前日|昨天 昨日 昨晚 昨夜|今天 今日 今晚 今早 今晨|明天 明日 明晚 明早|后天|大后天", -3
)
_YEARS = w.numbered("大前年|前年|去年|今年 本年|明年|后年", -3)
_UNITS = {"秒": "second", "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day"}
_UNITS |= {"周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_PARTS = {
    word: part
    for part, group in (
        ("morning", "早上 早晨 上午 清晨 早 晨"),
        ("noon", "中午"),
        ("afternoon", "下午"),
        ("evening", "傍晚 晚上 晚"),
        ("night", "夜里 半夜 夜"),
        ("early", "凌晨"),
    )
    for word in group.split()
}

_N = r"(?:\d{1,6}|[零〇一二两三四五六七八九十百]{1,6})"
_PART = "(?P<part>早上|早晨|上午|清晨|中午|下午|傍晚|晚上|夜里|半夜|凌晨)"
_CLOCK = rf"(?P<hour>{_N})(?:[点时](?!间)(?:(?P<minute>{_N})分?|(?P<half>半))?|:(?P<colon>\d\d))"
_WHEN = (
    rf"(?P<year>\d{{4}}|[零〇一二三四五六七八九]{{4}})年(?:(?P<ym>{_N})月(?:(?P<ymd>{_N})[日号]?)?|(?P<yh>[上下])半年|"
    rf"第?(?P<yq>[一二三四1-4])季度)?"
    rf"|(?P<relyear>大前年|前年|去年|今年|本年|明年|"
    rf"后年)(?:的?(?P<rym>{_N})月份?(?:(?P<rymd>{_N})[日号])?|(?P<season>[春夏秋冬])[天季]|"
    rf"(?P<rh>[上下])半年|第?(?P<rq>[一二三四1-4])季度)?"
    rf"|(?P<relmonth>(?:上{{1,4}}个?|这个?|本|下{{1,4}}个?)月)(?:(?P<rmd>{_N})[日号]|(?P<edge>[初中底]))?"
    r"|(?P<step>上{1,4}|这|本|下{1,4})个?(?:周|星期|礼拜)(?:(?P<weekday>[一二三四五六日天])|(?P<weekend>末))?"
    r"|(?:周|星期|礼拜)(?P<bare>[一二三四五六日天])(?!天)|(?P<bareend>周末)"
    r"|(?P<day>大前天|大后天|前天|前日|昨天|昨日|今天|今日|明天|明日|后天|昨晚|今晚|明晚|今早|明早|昨夜|今晨)"
    rf"|(?P<month>{_N})月份?(?:(?P<md>{_N})[日号])?(?!前|后|以)"
)
_COUNT = (
    rf"(?:(?P<past>过去|最近|近|前)的?|(?P<coming>未来|接下来)的?)?(?P<n>{_N}|几|半|好几)(?P<ge>个?)"
    r"(?P<unit>秒|分钟|小时|钟头|天|日|周|星期|礼拜|月|年)多?(?P<side>之?以?前|之?以?后)?"
)
_FORM = re.compile(rf"(?:{_WHEN})(?:的?{_PART})?(?:{_CLOCK})?")
_ANY = re.compile(_FORM.pattern + "|" + _COUNT.replace("?P<", "?P<c_"))


def chinese_number(text: str) -> int:
    """A Chinese or decimal numeral: 十二 → 12, 二〇二三 → 2023, 两 → 2."""
    if text.isdigit():
        return int(text)
    if "十" not in text and "百" not in text:
        return int("".join(str(_DIGITS[c]) for c in text))
    head, _, rest = text.rpartition("百")
    total = 100 * (_DIGITS.get(head, 1)) if "百" in text else 0
    if "十" not in rest:
        return total + (_DIGITS.get(rest.lstrip("零"), 0) if rest else 0)
    tens, _, ones = rest.lstrip("零").partition("十")
    return total + 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)


def scan_chinese(text: str, now: Now, pointer: Pointer) -> Iterator[FoundDate]:
    """Every Chinese expression from left to right."""
    for match in _ANY.finditer(text):
        way = pointer.at(match.start(), match.end(), "chinese")
        here = w.pointed(now, way)
        try:
            span = _counted(match, here) if match["c_n"] else _placed(match, here)
        except (ValueError, OverflowError, KeyError):
            continue
        if span is not None:
            yearless = bool(match["month"]) if not match["c_n"] else False
            dated = bool(match["year"])
            yield FoundDate(
                match.start(), match.end(), span, "chinese", yearless, dated, way.future, way.role
            )


def _counted(match: re.Match[str], now: Now) -> DateStretch | None:
    word, unit, side = match["c_n"], _UNITS[match["c_unit"]], match["c_side"] or ""
    if match["c_unit"] == "月" and not match["c_ge"]:
        return None  # 三月 is March, 三个月 is three months
    low, high = {"几": (2, 5), "好几": (4, 8), "半": (6, 6)}.get(word) or (chinese_number(word),) * 2
    if word == "半":
        if unit != "year":
            return None
        unit = "month"
    if match["c_past"] and not side:
        start = w.midnight(w.shift(now.moment, -high, unit))
        return DateStretch(start, now.moment, unit)
    if match["c_coming"]:
        return DateStretch(now.moment, w.shift(now.moment, high, unit), unit)
    if not side:
        return None
    sign = -1 if side.endswith("前") else 1
    near, far = (w.unit_span(w.shift(now.moment, sign * n, unit), unit) for n in (low, high))
    return DateStretch(min(near.start, far.start), max(near.stop, far.stop), near.precision)


def _placed(match: re.Match[str], now: Now) -> DateStretch | None:
    span = _day_or_longer(match, now)
    part = _PARTS.get(match["part"] or "")
    word = match["day"] or ""
    if part is None and word[-1:] in "晚早夜晨" and word:
        part = _PARTS[word[-1]]
    if span is None or span.precision != "day":
        return span
    if match["hour"]:
        return _at_clock(match, span, part)
    if part == "early":
        return DateStretch(span.start, span.start + timedelta(hours=5), "part")
    return w.part_of(span.start, part) if part else span


def _at_clock(match: re.Match[str], span: DateStretch, part: str | None) -> DateStretch:
    hour = chinese_number(match["hour"])
    minute = 30 if match["half"] else chinese_number(match["minute"] or match["colon"] or "0")
    if part in ("afternoon", "evening", "night") and hour < 12:
        hour += 12
    start = span.start + timedelta(hours=hour, minutes=minute)
    exact = bool(match["half"] or match["minute"] or match["colon"])
    size = timedelta(minutes=1) if exact else timedelta(hours=1)
    return DateStretch(start, start + size, "minute" if exact else "hour")


def _day_or_longer(match: re.Match[str], now: Now) -> DateStretch | None:
    half, quarter = match["yh"] or match["rh"], match["yq"] or match["rq"]
    if half or quarter:
        year = (
            now.moment.year + _YEARS[match["relyear"]] if match["relyear"] else chinese_number(match["year"])
        )
        which = chinese_number(quarter) if quarter else 1 + (half == "下")
        return w.slice_of(year, which, 3 if quarter else 6)
    if match["year"]:
        return _in_year(chinese_number(match["year"]), match["ym"], match["ymd"])
    if match["relyear"]:
        year = now.moment.year + _YEARS[match["relyear"]]
        if match["season"]:
            names = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
            return w.season_of(year, names[match["season"]])
        return _in_year(year, match["rym"], match["rymd"])
    if match["relmonth"]:
        return _relative_month(match, now)
    if match["step"]:
        return _relative_week(match, now)
    if match["bare"]:
        return _bare_weekday(_DIGITS[match["bare"]] - 1, now)
    if match["bareend"]:
        return w.unit_span(now.moment, "weekend")
    if match["day"]:
        return w.unit_span(now.today + w.DAY * _DAYS[match["day"]], "day")
    return w.nearest(w.over_years(lambda y: _in_year(y, match["month"], match["md"]), now), now)


def _in_year(year: int, month: str | None, day: str | None) -> DateStretch:
    if not month:
        return w.year_span(year)
    if not day:
        return w.month_span(year, chinese_number(month))
    return w.of_date(date(year, chinese_number(month), chinese_number(day)))


def _relative_month(match: re.Match[str], now: Now) -> DateStretch:
    word = match["relmonth"]
    step = word.count("下") - word.count("上")
    month = w.unit_span(w.shift(now.today.replace(day=1), step, "month"), "month")
    if match["rmd"]:
        return w.unit_span(month.start.replace(day=chinese_number(match["rmd"])), "day")
    if match["edge"]:
        return w.third_of(month, {"初": "early", "中": "mid", "底": "late"}[match["edge"]])
    return month


def _relative_week(match: re.Match[str], now: Now) -> DateStretch:
    step = match["step"].count("下") - match["step"].count("上")
    week = w.unit_span(now.today + w.DAY * 7 * step, "week")
    if match["weekend"]:
        return w.unit_span(week.start, "weekend")
    if match["weekday"]:
        return w.unit_span(week.start + w.DAY * (_DIGITS[match["weekday"]] - 1), "day")
    return week


def _bare_weekday(weekday: int, now: Now) -> DateStretch:
    week = w.unit_span(now.today, "week")
    here = w.unit_span(week.start + w.DAY * weekday, "day")
    if now.future is False and here.start > now.today:
        return w.weekday_before(now.today, weekday)
    if now.future and here.start <= now.today:
        return w.weekday_after(now.today, weekday)
    return here
