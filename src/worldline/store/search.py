"""What recall and the beginning of a session ask of a store: few, bounded statements, each of them bound by the view.

Words are found by their index, what lies around a hit by session and position. Nothing here weighs one
find against another; every node that leaves has passed the view's time, scope and world. Facts that hold, come or
went are told with when they do, so that the reader may sort the past from what is still to come.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import orjson
from msgspec import Struct

from worldline.clock import LATEST, Instant
from worldline.model import Believed, Node
from worldline.ports import View
from worldline.reading.claim import role_of
from worldline.rules import TURNS
from worldline.store import events, keeping, people, words
from worldline.store.held import Newest
from worldline.store.people import STAGE, WARM, about, ascribed, concerning
from worldline.store.view import FOUND_APART, LISTED, MADE_APART, NODE, listed, node_from
from worldline.text import content_words, indexed

_HELD = " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
_TEXTS = {False: ("texts",), True: ("texts", "cold_texts")}
"""The described texts that a view looks at, by whether it sees the archive."""
_WIDE, _MIDDLE = 30, 1 << 29
"""A seat is handed over as one number: the session's, and behind it so many bits of the place in it."""
_SESSIONS, _ROOM = 8, 100
"""So many of the best sessions come in whole, and so many turns of theirs at most."""


class SearchGround(Struct, frozen=True):
    """What a question stands on: whom of those who speak here it names, how much there is, and whose vectors."""

    speakers: tuple[str, ...]
    texts: int
    mean_length: float
    embedder: str | None
    newest: Newest
    scopes: tuple[int, ...]
    """The scope sets that the bound scope may see."""
    owners: tuple[str, ...]
    """Tokens of the scope, where the tenant has others too."""
    share: float
    """A guess at the part of all texts that may be seen."""
    scorers: dict[str, float] | None = None
    """The scorers that somebody registered, with their weights; None where sleep has left no signals."""
    worlds: int = 0
    """The newest row of the worlds' vectors; 0 where sleep has composed none."""
    profiles: bool = False
    """Whether there are profiles here, and has been a night, which leaves signals."""


def ground(view: View, asked: Collection[str] = ()) -> SearchGround:
    """One look at the tenant; `asked` are the folded words of a question, which may be first names."""
    bound = view.owned
    kinds = " AND ".join(["tenant = :t", *(f'"{kind}" = :{kind}' for kind in bound)])
    rows = view.query(
        "SELECT (SELECT texts FROM tenants WHERE tenant = :t), (SELECT tokens FROM tenants WHERE tenant = :t),"
        " (SELECT embedder FROM tenants WHERE tenant = :t), (SELECT max(id) FROM embeddings WHERE tenant = :t),"
        " (SELECT max(id) FROM beliefs WHERE tenant = :t), (SELECT moved FROM tenants WHERE tenant = :t),"
        " (SELECT count(*) FROM (SELECT 1 FROM scopes WHERE tenant = :t LIMIT 20) few),"
        f" (SELECT json_group_array(part_of) FROM scopes WHERE {kinds} AND {'TRUE' if bound else 'FALSE'}),"
        f" ({speaking(view)}),"
        " CASE WHEN EXISTS (SELECT 1 FROM scores WHERE tenant = :t) OR EXISTS (SELECT 1 FROM strengths"
        " WHERE tenant = :t AND uses + useful + wrong > 0) THEN"
        " (SELECT json_group_object(name, weight) FROM scorers WHERE tenant = :t) END,"
        " (SELECT max(made) FROM composed WHERE tenant = :t), EXISTS (SELECT 1 FROM profiles WHERE tenant = :t)"
        " AND EXISTS (SELECT 1 FROM scores WHERE tenant = :t)",
        asked=listed(sorted({word for word in asked if word})),
    )
    texts, tokens, embedder, vectors, beliefs, moved, scopes, seen, names, scorers, worlds, kept = rows[0]
    speakers = tuple(name for name in sorted(orjson.loads(names or "[]")) if role_of(name) == "people")
    own: tuple[str, ...] = ()
    if bound and scopes > 1:
        own = tuple(words.owner_token(kind, value) for kind, value in bound.items())
    return SearchGround(
        speakers,
        texts or 0,
        tokens / texts if texts else 1.0,
        embedder,
        Newest(vectors or 0, beliefs or 0, int(moved or 0)),
        tuple(orjson.loads(seen)),
        own,
        1 / scopes if bound and scopes > 1 else 1.0,
        None if scorers is None else orjson.loads(scorers),
        worlds or 0,
        bool(kept),
    )


