"""Facts that somebody hands over: a relation as an agent writes it, matched onto the families.

An agent's own model understands more than any rule, and names relations in its own way: "lives in",
"works_at", "employer", "wife". What is given under any of these names falls into the slot into which
the same thing falls when it is read, so that the two meet. What no family knows stays as it is written.

>>> [family_of(relation).name for relation in ("lives in", "works_at", "employer", "wife", "moved to")]
['lives_in', 'works_at', 'works_at', 'married_to', 'lives_in']
>>> family_of("is seeing").name, family_of("saw")
('partner', None)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from worldline.errors import InvalidInput
from worldline.model import Fact
from worldline.reading.claim import stem
from worldline.reading.families import Family, families

HINT = (
    "lives in, born in, works at, works as, reports to, studies at, is married to, has child, has sister, "
    "friend, has pet, speaks, is allergic to, diet, likes, dislikes, owns, uses, member of, plans, "
    "birthday, phone number, email, works on, is due on"
)
"""The families that serve most often, for the description of a parameter."""
SELF = frozenset({"i", "me", "my", "myself", "user", "the user", "speaker", "the speaker"})
"""How an agent names the one whose memory it is."""
PRECISIONS = {4: ("year", "-01-01"), 7: ("month", "-01"), 10: ("day", "")}
"""By the length of an ISO date: how exact it is, and what it lacks."""
_AUXILIARY = frozenset("be is are was were am been being has have had a an the".split())
_BEING = frozenset({"is", "is a", "is an", "be", "am", "are"})
_NAMED = frozenset({"person", "place", "organisation"})
_NAME = re.compile(r"(?:the |an? )?[^\W\d_a-z]")
_LEADING = re.compile(r"^(?:has|have|had|is|are|was|with)(?: (?:an?|the|as))? ")
_OLD_NAMES = {"relation": "predicate", "since": "valid_from", "until": "valid_to"}


def family_of(relation: str, value: str = "") -> Family | None:
    """The family that a relation belongs to: by its name, how it reads, a noun of it, or a wording.

    `value` helps where the relation is a bare "is": Ana is vegetarian.
    """
    found = _matched(_spoken(relation))
    if found is None and _spoken(relation) in _BEING:
        words = families().by_word(value)
        return words[0] if words else None
    return found


def is_turned(relation: str) -> bool:
    """Whether a relation speaks of its object: "mother of", where the family is "has mother"."""
    said = _spoken(relation)
    return said.endswith(" of") and said not in _texts() and _noun(said.removesuffix(" of")) is not None


def _matched(said: str) -> Family | None:
    for spelled in dict.fromkeys((said, said.replace("-", " "))):
        named = families().all.get(spelled.replace(" ", "_")) or _texts().get(spelled) or _noun(spelled)
        named = named or _noun(spelled.removesuffix(" of"))
        if named is not None:
            return named
    return next((_wordings()[key] for key in (_going_on(said), _stems(said)) if key in _wordings()), None)


def _spoken(relation: str) -> str:
    """ "worksAt", "works_at" and "Works at" as words."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", relation)
    return " ".join(re.sub(r"[_\s]+", " ", apart).lower().split())


def _noun(said: str) -> Family | None:
    """ "wife", "has wife", "sister is", "wife's name": the family that a noun names."""
    nouns = families().nouns
    bare = re.sub(r" (?:is|name|are)$", "", _LEADING.sub("", said))
    return next((nouns[words][0] for words in (said, bare) if words in nouns), None)


@cache
def _texts() -> dict[str, Family]:
    """Families by how they read, with or without what opens the phrase."""
    found: dict[str, Family] = {}
    for family in families().all.values():
        found.setdefault(family.reads.lower(), family)
    for family in families().all.values():
        found.setdefault(_LEADING.sub("", family.reads.lower()), family)
    return found


def _stems(said: str) -> tuple[str, ...]:
    """The stems of the words of a wording that carry meaning."""
    return tuple(stem(word) for word in said.split() if word not in _AUXILIARY)


