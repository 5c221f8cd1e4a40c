"""Summaries by rules: what sentences cover, what that is worth, and which are chosen."""

from __future__ import annotations

from worldline.clock import instant
from worldline.rules.gathering import CoverageSource, Sentence, budget, choose, cut, recurring, worth

AT = instant("2025-03-10")


def _said(text: str, event: int = 1, own: bool = True) -> CoverageSource:
    return CoverageSource(event, text, AT, "Ana", own)


def _sentence(event: int, covers: set[str], tokens: int = 10, prior: float = 1.0) -> Sentence:
    return Sentence(event, 0, 9, tokens, frozenset(covers), prior)


def test_sentences_know_where_they_stand() -> None:
    """The offsets of a sentence give its very words back."""
    text = "Marta repaired the engine of the boat. The harbour master praised her work!"
    pieces = [text[s.start : s.end] for s in cut([_said(text)])]
    assert pieces == ["Marta repaired the engine of the boat.", "The harbour master praised her work!"]


def test_what_says_nothing_is_left_out() -> None:
    """Numbers of a list and pleasantries are no sentences of a summary."""
    assert cut([_said("1.\nOkay, thanks!\nSure.")]) == []


def test_a_date_is_covered_as_the_day_it_means() -> None:
    """Two ways of naming one day cover the same thing."""
    one, other = cut(
        [_said("The old engine stopped on 7 March."), _said("The old engine stopped last Friday.", 2)]
    )
    assert len({item for item in one.covers & other.covers if item.startswith("@")}) == 1


def test_only_what_recurs_is_worth_something_and_names_more() -> None:
    """A term of one text alone weighs nothing; a name weighs more than a word as frequent."""
    sources = [_said("Then Marta painted the cabin.", 1), _said("So Marta painted the mast.", 2)]
    found = worth(sources, recurring(cut(sources)), {})
    assert "cabin" not in found
    assert found["marta"] > found["paint"] > 0


def test_coverage_counts_once() -> None:
    """The second sentence about the same thing gives way to one about another."""
    said = [_sentence(1, {"boat", "sail"}), _sentence(2, {"boat", "sail"}), _sentence(3, {"soil"})]
    weights = {"boat": 3.0, "sail": 2.0, "soil": 1.0}
    assert [s.event for s in choose(said, weights, 20)] == [1, 3]


def test_the_budget_is_kept_and_short_sentences_are_no_bargain() -> None:
    """What does not fit is left out, and what fits behind it is taken."""
    said = [_sentence(1, {"boat"}, 30), _sentence(2, {"soil"}, 8), _sentence(3, {"mast"}, 8)]
    chosen = choose(said, {"boat": 9.0, "soil": 2.0, "mast": 1.0}, 20)
    assert [s.event for s in chosen] == [2, 3]
    assert choose(said, {}, 100) == []


def test_people_and_beginnings_come_first() -> None:
    """Of equal sentences the earlier one is chosen, and somebody's own words before an assistant's."""
    text = "The engine of the boat needs a new pump."
    said = cut([_said(text, 1, own=False), _said(text, 2), _said(text, 3)])
    chosen = choose(said, worth([_said(text, n) for n in (1, 2, 3)], recurring(said), {}), 12)
    assert [s.event for s in chosen] == [2]


def test_a_summary_grows_ever_more_slowly() -> None:
    """Four texts get a few sentences; a hundred times as many get ten times as much, within a limit."""
    assert budget(4) == 60
    assert budget(400) == 600 == 10 * budget(4)
    assert budget(10_000) == 3000 == budget(1_000_000)
