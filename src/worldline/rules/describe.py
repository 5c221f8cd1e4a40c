"""What is worth knowing about a text before anybody asks: what it states, how new it is, how strong it will be.

Described once, when it is written: which words are stated and which are only asked or wished, and which kinds of
answer a text could give (a number, a date, a name, money …).  It does not know any question.  The result is
small, is stored beside the event, and is all that scoring reads of a text. Of a text's fingerprints, tokens that facts
hang on, the share that was never met before is its surprise; what was met before comes from the caller. A strength
fades, `s₀·e^(−rate·days since the last reinforcement)`, and is computed when it is read, so a memory that
nobody touches costs nothing. Nothing here archives anything.

>>> describe("I paid $40 at Ikea. And you?", "Ana").words
' ana . i pay 40 at ikea . ( and you ) '
>>> mark = fingerprints("I moved to Porto in May 2024.")
>>> sorted(mark.tokens), mark.updates
(['2024', 'may', 'move', 'porto'], True)
>>> surprise(mark, mark.tokens) > surprise(mark, set())
True
>>> trace = Strength(0.5, 0)
>>> round(effective(trace, 365 * DAY, 0.002), 2)
0.24
>>> effective(used(trace, "useful", 365 * DAY), 365 * DAY, 0.002) > 0.5
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline import lexicon
from worldline.clock import FOREVER, Instant, to_datetime
from worldline.dates import find_dates
from worldline.lexicon import STANDING, tags_of
from worldline.model import Findable, NodeDraft
from worldline.reading.claim import role_of, stem
from worldline.text import PASSAGE, indexed, passages, words, words_of_each

# Described ============================================================================================

NUMBER, MONEY, DURATION, CLOCK, PERCENT, DATE, QUOTED, NAME, TIME = (1 << n for n in range(9))
ASKS, REACTS, INSTRUCTS, PREFERS, PLANS, OF_ME, OF_YOU = (1 << n for n in range(9, 16))

LONGEST_SCAN = 6000
MAX_DATES = 6


class Described(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A text as scoring sees it; ``words`` has a stop after each sentence and
    brackets around those that ask, wish or thank.
    """

    words: str
    length: int
    flags: int
    names: int = 0
    kinds: str = " "
    dates: tuple[tuple[int, int], ...] = ()


