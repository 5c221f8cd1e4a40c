"""From what is said to what is believed, end to end: slots, evidence, authority, scopes, time, crashes."""

from __future__ import annotations

import pytest

from worldline import Config, Event, Fact, Memory, Predicate
from worldline.testing import FrozenClock
from worldline.write import remember as remembering

DAY = 86_400_000_000
PLAIN = Config(embedder="none")


class Talk:
    """One person talking to a memory, a day between two messages."""

    def __init__(self, config: Config = PLAIN, path: str = ":memory:") -> None:
        self.clock = FrozenClock("2026-03-01")
        self.memory = Memory.open(path, config, clock=self.clock)

    def say(self, text: str, speaker: str = "Ana", memory: Memory | None = None, **more):
        self.clock.advance(DAY)
        return (memory or self.memory).remember(text, speaker=speaker, said_at=self.clock(), **more)

    def believed(self, memory: Memory | None = None, **more) -> set[str]:
        return {node.content for node in (memory or self.memory).list("Fact", limit=500, **more).items}


@pytest.fixture
def talk():
    """A talk in memory."""
    made = Talk()
    yield made
    made.memory.close()


# What is on a day --------------------------------------------------------------------------------------


APPOINTMENTS = [
    ("My dentist appointment is on 3 May.", "The dentist moved me to 10 May.",
     "Ana's dentist appointment was moved to 10 May"),
    ("I have a vet appointment on 3 May.", "The vet has moved us to 5 May.",
     "Ana's vet appointment was moved to 5 May"),
    ("My physio session is on Thursday.", "My physio rescheduled me for Monday.",
     "Ana's physio appointment was rescheduled for Monday"),
    ("I have a dentist appointment on 3 May.", "They cancelled my dentist appointment.", ""),
    ("I have an eye test on 8 May.", "I had to cancel my eye test.", ""),
    ("My haircut is on 4 May at 10.", "My haircut was cancelled.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("planned", "news", "instead"), APPOINTMENTS)
def test_an_appointment_that_is_moved_or_cancelled_is_not_believed_any_more(talk, planned, news, instead):
    """However it was told of and whoever moves it, also while its day is still to come."""
    talk.say(planned)
    on_the_day = talk.memory.at(valid="2026-12-01")
    first = talk.believed(on_the_day)
    talk.say(news)

    left = talk.believed(on_the_day)
    assert first
    assert first.isdisjoint(left)
    assert left.issuperset({instead} - {""})


def test_one_appointment_does_not_take_the_place_of_another(talk):
    """Of appointments one has several."""
    talk.say("I have a dentist appointment on 3 May.")
    talk.say("My vet appointment is on 5 May.")

    left = talk.believed(talk.memory.at(valid="2026-12-01"))
    assert left == {"Ana has dentist appointment on 3 May", "Ana's vet appointment is on 5 May"}


# What is still to come -------------------------------------------------------------------------------


ANNOUNCED = [
    ("I live in Porto.", "I'm moving to Madrid in June.", "Where do I live?", "Porto"),
    ("I live in Porto.", "I'm going to move to Madrid.", "Where do I live?", "Porto"),
    ("I work at Siemens.", "I'll be starting at Bosch on 1 May.", "Where do I work?", "Siemens"),
    ("Tom leads the search team.", "Priya takes over the search team in April.", "Who leads the search team?", "Tom"),
    ("Tom leads the search team.", "Priya will take over the search team.", "Who leads the search team?", "Tom"),
    ("Dave is my manager.", "Lena will be my manager.", "Who is my manager?", "Dave"),
    ("My rent is 900 euros.", "My rent goes up to 980 in May.", "How much is my rent?", "900 euros"),
]  # fmt: skip


@pytest.mark.parametrize(("now", "later", "question", "answer"), ANNOUNCED)
def test_what_is_announced_waits(talk, now, later, question, answer):
    """What holds goes on holding, and is the answer, until the day for which something else was announced."""
    mine = talk.memory.scoped(user="Ana")
    talk.say(now, memory=mine)
    held = talk.believed(mine)
    talk.say(later, memory=mine)

    assert held <= talk.believed(mine)
    assert mine.recall(question).answer == answer


def test_what_is_announced_for_a_day_holds_from_it_on(talk):
    """The day comes by itself: nobody has to say again what was said, and a question about later is answered so."""
    mine = talk.memory.scoped(user="Ana")
    talk.say("I live in Porto.", memory=mine)
    receipt = talk.say("I'm moving to Madrid in June.", memory=mine)

    assert receipt.changes[0].endswith("this is the later one, from 2026-06-01 on")
    assert mine.recall("Where will I live in July?").answer == "Madrid"
    talk.clock.advance(120 * DAY)
    assert talk.believed(mine) == {"Ana lives in Madrid"}
    assert mine.recall("Where do I live?").answer == "Madrid"


def test_a_plan_without_a_day_is_believed_as_a_plan(talk):
    """It is kept beside what holds, reads as what is to come, and takes its place once it is said to be so."""
    talk.say("Rosa lives in Berlin.")
    receipt = talk.say("Rosa is going to relocate to Lisbon after the summer.")

    assert talk.believed() == {"Rosa lives in Berlin", "Rosa will live in Lisbon"}
    assert any("what holds stays until then" in change for change in receipt.changes)
    talk.say("Rosa lives in Lisbon now.")
    assert "Rosa lives in Berlin" not in talk.believed()


def test_what_is_and_what_will_be_may_be_said_in_one_breath(talk):
    """Whichever comes first in the sentence, what is so now holds and the other is a plan."""
    mine = talk.memory.scoped(user="Ana")
    talk.say("Lena will be my new manager, Dave is my manager for now.", memory=mine)

    assert mine.recall("Who is my manager?").answer == "Dave"
    assert mine.conflicts() == ()


def test_when_an_event_will_be_is_no_plan_beside_another(talk):
    """The date of what is to come anyway changes at once."""
    talk.say("The launch is on 12 May.")
    talk.say("The launch will be moved to 19 May.")

    assert talk.memory.recall("When is the launch?").answer == "19 May 2026"


def test_of_each_medicine_there_is_one_dose(talk):
    """Another dose takes the place of the former one, another medicine stands beside it."""
    mine = talk.memory.scoped(user="Ana")
    talk.say("I take 50 mg of sertraline.", memory=mine)
    talk.say("I'm on 75 mg of sertraline.", memory=mine)
    talk.say("I take 10 mg of melatonin.", memory=mine)

    assert talk.believed(mine) == {"Ana is on 75 mg of sertraline", "Ana takes 10 mg of melatonin"}
    assert mine.recall("How much sertraline do I take?").answer == "75 mg"


@pytest.mark.parametrize(
    ("first", "then", "over"),
    [
        ("Dad works at the sorting office.", "Dad's retired!", "Dad works at sorting office"),
        ("Rasmus has the cellar key.", "Rasmus gave the cellar key to Mrs. Holm.", "Rasmus has cellar key"),
        ("Grandpa is in hospital.", "Grandpa came home from hospital.", "Grandpa is in hospital"),
        ("Biscuit sleeps in the kitchen.", "Biscuit sleeps in the hallway.", "Biscuit sleeps in kitchen"),
        ("The depot project is on hold.", "The depot project is running again.", "depot project is on hold"),
        ("We own a caravan.", "The caravan's sold.", "Ana owns caravan"),
        ("Freya earns 41,000 a year.", "Freya's salary was raised to 44,500.", "Freya earns 41,000 a year"),
        ("A day ticket costs £4.50.", "They have put the day ticket up to £5.20.", "day ticket costs £4.50"),
        (
            "Nils is the regatta secretary.",
            "Pia was voted in as regatta secretary.",
            "Nils is regatta secretary",
        ),
        ("Nils is the rowing treasurer.", "Pia is the new rowing treasurer.", "Nils is rowing treasurer"),
        ("Aunt Ida owns the mill.", "The mill belongs to two sisters now.", "Aunt Ida owns mill"),
        (
            "Olaf rents the boathouse.",
            "Olaf has moved out and a potter called Mika has the boathouse.",
            "Olaf rents boathouse",
        ),
        ("Nils does the harbour lamps.", "Pia does the harbour lamps now.", "Nils does harbour lamps"),
        (
            "The oars are behind the stove.",
            "I've hung the oars on a hook in the barn.",
            "oars are behind stove",
        ),
        (
            "My dentist is Mr Brandt.",
            "Mr Brandt has shut his practice, so I've signed up with Dr Okafor.",
            "Ana's dentist is Mr Brandt",
        ),
        (
            "My mobile contract is with Fjordtel.",
            "I switched my phone over to Hummel.",
            "Ana's mobile contract is with Fjordtel",
        ),
        (
            "The rowers meet at my house.",
            "My kitchen is too small for the rowers, so we now meet in the back of the inn.",
            "rowers meet at Ana's house",
        ),
        (
            "Nils's oboe teacher is Mr Brandt.",
            "Nils has a new oboe teacher, Miss Lund.",
            "Nils's oboe teacher is Mr Brandt",
        ),
        ("The ferry is out of order.", "The ferry has been mended.", "ferry is out of order"),
        (
            "I keep my savings with Anker Bank.",
            "I took everything out of Anker Bank.",
            "Ana keeps savings with Anker Bank",
        ),
        ("Pia is engaged to Nils.", "Pia got married to Nils on Saturday.", "Pia is engaged to Nils"),
    ],
)
def test_a_plain_change_is_noticed(talk, first, then, over):
    """Said in other words, what was so is over."""
    talk.say(first)
    assert over in talk.believed()
    talk.say(then)
    assert over not in talk.believed()


def test_time_that_is_given_is_another_deadline(talk):
    """ "We have until" tells a date; more weeks are no further thing."""
    talk.say("The harbour grant is due on 14 May.")
    done = talk.say("They've given us another week. We have until 21 May for the harbour grant.")
    assert any("harbour grant is due on 14 May: ends" in change for change in done.changes)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I live in Leeds.", "We bought a house in Crete."),
        ("I pay 640 in rent.", "When I took the flat in 2015, the rent was 410."),
        ("Zofia studies at Marlowe University.", "Zofia has changed a lot."),
        ("I work at Siemens.", "I quit smoking six weeks ago."),
        ("Geoff manages the warehouse.", "Geoff will retire before long and hand over to Kerry."),
        ("Nils is the regatta secretary.", "Pia was voted in as regatta treasurer."),
        ("Pia is the rowing treasurer.", "Pia was voted in as rowing treasurer again."),
        ("Nils owns a dinghy.", "Pia owns a dinghy now."),
        ("Nils has the flu.", "Pia has the flu now."),
        ("Aunt Ida owns the mill.", "A potter called Mika rents the mill now."),
        ("I keep my boat in the barn.", "My sister keeps her boat in the cove now."),
        ("Pia is learning the oboe.", "Pia has a new oboe teacher."),
        ("The rowing class costs £8 a week.", "The sailing class has gone up to £9.50."),
        ("The regatta has 48 boats.", "Back in 1998 the regatta had 90 boats."),
        ("The rowers meet at the inn.", "The rowers went to the town hall to see a show."),
        ("Pia's number is 01632 960155.", "Nils has changed his number to 01632 960299."),
        ("I work in the chandlery on Saturdays.", "I work in the library on Fridays now."),
        ("My dentist is Mr Brandt.", "My wife has signed up with Dr Okafor."),
        ("I work at Siemens.", "I've signed up with Dr Okafor."),
        ("I study at Ghent University.", "We're going to Lisbon this week."),
        ("I study at Ghent University.", "I moved up to Manchester."),
        ("I have a cat named Mia.", "My neighbour has a cat named Tom."),
        ("I have a boat called Gull.", "I have a boat called Tern."),
    ],
)
def test_what_only_sounds_like_a_change_ends_nothing(talk, first, then):
    """A house is bought to be owned, what was so once is no news, and whoever has changed studies where she did."""
    talk.say(first)
    held = talk.believed()
    talk.say(then)
    assert held <= talk.believed()


