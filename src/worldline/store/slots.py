"""What a store knows of facts and their slots, for those who are about to write one.

An `OpenFact` is a fact with the belief that is held in it. What is over or kept back is not open; what is
believed of a subject counts for its owner, whatever the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import Instant, Interval
from worldline.hashing import fact_id
from worldline.model import Belief, EdgeDraft, FactDraft, FactRow, Metadata, NodeDraft, Place
from worldline.ports import Tx, View
from worldline.rules.wording import worded
from worldline.store.naming import texts
from worldline.store.view import BELIEF, LISTED, belief_from, fact_from, listed

_SLOTS = "(SELECT value FROM json_each(:slots))"
_HELD = "b.kt = :forever AND b.vt = :forever"


class OpenFact(Struct, frozen=True):
    """A fact that is believed and not over."""

    row: FactRow
    kind: str
    one: bool
    rank: str
    dated: bool
    teller: str
    """Who said it first."""
    phrase: str
    value: str
    """The object's name, or the literal as text."""
    subject_name: str = ""


class DrawnFact(NamedTuple):
    """A fact that was drawn from an event once."""

    row: int
    subject: int
    slot: str
    object: int
    literal: str | None
    key: str
    rank: str
    value: str
    rests_on: int
    """How many believed grounds it has."""
    by_model: bool


class Lately(NamedTuple):
    """A fact of something that was said shortly before."""

    node: int
    subject: int
    subject_name: str
    phrase: str


class InSlot(NamedTuple):
    """An object that a slot has held, as a name or as a value."""

    object: int
    literal: str | None
    value: str


def value_of(object_: int, name: str | None, literal: str | None) -> str:
    """The value of a fact as text."""
    return str(name) if object_ else str(orjson.loads(literal or '""'))


# Putting one ----------------------------------------------------------------------------------------


class Settled(Struct, frozen=True):
    """A fact whose ends are known: what its row says."""

    subject: int
    object: int
    literal: str | None
    slot: str
    phrase: str
    key: str
    kind: str = "entity"
    one: bool = False
    rank: str = "given"
    dated: bool = False


def put_fact(tx: Tx, settled: Settled, place: Place, valid: Interval) -> int:
    """The Fact node and its row, not yet believed; one that is stored already is the same fact."""
    subject, object_, literal = settled.subject, settled.object, settled.literal
    parts = (
        tx.id_of(subject),
        settled.slot,
        tx.id_of(object_) if object_ else None,
        literal,
        tx.id_of(place.world) if place.world else None,
    )
    known = tx.gathering.claimed.get(parts) if tx.gathering else None
    id_ = known or fact_id(*parts)
    if stored := tx.find(id_):
        return stored[0]
    value = tx.name_of(object_) if object_ else orjson.loads(literal or "null")
    name, content = worded(tx.name_of(subject), settled.phrase, value)
    draft = NodeDraft("Fact", name, content, valid=valid, world=place.world, scope=place.scope, id=id_)
    key, _, _ = tx.payload_only(draft)
    tx.add(
        "facts", key, subject, settled.slot, object_, literal, settled.phrase, settled.key,
        settled.kind, int(settled.one), settled.rank, int(settled.dated),
    )  # fmt: skip
    return key


class ToBelieve(Struct, frozen=True):
    """A fact that was read: what it says, how it stands to others, since when, and the words that it rests on."""

    settled: Settled
    draft: FactDraft
    valid: Interval
    mentions: Sequence[EdgeDraft]
    """Whom those words speak of."""
    grounds: Sequence[tuple[int, Metadata]]
    """The events that say it, and where in them."""


