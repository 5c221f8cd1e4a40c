"""Each edge type as a program, through the public API."""

from __future__ import annotations

import pytest

from worldline import Fact, Interval, Predicate
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.rules.handlers import BUILT_IN


@pytest.fixture
def three(memory):
    """A memory and the ids of three notes that hold from 0, 10 and 20 on."""
    ids = [memory.note("learning", name, valid_from=at).id for name, at in (("a", 0), ("b", 10), ("c", 20))]
    return memory, *ids


def names(nodes):
    """The names of nodes."""
    return {node.name for node in nodes}


# Plain edges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", [t for t in BUILT_IN if t not in ("fact", "supersedes", "contains")])
def test_no_edge_joins_a_memory_with_itself(three, type_):
    """Self-loops are refused by every type, and nothing is left behind."""
    memory, a, _, _ = three
    changesets = memory.stats()["changesets"]
    with pytest.raises(Refused):
        memory.link(a, type_, a)
    assert memory.stats()["changesets"] == changesets


@pytest.mark.parametrize("type_", ["relates_to", "refines", "supports", "implies", "causes", "derived_from"])
def test_a_triple_is_unique_and_directed(three, type_):
    """The same edge twice is one; the other direction is another."""
    memory, a, b, _ = three
    assert memory.link(a, type_, b).changed
    assert not memory.link(a, type_, b).changed
    assert memory.link(b, type_, a).changed
    assert names(memory.query().seeds(a).follow(type_).run().nodes) == {"b"}


def test_an_edge_is_seen_where_its_row_and_both_ends_are(three):
    """An edge needs its own interval and both ends at the moment looked at."""
    memory, a, b, _ = three
    memory.link(a, "relates_to", b, valid_from=5, valid_to=30)
    memory.retire(b, 20)

    def seen(at):
        return bool(memory.at(valid=at).query().run().edges)

    assert [seen(at) for at in (4, 9, 10, 19, 20, 30)] == [False, False, True, True, False, False]


# contains ------------------------------------------------------------------------------------------


def test_a_memory_has_one_parent(three):
    """A second parent is refused until the first contains edge is retired."""
    memory, a, b, c = three
    memory.link(a, "contains", c)
    with pytest.raises(Refused):
        memory.link(b, "contains", c)
    memory.retire(memory.edge(a, "contains", c))
    memory.link(b, "contains", c)
    assert names(memory.enter(b).list().items) == {"b", "c"}
    assert names(memory.enter(a).list().items) == {"a"}
    assert memory.verify().ok


def test_no_two_parents_at_any_time(three):
    """A past stay cannot be overlaid by another one, and a stay that ends later still counts."""
    memory, a, b, c = three
    memory.link(a, "contains", c, valid_from=0)
    memory.retire(memory.edge(a, "contains", c), 2_000_000_000_000)
    with pytest.raises(Refused):
        memory.link(b, "contains", c)
    with pytest.raises(Refused):
        memory.link(b, "contains", c, valid_from=50)
    assert memory.link(b, "contains", c, valid_from=2_000_000_000_000).changed
    assert memory.verify().ok


def test_worlds_make_no_circles_at_any_time(three):
    """Neither now nor in the past does a world contain itself."""
    memory, a, b, c = three
    memory.link(a, "contains", b, valid_from=0)
    memory.link(b, "contains", c, valid_from=0)
    with pytest.raises(Refused):
        memory.link(c, "contains", a)
    with pytest.raises(Refused):
        memory.link(a, "contains", a)
    memory.retire(memory.edge(a, "contains", b), 100)
    with pytest.raises(Refused):
        memory.link(c, "contains", a, valid_from=50)
    assert memory.link(c, "contains", a, valid_from=100).changed


def test_a_contains_edge_is_open(three):
    """It is ended by retiring it, never made with an end; neither in a load."""
    from worldline.write.given import Link, Note

    memory, a, b, _ = three
    with pytest.raises(Refused):
        memory.link(a, "contains", b, valid_to=10**15)
    with pytest.raises(Refused):
        memory.load([Note("project", "p"), Note("project", "q")], [Link(0, "contains", 1, valid_to=10**15)])
    assert memory.verify().ok


