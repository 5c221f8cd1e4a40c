"""Sleep over worlds: topics found in talk, one summary for each world, and the vectors of worlds.

`topics` gathers stretches of talk into Topic worlds that one can walk between, `summarise` says of each
world what it holds, citing it, and `compose` pools the vectors of what a world contains.

A world has two vectors. Its *content* vector is that of its own words (its summary, or its name and
text); its *effective* vector is composed of its children's effective vectors. A leaf has no children,
so its effective vector is its content vector. Both are unit vectors, and so is whatever is pooled.
Attention weighs a child by softmax(q·k/√d), with q the world's own content vector and k the child's.
That formula was made for vectors whose d components have variance one: there q·k is of the order of d,
and √d brings it back. Embeddings have length one instead, so |q·k| ≤ 1, and q·k/√d lies within ±.05
for d = 384: the softmax is flat, and attention is the mean under another name. So vectors are first
brought to the length √d that such a vector would have; then q·k/√d = √d·cos(q, k), at any length that
they come in.

>>> children = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
>>> attention(np.array([1.0, 0.0]), children).round(2)
array([0.9 , 0.44])
>>> mean(children).round(2)
array([0.45, 0.89])
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from blake3 import blake3
from msgspec import Struct, field
from numpy.typing import NDArray

from worldline.clock import Instant, to_datetime
from worldline.consolidate import MADE, Arrow, Change, NewLines, NewRows, Night, Plan
from worldline.errors import InvalidInput
from worldline.model import Close, Edge, Node
from worldline.plugins import LanguageModel, LanguageModelError, open_language_model
from worldline.ports import View
from worldline.reading.claim import role_of
from worldline.rules import gathering as rules
from worldline.rules.gathering import CoverageSource, Sentence, Topic, TopicStretch, TopicTurn
from worldline.rules.handlers import INFERRED
from worldline.store import stated
from worldline.store.stated import Child, Composed, Seated
from worldline.store.view import as_belief, grouped
from worldline.text import words

# Topics ===============================================================================================

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


class SaidThen(Struct, frozen=True):
    """A turn as it was stored, and the names in it."""

    turn: Seated
    own: bool
    """Of a person: an assistant's words are counted apart, and its names are not names."""
    names: frozenset[str]


def topics(view: View, night: Night) -> Plan:
    """New topics, what has joined the known ones, and what waits for company.

    New turns are cut into stretches; a stretch joins the topic that it is most like, or waits until a
    second one is like it. A topic is derived from the sessions and turns it was made of, is related to
    others by the terms they share, and precedes what takes it up again later. What is read is what is
    new, a bounded window of what was said before, and the topics that share a term.
    """
    new = [item.node for item in night.news.of("Turn") if not item.closed]
    if not new:
        return Plan(waiting=night.waiting)
    said = _said_in(view, [*new, *night.waiting])
    worth = rules.subjects(*_counts(view, said))
    found = _stretches(said, worth)
    known = _known_topics(view, {term for stretch in found for term in list(stretch.terms)[: rules.BY]})
    placed = stated.opening(view, {stretch.opens for stretch in found})
    fresh = [stretch for stretch in found if stretch.terms and stretch.opens not in placed]
    found_topics = rules.gather(fresh, (stored.topic for stored in known.values()))
    grown = [topic for topic in found_topics if topic.members and (topic.line or len(topic.members) > 1)]
    alone = [topic.members[0] for topic in found_topics if not topic.line and len(topic.members) == 1]
    alone += [stretch for stretch in found if not stretch.terms]
    shown = _surfaces(said, known, grown)
    ways = _ways(found_topics)
    changes = [
        _topic_change(view, topic, known.get(topic.line), ways[_topic_label(topic)], shown) for topic in grown
    ]
    return Plan(tuple(changes), _left_over(said, alone))


# Reading ---------------------------------------------------------------------------------------------


def _said_in(view: View, nodes: Sequence[int]) -> list[SaidThen]:
    """These turns, where they may be seen, in the order of their sessions."""
    found = [(turn, turn.role != "assistant") for turn in stated.seated(view, nodes, _HEAD)]
    return [SaidThen(turn, own, rules.names_in(turn.content) if own else frozenset()) for turn, own in found]


