"""Recall as users meet it: finding, filtering, vectors that come and go, and being told why not."""

import re
from pathlib import Path

import pytest

import worldline
from worldline import Config, Memory
from worldline.errors import Conflict
from worldline.plugins import Closer
from worldline.ports import CloseReading
from worldline.store import held, people
from worldline.store.search import facts_and_held, facts_near
from worldline.testing import FrozenClock, HashEmbedder

PLAIN = Config(embedder="none", understand="off")
DATASETS = "locomo longmemeval longmem lme memdaily memsim realmem factconsolidation memoryagentbench"
SOURCE = Path(worldline.__file__).parent


@pytest.fixture
def talk():
    """A conversation over three days, with vectors."""
    with Memory.open(":memory:", PLAIN, clock=FrozenClock("2026-06-01"), embedder=HashEmbedder()) as memory:
        for day, said in enumerate(
            (
                [("Ana", "I adopted a kitten called Miso."), ("Ben", "Lovely! How old is it?")],
                [("Ana", "Miso is three months old."), ("Ben", "I sold my bicycle in Porto.")],
                [("Ana", "We went swimming at the lake."), ("Ben", "I stayed at home.")],
            )
        ):
            messages = [{"name": who, "content": text} for who, text in said]
            memory.remember(messages=messages, session=f"day {day}", said_at=f"2026-03-0{day + 1}T10:00")
        yield memory


def first(found):
    """The best hit's text."""
    return found.hits[0].node.content if found.hits else None


# Finding -------------------------------------------------------------------------------------------


def test_a_question_finds_its_evidence(talk):
    """The best hit answers, and the text shows it dated, with its speaker, verbatim."""
    found = talk.recall("Who sold a bicycle?")

    assert first(found) == "I sold my bicycle in Porto."
    assert "[2026-03-02 Mon 10:00] Ben: I sold my bicycle in Porto." in found.text
    assert re.search(r"\(returned \d+/\d+, ~\d+/2000 tokens\)$", found.text)


def test_the_text_is_in_the_order_of_time(talk):
    """Evidence is shown oldest first, whatever its rank."""
    lines = re.findall(r"^\[(\S+)", talk.recall("Miso swimming bicycle").text, re.M)

    assert lines == sorted(lines)
    assert len(lines) > 3


def test_a_list_question_gets_more():
    """Without a limit, a question for several things returns more than one for a single thing."""
    with Memory.open(":memory:", PLAIN) as memory:
        for number in range(40):
            memory.remember(f"I visited the museum number {number}.", speaker="Ana", session=f"s{number}")
        one = memory.recall("Where is the museum?", max_tokens=4000)
        many = memory.recall("Which museums have I visited?", max_tokens=4000)

        assert len(one.hits) < len(many.hits)
        assert len(memory.recall("museum", limit=3).hits) == 3


@pytest.mark.parametrize("word", ["游泳", "会议", "咖啡"])
def test_two_characters_are_a_word(word):
    """A Chinese word of two characters finds the sentence that it is in."""
    said = {"游泳": "我昨天去游泳了。", "会议": "明天上午有会议。", "咖啡": "他喜欢喝咖啡和茶。"}
    with Memory.open(":memory:", PLAIN) as memory:
        for text in said.values():
            memory.remember(text, speaker="user")

        assert first(memory.recall(word)) == said[word]


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "vectors too"])
def test_a_long_text_is_found_by_a_late_passage(embedder):
    """What stands ten thousand characters into a text finds that text, once."""
    filler = "The committee talked about the weather and the roof. " * 200
    with Memory.open(":memory:", PLAIN, embedder=embedder) as memory:
        memory.remember(filler + "The vault code is heliotrope. " + filler, speaker="Ana")
        memory.remember(filler, speaker="Ben")
        found = memory.recall("What is the heliotrope vault code?", limit=10)

        assert "heliotrope" in first(found)
        assert len([hit for hit in found.hits if "heliotrope" in hit.node.content]) == 1


