"""`worldline`: the same words as in Python, from the shell.

This module only lists the verbs, loads the one that is called, and turns errors into one line and
an exit code: 0 done, 1 refused or damaged, 2 wrong usage, 130 interrupted, 141 nobody reads on.
The verbs are in the modules that `VERBS` names; they are not imported for `--help`.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from importlib import import_module
from typing import Any

import click

from worldline.errors import WorldlineError
from worldline.text import for_terminal

VERBS: dict[str, dict[str, tuple[str, str]]] = {
    "Write": {
        "add": ("writing", "Remember what was said, word for word (also: remember)."),
        "note": ("writing", "Store a note: something to know."),
        "link": ("writing", "Join two memories by a typed edge."),
        "amend": ("writing", "It changed: a new version holds from now on."),
        "correct": ("writing", "It was wrong: it was never true."),
        "retire": ("writing", "It is over: no longer true."),
        "quarantine": ("writing", "Keep a memory back: it is stored, and no read shows it."),
        "confirm": ("writing", "Vouch for a memory, or release it from quarantine."),
        "feedback": ("writing", "Say of something recalled that it was useful, or wrong."),
        "pin": ("writing", "Keep a memory from ever going cold."),
        "merges": ("writing", "List, accept, reject or undo merge proposals."),
        "undo": ("writing", "Take a whole write back."),
        "forget": ("writing", "Erase for good: memories, all of a user, or what is older than a moment."),
    },
    "Read": {
        "ask": ("exchanging", "Ask in plain words; evidence, and an answer where a model is set."),
        "recall": ("reading", "Find what is remembered about a question (also: search)."),
        "context": ("reading", "What an agent should know before a session begins."),
        "timeline": ("reading", "What happened about a topic, in order."),
        "density": ("reading", "What is already covered around a topic."),
        "profile": ("reading", "What is known of a person."),
        "episodes": ("reading", "Stretches of talk, parted by pauses of six hours or more."),
        "explain": ("reading", "Why a memory is not in the answer to a question."),
        "get": ("reading", "Show one memory."),
        "list": ("reading", "List memories, newest first."),
        "history": ("reading", "Every belief ever held in a memory."),
        "diff": ("reading", "What changed between two moments."),
        "why": ("reading", "Why something is believed, down to the words."),
        "walk": ("reading", "What lies around a memory."),
        "conflicts": ("reading", "What is believed and cannot all be true."),
        "changes": ("reading", "The feed of everything learned and given up."),
        "worlds": ("reading", "Worlds and their hashes."),
    },
    "Serve": {
        "mcp": ("serving", "Serve an agent over MCP (standard input and output)."),
        "serve": ("serving", "Serve REST, MCP and the explorer over HTTP."),
        "token": ("serving", "Make a bearer token for a tenant, and show it once."),
    },
    "Exchange": {
        "import": ("exchanging", "Read another memory's file, folder or archive."),
        "absorb": ("exchanging", "Unite another store with this one."),
        "export": ("exchanging", "Write JSON Lines (exact), Markdown or GraphML."),
        "install": ("installing", "Set up an agent: hooks or the MCP server; shows, asks, can undo."),
        "hook": ("hooks", "Answer a coding agent's hook (its JSON on standard input)."),
    },
    "Care": {
        "init": ("care", "Make a new, empty store."),
        "sleep": ("care", "Think over what is new (also: consolidate)."),
        "score": ("writing", "Run a scorer of your own over everything that is stored."),
        "verify": ("care", "Prove every hash and every logged row."),
        "stats": ("care", "How much is stored."),
        "copy": (
            "care",
            "Copy a store elsewhere, exactly: from a file to a server, back, or between two of a kind.",
        ),
        "migrate": ("care", "Bring a store to this program's format."),
        "distribute": ("care", "Spread a server's tables over a Citus cluster, by tenant."),
        "backup": ("care", "Copy the store while others go on writing."),
        "restore": ("care", "Put a backup in the place of the store."),
        "doctor": ("care", "Look at this installation and its store."),
        "reread": ("care", "Read everything again, with the reader of today."),
        "reindex": ("care", "Make words, descriptions and labels anew from the texts."),
        "resume": ("care", "Finish what was stored but not understood when a process ended."),
        "flush": ("care", "Embed what has no vector yet."),
        "reembed": ("care", "Make every vector anew, with the embedder that is configured now."),
        "bench": ("benching", "Measure on public files, beside the baselines."),
    },
}
COMMANDS = {name: told for verbs in VERBS.values() for name, told in verbs.items()}
ALIASES = {"remember": "add", "search": "recall", "consolidate": "sleep"}

HELP = """The memory of long-running AI agents, in one file.

It remembers what was said, what was true when, and when it learned that.

\b
  worldline add "I live in Rome." --speaker Ana
  worldline recall "Where does Ana live?"
  worldline list

`worldline help VERB` shows one with an example; --json is for programs. TIME is ISO text such as
2026-03-05 or 2026-03-05T14:30+01:00 (without an offset: UTC). REF is an id or its first
8 or more digits.

\b
Completion: eval "$(_WORLDLINE_COMPLETE=bash_source worldline)"   (or zsh_source, fish_source)
"""


class Shell(click.Group):
    """Finds verbs by name, loads them when they are called, and ends with a proper exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every verb, in the order of the help."""
        return list(COMMANDS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`worldline help add` is `worldline add --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is called, or what was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = difflib.get_close_matches(args[0], [*COMMANDS, *ALIASES, "help"], n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "`worldline help` lists them."
            raise click.UsageError(f"There is no verb {args[0]!r}. {hint}", ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, from the module that holds it."""
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        module = import_module(f"worldline.surfaces.{COMMANDS[name][0]}")
        found: click.Command = getattr(module, name if hasattr(module, name) else f"{name}_")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs in their groups, without loading them."""
        for heading, verbs in VERBS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, summary) for name, (_, summary) in verbs.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs a command line and exits; never a traceback for what the caller can mend."""
        extra["standalone_mode"] = False
        sys.exit(_guarded(super().main, *args, **extra))

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the verb; a reader that went away is not an error of ours."""
        ctx.color = False if os.environ.get("NO_COLOR") else ctx.color
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(141)


def _guarded(run: Any, *args: Any, **extra: Any) -> int:
    given = args[0] if args and args[0] is not None else extra.get("args")
    as_json = "--json" in (sys.argv[1:] if given is None else given)
    try:
        code = run(*args, **extra)
    except click.ClickException as error:
        if as_json:
            _refused(error, error.format_message())
        else:
            error.show()
        return 2 if isinstance(error, click.UsageError) else 1
    except (click.Abort, KeyboardInterrupt):
        click.echo("worldline: interrupted; nothing was half-written", err=True)
        return 130
    except (WorldlineError, OSError) as error:
        told = " ".join(str(error).split())
        if as_json:
            _refused(error, told)
        else:
            click.echo(f"worldline: {for_terminal(told)}", err=True)
        return 1
    return code if isinstance(code, int) else 0


def _refused(error: Exception, told: str) -> None:
    """An error as the one JSON document that a program reads."""
    click.echo(json.dumps({"error": {"type": type(error).__name__, "message": told}}))


@click.group(cls=Shell, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="worldline", message="worldline %(version)s")
@click.option("--db", metavar="FILE", help="The store; may stand before or after the verb.")
@click.option("--json", "json", is_flag=True, help="One JSON document; may stand before or after the verb.")
def main(db: str | None, json: bool) -> None:
    """The verbs read these two from their context."""