def test_a_speaker_without_a_name_is_not_his_own(talk):
    """What the user says of himself is the user's, and not the user's user's."""
    talk.say("I'm single.", speaker="user")

    assert talk.believed() == {"user is single"}


def test_actually_this_and_not_that_is_a_correction(talk):
    """Whoever says "actually A, not B" takes B back: it was never so."""
    talk.say("My dentist is Dr. Weber, on Hill Street.")
    receipt = talk.say("Actually, my dentist is Dr. Klein, not Dr. Weber.")

    assert any("it was wrong" in change for change in receipt.changes)
    assert "Ana's dentist is Dr. Klein" in talk.believed()


# What a message does to what is believed -------------------------------------------------------------


def test_a_change_closes_the_old_value_and_says_why(talk):
    """Moving ends the former home when it was said, and the receipt explains it."""
    talk.say("I live in Porto.")
    receipt = talk.say("I moved to Lisbon.")

    assert talk.believed() == {"Ana lives in Lisbon"}
    assert any("closes, there is one at a time" in change for change in receipt.changes)
    former = [n for n in talk.memory.list("Fact", include_superseded=True).items if "Porto" in n.content]
    assert [n.valid.end for n in former] == [talk.clock()]


@pytest.mark.parametrize(
    "again", ["I live in Porto.", "I still live in Porto today.", "I live in Porto this week."]
)
def test_said_again_it_moves_nothing(talk, again):
    """A repetition, dated or not, is more evidence for the one belief that there is."""
    talk.say("I live in Porto.")
    talk.clock.advance(29 * DAY)
    talk.say(again)

    (fact,) = talk.memory.list("Fact").items
    assert [v.change for v in talk.memory.history(fact)] == ["put"]
    assert {event.content for event in talk.memory.why(fact).events} == {"I live in Porto.", again}
    assert len(talk.memory.why(fact).events) == 2


