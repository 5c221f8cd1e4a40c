"""What holds now before what it took the place of, and the other way round for who asks for what was."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from worldline.read.cues import ask
from worldline.read.recency import RIVALS, Succession, in_time, is_overtaken, outdated, tense
from worldline.read.score import DAY, Corpus, Turn, score
from worldline.rules.describe import describe
from worldline.store.search import Drawn

OLD, NEW = (
    "I have tried three Korean restaurants in my city.",
    "So far I have tried four Korean restaurants in my city.",
)
SAID = 1_700_000_000_000_000
NOTHING: dict[int, float] = {}


def ranked(question: str, *texts: tuple[str, str, int], turned=False):
    """A question, its board, and the places of these turns (text, speaker, day); the first (or last) one leads."""
    turns = [
        Turn(
            key,
            f"s{key}",
            0,
            describe(text, said_at=SAID + day * DAY),
            who,
            _role(who),
            SAID + day * DAY,
            0.9 - key / 10,
        )
        for key, (text, who, day) in enumerate(texts, 1)
    ]
    asked = ask(question, people=["ana", "ben"])
    board = score(asked, turns, Corpus(50, 9.0, dict.fromkeys(asked.terms, 2)))
    places = sorted(range(len(turns)), reverse=turned)
    board = replace(board, scores=np.array([-0.5 * places.index(at) for at in range(len(turns))]))
    return asked, board, places


def order(
    question: str, *texts: tuple[str, str, int], replaced=None, turned=False, succession=None, told=NOTHING
) -> list[int]:
    """The keys of the turns, best first."""
    asked, board, places = ranked(question, *texts, turned=turned)
    together = succession and Succession(succession, told)
    found = in_time(asked, board, places, replaced or {}, succession=together)
    return [board.turns[at].key for at in found]


def _role(who: str) -> str:
    return who if who in ("user", "assistant") else "people"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many Korean restaurants have I tried in my city?", "now"),
        ("Where do I keep my old sneakers?", "now"),
        ("Where do I currently keep what I bought first?", "now"),
        ("How many seats did we have under the old contract?", "then"),
        ("What is my current record?", "now"),
        ("Who's Ana's boss?", "now"),
        ("Who runs the chess club?", "now"),
        ("Who won the chess game?", ""),
        ("What edition of Hermes is in print?", "now"),
        ("What books is Ana reading?", ""),
        ("How many Korean restaurants has Ana tried?", "now"),
        ("What did the cat weigh at the latest check?", "now"),
        ("Where did I initially keep my sneakers?", "then"),
        ("What was my previous goal?", "then"),
        ("Who was the drummer before Ben?", "then"),
        ("When did I go to Rome?", ""),
        ("Can you recommend a restaurant that is good?", ""),
    ],
)
def test_the_time_that_a_question_asks_about(question: str, expected: str) -> None:
    """The present, unless its words speak of the past."""
    assert tense(ask(question)) == expected


def test_newer_figures_of_one_thing_lead() -> None:
    """A record told again with other figures comes first, though its words meet the question no better."""
    question = "What's the price per seat for Hillcrest now?"
    signed = "Hillcrest Foods. Team plan, 30 seats at £12 a seat per month, renews in May."
    renewed = "Hillcrest renewed! 45 seats, £11 a seat for two years."
    visited = "Hillcrest have 3 cats in the hall."

    assert order(question, (signed, "user", 1), (renewed, "user", 2))[0] == 2
    assert order(question.replace(" now", ""), (signed, "user", 1), (visited, "user", 2))[0] == 1


def test_who_asks_for_the_beginning_gets_the_earlier_of_two() -> None:
    """Of two like statements the earlier one comes first, although it scores a little less."""
    question = "What discount was Hillcrest offered to begin with?"
    later, first = "Hillcrest offered a discount of 12 percent.", "Hillcrest offered a discount of 8 percent."

    assert order(question, (first, "user", 1), (later, "user", 2), turned=True)[0] == 1


def test_the_newer_version_leads() -> None:
    """The later of two like statements comes first, although it scores a little less."""
    question = "How many Korean restaurants have I tried in my city?"

    assert order(question, (OLD, "user", 1), (NEW, "user", 2))[0] == 2
    assert order(question, (OLD, "user", 2), (NEW, "user", 1))[0] == 1


def test_the_newer_version_leads_for_others_too() -> None:
    """Of the person who is named, and in the same session."""
    question = "How many Korean restaurants has Ana tried?"

    assert order(question, (OLD, "ana", 1), (NEW, "ana", 2))[0] == 2
    assert order(question, (OLD, "ana", 1), (NEW, "ben", 2))[0] == 1


@pytest.mark.parametrize(
    ("text", "role"),
    [
        (NEW, "assistant"),
        ("I bought four Korean books.", "user"),
        ("Korean restaurants in my city are nice.", "user"),
        ("Imagine I had tried four Korean restaurants in my city.", "user"),
        ("My sister has tried four Korean restaurants in my city.", "user"),
    ],
)
def test_others_do_not_pass(text: str, role: str) -> None:
    """Neither an assistant's words, nor another topic or person, nor a thought, nor a turn without a value pass."""
    question = "How many Korean restaurants have I tried in my city?"

    assert order(question, (OLD, "user", 1), (text, role, 2))[0] == 1


