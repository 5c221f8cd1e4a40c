"""Draws what caused what out of new texts: two happenings in the text's own words, and an edge between.

The same clause said again is the same happening, so that what one text calls an effect and another a
cause becomes a chain. A happening rests on the texts that say it; an edge that no visible text states
any more is withdrawn here. What follows from several edges is another pass's work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from worldline.clock import Interval
from worldline.consolidate.changes import MADE, Arrow, Change, New, Plan, Rows
from worldline.consolidate.night import Night
from worldline.model import Belief, Close
from worldline.rules.causes import Cause, causes, happening, strength
from worldline.store.turns import Spoken, not_yet, spoken
from worldline.store.view import LISTED, SqlView, listed

CAUSE = "cause"
MOST = 5
"""So many causes are drawn from one text; what explains everything explains nothing."""
WHY = "no text states it any more"


def chain(view: SqlView, night: Night) -> Plan:
    """The happenings and edges that new texts state, and the edges that no text states any more."""
    turns = night.news.of("Turn")
    ahead = not_yet(view, {*(item.line for item in turns), *night.waiting})
    closed = {item.line for item in turns if item.closed}
    changes: list[Change] = []
    scores = []
    for turn in spoken(view, {*(item.line for item in turns), *night.waiting} - set(ahead)):
        found = _stated(turn)
        if found:
            scores.append((view.tenant, turn.node, CAUSE, strength(tuple(one for one, _, _ in found))))
        for one, cause, effect in found:
            changes += _happenings(turn, one, cause, effect)
    if scores:
        changes.append(Rows("scores", tuple(scores)))
    return Plan((*changes, *_withdrawn(view, closed)), ahead)


def _stated(turn: Spoken) -> list[tuple[Cause, str, str]]:
    """(where, cause, effect) of what a turn states, by the names of the happenings."""
    found = []
    for one in causes(turn.text)[:MOST]:
        cause, effect = (happening(turn.text[slice(*span)], turn.name) for span in (one.cause, one.effect))
        if cause != effect:
            found.append((one, cause, effect))
    return found


def _happenings(turn: Spoken, one: Cause, cause: str, effect: str) -> Iterator[New]:
    caused = {**MADE, "cue": one.cue}
    yield New(
        "Happening", effect, valid_from=turn.said_at, label=effect, edges=(_from(turn, one.effect),)
    )  # fmt: skip
    yield New(
        "Happening", cause, valid_from=turn.said_at, label=cause,
        edges=(_from(turn, one.cause), Arrow("causes", effect, caused, since=turn.said_at)),
    )  # fmt: skip


def _from(turn: Spoken, span: tuple[int, int]) -> Arrow:
    return Arrow("derived_from", turn.line, {"start": span[0], "end": span[1]}, since=turn.said_at)


# Taking back -----------------------------------------------------------------------------------------


def _withdrawn(view: SqlView, closed: Collection[int]) -> Iterator[Close]:
    """The edges that stood on a turn which was given up or changed, and have nothing else to stand on."""
    edges = _standing_on(view, closed) if closed else []
    shared = _shared(view, [(src, dst) for _, src, dst, *_ in edges])
    told = {
        t.line: {(a, b) for _, a, b in _stated(t)}
        for t in spoken(view, {x for s in shared.values() for x in s})
    }
    for belief, src, dst, cause, effect in edges:
        if not any((cause, effect) in told.get(line, ()) for line in shared[src, dst]):
            yield Close(belief, "edges", reason=WHY)


def _standing_on(view: SqlView, lines: Collection[int]) -> list[tuple[Belief, int, int, str, str]]:
    """The causes that sleep drew between happenings of these turns, with the names of both ends."""
    rows = view.query(
        "SELECT DISTINCT e.id, e.vf, e.vt, e.kf, e.kt, e.scope, e.src, e.dst, c.name, n.name FROM edges d"
        " CROSS JOIN edges e ON e.tenant = :t AND e.src = d.src AND e.type = 'causes' AND e.kt = :forever"
        " CROSS JOIN nodes c ON c.id = e.src CROSS JOIN nodes n ON n.id = e.dst"
        f" WHERE d.tenant = :t AND d.dst IN {LISTED} AND d.type = 'derived_from' AND {view.scoped('e')}"
        " AND json_extract(e.metadata, '$.made_by') = 'sleep' AND json_extract(e.metadata, '$.inferred') IS NULL"
        " ORDER BY e.id",
        among=listed(sorted(lines)),
    )
    return [(Belief(r[0], r[0], Interval(r[1], r[2]), Interval(r[3], r[4]), r[5]), *r[6:]) for r in rows]


def _shared(view: SqlView, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], set[int]]:
    """The turns that both ends of an edge were drawn from."""
    rows = view.query(
        f"SELECT e.src, e.dst FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = 'derived_from'"
        f" AND e.kt = :forever AND {view.scoped('e')}",
        among=listed(sorted({end for pair in pairs for end in pair})),
    )
    of: dict[int, set[int]] = {}
    for src, dst in rows:
        of.setdefault(src, set()).add(dst)
    return {(a, b): of.get(a, set()) & of.get(b, set()) for a, b in pairs}
