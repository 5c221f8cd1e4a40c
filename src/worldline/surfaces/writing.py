"""The verbs that write, and those that say what a memory is worth; each prints its receipt."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from worldline.clock import instant
from worldline.errors import InvalidInput, Refused
from worldline.memory import Memory
from worldline.model import Fact, Receipt, Scorer
from worldline.surfaces import render
from worldline.surfaces.care import WaitingCount, ticking
from worldline.surfaces.options import (
    TIME,
    Told,
    held,
    labelled,
    mends,
    piped,
    tends,
    text_or_stdin,
    thinks,
    writes,
)  # fmt: skip
from worldline.surfaces.verbs import Verdict
from worldline.write.forget import Forgotten

_REASON = click.option("--reason", metavar="TEXT", help="Why; kept with the belief.")
_LONG = 50_000
"""Characters from which on a reader wonders what takes so long."""
_NAME = click.option("--name", metavar="TEXT", help="A new name.")


@writes
@click.argument("text", required=False, callback=piped)
@click.option("--speaker", default="", metavar="NAME", help="Who said it.")
@click.option("--when", "said_at", type=TIME, help="When it was said [now].")
@click.option("--expires", type=TIME, help="Over from then on, with what rests on it alone.")
@click.option("--external-id", metavar="ID", help="Your own id for it; sent twice, it is stored once.")
@click.option(
    "--fact", "facts", nargs=3, multiple=True, metavar="SUBJECT PREDICATE OBJECT",
    help="A fact that these words state; repeatable.",
)  # fmt: skip
@labelled
def add(memory: Memory, text: str, facts: tuple[tuple[str, str, str], ...], **given: Any) -> Told:
    """TEXT is kept exactly as it is; without it, or with `-`, standard input is read. Facts given with it are
    believed from the moment it was said, and `why` leads from them back to the words.

    Example:
      worldline add "We moved to the gold tier." --speaker Ana --when 2026-03-05
      echo "Lunch with Bo" | worldline add --session monday
    """
    if len(text) > _LONG and not sys.stderr.isatty():
        click.echo(f"reading and embedding {len(text):,} characters; that takes a while", err=True)
    stated = [Fact(*parts) for parts in facts]
    with ticking(f"reading and embedding {len(text):,} characters"):
        return memory.remember(text, facts=stated, **given)


@writes
@click.argument("type", type=render.spelled)
@click.argument("name")
@click.argument("content", default="", callback=text_or_stdin)
@held
@click.option("--dated", type=TIME, help="The author's date; part of the note's identity.")
@labelled
def note(memory: Memory, **given: Any) -> Told:
    """TYPE is one of project, reference, learning, feedback, context, user (or a type that this
    world's operator added). CONTENT `-` reads standard input. The same note twice is one.

    Example:
      worldline note context "Acme contract" "tier: silver" --valid-from 2026-01-01
    """
    return memory.note(**given)


@writes
@held
@click.option("--predicate", metavar="NAME", help="For an edge of type fact: what it says.")
@labelled
def link(memory: Memory, src: str, type: str, dst: str, **given: Any) -> Told:
    """The edge's type is a program: `supersedes` ends the memory it points at, `same_as` stages a
    merge, `contains` makes a world. A refused edge leaves nothing behind.

    Example:
      worldline link 3f2a91c0b7de relates_to 77ab01c3d9e4
    """
    return memory.link(src, type, dst, **given)


@writes
@click.argument("ref")
@click.argument("content", required=False, callback=text_or_stdin)
@_NAME
@held
@_REASON
def amend(memory: Memory, **given: Any) -> Told:
    """The old version stays true of its own time. CONTENT `-` reads standard input.

    Example:
      worldline amend 3f2a91c0b7de "tier: gold" --valid-from 2026-03-01
    """
    return memory.amend(**given)


@writes
@click.argument("ref", nargs=-1, required=True, metavar="REF [CONTENT] | SRC TYPE DST")
@_NAME
@held
@_REASON
def correct(memory: Memory, ref: tuple[str, ...], **given: Any) -> Told:
    """With CONTENT (or other options) that takes its place, from the same moment on; with nothing, it
    is withdrawn. Only known-time reads still see the old belief. Three arguments name an edge.
    `--valid-to forever` takes a retirement back.

    Example:
      worldline correct 3f2a91c0b7de "tier: bronze" --reason "misread the letter"
      worldline correct 3f2a91c0b7de relates_to 77ab01c3d9e4
    """
    if len(ref) > 2:
        return memory.correct(_edge(memory, ref), **given)
    content = text_or_stdin(click.get_current_context(), correct.params[0], ref[1]) if ref[1:] else None
    return memory.correct(ref[0], content, **given)


@writes
@click.argument("ref", nargs=-1, required=True, metavar="REF | SRC TYPE DST")
@click.option("--when", type=TIME, help="From when on it is not true any more [now].")
@_REASON
def retire(memory: Memory, ref: tuple[str, ...], **given: Any) -> Told:
    """Nothing is deleted: reads of an earlier moment still see it. Three arguments name an edge.

    Example:
      worldline retire 3f2a91c0b7de --when 2026-06-01
      worldline retire 3f2a91c0b7de relates_to 77ab01c3d9e4
    """
    if len(ref) not in (1, 3):
        raise click.UsageError("name one memory (REF), or an edge by its three parts (SRC TYPE DST)")
    target = ref[0] if len(ref) == 1 else _edge(memory, ref)
    return memory.retire(target, **given)


@writes
@_REASON
def quarantine(memory: Memory, ref: str, reason: str | None, dry_run: bool) -> Told:
    """What rests on it alone is kept back with it. `confirm` releases it.

    Example:
      worldline quarantine 3f2a91c0b7de --reason "who said this?"
    """
    return memory.quarantine(ref, reason or "", dry_run=dry_run)


@writes
@_REASON
def confirm(memory: Memory, ref: str, reason: str | None, dry_run: bool) -> Told:
    """What is kept back is listed by `worldline list --include-quarantined`, with --type for facts.

    Example:
      worldline confirm 3f2a91c0b7de --reason "Ana says so"
    """
    return memory.confirm(ref, reason or "confirmed by the user", dry_run=dry_run)


@mends
@click.argument("action", default="list", type=click.Choice(["list", "accept", "reject", "undo"]))
@click.argument("proposal", required=False)
@click.option("--all", "every", is_flag=True, help="List decided ones too.")
def merges(memory: Memory, action: str, proposal: str | None, every: bool, dry_run: bool) -> Told:
    """Nothing is ever merged silently: what looks the same waits here for a decision. Accepting
    changes reads only, and can be undone.

    Example:
      worldline merges
      worldline merges accept 9c1de2aa0b3f
    """
    if (action == "list") != (proposal is None):
        raise click.UsageError(f"`merges {action}` takes {'no' if action == 'list' else 'one'} PROPOSAL")
    if proposal is None:
        found = memory.merges(None if every else "pending")
        names = {end: memory.get(end, exact=True).name for p in found for end in (p.a, p.b)}
        return found, [render.proposal(p, names) for p in found] or ["no merge proposals"]
    done: Receipt = getattr(memory, f"{action}_merge")(proposal, dry_run=dry_run)
    return done


@mends
@click.argument("times", metavar="TIME...", nargs=-1, required=True)
def undo(memory: Memory, times: tuple[str, ...], dry_run: bool) -> Told:
    """TIME is the known time that the write's receipt shows (`add` with facts shows two). What it put
    is given up, what it closed is believed again, from now on; the past stays as it was.

    Example:
      worldline undo 2026-03-05T14:30:00.123456Z
    """
    last, *earlier = map(instant, times)
    return memory.undo(Receipt("undo", None, True, last, also=tuple(earlier)), dry_run=dry_run)


def _edge(memory: Memory, parts: tuple[str, ...]) -> Any:
    if len(parts) != 3:
        raise InvalidInput(f"an edge has three parts: SRC TYPE DST, not {len(parts)}")
    return memory.edge(*parts)


@tends
@click.argument("verdict", type=click.Choice(["useful", "wrong"]))
def feedback(memory: Memory, ref: str, verdict: Verdict) -> Told:
    """It counts from the next `sleep` on: useful things stay warm and come back from the archive, wrong
    ones fade sooner. What is simply not true is a case for `correct`.

    Example:
      worldline feedback 3f2a91c0b7de useful
    """
    return memory.feedback(ref, verdict)


@writes
@click.option("--remove", is_flag=True, help="Take the pin out.")
@click.option("--reason", metavar="TEXT", default="pinned by the user", help="Why; kept with the pin.")
def pin(memory: Memory, ref: str, remove: bool, reason: str, dry_run: bool) -> Told:
    """Example:
    worldline pin 3f2a91c0b7de --reason "the wedding"
    worldline pin 3f2a91c0b7de --remove
    """
    return memory.unpin(ref, dry_run=dry_run) if remove else memory.pin(ref, reason, dry_run=dry_run)


@tends
@click.option("--drop", is_flag=True, help="SCORER is a name: take it and its scores away.")
def score(memory: Memory, scorer: str, drop: bool) -> Told:
    """SCORER is module:attribute of a `worldline.Scorer`, looked for in the current folder too. Its
    scores are factors of recall from then on; it may be ended at any moment and goes on when it is
    run again. Agents have no such verb.

    Example:
      worldline score urgency:scorer
      worldline score --drop urgency
    """
    if drop:
        gone = memory.drop_scorer(scorer)
        return {"scorer": scorer, "dropped": gone}, [f"{scorer}: {'gone' if gone else 'not there'}"]
    found = _load(scorer)
    with WaitingCount() as waiting:
        count = memory.score_with(found, lambda done, of: waiting(f"scored of {of:,}", done))
    told = {"scorer": found.name, "version": found.version, "weight": found.weight, "scored": count}
    return told, [f"{found.name} {found.version}: {count:,} scored, weight {found.weight:g}"]


def _load(named: str) -> Scorer:
    module, _, attribute = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"{named!r} is not module:attribute of a scorer ({error})") from None
    except Exception as error:  # the module is the user's, and whatever stops it is for them to mend
        raise InvalidInput(f"{module} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    if not isinstance(found, Scorer):
        raise InvalidInput(f"{named} is a {type(found).__name__}, not a worldline.Scorer")
    return found


@thinks
@click.argument("ref", nargs=-1, metavar="[REF]...")
@click.option("--before", type=TIME, help="What was said, or noted, before then.")
@click.option("--yes", is_flag=True, help="Erase without asking.")
@click.option(
    "--backup", "backups", multiple=True, type=click.Path(dir_okay=False, path_type=Path),
    help="A copy of the store in which to erase it too; may be repeated.",
)  # fmt: skip
def forget(
    memory: Memory,
    ref: tuple[str, ...],
    before: str | None,
    yes: bool,
    backups: tuple[Path, ...],
    dry_run: bool,
) -> Told:
    """With a memory go its words, its vectors and all that was derived from it alone. Nothing of it stays in the
    file; a tombstone says that something was erased, when and by whom. `retire` and `correct` are for what is
    over or wrong: they keep history.

    Example:
      worldline forget 3f2a91c0b7de --dry-run
      worldline forget --user ana --backup memory-backup.db
      worldline forget --user ana --before 2025-01-01 --yes
    """
    scope = memory.handle.scope if not ref and memory.handle.scope.bound() else None
    what = partial(memory.forget, list(ref) or None, scope=scope, before=before, by="operator")
    counted = what(dry_run=True)
    if not dry_run:
        if not yes:
            _ask(counted)
        counted = what(confirm=True, backups=backups)
    return counted, _told(counted)


def _ask(counted: Forgotten) -> None:
    if not sys.stdin.isatty():
        raise Refused("erasing cannot be taken back: repeat it with --yes, or count with --dry-run")
    click.echo("\n".join(_told(counted)), err=True)
    click.confirm("Erase this for good?", abort=True, err=True)


def _told(done: Forgotten) -> Iterator[str]:
    would = "would be erased" if done.dry_run else "erased"
    told = render.counts(
        memory=done.memories, fact=done.facts, entity=done.entities, name=done.names, derived_text=done.derived,
        vector=done.vectors,
    )  # fmt: skip
    yield f"{told} {would}"
    if done.shared:
        yield f"{done.shared:,} that others have said too stay theirs"
    for copy in done.backups:
        yield f"erased in {copy} too"
    if not (done.dry_run or done.swept):
        yield "another process is reading: its log still holds pages; run worldline sleep once it is done"
