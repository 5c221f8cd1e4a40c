"""The options that every verb shares, and the handle that they bind.

A verb is a function of the memory, with tenant, scope, world and moment already bound, so that no verb can forget
one; those about the store as a whole get the `Bound` that opens it. A verb returns what it has to tell: a receipt,
or a value for programs with the lines for people, and perhaps an exit code.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, NamedTuple, TypeAlias

import click

from worldline.config import default_path, place, without_password
from worldline.errors import InvalidText, NotFound
from worldline.memory import Memory
from worldline.model import Receipt
from worldline.surfaces import render
from worldline.surfaces.cli import COMMANDS
from worldline.surfaces.verbs import SCOPES, Binding
from worldline.text import for_terminal

Told: TypeAlias = Receipt | tuple[Any, Iterable[str]] | tuple[Any, Iterable[str], bool]
"""What a verb has to tell: a value, or what makes it, and lines; a third part that is true ends with exit code 1."""


TIME = click.types.FuncParamType(render.moment)
"""ISO text as it is; `forever` as the open end."""
TIME.name = "time"


class Shared(click.Option):
    """An option that many verbs have; help lists these apart."""


class Bound(NamedTuple):
    """What the shared options say."""

    json: bool
    dry_run: bool
    db: str | None
    tenant: str
    whose: Binding
    creates: bool

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """The memory, bound; a read never makes a file that is not there."""
        if not self.creates and not self.exists():
            raise NotFound(f"there is no store at {self.path}; `worldline init` makes one")
        with Memory.open(self.path, tenant=self.tenant) as memory:
            yield self.whose.bind(memory)

    @property
    def path(self) -> Path | str:
        """Where the store lies: a file, or the URL of a server."""
        return place(self.db) if self.db else default_path()

    @property
    def shown(self) -> str:
        """The same, as it may be printed: a URL without its password."""
        return without_password(str(self.path))

    def exists(self) -> bool:
        """Whether there is a store; a server is asked when it is opened."""
        return isinstance(self.path, str) or self.path.exists()

    def answer(self, value: Any, lines: Iterable[str]) -> None:
        """Prints a result: as JSON if that was asked for, else line by line."""
        if self.json:
            click.echo(render.json_text(render.plain(value() if callable(value) else value)))
        else:
            for line in lines:
                click.echo(for_terminal(line))


class Verb(click.Command):
    """A command whose help shows its own options first and the shared ones after them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Two lists of options."""
        for title, of in (("Options", False), ("Where, whose and when", True)):
            params = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
            told = [one.get_help_record(ctx) for one in params if isinstance(one, Shared) is of]
            if records := [one for one in told if one is not None]:
                with formatter.section(title):
                    formatter.write_dl(records)


def _tell(bound: Bound, told: Told | None) -> None:
    """Prints what a verb returned, and ends with its exit code where it has one."""
    if told is None:
        return
    value, lines, *failed = (told, render.receipt(told)) if isinstance(told, Receipt) else told
    bound.answer(value, lines)
    if any(failed):
        click.get_current_context().exit(1)


_STORE = (
    Shared(["--json"], is_flag=True, help="One JSON document instead of text."),
    Shared(["--db"], metavar="FILE", help="The store [WORLDLINE_DB, else the XDG data folder]."),
    Shared(["--tenant"], default="default", envvar="WORLDLINE_TENANT", help="Whose partition."),
)
_WHOSE = (
    *(Shared([f"--{kind}"], metavar="ID", help=f"Only this {kind}'s memories.") for kind in SCOPES),
    Shared(["--session"], metavar="NAME", help="The conversation."),
    Shared(["--world"], metavar="REF", help="Stay inside this world."),
)
_WHEN = (
    Shared(["--valid-at"], type=TIME, help="What held then [now]."),
    Shared(["--known-at"], type=TIME, help="What was believed then [now]."),
    Shared(["--as-of"], type=TIME, help="Both of these at once."),
)
_DRY = (Shared(["--dry-run"], is_flag=True, help="Say what would happen and write nothing."),)


def with_options(
    *shared: click.Option, creates: bool = True, opens: bool = False
) -> Callable[[Callable[..., Told | None]], Verb]:
    """Makes a function a verb that has these options too; its summary is the one in the list of verbs.

    A positional parameter that no decorator speaks of is an argument, which may be left out where it has a default.
    """
    names = [option.name or "" for option in shared]

    def decorate(verb: Callable[..., Told | None]) -> Verb:
        def run(**given: Any) -> None:
            before = click.get_current_context().find_root().params
            said = {name: given.pop(name) for name in names}
            bound = Bound(
                json=said.get("json") or before.get("json", False),
                dry_run=said.get("dry_run", False),
                db=said.get("db") or before.get("db"),
                tenant=said.get("tenant", "default"),
                whose=Binding(**{name: said.get(name) for name in Binding.__struct_fields__}),
                creates=creates,
            )
            if not opens:
                _tell(bound, verb(bound, **given))
                return
            given |= {name: said[name] for name in said.keys() & {"dry_run"}}
            with bound.memory() as memory:
                _tell(bound, verb(memory, **given))

        name = verb.__name__.rstrip("_")
        own: list[click.Parameter] = getattr(verb, "__click_params__", [])[::-1]
        _, *named = inspect.signature(verb).parameters.values()
        declared = {*names, *(param.name for param in own)}
        bare = [one for one in named if one.kind is one.POSITIONAL_OR_KEYWORD and one.name not in declared]
        arguments = [click.Argument([one.name], required=one.default is one.empty) for one in bare]
        prose, _, example = inspect.cleandoc(verb.__doc__ or "").rpartition("Example:\n")
        told = [COMMANDS[name][1], prose.strip(), "\b\nExample:\n" + indent(dedent(example), "  ")]
        help_ = "\n\n".join(part for part in told if part)
        return Verb(name, callback=run, params=[*arguments, *own, *shared], help=help_)

    return decorate


reads = with_options(*_STORE, *_WHOSE, *_WHEN, creates=False, opens=True)
"""A verb that looks: store, scope, world and both time axes."""

writes = with_options(*_STORE, *_WHOSE, *_DRY, opens=True)
"""A verb that changes something: store, scope, world and a dry run."""

serves = with_options(*_STORE, *_WHOSE)
"""A verb that lets others in: store, scope and world to fall back on."""

mends = with_options(*_STORE, *_WHOSE, *_DRY, creates=False, opens=True)
"""The same, for what has to be there already."""

thinks = with_options(*_STORE, *_WHOSE[:3], *_DRY, creates=False, opens=True)
"""A verb that works on what is there: store, scope and a dry run."""

sleeps = with_options(*_STORE, *_WHOSE[:3], *_DRY, creates=False)
"""The same, for what may not need a store."""

absorbs = with_options(*_STORE, *_DRY)
"""A verb that changes the store as a whole: store and a dry run."""

tends = with_options(*_STORE, creates=False, opens=True)
"""A verb about the memories of a store as a whole."""

keeps = with_options(*_STORE, creates=False)
"""A verb about the store itself."""

alone = with_options(click.Option(["--json"], is_flag=True, help="One JSON document instead of text."))
"""A verb that names its stores itself, or needs none."""


def held(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The valid interval of what is written."""
    verb = click.option("--valid-to", type=TIME, help="No longer true from then on (or: forever).")(verb)
    return click.option("--valid-from", type=TIME, help="True from then on [now].")(verb)


def _pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Values are JSON where they can be read as JSON, else text."""
    found: dict[str, Any] = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not key or not equals:
            raise click.BadParameter(f"{item!r} is not KEY=VALUE", ctx, param)
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


labelled = click.option(
    "--meta", "metadata", metavar="KEY=VALUE", multiple=True, callback=_pairs, help="Metadata; repeatable."
)
"""Metadata as key=value."""


def piped(ctx: click.Context, param: click.Parameter, given: str | None) -> str:
    """The argument; without one, what comes through a pipe."""
    text = text_or_stdin(ctx, param, "-" if given is None and not sys.stdin.isatty() else given)
    if text is None or (given is None and not text):
        raise click.MissingParameter(ctx=ctx, param=param)
    return text


def text_or_stdin(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """The argument itself, or all of standard input for `-` (without its last line break)."""
    if given != "-":
        return given
    try:
        text = sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidText(f"standard input is not UTF-8 (byte {error.start})") from None
    return text.removesuffix("\n").removesuffix("\r")
