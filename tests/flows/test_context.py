"""The context block: what an agent should know before the first word, cited, budgeted, always the same."""

import json
from collections.abc import Iterator

import pytest

from worldline import Config, Memory
from worldline.errors import InvalidInput, NotFound
from worldline.surfaces import tools
from worldline.testing import FrozenClock

SAID = (
    ("2026-10-01", "I live in Rome and I work at Siemens."),
    ("2026-10-02", "Please always answer in Portuguese."),
    ("2026-10-03", "I am allergic to peanuts."),
    ("2026-11-10", "I moved to Porto."),
    ("2026-11-14", "The report is due on 2026-11-20."),
    ("2026-11-15", "I have to call the bank tomorrow."),
    ("2026-11-15", "My dentist appointment is on 18 November at 10:00."),
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Six weeks of one person."""
    clock = FrozenClock(SAID[0][0])
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        for day, text in SAID:
            clock.set(day)
            memory.remember(text, speaker="Ana", said_at=day)
        memory.note("feedback", "spelling", "Use British spelling.")
        memory.note("project", "Lighthouse", "ships in December")
        clock.set("2026-11-16T09:00")
        yield memory


def lines(memory: Memory, title: str, **given: int) -> list[str]:
    """The texts of one section."""
    found = {section.title: section for section in memory.context(**given).sections}
    return [line.text for line in found[title].lines] if title in found else []


def test_it_tells_who_what_and_when(memory: Memory) -> None:
    """Who the user is, what they asked for, what comes up, what holds and what changed, each in its place."""
    assert lines(memory, "About Ana")[:2] == ["Ana lives in Porto", "Ana works at Siemens"]
    asked = " | ".join(lines(memory, "Asked for, and preferred"))
    assert all(word in asked for word in ("British", "Portuguese", "peanuts"))
    coming = lines(memory, "Coming up")
    assert [
        next(at for at, line in enumerate(coming) if word in line) for word in ("bank", "dentist", "report")
    ] == [0, 1, 2]
    assert "Lighthouse: ships in December" in lines(memory, "What holds")
    assert lines(memory, "Changed lately") == ["no longer: Ana lives in Rome"]
    assert lines(memory, "Said last")[-1].startswith("Ana: My dentist")


def test_every_line_is_cited(memory: Memory) -> None:
    """Each line names a memory that can be read, and the text shows the id beside it."""
    found = memory.context()

    for section in found.sections:
        for line in section.lines:
            assert memory.get(line.id, exact=True).id == line.id
            assert f"({line.id[:12]})" in found.text


@pytest.mark.parametrize("budget", [30, 60, 120, 250, 500])
def test_the_budget_holds_and_every_kind_gets_its_share(memory: Memory, budget: int) -> None:
    """Never more tokens than asked for; a small budget still holds the first line of several kinds."""
    found = memory.context(max_tokens=budget)

    assert found.tokens <= budget
    assert len(found.sections) >= min(6, budget // 30)


def test_the_same_store_and_moment_give_the_same_block(memory: Memory) -> None:
    """Nothing about it depends on chance."""
    assert memory.context() == memory.context()


def test_it_is_bound_like_every_read(memory: Memory) -> None:
    """Another moment and another user's scope see their own."""
    then = memory.at(as_of="2026-10-20").context()
    memory.scoped(user="bo").remember("I live in Oslo.", speaker="Bo")

    assert "Rome" in then.text
    assert "Porto" not in then.text
    assert "Oslo" in memory.context("bo").text
    assert "Porto" not in memory.context("bo").text
    assert memory.scoped(user="bo").context().user == "Bo"


def test_of_somebody_unknown_nobody_elses_facts_are_told(memory: Memory) -> None:
    """A name that nobody here has is NotFound, with near ones; of a bound user nothing may be known yet."""
    for handle, name in ((memory, "Nobody Known"), (memory.scoped(user="bo"), "Ana")):
        with pytest.raises(NotFound, match=f"nobody here is called '{name}'"):
            handle.context(name)
    with pytest.raises(NotFound, match="did you mean Ana"):
        memory.context("Anna")
    assert "error" in json.loads(tools.call(memory, "context", {"about": "Nobody Known"}))
    bo = memory.scoped(user="Bo K.")
    assert (bo.context("bo k").text, bo.context("user").text, bo.context().text) == ("", "", "")
    bo.note("context", "Tea", "green")
    assert "Tea: green" in memory.context("Bo K.").text


def test_nothing_known_is_an_empty_block() -> None:
    """A new memory has nothing to tell, and a wrong budget is refused."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        assert memory.context().text == ""
        with pytest.raises(InvalidInput, match="at least one token"):
            memory.context(max_tokens=0)


def test_what_changed_at_a_moment_holds_and_does_not_come_up(memory: Memory) -> None:
    """A fact amended today is about Ana, since today; when it is over it is told as over, and nowhere else."""
    (home,) = [fact for fact in memory.list("Fact").items if fact.content == "Ana lives in Porto"]
    faro = memory.amend(home, "Faro")
    assert "Ana lives in Faro" in lines(memory, "About Ana")
    assert "- Ana lives in Faro [since 2026-11-16]" in memory.context().text
    assert not [line for line in lines(memory, "Coming up") if "Faro" in line]
    memory.retire(faro)

    assert [
        title for title in ("About Ana", "Coming up", "What holds") if "Faro" in str(lines(memory, title))
    ] == []
    assert "no longer: Ana lives in Faro" in lines(memory, "Changed lately")


def test_what_was_said_long_ago_is_not_read_for_it(tmp_path) -> None:
    """With eight times as many messages the block takes hardly more steps of the store: it finds the newest."""
    steps = []
    with Memory.open(tmp_path / "m.db", Config(embedder="none", understand="off")) as memory:
        for size in (400, 2800):
            memory.remember(
                messages=[{"name": "Ana", "content": f"Note {n} of {size}."} for n in range(size)]
            )
            memory.context()
            seen: list[int] = []
            connection = memory.handle.store.connection()
            connection.set_progress_handler(lambda seen=seen: seen.append(1) or False, 100)
            memory.context()
            connection.set_progress_handler(None)
            steps.append(len(seen))
    assert steps[1] < 1.5 * steps[0], steps
