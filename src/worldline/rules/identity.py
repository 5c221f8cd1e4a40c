"""Are two names the same person, organisation or thing?  What names are made of, tiers, scores, and keys.

Nicknames, titles, legal forms and short forms are read first; the long lists are files in `lexicon/`. Decides how sure
a match is and by which tier: exact (folded name or alias), fuzzy (Jaro–Winkler over aligned words, nicknames,
initials, legal forms), embedding (when the caller can compare meanings), phonetic.  It merges nothing: beyond exact,
the caller stages a proposal.

    same_given("bob", "robert", beside=False) == True
    resolve("Bob Smith", [Candidate("e1", ("Robert Smith",))]) == Resolved("e1", "fuzzy", 0.96)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec
from rapidfuzz.distance import DamerauLevenshtein, JaroWinkler

from worldline import lexicon
from worldline.text import fold, word_set


def _listed(kind: str) -> list[list[str]]:
    """The rows of one kind in the list of words that names are made of."""
    rows = [line.split() for line in lexicon.lines("name_words.txt")]
    return [words for label, *words in rows if label == kind]


def _words(kind: str) -> frozenset[str]:
    return frozenset(word for row in _listed(kind) for word in row)


MALE, FEMALE = _words("male"), _words("female")
TITLES = MALE | FEMALE | _words("title")
LINEAGE = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr"}
DEGREES, PARTICLES, GENERIC = _words("degree"), _words("particle"), _words("generic")
LEGAL, LEADING_LEGAL = _words("legal"), _words("leading_legal")
ORGANISATION_WORDS = _words("organisation")
SHORT_FORMS = {word: row[-1] for row in _listed("short") for word in row[:-1]}
ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6"}
GIVEN = lexicon.words("given_names.txt")


class _Nicknames(NamedTuple):
    spelt: dict[str, set[str]]
    """A full form → the spellings that mean the same anywhere."""
    beside: dict[str, set[str]]
    """A full form → those that mean the same only beside the same family name."""
    full: dict[str, set[str]]
    """A short form → its full forms."""


@cache
def _nicknames() -> _Nicknames:
    found = _Nicknames({}, {}, {})
    for line in lexicon.lines("nicknames.txt"):
        weak = line.startswith("~")
        first, *short = line.lstrip("~ ").split()
        for form in first.split("|"):
            spellings = set(form.split("/"))
            for word in spellings:
                (found.beside if weak else found.spelt).setdefault(word, set()).update(spellings)
        for word in short:
            found.full.setdefault(word, set()).update(re.split(r"[|/]", first))
    return found


@cache
def known_given() -> frozenset[str]:
    """Given names, nicknames and their full forms."""
    known = _nicknames()
    listed = lexicon.words("given_names_more.txt")
    return GIVEN | listed | known.spelt.keys() | known.beside.keys() | known.full.keys()


def same_given(a: str, b: str, *, beside: bool) -> bool:
    """A name and its nickname, or two spellings of one name; `beside` the same family name more count."""
    known = _nicknames()
    full_a, full_b = known.full.get(a, set()), known.full.get(b, set())
    if a in full_b or b in full_a or b in known.spelt.get(a, ()):
        return True
    if a[:3] == b[:3] and full_a & full_b:
        return True
    return beside and b in known.beside.get(a, ())


def is_nickname(a: str, b: str) -> bool:
    """One is a short form of the other."""
    full = _nicknames().full
    return a in full.get(b, ()) or b in full.get(a, ())


def given_forms(name: str) -> frozenset[str]:
    """A given name and the first of the spellings of each full form that it may stand for."""
    known = _nicknames()
    fulls = known.full.get(name, set()) | {name}
    groups = (known.spelt.get(full, set()) | known.beside.get(full, set()) | {full} for full in fulls)
    return frozenset(min(group) for group in groups) | {name}


# Letters of other alphabets ---------------------------------------------------------------------------


@cache
def letters(spelt: bool) -> dict[int, str]:
    """A table for str.translate: letters as they are written plainly, or spelt out (ö: o, oe)."""
    rows = [line.split() for line in lexicon.lines("name_letters.txt")]
    table = {row[0]: row[-1 if spelt else 1].strip("-") for row in rows}
    return str.maketrans(
        table | {letter.upper(): to.capitalize() for letter, to in table.items() if len(letter.upper()) == 1}
    )


@cache
def east_asian() -> dict[int, str]:
    """A table for str.translate: one form of each Han character, katakana for hiragana."""
    groups = " ".join(lexicon.lines("han_variants.txt")).split()
    han = {ord(char): group[0] for group in reversed(groups) for char in group[1:]}
    return han | {code: chr(code + 0x60) for code in range(0x3041, 0x3097)}


@cache
def east_asian_words(kind: str) -> tuple[str, ...]:
    """Family names, honorifics or words for things, in the form that is compared; longest first."""
    rows = [line.split() for line in lexicon.lines("east_asian_names.txt")]
    found = {word.translate(east_asian()) for row in rows if row[0] == kind for word in row[1:]}
    return tuple(sorted(found, key=len, reverse=True))


# How a word of a name sounds: two codes, one for transliterations and one for the ear -------------
#
# skeleton("tchaikovsky") == skeleton("chaikovskiy")


_SOUNDS = [(spelt, heard) for spelt, heard in map(str.split, lexicon.lines("name_sounds.txt"))]
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


# What a name says ---------------------------------------------------------------------------------
#
# What a name says: its carrying words, numbers, titles, lineage, initials; read once, in linear time.
#
# It compares nothing: `identity.py` does.
#
#     read("Dr. J.R. Müller Jr.").parts == ("j", "r", "muller")


STOPS = word_set("the and of for")
_KINDS = LEGAL | ORGANISATION_WORDS | GENERIC
_TRAILING = LEGAL | DEGREES | LINEAGE.keys() | {"and"}
_OWNER = re.compile(r"(?<!\w)\w+['’]s\b")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?")
_ROMAN = {r: str(n) for n, r in enumerate("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split(), 1)}


class Name(NamedTuple):
    """What is read off a name."""

    parts: tuple[str, ...]
    """The words that carry it: folded, in order, without titles, legal forms and articles."""
    spelt: tuple[str, ...]
    """The same with letters spelt out: mueller for müller."""
    numbers: tuple[str, ...]
    lineage: str
    gender: str
    owners: tuple[str, ...]
    """The "emmas" of "Emma's sister"."""
    initials: tuple[str, ...]
    """What an acronym of it would be."""
    acronym: str
    """Its letters, if it is nothing but a few capitals."""
    titled: bool
    organisation: bool
    couple: bool


@lru_cache(maxsize=50_000)
def read(name: str) -> Name:
    """A name, read."""
    name = unicodedata.normalize("NFKC", name)
    plain = _prepared(name.translate(letters(False)))
    spelt = plain if name.isascii() else _prepared(name.translate(letters(True)))
    parts, lineage, titles = _core(plain)
    return Name(
        parts, parts if spelt == plain else _core(spelt)[0],
        tuple(sorted(number for word in parts for number in _DIGITS.findall(word))), lineage,
        "m" if titles & MALE else "f" if titles & FEMALE else "",
        tuple(fold(match[0]) for match in _OWNER.finditer(name)),
        _initials(plain), _acronym(name), bool(titles),
        not _KINDS.isdisjoint(SHORT_FORMS.get(word, word) for word in plain), "and" in plain,
    )  # fmt: skip


def _prepared(name: str) -> list[str]:
    """Its words in their usual order, folded, with signs as words."""
    tokens = _turned(name).replace("&", " and ").split()
    for at, token in enumerate(tokens[:-1]):
        if "." in token and _DOTTED.fullmatch(token):
            tokens[at] = token.replace(".", " ")
    if len(tokens) > 1:
        tokens[-1] = _ROMAN.get(tokens[-1], tokens[-1])
    return [part for word in fold(" ".join(tokens)).split() for part in _signs(word)]


def _turned(name: str) -> str:
    """ "Smith, John" as "John Smith"."""
    before, comma, after = name.partition(",")
    if not comma:
        return name
    family, given = fold(before).split(), fold(after).split()
    if "," in after or not 0 < len(family) <= 3 or not 0 < len(given) <= 4:
        return name
    if given[0] in LEGAL or given[0] in LINEAGE or given[0] in DEGREES or not STOPS.isdisjoint(family):
        return name
    return f"{after} {before}" if len(family) == 1 or given[0] in known_given() else name


def _signs(word: str) -> list[str]:
    if word[0] == "." and len(word) > 1:
        return ["dot" + word[1:]]
    bare = word.rstrip("+#")
    if bare == word or not bare:
        return [word]
    return [bare, *("sharp" if sign == "#" else "plus" for sign in word[len(bare) :])]


def _core(words: list[str]) -> tuple[tuple[str, ...], str, frozenset[str]]:
    """The carrying words, the lineage, and the titles that stood before."""
    begin, end, lineage = 0, len(words), ""
    while end - begin > 1 and words[begin] in TITLES and words[begin + 1] not in STOPS:
        begin += 1
    titles = frozenset(words[:begin])
    while end - begin > 1 and words[end - 1] in _TRAILING:
        lineage = LINEAGE.get(words[end - 1], lineage)
        end -= 1
    if end - begin > 2 and words[end - 1].isdigit() and words[begin] in known_given():
        lineage = words[end - 1]
        end -= 1
    if end - begin > 1 and words[begin] in LEADING_LEGAL:
        begin += 1
    core = [word for word in words[begin:end] if word not in STOPS] or words[begin:end]
    if len(core) > 1:
        core = [ORDINALS.get(word) or SHORT_FORMS.get(word, word) for word in core]
    core = [match[1] if (match := _ORDINAL.fullmatch(word)) else word for word in core]
    return tuple(core if "".join(core).isascii() else _eastern(core)), lineage, titles


def _eastern(words: list[str]) -> list[str]:
    """One form of each character, kana alike, no honorific behind the name."""
    words = [word.translate(east_asian()) for word in words]
    for honorific in east_asian_words("honorific"):
        if words[-1] == honorific and len(words) > 1:
            return words[:-1]
        if words[-1].endswith(honorific) and len(words[-1]) - len(honorific) >= 2:
            return [*words[:-1], words[-1].removesuffix(honorific)]
    return [word.rstrip("ー") if len(word) > 3 else word for word in words]


def _initials(words: list[str]) -> tuple[str, ...]:
    told = [word for word in words if word not in STOPS]
    found = {"".join(word[0] for word in some) for some in (words, told, [w for w in told if w not in LEGAL])}
    person = len(told) == 2 and told[0] in known_given()
    return tuple(sorted(some for some in found if 2 <= len(some) <= 6 and not person))


def _acronym(name: str) -> str:
    """The letters of a name that is nothing but a few capitals (IBM, F.B.I., P&G, DoD); else nothing."""
    tokens = name.replace(".", "").replace("&", "").split()[:8]
    found = "".join(token for token in tokens if fold(token) not in LEGAL)
    if not 2 <= len(found) <= 6 or not found.isascii() or not found.isalpha():
        return ""
    mixed = 3 <= len(found) <= 5 and found[0].isupper() and found[-1].isupper()
    return found.lower() if found.isupper() or mixed else ""


PROPOSE = 0.85
CLOSE = 0.03  # two candidates nearer than this are not told apart
TIERS = ("exact", "fuzzy", "embedding", "phonetic")
NOT = ("fuzzy", 0.0)
LONGEST_WORD = 64
"""Longer words must be equal."""


class NearEntity(msgspec.Struct, frozen=True):
    """An entity that blocking found: its id and every name it is known by."""

    id: str
    names: tuple[str, ...]


class Match(msgspec.Struct, frozen=True):
    """How one candidate compares: the deciding tier and a score from 0 to 1."""

    id: str
    tier: str
    score: float


class Resolved(Match, frozen=True):
    """One entity; silent only when the tier is exact."""


class Unclear(msgspec.Struct, frozen=True):
    """Several entities fit about equally well, best first."""

    matches: tuple[Match, ...]


class NewEntity(msgspec.Struct, frozen=True):
    """No known entity; the nearest one is kept for the explanation."""

    nearest: Match | None = None


Resolution = Resolved | Unclear | NewEntity
Similarity = Callable[[str, str], float]
Tiebreak = Callable[[str, tuple[Match, ...]], str | None]


def resolve(
    name: str,
    pool: Iterable[NearEntity],
    *,
    similarity: Similarity | None = None,
    tiebreak: Tiebreak | None = None,
) -> Resolution:
    """Which of the pool a name means, if any."""
    matches = sorted(
        (match_candidate(name, c, similarity) for c in pool),
        key=lambda m: (TIERS.index(m.tier) if m.tier == "exact" else 1, -m.score, m.id),
    )
    good = tuple(m for m in matches if m.score >= PROPOSE)
    if not good:
        return NewEntity(matches[0] if matches else None)
    exact = tuple(m for m in good if m.tier == "exact")
    rivals = exact or tuple(m for m in good if good[0].score - m.score < CLOSE)
    if len(rivals) == 1:
        return Resolved(rivals[0].id, rivals[0].tier, rivals[0].score)
    chosen = tiebreak(name, rivals) if tiebreak else None
    for match in rivals:
        if match.id == chosen:
            return Resolved(match.id, match.tier, match.score)
    return Unclear(rivals)


def match_candidate(name: str, candidate: NearEntity, similarity: Similarity | None) -> Match:
    """The best tier and score over all of a candidate's names."""
    best = Match(candidate.id, "phonetic", 0.0)
    for known in candidate.names:
        tier, score = compare(name, known)
        if score < PROPOSE and similarity is not None and _may_mean_the_same(name, known):
            meaning = similarity(name, known)
            if meaning > max(score, 0.92):
                tier, score = "embedding", min(meaning, 0.95)
        if (score, -TIERS.index(tier)) > (best.score, -TIERS.index(best.tier)):
            best = Match(candidate.id, tier, round(score, 4))
    return best


