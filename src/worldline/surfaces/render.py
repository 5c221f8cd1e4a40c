"""How answers look: one JSON document for programs, compact lines for people.

Row numbers never leave the store. Times are ISO text in JSON (an open end is null) and dates in
text; ids are whole in JSON and their first twelve digits in text, which is enough to use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import orjson
from msgspec import Struct

from worldline import model
from worldline.clock import EARLIEST, EXACT, FOREVER, LATEST, Instant, Interval, calendar, show, to_datetime
from worldline.rules.handlers import NODE_TYPES
from worldline.rules.slots import label, told
from worldline.text import visible

HIDDEN = frozenset({"key", "line", "scope", "row", "a_line", "b_line", "src_line", "dst_line"})
TIMES = frozenset("known_at also dated said_at since first_at last_at happened began ended".split())
SPOKEN = frozenset({"valid", "said_at"})
"""Times of what was said; the others are the engine's."""
IN_WORDS = {"refers_to": "mentions", "derived_from": "drawn from", "contains": "holds"}
"""What some types of edges are called."""
SHOWN = 20
"""So many changes of one write are told."""
_HOUR = 3_600_000_000
STAGES = frozenset({"trace", "unit", "crystal"})


# For programs ------------------------------------------------------------------------------------


def plain(value: Any, name: str = "", offsets: Mapping[str, int] = {}, offset: int = 0) -> Any:
    """Any result as JSON values, without row numbers.

    What was said has its times in the place where it was said, by the `offsets` of memories.
    """
    if isinstance(value, Interval):
        return {"from": iso(value.start, offset), "to": iso(value.end, offset)}
    if isinstance(value, Struct):
        here = offsets.get(value.id, 0) if isinstance(value, model.Node) else getattr(value, "utc_offset", 0)
        fields = [f for f in value.__struct_fields__ if f not in HIDDEN]
        return {f: plain(getattr(value, f), f, offsets, here if f in SPOKEN else 0) for f in fields}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, tuple | list):
        return [plain(item, name, offsets, offset) for item in value]
    if isinstance(value, dict):
        return {k: plain(v, "", offsets) for k, v in value.items()} if name != "metadata" else value
    return iso(value, offset) if name in TIMES and isinstance(value, int) else value


def nodes_in(value: Any) -> Iterable[model.Node]:
    """Every memory in a result."""
    if isinstance(value, model.Node):
        yield value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from nodes_in(getattr(value, name))
    elif isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from nodes_in(item)


def iso(at: Instant, offset: int = 0, precision: str | None = None) -> str | None:
    """A time for programs, as exact as it is known; None for an open end."""
    if at >= LATEST or at <= EARLIEST:
        return None
    return calendar(at, precision) if precision and precision not in EXACT else show(at, offset)


_UNSEEN = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What JSON lets through and a terminal may obey."""


def json_text(value: Any) -> str:
    """JSON values as one line, of which a terminal obeys nothing."""
    text = orjson.dumps(value).decode()
    return text if text.isprintable() else _UNSEEN.sub(lambda c: f"\\u{ord(c[0]):04x}", text)


def spelled(type_: str) -> str:
    """A type of memory as it is written, whatever the case: `fact` is Fact."""
    return next((name for name in NODE_TYPES if name.lower() == type_.lower()), type_)


def moment(at: Any) -> Any:
    """A time that was given, as `Memory` takes it: `forever` is one too."""
    return FOREVER if isinstance(at, str) and at.strip().lower() == "forever" else at


# For people --------------------------------------------------------------------------------------


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 turn, 3 memories."""
    one = noun if not noun.endswith("y") else noun[:-1] + "ie"
    return f"{count:,} {noun if count == 1 else one + 's'}"


def counts(**found: int) -> str:
    """Each count with its noun, in a row."""
    return ", ".join(plural(count, noun.replace("_", " ")) for noun, count in found.items())


def first(lines: Sequence[str], most: int | None, rest: str = "--json lists all") -> Iterable[str]:
    """So many of the lines, and how many more there are."""
    yield from lines[:most]
    if most is not None and len(lines) > most:
        yield f"  … and {len(lines) - most:,} more ({rest})"


def one_line(text: str, width: int = 72) -> str:
    """The beginning of a text on one line."""
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def short(id_: str) -> str:
    """Twelve digits of an id, in colour on a terminal."""
    return click.style(id_[:12], fg="yellow")


def date(at: Instant, precision: str | None = None, offset: int = 0) -> str:
    """A date, with the time where it is not midnight; a day, month or year as the calendar has it.

    Whoever said it said so in some place: `offset` (minutes) keeps that place's day.
    """
    if at >= LATEST:
        return "forever"
    if at <= EARLIEST:
        return "always"
    if precision and precision not in EXACT:
        return calendar(at, precision)
    local = to_datetime(at, offset)
    return f"{local:%Y-%m-%d}" if f"{local:%H%M%S%f}" == "000000000000" else f"{local:%Y-%m-%d %H:%M:%S}"