def test_filters_are_equalities_on_metadata(talk):
    """Only memories with the metadata asked for are found, neighbours included."""
    talk.remember("The kitten sleeps.", speaker="Ana", session="day 9", metadata={"place": "home", "n": 1})
    talk.remember("The kitten plays.", speaker="Ana", session="day 9", metadata={"place": "garden"})

    found = talk.recall("What does the kitten do?", filters={"place": "home", "n": 1}, limit=20)
    assert [hit.node.content for hit in found.hits] == ["The kitten sleeps."]
    assert talk.recall("kitten", filters={"place": "moon"}).hits == ()


def test_the_session_at_hand_comes_first(talk):
    """Of two equal memories, the one of the bound session is better."""
    for session in ("x", "y"):
        talk.remember("The code word is heron.", speaker="Ana", session=session)

    assert talk.scoped(session="x").recall("What is the code word?").hits[0].session == "x"
    assert talk.scoped(session="y").recall("What is the code word?").hits[0].session == "y"


def test_a_standing_instruction_bears_on_requests():
    """What is to hold from now on is found by a request for help that shares no word with it."""
    with Memory.open(":memory:", PLAIN) as memory:
        memory.remember("Always answer in metric units from now on.", speaker="user", session="one")
        for number in range(30):
            memory.remember(f"The oven was at {number} degrees for the bread.", speaker="user", session="two")
        found = memory.recall("Can you help me with the oven for the bread?", limit=40)
        asked = memory.recall("Which oven was it?", limit=40)

        assert "standing" in {lane for hit in found.hits for lane in hit.lanes}
        assert not any("metric" in hit.node.content for hit in asked.hits)


def test_nothing_is_an_answer_too():
    """An empty memory, and a question about nothing stored, abstain with a reason."""
    with Memory.open(":memory:", PLAIN) as memory:
        empty = memory.recall("Where does Ana live?")
        memory.remember("I bought bread.", speaker="Ana")
        strange = memory.recall("Which zeppelin did Ana buy?")

        assert empty.abstained
        assert "nothing stored" in (empty.reason or "")
        assert strange.abstained
        assert "zeppelin" in (strange.reason or "")


DINNER = (
    "Lunch at Kimchi House was great.",
    "Nadia is vegetarian.",
    "Oskar always orders the bibimbap.",
    "The bill was 64 euros.",
    "We meet again in two weeks.",
    "Our databases are backed up.",
)


def test_a_small_memory_knows_what_it_was_told():
    """Six texts: what they say is not doubted, what they do not say is, by the words of the question."""
    with Memory.open(":memory:", PLAIN) as memory:
        for text in DINNER:
            memory.remember(text, speaker="user")

        for question in ("Who is vegetarian?", "Who is vegetarain?", "How much was the bill?"):
            found = memory.recall(question)
            assert not found.abstained, question
            assert 0 < found.sure < 1
        refused = memory.recall("Which databases does Nadia's employer sell?")
        assert refused.abstained
        assert "employer" in (refused.reason or "")
        assert "databas " not in f"{refused.reason} "


def test_other_words_are_found_in_a_small_memory():
    """No word is shared with the question; what has nothing to do with it stays away all the same."""
    with Memory.open(":memory:", PLAIN) as memory:
        memory.remember("My boss is Ivan Petrov.", speaker="Rosa")
        memory.remember("The canteen closes at two.", speaker="Rosa")

        assert [hit.node.content for hit in memory.recall("Who is Rosa's manager?").hits] == [
            "My boss is Ivan Petrov."
        ]


