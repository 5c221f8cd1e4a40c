"""A night's work on the graph: derived edges, contradictions, re-assertions, lost ground, and stages."""

from __future__ import annotations

import orjson
import pytest
from click.testing import CliRunner

from worldline import Fact, Memory, Predicate
from worldline.clock import instant
from worldline.consolidate import run as night
from worldline.model import Evidence
from worldline.surfaces.cli import main

NIGHT = ("redundancy", "contradictions", "grounding", "infer", "funnel")
HOUR = 3_600_000_000


@pytest.fixture
def sleep(memory, clock):
    """One night, an hour later, after which a second one has nothing to do."""

    def run():
        clock.advance(HOUR)
        report = memory.consolidate(NIGHT)
        again = memory.consolidate(NIGHT)
        assert not again.changed, [slept for slept in again.passes if slept.changes]
        assert memory.verify().ok
        return report

    return run


def happenings(memory, *names):
    """Ids of new happenings."""
    return [memory.note("Happening", name, valid_from="1970-01-01").id for name in names]


def leads(memory, *refs):
    """(source, target, inferred?) of the causes edges around these."""
    names = {node.lineage: node.name for ref in refs for node in memory.walk(ref, "causes").nodes}
    edges = {e.key: e for ref in refs for e in memory.walk(ref, "causes").edges if e.type == "causes"}
    return {
        (names.get(e.src, "?"), names.get(e.dst, "?"), bool(e.metadata.get("inferred")))
        for e in edges.values()
    }


def kept_back(memory):
    """Content and reason of everything that is quarantined."""
    nodes = memory.handle.read(lambda view: view.bind(quarantined=True).nodes("b.status = 'quarantined'"))
    return {node.content: node.reason for node in nodes}


def said(memory, text, session, *facts, speaker="ana"):
    """Remembers words with the facts they are evidence of; the id of the words."""
    return memory.remember(text, session=session, speaker=speaker, facts=facts).id


# Inferred edges ------------------------------------------------------------------------------------


def test_causes_of_causes_are_derived_and_say_so(memory, sleep):
    """What follows from two stated edges is an edge that names what it goes through."""
    a, b, c = happenings(memory, "storm", "flood", "closure")
    memory.link(a, "causes", b)
    memory.link(b, "causes", c)
    sleep()
    stated = {("storm", "flood", False), ("flood", "closure", False)}
    assert leads(memory, c) == {("storm", "closure", True), *stated}
    edge = memory.edge(a, "causes", c)
    assert edge.metadata == {"inferred": True, "made_by": "sleep", "through": [b]}


def test_a_derived_edge_ends_when_what_it_follows_from_is_retired(memory, sleep, clock):
    """It held as long as its parts did, and known-time reads still see it."""
    a, b, c = happenings(memory, "storm", "flood", "closure")
    memory.link(a, "causes", b)
    memory.link(b, "causes", c)
    sleep()
    before = clock.advance(HOUR)
    clock.advance(HOUR)
    memory.retire(memory.edge(b, "causes", c))
    ended = clock()
    sleep()
    assert leads(memory, a) == {("storm", "flood", False)}
    then = memory.at(valid=ended - 1).edge(a, "causes", c)
    assert then.valid.end <= clock()
    assert ("storm", "closure", True) in leads(memory.at(known=before), a)


def test_a_derived_edge_is_withdrawn_when_what_it_follows_from_was_wrong(memory, sleep):
    """Corrected on the known axis, like its ground; another way keeps it."""
    a, b, c, d = happenings(memory, "storm", "flood", "closure", "panic")
    for src, dst in ((a, b), (b, c), (a, d), (d, c)):
        memory.link(src, "causes", dst)
    sleep()
    memory.correct(memory.edge(a, "causes", b))
    sleep()
    assert memory.edge(a, "causes", c).metadata["through"] == [d]
    memory.correct(memory.edge(d, "causes", c))
    sleep()
    assert ("storm", "closure", True) not in leads(memory, a, c)
    assert not [e for e in memory.walk(a, "causes").edges if e.metadata.get("inferred")]


