"""Are two names the same person, organisation or thing?  Tiers, scores, and keys to find candidates.

Decides how sure a match is and by which tier: exact (folded name or alias), fuzzy (Jaro–Winkler
over aligned words, nicknames, initials, legal forms), embedding (when the caller can compare
meanings), phonetic.  It merges nothing: beyond exact, the caller stages a proposal.

    resolve("Bob Smith", [Candidate("e1", ("Robert Smith",))]) == Resolved("e1", "fuzzy", 0.96)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec
from rapidfuzz.distance import DamerauLevenshtein, JaroWinkler

from worldline import lexicon
from worldline.rules.names import (
    GENERIC,
    PARTICLES,
    Name,
    east_asian_words,
    given_forms,
    is_nickname,
    known_given,
    phonetic,
    read,
    same_given,
    skeleton,
)
from worldline.text import fold

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
    kind: str = ""


class Match(msgspec.Struct, frozen=True):
    """How one candidate compares: the deciding tier and a score from 0 to 1."""

    id: str
    tier: str
    score: float


class Resolved(msgspec.Struct, frozen=True):
    """One entity; silent only when the tier is exact."""

    id: str
    tier: str
    score: float


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
    kind: str = "",
    similarity: Similarity | None = None,
    tiebreak: Tiebreak | None = None,
) -> Resolution:
    """Which of the pool a name means, if any."""
    fitting = [c for c in pool if not (kind and c.kind and kind != c.kind)]
    matches = sorted(
        (match_candidate(name, c, similarity) for c in fitting),
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


def block_keys(name: str) -> set[str]:
    """Keys under which an alias is indexed; two names that may match share at least one.

    What a key is of stands at its end: so most keys of a name lie side by side, and are written together.
    """
    key, seen = fold(name), read(name)
    keys = {key + "|f"} if key else set()
    if not seen.parts:
        return keys
    keys |= {some + "|a" for some in (*seen.initials, seen.acronym) if some}
    for words in {seen.parts, seen.spelt}:
        keys |= {"".join(words)[:24] + "|j"} | _keys_of([w for w in words if w not in GENERIC] or list(words))
    return keys


def asked_keys(name: str) -> set[str]:
    """The keys to look under: a full name finds those that are called by one word of it, not its namesakes."""
    keys = block_keys(name)
    if len(read(name).parts) == 1:
        return keys
    return {key[:-1] + "1" if key.endswith("|w") else key for key in keys}


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
