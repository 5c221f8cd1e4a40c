"""Absorbing another memory: what comes over, what stays as it is, and what happens when it is cut short."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner

from worldline import Config, EdgeType, Fact, Memory, NodeType, Predicate, Scope
from worldline.clock import instant
from worldline.errors import InvalidInput, NewerFormat, NotAStore, NotFound, Refused, UnknownType
from worldline.exchange import absorb as absorbing
from worldline.surfaces.cli import main
from worldline.testing import FrozenClock

PLAIN = Config(embedder="none")


def opened(start: str, path: Any = ":memory:") -> Memory:
    """A memory with a clock of its own."""
    return Memory.open(path, PLAIN, clock=FrozenClock(start))


@pytest.fixture
def mine() -> Any:
    """The memory that absorbs."""
    with opened("2026-06-01") as memory:
        yield memory


@pytest.fixture
def other() -> Any:
    """The memory that is absorbed."""
    with opened("2026-03-01") as memory:
        yield memory


def named(memory: Memory, name: str) -> Any:
    """The visible notes and entities of a name."""
    found = [node for type_ in (None, "Entity") for node in memory.list(type_, limit=1000).items]
    return [node for node in found if node.name == name]


def facts(memory: Memory) -> set[str]:
    """What is believed now."""
    return {node.content for node in memory.list("Fact", limit=1000).items}


def changesets(memory: Memory) -> int:
    """How long the log is."""
    return int(memory.stats()["changesets"])


# What comes over -----------------------------------------------------------------------------------


def test_everything_comes_over(mine: Memory, other: Memory) -> None:
    """Words, sessions, facts with their evidence, notes with metadata, edges and worlds are found here."""
    mine.note("context", "mine")
    project = other.note("project", "P", metadata={"a": 1})
    other.enter(project).note("learning", "L", "inside")
    other.remember("I moved to Porto.", speaker="Ana", session="s1", said_at="2026-02-01T10:00+01:00")
    other.link(project, "relates_to", other.note("project", "Q"), metadata={"w": 2})

    done = mine.absorb(other)

    assert done.changed
    assert (done.skipped, done.differences) == ((), ())
    assert named(mine, "P")[0].metadata == {"a": 1}
    assert [n.name for n in mine.enter(project).list().items if n.name != "P"] == ["L"]
    assert mine.recall("Where did Ana move to?").hits[0].node.content == "I moved to Porto."
    fact = mine.list("Fact").items[0]
    assert [event.content for event in mine.why(fact).events] == ["I moved to Porto."]
    assert {e.type for e in mine.walk(project).edges} == {"relates_to", "contains"}
    assert mine.verify().ok


def test_the_same_payload_is_one_memory(mine: Memory, other: Memory) -> None:
    """The same words in both stores are one node; absorbing again makes no changeset at all."""
    for memory in (mine, other):
        memory.note("context", "Acme", "silver", valid_from="2026-01-01")
        memory.remember("Hello there", speaker="Ana", said_at="2026-01-02", session="s")

    done = mine.absorb(other)
    before = changesets(mine)
    again = mine.absorb(other)

    assert (done.memories, done.same) == (0, 3)
    assert len(named(mine, "Acme")) == 1
    assert (again.changed, changesets(mine)) == (False, before)


def test_known_times_are_ours_and_theirs_stay_beside(mine: Memory, other: Memory) -> None:
    """What was believed there is known here since now; history and why tell when they knew it."""
    note = other.note("context", "Acme", "silver", valid_from="2026-01-01")
    root = other.hash()

    mine.absorb(other)

    (version,) = mine.history(note.id)
    assert version.node.known.start >= instant("2026-06-01")
    assert version.node.valid.start == instant("2026-01-01")
    assert version.origins[0].known.start == note.known_at
    assert version.origins[0].store == root
    assert mine.why(note.id).origins == version.origins


def test_what_was_given_up_arrives_as_history(mine: Memory, other: Memory) -> None:
    """Corrected, retired and amended things come with their history, and only what holds is believed."""
    wrong = other.note("context", "wrong", "x", valid_from="2026-01-01")
    other.correct(wrong)
    over = other.note("context", "over", "x", valid_from="2026-01-01")
    other.retire(over, "2026-02-01")
    tier = other.note("context", "tier", "silver", valid_from="2026-01-01")
    other.amend(tier, "gold", valid_from="2026-02-01")
    doubt = other.note("context", "doubt", "x")
    other.quarantine(doubt, "hearsay")

    mine.absorb(other)

    assert {n.name for n in mine.list().items} == {"tier"}
    assert [n.name for n in mine.at(valid="2026-01-15").list().items if n.name == "over"] == ["over"]
    assert mine.get(tier.id).content == "gold"
    assert sorted(v.change for v in mine.history(tier.id)) == ["amended", "put", "superseded"]
    assert [v.change for v in mine.history(wrong.id)] == ["put"]
    assert [v.node.status for v in mine.history(doubt.id)] == ["believed", "quarantined"]
    assert not mine.at(known=instant("2026-05-01")).list().items


def test_scopes_stay_apart(mine: Memory, other: Memory) -> None:
    """A user's memories are found by that user only, shared ones by all they are shared with."""
    for memory, by in ((mine, "mine"), (other, "other")):
        memory.scoped(user="ana").note("context", "Acme", "the gold tier", metadata={"by": by})
    other.scoped(user="bo").note("context", "Acme", "the gold tier", metadata={"by": "bo"})
    other.scoped(user="u").shared_with(Scope(agent="g")).note("user", "tea", "likes")

    mine.absorb(other)

    assert named(mine.scoped(user="ana"), "Acme")[0].metadata == {"by": "mine"}
    assert named(mine.scoped(user="bo"), "Acme")[0].metadata == {"by": "bo"}
    assert [h.node.metadata for h in mine.scoped(user="bo").recall("gold tier").hits] == [{"by": "bo"}]
    assert [n.name for n in mine.scoped(agent="g").list().items] == ["tea"]
    assert not mine.scoped(user="eve").list().items
    assert mine.verify().ok