def speaking(view: View) -> str:
    """The names under which somebody was heard here that begin with one of the words `asked`, as one list.

    Names are stepped through by their index; whose words are all another scope's is nobody here.
    """
    within = "speaker < x.word || '!'"  # the name itself, or a blank after it
    step = "(SELECT min(name) FROM (" + " UNION ALL ".join(
        f"SELECT min(speaker) AS name FROM {table} WHERE tenant = :t AND speaker {{0}} AND {within}"
        for table in _TEXTS[True]
    ) + ") both_ways)"  # fmt: skip
    held = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} t CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node{_HELD}"
        f" WHERE t.tenant = :t AND t.speaker = s.name AND {view.scoped('b')})"
        for table in _TEXTS[True]
    )
    return (
        "WITH RECURSIVE s(word, name) AS (SELECT x.word, " + step.format(">= x.word")
        + " FROM (SELECT value AS word FROM json_each(:asked)) x UNION ALL SELECT x.word, "
        + step.format("> x.name") + " FROM s x WHERE x.name IS NOT NULL)"
        f" SELECT json_group_array(s.name) FROM s WHERE s.name IS NOT NULL AND ({held})"
    )  # fmt: skip


def search_words(view: View, match: words.Match, owners: Collection[str], depth: int | None) -> list[int]:
    """Visible nodes whose text matches, best first; `owners` narrow it down before it is ranked."""
    return [
        node for node, _ in words.search(view, match, depth, owners, lambda among: texts_among(view, among))
    ]


def texts_among(view: View, nodes: Collection[int]) -> set[int]:
    """Which of these are visible and found by their words."""
    return _among_those(view, nodes, f"b.type NOT IN {FOUND_APART} AND {view.seen()}")


def seen_among(view: View, nodes: Collection[int]) -> set[int]:
    """Which of these versions are visible."""
    return _among_those(view, nodes, view.seen())


def _among_those(view: View, nodes: Collection[int], condition: str) -> set[int]:
    """Which of these versions have a belief `b` that meets a condition."""
    return view.distinct(
        f"SELECT DISTINCT n.id FROM nodes n{_HELD} WHERE n.tenant = :t AND n.id IN {LISTED} AND {condition}",
        among=listed(nodes),
    )


def first_holding(view: View, tokens: Sequence[str], owners: Collection[str], far: int) -> dict[str, int]:
    """The first node of this view's scopes that holds each word, at whatever time, among so many at least."""
    held = words.first(view, tokens, owners, far)
    every = {node for nodes in held.values() for node in nodes}
    seen = _among_those(view, every, f"b.type NOT IN {FOUND_APART} AND {view.scoped('b')}")
    found = {token: next((node for node in nodes if node in seen), None) for token, nodes in held.items()}
    return {token: node for token, node in found.items() if node is not None}


def around(view: View, near: Sequence[Seat], best: Sequence[Seat]) -> tuple[list[int], list[int]]:
    """(turns beside these seats, turns of the sessions that the best of them are in).

    The sessions come in the order of their best turn, their turns in the order of the session.
    """
    sessions = list(dict.fromkeys(session for session, _ in best))[:_SESSIONS]
    ordered = "(SELECT CAST(value AS BIGINT) AS home, key AS place FROM json_each(:sessions) ORDER BY 2, 1 LIMIT :most)"
    within = " UNION ALL ".join(  # it is told in which order they come, so that no more are read than there is room for
        f"SELECT g.place, t.position, t.node FROM {ordered} g CROSS JOIN {table} t"
        " ON t.tenant = :t AND t.session = g.home"
        for table in _TEXTS[view.whole]
    )
    rows = view.query(
        f"{_beside(view)} UNION ALL SELECT 1, node FROM (SELECT node FROM ({within}) w"
        " ORDER BY place, position, node LIMIT :room) v",
        seats=listed((s << _WIDE) + p + step + _MIDDLE for s, p in near for step in (-1, 1)),
        sessions=listed(sessions),
        most=_SESSIONS,
        room=_ROOM,
    )
    beside = dict.fromkeys(node for kind, node in rows if kind == 0)
    inside = dict.fromkeys(node for kind, node in rows if kind == 1)
    return sorted(beside), list(inside)


def _beside(view: View) -> str:
    return " UNION ALL ".join(
        f"SELECT 0, t.node FROM json_each(:seats) j CROSS JOIN {table} t ON t.tenant = :t"
        f" AND t.session = CAST(j.value AS BIGINT) >> {_WIDE}"
        f" AND t.position = (CAST(j.value AS BIGINT) & {2 * _MIDDLE - 1}) - {_MIDDLE}"
        for table in _TEXTS[view.whole]
    )


STRETCH = (
    "CROSS JOIN texts t ON t.tenant = :t AND t.session = o.session AND t.position"
    " BETWEEN coalesce(CAST(e.metadata ->> '$.turns[0]' AS BIGINT), o.position)"
    " AND coalesce(CAST(e.metadata ->> '$.turns[1]' AS BIGINT), o.position)"
)
"""The texts `t` of the stretch that a topic gathers by an edge `e` to the text `o` that opens it."""


def inside_worlds(view: View, worlds: Collection[int], room: int) -> list[tuple[int, int]]:
    """(world, node) of the visible texts that these worlds contain or gather, as many as there is room for."""
    held = (
        f"CROSS JOIN nodes n ON n.tenant = :t AND n.id = t.node{_HELD}"
        f" WHERE b.type NOT IN {FOUND_APART} AND {view.seen()}"
    )
    rows = view.query(
        "SELECT w.value, n.id FROM json_each(:among) w CROSS JOIN texts t ON t.tenant = :t AND t.session = w.value"
        f" {held} UNION ALL SELECT w.value, n.id FROM json_each(:among) w CROSS JOIN edges e ON e.tenant = :t"
        f" AND e.src = w.value AND e.type = 'derived_from' AND {view.time('e')} AND {view.scoped('e')}"
        f" CROSS JOIN texts o ON o.tenant = :t AND o.node = e.dst {STRETCH} {held} ORDER BY 1, 2 LIMIT :room",
        among=listed(worlds),
        room=room,
    )
    return [(row[0], row[1]) for row in rows]


