"""What a store knows of names: whom they stand for, which resemble one, who is near whom, what was merged.

Names are looked up by their folded form, alike ones by block keys. A name has a dozen of those, all over the table:
so a new one lies there whole at first (`KEYLESS`), and many get their keys together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

import orjson

from worldline.model import Edge, Proposal
from worldline.ports import Tx, View
from worldline.rules.identity import block_keys
from worldline.store.view import LISTED, listed
from worldline.text import fold, unsigned

KEYLESS = "  "
"""What the key of a name begins with that has not got its own yet."""
MOST_KEYLESS = 128
"""So many names wait for their keys; while a changeset settles much at once, eight times as many."""
_KEYS = "(SELECT value FROM json_each(:keys))"
_NEAR = (
    f"(SELECT b.key, b.line FROM blocks b WHERE b.tenant = :t AND b.key IN {_KEYS}"
    " UNION SELECT j.value ->> 0, CAST(j.value ->> 1 AS BIGINT) FROM json_each(:waiting) j)"
)
"""The rows of `blocks` under these keys, with those that names will have which wait for theirs."""
_WAITING = "SELECT key, line FROM blocks WHERE tenant = :t AND key >= '  ' AND key < ' !' ORDER BY key, line"
_FACT_ENDS = "SELECT subject, object FROM facts WHERE tenant = :t AND object <> 0 AND"


class NamedLine(NamedTuple):
    """An entity under one of its names."""

    line: int
    name: str


class Called(NamedTuple):
    """A name that is known here: folded, as it was written, of whom, and whether that one is believed now."""

    key: str
    name: str
    line: int
    believed: bool


class NamePart(NamedTuple):
    """A name that shares a block with another one; `exact` where it is that very name."""

    line: int
    name: str
    exact: bool


def texts(values: Iterable[str]) -> str:
    """A list of texts as one bound value."""
    return orjson.dumps(list(values)).decode()


# Whom a name means ----------------------------------------------------------------------------------


def name_keys(name: str) -> tuple[str, str]:
    """The folded forms under which a name is found; old files have it without its signs (C++ as C)."""
    return fold(name) or name, unsigned(fold(name))


def exactly(tx: Tx, name: str, scope: int) -> Called | None:
    """Who has exactly this name in a scope; C++ is not C, though old files key it so."""
    return exactly_each(tx, [name], scope)[name]


def exactly_each(tx: Tx, names: Collection[str], scope: int) -> dict[str, Called | None]:
    """The same of some names."""
    rows = called(tx, [key for name in names for key in name_keys(name)], scope)
    return {name: next((row for row in rows if fold(row.name) == fold(name)), None) for name in names}


def called(tx: Tx, keys: Collection[str], scope: int) -> list[Called]:
    """Whom these folded names stand for in a scope, the oldest first."""
    known: list[Called] | None = tx.gathering.called(keys, scope) if tx.gathering else None
    return stored_names(tx, keys, scope) if known is None else known


def stored_names(view: View, keys: Collection[str], scope: int) -> list[Called]:
    """The same, as it is stored."""
    rows = view.query(
        "SELECT a.key, a.name, a.line, EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = a.line"
        " AND b.scope = :scope AND b.kt = :forever AND b.vf <= :v AND b.vt > :v) FROM aliases a"
        f" WHERE a.tenant = :t AND a.key IN {_KEYS} AND a.scope = :scope ORDER BY a.id",
        keys=texts(keys),
        scope=scope,
    )
    return [Called(key, name, line, bool(believed)) for key, name, line, believed in rows]


def one_called(tx: Tx, key: str, scope: int) -> int:
    """The entity that has this folded name in a scope; 0 if none has."""
    return next((row.line for row in called(tx, [key], scope)), 0)


def parts(tx: Tx, keys: Collection[str], exact: str, slot: str, scope: int, most: int) -> list[NamePart]:
    """Names that share a block key, of whom a slot says something; and the very name, if it is known."""
    fresh = _fresh_parts(tx, keys, exact, slot, scope) if tx.gathering else None
    told = {row[2] for row in tx.rows["facts"] if row[3] == slot}
    rows = (tx if fresh is None else tx.peek()).query(
        f"SELECT DISTINCT a.line, a.name, a.key = :exact FROM {_NEAR} k"
        " CROSS JOIN aliases a ON a.tenant = :t AND a.line = k.line"
        " LEFT JOIN facts f ON f.tenant = :t AND f.subject = a.line AND f.predicate = :slot"
        " WHERE a.scope = :scope"
        f" AND (f.node IS NOT NULL OR a.key = :exact OR a.line IN {LISTED}) ORDER BY 3 DESC, 1, 2 LIMIT :most",
        keys=texts(keys), slot=slot, scope=scope, exact=exact, most=most, among=listed(told),
        waiting=_waiting(tx, keys, peek=fresh is not None),
    )  # fmt: skip
    found = [NamePart(line, name, bool(same)) for line, name, same in rows]
    return sorted({*found, *fresh}, key=lambda part: (not part.exact, *part))[:most] if fresh else found


def _fresh_parts(tx: Tx, keys: Collection[str], exact: str, slot: str, scope: int) -> list[NamePart] | None:
    """Those among the names that the changeset has gathered; None where the store has to tell."""
    if any(not tx.is_new(row[4]) for row in tx.rows["aliases"]):
        return None
    near = {line for _, key, line in tx.rows["blocks"] if _meets(key, keys)}
    told = {row[2] for row in tx.rows["facts"] if row[3] == slot}
    return [
        NamePart(line, name, key == exact)
        for _, _, key, name, line, where in tx.rows["aliases"]
        if line in near and where == scope and (line in told or key == exact)
    ]


def alike(tx: Tx, keys: Collection[str], but: Collection[int], scope: int, most: int) -> list[NamedLine]:
    """Names that share block keys with a new one; those that share the most, if there are many."""
    rows = (tx.peek() if tx.gathering else tx).query(
        f"SELECT a.line, a.name FROM {_NEAR} k CROSS JOIN aliases a ON a.tenant = :t AND a.line = k.line"
        f" WHERE a.scope = :scope AND a.line NOT IN {LISTED}"
        " GROUP BY a.line, a.name ORDER BY count(*) DESC, a.line, a.name LIMIT :most",
        keys=texts(keys), scope=scope, among=listed(but), most=most,
        waiting=_waiting(tx, keys, peek=bool(tx.gathering)),
    )  # fmt: skip
    lines = {line for _, key, line in tx.rows["blocks"] if _meets(key, keys)} - set(but)
    fresh = [NamedLine(row[4], row[3]) for row in tx.rows["aliases"] if row[4] in lines and row[5] == scope]
    return [*(NamedLine(*row) for row in rows), *fresh]


@lru_cache(maxsize=50_000)
def keys_of(name: str) -> frozenset[str]:
    """The block keys of a name."""
    return frozenset(block_keys(name))


def _meets(key: str, keys: Collection[str]) -> bool:
    """Whether a row of `blocks` is under one of these keys, or its name will be."""
    return not keys_of(key[len(KEYLESS) :]).isdisjoint(keys) if key.startswith(KEYLESS) else key in keys


def _waiting(tx: Tx, keys: Collection[str], *, peek: bool) -> str:
    """(key, lineage) of the names that wait for their keys and will be under one of these."""
    rows = (tx.peek() if peek else tx).query(_WAITING)
    tx.keyless = len(rows)
    near = {(key, line) for held, line in rows for key in keys_of(held[len(KEYLESS) :]).intersection(keys)}
    return orjson.dumps(sorted(near)).decode()


def add_keys(tx: Tx, name: str, line: int) -> None:
    """Makes a name findable for others like it."""
    if tx.keyless >= MOST_KEYLESS * (8 if tx.gathering else 1):
        give_keys(tx)
    tx.add("blocks", KEYLESS + name, line)


def give_keys(tx: Tx) -> None:
    """Puts the keys of all names that wait for theirs."""
    for held, line in tx.query(_WAITING):
        for key in sorted(keys_of(held[len(KEYLESS) :])):
            tx.add("blocks", key, line)
    tx.query("DELETE FROM blocks WHERE tenant = :t AND key >= '  ' AND key < ' !'")
    tx.keyless = 0


def ever_called(view: View, line: int) -> set[str]:
    """Every name under which an entity was ever known, in any scope."""
    rows = view.query(
        "SELECT name FROM aliases WHERE tenant = :t AND line = :line"
        " UNION SELECT name FROM nodes WHERE tenant = :t AND id = :line",
        line=line,
    )
    return {row[0] for row in rows}


def namesakes(tx: Tx, line: int, scope: int) -> list[int]:
    """Others that share a name with this entity in a scope."""
    rows = tx.query(
        "SELECT DISTINCT a.line FROM aliases o CROSS JOIN aliases a ON a.tenant = :t AND a.key = o.key"
        " AND a.scope = o.scope AND a.line <> o.line WHERE o.tenant = :t AND o.line = :line AND o.scope = :scope"
        " ORDER BY a.line",
        line=line,
        scope=scope,
    )
    return [row[0] for row in rows]


# Who is near whom -----------------------------------------------------------------------------------


def beside(view: View, lines: Collection[int], most: int) -> list[int]:
    """The other ends of the facts of these; whoever has very many is nobody's neighbour."""
    first, second = (
        f"SELECT * FROM ({_FACT_ENDS} {end} IN {LISTED} ORDER BY {end}, predicate, node LIMIT :most) x"
        for end in ("subject", "object")
    )
    rows = view.query(
        f"SELECT subject, object FROM ({first} UNION {second}) z ORDER BY 1, 2",
        among=listed(lines),
        most=most,
    )
    return sorted({line for row in rows for line in row} - set(lines))