_SENTENCE = re.compile(r"[^.!?\n。！？]*(?:[.!?。！？]+(?=\s|$|[^\x00-\x7f])|\n|$|[.!?。！？]+)")
_OPENER = re.compile(
    r"\s*(?:(?:and|so|but|oh|ok|okay|well|also|hey|hi|yes|yeah|please)[, ]+)*"
    r"(?:can you|could you|would you|will you|do you|please|thanks|thank you|i'd (?:love|like) to|"
    r"let me know|let's|i hope|good luck|tell me|how about|what about|i was wondering|wondering)\b",
    re.I,
)
_REACTION = re.compile(
    r"\W*(?:thanks|thank you|wow|that'?s|that is|that sounds|sounds|awesome|great|cool|nice|congrat\w*|"
    r"glad|good to|so happy|amazing|absolutely|totally|i agree|no worries|no problem|aw+|ha(?:ha)+|"
    r"you'?re (?:right|welcome)|sure|exactly|definitely|woohoo|yay|sorry to hear|got it|i see|perfect)\b",
    re.I,
)
_PATTERNS = (
    (
        NUMBER,
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|"
        r"thousands?|once|twice|thrice|couple|several|half|first|second|third|[一二三四五六七八九十百千万两]+)\b"
        r"|[一二三四五六七八九十两]",
    ),
    (MONEY, r"[$€£¥]\s?\d|\d\s?(?:dollars?|euros?|pounds?|bucks|usd|eur|元)\b"),
    (
        DURATION,
        r"\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of|several|half an)"
        r"[- ](?:\w+[- ])?(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|yrs?|"
        r"decades?)\b"
        r"|[\d一二三四五六七八九十两]+个?(?:小时|天|周|月|年|分钟)",
    ),
    (CLOCK, r"\b\d{1,2}:\d\d\b|\b\d{1,2}\s?(?:am|pm|a\.m|p\.m|o'clock)\b|\b(?:noon|midnight)\b"),
    (PERCENT, r"\d\s?%|\bper ?cent\b"),
    (
        DATE,
        r"\b(?:january|february|march|april|june|july|august|september|october|november|december|"
        r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?\s*\d|\bin may\b|\bmay \d|\d{4}-\d\d"
        r"|\b\d{1,2}/\d{1,2}\b|\b(?:19|20)\d\d\b|\d月|\d(?:st|nd|rd|th)\b",
    ),
    (QUOTED, r"[\"“«《][^\"”»》]{2,80}[\"”»》]"),
    (
        TIME,
        r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|lately|this (?:week|month|year|"
        r"morning|weekend|summer|spring|fall|winter)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
        r"weekend|january|february|march|april|june|july|august|september|october|november|december|"
        r"(?:19|20)\d\d|since|when i was|years?|months?|weeks?|days?|soon)\b|昨天|今天|明天|上周|下周|月|日",
    ),
    (
        OF_ME,
        r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|we|we're|we've|our|us)\b|我",
    ),
    (OF_YOU, r"\b(?:you|you're|you've|your|yours)\b|你"),
    (
        INSTRUCTS,
        r"(?:^|[.!?\n]\s*)(?:please |so |and |also )*(?:always|never|from now on|whenever|make sure)\b"
        r"|\bwhen(?:ever)? i (?:ask|mention|request|need)\b"
        r"|\b(?:from now on|going forward|each time i|every time i)\b",
    ),
    (
        PREFERS,
        r"\b(?:prefer\w*|favou?rites?|rather than|instead of|i(?:'d| would)? (?:really |also |"
        r"usually |much )?"
        r"(?:like|love|enjoy|hate|dislike|tend to|value|avoid|can't stand|don't like)|"
        r"i'm (?:a fan|into|allergic|vegetarian|vegan|hesitant))\b"
        r"|喜欢|偏好|讨厌",
    ),
    (
        PLANS,
        r"\b(?:i'm (?:going|planning|thinking)|i plan|i'll|i will|we'll|going to|can't wait|"
        r"looking forward)\b",
    ),
)
_FLAGS = [(bit, re.compile(pattern, re.I)) for bit, pattern in _PATTERNS]
_DIGITS = tuple("0123456789")
_HINTS = {
    NUMBER: (
        *_DIGITS,
        *"one two three four five six seven eight nine ten eleven twelve dozen hundred thousand once twice thrice"
        " couple several half first second third".split(),
    ),
    MONEY: _DIGITS,
    DURATION: tuple("second minute min hour hr day week month year yr decade".split()),
    CLOCK: (*_DIGITS, "noon", "midnight"),
    PERCENT: ("%", "cent"),
    DATE: (*_DIGITS, "in may"),
    QUOTED: ('"',),
    TIME: tuple(
        "day tonight tomorrow ago last next recently lately this weekend january february march april june july"
        " august september october november december 19 20 since when year month week soon".split()
    ),
    OF_YOU: ("you",),
    INSTRUCTS: ("always", "never", "now on", "when", "make sure", "going forward", "time i"),
    PREFERS: tuple(
        "prefer favo rather instead like love enjoy hate tend value avoid stand fan into allergic vege vegan"
        " hesitant".split()
    ),
    PLANS: ("i'm", "i plan", "'ll", "will", "going to", "wait", "looking forward"),
}
"""What a text of plain letters must hold somewhere for a pattern to match; looking for it costs a tenth."""
_STANDING = next(pattern for bit, pattern in _FLAGS if bit == INSTRUCTS)
_STANDING_BEGINS = tuple(hint.split()[0] for hint in _HINTS[INSTRUCTS])
_BLANKS = re.compile(r"\s{3,}")
_INNER_NAME = re.compile(r"(?<=[a-z,;:'’\)] )(?!I\b|I'|OK\b|TV\b)[A-Z][\w'’&.-]*")