def every_text(view: View, room: int) -> list[tuple[Any, ...]]:
    """All visible texts as scoring reads them, oldest first, as many as there is room for."""
    return _described(view, "(SELECT x.node FROM texts x WHERE x.tenant = :t)", " LIMIT :room", room=room)


Seat: TypeAlias = tuple[int, int]
"""A session, and a place in it."""


def described(view: View, nodes: Collection[int]) -> list[tuple[Any, ...]]:
    """These texts as scoring reads them, where they may be seen; the text itself if it was never read."""
    return _described(view, LISTED, among=listed(nodes))


def described_seen(view: View, nodes: Collection[int]) -> list[tuple[Any, ...]]:
    """The same of texts of which it is known that they may be seen."""
    columns, joined, none = _columns(view)
    its = f"CASE WHEN {none} IS NULL THEN (SELECT n.{{}} FROM nodes n WHERE n.tenant = :t AND n.id = j.value) END"
    return view.query(
        f"SELECT j.value, {columns}, {', '.join(map(its.format, ('type', 'name', 'content')))}"
        f" FROM json_each(:among) j {joined.format('j.value')}",
        among=listed(nodes),
    )


def _columns(view: View) -> tuple[str, str, str]:
    """What is told of a text, the tables it lies in, and what is NULL where it lies in none."""
    columns, table = (
        "t.session, t.position, t.described, t.speaker, t.role, t.said_at",
        "LEFT JOIN {0} {1} ON {1}.tenant",
    )
    hot = table.format("texts", "t") + " = :t AND t.node = {0}"
    if not view.whole:
        return columns, hot, "t.node"
    columns = ", ".join(f"coalesce({column}, {'c' + column[1:]})" for column in columns.split(", "))
    cold = table.format("cold_texts", "c") + " = :t AND c.node = {0}"
    return columns, f"{hot} {cold}", "coalesce(t.node, c.node)"


def _described(view: View, chosen: str, most: str = "", **args: Any) -> list[tuple[Any, ...]]:
    columns, joined, none = _columns(view)
    return view.query(
        f"SELECT n.id, {columns}, CASE WHEN {none} IS NULL THEN n.type END, n.name,"
        f" CASE WHEN {none} IS NULL THEN n.content END FROM nodes n {joined.format('n.id')}"
        f" WHERE n.tenant = :t AND n.id IN {chosen} AND EXISTS (SELECT 1 FROM beliefs b WHERE b.tenant = :t"
        f" AND b.line = n.line AND b.node = n.id AND b.type NOT IN {FOUND_APART} AND {view.seen()})"
        f" ORDER BY n.id{most}",
        **args,
    )


class Drawn(Struct, frozen=True):
    """A fact as it was drawn from a turn: whether it holds no more, and the turns that may have ended it."""

    turn: int
    text: str
    over: bool
    wrong: bool
    """Whether it was withdrawn: it never held."""
    later: tuple[int, ...]


def drawn(view: View, turns: Collection[int]) -> list[Drawn]:
    """The facts drawn from these turns, in one look, with what took the place of those that are over.

    That is a turn with another fact of the same slot, or the only one that was said when the fact ended; where it was
    withdrawn, the only one of these that was stored in the same moment.
    """
    cited = "d.type = 'derived_from' AND d.kf <= :k AND d.kt > :k"
    facts = (
        "SELECT d.dst AS turn, f.node, f.subject, f.predicate, n.line, n.content, max(b.vt) AS ended"
        " FROM edges d CROSS JOIN facts f ON f.tenant = :t AND f.node = d.src"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node"
        " LEFT JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.kf <= :k AND b.kt > :k"
        f" AND {view.scoped('b')} WHERE d.tenant = :t AND d.dst IN {LISTED} AND {cited} AND {view.scoped('d')}"
        " GROUP BY d.dst, f.node, f.subject, f.predicate, n.line, n.content"
    )
    sibling = (
        "(SELECT json_group_array(d.dst) FROM facts g CROSS JOIN edges d ON d.tenant = :t AND d.src = g.node"
        f" AND {cited} AND {view.scoped('d')} WHERE g.tenant = :t AND g.subject = o.subject"
        " AND g.predicate = o.predicate AND g.node != o.node)"
    )
    then = (
        "(SELECT json_group_array(b.line) FROM beliefs b WHERE b.tenant = :t AND b.type = 'Turn' AND b.vf = o.ended"
        f" AND {view.scoped('b')})"
    )
    with_it = (
        f"(SELECT json_group_array(b.line) FROM beliefs b WHERE b.tenant = :t AND b.line IN {LISTED}"
        " AND b.type = 'Turn' AND b.kf = (SELECT max(x.kt) FROM beliefs x WHERE x.tenant = :t AND x.line = o.line"
        f" AND x.kt <= :k AND {view.scoped('x')}) AND {view.scoped('b')})"
    )
    rows = view.query(
        f"SELECT o.turn, o.content, o.ended, CASE WHEN o.over THEN {sibling} END,"
        f" CASE WHEN o.ended IS NULL THEN {with_it} WHEN o.over THEN {then} END"
        f" FROM (SELECT h.*, coalesce(h.ended, 0) <= :v AS over FROM ({facts}) h) o ORDER BY o.turn, o.node",
        among=listed(turns),
    )
    return [
        Drawn(
            turn,
            text,
            siblings is not None,
            ended is None,
            tuple(_later(turn, siblings) or _only(turn, said)),
        )
        for turn, text, ended, siblings, said in rows
    ]


