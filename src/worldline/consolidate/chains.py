"""Draws what caused what out of new texts: two happenings in the text's own words, and an edge between.

The same clause said again is the same happening, so that what one text calls an effect and another a
cause becomes a chain. A happening rests on the texts that say it; an edge that no visible text states
any more is withdrawn here. What follows from several edges is another pass's work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from worldline.consolidate.changes import MADE, Arrow, Change, New, Plan, Rows
from worldline.consolidate.night import Night
from worldline.model import Close
from worldline.read.turns import Spoken, not_yet, spoken
from worldline.rules.causes import Cause, causes, happening, strength
from worldline.store.stated import causes_drawn, derived_from
from worldline.store.view import SqlView

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
    edges = causes_drawn(view, closed) if closed else []
    if not edges:
        return
    drawn_from = derived_from(view, {end for edge in edges for end in (edge.src, edge.dst)})
    shared = [set(drawn_from.get(edge.src, ())) & set(drawn_from.get(edge.dst, ())) for edge in edges]
    turns = spoken(view, {turn for both in shared for turn in both})
    told = {turn.line: {(cause, effect) for _, cause, effect in _stated(turn)} for turn in turns}
    for edge, both in zip(edges, shared, strict=True):
        if not any((edge.cause, edge.effect) in told.get(line, ()) for line in both):
            yield Close(edge.belief, "edges", reason=WHY)