def _counts(view: View, said: Sequence[SaidThen]) -> tuple[Counter[str], int]:
    """In how many turns of people's own each term occurs, and how many turns there are: the sliding window."""
    before = stated.lately_said(view, [one.turn.line for one in said], WINDOW - len(said), SCANNED)
    own = [one.turn.tokens for one in said if one.own] + before
    return Counter(token for tokens in own for token in tokens), len(own)


def _stretches(said: Sequence[SaidThen], worth: Mapping[str, float]) -> list[TopicStretch]:
    by_session: dict[int, list[TopicTurn]] = {}
    for one in said:
        at = one.turn
        terms = rules.weighed(at.tokens, worth, one.names, one.own)
        turn = TopicTurn(at.line, at.session, at.position, at.at, terms, one.own)
        by_session.setdefault(at.session, []).append(turn)
    return [stretch for turns in by_session.values() for stretch in rules.stretches(turns)]


class StoredTopic(Struct, frozen=True):
    """A topic that is stored: what it gathers, how its terms are written, and how much it holds."""

    topic: Topic
    shown: Mapping[str, str]
    parts: int
    sessions: int


def _known_topics(view: View, terms: Collection[str]) -> dict[int, StoredTopic]:
    """The stored topics that hold any of these terms, the latest ones; by lineage."""
    nodes = stated.topics_labelled(view, [ABOUT + term for term in terms], KNOWN)
    return {node.line: _stored_topic(node) for node in nodes if node.made is not None}


def _stored_topic(node: Node) -> StoredTopic:
    held = node.metadata
    told = {label.removeprefix(ABOUT): value for label, value in held.items() if label.startswith(ABOUT)}
    terms = {term: float(weight) for term, (_, weight) in told.items()}
    shown = {term: str(written) for term, (written, _) in told.items()}
    topic = Topic(node.line, rules.best(terms, rules.TOPIC_TERMS), held["first"], held["last"], [])
    return StoredTopic(topic, shown, held["parts"], held["sessions"])


# Writing ---------------------------------------------------------------------------------------------


def _surfaces(
    said: Iterable[SaidThen], known: Mapping[int, StoredTopic], grown: Iterable[Topic]
) -> dict[str, str]:
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


def _topic_change(
    view: View, topic: Topic, stored: StoredTopic | None, ways: Sequence[Arrow], shown: Mapping[str, str]
) -> NewLines:
    """The topic as a memory: what it is called, why it is one, and what it was made of."""
    joined = {stretch.session for stretch in topic.members}
    before = stated.made_of(view, topic.line, joined) if stored else set()
    parts = len(topic.members) + (stored.parts if stored else 0)
    sessions = len(joined - before) + (stored.sessions if stored else 0)
    written = [shown.get(term, term) for term in topic.terms]
    return NewLines(
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
        label=_topic_label(topic),
        edges=(*_cites(topic, joined - before), *ways),
    )


def _topic_label(topic: Topic) -> str:
    """What other changes of the night call it."""
    return f"topic {topic.line or -topic.members[0].opens}"


def _day(at: Instant) -> str:
    return to_datetime(at).date().isoformat()


def _cites(topic: Topic, sessions: set[int]) -> list[Arrow]:
    """From the sessions, and from the turns that open its stretches, with the places these reach over."""
    turns = {s.opens: {**INFERRED, "turns": [s.start, s.end]} for s in topic.members}
    cited = [*((session, INFERRED) for session in sorted(sessions - turns.keys())), *turns.items()]
    return [Arrow("derived_from", line, metadata, made="inferred") for line, metadata in cited]


def _ways(found_topics: Sequence[Topic]) -> dict[str, list[Arrow]]:
    """From each topic that has grown to those most like it that stand before it, by label."""
    about: dict[str, list[Topic]] = {}
    ways: dict[str, list[Arrow]] = {}
    for topic in found_topics:
        if topic.line or len(topic.members) > 1:
            terms = list(topic.terms)[: rules.BY]
            if topic.members:
                near = {
                    _topic_label(other): other for term in terms for other in about.get(term, ())[-KNOWN:]
                }
                found = rules.related(topic, [near[label] for label in sorted(near)], RELATED)
                ways[_topic_label(topic)] = [
                    way for other, shared in found for way in _way(topic, other, shared)
                ]
            for term in terms:
                about.setdefault(term, []).append(topic)
    return ways