class Near(NamedTuple):
    """An entity within two facts of others: how far, and its names in a scope."""

    line: int
    far: int
    names: tuple[str, ...]


def _ends_of(lines: str) -> str:
    """The ends of the facts of these, not too many."""
    first, second = (
        f"SELECT * FROM ({_FACT_ENDS} {end} IN ({lines}) ORDER BY {end}, predicate, node LIMIT :most) x"
        for end in ("subject", "object")
    )
    return f"SELECT subject AS a, object AS b FROM ({first} UNION {second}) y"


def within_two_facts(view: View, lines: Collection[int], scope: int, most: int) -> list[Near]:
    """These entities and those within two facts of them, the nearest first, then the oldest."""
    own = "SELECT value FROM json_each(:among)"
    rows = view.query(
        f"WITH one AS ({_ends_of(own)}),"
        f" first AS (SELECT line FROM (SELECT a AS line FROM one UNION SELECT b FROM one) p WHERE line NOT IN ({own})),"
        f" two AS ({_ends_of('SELECT line FROM first')}), near AS (SELECT line, min(far) AS far FROM"
        f" (SELECT value AS line, 0 AS far FROM json_each(:among) UNION ALL SELECT line, 1 FROM first"
        " UNION ALL SELECT a, 2 FROM two UNION ALL SELECT b, 2 FROM two) q GROUP BY line)"
        " SELECT near.line, near.far, a.name FROM near LEFT JOIN aliases a ON a.tenant = :t AND a.line = near.line"
        " AND a.scope = :scope ORDER BY near.far, near.line, a.id",
        among=listed(lines),
        scope=scope,
        most=most,
    )
    found: dict[int, Near] = {}
    for line, far, name in rows:
        held = found.get(line, Near(line, far, ()))
        found[line] = Near(line, far, (*held.names, name) if name is not None else held.names)
    return list(found.values())


