"""Word lists and tables as data files, and the one way to read them.

A list has one entry a line, or several separated by spaces; what follows # is a remark.

>>> "vegetarian" in words("idle_nouns.txt")
False
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files


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
