"""Cases that once went wrong: stale handles on versions, worlds that moved, and time on every read."""

from __future__ import annotations

from itertools import pairwise

import pytest

from worldline import FOREVER, Fact
from worldline.errors import NotFound, Refused


def current(memory, id_):
    """(content, start, end) of what is believed of a memory now."""
    held = [v.node for v in memory.history(id_) if v.node.known.end == FOREVER]
    return [(n.content, n.valid.start, n.valid.end) for n in sorted(held, key=lambda n: n.valid)]


def test_correcting_an_old_version_twice_leaves_the_newer_one_alone(memory):
    """The second call changes nothing, even when another version was touched in between."""
    id_ = memory.note("learning", "n", "x", valid_from=0).id
    memory.amend(id_, "y", valid_from=20)
    old = memory.at(valid=5).get(id_)
    assert memory.correct(old, "w").changed
    memory.retire(id_, 500)
    assert not memory.correct(old, "w").changed
    assert current(memory, id_) == [("w", 0, 20), ("y", 20, 500)]


def test_a_version_that_was_corrected_cannot_be_corrected_differently(memory):
    """Its place is taken; the message names what is believed instead."""
    id_ = memory.note("learning", "n", "x", valid_from=0).id
    old = memory.get(id_)
    memory.correct(id_, "w")
    with pytest.raises(Refused, match=memory.get(id_).id[:12]):
        memory.correct(old, "z")


def test_amending_back_and_forth_closes_each_time(memory):
    """A payload that was superseded once can be superseded again."""
    id_ = memory.note("learning", "n", "x", valid_from=0).id
    for at, content in ((10, "y"), (20, "x"), (30, "y")):
        memory.amend(id_, content, valid_from=at)
    assert current(memory, id_) == [("x", 0, 10), ("y", 10, 20), ("x", 20, 30), ("y", 30, FOREVER)]


def test_a_former_version_said_again_replaces_the_present_one(memory):
    """Two versions of one memory never hold at once."""
    id_ = memory.note("learning", "n", "x", valid_from=0).id
    memory.amend(id_, "y", valid_from=10)
    assert memory.note("learning", "n", "x", valid_from=20).id == id_
    assert current(memory, id_) == [("x", 0, 10), ("y", 10, 20), ("x", 20, FOREVER)]
    assert [n.content for n in memory.list().items] == ["x"]


def test_an_older_statement_ends_where_a_later_version_begins(memory):
    """Said again of an earlier time, it does not run over what came after."""
    id_ = memory.note("learning", "n", "x", valid_from=10).id
    memory.amend(id_, "y", valid_from=20)
    memory.note("learning", "n", "y", valid_from=0)
    assert current(memory, id_) == [("y", 0, 10), ("x", 10, 20), ("y", 20, FOREVER)]


def test_the_epoch_is_a_time_like_any_other(memory):
    """Microsecond 0 is not "no time given"."""
    a = memory.note("learning", "a", valid_from=0).id
    b = memory.note("learning", "b", valid_from=-10).id
    memory.link(a, "supersedes", b)
    assert memory.at(valid=-1).get(b).valid.end == 0
    assert memory.query().at(valid=0, known=-5).run().names == set()
    memory.fact(Fact("Ann", "likes", "tea", valid_from=0))
    assert memory.list("Fact").items[0].valid.start == 0


def test_a_world_that_moved_out_cannot_be_entered_from_where_it_was(memory):
    """Neither by enter nor by within."""
    outer = memory.note("project", "outer").id
    inner = memory.enter(outer).note("project", "inner").id
    memory.enter(inner).note("learning", "secret")
    handle = memory.enter(outer)
    assert handle.enter(inner).list().items
    memory.retire(memory.edge(outer, "contains", inner))
    for escape in (lambda: handle.enter(inner), lambda: handle.query().within(inner).run()):
        with pytest.raises(NotFound):
            escape()


def test_words_are_found_inside_a_world_however_many_lie_outside(memory):
    """Better matches outside do not crowd out those inside."""
    world = memory.note("project", "w").id
    memory.enter(world).note("learning", "in", "one needle among many other words")
    for number in range(250):
        memory.note("learning", f"n{number}", "needle needle")
    assert memory.enter(world).query().text("needle").run().names == {"in"}


def test_hashes_are_read_at_the_known_time(memory, clock):
    """`at(known=…)` gives the hash that a world had then."""
    world = memory.note("project", "w").id
    before, known = memory.hash(world), clock.advance(10)
    clock.advance(10)
    memory.enter(world).note("learning", "n")
    assert memory.hash(world) != before
    assert memory.at(known=known).hash(world) == before
    with pytest.raises(NotFound):
        memory.at(known=known).get(memory.hash(world))


