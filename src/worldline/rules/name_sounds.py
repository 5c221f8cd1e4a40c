"""How a word of a name sounds: two codes, one for transliterations and one for the ear.

skeleton("tchaikovsky") == skeleton("chaikovskiy")
"""

from __future__ import annotations

import re
from functools import lru_cache

_SOUNDS = (
    ("tsch", "c"),
    ("tch", "c"),
    ("sch", "s"),
    ("sh", "s"),
    ("zh", "z"),
    ("kh", "h"),
    ("ch", "c"),
    ("ph", "f"),
    ("gh", "g"),
    ("th", "t"),
    ("dj", "j"),
    ("dzh", "j"),
    ("ck", "k"),
    ("kn", "n"),
    ("wr", "r"),
    ("qu", "kv"),
    ("q", "k"),
    ("x", "ks"),
    ("w", "v"),
    ("tz", "c"),
    ("ts", "c"),
)
_CLASSES = {c: n for n, group in enumerate(("bpfv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for c in group}


@lru_cache(maxsize=50_000)
def skeleton(word: str) -> str:
    """The consonants as a transliterator hears them: Tchaikovsky and Chaikovskiy agree."""
    for spelt, heard in _SOUNDS:
        word = word.replace(spelt, heard)
    word = re.sub(r"c(?=[aou lrnt]|$)", "k", word) if not word.startswith("c") else word
    first = "i" if word[:1] in "iyj" else word[:1]
    rest = re.sub(r"[aeiouyjh]", "", word[1:])
    return first + re.sub(r"(.)\1+", r"\1", rest)


@lru_cache(maxsize=50_000)
def phonetic(word: str) -> str:
    """A Soundex-like code of five: PH sounds F, CK K, initial KN N, initial WR R."""
    word = word.replace("ph", "f").replace("ck", "k")
    if word[:2] in ("kn", "wr", "ps", "gn"):
        word = word[1:]
    first = {"c": "k", "q": "k", "z": "s", "y": "i", "j": "i", "w": "v"}.get(word[:1], word[:1])
    code, last = "", _CLASSES.get(word[:1])
    for letter in word[1:]:
        number = _CLASSES.get(letter)
        if number is not None and number != last:
            code += str(number)
        if letter not in "hw":
            last = number
    return (first + code)[:5]
