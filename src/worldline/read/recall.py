"""Recall, straight through: a question in, verbatim evidence within a budget out.

    ask → search the lanes → gather the pool → rank → (read closely) → judge → (rerank) → pack

No model is called but the embedder, once, for the question, a cross-encoder for the few that lead, and a reranker that
somebody chose, after the store's snapshot. The view is bound to scope, world and moment before anything is looked for.
Same store and question, same answer.

What sleep has left (worlds, landmarks, topics, signals) gives one factor each to every turn of a pool, weight
included (`read/score.py`); a scorer that somebody registered brings its own weight. A store that never slept has none
of it, and no statement is run for it. How often something was used is a matter of now: a read as of another moment
leaves it out.

Why a memory is missing is found by repeating the recall and looking at each step for the one memory; it never looks
outside the view's tenant, scope and world. A timeline has the memories that belong to a topic (they share a word or a
kind with it, or are near it in meaning where nothing does), each at the one date that its text names, else the moment
it was said; amended versions are shown with their intervals, withdrawn ones are not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import NOW, Instant, When, instant, show
from worldline.errors import NotFound
from worldline.handle import Handle
from worldline.lexicon import KIND
from worldline.model import (
    Dated,
    Explanation,
    Hit,
    Metadata,
    Node,
    NodeDraft,
    Recall,
    clean_count,
    clean_metadata,
    clean_text,
)
from worldline.ports import CloseReader, CloseReading, Reranker, View
from worldline.read import cues
from worldline.read.answers import Likeness
from worldline.read.closely import ANSWERS, CLOSELY, is_latin, read_closely, succession
from worldline.read.cues import FAMILY, LANES, Asked, Course, Look, Semantic, ask, first_names
from worldline.read.history import CANDIDATES, few, pack, rerank
from worldline.read.known import TURNS, Alternatives, Known, Telling, Told, in_order, known, listed
from worldline.read.recency import Succession, in_time, is_overtaken, outdated, reaches_back
from worldline.read.score import (
    FEW,
    PROFILE,
    SIGNALS,
    WORLD,
    Board,
    Column,
    Corpus,
    Judged,
    Scored,
    Turn,
    degrees,
    how_many,
    judge,
    lifted,
    needs,
    score,
    settle,
    standard,
)
from worldline.rules.describe import TIME, Described, described_draft, role_in, standing
from worldline.rules.happenings import causes, landmarks
from worldline.store import indexing, nights, search
from worldline.store.held import require_identity, same_embedder
from worldline.store.indexing import begun_by
from worldline.store.nights import Verbatim, verbatim
from worldline.text import inert
from worldline.text import tokens as words

NEAR = 30
"""So many of the best candidates bring their neighbours into the pool."""
KNOWN_AROUND = 80
"""So many of the best are scored with what stands before and after them."""
RRF = 60
FIRST = 5
"""So many texts are looked at for each of the things that a question sets beside each other."""
WHOLE = 40
"""A memory of no more texts than this is read whole: what is asked in other words is found as well."""
TINY = 12
"""Of a memory of no more texts than this every one is read closely."""
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


class Means(Struct, frozen=True):
    """What a question is understood by, as far as it is at hand; words do without any of it."""

    semantic: Semantic | None = None
    likeness: Likeness | None = None
    closeness: CloseReader | None = None


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
    unfound: frozenset[int] = frozenset()
    """Texts of a tiny memory that no lane has found, and that are read closely all the same."""


class Ranked(Struct, frozen=True):
    """A question, its pool, and the candidates in order."""

    asked: Asked
    pool: Pool
    board: Board
    order: Sequence[int]
    """Places of the candidates in the pool's turns, best first."""
    told: Mapping[int, Verbatim] = {}
    """What was read of them already."""
    close: Mapping[int, CloseReading] = {}
    """What a close reading says of the first."""
    succession: Succession | None = None
    """Reads two of them at once."""


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


def recall(view: View, question: str, wish: Wish, means: Means) -> Found:
    """Everything that reads, inside one snapshot; where it finds too little, in the archive too."""
    view = in_hindsight(view)
    found = _recalled(view, question, wish, means)
    if not found.recall.abstained or view.whole or not indexing.is_used(view):
        return found
    both = _recalled(view.bind(cold=True), question, wish, means)
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


