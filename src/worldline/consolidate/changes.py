"""What a pass may answer, and how each answer is carried out: through the same changeset as any write.

A pass reads and returns values; only `carry_out` writes, and only by way of `Tx`, so that handlers,
hashes and the log see a night's work as they see everybody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from worldline.clock import FOREVER, Instant, Interval
from worldline.model import Close, EdgeDraft, Metadata, NodeDraft, Put
from worldline.store import cold
from worldline.store.tx import Tx
from worldline.store.view import LISTED, listed

MADE = {"made_by": "sleep"}
"""The metadata by which a memory that sleep made is known."""

_SHOWN = 60
"""Characters of a text that a report shows."""


class Arrow(Struct, frozen=True):
    """An edge of a new memory, to a lineage or to another new one by its label; `back`: from there to it."""

    type: str
    to: int | str
    metadata: Metadata = {}
    back: bool = False
    since: Instant = 0
    """When it began to hold; 0: with the night that found it."""


class New(Struct, frozen=True):
    """A memory to put, or (`line`) the next version of one; the same words again change nothing."""

    type: str
    name: str
    content: str = ""
    valid_from: Instant = 0
    line: int = 0
    world: int = 0
    metadata: Metadata = field(default_factory=lambda: dict(MADE))
    confidence: float | None = None
    reason: str | None = None
    label: str = ""
    edges: tuple[Arrow, ...] = ()


class Marked(Struct, frozen=True):
    """A dated remark on a lineage (its stage, a pin, that it is archived); None ends the one that stands."""

    line: int
    kind: str
    value: str | None
    reason: str


class Rows(Struct, frozen=True):
    """Derived rows, outside the log: replaced by primary key; `gone` are primary keys to delete."""

    table: str
    rows: tuple[tuple[Any, ...], ...] = ()
    gone: tuple[tuple[Any, ...], ...] = ()


class Fold(Struct, frozen=True):
    """Work on the words index that nobody can see: the chunks of these terms are joined."""

    terms: tuple[str, ...]


Change: TypeAlias = New | EdgeDraft | Close | Put | Marked | Rows | Fold


class Plan(Struct, frozen=True):
    """What a pass wants done, and the lineages that it puts off to another night."""

    changes: tuple[Change, ...] = ()
    waiting: tuple[int, ...] = ()
    note: str = ""
    """Why it could do nothing, where that is so."""


class Done(Struct):
    """What came of a plan: a line for each change that took effect, and how many derived rows were written."""

    lines: list[tuple[str | int, ...]]
    """Each in parts; a number stands for the name of that memory."""
    rows: int = 0
    told: tuple[str, ...] = ()


def carry_out(tx: Tx, changes: Sequence[Change], scope: int) -> Done:
    """Every change in order, in the given scope set; what is so already is left alone."""
    done, made = Done([]), dict[str, int]()
    for change in changes:
        if isinstance(change, New):
            _make(tx, change, scope, made, done)
        elif isinstance(change, EdgeDraft):
            if tx.link(change)[1]:
                done.lines.append((change.src, f" {change.type} ", change.dst))
        elif isinstance(change, Close):
            tx.close(change, "sleep")
            done.lines.append((tx.changes[-1],))
        elif isinstance(change, Put):
            tx.apply([change], "sleep")
            done.lines.append(("believed again",))
        elif isinstance(change, Marked):
            _mark(tx, change, scope, done)
        elif isinstance(change, Fold):
            tx.words().repack(change.terms)
        else:
            done.rows += _derive(tx, change)
    done.told = _in_words(tx, done.lines)
    return done


def _make(tx: Tx, new: New, scope: int, made: dict[str, int], done: Done) -> None:
    key, fresh = _version(tx, new, scope) if new.line else tx.put(_draft(tx, new, scope))
    line = new.line or tx.find(tx.id_of(key))[1]  # type: ignore[index]
    if new.label:
        made[new.label] = line
    if fresh:
        done.lines.append((f"{'amended' if new.line else 'put'} {new.type} {new.name}",))
    for arrow in new.edges:
        other = made[arrow.to] if isinstance(arrow.to, str) else arrow.to
        src, dst = (other, line) if arrow.back else (line, other)
        draft = EdgeDraft(src, arrow.type, dst, Interval(arrow.since or tx.stamp), scope, arrow.metadata)
        if tx.link(draft)[1] and not fresh:
            done.lines.append((src, f" {arrow.type} ", dst))


def _draft(tx: Tx, new: New, scope: int) -> NodeDraft:
    return NodeDraft(
        new.type, new.name, new.content, Interval(new.valid_from or tx.stamp), world=new.world, scope=scope,
        lineage=new.line, metadata=new.metadata, confidence=new.confidence, reason=new.reason,
    )  # fmt: skip


def _version(tx: Tx, new: New, scope: int) -> tuple[int, bool]:
    """The next version of a lineage, from now on, unless it says this already."""
    held = [(belief, node) for belief, node in tx.history(new.line) if belief.known.end == FOREVER]
    held = [(belief, node) for belief, node in held if belief.scope == scope and tx.stamp in belief.valid]
    for _, node in held:
        if (node.name, node.content) == (new.name, new.content):
            return node.key, False
    draft = _draft(tx, new, scope)
    draft.valid = Interval(tx.stamp)
    key, _, _ = tx.payload_only(draft)
    tx.believe(key, new.line, draft)
    for _, node in held:
        tx.link(EdgeDraft(key, "supersedes", node.key, Interval(tx.stamp), scope))
    return key, True


def _mark(tx: Tx, mark: Marked, scope: int, done: Done) -> None:
    if set_mark(tx, mark.line, mark.kind, mark.value, mark.reason, scope):
        what = f"{mark.kind} {mark.value}" if mark.value else f"no longer {mark.kind}"
        done.lines.append((mark.line, f": {what} ({mark.reason})"))


def set_mark(tx: Tx, line: int, kind: str, value: str | None, reason: str, scope: int) -> bool:
    """One mark of a kind stands at a time for a lineage and scope; False if it stands already."""
    held = tx.query(
        "SELECT id, value FROM marks WHERE tenant = :t AND line = :line AND kind = :kind AND kt = :forever"
        " AND scope = :scope",
        line=line, kind=kind, scope=scope,
    )  # fmt: skip
    if kind == cold.ARCHIVED and value is None:
        return cold.wake(tx, line)
    if (held[0][1] if held else None) == value:
        return False
    for row, _ in held:
        tx.end_row("marks", row)
    if kind == cold.ARCHIVED:
        cold.freeze(tx, line)
    if value is not None:
        tx.add("marks", line, scope, kind, value, reason, tx.stamp, FOREVER)
    return True


def _derive(tx: Tx, change: Rows) -> int:
    keys = _KEYS[change.table]
    if change.gone:
        where = " AND ".join(f"{key} = ?" for key in keys)
        tx.store.insert(f"DELETE FROM {change.table} WHERE {where}", change.gone)
    if change.rows:
        marks = ", ".join("?" * len(change.rows[0]))
        tx.store.insert(f"INSERT OR REPLACE INTO {change.table} VALUES ({marks})", change.rows)
    return len(change.rows) + len(change.gone)


_KEYS = {
    "scores": ("tenant", "node", "name"),
    "scorers": ("tenant", "name"),
    "uses": ("id",),
    "strengths": ("line",),
    "composed": ("tenant", "line", "scope"),
    "profiles": ("tenant", "speaker", "scope"),
}
"""Derived tables and their primary keys; rows are given whole, in the order of the table's columns."""


def _in_words(tx: Tx, lines: Sequence[tuple[str | int, ...]]) -> tuple[str, ...]:
    """The lines of a report, each once; facts and texts go by their words, other memories by their name."""
    named = {part for line in lines for part in line if isinstance(part, int)}
    rows = tx.query(
        f"SELECT id, type, name, substr(content, 1, {_SHOWN}), hash FROM nodes WHERE id IN {LISTED}",
        among=listed(sorted(named)),
    )
    names = {key: _name(*rest) for key, *rest in rows} if named else {}
    parts = (tuple(names[part] if isinstance(part, int) else part for part in line) for line in lines)
    return tuple(dict.fromkeys("".join(line) for line in parts))


def _name(type_: str, name: str, content: str, id_: bytes) -> str:
    told = content if type_ in ("Fact", "Turn") else name or content
    return " ".join(told.split()) or id_.hex()[:12]