def proving(view: View, turns: Collection[int]) -> set[int]:
    """Which of these turns tell a fact that holds at this moment."""
    return view.distinct(
        "SELECT DISTINCT d.dst FROM edges d CROSS JOIN nodes n ON n.tenant = :t AND n.id = d.src"
        f" AND n.type = 'Fact'{_HELD} WHERE d.tenant = :t AND d.dst IN {LISTED} AND d.type = 'derived_from'"
        f" AND d.kf <= :k AND d.kt > :k AND {view.scoped('d')} AND {view.seen()}",
        among=listed(turns),
    )


def _only(turn: int, found: str | None) -> list[int]:
    later = _later(turn, found)
    return later if len(later) == 1 else []


def _later(turn: int, found: str | None) -> list[int]:
    return sorted({other for other in orjson.loads(found or "[]") if other > turn})


def archived(view: View, line: int) -> int | None:
    """Since when a lineage is archived; None where it is not."""
    rows = view.query(
        "SELECT min(kf) FROM marks WHERE tenant = :t AND line = :line AND kind = 'archived' AND kt = :forever",
        line=line,
    )
    return None if rows[0][0] is None else int(rows[0][0])


def nodes_inside(view: View) -> list[int]:
    """Every version of everything in the entered world, at this moment."""
    return view.column(
        "WITH RECURSIVE down(line) AS (SELECT :w UNION SELECT e.dst FROM down CROSS JOIN edges e"
        f" ON e.tenant = :t AND e.src = down.line AND e.type = 'contains' AND {view.contained('e')})"
        " SELECT DISTINCT b.node FROM down CROSS JOIN beliefs b"
        " ON b.tenant = :t AND b.line = down.line"
    )


def in_topics(view: View, nodes: Sequence[int], topics: int, room: int) -> list[tuple[int, int]]:
    """(topic, turn): the turns of the topics that these have part in, by how many of the first do;
    then (0, turn) for those of them that a summary cites.

    A topic is derived from the turn that opens a stretch; the edge says how far that reaches.
    """
    edge = f"e.type = 'derived_from' AND {view.time('e')} AND {view.scoped('e')}"
    last = "CAST(e.metadata ->> '$.turns[1]' AS BIGINT)"
    made = (
        f" CROSS JOIN beliefs b ON b.tenant = :t AND b.line = {{line}} AND {view.seen()}"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node AND {MADE_APART}"
    )
    touched = (
        "SELECT e.src AS line, sum(1.0 / (60 + j.key)) AS mass FROM json_each(:among) j"
        " CROSS JOIN texts p ON p.tenant = :t AND p.node = j.value"
        " CROSS JOIN texts o ON o.tenant = :t AND o.session = p.session"
        " AND o.position BETWEEN p.position - :reach AND p.position"
        " CROSS JOIN nodes m ON m.tenant = :t AND m.id = o.node"
        f" CROSS JOIN edges e ON e.tenant = :t AND e.dst = m.line AND {edge}"
        f" WHERE {last} >= p.position GROUP BY e.src ORDER BY mass DESC, e.src LIMIT :topics"
    )
    members = (
        f"SELECT h.line, h.mass, p.node FROM ({touched}) h{made.format(line='h.line')}"
        f" CROSS JOIN edges e ON e.tenant = :t AND e.src = h.line AND {edge}"
        " CROSS JOIN texts o ON o.tenant = :t AND o.node = e.dst"
        " CROSS JOIN texts p ON p.tenant = :t AND p.session = o.session"
        f" AND p.position BETWEEN o.position AND {last} WHERE b.type || '' = 'Topic'"
        " ORDER BY h.mass DESC, h.line, p.node LIMIT :room"
    )
    cited = (
        "SELECT 0, 0, j.value FROM json_each(:among) j CROSS JOIN nodes m ON m.tenant = :t AND m.id = j.value"
        f" CROSS JOIN edges e ON e.tenant = :t AND e.dst = m.line AND {edge}{made.format(line='e.src')}"
        " WHERE b.type || '' = 'Summary'"
    )
    rows = view.query(
        f"SELECT m.* FROM ({members}) m UNION ALL {cited} ORDER BY 2 DESC, 1, 3",
        among=listed(nodes), reach=TURNS, topics=topics, room=room,
    )  # fmt: skip
    return [(line, node) for line, _, node in rows]