@lru_cache(maxsize=20_000)
def compare(left: str, right: str) -> tuple[str, float]:
    """Tier and score of two names, symmetric."""
    if _folded(left) == _folded(right):
        return "exact", 1.0
    a, b = sorted((read(left), read(right)), key=lambda name: (len(name.parts), name))
    if not a.parts:
        return NOT
    if a.acronym in b.initials or b.acronym in a.initials:
        return "fuzzy", 0.9
    if opposed(a, b):
        return NOT
    if a.parts == a.spelt and b.parts == b.spelt:  # nothing in them is spelt in two ways
        return _compare(a, b, a.parts, b.parts)
    return max(
        (_compare(a, b, x, y) for x in sorted({a.parts, a.spelt}) for y in sorted({b.parts, b.spelt})),
        key=lambda found: (found[1], -TIERS.index(found[0])),
    )


def opposed(a: Name, b: Name) -> bool:
    """Whether something says that two names are not one: numbers, Jr. and Sr., Mr and Mrs, an owner."""
    return (
        a.numbers != b.numbers
        or bool(a.lineage and b.lineage and a.lineage != b.lineage)
        or bool(a.gender and b.gender and a.gender != b.gender)
        or not {*a.owners} <= {*b.owners, *b.parts}
        or not {*b.owners} <= {*a.owners, *a.parts}
    )