@pytest.mark.parametrize("start", ["since March 20, 2026", "since last week"])
def test_a_start_that_is_said_revises(talk, start):
    """Only words that say when it began move the beginning of a belief."""
    talk.say("I live in Porto.")
    first = talk.clock()
    talk.clock.advance(29 * DAY)
    talk.say(f"I live in Porto {start}.")

    (fact,) = talk.memory.list("Fact").items
    assert fact.valid.start > first
    assert [v.change for v in talk.memory.history(fact)] == ["put", "corrected"]


def test_parents_are_two(talk):
    """Two values in one breath are no contradiction, and another message may name them again."""
    receipt = talk.say("My parents are Hans and Greta.")
    talk.say("Greta and Hans are my parents.")

    assert talk.believed() == {"Ana's parents are Hans", "Ana's parents are Greta"}
    assert not any("contradicts" in change for change in receipt.changes)


def test_what_happened_adds(talk):
    """One journey does not end another one."""
    talk.say("I visited Rome.")
    receipt = talk.say("I visited Oslo.")

    assert talk.believed() == {"Ana visited Rome", "Ana visited Oslo"}
    assert any("believed too" in change for change in receipt.changes)


def test_a_count_becomes_a_series(talk):
    """Readings stand beside each other; none ends another."""
    talk.say("My weight is 88 kg.")
    receipt = talk.say("My weight is 86 kg.")

    assert talk.believed() == {"Ana's weight is 88 kg", "Ana's weight is 86 kg"}
    assert any("series" in change for change in receipt.changes)


