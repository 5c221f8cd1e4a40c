"""Chains of cause and effect that some turns state, each with the words it rests on.

A step is shown only where both happenings may be seen and a visible turn states both; steps join
where one's effect is the other's cause, across turns and sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

from msgspec import Struct

from worldline.model import Node
from worldline.ports import View

LONGEST = 5
MOST = 20
WIDE = 500
"""Around so many happenings no further step is read: what causes everything explains nothing."""


class ChainLink(Struct, frozen=True):
    """A chain, cause first: what each happening is called, and the turns that state the steps."""

    steps: tuple[str, ...]
    evidence: tuple[str, ...]


def chains(view: View, turns: Collection[int]) -> tuple[ChainLink, ...]:
    """The chains that begin in or run through what these turns state, the longest first."""
    whole = (
        view.bind(world=0) if view.world else view
    )  # happenings live in the root, their turns where they are
    stated = {edge.src_line for edge in whole.edges(turns, ("derived_from",), "in")} if turns else set()
    graph = _Chains(whole, stated)
    graph.keep({node.line for node in view.visible(sorted(graph.turns()))})
    seen: set[tuple[int, ...]] = set()
    for start in sorted(graph.starts(stated)):
        seen |= set(graph.paths(start))
    kept: list[tuple[int, ...]] = []
    for path in sorted(seen, key=lambda path: (-len(path), path)):
        if len(kept) < MOST and set(path) & stated and not any(_inside(path, other) for other in kept):
            kept.append(path)
    return tuple(_link(graph, path) for path in kept)


def _inside(path: tuple[int, ...], other: tuple[int, ...]) -> bool:
    many = len(path)
    return path != other and any(other[at : at + many] == path for at in range(len(other) - many + 1))


def _link(graph: _Chains, path: tuple[int, ...]) -> ChainLink:
    turns = [min(graph.shared(a, b)) for a, b in pairwise(path)]
    ids = {node.line: node.id for node in graph.view.visible(turns)}
    return ChainLink(
        tuple(graph.names[line] for line in path), tuple(dict.fromkeys(ids[turn] for turn in turns))
    )


class _Chains:
    """The stated causes around some happenings, read level by level in both directions."""

    def __init__(self, view: View, lines: Iterable[int]) -> None:
        self.view = view
        self.effects: dict[int, set[int]] = {}
        self.causes: dict[int, set[int]] = {}
        self._from: dict[int, set[int]] = {}
        self.names: dict[int, str] = {}
        frontier, known = set(lines), set(lines)
        for _ in range(LONGEST):
            frontier = self._step(frontier) - known if frontier and len(known) < WIDE else set()
            known |= frontier
        for edge in view.edges(sorted(known), ("derived_from",), "out") if known else ():
            self._from.setdefault(edge.src_line, set()).add(edge.dst_line)
        self.names = {node.line: _called(node) for node in view.visible(sorted(known))}

    def _step(self, lines: Collection[int]) -> set[int]:
        found = set()
        for edges in (self.view.edges(lines, ("causes",), "out"), self.view.edges(lines, ("causes",), "in")):
            for edge in edges:
                if edge.made != "inferred":
                    self.effects.setdefault(edge.src_line, set()).add(edge.dst_line)
                    self.causes.setdefault(edge.dst_line, set()).add(edge.src_line)
                    found |= {edge.src_line, edge.dst_line}
        return found

    def turns(self) -> set[int]:
        """Every turn that one of the happenings was drawn from."""
        return {turn for turns in self._from.values() for turn in turns}

    def shared(self, cause: int, effect: int) -> set[int]:
        """The turns that both were drawn from."""
        return self._from.get(cause, set()) & self._from.get(effect, set())

    def keep(self, shown: Collection[int]) -> None:
        """Leaves only the steps that one of these turns states."""
        self._from = {line: turns & set(shown) for line, turns in self._from.items()}
        for cause, effects in self.effects.items():
            for effect in sorted(effects):
                if not self.shared(cause, effect):
                    effects.discard(effect)
                    self.causes[effect].discard(cause)

    def starts(self, lines: Iterable[int]) -> set[int]:
        """Where the chains through these begin: causes without a cause, or the happening itself in a circle."""
        found, frontier, known = set[int](), set(lines), set[int]()
        while frontier:
            line = frontier.pop()
            known.add(line)
            above = self.causes.get(line, set()) - known
            frontier |= above
            if not above:
                found.add(line)
        return found

    def paths(self, start: int) -> list[tuple[int, ...]]:
        """The chains from here, as far as they go."""
        done: list[tuple[int, ...]] = []
        open_: list[tuple[int, ...]] = [(start,)]
        while open_ and len(done) < 4 * MOST:
            path = open_.pop()
            further = [
                (*path, line)
                for line in sorted(self.effects.get(path[-1], ()))
                if line not in path and len(path) < LONGEST
            ]
            open_ += further
            if not further and len(path) > 1:
                done.append(path)
        return done


def _called(node: Node) -> str:
    return node.name or node.content[:120]
