"""Echoes: words that this memory handed out itself, and that come back in a new message.

What comes back is no new evidence, so nothing is drawn from it. Two things tell it: recall's own way
of writing a line (when and who in front of the words), which is left out of every reading; and the
words themselves, four at a time, against what was handed out lately. Whole, cut, quoted or in capitals is the same.
A person who says a short thing again, in his own name and without those marks, is not an echo.

>>> spoken("You said: [2026-03-05 Thu 14:30] Ana: I live in Porto.").rstrip()
'You said:'
>>> echoes("[2026-03-05 Thu 14:30] Ana: I live in Porto.", "Ana", [("I live in Porto.", "Ana")])
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from worldline.text import fold

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
    grams = list(_grams(tuple(said)))
    known = [(_gram_set(text), who) for text, who in handed]
    names = {word for _, who in handed for word in _words(who)}
    hit = [word in names for word in said]
    by: set[str] = set()
    for at, gram in enumerate(grams):
        whose = [who for held, who in known if gram in held]
        by.update(whose)
        if whose:
            hit[at : at + len(gram)] = [True] * len(gram)
    return sum(hit) / len(said), by


def _grams(said: tuple[str, ...]) -> list[tuple[str, ...]]:
    if len(said) <= GRAM:
        return [said]
    return [said[at : at + GRAM] for at in range(len(said) - GRAM + 1)]


@lru_cache(maxsize=1024)
def _gram_set(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of up to four words of a text."""
    said = tuple(_words(text[:LOOKED_AT]))
    return frozenset(
        said[at : at + size] for size in range(1, GRAM + 1) for at in range(len(said) - size + 1)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
