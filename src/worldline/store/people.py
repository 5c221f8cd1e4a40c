"""Who is who in a store: names and whom they mean, speakers who were heard, and what sleep keeps of them.

Every name is found by its folded key. Entities live in the root, whichever world speaks of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import orjson

from worldline.model import Proposal
from worldline.ports import View
from worldline.reading.voices import role_of
from worldline.store.turns import HELD, TABLES
from worldline.store.view import LISTED, listed
from worldline.text import fold, unsigned

_MOST_SPEAKERS = 2000
_SPELLINGS = 100
"""Of so many texts of a speaker, those that came first, the name is taken: nobody reads all that somebody ever said."""
_MERGED = "EXISTS (SELECT 1 FROM proposals p WHERE p.tenant = :t AND p.status = 'accepted')"


class NamedEntity(NamedTuple):
    """An entity that goes by a name; `first` stands for it and for all that was accepted as the same."""

    line: int
    name: str
    first: int


class KeptProfile(NamedTuple):
    """What sleep keeps of a speaker: a tally and a style, packed."""

    speaker: str
    tally: str
    style: bytes


def joined(view: View, start: str) -> str:
    """The recursive table `same(line)`: what `start` selects, and all that was accepted as the same."""
    return (
        f"WITH RECURSIVE same(line) AS ({start} UNION SELECT i.dst FROM same CROSS JOIN edges i ON i.tenant = :t"
        f" AND i.src = same.line AND i.type = 'same_as' AND i.kf <= :k AND i.kt > :k AND {view.scoped('i')})"
    )


def first_of(view: View, line: str) -> str:
    """The lineage that stands for the identity of a column; itself where nothing was ever merged."""
    first = f"{joined(view, f'SELECT {line}')} SELECT min(same.line) FROM same"
    return f"CASE WHEN {_MERGED} THEN ({first}) ELSE {line} END"


def called(view: View, names: Collection[str]) -> list[NamedEntity]:
    """The entities that go by one of these folded names, the newest name first."""
    rows = view.query(
        f"SELECT a.line, a.name, {first_of(view, 'a.line')} FROM aliases a WHERE a.tenant = :t"
        f" AND a.key IN (SELECT value FROM json_each(:names)) AND {view.scoped('a')} ORDER BY a.id DESC",
        names=_texts({*names, *map(unsigned, names)}),
    )
    return [
        NamedEntity(*row) for row in rows if fold(row[1]) in names
    ]  # an old file's key for C++ is that of C


def names_of(view: View, lines: Collection[int]) -> list[str]:
    """Everything that these entities are called, the oldest name first."""
    rows = view.query(
        f"SELECT a.name FROM aliases a WHERE a.tenant = :t AND a.line IN {LISTED} AND {view.scoped('a')} ORDER BY a.id",
        among=listed(lines),
    )
    return [row[0] for row in rows]


def names_near(view: View, key: str, most: int = 500) -> dict[str, str]:
    """Names that begin as a folded one does, by their key."""
    rows = view.query(
        f"SELECT DISTINCT a.key, a.name FROM aliases a WHERE a.tenant = :t AND {view.scoped('a')}"
        " AND a.key >= :low AND a.key < :high ORDER BY a.key, a.name LIMIT :most",
        low=key[:2], high=key[:2] + "\U0010ffff", most=most,
    )  # fmt: skip
    return dict(rows)


def heard(view: View, speakers: Collection[str]) -> list[str]:
    """Which of these have said something that may be seen."""
    held = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} t{HELD} WHERE t.tenant = :t AND t.speaker = j.value AND {view.seen()})"
        for table in TABLES
    )
    rows = view.query(
        f"SELECT j.value FROM json_each(:speakers) j WHERE {held} ORDER BY j.key", speakers=_texts(speakers)
    )
    return [row[0] for row in rows]


def speakers(view: View) -> list[str]:
    """Every name under which anybody speaks in this tenant; seen or not, so it is only to choose from."""
    steps = ", ".join(
        f"{table}_by(name, place) AS (SELECT min(x.speaker), 1 FROM {table} x WHERE x.tenant = :t AND x.speaker > ''"
        f" UNION ALL SELECT (SELECT min(x.speaker) FROM {table} x WHERE x.tenant = :t AND x.speaker > s.name),"
        f" place + 1 FROM {table}_by s WHERE s.name IS NOT NULL AND place < :most)"
        for table in TABLES
    )
    found = " UNION ".join(f"SELECT name FROM {table}_by WHERE name IS NOT NULL" for table in TABLES)
    rows = view.query(f"WITH RECURSIVE {steps} {found} ORDER BY 1", most=_MOST_SPEAKERS)
    return [row[0] for row in rows]


def written(view: View, speaker: str) -> str:
    """A speaker's name as it was first written; empty for nobody."""
    parts = (
        f"SELECT {place} AS place, n.name FROM (SELECT min(f.node) AS node FROM (SELECT x.node FROM {table} x"
        f" WHERE x.tenant = :t AND x.speaker = :speaker LIMIT {_SPELLINGS}) f) t"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node"
        for place, table in enumerate(TABLES)
    )
    rows = view.query(f"{' UNION ALL '.join(parts)} ORDER BY 1 LIMIT 1", speaker=speaker)
    return str(rows[0][1]) if rows else ""


