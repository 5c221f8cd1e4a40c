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
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import orjson

from worldline import __version__
from worldline.clock import EARLIEST, FOREVER, LATEST, Instant, Interval, show
from worldline.errors import InvalidInput, Refused
from worldline.exchange.formats import LINKS, shortened
from worldline.handle import Handle
from worldline.hashing import record_id
from worldline.model import Edge, Node
from worldline.ports import View
from worldline.rules.handlers import AGENT_EDGES, AGENT_TYPES
from worldline.store import copying, reindexing
from worldline.store.events import talks
from worldline.store.migrate import make_private
from worldline.store.registry import hash_of
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
    target = Path(path).expanduser()
    if format == "markdown" and (target.is_dir() or not target.suffix):
        return handle.read(lambda view: write(view, target))
    if not handle.store.in_memory and target.resolve() == Path(handle.store.path).resolve():
        raise Refused(f"{target} is the store itself; export it into another file")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        make_private(str(part))
        with part.open("w", encoding="utf-8", newline="\n") as file:
            count = handle.read(lambda view: _written(_pieces(handle, view, format), file.write))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return count


def _written(pieces: Iterator[tuple[str, int]], write: Callable[[str], int]) -> int:
    total = 0
    for text, counts in pieces:
        write(text)
        total += counts
    return total


def _pieces(handle: Handle, view: View, format: str) -> Iterator[tuple[str, int]]:
    """What is written; a whole memory is told row by row, so that a copy of it is exact."""
    if format == "jsonl" and not (view.owned or view.world):
        return _dumped(exact_lines(view, handle.tenant))
    return FORMATS[format](view)


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
    kinds: dict[str, list[Node]] = {}
    for node in copying.shown_notes(view):
        kinds.setdefault(node.type, []).append(node)
    for kind, nodes in kinds.items():
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
    root = copying.root_of(view)
    yield _full(
        "worldline", format=TOLD_FORMAT, version=__version__,
        root=hash_of(view, root).hex() if root is not None else None, marked=True,
    )  # fmt: skip
    kept = _kept(view)
    for number, scopes in copying.scope_parts(view).items():
        yield _full("scope", number=number, scopes=scopes)
    for make in (
        _ontology,
        _nodes,
        _events,
        _facts,
        _aliases,
        _labels,
        _side,
        _beliefs,
        _edges,
        _merges,
        _marks,
    ):
        yield from make(view, kept)


def _kept(view: View) -> set[int]:
    """The versions that may be told: those with a belief in this scope and world, and what they speak of."""
    kept = copying.believed_ever(view)
    while more := copying.spoken_of(view, kept) - kept:
        kept |= more
    return kept


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _span(interval: Interval) -> list[Instant | None]:
    return [interval.start, None if interval.end == FOREVER else interval.end]


def _json(stored: str | None) -> Any:
    return orjson.loads(stored) if stored else None


def _full(kind: str, **fields: Any) -> dict[str, Any]:
    """A line without the fields that say nothing."""
    return {"kind": kind, **{name: value for name, value in fields.items() if value is not None}}


def _ontology(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.types(view):
        if not row.world or row.world in kept:
            yield _full(
                "type",
                of=row.kind,
                name=row.name,
                version=row.version,
                spec=row.spec,
                world=_hex(row.world_id),
            )


def _nodes(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.nodes(view):
        if row.key in kept:
            yield _full(
                "node", id=_hex(row.id), lineage=_hex(row.lineage), type=row.type, name=row.name,
                content=row.content, dated=row.dated, world=_hex(row.world_id), metadata=_json(row.metadata),
                scope=row.scope or None, made=row.made,
            )  # fmt: skip


def _events(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.events(view):
        if row.node in kept:
            event = dict(row.values)
            event["reading"] = b64encode(event["reading"]).decode() if event["reading"] else None
            dated = row.key == event_key(event, row.scope, row.world, row.text, undated=False)
            left = _left(view, row.draft) if row.draft else None
            yield _full("event", id=_hex(row.id), undated=None if dated else True, draft=left, **event)


def _left(view: View, draft: str) -> list[dict[str, Any]]:
    """What is still to be done with an event; the world it was told in goes by its id."""
    left: list[dict[str, Any]] = orjson.loads(draft)
    return [{**item, "world": copying.id_of(view, item["world"])} for item in left]


def event_key(event: dict[str, Any], scope: int, world: int, text: str, *, undated: bool) -> bytes:
    """The key by which the same event, sent again, is recognised in a store with these row numbers."""
    if event.get("external_id") is not None:
        return record_id("external", str(scope), event["external_id"])
    when = "" if undated else str(event["said_at"])
    return record_id("event", str(scope), str(world), event["sender"], when, text)


def _facts(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.facts(view):
        if row.node in kept:
            yield _full(
                "fact", id=_hex(row.id), subject=_hex(row.subject), object=_hex(row.object), values=row.values
            )


def _aliases(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.aliases(view):
        if row.line in kept:
            yield _full("alias", of=_hex(row.of), key=row.key, name=row.name, scope=row.scope or None)


def _labels(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    """What other scopes have noted beside the same words."""
    for row in copying.notes(view):
        if row.node in kept:
            yield _full("metadata", of=_hex(row.of), scope=row.scope or None, metadata=_json(row.metadata))


def _side(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.sides(view):
        if row.of_key in kept:
            yield _full(row.table, of=_hex(row.of), values=row.values)


def _origins(view: View, table: str) -> dict[int, list[Any]]:
    """Where the rows of a table come from, if another store held them first: store, valid, known."""
    return {
        row: [[one.store.hex(), _span(one.valid), _span(one.known)] for one in each]
        for row, each in copying.origins(view, table).items()
    }


def _beliefs(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    origins = _origins(view, "beliefs")
    for row in copying.beliefs(view):
        if row.node in kept:
            yield _full(
                "belief", row=row.row, of=_hex(row.of), valid=_span(row.valid), known=_span(row.known),
                scope=row.scope or None, status=row.status, confidence=row.confidence,
                precision=row.precision, reason=row.reason, origin=origins.get(row.row),
            )  # fmt: skip


def _edges(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    origins = _origins(view, "edges")
    for row in copying.edges(view):
        if row.src in kept and row.dst in kept:
            yield _full(
                "edge", row=row.row, id=_hex(row.id), src=_hex(row.src_id), type=row.type,
                dst=_hex(row.dst_id), world=_hex(row.world_id if row.world in kept else None),
                valid=_span(row.valid), known=_span(row.known), scope=row.scope or None,
                metadata=_json(row.metadata), origin=origins.get(row.row), made=row.made,
            )  # fmt: skip


def _merges(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    for row in copying.merges(view):
        if row.a in kept and row.b in kept:
            yield _full(
                "merge", row=row.row, id=_hex(row.id), a=_hex(row.a_id), b=_hex(row.b_id), status=row.status,
                tier=row.tier, score=row.score, reason=row.reason, scope=row.scope or None,
                known=_span(row.known),
            )  # fmt: skip


def _marks(view: View, kept: set[int]) -> Iterator[dict[str, Any]]:
    """Pins and stages; what is archived is left to the nights of the store that reads this."""
    for row in copying.marks(view):
        if row.line in kept:
            yield _full(
                "mark", row=row.row, of=_hex(row.of), mark=row.kind, value=row.value, reason=row.reason,
                scope=row.scope or None, known=_span(row.known),
            )  # fmt: skip
