"""What sleep compares: facts as they are believed, the edges between memories, and what they rest on.

Facts come as whole slots, after accepted merges. Reads only what is believed now, in the owner's
scope; whether facts agree, what follows from an edge and what evidence is worth, others say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from worldline.clock import Instant, Interval
from worldline.model import Belief, Edge, Made, Metadata
from worldline.ports import View
from worldline.store.view import BELIEF, EDGE, LISTED, belief_from, edge_from, listed, metadata_from
from worldline.text import fold

_FACT = f"SELECT {BELIEF}, f.node, n.hash, n.world, f.subject, f.predicate, f.object, f.literal, f.one, f.rank, o.name"
_FROM = (
    " CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node CROSS JOIN beliefs b ON b.tenant = :t"
    " AND b.line = n.line AND b.node = n.id AND b.kt = :forever"
    " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
)


class StatedFact(Struct, frozen=True):
    """A fact that is believed now, after merges: `subject` and `object` are the first of their identity."""

    line: int
    id: str
    world: int
    subject: int
    predicate: str
    object: int
    value: str
    """What the object is called, folded; or the literal."""
    literal: str | None
    one: bool
    rank: str
    belief: Belief

    @property
    def key(self) -> str:
        """What it says of its subject, whatever the wording calls the object."""
        return said_key(self.predicate, self.object)


def said_key(predicate: str, object_: int) -> str:
    """A predicate without what the wording calls the object, where there is one."""
    return predicate.partition("#")[0] if object_ else predicate


class StatedIdentity:
    """Accepted merges, asked for once each."""

    def __init__(self, view: View) -> None:
        self._view, self._merged = view, view.has_merges()
        self._classes: dict[int, list[int]] = {}

    def all(self, line: int) -> list[int]:
        """Everything that is the same as this."""
        if not line or not self._merged:
            return [line]
        if line not in self._classes:
            class_ = self._view.same_as(line)
            self._classes.update((member, class_) for member in class_)
        return self._classes[line]

    def first(self, line: int) -> int:
        """The one that stands for all of them."""
        return self.all(line)[0]


# Facts ------------------------------------------------------------------------------------------------


def facts(view: View, who: StatedIdentity, lines: Collection[int]) -> list[StatedFact]:
    """These facts, as far as they are believed."""
    if not lines:
        return []
    rows = view.query(
        f"{_FACT} FROM json_each(:among) j CROSS JOIN facts f ON f.tenant = :t AND f.node = j.value{_FROM}"
        f" WHERE {view.scoped('b')} ORDER BY b.id",
        among=listed(sorted(lines)),
    )
    return [_stated(row, who) for row in rows]


def of_subjects(view: View, who: StatedIdentity, slots: Iterable[tuple[int, str]]) -> list[StatedFact]:
    """Every believed fact of these (subject, predicate) pairs, under all names of the subject."""
    wanted = sorted({(member, predicate) for subject, predicate in slots for member in who.all(subject)})
    return _by(view, who, "f.subject = CAST(j.value ->> 0 AS BIGINT) AND f.predicate = j.value ->> 1", wanted)


def of_objects(view: View, who: StatedIdentity, ends: Iterable[tuple[int, str]]) -> list[StatedFact]:
    """Every believed fact with these (object, key) pairs, under all names of the object."""
    wanted = sorted({(member, key) for object_, key in ends for member in who.all(object_)})
    on = (
        "f.object = CAST(j.value ->> 0 AS BIGINT) AND f.predicate >= j.value ->> 1"
        " AND f.predicate < (j.value ->> 1) || '$'"
    )
    found = _by(view, who, on, wanted)
    keys = {key for _, key in wanted}
    return [fact for fact in found if fact.key in keys]


def _by(view: View, who: StatedIdentity, on: str, wanted: Collection[tuple[int, str]]) -> list[StatedFact]:
    if not wanted:
        return []
    rows = view.query(
        f"{_FACT} FROM json_each(:wanted) j CROSS JOIN facts f ON f.tenant = :t AND {on}{_FROM}"
        f" WHERE {view.scoped('b')} ORDER BY b.id",
        wanted=orjson.dumps(wanted).decode(),
    )
    return list({row[0]: _stated(row, who) for row in rows}.values())


def _stated(row: tuple[Any, ...], who: StatedIdentity) -> StatedFact:
    line, hash_, world, subject, predicate, object_, literal, one, rank, name = row[11:]
    value = fold(name or "") if object_ else literal or ""
    return StatedFact(
        line, hash_.hex(), world, who.first(subject), predicate, who.first(object_), value, literal,
        bool(one), rank, belief_from(row[:11]),
    )  # fmt: skip


def facts_about(view: View, entities: Collection[int]) -> list[int]:
    """The facts that ever spoke of any of these entities."""
    if not entities:
        return []
    rows = view.query(
        f"SELECT f.node FROM facts f WHERE f.tenant = :t AND f.subject IN {LISTED} UNION"
        f" SELECT f.node FROM facts f WHERE f.tenant = :t AND f.object IN {LISTED}",
        among=listed(sorted(entities)),
    )
    return [row[0] for row in rows]


def ever_said(view: View, who: StatedIdentity, lines: Collection[int]) -> dict[int, tuple[object, ...]]:
    """What each of these facts says, believed or not: subject, key, object and literal."""
    rows = view.query(
        "SELECT f.node, f.subject, f.predicate, f.object, f.literal FROM json_each(:among) j"
        " CROSS JOIN facts f ON f.tenant = :t AND f.node = j.value ORDER BY f.node",
        among=listed(sorted(lines)),
    )
    return {
        line: (who.first(subject), said_key(predicate, object_), who.first(object_), literal)
        for line, subject, predicate, object_, literal in rows
    }


def single_predicates(view: View) -> dict[tuple[str, int], bool]:
    """Whether a predicate holds one value at a time, by its name and the world whose ontology says so."""
    rows = view.query(
        "SELECT name, world, CAST(spec ->> 'functional' AS TEXT) IN ('1', 'true') FROM ontology"
        " WHERE tenant = :t AND kind = 'predicate' AND kt = :forever ORDER BY id"
    )
    return {(name, world): bool(one) for name, world, one in rows}


# Edges ------------------------------------------------------------------------------------------------


def contradicting(view: View, lines: Collection[int]) -> list[Edge]:
    """The contradictions that these take part in, as they are believed now."""
    return _edges(view, lines, ("src", "contradicts"), ("dst", "contradicts"))


def resting(view: View, lines: Collection[int]) -> list[Edge]:
    """What these were derived from, as it is believed now."""
    return _edges(view, lines, ("src", "derived_from"))


def _edges(view: View, lines: Collection[int], *ends: tuple[str, str]) -> list[Edge]:
    """The edges that stand at these ends and are of these types, each once, oldest first."""
    found: dict[int, Edge] = {}
    for end, type_ in ends if lines else ():
        rows = view.query(
            f"SELECT {EDGE} FROM edges e WHERE e.tenant = :t AND e.{end} IN {LISTED} AND e.type = :type"
            f" AND e.kt = :forever AND {view.scoped('e')} ORDER BY e.id",
            among=listed(sorted(lines)),
            type=type_,
        )
        found.update((row[0], edge_from(row)) for row in rows)
    return [found[key] for key in sorted(found)]


def turns_behind(view: View, lines: Collection[int], *, ever: bool = False) -> dict[int, list[int]]:
    """The turns that these rest on (or ever did), oldest first."""
    rows = view.query(
        "SELECT e.src, e.dst FROM json_each(:among) j CROSS JOIN edges e ON e.tenant = :t AND e.src = j.value"
        " AND e.type = 'derived_from' CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst AND d.type = 'Turn'"
        f" WHERE {'TRUE' if ever else 'e.kt = :forever'} AND {view.scoped('e')} ORDER BY e.dst, e.id",
        among=listed(sorted(lines)),
    )
    return _grouped(rows)


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for src, dst in rows:
        found.setdefault(src, []).append(dst)
    return found


class Arc(Struct, frozen=True):
    """An edge that is believed now."""

    src: int
    dst: int
    belief: Belief
    metadata: Metadata
    made: Made | None


def arcs(view: View, type_: str, lines: Collection[int], *, into: bool = False) -> list[Arc]:
    """The edges of a type that leave (or reach) these, as they are believed now."""
    end = "dst" if into else "src"
    rows = view.query(
        "SELECT e.src, e.dst, e.id, e.vf, e.vt, e.kf, e.kt, e.scope, e.metadata, e.made FROM edges e"
        f" WHERE e.tenant = :t AND e.{end} IN {LISTED} AND e.type = :type AND e.kt = :forever"
        f" AND {view.scoped('e')} ORDER BY e.id",
        among=listed(sorted(lines)),
        type=type_,
    )
    return [Arc(r[0], r[1], _belief(r[2:8]), metadata_from(r[8]), r[9]) for r in rows]


def _belief(row: tuple[Any, ...]) -> Belief:
    key, vf, vt, kf, kt, scope = row
    return Belief(key, key, Interval(vf, vt), Interval(kf, kt), scope)


def with_arcs(view: View, type_: str, lines: Collection[int]) -> set[int]:
    """Those of these from which an edge of the type ever led anywhere."""
    rows = view.query(
        f"SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = :type"
        f" AND {view.scoped('e')}",
        among=listed(sorted(lines)),
        type=type_,
    )
    return {row[0] for row in rows}


def holding(view: View, lines: Collection[int]) -> dict[int, Interval]:
    """From when to when each of these is believed to hold at all; nothing for what is given up or kept back."""
    rows = view.query(
        f"SELECT b.line, min(b.vf), max(b.vt) FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND b.kt = :forever AND b.status IS DISTINCT FROM 'quarantined' AND {view.scoped('b')} GROUP BY b.line",
        among=listed(sorted(lines)),
    )
    return {line: Interval(start, end) for line, start, end in rows}


# Causes -----------------------------------------------------------------------------------------------


class DrawnFrom(Struct, frozen=True):
    """A cause that sleep drew from words, with the names of both happenings."""

    belief: Belief
    src: int
    dst: int
    cause: str
    effect: str


def causes_drawn(view: View, turns: Collection[int]) -> list[DrawnFrom]:
    """The causes that sleep drew between happenings of these turns."""
    rows = view.query(
        "SELECT DISTINCT e.id, e.vf, e.vt, e.kf, e.kt, e.scope, e.src, e.dst, c.name, n.name FROM edges d"
        " CROSS JOIN edges e ON e.tenant = :t AND e.src = d.src AND e.type = 'causes' AND e.kt = :forever"
        " CROSS JOIN nodes c ON c.tenant = :t AND c.id = e.src CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.dst"
        f" WHERE d.tenant = :t AND d.dst IN {LISTED} AND d.type = 'derived_from' AND {view.scoped('e')}"
        " AND e.made = 'sleep' ORDER BY e.id",
        among=listed(sorted(turns)),
    )
    return [DrawnFrom(_belief(r[:6]), *r[6:]) for r in rows]


def derived_from(view: View, lines: Collection[int]) -> dict[int, list[int]]:
    """What each of these is derived from."""
    rows = view.query(
        f"SELECT e.src, e.dst FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = 'derived_from'"
        f" AND e.kt = :forever AND {view.scoped('e')} ORDER BY e.id",
        among=listed(sorted(lines)),
    )
    return _grouped(rows)


# How sure -----------------------------------------------------------------------------------------------


class StatedEvidence(Struct, frozen=True):
    """A memory as a witness: who said it, where and when, and how the gate judged it."""

    line: int
    sender: str | None
    session: int | None
    said_at: Instant | None
    reason: str | None
    act: str | None
    made: Made | None


def evidence(view: View, lines: Collection[int]) -> list[StatedEvidence]:
    """These memories as witnesses; a note has no sender."""
    rows = view.query(
        "SELECT n.line, e.sender, e.session, e.said_at, e.signals ->> 'reason', e.signals ->> 'act',"
        " n.made FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        " LEFT JOIN events e ON e.tenant = :t AND e.node = n.id ORDER BY n.id",
        among=listed(sorted(lines)),
    )
    return [StatedEvidence(*row) for row in rows]


class RankedFact(Struct, frozen=True):
    """What kind of memory it is, by whose authority, and who made it."""

    type: str
    rank: str | None
    made: Made | None


def ranked(view: View, lines: Collection[int]) -> dict[int, RankedFact]:
    """Type, authority and maker of these."""
    if not lines:
        return {}
    rows = view.query(
        "SELECT n.id, n.type, f.rank, n.made FROM json_each(:among) j"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        " LEFT JOIN facts f ON f.tenant = :t AND f.node = n.id ORDER BY n.id",
        among=listed(sorted(lines)),
    )
    return {line: RankedFact(*rest) for line, *rest in rows}


def stages(view: View, lines: Collection[int], scope: int) -> dict[int, str]:
    """The stage that each of these is marked with in a scope."""
    rows = view.query(
        f"SELECT line, value FROM marks WHERE tenant = :t AND line IN {LISTED} AND kind = 'stage'"
        " AND kt = :forever AND scope = :scope ORDER BY id",
        among=listed(sorted(lines)),
        scope=scope,
    )
    return dict(rows)


# What rests on what -------------------------------------------------------------------------------
#
# What rests on what: the grounds of a memory, those that hang on it, and every belief ever held in it.


_GROUND = "e.tenant = :t AND e.type = 'derived_from'"


class CitedFact(NamedTuple):
    """A derived_from edge: what rests on what, since when, until when, and what sleep has noted on it."""

    source: int
    line: int
    id: str
    type: str
    since: Instant
    until: Instant
    metadata: Metadata
    born: Instant | None
    """When the fact that rests on it was first believed; None for what is no fact."""


def hanging(view: View, lines: Collection[int]) -> list[int]:
    """The lineages that were derived from any of these; a version derived from its elder is not."""
    if not lines:
        return []
    rows = view.query(
        "SELECT DISTINCT s.line FROM edges e CROSS JOIN nodes s ON s.tenant = :t AND s.id = e.src"
        f" CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst WHERE {_GROUND} AND e.dst IN {LISTED}"
        f" AND e.kt = :forever AND s.line <> d.line AND {view.scoped('e')} ORDER BY s.line",
        among=listed(lines),
    )
    return [row[0] for row in rows]


def cited(view: View, lines: Collection[int]) -> list[CitedFact]:
    """What each of these rests on, or ever did."""
    rows = view.query(
        "SELECT e.src, d.line, d.hash, d.type, e.kf, e.kt,"
        " CASE WHEN e.made IS NOT NULL THEN e.metadata END, CASE WHEN s.type = 'Fact' THEN"
        f" (SELECT min(b.kf) FROM beliefs b WHERE b.tenant = :t AND b.line = e.src AND {view.scoped('b')}) END"
        " FROM edges e CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst"
        f" CROSS JOIN nodes s ON s.tenant = :t AND s.id = e.src WHERE {_GROUND} AND e.src IN {LISTED}"
        f" AND d.line <> e.src AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    return [
        CitedFact(src, line, id_.hex(), type_, kf, kt, metadata_from(metadata), born)
        for src, line, id_, type_, kf, kt, metadata, born in rows
    ]


def current_and_former(view: View, lines: Collection[int]) -> dict[int, list[Belief]]:
    """Every belief ever held in these lineages, in this scope."""
    if not lines:
        return {}
    rows = view.query(
        f"SELECT b.line, {BELIEF} FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND {view.scoped('b')} ORDER BY b.id",
        among=listed(lines),
    )
    found: dict[int, list[Belief]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(belief_from(row[1:]))
    return found


def noted_grounds(view: View, lines: Collection[int]) -> list[tuple[int, int, Metadata]]:
    """(who rests, on what, what is noted) of the believed grounds of these that sleep has made."""
    if not lines:
        return []
    rows = view.query(
        f"SELECT e.src, e.dst, e.metadata FROM edges e WHERE {_GROUND} AND e.src IN {LISTED}"
        f" AND e.kt = :forever AND e.made IS NOT NULL AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    return [(src, dst, metadata_from(metadata)) for src, dst, metadata in rows]
