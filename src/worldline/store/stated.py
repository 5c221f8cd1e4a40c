"""What sleep reads: facts as they are believed, what they rest on, and what worlds are made of.

Facts come as whole slots, after accepted merges, in the owner's scope; whether they agree, what follows from an edge
and what evidence is worth, others say. Worlds come as turns and topics, children and summaries, vectors; every read
is bounded by what is asked for or by a window. How talk is cut, what a summary says and how vectors are pooled is
decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from worldline.clock import Instant, Interval
from worldline.model import Belief, Edge, Made, Metadata, Node
from worldline.ports import View
from worldline.rules.describe import Described
from worldline.store import packing
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.search import STRETCH
from worldline.store.view import (
    BELIEF,
    EDGE,
    LISTED,
    MADE_APART,
    NODE,
    belief_from,
    edge_from,
    grouped,
    listed,
    metadata_from,
    node_from,
)
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
    return _by(view, who, "json_each(:among)", "f.node = j.value", among=listed(sorted(lines)))


def of_subjects(view: View, who: StatedIdentity, slots: Iterable[tuple[int, str]]) -> list[StatedFact]:
    """Every believed fact of these (subject, predicate) pairs, under all names of the subject."""
    wanted = sorted({(member, predicate) for subject, predicate in slots for member in who.all(subject)})
    on = "f.subject = CAST(j.value ->> 0 AS BIGINT) AND f.predicate = j.value ->> 1"
    return _by(view, who, "json_each(:wanted)", on, wanted=listed(wanted))


def of_objects(view: View, who: StatedIdentity, ends: Iterable[tuple[int, str]]) -> list[StatedFact]:
    """Every believed fact with these (object, key) pairs, under all names of the object."""
    wanted = sorted({(member, key) for object_, key in ends for member in who.all(object_)})
    on = (
        "f.object = CAST(j.value ->> 0 AS BIGINT) AND f.predicate >= j.value ->> 1"
        " AND f.predicate < (j.value ->> 1) || '$'"
    )
    found = _by(view, who, "json_each(:wanted)", on, wanted=listed(wanted))
    keys = {key for _, key in wanted}
    return [fact for fact in found if fact.key in keys]


def _by(view: View, who: StatedIdentity, asked: str, on: str, **args: Any) -> list[StatedFact]:
    """The believed facts that go with what is asked for, as a list `j`."""
    rows = view.query(
        f"{_FACT} FROM {asked} j CROSS JOIN facts f ON f.tenant = :t AND {on}{_FROM}"
        f" WHERE {view.scoped('b')} ORDER BY b.id",
        **args,
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
    return view.column(
        f"SELECT f.node FROM facts f WHERE f.tenant = :t AND f.subject IN {LISTED} UNION"
        f" SELECT f.node FROM facts f WHERE f.tenant = :t AND f.object IN {LISTED}",
        among=listed(sorted(entities)),
    )


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


def ids_of(view: View, nodes: Collection[int]) -> set[str]:
    """The ids of those of these versions that are still stored; another process may have forgotten some meanwhile."""
    sql = f"SELECT hash FROM nodes WHERE tenant = :t AND id IN {LISTED}"
    return {row[0].hex() for row in view.query(sql, among=listed(sorted(nodes)))}


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
    return edges_at(view, lines, ("src", "contradicts"), ("dst", "contradicts"))


def resting(view: View, lines: Collection[int]) -> list[Edge]:
    """What these were derived from, as it is believed now."""
    return edges_at(view, lines, ("src", "derived_from"))


def edges_at(view: View, lines: Collection[int], *ends: tuple[str, str]) -> list[Edge]:
    """The edges that stand at these ends and are of these types, as they are believed now, each once, oldest first."""
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
    return grouped((src, dst) for src, dst in rows)


def with_edges(view: View, type_: str, lines: Collection[int]) -> set[int]:
    """Those of these from which an edge of the type ever led anywhere."""
    return view.distinct(
        f"SELECT DISTINCT e.src FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND e.type = :type"
        f" AND {view.scoped('e')}",
        among=listed(sorted(lines)),
        type=type_,
    )


def holding(view: View, lines: Collection[int]) -> dict[int, Interval]:
    """From when to when each of these is believed to hold at all; nothing for what is given up or kept back."""
    rows = view.query(
        f"SELECT b.line, min(b.vf), max(b.vt) FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND b.kt = :forever AND b.status IS DISTINCT FROM 'quarantined' AND {view.scoped('b')} GROUP BY b.line",
        among=listed(sorted(lines)),
    )
    return {line: Interval(start, end) for line, start, end in rows}


# Causes -----------------------------------------------------------------------------------------------


def causes_drawn(view: View, turns: Collection[int]) -> list[tuple[Edge, str, str]]:
    """The causes that sleep drew between happenings of these turns, each with the names of both."""
    rows = view.query(
        f"SELECT DISTINCT {EDGE}, c.name, n.name FROM edges d"
        " CROSS JOIN edges e ON e.tenant = :t AND e.src = d.src AND e.type = 'causes' AND e.kt = :forever"
        " CROSS JOIN nodes c ON c.tenant = :t AND c.id = e.src CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.dst"
        f" WHERE d.tenant = :t AND d.dst IN {LISTED} AND d.type = 'derived_from' AND {view.scoped('e')}"
        " AND e.made = 'sleep' ORDER BY e.id",
        among=listed(sorted(turns)),
    )
    return [(edge_from(row), row[-2], row[-1]) for row in rows]


# How sure -----------------------------------------------------------------------------------------------


def evidence(view: View, lines: Collection[int]) -> list[tuple[Any, ...]]:
    """These memories as witnesses, those that sleep made apart: (lineage, sender, session, time said, why the gate
    let it in, speech act); a note has no sender."""
    return view.query(
        "SELECT n.line, e.sender, e.session, e.said_at, e.signals ->> 'reason', e.signals ->> 'act'"
        " FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value AND n.made IS NULL"
        " LEFT JOIN events e ON e.tenant = :t AND e.node = n.id ORDER BY n.id",
        among=listed(sorted(lines)),
    )


class RankedFact(Struct, frozen=True):
    """What kind of memory it is, by whose authority, and who made it."""

    type: str
    rank: str | None
    made: Made | None


def ranked(view: View, lines: Collection[int]) -> dict[int, RankedFact]:
    """Type, authority and maker of these."""
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
    return view.column(
        "SELECT DISTINCT s.line FROM edges e CROSS JOIN nodes s ON s.tenant = :t AND s.id = e.src"
        f" CROSS JOIN nodes d ON d.tenant = :t AND d.id = e.dst WHERE {_GROUND} AND e.dst IN {LISTED}"
        f" AND e.kt = :forever AND s.line <> d.line AND {view.scoped('e')} ORDER BY s.line",
        among=listed(lines),
    )


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
    rows = view.query(
        f"SELECT b.line, {BELIEF} FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        f" AND {view.scoped('b')} ORDER BY b.id",
        among=listed(lines),
    )
    return grouped((row[0], belief_from(row[1:])) for row in rows)


def noted_grounds(view: View, lines: Collection[int]) -> list[tuple[int, int, Metadata]]:
    """(who rests, on what, what is noted) of the believed grounds of these that sleep has made."""
    rows = view.query(
        f"SELECT e.src, e.dst, e.metadata FROM edges e WHERE {_GROUND} AND e.src IN {LISTED}"
        f" AND e.kt = :forever AND e.made IS NOT NULL AND {view.scoped('e')} ORDER BY e.id",
        among=listed(lines),
    )
    return [(src, dst, metadata_from(metadata)) for src, dst, metadata in rows]


_DECODER = msgspec.msgpack.Decoder(Described)
_MARKS = frozenset("(.)")
_NO_TEXTS = "('Fact', 'Entity', 'Scope')"
_SILENT = "n.type IN ('Scope', 'Session', 'Entity', 'Fact') OR n.made IS NOT NULL"
"""What never has a vector of its own: structure, and what sleep made of texts that have theirs."""
_VERSION = " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"


def _contains(view: View) -> str:
    return f"e.type = 'contains' AND {view.time('e')}"


# Worlds within worlds ---------------------------------------------------------------------------------


def climbed(view: View, lines: Collection[int]) -> list[list[int]]:
    """These and all above them, level by level: whatever lies inside another comes before it."""
    rows = view.query(
        "WITH RECURSIVE up(line, level) AS (SELECT value, 0 FROM json_each(:among) UNION"
        " SELECT e.src, level + 1 FROM up CROSS JOIN edges e ON e.tenant = :t AND e.dst = up.line"
        f" AND {_contains(view)}) SELECT line, max(level) FROM up GROUP BY line ORDER BY line",
        among=listed(sorted(lines)),
    )
    return [lines for _, lines in sorted(grouped((level, line) for line, level in rows).items())]


def every_world(view: View) -> set[int]:
    """Everything that contains something, and every topic."""
    return view.distinct(
        f"SELECT e.src FROM edges e WHERE e.tenant = :t AND {_contains(view)} UNION"
        f" SELECT b.line FROM beliefs b WHERE b.tenant = :t AND b.type = 'Topic' AND {view.seen()}"
    )


def worlds_among(view: View, lines: Sequence[int]) -> set[int]:
    """Those of these that contain something."""
    return view.distinct(
        "SELECT j.value FROM json_each(:among) j WHERE EXISTS (SELECT 1 FROM edges e WHERE e.tenant = :t"
        f" AND e.src = j.value AND {_contains(view)})",
        among=listed(lines),
    )


def texts_inside(view: View, worlds: Sequence[int]) -> list[Node]:
    """What these contain, facts and names apart; the newest version of each lineage."""
    inside = f"SELECT e.dst FROM edges e WHERE e.tenant = :t AND e.src IN {LISTED} AND {_contains(view)}"
    found = view.nodes(
        f"b.line IN ({inside}) AND b.type NOT IN {_NO_TEXTS}",
        "ORDER BY b.line, b.vf, b.kf, b.node",
        among=listed(worlds),
    )
    return list({node.line: node for node in found}.values())


def summaries_inside(view: View, worlds: Sequence[int]) -> dict[int, int]:
    """The summary that sleep made of each of these, where there is one."""
    rows = view.query(
        "SELECT w.value, b.line FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t AND e.src = w.value"
        f" AND {_contains(view)} CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.dst AND {view.seen()}"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node AND n.type = 'Summary' AND {MADE_APART}"
        " ORDER BY w.value, b.id",
        among=listed(worlds),
    )
    return dict(rows)


# Turns and topics -------------------------------------------------------------------------------------


class Seated(Struct, frozen=True):
    """A turn as it was stored: its place, its words, and its beginning."""

    line: int
    session: int
    position: int
    role: str
    at: Instant
    tokens: tuple[str, ...]
    content: str


def seated(view: View, nodes: Sequence[int], length: int) -> list[Seated]:
    """These turns, where they may be seen, in the order of their sessions, with so much of their text."""
    rows = view.query(
        "SELECT n.line, t.session, t.position, t.role, t.said_at, t.described, substr(n.content, 1, :length)"
        " FROM json_each(:among) j CROSS JOIN nodes n ON n.tenant = :t AND n.id = j.value"
        f" CROSS JOIN texts t ON t.tenant = :t AND t.node = n.id{_VERSION}"
        f" WHERE n.type = 'Turn' AND {view.seen()} ORDER BY t.session, t.position, n.line, b.id",
        among=listed(nodes),
        length=length,
    )
    found = {
        line: Seated(line, session, position, role, at or 0, _tokens(described), content)
        for line, session, position, role, at, described, content in rows
    }
    return sorted(found.values(), key=lambda turn: (turn.session, turn.position))


def _tokens(described: bytes) -> tuple[str, ...]:
    found = _DECODER.decode(described).words.split()
    return tuple(dict.fromkeys(token for token in found if token not in _MARKS))


def lately_said(view: View, but: Iterable[int], window: int, scanned: int) -> list[tuple[str, ...]]:
    """The tokens of the last turns of people's own, `window` at most, among so many of everybody's."""
    rows = view.query(
        "SELECT t.described FROM (SELECT b.id, b.node, b.line, b.scope, b.vf, b.vt, b.kf, b.kt, b.status"
        " FROM beliefs b WHERE b.tenant = :t AND b.type = 'Turn' ORDER BY b.vf DESC, b.id DESC LIMIT :scanned) b"
        " CROSS JOIN texts t ON t.tenant = :t AND t.node = b.node"
        f" WHERE t.role <> 'assistant' AND {view.seen()} AND b.line NOT IN {LISTED}"
        " ORDER BY b.vf DESC, b.id DESC LIMIT :window",
        scanned=scanned,
        window=max(window, 0),
        among=listed(but),
    )
    return [_tokens(row[0]) for row in rows]


def topics_labelled(view: View, labels: Iterable[str], most: int) -> list[Node]:
    """The stored topics that have any of these labels, the latest ones."""
    rows = view.query(
        f"SELECT {NODE} FROM (SELECT DISTINCT l.node FROM json_each(:terms) j CROSS JOIN labels l"
        " ON l.tenant = :t AND l.label = j.value ORDER BY l.node DESC LIMIT :most) found"
        " CROSS JOIN nodes m ON m.tenant = :t AND m.id = found.node"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = m.line"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node AND n.type = 'Topic'"
        f" WHERE {view.seen()} ORDER BY b.line, b.id",
        terms=listed(sorted(labels)),
        most=most,
    )
    return [node_from(row) for row in rows]


def opening(view: View, turns: Collection[int]) -> set[int]:
    """Those of these turns that open a stretch of some topic."""
    return view.distinct(
        "SELECT e.dst FROM edges e CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.src AND n.type = 'Topic'"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = e.src"
        f" WHERE e.tenant = :t AND e.dst IN {LISTED} AND e.type = 'derived_from' AND {view.time('e')}"
        f" AND {view.scoped('e')} AND {view.seen()}",
        among=listed(turns),
    )


def made_of(view: View, topic: int, among: Collection[int]) -> set[int]:
    """Those of these that a topic is derived from already."""
    return view.distinct(
        "SELECT e.dst FROM edges e WHERE e.tenant = :t AND e.src = :topic AND e.type = 'derived_from'"
        f" AND e.dst IN {LISTED} AND {view.time('e')} AND {view.scoped('e')}",
        topic=topic,
        among=listed(among),
    )


def topics_of(view: View, sessions: Collection[int]) -> set[int]:
    """The topics that have gathered something of these sessions."""
    return view.distinct(
        "SELECT DISTINCT e.src FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t AND e.dst = w.value"
        f" AND e.type = 'derived_from' AND {view.time('e')} CROSS JOIN nodes n ON n.tenant = :t AND n.id = e.src"
        " WHERE n.type = 'Topic'",
        among=listed(sorted(sessions)),
    )


def gathered(view: View, topic: int) -> list[tuple[int, str, Instant, str]]:
    """(lineage, text, time, speaker) of the turns of a topic's stretches, in the order of time."""
    rows = view.query(
        "SELECT n.line, n.content, b.vf, n.name FROM edges e CROSS JOIN texts o ON o.tenant = :t AND o.node = e.dst"
        f" {STRETCH} CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node{_VERSION} WHERE e.tenant = :t"
        f" AND e.src = :topic AND e.type = 'derived_from' AND {view.time('e')} AND {view.scoped('e')}"
        f" AND {view.seen()} ORDER BY b.vf, n.id, b.id",
        topic=topic,
    )
    return list({row[0]: (row[0], row[1], row[2], row[3]) for row in rows}.values())


