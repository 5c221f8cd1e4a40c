"""Topics: which terms are a subject, where talk moves on, and what belongs together."""

from __future__ import annotations

from collections import Counter

from worldline.rules import TURNS
from worldline.rules.gathering import (
    REACH,
    Topic,
    TopicStretch,
    TopicTurn,
    gather,
    likeness,
    names_in,
    related,
    stretches,
    subjects,
    weighed,
)

BOAT = {"boat": 3.0, "sail": 2.0, "engin": 2.0, "mast": 2.0, "harbour": 2.0, "rope": 1.0}
GARDEN = {"tomato": 3.0, "soil": 2.0, "seed": 2.0, "compost": 2.0, "greenhous": 2.0, "bee": 1.0}


def _turns(*bags: dict[str, float], start: int = 0) -> list[TopicTurn]:
    return [TopicTurn(100 + at, 1, at, at, bag, at % 2 == 0) for at, bag in enumerate(bags, start)]


def _stretch(opens: int, at: int, terms: dict[str, float], session: int = 1) -> TopicStretch:
    return TopicStretch(session, opens, opens, opens + 1, at, terms)


def test_a_term_is_a_subject_if_it_recurs_but_is_not_everywhere() -> None:
    """What occurs once is no subject, nor what nearly every turn says, nor a day of the week."""
    counts = Counter({"boat": 3, "once": 1, "everywher": 90, "monday": 6, "12": 8})
    assert list(subjects(counts, 100)) == ["boat"]


def test_rare_subjects_weigh_more_and_names_most() -> None:
    """A rarer term is worth more; a name counts twice; an assistant's word a third."""
    worth = subjects(Counter({"boat": 3, "sail": 12, "marta": 12}), 100)
    own = weighed(["boat", "sail", "marta"], worth, frozenset({"marta"}), True)
    assert own["boat"] > own["sail"]
    assert own["marta"] == 2 * own["sail"]
    assert weighed(["sail"], worth, frozenset(), False)["sail"] < own["sail"] / 2


def test_names_are_what_is_capitalised_inside_a_sentence() -> None:
    """The first word of a sentence is no name by its capital alone."""
    assert names_in("Yesterday I met Marta in Porto. Then home.") == {"marta", "porto"}


def test_talk_is_cut_where_it_moves_on() -> None:
    """Turns about one thing are one stretch, an answer stays with its question, the next thing begins another."""
    cut = stretches(_turns(BOAT, BOAT, BOAT, BOAT, GARDEN, GARDEN))
    assert [(s.start, s.end) for s in cut] == [(0, 3), (4, 5)]
    assert [s.opens for s in cut] == [100, 104]
    assert [(s.start, s.end) for s in stretches(_turns(BOAT, GARDEN))] == [(0, 1)]


def test_a_stretch_has_an_end_and_no_holes() -> None:
    """A long talk about one thing is several stretches, and what is missing between turns parts them."""
    cut = stretches(_turns(*[BOAT] * (TURNS + 2)))
    assert [s.end - s.start + 1 for s in cut] == [TURNS, 2]
    holed = _turns(BOAT, BOAT) + _turns(BOAT, BOAT, start=6)
    assert [(s.start, s.end) for s in stretches(holed)] == [(0, 1), (6, 7)]


def test_more_turns_do_not_move_earlier_cuts() -> None:
    """A cut depends on what came before it only, so a session that grows keeps its stretches."""
    turns = _turns(BOAT, BOAT, GARDEN, GARDEN, BOAT, BOAT, GARDEN, GARDEN)
    whole = [(s.start, s.end) for s in stretches(turns)]
    for length in range(1, len(turns)):
        part = [(s.start, s.end) for s in stretches(turns[:length])]
        assert part[:-1] == whole[: len(part) - 1]


def test_like_stretches_gather_and_others_stay_apart() -> None:
    """Stretches of different sessions about one thing are one topic, whatever order they come in."""
    found = [_stretch(1, 5, BOAT), _stretch(9, 7, GARDEN, 2), _stretch(5, 6, BOAT, 3)]
    for order in (found, found[::-1]):
        assert [[s.opens for s in t.members] for t in gather(order, ())] == [[1, 5], [9]]


def test_a_known_topic_takes_in_what_is_like_it() -> None:
    """A stored topic keeps its number and gets the new stretch as a member."""
    known = Topic(77, dict(BOAT), 1, 2, [])
    topics = gather([_stretch(1, 5, BOAT), _stretch(3, 6, GARDEN)], [known])
    assert [(t.line, len(t.members)) for t in topics] == [(77, 1), (0, 1)]
    assert (topics[0].first, topics[0].last) == (1, 5)


def test_what_comes_long_after_opens_a_new_topic_that_is_related() -> None:
    """The window slides: an old topic takes nothing in any more, but the way from it to the new one is there."""
    topics = gather([_stretch(1, 0, BOAT), _stretch(3, REACH + 1, BOAT)], ())
    assert [len(t.members) for t in topics] == [1, 1]
    [(other, shared)] = related(topics[1], topics, 3)
    assert other is topics[0]
    assert shared[0] == "boat"


def test_likeness_is_a_cosine() -> None:
    """The same bag is wholly alike, bags without a shared term are not at all."""
    assert abs(likeness(BOAT, dict(BOAT)) - 1) < 1e-9
    assert likeness(BOAT, GARDEN) == 0.0 == likeness({}, BOAT)