def test_a_derived_edge_holds_where_all_its_parts_hold(memory, sleep):
    """Its interval is the overlap; parts that never meet derive nothing."""
    a, b, c, d = happenings(memory, "a", "b", "c", "d")
    memory.link(a, "causes", b, valid_from="1970-01-02", valid_to="1970-01-06")
    memory.link(b, "causes", c, valid_from="1970-01-04", valid_to="1970-01-09")
    memory.link(c, "causes", d, valid_from="1970-01-08", valid_to="1970-01-09")
    sleep()
    rows = memory.handle.read(lambda view: view.edge_rows("e.type = 'causes' AND e.metadata IS NOT NULL"))
    ends = {(e.src, e.dst): (e.valid.start, e.valid.end) for e in rows}
    assert ends == {
        (a, c): (instant("1970-01-04"), instant("1970-01-06")),
        (b, d): (instant("1970-01-08"), instant("1970-01-09")),
    }


def test_a_derived_edge_does_not_carry_anything_into_a_world(memory, sleep):
    """Both ends inside and the middle outside: whoever is inside must not learn of it."""
    world = memory.note("project", "inside").id
    inner = memory.enter(world)
    a, c = (inner.note("Happening", name).id for name in ("a", "c"))
    (b,) = happenings(memory, "b")
    memory.link(a, "causes", b)
    memory.link(b, "causes", c)
    outer = memory.note("Happening", "e").id
    memory.link(c, "causes", outer)
    sleep()
    assert leads(inner, a, c) == set()
    assert ("b", "e", True) in leads(memory, outer)


def test_subtypes_of_subtypes_are_found_and_a_statement_takes_the_place_of_a_derived_edge(memory, sleep):
    """Stating what was derived makes it stated; the circle check does not trip over derived edges."""
    a, b, c = (memory.note("Entity", name).id for name in ("poodle", "dog", "animal"))
    memory.link(a, "subtype_of", b)
    memory.link(b, "subtype_of", c)
    sleep()
    assert memory.edge(a, "subtype_of", c).metadata["inferred"]
    assert memory.link(a, "subtype_of", c).changed
    assert memory.edge(a, "subtype_of", c).metadata == {}
    memory.correct(memory.edge(b, "subtype_of", c))
    sleep()
    assert memory.edge(a, "subtype_of", c).metadata == {}


def test_circles_of_causes_derive_no_edge_to_themselves(memory, sleep):
    """A vicious circle is no reason to fail."""
    a, b = happenings(memory, "debt", "interest")
    memory.link(a, "causes", b)
    memory.link(b, "causes", a)
    sleep()
    assert leads(memory, a) == {("debt", "interest", False), ("interest", "debt", False)}


def test_owners_derive_apart(memory, clock):
    """An edge of one user and an edge of another make nothing for either."""
    ana, bob = memory.scoped(user="ana"), memory.scoped(user="bob")
    for handle in (ana, bob):
        for name in ("a", "b", "c"):
            handle.note("Happening", name, valid_from=0)
    a, b, c = (next(n.id for n in ana.list("Happening").items if n.name == name) for name in "abc")
    ana.link(a, "causes", b)
    bob.link(b, "causes", c)
    clock.advance(HOUR)
    memory.consolidate(NIGHT)
    assert not any(e.metadata.get("inferred") for h in (ana, bob) for e in h.walk(b, "causes", depth=2).edges)


# Contradictions ------------------------------------------------------------------------------------


def capital(city, **more):
    """A fact that can hold of one city at a time."""
    return Fact("Utopia", "capital", city, valid_from="1970-01-01", functional=True, **more)


