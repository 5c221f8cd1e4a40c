"""What the fuzz found: doubt closes nothing, shared stays shared, stays never overlap."""

import pytest

from worldline.clock import FOREVER, show
from worldline.memory import Memory
from worldline.model import Fact, Predicate, Scope


@pytest.fixture
def memory() -> Memory:
    """A store in memory whose people live in one place at a time."""
    made = Memory.open(":memory:")
    made.register(Predicate("lives_in", functional=True))
    return made


def _homes(memory: Memory) -> list[str]:
    return [node.content for node in memory.list("Fact").items]


@pytest.mark.parametrize("correction", [False, True])
def test_a_doubtful_fact_closes_nothing(memory: Memory, correction: bool) -> None:
    """A fact that is itself quarantined neither replaces, corrects nor revises what is believed."""
    memory.fact(Fact("Ann", "lives_in", "Oslo", valid_from="2026-01-01"))
    for town in ("Rome", "Oslo"):
        memory.fact(
            Fact("Ann", "lives_in", town, valid_from="2026-02-01", confidence=0.1, correction=correction)
        )
    assert _homes(memory) == ["Ann lives_in Oslo"]
    assert _homes(memory.at(valid="2026-01-15")) == ["Ann lives_in Oslo"]
    assert memory.verify().ok


def test_a_revised_start_leaves_what_is_shared(memory: Memory) -> None:
    """A later start stated in one scope revises that scope's belief, not the one shared with another."""
    shared = memory.scoped(user="ann").shared_with(Scope(user="bob"))
    shared.fact(Fact("shop", "sells", "tea", valid_from="2026-01-01"))
    memory.scoped(user="ann").fact(Fact("shop", "sells", "tea", valid_from="2026-02-01"))
    assert _homes(memory.scoped(user="bob").at(valid="2026-03-01")) == ["shop sells tea"]
    assert _homes(memory.scoped(user="bob").at(valid="2026-01-15")) == ["shop sells tea"]
    assert not memory.scoped(user="ann").fact(Fact("shop", "sells", "tea")).changed
    assert memory.verify().ok


def test_a_corrected_start_ends_what_was_before(memory: Memory) -> None:
    """Beginning earlier than believed, a stay ends the one before it there; they never overlap."""
    note = memory.note("context", "tier", "gold", valid_from="2026-01-01")
    memory.retire(note, "2026-03-01")
    memory.note("context", "tier", "gold", valid_from="2026-05-01")
    memory.correct(note, valid_from="2026-02-01")
    held = sorted(v.node.valid for v in memory.history(note) if v.node.known.end == FOREVER)
    assert [(show(i.start)[:10], show(i.end)[:10]) for i in held] == [
        ("2026-01-01", "2026-02-01"),
        ("2026-02-01", "forever"),
    ]
    assert memory.verify().ok
