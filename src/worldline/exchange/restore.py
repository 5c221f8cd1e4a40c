"""Reading Worldline's own JSON Lines back into an empty store, with the history in its order.

The rows say what the handlers once decided, so they are put back as they were instead of being
decided again. Ids are recomputed from the contents: a line that does not fit its id is skipped and
told. Known times are those of this store; the origin's are kept beside each belief and edge.
Everything happens in one transaction, in as few changesets as keep each belief that was given up
later from being given up at once.

A file of exact rows, put into an empty store, is that memory: both time axes, the log, marks and strengths, the same
head. It is proved before it is kept. A file that does not prove itself, another tenant's name, or a store that holds
something already take the other way: the rows are read aside, and told from there as any memory is.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

import orjson
from msgspec import Struct, field

from worldline.clock import EARLIEST, FOREVER, NOW, Instant, Interval
from worldline.errors import InvalidInput, Refused, StoreError, UnknownType
from worldline.exchange.exporters import EXACT_FORMAT, TOLD_FORMAT
from worldline.exchange.formats import Bad, Imported, Record
from worldline.handle import Handle
from worldline.hashing import edge_id, event_id, fact_id, node_id, record_id
from worldline.model import Metadata, NodeDraft, Scope
from worldline.rules import slots
from worldline.rules.handlers import edge_made, node_made
from worldline.store import copying, erasing, registry, reindexing
from worldline.store.copying import RANKS, SIDE, HeldRow, Mark
from worldline.store.events import event_key, has_key
from worldline.store.schema import COLUMNS, block_key
from worldline.store.sqlite import SqliteStore
from worldline.store.tx import Tx
from worldline.store.verify import verify
from worldline.write.forget import NAMELESS
from worldline.write.gate import redact, screened

_TIMELINE = ("belief", "edge", "merge", "mark")
_TABLES = {"belief": "beliefs", "edge": "edges", "merge": "proposals", "mark": "marks"}
_FACT_COLUMNS = tuple(column for column in COLUMNS["facts"] if column not in ("node", "tenant"))
Line = dict[str, Any]
_ID = re.compile("[0-9a-f]{64}")
NEEDED = {
    "scope": ("number", "scopes"),
    "type": ("of", "name", "version"),
    "node": ("id", "lineage", "type", "name", "content"),
    "alias": ("of", "key", "name"),
    "metadata": ("of", "metadata"),
    "wordings": ("of", "values"),
    "blocks": ("of", "values"),
    "belief": ("row", "of", "valid", "known"),
    "edge": ("row", "id", "src", "type", "dst", "valid", "known"),
    "merge": ("row", "id", "a", "b", "status", "tier", "score", "known"),
    "mark": ("row", "of", "mark", "known"),
}
"""The fields that a line of each kind cannot do without."""


def fits(record: Any) -> bool:
    """Whether a record is the first line of such a file."""
    return isinstance(record, dict) and record.get("kind") == "worldline"


class Copy(Struct):
    """An exported memory, and what is known of it while it is put into a store."""

    lines: dict[str, list[tuple[str, Line]]]
    root: bytes = b""
    """The hash of the memory that was exported."""
    skipped: list[Bad] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    """Row numbers here, by id."""
    origin: dict[int, int] = field(default_factory=dict)
    """Scope sets here, by their number at the origin."""
    events: dict[str, Line] = field(default_factory=dict)
    facts: dict[str, Line] = field(default_factory=dict)
    first: dict[str, Line] = field(default_factory=dict)
    """The first belief in each version."""
    later: dict[str, Line] = field(default_factory=dict)
    """Versions after the first, which are put when they were first believed."""
    lineages: dict[str, str] = field(default_factory=dict)
    placed: dict[tuple[int, int], int] = field(default_factory=dict)
    """The contains edges that came with their children: (world, child) to row."""
    taken: set[bytes] = field(default_factory=set)
    """The keys of the events that were put."""
    stored: int = 0

    def scope(self, line: Line) -> int:
        return self.origin.get(line.get("scope") or 0, 0)

    def skip(self, position: str, why: str) -> None:
        self.skipped.append(Bad(position, why))


def restore(handle: Handle, copy: Copy, *, dry_run: bool = False) -> Imported:
    """Puts a whole exported memory into this empty one."""
    require_whole(handle)
    with handle.writing(keep=not dry_run):
        run = _Restoring(handle, handle._begin(False))
        _payloads(run.tx, copy)
        run.turn_over()
        _replay(run, copy)
        _shared(run.tx, copy)
        run.tx.finish("import")
    if run.indexed and not dry_run:
        with suppress(StoreError):
            handle.after_write(handle, run.indexed)
    return Imported("worldline", copy.stored, skipped=tuple(copy.skipped), dry_run=dry_run)


def gathered(records: Iterable[Record | Bad], *, plain: bool = True) -> Copy:
    """The lines of an export by their kinds; what is no such line is told.

    With `plain`, so is a line that holds a secret: to change it would be to forge what its hash names.
    """
    lines: dict[str, list[tuple[str, Line]]] = defaultdict(list)
    copy = Copy(lines)
    for record in records:
        if isinstance(record, Bad):
            copy.skipped.append(record)
        elif not isinstance(record.value, dict) or "kind" not in record.value:
            copy.skip(record.position, "it has no kind")
        elif missing := _missing(record.value):
            copy.skip(record.position, f"it has no {missing}")
        elif plain and (secrets := screened(record.value)[1]):
            copy.skip(
                record.position,
                f"it holds a secret ({secrets[0]}); a copy is taken as it is or not at all: the setting "
                "redact = false takes it",
            )
        else:
            lines[record.value["kind"]].append((record.position, record.value))
    for _, head in lines["worldline"]:
        if head.get("format", 0) > TOLD_FORMAT:
            raise InvalidInput(f"this export has format {head['format']}; upgrade Worldline to read it")
        copy.root = bytes.fromhex(head.get("root") or "")
    for _, line in lines["blocks"]:
        line["values"] = {**line["values"], "key": block_key(line["values"].get("key", ""))}
    if not all(head.get("marked") for _, head in lines["worldline"]):
        for _, line in lines["node"]:  # before there were marks, metadata said what sleep made
            line["made"] = node_made(line["type"], line.get("metadata") or {})
        for _, line in lines["edge"]:
            line["made"] = edge_made(line.get("metadata") or {})
    copy.events = {line["id"]: line for _, line in lines["event"] if "id" in line}
    copy.facts = {line["id"]: line for _, line in lines["fact"] if "id" in line}
    for _, line in lines["belief"]:
        if "of" in line:
            copy.first.setdefault(line["of"], line)
    return copy


def _missing(line: Line) -> str:
    """The field that a line lacks, or that is no id or interval; empty where it is sound."""
    kind = line["kind"]
    if not isinstance(kind, str):
        return "kind"
    for name in NEEDED.get(kind, ()):
        value = line.get(name)
        if name in ("valid", "known"):
            sound = isinstance(value, list) and len(value) == 2 and isinstance(value[0], int)
        elif name in ("id", "lineage", "src", "dst", "a", "b") or (name == "of" and kind != "type"):
            sound = isinstance(value, str) and _ID.fullmatch(value) is not None
        else:
            sound = value is not None
        if not sound:
            return name
    return ""


def require_whole(handle: Handle) -> None:
    """Refuses a handle that is bound to a part of the memory."""
    if handle.moment != NOW or handle.scopes or handle.world:
        raise Refused("another memory is taken in whole: use a handle without scope, world and moment")


def is_empty(handle: Handle) -> bool:
    """Whether nothing was ever stored here."""
    return copying.is_empty(handle.store, handle.tenant_row()[0])


# Payloads ------------------------------------------------------------------------------------------


def scope_sets(tx: Tx, copy: Copy) -> None:
    """The scope sets of the export, made here where they are not."""
    for _, line in copy.lines["scope"]:
        copy.origin[line["number"]] = registry.scope_set(tx, [Scope(**s) for s in line["scopes"]])


def _payloads(tx: Tx, copy: Copy) -> None:
    scope_sets(tx, copy)
    for position, line in copy.lines["node"]:
        copy.lineages[line["id"]] = line["lineage"]
        if line["lineage"] == line["id"]:
            with guarded(copy, position):
                _node(tx, copy, line)
        else:
            copy.later[line["id"]] = line
    for position, line in copy.lines["alias"]:
        with guarded(copy, position):
            tx.add("aliases", line["key"], line["name"], copy.keys[line["of"]], copy.scope(line))
    for table in SIDE:
        for position, line in copy.lines[table]:
            with guarded(copy, position):
                put_aside(tx, table, line, copy.keys[line["of"]])
    for position, line in copy.lines["type"]:
        with guarded(copy, position):
            world = copy.keys[line["world"]] if line.get("world") else 0
            named = line["of"], line["name"], line["version"], line.get("spec")
            tx.add("ontology", world, *named, tx.stamp, FOREVER)
    copy.placed.update(copying.placed(tx))


@contextmanager
def guarded(copy: Copy, position: str) -> Iterator[None]:
    """A line that cannot be put back is told, and the others go on."""
    try:
        yield
    except KeyError as error:
        copy.skip(position, f"it needs {str(error.args[0])[:16]}, which is missing or was skipped")
    except (TypeError, ValueError, AttributeError) as error:
        copy.skip(position, f"it does not fit together ({error})")


def _node(tx: Tx, copy: Copy, line: Line) -> None:
    if line["type"] == "Scope":
        if found := tx.find(bytes.fromhex(line["id"])):
            copy.keys[line["id"]] = found[0]
        return
    put_version(tx, copy, line, 0 if line["lineage"] == line["id"] else copy.keys[line["lineage"]])
    copy.stored += 1


def put_version(tx: Tx, copy: Copy, line: Line, lineage: int, *, place: bool = True) -> tuple[int, int]:
    """A version, with its row of what was said or of a fact: its number and its lineage here."""
    id_, world = line["id"], copy.keys[line["world"]] if line.get("world") else 0
    checked, is_whole = _checked(copy, line)
    fact = _fact_row(copy, copy.facts[id_]) if id_ in copy.facts else None
    first = copy.first.get(id_, {})
    name, content = (line["name"], line["content"]) if fact is None else _fact_text(tx, fact)
    draft = NodeDraft(
        line["type"], name, content, span(first["valid"]) if first else Interval(0),
        line.get("dated"), world, copy.scope(line if "scope" in line else first), lineage,
        line.get("metadata") or {}, id=checked, made=line.get("made"),
    )  # fmt: skip
    key, home, _ = tx.payload_only(draft, place=place)
    copy.keys[id_] = key
    if not is_whole:
        erasing.leave_wordless(tx, key, draft)
    if id_ in copy.events:
        _put_event(tx, copy, line, key, world)
    if fact is not None:
        tx.add("facts", key, *fact)
    return key, home


_WORDLESS = ("", ""), (NAMELESS, "")
"""(name, text) of what stays where its words were forgotten."""


def _checked(copy: Copy, line: Line) -> tuple[bytes, bool]:
    """The id, recomputed from what the line says; one whose words were forgotten there (False) is known by it alone."""
    inside = bytes.fromhex(line["world"]) if line.get("world") else None
    event, fact = copy.events.get(line["id"]), copy.facts.get(line["id"])
    if event is not None:
        made = event_id(event["sender"], inside, event["said_at"], line["content"], event.get("external_id"))
    elif fact is not None:
        made = fact_id(
            bytes.fromhex(fact["subject"]), fact["values"]["predicate"],
            bytes.fromhex(fact["object"]) if fact.get("object") else None, fact["values"]["literal"], inside,
        )  # fmt: skip
    else:
        made = node_id(line["type"], line["name"], line["content"], line.get("dated"), inside)
    if made.hex() != line["id"] and line["lineage"] != line["id"]:
        # a later version of what was said is identified as a node, not as an event
        made = node_id(line["type"], line["name"], line["content"], line.get("dated"))
    if made.hex() == line["id"]:
        return made, True
    if event is not None or fact is not None or (line["name"], line["content"]) not in _WORDLESS:
        raise ValueError("its contents are not what its id was made from")
    return bytes.fromhex(line["id"]), False


def write_again(tx: Tx, copy: Copy, line: Line, key: int) -> None:
    """A memory that is here without its words gets them from a store that has them."""
    checked, is_whole = _checked(copy, line)
    if is_whole:
        since = span(copy.first[line["id"]]["valid"]) if line["id"] in copy.first else Interval(0)
        draft = NodeDraft(line["type"], line["name"], line["content"], since, id=checked)
        erasing.write_again(tx, key, draft)


def _put_event(tx: Tx, copy: Copy, line: Line, key: int, world: int) -> None:
    """The row of an event; where its key is taken by other words, it gets one of its own."""
    event = copy.events[line["id"]]
    scope = copy.scope(copy.first.get(line["id"], {}))
    when = None if event.get("undated") else event["said_at"]
    own = event_key(event.get("external_id"), scope, world, event["sender"], when, line["content"])
    if own in copy.taken or has_key(tx, own):
        own = record_id("event by id", line["id"])
    copy.taken.add(own)
    left = _left(copy, event.get("draft"))
    state = event.get("state", "stored") if left or event.get("state") != "pending" else "stored"
    row = {**event, "node": key, "key": own, "session": world or None, "draft": left, "state": state}
    kept = event.get("reading")
    reading = b64decode(kept, validate=True) if isinstance(kept, str) and kept else None
    row = {"utc_offset": 0, "modality": "text", **row, "reading": reading}
    tx.add("events", *[row.get(column) for column in COLUMNS["events"] if column != "tenant"])


def _left(copy: Copy, draft: list[Line] | None) -> str | None:
    """What is still to be done with an event, in this store's row numbers."""
    if not draft:
        return None
    worlds = [copy.keys.get(item["world"], 0) if item["world"] else 0 for item in draft]
    return orjson.dumps([{**i, "world": w} for i, w in zip(draft, worlds, strict=True)]).decode()


