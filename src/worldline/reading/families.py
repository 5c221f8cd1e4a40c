"""Relations: the wordings that mean one (`lexicon/families.toml`), sentences that are one, and facts handed over.

A family knows how it reads, what says that it holds, begins or ends, its nouns ("boss", "deadline"),
and how many values it holds. A clause or a noun is matched against all of them; the reader draws
claims from what matches, and a question finds the slot that it asks about in the same way.

>>> [m.family.name for m in families().by_noun("landlord")][:1]
['landlord']

A third-person relation sentence ("The capital of X is Y", "X was founded by Y") is taken apart by general grammar and
without a list of relations; each is read alone, and what a new value replaces is not decided here.

    relation("Ana Lopes is married to Rui Costa.") → Ana Lopes | marri|to | Rui Costa

An agent's own model understands more than any rule, and names relations in its own way: "lives in",
"works_at", "employer", "wife". What is given under any of these names falls into the slot into which
the same thing falls when it is read, so that the two meet. What no family knows stays as it is written.

>>> [family_of(relation).name for relation in ("lives in", "works_at", "employer", "wife", "moved to")]
['lives_in', 'works_at', 'works_at', 'married_to', 'lives_in']
>>> family_of("is seeing").name, family_of("saw")
('partner', None)
>>> third_person("carry"), third_person("have"), past("gone", "go")
('carries', 'has', 'went')
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.errors import InvalidInput
from worldline.lexicon import asking, lines, text
from worldline.model import Fact
from worldline.reading.claim import LIGHT, Claim, Effect, predicate_key, stem
from worldline.text import word_set

# Verbs as they stand after a name --------------------------------------------------------------------


_THIRD = {"have": "has", "be": "is", "do": "does", "go": "goes"}


def third_person(lemma: str) -> str:
    """ "live" → "lives"."""
    if lemma in _THIRD:
        return _THIRD[lemma]
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ies"
    return f"{lemma}es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{lemma}s"


def bare(third: str) -> str:
    """ "lives" → "live"."""
    for lemma, said in _THIRD.items():
        if said == third:
            return lemma
    if third.endswith("ies"):
        return f"{third[:-3]}y"
    return third[:-2] if third.endswith(("ches", "shes", "xes", "sses", "zzes")) else third.removesuffix("s")


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


# Families --------------------------------------------------------------------------------------------


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
    bond: Literal["", "kin", "life"] = ""
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
    weak: bool = False
    """Whether the words alone may mean anything ("start O?"), so that O must be of the family's kind."""


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
    the last one counts ("move from X to O"). With "?" at the end the words mean it of what is of its kind only.
    """
    clause, _, value = said.removesuffix("?").partition(" = ")
    subject, *rest = clause.split()
    if subject not in _ROLES or not rest or rest[0] in _ROLES:
        raise ValueError(f"{family.name}: a pattern begins with S, O or X and a verb, not {said!r}")
    made = Pattern(family, effect, "", subject, value=value, weak=said.endswith("?"))
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
    short = verb[1:] if verb[0] == "be" else verb
    if len(short) == 2 and made.behind and not made.direct and short[1] in _PARTICLES:
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


PARTICLES = frozenset("up out over off in on down away".split())
_PARTICLES = PARTICLES | {"back"}
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
                    if one.verb != "have" or family.name == "owns" or one.head:
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


@lru_cache(maxsize=512)
def members(names: tuple[str, ...]) -> frozenset[str]:
    """The stems of what goes by these names, they among it: "instrument" → piano, cello, …"""
    own = {word for name in names for word in name.split()}
    told = (line.partition(": ") for name in own for line in asking().get(name, ()))
    found = {word for asked, _, all_ in told if own.issuperset(asked.split()) for word in all_.split()}
    return frozenset(map(stem, found.union(names)))


@cache
def families() -> Families:
    """The families that come with the product."""
    return build(tomllib.loads(text("families.toml")))


# Sentences that are one relation ---------------------------------------------------------------------


COPULA = word_set("is are was were")
AUXILIARY = COPULA | word_set(
    "am be been being has have had does do did will would can could may might shall should must"
)
NOT_FINITE = frozenset({"be", "been", "being"})
LINKING = word_set(
    "of in at on by for with to from as into about under over after before between against "
    "within near during through toward towards onto inside outside"
)
DETERMINERS = word_set("the a an his her their its my our your this that these those")
ADVERBS = word_set(
    "not also now currently originally still once always first best formerly officially "
    "primarily mainly widely mostly best-known well"
)
PERSONAL = word_set("i we you he she it they me us him them my our your")
IRREGULAR = word_set(
    "wrote sang made built began led won ran held taught drew sold bought met found gave took "
    "grew wed knew spoke chose became left lost sent wore beat shot born known written sung "
    "made built led held taught drawn sold bought given taken grown spoken chosen lost sent "
    "worn won run set put cut"
)
LINKS = word_set("of that where which who whose in for by")
_TOKEN = re.compile(r"\S+")
_CATEGORY = re.compile(r"^an?\s", re.I)


class Split(msgspec.Struct, frozen=True):
    """One reading of a sentence; `weight` grows with the literal words that it explains."""

    subject: str
    predicate: str
    key: str
    object: str
    types: tuple[str, ...]
    weight: float
    definite: bool = True
    active: bool = False


def relation(sentence: str) -> Claim | None:
    """The relation that a sentence states, if it is a plain statement about something named."""
    text = sentence.strip()
    body = text[:-1] if text.endswith((".", "!")) else text
    tokens = _TOKEN.findall(body)
    if len(tokens) < 3 or len(tokens) > 40 or text.endswith("?"):
        return None
    split = _possessive(tokens) or _role(tokens) or _clause(tokens)
    if split is None or not _sound(split.subject) or not _sound(split.object):
        return None
    return Claim(
        split.subject,
        split.predicate,
        split.key,
        split.object,
        kind="entity",
        types=split.types,
        definite=split.definite,
        record=_is_record(split),
        active=split.active,
        confidence=0.8 if split.weight >= 2 else 0.65,
        chars=(0, len(sentence)),
    )


def _sound(name: str) -> bool:
    words = name.lower().split()
    return bool(words) and any(w not in LIGHT and w not in PERSONAL for w in words) and len(words) <= 16


def _is_record(split: Split) -> bool:
    """No side is the speaker's or somebody's own: "my sister", "she", "his car"."""
    return not (_personal(split.subject) or _personal(split.object) or _CATEGORY.match(split.object))


def _personal(name: str) -> bool:
    words = name.split()
    return words[0].lower() in PERSONAL and all(map(_lower, words[1:]))


def _lower(token: str) -> bool:
    return token[0].islower()


def _verbal(token: str) -> bool:
    """Whether a lower-case word can be a finite verb or a participle."""
    if not token.isalpha() or not _lower(token):
        return False
    if token in IRREGULAR:
        return True
    return len(token) > 3 and token.endswith(("ed", "es", "s")) and not token.endswith(("ss", "us", "ics"))


def _join(tokens: list[str]) -> str:
    name = " ".join(tokens).strip(" ,;:")
    if name[:4].lower() == "the " and len(name) > 4 and name[4:5].islower():
        name = name[4:]
    return name.strip('"“”') if name.count('"') in (0, 2) else name


def _last_copula(tokens: list[str], start: int) -> int:
    found = [i for i in range(start, len(tokens) - 1) if tokens[i] in COPULA]
    return found[-1] if found else -1


def _typed(tokens: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """ "the city of Porto" → Porto, a city."""
    if len(tokens) > 3 and tokens[0] == "the":
        for i in range(2, min(5, len(tokens) - 1)):
            if tokens[i] == "of" and all(map(_lower, tokens[1:i])):
                return tokens[i + 1 :], (_named_kind(tokens[1:i]),)
    return tokens, ()


def _named_kind(nouns: list[str]) -> str:
    """The noun that names the kind: "type of music" → music, "head coach" → coach."""
    if "of" in nouns and nouns[0] in ("type", "kind", "sort", "name"):
        nouns = nouns[nouns.index("of") + 1 :]
    if "of" in nouns:
        nouns = nouns[: nouns.index("of")] or nouns
    return nouns[-1].lower() if nouns else ""


def _object(tokens: list[str]) -> tuple[list[str], tuple[str, ...], list[str]]:
    """What follows a copula: past "located in the city of", down to the value itself."""
    for i in range(1, min(4, len(tokens) - 1)):
        linked = tokens[i] in LINKING and tokens[i] != "of" and _verbal(tokens[i - 1])
        if linked and all(map(_lower, tokens[:i])):
            value, types = _typed(tokens[i + 1 :])
            return value, types, tokens[: i + 1]
    value, types = _typed(tokens)
    return value, types, []


def _possessive(tokens: list[str]) -> Split | None:
    """S's N is O."""
    copula = _last_copula(tokens, 2)
    if copula < 2:
        return None
    for i in range(copula - 2, -1, -1):
        owner = re.sub(r"(?:(?<=s)[’']|[’']s)$", "", tokens[i])
        if owner == tokens[i] or not all(map(_lower, tokens[i + 1 : copula])):
            continue
        nouns = tokens[i + 1 : copula]
        if any(w in AUXILIARY or w in DETERMINERS for w in nouns):
            continue
        value, types, _ = _object(tokens[copula + 1 :])
        key = predicate_key(nouns, "of")
        subject = _join([*tokens[:i], owner])
        return Split(
            subject, f"'s {' '.join(nouns)} is", key, _join(value), types or (_named_kind(nouns),), 2
        )
    return None