def test_what_is_over_ends_and_nothing_begins(talk):
    """ "No longer" ends what it names and believes nothing new."""
    talk.say("I work at Siemens.")
    receipt = talk.say("I no longer work at Siemens.")

    assert talk.believed() == set()
    assert any("the text says that it is over" in change for change in receipt.changes)


def test_a_switch_closes_what_it_names(talk):
    """ "From A to B" ends A and opens B."""
    talk.say("I switched from Jira to Linear.")
    talk.say("I switched from Linear to Notion.")

    assert talk.believed() == {"Ana switched to Notion"}


def test_a_repetition_adds_evidence_only(talk):
    """The same said twice is one fact with two witnesses."""
    first = talk.say("I live in Porto.")
    second = talk.say("I live in Porto.")

    (fact,) = talk.memory.list("Fact").items
    assert {e.dst for e in talk.memory.walk(fact, "derived_from", way="out").edges} == {first.id, second.id}


def test_records_reconcile(talk):
    """Bare relation sentences hold one value a slot, whatever their wording."""
    for line in ("The capital of Freedonia is Marxville.", "Freedonia's capital is Sylvan."):
        talk.say(line, speaker="")

    assert len(talk.believed()) == 1
    assert talk.memory.walk_answer("What is the capital of Freedonia?").chains[0].name == "Sylvan"


