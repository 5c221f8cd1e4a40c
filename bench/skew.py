"""What skewed tenants do to a cluster: a simulation of who is busy, who is large, and where they lie.

    python bench/skew.py [--users 1000000] [--groups 64] [--nodes 8] [--sigma 1.5] [--write-ms 30] [--recall-ms 36]
                         [--kilobytes 11] [--turns 1000] [--active 0.1] [--remembers 20] [--recalls 10] [--peak 3]

Every user is a tenant; what a user does a day is drawn from a lognormal distribution with that sigma (1.5: the
busiest hundredth does a fifth of it all). Tenants are dealt to groups of shards by the hash of their name and groups
to nodes in turn, as Citus does. Prints the load of the busiest group and node against the mean, how far the busiest
tenant is from what one tenant can write (its writers queue), and how many cores and gigabytes it all takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

DAY = 86_400
_AT_ONCE = 5_000_000


class Load(Struct):
    """What came of one deal."""

    groups: list[float]
    """Events a second at the peak, by group."""
    busiest: float
    """Of one tenant."""
    hundredth: float
    """The share of the busiest hundredth."""
    users: int


def drawn(users: int, sigma: float, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """How much each user does, against the mean of all; a part at a time."""
    for start in range(0, users, _AT_ONCE):
        count = min(_AT_ONCE, users - start)
        yield rng.lognormal(-sigma * sigma / 2, sigma, count)


def deal(options: argparse.Namespace, seed: int = 7) -> Load:
    """Users into groups."""
    rng = np.random.default_rng(seed)
    mean = options.active * (options.remembers + options.recalls) * options.peak / DAY
    groups, busiest, top, total = np.zeros(options.groups), 0.0, 0.0, 0.0
    for part in drawn(options.users, options.sigma, rng):
        groups += np.bincount(
            rng.integers(0, options.groups, len(part)), weights=part, minlength=options.groups
        )
        busiest = max(busiest, float(part.max()))
        top += float(np.sort(part)[-max(1, len(part) // 100) :].sum())
        total += float(part.sum())
    return Load((groups * mean).tolist(), busiest * mean, top / total, options.users)


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, default in (("users", 1_000_000), ("groups", 64), ("nodes", 8), ("turns", 1000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, number in (
        ("sigma", 1.5), ("write-ms", 30.0), ("recall-ms", 36.0), ("kilobytes", 11.0), ("active", 0.1),
        ("remembers", 20.0), ("recalls", 10.0), ("peak", 3.0),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=float, default=number)
    options = parser.parse_args()
    load = deal(options)
    groups = np.array(load.groups)
    nodes = np.array([groups[node :: options.nodes].sum() for node in range(options.nodes)])
    done = options.remembers + options.recalls
    cpu = (options.remembers * options.write_ms + options.recalls * options.recall_ms) / done / 1000
    own = load.busiest * options.remembers / done
    print(f"{load.users:,} users; the busiest hundredth does {load.hundredth:.0%} of it")
    print(
        f"at the peak {groups.sum():,.1f} calls/s = {groups.sum() * cpu:,.1f} cores, clients and servers together"
    )
    print(f"busiest of {options.groups} groups: {groups.max() / groups.mean():.2f} x the mean")
    print(f"busiest of {options.nodes} nodes: {nodes.max() / nodes.mean():.2f} x the mean")
    print(f"busiest tenant: {own:.3f} writes/s of {1000 / options.write_ms:.0f} that one tenant can")
    print(f"kept: {load.users * options.turns * options.kilobytes / 1e6:,.0f} GB")


if __name__ == "__main__":
    main()
