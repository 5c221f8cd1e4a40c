"""Recall, straight through: a question in, verbatim evidence within a budget out.

    ask → search the lanes → gather the pool → rank → judge → (rerank) → pack

No model is called but the embedder, once, for the question. The view is bound to scope, world and
moment before anything is looked for. Same store and question, same answer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import Instant, show
from worldline.model import Hit, NodeDraft, Recall
from worldline.ports import View
from worldline.read import beside, lanes
from worldline.read.cues import Asked, ask, first_names
from worldline.read.kindred import FAMILY
from worldline.read.known import TURNS, Known, Told, known
from worldline.read.lanes import LANES, Course, Look, Semantic
from worldline.read.meeting import degrees, needs
from worldline.read.orders import Alternatives, Telling, in_order, listed
from worldline.read.pack import pack, rerank
from worldline.read.recency import in_time, outdated, reaches_back
from worldline.read.score import Board, Judged, Scored, how_many, judge, score, settle
from worldline.read.turns import Column, Corpus, Turn
from worldline.rules.describe import Described, described_draft, role_in
from worldline.store import indexing, nights, search
from worldline.store.held import require_identity, same_embedder
from worldline.store.indexing import begun_by
from worldline.store.nights import Verbatim, verbatim
from worldline.text import inert
from worldline.text import tokens as words

if TYPE_CHECKING:
    from worldline.ports import Reranker
    from worldline.read.relation_match import Likeness

NEAR = 30
"""So many of the best candidates bring their neighbours into the pool."""
KNOWN_AROUND = 80
"""So many of the best are scored with what stands before and after them."""
RRF = 60
FIRST = 5
"""So many texts are looked at for each of the things that a question sets beside each other."""
WHOLE = 40
"""A memory of no more texts than this is read whole: what is asked in other words is found as well."""
NO_WORD = "there is no word in the question to look for"
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
    course: Course = Course()
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
    several: bool = False
    """Whether the question asks for more than one thing."""
    measures: Mapping[str, float] = {}
    """What the doubt was weighed by."""


def recall(
    view: View, question: str, wish: Wish, semantic: Semantic | None, likeness: Likeness | None = None
) -> Found:
    """Everything that reads, inside one snapshot; where it finds too little, in the archive too."""
    view = in_hindsight(view)
    found = _recalled(view, question, wish, semantic, likeness)
    if not found.recall.abstained or view.whole or not indexing.is_used(view):
        return found
    both = _recalled(view.bind(cold=True), question, wish, semantic, likeness)
    return _telling_cold(view, both) if both.recall.sure >= found.recall.sure else found


def in_hindsight(view: View) -> View:
    """The same; from a chosen moment also the words that tell of it, whenever they were said."""
    return view.bind(hindsight=True) if view.cold and not view.closed else view


def _telling_cold(view: View, found: Found) -> Found:
    """The same, where every hit that came out of the archive says so."""
    since = nights.archived(view, [hit.node.line for hit in found.recall.hits])
    told = {line: f"cold since {show(at)[:10]}: not used for long" for line, at in since.items()}
    hits = [
        replace(hit, node=replace(node, notes=(*node.notes, told[node.line]))) if node.line in told else hit
        for hit in found.recall.hits
        if (node := hit.node)
    ]
    return replace(found, recall=replace(found.recall, hits=tuple(hits)))


def _recalled(
    view: View, question: str, wish: Wish, semantic: Semantic | None, likeness: Likeness | None
) -> Found:
    """The answer from what this view looks at; `conclude` shows it."""
    ranked = find(view, question, wish, semantic)
    asked, pool, board = ranked.asked, ranked.pool, ranked.board
    verdict = judge(asked, board, pool.corpus, ranked.order)
    wanted = wish.limit or how_many(asked)
    chosen = [board.scored(at) for at in ranked.order[: max(wanted, wish.at_least, TURNS)]]
    told = verbatim(view, [scored.key for scored in chosen])
    wordless = not any(char.isalnum() for char in question)
    hits = [] if wordless else hits_of(told, chosen, pool)
    readings = {key: one.reading for key, one in told.items() if one.reading is not None}
    believed = Known() if "facts" in wish.without else known(view, asked, likeness, hits, readings)
    if "facts" not in wish.without and believed.answer is None and (choices := listed(question)):
        believed, hits = _in_order(view, choices, wish, believed, hits, pool)
    verdict = settle(verdict, believed.reach, believed.answer is not None, believed.detail)
    if believed.answer:
        hits = _led_by(view, hits, believed.answer.turn, pool)
    elif wordless:
        verdict = replace(verdict, sure=0.0, enough=False)
    reason = None if verdict.enough else NO_WORD if wordless else _why_not(pool, verdict)
    answer = Recall(
        question,
        tuple(hits),
        "",
        0,
        bool(reason),
        reason,
        verdict.sure,
        tuple(_trace(asked, pool, verdict.measures, verdict.sure)) if wish.explain else (),
        believed.facts,
        believed.answer.text if believed.answer else None,
        believed.answer.proof if believed.answer else (),
    )
    opening = _opening(reason, believed, wish.max_tokens)
    several = asked.several or asked.broad
    return Found(answer, wanted, len(pool.candidates), opening, several, verdict.measures)


def _in_order(
    view: View, asked: Alternatives, wish: Wish, believed: Known, hits: list[Hit], pool: Pool
) -> tuple[Known, list[Hit]]:
    """The answer to what came first, each thing looked for on its own, and its evidence before the rest."""

    def look(thing: str) -> list[Telling]:
        ranked = find(view, thing, wish, None)
        if not judge(ranked.asked, ranked.board, ranked.pool.corpus, ranked.order).enough:
            return []
        told = verbatim(view, keys := [ranked.board.turns[at].key for at in ranked.order[:FIRST]])
        return [
            Telling(key, told[key].node.id, told[key].node.content, at, told[key].offset)
            for key in keys
            if key in told and told[key].reading is not None and (at := told[key].said_at) is not None
        ]

    found = in_order(asked, look)
    if found is None:
        return believed, hits
    answer, dated = found
    for one in reversed(dated):
        hits = _led_by(view, hits, one.turn, pool)
    proof = tuple(dict.fromkeys(one.id for one in dated))
    return replace(believed, answer=Told(answer, proof, turn=dated[0].turn)), hits


def _led_by(view: View, hits: list[Hit], turn: int, pool: Pool) -> list[Hit]:
    """The evidence with the turn that says the answer first, also where the words of the question missed it."""
    if not turn:
        return hits
    best = hits[0].points if hits else 0.0
    found = [hit for hit in hits if hit.node.key == turn]
    lead = found or hits_of(verbatim(view, [turn]), [Scored(turn, best, {})], pool)
    return [*lead, *(hit for hit in hits if hit.node.key != turn)]


def conclude(found: Found, wish: Wish, reranker: Reranker | None = None) -> Recall:
    """The evidence in its last order, packed into the budget."""
    hits = found.recall.hits
    if reranker is not None:
        hits = rerank(found.recall.question, hits, reranker)
    hits = _scored(hits[: found.wanted], found.recall.sure)
    packed = pack(hits, wish.max_tokens, found.candidates, found.opening)
    kept = hits if wish.limit else tuple(packed.hits)
    told = found.recall
    clear = few(
        [hit.points for hit in kept],
        answered=told.answer is not None,
        several=found.several,
        doubted=told.abstained,
    )
    return replace(told, hits=kept, text=packed.text, tokens=packed.tokens, few=clear)


def _scored(hits: Sequence[Hit], sure: float) -> tuple[Hit, ...]:
    """Each hit with its score: that of the whole for the first, less the further the rest fall behind it."""
    reached = [max(hit.points for hit in hits[at:]) for at in range(len(hits))]
    return tuple(
        replace(hit, score=sure * math.exp(points - reached[0]))
        for hit, points in zip(hits, reached, strict=True)
    )


def _opening(reason: str | None, believed: Known, budget: int) -> str:
    """What stands above the evidence: a doubt, and what is believed."""
    doubt = f"Not sure that this is known: {inert(reason)}" if reason else ""
    return "\n".join(part for part in (doubt, believed.shown(budget)) if part)


def find(view: View, question: str, wish: Wish, semantic: Semantic | None) -> Ranked:
    """Everything up to the order of the candidates."""
    ground = search.ground(view, first_names(question))
    semantic = _comparable(view, semantic, ground.embedder)
    asked = ask(question, wish.asked_at, ground.speakers)
    pool = gather(view, asked, wish, semantic, ground)
    factors = _beside_the_words(view, asked, pool, wish, ground)
    board = score(asked, pool.turns, pool.corpus, {str(wish.session)} if wish.session else (), factors)
    board = beside.lift(board, pool.course)
    order = [at for at in board.order() if board.turns[at].key in pool.candidates]
    return Ranked(asked, pool, board, in_time(asked, board, order, pool.replaced, chosen=view.hindsight))


def _comparable(view: View, semantic: Semantic | None, stored: str | None) -> Semantic | None:
    """The question's vector, unless the vectors were, or are being, made anew by another embedder: then words do."""
    if semantic is None or stored is None:
        return semantic
    mine = view.tenant, semantic.identity
    if same_embedder(stored, semantic.identity):
        view.store.met.add(mine)
        return semantic
    changing = begun_by(view.store, view.tenant)
    if mine not in view.store.met and not (changing and same_embedder(changing, semantic.identity)):
        require_identity(stored, semantic.identity)
    return None