# Vectors ----------------------------------------------------------------------------------------------


def vectors_made(view: View) -> tuple[int, int]:
    """The newest vector of a text, and the count by which readers notice new vectors of worlds."""
    rows = view.query(
        "SELECT (SELECT id FROM embeddings WHERE tenant = :t ORDER BY id DESC LIMIT 1),"
        " (SELECT max(made) FROM composed WHERE tenant = :t)"
    )
    return rows[0][0] or 0, rows[0][1] or 0


def seen_now(view: View, lines: Sequence[int]) -> list[tuple[Any, ...]]:
    """(lineage, version, type, whether it never has a vector, scope) of these, the newest version of each last."""
    return view.query(
        f"SELECT b.line, b.node, b.type, {_SILENT}, b.scope FROM beliefs b"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        f" WHERE b.tenant = :t AND b.line IN {LISTED} AND {view.seen()} ORDER BY b.line, b.vf, b.kf, b.node",
        among=listed(lines),
    )


class Child(Struct, frozen=True):
    """Something that a world contains or a topic gathers."""

    world: int
    line: int
    node: int
    silent: bool


def children(view: View, worlds: Sequence[int], most: int) -> list[Child]:
    """What these contain, so many each, the newest version of each lineage last."""
    rows = view.query(
        f"SELECT w.value, b.line, b.node, {_SILENT} FROM json_each(:among) w CROSS JOIN beliefs b ON b.tenant = :t"
        f" AND b.line IN (SELECT e.dst FROM edges e WHERE e.tenant = :t AND e.src = w.value AND {_contains(view)}"
        " ORDER BY e.dst DESC LIMIT :most)"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE {view.seen()}"
        " ORDER BY w.value, b.line, b.vf, b.kf, b.node",
        among=listed(worlds),
        most=most,
    )
    return [Child(world, line, node, bool(silent)) for world, line, node, silent in rows]


