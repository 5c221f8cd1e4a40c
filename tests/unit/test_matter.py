"""How likely a message ends a held fact: what speaks for it, and what a close reading of both makes of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from worldline import FOREVER, Config, Memory
from worldline.ports import Bearing
from worldline.reading.read import read
from worldline.rules import changes, matter
from worldline.rules.slots import HeldValue
from worldline.text import tokens


def around(subject: str, phrase: str, value: str) -> matter.Around:
    """A fact that Ana told."""
    held = HeldValue("1", phrase, value, phrase=phrase, teller="Ana", said="We rehearse in the annexe.")
    (fact,) = matter.around_each([(held, subject)], "Ana")
    return fact


def said(text: str) -> matter.ToldSentence:
    """A message by Ana."""
    reading = read(text, "Ana")
    return matter.told_in(reading, text)[0]


def test_what_tells_of_a_change_and_is_brief_speaks_for_an_end() -> None:
    """Before anything is read beside each other."""
    moved = said("Since today the choir rehearses in the library instead.")

    assert matter.odds(moved) > matter.odds(said("The choir sang in the library."))
    assert matter.odds(moved) > matter.odds(said(f"{moved.text} {'The lake was quiet and green. ' * 8}"))
    assert (
        matter.of_change(tokens("Since today it is cancelled."))
        > 0.5
        > matter.of_change(tokens("It might be."))
    )


def test_a_reading_decides() -> None:
    """It ends what no rule knows, and keeps what a rule would end; rules decide where nothing reads."""
    fact, text = around("choir", "rehearses in", "annexe"), said("The choir has the library instead.")
    asked: list[tuple[list[str], str]] = []

    def over(odds: float | None) -> matter.Beside:
        def reads(ways: Sequence[str], text: str) -> Bearing | None:
            asked.append((list(ways), text))
            return None if odds is None else Bearing(odds, -9.0, -9.0)

        return reads

    assert matter.is_over(text, fact, over(5.0), by_rule=False)
    assert not matter.is_over(text, fact, over(-5.0), by_rule=False)
    assert not matter.is_over(text, fact, over(-5.0), by_rule=True)
    assert matter.is_over(text, fact, over(None), by_rule=True)
    assert not matter.is_over(text, fact, over(None), by_rule=False)
    assert asked == 5 * [(["choir rehearses in annexe", "We rehearse in the annexe."], text.text)]


def test_nothing_is_read_where_it_cannot_decide() -> None:
    """What says that something comes besides, and what is about many a matter and of no change."""
    assert said("The choir has the library instead.").decides
    assert not said("The choir also has the library.").decides
    assert not said("The lake was quiet and green. " * 9).decides


def test_what_was_told_in_one_breath_is_over_only_if_it_speaks_of_the_same() -> None:
    """A message is about one matter: it ends the fact that reads most likely over, and no other one by the way."""
    breath = "We rehearse in the annexe with Milo, and the rent is 980."
    parts = (("choir", "rehearses in", "annexe"), ("choir", "rehearses with", "Milo"), ("rent", "is", "980"))
    held = [
        HeldValue(str(at), phrase, value, phrase=phrase, teller="Ana", said=breath)
        for at, (_, phrase, value) in enumerate(parts)
    ]
    facts = matter.around_each([(one, name) for one, (name, *_) in zip(held, parts, strict=True)], "Ana")
    text = said("The choir has the library instead.")

    def reads(ways: Sequence[str], _: str) -> Bearing | None:
        return Bearing(5.0 if "annexe" in ways[0] else 4.0, -9.0, -9.0)

    assert [fact.held.object for fact in changes.of_one_matter(text, facts, reads)] == ["annexe", "Milo"]
    assert changes.of_one_matter(text, facts, lambda *_: Bearing(-9.0, -9.0, -9.0)) == []


def told(*texts: str) -> list[str]:
    """What the receipts say to be over after all of these."""
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        done = [
            memory.remember(text, speaker="Ana", said_at=f"2026-0{at + 1}-01")
            for at, text in enumerate(texts)
        ]
    return [change for receipt in done[1:] for change in receipt.changes if ": ends, " in change]


@pytest.mark.usefixtures("closer")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The night shift is run by Omar.",
            "Omar has left us for the harbour. The night shift is Ida's as of today.",
        ),
        (
            "The choir rehearses in the annexe.",
            "The annexe is full of boxes since today, the choir has the library instead.",
        ),
    ],
)
def test_what_no_rule_knows_may_be_most_likely_over(first: str, second: str) -> None:
    """The receipt says that it was weighed."""
    (over,) = told(first, second)
    assert over.endswith("ends, the text most likely tells of a change in this matter")


@pytest.mark.usefixtures("closer")
def test_of_a_long_message_the_sentence_is_read() -> None:
    """What the end of a long message says is over, however much else stands before it."""
    much = "The lake was quiet and green, and we had bread with cheese on the pier. " * 8

    assert told("My left arm is in a cast.", f"{much}The cast came off.") == [
        "Ana's left arm is in cast: ends, the text names it and speaks of a change"
    ]


@pytest.mark.usefixtures("closer")
def test_an_end_need_not_share_a_word_with_what_ends() -> None:
    """Who tells of a change soon after does so in words of her own."""
    assert told(
        "Our product is called Paketpilot.",
        "We lost the trademark fight, so from Monday it goes by Sendestern.",
    )


def test_without_a_close_reader_nothing_is_weighed() -> None:
    """Where no cross-encoder is installed or wanted, rules alone end facts."""
    with Memory.open(":memory:", Config(embedder="none", reranker="none")) as memory:
        memory.remember("The choir rehearses in the annexe.", speaker="Ana")
        memory.remember(
            "The annexe is full of boxes since today, the choir has the library instead.", speaker="Ana"
        )
        assert [hit.valid.end for hit in memory.list("Fact").items if "rehearses" in hit.content] == [FOREVER]


@pytest.mark.usefixtures("closer")
@pytest.mark.parametrize(
    "text",
    [
        "Tom had made a sign, and it changed everything.",
        "My sister's crane inspection is still in bay 4.",
        "Have they moved the crane inspection?",
        "There was a long meeting about cranes, ladders, ropes, hooks, chains, nets, wires, bolts, nuts, belts, gloves,"
        " boots and the inspection that was changed.",
    ],
)
def test_what_only_sounds_like_it_ends_nothing(text: str) -> None:
    """Another matter, somebody else's thing, a question, and a message about many things."""
    assert told("The crane inspection is in bay 4.", text) == []