def test_two_values_where_one_can_hold_are_a_conflict_with_both_sources(memory, sleep):
    """Both sides, their dates and who said so; recall shows the other side beside either."""
    memory.register(Predicate("seat", functional=True))
    first = said(memory, "Amaurot, the seat!", "s1", Fact("Utopia", "seat", "Amaurot"))
    memory.scoped(run="r").remember("x")  # another scope of its own
    other = memory.note("Entity", "Eutopia").id
    second = said(memory, "Nusquama, the seat!", "s2", Fact(other, "seat", "Nusquama"), speaker="bo")
    assert memory.conflicts() == ()
    utopia = next(n for n in memory.list("Entity").items if n.name == "Utopia").id
    memory.accept_merge(memory.link(utopia, "same_as", other).proposals[0])
    sleep()
    (conflict,) = memory.conflicts()
    assert (conflict.entity, conflict.predicate, conflict.inferred) == ("Utopia", "seat", True)
    assert [side.sources[0].id for side in conflict.sides] == [first, second]
    assert [side.sources[0].speaker for side in conflict.sides] == ["ana", "bo"]
    notes = {hit.node.id: hit.node.notes for hit in memory.recall("which seat?").hits}
    assert notes[first][0].startswith("contradicted by bo on 1970-01-12: Nusquama")
    assert notes[second][0].startswith("contradicted by ana on 1970-01-12: Amaurot")


def test_a_merge_shows_what_contradicts_without_a_night(memory, sleep):
    """At once, as sleep would; the end of the merge takes it away at once, and each undoes in one piece."""
    ana = memory.scoped(user="ana")
    for number, owner in enumerate((ana, ana, memory)):
        name, place = ("Jon Smith", "Rome") if number != 1 else ("John Smith", "Oslo")
        owner.fact(Fact(name, "lives_in", place, valid_from=10 + number, functional=True))
    (proposal,) = ana.merges()
    memory.accept_merge(proposal)
    (conflict,) = ana.conflicts()
    assert {side.node.content for side in conflict.sides} == {
        "Jon Smith lives in Rome", "John Smith lives in Oslo",
    }  # fmt: skip
    sleep()
    assert len(ana.conflicts()) == 1
    memory.undo_merge(proposal)
    assert memory.conflicts() == ()
    accepted = memory.accept_merge(proposal)
    memory.undo(accepted)
    assert memory.conflicts() == ()
    assert memory.verify().ok


def test_a_conflict_is_over_when_one_side_is_closed(memory, sleep, clock):
    """At once for readers, and by the next night for the edges that the sweep made."""
    first = said(memory, "It is Amaurot.", "s1", capital("Amaurot"))
    said(memory, "It is Nusquama.", "s2", capital("Nusquama"))
    sleep()
    assert len(memory.conflicts()) == 1
    noted = clock()
    wrong = next(n for n in memory.list("Fact").items if "Nusquama" in n.content)
    memory.correct(wrong)
    assert memory.conflicts() == ()
    assert memory.at(known=noted).conflicts() != ()
    hits = {hit.node.id: hit.node.notes for hit in memory.recall("Amaurot").hits}
    assert hits[first] == ()
    sleep()
    rows = memory.handle.read(lambda view: view.edge_rows("e.type = 'contradicts' AND e.kt = :forever"))
    assert [row for row in rows if row.metadata.get("inferred")] == []


def test_a_night_goes_on_where_another_process_forgets(tmp_path, monkeypatch):
    """Between what is new and what a pass makes of it a fact may be erased; the pass looks at the others."""
    path, sleeping = tmp_path / "m.db", night._sleep
    with Memory.open(path) as memory, Memory.open(path) as other:
        gone, *rest = [
            memory.fact(Fact("Ana", "lives_in", city, valid_from=0, functional=True)).id
            for city in ("Rome", "Oslo", "Bonn")
        ]

        def interrupted(*given):
            if gone in {node.id for node in other.list("Fact").items}:
                other.forget(gone, confirm=True)
            return sleeping(*given)

        monkeypatch.setattr(night, "_sleep", interrupted)
        memory.consolidate(("contradictions",))
        (conflict,) = memory.conflicts()
        assert {side.node.id for side in conflict.sides} == set(rest)
        assert memory.verify().ok


