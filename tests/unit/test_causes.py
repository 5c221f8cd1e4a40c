"""What a text says brought about what, each beside a sentence that almost says so."""

import pytest

from worldline.rules.happenings import causes, happening, strength

PAIRS = [
    (
        "We moved because I got a job in Oslo.",
        "I got a job in Oslo",
        "We moved",
        "We moved, I got a job in Oslo.",
    ),
    (
        "I stayed home because of the storm.",
        "the storm",
        "I stayed home",
        "I stayed home, not because of the storm.",
    ),
    (
        "Because the train was late, I missed the talk.",
        "the train was late",
        "I missed the talk",
        "If the train is late because of snow, I could miss the talk.",
    ),
    (
        "Due to the flood, we closed the shop.",
        "the flood",
        "we closed the shop",
        "The bus is due to leave at noon.",
    ),
    (
        "The game was off due to heavy rain.",
        "heavy rain",
        "The game was off",
        "The bill is due, rain or shine.",
    ),
    (
        "Thanks to my coach, I finished the race.",
        "my coach",
        "I finished the race",
        "Thanks, coach, I finished the race.",
    ),
    (
        "I passed the exam thanks to your notes.",
        "your notes",
        "I passed the exam",
        "I passed the exam, thanks.",
    ),
    (
        "The drought led to a bad harvest.",
        "The drought",
        "a bad harvest",
        "The path led us past a bad harvest.",
    ),
    ("The storm caused a power cut.", "The storm", "a power cut", "The storm could have caused a power cut."),
    (
        "Long hours resulted in many mistakes.",
        "Long hours",
        "many mistakes",
        "Long hours might have resulted in many mistakes.",
    ),
    (
        "The fire was caused by a faulty lamp.",
        "a faulty lamp",
        "The fire",
        "The fire was seen by a faulty lamp.",
    ),
    (
        "I lost my job. That's why we sold the car.",
        "I lost my job",
        "we sold the car",
        "I lost my job. We sold the car.",
    ),
    (
        "I lost my job, which is why we sold the car.",
        "I lost my job",
        "we sold the car",
        "I lost my job, which is sad for us.",
    ),
    (
        "The bridge collapsed. As a result, the road is closed.",
        "The bridge collapsed",
        "the road is closed",
        "The bridge collapsed. By the way, the road is closed.",
    ),
    ("My leg hurt, so I took the bus.", "My leg hurt", "I took the bus", "My leg hurt so badly on the bus."),
    (
        "The roof leaked, so we called Tom.",
        "The roof leaked",
        "we called Tom",
        "The roof leaked, so did the tap.",
    ),
    (
        "It rained all week, therefore we stayed in.",
        "It rained all week",
        "we stayed in",
        "It rained all week where we stayed.",
    ),
    (
        "As a result of the merger, the office moved.",
        "the merger",
        "the office moved",
        "As a result, it moved.",
    ),
    (
        "The reason I left is that the work was dull.",
        "the work was dull",
        "I left",
        "The reason is unknown to us.",
    ),
    (
        "The main reason for the delay was the snow on the rails.",
        "snow on the rails",
        "the delay",
        "The delay and the snow on the rails were bad.",
    ),
    (
        "Her speech inspired me to volunteer.",
        "Her speech",
        "me to volunteer",
        "Her speech did not inspire me to volunteer.",
    ),
    (
        "The accident made me realize how short life is.",
        "The accident",
        "me realize how short life is",
        "The accident would have made me realize how short life is.",
    ),
    (
        "My teacher encouraged me to paint.",
        "My teacher",
        "me to paint",
        "My teacher met me at the paint shop.",
    ),
    (
        "The doctor convinced us to stop.",
        "The doctor",
        "us to stop",
        "The doctor may have convinced us to stop.",
    ),
    (
        "Losing the match pushed her to train harder.",
        "Losing the match",
        "her to train harder",
        "Losing the match, she went home.",
    ),
    (
        "I painted it blue because blue calms me.",
        "blue calms me",
        "I painted it blue",
        "Just because blue calms me I need not paint.",
    ),
    (
        "We are late. That's because the car broke down.",
        "the car broke down",
        "We are late",
        "We are late. Is that because the car broke down?",
    ),
    (
        "I cook a lot because I love spicy food, but my sister never does.",
        "I love spicy food",
        "I cook a lot",
        "I don't cook a lot, but my sister loves spicy food.",
    ),
    (
        "He sold the boat on account of the costs.",
        "the costs",
        "He sold the boat",
        "He sold the boat on his own account.",
    ),
    (
        "My knee gave in, and as a result I missed the finals.",
        "My knee gave in",
        "I missed the finals",
        "My knee gave in, and at the end I watched the finals.",
    ),
    (
        "Owing to the strike, our flight was moved.",
        "the strike",
        "our flight was moved",
        "We owe it to the strike.",
    ),
    (
        "I bake on Sundays, that's the reason the house smells of bread.",
        "I bake on Sundays",
        "the house smells of bread",
        "I bake on Sundays, and the house smells of bread.",
    ),
    (
        "The smell of smoke was the reason behind my call.",
        "The smell of smoke",
        "my call",
        "The smell of smoke was there behind my call.",
    ),
    (
        "We wrote the song inspired by the sea at night.",
        "the sea at night",
        "We wrote the song",
        "We wrote the song by the sea at night.",
    ),
    (
        "I quit mostly because the boss was rude.",
        "the boss was rude",
        "I quit",
        "I quit, not because the boss was rude.",
    ),
    (
        "Her surgery forced us to cancel the trip.",
        "Her surgery",
        "us to cancel the trip",
        "Her illness should have forced us to cancel the trip.",
    ),
    (
        "The new lamp got me to read at night.",
        "The new lamp",
        "me to read at night",
        "The new lamp got dusty at night.",
    ),
    ("The leak gave rise to green mould.", "The leak", "green mould", "The leak gave us a rise."),
    (
        "The delay is due to heavy snow.",
        "heavy snow",
        "The delay",
        "The parcel is due to arrive in heavy snow.",
    ),
    ("因为下雨，我们没去爬山。", "下雨", "我们没去爬山", "如果因为下雨，我们就不去。"),
    ("路上堵车，所以我迟到了。", "路上堵车", "我迟到了", "路上堵车，我迟到了。"),
    (
        "I missed the bus. Because of that, I walked home.",
        "I missed the bus",
        "I walked home",
        "I missed the bus. I walked home.",
    ),
    (
        "Having a child taught me to be patient.",
        "Having a child",
        "me to be patient",
        "Having a child can teach one to be patient.",
    ),
]


