"""English verbs as they stand after a name: third person, and the past of what is irregular.

>>> third_person("carry"), third_person("have"), past("gone", "go")
('carries', 'has', 'went')
"""

from __future__ import annotations

from functools import cache

from worldline.lexicon import lines

_THIRD = {"have": "has", "be": "is", "do": "does", "go": "goes"}


def third_person(lemma: str) -> str:
    """ "live" → "lives"."""
    if lemma in _THIRD:
        return _THIRD[lemma]
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ies"
    return f"{lemma}es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{lemma}s"


_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}


def plural(said: str) -> str:
    """The same after several: "lives in" → "live in"."""
    first, gap, rest = said.partition(" ")
    if first in _PLURAL:
        return f"{_PLURAL[first]}{gap}{rest}"
    if first.endswith("ies"):
        return f"{first[:-3]}y{gap}{rest}"
    ending = next((e for e in ("sses", "xes", "zes", "ches", "shes") if first.endswith(e)), "")
    base = first[:-2] if ending else first[:-1] if first.endswith("s") and not first.endswith("ss") else first
    return f"{base}{gap}{rest}"


def past(said: str, lemma: str) -> str:
    """The simple past of a verb that was said in the past or as a participle."""
    irregular = _irregular()
    if lemma in irregular:
        return irregular[lemma]
    if said.endswith("ed"):
        return said
    if lemma.endswith("e"):
        return f"{lemma}d"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ied"
    return f"{lemma}ed"


@cache
def base_of(said: str) -> str:
    """The base form of an irregular past that is nothing else; empty for any other word."""
    return next((base for base, told in _irregular().items() if told == said and base not in _TWOFOLD), "")


def regular_base(said: str) -> str:
    """The base form of a regular past, as its spelling shows: "moved", "pushed", "carried", "dropped"."""
    stem = said.removesuffix("ed")
    if stem == said or len(stem) < 2:
        return ""
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    if stem[-1] == stem[-2] and stem[-1] not in "lsfz":
        return stem[:-1]
    closed = stem.endswith(("sh", "ch", "ss", "x", "w", "y", "lt", "nt", "ct", "pt", "st", "rt", "nd", "ld", "rn",
                            "er", "en", "el", "ll", "lk", "rk", "mp", "rm", "ff", "ck", "ft", "pp", "or"))  # fmt: skip
    vowels = len(stem) > 2 and stem[-2] in "aeiou" and stem[-3] in "aeiou"
    return stem if closed or vowels else f"{stem}e"


_TWOFOLD = frozenset(
    "find lie be have do quit cost cut hit hurt let put read set shut split spread upset fell feed see".split()
)
"""Their past is another verb's base form, their own, or a helping verb."""


@cache
def _irregular() -> dict[str, str]:
    return dict(line.split()[:2] for line in lines("irregular_verbs.txt"))
