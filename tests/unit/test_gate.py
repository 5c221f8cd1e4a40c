"""The encoding gate: its formulas on fixed examples, and how it ranks short messages."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from worldline.write.gate import GateVectors, combine, echoes, judge, novelty, prediction_error, speech_act

MESSAGES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "gate_messages.tsv").read_text("utf-8").splitlines()
]
WORTH = {"fact", "decision", "correction", "commitment", "preference", "relationship"}
KNOWN = [
    "The garden club meets on the first Monday of each month in the town hall.",
    "Bring gloves.",
]


def size(text: str) -> int:
    """Compressed bytes, as the formula counts them."""
    return len(gzip.compress(text.encode(), 6)) - 18


def auc(positive: list[float], negative: list[float]) -> float:
    """How often a positive scores above a negative."""
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def test_enough_messages() -> None:
    """The labelled set has at least 300 messages of both kinds."""
    assert len(MESSAGES) >= 300
    assert 100 < sum(label in WORTH for label, _ in MESSAGES) < len(MESSAGES) - 100


@pytest.mark.parametrize("nearest", [[], KNOWN], ids=["empty", "some"])
def test_ranks_short_messages(nearest: list[str]) -> None:
    """Facts, decisions and corrections score above chit-chat and noise (AUC at least .85)."""
    worth = [judge(text, nearest).score for label, text in MESSAGES if label in WORTH]
    other = [judge(text, nearest).score for label, text in MESSAGES if label not in WORTH]
    assert auc(worth, other) >= 0.85


def test_admits_what_matters() -> None:
    """At most 3 of 100 worthy messages are kept shallow, at most 5 of 100 others are admitted."""
    worth = [judge(text, KNOWN).admitted for label, text in MESSAGES if label in WORTH]
    other = [judge(text, KNOWN).admitted for label, text in MESSAGES if label not in WORTH]
    assert sum(worth) >= 0.97 * len(worth)
    assert sum(other) <= 0.05 * len(other)


def test_novelty_follows_the_formula() -> None:
    """Novelty is what the event adds to the compressed neighbours, relative to its own size."""
    text, known = "The club now meets on Tuesdays in the library.", "\n".join(KNOWN)
    expected = (size(known + text) - size(known)) / size(text)
    assert novelty(text, KNOWN) == pytest.approx(expected, abs=0.02)


def test_novelty_at_the_edges() -> None:
    """Nothing stored means all new; a text of almost no information means almost nothing new."""
    assert novelty("The club now meets on Tuesdays in the library.", []) == 1.0
    assert novelty("ok", []) == 0.05
    assert novelty(KNOWN[0], KNOWN) < 0.2


def test_prediction_error() -> None:
    """One minus the cosine; nothing for noise or an unrelated neighbour; absent without vectors."""
    vectors = GateVectors((1.0, 0.0), (0.6, 0.8))
    assert prediction_error(vectors, "fact") == pytest.approx(0.4)
    assert prediction_error(vectors, "noise") == 0.0
    assert prediction_error(GateVectors((1.0, 0.0), (0.6, 0.8), 0.1), "fact") == 0.0
    assert prediction_error(None, "fact") is None


def test_combination() -> None:
    """The weights are .25, .20 and .30, renormalised over the signals that are present."""
    assert combine(1.0, 0.5, 0.4) == pytest.approx((0.25 + 0.1 + 0.12) / 0.75)
    assert combine(1.0, 0.5, None) == pytest.approx((0.25 + 0.1) / 0.45)


def test_easier_thresholds() -> None:
    """Corrections, decisions and relationships need a little less."""
    assert judge("actually it's Tuesday, not Monday", []).threshold == pytest.approx(0.60)
    assert judge("We decided to use Postgres", []).threshold == pytest.approx(0.62)
    assert judge("my wife is called Ines", KNOWN).threshold == pytest.approx(0.36)


@pytest.mark.parametrize(
    ("text", "act", "value"),
    [
        ("I will send the draft tonight", "commitment", 0.8),
        ("no wait, I meant Geneva", "correction", 0.6),
        ("Where do you live?", "question", 0.2),
        ("hello there", "greeting", 0.05),
        ("asdf", "noise", 0.02),
    ],
)
def test_salience_by_act(text: str, act: str, value: float) -> None:
    """Short messages take their salience from what they do."""
    assert speech_act(text) == act
    assert judge(text, []).salience == pytest.approx(value, abs=0.02)


def test_floor() -> None:
    """Below the salience floor nothing is admitted, however new."""
    signals = judge("thank you so much!", [])
    assert not signals.admitted
    assert "floor" in signals.reason


def test_long_text_by_features() -> None:
    """A long text with names, numbers and facts matters more than a long pleasantry."""
    told = "I moved to Ghent in March 2021, my rent is 900 euros and my sister Ana works at Solvay."
    nice = "It was so lovely to hear from you again after all this time, what a wonderful surprise!"
    assert judge(told, []).salience > judge(nice, []).salience + 0.2


def test_echo() -> None:
    """A text that mostly repeats recalled blocks is recognised."""
    handed = [(text, "Ana") for text in KNOWN]
    assert echoes("Here: " + KNOWN[0], "Bo", handed)
    assert not echoes("Something else entirely was said about the garden and the club.", "Bo", handed)
