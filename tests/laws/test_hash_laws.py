"""What hashes promise: propagation to ancestors only, order does not matter, closing changes nothing."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from laws.harness import Pair, histories
from worldline import Memory
from worldline.hashing import EMPTY_DIGEST, _add_many, digest_update
from worldline.testing import FrozenClock

members = st.lists(st.binary(min_size=32, max_size=32), max_size=12)


@given(members, st.randoms())
def test_a_digest_does_not_depend_on_order(items, random):
    """The same members in any order have the same digest."""
    shuffled = list(items)
    random.shuffle(shuffled)
    assert digest_update(EMPTY_DIGEST, items) == digest_update(EMPTY_DIGEST, shuffled)


@given(members, members)
def test_removing_is_the_inverse_of_adding(base, extra):
    """What was added and removed leaves no trace, in one step or in several."""
    before = digest_update(EMPTY_DIGEST, base)
    assert digest_update(digest_update(before, extra), (), extra) == before
    assert digest_update(before, extra, extra) == before


@given(members, members)
def test_adding_in_parts_is_adding_at_once(first, second):
    """Digests of parts add up."""
    parts = digest_update(digest_update(EMPTY_DIGEST, first), second)
    assert parts == digest_update(EMPTY_DIGEST, first + second)


@given(st.integers(0, 700), members)
@settings(max_examples=15)
def test_the_numpy_path_equals_the_integer_path(count, base):
    """A bulk load and single appends give the same digest."""
    items = [number.to_bytes(32, "big") for number in range(count)]
    start = digest_update(EMPTY_DIGEST, base)
    one_by_one = start
    for begin in range(0, count, 50):
        one_by_one = digest_update(one_by_one, items[begin : begin + 50])
    assert _add_many(start, items) == one_by_one == digest_update(start, items)


def _tree():
    """root ⊃ (a ⊃ (b ⊃ leaf), c ⊃ other)."""
    memory = Memory.open(":memory:", clock=FrozenClock(1000))
    made = {}
    for name, inside in (("a", None), ("b", "a"), ("leaf", "b"), ("c", None), ("other", "c")):
        handle = memory.enter(made[inside]) if inside else memory
        made[name] = handle.note("project", name).id
    return memory, made


def _hashes(memory, made):
    return {name: memory.hash(id_) for name, id_ in made.items()} | {"root": memory.hash()}


def test_an_edit_reaches_every_ancestor_and_nobody_else():
    """Amending a leaf changes the hash of all worlds above it, and of no other."""
    memory, made = _tree()
    before = _hashes(memory, made)
    memory.amend(made["leaf"], "changed", valid_from=2000)
    after = _hashes(memory, made)
    assert {name for name in before if before[name] != after[name]} == {"leaf", "b", "a", "root"}


def test_an_interior_edge_belongs_to_the_lowest_world_that_holds_both_ends():
    """An edge between two memories changes the hash of their lowest common world and those above."""
    memory, made = _tree()
    before = _hashes(memory, made)
    memory.link(made["leaf"], "relates_to", made["b"])
    middle = _hashes(memory, made)
    assert {name for name in before if before[name] != middle[name]} == {"a", "root"}
    memory.link(made["leaf"], "refers_to", made["other"])
    after = _hashes(memory, made)
    assert {name for name in before if middle[name] != after[name]} == {"b", "a", "root"}


def test_closing_never_changes_a_hash():
    """Retiring, withdrawing, quarantining and ending an edge leave every hash as it was."""
    memory, made = _tree()
    memory.link(made["leaf"], "relates_to", made["b"])
    before = _hashes(memory, made)
    memory.retire(memory.edge(made["leaf"], "relates_to", made["b"]))
    memory.quarantine(made["other"], "doubt")
    memory.retire(made["leaf"])
    memory.correct(made["c"])
    assert _hashes(memory, made) == before


def test_every_hash_that_a_world_has_had_still_resolves():
    """Each former hash fetches the world as it was known when that hash began."""
    clock = FrozenClock(1000)
    memory = Memory.open(":memory:", clock=clock)
    world = memory.note("project", "w", "v0", valid_from=0).id
    seen = [(memory.hash(world), memory.get(world).id)]
    for number in range(1, 5):
        clock.advance(10)
        memory.enter(world).note("learning", f"child {number}")
        seen.append((memory.hash(world), memory.get(world).id))
        clock.advance(10)
        memory.amend(world, f"v{number}")
        seen.append((memory.hash(world), memory.get(world).id))
    assert len({hash_ for hash_, _ in seen}) == len(seen)
    for hash_, id_ in seen:
        assert memory.get(hash_).id == id_
        assert memory.get(hash_[:12]).id == id_


def test_children_in_any_order_give_the_same_hash():
    """Insertion order does not show in a world's hash."""
    found = set()
    for order in permutations("xyz"):
        memory = Memory.open(":memory:")
        world = memory.enter(memory.note("project", "w").id)
        ids = {name: world.note("learning", name).id for name in order}
        world.link(ids["x"], "relates_to", ids["y"])
        found.add((memory.hash(), memory.hash(world.list().items[-1].world)))
    assert len(found) == 1


def test_a_bulk_load_has_the_hashes_of_single_writes():
    """Notes loaded at once, and the same notes one by one, make the same memory."""
    from worldline.write.given import Link, Note

    notes = [Note("project", "w")] + [Note("learning", f"n{i}", inside=0) for i in range(100)]
    loaded, single = Memory.open(":memory:"), Memory.open(":memory:")
    loaded.load(notes, [Link(1, "relates_to", 2)])
    world = single.note("project", "w").id
    ids = [single.enter(world).note("learning", f"n{i}").id for i in range(100)]
    single.link(ids[0], "relates_to", ids[1])
    assert loaded.hash() == single.hash()
    assert loaded.verify().ok


@given(histories)
@settings(max_examples=25)
def test_former_hashes_resolve_and_verify_stays_clean_after_any_history(history):
    """After any history verify is clean, and every hash ever kept resolves to its lineage."""
    pair = Pair()
    for op in history:
        pair.apply(op)
    assert pair.memory.verify().damage == ()
    kept = pair.memory.handle.read(
        lambda view: view.query("SELECT h.hash, n.hash FROM world_hashes h JOIN nodes n ON n.id = h.line")
    )
    root = kept[0][1]
    for hash_, line in kept:
        if line != root:
            targets = pair.memory.handle.read(lambda view, h=hash_: pair.memory.handle.resolve(view, h.hex()))
            assert pair.memory.handle.read(lambda v, t=targets: v.latest(t.line)).lineage == line.hex()
