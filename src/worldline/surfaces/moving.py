"""The verbs about where a store lies: copy it elsewhere, bring it to today's format, spread it over a cluster."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import click

from worldline.config import load, place
from worldline.errors import NotFound
from worldline.store.copying import Moved, move
from worldline.store.schema import FORMAT
from worldline.store.sqlite import format_of, open_store
from worldline.surfaces import render
from worldline.surfaces.care import WaitingCount
from worldline.surfaces.options import Bound, Verb, absorbs


@click.command(cls=Verb)
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.option("--tenant", metavar="NAME", help="Only this tenant [all].")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def copy(source: str, target: str, tenant: str | None, as_json: bool) -> None:
    """Copy a store elsewhere, exactly: from a file to a server, back, or between two of a kind.

    Rows, both time axes, log and hashes stay what they are; each tenant is proved before it is kept. What is
    there already is left alone, so that a copy that was cut short goes on where it stopped.

    \b
    Example:
      worldline copy me.db postgresql://localhost/memory
    """
    where = place(source)
    if isinstance(where, Path) and not where.exists():
        raise NotFound(f"there is no store at {where}")
    config, done = load(), list[Moved]()
    with ExitStack() as opened, WaitingCount() as progress:
        origin = opened.enter_context(closing(open_store(source, config)))
        other = opened.enter_context(closing(open_store(target, config)))
        for name in origin.tenants() if tenant is None else [tenant]:
            done.append(move(origin, other, name, progress))
    if as_json:
        render.emit_json({"tenants": [render.plain(item) for item in done]})
    for item in () if as_json else done:
        state = "was there already" if item.already else f"{item.rows:,} rows"
        click.echo(f"{item.tenant}  {state}, {item.changesets:,} changesets, head {item.head[:16]}")


@click.command(cls=Verb)
@absorbs
def migrate(bound: Bound) -> None:
    """Bring a store to this program's format.

    Opening a store does the same; this says what there is to do, with --dry-run only that. A file is backed up
    beside itself first.

    \b
    Example:
      worldline migrate --dry-run
    """
    found = format_of(bound.path)
    told = "there is no store" if found is None else f"format {found}"
    state = (
        "up to date" if found == FORMAT else f"{'would become' if bound.dry_run else 'now'} format {FORMAT}"
    )
    if not bound.dry_run:
        with bound.memory():
            pass
    path = bound.shown
    bound.answer({"path": path, "format": found, "target": FORMAT}, [f"{path}  {told}: {state}"])


@click.command(cls=Verb)
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def distribute(url: str, as_json: bool) -> None:
    """Spread a server's tables over a Citus cluster, by tenant.

    Every table is distributed by its tenant and lies beside the others of the same tenant, so that each
    statement reaches one node. Done once; again it only adds what is missing.

    \b
    Example:
      worldline distribute postgresql://coordinator/memory
    """
    with closing(open_store(url, load())) as store:
        done = store.distribute()
    if as_json:
        render.emit_json({"distributed": done})
        return
    click.echo(
        f"distributed {len(done)} tables: {', '.join(done)}"
        if done
        else "all tables were distributed already"
    )
