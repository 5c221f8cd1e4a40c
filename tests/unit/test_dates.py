"""Dates named in a text: a table of expressions, the time each was said, and what it must mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from clock import cpu
from worldline.dates import find_dates

WED = "2023-05-10 14:30"  # a Wednesday
SUN = "2024-01-07 09:00"  # a Sunday, early in a year
SAT = "2022-12-31 20:00"  # a Saturday, the last day of a year

# expression | said at | first day (or minute) | first day after | precision
TABLE = """
yesterday | WED | 2023-05-09 | 2023-05-10 | day
We had lunch today | WED | 2023-05-10 | 2023-05-11 | day
tomorrow | SAT | 2023-01-01 | 2023-01-02 | day
the day before yesterday | WED | 2023-05-08 | 2023-05-09 | day
the day after tomorrow | WED | 2023-05-12 | 2023-05-13 | day
yesterday | SUN | 2024-01-06 | 2024-01-07 | day
last Friday | WED | 2023-05-05 | 2023-05-06 | day
last Sunday | SUN | 2023-12-31 | 2024-01-01 | day
last Saturday | SUN | 2024-01-06 | 2024-01-07 | day
next Monday | WED | 2023-05-15 | 2023-05-16 | day
next Tuesday | SAT | 2023-01-03 | 2023-01-04 | day
this Friday | WED | 2023-05-12 | 2023-05-13 | day
this past Friday | WED | 2023-05-05 | 2023-05-06 | day
this coming Sunday | WED | 2023-05-14 | 2023-05-15 | day
We met on Friday | WED | 2023-05-05 | 2023-05-06 | day
We will meet on Friday | WED | 2023-05-12 | 2023-05-13 | day
I'm meeting her on Monday | SAT | 2023-01-02 | 2023-01-03 | day
He called on Monday evening | WED | 2023-05-08 18:00 | 2023-05-09 | part
Tuesday of last week | WED | 2023-05-02 | 2023-05-03 | day
Friday next week | WED | 2023-05-19 | 2023-05-20 | day
last weekend | WED | 2023-05-06 | 2023-05-08 | weekend
last weekend | SUN | 2023-12-30 | 2024-01-01 | weekend
this weekend | WED | 2023-05-13 | 2023-05-15 | weekend
this past weekend | WED | 2023-05-06 | 2023-05-08 | weekend
next weekend | WED | 2023-05-20 | 2023-05-22 | weekend
the weekend before last | WED | 2023-04-29 | 2023-05-01 | weekend
last week | WED | 2023-05-01 | 2023-05-08 | week
last week | SUN | 2023-12-25 | 2024-01-01 | week
this week | WED | 2023-05-08 | 2023-05-15 | week
next week | SAT | 2023-01-02 | 2023-01-09 | week
the week before last | WED | 2023-04-24 | 2023-05-01 | week
the week after next | WED | 2023-05-22 | 2023-05-29 | week
last month | WED | 2023-04-01 | 2023-05-01 | month
last month | SUN | 2023-12-01 | 2024-01-01 | month
next month | SAT | 2023-01-01 | 2023-02-01 | month
this month | WED | 2023-05-01 | 2023-06-01 | month
the month before last | WED | 2023-03-01 | 2023-04-01 | month
last year | WED | 2022-01-01 | 2023-01-01 | year
next year | SAT | 2023-01-01 | 2024-01-01 | year
this year | WED | 2023-01-01 | 2024-01-01 | year
last summer | WED | 2022-06-01 | 2022-09-01 | season
this summer | WED | 2023-06-01 | 2023-09-01 | season
next spring | WED | 2024-03-01 | 2024-06-01 | season
last March | WED | 2023-03-01 | 2023-04-01 | month
last December | WED | 2022-12-01 | 2023-01-01 | month
next June | WED | 2023-06-01 | 2023-07-01 | month
last night | WED | 2023-05-09 18:00 | 2023-05-10 06:00 | part
this morning | WED | 2023-05-10 05:00 | 2023-05-10 12:00 | part
this afternoon | WED | 2023-05-10 12:00 | 2023-05-10 18:00 | part
tonight | WED | 2023-05-10 18:00 | 2023-05-11 | part
yesterday morning | WED | 2023-05-09 05:00 | 2023-05-09 12:00 | part
tomorrow in the evening | WED | 2023-05-11 18:00 | 2023-05-12 | part
three days ago | WED | 2023-05-07 | 2023-05-08 | day
10 days ago | WED | 2023-04-30 | 2023-05-01 | day
a day ago | WED | 2023-05-09 | 2023-05-10 | day
a few days ago | WED | 2023-05-05 | 2023-05-09 | day
several days ago | WED | 2023-05-03 | 2023-05-08 | day
a couple of days ago | WED | 2023-05-08 | 2023-05-09 | day
two weeks ago | WED | 2023-04-24 | 2023-05-01 | week
about a week ago | WED | 2023-05-01 | 2023-05-08 | week
two weeks ago today | WED | 2023-04-26 | 2023-04-27 | day
a few weeks ago | WED | 2023-04-03 | 2023-05-01 | week
a month ago | WED | 2023-04-01 | 2023-05-01 | month
six months ago | WED | 2022-11-01 | 2022-12-01 | month
a couple of months ago | WED | 2023-03-01 | 2023-04-01 | month
three years ago | WED | 2020-01-01 | 2021-01-01 | year
a year and a half ago | WED | 2021-11-01 | 2021-12-01 | month
half a year ago | WED | 2022-11-01 | 2022-12-01 | month
twenty-one years ago | WED | 2002-01-01 | 2003-01-01 | year
two hours ago | WED | 2023-05-10 12:00 | 2023-05-10 13:00 | hour
half an hour ago | WED | 2023-05-10 14:00 | 2023-05-10 14:01 | minute
in three days | WED | 2023-05-13 | 2023-05-14 | day
We leave in two weeks | WED | 2023-05-22 | 2023-05-29 | week
a week from now | WED | 2023-05-15 | 2023-05-22 | week
two days from now | SAT | 2023-01-02 | 2023-01-03 | day
three days later | WED | 2023-05-13 | 2023-05-14 | day
7 May 2023 | WED | 2023-05-07 | 2023-05-08 | day
7th of May, 2023 | SUN | 2023-05-07 | 2023-05-08 | day
May 7, 2023 | SUN | 2023-05-07 | 2023-05-08 | day
May 7th | WED | 2023-05-07 | 2023-05-08 | day
the 3rd of June | WED | 2023-06-03 | 2023-06-04 | day
Monday 5 June | WED | 2023-06-05 | 2023-06-06 | day
Monday, June 5 | WED | 2023-06-05 | 2023-06-06 | day
Jan. 5th, 2021 | WED | 2021-01-05 | 2021-01-06 | day
Dec 24 | SUN | 2023-12-24 | 2023-12-25 | day
I arrived on 28 December | SUN | 2023-12-28 | 2023-12-29 | day
We will leave on 28 December | WED | 2023-12-28 | 2023-12-29 | day
2 - 5 May | WED | 2023-05-02 | 2023-05-06 | day
May 3-7 | WED | 2023-05-03 | 2023-05-08 | day
from 3 to 7 May | WED | 2023-05-03 | 2023-05-08 | day
I was there on the 3rd. | WED | 2023-05-03 | 2023-05-04 | day
It is due on the 20th. | WED | 2023-05-20 | 2023-05-21 | day
2023-05-07 | SUN | 2023-05-07 | 2023-05-08 | day
2023/05/07 | SUN | 2023-05-07 | 2023-05-08 | day
5/7/2023 | SUN | 2023-05-07 | 2023-05-08 | day
25/7/2023 | SUN | 2023-07-25 | 2023-07-26 | day
07.05.2023 | SUN | 2023-05-07 | 2023-05-08 | day
5/7/23 | SUN | 2023-05-07 | 2023-05-08 | day
2023-05-07T14:30 | SUN | 2023-05-07 14:30 | 2023-05-07 14:31 | minute
2023-05-07 14:30:00Z | SUN | 2023-05-07 14:30 | 2023-05-07 14:30:01 | second
2021-11 | SUN | 2021-11-01 | 2021-12-01 | month
May 2023 | SUN | 2023-05-01 | 2023-06-01 | month
May of 2021 | SUN | 2021-05-01 | 2021-06-01 | month
Sept. 2020 | SUN | 2020-09-01 | 2020-10-01 | month
in June | WED | 2023-06-01 | 2023-07-01 | month
in April | WED | 2023-04-01 | 2023-05-01 | month
She moved in November | SUN | 2023-11-01 | 2023-12-01 | month
June last year | WED | 2022-06-01 | 2022-07-01 | month
early May | WED | 2023-05-01 | 2023-05-11 | week
mid-June | WED | 2023-06-11 | 2023-06-21 | week
the end of June | WED | 2023-06-21 | 2023-07-01 | week
late 2021 | WED | 2021-09-01 | 2022-01-01 | season
in 2019 | WED | 2019-01-01 | 2020-01-01 | year
the 1990s | WED | 1990-01-01 | 2000-01-01 | decade
summer of 2021 | WED | 2021-06-01 | 2021-09-01 | season
winter 2020 | WED | 2020-12-01 | 2021-03-01 | season
Q3 2022 | WED | 2022-07-01 | 2022-10-01 | quarter
last Christmas | WED | 2022-12-25 | 2022-12-26 | day
Christmas Eve | SUN | 2023-12-24 | 2023-12-25 | day
Christmas 2020 | WED | 2020-12-25 | 2020-12-26 | day
next Halloween | WED | 2023-10-31 | 2023-11-01 | day
on Valentine's Day | WED | 2023-02-14 | 2023-02-15 | day
the 4th of July | WED | 2023-07-04 | 2023-07-05 | day
Easter 2023 | SUN | 2023-04-09 | 2023-04-10 | day
Thanksgiving 2022 | WED | 2022-11-24 | 2022-11-25 | day
yesterday at 6 pm | WED | 2023-05-09 18:00 | 2023-05-09 19:00 | hour
at 6:30 pm yesterday | WED | 2023-05-09 18:30 | 2023-05-09 18:31 | minute
next Tuesday at noon | WED | 2023-05-16 12:00 | 2023-05-16 12:01 | minute
on 3 May at 08:15 | WED | 2023-05-03 08:15 | 2023-05-03 08:16 | minute
tomorrow morning at 9 | WED | 2023-05-11 05:00 | 2023-05-11 12:00 | part
the week before 9 June 2023 | WED | 2023-06-02 | 2023-06-09 | week
the Sunday before 25 May | WED | 2023-05-21 | 2023-05-22 | day
the Friday after 1 May 2023 | SUN | 2023-05-05 | 2023-05-06 | day
two days before Christmas | SUN | 2023-12-23 | 2023-12-24 | day
the day after 31 May 2023 | SUN | 2023-06-01 | 2023-06-02 | day
the weekend before 9 June 2023 | WED | 2023-06-03 | 2023-06-05 | weekend
the month before June 2023 | SUN | 2023-05-01 | 2023-06-01 | month
the week of May 1st | WED | 2023-05-01 | 2023-05-08 | week
three days after 7 May 2023 | SUN | 2023-05-10 | 2023-05-11 | day
in the past two months | WED | 2023-03-10 | 2023-05-10 14:30 | month
over the last year | WED | 2022-05-10 | 2023-05-10 14:30 | year
for the past three weeks | WED | 2023-04-19 | 2023-05-10 14:30 | week
in the next ten days | WED | 2023-05-10 14:30 | 2023-05-21 | day
since March | WED | 2023-03-01 | 2023-05-10 14:30 | month
since last Friday | WED | 2023-05-05 | 2023-05-10 14:30 | day
ever since 2018 | WED | 2018-01-01 | 2023-05-10 14:30 | year
earlier this month | WED | 2023-05-01 | 2023-05-10 14:30 | month
between March and June 2022 | WED | 2022-03-01 | 2022-07-01 | month
from May 2021 to July 2022 | WED | 2021-05-01 | 2022-08-01 | month
昨天 | WED | 2023-05-09 | 2023-05-10 | day
前天 | WED | 2023-05-08 | 2023-05-09 | day
后天 | SAT | 2023-01-02 | 2023-01-03 | day
上周五 | WED | 2023-05-05 | 2023-05-06 | day
上周五 | SUN | 2023-12-29 | 2023-12-30 | day
下周一 | WED | 2023-05-15 | 2023-05-16 | day
这周日 | WED | 2023-05-14 | 2023-05-15 | day
上个星期天 | WED | 2023-05-07 | 2023-05-08 | day
上上周 | WED | 2023-04-24 | 2023-05-01 | week
上周末 | WED | 2023-05-06 | 2023-05-08 | weekend
三天前 | WED | 2023-05-07 | 2023-05-08 | day
两周前 | WED | 2023-04-24 | 2023-05-01 | week
3个月前 | WED | 2023-02-01 | 2023-03-01 | month
五年前 | WED | 2018-01-01 | 2019-01-01 | year
半年前 | WED | 2022-11-01 | 2022-12-01 | month
几天前 | WED | 2023-05-05 | 2023-05-09 | day
十天后 | WED | 2023-05-20 | 2023-05-21 | day
去年五月 | WED | 2022-05-01 | 2022-06-01 | month
去年夏天 | WED | 2022-06-01 | 2022-09-01 | season
今年 | WED | 2023-01-01 | 2024-01-01 | year
前年 | WED | 2021-01-01 | 2022-01-01 | year
上个月 | WED | 2023-04-01 | 2023-05-01 | month
下个月 | SAT | 2023-01-01 | 2023-02-01 | month
2023年5月7日 | SUN | 2023-05-07 | 2023-05-08 | day
2023年5月 | SUN | 2023-05-01 | 2023-06-01 | month
二〇二三年五月七日 | SUN | 2023-05-07 | 2023-05-08 | day
五月七号 | WED | 2023-05-07 | 2023-05-08 | day
过去两个月 | WED | 2023-03-10 | 2023-05-10 14:30 | month
昨天下午3点半 | WED | 2023-05-09 15:30 | 2023-05-09 15:31 | minute
昨晚 | WED | 2023-05-09 18:00 | 2023-05-10 | part
"""
CASES = [tuple(c.strip() for c in line.split("|")) for line in TABLE.strip().splitlines()]
BASES = {"WED": WED, "SUN": SUN, "SAT": SAT}
ZONES = (UTC, timezone(timedelta(hours=-7)), timezone(timedelta(hours=8)))


def local(text: str, zone: timezone) -> int:
    """A local time as µs UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("case", "zone"),
    # an explicit offset does not depend on the speaker's
    [(case, zone) for case in CASES for zone in ZONES if zone is UTC or not case[0].endswith("Z")],
    ids=lambda value: f"{value[0]}@{value[1]}" if isinstance(value, tuple) else str(value),
)
def test_expression(case: tuple[str, ...], zone: timezone) -> None:
    """Each expression means the expected stretch, in the local days of the speaker's offset."""
    text, said, start, end, precision = case
    found = find_dates(text, datetime.fromisoformat(BASES[said]).replace(tzinfo=zone))
    assert [(d.start, d.end, d.precision) for d in found] == [
        (local(start, zone), local(end, zone), precision)
    ]
    begin, stop = found[0].chars
    assert text[begin:stop] == found[0].text


