"""What PostgreSQL says otherwise than SQLite: statements and definitions, and vectors that a server compares by itself.

Statements are written once, in SQL that both engines read; what is left is parameter style, the
order hint `CROSS JOIN … ON`, lists bound as one JSON value, JSON operators on text, and the names of
column types. A statement is translated once and kept. Whoever writes a new construct that only one
engine reads adds a rule here, or better, writes it another way.

Where a server has pgvector, a column beside each vector holds it as pgvector reads it; the server makes it from the
bytes, so that no writer knows of it. One statement brings the vectors of the nearest nodes, and they are compared
again here as an index in memory does, to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import orjson

from worldline.ports import Row
from worldline.store.held import BESIDE, EXACT, Few, Newest, VectorIndex, WorldIndex
from worldline.store.schema import INDEXES, TABLES, WORDS_PER_NODE, on_conflict, quoted
from worldline.store.view import LISTED, listed

if TYPE_CHECKING:
    from worldline.ports import View
    from worldline.store.held import Floats

Kind = Literal["ids", "texts", "json"]
"""What a list bound as one JSON value holds."""

_PIECES = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[^'\"]+")
_NAMED = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")
_LISTS = re.compile(r"json_each\(:(\w+)\)")
_AMONG = re.compile(r"\b(NOT )?IN \(SELECT value FROM json_each\(:(\w+)\)\)")
_JSON = re.compile(r"((?:\w+\.)?\w+) (->>?) ('(?:[^']|'')*'|\d+)")
_AGGREGATES = {"json_group_array": ("json_agg", "[]"), "json_group_object": ("json_object_agg", "{}")}
_TYPES = (
    ("INTEGER", "BIGINT"),
    ("REAL", "DOUBLE PRECISION"),
    ("BLOB", "BYTEA"),
    ("TEXT", 'TEXT COLLATE "C"'),
)
_IDS = frozenset({"among", "best", "only", "turns"})
"""What lists of row numbers are called; an empty list does not say by itself what it holds."""
_ELEMENTS = {"ids": "bigint[]", "texts": "text[]"}
_AFTER_JOIN = re.compile(
    r"\s*(?:AS\s+)?(?!ON\b|WHERE\b|CROSS\b|LEFT\b|JOIN\b|GROUP\b|ORDER\b|UNION\b)(\w+)?\s*(ON\b)?"
)


def bound(sql: str, args: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """A statement and its values; lists as arrays."""
    names = _lists_of(sql)
    if not names:
        return adapted(sql), args
    kinds = tuple(_kind(name, args[name]) for name in names)
    changed = {name: _array(args[name], kind) for name, kind in zip(names, kinds, strict=True)}
    return adapted(sql, kinds), {**args, **changed}


@lru_cache(4096)
def _lists_of(sql: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_LISTS.findall(sql)))


def _kind(name: str, stored: str) -> Kind:
    if stored == "[]":
        return "ids" if name in _IDS else "texts"
    return "texts" if stored.startswith('["') else "json" if stored.startswith(("[[", "[{")) else "ids"


def _array(stored: str, kind: Kind) -> str:
    """An array as PostgreSQL reads it, or the JSON itself for a list of lists."""
    if kind == "json":
        return stored
    if kind == "ids":
        return "{" + stored[1:-1] + "}"
    return "{" + ",".join('"' + _escaped(text) + '"' for text in orjson.loads(stored)) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@lru_cache(4096)
def adapted(sql: str, kinds: tuple[Kind, ...] = ()) -> str:
    """The statement for PostgreSQL, given what its lists hold."""
    held = dict(zip(_lists_of(sql), kinds, strict=True))
    sql = _AMONG.sub(lambda m: f"{'<> ALL' if m[1] else '= ANY'} (:{m[2]})", _joined(sql))
    sql = _LISTS.sub(lambda m: _elements(m[1], held.get(m[1], "ids")), sql)
    sql = _JSON.sub(_json, sql).replace("json_array(", "json_build_array(")
    for name, (other, empty) in _AGGREGATES.items():
        sql = _aggregate(sql, name, other, empty)
    return "".join(_parameters(sql))


def _parameters(sql: str) -> Iterator[str]:
    """`:name` and `?` as psycopg writes them, outside of quotes."""
    for piece in _PIECES.findall(sql):
        piece = piece.replace("%", "%%")
        if piece[0] not in "'\"":
            piece = _NAMED.sub(r"%(\1)s", piece).replace("?", "%s").replace(" AS INTEGER)", " AS BIGINT)")
            piece = piece.replace(" AS BLOB)", " AS BYTEA)")
        yield piece


def _elements(name: str, kind: Kind) -> str:
    """A list as rows of (key, value), as `json_each` has them."""
    if kind == "json":
        source = f"json_array_elements(CAST(:{name} AS json))"
    else:
        source = f"unnest(CAST(:{name} AS {_ELEMENTS[kind]}))"
    return f"(SELECT u.value, u.place - 1 AS key FROM {source} WITH ORDINALITY AS u(value, place))"


def _json(found: re.Match[str]) -> str:
    """JSON lies in columns of text, and is read by labels or by a path."""
    column, operator, label = found.groups()
    if label.startswith("'$"):
        path = ",".join(re.findall(r"[^.\[\]$']+", label))
        return f"CAST({column} AS json) #{operator[1:]} '{{{path}}}'"
    return f"CAST({column} AS json) {operator} {label}"


def _joined(sql: str) -> str:
    """`CROSS JOIN x ON` orders joins in SQLite and is a plain join elsewhere."""
    parts, at = [], 0
    for found in re.finditer(r"\bCROSS JOIN\s+", sql):
        end = _item_end(sql, found.end())
        after = _AFTER_JOIN.match(sql, end)
        if after is not None and after[2]:
            parts += [sql[at : found.start()], "JOIN "]
            at = found.end()
    return "".join([*parts, sql[at:]])


def _item_end(sql: str, at: int) -> int:
    """Where a table, a function call or a sub-select ends."""
    name = re.compile(r"\w*").match(sql, at)
    at = name.end() if name else at
    return _closing(sql, at) + 1 if sql[at : at + 1] == "(" else at


def _closing(sql: str, at: int) -> int:
    """The parenthesis that closes the one at a place."""
    depth = 0
    for here in range(at, len(sql)):
        depth += (sql[here] == "(") - (sql[here] == ")")
        if not depth:
            return here
    raise ValueError(f"a parenthesis is open in {sql!r}")


def _aggregate(sql: str, name: str, other: str, empty: str) -> str:
    while (at := sql.find(name + "(")) >= 0:
        start = at + len(name)
        end = _closing(sql, start)
        inner = f"coalesce({other}{sql[start : end + 1]}, CAST('{empty}' AS json))"
        sql = f"{sql[:at]}CAST({inner} AS TEXT){sql[end + 1 :]}"
    return sql


# Definitions ---------------------------------------------------------------------------------------


_FUNCTIONS = (
    "unhex(digits text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$"
    " SELECT CASE WHEN digits ~ '^([0-9a-fA-F]{2})*$' THEN decode(digits, 'hex') END $$",
    "substr(given text, start bigint, length bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$"
    " SELECT pg_catalog.substr(given, CAST(start AS integer), CAST(length AS integer)) $$",
    "json_each(document text, path text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE"
    " PARALLEL SAFE ROWS 4 AS $$ SELECT e.place - 1, e.value #>> '{}' FROM (SELECT CAST(document AS json)"
    " -> pg_catalog.substr(path, 3) AS held) x, LATERAL json_array_elements(CASE WHEN json_typeof(x.held) = 'array'"
    " THEN x.held END) WITH ORDINALITY AS e(value, place) $$",
    "json_each(document text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 4"
    " AS $$ SELECT e.place - 1, e.value #>> '{}' FROM (SELECT CAST(document AS json) AS held) x,"
    " LATERAL json_array_elements(CASE WHEN json_typeof(x.held) = 'array' THEN x.held END)"
    " WITH ORDINALITY AS e(value, place) $$",
)
"""What SQLite has and PostgreSQL has not, or has for other types."""


def definitions() -> Iterator[str]:
    """The statements that make an empty store."""
    for function in _FUNCTIONS:
        yield f"CREATE FUNCTION {function}"
    for name, columns in TABLES.items():
        yield f"CREATE TABLE {name} ({_typed(columns)}){_ROOM.get(name, '')}"
        if name != "meta":
            yield f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"
            yield f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY"
            yield f"CREATE POLICY one_tenant ON {name} USING ({_OWN}) WITH CHECK ({_OWN})"
    yield f"CREATE POLICY names ON tenants FOR SELECT USING (current_setting('{SETTING}', true) = '{NOBODY}')"
    for definition in INDEXES.values():
        yield f"CREATE {definition}"


SETTING = "worldline.tenant"
NOBODY = 0
"""The value of the setting for what concerns no tenant: it shows which tenants there are, and no row of theirs."""
_OWN = f"tenant = CAST(nullif(current_setting('{SETTING}', true), '') AS BIGINT)"
"""Whose rows a connection sees, whatever a statement asks for."""
_ROOM = {
    "worlds": " WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)",
    "tenants": " WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)",
}
"""Rows that nearly every write rewrites, left room to be rewritten in place."""


def _typed(columns: str) -> str:
    for name, other in _TYPES:
        columns = re.sub(rf"\b{name}\b", other, columns)
    return columns


@lru_cache(256)
def insertion(table: str, columns: tuple[str, ...]) -> str:
    """Many rows in one statement, whatever their number: one array a column."""
    types = column_types(table)
    names = ", ".join(map(quoted, columns))
    arrays = ", ".join(f"CAST(%({column})s AS {types[column]}[])" for column in columns)
    return f"INSERT INTO {table} ({names}) SELECT * FROM unnest({arrays}){on_conflict(table, columns)}"


def spreading(table: str, beside: str) -> str:
    """The statement that distributes a table by tenant, or puts one that is the same for all on every node."""
    if table.endswith(".meta"):
        return f"SELECT create_reference_table('{table}')"
    where = "shard_count => 64" if table == beside else f"colocate_with => '{beside}'"
    return f"SELECT create_distributed_table('{table}', 'tenant', {where})"


@lru_cache(64)
def column_types(table: str) -> dict[str, str]:
    """The type of every column of a table."""
    found = re.findall(r'(?:^|, )"?(\w+)"? (INTEGER|REAL|BLOB|TEXT)', TABLES[table])
    return {name: dict(_TYPES)[type_].split(" COLLATE")[0] for name, type_ in found}


SCANS = 2
"""So many questions about a tenant are left to the server."""
SMALL, LARGEST = 2_000, EXACT
"""A tenant with no more vectors is loaded at once, which takes no longer than a few questions to the server; one with
more than the second number never is."""
NEAR_TABLES = ("embeddings", "cold_embeddings")
_SCOPES = "(SELECT value FROM json_each(:scopes))"


def near_definitions(home: str) -> list[str]:
    """The statements that add the column, given the schema that pgvector lies in."""
    return [
        f"CREATE FUNCTION halves(given bytea) RETURNS {home}.halfvec LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$"
        f" SELECT CASE WHEN bool_and(h.e < 31) THEN CAST(CAST(array_agg(h.sign * CASE WHEN h.e = 0 THEN h.m"
        f" ELSE (1024 + h.m) * (CAST(1 AS bigint) << (h.e - 1)) END / 16777216.0) AS real[]) AS {home}.halfvec) END"
        " FROM (SELECT (x.bits >> 10) & 31 AS e, x.bits & 1023 AS m, CASE WHEN x.bits > 32767 THEN -1.0 ELSE 1.0 END"
        " AS sign FROM (SELECT get_byte(given, 2 * i) + 256 * get_byte(given, 2 * i + 1) AS bits"
        " FROM generate_series(0, length(given) / 2 - 1) i) x) h $$",
        *(
            f"ALTER TABLE {table} ADD COLUMN near {home}.halfvec GENERATED ALWAYS AS (worldline.halves(vector)) STORED"
            for table in NEAR_TABLES
        ),
    ]


class ScannedIndex:
    """The vectors of one tenant, on the server until they are asked for often."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._asked = 0
        self._memory: VectorIndex | None = None
        self.worlds = WorldIndex()

    @property
    def size(self) -> int:
        """Bytes that are held in memory."""
        held = self._memory
        return held.size if held else 0

    def search(
        self,
        view: View,
        query: Floats,
        depth: int,
        newest: Newest,
        *,
        scopes: Collection[int] | None = None,
        nodes: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """As in memory."""
        self._asked += 1
        if newest.vector > LARGEST:
            self._memory = None
        elif self._asked > SCANS or newest.vector <= SMALL:
            self._memory = self._memory or VectorIndex()
        held = self._memory  # another thread may let it go meanwhile
        if held is not None:
            return held.search(view, query, depth, newest, scopes=scopes, nodes=nodes)
        rows = view.query(
            f"SELECT v.passage, v.vector FROM ({self._nearest(view, scopes, nodes)}) best JOIN {_near(view)} v"
            f" ON v.passage >= best.node * {WORDS_PER_NODE} AND v.passage < (best.node + 1) * {WORDS_PER_NODE}",
            query=_written(query),
            bytes=2 * len(query),
            most=depth + BESIDE,
            **({} if scopes is None else {"scopes": listed(scopes)}),
            **({} if nodes is None else {"among": listed(nodes)}),
        )
        return _index(rows, len(query)).nearest(query, depth)

    def _nearest(self, view: View, scopes: Collection[int] | None, nodes: Collection[int] | None) -> str:
        """Nodes by the mean of their best and their first passage, as the server sees it."""
        node, chosen = f"v.passage / {WORDS_PER_NODE}", ""
        if scopes is not None:
            chosen += (
                f" AND {node} IN (SELECT b.node FROM beliefs b WHERE b.tenant = :t AND b.scope IN {_SCOPES})"
            )
        if nodes is not None:
            chosen += f" AND {node} IN {LISTED}"
        return (
            f"SELECT x.node FROM (SELECT {node} AS node, v.passage % {WORDS_PER_NODE} AS part,"
            f" -(v.near OPERATOR({self._home}.<#>) CAST(:query AS {self._home}.halfvec)) AS cosine FROM {_near(view)} v"
            f" WHERE v.near IS NOT NULL AND length(v.vector) = :bytes{chosen}) x GROUP BY x.node ORDER BY max(x.cosine)"
            " + coalesce(max(x.cosine) FILTER (WHERE x.part = 0), max(x.cosine)) DESC, x.node LIMIT :most"
        )

    def catch_up(self, view: View, newest: Newest, width: int) -> None:
        """Nothing to do: the server compares."""

    def cosines(self, view: View, query: Floats, nodes: Collection[int]) -> dict[int, float]:
        """As in memory; from the server where they are not there."""
        held = self._memory
        if held is not None or not nodes:
            return held.cosines(view, query, nodes) if held else {}
        rows = view.query(
            f"SELECT v.passage, v.vector FROM json_each(:among) j CROSS JOIN {_near(view)} v"
            f" ON v.passage >= j.value * {WORDS_PER_NODE} AND v.passage < (j.value + 1) * {WORDS_PER_NODE}",
            among=listed(nodes),
        )
        return _index(rows, len(query)).cosines(query, nodes)


def _near(view: View) -> str:
    """A tenant's vectors; the archived ones too, where a view looks there."""
    tables = NEAR_TABLES if view.whole else NEAR_TABLES[:1]
    parts = (f"SELECT e.passage, e.vector, e.near FROM {table} e WHERE e.tenant = :t" for table in tables)
    return f"({' UNION ALL '.join(parts)})"


def _index(rows: Sequence[Row], width: int) -> Few:
    """A few vectors, to be compared as all of them would be."""
    found = Few()
    found.take(rows, width)
    return found


def _written(query: Floats) -> str:
    return f"[{','.join(map(str, query.tolist()))}]"
