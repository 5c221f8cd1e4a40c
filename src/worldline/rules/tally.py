"""What a person's own texts add up to: how much, whom they answer, of whom they speak, what befell them, their style.

A tally is a sum: two of them can be added, and the order of the texts leaves no trace. Every count
keeps the newest text that it stands on, so that whoever shows it can look whether that may be seen.
It decides what is counted, not what is shown. A style is 256 numbers from hashed runs of three, four and five
characters, whatever they are about: case, punctuation and spacing are part of it. Its counts are integers that add
up, so one text can be taken out again exactly, and nothing drifts. Whose text is whose is not decided.

>>> said = SaidWords(7, "Ben and my sister Ida moved to Oslo.", 100, answers="ben")
>>> mine = tally([said])
>>> mine.turns, sorted(mine.names), mine.together["ben|ida"].count
(1, ['ben', 'ida'], 1)
>>> shy, loud = counted("i guess so... maybe later?"), counted("YES!!! Let's GO!!!")
>>> alike(shy, counted("maybe... i guess?")) > alike(shy, loud)
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

from worldline.clock import Instant
from worldline.rules.happenings import Landmark, causes, landmarks
from worldline.rules.identity import GIVEN
from worldline.text import fold, word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]
    Unit: TypeAlias = NDArray[np.float64]

KEPT = 50
"""So many landmarks of a kind are kept for a person, the newest."""
NAMED = 6
"""Of so many people at most a text is taken to speak; a longer list is a list."""


class Met(Struct, frozen=True, array_like=True):
    """How often, when last, and the lineage of the text that shows it."""

    count: int
    last: Instant
    line: int


class Marker(Struct, frozen=True, array_like=True):
    """A landmark that a text tells: its lineage, its weight, and of whom (empty: of the one who speaks)."""

    line: int
    weight: float
    of: str


class SaidWords(Struct, frozen=True):
    """One text of a person."""

    line: int
    text: str
    said_at: Instant
    answers: str = ""
    """Who spoke just before, if it was somebody else."""
    told: tuple[Landmark, ...] | None = None
    """Its landmarks, where they have been looked for already."""


class Tally(Struct, frozen=True):
    """The sum over a person's texts."""

    upto: int = 0
    """The newest lineage that is counted."""
    turns: int = 0
    characters: int = 0
    words: int = 0
    first: Instant = 0
    last: Instant = 0
    answers: dict[str, Met] = {}
    names: dict[str, Met] = {}
    together: dict[str, Met] = {}
    """Two people spoken of in one text; their names in order, joined by a bar."""
    landmarks: dict[str, tuple[Marker, ...]] = {}
    reasons: tuple[int, ...] = ()
    """The newest texts that say what caused what."""


def tally(said: Iterable[SaidWords]) -> Tally:
    """The sum over some texts of one person."""
    total = Tally()
    found = [_one(each) for each in said]
    return combined([total, *found]) if found else total