def _beside_the_words(
    view: View, asked: Asked, pool: Pool, wish: Wish, ground: search.SearchGround
) -> dict[str, Column]:
    """What sleep has left for the score: columns by the name of their factor; nothing as of another moment."""
    if view.cold:
        return {}
    columns = beside.worlds(pool.turns, pool.worlds)
    columns |= beside.landmarks(pool.turns, pool.places.get("profile"))
    if ground.scorers is None or "signals" in wish.without:
        return columns
    return columns | beside.signals(view, pool.turns, ground.scorers, wish.without | beside.unasked(asked))


# The pool ------------------------------------------------------------------------------------------


def gather(
    view: View, asked: Asked, wish: Wish, semantic: Semantic | None, ground: search.SearchGround
) -> Pool:
    """What the lanes found, with the turns around it."""
    frequency = view.frequencies({*asked.terms, *(tag for tags in asked.kinds for tag in tags)})
    near = {} if "worlds" in wish.without or view.cold else lanes.nearness(view, semantic, ground)
    look = Look(view, asked, ground, frequency, semantic, near)
    found = {
        name: nodes
        for name, lane in LANES.items()
        if name not in wish.without and (nodes := lane(look)) is not None
    }
    places = {lane: {node: at for at, node in enumerate(nodes, 1)} for lane, nodes in found.items()}
    first = list(dict.fromkeys(node for nodes in found.values() for node in nodes))
    first.sort(key=lambda node: (-_fused(node, places), node))
    read = _whole(view) if "words" in found and ground.texts <= WHOLE else {}
    first += _in_other_words(asked, [turn for key, turn in read.items() if key not in first])
    around, within = _around(view, first, wish, found)
    drawn = [] if "facts" in wish.without else search.drawn(view, first[:NEAR])
    replaced = outdated(asked, drawn, chosen=view.hindsight)
    later = [node for nodes in replaced.values() for node in nodes]
    nodes = list(dict.fromkeys([*first, *within, *around, *later]))
    course = Course()
    if asked.broad and "topics" not in wish.without:
        course = lanes.course(view, nodes)
        if course.topics:
            places["topics"] = {node: at for at, node in enumerate(course.turns, 1)}
            nodes = list(dict.fromkeys([*nodes, *course.turns]))
    cosines = semantic.index.cosines(view, semantic.query, nodes) if semantic else None
    turns = _with_facts(_of_moment(view, _turns(view, nodes, cosines, read)), drawn)
    next_to = _beside(turns, first[:NEAR])
    corpus = Corpus(
        max(ground.texts, 1), ground.mean_length, {t: min(n, ground.texts) for t, n in frequency.items()}
    )
    held = {turn.key for turn in turns}
    candidates = frozenset({*first, *next_to, *within, *course.turns, *later} & held)
    return Pool(turns, candidates, places, corpus, near, replaced, course)


