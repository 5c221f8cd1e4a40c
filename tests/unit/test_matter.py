"""How likely a message ends a held fact: a change and the same matter are needed, and neither alone is enough."""

from __future__ import annotations

from collections import Counter

import pytest

from worldline import FOREVER, Config, Memory
from worldline.reading.read import read
from worldline.rules import matter
from worldline.rules.slots import HeldValue
from worldline.text import tokens


def chances(text: str, subject: str, phrase: str, value: str) -> tuple[float, float]:
    """How likely a message tells of a change, and how likely it speaks of the matter of a fact."""
    fact = matter.around_each([(HeldValue("1", phrase, value, phrase=phrase, teller="Ana"), subject)], "Ana")[
        0
    ]
    reading = read(text, "Ana")
    told = matter.sentence_in(text, reading.cues, reading.claims)
    change, same = matter.measures(told, fact, Counter(fact.key_words))
    return matter.chance(change, matter.CHANGE), matter.chance(same, matter.MATTER)


def test_both_chances_are_of_what_they_say() -> None:
    """A change in something else has little of the matter, and a word about the thing little of a change."""
    moved, tools = chances("We gave up the tool shed by the river.", "tool shed", "is by", "river")
    other, garden = chances("We gave up the allotment.", "tool shed", "is by", "river")
    plain, again = chances("The tool shed by the river is green.", "tool shed", "is by", "river")
    assert min(moved, other) > plain
    assert tools > garden
    assert again > garden


def test_every_measure_has_its_weight() -> None:
    """Tables and measures belong together, and words of change are known."""
    fact = matter.around_each([(HeldValue("1", "is", "x", teller="Ana"), "shed")], "Ana")[0]
    change, same = matter.measures(matter.sentence_in("Hm.", read("Hm.", "Ana").cues, ()), fact, Counter())
    assert change.keys() == matter.CHANGE.keys()
    assert same.keys() | {"closeness"} == matter.MATTER.keys()
    assert (
        matter.of_change(tokens("Since today it is cancelled."))
        > 0.5
        > matter.of_change(tokens("It might be."))
    )


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
