"""What every write promises: twice is once, a dry run does nothing, undo restores every read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from laws.harness import Pair, histories, ops
from worldline import FOREVER, EdgeType, Fact, Memory, NodeType, Predicate
from worldline.store.schema import COLUMNS, key_of
from worldline.testing import FrozenClock
from worldline.write.given import Link, Note

TABLES = (*COLUMNS, "worlds", "log", "tenants", "words", "fresh_words", "words_total")


def rows(memory) -> dict[str, list]:
    """Every row of every table."""
    keys = {table: ", ".join(key_of(table)) for table in TABLES}
    return {
        table: memory.handle.store.query(f"SELECT * FROM {table} ORDER BY {key}")
        for table, key in keys.items()
    }


def scene():
    """A memory with a little of everything, its clock, and the ids by name."""
    clock = FrozenClock(1000)
    memory = Memory.open(":memory:", clock=clock)
    ids = {
        "a": memory.note("learning", "a", "text a", valid_from=0).id,
        "b": memory.note("learning", "b", "text b", valid_from=10).id,
        "w": memory.note("project", "w", valid_from=0).id,
        "e1": memory.note("Entity", "Jon", valid_from=0).id,
        "e2": memory.note("Entity", "John", valid_from=0).id,
        "turn": memory.remember("hello", said_at=5, speaker="me").id,
    }
    memory.link(ids["a"], "relates_to", ids["b"])
    ids["p"] = memory.link(ids["e1"], "same_as", ids["e2"]).proposals[0]
    clock.advance(10)
    return memory, clock, ids


VERBS = {
    "note": lambda m, i: m.note("learning", "new", "text", valid_from=3),
    "note in a world": lambda m, i: m.enter(i["w"]).note("learning", "inner"),
    "note without a time": lambda m, i: m.note("learning", "undated"),
    "remember": lambda m, i: m.remember("hi", said_at=7, speaker="me", session="s"),
    "remember without a time": lambda m, i: m.remember("hi again"),
    "remember with metadata and an end": lambda m, i: m.remember(
        "hi", said_at=7, metadata={"k": 1}, expires=9000
    ),
    "remember by external id": lambda m, i: m.remember("hi", said_at=9, external_id="x1"),
    "remember messages": lambda m, i: m.remember(messages=[{"role": "user", "content": "yo"}], said_at=8),
    "remember with facts": lambda m, i: m.remember(
        "I like tea", said_at=20, facts=[Fact("me", "likes", "tea")]
    ),
    "fact": lambda m, i: m.fact(Fact("me", "lives in", "Rome", valid_from=30, functional=True)),
    "link": lambda m, i: m.link(i["b"], "supports", i["a"], valid_from=20),
    "link a fact": lambda m, i: m.link(i["e1"], "fact", i["e2"], predicate="knows", valid_from=20),
    "contains": lambda m, i: m.link(i["w"], "contains", i["a"]),
    "supersedes": lambda m, i: m.link(i["b"], "supersedes", i["a"]),
    "contradicts": lambda m, i: m.link(i["a"], "contradicts", i["b"]),
    "same_as": lambda m, i: m.link(i["a"], "same_as", i["b"]),
    "amend": lambda m, i: m.amend(i["a"], "text 2", valid_from=40),
    "correct": lambda m, i: m.correct(i["a"], "text 2"),
    "withdraw": lambda m, i: m.correct(i["a"]),
    "retire": lambda m, i: m.retire(i["a"], 50),
    "retire now": lambda m, i: m.retire(i["a"]),
    "retire an edge": lambda m, i: m.retire(m.edge(i["a"], "relates_to", i["b"]), 5000),
    "quarantine": lambda m, i: m.quarantine(i["a"], "doubt"),
    "confirm": lambda m, i: m.confirm(i["a"]),
    "accept": lambda m, i: m.accept_merge(i["p"]),
    "reject": lambda m, i: m.reject_merge(i["p"]),
    "load": lambda m, i: m.load([Note("learning", "l1"), Note("learning", "l2")], [Link(0, "supports", 1)]),
    "register a node type": lambda m, i: m.register(NodeType("recipe")),
    "register an edge type": lambda m, i: m.register(EdgeType("cites")),
    "register a predicate": lambda m, i: m.register(Predicate("born in", functional=True)),
}


@pytest.mark.parametrize("verb", VERBS)
def test_writing_twice_is_writing_once(verb):
    """The second, identical write changes no row, does not fail, and says so."""
    memory, clock, ids = scene()
    first = VERBS[verb](memory, ids)
    assert first.changed
    assert memory.verify().damage == ()
    before = rows(memory)
    clock.advance(3)
    second = VERBS[verb](memory, ids)
    assert not second.changed
    assert second.id == first.id
    assert rows(memory) == before


DRY = {
    "note": lambda m, i, d: m.note("learning", "new", "text", dry_run=d),
    "remember": lambda m, i, d: m.remember("hi", session="s", dry_run=d),
    "remember with facts": lambda m, i, d: m.remember("hi", facts=[Fact("a", "b", "c")], dry_run=d),
    "fact": lambda m, i, d: m.fact(Fact("me", "likes", "tea"), dry_run=d),
    "link": lambda m, i, d: m.link(i["b"], "supports", i["a"], dry_run=d),
    "amend": lambda m, i, d: m.amend(i["a"], "text 2", dry_run=d),
    "correct": lambda m, i, d: m.correct(i["a"], "text 2", dry_run=d),
    "retire": lambda m, i, d: m.retire(i["a"], dry_run=d),
    "quarantine": lambda m, i, d: m.quarantine(i["a"], "doubt", dry_run=d),
    "accept": lambda m, i, d: m.accept_merge(i["p"], dry_run=d),
    "in a new scope": lambda m, i, d: m.scoped(user="new").note("learning", "n", dry_run=d),
}


@pytest.mark.parametrize("verb", DRY)
def test_a_dry_run_changes_nothing(verb):
    """No row of any table differs after a dry run, and its receipt is that of the real write."""
    memory, _, ids = scene()
    before = rows(memory)
    dry = DRY[verb](memory, ids, True)
    assert dry.dry_run
    assert rows(memory) == before
    real = DRY[verb](memory, ids, False)
    if verb != "remember with facts":
        assert (dry.id, dry.changed, dry.changes) == (real.id, real.changed, real.changes)


def test_a_dry_run_in_a_new_file_leaves_it_empty(tmp_path):
    """Not even the tenant is made."""
    with Memory.open(tmp_path / "new.db") as memory:
        assert memory.note("learning", "n", dry_run=True).changed
        assert memory.stats()["changesets"] == 0


def reads(memory, ids):
    """What a user can see now."""
    return (
        {n.id for n in memory.list(limit=1000).items},
        {(n.id, n.valid, n.notes) for n in memory.query().run().nodes},
        {(e.src, e.type, e.dst) for e in memory.query().run().edges},
        {n.content for n in memory.list("Turn").items},
        {n.content for n in memory.list("Fact").items},
        tuple(p.status for p in memory.merges(None) if p.id == ids["p"]),
        {n.id for n in memory.equivalence_class(ids["e1"])},
        {n.id for n in memory.enter(ids["w"]).list().items},
    )


UNDOABLE = [verb for verb in VERBS if not verb.startswith("register")]


@pytest.mark.parametrize("verb", UNDOABLE)
def test_undo_restores_every_read(verb):
    """After undo all reads are as before the write; undoing twice is once; redoing works."""
    memory, clock, ids = scene()
    before = reads(memory, ids)
    receipt = VERBS[verb](memory, ids)
    after = reads(memory, ids)
    clock.advance(5)
    assert memory.undo(receipt).changed
    assert reads(memory, ids) == before
    held = rows(memory)
    clock.advance(5)
    assert not memory.undo(receipt).changed
    assert rows(memory) == held
    assert VERBS[verb](memory, ids).changed
    if "now" not in verb and "without" not in verb:
        assert [len(x) for x in reads(memory, ids)] == [len(x) for x in after]
    assert memory.verify().damage == ()


def test_a_receipt_that_changed_nothing_undoes_nothing(memory):
    """The known time of an idle write is nobody's; undoing it must not hit the next changeset."""
    memory.note("learning", "a")
    idle = memory.note("learning", "a")
    kept = memory.note("learning", "b")
    assert idle.known_at <= kept.known_at
    assert not memory.undo(idle).changed
    assert {n.name for n in memory.list().items} == {"a", "b"}


