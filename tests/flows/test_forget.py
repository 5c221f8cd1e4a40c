"""forget erases a text and all that was derived from it alone, down to the bytes; what is left still proves itself."""

import contextlib
import os
import random
import re
from pathlib import Path

import apsw
import pytest

from worldline import Memory
from worldline.clock import instant
from worldline.config import Config
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.model import Event, Fact, Scope
from worldline.store import schema
from worldline.store.schema import TABLES
from worldline.store.sqlite import SqliteStore
from worldline.testing import HashEmbedder

CONFIG = Config(embedder="none")
DAY = 86_400_000_000


def opened(path: Path, **more: object) -> Memory:
    """A store in a file, with vectors."""
    return Memory.open(path, CONFIG, embedder=HashEmbedder(32), **more)


def files_of(path: Path) -> dict[str, bytes]:
    """Every file of a store."""
    return {
        found.name: found.read_bytes() for found in path.parent.iterdir() if found.name.startswith(path.name)
    }


def rows_of(memory: Memory) -> bytes:
    """Everything that is stored of a tenant, row by row."""
    store, number = memory.handle.store, memory.handle.tenant_row().id
    found = []
    for table in TABLES:
        whose = {"meta": "TRUE"}.get(table, "tenant = :t")
        for row in store.query(f"SELECT * FROM {table} WHERE {whose}", {"t": number}):
            found += [bytes(v) if isinstance(v, bytes | memoryview) else str(v).encode() for v in row]
    return b"\0".join(found)


def left_in(memory: Memory, path: Path, *needles: str | bytes) -> list[tuple[str, str | bytes]]:
    """Where any of these is: in the rows, and in the files where there are any."""
    rows = rows_of(memory)
    found = [
        ("rows", n) for n in needles if (n.encode() in rows.lower() if isinstance(n, str) else n in rows)
    ]
    return [*found, *left_of(path, *needles)]


def left_of(path: Path, *needles: str | bytes) -> list[tuple[str, str | bytes]]:
    """Where any of these is in a store's files, whatever the case of letters."""
    found = []
    for name, held in files_of(path).items():
        for needle in needles:
            raw = needle.encode() if isinstance(needle, str) else needle
            if (raw.lower() in held.lower()) if isinstance(needle, str) else raw in held:
                found.append((name, needle))
    return found


def sound(memory: Memory) -> None:
    """The store proves itself."""
    verified = memory.verify()
    assert verified.ok, verified.damage[:3]


def vectors_of(memory: Memory) -> set[bytes]:
    """All vectors, hot and archived."""
    query, whose = memory.handle.store.query, {"t": memory.handle.tenant_row().id}
    return {
        bytes(row[0])
        for table in ("embeddings", "cold_embeddings", "composed")
        for row in query(f"SELECT vector FROM {table} WHERE tenant = :t", whose)
    }


def test_a_text_leaves_nothing(tmp_path: Path) -> None:
    """After forget, no byte of the text, its words or its vector is in any file, and verify holds."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember("Ann: I have lived in Oslo since 2019.", speaker="Ann", said_at="2024-01-01")
        before = vectors_of(memory)
        said = memory.remember(
            "I moved to Zanzibarium with my friend Quorlo Vextrum.", speaker="Ann", said_at="2024-02-01",
            metadata={"secretlabel": "xylophagous"}, facts=[Fact("Ann", "lives_in", "Zanzibarium")],
        )  # fmt: skip
        new = vectors_of(memory) - before
        memory.consolidate()
        head = memory.hash()
        with pytest.raises(Refused):
            memory.forget(said)
        assert memory.forget(said, dry_run=True).memories == 1
        done = memory.forget(said, confirm=True)
        assert done.swept
        assert done.memories == 1
        assert done.facts >= 1
        assert done.entities >= 1
        assert memory.hash() == head
        sound(memory)
        assert not [hit for hit in memory.recall("Zanzibarium").hits if "Zanzibarium" in hit.node.content]
        with pytest.raises(NotFound):
            memory.get(said.id)
        needles = ("zanzibarium", "zanzibar", "quorlo", "vextrum", "secretlabel", "xylophag")
        assert left_in(memory, path, *needles, *new) == []
        assert any("Oslo" in hit.node.content for hit in memory.recall("Where does Ann live?").hits)
    assert left_of(path, *needles, *new) == []


def test_what_rests_on_other_words_stays(tmp_path: Path) -> None:
    """A fact that two texts state survives the erasure of one of them, without its share."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        fact = Fact("Ann", "lives_in", "Oslo")
        one = memory.remember(
            "Ann lives in Oslo, flumbergast!", speaker="Bob", said_at="2024-01-01", facts=[fact]
        )
        two = memory.remember("Yes, Ann lives in Oslo.", speaker="Cid", said_at="2024-01-02", facts=[fact])
        (node,) = [n for n in memory.list("Fact").items if "Oslo" in n.content]
        memory.forget(one, confirm=True)
        sound(memory)
        why = memory.why(node.id)
        assert two.id in str(why)
        assert str(one.id) not in str(why)
        assert left_in(memory, path, "flumbergast") == []


