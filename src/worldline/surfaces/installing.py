"""`worldline install AGENT`: puts the hooks or the MCP server into an agent's settings, after showing what changes.

Each agent has a file and a shape of its own; this module knows both, and nothing else about the agent. Only
what calls `worldline` is ever added, replaced or removed; everything else stays as it is, comments included.
The file before the change is kept beside it.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import re
import shlex
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from worldline.errors import InvalidInput
from worldline.surfaces.options import Bound, with_options

_OURS = re.compile(r"\bworldline\b.*\bhook (?:session-start|prompt|session-end)\b")
_TIMEOUT = 5
HOOKS = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "SessionEnd": "session-end"}
NAME = "worldline"
Settings = dict[str, Any]


class Agent(NamedTuple):
    """Where an agent keeps its settings, and how ours go in and out."""

    own: Callable[[], Path]
    """The user's file."""
    project: str | None
    """The file of a project, below its folder."""
    changed: Callable[[str, str | None, bool], str]
    """(text before, store, whether ours are to be there) → text after."""


@with_options(click.Option(["--json"], is_flag=True, help="One JSON document; does not ask."))
@click.argument("agent", type=click.Choice(["claude-code", "claude-desktop", "cursor", "vscode", "codex"]))
@click.option("--project", is_flag=True, help="Into this folder's settings instead of your own.")
@click.option("--settings", metavar="FILE", help="Into this settings file.")
@click.option("--db", metavar="FILE", help="The store that the agent uses [the default one].")
@click.option("--undo", is_flag=True, help="Take it out again.")
@click.option("--dry-run", is_flag=True, help="Only show the change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def install(bound: Bound, agent: str, undo: bool, dry_run: bool, yes: bool, **where: Any) -> None:
    """Claude Code gets hooks, the others the MCP server.

    With hooks, a session begins with the context block, each prompt brings what is remembered about it, and
    what was said is stored when the session ends. With the MCP server, the agent has the memory as tools.

    Example:
      worldline install claude-code
      worldline install cursor --project
      worldline install codex --undo
    """
    chosen = AGENTS[agent]
    path = _place(chosen, agent, where["project"], where["settings"])
    old = _read(path)
    new = chosen.changed(old, where["db"] or bound.db, not undo)
    diff = list(difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), str(path), lineterm=""))
    for line in () if bound.json else diff:
        click.echo(line)
    agreed = yes if bound.json or dry_run or not diff else yes or click.confirm(f"Write this to {path}?")
    write = bool(diff) and agreed and not dry_run
    kept = _write(path, new) if write else None
    done = {"path": str(path), "written": write, "backup": kept and str(kept), "diff": diff}
    click.echo(json.dumps(done) if bound.json else _told(done))


def _told(done: dict[str, Any]) -> str:
    if not done["diff"]:
        return f"{done['path']}: nothing to change"
    if not done["written"]:
        return "nothing was changed"
    return f"{done['path']}: written{'; the file before is ' + done['backup'] if done['backup'] else ''}"


def _place(agent: Agent, name: str, project: bool, settings: str | None) -> Path:
    if settings:
        return Path(settings).expanduser()
    if project and agent.project is None:
        raise InvalidInput(f"{name} has no settings of a project; leave --project out")
    return Path.cwd() / agent.project if project and agent.project else agent.own()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8") if path.exists() else ""
    except (ValueError, OSError) as error:
        raise InvalidInput(f"cannot read {path} ({error}); mend it first, it was not touched") from None


