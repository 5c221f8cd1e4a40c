"""A file, a folder or a ZIP archive as a stream of records, each with its position.

JSON Lines give a record a line; a JSON document gives the elements of its list. A line that is not
JSON becomes a `Bad`; a document that is not JSON is an error, because it has no records.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from worldline.errors import InvalidInput, NotFound
from worldline.exchange.records import Bad, Record

LARGEST = 1024**3
"""So many bytes of one file are read from an archive."""
SMALL = 16 * 1024**2
RATIO = 100
"""JSON is packed to a tenth or so; what is packed to less than a hundredth is a trap, if it is large."""
_LISTS = ("conversations", "results", "memories", "messages", "data")
"""The names under which programs wrap their list of records."""
_WANTED = ("conversations", "memories", "memory")
"""How the JSON files of an archive are called that hold records."""


def documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of each JSON document of a file, a folder or an archive."""
    if not path.exists():
        raise NotFound(f"there is no file or folder {path}")
    if path.is_dir():
        for child in sorted(path.rglob("*.json*")):
            if _wanted(child.name):
                yield child.relative_to(path).as_posix(), child.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if _wanted(Path(name).name):
                    yield name, _unpacked(archive, name)
    else:
        yield path.name, path.read_bytes()


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member of an archive, unless it grows beyond any conversation; what it claims is not believed."""
    entry = archive.getinfo(name)
    most = min(LARGEST, max(SMALL, entry.compress_size * RATIO))
    try:
        with archive.open(entry) as packed:
            data = packed.read(most + 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error) as error:
        raise InvalidInput(f"{name} cannot be unpacked ({error})") from None
    if len(data) > most:
        raise InvalidInput(
            f"{name} unpacks to more than {most:,} bytes, {RATIO} times its size: it is not read"
        )
    return data


def _wanted(name: str) -> bool:
    return name.startswith(_WANTED) and name.endswith((".json", ".jsonl"))


def records(path: Path) -> Iterator[Record | Bad]:
    """Every record, in order."""
    for name, data in documents(path):
        yield from _lines(name, data) if _is_lines(name, data) else _elements(name, data)


def _is_lines(name: str, data: bytes) -> bool:
    """JSON Lines, by the name or because the first line is a whole object and not the only one."""
    if name.endswith((".jsonl", ".ndjson")):
        return True
    first, _, rest = data.lstrip().partition(b"\n")
    return bool(rest.strip()) and first.startswith(b"{") and isinstance(_parsed(first), dict)


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _lines(name: str, data: bytes) -> Iterator[Record | Bad]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            position = f"{name}, line {number}"
            try:
                yield Record(position, orjson.loads(line))
            except orjson.JSONDecodeError as error:
                yield Bad(position, f"it is not JSON ({error})")


def _elements(name: str, data: bytes) -> Iterator[Record]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{name} is not JSON ({error})") from None
    if isinstance(value, dict):
        lists = [value[key] for key in _LISTS if isinstance(value.get(key), list)]
        beside = value["relations"] if isinstance(value.get("relations"), list) else []
        value = [*lists[0], *beside] if lists and "chat_messages" not in value else [value]
    elements = value if isinstance(value, list) else [value]
    for number, element in enumerate(elements, 1):
        yield Record(f"{name}, record {number}", element)
