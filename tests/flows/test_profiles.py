"""Profiles, episodes, landmarks and causes as users meet them: before a night, after it, and as of then."""

import json
import random

import pytest
from click.testing import CliRunner

import worldline.memory
from worldline import Config, Fact, Memory
from worldline.consolidate import run, weight
from worldline.errors import InvalidInput, NotFound
from worldline.read import profile as profiling
from worldline.rules.gathering import spoken_of, tally
from worldline.surfaces.cli import main
from worldline.testing import FrozenClock

PLAIN = Config(embedder="none", understand="off")
NIGHT = ["surprise", "chains", "grounding", "infer", "profiles"]
SAID = [
    ("2026-01-05T10:00", "winter", "Ana", "I lost my job at the mill."),
    ("2026-01-05T10:01", "winter", "Ben", "Oh no!!! That is BAD!!!"),
    ("2026-01-05T10:02", "winter", "Ana", "We gave up the garden because I lost my job at the mill."),
    ("2026-01-05T10:03", "winter", "Ben", "WOW!!! So sorry!!!"),
    ("2026-03-01T18:00", "spring", "Ana", "I moved to Porto last week, because we gave up the garden."),
    ("2026-03-01T18:01", "spring", "Ben", "GREAT!!! Kate and Tom are there too!!!"),
    ("2026-03-02T09:00", "spring", "Ana", "Kate came by, with my sister Ida."),
]


def talk(memory, said=SAID):
    """A conversation, told turn by turn."""
    for at, session, who, text in said:
        memory.remember(text, speaker=who, session=session, said_at=at)


@pytest.fixture
def clock():
    """The first of June."""
    return FrozenClock("2026-06-01")


@pytest.fixture
def memory(clock):
    """The conversation, not slept over yet."""
    with Memory.open(":memory:", PLAIN, clock=clock) as opened:
        talk(opened)
        yield opened


def rows(memory):
    """The rows that sleep keeps of people."""
    return memory.handle.store.query(
        "SELECT speaker, scope, body, style FROM profiles ORDER BY speaker, scope"
    )


def kinds(memory, name="Ana"):
    """The landmarks in a profile."""
    return [one.kind for one in memory.profile(name).landmarks]


def chains(memory, name="Ana"):
    """The chains in a profile, as text."""
    return [" > ".join(one.steps) for one in memory.profile(name).chains]


def turn(memory, text):
    """The turn that says this."""
    return next(node for node in memory.list("Turn").items if node.content.startswith(text))


# A profile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slept", [False, True])
def test_who_somebody_is(memory, slept):
    """Counts, style, relations and landmarks are the same before the first night and after it."""
    if slept:
        memory.consolidate(NIGHT)
    ana = memory.profile("ana")

    assert (ana.name, ana.turns) == ("Ana", 4)
    assert [one.kind for one in ana.landmarks] == ["job", "job", "move"]
    assert {one.name: (one.talks, one.together) for one in ana.relations}["Ben"] == (5, 0)
    assert ana.style is not None
    assert ana.style.alike == "ben"
    assert memory.profile("Ben").style.habits["!"] > 1


def test_a_landmark_is_dated_by_its_own_words(memory):
    """ "Last week" is counted from the day it was said, and the turn is the evidence."""
    (move,) = [one for one in memory.profile("Ana").landmarks if one.kind == "move"]

    assert memory.get(move.evidence).content.startswith("I moved to Porto")
    assert move.happened < move.said_at


def test_what_is_kept_in_mind_of_landmarks_goes_with_their_text(memory):
    """Landmarks are read once a text, are told alike the second time, and are forgotten with what was forgotten."""
    talk(memory)
    first = memory.profile("Ana")
    held = dict(memory.handle.store.landmarks)
    assert {mark.evidence for mark in first.landmarks} <= {id_ for id_, _ in held}
    assert memory.profile("Ana") == first
    assert memory.handle.store.landmarks == held
    memory.forget(first.landmarks[0].evidence, confirm=True)
    assert memory.handle.store.landmarks == {}
    assert first.landmarks[0] not in memory.profile("Ana").landmarks


