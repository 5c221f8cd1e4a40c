"""The words that memories rest on, as far as they still stand: who said them, where, and whether they count."""

from __future__ import annotations

from collections.abc import Collection

from worldline.clock import FOREVER, Instant
from worldline.rules.funnel import Source
from worldline.rules.grounding import Ground
from worldline.store.view import LISTED, SqlView, listed
from worldline.write.ground import current_and_former, grounds
from worldline.write.remember import ECHO


def sources(view: SqlView, lines: Collection[int], now: Instant) -> dict[int, list[Source]]:
    """What each of these rests on and still stands; what sleep made of them is no source."""
    resting = grounds(view, lines, now, born=False)
    said = _said(view, {ground.evidence for each in resting.values() for ground in each})
    ends = {
        line: max((b.valid.end for b in held if b.current), default=FOREVER)
        for line, held in current_and_former(view, resting).items()
    }
    return {
        line: [said[g.evidence] for g in each if g.evidence in said and _counts(g, ends.get(line, FOREVER))]
        for line, each in resting.items()
    }


def _counts(ground: Ground, end: Instant) -> bool:
    """Words that were retired still speak for what was over by then."""
    return ground.stands or (ground.how == "retired" and end <= ground.until)


def _said(view: SqlView, lines: Collection[int]) -> dict[int, Source]:
    rows = view.query(
        "SELECT n.line, e.sender, e.session, e.said_at, json_extract(e.signals, '$.reason') = :echo,"
        " json_extract(e.signals, '$.act') = 'decision', json_extract(n.metadata, '$.made_by')"
        f" FROM nodes n LEFT JOIN events e ON e.node = n.id WHERE n.id IN {LISTED} ORDER BY n.id",
        among=listed(sorted(lines)),
        echo=ECHO,
    )
    found: dict[int, Source] = {}
    for line, sender, session, said_at, echo, decision, made_by in rows:
        if made_by != "sleep":
            own = line if sender is None else session or 0  # a note speaks for itself
            found[line] = Source(line, sender or "", own, said_at or 0, bool(echo), bool(decision))
    return found
