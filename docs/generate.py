"""Writes the pages of docs/reference and the table of test vectors in docs/format.md.

    python docs/generate.py           write them
    python docs/generate.py --check   only say whether they are up to date

The pages come from the program itself: the shell's commands, and the signatures and docstrings of
the public classes. A test runs the check.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from blake3 import blake3

import worldline
from worldline import Config, Memory, Query, hashing
from worldline.reading.families import Family, families
from worldline.store import ledger
from worldline.store.schema import COVERED
from worldline.surfaces import rest
from worldline.surfaces.cli import ALIASES, VERBS, main
from worldline.surfaces.http import STATUS
from worldline.surfaces.mcp_tools import CORE, SETS
from worldline.surfaces.options import Shared
from worldline.surfaces.verbs import Binding, schema_of

DOCS = Path(__file__).parent
_NOTE = "<!-- Written by docs/generate.py; change the program instead. -->"


# The shell ---------------------------------------------------------------------------------------

_CLI_INTRO = """Every verb takes `--json` for programs and `--help` for people. Options may stand anywhere
after the verb. Exit codes: 0 done, 1 refused, not found or damaged, 2 wrong usage, 130 interrupted,
141 the reader of the output went away. Errors are one line on standard error. `NO_COLOR` switches colour off.

TIME is ISO text such as `2026-03-05` or `2026-03-05T14:30+01:00`; without an offset it is UTC. REF is an id
or its first eight or more digits. Text may be `-`: it is read from standard input then.

