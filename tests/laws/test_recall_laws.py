"""What recall promises whatever was stored: budgets, time, scopes, and the same answer every time."""

import random
from itertools import product

from worldline import Config, Fact, Memory
from worldline.clock import Interval
from worldline.model import Hit, Node
from worldline.read import cues
from worldline.read.cues import ask
from worldline.read.history import pack
from worldline.read.recall import meaning
from worldline.store import search
from worldline.testing import FrozenClock, HashEmbedder
from worldline.text import estimate_tokens

WORDS = [
    "river",
    "contract",
    "silver",
    "gold",
    "tier",
    "meeting",
    "launch",
    "budget",
    "garden",
    "piano",
    "lisbon",
    "train",
    "ticket",
    "recipe",
    "bread",
    "novel",
    "chapter",
    "invoice",
    "project",
    "deadline",
    "swimming",
    "lesson",
    "doctor",
    "battery",
    "solar",
    "panel",
    "游泳",
    "会议",
    "合同",
    "预算",
]
START = 1_700_000_000_000_000
QUIET = Config(embedder="none", understand="off")


def sentence(rng: random.Random, least: int = 3, most: int = 12) -> str:
    """A few words."""
    return " ".join(rng.choices(WORDS, k=rng.randint(least, most)))


def opened(**more):
    """An empty memory with vectors and a clock that stands still."""
    clock = FrozenClock(START)
    return Memory.open(":memory:", QUIET, clock=clock, embedder=HashEmbedder(), **more), clock


# Budgets -------------------------------------------------------------------------------------------


def a_hit(rng: random.Random, key: int) -> Hit:
    """A turn or a note of any length, with notes, in any script."""
    filler = rng.choice(["", "x" * rng.randint(0, 2000), "预算" * rng.randint(0, 300), "a b\n" * 40])
    text = f"{sentence(rng, 0, 30)} {filler}"
    type_ = rng.choice(["Turn", "Turn", "context"])
    notes = tuple(sentence(rng) for _ in range(rng.randint(0, 2)))
    node = Node("", "", type_, sentence(rng, 1, 3), text, Interval(0), Interval(0), notes=notes, key=key)
    said_at = rng.choice([None, START + rng.randint(0, 10**15)])
    return Hit(node, 0.0, {}, {}, rng.choice(["", "Ana", "张伟"]), said_at)


def test_a_pack_is_never_above_its_budget():
    """Over 10,000 random budgets and pools, everything that is shown stays within the budget."""
    rng = random.Random(5)
    pool = [a_hit(rng, key) for key in range(300)]
    for _ in range(10_000):
        hits = rng.sample(pool, rng.randint(0, 6))
        budget = rng.choice([rng.randint(0, 60), rng.randint(0, 3000)])
        opening = rng.choice(["", sentence(rng), "预算" * rng.randint(0, 200)])
        text, tokens, shown = pack(hits, budget, len(hits), opening)

        assert estimate_tokens(text) == tokens <= budget
        assert len(shown) <= len(hits)


