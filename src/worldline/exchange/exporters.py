"""Exporting: JSON Lines, Markdown for people (one file, or a vault of many), GraphML.

JSON Lines hold the whole history, one object a line, `kind` first. A whole memory is told row by row, so that a copy
of it is exact; a part of one as every memory, version, belief, edge, fact, merge and scope by its id: 64 hex digits,
times in microseconds, an open end is null, and lines that others refer to come before them. `restore.py` reads both
back. Markdown and GraphML show what is visible from the handle's moment, scope and world. A file appears whole or not
at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import orjson

from worldline import __version__
from worldline.clock import EARLIEST, LATEST, NOW, Instant, show
from worldline.errors import InvalidInput, Refused
from worldline.exchange.formats import LINKS, shortened
from worldline.handle import Handle
from worldline.model import Edge, Node
from worldline.ports import View
from worldline.rules.handlers import AGENT_EDGES, AGENT_TYPES
from worldline.store import copying, nights, reindexing
from worldline.store.events import talks
from worldline.store.migrate import make_private
from worldline.store.registry import hash_of
from worldline.store.view import grouped
from worldline.text import visible

EXACT_FORMAT = 2
"""The form of JSON Lines that tell every row as it is."""
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""
_UNKNOWN = "\ufffd"


def export(handle: Handle, path: str | Path, format: str = "jsonl") -> int:
    """Writes a file; how many memories (lines, for JSON Lines) it holds."""
    if format not in FORMATS:
        raise InvalidInput(f"unknown format {format!r}; the formats are: {', '.join(FORMATS)}")
    if format == "jsonl" and handle.moment != NOW:
        raise Refused(
            "JSON Lines hold the whole history, and not what was known at one moment; "
            "markdown and graphml show that"
        )
    target = Path(path).expanduser()
    if format == "markdown" and (target.is_dir() or not target.suffix):
        return handle.read(lambda view: write(view, target))
    if not handle.store.in_memory and target.resolve() == Path(handle.store.path).resolve():
        raise Refused(f"{target} is the store itself; export it into another file")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        make_private(str(part))
        with part.open("w", encoding="utf-8", newline="\n") as file:
            count = handle.read(lambda view: _written(handle, view, format, file.write))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return count


def _written(handle: Handle, view: View, format: str, write: Callable[[str], int]) -> int:
    pieces = FORMATS[format](view)
    if format == "jsonl" and not (view.owned or view.world):  # a whole memory: so a copy of it is exact
        pieces = _dumped(exact_lines(view, handle.tenant))
    total = 0
    for text, counts in pieces:
        write(text)
        total += counts
    return total


def exact_lines(view: View, name: str) -> Iterator[dict[str, Any]]:
    """The whole memory of a tenant."""
    yield {"kind": "worldline", "format": EXACT_FORMAT, "version": __version__, "tenant": name}
    tenant = reindexing.tenant_of(view)
    if tenant is not None:
        yield {"kind": "tenants", **tenant.values}
        for row in reindexing.rows_of(view):
            yield {"kind": "row", "of": row.table, "values": row.values}


def _dumped(lines: Iterator[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    for line in lines:
        yield orjson.dumps(line).decode() + "\n", 1


# Markdown ------------------------------------------------------------------------------------------

_OPENING = re.compile(r"(?m)^([ \t]*)(#{1,6}(?![^ \t\n])|>|`{3,}|~{3,}|=+[ \t]*$|-+[ \t]*$)")
"""What makes a line more than a line: a heading (also by the line under it), a quotation, a fence."""
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")


def _markdown(view: View) -> Iterator[tuple[str, int]]:
    yield "# Memory\n", 0
    for kind, nodes in grouped((node.type, node) for node in copying.shown_notes(view)).items():
        yield f"\n## {kind}\n", 0
        for node in nodes:
            yield _note(node), 1
    facts = copying.shown_facts(view)
    if facts:
        yield "\n## Facts\n\n", 0
    for node in facts:
        yield f"- {_flat(node.content)} ({_since(node)})\n", 1
    yield from _talks(view)


def _note(node: Node) -> str:
    body = f"\n{_plain(node.content.strip())}\n" if node.content.strip() else ""
    return f"\n### {_flat(node.name)}\n\n*{_since(node)}; {node.id[:12]}*\n{body}"


def _flat(text: str) -> str:
    return _plain(" ".join(text.split()))


def _plain(text: str) -> str:
    """A stored text as Markdown that shows it: no heading, quotation, fence, tag or link of its own."""
    text = _ENTITY.sub("&amp;", visible(text.replace("\r\n", "\n"))).replace("<", "&lt;")
    return _OPENING.sub(r"\1\\\2", text).replace("](", "]\\(")


def _since(node: Node) -> str:
    start, end = node.valid.start, node.valid.end
    began = "always" if start <= EARLIEST else f"since {show(start)}"
    return began if end >= LATEST else f"{began}, until {show(end)}"


def _talks(view: View) -> Iterator[tuple[str, int]]:
    last = None
    for text, sender, said_at, offset, talk in talks(view):
        if talk != last:
            last = talk
            yield f"\n## {_flat(talk) or 'Said'}\n\n", 0
        who = f"**{_flat(sender)}**: " if sender else ""
        indented = _plain(text).replace("\n", "\n  ")
        yield f"- {show(said_at, offset)} {who}{indented}\n", 1


# GraphML -------------------------------------------------------------------------------------------

_NODE_KEYS = ("type", "name", "content", "valid_from", "valid_to")
_EDGE_KEYS = ("type", "predicate", "valid_from", "valid_to")
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
    ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)


def _graphml(view: View) -> Iterator[tuple[str, int]]:
    yield _HEAD, 0
    for kind, names in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name in names:
            yield f'  <key id="{kind[0]}_{name}" for="{kind}" attr.name="{name}" attr.type="string"/>\n', 0
    yield '  <graph id="memory" edgedefault="directed">\n', 0
    seen: dict[int, Node] = {}
    for node in copying.shown(view):
        if node.line not in seen:
            seen[node.line] = node
            yield _graph_node(node), 1
    for edge in view.edges(list(seen), None, "out"):
        if edge.src_line in seen and edge.dst_line in seen:
            ends = seen[edge.src_line].lineage, seen[edge.dst_line].lineage
            yield _graph_edge(edge, *ends), 0
    yield "  </graph>\n</graphml>\n", 0


def _graph_node(node: Node) -> str:
    name = node.name or shortened(node.content)
    values = (node.type, name, node.content, *_bounds(node.valid.start, node.valid.end))
    return f"    <node id={quoteattr(node.lineage)}>{_data('n', _NODE_KEYS, values)}</node>\n"


def _graph_edge(edge: Edge, source: str, target: str) -> str:
    predicate = edge.metadata.get("predicate", "")
    values = (edge.type, str(predicate), *_bounds(edge.valid.start, edge.valid.end))
    data = _data("e", _EDGE_KEYS, values)
    return f"    <edge source={quoteattr(source)} target={quoteattr(target)}>{data}</edge>\n"


def _bounds(start: Instant, end: Instant) -> tuple[str, str]:
    return "" if start <= EARLIEST else show(start), "" if end >= LATEST else show(end)


def _data(prefix: str, names: tuple[str, ...], values: tuple[str, ...]) -> str:
    return "".join(
        f'<data key="{prefix}_{name}">{escape(_FORBIDDEN.sub(_UNKNOWN, value))}</data>'
        for name, value in zip(names, values, strict=True)
        if value
    )


FORMATS: dict[str, Callable[[View], Iterator[tuple[str, int]]]] = {
    "jsonl": lambda view: _dumped(told_lines(view)),
    "markdown": _markdown,
    "graphml": _graphml,
}


# A vault: one Markdown file a note, to be read, edited and imported again -------------------------
#
# It decides how a note looks as a file: its id, type and dates in the front matter (and under `seen` the newest
# change that the file knows of), its words, and below a mark its edges as typed links. A file of the vault whose
# note is over is taken away; files that it did not write are left alone.


_UNSAFE = re.compile(r"[^\w .,()-]+")
_OURS = re.compile(r"\A---\nid: ([0-9a-f]{64})\n")
_LONGEST = 80


def write(view: View, folder: Path) -> int:
    """Writes the notes that are visible here; how many."""
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is a file; name a folder, or a file that ends in .md")
    folder.mkdir(parents=True, exist_ok=True)
    notes = {n.line: n for n in copying.shown_notes(view) if n.type in (*AGENT_TYPES, "Decision")}
    files = _files(notes.values())
    edges = [e for e in view.edges(list(notes), tuple(AGENT_EDGES), "out") if e.dst_line in notes]
    written = set()
    for line, node in notes.items():
        path = folder / files[line]
        _replace(path, _file(node, [e for e in edges if e.src_line == line], files))
        written.add(path.resolve())
    for old in folder.glob("*.md"):
        if old.resolve() not in written and _OURS.match(old.read_text("utf-8", "replace")):
            old.unlink()
    return len(notes)


def _files(notes: Iterable[Node]) -> dict[int, str]:
    """A file's name for each note; the id tells notes of one name apart."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for node in notes:
        stem = _UNSAFE.sub("-", node.name).strip(" .-")[:_LONGEST] or node.lineage[:12]
        if stem.casefold() in taken:
            stem = f"{stem} {node.lineage[:8]}"
        taken.add(stem.casefold())
        names[node.line] = f"{stem}.md"
    return names


