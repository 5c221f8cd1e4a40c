"""How strength fades and grows: pure arithmetic."""

from __future__ import annotations

import pytest

from worldline.clock import FOREVER
from worldline.config import Config
from worldline.rules.describe import DAY, Strength, cold_at, effective, is_lasting, standing, starting, used

RATE, BELOW = Config().decay_rate, Config().cold_below


def days(judged: float | None) -> float:
    """For how long something lasts that nobody uses."""
    return cold_at(Strength(starting(judged), 0), RATE, BELOW) / DAY


def test_defaults_keep_a_year():
    """An ordinary text goes cold after about a year, chatter after a few months, a promise later."""
    assert 340 < days(None) < 400
    assert 340 < days(0.5) < 400
    assert 60 < days(0.02) <= days(0.05) < 150
    assert days(0.8) > days(0.5) > days(0.2) > days(0.05)


@pytest.mark.parametrize("salience", [0.25, 0.5, 1.0])
def test_the_crossing_is_where_the_curve_meets_the_threshold(salience):
    """The precomputed moment is the one at which the effective salience falls below the threshold."""
    strength = Strength(salience, 1000)
    moment = cold_at(strength, RATE, BELOW)
    assert effective(strength, moment - DAY, RATE) > BELOW
    assert effective(strength, moment + DAY, RATE) < BELOW


def test_without_decay_nothing_goes_cold():
    """A rate of zero switches decay off; a threshold of zero too."""
    assert cold_at(Strength(0.5, 0), 0.0, BELOW) == FOREVER
    assert cold_at(Strength(0.5, 0), RATE, 0.0) == FOREVER


def test_uses_reinforce():
    """Being shown starts the clock anew, useful also raises, wrong lowers and does not refresh."""
    fresh = Strength(0.5, 0)
    shown, useful, wrong = (used(fresh, kind, 10 * DAY) for kind in ("shown", "useful", "wrong"))
    assert (shown.reinforced_at, shown.salience, shown.uses) == (10 * DAY, 0.5, 1)
    assert (useful.reinforced_at, useful.useful) == (10 * DAY, 1)
    assert useful.salience > 0.5 > wrong.salience
    assert (wrong.reinforced_at, wrong.wrong) == (0, 1)


def test_late_news_of_an_early_use_does_not_turn_the_clock_back():
    """Uses may be folded in any order."""
    assert used(used(Strength(0.5, 0), "shown", 9 * DAY), "shown", 3 * DAY).reinforced_at == 9 * DAY


def test_what_was_never_used_counts_nothing_in_recall():
    """The factor is zero without use, bounded with it, negative after complaints, and fades."""
    fresh = Strength(0.5, 0)
    often = fresh
    for _ in range(50):
        often = used(often, "shown", 0)
    assert standing(fresh, 0, RATE) == 0
    assert standing(often, 0, RATE) == pytest.approx(0.3)
    assert standing(used(often, "useful", 0), 0, RATE) == pytest.approx(0.8)
    assert standing(used(fresh, "wrong", 0), 0, RATE) < 0
    assert 0 < standing(often, 700 * DAY, RATE) < 0.1


def test_identity_and_preference_last():
    """Predicates that say who somebody is or what they like are told from passing events."""
    lasting = (
        "live in",
        "work as",
        "name",
        "allergic to",
        "favourite food",
        "prefer",
        "wife",
        "birthday",
        "likes",
    )
    passing = ("bought", "visited", "is planning", "paid", "met")
    assert all(map(is_lasting, lasting))
    assert not any(map(is_lasting, passing))
