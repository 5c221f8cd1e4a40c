"""One answer to a question, where it is sure: candidates in, the best value with its proof out.

Every candidate (read/candidates.py) is weighed by what speaks for it (read/weighing.py): the family of
the relation, the share of the question's words that are met, the kind of value, whose it is, how good
the evidence is, whether it still holds. The weights give a probability, shared with "none of these";
below the threshold nothing is answered: a wrong answer costs three right ones.

    "Where does Ana live?" + fact "Ana lives in Rome" → Rome, proved by that fact
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from worldline.read.candidates import Item
from worldline.read.weighing import FITS, TURNS, Ground, key_of, measured, settles, slot_of
from worldline.read.weights import THRESHOLD

SURE = 0.6
"""Of four answers at least three have to be right, in small memories and in long ones."""
SURE_OF_LISTS = 0.3
"""The values of a list share the probability."""
SUITS = 0.9
"""A value that fits less than this is of another kind than the one asked for: a name for a place."""
LEADS = 0.1
"""From here on the turn of the likeliest value is the right one more often than the turn that was found first."""
MOST = 6
"""Values of a list."""
WEIGHTS: Mapping[str, float] = {
    "bias": -2.49, "covered": 1.54, "missing": -0.45, "full_said": -0.71, "near": 0.87, "clause_best": 0.52,
    "clause_verb": 0.38, "fits": 2.1, "typed": 0.54, "somebody": 0.3, "long": -0.74, "here": 0.3,
    "support": 0.08, "family": 0.73, "family_about": 0.55, "family_full": 0.63, "only_one": 0.72, "fact": -1.54,
    "behind": -1.29, "gap": 0.48, "named": -1.04, "rank": 2.18, "sure": 0.11, "doubt": -0.65, "asks": -0.93,
    "unreal": -0.44, "newest": 0.49, "passed": -0.1, "then": 0.68, "left": 0.56, "overtaken": -1.15,
    "outdone": -0.75, "crowd": -1.57, "of_name": 0.03, "of_thing": -0.76, "of_number": 0.24, "of_date": 0.06,
}  # fmt: skip
"""Fitted on questions over small memories, little histories, stories and long talks; logits beside "none of these"."""


class Reply(Struct, frozen=True):
    """An answer and what it rests on."""

    text: str
    probability: float
    items: tuple[Item, ...]


def reply(ground: Ground, ranked: Sequence[Reply]) -> Reply | None:
    """The answer, if one of these is sure.

    Where the evidence is in doubt or is records, which walks lead through, or where the value is not quite of the kind
    that is asked for, what is said with it has to meet every word.
    """
    asked = ground.question
    if not ranked or asked.wants not in FITS:
        return None
    best = ranked[0]
    talked = any(ground.speakers.values())
    plain = talked and ground.sure >= THRESHOLD and FITS[asked.wants][best.items[0].kind] >= SUITS
    if not plain and not any(settles(ground, item) for item in best.items):
        return None
    if asked.many:
        return _listed(best, ranked) if best.probability >= SURE_OF_LISTS else None
    return best if best.probability >= SURE else None


def leader(ground: Ground, ranked: Sequence[Reply]) -> int:
    """The turn of the likeliest value, which may lead the evidence though nothing is answered; 0 for none.

    What happened once is best told by the turn that was found first; what holds, or held before, changes hands. A
    small memory is read whole, so that what was found first stands.
    """
    few = len(ground.ranks) < TURNS
    if few or ground.question.mode not in ("now", "former") or not ranked or ranked[0].probability < LEADS:
        return 0
    return ranked[0].items[0].turn


def _listed(best: Reply, ranked: Sequence[Reply]) -> Reply | None:
    """All that the same slot holds, where a list is asked for; a single value of it is no list."""
    first = best.items[0]
    mates = [r for r in ranked if first.fact and slot_of(r.items[0]) == slot_of(first)]
    if not 2 <= len(mates) <= MOST:
        return None
    return Reply("; ".join(m.text for m in mates), best.probability, tuple(m.items[0] for m in mates))


def weighed(ground: Ground, items: Sequence[Item]) -> list[Reply]:
    """The values by how likely each is the answer, one reply a value: they share one with "none of these"."""
    groups: dict[str, list[tuple[float, Item]]] = {}
    for item, features in measured(ground, items):
        score = sum(WEIGHTS[name] * value for name, value in features.items())
        groups.setdefault(key_of(item.value), []).append((score, item))
    for group in groups.values():
        group.sort(key=lambda g: -g[0])
    whole = 1.0 + sum(math.exp(group[0][0]) for group in groups.values())
    found = [
        Reply(_told(group), math.exp(group[0][0]) / whole, tuple(item for _, item in group))
        for group in groups.values()
    ]
    return sorted(found, key=lambda r: -r.probability)


def _told(group: Sequence[tuple[float, Item]]) -> str:
    """A value as a fact has it, where one does: "The Beatles" rather than "Beatles"."""
    return next((item.value for _, item in group if item.fact and item.role != "T"), group[0][1].value)