def _may_mean_the_same(left: str, right: str) -> bool:
    """Meaning is asked only of names without a word in common, and not of two given names or short words."""
    a, b = read(left), read(right)
    if opposed(a, b) or not {*a.parts}.isdisjoint(b.parts):
        return False
    if a.parts and b.parts and a.parts[0] in known_given() and b.parts[0] in known_given():
        return False
    return len(a.parts) > 1 or len(b.parts) > 1 or min(len(left), len(right)) > 5


def _compare(a: Name, b: Name, x: tuple[str, ...], y: tuple[str, ...]) -> tuple[str, float]:
    """Words of the shorter name, and words of the longer one."""
    if "".join(x) == "".join(y):
        return "fuzzy", 0.97
    if not ("".join(x).isascii() and "".join(y).isascii()):
        return _east_asian("".join(x), "".join(y))
    organisation = a.organisation or b.organisation
    if len(x) == len(y):
        return max(
            _words_score(x, y, organisation), _reordered(x, y, organisation), key=lambda found: found[1]
        )
    for dull, worth in ((GENERIC, 0.9), (PARTICLES, 0.96)):
        rest = tuple(word for word in y if word in x or word not in dull) if len(y) < 40 else y
        if len(rest) == len(x):
            tier, score = _words_score(x, rest, organisation)
            return tier, score * worth
    if organisation or a.couple or b.couple:
        return NOT
    if len(x) == 1:
        return _one_of(x[0], y, titled=(a.titled, b.titled))
    if len(y) - len(x) > 2:
        return NOT
    tier, score = _words_score(x, (*y[: len(x) - 1], y[-1]), organisation)
    return tier, score * 0.96