def _recalled(view: View, question: str, wish: Wish, means: Means) -> Found:
    """The answer from what this view looks at; `conclude` shows it."""
    ranked = find(view, question, wish, means)
    asked, pool, board = ranked.asked, ranked.pool, ranked.board
    verdict = judge(asked, board, pool.corpus, ranked.order, ranked.close.values())
    wanted = wish.limit or how_many(asked)
    chosen = [board.scored(at) for at in ranked.order[: max(wanted, wish.at_least, TURNS)]]
    told = {**ranked.told, **_verbatim(view, chosen, ranked.told)}
    wordless = not any(char.isalnum() for char in question)
    hits = [] if wordless else hits_of(told, chosen, pool)
    readings = {key: one.reading for key, one in told.items() if one.reading is not None}
    believed = (
        Known()
        if "facts" in wish.without
        else known(view, asked, means.likeness, hits, readings, ranked.close)
    )
    if believed.answer and is_overtaken(
        asked,
        board,
        ranked.order,
        believed.answer.turn,
        chosen=view.hindsight,
        succession=ranked.succession,
    ):
        believed = replace(believed, answer=None)
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
        ranked = find(view, thing, wish, Means())
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
        [hit.points - hit.factors.get(ANSWERS, 0.0) for hit in kept],
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


def find(view: View, question: str, wish: Wish, means: Means) -> Ranked:
    """Everything up to the order of the candidates."""
    ground = search.ground(view, first_names(question))
    semantic = _comparable(view, means.semantic, ground.embedder)
    asked = ask(question, wish.asked_at, ground.speakers)
    closeness = means.closeness if "closeness" not in wish.without and is_latin(question) else None
    pool = gather(view, asked, wish, semantic, ground, closely=closeness is not None)
    factors = _beside_the_words(view, asked, pool, wish, ground)
    board = score(asked, pool.turns, pool.corpus, {str(wish.session)} if wish.session else (), factors)
    board = lifted(board, pool.course)
    order = [at for at in board.order() if board.turns[at].key in pool.candidates]
    told: Mapping[int, Verbatim] = {}
    close: Mapping[int, CloseReading] = {}
    together: Succession | None = None
    if closeness is not None:
        rest = [at for at, turn in enumerate(board.turns) if turn.key in pool.unfound]
        told = verbatim(
            view, [board.turns[at].key for at in (*order[: max(wish.limit or FEW, CLOSELY)], *rest)]
        )
        read = read_closely(asked, board, [*order[:CLOSELY], *rest], told, closeness)
        board, close = read.board, read.readings
        together = succession(asked, told, close, closeness)
        pool = _with_the_closest(pool, board)
        order = [at for at in board.order() if board.turns[at].key in pool.candidates]
    order = in_time(asked, board, order, pool.replaced, chosen=view.hindsight, succession=together)
    return Ranked(asked, pool, board, order, told, close, together)


def _with_the_closest(pool: Pool, board: Board) -> Pool:
    """The pool, and among its candidates a text that no lane has found where it most likely tells what is asked."""
    column = board.parts.get(ANSWERS)
    if column is None or not pool.unfound:
        return pool
    best = board.turns[int(column.argmax())].key
    if best not in pool.unfound:
        return pool
    places = {**pool.places, "closeness": {best: 1}}
    return replace(pool, candidates=pool.candidates | {best}, places=places)


def _verbatim(view: View, chosen: Sequence[Scored], told: Mapping[int, Verbatim]) -> dict[int, Verbatim]:
    """The chosen ones that were not read yet."""
    rest = [scored.key for scored in chosen if scored.key not in told]
    return verbatim(view, rest) if rest else {}


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
    columns = _of_worlds(pool.turns, pool.worlds)
    columns |= _of_profiles(pool.turns, pool.places.get("profile"))
    if ground.scorers is None or "signals" in wish.without:
        return columns
    return columns | _of_signals(view, pool.turns, ground.scorers, wish.without | _unasked(asked))