# Facts around a question -----------------------------------------------------------------------------------


MOST = 400
"""So many facts are looked at for one question."""


class FactAround(Struct, frozen=True, gc=False):
    """A fact near a question: both ends, how it reads, when it held, and where it was said."""

    node: int
    subject: int
    subject_name: str
    slot: str
    phrase: str
    object: int
    value: str
    kind: str
    one: bool
    dated: bool
    start: Instant
    end: Instant
    known: Instant
    precision: str
    text: str
    event: int
    chars: tuple[int, int]
    said_at: Instant
    offset: int
    line: int
    withdrawn: bool = False
    """Taken back: it never held."""
    id: str = ""
    disputed: bool = False
    """Whether something else that is believed openly contradicts it."""
    doubtful: bool = False
    """Whether it is kept back, and seen only because somebody looks at such."""


class HeldNow(NamedTuple):
    """How many facts are believed of some entities now, and those of them that share a word with a question or are
    disputed."""

    number: int = 0
    telling: Sequence[Believed] = ()


def held_now(view: View, lines: Collection[int], most: int) -> HeldNow:
    """The same, as `about` tells it, whatever words they have; nothing that is kept back."""
    found = [one.fact for one in about(view.bind(quarantined=False), lines, most)] if lines else []
    return HeldNow(len(found), found)


def facts_near(
    view: View, lines: Collection[int], turns: Collection[int], limit: int = MOST
) -> list[FactAround]:
    """What was ever believed of these entities or drawn from these turns: what stands first, then the newest."""
    return facts_and_held(view, lines, turns, 0, (), limit)[0]


def facts_and_held(
    view: View,
    lines: Collection[int],
    turns: Collection[int],
    held: int,
    terms: Collection[str],
    limit: int = MOST,
) -> tuple[list[FactAround], HeldNow]:
    """The same, and what is believed of these entities now, so many facts at most: mostly in one look."""
    if not lines and not turns:
        return [], HeldNow()
    looks = list[Looked]()
    reach = people.REACH
    while not looks or (looks[-1].number >= reach and len(looks[-1].rows) < limit):
        reach = people.REACH * 8 ** len(looks)
        looks.append(_look(view, lines, turns, reach, limit, now=bool(held)))
    last = looks[-1]
    kept, first = last.kept, {row[0]: row for row in reversed(last.rows)}
    near = [_around(row, kept.said[node], kept.seen) for node, row in reversed(first.items())]
    if not held or not lines:
        return near, HeldNow()
    return near, _among(view, lines, looks[0], held, terms, limit) or held_now(view, lines, held)


class Looked(NamedTuple):
    """The rows of facts that a look brings, how many facts were looked at, and what is kept in mind of all of them."""

    rows: Sequence[tuple[Any, ...]]
    number: int
    kept: KeptFacts


_DRAWN = (
    "SELECT src AS node FROM edges WHERE tenant = :t AND type = 'derived_from' AND dst IN"
    " (SELECT value FROM json_each(:turns))"
)


def _look(
    view: View, lines: Collection[int], turns: Collection[int], reach: int, limit: int, *, now: bool
) -> Looked:
    """The latest facts near these, from mind as far as they are kept there."""
    among = {"among": listed(lines), "turns": listed(turns)}
    if keeping.is_ordinary(view):
        known = (kept.rows.sequence for key, kept in list(view.store.facts.items()) if key[0] == view.tenant)
        then = max(known, default=-1)
        found = keeping.near(view, _DRAWN, reach, LATEST if then < 0 else then, **among)
        kept = _kept(view, found.moved)
        if len(kept.said) > KEPT_FACTS:
            kept = _begun(view, found.moved)
        says = keeping.Says(_SAYS, _SAYS_OF, partial(_note, kept.said))
        return Looked(keeping.rows_of(view, found, kept.rows, limit, says), len(found.nodes), kept)
    held = told = ""
    if now:
        seen = f"{view.seen()} AND {keeping.SURE}{'' if view.whole else f' AND {WARM}'}"
        held = f", b.confidence, b.scope, {seen} AS holds"
        told = f", b.confidence, b.holds, CASE WHEN b.holds THEN {STAGE} END"
    chosen = (
        "SELECT n.id AS fact, b.kt <= :k AS gone, b.vf AS since, b.id AS belief, b.vt AS ended, b.kf AS known,"
        f" b.precision, n.line, n.hash, b.kt > :k AND ({keeping.at_odds(view)}) AS disputed,"
        f" NOT {keeping.SURE} AS doubtful{held} FROM u"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = u.node AND n.type = 'Fact'"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line AND b.node = n.id"
        f" WHERE b.kf <= :k AND {view.scoped('b')} AND {view.trusted()} AND {view.inside('b.line')}"
        " ORDER BY 2, 3 DESC, 1 DESC, 4 DESC LIMIT :limit"
    )
    rows = view.query(
        f"{concerning(_DRAWN)} SELECT b.fact, b.hash, b.since, b.ended, b.known, b.precision, b.line, b.gone, b.belief,"
        f" e.node, d.metadata, e.said_at, e.utc_offset, b.disputed, b.doubtful{told}, r.moved, r.looked_at"
        " FROM (SELECT count(*) AS looked_at, (SELECT moved FROM tenants WHERE tenant = :t) AS moved FROM u) r"
        f" LEFT JOIN ({chosen}) b ON TRUE{keeping.proved(view)}"
        " ORDER BY b.gone, b.since DESC, b.fact DESC, d.id DESC, b.belief DESC LIMIT :limit",
        **among, limit=limit, reach=reach,
    )  # fmt: skip
    facts = [row for row in rows if row[0] is not None]
    return Looked(facts, rows[0][-1], _said(view, facts, rows[0][-2]))


