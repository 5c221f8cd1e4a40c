"""The file with the signs of vectors: found again, disposable, never trusted blindly, gone with what is erased."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from worldline import Config, Memory
from worldline.store import held, packing
from worldline.store.sqlite import put_back, reading_only
from worldline.testing import HashEmbedder
from worldline.write import afterwards

PLAIN = Config(embedder="none", understand="off")
TEXTS = 600
ASKED = [f"word{n} thing{n} place{n}" for n in range(0, 80, 8)]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred vectors are many."""
    monkeypatch.setattr(held, "EXACT", 100)
    monkeypatch.setattr(packing, "FRESH", 50)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two people's texts."""
    made = tmp_path / "m.db"
    with opened(made) as memory:
        for user in ("ana", "bo"):
            said = [
                {"name": user, "content": f"{user} word{n % 97} thing{n % 89} place{n % 83}"}
                for n in range(TEXTS // 2)
            ]
            memory.scoped(user=user).remember(messages=said)
    return made


def opened(path: Path) -> Memory:
    """With vectors."""
    return Memory.open(path, PLAIN, embedder=HashEmbedder(96))


def files(path: Path) -> list[Path]:
    """Those with signs."""
    return sorted(path.parent.glob(f"{path.name}.signs-*"))


def told(path: Path, user: str = "") -> list[list[str]]:
    """The five best of every question, by meaning alone."""
    with opened(path) as memory:
        scoped = memory.scoped(user=user) if user else memory
        return [
            [hit.node.id for hit in scoped.recall(question, limit=5, without=["words"]).hits]
            for question in ASKED
        ]


def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors are taken from SQL at a time from now on."""
    counts: list[int] = []
    plain = packing.Gathered.take

    def take(self: packing.Gathered, batches: Iterator) -> int:
        rows = list(batches)
        counts.append(sum(map(len, rows)))
        return plain(self, rows)

    monkeypatch.setattr(packing.Gathered, "take", take)
    return counts


@pytest.mark.parametrize("user", ["", "ana"])
def test_as_all_of_them_compared(path: Path, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    """Signs choose what comparing every vector would, within a scope too, and by the same cosines."""
    rough = told(path, user)
    monkeypatch.setattr(held, "EXACT", 100_000)
    assert rough == told(path, user)
    assert all(rough)


def test_the_next_process_reads_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first recall leaves a file that only its owner may read; the next process takes what is newer from SQL."""
    first = told(path)
    (file,) = files(path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    counts = read(monkeypatch)
    assert told(path) == first
    assert counts == []
    with opened(path) as memory:
        memory.remember("A kingfisher sat on the mooring post.", speaker="cy")
        found = memory.recall("kingfisher mooring post", limit=1, without=["words"])
    assert found.hits[0].node.content.startswith("A kingfisher")
    assert counts == [1]


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "header", "other", "huge"])
def test_a_damaged_file_is_made_anew(path: Path, damage: str) -> None:
    """Cut, changed or something else: it counts as none, answers are the same, and a whole one is written."""
    first = told(path)
    (file,) = files(path)
    whole = file.read_bytes()
    middle = len(whole) // 2
    file.write_bytes(
        {
            "cut": whole[:middle],
            "bit": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "empty": b"",
            "header": whole[:8] + b"{" + whole[9:],
            "huge": whole[:8]
            + whole[8:1024].replace(b'"rows":600', b'"rows":%d' % (1 << 61)).rstrip().ljust(1016)
            + whole[1024:],
            "other": b"SQLite format 3\0" * 100,
        }[damage]
    )
    assert told(path) == first
    assert file.read_bytes() == whole


def test_what_is_erased_is_not_in_it(path: Path) -> None:
    """forget takes the file away; the one that is made next has no row of what was erased."""
    told(path)
    (file,) = files(path)
    with opened(path) as memory:
        gone = memory.scoped(user="ana").recall(f"ana {ASKED[1]}", limit=1, without=["words"]).hits[0].node
        memory.forget(gone.id, confirm=True)
        assert files(path) == []
        memory.recall(ASKED[1])
    found = packing.read(str(file))
    assert found is not None
    nodes = found[0].signs.passages // held.WORDS_PER_NODE
    assert len(nodes) == TEXTS - 1
    assert gone.key not in nodes


def test_one_from_before_something_was_erased_is_not_taken(path: Path) -> None:
    """A file that comes back after an erasure is of another state, and so is that of a store put back from a backup."""
    told(path)
    (file,) = files(path)
    old, backup = file.read_bytes(), path.with_name("backup.db")
    shutil.copy(path, backup)
    with opened(path) as memory:
        memory.forget(memory.recall(ASKED[0], limit=1, without=["words"]).hits[0].node.id, confirm=True)
    file.write_bytes(old)
    told(path)
    assert file.read_bytes() != old
    put_back(backup, path, PLAIN)
    assert files(path) == []
    file.write_bytes(old)
    found = packing.read(str(file))
    assert found is not None
    packing.write(str(file), found[0], replace(found[1], head="0" * 64))
    told(path)
    assert file.read_bytes() == old


def test_a_store_that_cannot_be_written_does_without(path: Path) -> None:
    """Whoever may only read leaves no file, and finds the same."""
    with reading_only(path, PLAIN) as store:
        index = store.index_of("default")
        assert not index._beside.keep_signs(
            store.tenant_row("default").id, 0, lambda _: pytest.fail("written")
        )
    assert files(path) == []


def test_nobody_writes_it_while_another_writes_the_store(path: Path) -> None:
    """Where somebody holds the write lock, the answer comes without the file; the next one leaves it."""
    with opened(path) as writer, opened(path) as memory:
        with writer.handle.store._exclusive():
            assert memory.recall(ASKED[0], without=["words"]).hits
            assert files(path) == []
        memory.recall(ASKED[1])
        assert len(files(path)) == 1


def test_bits_stand_for_vectors() -> None:
    """What is reckoned from two bits a number is nearly the cosine, at any width; what is no number is left out."""
    rng = np.random.default_rng(2)
    for width in (20, 64, 384):
        rows = rng.standard_normal((50, width))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
        rows[7, 3] = np.nan
        held = packing.Signs.of(np.arange(50, dtype=np.int64)[::-1], rows)
        assert len(held) == 49
        kept = np.delete(rows.astype(np.float32), 7, axis=0)[::-1]
        query = kept[4]
        found = held.products(query, np.arange(49))
        assert np.abs(found - kept @ query).max() < 0.35
        assert int(found.argmax()) == 4
        bits = packing._packed((query > 0)[None, :])[:, 0]
        assert held.apart(bits, None).tolist() == [int(((one > 0) != (query > 0)).sum()) for one in kept]


def test_signs_are_there_before_the_first_question(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who stores very many vectors lets the index take them in; the question finds the same as if it had to."""
    monkeypatch.setattr(afterwards, "SIGNED", 100)
    with opened(path) as memory:
        memory.scoped(user="bo").remember(
            messages=[{"name": "bo", "content": f"other{n}"} for n in range(120)]
        )
    assert files(path)
    counts = read(monkeypatch)
    found = told(path)
    for one in files(path):
        one.unlink()

    assert sum(counts) < TEXTS // 4
    assert told(path) == found


def test_flush_leaves_signs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored without an embedder gets vectors, and signs, with `flush`."""
    with Memory.open(path, PLAIN) as plain:
        plain.remember("a last text")
    assert not files(path)
    with opened(path) as memory:
        assert memory.flush() == 1
    assert files(path)
    counts = read(monkeypatch)

    told(path)
    assert sum(counts) == 0
