"""How near a value comes to being the answer: what is skipped changes nothing."""

import itertools
from datetime import UTC, datetime

from worldline.clock import FOREVER
from worldline.read import weighing
from worldline.read.candidates import Item, SaidTurn, of_facts, of_turns
from worldline.read.weighing import About, Ground, Suited, measured, reach, suited
from worldline.reading.questions import read_question
from worldline.rules.happenings import cut_all
from worldline.store.search import FactAround

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
    alone = [reach(asked, Suited(asked, [item])) for item in able]
    orders = [Suited(asked, order) for order in itertools.permutations(able)]

    assert max(alone) > 0
    assert {reach(asked, order) for order in orders} == {max(alone)}


def test_a_value_that_suits_no_better_is_not_looked_at(monkeypatch):
    """Once a value reaches as far as another can by its kind, the other's words are not compared."""
    looked = []
    monkeypatch.setattr(weighing, "_covered", lambda _, item, **__: looked.append(item.value) or 1.0)
    asked = ground("Where does Ana live?")

    reach(asked, Suited(asked, [ITEMS[0], *ITEMS[:2]]))

    assert looked == ["Porto"]


def fact(value, other, phrase, kind="thing", family="", role="O", number=1):
    """An end of a fact that nobody's turn at hand says."""
    text = f"{other} {phrase} {value}"
    return Item(
        value, kind, other, text, 0, number, role=role, family=family, slot=phrase, phrase=phrase, fact=number,
        start=number, at=text.find(value),
    )  # fmt: skip


FACTS = (
    fact("a kettle", "Ana", "bought", number=1),
    fact("Porto", "Ana", "lives in", "place", "lives_in", number=2),
    fact("teapots", "Ana", "likes", number=3),
    fact("Zoë's café", "Ana", "visited", "place", number=4),
    fact("the harbour", "Ana", "painted", number=5),
    fact("a ketle", "Ana", "sold", number=6),
    fact("Jonas", "Ana", "works with", "name", number=7),
    fact("an accountant", "Jonas", "is", number=8),
)
QUESTIONS = (
    "What did Ana buy?",
    "Where does Ana live?",
    "Which kettle did Ana sell?",
    "What kind of pots does Ana like?",
    "What is Ana?",
    "Who works with Ana?",
    "What does Ana's colleague do for a living?",
)


def test_what_is_told_apart_at_once_changes_no_weight(monkeypatch):
    """Facts without a word of the question are noted once; every candidate weighs what it weighs without the note."""
    silent, note = 0, weighing._note_silent
    for text in QUESTIONS:
        for roles in ({}, {"colleagu": frozenset({"jonas"})}):
            asked = ground(text)
            asked = Ground(asked.question, About(NAMES, NAMES, roles), {}, {}, {})
            plain = Ground(asked.question, asked.about, {}, {}, {})
            monkeypatch.setattr(weighing, "_note_silent", note)
            able = suited(asked, FACTS)
            monkeypatch.setattr(weighing, "_note_silent", lambda *_: None)
            every = suited(plain, FACTS)
            silent += len(able.silent)

            assert not every.silent
            assert {*able.telling, *able.among(able.silent)} == set(every.telling)
            assert reach(asked, able) == reach(plain, every)
            assert list(measured(asked, FACTS, able)) == list(measured(plain, FACTS, every))
            for item in every.telling:
                for widely in (False, True):
                    said = weighing._covered(asked, item, widely=widely)
                    assert said == weighing._covered(plain, item, widely=widely)

    assert silent > 20


def values(text, kinds):
    """The typed values of a text that was said in March 2026."""
    said_at = int(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp() * 1e6)
    turn = SaidTurn(1, text, "Ana", said_at, 0, False, cut_all([text])[0])
    return [item.value for item in of_turns([turn], frozenset(kinds))]


def test_a_value_is_told_whole():
    """Days from and to, the number of a house; a rate is no time that passes, and a spot ends before the verb."""
    assert values("The library is shut from 3 to 9 May.", {"date"}) == ["3 to 9 May 2026"]
    assert values("We are shut from 28 May to 2 June.", {"date"}) == ["28 May 2026 to 2 June 2026"]
    assert values("The archive moved to 14 Mill Lane.", {"place"}) == ["14 Mill Lane"]
    assert values("It costs 80 euros a year.", {"duration"}) == []
    assert values("It took a year.", {"duration"}) == ["a year"]
    assert values("The scanner in the office is slow.", {"spot"}) == ["the office"]


def around(node, start, end, slot="works_at", withdrawn=False, said_at=None):
    """A fact of Ana's that was said by turn 7."""
    return FactAround(
        node, 1, "Ana", slot, "works at", 0, "Norvia", "text", False, True, start, end, 0, "day",
        "Ana works at Norvia", 7, (0, 10), start if said_at is None else said_at, 0, node, withdrawn, f"{node:02x}",
    )  # fmt: skip


def test_what_is_kept_of_a_fact_is_what_would_be_made_of_it():
    """At any moment, before and after a fact begins and ends, beside its turn, and where the fact is told otherwise."""
    day = 86_400_000_000
    first = [around(1, 2 * day, 5 * day), around(2, 3 * day, FOREVER), around(3, 0, 4 * day, "was lives_in")]
    first += [around(4, 5 * day, FOREVER, "is|at", said_at=2 * day)]
    again = [
        first[0],
        first[3],
        around(2, 3 * day, 4 * day),
        around(3, 0, 4 * day, "was lives_in", withdrawn=True),
    ]
    turn = {7: SaidTurn(7, "I work at Norvia.", "Ana", day, 0, False, cut_all(["I work at Norvia."])[0])}
    kept, states = {}, set()
    for facts, now in itertools.product((first, again, first), (0, 2 * day, 3 * day, 4 * day, 5 * day, day)):
        for turns, but in itertools.product(({}, turn), ((), {"ana"})):
            items = list(of_facts(facts, turns, now, but, kept))
            states |= {item.state for item in items}

            assert items == list(of_facts(facts, turns, now, but))
    assert states == {"holds", "over", "ahead", "later", "passed", "withdrawn"}
