"""What is kept of each speaker, and which turns it is counted from; hot or archived, in the owner's scope.

It reads and decides nothing: how texts are tallied is in `rules/tally.py` and `rules/style.py`.
"""

from __future__ import annotations

from collections.abc import Collection

import orjson
from msgspec import Struct

from worldline.ports import View
from worldline.store.view import listed

_TABLES = ("texts", "cold_texts")


class Row(Struct, frozen=True):
    """What was counted of one speaker, as it is stored."""

    tally: str
    style: bytes


def profiles(view: View, scope: int, speakers: Collection[str]) -> dict[str, Row]:
    """The stored rows of these speakers."""
    rows = view.query(
        "SELECT speaker, body, style FROM profiles WHERE tenant = :t AND scope = :scope"
        " AND speaker IN (SELECT value FROM json_each(:speakers)) ORDER BY speaker",
        scope=scope,
        speakers=orjson.dumps(sorted(speakers)).decode(),
    )
    return {speaker: Row(body, style) for speaker, body, style in rows}


def voices_around(view: View, turns: Collection[int]) -> set[str]:
    """The names of whoever said these, or spoke right after one of them."""
    if not turns:
        return set()
    after = (
        " CROSS JOIN {0} s ON s.tenant = :t AND s.node = j.value AND s.position >= 0 CROSS JOIN {1} t"
        " ON t.tenant = :t AND t.session = s.session AND t.position = s.position + 1"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node"
    )
    parts = ["SELECT n.name FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"]
    parts += [
        f"SELECT n.name FROM json_each(:among) j{after.format(mine, theirs)}"
        for mine in _TABLES
        for theirs in _TABLES
    ]
    rows = view.query(" UNION ".join(parts), among=listed(sorted(turns)))
    return {row[0] for row in rows}


def turns_by(view: View, speaker: str) -> list[int]:
    """The lineages of everything that somebody ever said, in any scope."""
    seats = " UNION ALL ".join(
        f"SELECT t.node FROM {table} t WHERE t.tenant = :t AND t.speaker = :speaker" for table in _TABLES
    )
    rows = view.query(
        f"SELECT DISTINCT n.line FROM ({seats}) s CROSS JOIN nodes n ON n.tenant = :t AND n.id = s.node"
        " ORDER BY n.line",
        speaker=speaker,
    )
    return [row[0] for row in rows]