def test_a_part_of_a_memory_can_be_absorbed(mine: Memory, other: Memory) -> None:
    """A scoped handle gives that scope's memories and nobody else's."""
    for user in ("ana", "bo"):
        other.scoped(user=user).note("context", user, "x")

    mine.absorb(other.scoped(user="ana"))

    assert [n.name for n in mine.list().items] == ["ana"]


# What does not go together -------------------------------------------------------------------------


def test_another_value_of_a_slot_contradicts(mine: Memory, other: Memory) -> None:
    """Two objects of a functional predicate are both believed and contradict each other; nothing is closed."""
    for memory, city in ((mine, "Lisbon"), (other, "Porto")):
        memory.register(Predicate("lives_in", functional=True))
        memory.fact(Fact("Ana", "lives_in", city, valid_from="2026-01-01"))
        memory.fact(Fact("Ana", "likes", city))

    done = mine.absorb(other)

    assert done.contradictions == 1
    assert facts(mine) == {
        f"Ana {verb} {city}" for verb in ("lives_in", "likes") for city in ("Porto", "Lisbon")
    }
    notes = {n.content: n.notes for n in mine.list("Fact").items}
    assert notes["Ana lives_in Lisbon"] == ("contradicts lives_in",)
    assert notes["Ana likes Porto"] == ()


def test_what_was_said_in_both_contradicts_too(mine: Memory, other: Memory) -> None:
    """Facts that were read out of words contradict like those that were given."""
    mine.remember("I live in Lisbon.", speaker="Ana", said_at="2026-02-01")
    other.remember("I live in Porto.", speaker="Ana", said_at="2026-01-01")

    assert mine.absorb(other).contradictions == 1
    assert facts(mine) == {"Ana lives in Lisbon", "Ana lives in Porto"}


