"""Of two turns that meet a question about now equally well, the newer one leads."""

from __future__ import annotations

import pytest

from worldline.read.cues import ask
from worldline.read.features import Corpus, Turn
from worldline.read.recency import asks_for_now, newer_first
from worldline.read.score import score
from worldline.rules.describe import describe

OLD, NEW = (
    "I have tried three Korean restaurants in my city.",
    "So far I have tried four Korean restaurants in my city.",
)


def order(question: str, *texts: tuple[str, str, int]) -> list[int]:
    """The keys of these turns (text, role, day), best first; the first one has the higher score."""
    turns = [
        Turn(key, f"s{key}", 0, describe(text), "", role, day, 0.9 - key / 10)
        for key, (text, role, day) in enumerate(texts, 1)
    ]
    asked = ask(question)
    board = score(asked, turns, Corpus(50, 9.0, dict.fromkeys(asked.terms, 2)))
    return [turns[at].key for at in newer_first(asked, board, board.order())]


@pytest.mark.parametrize(
    ("question", "now"),
    [
        ("How many Korean restaurants have I tried in my city?", True),
        ("Where do I keep my old sneakers?", True),
        ("What is my current record?", True),
        ("Where did I initially keep my sneakers?", False),
        ("What was my previous goal?", False),
        ("How many Korean restaurants has Ana tried?", False),
        ("When did I go to Rome?", False),
    ],
)
def test_what_asks_for_now(question: str, now: bool) -> None:
    """Questions of the speaker about the present, and no others."""
    assert asks_for_now(ask(question)) is now


def test_the_newer_version_leads() -> None:
    """The later of two like statements comes first, although it scores a little less."""
    question = "How many Korean restaurants have I tried in my city?"

    assert order(question, (OLD, "user", 1), (NEW, "user", 2))[0] == 2
    assert order(question, (OLD, "user", 2), (NEW, "user", 1))[0] == 1


@pytest.mark.parametrize(
    ("text", "role"),
    [
        (NEW, "assistant"),
        ("I bought four Korean books.", "user"),
        ("Korean restaurants in my city are nice.", "user"),
    ],
)
def test_others_do_not_pass(text: str, role: str) -> None:
    """Neither an assistant's words, nor another topic, nor a turn without a value pass."""
    question = "How many Korean restaurants have I tried in my city?"

    assert order(question, (OLD, "user", 1), (text, role, 2))[0] == 1
