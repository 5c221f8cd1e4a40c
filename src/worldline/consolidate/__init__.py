"""Sleep: passes over what was learned, which only ever add understanding.

What a pass is told, what it may answer, and how that is carried out. A pass reads and returns values; only `carry_out`
writes, and only by way of `Tx`, so that handlers, hashes and the log see a night's work as they see everybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field

from worldline.clock import FOREVER, Instant, Interval
from worldline.config import Config
from worldline.model import Close, EdgeDraft, Made, Metadata, NodeDraft, Put
from worldline.ports import View
from worldline.store import nights
from worldline.store.nights import Changeset, JoinedPair, NightItem, changesets
from worldline.store.tx import Tx

if TYPE_CHECKING:
    from worldline.ports import Embedder

MADE = {"made_by": "sleep"}
"""What a memory that sleep made tells its readers; the engine goes by its mark."""

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
    made: Made | None = None


class NewLines(Struct, frozen=True):
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


class MarkedLine(Struct, frozen=True):
    """A dated remark on a lineage (its stage, a pin, that it is archived); None ends the one that stands."""

    line: int
    kind: str
    value: str | None
    reason: str


class NewRows(Struct, frozen=True):
    """Derived rows, outside the log: replaced by primary key; `gone` are primary keys to delete."""

    table: str
    rows: tuple[tuple[Any, ...], ...] = ()
    gone: tuple[tuple[Any, ...], ...] = ()


class Fold(Struct, frozen=True):
    """Work on the words index that nobody can see: the chunks of these terms are joined."""

    terms: tuple[str, ...]


Change: TypeAlias = NewLines | EdgeDraft | Close | Put | MarkedLine | NewRows | Fold


class Plan(Struct, frozen=True):
    """What a pass wants done, and the lineages that it puts off to another night."""

    changes: tuple[Change, ...] = ()
    waiting: tuple[int, ...] = ()
    note: str = ""
    """Why it could do nothing, where that is so."""


class Night(Struct, frozen=True):
    """What a pass is told besides the view."""

    scope: int
    """The scope set that what it makes belongs to."""
    now: Instant
    config: Config
    news: News
    waiting: tuple[int, ...] = ()
    """What it put off the last time."""
    embedder: Embedder | None = None


class Pass(Struct, frozen=True):
    """A pass: reads through the view, and says what is to change."""

    name: str
    does: str
    plan: Callable[[View, Night], Plan]
    always: bool = False
    """Time alone gives it something to do, even where nothing is new."""
    asks: bool = False
    """It may ask a model, so it is never planned under the write lock."""
    by_day: bool = False
    """It also runs while others write, threads of this process among them, so it is planned in one snapshot."""


class PassDone(Struct):
    """What came of a plan: a line for each change that took effect, and how many derived rows were written."""

    lines: list[tuple[str | int, ...]]
    """Each in parts; a number stands for the name of that memory."""
    rows: int = 0
    told: tuple[str, ...] = ()


def carry_out(tx: Tx, changes: Sequence[Change], scope: int) -> PassDone:
    """Every change in order, in the given scope set; what is so already is left alone."""
    done, made = PassDone([]), dict[str, int]()
    for change in changes:
        if isinstance(change, NewLines):
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
        elif isinstance(change, MarkedLine):
            _mark(tx, change, scope, done)
        elif isinstance(change, Fold):
            tx.words().repack(change.terms)
        else:
            done.rows += nights.derive(tx.store, change.table, change.rows, change.gone)
    done.told = _in_words(tx, done.lines)
    return done


def _make(tx: Tx, new: NewLines, scope: int, made: dict[str, int], done: PassDone) -> None:
    key, fresh = _version(tx, new, scope) if new.line else tx.put(_draft(tx, new, scope))
    line = new.line or tx.find(tx.id_of(key))[1]  # type: ignore[index]
    if new.label:
        made[new.label] = line
    if fresh:
        done.lines.append((f"{'amended' if new.line else 'put'} {new.type} {new.name}",))
    for arrow in new.edges:
        other = made[arrow.to] if isinstance(arrow.to, str) else arrow.to
        src, dst = (other, line) if arrow.back else (line, other)
        since = Interval(arrow.since or tx.stamp)
        draft = EdgeDraft(src, arrow.type, dst, since, scope, arrow.metadata, made=arrow.made)
        if tx.link(draft)[1] and not fresh:
            done.lines.append((src, f" {arrow.type} ", dst))


def _draft(tx: Tx, new: NewLines, scope: int) -> NodeDraft:
    return NodeDraft(
        new.type, new.name, new.content, Interval(new.valid_from or tx.stamp), world=new.world, scope=scope,
        lineage=new.line, metadata=new.metadata, confidence=new.confidence, reason=new.reason, made="sleep",
    )  # fmt: skip


def _version(tx: Tx, new: NewLines, scope: int) -> tuple[int, bool]:
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


def _mark(tx: Tx, mark: MarkedLine, scope: int, done: PassDone) -> None:
    if nights.set_mark(tx, mark.line, mark.kind, mark.value, mark.reason, scope):
        what = f"{mark.kind} {mark.value}" if mark.value else f"no longer {mark.kind}"
        done.lines.append((mark.line, f": {what} ({mark.reason})"))


def _in_words(tx: Tx, lines: Sequence[tuple[str | int, ...]]) -> tuple[str, ...]:
    """The lines of a report, each once."""
    names = nights.names(tx, {part for line in lines for part in line if isinstance(part, int)}, _SHOWN)
    parts = (tuple(names[part] if isinstance(part, int) else part for part in line) for line in lines)
    return tuple(dict.fromkeys("".join(line) for line in parts))


# What is new --------------------------------------------------------------------------------------
#
# What a memory learned since a moment, read from the changeset log: the reason why a night is cheap.
#
# Only rows of later changesets are looked at, so the cost is that of what is new, whatever the store
# holds. Changesets of the pass that asks are left out: a pass does not chew its own cud.


class News(Struct, frozen=True):
    """What was put and closed by the changesets from the one after `since` up to `until`, in order."""

    since: int
    until: int
    items: tuple[NightItem, ...] = ()
    edges: tuple[JoinedPair, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.items or self.edges)

    def of(self, *types: str) -> list[NightItem]:
        """The beliefs in memories of these types."""
        return [item for item in self.items if item.type in types]

    def after(self, since: int) -> News:
        """The part that came after this changeset."""
        if since <= self.since:
            return self
        return News(
            since,
            self.until,
            tuple(item for item in self.items if item.at > since),
            tuple(edge for edge in self.edges if edge.at > since),
        )

    def divided(self, parts: Mapping[int, str]) -> dict[str, News]:
        """The news of each part, by the part that a scope set belongs to."""
        items: dict[str, list[NightItem]] = {}
        edges: dict[str, list[JoinedPair]] = {}
        for item in self.items:
            if item.scope in parts:
                items.setdefault(parts[item.scope], []).append(item)
        for edge in self.edges:
            if edge.scope in parts:
                edges.setdefault(parts[edge.scope], []).append(edge)
        return {
            part: News(self.since, self.until, tuple(items.get(part, ())), tuple(edges.get(part, ())))
            for part in {*items, *edges}
        }


class NightFeed:
    """The changesets of one night, each read once however many passes ask for it."""

    def __init__(self) -> None:
        self._since, self._until = 0, 0
        self._read: dict[int, Changeset] = {}

    def news(self, view: View, since: int, until: int, but: str = "") -> News:
        """Everything that these changesets put and closed, except those of the kind `but`."""
        if not self._read:
            self._since = self._until = since
        if since < self._since:
            self._read |= changesets(view, since, self._since)
            self._since = since
        if until > self._until:
            self._read |= changesets(view, self._until, until)
            self._until = until
        chosen = [self._read[at] for at in range(since + 1, until + 1) if at in self._read]
        told = [changeset for changeset in chosen if changeset.kind != but]
        return News(
            since,
            until,
            tuple(item for changeset in told for item in changeset.items),
            tuple(edge for changeset in told for edge in changeset.edges),
        )