def _whole(view: View) -> dict[int, Turn]:
    """Every text of a small memory."""
    return {turn.key: turn for turn in map(_turn, search.every_text(view, WHOLE))}


def _in_other_words(asked: Asked, rest: Sequence[Turn]) -> list[int]:
    """The texts of a small memory that meet the question without any of its words."""
    wanted = needs(asked, NOTHING_STORED) if rest else []
    return [turn.key for turn in rest if max(degrees(wanted, turn.described.words), default=0.0) >= FAMILY]


def _fused(node: int, places: Mapping[str, Mapping[int, int]]) -> float:
    return sum(1 / (RRF + at[node]) for at in places.values() if node in at)


def _around(
    view: View, first: Sequence[int], wish: Wish, found: Mapping[str, Sequence[int]]
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


def _turns(
    view: View, nodes: Sequence[int], cosines: Mapping[int, float] | None, read: Mapping[int, Turn]
) -> list[Turn]:
    """The pool's texts as scoring sees them, but for the cosines of those that were read already."""
    rest = [node for node in nodes if node not in read]
    near = (lambda _: None) if cosines is None else (lambda node: cosines.get(node, 0.0))
    by_key = {key: replace(turn, cosine=near(key)) for key, turn in read.items()}
    by_key |= {row[0]: _turn(row, near(row[0])) for row in (search.described(view, rest) if rest else ())}
    return [by_key[node] for node in nodes if node in by_key]


def _of_moment(view: View, turns: list[Turn]) -> list[Turn]:
    """What was said later only where it tells of the moment looked at: a fact that held then, or by its dates."""
    late = {turn.key for turn in turns if (turn.said_at or 0) > view.valid} if view.hindsight else set()
    proving = search.proving(view, late) if late else set()
    return [t for t in turns if t.key not in late or t.key in proving or reaches_back(t, view.valid)]


def _with_facts(turns: Sequence[Turn], drawn: Sequence[search.Drawn]) -> list[Turn]:
    """The same turns with what was drawn from them, as stems."""
    told: dict[int, list[str]] = {}
    for fact in drawn:
        told.setdefault(fact.turn, []).append(" ".join(words(fact.text)))
    return [replace(turn, facts=tuple(told[turn.key])) if turn.key in told else turn for turn in turns]


_DECODER = msgspec.msgpack.Decoder(Described)


def _turn(row: Sequence[Any], cosine: float | None = None) -> Turn:
    """A text that was loaded in bulk is described now."""
    key, session, position, described, speaker, role, said_at, type_, name, content = row
    if described is None:
        draft = NodeDraft(type_, name, content)
        value = described_draft(draft, role_in(draft))
        session, position, speaker, role = key, -2 * key, "", "people"
    else:
        value = _DECODER.decode(described)
    return Turn(key, str(session), position, value, speaker, role, said_at, cosine)


# After the score -----------------------------------------------------------------------------------


def hits_of(told: Mapping[int, Verbatim], chosen: Sequence[Scored], pool: Pool) -> list[Hit]:
    """The chosen ones, verbatim, with who said them when, and what to know about them."""
    hits = []
    for scored in chosen:
        if one := told.get(scored.key):
            places = {lane: at[scored.key] for lane, at in pool.places.items() if scored.key in at}
            hits.append(
                Hit(
                    replace(one.node, notes=(*one.node.notes, *one.remarks)), 0.0, places or {"neighbour": 0},
                    scored.factors, one.sender, one.said_at, one.offset, one.session, scored.score,
                )
            )  # fmt: skip
    return hits


# In words --------------------------------------------------------------------------------------------


def _why_not(pool: Pool, verdict: Judged) -> str:
    if not pool.candidates:
        return "nothing stored has anything to do with the question"
    if verdict.missing:
        return f"nothing found speaks of {', '.join(verdict.missing[:3])}"
    measures = verdict.measures
    if measures.get("own", 0.0) < 0 or measures.get("person", 1.0) < 0.5:
        return "what was found speaks of somebody else"
    if measures.get("lacks") or not measures.get("reach"):
        return "what was found does not tell the value asked for"
    return "what was found meets too little of the question"


def _trace(asked: Asked, pool: Pool, measures: Mapping[str, float], sure: float) -> list[str]:
    said = dict.fromkeys(w for w in asked.text.split() if not set(words(w)).isdisjoint(asked.terms))
    lines = [
        f"looked for: {' '.join(said).strip(' ?!.,;:') or 'none'}",
        f"people: {', '.join(asked.people) or 'none'}",
        f"windows: {len(asked.windows)}, to the assistant: {asked.to_assistant}, several: {asked.several}",
    ]
    lines += [f"lane {lane}: {len(at)} found" for lane, at in pool.places.items()]
    lines.append(f"pool: {len(pool.candidates)} candidates, {len(pool.turns)} with their neighbours")
    told = ", ".join(f"{name} {value:.2f}" for name, value in measures.items())
    return [*lines, f"evidence {sure:.2f}: {told}"]


# What stands out -----------------------------------------------------------------------------------
#
# A short memory does not print itself for every question. The scores alone decide: what lies far behind the
# best is context, not an answer. A clear answer brings one to three hits; a question for several things, or
# one whose evidence lies close together, brings them all.


BEHIND = 5.0
"""So far behind the best a hit still counts: of the questions that ten hits answer, all but one or two in a hundred
keep their evidence, with a quarter fewer hits; in a small memory one or two are left of six."""
CLEARLY = 2.5
MOST = 3
"""So many at most where the answer is known, or where it is doubted that there is one."""


def few(
    scores: Sequence[float], *, answered: bool = False, several: bool = False, doubted: bool = False
) -> int:
    """How many of the hits, best first, are worth a look.

    >>> few([8.4, 4.7, 1.4, -1.4], answered=True), few([8.5, 1.4, 0.3], several=True)
    (1, 1)
    >>> few([4.2, 10.5, 4.0])  # what holds now was put before what it replaced
    2
    >>> few([7.1, 5.8, 5.5, 5.2, 0.2]), few([]), few([3.0, 2.9, 2.8, 2.7, 2.6], doubted=True)
    (4, 0, 3)
    """
    if not scores:
        return 0
    margin = CLEARLY if answered and not several else BEHIND
    near = 1 + max(at for at, score in enumerate(scores) if score >= max(scores) - margin)
    return min(near, MOST) if (answered or doubted) and not several else near
