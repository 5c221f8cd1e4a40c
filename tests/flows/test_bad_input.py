"""Bad input: each a WorldlineError with a reason or a defined result, and nothing half-written."""

from __future__ import annotations

from datetime import datetime

import pytest

from worldline import Config, EdgeType, Event, Evidence, Fact, Memory, Scope, WorldlineError
from worldline.clock import EARLIEST, FOREVER, LAST
from worldline.errors import (
    Ambiguous,
    InvalidInput,
    InvalidText,
    InvalidTime,
    NotFound,
    Refused,
    StoreError,
)
from worldline.write.given import Link, Note

WRONG = [None, 5, -1, 1.5, True, b"bytes", [], {}, object(), "", " ", "\x00", "\ud800", "zz", "a" * 5000]


@pytest.fixture
def store(memory):
    """A memory, two notes and an edge between them."""
    a, b = (memory.note("learning", name, f"text {name}", valid_from=0).id for name in "ab")
    memory.link(a, "relates_to", b)
    return memory, a, b


def rows(memory):
    """Every row of the tables that a write may touch."""
    tables = (
        "nodes",
        "beliefs",
        "edges",
        "events",
        "facts",
        "log",
        "scopes",
        "tenants",
        "worlds",
        "proposals",
    )
    return [memory.handle.store.query(f"SELECT * FROM {table} ORDER BY 1") for table in tables]


@pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "\ud800", "x\udfff", None, 5, [], b"x"])
def test_text_that_cannot_be_stored(memory, text):
    """Empty, NUL, lone surrogates and what is no text at all are InvalidText in every verb."""
    note = memory.note("learning", "n", "c").id
    before = rows(memory)
    verbs = [
        lambda: memory.remember(text),
        lambda: memory.note("learning", text),
        lambda: memory.remember(Event(text)),
        lambda: memory.remember(messages=[{"role": "user", "content": text}]),
        lambda: memory.amend(note, name=text) if text is not None else memory.note("learning", None),
    ]
    if not (isinstance(text, str) and not text.strip()):
        verbs.append(lambda: memory.note("learning", "n", text))
    for verb in verbs:
        with pytest.raises(InvalidText):
            verb()
    assert rows(memory) == before


