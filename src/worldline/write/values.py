"""Typed values in a clause: how often, at what time, how long, how much, how many, which page.

Decides the kind, unit and number of a value and where it stands; it does not decide what it is a
value of.  Kinds and units are what makes two statements a series.

    find_values("three times a week")[0] → frequency, unit "week", number 3
"""

from __future__ import annotations

import re

import msgspec

from worldline.claims import stem
from worldline.wordlists import word_list, word_set

SMALL = {
    word: number
    for number, word in enumerate(
        word_list(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen twenty"
        )
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SMALL |= {"hundred": 100, "dozen": 12}
ORDINALS = {
    word: number
    for number, word in enumerate(
        word_list("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
        1,
    )
}
_N = r"(?:\d[\d,]*(?:\.\d+)?|" + "|".join(SMALL) + r")(?:\s*(?:-|–|to)\s*\d+)?"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = r"(?:second|minute|hour|day|week|month|year|decade)s?"
_APPROX = r"(?:about|around|almost|nearly|over|roughly|only|just|approximately|at least|more than)?\s*"


class Value(msgspec.Struct, frozen=True):
    """A value as written, and what makes it comparable."""

    kind: str
    unit: str
    number: float | None
    text: str
    begin: int
    end: int


_FORMS = (
    (
        "frequency",
        rf"(?P<n>once|twice|thrice|{_N}\s+times)\s+(?:a|an|per|each|"
        rf"every)\s+(?P<u>day|week|month|year|night)",
    ),
    (
        "frequency",
        r"every\s+(?:other\s+)?(?P<u>day|week|weekend|month|year|morning|night|evening)\b",
    ),
    (
        "weekday",
        rf"(?:on|every|each)\s+(?P<w>{_WEEKDAY}s?(?:(?:,\s*|"
        rf",?\s+and\s+){_WEEKDAY}s?)*)(?:\s+(?:morning|evening|afternoon|"
        rf"night)s?)?\b",
    ),
    (
        "clock",
        r"(?:at|around|by|until)\s+(?P<n>\d{1,2}(?::\d{2})?\s*(?:[ap]\.?m\b\.?|"
        r"o'clock)|\d{1,2}:\d{2}|noon|midnight)",
    ),
    (
        "money",
        rf"(?:[$€£¥]\s?(?P<n>\d[\d,]*(?:\.\d+)?)\s*(?:k|K|million|thousand)?|"
        rf"(?P<m>{_N})\s+(?:dollars|euros|bucks|usd|eur))",
    ),
    ("percent", rf"(?P<n>{_N})\s*(?:%|percent)"),
    (
        "level",
        r"(?P<u>page|level|episode|chapter|season|step|stage|grade|round|week|lesson|"
        r"module|unit|part|volume)\s+(?P<n>\d+|one|two|three|four|five|six|seven|eight|"
        r"nine|ten)\b",
    ),
    ("age", rf"(?P<n>{_N})(?:\s+years?\s+old|[- ]years?[- ]old)\b"),
    (
        "score",
        r"(?P<s>\d{1,3}-\d{1,3})\s+(?:record|so far|score)|(?:at|with an?|are|"
        r"is)\s+(?P<t>\d{1,2}-\d{1,2})\b(?!\s*(?:days|hours|minutes|weeks|months|years|"
        r"am|pm))",
    ),
    ("distance", rf"(?P<n>{_N})[- ]?(?P<u>km|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|feet)\b"),
    ("weight", rf"(?P<n>{_N})\s?(?P<u>kg|kilos?|pounds?|lbs?|grams?)\b"),
    (
        "duration",
        rf"(?P<n>{_N}|an?|half an|a few|a couple of|"
        rf"several)(?:\s+and\s+a\s+half)?\s+(?P<u>{_UNIT})\b(?!\s+(?:ago|later|old|from "
        rf"now|before|earlier))(?:\s+and\s+\d+\s+seconds)?",
    ),
    ("times", rf"(?P<n>{_N}|once|twice)\s+times?\b|(?P<m>twice)\b"),
    (
        "ordinal",
        r"(?:my|the|our|his|her|their)\s+(?P<o>first|second|third|fourth|fifth|sixth|"
        r"seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th))\s+(?P<u>[a-z]+)",
    ),
    (
        "count",
        rf"(?P<n>{_N})\s+(?P<u>(?:[a-z][a-z'-]+\s+){{0,2}}?[a-z][a-z'-]+)(?=\s*(?:$|"
        rf"[.,;!?)]|(?:in|on|at|so|from|for|with|now|since|to|of|by|already|and|this|"
        rf"last|that|which|who|including|during|per|over|under|left|here|there|recently|"
        rf"lately|together|today|each|yet|but|too|as|because|when|while|or)\b))",
    ),
    ("count", rf"(?P<n>{_N})(?=\s+(?:so far|already|in total|altogether)\b)"),
)
_PATTERNS = [(kind, re.compile(_APPROX + pattern, re.I)) for kind, pattern in _FORMS]
_NOT_COUNTED = word_set(
    "ones one thing things people time times am pm percent old ago more less other "
    "others of them us way ways "
    "bit lot and or who which that reason reasons tips ideas options steps questions"
)


def number_of(text: str | None) -> float | None:
    """ "three" → 3, "1,200" → 1200, "10-12" → 12, "twice" → 2."""
    if not text:
        return None
    word = text.lower().split()[0].strip("$€£")
    if word in ("once", "a", "an"):
        return 1.0
    if word == "twice":
        return 2.0
    if word in SMALL:
        return float(SMALL[word])
    digits = re.findall(r"\d+(?:\.\d+)?", word.replace(",", ""))
    return float(digits[-1]) if digits else None


def find_values(clause: str) -> list[Value]:
    """All values, by order of writing; where two overlap the more telling kind stays."""
    found: list[Value] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(clause):
            value = _value(kind, match)
            if value and not any(f.begin < value.end and value.begin < f.end for f in found):
                found.append(value)
    return sorted(found, key=lambda v: v.begin)


def _value(kind: str, match: re.Match[str]) -> Value | None:
    groups = match.groupdict()
    unit = (groups.get("u") or "").lower()
    number = number_of(groups.get("n") or groups.get("m"))
    if kind == "ordinal":
        word = (groups.get("o") or "").lower()
        number = float(ORDINALS[word]) if word in ORDINALS else number_of(word)
    if kind == "count":
        noun = unit.split()[-1] if unit else "ones"
        if noun in ("ones", "of"):
            unit = ""
        elif noun in _NOT_COUNTED or number is None or noun.endswith(("ly", "ing", "ed")):
            return None
        else:
            unit = noun
    text = match.group().strip()
    return Value(kind, stem(unit) if unit else "", number, text, match.start(), match.end())
