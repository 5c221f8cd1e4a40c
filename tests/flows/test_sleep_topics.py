"""Topics and summaries: what sleep makes of talk, how one walks through it, and what recall does with it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from worldline import Memory
from worldline.config import Config
from worldline.model import Node
from worldline.testing import FrozenClock
from worldline.text import estimate_tokens
from worldline.write.given import Note

BOAT = (
    "I bought an old sailboat in Porto and its engine is broken.",
    "You could have the engine of the sailboat checked by a mechanic.",
    "The mechanic in Porto says the engine needs a new pump, and the sails are torn.",
    "Then order the pump first and let a sailmaker look at the sails.",
    "Marta will help me to sew the sails of the sailboat next week.",
    "It is kind of Marta to help with the sails.",
)
GARDEN = (
    "My greenhouse has tomatoes, but the soil is too dry for tomatoes.",
    "Mix compost into the soil of the greenhouse.",
    "The compost from Gil made the soil in the greenhouse better and the tomatoes grow.",
    "Compost and water keep tomatoes healthy.",
    "Gil brought more compost for the tomatoes and a beehive for the greenhouse.",
    "Bees in a greenhouse are good for tomatoes.",
)


def _chat(texts: tuple[str, ...], day: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text, "said_at": day} for at, text in enumerate(texts)]


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Four sessions about two things, a month ago."""
    config = Config(embedder="none", understand="off")
    with Memory.open(":memory:", config, clock=FrozenClock("2025-06-01")) as opened:
        for number, (texts, day) in enumerate(
            ((BOAT, "2025-04-02"), (GARDEN, "2025-04-03"), (BOAT, "2025-04-20"), (GARDEN, "2025-04-21"))
        ):
            said = tuple(f"{text} ({number})" for text in texts)
            opened.remember(messages=_chat(said, day), session=f"s{number}")
        yield opened


def _of(memory: Memory, type_: str) -> list[Node]:
    return list(memory.list(type_, limit=200).items)


def _state(memory: Memory) -> list[tuple[Any, ...]]:
    return memory.handle.store.query("SELECT sequence, kind FROM log ORDER BY sequence")


# Topics ----------------------------------------------------------------------------------------------


def test_sessions_about_one_thing_become_a_topic(memory: Memory) -> None:
    """Two subjects in four sessions are two topics, named by their terms, which say who made them and why."""
    memory.consolidate(["topics"])
    topics = _of(memory, "Topic")
    assert len(topics) == 2
    terms = {word for topic in topics for word in topic.content.splitlines()[0].split(", ")}
    assert {"sailboat", "greenhouse", "Porto", "Gil"} <= terms
    for topic in topics:
        assert topic.metadata["made_by"] == "sleep"
        assert "in 2 sessions share these terms, 2025-04-0" in topic.content


def test_a_topic_leads_to_its_sessions_and_words(memory: Memory) -> None:
    """A topic is derived from its sessions, and why reaches the turns that open its stretches."""
    memory.consolidate(["topics"])
    boat = next(topic for topic in _of(memory, "Topic") if "sailboat" in topic.content)
    made_of = memory.query().seeds(boat.id).follow("derived_from").run()
    assert {node.name for node in made_of.nodes if node.type == "Session"} == {"s0", "s2"}
    events = memory.why(boat.id).events
    assert events
    assert all("sail" in event.content for event in events)


def test_a_second_night_makes_nothing_and_a_new_session_joins(memory: Memory) -> None:
    """Nothing is made twice; a third session joins the topic that is there, whose lineage stays."""
    memory.consolidate(["topics", "summaries"])
    before, known = _state(memory), {topic.lineage for topic in _of(memory, "Topic")}
    assert not memory.consolidate(["topics", "summaries"]).changed
    assert _state(memory) == before
    memory.remember(messages=_chat(BOAT, "2025-05-10"), session="s9")
    memory.consolidate(["topics"])
    topics = _of(memory, "Topic")
    assert {topic.lineage for topic in topics} == known
    assert any("in 3 sessions" in topic.content for topic in topics)
    assert memory.verify().ok