def _fact_row(copy: Copy, fact: Line) -> list[Any]:
    """The row of a fact after its number; KeyError where an end is missing."""
    object_ = copy.keys[fact["object"]] if fact.get("object") else 0
    row = {**fact["values"], "subject": copy.keys[fact["subject"]], "object": object_}
    return [row[column] for column in _FACT_COLUMNS]


def _fact_text(tx: Tx, row: Sequence[Any]) -> tuple[str, str]:
    """(name, text) of a fact, as they follow from what its ends are called here."""
    fact = dict(zip(_FACT_COLUMNS, row, strict=True))
    value = tx.name_of(fact["object"]) if fact["object"] else orjson.loads(fact["literal"] or "null")
    return slots.label(fact["phrase"]), slots.sentence(tx.name_of(fact["subject"]), fact["phrase"], value)


def put_aside(tx: Tx, table: str, line: Line, of: int) -> None:
    """A wording or a block key of something."""
    row = {**line["values"], SIDE[table]: of}
    tx.add(table, *[row[column] for column in COLUMNS[table] if column != "tenant"])


def _shared(tx: Tx, copy: Copy) -> None:
    """What several scopes believe is found from each of them, with what each has noted beside it."""
    lines = {line["id"]: line for _, line in copy.lines["node"] if line.get("type") != "Scope"}
    for position, noted in copy.lines["metadata"]:
        with guarded(copy, position):
            of = noted["of"]
            note_beside(tx, lines[of], copy.keys[of], copy.scope(noted), noted["metadata"])
    scopes: dict[str, set[int]] = defaultdict(set)
    for _, line in copy.lines["belief"]:
        scopes[line.get("of", "")].add(line.get("scope") or 0)
    for id_, several in scopes.items():
        if len(several) > 1 and id_ in lines and id_ in copy.keys:
            tx.reindex_shared([copy.keys[id_]])