def _way(topic: Topic, other: Topic, shared: list[str]) -> list[Arrow]:
    """That they are related, why, and which one comes first where one ends before the other begins."""
    to, why = other.line or _topic_label(other), {**INFERRED, "terms": shared}
    ways = [Arrow("relates_to", to, why, made="inferred")]
    if other.last < topic.first:
        ways.append(Arrow("precedes", to, why, back=True, made="inferred"))
    elif topic.last < other.first:
        ways.append(Arrow("precedes", to, why, made="inferred"))
    return ways


def _left_over(said: Sequence[SaidThen], alone: Sequence[TopicStretch]) -> tuple[int, ...]:
    """The turns of the stretches that nothing was like, the latest ones."""
    held = {(s.session, at) for s in alone for at in range(s.start, s.end + 1)}
    turns = [(one.turn.at, one.turn.line) for one in said if (one.turn.session, one.turn.position) in held]
    return tuple(line for _, line in sorted(sorted(turns)[-WAITING:]))


# Summaries ============================================================================================

FEW = 4
"""A world with fewer texts needs no summary."""
DAY = 86_400_000_000
_PROMPT = (
    "Write a summary of what these dated sentences say, in their order. Keep every name and every date, add nothing,"
    " and write plain sentences in the language of the text. Answer with the summary alone."
)


class Material(Struct, frozen=True):
    """A world to summarise: its texts in order, and the summary it has."""

    node: Node
    sources: tuple[CoverageSource, ...]
    held: Node | None = None


def summarise(view: View, night: Night) -> Plan:
    """Summaries for the worlds that have changed or have come of age.

    Worlds that something new lies in, and the worlds around them, are summarised from the inside out: a
    world of worlds is made of its children's summaries. A summary is amended when its world has grown;
    what it no longer cites is closed. Rules choose the sentences; a model, if the settings name one as the
    summariser, writes the text from them, and where it does not answer the sentences stand.
    """
    news = night.news
    touched = {item.world for item in news.items if item.world} | {item.line for item in news.of("Topic")}
    model = _model(night)
    made: dict[int, CoverageSource] = {}
    counted: dict[str, int] = {}
    changes: list[Change] = []
    young: list[int] = []
    for line in (line for level in stated.climbed(view, touched | set(night.waiting)) for line in level):
        world = _world(view, line, made)
        if world is None or len(world.sources) < FEW:
            continue
        if min(source.at for source in world.sources) > night.now - night.config.sleep_min_age * DAY:
            young.append(line)
            continue
        changes += _summary(view, night, world, model, made, counted)
    return Plan(tuple(changes), tuple(sorted(young)))


def _model(night: Night) -> LanguageModel | None:
    if night.config.summariser != "model":
        return None
    model = open_language_model(night.config.model)
    if model is None:
        raise InvalidInput('summariser = "model" needs a model: set model = "http://host/v1#name"')
    return model


# Reading ---------------------------------------------------------------------------------------------


def _world(view: View, line: int, made: Mapping[int, CoverageSource]) -> Material | None:
    """A world that may be seen, with what it is to be summarised from."""
    node = view.one(line)
    if node is None:
        return None
    inside = stated.texts_inside(view, [line])
    held = next((child for child in inside if _is_made(child, "Summary")), None)
    if _is_made(node, "Topic"):
        told = stated.gathered(view, line)
        return Material(
            node, tuple(CoverageSource(*turn, role_of(turn[3]) != "assistant") for turn in told), held
        )
    own = [child for child in inside if child.made is None]
    worlds = stated.worlds_among(view, [child.line for child in own])
    sources = [_text_source(child) for child in own if child.line not in worlds]
    sources += _from_worlds(view, [child.line for child in own if child.line in worlds], made)
    return Material(node, tuple(sorted(sources, key=lambda s: s.at)), held)


def _is_made(node: Node, type_: str) -> bool:
    return node.type == type_ and node.made is not None


def _text_source(node: Node) -> CoverageSource:
    own, at = role_of(node.name) != "assistant", node.valid.start
    if node.type == "Turn":
        return CoverageSource(node.line, node.content, at, node.name, own)
    text = ": ".join(part for part in (node.name, node.content) if part)
    return CoverageSource(node.line, text, at, "", own)


