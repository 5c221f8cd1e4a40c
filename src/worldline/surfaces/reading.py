"""The verbs that read. None of them writes, and none makes a store that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import click

from worldline.clock import EARLIEST
from worldline.memory import Memory
from worldline.model import Node
from worldline.read.history import offsets as offsets_of
from worldline.rules.handlers import NODE_TYPES
from worldline.store.registry import DRAWN
from worldline.surfaces import render
from worldline.surfaces.options import Bound, Verb, labelled, parse_time, reads, type_name


@click.command(cls=Verb)
@click.argument("ref")
@click.option("--exact", is_flag=True, help="The very version that REF names, whatever became of it.")
@reads
def get(bound: Bound, ref: str, exact: bool) -> None:
    """Show one memory.

    REF is an id, a prefix of it, or a hash that a world has had: that shows the world as it was.

    \b
    Example:
      worldline get 3f2a91c0b7de
      worldline get 3f2a91c0b7de --valid-at 2026-03-03 --known-at 2026-03-03
    """
    with bound.memory() as memory:
        node = memory.get(ref, exact=exact)
        bound.answer(node, render.whole(node))


@click.command("list", cls=Verb)
@click.option(
    "--type", metavar="TYPE", callback=type_name, help="Only this type: fact, entity, turn (what was said), …"
)
@click.option("--limit", default=50, show_default=True, help="Items on a page.")
@click.option("--page", metavar="MARK", help="The mark that the page before ended with.")
@click.option("--include-superseded", is_flag=True, help="Also what is over or was withdrawn.")
@labelled
@reads
def listing(
    bound: Bound,
    type: str | None,
    limit: int,
    page: str | None,
    include_superseded: bool,
    metadata: dict[str, Any],
) -> None:
    """List memories, newest first.

    Without a type: notes and what was said. Facts and entities are listed by their type.

    \b
    Example:
      worldline list
      worldline list --type fact --user ana
      worldline list --as-of 2026-03-03 --json
    """
    with bound.memory() as memory:
        counted = {} if type else memory.stats()["visible"]
        found = memory.list(
            type,
            metadata=metadata,
            include_superseded=include_superseded,
            limit=limit,
            page=page,
        )
        lines = _lines(memory, _best_named(found.items) if type == "Entity" else found.items)
        lines += [f"more: --page {found.next}"] if found.next else []
        lines += _others(counted) if lines and not page else []
        bound.answer(found, lines or [_nothing(type), *bound.unknown_then(memory)])


def _nothing(type: str | None) -> str:
    near = difflib.get_close_matches((type or "").title(), NODE_TYPES, n=1)
    known = type is None or type in NODE_TYPES or not near
    return "nothing here" if known else f"nothing of type {type!r}; did you mean {near[0].lower()!r}?"


def _lines(memory: Memory, nodes: Iterable[Node]) -> list[str]:
    nodes = list(nodes)
    offsets = offsets_of(memory.handle, nodes)
    return [render.line(node, offsets.get(node.id, 0)) for node in nodes]


def _best_named(nodes: Iterable[Node]) -> list[Node]:
    """Names before things: "Ana" before "late" and "47 minutes"."""
    return sorted(nodes, key=lambda node: not (node.name[:1].isupper() or not node.name.isascii()))


def _others(counted: dict[str, int]) -> list[str]:
    drawn = [(kind.lower(), counted[kind]) for kind in DRAWN[:4] if counted.get(kind)]
    told = ", ".join(f"{render.plural(count, kind)} (--type {kind})" for kind, count in drawn)
    return [click.style(f"also: {told}", dim=True)] if told else []


@click.command(cls=Verb)
@click.argument("ref")
@reads
def history(bound: Bound, ref: str) -> None:
    """Every belief ever held in a memory.

    Each one with the time it speaks of, the time it was believed, and what it was: put, amended,
    corrected, retired, quarantined, confirmed, restored. Between them, the stages that sleep gave it
    (unit, crystal, trace again), each with its reason.

    \b
    Example:
      worldline history 3f2a91c0b7de
    """
    with bound.memory() as memory:
        found = memory.history(ref)
        bound.answer(found, render.history(found))


@click.command(cls=Verb)
@click.argument("a")
@click.argument("b", required=False)
@reads
def diff(bound: Bound, a: str, b: str | None) -> None:
    """What changed between two moments.

    A and B are times, or hashes that a world has had. Without B: until now.

    \b
    Example:
      worldline diff 2026-03-01 2026-03-06
    """
    with bound.memory() as memory:
        found = memory.diff(a, b)
        offsets = offsets_of(memory.handle, (*found.added, *found.removed))
        then = [f"({told})" for told in bound.unknown_then(memory, a, b)]
        bound.answer(found, [*(list(render.diff(found, offsets)) or ["nothing changed"]), *then])


@click.command(cls=Verb)
@click.argument("ref")
@reads
def why(bound: Bound, ref: str) -> None:
    """Why something is believed, down to the words.

    \b
    Example:
      worldline why 3f2a91c0b7de
    """
    with bound.memory() as memory:
        found = memory.why(ref)
        offsets = offsets_of(memory.handle, (found.node, *(reason.node for reason in found.reasons)))
        bound.answer(found, render.why(found, offsets))


@click.command(cls=Verb)
@click.argument("ref")
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only along these edges; repeatable.")
@click.option(
    "--way", type=click.Choice(["out", "in", "both"]), default="both", show_default=True,
    help="Along the edges, against them, or both.",
)  # fmt: skip
@click.option("--depth", default=1, show_default=True, help="How many steps.")
@reads
def walk(bound: Bound, ref: str, types: tuple[str, ...], way: str, depth: int) -> None:
    """What lies around a memory.

    Edges that sleep derived from others say so (inferred). What led to something: --type causes
    --way in.

    \b
    Example:
      worldline walk 3f2a91c0b7de --type relates_to --depth 2
      worldline walk 3f2a91c0b7de --type causes --way in
    """
    with bound.memory() as memory:
        found = memory.walk(ref, *types, way=way, depth=depth)
        bound.answer(found, render.subgraph(found, offsets_of(memory.handle, found.nodes)))


@click.command(cls=Verb)
@reads
def conflicts(bound: Bound) -> None:
    """What is believed and cannot all be true.

    Both sides of each open conflict, with their dates and the words they rest on. Sleep finds more
    of them; closing one side (correct, retire) ends a conflict.

    \b
    Example:
      worldline conflicts
      worldline conflicts --user ana --json
    """
    with bound.memory() as memory:
        found = memory.conflicts()
        bound.answer(found, list(render.conflicts(found)) or ["nothing contradicts anything"])


@click.command(cls=Verb)
@click.option("--since", metavar="TIME", help="Only what was learned after this known time.")
@reads
def changes(bound: Bound, since: str | None) -> None:
    """The feed of everything learned and given up.

    \b
    Example:
      worldline changes --since 2026-03-01 --json
    """
    with bound.memory() as memory:
        found = memory.changes(EARLIEST if since is None else parse_time(since))
        offsets = offsets_of(memory.handle, [c.item for c in found if isinstance(c.item, Node)])
        bound.answer(found, [render.change(item, offsets) for item in found if item.item.type != "Scope"])


@click.command(cls=Verb)
@reads
def worlds(bound: Bound) -> None:
    """Worlds and their hashes.

    A world is whatever contains something. Its hash covers everything inside it, so equal hashes
    mean equal contents; the first line is the whole memory.

    \b
    Example:
      worldline worlds
    """
    with bound.memory() as memory:
        root, found = memory.hash(), memory.worlds()
        value = {"hash": root, "worlds": [{"hash": hash_, "node": node} for node, hash_ in found]}
        lines = [f"{root[:12]}  everything"]
        bound.answer(value, [*lines, *(f"{hash_[:12]}  {render.line(node)}" for node, hash_ in found)])
