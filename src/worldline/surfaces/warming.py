"""The verbs that say what a memory is worth: feedback, pins, and scorers of one's own."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Literal

import click

from worldline.errors import InvalidInput
from worldline.model import Receipt, Scorer
from worldline.surfaces import render
from worldline.surfaces.care import WaitingCount
from worldline.surfaces.options import Bound, Verb, tends, writes


def _tell(bound: Bound, receipt: Receipt) -> None:
    bound.answer(receipt, render.receipt(receipt))


@click.command(cls=Verb)
@click.argument("ref")
@click.argument("verdict", type=click.Choice(["useful", "wrong"]))
@tends
def feedback(bound: Bound, ref: str, verdict: Literal["useful", "wrong"]) -> None:
    """Say of something recalled that it was useful, or wrong.

    It counts from the next `sleep` on: useful things stay warm and come back from the archive, wrong
    ones fade sooner. What is simply not true is a case for `correct`.

    \b
    Example:
      worldline feedback 3f2a91c0b7de useful
    """
    with bound.memory() as memory:
        _tell(bound, memory.feedback(ref, verdict))


@click.command(cls=Verb)
@click.argument("ref")
@click.option("--remove", is_flag=True, help="Take the pin out.")
@click.option("--reason", metavar="TEXT", default="pinned by the user", help="Why; kept with the pin.")
@writes
def pin(bound: Bound, ref: str, remove: bool, reason: str) -> None:
    """Keep a memory from ever going cold.

    \b
    Example:
      worldline pin 3f2a91c0b7de --reason "the wedding"
      worldline pin 3f2a91c0b7de --remove
    """
    with bound.memory() as memory:
        done = (
            memory.unpin(ref, dry_run=bound.dry_run)
            if remove
            else memory.pin(ref, reason, dry_run=bound.dry_run)
        )
        _tell(bound, done)


@click.command(cls=Verb)
@click.argument("scorer")
@click.option("--drop", is_flag=True, help="SCORER is a name: take it and its scores away.")
@tends
def score(bound: Bound, scorer: str, drop: bool) -> None:
    """Run a scorer of your own over everything that is stored.

    SCORER is module:attribute of a `worldline.Scorer`, looked for in the current folder too. Its
    scores are factors of recall from then on; it may be ended at any moment and goes on when it is
    run again. Agents have no such verb.

    \b
    Example:
      worldline score urgency:scorer
      worldline score --drop urgency
    """
    with bound.memory() as memory, WaitingCount() as waiting:
        if drop:
            gone = memory.drop_scorer(scorer)
            bound.answer(
                {"scorer": scorer, "dropped": gone}, [f"{scorer}: {'gone' if gone else 'not there'}"]
            )
            return
        found = _load(scorer)
        count = memory.score_with(found, lambda done, of: waiting(f"scored of {of:,}", done))
    told = {"scorer": found.name, "version": found.version, "weight": found.weight, "scored": count}
    bound.answer(told, [f"{found.name} {found.version}: {count:,} scored, weight {found.weight:g}"])


def _load(named: str) -> Scorer:
    module, _, attribute = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"{named!r} is not module:attribute of a scorer ({error})") from None
    finally:
        sys.path.pop(0)
    if not isinstance(found, Scorer):
        raise InvalidInput(f"{named} is a {type(found).__name__}, not a worldline.Scorer")
    return found
