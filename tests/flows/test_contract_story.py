"""The story of the README: a tier changed on the 1st and was learned on the 5th."""

from __future__ import annotations

import pytest

from worldline import Fact, Memory, Predicate
from worldline.errors import NotFound, ReadOnly
from worldline.testing import FrozenClock


@pytest.fixture
def story():
    """Silver since January; gold from March 1st, learned on March 5th."""
    clock = FrozenClock("2026-01-10")
    memory = Memory.open(":memory:", clock=clock)
    tier = memory.note("context", "Acme contract", "tier: silver", valid_from="2026-01-01").id
    clock.set("2026-03-05")
    memory.amend(tier, "tier: gold", valid_from="2026-03-01")
    clock.set("2026-03-10")
    return memory, tier, clock


def test_what_did_we_believe_on_the_third(story):
    """As of the 3rd on both axes: the old tier."""
    memory, tier, _ = story
    assert memory.at(as_of="2026-03-03").get(tier).content == "tier: silver"
    assert memory.at(valid="2026-03-03", known="2026-03-03").get(tier).content == "tier: silver"


def test_what_was_true_on_the_third_as_we_know_today(story):
    """On the valid axis only: the new tier."""
    memory, tier, _ = story
    assert memory.at(valid="2026-03-03").get(tier).content == "tier: gold"


def test_the_exact_instants(story):
    """One tick before the 1st it is silver, at the 1st gold; one tick before it was learned, silver."""
    memory, tier, _ = story
    assert memory.at(valid="2026-02-28T23:59:59.999999").get(tier).content == "tier: silver"
    assert memory.at(valid="2026-03-01").get(tier).content == "tier: gold"
    assert memory.at(known="2026-03-04T23:59:59.999999").get(tier).content == "tier: silver"
    assert memory.at(known="2026-03-05").get(tier).content == "tier: gold"


def test_every_read_agrees(story):
    """list, query, text, walk and recall-by-id give the same two answers."""
    memory, tier, _ = story
    other = memory.note("context", "Acme", valid_from="2026-01-01").id
    memory.link(tier, "relates_to", other, valid_from="2026-01-01")
    for when, content in (("2026-02-01", "tier: silver"), ("2026-03-03", "tier: gold")):
        then = memory.at(valid=when)
        assert {n.content for n in then.list().items if n.content} == {content}
        assert {n.content for n in then.query().text("tier").run().nodes} == {content}
        assert [n.content for n in then.query().seeds(other).follow("relates_to", way="in").run().nodes] == [
            content
        ]
        assert then.walk(tier, "relates_to").nodes[0].content == content
        assert {n.content for n in memory.query().at(valid=when).text("tier").run().nodes} == {content}


def test_corrected_is_not_changed(story):
    """It was never gold: every valid time says bronze now, and known time remembers the mistake."""
    memory, tier, clock = story
    clock.set("2026-03-12")
    memory.correct(tier, "tier: bronze")
    assert memory.at(valid="2026-03-03").get(tier).content == "tier: bronze"
    assert memory.at(valid="2026-02-03").get(tier).content == "tier: silver"
    assert memory.at(valid="2026-03-03", known="2026-03-11").get(tier).content == "tier: gold"


def test_retired_and_unretired(story):
    """No longer true from the 20th; then that was wrong."""
    memory, tier, clock = story
    clock.set("2026-03-25")
    memory.retire(tier, "2026-03-20")
    assert memory.at(valid="2026-03-19").get(tier).content == "tier: gold"
    with pytest.raises(NotFound):
        memory.get(tier)
    assert memory.at(known="2026-03-24").get(tier).content == "tier: gold"
    clock.set("2026-03-26")
    from worldline import FOREVER

    memory.correct(tier, valid_to=FOREVER)
    assert memory.get(tier).content == "tier: gold"
    assert memory.at(valid="2026-02-01").get(tier).content == "tier: silver"


def test_introspection(story):
    """When learned, what it was, what changed: history, diff and changes."""
    memory, tier, _ = story
    history = memory.history(tier)
    assert [(v.node.content, v.change) for v in history] == [
        ("tier: silver", "put"),
        ("tier: gold", "amended"),
        ("tier: silver", "superseded"),
    ]
    assert history[-1].closed_by == memory.get(tier).id
    changed = memory.diff("2026-02-01", "2026-03-06").changed
    assert [(a.content, b.content) for a, b in changed] == [("tier: silver", "tier: gold")]
    since = memory.changes("2026-03-01")
    assert {(c.action, c.item.content) for c in since if c.kind == "node"} == {
        ("believed", "tier: gold"), ("believed", "tier: silver"), ("closed", "tier: silver"),
    }  # fmt: skip


def test_the_past_cannot_be_written(story):
    """A handle that looks at another moment refuses every write."""
    memory, tier, _ = story
    past = memory.at(valid="2026-02-01")
    for write in (
        lambda: past.note("context", "x"), lambda: past.amend(tier, "y"), lambda: past.retire(tier),
        lambda: past.correct(tier, "z"), lambda: past.link(tier, "relates_to", tier),
        lambda: past.remember("hi"), lambda: past.fact(Fact("a", "b", "c")), lambda: past.confirm(tier),
        lambda: past.register(Predicate("p")), lambda: past.load([]),
    ):  # fmt: skip
        with pytest.raises(ReadOnly):
            write()


def test_the_same_story_as_a_fact():
    """Facts give the same two answers, from the words that were said."""
    clock = FrozenClock("2026-01-10")
    memory = Memory.open(":memory:", clock=clock)
    memory.register(Predicate("tier", functional=True))
    memory.fact(Fact("Acme", "tier", literal="silver", valid_from="2026-01-01"))
    clock.set("2026-03-05")
    memory.fact(Fact("Acme", "tier", literal="gold", valid_from="2026-03-01"))

    def tier(handle):
        return [n.content for n in handle.list("Fact").items]

    assert tier(memory.at(as_of="2026-03-03")) == ["Acme tier silver"]
    assert tier(memory.at(valid="2026-03-03")) == ["Acme tier gold"]


def test_a_future_fact_waits():
    """What begins later is current and not yet visible."""
    clock = FrozenClock("2026-01-10")
    memory = Memory.open(":memory:", clock=clock)
    note = memory.note("context", "price", "100", valid_from="2026-06-01").id
    assert memory.list().items == ()
    clock.set("2026-06-01")
    assert memory.get(note).content == "100"