def test_what_tells_a_change_needs_fewer_words() -> None:
    """A turn that speaks of a change goes before the one that states the old value in the words of the question."""
    question = "Which tool runs our builds on the server now?"
    old = ("Jenkins runs our builds on the server.", "user", 1)

    assert order(question, old, ("We moved our builds on the server over to Drone.", "user", 9))[0] == 2
    assert order(question, old, ("Our builds fail on Mondays.", "user", 9))[0] == 1


def test_what_happened_is_told_anew_only_by_a_correction() -> None:
    """A fee that was paid has no newer version, unless somebody says that the first one was wrong."""
    question, told = "How much was the survey?", ("The survey was 400 euros.", "user", 1)

    assert order(question, told, ("I misread the letter. The survey was 440 euros.", "user", 3))[0] == 2
    assert order(question, told, ("The survey of the barn was 310 euros.", "user", 3))[0] == 1


def test_who_asks_for_all_gets_a_newer_version_only_where_it_is_plain() -> None:
    """What somebody does may be many things; what replaced the one that was told is the answer all the same."""
    question, told = "What do we serve on Sundays?", ("We serve porridge on Sundays, with plums.", "user", 1)

    assert order(question, told, ("From now on waffles replace the porridge on Sundays.", "user", 30))[0] == 2
    assert order(question, told, ("On Sundays we serve the choir first.", "user", 30))[0] == 1


LIVES, MOVED = ("I live in Leeds.", "ana", 1), ("We relocated to Bristol.", "ana", 9)


def test_a_turn_whose_fact_is_over_stands_behind_what_ended_it() -> None:
    """The present before the past by default, the past first for who asks for it."""
    over = {1: (2,)}

    assert order("Where does Ana live?", LIVES, MOVED, replaced=over) == [2, 1]
    assert order("Where did Ana live before?", MOVED, LIVES, replaced={2: (1,)}) == [1, 2]
    assert order("Where did Ana live before?", LIVES, MOVED, replaced=over) == [1, 2]


def test_what_came_after_does_not_tell_what_was_before() -> None:
    """Who asks for the one before Chidi gets the turn of the time before, though the later one says more of it."""
    later, first = ("Chidi is our tech lead from today.", "ben", 9), ("Our tech lead is Boris.", "ben", 1)

    assert order("Who was tech lead before Chidi?", later, first) == [2, 1]
    assert order("Who was tech lead before Chidi?", later, ("The cellar is damp.", "ben", 1)) == [1, 2]


def test_only_the_fact_that_is_asked_for_counts() -> None:
    """Another fact of the same turn may be over; one about another name is not meant at all."""
    lives, works = (
        Drawn(1, "Ana lives in Leeds", True, False, (2,)),
        Drawn(1, "Ana works at Acme", False, False, ()),
    )

    assert outdated(ask("Where does Ana live?", people=["ana"]), [lives, works]) == {1: (2,)}
    assert outdated(ask("Where does Ana work?", people=["ana"]), [lives, works]) == {}
    assert (
        outdated(
            ask("How many seats does Brightwell have?"),
            [Drawn(1, "Osterhaus has 12 seats", True, False, (2,))],
        )
        == {}
    )


def test_what_replaced_a_turn_but_speaks_of_something_else_stays_where_it_is() -> None:
    """A fact may be closed by a turn about another thing: far down, it leads nothing."""
    course = ("The pottery class is on Mondays.", "ana", 1)
    others = [(f"Number {n} of the harbour walks was windy.", "ana", 2) for n in range(12)]
    sorry = ("Sorry, I got that wrong, the tortoise is eleven.", "ana", 9)
    moved = ("The pottery lessons are on Fridays.", "ana", 9)
    question = "On which day is the pottery class?"

    assert order(question, course, *others, sorry, replaced={1: [14]})[0] == 1
    assert order(question, course, *others, moved, replaced={1: [14]})[0] == 14


