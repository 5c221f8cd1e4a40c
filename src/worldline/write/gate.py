"""At the door of every write: secrets are taken out, echoes are told, and a verdict says how deeply to encode.

Secrets are known by their shapes, not by meaning: what looks like a key is replaced by its name in brackets, and the
receipt says so. The shapes are data (`lexicon/secrets.toml`), and each is looked for in linear time; every verb that
writes passes `redacting`, which looks through all the text that it was given.

Echoes are words that this memory handed out itself, and that come back in a new message. They are no new evidence, so
nothing is drawn from them. Two things tell them: recall's own way of writing a line (when and who in front of the
words), which is left out of every reading; and the words themselves, four at a time, against what was handed out
lately. Whole, cut, quoted or in capitals is the same. A person who says a short thing again, in his own name and
without those marks, is not an echo.

The gate decides depth, never survival: the text is stored whatever the verdict says (only a strict gate may
drop it).  It finds no neighbours and computes no vectors; the caller brings both. What a message does (commit,
correct, decide, tell, ask, greet, or nothing) is decided from surface cues, and its salience from 0 to 1 by
that act where it is short, by features where it is longer.

>>> redact("use sk-abcdefghijklmnopqrstuvwxyz123456")[0]
'use [redacted: api key]'
>>> spoken("You said: [2026-03-05 Thu 14:30] Ana: I live in Porto.").rstrip()
'You said:'
>>> echoes("[2026-03-05 Thu 14:30] Ana: I live in Porto.", "Ana", [("I live in Porto.", "Ana")])
True
>>> judge("ok", []).admitted
False
>>> speech_act("no wait, it's Tuesday, not Monday")
'correction'
>>> judge("I will send the contract to Ana on Friday.", []).act
'commitment'
"""

from __future__ import annotations

import gzip
import inspect
import math
import re
import tomllib
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import cache, lru_cache, wraps
from hashlib import sha256
from importlib.resources import files
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.errors import InvalidInput
from worldline.model import Fact, Receipt
from worldline.text import fold

# Secrets ==============================================================================================

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
REFERENCES = frozenset(
    "self ref type src dst entity mentions receipt proposal status dry_run valid_from valid_to since until "
    "dated said_at when".split()
)
"""What names a memory, a type or a moment: nothing of it is stored as it stands."""
DEEPEST = 100
_LONG = 200
"""A word as long as this may be anything."""
_PLAIN = frozenset({type(None), bool, int, float, datetime, date})
_NOT_KEPT = frozenset({"type", "valid_from", "valid_to", "dated", "said_at"})
"""Fields whose text is a type or a moment, and is checked as such."""
_OBJECT = ("object", "literal")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class SecretRule(NamedTuple):
    """A shape: its name, what a text with it holds in lower case, the pattern, and a further check."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    word: int
    """The longest word of a text with it has so many characters."""
    least: re.Pattern[str]
    """What every text with it has; found faster than the pattern."""


@cache
def rules() -> tuple[SecretRule, ...]:
    """Every shape, in the order in which they are looked for."""
    written = tomllib.loads(files("worldline.lexicon").joinpath("secrets.toml").read_text("utf-8"))
    return tuple(
        SecretRule(
            item["kind"],
            tuple(item["hints"]),
            re.compile(item["pattern"], re.ASCII),
            _CHECKS[item.get("check", "any")],
            item.get("word", 0),
            re.compile(item.get("least", ""), re.ASCII),
        )
        for item in written["rule"]
    )


@cache
def _rules_within(longest: int) -> tuple[SecretRule, ...]:
    """The shapes that fit into a word of so many characters, or may have spaces."""
    return tuple(rule for rule in rules() if rule.word <= longest)


def likely(texts: Sequence[str]) -> tuple[SecretRule, ...]:
    """The shapes that any of these texts may have: most hints are in none of hundreds."""
    joined = "\n".join(texts)
    said = set(joined.split())
    low, each = joined.lower(), "\n".join(said).lower()
    within = _rules_within(min(max(map(len, said), default=0), _LONG))
    has = {sign for sign in _signs() if sign in each}.issuperset  # most hints have one that plain texts lack

    def hinted(hint: str) -> bool:
        """Whether a hint is there: if some word has it, or each part of it and then the texts."""
        return all(has(part) and part in each for part in hint.split()) and (" " not in hint or hint in low)

    return tuple(rule for rule in within if any(map(hinted, rule.hints)) and rule.least.search(joined))


@cache
def _signs() -> frozenset[str]:
    """Every character of a hint."""
    return frozenset(sign for rule in rules() for hint in rule.hints for sign in hint if sign != " ")


def redact(text: str, among: tuple[SecretRule, ...] | None = None) -> tuple[str, tuple[str, ...]]:
    """The text without secrets (of these shapes), and the names of what was taken out."""
    found: list[str] = []
    low = text.lower()
    if among is None:
        among = _rules_within(min(max(map(len, text.split()), default=0), _LONG))
    for rule in among:
        for hint in rule.hints:  # a loop: this is asked of every text, and `any` would cost most of it
            if hint in low:
                text = rule.pattern.sub(lambda match, rule=rule: _instead(match, rule, found), text)  # type: ignore[misc]
                break
    return text, tuple(found)


def _instead(match: re.Match[str], rule: SecretRule, found: list[str]) -> str:
    part: int | str = "secret" if "secret" in match.re.groupindex else 0
    secret, whole = match[part], match[0]
    if not rule.check(secret):
        return whole
    found.append(rule.kind)
    start, end = match.start(part) - match.start(), match.end(part) - match.start()
    return f"{whole[:start]}[redacted: {rule.kind}]{whole[end:]}"


# Checks --------------------------------------------------------------------------------------------


def _luhn(number: str) -> bool:
    """The check digit of a card; a number of one digit alone is an example, not a card."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = [d if place % 2 == 0 else d * 2 - 9 * (d > 4) for place, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0 and len(set(digits)) > 1