def _one_of(word: str, full: tuple[str, ...], *, titled: tuple[bool, bool]) -> tuple[str, float]:
    """A given name or a family name alone, and a full name that has it."""
    known, first = known_given(), full[0]
    if len(full) > 4 or not lexicon.words("thing_words.txt").isdisjoint(full):
        return NOT
    if word in known and first in known and not titled[0] and len(full[-1]) > 1:
        if word == first:
            return "fuzzy", 0.88
        return ("fuzzy", 0.87) if is_nickname(word, first) else NOT
    person = any(titled) or (word not in known and (first in known or len(first) == 1))
    return ("fuzzy", 0.87) if person and word == full[-1] and len(word) > 2 else NOT


def _reordered(x: tuple[str, ...], y: tuple[str, ...], organisation: bool) -> tuple[str, float]:
    """ "Smith John", "Porto University": the same words, turned round."""
    if len(x) < 2 or sorted(x) != sorted(y) or known_given().issuperset(x):
        return NOT
    turned = y in (x[1:] + x[:1], x[-1:] + x[:-1])
    return ("fuzzy", 0.93) if turned or organisation else NOT


def _east_asian(x: str, y: str) -> tuple[str, float]:
    """A family name or a given name alone, and a full name written without a space."""
    short, full = sorted((x, y), key=len)
    families, things = east_asian_words("family"), east_asian_words("thing")
    if not 2 <= len(short) < len(full) <= 6 or short in things:
        return NOT
    rest = full[len(short) :]
    thing = rest in things or any(rest.endswith(word) for word in things if len(word) > 1)
    if full.startswith(short) and short in families and len(rest) <= 3 and not thing:
        return "fuzzy", 0.87
    return ("fuzzy", 0.87) if full.endswith(short) and full.removesuffix(short) in families else NOT


