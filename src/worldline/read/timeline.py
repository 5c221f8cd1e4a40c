"""What happened about a topic, in order: dated memories, each with its own words as evidence.

It decides which memories belong to the topic (they share a word or a kind with it, or are near it
in meaning where nothing does) and when each of them happened: the one date that its text names, else
the moment it was said. Amended versions are shown with their intervals; withdrawn ones are not.
How much is covered around a topic is counted two steps around the entities that it names, or around the texts that
match it, where it names none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from worldline.clock import Instant
from worldline.model import Dated, Density, Edge, Node
from worldline.ports import View
from worldline.read.facts import ViewGraph
from worldline.read.lanes import Semantic
from worldline.read.meeting import degrees, needs
from worldline.read.question import read_question
from worldline.read.recall import Ranked, Wish, find
from worldline.read.turns import Turn
from worldline.rules.happenings import causes, landmarks
from worldline.rules.kinds import KIND
from worldline.store import search
from worldline.store.nights import verbatim
from worldline.store.words import any_of
from worldline.text import content_words

NEAR = 0.65
"""A cosine from which on a text without any word of the topic is about it all the same."""


def timeline(
    view: View,
    topic: str,
    wish: Wish,
    semantic: Semantic | None,
    within: tuple[Instant, Instant],
    *,
    withdrawn: bool = False,
) -> tuple[Dated, ...]:
    """At most `wish.limit` memories of the topic that happened within a stretch of time, oldest first."""
    ranked = find(view, topic, wish, semantic)
    turns = [turn for turn in _about(ranked) if within[0] <= (_happened(turn) or 0) < within[1]]
    chosen = {turn.key: turn for turn in turns[: wish.limit or 50]}
    found = verbatim(view, chosen)
    dated = []
    for key, turn in chosen.items():
        told = found.get(key)
        if told is None or (not withdrawn and told.node.known.end <= view.known):
            continue
        node = told.node
        at = _happened(turn)
        when = node.valid.start if at is None else at
        dated.append(Dated(when, node, told.sender, told.said_at, told.session, *_told(node)))
    return tuple(sorted(dated, key=lambda one: (one.at, one.said_at or one.at, one.node.key)))


def _told(node: Node) -> tuple[str, tuple[str, ...]]:
    """The kind of the weightiest landmark in a turn, and what it says brought about what."""
    if node.type != "Turn":
        return "", ()
    text = node.content
    kind = max(landmarks(text), key=lambda one: one.weight, default=None)
    pairs = [(text[slice(*one.cause)], text[slice(*one.effect)]) for one in causes(text)]
    return kind.kind if kind else "", tuple(f"{cause} → {effect}" for cause, effect in pairs)


def _about(ranked: Ranked) -> Iterator[Turn]:
    """The candidates that meet the topic, best first: by a word, or else by a meaning that is near enough."""
    wanted = needs(replace(ranked.asked, people=()), ranked.pool.corpus)  # a person's name is a topic's word
    turns = [ranked.board.turns[at] for at in ranked.order]
    met = [turn for turn in turns if max(degrees(wanted, turn.described.words), default=0.0) >= KIND]
    return iter(met or [turn for turn in turns if (turn.cosine or 0.0) >= NEAR])


def _happened(turn: Turn) -> Instant | None:
    """The one date that a text names, else when it was said; None for a note."""
    dates = turn.described.dates
    return dates[0][0] if len(dates) == 1 else turn.said_at


# How much there is --------------------------------------------------------------------------------


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
