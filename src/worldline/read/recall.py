"""Recall, straight through: a question in, verbatim evidence within a budget out.

    ask → search the lanes → gather the pool → rank → judge → (rerank) → pack

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
from worldline.read import biography, lanes, topics, worlds
from worldline.read.cues import Asked, ask
from worldline.read.features import Column, Corpus, Turn
from worldline.read.known import Known, known
from worldline.read.meeting import FAMILY, degrees, needs, shares
from worldline.read.pack import pack
from worldline.read.recency import in_time, outdated
from worldline.read.rerank import rerank
from worldline.read.score import Board, Judged, Scored, how_many, judge, score
from worldline.read.signals import signals, unasked
from worldline.read.weights import MEETS, THRESHOLD
from worldline.rules.describe import Described
from worldline.store import search
from worldline.store.indexing import described_draft
from worldline.store.vectors import require_identity
from worldline.store.view import SqlView, annotate
from worldline.text import estimate_tokens

if TYPE_CHECKING:
    from worldline.ports import Reranker
    from worldline.read.relation_match import Matcher
    from worldline.store.vectors import Floats, VectorIndex

NEAR = 30
"""So many of the best candidates bring their neighbours into the pool."""
KNOWN_AROUND = 80
"""So many of the best are scored with what stands before and after them."""
RRF = 60
WHOLE = 40
"""A memory of no more texts than this is read whole: what is asked in other words is found as well."""
NOTHING_STORED = Corpus(1, 1.0, {})
"""Any word may be a slip of the pen."""


class Wish(Struct, frozen=True):
    """What a caller asked for, besides the question."""

    asked_at: Instant
    max_tokens: int = 2000
    limit: int | None = None
    session: int = 0
    explain: bool = False
    without: frozenset[str] = frozenset()
    """Lanes to leave out, to see what they bring."""
    at_least: int = 0
    """So many candidates are read for a reranker, even where fewer are wanted."""


class Semantic(Struct, frozen=True):
    """The question as a vector, who made it, and the index to look it up in."""

    query: Floats
    identity: str
    index: VectorIndex


class Pool(Struct, frozen=True):
    """Candidates and their neighbours, the lanes' findings, and the counts behind the scores."""

    turns: Sequence[Turn]
    candidates: frozenset[int]
    places: Mapping[str, Mapping[int, int]]
    corpus: Corpus
    worlds: Mapping[int, float] = {}
    """How near each world is to the question, where sleep has composed them."""
    replaced: Mapping[int, Sequence[int]] = {}
    """Turns whose facts are over, as far as the question asks for them, and the turns that took their place."""
    course: topics.Course = topics.Course()
    """The topics that a broad question's evidence lies in."""


class Ranked(Struct, frozen=True):
    """A question, its pool, and the candidates in order."""

    asked: Asked
    pool: Pool
    board: Board
    order: Sequence[int]
    """Places of the candidates in the pool's turns, best first."""


class Found(Struct, frozen=True):
    """All that was read for an answer; what is left to do needs no store."""

    recall: Recall
    """Everything but its text."""
    wanted: int
    candidates: int
    opening: str


def recall(
    view: SqlView, question: str, wish: Wish, semantic: Semantic | None, matcher: Matcher | None = None
) -> Found:
    """Everything that reads, inside one snapshot; `conclude` shows it."""
    ranked = find(view, question, wish, semantic)
    asked, pool, board = ranked.asked, ranked.pool, ranked.board
    verdict = judge(asked, board, pool.corpus, ranked.order)
    wanted = wish.limit or how_many(asked)
    chosen = [board.scored(at) for at in ranked.order[: max(wanted, wish.at_least)]]
    hits = hits_of(view, chosen, pool)
    reason = None if verdict.enough else _why_not(pool, verdict)
    believed = Known() if "facts" in wish.without else known(view, asked, matcher, hits)
    sure = verdict.sure
    if believed.answer:
        reason, sure = None, max(sure, THRESHOLD)
        hits = _led_by(view, hits, believed.answer.turn, pool)
    answer = Recall(
        question,
        tuple(hits),
        "",
        0,
        bool(reason),
        reason,
        sure,
        tuple(_trace(asked, pool, verdict.measures, sure)) if wish.explain else (),
        believed.facts,
        believed.answer.text if believed.answer else None,
        view.ids(believed.answer.proof) if believed.answer else (),
    )
    return Found(answer, wanted, len(pool.candidates), _opening(reason, believed, wish.max_tokens))


