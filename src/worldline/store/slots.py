"""What a store knows of facts and their slots, for those who are about to write one.

An `OpenFact` is a fact with the belief that is held in it. What is over or kept back is not open; what is
believed of a subject counts for its owner, whatever the run.

A changeset gathers its rows and writes them at its end. What settling one event needs (whom its names mean, what is
believed of its subjects) is looked up once by `gather`, and what is asked is answered from that and from the rows
gathered since. A question that cannot be answered so has the answer None, and is put to the store; once rows are
written out, the look-up is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, LATEST, Instant, Interval
from worldline.hashing import FactParts, fact_id, named_ids
from worldline.model import Belief, EdgeDraft, FactDraft, FactRow, Metadata, NodeDraft, Place
from worldline.ports import Row, View
from worldline.rules.slots import worded
from worldline.store.people import Called, exactly_each, name_keys, stored_names
from worldline.store.view import BELIEF, HELD_FACT, LISTED, belief_from, fact_from, listed, metadata_from

if TYPE_CHECKING:
    from worldline.store.tx import Tx

_SLOTS = "(SELECT value FROM json_each(:slots))"
_HELD = "b.kt = :forever AND b.vt = :forever"
FACTS_LATELY = 30
"""So many facts of what was said shortly before are looked at."""


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
    said: str = ""
    """The words that it was first drawn from, where they were asked for, and where in them it stands."""
    at: int = 0


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


def open_facts_among(tx: Tx, nodes: Collection[int], scope: int, *, before: bool = False) -> list[OpenFact]:
    """Which of these nodes are facts that are believed and not over, with the names of their subjects.

    Those that were stored `before` need not be written out first, unless something was closed.
    """
    before = before and not tx.closes["beliefs"]
    if before:
        tx.note()
    view = tx.peek() if before else tx
    found = open_facts_seen(view, nodes, scope)
    if tx.gathering:
        tx.gathering.note(found)
    return found


def open_facts_seen(view: View, nodes: Collection[int], scope: int | None = None) -> list[OpenFact]:
    """Which of these are open facts, of a scope's owner or as a view sees them, in their order, with their words."""
    places = {node: at for at, node in enumerate(nodes)}
    rows = sorted(view.open_facts_among(nodes, scope) if nodes else [], key=lambda row: places[row[3]])
    return [_open(row[3:], row[0], row[1] or "", metadata_from(row[2]).get("start", 0)) for row in rows]


def open_facts_of_each(view: View, near: Sequence[Sequence[int]]) -> list[list[OpenFact]]:
    """The same of each of some lists, in one look."""
    found: dict[int, list[OpenFact]] = {}
    every = dict.fromkeys(node for nodes in near for node in nodes)
    for fact in open_facts_seen(view, list(every)) if every else ():
        found.setdefault(fact.row.node, []).append(fact)
    return [[fact for node in dict.fromkeys(nodes) for fact in found.get(node, ())] for nodes in near]


def _open(row: Sequence[Any], subject_name: str = "", said: str = "", at: int = 0) -> OpenFact:
    return OpenFact(
        fact_from((*row[:5], *row[9:20])), row[5], bool(row[6]), row[7], bool(row[8]), row[-3] or "", row[-2],
        value_of(row[3], row[-1], row[4]), subject_name, said, at,
    )  # fmt: skip


def is_held(tx: Tx, belief: int) -> bool:
    """Whether a belief that this changeset has seen held is still held."""
    if tx.gathering:
        return belief not in tx.closes["beliefs"]
    return bool(tx.query("SELECT 1 FROM beliefs WHERE tenant = :t AND id = :id AND kt = :forever", id=belief))


def by_role(tx: Tx, owner: str, slots: Iterable[str], role: str, scope: int) -> list[int]:
    """Who stands in one of these slots of somebody, under a word ("sister"); two at most."""
    return tx.column(
        "SELECT DISTINCT f.object FROM aliases a CROSS JOIN facts f ON f.tenant = :t AND f.subject = a.line"
        f" AND f.predicate IN {_SLOTS} AND f.object <> 0"
        f" CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node AND {_HELD}"
        " WHERE a.tenant = :t AND a.key = :owner AND a.scope = :scope AND b.scope = :scope"
        " AND lower(f.phrase) LIKE '%' || :role || '%' ORDER BY f.object LIMIT 2",
        slots=listed(slots),
        owner=owner,
        role=role,
        scope=scope,
    )


