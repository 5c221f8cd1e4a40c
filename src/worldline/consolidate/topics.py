"""The topics pass: stretches of talk that share their terms become Topic worlds that one can walk between.

New turns are cut into stretches; a stretch joins the topic that it is most like, or waits until a
second one is like it. A topic is derived from the sessions and turns it was made of, is related to
others by the terms they share, and precedes what takes it up again later. What is read is what is new,
a bounded window of what was said before, and the topics that share a term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from worldline.clock import Instant, to_datetime
from worldline.consolidate.changes import MADE, Arrow, New, Plan
from worldline.model import Node
from worldline.rules import topics as rules
from worldline.rules.derived import INFERRED
from worldline.rules.topics import Stretch, Topic, Turn
from worldline.store.gathering import Seated, lately_said, made_of, opening, seated, topics_labelled
from worldline.store.view import SqlView
from worldline.text import words

if TYPE_CHECKING:
    from worldline.consolidate.night import Night

WINDOW, SCANNED = 2000, 10_000
"""Terms are counted over so many of the last turns, looked for among so many of everybody's."""
WAITING = 400
"""So many turns at most wait for others like them."""
KNOWN = 400
"""So many stored topics at most are looked at, and so many for each term that they share."""
RELATED = 3
ABOUT = "about "
"""Metadata by which a topic is looked up: a label for each of its terms, with how it is written and its weight."""
_HEAD = 4000
"""Characters of a text that are looked at for names."""


class Said(Struct, frozen=True):
    """A turn as it was stored, and the names in it."""

    turn: Seated
    own: bool
    """Of a person: an assistant's words are counted apart, and its names are not names."""
    names: frozenset[str]


def topics(view: SqlView, night: Night) -> Plan:
    """New topics, what has joined the known ones, and what waits for company."""
    new = [item.node for item in night.news.of("Turn") if not item.closed]
    if not new:
        return Plan(waiting=night.waiting)
    said = _said(view, [*new, *night.waiting])
    worth = rules.subjects(*_counts(view, said))
    found = _stretches(said, worth)
    known = _known(view, {term for stretch in found for term in list(stretch.terms)[: rules.BY]})
    placed = opening(view, {stretch.opens for stretch in found})
    fresh = [stretch for stretch in found if stretch.terms and stretch.opens not in placed]
    gathered = rules.gather(fresh, (stored.topic for stored in known.values()))
    grown = [topic for topic in gathered if topic.members and (topic.line or len(topic.members) > 1)]
    alone = [topic.members[0] for topic in gathered if not topic.line and len(topic.members) == 1]
    alone += [stretch for stretch in found if not stretch.terms]
    shown = _surfaces(said, known, grown)
    ways = _ways(gathered)
    changes = [_change(view, topic, known.get(topic.line), ways[_label(topic)], shown) for topic in grown]
    return Plan(tuple(changes), _waiting(said, alone))


# Reading ---------------------------------------------------------------------------------------------


def _said(view: SqlView, nodes: Sequence[int]) -> list[Said]:
    """These turns, where they may be seen, in the order of their sessions."""
    found = [(turn, turn.role != "assistant") for turn in seated(view, nodes, _HEAD)]
    return [Said(turn, own, rules.names_in(turn.content) if own else frozenset()) for turn, own in found]


def _counts(view: SqlView, said: Sequence[Said]) -> tuple[Counter[str], int]:
    """In how many turns of people's own each term occurs, and how many turns there are: the sliding window."""
    before = lately_said(view, [one.turn.line for one in said], WINDOW - len(said), SCANNED)
    own = [one.turn.tokens for one in said if one.own] + before
    return Counter(token for tokens in own for token in tokens), len(own)


def _stretches(said: Sequence[Said], worth: Mapping[str, float]) -> list[Stretch]:
    by_session: dict[int, list[Turn]] = {}
    for one in said:
        at = one.turn
        terms = rules.weighed(at.tokens, worth, one.names, one.own)
        turn = Turn(at.line, at.session, at.position, at.at, terms, one.own)
        by_session.setdefault(at.session, []).append(turn)
    return [stretch for turns in by_session.values() for stretch in rules.stretches(turns)]


class Stored(Struct, frozen=True):
    """A topic that is stored: what it gathers, how its terms are written, and how much it holds."""

    topic: Topic
    shown: Mapping[str, str]
    parts: int
    sessions: int


def _known(view: SqlView, terms: Collection[str]) -> dict[int, Stored]:
    """The stored topics that hold any of these terms, the latest ones; by lineage."""
    nodes = topics_labelled(view, [ABOUT + term for term in terms], KNOWN)
    return {node.line: _stored(node) for node in nodes if node.metadata.get("made_by") == "sleep"}


