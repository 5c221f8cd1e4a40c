"""Random histories against the brute-force oracle, at every (valid, known) point."""

from __future__ import annotations

from hypothesis import example, given, settings

from laws.harness import Pair, histories

TO_COME = [
    ("put", "a", "", "n1", "c0", 0), ("amend", "a", 0, "c1", 10), ("amend", "a", 0, "c2", 20),
    ("retire", "a", 0, 10), ("undo", "a", 12), ("retire", "a", 0, 15),
]  # fmt: skip
"""Retired as a version begins, and while another one is still to begin: that one is given up."""


@given(histories)
@example(TO_COME)
@settings(max_examples=40)
def test_every_read_agrees_with_the_oracle(history):
    """Whatever was put, amended, corrected, retired, linked and undone, each read agrees."""
    pair = Pair()
    for op in history:
        pair.apply(op)
    pair.check()
    pair.memory.close()
