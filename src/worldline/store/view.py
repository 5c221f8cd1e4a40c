"""Reads, bound once to tenant, scope, world and moment: the boundary that no caller can forget.

Every statement is built from the same three fragments (time, scope, world), so a row that one read
may not see, none may see. A view may also be bound to labels: a value of the metadata that must be equal, or
comparisons such as {"$gte": 3, "$lt": 9}. Numbers compare with numbers and texts with texts, `$in` and `$contains`
look inside lists (and texts), `$ne` also lets through what has no such label. A key with dots reaches into
objects. Comparisons are made over the distinct values of a label, so every store makes them alike.

>>> passes(5, {"$gt": 3, "$lte": 5}), passes("b", {"$in": ["a", "b"]}), passes([1, 2], {"$contains": 2})
(True, True, True)
>>> passes("5", {"$gt": 3}), passes({"a": {"b": 1}}, {"$eq": 1}, ("a", "b"))
(False, True)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import orjson
from msgspec import Struct

from worldline.clock import FOREVER, LATEST, Instant, Interval
from worldline.errors import InvalidInput
from worldline.model import Belief, Edge, FactRow, Metadata, Node, Proposal, Scope
from worldline.ports import Direction, Store, View
from worldline.rules.slots import label
from worldline.store import words

K = TypeVar("K")
V = TypeVar("V")
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$contains")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}


class Wanted(Struct, frozen=True):
    """The label to look at, the values of it that fit (as they are stored), and whether those are to be left out."""

    label: str
    values: str
    absent: bool = False


def compares(condition: Any) -> bool:
    """Whether a condition holds comparisons rather than a value; unknown ones are refused."""
    if not isinstance(condition, Mapping) or not any(str(key).startswith("$") for key in condition):
        return False
    unknown = [key for key in condition if key not in OPERATORS]
    if unknown:
        raise InvalidInput(f"unknown comparison {unknown[0]!r}; there are: {', '.join(OPERATORS)}")
    if "$in" in condition and not isinstance(condition["$in"], list | tuple):
        raise InvalidInput("$in takes a list of values")
    return True


def passes(value: Any, condition: Any, path: tuple[str, ...] = ()) -> bool:
    """Whether a value, or what lies at a path inside it, meets a condition."""
    for step in path:
        if not isinstance(value, Mapping) or step not in value:
            return False
        value = value[step]
    if not compares(condition):
        return bool(value == condition)
    return all(_meets(value, name, bound) for name, bound in condition.items())


def _meets(value: Any, operator: str, bound: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool((value == bound) == (operator == "$eq"))
    if operator == "$in":
        return any(value == one for one in bound)
    if operator == "$contains":
        if isinstance(value, str):
            return isinstance(bound, str) and bound.casefold() in value.casefold()
        return isinstance(value, list) and bound in value
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, bound))
    texts = isinstance(value, str) and isinstance(bound, str)
    return (numbers or texts) and _ORDER[operator](value, bound)


def wanted_labels(label: str, condition: Any, values_of: Callable[[str], list[str]]) -> Wanted | None:
    """How to look for a condition; None where the value must simply be equal."""
    head, *path = label.split(".")
    if not compares(condition) and not path:
        return None
    values = values_of(label)
    if not compares(condition) and values:
        return None
    if not values and path:
        label, values = head, values_of(head)
    else:
        path = []
    absent = compares(condition) and list(condition) == ["$ne"]
    asked = {"$eq": condition["$ne"]} if absent else condition
    fitting = [value for value in values if passes(orjson.loads(value), asked, tuple(path))]
    return Wanted(label, orjson.dumps(fitting).decode(), absent)


NODE = (
    "n.id, n.hash, n.line, n.type, n.name, n.content, n.dated,"
    " CASE WHEN n.scope = b.scope THEN n.metadata ELSE (SELECT m.metadata FROM metadata m"
    " WHERE m.tenant = n.tenant AND m.node = n.id AND m.scope = b.scope) END, b.vf, b.vt, b.kf, b.kt,"
    " b.scope, b.status, b.confidence, b.precision, b.reason,"
    " (SELECT l.hash FROM nodes l WHERE l.tenant = n.tenant AND l.id = n.line),"
    " (SELECT w.hash FROM nodes w WHERE w.tenant = n.tenant AND w.id = n.world), n.made"
)
BELIEF = "b.id, b.node, b.vf, b.vt, b.kf, b.kt, b.scope, b.status, b.confidence, b.precision, b.reason"
EDGE = (
    "e.id, e.hash, e.type, e.src, e.dst, e.vf, e.vt, e.kf, e.kt, e.metadata, e.scope,"
    " (SELECT s.hash FROM nodes s WHERE s.tenant = e.tenant AND s.id = e.src),"
    " (SELECT d.hash FROM nodes d WHERE d.tenant = e.tenant AND d.id = e.dst), e.made"
)
FOUND_APART = "('Fact', 'Entity')"
"""Types that recall finds by name and by walking, not by their words."""
MADE_APART = "(n.type IN ('Topic', 'Summary') AND n.made IS NOT NULL)"
"""Topics and summaries that sleep made: they stand beside verbatim texts and do not compete with them."""
LISTED = "(SELECT value FROM json_each(:among))"
"""A list of row numbers as one bound value, so that a statement is prepared once, whatever its length."""

_BINDINGS = (
    "valid",
    "known",
    "scope",
    "world",
    "closed",
    "quarantined",
    "pierce",
    "labels",
    "only",
    "cold",
    "hindsight",
)

HELD_FACT = (
    "f.node, f.subject, f.predicate, f.object, f.literal, f.kind, f.one, f.rank, f.dated,"
    f" {BELIEF}, (SELECT v.sender FROM edges d CROSS JOIN events v ON v.tenant = :t AND v.node = d.dst"
    " WHERE d.tenant = :t AND d.src = f.node AND d.type = 'derived_from' ORDER BY d.id LIMIT 1), f.phrase, o.name"
)
_OPEN_FACT = (
    f"{HELD_FACT} FROM facts f CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node CROSS JOIN beliefs b"
    " ON b.tenant = :t AND b.line = n.line AND b.node = n.id AND b.kt = :forever AND b.vt = :forever"
    " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object WHERE f.tenant = :t"
    " AND b.status IS DISTINCT FROM 'quarantined'"
)
"""Columns and tables of a fact that is believed and not over."""


class SqlView(View):
    """One tenant, scope, world and moment of a store."""

    def __init__(
        self,
        store: Store,
        tenant: int,
        *,
        valid: Instant,
        known: Instant = LATEST,
        scope: Scope = Scope(),
        world: int = 0,
        closed: bool = False,
        quarantined: bool = False,
        pierce: frozenset[str] = frozenset({"refers_to"}),
        labels: Metadata = {},  # noqa: B006
        only: tuple[int, ...] | None = None,
        cold: bool = False,
        hindsight: bool = False,
        owned: Mapping[str, str] | None = None,
    ) -> None:
        self.store, self.tenant, self.scope, self.world = store, tenant, scope, world
        self.pierce, self.labels, self.only, self.cold = pierce, labels, only, cold
        self.hindsight = hindsight
        self._merged: bool | None = None
        self.owned = scope.bound() if owned is None else owned
        self.looked: tuple[frozenset[str], Mapping[str | None, list[tuple[Any, ...]]], int] | None = None
        """What was counted of some terms, for the search that follows."""
        self._absent: set[int] = set()
        self.valid, self.known, self.closed, self.quarantined = valid, known, closed, quarantined
        self.args: dict[str, Any] = {
            **{f"label{n}": label for n, label in enumerate(labels)},
            **{f"value{n}": label_value(value) for n, value in enumerate(labels.values())},
            "t": tenant,
            "v": valid,
            "k": known,
            "w": world,
            "forever": FOREVER,
            **self.owned,
        }
        if only is not None:
            self.args["only"] = listed(only)

    gathered: Sequence[Any] = ()
    """Texts that a changeset has put and not written out, to be found among the others."""
    is_snapshot = True
    """Whether nothing that it sees can change while it is looked at."""

    def bind(self, **changes: Any) -> SqlView:
        """The same view with another moment, world, scope or openness."""
        bound: dict[str, Any] = {name: getattr(self, name) for name in _BINDINGS}
        return type(self)(self.store, self.tenant, **(bound | changes))

    @property
    def whole(self) -> bool:
        """Whether what is archived is looked at too: from an explicit moment, and where all is asked for."""
        return self.cold or self.closed

    def query(self, sql: str, **args: Any) -> list[tuple[Any, ...]]:
        """One statement with this view's bindings."""
        return self.store.query(sql, {**self.args, **args})

    def column(self, sql: str, **args: Any) -> list[Any]:
        """The first column of a statement's rows."""
        return [row[0] for row in self.query(sql, **args)]

    def distinct(self, sql: str, **args: Any) -> set[Any]:
        """The same, each value once."""
        return {row[0] for row in self.query(sql, **args)}

    # Fragments ---------------------------------------------------------------------------------

    def time(self, row: str) -> str:
        """Seen from this moment; with `closed`, everything believed by then, ended or withdrawn.

        With `hindsight`, words that were said later are seen too: they may tell of this moment.
        """
        if not self.closed:
            begun = f"{row}.vf <= :v"
            if self.hindsight and row == "b":
                begun = "(b.vf <= :v OR b.type = 'Turn')"
            return f"{begun} AND {row}.vt > :v AND {row}.kf <= :k AND {row}.kt > :k"
        if row == "b":
            same = "x.tenant = b.tenant AND x.line = b.line AND x.node = b.node AND x.scope = b.scope"
            return (
                "b.kf <= :k AND (b.kt > :k OR (b.kt > b.kf AND b.kt = (SELECT max(x.kt) FROM beliefs x"
                f" WHERE {same} AND x.kf <= :k)))"
            )
        return f"{row}.kf <= :k AND {row}.kt > :k"

    def scoped(self, row: str) -> str:
        """Belongs to every bound kind of scope; with `only`, to one of these very scope sets."""
        if self.only is not None:
            return f"{row}.scope IN (SELECT value FROM json_each(:only))"
        if not self.owned:
            return "TRUE"
        kinds = " AND ".join(f'"{kind}" = :{kind}' for kind in self.owned)
        return f"{row}.scope IN (SELECT part_of FROM scopes WHERE tenant = :t AND {kinds})"

    def inside(self, line: str) -> str:
        """Lies in the entered world, at any depth, at this moment."""
        return self._under(line, f" AND {self.contained('c')}")

    def contained(self, row: str) -> str:
        """A containing edge that holds at this moment; with `hindsight`, also one that began later."""
        begun = "" if self.hindsight else f"{row}.vf <= :v AND "
        return f"{begun}{row}.vt > :v AND {row}.kf <= :k AND {row}.kt > :k"

    def _under(self, line: str, when: str) -> str:
        """Is the entered world, or is contained in it by edges that held so."""
        if not self.world:
            return "TRUE"
        step = f"SELECT c.src FROM {{}} WHERE c.tenant = :t AND c.type = 'contains' AND c.dst = {{}}{when}"
        first, again = step.format("edges c", line), step.format("up CROSS JOIN edges c", "up.line")
        return (
            f"({line} = :w OR EXISTS (WITH RECURSIVE up(line) AS ({first} UNION {again})"
            " SELECT 1 FROM up WHERE line = :w))"
        )

    def lies_inside(self, line: int) -> bool:
        """Whether a lineage lies in the entered world at this moment."""
        return bool(self.query(f"SELECT 1 WHERE {self.inside(':line')}", line=line))

    def trusted(self) -> str:
        """Not quarantined, unless asked for."""
        return "TRUE" if self.quarantined else "b.status IS DISTINCT FROM 'quarantined'"

    def seen(self) -> str:
        """Everything that makes a belief `b` visible here."""
        return (
            f"{self.time('b')} AND {self.scoped('b')} AND {self.trusted()} AND {self.inside('b.line')}"
            f"{self._labelled()}"
        )

    def _labelled(self) -> str:
        """Has all the metadata that was asked for."""
        return "".join(self._labelled_by(number, label) for number, label in enumerate(self.labels))

    def _labelled_by(self, number: int, label: str) -> str:
        """One condition; comparisons are settled over the label's values when they are first needed."""
        among = f"values{number}"
        if among not in self.args:
            found = wanted_labels(label, self.labels[label], self._values_of)
            self.args[among] = None if found is None else found.values
            if found is not None:
                self.args[f"label{number}"] = found.label
                self._absent |= {number} if found.absent else set()
        fits = f"= :value{number}"
        if self.args[among] is not None:
            fits = f"IN (SELECT value FROM json_each(:{among}))"
        inside = "NOT IN" if number in self._absent else "IN"
        return (
            f" AND (b.node, b.scope) {inside} (SELECT l.node, l.scope FROM labels l WHERE l.tenant = :t"
            f" AND l.label = :label{number} AND l.value {fits})"
        )

    def _values_of(self, label: str) -> list[str]:
        rows = self.store.query(
            "SELECT DISTINCT l.value FROM labels l WHERE l.tenant = :t AND l.label = :label ORDER BY l.value",
            {"t": self.tenant, "label": label},
        )
        return [row[0] for row in rows]

    def _end_seen(self, line: str, *, anywhere: bool) -> str:
        inside = "TRUE" if anywhere else self.inside("b.line")
        return (
            f"EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = {line}"
            f" AND {self.time('b')} AND {self.scoped('b')} AND {self.trusted()} AND {inside})"
        )

    # Nodes -------------------------------------------------------------------------------------

    def visible(self, lines: Collection[int]) -> list[Node]:
        """The visible version of each lineage, where there is one; the newest, where several are."""
        best: dict[int, Node] = {}
        for node in self.versions(lines):
            held = best.get(node.line)
            if held is None or _newer(node, held):
                best[node.line] = node
        return [best[line] for line in dict.fromkeys(lines) if line in best]

    def versions(self, lines: Collection[int]) -> list[Node]:
        """Every visible version of these lineages."""
        return self.nodes(f"b.line IN {LISTED}", among=listed(lines)) if lines else []

    def nodes(self, where: str, tail: str = "", **args: Any) -> list[Node]:
        """Visible nodes that meet a condition on `n` and `b`."""
        rows = self.query(
            f"SELECT {NODE} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
            f" WHERE b.tenant = :t AND {where} AND {self.seen()} {tail}",
            **args,
        )
        return [node_from(row) for row in rows]

    def one(self, line: int) -> Node | None:
        """The visible version of one lineage."""
        found = self.visible([line])
        return found[0] if found else None

    def payload(self, key: int) -> Node | None:
        """One version whatever the moment, through its newest belief in this scope."""
        rows = self.query(
            f"SELECT {NODE} FROM nodes n CROSS JOIN beliefs b ON b.tenant = n.tenant AND b.line = n.line"
            f" AND b.node = n.id WHERE n.tenant = :t AND n.id = :key AND {self.scoped('b')}"
            " ORDER BY b.kt DESC, b.id DESC LIMIT 1",
            key=key,
        )
        return node_from(rows[0]) if rows else None

    def history(self, line: int) -> list[tuple[Belief, Node]]:
        """Every belief ever held in any version of a lineage up to this known time, oldest first."""
        rows = self.query(
            f"SELECT {BELIEF}, {NODE} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
            f" WHERE b.tenant = :t AND b.line = :line AND b.kf <= :k AND {self.scoped('b')}"
            " ORDER BY b.kf, b.id",
            line=line,
        )
        return [(belief_from(row[:11]), node_from(row[11:])) for row in rows]

    def latest(self, line: int) -> Node | None:
        """The version of a lineage that was believed last by this known time, over or not."""
        rows = self.query(
            f"SELECT {NODE} FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE b.tenant = :t"
            " AND b.line = coalesce((SELECT x.line FROM nodes x WHERE x.tenant = :t AND x.id = :line), :line)"
            f" AND b.kf <= :k AND {self.scoped('b')} AND {self.ever_inside('b.line')}"
            " ORDER BY b.kt > :k DESC, b.vf DESC, b.id DESC LIMIT 1",
            line=line,
        )
        return node_from(rows[0]) if rows else None

    def named(self, prefix: str) -> list[tuple[int, int]]:
        """(key, lineage) of the nodes whose id begins with these hex digits, in this scope and world."""
        low, high = _prefix_range(prefix)
        rows = self.query(
            "SELECT n.id, n.line FROM nodes n WHERE n.tenant = :t AND n.hash >= :low AND n.hash <= :high"
            " AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = n.line"
            f" AND b.node = n.id AND b.kf <= :k AND {self.scoped('b')} AND {self.ever_inside('b.line')})"
            " ORDER BY n.id LIMIT 12",
            low=low,
            high=high,
        )
        return [(row[0], row[1]) for row in rows]

    def ever_inside(self, line: str) -> str:
        """Has lain in the entered world at some time, as far as is known at this moment."""
        return self._under(line, " AND c.kf <= :k")

    def edge_ever_inside(self) -> str:
        """The edge `e` leaves something that has lain in the entered world, whichever version."""
        line = "(SELECT l.line FROM nodes l WHERE l.tenant = :t AND l.id = e.src)"
        return self.ever_inside(line) if self.world else "TRUE"

    def former(self, prefix: str) -> list[tuple[int, str, Instant]]:
        """(lineage, hash, known time it began) of the world hashes that begin so."""
        low, high = _prefix_range(prefix)
        rows = self.query(
            "SELECT h.line, h.hash, h.kf FROM world_hashes h WHERE h.tenant = :t AND h.hash >= :low"
            f" AND h.hash <= :high AND h.kf <= :k AND {self._end_seen_ever('h.line')} ORDER BY h.kf, h.id LIMIT 12",
            low=low,
            high=high,
        )
        return [(row[0], row[1].hex(), row[2]) for row in rows]

    def _end_seen_ever(self, line: str) -> str:
        return (
            f"EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t AND b.line = {line}"
            f" AND {self.scoped('b')} AND {self.ever_inside('b.line')})"
        )

    # Beliefs, slots ------------------------------------------------------------------------------

    def beliefs(self, key: int, *, ever: bool = False) -> list[Belief]:
        """The beliefs in one version that are current (or that ever were), in this scope."""
        rows = self.query(
            f"SELECT {BELIEF} FROM beliefs b WHERE b.tenant = :t AND b.node = :key"
            " AND b.line = (SELECT x.line FROM nodes x WHERE x.tenant = :t AND x.id = :key)"
            f" AND {'TRUE' if ever else 'b.kt = :forever'} AND {self.scoped('b')} ORDER BY b.vf, b.id",
            key=key,
        )
        return [belief_from(row) for row in rows]

    def slot(self, subject: int, predicate: str, scope: int, beside: int) -> Sequence[FactRow]:
        """The currently believed facts of a subject and predicate: same owner, same world as `beside`."""
        rows = self.query(
            f"SELECT f.node, f.subject, f.predicate, f.object, f.literal, {BELIEF}"
            " FROM facts f CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node CROSS JOIN beliefs b ON b.tenant = :t"
            " AND b.line = n.line AND b.node = n.id AND b.kt = :forever"
            f" WHERE f.tenant = :t AND f.subject IN {LISTED}"
            f" AND f.predicate = :predicate AND ({self.same_owner(scope)})"
            " AND n.world = (SELECT w.world FROM nodes w WHERE w.tenant = :t AND w.id = :beside) ORDER BY b.vf, b.id",
            beside=beside,
            predicate=predicate,
            scope=scope,
            among=listed(self.same_as(subject)),
        )
        return [fact_from(row) for row in rows]

    def open_facts(
        self, subject: int, scope: int, among: Collection[str] | None = None
    ) -> list[tuple[Any, ...]]:
        """What is believed of a subject and not over: fact columns, belief columns, the object's name."""
        return self._open_facts("", "subject", self.same_as(subject), scope, among)

    def open_facts_among(self, nodes: Collection[int], scope: int | None) -> list[tuple[Any, ...]]:
        """Which of these are facts that are believed and not over, of a scope's owner or as this view sees them.

        The subject's name, the words that the fact was first drawn from, the place in them; then as `open_facts`.
        """
        name = "(SELECT s.name FROM nodes s WHERE s.tenant = :t AND s.id = f.subject)"
        ground = "d.tenant = :t AND d.src = f.node AND d.type = 'derived_from' ORDER BY d.id LIMIT 1"
        words = (
            "(SELECT substr(w.content, 1, 8000) FROM edges d CROSS JOIN nodes w ON w.tenant = :t AND w.id = d.dst"
            f" WHERE {ground})"
        )
        place = f"(SELECT d.metadata FROM edges d WHERE {ground})"
        return self._open_facts(f"{name}, {words}, {place}, ", "node", nodes, scope)

    def _open_facts(
        self,
        first: str,
        by: str,
        among: Collection[int],
        scope: int | None,
        slots: Collection[str] | None = None,
    ) -> list[tuple[Any, ...]]:
        chosen = f"f.{by} IN {LISTED} AND ({self.scoped('b') if scope is None else self.same_owner(scope)})"
        chosen += "" if slots is None else " AND f.predicate IN (SELECT value FROM json_each(:slots))"
        return self.query(
            f"SELECT {first}{_OPEN_FACT} AND {chosen} ORDER BY b.vf, b.id",
            scope=scope, among=listed(among), slots=listed(sorted(slots or ())),
        )  # fmt: skip

    def same_owner(self, scope: int) -> str:
        """Beliefs of the same owner: the same user, agent and app, whatever the run."""
        if not scope:
            return "b.scope = 0"
        return (
            "b.scope = :scope OR b.scope IN (SELECT o.part_of FROM scopes s CROSS JOIN scopes o"
            ' ON o.tenant = :t AND o."user" IS NOT DISTINCT FROM s."user" AND o.agent IS NOT DISTINCT FROM s.agent'
            " AND o.app IS NOT DISTINCT FROM s.app WHERE s.tenant = :t AND s.id = :scope)"
        )

    # Edges ---------------------------------------------------------------------------------------

    def edges(
        self, lines: Collection[int], types: Collection[str] | None, direction: Direction
    ) -> list[Edge]:
        """The visible edges that leave (or reach) these lineages; facts count as edges."""
        if not lines:
            return []
        among = listed(lines)
        found = self._stored_edges("src" if direction == "out" else "dst", types, among)
        if types is None or "fact" in types:
            found += self._fact_edges("subject" if direction == "out" else "object", among)
        return found

    def _stored_edges(self, end: str, types: Collection[str] | None, among: str) -> list[Edge]:
        chosen = "TRUE" if types is None else f"e.type IN ({_texts(types)})"
        target = self._end_seen("e.dst", anywhere=False)
        if self.world and self.pierce:
            outside = f"e.type IN ({_texts(self.pierce)}) AND {self._end_seen('e.dst', anywhere=True)}"
            target = f"({outside} OR {target})"
        rows = self.query(
            f"SELECT {EDGE} FROM edges e WHERE e.tenant = :t AND e.{end} IN {LISTED} AND {chosen}"
            f" AND {self.time('e')} AND (e.type = 'contains' OR {self.scoped('e')})"
            f" AND {self._end_seen('e.src', anywhere=False)} AND {target} ORDER BY e.id",
            among=among,
        )
        return [edge_from(row) for row in rows]

    def _fact_edges(self, end: str, among: str) -> list[Edge]:
        """A fact inside a world may speak of entities, which live in the root."""
        ends = " AND ".join(self._end_seen(f"f.{one}", anywhere=True) for one in ("subject", "object"))
        rows = self.query(
            "SELECT n.id, n.hash, f.phrase, f.subject, f.object, b.vf, b.vt, b.kf, b.kt, b.scope,"
            " (SELECT s.hash FROM nodes s WHERE s.tenant = :t AND s.id = f.subject),"
            " (SELECT o.hash FROM nodes o WHERE o.tenant = :t AND o.id = f.object)"
            " FROM facts f CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node"
            " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
            f" WHERE f.tenant = :t AND f.object != 0 AND f.{end} IN {LISTED} AND {self.seen()}"
            f" AND {ends} ORDER BY b.id",
            among=among,
        )
        return [_fact_edge(row) for row in rows]

    def edge_rows(self, where: str, **args: Any) -> list[Edge]:
        """Edges that meet a condition on `e`, whatever their ends: for history, why and receipts."""
        rows = self.query(
            f"SELECT {EDGE} FROM edges e WHERE e.tenant = :t AND {where} AND e.kf <= :k"
            f" AND {self.scoped('e')} AND {self.edge_ever_inside()} ORDER BY e.kf, e.id",
            **args,
        )
        return [edge_from(row) for row in rows]

    def parent(self, line: int, since: Instant = LATEST) -> int | None:
        """The world that contains a lineage now (or at any time from `since` on); None: the root."""
        rows = self.query(
            "SELECT src FROM edges WHERE tenant = :t AND dst = :line AND type = 'contains'"
            " AND vt > :since AND kt = :forever ORDER BY vt DESC, id DESC LIMIT 1",
            line=line, since=since,
        )  # fmt: skip
        return rows[0][0] if rows else None

    def height(self, line: int) -> int:
        """How many levels of worlds lie below a lineage."""
        rows = self.query(
            "WITH RECURSIVE down(line, depth) AS (SELECT CAST(:line AS BIGINT), 0 UNION SELECT e.dst, depth + 1"
            " FROM down CROSS JOIN edges e ON e.tenant = :t AND e.src = down.line AND e.type = 'contains'"
            " AND e.vt = :forever AND e.kt = :forever) SELECT max(depth) FROM down",
            line=line,
        )
        return int(rows[0][0])

    def reaches(self, start: int, goal: int, type_: str, since: Instant) -> bool:
        """Whether `goal` can be reached from `start` along edges of one type that hold after `since`."""
        near, far = "src", "dst"
        stated = " AND e.made IS DISTINCT FROM 'inferred'"  # what is derived leads nowhere new
        if type_ == "contains":  # a tree is climbed, because a world may have many children
            near, far, start, goal, stated = far, near, goal, start, ""
        rows = self.query(
            f"WITH RECURSIVE on_way(line) AS (SELECT CAST(:start AS BIGINT) UNION SELECT e.{far} FROM on_way"
            f" CROSS JOIN edges e ON e.tenant = :t AND e.{near} = on_way.line AND e.type = :type"
            f" AND e.vt > :since AND e.kt = :forever{stated}) SELECT 1 FROM on_way WHERE line = :goal LIMIT 1",
            start=start, goal=goal, type=type_, since=since,
        )  # fmt: skip
        return bool(rows)

    def matching(
        self, tokens: Sequence[str], limit: int, *, texts: bool = True, facts: bool = True
    ) -> list[tuple[int, float]]:
        """(node, rank) of the texts, and of facts and names, that hold any of these words, best first.

        Time is not looked at. Where only texts are asked for, whoever reads them sees which may be seen: most of
        what is found here is of this scope, and all of it where the scope is a small part of the memory.
        """
        if not tokens:
            return []
        owners = [words.owner_token(kind, value) for kind, value in self.owned.items()]
        wanted = [*(tokens if texts else ()), *(words.apart(token) for token in tokens if facts)]
        keep = self._in_scope if facts else list
        return words.search(self, words.any_of(wanted), limit, owners, keep, only=True)

    def _in_scope(self, nodes: Sequence[int]) -> list[int]:
        """Which of these versions belong to what is bound here, at whatever time."""
        return self.column(
            "SELECT DISTINCT n.id FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line"
            f" AND b.node = n.id WHERE n.tenant = :t AND n.id IN {LISTED} AND {self.scoped('b')}",
            among=listed(nodes),
        )

    def ids(self, nodes: Sequence[int]) -> tuple[str, ...]:
        """The ids of these versions, in order."""
        rows = dict(
            self.query(
                f"SELECT id, hash FROM nodes WHERE tenant = :t AND id IN {LISTED}", among=listed(nodes)
            )
        )
        return tuple(rows[node].hex() for node in nodes)

    def contents(self, nodes: Collection[int]) -> dict[int, tuple[str, str]]:
        """The beginnings of those of these that are texts, where they may be seen, and who said what was said."""
        rows = self.query(
            "SELECT n.id, CASE WHEN n.type = 'Turn' THEN n.name ELSE '' END, substr(n.content, 1, 8000)"
            " FROM nodes n CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
            f" WHERE n.tenant = :t AND n.id IN {LISTED} AND n.type NOT IN ('Fact', 'Entity') AND {self.seen()}",
            among=listed(nodes),
        )
        return {node: (speaker, text) for node, speaker, text in rows}

    def frequencies(self, tokens: Collection[str], common: int | None = None) -> dict[str, int]:
        """In how many texts each of these words occurs; above `common` it may be an earlier count."""
        held, t = self.store.common, self.tenant
        known = (
            {token: held[t, token] for token in tokens if held.get((t, token), 0) > common} if common else {}
        )
        new = [token for token in tokens if token not in known]
        counted = words.counts(self, new, common)
        if common:
            held.update(((t, term), count) for term, count in counted.items() if count > common)
        return known | counted

    def session(self, name: str) -> int:
        """The world of a session of this name in this scope; 0 when there is none."""
        rows = self.query(
            "SELECT b.line FROM beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE b.tenant = :t"
            f" AND b.type = 'Session' AND n.name = :name AND {self.seen()} ORDER BY b.id LIMIT 1",
            name=name,
        )
        return int(rows[0][0]) if rows else 0

    def same_as(self, *lines: int) -> list[int]:
        """The lineages accepted as the same as any of these by this known time, themselves included."""
        every = joined(self, "SELECT value FROM json_each(:among)")
        return self.column(f"{every} SELECT line FROM same ORDER BY line", among=listed(lines))

    def merged(self, lines: Sequence[int]) -> set[int]:
        """Those that were accepted as the same as something, whether or not that is still there."""
        return self.distinct(
            "SELECT DISTINCT e.src FROM json_each(:among) CROSS JOIN edges e ON e.tenant = :t AND e.src = value"
            f" AND e.type = 'same_as' AND e.kf <= :k AND e.kt > :k AND {self.scoped('e')}",
            among=listed(lines),
        )

    def has_merges(self) -> bool:
        """Whether any merge was ever accepted here."""
        if self._merged is None:
            rows = self.query("SELECT 1 FROM proposals WHERE tenant = :t AND status = 'accepted' LIMIT 1")
            self._merged = bool(rows)
        return self._merged

    def proposals(self, where: str = "TRUE", **args: Any) -> list[Proposal]:
        """Merge proposals as they stood at this known time."""
        rows = self.query(
            "SELECT p.hash, a.hash, b.hash, p.status, p.tier, p.score, p.reason, p.kf, p.kt, p.id, p.a, p.b"
            " FROM proposals p CROSS JOIN nodes a ON a.tenant = :t AND a.id = p.a"
            " CROSS JOIN nodes b ON b.tenant = :t AND b.id = p.b"
            f" WHERE p.tenant = :t AND {where} AND {self._proposed()} ORDER BY p.id",
            **args,
        )
        return [proposal_from(row) for row in rows]

    def pending_merges(self) -> int:
        """How many proposals wait for a decision."""
        sql = f"SELECT count(*) FROM proposals p WHERE p.tenant = :t AND p.status = 'pending' AND {self._proposed()}"
        return int(self.query(sql)[0][0])

    def _proposed(self) -> str:
        """A proposal `p` as it stood at this known time, both of whose ends were ever seen here."""
        return (
            f"p.kf <= :k AND p.kt > :k AND {self.scoped('p')} AND {self._end_seen_ever('p.a')}"
            f" AND {self._end_seen_ever('p.b')}"
        )