def describe(text: str, speaker: str = "", said_at: int | None = None, caption: str = "") -> Described:
    """The stored view of one text; ``speaker`` only when it is a person's name."""
    sentences = _SENTENCE.findall(text)
    said_by, captioned, *told = words_of_each([speaker, caption, *sentences])
    tokens = [*_ended(said_by), *_marked(sentences, told), *_ended(captioned)]
    plain = [token for token in tokens if token not in "(.)"]
    names = len(set(_INNER_NAME.findall(text[:LONGEST_SCAN])))
    return Described(
        words=f" {' '.join(tokens)} ",
        length=len(plain),
        flags=_flags(text) | (NAME if names else 0),
        names=names,
        kinds=f" {' '.join(tags_of(plain))} ",
        dates=_dates(text, said_at),
    )


def is_standing(text: str) -> bool:
    """Whether a text gives an instruction that is to hold from then on."""
    if text.isascii() and not any(map(text.lower().__contains__, _STANDING_BEGINS)):
        return False
    return bool(_STANDING.search(_scanned(text)))


def _scanned(text: str) -> str:
    """What the patterns look at: a long blank is one, because they would try every part of it."""
    head = text[:LONGEST_SCAN]
    if "   " not in head and head.isprintable():  # no blank but single spaces, as in most texts
        return head
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", head)


def _marked(sentences: Sequence[str], told: Sequence[list[str]]) -> list[str]:
    """The tokens in order, with brackets around sentences that ask, wish or thank."""
    tokens: list[str] = []
    for sentence, found in zip(sentences, told, strict=True):
        if found:
            tokens += ["(", *found, ")"] if _is_aside(sentence) else [*found, "."]
    return tokens


def _ended(tokens: list[str]) -> list[str]:
    return [*tokens, "."] if tokens else []


def _is_aside(sentence: str) -> bool:
    return "?" in sentence[-3:] or "？" in sentence[-2:] or bool(_OPENER.match(sentence))


def _flags(text: str) -> int:
    head = _scanned(text)
    low = head.lower() if head.isascii() else ""  # other letters have rules of their own
    flags = sum(bit for bit, pattern in _FLAGS if _may_match(bit, low) and pattern.search(head))
    if text.rstrip().endswith(("?", "？")):
        flags |= ASKS
    return flags | (REACTS if _REACTION.match(text) else 0)


def _may_match(bit: int, low: str) -> bool:
    if not low or bit not in _HINTS:
        return True
    return any(map(low.__contains__, _HINTS[bit]))


def _dates(text: str, said_at: int | None) -> tuple[tuple[int, int], ...]:
    """The stretches of time that the text names, resolved against when it was said."""
    if said_at is None:
        return ()
    try:
        base = to_datetime(said_at)
    except OverflowError:  # at the ends of time
        return ()
    spans = find_dates(text[:LONGEST_SCAN], base)
    return tuple(dict.fromkeys((span.start, span.end) for span in spans))[:MAX_DATES]


# What makes a memory findable ------------------------------------------------------------------------


APART = frozenset({"Fact", "Entity"})
"""Types that recall finds by name and by walking, not among the texts."""
LONGEST_DESCRIBED = 24_000
"""Characters of a text that are described; words and vectors cover all of it."""


def findable(draft: NodeDraft, role: str, language: str) -> Findable:
    """All that is drawn from what somebody of this role says, so that it can be found."""
    described = described_draft(draft, role)
    found = passages_of(draft, role, language)
    return Findable(role, found, msgspec.msgpack.encode(described), bool(described.dates))


