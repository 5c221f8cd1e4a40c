"""The rule extractor: relation sentences, first-person statements, values, dates, names and cost."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from worldline.claims import Claim
from worldline.write.clauses import clauses, sentences
from worldline.write.extract import extract, mentions
from worldline.write.relations import relation
from worldline.write.values import find_values

SAID = datetime(2023, 5, 10, 14, 30, tzinfo=UTC)

RELATIONS = """
The capital of Freedonia is Marxville. | Freedonia | capit|of | Marxville
Freedonia's capital is Marxville. | Freedonia | capit|of | Marxville
Marxville is the capital of Freedonia. | Freedonia | capit|of | Marxville
Acme was founded by Ana Lopes. | Acme | found|by | Ana Lopes
Acme was founded in the city of Porto. | Acme | found|in | Porto
Ana Lopes is married to Rui Costa. | Ana Lopes | marri|to | Rui Costa
Ana Lopes is a citizen of Freedonia. | Ana Lopes | citizen|of | Freedonia
The headquarters of Acme is located in the city of Porto. | Acme | headquart|of | Porto
The company that produced Zephyr is Acme Inc.. | Zephyr | produc|by | Acme Inc.
The university where Ana Lopes was educated is Coimbra. | Ana Lopes | educ|in | Coimbra
The type of music that Ana Lopes plays is fado. | Ana Lopes | play| | fado
The name of the current head of the Freedonia government is Ana Lo. | Freedonia | govern head|of | Ana Lo
The name of the current head of state in Freedonia is Rui Costa. | Freedonia | head state|of | Rui Costa
The Prime Minister of Freedonia is Rui Costa. | Freedonia | minist prime|of | Rui Costa
goalkeeper is associated with the sport of pelota. | goalkeeper | associ|with | pelota
Seven Towers of Glass was written in the language of Elvish. | Seven Towers of Glass | write|in | Elvish
Life is Strange Here was created in the country of Freedonia. | Life is Strange Here | creat|in | Freedonia
Ana Lopes works in the field of botany. | Ana Lopes | work|in | botany
Leo I the Bald died in the city of Faro. | Leo I the Bald | die|in | Faro
Ana Lopes's child is Tomas Lopes. | Ana Lopes | child|of | Tomas Lopes
"""
STATEMENTS = """
I live in Porto now. | Sam | live|in | Porto
I work at Siemens | Sam | work|for | Siemens
I moved from Berlin to Leipzig in March. | Sam | live|in | Leipzig
My boss is Mr Tanaka. | Sam | boss|of | Mr Tanaka
My favourite colour is teal. | Sam | colour favourit|of | teal
My sister Ana lives in Lisbon. | Ana | live|in | Lisbon
I love hiking. | Sam | love| | hiking
I bought a car yesterday. | Sam | buy| | a car
By the way, I adopted a puppy last week. | Sam | adopt| | a puppy
I've been learning Polish. | Sam | learn| | Polish
I'm allergic to peanuts. | Sam | allerg|to | peanuts
We use Linear. | Sam | use| | Linear
"""
NOTHING = """
Where do you live?
I think so.
I would love to live in Lisbon.
I might move to Lisbon next year.
I've never tried kimchi.
My dog is tired.
Love is truly magical.
Thanks, that sounds great!
I hope you are well.
Hey Sam, thanks for asking!
"""


def rows(text: str) -> list[list[str]]:
    """The rows of a table."""
    return [[c.strip() for c in line.split(" | ")] for line in text.strip().splitlines()]


def triple(claim: Claim) -> list[str]:
    """Subject, key and object."""
    return [claim.subject, claim.key, claim.object]


@pytest.mark.parametrize("row", rows(RELATIONS), ids=lambda r: r[0])
def test_relation(row: list[str]) -> None:
    """A relation sentence, read alone, gives its subject, predicate key and object."""
    found = relation(row[0])
    assert found is not None
    assert triple(found) == row[1:]


@pytest.mark.parametrize("row", rows(STATEMENTS), ids=lambda r: r[0])
def test_statement(row: list[str]) -> None:
    """A statement in the first person, or about somebody close, becomes a claim."""
    assert row[1:] in [triple(c) for c in extract(row[0], "Sam", said_at=SAID)]


@pytest.mark.parametrize("text", NOTHING.strip().splitlines())
def test_nothing_is_claimed(text: str) -> None:
    """Questions, wishes, hedges, moods and pleasantries claim nothing."""
    assert extract(text, "Sam", said_at=SAID) == []


@pytest.mark.parametrize(
    ("text", "kind", "unit", "number"),
    [
        ("I run three times a week", "frequency", "week", 3),
        ("on page 220", "level", "page", 220),
        ("for 9 months", "duration", "month", 9),
        ("it costs $420", "money", "", 420),
        ("I am 31 years old", "age", "", 31),
        ("at 7:30 am", "clock", "", None),
        ("I ran 5 km", "distance", "km", 5),
        ("I have tried four Thai restaurants so far", "count", "restaur", 4),
        ("we won 20 percent", "percent", "", 20),
    ],
)
def test_value(text: str, kind: str, unit: str, number: float | None) -> None:
    """Values are typed, with unit and number."""
    value = find_values(text)[0]
    assert (value.kind, value.unit) == (kind, unit)
    if number is not None:
        assert value.number == number


def test_date_becomes_valid_from() -> None:
    """A stated date is resolved against the time said, with its precision, and leaves the object."""
    claim = extract("I moved to Leipzig last month.", "Sam", said_at=SAID)[0]
    assert claim.precision == "month"
    assert claim.valid_from == int(datetime(2023, 4, 1, tzinfo=UTC).timestamp()) * 1_000_000
    assert claim.object == "Leipzig"


def test_evidence_is_cited() -> None:
    """Every claim points at the characters it came from."""
    text = "Thanks! I live in Porto, and I work at Siemens."
    found = extract(text, "Sam", said_at=SAID)
    cited = [text[c.chars[0] : c.chars[1]] for c in found]
    assert any("Porto" in c for c in cited)
    assert all(c.object in text[c.chars[0] : c.chars[1]] for c in found)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("We switched from Jira to Linear.", "closes"),
        ("I no longer eat meat.", "ends"),
        ("I don't eat meat anymore.", "ends"),
        ("Actually, it's Tuesday, not Monday.", "correction"),
        ("I also use Discord.", "adds"),
        ("I've read six novels so far.", "series"),
    ],
)
def test_cue(text: str, cue: str) -> None:
    """The wording gives away whether it changes, ends, corrects, adds or counts on."""
    assert extract(text, "Sam", said_at=SAID)[0].cue == cue


def test_rank() -> None:
    """Claims carry the authority of their speaker."""
    assert extract("I live in Porto.", "Sam", said_at=SAID, rank="other")[0].rank == "other"


def test_names() -> None:
    """Names are spotted inside sentences and in quotes, not merely because a sentence begins."""
    text = 'Yesterday I met Ana Lopes in Porto. By the way, Rui read "Blue Hours" at IBM.'
    assert [m.name for m in mentions(text)] == ["Ana Lopes", "Porto", "Rui", "Blue Hours", "IBM"]
    assert all(text[m.chars[0] : m.chars[1]] == m.name for m in mentions(text))


def test_sentences_keep_abbreviations() -> None:
    """A title's full stop does not end a sentence."""
    text = "I saw Dr. Okoye. She was kind."
    assert [text[a:b] for a, b in sentences(text)] == ["I saw Dr. Okoye.", "She was kind."]


def test_clauses_know_questions() -> None:
    """A question is marked as asking, the statement before it is not."""
    assert [c.asks for c in clauses("I live in Porto. Do you?")] == [False, True]


def test_strange_input() -> None:
    """Odd text claims nothing and does not fail."""
    for text in (
        "",
        " ",
        "?",
        "I",
        "'s is",
        "The of is",
        "我住在上海",
        "\ud800",
        "I " * 3000,
        "is is is",
    ):
        extract(text, "Sam", said_at=SAID)


def test_cost() -> None:
    """A fact sentence costs at most 1.5 ms of CPU."""
    text = "By the way, I've been using my watch for 9 months now, and my sister Ana lives in Lisbon."
    began = time.process_time()
    for _ in range(100):
        extract(text, "Sam", said_at=SAID)
        relation("The headquarters of Acme is located in the city of Porto.")
    assert (time.process_time() - began) / 200 < 0.0015