def test_the_same_text_again_is_a_new_memory(tmp_path: Path) -> None:
    """What was forgotten can be said again; earlier moments do not show it."""
    path = tmp_path / "m.db"
    event = Event("The vault code word is brimblewick.", "Ann", "2024-01-01", session="s1")
    with opened(path) as memory:
        first = memory.remember(event)
        then = first.known_at
        memory.forget(first, confirm=True)
        assert not memory.at(known=then).recall("brimblewick").hits
        again = memory.remember(event)
        assert again.changed
        assert again.id == first.id
        assert memory.get(again.id).content == event.text
        assert len(memory.history(again.id)) == 1
        sound(memory)
        memory.forget(again, confirm=True)
        sound(memory)
        assert left_in(memory, path, "brimblewick") == []


def test_a_user_is_forgotten_and_others_are_not(tmp_path: Path) -> None:
    """forget(user=) erases all of a user and their name; what another user has said too stays theirs."""
    path = tmp_path / "m.db"
    both = Event("We meet at noon under the clock.", "guide", "2024-01-01", session="tour")
    with opened(path) as memory:
        ann, bob = memory.scoped(user="annabelle77"), memory.scoped(user="bob")
        for handle in (ann, bob):
            handle.remember(both)
        ann.remember("My allergy is to krelnuts.", speaker="Annabelle77", metadata={"m": "gorp"})
        ann.note("learning", "pelf", "I hide the wumpus", metadata={"k": "glimmering"})
        bob.remember("My allergy is to peanuts.", speaker="Bob")
        memory.consolidate()
        before = memory.hash()
        memory.export(tmp_path / "before.jsonl")
        done = memory.forget(user="annabelle77", confirm=True)
        assert done.memories >= 2
        assert done.shared >= 1
        assert memory.hash() == before
        sound(memory)
        assert left_in(memory, path, "annabelle77", "krelnut", "wumpus", "glimmering", "gorp", "pelf") == []
        assert any("noon" in hit.node.content for hit in bob.recall("When do we meet?").hits)
        memory.consolidate()
        sound(memory)
        out = tmp_path / "copy.jsonl"
        memory.export(out)
        assert b"krelnut" not in out.read_bytes()
        assert b"annabelle77" not in out.read_bytes()
        with Memory.open(tmp_path / "other.db", CONFIG) as other:
            other.import_(out)
            assert other.hash() == memory.hash() or not isinstance(other.handle.store, SqliteStore)
            sound(other)