@pytest.mark.parametrize(
    "later",
    [
        "If I won a car I'd park it at the quay in Ghent.",
        "My neighbour says I park my car at the quay in Ghent.",
        "Years ago I parked my car at the quay in Ghent.",
        "I dreamt that I park my car at the quay in Ghent.",
    ],
)
def test_what_might_be_or_was_is_no_newer_version(later: str) -> None:
    """What is imagined, told by others or long past does not overtake how things are."""
    question, told = "Where do I park my car?", ("I park my car behind the mill.", "user", 1)

    assert order(question, told, (later, "user", 60))[0] == 1
    assert order(question, told, ("I park my car at the quay in Ghent.", "user", 60))[0] == 2


def test_another_one_who_says_i_is_no_newer_version() -> None:
    """Where Ben parks is not where I park."""
    mine, his = ("I park my car behind the mill.", "ana", 1), ("I park my car at the quay.", "ben", 60)

    assert order("Where do I park my car?", mine, his)[0] == 1


BAKERY, FRANKFURT = (
    "I rent a room above a bakery in Utrecht.",
    "Frankfurt is louder than I expected, boxes everywhere.",
)


def test_what_is_read_to_answer_now_leads_without_a_word_in_common() -> None:
    """A later text that a close reading takes for the answer comes first; one that it does not take stays behind."""
    told = (BAKERY, "user", 1), (FRANKFURT, "user", 2)

    assert order("Where do I live?", *told, succession=lambda older, later: 4.0)[0] == 2
    assert order("Where do I live?", *told, succession=lambda older, later: -4.0)[0] == 1
    assert order("Where do I live?", *told)[0] == 1


def test_only_the_first_is_read_beside_the_next_few() -> None:
    """Two texts are read for each of the nearest later rivals of the one that leads, and for no other pair."""
    read: list[tuple[int, int]] = []

    def note(older: int, later: int) -> float:
        read.append((older, later))
        return -4.0

    order("Where do I live?", *((f"{BAKERY} {day}", "user", day) for day in range(1, 9)), succession=note)

    assert read == [(1, later) for later in range(2, 2 + RIVALS)]


def test_reading_two_texts_moves_nothing_that_was_asked_of_the_past() -> None:
    """Who asks for what was, and what an assistant or an earlier text says, is left to the other rules."""
    told = (BAKERY, "user", 1), (FRANKFURT, "user", 2)

    assert order("Where did I live before?", *told, succession=lambda older, later: 4.0)[0] == 1
    assert order("Where do I live?", told[0], (FRANKFURT, "assistant", 2), succession=lambda *_: 4.0)[0] == 1
    assert order("Where do I live?", (BAKERY, "user", 3), told[1], succession=lambda *_: 4.0)[0] == 1


def test_a_clear_reading_outweighs_the_words_and_a_doubtful_one_leaves_it_to_them() -> None:
    """What the words take for a newer version is one, unless it reads clearly otherwise; or nothing reads the two."""
    question, told = (
        "How many Korean restaurants have I tried in my city?",
        ((OLD, "user", 1), (NEW, "user", 2)),
    )

    assert order(question, *told, succession=lambda *_: 1.0)[0] == 2
    assert order(question, *told, succession=lambda *_: None)[0] == 2
    assert order(question, *told, succession=lambda *_: -5.0)[0] == 1


def test_what_happened_once_is_told_by_a_later_text_only_if_that_tells_it() -> None:
    """Who asks for an event gets the later of two texts only where that one, read alone, tells it as well."""
    happened = ("The pump failed on Monday.", "ben", 1), ("It was the valve, I misread the dial.", "ben", 2)
    question = "Why did the pump fail?"

    assert order(question, *happened, succession=lambda *_: 4.0, told={2: 1.0})[0] == 2
    assert order(question, *happened, succession=lambda *_: 4.0, told={2: -3.0})[0] == 1


@pytest.mark.parametrize(("reading", "over"), [(4.0, True), (1.0, True), (-4.0, False), (None, False)])
def test_what_may_be_over_is_no_answer_though_it_leads(reading: float | None, over: bool) -> None:
    """The text that leads answers only where none that was said later reads as likely as one in four to do so."""
    told = (BAKERY, "user", 1), (FRANKFURT, "user", 2)

    def is_over(question: str, key: int) -> bool:
        asked, board, places = ranked(question, *told)
        return is_overtaken(asked, board, places, key, succession=Succession(lambda *_: reading))

    assert is_over("Where do I live?", 1) is over
    assert not is_over("Where do I live?", 2), "nothing was said after it"
    assert not is_over("Where did I live before?", 1)