def _from_worlds(
    view: View, worlds: Sequence[int], made: Mapping[int, CoverageSource]
) -> list[CoverageSource]:
    """A summary for each world that has one, its texts for each that has none."""
    found = [made[line] for line in worlds if line in made]
    rest = [line for line in worlds if line not in made]
    if not rest:
        return found
    summaries = stated.summaries_inside(view, rest)
    for node in view.visible(sorted(summaries.values())):
        found.append(_again(node.line, node.content, node.metadata.get("until", node.valid.start)))
    bare = [line for line in rest if line not in summaries]
    return found + [_text_source(child) for child in stated.texts_inside(view, bare)]


def _again(line: int, text: str, at: Instant) -> CoverageSource:
    """A summary as a text of the world around it; one that is not stored yet goes by its world, below zero."""
    return CoverageSource(line, text, at, dated=True)


# Writing ---------------------------------------------------------------------------------------------


def _summary(
    view: View,
    night: Night,
    world: Material,
    model: LanguageModel | None,
    made: dict[int, CoverageSource],
    counted: dict[str, int],
) -> list[Change]:
    """The summary of one world, unless it would say what it says already."""
    chosen = _chosen(view, world.sources, counted)
    if not chosen:
        return []
    by_event = {source.event: source for source in world.sources}
    lines = [_line(by_event[sentence.event], sentence) for sentence in chosen]
    until = max(source.at for source in world.sources)
    digest = blake3("\n".join(lines).encode()).hexdigest()[:32]
    held = world.held
    if held is not None and held.metadata.get("of") == digest:
        made[world.node.line] = _again(held.line, held.content, until)
        return []
    text, by = _written(model, lines, night.config.model_tokens)
    made[world.node.line] = _again(held.line if held else -world.node.line, text, until)
    cited = grouped((sentence.event, [sentence.start, sentence.end]) for sentence in chosen)
    closed, standing = _settled(view, held, cited)
    return [
        *closed,
        NewLines(
            "Summary",
            f"Summary of {world.node.name or world.node.type}",
            text,
            valid_from=min(until, night.now),
            line=held.line if held else 0,
            world=world.node.line,
            metadata={**MADE, "of": digest, "by": by, "texts": len(world.sources), "until": until},
            label=f"summary {world.node.line}",
            edges=tuple(_arrow(event, spans) for event, spans in cited.items() if event not in standing),
        ),
    ]


def _chosen(view: View, sources: Sequence[CoverageSource], counted: dict[str, int]) -> list[Sentence]:
    said = rules.cut(sources)
    counts = rules.recurring(said)
    if new := counts.keys() - counted.keys():
        counted.update(dict.fromkeys(new, 0) | view.frequencies(sorted(new)))
    known = {term: count for term in counts if (count := counted[term])}
    total = max(known.values(), default=1)
    rarity = {term: math.log(1 + total / count) for term, count in known.items()}
    return rules.choose(said, rules.worth(sources, counts, rarity), rules.budget(len(sources)))


def _line(source: CoverageSource, sentence: Sentence) -> str:
    """A sentence with its day and its speaker; a line of another summary has both already."""
    text = source.text[sentence.start : sentence.end]
    if source.dated:
        return text
    return f"{_day(source.at)} {source.speaker}".rstrip() + f": {text}"


def _written(model: LanguageModel | None, lines: Sequence[str], most: int) -> tuple[str, str]:
    """(text, who wrote it)."""
    plain = "\n".join(lines)
    if model is None:
        return plain, "rules"
    try:
        told = [{"role": "system", "content": _PROMPT}, {"role": "user", "content": plain}]
        return model.complete(told, most), model.name
    except LanguageModelError:
        return plain, "rules"


def _arrow(event: int, spans: list[list[int]]) -> Arrow:
    to: int | str = event if event > 0 else f"summary {-event}"
    more: dict[str, Any] = {"spans": spans} if len(spans) > 1 else {}
    metadata = {**INFERRED, "start": spans[0][0], "end": spans[0][1], **more}
    return Arrow("derived_from", to, metadata, made="inferred")