def test_messages_of_a_chat_as_its_api_has_them(memory):
    """Parts are joined, what has no words is left out and told, and an error says which message it is about."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    done = memory.remember(
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": "hi"}, picture, {"type": "text", "text": "Bo"}],
            },
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "14 degrees"},
            {"role": "user", "content": [picture]},
        ]
    )
    assert [memory.get(id_).content for id_ in done.ids] == ["hi\nBo", "14 degrees"]
    assert "message 2, 4" in done.changes[-1]
    alone = memory.remember(messages=[{"role": "assistant", "content": None, "tool_calls": calls}])
    assert (alone.changed, alone.id) == (False, None)
    before = rows(memory)
    good = {"role": "user", "content": "hello"}
    for wrong in (
        {"role": "user", "content": None},
        {"role": "user", "content": 5},
        {"role": "user", "content": []},
        {"role": "user", "content": "x", "metadata": "m"},
        {"role": "user", "content": "x", "said_at": "never"},
        {"role": ["user"], "content": "x"},
        "user: x",
    ):
        with pytest.raises(InvalidInput, match="message 2"):
            memory.remember(messages=[good, wrong])
    assert rows(memory) == before


def test_ten_megabytes_are_stored_exactly(memory):
    """A long text comes back as it went in, is found by its words, and verify is clean."""
    text = "needle " + "x" * 99 + "\n" + ("lorem ipsum dolor sit amet " * 40 + "\n") * 9800
    text = text[: 10 * 1024 * 1024]
    id_ = memory.note("reference", "long", text).id
    assert memory.get(id_).content == text
    assert memory.query().text("needle").run().names == {"long"}
    assert memory.verify().ok


def test_text_over_the_limit(clock):
    """The message names the size, the limit and the setting; bytes count, not characters."""
    memory = Memory.open(":memory:", Config(max_text=10), clock=clock)
    assert memory.note("learning", "n", "ä" * 5).changed
    with pytest.raises(InvalidText, match="max_text"):
        memory.note("learning", "n", "ä" * 6)
    with pytest.raises(InvalidText):
        memory.remember("x" * 11)
    for verb in (
        lambda: memory.note("learning", "n" * 5000),
        lambda: memory.recall("q" * 100_000),
        lambda: memory.remember("hi", external_id="x" * 5000),
        lambda: memory.scoped(session="s" * 5000),
    ):
        with pytest.raises(InvalidText, match="shorten it") as told:
            verb()
        assert "max_text" not in str(told.value)


def test_unusual_text_is_stored_exactly(memory):
    """Control characters, bidi marks, emoji, combining marks and newlines survive in content."""
    for text in (
        "\x01\x1f\x7f",
        "a\r\nb\tc",
        "🙂‍🧑",
        "e\u0301",
        "\u202eabc",
        "﷽",
        "'; DROP TABLE nodes; --",
        '"',
    ):
        id_ = memory.note("learning", "n", text).id
        assert memory.get(id_).content == text
        memory.query().text(text).run()
    assert memory.verify().ok


@pytest.mark.parametrize(
    "at", [EARLIEST, "0001-01-01", "1969-12-31T23:59:59", -1, 0, "9999-12-31T23:59:59Z", LAST]
)
def test_the_edges_of_time(memory, at):
    """Dates before 1970 and in year 9999 are dates like any other."""
    note = memory.note("learning", "n", valid_from=at).id
    turn = memory.remember("I moved yesterday, and tomorrow I fly.", said_at=at, speaker="me").id
    assert memory.at(valid=at).get(note).name == "n"
    assert memory.at(valid=at).get(turn).content.startswith("I moved")
    assert str(memory.history(note)[0].node.valid.start)
    assert memory.verify().ok


@pytest.mark.parametrize(
    "at", [datetime(2026, 1, 1), "soon", "", 1.5, True, [], LAST + 1, EARLIEST - 1, "10000-01-01", 10**40]
)
def test_times_that_are_none(store, at):
    """Naive datetimes, nonsense and what lies outside the calendar are InvalidTime in every verb."""
    memory, a, b = store
    before = rows(memory)
    for verb in (
        lambda: memory.note("learning", "n", valid_from=at),
        lambda: memory.note("learning", "n", valid_to=at),
        lambda: memory.note("learning", "n", dated=at),
        lambda: memory.remember("x", said_at=at),
        lambda: memory.amend(a, "c", valid_from=at),
        lambda: memory.correct(a, "c", valid_to=at),
        lambda: memory.retire(a, at),
        lambda: memory.link(a, "supports", b, valid_from=at),
        lambda: memory.fact(Fact("a", "p", "b", valid_from=at)),
        lambda: memory.at(valid=at),
        lambda: memory.fact(Fact("a", "p", "b", valid_to=at)),
        lambda: memory.at(known=at),
        lambda: memory.at(as_of=at),
        lambda: memory.changes(at),
        lambda: memory.diff(at),
        lambda: memory.query().at(valid=at).run(),
        lambda: memory.query().during(at, 10).run(),
        lambda: memory.load([Note("learning", "n", valid_from=at)]),
        lambda: memory.remember(messages=[{"role": "u", "content": "c", "said_at": at}]),
    ):
        with pytest.raises(InvalidTime):
            verb()
    assert rows(memory) == before


def test_intervals_the_wrong_way_round(store):
    """An end that is not after its start is refused by every verb."""
    memory, a, b = store
    before = rows(memory)
    for verb in (
        lambda: memory.note("learning", "n", valid_from=5, valid_to=5),
        lambda: memory.note("learning", "n", valid_from=FOREVER),
        lambda: memory.amend(a, "c", valid_from=10, valid_to=5),
        lambda: memory.correct(a, "c", valid_from=10, valid_to=5),
        lambda: memory.correct(a, valid_to=0),
        lambda: memory.link(a, "supports", b, valid_from=10, valid_to=9),
        lambda: memory.fact(Fact("a", "p", "b", valid_from=10, valid_to=9)),
        lambda: memory.remember("x", said_at=FOREVER),
        lambda: memory.query().during(5, 5),
    ):
        with pytest.raises(InvalidTime):
            verb()
    assert rows(memory) == before


def test_one_moment_for_both_axes_stands_alone(memory):
    """`as_of` beside another time of an axis is refused; beside the same one it means what it says."""
    for made in (memory, memory.query()):
        for other in ({"valid": "2026-01-02"}, {"known": "2026-01-02"}):
            with pytest.raises(InvalidTime, match="as_of is the moment of both axes"):
                made.at(as_of="2026-01-01", **other)
    assert memory.at(as_of="2026-01-01", valid="2026-01-01").handle.moment == (
        memory.at(as_of="2026-01-01").handle.moment
    )


def test_the_end_of_time_is_now(memory):
    """Looking from FOREVER on the known axis sees what is believed now."""
    memory.note("learning", "n")
    assert len(memory.at(known=FOREVER).list().items) == 1


def test_circles_and_self_loops(store):
    """Refused, with nothing left behind."""
    memory, a, b = store
    memory.link(a, "contains", b)
    before = rows(memory)
    for src, type_, dst in ((b, "contains", a), (a, "contains", a), (a, "relates_to", a), (a, "same_as", a)):
        with pytest.raises(Refused):
            memory.link(src, type_, dst)
    assert rows(memory) == before


def test_prefixes(clock):
    """A unique prefix fetches; an ambiguous one lists its candidates; a short one is refused."""
    memory = Memory.open(":memory:", Config(prefix_length=1), clock=clock)
    ids = [memory.note("learning", f"n{number}").id for number in range(40)]
    for prefix in "0123456789abcdef":
        fitting = [id_ for id_ in ids if id_.startswith(prefix)]
        if len(fitting) > 1:
            with pytest.raises(Ambiguous) as caught:
                memory.get(prefix)
            assert sum(id_[:16] in str(caught.value) for id_ in fitting) >= 2
    unique = next(id_[:n] for id_ in ids for n in range(1, 9) if sum(x.startswith(id_[:n]) for x in ids) == 1)
    assert memory.get(unique).id.startswith(unique)
    assert memory.get(unique.upper()).id.startswith(unique)
    strict = Memory.open(":memory:", clock=clock)
    id_ = strict.note("learning", "n").id
    assert strict.get(id_[:8]).id == id_
    with pytest.raises(InvalidInput):
        strict.get(id_[:7])
    with pytest.raises(NotFound):
        strict.get("0123456789")
    with pytest.raises(InvalidInput):
        strict.get(id_ + "0")


def test_too_deep(memory):
    """The 65th level is refused with the number in the message."""
    inner = memory.note("project", "0").id
    for number in range(1, 64):
        inner = memory.enter(inner).note("project", str(number)).id
    before = rows(memory)
    with pytest.raises(Refused, match="64"):
        memory.enter(inner).note("project", "64")
    assert rows(memory) == before
    assert memory.verify().ok


CALLS = {
    "get": lambda m, a, x: m.get(x),
    "history": lambda m, a, x: m.history(x),
    "why": lambda m, a, x: m.why(x),
    "enter": lambda m, a, x: m.enter(x),
    "hash": lambda m, a, x: m.hash(x or "zz"),
    "amend": lambda m, a, x: m.amend(x, "c"),
    "correct": lambda m, a, x: m.correct(x, "c"),
    "retire": lambda m, a, x: m.retire(x),
    "confirm": lambda m, a, x: m.confirm(x),
    "quarantine": lambda m, a, x: m.quarantine(x, "r"),
    "link src": lambda m, a, x: m.link(x, "supports", a),
    "link dst": lambda m, a, x: m.link(a, "supports", x),
    "link type": lambda m, a, x: m.link(a, x, a),
    "note type": lambda m, a, x: m.note(x, "n"),
    "undo": lambda m, a, x: m.undo(x),
    "accept": lambda m, a, x: m.accept_merge(x),
    "reject": lambda m, a, x: m.reject_merge(x),
    "undo_merge": lambda m, a, x: m.undo_merge(x),
    "class": lambda m, a, x: m.equivalence_class(x),
    "export": lambda m, a, x: m.export_identity(x),
    "split": lambda m, a, x: m.split(a, [x], "n"),
    "register": lambda m, a, x: m.register(x),
    "seeds": lambda m, a, x: m.query().seeds(x).run(),
    "within": lambda m, a, x: m.query().within(x or "zz").run(),
    "fact": lambda m, a, x: m.fact(x),
    "remember facts": lambda m, a, x: m.remember("t", facts=[x]),
    "load note": lambda m, a, x: m.load([x]),
    "load link": lambda m, a, x: m.load([Note("learning", "n")], [x]),
    "messages": lambda m, a, x: m.remember(messages=[x]),
    "evidence": lambda m, a, x: m.fact(Fact("s", "p", "o", evidence=(Evidence(x),))),
    "kind": lambda m, a, x: m.query().where(kind=x if x is not None else "zz").run(),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_types_where_a_memory_or_a_value_is_meant(store, call):
    """Each wrong value is a WorldlineError, and nothing is written."""
    memory, a, _ = store
    before = rows(memory)
    for wrong in WRONG:
        with pytest.raises(WorldlineError):
            CALLS[call](memory, a, wrong)
        if not call.startswith("remember"):
            assert rows(memory) == before, wrong
    assert memory.verify().ok


LOOSE = {
    "amend content": lambda m, a, x: m.amend(a, x),
    "amend name": lambda m, a, x: m.amend(a, name=x),
    "amend reason": lambda m, a, x: m.amend(a, "c", reason=x),
    "correct reason": lambda m, a, x: m.correct(a, "c", reason=x),
    "retire reason": lambda m, a, x: m.retire(a, reason=x),
    "quarantine": lambda m, a, x: m.quarantine(a, x),
    "confirm": lambda m, a, x: m.confirm(a, x),
    "metadata": lambda m, a, x: m.note("learning", "n", metadata=x),
    "metadata value": lambda m, a, x: m.note("learning", "n", metadata={"k": x}),
    "event metadata": lambda m, a, x: m.remember("t", metadata=x),
    "speaker": lambda m, a, x: m.remember("t", speaker=x),
    "session": lambda m, a, x: m.remember("t", session=x),
    "external id": lambda m, a, x: m.remember("t", external_id=x),
    "recipient": lambda m, a, x: m.remember(Event("t", recipient=x)),
    "modality": lambda m, a, x: m.remember(Event("t", modality=x)),
    "category": lambda m, a, x: m.remember(Event("t", category=x)),
    "source": lambda m, a, x: m.remember(Event("t", source=x)),
    "subject": lambda m, a, x: m.fact(Fact(x, "p", "o")),
    "predicate": lambda m, a, x: m.fact(Fact("s", x, "o")),
    "object": lambda m, a, x: m.fact(Fact("s", "p", x)),
    "literal": lambda m, a, x: m.fact(Fact("s", "p", literal=x)),
    "confidence": lambda m, a, x: m.fact(Fact("s", "p", "o", confidence=x)),
    "precision": lambda m, a, x: m.fact(Fact("s", "p", "o", precision=x)),
    "fact reason": lambda m, a, x: m.fact(Fact("s", "p", "o", reason=x)),
    "functional": lambda m, a, x: m.fact(Fact("s", "p", "o", functional=x)),
    "evidence": lambda m, a, x: m.fact(Fact("s", "p", "o", evidence=x)),
    "user": lambda m, a, x: m.scoped(user=x).note("learning", "n"),
    "scope session": lambda m, a, x: m.scoped(session=x).remember("t"),
    "shared": lambda m, a, x: m.shared_with(Scope(user=x)).note("learning", "n"),
    "split name": lambda m, a, x: m.split(a, [], x),
    "list type": lambda m, a, x: m.list(x),
    "list limit": lambda m, a, x: m.list(limit=x),
    "list page": lambda m, a, x: m.list(page=x),
    "list metadata": lambda m, a, x: m.list(metadata=x),
    "recall limit": lambda m, a, x: m.recall("text", limit=x),
    "recall tokens": lambda m, a, x: m.recall("text", max_tokens=x),
    "context tokens": lambda m, a, x: m.context(max_tokens=x),
    "timeline limit": lambda m, a, x: m.timeline("text", limit=x),
    "facts with words": lambda m, a, x: m.remember("I said so.", facts=x),
    "facts with a note": lambda m, a, x: m.note("learning", "n", facts=x),
    "merges": lambda m, a, x: m.merges(x),
    "text": lambda m, a, x: m.query().text(x).run(),
    "follow": lambda m, a, x: m.query().follow(x).run(),
    "depth": lambda m, a, x: m.query().follow(depth=x).run(),
    "way": lambda m, a, x: m.query().follow(way=x).run(),
    "where type": lambda m, a, x: m.query().where(type=x).run(),
    "where name": lambda m, a, x: m.query().where(name=x).run(),
    "contains": lambda m, a, x: m.query().where(contains=x).run(),
    "where metadata": lambda m, a, x: m.query().where(metadata=x).run(),
    "connected": lambda m, a, x: m.query().where_connected(x).run(),
    "connected to": lambda m, a, x: m.query().where_connected("supports", x).run(),
    "limit": lambda m, a, x: m.query().limit(x).run(),
    "walk depth": lambda m, a, x: m.walk(a, depth=x),
    "changes": lambda m, a, x: m.changes(x),
    "diff": lambda m, a, x: m.diff(x),
    "load inside": lambda m, a, x: m.load([Note("learning", "n", inside=x)]),
    "load ends": lambda m, a, x: m.load([Note("learning", "n")], [Link(x, "supports", x)]),
    "load": lambda m, a, x: m.load(x),
    "register name": lambda m, a, x: m.register(EdgeType(x)),
    "predicate of link": lambda m, a, x: m.link(a, "fact", a, predicate=x),
    "open tenant": lambda m, a, x: Memory.open(":memory:", tenant=x).close(),
}


@pytest.mark.parametrize("call", LOOSE)
def test_wrong_types_in_details(store, call):
    """A wrong detail is a WorldlineError or has a defined result; the store stays whole either way."""
    memory, a, _ = store
    for wrong in WRONG:
        try:
            LOOSE[call](memory, a, wrong)
        except WorldlineError:
            continue
    assert memory.verify().damage == ()
    assert memory.note("learning", "still works").changed


def test_metadata(memory):
    """Plain JSON only; numbers too large, sets and NUL are refused."""
    for metadata in ({1: 2}, {"a": {1, 2}}, {"a": 2**70}, {"a": "\x00"}, {"a": "\ud800"}, [1], "x"):
        with pytest.raises(InvalidInput):
            memory.note("learning", "n", metadata=metadata)
    id_ = memory.note("learning", "n", metadata={"a": [1, {"b": None}], "ü": "é"}).id
    assert memory.get(id_).metadata == {"a": [1, {"b": None}], "ü": "é"}
    assert len(memory.list(metadata={"ü": "é"}).items) == 1
    assert memory.list(metadata={"ü": "e"}).items == ()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_has_not(memory, number):
    """NaN and infinity in metadata are refused with the key that has them, and not stored as null."""
    before = rows(memory)
    verbs = [
        lambda given: memory.note("learning", "n", metadata=given),
        lambda given: memory.remember("text", metadata=given),
        lambda given: memory.remember(messages=[{"role": "user", "content": "x", "metadata": given}]),
        lambda given: memory.load([Note("learning", "n", metadata=given)]),
    ]
    for verb in verbs:
        with pytest.raises(InvalidInput, match=r"'a\.b\.1'"):
            verb({"none": None, "a": {"b": [1.5, number]}})
    assert rows(memory) == before


@pytest.mark.parametrize("limit", [0, -1, 1.5, True])
def test_a_limit_is_at_least_one(store, limit):
    """No read takes a limit that asks for nothing, or for less, as one for everything."""
    memory, a, _ = store
    reads = [
        lambda: memory.changes(limit=limit),
        lambda: memory.recall("text a", limit=limit),
        lambda: memory.explain("text a", a, limit=limit),
        lambda: memory.timeline("text a", limit=limit),
        lambda: memory.walk_answer("Who is a?", limit=limit),
        lambda: memory.list(limit=limit),
        lambda: memory.episodes(limit=limit),
    ]
    for read in reads:
        with pytest.raises(InvalidInput):
            read()


def test_an_edge_of_another_store_is_not_found(store, clock):
    """Row numbers are private: an Edge or Node of one store means nothing in another."""
    memory, a, b = store
    other = Memory.open(":memory:", clock=clock)
    x, y = (other.note("learning", name).id for name in "xy")
    other.link(x, "relates_to", y)
    with pytest.raises(NotFound):
        other.retire(memory.edge(a, "relates_to", b))
    with pytest.raises(NotFound):
        other.get(memory.get(a))
    assert len(other.query().run().edges) == 1


def test_files_that_are_no_stores(tmp_path):
    """Another file, another SQLite file, a folder: each a StoreError that says so."""
    import sqlite3

    from worldline.errors import StoreError

    text, foreign = tmp_path / "text.db", tmp_path / "foreign.db"
    text.write_text("hello world, this is no database at all" * 50)
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path in (text, foreign, tmp_path):
        with pytest.raises(StoreError):
            Memory.open(path)


def test_nothing_changes_after_the_end_of_time() -> None:
    """A feed from the last moment on is empty, not an error."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.note("context", "a")

        assert memory.changes(FOREVER) == ()


@pytest.mark.parametrize("place", [":memory:", "m.db"])
def test_a_memory_that_was_closed_says_so(clock, tmp_path, monkeypatch, place) -> None:
    """Reads of a memory whose store is closed are a StoreError with what to do, as writes are."""
    monkeypatch.chdir(tmp_path)
    memory = Memory.open(place, clock=clock)
    note = memory.note("learning", "n", "c").id
    memory.close()
    looks = (
        lambda: memory.get(note),
        lambda: memory.recall("n"),
        lambda: memory.list(),
        lambda: memory.stats(),
        lambda: memory.handle.store.tenants(),
        lambda: memory.remember("text"),
        lambda: memory.note("learning", "m"),
    )
    for look in looks:
        with pytest.raises(StoreError, match="open it again"):
            look()
    memory.close()
