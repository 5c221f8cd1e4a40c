"""The closed ontology, its extension per world, and custom edge types with their three hooks."""

from __future__ import annotations

import msgspec
import pytest

from worldline import Ask, EdgeType, Fact, Memory, NodeType, Predicate
from worldline.clock import Interval
from worldline.errors import Conflict, Refused, UnknownType, WorldlineError
from worldline.model import Close, EdgeDraft, Put, Refuse
from worldline.rules.handlers import AGENT_EDGES, AGENT_TYPES, EDGE_TYPES
from worldline.write.given import Link, Note


def test_an_unknown_node_type_is_refused_with_the_list_and_the_nearest(memory):
    """The message helps to repair the call."""
    with pytest.raises(UnknownType, match="did you mean 'learning'") as caught:
        memory.note("lerning", "x")
    for name in AGENT_TYPES:
        assert name in str(caught.value)
    assert memory.stats()["changesets"] == 0


def test_an_unknown_edge_type_is_refused_with_the_list_and_the_nearest(memory):
    """The same for edges."""
    a, b = (memory.note("learning", name).id for name in "ab")
    with pytest.raises(UnknownType, match="did you mean 'supports'") as caught:
        memory.link(a, "suports", b)
    for name in EDGE_TYPES:
        assert name in str(caught.value)


@pytest.mark.parametrize("type_", ["Scope", "Session", "Turn", "Fact"])
def test_nobody_writes_the_engines_own_types(memory, type_):
    """They come from remember, facts and scopes."""
    with pytest.raises(UnknownType):
        memory.note(type_, "x")


@pytest.mark.parametrize("type_", ["Entity", "Decision", "Topic", "Happening", "Summary"])
def test_agents_cannot_use_structural_node_types(memory, type_):
    """An operator may write them, an agent's handle may not."""
    assert memory.note(type_, "x").changed
    with pytest.raises(UnknownType):
        memory.as_agent().note(type_, "y")
    with pytest.raises(UnknownType):
        memory.as_agent().load([Note(type_, "z")])


def test_agents_write_only_their_edges(memory):
    """relates_to, refines, contradicts, supersedes, supports; the rest is refused."""
    a, b = (memory.note("learning", n, valid_from=at).id for n, at in (("a", 0), ("b", 10)))
    agent = memory.as_agent()
    assert set(AGENT_EDGES) == {"relates_to", "refines", "contradicts", "supersedes", "supports"}
    for type_ in EDGE_TYPES:
        if type_ in AGENT_EDGES:
            assert agent.link(b, type_, a).changed
        else:
            with pytest.raises(UnknownType):
                agent.link(b, type_, a)


def test_agents_cannot_extend_the_ontology(memory):
    """Only an operator registers."""
    for item in (NodeType("recipe"), EdgeType("cites"), Predicate("likes")):
        with pytest.raises(Refused):
            memory.as_agent().register(item)


def test_a_node_type_holds_for_its_world_and_below(memory):
    """Registered inside W, it is known in W and in worlds inside W, and nowhere else."""
    world = memory.note("project", "w").id
    inner = memory.enter(world).note("project", "inner").id
    memory.enter(world).register(NodeType("recipe"))
    assert memory.enter(world).note("recipe", "soup").changed
    assert memory.enter(inner).note("recipe", "cake").changed
    assert memory.enter(inner).as_agent().note("recipe", "tea").changed
    with pytest.raises(UnknownType):
        memory.note("recipe", "bread")


def test_built_in_types_cannot_be_replaced(memory):
    """Registering a built-in name is refused, and its handler stays."""
    with pytest.raises(Refused):
        memory.register(EdgeType("contains"))
    with pytest.raises(Refused):
        memory.register(NodeType("learning"))
    a = memory.note("project", "a").id
    with pytest.raises(Refused):
        memory.link(a, "contains", a)


def test_predicates_per_world(memory):
    """A predicate that is functional in one world has many values in another."""
    world = memory.note("project", "w").id
    inside = memory.enter(world)
    inside.register(Predicate("drinks", functional=True))
    for handle in (memory, inside):
        for at, what in ((0, "tea"), (10, "milk")):
            handle.fact(Fact("Ann", "drinks", what, valid_from=at))
    assert [n.content for n in inside.list("Fact").items] == ["Ann drinks milk"]
    assert len(memory.list("Fact").items) == 3


# Custom edge types ---------------------------------------------------------------------------------


@pytest.fixture
def pair(memory):
    """A memory and two notes."""
    return memory, *(memory.note("learning", name, valid_from=0).id for name in "ab")


def rows(memory):
    """Every row that an edge write may add."""
    return [memory.handle.store.query(f"SELECT * FROM {t}") for t in ("nodes", "beliefs", "edges", "log")]


