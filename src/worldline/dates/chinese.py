"""Chinese date expressions: days, weeks, months, years, counts ago, and written dates.

Decides what one expression means (昨天, 上周五, 三天前, 去年五月, 2023年5月7日), with an optional part
of the day or clock behind it; it does not look at neighbouring expressions.

    list(scan("上周五见过他", Now(datetime(2023, 5, 10)))) finds 5 May 2023.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from worldline.dates import words as w
from worldline.dates.words import DateStretch, FoundDate, Now, Pointer, nearest, numbered, over_years, pointed

_DIGITS = numbered("零 〇|一|二 两|三|四|五|六|七 日 天|八|九")
_DAYS = numbered(
    "大前天|前天 前日|昨天 昨日 昨晚 昨夜|今天 今日 今晚 今早 今晨|明天 明日 明晚 明早|后天|大后天", -3
)
_YEARS = numbered("大前年|前年|去年|今年 本年|明年|后年", -3)
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


def number(text: str) -> int:
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


def scan(text: str, now: Now, pointer: Pointer) -> Iterator[FoundDate]:
    """Every Chinese expression from left to right."""
    for match in _ANY.finditer(text):
        way = pointer.at(match.start(), match.end(), "chinese")
        here = pointed(now, way)
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
    low, high = {"几": (2, 5), "好几": (4, 8), "半": (6, 6)}.get(word) or (number(word),) * 2
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
    hour = number(match["hour"])
    minute = 30 if match["half"] else number(match["minute"] or match["colon"] or "0")
    if part in ("afternoon", "evening", "night") and hour < 12:
        hour += 12
    start = span.start + timedelta(hours=hour, minutes=minute)
    exact = bool(match["half"] or match["minute"] or match["colon"])
    size = timedelta(minutes=1) if exact else timedelta(hours=1)
    return DateStretch(start, start + size, "minute" if exact else "hour")


def _day_or_longer(match: re.Match[str], now: Now) -> DateStretch | None:
    half, quarter = match["yh"] or match["rh"], match["yq"] or match["rq"]
    if half or quarter:
        year = now.moment.year + _YEARS[match["relyear"]] if match["relyear"] else number(match["year"])
        which = number(quarter) if quarter else 1 + (half == "下")
        return w.slice_of(year, which, 3 if quarter else 6)
    if match["year"]:
        return _in_year(number(match["year"]), match["ym"], match["ymd"])
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
    return nearest(over_years(lambda y: _in_year(y, match["month"], match["md"]), now), now)


def _in_year(year: int, month: str | None, day: str | None) -> DateStretch:
    if not month:
        return w.year_span(year)
    if not day:
        return w.month_span(year, number(month))
    return w.of_date(date(year, number(month), number(day)))


def _relative_month(match: re.Match[str], now: Now) -> DateStretch:
    word = match["relmonth"]
    step = word.count("下") - word.count("上")
    month = w.unit_span(w.shift(now.today.replace(day=1), step, "month"), "month")
    if match["rmd"]:
        return w.unit_span(month.start.replace(day=number(match["rmd"])), "day")
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
