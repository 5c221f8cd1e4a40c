"""The table of relation families: it loads, reads as English, is well formed, and refuses mistakes."""

from __future__ import annotations

import tomllib

import pytest

from worldline.lexicon import lines, text
from worldline.reading.families import PREPOSITIONS, Family, build, families, patterns

ALL = sorted(families().all.values(), key=lambda family: family.name)
KINDS = set(
    "person place organisation thing animal amount count date duration time text state activity language food "
    "role contact event money weekday goods".split()
)
CLASSES = {"default", "financial", "medical", "preference"}
PAST = {line.split()[1] for line in lines("irregular_verbs.txt")}
HERE = {"reads": "lives in"}


def phrases(family: Family) -> list[str]:
    """All little clauses of a family."""
    return [said.removesuffix("?") for said in (*family.states, *family.begins, *family.ends)]


def test_there_are_enough() -> None:
    """At least 120 families, each found under its own name."""
    found = families().all

    assert len(found) >= 120
    assert [name for name, family in found.items() if family.name != name] == []


def test_the_table_is_read_once() -> None:
    """Everybody gets the same table."""
    assert families() is families()


@pytest.mark.parametrize("domain", [
    "lives_in", "works_at", "works_as", "married_to", "has_sister", "has_pet", "allergic_to", "takes_medication",
    "diet", "owned_by", "uses", "due_on", "price", "subscribes_to", "speaks", "likes", "hobby", "plans", "reports_to",
])  # fmt: skip
def test_ordinary_matters_have_a_family(domain: str) -> None:
    """People, work, health, money, dates, things and plans each have theirs."""
    assert domain in families().all


def test_families_read_in_the_third_person() -> None:
    """A fact reads "Ana lives in Rome": a verb in the third person, present or past, and no more than one line."""

    def is_verb(word: str) -> bool:
        return word.endswith(("s", "ed")) or word in PAST

    assert [f.name for f in ALL if not is_verb(f.reads.split()[0])] == []
    assert [f.name for f in ALL if f.reads != f.reads.strip() or set(f.reads) & set("|_\n{}")] == []
    assert [f.name for f in ALL if not f.inverse] == []


def test_values_are_of_known_kinds() -> None:
    """How many hold, what kind of object, whose, and which threshold: each one of a few words."""
    assert [f.name for f in ALL if f.holds not in ("one", "many", "series")] == []
    assert [f.name for f in ALL if f.object not in KINDS] == []
    assert [f.name for f in ALL if f.subject not in ("any", "person", "thing")] == []
    assert [f.name for f in ALL if f.threshold not in CLASSES] == []


def test_patterns_are_well_formed() -> None:
    """A role, then a verb in base form, without articles; one that holds and one that ends are never the same."""
    all_ = [(f.name, said) for f in ALL for said in phrases(f)]

    assert [p for p in all_ if p[1].split()[0] not in "SOX" or p[1].split()[1] in "SOX"] == []
    assert [p for p in all_ if {"the", "a", "an"} & set(p[1].split())] == []
    assert [f.name for f in ALL if {*f.states, *f.begins} & set(f.ends)] == []


def test_every_family_can_be_met() -> None:
    """Each has a wording that says that it holds or begins, a noun or a word; nouns and words are lower case."""
    assert [f.name for f in ALL if not (f.states or f.begins or f.nouns or f.words)] == []
    assert [(f.name, n) for f in ALL for n in f.nouns if n != " ".join(n.split())] == []


def test_what_cannot_change_has_no_end() -> None:
    """A family that never changes holds one value or many, and nothing ends it."""
    assert [f.name for f in ALL if not f.changes and f.ends] == []


def test_a_noun_finds_its_family() -> None:
    """Whole nouns first, then their last words, whatever the case."""
    table = families()

    assert [named.family.name for named in table.by_noun("landlord")][:1] == ["landlord"]
    assert [named.noun for named in table.by_noun("Former Landlord")][:1] == ["landlord"]
    assert table.by_noun("qwertz") == []


