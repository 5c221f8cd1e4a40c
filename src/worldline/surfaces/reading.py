"""The verbs that read. None of them writes, and none makes a store that is not there."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from worldline.clock import EARLIEST, FOREVER, instant
from worldline.errors import InvalidTime
from worldline.memory import CONTEXT, Memory
from worldline.model import Dated, Density, Hit, Recall
from worldline.read.history import offsets as offsets_of
from worldline.rules.handlers import NODE_TYPES
from worldline.store.registry import DRAWN
from worldline.surfaces import budget, render
from worldline.surfaces.budget import known, opening, worth_showing
from worldline.surfaces.options import TIME, Told, labelled, piped, reads
from worldline.text import visible

if TYPE_CHECKING:
    from worldline.read.history import ChainLink
    from worldline.read.profile import Attribute, Episode, Milestone, Profile, Relation

LONGEST = 400
"""Characters of one hit that a person is shown."""
_ASKED = click.option("--asked-at", type=TIME, help='The moment that "yesterday" is relative to [now].')
_FROM = click.option("--from", "from_", type=TIME, help="Not before this time.")
_TO = click.option("--to", type=TIME, help="Before this time.")
_KEPT_BACK = click.option(
    "--include-quarantined", is_flag=True, help="Also what is kept back; `confirm` releases it."
)
_LIMIT = click.option("--limit", type=click.IntRange(1), help="So many memories [the question decides].")
_TOKENS = click.option("--max-tokens", type=click.IntRange(0), help="Budget of the evidence [2000].")


def seen(
    memory: Memory, found: Any, lines: Callable[[Any, Mapping[str, int]], Iterable[str]]
) -> tuple[Any, Iterable[str]]:
    """A result, and lines that know the minutes from UTC to where each memory in it was said."""
    return found, lines(found, offsets_of(memory.handle, render.nodes_in(found)))


@reads
@click.option("--exact", is_flag=True, help="The very version that REF names, whatever became of it.")
def get(memory: Memory, ref: str, exact: bool) -> Told:
    """REF is an id, a prefix of it, or a hash that a world has had: that shows the world as it was.

    Example:
      worldline get 3f2a91c0b7de
      worldline get 3f2a91c0b7de --valid-at 2026-03-03 --known-at 2026-03-03
    """
    node = memory.get(ref, exact=exact)
    return node, render.whole(node)


@reads
@click.option(
    "--type",
    metavar="TYPE",
    type=render.spelled,
    help="Only this type: fact, entity, turn (what was said), …",
)
@click.option("--limit", default=50, show_default=True, help="Items on a page.")
@click.option("--page", metavar="MARK", help="The mark that the page before ended with.")
@click.option("--include-superseded", is_flag=True, help="Also what is over or was withdrawn.")
@_KEPT_BACK
@labelled
def list_(memory: Memory, type: str | None, page: str | None, **given: Any) -> Told:
    """Without a type: notes and what was said. Facts and entities are listed by their type.

    Example:
      worldline list
      worldline list --type fact --user ana
      worldline list --type fact --include-quarantined
      worldline list --as-of 2026-03-03 --json
    """
    counted = {} if type else memory.stats()["visible"]
    found = memory.list(type, page=page, **given)
    nodes = list(found.items)
    if type == "Entity":  # names before things: "Ana" before "late" and "47 minutes"
        nodes.sort(key=lambda node: node.name.isascii() and not node.name[:1].isupper())
    offsets = offsets_of(memory.handle, nodes)
    lines = [render.line(node, offsets) for node in nodes]
    lines += [f"more: --page {found.next}"] if found.next else []
    lines += _others(counted) if lines and not page else []
    return found, lines or [_nothing(type), *_unknown_then(memory)]


def _unknown_then(memory: Memory, *times: Any) -> list[str]:
    """Why a look at an early known time finds nothing: the store had not learned anything yet."""
    first = memory.at(known=FOREVER).changes(limit=1)
    since = first[0].known_at if first else 0
    if min((memory.handle.moment.known, *(_instant(at) for at in times if at))) >= since:
        return []
    return [
        f"nothing was known here before {render.date(since)[:10]}: what is imported is known from the day of its "
        "import on (--valid-at shows what held earlier)"
    ]


def _instant(at: Any) -> int:
    try:
        return instant(at)
    except InvalidTime:  # the hash of a world
        return FOREVER


def _nothing(type: str | None) -> str:
    near = difflib.get_close_matches((type or "").title(), NODE_TYPES, n=1)
    known = type is None or type in NODE_TYPES or not near
    return "nothing here" if known else f"nothing of type {type!r}; did you mean {near[0].lower()!r}?"


def _others(counted: dict[str, int]) -> list[str]:
    drawn = [(kind.lower(), counted[kind]) for kind in DRAWN[:4] if counted.get(kind)]
    told = ", ".join(f"{render.plural(count, kind)} (--type {kind})" for kind, count in drawn)
    return [click.style(f"also: {told}", dim=True)] if told else []


@reads
def history(memory: Memory, ref: str) -> Told:
    """Each one with the time it speaks of, the time it was believed, and what it was: put, amended,
    corrected, retired, quarantined, confirmed, restored. Between them, the stages that sleep gave it
    (unit, crystal, trace again), each with its reason.

    Example:
      worldline history 3f2a91c0b7de
    """
    found = memory.history(ref)
    return found, render.history(found)


@reads
def diff(memory: Memory, a: str, b: str | None = None) -> Told:
    """A and B are times, or hashes that a world has had. Without B: until now.

    Example:
      worldline diff 2026-03-01 2026-03-06
    """
    found, lines = seen(memory, memory.diff(a, b), render.diff)
    then = [f"({told})" for told in _unknown_then(memory, a, b)]
    return found, [*(list(lines) or ["nothing changed"]), *then]


@reads
def why(memory: Memory, ref: str) -> Told:
    """Example:
    worldline why 3f2a91c0b7de
    """
    return seen(memory, memory.why(ref), render.why)


@reads
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only along these edges; repeatable.")
@click.option(
    "--way", type=click.Choice(["out", "in", "both"]), default="both", show_default=True,
    help="Along the edges, against them, or both.",
)  # fmt: skip
@click.option("--depth", default=1, show_default=True, help="How many steps.")
def walk(memory: Memory, ref: str, types: tuple[str, ...], way: str, depth: int) -> Told:
    """Edges that sleep derived from others say so (inferred). What led to something: --type causes
    --way in.

    Example:
      worldline walk 3f2a91c0b7de --type relates_to --depth 2
      worldline walk 3f2a91c0b7de --type causes --way in
    """
    return seen(memory, memory.walk(ref, *types, way=way, depth=depth), render.subgraph)


@reads
def conflicts(memory: Memory) -> Told:
    """Both sides of each open conflict, with their dates and the words they rest on. Sleep finds more
    of them; closing one side (correct, retire) ends a conflict.

    Example:
      worldline conflicts
      worldline conflicts --user ana --json
    """
    found = memory.conflicts()
    return found, list(render.conflicts(found)) or ["nothing contradicts anything"]


@reads
@click.option("--since", type=TIME, help="Only what was learned after this known time.")
def changes(memory: Memory, since: str | None) -> Told:
    """Example:
    worldline changes --since 2026-03-01 --json
    """
    return seen(memory, memory.changes(EARLIEST if since is None else since), render.changes)


@reads
def worlds(memory: Memory) -> Told:
    """A world is whatever contains something. Its hash covers everything inside it, so equal hashes
    mean equal contents; the first line is the whole memory.

    Example:
      worldline worlds
    """
    root, found = memory.hash(), memory.worlds()
    value = {"hash": root, "worlds": [{"hash": hash_, "node": node} for node, hash_ in found]}
    lines = [f"{root[:12]}  everything"]
    return value, [*lines, *(f"{hash_[:12]}  {render.line(node)}" for node, hash_ in found)]


# Questions ----------------------------------------------------------------------------------------


@reads
@click.argument("question", required=False, callback=piped)
@_TOKENS
@_LIMIT
@_ASKED
@click.option("--explain", "plan", is_flag=True, help="Show lanes, places and factors of every memory.")
@click.option("--include-superseded", is_flag=True, help="Also what is over or was withdrawn.")
@_KEPT_BACK
@labelled
def recall(memory: Memory, question: str, plan: bool, metadata: dict[str, Any], **given: Any) -> Told:
    """The answer where it is known, with its proof; then verbatim, dated evidence, best first, each with the id
    that `why`, `correct` and `history` take. As much as the question needs; --limit says how many, and
    --max-tokens shows the text that a model would get, in the order of time; the document that --json makes
    within it is the one that the server gives.

    Example:
      worldline recall "Which tier does Acme have?"
      worldline recall "What did Ana say about Lisbon?" --max-tokens 500 --explain
    """
    found = memory.recall(question, explain=plan, filters=metadata, **given)
    if (most := given["max_tokens"]) is None:
        lines = shown(memory, found, given["limit"])
        lines += [] if found.hits else _unknown_then(memory)
        many = len(found.hits)  # named as the other doors do it
        value: Any = {
            "confidence": round(found.sure, 2), **render.plain(found), "found": many, "returned": many,
        }  # fmt: skip
    else:
        lines = [visible(found.text) or f"(--max-tokens {most} is too small to show anything)"]
        value = partial(budget.answered, memory, found, given["limit"], most, explain=plan)
    return value, [*lines, *_explained(found)] if plan else lines


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
    lines = [f"  {visible(line)}" for line in found.trace]
    for hit in found.hits:
        lanes = ", ".join(f"{lane} {place}" for lane, place in hit.lanes.items())
        told = ", ".join(f"{name} {value:+.2f}" for name, value in _heaviest(hit.factors)[:6])
        lines.append(
            f"  {render.short(hit.node.id)}  {hit.score:.2f} ({hit.points:.2f} points)  [{lanes}]  {told}"
        )
    return lines


def _heaviest(factors: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(factors.items(), key=lambda item: (-abs(item[1]), item[0]))


@reads
@_FROM
@_TO
@click.option("--limit", default=50, show_default=True, help="At most so many.")
@click.option("--include-superseded", is_flag=True, help="Also what was withdrawn.")
def timeline(memory: Memory, topic: str, **given: Any) -> Told:
    """Example:
    worldline timeline "the move to Lisbon" --from 2026-01-01
    """
    found, lines = seen(memory, memory.timeline(topic, **given), _days)
    return found, list(lines) or ["nothing about that", *_unknown_then(memory)]


def _days(found: Iterable[Dated], offsets: Mapping[str, int]) -> Iterator[str]:
    for item in found:
        flag = f"  * {item.landmark}" if item.landmark else ""
        because = "".join(f"\n{'':<21}{render.one_line(told, 100)}" for told in item.causes)
        named = None if item.at in (item.said_at, item.node.valid.start) else "day"
        at = render.date(item.at, named or item.node.precision, offsets.get(item.node.id, 0))[:16]
        yield f"{at:<16}  {render.line(item.node, offsets)}{flag}{because}"


@reads
def density(memory: Memory, topic: str) -> Told:
    """Example:
    worldline density "Acme"
    """
    return seen(memory, memory.density(topic), _covered)


def _covered(found: Density, offsets: Mapping[str, int]) -> Iterator[str]:
    if not found.nodes:
        yield "nothing about that"
        return
    newest = "" if found.newest is None else f", newest {render.date(found.newest)}"
    told = render.counts(
        memory=found.nodes, fact=found.facts, source=found.sources, open_conflict=found.conflicts
    )
    more = " (and more that was not walked)" if found.cut else ""
    yield f"{told}, {found.edges_per_node:g} edges a memory{newest}{more}"
    yield from (f"  around {render.line(node, offsets)}" for node in found.starts)


@reads
@click.argument("question")
@click.argument("expect", metavar="REF")
@_TOKENS
@_LIMIT
@_ASKED
@labelled
def explain(memory: Memory, metadata: dict[str, Any], **given: Any) -> Told:
    """Says which filter, lane, rank or budget lost REF, or the place that it has.

    Example:
      worldline explain "Which tier does Acme have?" 3f2a91c0b7de
    """
    found = memory.explain(filters=metadata, **given)
    lines = [render.line(found.node), f"  {found.lost_by or 'not lost'}: {visible(found.reason)}"]
    if found.lanes:
        lines.append("  " + ", ".join(f"{lane} {place or '–'}" for lane, place in found.lanes.items()))
    return found, [*lines, *(f"  {value:+.2f}  {name}" for name, value in _heaviest(found.factors))]


# People and their days ----------------------------------------------------------------------------


@reads
@click.option("--all", "everything", is_flag=True, help="Every line of each kind.")
def profile(memory: Memory, name: str, everything: bool) -> Told:
    """Attributes, style, relations, landmarks, and what led to what.

    NAME is a name, or the id of an entity. Counts and causes are those of the last `sleep`, and of
    what was said since.

    Example:
      worldline profile Ana
      worldline profile Ana --as-of 2026-03-05
    """
    found = memory.profile(name)
    most = None if everything else render.SHOWN
    ids = [one.fact for one in found.attributes[:most]] + [one.evidence for one in found.landmarks[:most]]
    places = _places(memory, [*ids, *(one.evidence for one in found.relations[:most])])
    return found, _told(found, most, places)


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
    yield from ([title] if lines else [])
    yield from render.first([f"  {line}" for line in lines], most, "--all")


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
        "talks": one.talks, "speaks of": one.mentions, "spoken of by": one.mentioned, "beside": one.together,
    }  # fmt: skip
    told = ", ".join(f"{what} {times}" for what, times in counts.items() if times)
    proof = f"  ({render.short(one.evidence)})" if one.evidence else ""
    return f"{visible(one.name)}: {told}; last {_day(one.last_at, places.get(one.evidence or '', 0))}{proof}"


def _milestone(one: Milestone, places: Mapping[str, int]) -> str:
    whose = f" ({visible(one.of)})" if one.of else ""
    day = _day(one.happened, places.get(one.evidence, 0))
    return f"{day}  {one.kind}{whose}: {render.one_line(one.text)}  ({render.short(one.evidence)})"


@reads
@click.argument("whom", metavar="[USER]", required=False)
@click.option("--max-tokens", default=CONTEXT, show_default=True, type=click.IntRange(20),
              help="Its budget; with --json, of the whole document.")  # fmt: skip
def context(memory: Memory, whom: str | None, max_tokens: int) -> Told:
    """Who the user is, what they asked for and prefer, what comes up, what holds, what changed lately; each
    line with the id that it cites. USER is a user of this memory or a name in it; without one, the user
    that --user binds, or the only one who speaks here.

    Example:
      worldline context
      worldline context Ana --max-tokens 300
    """
    found = memory.context(whom, max_tokens=max_tokens)
    value = partial(budget.briefed, memory, whom, max_tokens, render.plain, max_tokens)
    return value, [visible(found.text) or "(nothing to know yet)"]


@reads
@_FROM
@_TO
@click.option("--limit", default=20, show_default=True, help="At most so many, the newest.")
@click.option("--read", is_flag=True, help="Also what was said in them.")
def episodes(memory: Memory, **given: Any) -> Told:
    """Example:
    worldline episodes --limit 5
    worldline episodes --from 2026-03-05 --to 2026-03-06 --read
    """
    found = memory.episodes(**given)
    ids = [i for one in found for i in (one.opens, one.closes, *(m.evidence for m in one.landmarks))]
    places = _places(memory, [*ids, *(node.id for one in found for node in one.texts)])
    lines = [line for one in found for line in _stretch(one, places)]
    return found, lines or ["nobody has talked then"]


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
        yield f"  {render.line(node, places)}"
    if not one.texts:
        yield f"{'':<19}  from {render.short(one.opens)} to {render.short(one.closes)}; --read shows them"