def turns_gathered(view: View, topics: Sequence[int], most: int) -> list[Child]:
    """The same of topics, which gather stretches of talk that lie in sessions, so many each."""
    rows = view.query(
        "SELECT w.value, b.line, b.node FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t"
        f" AND e.src = w.value AND e.type = 'derived_from' AND {view.time('e')} AND {view.scoped('e')} AND e.dst IN"
        " (SELECT c.dst FROM edges c WHERE c.tenant = :t AND c.src = w.value AND c.type = 'derived_from'"
        f" AND {view.time('c')} AND {view.scoped('c')} ORDER BY c.dst DESC LIMIT :most)"
        f" CROSS JOIN texts o ON o.tenant = :t AND o.node = e.dst {STRETCH}"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node{_VERSION}"
        f" WHERE n.type = 'Turn' AND {view.seen()} ORDER BY w.value, b.line, b.vf, b.kf, b.node",
        among=listed(topics),
        most=most,
    )
    return [Child(world, line, node, silent=False) for world, line, node in rows]


def ever_composed(view: View, lines: Sequence[int]) -> set[int]:
    """Those of these that have a vector as a world, in any scope."""
    return view.distinct(
        f"SELECT DISTINCT line FROM composed WHERE tenant = :t AND line IN {LISTED}", among=listed(lines)
    )


