"""Random operations on one memory, and the laws that must hold after any number of them.

`Fuzz(memory, seed).run(1500, every=250)` is deterministic: the same seed and clock give the same
store. An operation may be refused (that is an outcome, and must leave nothing behind); any other
exception is a bug.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from worldline.clock import FOREVER
from worldline.errors import WorldlineError
from worldline.memory import Memory
from worldline.model import Edge, Event, Fact, Receipt, Scope
from worldline.rules.handlers import BUILT_IN
from worldline.store import ledger
from worldline.text import passages

SECOND = 1_000_000
DAY = 86_400 * SECOND
BEGIN = 1_767_225_600 * SECOND  # 2026-01-01
WIDENERS = ("correct", "undo")
"""The only kinds of changeset that may widen what a version's belief covers."""
EDGE_TYPES = tuple(name for name in BUILT_IN if name not in ("fact", "same_as", "contains"))
PEOPLE = ("Ann", "Bob", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal")
PLACES = ("Oslo", "Rome", "Lima", "Kyoto", "Quito")
SEVERAL = ("move", "event_with_facts")
"""Operations of several changesets: a refused second one leaves the first."""
KEPT = 60
"""How many of the newest things an operation chooses from."""


class Ticks:
    """A clock that goes on by one second whenever it is read."""

    def __init__(self, start: int = BEGIN) -> None:
        self.now = start

    def __call__(self) -> int:
        self.now += SECOND
        return self.now


class BrokenLawError(AssertionError):
    """A law that did not hold."""


class Fuzz:
    """Random operations with a seeded generator, over one memory."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self.memory, self.random, self.step = memory, random.Random(seed), 0
        self.handles = [
            *[memory] * 6,
            memory.scoped(user="ann"),
            memory.scoped(user="bob"),
            memory.scoped(user="ann", agent="a1"),
            memory.scoped(user="ann").shared_with(Scope(user="bob")),
        ]
        self.notes: list[str] = []
        self.worlds: list[str] = []
        self.events: list[str] = []
        self.facts: list[str] = []
        self.people: list[str] = []
        self.receipts: list[Receipt] = []
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.last = ""
        self.operations: list[Callable[[Memory], Receipt | None]] = [
            self.note,
            self.note,
            self.note_inside,
            self.again,
            self.event,
            self.event_in_session,
            self.event_with_facts,
            self.functional,
            self.functional,
            self.multi,
            self.correction,
            self.doubtful,
            self.link,
            self.link,
            self.supersede,
            self.contradict,
            self.amend,
            self.amend,
            self.correct,
            self.widen,
            self.withdraw,
            self.retire,
            self.end_edge,
            self.wrong_edge,
            self.undo,
            self.undo_older,
            self.quarantine,
            self.confirm,
            self.propose,
            self.accept,
            self.reject,
            self.undo_merge,
            self.move,
            self.contain,
            self.entity,
            self.split,
            self.load,
        ]

    def run(self, operations: int, every: int, progress: Callable[[int], None] = lambda done: None) -> Fuzz:
        """That many operations, the laws checked now and then and at the end."""
        for done in range(1, operations + 1):
            self.one()
            if done % every == 0 or done == operations:
                check(self.memory)
                progress(done)
        return self

    def one(self) -> None:
        """One random operation; a refusal must leave nothing behind."""
        self.step += 1
        operation = self.random.choice(self.operations)
        before = rows_written(self.memory)
        try:
            receipt = operation(self.random.choice(self.handles))
        except WorldlineError as error:
            self.refused[operation.__name__] += 1
            self.reasons[f"{operation.__name__}: {type(error).__name__}: {str(error)[:60]}"] += 1
            if rows_written(self.memory) != before and operation.__name__ not in SEVERAL:
                raise BrokenLawError(
                    f"step {self.step}: a refused {operation.__name__} left rows behind"
                ) from error
        except Exception as error:
            raise BrokenLawError(f"step {self.step}: {operation.__name__} raised {error!r}") from error
        else:
            self.last = f"{operation.__name__} {receipt}"
            if receipt is not None:
                self.done[operation.__name__] += 1
                self.receipts.append(receipt)

    # Choosing ----------------------------------------------------------------------------------

    def pick(self, pool: list[str]) -> str | None:
        """One of the newest ids, or now and then of all."""
        if not pool:
            return None
        return self.random.choice(pool[-KEPT:] if self.random.random() < 0.9 else pool)

    def any(self) -> str | None:
        """Any memory."""
        return self.pick(
            self.random.choice([self.notes, self.notes, self.worlds, self.facts, self.people, self.events])
        )

    def when(self) -> int | None:
        """No time, or one around now (often a round one, so that ties happen)."""
        if self.random.random() < 0.5:
            return None
        return BEGIN + self.random.randint(-20, 40) * DAY

    def edge(self, where: str = "TRUE") -> Edge | None:
        """A random edge row, current or not."""

        def look(view: Any) -> list[Edge]:
            last = view.query("SELECT max(id) FROM edges")[0][0] or 0
            return view.edge_rows(f"e.id >= {self.random.randint(0, last)} AND {where}")[:1]

        found = self.memory.handle.read(look)
        return found[0] if found else None

    # Operations --------------------------------------------------------------------------------

    def note(self, m: Memory) -> Receipt:
        """A note, sometimes one that is there already."""
        name = f"n{self.random.randint(0, 5 + self.step // 4)}"
        type_ = self.random.choice(("project", "learning", "context"))
        receipt = m.note(type_, name, self.random.choice(("", "tea", "coffee")), valid_from=self.when())
        (self.worlds if type_ == "project" else self.notes).append(receipt.id or "")
        return receipt

    def note_inside(self, m: Memory) -> Receipt | None:
        """A note inside a world, and sometimes a world inside a world."""
        world = self.pick(self.worlds)
        if world is None:
            return None
        return self.note(m.enter(world))

    def again(self, m: Memory) -> Receipt | None:
        """The payload of a stored note once more, from another moment."""
        id_ = self.pick(self.notes)
        if id_ is None:
            return None
        node = m.get(id_, exact=True)
        return m.note(node.type, node.name, node.content, valid_from=self.when(), dated=node.dated)

    def event(self, m: Memory) -> Receipt:
        """Something said."""
        text = (
            f"{self.random.choice(PEOPLE)} went to {self.random.choice(PLACES)} {self.random.randint(0, 999)}"
        )
        if self.random.random() < 0.02:
            text *= 200
        said = Event(
            text, self.random.choice(PEOPLE), self.when(), metadata={"mood": self.random.choice("ab")}
        )
        receipt = m.remember(said)
        self.events.append(receipt.id or "")
        return receipt

    def event_in_session(self, m: Memory) -> Receipt:
        """Something said in a session."""
        receipt = m.remember(
            f"hello {self.step % 500}", session=f"s{self.random.randint(0, 5)}", said_at=self.when()
        )
        self.events.append(receipt.id or "")
        return receipt

    def event_with_facts(self, m: Memory) -> Receipt:
        """Something said, with what it means."""
        person, place = self.random.choice(PEOPLE), self.random.choice(PLACES)
        given = [Fact(person, "lives_in", place), Fact(person, "knows", self.random.choice(PEOPLE))]
        receipt = m.remember(f"{person} in {place}, {self.step}", said_at=self.when(), facts=given)
        self.events.append(receipt.id or "")
        return receipt

    def functional(self, m: Memory) -> Receipt:
        """A fact that replaces the one before it."""
        given = Fact(
            self.random.choice(PEOPLE), "lives_in", self.random.choice(PLACES), valid_from=self.when()
        )
        return self._fact(m, given)

    def multi(self, m: Memory) -> Receipt:
        """A fact beside others."""
        return self._fact(
            m,
            Fact(
                self.random.choice(PEOPLE), "likes", literal=self.random.randint(0, 9), valid_from=self.when()
            ),
        )

    def correction(self, m: Memory) -> Receipt:
        """A fact that says the one before was wrong."""
        person, place = self.random.choice(PEOPLE), self.random.choice(PLACES)
        return self._fact(m, Fact(person, "lives_in", place, valid_from=self.when(), correction=True))

    def doubtful(self, m: Memory) -> Receipt:
        """A fact below its threshold."""
        person, place = self.random.choice(PEOPLE), self.random.choice(PLACES)
        return self._fact(m, Fact(person, "lives_in", place, valid_from=self.when(), confidence=0.2))

    def _fact(self, m: Memory, fact: Fact) -> Receipt:
        receipt = m.fact(fact)
        self.facts.append(receipt.id or "")
        return receipt

    def link(self, m: Memory) -> Receipt | None:
        """An edge of any type between any two memories."""
        src, dst = self.any(), self.any()
        if src is None or dst is None:
            return None
        return m.link(src, self.random.choice(EDGE_TYPES), dst, valid_from=self.when())

    def supersede(self, m: Memory) -> Receipt | None:
        """One note in place of another."""
        src, dst = self.pick(self.notes), self.pick(self.notes)
        return m.link(src, "supersedes", dst) if src and dst else None

    def contradict(self, m: Memory) -> Receipt | None:
        """Two facts against each other."""
        src, dst = self.pick(self.facts), self.pick(self.facts)
        return m.link(src, "contradicts", dst) if src and dst else None

    def amend(self, m: Memory) -> Receipt | None:
        """It changed."""
        id_ = self.any()
        return m.amend(id_, f"v{self.random.randint(0, self.step)}", valid_from=self.when()) if id_ else None

    def correct(self, m: Memory) -> Receipt | None:
        """It was something else."""
        id_ = self.any()
        return (
            m.correct(id_, f"c{self.random.randint(0, self.step)}", valid_from=self.when()) if id_ else None
        )

    def widen(self, m: Memory) -> Receipt | None:
        """It held at other times."""
        id_ = self.any()
        end = self.random.choice([None, FOREVER, BEGIN + 50 * DAY])
        return m.correct(id_, valid_from=self.when(), valid_to=end) if id_ else None

    def withdraw(self, m: Memory) -> Receipt | None:
        """It was never true."""
        id_ = self.any()
        return m.correct(id_) if id_ else None

    def retire(self, m: Memory) -> Receipt | None:
        """It is over."""
        id_ = self.any()
        return m.retire(id_, self.when()) if id_ else None

    def end_edge(self, m: Memory) -> Receipt | None:
        """An edge is over."""
        edge = self.edge()
        return m.retire(edge, self.when()) if edge else None

    def wrong_edge(self, m: Memory) -> Receipt | None:
        """An edge was wrong."""
        edge = self.edge("e.type = 'supersedes'") if self.random.random() < 0.5 else self.edge()
        return m.correct(edge) if edge else None

    def undo(self, m: Memory) -> Receipt | None:
        """Takes back one of the last writes."""
        return m.undo(self.random.choice(self.receipts[-4:])) if self.receipts else None

    def undo_older(self, m: Memory) -> Receipt | None:
        """Takes back a write that others may build on."""
        return m.undo(self.random.choice(self.receipts[-200:])) if self.receipts else None

    def quarantine(self, m: Memory) -> Receipt | None:
        """Doubts a memory."""
        id_ = self.any()
        return m.quarantine(id_, "doubt") if id_ else None

    def confirm(self, m: Memory) -> Receipt | None:
        """Vouches for a memory."""
        id_ = self.any()
        return m.confirm(id_) if id_ else None

    def entity(self, m: Memory) -> Receipt:
        """A person."""
        receipt = m.note("Entity", self.random.choice(PEOPLE), self.random.choice(("", "x", "y")))
        self.people.append(receipt.id or "")
        return receipt

    def propose(self, m: Memory) -> Receipt | None:
        """Two memories may be the same."""
        pool = self.people if self.random.random() < 0.7 else self.notes
        a, b = self.pick(pool), self.pick(pool)
        return m.link(a, "same_as", b) if a and b else None

    def accept(self, m: Memory) -> Receipt | None:
        """They are."""
        return self._decide(m.accept_merge)

    def reject(self, m: Memory) -> Receipt | None:
        """They are not."""
        return self._decide(m.reject_merge)

    def undo_merge(self, m: Memory) -> Receipt | None:
        """They are two again."""
        return self._decide(m.undo_merge)

    def _decide(self, decide: Callable[[Any], Receipt]) -> Receipt | None:
        proposals = self.memory.merges(None)
        return decide(self.random.choice(proposals)) if proposals else None

    def contain(self, m: Memory) -> Receipt | None:
        """Something that lies in the root goes into a world."""
        world, child = self.pick(self.worlds), self.any()
        return m.link(world, "contains", child) if world and child else None

    def move(self, m: Memory) -> Receipt | None:
        """Something leaves its world for another."""
        edge = self.edge(f"e.type = 'contains' AND e.kt = {FOREVER} AND e.vt = {FOREVER}")
        world = self.pick(self.worlds)
        if edge is None or world is None:
            return None
        if self.random.random() < 0.5:
            m.retire(edge)
        else:
            m.correct(edge)
        return m.link(world, "contains", edge.dst)

    def split(self, m: Memory) -> Receipt | None:
        """A mention belongs to another."""
        mention = self.edge("e.type = 'refers_to'")
        return m.split(mention.dst, [mention], self.random.choice(PEOPLE)) if mention else None

    def load(self, m: Memory) -> Receipt:
        """A few notes and links at once."""
        from worldline.write.given import Link, Note

        notes = [
            Note("learning", f"l{self.random.randint(0, self.step)}", inside=0 if i else None)
            for i in range(3)
        ]
        receipt = m.load(notes, [Link(1, "relates_to", 2)])
        self.notes.extend(receipt.ids)
        return receipt


# The laws ----------------------------------------------------------------------------------------


def rows_written(memory: Memory) -> list[tuple[Any, ...]]:
    """The newest row of every table, cheaply."""
    tables = ("nodes", "beliefs", "edges", "aliases", "scopes", "proposals", "ontology", "world_hashes")
    newest = ", ".join(f"(SELECT max(id) FROM {t})" for t in tables)
    return memory.handle.store.query(f"SELECT {newest}, (SELECT sum(sequence) FROM tenants)")


def check(memory: Memory) -> None:
    """All laws; the first broken one is raised with what broke it."""
    with memory.handle.reading():
        for law in LAWS:
            for problem in law(memory):
                raise BrokenLawError(f"{law.__name__}: {problem}")


def hashes_round_trip(memory: Memory) -> Iterator[str]:
    """Every hash, digest, checksum and index row follows from what is stored."""
    verified = memory.verify()
    yield from (f"{d.where}: {d.what}" for d in verified.damage)


def known_time_is_monotone(memory: Memory) -> Iterator[str]:
    """Changesets are stamped in strict order, and rows carry stamps of changesets only."""
    query = memory.handle.store.query
    stamps = [row[0] for row in query("SELECT known FROM log ORDER BY tenant, sequence")]
    if any(b <= a for a, b in pairwise(stamps)):
        yield "the log is not in the order of its stamps"
    real = {*stamps, FOREVER}
    for table in ("beliefs", "edges", "proposals"):
        for row, start, end in query(f"SELECT id, kf, kt FROM {table}"):
            if start not in real or end not in real or end < start:
                yield f"{table} row {row} is known from {start} to {end}"


def closed_once(memory: Memory) -> Iterator[str]:
    """Every row that ended was ended by exactly one changeset."""
    closes: Counter[tuple[str, int]] = Counter()
    for (body,) in memory.handle.store.query("SELECT body FROM log"):
        for table, ended, numbers, _ in ledger.sections(body):
            if ended:
                closes.update((table, number) for number in numbers)
    yield from (
        f"{table} row {row} was closed {times} times" for (table, row), times in closes.items() if times > 1
    )
    for table in ("beliefs", "edges", "proposals"):
        ended_rows = memory.handle.store.query(f"SELECT id FROM {table} WHERE kt != {FOREVER}")
        yield from (f"{table} row {r} ended by itself" for (r,) in ended_rows if not closes[table, r])


def validity_only_tightens(memory: Memory) -> Iterator[str]:
    """What replaces a closed belief of the same version covers no more, except by correct and undo."""
    query = memory.handle.store.query
    kinds = dict(query("SELECT known, kind FROM log"))
    for table, of in (("beliefs", "node"), ("edges", "hash")):
        put: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        columns = f"{of}, scope, vf, vt, kf, kt"
        rows = query(f"SELECT {columns} FROM {table}")
        for what, scope, start, end, since, _ in rows:
            put[what, scope, since].append((start, end))
        for what, scope, start, end, since, until in rows:
            if until in (FOREVER, since) or kinds[until].startswith(WIDENERS):
                continue
            for new_start, new_end in put[what, scope, until]:
                if new_start < end and start < new_end and (new_start < start or new_end > end):
                    before, after = f"[{start}, {end})", f"[{new_start}, {new_end})"
                    yield f"{table} {what!r}: {before} became {after} by {kinds[until]}"


def no_empty_interval(memory: Memory) -> Iterator[str]:
    """Nothing is believed for no time at all."""
    for table in ("beliefs", "edges"):
        for (row,) in memory.handle.store.query(f"SELECT id FROM {table} WHERE vt <= vf"):
            yield f"{table} row {row} is valid for no time"


def no_overlap(memory: Memory) -> Iterator[str]:
    """One version (or one edge) in one scope is believed at most once at any moment.

    A supersedes edge marks the instant at which it closed its target, so the same two versions may
    have several, each from another instant.
    """
    for table, of in (("beliefs", "node"), ("edges", "hash")):
        held: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        for what, scope, type_, start, end in memory.handle.store.query(
            f"SELECT {of}, scope, type, vf, vt FROM {table} WHERE kt = {FOREVER} ORDER BY vf"
        ):
            held[what, scope].append((start, start + 1 if type_ == "supersedes" else end))
        for what, spans in held.items():
            for (_, end), (start, _) in pairwise(spans):
                if start < end:
                    yield f"{table} of {what}: {spans} overlap"


def no_orphan_proposals(memory: Memory) -> Iterator[str]:
    """Both ends of a proposal exist, a pair has one current row in each scope, and accepted means joined there."""
    query = memory.handle.store.query
    for row, a, b in query(
        "SELECT id, a, b FROM proposals WHERE a NOT IN (SELECT id FROM nodes)"
        " OR b NOT IN (SELECT id FROM nodes)"
    ):
        yield f"proposal row {row} joins {a} and {b}, which are not both there"
    for a, b, count in query(
        "SELECT a, b, count(*) FROM proposals"
        f" WHERE kt = {FOREVER} GROUP BY tenant, a, b, scope HAVING count(*) > 1"
    ):
        yield f"{a} and {b} have {count} current proposals of one scope"
    joined = set(query(f"SELECT src, dst, scope FROM edges WHERE type = 'same_as' AND kt = {FOREVER}"))
    for a, b, status, scope in query(f"SELECT a, b, status, scope FROM proposals WHERE kt = {FOREVER}"):
        if status != "accepted" and (a, b, scope) in joined:
            yield f"{a} and {b} are joined, and their proposal is {status}"


def same_as_is_symmetric(memory: Memory) -> Iterator[str]:
    """Who is the same as another is so in both directions."""
    rows = set(
        memory.handle.store.query(
            f"SELECT src, dst, scope, vt FROM edges WHERE type = 'same_as' AND kt = {FOREVER}"
        )
    )
    yield from (f"{a} is {b}, but not {b} {a}" for a, b, s, t in rows if (b, a, s, t) not in rows)


def one_parent(memory: Memory) -> Iterator[str]:
    """Nothing lies in two worlds at once, and no world lies in itself."""
    rows = memory.handle.store.query(
        f"SELECT DISTINCT dst, src FROM edges WHERE type = 'contains' AND kt = {FOREVER} AND vt = {FOREVER}"
    )
    parents: dict[int, int] = {}
    for child, parent in rows:
        if child in parents:
            yield f"{child} lies in {parents[child]} and in {parent}"
        parents[child] = parent
    for child in parents:
        at, steps = child, 0
        while at in parents and steps < 100:
            at, steps = parents[at], steps + 1
        if steps >= 100:
            yield f"{child} lies in itself"


def no_circles(memory: Memory) -> Iterator[str]:
    """Types that refuse circles have none."""
    for type_ in ("precedes", "subtype_of"):
        rows = memory.handle.store.query(
            f"SELECT DISTINCT src, dst FROM edges WHERE type = '{type_}'"
            f" AND kt = {FOREVER} AND vt = {FOREVER}"
        )
        after: dict[int, set[int]] = defaultdict(set)
        for src, dst in rows:
            after[src].add(dst)
        while after:
            ends = [n for n, nexts in after.items() if not any(x in after for x in nexts)]
            if not ends:
                yield f"there is a circle of {type_} among {sorted(after)[:9]}"
                return
            for n in ends:
                del after[n]


def words_are_complete(memory: Memory) -> Iterator[str]:
    """Every text has its rows in the words index, and the index has no others."""
    query = memory.handle.store.query
    texts = query("SELECT content FROM nodes WHERE type NOT IN ('Scope', 'Session')")
    wanted = sum(max(1, len(passages(text))) for (text,) in texts)
    ((found,),) = query("SELECT sum(texts) FROM words_total")
    if wanted != found:
        yield f"{wanted} passages are stored and {found} are indexed"


LAWS: tuple[Callable[[Memory], Iterator[str]], ...] = (
    known_time_is_monotone,
    closed_once,
    no_empty_interval,
    validity_only_tightens,
    no_overlap,
    no_orphan_proposals,
    same_as_is_symmetric,
    one_parent,
    no_circles,
    words_are_complete,
    hashes_round_trip,
)
