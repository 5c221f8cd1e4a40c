"""LangGraph's store over worlds: the behaviours of the package's own stores, and history besides."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from worldline import Config, Memory
from worldline.errors import InvalidInput, StoreError
from worldline.langgraph import WorldlineStore
from worldline.testing import FrozenClock


@pytest.fixture
def store() -> Iterator[WorldlineStore]:
    """An empty store, kept in memory."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        yield WorldlineStore(memory)


def keys(found: list[Any]) -> list[str]:
    """The keys of a search."""
    return [item.key for item in found]


@pytest.mark.parametrize("namespace", [("foo.bar",), ("foo", ""), ("foo", 1)])
def test_a_batch_with_a_namespace_that_is_not_allowed_does_nothing(
    store: WorldlineStore, namespace: tuple[Any, ...]
) -> None:
    """Operations given straight to `batch` are checked as the methods check theirs, before any is done."""
    for op in (GetOp(namespace, "k"), PutOp(namespace, "k", {}), SearchOp(namespace)):
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(("fine",), "k", {}), op])
    assert store.get(("fine",), "k") is None


def test_a_prefix_may_be_a_list(store: WorldlineStore) -> None:
    """As with the package's own stores."""
    store.put(("a", "b"), "k", {"n": 1})
    assert keys(store.search(["a"])) == ["k"]  # type: ignore[arg-type]


def test_put_get_delete(store: WorldlineStore) -> None:
    """A value comes back as it was put; a deleted one is gone; the times are aware."""
    value = {"text": "a", "n": 1.5, "nested": {"list": [1, None, "名前"]}, "": True}
    store.put(("users", "1"), "prefs", value)

    item = store.get(("users", "1"), "prefs")

    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "prefs", ("users", "1"))
    assert item.created_at == item.updated_at <= datetime.now(UTC)
    store.delete(("users", "1"), "prefs")
    store.delete(("users", "1"), "never there")
    assert store.get(("users", "1"), "prefs") is None
    assert store.get(("nobody",), "prefs") is None
    assert store.search(("users",)) == []


def test_put_over_a_key_is_an_amendment(store: WorldlineStore) -> None:
    """The newest value is read, its creation date stays, and every former value is in the history."""
    store.put(("a",), "k", {"v": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"v": 2})
    store.put(("a",), "k", {"v": 1})
    store.put(("a",), "k", {"v": 1})
    last = store.get(("a",), "k")
    store.delete(("a",), "k")
    store.put(("a",), "k", {"v": 3})

    assert first is not None
    assert last is not None
    assert (last.value, last.created_at) == ({"v": 1}, first.created_at)
    assert last.updated_at > first.updated_at
    assert store.get(("a",), "k").value == {"v": 3}  # type: ignore[union-attr]
    values = [version["value"]["v"] for version in store.history(("a",), "k")]
    assert (values[0], values[-1], set(values)) == (1, 3, {1, 2, 3})
    assert [v["change"] for v in store.history(("a",), "k")].count("retired") == 1
    assert store.memory.verify().ok


STEP = st.tuples(st.sampled_from("no"), st.sampled_from("kl"), st.sampled_from([None, "a", "b", "c"]))


@given(st.lists(STEP, max_size=24))
def test_a_key_behaves_as_in_a_dict(steps: list[tuple[str, str, str | None]]) -> None:
    """Whatever was put and deleted before, a key holds what was put last; None deletes."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        store, said = WorldlineStore(memory), dict[tuple[str, str], str]()
        for name, key, value in steps:
            if value is None:
                store.delete((name,), key)
                said.pop((name, key), None)
            else:
                store.put((name,), key, {"v": value})
                said[name, key] = value
            got = store.get((name,), key)
            assert (got and got.value) == (value and {"v": value})
            found = [((item.namespace[0], item.key), item.value["v"]) for item in store.search(())]
            assert sorted(found) == sorted(said.items())
        assert memory.verify().ok


def test_a_value_that_somebody_else_put_may_be_put_too() -> None:
    """Two users' stores over one memory: neither stands in the way of the other's values."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        ana, bo = WorldlineStore(memory.scoped(user="ana")), WorldlineStore(memory.scoped(user="bo"))
        for store, value in ((ana, "a"), (bo, "b"), (bo, "a"), (ana, "b"), (ana, "a"), (bo, "b")):
            store.put(("n",), "k", {"v": value})

        assert [store.search(())[0].value["v"] for store in (ana, bo)] == ["a", "b"]
        assert [len(store.search(())) for store in (ana, bo)] == [1, 1]


