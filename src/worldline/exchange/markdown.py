"""A folder of Markdown: each file is a note, named by its first heading, dated by its front matter.

Without a date there, the file's own date of change is when the note began to hold. A file that has
changed since the last import is amended; hidden files and folders are left alone. `[[links]]` join notes.
A folder that was written from here (a vault) comes back to the very notes it shows: the front matter has
their ids, and the links below a mark tell the edges by their types; a link that was taken out of a file is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from worldline.clock import When
from worldline.exchange.records import Bad, Item, JoinedItem, KnownItem, LeftOut, Linked, told, when
from worldline.model import Metadata
from worldline.rules.handlers import AGENT_EDGES, AGENT_TYPES, EDGE_TYPES

_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.S)
_PAIR = re.compile(r"^([A-Za-z_][\w-]*):\s*(.*?)\s*$", re.M)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.M)
_ID = re.compile(r"[0-9a-f]{64}")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_TYPED = re.compile(rf"^- ({'|'.join(sorted(EDGE_TYPES))}) \[\[([^\[\]\n]{{1,200}})\]\].*$", re.M)
LINKS = "<!-- links -->"
"""Below this mark a vault tells the edges of a note by their types."""
_DATES = ("date", "created", "created_at", "updated")


def files(folder: Path) -> list[Path]:
    """The Markdown files of a folder, or the one file itself."""
    if folder.is_file():
        return [folder]
    found = [p for p in folder.rglob("*") if p.suffix.lower() in (".md", ".markdown") and p.is_file()]
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def read_folder(folder: Path) -> Iterator[Item]:
    """One note a file, then the links between them."""
    read: dict[str, tuple[KnownItem, str]] = {}
    for path in files(folder):
        name = path.name if folder.is_file() else path.relative_to(folder).as_posix()
        try:
            text = path.read_text("utf-8")
            note = _note(path, name, text)
        except (OSError, ValueError) as error:
            yield Bad(name, told(error) if isinstance(error, ValueError) else str(error))
            continue
        read[name] = (note, text)
        yield note
    called = {key: _known_as(note) for name, (note, _) in read.items() for key in _keys(name, note)}
    for name, (note, text) in read.items():
        yield from _links(name, note, text, called)


def _known_as(note: KnownItem) -> str:
    return note.id or note.source_id


def _keys(name: str, note: KnownItem) -> tuple[str, ...]:
    """What a link may call a note: its title, its file, its path."""
    path = Path(name)
    return tuple(key.casefold() for key in (note.name, path.stem, name, name.removesuffix(path.suffix)))


def _links(name: str, note: KnownItem, text: str, called: dict[str, str]) -> Iterator[Item]:
    """The edges that a file tells of: by type below the mark, and as `relates_to` in its words."""
    front, rest = _front(text)
    body, below = _words(rest), rest.partition(LINKS)[2]
    typed = [(kind, target) for kind, target in _TYPED.findall(below) if kind in AGENT_EDGES]
    plain = [("relates_to", target) for target in _LINK.findall(body)]
    all_told = set()
    for kind, target in dict.fromkeys([*typed, *plain]):
        wanted = called.get(target.partition("|")[0].partition("#")[0].strip().casefold())
        if wanted is None:
            yield LeftOut("links to notes that are not there")
        elif wanted != _known_as(note):
            all_told.add((kind, wanted))
            yield JoinedItem(f"{name}, [[{target}]]", _known_as(note), kind, wanted)
    if note.id and (seen := _date(front.get("seen"))):
        yield Linked(name, note.id, frozenset(all_told), frozenset(called.values()), seen)


def _note(path: Path, name: str, text: str) -> KnownItem:
    front, body = _front(text)
    body = _words(body)
    heading = _HEADING.search(body)
    title = front.get("title") or (heading[1] if heading else "") or path.stem
    began = next((front[key] for key in _DATES if front.get(key)), None)
    changed = path.stat().st_mtime
    metadata: Metadata = {"path": name, **{key: front[key] for key in ("tags",) if front.get(key)}}
    kind = front.get("type", "")
    return KnownItem(
        name, f"markdown:{name}", kind if kind in AGENT_TYPES else "reference", title, body.strip(),
        _date(began) or when(changed), when(changed), metadata,
        id=front.get("id", "") if _ID.fullmatch(front.get("id", "")) else "",
    )  # fmt: skip


def _words(rest: str) -> str:
    """What a file says: all but its list of typed links, and also what was written below that list."""
    body, _, below = rest.partition(LINKS)
    written = _TYPED.sub("", below).strip()
    return f"{body.rstrip()}\n\n{written}" if written else body


def _front(text: str) -> tuple[dict[str, str], str]:
    """The `key: value` lines at the top, and the rest."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    pairs = {key.lower(): value.strip("\"'") for key, value in _PAIR.findall(found[1])}
    return pairs, text[found.end() :]


def _date(text: str | None) -> When | None:
    """A date of the front matter; one that cannot be read is as good as none."""
    try:
        return when(text)
    except ValueError:
        return None