# Merges ---------------------------------------------------------------------------------------------


def staged(view: View, older: Collection[int]) -> set[tuple[int, int]]:
    """(younger, older) of every pair with one of these as the older, for which a merge stands staged or decided."""
    rows = view.query(
        f"SELECT p.b, p.a FROM proposals p WHERE p.tenant = :t AND p.a IN {LISTED} AND p.kt = :forever"
        f" AND {view.scoped('p')}",
        among=listed(older),
    )
    return {(younger, older) for younger, older in rows}


def merge_status(tx: Tx, a: int, b: int, scope: int) -> str:
    """How a merge of two entities stands in a scope; empty where nobody ever staged it."""
    older, younger = sorted((a, b))
    rows = tx.query(
        "SELECT status FROM proposals WHERE tenant = :t AND a = :a AND b = :b AND scope = :scope AND kt = :forever",
        a=older, b=younger, scope=scope,
    )  # fmt: skip
    return str(rows[0][0]) if rows else ""


def proposal_scope(tx: Tx, proposal: Proposal) -> int:
    """The scope set that a merge was staged in."""
    rows = tx.query("SELECT scope FROM proposals WHERE tenant = :t AND id = :row", row=proposal.row)
    return int(rows[0][0])


def identities(tx: Tx, a: int, b: int) -> list[Edge]:
    """The believed same_as edges between two entities, both ways."""
    return tx.edge_rows(
        "e.type = 'same_as' AND e.kt = :forever AND e.src IN (:a, :b) AND e.dst IN (:a, :b)", a=a, b=b
    )


def believed_edges(tx: Tx, edge: Edge) -> list[Edge]:
    """An edge as it is believed now, whatever became of it since the caller read it."""
    return tx.edge_rows(
        "e.src = :src AND e.type = :type AND e.dst = :dst AND e.kt = :forever",
        src=edge.src_line, type=edge.type, dst=edge.dst_line,
    )  # fmt: skip