@pytest.mark.parametrize("first", ["ana", "bob"])
def test_what_two_say_and_one_changes(tmp_path: Path, first: str) -> None:
    """Of what two have noted word for word only the words of the one who goes are erased, and the rest is theirs."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        ana, bob = memory.scoped(user="ana"), memory.scoped(user="bob")
        both = [(ana, "capybara"), (bob, "budgerigar")]
        for handle, shown in both if first == "ana" else both[::-1]:
            said = handle.note("learning", "gate", "The code is zebra.", metadata={"caption": shown})
        ana.amend(said.id, "The code is quagga.", reason="pangolin")
        before = memory.hash()
        done = memory.forget(user="ana", confirm=True)
        assert (done.shared, memory.hash()) == (1, before)
        sound(memory)
        assert left_in(memory, path, "quagga", "pangolin", "capybara") == []
        assert bob.get(said.id).content == "The code is zebra."
        assert [hit.node.content for hit in bob.recall("zebra").hits] == ["The code is zebra."]
        ana.amend(ana.note("learning", "gate", "The code is zebra.").id, "The code is quagga.")
        sound(memory)
        assert ana.get(said.id).content == "The code is quagga."
        assert [hit.node.content for hit in ana.recall("quagga").hits] == ["The code is quagga."]


@pytest.mark.parametrize("holder", ["said", "fact", "note"])
def test_what_holds_something_of_another_leaves_no_words(tmp_path: Path, holder: str) -> None:
    """Neither those of a message and its reading, of a fact, or of a note, nor how the edge was labelled."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        ann, bob = memory.scoped(user="ann"), memory.scoped(user="bob")
        says = "I moved to Quillonia with my sister Zoraida."
        made = {
            "said": lambda: ann.remember(says, speaker="Petronel", session="attic", external_id="parcel-77"),
            "fact": lambda: ann.fact(Fact("Petronel", "envies brazenly", "Zoraida")),
            "note": lambda: ann.note("context", "Quillonia", "attic", metadata={"parcel-77": "Zoraida"}),
        }[holder]()
        tea = ann.note("learning", "tea", "green").id
        ann.link(made, "contains", tea, metadata={"shelf": "copperkey"})
        bob.note("learning", "tea", "green")
        memory.forget(user="ann", confirm=True)

        words = "quillonia", "zoraida", "petronel", "attic", "parcel-77", "brazenly", "copperkey"
        assert left_in(memory, path, *words) == []
        assert [node.id for node in bob.list().items] == [tea]
        sound(memory)
        assert memory.ailments() == ()
        memory.reindex()
        sound(memory)
        copy = tmp_path / "copy.jsonl"
        memory.export(copy)
        with opened(tmp_path / "again.db") as again:
            again.import_(copy)
            sound(again)
    assert left_of(path, *words) == []


def test_what_a_night_made_of_the_same_words_of_two_stays_made_by_it(tmp_path: Path) -> None:
    """The topic that both have loses one of them, and neither its mark nor what it is about."""
    with opened(tmp_path / "m.db") as memory:
        users = [memory.scoped(user=name) for name in ("ann", "bob")]
        for mine in users:
            for day in range(1, 7):
                words = f"My sister rowed the green canoe on the lake, lap {day}."
                mine.remember(words, speaker="Kim", session=f"s{day}", said_at=f"2026-01-0{day}")
        memory.consolidate()
        (topic,), (others,) = (mine.list("Topic").items for mine in users)
        assert topic.id == others.id
        memory.forget(user="ann", confirm=True)

        sound(memory)
        (kept,) = users[1].list("Topic").items
        assert (kept.id, kept.metadata) == (others.id, others.metadata)
        memory.consolidate()
        sound(memory)


def test_what_was_said_first_goes_and_its_later_words_stay(tmp_path: Path) -> None:
    """Who notes what another one's note was changed to keeps that, here and in copies, when the other one goes."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        ana, bob = memory.scoped(user="ana"), memory.scoped(user="bob")
        said = ana.note("learning", "gate", "The code is quagga.")
        ana.amend(said.id, "The code is zebra.")
        theirs = bob.note("learning", "gate", "The code is zebra.")
        memory.forget(user="ana", confirm=True)
        sound(memory)
        assert left_in(memory, path, "quagga") == []
        assert bob.get(theirs.id).content == "The code is zebra."
        with opened(tmp_path / "other.db") as other:
            other.note("learning", "other")
            taken = other.absorb(memory)
            assert taken.skipped == ()
            sound(other)
            assert other.scoped(user="bob").get(theirs.id).content == "The code is zebra."
            again = other.note("learning", "gate", "The code is quagga.")
            sound(other)
            assert other.get(again.id).content == "The code is quagga."


def test_what_is_older_than_a_moment(tmp_path: Path) -> None:
    """forget(before=) takes what was said before, within the handle's scope, and leaves the rest."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        for year in (2019, 2020, 2024):
            memory.scoped(user="u").remember(
                f"In that year I read book{year}.", speaker="u", said_at=f"{year}-05-01"
            )
        memory.scoped(user="v").remember("In that year I read bookold.", speaker="v", said_at="2018-05-01")
        memory.forget(user="u", before="2022-01-01", confirm=True)
        sound(memory)
        assert left_in(memory, path, "book2019", "book2020") == []
        assert left_in(memory, path, "book2024", "bookold")


