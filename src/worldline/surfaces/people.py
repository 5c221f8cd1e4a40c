"""The verbs about people and their days: who somebody is, and when they talked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from worldline.memory import CONTEXT, Memory
from worldline.read.history import offsets as offsets_of
from worldline.surfaces import render
from worldline.surfaces.options import Bound, Verb, parse_time, reads
from worldline.text import visible

if TYPE_CHECKING:
    from worldline.read.history import ChainLink
    from worldline.read.profile import Attribute, Episode, Milestone, Profile, Relation


_SHOWN = 20
"""So many lines of each kind are shown without --all."""


@click.command(cls=Verb)
@click.argument("name")
@click.option("--all", "everything", is_flag=True, help="Every line of each kind.")
@reads
def profile(bound: Bound, name: str, everything: bool) -> None:
    """What is known of a person.

    Attributes, style, relations, landmarks, and what led to what.

    NAME is a name, or the id of an entity. Counts and causes are those of the last `sleep`, and of
    what was said since.

    \b
    Example:
      worldline profile Ana
      worldline profile Ana --as-of 2026-03-05
    """
    with bound.memory() as memory:
        found = memory.profile(name)
        most = None if everything else _SHOWN
        ids = [one.fact for one in found.attributes[:most]] + [one.evidence for one in found.landmarks[:most]]
        places = _places(memory, [*ids, *(one.evidence for one in found.relations[:most])])
        bound.answer(found, _told(found, most, places))


def _places(memory: Memory, ids: Iterable[str | None]) -> dict[str, int]:
    """The minutes from UTC to where each of these memories was said, so that days are those of the speakers."""
    nodes = [memory.get(id_, exact=True) for id_ in dict.fromkeys(ids) if id_]
    return {node.id: 0 for node in nodes} | offsets_of(memory.handle, nodes)


def _told(found: Profile, most: int | None, places: Mapping[str, int]) -> Iterator[str]:
    usual = Counter(places.values()).most_common(1)[0][0] if places else 0
    days = f"{_day(found.first_at, usual)} to {_day(found.last_at, usual)}"
    heard = f"  {render.plural(found.turns, 'turn')}, {days}" if found.turns else ""
    yield click.style(visible(found.name), bold=True) + heard
    yield from _some("believed", [_attribute(one, places) for one in found.attributes], most)
    yield from _style(found)
    yield from _some("people", [_relation(one, places) for one in found.relations], most)
    yield from _some("landmarks", [_milestone(one, places) for one in found.landmarks], most)
    yield from _some("what led to what", [_chain(one) for one in found.chains], most)


def _some(title: str, lines: list[str], most: int | None) -> Iterator[str]:
    if lines:
        yield title
        yield from (f"  {line}" for line in lines[:most])
    if most is not None and len(lines) > most:
        yield f"  … and {len(lines) - most} more (--all)"


def _attribute(one: Attribute, places: Mapping[str, int]) -> str:
    stage = f"  ({one.stage})" if one.stage == "crystal" else ""
    held = render.span(one.valid, one.precision or "said", places.get(one.fact, 0))
    return f"{render.short(one.fact)}  {render.one_line(one.text)}  [{held}]{stage}"


def _chain(one: ChainLink) -> str:
    steps = " → ".join(render.one_line(step, 60) for step in one.steps)
    return f"{steps}  ({', '.join(render.short(id_) for id_ in one.evidence)})"


def _day(at: int | None, offset: int = 0) -> str:
    return "" if at is None else render.date(at, None, offset)[:10]


def _style(found: Profile) -> Iterator[str]:
    style = found.style
    if style is None:
        return
    marks = ", ".join(f"{often:g} {mark}" for mark, often in style.habits.items())
    yield f"writes {style.words:g} words a turn" + (f"; a turn has {marks}" if marks else "")
    if style.telling:
        yield f"  often: {visible(', '.join(style.telling))}"
    if style.alike:
        yield f"  most like {visible(style.alike)} ({style.likeness:g})"


def _relation(one: Relation, places: Mapping[str, int]) -> str:
    counts = {
        "talks": one.talks,
        "speaks of": one.mentions,
        "spoken of by": one.mentioned,
        "beside": one.together,
    }
    told = ", ".join(f"{what} {times}" for what, times in counts.items() if times)
    proof = f"  ({render.short(one.evidence)})" if one.evidence else ""
    return f"{visible(one.name)}: {told}; last {_day(one.last_at, places.get(one.evidence or '', 0))}{proof}"


def _milestone(one: Milestone, places: Mapping[str, int]) -> str:
    whose = f" ({visible(one.of)})" if one.of else ""
    day = _day(one.happened, places.get(one.evidence, 0))
    return f"{day}  {one.kind}{whose}: {render.one_line(one.text)}  ({render.short(one.evidence)})"


@click.command(cls=Verb)
@click.argument("whom", metavar="[USER]", required=False)
@click.option("--max-tokens", default=CONTEXT, show_default=True, type=click.IntRange(20), help="Its budget.")
@reads
def context(bound: Bound, whom: str | None, max_tokens: int) -> None:
    """What an agent should know before a session begins.

    Who the user is, what they asked for and prefer, what comes up, what holds, what changed lately; each
    line with the id that it cites. USER is a user of this memory or a name in it; without one, the user
    that --user binds, or the only one who speaks here.

    \b
    Example:
      worldline context
      worldline context Ana --max-tokens 300
    """
    with bound.memory() as memory:
        found = memory.context(whom, max_tokens=max_tokens)
        bound.answer(found, [visible(found.text) or "(nothing to know yet)"])


@click.command(cls=Verb)
@click.option("--from", "start", metavar="TIME", help="Not before this time.")
@click.option("--to", "end", metavar="TIME", help="Before this time.")
@click.option("--limit", default=20, show_default=True, help="At most so many, the newest.")
@click.option("--read", is_flag=True, help="Also what was said in them.")
@reads
def episodes(bound: Bound, start: str | None, end: str | None, limit: int, read: bool) -> None:
    """Stretches of talk, parted by pauses of six hours or more.

    \b
    Example:
      worldline episodes --limit 5
      worldline episodes --from 2026-03-05 --to 2026-03-06 --read
    """
    with bound.memory() as memory:
        found = memory.episodes(parse_time(start), parse_time(end), limit=limit, read=read)
        ids = [i for one in found for i in (one.opens, one.closes, *(m.evidence for m in one.landmarks))]
        places = _places(memory, [*ids, *(node.id for one in found for node in one.texts)])
        lines = [line for one in found for line in _stretch(one, places)]
        bound.answer(found, lines or ["nobody has talked then"])


def _stretch(one: Episode, places: Mapping[str, int]) -> Iterator[str]:
    who = ", ".join(f"{visible(name) or 'unsigned'} {turns}" for name, turns in one.who.items())
    where = f"  in {', '.join(map(visible, one.sessions[:4]))}" if one.sessions else ""
    began, ended = (
        render.date(at, None, places[id_]) for at, id_ in ((one.began, one.opens), (one.ended, one.closes))
    )
    yield f"{began:<19}  {click.style(visible(one.title), bold=True)}"
    yield f"{'':<19}  until {ended}: {render.plural(one.turns, 'turn')} ({who}){where}"
    if one.sounds_like:
        yield f"{'':<19}  the unsigned ones sound like {visible(one.sounds_like)}"
    for landmark in one.landmarks:
        yield f"{'':<19}  {_milestone(landmark, places)}"
    for node in one.texts:
        yield f"  {render.line(node, places.get(node.id, 0))}"
    if not one.texts:
        yield f"{'':<19}  from {render.short(one.opens)} to {render.short(one.closes)}; --read shows them"
