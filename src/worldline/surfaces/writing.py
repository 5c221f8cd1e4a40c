"""The verbs that write: each one is a single changeset, and prints its receipt."""

from __future__ import annotations

import sys
from typing import Any

import click

from worldline.clock import instant
from worldline.errors import InvalidInput
from worldline.memory import Memory
from worldline.model import Fact, Receipt
from worldline.surfaces import render
from worldline.surfaces.care import ticking
from worldline.surfaces.options import (
    Bound,
    Verb,
    held,
    labelled,
    parse_time,
    piped,
    text_or_stdin,
    type_name,
    writes,
)

_REASON = click.option("--reason", metavar="TEXT", help="Why; kept with the belief.")
_LONG = 50_000
"""Characters from which on a reader wonders what takes so long."""
_NAME = click.option("--name", metavar="TEXT", help="A new name.")


def _tell(bound: Bound, receipt: Receipt) -> None:
    bound.answer(receipt, render.receipt(receipt))


@click.command(cls=Verb)
@click.argument("text", required=False, callback=piped)
@click.option("--speaker", default="", metavar="NAME", help="Who said it.")
@click.option("--when", "said_at", metavar="TIME", help="When it was said [now].")
@click.option("--expires", metavar="TIME", help="Over from then on, with what rests on it alone.")
@click.option("--external-id", metavar="ID", help="Your own id for it; sent twice, it is stored once.")
@click.option(
    "--fact", "facts", nargs=3, multiple=True, metavar="SUBJECT PREDICATE OBJECT",
    help="A fact that these words state; repeatable.",
)  # fmt: skip
@labelled
@writes
def add(
    bound: Bound,
    text: str,
    speaker: str,
    said_at: str | None,
    expires: str | None,
    external_id: str | None,
    facts: tuple[tuple[str, str, str], ...],
    metadata: dict[str, Any],
) -> None:
    """Remember what was said, word for word (also: remember).

    TEXT is kept exactly as it is; without it, or with `-`, standard input is read. Facts given with it are
    believed from the moment it was said, and `why` leads from them back to the words.

    \b
    Example:
      worldline add "We moved to the gold tier." --speaker Ana --when 2026-03-05
      echo "Lunch with Bo" | worldline add --session monday
    """
    if len(text) > _LONG and not sys.stderr.isatty():
        click.echo(f"reading and embedding {len(text):,} characters; that takes a while", err=True)
    with bound.memory() as memory:
        given = [Fact(subject, predicate, object_) for subject, predicate, object_ in facts]
        with ticking(f"reading and embedding {len(text):,} characters"):
            done = memory.remember(
                text, said_at=parse_time(said_at), speaker=speaker, metadata=metadata, facts=given,
                external_id=external_id, expires=parse_time(expires), dry_run=bound.dry_run,
            )  # fmt: skip
        _tell(bound, done)


@click.command(cls=Verb)
@click.argument("type", callback=type_name)
@click.argument("name")
@click.argument("content", default="", callback=text_or_stdin)
@held
@click.option("--dated", metavar="TIME", help="The author's date; part of the note's identity.")
@labelled
@writes
def note(
    bound: Bound,
    type: str,
    name: str,
    content: str,
    valid_from: str | None,
    valid_to: str | None,
    dated: str | None,
    metadata: dict[str, Any],
) -> None:
    """Store a note: something to know.

    TYPE is one of project, reference, learning, feedback, context, user (or a type that this
    world's operator added). CONTENT `-` reads standard input. The same note twice is one.

    \b
    Example:
      worldline note context "Acme contract" "tier: silver" --valid-from 2026-01-01
    """
    with bound.memory() as memory:
        _tell(
            bound,
            memory.note(
                type, name, content, valid_from=parse_time(valid_from), valid_to=parse_time(valid_to),
                dated=parse_time(dated), metadata=metadata, dry_run=bound.dry_run,
            ),
        )  # fmt: skip


@click.command(cls=Verb)
@click.argument("src")
@click.argument("type")
@click.argument("dst")
@held
@click.option("--predicate", metavar="NAME", help="For an edge of type fact: what it says.")
@labelled
@writes
def link(
    bound: Bound,
    src: str,
    type: str,
    dst: str,
    valid_from: str | None,
    valid_to: str | None,
    predicate: str | None,
    metadata: dict[str, Any],
) -> None:
    """Join two memories by a typed edge.

    The edge's type is a program: `supersedes` ends the memory it points at, `same_as` stages a
    merge, `contains` makes a world. A refused edge leaves nothing behind.

    \b
    Example:
      worldline link 3f2a91c0b7de relates_to 77ab01c3d9e4
    """
    with bound.memory() as memory:
        _tell(
            bound,
            memory.link(
                src, type, dst, valid_from=parse_time(valid_from), valid_to=parse_time(valid_to),
                metadata=metadata or None, predicate=predicate, dry_run=bound.dry_run,
            ),
        )  # fmt: skip


@click.command(cls=Verb)
@click.argument("ref")
@click.argument("content", required=False, callback=text_or_stdin)
@_NAME
@held
@_REASON
@writes
def amend(bound: Bound, ref: str, content: str | None, **given: Any) -> None:
    """It changed: a new version holds from now on.

    The old version stays true of its own time. CONTENT `-` reads standard input.

    \b
    Example:
      worldline amend 3f2a91c0b7de "tier: gold" --valid-from 2026-03-01
    """
    with bound.memory() as memory:
        _tell(bound, memory.amend(ref, content, **_revision(given), dry_run=bound.dry_run))