def test_tombstones_of_a_file_cannot_hide_more(tmp_path: Path) -> None:
    """A row that was not erased cannot be taken for one, nor an erased one come back."""
    with opened(tmp_path / "m.db") as memory:
        gone = memory.remember("The first text is about grebes.", speaker="a", said_at="2024-01-01")
        memory.remember("The second text is about herons.", speaker="a", said_at="2024-01-02")
        memory.forget(gone, confirm=True)
        query = memory.handle.store.connection().execute
        query("BEGIN")
        query("DELETE FROM beliefs WHERE id = (SELECT max(id) FROM beliefs)")
        assert not memory.verify().ok
        query("ROLLBACK")
        for column, value in (
            ("kept", b"\x90"),
            ("rows", b""),
            ("kf", 5),
            ("who", "x"),
            ("of", "edges"),
            ("last", 1),
        ):
            query("BEGIN")
            query(f"UPDATE erased SET {column} = ? WHERE id = (SELECT min(id) FROM erased)", (value,))
            assert not memory.verify().ok, column
            query("ROLLBACK")
        sound(memory)


def test_copies_of_a_file_are_erased_on_request(tmp_path: Path) -> None:
    """Backups that are named lose the text as well."""
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with opened(path) as memory:
        said = memory.remember("Remember the vermiculite shipment.", speaker="a")
        memory.remember("Something else entirely.", speaker="a")
        memory.backup(copy)
        done = memory.forget(said, confirm=True, backups=[copy])
        assert done.backups == (str(copy),)
    assert left_of(copy, "vermiculite") == []
    assert left_of(copy, "entirely")


def test_what_cannot_be_forgotten(tmp_path: Path) -> None:
    """Nothing named, nothing found, and a scope that a handle is confined out of are refused."""
    with opened(tmp_path / "m.db") as memory:
        memory.remember("x y z", speaker="a")
        with pytest.raises(InvalidInput):
            memory.forget(confirm=True)
        with pytest.raises(NotFound):
            memory.forget(user="nobody", confirm=True)
        with pytest.raises(Refused):
            memory.confined(Scope(user="ann")).forget(user="bob", confirm=True)
        with pytest.raises(NotFound):
            memory.scoped(user="ann").forget(before=instant("2090-01-01"), confirm=True)


WORDS = (
    "tea rain Oslo Rome garden piano cello winter bread river mountain train sister brother doctor".split()
)
SAID = (
    "I live in {0}.", "My sister {0} plays the {1}.", "{0} works at {1}.", "I moved from {0} to {1} last week.",
    "We talked about {0} and {1} because of the {0}.", "No, it was {0}, not {1}.", "My name is {0}.",
)  # fmt: skip


SEEDS = range(int(os.environ.get("WL_FORGET_SEEDS", "12")))


class Held:
    """What one user has of a memory: every word of it, and how it is told now."""

    def __init__(self, ref: str, words: str, now: str = "") -> None:
        self.ref, self.words, self.now = ref, words, now


