"""Recall, straight through: a question in, verbatim evidence within a budget out.

    ask → search the lanes → gather the pool → rank → judge → pack → conclude

No model is called but the embedder, once, for the question. The view is bound to scope, world and
moment before anything is looked for. Same store and question, same answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import Instant
from worldline.model import Hit, Node, NodeDraft, Recall
from worldline.read import lanes
from worldline.read.cues import Asked, ask
from worldline.read.features import Corpus, Turn
from worldline.read.known import Known, known
from worldline.read.pack import pack
from worldline.read.score import Scored, how_many, judge, rank
from worldline.rules.describe import Described
from worldline.store.tx import described_draft
from worldline.store.view import LISTED, NODE, SqlView, annotate, listed, node_from

if TYPE_CHECKING:
    from worldline.read.relation_match import Matcher
    from worldline.store.vectors import Floats, VectorIndex

NEAR = 30
"""So many of the best candidates bring their neighbours into the pool."""
RRF = 60
THIS_SESSION = 0.4
"""What it is worth to have been said in the session at hand."""
_NO_CONTEXT = Described("", 0, 0)


class Wish(Struct, frozen=True):
    """What a caller asked for, besides the question."""

    asked_at: Instant
    max_tokens: int = 2000
    limit: int | None = None
    session: int = 0
    explain: bool = False
    without: frozenset[str] = frozenset()
    """Lanes to leave out, to see what they bring."""


class Semantic(Struct, frozen=True):
    """The question as a vector, and the index to look it up in."""

    query: Floats
    index: VectorIndex


class Pool(Struct, frozen=True):
    """Candidates and their neighbours, the lanes' findings, and the counts behind the scores."""

    turns: Sequence[Turn]
    candidates: frozenset[int]
    places: Mapping[str, Mapping[int, int]]
    corpus: Corpus


def recall(
    view: SqlView, question: str, wish: Wish, semantic: Semantic | None, matcher: Matcher | None = None
) -> Recall:
    """The whole walk, inside one snapshot."""
    asked = ask(question, wish.asked_at, view.speakers())
    pool = gather(view, asked, wish, semantic)
    ranked = _prefer_session(rank(asked, pool.turns, pool.corpus), pool, wish.session)
    verdict = judge(asked, pool.turns, pool.corpus, _in_order(ranked, pool.turns))
    chosen = [scored for scored in ranked if scored.key in pool.candidates][: wish.limit or how_many(asked)]
    hits = _hits(view, chosen, pool)
    reason = None if verdict.enough else _why_not(asked, pool, verdict.measures)
    believed = Known() if "facts" in wish.without else known(view, asked, matcher)
    if believed.answer:
        reason = None
    opening = _opening(reason, believed, wish.max_tokens)
    text, shown = pack(hits, wish.max_tokens, len(pool.candidates), opening)
    return Recall(
        question,
        tuple(hits if wish.limit else shown),
        text,
        _estimate(text),
        bool(reason),
        reason,
        verdict.sure,
        tuple(_trace(asked, pool, verdict.measures, verdict.sure)) if wish.explain else (),
        believed.facts,
        believed.answer.name if believed.answer else None,
        view.ids([int(hop.fact) for hop in believed.answer.hops]) if believed.answer else (),
    )


def _opening(reason: str | None, believed: Known, budget: int) -> str:
    """What stands above the evidence: a doubt, and what is believed."""
    doubt = f"Not sure that this is known: {reason}" if reason else ""
    return "\n".join(part for part in (doubt, believed.shown(budget)) if part)


def _estimate(text: str) -> int:
    from worldline.text import estimate_tokens

    return estimate_tokens(text)


# The pool ------------------------------------------------------------------------------------------


def gather(view: SqlView, asked: Asked, wish: Wish, semantic: Semantic | None) -> Pool:
    """What the lanes found, with the turns around it."""
    tags = [tag for tags in asked.kinds for tag in tags]
    frequency = view.frequencies({*asked.terms, *tags})
    size, mean = view.corpus()
    found: dict[str, list[int]] = {}
    if "words" not in wish.without:
        found["words"] = lanes.words(view, asked, frequency)
    if semantic is not None and "vectors" not in wish.without:
        found["vectors"] = list(lanes.vectors(view, semantic.index, semantic.query))
    first = list(dict.fromkeys(node for nodes in found.values() for node in nodes))
    around = [] if "neighbours" in wish.without else lanes.neighbours(view, first)
    cosines = semantic.index.cosines(semantic.query, {*first, *around}) if semantic else {}
    turns = _turns(view, list(dict.fromkeys([*first, *around])), cosines if semantic else None)
    places = {lane: {node: at for at, node in enumerate(nodes, 1)} for lane, nodes in found.items()}
    near = _beside(turns, sorted(first, key=lambda n: (-_fused(n, places), n))[:NEAR])
    corpus = Corpus(max(size, 1), mean, {t: min(n, size) for t, n in frequency.items()})
    held = {turn.key for turn in turns}
    return Pool(turns, frozenset((set(first) | near) & held), places, corpus)


def _fused(node: int, places: Mapping[str, Mapping[int, int]]) -> float:
    return sum(1 / (RRF + at[node]) for at in places.values() if node in at)


def _beside(turns: Sequence[Turn], best: Collection[int]) -> set[int]:
    """The neighbours of the best, which become candidates themselves."""
    seats = {(t.session, t.position): t.key for t in turns}
    by_key = {t.key: t for t in turns}
    return {
        key
        for node in best
        if (turn := by_key.get(node))
        for step in (-1, 1)
        if (key := seats.get((turn.session, turn.position + step))) is not None
    }


