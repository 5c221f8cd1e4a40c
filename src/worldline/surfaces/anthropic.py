"""Anthropic's memory tool over a world: files under /memories, each one a note with its history.

`MemoryTool(memory).execute({"command": "view", "path": "/memories"})` answers with the strings of the
tool's documentation. Editing and renaming amend a note, deleting retires it: nothing is lost.
`tool(memory)` gives the same to the tool runner of the `anthropic` package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from worldline.errors import WorldlineError
from worldline.memory import Memory
from worldline.model import Node, Version, clean_name
from worldline.surfaces.verbs import every

ROOT = "/memories"
MOST_LINES = 999_999
DEFINITION = {"type": "memory_20250818", "name": "memory"}
"""What goes into `tools` of a request."""
_COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")
_WORLD = {"memory_tool": "root"}
_FILE = {"memory_tool": "file"}
_MISSING = "The path {} does not exist. Please provide a valid path."


Command = Mapping[str, Any]
Files = dict[str, Node]


class CommandError(Exception):
    """A command that could not be carried out; its text is the answer for the model."""


class MemoryTool:
    """The six commands over one memory; give it a scoped handle to keep users apart."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def execute(self, command: Command) -> str:
        """The answer to a command, also where it failed."""
        try:
            return self.run(command)
        except CommandError as error:
            return str(error)

    def run(self, command: Command) -> str:
        """The answer to a command; `CommandError` where the tool result should say `is_error`."""
        name = str(command.get("command"))
        if name not in _COMMANDS:
            raise CommandError(f"Error: Unknown command: {command.get('command')}")
        try:
            path = checked(command["old_path" if name == "rename" else "path"])
            answer: str = getattr(self, f"_{name}")(path, self._files(), command)
            return answer
        except KeyError as error:
            raise CommandError(f"Error: Missing parameter: {error.args[0]}") from None
        except WorldlineError as error:
            raise CommandError(f"Error: {error}") from None

    def history(self, path: str) -> tuple[Version, ...]:
        """Every version of the file that lies at a path now."""
        node = self._files().get(checked(path))
        return () if node is None else self.memory.history(node)

    # Commands ----------------------------------------------------------------------------------

    def _view(self, path: str, files: Files, command: Command) -> str:
        if path in files:
            lines, wanted = files[path].content.split("\n"), command.get("view_range")
            if len(lines) > MOST_LINES:
                raise CommandError(f"File {path} exceeds maximum line limit of 999,999 lines.")
            first, last = wanted if isinstance(wanted, list | tuple) and len(wanted) == 2 else (1, -1)
            told = _lines(lines, int(first), len(lines) if last == -1 else int(last))
            return f"Here's the content of {path} with line numbers:\n{told}"
        below = {name: node for name, node in files.items() if name.startswith(path + "/")}
        if not below and path != ROOT:
            raise CommandError(_MISSING.format(path))
        return _listing(path, {name: len(node.content.encode()) for name, node in below.items()})

    def _create(self, path: str, files: Files, command: Command) -> str:
        text = _text(command, "file_text")
        if _under(path, files) or path == ROOT:
            raise CommandError(f"Error: File {path} already exists")
        for above in _above(path):
            if above in files:
                raise CommandError(f"Error: {above} is a file, not a directory")
        now = self.memory.handle.now()  # a former file of this name and text is another memory
        self._inside().note("context", _stored(path), text, dated=now, metadata=_FILE)
        return f"File created successfully at: {path}"

    def _str_replace(self, path: str, files: Files, command: Command) -> str:
        old = _text(command, "old_str")
        if path not in files:
            raise CommandError("Error: " + _MISSING.format(path))
        text = files[path].content
        places = [found.start() for found in re.finditer(f"(?={re.escape(old)})", text)] if old else []
        if not places:
            raise CommandError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places)
            raise CommandError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}."
                " Please ensure it is unique"
            )
        changed = text.replace(old, str(command.get("new_str") or ""), 1)
        self._amend(files[path], content=changed)
        at = text.count("\n", 0, places[0])
        return "The memory file has been edited.\n" + _lines(changed.split("\n"), at - 1, at + 3)

    def _insert(self, path: str, files: Files, command: Command) -> str:
        text = _text(command, "insert_text")
        if path not in files:
            raise CommandError(f"Error: The path {path} does not exist")
        lines = files[path].content.split("\n")
        if lines[-1] == "":
            lines.pop()
        at = command["insert_line"]
        if not isinstance(at, int) or not 0 <= at <= len(lines):
            raise CommandError(
                f"Error: Invalid `insert_line` parameter: {at}. "
                f"It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        lines.insert(at, text.removesuffix("\n"))
        self._amend(files[path], content="\n".join(lines) + "\n")
        return f"The file {path} has been edited."

    def _delete(self, path: str, files: Files, command: Command) -> str:
        if path == ROOT:
            raise CommandError(f"Error: Cannot delete the {ROOT} directory itself")
        found = _under(path, files)
        if not found:
            raise CommandError(f"Error: The path {path} does not exist")
        for node in found.values():
            self.memory.retire(node, reason=f"deleted: {path}")
        return f"Successfully deleted {path}"

    def _rename(self, old: str, files: Files, command: Command) -> str:
        new = checked(command["new_path"])
        if ROOT in (old, new):
            raise CommandError(f"Error: Cannot rename the {ROOT} directory itself")
        found = _under(old, files)
        if not found:
            raise CommandError(f"Error: The path {old} does not exist")
        if _under(new, files):
            raise CommandError(f"Error: The destination {new} already exists")
        if new.startswith(old + "/") or any(above in files for above in _above(new)):
            raise CommandError(f"Error: Cannot move {old} to {new}")
        for path, node in found.items():
            self._amend(node, name=_stored(new + path.removeprefix(old)))
        return f"Successfully renamed {old} to {new}"

    # Notes -------------------------------------------------------------------------------------

    def _inside(self) -> Memory:
        """The world of /memories, made at the first write."""
        return self.memory.enter(self.memory.note("context", ROOT, valid_from=0, metadata=_WORLD))

    def _files(self) -> Files:
        """The files that are there now, by their path."""
        roots = self.memory.list("context", metadata=_WORLD, limit=1).items
        if not roots:
            return {}
        found = every(self.memory.enter(roots[0]), "context", metadata=_FILE)
        return {unquote(node.name): node for node in found}

    def _amend(self, node: Node, content: str | None = None, name: str | None = None) -> None:
        self._inside().amend(node, content, name=name, reason="edited with the memory tool")


# Paths ---------------------------------------------------------------------------------------------


def checked(path: Any) -> str:
    """A path inside /memories in its plain form; anything that could lead out of it is refused."""
    if not isinstance(path, str) or not (path + "/").startswith(ROOT + "/"):
        raise CommandError(f"Error: Path must start with {ROOT}, got: {path}")
    plain = unquote(unquote(path)).replace("\\", "/")
    if ".." in plain.split("/") or any(ord(char) < 32 for char in plain):
        raise CommandError(f"Error: Path {path} would escape {ROOT} directory")
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


def _stored(path: str) -> str:
    """The note's name for a path: itself, or an escaped form where a name could not hold it."""
    escaped = path.replace("%", "%25")
    return escaped if clean_name(escaped) == escaped else quote(path, safe="/")


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(3, len(parts))]


