"""Laws of absorbing: a union that loses nothing, closes nothing, mixes no scopes, and happens once."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from laws import harness
from laws.harness import Pair, histories
from worldline import Fact, Memory, Predicate
from worldline.errors import WorldlineError
from worldline.testing import FrozenClock

SCOPES = ("", "a", "b")
POINTS = (5, 15, 25, 1003, 5003, 10**9)
LATER = 10**9

PEOPLE, PLACES = ("Ana", "Bob", "bob"), ("Porto", "Lisbon", "Oslo")
saying = st.one_of(
    st.tuples(
        st.just("fact"), st.sampled_from(SCOPES), st.sampled_from(PEOPLE),
        st.sampled_from(["lives_in", "likes"]), st.sampled_from(PLACES), st.sampled_from([None, 10, 20]),
        st.sampled_from([1.0, 1.0, 0.1]),
    ),
    st.tuples(
        st.just("remember"), st.sampled_from(SCOPES), st.sampled_from(PEOPLE),
        st.sampled_from(["I live in Porto.", "I like tea."]), st.sampled_from([None, 10, 20]),
        st.sampled_from([None, "e1"]),
    ),
    st.tuples(st.just("retire"), st.integers(0, 9), st.sampled_from([None, 25])),
    st.tuples(st.just("withdraw"), st.integers(0, 9)),
    st.tuples(st.just("quarantine"), st.integers(0, 9)),
    st.tuples(st.just("merge"), st.integers(0, 3), st.booleans()),
)  # fmt: skip
sayings = st.lists(saying, max_size=10)


def lived(history, start: int) -> Memory:
    """A memory of its own with this history, whose clock shares no moment with another's."""
    before, harness.START = harness.START, start
    try:
        pair = Pair()
        for op in history:
            pair.apply(op)
    finally:
        harness.START = before
    return pair.memory


def told(ops, start: int) -> Memory:
    """A memory of facts, things said, and what became of them."""
    clock = FrozenClock(start)
    memory = Memory.open(":memory:", clock=clock)
    memory.register(Predicate("lives_in", functional=True))
    for op, *args in ops:
        clock.advance(1)
        with suppress(WorldlineError):
            say(memory, op, args)
    return memory


def say(memory: Memory, op: str, args) -> None:
    """One operation."""
    if op in ("fact", "remember"):
        handle = memory.scoped(user=args[0]) if args[0] else memory
        if op == "fact":
            who, predicate, what, at, sure = args[1:]
            handle.fact(Fact(who, predicate, what, valid_from=at, confidence=sure))
        else:
            who, text, at, external = args[1:]
            handle.remember(text, speaker=who, said_at=at, session="s", external_id=external)
        return
    if op == "merge":
        staged = memory.merges()
        (memory.accept_merge if args[1] else memory.reject_merge)(
            staged[args[0] % len(staged)] if staged else "x"
        )
        return
    found = [*memory.list("Fact").items, *memory.list("Turn").items]
    if not found:
        return
    ref = found[args[0] % len(found)]
    if op == "retire":
        memory.retire(ref, args[1])
    elif op == "withdraw":
        memory.correct(ref)
    else:
        memory.quarantine(ref, "doubt")


def seen(memory: Memory) -> dict[tuple[str, int], frozenset[str]]:
    """What is visible from every scope at every point of valid time."""
    found = {}
    for scope in SCOPES:
        handle = memory.scoped(user=scope) if scope else memory
        for at in POINTS:
            looking = handle.at(valid=at)
            nodes = [n for t in (None, "Turn", "Fact", "Session") for n in looking.list(t, limit=1000).items]
            found[scope, at] = frozenset(n.id for n in nodes)
    return found


def rows(memory: Memory) -> dict[str, list[tuple[object, ...]]]:
    """Every row that the store believes, and how long its log is."""
    query = memory.handle.store.query
    return {
        "beliefs": query("SELECT * FROM beliefs WHERE kt = 9223372036854775807"),
        "edges": query("SELECT * FROM edges WHERE kt = 9223372036854775807"),
        "log": query("SELECT sequence FROM log"),
    }


def held(memory: Memory, where: str) -> set[tuple[object, ...]]:
    """(id, scope, valid from, valid to, known from) of beliefs."""
    return set(
        memory.handle.store.query(
            "SELECT n.hash, (SELECT key FROM scopes WHERE id = b.scope), b.vf, b.vt, b.kf"
            f" FROM beliefs b JOIN nodes n ON n.id = b.node WHERE {where}"
        )
    )


def past(memory: Memory, known: int) -> list[object]:
    """What a memory knew at a known time, of several times of validity."""
    found: list[object] = []
    for at in POINTS:
        looking = memory.at(valid=at, known=known)
        graph = looking.query().run()
        found += [sorted((n.id, n.valid, str(n.metadata), n.status) for n in graph.nodes)]
        found += [sorted((e.id, e.valid) for e in graph.edges)]
    return found