def test_what_holds_now_comes_first():
    """A turn whose fact is over stands behind the one that ended it, though it has the words of the question."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember("I live in Leeds.", speaker="Mira", said_at="2026-01-05T10:00+00:00")
        memory.remember("I moved to Bristol.", speaker="Mira", said_at="2026-03-05T10:00+00:00")

        now, before = (
            memory.recall(question, asked_at="2026-05-01T10:00+00:00").hits[0].node.content
            for question in ("Where does Mira live?", "Where did Mira live before?")
        )
        assert "Bristol" in now
        assert "Leeds" in before


# Vectors -------------------------------------------------------------------------------------------


def test_another_embedder_is_a_conflict_until_all_is_embedded_anew(tmp_path):
    """A store remembers whose vectors it has; `reembed` is the way to another embedder."""
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as memory:
        memory.remember("I keep bees.", speaker="Ana")
    other = HashEmbedder(32, "other")
    with Memory.open(path, PLAIN, embedder=other) as memory:
        with pytest.raises(Conflict, match="hash-64"):
            memory.recall("bees")
        assert memory.reembed() == 1
        assert memory.recall("bees").hits[0].lanes["vectors"] == 1
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as memory, pytest.raises(Conflict):
        memory.recall("bees")


def test_vectors_that_a_crash_prevented_are_caught_up(tmp_path):
    """What was stored without its vector gets it with the next write, or with `flush`."""
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN) as memory:  # as after a crash between words and vectors
        for number in range(5):
            memory.remember(f"Sentence number {number}.", speaker="Ana")
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as memory:
        assert memory.flush() == 5
        assert memory.flush() == 0
    with Memory.open(path, PLAIN) as memory:
        memory.remember("One more.", speaker="Ana")
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as memory:
        memory.remember("And the next.", speaker="Ana")
        assert memory.flush() == 0
        assert "vectors" in memory.recall("One more.").hits[0].lanes


def test_an_embedder_that_fails_loses_no_words(tmp_path):
    """A write survives its embedder; the vectors come later."""

    class Broken(HashEmbedder):
        def embed(self, texts):
            raise Conflict("no vectors today")

    with Memory.open(tmp_path / "m.db", PLAIN, embedder=Broken()) as memory:
        assert memory.remember("I keep bees.", speaker="Ana").changed
    with Memory.open(tmp_path / "m.db", PLAIN, embedder=HashEmbedder()) as memory:
        assert memory.flush() == 1


def test_another_process_sees_new_vectors(tmp_path):
    """An index in memory is caught up with what another handle stored meanwhile."""
    one = Memory.open(tmp_path / "m.db", PLAIN, embedder=HashEmbedder())
    two = Memory.open(tmp_path / "m.db", PLAIN, embedder=HashEmbedder())
    one.remember("I keep bees.", speaker="Ana")
    assert two.recall("bees").hits[0].lanes["vectors"] == 1
    one.remember("The hive is full of honey.", speaker="Ana")

    assert two.recall("honey hive").hits[0].lanes["vectors"] == 1
    one.close()
    two.close()


def test_a_large_index_finds_what_an_exact_one_finds(monkeypatch, engine):
    """Above the exact limit the sketch still brings the nearest texts."""
    texts = 4000 if engine == "file" else 1500
    with Memory.open(":memory:", PLAIN, embedder=HashEmbedder()) as memory:
        said = [f"word{n % 97} thing{n % 89} place{n % 83}" for n in range(texts)]
        memory.remember(
            messages=[{"role": "assistant", "content": text} for text in said]
        )  # not read for facts
        exact = [memory.recall(f"word{n} thing{n} place{n}", limit=5, without=["words"]) for n in range(20)]
        monkeypatch.setattr(held, "EXACT", 100)
        rough = [memory.recall(f"word{n} thing{n} place{n}", limit=5, without=["words"]) for n in range(20)]

        assert [first(found) for found in rough] == [first(found) for found in exact]


def test_recall_writes_nothing(tmp_path):
    """However often it is asked, the file stays as it is, byte for byte."""
    path = tmp_path / "m.db"
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as memory:
        memory.remember("I keep bees.", speaker="Ana", session="s")
        memory.handle.store.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = path.read_bytes()
        for verb in (memory.recall, memory.timeline, memory.density):
            verb("Who keeps bees?")
        memory.at(as_of="2020-01-01").recall("bees")

        assert memory.handle.store.connection().total_changes() == 0 or path.read_bytes() == before
        assert path.read_bytes() == before
        assert Path(f"{path}-wal").stat().st_size == 0


def test_scores_lie_between_0_and_1_and_fall(talk):
    """The first hit has all that is sure, every other one less, the further behind the less."""
    found = talk.recall("Who keeps bees?", limit=5)
    scores = [hit.score for hit in found.hits]

    assert scores[0] == pytest.approx(found.sure)
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_what_took_the_place_of_another_text_has_no_lower_score():
    """The newer text meets fewer words of the question; its score is that of its place."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember(
            "My phone number at the office is 555-1234, extension 7.", speaker="Ana", said_at="2024-01-01"
        )
        memory.remember("My office number is 555-9999 now.", speaker="Ana", said_at="2024-05-01")
        first, second = memory.recall("What is Ana's phone number at the office?", limit=2).hits

        assert "9999" in first.node.content
        assert first.points < second.points
        assert first.score >= second.score


