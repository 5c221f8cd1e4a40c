"""What is kept in mind of facts from one question to the next is what a fresh look brings, whatever happens between."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from worldline import Config, Fact, Memory, Receipt, WorldlineError
from worldline.store import keeping, people
from worldline.store.search import facts_and_held
from worldline.testing import FrozenClock

SAID = (
    "Rosa lives in Lisbon.",
    "Rosa moved to Porto.",
    "Rosa does not live in Porto any more.",
    "Rosa owns a boat.",
    "No, sorry, I meant a kayak.",
    "My sister Rosa works at Siemens.",
    "Rosa lives in Lisbon, that was wrong.",
)
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ("say", "say", "fact", "later", "contradict", "retire", "forget", "sleep", "wait", "undo", "rule")
        ),
        st.integers(0, 6),
        st.sampled_from(("me", "you", "")),
    ),
    min_size=3,
    max_size=12,
)


def looked(memory: Memory) -> list[object]:
    """What is near Rosa, as each owner and the whole tenant see it."""
    found = []
    for owner in ("me", "you", ""):
        handle = (memory.scoped(user=owner) if owner else memory).handle
        rosa = handle.read(lambda view: [one.first for one in people.called(view, {"rosa", "boat"})])
        found += [
            handle.read(
                lambda view, n=most, top=limit, r=rosa: facts_and_held(view, r, (), n, ("live",), top)
            )
            for most, limit in ((200, 400), (0, 400), (2, 3))
        ]
        found.append(handle.read(lambda view, r=rosa: facts_and_held(view, r, (), 9, ()), quarantined=True))
    return found


def act(handle: Memory, clock: FrozenClock, verb: str, number: int, receipts: list[Receipt]) -> None:
    """One thing that changes what is believed."""
    facts = handle.list("Fact").items
    if verb == "say":
        receipts.append(handle.remember(SAID[number], speaker="Ana", said_at=clock() - 1))
    elif verb == "fact":
        handle.remember(f"note {number}", facts=[Fact("Rosa", "likes", f"tea {number % 3}")])
    elif verb == "later":
        fact = Fact("Rosa", "employer", f"Acme {number}", valid_from=clock() + 50 * number)
        handle.remember(f"from then on {number}", facts=[fact])
    elif verb == "wait":
        clock.advance(60)
    elif verb == "rule":  # taken back before it is kept
        handle.remember(SAID[number], speaker="Ana", said_at=clock() - 1, dry_run=True)
    elif verb == "sleep":
        handle.consolidate()
    elif facts and receipts:
        fact, last = facts[number % len(facts)], facts[-1]
        with suppress(WorldlineError):
            if verb == "contradict":
                handle.link(fact.id, "contradicts", last.id)
            elif verb == "retire":
                handle.retire(fact.id)
            elif verb == "forget":
                handle.forget(fact.id)
            else:
                handle.undo(receipts.pop())


@settings(max_examples=25, deadline=None)
@given(steps)
def test_facts_that_are_kept_in_mind_are_those_that_are_believed(tmp_path_factory, done):
    """Warm and fresh looks are equal after every step."""
    clock = FrozenClock("2026-06-01")
    path = tmp_path_factory.mktemp("kept") / "m.db"
    config = Config(embedder="none", reranker="none")
    with Memory.open(path, config, clock=clock) as memory, Memory.open(path, config, clock=clock) as other:
        memory.remember(SAID[0], speaker="Ana", said_at=clock() - 9)
        receipts: list[Receipt] = []
        for step in done:
            clock.advance(3)
            verb, number, owner = step
            writer = memory if number % 2 else other
            act(writer.scoped(user=owner) if owner else writer, clock, verb, number, receipts)
            kept = looked(memory)
            memory.handle.store.forget_caches()
            assert looked(memory) == kept
            assert looked(memory) == kept


def test_a_fact_is_read_once_until_something_touches_it(tmp_path, monkeypatch):
    """What is said of others costs nothing."""
    read: list[int] = []
    real = keeping._read

    def noted(view, nodes, *rest):
        read.extend(nodes)
        return real(view, nodes, *rest)

    monkeypatch.setattr(keeping, "_read", noted)
    with Memory.open(tmp_path / "m.db", Config(embedder="none", reranker="none")) as memory:
        memory.remember("Rosa lives in Lisbon.")
        memory.remember("Rosa owns a boat.")

        def near() -> int:
            del read[:]
            rosa = memory.handle.read(lambda view: [one.first for one in people.called(view, {"rosa"})])
            assert memory.handle.read(lambda view: facts_and_held(view, rosa, (), 9, ()))[0]
            return len(read)

        assert (near(), near()) == (2, 0)
        memory.remember("Ben likes figs.")
        assert near() == 0
        memory.remember("Rosa moved to Porto.")
        assert near() == 2  # the one that is over now, and the new one


def test_a_fact_is_contradicted_as_long_as_the_other_is_believed(tmp_path):
    """What is at odds is never kept: it turns with the other fact."""
    with Memory.open(tmp_path / "m.db", Config(embedder="none", reranker="none")) as memory:
        facts = [Fact("Rosa", "likes", "tea"), Fact("Rosa", "lives_in", "Lisbon")]
        memory.remember("Two things.", facts=facts)
        one, two = memory.list("Fact").items
        rosa = memory.handle.read(lambda view: [one.first for one in people.called(view, {"rosa"})])

        def disputed() -> dict[str, bool]:
            near, _ = memory.handle.read(lambda view: facts_and_held(view, rosa, (), 9, ()))
            return {fact.id: fact.disputed for fact in near}

        assert not any(disputed().values())
        memory.link(one.id, "contradicts", two.id)
        assert all(disputed().values())
        memory.retire(two.id)
        assert not disputed()[one.id]