def test_conflicts_obey_scope_and_world(memory, sleep):
    """Nobody is told of a conflict that he may not see."""
    ana = memory.scoped(user="ana")
    said(ana, "It is Amaurot.", "s1", capital("Amaurot"))
    said(ana, "It is Nusquama.", "s2", capital("Nusquama"))
    said(memory.scoped(user="bo"), "It is Paris.", "s1", capital("Paris"))
    sleep()
    assert len(ana.conflicts()) == 1
    assert memory.scoped(user="bo").conflicts() == ()
    world = memory.note("project", "elsewhere").id
    assert memory.enter(world).conflicts() == ()


def test_what_may_have_several_values_is_no_conflict(memory, sleep):
    """Nor are values that hold one after the other."""
    memory.fact(Fact("Ann", "likes", "tea"))
    memory.fact(Fact("Ann", "likes", "milk"))
    memory.fact(Fact("Ann", "employer", "A", valid_from="1970-01-01", functional=True))
    memory.fact(Fact("Ann", "employer", "B", valid_from="1970-01-05", functional=True))
    sleep()
    assert memory.conflicts() == ()


# Re-assertions -------------------------------------------------------------------------------------


def two_names(memory):
    """Bob and Robert, each said to live in Porto, and the proposal that they are one."""
    bob, robert = (memory.note("Entity", name).id for name in ("Bob", "Robert"))
    one = said(memory, "Porto!", "s1", Fact(bob, "home", "Porto", valid_from="1970-01-01"))
    two = said(memory, "Porto, again!", "s2", Fact(robert, "home", "Porto", valid_from="1970-01-03"))
    return (one, two), memory.link(bob, "same_as", robert).proposals[0]


def test_the_same_said_under_two_names_becomes_one_fact_with_all_evidence(memory, sleep, clock):
    """The longer one stays; the other is withdrawn, never shortened, and says into what it went."""
    words, proposal = two_names(memory)
    memory.accept_merge(proposal)
    before = clock.advance(HOUR)
    sleep()
    (fact,) = memory.list("Fact").items
    assert fact.content == "Bob home Porto"
    assert {node.id for node in memory.why(fact).events} == set(words)
    assert len(memory.at(known=before).list("Fact").items) == 2
    gone = next(n for n in memory.at(known=before).list("Fact").items if n.id != fact.id)
    assert fact.id in [reason.node.id for reason in memory.why(gone.id).reasons]
    assert memory.history(gone)[0].node.valid.end == gone.valid.end


def test_undoing_a_merge_brings_back_what_was_merged_for_it(memory, sleep):
    """With its own evidence, and without it on the other side."""
    words, proposal = two_names(memory)
    memory.accept_merge(proposal)
    sleep()
    memory.undo_merge(proposal)
    sleep()
    found = {node.content: node for node in memory.list("Fact").items}
    assert set(found) == {"Bob home Porto", "Robert home Porto"}
    assert [n.id for n in memory.why(found["Bob home Porto"]).events] == [words[0]]
    assert [n.id for n in memory.why(found["Robert home Porto"]).events if n.id != words[0]] == [words[1]]


def test_what_holds_beyond_the_other_is_not_merged(memory, sleep):
    """Neither covers the other, so both stay."""
    bob, robert = (memory.note("Entity", name).id for name in ("Bob", "Robert"))
    memory.fact(Fact(bob, "home", "Porto", valid_from="1970-01-01", valid_to="1970-01-05"))
    memory.fact(Fact(robert, "home", "Porto", valid_from="1970-01-03"))
    memory.accept_merge(memory.link(bob, "same_as", robert).proposals[0])
    sleep()
    assert len(memory.list("Fact", include_superseded=True).items) == 2
    assert {n.content for n in memory.at(valid="1970-01-04").list("Fact").items} == {
        "Bob home Porto", "Robert home Porto",
    }  # fmt: skip