@pytest.mark.parametrize(
    ("question", "most"),
    [
        ("Who sold a bicycle in the year of the bees?", 12),
        ("When did I begin to keep bees?", 12),
        ("How many bees does Ana keep?", 12),
        ("Where does Ana keep bees?", 15),  # nothing says it, so facts are walked for it
    ],
)
def test_few_statements_a_question(talk, question, most):
    """A recall, vectors and all, takes at most twelve statements, and one more for each step of a walk."""
    scoped = talk.scoped(user="ana")
    scoped.remember("I keep bees.", speaker="Ana", session="s")
    scoped.remember("Ana lives in Porto. Porto lies in Portugal.", speaker="Ana", session="s")
    scoped.recall("Who keeps bees?")
    before = talk.handle.store.statements
    scoped.recall(question)

    assert talk.handle.store.statements - before <= most


# Explained -----------------------------------------------------------------------------------------


def test_every_hit_says_why(talk):
    """Lanes, places and factors are with each hit; the factors add up; the plan can be read."""
    found = talk.recall("How old is Miso?", explain=True)

    for hit in found.hits:
        assert hit.lanes
        assert sum(hit.factors.values()) == pytest.approx(hit.points)
    assert any("lane words" in line for line in found.trace)


def test_why_not(talk):
    """Each way to lose a memory is told: filter, lane, rank, budget; or its place."""
    sold = next(hit.node for hit in talk.recall("bicycle").hits if "bicycle" in hit.node.content)
    note = talk.note("context", "Acme tier", "silver")
    talk.retire(note)
    doubtful = talk.note("context", "rumour", "the bicycle was stolen")
    talk.quarantine(doubtful, "hearsay")
    question = "Who sold a bicycle?"

    assert (talk.explain(question, sold).lost_by, talk.explain(question, sold).place) == ("", 1)
    assert talk.explain(question, note.id).lost_by == "filter"
    assert "hearsay" in talk.explain(question, doubtful.id).reason
    assert talk.explain(question, sold, filters={"x": 1}).lost_by == "filter"
    assert talk.explain("How old is Miso?", sold, limit=1).lost_by == "rank"
    assert talk.explain(question, sold, max_tokens=10).lost_by == "budget"


def test_why_not_when_no_lane_finds_it():
    """A memory that shares no word with the question, without vectors, is lost by every lane."""
    with Memory.open(":memory:", PLAIN) as memory:
        lost = memory.remember("Entirely different matters.", speaker="Ana", session="one")
        memory.remember("I keep bees.", speaker="Ana", session="two")

        assert memory.explain("Who keeps bees?", lost.id).lost_by == "lane"


# Timelines and coverage ----------------------------------------------------------------------------


def test_a_timeline_of_somebody_who_speaks_here(talk):
    """What was said of a person is about that person, also where the person has spoken elsewhere."""
    mine = talk.scoped(user="cy")
    mine.remember("My sister Ana moved to Porto.", speaker="Cy", said_at="2026-03-05")
    assert [one.node.content for one in mine.timeline("Ana")] == ["My sister Ana moved to Porto."]


def test_a_timeline_is_in_order_and_within_its_bounds(talk):
    """Dated memories of a topic, oldest first, between two moments; amended versions too."""
    tier = talk.note("context", "Miso weight", "1 kg", valid_from="2026-03-01")
    talk.amend(tier, content="2 kg", valid_from="2026-03-05")
    wrong = talk.note("context", "Miso colour", "grey")
    talk.correct(wrong, content="black")
    whole = [item.node.content for item in talk.timeline("Miso")]

    assert whole.index("I adopted a kitten called Miso.") < whole.index("Miso is three months old.")
    assert {"1 kg", "2 kg", "black"} <= set(whole)
    assert "grey" not in whole
    assert "grey" in [i.node.content for i in talk.timeline("Miso", include_superseded=True)]
    ends = talk.timeline("Miso", "2026-03-02", "2026-03-03")
    assert [item.node.content for item in ends] == ["Miso is three months old."]