def note_beside(tx: Tx, line: Line, key: int, scope: int, metadata: Metadata) -> None:
    """What a scope has noted beside a version that another one had first; what it noted itself stays."""
    draft = NodeDraft(line["type"], line["name"], line["content"], metadata=metadata, scope=scope)
    tx.own_metadata(key, draft)


# History -------------------------------------------------------------------------------------------


class _Step(Struct, frozen=True):
    """One known time of the origin: what was given up then, and what was believed."""

    closed: list[tuple[str, Line]] = field(default_factory=list)
    put: list[tuple[str, str, Line]] = field(default_factory=list)


class _Restoring(Struct):
    """The changeset under way, and what it has put."""

    handle: Handle
    tx: Tx
    rows: dict[tuple[str, int], int] = field(default_factory=dict)
    """Row numbers here, by kind and row number at the origin."""
    fresh: set[tuple[str, int]] = field(default_factory=set)
    young: set[int] = field(default_factory=set)
    """Lineages first believed, or with a new version, in this changeset: another change to their
    worlds is another changeset's."""

    indexed: list[int] = field(default_factory=list)

    def turn_over(self) -> None:
        self.tx.finish("import")
        self.indexed += self.tx.indexed_nodes
        self.tx = self.handle._begin(False)
        self.fresh.clear()
        self.young.clear()


