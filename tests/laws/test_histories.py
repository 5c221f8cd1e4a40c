"""Random histories against the brute-force oracle, at every (valid, known) point."""

from __future__ import annotations

from hypothesis import given, settings

from laws.harness import Pair, histories


@given(histories)
@settings(max_examples=40)
def test_every_read_agrees_with_the_oracle(history):
    """Whatever was put, amended, corrected, retired, linked and undone, each read agrees."""
    pair = Pair()
    for op in history:
        pair.apply(op)
    pair.check()
    pair.memory.close()