def _settled(
    view: View, held: Node | None, cited: Mapping[int, list[list[int]]]
) -> tuple[list[Close], set[int]]:
    """What a former version cites no longer is closed; what it cites as before stands."""
    if held is None:
        return [], set()
    standing: set[int] = set()
    closed: list[Close] = []
    for edge in view.edges([held.line], ("derived_from",), "out"):
        if _spans(edge) == cited.get(edge.dst_line):
            standing.add(edge.dst_line)
        else:
            closed.append(Close(as_belief(edge), "edges", valid_to=view.valid, reason="no longer cited"))
    return closed, standing


def _spans(edge: Edge) -> list[list[int]]:
    first = [edge.metadata.get("start"), edge.metadata.get("end")]
    return edge.metadata.get("spans", [first])  # type: ignore[no-any-return]


# Vectors of worlds ====================================================================================

EVERYTHING = 0
"""Put off in place of a world's number: all of them."""
MOST_CHILDREN, MOST_STRETCHES = 1000, 50
"""So many children of a world, or stretches of a topic, are looked at, the newest ones: what is larger is
about everything anyway."""
_MUCH = 1000
"""Above so many worlds put off, everything is."""
_AT_ONCE = 200


def compose(view: View, night: Night) -> Plan:
    """The rows of every world that what is new has touched.

    It starts from what changed and climbs: a changed leaf recomposes the worlds above it and no other, from
    vectors that are stored already (no model is asked). A world attends with the words that somebody gave
    it, its name and text. A session has none, and what sleep writes about a world does not count as such
    (attending with an extract finds fewer sessions than the plain mean), so there all children count alike.
    A topic contains the turns that it gathers. What is
    the same as before is not written again.

    Vectors come after words, so a child may have none yet: its worlds are put off until a newer vector is
    stored. A memory without an embedder puts off everything, and the first vectors bring it all.
    """
    newest, made = stated.vectors_made(view)
    if not newest:
        return Plan(
            waiting=(0, EVERYTHING), note="nothing to compose: this memory has no vectors (no embedder)"
        )
    put_off = set(night.waiting[1:])
    due = put_off if night.waiting[:1] != (newest,) else set()
    news = night.news
    started = {line for item in news.items for line in (item.line, item.world)} | due
    started |= {end for edge in news.edges if edge.type == "contains" for end in (edge.src, edge.dst)}
    # topics lie elsewhere: those of the sessions with a turn that says something else now, or nothing
    retold = {item.world for item in news.of("Turn") if item.closed or item.node != item.line}
    started |= stated.topics_of(view, retold)
    if EVERYTHING in due:
        started |= stated.every_world(view)
    changed, missing = _composed(view, stated.climbed(view, started - {EVERYTHING}), made + 1)
    late = sorted(missing | (put_off - due))
    waiting = () if not late else (newest, *late) if len(late) <= _MUCH else (newest, EVERYTHING)
    return Plan((NewRows("composed", tuple(changed)),) if changed else (), waiting)


# What they are made of --------------------------------------------------------------------------------


class _World(Struct):
    """A lineage as it is seen now, and what it contains."""

    line: int
    node: int = 0
    type: str = ""
    silent: bool = True
    scopes: set[int] = field(default_factory=set)
    children: list[Child] = field(default_factory=list)


def _composed(
    view: View, levels: Iterable[Sequence[int]], made: int
) -> tuple[list[tuple[Any, ...]], set[int]]:
    """(rows that differ from what is stored, worlds that something has no vector for yet)."""
    changed: list[tuple[Any, ...]] = []
    missing: set[int] = set()
    fresh: dict[int, bytes] = {}
    for level in levels:
        for start in range(0, len(level), _AT_ONCE):
            worlds = _worlds(view, level[start : start + _AT_ONCE])
            lines = [line for w in worlds for line in (w.line, *(child.line for child in w.children))]
            stored = stated.composed(view, lines)
            inner = {line: max(rows.values()).vector for line, rows in stored.items()} | fresh
            vectors = _vectors(view, worlds, inner)
            for world in worlds:
                vector, members, whole = _pooled(world, inner, vectors)
                fresh[world.line] = vector
                held = stored.get(world.line, {})
                changed += [
                    (view.tenant, world.line, scope, row.vector, row.members, made)
                    for scope, row in _rows_of(world, vector, members, held).items()
                ]
                if not whole:
                    missing.add(world.line)
    return changed, missing


