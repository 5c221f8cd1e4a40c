"""Saying the same fact in other words: possessive, without the type noun, active for passive.

Used by `worldline bench factconsolidation --reword SHARE` to see whether wordings meet in one slot.
It knows sentence forms, no data.

>>> reword("The capital of Freedonia is Sylvan.", random.Random(1))
"Freedonia's capital is Sylvan."
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Maker = Callable[[re.Match[str], random.Random], str | None]


def _possessive(m: re.Match[str], rng: random.Random) -> str | None:
    if " of " in m[1]:
        return None
    if m[4] or rng.random() < 0.6:
        return f"{m[2]}'s {m[1]} is {m[5]}."
    return f"{m[5]} is the {m[1]} of {m[2]}."


def _active(m: re.Match[str], rng: random.Random) -> str:
    return f"{m[3]} {m[2]} {m[1]}."


def _employs(m: re.Match[str], rng: random.Random) -> str:
    return f"{m[2]} employs {m[1]}."


def _produced(m: re.Match[str], rng: random.Random) -> str:
    return rng.choice([f"{m[1]} was produced by {m[2]}.", f"{m[2]} produced {m[1]}."])


def _educated(m: re.Match[str], rng: random.Random) -> str:
    return f"{m[1]} was educated at {m[2]}."


def _untyped(m: re.Match[str], rng: random.Random) -> str:
    plain = f"{m[1]} {m[2]}{m[3]} {m[5]}."
    if m[4] in ("city", "country"):
        return plain
    return rng.choice([plain, plain, f"{m[1]}'s {m[4]} is {m[5]}."])


_FORMS: tuple[tuple[re.Pattern[str], Maker], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"^The ((?:[a-z]+ )*[a-z]+) of (?!the )(.+) (is|was) ((?:located in )?(?:the \w+ of )?)([^ ].*)$",
         _possessive),
        (r"^(.+) was (\w+ed) by (.+)$", _active),
        (r"^(.+) is employed by (.+)$", _employs),
        (r"^The company that produced (.+) is (.+)$", _produced),
        (r"^The \w+ where (.+) was educated is (.+)$", _educated),
        (r"^(.+?) ((?:is|was) \w+|speaks|plays|works|worked|died)( with| in|) the (\w+) of (.+)$", _untyped),
    )
)  # fmt: skip
_IDIOMS = ("type of music", "current head")


def reword(sentence: str, rng: random.Random) -> str | None:
    """The sentence in another form; None where no form fits."""
    if any(idiom in sentence for idiom in _IDIOMS):
        return None
    bare = sentence[:-1] if sentence.endswith(".") else sentence
    for pattern, make in _FORMS:
        if (match := pattern.match(bare)) and (made := make(match, rng)):
            return made
    return None


def reworded(sentences: list[str], share: float, seed: int) -> tuple[list[str], float]:
    """The sentences with about this share of them said otherwise, and the share that it became."""
    rng = random.Random(seed)
    told, changed = [], 0
    for sentence in sentences:
        other = reword(sentence, rng) if rng.random() < share / 0.8 else None
        changed += other is not None
        told.append(other or sentence)
    return told, changed / max(1, len(sentences))