def test_a_timeline_uses_the_date_a_text_names():
    """What happened last Friday stands before what was said on Monday."""
    with Memory.open(":memory:", PLAIN) as memory:
        memory.remember("The kitten ate.", speaker="Ana", said_at="2026-03-07")
        memory.remember("I got the kitten on 2 March 2026.", speaker="Ana", said_at="2026-03-10")

        assert [item.node.content[:5] for item in memory.timeline("kitten")] == ["I got", "The k"]


def test_density_counts_what_is_around_a_topic():
    """Facts, sources and conflicts around a named thing are counted; a strange topic has none."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember("Ines lives in Porto.", speaker="Ana")
        memory.remember("Ines works at Acme.", speaker="Ben")
        found = memory.density("Ines")

        assert found.facts >= 1
        assert found.sources >= 1
        assert found.nodes >= found.facts + found.sources
        assert found.newest is not None
        assert memory.density("zeppelins").nodes == 0


# A second reading ----------------------------------------------------------------------------------


class Longest:
    """A reranker that likes long texts."""

    name = "longest"

    def rerank(self, question, texts):
        return [len(text) for text in texts]


def test_a_reranker_has_the_last_word():
    """With a reranker the order is its own, the hits say so, and a failing one changes nothing."""

    class Failing(Longest):
        def rerank(self, question, texts):
            raise Conflict("out of order")

    def asked(reranker):
        with Memory.open(":memory:", PLAIN, reranker=reranker) as memory:
            for number in range(12):
                memory.remember(f"I keep bees{' indeed' * number}.", speaker="Ana", session=f"s{number}")
            return memory.recall("Who keeps bees?", limit=3)

    assert [len(hit.node.content) for hit in asked(Longest()).hits] == [89, 82, 75]
    assert asked(Longest()).hits[0].lanes["reranker"] == 1
    assert [h.node.content for h in asked(Failing()).hits] == [h.node.content for h in asked(None).hits]


# A close reading -----------------------------------------------------------------------------------


NOTES = (
    "The landlord put the rent up to 940 euros.",
    "We had a long walk and a picnic by the lake.",
    "Dr Okafor takes out Mum's cataract on the ninth.",
    "The cat knocked the good vase off the shelf.",
    "Doctors say that walking is good for everybody.",
)


def asked_closely(question, reranker="auto", notes=NOTES):
    """What is recalled of some notes, in order."""
    with Memory.open(":memory:", Config(embedder="none", reranker=reranker)) as memory:
        for note in notes:
            memory.remember(note, speaker="Ana")
        return memory.recall(question, limit=5)


@pytest.mark.usefixtures("closer")
def test_what_answers_in_other_words_is_read_closely():
    """The surgeon comes first though no word names him; the hit says what the reading gave, and it adds up."""
    found = asked_closely("Which doctor operates on my mother's eyes?")
    best = found.hits[0]

    assert best.node.content == NOTES[2]
    assert best.factors["answers"] > 0
    assert best.points == pytest.approx(sum(best.factors.values()))
    assert all(hit.factors.get("answers", 0.0) >= 0 for hit in found.hits)


@pytest.mark.usefixtures("closer")
def test_a_tiny_memory_is_read_whole():
    """What shares no word with the question is found where it most likely answers, and the hit says by what."""
    question = "What happened to our crockery?"
    found = asked_closely(question)

    assert asked_closely(question, "none").hits == ()
    assert [hit.node.content for hit in found.hits] == [NOTES[3]]
    assert found.hits[0].lanes == {"closeness": 1}


@pytest.mark.usefixtures("closer")
def test_a_close_reading_can_be_switched_off():
    """With reranker = "none" nothing is read twice, and a question in another script is not either."""
    assert all("answers" not in hit.factors for hit in asked_closely("Which doctor?", "none").hits)
    assert all("answers" not in hit.factors for hit in asked_closely("医生是谁 doctor").hits)


@pytest.mark.usefixtures("closer")
def test_of_a_long_text_the_part_that_speaks_of_the_question_is_read():
    """What stands at the end of a long note counts as much as if it stood alone."""
    long = "The weather was fine again. " * 60 + "The boiler was serviced by Fritz Lang."
    found = asked_closely("Who serviced the boiler?", notes=(*NOTES, "The boiler is old.", long))

    assert found.hits[0].node.content == long
    assert found.hits[0].factors["answers"] > 2


@pytest.mark.usefixtures("closer")
def test_what_lies_far_behind_is_not_read_closely(monkeypatch):
    """Where one text says all that is asked for and the others next to nothing, none of them is read beside it."""
    read: list[int] = []

    def reading(_reader, _question, texts):
        read.append(len(texts))
        return [CloseReading(0.0, 0.0, 0, 0, 0.0)] * len(texts)

    monkeypatch.setattr(Closer, "read", reading)
    others = [f"Our boiler stands in room {number}." for number in range(9)]
    clear = "Fritz Lang serviced the boiler in the cellar of the old mill."
    asked_closely("Who serviced the boiler in the cellar of the old mill?", notes=(*others, clear))
    asked_closely("Which boiler stands in a room?", notes=(*others, clear))

    assert read == [1, 8]


def told_closely(*messages, question):
    """What is answered to somebody who told a few things."""
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        for day, message in enumerate(messages, 1):
            memory.remember(message, speaker="Ana", said_at=f"2026-05-{day:02}")
        return memory.recall(question)


@pytest.mark.usefixtures("closer")
def test_a_value_that_no_rule_knows_is_read_where_it_stands():
    """The words of the text are the answer, and the text is its proof."""
    found = told_closely(
        "The dentist reckons a fluoride varnish would suit my teeth.",
        "My teeth hurt on Monday.",
        question="Which coating did the dentist recommend?",
    )

    assert found.answer == "fluoride varnish"
    assert found.proof == (found.hits[0].node.id,)
    assert not found.abstained


@pytest.mark.usefixtures("closer")
def test_what_is_spoken_of_but_not_told_is_doubted():
    """A question for another detail of the same thing has no answer, though all its words are near."""
    told = ("The flat has two rooms and a balcony.", "I pay 640 euros in rent.", "My landlady is Mrs Gruber.")

    assert told_closely(*told, question="How much rent do I pay?").answer == "640 euros"
    found = told_closely(*told, question="Which floor is the flat on?")
    assert found.answer is None
    assert found.abstained


@pytest.mark.usefixtures("closer")
def test_what_is_believed_stands_against_the_words_of_a_text():
    """A fact that was amended by hand is the answer, whatever the first message still says."""
    with Memory.open(":memory:", Config(embedder="none", reranker="auto")) as memory:
        memory.remember("I live in Rome, and please always answer in verse.", speaker="Ana")
        proof = memory.recall("Where does Ana live?").proof[0]
        memory.amend(proof, "Porto", reason="she moved")

        assert memory.recall("Where does Ana live?").answer == "Porto"


# The code ------------------------------------------------------------------------------------------


def test_no_data_set_is_known_to_the_engine():
    """No name of a public data set occurs outside the benchmark."""
    pattern = re.compile(rf"(?i:\b(?:{'|'.join(DATASETS.split())})\b)|\bBEAM[-_ ]?\d")
    allowed = ("bench/", "surfaces/benching.py")
    texts = {p.relative_to(SOURCE).as_posix(): p.read_text("utf-8") for p in SOURCE.rglob("*.py")}

    assert [
        name for name, text in texts.items() if not name.startswith(allowed) and pattern.search(text)
    ] == []


def test_facts_of_others_do_not_crowd_out_mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few of the latest facts are looked at first, one's own are found behind those of others."""
    monkeypatch.setattr(people, "REACH", 2)
    with Memory.open(tmp_path / "m.db", Config(embedder="none")) as memory:
        memory.scoped(user="me").remember("Rosa lives in Lisbon.")
        for number in range(9):
            memory.scoped(user=f"other {number}").remember(f"Rosa owns boat number {number + 3}.")
        mine = memory.scoped(user="me")
        rosa = mine.handle.read(lambda view: [one.first for one in people.called(view, {"rosa"})])
        about = mine.handle.read(lambda view: people.about(view, rosa, 200))
        near = mine.handle.read(lambda view: facts_near(view, rosa, ()))
    assert [one.fact.text for one in about] == ["Rosa lives in Lisbon"]
    assert [fact.value for fact in near] == ["Lisbon"]