def span(interval: Interval, precision: str | None = None, offset: int = 0) -> str:
    """`[from, to)` in words; what began when it was said began on that day, where it was said."""
    if precision == "said" and interval.start > EARLIEST:
        days = [date(at, None, offset)[:10] for at in (interval.start, interval.end)]
        return f"since {days[0]}" if interval.end >= LATEST else f"{days[0]} → {days[1]}"
    if interval.start <= EARLIEST and interval.end >= LATEST:
        return "always"
    if interval.end >= LATEST:
        return f"since {date(interval.start, precision)}"
    if interval.end == interval.start + 1:
        return f"until {date(interval.end, of_end(interval, 'day'))}"
    return f"{date(interval.start, precision)} → {date(interval.end, of_end(interval, precision))}"


def of_end(interval: Interval, precision: str | None) -> str | None:
    """An end is a day where the start is one, and it lies whole days later (give or take an hour of summer)."""
    if not precision or precision in EXACT:
        return None
    off = (interval.end - interval.start + _HOUR) % (24 * _HOUR)
    return "day" if off <= 2 * _HOUR else None


def title(node: model.Node) -> str:
    """What a memory is called; what was said, for an event."""
    if node.type == "Turn":
        said = one_line(node.content)
        return f"{visible(node.name)}: {said}" if node.name else said
    if node.type == "Fact":
        return one_line(node.content)
    content = f"  {one_line(node.content)}" if node.content else ""
    return click.style(visible(node.name), bold=True) + content


def when(node: model.Node, offset: int = 0) -> str:
    """When it was said, or how long it holds; nothing for what has no time of its own."""
    if node.type == "Turn":
        return f"  [{date(node.valid.start, None, offset)[:16]}]"
    held = span(node.valid, node.precision or ("said" if node.type == "Fact" else None), offset)
    return "" if held == "always" else f"  [{held}]"


def line(node: model.Node, offsets: Mapping[str, int] = {}) -> str:
    """A memory on one line; what was said has the day of the place where it was said."""
    why = f": {one_line(node.reason)}" if node.status == "quarantined" and node.reason else ""
    status = f"  ({node.status}{why})" if node.status != "believed" else ""
    notes = "".join("  ! " + click.style(visible(note), fg="red") for note in node.notes)
    held = when(node, offsets.get(node.id, 0))
    return f"{short(node.id)}  {node.type:<9} {title(node)}{held}{status}{notes}"


def whole(node: model.Node) -> Iterable[str]:
    """A memory with everything that is known about it."""
    yield line(node) if node.type not in ("Turn", "Fact") else f"{short(node.id)}  {node.type} {node.name}"
    yield f"  valid {span(node.valid, node.precision)}; known {span(node.known)}"
    if node.lineage != node.id:
        yield f"  a later version of {node.lineage[:12]}"
    if node.world:
        yield f"  in world {node.world[:12]}"
    if node.confidence is not None:
        yield f"  confidence {node.confidence:g}"
    if node.reason:
        yield f"  because: {one_line(node.reason)}"
    if node.metadata:
        yield f"  {orjson.dumps(node.metadata).decode()}"
    if node.content:
        yield visible(node.content)


def relation(edge: model.Edge) -> str:
    """What an edge says, in words."""
    return label(str(edge.metadata.get("predicate") or "")) or IN_WORDS.get(edge.type, edge.type)


def edge_line(edge: model.Edge, names: dict[str, str]) -> str:
    """An edge on one line, ends by name where they are known."""
    ends = [visible(names.get(end, "")) or short(end) for end in (edge.src, edge.dst)]
    as_long_as_told = edge.type in ("fact", "refers_to") and edge.valid.end >= LATEST
    held = "" if as_long_as_told else f"  [{span(edge.valid)}]"
    inferred = ""
    if edge.made == "inferred":
        through = [visible(names.get(end, "")) or end[:12] for end in edge.metadata.get("through", ())]
        inferred = f"  (inferred{' through ' + ', '.join(through) if through else ''})"
    return f"  {ends[0]} —{relation(edge)}→ {ends[1]}{held}{inferred and click.style(inferred, dim=True)}"


def receipt(done: model.Receipt) -> Iterable[str]:
    """What a write did."""
    state = "done" if done.changed else "was so already; nothing changed"
    if done.dry_run:
        state = "dry run: it would be done" if done.changed else "dry run: nothing would change"
    yield f"{done.verb} {short(done.id)}  {state}" if done.id else f"{done.verb}  {state}"
    lines = [visible(told(change)) for change in _fullest(done.changes)]
    lines += [f"merge proposal {short(id_)}: accept or reject it with `merges`" for id_ in done.proposals]
    lines = [told_ for told_ in dict.fromkeys(lines) if told_ != "ended" or len(lines) == 1]
    yield from first([f"  {line_}" for line_ in lines], SHOWN)
    if done.redacted:
        yield f"  redacted: {', '.join(dict.fromkeys(done.redacted))}"
    if done.changed and not done.dry_run:
        stamps = " ".join(show(at) for at in (done.known_at, *done.also))
        yield click.style(f"  undo with: worldline undo {stamps}", dim=True)


