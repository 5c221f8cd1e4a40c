"""What rests on what: the grounds of a memory, those that hang on it, and every belief ever held in it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from worldline.clock import Instant
from worldline.model import Belief, Metadata
from worldline.ports import View
from worldline.store.view import BELIEF, LISTED, belief_from, listed, metadata_from

_GROUND = "e.tenant = :t AND e.type = 'derived_from'"


class Cited(NamedTuple):
    """A derived_from edge: what rests on what, since when, until when, and what sleep has noted on it."""

    source: int
    line: int
    id: str
    type: str
    since: Instant
    until: Instant
    metadata: Metadata
    born: Instant | None
    """When the fact that rests on it was first believed; None for what is no fact."""


def hanging(view: View, lines: Collection[int]) -> list[int]:
    """The lineages that were derived from any of these; a version derived from its elder is not."""
    if not lines:
        return []
    rows = view.query(
        "SELECT DISTINCT s.line FROM edges e CROSS JOIN nodes s ON s.tenant = :t AND s.id = e.src"
        f" CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst WHERE {_GROUND} AND e.dst IN {LISTED}"
        f" AND e.kt = :forever AND s.line <> d.line AND {view.scoped('e')} ORDER BY s.line",
        among=listed(lines),
    )
    return [row[0] for row in rows]


def cited(view: View, lines: Collection[int]) -> list[Cited]:
    """What each of these rests on, or ever did."""
    rows = view.query(
        "SELECT e.src, d.line, d.hash, d.type, e.kf, e.kt,"
        " CASE WHEN e.made IS NOT NULL THEN e.metadata END, CASE WHEN s.type = 'Fact' THEN"
        f" (SELECT min(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.line = e.src AND {view.scoped('b')}) END"
        " FROM edges e CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst"
        f" CROSS JOIN nodes s ON s.tenant = :t AND s.id = e.src WHERE {_GROUND} AND e.src IN {LISTED}"
        f" AND d.line <> e.src AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    return [
        Cited(src, line, id_.hex(), type_, kf, kt, metadata_from(metadata), born)
        for src, line, id_, type_, kf, kt, metadata, born in rows
    ]


def current_and_former(view: View, lines: Collection[int]) -> dict[int, list[Belief]]:
    """Every belief ever held in these lineages, in this scope."""
    if not lines:
        return {}
    rows = view.query(
        f"SELECT b.line, {BELIEF} FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND {view.scoped('b')} ORDER BY b.id",
        among=listed(lines),
    )
    found: dict[int, list[Belief]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(belief_from(row[1:]))
    return found


def noted_grounds(view: View, lines: Collection[int]) -> list[tuple[int, int, Metadata]]:
    """(who rests, on what, what is noted) of the believed grounds of these that sleep has made."""
    if not lines:
        return []
    rows = view.query(
        f"SELECT e.src, e.dst, e.metadata FROM edges e WHERE {_GROUND} AND e.src IN {LISTED}"
        f" AND e.kt = :forever AND e.made IS NOT NULL AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    return [(src, dst, metadata_from(metadata)) for src, dst, metadata in rows]
