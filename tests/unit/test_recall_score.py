"""The pure part of recall: cues, described texts, kinds, features, score, evidence."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from worldline.lexicon import ALIKE, KIND, asked_kinds, lines, tags_of, told
from worldline.read.cues import ask
from worldline.read.score import (
    EVIDENCE,
    WEIGHTS,
    Corpus,
    Turn,
    degrees,
    how_many,
    is_slip,
    judge,
    measure,
    met,
    needs,
    score,
    settle,
)
from worldline.rules import describe as described
from worldline.rules.describe import ASKS, MONEY, NAME, NUMBER, Described, describe
from worldline.text import words

DAY = 86_400_000_000
SAID = 1_700_000_000_000_000


def pool(*said, role="people", cosine=None):
    """Turns of one session from (speaker, text) pairs, and counts over them."""
    turns = [
        Turn(n, "s", n, describe(text, who, SAID), who, role, SAID, cosine)
        for n, (who, text) in enumerate(said)
    ]
    tokens = [set((t.described.words + t.described.kinds).split()) for t in turns]
    counts = {token: sum(token in seen for seen in tokens) for seen in tokens for token in seen}
    return turns, Corpus(len(turns), 8.0, counts)


def rank(asked, turns, corpus):
    """All turns of a pool, best first."""
    board = score(asked, turns, corpus)
    return [board.scored(at) for at in board.order()]


def test_described_text_marks_what_is_only_asked():
    """Questions are bracketed, statements are not, and flags say what could be answered."""
    seen = describe("I paid $40 at Ikea. And you?", "Ana")

    assert seen.words == " ana . i pay 40 at ikea . ( and you ) "
    assert seen.flags & (MONEY | NUMBER | NAME | ASKS) == MONEY | NUMBER | NAME | ASKS


def test_described_text_survives_storage():
    """A described text is the same after it was stored as MessagePack."""
    seen = describe("We met last Friday in Porto.", "Ana", SAID)

    assert msgspec.msgpack.decode(msgspec.msgpack.encode(seen), type=Described) == seen
    assert len(seen.dates) == 1


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "😀", "?" * 50, "我喜欢游泳。你呢？"])
def test_any_text_can_be_described(text):
    """No text makes describing or asking fail."""
    turns, corpus = pool(("ana", text), ("ben", "hello"))

    assert len(rank(ask(text), turns, corpus)) == 2


def test_kinds_bridge_words_that_share_nothing():
    """A question about activities asks for the kind that swimming is of."""
    assert set(asked_kinds(words("activities")[0])) & set(tags_of(words("swimming")))


def test_kind_puts_the_right_turn_first():
    """A turn of the asked kind comes first although no word is shared."""
    turns, corpus = pool(("ana", "The weather was dull."), ("ana", "Off to go swimming."))

    assert rank(ask("What activities does Ana do?", people=["ana"]), turns, corpus)[0].key == 1


def test_speaker_decides_between_equal_words():
    """The person named in the question is preferred as the one who said it."""
    turns, corpus = pool(("ben", "I bought a red bike."), ("ana", "I bought a red bike."))

    assert rank(ask("What did Ana buy?", people=["ana", "ben"]), turns, corpus)[0].key == 1


def test_cues_of_a_question():
    """Terms leave out names and stop words; list, summary and advice cues are seen."""
    asked = ask("When did Ana buy the red bike?", people=["Ana"])

    assert (asked.terms, asked.people) == (("buy", "red", "bike"), ("ana",))
    assert how_many(asked) < how_many(ask("How many bikes do I have?"))
    assert ask("Can you suggest a good book?").advice
    assert ask("What did you recommend last time?").to_assistant


def test_the_moment_that_is_meant_is_no_word_to_look_for():
    """Who writes "at the moment" says nothing about rent; "the moment" alone is a word like others."""
    assert ask("What rent do I pay at the moment?").terms == ("rent", "pay")
    assert ask("Which club is Ana in these days?").terms == ask("Which club is Ana in now?").terms
    assert "moment" in ask("Which moment did she like best?").terms
    assert ask("now?").terms == ("now",)


def test_every_feature_has_a_weight_and_the_reverse():
    """The table of weights and the measured features have the same names."""
    turns, corpus = pool(("ana", "hello there"), ("ben", "hi"))

    assert set(measure(ask("hello"), turns, corpus)) == set(WEIGHTS)


def test_factors_add_up_to_the_score():
    """What explain shows is the whole score."""
    turns, corpus = pool(("ana", "We swam in the lake."), ("ben", "Where did you swim?"), cosine=0.5)

    for hit in rank(ask("Where did Ana swim?", people=["ana", "ben"]), turns, corpus):
        assert sum(hit.factors.values()) == pytest.approx(hit.score)


def test_ranking_does_not_depend_on_the_order_of_the_pool():
    """Shuffling the pool changes neither scores nor order."""
    turns, corpus = pool(("ana", "We swam."), ("ben", "Nice!"), ("ana", "The lake was cold."))
    asked = ask("Who swam in the lake?")

    assert [h.key for h in rank(asked, turns, corpus)] == [h.key for h in rank(asked, turns[::-1], corpus)]


def test_evidence_of_the_wrong_person_is_weak():
    """The same words count for less when the other person said them of themself."""
    turns, corpus = pool(("ana", "I adopted a puppy in May."), ("ben", "Great news for you!"))
    verdicts = []
    for name in ("Ana", "Ben"):
        asked = ask(f"When did {name} adopt a puppy?", people=["ana", "ben"])
        verdicts.append(judge(asked, score(asked, turns, corpus), corpus).sure)

    assert verdicts[0] > verdicts[1]


def test_an_empty_pool_is_no_evidence():
    """Nothing found is not enough."""
    asked, corpus = ask("anything?"), Corpus(0, 1.0, {})

    assert not judge(asked, score(asked, [], corpus), corpus).enough


# Doubt ---------------------------------------------------------------------------------------------


def verdict(question, *said, role="user", crowd=0, **kwargs):
    """What is judged of a question over a few texts, in a store with a crowd of others."""
    turns, corpus = pool(*((role, text) for text in said), role=role)
    asked = ask(question, **kwargs)
    counts = {term: corpus.frequency.get(term, 0) for term in asked.terms}
    corpus = Corpus(corpus.size + crowd, 8.0, counts)
    return judge(asked, score(asked, turns, corpus), corpus)


DINNER = ("Nadia is vegetarian.", "Oskar always orders the bibimbap.", "The bill was 64 euros.")


@pytest.mark.parametrize(
    "question",
    [
        "Who is vegetarian?",
        "How much was the bill?",
        "What does Oskar order these days?",
        "who is vegetarain",
        "hwo much was the bill?",
    ],
)
def test_a_small_store_that_says_it_is_not_doubted(question):
    """Three texts are enough, with question words, slips of one letter and all."""
    found = verdict(question, *DINNER)

    assert found.enough
    assert 0.0 < found.sure < 1.0


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("When is Nadia's birthday?", "birthday"),
        ("What car does Oskar drive?", "car"),
        ("Who reserved the table?", "table"),
        ("Which zeppelin does Oskar fly?", "zeppelin"),
        ("What is Nadia's blood type?", "blood"),
    ],
)
def test_what_nothing_speaks_of_is_refused_by_its_own_name(question, missing):
    """The rare word that nothing meets decides, and is named as it was written."""
    found = verdict(question, *DINNER)

    assert not found.enough
    assert missing in found.missing


def test_the_size_of_the_store_changes_little():
    """Ten thousand other texts make neither an answer nor a doubt."""
    for question in ("Who is vegetarian?", "When is Nadia's birthday?"):
        small, large = verdict(question, *DINNER), verdict(question, *DINNER, crowd=10_000)

        assert small.enough == large.enough
        assert small.sure == pytest.approx(large.sure, abs=0.1)


def test_a_value_of_the_wanted_kind_has_to_be_there():
    """ "How many" wants a number, "'s name" a name."""
    assert not verdict("How many stamps do I have?", "I collect stamps from Portugal.").enough
    assert verdict("How many stamps do I have?", "I collect stamps, 400 so far.").enough
    assert not verdict("What is my neurologist's name?", "My neurologist prescribed something.").enough


def test_other_words_for_the_same_thing_are_evidence():
    """Everyday words, kinds and derived words meet; a word that is itself needed stands for no other."""
    assert verdict("Who is my manager?", "My boss is Ivan.").enough
    assert verdict("What's my weight?", "I weigh 71 kilos.").enough
    assert verdict("When did I stop smoking?", "I quit smoking on New Year's Day.").enough
    assert not verdict("Who paid the bill?", "The bill came late.").enough


def test_a_pronoun_takes_its_meaning_from_what_was_said_before():
    """ "It cost me …" is evidence for the boat of the turn before."""
    said = ("I bought a boat called Thalia.", "It cost me 14,000 euros.")

    assert verdict("How much did the boat cost?", *said).enough


def test_slips_are_single():
    """One letter more, less, other, or two swapped; short words mean what they say."""
    assert is_slip("tortois", "tortios")
    assert is_slip("waranti", "warranti")
    assert not is_slip("cat", "car")
    assert not is_slip("berlin", "merino")


def test_a_question_and_a_text_share_no_word_but_a_meaning():
    """Synonyms, families, kinds and words made from another count as cover, each less than the word itself."""
    asked = ask("What does my dog weigh?")
    turns, corpus = pool(("ana", "The dog has a weight of nine kilos."), ("ana", "The dog sleeps."))
    same, _ = pool(("ana", "The dog does weigh nine kilos."))
    other = measure(asked, turns, corpus)["cover"]

    assert other[1] < other[0] < measure(asked, same, corpus)["cover"][0] == 1.0


def test_what_answers_counts_where_people_take_turns():
    """A reply inherits from the question before it in a dialogue, not in somebody's notes."""
    talk, corpus = pool(
        ("ana", "Where did you swim?"), ("ben", "In the lake."), ("ana", "Nice."), ("ben", "It was.")
    )
    notes, _ = pool(*(("ben", turn) for turn in ("Where did you swim?", "In the lake.", "Nice.", "It was.")))
    asked = ask("Where did Ben swim?", people=["ana", "ben"])

    assert measure(asked, talk, corpus)["answers"][1] > 0
    assert not measure(asked, notes, corpus)["answers"].any()


