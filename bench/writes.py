"""Where the bytes of a written message go: pages handed to the write-ahead log and bytes in the file, by table.

    python bench/writes.py STORE [--messages 60] [--at-once 1] [--profile talk|person|scopes] [--start NUMBER]

Works on a copy of a store that `bench/scale.py --folder` has made. Pages are those of the log's frames, each
with the table or index that it belongs to; CPU time beside a fixed piece of work, as in `bench/scale.py`.
"""

from __future__ import annotations

import argparse
import shutil
import struct
import tempfile
from collections import Counter
from pathlib import Path

import apsw
from scale import Costs, Talk

from worldline import Config, Memory
from worldline.testing import reference


def owners(path: Path) -> dict[int, str]:
    """Page number → table or index."""
    with apsw.Connection(str(path)) as connection:
        return dict(connection.execute("SELECT pageno, name FROM dbstat").fetchall())


def frames(path: Path) -> list[int]:
    """The page numbers in a write-ahead log, in their order; what an earlier use of the log left is not counted."""
    data = Path(f"{path}-wal").read_bytes()
    size, salt = struct.unpack_from(">I", data, 8)[0], data[16:24]
    found, at = [], 32
    while at + 24 + size <= len(data) and data[at + 8 : at + 16] == salt:
        found.append(struct.unpack_from(">I", data, at)[0])
        at += 24 + size
    return found


def sizes(path: Path) -> dict[str, tuple[int, int]]:
    """(pages, bytes used) of each table and index."""
    with apsw.Connection(str(path)) as connection:
        sql = "SELECT name, sum(pgsize), sum(payload) FROM dbstat GROUP BY name"
        return {name: (pages, used) for name, pages, used in connection.execute(sql)}


def measured(path: Path, talk: Talk, start: int, count: int, at_once: int) -> tuple[Costs, Counter[int]]:
    """What remembering costs, and how often each page was handed to the log."""
    written: Counter[int] = Counter()
    with Memory.open(path, Config(embedder="none", durability="normal")) as memory:
        connection = memory.handle.store.connection()  # type: ignore[attr-defined]
        user, costs = memory.scoped(user="me"), Costs(memory)
        user.remember(messages=talk.messages(start, 1), session="warm")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        for at in range(start + 1, start + 1 + count, at_once):
            costs.take(user.remember, messages=talk.messages(at, at_once), session=f"talk {start}")
        written.update(frames(path))
    return costs, written


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--messages", type=int, default=192)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--profile", default="talk")
    parser.add_argument("--start", type=int, default=5_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        shutil.copy(options.store, path)
        before = sizes(path)
        costs, written = measured(
            path, Talk(options.profile), options.start, options.messages, options.at_once
        )
        owner, after = owners(path), sizes(path)
    pages: Counter[str] = Counter()
    for page, times in written.items():
        pages[owner.get(page, "free")] += times
    told, count = costs.told(reference()), options.messages
    each = {name: told[name] / options.at_once for name in ("p50_ms", "x", "statements")}
    grown = sum(size for size, _ in after.values()) - sum(size for size, _ in before.values())
    print(
        f"a message: {each['p50_ms']:.2f} ms of CPU ({each['x']:.2f}x), {each['statements']:.1f} statements,",
        end=" ",
    )
    print(
        f"{sum(costs.bytes) / count / 1e3:.1f} kB to the disk, {sum(written.values()) / count:.1f} pages,",
        end=" ",
    )
    print(f"{grown / count:,.0f} bytes more in the file")
    print(f"{'table or index':32} {'pages/msg':>9} {'B/msg new':>9} {'kB':>9} {'filled':>6}")
    for name, (size, used) in sorted(after.items(), key=lambda item: (-pages[item[0]], item[0])):
        if pages[name] or size > 50_000:
            grown = (size - before.get(name, (0, 0))[0]) / count
            print(f"{name:32} {pages[name] / count:9.2f} {grown:9.0f} {size / 1e3:9.0f} {used / size:6.0%}")


if __name__ == "__main__":
    main()