def _led_by(view: SqlView, hits: list[Hit], turn: int, pool: Pool) -> list[Hit]:
    """The evidence with the turn that says the answer first, also where the words of the question missed it."""
    if not turn:
        return hits
    best = hits[0].score if hits else 0.0
    lead = [hit for hit in hits if hit.node.key == turn] or hits_of(view, [Scored(turn, best, {})], pool)
    return [*lead, *(hit for hit in hits if hit.node.key != turn)]


def conclude(found: Found, wish: Wish, reranker: Reranker | None = None) -> Recall:
    """The evidence in its last order, packed into the budget."""
    hits = found.recall.hits
    if reranker is not None:
        hits = rerank(found.recall.question, hits, reranker)
    hits = hits[: found.wanted]
    text, shown = pack(hits, wish.max_tokens, found.candidates, found.opening)
    kept = hits if wish.limit else tuple(shown)
    return replace(found.recall, hits=kept, text=text, tokens=estimate_tokens(text))


def _opening(reason: str | None, believed: Known, budget: int) -> str:
    """What stands above the evidence: a doubt, and what is believed."""
    doubt = f"Not sure that this is known: {reason}" if reason else ""
    return "\n".join(part for part in (doubt, believed.shown(budget)) if part)


def find(view: SqlView, question: str, wish: Wish, semantic: Semantic | None) -> Ranked:
    """Everything up to the order of the candidates."""
    ground = search.ground(view)
    if semantic is not None and ground.embedder is not None:
        require_identity(ground.embedder, semantic.identity)
    asked = ask(question, wish.asked_at, ground.speakers)
    pool = gather(view, asked, wish, semantic, ground)
    beside = _beside_the_words(view, asked, pool, wish, ground)
    if ground.texts <= WHOLE:
        beside |= {"meets": MEETS * shares(asked, needs(asked, pool.corpus), pool.turns)}
    board = score(asked, pool.turns, pool.corpus, {str(wish.session)} if wish.session else (), beside)
    board = topics.lift(board, pool.course)
    order = [at for at in board.order() if board.turns[at].key in pool.candidates]
    return Ranked(asked, pool, board, in_time(asked, board, order, pool.replaced))


def _beside_the_words(
    view: SqlView, asked: Asked, pool: Pool, wish: Wish, ground: search.Ground
) -> dict[str, Column]:
    """What sleep has left for the score: columns by the name of their factor; nothing as of another moment."""
    if view.cold:
        return {}
    columns = worlds.column(pool.turns, pool.worlds) | biography.column(
        pool.turns, pool.places.get("profile")
    )
    if ground.scorers is None or "signals" in wish.without:
        return columns
    return columns | signals(view, pool.turns, ground.scorers, wish.without | unasked(asked))


# The pool ------------------------------------------------------------------------------------------


