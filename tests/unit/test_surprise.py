"""Fingerprints of facts, and how much of a text was new."""

from __future__ import annotations

import pytest

from worldline.rules.describe import fingerprints, surprise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The rent is 950 euros.", "950"),
        ("We met Okonkwo there.", "okonkwo"),
        ("They got married.", "marri"),
        ("A zephyr is a wind.", "zephyr"),
        ("So I quit.", "quit"),
    ],
)
def test_what_facts_hang_on(text, expected):
    """Numbers, names, event words, definitions and update verbs are fingerprints."""
    assert expected in fingerprints(text).tokens


def test_small_talk_has_none():
    """A text without facts has no fingerprints and hardly any surprise."""
    mark = fingerprints("ok, sounds good to me")
    assert not mark.tokens
    assert surprise(mark, ()) < 0.05


def test_new_is_more_surprising_than_known():
    """The share of new tokens carries most of the value, which stays between 0 and 1."""
    mark = fingerprints("I moved to Porto with Ana on 3 May 2024 and bought a flat for 250000 euros there.")
    known, half, new = surprise(mark, ()), surprise(mark, list(mark.tokens)[:3]), surprise(mark, mark.tokens)
    assert 0 <= known < half < new <= 1
    assert new - known > 0.7


def test_updates_are_noticed():
    """A change of something known is told from a bare statement."""
    assert fingerprints("I no longer work at Acme.").updates
    assert not fingerprints("I work at Acme.").updates
