"""AsyncMemory, filters by comparison and what expires: the same memory for code that awaits."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from test_public_api import VERBS
from worldline import FOREVER, AsyncMemory, Config, Memory
from worldline.clock import instant
from worldline.errors import InvalidInput, StoreError
from worldline.testing import FrozenClock

PLAIN = Config(embedder="none")


def test_every_public_verb_is_there() -> None:
    """Whatever a Memory can do, an AsyncMemory can under the same name; nothing else becomes a verb."""

    async def work() -> None:
        async with await AsyncMemory.open(":memory:", PLAIN) as m:
            for name in VERBS:
                assert callable(getattr(m, name)), name
                assert name in dir(m)
            with pytest.raises(AttributeError, match="no 'eat'"):
                m.eat()
            with pytest.raises(AttributeError):
                m._h  # noqa: B018
            assert inspect.signature(m.recall).parameters.keys() >= {"question", "max_tokens"}

    asyncio.run(work())


def test_it_remembers_and_recalls() -> None:
    """Binding is a plain call, verbs are awaited, many at once queue up; errors come through."""

    async def work() -> None:
        async with await AsyncMemory.open(":memory:", PLAIN) as m:
            ana = m.scoped(user="ana")
            await ana.remember("I live in Rome.", speaker="Ana")
            await asyncio.gather(*(ana.note("learning", f"n{at}", "x") for at in range(12)))

            assert (await ana.recall("Where does Ana live?")).answer == "Rome"
            assert len((await ana.list("learning")).items) == 12
            assert len((await ana.query().text("Rome").run()).nodes) >= 1
            assert (await m.scoped(user="bo").list("Turn")).items == ()
            assert (await m.at(as_of="2000-01-01").list("Turn")).items == ()
            with pytest.raises(InvalidInput):
                await m.get("zz")

    asyncio.run(work())


def test_closing_waits_for_what_is_under_way() -> None:
    """A write that was begun before `close` is done when it returns."""

    async def work() -> int:
        m = await AsyncMemory.open(":memory:", PLAIN)
        begun = [asyncio.ensure_future(m.note("learning", f"n{at}", "x")) for at in range(8)]
        await asyncio.sleep(0)
        await m.close()
        return sum(receipt.changed for receipt in await asyncio.gather(*begun))

    assert asyncio.run(work()) == 8


def test_verbs_are_coroutines_and_a_closed_memory_says_so() -> None:
    """A verb can be made a task of its own; after closing each is refused as Memory refuses it."""

    async def work() -> None:
        m = await AsyncMemory.open(":memory:", PLAIN)
        id_ = (await asyncio.create_task(m.note("learning", "n", "x"))).id
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(m.get(id_)), group.create_task(m.query().text("n").run())]
        assert tasks[0].result().name == "n"
        assert inspect.iscoroutinefunction(m.recall)
        bound = m.scoped(user="ana")
        await m.close()
        for late in (m.recall("x"), m.enter(id_), m.query().run(), bound.note("learning", "n", "x")):
            with pytest.raises(StoreError, match="closed"):
                await late

    asyncio.run(work())


@pytest.fixture
def shelf() -> Iterator[Memory]:
    """Five notes with labels."""
    with Memory.open(":memory:", PLAIN) as memory:
        for name, pages, tags in (
            ("a", 90, ["x"]),
            ("b", 200, ["x", "y"]),
            ("c", 310, []),
            ("d", 450, ["y"]),
        ):
            labels = {"pages": pages, "tags": tags, "by": {"name": name.upper()}}
            memory.note("reference", name, f"a book called {name}", metadata=labels)
        memory.note("reference", "e", "a book called e")
        yield memory


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"pages": 200}, "b"),
        ({"pages": {"$gt": 90, "$lt": 450}}, "bc"),
        ({"pages": {"$gte": 90}}, "abcd"),
        ({"pages": {"$lte": 90}}, "a"),
        ({"pages": {"$in": [90, 310, 7]}}, "ac"),
        ({"pages": {"$ne": 90}}, "bcde"),
        ({"tags": {"$contains": "y"}}, "bd"),
        ({"by.name": "C"}, "c"),
        ({"by.name": {"$gt": "B"}}, "cd"),
        ({"pages": {"$gt": 100}, "tags": {"$contains": "x"}}, "b"),
        ({"pages": {"$gt": "100"}}, ""),
    ],
)
def test_comparisons_work_everywhere(shelf: Memory, wanted: dict[str, Any], names: str) -> None:
    """Lists, recalls and queries filter alike."""
    listed = {node.name for node in shelf.list("reference", metadata=wanted).items}
    recalled = {hit.node.name for hit in shelf.recall("Which book?", limit=10, filters=wanted).hits}
    queried = {
        node.name for node in shelf.query().text("book").where("reference", metadata=wanted).run().nodes
    }

    assert listed == recalled == queried == set(names)


def test_an_unknown_comparison_is_refused(shelf: Memory) -> None:
    """`$near` is no comparison, and `$in` takes a list."""
    with pytest.raises(InvalidInput, match=r"\$near"):
        shelf.list(metadata={"pages": {"$near": 3}})
    with pytest.raises(InvalidInput, match="list"):
        shelf.list(metadata={"pages": {"$in": 3}})


def test_one_undo_takes_back_words_that_expire() -> None:
    """The words, what was drawn from them and their end go with one undo; what others said too stays."""
    with Memory.open(":memory:", PLAIN) as memory:
        memory.remember("Bo likes tea.", speaker="Ana", said_at="2026-03-01")
        before = {node.id for node in memory.list(["Turn", "Fact", "Entity"]).items}
        one = memory.remember("I live in Rome, and Bo likes tea.", speaker="Ana", expires="2099-01-01")
        several = memory.remember(
            messages=[
                {"role": "user", "content": "I work at Acme."},
                {"role": "user", "content": "I like jam."},
            ],
            expires="2099-01-01",
        )

        for receipt in (several, one):
            assert memory.undo(receipt).changed
            assert not memory.undo(receipt).changed
        assert {node.id for node in memory.list(["Turn", "Fact", "Entity"]).items} == before
        assert [fact.content for fact in memory.list("Fact").items] == ["Bo likes tea"]
        assert memory.verify().ok


def test_what_expires_is_over_by_itself() -> None:
    """Words and notes with an end are there until then, and so is what rests on them alone."""
    clock = FrozenClock("2026-03-01")
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        said = memory.remember("I live in Rome.", speaker="Ana", expires="2026-04-01")
        memory.note("context", "guest wifi", "sesame", expires="2026-03-10")

        assert memory.recall("Where does Ana live?").answer == "Rome"
        clock.set("2026-03-15")
        assert memory.list("context").items == ()
        assert len(memory.list("Turn").items) == 1
        clock.set("2026-04-02")
        assert memory.list(["Turn", "Fact"]).items == ()
        assert len(memory.at(valid="2026-03-20").list(["Turn", "Fact"]).items) == 2
        assert said.changed
        with pytest.raises(InvalidInput, match="the same"):
            memory.note("context", "x", expires="2026-05-01", valid_to="2026-05-01")


def test_what_is_said_again_with_an_end_expires() -> None:
    """An end that is given later counts, once; one that would put it off, and other metadata, are told of."""
    said = {"text": "I live in Rome.", "speaker": "Ana", "said_at": "2026-03-01"}
    with Memory.open(":memory:", PLAIN, clock=FrozenClock("2026-03-02")) as memory:
        id_ = memory.remember(**said, metadata={"from": "mail"}).id
        assert memory.remember(**said, expires="2026-04-01", dry_run=True).changed

        ended = memory.remember(**said, expires="2026-04-01")
        assert ended.changed
        assert memory.get(id_).valid.end == instant("2026-04-01")
        assert not memory.remember(**said, expires="2026-04-01").changed
        later = memory.remember(**said, expires="2026-05-01")
        assert not later.changed
        assert "2026-04-01" in later.changes[0]
        assert memory.at(valid="2026-04-02").list(["Turn", "Fact"]).items == ()
        assert memory.undo(ended).changed
        assert memory.get(id_).valid.end == FOREVER

        assert memory.remember(**said, metadata={"from": "mail"}).changes == ()
        other = memory.remember(**said, metadata={"from": "chat"})
        assert not other.changed
        assert "other metadata" in other.changes[0]
        assert memory.scoped(user="bo").remember(**said, metadata={"from": "chat"}).changed
