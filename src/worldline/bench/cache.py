"""Vectors that outlive a run: an embedder that keeps what it made, by the text's hash.

It decides where they lie (the XDG cache folder) and nothing about what is embedded. Another model
has another identity, and so another file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from blake3 import blake3

from worldline.ports import Embedder


def folder() -> Path:
    """Where benchmarks keep what they can make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "worldline" / "bench"


class CachedEmbedder:
    """The same vectors as the embedder inside it, made once."""

    def __init__(self, inner: Embedder, where: Path) -> None:
        self._inner = inner
        self.name, self.dimension, self.identity = inner.name, inner.dimension, inner.identity
        where.mkdir(parents=True, exist_ok=True)
        self._db = apsw.Connection(str(where / f"vectors-{self.identity[:16]}.db"))
        self._db.set_busy_timeout(60_000)
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
        )

    def embed(self, texts: Sequence[str]) -> Any:
        """A matrix of float32, one row a text."""
        keys = [blake3(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        held = self._held(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in held}
        if missing:
            made = np.asarray(self._inner.embed(list(missing.values())), np.float32)
            held |= dict(zip(missing, made, strict=True))
            self.keep({key: held[key] for key in missing})
        return np.stack([held[key] for key in keys]) if keys else np.zeros((0, self.dimension), np.float32)

    def keep(self, vectors: Mapping[bytes, Any]) -> None:
        """Stores vectors under the hashes of their texts."""
        rows = [(key, np.asarray(vector, np.float32).tobytes()) for key, vector in vectors.items()]
        with self._db:
            self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    def _held(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        wanted = "SELECT vector FROM vectors WHERE text = ?"
        rows = [(key, vector) for key in keys for (vector,) in self._db.execute(wanted, (key,))]
        return {key: np.frombuffer(vector, np.float32) for key, vector in rows}
