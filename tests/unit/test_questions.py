"""Questions are read once: what they want, of whom, in which relation, of which time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldline.reading import parser
from worldline.reading.questions import Question, read_question

ASKED = datetime(2026, 5, 1, tzinfo=UTC)


def read(text: str) -> Question:
    """A question as it is understood."""
    found = read_question(text, ASKED)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("Who trains the puppies?", "name"),
        ("What about the lighthouse?", "about"),
        ("And how about Wanda?", "about"),
        ("What about the lighthouse is so odd?", "thing"),
        ("Where does Wanda park her van?", "place"),
        ("When does the choir leave for Ghent?", "date"),
        ("What time does the ferry leave?", "clock"),
        ("On which days of the week is the pool open?", "weekday"),
        ("How long is the probation?", "length"),
        ("How many hours a week does Timo work?", "duration"),
        ("How much does the parking permit cost?", "money"),
        ("How much flour goes in?", "amount"),
        ("What is the price of the permit?", "money"),
        ("How many chairs do we need?", "count"),
        ("How old is Greta?", "age"),
        ("How often do the bins get emptied?", "frequency"),
        ("Which town is Greta from?", "place"),
        ("What is the dog called?", "name"),
        ("What's Ottilie's date of birth?", "date"),
        ("Which phone does Timo have?", "thing"),
        ("Does Timo smoke?", "yesno"),
        ("Why did Timo leave?", "reason"),
        ("Which came first, the flood or the fire?", "order"),
    ],
)
def test_the_kind_of_answer_follows_from_the_words_that_ask(text, wants):
    """A date is never looked for where a person is asked for."""
    assert read(text).wants == wants


@pytest.mark.parametrize(
    ("text", "family", "role"),
    [
        ("Where is Wanda based these days?", "lives_in", "O"),
        ("Who employs Timo?", "works_at", "O"),
        ("Who does Timo work for?", "works_at", "O"),
        ("Who is Greta's landlord?", "landlord", "O"),
        ("What does Ottilie do for a living?", "works_as", "O"),
        ("Who is Wanda married to?", "married_to", "O"),
        ("Where was Timo born?", "born_in", "O"),
    ],
)
def test_a_question_meets_the_families_that_statements_fall_into(text, family, role):
    """The gap of the question is one end of the relation."""
    assert (family, role) in {(ask.family.name, ask.role) for ask in read(text).asks}


def test_owners_and_roles_are_a_chain():
    """ "Greta's brother's boss" is counted from Greta, "my flatmate" from the one who asks."""
    (whose,) = read("Where does Greta's brother's boss live?").whose
    assert (whose.name, whose.roles) == ("Greta", ("brother", "boss"))
    (mine,) = read("What does my flatmate study?").whose
    assert (mine.name, mine.roles) == ("", ("flatmate",))
    assert read("In which city does the sister of Timo live?").whose[0].roles == ("sister",)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("Where does Timo live now?", "now"),
        ("Where did Timo live before?", "former"),
        ("Where did Timo use to live, originally?", "former"),
        ("What was the fee in January?", "at"),
        ("Who drove the bus?", "past"),
    ],
)
def test_the_time_that_is_asked_about(text, mode):
    """Now, what was before, a date, or something that happened."""
    assert read(text).mode == mode


def test_a_name_behind_before_is_not_asked_about():
    """ "before Timo" tells who is not meant."""
    found = read("Who ran the kiosk before Timo?")
    assert (found.names, found.apart) == ((), ("Timo",))


def test_spelling_and_capitals_do_not_matter_much():
    """A hurried question is read like a careful one."""
    assert read("whats the name of my bank").wants == "name"
    assert read("wen does the lease end").wants == "date"


def test_without_the_parser_nothing_is_read(monkeypatch):
    """No parser, no reading."""
    monkeypatch.setattr(parser, "_pipeline", lambda: None)
    assert read_question("Where does Timo live?", ASKED) is None
