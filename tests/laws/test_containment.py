"""Containment does not leak: a read inside a world returns nothing outside it but refers_to targets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from worldline import Memory
from worldline.errors import Refused
from worldline.testing import FrozenClock

moves = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8)
links = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from(["relates_to", "refers_to", "supports", "contradicts", "refines"]),
        st.integers(0, 9),
    ),
    max_size=14,
)


class Forest:
    """Ten notes with random parents; the truth is a plain dict of parents."""

    def __init__(self, parents, moves, links) -> None:
        self.memory = Memory.open(":memory:", clock=FrozenClock(1000))
        self.ids, self.parent = [], {}
        for number, parent in enumerate(parents):
            inside = parent % number if number and parent < 8 else None
            handle = self.memory if inside is None else self.memory.enter(self.ids[inside])
            self.ids.append(handle.note("project", f"n{number}", "common words").id)
            self.parent[number] = inside
        for child, world in moves:
            self.move(child, world)
        self.edges = set()
        for src, type_, dst in links:
            if src != dst:
                self.memory.link(self.ids[src], type_, self.ids[dst])
                self.edges.add((src, type_, dst))

    def move(self, child: int, world: int) -> None:
        """Into another world, where that is no circle."""
        memory, old = self.memory, self.parent[child]
        if old is not None:
            memory.retire(memory.edge(self.ids[old], "contains", self.ids[child]))
            self.parent[child] = None
        try:
            memory.link(self.ids[world], "contains", self.ids[child])
        except Refused:
            assert self.inside(world, child)
        else:
            assert not self.inside(world, child)
            self.parent[child] = world

    def inside(self, number, world: int) -> bool:
        while number is not None:
            if number == world:
                return True
            number = self.parent[number]
        return False

    def allowed(self, world: int) -> tuple[set[str], set[str]]:
        """(what lies inside, what may be reached from there by one refers_to step)."""
        within = {n for n in self.parent if self.inside(n, world)}
        pierced = {d for s, t, d in self.edges if t == "refers_to" and s in within}
        return {self.ids[n] for n in within}, {self.ids[n] for n in within | pierced}


@given(st.lists(st.integers(0, 9), min_size=10, max_size=10), moves, links, st.integers(0, 9))
@settings(max_examples=40)
def test_no_read_inside_a_world_leaves_it(parents, moves, links, world):
    """Lists, queries, walks, history, changes, why and diff stay inside; refers_to gives one step."""
    forest = Forest(parents, moves, links)
    memory, inside = forest.memory, forest.memory.enter(forest.ids[world])
    within, pierced = forest.allowed(world)
    assert {n.id for n in inside.list().items} == within
    assert {n.id for n in inside.query().run().nodes} == within
    assert {n.id for n in memory.query().within(forest.ids[world]).run().nodes} == within
    assert {n.id for n in inside.query().text("common").run().nodes} == within
    assert {n.id for n, _ in inside.worlds()} <= within
    assert {e.src for e in inside.query().run().edges} <= within
    assert sum(inside.stats()["visible"].values()) == len(within)
    for id_ in sorted(within)[:3]:
        for way, depth in (("out", 2), ("both", 3)):
            found = inside.query().seeds(id_).follow(way=way, depth=depth).run()
            assert {n.id for n in found.nodes} <= pierced
        beyond = inside.query().seeds(id_).follow("refers_to").follow(depth=2).run()
        assert {n.id for n in beyond.nodes} <= pierced
        stay = inside.query().seeds(id_).follow("relates_to", "supports", way="both", depth=3).run()
        assert {n.id for n in stay.nodes} <= within
        assert {r.node.id for r in inside.why(id_).reasons} <= _ever(memory, forest, world)
    ever = _ever(memory, forest, world)
    for change in inside.changes(0):
        ends = {change.item.id} if change.kind == "node" else {change.item.src}
        assert ends <= ever
    diff = inside.diff(0)
    assert {n.id for n in diff.added} <= within
    memory.close()


def _ever(memory, forest, world: int) -> set[str]:
    """What has lain in the world at some time, by the contains edges of the whole feed."""
    edges = {
        (c.item.src, c.item.dst) for c in memory.changes(0) if c.kind == "edge" and c.item.type == "contains"
    }
    found, frontier = {forest.ids[world]}, {forest.ids[world]}
    while frontier:
        frontier = {dst for src, dst in edges if src in frontier} - found
        found |= frontier
    return found