def _role(tokens: list[str]) -> Split | None:
    """The N of S is O; the N that V S is O; the N where S V is O; the Title of S is O."""
    if tokens[0] not in ("The", "the"):
        return None
    copula = _last_copula(tokens, 3)
    if copula < 0:
        return None
    begin = next((i for i in range(1, copula) if not _lower(tokens[i])), 0)
    if begin == 1:
        return _title(tokens, copula)
    if not begin:
        begin = max((i + 1 for i in range(2, copula - 1) if tokens[i] in LINKS), default=0)
        if not begin:
            return None
    pre = tokens[1:begin]
    while pre and pre[-1] in DETERMINERS and pre[-1] != "that":
        pre = pre[:-1]
    link = next((i for i, w in enumerate(pre) if w in LINKS and i > 0), -1)
    if link < 0:
        return None
    subject, tail = _tail(tokens[begin:copula], pre, tokens[begin - 1])
    value, types, _ = _object(tokens[copula + 1 :])
    return _role_split(pre, subject, tail, value, types)


def _title(tokens: list[str], copula: int) -> Split | None:
    if tokens[copula + 1] in DETERMINERS or (_lower(tokens[copula + 1]) and _object(tokens[copula + 1 :])[2]):
        return None
    link = next((i for i in range(2, copula - 1) if tokens[i] == "of"), 0)
    if not link:
        return None
    subject = tokens[link + 1 : copula]
    subject = subject[1:] if subject[0] == "the" and len(subject) > 1 else subject
    nouns = tokens[1:link]
    value, types = _typed(tokens[copula + 1 :])
    return Split(
        _join(subject), f"'s {' '.join(nouns)} is", predicate_key(nouns, "of"), _join(value), types, 2
    )