def test_depth_is_capped(memory):
    """A chain of 64 is the deepest; joining two chains counts both."""
    top = memory.note("project", "0").id
    inner = top
    for number in range(1, 63):
        inner = memory.enter(inner).note("project", str(number)).id
    memory.enter(inner).note("project", "63")
    other = memory.note("project", "other").id
    deep = memory.enter(inner)
    with pytest.raises(Refused, match="64"):
        deep.enter(deep.list().items[0]).note("project", "64")
    with pytest.raises(Refused, match="64"):
        memory.link(other, "contains", top)
    assert memory.verify().ok


def test_undoing_a_move_conflicts_when_it_moved_again(three):
    """A place that is taken by now is not taken back."""
    from worldline.errors import Conflict

    memory, a, b, c = three
    memory.link(a, "contains", c)
    moved_out = memory.retire(memory.edge(a, "contains", c))
    memory.link(b, "contains", c)
    with pytest.raises(Conflict):
        memory.undo(moved_out)
    assert memory.verify().ok


# refers_to -----------------------------------------------------------------------------------------


def test_refers_to_pierces_once(memory):
    """From inside a world the target is yielded, and not gone on from."""
    world = memory.note("project", "w").id
    entity = memory.note("Entity", "Ann").id
    beyond = memory.note("learning", "beyond").id
    note = memory.enter(world).note("learning", "n").id
    inside = memory.enter(world)
    inside.link(note, "refers_to", entity)
    memory.link(entity, "relates_to", beyond)
    assert names(inside.query().seeds(note).follow("refers_to").run().nodes) == {"Ann"}
    assert names(inside.query().seeds(note).follow(depth=5).run().nodes) == {"Ann"}
    assert names(inside.query().seeds(note).follow("refers_to").follow("relates_to").run().nodes) == set()
    with pytest.raises(NotFound):
        inside.get(entity)
    assert names(memory.query().seeds(note).follow(depth=5).run().nodes) == {"Ann", "beyond"}


def test_no_other_edge_leaves_a_world(memory):
    """From inside, the other end of any other edge cannot even be named."""
    world, outer = memory.note("project", "w").id, memory.note("learning", "outer").id
    inner = memory.enter(world).note("learning", "inner").id
    with pytest.raises(NotFound):
        memory.enter(world).link(inner, "relates_to", outer)
    memory.link(inner, "relates_to", outer)
    assert memory.enter(world).query().seeds(inner).follow(way="both").run().nodes[1:] == ()


def test_entities_live_in_the_root(memory):
    """An entity noted inside a world lies outside it."""
    world = memory.note("project", "w").id
    memory.enter(world).note("Entity", "Ann")
    assert names(memory.enter(world).list("Entity").items) == set()
    assert names(memory.list("Entity").items) == {"Ann"}


# supersedes ----------------------------------------------------------------------------------------


def test_supersedes_closes_its_target_at_the_sources_start(three):
    """H4: the target was true until the source begins; as-of reads before still see it."""
    memory, a, b, _ = three
    before = memory.get(a).known.start
    memory.link(b, "supersedes", a)
    assert memory.at(valid=9).get(a).valid == Interval(0, 10)
    with pytest.raises(NotFound):
        memory.at(valid=10).get(a)
    assert memory.at(valid=10, known=before).get(a).valid == Interval(0)
    assert names(memory.list().items) == {"b", "c"}


def test_supersedes_only_tightens(three):
    """B7: a target that is over already is not lengthened."""
    memory, a, _, c = three
    memory.retire(a, 5)
    memory.link(c, "supersedes", a)
    assert memory.at(valid=4).get(a).valid == Interval(0, 5)


def test_supersedes_backwards_is_refused(three):
    """H4: a source that begins no later than its target gets the advice to use correct."""
    memory, a, b, _ = three
    with pytest.raises(Refused, match="correct"):
        memory.link(a, "supersedes", b)
    with pytest.raises(Refused):
        memory.link(a, "supersedes", a)


def test_turns_are_never_superseded(memory):
    """H11: what was said was said."""
    turn = memory.remember("I live in Rome", said_at=0).id
    note = memory.note("learning", "n", valid_from=10).id
    with pytest.raises(Refused, match="Turn"):
        memory.link(note, "supersedes", turn)


def test_a_retired_supersedes_edge_restores_its_target_when_it_is_corrected(three):
    """As one that was not retired before does: it was never so."""
    memory, a, b, _ = three
    memory.link(b, "supersedes", a)
    memory.retire(memory.edge(b, "supersedes", a), 50)
    assert memory.at(valid=9).get(a).valid == Interval(0, 10)
    memory.correct(memory.edge(b, "supersedes", a))
    assert memory.get(a).valid == Interval(0)