def _rows_of(world: _World, vector: bytes, members: int, held: Mapping[int, Composed]) -> dict[int, Composed]:
    """What is to be written, by scope; a world that is none any more keeps an empty row, so that readers notice."""
    wanted = dict.fromkeys(held, Composed())
    if members:
        wanted |= dict.fromkeys(sorted(world.scopes), Composed(vector, members))
    return {scope: row for scope, row in wanted.items() if held.get(scope) != row}


def _pooled(
    world: _World, inner: Mapping[int, bytes], vectors: Mapping[int, Floats]
) -> tuple[bytes, int, bool]:
    """(vector, how many children it was made of, whether none of them still waits for its own)."""
    found = []
    content = None if world.silent else vectors.get(world.node)
    whole = world.silent or content is not None
    for child in world.children:
        if inner.get(child.line):
            found.append(np.frombuffer(inner[child.line], np.float16).astype(np.float64))
        elif child.node in vectors:
            found.append(vectors[child.node])
        else:
            whole = whole and child.silent
    if not found:
        return b"", 0, whole
    vector = effective(content, np.array(found))
    return vector.astype(np.float16).tobytes(), len(found), whole


def _worlds(view: View, lines: Sequence[int]) -> list[_World]:
    """Those of these lineages that contain something, or have a vector from a time when they did."""
    found = {line: _World(line) for line in lines}
    for line, node, type_, silent, scope in stated.seen_now(view, lines):
        world = found[line]
        world.node, world.type, world.silent = node, type_, bool(silent)
        world.scopes.add(scope)
    gathers = [line for line, world in found.items() if world.type == "Topic"]
    inside = [
        *stated.children(view, lines, MOST_CHILDREN),
        *stated.turns_gathered(view, gathers, MOST_STRETCHES),
    ]
    newest = {(child.world, child.line): child for child in inside}
    for (line, _), child in sorted(newest.items()):
        found[line].children.append(child)
    before = stated.ever_composed(view, lines)
    return [world for line, world in found.items() if world.children or line in before]


def _vectors(view: View, worlds: Sequence[_World], inner: Mapping[int, bytes]) -> dict[int, Floats]:
    """The stored vectors of leaves and of the worlds' own words; a long text's passages count alike."""
    leaves = (child for world in worlds for child in world.children if not inner.get(child.line))
    nodes = {child.node for child in leaves if not child.silent}
    nodes |= {world.node for world in worlds if not world.silent}
    stored = stated.passages(view, nodes)
    width = max((len(row) for rows in stored.values() for row in rows), default=0)
    found = {node: _sound(rows, width) for node, rows in stored.items()}
    return {node: mean(block) for node, block in found.items() if len(block)}


def _sound(rows: Sequence[bytes], width: int) -> Any:
    """The vectors that can be compared with others."""
    block = np.frombuffer(b"".join(row for row in rows if len(row) == width), np.float16).reshape(
        -1, width // 2
    )
    return block[np.isfinite(block).all(axis=1)]


Floats: TypeAlias = NDArray[np.float64]
Pooling: TypeAlias = Literal["mean", "attention"]
_TINY = 1e-12


def unit(vectors: Any) -> Floats:
    """Length one, each; what has no direction stays zero."""
    rows = np.asarray(vectors, np.float64)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), _TINY))


def mean(children: Any) -> Floats:
    """Every child counts the same, whatever its length."""
    return unit(unit(children).sum(axis=0))


def weights(content: Any, children: Any) -> Floats:
    """What each child counts: softmax(q·k/√d) over vectors of length √d."""
    keys = unit(children)
    raised = np.sqrt(keys.shape[1]) * (keys @ unit(content))
    shares = np.exp(raised - raised.max())
    return np.asarray(shares / shares.sum())


def attention(content: Any, children: Any) -> Floats:
    """Children count the more, the nearer they are to what the world says of itself."""
    return unit(weights(content, children) @ unit(children))


def effective(content: Any | None, children: Any, pooling: Pooling = "attention") -> Floats:
    """The vector of a world: composed of its children, or (a leaf) its own content.

    A world without words of its own has nothing to attend with: its children count alike. (Attending
    around their middle instead lets whatever is said everywhere drown what this world is about.)
    """
    if not len(children):
        if content is None:
            raise ValueError("a world without words and without children has no vector")
        return unit(content)
    if content is None or pooling == "mean":
        return mean(children)
    return attention(content, children)
