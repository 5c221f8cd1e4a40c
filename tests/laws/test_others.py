"""What another tenant writes and asks changes nothing here: every answer is the same to the byte."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from worldline import Config, Fact, Memory
from worldline.errors import NotFound
from worldline.testing import FrozenClock, HashEmbedder

START, STEP = 1_700_000_000_000_000, 3_600_000_000
PEOPLE = ("Ana", "Ana Lopes", "Rui", "Vera")
SAID = (
    "I moved to Porto last spring.",
    "My sister Clara works at Norvia.",
    "Clara lives in Graz now.",
    "Ana was born in the city of Porto.",
    "The capital of Freedonia is Marxville.",
    "Acme Works was founded by Ana Lopes.",
    "Ana Lopes is a citizen of Freedonia.",
    "We talked about the harbour and the rain.",
    "I no longer drink coffee, only tea.",
    "The harbour project is late because of the storm.",
    "Please always answer in French.",
)
ASKED = (
    "Where does Clara live?",
    "What did Ana say about the harbour?",
    "Where was the founder of Acme Works born?",
    "What is the capital of the country that the founder of Acme Works is a citizen of?",
    "Who drinks coffee?",
    "Which town did I move to?",
    "How should you answer?",
)
ROWS = ("key", "line", "scope", "before", "after")
"""Row numbers: they are no part of an answer outside the process, and count everybody's rows."""

spoken = st.tuples(st.just("say"), st.sampled_from(SAID), st.sampled_from(PEOPLE))
given_facts = st.tuples(
    st.just("fact"), st.sampled_from(("Clara", "Rui")), st.sampled_from(("Graz", "Porto"))
)
noted = st.tuples(st.just("note"), st.sampled_from(SAID), st.just(""))
asked = st.tuples(st.just("ask"), st.sampled_from(ASKED), st.just(""))
mine = st.lists(st.one_of(spoken, spoken, given_facts, noted), min_size=2, max_size=7)
theirs = st.lists(st.one_of(spoken, spoken, given_facts, noted, asked), min_size=1, max_size=8)


def do(handle: Memory, op: tuple[str, str, str]) -> None:
    """One thing that somebody does."""
    verb, text, more = op
    if verb == "say":
        handle.remember(text, speaker=more, session="monday")
    elif verb == "fact":
        handle.remember(f"{text} lives in {more}.", facts=[Fact(text, "lives_in", more)])
    elif verb == "note":
        handle.note("learning", text[:12], text)
    else:
        handle.recall(text, explain=True)
        handle.walk_answer(text)


def plain(value: Any) -> Any:
    """An answer without row numbers."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key not in ROWS}
    return [plain(one) for one in value] if isinstance(value, list) else value


def whole(handle: Memory, name: str) -> Any:
    """A person's profile, if there is such a person here."""
    try:
        return handle.profile(name)
    except NotFound as why:
        return str(why)


def answers(handle: Memory) -> str:
    """All that is answered here, with why."""
    told = [
        [handle.recall(question, explain=True), handle.walk_answer(question), handle.density(question)]
        for question in ASKED
    ]
    seen = [handle.list(limit=100), handle.timeline("harbour"), handle.context(), whole(handle, "Ana")]
    return json.dumps(plain(msgspec.to_builtins([told, seen])), sort_keys=True)


def lived(mine_: list, theirs_: list, who: Any, clock: FrozenClock, *, nights: bool) -> str:
    """What is answered after one's own history, with the others' between its steps."""
    me, other = who
    for number in range(max(len(mine_), len(theirs_))):
        clock.now = START + number * STEP
        if number < len(mine_):
            do(me, mine_[number])
        clock.now += STEP // 2
        if number < len(theirs_):
            do(other, theirs_[number])
    clock.now = START + 40 * STEP
    if nights:
        other.consolidate()
        clock.now += STEP
        me.consolidate()
        clock.now = START + 60 * STEP
    if theirs_:
        for question in ASKED:
            other.walk_answer(question)
            other.recall(question)
    return answers(me)


def alone_and_beside(mine_: list, theirs_: list, pair: Any, *, nights: bool) -> None:
    """The same history twice: alone, then beside somebody else's."""
    told = []
    for others in ([], theirs_):
        clock = FrozenClock(START)
        with Memory.open(":memory:", Config(embedder="none"), clock=clock, embedder=HashEmbedder()) as memory:
            told.append(lived(mine_, others, pair(memory), clock, nights=nights))
    assert told[0] == told[1]


def two_tenants(memory: Memory) -> tuple[Memory, Memory]:
    """Two tenants of one store."""
    return memory, Memory(msgspec.structs.replace(memory.handle, tenant="another"))


@given(mine, theirs, st.booleans())
@settings(max_examples=25)
def test_another_tenant_changes_nothing(mine_, theirs_, nights):
    """Whatever another tenant says, asks and sleeps over."""
    alone_and_beside(mine_, theirs_, two_tenants, nights=nights)
