"""The engine's speed against a pinned floor, in one run: bulk load, reads, writes, appends.

    python bench/engine.py [--nodes 100000] [--edges 250000] [--json OUT]

The floor is plain executemany of the same rows into two tables with integer keys, a unique hash and
two covering edge indexes, made afterwards. Figures are CPU time, because other programs share the
machine; trust the ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import apsw

from worldline import Config, Memory
from worldline.write.given import Link, Note

PLAIN = Config(embedder="none", understand="off")
WORDS = (
    "river contract silver gold tier meeting launch budget garden piano Lisbon train ticket recipe "
    "bread novel chapter invoice project deadline swimming lesson doctor visit battery solar panel"
).split()


def make(nodes: int, edges: int, worlds: int) -> tuple[list[Note], list[Link]]:
    """Worlds that contain all other nodes, and links among those."""
    rng = random.Random(7)
    notes = [Note("project", f"world {i}", "a world of notes") for i in range(worlds)]
    for i in range(nodes - worlds):
        text = " ".join(rng.choices(WORDS, k=8))
        notes.append(Note("learning", f"note {i}", f"{text} {i}", inside=i % worlds))
    contained = nodes - worlds
    triples: set[tuple[int, str, int]] = set()
    types = ("relates_to", "supports", "refines", "implies", "causes", "derived_from")
    while len(triples) < edges - contained:
        a, b = rng.randrange(worlds, nodes), rng.randrange(worlds, nodes)
        if a != b:
            triples.add((a, types[len(triples) % len(types)], b))
    return notes, [Link(a, type_, b) for a, type_, b in sorted(triples)]


def floor(path: Path, store: Path) -> float:
    """CPU seconds to insert the very rows that the store holds into two plain tables."""
    source = apsw.Connection(str(store))
    columns = {
        "nodes": "n.*, b.vf, b.vt, b.kf, b.kt, b.status, b.confidence, b.precision, b.reason",
        "edges": "*",
    }
    nodes = source.execute(
        f"SELECT {columns['nodes']} FROM nodes n JOIN beliefs b ON b.node = n.id"
    ).fetchall()
    edges = source.execute("SELECT * FROM edges").fetchall()
    source.close()
    target = apsw.Connection(str(path))
    target.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    start = time.process_time()
    target.execute("BEGIN")
    target.execute(
        "CREATE TABLE nodes (id INTEGER PRIMARY KEY, tenant, hash, line, type, name, content, dated, world,"
        " metadata, scope, made, vf, vt, kf, kt, status, confidence, precision, reason);"
        "CREATE TABLE edges (id INTEGER PRIMARY KEY, tenant, hash, src, type, dst, world, scope, vf, vt, kf,"
        " kt, metadata, made)"
    )
    target.executemany(f"INSERT INTO nodes VALUES ({','.join('?' * 20)})", nodes)
    target.executemany(f"INSERT INTO edges VALUES ({','.join('?' * 14)})", edges)
    target.execute("CREATE UNIQUE INDEX nodes_hash ON nodes (hash)")
    target.execute("CREATE INDEX edges_out ON edges (src, type, dst, vf, vt, kf, kt)")
    target.execute("CREATE INDEX edges_in ON edges (dst, type, src, vf, vt, kf, kt)")
    target.execute("COMMIT")
    taken = time.process_time() - start
    target.close()
    return taken


def spread(samples: list[float]) -> str:
    """P50 / P95 in milliseconds."""
    ordered = sorted(samples)
    return f"{statistics.median(ordered) * 1e3:.3f} / {ordered[int(len(ordered) * 0.95)] * 1e3:.3f} ms"


def timed(work: object, times: int) -> list[float]:
    """CPU seconds of each call."""
    samples = []
    for number in range(times):
        start = time.process_time()
        work(number)  # type: ignore[operator]
        samples.append(time.process_time() - start)
    return samples


def bulk(folder: Path, nodes: int, edges: int) -> tuple[Memory, list[str], dict[str, float]]:
    """Load and floor, alternating, best of three each."""
    notes, links = make(nodes, edges, worlds=100)
    loads, floors = [], []
    memory, ids = None, []
    for attempt in range(3):
        path = folder / f"load{attempt}.db"
        memory = Memory.open(path, PLAIN)
        start = time.process_time()
        ids = list(memory.load(notes, links).ids)
        loads.append(time.process_time() - start)
        floors.append(floor(folder / f"floor{attempt}.db", path))
    assert memory is not None
    return memory, ids, {"load": min(loads), "floor": min(floors), "ratio": min(loads) / min(floors)}


def append_cost(folder: Path, siblings: int) -> float:
    """Median CPU seconds of one note in a world that has this many children."""
    memory = Memory.open(folder / f"append{siblings}.db", PLAIN)
    notes = [Note("project", "the world")]
    notes += [Note("learning", f"child {i}", inside=0) for i in range(siblings)]
    world = memory.enter(memory.load(notes).ids[0])
    world.note("learning", "warm up")
    return statistics.median(timed(lambda i: world.note("learning", f"appended {i}"), 200))


def main() -> None:
    """Everything, in one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=250_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory, ids, result = bulk(folder, options.nodes, options.edges)
        print(f"bulk load of {options.nodes:,} nodes and {options.edges:,} edges:")
        print(f"  floor {result['floor']:.2f} s, worldline {result['load']:.2f} s CPU", end="")
        print(f" = {result['ratio']:.2f} x the floor (bar: 3),", end="")
        print(f" {(options.nodes + options.edges) / result['load']:,.0f} rows per CPU second")
        rng = random.Random(3)
        chosen = [rng.choice(ids[100:]) for _ in range(500)]
        view = memory.handle.view()
        lines = [memory.handle.resolve(view, id_).line for id_ in chosen]
        one = timed(lambda i: view.edges([lines[i]], None, "out"), 500)
        two = timed(
            lambda i: view.edges([e.dst_line for e in view.edges([lines[i]], None, "out")], None, "out"), 500
        )
        print(f"1-hop read, both time filters, P50 / P95: {spread(one)}")
        print(f"2-hop read, both time filters, P50 / P95: {spread(two)}")
        walk = timed(lambda i: memory.query().seeds(chosen[i]).follow(depth=2).run(), 100)
        print(f"2-hop query through the public path:      {spread(walk)}")
        writes = timed(lambda i: memory.note("learning", f"single {i}", "one more note"), 300)
        print(f"single note writes: {1 / statistics.mean(writes):,.0f} per CPU second")
        links = timed(lambda i: memory.link(chosen[i], "relates_to", ids[200 + i]), 300)
        print(f"single link writes: {1 / statistics.mean(links):,.0f} per CPU second")
        memory.close()
        small, large = append_cost(folder, 1_000), append_cost(folder, 100_000)
        print(
            f"append to a world of 1,000 / 100,000 children: {small * 1e6:.0f} / {large * 1e6:.0f} µs", end=""
        )
        print(f" = {large / small:.2f} x (bar: 2)")
        result |= {"append_ratio": large / small}
    if options.json:
        options.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