# Evidence and undoing --------------------------------------------------------------------------------


def test_every_fact_cites_its_event_and_its_characters(talk):
    """From each fact an edge leads to the event, with the span of the words it came from."""
    text = "We had soup. I live in Porto, and my sister Marta lives in Faro."
    receipt = talk.say(text)

    facts = talk.memory.list("Fact").items
    assert len(facts) >= 2
    for fact in facts:
        (edge,) = talk.memory.walk(fact, "derived_from", way="out").edges
        assert edge.dst == receipt.id
        quoted = text[edge.metadata["start"] : edge.metadata["end"]]
        assert fact.content.split()[-1] in quoted


def test_why_leads_to_the_words(talk):
    """The reason of a belief ends in the verbatim event."""
    talk.say("I live in Porto.")
    (fact,) = talk.memory.list("Fact").items

    assert "I live in Porto." in str(talk.memory.why(fact))


def test_undo_takes_the_facts_back(talk):
    """Undoing a remember gives up its words and facts, and what it had ended holds again."""
    talk.say("I live in Porto.")
    receipt = talk.say("I moved to Lisbon.")
    talk.memory.undo(receipt)

    assert talk.believed() == {"Ana lives in Porto"}
    assert talk.memory.recall("Lisbon").hits == ()


def test_twice_is_once_with_facts(talk):
    """The same event again changes nothing, and its facts are not doubled."""
    event = Event("I live in Porto.", "Ana", "2026-01-02")
    assert talk.memory.remember(event).changed
    again = talk.memory.remember(event)

    assert not again.changed
    assert talk.believed() == {"Ana lives in Porto"}


def test_a_dry_run_believes_nothing(talk):
    """A dry run stores neither words nor facts."""
    talk.memory.remember("I live in Porto.", speaker="Ana", dry_run=True)

    assert talk.believed() == set()


# Who may see and close what --------------------------------------------------------------------------


def test_scopes_share_nothing(talk):
    """Facts, entities and walks of one user are invisible to another, and neither closes the other's."""
    mine, yours = talk.memory.scoped(user="a"), talk.memory.scoped(user="b")
    talk.say("The capital of Freedonia is Marxville.", "", mine)
    talk.say("The capital of Freedonia is Sylvan.", "", yours)

    question = "What is the capital of Freedonia?"
    assert [c.name for c in mine.walk_answer(question).chains] == ["Marxville"]
    assert [c.name for c in yours.walk_answer(question).chains] == ["Sylvan"]
    assert talk.memory.scoped(user="c").walk_answer(question).chains == ()
    assert talk.memory.scoped(user="c").recall(question).facts == ()


def test_proposals_belong_to_their_scope(talk):
    """The same two names in two scopes are two proposals, each for its owner to decide."""
    for user in ("a", "b"):
        for name in ("Robert Smith", "Bob Smith"):
            talk.say(f"{name} was born in the city of Faro.", "", talk.memory.scoped(user=user))
    first, second = (talk.memory.scoped(user=user).merges() for user in ("a", "b"))

    assert len(first) == len(second) == 1
    assert first[0].id != second[0].id
    talk.memory.scoped(user="a").accept_merge(first[0])
    assert [p.status for p in talk.memory.scoped(user="b").merges()] == ["pending"]


def test_worlds_share_nothing(talk):
    """What is said inside a world is neither believed nor walked outside it, nor the other way round."""
    inside = talk.memory.enter(talk.memory.note("project", "Apollo").id)
    talk.say("The capital of Freedonia is Marxville.", "", inside)
    talk.say("The director of Acme Works is Ana Lopes.", "")

    assert inside.walk_answer("What is the capital of Freedonia?").chains[0].name == "Marxville"
    assert inside.walk_answer("Who is the director of Acme Works?").chains == ()
    assert talk.believed(inside) == {"Freedonia's capital is Marxville"}


def test_given_facts_outrank_what_is_said(talk):
    """What was given directly is not ended by words; both stay and contradict each other."""
    talk.memory.register(Predicate("capit|of", functional=True))
    talk.memory.fact(Fact("Freedonia", "capit|of", "Marxville"))
    receipt = talk.say("The capital of Freedonia is Sylvan.", "")

    assert any("higher authority" in change for change in receipt.changes)
    assert len(talk.believed()) == 2