@given(histories, ops)
@settings(max_examples=25)
def test_known_time_is_never_rewritten(history, last):
    """A row's known interval is closed once; nothing else of a row ever changes; no row disappears."""
    pair = Pair()
    for op in history:
        pair.apply(op)
    before = {table: {r[0]: r for r in found} for table, found in rows(pair.memory).items()}
    pair.apply(last)
    after = {table: {r[0]: r for r in found} for table, found in rows(pair.memory).items()}
    for table in ("nodes", "beliefs", "edges", "world_hashes", "scopes"):
        for key, row in before[table].items():
            was = dict(zip(COLUMNS[table], row, strict=True))
            now = dict(zip(COLUMNS[table], after[table][key], strict=True))
            if was.get("kt") == FOREVER:
                now["kt"] = FOREVER
            assert was == now
    stamps = [row[2] for row in pair.memory.handle.store.query("SELECT * FROM log ORDER BY sequence")]
    assert stamps == sorted(set(stamps))


@given(histories)
@settings(max_examples=25)
def test_validity_only_tightens_except_by_correct_and_undo(history):
    """What retire and amend leave believed of a version never reaches beyond what was believed before."""
    pair = Pair()
    for op in history:
        before = _extent(pair.memory)
        pair.apply(op)
        if op[0] in ("amend", "retire"):
            for version, intervals in _extent(pair.memory).items():
                if op[0] == "retire":
                    assert all(any(a <= s and e <= b for a, b in before[version]) for s, e in intervals)


def _extent(memory):
    found: dict = {}
    for node, scope, start, end in memory.handle.store.query(
        "SELECT node, scope, vf, vt FROM beliefs WHERE kt = ?", (FOREVER,)
    ):
        found.setdefault((node, scope), []).append((start, end))
    return found