def _fullest(changes: Sequence[str]) -> list[str]:
    """The changes without what another one says too: "Bo keeps bees in Oslo" says that Bo keeps bees."""
    facts = [change.partition(": ")[0] for change in changes]
    parts = {a for a in facts for b in facts if b.startswith(f"{a} ")}
    return [change for change, fact in zip(changes, facts, strict=True) if fact not in parts]


def history(versions: Iterable[model.Version]) -> Iterable[str]:
    """Every belief, oldest first."""
    for version in versions:
        node = version.node
        by = f"  by {short(version.closed_by)}" if version.closed_by else ""
        yield f"{date(node.known.start):<19}  {version.change:<11} {short(node.id)}  {title(node)}"
        if version.change in STAGES:
            yield f"{'':<19}  because {visible(node.reason or '')}; {span(node.known)}"
        else:
            yield f"{'':<19}  held {span(node.valid, node.precision)}; believed {span(node.known)}{by}"
        yield from (f"{'':<19}  {visible(note)}" for note in node.notes)
        yield from (f"{'':<19}  {origin(item)}" for item in version.origins)


def origin(item: model.Origin) -> str:
    """Where something was absorbed from, and when it was known there."""
    return f"from store {short(item.store)}, known there {span(item.known)}"


def called(nodes: Iterable[model.Node]) -> dict[str, str]:
    """What edges call their ends: a name, or the words of what was said."""
    return {n.lineage: (n.name if n.type != "Turn" else "") or one_line(n.content, 30) for n in nodes}


def diff(found: model.Diff, offsets: Mapping[str, int]) -> Iterable[str]:
    """What came, went and changed."""
    names = called((*found.added, *found.removed, *(new for _, new in found.changed)))
    for sign, colour, nodes in (("+ ", "green", found.added), ("- ", "red", found.removed)):
        shown = [node for node in nodes if node.type != "Scope"]
        yield from (click.style(sign, fg=colour) + line(node, offsets) for node in shown)
    for old, new in found.changed:
        yield f"~ {line(old)}"
        yield f"→ {line(new)}"
    yield from (click.style("+", fg="green") + edge_line(edge, names) for edge in found.linked)
    yield from (click.style("-", fg="red") + edge_line(edge, names) for edge in found.unlinked)


def why(found: model.Why, offsets: Mapping[str, int]) -> Iterable[str]:
    """The path from a belief to the words it rests on."""
    yield line(found.node, offsets)
    for reason in found.reasons:
        words = ""
        if reason.span:
            words = f"  “{one_line(reason.node.content[slice(*reason.span)])}”"
        told_by = line(reason.node, offsets)
        yield f"{'  ' * reason.depth}{IN_WORDS.get(reason.via, reason.via)}: {told_by}{words}"
    if found.node.type == "Turn":
        yield "  these are the words themselves" + (
            f", from {visible(found.node.name)}" if found.node.name else ""
        )
    elif not found.events:
        yield "  nobody said it: it was written directly"
    yield from (f"  {origin(item)}" for item in found.origins)


def subgraph(found: model.Subgraph, offsets: Mapping[str, int]) -> Iterable[str]:
    """Nodes, then the edges among them."""
    yield from (line(node, offsets) for node in found.nodes)
    names = called(found.nodes)
    yield from (edge_line(edge, names) for edge in found.edges)


def conflicts(found: Iterable[model.Contradiction]) -> Iterable[str]:
    """Both sides of each conflict, with dates and sources."""
    for item in found:
        about = f"{item.entity} · {label(item.predicate or '')}" if item.entity else "two notes"
        by = "noticed in sleep" if item.inferred else "stated"
        yield f"{click.style(visible(about), bold=True)}  {by} {date(item.since)}"
        for side in item.sides:
            yield f"  {line(side.node)}"
            for said in side.sources:
                where = f" in {visible(said.session)}" if said.session else ""
                yield f"      {date(said.said_at)} {visible(said.speaker)}{where}: {one_line(said.text)}"


def changes(found: Iterable[model.Change], offsets: Mapping[str, int]) -> Iterable[str]:
    """The feed, a line each."""
    for item in found:
        of, sign = item.item, "+" if item.action == "believed" else "-"
        told = line(of, offsets) if isinstance(of, model.Node) else edge_line(of, {}).strip()
        if of.type != "Scope":
            yield f"{date(item.known_at):<19} {sign} {told}"


def proposal(item: model.Proposal, names: dict[str, str]) -> str:
    """A staged merge on one line."""
    a, b = (f"{short(end)} {visible(names.get(end, ''))}".rstrip() for end in (item.a, item.b))
    reason = f"  ({visible(item.reason)})" if item.reason else ""
    return f"{short(item.id)}  {item.status:<8}  {a}  =  {b}  {item.tier} {item.score:g}{reason}"


def verification(found: model.Verification) -> Iterable[str]:
    """What was checked, and what is wrong."""
    told = counts(memory=found.nodes, edge=found.edges, world=found.worlds, changeset=found.changesets)
    yield f"{'ok' if found.ok else 'DAMAGED'}: {told}"
    yield from (f"  {item.where}: {item.what}" for item in found.damage)