def joined(view: View, start: str) -> str:
    """The recursive table `same(line)`: what `start` selects, and all that was accepted as the same."""
    return (
        f"WITH RECURSIVE same(line) AS ({start} UNION SELECT i.dst FROM same CROSS JOIN edges i ON i.tenant = :t"
        f" AND i.src = same.line AND i.type = 'same_as' AND i.kf <= :k AND i.kt > :k AND {view.scoped('i')})"
    )


def scope_key(scope: Scope) -> str:
    """The canonical text of a scope: `agent=a&user=u`."""
    return "&".join(f"{kind}={quote(value)}" for kind, value in sorted(scope.bound().items()))


def bound(store: Store, tenant: int, **bindings: Any) -> View:
    """The view of a store that is bound so."""
    return SqlView(store, tenant, **bindings)


def _newer(node: Node, held: Node) -> bool:
    return (node.valid.start, node.known.start, node.key) > (held.valid.start, held.known.start, held.key)


def label_value(value: Any) -> str:
    """A value of metadata as it is looked for: the same text whatever order its keys came in."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key, in their order."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def listed(values: Iterable[Any]) -> str:
    """Row numbers for `LISTED`, or texts for another list: as one bound value, each once."""
    return orjson.dumps(list(dict.fromkeys(values))).decode()


def _texts(values: Iterable[str]) -> str:
    return ",".join("'" + v.replace("'", "''") + "'" for v in values)


def _prefix_range(prefix: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(prefix.ljust(64, "0")), bytes.fromhex(prefix.ljust(64, "f"))


def json_text(metadata: Metadata) -> str:
    """A JSON object as it is stored."""
    return orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS).decode()


def metadata_from(stored: str | None) -> Metadata:
    """A JSON object, empty when none was stored."""
    return orjson.loads(stored) if stored else {}


def node_from(r: Sequence[Any]) -> Node:
    """A node from the columns of `NODE`."""
    return Node(
        r[1].hex(), r[17].hex(), r[3], r[4], r[5], Interval(r[8], r[9]), Interval(r[10], r[11]),
        r[6], r[18].hex() if r[18] else None, metadata_from(r[7]), r[13] or "believed", r[14], r[15],
        r[16], (), r[0], r[2], r[12], r[19],
    )  # fmt: skip


def belief_from(r: Sequence[Any]) -> Belief:
    """A belief from the columns of `BELIEF`."""
    return Belief(
        r[0], r[1], Interval(r[2], r[3]), Interval(r[4], r[5]), r[6], r[7] or "believed", r[8], r[9], r[10]
    )


def fact_from(r: Sequence[Any]) -> FactRow:
    """A fact from its five columns and those of `BELIEF`."""
    return FactRow(r[0], r[1], r[2], r[3], r[4], belief_from(r[5:]))


def proposal_from(r: Sequence[Any]) -> Proposal:
    """A merge proposal from the columns that `proposals` reads."""
    return Proposal(
        r[0].hex(), r[1].hex(), r[2].hex(), r[3], r[4], r[5], r[6], Interval(r[7], r[8]), r[9], r[10], r[11]
    )  # fmt: skip


def edge_from(r: Sequence[Any]) -> Edge:
    """An edge from the columns of `EDGE`."""
    return Edge(
        r[1].hex(), r[2], r[11].hex(), r[12].hex(), Interval(r[5], r[6]), Interval(r[7], r[8]),
        metadata_from(r[9]), r[0], r[3], r[4], r[10], r[13],
    )  # fmt: skip


def _fact_edge(r: Sequence[Any]) -> Edge:
    return Edge(
        r[1].hex(), "fact", r[10].hex(), r[11].hex(), Interval(r[5], r[6]), Interval(r[7], r[8]),
        {"predicate": label(r[2])}, r[0], r[3], r[4], r[9],
    )  # fmt: skip


def as_belief(edge: Edge) -> Belief:
    """An edge row as the belief that handlers close."""
    return Belief(edge.key, edge.key, edge.valid, edge.known, edge.scope)