def _replay(run: _Restoring, copy: Copy) -> None:
    """Step by step."""
    seen = set[str]()
    for step in _steps(copy):
        alone = _moves(step)
        if alone or any((kind, line["row"]) in run.fresh for kind, line in step.closed):
            run.turn_over()
        for kind, line in step.closed:
            if (kind, line["row"]) in run.rows:
                _close(run.tx, copy, kind, line, run.rows[kind, line["row"]])
        for position, kind, line in step.put:
            if _touched(copy, kind, line) in run.young:
                run.turn_over()
            with guarded(copy, position):
                _once(run, copy, kind, line, seen)
        if alone:
            run.turn_over()
    run.turn_over()


def _moves(step: _Step) -> bool:
    """Whether a step changes which world something lies in; that is a changeset of its own."""
    lines = [line for kind, line in step.closed if kind == "edge"]
    lines += [line for _, kind, line in step.put if kind == "edge" and line["valid"][0] != EARLIEST]
    return any(line["type"] == "contains" for line in lines)


def _touched(copy: Copy, kind: str, line: Line) -> int:
    """The lineage whose hash a line changes: the world of an edge, the memory of a new version."""
    named = None
    if kind == "edge":
        named = line["src"] if line["type"] == "contains" else line.get("world")
    elif kind == "belief" and line["of"] in copy.later:
        named = copy.lineages[line["of"]]
    return copy.keys.get(named, 0) if named else 0


