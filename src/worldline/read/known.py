"""What is already believed about the people and things a question names: facts first, then a walk.

It decides which facts are worth showing beside the verbatim evidence, and whether the question can
be answered by walking from fact to fact. Only what is currently believed is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from worldline.model import Believed
from worldline.read.cues import Asked
from worldline.read.facts import ViewGraph, about
from worldline.read.question import read_question
from worldline.read.synonyms import plain
from worldline.read.walk import Answer, Chain, walk
from worldline.store.view import SqlView
from worldline.text import estimate_tokens, words

if TYPE_CHECKING:
    from worldline.read.relation_match import Matcher

SHARE = 0.4
"""The part of a budget that facts may take."""
MOST = 8
WALKABLE = 60
"""An entity of whom more than this is believed is a speaker, not the start of a walk."""
SURE = 0.5
USER = "user"
"""Whom facts speak of when the user speaks and nobody says who that is."""
_MYSELF = re.compile(r"\b(?:I|my|me|mine)\b")


class Known(Struct, frozen=True):
    """Facts that speak to the question, and the chain that answers it, if one does."""

    facts: tuple[Believed, ...] = ()
    answer: Chain | None = None

    def shown(self, budget: int) -> str:
        """Both as text, within their share of the budget."""
        lines = [f"Answer from what is believed: {told(self.answer)}"] if self.answer else []
        lines += [f"Believed: {fact.text}" for fact in self.facts]
        room, kept = int(budget * SHARE), list[str]()
        for line in lines:
            room -= estimate_tokens(line) + 1
            if room < 0:
                break
            kept.append(line)
        return "\n".join(kept)


def told(chain: Chain) -> str:
    """A chain in words: the answer and the steps that prove it."""
    steps = "; ".join(f"{hop.phrase}{' (from the other end)' if hop.inverse else ''}" for hop in chain.hops)
    return f"{chain.name} ({len(chain.hops)} step{'s' if len(chain.hops) > 1 else ''}: {steps})"


def known(view: SqlView, asked: Asked, matcher: Matcher | None) -> Known:
    """Facts and, where the question starts from a thing rather than a speaker, the walk's answer."""
    graph = ViewGraph(view)
    mentions = read_question(plain(asked.text), graph.link).mentions
    if not mentions:
        return Known(_of_the_asker(view, graph, asked))
    lines = [int(m.entity) for m in mentions]
    believed = about(view, lines, limit=200)
    chosen = _relevant(believed, asked)
    if len(believed) > WALKABLE or matcher is None:
        return Known(chosen)
    return Known(chosen, _sure(walk(asked.text, graph, matcher, 1)))


def _sure(answer: Answer) -> Chain | None:
    return answer.chains[0] if answer.chains and answer.confidence >= SURE else None


def _of_the_asker(view: SqlView, graph: ViewGraph, asked: Asked) -> tuple[Believed, ...]:
    """ "Where do I …": what is believed of the user who speaks here, if it meets the question well."""
    me = graph.link([USER]) if _MYSELF.search(asked.text) else {}
    return _relevant(about(view, [int(line) for line in me.values()], 500), asked, 2) if me else ()


def _relevant(believed: Sequence[Believed], asked: Asked, least: int = 1) -> tuple[Believed, ...]:
    """Facts that share words with the question beyond the name itself: best overlap first, then crystals."""
    terms = set(asked.terms)
    scored = []
    for place, fact in enumerate(believed):
        said = {*words(fact.text), *fact.slot.partition("|")[0].split()} - set(words(fact.subject))
        overlap = len(said & terms)
        if overlap >= least:
            scored.append((-overlap, fact.stage != "crystal", place, fact))
    return tuple(fact for *_, fact in sorted(scored, key=lambda s: s[:3])[:MOST])
