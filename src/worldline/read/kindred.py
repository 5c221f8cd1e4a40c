"""A word that meets another though it is not the same: of its idea, its relation, its kind, or made from it.

The tables are data (`lexicon/thesaurus.txt`, `everyday_words.txt`, `families.toml`, `kinds.txt`, and `idioms.txt` for
what is asked in a figure of speech) and know nothing of any store. Pure.

>>> relatives("hobbi")["swim"], derived("weigh", " the weight of wine ")
(0.6, {'weight': 0.85})
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from worldline.lexicon import lines, text
from worldline.read.synonyms import GROUPS
from worldline.reading.families import families
from worldline.rules.kinds import ALIKE, KIND, asked_kinds, of_kind, told
from worldline.text import stop, words

FAMILY = 0.5
"""How far a word of the same relation meets another."""
MOST_FAMILIES = 9
"""A word of more relation families than this says too little to meet another."""

Table: TypeAlias = tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]
"""A word → its groups, and a group → its words."""


@lru_cache(maxsize=20_000)
def relatives(stem: str) -> Mapping[str, float]:
    """The stems that meet this one though they are others, and how far: of its idea, its relation, its kind."""
    found: dict[str, float] = {}
    for tag in asked_kinds(stem):
        found |= dict.fromkeys(of_kind(tag), KIND)
    families_of, members = _family_table()
    for family in families_of.get(stem, ()):
        found |= {other: max(FAMILY, found.get(other, 0.0)) for other in members[family]}
    found |= {other: max(degree, found.get(other, 0.0)) for other, degree in told(stem).items()}
    groups_of, groups = _everyday_table()
    for group in groups_of.get(stem, ()):
        found |= dict.fromkeys(groups[group], ALIKE)
    return found


def meeting(stem: str, tokens: set[str]) -> dict[str, float]:
    """Those of a text's stems that are relatives of this one, and how far they meet it."""
    kin = relatives(stem)
    return {token: kin[token] for token in kin.keys() & tokens} if kin else {}


def derived(stem: str, said: str) -> dict[str, float]:
    """The stems of a text (with blanks around each) that are made from this one, or it from them: weigh, weight."""
    found: dict[str, float] = {}
    root = " " + stem[:4]
    at = said.find(root) if len(stem) >= 4 else -1
    while at >= 0:
        end = said.find(" ", at + 1)
        token = said[at + 1 : end]
        if abs(len(stem) - len(token)) <= 3 and (token.startswith(stem) or stem.startswith(token)):
            found[token] = ALIKE
        at = said.find(root, end)
    return found


def idioms(said: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where a question speaks in a figure, from and up to which stem, and the plain stems that it stands for.

    >>> list(idioms(["who", "be", "behind", "the", "wheel"]))
    [(2, 5, ('drive', 'driver', 'steer'))]
    """
    at = 0
    while at < len(said):
        fits = ((phrase, plain) for phrase, plain in _idioms().get(said[at], ()) if _is_at(phrase, said, at))
        phrase, plain = next(fits, ((), ()))
        if phrase:
            yield at, at + len(phrase), plain
        at += len(phrase) or 1


def _is_at(phrase: Sequence[str], said: Sequence[str], at: int) -> bool:
    return tuple(said[at : at + len(phrase)]) == phrase


@cache
def _idioms() -> Mapping[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The first stem of a phrase → the phrases that begin so, the longest first, and what each stands for."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in lines("idioms.txt"):
        phrase, _, plain = line.partition(":")
        stems = tuple(words(phrase))
        found.setdefault(stems[0], []).append((stems, tuple(dict.fromkeys(words(plain)))))
    for phrases in found.values():
        phrases.sort(key=lambda one: -len(one[0]))
    return found


@lru_cache(maxsize=20_000)
def is_everyday(word: str) -> bool:
    """Whether the thesaurus has a word, or what it is made from: what a sentence begins with may be a name."""
    root = next(iter(words(word)), word).rstrip("ei")
    table, at = _thesaurus_words(), bisect_left(_thesaurus_words(), root)
    return len(root) < 3 or (at < len(table) and table[at].startswith(root))


@cache
def _thesaurus_words() -> Sequence[str]:
    """In the order of their letters, so that what begins with a root is found by halves."""
    return sorted(set(text("thesaurus.txt").split()))


@cache
def _everyday_table() -> Table:
    groups = {
        str(at): words(line) for at, line in enumerate([*lines("everyday_words.txt"), *GROUPS.split("\n")])
    }
    return _both_ways((stem, group) for group, members in groups.items() for stem in members)


@cache
def _family_table() -> Table:
    """The relation families whose nouns or verbs a word is; words of too many families left out."""
    pairs = [(words(said)[-1:], name) for name, f in families().all.items() for said in (*f.nouns, *f.words)]
    pairs += [(words(verb)[:1], p.family.name) for verb, ps in families().patterns.items() for p in ps]
    named = [(stem[0], family) for stem, family in pairs if stem and stem[0] not in stop()]
    often = Counter(stem for stem, _ in set(named))
    return _both_ways((stem, family) for stem, family in named if often[stem] <= MOST_FAMILIES)


def _both_ways(pairs: Iterable[tuple[str, str]]) -> Table:
    there: dict[str, dict[str, None]] = {}
    back: dict[str, dict[str, None]] = {}
    for stem, group in pairs:
        there.setdefault(stem, {})[group] = None
        back.setdefault(group, {})[stem] = None
    return {key: tuple(all_) for key, all_ in there.items()}, {key: tuple(all_) for key, all_ in back.items()}