def test_closed_rows_are_all_listed_with_their_intervals(memory):
    """include_superseded shows each interval of a version."""
    memory.note("learning", "n", "x", valid_from=0, valid_to=5)
    memory.note("learning", "n", "x", valid_from=10, valid_to=15)
    found = memory.list(include_superseded=True).items
    assert [(n.valid.start, n.valid.end) for n in found] == [(10, 15), (0, 5)]


@pytest.mark.parametrize("end", ["retire", "correct", "undo"])
def test_an_entity_spoken_of_again_is_there_again(memory, clock, end):
    """After it was retired, withdrawn or undone, a new fact about it shows it."""
    receipt = memory.fact(Fact("Bob", "likes", literal="tea"))
    bob = memory.list("Entity").items[0]
    clock.advance(5)
    memory.undo(receipt) if end == "undo" else getattr(memory, end)(bob)
    assert memory.list("Entity").items == ()
    clock.advance(5)
    memory.fact(Fact("Bob", "likes", literal="milk"))
    assert [n.name for n in memory.list("Entity").items] == ["Bob"]


def test_an_event_taken_back_can_be_said_again(memory):
    """In a session too: it lies where it lay."""
    receipt = memory.remember("(words)", said_at=5, session="s")
    memory.undo(receipt)
    assert memory.list("Turn").items == ()
    assert memory.remember("(words)", said_at=5, session="s").id == receipt.id
    (turn,) = memory.list("Turn").items
    assert [n.content for n in memory.enter(turn.world).list("Turn").items] == ["(words)"]


def test_metadata_of_a_shared_payload_is_each_scopes_own(memory):
    """Two users with the same words keep their own metadata."""
    ann, ben = memory.scoped(user="ann"), memory.scoped(user="ben")
    ann.note("learning", "tea", "green", metadata={"from": "ann's diary"})
    id_ = ben.note("learning", "tea", "green", metadata={"from": "ben's diary"}).id
    assert ben.get(id_).metadata == {"from": "ben's diary"}
    assert [n.id for n in ben.list(metadata={"from": "ann's diary"}).items] == []


@pytest.mark.parametrize("verb", ["amend", "correct"])
def test_metadata_of_a_shared_version_is_each_scopes_own(memory, verb):
    """Two users who change the same words into the same others keep their own metadata, and are found by it."""
    users = {name: memory.scoped(user=name) for name in ("ann", "ben", "cy")}
    for name, mine in users.items():
        id_ = mine.note("learning", "tea", "green", metadata={"from": name} if name != "cy" else None).id
    for mine in users.values():
        getattr(mine, verb)(id_, "black")
    for name, mine in users.items():
        (held,) = mine.list("learning").items
        assert (held.content, held.metadata) == ("black", {"from": name} if name != "cy" else {})
        assert [len(mine.list(metadata={"from": one}).items) for one in ("ann", "ben")] == [
            name == "ann",
            name == "ben",
        ]
    assert memory.verify().ok


def test_an_earlier_history_does_not_know_what_came_later(memory, clock):
    """Seen from a known time, what was given up after it is still believed."""
    id_ = memory.note("learning", "n", "x", valid_from=0).id
    known = memory.history(id_)[0].node.known.start
    clock.advance(10)
    memory.correct(id_, "y")

    (version,) = memory.at(known=known).history(id_)
    assert (version.node.content, version.node.known.end) == ("x", FOREVER)
    assert [v.node.known.end == FOREVER for v in memory.history(id_)] == [False, True]


def test_a_fact_does_not_hide_an_edge_of_the_same_number(memory):
    """Facts and stored edges are numbered apart, and a query shows all of both."""
    for number in range(6):
        memory.fact(Fact(f"s{number}", "knows", f"o{number}"))
    ids = [memory.note("learning", f"n{number}").id for number in range(20)]
    for a, b in pairwise(ids):
        memory.link(a, "relates_to", b)

    types = [edge.type for edge in memory.query().run().edges]
    assert (types.count("fact"), types.count("relates_to")) == (6, 19)


def test_a_list_is_retired_as_one_changeset(memory):
    """Many memories end together or not at all, and one undo brings them back."""
    ids = [memory.note("learning", f"n{number}", valid_from=0).id for number in range(3)]
    later = memory.note("learning", "later", valid_from=500).id
    before = memory.stats()["changesets"]

    with pytest.raises(Refused, match="begins at"):
        memory.retire([*ids, later], 100)
    assert memory.stats()["changesets"] == before
    receipt = memory.retire(ids, 100)

    assert (memory.stats()["changesets"], set(receipt.ids)) == (before + 1, set(ids))
    assert [n.name for n in memory.list().items] == ["later"]
    assert memory.retire(ids, 100).ids == ()
    memory.undo(receipt)
    assert len(memory.list().items) == 4