# The pool ------------------------------------------------------------------------------------------


def gather(
    view: View,
    asked: Asked,
    wish: Wish,
    semantic: Semantic | None,
    ground: search.SearchGround,
    *,
    closely: bool = False,
) -> Pool:
    """What the lanes found, with the turns around it; where it will be read closely, all of a tiny memory."""
    frequency = view.frequencies({*asked.terms, *(tag for tags in asked.kinds for tag in tags)})
    near = {} if "worlds" in wish.without or view.cold else cues.nearness(view, semantic, ground)
    look = Look(view, asked, ground, frequency, semantic, near)
    found = {
        name: nodes
        for name, lane in LANES.items()
        if name not in wish.without and (nodes := lane(look)) is not None
    }
    places = {lane: {node: at for at, node in enumerate(nodes, 1)} for lane, nodes in found.items()}
    first = list(dict.fromkeys(node for nodes in found.values() for node in nodes))
    first.sort(key=lambda node: (-_fused(node, places), node))
    tiny = closely and ground.texts <= TINY
    read = (
        _read(search.every_text(view, WHOLE)) if ("words" in found or tiny) and ground.texts <= WHOLE else {}
    )
    first += _in_other_words(asked, [turn for key, turn in read.items() if key not in first])
    unfound = [key for key in read if key not in first] if tiny else []
    if unread := [node for node in first if node not in read]:  # every lane has seen that they may be seen
        read |= _read(search.described_seen(view, unread))
    around, within = _around(view, first, wish, found, read)
    drawn = [] if "facts" in wish.without else search.drawn(view, first[:NEAR])
    replaced = outdated(asked, drawn, chosen=view.hindsight)
    later = [node for nodes in replaced.values() for node in nodes]
    nodes = list(dict.fromkeys([*first, *within, *around, *later, *unfound]))
    course = Course()
    if asked.broad and "topics" not in wish.without:
        course = cues.course(view, nodes)
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
    return Pool(
        turns, candidates, places, corpus, near, replaced, course, frozenset(unfound) & held - candidates
    )


def _read(rows: Sequence[Sequence[Any]]) -> dict[int, Turn]:
    return {row[0]: _turn(row) for row in rows}


def _in_other_words(asked: Asked, rest: Sequence[Turn]) -> list[int]:
    """The texts of a small memory that meet the question without any of its words."""
    wanted = needs(asked, NOTHING_STORED) if rest else []
    return [turn.key for turn in rest if max(degrees(wanted, turn.described.words), default=0.0) >= FAMILY]


def _fused(node: int, places: Mapping[str, Mapping[int, int]]) -> float:
    return sum(1 / (RRF + at[node]) for at in places.values() if node in at)


def _around(
    view: View,
    first: Sequence[int],
    wish: Wish,
    found: Mapping[str, Sequence[int]],
    read: Mapping[int, Turn],
) -> tuple[list[int], list[int]]:
    """The turns beside the first finds, and those of the best sessions."""
    if "neighbours" in wish.without or not first:
        return [], []
    best = () if "sessions" in wish.without else found.get("words") or first
    return search.around(view, _seats(first[:KNOWN_AROUND], read), _seats(best, read))


def _seats(nodes: Sequence[int], read: Mapping[int, Turn]) -> list[search.Seat]:
    """Where these texts were said; what was loaded in bulk has no seat but its own."""
    turns = [read[node] for node in nodes if node in read]
    return [(int(turn.session), turn.position) for turn in turns if turn.position != -2 * turn.key]


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
    view: View, nodes: Sequence[int], cosines: Mapping[int, float] | None, read: dict[int, Turn]
) -> list[Turn]:
    """The pool's texts as scoring sees them, but for the cosines of those that were read already."""
    if unread := [node for node in nodes if node not in read]:
        read |= _read(search.described(view, unread))
    found = [read[node] for node in nodes if node in read]
    return found if cosines is None else [replace(t, cosine=cosines.get(t.key, 0.0)) for t in found]


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


