"""Reading never fails: any text, within its time, the same each time, and every claim stands in the text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clock import cpu
from worldline.reading import parser
from worldline.reading.claim import Claim
from worldline.reading.mending import is_tree, mended
from worldline.reading.read import Reading, read

SAID = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)
PIECES = st.sampled_from(
    [
        "I live in Porto", "my sister Rosa", "moved from Berlin to Lisbon", "no longer", "used to", "Name: Ilse",
        "Owner = Tom", "sorry, the 12th, not the 9th", "*D12", "\"I quit\"", "(the", "—", ";", "\n", "- ", "?", "!",
        "...", "…", "and", ", who", "is", "'s", "’", "isn't", "15 June", "€900", "a.b@c.example", "🙂", "👩‍👩‍👧",
        "我住在里斯本。", "東京に住んでいます", "\u200b", "\u202e", "\x1b[31m", "\t", "\x07", "\u00a0", "ﬁ",
        "é", "e\u0301", "S", "O", "{S}", "{O}", "|", "1" * 40, "x" * 80, "#", "=", ":", "→",
    ]
)  # fmt: skip
TALK = st.lists(PIECES, max_size=14).map(" ".join)
ANYTHING = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300)
NAMES = st.sampled_from(
    ["", "Ana", "user", "assistant", "ana lópez", "🙂", "I", "O'Neil", "Mary's", "x" * 200]
)
BROKEN = st.lists(
    st.sampled_from(
        (
            "her his my the a son sister Ewan Ida boiler van case name keys hes shes s m gonna is was has had made "
            "said told asks forgets keeps in at of from to with by for two 7 £40 and , . \" ' : not no who that which"
        ).split()
    ),
    min_size=1,
    max_size=12,
).map(" ".join)
"""English words in no order: trees that no sentence has."""
SECONDS = 2.0
"""The longest that any text may take, however hostile."""
LENGTH = 200_000


def is_sound(claim: Claim, text: str) -> bool:
    """Somebody, something, and a place in the text."""
    begin, end = claim.chars
    said = claim.subject.strip() and (claim.object.strip() or claim.effect == "ends" or claim.cue == "ends")
    return bool(said) and 0 <= begin <= end <= len(text) and 0.0 < claim.confidence <= 1.0


def checked(text: str, speaker: str = "Ana", addressee: str = "") -> Reading:
    """A reading whose claims are all sound."""
    reading = read(text, speaker, addressee, SAID)
    assert [c for c in reading.claims if not is_sound(c, text)] == []
    return reading


@settings(max_examples=150)
@given(BROKEN)
@example("Her son Otto's cello case")
@example("mum rang. shes asking for Lou in tears")
def test_words_in_no_order_are_read_to_the_end(text: str) -> None:
    """However the parser takes them, mending leaves a tree: nothing is walked in a circle."""
    [sentences] = parser.parse([text])
    assert all(is_tree(mended(tokens)) for tokens in sentences)
    checked(text)


@settings(max_examples=150)
@given(TALK, NAMES, NAMES)
@example("Sorry, it's, not.", "Ana", "")
@example("I'm I'm I'm", "", "")
def test_talk_of_any_shape_is_read(text: str, speaker: str, addressee: str) -> None:
    """Pieces of talk in any order give sound claims, whoever speaks to whom."""
    checked(text, speaker, addressee)


@settings(max_examples=150)
@given(ANYTHING)
def test_any_text_is_read(text: str) -> None:
    """Emoji, CJK, control characters and unbalanced quotes raise nothing."""
    checked(text)


@given(TALK, NAMES)
def test_the_same_text_is_read_the_same(text: str, speaker: str) -> None:
    """A reading depends on its text, speaker and time only."""
    assert read(text, speaker, "", SAID) == read(text, speaker, "", SAID)


@given(TALK, TALK)
def test_what_was_read_before_does_not_matter(text: str, other: str) -> None:
    """Another text read in between leaves no trace."""
    first = read(text, "Ana", "", SAID)
    read(other, "Tom", "Ana", SAID)

    assert read(text, "Ana", "", SAID) == first


@given(TALK)
def test_without_a_time_it_is_read_as_well(text: str) -> None:
    """Nobody needs to know when something was said; then nothing is dated by it."""
    assert all(c.subject.strip() for c in read(text, "Ana").claims)


@pytest.mark.parametrize("one", ["a", " ", "\n", ".", "-", "1", "é", "字", "\x1b", "\u0301", '"'])
def test_one_character_over_and_over(one: str) -> None:
    """Ten thousand times the same character is read like anything else."""
    checked(one * 10_000)


HOSTILE = {
    "is": "is ", "token": "-eyJ", "newlines": "\n", "brackets": "(((", "digits": "0123456789", "word": "a",
    "quotes": "\" ' ", "commas": "a, ", "and": "Ana and ", "fields": "Key: value; ", "equals": "a=b ",
    "of": "friend of ", "owners": "Ana's ", "sentences": "I live in Porto. ", "relative": "who knows Tom who ",
    "corrections": "sorry, not 9 but ", "dates": "1 May 2024 to ", "no longer": "no longer ", "dashes": " – ",
    "capitals": "Ana Lopes ", "hyphens": "a-", "dots": "a.", "slashes": "/a", "emoji": "🙂",
    "spaces": "x" + " " * 300, "openers": "well, ok, so, ",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_no_text_takes_long(name: str) -> None:
    """Whatever is repeated to 200,000 characters, it is read in less than two seconds."""
    read("I live in Porto.", "Ana", said_at=SAID)  # loads the parser
    text = (HOSTILE[name] * LENGTH)[:LENGTH]

    assert cpu(lambda: checked(text)) < SECONDS
