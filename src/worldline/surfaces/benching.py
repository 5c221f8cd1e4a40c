"""`worldline bench`: public evaluation files in, numbers out. Nothing is kept but a cache."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from worldline.surfaces.options import Verb

if TYPE_CHECKING:
    from worldline.bench.run import Progress

DATASETS = ("locomo", "longmemeval", "beam", "memdaily", "realmem")
OTHERS = ("factconsolidation", "resolver", "fit")
_FILES = click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, path_type=Path)
)
_EMBEDDER = click.option("--embedder", default="auto", show_default=True, help="As the setting `embedder`.")


@click.command(cls=Verb)
@click.argument("dataset", type=click.Choice([*DATASETS, *OTHERS]))
@_FILES
@_EMBEDDER
@click.option("--limit", metavar="N", type=click.IntRange(1), help="At most N questions, spread over all.")
@click.option("--json", "out", metavar="OUT", type=click.Path(path_type=Path), help="Write the report here.")
@click.option("--rows", metavar="OUT", type=click.Path(path_type=Path), help="One JSON line a question.")
@click.option("--ablate", metavar="LANE", multiple=True, help="Also measure without this lane; repeatable.")
@click.option("--judge", is_flag=True, help="Also judge answers, with the model endpoint that is configured.")
@click.option("--reword", metavar="SHARE", type=click.FloatRange(0, 0.8), help="Say so many facts otherwise.")
@click.option("--abstain", is_flag=True, help="Also empty the slot of every right answer and ask again.")
def bench(
    dataset: str,
    files: tuple[Path, ...],
    embedder: str,
    limit: int | None,
    out: Path | None,
    rows: Path | None,
    ablate: tuple[str, ...],
    judge: bool,
    reword: float | None,
    abstain: bool,
) -> None:
    """Measure on public files, beside the baselines.

    Remembers every conversation of FILE through the product, recalls through it, and runs plain
    FTS5, cosine and their fusion in the same run. `fit` finds the weights of the score anew: its
    FILEs are named DATASET=FILE. Vectors are cached; an interrupted run goes on where it was.

    `factconsolidation` tells facts one by one and asks questions of several hops (--reword, --abstain);
    `resolver` reads pairs of names (CSV: name, name, same) and counts the merges proposed.

    \b
    Example:
      worldline bench locomo locomo10.json --json report.json
      worldline bench fit locomo=locomo10.json beam=chats/
    """
    if dataset in ("factconsolidation", "resolver"):
        _facts_or_names(dataset, files, (embedder, limit, reword or 0.0, abstain), out, rows)
        return
    from worldline.bench import report
    from worldline.bench.run import Settings
    from worldline.bench.run import bench as measure

    settings = Settings(dataset, embedder, limit, ablate)
    with _progress() as progress:
        made, found = measure(settings, files, progress)
    if judge:
        made["judge"] = _judged(progress)
    _write(out, msgspec.json.format(msgspec.json.encode(made), indent=1))
    _write(rows, b"".join(msgspec.json.encode(row) + b"\n" for row in found))
    for line in report.table(made):
        click.echo(line)


def _facts_or_names(
    dataset: str,
    files: tuple[Path, ...],
    asked: tuple[str, int | None, float, bool],
    out: Path | None,
    rows: Path | None,
) -> None:
    from worldline.bench import facts, resolver
    from worldline.bench.run import open_cached

    made: dict[str, Any]
    found: Sequence[Any]

    with _progress() as progress:
        if dataset == "resolver":
            made, found = resolver.bench(files, progress)
            lines = resolver.table(made)
        else:
            settings = facts.Settings(*asked)
            made, found = facts.bench(settings, files, open_cached(settings.embedder), progress)
            lines = facts.table(made)
    _write(out, msgspec.json.format(msgspec.json.encode(made), indent=1))
    _write(rows, b"".join(msgspec.json.encode(row) + b"\n" for row in found))
    for line in lines:
        click.echo(line)


def _judged(progress: Progress) -> dict[str, Any]:
    told = "not measured: no model endpoint is configured"
    click.echo(f"judge: {told}", err=True)
    return {"measured": False, "reason": told}


def _write(path: Path | None, content: bytes) -> None:
    if path is not None:
        path.write_bytes(content)


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on standard error: rich's where it is installed and somebody looks, else now and then a line."""
    if not sys.stderr.isatty():
        yield _silent
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ImportError:
        yield _line
        click.echo("", err=True)
        return
    with Bar(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                for task in tasks.values():
                    bar.remove_task(task)
                tasks.clear()
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield show


def _silent(what: str, done: int, total: int) -> None:
    """Nobody looks."""


def _line(what: str, done: int, total: int) -> None:
    click.echo(f"\r{what} {done}/{total}".ljust(60), nl=False, err=True)