def believe(tx: Tx, told: ToBelieve, place: Place) -> tuple[int, bool]:
    """Puts a fact, places it in its slot, and ties it to its words: (row, whether anything changed)."""
    settled, draft, valid = told.settled, told.draft, told.valid
    key = draft.key = put_fact(tx, settled, place, valid)
    draft.fresh = tx.is_new(key) and not tx.is_believed(key)
    changed = tx.place_fact(
        EdgeDraft(settled.subject, "fact", settled.object, valid, place.scope, fact=draft)
    )
    grounds = [
        EdgeDraft(key, "derived_from", event, Interval(valid.start), place.scope, span)
        for event, span in told.grounds
    ]
    tied = tx.link_all([*told.mentions, *grounds])
    return key, changed or any(tied[len(told.mentions) :])


# Open facts -----------------------------------------------------------------------------------------


def open_facts(tx: Tx, subject: int, scope: int, among: Collection[str] | None = None) -> list[OpenFact]:
    """What is believed of a subject and not over, in this scope's owner; in these slots, if given."""
    known = tx.gathering.open_facts(subject, scope, among) if tx.gathering else None
    return [_open(row) for row in tx.open_facts(subject, scope, among)] if known is None else known


def slots_of(tx: Tx, subject: int) -> Collection[str]:
    """The slots in which anything was ever believed of a subject."""
    known: set[str] | None = tx.gathering.slots(subject) if tx.gathering else None
    if known is not None:
        return known
    rows = (tx.peek() if tx.gathering else tx).query(
        f"SELECT DISTINCT predicate FROM facts WHERE tenant = :t AND subject IN {LISTED}",
        among=listed(lines := tx.same_as(subject)),
    )
    return {*(row[0] for row in rows), *(row[3] for row in tx.rows["facts"] if row[2] in lines)}


def open_facts_among(tx: Tx, nodes: Collection[int], scope: int) -> list[OpenFact]:
    """Which of these nodes are facts that are believed and not over, with the names of their subjects."""
    found = [_open(row[1:], row[0]) for row in tx.open_facts_among(nodes, scope)] if nodes else []
    if tx.gathering:
        tx.gathering.note(found)
    return found


def _open(row: Sequence[Any], subject_name: str = "") -> OpenFact:
    return OpenFact(
        fact_from((*row[:5], *row[9:20])), row[5], bool(row[6]), row[7], bool(row[8]), row[-3] or "", row[-2],
        value_of(row[3], row[-1], row[4]), subject_name,
    )  # fmt: skip


def is_held(tx: Tx, belief: int) -> bool:
    """Whether a belief that this changeset has seen held is still held."""
    if tx.gathering:
        return belief not in tx.closes["beliefs"]
    return bool(tx.query("SELECT 1 FROM beliefs WHERE tenant = :t AND id = :id AND kt = :forever", id=belief))


def by_role(tx: Tx, owner: str, slots: Iterable[str], role: str, scope: int) -> list[int]:
    """Who stands in one of these slots of somebody, under a word ("sister"); two at most."""
    rows = tx.query(
        "SELECT DISTINCT f.object FROM aliases a CROSS JOIN facts f ON f.tenant = :t AND f.subject = a.line"
        f" AND f.predicate IN {_SLOTS} AND f.object <> 0"
        f" CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node AND {_HELD}"
        " WHERE a.tenant = :t AND a.key = :owner AND a.scope = :scope AND b.scope = :scope"
        " AND lower(f.phrase) LIKE '%' || :role || '%' ORDER BY f.object LIMIT 2",
        slots=texts(slots), owner=owner, role=role, scope=scope,
    )  # fmt: skip
    return [row[0] for row in rows]


def subjects_with(tx: Tx, value: str, scope: int) -> list[int]:
    """Of whom an open fact has this folded name as its object; two at most."""
    rows = tx.query(
        "SELECT DISTINCT f.subject FROM aliases a CROSS JOIN facts f ON f.tenant = :t AND f.object = a.line"
        f" CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node AND {_HELD}"
        " WHERE a.tenant = :t AND a.key = :value AND a.scope = :scope AND b.scope = :scope"
        " ORDER BY f.subject LIMIT 2",
        value=value,
        scope=scope,
    )
    return [row[0] for row in rows]