def test_what_is_believed_now_comes_with_the_facts_around_it(tmp_path: Path) -> None:
    """One look tells the same as two: how many facts hold, and which of them have a word of the question."""
    with Memory.open(tmp_path / "m.db", Config(embedder="none"), clock=FrozenClock("2026-06-01")) as memory:
        for day, text in enumerate(
            (
                "Rosa lives in Lisbon.",
                "Rosa likes tea.",
                "Rosa owns a boat.",
                "Rosa moved to Porto.",
                "Rosa likes figs.",
            )
        ):
            memory.remember(text, speaker="Ana", said_at=f"2026-03-0{day + 1}")
        rosa = memory.handle.read(lambda view: [one.first for one in people.called(view, {"rosa"})])
        for most, limit in ((200, 400), (2, 400), (2, 3), (200, 2)):
            about = memory.handle.read(lambda view, n=most: [one.fact for one in people.about(view, rosa, n)])
            near, held = memory.handle.read(
                lambda view, n=most, top=limit: facts_and_held(view, rosa, (), n, ("like",), top)
            )
            alone = memory.handle.read(lambda view, top=limit: facts_near(view, rosa, (), top))

            assert near == alone
            assert held.number == len(about)
            assert [f for f in held.telling if "likes" in f.text] == [f for f in about if "likes" in f.text]
    assert held.number == 4


