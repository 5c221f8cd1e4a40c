"""Importing, straight through: find the format, read its records, store what is new, tell the rest.

    path → format → records → items → changesets → Imported

Original dates become valid time. External ids make a second import change nothing. A record that
cannot be read or stored is told with its position, and everything else goes on.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

import orjson
from msgspec.structs import replace

from worldline.clock import When, instant
from worldline.errors import Conflict, InvalidInput, NotFound, Refused
from worldline.exchange import formats, restore
from worldline.exchange.absorb import put_back
from worldline.exchange.formats import (
    FORMATS,
    Bad,
    Imported,
    Item,
    JoinedItem,
    KnownItem,
    LeftOut,
    Linked,
    Record,
    SaidItem,
    StatedItem,
    format_of,
)
from worldline.handle import Done, Handle
from worldline.model import EdgeDraft, Event, NodeDraft, Place, Scope, clean_interval, clean_scope
from worldline.rules.handlers import AGENT_EDGES
from worldline.store import copying
from worldline.store.events import known_before
from worldline.store.tx import Tx
from worldline.write import change, given
from worldline.write import remember as remembering
from worldline.write.gate import require_plain, screened

Progress: TypeAlias = Callable[[str, int], None]

NAMES = ("auto", "worldline", *FORMATS, "markdown")
SOURCE = "source_id"
"""The metadata under which an imported note is found again."""
BATCH = 200
_ID = re.compile(r"[0-9a-f]{64}")
_UNSTORABLE = (InvalidInput, Refused, Conflict, NotFound)


def import_(
    handle: Handle,
    path: str | Path,
    format: str = "auto",
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Reads a file, a folder or an archive of another memory into this one."""
    place = Path(path).expanduser()
    if format not in NAMES:
        raise InvalidInput(f"unknown format {format!r}; the formats are: {', '.join(NAMES)}")
    if not place.exists():
        raise NotFound(f"there is no file or folder {place}")
    chosen = detect(place) if format == "auto" else format
    if chosen == "worldline":
        return put_back(handle, records(place), dry_run=dry_run, progress=progress)
    items = formats.read_folder(place) if chosen == "markdown" else FORMATS[chosen].read(records(place))
    return _store(handle, items, Imported(chosen, dry_run=dry_run), progress)


def detect(path: Path) -> str:
    """The format of a file, by its first records; an error says which there are."""
    if path.suffix.lower() in (".md", ".markdown"):
        return "markdown"
    for record in islice(records(path), 20):
        value = record.value if isinstance(record, Record) else None
        if restore.fits(value):
            return "worldline"
        if found := format_of(value):
            return found
    if path.is_dir() and formats.files(path):
        return "markdown"
    raise InvalidInput(f"cannot tell the format of {path}; name one of: {', '.join(NAMES[1:])}")


# Storing -------------------------------------------------------------------------------------------


def _store(handle: Handle, items: Iterator[Item], report: Imported, progress: Progress | None) -> Imported:
    done = 0
    for item in _batched(items):
        if isinstance(item, Bad):
            report = replace(report, skipped=(*report.skipped, item))
        elif isinstance(item, LeftOut):
            so_far = report.left_out.get(item.what, 0)
            report = replace(report, left_out={**report.left_out, item.what: so_far + item.count})
        else:
            report = _keep(handle, item, report)
        done += len(item.events) if isinstance(item, SaidItem) else 1
        if progress is not None:
            progress("import", done)
    return report


def _batched(items: Iterator[Item]) -> Iterator[Item]:
    """Things said, gathered so that one changeset holds many and none holds too many."""
    events: list[Event] = []
    positions: list[str] = []
    for item in chain(items, (None,)):
        if isinstance(item, SaidItem):
            events += item.events
            positions += item.positions
        full = len(events) >= BATCH or not isinstance(item, SaidItem)
        while full and events:
            yield SaidItem(tuple(events[:BATCH]), tuple(positions[:BATCH]))
            events, positions = events[BATCH:], positions[BATCH:]
        if item is not None and not isinstance(item, SaidItem):
            yield item


def _keep(
    handle: Handle, item: SaidItem | KnownItem | StatedItem | JoinedItem | Linked, report: Imported
) -> Imported:
    if isinstance(item, SaidItem):
        return _keep_said(handle, item, report)
    try:
        if isinstance(item, KnownItem | StatedItem):
            item, found = _plain(handle, item)
            report = replace(report, redacted=(*report.redacted, *found))
            handle = _owned(handle, item.scope)
        work = partial(_WORK[type(item)], handle, item)
        new = handle.write("import", work, dry_run=report.dry_run).changed
    except _UNSTORABLE as error:
        return replace(report, skipped=(*report.skipped, Bad(item.position, str(error))))
    return _counted(report, int(new), int(not (new or isinstance(item, Linked))))


def _link(handle: Handle, item: JoinedItem, tx: Tx, place: Place) -> Done:
    """An edge between two notes that this import, or one before it, stored."""
    lines = [_named(tx, name) for name in (item.src, item.dst)]
    if not all(lines):
        raise NotFound(f"there is no note {item.dst if lines[0] else item.src}")
    valid = clean_interval(None, None, tx.stamp)
    return tx.link(EdgeDraft(lines[0], item.type, lines[1], valid, place.scope))


