"""Word lists and tables as data files, and the one way to read them: kinds of things, and other words for them.

A list has one entry a line, or several separated by spaces; what follows # is a remark.

A text is tagged with kinds when it is written, so that a question about "activities" meets a text
about swimming although they share no word.  It decides nothing about ranking.  The table is data
(`kinds.txt`): ``names that ask for the kind: words that are of it``; a line without a colon
is a set of near-synonyms that ask for each other. So is the thesaurus (`thesaurus.txt`), which is larger and
only looked into.

>>> "vegetarian" in words("idle_nouns.txt")
False
>>> tags_of(["swim", "car"]), asked_kinds("activ")
(('0activity', '0sport', '0vehicle', '0cars'), ('0activity',))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain

from worldline.text import words as tokens


@cache
def text(name: str) -> str:
    """A data file, whole."""
    return files("worldline.lexicon").joinpath(name).read_text("utf-8")


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a data file without remarks and empty ones."""
    kept = (line.partition("#")[0].strip() for line in text(name).splitlines())
    return tuple(line for line in kept if line)


@cache
def words(name: str) -> frozenset[str]:
    """All words of a data file."""
    return frozenset(word for line in lines(name) for word in line.split())


@cache
def asking() -> Mapping[str, Sequence[str]]:
    """Each word that asks for others in the thesaurus → its lines."""
    found: dict[str, list[str]] = {}
    for line in lines("thesaurus.txt"):
        for word in line.partition(": ")[0].split():
            found.setdefault(word, []).append(line)
    return found


@cache
def everyday() -> frozenset[str]:
    """The words of everyday talk: all those of the thesaurus."""
    return frozenset(text("thesaurus.txt").replace(":", " ").split())


# Kinds ================================================================================================

ALIKE, KIND = 0.85, 0.6
"""How far a word of the same idea, and one of the kind asked for, meets another."""
STANDING = "0standing"
"""The tag of texts that give an instruction which is to hold from then on."""


@cache
def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Token → kinds it is of, and token → kinds it asks for."""
    of: dict[str, list[str]] = {}
    asks: dict[str, list[str]] = {}
    for line in lines("kinds.txt"):
        heads, colon, members = line.partition(":")
        tag = "0" + heads.split()[0] + ("" if colon else "s")
        for token in tokens(heads):
            asks.setdefault(token, []).append(tag)
        for token in tokens(heads + " " + members):
            of.setdefault(token, []).append(tag)
    return _frozen(of), _frozen(asks)


def _frozen(table: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {token: tuple(dict.fromkeys(tags)) for token, tags in table.items()}


def tags_of(stems: Iterable[str]) -> tuple[str, ...]:
    """The kinds that a text's tokens are of."""
    of, _ = _tables()
    found = [of[token] for token in stems if token in of]
    return tuple(dict.fromkeys(chain.from_iterable(found))) if found else ()


def asked_kinds(token: str) -> tuple[str, ...]:
    """The kinds that a question's token asks for."""
    return _tables()[1].get(token, ())


@cache
def of_kind(tag: str) -> frozenset[str]:
    """The tokens that are of a kind."""
    return frozenset(token for token, tags in _tables()[0].items() if tag in tags)


@lru_cache(maxsize=20_000)
def told(stem: str) -> Mapping[str, float]:
    """The stems in which a thing may be told that is asked for by this one: "vaccination", "shot"."""
    found: dict[str, float] = {}
    for asked, answered in _entries(stem.rstrip("ei") or stem):
        if stem in tokens(asked):
            degree = KIND if answered else ALIKE
            found |= {other: max(degree, found.get(other, 0.0)) for other in tokens(answered or asked)}
    found.pop(stem, None)
    return found


def _entries(root: str) -> Iterator[tuple[str, str]]:
    """The lines of the thesaurus on whose asking side a word begins so."""
    for word, line in _asked_words().get(root[:2], ()):
        if word.startswith(root):
            asked, _, answered = line.partition(": ")
            yield asked, answered


@cache
def _asked_words() -> Mapping[str, Sequence[tuple[str, str]]]:
    """The first two letters of each word that asks → the word and its lines."""
    found: dict[str, list[tuple[str, str]]] = {}
    for word, all_ in asking().items():
        found.setdefault(word[:2], []).extend((word, line) for line in all_)
    return found
