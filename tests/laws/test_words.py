"""The words index ranks as BM25 says, whatever was moved or removed, and counts within one tenant."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from worldline import Config, Memory
from worldline.store import migrate, words
from worldline.store.glance import StoreGlance as Glance
from worldline.store.view import SqlView
from worldline.store.words import All, Either, Index, any_of
from worldline.testing import FrozenClock

VOCABULARY = [f"w{n}" for n in range(400)]
OFTEN = list(itertools.accumulate(1 / (n + 1) for n in range(len(VOCABULARY))))
KINDS = ("0food", "0pet", "0job")
OWNERS = ("us1", "us2", "us3")


@pytest.fixture(autouse=True)
def folded_early(monkeypatch):
    """The texts of small stores are folded in too."""
    monkeypatch.setattr(words, "FRESH", 192)


class Shelf:
    """An index with random texts, and the same texts in a list."""

    def __init__(self, seed: int, number: int) -> None:
        self.dice = random.Random(seed)
        self.memory = Memory.open(":memory:", clock=FrozenClock(1000))
        self.memory.note("learning", "first", "so that there is a tenant")
        self.store = self.memory.handle.store
        self.tenant = 77
        self.view = SqlView(self.store, self.tenant, valid=0)
        self.hot = {row: self.text(row) for n in range(1, number + 1) for row in self.rows(n)}
        self.cold: dict[int, tuple[int, str, str, str]] = {}
        texts = list(self.hot.values())
        while texts:
            some = self.dice.choice((1, 1, 3, 40, 150))
            self.change(lambda index, some=some: index.add(texts[:some]))
            del texts[:some]

    def rows(self, node):
        return [node * 65536 + passage for passage in range(self.dice.choice((1, 1, 1, 3)))]

    def text(self, row):
        tokens = self.dice.choices(VOCABULARY, cum_weights=OFTEN, k=1 + int(self.dice.expovariate(0.1)))
        kinds = self.dice.sample(KINDS, self.dice.choice((0, 0, 1, 2)))
        owners = self.dice.sample(OWNERS, self.dice.choice((0, 1, 1, 2)))
        return (row, " ".join(["t77", *owners]), " ".join(tokens), " ".join(kinds))

    def change(self, work):
        with self.store.writing("default"):
            work(Index(self.store, self.tenant))

    def disturb(self):
        """Texts leave, go to the archive, come back, and get another owner, in any order."""
        for row in self.dice.sample(sorted(self.hot), len(self.hot) // 3):
            text, way = self.hot[row], self.dice.choice(("gone", "cold", "there and back", "owner"))
            if way == "owner":
                self.hot[row] = (row, text[1] + " us9", text[2], text[3])
                self.change(lambda index, old=text, new=self.hot[row]: index.replace([old], [new]))
            elif way == "gone":
                del self.hot[row]
                self.change(lambda index, text=text: index.remove([text]))
            else:
                self.change(lambda index, text=text: index.move([text], cold=True))
                self.cold[row] = self.hot.pop(row)
        for row in sorted(self.cold)[::2]:
            self.hot[row] = self.cold.pop(row)
            self.change(lambda index, text=self.hot[row]: index.move([text], cold=False))

    def question(self):
        tokens = list(
            dict.fromkeys(self.dice.choices(VOCABULARY, cum_weights=OFTEN, k=self.dice.randint(1, 6)))
        )
        if len(tokens) > 3 and self.dice.random() < 0.4:
            return Either((tokens[0], All((tokens[1], any_of(tokens[2:]))), All((tokens[-1], tokens[0]))))
        return any_of(tokens, self.dice.sample(KINDS, self.dice.choice((0, 0, 1))))


def expected(texts, match, owners=()):
    """(node, score) by plain BM25 over every text."""
    length = {row: sum(len(part.split()) for part in text[1:]) for row, text in texts.items()}
    mean = sum(length.values()) / max(len(texts), 1)

    def often(row, term):
        if term.startswith("#"):
            return 0.4 * texts[row][3].split().count(term[1:])
        return texts[row][2].split().count(term)

    def score(row, part):
        """None where it does not match."""
        if isinstance(part, str):
            if not (found := often(row, part)):
                return None
            held = sum(1 for other in texts if often(other, part))
            idf = max(math.log((len(texts) - held + 0.5) / (held + 0.5)), 1e-6)
            return idf * found * 2.2 / (found + 1.2 * (0.25 + 0.75 * length[row] / mean))
        scores = [score(row, each) for each in part.parts]
        if isinstance(part, All):
            return None if None in scores else sum(scores)
        return sum(s for s in scores if s is not None) if any(s is not None for s in scores) else None

    found = {}
    for row in texts:
        if set(owners) <= set(texts[row][1].split()) and (worth := score(row, match)) is not None:
            found[row] = worth
    best = {}
    for row in sorted(found, key=lambda row: (-round(found[row], 9), row)):
        best.setdefault(row // 65536, found[row])
    return list(best.items())


def agree(found, wanted):
    """The same nodes in the same order, with the same scores."""
    assert [node for node, _ in found] == [node for node, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_bm25(seed):
    """Rows and scores equal a plain computation, with kinds, owners and parts that must come together."""
    shelf = Shelf(seed, 150)
    shelf.disturb()
    whole = shelf.view.bind(cold=True)
    for _ in range(12):
        match, owners = shelf.question(), shelf.dice.choice(((), (), ("us1",), ("us1", "us2")))
        theirs = {
            node for node, _ in expected(shelf.hot, match, owners)
        }  # what a large owner has is asked for
        found = [words.search(shelf.view, match, depth, owners, theirs.intersection) for depth in (None, 5)]
        agree(found[0], expected(shelf.hot, match, owners))
        agree(found[1], expected(shelf.hot, match, owners)[:5])
        agree(words.search(whole, match, 9, (), list), expected({**shelf.hot, **shelf.cold}, match)[:9])
    assert not list(words.damaged(shelf.store.query, shelf.tenant))


def test_rare_words_first_finds_the_same(monkeypatch):
    """Where common words are not read for every text, the best are those of the full scan, seen or not."""
    shelf = Shelf(5, 1500)
    for _ in range(60):
        tokens = shelf.dice.choices(VOCABULARY, cum_weights=OFTEN, k=shelf.dice.randint(2, 7))
        match, depth = any_of(tokens, shelf.dice.sample(KINDS, 1)), shelf.dice.choice((1, 5, 20))
        seen = {node for node in range(1600) if shelf.dice.random() < 0.6}
        found = []
        for at_once in (100, 10**9):
            monkeypatch.setattr(words, "_EVERYTHING_AT_ONCE", at_once)
            found.append(words.search(shelf.view, match, depth, (), seen.intersection))
        assert found[0] == found[1]
        assert len(found[0]) == depth


def test_common_words_are_not_all_read(monkeypatch):
    """A question with a rare word scores far fewer postings than its common words have."""
    shelf = Shelf(6, 2500)
    monkeypatch.setattr(words, "_EVERYTHING_AT_ONCE", 100)
    monkeypatch.setattr(words, "_SHORT", 100)
    read = []
    plain = words._evaluate
    monkeypatch.setattr(words, "_evaluate", lambda match, lists: read.append(match) or plain(match, lists))
    found = words.search(shelf.view, any_of(["w0", "w1", "w250", "w260", "w270"]), 3, (), list)
    assert len(found) == 3
    assert read
    assert all("w0" not in match.parts for match in read if isinstance(match, Either))


def test_one_by_one_and_together_make_the_same_index():
    """However texts came in, the lists are the same once nothing waits."""
    texts = list(Shelf(8, 200).hot.values())
    made = []
    for size in (1, 7, len(texts)):
        shelf = Shelf(9, 0)
        for start in range(0, len(texts), size):
            shelf.change(lambda index, some=texts[start : start + size]: index.add(some))
        shelf.change(lambda index: index.fold())
        lists = {}
        order = "ORDER BY term, CASE WHEN chunk = 0 THEN 1 ELSE 0 END, chunk"
        for term, rows in shelf.store.query(f"SELECT term, rows FROM words WHERE tenant = 77 {order}"):
            lists[term] = lists.get(term, b"") + rows
        made.append((lists, shelf.store.query("SELECT * FROM words_total WHERE tenant = 77")))
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("waiting", [True, False])
def test_what_is_removed_leaves_no_byte(waiting):
    """No list names a removed text, even if its words are read otherwise today; its own words are gone."""
    shelf = Shelf(4, 60)
    text = (99 * 65536, "t77 us1", "solitary w1 w2 unheard", "0food")
    shelf.change(lambda index: index.add([text]))
    if not waiting:
        shelf.change(lambda index: index.fold())
    shelf.change(lambda index: index.remove([(text[0], "t77", "w1 otherwise", "")]))
    assert not shelf.store.query("SELECT term FROM words WHERE term IN ('solitary', 'unheard')")
    assert not shelf.store.query("SELECT row FROM fresh_words WHERE row = ?", (text[0],))
    for (rows,) in shelf.store.query("SELECT rows FROM words"):
        assert (99).to_bytes(4, "big") not in {rows[at : at + 4] for at in range(0, len(rows), 9)}
    assert not list(words.damaged(shelf.store.query, shelf.tenant))


def test_other_tenants_change_nothing(tmp_path):
    """Another tenant's texts change neither scores nor how sure an answer is, whichever words they use."""
    path, clock = tmp_path / "m.db", FrozenClock(1000)
    with Memory.open(path, clock=clock) as memory:
        for text in ("I sold my red bicycle to Tom.", "The ferry leaves at noon.", "Tom paints the ferry."):
            memory.remember(text, speaker="Ana")
        questions = ("Who bought the bicycle?", "When does the ferry leave?", "What is a zeppelin?")
        looks = []
        for number in range(2):
            told = [memory.recall(question) for question in questions]
            looks.append([(found.sure, [(h.node.id, h.score) for h in found.hits]) for found in told])
            with Memory.open(path, tenant="other", clock=clock) as other:
                for n in range(120 * (1 - number)):
                    other.note("learning", f"{n}", f"zeppelin bicycle {'ferry' if n % 2 else 'noon'} {n}")
        assert looks[0] == looks[1]
        assert memory.verify().ok