def test_a_newer_version_there_does_not_close_ours(mine: Memory, other: Memory) -> None:
    """A memory that was amended there and not here: ours stays, theirs stands beside it and contradicts."""
    for memory in (mine, other):
        memory.note("context", "tier", "silver", valid_from="2026-01-01")
    gold = other.amend(named(other, "tier")[0], "gold", valid_from="2026-02-01")

    mine.absorb(other)

    ours = next(n for n in named(mine, "tier") if n.content == "silver")
    assert mine.get(ours.lineage).content == "silver"
    assert mine.get(gold.id).content == "gold"
    assert mine.get(gold.id).lineage == gold.id
    assert ours.notes == ("contradicts tier",)
    assert mine.verify().ok


def test_what_was_given_up_here_stays_given_up(tmp_path: Path) -> None:
    """What was absorbed and then retired here does not come back with the next absorption; that is told."""
    with opened("2026-03-01", tmp_path / "a.db") as other, opened("2026-06-01") as mine:
        note = other.note("context", "Acme", "silver")
        mine.absorb(other)
        mine.correct(note.id)
        other.note("context", "more")

        done = mine.absorb(other)

        assert [n.name for n in mine.list().items] == ["more"]
        assert [d.reason for d in done.differences] == ["given up here, believed there"]


def test_a_fork_keeps_its_own_decisions(tmp_path: Path) -> None:
    """Two copies of one store: what one has amended, the other one's old version does not undo."""
    with opened("2026-03-01", tmp_path / "a.db") as origin:
        note = origin.note("context", "tier", "silver", valid_from="2026-01-01")
        origin.backup(tmp_path / "b.db")
        origin.note("context", "new", "x")
    with opened("2026-06-01", tmp_path / "b.db") as fork:
        fork.amend(note.id, "gold", valid_from="2026-02-01")

        done = fork.absorb(tmp_path / "a.db")

        assert fork.get(note.id).content == "gold"
        assert {n.content for n in fork.list().items} == {"gold", "x"}
        assert done.memories == 1
        assert len(fork.history(note.id)) == 3


def test_names_alike_become_proposals(mine: Memory, other: Memory) -> None:
    """An entity whose name resembles one here is proposed for a merge; nothing is merged."""
    mine.fact(Fact("Robert Smith", "likes", "tea"))
    other.fact(Fact("Robert Smyth", "likes", "coffee"))
    mine.note("Entity", "acme corp", "a maker of anvils")
    other.note("Entity", "ACME Corp")

    done = mine.absorb(other)

    pairs = {frozenset((mine.get(p.a).name, mine.get(p.b).name)) for p in mine.merges()}
    assert pairs == {frozenset(("Robert Smith", "Robert Smyth")), frozenset(("acme corp", "ACME Corp"))}
    assert set(done.receipt.proposals) == {p.id for p in mine.merges()}


def test_merges_come_over_unless_both_were_known_here(mine: Memory, other: Memory) -> None:
    """An accepted merge of newcomers stays one; of two that this store knew apart, it is a proposal."""
    for memory in (mine, other):
        for name in ("Bob", "Robert"):
            memory.note("Entity", name)
    liz, elizabeth = (other.note("Entity", name).id for name in ("Liz", "Elizabeth"))
    for a, b in ((named(other, "Bob")[0], named(other, "Robert")[0]), (liz, elizabeth)):
        other.accept_merge(other.link(a, "same_as", b).proposals[0])

    mine.absorb(other)

    assert {p.status for p in mine.merges(None)} == {"pending", "accepted"}
    assert len(mine.equivalence_class(named(mine, "Bob")[0])) == 1
    assert {n.name for n in mine.equivalence_class(elizabeth)} == {"Liz", "Elizabeth"}
    assert not mine.absorb(other).changed