def _tail(span: list[str], pre: list[str], before: str) -> tuple[list[str], list[str]]:
    """Words after the subject that belong to the predicate: "(where) Ana was educated"."""
    relative = any(w in ("that", "where", "which", "who", "whom") for w in pre)
    end = len(span)
    while end > 1 and _lower(span[end - 1]):
        end -= 1
    if relative and end < len(span):
        return span[:end], span[end:]
    if before == "the" and end == len(span) - 1 and end:
        return span[:end], span[end:]
    return span, []


def _role_split(
    pre: list[str], subject: list[str], tail: list[str], value: list[str], types: tuple[str, ...]
) -> Split | None:
    relative = next((i for i, w in enumerate(pre) if w in ("that", "where", "which", "who")), -1)
    predicate = " ".join(["the", *pre, "{S}", *tail, "is {O}"])
    if relative > 0:
        kind = (_named_kind(pre[:relative]),)
        verbs = [w for w in pre[relative + 1 :] if w not in LINKING]
        if verbs and not tail:  # the company that produced S
            key = predicate_key(verbs, "by")
        elif pre[relative] == "where":
            key = predicate_key(tail, "in")
        else:
            preposition = tail[-1] if tail and tail[-1] in LINKING else ""
            key = predicate_key([w for w in tail if w not in LINKING], preposition)
        return Split(_join(subject), predicate, key, _join(value), types or kind, 3)
    nouns = [w for w in pre if w not in LINKING] + tail
    types = types or (_named_kind(pre),)
    if pre[-1] == "of" and not tail:
        predicate = f"'s {' '.join(pre[:-1])} is"
    return Split(_join(subject), predicate, predicate_key(nouns, "of"), _join(value), types, 3)


def _clause(tokens: list[str]) -> Split | None:
    """S V [PREP] [the N of] O: the reading that explains the most words, leftmost first."""
    best: Split | None = None
    for i in range(1, len(tokens) - 1):
        if (tokens[i] in AUXILIARY and tokens[i] not in NOT_FINITE) or (
            _verbal(tokens[i]) and _may_be_main(tokens, i)
        ):
            found = _reading(tokens, i)
            if found is not None and (best is None or found.weight > best.weight):
                best = found
    return best


