"""Whom a name means here: an entity, a speaker, or both; and everything that they are called.

Only what the view may see counts: a speaker none of whose turns is visible is nobody here, and a
wrong name is answered with near ones that are.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

import orjson
from msgspec import Struct

from worldline.errors import NotFound
from worldline.model import Node
from worldline.store.view import LISTED, SqlView, listed
from worldline.text import fold, unsigned

NEAR = 5
_LOOKED_AT = 40
"""So many near names are looked at for some that may be seen."""
_SPEAKERS = (
    "WITH RECURSIVE s(name) AS (SELECT min(speaker) FROM {0} WHERE tenant = :t AND speaker > ''"
    " UNION ALL SELECT (SELECT min(speaker) FROM {0} WHERE tenant = :t AND speaker > s.name) FROM s"
    " WHERE s.name IS NOT NULL LIMIT 2000) SELECT name FROM s WHERE name IS NOT NULL"
)


class Person(Struct, frozen=True):
    """Somebody: what to call them, their entities (lineages), and their names, folded."""

    name: str
    entities: tuple[int, ...]
    speakers: tuple[str, ...]
    called: frozenset[str]


def person(view: SqlView, name: str) -> Person:
    """The one who is called so; NotFound, with near names, where nobody is."""
    key = fold(name)
    lines = _entities(view, [key])
    names = _names(view, lines)
    keys = {fold(one) for one in names} | {key}
    spoken = _heard(view, sorted(keys))
    if not spoken and not lines:
        spoken = _by_first_name(view, key)
    if not spoken and not lines:
        raise NotFound(_nobody(view, name, key))
    shown = _shown(view, spoken, names) or name
    called = keys | set(spoken) | {one.split()[0] for one in (*keys, *spoken) if one}
    return Person(shown, tuple(lines), tuple(spoken), frozenset(called))


def person_of(view: SqlView, node: Node) -> Person:
    """The person that an entity is."""
    return person(view, node.name)


def _entities(view: SqlView, keys: Collection[str]) -> list[int]:
    """The visible entities of these names, with what was accepted as the same."""
    rows = view.query(
        "SELECT DISTINCT a.line, a.name FROM aliases a WHERE a.tenant = :t"
        f" AND a.key IN (SELECT value FROM json_each(:keys)) AND {view.scoped('a')} ORDER BY a.line",
        keys=orjson.dumps([*keys, *map(unsigned, keys)]).decode(),
    )
    lines = list(dict.fromkeys(line for line, name in rows if fold(name) in keys))
    lines = view.same_as(*lines) if lines and view.has_merges() else lines
    seen = view.bind(world=0).visible(lines)  # entities live in the root, whichever world speaks of them
    return [node.line for node in seen]


def _names(view: SqlView, lines: Sequence[int]) -> list[str]:
    rows = view.query(
        f"SELECT a.name FROM aliases a WHERE a.tenant = :t AND a.line IN {LISTED} AND {view.scoped('a')} ORDER BY a.id",
        among=listed(lines),
    )
    return [row[0] for row in rows]


def _heard(view: SqlView, speakers: Collection[str]) -> list[str]:
    """Which of these have said something that may be seen."""
    held = (
        "EXISTS (SELECT 1 FROM {0} t CROSS JOIN nodes n ON n.id = t.node CROSS JOIN beliefs b ON b.tenant = :t"
        f" AND b.line = n.line AND b.node = n.id WHERE t.tenant = :t AND t.speaker = j.value AND {view.seen()})"
    )
    rows = view.query(
        f"SELECT j.value FROM json_each(:speakers) j WHERE {held.format('texts')} OR {held.format('cold_texts')}",
        speakers=orjson.dumps(list(speakers)).decode(),
    )
    return [row[0] for row in rows]


def _everybody(view: SqlView) -> list[str]:
    """Every name under which anybody speaks in this tenant; seen or not, so it is only to choose from."""
    rows = [row[0] for table in ("texts", "cold_texts") for row in view.query(_SPEAKERS.format(table))]
    return sorted(set(rows))


def _by_first_name(view: SqlView, key: str) -> list[str]:
    """The one speaker of this first name."""
    heard = _heard(view, [name for name in _everybody(view) if name.split()[0] == key])
    return heard if len(heard) == 1 else []


def _shown(view: SqlView, speakers: Sequence[str], names: Sequence[str]) -> str:
    """A name as it was written."""
    if names:
        return names[0]
    for table in ("texts", "cold_texts"):
        rows = view.query(
            f"SELECT n.name FROM {table} t CROSS JOIN nodes n ON n.id = t.node WHERE t.tenant = :t"
            " AND t.speaker = :speaker ORDER BY t.node LIMIT 1",
            speaker=speakers[0] if speakers else "",
        )
        if rows:
            return str(rows[0][0])
    return ""


def _nobody(view: SqlView, name: str, key: str) -> str:
    near = difflib.get_close_matches(key, _everybody(view), n=_LOOKED_AT, cutoff=0.5)
    known = {word for word in near if word}
    heard = [one for one in near if one in set(_heard(view, sorted(known)))]
    aliases = view.query(
        f"SELECT DISTINCT a.key, a.name FROM aliases a WHERE a.tenant = :t AND {view.scoped('a')}"
        " AND a.key >= :low AND a.key < :high ORDER BY a.key LIMIT 500",
        low=key[:2],
        high=key[:2] + "\U0010ffff",
    )
    by_key = dict(aliases)
    heard += difflib.get_close_matches(key, list(by_key), n=NEAR, cutoff=0.6)
    told = ", ".join(dict.fromkeys(by_key.get(one) or _shown(view, [one], ()) for one in heard[:NEAR]))
    hint = f"; did you mean {told}?" if told else ""
    return f"nobody here is called {name[:80]!r}{hint}"
