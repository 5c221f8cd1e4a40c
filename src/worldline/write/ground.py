"""What hangs on a memory, and what loses its ground when that memory is given up.

The same reading serves two callers: a correction keeps back at once what hung on it alone, and
sleep catches what came by another way. It decides nothing itself (`rules/grounding.py` does).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import orjson
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant
from worldline.model import Belief, Close
from worldline.rules.grounding import Ground, lost, standing
from worldline.store.tx import Tx
from worldline.store.view import BELIEF, LISTED, SqlView, belief_from, listed

MERGED = "merged"
"""The key, in the metadata of a derived_from edge, by which a merged memory names the one that stayed."""


def hanging(view: SqlView, lines: Collection[int]) -> list[int]:
    """The lineages that were derived from any of these; a version derived from its elder is not."""
    if not lines:
        return []
    rows = view.query(
        "SELECT DISTINCT s.line FROM edges e CROSS JOIN nodes s ON s.id = e.src CROSS JOIN nodes d ON d.id = e.dst"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND e.kt = :forever"
        f" AND s.line != d.line AND {view.scoped('e')} ORDER BY s.line",
        among=listed(lines),
    )
    return [row[0] for row in rows]


def grounds(
    view: SqlView, lines: Collection[int], now: Instant, *, born: bool = True
) -> dict[int, list[Ground]]:
    """What each of these rests on, or ever did, and what became of it.

    A fact that was given directly, and met its evidence later, was not `born` of it, and rests on nothing.
    """
    rows = view.query(
        "SELECT e.src, d.line, d.hash, d.type, e.kf, e.kt, e.metadata, CASE WHEN s.type = 'Fact' THEN"
        f" (SELECT min(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.line = e.src AND {view.scoped('b')}) END"
        " FROM edges e CROSS JOIN nodes d ON d.id = e.dst CROSS JOIN nodes s ON s.id = e.src"
        f" WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = 'derived_from' AND d.line != e.src"
        f" AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    rows = [row for row in rows if row[6] is None or MERGED not in orjson.loads(row[6])]
    own = {row[0] for row in rows if not born or row[7] is None or row[4] <= row[7]}
    rows = [row for row in rows if row[0] in own]
    held = current_and_former(view, {row[1] for row in rows})
    stand_ins = _stand_ins(view, [line for line, all_ in held.items() if not any(b.current for b in all_)])
    held.update(current_and_former(view, set(stand_ins.values()) - held.keys()))
    found: dict[int, dict[int, Ground]] = {}
    for src, line, hash_, type_, cited, until, *_ in rows:
        mine = found.setdefault(src, {})
        ground = Ground(line, hash_.hex(), type_, "corrected")
        if until == FOREVER:
            stays = stand_ins.get(line, line)
            ground = Ground(
                stays,
                hash_.hex(),
                type_,
                *standing(held.get(stays, ()), cited if stays == line else now, now),
            )
        if ground.evidence not in mine or ground.stands:
            mine[ground.evidence] = ground
    return {src: list(mine.values()) for src, mine in found.items()}


def current_and_former(view: SqlView, lines: Collection[int]) -> dict[int, list[Belief]]:
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


def _stand_ins(view: SqlView, lines: Collection[int]) -> dict[int, int]:
    """For memories that were merged into another one, that other one."""
    if not lines:
        return {}
    rows = view.query(
        f"SELECT e.src, e.dst, e.metadata FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED}"
        f" AND e.type = 'derived_from' AND e.kt = :forever AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    return {src: dst for src, dst, metadata in rows if metadata and MERGED in orjson.loads(metadata)}


def shaken(view: SqlView, lines: Iterable[int], now: Instant) -> list[tuple[Belief, str]]:
    """Of these and all that hangs on them: the beliefs to keep back, each with its reason."""
    found: dict[int, tuple[Belief, str]] = {}
    fallen: set[int] = set()
    frontier = set(lines)
    while frontier:
        held = current_and_former(view, frontier)
        resting = _doubted(grounds(view, frontier, now), fallen)
        fresh = set()
        for line in sorted(frontier - fallen):
            open_ = [b for b in held.get(line, ()) if b.current]
            for belief in open_:
                reason = lost(belief, resting.get(line, ())) if belief.status == "believed" else None
                if reason is not None and belief.row not in found:
                    found[belief.row] = belief, reason
            if any(b.row in found for b in open_) and all(_is_out(b, found) for b in open_):
                fresh.add(line)
        fallen |= fresh
        frontier = set(hanging(view, fresh))
    return [found[row] for row in sorted(found)]


def _is_out(belief: Belief, found: Mapping[int, object]) -> bool:
    return belief.status == "quarantined" or belief.row in found


def _doubted(grounds: Mapping[int, list[Ground]], fallen: Collection[int]) -> dict[int, list[Ground]]:
    """The same, where what has fallen carries nothing."""
    return {
        line: [replace(g, how="quarantined") if g.evidence in fallen else g for g in each]
        for line, each in grounds.items()
    }


def keep_back(tx: Tx, line: int) -> None:
    """Quarantines, in the same changeset, what hung on a memory that was just given up."""
    hung = hanging(tx, [line])
    for belief, reason in shaken(tx, hung, tx.stamp) if hung else ():
        tx.close(Close(belief, status="quarantined", reason=reason), "grounding")