def _once(run: _Restoring, copy: Copy, kind: str, line: Line, seen: set[str]) -> None:
    mark = kind, line["row"]
    if kind == "belief" and line["of"] in copy.later:
        _node(run.tx, copy, copy.later.pop(line["of"]))
    run.rows[mark] = _put(run.tx, copy, kind, line, seen)
    run.fresh.add(mark)
    if line["known"][0] == line["known"][1]:  # given up by the changeset that put it
        _close(run.tx, copy, kind, line, run.rows[mark])
    if kind == "belief":
        run.young.add(copy.keys[copy.lineages[line["of"]]])


def _steps(copy: Copy) -> Iterator[_Step]:
    """The origin's changes in the order of its known time."""
    steps: dict[Instant, _Step] = defaultdict(_Step)
    for kind in _TIMELINE:
        for position, line in copy.lines[kind]:
            start, end = line["known"]
            steps[start].put.append((position, kind, line))
            if end not in (None, start):
                steps[end].closed.append((kind, line))
    for at in sorted(steps):
        yield steps[at]


def _close(tx: Tx, copy: Copy, kind: str, line: Line, row: int) -> None:
    tx.end_row(_TABLES[kind], row)
    if kind == "edge" and line["type"] == "contains" and line["valid"][1] is None:
        tx.worlds.move(copy.keys[line["dst"]], copy.keys[line["src"]], tx.root)


def _put(tx: Tx, copy: Copy, kind: str, line: Line, seen: set[str]) -> int:
    if kind == "belief":
        return _belief(tx, copy, line)
    if kind == "mark":
        return _mark(tx, copy, line)
    return _edge(tx, copy, line, seen) if kind == "edge" else _merge(tx, copy, line)


def _belief(tx: Tx, copy: Copy, line: Line) -> int:
    key = copy.keys[line["of"]]
    lineage, type_ = copying.line_and_type(tx, key)
    return 0 if type_ == "Scope" else put_belief(tx, copy, line, (lineage, key, type_))


def put_belief(tx: Tx, copy: Copy, line: Line, of: tuple[int, int, str]) -> int:
    """The row of a belief in a version (its lineage, number and type), with where it comes from."""
    row = told(line, copy.root)
    number = tx.add(
        "beliefs", *of, copy.scope(line), row.valid.start, row.valid.end, tx.stamp, FOREVER,
        line.get("status"), line.get("confidence"), line.get("precision"), line.get("reason"),
    )  # fmt: skip
    note_origin(tx, "beliefs", number, row)
    return number


def note_origin(tx: Tx, table: str, number: int, row: ToldRow) -> None:
    """The stores that held a row before this one, and when they did."""
    for store, valid, known in row.origins:
        tx.add("origins", table, number, store, valid.start, valid.end, known.start, known.end, tx.stamp)