def withdrawn(*texts: str) -> list[str]:
    """What the last of these takes back."""
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        done = [
            memory.remember(text, speaker="Ana", said_at=f"2026-01-0{n + 1}") for n, text in enumerate(texts)
        ]
    return [change.partition(":")[0] for change in done[-1].changes if ": ends, it was wrong" in change]


@pytest.mark.usefixtures("closer")
def test_a_correction_takes_back_what_it_most_likely_means() -> None:
    """One fact of those that share words with it, and none where it speaks of something else."""
    barrel, barn = "The barrel in the yard holds cider.", "The barn in the yard is full of hay."

    assert withdrawn(barrel, barn, "My mistake about the barrel in the yard: vinegar, all of it.") == [
        "barrel in the yard holds cider"
    ]
    assert withdrawn(barrel, barn, "I was wrong about the weather, there was no rain at all.") == []


@pytest.mark.usefixtures("closer")
@pytest.mark.parametrize(
    ("first", "second", "wrong"),
    [
        (
            "The vat holds 300 litres.",
            "Checked the plate on the vat, it says 250 litres, I had been guessing.",
            "vat holds 300 litres",
        ),
        (
            "Our landlord is Mr Costa.",
            "Our landlord is Mr Castro, that was autocorrect.",
            "Ana's landlord is Mr Costa",
        ),
    ],
)
def test_a_slip_is_taken_back_without_a_word_of_correction(first: str, second: str, wrong: str) -> None:
    """Where no wording of a rule says so: what was wrong never held, whichever day is asked about."""
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        memory.remember(first, speaker="Ana", said_at="2026-01-01")
        memory.remember(second, speaker="Ana", said_at="2026-02-01")

        assert wrong not in {fact.content for fact in memory.at(valid="2026-01-15").list("Fact").items}