@pytest.mark.parametrize(
    "text",
    [
        "I may go home",
        "every Friday I swim",
        "I run three times a week",
        "it took 2000 words",
        "she is on page 220",
        "he has worked there for nine months",
        "I wake up at 6:00 am",
        "the march was long",
        "I paid $2019.",
        "version 2.10.3 is out",
        "they sat in the sun",
        "we talked the other day",
        "yoga on Saturday mornings",
        "in one night",
        "and may I ask",
        "I want to march in the parade",
        "at the end of the day",
    ],
)
def test_no_date(text: str) -> None:
    """Habits, durations, amounts and look-alikes are not dates."""
    assert find_dates(text, datetime.fromisoformat(WED)) == []


def test_several_in_order() -> None:
    """A later expression leans on the earlier date of the same text."""
    found = find_dates("We met on 3 May 2022 and left three days later", datetime(2023, 5, 10))
    assert [datetime.fromtimestamp(d.start / 1e6, UTC).day for d in found] == [3, 6]


def test_a_clock_without_a_day_is_no_date() -> None:
    """A clock time alone is a habit as often as a date; with a day it says when."""
    base = datetime(2023, 5, 10, tzinfo=UTC)
    assert find_dates("at 6:15 pm", base) == []
    assert [d.precision for d in find_dates("yesterday at 6:15 pm", base)] == ["minute"]


