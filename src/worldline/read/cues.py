"""What a question asks for, read from its surface: terms, people, time, kind of answer.

It decides which cues a question carries.  Cues are features of the score; they never shut out a
lane or a candidate.

>>> asked = ask("When did Ana buy the red bike?", people=("Ana", "Ben"))
>>> asked.terms, asked.people, asked.wants & TIME != 0
(('buy', 'red', 'bike'), ('ana',), True)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache

import msgspec

from worldline.dates import find_dates
from worldline.rules.describe import CLOCK, DATE, DURATION, MONEY, NAME, NUMBER, PERCENT, QUOTED, TIME
from worldline.rules.kinds import asked_kinds
from worldline.text import content_words, fold, words


class Asked(msgspec.Struct, frozen=True):
    """A question as scoring sees it; ``wants`` and ``strict`` are flags of described texts."""

    text: str
    terms: tuple[str, ...]
    kinds: tuple[tuple[str, ...], ...]
    people: tuple[str, ...]
    windows: tuple[tuple[int, int], ...]
    wants: int
    strict: int
    to_assistant: bool
    advice: bool
    several: bool
    summary: bool
    asked_at: int | None
    order: bool = False
    """Whether it asks in which order things came up."""
    why: bool = False
    """Whether it asks for a cause."""

    @property
    def broad(self) -> bool:
        """Whether it asks for the course of something rather than for a detail of it."""
        return (self.summary or self.order) and not self.advice


_WHY = re.compile(
    r"\bwhy\b|\bhow come\b|\breasons?\b|\bwhat(?:'s| is| was)? (?:made|caused|led|drove|motivat\w+|inspir\w+|"
    r"prompt\w+|the cause)\b|\b(?:because of|due to) what\b|为什么|为何|原因",
    re.I,
)
_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year))\b|什么时候|几点|哪天|日期|时间",
    re.I,
)
_COUNT = re.compile(
    r"\bhow (?:many|much|old|long|far|often|tall|big)\b|\b(?:number|total|amount|average|"
    r"percentage) of\b|几|多少|多大|多久|多长",
    re.I,
)
_WHO = re.compile(
    r"\b(?:who|whom|whose|where|which|what (?:is|was|are|were) the (?:name|title)|what (?:city|"
    r"country|place|book|movie|film|song|game|band|company|brand|store|restaurant|school|show)|"
    r"named|called)\b|谁|哪里|哪儿|叫什么",
    re.I,
)
_STRICT = (
    (
        MONEY,
        re.compile(r"\bhow much\b|\bprice|\bcost|\bspen[dt]|\bsalary|\bbudget|\bpaid|\bmoney", re.I),
    ),
    (
        DURATION,
        re.compile(r"\bhow long\b|\bhow many (?:minutes|hours|days|weeks|months|years)\b|多久|多长", re.I),
    ),
    (CLOCK, re.compile(r"\bwhat time\b|\bo'clock\b|几点", re.I)),
    (PERCENT, re.compile(r"\bpercent|\bpercentage|\brate\b|\bdiscount", re.I)),
    (
        DATE,
        re.compile(
            r"\bwhen\b|\bwhat (?:date|day|month|year)\b|\bwhich (?:day|month|year)\b|\bdeadline",
            re.I,
        ),
    ),
    (
        QUOTED,
        re.compile(r"\b(?:book|movie|film|song|title|album|show|series|podcast|game|novel|play)\b", re.I),
    ),
    (
        NAME,
        re.compile(
            r"\b(?:who|whom|whose|where)\b|\bname\b|\b(?:city|country|state|brand|company|store|"
            r"restaurant|school|band|artist|author)\b",
            re.I,
        ),
    ),
    (NUMBER, re.compile(r"\bhow (?:many|old|far|often)\b|\bnumber of\b|几|多少", re.I)),
)
_TO_ASSISTANT = re.compile(
    r"(?<!can )(?<!could )(?<!would )(?<!will )(?<!do )\byou (?:\w+ ){0,2}(?:told|said|recommend\w*|"
    r"suggest\w*|mention\w*|"
    r"gave|give|provid\w*|list\w*|explain\w*|describ\w*|advis\w*|propos\w*|shar\w*|wrote|walk\w*|"
    r"outlin\w*|help\w*)\b|"
    r"\b(?:did you|have you|were you|"
    r"your (?:previous|last|earlier|recommendation|suggestion|advice|explanation|answer|response)|"
    r"(?:our|the) (?:last|previous|earlier|past) (?:chat|conversation|discussion|session)|"
    r"we (?:discussed|talked|chatted|went over)|remind me)\b",
    re.I,
)
_ADVICE = re.compile(
    r"\b(?:(?:can|could|would|will) you|(?:any|some) (?:\w+ )?(?:tips|advice|suggestions|ideas|"
    r"recommendations|books|ways)|"
    r"what(?:'s| is| are)? (?:the best|some|should|would|could|kind of)|how (?:can|do|should|would|"
    r"could|might) (?:i|you|we)|"
    r"recommend|suggest|should i|what's the best|help me|show me|"
    r"i'm (?:planning|looking|trying|thinking|working|setting|considering|going))\b",
    re.I,
)
_PAST = re.compile(
    r"\b(?:did|was|were|had|have i|has|remind|summar\w+|order|told|said|mentioned|discussed|list|last)\b",
    re.I,
)
_SEVERAL = re.compile(
    r"\bhow many\b|\bwhich \w+s\b|\bwhat (?:\w+ ){0,2}(?-i:[a-z]+s) (?:has|have|did|does|do|are|were|is)\b|"
    r"\blist\b|\ball (?:the|of)\b|"
    r"\bwhat (?:\w+ )?(?:has|have) \w+\b|\border\b|\bsummar|\btotal\b|\bin what ways\b|\bactivities\b|"
    r"\bprogress|\bover time\b|\bthroughout\b|\bcompare|\bboth\b|\btimeline\b|哪些|几个|所有|分别|总共",
    re.I,
)


_SUMMARY = re.compile(r"\b(?:summar\w+|overview|recap|comprehensive|walk me through)\b|总结|概括", re.I)
_ORDER = re.compile(
    r"\b(?:(?:the|what|which|chronological) order (?:in which|of|that|i|we)|in (?:\w+ )?order\b(?! to\b)|"
    r"chronolog\w+|timeline of|sequence of)\b|先后顺序|时间顺序",
    re.I,
)
_ONLY = re.compile(r"\b(?:mention|list|name) only\b.*", re.I | re.S)
"""How many are wanted is no part of what is asked for."""
_NOW = re.compile(
    r"\b(?:at (?:the|this) (?:moment|present|time)|at present|(?:in|on) (?:these|those) days|these days|nowadays|"
    r"right now|(?:as of|by|until|up to) now|now|currently|presently|so far|to date|for the time being)\b",
    re.I,
)
"""Which moment is meant is no part of it either: who writes "at the moment" says nothing about rent."""
# Words that speak about the asking or the conversation, not about what was said in it.
_META_WORDS = (
    "summary summarize summarise comprehensive complete overview recap order list aspect different "
    "various throughout across conversation conversations discussion chat session mention bring brought "
    "item only walk give provide remind recall previous previously earlier discuss far key include "
    "specific specifically regarding related topic"
)


def ask(question: str, asked_at: int | None = None, people: Iterable[str] = ()) -> Asked:
    """Read a question's cues; ``people`` are the names of known speakers."""
    named = _named(question, people)
    order, text = bool(_ORDER.search(question)), question
    question = _ONLY.sub("", question) or question
    own = {token for name in named for token in words(name)}
    said = _NOW.sub(" ", question)
    found = dict.fromkeys(content_words(said)) or dict.fromkeys(words(question))
    terms = [t for t in found if t not in _meta()] or list(found)
    strict = sum(bit for bit, pattern in _STRICT if pattern.search(question))
    kept = tuple(t for t in terms if t not in own) or tuple(terms)
    return Asked(
        text=text,
        terms=kept,
        kinds=tuple(asked_kinds(t) for t in kept),
        people=named,
        windows=_windows(question, asked_at),
        wants=_wants(question),
        strict=strict,
        to_assistant=bool(_TO_ASSISTANT.search(question)),
        advice=bool(_ADVICE.search(question)) and not _PAST.search(question),
        summary=bool(_SUMMARY.search(question)) and not order,
        several=bool(_SEVERAL.search(question)),
        asked_at=asked_at,
        order=order,
        why=bool(_WHY.search(question)),
    )


@cache
def _meta() -> frozenset[str]:
    return frozenset(words(_META_WORDS))


def _wants(question: str) -> int:
    return (
        (TIME if _WHEN.search(question) else 0)
        | (NUMBER if _COUNT.search(question) else 0)
        | (NAME if _WHO.search(question) else 0)
    )


def first_names(question: str) -> frozenset[str]:
    """The words of a question that may name a speaker; folded."""
    return frozenset(fold(question.replace("'s", " ").replace("’s", " ")).split())


def _named(question: str, people: Iterable[str]) -> tuple[str, ...]:
    """Known speakers whose name, or first name, is in the question; folded."""
    asked = first_names(question)
    keys = dict.fromkeys(fold(name) for name in people)
    return tuple(key for key in keys if key and key.split()[0] in asked)


def _windows(question: str, asked_at: int | None) -> tuple[tuple[int, int], ...]:
    base = datetime.fromtimestamp((asked_at or 0) / 1e6, UTC)
    spans = find_dates(question, base)
    return tuple((s.start, s.end) for s in spans if asked_at is not None or s.start > 0)