def test_correcting_a_supersedes_edge_restores_its_target(three):
    """H7: it was wrong, so the target has its former interval back, as a new belief."""
    memory, a, b, _ = three
    memory.link(b, "supersedes", a)
    closed_at = memory.history(a)[-1].node.known.start
    memory.correct(memory.edge(b, "supersedes", a))
    assert memory.get(a).valid == Interval(0)
    assert memory.at(valid=15, known=closed_at).list().items
    with pytest.raises(NotFound):
        memory.at(valid=15, known=closed_at).get(a)


def test_retiring_a_supersedes_edge_restores_nothing(three):
    """H7: that it no longer holds does not make the target true again."""
    memory, a, b, _ = three
    memory.link(b, "supersedes", a)
    memory.retire(memory.edge(b, "supersedes", a))
    with pytest.raises(NotFound):
        memory.get(a)


# same_as -------------------------------------------------------------------------------------------


@pytest.fixture
def twins(memory):
    """Two entities with one fact each, and the proposal to merge them."""
    memory.register(Predicate("lives in", functional=True))
    memory.fact(Fact("Jon", "lives in", "Rome", valid_from=0))
    memory.fact(Fact("John", "likes", "tea", valid_from=0))
    jon, john = (
        next(n.id for n in memory.list("Entity").items if n.name == name) for name in ("Jon", "John")
    )
    receipt = memory.link(jon, "same_as", john)
    return memory, jon, john, receipt.proposals[0]


def test_same_as_only_proposes(twins):
    """C7: never a silent merge."""
    memory, jon, _, proposal = twins
    assert [p.id for p in memory.merges()] == [proposal]
    assert len(memory.equivalence_class(jon)) == 1
    assert {e.type for e in memory.query().run().edges} == {"fact"}


def test_an_accepted_identity_is_read_as_one(twins):
    """H10: walks and slots use the class; get does not; nothing is closed; undo parts them."""
    memory, _, john, proposal = twins
    before = memory.hash()
    assert memory.accept_merge(proposal).changed
    assert names(memory.equivalence_class(john)) == {"Jon", "John"}
    assert names(memory.query().seeds(john).follow("fact").run().nodes) >= {"Rome", "tea"}
    assert memory.get(john).name == "John"
    entities = [n for n in memory.list("Entity").items if n.name in ("Jon", "John")]
    assert len(entities) == 1
    assert any(note.startswith("same as") for note in entities[0].notes)
    identity = memory.export_identity(john)
    assert set(identity["names"]) == {"Jon", "John"}
    memory.undo_merge(proposal)
    assert names(memory.equivalence_class(john)) == {"John"}
    assert names(memory.query().seeds(john).follow("fact").run().nodes) == {"tea"}
    assert memory.hash() != before
    assert memory.verify().ok


def test_slots_follow_an_accepted_identity_from_its_known_time(twins):
    """A fact about one twin supersedes that of the other once they are one."""
    memory, _, _, proposal = twins
    memory.accept_merge(proposal)
    memory.fact(Fact("John", "lives in", "Oslo", valid_from=50))
    current = [n.content for n in memory.list("Fact").items if "lives" in n.content]
    assert current == ["John lives in Oslo"]


def test_identity_is_symmetric_and_only_undo_parts_it(twins):
    """One direction of a same_as edge cannot be ended alone."""
    memory, jon, john, proposal = twins
    memory.accept_merge(proposal)
    for pair in ((jon, john), (john, jon)):
        edge = memory.edge(pair[0], "same_as", pair[1])
        with pytest.raises(Refused, match="undo_merge"):
            memory.correct(edge)
        with pytest.raises(Refused, match="undo_merge"):
            memory.retire(edge)


def test_merge_decisions_are_idempotent_and_ordered(twins):
    """Each decision twice is once; a decision that makes no sense is refused."""
    memory, jon, john, proposal = twins
    with pytest.raises(Refused):
        memory.undo_merge(proposal)
    assert memory.reject_merge(proposal).changed
    assert not memory.reject_merge(proposal).changed
    assert not memory.link(jon, "same_as", john).changed
    assert memory.merges() == ()
    assert memory.accept_merge(proposal).changed
    with pytest.raises(Refused):
        memory.reject_merge(proposal)
    assert memory.undo_merge(proposal).changed
    assert [p.status for p in memory.merges(None)] == ["undone"]


