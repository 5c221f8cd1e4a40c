"""Ways of writing: hashed runs of characters that add up, and whose style is whose."""

import numpy as np
import pytest

from worldline.rules.gathering import SIZE, alike, counted, nearest, packed, unit, unpacked

SHY = [
    "i guess so... maybe later?",
    "hm, not sure... i'll see",
    "maybe... we could, i guess",
    "oh ok... if you like",
]
LOUD = ["YES!!! Let's GO!!!", "That is SO great!!!", "WOW, best day EVER!!!", "I LOVE it!!! Let's DO it!!!"]


def total(texts: list[str]) -> np.ndarray:
    """The style of several texts together."""
    return sum((counted(text) for text in texts), np.zeros(SIZE, np.int64))


def test_a_style_has_256_numbers_and_length_one() -> None:
    """The vector is 256-dimensional and of unit length, or zero where nothing was written."""
    vector = unit(counted("Some words, plainly written."))

    assert vector.shape == (256,)
    assert float(vector @ vector) == pytest.approx(1.0)
    assert not unit(counted("")).any()
    assert not unit(np.zeros(SIZE, np.int64)).any()


def test_styles_add_up_and_can_be_taken_apart_exactly() -> None:
    """A sum minus one text is the sum of the others, to the last bit, a hundred times over."""
    rest = total(SHY[1:])
    held = total(SHY)
    for _ in range(100):
        held = held - counted(SHY[0])
        assert (held == rest).all()
        held = held + counted(SHY[0])

    assert (held == total(SHY)).all()


def test_order_of_texts_does_not_matter() -> None:
    """Style is a sum, so the order in which texts came leaves no trace."""
    assert (total(LOUD) == total(LOUD[::-1])).all()


@pytest.mark.parametrize("held_out", range(4))
def test_a_writer_is_told_by_a_text_they_did_not_see(held_out: int) -> None:
    """A text left out is nearer to its own writer than to the other one."""
    for own, other in ((SHY, LOUD), (LOUD, SHY)):
        rest = [text for at, text in enumerate(own) if at != held_out]
        found = nearest(counted(own[held_out]), [("own", total(rest)), ("other", total(other))])

        assert found is not None
        assert found[0] == "own"


def test_case_and_punctuation_count() -> None:
    """The same words in another dress are another style."""
    assert alike(counted("Let's go"), counted("LET'S GO!!!")) < 0.5
    assert alike(counted("Let's go"), counted("Let's   go\n")) == pytest.approx(1.0)


def test_bytes_round_trip() -> None:
    """A stored style is read back as it was."""
    assert (unpacked(packed(total(LOUD))) == total(LOUD)).all()


@pytest.mark.parametrize("text", ["", " ", "a", "ab", "é", "\ud800", "你好", "x" * 100_000, "👍🏽" * 3])
def test_any_text_has_a_style(text: str) -> None:
    """Nothing that can be stored breaks the counting, and the same text always counts the same."""
    assert counted(text).shape == (256,)
    assert (counted(text) == counted(text)).all()


def test_nobody_to_compare_with() -> None:
    """Without others there is no nearest; with one there is only that one."""
    assert nearest(counted("hello there"), []) is None
    assert nearest(counted("hello there"), [("Ana", total(LOUD))])[0] == "Ana"  # type: ignore[index]