def test_people_who_are_only_spoken_of(memory):
    """Relations name who is mentioned with whom, how often, and when last."""
    memory.consolidate(NIGHT)
    ana = {one.name: one for one in memory.profile("Ana").relations}

    assert ana["Kate"].mentions == 1
    assert ana["Ida"].evidence == turn(memory, "Kate came by").id
    with pytest.raises(NotFound):
        memory.profile("Kate")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Will you come to Paris with Ben?", ("ben",)),
        ("I think Will and Rose came", ("rose", "will")),
        ("Don't tell my brother Zorro", ("zorro",)),
        ("a rose is a rose", ()),
        ("We came here last June, on 3 June 2021, and left before June", ()),
        ("I had dinner with June last week", ("june",)),
        ("Ask my friend June, who came in June", ("june",)),
        ("", ()),
    ],
)
def test_names_and_words_that_look_like_names(text, names):
    """A name that is a word too counts only inside a sentence, and never as a date; a role makes any word a name."""
    assert spoken_of(text) == names


def test_attributes_are_those_of_the_moment(clock):
    """What is believed of somebody comes from the view: its valid time, its known time."""
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        memory.fact(Fact("Ana", "lives in", "Oslo", valid_from="2026-01-01", functional=True))
        clock.advance(1000)
        before = clock()
        clock.advance(1000)
        memory.fact(Fact("Ana", "lives in", "Porto", valid_from="2026-04-01", functional=True))

        def homes(seen):
            return [one.text for one in seen.profile("Ana").attributes]

        assert homes(memory) == ["Ana lives in Porto"]
        assert homes(memory.at(valid="2026-02-01")) == ["Ana lives in Oslo"]
        assert homes(memory.at(known=before)) == ["Ana lives in Oslo"]


def test_a_wrong_name_is_answered_with_near_ones(memory):
    """Nobody is made up; the error names who may be meant."""
    with pytest.raises(NotFound, match="did you mean Ana"):
        memory.profile("Anna")
    with pytest.raises(NotFound, match=r"nobody here is called 'Zebediah'$"):
        memory.profile("Zebediah")
    with pytest.raises(NotFound):
        memory.profile("0123456789abcdef")


def test_by_entity(memory):
    """An entity, by value or by id, is its name."""
    memory.fact(Fact("Ana", "lives in", "Porto"))
    entity = next(node for node in memory.list("Entity").items if node.name == "Ana")

    assert memory.profile(entity).turns == memory.profile(entity.id).turns == 4
    with pytest.raises(NotFound, match="of a person"):
        memory.profile(memory.note("context", "Plan", "swim"))


# Time, scope, world ----------------------------------------------------------------------------------


def test_evidence_that_is_given_up_disappears(memory):
    """Retired, corrected and quarantined turns leave the profile, at once and for every night after."""
    memory.consolidate(NIGHT)
    moved, lost = turn(memory, "I moved to Porto"), turn(memory, "I lost my job")

    before = memory.quarantine(moved, "a rumour").known_at - 1
    assert kinds(memory) == ["job", "job"]
    memory.correct(turn(memory, "We gave up the garden because"), content="We gave up the garden in winter.")
    assert kinds(memory) == ["job"]
    memory.retire(lost)
    assert kinds(memory) == []
    assert chains(memory) == []
    memory.consolidate(NIGHT)

    assert kinds(memory) == []
    assert memory.profile("Ana").turns == 2
    assert memory.at(known=before).profile("Ana").turns == 4


def test_others_are_nobody_here(clock):
    """One user's people, and even their names, are unknown to another."""
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        mine, yours = memory.scoped(user="m"), memory.scoped(user="y")
        talk(mine)
        yours.remember("I sold my car!", speaker="Anabel", session="s", said_at="2026-02-01")
        memory.consolidate(NIGHT)

        assert kinds(mine) == ["job", "job", "move"]
        assert kinds(yours, "Anabel") == ["purchase"]
        with pytest.raises(NotFound) as told:
            yours.profile("Ana")
        assert str(told.value) == "nobody here is called 'Ana'; did you mean Anabel?"
        assert memory.profile("Ana").turns == 4
        assert [one.turns for one in yours.episodes()] == [1]