def test_the_past_stays_readable(store: WorldlineStore) -> None:
    """What a key held at an earlier moment can still be read from the memory itself."""
    store.put(("a",), "k", {"v": 1})
    before = store.get(("a",), "k").updated_at  # type: ignore[union-attr]
    store.put(("a",), "k", {"v": 2})

    past = WorldlineStore(store.memory.at(as_of=before))

    assert past.get(("a",), "k").value == {"v": 1}  # type: ignore[union-attr]


def test_same_key_and_value_in_two_namespaces(store: WorldlineStore) -> None:
    """Equal items of different namespaces are different items."""
    for namespace in (("a",), ("b",), ("a", "b")):
        store.put(namespace, "k", {"v": 1})
    store.delete(("a",), "k")

    assert store.get(("a",), "k") is None
    assert store.get(("b",), "k") is not None
    assert store.get(("a", "b"), "k") is not None
    assert {item.namespace for item in store.search(())} == {("b",), ("a", "b")}


@pytest.mark.parametrize("key", ["", " ", "a  b", " a b", "a/b%20c", "é", "e\u0301", "x" * 3000, "ns.key\n"])
def test_any_key(store: WorldlineStore, key: str) -> None:
    """Keys are kept exactly, whatever is in them."""
    store.put(("n",), key, {"v": 1})
    store.put(("n",), key + "x", {"v": 2})

    assert store.get(("n",), key).value == {"v": 1}  # type: ignore[union-attr]
    assert store.get(("n",), key).key == key  # type: ignore[union-attr]


def test_namespaces_are_checked(store: WorldlineStore) -> None:
    """Empty namespaces, empty labels, periods and the reserved root are refused, as the package does."""
    for namespace in ((), ("the", "thing.about"), ("some", ""), ("langgraph", "x")):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {"v": 1})
    store.put(("foo", "langgraph"), "k", {"v": 1})
    store.batch([PutOp(("langgraph", "x"), "k", {"v": 2})])

    assert store.get(("langgraph", "x"), "k").value == {"v": 2}  # type: ignore[union-attr]


def test_what_means_nothing_is_refused(store: WorldlineStore) -> None:
    """A value that is no dict, a number that JSON has not and an offset from the end are told plainly."""
    with pytest.raises(InvalidInput, match="'k' must be a dict, not str"):
        store.put(("u",), "k", "str")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"nan at 'a\.b'"):
        store.put(("u",), "k", {"a": {"b": float("nan")}})
    for look in (lambda: store.search(("u",), offset=-1), lambda: store.list_namespaces(offset=-1)):
        with pytest.raises(InvalidInput, match="offset"):
            look()
    store.put(("u",), "k", {"a": None})

    assert store.get(("u",), "k").value == {"a": None}  # type: ignore[union-attr]


def test_what_has_a_time_to_live_ends_by_itself() -> None:
    """Minutes after the last read it is gone; a read puts that off, unless it is told not to."""
    clock = FrozenClock("2026-01-01")
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        store = WorldlineStore(memory)
        store.put(("a",), "k", {"v": "milk"}, ttl=10)
        clock.advance(6 * 60_000_000)
        assert store.get(("a",), "k", refresh_ttl=False) is not None
        assert store.get(("a",), "k").value == {"v": "milk"}  # type: ignore[union-attr]
        clock.advance(6 * 60_000_000)
        assert keys(store.search(("a",), query="milk", refresh_ttl=False)) == ["k"]
        clock.advance(6 * 60_000_000)
        assert store.get(("a",), "k") is None
        assert store.search(("a",)) == []
        store.put(("a",), "k", {"v": "tea"}, ttl=10)
        store.put(("a",), "k", {"v": "tea"})
        clock.advance(60 * 60_000_000)
        assert store.get(("a",), "k").value == {"v": "tea"}  # type: ignore[union-attr]


def test_labels_are_whole_and_literal(store: WorldlineStore) -> None:
    """A prefix or suffix matches whole labels, their case and every character of them; the empty prefix all."""
    labels = [
        "foo",
        "foobar",
        "Foo",
        "user_1",
        "userX1",
        "a%b",
        "axxb",
        "star*",
        "starX",
        "q?m",
        "qXm",
        "alice\n",
    ]
    places = [*((label,) for label in labels), ("foo", "child"), ("users", "alice"), ("users", "malice")]
    for place in places:
        store.put(place, "k", {"v": 1})

    def below(*prefix: str) -> set[tuple[str, ...]]:
        listed = set(store.list_namespaces(prefix=prefix))
        found = {item.namespace for item in store.search(prefix, limit=100)}
        assert found == listed
        return found

    assert below() == set(places)
    assert below("fo") == set()
    assert below("foo") == {("foo",), ("foo", "child")}
    assert [below(label) for label in labels[1:]] == [{(label,)} for label in labels[1:]]
    assert store.list_namespaces(suffix=("alice",)) == [("users", "alice")]


