"""Worlds get a vector of what they contain, along the path of what changed, and recall finds them by it."""

from __future__ import annotations

import numpy as np
import pytest

from worldline import Config, Memory, Scope
from worldline.consolidate import Arrow, NewLines, carry_out, worlds
from worldline.testing import FrozenClock, HashEmbedder
from worldline.write.given import Note

PLAIN = Config(embedder="none")
DAY = 86_400_000_000


def opened(path=":memory:", embedder=True, clock=None):
    """A memory, with a cheap embedder or with none."""
    timed = {} if clock is None else {"clock": clock}
    return Memory.open(path, PLAIN, embedder=HashEmbedder() if embedder else None, **timed)


@pytest.fixture
def memory():
    """A memory with a cheap embedder."""
    with opened() as made:
        yield made


def sleep(memory):
    """How many rows a night has written."""
    return sum(slept.rows for slept in memory.consolidate(["compose"]).passes)


def rows(memory):
    """Every composed vector, by world and scope."""
    found = memory.handle.store.query(
        "SELECT line, scope, vector, members FROM composed ORDER BY line, scope"
    )
    return {(line, scope): (vector, members) for line, scope, vector, members in found}


def vector(memory, ref):
    """The vector of a world."""
    line = memory.get(ref).line
    found = [vector for (world, _), (vector, _) in rows(memory).items() if world == line]
    return np.frombuffer(found[0], np.float16).astype(np.float64)


def talk(memory, sessions=4, turns=6):
    """Sessions that are each about a subject of their own."""
    for number in range(sessions):
        for turn in range(turns):
            memory.remember(
                f"Subject{number} came up again, part {turn} of it.", speaker="user", session=f"s{number}"
            )


def tree(memory):
    """50 worlds of 20 leaves, three levels deep: the ids of one leaf and of the worlds above it."""
    notes = [Note("project", f"area {number}") for number in range(2)]
    notes += [Note("project", f"field {number}", inside=number % 2) for number in range(10)]
    notes += [Note("project", f"plot {number}", inside=2 + number % 10) for number in range(50)]
    notes += [
        Note("learning", f"leaf {number}", f"word{number} word{number % 50}", inside=12 + number % 50)
        for number in range(1000)
    ]
    ids = memory.load(notes).ids
    memory.flush()
    return ids


# What is composed ---------------------------------------------------------------------------------


def test_a_session_gets_the_middle_of_its_turns(memory):
    """A session has no words of its own: its vector is the mean of its turns'."""
    talk(memory, sessions=2)
    assert sleep(memory) == 2

    turns = [memory.get(node.id) for node in memory.list("Turn", limit=100).items]
    said = [node.content for node in turns if "Subject0" in node.content]
    middle = worlds.mean(HashEmbedder().embed(sorted(said)).astype(np.float16))
    session = next(node for node, _ in memory.worlds() if node.name == "s0")
    assert vector(memory, session.id) @ middle == pytest.approx(1.0, abs=1e-3)


def test_a_world_with_words_attends_to_what_it_says(memory):
    """A project about boats means its boats more than its many lunches."""
    project = memory.note("project", "boats", "boats boats boats")
    inside = memory.enter(project.id)
    inside.note("learning", "hull", "boats boats need paint")
    for number in range(9):
        inside.note("learning", f"meal {number}", f"lunch soup bread {number}")
    sleep(memory)

    boats, lunch = HashEmbedder().embed(["boats", "lunch soup bread"])
    composed = vector(memory, project.id)
    assert composed @ boats > composed @ lunch


def test_sleeping_again_writes_nothing(memory):
    """A hundred nights without news leave every row as the first one made it."""
    talk(memory)
    ids = tree(memory)
    assert sleep(memory) == 4 + 62
    before = rows(memory)

    assert [sleep(memory) for _ in range(100)] == [0] * 100
    assert rows(memory) == before
    assert len(ids) == 1062


def test_composing_everything_anew_gives_the_same_rows(memory):
    """No drift: what many small nights have left is what one night over everything would make."""
    ids = tree(memory)
    sleep(memory)
    for number in range(5):
        memory.amend(ids[62 + 7 * number], content=f"other words {number}")
        sleep(memory)
    before = rows(memory)

    memory.handle.store.query("DELETE FROM composed")
    memory.handle.store.query("DELETE FROM sleep")
    sleep(memory)
    assert rows(memory) == before


# Along the path -------------------------------------------------------------------------------------