class SaidFact(NamedTuple):
    """What a fact says, whoever believes it and when: it never changes, so it is kept in mind."""

    hash: bytes
    subject: int
    subject_name: str
    slot: str
    phrase: str
    object: int
    value: str
    kind: str
    one: bool
    dated: bool
    text: str
    predicate: str
    id: str
    stems: str
    """Those of the text, and the words of what it says of its subject, with a blank around each."""


_SAYS = (
    "f.subject, s.name, f.predicate, f.phrase, f.object, o.name, f.literal, f.kind, f.one, f.dated, n.content,"
    " n.name"
)
_ENDS = (
    " LEFT JOIN nodes s ON s.tenant = :t AND s.id = f.subject"
    " LEFT JOIN nodes o ON o.tenant = :t AND o.id = f.object"
)
_SAYS_OF = (
    " LEFT JOIN facts f ON f.tenant = :t AND f.node = b.fact"
    f" LEFT JOIN nodes n ON n.tenant = :t AND n.id = b.fact{_ENDS}"
)
_SAID = (
    f"SELECT f.node, n.hash, {_SAYS} FROM json_each(:among) j CROSS JOIN facts f ON f.tenant = :t AND f.node = j.value"
    f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node{_ENDS}"
)


class KeptFacts(NamedTuple):
    """What is kept in mind of a tenant's facts: what each says, and how it was last seen, with the row that told it."""

    said: dict[int, SaidFact]
    seen: dict[int, tuple[tuple[Any, ...], FactAround]]
    rows: keeping.Keeping


def _kept(view: View, moved: int) -> KeptFacts:
    """What is kept in mind, unless something was moved or erased since."""
    held: dict[tuple[int, int], KeptFacts] = view.store.facts
    return held.get((view.tenant, moved)) or _begun(view, moved)


def _said(view: View, rows: Sequence[tuple[Any, ...]], moved: int) -> KeptFacts:
    """What the facts of these rows say; read where it is not in mind."""
    kept = _kept(view, moved)
    known = kept.said
    if unread := {row[0] for row in rows if row[0] not in known or known[row[0]].hash != row[1]}:
        if len(known) + len(unread) > KEPT_FACTS:
            kept = _begun(view, moved)
            known, unread = kept.said, {row[0] for row in rows}
        for node, hash_, *row in view.query(_SAID, among=listed(unread)):
            _note(known, node, hash_, row)
    return kept


def _note(known: dict[int, SaidFact], node: int, hash_: bytes, row: Sequence[Any]) -> None:
    """Keeps in mind what a fact says."""
    if node in known and known[node].hash == hash_:
        return
    subject, of, slot, phrase, object_, name, literal, kind, one, dated, text, says = row
    value = (name if object_ else str(orjson.loads(literal or '""'))) or ""
    stems = f" {indexed(text)} {' '.join(says.partition('|')[0].split())} "
    known[node] = SaidFact(
        hash_, subject, of, slot, phrase, object_, value, kind, bool(one), bool(dated), text, says, hash_.hex(), stems,
    )  # fmt: skip


def _begun(view: View, moved: int) -> KeptFacts:
    """Begins anew with a tenant's facts; what was made of facts goes with them."""
    held: dict[tuple[int, int], KeptFacts] = view.store.facts
    for one in [one for one in list(held) if one[0] == view.tenant or len(held) > KEPT_TENANTS]:
        held.pop(one, None)
    view.store.ends.clear()
    held[view.tenant, moved] = kept = KeptFacts({}, {}, keeping.Keeping())
    return kept


KEPT_TENANTS, KEPT_FACTS = 32, 20_000
"""Of so many tenants, and so many facts of each, it is kept in mind what they say."""


def _among(
    view: View,
    lines: Collection[int],
    looked: Looked,
    most: int,
    terms: Collection[str],
    limit: int,
) -> HeldNow | None:
    """What is believed now of these entities, from the first look at their facts; None where that has not all of it."""
    rows, said = looked.rows, looked.kept.said
    roots = [f" {term} " for term in terms]
    found: dict[tuple[int, int, int], tuple[Any, ...]] = {}
    for r in rows:
        if r[16] and (said[r[0]].subject in lines or said[r[0]].object in lines):
            found.setdefault((-r[2], -r[0], r[8]), r)
    last = rows[-1][0] if rows else None
    whole = looked.number < people.REACH and len(rows) < limit
    if view.closed or not (whole or sum(-fact != last for _, fact, _ in found) >= most):
        return None
    telling = list[Believed]()
    for place in sorted(found)[:most]:
        r = found[place]
        fact = said[r[0]]
        if r[13] or any(root in fact.stems for root in roots):
            told = (r[2], r[3], r[15], r[6], r[17], r[5], fact.subject)
            telling.append(ascribed((r[1], fact.text, fact.subject_name, fact.predicate, *told)).fact)
    return HeldNow(min(len(found), most), telling)