def _stored(node: Node) -> Stored:
    held = node.metadata
    told = {label.removeprefix(ABOUT): value for label, value in held.items() if label.startswith(ABOUT)}
    terms = {term: float(weight) for term, (_, weight) in told.items()}
    shown = {term: str(written) for term, (written, _) in told.items()}
    topic = Topic(node.line, rules.best(terms, rules.TOPIC_TERMS), held["first"], held["last"], [])
    return Stored(topic, shown, held["parts"], held["sessions"])


# Writing ---------------------------------------------------------------------------------------------


def _surfaces(said: Iterable[Said], known: Mapping[int, Stored], grown: Iterable[Topic]) -> dict[str, str]:
    """How the terms of these topics are written: as people write them most, names as names."""
    wanted = {term for topic in grown for term in topic.terms}
    counts: dict[str, Counter[str]] = {}
    for one in said:
        if not one.own or wanted.isdisjoint(one.turn.tokens):
            continue
        for raw in one.turn.content.split():
            written = raw.strip(".,;:!?\"'()[]“”‘’*`")
            token = words(written)
            if len(token) == 1 and token[0] in wanted:
                named = token[0] in one.names
                counts.setdefault(token[0], Counter())[written if named else written.lower()] += 1
    shown = {term: written for stored in known.values() for term, written in stored.shown.items()}
    shown |= {
        term: min(found, key=lambda written: (-found[written], written)) for term, found in counts.items()
    }
    return shown


def _change(
    view: SqlView, topic: Topic, stored: Stored | None, ways: Sequence[Arrow], shown: Mapping[str, str]
) -> New:
    """The topic as a memory: what it is called, why it is one, and what it was made of."""
    joined = {stretch.session for stretch in topic.members}
    before = made_of(view, topic.line, joined) if stored else set()
    parts = len(topic.members) + (stored.parts if stored else 0)
    sessions = len(joined - before) + (stored.sessions if stored else 0)
    written = [shown.get(term, term) for term in topic.terms]
    return New(
        "Topic",
        ", ".join(written[:3]),
        f"{', '.join(written[:12])}\n{parts} stretches of talk in {sessions} sessions share these terms,"
        f" {_day(topic.first)} to {_day(topic.last)}.",
        valid_from=topic.first,
        line=topic.line,
        metadata={
            **MADE,
            **{ABOUT + t: [shown.get(t, t), round(w, 3)] for t, w in topic.terms.items()},
            "first": topic.first,
            "last": topic.last,
            "parts": parts,
            "sessions": sessions,
        },
        label=_label(topic),
        edges=(*_made_of(topic, joined - before), *ways),
    )


def _label(topic: Topic) -> str:
    """What other changes of the night call it."""
    return f"topic {topic.line or -topic.members[0].opens}"


def _day(at: Instant) -> str:
    return to_datetime(at).date().isoformat()


def _made_of(topic: Topic, sessions: set[int]) -> list[Arrow]:
    """From the sessions, and from the turns that open its stretches, with the places these reach over."""
    turns = [
        Arrow("derived_from", stretch.opens, {**INFERRED, "turns": [stretch.start, stretch.end]})
        for stretch in topic.members
    ]
    opened = {stretch.opens for stretch in topic.members}
    return [*(Arrow("derived_from", s, INFERRED) for s in sorted(sessions - opened)), *turns]


def _ways(gathered: Sequence[Topic]) -> dict[str, list[Arrow]]:
    """From each topic that has grown to those most like it that stand before it, by label."""
    about: dict[str, list[Topic]] = {}
    ways: dict[str, list[Arrow]] = {}
    for topic in gathered:
        if topic.line or len(topic.members) > 1:
            terms = list(topic.terms)[: rules.BY]
            if topic.members:
                near = {_label(other): other for term in terms for other in about.get(term, ())[-KNOWN:]}
                found = rules.related(topic, [near[label] for label in sorted(near)], RELATED)
                ways[_label(topic)] = [way for other, shared in found for way in _way(topic, other, shared)]
            for term in terms:
                about.setdefault(term, []).append(topic)
    return ways


def _way(topic: Topic, other: Topic, shared: list[str]) -> list[Arrow]:
    """That they are related, why, and which one comes first where one ends before the other begins."""
    to, why = other.line or _label(other), {**INFERRED, "terms": shared}
    ways = [Arrow("relates_to", to, why)]
    if other.last < topic.first:
        ways.append(Arrow("precedes", to, why, back=True))
    elif topic.last < other.first:
        ways.append(Arrow("precedes", to, why))
    return ways


def _waiting(said: Sequence[Said], alone: Sequence[Stretch]) -> tuple[int, ...]:
    """The turns of the stretches that nothing was like, the latest ones."""
    held = {(s.session, at) for s in alone for at in range(s.start, s.end + 1)}
    turns = [(one.turn.at, one.turn.line) for one in said if (one.turn.session, one.turn.position) in held]
    return tuple(line for _, line in sorted(sorted(turns)[-WAITING:]))
