"""Running measures: which value of a clause is one, of what, and when two belong to one series.

Decides whether "three times a week", "page 220" or "four so far" is a standing measure (rather than
part of one happening), the words that name what is measured, and the unit that must agree.

    "I've been using my watch for 9 months" → a duration of "use watch"
"""

from __future__ import annotations

import re

import msgspec

from worldline.claims import LIGHT, Claim, predicate_key, stem
from worldline.wordlists import word_list, word_set
from worldline.write.clauses import Clause
from worldline.write.values import ORDINALS, SMALL, Value

IRREGULAR_PAST = word_set(
    "went bought got saw met took made came gave ate found told said left began ran "
    "won lost felt flew drove spent "
    "had did was were wrote read built sold taught thought brought caught fought "
    "sang swam drank drew grew knew threw "
    "wore broke chose spoke woke rode hit cut put set let led fell kept slept "
    "sent lent held heard stood understood paid "
    "became forgot hid bit shot fed dug hung stuck struck meant learnt dreamt"
)
LIGHT_VERBS = word_set(
    "do does doing done go goes going gone went have has having had attend attending "
    "attends take taking takes took "
    "get getting got practice practicing practise make making been keep keeping "
    "try trying tried start starting started "
    "be am is are usually"
)
CUMULATIVE = re.compile(
    r"\b(?:so far|already|now|in total|altogether|to date|and counting|until now|"
    r"since)\b",
    re.I,
)
HABIT = re.compile(r"\b(?:usually|always|normally|typically|generally|regularly|every|each)\b", re.I)
GLUE = word_set(
    "for with at in on of to by from about around so far already now and the a an my "
    "our some any this that these "
    "those different new good great really very each every per times time since "
    "it them ones one two more most "
    "usually just only over almost nearly roughly last past which is are am was"
)
SPENT = frozenset(stem(w) for w in ("spent", "put", "logged", "dedicated", "invested"))
PRONOUN = re.compile(r"\b(?:ones|it|them|they|that|those|this)\b", re.I)
DULL = word_set(
    "i you we they he she any some good great nice lately recently tried try city "
    "have lot much many help think know "
    "want like love time day week month year way thing things today now your yours can could would recommend"
)


