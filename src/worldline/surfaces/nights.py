"""Sleep from outside: the verb, and the watch that lets a server sleep now and then.

The watch is one thread of the server. It sleeps for every tenant, gives way between two passes when
the server ends, and tells trouble in the log instead of ending with it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from msgspec.structs import replace

from worldline.consolidate.run import PASSES, Report
from worldline.errors import WorldlineError
from worldline.memory import Memory
from worldline.surfaces import render
from worldline.surfaces.care import WaitingCount
from worldline.surfaces.options import Bound, Verb, thinks

_SHOWN = 20
"""So many lines of a pass are shown without --all."""
_GIVES_WAY = 10.0
"""Seconds that a server waits for the pass under way when it ends."""


@click.command(cls=Verb)
@click.option("--pass", "passes", metavar="NAME", multiple=True, help="Only this pass; repeatable.")
@click.option("--all", "everything", is_flag=True, help="Every line of what changed.")
@click.option("--list", "names", is_flag=True, help="The passes, and what each of them does.")
@thinks
def sleep(bound: Bound, passes: tuple[str, ...], everything: bool, names: bool) -> None:
    """Think over what is new (also: consolidate).

    Finds topics, summaries, contradictions, what follows and what fades. It only adds understanding:
    sources are never deleted, each change is in the log with its reason, and a second run right after
    the first changes nothing. It may be ended at any moment.

    \b
    Example:
      worldline sleep --dry-run
      worldline sleep --pass topics --pass summaries
    """
    if names:
        _list(bound)
        return
    with bound.memory() as memory, WaitingCount() as waiting:
        report = memory.consolidate(
            passes or None,
            dry_run=bound.dry_run,
            progress=lambda name, done, of: waiting(f"sleep: {name}", done),
        )
    bound.answer(render.plain(report), _told(report, everything))


def _list(bound: Bound) -> None:
    bound.answer({each.name: each.does for each in PASSES}, [f"{p.name:<15} {p.does}" for p in PASSES])


def _told(report: Report, everything: bool) -> Iterator[str]:
    """What each pass did, then one line for the whole night."""
    for slept in report.passes:
        whose = f" [{slept.owner}]" if slept.owner else ""
        done = f"{render.plural(len(slept.changes), 'change')}, {render.plural(slept.rows, 'row')}"
        if slept.changes or slept.rows:
            yield f"{slept.name}{whose}: {done}, {slept.seconds:.1f} s"
        shown = slept.changes if everything else slept.changes[:_SHOWN]
        yield from (f"  {line}" for line in shown)
        if len(shown) < len(slept.changes):
            yield f"  … and {len(slept.changes) - len(shown):,} more (--all)"
    for name, note in dict.fromkeys((slept.name, slept.note) for slept in report.passes if slept.note):
        yield f"{name}: {note}"
    changes = sum(len(slept.changes) for slept in report.passes)
    verb = "would change" if report.dry_run else "changed"
    yield f"{changes:,} things {verb}" if changes else f"nothing {verb}"


# The server's watch ---------------------------------------------------------------------------------


class _Woken(Exception):
    """The server ends: no further pass is begun."""


@contextmanager
def watch(memory: Memory, minutes: float) -> Iterator[None]:
    """Sleeps every so many minutes, in a thread of its own, until the block ends; never for 0."""
    if not minutes:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(memory, minutes, over), daemon=True, name="sleep")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_GIVES_WAY)


def _watch(memory: Memory, minutes: float, over: threading.Event) -> None:
    log = logging.getLogger("worldline")
    while not over.wait(60 * minutes):
        try:
            for tenant in memory.handle.store.tenants():
                night(memory, tenant, over)
        except _Woken:
            return
        except WorldlineError as error:
            log.warning("sleep was disturbed and goes on at the next time: %s", error)
        except Exception:
            log.exception("sleep failed; it is tried again at the next time")


def night(memory: Memory, tenant: str, over: threading.Event) -> Report:
    """One tenant's sleep, ended between two passes when `over` is set."""

    def progress(*_: Any) -> None:
        if over.is_set():
            raise _Woken

    return Memory(replace(memory.handle, tenant=tenant)).consolidate(progress=progress)
