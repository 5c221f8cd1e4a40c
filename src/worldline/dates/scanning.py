"""The English scanner: where an expression may begin, and which form takes it.

Decides the order of trying and keeps the time linear: only a few words before a word that dates use
are tried, and each with one pattern made of all forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from worldline.dates.english import FORMS
from worldline.dates.tense import MOVED, Pointed, Pointer, Role
from worldline.dates.words import DECADES, MONTHS, NUMBERS, ORDINALS, VAGUE, WEEKDAYS, FoundDate, Now, pointed
from worldline.text import word_set

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
    frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(DECADES)
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
    | frozenset(NUMBERS)
    | frozenset(VAGUE)
    | frozenset(ORDINALS)
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


def scan(text: str, now: Now, pointer: Pointer) -> Iterator[FoundDate]:
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
        if name == "weekdays" and MOVED.search(text[max(0, begin - 60) : begin]):
            name = "weekday"
        way = pointer.at(begin, match.end(), name, position)
        found = _resolve(name, text, begin, pointed(now, way, anchor), way)
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
    role: Role = "range" if groups.get("e") else way.role
    yearless = name in ("month", "day-month", "month-day") and not dated
    return FoundDate(begin, match.end(), span, name, yearless, dated, way.future, role)