def test_an_answer_is_evidence():
    """What is answered is never doubted, and surer than without the answer."""
    doubted = verdict("What car does Oskar drive?", *DINNER)

    assert not doubted.enough
    assert settle(doubted, reach=0.0, answered=True).enough
    assert not settle(doubted, reach=0.0, answered=False).enough
    assert settle(doubted, reach=0.0, answered=True).sure > doubted.sure


def test_there_are_few_weights():
    """Twenty-five numbers decide the order and the doubt."""
    assert len(WEIGHTS) + len(EVIDENCE) + 1 <= 25


def test_who_brings_something_up_leads_who_takes_it_up():
    """The first turn of a session that speaks of what is asked has the news; another session has its own."""
    asked = ask("Who bought the kayak?")
    talk, corpus = pool(("ana", "I bought a kayak."), ("ben", "A kayak? You bought a kayak!"))
    apart = [*talk[:1], replace(talk[1], session="another")]

    assert measure(asked, talk, corpus)["news"].tolist() == [1.0, 0.0]
    assert measure(asked, apart, corpus)["news"].tolist() == [1.0, 1.0]


def test_a_fact_that_meets_the_question_speaks_for_its_turn():
    """A turn from which a fitting fact was drawn has more points than without it, or with another one."""
    (turn,), corpus = pool(("ana", "Rosa, who lives well, is in Lisbon."))
    fitting, other = replace(turn, facts=("rosa live in lisbon",)), replace(turn, facts=("ana sleep",))
    asked = ask("Where does Rosa live?")

    points = [score(asked, [one], corpus).scores[0] for one in (turn, other, fitting)]
    assert points[0] == points[1] < points[2]


