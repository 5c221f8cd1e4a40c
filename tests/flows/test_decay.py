"""What is used stays, what is not goes cold and comes back, and scorers of one's own."""

from __future__ import annotations

import pytest

from worldline import Config, Memory, Receipt, Scorer
from worldline.errors import InvalidInput, ReadOnly, Refused
from worldline.rules.describe import DAY
from worldline.store.words import rows_of
from worldline.testing import FrozenClock

PLAIN = Config(embedder="none")
START = 1_700_000_000_000_000


@pytest.fixture
def clock():
    """A clock that stands."""
    return FrozenClock(START)


@pytest.fixture
def memory(clock):
    """A memory by that clock."""
    with Memory.open(":memory:", PLAIN, clock=clock) as opened:
        yield opened


def said(memory, clock, text, speaker="user"):
    """One thing said, a little later."""
    clock.advance(1000)
    return memory.remember(text, speaker=speaker, session="talk")


def texts(recall):
    """What a recall shows."""
    return [hit.node.content for hit in recall.hits]


def warm(recall):
    """What of it was found without the archive."""
    return [hit.node.content for hit in recall.hits if not any(n.startswith("cold") for n in hit.node.notes)]


def count(memory, table):
    """How many rows a table has."""
    return memory.handle.store.query(f"SELECT count(*) FROM {table}")[0][0]


def chat(memory, clock):
    """Something passing, somebody's own, and an instruction."""
    said(memory, clock, "The parcel with the lamp came on Tuesday.")
    said(memory, clock, "I live in Porto and I am allergic to peanuts.")
    said(memory, clock, "Please always answer in metric units from now on.")


def test_a_recall_does_not_write(memory, clock):
    """What was shown is kept in mind, and written down by the next write only."""
    chat(memory, clock)
    before = count(memory, "uses")
    memory.recall("the lamp")
    assert count(memory, "uses") == before == 0
    said(memory, clock, "Something else.")
    assert count(memory, "uses") > 0


def test_only_plain_recalls_reinforce(memory, clock):
    """Reads as of a moment, explained ones, ablations and switched-off logging leave no trace."""
    chat(memory, clock)
    memory.at(as_of=clock()).recall("the lamp")
    memory.recall("the lamp", explain=True)
    memory.recall("the lamp", without=["vectors"])
    memory.recall("the lamp", include_superseded=True)
    assert not memory.handle.store.shown
    memory.recall("the lamp")
    assert memory.handle.store.shown


def test_logging_can_be_switched_off(clock):
    """With `log_uses` off nothing is noted."""
    with Memory.open(":memory:", Config(embedder="none", log_uses=False), clock=clock) as memory:
        chat(memory, clock)
        memory.recall("the lamp")
        assert not memory.handle.store.shown


def test_closing_keeps_what_was_shown(tmp_path, clock):
    """A process that only reads leaves its uses behind when it ends, if nobody writes."""
    with Memory.open(tmp_path / "a.db", PLAIN, clock=clock) as memory:
        chat(memory, clock)
    with Memory.open(tmp_path / "a.db", PLAIN, clock=clock) as reader:
        reader.recall("the lamp")
    with Memory.open(tmp_path / "a.db", PLAIN, clock=clock) as memory:
        assert count(memory, "uses") > 0


def test_closing_does_not_wait_for_a_writer(tmp_path, clock):
    """While somebody else writes, a reader closes at once and drops its notes."""
    with Memory.open(tmp_path / "a.db", PLAIN, clock=clock) as memory:
        chat(memory, clock)
        reader = Memory.open(tmp_path / "a.db", PLAIN, clock=clock)
        reader.recall("the lamp")
        with memory.handle.store.writing("default"):
            reader.close()
        assert count(memory, "uses") == 0


def test_uses_are_folded_once(memory, clock):
    """Sleep moves every note into a strength; a second night finds nothing to do."""
    chat(memory, clock)
    hit = memory.recall("the lamp").hits[0]
    memory.feedback(hit, "useful")
    memory.feedback(hit.node.id, "wrong")
    memory.consolidate()
    rows = memory.handle.store.query(
        "SELECT uses, useful, wrong FROM strengths WHERE line = ?", (hit.node.line,)
    )
    assert rows == [(1, 1, 1)]
    assert count(memory, "uses") == 0
    assert not memory.consolidate().changed
    assert memory.handle.store.query("SELECT uses FROM strengths WHERE line = ?", (hit.node.line,)) == [(1,)]