def test_a_changed_leaf_recomposes_its_path_only(memory):
    """One leaf of a thousand changes: the three worlds above it are written, and no other."""
    ids = tree(memory)
    assert sleep(memory) == 62
    before = rows(memory)

    memory.amend(ids[62], content="something else entirely")
    assert sleep(memory) == 3
    above = {memory.get(ids[at]).line for at in (12, 2, 0)}
    assert {line for (line, _), row in rows(memory).items() if before[line, 0] != row} == above


def test_a_moved_child_recomposes_both_paths(memory):
    """Where it was and where it is now: both worlds change, and the one above both."""
    ids = tree(memory)
    sleep(memory)
    before = rows(memory)
    memory.retire(memory.edge(ids[12], "contains", ids[62]))
    memory.link(ids[13], "contains", ids[62])
    sleep(memory)

    above = {memory.get(ids[at]).line for at in (12, 2, 0, 13, 3, 1)}
    assert {line for (line, _), row in rows(memory).items() if before[line, 0] != row} == above


def test_a_new_turn_recomposes_its_session_only(memory):
    """What is said in one session does not touch another one's vector."""
    talk(memory)
    sleep(memory)
    memory.remember("One thing more.", speaker="user", session="s1")
    assert sleep(memory) == 1


def test_a_world_that_was_emptied_has_no_vector(memory):
    """When its last child is gone, recall does not find it any more."""
    project = memory.note("project", "boats")
    hull = memory.enter(project.id).note("learning", "hull", "boats need paint")
    sleep(memory)
    assert len(vector(memory, project.id))

    memory.retire(hull.id)
    sleep(memory)
    assert len(vector(memory, project.id)) == 0


# Vectors come after words ---------------------------------------------------------------------------


def test_without_vectors_nothing_is_composed_until_there_are_some(tmp_path):
    """A memory without an embedder sleeps in vain; once there are vectors, everything is composed."""
    path = tmp_path / "store.db"
    with opened(path, embedder=False) as memory:
        talk(memory)
        assert "no vectors" in memory.consolidate(["compose"]).passes[0].note
        assert sleep(memory) == 0
    with opened(path) as memory:
        assert sleep(memory) == 0
        memory.flush()
        assert sleep(memory) == 4


def test_a_vector_that_comes_late_is_not_forgotten(tmp_path):
    """A turn that a process without an embedder wrote joins its session once it is embedded."""
    path = tmp_path / "store.db"
    with opened(path) as memory:
        talk(memory)
        sleep(memory)
        before = rows(memory)
    with opened(path, embedder=False) as memory:
        memory.remember("Something quite different.", speaker="user", session="s1")
        assert sleep(memory) == 0
        assert sleep(memory) == 0
    with opened(path) as memory:
        memory.flush()
        assert sleep(memory) == 1
        changed = [key for key, row in rows(memory).items() if before[key] != row]
        assert [rows(memory)[key][1] for key in changed] == [7]


def test_embedding_anew_composes_anew(memory):
    """New vectors drop the worlds' vectors, and the next night makes them again."""
    talk(memory)
    sleep(memory)
    before = rows(memory)
    memory.reembed()
    assert rows(memory) == {}
    assert sleep(memory) == 4
    assert rows(memory) == before


def test_what_sleep_writes_about_a_world_is_not_waited_for(memory):
    """A summary has no vector and gets none: its session is composed of its turns, and nothing is put off."""
    talk(memory)
    session = next(node for node, _ in memory.worlds() if node.name == "s0")
    with memory.handle.changeset("sleep summaries") as (tx, _):
        carry_out(tx, [NewLines("Summary", "s0", "Subject0 came up.", world=session.line)], 0)
    sleep(memory)

    assert rows(memory)[session.line, 0][1] == 6
    assert memory.handle.store.query("SELECT state FROM sleep WHERE pass = 'compose'") == [("[]",)]


# Owners ---------------------------------------------------------------------------------------------


def test_a_world_that_two_users_have_is_composed_for_each(memory):
    """The same project in two scopes has two vectors, each of its owner's notes only."""
    for user, words in (("ana", "boats sails"), ("bo", "soup bread")):
        mine = memory.scoped(user=user)
        project = mine.note("project", "plans")
        mine.enter(project.id).note("learning", f"about {words}", words)
    sleep(memory)

    found = [np.frombuffer(row, np.float16) for row, _ in rows(memory).values()]
    assert len(found) == 2
    assert not np.allclose(found[0], found[1])
    assert sleep(memory) == 0


