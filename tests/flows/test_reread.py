"""Reading everything again: what a better reader finds, what it leaves alone, and that once is enough."""

import msgspec
import pytest

from worldline import Fact, Memory
from worldline.reading.claim import Claim
from worldline.reading.read import Reading, reader
from worldline.write import afterwards

OLD = "records only, rules 0"


@pytest.fixture
def memory():
    """A memory in which Ana speaks."""
    with Memory.open(":memory:") as opened:
        yield opened.scoped(user="ana")


def contents(memory, **at):
    """What is believed now, as sentences."""
    handle = memory.at(**at) if at else memory
    return {node.content for node in handle.list("Fact", limit=200).items}


def read_by(memory, name, *claims):
    """As if every event had been read by another reader, who found just these claims."""
    kept = msgspec.msgpack.encode(Reading(name, claims))
    memory.handle.write(
        "test", lambda tx, place: (tx.query("UPDATE events SET reading = :kept", kept=kept), (None, True))[1]
    )


def unread(*texts):
    """A memory whose texts were read by a reader that finds nothing."""
    memory = Memory.open(":memory:").scoped(user="ana")
    old = replace_config(memory, understand="off")
    for day, text in enumerate(texts, 1):
        old.remember(text, said_at=f"2026-01-{day:02}")
    read_by(memory, OLD)
    return memory


def replace_config(memory, **changes):
    """The same memory with other settings."""
    return memory._bind(config=msgspec.structs.replace(memory.handle.config, **changes))


def test_an_old_store_gets_its_facts_and_a_second_run_does_nothing():
    """Events that only a reader of records has seen are read again, in the order in which they were said."""
    memory = unread("I live in Berlin.", "I moved to Porto.", "I'm allergic to peanuts.")
    assert contents(memory) == set()
    assert memory.readers() == {OLD: 3}
    done = memory.reread()
    assert (done.reader, done.events, done.changed, done.withdrawn) == (reader(), 3, 3, 0)
    assert contents(memory) == {"ana lives in Porto", "ana is allergic to peanuts"}
    assert "ana lives in Berlin" in contents(memory, valid="2026-01-01T12:00Z")
    assert memory.readers() == {reader(): 3}
    head = memory.hash()
    for everything in (False, True):
        again = memory.reread(everything=everything)
        assert (again.events, again.changed) == (3 if everything else 0, 0)
        assert memory.hash() == head
    assert memory.verify().ok


def test_what_the_words_do_not_say_is_withdrawn_and_what_it_ended_goes_on(memory):
    """A fact of the former reader alone is given up on the known axis; the one it had closed holds again."""
    memory.remember("I live in Berlin.", said_at="2026-01-01")
    wrong = memory.remember("Nice weather today, I went for a walk in the rain.", said_at="2026-01-05").id
    from worldline.store.events import stored_event
    from worldline.write.reconcile import settle

    claim = Claim(
        "ana", "lives in", "lives_in", "Rome", family="lives_in", holds="one", effect="begins", rank="user"
    )
    memory.handle.write("remember", lambda tx, place: (
        None, settle(tx, [claim], stored_event(tx, wrong), place, memory.handle)))  # fmt: skip
    assert contents(memory) >= {"ana lives in Rome"}
    assert "ana lives in Berlin" not in contents(memory)
    before = memory.handle.now()
    read_by(memory, OLD, claim)
    done = memory.reread()
    assert done.withdrawn == 1
    assert "ana lives in Berlin" in contents(memory)
    assert "ana lives in Rome" not in contents(memory)
    assert "ana lives in Rome" in contents(memory, known=before)
    assert memory.reread().events == 0
    assert memory.verify().ok


def test_given_confirmed_and_corrected_facts_are_left_alone(memory):
    """What somebody vouched for, or decided by hand, no reader touches."""
    memory.remember(
        "Hello there, nothing to see in this one.",
        said_at="2026-01-01",
        facts=[Fact("ana", "lives in", "Faro")],
    )
    memory.remember("I'm allergic to peanuts.", said_at="2026-01-02")
    memory.remember(
        "I live in Berlin.",
        said_at="2026-01-03",
        facts=[{"subject": "I", "relation": "home", "object": "Faro"}],
    )
    memory.remember("I speak French.", said_at="2026-01-04")
    facts = {node.content: node for node in memory.list("Fact").items}
    memory.confirm(facts["ana is allergic to peanuts"])
    memory.correct(facts["ana speaks French"])
    read_by(memory, OLD)
    held = contents(memory)
    done = memory.reread()
    assert contents(memory) == held == {"ana lives in Faro", "ana is allergic to peanuts"}
    assert (done.events, done.withdrawn, done.believed) == (4, 0, 0)


def test_a_dry_run_says_what_would_come_and_changes_nothing():
    """Counts, and not a row."""
    memory = unread("I live in Berlin.")
    head = memory.hash()
    done = memory.reread(dry_run=True)
    assert done.dry_run
    assert done.believed > 0
    assert memory.hash() == head
    assert memory.readers() == {OLD: 1}


def test_each_owner_keeps_what_is_theirs():
    """Every event is settled in the scope and the world in which it was said."""
    with Memory.open(":memory:") as memory:
        off = replace_config(memory, understand="off")
        world = memory.note("project", "atlas").id
        off.scoped(user="ana", session="s").remember("I live in Berlin.", said_at="2026-01-01")
        off.scoped(user="bo").remember("I live in Oslo.", said_at="2026-01-02")
        off.enter(world).scoped(user="ana").remember("I speak French.", said_at="2026-01-03")
        assert memory.reread().events == 3
        ana, bo = memory.scoped(user="ana"), memory.scoped(user="bo")
        assert contents(ana) == {"ana lives in Berlin", "ana speaks French"}
        assert contents(bo) == {"bo lives in Oslo"}
        assert contents(memory.enter(world).scoped(user="ana")) == {"ana speaks French"}


def test_broken_off_it_goes_on_where_it_stopped(monkeypatch):
    """What an interrupted run has done stays, and the next one does the rest."""
    memory = unread(*(f"I like tea number {number}." for number in range(5)))
    monkeypatch.setattr(afterwards, "BATCH", 2)

    def stop(stage, done):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.reread(progress=stop)
    assert memory.readers() == {reader(): 4, OLD: 1}
    assert memory.verify().ok
    assert memory.reread().events == 1