def test_splitting_mentions_off_an_entity(memory):
    """C7: mentions move to a new entity; the second call changes nothing and verify stays clean."""
    ann = memory.note("Entity", "Ann").id
    first, second = (memory.note("learning", name).id for name in ("one", "two"))
    for note in (first, second):
        memory.link(note, "refers_to", ann)
    mention = memory.edge(second, "refers_to", ann)
    receipt = memory.split(ann, [mention], "Ann B.")
    assert names(memory.query().seeds(receipt.id).follow("refers_to", way="in").run().nodes) == {"two"}
    assert names(memory.query().seeds(ann).follow("refers_to", way="in").run().nodes) == {"one"}
    assert not memory.split(ann, [mention], "Ann B.").changed
    assert memory.verify().damage == ()


def test_only_an_entity_is_split_and_by_what_mentions_it(memory):
    """What is no entity, and no mention at all, are refused; no entity is made on the way."""
    said = memory.remember("Ann lives in Rome.", speaker="Bo").id
    ann, note = (memory.note(type_, "Ann").id for type_ in ("Entity", "learning"))
    mention = memory.edge(said, "refers_to", ann)
    for target, mentions in ((said, []), (note, [mention]), (ann, [])):
        with pytest.raises((Refused, InvalidInput), match=r"entity can be split|at least one mention"):
            memory.split(target, mentions, "x")
    assert "x" not in names(memory.list("Entity").items)


# contradicts, kinds, order -------------------------------------------------------------------------


def test_contradictions_are_told_in_reads(three):
    """Both stay, and each says what it conflicts with."""
    memory, a, b, _ = three
    memory.link(a, "contradicts", b)
    told = {n.name: n.notes for n in memory.list().items}
    assert told["a"] == ("contradicts b",)
    assert told["b"] == ("contradicts a",)
    assert told["c"] == ()


def test_lookups_by_kind_see_subtypes(memory):
    """where(kind=…) includes instances of subtypes, and circles of subtypes are refused."""
    animal, dog, rex, tom = (memory.note("learning", n).id for n in ("animal", "dog", "Rex", "Tom"))
    memory.link(dog, "subtype_of", animal)
    memory.link(rex, "instance_of", dog)
    memory.link(tom, "instance_of", animal)
    assert names(memory.query().where(kind=animal).run().nodes) == {"Rex", "Tom"}
    assert names(memory.query().where(kind=dog).run().nodes) == {"Rex"}
    with pytest.raises(Refused):
        memory.link(animal, "subtype_of", dog)


def test_precedes_makes_no_circles(three):
    """Order is an order, also over edges that have an end."""
    memory, a, b, c = three
    memory.link(a, "precedes", b, valid_from=0)
    memory.link(b, "precedes", c, valid_from=0, valid_to=100)
    with pytest.raises(Refused):
        memory.link(c, "precedes", a, valid_from=50)
    assert memory.link(c, "precedes", a, valid_from=100).changed


# facts ---------------------------------------------------------------------------------------------


@pytest.fixture
def homes(memory):
    """A memory in which one lives in one place at a time."""
    memory.register(Predicate("lives in", functional=True))
    return memory


def home(memory, at):
    """Where Ann lives at a time."""
    return {n.content.removeprefix("Ann lives in ") for n in memory.at(valid=at).list("Fact").items}


def tell(memory, place, at=None, **more):
    """Says where Ann lives."""
    return memory.fact(Fact("Ann", "lives in", place, valid_from=at, **more))


def test_facts_are_ordered_by_when_they_hold(homes):
    """Learned in any order, each holds from its own start to the next one's."""
    for place, at in (("Oslo", 20), ("Rome", 0), ("Bern", 10)):
        tell(homes, place, at)
    assert [home(homes, at) for at in (0, 9, 10, 19, 20)] == [
        {"Rome"},
        {"Rome"},
        {"Bern"},
        {"Bern"},
        {"Oslo"},
    ]
    assert homes.verify().ok


def test_a_fact_can_be_walked_like_an_edge(homes):
    """From subject to object, with its predicate, while it holds."""
    tell(homes, "Rome", 0)
    tell(homes, "Oslo", 10)
    ann = next(n for n in homes.list("Entity").items if n.name == "Ann")
    walk = homes.at(valid=5).query().seeds(ann).follow("fact").run()
    assert walk.names == {"Rome"}
    assert [e.metadata for e in walk.edges] == [{"predicate": "lives in"}]
    assert homes.query().seeds(ann).follow("fact").run().names == {"Oslo"}