class History:
    """A random history, and the words that are only in what was said and not forgotten."""

    def __init__(self, seed: int, memory: Memory, now: list[int]) -> None:
        self.rng, self.memory, self.now, self.step = random.Random(seed), memory, now, 0
        self.seed = seed
        self.said: dict[str, dict[str | None, Held]] = {}
        """Who has what of the memories that are there, by the id that they began with."""
        self.gone: set[str] = set()

    def fresh(self) -> str:
        """A word that nobody has used."""
        self.step += 1
        return f"q{self.seed}x{self.step}zv".translate(str.maketrans("0123456789", "abcdefghij")).capitalize()

    def of(self, user: str | None) -> Memory:
        return self.memory.scoped(user=user) if user else self.memory

    def handle(self) -> tuple[str | None, Memory]:
        user = self.rng.choice([None, None, "ulf", "una"])
        return user, self.of(user)

    def say(self) -> None:
        user, handle = self.handle()
        text = self.rng.choice(SAID).format(self.fresh(), self.rng.choice([self.fresh(), *WORDS]))
        speaker = self.rng.choice(["Ann", "Bob", self.fresh()])
        facts = (
            [Fact(self.rng.choice(["Ann", "Bob"]), "likes", self.fresh())] if self.rng.random() < 0.3 else []
        )
        label = {"tag": self.fresh()} if self.rng.random() < 0.3 else {}
        receipt = handle.remember(
            text, speaker=speaker, said_at=self.now[0], session=self.rng.choice([None, "s1", "s2"]),
            facts=facts, metadata=label,
        )  # fmt: skip
        self.said[str(receipt.id)] = {user: Held(str(receipt.id), f"{text} {speaker} {facts} {label}")}

    def write(self) -> None:
        """A note, which somebody may note too, word for word or as it was changed by the first one."""
        user, handle = self.handle()
        name, text, label = self.fresh(), f"It is {self.fresh()}.", self.fresh()
        receipt = handle.note("learning", name, text, metadata={"caption": label})
        here = self.said[str(receipt.id)] = {
            user: Held(str(receipt.id), f"{name} {text} {label} q{self.seed}", text)
        }
        for _ in range(2):
            if self.rng.random() < 0.5:
                self.change(here, user)
            if self.rng.random() < 0.5:
                other, told, label = self.handle()[0], here[user].now, self.fresh()
                if other not in here:
                    again = self.of(other).note("learning", name, told, metadata={"caption": label})
                    here[other] = Held(str(again.id), f"{name} {told} {label} q{self.seed}", told)

    def change(self, here: dict[str | None, Held], user: str | None) -> None:
        """Somebody says it in other words, of which the others know nothing."""
        held, text = here[user], f"It is {self.fresh()}."
        self.now[0] += DAY
        self.of(user).amend(held.ref, text, reason=(why := self.fresh()))
        held.words, held.now = f"{held.words} {text} {why}", text

    def forget(self) -> None:
        how = self.rng.random()
        users: list[str | None] = ["ulf"] if how < 0.3 else [None, "ulf", "una"]
        if how < 0.3:
            chosen = [id_ for id_, here in self.said.items() if "ulf" in here]
            with contextlib.suppress(NotFound):
                self.memory.forget(user="ulf", confirm=True)
        else:
            chosen = self.rng.sample(sorted(self.said), min(len(self.said), self.rng.choice([1, 1, 2])))
            self.memory.forget(chosen, confirm=True)
        left = [here.words for id_ in chosen for user in users if (here := self.said[id_].pop(user, None))]
        self.said = {id_: here for id_, here in self.said.items() if here}
        others = _words(" ".join(held.words for here in self.said.values() for held in here.values()))
        self.gone = {word for word in self.gone | _words(" ".join(left)) if word not in others}

    def whole(self) -> None:
        """What everybody still has is as they have said it, and is found by its words."""
        for here in self.said.values():
            for user, held in here.items():
                if held.now:
                    assert self.of(user).get(held.ref).content == held.now
                    hits = self.of(user).recall(held.now, without=["vectors"]).hits
                    assert held.now in [hit.node.content for hit in hits]


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\bQ[a-z]*zv\b", text)}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_histories_leave_nothing(tmp_path: Path, seed: int, engine: str) -> None:
    """Whatever was said, noted (by several), amended, slept over and forgotten, no word of it is left; the rest is."""
    path, now = tmp_path / "m.db", [instant("2024-01-01")]
    with opened(path, clock=lambda: now[0]) as memory:
        history = History(seed, memory, now)
        for _ in range(14 if engine == "file" else 8):
            now[0] += history.rng.choice([1, 3600 * 1_000_000, DAY, 30 * DAY])
            what = history.rng.random()
            if what < 0.45 or not history.said:
                history.say()
            elif what < 0.65:
                history.write()
            elif what < 0.75:
                memory.consolidate()
            else:
                history.forget()
                sound(memory)
                history.whole()
                assert left_in(memory, path, *history.gone) == []
        memory.consolidate()
        sound(memory)
        assert left_in(memory, path, *history.gone) == []


def test_a_reader_delays_only_the_sweep_of_a_file(tmp_path: Path) -> None:
    """While another connection reads an older state the log cannot be cut; the next sleep finishes it."""
    path = tmp_path / "m.db"
    config = Config(embedder="none", lock_seconds=0.2)
    with Memory.open(path, config) as memory:
        said = memory.remember("A text about gnomonics.", speaker="a")
        other = apsw.Connection(str(path))
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM nodes").fetchall()
        done = memory.forget(said, confirm=True)
        assert done.memories == 1
        assert not done.swept
        other.execute("COMMIT")
        other.close()
        memory.consolidate()
        assert left_of(path, "gnomonic") == []