def lately_told(tx: Tx, sender: str, said_at: Instant, own: int, scope: int, most: int) -> list[Lately]:
    """The facts of the last things that somebody said before an event, the newest first."""
    rows = tx.query(
        "SELECT DISTINCT e.node, f.node, f.subject, s.name, f.phrase FROM (SELECT node FROM events WHERE tenant = :t"
        " AND sender = :sender AND said_at <= :said AND node <> :own ORDER BY said_at DESC, node DESC LIMIT :most) e"
        " CROSS JOIN edges d ON d.tenant = :t AND d.dst = e.node AND d.type = 'derived_from' AND d.kt = :forever"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = d.src"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        " WHERE d.scope = :scope ORDER BY e.node DESC, f.node DESC",
        sender=sender, said=said_at, own=own, scope=scope, most=most,
    )  # fmt: skip
    return [Lately(*row[1:]) for row in rows]


# Slots and wordings ---------------------------------------------------------------------------------


def kinds_of(tx: Tx, name: str, scope: int) -> frozenset[str]:
    """The type nouns that a folded name was worded with, not those of its roles."""
    known = tx.gathering.called([name], scope) if tx.gathering else None
    rows = (tx if known is None else tx.peek()).query(
        "SELECT DISTINCT w.kind FROM aliases a CROSS JOIN wordings w ON w.tenant = :t AND w.object = a.line"
        " WHERE a.tenant = :t AND a.key = :name AND a.scope = :scope AND w.placed <> 0",
        name=name,
        scope=scope,
    )
    lines = {row.line for row in known or ()}
    fresh = {kind for _, object_, _, kind, placed in tx.rows["wordings"] if placed and object_ in lines}
    return frozenset({row[0] for row in rows} | fresh)


def kinds_in(tx: Tx, key: str) -> frozenset[str]:
    """The type nouns with which a predicate key was ever worded."""
    rows = tx.peek().query(
        "SELECT DISTINCT kind FROM wordings WHERE tenant = :t AND key = :key AND placed <> 0", key=key
    )
    fresh = {kind for _, _, its, kind, placed in tx.rows["wordings"] if placed and its == key}
    return frozenset({row[0] for row in rows} | fresh)


def was_worded(tx: Tx, key: str) -> bool:
    """Whether any fact was ever worded with this predicate key."""
    if any(row[7] == key for row in tx.rows["facts"]):
        return True
    found = tx.peek().query(
        "SELECT 1 FROM facts f WHERE f.tenant = :t AND f.predicate = :key AND f.key = f.predicate UNION ALL"
        " SELECT 1 FROM facts f WHERE f.tenant = :t AND f.key = :key AND f.key <> f.predicate LIMIT 1",
        key=key,
    )
    return bool(found)


def in_slot(tx: Tx, subject: int, slot: str) -> list[InSlot]:
    """Everything that a slot of a subject ever held, the oldest first."""
    rows = tx.query(
        "SELECT f.object, f.literal, o.name FROM facts f LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
        " WHERE f.tenant = :t AND f.subject = :subject AND f.predicate = :slot ORDER BY f.node",
        subject=subject,
        slot=slot,
    )
    return [InSlot(object_, literal, value_of(object_, name, literal)) for object_, literal, name in rows]


def ended_at(tx: Tx, fact: FactRow, scope: int, at: Instant) -> list[int]:
    """Other facts of the same slot that end at a moment, as is believed now."""
    rows = tx.query(
        "SELECT DISTINCT f.node FROM facts f CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node"
        " WHERE f.tenant = :t AND f.subject = :subject AND f.predicate = :slot AND f.node <> :own"
        " AND b.scope = :scope AND b.kt = :forever AND b.vt = :at ORDER BY f.node",
        subject=fact.subject, slot=fact.predicate, own=fact.node, scope=scope, at=at,
    )  # fmt: skip
    return [row[0] for row in rows]