def test_of_two_facts_the_likelier_slip_is_taken_back_and_none_is_where_neither_is() -> None:
    """What reads as a change is none."""
    one, other = around("choir", "rehearses in", "annexe"), around("choir", "sings in", "church")
    sentence = said("The choir rehearses in the attic, my mistake.")

    def beside(slips: dict[str, float]) -> matter.Beside:
        return lambda ways, text: Bearing(9.0, slips[ways[0]], -9.0)

    def meant(*wrong: float) -> matter.Around | None:
        slips = dict(zip(("choir rehearses in annexe", "choir sings in church"), wrong, strict=True))
        return matter.likely_meant([(sentence, one), (sentence, other)], beside(slips))

    assert meant(6.0, 4.0) is one
    assert meant(4.0, 6.0) is other
    assert meant(-9.0, -9.0) is None
    assert matter.likely_meant([(sentence, one)], lambda ways, text: None) is None


def conflicts(first: str, second: str, other: str = "Bo") -> list[set[str]]:
    """What is at odds after Ana has said the one thing and somebody the other."""
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        memory.remember(first, speaker="Ana", said_at="2026-01-01")
        memory.remember(second, speaker=other, said_at="2026-01-02")
        assert memory.verify().ok
        return [{side.node.content for side in each.sides} for each in memory.conflicts()]


FROZEN = "The lake was frozen over on Sunday."
NO_ICE = "There was not a bit of ice on the lake on Sunday."


@pytest.mark.usefixtures("closer")
def test_two_who_disagree_in_words_that_no_rule_compares_contradict() -> None:
    """Facts of one thing if both told one, else the words; and both stay."""
    assert conflicts(FROZEN, NO_ICE) == [{FROZEN, NO_ICE}]


@pytest.mark.usefixtures("closer")
def test_what_is_said_besides_or_since_or_by_the_same_person_is_no_disagreement() -> None:
    """Nor what each says of himself, what is asked, and what an assistant says."""
    assert conflicts(FROZEN, "The lake is ten minutes from the station.") == []
    assert conflicts("The choir rehearses in the annexe.", "The choir has moved to the library.") == []
    assert conflicts(FROZEN, NO_ICE, other="Ana") == []
    assert conflicts(FROZEN, NO_ICE, other="assistant") == []
    assert conflicts(FROZEN, "Was there really ice on the lake on Sunday?") == []
    assert conflicts("My tea is green.", "My tea is black.") == []


def test_who_asks_or_speaks_of_himself_contradicts_nobody() -> None:
    """Before anything is read."""
    assert matter.may_clash("The tower is forty metres high.", "That tower is thirty metres at most.")
    assert not matter.may_clash("The tower is forty metres high.", "Is the tower not thirty metres high?")
    assert not matter.may_clash("I live in Oslo.", "I'm from Bergen.")


def test_facts_at_odds_are_those_that_speak_of_one_thing() -> None:
    """By the words that they share; those of the same value agree."""

    def drawn(row: int, subject: str, phrase: str, value: str) -> matter.Drawn:
        return row, HeldValue(str(row), phrase, value, phrase=phrase, teller="Ana"), subject

    tower, boat = drawn(1, "tower", "is high", "40 m"), drawn(2, "boat", "is called", "Marlin")
    assert matter.of_one_thing([tower, boat], [drawn(3, "boat", "is called", "Merlin")]) == (2, 3)
    assert matter.of_one_thing([tower], [drawn(3, "tower", "is high", "40 m")]) is None
    assert matter.of_one_thing([tower], [boat]) is None