def subjects_with(tx: Tx, value: str, scope: int) -> list[int]:
    """Of whom an open fact has this folded name as its object; two at most."""
    return tx.column(
        "SELECT DISTINCT f.subject FROM aliases a CROSS JOIN facts f ON f.tenant = :t AND f.object = a.line"
        f" CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node AND {_HELD}"
        " WHERE a.tenant = :t AND a.key = :value AND a.scope = :scope AND b.scope = :scope"
        " ORDER BY f.subject LIMIT 2",
        value=value,
        scope=scope,
    )


def lately_told(
    view: View, sender: str, said_at: Instant, own: int, scope: int | None, most: int
) -> list[Lately]:
    """The facts of the last things that somebody said before an event, the newest first."""
    mine = view.scoped("d") if scope is None else "d.scope = :scope"
    rows = view.query(
        "SELECT DISTINCT e.node, f.node, f.subject, s.name, f.phrase FROM (SELECT node FROM events WHERE tenant = :t"
        " AND sender = :sender AND said_at <= :said AND node <> :own ORDER BY said_at DESC, node DESC LIMIT :most) e"
        " CROSS JOIN edges d ON d.tenant = :t AND d.dst = e.node AND d.type = 'derived_from' AND d.kt = :forever"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = d.src"
        " CROSS JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
        f" WHERE {mine} ORDER BY e.node DESC, f.node DESC LIMIT {FACTS_LATELY}",
        sender=sender, said=said_at, own=own, scope=scope, most=most,
    )  # fmt: skip
    return [Lately(*row[1:]) for row in rows]


def facts_of_events(view: View, events: Collection[int]) -> list[tuple[int, int]]:
    """(event, fact) of the facts that were drawn from these events."""
    rows = view.query(
        "SELECT DISTINCT d.dst, f.node FROM json_each(:among) j CROSS JOIN edges d ON d.tenant = :t AND d.dst = j.value"
        " AND d.type = 'derived_from' AND d.kt = :forever"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = d.src ORDER BY d.dst, f.node",
        among=listed(events),
    )
    return [(event, fact) for event, fact in rows]


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
    return tx.column(
        "SELECT DISTINCT f.node FROM facts f CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node"
        " WHERE f.tenant = :t AND f.subject = :subject AND f.predicate = :slot AND f.node <> :own"
        " AND b.scope = :scope AND b.kt = :forever AND b.vt = :at ORDER BY f.node",
        subject=fact.subject,
        slot=fact.predicate,
        own=fact.node,
        scope=scope,
        at=at,
    )


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
        kinds=listed(kinds),
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


_KEYS = "(SELECT value FROM json_each(:keys))"
_PARENT = (
    "coalesce((SELECT c.src FROM edges c WHERE c.tenant = :t AND c.dst = n.id AND c.type = 'contains'"
    " AND c.vt > :latest AND c.kt = :forever ORDER BY c.vt DESC, c.id LIMIT 1), 0)"
)
_MOST = 300
"""So many facts of one slot are looked at."""
_CHOSEN = (
    f"SELECT value FROM json_each(:only) UNION SELECT a.node FROM facts a WHERE a.tenant = :t AND a.subject IN {LISTED}"
    " UNION SELECT w.node FROM json_each(:slots) s CROSS JOIN facts w ON w.tenant = :t AND w.node IN"
    " (SELECT x.node FROM facts x WHERE x.tenant = :t AND x.subject = CAST(s.value ->> 0 AS BIGINT)"
    " AND x.predicate = s.value ->> 1 ORDER BY x.node DESC LIMIT :most)"
)
"""These facts, all those of some subjects, and of others the newest in some slots."""
_IDS, _MANY_IDS = 16, 256
"""So many ids are asked for at once, or a multiple of so many, so that the statement stays the same."""


class Current(Struct, frozen=True):
    """A fact with a belief that is held in it, over or not, and the world that it was written in."""

    fact: OpenFact
    line: int
    world: int

    @property
    def belief(self) -> Belief:
        return self.fact.row.belief