def test_a_world_shows_its_own(memory):
    """Inside a session only its turns count."""
    memory.consolidate(NIGHT)
    (spring,) = [node for node in memory.list("Session").items if node.name == "spring"]
    inside = memory.enter(spring)

    assert inside.profile("Ana").turns == 2
    assert kinds(inside) == ["move"]
    assert chains(inside) == ["Ana: we gave up the garden > Ana: I moved to porto last week"]


def test_a_run_shows_its_own(clock):
    """A profile seen from one run of a user counts that run only."""
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        for run, text in (("a", "I moved to Porto."), ("b", "I got married.")):
            memory.scoped(user="u", run=run).remember(text, speaker="Ana", said_at="2026-02-01")
        memory.consolidate(NIGHT)

        assert sorted(kinds(memory.scoped(user="u"))) == ["marriage", "move"]
        assert kinds(memory.scoped(user="u", run="b")) == ["marriage"]


# Nights ----------------------------------------------------------------------------------------------


def test_a_second_night_changes_nothing(memory):
    """Rows, happenings and the log stay as they are, a hundred nights long."""
    memory.consolidate(NIGHT)
    held, log = rows(memory), memory.handle.store.query("SELECT count(*) FROM log")
    for _ in range(100):
        assert not memory.consolidate(NIGHT).changed

    assert rows(memory) == held
    assert memory.handle.store.query("SELECT count(*) FROM log") == log
    assert memory.verify().ok


@pytest.mark.parametrize("seed", range(4))
def test_many_short_nights_are_one_long_night(clock, seed):
    """Turn by turn, with corrections on the way, the rows become those of a single count at the end."""
    chance = random.Random(seed)
    with (
        Memory.open(":memory:", PLAIN, clock=clock) as often,
        Memory.open(":memory:", PLAIN, clock=clock) as once,
    ):
        for at, session, who, text in [*SAID, *[(a, s + "!", w, t + "!") for a, s, w, t in SAID]]:
            for memory in (often, once):
                memory.remember(text, speaker=who, session=session, said_at=at)
            if chance.random() < 0.4:
                chosen = chance.choice(often.list("Turn").items)
                for memory in (often, once):
                    memory.correct(memory.get(chosen.id), content=f"{chosen.content} Kate won the race.")
            if chance.random() < 0.3:
                chosen = chance.choice(often.list("Turn").items)
                for memory in (often, once):
                    memory.retire(memory.get(chosen.id))
            often.consolidate(["profiles"])
        once.consolidate(["profiles"])
        loose = [
            [tuple(json.loads(body).items()) for _, _, body, _ in rows(memory)] for memory in (often, once)
        ]

        assert [[k for k, _ in row] for row in loose[0]] == [[k for k, _ in row] for row in loose[1]]
        assert [[counts(v) for _, v in row] for row in loose[0]] == [
            [counts(v) for _, v in row] for row in loose[1]
        ]
        assert [row[3] for row in rows(often)] == [row[3] for row in rows(once)]


def counts(value):
    """A row's value without lineages, which differ between two stores."""
    if isinstance(value, dict):
        return {name: counts(one) for name, one in value.items()}
    if isinstance(value, list):
        return (
            len(value)
            if value and isinstance(value[0], list)
            else value[:2]
            if len(value) == 3
            else len(value)
        )
    return value if not isinstance(value, int) or value < 1000 else 0


def test_a_turn_of_tomorrow_waits_for_its_day(memory, clock):
    """What is dated ahead is counted when its time has come, though nothing new was said."""
    memory.remember("I got married!", speaker="Ana", session="s", said_at="2026-07-01")
    memory.consolidate(NIGHT)
    assert memory.profile("Ana").turns == 4
    clock.set("2026-07-02")
    memory.consolidate(NIGHT)

    assert memory.profile("Ana").turns == 5
    assert kinds(memory)[-1] == "marriage"
    assert json.loads(rows(memory)[0][2])["turns"] == 5