def test_a_memory_lies_where_it_lies_here(mine: Memory, other: Memory) -> None:
    """What lies in another world here stays there, and that is told; newcomers lie as they did there."""
    ids = {}
    for memory in (mine, other):
        ids = {name: memory.note("project", name).id for name in ("P", "Q", "x", "y")}
    mine.link(ids["P"], "contains", ids["x"])
    other.link(ids["Q"], "contains", ids["x"])
    other.link(ids["Q"], "contains", ids["y"])
    moved = other.enter(ids["P"]).note("learning", "moved")
    other.retire(other.edge(ids["P"], "contains", moved))
    other.link(ids["y"], "contains", moved)

    done = mine.absorb(other)

    assert [d.reason for d in done.differences] == ["it lies in another world here"]
    assert {n.name for n in mine.enter(ids["P"]).list().items} == {"P", "x"}
    assert {n.name for n in mine.enter(ids["Q"]).list().items} == {"Q", "y", "moved"}
    assert mine.verify().ok
    assert not mine.absorb(other).changed


def test_an_external_id_with_other_words_is_kept_twice(mine: Memory, other: Memory) -> None:
    """Two events under the same external id are both verbatim, and both are kept."""
    for memory, text in ((mine, "one"), (other, "two")):
        memory.remember(text, external_id="m1", said_at="2026-01-01")

    assert mine.absorb(other).skipped == ()
    assert {n.content for n in mine.list("Turn").items} == {"one", "two"}
    assert not mine.absorb(other).changed


def test_through_a_third_store_it_is_the_same(mine: Memory, other: Memory) -> None:
    """What came by way of another store is recognised when its origin is absorbed as well."""
    other.note("context", "Acme", "silver")
    with opened("2026-04-01") as between:
        between.absorb(other)
        mine.absorb(between)

    assert not mine.absorb(other).changed
    assert len(mine.history(named(mine, "Acme")[0])[0].origins) == 2


# What is refused -----------------------------------------------------------------------------------


def test_unknown_types_are_refused_first(mine: Memory, other: Memory) -> None:
    """Types of edges without a handler and of nodes outside the ontology are listed, and nothing is written."""
    other.register(NodeType("recipe"))
    other.register(EdgeType("cooks"))
    a, b = other.note("recipe", "soup"), other.note("context", "Ana")
    other.link(b, "cooks", a)
    before = changesets(mine)

    with pytest.raises(Refused, match="no handler for the edge types 'cooks'"):
        mine.absorb(other)
    mine.register(EdgeType("cooks", version="2"))
    with pytest.raises(Refused, match="1 there, 2 here"):
        mine.absorb(other)
    mine.register(EdgeType("cooks"))
    with pytest.raises(UnknownType, match="'recipe'"):
        mine.absorb(other)
    assert not mine.list().items
    mine.register(NodeType("recipe"))

    assert mine.absorb(other).changed
    assert {n.name for n in mine.list().items} == {"soup", "Ana"}
    assert changesets(mine) > before


