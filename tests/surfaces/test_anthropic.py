"""Anthropic's memory tool: the documented strings, paths that cannot escape, and history."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from worldline import Config, Memory
from worldline.surfaces import anthropic
from worldline.surfaces.anthropic import CommandError, MemoryTool, checked, tool

HEAD = (
    "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and node_modules:\n"
)


@pytest.fixture
def files() -> Iterator[MemoryTool]:
    """A tool over an empty memory."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        yield MemoryTool(memory)


def do(files: MemoryTool, command: str, path: str = "/memories", **more: Any) -> str:
    """Runs one command."""
    return files.execute({"command": command, "path": path, **more})


def create(files: MemoryTool, path: str, text: str) -> None:
    """Makes a file."""
    assert do(files, "create", path, file_text=text) == f"File created successfully at: {path}"


def test_an_empty_store_is_no_error(files: MemoryTool) -> None:
    """The first view of /memories lists the directory itself."""
    assert do(files, "view") == HEAD.format("/memories") + "0B\t/memories"
    assert do(files, "view", "/memories/") == HEAD.format("/memories") + "0B\t/memories"


def test_create_and_view(files: MemoryTool) -> None:
    """A file is shown with line numbers six wide; a range shows those lines only."""
    create(files, "/memories/notes.txt", "Hello World\nThis is line two\nthree")

    head = "Here's the content of /memories/notes.txt with line numbers:\n"
    assert do(files, "view", "/memories/notes.txt") == (
        head + "     1\tHello World\n     2\tThis is line two\n     3\tthree"
    )
    assert do(files, "view", "/memories/notes.txt", view_range=[2, 2]) == head + "     2\tThis is line two"
    assert do(files, "view", "/memories/notes.txt", view_range=[3, -1]) == head + "     3\tthree"
    assert do(files, "create", "/memories/notes.txt", file_text="x") == (
        "Error: File /memories/notes.txt already exists"
    )
    assert do(files, "view", "/memories/none") == (
        "The path /memories/none does not exist. Please provide a valid path."
    )


def test_listing(files: MemoryTool) -> None:
    """Two levels, folders with what they hold, hidden files and node_modules left out."""
    create(files, "/memories/a.txt", "12345")
    create(files, "/memories/b/c.txt", "x" * 1536)
    create(files, "/memories/b/d/e/f.txt", "y")
    create(files, "/memories/.hidden", "no")
    create(files, "/memories/node_modules/x", "no")

    listed = do(files, "view").removeprefix(HEAD.format("/memories")).split("\n")

    assert listed[1:] == [
        "5B\t/memories/a.txt", "1.5K\t/memories/b/", "1.5K\t/memories/b/c.txt", "1B\t/memories/b/d/",
    ]  # fmt: skip
    assert do(files, "view", "/memories/b/d") == (
        HEAD.format("/memories/b/d") + "1B\t/memories/b/d\n1B\t/memories/b/d/e/\n1B\t/memories/b/d/e/f.txt"
    )


