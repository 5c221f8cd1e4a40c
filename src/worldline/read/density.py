"""What is already covered around a topic: how much, from how many sources, how fresh, how disputed.

It looks two steps around the entities that the topic names (around the texts that match it, where
it names none) and only counts; every step goes through the view.
"""

from __future__ import annotations

from collections.abc import Collection

from worldline.model import Density, Edge, Node
from worldline.ports import View
from worldline.read.facts import ViewGraph
from worldline.read.question import read_question
from worldline.store import search
from worldline.store.strengths import verbatim
from worldline.store.words import any_of
from worldline.text import content_words

HOPS = 2
WIDEST = 2_000
"""Beyond so many memories the rest is not walked, and the answer says so."""
_STRUCTURE = frozenset({"Scope", "Session"})


def density(view: View, topic: str) -> Density:
    """Counts within two steps of the topic."""
    starts = _starts(view, topic)
    lines, edges, cut = _walk(view, starts)
    nodes = [node for node in view.visible(lines) if node.type not in _STRUCTURE]
    kept = {node.line for node in nodes}
    inner = [edge for edge in edges if {edge.src_line, edge.dst_line} <= kept]
    sources = {node.line for node in nodes if node.type == "Turn"}
    return Density(
        topic,
        tuple(node for node in nodes if node.line in starts),
        len(nodes),
        sum(1 for node in nodes if node.type == "Fact"),
        len(sources),
        round(len(inner) / len(nodes), 3) if nodes else 0.0,
        max((_date(node) for node in nodes), default=None),
        sum(1 for edge in inner if edge.type == "contradicts" and "about" not in edge.metadata),
        cut,
    )


def _date(node: Node) -> int:
    return node.valid.start if node.type != "Entity" else node.known.start


def _starts(view: View, topic: str) -> set[int]:
    """The entities that the topic names, else the texts that hold its words."""
    mentions = read_question(topic, ViewGraph(view).link).mentions
    if mentions:
        return set(view.same_as(*(int(mention.entity) for mention in mentions)))
    tokens = list(dict.fromkeys(content_words(topic)))
    if not tokens:
        return set()
    found = search.search_words(view, any_of(tokens), search.ground(view).owners, 20)
    return {told.node.line for told in verbatim(view, found).values()}


def _walk(view: View, starts: Collection[int]) -> tuple[list[int], list[Edge], bool]:
    """(lineages within two steps, the edges seen on the way, whether some were left out)."""
    seen, frontier, edges = dict.fromkeys(starts), list(starts), dict[int, Edge]()
    for _ in range(HOPS):
        found = [*view.edges(frontier, None, "out"), *view.edges(frontier, None, "in")]
        found = [edge for edge in found if edge.type != "contains"]
        edges.update((edge.key if edge.type != "fact" else -edge.key, edge) for edge in found)
        reached = dict.fromkeys(line for edge in found for line in (edge.src_line, edge.dst_line))
        frontier = [line for line in reached if line not in seen][: WIDEST - len(seen)]
        seen.update(dict.fromkeys(frontier))
    return list(seen), list(edges.values()), len(seen) >= WIDEST