def _turn(row: Sequence[Any]) -> Turn:
    """A text that was loaded in bulk is described now."""
    key, session, position, described, speaker, role, said_at, type_, name, content = row
    if described is None:
        draft = NodeDraft(type_, name, content)
        value = described_draft(draft, role_in(draft))
        session, position, speaker, role = key, -2 * key, "", "people"
    else:
        value = _DECODER.decode(described)
    return Turn(key, str(session), position, value, speaker, role, said_at)


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


# What stands beside the words in the score -----------------------------------------------------------


FEWEST = 10
"""Where the pool has fewer worlds, the nearness of one of them tells its turns from others too little."""


def _of_profiles(turns: Sequence[Turn], found: Collection[int] | None) -> dict[str, Column]:
    """What the lane of profiles gives to the turns that it found."""
    if not found or not turns:
        return {}
    return {"profile": PROFILE * np.array([turn.key in found for turn in turns], float)}


def _of_worlds(turns: Sequence[Turn], near: Mapping[int, float]) -> dict[str, Column]:
    """What its world's nearness gives to each turn; nothing where there are few worlds."""
    if len({turn.session for turn in turns if int(turn.session) in near}) < FEWEST:
        return {}
    return {"world": WORLD * _spread(turns, near)}


def _spread(turns: Sequence[Turn], near: Mapping[int, float]) -> Column:
    """Standard scores over the pool; a turn of no composed world stands in the middle."""
    values = np.array([near.get(int(turn.session), np.nan) for turn in turns])
    if np.isnan(values).all():
        return np.zeros(len(turns))
    return standard(np.where(np.isnan(values), np.nanmean(values), values))


def _unasked(asked: Asked) -> frozenset[str]:
    """The signals that have nothing to do with a question: landmarks are for when and for people, causes for why."""
    landmark = bool(asked.wants & TIME) and bool(asked.people)
    return frozenset(name for name, wanted in (("landmark", landmark), ("cause", asked.why)) if not wanted)


def _of_signals(
    view: View, turns: Sequence[Turn], scorers: Mapping[str, float], without: Collection[str] = ()
) -> dict[str, Column]:
    """What each signal gives to each turn."""
    weights = {**SIGNALS, **{nights.SCORER + name: weight for name, weight in scorers.items()}}
    place = {turn.key: at for at, turn in enumerate(turns)}
    found: dict[str, Column] = {}
    for one in nights.signals(view, place):
        if (weight := weights.get(one.name, 0.0)) and one.name not in without:
            used = one.strength
            value = one.value if used is None else standing(used, view.valid, view.store.config.decay_rate)
            found.setdefault(one.name, np.zeros(len(turns)))[place[one.node]] = weight * value
    return found


# Asked through a handle ------------------------------------------------------------------------------


LONGEST_QUESTION = 65536
HEARD = 1200
"""Of a longer question so many characters are understood, half from its beginning and half from its end."""


def recalled(
    handle: Handle,
    question: str,
    asked_at: When | None,
    filters: Metadata | None,
    *,
    closed: bool,
    quarantined: bool,
    **given: Any,
) -> Recall:
    """A question's whole way: what it means, one snapshot in which everything is read, then the evidence packed."""
    means = means_of(handle, question)
    more = CANDIDATES if handle.reranker() is not None else 0  # a reranker will choose among them

    def look(view: View) -> tuple[Found, Wish, int]:
        wanted = wish(handle, view, asked_at, at_least=more, **given)
        return recall(view, _understood(question), wanted, means), wanted, view.tenant

    labels = {} if filters is None else clean_metadata(filters)
    found, wanted, tenant = handle.read(look, closed=closed, quarantined=quarantined, labels=labels)
    answer = answered(handle, question, found, wanted)
    if not (wanted.explain or wanted.without or closed):
        note_shown(handle, tenant, answer)
    return answer


def heard(question: str, what: str = "question") -> str:
    """A question as it is understood, once it is known to be one."""
    return _understood(clean_text(question, what, LONGEST_QUESTION))


def _understood(question: str) -> str:
    """The whole question, or its beginning and its end."""
    if len(question) <= HEARD:
        return question
    return f"{question[: HEARD // 2]} {question[-HEARD // 2 :]}"