def _end_links(handle: Handle, item: Linked, tx: Tx, place: Place) -> Done:
    """Ends the links of a note that its file knew of and does not tell any more."""
    seen = instant(item.seen)
    held = tx.as_view().edges([_named(tx, item.src)], tuple(AGENT_EDGES), "out")
    held = [edge for edge in held if edge.known.start <= seen]
    told = {(kind, _named(tx, name)) for kind, name in item.told}
    among = {_named(tx, name) for name in item.among} if held else set()
    gone = [edge for edge in held if edge.dst_line in among and (edge.type, edge.dst_line) not in told]
    return None, change.end_edge(tx, gone, None, wrong=False)


def _named(tx: Tx, name: str) -> int:
    """The lineage of a note by its id here, or by its name at its origin."""
    if _ID.fullmatch(name):
        found = tx.as_view().named(name)
        return found[0][1] if found else 0
    nodes = copying.shown_notes(tx.as_view(labels={SOURCE: name}))
    return nodes[0].line if nodes else 0


def _plain(handle: Handle, item: KnownItem | StatedItem) -> tuple[KnownItem | StatedItem, tuple[str, ...]]:
    """The item without secrets; one that belongs to a scope of such a name cannot be stored."""
    if not handle.config.redact:
        return item, ()
    for kind, name in item.scope.bound().items():
        require_plain(name, f"{kind} id")
    return screened(item)


def _counted(report: Imported, new: int, same: int) -> Imported:
    return replace(report, stored=report.stored + new, same=report.same + same)


def _keep_said(handle: Handle, item: SaidItem, report: Imported) -> Imported:
    """All in one changeset; where one of them cannot be stored, the others one by one."""
    try:
        new, found = _remember(handle, item.events, report.dry_run)
        report = replace(report, redacted=(*report.redacted, *found))
        return _counted(report, new, len(item.events) - new)
    except _UNSTORABLE as error:
        if len(item.events) == 1:
            return replace(report, skipped=(*report.skipped, Bad(item.positions[0], str(error))))
    for event, position in zip(item.events, item.positions, strict=True):
        report = _keep_said(handle, SaidItem((event,), (position,)), report)
    return report


def _remember(handle: Handle, events: Sequence[Event], dry_run: bool) -> tuple[int, tuple[str, ...]]:
    """How many of these are new, and what was redacted."""
    before = handle.now()
    receipt = remembering.remember_all(handle, events, dry_run=dry_run)
    ids = receipt.ids or ((receipt.id,) if receipt.id else ())
    known = handle.read(lambda view: known_before(view, ids, before))
    return len(set(ids) - known), receipt.redacted


def _fact(handle: Handle, item: StatedItem, tx: Tx, place: Place) -> Done:
    key, changed = given.believe(tx, item.fact, place, handle)
    return tx.id_of(key), changed


def _note(handle: Handle, item: KnownItem, tx: Tx, place: Place) -> Done:
    """A new note; a new version of the one that was imported before; or nothing new."""
    line = _imported(tx, item)
    if line:
        return None, _amend(tx, line, item, handle.config.max_text)
    draft = NodeDraft(item.type, item.name, item.content, clean_interval(item.valid_from, None, tx.stamp))
    metadata = {**item.metadata, SOURCE: item.source_id}
    key, new = given.note(tx, draft, place, handle.config.max_text, metadata)
    return tx.id_of(key), new


_WORK: dict[type, Callable[..., Done]] = {
    JoinedItem: _link,
    Linked: _end_links,
    StatedItem: _fact,
    KnownItem: _note,
}
"""What is done with an item inside a changeset."""


def _owned(handle: Handle, scope: Scope) -> Handle:
    """The handle in the scope that something belonged to at its origin; what is bound already stays."""
    if not scope.bound():
        return handle
    mine = handle.scopes[0] if handle.scopes else Scope()
    wanted = Scope(**{**scope.bound(), **mine.bound()})
    return replace(handle, scopes=(clean_scope(wanted), *handle.scopes[1:]))


def _imported(tx: Tx, item: KnownItem) -> int:
    """The lineage that holds this note now, if it came from here or an earlier import made it."""
    if item.id and (line := _named(tx, item.id)):
        return line
    view = tx.as_view(labels={SOURCE: item.source_id})
    nodes = copying.of_type(view, item.type)
    return nodes[0].line if nodes else 0


def _amend(tx: Tx, line: int, item: KnownItem, limit: int) -> bool:
    """As of when it changed at its origin; now, where that is no longer possible."""

    def amended(moment: When | None) -> bool:
        start = clean_interval(moment, None, tx.stamp).start
        return change.amend_memory(tx, line, change.Revision(item.name, item.content, start), limit)[1]

    try:
        return amended(item.changed_at)
    except Refused:
        return amended(None)


# A file, a folder or a ZIP archive as a stream of records, each with its position -----------------
#
# JSON Lines give a record a line; a JSON document gives the elements of its list. A line that is not
# JSON becomes a `Bad`; a document that is not JSON is an error, because it has no records.


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
    try:
        return bool(rest.strip()) and first.startswith(b"{") and isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False


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