# text, time said, tense told, then what it means: days, months or years, both ends included, and the role
SAID = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "date_cases.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def edge(text: str, said_at: datetime, last: bool) -> datetime:
    """Where a day, month or year begins, or where it is over."""
    if text == "now":
        return said_at
    start = datetime.fromisoformat(text + {4: "-01-01", 7: "-01"}.get(len(text), "")).replace(
        tzinfo=said_at.tzinfo
    )
    if not last or len(text) > 10:
        return start
    if len(text) == 4:
        return start.replace(year=start.year + 1)
    return (start + timedelta(days=31)).replace(day=1) if len(text) == 7 else start + timedelta(days=1)


def meant(text: str, said_at: datetime) -> tuple[int, int, str]:
    """Start, end and role of an expectation such as "range:2025-06-03/2025-06-08"."""
    role, _, span = text.rpartition(":") if text[0].isalpha() else ("", "", text)
    first, _, last = span.partition("/")
    start, end = edge(first, said_at, False), edge(last or first, said_at, True)
    return int(start.timestamp()) * 1_000_000, int(end.timestamp()) * 1_000_000, role


@pytest.mark.parametrize(("text", "at", "tense", "expected"), SAID)
def test_said(text: str, at: str, tense: str, expected: str) -> None:
    """Each sentence means the expected stretches, by the tense told or by its words."""
    said_at = datetime.fromisoformat(at if len(at) > 10 else at + "T10:00")
    said_at = said_at.replace(tzinfo=said_at.tzinfo or UTC)
    found = find_dates(text, said_at, tense=tense)
    wanted = [meant(e, said_at) for e in expected.split("; ")] if expected != "-" else []
    assert [(d.start, d.end, d.role) for d in found] == wanted