def test_equal_starts_contradict(homes):
    """Both stay and both tell."""
    tell(homes, "Rome", 0)
    tell(homes, "Oslo", 0)
    facts = homes.list("Fact").items
    assert len(facts) == 2
    assert all(fact.notes == ("contradicts lives in",) for fact in facts)


def test_a_correction_gives_the_wrong_value_up(homes):
    """Cued as a correction, the old value was never true; it stays visible to known time only."""
    tell(homes, "Rome", 0)
    known = homes.list("Fact").items[0].known.start
    tell(homes, "Oslo", correction=True)
    assert home(homes, 0) == {"Oslo"}
    assert home(homes, 10**15) == {"Oslo"}
    assert {n.content for n in homes.at(valid=0, known=known).list("Fact").items} == {"Ann lives in Rome"}


def test_a_repetition_adds_evidence_only(homes):
    """The second event that says the same moves nothing; why shows both."""
    fact = Fact("Ann", "lives in", "Rome")
    homes.remember("(first page)", said_at=0, facts=[fact])
    homes.remember("(second page)", said_at=50, facts=[fact])
    (held,) = homes.list("Fact").items
    assert held.valid == Interval(0)
    assert {e.content for e in homes.why(held).events} == {"(first page)", "(second page)"}


def test_a_stated_later_start_revises(homes):
    """The earlier belief is given up on the known axis."""
    tell(homes, "Rome", 0)
    tell(homes, "Rome", 10)
    assert home(homes, 5) == set()
    assert home(homes, 10) == {"Rome"}


def test_a_closed_value_said_again_opens_another_interval(homes):
    """Rome, then Oslo, then Rome again: two disjoint stays."""
    for place, at in (("Rome", 0), ("Oslo", 10), ("Rome", 20)):
        tell(homes, place, at)
    assert [home(homes, at) for at in (5, 15, 25)] == [{"Rome"}, {"Oslo"}, {"Rome"}]


def test_other_slots_are_never_touched(homes):
    """Another subject, another predicate and another scope keep theirs."""
    tell(homes, "Rome", 0)
    homes.fact(Fact("Ben", "lives in", "Rome", valid_from=0))
    homes.fact(Fact("Ann", "likes", "Rome", valid_from=0))
    homes.scoped(user="u").fact(Fact("Ann", "lives in", "Bern", valid_from=0))
    tell(homes, "Oslo", 10)
    assert sorted(n.content for n in homes.list("Fact").items) == [
        "Ann likes Rome", "Ann lives in Bern", "Ann lives in Oslo", "Ben lives in Rome",
    ]  # fmt: skip


def test_a_doubtful_fact_is_kept_apart_and_closes_nothing(memory):
    """Below its class's threshold it is quarantined with the reason; confirming shows it."""
    memory.register(Predicate("salary", functional=True, threshold_class="financial"))
    memory.fact(Fact("Ann", "salary", literal=100, valid_from=0))
    doubt = memory.fact(Fact("Ann", "salary", literal=900, valid_from=10, confidence=0.8))
    assert [n.content for n in memory.list("Fact").items] == ["Ann salary 100"]
    assert memory.history(doubt.id)[-1].node.reason == "confidence 0.8 is below 0.9"
    memory.confirm(doubt.id)
    assert "Ann salary 900" in {n.content for n in memory.list("Fact").items}


def test_multi_valued_predicates_collect(memory):
    """Without `functional` every object stays."""
    for thing in ("tea", "milk"):
        memory.fact(Fact("Ann", "likes", thing, valid_from=0))
    assert len(memory.list("Fact").items) == 2


def test_a_fact_edge_needs_a_predicate(three):
    """Writing a fact by link runs the same handler."""
    from worldline import WorldlineError

    memory, a, b, _ = three
    with pytest.raises(WorldlineError):
        memory.link(a, "fact", b)
    memory.link(a, "fact", b, predicate="knows", valid_from=0)
    assert memory.query().seeds(a).follow("fact").run().names == {"b"}


def test_a_fact_edge_is_ended_like_the_fact(three):
    """Retiring the edge that a walk returned retires the fact."""
    memory, a, b, _ = three
    memory.link(a, "fact", b, predicate="knows", valid_from=0)
    (edge,) = memory.query().seeds(a).follow("fact").run().edges
    assert memory.retire(edge).changed
    assert memory.query().seeds(a).follow("fact").run().nodes == ()
