"""What a name says: its carrying words, numbers, titles, lineage, initials; read once, in linear time.

It compares nothing: `identity.py` does.

    read("Dr. J.R. Müller Jr.").parts == ("j", "r", "muller")
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from worldline.rules.names import (
    DEGREES,
    FEMALE,
    GENERIC,
    LEADING_LEGAL,
    LEGAL,
    LINEAGE,
    MALE,
    ORDINALS,
    ORGANISATION_WORDS,
    SHORT_FORMS,
    TITLES,
    east_asian,
    east_asian_words,
    known_given,
    letters,
)
from worldline.text import fold
from worldline.wordlists import word_set

STOPS = word_set("the and of for")
_KINDS = LEGAL | ORGANISATION_WORDS | GENERIC
_TRAILING = LEGAL | DEGREES | LINEAGE.keys() | {"and"}
_OWNER = re.compile(r"(?<!\w)\w+['’]s\b")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?")
_ROMAN = {r: str(n) for n, r in enumerate("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split(), 1)}


class Name(NamedTuple):
    """What is read off a name."""

    parts: tuple[str, ...]
    """The words that carry it: folded, in order, without titles, legal forms and articles."""
    spelt: tuple[str, ...]
    """The same with letters spelt out: mueller for müller."""
    numbers: tuple[str, ...]
    lineage: str
    gender: str
    owners: tuple[str, ...]
    """The "emmas" of "Emma's sister"."""
    initials: tuple[str, ...]
    """What an acronym of it would be."""
    acronym: str
    """Its letters, if it is nothing but a few capitals."""
    titled: bool
    organisation: bool
    couple: bool


@lru_cache(maxsize=50_000)
def read(name: str) -> Name:
    """A name, read."""
    name = unicodedata.normalize("NFKC", name)
    plain, spelt = (_prepared(name.translate(letters(way))) for way in (False, True))
    parts, lineage, titles = _core(plain)
    return Name(
        parts, parts if spelt == plain else _core(spelt)[0],
        tuple(sorted(number for word in parts for number in _DIGITS.findall(word))), lineage,
        "m" if titles & MALE else "f" if titles & FEMALE else "",
        tuple(fold(match[0]) for match in _OWNER.finditer(name)),
        _initials(plain), _acronym(name), bool(titles),
        not _KINDS.isdisjoint(SHORT_FORMS.get(word, word) for word in plain), "and" in plain,
    )  # fmt: skip


def _prepared(name: str) -> list[str]:
    """Its words in their usual order, folded, with signs as words."""
    tokens = _turned(name).replace("&", " and ").split()
    for at, token in enumerate(tokens[:-1]):
        if "." in token and _DOTTED.fullmatch(token):
            tokens[at] = token.replace(".", " ")
    if len(tokens) > 1:
        tokens[-1] = _ROMAN.get(tokens[-1], tokens[-1])
    return [part for word in fold(" ".join(tokens)).split() for part in _signs(word)]


def _turned(name: str) -> str:
    """ "Smith, John" as "John Smith"."""
    before, comma, after = name.partition(",")
    family, given = fold(before).split(), fold(after).split()
    if not comma or "," in after or not 0 < len(family) <= 3 or not 0 < len(given) <= 4:
        return name
    if given[0] in LEGAL or given[0] in LINEAGE or given[0] in DEGREES or not STOPS.isdisjoint(family):
        return name
    return f"{after} {before}" if len(family) == 1 or given[0] in known_given() else name


def _signs(word: str) -> list[str]:
    if word[0] == "." and len(word) > 1:
        return ["dot" + word[1:]]
    bare = word.rstrip("+#")
    if bare == word or not bare:
        return [word]
    return [bare, *("sharp" if sign == "#" else "plus" for sign in word[len(bare) :])]


def _core(words: list[str]) -> tuple[tuple[str, ...], str, frozenset[str]]:
    """The carrying words, the lineage, and the titles that stood before."""
    begin, end, lineage = 0, len(words), ""
    while end - begin > 1 and words[begin] in TITLES and words[begin + 1] not in STOPS:
        begin += 1
    titles = frozenset(words[:begin])
    while end - begin > 1 and words[end - 1] in _TRAILING:
        lineage = LINEAGE.get(words[end - 1], lineage)
        end -= 1
    if end - begin > 2 and words[end - 1].isdigit() and words[begin] in known_given():
        lineage = words[end - 1]
        end -= 1
    if end - begin > 1 and words[begin] in LEADING_LEGAL:
        begin += 1
    core = [word for word in words[begin:end] if word not in STOPS] or words[begin:end]
    if len(core) > 1:
        core = [ORDINALS.get(word) or SHORT_FORMS.get(word, word) for word in core]
    core = [match[1] if (match := _ORDINAL.fullmatch(word)) else word for word in core]
    return tuple(core if "".join(core).isascii() else _eastern(core)), lineage, titles


def _eastern(words: list[str]) -> list[str]:
    """One form of each character, kana alike, no honorific behind the name."""
    words = [word.translate(east_asian()) for word in words]
    for honorific in east_asian_words("honorific"):
        if words[-1] == honorific and len(words) > 1:
            return words[:-1]
        if words[-1].endswith(honorific) and len(words[-1]) - len(honorific) >= 2:
            return [*words[:-1], words[-1].removesuffix(honorific)]
    return [word.rstrip("ー") if len(word) > 3 else word for word in words]


def _initials(words: list[str]) -> tuple[str, ...]:
    told = [word for word in words if word not in STOPS]
    found = {"".join(word[0] for word in some) for some in (words, told, [w for w in told if w not in LEGAL])}
    person = len(told) == 2 and told[0] in known_given()
    return tuple(sorted(some for some in found if 2 <= len(some) <= 6 and not person))


def _acronym(name: str) -> str:
    """The letters of a name that is nothing but a few capitals (IBM, F.B.I., P&G, DoD); else nothing."""
    tokens = name.replace(".", "").replace("&", "").split()[:8]
    found = "".join(token for token in tokens if fold(token) not in LEGAL)
    if not 2 <= len(found) <= 6 or not found.isascii() or not found.isalpha():
        return ""
    mixed = 3 <= len(found) <= 5 and found[0].isupper() and found[-1].isupper()
    return found.lower() if found.isupper() or mixed else ""
