"""`worldline install claude-code`: puts the hooks into a settings file, after showing what changes.

Only entries that call `worldline hook` are ever added, replaced or removed; everything else stays
as it is. The file before the change is kept beside it.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import click

from worldline.errors import InvalidInput

_OURS = re.compile(r"\bworldline\b.*\bhook (?:session-start|prompt|session-end)\b")
_TIMEOUT = 5
HOOKS = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "SessionEnd": "session-end"}


@click.command()
@click.argument("agent", type=click.Choice(["claude-code"]))
@click.option("--project", is_flag=True, help="Into .claude/settings.json here instead of your own settings.")
@click.option("--settings", metavar="FILE", help="Into this settings file.")
@click.option("--db", metavar="FILE", help="The store that the hooks use [the default one].")
@click.option("--undo", is_flag=True, help="Take the hooks out again.")
@click.option("--dry-run", is_flag=True, help="Only show the change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document; does not ask.")
def install(agent: str, undo: bool, dry_run: bool, yes: bool, as_json: bool, **where: Any) -> None:
    """Set up a coding agent's hooks; shows, asks, can undo.

    With them, a session begins with the newest notes, each prompt brings what is remembered about
    it, and what was said is stored when the session ends.

    \b
    Example:
      worldline install claude-code
      worldline install claude-code --undo
    """
    path = _place(where["project"], where["settings"])
    before = _read(path)
    after = without_hooks(before) if undo else with_hooks(before, where["db"])
    old, new = (_shown(before) if path.exists() else ""), _shown(after)
    lines = old.splitlines(), new.splitlines()
    diff = [] if after == before else list(difflib.unified_diff(*lines, str(path), str(path), lineterm=""))
    for line in () if as_json else diff:
        click.echo(line)
    agreed = yes if as_json or dry_run or not diff else yes or click.confirm(f"Write this to {path}?")
    write = bool(diff) and agreed and not dry_run
    kept = _write(path, new) if write else None
    done = {"path": str(path), "written": write, "backup": kept and str(kept), "diff": diff}
    click.echo(json.dumps(done) if as_json else _told(done))


def _told(done: dict[str, Any]) -> str:
    if not done["diff"]:
        return f"{done['path']}: nothing to change"
    if not done["written"]:
        return "nothing was changed"
    return f"{done['path']}: written{'; the file before is ' + done['backup'] if done['backup'] else ''}"


def _place(project: bool, settings: str | None) -> Path:
    if settings:
        return Path(settings).expanduser()
    base = Path.cwd() if project else Path.home()
    return base / ".claude" / "settings.json"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text("utf-8") or "{}")
    except (ValueError, OSError) as error:
        raise InvalidInput(f"cannot read {path} ({error}); mend it first, it was not touched") from None
    if not isinstance(found, dict) or not isinstance(found.get("hooks", {}), dict):
        raise InvalidInput(f"{path} is not a settings file of Claude Code; it was not touched")
    return found


def command(event: str, db: str | None) -> str:
    """The command line of a hook."""
    program = shutil.which("worldline")
    words = [program] if program else [sys.executable, "-m", "worldline"]
    words += ["hook", event]
    words += ["--db", str(Path(db).expanduser().resolve())] if db else []
    return shlex.join(words)


def with_hooks(settings: dict[str, Any], db: str | None) -> dict[str, Any]:
    """The settings with our hooks, once each."""
    clean = without_hooks(settings)
    hooks = dict(clean.get("hooks", {}))
    for name, event in HOOKS.items():
        own = {"hooks": [{"type": "command", "command": command(event, db), "timeout": _TIMEOUT}]}
        hooks[name] = [*hooks.get(name, []), own]
    return {**clean, "hooks": hooks}


def without_hooks(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without our hooks, and without what only they filled."""
    hooks: dict[str, Any] = {}
    for name, groups in settings.get("hooks", {}).items():
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


def _shown(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> Path | None:
    """Whole or not at all; the path of the copy of what was there."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = None
    if target.exists():
        kept = target.with_name(f"{target.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.backup")
        shutil.copy2(target, kept)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    if kept is not None:
        shutil.copymode(kept, part)
    os.replace(part, target)
    return kept
