"""A load that puts columns leaves the very rows, log and hashes that one by one leaves, or the same refusal."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.test_writes import rows
from worldline import Config, EdgeType, Memory
from worldline.errors import Refused, WorldlineError
from worldline.model import Refuse
from worldline.store.sqlite import SqliteStore
from worldline.testing import FrozenClock
from worldline.write import loading
from worldline.write.given import Link, Note

PLAIN = Config(embedder="none", understand="off")
NAMES = ("tea", "Ana", "  two  words ", "café", "note 7")
TEXTS = (
    *("", "Green, they say.", "It's 1,200 euros at 3.5 %", "我喜欢游泳", "x" * 1300 + ". And so on."),
    *("swimming and a piano lesson", "call 4111 1111 1111 1111", "IBAN DE89 3704 0044 0532 0130 00"),
)


def picky(edge, view):
    """A handler of somebody's own: it reads what was put before."""
    known = view.edges([edge.src], ("cites",), "out")
    return [Refuse("three are enough")] if len(known) > 2 else []


CITES = EdgeType("cites", picky, version="1")

notes = st.tuples(
    st.sampled_from(["learning", "learning", "project", "Entity"]),
    st.sampled_from(NAMES),
    st.sampled_from(TEXTS),
    st.sampled_from([None, None, 5]),
    st.none(),
    st.sampled_from([None, None, 7]),
    st.sampled_from([None, None, {"caption": "a red bicycle"}, {"b": 1, "a": [1]}]),
    st.none() | st.integers(0, 11),
)
links = st.builds(
    Link,
    st.integers(0, 11),
    st.sampled_from(["relates_to", "refers_to", "supports", "refers_to", "precedes", "contains", "cites"]),
    st.integers(0, 11),
    st.sampled_from([None, None, None, 5]),
    st.sampled_from([None, None, None, 10**15]),
    st.sampled_from([None] * 9 + [{"why": "so"}]),
)


def made(some) -> list[Note]:
    """Notes whose worlds are earlier notes."""
    return [
        Note(*rest, inside=None if inside is None or not at else inside % at)
        for at, (*rest, inside) in enumerate(some)
    ]


def loaded(given_notes, given_links, *, before: bool, inside: bool) -> tuple[object, object, object]:
    """What a load leaves: its receipt or its refusal, every row, and what verify finds."""
    clock = FrozenClock(1000)
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        handle = memory
        if before:
            world = memory.note("project", "w", valid_from=0).id
            memory.register(CITES)
            memory.note("learning", "tea", "", valid_from=0)
            handle = memory.enter(world) if inside else memory.scoped(user="ana")
        clock.advance(10)
        try:
            told = handle.load(given_notes, given_links)
            told = told.ids, told.redacted, told.changed
        except WorldlineError as error:
            told = type(error), str(error)
        left: dict[str, object] = dict(rows(memory))
        if not isinstance(memory.handle.store, SqliteStore):  # there each memory is a tenant of its own name
            left = {table: len(held) for table, held in rows(memory).items()}
        return told, left, memory.verify().damage


@settings(max_examples=150, deadline=None)
@given(st.lists(notes, min_size=2, max_size=12), st.lists(links, max_size=14), st.booleans(), st.booleans())
def test_columns_are_what_one_by_one_is(some, edges, before, inside):
    """Receipts, refusals, rows and heads are equal, and what was loaded is sound."""
    given_notes = made(some)
    given_links = [
        Link(a, e.type, b, e.valid_from, e.valid_to, e.metadata)
        for e in edges
        for a, b in [
            sorted((e.src % len(some), e.dst % len(some)), reverse=e.type not in ("precedes", "contains"))
        ]
        if before or e.type != "cites"
        if e.metadata or (a != b and e.type != "contains")  # else most of them would be refused
    ]
    told, left, damage = loaded(given_notes, given_links, before=before, inside=inside)
    with (
        patch.object(loading._Batch, "_columns", lambda self, items: None),
        patch.object(loading._Batch, "_edge_columns", lambda self, items: None),
    ):
        expected = loaded(given_notes, given_links, before=before, inside=inside)

    assert told == expected[0]
    assert damage == expected[2] == ()
    for table, held in expected[1].items():
        assert left[table] == held, table


@pytest.mark.parametrize("depth", [63, 64])
def test_a_load_nests_as_deep_as_one_by_one(depth):
    """A chain of 64 worlds is the deepest that a load makes."""
    memory = Memory.open(":memory:", PLAIN)
    chain = [Note("project", f"world {n}", inside=n - 1 if n else None) for n in range(depth)]
    memory.load(chain)
    with pytest.raises(Refused, match="64"):
        Memory.open(":memory:", PLAIN).load(
            [*chain, *(Note("project", f"deep {n}", inside=depth - 1 + n) for n in range(2))]
        )
    assert memory.verify().ok
