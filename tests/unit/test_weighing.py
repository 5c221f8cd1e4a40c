"""How near a value comes to being the answer: what is skipped changes nothing."""

import itertools
from datetime import UTC, datetime

from worldline.read import weighing
from worldline.read.candidates import Item
from worldline.read.weighing import About, Ground, reach
from worldline.reading.questions import read_question

NAMES = frozenset({"ana"})


def ground(text):
    """A question that names Ana, and nothing found yet."""
    question = read_question(text, datetime(2026, 1, 1, tzinfo=UTC))
    return Ground(question, About(NAMES, NAMES, {}), {}, {}, {})


def told(value, kind, sentence):
    """A value in a sentence of somebody's."""
    return Item(value, kind, "", sentence, 1, 0, "Ana", at=sentence.find(value))


ITEMS = (
    told("Porto", "place", "I live in Porto now."),
    told("Lisbon", "place", "The train to Lisbon was late."),
    told("Ben", "name", "Ben came along."),
    told("kettle", "thing", "I bought a kettle."),
)


def test_how_near_the_best_comes_is_the_same_in_any_order():
    """What a value is compared with on the way decides only what need not be looked at."""
    asked = ground("Where does Ana live?")
    able = [item for item in ITEMS if item.kind in weighing.FITS[asked.question.wants]]
    alone = [reach(asked, [item]) for item in able]

    assert max(alone) > 0
    assert {reach(asked, order) for order in itertools.permutations(able)} == {max(alone)}


def test_a_value_that_suits_no_better_is_not_looked_at(monkeypatch):
    """Once a value reaches as far as another can by its kind, the other's words are not compared."""
    looked = []
    monkeypatch.setattr(weighing, "_covered", lambda _, item, **__: looked.append(item.value) or 1.0)
    asked = ground("Where does Ana live?")

    reach(asked, [ITEMS[0], *ITEMS[:2]])

    assert looked == ["Porto"]