@pytest.mark.parametrize(("told", "cause", "effect", "not_told"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_a_stated_cause_is_told_from_mere_company(told: str, cause: str, effect: str, not_told: str) -> None:
    """Cause and effect are found in their own words, and the near twin states none."""
    found = [(told[slice(*one.cause)], told[slice(*one.effect)]) for one in causes(told)]

    assert found == [(cause, effect)]
    assert causes(not_told) == ()


DOUBTS = [
    "Why did you leave? Because of me?",
    "Stress can lead to headaches.",
    "If it rains, it would cause a flood.",
    "It's not because I'm tired.",
    "Maybe because I'm tired.",
    "That's why.",
    "because",
    "So, how are you?",
    "Thanks to you!",
    "",
]


@pytest.mark.parametrize("text", DOUBTS)
def test_doubt_states_no_cause(text: str) -> None:
    """What is asked, supposed, denied, general or empty is no cause of anything."""
    assert causes(text) == ()


def test_clauses_are_verbatim_and_short() -> None:
    """The spans are the text's own characters, cut where another clause begins."""
    text = "Well, we sold the house; I think we left because the rent went up, and it never came down again."
    (found,) = causes(text)

    assert text[slice(*found.cause)] == "the rent went up"
    assert text[slice(*found.effect)] == "we left"
    assert found.cue == "because"
    assert strength((found,)) == 1.0
    assert strength(()) == 0.0


def test_the_same_clause_is_the_same_happening() -> None:
    """Case, spaces and a full stop do not matter; who says "I" does."""
    assert happening("I lost  my job.", "Ana") == happening("i lost my JOB", "Ana") == "Ana: I lost my job"
    assert happening("I lost my job", "Ana") != happening("I lost my job", "Ben")
    assert happening("The storm", "Ana") == happening("the storm", "Ben") == "the storm"
