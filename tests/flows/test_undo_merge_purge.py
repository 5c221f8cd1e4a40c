"""What one write takes back or ends leaves what others wrote standing, and all of its own gone."""

from __future__ import annotations

import pytest

from worldline import Config, Fact, Memory, Scope
from worldline.errors import Conflict, Refused
from worldline.surfaces import rest, verbs
from worldline.surfaces.mcp_tools import Desk, purge_scope


@pytest.fixture
def memory():
    """An empty memory."""
    with Memory.open(":memory:", Config(embedder="none")) as opened:
        yield opened


def _purge(memory: Memory, user: str) -> None:
    purge_scope(Desk(memory.as_agent()), kind="user", name=user, confirm=user)


def test_undo_of_the_first_write_leaves_the_entity_of_the_second(memory):
    """An entity that another write's facts stand on stays; what only the first one said goes."""
    first = memory.fact({"subject": "Ana", "relation": "likes", "object": "Tea"})
    second = memory.fact({"subject": "Ana", "relation": "lives in", "object": "Porto"})
    assert memory.undo(first).changed

    assert {node.name for node in memory.list("Entity").items} == {"Ana", "Porto"}
    assert [node.content for node in memory.list("Fact").items] == ["Ana lives in Porto"]
    assert not memory.undo(first).changed
    memory.undo(second)
    assert memory.list("Fact").items == ()


def test_undo_of_the_only_write_takes_its_entities_along(memory):
    """Where nothing else stands on them, the entities go as well."""
    memory.undo(memory.fact({"subject": "Ana", "relation": "likes", "object": "Tea"}))

    assert memory.list("Entity").items == ()


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2)), ((0, 1), (0, 2)), ((0, 2), (2, 1))])
def test_a_class_without_its_first_is_listed_once(memory, pairs):
    """After A = B = C and the end of A, the rest is still one, however they were joined."""
    all_ = [memory.note("Entity", name, valid_from=0) for name in ("Ana", "Anna", "Anne")]
    for a, b in pairs:
        memory.link(all_[a], "same_as", all_[b])
    for proposal in memory.merges():
        memory.accept_merge(proposal)
    assert [node.name for node in memory.list("Entity").items] == ["Ana"]
    memory.retire(all_[0])

    assert [node.name for node in memory.list("Entity").items] == ["Anna"]
    assert [node.name for node in memory.query().seeds(*all_[1:]).run().nodes] == ["Anna"]


def test_purging_a_scope_ends_what_is_to_come_as_well(memory):
    """A memory with a version that begins later does not stop a purge, and comes back at no later time."""
    ann, bob = memory.scoped(user="ann"), memory.scoped(user="bob")
    tea = ann.note("context", "Tea", "green")
    ann.amend(tea, "black", valid_from="2190-01-01")
    ann.note("context", "Plan", "none")
    bob.note("context", "Tea", "green")
    ann.scoped(app="x").note("context", "Tea", "green")
    _purge(memory, "ann")

    assert ann.list().items == ()
    assert ann.at(valid="2191-01-01").list().items == ()
    assert [node.content for node in bob.list().items] == ["green"]
    assert ann.history(tea)


def test_a_purge_leaves_nothing_that_could_come_back(memory):
    """What has yet to begin, what is kept back, and every name of one who was merged end as well."""
    ann, bob = memory.scoped(user="ann"), memory.scoped(user="bob")
    for owner in (ann, bob):
        owner.note("context", "Plan", "a trip", valid_from="2190-01-01")
        owner.fact(Fact("Ann", "lives_in", "Rome", valid_from="2190-01-01"))
        oslo = owner.fact(Fact("Ann", "lives_in", "Oslo", confidence=0.1))
    merged = [ann.note("Entity", name) for name in ("Ann", "Anna")]
    ann.link(merged[0], "same_as", merged[1])
    ann.accept_merge(ann.merges()[0])
    _purge(memory, "ann")
    changesets = memory.stats()["changesets"]
    _purge(memory, "ann")

    assert memory.stats()["changesets"] == changesets
    for moment in (None, "2191-01-01"):
        for type_ in (None, "Fact", "Entity"):
            assert ann.at(valid=moment).list(type_).items == ()
    ann.confirm(oslo.id)
    assert ann.list("Fact").items == ()
    assert len(bob.at(valid="2191-01-01").list("Fact").items) == 1
    assert bob.at(valid="2191-01-01").list().items


