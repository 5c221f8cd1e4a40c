"""The verbs that read. None of them writes, and none makes a store that is not there."""

from __future__ import annotations

from typing import Any

import click

from worldline.clock import EARLIEST
from worldline.surfaces import render
from worldline.surfaces.options import Bound, Verb, labelled, parse_time, reads


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
@click.option("--type", metavar="TYPE", help="Only this type (Turn shows what was said).")
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

    \b
    Example:
      worldline list --type context --user ana
      worldline list --as-of 2026-03-03 --json
    """
    with bound.memory() as memory:
        found = memory.list(
            type, metadata=metadata, include_superseded=include_superseded, limit=limit, page=page
        )
        more = [f"more: --page {found.next}"] if found.next else []
        bound.answer(found, [*map(render.line, found.items), *more] or ["nothing here"])


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
        bound.answer(found, list(render.diff(found)) or ["nothing changed"])


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
        bound.answer(found, render.why(found))


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
        bound.answer(found, render.subgraph(found))


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
        bound.answer(found, [render.change(item) for item in found if item.item.type != "Scope"])


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