def gather(view: SqlView, asked: Asked, wish: Wish, semantic: Semantic | None, ground: search.Ground) -> Pool:
    """What the lanes found, with the turns around it."""
    frequency = view.frequencies({*asked.terms, *(tag for tags in asked.kinds for tag in tags)})
    found: dict[str, list[int]] = {}
    if "words" not in wish.without:
        found["words"] = lanes.words(view, asked, ground, frequency)
    if semantic is not None and "vectors" not in wish.without:
        found["vectors"] = list(lanes.vectors(view, semantic.index, semantic.query, ground))
    if asked.advice and "standing" not in wish.without:
        found["standing"] = lanes.standing(view, asked, ground)
    near: Mapping[int, float] = {}
    if semantic is not None and not view.cold and "worlds" not in wish.without:
        near = worlds.nearness(view, semantic.index, semantic.query, ground)
        if near:
            found["worlds"] = worlds.lane(view, semantic.index, semantic.query, near, ground)
    if asked.people and ground.profiles and not view.cold and "profile" not in wish.without:
        found["profile"] = biography.lane(view, asked)
    places = {lane: {node: at for at, node in enumerate(nodes, 1)} for lane, nodes in found.items()}
    first = list(dict.fromkeys(node for nodes in found.values() for node in nodes))
    first.sort(key=lambda node: (-_fused(node, places), node))
    if "words" in found and ground.texts <= WHOLE:
        first += _in_other_words(view, asked, first)
    beside, within = _around(view, first, wish, found)
    replaced = {} if "facts" in wish.without else outdated(asked, search.drawn(view, first[:NEAR]))
    later = [node for nodes in replaced.values() for node in nodes]
    nodes = list(dict.fromkeys([*first, *within, *beside, *later]))
    course = topics.Course()
    if asked.broad and "topics" not in wish.without:
        course = topics.course(view, nodes)
        if course.topics:
            places["topics"] = {node: at for at, node in enumerate(course.turns, 1)}
            nodes = list(dict.fromkeys([*nodes, *course.turns]))
    cosines = semantic.index.cosines(semantic.query, nodes) if semantic else None
    turns = _turns(view, nodes, cosines)
    next_to = _beside(turns, first[:NEAR])
    corpus = Corpus(
        max(ground.texts, 1), ground.mean_length, {t: min(n, ground.texts) for t, n in frequency.items()}
    )
    held = {turn.key for turn in turns}
    candidates = frozenset({*first, *next_to, *within, *course.turns, *later} & held)
    return Pool(turns, candidates, places, corpus, near, replaced, course)


def _in_other_words(view: SqlView, asked: Asked, first: Sequence[int]) -> list[int]:
    """The texts of a small memory that meet the question without any of its words."""
    rest = _turns(view, [node for node in search.every_text(view, WHOLE) if node not in first], None)
    wanted = needs(asked, NOTHING_STORED)
    return [turn.key for turn in rest if max(degrees(wanted, turn.described.words), default=0.0) >= FAMILY]


def _fused(node: int, places: Mapping[str, Mapping[int, int]]) -> float:
    return sum(1 / (RRF + at[node]) for at in places.values() if node in at)


def _around(
    view: SqlView, first: Sequence[int], wish: Wish, found: Mapping[str, Sequence[int]]
) -> tuple[list[int], list[int]]:
    """The turns beside the first finds, and those of the best sessions."""
    if "neighbours" in wish.without or not first:
        return [], []
    best = () if "sessions" in wish.without else found.get("words") or first
    return search.around(view, first[:KNOWN_AROUND], best)


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
    by_key = {row[0]: _turn(row, cosines) for row in search.described(view, nodes)}
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


def hits_of(view: SqlView, chosen: Sequence[Scored], pool: Pool) -> list[Hit]:
    """The chosen ones, verbatim, with who said them when, and what to know about them."""
    found = search.told(view, [scored.key for scored in chosen])
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
    for line, kind, name, content in search.remarks(view, lines):
        told = f"{kind} {name}".rstrip()
        notes.setdefault(line, []).append(f"{told}: {content[:160]}")
    return notes


# In words --------------------------------------------------------------------------------------------


def _why_not(pool: Pool, verdict: Judged) -> str:
    if not pool.candidates:
        return "nothing stored has anything to do with the question"
    if verdict.missing:
        return f"nothing found speaks of {', '.join(verdict.missing[:3])}"
    measures = verdict.measures
    if measures.get("own", 0.0) < 0 or measures.get("person", 1.0) < 0.5:
        return "what was found speaks of somebody else"
    if measures.get("lacks"):
        return "what was found does not tell the value asked for"
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
