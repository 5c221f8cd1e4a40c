"""One hostile text costs seconds, not minutes: its words are kept, and what was not read is told."""

from __future__ import annotations

import pytest

from clock import cpu
from worldline import Config, Memory

SIZE = 1_000_000
TEXTS = {
    "line breaks": "\n" * 999_990 + "end",
    "one verb": "is ",
    "token heads": "-eyJ",
    "one letter": "a",
    "commas": "a, ",
    "brackets": "(",
    "quotes": '"',
    "one name": "Ana ",
    "names": "Ana and ",
    "owners": "my sister's ",
    "dates": "on 5 May 2023 ",
    "negations": "not ",
    "headings": "# a\n",
    "recall's lines": "[2023-01-05 Thu 10:00] ",
    "passwords": "password is ",
    "addresses": "http://",
    "questions": "what is ",
    "sentences": "I live in Porto. ",
}


@pytest.fixture(scope="module")
def warm():
    """A memory in which the parser has been loaded."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember("I live in Porto.", speaker="Ana")
        memory.recall("Where does Ana live?")
        yield memory


@pytest.mark.parametrize("name", TEXTS)
def test_a_megabyte_of_it_takes_two_seconds_at_most(warm, name):
    """Remembering 1 MB, and asking with 60 kB of it, stays within two seconds of CPU each."""
    text = (TEXTS[name] * (SIZE // len(TEXTS[name]) + 1))[:SIZE]
    memory = warm.scoped(user=name)
    receipts = []
    written = cpu(lambda: receipts.append(memory.remember(text, speaker="Ana")))
    asked = cpu(lambda: memory.recall(text[-60_000:]))
    (receipt,) = receipts

    assert len(memory.get(receipt.id).content) == SIZE
    assert any(change.startswith("read in part") for change in receipt.changes)
    assert written < 2.0
    assert asked < 2.0


def test_a_long_question_is_understood_at_both_ends(warm):
    """What is asked at the end of a long paste is heard, and explain says what was left out."""
    memory = warm.scoped(user="paste")
    memory.remember("I live in Porto.", speaker="Ana")
    question = "Here is a long text. " + "lorem ipsum dolor " * 1000 + "Where does Ana live?"
    found = memory.recall(question, explain=True)

    assert found.question == question
    assert "Porto" in found.text
    assert "first and last" in found.trace[0]