def _write(path: Path, text: str) -> Path | None:
    """Whole or not at all; the path of the copy of what was there."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    kept, part = None, target.with_name(f".{target.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    if target.exists():  # a copy has a name of its own, however fast one change follows another
        stamp = f"{target.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        names = (f"{stamp}{f'-{n}' if n else ''}.backup" for n in itertools.count())
        kept = next(copy for name in names if not (copy := target.with_name(name)).exists())
        shutil.copy2(target, kept)
        shutil.copymode(kept, part)
    os.replace(part, target)
    return kept


def words(verb: list[str], db: str | None) -> list[str]:
    """The command line of this program, as another one can start it."""
    program = shutil.which("worldline")
    found = [program] if program else [sys.executable, "-m", "worldline"]
    where = db if db and "://" in db else str(Path(db).expanduser().resolve()) if db else ""
    return [*found, *verb, *(["--db", where] if where else [])]


# JSON as editors keep it, with comments and trailing commas -----------------------------------------------
#
# One member is put in or taken out; only the text of that member changes, so that whoever wrote the rest finds it
# as it was.

_PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"/]+|["/]', re.S)

_IDLE = ((",", "}"), (",", "]"))
"""Commas that nothing follows."""


class Member(NamedTuple):
    """A member of an object: the pieces of its name, and of the beginning and the end of its value."""

    name: int
    first: int
    last: int


def parsed(text: str) -> Any:
    """The value, as `json.loads` gives it; a text without anything is an empty object."""
    pieces = [piece[0] for piece in _pieces(text)]
    strict = [one for one, then in zip(pieces, [*pieces[1:], ""], strict=False) if (one, then) not in _IDLE]
    return json.loads(" ".join(strict) or "{}")


def with_member(text: str, path: Sequence[str], name: str, value: Any) -> str:
    """The text with a member in the object that a path of names leads to; the last one is made where it is not there.

    >>> with_member('{ // mine\\n}', ("servers",), "a", {"command": "b"})
    '{\\n  "servers": {\\n    "a": {\\n      "command": "b"\\n    }\\n  } // mine\\n}'
    """
    text = text if text.strip() else "{}\n"
    pieces, at = _pieces(text), 0
    for depth, step in enumerate(path):
        member = _members(pieces, at).get(step)
        if member is None:
            return _inserted(text, pieces, at, depth, step, {name: value})
        at = member.first
    if (old := _members(pieces, at).get(name)) is not None:
        told = _written(value, len(path))
        return text[: pieces[old.first].start()] + told + text[pieces[old.last].end() :]
    return _inserted(text, pieces, at, len(path), name, value)


def without_member(text: str, path: Sequence[str], name: str) -> str:
    """The text without a member; the same where it is not there."""
    pieces, place = _pieces(text), Member(0, 0, 0)
    for step in (*path, name):
        found = _members(pieces, place.first).get(step) if pieces[place.first][0] == "{" else None
        if found is None:
            return text
        place = found
    before, end = pieces[place.name - 1], pieces[place.last].end()
    space = text[before.end() : pieces[place.name].start()].rstrip()
    if pieces[place.last + 1][0] == ",":
        end = pieces[place.last + 1].end()
    elif before[0] == ",":
        return text[: before.start()] + space + text[end:]
    return text[: before.end()] + space + text[end:]


def _pieces(text: str) -> list[re.Match[str]]:
    """Words and signs without comments, and where they stand."""
    return [piece for piece in _PIECE.finditer(text) if not piece[0].startswith(("//", "/*"))]


def _members(pieces: Sequence[re.Match[str]], at: int) -> dict[str, Member]:
    """The members of the object that begins at a piece."""
    found: dict[str, Member] = {}
    place = at + 1
    while pieces[place][0] != "}":
        if pieces[place][0] != ",":
            last, depth = place + 2, 0
            while depth := depth + (pieces[last][0] in ("{", "[")) - (pieces[last][0] in ("}", "]")):
                last += 1
            found[json.loads(pieces[place][0])] = Member(place, place + 2, last)
            place = last
        place += 1
    return found


def _written(value: Any, depth: int) -> str:
    """A value as a member so deep inside is written."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * (depth + 1))


def _inserted(text: str, pieces: Sequence[re.Match[str]], at: int, depth: int, name: str, value: Any) -> str:
    """The text with a member in front of the others of the object that begins at a piece."""
    space, told = "  " * (depth + 1), _written(value, depth)
    comma = "" if pieces[at + 1][0] == "}" else ","
    before, rest = text[: pieces[at].end()], text[pieces[at].end() :]
    if rest.lstrip(" \t").startswith("}"):
        rest = f"\n{space[2:]}{rest.lstrip()}"
    return f"{before}\n{space}{json.dumps(name)}: {told}{comma}{rest}"