def test_a_handler_that_refuses_leaves_nothing_behind(pair):
    """Refuse is an error with its reason, and no row."""
    memory, a, b = pair
    memory.register(EdgeType("vetoes", on_insert=lambda edge, view: [Refuse("not today")]))
    before = rows(memory)
    with pytest.raises(Refused, match="not today"):
        memory.link(a, "vetoes", b)
    assert rows(memory) == before


def test_a_handler_that_raises_leaves_nothing_behind(pair):
    """The exception comes out, the changeset is rolled back whole."""
    memory, a, b = pair

    def explode(edge, view):
        view.query("SELECT 1")
        raise ZeroDivisionError

    def later(edge, view):
        return [Put(edge=EdgeDraft(edge.dst, "supports", edge.src, Interval(0))),
                Put(edge=EdgeDraft(edge.src, "bomb", edge.dst, Interval(0)))]  # fmt: skip

    memory.register(EdgeType("bomb", on_insert=explode))
    memory.register(EdgeType("fuse", on_insert=later))
    before = rows(memory)
    for type_ in ("bomb", "fuse"):
        with pytest.raises(ZeroDivisionError):
            memory.link(a, type_, b)
    assert rows(memory) == before
    assert memory.verify().ok
    assert memory.note("learning", "still works").changed


def test_what_a_handler_puts_goes_through_dispatch_again(pair):
    """An edge put by a handler runs its own handler, and a refusal there undoes all."""
    memory, a, b = pair
    memory.register(
        EdgeType("loops", on_insert=lambda e, v: [Put(edge=EdgeDraft(e.src, "supports", e.src, Interval(0)))])
    )
    memory.register(
        EdgeType(
            "echoes", on_insert=lambda e, v: [Put(edge=EdgeDraft(e.dst, "supports", e.src, Interval(0)))]
        )
    )
    before = rows(memory)[2]
    with pytest.raises(Refused):
        memory.link(a, "loops", b)
    assert rows(memory)[2] == before
    memory.link(a, "echoes", b)
    assert memory.query().seeds(b).follow("supports").run().names == {"a"}


def test_a_handler_may_close(pair):
    """Close ends a belief in the same changeset."""
    memory, a, b = pair
    memory.register(
        EdgeType("ends", on_insert=lambda e, v: [Close(x, valid_to=50) for x in v.beliefs(e.dst)])
    )
    receipt = memory.link(a, "ends", b)
    assert memory.at(valid=49).get(b).valid == Interval(0, 50)
    assert {n.name for n in memory.list().items} == {"a"}
    memory.undo(receipt)
    assert {n.name for n in memory.list().items} == {"a", "b"}


def test_on_delete_runs_on_retire_and_on_correct(pair):
    """Deleting an edge either way runs the hook; a hook that refuses keeps the edge."""
    memory, a, b = pair
    seen = []

    def deleted(edge, view):
        seen.append((edge.type, edge.put_at > 0))
        return []

    memory.register(EdgeType("binds", on_delete=deleted))
    memory.register(EdgeType("welds", on_delete=lambda e, v: [Refuse("for ever")]))
    for end in (memory.retire, memory.correct):
        memory.link(a, "binds", b)
        end(memory.edge(a, "binds", b))
    assert set(seen) == {("binds", True)}
    assert len(seen) == 3, "once for the retired interval, then for both when the edge was never true"
    memory.link(a, "welds", b)
    with pytest.raises(Refused, match="for ever"):
        memory.correct(memory.edge(a, "welds", b))
    assert memory.query().seeds(a).follow("welds").run().names == {"b"}


def test_query_rewrites_are_visible_in_reads(pair):
    """hide leaves targets out of list and query; annotate tells of the edge."""
    memory, a, b = pair
    memory.register(
        EdgeType(
            "hides", on_query_rewrite=lambda ask, v: msgspec.structs.replace(ask, hide=ask.hide | {"hides"})
        )
    )
    memory.register(
        EdgeType(
            "doubts",
            on_query_rewrite=lambda ask, v: msgspec.structs.replace(ask, annotate=ask.annotate | {"doubts"}),
        )
    )
    memory.link(a, "doubts", b)
    assert {n.name: n.notes for n in memory.list().items} == {"a": ("doubts b",), "b": ("doubts a",)}
    memory.link(a, "hides", b)
    assert {n.name for n in memory.list().items} == {"a"}
    assert memory.query().run().names == {"a"}
    assert "hides" in memory.query().explain()
    memory.retire(memory.edge(a, "hides", b))
    assert {n.name for n in memory.list().items} == {"a", "b"}
    assert isinstance(Ask(), Ask)


