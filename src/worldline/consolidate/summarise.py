"""The summaries pass: every world that is old and large enough gets one Summary, which cites what it says.

Worlds that something new lies in, and the worlds around them, are summarised from the inside out: a
world of worlds is made of its children's summaries. A summary is amended when its world has grown;
what it no longer cites is closed. Rules choose the sentences; a model, if the settings name one as the
summariser, writes the text from them, and where it does not answer the sentences stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blake3 import blake3
from msgspec import Struct

from worldline.clock import Instant, to_datetime
from worldline.consolidate.changes import MADE, Arrow, Change, New, Plan
from worldline.consolidate.night import Night
from worldline.errors import InvalidInput
from worldline.model import Close, Edge, Node
from worldline.plugins.language_models import LanguageModel, LanguageModelError, open_language_model
from worldline.reading.voices import role_of
from worldline.rules import coverage
from worldline.rules.coverage import Sentence, Source
from worldline.rules.derived import INFERRED
from worldline.store.gathering import Told, climbed, gathered, summaries_inside, texts_inside, worlds_among
from worldline.store.view import SqlView, as_belief

FEW = 4
"""A world with fewer texts needs no summary."""
DAY = 86_400_000_000
_PROMPT = (
    "Write a summary of what these dated sentences say, in their order. Keep every name and every date, add nothing,"
    " and write plain sentences in the language of the text. Answer with the summary alone."
)


class World(Struct, frozen=True):
    """A world to summarise: its texts in order, and the summary it has."""

    node: Node
    sources: tuple[Source, ...]
    held: Node | None = None


class Made(Struct, frozen=True):
    """A summary of this night: what the worlds around it are made of."""

    text: str
    at: Instant
    line: int
    """Its lineage; 0 for one that is not stored yet."""


def summarise(view: SqlView, night: Night) -> Plan:
    """Summaries for the worlds that have changed or have come of age."""
    news = night.news
    touched = {item.world for item in news.items if item.world} | {item.line for item in news.of("Topic")}
    model = _model(night)
    made: dict[int, Made] = {}
    counted: dict[str, int] = {}
    changes: list[Change] = []
    young: list[int] = []
    for line in (line for level in climbed(view, touched | set(night.waiting)) for line in level):
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


def _world(view: SqlView, line: int, made: Mapping[int, Made]) -> World | None:
    """A world that may be seen, with what it is to be summarised from."""
    node = view.one(line)
    if node is None:
        return None
    inside = texts_inside(view, [line])
    held = next((child for child in inside if _is_made(child, "Summary")), None)
    if _is_made(node, "Topic"):
        return World(node, tuple(_told(turn) for turn in gathered(view, line)), held)
    own = [child for child in inside if child.metadata.get("made_by") != "sleep"]
    worlds = worlds_among(view, [child.line for child in own])
    sources = [_source(child) for child in own if child.line not in worlds]
    sources += _from_worlds(view, [child.line for child in own if child.line in worlds], made)
    return World(node, tuple(sorted(sources, key=lambda s: s.at)), held)


def _is_made(node: Node, type_: str) -> bool:
    return node.type == type_ and node.metadata.get("made_by") == "sleep"


def _source(node: Node) -> Source:
    turn = node.type == "Turn"
    text = (
        node.content
        if turn or not node.name
        else f"{node.name}: {node.content}"
        if node.content
        else node.name
    )
    return Source(
        node.line, text, node.valid.start, node.name if turn else "", role_of(node.name) != "assistant"
    )


def _from_worlds(view: SqlView, worlds: Sequence[int], made: Mapping[int, Made]) -> list[Source]:
    """A summary for each world that has one, its texts for each that has none."""
    found = [
        _again(made[line].line or -line, made[line].text, made[line].at) for line in worlds if line in made
    ]
    rest = [line for line in worlds if line not in made]
    if not rest:
        return found
    summaries = summaries_inside(view, rest)
    for node in view.visible(sorted(summaries.values())):
        found.append(_again(node.line, node.content, node.metadata.get("until", node.valid.start)))
    bare = [line for line in rest if line not in summaries]
    return found + [_source(child) for child in texts_inside(view, bare)]


def _again(line: int, text: str, at: Instant) -> Source:
    """A summary as a text of the world around it."""
    return Source(line, text, at, dated=True)


def _told(turn: Told) -> Source:
    return Source(turn.line, turn.text, turn.at, turn.speaker, role_of(turn.speaker) != "assistant")


# Writing ---------------------------------------------------------------------------------------------


def _summary(
    view: SqlView,
    night: Night,
    world: World,
    model: LanguageModel | None,
    made: dict[int, Made],
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
        made[world.node.line] = Made(held.content, until, held.line)
        return []
    text, by = _written(model, lines, night.config.model_tokens)
    made[world.node.line] = Made(text, until, held.line if held else 0)
    cited = _cited(chosen)
    closed, standing = _settled(view, held, cited)
    return [
        *closed,
        New(
            "Summary",
            f"Summary of {world.node.name or world.node.type}",
            text,
            valid_from=min(until, night.now),
            line=held.line if held else 0,
            world=world.node.line,
            metadata={**MADE, "of": digest, "by": by, "texts": len(world.sources), "until": until},
            label=_label(world.node.line),
            edges=tuple(_arrow(event, spans) for event, spans in cited.items() if event not in standing),
        ),
    ]


def _chosen(view: SqlView, sources: Sequence[Source], counted: dict[str, int]) -> list[Sentence]:
    said = coverage.cut(sources)
    counts = coverage.recurring(said)
    if new := counts.keys() - counted.keys():
        counted.update(dict.fromkeys(new, 0) | view.frequencies(sorted(new)))
    known = {term: count for term in counts if (count := counted[term])}
    total = max(known.values(), default=1)
    rarity = {term: math.log(1 + total / count) for term, count in known.items()}
    return coverage.choose(said, coverage.worth(sources, counts, rarity), coverage.budget(len(sources)))


def _line(source: Source, sentence: Sentence) -> str:
    """A sentence with its day and its speaker; a line of another summary has both already."""
    text = source.text[sentence.start : sentence.end]
    if source.dated:
        return text
    day = to_datetime(source.at).date().isoformat()
    return f"{day} {source.speaker}: {text}" if source.speaker else f"{day}: {text}"


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


def _cited(chosen: Iterable[Sentence]) -> dict[int, list[list[int]]]:
    """The events that the sentences come from, with their spans."""
    found: dict[int, list[list[int]]] = {}
    for sentence in chosen:
        found.setdefault(sentence.event, []).append([sentence.start, sentence.end])
    return found


def _arrow(event: int, spans: list[list[int]]) -> Arrow:
    to: int | str = event if event > 0 else _label(-event)
    more: dict[str, Any] = {"spans": spans} if len(spans) > 1 else {}
    return Arrow("derived_from", to, {**INFERRED, "start": spans[0][0], "end": spans[0][1], **more})


def _label(world: int) -> str:
    return f"summary {world}"


def _settled(
    view: SqlView, held: Node | None, cited: Mapping[int, list[list[int]]]
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