def test_an_assistant_is_no_witness(talk):
    """What an assistant says about the world is kept as words and not believed."""
    talk.memory.remember(messages=[{"role": "assistant", "content": "The capital of Freedonia is Sylvan."}])

    assert talk.believed() == set()


def test_doubt_is_quarantined_and_confirmed():
    """Below its predicate's threshold a fact is kept aside with the reason, until it is confirmed."""
    talk = Talk(Config(embedder="none", default_confidence=0.99))
    talk.say("I live in Porto.")
    assert talk.believed() == set()
    assert talk.memory.recall("Where does Ana live?").answer is None

    (aside,) = _quarantined(talk.memory)
    assert "below 0.99" in (aside.reason or "")
    talk.memory.confirm(aside)
    assert talk.believed() == {"Ana lives in Porto"}


def _quarantined(memory: Memory):
    rows = memory.handle.store.query("SELECT hash FROM nodes WHERE type = 'Fact'")
    return [memory.get(row[0].hex(), exact=True) for row in rows]


# Time ------------------------------------------------------------------------------------------------


def test_the_walk_looks_from_any_moment(talk):
    """Walks and facts at a past moment are those of that moment, on either axis."""
    then = talk.say("The capital of Freedonia is Marxville.", "").known_at
    talk.say("The capital of Freedonia is Sylvan.", "")
    question = "What is the capital of Freedonia?"

    for past in (talk.memory.at(as_of=then), talk.memory.at(valid=then), talk.memory.at(known=then)):
        assert past.walk_answer(question).chains[0].name == "Marxville"
        assert past.recall(question).answer == "Marxville"
    now = talk.memory.recall(question)
    assert now.answer == "Sylvan"
    assert not any("Marxville" in fact.text for fact in now.facts)


def test_relative_dates_become_valid_from(talk):
    """ "Yesterday" is the day before it was said, with its precision kept."""
    talk.clock.set("2026-05-10T12:00")
    talk.memory.remember("I visited Rome yesterday.", speaker="Ana", said_at="2026-05-10T12:00")

    (fact,) = talk.memory.list("Fact").items
    assert str(fact.valid.start)[:10] == str(FrozenClock("2026-05-09")())[:10]
    assert fact.precision == "day"


# What is not extracted -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["ok", "thanks!", "lol", "👍👍", "good morning"])
def test_noise_is_stored_and_not_read(talk, text):
    """Noise is kept verbatim, and no fact comes of it."""
    receipt = talk.say(text)

    assert talk.memory.get(receipt.id).content == text
    assert talk.believed() == set()


def test_an_echo_is_no_new_knowledge(talk):
    """A recalled block that comes back inside a message is not believed again."""
    for town in ("Porto", "Faro", "Braga"):
        talk.say(f"My cousin from {town} has a boat and paints it every spring in {town}.")
    shown = talk.memory.recall("Who has a boat and paints it?").text
    before = talk.believed()
    talk.say(f"You told me:\n{shown}", speaker="Rui")

    assert talk.believed() == before


def test_secrets_are_taken_out_first(talk):
    """A key is never stored, and the receipt says what was taken out."""
    receipt = talk.say("My api key is sk-abcdefghijklmnopqrstuvwxyz123456 and I live in Porto.")

    assert receipt.redacted == ("api key",)
    assert "abcdefghij" not in talk.memory.get(receipt.id).content
    assert not any("abcdefghij" in content for content in talk.believed())


def test_the_strict_gate_drops_and_says_so():
    """With the strict gate a dull message is not stored, and the receipt tells why."""
    talk = Talk(Config(embedder="none", gate="strict"))
    receipt = talk.say("ok")

    assert not receipt.changed
    assert receipt.changes[0].startswith("not stored:")
    assert talk.say("I live in Porto.").changed


def test_off_reads_nothing():
    """With understanding switched off only the words are kept."""
    talk = Talk(Config(embedder="none", understand="off"))
    talk.say("I live in Porto.")

    assert talk.believed() == set()