HINTED = (
    "Several of us ran a half marathon; the third was once a dozen, hundreds or thousands.",
    "It cost $40, or 12 euros.",
    "I waited an hour, a few mins, two more yrs and a decade.",
    "See you at noon, at 7 pm or 12:30, at midnight.",
    "Some 12 % or per cent; one percent more.",
    "In May, on March 3, on 2024-05, 4/5, the 3rd, 1999.",
    'She said "never mind".',
    "This morning, last weekend, since Sunday, soon, when I was small, years ago, 2019, in July.",
    "Always say so. From now on be brief. When I ask, each time I need it, going forward.",
    "I'd rather than that; my favourite; I can't stand it; I'm allergic, hesitant, a fan, into it; I tend to.",
    "I'll come, we'll see, I plan, I will, looking forward, can't wait, going to go.",
    "Nothing at all.",
    "ALWAYS LIKE YOU, AND PREFERABLY TWICE.",
    "K\u212aelvin \u0131 \u017foon",
    "",
)


def test_what_is_looked_for_first_hides_no_sign(monkeypatch):
    """A text has the signs that its patterns find, whether or not plain words say beforehand that one may match."""
    table = (Path(__file__).parent / "gate_messages.tsv").read_text("utf-8").splitlines()
    texts = [*HINTED, *(part for line in table for part in line.split("\t"))]
    found = [(described._flags(text), described.is_standing(text)) for text in texts]
    monkeypatch.setattr(described, "_HINTS", {})
    assert found == [(described._flags(text), described.is_standing(text)) for text in texts]
    assert len({flags for flags, _ in found}) > 30


