"""The rule extractor: the claims and the names of one message, without a model.

Decides which clauses state something, resolves their dates against the time said, and marks the
speaker's own words as such.  Names are only spotted here; who they are is identity.py's decision.

    extract("I live in Porto now.", "Ana", said_at=…) → Ana | live|in | Porto
"""

from __future__ import annotations

import re
from datetime import datetime

import msgspec

from worldline.claims import Claim, Rank
from worldline.dates import DateSpan, find_dates
from worldline.rules.names import GIVEN
from worldline.rules.slots import slot_of
from worldline.wordlists import word_set
from worldline.write.clauses import Clause, clauses, sentences
from worldline.write.relations import PERSONAL, relation
from worldline.write.statements import statement

MAX_TEXT = 6_000


class Mention(msgspec.Struct, frozen=True):
    """A name in a text."""

    name: str
    chars: tuple[int, int]


def extract(
    text: str,
    speaker: str = "",
    addressee: str = "",
    said_at: datetime | None = None,
    *,
    rank: Rank = "user",
) -> list[Claim]:
    """Everything a message claims, in order; `rank` is the authority of the speaker's own words."""
    record = _whole_record(text, speaker, said_at, rank)
    if record is not None:
        return [record]
    found: list[Claim] = []
    for clause in clauses(text[:MAX_TEXT]):
        said = text[clause.begin : clause.end]
        dates = find_dates(said, said_at) if said_at else []
        bare = _undated(clause, dates)
        claims = statement(bare, speaker) if speaker else []
        if not claims and not clause.asks:
            claims = _third_person(bare, text, speaker, addressee)
        found += [_dated(c, said, dates, rank) for c in claims]
    return found


_NOT_A_RECORD = re.compile(
    r"[?!\n;]|^i\b|\b(?:we|you|he|she|they|my|our|your|me|us|him|them|that's|it's)\b"
    r"|\bI (?:am|was|have|had|do|did|will|can|think|love|like|[a-z]+ed)\b|\bI['’](?:m|ve|ll|d)\b"
    r"|^(?:My|Our|Your|His|Her|Their|It|This|That|There|He|She|They|We|You|What|Who|Which|"
    r"Where|When|How|So|Yes|No) [a-z]"
    r"|^(?:Please|Let|Tell|Give|Write|Suggest|Help|Show|List)\b [a-z]"
    r"|^(?:Hey|Hi|Hello|Oh|Wow|Thanks|Thank|Cool|Well|Okay|Ok)\b[^,]{0,20},"
)


def _whole_record(text: str, speaker: str, said_at: datetime | None, rank: Rank) -> Claim | None:
    """The claim of a message that is nothing but one relation sentence, titles and all."""
    line = text.strip()
    if len(line) > 240 or _NOT_A_RECORD.search(line) or len(list(sentences(line))) != 1:
        return None
    claim = relation(line)
    if claim is None or not claim.record or claim.key in ("|be", "|a", "|"):
        return None
    if _RUN_ON.search(claim.subject) or not (_is_solid(claim) or _is_plain(claim, speaker)):
        return None
    begin = text.find(line)
    claim = msgspec.structs.replace(claim, chars=(begin, begin + len(line)))
    dates = find_dates(claim.object, said_at) if said_at else []
    return _dated(claim, claim.object, [d for d in dates if d.chars[0] > 0], rank)


_RUN_ON = re.compile(r"\b(?:is|are|was|were|can|will)\s+[a-z]")
_OPINION = re.compile(r"(?:ing|ful|ive|ous|able|ible|less)$|\b(?:so|very|really|just|what|how)\b")


def _is_plain(claim: Claim, speaker: str) -> bool:
    """A short lower-case value of something named: "Ana's sport is rugby", not "… is amazing"."""
    named = not speaker or re.search(r"(?:^|\s)[A-Z\d]", claim.subject)
    size = len(claim.object.split())
    short = claim.confidence >= 0.7 and (size <= 5 if named else size <= 3)
    return short and not _OPINION.search(claim.object)


_HABITUAL = re.compile(
    r"^(?:on\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:\s+\w+)?$|\d\s*(?:am|pm)|:\d\d|\bpast\b",
    re.I,
)


def _undated(clause: Clause, dates: list[DateSpan]) -> Clause:
    """The clause without its dates, except those that may be habits."""
    text = clause.text
    for span in dates:
        if not _HABITUAL.search(span.text) or text.startswith(span.text):
            text = re.sub(
                rf"[\s,]*(?:\b(?:on|in|at|since|from|by)\s+)?{re.escape(span.text)}",
                "",
                text,
                count=1,
            )
    return clause if text == clause.text else msgspec.structs.replace(clause, text=text.strip(" ,"))


def _third_person(clause: Clause, text: str, speaker: str, addressee: str) -> list[Claim]:
    """A relation sentence about somebody or something named."""
    whole = text[clause.begin : clause.end].strip()
    raw = whole if clause.alone and clause.text in whole else clause.text
    claim = relation(raw)
    if claim is None or claim.subject.split()[0].lower() in PERSONAL:
        return []
    if not _says_something(claim) or (speaker and not _is_about_a_name(claim, speaker, addressee)):
        return []
    if not clause.alone and (len(raw.split()) > 14 or not _is_solid(claim)):
        return []
    record = claim.record and clause.alone
    span = (clause.begin, clause.end)
    definite = claim.definite and record
    return [msgspec.structs.replace(claim, record=record, definite=definite, chars=span)]


