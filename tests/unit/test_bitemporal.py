"""Where a fact goes in its slot, case by case; and tightening."""

from __future__ import annotations

import pytest

from worldline.clock import FOREVER, Interval
from worldline.model import Belief, Close, FactRow, Put, Refuse
from worldline.rules.handlers import place_fact, restore, supersede, tighten, visible


def belief(start: int, end: int = FOREVER, row: int = 1) -> Belief:
    """A current belief."""
    return Belief(row, row, Interval(start, end), Interval(0))


def other(start: int, end: int = FOREVER, row: int = 9) -> FactRow:
    """A fact with another object in the slot."""
    return FactRow(row, 1, "lives in", 5, None, belief(start, end, row))


def place(slot=(), same=(), new=Interval(10), functional=True, stated=True):
    """Places a fact that holds from 10 on."""
    return place_fact(list(slot), list(same), new, functional=functional, stated=stated)


def test_the_first_fact_of_a_slot_holds_as_it_says():
    """Nothing to close, nothing to contradict."""
    assert place() == (Interval(10), [], [])


def test_a_newer_object_ends_the_older_one_where_it_begins():
    """Same subject and functional predicate with another object supersedes."""
    old = other(0)
    assert place([old]) == (Interval(10), [Close(old.belief, valid_to=10)], [])


def test_an_older_fact_learned_late_ends_at_its_successor():
    """A slot is ordered by valid time, not by arrival; the successor is not touched."""
    assert place([other(20)]) == (Interval(10, 20), [], [])


def test_a_fact_learned_late_closes_only_its_predecessor():
    """Between two others it ends the one before and ends at the one after."""
    before, after = other(0, 20, 1), other(20, FOREVER, 2)
    assert place([before, after]) == (Interval(10, 20), [Close(before.belief, valid_to=10)], [])


def test_what_was_over_already_is_not_touched():
    """A gap stays a gap."""
    assert place([other(0, 5)]) == (Interval(10), [], [])


def test_equal_starts_are_a_contradiction():
    """Neither closes the other; both stay, and the conflict is told."""
    rival = other(10)
    assert place([rival]) == (Interval(10), [], [rival])


def test_a_repetition_moves_nothing():
    """The same object said again, without a new start, adds evidence only."""
    assert place(same=[belief(0)], stated=False) == (None, [], [])
    assert place(same=[belief(10)]) == (None, [], [])


def test_a_stated_later_start_revises():
    """The old belief is given up on the known axis; its end is kept."""
    old = belief(0, 50)
    assert place(same=[old]) == (Interval(10, 50), [Close(old)], [])


def test_a_closed_payload_said_again_opens_a_disjoint_interval():
    """What held until 5 holds again from 10."""
    assert place(same=[belief(0, 5)], stated=False) == (Interval(10), [], [])


def test_an_earlier_start_adds_only_what_is_missing():
    """It ends where the interval that is known already begins."""
    assert place(same=[belief(20)]) == (Interval(10, 20), [], [])


def test_many_objects_live_side_by_side():
    """A predicate that is not functional closes and contradicts nothing."""
    assert place([other(0), other(10)], functional=False) == (Interval(10), [], [])


def test_tightening_only_ever_shortens():
    """An end may come closer, never move away."""
    assert tighten(belief(0), 10) == Close(belief(0), valid_to=10)
    assert tighten(belief(0, 10), 10) is None
    assert tighten(belief(0, 5), 10) is None


def test_supersession_closes_what_holds_then():
    """Only the belief that holds at that moment is ended; earlier and later ones stay."""
    now = belief(5, 20, 2)
    assert supersede([belief(0, 3, 1), now, belief(30, row=3)], 10) == [Close(now, valid_to=10)]
    assert supersede([belief(0, 3)], 10) == []


@pytest.mark.parametrize("start", [10, 11])
def test_supersession_at_or_before_the_start_is_refused(start):
    """Then it was never true, and the advice is to use correct."""
    (refusal,) = supersede([belief(start)], 10)
    assert isinstance(refusal, Refuse)
    assert "correct" in refusal.reason


def test_restoring_gives_the_former_interval_back_as_a_new_belief():
    """Only the belief that was cut there is touched."""
    cut = belief(0, 10)
    first, second = restore([cut, belief(20, row=2)], 10, Interval(0, 50))
    assert first == Close(cut)
    assert isinstance(second, Put)
    assert second.reopen.valid == Interval(0, 50)
    assert restore([belief(0, 9)], 10, Interval(0, 50)) == []


@pytest.mark.parametrize(
    ("valid", "known", "seen"),
    [(0, 5, True), (9, 5, True), (10, 5, False), (-1, 5, False), (5, 4, False), (5, 8, True), (5, 9, False)],
)
def test_visibility_at_the_closing_instants(valid, known, seen):
    """At the exact end a row is gone on either axis; one tick before, it is there."""
    assert visible(Interval(0, 10), Interval(5, 9), valid, known) is seen
