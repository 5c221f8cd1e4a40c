"""Turning points of a life, each beside a sentence that almost says the same and does not."""

import pytest

from worldline.rules.happenings import WEIGHTS, landmarks, strength

PAIRS = [
    ("job", "I got a new job at the harbour.", "I got the job done by noon."),
    ("job", "I finally landed an internship!", "I never landed an internship."),
    ("job", "She quit her job last week.", "She wants to quit her job."),
    ("job", "I was promoted in March.", "I was supposed to be promoted in March."),
    ("job", "We've been laid off.", "We laid off the plans for now."),
    ("job", "My brother retired on Friday.", "My brother retired to bed."),
    ("job", "Tom started working at the bakery.", "Tom started working at noon."),
    ("job", "I opened my own bakery!", "I opened the bakery door."),
    ("job", "I changed careers at forty.", "I would have changed careers at forty."),
    ("job", "I've been hired!", "I hired a plumber."),
    ("job", "He lost his job in the spring.", "He did not lose his job."),
    ("job", "I'm starting a new job on Monday.", "I might be starting a new job."),
    ("move", "I moved to Lisbon two years ago.", "I moved to the next question."),
    ("move", "We moved into our first apartment.", "We moved the couch into our apartment."),
    ("move", "My parents moved back home.", "My parents were moved by the speech."),
    ("move", "Nora relocated for her studies.", "Nora relocated the meeting."),
    ("move", "We're moving to Porto in May!", "Are you moving to Porto in May?"),
    ("move", "I moved in with Sam.", "If I moved in with Sam, we'd fight."),
    ("move", "She has moved abroad.", "She has not moved abroad."),
    ("health", "I was diagnosed with asthma.", "I was never diagnosed with anything."),
    ("health", "My dad had heart surgery.", "My dad had a stroke of luck."),
    ("health", "I broke my wrist on the ice.", "I broke my promise on the ice."),
    ("health", "She was hospitalized overnight.", "She nearly was hospitalized."),
    ("health", "I quit smoking in January.", "I should quit smoking."),
    ("health", "He survived cancer.", "He reads about cancer."),
    ("health", "I sprained my ankle yesterday.", "I strained my eyes yesterday."),
    ("birth", "My sister gave birth on Sunday.", "The talk gave birth to an idea."),
    ("birth", "We had a baby girl!", "We had a baby shower."),
    ("birth", "I became a father last night.", "He became a father figure to us."),
    ("birth", "My niece was born in June.", "My niece was born to perform."),
    ("birth", "She is six months pregnant.", "She is six months ahead."),
    ("birth", "We adopted a little boy.", "We adopted a little-known plan."),
    ("birth", "We're expecting our first child.", "We're expecting a delivery at noon."),
    ("marriage", "We got married in a barn.", "We got carried away in a barn."),
    ("marriage", "I got engaged!", "I almost got engaged!"),
    ("marriage", "He proposed to me at the lake.", "He proposed a swim at the lake."),
    ("marriage", "Mia and Jo tied the knot.", "Mia and Jo tied the boat."),
    ("marriage", "We broke up in autumn.", "We broke up the fight in autumn."),
    ("marriage", "My parents got divorced.", "I wish my parents got divorced."),
    ("marriage", "I'm getting married next spring!", "I dreamed that I was getting married."),
    ("marriage", "Did I tell you I got married?", "Did you hear who got married?"),
    ("graduation", "I graduated last week!", "I graduated to bigger puzzles."),
    ("graduation", "She finished her degree in biology.", "She finished her degree of pottery glaze?"),
    ("graduation", "I passed my driving test.", "I passed by the driving school."),
    ("graduation", "I was accepted to medical school.", "I was accepted as I am."),
    ("graduation", "He dropped out of college.", "He dropped off the college papers."),
    ("loss", "My grandmother passed away in May.", "We passed away the time in May."),
    ("loss", "Our dog died on Tuesday.", "Our phone died on Tuesday."),
    ("loss", "I lost my mother at twelve.", "I lost my mother's recipe."),
    ("loss", "We went to his funeral.", "We went to his festival stall."),
    ("mishap", "I crashed my car.", "My app crashed in the car."),
    ("mishap", "My son got into an accident.", "My son read an accident report."),
    ("mishap", "We were robbed in the park.", "We felt robbed of a good ending."),
    ("achievement", "I won the chess tournament!", "I watched the chess tournament!"),
    ("achievement", "She ran her first marathon.", "She watched a marathon of old films."),
    ("achievement", "He published his first novel.", "He praised his first novel."),
    ("identity", "I came out to my parents.", "I came out to see my parents."),
    ("identity", "She became a Canadian citizen.", "She became a Canadian legend."),
    ("purchase", "We bought a house by the sea.", "We bought a house plant."),
    ("purchase", "I sold my car.", "I washed my car."),
    ("pet", "I adopted a kitten.", "I adopted a kitten-blue palette."),
    ("pet", "We got a puppy yesterday.", "We got a puppy bed yesterday."),
    ("travel", "I flew to Japan in April.", "I flew to work in April."),
    ("travel", "We just got back from Iceland.", "We just got back from Tom's."),
    ("travel", "We went on our honeymoon.", "We went on our way."),
    ("travel", "I visited Rome.", "I visited Tom's blog."),
    ("beginning", "I signed up for a pottery class.", "I haven't signed up for a pottery class."),
    ("beginning", "She joined the rowing club.", "She joined the two ends."),
    ("event", "I attended my cousin's wedding.", "I bought my cousin's wedding dress."),
    ("event", "We hosted a fundraiser.", "We could have hosted a fundraiser."),
]


