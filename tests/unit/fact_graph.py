"""An in-memory store of facts for tests of slots and the walk, and a generator of relation sentences.

Everything goes through the same pure functions as in the engine: relation → oriented → decide.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from worldline.read.answers import Step
from worldline.reading.claim import Claim, stem
from worldline.reading.families import relation
from worldline.rules.slots import HeldValue, decide, oriented, slot_of
from worldline.text import fold

Row = tuple[HeldValue, Claim]


class FactGraph:
    """Current facts only; what is closed leaves."""

    def __init__(self) -> None:
        self.about: dict[str, dict[str, Row]] = defaultdict(dict)
        self.towards: dict[str, dict[str, Row]] = defaultdict(dict)
        self.placed: dict[str, set[str]] = defaultdict(set)
        self.worded: dict[str, set[str]] = defaultdict(set)
        self.keys: Counter[str] = Counter()
        self.slots: dict[str, dict[str, str]] = defaultdict(dict)
        self.names: dict[str, str] = {}
        self.count = 0

    # What slots.decide asks.

    def kinds(self, name: str) -> frozenset[str]:
        return frozenset(self.placed.get(name, ()))

    def typed(self, key: str) -> frozenset[str]:
        return frozenset(self.worded.get(key, ()))

    # What the walk asks.

    def link(self, names: Collection[str]) -> dict[str, str]:
        return {n: n for n in names if self.about.get(n) or self.towards.get(n)}

    def around(self, entities: Collection[str], limit: int) -> tuple[Sequence[Step], Sequence[Step]]:
        few = [e for e in entities if len(self.towards.get(e, {})) <= limit]
        return (
            [_step(*row) for e in entities for row in self.about.get(e, {}).values()],
            [_step(*row) for e in few for row in self.towards.get(e, {}).values()],
        )

    def called(self, relations: Collection[str]) -> dict[str, list[frozenset[str]]]:
        return {r: [self.kinds(o) for o in list(self.slots[r].values())[:16]] for r in relations}

    def name(self, entity: str) -> str:
        return self.names[entity]

    def tell(self, sentence: str) -> None:
        claim = relation(sentence)
        if claim is None:
            return
        claim = oriented(claim, lambda key: self.keys[key])
        subject, object_ = fold(claim.subject), fold(claim.object)
        decision = decide(claim, [held for held, _ in self.about[subject].values()], self)
        self.names.setdefault(subject, claim.subject)
        self.names.setdefault(object_, claim.object)
        self.keys[claim.key] += 1
        for kind in claim.types:
            if "#" in slot_of(claim):
                self.worded[claim.key].add(stem(kind))
                self.placed[object_].add(stem(kind))
        if decision.verb == "repeats":
            return
        for closed in decision.closes:
            self.remove(subject, closed)
        self.count += 1
        row = HeldValue(str(self.count), decision.slot, claim.object, one=decision.one), claim
        self.about[subject][row[0].id] = row
        self.towards[object_][row[0].id] = row
        self.slots[decision.slot][row[0].id] = object_

    def remove(self, subject: str, fact: str) -> Row:
        held, claim = self.about[subject].pop(fact)
        self.towards[fold(claim.object)].pop(fact)
        self.slots[held.slot].pop(fact)
        return held, claim


def _step(held: HeldValue, claim: Claim) -> Step:
    return Step(held.id, fold(claim.subject), held.slot, claim.predicate, fold(claim.object))


GIVEN = [
    "Ana",
    "Rui",
    "Marta",
    "Tomas",
    "Ines",
    "Bruno",
    "Clara",
    "Hugo",
    "Lena",
    "Oskar",
    "Paula",
    "Simon",
    "Vera",
    "Yann",
    "Zoe",
    "Kai",
    "Nora",
]
SYLLABLES = [
    "bar",
    "den",
    "fol",
    "gri",
    "hal",
    "jor",
    "kel",
    "lun",
    "mar",
    "nor",
    "pel",
    "quin",
    "ras",
    "sol",
    "tor",
    "ul",
    "ven",
    "wil",
    "yar",
    "zan",
]


def made_up(rng: random.Random, parts: int = 3) -> str:
    """A name that nobody has."""
    return "".join(rng.choice(SYLLABLES) for _ in range(parts)).capitalize()


def sentences(seed: int, count: int) -> tuple[list[str], list[tuple[str, str]]]:
    """`count` relation sentences in which one in four is changed later, and two-hop questions."""
    rng = random.Random(seed)
    people = [f"{rng.choice(GIVEN)} {made_up(rng)}" for _ in range(count // 6)]
    firms = [f"{made_up(rng)} Works" for _ in range(count // 12)]
    cities = [made_up(rng, 2) + "ton" for _ in range(200)]
    lands = [made_up(rng, 2) + "ia" for _ in range(60)]
    forms = [
        (people, "{} is a citizen of {}.", lands),
        (people, "{} was born in the city of {}.", cities),
        (people, "{} is married to {}.", people),
        (people, "{} is employed by {}.", firms),
        (firms, "{} was founded by {}.", people),
        (firms, "The headquarters of {} is located in the city of {}.", cities),
        (firms, "The director of {} is {}.", people),
        (lands, "The capital of {} is {}.", cities),
        (lands, "The official language of {} is {}.", [made_up(rng) + "ish" for _ in range(40)]),
        (cities, "{} is located in the country of {}.", lands),
    ]
    told: list[str] = []
    current: dict[tuple[str, str], str] = {}
    while len(told) < count:
        subjects, form, objects = rng.choice(forms)
        subject, value = rng.choice(subjects), rng.choice(objects)
        if subject == value or ((subject, form) in current and rng.random() < 0.5):
            continue
        current[subject, form] = value
        told.append(form.format(subject, value))
    questions = []
    for firm in firms:
        founder = current.get((firm, "{} was founded by {}."))
        if founder and (land := current.get((founder, "{} is a citizen of {}."))):
            questions.append((f"Which country is the founder of {firm} a citizen of?", land))
        director = current.get((firm, "The director of {} is {}."))
        if director and (city := current.get((director, "{} was born in the city of {}."))):
            questions.append((f"In which city was the director of {firm} born?", city))
    return told, questions
