"""What may answer a question: the ends of facts, and typed values in the sentences of the evidence.

It gathers and types; which of them answers is decided in `read/answers.py`. A value has a kind (name,
place, date, weekday, clock, duration, money, count, amount, thing), the sentence it stands in, and
what is known of its time.

    "We pay 640 euros." → money "640 euros"; "Rosa moved to Lisbon" → name "Rosa", place "Lisbon"

A sentence tells of several things: "I'm Henrike, 41, and I live with Jonas and our girls" holds an age, and it is
not a girl's. A clause is what stands between two commas, colons or joining words; what stands before a colon is
the topic of all that follows it. Whether a value stands where the question points shows from the words of one sentence
and the turn around it.

    "Dues are $60 a term, students pay half" → $60 is not told of students
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant, to_datetime
from worldline.dates import DateSpan, find_dates
from worldline.lexicon import words as listed_words
from worldline.read.cues import is_everyday
from worldline.reading.claim import PLAN, stem
from worldline.reading.families import Family, families
from worldline.reading.questions import PLACE_PREPS
from worldline.rules.happenings import SaidSentence
from worldline.store.search import FactAround
from worldline.text import fold, stop

if TYPE_CHECKING:
    from worldline.read.weighing import Ground


_TO_TWELVE = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_NUM = (
    rf"(?:\d{{1,3}}(?:[,.]\d{{3}})+(?:\.\d+)?|\d+(?:[.,]\d+)?|(?:{_TENS})(?:-(?:{_TO_TWELVE}))?|{_TO_TWELVE}|"
    r"thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|a dozen|half a dozen)"
)
_NUMBERED = re.compile(rf"\d|\b(?:{_TO_TWELVE}|{_TENS}|thirteen|fifteen|(?:half )?a dozen)", re.I)
"""Where there is no such beginning there is no number."""
_CURRENCY = r"(?:euros?|dollars?|pounds?|francs?|bucks|quid|kronor|eur|usd|gbp|chf|rupees|yen|€|£|\$)"
_PER = (
    r"(?:\s*(?:per|a|an|each|/)\s*(?:month|week|year|day|hour|night|person|seat|head|user|kilo|kg)\b"
    r"|\s+(?:monthly|yearly|weekly)\b)?"
)
_MONEY = re.compile(
    r"(?:[$€£¥]\s?\d[\d,.]*\d?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?"
    rf"|\b{_NUM}(?:\s?(?:k|million|billion|thousand|hundred))?\s?{_CURRENCY}\b|\b\d[\d,.]*\s?[€£$]){_PER}"
    r"|(?<![\d.,])\d[\d,.]*\d (?:an?|per) (?:month|week|year|day|hour|night|person|seat|head|session|kilo|kg)\b",
    re.I,
)
_CLOCK = re.compile(
    r"\b(?:\d{1,2}[:.]\d\d(?:\s?[ap]\.?m\.?)?|\d{1,2}\s?(?:[ap]\.?m\.?|o'clock)"
    rf"|(?:{_TO_TWELVE}|\d{{1,2}}) (?:in the (?:morning|afternoon|evening)|at night)"
    rf"|(?:half|quarter) (?:past |to )?(?:{_TO_TWELVE})|(?<=at )(?:{_TO_TWELVE}|\d{{1,2}})(?! \w+s\b)"
    r"|noon|midnight)(?!\w)",
    re.I,
)
_TIME_UNIT = (
    r"(?:seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|fortnights?|months?|years?|yrs?|decades?)"
)
_DURATION = re.compile(
    rf"\b(?:{_NUM}|a|an|half an?|a few|a couple of)(?:\s+and a half)?[\s-]{_TIME_UNIT}\b(?!\s+old)", re.I
)
_RATE = re.compile(rf"(?:\d|{_CURRENCY}|\b(?:times?|once|twice|hours?|days?|nights?))\s+$", re.I)
"""What stands before "a year" where that is no time that passes."""
_WEEK = "mon|tues|wednes|thurs|fri|satur|sun"
_OFTEN = re.compile(
    rf"\b(?:once|twice|(?:{_NUM}|several|a few) times)(?: or twice)? (?:a|per|every|each)"
    r" (?:day|week|month|year|night|fortnight)\b"
    rf"|\b(?:every|each) (?:other |second |{_NUM} )?(?:day|week|month|year|night|morning|evening|weekend|fortnight"
    rf"|hour|(?:{_WEEK})day)s?\b|\b(?:daily|weekly|monthly|yearly|annually|fortnightly)\b",
    re.I,
)
_WEEKDAY = re.compile(rf"\b(?:{_WEEK})days?(?:(?:,| and| &| or| to)(?: and)? (?:{_WEEK})days?)*\b", re.I)
_ONE_DAY = re.compile(rf"\b(?:{_WEEK})days?\b", re.I)
_MOVED = re.compile(r"\b(?:mov|shift|switch|chang|reschedul|push)\w*\b[^.!?]*\bfrom\s+$", re.I)
"""What is moved from Tuesday to Friday does not last from the one to the other."""
_UNIT = (
    r"(?:(?:square |sq\.? ?)?(?:kilo|centi)?met(?:re|er)s?|m²|mg|kg|g|kilos?|grams?|km|k|m|cm|mm|ml|l|litres?|liters?"
    r"|miles?|feet|foot|inches|tons?"
    r"|percent|%|degrees|°c?|gb|mb|tb|kw|kwh|stone|lbs?|ms)"
)
_BEGINS_WITH_NUMBER = re.compile(rf"{_NUM}\b", re.I)
_AMOUNT = re.compile(rf"\b{_NUM}\s?{_UNIT}(?![a-z])", re.I)
_COUNT = re.compile(
    rf"(?<![\w.,:/#-]){_NUM}(?![\w:/]|[.,]\d|\s?[°%])"
    r"(?:\s+((?:[a-z][a-z-]*\s+){0,2}?[a-z][a-z-]*s\b|people|children|men|women|staff))?",
    re.I,
)
_AGE = re.compile(
    rf"\b({_NUM})(?:[- ]years?[- ]old|\s+years of age)\b|(?:\b(?:is|am|turned|turning|turns|aged)|['’]m|,)\s+"
    rf"({_NUM})(?=[,.;!]|$| (?:now|today|and|next|in|this)\b)",
    re.I,
)
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAY = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)\b|\b\d{{1,2}}(?: of)? (?:{_MONTH})[a-z]*\b"
    rf"|\b(?:{_MONTH})[a-z]* \d{{1,4}}\b|\b(?:19|20)\d\d\b",
    re.I,
)
_QUOTED = re.compile(r"[\"“«]([^\"”»]{2,60})[\"”»]")
_CONTACT = re.compile(
    r"\b[\w.+-]+@[\w-]+\.[\w.]+\b|\b(?:https?://)?[\w-]+(?:\.[\w-]+)+\.[a-z]{2,}\b|\b[\w-]+\.example\b"
    r"|(?<![\w-])\+?\d[\d ()-]{6,}\d\b"
)
_CODE = re.compile(
    r"(?<![\w.,:-])(?:[A-Z]{1,5}[ -]?)?\d[\dA-Z]*(?:[ -][\dA-Z]*\d[\dA-Z]*| [A-Z]{2,4}\b)*(?![\w:%]|[.,]\d)"
)
_WHERE = r"(?:in|at|on|under|behind|beside|inside|outside|near|above|below|beneath|between|into|from|next to|opposite)"
_THERE = (
    r"(?:the|my|our|his|her|their|an?) [a-z][\w’'-]*"
    r"(?: (?!(?:and|but|for|to|so|with|by|of|is|are|was|were|has|had|will|that|which|who|when|where|because|since"
    rf"|until|as|if|the|my|our|{_WHERE[3:-1]})\b)[\w’'-]+){{0,2}}"
)
_TIME_OF = r"(?!the (?:end|moment|time|meantime|morning|afternoon|evening|week|weekend|month|year|day)\b)"
_SPOT = re.compile(rf"\b{_WHERE} ({_THERE}(?: (?:of|by|{_WHERE[3:-1]}) {_TIME_OF}{_THERE})?)")
"""Where something is that has no name: "in the red tin", "in the cupboard under the stairs"."""
_FIGURE = re.compile(
    r"(?<![\w.,:/#$€£-])(?:\d{1,3}(?:,\d{3})+|\d+\.\d+|\d{3,})(?: (?:thousand|million|billion))?(?![\w:%/]|[.,]\d)"
)
"""A number that counts nothing: a price without its currency, what a meter shows."""
_PART = re.compile(
    r"\b(?:(?:in the|each|every) )?(?:(?:early|late|mid) )?(?:morning|afternoon|evening)s?\b|\bat night\b",
    re.I,
)
"""A part of the day."""
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ]"
_NAME = re.compile(
    r"(?<![\w'’&])(?:(?:Mr|Mrs|Ms|Dr|Prof|Frau|Herr|Señor|Señora|St|Mt)\.? )?"
    rf"{_CAPITAL}[\w’'.-]*(?:(?: (?:of the|of|the|&|de|da|do|van|von|der|la|le|and) (?={_CAPITAL}))?"
    rf"(?: ?{_CAPITAL}[\w’'-]*| \d+[\w.]*))*"
)
_WORD = re.compile(r"[^\W_]+")
_IN = re.compile(
    r"\b(?:in|at|near|from|to|into|outside|around|towards|visiting|visited|via|through)\s+(?:the\s+)?$", re.I
)
_CALLED_TO = re.compile(r"(?:,|^\W*|\b(?:hey|hi|thanks|hello|congrats),?)\s*$", re.I)
_GREETED = re.compile(r"\b(?:hey|hi|hello|thanks|thank you|congrats|morning|dear),?\s+$", re.I)
_STREET = re.compile(
    r"\b(?:street|road|avenue|lane|row|square|place|park|drive|court|hill|bridge|island|city|town|village|county|valley|station)\b",
    re.I,
)
_HOUSE = re.compile(r"\b(\d{1,4}[a-z]?) $")
_TITLED = re.compile(r"^(?:Mr|Mrs|Ms|Dr|Prof|Frau|Herr|Señor|Señora)\b")
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_DAYS = frozenset(f"{day}day{more}" for day in _WEEK.split("|") for more in ("", "s"))
LONGEST = 4000
_SLOT = re.compile(r"^(?:was |did |not |plan )+")


class Item(Struct, frozen=True, gc=False):
    """One thing that may answer a question."""

    value: str
    kind: str
    other: str
    """The other end of the fact; empty for a value in a sentence."""
    sentence: str
    turn: int
    """The key of the turn that says it; 0 where none is at hand."""
    said_at: Instant
    speaker: str = ""
    role: str = ""
    family: str = ""
    slot: str = ""
    phrase: str = ""
    fact: int = 0
    state: str = "holds"
    """holds, over, ahead (a plan, or what happens on a day to come), later (holds only from a day to come on), passed
    (happened or held once), denied, withdrawn."""
    start: Instant = 0
    at: int = 0
    """Where it stands in its sentence."""
    asks: bool = False
    id: str = ""
    """Of the fact."""


class SaidTurn(Struct, frozen=True):
    """A turn of the evidence."""

    key: int
    text: str
    speaker: str
    said_at: Instant
    offset: int
    changes: bool
    """Whether it speaks of a change or takes something back."""
    sentences: Sequence[SaidSentence]
    """Those of its beginning, cut once for all that look for values in them."""
    id: str = ""


# From facts -----------------------------------------------------------------------------------------


class Ends(NamedTuple):
    """The candidates of a fact that no turn at hand says, and the time from and up to which they are these."""

    fact: FactAround
    since: Instant
    until: Instant
    items: Sequence[Item]


def of_facts(
    facts: Sequence[FactAround],
    turns: Mapping[int, SaidTurn],
    now: Instant,
    but: Collection[str] = (),
    kept: dict[int, Ends] | None = None,
) -> Iterator[Item]:
    """Both ends of every fact, each as an answer; not those that go by one of these folded names.

    Of what was so once even these are told, because what is known to be over says what else is. Most facts are the
    same at the next question: what was made of them is kept by their number.
    """
    kept = {} if kept is None else kept
    for fact in facts:
        if turn := turns.get(fact.event):
            items: Sequence[Item] = list(_ends(fact, turn, now))
        else:
            ends = kept.get(fact.node)
            if ends is None or ends.fact is not fact or not ends.since <= now < ends.until:
                ends = kept[fact.node] = _kept(fact, now)
            items = ends.items
        for item in items:
            if item.role != "S" or fold(item.value) not in but or fact.slot[:4] == "was ":
                yield item


def _kept(fact: FactAround, now: Instant) -> Ends:
    """What may be kept of a fact, until it begins or ends or is told."""
    turns = fact.start, fact.end, fact.said_at
    passed = [at for at in turns if at <= now]
    ahead = [at for at in turns if at > now]
    return Ends(
        fact, max(passed, default=-FOREVER), min(ahead, default=FOREVER + 1), tuple(_ends(fact, None, now))
    )


def _ends(fact: FactAround, turn: SaidTurn | None, now: Instant) -> Iterator[Item]:
    family = _family(fact.slot)
    said = (_sentence_of(turn, fact) if turn else "") or fact.text
    kind = _kind(fact.value, fact.kind, family.object if family is not None else "")
    item = Item(
        dated(fact) if kind == "date" else fact.value, kind, fact.subject_name, said, fact.event,
        fact.said_at or fact.start, turn.speaker if turn else "", "O", family.name if family else "", fact.slot,
        fact.phrase, fact.node, _state(fact, now), fact.start, max(0, said.find(fact.value)), id=fact.id,
    )  # fmt: skip
    yield item
    named = fact.subject_name[:1].isupper()
    if family is not None or named:
        kind_ = "name" if named else "thing"
        yield replace(item, value=fact.subject_name, kind=kind_, other=fact.value, role="S", at=0)
    shown = show_date(fact.start, fact.precision, fact.offset) if fact.dated and kind != "date" else ""
    if shown:
        yield replace(item, value=shown, kind="date", role="T", at=0)


@lru_cache(maxsize=4096)
def _family(slot: str) -> Family | None:
    """The family that a slot is of, whether it tells what is, was, is planned, or is not so."""
    return families().all.get(_SLOT.sub("", slot).partition(":")[0])


def _state(fact: FactAround, now: Instant) -> str:
    if fact.withdrawn:
        return "withdrawn"
    if fact.slot.startswith("not "):
        return "denied" if _DENIES.search(fact.phrase) else "over"
    if fact.end != FOREVER and fact.end <= now:
        return "over"
    if fact.slot.startswith(("was ", "did ")):
        return "passed"
    if fact.slot.startswith(PLAN):
        return "ahead"
    if fact.start <= now or fact.kind == "date":
        return "holds"
    family = _family(fact.slot)
    happens = family.name in _HAPPENS if family is not None else bool(fact.dated and fact.precision)
    return "ahead" if happens and fact.said_at <= now else "later"


_HAPPENS = frozenset({"plans", "travels_to", "treatment", "visited"})
"""Families of what is told while it is ahead, as is what no family knows: "the party is at the Anchor on 20 June"."""


@lru_cache(maxsize=1024)
def tells_a_beginning(family: str, said: str) -> bool:
    """Whether a question has the words in which something of a family begins: to move is not to live there."""
    known, own = families().all.get(family), {stem(word) for word in _WORD.findall(said.lower())}
    begins, holds = (known.begins, known.states) if known is not None else ((), ())
    return any(wording <= own for wording in set(map(_wording, begins)) - set(map(_wording, holds)))


def _wording(pattern: str) -> frozenset[str]:
    """The words of "S be moved over to O" that say something: the rest stands in any clause."""
    return frozenset(stem(w) for w in pattern.split() if w not in PLACE_PREPS and w != "be" and w.islower())


_DENIES = re.compile(r"\b(?:not|never|no|cannot)\b|n['’]t\b", re.I)
"""What is said not to be so, and not merely to be over: "moved from", "left"."""


def _sentence_of(turn: SaidTurn, fact: FactAround) -> str:
    if fact.chars[1] <= 0:
        return ""
    at = fact.chars[0]
    return next((said.text for said in turn.sentences if said.begin <= at < said.begin + len(said.text)), "")


@lru_cache(maxsize=4096)
def _kind(said: str, kind: str, of: str) -> str:
    """What kind of thing a fact's object is: by the value, the kind it was stored as, and what its family has."""
    if (kind == "date" or of == "date") and _SAYS_WHEN.search(said):
        return "weekday" if _WEEKDAY.fullmatch(said) and said.lower().endswith("s") else "date"
    if _MONEY.fullmatch(said):
        return "money"
    if of == "place" or (of in ("person", "animal") and any(c.isupper() for c in said)):
        return "place" if of == "place" else "name"
    if _DURATION.fullmatch(said):
        return "duration"
    if _CLOCK.fullmatch(said):
        return "clock"
    if of == "time" and re.search(r"\d", said):
        return "clock"
    if _WEEKDAY.fullmatch(said):
        return "weekday"
    if _BEGINS_WITH_NUMBER.match(said) and not said[:1].isupper():
        return "money" if _MONEY.search(said) else "amount" if _AMOUNT.match(said) else "count"
    return "name" if said[:1].isupper() else "thing"


