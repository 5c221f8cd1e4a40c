"""`worldline bench composition`: does a world's vector find the world, when most of its children are noise?

A synthetic study, the same on every machine: 50 worlds of 20 children. Each world has a theme; three
children carry it, the others are chatter that all worlds share. The world's own words point at the
theme, roughly. A hundred questions about themes are answered by the nearest effective vector. Pooling
goes through `consolidate/worlds.py`, as in sleep; `content` is the world's own vector without children,
and `flat` is the attention of unit vectors that were not brought to length √d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from worldline.consolidate.worlds import Floats, effective, unit

SYSTEMS = ("attention", "mean", "flat", "content")
BAR = 0.98


class Study(Struct, frozen=True):
    """How much there is, and how near things are to their theme (cosines)."""

    worlds: int = 50
    children: int = 20
    queries: int = 100
    dimension: int = 384
    carriers: int = 3
    """Children that carry the theme; the others are noise."""
    chatter: int = 12
    """Directions of the noise, shared by all worlds."""
    child: float = 0.6
    noise: float = 0.9
    content: float = 0.4
    query: float = 0.4


class BenchWorld(Struct, frozen=True):
    """One made-up world."""

    theme: Floats
    content: Floats
    children: Floats


def bench(seeds: int = 10, study: Study = Study()) -> dict[str, Any]:
    """Top-1 of every system over several seeds: mean, spread and the single runs."""
    runs = [answered(study, seed) for seed in range(seeds)]
    found = {name: np.array([run[name] for run in runs]) for name in SYSTEMS}
    return {
        "bench": "composition",
        "study": {name: getattr(study, name) for name in Study.__struct_fields__},
        "seeds": seeds,
        "systems": {
            name: {
                "top1": round(float(values.mean()), 4),
                "sd": round(float(values.std()), 4),
                "least": round(float(values.min()), 4),
                "runs": [round(float(value), 4) for value in values],
            }
            for name, values in found.items()
        },
        "bar": BAR,
        "reached": bool(
            found["attention"].mean() >= BAR and found["mean"].mean() < found["attention"].mean()
        ),
    }


def answered(study: Study, seed: int) -> dict[str, float]:
    """The share of queries whose nearest world is the right one, by system."""
    draw = np.random.Generator(np.random.PCG64(seed))
    worlds = made(study, draw)
    right = np.arange(study.queries) % study.worlds
    themes = np.array([worlds[number].theme for number in right])
    queries = _near(themes, study.query, draw)
    return {
        name: float((np.argmax(queries @ vectors.T, axis=1) == right).mean())
        for name, vectors in _vectors(worlds).items()
    }


def made(study: Study, draw: np.random.Generator) -> list[BenchWorld]:
    """The worlds of one study."""
    chatter = unit(draw.standard_normal((study.chatter, study.dimension)))
    worlds = []
    for _ in range(study.worlds):
        theme = unit(draw.standard_normal(study.dimension))
        noise = chatter[draw.integers(0, study.chatter, study.children - study.carriers)]
        carried = _near(np.tile(theme, (study.carriers, 1)), study.child, draw)
        children = np.concatenate([carried, _near(noise, study.noise, draw)])
        worlds.append(BenchWorld(theme, _near(theme[None], study.content, draw)[0], children))
    return worlds


def _near(directions: Floats, cosine: float, draw: np.random.Generator) -> Floats:
    """Vectors at about this cosine from these directions, of the length that d components of variance one have."""
    apart = unit(draw.standard_normal(directions.shape))
    mixed = unit(cosine * directions + np.sqrt(1 - cosine**2) * apart)
    return np.asarray(mixed * np.sqrt(directions.shape[1]))


def _vectors(worlds: Sequence[BenchWorld]) -> dict[str, Floats]:
    return {
        "attention": np.array([effective(w.content, w.children) for w in worlds]),
        "mean": np.array([effective(w.content, w.children, "mean") for w in worlds]),
        "flat": np.array([_flat(w) for w in worlds]),
        "content": np.array([effective(w.content, ()) for w in worlds]),
    }


def _flat(world: BenchWorld) -> Floats:
    """softmax(q·k/√d) over unit vectors as they are: what not to do."""
    keys = unit(world.children)
    shares = np.exp(keys @ unit(world.content) / np.sqrt(keys.shape[1]))
    return unit(shares @ keys)


def table(made: dict[str, Any]) -> Iterator[str]:
    """The report for people."""
    study = made["study"]
    yield (
        f"{study['worlds']} worlds × {study['children']} children ({study['carriers']} carry the theme), "
        f"{study['queries']} queries, {made['seeds']} seeds"
    )
    for name, row in made["systems"].items():
        yield f"{name:<10} top-1 {row['top1']:.3f} ± {row['sd']:.3f}, least {row['least']:.3f}"
    yield f"attention ≥ {made['bar']:.2f} and above the mean: {'yes' if made['reached'] else 'NO'}"