def test_what_rested_on_a_merged_fact_keeps_its_ground(memory, sleep):
    """Being merged is not being wrong."""
    _, proposal = two_names(memory)
    robert = next(n for n in memory.list("Fact").items if n.content.startswith("Robert"))
    note = memory.note("learning", "n", "Robert can show us Porto").id
    memory.link(note, "derived_from", robert)
    memory.accept_merge(proposal)
    sleep()
    assert memory.get(note).status == "believed"


# Lost ground -----------------------------------------------------------------------------------------


def test_what_hung_on_corrected_words_alone_is_kept_back_at_once(memory):
    """In the same changeset, with a reason that names the words, and down the line; undo restores it."""
    words = said(memory, "I saw it", "s1", Fact("Ann", "saw", "a ghost"))
    (fact,) = memory.list("Fact").items
    note = memory.note("learning", "n", "ghosts exist").id
    memory.link(note, "derived_from", fact)
    receipt = memory.correct(words)
    reasons = kept_back(memory)
    assert reasons["Ann saw a ghost"] == f"its evidence is gone: Turn {words[:12]} was corrected"
    assert reasons["ghosts exist"] == f"its evidence is gone: Fact {fact.id[:12]} was quarantined"
    assert memory.list("Fact").items == ()
    memory.undo(receipt)
    assert kept_back(memory) == {}


def test_what_has_other_evidence_stays(memory, sleep):
    """Two sessions said so; one of them is taken back."""
    fact = Fact("Ann", "saw", "a ghost")
    words = said(memory, "I saw it", "s1", fact)
    said(memory, "I saw it again", "s2", fact)
    memory.correct(words)
    sleep()
    assert kept_back(memory) == {}


def test_confirming_releases_and_the_night_leaves_it_alone(memory, sleep):
    """Somebody's word is worth more than the pass's."""
    words = said(memory, "I saw it", "s1", Fact("Ann", "saw", "a ghost"))
    (fact,) = memory.list("Fact").items
    memory.retire(words)
    assert memory.list("Fact").items == ()
    memory.confirm(fact)
    sleep()
    assert [n.status for n in memory.list("Fact").items] == ["confirmed"]


def test_retired_words_still_carry_what_was_over_by_then(memory, clock):
    """Evidence stands for its own time: only what reaches beyond it is kept back."""
    past = Fact("Ann", "owned", "a boat", valid_from="1970-01-02", valid_to="1970-01-03")
    words = said(memory, "about Ann", "s1", past, Fact("Ann", "owns", "a car", valid_from="1970-01-02"))
    clock.advance(HOUR)
    memory.retire(words)
    assert set(kept_back(memory)) == {"Ann owns a car"}
    assert [n.content for n in memory.at(valid="1970-01-02").list("Fact").items] == ["Ann owned a boat"]


def test_words_that_end_later_are_looked_at_again_then(memory, sleep, clock):
    """A date that passes is no write; the night notices it."""
    words = said(memory, "until March", "s1", Fact("Ann", "rents", "a flat"))
    memory.retire(words, clock() + 5 * HOUR)
    sleep()
    assert kept_back(memory) == {}
    clock.advance(6 * HOUR)
    sleep()
    assert set(kept_back(memory)) == {"Ann rents a flat"}


def test_what_is_said_again_is_believed_again(memory, sleep):
    """New words are new ground."""
    fact = Fact("Ann", "saw", "a ghost")
    memory.correct(said(memory, "I saw it", "s1", fact))
    said(memory, "no, really, I saw it", "s2", fact)
    sleep()
    assert [n.content for n in memory.list("Fact").items] == ["Ann saw a ghost"]


def test_a_fact_given_directly_does_not_hang_on_words_that_came_later(memory, sleep):
    """It stood by itself before."""
    fact = Fact("Ann", "saw", "a ghost", valid_from="1970-01-01")
    memory.fact(fact)
    words = said(memory, "I saw it", "s1", Fact("Ann", "saw", "a ghost"))
    memory.correct(words)
    sleep()
    assert kept_back(memory) == {}


