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
from msgspec.structs import replace

from worldline.lexicon import text
from worldline.reading.inflection import base_of, regular_base

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
    ousts: tuple[str, ...] = ()
    """Families that hold nothing any longer of whoever comes to hold this one."""
    along: tuple[str, ...] = ()
    """Families that are over as well where this one is said to be over without naming its value."""

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
    second: str = ""
    """The role of a second object: "give S O"."""
    owned: str = ""
    """Whose thing it is done to: "cut budget of S"."""
    head: str = ""
    """The noun that must stand behind the last role: "O class"."""
    prep: str = ""
    first: tuple[str, str] = ("", "")
    """A preposition before the last one, and its role: "write to S at O"."""
    value: str = ""
    """What it brings about, where the verb says so by itself: "retire" makes retired."""


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
    verbs: frozenset[str] = frozenset()
    """The verbs of all patterns, without particles and prepositions."""

    def by_verb(self, verb: str) -> tuple[Pattern, ...]:
        """The patterns of a verb in base form, with its particle or participle."""
        return self.patterns.get(verb, ())

    def by_noun(self, noun: str) -> list[Named]:
        """The families that a noun names; its last words count where the whole is unknown."""
        words = (
            noun.lower().partition(" of ")[0].split() if noun.lower() not in self.nouns else [noun.lower()]
        )
        for start in range(len(words)):
            said = " ".join(words[start:])
            if said in self.nouns:
                return [Named(family, said) for family in self.nouns[said]]
        return []

    def by_word(self, word: str) -> tuple[Family, ...]:
        """The families to which "S is WORD" belongs."""
        return self.words.get(word.lower(), ())


def patterns(family: Family, effect: Effect, said: str) -> list[Pattern]:
    """What the table means by "X hand S over to O"; a wording that cannot be matched is a ValueError.

    A role right behind the verb is its object, a second one beside it what it is given or made ("X give
    S O", "X rename S O"). A role behind a preposition is what that is about, a noun behind a role the
    noun that must stand there ("S sign up for O class"); "NOUN of S" is a thing of S's ("X cut budget of
    S to O"). What stands behind "=" is the value itself ("S retire = retired"). Of several prepositions
    the last one counts ("move from X to O").
    """
    clause, _, value = said.partition(" = ")
    subject, *rest = clause.split()
    if subject not in _ROLES or not rest or rest[0] in _ROLES:
        raise ValueError(f"{family.name}: a pattern begins with S, O or X and a verb, not {said!r}")
    made = Pattern(family, effect, "", subject, value=value)
    verb: list[str] = []
    at = 0
    while at < len(rest):
        word, after = rest[at], rest[at + 1] if at + 1 < len(rest) else ""
        if word not in _ROLES:
            verb.append(word)
        elif len(verb) > 1 and verb[-1] == "of" and verb[-2] not in PREPOSITIONS and at + 1 < len(rest):
            made, verb = replace(made, owned=word), verb[:-1]
        elif len(verb) > 1 and verb[-1] in PREPOSITIONS and at > 1:
            if made.behind and made.prep in _PARTICLES:
                made = replace(made, direct=made.behind)  # "sign S up for O"
            elif made.behind:
                verb.remove(made.prep)
                made = replace(made, first=(made.prep, made.behind))
            made = replace(made, behind=word, prep=verb[-1], head=_head(after))
        elif made.direct:
            made = replace(made, second=word, head=_head(after))
        else:
            made = replace(made, direct=word, head=_head(after))
        at += 2 if word in _ROLES and _head(after) else 1
    made = replace(made, verb=" ".join(verb))
    roles = {made.subject, made.direct, made.second, made.behind, made.owned, made.first[1]}
    if "S" not in roles or (effect != "ends" and "O" not in roles and not value):
        raise ValueError(f"{family.name}: {said!r} does not say who is meant by S and what by O")
    if len(verb) == 2 and made.behind and not made.direct and verb[1] in _PARTICLES:
        return [made, replace(made, direct=made.behind, behind="", prep="")]  # "gave the cello up"
    if verb == ["be"] and made.head:
        return [made, replace(made, verb=f"be {made.head}", head="")]  # "is a law student", "is 31 years old"
    return [made]


def _active(pattern: Pattern) -> Pattern | None:
    """What somebody did, where the table tells what was done: "S be pushed back to O" is also "X push S back to O"."""
    be, _, rest = pattern.verb.partition(" ")
    done, gap, more = rest.partition(" ")
    if (be, pattern.subject) != ("be", "S") or pattern.direct or pattern.effect == "holds" or pattern.value:
        return None
    base = base_of(done) or regular_base(done)
    return replace(pattern, subject="X", direct="S", verb=f"{base}{gap}{more}") if base else None


def _head(word: str) -> str:
    """A noun that must stand behind a role."""
    return "" if word in _ROLES or word in PREPOSITIONS or word in _ADVERBS else word


_PARTICLES = frozenset("up out over off in on down away back".split())
_ADVERBS = _PARTICLES | frozenset("home good behind aside together apart left again".split())


def build(table: Mapping[str, Mapping[str, Any]]) -> Families:
    """Families from a table; a mistake in it is a ValueError that names the family."""
    found = {name: _family(name, row) for name, row in table.items()}
    found_by: dict[str, list[Pattern]] = {}
    nouns: dict[str, list[Family]] = {}
    words: dict[str, list[Family]] = {}
    for family in found.values():
        effects: Iterable[tuple[Effect, tuple[str, ...]]] = (
            ("holds", family.states), ("begins", family.begins), ("ends", family.ends),
        )  # fmt: skip
        for effect, all_ in effects:
            for said in all_:
                told = patterns(family, effect, said)
                for one in [*told, *(active for each in told if (active := _active(each)) is not None)]:
                    if one.verb != "have" or family.name == "owns":
                        found_by.setdefault(one.verb, []).append(one)
        for noun in family.nouns:
            nouns.setdefault(noun, []).append(family)
        for word in family.words:
            words.setdefault(word, []).append(family)
    return Families(
        found,
        {verb: tuple(all_) for verb, all_ in found_by.items()},
        {noun: tuple(all_) for noun, all_ in nouns.items()},
        {word: tuple(all_) for word, all_ in words.items()},
        frozenset(verb.split()[0] for verb in found_by),
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