def test_what_only_begins_later_cannot_be_over(memory):
    """Ending something before it begins is still a mistake that is told."""
    later = memory.note("context", "Tea", "green", valid_from="2190-01-01")

    with pytest.raises(Refused, match="cannot be over"):
        memory.retire(later)


def test_a_purge_of_one_owner_is_one_changeset(memory):
    """Payloads that both users hold do not stop it half-way."""
    for user in ("ann", "bob"):
        mine = memory.scoped(user=user)
        mine.note("context", "Tea", "green")
        mine.remember("I live in Porto.", speaker="Ana", said_at="2024-01-01T10:00Z", session="s")
    memory.scoped(user="ann").shared_with(Scope(app="x")).note("context", "Shared", "both")
    _purge(memory, "ann")

    for type_ in (None, "Turn", "Fact"):
        assert memory.scoped(user="ann").list(type_).items == ()
        assert memory.scoped(user="bob").list(type_).items


def test_a_bound_handle_lists_and_purges_the_scopes_within_it(memory: Memory) -> None:
    """Its own apps, agents and runs, also before now; never a name of somebody else, with whom it may share."""
    start = memory.handle.now()
    ana, bob = memory.confined(Scope(user="ana")), memory.confined(Scope(user="bob"))
    ana.scoped(app="shop").note("context", "Tea", "green")
    ana.scoped(agent="helper", run="7").note("context", "Cup", "white")
    bob.scoped(app="bank", run="8").note("context", "Tea", "green")
    memory.scoped(user="ana", app="shop").shared_with(Scope(user="bob", app="post")).note(
        "context", "Hours", "9"
    )
    own = {"user:ana", "app:shop", "agent:helper", "run:7"}
    assert verbs.scope_names(ana) == own
    assert verbs.scope_names(bob) == {"user:bob", "app:bank", "run:8", "app:post"}
    assert verbs.scope_names(memory) == own | verbs.scope_names(bob)
    assert verbs.scope_names(memory.scoped(app="shop")) == {"user:ana", "app:shop"}
    assert verbs.scope_names(ana.at(known=start)) == set()
    assert rest.scopes(ana) == {"user": ["ana"], "agent": ["helper"], "app": ["shop"], "run": ["7"]}

    purge_scope(Desk(ana.as_agent()), kind="app", name="shop", confirm="shop")
    with pytest.raises(Refused, match="no app 'bank'"):
        purge_scope(Desk(ana.as_agent()), kind="app", name="bank", confirm="bank")

    assert [node.name for node in ana.list().items] == ["Cup"]
    assert [node.name for node in bob.list().items] == ["Tea"]  # what both share is over for both


def test_everything_can_be_undone_one_by_one_from_the_last(memory: Memory) -> None:
    """Once the later write is undone, the one that it built on can be too, down to an empty memory, and only once."""
    done = [
        memory.remember("I live in Rome.", speaker="Ana", said_at="2026-01-05"),
        memory.remember("I moved to Porto.", speaker="Ana", said_at="2026-02-05"),
    ]
    a, b = memory.note("context", "A", "x"), memory.note("context", "B", "y")
    done += [a, b, memory.link(a, "relates_to", b), memory.amend(a, "x2"), memory.correct(b, "y2")]
    done += [memory.retire(a), memory.pin(b)]
    with pytest.raises(Conflict):
        memory.undo(done[0])

    assert all(memory.undo(receipt).changed for receipt in reversed(done))

    assert not memory.list().items
    assert not memory.list("Fact").items
    assert not any(memory.undo(receipt).changed for receipt in reversed(done))
    assert memory.verify().ok
