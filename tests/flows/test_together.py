"""A conversation that is told at once: one changeset, and the same beliefs as told message by message."""

from __future__ import annotations

import pytest

from worldline import Config, Memory
from worldline.store.sqlite import SqliteStore
from worldline.write import remember as remembering

PLAIN = Config(embedder="none")
SAID = (
    "I live in Porto and my sister Rosa works at Tarn Labs.",
    "My doctor is Petra Holm.",
    "I moved to Lisbon last week.",
    "Rosa lives in Graz now.",
    "I bought a telescope.",
    "Rosa works at Blue Kite now, not at Tarn Labs.",
    "I live in Lisbon.",
    "Petra Holms lives in Graz.",
    "I don't drink coffee any more.",
    "Tarn moved to Leeds.",
    "My sister Rosa has a dog called Bruno.",
)


def messages() -> list[dict[str, object]]:
    """A day between two of them."""
    return [
        {"name": "Ana", "content": text, "said_at": f"2026-03-{day:02d}T12:00:00Z"}
        for day, text in enumerate(SAID, 1)
    ]


def held(memory: Memory) -> set[tuple[str, int, int]]:
    """Every fact with when it holds, over or not."""
    items = memory.list("Fact", limit=500, include_superseded=True).items
    return {(node.content, node.valid.start, node.valid.end) for node in items}


def test_told_together_is_as_told_one_by_one() -> None:
    """The same facts, intervals and merges are believed, whether messages come alone or all at once.

    Not tested: what only a change of subject ends ("Bruno died"), which looks at what was known before the call.
    """
    with Memory.open(":memory:", PLAIN) as alone, Memory.open(":memory:", PLAIN) as together:
        for message in messages():
            alone.remember(messages=[message], session="talk")
        together.remember(messages=messages(), session="talk")

        assert held(together) == held(alone)
        assert [m.reason for m in together.merges()] == [m.reason for m in alone.merges()]
        assert together.stats()["edges"] == alone.stats()["edges"]
        assert together.verify().ok


@pytest.mark.usefixtures("closer")
@pytest.mark.parametrize("forgotten", [False, True])
def test_what_is_forgotten_while_a_message_is_read_contradicts_nothing(
    monkeypatch: pytest.MonkeyPatch, forgotten: bool
) -> None:
    """Between reading a message beside another's words and storing it, those words may have gone."""
    read = remembering.foresee
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        first = memory.remember("The van that hit the bollard was white.", speaker="Ruth")

        def foresee(*given: object) -> object:
            found = read(*given)  # type: ignore[arg-type]
            assert found.at_odds
            if forgotten:
                memory.forget(first.id, confirm=True)
            return found

        monkeypatch.setattr(remembering, "foresee", foresee)
        memory.remember("It was a dark blue van, I saw it hit the bollard.", speaker="Ana")

        assert bool(memory.conflicts()) is not forgotten
        assert memory.verify().ok


@pytest.mark.usefixtures("closer")
@pytest.mark.parametrize("gate", ["normal", "strict", "off"])
def test_a_message_that_was_stored_before_may_come_again_with_what_ends_it(gate: str) -> None:
    """Beside a message stands what one before it told, also where that one was known already, or is kept out."""
    said = [
        {"name": "Tess", "content": "Our landlord is Mr Costa.", "said_at": "2026-01-05T10:00:00"},
        {
            "name": "Tess",
            "content": "Our landlord moved out, and Mr Castro is the landlord now.",
            "said_at": "2026-01-06T10:00:00",
        },
    ]
    with Memory.open(":memory:", Config(embedder="none", reranker="auto", gate=gate)) as memory:
        memory.remember(messages=said[:1])
        assert "Tess's landlord is Mr Costa" in {fact.content for fact in memory.list("Fact").items}
        memory.remember(messages=said)

        assert "Tess's landlord is Mr Costa" not in {fact.content for fact in memory.list("Fact").items}
        assert memory.verify().ok


@pytest.mark.usefixtures("closer")
@pytest.mark.parametrize(
    ("texts", "over"),
    [
        (
            (
                "The choir rehearses in the annexe.",
                "The annexe is full of boxes since today, the choir has the library instead.",
            ),
            "choir rehearses in annexe",
        ),
        (
            (
                "The vat holds 300 litres.",
                "Checked the plate on the vat, it says 250 litres, I had been guessing.",
            ),
            "vat holds 300 litres",
        ),
    ],
)
def test_what_a_message_ends_may_come_with_it(texts: tuple[str, ...], over: str) -> None:
    """What the cross-encoder reads beside a message are the facts of those before it too, stored or not."""
    said = [
        {"name": "Ana", "content": text, "said_at": f"2026-03-0{day}"} for day, text in enumerate(texts, 1)
    ]
    config = Config(embedder="none", reranker="auto")
    with Memory.open(":memory:", config) as alone, Memory.open(":memory:", config) as together:
        for message in said:
            alone.remember(messages=[message])
        together.remember(messages=said)

        now = [{fact.content for fact in each.list("Fact").items} for each in (alone, together)]
        assert now[0] == now[1]
        assert over not in now[1]
        assert together.verify().ok


def test_words_and_what_they_say_are_one_changeset() -> None:
    """One row of the log a call, and undoing it takes back the words and the facts."""
    with Memory.open(":memory:", PLAIN) as memory:
        memory.remember("Hello there, the weather is fine.", speaker="Bo")
        before = memory.stats()["changesets"]
        receipt = memory.remember(messages=messages()[:3])

        assert memory.stats()["changesets"] == before + 1
        assert held(memory)
        memory.undo(receipt)
        assert memory.list("Fact").items == ()
        assert [node.name for node in memory.list("Turn").items] == ["Bo"]


def test_a_conversation_is_looked_up_together() -> None:
    """Twice the messages do not take twice the statements."""

    def statements(said: list[dict[str, object]]) -> int:
        with Memory.open(":memory:", PLAIN) as memory:
            memory.remember("I live in Porto.", speaker="Ana")
            store = memory.handle.store
            assert isinstance(store, SqliteStore)
            before = store.statements
            memory.remember(messages=said)
            return store.statements - before

    towns = ["Graz", "Lyon", "Oslo", "Faro", "Leeds", "Turin", "Ghent", "Cadiz"]
    said = [
        {"name": "Ana", "content": f"I visited {town}.", "said_at": f"2026-04-{day:02d}"}
        for day, town in enumerate(towns, 1)
    ]
    assert statements(said) < 1.6 * statements(said[:4])


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, RuntimeError])
def test_the_words_are_kept_when_they_cannot_be_settled(
    monkeypatch: pytest.MonkeyPatch, trouble: type[BaseException]
) -> None:
    """Whatever breaks while claims are settled, everything said is stored and waits."""

    def broken(*given: object, **more: object) -> bool:
        raise trouble

    with Memory.open(":memory:", PLAIN) as memory:
        with monkeypatch.context() as patched:
            patched.setattr(remembering, "settle", broken)
            with pytest.raises(trouble):
                memory.remember(messages=messages()[:4])

        assert len(memory.list("Turn").items) == 4
        assert memory.list("Fact").items == ()
        assert memory.stats()["pending_events"] == 4
        memory.resume()
        assert held(memory)
        assert memory.stats()["pending_events"] == 0
        assert memory.verify().ok
