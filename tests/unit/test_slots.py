"""What a second statement does to the first: minimal pairs, authority, dates and slot meeting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worldline.claims import Claim, stem
from worldline.rules.slots import Decision, Held, decide, oriented, slot_of
from worldline.text import fold
from worldline.write.extract import extract

SAID = datetime(2023, 5, 10, 14, 30, tzinfo=UTC)
PAIRS = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "slot_pairs.tsv").read_text("utf-8").splitlines()
]


class Memory:
    """Current facts of every subject, enough to judge one pair."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, Held]] = {}
        self.called: dict[str, set[str]] = {}
        self.worded: dict[str, set[str]] = {}
        self.keys: set[str] = set()

    def kinds(self, name: str) -> frozenset[str]:
        return frozenset(self.called.get(name, ()))

    def typed(self, key: str) -> frozenset[str]:
        return frozenset(self.worded.get(key, ()))

    def tell(self, text: str, said: datetime) -> list[Decision]:
        return [self.put(claim) for claim in extract(text, "Sam", said_at=said)]

    def put(self, claim: Claim) -> Decision:
        claim = oriented(claim, lambda key: key in self.keys)
        mine = self.held.setdefault(fold(claim.subject), {})
        decision = decide(claim, list(mine.values()), self)
        for kind in claim.types:
            if "#" in slot_of(claim):
                self.called.setdefault(fold(claim.object), set()).add(stem(kind))
                self.worded.setdefault(claim.key, set()).add(stem(kind))
        self.keys.add(claim.key)
        for closed in decision.closes:
            del mine[closed]
        if decision.verb not in ("repeats", "ends", "ignored"):
            name = str(len(self.keys) * 1000 + len(mine))
            mine[name] = Held(
                name,
                decision.slot,
                claim.object,
                claim.kind,
                decision.one,
                claim.rank,
                claim.valid_from,
            )
        return decision


def judge(first: str, second: str) -> tuple[bool, set[str]]:
    """Whether the second statement closed something, and all its verbs."""
    memory = Memory()
    memory.tell(first, SAID)
    decisions = memory.tell(second, SAID + timedelta(days=30))
    return any(d.closes for d in decisions), {d.verb for d in decisions}


def test_enough_pairs() -> None:
    """There are at least 150 minimal pairs."""
    assert len(PAIRS) >= 150


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: f"{p[0]}: {p[1]} / {p[2]}")
def test_minimal_pair(pair: tuple[str, str, str]) -> None:
    """Each pair closes, continues a series, ends, repeats or keeps, as a reader would say."""
    wanted, first, second = pair
    closed, verbs = judge(first, second)
    if wanted in ("keeps", "noend"):
        assert not closed
    elif wanted == "repeats":
        assert "repeats" in verbs
        assert not closed
    else:
        assert closed
        assert wanted in verbs or (wanted == "closes" and "series" in verbs)


def claim(**fields: object) -> Claim:
    """A claim about where Sam lives, unless told otherwise."""
    base = {"subject": "Sam", "predicate": "live in", "key": "live|in", "object": "Lisbon"}
    return Claim(**{**base, "definite": True, "rank": "user", **fields})  # type: ignore[arg-type]


def test_lower_authority_contradicts() -> None:
    """What others say does not close what the user said or gave directly."""
    held = [Held("1", "live|in", "Porto", one=True, rank="given")]
    decision = decide(claim(rank="other"), held)
    assert decision.verb == "contradicts"
    assert not decision.closes


def test_users_later_dated_words_close_given_facts() -> None:
    """The user's own later, dated words close even a fact that was given directly."""
    held = [Held("1", "live|in", "Porto", one=True, rank="given", valid_from=10)]
    assert decide(claim(valid_from=20), held).closes == ("1",)
    assert decide(claim(), held).verb == "contradicts"


def test_equal_dates_contradict() -> None:
    """Two values dated to the same moment contradict, unless one corrects the other."""
    held = [Held("1", "live|in", "Porto", one=True, rank="user", valid_from=20, dated=True)]
    assert decide(claim(valid_from=20), held).verb == "contradicts"
    assert decide(claim(valid_from=20, cue="correction"), held).verb == "closes"


def test_every_decision_says_why() -> None:
    """A decision carries its reason in words."""
    assert decide(claim(), [Held("1", "live|in", "Porto")]).reason