Shell completion: `eval "$(_WORLDLINE_COMPLETE=bash_source worldline)"` in `~/.bashrc`; for zsh the same with
`zsh_source`; for fish `_WORLDLINE_COMPLETE=fish_source worldline | source`.
"""


def cli_page() -> str:
    """Every verb: usage, help, options."""
    parts = [_NOTE, "", "# The shell", "", _CLI_INTRO]
    context = click.Context(main, info_name="worldline")
    shared: dict[str, str] = {}
    for heading, verbs in VERBS.items():
        parts += [f"## {heading}", ""]
        for name in verbs:
            command = main.get_command(context, name)
            assert command is not None
            also = [alias for alias, of in ALIASES.items() if of == name]
            parts += [f"### worldline {name}" + (f" (also: {', '.join(also)})" if also else ""), ""]
            parts += [*_told(command), *_options(command, shared), ""]
    parts += ["## Options that many verbs share", "", *shared.values()]
    return "\n".join(parts) + "\n"


def _told(command: click.Command) -> Iterator[str]:
    """Usage, then the help with its example as a block."""
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    shown = [
        a.metavar or (a.human_readable_name if a.required else f"[{a.human_readable_name}]")
        for a in arguments
    ]
    yield from ("```text", " ".join(["worldline", command.name or "", *shown, "[OPTIONS]"]), "```", "")
    prose, _, example = inspect.cleandoc(command.help or "").partition("\b\nExample:\n")
    yield from (prose.strip(), "", "```sh", inspect.cleandoc(example), "```", "")


def _options(command: click.Command, shared: dict[str, str]) -> Iterator[str]:
    names = []
    for param in command.params:
        if isinstance(param, click.Option):
            value = "" if param.is_flag else f" {param.metavar or (param.type.name or '').upper()}"
            line = f"- `{', '.join(param.opts)}{value}`: {param.help or ''}".rstrip(": ")
            if isinstance(param, Shared):
                shared.setdefault(param.opts[0], line)
                names.append(f"`{param.opts[0]}`")
            else:
                yield line
    yield from ("", f"Shared: {', '.join(names)}.")


# Python ------------------------------------------------------------------------------------------


def python_page() -> str:
    """Public names, and the methods of Memory and Query."""
    parts = [_NOTE, "", "# Python", "", "`from worldline import …` gives these names:", ""]
    parts += [f"- `{name}`: {_summary(getattr(worldline, name), name)}" for name in worldline.__all__]
    for title, class_ in (("Memory", Memory), ("Query", Query)):
        parts += ["", f"## {title}", ""]
        for name, method in public_methods(class_):
            parts += [f"### {title}.{name}", "", "```text", _signature(name, method), "```", ""]
            parts += [inspect.getdoc(method) or "", ""]
    parts += ["## Settings", "", *_settings()]
    return "\n".join(parts).rstrip() + "\n"


def public_methods(class_: type) -> Iterator[tuple[str, Any]]:
    """The public methods of a class, its own first, in the order of their source."""
    for part in class_.__mro__[:-1]:
        for name, member in vars(part).items():
            if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, classmethod)):
                yield name, getattr(class_, name)


def _summary(item: Any, name: str) -> str:
    if name == "FOREVER":
        return "the open end of an interval."
    return (inspect.getdoc(item) or "").split("\n\n")[0].replace("\n", " ")


def _signature(name: str, method: Any) -> str:
    """One line, or one line per parameter where that is too long."""
    signature = inspect.signature(method)
    parts, keyword_only = [], False
    for param in signature.parameters.values():
        if param.name == "self":
            continue
        if param.kind is param.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        keyword_only = keyword_only or param.kind is param.VAR_POSITIONAL
        parts.append(_parameter(param))
    result = f") -> {signature.return_annotation}"
    one_line = f"{name}({', '.join(parts)}{result}"
    return one_line if len(one_line) <= 96 else f"{name}(\n    " + ",\n    ".join(parts) + f",\n{result}"


def _parameter(param: inspect.Parameter) -> str:
    default = (
        ""
        if param.default is param.empty
        else f" = {getattr(param.default, '__name__', repr(param.default))}"
    )
    star = "*" if param.kind is param.VAR_POSITIONAL else ""
    return f"{star}{param.name}: {param.annotation}{default}"


def _settings() -> Iterator[str]:
    """Each setting with the sentence that follows it in the source."""
    source = inspect.getsource(Config)
    yield "In a TOML file named by `WORLDLINE_CONFIG`, or as `WORLDLINE_` and the name in capitals."
    yield ""
    for name in Config.__struct_fields__:
        told = re.search(rf"^    {name}:.*?\"\"\"(.*?)\"\"\"", source, re.S | re.M)
        default = getattr(Config(), name)
        yield f"- `{name}` = `{default!r}`: {' '.join(told[1].split()) if told else ''}"


# Servers -----------------------------------------------------------------------------------------

_MCP_INTRO = """\
`worldline mcp` serves one agent on standard input and output, `worldline serve` many of them at `/mcp`.
The default set has ten tools; `--tools full` adds the rest. The scope given to `worldline mcp` (`--user
alice`) is used by every call that names none.

Answers come as text and as structured content, and `max_tokens` bounds both together. Ids in answers are
the first twelve digits, which is enough to use them. Times are ISO text; without an offset they are UTC.
What a caller can mend comes back as a tool error that says how. Agents write the agent-facing types
only, and nothing is ever erased.

```sh
claude mcp add memory -- worldline mcp --user alice
```
"""


def mcp_page() -> str:
    """Every tool with its arguments."""
    parts = [_NOTE, "", "# MCP", "", _MCP_INTRO]
    for heading, tools in (("The ten", CORE), ("With --tools full", SETS["full"][len(CORE) :])):
        parts += [f"## {heading}", ""]
        for tool in tools:
            hints = [name for name in ("read_only", "destructive") if getattr(tool, name)]
            told = ", ".join(name.replace("_", "-") for name in [*hints, "idempotent"])
            parts += [f"### {tool.name}", "", tool.description, "", f"Hints: {told}.", ""]
            parts += [*_fields(schema_of(tool.takes)), ""]
            given = schema_of(tool.gives)["properties"]
            parts += [f"Gives: {', '.join(f'`{name}`' for name in given)}.", ""]
    return "\n".join(parts).rstrip() + "\n"


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, value in schema.get("properties", {}).items():
        kind = "one of " + ", ".join(value["enum"]) if "enum" in value else value.get("type", "value")
        need = ", required" if name in schema.get("required", ()) else ""
        default = f" [{value['default']}]" if value.get("default") not in (None, "", {}, [], False) else ""
        yield f"- `{name}` ({kind}{need}): {value.get('description', '')}{default}".rstrip(": ")


_REST_INTRO = """\
`worldline serve` answers under `/v1`; `/openapi.json` describes every field. Bodies and answers are
JSON, a body needs `Content-Type: application/json`; where nothing is required it may be left out.
Times are ISO text (an open end is null, or
`forever` where one is given).