def _iban(number: str) -> bool:
    """The check digits of an account (ISO 7064, mod 97)."""
    plain = number.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _base58(key: str) -> bool:
    """The check sum of a wallet's key."""
    value = 0
    for c in key:
        value = value * 58 + _BASE58.index(c)
    raw = value.to_bytes(39, "big").lstrip(b"\0")
    return sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def _mixed(value: str) -> bool:
    """Letters and digits together: a word is not a key."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _social(number: str) -> bool:
    area, group, serial = number.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


_CHECKS: dict[str, Callable[[str], bool]] = {
    "any": lambda secret: True,
    "luhn": _luhn,
    "iban": _iban,
    "base58": _base58,
    "mixed": _mixed,
    "social": _social,
}

# The door ------------------------------------------------------------------------------------------


def screened(value: T) -> tuple[T, tuple[str, ...]]:
    """A value without secrets in any text of it, and the names of what was taken out."""
    found: list[str] = []
    return _screened(value, found), tuple(found)


def _screened(value: Any, found: list[str], depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise InvalidInput(f"it is nested more than {DEEPEST} deep")
    if isinstance(value, str):
        text, names = redact(value)
        found += names
        return text
    if isinstance(value, dict):
        named = {key: value.get("relation", key) if key in _OBJECT else key for key in value}
        return {
            _screened(key, found): _beside(named[key], item, found, depth + 1) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = [_screened(item, found, depth + 1) for item in value]
        return type(value)(items) if type(value) in (list, tuple) else value
    if isinstance(value, Struct):
        return _screened_fields(value, found)
    return value


def _screened_fields(value: Struct, found: list[str]) -> Struct:
    own = getattr(value, "predicate", "") if isinstance(value, Fact) else ""
    changed = {}
    for name in value.__struct_fields__:
        item = getattr(value, name)
        if type(item) not in _PLAIN and name not in _NOT_KEPT:
            plain = _beside(own if name in _OBJECT else "", item, found)
            if plain is not item and plain != item:
                changed[name] = plain
    return replace(value, **changed) if changed else value


def _beside(key: Any, value: Any, found: list[str], depth: int = 0) -> Any:
    """What stands in an object under a telling name is read together with that name."""
    if not isinstance(key, str) or not key or not isinstance(value, str):
        return _screened(value, found, depth)
    together, names = redact(f"{key}: {value}")
    if names and together.startswith(f"{key}: "):
        found += names
        return together[len(key) + 2 :]
    return _screened(value, found)


def redacting(verb: Callable[Concatenate[S, P], Receipt]) -> Callable[Concatenate[S, P], Receipt]:
    """The door: a verb that writes gets what it was given without secrets, and its receipt says so."""
    signature = inspect.signature(verb)
    texts = frozenset(signature.parameters) - REFERENCES

    @wraps(verb)
    def behind(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Receipt:
        if not self._h.config.redact:  # type: ignore[attr-defined]
            return verb(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs)
        found: list[str] = []
        for name in texts & given.arguments.keys():
            given.arguments[name] = _screened(given.arguments[name], found)
        receipt = verb(*given.args, **given.kwargs)
        return replace(receipt, redacted=(*found, *receipt.redacted)) if found else receipt

    return behind


def require_plain(name: str, what: str) -> None:
    """Refuses a key as the name of a scope: two keys must not become one scope."""
    for kind in redact(name)[1]:
        if kind.endswith(("key", "token", "secret", "login")):
            raise InvalidInput(f"the {what} looks like a secret ({kind}); names are stored, so use another")


# Echoes ===============================================================================================

ECHO = "it repeats what this memory has handed out"
GRAM = 4
MOSTLY = 0.8
MARKED = 0.5
LONG = 8
"""So many words and more do not come back by chance."""
LOOKED_AT = 8000
_DAY = r"\d{4}-\d\d-\d\d (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d:\d\d"
_MARK = (
    rf"\[(?:{_DAY}|undated)\] |\[[A-Z]\w{{1,20}}, since [^\]\n]{{1,40}}\] |"
    r"\[[0-9a-f]{12}\] [A-Z]\w{1,20} \d{4}-\d\d-\d\d|"
    r"\b(?:Answer from what is believed|(?-i:Believed|BELIEVED)|Not sure that this is known): |"
    r"\(returned \d+/\d+, (?:~\d+/\d+|at most \d+) tokens\)"
)
_OWN = re.compile(rf"(?:{_MARK})[^\n]*", re.I)
_OWN_MARK = re.compile(_MARK, re.I)
_HINT = re.compile("elieved: |known: ", re.I)
_CUT_MARK = re.compile(r"^[\s>\"'“…]{0,4}[^\[\]\n]{0,18}\d\d:\d\d\] ")
"""The rest of such a mark, where a text begins in the midst of one."""
_CUT_FOOTER = re.compile(r"\(returned \d+/[^\n)]{0,40}$", re.I)
_CARRIED_ON = re.compile(r"(?m)^[ \t>]*(?:\| ?|  \()[^\n]*$")
"""How recall writes the further lines of what it quotes, and its notes on it."""
_WORD = re.compile(r"\w+")


def spoken(text: str) -> str:
    """The text with the lines that recall wrote blanked out, so that every other character stays in place."""
    if "[" not in text and not _HINT.search(text):
        return text
    blank = _OWN.sub(lambda own: " " * len(own[0]), text)
    if blank == text:
        return text
    return _CARRIED_ON.sub(lambda own: " " * len(own[0]), blank)


def echoes(text: str, speaker: str, handed: Sequence[tuple[str, str]]) -> bool:
    """Whether a message is mostly made of what was handed out: (text, speaker) of each."""
    text = text[:LOOKED_AT]
    marked = bool(_OWN_MARK.search(text) or _CUT_MARK.match(text) or _CUT_FOOTER.search(text))
    if marked and not _WORD.search(_CUT_FOOTER.sub("", spoken(text))):
        return True
    if marked:
        text = _CARRIED_ON.sub(" ", _CUT_MARK.sub("", _CUT_FOOTER.sub("", _OWN_MARK.sub(" ", text))))
    said = _words(text)
    if not handed or len(said) < (1 if marked else GRAM):
        return False
    covered, by = _covered(said, handed)
    if marked:
        return covered >= MARKED
    if covered < MOSTLY:
        return False
    return len(said) >= LONG or fold(speaker) not in {fold(who) for who in by}


def _covered(said: Sequence[str], handed: Sequence[tuple[str, str]]) -> tuple[float, set[str]]:
    """The share of words that stand within four that were handed out, and who had said those."""
    grams, length = _grams(said), min(GRAM, len(said))
    every, whose = frozenset(grams), dict[str, list[str]]()
    for text, who in handed:
        for gram in every & _gram_set(text):  # mostly none
            whose.setdefault(gram, []).append(who)
    names = {word for who in {who for _, who in handed} for word in _words(who)}
    hit = [word in names for word in said]
    by: set[str] = set()
    for at, gram in enumerate(grams):
        if gram in whose:
            by.update(whose[gram])
            hit[at : at + length] = [True] * length
    return sum(hit) / len(said), by


def _grams(said: Sequence[str]) -> list[str]:
    return [" ".join(said[at : at + GRAM]) for at in range(max(1, len(said) - GRAM + 1))]


@lru_cache(maxsize=1024)
def _gram_set(text: str) -> frozenset[str]:
    """Every run of up to four words of a text."""
    said = _words(text[:LOOKED_AT])
    return frozenset(
        " ".join(said[at : at + size]) for size in range(1, GRAM + 1) for at in range(len(said) - size + 1)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# The verdict ==========================================================================================

Act = Literal[
    "noise",
    "greeting",
    "thanks",
    "reaction",
    "acknowledgement",
    "question",
    "request",
    "chat",
    "statement",
    "preference",
    "fact",
    "relationship",
    "correction",
    "decision",
    "commitment",
]
SHORT = 50
HEARD = 800
"""So many characters tell what a message does; the cues look ahead, so more would cost more than it tells."""
BY_ACT: dict[Act, float] = {
    "noise": 0.02,
    "greeting": 0.05,
    "thanks": 0.05,
    "acknowledgement": 0.05,
    "reaction": 0.08,
    "chat": 0.15,
    "question": 0.2,
    "request": 0.3,
    "statement": 0.4,
    "fact": 0.55,
    "preference": 0.55,
    "relationship": 0.6,
    "correction": 0.6,
    "decision": 0.7,
    "commitment": 0.8,
}
LOW_ACTS = frozenset({"noise", "greeting", "thanks", "acknowledgement", "reaction"})


def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


class WeightyCue:
    """A cue that may stand anywhere; plain letters are searched in lower case, which takes a third of the time."""

    def __init__(self, pattern: str) -> None:
        self._any, self._low = _cue(pattern), re.compile(pattern.replace("[A-Z]", "[a-z]"))

    def search(self, line: str) -> bool:
        """Whether a message has it."""
        found = self._low.search(line.lower()) if line.isascii() else self._any.search(line)
        return found is not None


_LETTERS = re.compile(r"[^\W\d_]")
_VOWEL = re.compile(r"[aeiouy]", re.I)
_GREETING = _cue(
    r"^(?:hey+|hi+|hello+|yo|howdy|hiya|greetings|good (?:morning|afternoon|evening|night|day)|"
    r"morning|evening|bye+(?: ?bye)?|goodbye|see (?:you|ya)(?: (?:soon|later|tomorrow|around))?|later|"
    r"cheers|take care|ttyl|night|gn|gm|welcome(?: back)?|have a (?:good|great|nice|lovely) \w+|"
    r"sleep well|so long|talk (?:soon|later|to you later))\b"
)
_GREETING_TAIL = _cue(
    r"^(?:[\s,!.?:;)~-]|there|all|everyone|everybody|team|folks|guys|friend|mate|buddy|again|you|"
    r"how(?:'s| is| are) (?:it going|you|things|life|everyone)(?: doing)?(?: today)?|what'?s up|sup|"
    r"nice to (?:see|meet|hear from) you|long time no see|to you(?: too)?|too|soon|tomorrow|then|"
    r"[A-Z][a-z]+|from (?:me|us))*$"
)
_THANKS = _cue(
    r"^(?:(?:ok(?:ay)?|great|perfect|oh|ah|awesome|cool|no)[,!. ]+)*(?:thanks?(?: you)?|thx|ty|many thanks|"
    r"much appreciated|appreciate (?:it|that)|you'?re welcome|no problem|np|no worries|my pleasure|"
    r"anytime|sorry(?: about that)?|my bad|congrats|congratulations|happy birthday|bless you|cheers)\b"
)
_ACKNOWLEDGEMENT = _cue(
    r"^(?:ok(?:ay)?|k|kk|yes|yep|yeah|yup|no|nope|nah|sure(?: thing)?|right|alright|all right|fine|cool|"
    r"great|nice|perfect|got it|gotcha|i see|understood|makes sense|sounds good|sounds great|will do|done|"
    r"agreed|exactly|true|indeed|fair enough|of course|absolutely|definitely|maybe|perhaps|whatever|"
    r"same here|same|me too|noted|roger|good|good to know|go ahead|works for me|that works|i guess|"
    r"i think so|i know|if you say so|never ?mind|not really|not sure|no idea|one sec(?:ond)?|brb|"
    r"hold on|hang on|wait|back|i'm back|i'm here|on it|that's (?:right|fine|ok(?:ay)?|true|it|all))"
    r"(?:[\s,!.]+(?:ok(?:ay)?|yes|yep|yeah|sure|right|then|thanks?|thank you|great|"
    r"cool|man|dude|now|so|i see|"
    r"got it|that(?:'s| is)? (?:fine|great|good|right|true)|i guess|a (?:minute|"
    r"moment|sec)|please))*[\s!.,)]*$"
)
_REACTION = _cue(
    r"^(?:(?:oh|ah|aw+|wow+|omg|lol|ha(?:ha)+|hehe+|lmao|rofl|hm+|ugh+|oops|yay+|woo+|phew|damn|yikes|"
    r"ouch|whoa|gosh|jeez|meh|eh|huh|aha|ooh+|yum+|xd|um+|uh+|er+|well)\b[\s,!.…]*)+"
    r"(?:(?:that(?:'s| is| was| sounds| looks| must)|this is|it(?:'s| is)|how|what a|so|very|really|such a|"
    r"too|pretty|good|great|nice|no way|my god|you|i (?:love|like) (?:it|that)).{0,32})?$|"
    r"^(?:that(?:'s| is| was)|this is|it(?:'s| is)|what an?|how|so|such|sounds|looks|too|very) "
    r"(?:so |very |really |such |a |an |pretty |just |quite |too |like )*"
    r"(?:cute|cool|nice|great|funny|hilarious|awesome|amazing|interesting|lovely|sweet|sad|bad|crazy|"
    r"wild|insane|weird|fun|good|wonderful|fantastic|terrible|awful|beautiful|gorgeous|impressive|"
    r"exciting|true|unreal|adorable|delicious|boring|odd|strange|perfect|brilliant|shame|pity|relief|"
    r"joke|mess|day|week)\b.{0,24}$|"
    r"^(?:no way|you'?re kidding|really|seriously|good (?:for you|luck|job|one)|nice (?:one|work|job)|"
    r"well done|way to go|love (?:it|this|that)|i love (?:it|this|that)|so true|wow|can'?t complain|"
    r"not bad|hope so|fingers crossed|who knows|what a .+|enjoy|have fun|good point|great job|"
    r"tell me about it|been there|i (?:can )?(?:relate|bet|hear you|feel you|doubt "
    r"it|hope so|wish))\b.{0,20}$"
)
_CORRECTION = WeightyCue(
    r"\b(?:actually|correction|i meant|i mean(?:t)? to say|to correct|my mistake|i misspoke|scratch that|"
    r"i was wrong|that(?:'s| is| was) (?:wrong|not (?:right|correct|true|what))|no "
    r"longer|not .{1,30} any ?more|"
    r"anymore|any longer|instead of|rather than|turns out|not .{1,25}, (?:but|it'?s)|used to|"
    r"(?:it'?s|it is|was|is) .{1,30}, not\b|changed (?:my|the|our)|switched (?:from|to)|moved from|"
    r"ignore (?:what|my)|disregard|forget what i|typo|sorry, (?:it|i|the|that)|wait,? (?:no|it)|"
    r"no,? (?:wait|it'?s|it is|the|my|i |she|he|we|they)|wrong (?:number|date|name|address|one|day|file))\b"
)
_DECISION = WeightyCue(
    r"\b(?:(?:i|we|they|he|she|the (?:team|board|committee))(?:'ve| have| has)?(?: "
    r"finally| just| all| both| now)? "
    r"(?:decided?|chose|chosen|agreed|settled|picked|approved|rejected|voted|opted|concluded|selected)|"
    r"decision|let'?s (?:go with|use|do|keep|drop|make|stick|switch|ship|skip|take|"
    r"start|move|call it|postpone|"
    r"meet|have|cancel|book|hire|merge|freeze)|"
    r"(?:we|i)'?(?:re| are|m| am) (?:going with|sticking with|dropping|switching to|going to use|cancel+ing)|"
    r"(?:is|are|was|has been|have been) (?:approved|cancel+ed|postponed|rejected|confirmed|final|settled|"
    r"signed off)|go(?:ing)? ahead with|final answer|it'?s settled|no more .+ from now|from now on|"
    r"we (?:will|should) (?:use|standardi[sz]e|adopt|go with)|plan is to|going for)\b"
)
_COMMITMENT = WeightyCue(
    r"\b(?:i(?:'ll| will| shall)|we(?:'ll| will| shall)|i promise|i'?m going to|i am going to|"
    r"we'?re going to|i'?m gonna|remind me|don'?t let me forget|i (?:need|have|"
    r"must|ought|plan|intend|want|aim|"
    r"hope|vow|swear|commit|pledge|agree)(?:ed)? to|i must|i'?ve got to|gotta|"
    r"deadline|due (?:on|by|in|tomorrow|next)|"
    r"(?:my|the|our) (?:appointment|flight|meeting|interview|exam|deadline|train|"
    r"surgery|wedding) (?:is|was|starts|leaves|"
    r"got)|by (?:friday|monday|tuesday|wednesday|thursday|saturday|sunday|tomorrow|next|the end of|noon|eod)|"
    r"count me in|you have my word|make sure to|i'?m (?:meeting|flying|leaving|"
    r"starting|seeing|taking|hosting|picking)|"
    r"will (?:send|call|bring|finish|pay|deliver|review|be (?:there|back|ready)))\b"
)
_RELATIONSHIP = WeightyCue(
    r"\b(?:my|her|his|our|their) (?:new |older |younger |little |big |late |"
    r"ex[- ]?|step|half[- ]?|twin |best |only |"
    r"old |first |eldest |future )*(?:wife|husband|spouse|partner|"
    r"boyfriend|girlfriend|fianc[eé]e?|mother|mum|mom|father|dad|parents?|sister|brother|siblings?|son|"
    r"daughter|kids?|child|children|baby|aunt|uncle|cousin|niece|nephew|grand\w+|friend|boss|manager|"
    r"colleague|coworker|neighbou?r|roommate|flatmate|mentor|teacher|coach|therapist|doctor|dentist|landlord|"
    r"(?:mother|father|brother|sister|son|daughter)-in-law)\b|"
    r"\b(?:got|are|is|am|i'm|we're|been) (?:married|engaged|divorced|dating|separated|pregnant|expecting|"
    r"widowed|single)\b|\b(?:broke up|is (?:related to|the (?:wife|husband|son|"
    r"daughter|brother|sister|boss) of))\b"
)
_PREFERENCE = WeightyCue(
    r"\b(?:i|we|he|she|they)(?:'d| would| do| really| absolutely| totally| just| still| always| only)* "
    r"(?:love|like|prefer|hate|dislike|enjoy|adore|can'?t stand|don'?t (?:like|eat|"
    r"drink|want|enjoy|care for)|"
    r"loves|likes|prefers|hates|dislikes|enjoys|am into|rather)\b|\bmy fav(?:ou?rite)?\b|"
    r"\b(?:always|never) (?:use|call|add|send|reply|write|show|give|include|put|"
    r"book|schedule|say|start|ask)\b|"
    r"\ballergic\b|\bi'?m (?:into|a fan of|not a fan of|vegan|vegetarian)\b|\bplease (?:always|never)\b|"
    r"\bcall me\b|\bnot a fan\b|\bfavou?rite\b"
)
_QUESTION = _cue(
    r"\?\s*$|^(?:who|what|when|where|why|which|how|do|does|did|is|are|can|could|would|will|should|have you|"
    r"has|any (?:idea|news|plans))\b(?!.*\b(?:is|are) (?:my|the|our)\b.*[.!]$)"
)
_REQUEST = _cue(
    r"^(?:please|pls|can you|could you|would you|tell me|show me|give me|help me|send me|explain|write|"
    r"summari[sz]e|translate|list|find|make|draft|check|look up|open|play|read|let me know)\b"
)
_FACT = WeightyCue(
    r"\b(?:my|our|his|her|their|the|your) [\w' -]{2,40} (?:is|are|was|were|has|"
    r"have|costs?|starts?|ends?|lives?|"
    r"works?|opens?|closes?|runs?|moved|takes|expires?|broke|arrived|got|weighs?|"
    r"needs?|died|passed|left|won|lost|"
    r"begins?|measures|speaks|plays|uses|contains|belongs|ships?)\b|"
    r"\b(?:i|we|he|she|they|[A-Z][a-z]+)(?:'m|'ve| am| are| is| was| were| have| "
    r"has| had| just| recently| currently| now| both| "
    r"also| already| finally| never| usually)* (?:live|lives|lived|work|works|worked|moved|bought|sold|born|"
    r"started|joined|quit|left|own|owns|owned|study|studies|studied|speak|speaks|"
    r"play|plays|drive|drives|run|runs|ran|"
    r"graduated|visited|travel+ed|met|adopted|learn(?:ed|ing)|teach|teaches|taught|wrote|built|got|hired|"
    r"promoted|diagnosed|finished|passed|failed|won|lost|earn|earns|weigh|weighs|"
    r"grew|from|turn(?:ed|s)|take|takes|took|"
    r"wear|wears|have|has|use|uses|cook|cooked|read|paid|owe|owes|signed|train|"
    r"trains|practi[cs]e|volunteer|volunteers|"
    r"retired|opened|founded|manage|manages|lead|leads|report|reports|eat|eats|"
    r"drink|drinks|keep|keeps|planted|broke|"
    r"fixed|attend|attends|attended|completed|reached|switched|sleep|swim|swims|fly|flew|went)\b|"
    r"\b(?:i'm|i am|he's|she's|we're|they're|he is|she is|we are|they are) (?:an? |the |from |in |at |on |\d|"
    r"(?:currently|now|\w+ing)\b)"
)
_DETAIL = re.compile(r"\d|(?<=[a-z,] )[A-Z][a-z]+|[$€£¥]")


@lru_cache(8)
def speech_act(text: str) -> Act:
    """The most telling thing a message does; a long one shows it where it begins."""
    line = text[:HEARD].strip().replace("’", "'")
    if _is_noise(line):
        return "noise"
    if len(line) <= SHORT:
        low = _low_act(line)
        if low is not None:
            return low
    return _weighty_act(line)


def _is_noise(line: str) -> bool:
    letters = _LETTERS.findall(line)
    if len(letters) < 2:
        return not any(c.isdigit() for c in line) or len(line) < 3
    words = line.split()
    if len(words) == 1 and line.isascii() and len(letters) > 3 and not _VOWEL.search(line):
        return True
    if len(words) == 1 and len(set(line.lower())) <= 3 and len(line) >= 4:
        return True
    if len(words) <= 2 and re.search(r"[bcdfghjklmnpqrstvwxz]{5,}", line.lower()):
        return True
    return bool(
        re.fullmatch(r"(?:test(?:ing)?|asdf\w*|qwer\w*|blah|foo|bar|lorem ipsum|[\s\d!.,])+", line.lower())
    )


def _low_act(line: str) -> Act | None:
    bare = line.rstrip(" !.?)(:;~")
    greeting = _GREETING.match(line)
    if greeting and _GREETING_TAIL.match(line[greeting.end() :]):
        return "greeting"
    if _THANKS.match(line) and len(line) <= 40 and not _CORRECTION.search(line):
        return "thanks"
    if _ACKNOWLEDGEMENT.match(line):
        return "acknowledgement"
    if _REACTION.match(bare) and not _DETAIL.search(bare) and not _CORRECTION.search(bare):
        return "reaction"
    return None


def _weighty_act(line: str) -> Act:
    question = _QUESTION.search(line) is not None
    if question and line.count("?") and len(re.split(r"[.!]\s", line)) == 1:
        return "question"
    cues: tuple[tuple[Act, WeightyCue], ...] = (
        ("correction", _CORRECTION),
        ("decision", _DECISION),
        ("commitment", _COMMITMENT),
        ("relationship", _RELATIONSHIP),
        ("preference", _PREFERENCE),
        ("fact", _FACT),
    )
    for act, cue in cues:
        if _has(cue, line):
            return act
    if _REQUEST.match(line):
        return "request"
    if question:
        return "question"
    return "statement" if _DETAIL.search(line) else "chat"


@lru_cache(64)
def _has(cue: WeightyCue, line: str) -> bool:
    """Whether a message has a cue; its act and its weight ask for the same ones, one after the other."""
    return cue.search(line)


@lru_cache(8)
def salience(text: str, act: Act) -> float:
    """How much a message matters: its act when short, its features when long."""
    line = text[:HEARD].strip()
    if len(line) <= SHORT or act == "noise":
        return BY_ACT[act]
    details = len(_DETAIL.findall(line))
    told = sum(_has(c, line) for c in (_FACT, _PREFERENCE, _RELATIONSHIP))
    acted = sum(_has(c, line) for c in (_CORRECTION, _DECISION, _COMMITMENT))
    asks = line.count("?") / max(1, len(re.findall(r"[.!?]+", line)))
    value = 0.15 + 0.12 * told + 0.15 * acted + 0.04 * min(details, 6) - 0.1 * asks
    return round(min(0.95, max(BY_ACT[act] * 0.6, value)), 4)


NOVELTY_WEIGHT, SALIENCE_WEIGHT, SURPRISE_WEIGHT = 0.25, 0.20, 0.30
THRESHOLD = 0.30
ALONE = 0.40
"""The threshold where no vectors tell how far the event was to be expected."""
UNHEARD = 0.66
"""The threshold where nothing is stored yet, so that everything is new. Both by 310 labelled messages."""
FLOOR = 0.10
EASIER = {"correction": -0.06, "decision": -0.04, "relationship": -0.04}
WRAPPING = 18  # gzip's header and trailer
MEMORY_BYTES = 8192
NEAREST = 5
TINY = 10
UNRELATED = 0.3  # cosine of two texts below which nothing was predicted


class GateVectors(msgspec.Struct, frozen=True):
    """What prediction error needs: the event beside its nearest text, and that text twice."""

    joint: Sequence[float]  # of "event [SEP] nearest"
    doubled: Sequence[float]  # of "nearest [SEP] nearest"
    likeness: float = 1.0  # cosine of the event and its nearest text


class Signals(msgspec.Struct, frozen=True):
    """The gate's verdict and everything it rests on; stored with the event."""

    novelty: float
    salience: float
    surprise: float | None
    act: Act
    score: float
    threshold: float
    admitted: bool
    reason: str


