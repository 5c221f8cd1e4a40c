"""Facts as English sentences.

A phrase stands between subject and object ("lives in"), behind an owner ("'s sister is"), or is a
sentence with two gaps ("{O} runs {S}") where the object is what the sentence is about.

>>> sentence("Ana", "lives in", "Rome"), sentence("bakery", "{O} runs {S}", "Dora")
('Ana lives in Rome', 'Dora runs bakery')
"""

from __future__ import annotations

import re

_EFFECT = re.compile(
    r"(?P<fact>.+): (?P<effect>believed too|believed|the next of a series|repeats|closes|ends|contradicts|"
    r"given|over|withdrawn)(?:[,;] (?P<why>.*))?",
    re.S,
)
_PLAIN = {
    "believed": "new", "believed too": "as well", "the next of a series": "one more", "repeats": "known already",
    "ends": "over", "over": "over", "withdrawn": "withdrawn", "given": "new",
}  # fmt: skip


def sentence(subject: object, phrase: str, value: object) -> str:
    """A fact as it reads."""
    if "{S}" in phrase:
        return phrase.replace("{S}", str(subject)).replace("{O}", str(value))
    gap = "" if phrase.startswith("'s ") else " "
    return f"{subject}{gap}{phrase} {value}".rstrip()


def worded(subject: object, phrase: str, value: object) -> tuple[str, str]:
    """The name of a fact, and the fact as it reads."""
    return label(phrase), sentence(subject, phrase, value)


def told(change: str) -> str:
    """What a write did, as its receipt names it, in words for people.

    >>> told("Ana works at Siemens: believed, nothing was believed of this yet")
    'Ana works at Siemens (new)'
    >>> told("Ana lives in Rome: closes, there is one at a time, and this is the later one")
    'Ana lives in Rome (takes the place of what was believed)'
    """
    if change.startswith("ended ("):
        return "what was believed before has ended" if "supersedes" in change else "ended"
    found = _EFFECT.fullmatch(change)
    if found is None:
        return change
    fact, effect, why = found["fact"], found["effect"], found["why"] or ""
    if effect == "closes":
        wrong = "it was wrong" in why
        return f"{fact} ({'corrects' if wrong else 'takes the place of'} what was believed)"
    if effect == "contradicts":
        return f"{fact} (contradicts what is believed: {why})"
    if effect == "given" and why:
        return f"{fact} ({'known already' if why == 'and believed already' else why.removeprefix('but ')})"
    return f"{fact} ({_PLAIN[effect]})"


def label(phrase: str) -> str:
    """A phrase by itself, as the name of what it says: "lives in", "sister is", "runs"."""
    plain = " ".join(phrase.replace("{S}", "").replace("{O}", "").split())
    return plain.removeprefix("'s ").removesuffix(" is") if plain.startswith("'s ") else plain
