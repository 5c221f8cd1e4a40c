"""Answers: from facts and evidence, of the right kind and person, and none where it is not sure."""

from __future__ import annotations

import pytest

from worldline import Config, Memory

NOON = "T12:00:00+01:00"


@pytest.fixture
def told():
    """Opens a store, tells it (day, speaker, text) lines, and gives it back."""
    opened = []

    def tell(*lines: tuple[str, str, str], user: str | None = None) -> Memory:
        memory = Memory.open(":memory:", Config(embedder="none", log_uses=False))
        opened.append(memory)
        mine = memory.scoped(user=user) if user else memory
        for day, speaker, text in lines:
            mine.remember(text, speaker=speaker, said_at=day + NOON)
        return mine

    yield tell
    for memory in opened:
        memory.close()


def answer(memory: Memory, question: str, day: str = "2026-05-01") -> str | None:
    """What recall answers on a day."""
    return memory.recall(question, asked_at=day + NOON).answer


HOME = (
    ("2026-03-02", "Wanda", "I live in Ghent."),
    ("2026-03-02", "Wanda", "My landlord is Mr. Peeters."),
    ("2026-03-02", "Wanda", "I pay 710 euros in rent."),
    ("2026-03-02", "Wanda", "The lease ends on 30 September 2027."),
)


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Where does Wanda live?", "Ghent"),
        ("Where do I live?", "Ghent"),
        ("Who is Wanda's landlord?", "Mr. Peeters"),
        ("How much rent do I pay?", "710 euros"),
        ("When does the lease end?", "30 September 2027"),
    ],
)
def test_single_facts_are_answered_by_kind(told, question, right):
    """A person for who, a place for where, an amount for how much, a date for when."""
    assert answer(told(*HOME), question) == right


@pytest.mark.parametrize(
    "question",
    [
        "What is Wanda's blood type?",
        "How much was the deposit?",
        "Who is Wanda's dentist?",
        "Does Wanda like Ghent?",
        "Why does Wanda pay rent?",
    ],
)
def test_what_was_never_said_is_not_answered(told, question):
    """Nor is yes or no, nor why."""
    assert answer(told(*HOME), question) is None


def test_nobody_is_answered_with_what_is_somebody_elses(told):
    """Ben's home is not Ana's."""
    memory = told(("2026-01-05", "Ben", "I live in Oslo."), ("2026-01-06", "Ana", "I love sailing."))
    assert answer(memory, "Where does Ben live?") == "Oslo"
    assert answer(memory, "Where does Ana live?") is None


def test_the_later_value_answers_and_the_former_one_when_asked_for(told):
    """A move ends the old home; the answer's proof is the fact that holds."""
    memory = told(("2026-01-05", "Timo", "I live in Bergen."), ("2026-04-01", "Timo", "I moved to Tromsø."))
    found = memory.recall("Where does Timo live now?", asked_at="2026-05-01" + NOON)
    assert found.answer == "Tromsø"
    assert [memory.get(fact).content for fact in found.proof][:1] == ["Timo lives in Tromsø"]
    assert answer(memory, "Where did Timo live before?") in ("Bergen", None)


def test_a_bound_user_is_meant_by_i(told):
    """The speaker may be called just "user"."""
    memory = told(("2026-02-01", "user", "I work at Brambles."), user="Ottilie")
    assert answer(memory, "Where do I work?") == "Brambles"


def test_as_of_another_moment_what_held_then_answers(told):
    """Looking from before the move, the old home is the answer."""
    memory = told(("2026-01-05", "Timo", "I live in Bergen."), ("2026-04-01", "Timo", "I moved to Tromsø."))
    then = memory.at(valid="2026-02-01" + NOON)
    assert then.recall("Where does Timo live?", asked_at="2026-02-01" + NOON).answer == "Bergen"


def test_roles_lead_to_people(told):
    """ "Greta's sister" is found by what is known of Greta."""
    memory = told(
        ("2026-01-05", "Greta", "My sister is called Runa."),
        ("2026-01-06", "Runa", "I work at Fjordline."),
    )
    assert answer(memory, "Who does Greta's sister work for?") == "Fjordline"


def test_an_answer_removes_the_doubt(told):
    """Where a fact answers, recall does not abstain."""
    found = told(*HOME).recall("Who is my landlord?", asked_at="2026-05-01" + NOON)
    assert found.answer == "Mr. Peeters"
    assert not found.abstained