def test_too_many_lines(files: MemoryTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit of lines is refused with the documented words."""
    create(files, "/memories/big", "\n" * 20)
    assert anthropic.MOST_LINES == 999_999
    monkeypatch.setattr(anthropic, "MOST_LINES", 20)

    assert do(files, "view", "/memories/big") == (
        "File /memories/big exceeds maximum line limit of 999,999 lines."
    )


def test_str_replace(files: MemoryTool) -> None:
    """One occurrence is replaced and shown; none or several are refused with the documented words."""
    path = "/memories/p.txt"
    create(files, path, "color: blue\nb\nc\nd\nsize: blue\n")

    assert do(files, "str_replace", path, old_str="color: blue", new_str="color: green") == (
        "The memory file has been edited.\n     1\tcolor: green\n     2\tb\n     3\tc"
    )
    assert do(files, "str_replace", path, old_str="red", new_str="x") == (
        f"No replacement was performed, old_str `red` did not appear verbatim in {path}."
    )
    create(files, "/memories/q.txt", "a a\na")
    assert do(files, "str_replace", "/memories/q.txt", old_str="a", new_str="x") == (
        "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 1, 2."
        " Please ensure it is unique"
    )
    assert do(files, "str_replace", path, old_str="size: blue\n").startswith(
        "The memory file has been edited."
    )
    assert "size" not in do(files, "view", path)
    for missing in ("/memories/none", "/memories"):
        assert do(files, "str_replace", missing, old_str="a", new_str="b") == (
            f"Error: The path {missing} does not exist. Please provide a valid path."
        )


def test_insert(files: MemoryTool) -> None:
    """Text goes after a line, 0 is the beginning, and a line outside the file is refused."""
    path = "/memories/todo.txt"
    create(files, path, "one\ntwo\n")

    assert (
        do(files, "insert", path, insert_line=1, insert_text="- new\n") == f"The file {path} has been edited."
    )
    do(files, "insert", path, insert_line=0, insert_text="# head")
    do(files, "insert", path, insert_line=4, insert_text="last")
    assert do(files, "view", path).split("\n")[1:] == [
        "     1\t# head", "     2\tone", "     3\t- new", "     4\ttwo", "     5\tlast", "     6\t",
    ]  # fmt: skip
    assert do(files, "insert", path, insert_line=9, insert_text="x") == (
        "Error: Invalid `insert_line` parameter: 9. "
        "It should be within the range of lines of the file: [0, 5]"
    )
    assert do(files, "insert", "/memories/none", insert_line=0, insert_text="x") == (
        "Error: The path /memories/none does not exist"
    )


def test_delete(files: MemoryTool) -> None:
    """A file or a whole folder goes; the root stays; the same path can be made again."""
    create(files, "/memories/a/x", "1")
    create(files, "/memories/a/y", "2")
    create(files, "/memories/ab", "3")

    assert do(files, "delete", "/memories/a") == "Successfully deleted /memories/a"
    assert do(files, "delete", "/memories/a") == "Error: The path /memories/a does not exist"
    assert do(files, "delete", "/memories").startswith("Error: Cannot delete")
    assert do(files, "view").endswith("\n1B\t/memories/ab")
    create(files, "/memories/a/x", "1")
    assert do(files, "view", "/memories/a/x").endswith("\n     1\t1")


def test_rename(files: MemoryTool) -> None:
    """A file or a folder moves; a destination that exists is never overwritten."""
    create(files, "/memories/draft.txt", "1")
    create(files, "/memories/d/x", "2")

    def rename(old: str, new: str) -> str:
        return files.execute({"command": "rename", "old_path": old, "new_path": new})

    assert rename("/memories/draft.txt", "/memories/e/final.txt") == (
        "Successfully renamed /memories/draft.txt to /memories/e/final.txt"
    )
    assert rename("/memories/none", "/memories/z") == "Error: The path /memories/none does not exist"
    assert rename("/memories/d", "/memories/e") == "Error: The destination /memories/e already exists"
    assert rename("/memories/d", "/memories/e/d").startswith("Successfully renamed")
    assert rename("/memories/e", "/memories/e/e").startswith("Error: Cannot move")
    assert rename("/memories", "/memories/z").startswith("Error: Cannot rename")
    assert do(files, "view", "/memories/e/d/x").endswith("\n     1\t2")
    assert len(files.history("/memories/e/final.txt")) == 3


@pytest.mark.parametrize("second", ["# TODO\n", "# todo\n"])
def test_a_name_is_free_again_after_a_rename(files: MemoryTool, second: str) -> None:
    """A file of the old name and the old text is another file, made so or edited so, and the renamed one stays."""
    old, kept = "/memories/todo.md", "/memories/may.md"
    create(files, old, "# TODO\n")
    do(files, "rename", old_path=old, new_path=kept)
    do(files, "str_replace", kept, old_str="TODO\n", new_str="TODO\n- pay rent\n")
    create(files, old, second)
    do(files, "str_replace", old, old_str="todo", new_str="TODO")

    assert do(files, "view", old).endswith("1\t# TODO\n     2\t")
    assert "- pay rent" in do(files, "view", kept)


def test_history_stays(files: MemoryTool) -> None:
    """Every edit is an amendment: the past can be read, and a deleted file is only over."""
    create(files, "/memories/a", "tier: silver")
    do(files, "str_replace", "/memories/a", old_str="silver", new_str="gold")
    versions = files.history("/memories/a")
    do(files, "delete", "/memories/a")

    assert [(v.change, v.node.content) for v in versions] == [
        ("put", "tier: silver"), ("amended", "tier: gold"), ("superseded", "tier: silver"),
    ]  # fmt: skip
    past = MemoryTool(files.memory.at(as_of=versions[0].node.known.start))
    assert "tier: silver" in do(past, "view", "/memories/a")
    assert files.history("/memories/a") == ()
    assert files.memory.verify().ok


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "/memories/../etc/passwd", "/memories/..", "/memoriesX/a", "memories/a", "",
        "/memories/%2e%2e/x", "/memories/%252e%252e/x", "/memories/..\\x", "/memories/a\x00b",
        "/memories/a\nb", "../memories",
    ],
)  # fmt: skip
def test_paths_cannot_escape(files: MemoryTool, path: str) -> None:
    """Whatever could lead out of /memories is refused, encoded or not, for every command."""
    for command in ("view", "create", "str_replace", "insert", "delete"):
        more = {"file_text": "x", "old_str": "x", "insert_line": 0, "insert_text": "x"}
        assert do(files, command, path, **more).startswith("Error: Path ")
    with pytest.raises(CommandError):
        files.run({"command": "rename", "old_path": "/memories/a", "new_path": path})
    assert files.memory.stats()["visible"] == {}


def test_odd_names_are_kept(files: MemoryTool) -> None:
    """Spaces, percent signs and other letters in names survive."""
    for path in ("/memories/a  b", "/memories/100%", "/memories/50%25.md", "/memories/名前 .md"):
        create(files, path, path)
        assert do(files, "view", path).endswith(f"\t{path}")
    assert checked("/memories//a/./b/") == "/memories/a/b"


def test_wrong_commands_are_answers(files: MemoryTool) -> None:
    """An unknown command, a missing or a wrong parameter is told to the model."""
    assert do(files, "format") == "Error: Unknown command: format"
    assert do(files, "create", "/memories/a") == "Error: Missing parameter: file_text"
    assert do(files, "create", "/memories/a", file_text=7) == "Error: file_text must be text"
    assert do(files, "create", "/memories/a", file_text="\x00").startswith("Error: the content has a NUL")
    create(files, "/memories/a", "")
    assert (
        do(files, "create", "/memories/a/b", file_text="x") == "Error: /memories/a is a file, not a directory"
    )


def test_with_the_real_package() -> None:
    """The tool runner's own class drives it: typed commands in, text out, ToolError for failures."""
    package = import_module("anthropic.lib.tools")
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        runner = tool(memory)

        assert isinstance(runner, package.BetaAbstractMemoryTool)
        assert runner.to_dict() == {"type": "memory_20250818", "name": "memory"}
        made = runner.call({"command": "create", "path": "/memories/a", "file_text": "tea"})
        assert made == "File created successfully at: /memories/a"
        assert runner.call({"command": "view", "path": "/memories/a"}).endswith("     1\ttea")
        with pytest.raises(package.ToolError, match="already exists"):
            runner.call({"command": "create", "path": "/memories/a", "file_text": "tea"})


def test_as_the_package_own_files(tmp_path: Any, files: MemoryTool) -> None:
    """Where the package's own file tool and the documentation agree, our answers are the same."""
    package = import_module("anthropic.tools")
    theirs = package.BetaLocalFilesystemMemoryTool(str(tmp_path))
    commands = [
        {"command": "create", "path": "/memories/a.txt", "file_text": "one\ntwo\nthree\n"},
        {"command": "view", "path": "/memories/a.txt"},
        {"command": "view", "path": "/memories/a.txt", "view_range": [2, 3]},
        {"command": "insert", "path": "/memories/a.txt", "insert_line": 1, "insert_text": "x\n"},
        {"command": "view", "path": "/memories/a.txt"},
        {"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/b/c.txt"},
        {"command": "delete", "path": "/memories/b"},
    ]

    assert [files.execute(c) for c in commands] == [theirs.call(c) for c in commands]
