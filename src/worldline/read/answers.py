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
from msgspec.structs import replace

from worldline.read.candidates import Item
from worldline.read.weighing import (
    FITS,
    Ground,
    is_left,
    is_settled,
    is_sound,
    key_of,
    measured,
    nearness,
    slot_of,
)
from worldline.reading.claim import stem
from worldline.reading.questions import Question
from worldline.text import fold

SURE = 0.65
"""Of four answers at least three have to be right, in small memories and in long ones."""
SURE_OF_PAST = 0.45
"""Enough for a date or a number of what happened; chosen on development text, where four of five were right."""
SURE_OF_LISTS = 0.3
"""The values of a list share the probability."""
MOST = 6
"""Values of a list."""
WEIGHTS: Mapping[str, float] = {
    "bias": -2.34, "covered": 0.71, "fits": 2.86, "named": -0.81, "rank": 1.86, "fact": -1.59, "noun": 0.51,
    "newest": 0.62, "near": 0.54, "long": -1.02, "missing": -0.45, "asks": -1.13, "family_about": 0.9,
    "behind": -0.68, "alone": 0.57, "gap": 0.27, "of_name": -0.26, "of_thing": -0.78, "of_number": 0.46,
    "crowd": -2.31, "to_machine": 0.34, "full": 0.02, "overtaken": -1.0, "only_one": 0.95,
    "family_full": 0.49,
}  # fmt: skip
"""Fitted on questions over small memories, little histories and long talks; logits beside "none of these"."""


class Reply(Struct, frozen=True):
    """An answer and what it rests on."""

    text: str
    probability: float
    items: tuple[Item, ...]


def reply(ground: Ground, items: Sequence[Item], able: Sequence[Item]) -> Reply | None:
    """The answer, if one of the suited candidates is sure."""
    asked = ground.question
    if asked.wants not in FITS:
        return None
    things = _called(asked, items)
    if len({fold(item.other) for item in things}) > 1:
        return None  # two budgets are known: which one is meant?
    ranked = weighed(ground, items, able)
    if not ranked:
        return None
    best = ranked[0]
    if asked.many:
        return _listed(best, ranked) if best.probability >= SURE_OF_LISTS else None
    if best.probability >= (SURE_OF_PAST if is_settled(asked) else SURE):
        wrong = _is_left_over(ground, items, best) or _is_farther(asked, items, best)
        wrong = wrong or _is_another(asked.pick, best, ranked)
        sound = not wrong and any(is_sound(ground, item) for item in best.items)
        return replace(best, text=bare_count(asked, best.text)) if sound else None
    values = {key_of(item.value) for item in things}
    return Reply(things[0].value, SURE, tuple(things)) if len(values) == 1 else None


def bare_count(asked: Question, text: str) -> str:
    """A number without the word that the question has already: "three kids" of how many kids."""
    number, _, counted = text.partition(" ")
    return number if asked.wants == "count" and counted.islower() and " " not in counted else text


NEARER = 0.1
"""So much nearer to the words of the question another value of the sentence may not stand."""


def _is_farther(asked: Question, items: Sequence[Item], best: Reply) -> bool:
    """Whether "150 kronor, pupils 60" holds a value that stands nearer to the pupils who are asked about."""
    told = best.items[0]
    if any(item.fact for item in best.items):
        return False
    beside = [i for i in items if i.turn == told.turn and i.sentence == told.sentence and not i.fact]
    end = told.at + len(told.value)
    rivals = [i for i in beside if not (i.at < end and told.at < i.at + len(i.value)) and not is_left(i)]
    near = nearness(asked, told) + NEARER
    return any(i.kind in FITS[asked.wants] and nearness(asked, i) > near for i in rivals)


def _is_another(pick: str, best: Reply, ranked: Sequence[Reply]) -> bool:
    """Whether the first or the latest is asked for, and another value of this kind was said earlier or later."""
    told = best.items[0]
    said = [r.items[0].said_at for r in ranked if r.items[0].kind == told.kind]
    return told.said_at != {"first": min(said), "last": max(said)}.get(pick, told.said_at)


def _is_left_over(ground: Ground, items: Sequence[Item], best: Reply) -> bool:
    """Whether the best value is only another word of a sentence whose own value for this is over.

    Ana no longer lives in Rome: "I live in Rome, and my sister works at Siemens" does not make it Siemens.
    """
    families = {one.family.name for one in ground.question.asks}
    meant = ground.about.meant
    about = [i for i in items if i.fact and i.role == "O" and i.family in families and fold(i.other) in meant]
    over = {item.turn for item in about if item.state in ("over", "withdrawn")} - set(ground.changes)
    held = any(item.state == "holds" for item in about)
    said = all(not item.fact and item.turn in over for item in best.items)
    return ground.question.mode == "now" and said and not held


def _called(asked: Question, items: Sequence[Item]) -> list[Item]:
    """What is believed of things that a bare noun may mean: "the budget" of the quarterly budget.

    None where the question says more, or something goes by that very name.
    """
    bare = asked.noun and asked.words == (stem(asked.noun),) and asked.mode == "now"
    if not bare or asked.names or asked.whose or asked.mine or asked.many or asked.pick:
        return []
    found = [
        item
        for item in items
        if item.fact and item.role == "O" and item.state == "holds" and item.phrase in ("is", "are")
        and item.kind in FITS[asked.wants] and stem(fold(item.other).rpartition(" ")[2]) == asked.words[0]
    ]  # fmt: skip
    return found if all(" " in item.other for item in found) else []


def _listed(best: Reply, ranked: Sequence[Reply]) -> Reply | None:
    """All that the same slot holds, where a list is asked for; a single value of it is no list."""
    first = best.items[0]
    mates = [r for r in ranked if first.fact and slot_of(r.items[0]) == slot_of(first)]
    if not 2 <= len(mates) <= MOST:
        return None
    return Reply("; ".join(m.text for m in mates), best.probability, tuple(m.items[0] for m in mates))


def weighed(ground: Ground, items: Sequence[Item], able: Sequence[Item]) -> list[Reply]:
    """The values by how likely each is the answer, one reply a value: they share one with "none of these"."""
    groups: dict[str, list[tuple[float, Item]]] = {}
    for item, features in measured(ground, items, able):
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
