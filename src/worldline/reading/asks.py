"""Which families a question's wording may ask for: verbs with their prepositions, and spelt-out questions.

Shared by reading/questions.py; it looks at the table of families and at words, never at a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from worldline.reading.claim import stem
from worldline.reading.families import Family, families
from worldline.reading.parser import Token
from worldline.text import stop

WH = frozenset("who whom whose what which where when why how".split())
PLACE_PREPS = ("in", "at", "on", "for", "to", "from", "with", "by", "near", "into", "of")


class Asks(Struct, frozen=True):
    """A family that the wording fits, the end that is asked for, and the stems that this explains."""

    family: Family
    role: str
    strength: float
    explains: frozenset[str] = frozenset()


def is_idle(word: str) -> bool:
    """Carries no content."""
    return word in stop() or stem(word) in stop()


def grown(
    base: str, tail: Sequence[Token], front: str, place: bool
) -> Iterator[tuple[str, bool, frozenset[str]]]:
    """A verb with what may belong to it: "work", "work for", "take care of"."""
    said, stems = base, {stem(base.split()[-1])}
    yield said, False, frozenset(stems)
    for prep in (front,) if front else PLACE_PREPS if place else ():
        yield f"{said} {prep}", True, frozenset(stems)
    for token in tail[:3]:
        said = f"{said} {token.low if token.tag in ('IN', 'TO', 'RP') else token.lemma.lower()}"
        stems = stems | {stem(token.low)}
        yield said, token.tag in ("IN", "TO"), frozenset(stems)
        if front:
            yield f"{said} {front}", True, frozenset(stems)


def can_be(wh: str, family: Family, role: str) -> bool:
    """Whether the end that is asked for can answer the word that asks."""
    kind = family.object if role == "O" else family.subject
    if wh in ("who", "whom"):
        return kind in ("person", "organisation", "any", "animal") or (role == "S" and kind != "thing")
    if wh == "where":
        return kind in ("place", "organisation", "thing", "text", "any", "contact")
    if wh == "when":
        return kind in ("date", "time") or role == "O"
    if wh == "how":
        return kind in ("amount", "money", "count", "duration", "date", "time", "text", "thing", "state")
    return True


class Template(Struct, frozen=True):
    """A question that the table of families spells out."""

    family: Family
    wh: str
    content: frozenset[str]
    bare: re.Pattern[str]


@cache
def templates() -> tuple[Template, ...]:
    """The questions that the table spells out."""
    found = []
    for family in families().all.values():
        for said in family.asks:
            low = said.lower().replace("s's", "S's").split()
            wh = next((w for w in low if w in WH), "")
            content = frozenset(stem(w) for w in low if not is_idle(w) and w not in ("s", "S's"))
            parts = [
                "[^ ]+(?: [^ ]+){0,3}"
                if w == "s"
                else "[^ ]+(?: [^ ]+){0,2} 's"
                if w == "S's"
                else re.escape(w)
                for w in low
            ]
            if wh:
                found.append(Template(family, wh, content, re.compile(" ".join(parts))))
    return tuple(found)