def _edge(tx: Tx, copy: Copy, line: Line, seen: set[str]) -> int:
    src, dst = copy.keys[line["src"]], copy.keys[line["dst"]]
    row, type_ = told(line, copy.root), line["type"]
    id_ = edge_id(tx.id_of(src), type_, tx.id_of(dst))
    if id_.hex() != line["id"]:
        raise ValueError("its ends are not what its id was made from")
    if type_ == "contains" and (src, dst) in copy.placed and row.valid == Interval(EARLIEST):
        number = copy.placed.pop((src, dst))
        note_origin(tx, "edges", number, row)
        return number
    world = copy.keys[line["world"]] if line.get("world") else tx.root
    number = put_edge(tx, copy, line, (src, dst), world)
    if type_ == "contains":
        if row.valid.end == FOREVER:
            tx.worlds.move(dst, tx.root, src)
    elif line["id"] not in seen:
        tx.worlds.add(world, id_)
    seen.add(line["id"])
    return number


def put_edge(tx: Tx, copy: Copy, line: Line, ends: tuple[int, int], world: int) -> int:
    """The row of an edge, with where it comes from."""
    (src, dst), type_, metadata = ends, line["type"], line.get("metadata")
    row = told(line, copy.root)
    number = tx.add(
        "edges", edge_id(tx.id_of(src), type_, tx.id_of(dst)), src, type_, dst, world, copy.scope(line),
        row.valid.start, row.valid.end, tx.stamp, FOREVER,
        orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS).decode() if metadata else None, line.get("made"),
    )  # fmt: skip
    note_origin(tx, "edges", number, row)
    return number


def _mark(tx: Tx, copy: Copy, line: Line) -> int:
    of, value, reason = copy.keys[line["of"]], line.get("value"), line.get("reason")
    return tx.add("marks", of, copy.scope(line), line["mark"], value, reason, tx.stamp, FOREVER)


def _merge(tx: Tx, copy: Copy, line: Line) -> int:
    row = tx.next_row("proposals")
    tx.add_proposal(
        bytes.fromhex(line["id"]), copy.keys[line["a"]], copy.keys[line["b"]], line["status"], line["tier"],
        line["score"], line.get("reason"), copy.scope(line),
    )  # fmt: skip
    return row


# What becomes of a row ----------------------------------------------------------------------------
#
# What the union of two memories makes of a row that one of them holds: known, covered, history, or new.
#
# Pure decisions over rows; `absorb.py` looks them up and carries them out. A belief is the same in two
# stores when both learned it at the same moment for the same time of validity, or when one has it from
# the other. So what was given up here is not believed again because a copy of it comes back; what
# another memory found out by itself is new, whatever this one thinks of it.


Verdict = Literal["known", "covered", "history", "new"]


class ToldRow(Struct, frozen=True):
    """A row of the other store, and the stores that it has been in: (root hash, valid, known)."""

    valid: Interval
    known: Interval
    rank: int
    origins: tuple[tuple[bytes, Interval, Interval], ...]

    @property
    def current(self) -> bool:
        return self.known.end == FOREVER

    @property
    def marks(self) -> frozenset[Mark]:
        """What makes a belief in something the very same belief, here and wherever it was before."""
        return frozenset((valid.start, valid.end, known.start) for _, valid, known in self.origins)


def told(line: Mapping[str, Any], root: bytes) -> ToldRow:
    """A belief or edge of an export; `root` is the hash of the store that it comes from."""
    valid, known = span(line["valid"]), span(line["known"])
    earlier = [(bytes.fromhex(store), span(v), span(k)) for store, v, k in line.get("origin") or ()]
    return ToldRow(valid, known, RANKS[line.get("status")], ((root, valid, known), *earlier))


def span(pair: Sequence[Any]) -> Interval:
    """An interval of an export, whose open end is null."""
    return Interval(pair[0], FOREVER if pair[1] is None else pair[1])


def judge(row: ToldRow, here: Sequence[HeldRow], *, at_once: bool = False) -> tuple[Verdict, HeldRow | None]:
    """What a row of the other store is to this one, and the row here that says so.

    `at_once`: only a row that begins at the same moment covers it (each supersession is its own).
    """
    for own in here:
        if row.marks & own.marks:
            return "known", own
    if not row.current:
        return "history", None
    for own in here:
        begins = own.valid.start == row.valid.start if at_once else own.valid.start <= row.valid.start
        if own.current and own.rank >= row.rank and begins and own.valid.end >= row.valid.end:
            return "covered", own
    return "new", None


def rivals(row: ToldRow, here: Iterable[HeldRow]) -> list[HeldRow]:
    """The current rows here that claim the same time."""
    return [own for own in here if own.current and own.rank and own.valid.overlaps(row.valid)]


