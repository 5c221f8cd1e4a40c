"""What hangs on a memory, and what loses its ground when that memory is given up.

The same reading serves two callers: a correction keeps back at once what hung on it alone, and
sleep catches what came by another way. It decides nothing itself (`rules/handlers.py` does).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from worldline.clock import FOREVER, Instant
from worldline.model import Belief, Close
from worldline.ports import Tx, View
from worldline.rules.handlers import Footing, lost, standing
from worldline.store.stated import cited, noted_grounds
from worldline.store.stated import current_and_former as current_and_former
from worldline.store.stated import hanging as hanging

MERGED = "merged"
"""The key, in the metadata of a derived_from edge, by which a merged memory names the one that stayed."""


def grounds(
    view: View, lines: Collection[int], now: Instant, *, born: bool = True
) -> dict[int, list[Footing]]:
    """What each of these rests on, or ever did, and what became of it.

    A fact that was given directly, and met its evidence later, was not `born` of it, and rests on nothing.
    """
    rows = [row for row in cited(view, lines) if MERGED not in row.metadata]
    own = {row.source for row in rows if not born or row.born is None or row.since <= row.born}
    rows = [row for row in rows if row.source in own]
    held = current_and_former(view, {row.line for row in rows})
    stand_ins = _stand_ins(view, [line for line, all_ in held.items() if not any(b.current for b in all_)])
    held.update(current_and_former(view, set(stand_ins.values()) - held.keys()))
    found: dict[int, dict[int, Footing]] = {}
    for row in rows:
        mine = found.setdefault(row.source, {})
        ground = Footing(row.line, row.id, row.type, "corrected")
        if row.until == FOREVER:
            stays = stand_ins.get(row.line, row.line)
            since = row.since if stays == row.line else now
            ground = Footing(stays, row.id, row.type, *standing(held.get(stays, ()), since, now))
        if ground.evidence not in mine or ground.stands:
            mine[ground.evidence] = ground
    return {src: list(mine.values()) for src, mine in found.items()}


def _stand_ins(view: View, lines: Collection[int]) -> dict[int, int]:
    """For memories that were merged into another one, that other one."""
    return {src: dst for src, dst, noted in noted_grounds(view, lines) if MERGED in noted}


def shaken(view: View, lines: Iterable[int], now: Instant) -> list[tuple[Belief, str]]:
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


def _doubted(grounds: Mapping[int, list[Footing]], fallen: Collection[int]) -> dict[int, list[Footing]]:
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