def test_a_glance_ranks_as_the_index_does(tmp_path):
    """The plain loop of the hooks brings the same texts in the same order, folded in or waiting."""
    path = tmp_path / "m.db"
    with Memory.open(path, clock=FrozenClock(1000)) as memory:
        dice = random.Random(3)
        for n in range(160):
            memory.note("learning", f"note {n}", " ".join(dice.choices(VOCABULARY[20:80], k=9)))
        question = "w21 w35 w60"
        wanted = [n.content for n, _ in (memory.handle.read(lambda view: _contents(view, question.split())))]
    glance = Glance(path, "default", 2000)
    found = [glimpse.content for glimpse in glance.matching(question, "english", 4)]
    glance.close()
    assert found
    assert (
        found == [text for text in wanted if len(set(text.split()) & set(question.split())) > 1][: len(found)]
    )


def _contents(view, tokens):
    return [(view.one(node), score) for node, score in words.search(view, any_of(tokens), None, (), list)]


OLD = """
CREATE VIRTUAL TABLE {0}words USING fts5(owner, text, kinds, content='', contentless_delete=1,
  tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE {0}terms USING fts5vocab({0}words, col);
"""


def test_what_fts5_held_is_indexed_anew(tmp_path):
    """From FTS5's tables the same texts become findable, owners and all; what was archived stays cold."""
    with Memory.open(tmp_path / "m.db", clock=FrozenClock(1000)) as opened:
        memory = opened.scoped(user="ann")
        for n in range(40):
            memory.note("learning", f"{n}", f"I put the {VOCABULARY[n]} beside the lamp number {n}.")
        opened.scoped(user="bob").note("learning", "3", "I put the w3 beside the lamp number 3.")
        memory.note("learning", "long", "A stove was broken. " * 200)
        before = memory.recall("Where is the lamp number 7?", limit=5)
        store, tenant = memory.handle.store, memory.handle.tenant_row()[0]
        held = words.rows_of(store.query, tenant, cold=False)
        ((last,),) = store.query("SELECT max(id) FROM nodes WHERE type = 'learning'")
        with store.writing("default"):
            connection = store.connection()
            for table in ("words", "fresh_words", "words_total"):
                connection.execute(f"DELETE FROM {table}")
            connection.execute("ALTER TABLE words RENAME TO kept")
            connection.execute(OLD.format("") + OLD.format("cold_"))
            connection.execute("INSERT INTO cold_words (rowid, text) VALUES (?, 'stove')", (last * 65536,))
            cold = migrate.drop_fts5(connection)
            connection.execute("ALTER TABLE kept RENAME TO words")
            migrate.reword(connection, "english", cold)
        assert memory.verify().ok
        after = memory.recall("Where is the lamp number 7?", limit=5)
        assert [(h.node.id, h.score) for h in after.hits] == [(h.node.id, h.score) for h in before.hits]
        archived = words.rows_of(store.query, tenant, cold=True)
        assert {row // 65536 for row in archived} == {last}
        assert archived | words.rows_of(store.query, tenant, cold=False) == held


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE words SET n = n + 1 WHERE term = 'w3'",
        "UPDATE words SET rows = substr(rows, 1, 9 * (n - 1)), n = n - 1 WHERE term = 'w3' AND chunk = 0",
        "UPDATE words SET rows = substr(rows, 1, 5) WHERE term = 'w3'",
        "UPDATE words SET rows = zeroblob(9 * n) WHERE term = 'w3'",
        "UPDATE words SET chunk = chunk + 1 WHERE term = 'w0' AND chunk > 0",
        "DELETE FROM words WHERE term = 'w3'",
        "UPDATE words SET cold = 1 WHERE term = 'w3'",
        "UPDATE words_total SET tokens = tokens + 1",
        "UPDATE words_total SET texts = texts + 1",
        "DELETE FROM fresh_words",
    ],
)
def test_damage_in_the_chunks_is_seen(change):
    """Whatever is changed in a chunk, in the totals or among the texts that wait is named."""
    shelf = Shelf(2, 300)
    shelf.change(lambda index: index.add([(9000 * 65536, "t77", "w3 w4", "")]))
    assert not list(words.damaged(shelf.store.query, shelf.tenant))
    shelf.store.execute(change.replace("WHERE", "WHERE tenant = 77 AND", 1))
    assert list(words.damaged(shelf.store.query, shelf.tenant))


