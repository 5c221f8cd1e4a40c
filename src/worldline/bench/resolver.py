"""`worldline bench resolver`: pairs of names, the same or not; how good are the merge proposals?

Each pair is told to a memory of its own (a user scope), one name after the other, through the
public door. It counts as found when both names became one entity or a merge was proposed.
The file is CSV: two names and whether they are the same (1, true, yes, same; anything else is no).
A first line that holds no such value is a heading.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.bench.datasets import digest
from worldline.config import load
from worldline.memory import Memory
from worldline.model import Fact
from worldline.text import fold

Progress = Callable[[str, int, int], None]
_YES, _NO = (
    frozenset({"1", "true", "yes", "same", "y", "match"}),
    frozenset({"0", "false", "no", "different", "n"}),
)

_HEADINGS = frozenset({"same", "match"})
"""In the first line these are the name of the column."""


class Pair(Struct, frozen=True):
    """Two names, whether they are the same, and what the resolver said."""

    left: str
    right: str
    same: bool
    proposed: bool = False
    tier: str = ""
    score: float = 0.0


def pairs(path: Path) -> Iterator[Pair]:
    """The pairs of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file)):
            cells = [cell.strip() for cell in row]
            if not number and not {c.lower() for c in cells[2:]} & (_YES | _NO) - _HEADINGS:
                continue
            label = next((c.lower() for c in reversed(cells) if c.lower() in _YES | _NO), None)
            if len(cells) >= 3 and label is not None:
                yield Pair(cells[0], cells[1], label in _YES)


def bench(files: Sequence[Path], progress: Progress) -> tuple[dict[str, Any], list[Pair]]:
    """The report and its rows."""
    given = [pair for path in files for pair in pairs(path)]
    began = time.process_time()
    with Memory.open(":memory:", replace(load(), embedder="none")) as memory:
        found = [_told(memory, number, pair, progress, len(given)) for number, pair in enumerate(given, 1)]
    made = {
        "dataset": "resolver",
        "files": {path.name: digest(path) for path in files},
        "pairs": len(found),
        "ms": round(1000 * (time.process_time() - began) / max(1, len(found)), 3),
        **_scores(found),
    }
    return made, found


def _told(memory: Memory, number: int, pair: Pair, progress: Progress, total: int) -> Pair:
    mine = memory.scoped(user=str(number))
    for name in (pair.left, pair.right):
        mine.fact(Fact(name, "is_listed", literal=True))
    progress("pairs", number, total)
    if fold(pair.left) == fold(pair.right):
        return replace(pair, proposed=True, tier="exact", score=1.0)
    staged = mine.merges()
    if not staged:
        return pair
    return replace(pair, proposed=True, tier=staged[0].tier, score=staged[0].score)


def _scores(found: Sequence[Pair]) -> dict[str, Any]:
    hits = sum(pair.proposed and pair.same for pair in found)
    precision = hits / max(1, sum(pair.proposed for pair in found))
    recall = hits / max(1, sum(pair.same for pair in found))
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    tiers: dict[str, int] = {}
    for pair in found:
        if pair.proposed:
            tiers[pair.tier] = tiers.get(pair.tier, 0) + 1
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(f1, 4),
        "by_tier": dict(sorted(tiers.items())),
    }


def table(report: dict[str, Any]) -> Iterator[str]:
    """The numbers that fit on a screen."""
    tiers = ", ".join(f"{tier} {count}" for tier, count in report["by_tier"].items())
    yield (
        f"{report['pairs']} pairs: precision {report['precision']:.3f}, recall {report['recall']:.3f}, "
        f"F1 {report['f1']:.3f} ({tiers or 'none proposed'}; {report['ms']:.1f} ms CPU a pair)"
    )
