"""Random facts, merges and corrections: a night never changes what is believed to hold when."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from worldline import Fact, Memory
from worldline.errors import Conflict, InvalidTime, NotFound, Refused
from worldline.testing import FrozenClock

START = 1_000_000_000_000
NIGHT = ("redundancy", "contradictions", "grounding", "infer", "funnel")
NAMES, CITIES = ("Bob", "Robert", "Rob"), ("Porto", "Oporto", "Rome")
DAYS = ("1970-01-02", "1970-01-04", "1970-01-06", None)

people, cities = st.integers(0, 2), st.integers(0, 2)
fact = st.tuples(
    st.just("fact"), people, cities, st.sampled_from(DAYS), st.sampled_from([None, "1970-01-08"]),
    st.booleans(), st.sampled_from(["", "", "r1"]), st.sampled_from([False, False, True]),
)  # fmt: skip
merge = st.tuples(st.just("merge"), st.booleans(), st.integers(0, 2))
undo = st.tuples(st.just("undo"), st.booleans(), st.integers(0, 2))
change = st.tuples(st.sampled_from(["retire", "withdraw", "confirm", "unsay"]), st.integers(0, 5))
link = st.tuples(st.just("cause"), st.integers(0, 4), st.integers(0, 4), st.sampled_from(DAYS))
unlink = st.tuples(st.just("uncause"), st.integers(0, 4), st.integers(0, 4), st.booleans())
mixed = st.lists(st.one_of(fact, merge, undo, change), max_size=6)
histories = st.tuples(
    st.lists(fact, min_size=3, max_size=6), mixed, st.lists(merge, min_size=1, max_size=3), mixed
).map(lambda parts: [op for part in parts for op in part])
webs = st.lists(st.one_of(link, link, unlink), min_size=3, max_size=14)


class Life:
    """A memory of three people and three cities, some of which may turn out to be the same."""

    def __init__(self) -> None:
        self.clock = FrozenClock(START)
        self.memory = Memory.open(":memory:", clock=self.clock)
        self.people = [self.memory.note("Entity", name, valid_from="1970-01-01").id for name in NAMES]
        self.cities = [self.memory.note("Entity", name, valid_from="1970-01-01").id for name in CITIES]
        self.proposals: dict[tuple[bool, int], str] = {}
        self.facts: list[str] = []
        self.words: list[str] = []

    def apply(self, op) -> None:
        """One step; what makes no sense now is left out."""
        self.clock.advance(3_600_000_000)
        try:
            getattr(self, "do_" + op[0])(*op[1:])
        except (Refused, NotFound, InvalidTime, Conflict):
            return

    def do_fact(self, who, city, start, end, said, run, one):
        person, home = self.people[who], self.cities[city]
        given = Fact(person, "home", home, valid_from=start, valid_to=end, functional=one)
        handle = self.memory.scoped(run=run) if run else self.memory
        if said:
            text = f"words {len(self.words)}"
            self.words.append(handle.remember(text, session=text, speaker="ana", facts=[given]).id)
        else:
            self.facts.append(handle.fact(given).id)

    def do_merge(self, of_people, number):
        members = self.people if of_people else self.cities
        pair = members[number], members[(number + 1) % 3]
        made = self.memory.link(pair[0], "same_as", pair[1]).proposals
        if made:
            self.proposals[of_people, number] = made[0]
        self.memory.accept_merge(self.proposals[of_people, number])

    def do_undo(self, of_people, number):
        if (of_people, number) in self.proposals:
            self.memory.undo_merge(self.proposals[of_people, number])

    def _any(self, number) -> str:
        found = [node.id for node in self.memory.list("Fact").items]
        if not found:
            raise NotFound("nothing yet")
        return sorted(found)[number % len(found)]

    def do_retire(self, number):
        self.memory.retire(self._any(number))

    def do_withdraw(self, number):
        self.memory.correct(self._any(number))

    def do_confirm(self, number):
        self.memory.confirm(self._any(number))

    def do_unsay(self, number):
        if self.words:
            self.memory.correct(self.words[number % len(self.words)])

    # Reading -----------------------------------------------------------------------------------

    def triples(self, valid, known, run=""):
        """What is believed at one point, with everything merged read as one."""
        handle = (self.memory.scoped(run=run) if run else self.memory).at(valid=valid, known=known)
        rows = handle.handle.read(
            lambda view: view.query(
                "SELECT f.subject, f.predicate, f.object FROM facts f CROSS JOIN beliefs b ON b.tenant = :t"
                f" AND b.line = f.node WHERE f.tenant = :t AND {view.seen()}"
            )
        )
        return {(self.first(s), p, self.first(o)) for s, p, o in rows}

    def first(self, line):
        return self.memory.handle.read(lambda view: view.same_as(line)[0])

    def points(self):
        """Valid times around every date, and known times around every changeset."""
        days = [day * 86_400_000_000 for day in (0.5, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8, 20)]
        rows = self.memory.handle.read(lambda view: view.query("SELECT known FROM log WHERE tenant = :t"))
        return [int(day) for day in days], [row[0] for row in rows]

    def believed(self):
        valid, known = self.points()
        return {(v, k, run): self.triples(v, k, run) for v, k, run in product(valid, known, ("", "r1"))}


@given(histories)
@settings(max_examples=40)
def test_a_night_changes_nothing_that_is_believed_to_hold_when(history):
    """Merging re-assertions: the same triples at every known time before, and at every valid time now."""
    life = Life()
    for op in history:
        life.apply(op)
    before = life.believed()
    now = {(v, run): life.triples(v, life.clock() + 9, run) for v in life.points()[0] for run in ("", "r1")}
    life.clock.advance(3_600_000_000)
    life.memory.consolidate(["redundancy"])
    after = {(v, run): life.triples(v, life.clock() + 9, run) for v in life.points()[0] for run in ("", "r1")}
    assert after == now
    assert {point: life.triples(*point) for point in before} == before
    assert not life.memory.consolidate(["redundancy"]).changed
    life.memory.close()


@given(histories)
@settings(max_examples=40)
def test_a_second_night_changes_nothing(history):
    """All passes, whatever happened before; and the store is whole."""
    life = Life()
    for number, op in enumerate(history):
        life.apply(op)
        if number % 4 == 3:
            life.memory.consolidate(NIGHT)
    life.clock.advance(3_600_000_000)
    life.memory.consolidate(NIGHT)
    again = life.memory.consolidate(NIGHT)
    assert [slept for slept in again.passes if slept.changes] == []
    assert life.memory.verify().damage == ()
    life.memory.close()


@given(webs, st.integers(1, 6))
@settings(max_examples=60)
def test_derived_edges_are_the_closure_of_the_stated_ones_at_every_time(web, every):
    """However often it slept in between, the closure at each valid time is that of the stated edges."""
    clock = FrozenClock(START)
    memory = Memory.open(":memory:", clock=clock)
    ids = [memory.note("Happening", str(n), valid_from="1970-01-01").id for n in range(5)]
    for number, op in enumerate(web):
        clock.advance(3_600_000_000)
        try:
            if op[0] == "cause":
                memory.link(ids[op[1]], "causes", ids[op[2]], valid_from=op[3])
            else:
                edge = memory.edge(ids[op[1]], "causes", ids[op[2]])
                memory.correct(edge) if op[3] else memory.retire(edge)
        except (Refused, NotFound, InvalidTime):
            continue
        if number % every == 0:
            memory.consolidate(["infer"])
    clock.advance(3_600_000_000)
    memory.consolidate(["infer"])
    assert not memory.consolidate(["infer"]).changed
    for day in ("1970-01-03", "1970-01-05", "1970-01-07", clock()):
        rows = memory.at(valid=day).handle.read(lambda view: view.edges(range(1, 99), ("causes",), "out"))
        stated = {(e.src, e.dst) for e in rows if not e.metadata.get("inferred")}
        derived = {(e.src, e.dst) for e in rows if e.metadata.get("inferred")}
        assert derived == {p for p in closure(stated) if p[0] != p[1]} - stated
    memory.close()


def closure(pairs):
    """Everything that can be reached, by brute force."""
    found = set(pairs)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found