def test_nested_metadata_is_found_and_verified_whatever_its_order(memory):
    """Metadata with inner keys is filtered by value, and verify finds nothing wrong with it."""
    id_ = memory.note("learning", "n", metadata={"of": {"b": 1, "a": 2}}).id

    assert [node.id for node in memory.list(metadata={"of": {"a": 2, "b": 1}}).items] == [id_]
    assert memory.verify().ok


def facts(memory, **kinds):
    """(content, start, end) of the facts that are believed, over or not, by their start."""
    found = memory.list("Fact", include_superseded=True, **kinds).items
    held = [v.node for node in found for v in memory.history(node.id) if v.node.known.end == FOREVER]
    return sorted({(n.content, n.valid.start, n.valid.end) for n in held}, key=lambda row: (row[1], row[0]))


@pytest.mark.parametrize("verb", ["amend", "correct"])
def test_a_changed_fact_stays_whose_it_was(memory, verb):
    """Whoever changes it, by whichever handle: the new belief lies in the scope and the world of the old one."""
    ana = memory.scoped(user="ana")
    inside = ana.enter(ana.note("project", "p", valid_from=0).id)
    old = inside.fact(Fact("Ana", "lives_in", "Rome", valid_from=10))
    new = getattr(memory, verb)(old.id, "Milan", valid_from=20)

    assert [node.id for node in inside.list("Fact").items] == [new.id]
    assert memory.scoped(user="ben").list("Fact").items == ()
    assert memory.verify().ok


def test_a_fact_of_two_owners_changes_for_both(memory):
    """As a note of both does."""
    ana, ben = memory.scoped(user="ana"), memory.scoped(user="ben")
    for owner in (ana, ben):
        old = owner.fact(Fact("Rex", "lives_in", "Rome", valid_from=10))
    memory.amend(old.id, "Milan", valid_from=20)

    for owner in (ana, ben):
        assert [node.content for node in owner.list("Fact").items] == ["Rex lives in Milan"]


@pytest.mark.parametrize("when", [{}, {"valid_from": 20}])
def test_a_fact_that_was_amended_is_amended_once(memory, clock, when):
    """The same again says that nothing changed, later too, and even when it has changed once more."""
    old = memory.fact(Fact("Ana", "works_at", "Acme", valid_from=10, functional=True))
    clock.advance(5)
    new = memory.amend(old.id, "Ana works at Beta", **when)
    before = facts(memory)
    for _ in range(2):
        clock.advance(5)
        again = memory.amend(old.id, "Ana works at Beta", **when)
        assert (again.changed, again.id, facts(memory)) == (False, new.id, before)
    with pytest.raises(Refused, match="use correct"):
        memory.amend(old.id, "Gamma", **when)
    memory.amend(new.id, "Gamma")
    assert not memory.amend(old.id, "Beta", **when).changed


def test_a_fact_amended_into_one_that_is_held_leaves_that_one(memory, clock):
    """What was believed already keeps its own beginning."""
    tea = memory.fact(Fact("Ana", "likes", "tea", valid_from=20))
    memory.fact(Fact("Ana", "likes", "coffee", valid_from=10))
    assert memory.amend(tea.id, "coffee", valid_from=30).changed
    assert facts(memory) == [("Ana likes coffee", 10, FOREVER), ("Ana likes tea", 20, 30)]
    assert not memory.amend(tea.id, "coffee", valid_from=30).changed


def test_a_fact_that_was_corrected_is_corrected_once(memory, clock):
    """The same again changes nothing; something else is refused, with the name of what is believed instead."""
    old = memory.fact(Fact("Ana", "works_at", "Acme", valid_from=10, valid_to=50))
    new = memory.correct(old.id, "Beta")
    assert facts(memory) == [("Ana works at Beta", 10, 50)]
    clock.advance(5)
    again = memory.correct(old.id, "Ana works at Beta")
    assert (again.changed, again.id) == (False, new.id)
    with pytest.raises(Refused, match=new.id[:12]):
        memory.correct(old.id, "Gamma")
    assert memory.correct(new.id, "Beta", valid_to=60).changed
    clock.advance(5)
    assert not memory.correct(new.id, "Beta", valid_to=60).changed
    assert facts(memory) == [("Ana works at Beta", 10, 60)]


