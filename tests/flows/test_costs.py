"""What one write costs: how many statements, how often rows are written out, and that nothing is missed by it."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from worldline import Config, Event, Memory
from worldline.store.sqlite import SqliteStore
from worldline.store.tx import Tx

BENCH = Path(__file__).parents[2] / "bench"
TOLD = (
    ("I bought a telescope.", 34),
    ("My sister Hanna works at Tarn Labs.", 36),
    ("My doctor is Petra Holm and I am allergic to walnuts.", 41),
)


@contextmanager
def counted(counts: dict[str, int]) -> Iterator[None]:
    """Statements of a store and writings out of its changesets, while it is open."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, what in (
            (SqliteStore, "query", "statements"), (SqliteStore, "insert", "statements"), (Tx, "_write", "flushes"),
        ):  # fmt: skip
            patch.setattr(owner, name, _counting(getattr(owner, name), counts, what))
        yield


def _counting(method, counts, what):
    def call(*args, **kwargs):
        counts[what] = counts.get(what, 0) + 1
        return method(*args, **kwargs)

    return call


@pytest.mark.parametrize(("text", "most"), TOLD)
def test_an_ordinary_turn_is_written_straight_through(tmp_path, text, most):
    """Two changesets of a turn take so many statements together, and write their rows out twice each."""
    with Memory.open(tmp_path / "m.db", Config(embedder="none")) as memory:
        for known in ("My sister Hanna works at Blue Kite.", "I bought a kayak.", "Ina works at Tarn Labs."):
            memory.remember(Event(known, "Vera"))
        counts: dict[str, int] = {}
        with counted(counts):
            memory.remember(Event(text, "Vera"))
    assert counts["statements"] <= most
    assert counts["flushes"] <= 4


def test_claims_of_one_message_see_each_other(tmp_path):
    """What the first sentence of a message makes known, its later sentences find, as if it had been said before."""
    apart = ("My boss is Clara Holm.", "Clara Holm lives in Graz.", "Clara Holm moved to Lyon.")
    facts = []
    for messages in (apart, (" ".join(apart),)):
        with Memory.open(tmp_path / f"{len(messages)}.db", Config(embedder="none")) as memory:
            for text in messages:
                memory.remember(Event(text, "Vera", said_at="2026-01-01"))
            open_ = [n.content for n in memory.list("Fact", limit=100).items]
            facts.append((sorted(open_), sorted(n.name for n in memory.list("Entity", limit=100).items)))
            assert memory.verify().ok
    assert facts[0] == facts[1]
    assert "Clara Holm lives in Lyon" in facts[0][0]


@pytest.mark.parametrize("second", ["My boss is Tom.", "I live in Oslo.", "I moved to Oslo."])
def test_messages_of_one_moment_are_settled_alike_together_and_apart(second):
    """What is told for the very moment of something else ends it, or does not, however the two are handed over."""
    told = ("My boss is Ida.", "I live in Rome.", second)
    facts = []
    for batches in ([told], [(text,) for text in told]):
        with Memory.open(":memory:", Config(embedder="none")) as memory:
            for batch in batches:
                spoken = [{"role": "user", "name": "Vera", "content": text} for text in batch]
                memory.remember(messages=spoken, said_at="2026-01-01")
            facts.append(sorted(n.content for n in memory.list("Fact", limit=100).items))
    assert facts[0] == facts[1]


def test_values_are_handed_over_once_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """One remember and one recall go from one package of Worldline into another at most 70 times."""
    monkeypatch.syspath_prepend(BENCH)
    walks = importlib.import_module("walk_costs")
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        for event in walks.messages(60):
            memory.remember(event)
        for text in walks.TOLD:
            memory.remember(Event(text, "Vera"))
        for question in walks.ASKED:
            memory.recall(question)  # loads whatever it needs
        told = [walks.hopped(lambda t=t: memory.remember(Event(f"{t} Really.", "Vera"))) for t in walks.TOLD]
        asked = [walks.hopped(lambda q=q: memory.recall(q)) for q in walks.ASKED]
    assert median(walk.hops for walk in told) <= 70
    assert median(walk.hops for walk in asked) <= 70