@pytest.mark.parametrize(
    "text", ["我住在里斯本。", "My sister Marta lives in Faro 🎉🎉.", "é" * 400, "a\n" * 500]
)
def test_any_script_is_stored(talk, text):
    """Other scripts, emoji and odd shapes are stored verbatim and do no harm."""
    receipt = talk.say(text)

    assert talk.memory.get(receipt.id).content == text
    assert talk.memory.verify().ok


def test_a_huge_text_is_read_in_time(talk):
    """Ten megabytes are stored verbatim; only their beginning is read for facts."""
    text = "I live in Porto. " + "The weather was fine and nothing happened. " * 240_000
    receipt = talk.say(text[:10_000_000])

    assert receipt.changed
    assert "Ana lives in Porto" in talk.believed()


# Crashes ---------------------------------------------------------------------------------------------


def test_a_crash_between_words_and_facts_is_resumed_once(tmp_path, monkeypatch):
    """What was stored and not yet understood is understood by resume, exactly once."""
    path = str(tmp_path / "m.db")
    talk = Talk(path=path)
    with monkeypatch.context() as broken:
        broken.setattr(remembering, "settle", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            talk.say("I live in Porto.")
    talk.memory.close()

    with Memory.open(path, PLAIN) as memory:
        assert talk.believed(memory) == set()
        assert len(memory.resume()) == 1
        assert talk.believed(memory) == {"Ana lives in Porto"}
        assert memory.resume() == ()
        assert memory.verify().ok


# Identity --------------------------------------------------------------------------------------------


def test_alike_names_are_proposed_and_walks_join_after_acceptance(talk):
    """Two spellings are two entities until somebody accepts; then a walk passes through both."""
    talk.say("Acme Works was founded by Robert Smith.", "")
    talk.say("Bob Smith was born in the city of Faro.", "")
    (proposal,) = talk.memory.merges()
    question = "Where was the founder of Acme Works born?"
    assert [c.name for c in talk.memory.walk_answer(question).chains if c.name == "Faro"] == []

    talk.memory.accept_merge(proposal)
    assert talk.memory.walk_answer(question).chains[0].name == "Faro"
    talk.memory.undo_merge(proposal)
    assert [c.name for c in talk.memory.walk_answer(question).chains if c.name == "Faro"] == []


def test_a_second_look_after_an_ingest_decides_by_common_neighbours(talk):
    """An ambiguous name is proposed as the one that shares a neighbour, in a changeset of its own."""
    for line in (
        "John Smith is employed by Acme Works.",
        "Jane Smith is employed by Corvus Bank.",
        "The director of Acme Works is Vera Lund.",
    ):
        talk.say(line, "")
    receipt = talk.say("J. Smith is employed by Acme Works.", "")

    names = {p.id: {talk.memory.get(p.a).name, talk.memory.get(p.b).name} for p in talk.memory.merges()}
    assert {"John Smith", "J. Smith"} in names.values()
    assert talk.memory.undo(receipt).changed
    assert talk.memory.verify().ok


def test_a_correction_of_who_it_was_withdraws_what_was_said_of_another() -> None:
    """ "It wasn't Femi, Gustav broke it": Femi is not believed to have broken it any longer."""
    memory = Memory.open(":memory:", Config(embedder="none"))
    memory.remember("Femi broke the kettle.", speaker="Ana")
    memory.remember("Sorry, it wasn't him. Gustav broke the kettle.", speaker="Ana")
    believed = [f.content for f in memory.list("Fact").items if f.status == "believed"]
    assert believed == ["Gustav broke kettle"]


def test_two_who_disagree_about_a_state_contradict() -> None:
    """ "Is open" and "is closed" from two people end nothing: neither says that it changed."""
    memory = Memory.open(":memory:", Config(embedder="none"))
    memory.remember("The ford at Nant is open to lorries.", speaker="Emrys")
    memory.remember("The ford at Nant is closed to lorries.", speaker="Sal")
    assert len(memory.conflicts()) == 1


def _told(*texts: str, speaker: str = "Ana") -> Memory:
    memory = Memory.open(":memory:", Config(embedder="none"))
    for text in texts:
        memory.remember(text, speaker=speaker)
    return memory


def _held(memory: Memory) -> set[str]:
    return {f.content for f in memory.list("Fact").items if f.status == "believed"}


def test_two_deadlines_are_at_odds_before_either_has_come() -> None:
    """A contradiction about a day that is still ahead is shown at once."""
    memory = Memory.open(":memory:", Config(embedder="none"))
    memory.remember("The permit forms are due on 30 April 2031.", speaker="Emrys")
    memory.remember("The permit forms are due on 15 May 2031.", speaker="Sal")
    assert len(memory.conflicts()) == 1
    assert memory.at(valid="2020-01-01").conflicts() == ()


def test_readings_of_a_gauge_stand_beside_each_other() -> None:
    """A number that is read off again ends no earlier reading, while a price that changes does."""
    memory = _told("cellar 11.4 °C", "cellar 9.8 °C", "queue count: 31 jobs", "queue count: 44 jobs")
    assert {"cellar is 11.4 °C", "cellar is 9.8 °C", "queue count is 31 jobs"} <= _held(memory)


@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [
        ("Ticket 512 is open.", "Closed ticket 512, the fuse was blown.", True),
        ("Head baker on floor 3 is Agnes Toll.", "Floor 3 is short of staff since Agnes retired.", True),
        ("The huddle is at 9:30.", "Starting today the huddle moves to 10:15.", True),
        ("Lena's cell: 555-0142", "Lena changed carriers, reach her on 555-0199 now.", True),
        ("My van is a Berlingo.", "The Berlingo got new winter tyres.", False),
        ("We host on Nimbus.", "The move away from Nimbus fell through.", False),
        ("I buy flour from Moss Mill.", "I now get rye alongside the flour from Moss Mill.", False),
    ],
)
def test_what_is_over_and_what_goes_on(before: str, after: str, ends: bool) -> None:
    """A state that excludes the held one ends it; what has something, stays or gets company does not."""
    memory = _told(before)
    believed = _held(memory)
    assert believed
    memory.remember(after, speaker="Ana")
    assert (not believed <= _held(memory)) == ends


