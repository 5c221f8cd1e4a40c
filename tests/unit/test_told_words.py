"""The words of a text as its description has them: those that cutting the text again would find, or none."""

import random

import msgspec
import pytest

from worldline import Config, Memory
from worldline.clock import Interval
from worldline.model import NodeDraft
from worldline.rules.describe import described_draft, role_in
from worldline.store import reindexing
from worldline.store.indexing import words_of
from worldline.store.reindexing import IndexedText, told_words

PARTS = (
    *(
        "I pay",
        "$40",
        "3.5",
        "1,000.5",
        "Always",
        " make sure",
        "e.g. ",
        "a.b",
        "don't",
        "O'Neil",
        "1st",
        "007",
    ),
    *(" ", "\n", "\n\n\n", ".", "...", "?", "! ", "(x)", ") (", "--", ".5", "5.", "naïve", "From now on,"),
)


def both(name, content, type_="Turn", language="english", metadata=None):
    """What the description tells, and what the text does."""
    draft = NodeDraft(type_, name, content, valid=Interval(1_700_000_000_000_000), metadata=metadata or {})
    described = msgspec.msgpack.encode(described_draft(draft, role_in(draft)))
    text = IndexedText(7, 7, 0, draft)
    return told_words(text, described, "t1", language), words_of(7, draft, "t1", language)


@pytest.mark.parametrize("name", ["Ana", "user", "assistant", "", "O'Neil Jr."])
def test_a_description_tells_the_very_words(name):
    """Of texts put together by chance, whatever is told at all is what cutting finds; most are told."""
    dice, told = random.Random(name), 0
    for number in range(600):
        content = "".join(dice.choice(PARTS) + dice.choice((" ", "")) for _ in range(dice.randrange(1, 12)))
        by_description, by_text = both(name, content, "learning" if number % 4 == 0 else "Turn")
        assert by_description in ([], by_text), content
        told += bool(by_description)
    assert told > 150


def test_verify_cuts_no_text_again_whose_description_is_whole(monkeypatch):
    """Plain texts are not cut into words again, unless the index holds others than they have."""
    cut = []
    monkeypatch.setattr(reindexing, "words_of", lambda *of: cut.append(of[0]) or words_of(*of))
    with Memory.open(":memory:", Config(embedder="none", understand="off")) as memory:
        for number in range(5):
            memory.remember(f"I bought kettle {number}.", speaker="Ana")
        assert memory.verify().ok
        assert cut == []
        memory.handle.store.connection().execute(
            "UPDATE fresh_words SET text = 'teapot' WHERE text LIKE '%kettl%'"
        )
        assert not memory.verify().ok
        assert len(cut) == 5


@pytest.mark.parametrize(
    "otherwise",
    [
        {"content": "It cost 3.5 of them."},
        {"content": "Une idée naïve."},
        {"content": " Always knock."},
        {"content": "word " * 300},
        {"content": "Plain words.", "language": "german"},
        {"content": "Plain words.", "type_": "Fact"},
        {"content": "A picture.", "metadata": {"caption": "of a 3.5 litre kettle"}},
    ],
)
def test_what_may_be_cut_otherwise_is_left_to_the_text(otherwise):
    """Numbers with a point, other letters, what begins late, what is long, other languages, facts, captions."""
    assert both("Ana", **otherwise)[0] == []