def test_filters_take_keys_and_values_as_they_are(store: WorldlineStore) -> None:
    """Hyphens, digits, quotes, truth values and extreme numbers mean themselves; nothing in them is a query."""
    one = {"access-level": "public", "price": 10, "on": True, "user": {"123abc": "ok"}, "by": "O'Brien"}
    store.put(("d",), "one", one)
    store.put(("d",), "two", {"access-level": "secret", "price": -10, "on": False})
    wanted: list[tuple[dict[str, Any], list[str]]] = [
        ({"access-level": "public"}, ["one"]), ({"user.123abc": "ok"}, ["one"]), ({"by": "O'Brien"}, ["one"]),
        ({"on": True}, ["one"]), ({"on": False}, ["two"]), ({"price": {"$lt": 0}}, ["two"]),
        ({"price": {"$lt": float("inf")}}, ["one", "two"]), ({"price": {"$lt": 10**100}}, ["one", "two"]),
        ({"price": {"$eq": float("nan")}}, []), ({"access-level": "public' OR '1'='1"}, []),
        ({"access-level": "public\x00' OR 1"}, []), ({"on') = 1 OR '1'='1' --": "x"}, []),
    ]  # fmt: skip

    assert [sorted(keys(store.search(("d",), filter=each))) for each, _ in wanted] == [
        found for _, found in wanted
    ]


@pytest.mark.parametrize("query", ["", None, "harbour " * 100, "harbour!@#$%^&*()"])
def test_any_query(store: WorldlineStore, query: str | None) -> None:
    """Empty, missing, very long and noisy queries find what is there."""
    store.put(("d",), "one", {"text": "a harbour in winter"})

    assert keys(store.search(("d",), query=query)) == ["one"]


def test_words_of_any_script(store: WorldlineStore) -> None:
    """Chinese, Japanese, Korean, Russian and Hindi texts are found by their words."""
    texts = ["这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है"]
    for text in texts:
        store.put(("m",), text, {"text": text})

    assert [store.search(("m",), query=text)[0].key for text in texts] == texts


def test_what_has_ended_fills_no_page() -> None:
    """The default time to live can be shortened or lifted; pages and namespaces hold only what lives."""
    clock = FrozenClock("2026-01-01")
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        store = WorldlineStore(memory, ttl={"default_ttl": 10, "refresh_on_read": False})
        store.put(("t", "short"), "short", {"v": 1}, ttl=1)
        store.put(("t", "default"), "default", {"v": 1})
        store.put(("t", "lasting"), "lasting", {"v": 1}, ttl=None)
        clock.advance(2 * 60_000_000)
        assert len(store.search(("t",), limit=2)) == 2
        assert store.search(("t",), limit=2, offset=2) == []
        assert store.list_namespaces() == [("t", "default"), ("t", "lasting")]
        clock.advance(10 * 60_000_000)
        assert keys(store.search(("t",))) == ["lasting"]
        assert store.list_namespaces() == [("t", "lasting")]