Every route takes these query parameters: BINDING. They bind scope, world and moment before anything is
read; a write with a moment is refused.

Errors are `application/problem+json` with `type`, `title`, `status` and `detail`: STATUS. Also 401
without a valid token, 403 for requests of other web pages, 413 for a body over 20 MiB, 415 for a body
that is not JSON.

With `--tokens FILE` (TOML: `tenant = "token"`, or a list; readable by its owner only) or
`WORLDLINE_TOKEN` every request needs `Authorization: Bearer TOKEN`, and the token decides the tenant.
Without tokens only this machine is listened to.

```sh
worldline serve --port 7733
curl -s localhost:7733/v1/recall -H 'content-type: application/json' \\
  -d '{"question": "Which tier is Acme on?"}'
```
"""


def rest_page() -> str:
    """Every route with its parameters."""
    statuses = ", ".join(f"{code} {class_.__name__}" for class_, code in STATUS.items())
    binding = ", ".join(f"`{name}`" for name in Binding.__struct_fields__)
    parts = [_NOTE, "", "# REST", "", _REST_INTRO.replace("BINDING", binding).replace("STATUS", statuses)]
    for route in rest.ROUTES:
        parts += [f"## {route.method} {route.path}", "", route.summary, ""]
        parts += [*_fields(schema_of(route.takes)), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


# Relation families ---------------------------------------------------------------------------------

_FAMILIES_INTRO = """\
What people say in many ways is kept in one slot for each relation: "moved to Lisbon", "is based in Lisbon" and
"has a flat in Lisbon" all speak of where somebody lives. A family says how a fact of it reads, from both ends; whether
it holds one value at a time, many, or a series of readings; what kind of thing its object is; and which wordings say
that it holds or begins, and that it ends. `S` is whom it is about, `O` the object, `X` anybody else; a wording with "?"
counts only where the object is a name or called by a noun of the family ("started metformin", not "a blog"). The
whole table, with all wordings, is `src/worldline/lexicon/families.toml`.

