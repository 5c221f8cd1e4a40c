"""The verbs towards other memories and models: import, export, absorb, ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from worldline.config import load, place
from worldline.errors import NotFound, Refused
from worldline.exchange.absorb import Absorbed
from worldline.exchange.exporters import FORMATS as EXPORTS
from worldline.exchange.formats import Bad, Imported
from worldline.exchange.importers import NAMES
from worldline.memory import Memory
from worldline.plugins import open_language_model
from worldline.read.history import messages
from worldline.surfaces import render
from worldline.surfaces.care import WaitingCount
from worldline.surfaces.options import TIME, Bound, Told, absorbs, piped, reads, writes
from worldline.surfaces.reading import shown
from worldline.text import visible


@writes
@click.argument("format", type=click.Choice(NAMES))
@click.argument("path", type=click.Path(path_type=Path))
def import_(memory: Memory, format: str, path: Path, dry_run: bool) -> Told:
    """FORMAT auto looks at the file. Original dates are kept; importing again adds only what is new. A
    record that cannot be read is told with its position and skipped. An exported memory is put back as
    it was into an empty store, and absorbed where other memories are.

    Example:
      worldline import auto chatgpt-export.zip
      worldline import markdown ~/notes --dry-run
    """
    with WaitingCount() as progress:
        report = memory.import_(path, format, dry_run=dry_run, progress=progress)
    return report, _told(report)


def _told(report: Imported) -> Iterator[str]:
    would = "would be " if report.dry_run else ""
    yield (
        f"{report.format}: {report.stored:,} {would}stored, {report.same:,} were here already, "
        f"{len(report.skipped):,} skipped"
    )
    if report.redacted:
        yield f"redacted: {', '.join(sorted(set(report.redacted)))}"
    yield from _listed("skipped", report.skipped)
    if report.left_out:
        yield "  left out: " + ", ".join(f"{what} ({count:,})" for what, count in report.left_out.items())


@absorbs
@click.option("--from-tenant", metavar="NAME", help="The tenant to absorb [the one called as --tenant].")
def absorb(bound: Bound, other: str, *, from_tenant: str | None) -> Told:
    """What both hold is one. Nothing that is believed here is closed: what cannot stand beside it becomes
    contradicts edges and merge proposals, or is told. OTHER is only read. The same again changes nothing.

    Example:
      worldline absorb laptop.db --dry-run
      worldline absorb laptop.db
    """
    where = place(other)
    if isinstance(where, Path) and not where.exists():
        raise NotFound(f"there is no store at {other}")
    with bound.memory() as memory, WaitingCount() as progress:
        done = memory.absorb(where, tenant=from_tenant, dry_run=bound.dry_run, progress=progress)
    return {"changed": done.changed, **render.plain(done)}, _united(done)


def _united(done: Absorbed) -> Iterator[str]:
    would = "would be " if done.receipt.dry_run else ""
    yield (
        f"absorb: {done.memories:,} memories {would}new, {done.same:,} were here already; "
        f"{done.beliefs:,} beliefs, {done.edges:,} edges, {done.contradictions:,} contradictions"
        f"{'' if done.changed else '; nothing changed'}"
    )
    yield from _listed("differs", done.differences)
    yield from _listed("skipped", done.skipped)
    yield from list(render.receipt(done.receipt))[1 + len(done.receipt.changes) :]


def _listed(what: str, items: tuple[Bad, ...]) -> Iterable[str]:
    told = [f"{render.one_line(item.position)}: {render.one_line(item.reason, 120)}" for item in items]
    return render.first([f"  {what} {line}" for line in told], render.SHOWN)


@reads
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--format", type=click.Choice(list(EXPORTS)), default="jsonl", show_default=True,
    help="jsonl is exact and can be imported again.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def export(memory: Memory, path: Path, format: str, force: bool) -> Told:
    """JSON Lines hold the whole history; the others show what is visible at the moment looked at. Markdown into
    a folder is a vault, one file a note with [[links]]; edit it, and `import markdown FOLDER` amends the notes.

    Example:
      worldline export memory.jsonl
      worldline export memory.md --format markdown --user ana
      worldline export ~/vault --format markdown
    """
    vault = format == "markdown" and (path.is_dir() or not path.suffix)
    if path.exists() and not force and not vault:
        raise Refused(f"{path} exists already; name another file, or use --force")
    count = memory.export(path, format)
    what = "lines" if format == "jsonl" else "memories"
    there = memory.stats()["visible"] if vault else {}
    left_out = {type_: there[type_] for type_ in ("Turn", "Fact") if there.get(type_)}
    value = {"path": str(path), "format": format, "count": count, **({"left_out": left_out} if vault else {})}
    rest = " and ".join(render.plural(number, type_.lower()) for type_, number in left_out.items())
    told = [f"a vault holds notes only: left out {rest}; name a file (.md, .jsonl) for all"] if rest else []
    return value, [f"{path}  {count:,} {what}", *told]


@reads
@click.argument("question", required=False, callback=piped)
@click.option("--max-tokens", type=click.IntRange(min=50), help="Budget of the evidence [the setting].")
@click.option("--asked-at", type=TIME, help="The moment that `yesterday` is relative to [now].")
@click.option("--answer-tokens", default=400, show_default=True, help="Longest answer of the model.")
@click.option("--no-answer", is_flag=True, help="Only the evidence, even where a model is configured.")
def ask(memory: Memory, question: str, answer_tokens: int, no_answer: bool, **given: Any) -> Told:
    """The evidence is verbatim and dated. The setting model (URL#MODEL) names an OpenAI-compatible
    endpoint; without one, nothing leaves this machine.

    Example:
      worldline ask "Which tier does Acme have?"
      worldline ask "What did we decide last week?" --max-tokens 800
    """
    model = None if no_answer else open_language_model(load().model)
    found = memory.recall(question, **given)
    lines = shown(memory, found) if given["max_tokens"] is None else [visible(found.text)]
    answer = None
    if model is not None and found.hits:
        answer = model.complete(messages(question, found.text), answer_tokens)
    value = {
        "question": question, "evidence": found.text, "tokens": found.tokens, "abstained": found.abstained,
        "reason": found.reason, "answer": answer, "model": model.name if model else None,
    }  # fmt: skip
    return value, lines if answer is None else [*lines, "", visible(answer)]