def test_the_side_with_clearly_more_sources_wins_until_the_other_has_them_too(memory, sleep):
    """Outvoted is kept back with the count; votes can change."""
    said(memory, "It is Nusquama.", "s0", capital("Nusquama"))
    for number in (1, 2):
        said(memory, f"It is Amaurot, {number}.", f"s{number}", capital("Amaurot"))
    said(memory, "It is Amaurot, as I said.", "s2", capital("Amaurot"))  # the same session again
    sleep()
    assert kept_back(memory) == {}
    said(memory, "It is Amaurot, 3.", "s3", capital("Amaurot"))
    sleep()
    assert kept_back(memory)["Utopia capital Nusquama"].startswith("outvoted: 3 independent sources say")
    for number in (4, 5):
        said(memory, f"It is Nusquama, {number}.", f"s{number}", capital("Nusquama"))
    sleep()
    assert kept_back(memory) == {}
    assert len(memory.conflicts()) == 1


def test_evidence_that_was_replaced_by_other_words_is_gone(memory):
    """Corrected words are other words; an amendment is not a correction."""
    note = memory.note("reference", "page", "the moon is cheese", valid_from="1970-01-01").id
    memory.fact(Fact("moon", "made of", "cheese", evidence=(Evidence(note),)))
    memory.amend(note, "the moon is cheese, they say")
    assert kept_back(memory) == {}
    memory.correct(note, "the moon is rock")
    assert kept_back(memory) == {}
    memory.correct(memory.at(valid="1970-01-02").get(note), "nothing about the moon")
    assert set(kept_back(memory)) == {"moon made of cheese"}


# Stages ----------------------------------------------------------------------------------------------


def stages(memory, ref):
    """(stage, reason) in the order of the history."""
    found = [v for v in memory.history(ref) if v.change in ("trace", "unit", "crystal")]
    return [(v.change, v.node.reason) for v in found]


def test_a_fact_rises_with_independent_sources_and_history_says_why(memory, sleep, clock):
    """Trace, unit, crystal; the same session twice is one source."""
    fact = Fact("Ann", "likes", "tea", confidence=0.7)
    said(memory, "tea!", "s1", fact)
    (node,) = memory.list("Fact").items
    sleep()
    assert stages(memory, node) == [("unit", "it has a source, with confidence 0.7")]
    said(memory, "tea again!", "s1", fact)
    said(memory, "more tea", "s2", fact)
    sleep()
    assert len(stages(memory, node)) == 1
    before = clock.advance(HOUR)
    said(memory, "still tea", "s3", fact)
    sleep()
    assert stages(memory, node)[1:] == [("crystal", "3 independent sources say so")]
    assert len(stages(memory.at(known=before), node)) == 1
    assert [v.change for v in memory.history(node)] == ["put", "unit", "crystal"]


def test_confirmation_and_decisions_crystallise_and_doubt_does_not_rise(memory, sleep):
    """By a person's word, or because something was decided."""
    unsure = memory.fact(Fact("Ann", "likes", "milk", confidence=0.65)).id
    doubted = memory.fact(Fact("Ann", "earns", "much", confidence=0.4)).id
    decision = memory.note("Decision", "we ship on Friday").id
    sleep()
    assert stages(memory, unsure) == [("unit", "it was given directly, with confidence 0.65")]
    assert stages(memory, doubted) == []
    assert stages(memory, decision) == [("crystal", "it is a decision, with confidence 1")]
    memory.confirm(doubted)
    sleep()
    assert stages(memory, doubted) == [("crystal", "it was confirmed")]


def test_a_crystal_that_loses_its_ground_is_a_trace_again(memory, sleep):
    """And rises again when there is ground."""
    fact = Fact("Ann", "likes", "tea")
    words = [said(memory, f"tea {n}", f"s{n}", fact) for n in range(3)]
    (node,) = memory.list("Fact").items
    sleep()
    for each in words:
        memory.correct(each)
    sleep()
    assert stages(memory, node)[-1] == ("trace", "it is quarantined")
    said(memory, "tea after all", "s9", fact)
    sleep()
    assert stages(memory, node)[-1][0] == "unit"


