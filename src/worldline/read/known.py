"""What is already believed about the people and things a question names, and the answer that follows.

It decides which facts are worth showing beside the verbatim evidence, and whether the question can be
answered: from the facts and the best evidence (read/answers.py), or by walking from fact to fact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from worldline.clock import FOREVER, Instant, to_datetime
from worldline.model import Believed, Hit
from worldline.ports import View
from worldline.read.answers import Reply, reply
from worldline.read.candidates import LONGEST, Item, SaidTurn, behind, of_facts, of_turns, phrases
from worldline.read.cues import Asked
from worldline.read.facts import ViewGraph
from worldline.read.question import read_question as read_names
from worldline.read.synonyms import plain
from worldline.read.walk import walk
from worldline.read.weighing import DETAILS, SPANS, About, Ground, overtaken, reach, suited
from worldline.reading.claim import stem
from worldline.reading.families import families
from worldline.reading.questions import Question, Whose, read_question
from worldline.reading.read import Reading
from worldline.reading.voices import assistants, is_one_person, is_user
from worldline.rules.happenings import SaidSentence, cut_all
from worldline.store.people import FactAround, about, facts_near, only_speaker
from worldline.text import estimate_tokens, fold, inert
from worldline.text import tokens as words

if TYPE_CHECKING:
    from worldline.read.relation_match import Likeness

SHARE = 0.4
"""The part of a budget that facts may take."""
MOST = 8
WALKABLE = 60
"""An entity of whom more than this is believed is a speaker, not the start of a walk."""
SURE = 0.5
TURNS = 8
"""So many of the best turns are searched for an answer."""
USER = "user"
"""Whom facts speak of when the user speaks and nobody says who that is."""


_FIRST_PERSON = re.compile(r"\b(?:I|my|me|we|our|us)\b", re.I)


class Told(Struct, frozen=True):
    """An answer in words, the memories that prove it, and how it was found."""

    text: str
    proof: tuple[str, ...]
    how: str = ""
    turn: int = 0
    """The turn that says it best; 0 where none is at hand."""


class Known(Struct, frozen=True):
    """Facts that speak to the question, and its answer, if there is a sure one."""

    facts: tuple[Believed, ...] = ()
    answer: Told | None = None
    reach: float | None = None
    """How near a value comes to being the answer, from 0 to 1; None where no value is asked for."""
    detail: bool | None = None
    """Whether a number, a name, a place or a thing is asked for; None where the question was not read."""

    def shown(self, budget: int) -> str:
        """Both as text, within their share of the budget."""
        lines = (
            [f"Answer from what is believed: {inert(self.answer.text)}{self.answer.how}"]
            if self.answer
            else []
        )
        lines += [f"Believed: {inert(fact.text)}" for fact in self.facts]
        room, kept = int(budget * SHARE), list[str]()
        for line in lines:
            room -= estimate_tokens(line) + 1
            if room < 0:
                break
            kept.append(line)
        return "\n".join(kept)


def known(
    view: View,
    asked: Asked,
    likeness: Likeness | None,
    hits: Sequence[Hit] = (),
    readings: Mapping[int, bytes] = {},
) -> Known:
    """Facts and, where it is sure, the answer; `readings` are of the hits that may be trusted."""
    question = _read(asked) if hits else None
    mine = _asker(view, question, hits)
    graph = ViewGraph(view, mine)
    mentions = read_names(plain(asked.text), graph.link).mentions
    lines = [int(m.entity) for m in mentions]
    if question is None and (lines or _FIRST_PERSON.search(asked.text)):
        question = _read(asked)
        mine = _asker(view, question, hits)
    if mine:
        lines += [int(line) for line in graph.link(mine).values()]
    believed = [held.fact for held in about(view, lines, 200)] if lines else []
    chosen = _relevant(believed, asked, 1 if mentions else 2)
    walking = likeness if mentions and len(believed) <= WALKABLE else None
    if question is None:
        return Known(chosen, _walked(asked, graph, walking))
    detail = question.wants in DETAILS
    if question.wants not in SPANS:
        return Known(chosen, detail=detail)
    ground, items = gathered(view, question, lines, mine, hits, readings)
    able = suited(ground, items)
    near, found = reach(ground, able), reply(ground, items, able)
    if found is not None:
        return Known(chosen, Told(found.text, _proof(found, hits), turn=found.items[0].turn), near, detail)
    walked = _walked(asked, graph, walking, ground, items) if _is_walkable(ground) else None
    return Known(chosen, walked, near, detail)


def _read(asked: Asked) -> Question | None:
    return read_question(asked.text, to_datetime(asked.asked_at or 0))


def _is_walkable(ground: Ground) -> bool:
    """Whether facts alone may tell: a value of the wanted kind, and not what was at another time.

    Records that nobody says state values; only somebody who talks speaks of what was and what changed.
    """
    if ground.question.wants not in ("name", "place", "thing"):
        return False
    return ground.question.mode not in ("former", "at") or not any(ground.speakers.values())


def _walked(
    asked: Asked,
    graph: ViewGraph,
    likeness: Likeness | None,
    ground: Ground | None = None,
    items: Sequence[Item] = (),
) -> Told | None:
    """The answer of the walk, where it is sure and no later evidence speaks of a change."""
    if likeness is None:
        return None
    found = walk(asked.text, graph, likeness, 1)
    if not found.chains or found.confidence < SURE:
        return None
    chain = found.chains[0]
    facts = {int(hop.fact) for hop in chain.hops}
    talked = ground if ground is not None and any(ground.speakers.values()) else None
    if talked and any(item.fact in facts and overtaken(talked, item) for item in items):
        return None
    if talked and any(
        hop.inverse and set(words(hop.phrase)).isdisjoint(words(asked.text)) for hop in chain.hops[:-1]
    ):
        return None  # where Sven works is not where she works whose partner he is
    steps = "; ".join(f"{hop.phrase}{' (from the other end)' if hop.inverse else ''}" for hop in chain.hops)
    how = f" ({len(chain.hops)} step{'s' if len(chain.hops) > 1 else ''}: {steps})"
    return Told(chain.name, tuple(graph.ids[int(hop.fact)] for hop in chain.hops), how)


# From facts and evidence ------------------------------------------------------------------------------


def _proof(found: Reply, hits: Sequence[Hit]) -> tuple[str, ...]:
    """The facts that say it, else the turn that does."""
    facts = [item.id for item in found.items if item.fact and item.role != ""]
    turns = {hit.node.key: hit.node.id for hit in hits}
    proof = facts[:4] or [turns[item.turn] for item in found.items[:1] if item.turn]
    return tuple(dict.fromkeys(proof))


def gathered(
    view: View,
    question: Question,
    lines: Sequence[int],
    mine: Collection[str],
    hits: Sequence[Hit],
    readings: Mapping[int, bytes],
) -> tuple[Ground, list[Item]]:
    """What an answer is weighed on, and all candidates."""
    trusted = [hit for hit in hits[:TURNS] if hit.node.key in readings or hit.node.type != "Turn"]
    said = cut_all([hit.node.content[:LONGEST] for hit in trusted])
    turns = [_turn(hit, readings.get(hit.node.key), cut) for hit, cut in zip(trusted, said, strict=True)]
    by_key = {turn.key: turn for turn in turns}
    facts = facts_near(view, lines, list(by_key))
    whom = _whom(question, facts, mine)
    further = whom.meant - {fold(f.subject_name) for f in facts}
    more = [f.object for f in facts if fold(f.value) in further and f.object]
    if more:
        facts += [f for f in facts_near(view, more, ()) if all(f.node != g.node for g in facts)]
    now = _moment(question, view.valid)
    anchors = frozenset(filter(None, (question.verb, stem(question.noun) if question.noun else "")))
    items = [*of_facts(facts, by_key, now), *of_turns(turns, SPANS[question.wants]), *behind(turns, anchors)]
    if question.wants == "thing":
        items += phrases(turns)
    ground = Ground(
        question, whom, {turn.key: at for at, turn in enumerate(turns)}, {turn.key: turn.text for turn in turns},
        {turn.key: turn.said_at for turn in turns if turn.changes},
        {turn.key: fold(turn.speaker) for turn in turns}, assistants([turn.speaker for turn in turns]),
    )  # fmt: skip
    return ground, items


def _moment(question: Question, now: Instant) -> Instant:
    """When what is asked about was so: "in January" is past by now, and what came later did not hold."""
    if question.mode != "at" or question.when is None or question.wants == "date":
        return now
    return min(now, question.when[1] - 1)


def _turn(hit: Hit, packed: bytes | None, cut: Sequence[SaidSentence]) -> SaidTurn:
    said_at = hit.node.valid.start if hit.said_at is None else hit.said_at
    node = hit.node
    return SaidTurn(node.key, node.content, hit.speaker, said_at, hit.utc_offset, _changes(packed), cut)


_DECODER = msgspec.msgpack.Decoder(Reading)


def _changes(packed: bytes | None) -> bool:
    """Whether a turn speaks of a change, as it was read."""
    if not packed:
        return False
    try:
        said = _DECODER.decode(packed)
    except msgspec.MsgspecError:  # read by another version
        return False
    return said.corrects or said.cues.change or any(c.effect != "holds" or c.switches for c in said.claims)


def _asker(view: View, question: Question | None, hits: Sequence[Hit]) -> frozenset[str]:
    """Whom "I" means: the bound user by all their names, the only one who speaks here, or just the user."""
    if question is None or not question.mine:
        return frozenset()
    user = view.scope.user
    heard = {fold(hit.speaker) for hit in hits if user and is_one_person(user, hit.speaker)}
    if user and len(heard) > 1:  # two who share the name
        heard &= {fold(user)}
    if not heard and not (user and any(is_user(hit.speaker) for hit in hits)):
        heard = {only_speaker(view)}
    return frozenset(fold(name) for name in (*heard, *((user, USER) if user else ())) if name)


def _whom(question: Question, facts: Sequence[FactAround], mine: Collection[str]) -> About:
    """The names in a question and whom its roles mean, as far as facts tell."""
    names = {fold(name) for name in question.names} | set(mine)
    roles: dict[str, frozenset[str]] = {}
    meant: set[str] = set()
    for whose in question.whose:
        if whose.name and not whose.name[:1].isupper():
            continue
        start = {fold(whose.name)} if whose.name else set(mine)
        meant |= _follow(whose, start, facts, roles, question.noun)
    return About(frozenset(n for n in names if n), frozenset(meant or names), roles, frozenset(mine))


def _follow(
    whose: Whose, start: set[str], facts: Sequence[FactAround], roles: dict[str, frozenset[str]], noun: str
) -> set[str]:
    """Those whom the roles lead to, one after the other; what is asked for itself is not followed."""
    here = start
    for role in whose.roles:
        last = role.split()[-1]
        slots = {
            named.family.name
            for named in families().by_noun(role)
            if named.family.object in ("person", "animal")
        }
        found = {
            fold(f.value)
            for f in facts
            if f.slot in slots
            and f.object
            and _is_one_of(f.subject_name, here)
            and f.end == FOREVER
            and not f.withdrawn
        }
        if not found or last == noun:
            break
        roles[stem(last)] = frozenset(found)
        here = found
    return here


def _is_one_of(name: str, names: Collection[str]) -> bool:
    folded = set(fold(name).split())
    return any(set(n.split()) <= folded for n in names if n)


def _relevant(believed: Sequence[Believed], asked: Asked, least: int = 1) -> tuple[Believed, ...]:
    """Facts that share words with the question beyond the name itself: best overlap first, then crystals."""
    terms = set(asked.terms)
    scored = []
    for place, fact in enumerate(believed):
        said = terms.intersection((*words(fact.text), *fact.slot.partition("|")[0].split()))
        overlap = len(said.difference(words(fact.subject))) if said else 0
        if overlap >= least:
            scored.append((-overlap, fact.stage != "crystal", place, fact))
    return tuple(fact for *_, fact in sorted(scored, key=lambda s: s[:3])[:MOST])
