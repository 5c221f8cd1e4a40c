"""`worldline bench`: public evaluation files in, numbers out. Nothing is kept but a cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from worldline.bench import composition, facts, report, resolver
from worldline.bench.datasets import load as load_file
from worldline.bench.fitting import fitted
from worldline.bench.judge import judged
from worldline.bench.run import Progress, Settings, open_cached
from worldline.bench.run import bench as measure
from worldline.config import load
from worldline.plugins import open_language_model
from worldline.surfaces.care import WaitingCount
from worldline.surfaces.options import Bound, with_options

DATASETS = ("locomo", "longmemeval", "beam", "memdaily", "realmem", "stories")
OTHERS = ("factconsolidation", "resolver", "fit", "composition")


@with_options()
@click.argument("dataset", type=click.Choice([*DATASETS, *OTHERS]))
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--embedder", default="auto", show_default=True, help="As the setting `embedder`.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="At most N questions, spread over all.")
@click.option("--json", "out", metavar="OUT", type=click.Path(path_type=Path), help="Write the report here.")
@click.option("--rows", metavar="OUT", type=click.Path(path_type=Path), help="One JSON line a question.")
@click.option("--sleep", is_flag=True, help="Consolidate after reading, and measure before and after.")
@click.option("--ablate", metavar="LANE", multiple=True, help="Also measure without this lane; repeatable.")
@click.option("--judge", is_flag=True, help="Also judge answers, with the model endpoint that is configured.")
@click.option("--reword", metavar="SHARE", type=click.FloatRange(0, 0.8), help="Say so many facts otherwise.")
@click.option("--abstain", is_flag=True, help="Also empty the slot of every right answer and ask again.")
def bench(
    bound: Bound, dataset: str, files: tuple[str, ...], out: Path | None, rows: Path | None, **asked: Any
) -> None:
    """Remembers every conversation of FILE through the product, recalls through it, and runs plain
    FTS5, cosine and their fusion in the same run. `fit` finds the weights of the score anew: its
    FILEs are named DATASET=FILE. Vectors are cached; an interrupted run goes on where it was.

    `factconsolidation` tells facts one by one and asks questions of several hops (--reword, --abstain);
    `resolver` reads pairs of names (CSV: name, name, same) and counts the merges proposed;
    `composition` needs no FILE: made-up worlds full of noise, found by their composed vectors.

    Example:
      worldline bench locomo locomo10.json --json report.json
      worldline bench fit locomo=locomo10.json beam=chats/
    """
    if not files and dataset != "composition":
        raise click.UsageError("Missing argument 'FILE...'.")
    with WaitingCount() as progress:
        if dataset == "fit":
            click.echo("\n".join(_fit(files, asked["embedder"], progress)))
            return
        made, found, lines = _measured(dataset, _paths(files), asked, progress)
    if out is not None:
        out.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1))
    if rows is not None and found is not None:
        rows.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in found))
    for line in lines:
        click.echo(line)


def _measured(
    dataset: str, files: list[Path], asked: dict[str, Any], progress: Progress
) -> tuple[dict[str, Any], Sequence[Any] | None, Iterable[str]]:
    """The report, a row for each question, and the table that people are shown."""
    embedder, limit = asked["embedder"], asked["limit"]
    made: dict[str, Any]
    found: Sequence[Any]
    if dataset == "composition":
        made = composition.bench()
        return made, None, composition.table(made)
    if dataset == "resolver":
        made, found = resolver.bench(files, progress)
        return made, found, resolver.table(made)
    if dataset == "factconsolidation":
        told = facts.FactSettings(embedder, limit, asked["reword"] or 0.0, asked["abstain"])
        made, found = facts.bench(told, files, open_cached(embedder), progress)
        return made, found, facts.table(made)
    settings = Settings(dataset, embedder, limit, asked["ablate"], asked["sleep"])
    made, found = measure(settings, files, progress)
    if asked["judge"]:
        made["judge"] = _judged(dataset, files, found, progress)
    return made, found, report.table(made)


def _judged(dataset: str, files: list[Path], rows: Sequence[Any], progress: Progress) -> dict[str, Any]:
    model = open_language_model(load().model)
    if model is None:
        told = "not measured: no model endpoint is configured (setting `model`)"
        click.echo(f"judge: {told}", err=True)
        return {"measured": False, "reason": told}
    talks = [talk for path in files for talk in load_file(dataset, path)]
    found = judged(list(rows), talks, model, progress)
    click.echo(f"judge: {found}", err=True)
    return found


def _fit(files: tuple[str, ...], embedder: str, progress: Progress) -> Iterable[str]:
    pairs = [file.partition("=") for file in files]
    if any(name not in DATASETS or not path for name, _, path in pairs):
        raise click.UsageError(f"`bench fit` takes DATASET=FILE…, with DATASET one of {', '.join(DATASETS)}")
    named = [(name, path) for (name, _, _), path in zip(pairs, _paths([p for *_, p in pairs]), strict=True)]
    return fitted(named, embedder, progress)


def _paths(files: Iterable[str]) -> list[Path]:
    paths = [Path(file).expanduser() for file in files]
    for path in paths:
        if not path.exists():
            raise click.UsageError(f"there is no file {path}")
    return paths
