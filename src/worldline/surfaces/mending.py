"""The verbs that erase for good, and those that bring a store's own work up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from worldline.errors import Refused
from worldline.surfaces import render
from worldline.surfaces.care import ticking
from worldline.surfaces.options import Bound, Verb, parse_time, tends, thinks
from worldline.write.forget import Forgotten


@click.command(cls=Verb)
@click.argument("ref", nargs=-1, metavar="[REF]...")
@click.option("--before", metavar="TIME", help="What was said, or noted, before then.")
@click.option("--yes", is_flag=True, help="Erase without asking.")
@click.option(
    "--backup", "backups", multiple=True, type=click.Path(dir_okay=False, path_type=Path),
    help="A copy of the store in which to erase it too; may be repeated.",
)  # fmt: skip
@thinks
def forget(
    bound: Bound, ref: tuple[str, ...], before: str | None, yes: bool, backups: tuple[Path, ...]
) -> None:
    """Erase for good: memories, all of a user, or what is older than a moment.

    With a memory go its words, its vectors and all that was derived from it alone. Nothing of it stays in the
    file; a tombstone says that something was erased, when and by whom. `retire` and `correct` are for what is
    over or wrong: they keep history.

    \b
    Example:
      worldline forget 3f2a91c0b7de --dry-run
      worldline forget --user ana --backup memory-backup.db
      worldline forget --user ana --before 2025-01-01 --yes
    """
    with bound.memory() as memory:
        scope = memory.handle.scope if not ref and memory.handle.scope.bound() else None
        what = partial(
            memory.forget, list(ref) or None, scope=scope, before=parse_time(before), by="operator"
        )
        counted = what(dry_run=True)
        if not bound.dry_run:
            if not yes:
                _ask(counted)
            counted = what(confirm=True, backups=backups)
    bound.answer(counted, _told(counted))


@click.command(cls=Verb)
@tends
def reindex(bound: Bound) -> None:
    """Make words, descriptions and labels anew from the texts.

    For a store of which `verify` or `doctor` says that something derived is damaged. Nothing that is believed
    changes. Vectors that nobody can compare are dropped, and made again where an embedder is set.

    \b
    Example:
      worldline reindex
    """
    with bound.memory() as memory, ticking("indexing"):
        done = memory.reindex()
    lines = [f"{done.words:,} passages, {done.texts:,} descriptions and {done.labels:,} labels made anew"]
    dropped = [f"{done.vectors:,} vectors dropped"] if done.vectors else []
    bound.answer(done._asdict(), [*lines, *dropped])


@click.command(cls=Verb)
@thinks
def resume(bound: Bound) -> None:
    """Finish what was stored but not understood when a process ended.

    The words are safe already; their facts are settled now. `sleep` does this as well.

    \b
    Example:
      worldline resume
    """
    with bound.memory() as memory, ticking("understanding"):
        done = memory.resume()
    told = [f"{len(done):,} events finished"] if done else ["nothing was left to finish"]
    bound.answer([render.plain(receipt) for receipt in done], told)


def _ask(counted: Forgotten) -> None:
    if not sys.stdin.isatty():
        raise Refused("erasing cannot be taken back: repeat it with --yes, or count with --dry-run")
    click.echo("\n".join(_told(counted)), err=True)
    click.confirm("Erase this for good?", abort=True, err=True)


def _told(done: Forgotten) -> Iterator[str]:
    would = "would be erased" if done.dry_run else "erased"
    counts = {
        "memory": done.memories, "fact": done.facts, "entity": done.entities, "name": done.names,
        "derived text": done.derived, "vector": done.vectors,
    }  # fmt: skip
    yield f"{', '.join(render.plural(n, noun) for noun, n in counts.items())} {would}"
    if done.shared:
        yield f"{done.shared:,} that others have said too stay theirs"
    for copy in done.backups:
        yield f"erased in {copy} too"
    if not (done.dry_run or done.swept):
        yield "another process is reading: its log still holds pages; run worldline sleep once it is done"