def test_one_walks_from_a_topic_to_what_takes_it_up(memory: Memory) -> None:
    """Months later the same subject is a topic of its own: the old one precedes it, and the shared terms are told."""
    for day, name in (("2025-01-03", "early"), ("2025-01-04", "earlier")):
        memory.remember(messages=_chat(tuple(f"{text} {name}" for text in BOAT), day), session=name)
    memory.consolidate(["topics"])
    topics = sorted(_of(memory, "Topic"), key=lambda topic: topic.metadata["first"])
    first = topics[0]
    assert first.metadata["last"] < topics[1].metadata["first"]
    walk = memory.query().seeds(first.id).follow("precedes").run()
    assert walk.nodes
    assert all("sailboat" in node.content for node in walk.nodes)
    edges = [edge for edge in walk.edges if edge.type == "precedes"]
    assert all(edge.metadata["inferred"] is True for edge in edges)
    assert any("sailboat" in edge.metadata["terms"] for edge in edges)
    beside = memory.query().seeds(first.id).follow("relates_to", way="both").run()
    assert {node.id for node in walk.nodes} <= {node.id for node in beside.nodes}


def test_what_has_no_company_waits_for_it() -> None:
    """One stretch alone makes no topic; when another night brings its like, both are in it."""
    config = Config(embedder="none", understand="off")
    with Memory.open(":memory:", config, clock=FrozenClock("2025-06-01")) as memory:
        memory.remember(messages=_chat(BOAT, "2025-04-02"), session="one")
        memory.consolidate(["topics"])
        assert _of(memory, "Topic") == []
        again = tuple(f"Again: {text}" for text in BOAT)
        memory.remember(messages=_chat(again, "2025-04-09"), session="two")
        memory.consolidate(["topics"])
        [topic] = _of(memory, "Topic")
        assert "in 2 sessions" in topic.content


def test_owners_share_no_topic() -> None:
    """What two users say about one thing is two topics, each of its own words."""
    config = Config(embedder="none", understand="off")
    with Memory.open(":memory:", config, clock=FrozenClock("2025-06-01")) as memory:
        for user in ("ana", "ben"):
            for number, day in enumerate(("2025-04-02", "2025-04-09")):
                said = tuple(f"{text} {user} {number}" for text in BOAT)
                memory.scoped(user=user).remember(messages=_chat(said, day), session=f"{user}{number}")
        memory.consolidate(["topics", "summaries"])
        for user, other in (("ana", "ben"), ("ben", "ana")):
            mine = memory.scoped(user=user)
            [topic] = _of(mine, "Topic")
            told = " ".join(event.content for event in mine.why(topic.id).events)
            assert user in told
            assert other not in told
            assert all(other not in node.content for node in _of(mine, "Summary"))


# Summaries -------------------------------------------------------------------------------------------


def _summary(memory: Memory, world: Node) -> Node:
    [found] = memory.query().seeds(world.id).prefer_summaries().run().nodes
    return found


def _session(memory: Memory, name: str) -> Node:
    [found] = memory.handle.read(lambda view: view.visible([view.session(name)]))
    return found


def test_a_world_gets_one_summary_that_cites(memory: Memory) -> None:
    """A session's summary lies in it, shows dates, and each line is a sentence of an event that it cites."""
    memory.consolidate(["summaries"])
    found = _summary(memory, _session(memory, "s0"))
    assert found.type == "Summary"
    assert found.metadata["made_by"] == "sleep"
    assert found.content.startswith("2025-04-02 user: ")
    reasons = memory.why(found.id).reasons
    cited = {reason.node.content[slice(*reason.span)] for reason in reasons if reason.span}
    assert {line.split(": ", 1)[1] for line in found.content.splitlines()} == cited