def test_recall_keeps_its_budget_with_facts_and_doubts():
    """The whole text, facts, doubt and footer included, is within `max_tokens`."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        for n in range(12):
            memory.remember(f"I moved to Lisbon {n} years ago. My sister Ines lives in Porto.", speaker="Ana")
        questions = ("Where does Ines live?", "What is the price of tea in Quito?", "?", "游泳")
        for budget, question in product([0, 1, 7, 8, 25, 60, 200, 1000], questions):
            found = memory.recall(question, max_tokens=budget)

            assert estimate_tokens(found.text) == found.tokens <= budget, (budget, question)


# Time ----------------------------------------------------------------------------------------------


def test_nothing_that_is_over_is_recalled():
    """With 30 % superseded, retired, corrected or quarantined, default recall returns none of it."""
    rng = random.Random(3)
    memory, clock = opened()
    gone: set[str] = set()
    for number in range(150):
        clock.advance(1000)
        made = memory.note("learning", f"note {number}", sentence(rng))
        if rng.random() < 0.3:
            gone.add(made.id)
            clock.advance(1000)
            _end(memory, made.id, rng)
    shown = _everything(memory, rng, gone)

    assert len(gone) > 30
    assert shown > 300


def _end(memory, ref, rng):
    """One of the four ways in which a memory leaves default reads."""
    way = rng.choice(["amend", "correct", "retire", "quarantine"])
    if way == "quarantine":
        memory.quarantine(ref, "doubtful")
    elif way == "retire":
        memory.retire(ref)
    else:
        getattr(memory, way)(ref, content=sentence(rng))


def _everything(memory, rng, gone):
    """Asks by every lane, alone and together; how many hits there were, none of them gone."""
    count = 0
    for _ in range(25):
        question = sentence(rng)
        for without in ((), ("vectors",), ("words",), ("neighbours",)):
            hits = memory.recall(question, limit=100, without=without).hits
            assert not gone & {hit.node.id for hit in hits}
            count += len(hits)
    return count


def test_superseded_facts_are_not_shown():
    """Of 60 slots of which a third was replaced, recall shows and walks the current facts only."""
    memory, clock = opened()
    for number in range(60):
        for tier in ("silver", "gold") if number % 3 == 0 else ("gold",):
            clock.advance(1000)
            memory.fact(Fact(f"Customer{number}", "has tier", literal=tier, functional=True))
    for number in range(0, 60, 3):
        shown = memory.recall(f"Which tier does Customer{number} have?")
        told = [fact.text for fact in shown.facts]

        assert not any("silver" in text for text in (*told, *(hit.node.content for hit in shown.hits)))


def lane_ids(memory, question, **moment):
    """What each lane sees at a moment, at any depth, by id."""
    query = memory.handle.embedder().embed([question])[0]
    index = meaning(memory.handle, question).index

    def look(view):
        ground = search.ground(view)
        found = {
            "words": cues.with_words(view, ask(question), ground, {}, None),
            "vectors": list(cues.vectors(view, index, query, ground, None)),
        }
        return {lane: frozenset(view.ids(nodes)) for lane, nodes in found.items()}

    return memory.at(**moment).handle.read(look)


def test_lanes_see_what_a_truncated_store_sees():
    """At 200 random (valid, known) points each lane sees what the store saw when it had learned that much."""
    rng = random.Random(11)
    memory, clock = opened()
    notes, points = [], []
    for _ in range(220):
        clock.advance(rng.randint(1, 1000))
        start = START + rng.randint(-5000, 60_000)
        if not notes or rng.random() < 0.6:
            notes.append(memory.note("learning", sentence(rng, 1, 2), sentence(rng), valid_from=start).id)
        else:
            _change(memory, rng.choice(notes), start, rng)
        question, valid = sentence(rng, 1, 4), START + rng.randint(-6000, 120_000)
        points.append(
            (question, valid, memory.handle.tenant_row()[3], lane_ids(memory, question, valid=valid))
        )
    compared = rng.sample(points, 200)

    for question, valid, known, seen in compared:
        assert lane_ids(memory, question, valid=valid, known=known) == seen
    assert sum(len(seen["words"]) for *_, seen in compared) > 1000
    assert sum(len(seen["vectors"]) for *_, seen in compared) > 1000


def _change(memory, ref, when, rng):
    """Amends, corrects, retires, quarantines or confirms, where that is possible."""
    from worldline import WorldlineError

    way = rng.choice(["amend", "correct", "retire", "quarantine", "confirm"])
    try:
        if way == "amend":
            memory.amend(ref, content=sentence(rng), valid_from=when)
        elif way == "correct":
            memory.correct(ref, content=sentence(rng))
        elif way == "retire":
            memory.retire(ref, when)
        else:
            getattr(memory, way)(ref, "because")
    except WorldlineError:
        pass  # refused: nothing changed, and the point is compared all the same


# Boundaries ----------------------------------------------------------------------------------------


def test_recall_never_leaves_its_boundary(tmp_path):
    """What a tenant, scope or world recalls was written there, by whatever lane it came."""
    rng = random.Random(17)
    homes = {}
    for tenant in ("a", "b"):
        memory = Memory.open(tmp_path / "m.db", QUIET, tenant, embedder=HashEmbedder())
        for user in ("ana", "ben"):
            scoped = memory.scoped(user=user)
            world = scoped.note("project", f"{tenant} {user}", "a world").id
            for name, handle in (("out", scoped), ("in", scoped.enter(world))):
                said = [{"name": user, "content": sentence(rng)} for _ in range(20)]
                ids = {*handle.remember(messages=said, session="talk").ids}
                homes[tenant, user, name] = handle, ids | ({world} if name == "out" else set())
    for (tenant, user, name), (handle, ids) in homes.items():
        allowed = ids | homes[tenant, user, "in"][1] if name == "out" else ids | homes[tenant, user, "out"][1]
        inside = homes[tenant, user, "in"][1]
        for _ in range(15):
            hits = {hit.node.id for hit in handle.recall(sentence(rng), limit=100).hits}
            assert hits <= (allowed if name == "out" else inside | _worlds(handle))
            assert hits


def _worlds(handle):
    """The entered world itself may be found from inside it."""
    return set(handle.handle.read(lambda view: view.ids([handle.handle.world])))


# The same again ------------------------------------------------------------------------------------


def test_the_same_question_has_the_same_answer(tmp_path):
    """Asked twice, and of a store made anew from the same events, recall answers alike."""
    answers = []
    for name in ("one", "two"):
        rng = random.Random(23)
        clock = FrozenClock(START)
        with Memory.open(tmp_path / name, QUIET, clock=clock, embedder=HashEmbedder()) as memory:
            for number in range(30):
                said = [{"name": "Ana", "content": sentence(rng)} for _ in range(6)]
                memory.remember(messages=said, session=f"s{number}", said_at=START + number)
            questions = [sentence(rng) for _ in range(20)]
            answers.append([memory.recall(question) for question in questions])
            assert [memory.recall(question) for question in questions] == answers[-1]

    assert answers[0] == answers[1]