def _file(node: Node, edges: Iterable[Edge], files: Mapping[int, str]) -> str:
    edges = list(edges)
    front = {"id": node.lineage, "type": node.type, "title": " ".join(node.name.split())}
    if node.valid.start > EARLIEST:
        front["date"] = show(node.valid.start)
    if node.valid.end < LATEST:
        front["until"] = show(node.valid.end)
    front["seen"] = show(max(node.known.start, *(e.known.start for e in edges), 0))
    head = "\n".join(f"{key}: {value}" for key, value in front.items())
    links = [f"- {e.type} [[{files[e.dst_line].removesuffix('.md')}]]" for e in edges]
    below = "\n".join(["", LINKS, *links, ""]) if links else ""
    return f"---\n{head}\n---\n{node.content.strip()}\n{below}"


def _replace(path: Path, text: str) -> None:
    """Whole or not at all; a file that says the same keeps its date."""
    if path.exists() and path.read_text("utf-8", "replace") == text:
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    os.replace(part, path)


TOLD_FORMAT = 1


def told_lines(view: View) -> Iterator[dict[str, Any]]:
    """Everything that this view's scope and world have ever held."""
    head = {"kind": "worldline", "format": TOLD_FORMAT, "version": __version__, "marked": True}
    root = copying.root_of(view)
    yield head if root is None else {**head, "root": hash_of(view, root).hex()}
    for number, scopes in nights.members(view).items():
        yield {"kind": "scope", "number": number, "scopes": [s.bound() for s in scopes if s.bound()]}
    yield from copying.told(view)