def combined(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    held = [one for one in tallies if one.turns]
    if not held:
        return Tally()
    kinds = dict.fromkeys(kind for one in held for kind in one.landmarks)
    return Tally(
        upto=max(one.upto for one in held),
        turns=sum(one.turns for one in held),
        characters=sum(one.characters for one in held),
        words=sum(one.words for one in held),
        first=min(one.first for one in held),
        last=max(one.last for one in held),
        answers=_added(one.answers for one in held),
        names=_added(one.names for one in held),
        together=_added(one.together for one in held),
        landmarks={kind: _newest(m for one in held for m in one.landmarks.get(kind, ())) for kind in kinds},
        reasons=tuple(sorted({line for one in held for line in one.reasons})[-KEPT:]),
    )


def _added(parts: Iterable[Mapping[str, Met]]) -> dict[str, Met]:
    found: dict[str, Met] = {}
    for part in parts:
        for name, met in part.items():
            held = found.get(name)
            if held is None:
                found[name] = met
            else:
                last, line = max((held.last, held.line), (met.last, met.line))
                found[name] = Met(held.count + met.count, last, line)
    return dict(sorted(found.items()))


def _newest(markers: Iterable[Marker]) -> tuple[Marker, ...]:
    ordered = sorted(set(markers), key=lambda m: (m.line, m.of, m.weight))
    return tuple(ordered[-KEPT:])


def _one(said: SaidWords) -> Tally:
    met = Met(1, said.said_at, said.line)
    names = spoken_of(said.text)
    pairs = [f"{a}|{b}" for at, a in enumerate(names) for b in names[at + 1 :]]
    told: dict[str, tuple[Marker, ...]] = {}
    for mark in landmarks(said.text) if said.told is None else said.told:
        told[mark.kind] = (*told.get(mark.kind, ()), Marker(said.line, mark.weight, mark.of))
    return Tally(
        said.line, 1, len(said.text), len(said.text.split()), said.said_at, said.said_at,
        {said.answers: met} if said.answers else {},
        dict.fromkeys(names, met), dict.fromkeys(pairs, met), told,
        (said.line,) if causes(said.text) else (),
    )  # fmt: skip


# Of whom a text speaks ------------------------------------------------------------------------------

_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][a-z]+(?:-[A-Z][a-z]+)?(?![\w-])(?!['’](?!s\b))")
_BY_ROLE = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:\w+ ){0,2}?(?:wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?|"
    r"mother|mum|mom|father|dad|sister|brother|son|daughter|aunt|uncle|cousin|niece|nephew|grandmother|grandma|"
    r"grandfather|grandpa|friend|boss|colleague|coworker|neighbou?r|roommate|mentor|teacher|coach|dog|puppy|cat|kitten)"
    r",? (?:named |called )?([A-Z][a-z]+)"
)
_ALSO_WORDS = word_set(
    "will mark art rose grace joy hope may frank bill pat drew rich rob dick jack jay dean lance ray roy ruth "
    "iris ivy olive june april summer sandy dot chuck ed gene guy hank jean june lily miles rusty penny max "
    "ally amber angel ash bob buddy cliff clay dale dawn faith gay glen heath holly jade jasmine jewel kit "
    "lane lea mason morgan nick norm page pearl peg reed robin sage scott skip star stone sue tiffany trip "
    "victor ward wade wren van an ama see so my mei son eve val viola melody harmony tara dot charity carol "
    "paris sydney madison florence virginia georgia jordan israel chelsea austin dallas houston lincoln"
)
"""Given names that are words too: taken for a name only inside a sentence, and never after "in" or "to"."""
_PLACED = re.compile(r"\b(?:in|to|from|at|near|of|the|a|an)\s+$")


def spoken_of(text: str) -> tuple[str, ...]:
    """The given names that a text mentions, folded, in the order of the alphabet."""
    found = {fold(match.group(1)) for match in _BY_ROLE.finditer(text)}
    for match in _CAPITAL.finditer(text):
        name = fold(match.group())
        if name in GIVEN and (name not in _ALSO_WORDS or _inside(text, match.start())):
            found.add(name)
    return tuple(sorted(found))[:NAMED]


def _inside(text: str, at: int) -> bool:
    before = text[max(0, at - 12) : at]
    return (
        before[-1:] == " " and before.rstrip()[-1:] not in (".", "!", "?", "") and not _PLACED.search(before)
    )


ENCODER, DECODER = msgspec.json.Encoder(order="deterministic"), msgspec.json.Decoder(Tally)


SIZE = 256
RUNS = (3, 4, 5)
LONGEST = 4000
"""Characters of a text that are counted: a pasted document is not a way of writing."""
_MULTIPLIER = 0x9E3779B97F4A7C15


def counted(text: str) -> Counts:
    """How often each bucket's runs of characters occur; half of the runs count downwards."""
    import numpy as np

    flat = f" {' '.join(text[:LONGEST].split())} "
    codes = np.frombuffer(flat.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    hashed = [_hashed(codes, run) for run in RUNS if len(codes) >= run]
    if not hashed:
        return np.zeros(SIZE, np.int64)
    found = np.bincount(np.concatenate(hashed) >> np.uint64(55), minlength=2 * SIZE)
    return np.asarray(found[:SIZE] - found[SIZE:], np.int64)


def _hashed(codes: NDArray[np.uint64], run: int) -> NDArray[np.uint64]:
    """One length of runs; the highest bit of a hash is its sign, the next eight are its bucket."""
    import numpy as np

    many, multiplier = len(codes) - run + 1, np.uint64(_MULTIPLIER)
    mixed = codes[:many] + np.uint64(run)
    for place in range(1, run):
        mixed *= multiplier
        mixed ^= mixed >> np.uint64(29)
        mixed ^= codes[place : place + many]
    mixed *= multiplier
    mixed ^= mixed >> np.uint64(31)
    return mixed * multiplier


def unit(counts: Counts) -> Unit:
    """The style vector: length one, or all zeros where nothing was written."""
    import numpy as np

    length = float(np.sqrt((counts.astype(np.float64) ** 2).sum()))
    return np.asarray(counts / length if length else counts, np.float64)


def alike(one: Counts, other: Counts, usual: Counts | None = None) -> float:
    """The cosine of two styles, from -1 to 1; with `usual`, of how they differ from what is usual."""
    a, b = unit(one), unit(other)
    if usual is not None:
        common = unit(usual)
        a, b = a - (a @ common) * common, b - (b @ common) * common
    lengths = float((a @ a) * (b @ b)) ** 0.5
    return float(a @ b) / lengths if lengths > 1e-12 else 0.0


def nearest(one: Counts, others: Sequence[tuple[str, Counts]]) -> tuple[str, float] | None:
    """Whose style is nearest, and how near, beyond what all of them share; ties by name."""
    if not others:
        return None
    usual = sum((counts for _, counts in others), one * 0)
    if len(others) < 2:
        return others[0][0], alike(one, others[0][1])
    scored = [(-alike(one, counts, usual), name) for name, counts in others]
    least, name = min(scored)
    return name, -least


def packed(counts: Counts) -> bytes:
    """The bytes in which a style is stored."""
    return counts.astype("<i8").tobytes()


def unpacked(stored: bytes) -> Counts:
    """A style from its bytes."""
    import numpy as np

    return np.frombuffer(stored, "<i8").astype(np.int64)
