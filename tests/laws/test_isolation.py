"""Scopes and tenants never leak: every public read returns only what belongs to the handle."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldline import Fact, Memory, WorldlineError
from worldline.errors import NotFound
from worldline.store.people import only_speaker
from worldline.store.search import facts_near
from worldline.testing import FrozenClock

OWNERS = ("alice", "bob", "carol")

writes = st.lists(
    st.tuples(
        st.sampled_from(OWNERS),
        st.sampled_from(["note", "remember", "fact", "link", "merge", "amend", "retire", "world"]),
        st.integers(0, 5),
    ),
    min_size=4,
    max_size=18,
)


class Estate:
    """Three owners, each of whose texts carry the owner's own secret word."""

    def __init__(self, handles) -> None:
        self.handles = handles
        self.ids = {owner: [] for owner in OWNERS}

    def write(self, owner: str, verb: str, number: int) -> None:
        handle, ids = self.handles[owner], self.ids[owner]
        secret = f"secret{owner}"
        if verb == "note":
            ids.append(handle.note("learning", f"{secret} note {number}", f"{secret} shared words").id)
        elif verb == "remember":
            said = handle.remember(
                f"{secret} said {number}", speaker=secret, session="monday", said_at=number
            )
            ids.append(said.id)
        elif verb == "fact":
            given = Fact(f"{secret} person {number}", f"{secret}_likes", f"{secret} thing")
            ids.append(handle.remember(f"{secret} fact {number}", facts=[given]).id)
        elif verb == "world":
            world = handle.note("project", f"{secret} world").id
            ids.append(world)
            ids.append(handle.enter(world).note("learning", f"{secret} inner {number}").id)
        elif ids:
            self.change(handle, verb, ids, number, secret)

    def change(self, handle, verb, ids, number, secret) -> None:
        a, b = ids[number % len(ids)], ids[-1]
        try:
            if verb == "amend":
                handle.amend(a, f"{secret} amended {number}")
            elif verb == "retire":
                handle.retire(a)
            elif verb == "link":
                handle.link(a, "supports", b)
            elif verb == "merge":
                for proposal in handle.link(a, "same_as", b).proposals:
                    handle.accept_merge(proposal)
        except WorldlineError:
            pass


def everything_read(handle, ids) -> str:
    """All that a handle can read, as one text."""
    told = [
        handle.list(limit=1000),
        handle.list(include_superseded=True, limit=1000),
        handle.query().run(),
        handle.list("Turn", limit=1000),
        handle.list("Entity"),
        handle.list("Fact"),
        handle.list("Session"),
        handle.list("Scope"),
        handle.query().include_superseded().run(),
        handle.query().text("shared words").run(),
        handle.query().text(" ".join(f"secret{owner}" for owner in OWNERS)).run().nodes,
        handle.changes(0),
        handle.diff(0),
        handle.merges(None),
        handle.worlds(),
        handle.stats()["visible"],
        handle.at(known=1_000_000).list(limit=1000),
    ]
    for id_ in ids:
        told += [
            handle.get(id_, exact=True), handle.history(id_), handle.why(id_), handle.equivalence_class(id_),
            handle.export_identity(id_), handle.query().seeds(id_).follow(way="both", depth=3).run(),
            handle.hash(id_),
        ]  # fmt: skip
    return json.dumps(msgspec.to_builtins(told))


def check(estate: Estate) -> None:
    """Nobody reads, names or ends what is another's."""
    for owner, handle in estate.handles.items():
        text = everything_read(handle, estate.ids[owner])
        for other in set(OWNERS) - {owner}:
            assert f"secret{other}" not in text, (owner, other)
            for id_ in estate.ids[other]:
                assert id_ not in text
                refused(handle, id_)
                refused(handle, id_[:10])
                hash_ = estate.handles[other].hash(id_)
                refused(handle, hash_)
        assert handle.verify().ok


def refused(handle, ref) -> None:
    """No verb finds this reference."""
    for read in (handle.get, handle.history, handle.why, handle.enter, handle.hash, handle.retire,
                 handle.equivalence_class, handle.export_identity, handle.correct):  # fmt: skip
        with pytest.raises(NotFound):
            read(ref)


@given(writes)
@settings(max_examples=12)
def test_scopes_never_leak(history):
    """No read of one user's handle returns a word, an id or a count of another user's."""
    memory = Memory.open(":memory:", clock=FrozenClock(1000))
    estate = Estate({owner: memory.scoped(user=owner) for owner in OWNERS})
    for op in history:
        estate.write(*op)
    check(estate)
    memory.close()