@lru_cache(maxsize=50_000)
def _folded(name: str) -> str:
    return fold(name)


def _words_score(x: tuple[str, ...], y: tuple[str, ...], organisation: bool) -> tuple[str, float]:
    """Every word of one name must answer the word of the other in its place."""
    tier, total, soft, initials, last = "fuzzy", 1.0, 0, 1.0, len(x) - 1
    for at, (left, right) in enumerate(zip(x, y, strict=True)):
        given = not organisation and at < last
        how, score = word_match(left, right, given=given, alone=not last)
        if score == 0.0 and at == last == 1 and {x[0], y[0]} <= known_given():
            how, score = _initial(left, right)  # "Rosa L."
        if score == 0.0:
            return NOT
        tier = "phonetic" if how == "phonetic" else tier
        soft += how not in ("same", "nickname")
        if how == "initial":
            initials = score
        else:
            total *= score
    total *= initials
    if soft == len(x) > 1 and x[0][:1] != y[0][:1]:
        total *= 0.9
    return tier, total * (0.93 if soft > (len(x) + 1) // 2 else 1.0)


def _initial(a: str, b: str) -> tuple[str, float]:
    """One letter for a word."""
    if min(len(a), len(b)) > 1:
        return "none", 0.0
    short, full = sorted((a, b), key=len)
    return ("initial", 0.93) if short in {form[0] for form in given_forms(full)} else ("none", 0.0)


@lru_cache(maxsize=100_000)
def word_match(a: str, b: str, *, given: bool, alone: bool) -> tuple[str, float]:
    """How one word of a name answers another: same, nickname, initial, typo, phonetic, or not."""
    if a == b:
        return "same", 1.0
    if (
        not (a.isascii() and a.isalpha() and b.isascii() and b.isalpha())
        or max(len(a), len(b)) > LONGEST_WORD
    ):
        return "none", 0.0
    if (given or alone) and same_given(a, b, beside=given):
        return "nickname", 0.9 if alone else 0.96
    if given and min(len(a), len(b)) == 1:
        return _initial(a, b)
    known = (a in known_given()) + (b in known_given())
    if (given and known == 2) or (alone and known):
        return "none", 0.0
    return _spelling(a, b, given, alone)


def _spelling(a: str, b: str, given: bool, alone: bool) -> tuple[str, float]:
    """Slips and sounds; a short word, and a word alone, must be spelt exactly so."""
    shortest = min(len(a), len(b))
    edits = DamerauLevenshtein.distance(a, b, score_cutoff=3)
    ending = a[:-1] == b[:-1] or a == b[:-1] or b == a[:-1]
    if edits == 1 and ending and (given or alone or shortest < 6) and {a[-1], b[-1]} & set("aoei"):
        return "none", 0.0  # Paul and Paula, Ivanov and Ivanova are two people
    if shortest < 6:
        return ("none", 0.0) if alone or edits != 1 or a[0] != b[0] else _short_spelling(a, b, given)
    if edits == 1 and (not alone or (shortest >= 7 and a[0] == b[0])):
        return "typo", 0.95
    likeness = JaroWinkler.similarity(a, b)
    if edits == 2 and shortest >= (9 if alone else 7) and likeness >= 0.9:
        return "typo", 0.9
    if shortest >= (7 if alone else 6) and skeleton(a) == skeleton(b) and likeness >= 0.72:
        return "phonetic", 0.92
    if not alone and phonetic(a) == phonetic(b) and likeness >= 0.88:
        return "phonetic", 0.9
    return "none", 0.0


def _short_spelling(a: str, b: str, given: bool) -> tuple[str, float]:
    """A slip in a short word beside words that agree: a letter lost, doubled, or two that changed places."""
    shortest, known = min(len(a), len(b)), a in known_given() or b in known_given()
    if shortest == 5 and len(a) != len(b) and (known or not given):
        return "typo", 0.92
    if given or shortest < 4:
        return "none", 0.0
    if sorted(a) == sorted(b) or _single(a) == _single(b):
        return "typo", 0.92
    return ("phonetic", 0.9) if shortest == 5 and skeleton(a) == skeleton(b) else ("none", 0.0)


def _single(word: str) -> str:
    """A word without doubled letters."""
    return re.sub(r"(.)\1+", r"\1", word)


@lru_cache(maxsize=50_000)
def block_keys(name: str) -> frozenset[str]:
    """Keys under which an alias is indexed; two names that may match share at least one.

    What a key is of stands at its end: so most keys of a name lie side by side, and are written together.
    """
    key, seen = fold(name), read(name)
    keys = {key + "|f"} if key else set()
    if not seen.parts:
        return frozenset(keys)
    keys |= {some + "|a" for some in (*seen.initials, seen.acronym) if some}
    for words in {seen.parts, seen.spelt}:
        keys |= {"".join(words)[:24] + "|j"} | _keys_of([w for w in words if w not in GENERIC] or list(words))
    return frozenset(keys)


@lru_cache(maxsize=50_000)
def asked_keys(name: str) -> frozenset[str]:
    """The keys to look under: a full name finds those that are called by one word of it, not its namesakes."""
    keys = block_keys(name)
    if len(read(name).parts) == 1:
        return keys
    return frozenset(key[:-1] + "1" if key.endswith("|w") else key for key in keys)


def _keys_of(words: list[str]) -> set[str]:
    first, last = words[0], words[-1]
    if not "".join(words).isascii():
        whole = "".join(words)
        return {whole[:2] + "|c", whole[-2:] + "|c"}
    if len(words) == 1:
        keys = {phonetic(first) + "|s", first[:4] + "|p", first[-4:] + "|e", skeleton(first) + "|k"}
        return keys | {form + kind for form in given_forms(first) for kind in ("|1", "|w")}
    keys = {"".join(sorted(words))[:24] + "|o", last + "|w"} | {form + "|w" for form in given_forms(first)}
    return keys | _pair_keys(first, last) | _pair_keys(last, first)


def _pair_keys(given: str, last: str) -> set[str]:
    keys = set()
    for form in given_forms(given):
        keys |= {f"{form[0]}{phonetic(last)}|i", f"{form[0]}{skeleton(last)}|i"}
        keys |= {f"{phonetic(form)}{last[:2]}|g", f"{skeleton(form)}{last[-2:]}|h"}
    return keys