def test_what_was_given_by_itself_keeps_its_names(tmp_path: Path) -> None:
    """A fact or name that somebody gave directly is no part of a text that says it too."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        first = memory.remember(
            "Hullaballoo.", speaker="Bob", facts=[Fact("Wendolyn", "likes", "gooseberries")]
        )
        memory.fact(Fact("Wendolyn", "lives_in", "Oslo"))
        memory.forget(first, confirm=True)
        sound(memory)
        assert left_in(memory, path, "hullaballoo", "gooseberr") == []
        (fact,) = [node for node in memory.list("Fact").items if "Oslo" in node.content]
        assert fact.content.startswith("Wendolyn")


def test_entities_and_worlds_take_what_is_theirs(tmp_path: Path) -> None:
    """An entity goes with the facts about it, a world with all inside; feeds, diffs and undo cope with the gaps."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        start = memory.note("learning", "first", "stays").known_at
        said = memory.remember(
            "Kermudgeon bought a horse.", speaker="Bob", facts=[Fact("Quillfeather", "owns", "a horse")]
        )
        project = memory.note("project", "Plumbago")
        inner = memory.enter(project).note("learning", "vermilion", "deep inside")
        kept = memory.note("learning", "kept", "as it is")
        memory.link(kept, "relates_to", inner)
        (who,) = [node for node in memory.list("Entity").items if node.name == "Quillfeather"]
        memory.forget(who, confirm=True)
        assert left_in(memory, path, "quillfeather") == []
        assert memory.get(said.id).content.startswith("Kermudgeon")
        memory.forget(project, confirm=True)
        sound(memory)
        assert left_in(memory, path, "plumbago", "vermilion", "deep inside") == []
        assert memory.changes()
        assert memory.diff(start)
        assert memory.history(kept.id)
        assert memory.walk(kept.id).edges == ()
        memory.undo(said)
        memory.undo(kept)
        memory.consolidate()
        sound(memory)


def test_forgetting_twice_in_one_changeset_of_texts(tmp_path: Path) -> None:
    """Texts of one conversation are one changeset; each can be forgotten by itself, in any order."""
    path = tmp_path / "m.db"
    talk = [{"role": name, "content": f"I am {name} and I keep {pet}."} for name, pet in
            (("Ann", "axolotls"), ("Bob", "budgerigars"), ("Cid", "capybaras"))]  # fmt: skip
    with opened(path) as memory:
        receipt = memory.remember(messages=talk, session="pets", said_at="2025-03-01")
        for id_, word in zip(receipt.ids[1:], ("budgerigar", "capybara"), strict=True):
            memory.forget(id_, confirm=True)
            sound(memory)
            assert left_in(memory, path, word) == []
        assert left_in(memory, path, "axolotl")
        with pytest.raises(Refused):
            memory.forget(memory.handle.read(lambda view: view.payload(1)), confirm=True)


def test_what_is_left_to_sweep_is_each_tenants_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that was cut short is one tenant's ailment and its next night's work; another's night leaves it."""
    with (
        opened(tmp_path / "m.db", tenant="one") as one,
        Memory.open(tmp_path / "m.db", CONFIG, "another", embedder=HashEmbedder(32)) as another,
    ):
        another.remember("I like tea.", speaker="Ana")
        said = one.remember("My doctor is Petra Holm.", speaker="Ana")
        with monkeypatch.context() as cut:
            cut.setattr(type(one.handle.store), "sweep", lambda store: False)
            one.forget(said.id, confirm=True)
        assert [unswept(one), unswept(another)] == [True, False]
        another.consolidate()
        assert [unswept(one), unswept(another)] == [True, False]
        one.consolidate()
        assert not unswept(one)
        sound(one)


def test_what_is_erased_during_a_sweep_of_a_file_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mark that was set anew meanwhile is not taken away."""
    with opened(tmp_path / "m.db") as memory:
        store, tell = memory.handle.store, schema.tell_planner
        first = memory.remember("My doctor is Petra Holm.", speaker="Ana")

        def erased_meanwhile(connection: apsw.Connection) -> None:
            connection.execute("UPDATE meta SET value = 'later' WHERE key LIKE 'unswept%'")
            tell(connection)

        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(schema, "tell_planner", erased_meanwhile)
            memory.forget(first.id, confirm=True)
        assert unswept(memory)
        assert store.sweep()
        assert not unswept(memory)


def unswept(memory: Memory) -> bool:
    """Whether the doctor finds pages that may hold what was erased."""
    return any(found.about == "pages" for found in memory.ailments())