def role_in(draft: NodeDraft) -> str:
    """Who speaks in a memory; in a note nobody does but people."""
    return role_of(draft.name) if draft.type == "Turn" else "people"


def described_draft(draft: NodeDraft, role: str) -> Described:
    """A memory as scoring sees it."""
    speaker = draft.name if role == "people" else ""
    return describe(draft.content[:LONGEST_DESCRIBED], speaker, draft.valid.start, caption_of(draft))


def caption_of(draft: NodeDraft) -> str:
    """What a picture that came along shows, if somebody says."""
    caption = draft.metadata.get("caption") if draft.metadata else None
    return caption if isinstance(caption, str) else ""


def passages_of(draft: NodeDraft, role: str, language: str) -> list[tuple[str, str]]:
    """The words under which each passage of a memory is found, and its tags."""
    found = [(text, indexed(text, language)) for text in _searchable(draft, role)]
    if draft.type in APART:
        return [(tokens, "") for _, tokens in found]
    return [(tokens, " ".join(_tags(draft, role, text, tokens))) for text, tokens in found]


def _searchable(draft: NodeDraft, role: str) -> list[str]:
    """A memory's name and words, passage by passage."""
    content, name = draft.content, draft.name if role == "people" else ""
    caption = caption_of(draft)
    tail = f" {caption}" if caption else ""
    if len(content) <= PASSAGE:
        return [f"{name} {content}{tail}"]
    parts = [f"{name} {content[start:end]}" for start, end in passages(content)]
    return [parts[0] + tail, *parts[1:]]


def _tags(draft: NodeDraft, role: str, text: str, tokens: str) -> Iterator[str]:
    """What a passage is of: kinds of things, and whether somebody gives a standing instruction in it."""
    yield from tags_of(tokens.split())
    if draft.type == "Turn" and role != "assistant" and is_standing(text.removeprefix(draft.name).lstrip()):
        yield STANDING


# How new ==============================================================================================

LONGEST = 6000
_NUMBER = re.compile(r"(?<!\w)\d[\d.,:/-]*\w*")
_DEFINES = re.compile(
    r"\b([\w'’-]{3,}) (?:is|are|was|means|stands for|refers to) (?:an?|the) ([\w'’-]{3,})", re.I
)
_EVENTS = re.compile(
    r"\b(?:married|engaged|divorced|born|died|pregnant|hired|fired|promoted|retired|graduated|enrolled|diagnosed|"
    r"surgery|hospital|accident|injured|broke|stolen|bought|sold|rented|adopted|joined|founded|launched|released|"
    r"published|won|lost|passed|failed|finished|cancelled|canceled|met|visited|travelled|traveled|flew|celebrated|"
    r"wedding|funeral|birthday|anniversary|interview|exam|concert|trip|vacation|marathon)\b",
    re.I,
)
_UPDATES = re.compile(
    r"\b(?:moved|switched|changed|replaced|upgraded|updated|quit|left|resigned|started|stopped|became|turned into|"
    r"no longer|not any ?more|used to|actually|instead|renamed|postponed|rescheduled|now (?:live|work|use|have))\b",
    re.I,
)
_SHARE, _LENGTH, _DETAIL, _EVENT = 0.75, 0.08, 0.09, 0.08
"""What the share of new fingerprints is worth, and the small bonuses for length, detail and events."""
_ENOUGH, _LONG, _MANY = 3, 60, 8


class Fingerprints(Struct, frozen=True):
    """What a text's facts hang on."""

    tokens: frozenset[str]
    length: int
    happens: bool
    updates: bool


def fingerprints(text: str) -> Fingerprints:
    """The fingerprints of one text, as the words index has them."""
    head = text[:LONGEST]
    events, updates = _EVENTS.findall(head), _UPDATES.findall(head)
    found = [*_INNER_NAME.findall(head), *_NUMBER.findall(head), *events]
    found += [update for update in updates if " " not in update]
    found += [part for pair in _DEFINES.findall(head) for part in pair]
    tokens = frozenset(token for part in found for token in words(part) if len(token) > 1)
    return Fingerprints(tokens, len(words(head)), bool(events), bool(updates))