@given(writes)
@settings(max_examples=8)
def test_tenants_never_leak(tmp_path_factory, history):
    """The same for three tenants of one file."""
    path = tmp_path_factory.mktemp("tenants") / "one.db"
    estate = Estate({owner: Memory.open(path, tenant=owner) for owner in OWNERS})
    for op in history:
        estate.write(*op)
    check(estate)
    for handle in estate.handles.values():
        handle.close()


def test_scopes_are_anded_and_never_widened(memory):
    """A handle bound to user and agent sees neither the user's nor the agent's other memories."""
    both = memory.scoped(user="u", agent="a").note("learning", "both").id
    user = memory.scoped(user="u").note("learning", "user only").id
    memory.scoped(agent="a").note("learning", "agent only")
    assert {n.id for n in memory.scoped(user="u", agent="a").list().items} == {both}
    assert {n.id for n in memory.scoped(user="u").list().items} == {both, user}
    assert {n.name for n in memory.scoped(agent="a").list().items} == {"both", "agent only"}


def test_a_memory_may_belong_to_several_scopes(memory):
    """What is shared with another scope is seen from both, and from no third."""
    from worldline import Scope

    memory.scoped(user="u").shared_with(Scope(user="v")).note("learning", "ours", "text")
    assert [n.name for n in memory.scoped(user="u").list().items] == ["ours"]
    assert [n.name for n in memory.scoped(user="v").list().items] == ["ours"]
    assert [n.name for n in memory.scoped(user="v").query().text("text").run().nodes] == ["ours"]
    assert memory.scoped(user="w").list().items == ()


def test_the_same_note_in_two_scopes_is_one_node_with_two_lives(memory):
    """One user's amendment and retirement of a shared payload leave the other user's as it was."""
    ann, ben = memory.scoped(user="ann"), memory.scoped(user="ben")
    id_ = ann.note("learning", "tea", "green", valid_from=0).id
    assert ben.note("learning", "tea", "green", valid_from=0).id == id_
    ann.amend(id_, "black", valid_from=10)
    assert ann.get(id_).content == "black"
    assert ben.get(id_).content == "green"
    ben.retire(id_, 20)
    assert ann.get(id_).content == "black"
    assert [n.content for n in memory.list().items] == ["black"]


def test_a_receipt_of_another_scope_cannot_be_undone(memory):
    """Undo looks only at changesets of its own scope."""
    receipt = memory.scoped(user="ann").note("learning", "tea")
    with pytest.raises(NotFound):
        memory.scoped(user="ben").undo(receipt)
    assert memory.scoped(user="ann").get(receipt.id).name == "tea"


def test_another_scope_changes_neither_the_people_nor_the_walk(memory):
    """Who speaks elsewhere, and what was said and asked there, leaves a question's reading and its walk alone."""
    asked = "Where does Clara live, and what did Ana say?"
    me, other = memory.scoped(user="ann"), memory.scoped(user="ben")
    me.remember("Clara lives in Graz.", facts=[Fact("Clara", "lives_in", "Graz")], speaker="Vera")
    before = (
        me.walk_answer(asked),
        [line for line in me.recall(asked, explain=True).trace if "people" in line],
    )
    for number in range(30):
        text = f"The head of Graz number {number} is Ana."
        other.remember(text, speaker="Ana", facts=[Fact(f"person {number}", "lives_in", "Graz")])
    other.walk_answer("Who is the head of Graz?")
    assert (
        me.walk_answer(asked),
        [line for line in me.recall(asked, explain=True).trace if "people" in line],
    ) == before
    assert any("ana" in line for line in other.recall(asked, explain=True).trace if "people" in line)


def test_whose_words_a_shared_fact_rests_on_is_told_by_scope(memory):
    """The same fact said in two scopes is dated by each one's own words."""
    me, other = memory.scoped(agent="a"), memory.scoped(agent="b")
    for handle, when in ((me, 5_000_000), (other, 9_000_000)):
        handle.remember("My sister Clara works at Norvia.", speaker="Vera", said_at=when)
    (fact,) = me.list("Fact").items[:1]
    entities = [node.line for node in me.list("Entity").items]
    seen = me.handle.read(lambda view: facts_near(view, entities, ()))
    assert {one.said_at for one in seen if one.node == fact.key} == {5_000_000}
    assert only_speaker_of(me) == "vera"
    other.remember("I like tea.", speaker="Rui")
    assert only_speaker_of(me) == "vera"


def only_speaker_of(handle) -> str:
    """Whom "I" means where no user is bound."""
    return handle.handle.read(only_speaker)