def test_the_weightiest_landmarks_lead(clock, monkeypatch):
    """Where more befell somebody than is shown, the weightiest of all are, though lighter ones are not read."""
    events = ("I visited Oslo.", "I got married!", "I lost my job.", "I bought a house.", "We had a baby.")
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        for day in range(1, 29):
            text = f"{events[day % 5]} It was day {day}."
            memory.remember(text, speaker="Ana", session="s", said_at=f"2026-02-{day:02}")
        everything = memory.profile("Ana").landmarks
        monkeypatch.setattr(profiling, "LANDMARKS", 4)
        best = sorted(everything, key=lambda one: (-one.weight, -one.happened))[:4]

        assert len(everything) == 28
        assert set(memory.profile("Ana").landmarks) == set(best)


# By day ------------------------------------------------------------------------------------------------


def counted_anew(memory):
    """The rows as one night makes them that knows of none before."""
    store = memory.handle.store
    with memory.handle.writing():
        for table in ("profiles", "sleep"):
            store.execute(f"DELETE FROM {table} WHERE tenant = :t", {"t": memory.handle.tenant_row().id})
    memory.consolidate(["profiles"])
    return rows(memory)


def live(memory, chance):
    """Something that happens to a memory: a correction, an end, an undoing, a forgetting."""
    chosen = chance.choice(memory.list("Turn").items)
    what = chance.randrange(5)
    if what == 0:
        memory.correct(chosen, content=f"{chosen.content} Kate won the race.")
    elif what == 1:
        memory.retire(chosen)
    elif what == 2:
        memory.undo(memory.quarantine(chosen, "a rumour"))
    elif what == 3:
        memory.forget(chosen, confirm=True)


@pytest.mark.parametrize("seed", range(4))
def test_rows_kept_by_day_are_those_of_a_whole_count(clock, monkeypatch, seed):
    """Whatever is corrected, ended, undone or forgotten between, after the next text the rows are a night's."""
    monkeypatch.setattr(worldline.memory, "_SELDOM", 0)
    chance = random.Random(seed)
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        for user in ("m", "y"):
            talk(memory.scoped(user=user))
        for number, (at, session, who, text) in enumerate(SAID):
            mine = memory.scoped(user=chance.choice("my"), run=chance.choice((None, "r")))
            live(mine if mine.list("Turn").items else memory, chance)
            for user in ("m", "y"):
                memory.scoped(user=user).remember(
                    f"{text} {number}", speaker=who, session=session, said_at=at
                )
        kept = rows(memory)

        assert {row[0] for row in kept} == {"ana", "ben"}
        assert kept == counted_anew(memory)
        assert memory.verify().ok


def test_a_profile_counts_few_texts_itself(clock, monkeypatch):
    """Of three hundred texts that nobody has slept over, all but the last few are counted already."""
    looked = []
    monkeypatch.setattr(profiling, "tally", lambda said: looked.extend(said) or tally(said))
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        for start in range(0, 300, 10):
            said = [
                {"name": "Ana", "content": f"I walked {n} miles.", "said_at": n}
                for n in range(start, start + 10)
            ]
            memory.remember(messages=said, session=f"s{start}")
        found = memory.profile("Ana")

        assert found.turns == 300
        assert len(looked) < 150


def test_who_lags_far_behind_is_left_to_a_night(memory, monkeypatch):
    """Where much is new, no text waits until all of it is counted."""
    monkeypatch.setattr(worldline.memory, "_SELDOM", 0)
    monkeypatch.setattr(run, "_BEHIND", 3)
    memory.remember("Kate came by.", speaker="Ana", session="spring", said_at="2026-03-02T10:00")

    assert rows(memory) == []
    assert memory.profile("Ana").turns == 5