def test_feedback_takes_two_words(memory, clock):
    """Anything but useful and wrong is refused; so is undoing it, with what to do instead."""
    chat(memory, clock)
    with pytest.raises(InvalidInput, match="useful or wrong"):
        memory.feedback(memory.recall("lamp").hits[0], "nice")
    told = memory.feedback(memory.recall("lamp").hits[0], "useful")
    with pytest.raises(Refused, match="the other verdict"):
        memory.undo(told)


def test_what_is_unused_goes_cold(memory, clock):
    """After a year without use a text leaves the warm part of recall, and is seen everywhere else."""
    chat(memory, clock)
    lamp = memory.recall("the lamp").hits[0].node
    memory.consolidate()
    clock.advance(420 * DAY)
    report = memory.consolidate()
    assert any("archived" in line for slept in report.passes for line in slept.changes)
    assert "lamp" not in " ".join(warm(memory.recall("the lamp on Tuesday")))
    assert memory.get(lamp.id).content == lamp.content
    assert lamp.content in [node.content for node in memory.list("Turn").items]
    assert lamp.content in [node.content for node in memory.query().text("lamp").run().nodes]
    assert lamp.content in texts(memory.at(as_of=clock()).recall("the lamp on Tuesday"))
    assert lamp.content in texts(memory.recall("the lamp on Tuesday", include_superseded=True))
    assert memory.history(lamp.id)
    assert "cold" in memory.explain("the lamp on Tuesday", lamp.id).reason
    assert memory.verify().ok
    assert not memory.consolidate().changed


def test_a_first_night_over_imported_history_archives_nothing(memory, clock):
    """Age counts from when something was learned here, not from when it was said."""
    for number in range(6):
        memory.remember(f"I think of parcel {number}.", speaker="Ana", session="old", said_at="2019-02-03")
        memory.remember("Hello there!", speaker="Ben", session="old", said_at="2019-02-03")
    memory.note("learning", "Lamp", "The lamp has a bulb of 40 watt.", valid_from="2018-01-01")
    clock.advance(DAY)
    memory.consolidate()
    assert count(memory, "marks") == count(memory, "cold_texts") == 0


@pytest.mark.parametrize("way", ["confirm", "amend", "evidence", "mention"])
def test_a_first_night_counts_from_the_last_time_something_was_learned(memory, clock, way):
    """What was confirmed, changed, said again or named yesterday is warm, however old its beginning is."""
    memory.remember("Quillon repaired the pump.", speaker="Ana", session="old")
    [fact] = memory.list("Fact").items
    note = memory.note("learning", "Lamp", "The lamp has a bulb of 40 watt.")
    name = memory.note("Entity", "Okonkwo")
    clock.advance(700 * DAY)
    if way == "confirm":
        memory.confirm(note.id)
    elif way == "amend":
        memory.amend(note.id, "The lamp has a bulb of 60 watt.")
    elif way == "evidence":
        memory.remember("Quillon repaired the pump.", speaker="Ben", session="new")
    else:
        memory.link(memory.note("learning", "Call", "Call Okonkwo.").id, "refers_to", name.id)
    clock.advance(DAY)
    memory.consolidate()
    archived = {row[0] for row in memory.handle.store.query("SELECT line FROM marks WHERE kind = 'archived'")}
    lines = {"evidence": fact.line, "mention": memory.get(name.id).line}
    kept = lines.get(way, memory.get(note.id).line)
    assert kept not in archived
    assert {fact.line, memory.get(name.id).line, memory.get(note.id).line} - {kept} <= archived


def test_what_went_cold_is_found_where_the_warm_is_weak_and_says_so(memory, clock):
    """A question that nothing warm answers is put to the archive too; whatever is warm is asked first."""
    said(memory, clock, "Quillon repaired the greenhouse pump with a brass valve.")
    memory.consolidate()
    clock.advance(500 * DAY)
    memory.consolidate()
    said(memory, clock, "The tram to the harbour was late again today.")
    assert count(memory, "cold_texts") == 1
    found = memory.recall("Who repaired the greenhouse pump with a brass valve?")
    assert not found.abstained
    assert found.hits[0].node.content.startswith("Quillon")
    [note] = found.hits[0].node.notes
    assert note.startswith("cold since ")
    assert note in found.text
    assert not any(hit.node.notes for hit in memory.recall("Was the tram to the harbour late?").hits)


