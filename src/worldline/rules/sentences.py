"""Where sentences begin and end, and which of them do not say that something happened.

It decides offsets only, and two doubts that every rule about statements shares: a sentence that asks,
and words that make what follows a wish, a condition or a story.

>>> text = "I moved. Did you?"
>>> [text[a:b] for a, b in sentences(text)]
['I moved.', 'Did you?']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])|\n+")
_SHORT_FORM = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|Jr|Sr|Inc|a\.m|p\.m|U\.S)\.$|(?:^|\s)[A-Z]\.$"
)
_ASKS = re.compile(r"[?？][\"'”’)\s]*$")
_TELLS_ALL_THE_SAME = re.compile(
    r"\b(?:did i (?:ever )?(?:tell|mention)|have i (?:told|mentioned)|guess what|you know what|"
    r"can you believe|remember (?:when|that|how))\b|(?:,\s*|\s)(?:right|huh|you know|isn['’]t it|okay)\?",
    re.I,
)
_STRONG_CUT = re.compile(
    r"[,;]?\s+(?:but|though|however|anyway)\b,?|;|\s[–—-]\s|,\s+(?:and|so|because)\b|，|；", re.I
)
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|wish(?:es|ed)?|imagin\w+|suppos(?:e|ing)|pretend\w*|as though|"
    r"dream(?:ed|t|s|ing)?|hypothetically|would(?:n['’]t)?|could(?:n['’]t)?|might|in case|rumou?rs?|joking|"
    r"in (?:the|a|this|that|my) (?:book|movie|film|show|series|game|novel|story|dream|song|play|episode))\b"
    r"|(?:如果|要是|假如|万一|梦见|希望)",
    re.I,
)


class SaidSentence(NamedTuple):
    """One sentence of a text."""

    text: str
    begin: int
    asks: bool
    """Whether it asks rather than tells."""


def cut_all(texts: Sequence[str]) -> list[list[SaidSentence]]:
    """The sentences of each of these texts."""
    return [
        [SaidSentence(text[begin:end], begin, only_asks(text[begin:end])) for begin, end in sentences(text)]
        for text in texts
    ]


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text, as offsets without the space around them."""
    start = 0
    for found in _END.finditer(text):
        if not _SHORT_FORM.search(text, start, found.start()):
            yield from _trimmed(text, start, found.start())
            start = found.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if kept := piece.strip():
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(kept)


def only_asks(sentence: str) -> bool:
    """Whether a sentence asks rather than tells; "did you know that …" tells all the same."""
    return bool(_ASKS.search(sentence)) and not _TELLS_ALL_THE_SAME.search(sentence)


def unreal_before(sentence: str, at: int) -> bool:
    """Whether the words that lead up to a place make it a condition, a wish or a story."""
    head, cut = sentence[:at], 0
    for found in _STRONG_CUT.finditer(head):
        cut = found.end()
    return bool(_UNREAL.search(head, cut))