@pytest.mark.parametrize(
    ("zone", "utc"),
    [
        (timezone(timedelta(hours=9)), "2025-01-14T15:00"),
        (timezone(timedelta(hours=-8)), "2025-01-15T08:00"),
        (ZoneInfo("America/New_York"), "2025-01-15T05:00"),
    ],
)
def test_day_is_local(zone: tzinfo, utc: str) -> None:
    """A day begins at midnight where it was said, by the clock of that day (the time said is in summer)."""
    (found,) = find_dates("on 15 January 2025", datetime(2025, 7, 1, 23, 30, tzinfo=zone))
    assert datetime.fromtimestamp(found.start / 1e6, UTC) == datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert found.end - found.start == 86_400_000_000


def test_moved_is_no_range() -> None:
    """What was moved from one day to another names two days."""
    found = find_dates("The exam was pushed from June 5 to June 12", datetime(2025, 5, 14, tzinfo=UTC))
    assert [(datetime.fromtimestamp(d.start / 1e6, UTC).day, d.role) for d in found] == [(5, ""), (12, "")]


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1 ",
        "on ",
        "the ",
        "on the ",
        " ",
        ".",
        "ed",
        "is ",
        "十",
        "上",
        "appointment ",
        "1/",
        "12:",
        "a ",
        "late-",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """50 kB of one piece, before and after a date, take seconds, and at most twice their share of eight times less."""
    said = datetime(2025, 5, 14, tzinfo=UTC)

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        return cpu(lambda: find_dates(f"on Friday {text} on Friday, {text}", said))

    short, long = seconds(6_250), seconds(50_000)
    assert long < 15 / 4
    assert long < 2 * 8 * short + 0.05


@pytest.mark.parametrize("text", ["9999-12-31", "the day before 0001-01-01", "9999 years before 1850"])
def test_edge_of_time(text: str) -> None:
    """What no calendar holds raises nothing."""
    assert len(find_dates(text, datetime(2025, 5, 14, tzinfo=UTC))) <= 1
