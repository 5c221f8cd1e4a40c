"""Reading a question: which known entities it names, and which of its words ask for a relation.

Decides mentions (the longest known names, by position) and content words with their places; it
does not know what the words mean.

    read_question("Where was the founder of Acme born?", …): mention Acme; words founder, born.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import msgspec

from worldline.reading.claim import stem
from worldline.text import fold, word_set

_TOKEN = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*\.?|\"|“|”")
_WORD = re.compile(r"[^\W_]+")
MAX_NAME = 9
ASKING = word_set(
    "what which who whom whose where when why how is are was were be been being am do does "
    "did has have had can could will would should may might must the a an of in on at to for "
    "from by with as about into and or that this these those it its his her their he she they "
    "them him my your our name named person individual someone people current currently known "
    "called associated related one does there also besides belong belongs belonging belonged "
    "there s t"
)


class Mention(msgspec.Struct, frozen=True):
    """A known entity in the question: where, and how strong the match is."""

    entity: str
    begin: int
    end: int
    weight: float


class Word(msgspec.Struct, frozen=True):
    """A content word and its place in the question."""

    text: str
    stem: str
    place: int


class PlannedQuestion(msgspec.Struct, frozen=True):
    """What the walk needs to know of a question."""

    text: str
    masked: str  # with the strongest mention replaced by X
    mentions: tuple[Mention, ...]
    words: tuple[Word, ...]
    places: tuple[int, ...]  # of the mentions, in words


Linker = Callable[[Collection[str]], dict[str, str]]


def read_question(text: str, link: Linker) -> PlannedQuestion:
    """Mentions, strongest first, and the content words outside the strongest one."""
    tokens = [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(text) if m.group() not in '"“”']
    mentions = _mentions(text, tokens, link)
    inside = mentions[0] if mentions else None
    words, places = [], []
    for begin, _, token in tokens:
        if inside and inside.begin <= begin < inside.end:
            continue
        words += [
            Word(w.lower(), stem(w.lower()), begin)
            for w in _WORD.findall(re.sub(r"[’']s\b", "", token))
            if w.lower() not in ASKING
        ]
    for mention in mentions:
        places.append(mention.begin)
    masked = text[: inside.begin] + "X" + text[inside.end :] if inside else text
    return PlannedQuestion(text, masked.replace('"', ""), tuple(mentions), tuple(words), tuple(places))


def _mentions(text: str, tokens: list[tuple[int, int, str]], link: Linker) -> list[Mention]:
    """Longest known names that do not overlap, by weight."""
    spans: dict[tuple[int, int], list[str]] = {}
    for i in range(len(tokens)):
        for j in range(i + 1, min(len(tokens), i + MAX_NAME) + 1):
            begin, end = tokens[i][0], tokens[j - 1][1]
            spans[begin, end] = _spellings(text[begin:end])
    known = link({name for names in spans.values() for name in names})
    found = []
    for (begin, end), names in spans.items():
        entity = next((known[n] for n in names if n in known), None)
        if entity is not None:
            found.append(Mention(entity, begin, end, _weight(text, begin, end)))
    found.sort(key=lambda m: (-m.weight, m.begin))
    kept: list[Mention] = []
    for mention in found:
        if mention.weight > 0 and not any(k.begin < mention.end and mention.begin < k.end for k in kept):
            kept.append(mention)
    return kept


def _spellings(text: str) -> list[str]:
    bare = re.sub(r"[’']s?$", "", text)
    names = [fold(text), fold(bare)]
    if names[0].startswith("the "):
        names += [names[0][4:]]
    return [n for n in dict.fromkeys(names) if n]


def _weight(text: str, begin: int, end: int) -> float:
    """Words + capitals + quotation marks; a plain common word weighs nothing."""
    words = text[begin:end].split()
    capitals = sum(w[0].isupper() or w[0].isdigit() for w in words)
    quoted = begin > 0 and text[begin - 1] in "\"“'‘" and text[end : end + 1] in "\"”'’"
    if not capitals and not quoted:
        return 0.3 * len(words) if words[0].lower() not in ASKING else 0.0
    if begin == 0 and len(words) == 1:
        return 0.0
    if words[0].lower() in ASKING and not quoted and words[0][0].islower():
        return len(words) + 1.5 * capitals - 1.0
    return len(words) + 1.5 * capitals + 2 * quoted
