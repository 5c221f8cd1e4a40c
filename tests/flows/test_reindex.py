"""Making everything derived anew changes nothing that is believed or found, in any store."""

from pathlib import Path

from worldline import Memory
from worldline.config import Config
from worldline.testing import HashEmbedder


def test_reindexing_a_sound_store_changes_no_answer(tmp_path: Path) -> None:
    """More texts than wait for the index, a night, then reindex: the same hits, the same hash, nothing to mend."""
    with Memory.open(tmp_path / "m.db", Config(embedder="none"), embedder=HashEmbedder(16)) as memory:
        said = [
            {
                "name": "Ann",
                "content": f"I saw {number} geese near Oslo.",
                "said_at": f"2025-01-01T10:{number // 60:02d}:{number % 60:02d}",
                "metadata": {"n": number},
            }
            for number in range(110)
        ]
        for first in range(0, len(said), 10):
            memory.remember(messages=said[first : first + 10], session="s")
        memory.consolidate()
        before, head = [hit.node.id for hit in memory.recall("geese").hits], memory.hash()
        memory.reindex()
        verified = memory.verify()
        assert verified.ok, verified.damage[:3]
        assert memory.ailments() == ()
        assert [hit.node.id for hit in memory.recall("geese").hits] == before
        assert memory.hash() == head