def _under(path: str, files: Files) -> Files:
    """The file at a path, or what lies below it."""
    return {name: node for name, node in files.items() if (name + "/").startswith(path + "/")}


# Answers -------------------------------------------------------------------------------------------


def _text(command: Command, name: str) -> str:
    value = command[name]
    if not isinstance(value, str):
        raise CommandError(f"Error: {name} must be text")
    return value


def _lines(lines: Sequence[str], first: int, last: int) -> str:
    """The lines from one number to another, as far as there are any, each with its number."""
    numbers = range(max(1, first), min(len(lines), last) + 1)
    return "\n".join(f"{number:>6}\t{lines[number - 1]}" for number in numbers)


def _listing(path: str, sizes: Mapping[str, int]) -> str:
    """Two levels, folders with the sum of what lies in them; hidden items and node_modules left out."""
    shown: dict[str, int] = {}
    for name, size in sizes.items():
        parts = name.removeprefix(path + "/").split("/")
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        for depth in range(1, min(2, len(parts)) + 1):
            entry = "/".join([path, *parts[:depth]]) + ("/" if depth < len(parts) else "")
            shown[entry] = shown.get(entry, 0) + size
    total = sum(sizes.values())
    head = f"Here're the files and directories up to 2 levels deep in {path}, "
    lines = [f"{_human(total)}\t{path}", *(f"{_human(shown[name])}\t{name}" for name in sorted(shown))]
    return head + "excluding hidden items and node_modules:\n" + "\n".join(lines)


def _human(size: int) -> str:
    for unit in ("B", "K", "M"):
        if size < 1024:
            return f"{size}{unit}" if isinstance(size, int) else f"{size:.1f}{unit}"
        size = size / 1024  # type: ignore[assignment]
    return f"{size:.1f}G"


def tool(memory: Memory) -> Any:
    """The tool for `client.beta.messages.tool_runner(tools=[…])`; needs the `anthropic` package."""
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

    files = MemoryTool(memory)

    class WorldlineMemoryTool(BetaAbstractMemoryTool):
        """Anthropic's interface; every command goes to the memory."""

        def execute(self, command: Any) -> str:
            try:
                return files.run(command.to_dict() if hasattr(command, "to_dict") else dict(command))
            except CommandError as error:
                raise ToolError(str(error)) from None

        view = create = str_replace = insert = delete = rename = execute

    return WorldlineMemoryTool()