def test_a_summary_is_amended_when_its_world_grows(memory: Memory) -> None:
    """New talk gives the same summary another version: nothing is doubled, and what it no longer cites is closed."""
    memory.consolidate(["summaries"])
    session = _session(memory, "s0")
    before = _summary(memory, session)
    more = ("Marta found a mooring in Lisbon for the sailboat.", "A mooring in Lisbon is dear.")
    memory.remember(messages=_chat(more * 1, "2025-05-02"), session="s0")
    for number in range(6):
        memory.remember(
            f"The mooring in Lisbon costs Marta {number + 3}00 euros.", session="s0", said_at="2025-05-03"
        )
    memory.consolidate(["summaries"])
    after = _summary(memory, session)
    assert after.lineage == before.lineage
    assert after.id != before.id
    assert "Lisbon" in after.content
    inside = memory.query().seeds(session.id).follow("contains").run()
    assert len([node for node in inside.nodes if node.type == "Summary"]) == 1
    cited = memory.query().seeds(after.id).follow("derived_from").run()
    assert len(cited.nodes) == len({line.split(": ", 1)[1] for line in after.content.splitlines()})
    assert not memory.consolidate(["summaries"]).changed
    assert memory.verify().ok


def test_young_worlds_wait() -> None:
    """A world is summarised when it is old enough, though nothing new has come by then."""
    clock = FrozenClock("2025-04-02T12:00")
    with Memory.open(":memory:", Config(embedder="none", understand="off"), clock=clock) as memory:
        memory.remember(messages=_chat(BOAT, "2025-04-02"), session="one")
        memory.consolidate(["summaries"])
        assert _of(memory, "Summary") == []
        clock.advance(2 * 86_400_000_000)
        memory.consolidate(["summaries"])
        assert len(_of(memory, "Summary")) == 1


def test_a_world_of_worlds_is_made_of_their_summaries(memory: Memory) -> None:
    """A project with two sessions is summarised from the summaries of these, and leads on to the words."""
    project = memory.note("project", "repairs", "everything about the boat").id
    inside = memory.enter(project)
    for number in range(4):
        said = tuple(f"{text} ({number} again)" for text in BOAT)
        inside.remember(messages=_chat(said, f"2025-04-1{number}"), session=f"p{number}")
    memory.consolidate(["summaries"])
    found = _summary(memory, memory.get(project))
    cited = memory.query().seeds(found.id).follow("derived_from").run().nodes
    assert {node.type for node in cited} == {"Summary"}
    assert memory.why(found.id).events


def test_preferring_summaries_is_cheap_and_covers_what_is_frequent() -> None:
    """Ten thousand notes are read for a tenth of the tokens at most, with four fifths of what recurs in them."""
    names = ("Ana", "Ben", "Cleo", "Dora", "Emil", "Fatma", "Goran", "Hana", "Ivo", "Jana")
    things = ("tiles", "oven", "sink", "window", "floor", "cupboard", "lamp", "pipes")
    days = [f"2025-{month:02d}-{day:02d}" for month in range(1, 13) for day in (3, 17)]
    notes = [Note("Topic", "kitchen", "the new kitchen", valid_from="2025-01-01")]
    for at in range(10_000):
        who, thing, day = names[at % 10], things[at % 7], days[at % 23]
        text = f"On {day} we saw that {who} had changed the {thing} for {at} euros."
        notes.append(Note("learning", f"seen {at}", text, valid_from="2025-12-31", inside=0))
    config = Config(embedder="none")
    with Memory.open(":memory:", config, clock=FrozenClock("2026-02-01")) as memory:
        memory.load(notes)
        topic = _of(memory, "Topic")[0]
        memory.consolidate(["summaries"])
        read = memory.query().seeds(topic.id)
        short = read.prefer_summaries().run().nodes
        details = read.follow("contains").run().nodes
        assert [node.type for node in short] == ["Summary"]
        assert len(details) == 10_001
        tokens = sum(estimate_tokens(node.content) for node in details[:-1])
        assert 10 * estimate_tokens(short[0].content) <= tokens
        covered = [item for item in (*names, *days[:23]) if item in short[0].content]
        assert len(covered) >= 0.8 * 33
        assert memory.query().within(topic.id).prefer_summaries().run().nodes == short
        assert len(memory.query().seeds(short[0].id).follow("derived_from").run().nodes) > 20
        assert "shown by it" in read.prefer_summaries().explain()