def surprise(mark: Fingerprints, new: Collection[str]) -> float:
    """From 0 (nothing that was not known) to 1, given those of its tokens that were never met before."""
    count = len(mark.tokens)
    bonus = _LENGTH * min(1.0, mark.length / _LONG) + _DETAIL * min(1.0, count / _MANY)
    if not count:
        return bonus
    share = len(mark.tokens & set(new)) / count
    return _SHARE * share * min(1.0, count / _ENOUGH) + bonus + _EVENT * (mark.happens or mark.updates)


# How strong ===========================================================================================

DAY = 86_400_000_000
Use: TypeAlias = Literal["shown", "useful", "wrong"]
ORDINARY = 0.5
"""The salience of what nobody has judged: a note, a fact, a text without signals."""
_LEAST, _SPREAD = 0.28, 0.44
"""A greeting starts at .3 and a commitment at .63, so that chatter lasts a third as long as the rest."""
_RAISED, _LOWERED = 0.3, 0.5
_SHOWN, _USEFUL, _WRONG, _MOST_SHOWN = 0.1, 0.5, 0.75, 0.3
"""What a retrieval, a praise and a complaint are worth in recall; retrievals alone never count for much."""


class Strength(Struct, frozen=True):
    """A lineage's salience at its last reinforcement, and how it has been used."""

    salience: float
    reinforced_at: Instant
    uses: int = 0
    useful: int = 0
    wrong: int = 0


def starting(judged: float | None) -> float:
    """The salience to begin with, from the gate's own."""
    return ORDINARY if judged is None else _LEAST + _SPREAD * min(1.0, max(0.0, judged))


def effective(strength: Strength, now: Instant, rate: float) -> float:
    """What is left of it now; `rate` is per day."""
    return strength.salience * math.exp(-rate * max(0, now - strength.reinforced_at) / DAY)


def cold_at(strength: Strength, rate: float, below: float) -> Instant:
    """The moment at which it falls below the threshold, if nothing happens before."""
    if strength.salience <= below:
        return strength.reinforced_at
    if rate <= 0 or below <= 0:
        return FOREVER
    days = math.log(strength.salience / below) / rate
    return min(FOREVER, strength.reinforced_at + int(days * DAY))


S = TypeVar("S", bound=Strength)


def used(strength: S, kind: Use, at: Instant) -> S:
    """After one use: shown and useful reinforce, useful also raises, wrong only lowers."""
    if kind == "wrong":
        return replace(strength, salience=strength.salience * _LOWERED, wrong=strength.wrong + 1)
    fresh = max(at, strength.reinforced_at)
    if kind == "shown":
        return replace(strength, reinforced_at=fresh, uses=strength.uses + 1)
    raised = strength.salience + _RAISED * (1 - strength.salience)
    return replace(strength, salience=raised, reinforced_at=fresh, useful=strength.useful + 1)


def standing(strength: Strength, now: Instant, rate: float) -> float:
    """What its use says for it in recall, from −1 to 1, fading like the rest; 0 when it was never used."""
    credit = min(_MOST_SHOWN, _SHOWN * strength.uses) + _USEFUL * strength.useful - _WRONG * strength.wrong
    return max(-1.0, min(1.0, credit)) * effective(replace(strength, salience=1.0), now, rate)


# What never fades ------------------------------------------------------------------------------------

_WORDS = re.compile(r"\w+")
_LASTING = frozenset(map(stem, lexicon.words("lasting_matters.txt")))


def is_lasting(phrase: str) -> bool:
    """Whether a predicate's words say who somebody is or what they like; such facts never go cold.

    >>> is_lasting("favourite food"), is_lasting("bought")
    (True, False)
    """
    return any(stem(word) in _LASTING for word in _WORDS.findall(phrase.casefold()))
