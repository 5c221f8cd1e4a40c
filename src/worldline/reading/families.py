"""Relation families: the wordings that mean one relation, kept as data (`lexicon/families.toml`).

A family knows how it reads, what says that it holds, begins or ends, its nouns ("boss", "deadline"),
and how many values it holds. A clause or a noun is matched against all of them; the reader draws
claims from what matches, and a question finds the slot that it asks about in the same way.

>>> [m.family.name for m in families().by_noun("landlord")][:1]
['landlord']
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from worldline.lexicon import text

Effect = Literal["holds", "begins", "ends"]
PREPOSITIONS = frozenset(
    "to in at for of on with by from as into onto about against under over near around through between out off "
    "without after before towards toward within via behind beside until till since up".split()
)
_ROLES = frozenset("SOX")


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """One relation: how it reads, what it holds, and the words that speak of it."""

    name: str
    reads: str
    inverse: str = ""
    holds: Literal["one", "many", "series"] = "many"
    changes: bool = True
    object: str = "thing"
    subject: str = "any"
    threshold: str = "default"
    states: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def one(self) -> bool:
        return self.holds == "one"


class Pattern(Struct, frozen=True):
    """A little clause with roles: which part of a sentence is whose."""

    family: Family
    effect: Effect
    verb: str
    """Its words without the roles: "hand over to"."""
    subject: str
    """The role of the grammatical subject."""
    direct: str = ""
    """The role of the direct object."""
    behind: str = ""
    """The role behind the last preposition."""


class Named(Struct, frozen=True):
    """A noun that names a family."""

    family: Family
    noun: str


class Families(Struct, frozen=True):
    """All families, and where to find them by verb, noun or word."""

    all: dict[str, Family]
    patterns: dict[str, tuple[Pattern, ...]]
    nouns: dict[str, tuple[Family, ...]]
    words: dict[str, tuple[Family, ...]]

    def by_verb(self, verb: str) -> tuple[Pattern, ...]:
        """The patterns of a verb in base form, with its particle or participle."""
        return self.patterns.get(verb, ())

    def by_noun(self, noun: str) -> list[Named]:
        """The families that a noun names; its last words count where the whole is unknown."""
        words = noun.lower().partition(" of ")[0].split() if noun.lower() not in self.nouns else [noun.lower()]
        for start in range(len(words)):
            said = " ".join(words[start:])
            if said in self.nouns:
                return [Named(family, said) for family in self.nouns[said]]
        return []

    def by_word(self, word: str) -> tuple[Family, ...]:
        """The families to which "S is WORD" belongs."""
        return self.words.get(word.lower(), ())


def pattern(family: Family, effect: Effect, said: str) -> Pattern | None:
    """A pattern as the table writes it: "X hand S over to O"; None for one that says nothing of its own.

    A role directly behind the verb is its object; the last role, behind a preposition, is what that
    is about. Others are there for the reader of the table only ("move from X to O").
    """
    words = said.split()
    subject, rest = (words[0], words[1:]) if len(words) > 1 else ("", [])
    if subject not in _ROLES:
        raise ValueError(f"{family.name}: a pattern begins with S, O or X, not {said!r}")
    direct = rest[1] if len(rest) > 1 and rest[1] in _ROLES else ""
    if not direct and len(rest) > 2 and rest[2] in _ROLES and rest[1] not in PREPOSITIONS and rest[0] != "be":
        direct = ""
    behind = rest[-1] if rest[-1] in _ROLES and len(rest) > 2 else ""
    if rest[-1] in _ROLES and len(rest) == 2:
        direct, behind = rest[-1], ""
    if behind and rest[-2] not in PREPOSITIONS:
        direct, behind = direct or behind, ""
    verb = [w for w in rest if w not in _ROLES]
    roles = {subject, direct, behind}
    if "S" not in roles or (effect != "ends" and "O" not in roles) or sum(w in _ROLES for w in rest) > 2:
        return None
    if sum(w in _ROLES for w in rest) != bool(direct) + bool(behind):
        return None
    return Pattern(family, effect, " ".join(verb), subject, direct, behind)


def build(table: Mapping[str, Mapping[str, Any]]) -> Families:
    """Families from a table; a mistake in it is a ValueError that names the family."""
    found = {name: _family(name, row) for name, row in table.items()}
    patterns: dict[str, list[Pattern]] = {}
    nouns: dict[str, list[Family]] = {}
    words: dict[str, list[Family]] = {}
    for family in found.values():
        effects: Iterable[tuple[Effect, tuple[str, ...]]] = (
            ("holds", family.states), ("begins", family.begins), ("ends", family.ends),
        )  # fmt: skip
        for effect, all_ in effects:
            for said in all_:
                one = pattern(family, effect, said)
                if one is not None and (one.verb != "have" or family.name == "owns"):
                    patterns.setdefault(one.verb, []).append(one)
        for noun in family.nouns:
            nouns.setdefault(noun, []).append(family)
        for word in family.words:
            words.setdefault(word, []).append(family)
    return Families(
        found,
        {verb: tuple(all_) for verb, all_ in patterns.items()},
        {noun: tuple(all_) for noun, all_ in nouns.items()},
        {word: tuple(all_) for word, all_ in words.items()},
    )


def _family(name: str, row: Mapping[str, Any]) -> Family:
    if not isinstance(row, Mapping):
        raise ValueError(f"family {name}: a table is wanted, not {row!r}")
    renamed = {"threshold" if key == "class" else key: value for key, value in row.items()}
    try:
        return msgspec.convert({"name": name, **renamed}, Family)
    except msgspec.ValidationError as error:
        raise ValueError(f"family {name}: {error}") from None


@cache
def families() -> Families:
    """The families that come with the product."""
    return build(tomllib.loads(text("families.toml")))
