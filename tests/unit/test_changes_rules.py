"""What a message overtakes without naming its slot: the cue, the matter and the value must all fit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldline.reading.claim import Claim, Cues, aspects
from worldline.reading.read import read
from worldline.rules.changes import Around, around_each, overtaken
from worldline.rules.slots import Decision, HeldValue, corrects, decide

SAID = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)


def held(subject: str, phrase: str, value: str, slot: str = "", kind: str = "entity") -> Around:
    """A fact that is believed, told by Ana."""
    held = HeldValue("1", slot or phrase, value, kind, phrase=phrase, teller="Ana")
    return around_each([(held, subject)], "Ana")[0]


def over(text: str, fact: Around) -> bool:
    """Whether a message by Ana overtakes the fact."""
    reading = read(text, "Ana", said_at=SAID)
    return bool(overtaken(reading.cues, reading.claims, [fact], "Ana"))


CAST = held("Ana's left arm", "is in", "cast")
JIRA = held("Ana", "uses", "Jira", "uses")
OWNER = held("Carla", "owns", "payments project", "owns")
PRICE = held("Ana's gym", "costs", "29 euros a month", "price", "text")
GRANT = held("grant application", "is due on", "14 March", "due_on", "date")
HOME = held("Hamish", "lives in", "Stirling", "lives_in")
TEACHER = held("Ana's brother", "teaches", "maths", "teaches", "text")
COACH = held("under-tens", "'s coach is", "Mr Pell", "has_coach")
CAFE = held("corner cafe", "belongs to", "Stavros", "owned_by")
PLAN = held("team", "is on", "Basic plan of Chartly", "plan")
HOST = held("Ana's hosting", "is with", "Cloudnest", "provider")
CAR = held("Ana", "'s car is", "blue Volvo", "drives")
MUSEUM = held("Ana", "works at", "salt museum", "works_at")
TREASURER = held("Treasurer", "is", "Edna Frost", "|be")
FISH = held("Ana", "does not eat", "fish", "not diet", "text")
PHYSIO = held("Mrs Abara", "'s physio is", "Tom", "has_specialist")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The cast came off my left arm today.", CAST),
        ("We ditched Jira.", JIRA),
        ("We replaced Jira with Linear.", JIRA),
        ("The payments project was reassigned to Dmitri.", OWNER),
        ("The gym raised its price to 35 euros a month.", PRICE),
        ("They extended the grant deadline to 28 March.", GRANT),
        ("My brother left teaching.", TEACHER),
        ("Mr Pell gave up coaching.", COACH),
        ("Stavros sold the cafe to the Brandt sisters.", CAFE),
        ("We switched Chartly from Basic to Pro.", PLAN),
    ],
)
def test_a_change_of_the_same_matter_overtakes(text: str, fact: Around) -> None:
    """A cue of change, the same subject, and the old value or a new one of its kind: it is over."""
    assert over(text, fact)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I like Jira.", JIRA),  # no change
        ("We ditched Slack.", JIRA),  # another thing
        ("Should we ditch Jira?", JIRA),  # only asked
        ("We still use Jira, nothing has changed.", JIRA),  # the same
        ("We also started using Linear besides Jira.", JIRA),  # on top
        ("We switched from Jira to Linear for two weeks, just for the trial.", JIRA),  # for a while
        ("My right foot is in a boot now.", CAST),  # another limb
        ("The pool raised its price to 35 euros a month.", PRICE),  # another subject
        ("Dmitri was promoted.", OWNER),  # another person
        ("Hamish's sister moved to Leeds.", HOME),  # another person
        ("The planned move away from Cloudnest was dropped.", HOST),  # no change after all
        ("I changed the insurance of the Volvo to Harbor Mutual.", CAR),  # something of it
        ("Had new tyres put on the Volvo.", CAR),  # nothing instead
        ("I've changed my shift at the museum to mornings.", MUSEUM),  # another thing there
        ("Edna Frost did not step down.", TREASURER),  # denied
        ("My daughter has started eating fish.", FISH),  # another person
        ("Mr Hollis has been switched from Tom to Ines.", PHYSIO),  # another patient
    ],
)
def test_anything_less_overtakes_nothing(text: str, fact: Around) -> None:
    """Without a change, of another matter, asked, the same, on top or for a while: nothing is over."""
    assert not over(text, fact)


def test_a_cue_alone_ends_nothing() -> None:
    """Words of change without shared words leave everything as it is."""
    assert overtaken(Cues(change=True), (), [CAST, JIRA, OWNER, PRICE]) == []


@pytest.mark.parametrize("sign", ["adds", "passing", "stays"])
def test_signs_of_staying_win(sign: str) -> None:
    """Where a message says "also", "for now" or "still", its change ends nothing."""
    stems = ("jira", "switch")

    assert overtaken(Cues(change=True, ends=True, stems=stems), (), [JIRA])
    assert not overtaken(Cues(change=True, ends=True, stems=stems, **{sign: True}), (), [JIRA])


@pytest.mark.parametrize("slot", ["was uses", "did use|", "plan use|"])
def test_what_is_past_or_planned_is_not_overtaken(slot: str) -> None:
    """What was, happened or is planned is nothing that holds now."""
    fact = held("Ana", "used", "Jira", slot)

    assert not over("We ditched Jira.", fact)


def test_kin_stay_what_they_are() -> None:
    """A sister who leaves her job is a sister still; a manager who leaves is not."""
    sister = held("Ana", "'s sister is", "Rosa", "has_sister")
    manager = held("Ana", "'s manager is", "Rosa", "reports_to")

    assert not over("Rosa quit her job.", sister)
    assert over("Rosa left the company, so somebody else is my manager now.", manager)


def test_what_is_said_again_is_not_over() -> None:
    """A message that speaks of a change and restates the fact ends nothing."""
    again = Claim("Ana", "uses", "uses", "Jira", family="uses")

    assert not overtaken(Cues(change=True, ends=True, stems=("jira",)), (again,), [JIRA])


def test_every_reason_is_in_words() -> None:
    """The receipt can say why something is over."""
    ((id_, reason),) = overtaken(Cues(change=True, ends=True, stems=("jira",)), (), [JIRA])

    assert id_ == "1"
    assert "change" in reason


def test_verbs_change_known_kinds() -> None:
    """The table of verbs of change is not empty, and its kinds are words."""
    assert len(aspects()) > 10
    assert all(kind.isidentifier() for kinds in aspects().values() for kind in kinds)


# Bare corrections -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "known", "fits"),
    [
        ("17:40", "17:10", True),
        ("Faro", "Porto", True),
        ("12 euros", "15 euros", True),
        ("12 euros", "15 kg", False),
        ("Faro", "17:10", False),
        ("17:40", "Porto", False),
        ("Porto", "Porto", False),
        ("a completely different and much longer thing", "Porto", False),
    ],
)
def test_a_value_corrects_one_of_its_shape(value: str, known: str, fits: bool) -> None:
    """A number stands for a number of the same unit, a name for a name, and nothing for itself."""
    assert corrects(value, HeldValue("1", "lives_in", known)) is fits


# What a claim of a family does to its slot -----------------------------------------------------------


def claim(value: str, **more: object) -> Claim:
    """That Ana lives somewhere, unless told otherwise."""
    base = {
        "subject": "Ana",
        "predicate": "lives in",
        "key": "lives_in",
        "family": "lives_in",
        "holds": "one",
    }
    return Claim(**{**base, "object": value, "rank": "user", **more})  # type: ignore[arg-type]


def decided(new: Claim, *beliefs: HeldValue, teller: str = "Ana") -> Decision:
    """What a claim by somebody does."""
    return decide(new, beliefs, teller=teller)


PORTO = HeldValue("1", "lives_in", "Porto", one=True, rank="user", teller="Ana")


def test_one_value_takes_the_place_of_the_other() -> None:
    """The same person's later value closes the former one."""
    assert decided(claim("Lisbon"), PORTO).closes == ("1",)
    assert decided(claim("Porto"), PORTO).verb == "repeats"
    assert decided(claim("Lisbon", cue="adds"), PORTO).verb == "adds"