def _turns(view: SqlView, nodes: Sequence[int], cosines: Mapping[int, float] | None) -> list[Turn]:
    """The pool's texts as scoring sees them; a text that was loaded in bulk is described now."""
    rows = view.query(
        "SELECT n.id, t.session, t.position, t.described, t.speaker, t.role, t.said_at,"
        " CASE WHEN t.node IS NULL THEN n.type END, n.name, CASE WHEN t.node IS NULL THEN n.content END"
        " FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" LEFT JOIN texts t ON t.node = n.id WHERE n.id IN {LISTED} AND {view.seen()} GROUP BY n.id",
        among=listed(nodes),
    )
    by_key = {row[0]: _turn(row, cosines) for row in rows}
    return [by_key[node] for node in nodes if node in by_key]


_DECODER = msgspec.msgpack.Decoder(Described)


def _turn(row: Sequence[Any], cosines: Mapping[int, float] | None) -> Turn:
    key, session, position, described, speaker, role, said_at, type_, name, content = row
    if described is None:
        fresh = described_draft(NodeDraft(type_, name, content))
        session, position, speaker, role, value = key, -2 * key, "", "people", fresh
    else:
        value = _DECODER.decode(described)
    cosine = None if cosines is None else cosines.get(key, 0.0)
    return Turn(key, str(session), position, value, speaker, role, said_at, cosine)


# After the score -----------------------------------------------------------------------------------


def _prefer_session(ranked: list[Scored], pool: Pool, session: int) -> list[Scored]:
    """What was said in the session at hand comes a little earlier."""
    if not session:
        return ranked
    here = {turn.key for turn in pool.turns if turn.session == str(session)}
    raised = [
        replace(s, score=s.score + THIS_SESSION, factors={**s.factors, "this session": THIS_SESSION})
        if s.key in here
        else s
        for s in ranked
    ]
    return sorted(raised, key=lambda s: (-round(s.score, 9), s.key))


def _in_order(ranked: Sequence[Scored], turns: Sequence[Turn]) -> Any:
    import numpy as np

    score = {s.key: s.score for s in ranked}
    return np.array([score[turn.key] for turn in turns])


def _hits(view: SqlView, chosen: Sequence[Scored], pool: Pool) -> list[Hit]:
    """The chosen ones, verbatim, with who said them when, and what to know about them."""
    keys = [scored.key for scored in chosen]
    rows = view.query(
        f"SELECT {NODE}, e.sender, e.said_at, e.utc_offset, (SELECT name FROM nodes w WHERE w.id = e.session)"
        " FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" LEFT JOIN events e ON e.node = n.id WHERE n.id IN {LISTED} AND {view.seen()} GROUP BY n.id",
        among=listed(keys),
    )
    found = {row[0]: (node_from(row), row[19:]) for row in rows}
    notes = _notes(view, [node for node, _ in found.values()])
    hits = []
    for scored in chosen:
        if scored.key in found:
            node, (sender, said_at, offset, session) = found[scored.key]
            places = {lane: at[node.key] for lane, at in pool.places.items() if node.key in at}
            hits.append(
                Hit(
                    annotate(node, notes.get(node.line, ())), scored.score, places or {"neighbour": 0},
                    scored.factors, sender or "", said_at, offset or 0, session,
                )
            )  # fmt: skip
    return hits


def _notes(view: SqlView, nodes: Sequence[Node]) -> dict[int, list[str]]:
    """Open contradictions, and what has replaced the facts that were drawn from a turn."""
    lines = [node.line for node in nodes]
    notes: dict[int, list[str]] = {}
    edges = [*view.edges(lines, ("contradicts",), "out"), *view.edges(lines, ("contradicts",), "in")]
    others = {n.line: n for n in view.visible({x for e in edges for x in (e.src_line, e.dst_line)})}
    for edge in {e.key: e for e in edges}.values():
        for near, far in ((edge.src_line, edge.dst_line), (edge.dst_line, edge.src_line)):
            if far in others and near in lines:
                other = others[far]
                notes.setdefault(near, []).append(f"contradicted by {other.name}: {other.content[:160]}")
    for line, text in view.replaced_facts(lines):
        notes.setdefault(line, []).append(f"no longer so: {text[:160]}")
    return notes


# In words --------------------------------------------------------------------------------------------


def _why_not(asked: Asked, pool: Pool, measures: Mapping[str, float]) -> str:
    if not pool.candidates:
        return "nothing stored has anything to do with the question"
    missing = [t for t in asked.terms if not pool.corpus.frequency.get(t)]
    if missing:
        return f"nothing stored mentions {', '.join(missing[:3])}"
    if measures.get("own", 0.0) < 0:
        return "what was found speaks of somebody else"
    return "what was found meets too little of the question"


def _trace(asked: Asked, pool: Pool, measures: Mapping[str, float], sure: float) -> list[str]:
    lines = [
        f"terms: {', '.join(asked.terms) or 'none'}",
        f"people: {', '.join(asked.people) or 'none'}",
        f"windows: {len(asked.windows)}, to the assistant: {asked.to_assistant}, several: {asked.several}",
    ]
    lines += [f"lane {lane}: {len(at)} found" for lane, at in pool.places.items()]
    lines.append(f"pool: {len(pool.candidates)} candidates, {len(pool.turns)} with their neighbours")
    told = ", ".join(f"{name} {value:.2f}" for name, value in measures.items())
    return [*lines, f"evidence {sure:.2f}: {told}"]
