"""Scorers of your own: run over everything that is stored, resumed where they ended, kept up each night.

A scorer sees one memory at a time and nothing else. Where it stands is kept with its scores, in the
same transaction: a run that is killed goes on, and nothing is judged twice or left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from worldline.consolidate.run import EVERYBODY
from worldline.errors import InvalidInput
from worldline.handle import Handle
from worldline.model import Node, Scorer
from worldline.read.signals import SCORER
from worldline.store.schema import SILENT
from worldline.store.view import SqlView

Progress = Callable[[int, int], None]
_BATCH = 500
_APART = SILENT | {"Fact", "Entity"}
"""Types that recall does not rank."""


def register(handle: Handle, scorer: Scorer) -> None:
    """Takes down name, version and weight; another version begins anew."""
    with handle.changeset("register scorer") as (tx, _):
        known = tx.query("SELECT version FROM scorers WHERE tenant = :t AND name = :name", name=scorer.name)
        if known and known[0][0] != scorer.version:
            _drop(tx, scorer.name)
        tx.store.execute(
            "INSERT OR REPLACE INTO scorers (tenant, name, version, weight) VALUES (?, ?, ?, ?)",
            (tx.tenant, scorer.name, scorer.version, scorer.weight),
        )


def unregister(handle: Handle, name: str) -> bool:
    """Forgets a scorer and all that it said; False where there is none of that name."""
    with handle.changeset("unregister scorer") as (tx, _):
        known = tx.query("SELECT 1 FROM scorers WHERE tenant = :t AND name = :name", name=name)
        tx.query("DELETE FROM scorers WHERE tenant = :t AND name = :name", name=name)
        _drop(tx, name)
    return bool(known)


def _drop(tx: SqlView, name: str) -> None:
    tx.query("DELETE FROM scores WHERE tenant = :t AND name = :name", name=SCORER + name)
    tx.query("DELETE FROM sleep WHERE tenant = :t AND pass = :name", name=SCORER + name)


def score_all(handle: Handle, scorer: Scorer, progress: Progress | None = None) -> int:
    """Judges every memory that the scorer has not seen yet; how many those were."""
    done, of = 0, handle.read(lambda view: _left(view, scorer)) if progress is not None else 0
    while batch := handle.read(lambda view: _unjudged(view, scorer)):
        _keep(handle, scorer, [(key, _judged(scorer, node) if node else None) for key, node in batch])
        done += len(batch)
        if progress is not None:
            progress(done, max(of, done))
    return done


def catch_up(handle: Handle, scorers: Iterable[Scorer]) -> int:
    """What is new since each scorer last ran."""
    return sum(score_all(handle, scorer) for scorer in scorers)


def _judged(scorer: Scorer, node: Node) -> float | None:
    value = scorer.score(node)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"scorer {scorer.name} gave {value!r} for {node.id[:12]}, which is not a number")
    return float(value)


def _stands(view: SqlView, scorer: Scorer) -> int:
    rows = view.query("SELECT cursor FROM sleep WHERE tenant = :t AND pass = :p", p=SCORER + scorer.name)
    return int(rows[0][0]) if rows else 0


def _unjudged(view: SqlView, scorer: Scorer) -> list[tuple[int, Node | None]]:
    """The next versions in the order of their rows, each through its newest belief, if it ever had one."""
    rows = view.query(
        "SELECT id FROM nodes WHERE id > :last AND tenant = :t AND type NOT IN "
        f"({', '.join(repr(type_) for type_ in sorted(_APART))}) ORDER BY id LIMIT :most",
        last=_stands(view, scorer),
        most=_BATCH,
    )
    return [(row[0], view.payload(row[0])) for row in rows]


def _left(view: SqlView, scorer: Scorer) -> int:
    rows = view.query(
        "SELECT count(*) FROM nodes WHERE id > :last AND tenant = :t AND type NOT IN "
        f"({', '.join(repr(type_) for type_ in sorted(_APART))})",
        last=_stands(view, scorer),
    )
    return int(rows[0][0])


def _keep(handle: Handle, scorer: Scorer, judged: Sequence[tuple[int, float | None]]) -> None:
    name = SCORER + scorer.name
    with handle.writing():
        tenant = handle.tenant_row()[0]
        handle.store.insert(
            "INSERT OR REPLACE INTO scores (tenant, node, name, value) VALUES (?, ?, ?, ?)",
            [(tenant, key, name, value) for key, value in judged if value is not None],
        )
        handle.store.execute(
            "INSERT OR REPLACE INTO sleep (tenant, owner, pass, cursor, state) VALUES (?, ?, ?, ?, '[]')",
            (tenant, EVERYBODY, name, judged[-1][0]),
        )
