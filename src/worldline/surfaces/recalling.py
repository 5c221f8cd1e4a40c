"""The verbs that answer questions, and those that look after their vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from worldline.memory import Memory
from worldline.model import Dated, Density, Explanation, Hit, Recall
from worldline.read.history import offsets as offsets_of
from worldline.surfaces import render
from worldline.surfaces.answering import known, opening, worth_showing
from worldline.surfaces.care import WaitingCount
from worldline.surfaces.options import Bound, Verb, labelled, parse_time, piped, reads, writes
from worldline.text import visible

LONGEST = 400
"""Characters of one hit that a person is shown."""
_ASKED = click.option("--asked-at", metavar="TIME", help='The moment that "yesterday" is relative to [now].')
_LIMIT = click.option("--limit", type=click.IntRange(1), help="So many memories [the question decides].")
_TOKENS = click.option("--max-tokens", type=click.IntRange(0), help="Budget of the evidence [2000].")


@click.command(cls=Verb)
@click.argument("question", required=False, callback=piped)
@_TOKENS
@_LIMIT
@_ASKED
@click.option("--explain", "plan", is_flag=True, help="Show lanes, places and factors of every memory.")
@click.option("--include-superseded", is_flag=True, help="Also what is over or was withdrawn.")
@labelled
@reads
def recall(
    bound: Bound,
    question: str,
    max_tokens: int | None,
    limit: int | None,
    asked_at: str | None,
    plan: bool,
    include_superseded: bool,
    metadata: dict[str, Any],
) -> None:
    """Find what is remembered about a question (also: search).

    The answer where it is known, with its proof; then verbatim, dated evidence, best first, each with the id
    that `why`, `correct` and `history` take. As much as the question needs; --limit says how many, and
    --max-tokens shows the text that a model would get, in the order of time.

    \b
    Example:
      worldline recall "Which tier does Acme have?"
      worldline recall "What did Ana say about Lisbon?" --max-tokens 500 --explain
    """
    with bound.memory() as memory:
        found = memory.recall(
            question, max_tokens=max_tokens, limit=limit, asked_at=parse_time(asked_at), explain=plan,
            filters=metadata, include_superseded=include_superseded,
        )  # fmt: skip
        if max_tokens is None:
            lines = [*shown(memory, found, limit), *(() if found.hits else bound.unknown_then(memory))]
        else:
            lines = [visible(found.text) or "(nothing remembered)"]
        bound.answer(found, [*lines, *_explained(found)] if plan else lines)


def shown(memory: Memory, found: Recall, limit: int | None = None) -> list[str]:
    """An answer for people: what is known, then the words, best first."""
    told = known(memory, found, 12)
    lines = [visible(line) for line in opening(told)]
    hits = worth_showing(found, limit)
    lines += [line for hit in hits for line in _hit(hit)]
    more = len(found.hits) - len(hits)
    if more:
        lines.append(click.style(f"({more} more, further away: --limit {len(found.hits)})", dim=True))
    return lines or ["(nothing remembered)"]


def _hit(hit: Hit) -> Iterator[str]:
    node = hit.node
    at = node.valid.start if hit.said_at is None else hit.said_at
    day = render.date(at, node.precision, hit.utc_offset)[:16]
    named = "" if node.type in ("Turn", "Fact") else f"{visible(node.name)}: "
    who = f"{visible(hit.speaker)}: " if hit.speaker else named
    said = render.one_line(node.content, LONGEST)
    yield f"{render.short(node.id)}  {day:<16}  {who}{said}".rstrip(": ")
    yield from (f"{'':<14}{visible(note)}" for note in node.notes)


def _explained(found: Recall) -> list[str]:
    lines: list[str] = []
    lines += [f"  {visible(line)}" for line in found.trace]
    for hit in found.hits:
        lanes = ", ".join(f"{lane} {place}" for lane, place in hit.lanes.items())
        factors = sorted(hit.factors.items(), key=lambda item: (-abs(item[1]), item[0]))[:6]
        told = ", ".join(f"{name} {value:+.2f}" for name, value in factors)
        lines.append(
            f"  {render.short(hit.node.id)}  {hit.score:.2f} ({hit.points:.2f} points)  [{lanes}]  {told}"
        )
    return lines


@click.command(cls=Verb)
@click.argument("topic")
@click.option("--from", "start", metavar="TIME", help="Not before this time.")
@click.option("--to", "end", metavar="TIME", help="Before this time.")
@click.option("--limit", default=50, show_default=True, help="At most so many.")
@click.option("--include-superseded", is_flag=True, help="Also what was withdrawn.")
@reads
def timeline(
    bound: Bound, topic: str, start: str | None, end: str | None, limit: int, include_superseded: bool
) -> None:
    """What happened about a topic, in order.

    \b
    Example:
      worldline timeline "the move to Lisbon" --from 2026-01-01
    """
    with bound.memory() as memory:
        found = memory.timeline(
            topic, parse_time(start), parse_time(end), limit=limit, include_superseded=include_superseded
        )
        offsets = offsets_of(memory.handle, (item.node for item in found))
        lines = [_dated(item, offsets.get(item.node.id, 0)) for item in found]
        bound.answer(found, lines or ["nothing about that", *bound.unknown_then(memory)])


def _dated(item: Dated, offset: int) -> str:
    flag = f"  * {item.landmark}" if item.landmark else ""
    because = "".join(f"\n{'':<21}{render.one_line(told, 100)}" for told in item.causes)
    named = None if item.at in (item.said_at, item.node.valid.start) else "day"
    at = render.date(item.at, named or item.node.precision, offset)[:16]
    return f"{at:<16}  {render.line(item.node, offset)}{flag}{because}"


@click.command(cls=Verb)
@click.argument("topic")
@reads
def density(bound: Bound, topic: str) -> None:
    """What is already covered around a topic.

    \b
    Example:
      worldline density "Acme"
    """
    with bound.memory() as memory:
        found = memory.density(topic)
        bound.answer(found, _covered(found, offsets_of(memory.handle, found.starts)))


def _covered(found: Density, offsets: dict[str, int]) -> list[str]:
    if not found.nodes:
        return ["nothing about that"]
    newest = "" if found.newest is None else f", newest {render.date(found.newest)}"
    counts = {
        "memory": found.nodes,
        "fact": found.facts,
        "source": found.sources,
        "open conflict": found.conflicts,
    }
    told = ", ".join(render.plural(count, noun) for noun, count in counts.items())
    return [
        f"{told}, {found.edges_per_node:g} edges a memory{newest}"
        + (" (and more that was not walked)" if found.cut else ""),
        *(f"  around {render.line(node, offsets.get(node.id, 0))}" for node in found.starts),
    ]


@click.command(cls=Verb)
@click.argument("question")
@click.argument("expect", metavar="REF")
@_TOKENS
@_LIMIT
@_ASKED
@labelled
@reads
def explain(
    bound: Bound,
    question: str,
    expect: str,
    max_tokens: int | None,
    limit: int | None,
    asked_at: str | None,
    metadata: dict[str, Any],
) -> None:
    """Why a memory is not in the answer to a question.

    Says which filter, lane, rank or budget lost REF, or the place that it has.

    \b
    Example:
      worldline explain "Which tier does Acme have?" 3f2a91c0b7de
    """
    with bound.memory() as memory:
        found = memory.explain(
            question, expect, max_tokens=max_tokens, limit=limit, asked_at=parse_time(asked_at),
            filters=metadata,
        )  # fmt: skip
        bound.answer(found, _told(found))


def _told(found: Explanation) -> list[str]:
    lines = [render.line(found.node), f"  {found.lost_by or 'not lost'}: {visible(found.reason)}"]
    if found.lanes:
        lines.append("  " + ", ".join(f"{lane} {place or '–'}" for lane, place in found.lanes.items()))
    factors = sorted(found.factors.items(), key=lambda item: (-abs(item[1]), item[0]))
    return [*lines, *(f"  {value:+.2f}  {name}" for name, value in factors)]


@click.command(cls=Verb)
@writes
def flush(bound: Bound) -> None:
    """Embed what has no vector yet.

    \b
    Example:
      worldline flush
    """
    with bound._replace(creates=False).memory() as memory, WaitingCount() as progress:
        done = memory.flush(lambda at, of: progress(f"embedding, of {of:,}", at))
        bound.answer({"embedded": done}, [f"{done:,} texts embedded"])


@click.command(cls=Verb)
@writes
def reembed(bound: Bound) -> None:
    """Make every vector anew, with the embedder that is configured now.

    \b
    Example:
      worldline reembed
    """
    with bound._replace(creates=False).memory() as memory, WaitingCount() as progress:
        done = memory.reembed(lambda at, of: progress(f"embedding, of {of:,}", at))
        bound.answer({"embedded": done}, [f"{done:,} texts embedded"])