def test_a_shared_session_is_found_by_those_it_is_shared_with(memory):
    """A session of two runs is composed once, and recall in either run uses it."""
    shared = memory.shared_with(Scope(run="one"), Scope(run="two"))
    talk(shared, sessions=3)
    sleep(memory)
    for run in ("one", "two"):
        hits = memory.scoped(run=run).recall("What about Subject1?").hits
        assert any("worlds" in hit.lanes for hit in hits)
    assert not memory.scoped(run="three").recall("What about Subject1?").hits


# Recall ---------------------------------------------------------------------------------------------


def test_recall_looks_into_the_nearest_worlds(memory):
    """After a night, the lane brings turns of the session in question; without it they are not marked."""
    talk(memory)
    assert not any("worlds" in hit.lanes for hit in memory.recall("What about Subject2?").hits)
    sleep(memory)

    found = memory.recall("What about Subject2?", explain=True)
    assert "worlds" in found.hits[0].lanes
    assert any(line.startswith("lane worlds:") for line in found.trace)
    without = memory.recall("What about Subject2?", without=("worlds",))
    assert not any("worlds" in hit.lanes for hit in without.hits)


def test_the_nearness_of_a_world_is_a_factor(memory):
    """Each hit tells what its world gave to its score, and the factors still add up."""
    talk(memory, sessions=12)
    sleep(memory)
    hits = memory.recall("What about Subject2?").hits
    assert all("world" in hit.factors for hit in hits)
    assert all(abs(sum(hit.factors.values()) - hit.points) < 1e-9 for hit in hits)
    best = max(hits, key=lambda hit: hit.factors["world"])
    assert best.session == "s2"


def test_the_lane_costs_one_statement_and_none_before_a_night(memory):
    """Recall asks the store once more where worlds are composed, and not at all where none are."""
    talk(memory)
    store = memory.handle.store

    def asked(**more):
        memory.recall("What about Subject2?", **more)
        before = store.statements
        memory.recall("What about Subject2?", **more)
        return store.statements - before

    never = asked()
    sleep(memory)
    assert asked(without=("worlds",)) == never
    assert asked() == never + 1


def test_a_new_night_is_seen_by_an_open_memory(memory):
    """Rows that a later night wrote reach the index of a memory that was asked before."""
    talk(memory)
    sleep(memory)
    memory.recall("What about Subject2?")
    for number in range(3):
        memory.remember(f"Zebra question number {number}.", speaker="user", session="zoo")
    sleep(memory)
    hits = memory.recall("Which zebra question?").hits
    assert "worlds" in next(hit for hit in hits if hit.session == "zoo").lanes


def test_another_moment_is_answered_without_todays_worlds():
    """What was known yesterday is ranked the same before and after tonight's sleep."""
    clock = FrozenClock("2026-03-01")
    with opened(clock=clock) as memory:
        talk(memory)
        clock.advance(DAY)
        then = memory.at(as_of=clock() - DAY // 2)
        before = then.recall("What about Subject2?")
        memory.remember("Subject2 is a zebra.", speaker="user", session="s2")
        sleep(memory)
        after = then.recall("What about Subject2?")
    assert [(hit.node.id, hit.score) for hit in after.hits] == [
        (hit.node.id, hit.score) for hit in before.hits
    ]
    assert not any("world" in hit.factors for hit in after.hits)


def test_a_topic_means_the_turns_that_it_gathers(memory):
    """A topic is composed of the stretches it was derived from, and the lane brings them all."""
    for number in range(8):
        words = "harbour sails" if 2 <= number <= 4 else "soup bread"
        memory.remember(f"Again {words}, number {number}.", speaker="user", session="s")
    first = next(n for n in memory.list("Turn", limit=50).items if "number 2" in n.content)
    gathered = Arrow("derived_from", first.line, {"turns": [2, 4]})
    with memory.handle.changeset("sleep topics") as (tx, _):
        carry_out(tx, [NewLines("Topic", "harbour", "harbour, sails", edges=(gathered,))], 0)
    assert sleep(memory) == 2

    topic = memory.list("Topic").items[0]
    sails = HashEmbedder().embed(["Again harbour sails number"])[0]
    assert vector(memory, topic.id) @ sails > 0.9
    assert rows(memory)[topic.line, 0][1] == 3
    hits = memory.recall("What of the harbour and the sails?").hits
    assert {f"number {n}" for n in (2, 3, 4)} <= {h.node.content[-9:-1] for h in hits if "worlds" in h.lanes}
