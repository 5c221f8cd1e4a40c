"""Random merge decisions against a plain set of accepted pairs, at every known time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from worldline import Memory
from worldline.errors import NotFound, Refused
from worldline.testing import FrozenClock

COUNT = 5
pairs = st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1))
decisions = st.lists(
    st.tuples(st.sampled_from(["propose", "accept", "accept", "reject", "undo"]), pairs),
    min_size=3,
    max_size=15,
)


def classes(accepted, start: int) -> set[int]:
    """Everything joined with start by accepted pairs, in either direction."""
    found, frontier = {start}, {start}
    while frontier:
        frontier = {b for pair in accepted for a in frontier if a in pair for b in pair} - found
        found |= frontier
    return found


@given(decisions)
@settings(max_examples=40)
def test_equivalence_classes_follow_the_decisions_at_every_known_time(history):
    """Classes are symmetric and transitive over what was accepted by then; nothing else is changed."""
    memory = Memory.open(":memory:", clock=FrozenClock(1000))
    ids = [memory.note("Entity", f"e{number}").id for number in range(COUNT)]
    notes = {n.id for n in memory.list("Entity").items}
    accepted: set[frozenset[int]] = set()
    proposed: dict[frozenset[int], str] = {}
    moments = []
    for verb, (a, b) in history:
        receipt = decide(memory, verb, (ids[a], ids[b]), proposed, frozenset((a, b)))
        if receipt is not None and receipt.changed:
            if verb == "accept":
                accepted.add(frozenset((a, b)))
            elif verb == "undo":
                accepted.discard(frozenset((a, b)))
            moments.append((receipt.known_at, set(accepted)))
    for known, then in moments:
        handle = memory.at(known=known)
        for number, id_ in enumerate(ids):
            found = {ids.index(n.id) for n in handle.equivalence_class(id_)}
            assert found == classes(then, number)
    assert {memory.get(id_).id for id_ in ids} == notes
    assert memory.verify().damage == ()
    memory.close()


def decide(memory, verb, ends, proposed, pair):
    """One decision; None where it is refused because it makes no sense now."""
    try:
        if verb == "propose":
            receipt = memory.link(ends[0], "same_as", ends[1])
            proposed[pair] = receipt.proposals[0] if receipt.proposals else proposed[pair]
            return receipt
        if pair not in proposed:
            return None
        if verb == "accept":
            return memory.accept_merge(proposed[pair])
        if verb == "reject":
            return memory.reject_merge(proposed[pair])
        return memory.undo_merge(proposed[pair])
    except (Refused, NotFound):
        return None