def is_appointment(claim: Claim, verb: str, clause: Clause) -> bool:
    """ "I have a meeting at 2 on Tuesday" is one meeting; "on Tuesdays" and "a dance class" are not."""
    if claim.kind not in ("clock", "weekday") or HABIT.search(clause.text):
        return False
    plural = re.search(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days\b", clause.text, re.I)
    lasting = re.search(r"\b(?:class|classes|lesson|lessons|practice|training|course)\b", clause.text, re.I)
    return verb in ("have", "has", "am", "meet", "meeting") and not plural and not lasting


_FOR = re.compile(r"\bfor\s+(?:about |over |almost |the (?:past|last) )?$")
_ONE_DAY = re.compile(r"\b(?:today|yesterday|tomorrow|last|this (?:week|morning|month|weekend))\b", re.I)


class Verb(msgspec.Struct, frozen=True):
    """How a verb stands in its clause: "I have (already) read", "I have been reading", "I read"."""

    word: str
    adverbs: str
    past: bool
    perfect: bool
    since: bool  # the perfect continuous: still going on


def is_steady(value: Value, verb: Verb, text: str) -> bool:
    """Whether a value is a running measure (a series) rather than part of one happening."""
    if value.kind in ("frequency", "weekday", "clock", "level"):
        return not verb.past and not verb.perfect
    if value.kind == "duration":
        return _steady_duration(value, verb, text)
    if value.kind == "ordinal":
        return "just" in verb.adverbs or "now" in verb.adverbs
    if value.kind in ("count", "times", "distance", "money"):
        return _steady_count(value, verb, text)
    return not verb.past and not verb.perfect


def _steady_duration(value: Value, verb: Verb, text: str) -> bool:
    if verb.perfect and stem(verb.word) in SPENT:
        return True
    lasting = _FOR.search(text[: text.find(value.text)]) or HABIT.search(text)
    return verb.since and lasting is not None


def _steady_count(value: Value, verb: Verb, text: str) -> bool:
    """Counts so far: "I have tried four", "I have two cats", "I just finished 50 so far"."""
    if verb.word == "have" and value.kind == "count":
        return not verb.perfect and not _ONE_DAY.search(text) and value.unit not in _PASSING
    if verb.past and "just" in verb.adverbs and not verb.perfect:
        return bool(CUMULATIVE.search(text)) or stem(verb.word) in _COMPLETED
    counted = CUMULATIVE.search(text) or "already" in verb.adverbs or not _ONE_DAY.search(text)
    return verb.perfect and bool(counted)


_COMPLETED = frozenset(stem(w) for w in ("completed", "finished", "reached", "hit"))
_PASSING = frozenset(
    stem(w)
    for w in word_list(
        "question meeting appointment idea thing option minute hour day week problem task event"
    )
)


def measure_key(content: list[str]) -> str:
    """Light verbs say nothing when a noun is there."""
    heavy = [w for w in content if w.lower() not in LIGHT_VERBS]
    return predicate_key(heavy or content, "")


def topic_words(text: str, values: list[Value]) -> list[str]:
    """The content words of a clause outside its values."""
    chars = list(text)
    for value in values:
        at = text.find(value.text)
        if at >= 0:
            chars[at : at + len(value.text)] = " " * len(value.text)
            if value.kind in ("count", "ordinal"):
                chars[at : at + 1] = " "
    plain = "".join(chars)
    words = [w for w in re.findall(r"[A-Za-z][\w'-]*|\d+", plain) if w.lower() not in GLUE]
    nouns = [w for w in words if w.lower() not in LIGHT and not w.lower().endswith("ly")]
    counted = [v for v in values if v.kind in ("count", "ordinal", "level")]
    inside = [w for v in counted for w in re.findall(r"[A-Za-z][\w'-]+", v.text)]
    modifiers = [
        w for w in inside if w.lower() not in GLUE and w.lower() not in SMALL and w.lower() not in ORDINALS
    ]
    return [*nouns[:5], *modifiers]


def is_vague(topic: list[str], value: Value, near: str) -> bool:
    """Whether the clause needs the one before it to say what is measured."""
    nouns = [w for w in topic[1:] if w.lower() not in GLUE]
    habit = value.kind in ("frequency", "weekday", "clock", "duration") and stem(topic[0]) not in SPENT
    if habit and topic[0] not in LIGHT_VERBS and not PRONOUN.search(near):
        return False
    return not nouns or (bool(PRONOUN.search(near)) and len(nouns) < 2)


def context_words(clause: Clause) -> list[str]:
    """The nouns of the clause before: its quoted title, its names, else its last content words."""
    title = re.search(r"[\"“]([^\"”]+)[\"”]", clause.context)
    if title:
        return [w for w in re.findall(r"[A-Za-z][\w'-]+", title[1]) if w.lower() not in GLUE][:5]
    words = re.findall(r"[A-Za-z][\w'-]+", clause.context)
    good = [w for w in words if w.lower() not in GLUE and w.lower() not in LIGHT and w.lower() not in DULL]
    return [w for w in good if not w.endswith(("ly", "ing"))][-3:]


def is_past(verb: str) -> bool:
    """Whether a verb stands in the past tense."""
    return verb in IRREGULAR_PAST or (verb.endswith("ed") and len(verb) > 3)


def series_unit(value: Value, clause: Clause) -> str:
    """What must agree for two values to be of one series: the counted thing, the days of a clock time."""
    if value.kind == "clock":
        days = re.findall(r"(mon|tues|wednes|thurs|fri|satur|sun)day|(weekend|weekday)", clause.text.lower())
        return " ".join(sorted({a or b for a, b in days}))
    if value.kind == "count":
        words = [w for w in re.findall(r"[A-Za-z][\w'-]+", value.text) if w.lower() not in SMALL]
        return " ".join(sorted({stem(w) for w in words if w.lower() not in GLUE}))
    return value.unit