def test_a_process_without_the_handler_reads_and_refuses_to_write(tmp_path):
    """Name and version are on record; another version of the handler does not do either."""
    path = tmp_path / "m.db"
    with Memory.open(path) as first:
        a, b = (first.note("learning", name).id for name in "ab")
        first.register(EdgeType("cites", version="2"))
        first.link(a, "cites", b)
    with Memory.open(path) as second:
        assert second.query().seeds(a).follow("cites").run().names == {"b"}
        edge = second.edge(a, "cites", b)
        for write in (
            lambda: second.link(b, "cites", a),
            lambda: second.load([Note("learning", "c"), Note("learning", "d")], [Link(0, "cites", 1)]),
            lambda: second.correct(edge),
            lambda: second.retire(edge),
        ):
            with pytest.raises(Refused, match="cites"):
                write()
        second.handle.types["cites"] = EdgeType("cites", version="1")
        with pytest.raises(Refused, match="version 2"):
            second.link(b, "cites", a)
        second.handle.types["cites"] = EdgeType("cites", version="2")
        assert second.link(b, "cites", a).changed
        assert second.verify().ok


def test_agents_write_a_custom_edge_only_when_it_is_theirs(pair):
    """agent_facing decides."""
    memory, a, b = pair
    memory.register(EdgeType("audits"))
    memory.register(EdgeType("praises", agent_facing=True))
    assert memory.as_agent().link(a, "praises", b).changed
    with pytest.raises(UnknownType):
        memory.as_agent().link(a, "audits", b)


def test_an_edge_type_is_unknown_outside_its_world(memory):
    """Registered inside W, it joins memories of W only through a handle in W."""
    world = memory.note("project", "w").id
    inside = memory.enter(world)
    a, b = (inside.note("learning", name).id for name in "ab")
    inside.register(EdgeType("cites"))
    assert inside.link(a, "cites", b).changed
    with pytest.raises(UnknownType):
        memory.link(a, "cites", b)


def test_every_public_way_of_writing_an_edge_runs_its_handler(memory):
    """link, load, note in a world, facts, merges, split and amend all dispatch; counters prove it."""
    count: dict[str, int] = {}

    def watched(type_):
        def run(edge, view, inner=type_.on_insert):
            count[edge.type] = count.get(edge.type, 0) + 1
            return inner(edge, view)

        return msgspec.structs.replace(type_, on_insert=run)

    memory.handle.types.update({name: watched(t) for name, t in memory.handle.types.items()})
    a, b = (memory.note("learning", n, valid_from=at).id for n, at in (("a", 0), ("b", 10)))
    memory.link(a, "relates_to", b)
    memory.load([Note("project", "p"), Note("learning", "q", inside=0)], [Link(0, "supports", 1)])
    memory.enter(a).note("learning", "inner")
    memory.remember("Ann knows Ben", said_at=0, session="s", facts=[Fact("Ann", "knows", "Ben")])
    memory.link(a, "fact", b, predicate="knows")
    memory.amend(a, "new")
    memory.correct(b, "newer")
    proposal = memory.link(a, "same_as", b).proposals[0]
    memory.accept_merge(proposal)
    ben = memory.note("Entity", "Ben").id
    memory.link(a, "refers_to", ben)
    memory.split(ben, [memory.edge(a, "refers_to", ben)], "B")
    stored = memory.handle.store.query("SELECT type, count(DISTINCT hash) FROM edges GROUP BY 1")
    for type_, number in stored:
        assert count.get(type_, 0) >= number, type_
    assert count["fact"] >= 2


def test_custom_names_are_checked(memory):
    """A name is text without tricks."""
    for item in (EdgeType(""), NodeType("a\x00b"), EdgeType("\ud800"), EdgeType(None), NodeType(5)):  # type: ignore[arg-type]
        with pytest.raises(WorldlineError):
            memory.register(item)
    memory.register(EdgeType("o'brien; DROP TABLE edges"))
    a, b = (memory.note("learning", name).id for name in "ab")
    memory.link(a, "o'brien; DROP TABLE edges", b)
    assert memory.query().seeds(a).follow("o'brien; DROP TABLE edges").run().names == {"b"}


def test_a_registration_can_be_undone(memory):
    """The type is unknown again, may be registered again, and an earlier version stands again."""
    first = memory.register(NodeType("recipe"))
    assert memory.undo(first).changed
    assert not memory.undo(first).changed
    with pytest.raises(UnknownType):
        memory.note("recipe", "soup")
    edge = memory.register(EdgeType("cooks"))
    memory.undo(edge)
    assert memory.register(EdgeType("cooks")).changed
    memory.register(Predicate("lives_in", functional=True))
    memory.undo(memory.register(Predicate("lives_in", functional=False)))
    for city in ("Porto", "Lisbon"):
        memory.fact(Fact("Ana", "lives_in", city))
    assert [n.content for n in memory.list("Fact").items] == ["Ana lives_in Lisbon"]
    assert memory.verify().ok


def test_a_registration_in_use_is_not_undone(memory):
    """What was written with a type needs it; and agents cannot take it away."""
    receipt = memory.register(NodeType("recipe"))
    with pytest.raises(Refused, match="operator"):
        memory.as_agent().undo(receipt)
    memory.note("recipe", "soup")

    with pytest.raises(Conflict, match="'recipe'"):
        memory.undo(receipt)
    assert memory.note("recipe", "stew").changed
