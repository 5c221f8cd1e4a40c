"""Two years of use by a frozen clock: does the archive keep recall's tables small and the past as it was?

    python bench/two_years.py [--days 730] [--said 10] [--points 1000] [--seed 7] [--embedder hash|none]

Two lives of the same seed. The first sleeps without decay; then it is archived and compacted in one
night, and what it says at random (valid, known) points before and after is compared. The second
sleeps with decay every night; its hot tables are counted every 60 days. Exits with 1 when an answer
differs, when the hot tables still grow in the second year, or when who the user is went cold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from laws.years import DAYTIME, NIGHT, Life
from worldline.testing import HashEmbedder

HOT = ("hot words", "texts", "embeddings")
ROOM = 1.1
"""By so much may the largest hot size of the second year's second half exceed that of its first."""


def main() -> int:
    """Both lives, and a verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, default in (("days", 730), ("said", 10), ("points", 1000), ("seed", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--embedder", choices=["hash", "none"], default="hash")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failed = [*_before_and_after(options, folder), *_bounded(options, folder)]
    print("all held" if not failed else f"FAILED: {'; '.join(failed)}")
    return 1 if failed else 0


def _open(options: argparse.Namespace, path: str) -> Life:
    embedder = HashEmbedder() if options.embedder == "hash" else None
    return Life.open(path, embedder=embedder, seed=options.seed)


def _before_and_after(options: argparse.Namespace, folder: str) -> list[str]:
    began = time.monotonic()
    life = _open(options, f"{folder}/first.db")
    for day in life.live(options.days, options.said, DAYTIME):
        if day % 60 == 0:
            print(
                f"  day {day}: {life.sizes()['nodes']:,} memories, {time.monotonic() - began:.0f} s",
                flush=True,
            )
    before, sizes = life.points(options.points), life.sizes()
    began = time.monotonic()
    life.memory.consolidate(["decay", "compact"])
    night = time.monotonic() - began
    after, cold = life.points(options.points), life.sizes()
    differ = sum(a != b for a, b in zip(before, after, strict=True))
    print(f"one night archived {cold['cold_texts']:,} of {sizes['texts']:,} texts in {night:.1f} s")
    print(f"{options.points:,} points, {len(before):,} answers: {differ} differ")
    sound = life.memory.verify().ok
    print(f"verify: {'sound' if sound else 'DAMAGED'}")
    life.memory.close()
    return [f"{differ} answers differ"] * bool(differ) + ["damaged"] * (not sound)


def _bounded(options: argparse.Namespace, folder: str) -> list[str]:
    life = _open(options, f"{folder}/second.db")
    seen, slowest = [], 0.0
    print(
        f"{'day':>5} {'memories':>9} {'hot words':>10} {'hot texts':>10} {'hot vectors':>12} {'cold texts':>11}"
    )
    began = time.monotonic()
    for day in life.live(options.days, options.said, NIGHT):
        took, began = time.monotonic() - began, time.monotonic()
        slowest = max(slowest, took)
        size = life.sizes()
        seen.append(size)
        if day % 60 == 0 or day == options.days:
            told = [size["nodes"], *(size[name] for name in HOT), size["cold_texts"]]
            print(
                f"{day:>5}" + "".join(f"{n:>{w},}" for n, w in zip(told, (10, 11, 11, 13, 12), strict=True)),
                flush=True,
            )
    failed = []
    third, fourth = seen[len(seen) // 2 : len(seen) * 3 // 4], seen[len(seen) * 3 // 4 :]
    for name in HOT:
        early, late = (max(size[name] for size in part) for part in (third, fourth))
        if late > ROOM * early:
            failed.append(f"{name} grew from {early} to {late} in the second year")
    if not any("peanuts" in fact.text for fact in life.memory.recall("What is the user allergic to?").facts):
        failed.append("an allergy went cold")
    print(f"slowest day with its night: {slowest:.2f} s")
    life.memory.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
