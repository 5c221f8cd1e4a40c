"""The options that every verb shares, and the handle that they bind.

A verb is a function whose first argument is a `Bound`: it opens the memory with tenant, scope,
world and moment already bound, so that no verb can forget one.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from worldline.clock import FOREVER, instant
from worldline.config import default_path, place, without_password
from worldline.errors import InvalidText, InvalidTime, NotFound
from worldline.memory import Memory
from worldline.rules.handlers import NODE_TYPES
from worldline.surfaces import render
from worldline.text import for_terminal

_SCOPES = ("user", "agent", "app", "run", "session")
_MOMENT = ("valid_at", "known_at", "as_of")


class Shared(click.Option):
    """An option that many verbs have; help lists these apart."""


class Bound(NamedTuple):
    """What the shared options say."""

    json: bool
    dry_run: bool
    db: str | None
    tenant: str
    scope: dict[str, str | None]
    world: str | None
    moment: dict[str, str | None]
    creates: bool

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """The memory, bound; a read never makes a file that is not there."""
        if not self.creates and not self.exists():
            raise NotFound(f"there is no store at {self.path}; `worldline init` makes one")
        with Memory.open(self.path, tenant=self.tenant) as memory:
            yield self._bind(memory)

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
            render.emit_json(value)
        else:
            for line in lines:
                click.echo(for_terminal(line))

    def unknown_then(self, memory: Memory, *times: str | None) -> list[str]:
        """Why a look at an early known time finds nothing: the store had not learned anything yet."""
        known = [at for at in (*times, self.moment.get("known_at"), self.moment.get("as_of")) if at]
        first = memory.at(known=FOREVER).changes(limit=1)
        since = first[0].known_at if first else 0
        if not known or min(_instant(at) for at in known) >= since:
            return []
        day = render.date(since)[:10]
        return [
            f"nothing was known here before {day}: what is imported is known from the day of its import on "
            "(--valid-at shows what held earlier)"
        ]

    def _bind(self, memory: Memory) -> Memory:
        """Binds whatever was given; an empty name is refused, never taken for everybody."""
        memory = memory.scoped(**self.scope)
        if self.world is not None:
            memory = memory.enter(self.world)
        return memory.at(**{name.removesuffix("_at"): parse_time(at) for name, at in self.moment.items()})


class Verb(click.Command):
    """A command whose help shows its own options first and the shared ones after them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Two lists of options."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (shared if isinstance(param, Shared) else own).append(record)
        for title, records in (("Options", own), ("Where, whose and when", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_STORE = (
    click.option("--json", "json", is_flag=True, cls=Shared, help="One JSON document instead of text."),
    click.option(
        "--db", metavar="FILE", cls=Shared, help="The store [WORLDLINE_DB, else the XDG data folder]."
    ),
    click.option(
        "--tenant", default="default", envvar="WORLDLINE_TENANT", cls=Shared, help="Whose partition."
    ),
)
_WHOSE = (
    click.option("--user", metavar="ID", cls=Shared, help="Only this user's memories."),
    click.option("--agent", metavar="ID", cls=Shared, help="Only this agent's memories."),
    click.option("--app", metavar="ID", cls=Shared, help="Only this app's memories."),
    click.option("--run", metavar="ID", cls=Shared, help="Only this run's memories."),
    click.option("--session", metavar="NAME", cls=Shared, help="The conversation."),
    click.option("--world", metavar="REF", cls=Shared, help="Stay inside this world."),
)
_WHEN = (
    click.option("--valid-at", metavar="TIME", cls=Shared, help="What held then [now]."),
    click.option("--known-at", metavar="TIME", cls=Shared, help="What was believed then [now]."),
    click.option("--as-of", metavar="TIME", cls=Shared, help="Both of these at once."),
)
_DRY = (click.option("--dry-run", is_flag=True, cls=Shared, help="Say what would happen and write nothing."),)


def _with(options: tuple[Any, ...], *, creates: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(verb)
        def run(**given: Any) -> Any:
            before = click.get_current_context().find_root().params
            bound = Bound(
                json=given.pop("json") or before.get("json", False),
                dry_run=given.pop("dry_run", False),
                db=given.pop("db") or before.get("db"),
                tenant=given.pop("tenant"),
                scope={kind: given.pop(kind, None) for kind in _SCOPES},
                world=given.pop("world", None),
                moment={axis: given.pop(axis, None) for axis in _MOMENT},
                creates=creates,
            )
            return verb(bound, **given)

        for option in reversed(options):
            run = option(run)
        return run

    return decorate


reads = _with((*_STORE, *_WHOSE, *_WHEN), creates=False)
"""A verb that looks: store, scope, world and both time axes."""

writes = _with((*_STORE, *_WHOSE, *_DRY), creates=True)
"""A verb that changes something: store, scope, world and a dry run."""

serves = _with((*_STORE, *_WHOSE), creates=True)
"""A verb that lets others in: store, scope and world to fall back on."""

thinks = _with((*_STORE, *_WHOSE[:3], *_DRY), creates=False)
"""A verb that works on what is there: store, scope and a dry run."""

absorbs = _with((*_STORE, *_DRY), creates=True)
"""A verb that changes the store as a whole: store and a dry run."""

tends = _with(_STORE, creates=False)
"""A verb about the store as a whole."""


def held(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The valid interval of what is written."""
    verb = click.option("--valid-to", metavar="TIME", help="No longer true from then on (or: forever).")(verb)
    return click.option("--valid-from", metavar="TIME", help="True from then on [now].")(verb)


def labelled(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Metadata as key=value."""
    return click.option(
        "--meta",
        "metadata",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_pairs,
        help="Metadata; repeatable.",
    )(verb)


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


def type_name(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """The type as it is spelled, however it was written: `fact` is Fact."""
    return next((name for name in NODE_TYPES if given and name.lower() == given.lower()), given)


def _instant(text: str) -> int:
    try:
        return instant(parse_time(text))
    except InvalidTime:  # the hash of a world
        return FOREVER


def parse_time(text: str | None) -> Any:
    """ISO text as it is; `forever` as the open end."""
    return FOREVER if text is not None and text.strip().lower() == "forever" else text


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
