"""What one message costs on disk: bytes handed to the log, bytes in the file, and what is put off until later."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from worldline import Config, Memory
from worldline.hashing import EMPTY_DIGEST, digest_update
from worldline.store import ledger, packing, people
from worldline.store.indexing import keep_vectors
from worldline.store.schema import WORDS_PER_NODE
from worldline.testing import FrozenClock

PLACES = ("Lisbon", "Oslo", "Kyoto", "Lima", "Quito", "Accra", "Cairo", "Turin")
NAMES = ("Ana", "Ben", "Chloe", "Dmitri", "Elif", "Farid", "Grace", "Hugo")
SAID = (
    "My friend {name} {last} moved to {place} last spring and works at the harbour there, which I hope to see.",
    "I bought a {thing} in {place} today, after we had looked at four of them and could not agree on a colour.",
    "Tomorrow I have to call {name} about the {thing}; the last time it took three weeks until anybody came.",
    "It rained all day in {place}, so we stayed at home, read, and repaired the {thing} that {name} had broken.",
)
THINGS = ("kettle", "boat", "lamp", "bicycle", "piano", "ladder", "radio", "carpet", "kayak", "mirror")
LASTS = ("Nowak", "Silva", "Haas", "Okoro", "Larsen", "Moreau", "Tanaka", "Reyes", "Novak", "Sylva", "Larson")


def _messages(count: int) -> list[str]:
    dice = random.Random(11)
    return [
        dice.choice(SAID).format(
            name=dice.choice(NAMES),
            last=dice.choice(LASTS),
            place=dice.choice(PLACES),
            thing=dice.choice(THINGS),
        )
        for _ in range(count)
    ]


def test_a_message_writes_at_most_so_many_bytes(tmp_path: Path) -> None:
    """A message of a hundred characters, with a fact and five edges, writes at most 43 kB and fills at most 5.3."""
    path, count = tmp_path / "m.db", 200
    with Memory.open(path, Config(embedder="none"), clock=FrozenClock(1_700_000_000_000_000)) as memory:
        memory.scoped(user="ann").remember("Hello there.", speaker="Ann")
        connection = memory.handle.store.connection()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        before = path.stat().st_size
        for text in _messages(count):
            memory.scoped(user="ann").remember(text, speaker="Ann", session="talk")
        written = Path(f"{path}-wal").stat().st_size
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        grown = path.stat().st_size - before
    assert written / count <= 43_000
    assert grown / count <= 5_300


def test_a_vector_takes_less_than_its_halves_would(tmp_path: Path) -> None:
    """What a vector of 384 numbers fills of a file is three quarters of what sixteen bits a number would."""
    dice = np.random.default_rng(5)
    vectors = dice.standard_normal((400, 384))
    rows = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    plain = [(number * WORDS_PER_NODE, row.tobytes()) for number, row in enumerate(rows, 1)]
    with Memory.open(tmp_path / "m.db", Config(embedder="none")) as memory:
        with memory.handle.writing() as tenant:
            keep_vectors(memory.handle.store, tenant.id, plain)
        query = memory.handle.store.query
        ((filled,),) = query("SELECT sum(pgsize) FROM dbstat WHERE name = 'embeddings'")
        kept = query("SELECT passage, vector FROM embeddings ORDER BY id")
    assert [(passage, packing.plain(vector)) for passage, vector in kept] == plain
    assert filled / 400 <= 790


def test_notes_amount_to_the_digest() -> None:
    """A digest of some time ago and the members noted since are the digest of all members, whatever came and went."""
    dice, members, stored, digest = random.Random(3), list[bytes](), EMPTY_DIGEST, EMPTY_DIGEST
    for _ in range(120):
        added = [dice.randbytes(32) for _ in range(dice.choice((0, 1, 1, 2, 5)))]
        removed = dice.sample(members, min(len(members), dice.choice((0, 1, 1, 3))))
        members = [member for member in [*members, *added] if member not in removed]
        digest = digest_update(digest, added, removed)
        stored = ledger._with_notes(stored, ledger.Members(added, removed), digest)
        assert len(stored) == len(digest) + ledger.NOTED * 33
        assert ledger.current_digest(stored) == digest == digest_update(EMPTY_DIGEST, members)


@pytest.mark.parametrize("at_once", [1, 30])
def test_names_are_found_alike_before_they_have_their_keys(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """The same merges are proposed whether names get their block keys at once, a few together, or not yet."""
    texts = [text for text in _messages(160) if "friend" in text]

    def proposed(most: int) -> tuple[object, int]:
        monkeypatch.setattr(people, "MOST_KEYLESS", most)
        with Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(10**15)) as memory:
            for start in range(0, len(texts), at_once):
                part = [
                    {"role": "user", "name": "Ann", "content": text}
                    for text in texts[start : start + at_once]
                ]
                memory.remember(messages=part)
            found = [(merge.a, merge.b, merge.score) for merge in memory.merges()]
            waiting = memory.handle.store.query("SELECT count(*) FROM blocks WHERE key < ' !'")[0][0]
            assert memory.verify().ok
            return found, waiting

    together, few = proposed(4), proposed(1)
    later, waiting = proposed(10**6)
    assert together[0] == few[0] == later != []
    assert waiting > few[1]