def judge(text: str, nearest: Sequence[str], vectors: GateVectors | None = None) -> Signals:
    """All signals of an event against its nearest stored texts, nearest first."""
    act = speech_act(text)
    n, s = novelty(text, nearest), salience(text, act)
    surprise = prediction_error(vectors, act)
    score = combine(n, s, surprise)
    usual = UNHEARD if not nearest else ALONE if surprise is None else THRESHOLD
    threshold = usual + EASIER.get(act, 0.0)
    admitted = score >= threshold and s >= FLOOR
    return Signals(n, s, surprise, act, score, threshold, admitted, _reason(s, score, threshold))


def undecided(text: str, nearest: Sequence[str]) -> bool:
    """Whether prediction error could change the verdict; if not, its two vectors are not worth making."""
    act = speech_act(text)
    n, s = novelty(text, nearest), salience(text, act)
    least, most = combine(n, s, 0.0), combine(n, s, 1.0)
    return (
        s >= FLOOR
        and act not in LOW_ACTS
        and bool(nearest)
        and least < THRESHOLD + EASIER.get(act, 0.0) <= most
    )


def compressed(data: bytes) -> int:
    """Bytes of content after gzip, level 6, without header and trailer."""
    return len(gzip.compress(data, 6, mtime=0)) - WRAPPING


