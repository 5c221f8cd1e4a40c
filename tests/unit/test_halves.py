"""Vectors in fifteen bits a number: the same numbers, and whatever does not fit stays as it is."""

import numpy as np
import pytest

from worldline.store import packing

DICE = np.random.default_rng(7)


def unit(width, count=1):
    """Unit vectors as they are stored plain."""
    drawn = DICE.standard_normal((count, width))
    rows = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)
    return [row.tobytes() for row in rows]


@pytest.mark.parametrize("width", [16, 384, 768, 1024])
def test_no_number_is_another_one(width):
    """What is packed comes back bit by bit, alone and among plain ones."""
    plain = unit(width, 40)
    packed = [packing.packed(vector) for vector in plain]
    mixed = [
        one if number % 3 else other for number, (one, other) in enumerate(zip(packed, plain, strict=True))
    ]

    assert {len(vector) for vector in packed} == {packing.packed_length(width)}
    assert {packing.width_of(vector) for vector in mixed} == {width}
    assert {len(vector) for vector in mixed} == packing.lengths(width)
    assert [packing.plain(vector) for vector in packed] == plain
    assert packing.unpacked(mixed, width).tobytes() == b"".join(plain)


def test_every_half_below_two_is_kept():
    """All numbers that have the bit unset, denormal ones and both zeros too."""
    every = np.concatenate([np.arange(0x4000), np.arange(0x8000, 0xC000)]).astype(np.uint16).tobytes()

    assert packing.plain(packing.packed(every)) == every
    assert len(packing.packed(every)) < len(every)


@pytest.mark.parametrize(
    "vector",
    [
        b"",
        b"\0\0" * 3,
        unit(40)[0],
        np.full(16, np.nan, np.float16).tobytes(),
        np.full(16, 2.0, np.float16).tobytes(),
        packing.packed(unit(32)[0]),
        b"odd",
    ],
)
def test_what_does_not_fit_stays_as_it_is(vector):
    """Other widths, numbers of 2 and more, what is no number, what is packed already, and what is no vector."""
    assert packing.packed(vector) == vector


@pytest.mark.parametrize("width", [16, 48, 384, 400])
def test_packed_vectors_have_the_signs_of_plain_ones(width):
    """Whole batches and mixed ones, in any order, with every number that can be packed, and rows of another width."""
    every = np.concatenate([np.arange(0x4000), np.arange(0x8000, 0xC000)]).astype(np.uint16)
    halves = np.frombuffer(b"".join(unit(width, 500)), np.uint16).copy()
    halves[: min(len(every), len(halves))] = DICE.permutation(every)[: len(halves)]
    plain = [row.tobytes() for row in halves.reshape(-1, width)]
    packed = [packing.packed(vector) for vector in plain]
    mixed = [packed[n] if n % 3 else plain[n] for n in range(len(plain))] + [b"", b"odd", bytes(4 * width)]
    order = DICE.permutation(1000)[: len(mixed)]
    expected = packing.Signs.of(order[: len(plain)], halves.view(np.float16).reshape(-1, width))

    for vectors in (plain, packed, mixed):
        found = packing.Gathered(width)
        rows = [(int(n), vector, n) for n, vector in zip(order, vectors, strict=False)]
        found.take([rows[:300], rows[300:]])

        assert (found.rest.signs.passages == expected.passages).all()
        assert (found.rest.signs.planes == expected.planes).all()