def _around(
    row: tuple[Any, ...], said: SaidFact, seen: dict[int, tuple[tuple[Any, ...], FactAround]]
) -> FactAround:
    """A fact as this row tells it; the very same one where the row tells what it told before."""
    before = seen.get(row[0])
    if before is not None and (before[0] is row or before[0][:15] == row[:15]):
        return before[1]
    span = orjson.loads(row[10]) if row[10] else {}
    fact = FactAround(
        row[0], *said[1:10], row[2], row[3], row[4], row[5] or "", said.text, row[9] or 0,
        (span.get("start") or 0, span.get("end") or 0), row[11] or 0, row[12] or 0, row[6], bool(row[7]), said.id,
        bool(row[13]), bool(row[14]),
    )  # fmt: skip
    seen[row[0]] = row, fact
    return fact


# Before something is stored ------------------------------------------------------------------------


GATED = 8000
"""So many characters of a text are compared with what is stored."""
_NEAREST = 5
_COMMON = 60
"""Above so many texts a word does not help to find the nearest ones."""


class NearText(NamedTuple):
    """A stored text that is like another: its row, who said it, if anybody did, and what."""

    node: int
    speaker: str
    text: str


class Heard(Struct, frozen=True):
    """A message, what is stored nearest to it, and what was handed out lately."""

    text: str
    speaker: str
    near: Sequence[NearText]
    handed: Sequence[tuple[str, str]]


def heard_before(view: View, said: Sequence[tuple[str, str, int]]) -> list[Heard]:
    """Messages (text, speaker, and the row of one that is stored), each with what was heard before it."""
    handed = events.handed_out(view)
    near = nearest_texts(view, [(text[:GATED], own) for text, _, own in said])
    return [Heard(text, speaker, found, handed) for (text, speaker, _), found in zip(said, near, strict=True)]


def nearest_texts(view: View, said: Sequence[tuple[str, int]]) -> list[list[NearText]]:
    """The stored texts that share the rarest words with each of these, which may be stored themselves."""
    terms = [set(content_words(text)[:40]) for text, _ in said]
    counted = view.frequencies({word for each in terms for word in each}, _COMMON)
    found = [
        [key for key, _ in view.matching(_rarest(each, counted, bool(own)), 4 * _NEAREST, facts=False)]
        for each, (_, own) in zip(terms, said, strict=True)
    ]
    first = [each[: _NEAREST + 1] for each in found]
    contents = _contents(view, {key for each in first for key in each})
    late = [each for each, few in zip(found, first, strict=True) if not contents.keys() >= set(few)]
    contents |= _contents(view, {key for each in late for key in each[_NEAREST + 1 :]} - contents.keys())
    return [
        [NearText(key, *contents[key]) for key in each if key in contents and key != own][:_NEAREST]
        for each, (_, own) in zip(found, said, strict=True)
    ]


def _contents(view: View, nodes: Collection[int]) -> dict[int, tuple[str, str]]:
    return view.contents(nodes) if nodes else {}


def _rarest(terms: Collection[str], counted: Mapping[str, int], stored: bool) -> list[str]:
    """Up to two words that few other texts hold; one at least, if any is known at all."""
    frequency = {word: counted[word] - stored for word in terms if counted.get(word, 0) > stored}
    rare = sorted(frequency, key=lambda term: (frequency[term], term))[:2]
    room, chosen = _COMMON, list[str]()
    for term in rare:
        room -= frequency[term]
        if room >= 0 or not chosen:
            chosen.append(term)
    return chosen


_COLUMNS = (
    "n.hash, n.content, f.subject, f.predicate, f.phrase, b.vf, b.vt, b.kf, b.precision, f.dated,"
    " EXISTS (SELECT 1 FROM marks m WHERE m.tenant = :t AND m.line = n.line AND m.kind = 'stage'"
    " AND m.value = 'crystal' AND m.kf <= :k AND m.kt > :k),"
    " coalesce((SELECT v.utc_offset FROM edges d CROSS JOIN events v ON v.tenant = :t AND v.node = d.dst"
    " WHERE d.tenant = :t AND d.src = n.line AND d.type = 'derived_from' ORDER BY d.id LIMIT 1), 0)"
)


class HeldFact(Struct, frozen=True):
    """A fact with the time that it holds, and since when it is known."""

    id: str
    text: str
    subject: int
    slot: str
    phrase: str
    start: Instant
    end: Instant
    known: Instant
    precision: str | None
    dated: bool
    """Whether it speaks of a day of its own."""
    settled: bool
    """Whether it was said often enough to be beyond doubt."""
    offset: int = 0
    """Minutes from UTC to the place where it was said."""