def wish(handle: Handle, view: View, asked_at: When | None, **given: Any) -> Wish:
    """What is asked for, with what the handle and its config add."""
    for count, least in (("max_tokens", 0), ("limit", 1)):
        if given.get(count) is not None:
            clean_count(given[count], count, least)
    if given.get("max_tokens") is None:
        given["max_tokens"] = handle.config.max_tokens
    session = view.session(handle.session) if handle.session else 0
    return Wish(view.valid if asked_at is None else instant(asked_at), session=session, **given)


def means_of(handle: Handle, question: str) -> Means:
    """All that this handle has to understand a question by; the question's vector is made before anything is read."""
    return Means(meaning(handle, question), likeness(handle), handle.close_reader())


def meaning(handle: Handle, question: str) -> Semantic | None:
    """The question as a vector, if there is an embedder; made before anything is read."""
    clean_text(question, "question", LONGEST_QUESTION)
    embedder = handle.embedder()
    if embedder is None:
        return None
    return Semantic(embedder.embed([question])[0], embedder.identity, handle.store.index_of(handle.tenant))


def likeness(handle: Handle) -> Likeness:
    """Similarities of relations and words, kept for the life of the store."""
    held: Likeness | None = handle.store.likeness
    if held is None:
        embedder = handle.embedder()
        held = handle.store.likeness = Likeness(embedder.embed if embedder else None)
    return held


def answered(handle: Handle, question: str, found: Found, wish: Wish) -> Recall:
    """What a recall says, after a reranker has looked at it."""
    answer = replace(conclude(found, wish, handle.reranker()), question=question)
    if wish.explain and len(question) > HEARD:
        cut = f"the question is long; its first and last {HEARD // 2} characters were understood"
        answer = replace(answer, trace=(cut, *answer.trace))
    return answer


def note_shown(handle: Handle, tenant: int, answer: Recall) -> None:
    """What was shown stays warm: noted in mind, and written down with the tenant's next write."""
    if handle.config.log_uses and handle.moment == NOW:
        shown = [hit.node.line for hit in answer.hits] + [fact.line for fact in answer.facts]
        handle.store.note_shown(tenant, shown, handle.clock())


def expected(handle: Handle, view: View, ref: Any) -> Node:
    """The memory that somebody misses in an answer, whatever became of it."""
    target = handle.resolve(view, ref)
    line = target.line
    node = view.payload(target.key) if target.key else view.one(line) or view.latest(line)
    if node is None:
        raise NotFound("no memory with this id in this tenant, scope and world; that is why")
    return node


# Why not ---------------------------------------------------------------------------------------------


_BESIDE = ("Fact", "Entity")


def explain(view: View, question: str, wish: Wish, means: Means, expected: Node) -> Explanation:
    """Where `expected` was lost, or the place that it has."""
    view = in_hindsight(view)
    if hidden := _hidden(view, expected):
        return Explanation(question, expected, "filter", hidden)
    ranked = find(view, question, wish, means)
    keys = [ranked.board.turns[at].key for at in ranked.order]
    if expected.key not in keys:
        return _unfound(view, ranked, means.semantic, expected)
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
    depths = {"words": cues.with_words(view, asked, ground, {}, None)}
    if semantic is not None:
        depths["vectors"] = list(cues.vectors(view, semantic.index, semantic.query, ground, None))
    places = {lane: _place(expected.key, nodes) for lane, nodes in depths.items()}
    deep = [f"{lane}: place {at} of {len(depths[lane])}" for lane, at in places.items() if at]
    told = (
        f"no lane looks deep enough ({'; '.join(deep)}; each brings {cues.DEPTH})"
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


# What happened about a topic -------------------------------------------------------------------------


ABOUT = 0.65
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
    ranked = find(view, topic, wish, Means(semantic))
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
    return iter(met or [turn for turn in turns if (turn.cosine or 0.0) >= ABOUT])


def _happened(turn: Turn) -> Instant | None:
    """The one date that a text names, else when it was said; None for a note."""
    dates = turn.described.dates
    return dates[0][0] if len(dates) == 1 else turn.said_at
