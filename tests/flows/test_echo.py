"""Own words do not echo: what recall handed out and what comes back makes no facts and flips no belief."""

from __future__ import annotations

import pytest

from worldline import Config, Event, Memory
from worldline.testing import FrozenClock
from worldline.write.gate import ECHO, spoken

PLACES = (
    "Porto Lisbon Faro Braga Madrid Oslo Bergen Turin Lyon Ghent Leipzig Graz Basel Gdansk Zadar Split Brno "
    "Malmo Aarhus Cork"
).split()
PEOPLE = "Ana Rui Marta Jonas Ines".split()


def _life(memory: Memory, clock: FrozenClock, who: str, at: int) -> tuple[str, str]:
    """Somebody who lived in one town and moved to another."""
    before, now = PLACES[at % len(PLACES)], PLACES[(at + 7) % len(PLACES)]
    mine = memory.scoped(user=f"{who}{at}")
    mine.remember(f"I live in {before}.", speaker=who, said_at="2023-01-05T10:00Z")
    mine.remember(f"I moved to {now}.", speaker=who, said_at="2024-01-05T10:00Z")
    return before, now


def _ways(shown: str) -> list[str]:
    """Recall's text as it comes back: whole, cut at either end, quoted, shouted."""
    size = len(shown)
    return [
        shown,
        shown[: size * 2 // 3],
        shown[6:],
        "You told me:\n" + "\n".join("> " + line for line in shown.splitlines()),
        f'From memory: "{" ".join(shown.split())}"',
        shown.upper(),
    ]


def _believed(memory: Memory) -> set[str]:
    return {node.content for node in memory.list("Fact", limit=200).items}


def _was_echo(memory: Memory, id_: str) -> bool:
    rows = memory.handle.store.query(
        "SELECT e.signals ->> 'reason' FROM events e JOIN nodes n ON n.id = e.node WHERE n.hash = ?",
        (bytes.fromhex(id_),),
    )
    return rows[0][0] == ECHO


def test_what_was_handed_out_comes_back_as_an_echo():
    """Of 180 texts that come back whole, cut, quoted or in capitals, 95 % are recognised, and no belief changes."""
    clock = FrozenClock("2026-01-01")
    seen = told = 0
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        for at in range(30):
            who = PEOPLE[at % len(PEOPLE)]
            _life(memory, clock, who, at)
            mine = memory.scoped(user=f"{who}{at}")
            shown = mine.recall(f"Where did {who} live?").text
            before = _believed(mine)
            for text in _ways(shown):
                clock.advance(60_000_000)
                receipt = mine.remember(text, speaker=who if at % 2 else "user")
                told += 1
                seen += _was_echo(memory, receipt.id)
                assert _believed(mine) == before, text
    assert told == 180
    assert seen >= 0.95 * told


def test_bare_words_of_another_are_an_echo_and_a_persons_own_are_not():
    """A short sentence that was handed out: from somebody else it is an echo, from its speaker a statement."""
    clock = FrozenClock("2026-01-01")
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        memory.remember("I live in Porto.", speaker="Ana", said_at="2023-01-05T10:00Z")
        memory.remember("I moved to Lisbon.", speaker="Ana", said_at="2024-01-05T10:00Z")
        memory.recall("Where does Ana live?", limit=5)
        other = memory.remember("I live in Porto.", speaker="Bot")
        own = memory.remember("I live in Porto.", speaker="Ana", said_at="2025-06-01T10:00Z")

        assert _was_echo(memory, other.id)
        assert f"not read: {ECHO}" in other.changes
        assert not _was_echo(memory, own.id)


@pytest.mark.parametrize(
    "text",
    [
        "I adopted a dog, and he is called Rex.",
        "We are going to the sea with my sister on Friday.",
        "Do you remember where I lived before Porto?",
        "I live in Porto now, not in Lisbon any more, and I work at Acme.",
        "My brother Rui moved to Lisbon last year.",
        "[12:30] see you at the station",
        "The meeting is at 10:00] or so, I believe.",
    ],
)
def test_new_messages_are_no_echoes(text):
    """What says something new is read, though memories of the same people were just handed out."""
    with Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock("2026-01-01")) as memory:
        memory.remember("I live in Porto.", speaker="Ana", said_at="2023-01-05T10:00Z")
        memory.remember("I moved to Lisbon with my sister.", speaker="Ana", said_at="2024-01-05T10:00Z")
        memory.recall("Where does Ana live?", limit=5)

        assert not _was_echo(memory, memory.remember(text, speaker="Ana").id)


def test_a_quoted_line_inside_a_new_message_is_left_out_of_its_reading():
    """The new part is understood, the quoted line is not, and a later reading finds the same."""
    with Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock("2026-01-01")) as memory:
        memory.remember("I moved to Lisbon.", speaker="Ana", said_at="2024-01-05T10:00Z")
        memory.remember(
            "You wrote:\n[2023-01-05 Thu 10:00] Ana: I live in Porto.\nMy dog is called Rex and he is two years old.",
            speaker="Ana",
        )
        before = _believed(memory)
        memory.reread(everything=True)

        assert not any("Porto" in fact for fact in before)
        assert _believed(memory) == before


def test_marks_are_blanked_in_place():
    """Every character that stays keeps its position."""
    text = "so [2023-01-05 Thu 10:00] Ana: I live in Porto.\n  | and in Faro\nand more"

    assert len(spoken(text)) == len(text)
    assert spoken(text).split() == ["so", "and", "more"]
    assert spoken("nothing [of] that sort") == "nothing [of] that sort"


def test_scopes_do_not_hear_each_other():
    """What was handed out to one user is no echo when another says it."""
    with Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock("2026-01-01")) as memory:
        said = "We planted three apple trees behind the old barn in spring."
        memory.scoped(user="ann").remember(Event(said, "Ann"))
        memory.scoped(user="ann").recall("What was planted behind the barn?")
        receipt = memory.scoped(user="bob").remember(Event(said, "Bob"))

        assert not _was_echo(memory, receipt.id)


def test_what_another_process_handed_out_is_known(tmp_path):
    """What was shown is noted aside when the store is closed, so the next process hears the echo."""
    said = "We planted three apple trees behind the old barn in spring."
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        memory.remember(said, speaker="Ann")
        memory.recall("What was planted behind the barn?")
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        assert _was_echo(memory, memory.remember(said, speaker="Tool").id)