def test_what_is_dated_ahead_is_left_to_a_night(memory, clock, monkeypatch):
    """Much that is said ahead of the clock is not looked at again with every text; a night counts it in its time."""
    looked = []
    ahead = weight.not_yet
    monkeypatch.setattr(worldline.memory, "_SELDOM", 0)
    monkeypatch.setattr(
        weight, "not_yet", lambda view, lines: looked.append(len(lines)) or ahead(view, lines)
    )
    monkeypatch.setattr(run, "_BEHIND", 20)
    for number in range(60):
        memory.remember(f"I walk {number} miles.", speaker="Ana", session="later", said_at="2027-01-01")

    assert max(looked) <= 25
    clock.set("2027-02-01")
    memory.consolidate(NIGHT)
    assert rows(memory) == counted_anew(memory)
    assert memory.profile("Ana").turns == 64


def test_recall_weighs_profiles_from_the_first_night_on(memory, monkeypatch):
    """Rows that are kept by day change no recall."""
    when = "When did Ana move to Porto?"
    before = memory.recall(when)
    monkeypatch.setattr(worldline.memory, "_SELDOM", 0)
    memory.remember("Well.", speaker="Zed", session="other", said_at="2026-03-03")

    assert rows(memory)
    assert [hit.factors for hit in memory.recall(when).hits[:3]] == [hit.factors for hit in before.hits[:3]]
    assert "profile" not in factors(memory.recall(when))


# Causes ----------------------------------------------------------------------------------------------


def test_causes_join_into_a_chain(memory):
    """What one turn calls an effect and another a cause is one happening; each step has its turn."""
    memory.consolidate(NIGHT)
    (chain,) = memory.profile("Ana").chains

    assert chain.steps == (
        "Ana: I lost my job at the mill", "Ana: we gave up the garden", "Ana: I moved to porto last week",
    )  # fmt: skip
    assert [memory.get(id_).name for id_ in chain.evidence] == ["Ana", "Ana"]
    happening = next(node for node in memory.list("Happening").items if "garden" in node.name)
    assert happening.metadata == {"made_by": "sleep"}
    assert {node.content[:14] for node in memory.why(happening).events} == {
        "We gave up the",
        "I moved to Por",
    }


def test_happenings_do_not_compete_with_words(memory):
    """Recall finds the turn that says it, never the clause that sleep cut out of it."""
    memory.consolidate(NIGHT)

    found = memory.recall("Why did Ana give up the garden?", limit=20)
    assert {hit.node.type for hit in found.hits} == {"Turn"}


def test_a_cause_that_nobody_states_any_more_is_withdrawn(memory):
    """Correcting the turn ends the edge, though both happenings may still be told elsewhere."""
    memory.remember("The mill closed, so I lost my job at the mill.", speaker="Ana", said_at="2026-03-03")
    memory.consolidate(NIGHT)
    memory.correct(turn(memory, "The mill closed"), content="The mill closed at noon.")
    memory.consolidate(NIGHT)

    assert chains(memory) == [
        "Ana: I lost my job at the mill > Ana: we gave up the garden > Ana: I moved to porto last week"
    ]


# Recall ------------------------------------------------------------------------------------------------


def factors(found):
    """The names of all factors."""
    return {name for hit in found.hits for name in hit.factors}


def test_what_sleep_found_is_weighed_by_recall(memory):
    """Landmarks weigh for "when", causes for "why", the profile lane for people; each can be left out."""
    when, why = "When did Ana move to Porto?", "Why did Ana give up the garden?"
    assert not {"landmark", "cause", "profile"} & (factors(memory.recall(when)) | factors(memory.recall(why)))
    memory.consolidate(NIGHT)

    assert {"landmark", "profile"} <= factors(memory.recall(when))
    assert "cause" in factors(memory.recall(why))
    assert "cause" not in factors(memory.recall(when))
    assert "landmark" not in factors(memory.recall(why))
    assert "profile" not in factors(memory.recall(when, without=("profile",)))
    assert "landmark" not in factors(memory.recall(when, without=("landmark",)))


def test_a_landmark_is_found_without_its_words(memory):
    """A question about a job finds whoever lost one, although it shares no word with the question."""
    memory.consolidate(NIGHT)
    found = memory.recall("What happened in Ana's career?", limit=20)

    assert any("profile" in hit.lanes for hit in found.hits)