def test_crystals_come_first_among_facts_that_meet_a_question_equally(memory, sleep):
    """What is sure is shown before what is merely newer, and says that it is sure."""
    sure = Fact("Ann", "drinks", "tea", valid_from="1970-01-01")
    for number in range(3):
        said(memory, f"tea {number}", f"s{number}", sure)
    memory.fact(Fact("Ann", "drinks", "milk", valid_from="1970-01-05"))
    shown = [(f.text, f.stage) for f in memory.recall("What does Ann drink?").facts]
    assert shown == [("Ann drinks milk", "trace"), ("Ann drinks tea", "trace")]
    sleep()
    shown = [(f.text, f.stage) for f in memory.recall("What does Ann drink?").facts]
    assert shown == [("Ann drinks tea", "crystal"), ("Ann drinks milk", "unit")]


def test_stages_of_one_user_are_not_anothers(memory, clock):
    """The same words, sure for one and a trace for the other; a run of a user has the user's stage."""
    ana, bob = memory.scoped(user="ana", run="r1"), memory.scoped(user="bob")
    for handle in (ana, bob):
        handle.fact(Fact("Ann", "likes", "tea", valid_from="1970-01-01"))
    (node,) = ana.list("Fact").items
    ana.confirm(node)
    clock.advance(HOUR)
    memory.consolidate(NIGHT)
    assert stages(ana, node)[-1][0] == "crystal"
    assert stages(bob, node)[-1][0] == "unit"
    assert [f.stage for f in ana.recall("What does Ann like?").facts] == ["crystal"]
    assert [f.stage for f in bob.recall("What does Ann like?").facts] == ["unit"]


def test_a_copy_of_the_file_sleeps_to_the_same_result(tmp_path, clock):
    """The same store, the same night."""
    hashes = []
    for copy in ("a", "b"):
        with Memory.open(tmp_path / f"{copy}.db", clock=lambda: 1_000_000_000_000) as memory:
            for number in range(3):
                said(
                    memory,
                    f"tea {number}",
                    f"s{number}",
                    Fact("Ann", "likes", "tea"),
                    capital(f"City {number}"),
                )
            memory.consolidate(NIGHT)
            hashes.append((memory.hash(), memory.stats()["edges"], len(memory.conflicts())))
    assert hashes[0] == hashes[1]
    assert hashes[0][2] == 3


def test_the_shell_shows_conflicts_stages_and_derived_edges(tmp_path):
    """`conflicts`, `history` and `walk`, for people and for programs."""
    path = str(tmp_path / "m.db")
    with Memory.open(path) as memory:
        said(memory, "Amaurot!", "s1", capital("Amaurot"))
        said(memory, "Nusquama!", "s2", capital("Nusquama"))
        a, b, c = happenings(memory, "storm", "flood", "closure")
        memory.link(a, "causes", b)
        memory.link(b, "causes", c)
        memory.consolidate(NIGHT)
        fact = memory.list("Fact").items[0].id

    def shell(*args):
        result = CliRunner().invoke(main, [*args, "--db", path])
        assert result.exit_code == 0, result.output
        return result.output

    text = shell("conflicts")
    assert "Utopia · capital" in text
    assert "ana in s1: Amaurot!" in text
    (found,) = orjson.loads(shell("conflicts", "--json"))
    assert (found["entity"], found["predicate"]) == ("Utopia", "capital")
    assert [side["sources"][0]["text"] for side in found["sides"]] == ["Amaurot!", "Nusquama!"]
    assert "because it has a source, with confidence 1" in shell("history", fact)
    assert "storm —causes→ closure" in shell("walk", c, "--type", "causes", "--way", "in")
    assert "(inferred through flood)" in shell("walk", c, "--type", "causes", "--way", "in")
    edges = orjson.loads(shell("walk", c, "--type", "causes", "--way", "in", "--json"))["edges"]
    assert [edge["metadata"].get("inferred", False) for edge in edges] == [False, False, True]