def _may_be_main(tokens: list[str], i: int) -> bool:
    before = tokens[i - 1]
    if i > 1 and _verbal(before) and not _lower(tokens[i - 2]):
        return False  # "Bo keeps bees in Oslo": the verb stands right behind the name
    return before not in LINKING and before not in DETERMINERS and before not in AUXILIARY


def _reading(tokens: list[str], i: int) -> Split | None:
    j = i
    while j < len(tokens) and (tokens[j] in AUXILIARY or tokens[j] in ADVERBS):
        j += 1
    rest = tokens[j:]
    if not rest:
        return None
    inner = sum(1 for w in tokens[1:i] if w in AUXILIARY or (_verbal(w) and w not in LINKING))
    cost = 0.6 * inner
    subject = _join(tokens[:i])
    if j > i and rest[0] == "the":
        inverted = _identity(tokens, i, j)
        if inverted is not None:
            return inverted
    if j > i and rest[0] in ("a", "an"):
        return _membership(subject, tokens, i, j, cost)
    return _verb_phrase(subject, tokens, i, j, cost)


def _identity(tokens: list[str], i: int, j: int) -> Split | None:
    """O is the N of S: the same as "the N of S is O"."""
    rest = tokens[j:]
    link = next((k for k in range(2, min(6, len(rest) - 1)) if rest[k] == "of"), 0)
    if not link or tokens[i] not in COPULA:
        return None
    nouns = rest[1:link]
    owner = rest[link + 1 :]
    owner = owner[1:] if owner[0] == "the" and len(owner) > 1 else owner
    return Split(
        _join(owner),
        f"'s {' '.join(nouns)} is",
        predicate_key(nouns, "of"),
        _join(tokens[:i]),
        (_named_kind(nouns),),
        link + 1.5,
    )


def _membership(subject: str, tokens: list[str], i: int, j: int, cost: float) -> Split | None:
    """S is a N of O; S is a N."""
    rest = tokens[j:]
    link = next((k for k in range(2, min(6, len(rest) - 1)) if rest[k] in LINKING), 0)
    if link and all(map(_lower, rest[1:link])):
        value, types = _typed(rest[link + 1 :])
        nouns = rest[1:link]
        key = predicate_key(nouns, rest[link])
        predicate = " ".join(tokens[i : len(tokens) - len(value)])
        return Split(subject, predicate, key, _join(value), types, link + 2 - cost, bool(types))
    return Split(subject, " ".join(tokens[i : j + 1]), "|a", _join(rest[1:]), (), 1 - cost, False)


def _verb_phrase(subject: str, tokens: list[str], i: int, j: int, cost: float) -> Split | None:
    auxiliary = j > i
    k = j
    content: list[str] = []
    if not auxiliary:
        content, k = [tokens[i]], i + 1
    else:
        limit = k + 3
        while k < len(tokens) - 1 and k < limit and _lower(tokens[k]) and tokens[k] not in LINKING:
            if tokens[k] in DETERMINERS:
                break
            content.append(tokens[k])
            k += 1
    preposition = ""
    if k < len(tokens) - 1 and tokens[k] in LINKING:
        preposition, k = tokens[k], k + 1
    elif auxiliary and content:
        # No preposition: "is located Porto" is no reading; the words are the value itself.
        k, content = j, []
    value, types = _typed(tokens[k:])
    if not value or (auxiliary and not content and not preposition and not types):
        key = "|be"
        return Split(subject, tokens[i], key, _join(value), types, 1 - cost, True)
    predicate = " ".join(tokens[i : len(tokens) - len(value)])
    key = predicate_key(content, preposition)
    active = not auxiliary and not preposition and not types
    weight = (k - i) + (2 if types else 0) - cost
    return Split(subject, predicate, key, _join(value), types, weight, bool(types), active)


# Facts that somebody hands over ----------------------------------------------------------------------


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
                words = said.removesuffix("?").split()
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
            {**fields, "precision": fields.get("precision") or precision_of(fields.get("valid_from"))}, _Fact
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


def precision_of(when: Any) -> str | None:
    """How exact a date in ISO text is."""
    return PRECISIONS[len(when)][0] if isinstance(when, str) and len(when) in PRECISIONS else None


def whole_date(when: Any) -> Any:
    """A year or a month as its first day; everything else as it is."""
    if isinstance(when, str) and re.fullmatch(r"\d{4}(?:-\d\d)?", when.strip()):
        return when.strip() + PRECISIONS[len(when.strip())][1]
    return when