@pytest.mark.parametrize(("kind", "told", "not_told"), PAIRS, ids=[pair[1] for pair in PAIRS])
def test_what_happened_is_told_from_what_did_not(kind: str, told: str, not_told: str) -> None:
    """A landmark is found where it is told, and its near twin is not taken for one."""
    assert kind in {one.kind for one in landmarks(told)}
    assert kind not in {one.kind for one in landmarks(not_told)}


DOUBTS = [
    "If I got married, I would move to Lisbon.",
    "I wish I had got the job.",
    "I hope to have a baby one day.",
    "Imagine we moved to Japan!",
    "In the film she quit her job and moved to Rome.",
    "I dreamed I lost my brother.",
    "I was only joking that I quit my job.",
    "Maybe someday I'd have bought a house.",
    "Have you moved to Lisbon?",
    "Congrats, you got married!",
    "They say you moved to Oslo.",
    "I'm not pregnant.",
    "I haven't graduated yet.",
    "I didn't get the job.",
    "We never got engaged.",
    "I could have won the race.",
    "",
    "ok",
]


@pytest.mark.parametrize("text", DOUBTS)
def test_doubt_is_no_landmark(text: str) -> None:
    """What is wished, supposed, dreamed, denied, asked or told of "you" did not happen to anybody here."""
    assert landmarks(text) == ()


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("I got married.", ""),
        ("Got promoted today!", ""),
        ("Rough month - recently left my job.", ""),
        ("I packed my things and moved to Oslo.", ""),
        ("My sister Ida got married.", "My sister Ida"),
        ("She's graduated!", "She"),
        ("Tom Berg moved to Oslo.", "Tom Berg"),
        ("Mia and Jo got engaged.", "Mia and Jo"),
    ],
)
def test_of_whom_it_is_told(text: str, of: str) -> None:
    """The one who speaks is nobody in particular; everybody else is named as in the text."""
    assert [one.of for one in landmarks(text)][:1] == [of]


def test_the_words_themselves_are_pointed_at() -> None:
    """The offsets lead to the words that tell it, wherever in a long text they stand."""
    text = "Hello there. " * 30 + "Anyway, I moved to Lisbon last year. Bye!"
    (found,) = landmarks(text)

    assert text[found.start : found.end] == "moved to Lisbon"


def test_weights() -> None:
    """One's own landmark weighs more than another's, a done one more than one to come."""
    own, other, coming = (
        strength(landmarks(text))
        for text in ("I got married.", "My brother got married.", "I'm getting married in June.")
    )

    assert own == WEIGHTS["marriage"] > other > coming > 0
    assert strength(()) == 0


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("我去年结婚了。", ["marriage"]),
        ("我搬到上海了", ["move"]),
        ("我没结婚", []),
        ("你结婚了吗？", []),
        ("我想买房", []),
    ],
)
def test_chinese(text: str, kinds: list[str]) -> None:
    """The plainest Chinese landmarks are read, with their doubts."""
    assert [one.kind for one in landmarks(text)] == kinds
