"""Another embedder, online: new vectors beside the old ones, one switch, nobody fails meanwhile."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldline import Memory
from worldline.config import Config
from worldline.plugins import probe_identity
from worldline.store import packing
from worldline.store.held import same_embedder
from worldline.testing import HashEmbedder

PLAIN = Config(embedder="none")


class Watching(HashEmbedder):
    """An embedder that lets somebody look in between."""

    look: Any = None

    def embed(self, texts: Any) -> Any:
        if self.look is not None:
            look, self.look = self.look, None
            look()
        return super().embed(texts)


def filled(path: Path, tenant: str, count: int = 5) -> None:
    """A tenant with vectors of the first embedder."""
    with Memory.open(path, PLAIN, tenant, embedder=HashEmbedder()) as memory:
        for number in range(count):
            memory.remember(
                f"Bees number {number} are in the garden.", speaker="Ana", said_at=f"2025-01-0{number + 1}"
            )


def vectors(memory: Memory) -> list[tuple[int, bytes]]:
    """A tenant's vectors, by passage."""
    rows = memory.handle.store.query(
        "SELECT passage, vector FROM embeddings WHERE tenant = :t ORDER BY passage",
        {"t": memory.handle.tenant_row().id},
    )
    return [(row[0], bytes(row[1])) for row in rows]


def test_running_processes_keep_answering(tmp_path: Path) -> None:
    """While vectors are made anew the old ones answer; after the switch a running process answers by words."""
    path = tmp_path / "m.db"
    filled(path, "default")
    filled(path, "other")
    seen: dict[str, Any] = {}
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as running:
        assert "vectors" in running.recall("bees").hits[0].lanes
        new = Watching(32, "new")
        with Memory.open(path, PLAIN, embedder=new) as changing, Memory.open(path, PLAIN, "other") as other:
            before, theirs = vectors(running), vectors(other)

            def look() -> None:
                seen["vectors"] = vectors(running) == before
                seen["lanes"] = running.recall("bees").hits[0].lanes
                seen["new"] = bool(changing.recall("bees").hits)
                running.remember("One more bee meanwhile.", speaker="Ana", said_at="2025-02-01")

            new.texts = 0
            new.look = look
            assert changing.reembed() == 6
            assert seen["vectors"]
            assert "vectors" in seen["lanes"]
            assert seen["new"]
            assert {packing.width_of(vector) for _, vector in vectors(changing)} == {32}
            assert "vectors" in changing.recall("bees").hits[0].lanes
            assert vectors(other) == theirs
            hits = running.recall("bees").hits
            assert hits
            assert all("vectors" not in hit.lanes for hit in hits)
            running.remember("Said to the old process.", speaker="Ana", said_at="2025-02-02")
            assert changing.flush() == 1
            assert changing.verify().ok


def test_a_broken_off_run_goes_on(tmp_path: Path) -> None:
    """A run that is killed leaves the old vectors, and the next one makes only what is missing."""
    path = tmp_path / "m.db"
    filled(path, "default", 5)

    class Tired(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            if self.texts >= 2:
                raise KeyboardInterrupt
            return super().embed(texts)

    with Memory.open(path, PLAIN, embedder=Tired(32, "new")) as memory, pytest.raises(KeyboardInterrupt):
        memory.reembed(batch=2)
    with Memory.open(path, PLAIN, embedder=HashEmbedder()) as memory:
        assert "vectors" in memory.recall("bees").hits[0].lanes
    new = HashEmbedder(32, "new")
    with Memory.open(path, PLAIN, embedder=new) as memory:
        assert memory.reembed() == 3
        assert new.texts == 3
        assert "vectors" in memory.recall("bees").hits[0].lanes


def test_a_remote_identity_does_not_flicker() -> None:
    """Vectors that differ in their last digits are of one embedder, others are not."""
    rng = np.random.default_rng(1)
    probe = rng.normal(size=(1, 64)).astype(np.float32)
    probe /= np.linalg.norm(probe)
    first = probe_identity("http://x#m", probe)
    for _ in range(200):
        noisy = probe + rng.normal(size=probe.shape).astype(np.float32) * 1e-3
        assert same_embedder(first, probe_identity("http://x#m", noisy))
    other = rng.normal(size=(1, 64)).astype(np.float32)
    assert not same_embedder(first, probe_identity("http://x#m", other / np.linalg.norm(other)))
    assert not same_embedder(first, probe_identity("http://x#n", probe))
    assert not same_embedder("hash-64", "hash-32")
    assert same_embedder("hash-64", "hash-64")