def test_a_pool_is_met_as_each_of_its_texts():
    """What many texts meet of a question together is what each meets by itself."""
    asked = ask("Which instrumnt did Ana's sister teach at the weighing school?", SAID, ("ana",))
    wanted = [need for need in needs(asked, Corpus(1, 1.0, {})) if need.stem]
    texts = [
        " ".join(words(text))
        for text in (
            "My sister teaches the cello.", "The weight of an instrument.", "School is over, teacher.", "Nothing.", "",
            "Instruments and instrument makers weigh little.",
        )
    ]  # fmt: skip
    weights = [need.weight for need in wanted]
    for row, text in zip(met(wanted, texts), texts, strict=True):
        alone = degrees(wanted, text)
        assert row.tolist() == pytest.approx(
            [one * weight / sum(weights) for one, weight in zip(alone, weights, strict=True)]
        )
    assert any(0 < degree < 1 for text in texts for degree in degrees(wanted, text))


def test_the_thesaurus_is_asked_one_way_and_told_the_other() -> None:
    """Who asks for a breed meets a beagle, not the other way round; even words meet each other."""
    breed, beagle = words("breed beagle")
    worktop, countertop = words("worktop countertop")

    assert told(breed)[beagle] == KIND
    assert breed not in told(beagle)
    assert told(worktop)[countertop] == told(countertop)[worktop] == ALIKE
    assert told("xylograph") == {}


def test_the_search_of_the_thesaurus_misses_no_line() -> None:
    """Searched as it lies in its file it tells what reading it line by line tells."""
    asked = ["leg", "job", "vaccination", "owe", "dog", "ill", "colour"]
    for stem in (words(word)[0] for word in asked):
        whole: dict[str, float] = {}
        for line in lines("thesaurus.txt"):
            left, colon, right = line.partition(": ")
            if stem in words(left):
                for other in words(right or left):
                    whole[other] = max(whole.get(other, 0.0), KIND if colon else ALIKE)
        assert told(stem) == {other: degree for other, degree in whole.items() if other != stem}


def test_every_line_of_the_thesaurus_can_be_met() -> None:
    """At most one colon, something on each side of it, words only, none twice."""
    for line in lines("thesaurus.txt"):
        left, _, right = line.partition(": ")
        said = [*left.split(), *right.split()]
        assert line.count(":") <= 1, line
        assert left, line
        assert len(said) == len(set(said)) >= 2, line
        assert all(word.replace("-", "").replace("'", "").isalpha() for word in said), line


def test_who_asks_in_a_figure_of_speech_is_answered_in_plain_words() -> None:
    """ "Behind the wheel" asks for a driver; its words say it together, and one of them alone does not."""
    asked = ask("Who sat behind the wheel on the way home?", SAID)
    wanted = [need for need in needs(asked) if need.word.startswith("behind")]

    assert [need.stem for need in wanted] == ["drive"]
    assert degrees(wanted, " ".join(words("Joel drove it"))) == [1.0]
    assert degrees(wanted, " ".join(words("Joel sat behind the wheel"))) == [1.0]
    assert degrees(wanted, " ".join(words("a wheel came off")))[0] < ALIKE


def test_every_figure_of_speech_can_be_met() -> None:
    """Several words that stand for others than themselves."""
    for line in lines("idioms.txt"):
        phrase, _, plain = line.partition(":")
        assert len(words(phrase)) > 1, line
        assert words(plain), line
        assert set(words(phrase)).isdisjoint(words(plain)), line
