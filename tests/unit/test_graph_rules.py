"""The rules behind a night's work on the graph: where derived edges hold, what carries, and who is sure."""

from __future__ import annotations

from worldline.clock import FOREVER, Interval
from worldline.model import Belief
from worldline.rules.handlers import (
    Candidate,
    Footing,
    HeldEdge,
    Source,
    Voice,
    WantedEdge,
    independent,
    lost,
    outvoted,
    refit,
    stage_of,
    standing,
    without,
)


def belief(row, start, end=FOREVER, known=Interval(0), status="believed", of=1):
    """A belief row."""
    return Belief(row, of, Interval(start, end), known, 0, status)


def test_refitting_shortens_withdraws_and_adds():
    """What ends earlier is shortened, what has no ground goes, what is missing is put."""
    held = [HeldEdge(belief(1, 0)), HeldEdge(belief(2, 50, 60))]
    closes, missing = refit([WantedEdge(Interval(0, 10)), WantedEdge(Interval(20, 30))], held, "why")
    assert [(c.target.row, c.valid_to) for c in closes] == [(1, 10), (2, None)]
    assert missing == [WantedEdge(Interval(20, 30))]
    assert refit([WantedEdge(Interval(0))], [HeldEdge(belief(1, 0))], "why") == ([], [])


def test_what_is_derived_anew_longer_is_put_as_another_row():
    """A derived edge is never stretched."""
    closes, missing = refit([WantedEdge(Interval(0))], [HeldEdge(belief(1, 0, 10))], "why")
    assert [c.valid_to for c in closes] == [None]
    assert missing == [WantedEdge(Interval(0))]


def test_cutting_intervals():
    """Pieces on both sides stay; nothing stays of what is covered."""
    assert without([Interval(0, 10)], [Interval(2, 3), Interval(9, 20)]) == [Interval(0, 2), Interval(3, 9)]
    assert without([Interval(0, 10)], [Interval(0)]) == []


def test_evidence_stands_until_it_is_corrected_retired_or_kept_back():
    """And an amendment leaves it standing."""
    gone = Interval(0, 5)
    assert standing([belief(1, 0)], 1, 9) == ("", FOREVER)
    assert standing([belief(1, 0, known=gone)], 1, 9)[0] == "corrected"
    assert standing([belief(1, 0, known=gone), belief(2, 0, of=2, known=Interval(5))], 1, 9)[0] == "corrected"
    shortened = [
        belief(1, 0, known=gone),
        belief(2, 0, 7, Interval(5)),
        belief(3, 7, of=2, known=Interval(5)),
    ]
    assert standing(shortened, 1, 9) == ("", FOREVER)
    assert standing([belief(1, 0, 7)], 1, 9) == ("retired", 7)
    assert standing([belief(1, 0, 12)], 1, 9) == ("", 12)
    assert standing([belief(1, 0, status="quarantined")], 1, 9)[0] == "quarantined"


def test_only_what_nothing_carries_is_kept_back():
    """One that stands is enough, and so is retired evidence for what was over by then."""
    retired, wrong = Footing(1, "aa" * 32, "Turn", "retired", 7), Footing(2, "bb" * 32, "Turn", "corrected")
    assert lost(belief(1, 0), []) is None
    assert lost(belief(1, 0), [wrong, Footing(3, "cc" * 32, "Turn")]) is None
    assert lost(belief(1, 0, 7), [retired, wrong]) is None
    assert lost(belief(1, 0), [retired, wrong]) == (
        "its evidence is gone: Turn aaaaaaaaaaaa was retired, Turn bbbbbbbbbbbb was corrected"
    )


def test_a_vote_needs_two_more_sources_and_no_less_authority():
    """Many others do not outvote what somebody says of himself."""
    mine = Voice("aa" * 32, "user", 1)
    assert outvoted(mine, Voice("bb" * 32, "user", 2)) is None
    assert outvoted(mine, Voice("bb" * 32, "user", 3)) is not None
    assert outvoted(mine, Voice("bb" * 32, "other", 9)) is None


def test_sources_are_independent_by_session_and_speaker():
    """Echoes count for nothing; without sessions, days tell sources apart."""
    day = 86_400_000_000
    same = [Source(1, "ana", 1), Source(2, "ana", 1), Source(3, "bo", 1), Source(4, "ana", 2)]
    assert independent(same) == 3
    assert independent([Source(1, "ana", 3, echo=True)]) == 0
    assert independent([Source(1, "ana", 0, 5), Source(2, "ana", 0, 9), Source(3, "ana", 0, day)]) == 2


def test_stages():
    """Confirmation, three sources or a sure decision make a crystal; doubt and quarantine a trace."""
    assert stage_of(Candidate())[0] == "trace"
    assert stage_of(Candidate(sources=1, confidence=0.5))[0] == "unit"
    assert stage_of(Candidate(sources=2, confidence=0.49))[0] == "trace"
    assert stage_of(Candidate(sources=3, confidence=0.3))[0] == "crystal"
    assert stage_of(Candidate(confidence=0.9, decision=True))[0] == "crystal"
    assert stage_of(Candidate(confidence=0.8, sources=1, decision=True))[0] == "unit"
    assert stage_of(Candidate("confirmed"))[0] == "crystal"
    assert stage_of(Candidate("quarantined", sources=9))[0] == "trace"