_SAYS_WHEN = re.compile(
    rf"\b(?:(?:{_MONTH})[a-z]*|\d{{1,2}}(?:st|nd|rd|th)|(?:{_WEEK})days?|today|tonight|tomorrow|yesterday|week|weekend"
    r"|month|year|day|(?:19|20)\d\d|spring|summer|autumn|fall|winter|morning|afternoon|evening|night|noon"
    r"|christmas|easter|new year)\b|\d[/.-]\d",
    re.I,
)


def dated(fact: FactAround) -> str:
    """A date that a fact has as its value, in full where it could be resolved."""
    shown = show_date(fact.start, fact.precision, fact.offset) if fact.dated and fact.precision else ""
    if not shown:
        return fact.value
    day = re.search(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", fact.value, re.I)
    clock = _CLOCK.search(fact.value)
    tail = f" at {clock.group()}" if clock and clock.group() not in shown else ""
    return f"{day.group().capitalize()}, {shown}{tail}" if day else f"{shown}{tail}"


def show_date(start: Instant, precision: str, offset: int) -> str:
    """ "15 June 2025", "June 2025", "2025", by precision and in the speaker's time; empty for vaguer ones."""
    at = to_datetime(start, offset)
    if precision == "year":
        return str(at.year)
    if precision == "month":
        return f"{at:%B} {at.year}"
    if precision in ("day", "part"):
        return f"{at.day} {at:%B} {at.year}"
    if precision in ("hour", "minute"):
        return f"{at.day} {at:%B} {at.year} at {at.hour}:{at:%M}"
    return ""


# From the evidence ------------------------------------------------------------------------------------


def of_turns(turns: Sequence[SaidTurn], kinds: frozenset[str]) -> Iterator[Item]:
    """Typed values in the sentences of the evidence."""
    for turn in turns:
        dates = []
        if "date" in kinds:
            dates = nearest_dates(turn.text[:LONGEST], to_datetime(turn.said_at, turn.offset))
        for sentence, begin, asks in turn.sentences:
            for value, kind, at in _values(sentence, begin, dates, kinds, turn.offset):
                yield Item(
                    value,
                    kind,
                    "",
                    sentence,
                    turn.key,
                    turn.said_at,
                    turn.speaker,
                    at=at,
                    start=turn.said_at,
                    asks=asks,
                )


FAR, SOON = timedelta(days=200), timedelta(days=120)


def nearest_dates(text: str, said_at: datetime) -> list[DateSpan]:
    """The dates of a text; "14 November", said in October, is the one ahead unless a year or a tense says more."""
    found = find_dates(text, said_at)
    now = int(said_at.timestamp() * 1e6)
    far = now - int(FAR.total_seconds() * 1e6)
    if not any(span.start < far and not _YEAR.search(span.text) for span in found):
        return found
    ahead = {span.chars: span for span in find_dates(text, said_at, tense="future")}
    soon = now + int(SOON.total_seconds() * 1e6)
    return [
        later
        if span.start < far
        and not _YEAR.search(span.text)
        and (later := ahead.get(span.chars, span)).start <= soon
        and not _PAST.search(text[max(0, span.chars[0] - 60) : span.chars[0]])
        else span
        for span in found
    ]


_YEAR = re.compile(r"\d{4}|\blast\b|\bago\b", re.I)
_PAST = re.compile(r"\b(?:was|were|had|did|\w+ed)\b[^.!?]*$", re.I)


def _values(
    sentence: str, begin: int, dates: Sequence[DateSpan], kinds: frozenset[str], offset: int
) -> Iterator[tuple[str, str, int]]:
    yield from _dates(sentence, begin, dates, offset)
    numbered = bool(_NUMBERED.search(sentence))
    for kind, pattern in _TYPED.items():
        if kind in kinds and (numbered or kind not in _OF_NUMBERS):
            for found in pattern.finditer(sentence):
                if kind == "duration" and _RATE.search(sentence[: found.start()]):
                    continue  # 80 euros a year
                if kind == "weekday" and _MOVED.search(sentence[: found.start()]):
                    yield from ((day.group(), kind, day.start()) for day in _ONE_DAY.finditer(sentence))
                else:
                    part = found.lastindex or 0
                    yield found.group(part).strip(" ,."), kind, found.start(part)
    if numbered and "count" in kinds:
        yield from _counts(sentence)
    if numbered and "figure" in kinds:
        taken = [m.span() for pattern in (_MONEY, _AMOUNT, _DAY) for m in pattern.finditer(sentence)]
        yield from (
            (m.group(), "figure", m.start()) for m in _FIGURE.finditer(sentence) if _is_free(m, taken)
        )
    if kinds & {"name", "place"}:
        yield from _names(sentence)


_TYPED = {
    "money": _MONEY, "clock": _CLOCK, "duration": _DURATION, "frequency": _OFTEN, "weekday": _WEEKDAY,
    "amount": _AMOUNT, "contact": _CONTACT, "quoted": _QUOTED, "age": _AGE, "code": _CODE, "spot": _SPOT,
    "part": _PART,
}  # fmt: skip


_OF_NUMBERS = frozenset({"money", "amount", "age", "code"})
"""Kinds of values that have a number in them, in digits or in words."""


def _dates(
    sentence: str, begin: int, dates: Sequence[DateSpan], offset: int
) -> Iterator[tuple[str, str, int]]:
    for span in dates:
        if not begin <= span.chars[0] < begin + len(sentence):
            continue
        shown = _show_span(span, offset)
        if shown:
            day = re.search(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", span.text, re.I)
            yield (f"{day.group().capitalize()}, {shown}" if day else shown), "date", span.chars[0] - begin


def _show_span(span: DateSpan, offset: int) -> str:
    """ "4 to 17 August 2024" for days from and to, else the one date."""
    first = show_date(span.start, span.precision, offset)
    if span.role != "range" or span.precision != "day":
        return first
    begins, last = to_datetime(span.start, offset), to_datetime(span.end - 1, offset)
    if begins.date() >= last.date():
        return first
    if (begins.year, begins.month) == (last.year, last.month):
        first = str(begins.day)
    return f"{first} to {last.day} {last:%B} {last.year}"


def _counts(sentence: str) -> Iterator[tuple[str, str, int]]:
    """Numbers that count something, not those inside of prices, times and codes."""
    taken = [m.span() for pattern in (_MONEY, _CLOCK, _DAY) for m in pattern.finditer(sentence)]
    for found in _COUNT.finditer(sentence):
        value = found.group().strip(" ,.")
        named = re.search(r"[A-Z]\w* $", sentence[: found.start()]) and found.start() > 8
        if not re.match(r"one(?: of\b|$)", value, re.I) and not named and _is_free(found, taken):
            yield value, "count", found.start()


def _is_free(found: re.Match[str], taken: Sequence[tuple[int, int]]) -> bool:
    return not any(begin < found.end() and found.start() < end for begin, end in taken)


def _names(sentence: str) -> Iterator[tuple[str, str, int]]:
    """Runs of capitals; a place may have a wider one behind it ("Walkley, Sheffield")."""
    ended = ("", -1)
    for found in _NAME.finditer(sentence):
        value = re.sub(r"(?:['’]s|['’])$|[.,]+$", "", found.group().strip())
        low = [w.lower() for w in _WORD.findall(value)]
        while low and (low[0] in _COMMON or low[0] in stop()):
            value, low = value.partition(" ")[2], low[1:]
        if (
            not low
            or not value[:1].isupper()
            or low[0] in _MONTHS | _DAYS
            or len(value) < 2
            or any(w in _DAYS for w in low)
        ):
            continue
        if found.start() == 0 and len(low) == 1 and not _opens_as_name(low[0], sentence[found.end() :]):
            continue
        if (
            _known_name(low[0])
            and _CALLED_TO.search(sentence[: found.start()])
            and re.match(r"[!?.]*$", sentence[found.end() :])
        ):
            continue  # "sounds great, Mel!"
        if _GREETED.search(sentence[: found.start()]) and re.match(r"\s*[,!.]", sentence[found.end() :]):
            continue  # "Hey Mel, how are you?"
        if ended[0] and sentence[ended[1] : found.start()] == ", ":
            yield f"{ended[0]}, {value}", "place", ended[1] - len(ended[0])
            continue
        place = _placed(value, sentence[: found.start()])
        number = _HOUSE.search(sentence[: found.start()]) if _STREET.search(value) else None
        begin = number.start() if number else found.start()
        value = f"{number[1]} {value}" if number else value
        ended = (value, begin + len(value)) if place else ("", -1)
        yield value, "place" if place else "name", begin


def _opens_as_name(low: str, behind: str) -> bool:
    """Whether the word that opens a sentence is a name: a known one, or no everyday word and it does something."""
    return _known_name(low) or (bool(_DOES.match(behind)) and not is_everyday(low))


_DOES = re.compile(
    r" (?:(?:really|also|just|still|mostly|only|never|always) )?"
    r"(?:is|was|has|had|does|did|do|can|will|would|could|might|must|[a-z]{2,}(?:s|ed)|[a-z]+n['’]?t"
    r"|said|took|got|made|went|came|told|paid|broke|left|gave|won|sent|wrote|found|lost|bought|sold)\b"
)


def _known_name(low: str) -> bool:
    return low in listed_words("given_names.txt")


def _placed(value: str, before: str) -> bool:
    if _TITLED.match(value) or _known_name(value.split()[0].lower()):
        return False
    return bool(_IN.search(before)) or bool(_STREET.search(value))


_COMMON = frozenset(
    "i i'm im the a an it its we they he she you my our your this that these those there and but so or if when "
    "what who how why where yes no ok okay oh wow hi hey hello thanks thank please btw lol omg also just not then "
    "now today tomorrow yesterday mum mom dad god last next fri sat sun mon tue wed thu thurs every all some any "
    "first second new good great happy".split()
)


# Behind a word of the question --------------------------------------------------------------------------

_TAIL = re.compile(
    r"^[^\w\n.,;!?]{0,3}\s*(?:(?:is|was|are|were|'s|’s|be|will be)\s+)?"
    r"(?:(?:called|named|(?P<place>at|to|on|in|from)|for|as|with|about|by|of)\s+)?"
    r"(?:(?:a|an|the|my|our|his|her|their|its|some|both)\s+)?(?P<value>[^\s.,;!?:()][^.,;!?:()\n]{0,60})",
    re.I,
)
_STOPS = re.compile(
    r"\s+(?:in|at|on|for|with|from|to|by|because|since|but|so|when|while|which|who|that|if|as|about|than|after|before"
    r"|until|over|this|last|next|every|now|today|yesterday|tomorrow|again|too|instead|anymore|any"
    r"|and (?:i|we|he|she|it|they|the|my|his|her|then|now))\b.*$",
    re.I | re.S,
)


def behind(turns: Sequence[SaidTurn], anchors: frozenset[str]) -> Iterator[Item]:
    """What stands right behind a word that the question uses: "studies geodesy", "blood type is B"."""
    for turn in turns if anchors else ():
        for sentence, _, asks in turn.sentences:
            for found in () if asks else _WORD.finditer(sentence):
                if stem(found.group().lower()) not in anchors:
                    continue
                tail = _TAIL.match(sentence[found.end() :])
                value = _STOPS.sub("", tail["value"]).strip() if tail else ""
                low = value.lower().split()
                if (
                    value
                    and len(low) <= 5
                    and low[0] not in _COMMON | _DAYS | _MONTHS
                    and not _MONEY.search(value)
                ):
                    yield Item(
                        value,
                        "place" if tail and tail["place"] and value[:1].isupper() else _kind_of_text(value),
                        "",
                        sentence,
                        turn.key,
                        turn.said_at,
                        turn.speaker,
                        role="B",
                        at=found.end(),
                        start=turn.said_at,
                    )


def phrases(turns: Sequence[SaidTurn]) -> Iterator[Item]:
    """What stands between the small words of a sentence: something is said there, though nothing tells of what kind."""
    for turn in turns:
        for sentence, _, asks in turn.sentences:
            for found in () if asks else _PHRASE.finditer(sentence):
                run = [w for w in _WORD.finditer(found.group()) if w.group().lower() not in stop()]
                for word in run:
                    yield Item(
                        word.group(), "phrase", "", sentence, turn.key, turn.said_at, turn.speaker,
                        at=found.start() + word.start(), start=turn.said_at,
                    )  # fmt: skip


_PHRASE = re.compile(r"[^.,;:!?()]+")


def _kind_of_text(value: str) -> str:
    if _WEEKDAY.fullmatch(value):
        return "weekday"
    return "name" if value[:1].isupper() else "count" if _BEGINS_WITH_NUMBER.match(value) else "thing"


_CHANGED = re.compile(
    r"\b(?:mov|shift|switch|chang|rais|cut|went|go(?:es|ing)?|upgrad|migrat)\w*\b[^.!?]*\bfrom\s+$", re.I
)
_TO = re.compile(r"^\W*(?:\w+\W+){0,4}to\b", re.I)


def is_left(item: Item) -> bool:
    """Whether something "moved from" this value "to" another."""
    before = item.sentence[: item.at]
    if item.fact or before.rstrip()[-4:].lower() != "from" or not _CHANGED.search(before):
        return False
    return bool(_TO.match(item.sentence[item.at + len(item.value) :]))


# Where a value stands --------------------------------------------------------------------------------


SENTENCE, TURN = 0.8, 0.5
"""How far a name tells whose a value is that stands in the same sentence, or only in the same turn."""
ABSENT = 0.4
"""What is left of a value where whoever is asked about is named nowhere around it."""
OTHERS = 0.4
"""What is left of a value that the speaker tells of themselves, where somebody else is asked about."""

_SUBJECT = r"(?:I|we|he|she|it|they|you|my|our|his|her|their|the|there|[A-Z]\w+)\b"
_JOINED = re.compile(
    rf"[;()]|\s[-–—]\s|[.!?]\s|,\s+(?:and|but|so|or|because|while|then)\b|,\s+(?={_SUBJECT})"
    rf"|\s(?:and|but|so|because|while|although|though|then)\s+(?={_SUBJECT}\s+\w)",
)
_TOPIC = re.compile(r"^[^:,;.!?]{1,40}:\s")
FIRST_PERSON = re.compile(r"\b(?:I|I['’]\w+|my|mine|me|we|we['’]\w+|our|ours|us)\b", re.I)
_THIRD_PERSON = re.compile(
    r"\b(?:he|she|it|they|his|her|hers|its|their|him|them|who|which)(?:['’]\w+)?\b", re.I
)
_POSSESSIVE = re.compile(r"['’]s?(?![\w])")


def clause(item: Item) -> str:
    """The clause in which a value stands, behind its topic."""
    return _clause(item.sentence, item.at, item.at + len(item.value))


@lru_cache(maxsize=4096)
def _clause(sentence: str, begin: int, end: int) -> str:
    topic = _TOPIC.match(sentence)
    start = topic.end() if topic and topic.end() <= begin else 0
    cuts = [start, *(m.start() for m in _JOINED.finditer(sentence, start))]
    low = max((cut for cut in cuts if cut <= begin), default=0)
    high = min((cut for cut in cuts if cut >= end), default=len(sentence))
    return (topic.group() if start and topic else "") + sentence[low:high]


@lru_cache(maxsize=4096)
def names_in(text: str) -> frozenset[str]:
    """The words of a text as names are compared: "Tom's" says Tom."""
    return frozenset(fold(_POSSESSIVE.sub("", text)).split())


def others_asked(ground: Ground) -> Sequence[frozenset[str]]:
    """The words of each name that is asked about but the asker's, or of those whom the roles mean."""
    about, question = ground.about, ground.question
    return _others(about.meant if about.roles else None, tuple(question.names), question.noun, about.me)


@lru_cache(maxsize=64)
def _others(
    meant: frozenset[str] | None, names: tuple[str, ...], called: str, me: frozenset[str]
) -> Sequence[frozenset[str]]:
    """The same for all candidates of a question."""
    asked = [fold(name) for name in names if name.lower() != called] if meant is None else meant
    titles = listed_words("titles.txt")
    kept = [frozenset(name.split()) for name in asked if name not in me and name not in _FEASTS]
    return [name - titles or name for name in kept]


_FEASTS = frozenset("christmas easter hanukkah passover ramadan eid diwali thanksgiving halloween".split())
"""They tell when and not of whom."""


def standing(ground: Ground, item: Item) -> float:
    """How near to the value those stand who are asked about: 1 in its clause or its fact, 0 where nobody names them."""
    return min((_standing(ground, item, name) for name in others_asked(ground)), default=1.0)


def _standing(ground: Ground, item: Item, name: frozenset[str]) -> float:
    if name & names_in(item.other) or name & names_in(clause(item)) or name & names_in(item.speaker):
        return 1.0
    if name & names_in(item.sentence):
        return SENTENCE
    return TURN if name & names_in(ground.texts.get(item.turn, "")) else 0.0


def is_strangers(ground: Ground, item: Item) -> bool:
    """Whether the speaker tells it of themselves, where somebody else is asked about."""
    names = others_asked(ground)
    if not names or item.other:
        return False
    here = names_in(clause(item)) | names_in(item.speaker)
    return all(name.isdisjoint(here) for name in names) and _is_speakers(item)


def _is_speakers(item: Item) -> bool:
    """Whether a clause tells of the speaker, and of nobody else by a pronoun."""
    said = clause(item)
    return bool(FIRST_PERSON.search(said)) and not _THIRD_PERSON.search(said)


def bears(ground: Ground, item: Item) -> float:
    """What is left of a value by how it stands to those who are asked about."""
    near = ABSENT + (1 - ABSENT) * standing(ground, item)
    return near * OTHERS if is_strangers(ground, item) else near


def is_told_of(ground: Ground, item: Item) -> bool:
    """Whether the value is said of all whom the question names: in its clause, or by a word that stands for them."""
    return all(_is_told_of(ground, item, name) for name in others_asked(ground))


def _is_told_of(ground: Ground, item: Item, name: frozenset[str]) -> bool:
    near = _standing(ground, item, name)
    if near == 1.0:
        return True
    if near == 0.0:  # where nobody speaks of it at all, it tells nothing of this one
        return all(name.isdisjoint(names_in(text)) for text in ground.texts.values())
    if _THIRD_PERSON.search(clause(item)):
        return True
    text = ground.texts.get(item.turn, item.sentence)
    before = text[: max(0, text.find(item.sentence)) + item.at]
    return bool(name & names_in(before)) and not _is_speakers(item) and not _names_another(item)


def _names_another(item: Item) -> bool:
    """Whether the clause begins with a name of its own; that of a sentence begins with a capital anyway."""
    said = clause(item)
    first = re.match(r"\W*(?:(?:and|but|so|then)\b\W*)?([A-Z]\w+)", said)
    if first is None or first[1] in item.value:
        return False
    return not item.sentence.startswith(said) or first[1].lower() in listed_words("given_names.txt")


_OWNED = re.compile(r"(?:\b([A-Z]\w+)['’]s|\b(his|her|their))\s+(?:\w+\s+){0,2}$")


def is_owned_otherwise(ground: Ground, item: Item) -> bool:
    """Whether my birthday is asked for and the sentence tells of Anjali's."""
    mine = [one.roles[0] for one in ground.question.whose if not one.name and len(one.roles) == 1]
    if not mine:
        return False
    said = clause(item)
    found = [re.search(rf"\b{re.escape(noun)}", said, re.I) for noun in mine]
    return any(one is not None and _OWNED.search(said[: one.start()]) for one in found)


def parts_behind(item: Item) -> list[str]:
    """What the sentence goes on with behind the value, cut at its commas."""
    rest = item.sentence[item.at + len(item.value) :]
    return re.split(r"[,;.!?]\s", rest)[1:]


def up_to(item: Item) -> str:
    """The sentence up to the end of the part that holds the value."""
    end = item.at + len(item.value)
    return item.sentence[:end] + re.split(r"[,;.!?](?:\s|$)", item.sentence[end:])[0]