class _Scripted(BaseHTTPRequestHandler):
    answers: ClassVar[list[str | None]] = []
    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Gives the next answer of the script; the last one again and again."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(body["messages"][-1]["content"])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.send_response(500 if answer is None else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": answer}}]}).encode())

    def log_message(self, *args: Any) -> None:
        """Stays silent."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The address of a scripted model on loopback."""
    _Scripted.seen.clear()
    server = HTTPServer(("127.0.0.1", 0), _Scripted)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1#scripted"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_writes_and_rules_stand_in_for_it(endpoint: str) -> None:
    """The model gets the chosen sentences; where it does not answer they stand; both cite the events."""
    _Scripted.answers[:] = ["Marta mends the sails of a boat in Porto.", None]
    config = Config(embedder="none", understand="off", summariser="model", model=endpoint)
    with Memory.open(":memory:", config, clock=FrozenClock("2025-06-01")) as memory:
        for name, texts in (("one", BOAT), ("two", GARDEN)):
            memory.remember(messages=_chat(texts, "2025-04-02"), session=name)
        memory.consolidate(["summaries"])
        written, chosen = (_summary(memory, _session(memory, name)) for name in ("one", "two"))
        assert written.content == "Marta mends the sails of a boat in Porto."
        assert written.metadata["by"].endswith("#scripted")
        assert chosen.metadata["by"] == "rules"
        assert chosen.content.startswith("2025-04-02 user: ")
        assert "2025-04-02 user: " in _Scripted.seen[0]
        assert memory.why(written.id).events
        assert memory.why(chosen.id).events
        assert not memory.consolidate(["summaries"]).changed


# Recall ----------------------------------------------------------------------------------------------


def test_what_sleep_made_does_not_compete_and_what_a_user_wrote_does(memory: Memory) -> None:
    """Recall's hits are verbatim: no topic or summary of sleep is among them, but a summary somebody wrote is."""
    memory.note("Summary", "boat", "In short: the sailboat in Porto needs a pump for its engine.")
    memory.consolidate(["topics", "summaries"])
    found = memory.recall("Which engine needs a pump in Porto?", limit=20)
    mine = [hit.node.metadata.get("made_by") for hit in found.hits]
    assert "sleep" not in mine
    assert "Summary" in {hit.node.type for hit in found.hits}


def test_a_broad_question_draws_on_topics_and_says_so(memory: Memory) -> None:
    """For a summary or an order, hits tell what their topic and a summary gave; without the lane they do not."""
    question = "Can you summarize how the engine of the sailboat and the help of Gil came about?"
    memory.consolidate(["topics", "summaries"])
    factors = [hit.factors for hit in memory.recall(question, limit=12).hits]
    assert any("topic" in each for each in factors)
    assert any("summary" in each for each in factors)
    bare = memory.recall(question, limit=12, without=frozenset({"topics"}))
    assert all({"topic", "summary"}.isdisjoint(hit.factors) for hit in bare.hits)
    detail = memory.recall("Who will help me with the sails?", limit=12)
    assert all({"topic", "summary"}.isdisjoint(hit.factors) for hit in detail.hits)


def test_factors_still_add_up(memory: Memory) -> None:
    """The score of a hit is the sum of its factors, those of topics included."""
    memory.consolidate(["topics", "summaries"])
    for hit in memory.recall("Give me an overview of the greenhouse", limit=12).hits:
        assert abs(sum(hit.factors.values()) - hit.points) < 1e-9
