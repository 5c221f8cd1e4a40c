"""A vault: one Markdown file a note, to be read, edited and imported again.

It decides how a note looks as a file: its id, type and dates in the front matter (and under `seen` the newest
change that the file knows of), its words, and below a mark its edges as typed links. A file of the vault whose
note is over is taken away; files that it did not write are left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from worldline.clock import EARLIEST, LATEST, show
from worldline.errors import Refused
from worldline.exchange.formats.markdown import LINKS
from worldline.model import Edge, Node
from worldline.ports import View
from worldline.rules.ontology import AGENT_EDGES, AGENT_TYPES
from worldline.store import copying

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