def kept(view: View, first: Collection[str], most: int) -> list[KeptProfile]:
    """What sleep keeps of people and this view may see; these people's before others'."""
    rows = view.query(
        f"SELECT p.speaker, p.body, p.style FROM profiles p WHERE p.tenant = :t AND {view.scoped('p')}"
        " ORDER BY p.speaker NOT IN (SELECT value FROM json_each(:first)), p.speaker, p.scope LIMIT :most",
        first=_texts(first), most=most,
    )  # fmt: skip
    return [KeptProfile(*row) for row in rows]


def landmarks_of(view: View, people: Collection[str], kinds: Collection[str], most: int) -> list[int]:
    """Visible texts that tell a landmark of one of these kinds of one of these speakers, weightiest first."""
    bodies = view.query(
        "SELECT p.body FROM profiles p WHERE p.tenant = :t AND p.speaker IN (SELECT value FROM json_each(:people))"
        f" AND {view.scoped('p')} ORDER BY p.speaker, p.scope",
        people=_texts(people),
    )
    weights: dict[int, float] = {}
    for (body,) in bodies:
        for kind, held in (orjson.loads(body).get("landmarks") or {}).items():
            for line, weight, *_ in held if kind in kinds else ():
                weights[line] = max(weight, weights.get(line, weight))
    if not weights:
        return []
    rows = view.query(
        f"SELECT b.line, b.node FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()}",
        among=listed(weights),
    )
    rows = [(node,) for line, node in sorted(rows, key=lambda row: (-weights[row[0]], row[1]))][:most]
    return list(dict.fromkeys(row[0] for row in rows))


# Merges ------------------------------------------------------------------------------------------


def proposals(view: View, status: str | None = None) -> list[Proposal]:
    """Merge proposals of a status (None: all), as they stood at this known time."""
    return view.proposals() if status is None else view.proposals("p.status = :status", status=status)


def accepted_among(view: View, lines: Collection[int]) -> list[Proposal]:
    """The accepted merges that one of these entities has part in."""
    return view.proposals(
        f"p.status = 'accepted' AND (p.a IN {LISTED} OR p.b IN {LISTED})", among=listed(lines)
    )


def _texts(values: Collection[str]) -> str:
    return orjson.dumps(list(values)).decode()


_NEXT = "(SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > s.name)"


def only_speaker(view: View) -> str:
    """The one person who speaks here beside assistants; empty where there are none or several."""
    heard = (
        "EXISTS (SELECT 1 FROM texts t CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node CROSS JOIN beliefs b"
        " ON b.tenant = :t AND b.line = n.line AND b.node = n.id WHERE t.tenant = :t AND t.speaker = s.name"
        f" AND {view.scoped('b')})"
    )
    rows = view.query(
        "WITH RECURSIVE s(name, n) AS (SELECT (SELECT min(speaker) FROM texts WHERE tenant = :t AND speaker > ''), 1"
        f" UNION ALL SELECT {_NEXT}, n + 1 FROM s WHERE s.name IS NOT NULL AND n < :most)"
        f" SELECT name FROM s WHERE name IS NOT NULL AND {heard} ORDER BY name LIMIT 6",
        most=6 if not view.owned else 1000,
    )
    people = [row[0] for row in rows if role_of(row[0]) != "assistant"]
    return people[0] if len(people) == 1 else ""