@pytest.mark.parametrize(
    ("first", "holds", "then"),
    [
        ("My partner is Pavel.", "Ana's partner is Pavel", "Pavel was made redundant at the mill on Friday."),
        ("Nuria is 24.", "Nuria is 24", "The studio is ours from Sunday the 24th."),
        ("The physio is with Frau Stelzer.", "physio is with Frau Stelzer", "Frau Stelzer says no jumping from now on"),
        ("I rent a garage.", "Ana rents garage", "I left the choir. The garage needs paint."),
    ],
)  # fmt: skip
def test_what_only_stands_beside_a_change_goes_on(talk, first, holds, then):
    """A person, a number or a thing that another sentence names is not over because something else is."""
    talk.say(first)
    assert holds in talk.believed()
    talk.say(then)
    assert holds in talk.believed()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I drive a Passat.", "The old car was towed to the scrapyard on Monday."),
        ("Livia has a Fairphone 4.", "Livia traded in her phone for a camera."),
    ],
)
def test_what_became_of_a_thing_may_be_said_by_its_kind(talk, first, then):
    """A Passat is a car: that the old car is gone is told of it."""
    talk.say(first)
    held = talk.believed()
    talk.say(then)
    assert len(held) == 1
    assert held.isdisjoint(talk.believed())


def test_a_move_ends_a_home_and_no_job(talk):
    """ "Moved to Turin" follows where somebody lived; who employs them is another matter."""
    talk.say("My sister Eva lives in Rome and works at Fiat.")
    talk.say("Eva moved to Turin.")

    assert {"Eva lives in Turin", "Eva works at Fiat"} <= talk.believed()


def test_two_corrections_in_one_conversation_both_count() -> None:
    """What is remembered at once is believed as if it were told one by one."""
    told = [
        "The bus leaves at 17:10.",
        "Sorry, I meant 17:40.",
        "The fee is 30 euros.",
        "Sorry, I meant 35 euros.",
    ]
    said = [
        {"content": text, "name": "Ana", "said_at": f"2026-03-01T10:0{n}Z"} for n, text in enumerate(told)
    ]

    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember(messages=said)

        assert sorted(fact.content for fact in memory.list("Fact").items) == [
            "bus leaves at 17:40",
            "fee is 35 euros",
        ]