@click.command(cls=Verb)
@click.argument("ref", nargs=-1, required=True, metavar="REF [CONTENT] | SRC TYPE DST")
@_NAME
@held
@_REASON
@writes
def correct(bound: Bound, ref: tuple[str, ...], **given: Any) -> None:
    """It was wrong: it was never true.

    With CONTENT (or other options) that takes its place, from the same moment on; with nothing, it
    is withdrawn. Only known-time reads still see the old belief. Three arguments name an edge.
    `--valid-to forever` takes a retirement back.

    \b
    Example:
      worldline correct 3f2a91c0b7de "tier: bronze" --reason "misread the letter"
      worldline correct 3f2a91c0b7de relates_to 77ab01c3d9e4
    """
    with bound.memory() as memory:
        if len(ref) > 2:
            _tell(bound, memory.correct(_edge(memory, ref), dry_run=bound.dry_run))
            return
        content = text_or_stdin(click.get_current_context(), correct.params[0], ref[1]) if ref[1:] else None
        _tell(bound, memory.correct(ref[0], content, **_revision(given), dry_run=bound.dry_run))


@click.command(cls=Verb)
@click.argument("ref", nargs=-1, required=True, metavar="REF | SRC TYPE DST")
@click.option("--when", metavar="TIME", help="From when on it is not true any more [now].")
@_REASON
@writes
def retire(bound: Bound, ref: tuple[str, ...], when: str | None, reason: str | None) -> None:
    """It is over: no longer true.

    Nothing is deleted: reads of an earlier moment still see it. Three arguments name an edge.

    \b
    Example:
      worldline retire 3f2a91c0b7de --when 2026-06-01
      worldline retire 3f2a91c0b7de relates_to 77ab01c3d9e4
    """
    with bound.memory() as memory:
        if len(ref) not in (1, 3):
            raise click.UsageError("name one memory (REF), or an edge by its three parts (SRC TYPE DST)")
        target = ref[0] if len(ref) == 1 else _edge(memory, ref)
        _tell(bound, memory.retire(target, parse_time(when), reason=reason, dry_run=bound.dry_run))


@click.command(cls=Verb)
@click.argument("ref")
@_REASON
@writes
def confirm(bound: Bound, ref: str, reason: str | None) -> None:
    """Vouch for a memory, or release it from quarantine.

    \b
    Example:
      worldline confirm 3f2a91c0b7de --reason "Ana says so"
    """
    with bound.memory() as memory:
        reason = reason or "confirmed by the user"
        _tell(bound, memory.confirm(ref, reason, dry_run=bound.dry_run))


@click.command(cls=Verb)
@click.argument("action", default="list", type=click.Choice(["list", "accept", "reject", "undo"]))
@click.argument("proposal", required=False)
@click.option("--all", "every", is_flag=True, help="List decided ones too.")
@writes
def merges(bound: Bound, action: str, proposal: str | None, every: bool) -> None:
    """List, accept, reject or undo merge proposals.

    Nothing is ever merged silently: what looks the same waits here for a decision. Accepting
    changes reads only, and can be undone.

    \b
    Example:
      worldline merges
      worldline merges accept 9c1de2aa0b3f
    """
    if (action == "list") != (proposal is None):
        raise click.UsageError(f"`merges {action}` takes {'no' if action == 'list' else 'one'} PROPOSAL")
    with bound._replace(creates=False).memory() as memory:
        if proposal is None:
            _list_merges(bound, memory, every)
            return
        decide = {"accept": memory.accept_merge, "reject": memory.reject_merge, "undo": memory.undo_merge}
        _tell(bound, decide[action](proposal, dry_run=bound.dry_run))


def _list_merges(bound: Bound, memory: Memory, every: bool) -> None:
    found = memory.merges(None if every else "pending")
    names = {end: memory.get(end, exact=True).name for p in found for end in (p.a, p.b)}
    lines = [render.proposal(item, names) for item in found]
    bound.answer(found, lines or ["no merge proposals"])


@click.command(cls=Verb)
@click.argument("times", metavar="TIME...", nargs=-1, required=True)
@writes
def undo(bound: Bound, times: tuple[str, ...]) -> None:
    """Take a whole write back.

    TIME is the known time that the write's receipt shows (`add` with facts shows two). What it put
    is given up, what it closed is believed again, from now on; the past stays as it was.

    \b
    Example:
      worldline undo 2026-03-05T14:30:00.123456Z
    """
    with bound._replace(creates=False).memory() as memory:
        last, *earlier = map(instant, times)
        done = Receipt("undo", None, True, last, also=tuple(earlier))
        _tell(bound, memory.undo(done, dry_run=bound.dry_run))


def _revision(given: dict[str, Any]) -> dict[str, Any]:
    return {k: parse_time(v) if k.startswith("valid") else v for k, v in given.items()}


def _edge(memory: Memory, parts: tuple[str, ...]) -> Any:
    if len(parts) != 3:
        raise InvalidInput(f"an edge has three parts: SRC TYPE DST, not {len(parts)}")
    return memory.edge(*parts)