def test_a_fact_that_two_users_state_is_indexed_for_both() -> None:
    """The same fact said in another scope is found from there too, and the index is what the texts say."""
    with Memory.open(":memory:", Config(embedder="none")) as memory:
        memory.remember("I live in Porto.", speaker="Ana")
        other = memory.scoped(user="a")
        other.remember("I live in Porto.", speaker="Ana")

        assert memory.verify().ok
        found = other.handle.read(lambda view: view.matching(["porto"], 10))
        kinds = other.handle.read(lambda view: {view.payload(node).type for node, _ in found})
        assert "Fact" in kinds


def test_an_owner_of_many_texts_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns very many texts is not counted at every question, and finds what a first question finds."""
    monkeypatch.setattr(words, "_SHORT", 20)
    with Memory.open(":memory:", Config(embedder="none", understand="off")) as memory:
        user = memory.scoped(user="ann")
        user.remember(messages=[{"content": f"The {VOCABULARY[n]} is green"} for n in range(300)])
        store, asked = memory.handle.store, "Is w7 green?"
        first = [hit.node.id for hit in user.recall(asked).hits]
        assert [share.texts for share in store.shares.values()] == [300]
        assert [hit.node.id for hit in user.recall(asked).hits] == first
        user.remember(messages=[{"content": f"The {VOCABULARY[n]} is red"} for n in range(400)])
        assert user.recall("Is w390 red?").hits[0].node.content == "The w390 is red"
        assert [share.texts for share in store.shares.values()] == [700]


def test_texts_that_wait_are_read_once(monkeypatch, tmp_path) -> None:
    """A look reads the texts that came since the last one; what another process folds or takes away is seen."""
    monkeypatch.setattr(words, "FRESH", 40)
    config = Config(embedder="none", understand="off")
    with Memory.open(tmp_path / "m.db", config) as one, Memory.open(tmp_path / "m.db", config) as other:
        read: list[int] = []
        plain = type(one.handle.store).query

        def query(store, sql, args=()):
            rows = plain(store, sql, args)
            read.append(sum(row[0] == 2 for row in rows) if "held AS" in sql else 0)
            return rows

        monkeypatch.setattr(type(one.handle.store), "query", query)
        for number in range(90):
            (one if number % 3 else other).remember(f"The lighthouse number {number} stands alone.")
            if number % 7 == 0:
                del read[:]
                assert len(one.recall("lighthouse", limit=200, max_tokens=9000).hits) == number + 1
                assert max(read) <= 9 or number % 40 < 8
        gone = one.remember("The lighthouse of nobody.")
        assert len(other.recall("lighthouse", limit=200, max_tokens=9000).hits) == 91
        one.forget(gone.id, confirm=True)
        assert len(other.recall("lighthouse", limit=200, max_tokens=9000).hits) == 90


def test_what_a_transaction_undoes_is_not_kept_in_mind() -> None:
    """A look inside a write that is rolled back leaves nothing behind for those that come after it."""
    with Memory.open(":memory:", Config(embedder="none", understand="off")) as memory:
        memory.remember("A heron stood in the river.")
        memory.recall("heron")
        memory.remember("A kingfisher sat by the heron.", dry_run=True)
        memory.remember("A pelican came.")
        assert [hit.node.content for hit in memory.recall("kingfisher").hits] == []
        assert [hit.node.content for hit in memory.recall("pelican").hits] == ["A pelican came."]
