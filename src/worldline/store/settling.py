"""What settling one event needs, looked up once: whom its names mean, what is believed of its subjects.

A changeset gathers its rows and writes them at its end. So that it need not write them out to see them, what
is asked here is answered from the look-up and from the rows gathered since. A question that cannot be
answered so has the answer None, and is put to the store; once rows are written out, the look-up is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, LATEST, Instant, Interval
from worldline.model import Belief, FactRow
from worldline.ports import Row, Tx
from worldline.store.naming import Called, texts
from worldline.store.slots import OpenFact, value_of
from worldline.store.view import BELIEF, LISTED, fact_from, listed

_KEYS = "(SELECT value FROM json_each(:keys))"
_PARENT = (
    "coalesce((SELECT c.src FROM edges c WHERE c.tenant = :t AND c.dst = n.id AND c.type = 'contains'"
    " AND c.vt > :latest AND c.kt = :forever ORDER BY c.vt DESC, c.id LIMIT 1), 0)"
)
_MOST = 300
"""So many facts of one slot are looked at."""
_NEWEST = (
    "SELECT value FROM json_each(:only) UNION SELECT w.node FROM json_each(:among) s CROSS JOIN json_each(:slots) p"
    " CROSS JOIN facts w ON w.tenant = :t AND w.node IN (SELECT x.node FROM facts x WHERE x.tenant = :t"
    " AND x.subject = s.value AND x.predicate = p.value ORDER BY x.node DESC LIMIT :most)"
)
_IDS = 16
"""So many ids are asked for at once, so that the statement stays the same."""


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

    def __init__(self, tx: Tx, scope: int, teller: str) -> None:
        self._tx, self._scope, self._teller = tx, scope, teller
        self._first = tx.next_row("nodes")
        """Whatever has this number or a later one was not stored when the look-up was made."""
        self._names: dict[str, list[Called]] = {}
        self._facts: dict[int, list[Current]] = {}
        self._slots: frozenset[str] | None = frozenset()
        """The slots that were looked up of these subjects; None for all."""
        self._named: frozenset[str] | None = None
        """All slots of these subjects, where somebody asked for them."""
        self._cut: set[tuple[int, str]] = set()
        """Subjects and slots that hold more than was looked up."""
        self._by_belief: dict[int, Current] = {}
        self._by_line: dict[int, list[Current]] = {}

    # Looking up ------------------------------------------------------------------------------------

    def look_up_names(self, keys: Collection[str], ids: Iterable[bytes]) -> None:
        """Whom these folded names mean in this scope, and which of these ids are stored.

        What a changeset asks of them is known from now on; of the other ids it knows that they are new.
        """
        tx, asked = self._tx, list(dict.fromkeys(ids))
        bound = {f"h{n}": asked[n] if n < len(asked) else b"" for n in range(max(_IDS, len(asked)))}
        rows = tx.query(
            "SELECT a.id, a.key, a.name, a.line, EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
            " AND b.line = a.line AND b.scope = :scope AND b.kt = :forever AND b.vf <= :v AND b.vt > :v),"
            f" n.hash, n.name, n.line, {_PARENT}"
            " FROM aliases a CROSS JOIN nodes n ON n.tenant = :t AND n.id = a.line"
            f" WHERE a.tenant = :t AND a.key IN {_KEYS} AND a.scope = :scope"
            f" UNION ALL SELECT 0, '', '', n.id, FALSE, n.hash, n.name, n.line, {_PARENT} FROM nodes n"
            f" WHERE n.tenant = :t AND n.hash IN ({', '.join(f':{name}' for name in bound)}) ORDER BY 1, 4",
            keys=texts(keys), scope=self._scope, latest=LATEST, **bound,
        )  # fmt: skip
        self._names.update({key: [] for key in keys})
        for number, key, name, line, believed, id_, called, its, parent in rows:
            if number:
                self._names[key].append(Called(key, name, line, bool(believed)))
            tx.recollect(line, (id_, called, its), (parent or None) if line == its else False)
        tx.absent(*(set(asked) - {row[5] for row in rows}))

    def look_up_slots(self, lines: Collection[int]) -> frozenset[str]:
        """The slots in which anything was ever believed of these subjects."""
        self._named = frozenset(
            row[0]
            for row in self._tx.query(
                f"SELECT DISTINCT predicate FROM facts WHERE tenant = :t AND subject IN {LISTED}",
                among=listed(lines),
            )
        )
        return self._named

    def look_up_facts(
        self, lines: Collection[int], slots: frozenset[str] | None, ids: Iterable[bytes]
    ) -> None:
        """What is believed of these subjects in these slots (None for all), in this scope's owner.

        Of a slot that holds very many the newest are looked up, and the facts of these ids.
        """
        asked = list(dict.fromkeys(lines))
        if not asked or self._tx.has_merges():
            return
        same = [found[0] for id_ in ids if (found := self._tx.find(id_))]
        chosen = f"f.subject IN {LISTED}" if slots is None else f"f.node IN ({_NEWEST})"
        rows = self._tx.query(
            "SELECT f.node, f.subject, f.predicate, f.object, f.literal, f.kind, f.one, f.rank, f.dated, f.phrase,"
            f" {BELIEF}, o.name, (SELECT v.sender FROM edges d CROSS JOIN events v ON v.tenant = :t"
            " AND v.node = d.dst WHERE d.tenant = :t AND d.src = f.node AND d.type = 'derived_from'"
            " ORDER BY d.id LIMIT 1), n.hash, n.name, n.line, n.world FROM facts f"
            " CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node"
            " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id AND b.kt = :forever"
            " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
            f" WHERE f.tenant = :t AND {chosen} AND ({self._tx.same_owner(self._scope)}) ORDER BY b.vf, b.id",
            among=listed(asked), scope=self._scope, slots=texts(slots or ()), most=_MOST, only=listed(same),
        )  # fmt: skip
        self._slots = slots
        self._facts.update({line: [] for line in asked})
        for row in rows:
            self._keep(row)
        if slots is not None:
            held = Counter(
                (fact.fact.row.subject, fact.fact.row.predicate) for fact in self._by_belief.values()
            )
            self._cut = {slot for slot, count in held.items() if count >= _MOST}

    def _keep(self, r: Row) -> None:
        row = fact_from((*r[:5], *r[10:21]))
        value = value_of(r[3], r[21], r[4])
        fact = OpenFact(row, r[5], bool(r[6]), r[7], bool(r[8]), r[22] or "", r[9], value)
        current = Current(fact, r[25], r[26])
        self._facts[row.subject].append(current)
        self._by_belief[row.belief.row] = current
        self._by_line.setdefault(current.line, []).append(current)
        self._tx.recollect(row.node, r[23:26])

    def note(self, facts: Iterable[OpenFact]) -> None:
        """Facts that were looked up by another way, and may be ended."""
        for fact in facts:
            self._by_belief.setdefault(fact.row.belief.row, Current(fact, fact.row.node, 0))

    # Answering -------------------------------------------------------------------------------------

    def called(self, keys: Collection[str], scope: int) -> list[Called] | None:
        """Whom these folded names stand for."""
        if scope != self._scope or any(key not in self._names for key in keys):
            return None
        fresh = [
            Called(key, name, line, True)
            for _, _, key, name, line, where in self._tx.rows["aliases"]
            if key in keys and where == scope
        ]
        return [*(row for key in dict.fromkeys(keys) for row in self._names[key]), *fresh]

    def slots(self, subject: int) -> set[str] | None:
        """The slots in which anything was ever believed of a subject, and perhaps others."""
        if self._named is None or not (subject >= self._first or subject in self._facts):
            return None
        return {*self._named, *(row[3] for row in self._tx.rows["facts"] if row[2] == subject)}

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
        looked_up = subject >= self._first or (subject in self._facts and self._covers(slots))
        if scope != self._scope or not looked_up or self._tx.has_merges():
            return None
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

    def _covers(self, slots: Collection[str] | None) -> bool:
        """Whether all that is stored in these slots was looked up."""
        if self._slots is None or slots is None:
            return self._slots is None
        missing = set(slots) - self._slots
        return not missing or (self._named is not None and missing.isdisjoint(self._named))

    def _fresh(self, row: Row, belief: Belief, line: int) -> Current:
        node, _, subject, predicate, object_, literal, phrase, _, kind, one, rank, dated = row
        value = value_of(object_, self._tx.name_of(object_) if object_ else None, literal)
        cited = any(edge[3] == node and edge[4] == "derived_from" for edge in self._tx.rows["edges"])
        fact = OpenFact(
            FactRow(node, subject, predicate, object_, literal, belief), kind, bool(one), rank, bool(dated),
            self._teller if cited else "", phrase, value,
        )  # fmt: skip
        return Current(fact, line, self._world_of(node) or 0)


def _belief(row: Row) -> Belief:
    return Belief(
        row[0], row[3], Interval(row[6], row[7]), Interval(row[8], row[9]), row[5], row[10] or "believed",
        row[11], row[12], row[13],
    )  # fmt: skip
