"""Why not: what kept a memory out of an answer: a filter, every lane, the rank, or the budget.

It repeats the recall and looks at each step for the one memory; it changes nothing and never looks
outside the view's tenant, scope and world.
"""

from __future__ import annotations

from collections.abc import Sequence

from worldline.clock import show
from worldline.model import Explanation, Node
from worldline.ports import View
from worldline.read import lanes
from worldline.read.lanes import Semantic
from worldline.read.pack import pack
from worldline.read.recall import Ranked, Wish, find, hits_of, in_hindsight
from worldline.read.score import how_many
from worldline.store import search
from worldline.store.nights import verbatim

_BESIDE = ("Fact", "Entity")


def explain(view: View, question: str, wish: Wish, semantic: Semantic | None, expected: Node) -> Explanation:
    """Where `expected` was lost, or the place that it has."""
    view = in_hindsight(view)
    if hidden := _hidden(view, expected):
        return Explanation(question, expected, "filter", hidden)
    ranked = find(view, question, wish, semantic)
    keys = [ranked.board.turns[at].key for at in ranked.order]
    if expected.key not in keys:
        return _unfound(view, ranked, semantic, expected)
    return _placed(view, ranked, wish, expected, keys.index(expected.key))


def _hidden(view: View, node: Node) -> str:
    """Why the view does not show a version; empty where it does."""
    if node.key in search.seen_among(view, [node.key]):
        if since := None if view.whole else search.archived(view, node.line):
            return f"it went cold at {show(since)}, unused for long; ask as of a moment, or pin it"
        return f"a {node.type} is shown beside the evidence, not in it" if node.type in _BESIDE else ""
    if view.labels and node.key in search.seen_among(view.bind(labels={}), [node.key]):
        return f"its metadata does not have {view.labels}"
    if node.status == "quarantined":
        return f"it is quarantined ({node.reason or 'no reason given'})"
    if node.known.end <= view.known:
        return f"it was given up at {show(node.known.end)}: superseded or corrected"
    if node.known.start > view.known:
        return f"it was learned at {show(node.known.start)}, after the moment looked from"
    if node.valid.end <= view.valid:
        return f"it held only until {show(node.valid.end)}"
    if node.valid.start > view.valid:
        return f"it holds only from {show(node.valid.start)} on"
    return "it lies outside this scope or world at this moment"


def _unfound(view: View, ranked: Ranked, semantic: Semantic | None, expected: Node) -> Explanation:
    """No lane brought it: how deep in each one it would have been."""
    asked, ground = ranked.asked, search.ground(view)
    depths = {"words": lanes.words(view, asked, ground, {}, None)}
    if semantic is not None:
        depths["vectors"] = list(lanes.vectors(view, semantic.index, semantic.query, ground, None))
    places = {lane: _place(expected.key, nodes) for lane, nodes in depths.items()}
    deep = [f"{lane}: place {at} of {len(depths[lane])}" for lane, at in places.items() if at]
    told = (
        f"no lane looks deep enough ({'; '.join(deep)}; each brings {lanes.DEPTH})"
        if deep
        else f"no lane finds it: it has none of the words {', '.join(asked.terms) or '(none)'}"
        + ("" if semantic is None else ", and no vector")
    )
    return Explanation(question=asked.text, node=expected, lost_by="lane", reason=told, lanes=places)


def _place(key: int, nodes: Sequence[int]) -> int:
    return nodes.index(key) + 1 if key in nodes else 0


def _placed(view: View, ranked: Ranked, wish: Wish, expected: Node, at: int) -> Explanation:
    """It is in the pool: whether its rank or the budget kept it out, if anything did."""
    wanted = wish.limit or how_many(ranked.asked)
    mine, text = ranked.board.scored(ranked.order[at]), ranked.asked.text
    found = {lane: nodes.get(expected.key, 0) for lane, nodes in ranked.pool.places.items()}
    if at >= wanted:
        last = ranked.board.scored(ranked.order[wanted - 1])
        gaps = {n: last.factors.get(n, 0) - mine.factors.get(n, 0) for n in {*last.factors, *mine.factors}}
        worst = sorted(gaps, key=lambda name: (-gaps[name], name))[:3]
        told = ", ".join(f"{name} {gaps[name]:+.2f}" for name in worst)
        reason = f"place {at + 1}, and {wanted} are returned; the last of them is ahead by {told}"
        return Explanation(text, expected, "rank", reason, at + 1, found, mine.score, mine.factors)
    chosen = [ranked.board.scored(i) for i in ranked.order[:wanted]]
    hits = hits_of(verbatim(view, [scored.key for scored in chosen]), chosen, ranked.pool)
    shown = pack(hits, wish.max_tokens, len(ranked.pool.candidates)).hits
    if expected.key in {hit.node.key for hit in shown}:
        there = f"it is there, at place {at + 1}"
        return Explanation(text, expected, "", there, at + 1, found, mine.score, mine.factors)
    reason = f"place {at + 1}, but no room in {wish.max_tokens} tokens, or the same words are there already"
    return Explanation(text, expected, "budget", reason, at + 1, found, mine.score, mine.factors)
