"""What `stats` says is what the rows amount to, one by one, whatever was written, ended, erased or came by itself."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.test_copy import filled
from worldline import Config, Memory
from worldline.clock import FOREVER
from worldline.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from worldline.store import counting
from worldline.store.copying import move
from worldline.testing import FrozenClock
from worldline.write.given import Link, Note

PLAIN = Config(embedder="none", understand="off")
START = 1000
OWNERS: tuple[dict[str, str], ...] = (
    {}, {"user": "a"}, {"user": "b"}, {"agent": "x"}, {"user": "a", "agent": "x"}, {"user": "a", "run": "r"}
)  # fmt: skip
KINDS = ("user", "agent", "app", "run")

WHO, WHICH = st.integers(0, len(OWNERS) - 1), st.integers(0, 9)
WHEN = st.sampled_from([None, None, 10, 1005, 1010, 1040])
NAME = st.sampled_from(["n0", "n1", "n2", "n3"])
ops = st.one_of(
    st.tuples(st.just("note"), WHO, NAME, WHEN, WHEN),
    st.tuples(st.just("note"), WHO, NAME, WHEN, WHEN),
    st.tuples(st.just("amend"), WHO, WHICH, NAME, WHEN),
    st.tuples(st.just("correct"), WHO, WHICH, NAME),
    st.tuples(st.just("retire"), WHO, WHICH, WHEN),
    st.tuples(st.just("link"), WHO, WHICH, WHICH, WHEN, WHEN),
    st.tuples(st.just("same"), WHO, WHICH, WHICH),
    st.tuples(st.just("quarantine"), WHO, WHICH),
    st.tuples(st.just("forget"), WHO, WHICH),
    st.tuples(st.just("undo"), WHO, WHICH),
    st.tuples(st.just("advance"), st.sampled_from([1, 5, 40])),
    st.tuples(st.just("look")),
)


class Life:
    """A memory with several owners, and what was written to it."""

    def __init__(self, memory: Memory, clock: FrozenClock) -> None:
        self.memory, self.clock = memory, clock
        self.handles = [memory.scoped(**owner) if owner else memory for owner in OWNERS]
        self.ids: list[str] = []
        self.receipts: list[Any] = []

    def apply(self, op: tuple[Any, ...]) -> None:
        """One of the operations; what is refused leaves nothing behind."""
        verb, *args = op
        if verb == "advance":
            self.clock.advance(args[0])
        elif verb != "look":
            try:
                done = getattr(self, verb)(self.handles[args[0]], *args[1:])
            except (Refused, Conflict, NotFound, InvalidInput, Ambiguous):
                return
            if done is not None:
                self.receipts.append(done)

    def note(self, handle: Memory, name: str, start: int | None, end: int | None) -> Any:
        done = handle.note("learning", name, f"about {name}", valid_from=start, valid_to=end)
        self.ids.append(done.id)
        return done

    def _id(self, which: int) -> str:
        return self.ids[which % len(self.ids)] if self.ids else "0" * 64

    def amend(self, handle: Memory, which: int, content: str, when: int | None) -> Any:
        return handle.amend(self._id(which), content, valid_from=when)

    def correct(self, handle: Memory, which: int, content: str) -> Any:
        return handle.correct(self._id(which), content)

    def retire(self, handle: Memory, which: int, when: int | None) -> Any:
        return handle.retire(self._id(which), when=when)

    def link(self, handle: Memory, a: int, b: int, start: int | None, end: int | None) -> Any:
        return handle.link(self._id(a), "relates_to", self._id(b), valid_from=start, valid_to=end)

    def same(self, handle: Memory, a: int, b: int) -> Any:
        return handle.link(self._id(a), "same_as", self._id(b))

    def quarantine(self, handle: Memory, which: int) -> Any:
        return handle.quarantine(self._id(which), "doubt")

    def forget(self, handle: Memory, which: int) -> Any:
        handle.forget(self._id(which), confirm=True)

    def undo(self, handle: Memory, which: int) -> Any:
        return handle.undo(self.receipts[which % len(self.receipts)]) if self.receipts else None


def plain(memory: Memory, owner: dict[str, str]) -> dict[str, Any]:
    """What a memory holds for an owner, from the rows themselves."""
    store = memory.handle.store
    whose = {"t": store.number(memory.handle.tenant)}
    with memory.handle.reading() as tenant:
        now = max(memory.handle.clock(), tenant.last_known)
        scopes = store.query('SELECT part_of, "user", agent, app, run FROM scopes WHERE tenant = :t', whose)
        mine = {row[0] for row in scopes if all(row[1 + KINDS.index(k)] == v for k, v in owner.items())}

        def rows(table: str, columns: str) -> list[Any]:
            found = store.query(f"SELECT scope, {columns} FROM {table} WHERE tenant = :t", whose)
            return [row[1:] for row in found if not owner or row[0] in mine]

        beliefs = rows("beliefs", "line, node, type, status, vf, vt, kt")
        edges = rows("edges", "type, vf, vt, kt")
        proposals = rows("proposals", "a, b, status, kt")
        changesets = store.query("SELECT count(*) FROM log WHERE tenant = :t", whose)[0][0]
    held = {row[0] for row in beliefs}
    seen = {
        (line, type_)
        for line, _, type_, status, vf, vt, kt in beliefs
        if vf <= now < vt and kt == FOREVER and status != "quarantined"
    }
    waiting = [p for p in proposals if p[2:] == ("pending", FOREVER) and p[0] in held and p[1] in held]
    return {
        "visible": dict(Counter(type_ for _, type_ in seen)),
        "edges": dict(Counter(t for t, vf, vt, kt in edges if vf <= now < vt and kt == FOREVER)),
        "versions": len({row[1] for row in beliefs}),
        "beliefs": len(beliefs),
        "edge_rows": len(edges),
        "changesets": changesets,
        "pending_events": 0,
        "pending_merges": len(waiting),
    }


def agree(memory: Memory) -> None:
    """Every owner's counts are those of the rows, from what is in mind as from what is kept."""
    expected = [plain(memory, owner) for owner in OWNERS]
    for again in (False, True):
        if again:
            memory.handle.store.counts.clear()
        for owner, counts in zip(OWNERS, expected, strict=True):
            told = (memory.scoped(**owner) if owner else memory).stats()
            assert {name: told[name] for name in counts} == counts, owner