class Gathering:
    """The look-up of one changeset."""

    def __init__(self, tx: Tx, scope: int, tellers: Mapping[int, str]) -> None:
        self._tx, self._scope, self.tellers = tx, scope, tellers
        """The events whose claims are looked up, with who said each."""
        self.lines: dict[str, int] = {}
        """Whom the names that were asked for mean, where they are known."""
        self.claimed: dict[FactParts, bytes] = {}
        """The ids of the facts that are claimed, by their parts."""
        if _has_beliefs(tx):
            tx.flush()
        self._view = tx.peek()
        """What the look-up asks: rows that do not matter to it need not be written out for it."""
        self._first = tx.next_row("nodes")
        """Whatever has this number or a later one was not stored when the look-up was made."""
        self._names: dict[str, list[Called]] = {}
        self._facts: dict[int, list[Current]] = {}
        self._slots: dict[int, frozenset[str] | None] = {}
        """The slots that were looked up of each subject; None for all."""
        self._named: dict[int, frozenset[str]] = {}
        """All slots of a subject, where somebody asked for them."""
        self._cut: set[tuple[int, str]] = set()
        """Subjects and slots that hold more than was looked up."""
        self._kept: set[int] = set()
        """The beliefs that were looked up."""
        self._by_belief: dict[int, Current] = {}
        self._by_line: dict[int, list[Current]] = {}

    # Looking up ------------------------------------------------------------------------------------

    def look_up_names(self, names: Collection[str], more: Collection[str], ids: Iterable[bytes]) -> None:
        """Whom these names and more folded ones mean in this scope, and which of these ids are stored.

        What a changeset asks of them is known from now on; of the other ids it knows that they are new.
        """
        tx, asked = self._tx, list(dict.fromkeys(ids))
        keys = {*(key for name in names for key in name_keys(name)), *more}
        room = _IDS if len(asked) <= _IDS else -(-len(asked) // _MANY_IDS) * _MANY_IDS
        bound = {f"h{n}": asked[n] if n < len(asked) else b"" for n in range(room)}
        rows = self._view.query(
            "SELECT a.id, a.key, a.name, a.line, EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
            " AND b.line = a.line AND b.scope = :scope AND b.kt = :forever AND b.vf <= :v AND b.vt > :v),"
            f" n.hash, n.name, n.line, {_PARENT}"
            " FROM aliases a CROSS JOIN nodes n ON n.tenant = :t AND n.id = a.line"
            f" WHERE a.tenant = :t AND a.key IN {_KEYS} AND a.scope = :scope"
            f" UNION ALL SELECT 0, '', '', n.id, FALSE, n.hash, n.name, n.line, {_PARENT} FROM nodes n"
            f" WHERE n.tenant = :t AND n.hash IN ({', '.join(f':{name}' for name in bound)}) ORDER BY 1, 4",
            keys=listed(keys), scope=self._scope, latest=LATEST, **bound,
        )  # fmt: skip
        self._names.update({key: [] for key in keys})
        for number, key, name, line, believed, id_, called, its, parent in rows:
            if number:
                self._names[key].append(Called(key, name, line, bool(believed)))
            tx.recollect(line, (id_, called, its), (parent or None) if line == its else False)
        tx.absent(*(set(asked) - {row[5] for row in rows}))
        known = exactly_each(tx, names, self._scope)
        self.lines = {name: row.line for name, row in known.items() if row is not None}

    def look_up_slots(self, lines: Collection[int]) -> Mapping[int, frozenset[str]]:
        """The slots in which anything was ever believed of each of these subjects."""
        rows = self._view.query(
            f"SELECT DISTINCT subject, predicate FROM facts WHERE tenant = :t AND subject IN {LISTED}",
            among=listed(lines),
        ) if lines else []  # fmt: skip
        found: dict[int, list[str]] = {line: [] for line in lines}
        for subject, predicate in rows:
            found[subject].append(predicate)
        self._named = {line: frozenset(slots) for line, slots in found.items()}
        return self._named

    def look_up_facts(self, into: Mapping[int, frozenset[str] | None]) -> None:
        """What is believed of these subjects in these slots (None for all), in this scope's owner.

        Of a slot that holds very many the newest are looked up, and the facts that are claimed.
        """
        if not into or self._tx.has_merges():
            return
        same = [found[0] for id_ in self.claimed.values() if (found := self._tx.find(id_))]
        whole = [line for line, slots in into.items() if slots is None]
        pairs = [[line, slot] for line, slots in into.items() for slot in sorted(slots or ())]
        rows = self._view.query(
            f"SELECT {HELD_FACT}, n.hash, n.name, n.line, n.world FROM facts f"
            " CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node"
            " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id AND b.kt = :forever"
            " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
            f" WHERE f.tenant = :t AND f.node IN ({_CHOSEN}) AND ({self._tx.same_owner(self._scope)})"
            " ORDER BY b.vf, b.id",
            among=listed(whole), scope=self._scope, slots=orjson.dumps(pairs).decode(), most=_MOST, only=listed(same),
        )  # fmt: skip
        self._slots.update(into)
        for row in rows:
            self._keep(row)
        held = Counter((c.fact.row.subject, c.fact.row.predicate) for c in self._by_belief.values())
        self._cut = {
            slot for slot, count in held.items() if count >= _MOST and self._slots.get(slot[0]) is not None
        }

    def _keep(self, r: Row) -> None:
        *told, id_, name, line, world = r
        belief = told[9]
        if belief in self._kept:
            return
        self._kept.add(belief)
        fact = _open(told)
        row, current = fact.row, Current(fact, line, world)
        self._facts.setdefault(row.subject, []).append(current)
        self._by_belief[belief] = current
        self._by_line.setdefault(current.line, []).append(current)
        self._tx.recollect(row.node, (id_, name, line))

    def note(self, facts: Iterable[OpenFact]) -> None:
        """Facts that were looked up by another way, and may be ended."""
        for fact in facts:
            self._by_belief.setdefault(fact.row.belief.row, Current(fact, fact.row.node, 0))

    # Answering -------------------------------------------------------------------------------------

    def called(self, keys: Collection[str], scope: int) -> list[Called] | None:
        """Whom these folded names stand for."""
        if scope != self._scope:
            return None
        if missing := [key for key in keys if key not in self._names]:
            self._names.update({key: [] for key in missing})
            for row in stored_names(self._view, missing, scope):
                self._names[row.key].append(row)
        fresh = [
            Called(key, name, line, True)
            for _, _, key, name, line, where in self._tx.rows["aliases"]
            if key in keys and where == scope
        ]
        return [*(row for key in dict.fromkeys(keys) for row in self._names[key]), *fresh]

    def slots(self, subject: int) -> set[str] | None:
        """The slots in which anything was ever believed of a subject, and perhaps others."""
        if subject < self._first and subject not in self._named:
            return None
        return {
            *self._named.get(subject, ()),
            *(row[3] for row in self._tx.rows["facts"] if row[2] == subject),
        }

    def open_facts(
        self, subject: int, scope: int, among: Collection[str] | None = None
    ) -> list[OpenFact] | None:
        """What is believed of a subject and not over; at least of these slots, if given."""
        current = self._current(subject, scope, among)
        if current is None:
            return None
        return [c.fact for c in current if c.belief.valid.end == FOREVER and c.belief.status != "quarantined"]

    def slot(self, subject: int, predicate: str, scope: int, beside: int) -> list[FactRow] | None:
        """The believed facts of a subject and predicate, in the same world as `beside`."""
        current, world = self._current(subject, scope, (predicate,)), self._world_of(beside)
        if current is None or world is None or (subject, predicate) in self._cut:
            return None
        return [c.fact.row for c in current if c.fact.row.predicate == predicate and c.world == world]

    def next_begins(self, line: int, scope: int, start: Instant) -> Instant | None:
        """Where the next belief of a fact begins in a scope; FOREVER for nowhere."""
        if line not in self._by_line or scope != self._scope:
            return None
        held = [c.belief for c in self._by_line[line] if self._is_open(c.belief.row)]
        begins = [b.valid.start for b in held if b.scope == scope]
        begins += [row[6] for row in self._gathered() if row[2] == line and row[5] == scope]
        return min([begin for begin in begins if begin > start], default=FOREVER)

    def belief(self, number: int) -> Row | None:
        """A belief in a fact as it is stored or gathered."""
        if not self._is_open(number):
            return None
        gathered = next((row for row in self._gathered() if row[0] == number), None)
        if gathered is not None or number not in self._by_belief:
            return gathered
        held = self._by_belief[number]
        b = held.belief
        status = None if b.status == "believed" else b.status
        return (
            b.row, self._tx.tenant, held.line, b.of, "Fact", b.scope, b.valid.start, b.valid.end, b.known.start,
            b.known.end, status, b.confidence, b.precision, b.reason,
        )  # fmt: skip

    # What the changeset has gathered ---------------------------------------------------------------

    def _is_open(self, belief: int) -> bool:
        return belief not in self._tx.closes["beliefs"]

    def _gathered(self) -> Iterator[Row]:
        """Beliefs in facts that are gathered and not given up again."""
        return (row for row in self._tx.rows["beliefs"] if row[4] == "Fact" and self._is_open(row[0]))

    def _world_of(self, fact: int) -> int | None:
        for row in self._tx.rows["nodes"]:
            if row[0] == fact:
                return int(row[8])
        return next((c.world for c in self._by_line.get(fact, ())), None)

    def _current(self, subject: int, scope: int, slots: Collection[str] | None) -> list[Current] | None:
        if scope != self._scope or self._tx.has_merges():
            return None
        if subject < self._first and not self._covers(subject, slots):
            more = None if slots is None else (self._slots.get(subject) or frozenset()) | frozenset(slots)
            self.look_up_facts({subject: more})
        stored = self._facts.get(subject, [])
        found = [c for c in stored if self._is_open(c.belief.row)]
        facts = {row[0]: row for row in self._tx.rows["facts"]}
        for row in self._gathered():
            node, belief = row[3], _belief(row)
            if node in facts:
                found += [self._fresh(facts[node], belief, row[2])] if facts[node][2] == subject else []
            elif row[2] in self._by_line:
                known = self._by_line[row[2]][0]
                if known.fact.row.subject == subject:
                    fact = replace(known.fact, row=replace(known.fact.row, belief=belief))
                    found.append(replace(known, fact=fact))
            else:
                return None  # believed again after it was given up: whose it is stands in the store
        return sorted(found, key=lambda c: (c.belief.valid.start, c.belief.row))

    def _covers(self, subject: int, slots: Collection[str] | None) -> bool:
        """Whether all that is stored in these slots of a subject was looked up."""
        looked, named = self._slots.get(subject, frozenset()), self._named.get(subject)
        if looked is None or slots is None:
            return looked is None
        missing = set(slots) - looked
        return not missing or (named is not None and missing.isdisjoint(named))

    def _fresh(self, row: Row, belief: Belief, line: int) -> Current:
        node, _, subject, predicate, object_, literal, phrase, _, kind, one, rank, dated = row
        value = value_of(object_, self._tx.name_of(object_) if object_ else None, literal)
        cited = (e[5] for e in self._tx.rows["edges"] if e[3] == node and e[4] == "derived_from")
        fact = OpenFact(
            FactRow(node, subject, predicate, object_, literal, belief), kind, bool(one), rank, bool(dated),
            self.tellers.get(next(cited, 0), ""), phrase, value,
        )  # fmt: skip
        return Current(fact, line, self._world_of(node) or 0)


class ClaimedFact(NamedTuple):
    """A fact that a claim would make, its ends by name."""

    subject: str
    slot: str
    object: str | None
    literal: str | None


def gather(
    tx: Tx, place: Place, tellers: Mapping[int, str], names: Collection[str], more: Collection[str],
    facts: Iterable[ClaimedFact],
) -> Gathering:  # fmt: skip
    """Looks up for a changeset whom these names, and more folded ones, mean, and which of these facts are stored."""
    found = tx.gathering = Gathering(tx, place.scope, tellers)
    ids, found.claimed = named_ids(names, facts, tx.id_of(place.world) if place.world else None)
    found.look_up_names(names, more, [*ids.values(), *found.claimed.values()])
    return found


def _has_beliefs(tx: Tx) -> bool:
    """Whether a changeset has gathered names or facts, or given any up, so that a look-up must see them."""
    known = tx.rows["aliases"] or tx.rows["facts"] or tx.closes["beliefs"]
    return bool(known) or any(row[4] == "Fact" for row in tx.rows["beliefs"])


def _belief(row: Row) -> Belief:
    return Belief(
        row[0], row[3], Interval(row[6], row[7]), Interval(row[8], row[9]), row[5], row[10] or "believed",
        row[11], row[12], row[13],
    )  # fmt: skip
