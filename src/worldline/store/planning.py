"""What SQLite's planner is told of the tables: the same in every store, so that every store has the same plans.

Without figures SQLite takes "of this tenant" for a choice of ten rows, and then reads a whole table where an
index leads to three. Figures taken from a store when it was small, or full of something else, are no better.
So each store carries these: of a million rows all are of one tenant, and an index leads to a few.
"""

from __future__ import annotations

from functools import cache

import apsw

from worldline.store.schema import CLUSTERED, INDEXES, TABLES, key_of

_MANY = 1_000_000
_SMALL = frozenset(
    {"meta", "tenants", "ontology", "words_total", "sleep", "scorers", "fresh_words", "erased"}
)
"""Tables that stay small."""
_FEW = 100
_LEADS_TO: dict[str, tuple[int, ...]] = {
    "beliefs_line": (2, 1),
    "beliefs_type": (200_000, 2, 1),
    "edges_out": (5, 4, 1, 1, 1, 1, 1, 1),
    "edges_in": (5, 4, 1, 1, 1, 1, 1, 1),
    "edges_contradicts": (5,),
    "events_sender": (1_000, 1),
    "texts_session": (20, 1),
    "cold_texts_session": (20, 1),
    "texts_speaker": (10_000, 1),
    "cold_texts_speaker": (10_000, 1),
    "facts_subject": (50, 10, 1),
    "facts_object": (20, 10),
    "facts_key": (100,),
    "facts_predicate": (1_000, 1),
    "wordings_key": (100, 10),
    "world_hashes_line": (20, 1),
    "marks_line": (2, 1, 1),
    "erased_of": (10, 1),
    "uses_scope": (10_000,),
    "strengths_cold": (10_000, 10),
    "scores": (5, 1),
    "sleep": (10, 1),
    "profiles": (2, 1),
    "words": (5, 4, 1),
    "labels": (10_000, 10, 1, 1),
    "wordings": (3, 2, 1),
    "blocks": (20, 1),
    "words_thin": (2,),
}
"""How many rows have the first column of a key after the tenant, the first two, and so on; else one at last."""


def _columns(definition: str) -> list[str]:
    inside = definition[definition.index("(") + 1 :]
    return inside[: inside.index(")")].split(", ")


@cache
def figures() -> tuple[tuple[str, str, str], ...]:
    """(table, index, figures) of every index, as SQLite keeps them."""
    found = []
    for table in TABLES:
        key = key_of(table)
        name = table if table in CLUSTERED else f"sqlite_autoindex_{table}_1"
        found.append((table, name, _figure(table, table, len(key))))
    for name, definition in INDEXES.items():
        table = definition.partition(" ON ")[2].partition(" ")[0]
        found.append((table, name, _figure(table, name, len(_columns(definition)))))
    return tuple(found)


def _figure(table: str, index: str, columns: int) -> str:
    rows = _FEW if table in _SMALL else _MANY
    leads = _LEADS_TO.get(index, (1,) * (columns - 1)) if columns > 1 else ()
    first = rows if columns > 1 else 1
    return " ".join(map(str, (rows, first, *(min(rows, each) for each in leads))))


def tell(connection: apsw.Connection) -> None:
    """Gives the planner these figures, in place of any that were taken from the rows; for this connection at once."""
    with connection:  # one commit, not one for each figure
        connection.execute("ANALYZE meta")  # makes the tables that figures are kept in
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_stat%'"
        ).fetchall():
            connection.execute(f"DELETE FROM {name}")
        connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", figures())
        connection.execute("ANALYZE sqlite_schema")


def is_told(connection: apsw.Connection) -> bool:
    """Whether a store has these figures."""
    made = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'").get
    try:
        return bool(made) and set(connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1")) == set(
            figures()
        )
    except UnicodeDecodeError:  # damaged; they are put anew
        return False