# One fact -------------------------------------------------------------------------------------------


def words_of(tx: Tx, node: int) -> str:
    """The words of a memory."""
    return str(tx.query("SELECT content FROM nodes WHERE tenant = :t AND id = :node", node=node)[0][0])


def world_of_node(tx: Tx, node: int) -> int:
    """The world in which a version was written; 0 for the top level."""
    return int(tx.query("SELECT world FROM nodes WHERE tenant = :t AND id = :node", node=node)[0][0])


def rank_of(tx: Tx, node: int) -> str:
    """How a fact came to be known: given, or read from whose words."""
    return str(tx.query("SELECT rank FROM facts WHERE tenant = :t AND node = :node", node=node)[0][0])


def holds_one(tx: Tx, node: int) -> bool:
    """Whether a fact stands in a slot that holds one value at a time."""
    return bool(tx.query("SELECT one FROM facts WHERE tenant = :t AND node = :node", node=node)[0][0])


def beliefs_in(tx: Tx, node: int, scope: int) -> list[Belief]:
    """Every belief ever held in a lineage in one scope set, the oldest first."""
    rows = tx.query(
        f"SELECT {BELIEF} FROM beliefs b WHERE b.tenant = :t AND b.line = :node AND b.scope = :scope ORDER BY b.id",
        node=node,
        scope=scope,
    )
    return [belief_from(row) for row in rows]


def drawn_from(tx: Tx, event: int, scope: int) -> list[DrawnFact]:
    """Every fact that was ever drawn from an event in this scope."""
    rows = tx.query(
        "SELECT f.node, f.subject, f.predicate, f.object, f.literal, f.key, f.rank,"
        " (SELECT o.name FROM nodes o WHERE o.tenant = :t AND o.id = f.object),"
        " (SELECT count(DISTINCT d.dst) FROM edges d WHERE d.tenant = :t AND d.src = f.node"
        " AND d.type = 'derived_from' AND d.kt = :forever),"
        " EXISTS (SELECT 1 FROM edges m WHERE m.tenant = :t AND m.src = f.node AND m.type = 'derived_from'"
        " AND m.dst = :event AND m.scope = :scope AND m.metadata ->> 'model' IS NOT NULL)"
        " FROM (SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND e.dst = :event"
        " AND e.type = 'derived_from' AND e.scope = :scope) x"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = x.src ORDER BY f.node",
        event=event,
        scope=scope,
    )
    return [DrawnFact._make((*r[:7], value_of(r[3], r[7], r[4]), r[8], bool(r[9]))) for r in rows]


def decided_by_hand(view: View, kinds: Iterable[str]) -> frozenset[Instant]:
    """The known times of all changesets of these kinds."""
    rows = view.query(
        "SELECT known FROM log WHERE tenant = :t AND kind IN (SELECT value FROM json_each(:kinds))",
        kinds=texts(kinds),
    )
    return frozenset(row[0] for row in rows)


# The parts of a stored fact, for putting another value into the same place ------------------------


class Parts(Struct, frozen=True):
    """Whom a fact is about, what it says of them in words, and its value."""

    subject: str
    """The id of the entity."""
    name: str
    slot: str
    phrase: str
    value: str
    literal: bool
    """Whether the value is a text of its own rather than something with a name."""


def parts_of(tx: Tx, node: int) -> Parts:
    """The parts of the fact at this row."""
    row = tx.query(
        "SELECT s.hash, s.name, f.predicate, f.phrase, coalesce(o.name, ''), f.literal, f.object FROM facts f"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object WHERE f.tenant = :t AND f.node = :node",
        node=node,
    )[0]
    value = row[4] if row[6] else str(orjson.loads(row[5] or '""'))
    return Parts(row[0].hex(), row[1], row[2], row[3], value, not row[6])