def test_one_key_from_many_tasks(tmp_path: Path) -> None:
    """Concurrent puts and deletes of one key never fail and leave one item or none."""

    async def work() -> None:
        store = WorldlineStore(tmp_path / "busy.db")
        await asyncio.gather(*(store.aput(("a",), "k", {"v": at}) for at in range(8)))
        assert len(await store.asearch(("a",))) == 1
        await asyncio.gather(
            *(store.aput(("a",), "k", {"v": at}) if at % 2 else store.adelete(("a",), "k") for at in range(8))
        )
        assert len(await store.asearch(("a",))) <= 1
        begun = [asyncio.ensure_future(store.aput(("b",), str(at), {"v": at})) for at in range(6)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        await asyncio.gather(*begun)
        with WorldlineStore(tmp_path / "busy.db") as again:
            assert len(again.search(("b",))) == 6

    asyncio.run(work())


@pytest.mark.parametrize("given", [True, False])
def test_a_closed_store_says_so(tmp_path: Path, given: bool) -> None:
    """Awaited or not, and whether the memory in it was its own or goes on."""

    async def work(store: WorldlineStore) -> None:
        store.put(("a",), "k", {"v": 1})
        store.close()
        store.close()
        for call in (lambda: store.aget(("a",), "k"), lambda: store.aput(("a",), "k", {"v": 2})):
            with pytest.raises(StoreError, match="closed"):
                await asyncio.wait_for(call(), 10)
        with pytest.raises(StoreError, match="closed"):
            store.get(("a",), "k")

    with Memory.open(tmp_path / "held.db") as memory:
        asyncio.run(work(WorldlineStore(memory if given else tmp_path / "own.db")))
        assert bool(memory.list().items) is given


def test_fields_dotted_keys_and_scores(store: WorldlineStore) -> None:
    """Only indexed fields are found by their words, dots reach inside, and scores lie between 0 and 1."""
    store.put(
        ("d",), "one", {"title": "harbour lights", "body": {"by": "Ana", "text": "gulls"}}, index=["title"]
    )
    store.put(
        ("d",), "two", {"title": "mountain hut", "body": {"by": "Bo", "text": "harbour"}}, index=["title"]
    )
    store.put(("d",), "all", {"note": "a harbour in winter"})
    found = {item.key: item.score for item in store.search(("d",), query="harbour")}

    assert {key for key, score in found.items() if score is not None} == {"one", "all"}
    assert all(0 < score <= 1 for score in found.values() if score is not None)
    assert keys(store.search(("d",), filter={"body.by": "Bo"})) == ["two"]
    assert keys(store.search(("d",), filter={"body.by": {"$ne": "Bo"}}))[0] == "one"


def test_what_is_known_below_a_namespace(store: WorldlineStore) -> None:
    """Beside the items, `known` gives confidence, and a doubt with its reason."""
    store.put(("users", "ana"), "home", {"text": "Ana lives in Rome."})
    told = store.known(("users",), "What is the blood type of Zoe?")

    assert told["abstained"]
    assert told["reason"]
    assert 0 <= told["confidence"] <= 1


NAMESPACES = [
    ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"),
    ("b", "a", "f"), ("users", "123"), ("users", "456", "settings"), ("admin", "users", "789"),
]  # fmt: skip
QUESTIONS: list[dict[str, Any]] = [
    {}, {"prefix": ("a", "b")}, {"suffix": ("f",)}, {"prefix": ("a",), "suffix": ("f",)},
    {"prefix": ("a", "b"), "max_depth": 3}, {"prefix": ("a", "b"), "limit": 2},
    {"prefix": ("a", "b"), "offset": 2}, {"prefix": ("a", "*", "f")}, {"suffix": ("*", "f")},
    {"prefix": ("nonexistent",)}, {"max_depth": 1}, {"prefix": ("*", "users"), "suffix": ("*", "settings")},
]  # fmt: skip


def test_list_namespaces_as_the_package_does(store: WorldlineStore) -> None:
    """Prefixes, suffixes, wildcards, depths and pages answer as InMemoryStore answers."""
    theirs = InMemoryStore()
    for number, namespace in enumerate(NAMESPACES):
        for each in (store, theirs):
            each.put(namespace, f"id_{number}", {"data": number})

    assert [store.list_namespaces(**q) for q in QUESTIONS] == [theirs.list_namespaces(**q) for q in QUESTIONS]


DOCS = {
    "doc1": {"text": "red apple", "color": "red", "score": 4.5, "tags": ["a", "b"], "in": {"x": 1, "y": 2}},
    "doc2": {"text": "red car", "color": "red", "score": 3.0, "tags": ["a"]},
    "doc3": {"text": "green apple", "color": "green", "score": 4.0, "in": {"x": 2}},
    "doc4": {"text": "blue car", "color": "blue", "score": 3.5},
}
FILTERS: list[dict[str, Any]] = [
    {"color": "red"}, {"color": {"$eq": "red"}}, {"color": {"$ne": "red"}}, {"score": {"$gt": 3.2}},
    {"score": {"$gte": 4.0}, "color": "green"}, {"score": {"$lt": 3.5}}, {"score": {"$lte": 3.5}},
    {"tags": ["a", "b"]}, {"in": {"x": 1}}, {"missing": None}, {"color": "pink"},
]  # fmt: skip


def test_filters_as_the_package_does(store: WorldlineStore) -> None:
    """Equality, comparisons, nested objects and lists filter as InMemoryStore filters."""
    theirs = InMemoryStore()
    for key, value in DOCS.items():
        store.put(("test",), key, value)
        theirs.put(("test",), key, value)

    for wanted in FILTERS:
        assert keys(store.search(("test",), filter=wanted)) == keys(theirs.search(("test",), filter=wanted))
    with pytest.raises(ValueError, match="unsupported operator"):
        store.search(("test",), filter={"score": {"$near": 1}})


def test_search_by_words(store: WorldlineStore) -> None:
    """A query ranks what it matches with a score; the rest follows without one; pages do not overlap."""
    for key, value in DOCS.items():
        store.put(("test", "deep"), key, value)
    store.put(("other",), "doc9", {"text": "an apple elsewhere"})

    found = store.search(("test",), query="apple", filter={"color": "red"})
    pages = [store.search(("test",), query="car", limit=2, offset=offset) for offset in (0, 2, 4)]

    assert keys(found) == ["doc1", "doc2"]
    assert found[0].score is not None
    assert found[1].score is None
    assert {*keys(pages[0])} == {"doc2", "doc4"}
    assert sorted(keys(pages[0]) + keys(pages[1]) + keys(pages[2])) == sorted(DOCS)
    assert all(item.namespace == ("test", "deep") for page in pages for item in page)


def test_an_updated_item_is_found_by_its_new_words(store: WorldlineStore) -> None:
    """After a put over it, the old words do not score any more; an unindexed item never does."""
    store.put(("test",), "doc1", {"text": "zany zebra Xerxes"})
    store.put(("test",), "doc2", {"text": "something about dogs"})
    assert store.search(("test",), query="zebra")[0].key == "doc1"

    store.put(("test",), "doc1", {"text": "new text about dogs"})
    store.put(("test",), "doc4", {"text": "a dachshund"}, index=False)

    assert all(item.score is None for item in store.search(("test",), query="zebra"))
    assert store.get(("test",), "doc4").value == {"text": "a dachshund"}  # type: ignore[union-attr]
    assert all(item.score is None for item in store.search(("test",), query="dachshund"))


def test_batch(store: WorldlineStore) -> None:
    """A batch answers in order, reads before it writes, and keeps the last of several puts to a key."""
    store.put(("a",), "old", {"v": 0})

    answers = store.batch([
        PutOp(("a",), "k", {"v": 1}),
        GetOp(("a",), "old"),
        PutOp(("a",), "k", {"v": 2}),
        SearchOp(("a",)),
        ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("a",)),)),
        PutOp(("a",), "old", None),
    ])  # fmt: skip

    assert answers[0] is answers[2] is answers[5] is None
    assert answers[1].value == {"v": 0}  # type: ignore[union-attr]
    assert keys(answers[3]) == ["old"]  # type: ignore[arg-type]
    assert answers[4] == [("a",)]
    assert store.get(("a",), "k").value == {"v": 2}  # type: ignore[union-attr]
    assert store.get(("a",), "old") is None