_BY_FACT = f"facts f CROSS JOIN nodes n ON n.tenant = :t AND n.id = f.node{_HELD} WHERE f.tenant = :t"
_BY_BELIEF = (
    "beliefs b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node CROSS JOIN facts f ON f.tenant = :t"
    " AND f.node = n.id WHERE b.tenant = :t AND b.type = 'Fact'"
)


def _facts_held(view: View, source: str, condition: str, order: str, **args: Any) -> list[HeldFact]:
    """The facts of a source that meet a condition, in an order, `most` of them."""
    found = []
    for row in view.query(
        f"SELECT {_COLUMNS} FROM {source} AND {condition} ORDER BY {order} LIMIT :most", **args
    ):
        hash_, text, subject, slot, phrase, start, end, known, precision, dated, settled, offset = row
        sure = bool(dated and precision), bool(settled)
        found.append(
            HeldFact(hash_.hex(), text, subject, slot, phrase, start, end, known, precision, *sure, offset)
        )
    return found


def facts_of(view: View, lines: Collection[int], most: int) -> list[HeldFact]:
    """What holds now of these entities, newest first."""
    mine = f"f.subject IN {LISTED} AND {view.seen()}"
    return _facts_held(view, _BY_FACT, mine, "b.vf DESC, n.id DESC", among=listed(lines), most=most)


def newest_facts(view: View, most: int) -> list[HeldFact]:
    """What holds now and was learned last."""
    return _facts_held(view, _BY_BELIEF, view.seen(), "b.vf DESC, b.node DESC", most=most)


def _known(view: View) -> str:
    """Believed at this known time, whenever it holds."""
    return f"b.kf <= :k AND b.kt > :k AND {view.scoped('b')} AND {view.trusted()} AND {view.ever_inside('b.line')}"


def facts_between(view: View, start: Instant, end: Instant, most: int) -> list[HeldFact]:
    """Facts that speak of a day of their own within a stretch of time, or begin in it, earliest first.

    Not those that are over, nor what changed at a moment that has passed: that holds, and does not come up.
    """
    coming = (
        "b.vf >= :start AND b.vf < :end AND (b.vf > :v OR f.dated <> 0 AND b.precision IS NOT NULL)"
        f" AND b.vt > :v AND {_known(view)}"
    )
    return _facts_held(view, _BY_BELIEF, coming, "b.vf, b.node", start=start, end=end, most=most)


def facts_ended(view: View, since: Instant, most: int) -> list[HeldFact]:
    """Facts that ended within a stretch of time before now, the last one first."""
    over = f"b.vt > :since AND b.vt <= :v AND {_known(view)}"
    return _facts_held(view, _BY_BELIEF, over, "b.vt DESC, n.id DESC", since=since, most=most)


def notes_of(view: View, types: Sequence[str], most: int) -> list[Node]:
    """Notes of these types that hold now, newest first; of each type no more are read than are wanted."""
    each = (
        f"SELECT * FROM (SELECT b.* FROM beliefs b WHERE b.tenant = :t AND b.type = :type{at} AND {view.seen()}"
        " ORDER BY b.vf DESC, b.node DESC LIMIT :most) newest"
        for at in range(len(types))
    )
    rows = view.query(
        f"SELECT {NODE} FROM ({' UNION ALL '.join(each)}) b CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node"
        " ORDER BY b.vf DESC, b.node DESC LIMIT :most",
        **{f"type{at}": type_ for at, type_ in enumerate(types)}, most=most,
    )  # fmt: skip
    return [node_from(row) for row in rows]


def pinned(view: View, most: int) -> list[Node]:
    """What somebody pinned and still holds, newest first."""
    rows = view.query(
        f"SELECT {NODE} FROM marks m CROSS JOIN beliefs b ON b.tenant = :t AND b.line = m.line"
        " CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE m.tenant = :t AND m.kind = 'pin'"
        f" AND m.kf <= :k AND m.kt > :k AND {view.scoped('m')} AND {view.seen()}"
        " ORDER BY b.vf DESC, n.id DESC LIMIT :most",
        most=most,
    )
    return [node_from(row) for row in rows]


def has_user(view: View, user: str) -> bool:
    """Whether anything here belongs to a user of this name."""
    return bool(
        view.query('SELECT 1 FROM scopes s WHERE s.tenant = :t AND s."user" = :whose LIMIT 1', whose=user)
    )


def offsets(view: View, nodes: Collection[int]) -> dict[int, int]:
    """For turns, and for facts by the words they rest on, the minutes from UTC to the place where it was said."""
    if not nodes:
        return {}
    rows = view.query(
        "SELECT e.node, e.utc_offset FROM events e WHERE e.tenant = :t AND e.utc_offset <> 0"
        f" AND e.node IN {LISTED} UNION ALL SELECT d.src, e.utc_offset FROM edges d CROSS JOIN events e"
        " ON e.tenant = :t AND e.node = d.dst WHERE d.tenant = :t AND d.type = 'derived_from'"
        f" AND e.utc_offset <> 0 AND d.src IN {LISTED} ORDER BY 1, 2",
        among=listed(nodes),
    )
    return {row[0]: row[1] for row in rows}