Facts that are given (`remember(facts=…)`, `memory_write`, REST) are matched onto the same families by name, reading,
noun or wording, so that they meet what is read. A relation that no family knows stays as it is written.
"""
_SHOWN = 4


def families_page() -> str:
    """Every family on a line."""
    every = list(families().all.values())
    parts = [_NOTE, "", "# Relation families", "", _FAMILIES_INTRO, f"{len(every)} families.", ""]
    parts += ["| name | reads; from the other end | holds | object | nouns | holds or begins | ends |"]
    parts += ["|---|---|---|---|---|---|---|", *map(_family, every)]
    return "\n".join(parts) + "\n"


def _family(family: Family) -> str:
    reads = f"{family.reads}; {family.inverse}" if family.inverse else family.reads
    holds = family.holds if family.changes else f"{family.holds}, never changes"
    begins = [*family.states[:2], *family.begins[:2]] or [f"S be {word}" for word in family.words[:3]]
    columns = (
        f"`{family.name}`",
        reads,
        holds,
        family.object,
        _some(family.nouns),
        _some(begins),
        _some(family.ends),
    )
    return f"| {' | '.join(column.replace('|', '/') for column in columns)} |"


def _some(all_: Sequence[str]) -> str:
    return ", ".join(all_[:_SHOWN]) + (", …" if len(all_) > _SHOWN else "")


# Bytes -------------------------------------------------------------------------------------------


def vectors() -> list[tuple[str, str, str]]:
    """(what, input, result in hex) of every preimage; a second implementation can compare."""
    h = hashing
    tea, cup = h.node_id("learning", "tea", "green"), h.node_id("learning", "cup", "blue", -1, bytes(32))
    event = h.event_id("Ana", None, 1_772_668_800_000_000, "We moved.", None)
    in_session = h.event_id("", tea, 0, "a", "x1")
    likes, age = h.fact_id(tea, "likes", cup, None, None), h.fact_id(tea, "age", None, "42", None)
    digest = h.digest_update(h.EMPTY_DIGEST, [tea, cup])
    row = ledger.row_bytes((7, 3, b"\x00\xff", None, "x", 0.5))
    entries = ledger.Entries()
    entries.closed("edges", [7], 1_772_668_800_000_000)
    body, content = entries.seal()
    return [
        ("node", '"learning", "tea", "green", no date, root', tea.hex()),
        ("node", '"learning", "cup", "blue", date −1, world 32 zero bytes', cup.hex()),
        ("node", '"user", "名前", "🥇"', h.node_id("user", "名前", "🥇").hex()),
        ("event", '"Ana", no session, 1772668800000000, "We moved.", no external id', event.hex()),
        ("event", '"", session = first node, 0, "a", external id "x1"', in_session.hex()),
        ("fact", 'first node, "likes", second node, no literal, root', likes.hex()),
        ("fact", 'first node, "age", no object, literal `42`, root', age.hex()),
        ("edge", "first node, relates_to, second node", h.edge_id(tea, "relates_to", cup).hex()),
        ("proposal", "first and second node", h.record_id("proposal", tea.hex(), cup.hex()).hex()),
        ("digest, blake3 of", "both nodes as members", blake3(digest).hexdigest()),
        ("world", "leaf, head = first node", h.world_hash(tea).hex()),
        ("world", "head = first node, members = both nodes", h.world_hash(tea, digest).hex()),
        ("covered row", "(7, 3, bytes 00 ff, null, x, 0.5)", row.decode()),
        ("log body", "edges row 7 closed at 1772668800000000", body.hex()),
        ("log", 'genesis, "default", 1772668800000000, "retire", that body',
         h.chain(h.GENESIS, "default", 1_772_668_800_000_000, "retire", body, content).hex()),
    ]  # fmt: skip


def coverage() -> list[tuple[str, str, str]]:
    """(number in the log, table, covered columns in order)."""
    return [(str(at), table, ", ".join(COVERED[table])) for at, table in enumerate(ledger.TABLES)]


def format_page(text: str) -> str:
    """docs/format.md with fresh tables between its marks."""
    text = _between(text, "coverage", ("number", "table", "covered columns, in this order"), coverage())
    return _between(text, "vectors", ("what", "input", "result"), vectors())


def _between(text: str, name: str, head: tuple[str, ...], rows: list[tuple[str, str, str]]) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    lines = [head, ("---",) * 3, *[(a, b, f"`{c}`") for a, b, c in rows]]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


# Writing -----------------------------------------------------------------------------------------


def pages() -> dict[Path, str]:
    """Every generated page as it should be."""
    layout = DOCS / "format.md"
    return {
        DOCS / "reference" / "cli.md": cli_page(),
        DOCS / "reference" / "mcp.md": mcp_page(),
        DOCS / "reference" / "rest.md": rest_page(),
        DOCS / "reference" / "python.md": python_page(),
        DOCS / "reference" / "families.md": families_page(),
        layout: format_page(layout.read_text("utf-8")),
    }


def stale() -> list[str]:
    """The pages that are not as they should be."""
    return [
        path.relative_to(DOCS).as_posix()
        for path, text in pages().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]


if __name__ == "__main__":
    old = stale()
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(old)}; run docs/generate.py" if old else 0)
    for page, text in pages().items():
        page.write_text(text, "utf-8")
    print(f"wrote {', '.join(old) or 'nothing new'}")
