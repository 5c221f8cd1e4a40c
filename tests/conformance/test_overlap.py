"""A server answers as a file does: the ten best of both are the same."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from worldline import Config, Memory
from worldline.testing import FrozenClock, HashEmbedder

TABLE = Path(__file__).parents[1] / "tables" / "talk_facts.json"
BAR, BEST = 0.98, 10


def told(where: str | Path, tenant: str, said: list[dict[str, Any]]) -> list[list[tuple[str, float]]]:
    """The ten best (and their scores) for a question about everybody and everything that was spoken of."""
    clock = FrozenClock("2026-01-01")
    config = Config(embedder="none")
    with Memory.open(where, config, tenant, clock=clock, embedder=HashEmbedder(64)) as memory:
        for row in said:
            clock.advance(1_000_000)
            memory.remember(row["text"], speaker=row["speaker"], said_at=row["said_at"], session=row["kind"])
        asked = dict.fromkeys(
            f"{fact['subject']} {fact['relation']}?" for row in said for fact in row["facts"]
        )
        found = [memory.recall(question, limit=BEST).hits for question in asked]
    return [[(hit.node.id, round(hit.score, 6)) for hit in hits] for hits in found]


def test_the_ten_best_are_the_same(url: str, tmp_path: Path) -> None:
    """Over a table of talk, the overlap of the ten best is .98 at least; nearly all come with the same scores too."""
    said = json.loads(TABLE.read_text("utf-8"))[::8]
    ours, theirs = (told(where, uuid.uuid4().hex, said) for where in (tmp_path / "m.db", url))
    shares = [
        len({id_ for id_, _ in mine} & {id_ for id_, _ in other}) / max(len(mine), len(other), 1)
        for mine, other in zip(ours, theirs, strict=True)
        if mine or other
    ]
    assert len(shares) > 15
    assert sum(shares) / len(shares) >= BAR
    assert sum(mine == other for mine, other in zip(ours, theirs, strict=True)) >= BAR * len(ours)