def test_who_somebody_is_and_what_they_want_stays(memory, clock):
    """Identity and preference facts, the words they rest on, and standing instructions never go cold."""
    chat(memory, clock)
    said(memory, clock, "I love hiking in the hills.")
    for _ in range(10):
        clock.advance(200 * DAY)
        memory.consolidate()
    assert texts(memory.recall("Where do I live?"))[0] == "I live in Porto and I am allergic to peanuts."
    store = memory.handle.store
    hot = {row // 65536 for row in rows_of(store.query, memory.handle.tenant_row()[0], cold=False)}
    kept = [n.content for n in memory.list("Turn").items if n.key in hot]
    assert any("metric" in text for text in kept)
    assert any("hiking" in text for text in kept)
    assert not any("lamp" in text for text in kept)
    facts = [n for n in memory.list("Fact").items if n.key in hot]
    assert {"lives in", "is allergic to"} <= {n.name for n in facts}


@pytest.mark.parametrize("way", ["pin", "confirm", "useful", "again"])
def test_the_ways_back(memory, clock, way):
    """A pin, a confirmation, praise, and saying it again in other words of the same note bring it back."""
    note = memory.note("learning", "Lamp", "The lamp needs a new bulb of 40 watt.")
    memory.consolidate()
    clock.advance(420 * DAY)
    memory.consolidate()
    assert not warm(memory.recall("lamp bulb"))
    if way == "pin":
        memory.pin(note.id)
    elif way == "confirm":
        memory.confirm(note.id)
    elif way == "useful":
        memory.feedback(note.id, "useful")
    else:
        memory.amend(note.id, "The lamp needs a new bulb of 60 watt.")
    memory.consolidate()
    assert "lamp" in warm(memory.recall("lamp bulb"))[0]
    assert memory.verify().ok
    clock.advance(30 * DAY)
    memory.consolidate()
    assert warm(memory.recall("lamp bulb", explain=True))
    memory.unpin(note.id)
    for _ in range(4):
        clock.advance(300 * DAY)
        memory.consolidate()
    assert bool(warm(memory.recall("lamp bulb"))) == (way == "confirm")  # which made it a crystal


def test_a_pin_holds_until_it_is_taken_out(memory, clock):
    """Pinned memories stay warm for years; unpinned they fade like the rest."""
    note = memory.note("learning", "Lamp", "The lamp needs a new bulb.")
    assert memory.pin(note.id).changed
    assert not memory.pin(note.id).changed
    for _ in range(6):
        clock.advance(200 * DAY)
        memory.consolidate()
    assert warm(memory.recall("lamp bulb", explain=True))
    memory.unpin(note.id)
    for _ in range(4):
        clock.advance(200 * DAY)
        memory.consolidate()
    assert not warm(memory.recall("lamp bulb"))


def test_a_pin_and_a_night_can_be_undone(memory, clock):
    """Undoing a pin takes it out; undoing the night that archived something brings it back, and so on."""
    note = memory.note("learning", "Lamp", "The lamp needs a new bulb.")
    pin = memory.pin(note.id)
    assert memory.undo(pin).changed
    assert not memory.undo(pin).changed
    clock.advance(500 * DAY)
    night = next(slept for slept in memory.consolidate(["decay"]).passes if slept.changes)
    assert not warm(memory.recall("lamp bulb"))
    undone = memory.undo(Receipt("sleep", None, True, night.known_at))
    assert warm(memory.recall("lamp bulb"))
    assert memory.undo(undone).changed
    assert not warm(memory.recall("lamp bulb"))
    assert memory.verify().ok


def test_open_contradictions_stay(memory, clock):
    """Both sides of a dispute that nobody has settled are kept warm."""
    a = memory.note("learning", "Lamp", "The lamp has a bulb of 40 watt.")
    b = memory.note("learning", "Lamp too", "The lamp has a bulb of 60 watt.")
    memory.link(a.id, "contradicts", b.id)
    for _ in range(4):
        clock.advance(200 * DAY)
        memory.consolidate()
    assert len(texts(memory.recall("lamp bulb"))) == 2


def test_without_a_rate_nothing_fades(clock):
    """`decay_rate = 0` switches decay off."""
    with Memory.open(":memory:", Config(embedder="none", decay_rate=0.0), clock=clock) as memory:
        chat(memory, clock)
        for _ in range(5):
            clock.advance(300 * DAY)
            memory.consolidate()
        assert count(memory, "cold_texts") == 0


def test_used_things_stand_higher(memory, clock):
    """Feedback moves a hit, visibly in its factors; a read as of a moment does not know it."""
    for number in range(6):
        said(memory, clock, f"The lamp number {number} stands in room {number}.")
    lowest = memory.recall("Which lamp stands in a room?").hits[-1]
    for _ in range(2):
        memory.feedback(lowest, "useful")
    memory.consolidate()
    hits = memory.recall("Which lamp stands in a room?").hits
    place = [hit.node.id for hit in hits].index(lowest.node.id)
    assert place < len(hits) - 1
    assert hits[place].factors["strength"] > 0
    before = memory.at(as_of=clock()).recall("Which lamp stands in a room?").hits
    assert not any("strength" in hit.factors for hit in before)


# Surprise and scorers --------------------------------------------------------------------------------


def test_surprise_is_what_was_new_then(memory, clock):
    """The same number is a surprise the first time only, whatever comes later."""
    said(memory, clock, "The lamp cost 4711 euros at Okonkwo.")
    said(memory, clock, "Yes, the lamp cost 4711 euros at Okonkwo, we know.")
    memory.consolidate()
    first, second = [row[0] for row in memory.handle.store.query("SELECT value FROM scores ORDER BY node")]
    assert first > 0.5 > 0.3 > second
    assert "surprise" in memory.recall("What did the lamp cost?").hits[0].factors


def test_surprise_is_each_owner_s_own(memory, clock):
    """What another user has said does not make mine less of a surprise."""
    said(memory.scoped(user="ana"), clock, "The lamp cost 4711 euros at Okonkwo.")
    said(memory.scoped(user="bo"), clock, "So: the lamp cost 4711 euros at Okonkwo.")
    said(memory, clock, "And: the lamp cost 4711 euros at Okonkwo.")
    memory.consolidate()
    values = [row[0] for row in memory.handle.store.query("SELECT value FROM scores ORDER BY node")]
    assert all(value > 0.5 for value in values)


def urgent(weight=3.0, version="1"):
    """A scorer that looks for one word."""
    return Scorer("urgency", version, lambda node: 1.0 if "urgent" in node.content else None, weight)


def test_a_scorer_added_late_judges_everything(memory, clock):
    """After 200 events a new scorer moves a hit, is told in the factors, and leaves no trace when dropped."""
    for number in range(200):
        word = "urgent repair" if number == 50 else "plain repair"
        said(memory, clock, f"The {word} of the lamp number {number} took a while.")
    question = "the repair of the lamp"
    before = texts(memory.recall(question))
    seen = []
    assert memory.score_with(urgent(), lambda done, of: seen.append((done, of))) == 200
    assert seen[-1] == (200, 200)
    hits = memory.recall(question).hits
    assert "urgent" in hits[0].node.content
    assert hits[0].factors["scorer urgency"] == 3.0
    assert memory.score_with(urgent(weight=0.0)) == 0
    assert texts(memory.recall(question)) == before
    memory.score_with(urgent())
    assert memory.drop_scorer("urgency")
    assert not memory.drop_scorer("urgency")
    assert texts(memory.recall(question)) == before


def test_a_scorer_that_may_not_be_dropped_goes_on(memory, clock):
    """Whoever is refused has changed nothing: the next night scores as before."""
    memory.score_with(urgent())
    with pytest.raises(Refused):
        memory.as_agent().drop_scorer("urgency")
    with pytest.raises(ReadOnly):
        memory.at(known=clock()).drop_scorer("urgency")
    said(memory, clock, "An urgent repair of the lamp.")
    memory.consolidate()
    assert "scorer urgency" in memory.recall("the repair of the lamp").hits[0].factors


def test_nights_score_what_is_new(memory, clock):
    """A process that has the scorer keeps it up; another version judges all again."""
    said(memory, clock, "The lamp is broken.")
    memory.score_with(urgent())
    said(memory, clock, "The lamp is urgent.")
    memory.consolidate()
    assert memory.recall("the lamp").hits[0].factors["scorer urgency"] == 3.0
    assert memory.score_with(urgent(version="2")) == 2


def test_a_killed_scorer_goes_on(memory, clock):
    """What was judged before an error is kept, and the next run judges the rest only."""
    for number in range(600):
        memory.note("learning", f"lamp {number}")
    judged = []

    def score(node):
        judged.append(node.name)
        if len(judged) == 550:
            raise KeyboardInterrupt
        return 0.5

    with pytest.raises(KeyboardInterrupt):
        memory.score_with(Scorer("mood", "1", score))
    done = len(judged)
    assert memory.score_with(Scorer("mood", "1", score)) == 100
    assert (done, count(memory, "scores")) == (550, 600)


def test_scorers_are_for_operators_and_give_numbers(memory, clock):
    """Agents cannot add one, and a score that is not a number is refused."""
    said(memory, clock, "The lamp is broken.")
    with pytest.raises(Refused):
        memory.as_agent().score_with(urgent())
    with pytest.raises(InvalidInput, match="not a number"):
        memory.score_with(Scorer("bad", "1", lambda node: "much"))
    with pytest.raises(InvalidInput):
        memory.score_with(lambda node: 1.0)