class Composed(Struct, frozen=True, order=True):
    """The vector of a world, and how many children it was made of."""

    vector: bytes = b""
    members: int = 0


def composed(view: View, lines: Iterable[int]) -> dict[int, dict[int, Composed]]:
    """The vectors of these worlds by scope, as this owner has them."""
    rows = view.query(
        f"SELECT x.line, x.scope, x.vector, x.members FROM composed x WHERE x.tenant = :t AND x.line IN {LISTED}"
        f" AND {view.scoped('x')} ORDER BY x.line, x.scope",
        among=listed(lines),
    )
    found: dict[int, dict[int, Composed]] = {}
    for line, scope, vector, members in rows:
        found.setdefault(line, {})[scope] = Composed(vector, members)
    return found


def passages(view: View, nodes: Collection[int]) -> dict[int, list[bytes]]:
    """The stored vectors of the passages of each of these, hot or archived."""
    found: dict[int, list[bytes]] = {}
    for table in ("embeddings", "cold_embeddings"):
        rows: list[tuple[Any, ...]] = view.query(
            f"SELECT j.value, v.vector FROM json_each(:among) j CROSS JOIN {table} v ON v.tenant = :t"
            f" AND v.passage >= j.value * {WORDS_PER_NODE} AND v.passage < (j.value + 1) * {WORDS_PER_NODE}"
            " ORDER BY v.passage",
            among=listed(sorted(nodes)),
        )
        for node, vector in rows:
            found.setdefault(node, []).append(packing.plain(vector))
    return found