# The timeline -------------------------------------------------------------------------------------------


def test_the_timeline_flags_landmarks_and_causes(memory):
    """A turning point is flagged, and what is said to have caused what is told."""
    found = {one.node.content: one for one in memory.timeline("garden Porto")}

    assert found[SAID[4][3]].landmark == "move"
    assert found[SAID[2][3]].causes == ("I lost my job at the mill → We gave up the garden",)


# Episodes ------------------------------------------------------------------------------------------------


def test_a_pause_of_six_hours_parts_episodes(memory):
    """Sessions do not matter, pauses do; a stretch says who, how much, and what about."""
    memory.remember("Good evening, Porto!", speaker="Ana", session="other", said_at="2026-03-01T23:59")
    memory.consolidate(NIGHT)
    winter, evening, morning = memory.episodes()

    assert (winter.turns, evening.turns, morning.turns) == (4, 3, 1)
    assert evening.sessions == ("spring", "other")
    assert evening.who == {"Ana": 2, "Ben": 1}
    assert [one.kind for one in winter.landmarks] == ["job", "job"]
    assert "job" in winter.title or "mill" in winter.title
    assert memory.get(winter.opens).content == SAID[0][3]


def test_a_window_of_episodes(memory):
    """Only the newest within the window, oldest of them first; and what was said, if that is asked for."""
    assert [one.turns for one in memory.episodes("2026-02-01", "2026-03-02")] == [2]
    assert [one.turns for one in memory.episodes(limit=1)] == [1]
    assert [node.content for node in memory.episodes(limit=1, read=True)[0].texts] == [SAID[-1][3]]
    assert memory.episodes("2020-01-01", "2020-02-01") == ()
    assert [one.turns for one in memory.at(valid="2026-02-01").episodes()] == [4]
    with pytest.raises(InvalidInput):
        memory.episodes(limit=0)


def test_whom_unsigned_turns_sound_like(clock):
    """Turns without a sender are said to sound like the one whose style is clearly nearest."""
    loud, shy = "WOW!!! That is SO {}!!! LOVE it!!!", "hm... i guess it is {}... maybe, not sure..."
    things = "great nice fine cool odd warm".split()
    with Memory.open(":memory:", PLAIN, clock=clock) as memory:
        for hour, thing in enumerate(things):
            at = f"2026-01-01T0{hour}:00"
            memory.remember(loud.format(thing), speaker="Ben", session="s", said_at=at)
            memory.remember(shy.format(thing), speaker="Ana", session="s", said_at=at)
            memory.remember(loud.format(thing[::-1]), session="t", said_at=f"2026-02-01T0{hour}:00")
        memory.consolidate(NIGHT)

        assert [one.sounds_like for one in memory.episodes()] == [None, "ben"]


# The shell ------------------------------------------------------------------------------------------------


def test_from_the_shell(tmp_path):
    """`profile` and `episodes` tell it in lines, and whole as JSON; a wrong name is one line."""
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN) as memory:
        talk(memory)
        memory.consolidate(NIGHT)

    def shell(*args, code=0):
        done = CliRunner().invoke(main, [*args, "--db", str(path)])
        assert done.exit_code == code, done.output
        return done.output

    assert "landmarks" in shell("profile", "Ana")
    assert "Ana: we gave up the garden" in shell("profile", "Ana")
    assert json.loads(shell("profile", "Ana", "--json"))["landmarks"][0]["happened"].startswith("2026-01-05")
    assert "4 turns (Ana 2, Ben 2)" in shell("episodes", "--to", "2026-02-01")
    assert "I lost my job" in shell("episodes", "--to", "2026-02-01", "--read")
    assert json.loads(shell("episodes", "--json"))[0]["turns"] == 4
    assert "nobody has talked then" in shell("episodes", "--to", "2020-01-01")
    assert "* move" in shell("timeline", "Porto")
    assert "did you mean Ana" in shell("profile", "Anna", code=1)
