"""What nobody has used for long goes cold: it is marked archived, and leaves default recall only.

The moment at which a memory crosses the threshold is known as soon as it is stored or used, so a
night looks at what is new and at what is due, and at nothing else. Who somebody is and what they
like never fades; nor does what is pinned, settled beyond doubt, or openly contradicted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from worldline.consolidate.changes import Change, Marked, Plan, Rows
from worldline.consolidate.night import Night
from worldline.consolidate.uses import Kept, archived, begun, row, strengths
from worldline.rules.describe import INSTRUCTS, OF_ME, PREFERS, Described
from worldline.rules.salience import DAY, cold_at, effective, is_lasting
from worldline.store.cold import ARCHIVED
from worldline.store.view import LISTED, SqlView, listed
from worldline.text import fold

NEVER = frozenset({"Scope", "Session", "Topic", "Summary"})
"""Types that do not fade: what others hang on, and what sleep has made of them."""
AGAIN = 90 * DAY
"""What is spared is looked at again after so long: a pin may be taken out, a dispute settled."""
MOST = 20_000
"""So many due memories are looked at in one night; the rest is due the next night too."""
_USER = "user"


def decay(view: SqlView, night: Night) -> Plan:
    """Strengths for what is new, an archived mark for what is due, and the way back for what was said again."""
    config, again = night.config, _said_again(view, night)
    looked_at = {**_due(view, night), **_new(view, night), **again}
    due = {
        line
        for line, kept in looked_at.items()
        if cold_at(kept, config.decay_rate, config.cold_below) <= night.now
    }
    spared, back = _spared(view, due), archived(view, again)
    changes: list[Change] = []
    rows: list[tuple[Any, ...]] = []
    for line, kept in looked_at.items():
        cold = line in due and line not in spared
        later = night.now + AGAIN if line in due else 0
        rows.append(row(view, kept, config, cold=cold, later=later))
        if cold and line not in back:
            left = effective(kept, night.now, config.decay_rate)
            changes.append(Marked(line, ARCHIVED, "cold", f"salience {left:.2f}, not used for long"))
        elif line in back and not cold:
            changes.append(Marked(line, ARCHIVED, None, "said again"))
    if rows:
        changes.append(Rows("strengths", tuple(rows)))
    return Plan(tuple(changes))


def _new(view: SqlView, night: Night) -> dict[int, Kept]:
    """What was learned since the last night and has no strength yet."""
    lines = {item.line for item in night.news.items if item.type not in NEVER and not item.closed}
    return begun(view, lines) if lines else {}


def _said_again(view: SqlView, night: Night) -> dict[int, Kept]:
    """Known lineages with a new version, facts with new evidence, entities that were mentioned again."""
    joined = [edge for edge in night.news.edges if not edge.closed]
    lines = {item.line for item in night.news.items if not item.closed}
    lines |= {edge.src for edge in joined if edge.type == "derived_from"}
    named = {edge.dst for edge in joined if edge.type == "refers_to"}
    known = strengths(view, lines | named) if lines | named else {}
    last = dict(
        view.query(
            "SELECT line, max(kf) FROM (SELECT b.line, b.kf FROM beliefs b WHERE b.tenant = :t"
            f" AND b.line IN {LISTED} AND {view.seen()} UNION ALL SELECT e.src, e.kf FROM edges e"
            f" WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = 'derived_from' AND {view.scoped('e')})"
            " GROUP BY line",
            among=listed(known.keys() - named),
        )
        if known
        else ()
    )
    last |= dict.fromkeys(named & known.keys(), night.now)
    return {
        line: msgspec.structs.replace(kept, reinforced_at=last[line])
        for line, kept in known.items()
        if last.get(line, 0) > kept.reinforced_at
    }


def _due(view: SqlView, night: Night) -> dict[int, Kept]:
    rows = view.query(
        "SELECT s.salience, s.reinforced_at, s.uses, s.useful, s.wrong, s.line, s.scope FROM strengths s"
        f" WHERE s.tenant = :t AND {view.scoped('s')} AND s.cold_at <= :now ORDER BY s.cold_at, s.line LIMIT :most",
        now=night.now,
        most=MOST,
    )
    return {r[5]: Kept(*r) for r in rows}


# What is spared --------------------------------------------------------------------------------------


def _spared(view: SqlView, lines: Collection[int]) -> set[int]:
    """Those of these lineages that do not go cold, whatever their strength."""
    if not lines:
        return set()
    spared = _marked(view, lines) | _contradicted(view, lines) | _standing(view, lines)
    facts = _lasting_facts(view, lines)
    return spared | facts | _sources(view, lines)


def _marked(view: SqlView, lines: Collection[int]) -> set[int]:
    rows = view.query(
        f"SELECT line FROM marks WHERE tenant = :t AND line IN {LISTED} AND kt = :forever"
        " AND (kind = 'pin' OR kind = 'stage' AND value = 'crystal')",
        among=listed(lines),
    )
    return {row[0] for row in rows}


def _contradicted(view: SqlView, lines: Collection[int]) -> set[int]:
    """Both sides of an open contradiction."""
    sides = " UNION ".join(
        f"SELECT e.{near} FROM edges e WHERE e.tenant = :t AND e.{near} IN {LISTED} AND e.type = 'contradicts'"
        f" AND {view.time('e')} AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = e.{far}"
        f" AND {view.seen()})"
        for near, far in (("src", "dst"), ("dst", "src"))
    )
    return {row[0] for row in view.query(sides, among=listed(lines))}


def _standing(view: SqlView, lines: Collection[int]) -> set[int]:
    """What somebody said of their own likes, or asked to hold from then on; while it is believed."""
    rows = view.query(
        "SELECT b.line, t.described FROM beliefs b CROSS JOIN texts t ON t.node = b.node WHERE b.tenant = :t"
        f" AND b.line IN {LISTED} AND t.role != 'assistant' AND b.type != 'Fact' AND {view.seen()}",
        among=listed(lines),
    )
    decode = msgspec.msgpack.Decoder(Described).decode
    flags = [(line, decode(described).flags) for line, described in rows]
    return {line for line, flag in flags if flag & INSTRUCTS or (flag & PREFERS and flag & OF_ME)}


def _lasting_facts(view: SqlView, lines: Collection[int]) -> set[int]:
    """Facts that say who somebody that speaks here is, or what they like, and still hold."""
    rows = view.query(
        "SELECT b.line, f.phrase, s.name FROM beliefs b CROSS JOIN facts f ON f.node = b.node"
        f" CROSS JOIN nodes s ON s.id = f.subject WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND {view.seen()}",
        among=listed(lines),
    )
    lasting = [(line, fold(name)) for line, phrase, name in rows if is_lasting(phrase)]
    speak = _speakers(view, {name for _, name in lasting})
    return {line for line, name in lasting if name in speak}


def _speakers(view: SqlView, names: Collection[str]) -> set[str]:
    """Which of these folded names ever spoke here; the user always did."""
    among = msgspec.json.encode(sorted(names)).decode()
    speaks = "EXISTS (SELECT 1 FROM {} x WHERE x.tenant = :t AND x.speaker = j.value)"
    rows = view.query(
        f"SELECT j.value FROM json_each(:names) j WHERE j.value = '{_USER}'"
        f" OR {speaks.format('texts')} OR {speaks.format('cold_texts')}",
        names=among,
    )
    return {row[0] for row in rows}


def _sources(view: SqlView, lines: Collection[int]) -> set[int]:
    """The events on which a lasting fact rests."""
    rows = view.query(
        "SELECT e.dst, e.src FROM edges e CROSS JOIN nodes n ON n.id = e.src AND n.type = 'Fact'"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND {view.time('e')}",
        among=listed(lines),
    )
    lasting = _lasting_facts(view, {fact for _, fact in rows})
    return {event for event, fact in rows if fact in lasting}