def test_two_sources_contradict_unless_one_speaks_of_a_change() -> None:
    """Somebody else's other value contradicts; that something began, closes."""
    assert decided(claim("Lisbon"), PORTO, teller="Tom").verb == "contradicts"
    assert decided(claim("Lisbon", effect="begins"), PORTO, teller="Tom").verb == "closes"


def test_what_cannot_change_contradicts() -> None:
    """Two birthplaces are never a move."""
    born = HeldValue("1", "born_in", "Porto", one=True, rank="user", teller="Ana")

    assert decided(claim("Faro", key="born_in", family="born_in", fixed=True), born).verb == "contradicts"


def test_readings_stand_beside_each_other() -> None:
    """One more reading of a series ends none."""
    first = HeldValue("1", "weight", "80 kg", "text", rank="user", teller="Ana")
    decision = decided(claim("76 kg", key="weight", family="weight", holds="series"), first)

    assert (decision.verb, decision.closes) == ("series", ())


def test_an_end_ends_what_it_names() -> None:
    """With a value only that one, without one whatever holds, and nothing that it does not name."""
    assert decided(claim("Porto", effect="ends"), PORTO).closes == ("1",)
    assert decided(claim("", effect="ends"), PORTO).closes == ("1",)
    assert decided(claim("Faro", effect="ends"), PORTO).closes == ()


def test_a_denial_ends_what_says_so_only() -> None:
    """ "I don't live in Porto" ends Porto, "I don't live in Faro" nothing."""
    assert decided(claim("Porto", negated=True), PORTO).closes == ("1",)
    assert decided(claim("Faro", negated=True), PORTO).closes == ()


def test_several_values_are_kept_unless_one_is_switched() -> None:
    """Where many hold, another one adds; a switch from the only one closes it."""
    jira = HeldValue("1", "uses", "Jira", rank="user", teller="Ana")
    linear = claim("Linear", key="uses", family="uses", holds="many")

    assert decided(linear, jira).verb == "adds"
    assert decided(claim("Linear", key="uses", family="uses", holds="many", switches=True), jira).closes == (
        "1",
    )


def test_what_others_say_closes_nothing_that_was_given() -> None:
    """A lower rank contradicts a higher one."""
    given = HeldValue("1", "lives_in", "Porto", one=True, rank="given", teller="Ana")

    assert decided(claim("Lisbon", rank="other"), given).verb == "contradicts"