def novelty(text: str, nearest: Sequence[str]) -> float:
    """Which share of the event's information its neighbours do not already hold."""
    return _novelty(text, tuple(nearest[:NEAREST]))


@lru_cache(8)
def _novelty(text: str, nearest: tuple[str, ...]) -> float:
    """Kept for a moment: whether vectors could decide anything asks for it before the verdict does."""
    event = text.encode("utf-8", "replace")
    own = compressed(event)
    if own < TINY:
        return 0.05
    known = "\n".join(nearest).encode("utf-8", "replace")[:MEMORY_BYTES]
    if not known:
        return 1.0
    added = compressed(known + event) - compressed(known)
    return min(1.0, max(0.0, added / own))


def prediction_error(vectors: GateVectors | None, act: Act) -> float | None:
    """How far the event moves its nearest text; nothing to say without stored vectors."""
    if vectors is None:
        return None
    if act in LOW_ACTS or vectors.likeness < UNRELATED:
        return 0.0
    return max(0.0, 1.0 - _cosine(vectors.joint, vectors.doubled))


def combine(n: float, s: float, surprise: float | None) -> float:
    """The weighted mean of the signals that are present."""
    total = NOVELTY_WEIGHT * n + SALIENCE_WEIGHT * s
    weight = NOVELTY_WEIGHT + SALIENCE_WEIGHT
    if surprise is not None:
        total, weight = total + SURPRISE_WEIGHT * surprise, weight + SURPRISE_WEIGHT
    return total / weight


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    size = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return dot / size if size else 0.0


def _reason(s: float, score: float, threshold: float) -> str:
    if s < FLOOR:
        return f"salience {s:.2f} is below the floor {FLOOR:.2f}"
    word = "reaches" if score >= threshold else "is below"
    return f"score {score:.2f} {word} {threshold:.2f}"