# JSON files ----------------------------------------------------------------------------------------------


def _loaded(text: str) -> Settings:
    try:
        found = parsed(text)
    except ValueError as error:
        raise InvalidInput(
            f"the settings are not JSON ({error}); mend the file first, it was not touched"
        ) from None
    if not isinstance(found, dict):
        raise InvalidInput("the settings are not a JSON object; the file was not touched")
    return found


def _server(key: str) -> Callable[[str, str | None, bool], str]:
    """Into and out of a file that lists MCP servers under a key."""

    def changed(text: str, db: str | None, there: bool) -> str:
        servers, (first, *rest) = _listed(_loaded(text), key), words(["mcp"], db)
        entry = {"command": first, "args": rest}
        if not there:
            return without_member(text, *(((), key) if list(servers) == [NAME] else ((key,), NAME)))
        return text if servers.get(NAME) == entry else with_member(text, (key,), NAME, entry)

    return changed


def _listed(settings: Settings, key: str) -> Settings:
    found = settings.get(key, {})
    if not isinstance(found, dict):
        raise InvalidInput(f"{key!r} of the settings is not an object; the file was not touched")
    return found


# Hooks of Claude Code ------------------------------------------------------------------------------------


def _hooked(text: str, db: str | None, there: bool) -> str:
    """The text with our hooks, once each, or without them; the same where nothing changes."""
    before = _loaded(text)
    after = _without_hooks(before)
    if there:
        hooks = dict(after.get("hooks", {}))
        for name, event in HOOKS.items():
            command = shlex.join(words(["hook", event], db))
            own = {"hooks": [{"type": "command", "command": command, "timeout": _TIMEOUT}]}
            hooks[name] = [*hooks.get(name, []), own]
        after = {**after, "hooks": hooks}
    if after == before:
        return text
    if "hooks" in after:
        return with_member(text, (), "hooks", after["hooks"])
    return without_member(text, (), "hooks")


def _without_hooks(settings: Settings) -> Settings:
    """The settings without our hooks, and without what only they filled."""
    hooks: Settings = {}
    for name, groups in _listed(settings, "hooks").items():
        left = [_without(group) for group in groups] if isinstance(groups, list) else groups
        left = [group for group in left if group is not None] if isinstance(groups, list) else left
        if left or not groups:
            hooks[name] = left
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks or ("hooks" in settings and not settings["hooks"]) else rest


def _without(group: Any) -> Any:
    """A group without our commands; None where nothing is left of it."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    left = [h for h in group["hooks"] if not (isinstance(h, dict) and _OURS.search(str(h.get("command"))))]
    if len(left) == len(group["hooks"]):
        return group
    return {**group, "hooks": left} if left else None


# The TOML of Codex ---------------------------------------------------------------------------------------

_TABLE = re.compile(r"(?ms)^\[mcp_servers\.worldline\][^\n]*\n.*?(?=^\[|\Z)")


def _codex(text: str, db: str | None, there: bool) -> str:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(
            f"the settings are not TOML ({error}); mend the file first, it was not touched"
        ) from None
    first, *rest = words(["mcp"], db)
    table = f"[mcp_servers.{NAME}]\ncommand = {json.dumps(first)}\nargs = {json.dumps(rest)}"
    others = _TABLE.sub("", text).rstrip("\n")
    parts = [part for part in (others, table if there else "") if part]
    return "\n\n".join(parts) + "\n" if parts else ""


def _settings_folder() -> Path:
    """Where programs keep their settings on this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


AGENTS = {
    "claude-code": Agent(lambda: Path.home() / ".claude" / "settings.json", ".claude/settings.json", _hooked),
    "claude-desktop": Agent(
        lambda: _settings_folder() / "Claude" / "claude_desktop_config.json", None, _server("mcpServers")
    ),
    "cursor": Agent(lambda: Path.home() / ".cursor" / "mcp.json", ".cursor/mcp.json", _server("mcpServers")),
    "vscode": Agent(
        lambda: _settings_folder() / "Code" / "User" / "mcp.json", ".vscode/mcp.json", _server("servers")
    ),
    "codex": Agent(
        lambda: Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml", None, _codex
    ),
}