def test_a_verb_finds_its_patterns() -> None:
    """A verb with its preposition leads to the family, with its effect and its roles."""
    found = {(p.family.name, p.effect) for p in families().by_verb("move to")}
    (left,) = [p for p in families().by_verb("be laid off by") if p.family.name == "works_at"]

    assert ("lives_in", "begins") in found
    assert (left.effect, left.subject, left.behind) == ("ends", "S", "O")
    assert families().by_verb("qwertz") == ()


def test_a_word_finds_its_family() -> None:
    """ "S is vegan" is a value by itself."""
    assert "diet" in [family.name for family in families().by_word("Vegan")]
    assert families().by_word("qwertz") == ()


@pytest.mark.parametrize(
    ("said", "verb", "roles"),
    [
        ("S live in O", "live in", ("S", "", "O")),
        ("O employ S", "employ", ("O", "S", "")),
        ("X hand S to O", "hand to", ("X", "S", "O")),
        ("S be laid off by O", "be laid off by", ("S", "", "O")),
    ],
)
def test_patterns_have_roles(said: str, verb: str, roles: tuple[str, str, str]) -> None:
    """Subject, direct object and what stands behind the last preposition."""
    made = patterns(Family("f", "lives in"), "holds", said)[0]

    assert (made.verb, (made.subject, made.direct, made.behind)) == (verb, roles)
    assert said.split()[-2] in PREPOSITIONS or not made.behind


def test_every_wording_of_the_table_can_be_matched() -> None:
    """What the table lists is found again by its verb: no wording is left aside."""
    for family in families().all.values():
        for said in (*family.states, *family.begins):
            for made in patterns(family, "holds", said):
                assert made.verb == "have" or any(p.family is family for p in families().by_verb(made.verb))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("X cut budget of S to O", ("cut budget to", "", "", "S", "O", "")),
        ("S sign up for O class", ("sign up for", "", "", "", "O", "class")),
        ("X give S O", ("give", "S", "O", "", "", "")),
        ("X sign up S for O", ("sign up for", "S", "", "", "O", "")),
    ],
)
def test_patterns_of_more_parts(said: str, expected: tuple[str, ...]) -> None:
    """Second objects, things of somebody, nouns that must stand there, and particles."""
    made = patterns(Family("f", "r"), "holds", said)[0]

    assert (made.verb, made.direct, made.second, made.owned, made.behind, made.head) == expected


def test_a_particle_may_stand_behind_the_object() -> None:
    """ "gave up the cello" and "gave the cello up" are one wording."""
    behind, around = patterns(Family("f", "r"), "ends", "S give up O")

    assert (behind.behind, around.direct) == ("O", "O")


def test_a_wording_without_its_roles_is_refused() -> None:
    """A wording that says nothing of S or O is a mistake in the table, and is told."""
    with pytest.raises(ValueError, match="does not say"):
        patterns(Family("f", "r"), "holds", "X live in O")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({}, "reads"),
        ({**HERE, "colour": "red"}, "colour"),
        ({**HERE, "states": ["lives in O"]}, "lives in O"),
        ({**HERE, "states": "S live in O"}, "states"),
        ({**HERE, "holds": "both"}, "holds"),
        ({"reads": 5}, "reads"),
    ],
)
def test_a_mistake_names_its_family(row: dict[str, object], why: str) -> None:
    """A family that is ill formed is refused, by its name and by what is wrong with it."""
    with pytest.raises(ValueError, match="home") as refused:
        build({"home": row})

    assert why in str(refused.value)


def test_two_families_of_one_name_are_refused() -> None:
    """The table cannot hold a name twice."""
    with pytest.raises(ValueError, match=r"lives_in|overwrite|twice"):
        tomllib.loads(text("families.toml") + '\n[lives_in]\nreads = "lives in"\n')
