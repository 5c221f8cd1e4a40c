"""Two periods, supersessions, contradictions, decisions; six queries with exact sets."""

from __future__ import annotations

import pytest

from worldline import Memory
from worldline.testing import FrozenClock

P1, P2 = "2025-03-01", "2025-09-01"


@pytest.fixture(scope="module")
def project():
    """A project of two periods, in its own world, beside another project with the same words."""
    clock = FrozenClock("2025-01-01")
    memory = Memory.open(":memory:", clock=clock)
    ids: dict[str, str] = {}

    def note(type_, name, at, world=None, content=""):
        clock.set(at)
        handle = memory.enter(ids[world]) if world else memory
        ids[name] = handle.note(type_, name, content or name, valid_from=at).id

    def link(src, type_, dst, at):
        clock.set(at)
        memory.link(ids[src], type_, ids[dst])

    note("project", "apollo", "2025-01-01")
    note("project", "zeus", "2025-01-01")
    note("Entity", "Ana", "2025-01-01")
    note("Topic", "period 1", "2025-01-02", "apollo")
    note("Topic", "period 2", "2025-01-02", "apollo")
    note("Decision", "use postgres", "2025-02-01", "apollo", "the database is postgres")
    note("Decision", "ship weekly", "2025-02-10", "apollo")
    note("learning", "load is low", "2025-02-15", "apollo")
    note("learning", "queries are slow", "2025-02-20", "apollo")
    note("Decision", "use mysql", "2025-02-01", "zeus", "the database is mysql")
    for decision in ("use postgres", "ship weekly"):
        link(decision, "instance_of", "period 1", "2025-02-21")
    link("load is low", "supports", "use postgres", "2025-02-22")
    link("queries are slow", "contradicts", "load is low", "2025-02-23")
    link("use postgres", "refers_to", "Ana", "2025-02-24")
    note("Decision", "use sqlite", "2025-07-01", "apollo", "the database is sqlite")
    note("Decision", "ship daily", "2025-07-10", "apollo")
    note("learning", "load is high", "2025-07-15", "apollo")
    for decision in ("use sqlite", "ship daily"):
        link(decision, "instance_of", "period 2", "2025-07-16")
    link("use sqlite", "supersedes", "use postgres", "2025-07-17")
    link("ship daily", "supersedes", "ship weekly", "2025-07-18")
    link("queries are slow", "supports", "use sqlite", "2025-07-19")
    link("load is high", "contradicts", "load is low", "2025-07-20")
    link("load is high", "contradicts", "use sqlite", "2025-07-21")
    clock.set("2025-12-01")
    return memory, ids


def test_1_current_decisions(project):
    """Only what was not superseded, only of this project."""
    memory, ids = project
    found = memory.query().within(ids["apollo"]).where(type="Decision").run()
    assert found.names == {"use sqlite", "ship daily"}


def test_2_decisions_of_the_first_period(project):
    """As of a moment in period 1, on both axes."""
    memory, ids = project
    found = memory.query().within(ids["apollo"]).where(type="Decision").at(as_of=P1).run()
    assert found.names == {"use postgres", "ship weekly"}


def test_3_decisions_connected_with_an_open_contradiction(project):
    """where_connected: the decisions that something contradicts."""
    memory, ids = project
    inside = memory.enter(ids["apollo"])
    found = inside.query().where(type="Decision").where_connected("contradicts").run()
    assert found.names == {"use sqlite"}
    quiet = inside.query().where(type="Decision").where_connected("contradicts", absent=True).run()
    assert quiet.names == {"ship daily"}


def test_4_everything_ever_decided_with_its_interval(project):
    """include_superseded returns closed rows with their intervals, the corrected ones apart."""
    memory, ids = project
    found = memory.query().within(ids["apollo"]).where(type="Decision").include_superseded().run()
    assert found.names == {"use postgres", "ship weekly", "use sqlite", "ship daily"}
    ends = {n.name: n.valid.end for n in found.nodes if n.known.end == 2**63 - 1}
    from worldline.clock import FOREVER, instant

    assert ends == {
        "use postgres": instant("2025-07-01"), "ship weekly": instant("2025-07-10"),
        "use sqlite": FOREVER, "ship daily": FOREVER,
    }  # fmt: skip


def test_5_what_supported_the_decision_that_was_made_in_each_period(project):
    """Walking supports backwards from the decisions visible in each period."""
    memory, ids = project
    inside = memory.enter(ids["apollo"])

    def support(at):
        then = inside.query().at(as_of=at).where(type="Decision").where_connected("instance_of")
        return then.follow("supports", way="in").run().names

    assert support(P1) == {"load is low"}
    assert support(P2) == {"queries are slow"}


def test_6_what_contradicts_what_now(project):
    """Both sides of every open contradiction, by where_connected to a given memory and in general."""
    memory, ids = project
    query = memory.query().where(type="learning")
    assert query.where_connected("contradicts").run().names == {
        "load is low", "queries are slow", "load is high",
    }  # fmt: skip
    assert query.where_connected("contradicts", ids["load is low"]).run().names == {
        "queries are slow", "load is high",
    }  # fmt: skip
    assert query.where_connected("contradicts", ids["load is low"], way="in").run().names == set()
    notes = {n.name: set(n.notes) for n in query.run().nodes}
    assert notes["load is low"] == {"contradicts queries are slow", "contradicts load is high"}


def test_the_boundary_holds_in_the_scenario(project):
    """Words shared with the other project stay in the project; the entity is one refers_to away."""
    memory, ids = project
    inside = memory.enter(ids["apollo"])
    assert inside.query().text("database").run().names == {"use sqlite"}
    assert memory.query().text("database").run().names == {"use sqlite", "use mysql"}
    before = inside.at(as_of=P1)
    assert before.query().seeds(ids["use postgres"]).follow("refers_to").run().names == {"Ana"}


def test_during_limit_and_explain(project):
    """What held at some time in a window; a plan that can be read; a limit that limits."""
    memory, ids = project
    query = memory.query().within(ids["apollo"]).where(type="Decision")
    assert query.during("2025-06-01", "2025-07-05").run().names == {
        "use postgres", "ship weekly", "use sqlite",
    }  # fmt: skip
    assert len(query.limit(1).run().nodes) == 1
    plan = query.where_connected("contradicts").at(as_of=P1).explain()
    for words in ("everything visible", "Decision", "contradicts", "2025-03-01", "what is over is left out"):
        assert words in plan