_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|I|you|we|they|he|she|it|will|can|would)\b")


_VOCATIVE = re.compile(r"^\w+,\s|^(?:Hey|Hi|Oh|Wow|Thanks|Cool|Great|Nice|Sure|Yes|No|Well)\b[^,]*,")


def _says_something(claim: Claim) -> bool:
    """Not "love is magical": a relation, or a name on the other side; and no second clause."""
    if len(claim.object.split()) > 10 or _FINITE.search(claim.subject):
        return False
    if not claim.key.strip("|") or _VOCATIVE.search(claim.subject) or claim.key.startswith("thank"):
        return False
    if claim.key == "|be":
        return claim.object[0].isupper() and not _FINITE.search(claim.object)
    return bool(claim.types) or not _FINITE.search(claim.object)


def _is_about_a_name(claim: Claim, speaker: str, addressee: str) -> bool:
    """In conversation a sentence-initial capital proves nothing: both sides must be solid."""
    if not _looks_named(claim.subject) or not (_is_solid(claim) or claim.record):
        return False
    words = claim.subject.lower().split()
    known = {*speaker.lower().split(), *addressee.lower().split()}
    return len(words) > 1 or words[0] in GIVEN or words[0] in known or _is_solid(claim)


def _is_solid(claim: Claim) -> bool:
    """The object is a name, a number, or worded with its type."""
    return "#" in slot_of(claim) or claim.object[0].isupper() or claim.object[0].isdigit()


_COMMON = word_set(
    "the that this it there they he she we you i what who how when where why my your "
    "his her their our its and but so "
    "yes no thanks thank great good nice sounds wow hey hi hello well oh okay ok "
    "these those here some any all "
    "everyone everything something someone nothing one maybe let please just if as for in on at to from with"
)


def _looks_named(subject: str) -> bool:
    words = subject.split()
    if len(words) > 4 or words[0].lower().rstrip(",.!") in _COMMON:
        return False
    return all(w[0].isupper() or w in ("of", "the", "de", "van", "von") for w in words)


def _dated(claim: Claim, said: str, dates: list[DateSpan], rank: Rank) -> Claim:
    """The claim with the first date that its clause states."""
    if not dates:
        return msgspec.structs.replace(claim, rank=rank)
    begins = states_a_start(f"{said[: dates[0].chars[0]]}{dates[0].text}", dates[0].text)
    return msgspec.structs.replace(
        claim, rank=rank, valid_from=dates[0].start, precision=dates[0].precision, begins=begins
    )


_BEGINS = re.compile(
    r"\b(?:since|from|starting|beginning|began|begun|started|effective)\s+(?:(?:about|around|the|on|in|with)\s+)*$",
    re.I,
)


def states_a_start(said: str, date: str) -> bool:
    """Whether words that end with a date say that something began then ("since May", "starting Monday")."""
    before = said[: len(said) - len(date)]
    return date.lower().startswith(("since", "ever since", "from")) or _BEGINS.search(before) is not None


_NAME = re.compile(
    r"(?<![\w.])(?:[A-Z][\w’'-]*[a-z][\w’'-]*|[A-Z]{2,6})(?:\s+(?:(?:of|de|van|von|the|"
    r"and|&)\s+)?(?:[A-Z][\w’'-]*|[A-Z]\.))*"
)
_QUOTED = re.compile(r"[\"“]([A-Z][^\"”]{1,60})[\"”]")


def mentions(text: str) -> list[Mention]:
    """Names inside a text: capitalised runs that do not merely open a sentence, and quoted titles."""
    found = [Mention(m[1], m.span(1)) for m in _QUOTED.finditer(text)]
    for match in _NAME.finditer(text):
        words = match.group().split()
        begin = match.start()
        opens = begin == 0 or re.search(r"[.!?:\n\"“*-]\s*$", text[:begin][-4:]) is not None
        while words and (words[0].lower() in _COMMON or (opens and words[0].lower() in _OPENING)):
            begin += len(words[0]) + 1
            words, opens = words[1:], False
        name = re.sub(r"[’']s?$", "", " ".join(words))
        if len(name) < 2 or (opens and len(words) == 1 and words[0].lower() in _OPENING):
            continue
        span = (begin, begin + len(name))
        if not any(f.chars[0] < span[1] and span[0] < f.chars[1] for f in found):
            found.append(Mention(name, span))
    return sorted(found, key=lambda m: m.chars)


_OPENING = _COMMON | word_set(
    "by also actually speaking can could would should do does did have has had are is "
    "was were will may might "
    "i'm i've i'll i'd it's that's there's don't let's after before because since while although though once "
    "recently today yesterday tomorrow last next every each both many most much "
    "more other another sure right "
    "looking thinking going being having getting not never always sometimes currently lately honestly"
)