def _going_on(said: str) -> tuple[str, ...]:
    """The same of what goes on, which may mean another thing: who is seeing somebody does more than see them."""
    words = said.split()
    return tuple(word if word.endswith("ing") else stem(word) for word in words if word not in _AUXILIARY)


@cache
def _wordings() -> dict[tuple[str, ...], Family]:
    """Families by what says that they hold or begin; how it reads first, then the first in the file."""
    found: dict[tuple[str, ...], Family] = {}
    for said, family in _said():
        if stems := _going_on(said) if said.startswith("be ") else _stems(said):
            found.setdefault(stems, family)
    return found


def _said() -> Iterator[tuple[str, Family]]:
    """Wordings between a subject and an object; "knows" says too little to mean a language."""
    table = families().all.values()
    yield from ((family.reads.lower(), family) for family in table)
    for which in ("states", "begins"):
        for family in table:
            for said in getattr(family, which) if family.object != "language" else ():
                words = said.split()
                if words[0] == "S" and words[-1] == "O" and not {"X", "S", "O"} & set(words[1:-1]):
                    yield " ".join(words[1:-1]), family


# What an agent hands over ------------------------------------------------------------------------------


def facts_of(given: Any) -> list[Fact]:
    """Facts as they come with words: a list of them, or None."""
    if not isinstance(given, list | tuple | None):
        raise InvalidInput(f"facts are a list, not {type(given).__name__}")
    return [fact_of(fact) for fact in given or ()]


def fact_of(given: Fact | Mapping[str, Any]) -> Fact:
    """A fact from what an agent writes: subject, relation, object, and perhaps since, until, ended.

    An object that looks like a name is one; anything else is a value.
    """
    if isinstance(given, Fact):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput(f"a fact has a subject, a relation and an object; this is {given!r}")
    fields = {
        _OLD_NAMES.get(str(name), str(name)): value for name, value in given.items() if value is not None
    }
    for name in ("subject", "predicate"):
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise InvalidInput(f"a fact needs a {'relation' if name == 'predicate' else name}, as text")
    if "relation" in given:
        fields = {**_valued(fields), "related": True}
    try:
        return msgspec.convert(
            {**fields, "precision": fields.get("precision") or _precision(fields)}, _Fact
        ).fact()
    except msgspec.ValidationError as error:
        raise InvalidInput(f"this fact cannot be read: {error}") from None


class _Fact(Fact, frozen=True, forbid_unknown_fields=True):
    """A fact as it is parsed; a name that nobody knows is told."""

    def fact(self) -> Fact:
        return Fact(**{name: getattr(self, name) for name in Fact.__struct_fields__})


def _valued(fields: dict[str, Any]) -> dict[str, Any]:
    """The object as a name or as a value."""
    value = fields.pop("object", None)
    if value is None or (isinstance(value, str) and not value.strip()):
        if fields.get("ended") or "literal" in fields:
            return fields
        raise InvalidInput("a fact needs an object (only one that is `ended` may do without)")
    said = value.strip() if isinstance(value, str) else str(value)
    family = family_of(fields["predicate"], said)
    named = bool(_NAME.match(said)) or (family is not None and family.object in _NAMED)
    if said.isascii() and family is not None and family.object == "date":
        named = False
    return {**fields, **({"object": said} if named else {"literal": said})}


def _precision(fields: Mapping[str, Any]) -> str | None:
    """How exact a date in ISO text is."""
    since = fields.get("valid_from")
    return PRECISIONS[len(since)][0] if isinstance(since, str) and len(since) in PRECISIONS else None


def whole_date(when: Any) -> Any:
    """A year or a month as its first day; everything else as it is."""
    if isinstance(when, str) and re.fullmatch(r"\d{4}(?:-\d\d)?", when.strip()):
        return when.strip() + PRECISIONS[len(when.strip())][1]
    return when
