"""A folder of Markdown: each file is a note, named by its first heading, dated by its front matter.

Without a date there, the file's own date of change is when the note began to hold. A file that has
changed since the last import is amended; hidden files and folders are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from worldline.clock import When
from worldline.exchange.records import Bad, Item, Known, told, when
from worldline.model import Metadata

_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.S)
_PAIR = re.compile(r"^([A-Za-z_][\w-]*):\s*(.*?)\s*$", re.M)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.M)
_DATES = ("date", "created", "created_at", "updated")


def files(folder: Path) -> list[Path]:
    """The Markdown files of a folder, or the one file itself."""
    if folder.is_file():
        return [folder]
    found = [p for p in folder.rglob("*") if p.suffix.lower() in (".md", ".markdown") and p.is_file()]
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def read_folder(folder: Path) -> Iterator[Item]:
    """One note a file."""
    for path in files(folder):
        name = path.name if folder.is_file() else path.relative_to(folder).as_posix()
        try:
            yield _note(path, name)
        except (OSError, ValueError) as error:
            yield Bad(name, told(error) if isinstance(error, ValueError) else str(error))


def _note(path: Path, name: str) -> Known:
    text = path.read_text("utf-8")
    front, body = _front(text)
    heading = _HEADING.search(body)
    title = front.get("title") or (heading[1] if heading else "") or path.stem
    began = next((front[key] for key in _DATES if front.get(key)), None)
    changed = path.stat().st_mtime
    metadata: Metadata = {"path": name, **{key: front[key] for key in ("tags",) if front.get(key)}}
    return Known(
        name, f"markdown:{name}", "reference", title, body.strip(), _date(began) or when(changed),
        when(changed), metadata,
    )  # fmt: skip


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