# Types ---------------------------------------------------------------------------------------------


def require_handlers(used: Iterable[str], versions: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Refuses edge types that this process cannot run, or has in another version."""
    missing = sorted(name for name in set(used) if name not in here)
    if missing:
        raise Refused(
            f"this process has no handler for the edge types {', '.join(map(repr, missing))}; "
            "register their EdgeType here first"
        )
    other = sorted(name for name in set(used) if versions.get(name, here[name]) != here[name])
    if other:
        told = ", ".join(f"{name!r} ({versions[name]} there, {here[name]} here)" for name in other)
        raise Refused(f"these edge types have other versions in that memory: {told}; register those first")


def require_types(unknown: Iterable[str]) -> None:
    """Refuses node types that are not registered where their memories would lie."""
    if names := sorted(set(unknown)):
        raise UnknownType(
            f"that memory has types that this one does not know: {', '.join(map(repr, names))}; "
            "register their NodeType here first"
        )


class CopiedRows(Struct):
    """The rows of a file, as they are to be stored."""

    name: str
    tenant: tuple[Any, ...] = ()
    tables: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    others: list[Record | Bad] = field(default_factory=list)
    """What is no row."""


class Unproved(Exception):
    """The rows do not make a memory that proves itself."""


def fits_exactly(record: Record | Bad) -> bool:
    """Whether a record is the first line of such a file; an even newer form is refused."""
    if (
        isinstance(record, Bad)
        or not isinstance(record.value, dict)
        or record.value.get("kind") != "worldline"
    ):
        return False
    format_ = record.value.get("format", 0)
    if isinstance(format_, int) and format_ > EXACT_FORMAT:
        raise InvalidInput(f"this export has format {format_}; upgrade Worldline to read it")
    return bool(format_ == EXACT_FORMAT)


def gathered_rows(head: Record, records: Iterable[Record | Bad]) -> CopiedRows:
    """The rows of a file, by their tables."""
    rows = CopiedRows(str(head.value.get("tenant", "")), tables={table: [] for table in reindexing.TABLES})
    for record in records:
        value = None if isinstance(record, Bad) else record.value
        try:
            if isinstance(value, dict) and value.get("kind") == "tenants":
                rows.tenant = reindexing.read_row("tenants", value)
            elif isinstance(value, dict) and value.get("kind") == "row":
                rows.tables[value["of"]].append(reindexing.read_row(value["of"], value["values"]))
            else:
                rows.others.append(record)
        except (KeyError, TypeError, ValueError) as error:
            rows.others.append(Bad(getattr(record, "position", ""), f"it is no row of a memory ({error})"))
    return rows


def restore_exactly(handle: Handle, rows: CopiedRows, *, dry_run: bool = False) -> Imported | None:
    """Puts the rows into this empty store as they are; None where that cannot be, and nothing was written."""
    texts = (value for of in ("nodes", "metadata", "aliases") for row in rows.tables[of] for value in row)
    if handle.config.redact and any(redact(text)[1] for text in texts if isinstance(text, str)):
        return None  # this store would not keep such a text as it is
    if rows.name != handle.tenant or not rows.tenant:
        return None
    try:
        with handle.writing(keep=not dry_run):
            reindexing.put_rows(handle.store, rows.name, rows.tenant, rows.tables)
            put = reindexing.index_words(handle._begin(False))
            if verify(handle.store, handle.tenant_row()).damage:
                raise Unproved
    except Unproved:
        return None
    if put and not dry_run:
        with suppress(StoreError):
            handle.after_write(handle, put)
    at = reindexing.TABLES["nodes"].index("type")
    stored = sum(row[at] != "Scope" for row in rows.tables["nodes"])
    skipped = [one if isinstance(one, Bad) else Bad(one.position, "it is no row") for one in rows.others]
    return Imported("worldline", stored, skipped=tuple(skipped), dry_run=dry_run)


@contextmanager
def aside(handle: Handle, rows: CopiedRows) -> Iterator[Handle]:
    """The memory of these rows in a store of its own, to be read from."""
    store = SqliteStore(":memory:", handle.config)
    try:
        origin = Handle(store, handle.config, handle.clock, rows.name, handle.types)
        if rows.tenant:
            with origin.writing():
                reindexing.put_rows(store, rows.name, rows.tenant, rows.tables)
        yield origin
    finally:
        store.close()
