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
from itertools import combinations

import msgspec
from rapidfuzz.distance import DamerauLevenshtein, JaroWinkler

from worldline.rules.names import (
    GENERIC,
    GIVEN,
    LEGAL,
    ORGANISATION_WORDS,
    SHORT_FORMS,
    SUFFIXES,
    TITLES,
    canonical_given,
)
from worldline.text import fold

PROPOSE = 0.85
CLOSE = 0.03  # two candidates nearer than this are not told apart
TIERS = ("exact", "fuzzy", "embedding", "phonetic")


class Candidate(msgspec.Struct, frozen=True):
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


class Ambiguous(msgspec.Struct, frozen=True):
    """Several entities fit about equally well, best first."""

    matches: tuple[Match, ...]


class New(msgspec.Struct, frozen=True):
    """No known entity; the nearest one is kept for the explanation."""

    nearest: Match | None = None


Resolution = Resolved | Ambiguous | New
Similarity = Callable[[str, str], float]
Tiebreak = Callable[[str, tuple[Match, ...]], str | None]


def resolve(
    name: str,
    pool: Iterable[Candidate],
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
        return New(matches[0] if matches else None)
    exact = tuple(m for m in good if m.tier == "exact")
    rivals = exact or tuple(m for m in good if good[0].score - m.score < CLOSE)
    if len(rivals) == 1:
        return Resolved(rivals[0].id, rivals[0].tier, rivals[0].score)
    chosen = tiebreak(name, rivals) if tiebreak else None
    for match in rivals:
        if match.id == chosen:
            return Resolved(match.id, match.tier, match.score)
    return Ambiguous(rivals)


def match_candidate(name: str, candidate: Candidate, similarity: Similarity | None) -> Match:
    """The best tier and score over all of a candidate's names."""
    best = Match(candidate.id, "phonetic", 0.0)
    for known in candidate.names:
        tier, score = compare(name, known)
        if score < PROPOSE and similarity is not None:
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
    a, b = parts(left), parts(right)
    if not a or not b:
        return "fuzzy", 0.0
    if a == b or "".join(a) == "".join(b):
        return "fuzzy", 0.97
    if _acronym(left, b) or _acronym(right, a):
        return "fuzzy", 0.9
    if len(a) > len(b):
        a, b = b, a
    organisation = _is_organisation(left) or _is_organisation(right)
    return _aligned(a, b, organisation)


_DOTTED = re.compile(r"\b([A-Z])\.(?=[A-Z])")
_COMMA_NAME = re.compile(r"^\s*([^\s,]+)\s*,\s*([^,]+)$")


@lru_cache(maxsize=50_000)
def parts(name: str) -> tuple[str, ...]:
    """The words that carry a name: folded, reordered, without titles, legal forms and articles."""
    swapped = _COMMA_NAME.match(name)
    if swapped and not set(fold(swapped[2]).split()) & LEGAL:
        name = f"{swapped[2]} {swapped[1]}"
    name = _DOTTED.sub(r"\1 ", name.replace("&", " and "))
    plain = fold(_germanic(name))
    words = [w for w in plain.split() if w not in ("the", "and", "of", "for")] or plain.split()
    while len(words) > 1 and words[0] in TITLES - SUFFIXES:
        words = words[1:]
    while len(words) > 1 and (words[-1] in LEGAL or words[-1] in TITLES):
        words = words[:-1]
    if len(words) > 1:
        words = [w for w in words if w not in LEGAL] or words
    return tuple(SHORT_FORMS.get(w, w) if len(words) > 1 else w for w in words)


def _germanic(name: str) -> str:
    for letter, spelt in (
        ("ä", "ae"),
        ("ö", "oe"),
        ("ü", "ue"),
        ("ø", "oe"),
        ("å", "aa"),
        ("ß", "ss"),
    ):
        name = name.replace(letter, spelt).replace(letter.upper(), spelt.capitalize())
    return name


@lru_cache(maxsize=50_000)
def _folded(name: str) -> str:
    return fold(name)


@lru_cache(maxsize=50_000)
def _is_organisation(name: str) -> bool:
    words = {SHORT_FORMS.get(w, w) for w in fold(name).split()}
    return bool(words & (LEGAL | ORGANISATION_WORDS | GENERIC))


def _acronym(short: str, long: tuple[str, ...]) -> bool:
    """ "IBM" for the initials of at least three words."""
    return len(long) >= 3 and (letters := _letters(short)) != "" and letters == "".join(w[0] for w in long)


@lru_cache(maxsize=50_000)
def _letters(name: str) -> str:
    """The letters of a name that is nothing but a few capitals, in lower case; else nothing."""
    letters = "".join(w for w in name.replace(".", "").split() if fold(w) not in LEGAL)
    return letters.lower() if 3 <= len(letters) <= 6 and letters.isupper() else ""


def _aligned(a: tuple[str, ...], b: tuple[str, ...], organisation: bool) -> tuple[str, float]:
    """Match every word of the shorter name, in order, and account for what is left over."""
    best: tuple[str, float] = ("fuzzy", 0.0)
    for chosen in combinations(range(len(b)), len(a)):
        extra = [b[i] for i in range(len(b)) if i not in chosen]
        leftover = _leftover(a, chosen, extra, len(b), organisation)
        if leftover == 0.0:
            continue
        scored = _words_score(a, tuple(b[i] for i in chosen), organisation)
        if scored[1] * leftover > best[1]:
            best = scored[0], scored[1] * leftover
    if best[1] < PROPOSE and len(a) == 2 and len(b) == 2 and a == b[::-1]:
        return "fuzzy", 0.93
    return best


def _leftover(
    a: tuple[str, ...], chosen: tuple[int, ...], extra: list[str], size: int, organisation: bool
) -> float:
    if not extra:
        return 1.0
    if all(word in GENERIC for word in extra):
        return 0.9
    middle = len(a) >= 2 and chosen[0] == 0 and chosen[-1] == size - 1
    if middle and not organisation and len(extra) <= 2:
        return 0.96
    return 0.0 if organisation else 0.7


def _words_score(a: tuple[str, ...], b: tuple[str, ...], organisation: bool) -> tuple[str, float]:
    tier, total, soft = "fuzzy", 1.0, 0
    for index, (left, right) in enumerate(zip(a, b, strict=True)):
        given = not organisation and index < len(a) - 1 and len(a) > 1
        how, score = word_match(left, right, given=given, alone=len(a) == 1)
        if score == 0.0:
            return "fuzzy", 0.0
        tier = "phonetic" if how == "phonetic" else tier
        soft += how not in ("same", "nickname")
        total *= score
    if soft == len(a) and len(a) > 1 and "".join(a)[:1] != "".join(b)[:1]:
        total *= 0.9
    if soft > (len(a) + 1) // 2:
        total *= 0.93
    return tier, total


@lru_cache(maxsize=100_000)
def word_match(a: str, b: str, *, given: bool, alone: bool) -> tuple[str, float]:
    """How one word of a name answers another: same, nickname, initial, typo, phonetic, or not."""
    if a == b:
        return "same", 1.0
    if a.isdigit() or b.isdigit():
        return "none", 0.0
    if given and canonical_given(a) == canonical_given(b):
        return "nickname", 0.96
    if given and min(len(a), len(b)) == 1:
        same = a[0] == b[0] or canonical_given(a)[0] == canonical_given(b)[0]
        return ("initial", 0.93) if same else ("none", 0.0)
    if a in GIVEN and b in GIVEN and (given or alone):
        return "none", 0.0
    return _spelling(a, b, given, alone)


def _spelling(a: str, b: str, given: bool, alone: bool) -> tuple[str, float]:
    shortest = min(len(a), len(b))
    edits = DamerauLevenshtein.distance(a, b, score_cutoff=3)
    ending = a[:-1] == b[:-1] or a == b[:-1] or b == a[:-1]
    if given and ending and {a[-1], b[-1]} & set("aoei") and edits == 1:
        return "none", 0.0  # Paul and Paula, Mario and Maria are two people
    if given and shortest <= 4 and edits and (a in GIVEN or b in GIVEN or len(a) == len(b)):
        return "none", 0.0
    if edits == 1 and shortest >= (5 if alone else 4):
        return "typo", 0.95 if shortest >= 6 else 0.92
    likeness = JaroWinkler.similarity(a, b)
    if edits == 2 and shortest >= 7 and likeness >= 0.9:
        return "typo", 0.9
    if shortest >= 4 and skeleton(a) == skeleton(b) and likeness >= 0.72:
        return "phonetic", 0.92
    if edits == 1 and shortest >= 3 and phonetic(a) == phonetic(b) and not alone:
        return "phonetic", 0.9
    if not alone and shortest >= 5 and phonetic(a) == phonetic(b) and likeness >= 0.88:
        return "phonetic", 0.9
    return "none", 0.0


_SOUNDS = (
    ("tsch", "c"),
    ("tch", "c"),
    ("sch", "s"),
    ("sh", "s"),
    ("zh", "z"),
    ("kh", "h"),
    ("ch", "c"),
    ("ph", "f"),
    ("gh", "g"),
    ("th", "t"),
    ("dj", "j"),
    ("dzh", "j"),
    ("ck", "k"),
    ("kn", "n"),
    ("wr", "r"),
    ("qu", "kv"),
    ("q", "k"),
    ("x", "ks"),
    ("w", "v"),
    ("tz", "c"),
    ("ts", "c"),
)
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


def block_keys(name: str) -> set[str]:
    """Keys under which an alias is indexed; two names that may match share at least one."""
    words = parts(name)
    if not words:
        return {"f:" + fold(name)} if fold(name) else set()
    keys = {"f:" + fold(name), "j:" + "".join(words)[:24]}
    content = [w for w in words if w not in GENERIC] or list(words)
    if len(words) >= 3:
        keys.add("a:" + "".join(w[0] for w in words))
    letters = "".join(w for w in name.replace(".", "").split() if fold(w) not in LEGAL)
    if 3 <= len(letters) <= 6 and letters.isupper():
        keys.add("a:" + letters.lower())
    if len(content) == 1:
        return keys | _single_keys(content[0])
    return keys | _pair_keys(content[0], content[-1]) | _pair_keys(content[-1], content[0])


def _single_keys(word: str) -> set[str]:
    return {"s:" + phonetic(word), "p:" + word[:4], "e:" + word[-4:], "k:" + skeleton(word)}


def _pair_keys(given: str, last: str) -> set[str]:
    full = canonical_given(given)
    keys = {f"i:{initial}{phonetic(last)}" for initial in (given[0], full[0])}
    keys |= {f"i:{initial}{skeleton(last)}" for initial in (given[0], full[0])}
    return keys | {f"g:{phonetic(full)}{last[:2]}", f"h:{skeleton(full)}{last[-2:]}"}