def two_homes(memory, clock, **second):
    """Oslo from 20, then another from 30, in a slot of one value."""
    oslo = memory.fact(Fact("Ana", "lives_in", "Oslo", valid_from=20, functional=True))
    clock.advance(5)
    return oslo.id, memory.fact(
        Fact("Ana", "lives_in", "Kyiv", functional=True, **{"valid_from": 30, **second})
    ).id


def test_a_fact_that_is_released_takes_its_place(memory, clock):
    """It ends what it follows, ends where another begins, and contradicts what begins with it."""
    _, kyiv = two_homes(memory, clock, confidence=0.3)
    memory.confirm(kyiv)
    assert facts(memory) == [("Ana lives in Oslo", 20, 30), ("Ana lives in Kyiv", 30, FOREVER)]
    rome = memory.fact(Fact("Ana", "lives_in", "Rome", valid_from=25, functional=True, confidence=0.3))
    memory.confirm(rome.id)
    assert facts(memory)[1] == ("Ana lives in Rome", 25, 30)
    bonn = memory.fact(Fact("Ana", "lives_in", "Bonn", valid_from=30, functional=True, confidence=0.3))
    memory.confirm(bonn.id)
    assert len(memory.conflicts()) == 1
    assert not memory.confirm(bonn.id).changed


def test_a_fact_that_is_widened_keeps_to_its_slot(memory, clock):
    """It ends where its successor begins, which the receipt says, and takes nothing away from between."""
    oslo, kyiv = two_homes(memory, clock)
    before = facts(memory)
    kept = memory.correct(oslo, valid_to=FOREVER)
    assert (kept.changed, facts(memory)) == (False, before)
    assert "where another begins" in kept.changes[0]

    for changed in (True, False):
        assert memory.correct(kyiv, valid_from=10).changed is changed
    assert facts(memory) == [("Ana lives in Kyiv", 10, 20), *before]
    memory.correct(kyiv, valid_from=10, valid_to=50)
    assert facts(memory) == [("Ana lives in Kyiv", 10, 20), before[0], ("Ana lives in Kyiv", 30, 50)]
    memory.correct(kyiv, valid_from=20)
    assert len(memory.at(valid=22).conflicts()) == 1
    assert memory.verify().ok


def test_a_retired_fact_without_a_successor_is_believed_again(memory, clock):
    """As it was; and one that begins earlier ends what it follows."""
    _, kyiv = two_homes(memory, clock)
    memory.retire(kyiv, 50)
    memory.correct(kyiv, valid_to=FOREVER)
    assert facts(memory) == [("Ana lives in Oslo", 20, 30), ("Ana lives in Kyiv", 30, FOREVER)]
    memory.correct(kyiv, valid_from=25)
    assert facts(memory) == [("Ana lives in Oslo", 20, 25), ("Ana lives in Kyiv", 25, FOREVER)]


def test_a_corrected_interval_keeps_how_sure_and_how_exact_it_is(memory):
    """Only when it holds was wrong: it stays confirmed, or kept back, and a new beginning says how exact it is."""
    home = memory.fact({"subject": "Ana", "relation": "lives in", "object": "Porto", "since": "2024-03"}).id
    job = memory.fact(Fact("Bo", "works at", "Acme", valid_from="2023-01-01", confidence=0.6)).id
    memory.confirm(home)
    memory.retire(home, "2029-01-01")
    memory.correct(home, valid_to="2030-01-01")
    memory.quarantine(job, "heard from somebody else")
    memory.correct(job, valid_from="2022-05-01")

    kept, moved = (memory.history(id_)[-1].node for id_ in (home, job))
    assert (kept.status, kept.confidence, kept.precision) == ("confirmed", 1.0, "month")
    assert (moved.status, moved.confidence, moved.precision) == ("quarantined", 0.6, "day")
    assert moved.reason == "heard from somebody else"
    assert [v.change for v in memory.history(home)] == ["put", "confirmed", "retired", "corrected"]
    assert memory.verify().ok


def test_a_corrected_value_is_not_confirmed_by_that(memory):
    """Whoever vouched for the old one said nothing of the new one; when it began stays as exact as it was."""
    home = memory.fact({"subject": "Ana", "relation": "lives in", "object": "Porto", "since": "2024-03"}).id
    note = memory.note("learning", "n", "x").id
    memory.confirm(home)
    memory.confirm(note)

    other = memory.history(memory.correct(home, "Faro").id)[-1].node
    assert (other.status, other.precision) == ("believed", "month")
    assert memory.get(memory.correct(note, "y").id).status == "believed"