def check_union(a: Memory, b: Memory, again: Memory, other: Memory) -> None:
    """All laws at once: b absorbs a, then `again` (a copy of a) absorbs `other` (a copy of b)."""
    before, mine, theirs = rows(b), seen(b), seen(a)
    known = b.handle.tenant_row()[3]
    asof = past(b, known)

    first = b.absorb(a)
    second = b.absorb(a)

    assert first.skipped == ()
    assert not second.changed
    assert b.verify().damage == ()
    after = rows(b)
    assert set(before["beliefs"]) <= set(after["beliefs"])
    assert set(before["edges"]) <= set(after["edges"])
    assert len(after["log"]) == len(before["log"]) + len(first.receipt.also) + first.changed
    assert past(b, known) == asof
    union = seen(b)
    for key in union:
        assert union[key] == mine[key] | theirs[key], key
    again.absorb(other)
    assert seen(again) == union
    assert again.verify().damage == ()


@given(histories, histories)
@settings(max_examples=25)
def test_any_two_histories_unite(one, two):
    """Notes, versions, worlds and edges of two memories: the union shows what either of them shows."""
    check_union(lived(one, 1000), lived(two, 5000), lived(one, 1000), lived(two, 5000))


@given(sayings, sayings)
@settings(max_examples=25)
def test_any_two_tales_unite(one, two):
    """Facts, things said, merges and doubts of two memories: the union shows what either of them shows."""
    check_union(told(one, 1000), told(two, 5000), told(one, 1000), told(two, 5000))


@given(histories, histories)
@settings(max_examples=12)
def test_an_exported_file_is_absorbed_like_its_store(one, two):
    """The JSON Lines of a memory, imported into another one, make the same union as the memory itself."""
    a, direct, through = lived(one, 1000), lived(two, 5000), lived(two, 5000)
    with tempfile.TemporaryDirectory() as folder:
        a.export(Path(folder) / "a.jsonl")
        through.import_(Path(folder) / "a.jsonl")
        direct.absorb(a)

        assert seen(through) == seen(direct)
        assert through.verify().damage == ()
        assert not through.absorb(a).changed


@given(histories, st.lists(harness.ops, max_size=5), st.lists(harness.ops, max_size=5))
@settings(max_examples=20)
def test_forks_keep_what_each_has_decided(shared, mine, theirs):
    """Two copies that went apart: neither closes what the other believes, nor revives what it gave up."""
    pairs = []
    for later in (mine, theirs):
        pair = Pair()
        for op in (*shared, ("advance", 5), *later):
            pair.apply(op)
        pairs.append(pair)
    mine_, theirs_ = (pair.memory for pair in pairs)
    known = mine_.handle.tenant_row()[3]
    given_up = held(mine_, "kt < 9223372036854775807") & held(theirs_, "kt = 9223372036854775807")
    before = rows(mine_)

    mine_.absorb(theirs_)

    believed_again = {row[:4] for row in held(mine_, f"kt = 9223372036854775807 AND kf > {known}")}
    believed_anew = {row[:4] for row in held(theirs_, "kt = 9223372036854775807") - given_up}
    assert not ({row[:4] for row in given_up} - believed_anew) & believed_again
    assert set(before["beliefs"]) <= set(rows(mine_)["beliefs"])
    assert mine_.verify().damage == ()
    assert not mine_.absorb(theirs_).changed


def forgotten(memory: Memory, scope: str, which: list[int]) -> set[str]:
    """Forgets some of what a scope sees, for that scope; the ids of the texts among it."""
    handle = memory.scoped(user=scope) if scope else memory
    gone = set()
    for number in which:
        found = [
            node
            for type_ in (None, "Turn", "Fact", "Entity")
            for node in handle.list(type_, limit=1000).items
        ]
        if found:
            node = found[number % len(found)]
            with suppress(WorldlineError):
                handle.forget(node.id, confirm=True)
                gone |= {node.id} if node.type not in ("Entity", "Session", "project") else set()
    return gone


def check_forgotten(a: Memory, b: Memory, scope: str, which: list[int], grow) -> None:
    """What b has of a, forgets and is told again stays forgotten; what a says since comes, and b proves itself."""
    b.absorb(a)
    gone = forgotten(b, scope, which)
    assert b.verify().damage == ()
    after = seen(b)

    again = b.absorb(a)

    assert not again.changed
    assert seen(b) == after
    grow(a)
    b.absorb(a)
    assert b.verify().damage == ()
    assert not b.absorb(a).changed
    assert not gone & {id_ for (who, _), ids in seen(b).items() if who == scope for id_ in ids}


some = st.lists(st.integers(0, 20), min_size=1, max_size=3)


@given(sayings, sayings, sayings, st.sampled_from(SCOPES), some)
@settings(max_examples=25)
def test_what_was_forgotten_is_not_absorbed_again(one, two, more, scope, which):
    """Facts, things said and merges, forgotten by one scope or by all."""

    def grow(memory: Memory) -> None:
        for op, *args in more:
            memory.handle.clock.advance(1)
            with suppress(WorldlineError):
                say(memory, op, args)

    check_forgotten(told(one, 1000), told(two, 5000), scope, which, grow)


@given(histories, histories, st.sampled_from(SCOPES), some)
@settings(max_examples=25)
def test_forgotten_notes_and_worlds_are_not_absorbed_again(one, two, scope, which):
    """Notes with versions, worlds and edges, forgotten by one scope or by all."""

    def grow(memory: Memory) -> None:
        memory.handle.clock.advance(1)
        memory.note("learning", "something", "new")

    check_forgotten(lived(one, 1000), lived(two, 5000), scope, which, grow)
