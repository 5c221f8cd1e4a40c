"""Making everything derived anew changes nothing that is believed or found, in any store."""

from pathlib import Path

from worldline import Memory
from worldline.config import Config
from worldline.testing import HashEmbedder


def test_reindexing_a_sound_store_changes_no_answer(tmp_path: Path) -> None:
    """More texts than wait for the index, a night, then reindex: the same hits, the same hash, nothing to mend."""
    with Memory.open(tmp_path / "m.db", Config(embedder="none"), embedder=HashEmbedder(16)) as memory:
        for number in range(110):
            at = f"2025-01-01T10:{number // 60:02d}:{number % 60:02d}"
            memory.remember(
                f"I saw {number} geese near Oslo.",
                speaker="Ann",
                session="s",
                metadata={"n": number},
                said_at=at,
            )
        memory.consolidate()
        before, head = [hit.node.id for hit in memory.recall("geese").hits], memory.hash()
        memory.reindex()
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]
        assert memory.ailments() == ()
        assert [hit.node.id for hit in memory.recall("geese").hits] == before
        assert memory.hash() == head