@pytest.fixture
def clock() -> FrozenClock:
    """Near what the histories speak of."""
    return FrozenClock(START)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Says how often counts are brought up to date, and how much is kept of what is to come."""

    def limit(tail: int, small: int, turns: int) -> None:
        for name, value in (("_TAIL", tail), ("_SMALL", small), ("_TURNS", turns)):
            monkeypatch.setattr(counting, name, value)

    return limit


HOW = st.tuples(st.sampled_from([1, 4, 15]), st.sampled_from([0, 6, 10**6]), st.sampled_from([1, 3, 1000]))


@given(HOW, st.lists(ops, min_size=4, max_size=25), st.integers(1, 6))
@settings(max_examples=80)
def test_counts_are_those_of_the_rows(limits, how, history, often) -> None:
    """Notes, ends, links, undoing, erasing and time that passes, looked at now and then by everybody."""
    limits(*how)
    clock = FrozenClock(START)
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        life = Life(memory, clock)
        for at, op in enumerate(history):
            life.apply(op)
            if op[0] == "look" or at % often == 0:
                agree(memory)
        agree(memory)
        assert memory.verify().ok


AHEAD = st.integers(1001, 1060)
to_come = st.one_of(
    st.tuples(st.just("note"), WHO, NAME, AHEAD, st.none()),
    st.tuples(st.just("note"), WHO, NAME, st.just(10), AHEAD),
    st.tuples(st.just("link"), WHO, WHICH, WHICH, st.just(10), AHEAD),
    st.tuples(st.just("link"), WHO, WHICH, WHICH, AHEAD, st.none()),
    st.tuples(st.just("retire"), WHO, WHICH, AHEAD),
    st.tuples(st.just("undo"), WHO, WHICH),
    st.tuples(st.just("advance"), st.integers(1, 12)),
    st.tuples(st.just("look")),
)


ONE_BY_ONE = (1, 10**6, 1)
THREE = [("note", who, f"m{who}", moment, None) for who, moment in ((1, 1010), (2, 1020), (4, 1030))]
WITHDRAWN = [("link", 0, 0, 1, 10, None), ("undo", 0, 3), ("look",)]
"""An edge that was counted already is given up."""


@given(HOW, st.lists(to_come, min_size=6, max_size=30))
@example(ONE_BY_ONE, [*THREE, ("advance", 25), ("advance", 10)])
@example(ONE_BY_ONE, [*THREE, ("advance", 25), ("note", 0, "n1", 10, 1050), ("look",)])
@example(ONE_BY_ONE, WITHDRAWN)
@settings(max_examples=80)
def test_what_comes_by_itself_is_counted(limits, how, history) -> None:
    """Much that begins and ends ahead of the clock, while it goes on: with and without a write in between."""
    limits(*how)
    clock = FrozenClock(START)
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        life = Life(memory, clock)
        for name in ("n0", "n1", "n2"):
            life.apply(("note", 0, name, 10, None))
        for op in history:
            life.apply(op)
            if op[0] in ("look", "advance"):
                agree(memory)


LIVED = [
    ("note", 1, "n0", None, 1040), ("note", 2, "n0", None, None), ("note", 4, "n1", 1010, None),
    ("link", 0, 0, 2, None, 1010), ("note", 5, "n2", 10, 1005), ("amend", 1, 0, "n3", 1005), ("advance", 5),
    ("retire", 2, 1, None), ("note", 0, "n3", None, None), ("undo", 0, 2), ("quarantine", 1, 0),
]  # fmt: skip


def lived(memory: Memory, clock: FrozenClock) -> Life:
    """A memory in which a little has happened."""
    life = Life(memory, clock)
    for op in LIVED:
        life.apply(op)
    return life


def kept(memory: Memory) -> list[Any]:
    """Where the counts stand that are kept."""
    store = memory.handle.store
    with memory.handle.reading() as tenant:
        sql = "SELECT cursor FROM sleep WHERE tenant = :t AND pass = 'counted'"
        return store.query(sql, {"t": tenant.id})


def test_a_store_without_counts_is_counted_once(limits, tmp_path: Path, clock: FrozenClock) -> None:
    """One that a version before has written: the first who asks counts everything, the next only looks it up."""
    limits(10**6, 0, 1000)
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN, clock=clock) as memory:
        lived(memory, clock)
        assert kept(memory) == []
        memory.stats()
        ((far,),) = kept(memory)
    with Memory.open(path, PLAIN, clock=clock) as memory:
        agree(memory)
        assert kept(memory) == [(far,)]


def test_what_another_program_erased_is_not_counted(limits, tmp_path: Path, clock, monkeypatch) -> None:
    """A program that knows of no counts leaves them as they are; what it erased, ended or put is seen in the log."""
    limits(1, 0, 1000)
    with Memory.open(tmp_path / "m.db", PLAIN, clock=clock) as memory:
        life = lived(memory, clock)
        memory.stats()
        monkeypatch.setattr(counting, "follow", lambda *_: None)
        life.apply(("note", 1, "n1", None, None))
        life.apply(("retire", 1, 0, None))
        agree(memory)
        monkeypatch.setattr(counting, "drop", lambda *_: None)
        memory.forget(life.ids[0], confirm=True)
        monkeypatch.undo()
        limits(1, 0, 1000)
        agree(memory)
        life.apply(("note", 2, "n2", None, None))
        agree(memory)


def test_a_damaged_count_is_counted_anew(limits, tmp_path: Path, clock) -> None:
    """What was changed in the store is not believed; `verify` names it, and `reindex` takes it away."""
    limits(1, 0, 1000)
    with Memory.open(tmp_path / "m.db", PLAIN, clock=clock) as memory:
        lived(memory, clock)
        memory.stats()
        store = memory.handle.store
        with store.writing(memory.handle.tenant) as tenant:
            store.execute(
                "UPDATE sleep SET state = replace(state, '1', '2') WHERE tenant = :t AND pass = 'counts'",
                {"t": tenant.id},
            )
        store.counts.clear()
        assert not memory.verify().ok
        agree(memory)
        assert memory.verify().ok


@pytest.mark.parametrize(
    "damage", ["state = CAST(x'ff' AS TEXT)", "state = x'ff'", "state = 7", "cursor = 'x'", "pass = 'lost'"]
)
def test_damage_keeps_nobody_from_writing_of_a_file(limits, tmp_path: Path, clock, damage: str) -> None:
    """Whatever is left in place of what was kept, writes go on and counts are right."""
    limits(1, 10**6, 1000)
    for name in ("counts", "counted"):
        with Memory.open(tmp_path / f"{name}.db", PLAIN, clock=clock) as memory:
            life = lived(memory, clock)
            memory.handle.store.query(f"UPDATE sleep SET {damage} WHERE pass = '{name}' AND owner = ''")
            for who in (1, 2):
                agree(memory)
                life.apply(("note", who, f"n{who}", None, None))
            agree(memory)


def test_copies_and_exports_count_for_themselves(limits, tmp_path: Path, clock) -> None:
    """What is exported and read again, absorbed, copied or loaded has the counts of its own rows."""
    limits(3, 0, 1000)
    with Memory.open(tmp_path / "m.db", PLAIN, clock=clock) as memory:
        lived(memory, clock)
        memory.stats()
        memory.export(tmp_path / "all.jsonl")
        assert "counted" not in (tmp_path / "all.jsonl").read_text()
        expected = memory.stats()
        with Memory.open(tmp_path / "other.db", PLAIN, clock=clock) as other:
            other.import_(tmp_path / "all.jsonl")
            agree(other)
            assert other.stats()["visible"] == expected["visible"]
            Life(other, clock).apply(("note", 1, "n1", None, None))
            agree(other)
        with Memory.open(tmp_path / "third.db", PLAIN, clock=clock) as third:
            third.note("learning", "its own", "before")
            third.absorb(memory)
            agree(third)
            third.load([Note("learning", f"note {n}", "x") for n in range(9)], [Link(0, "relates_to", 1)])
            agree(third)


def test_a_copy_takes_its_counts_along_of_a_file(limits, tmp_path: Path) -> None:
    """With the rows of a tenant go its counts, which are right there and go on."""
    limits(3, 0, 1000)
    with filled(tmp_path / "a.db", "default") as memory, Memory.open(tmp_path / "b.db", PLAIN) as copy:
        memory.stats()
        move(memory.handle.store, copy.handle.store, "default")
        assert kept(copy) == kept(memory) != []
        agree(copy)
        copy.note("learning", "later", "and more")
        agree(copy)


def test_a_night_is_counted(limits, tmp_path: Path) -> None:
    """Facts that replace each other, sessions, topics and what a night made of them."""
    limits(20, 0, 1000)
    with filled(tmp_path / "a.db", "default") as memory:
        agree(memory)
        memory.consolidate()
        agree(memory)
        memory.reindex()
        agree(memory)
        assert memory.verify().ok


def test_several_at_once_agree(limits, tmp_path: Path, clock) -> None:
    """Two that have the same store open, each with what it has in mind, write in turn and see the same."""
    limits(4, 10, 1000)
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN, clock=clock) as one, Memory.open(path, PLAIN, clock=clock) as two:
        lives = Life(one, clock), Life(two, clock)
        for at, op in enumerate([*LIVED, ("forget", 0, 0), *LIVED]):
            lives[at % 2].apply(op)
            lives[1 - at % 2].ids[:] = lives[at % 2].ids
            for owner in OWNERS:
                told = [(m.scoped(**owner) if owner else m).stats() for m in (one, two)]
                expected = plain(one, owner)
                assert [{name: each[name] for name in expected} for each in told] == [expected, expected]
        assert one.verify().ok


def test_whoever_is_killed_leaves_counts_that_fit_of_a_file(limits, tmp_path: Path) -> None:
    """A writer that is killed in the midst of it leaves the counts of what it has written, and no others."""
    limits(3, 10**6, 1000)
    path, chance = tmp_path / "m.db", random.Random(4)
    with Memory.open(path, PLAIN) as memory:
        memory.note("learning", "first", "x")
    for turn in range(6):
        child = os.fork()
        if not child:
            with Memory.open(path, PLAIN) as memory:
                for number in range(10**6):
                    handle = memory.scoped(user="ab"[number % 2])
                    handle.amend(handle.note("learning", f"{turn} {number}", "x").id, "y")
        time.sleep(chance.uniform(0.05, 0.3))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with Memory.open(path, PLAIN) as memory:
            agree(memory)
            assert memory.verify().ok
            assert kept(memory)


def test_who_cannot_write_counts_all_the_same_of_a_file(limits, tmp_path: Path, clock) -> None:
    """While somebody else writes, a reader does not wait to keep what it counted; the next one does it."""
    limits(10**6, 0, 1000)
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN, clock=clock) as memory, Memory.open(path, PLAIN, clock=clock) as other:
        lived(memory, clock)
        expected = plain(memory, {})
        with other.handle.writing():
            told = memory.stats()
            assert {name: told[name] for name in expected} == expected
        assert kept(memory) == []
        agree(memory)
        assert kept(memory) != []