def test_what_is_no_other_store_is_refused(tmp_path: Path, mine: Memory) -> None:
    """A missing file, a folder, text, another program's file, a newer format and the store itself."""
    (tmp_path / "text.db").write_text("hello, this is not a store at all\n" * 50)
    (tmp_path / "empty.db").touch()
    with apsw.Connection(str(tmp_path / "sql.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
    with opened("2026-03-01", tmp_path / "new.db") as newer:
        newer.handle.store.connection().execute("PRAGMA user_version = 99")

    for name, error in (
        ("missing.db", NotFound), (".", NotAStore), ("text.db", NotAStore), ("empty.db", NotAStore),
        ("sql.db", NotAStore), ("new.db", NewerFormat),
    ):  # fmt: skip
        with pytest.raises(error, match=r"store|format"):
            mine.absorb(tmp_path / name)
    with opened("2026-03-01", tmp_path / "a.db") as a:
        a.note("context", "x")
        for itself in (a, tmp_path / "a.db"):
            with pytest.raises(Refused, match="this very memory"):
                a.absorb(itself)
        with pytest.raises(NotFound, match="'default'"):
            mine.absorb(tmp_path / "a.db", tenant="nobody")
        with pytest.raises(Refused, match="another moment"):
            mine.absorb(a.at(known="2026-01-01"))
        with pytest.raises(Refused, match="scope"):
            mine.scoped(user="u").absorb(a)
        with pytest.raises(Refused, match="operator"):
            mine.as_agent().absorb(a)
    with pytest.raises(InvalidInput, match="Memory"):
        mine.absorb(7)


def test_another_tenant_of_the_same_file(tmp_path: Path) -> None:
    """One tenant of a file can absorb another one."""
    with opened("2026-03-01", tmp_path / "a.db") as a:
        a.note("context", "x")
        with Memory.open(tmp_path / "a.db", PLAIN, "two") as two:
            assert two.absorb(tmp_path / "a.db", tenant="default").memories == 1
            assert [n.name for n in two.list().items] == ["x"]
        assert changesets(a) == 2


# The other file ------------------------------------------------------------------------------------


def test_the_other_file_is_only_read(tmp_path: Path, mine: Memory) -> None:
    """Not a byte of it changes, even where its process was killed and left work in its journal."""
    path = tmp_path / "a.db"
    code = (
        "import os, sys; from worldline import *; m = Memory.open(sys.argv[1], Config(embedder='none'));"
        "m.note('context', 'in the journal', valid_from='2026-01-01'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    files = [path, path.with_name("a.db-wal")]
    before = [hashlib.sha256(file.read_bytes()).digest() for file in files]

    mine.absorb(path)

    assert [n.name for n in mine.list().items] == ["in the journal"]
    assert [hashlib.sha256(file.read_bytes()).digest() for file in files] == before


def test_an_older_file_is_read_through_a_copy(tmp_path: Path, mine: Memory) -> None:
    """A store of an earlier format is absorbed and stays in its format."""
    path = tmp_path / "old.db"
    connection = apsw.Connection(str(path))
    connection.execute((Path(__file__).parents[1] / "state" / "format3.sql").read_text("utf-8"))
    connection.close()
    before = path.read_bytes()

    mine.absorb(path, tenant="other")

    later = mine.at(valid="2030-01-01")
    assert {n.name for n in later.list("context").items} == {"mine", "tea of other"}
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.backup"))


# What was forgotten --------------------------------------------------------------------------------


def test_what_was_forgotten_here_is_not_taken_again(mine: Memory, other: Memory, tmp_path: Path) -> None:
    """A text that came from there goes with its facts and names, and neither absorbing nor an export brings it back."""
    said = other.remember("Ana lives in Rome.", speaker="Bob", said_at="2026-01-01")
    other.export(tmp_path / "before.jsonl")
    mine.absorb(other)

    done = mine.forget(said.id, confirm=True)
    again = mine.absorb(other)
    imported = mine.import_(tmp_path / "before.jsonl")

    assert (done.facts, done.entities) == (1, 2)
    assert not again.changed
    assert {bad.reason for bad in again.skipped} == {"it was forgotten here"}
    assert (imported.stored, len(imported.skipped)) == (0, 2)
    assert not [*mine.list("Turn").items, *mine.list("Entity").items, *mine.list("Fact").items]
    assert mine.verify().ok

    other.remember("Ana likes tea.", speaker="Bob", said_at="2026-01-02")
    mine.absorb(other)
    assert facts(mine) == {"Ana likes tea"}
    assert [node.name for node in mine.list("Entity").items] == ["Ana"]
    assert mine.verify().ok
    mine.remember("Ana lives in Rome.", speaker="Bob", said_at="2026-01-01")
    assert facts(mine) == {"Ana likes tea", "Ana lives in Rome"}
    assert mine.verify().ok


def test_what_others_have_learned_comes_though_it_was_forgotten_here(mine: Memory, other: Memory) -> None:
    """The same words of somebody else, learned by themselves, are another memory."""
    gone = mine.scoped(user="ana").note("context", "Acme", "the gold tier")
    mine.note("context", "mine")
    mine.scoped(user="ana").forget(gone.id, confirm=True)
    other.scoped(user="bo").note("context", "Acme", "the gold tier")

    assert mine.absorb(other).skipped == ()

    assert named(mine.scoped(user="bo"), "Acme")
    assert not mine.scoped(user="ana").list().items
    assert mine.verify().ok


def test_names_that_were_forgotten_come_back_with_what_is_new(mine: Memory, other: Memory) -> None:
    """A name that only a forgotten text had said is not taken again, until something new speaks of whom it names."""
    fact = Fact("Zelda", "lives_in", "Oslo")
    said = other.remember("Zelda lives in Oslo.", speaker="Bob", said_at="2026-01-01", facts=[fact])
    other.remember("She does, I am sure.", speaker="Cid", said_at="2026-01-02", facts=[fact])
    mine.absorb(other)
    mine.forget(said.id, confirm=True)
    assert not named(mine, "Zelda")

    mine.absorb(other)
    assert not named(mine, "Zelda")
    assert mine.verify().ok

    other.remember("Zelda likes tea.", speaker="Bob", said_at="2026-01-03")
    mine.absorb(other)
    assert named(mine, "Zelda")
    assert "Zelda likes tea" in facts(mine)
    assert mine.verify().ok


# Cut short -----------------------------------------------------------------------------------------


def grown(path: Path, notes: int) -> None:
    """A store with notes, edges, facts and things said."""
    with opened("2026-03-01", path) as memory:
        ids = [memory.note("context", f"n{number}", "x").id for number in range(notes)]
        for a, b in pairwise(ids):
            memory.link(a, "relates_to", b)
        memory.remember("I live in Porto.", speaker="Ana", session="s", said_at="2026-01-01")


def test_an_interrupt_leaves_a_whole_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever batch it comes in, the store proves itself, and the next run completes it without doubling."""
    monkeypatch.setattr(absorbing, "BATCH", 5)
    grown(tmp_path / "a.db", 12)
    with opened("2026-06-01") as whole:
        whole.absorb(tmp_path / "a.db")
        rows = [whole.stats()[name] for name in ("versions", "beliefs", "edge_rows")]
    for after in range(1, 7):
        seen: list[str] = []

        def stop(stage: str, done: int, seen: list[str] = seen, after: int = after) -> None:
            seen.append(stage)
            if len(seen) == after:
                raise KeyboardInterrupt

        with opened("2026-06-01") as memory:
            with pytest.raises(KeyboardInterrupt):
                memory.absorb(tmp_path / "a.db", progress=stop)
            assert memory.verify().ok
            memory.absorb(tmp_path / "a.db")
            assert [memory.stats()[name] for name in ("versions", "beliefs", "edge_rows")] == rows
            assert memory.verify().ok
            assert not memory.absorb(tmp_path / "a.db").changed


def test_a_killed_absorption_is_resumed(tmp_path: Path) -> None:
    """Killed at any moment, a second run completes it; nothing is there twice."""
    grown(tmp_path / "a.db", 60)
    code = (
        "import sys; from worldline import *; from worldline.exchange import absorb; absorb.BATCH = 3;"
        "m = Memory.open(sys.argv[1], Config(embedder='none'));"
        "m.absorb(sys.argv[2], progress=lambda *a: print('.', flush=True))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "b.db"), str(tmp_path / "a.db")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()

    with Memory.open(tmp_path / "b.db", PLAIN) as memory, opened("2026-06-01") as whole:
        assert memory.verify().ok
        memory.absorb(tmp_path / "a.db")
        whole.absorb(tmp_path / "a.db")
        for name in ("versions", "beliefs", "edge_rows", "visible"):
            assert memory.stats()[name] == whole.stats()[name]
        assert memory.verify().ok


def test_dry_run_and_undo(mine: Memory, other: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run tells the same and writes nothing; an absorption of several changesets can be undone."""
    monkeypatch.setattr(absorbing, "BATCH", 4)
    mine.note("context", "mine")
    project = other.note("project", "P")
    other.enter(project).note("learning", "L")
    other.remember("I live in Porto.", speaker="Ana", session="s")
    before = changesets(mine)

    dry = mine.absorb(other, dry_run=True)
    assert (changesets(mine), dry.receipt.dry_run) == (before, True)
    done = mine.absorb(other)
    assert (done.memories, done.beliefs, done.edges) == (dry.memories, dry.beliefs, dry.edges)
    assert len(done.receipt.also) > 1
    mine.undo(done.receipt)

    assert {n.name for n in mine.list().items} == {"mine"}
    assert not mine.list("Turn").items
    assert mine.verify().ok


def test_what_waits_there_waits_here(mine: Memory, other: Memory) -> None:
    """An event whose facts were not settled when its process ended is settled here by resume."""
    other.remember("I live in Porto.", speaker="Ana", session="s")
    kept = json.dumps([{"scopes": [], "world": 0, "facts": [], "extract": True, "model": False}])
    query = other.handle.store.connection().execute
    fact = other.list("Fact").items[0]
    other.correct(fact)
    query("UPDATE events SET state = 'pending', draft = ?", (kept,))

    mine.absorb(other)
    assert not mine.list("Fact").items
    mine.resume()

    assert facts(mine) == {"Ana lives in Porto"}
    assert mine.stats()["pending_events"] == 0


def test_a_changed_line_is_told_and_the_rest_absorbed(tmp_path: Path, mine: Memory, other: Memory) -> None:
    """An exported line that does not fit its id, or lacks a field, is skipped; what needs it is told too."""
    mine.note("context", "mine")
    other.note("context", "good", "x")
    bad = other.note("context", "bad", "likes")
    other.link(bad, "relates_to", named(other, "good")[0])
    other.export(tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl").read_text("utf-8").replace('"content":"likes"', '"content":"hates"')
    more = '{"kind":"belief","row":1,"of":"nonsense","valid":[0,null],"known":[0,null]}\n{"kind":7}\n'
    (tmp_path / "a.jsonl").write_text(text + more, "utf-8")

    report = mine.import_(tmp_path / "a.jsonl")

    reasons = [item.reason for item in report.skipped]
    assert [reason for reason in reasons if "not what its id was made from" in reason]
    assert {"it has no of", "it has no kind"} <= set(reasons)
    assert {n.name for n in mine.list().items} == {"mine", "good"}
    assert mine.verify().ok


# The shell -----------------------------------------------------------------------------------------


def test_absorb_from_the_shell(tmp_path: Path) -> None:
    """`worldline absorb` tells what is new; the second time nothing changes; errors are one line."""
    grown(tmp_path / "a.db", 3)

    def run(*args: str, code: int = 0) -> str:
        env = {"WORLDLINE_DB": str(tmp_path / "b.db"), "WORLDLINE_EMBEDDER": "none"}
        result = CliRunner(env=env).invoke(main, list(args))
        assert result.exit_code == code, result.output
        return result.output

    dry = run("absorb", str(tmp_path / "a.db"), "--dry-run")
    told = run("absorb", str(tmp_path / "a.db"))
    again = json.loads(run("absorb", str(tmp_path / "a.db"), "--json"))

    assert "8 memories would be new" in dry
    assert told.startswith("absorb: 8 memories new, 0 were here already; 8 beliefs")
    assert (again["changed"], again["same"]) == (False, 8)
    assert "no store" in run("absorb", str(tmp_path / "none.db"), code=1)
    assert "from store" in run("history", json.loads(run("list", "--json"))["items"][0]["id"])
