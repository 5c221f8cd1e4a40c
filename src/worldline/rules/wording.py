"""Facts as English sentences.

A phrase stands between subject and object ("lives in"), behind an owner ("'s sister is"), or is a
sentence with two gaps ("{O} runs {S}") where the object is what the sentence is about.

>>> sentence("Ana", "lives in", "Rome"), sentence("bakery", "{O} runs {S}", "Dora")
('Ana lives in Rome', 'Dora runs bakery')
"""

from __future__ import annotations


def sentence(subject: object, phrase: str, value: object) -> str:
    """A fact as it reads."""
    if "{S}" in phrase:
        return phrase.replace("{S}", str(subject)).replace("{O}", str(value))
    gap = "" if phrase.startswith("'s ") else " "
    return f"{subject}{gap}{phrase} {value}".rstrip()


def label(phrase: str) -> str:
    """A phrase by itself, as the name of what it says: "lives in", "sister is", "runs"."""
    plain = " ".join(phrase.replace("{S}", "").replace("{O}", "").split())
    return plain.removeprefix("'s ").removesuffix(" is") if plain.startswith("'s ") else plain