def test_a_fact_that_is_forgotten_elsewhere_is_not_kept_in_mind(tmp_path: Path) -> None:
    """What facts say is remembered between questions, and no longer than they are there."""
    path, plain = tmp_path / "m.db", Config(embedder="none")
    with Memory.open(path, plain) as memory, Memory.open(path, plain) as other:
        memory.remember("Rosa works at Norvia.", speaker="Ana")
        memory.remember("Rosa lives in Lisbon.", speaker="Ana")
        for tea in (
            "green",
            "black",
            "white",
            "mint",
            "sage",
            "plum",
            "apple",
            "fennel",
            "nettle",
            "rooibos",
        ):
            memory.remember(f"Rosa likes {tea} tea.", speaker="Ana")
        asked = "Where does Rosa work?"
        for one in (memory, other):
            assert one.recall(asked).answer == "Norvia"
            one.recall(
                "Which tea does Rosa like?"
            )  # what is made of a fact whose turn is not shown is kept too
            assert "Norvia" in str(one.handle.store.ends)
        turn = next(node for node in other.list("Turn").items if "Norvia" in node.content)
        other.forget(turn.id, confirm=True)

        found = memory.recall(asked)
        assert found.answer is None
        assert "Norvia" not in found.text
        for one in (memory, other):
            assert "Norvia" not in f"{one.handle.store.ends}{one.handle.store.facts}"


TOLD = (
    "My cousin Jonna called from Tampere, she is moving house.",
    "We rented a boat, a wooden one with two cabins, for 640 euros.",
    "Emil begins at Lindqvist, who make kayaks, on 3 June.",
    "Pepper has a new groomer, Ilse Brandt in the harbour street.",
)
UNTOLD = (
    "What breed is Pepper?",
    "What's the name of Jonna's husband?",
    "How much does Lindqvist pay Emil?",
)


def test_a_topic_is_not_yet_an_answer():
    """A question whose every word was spoken of is doubted where nothing of the kind it asks for was said."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        for text in TOLD:
            memory.remember(text, speaker="Aino")

        assert [question for question in UNTOLD if not memory.recall(question).abstained] == []
        for question in (
            "How much was the boat?",
            "Who is Pepper's groomer?",
            "When does Emil begin at Lindqvist?",
        ):
            assert not memory.recall(question).abstained, question


def test_doubt_does_not_depend_on_how_much_is_wanted():
    """One hit or ten: how sure it is that there is an answer stays the same."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        for text in TOLD:
            memory.remember(text, speaker="Aino")
        for question in UNTOLD:
            assert memory.recall(question, limit=1).sure == memory.recall(question, limit=10).sure