def test_async(tmp_path: Path) -> None:
    """The async methods do the same without blocking, several at once, and the file keeps it all."""

    async def work(store: WorldlineStore) -> list[Any]:
        await asyncio.gather(*(store.aput(("t",), f"k{n}", {"n": n}) for n in range(8)))
        await store.adelete(("t",), "k0")
        found = await store.asearch(("t",), filter={"n": {"$gt": 3}})
        return [await store.aget(("t",), "k0"), sorted(keys(found)), await store.alist_namespaces()]

    with WorldlineStore(tmp_path / "me.db") as store:
        assert isinstance(store, BaseStore)
        assert asyncio.run(work(store)) == [None, ["k4", "k5", "k6", "k7"], [("t",)]]
    with WorldlineStore(tmp_path / "me.db") as again:
        assert again.get(("t",), "k7").value == {"n": 7}  # type: ignore[union-attr]


def test_inside_a_graph(store: WorldlineStore) -> None:
    """A compiled LangGraph graph reads and writes the store that it is given."""
    graph = import_module("langgraph.graph")

    class State(TypedDict):
        said: str

    def node(state: State, *, store: BaseStore) -> State:
        store.put(("memories", "ana"), "last", {"said": state["said"]})
        found = store.search(("memories",), query=state["said"])
        return {"said": found[0].value["said"] + "!"}

    builder = graph.StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(graph.START, "node")
    app = builder.compile(store=store)

    assert app.invoke({"said": "green tea"}) == {"said": "green tea!"}
    assert store.memory.recall("green tea").hits


def test_stores_of_two_scopes_are_apart() -> None:
    """Two stores over two users' handles of one memory do not see each other."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        ana, bo = WorldlineStore(memory.scoped(user="ana")), WorldlineStore(memory.scoped(user="bo"))
        ana.put(("n",), "k", {"v": "ana"})
        bo.put(("n",), "k", {"v": "bo"})

        assert ana.get(("n",), "k").value == {"v": "ana"}  # type: ignore[union-attr]
        assert keys(bo.search(())) == ["k"]
        assert bo.search(())[0].value == {"v": "bo"}
