"""Sleep over facts and edges: what says the same, what cannot hold together, what caused what, what follows.

`merge` and `contradict` compare facts slot by slot, `chain` draws causes out of new texts, and `infer`
closes causes and subtypes. Each looks only around what changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby, islice, product
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Interval
from worldline.consolidate import MADE, Arrow, Change, NewLines, NewRows, Night, Plan, carry_out
from worldline.model import Belief, Close, Edge, EdgeDraft, Metadata, Proposal, Put, Scope
from worldline.ports import View
from worldline.rules.handlers import INFERRED, HeldEdge, WantedEdge, is_inferred, overlap, refit, without
from worldline.rules.happenings import Cause, causes, happening, strength
from worldline.rules.slots import RANKS
from worldline.store import people, stated
from worldline.store.events import Spoken, not_yet, spoken
from worldline.store.stated import StatedFact, StatedIdentity
from worldline.store.tx import Tx
from worldline.store.view import as_belief, grouped
from worldline.text import fold
from worldline.write.change import MERGED, grounds

# The same said twice ==================================================================================

FROM = "from"
"""In the metadata of evidence that came over: the id of the fact that brought it."""


def merge(view: View, night: Night) -> Plan:
    """What to merge among the facts that changed, and what to part again.

    Two facts say the same if their subjects and objects are one after accepted merges and their
    predicates differ at most in what the wording calls the object. The one that holds longest, then the
    oldest, stays; another is given up on the known axis, never shortened, and only where the one that
    stays covers its whole interval, scope and authority: so what is believed to hold when does not
    change by a tick. When a merge of identities is undone, what was given up for it is believed again.
    """
    joined = [edge for edge in night.news.edges if edge.type == "same_as"]
    who = StatedIdentity(view)
    entities = {member for e in joined for line in (e.src, e.dst) for member in who.all(line)}
    touched = {item.line for item in night.news.of("Fact")} | set(stated.facts_about(view, entities))
    if not touched:
        return Plan()
    parted = _part(view, who, touched) if any(edge.closed for edge in joined) else []
    alike = _alike(view, who, stated.facts(view, who, touched))
    return Plan((*parted, *_carry_over(view, list(redundant(alike)), night)))


def _alike(view: View, who: StatedIdentity, believed: Iterable[StatedFact]) -> list[StatedFact]:
    """These facts, and all that might say the same."""
    believed = list(believed)
    found = {fact.belief.row: fact for fact in believed}
    ends = {(fact.object, fact.key) for fact in believed if fact.object}
    slots = {(fact.subject, fact.predicate) for fact in believed if not fact.object}
    for fact in [*stated.of_objects(view, who, ends), *stated.of_subjects(view, who, slots)]:
        found[fact.belief.row] = fact
    return list(found.values())


def redundant(alike: Iterable[StatedFact]) -> Iterator[tuple[StatedFact, StatedFact]]:
    """What says nothing that another fact does not say for longer, with no less authority; and that other one."""
    kept: dict[tuple[object, ...], list[StatedFact]] = {}
    for fact in sorted(alike, key=_longest_first):
        if fact.belief.status == "quarantined":
            continue
        same = kept.setdefault(_says(fact), [])
        stays = next((other for other in same if _covers(other, fact)), None)
        if stays is None:
            same.append(fact)
        else:
            yield fact, stays


def _says(fact: StatedFact) -> tuple[object, ...]:
    value = fact.object or fact.literal
    return fact.world, fact.belief.scope, fact.subject, fact.key, value


def _longest_first(fact: StatedFact) -> tuple[int, ...]:
    """Longest first, then the stronger, then the older."""
    valid, sure = fact.belief.valid, fact.belief.status == "confirmed"
    return valid.start, -valid.end, -int(sure), -RANKS.get(fact.rank, 0), -int(fact.one), fact.line


def _covers(other: StatedFact, fact: StatedFact) -> bool:
    a, b = other.belief, fact.belief
    return (
        other.line != fact.line
        and a.valid.start <= b.valid.start
        and a.valid.end >= b.valid.end
        and a.status in (b.status, "confirmed")
        and RANKS.get(other.rank, 0) >= RANKS.get(fact.rank, 0)
        and other.one >= fact.one
    )


def _carry_over(view: View, found: list[tuple[StatedFact, StatedFact]], night: Night) -> list[Change]:
    """Evidence and stated contradictions go to the fact that stays; then the other is given up."""
    lines = sorted({fact.line for fact, _ in found})
    if not lines:
        return []
    gone = {
        (line, ground.evidence)
        for line, rests_on in grounds(view, lines, night.now).items()
        for ground in rests_on
        if not ground.stands
    }
    edges = [*stated.resting(view, lines), *stated.contradicting(view, lines)]
    changes: list[Change] = []
    for fact, stays in found:
        for edge in edges:
            if fact.line in (edge.src_line, edge.dst_line) and (edge.src_line, edge.dst_line) not in gone:
                changes += _brought(edge, fact, stays.line)
        changes.append(Close(fact.belief, reason=f"the same as {stays.id[:12]}"))
        changes.append(
            EdgeDraft(
                fact.line, "derived_from", stays.line, Interval(night.now), fact.belief.scope,
                {**INFERRED, MERGED: True}, made="inferred",
            )
        )  # fmt: skip
    return changes


def _brought(edge: Edge, fact: StatedFact, stays: int) -> list[Change]:
    """One edge of a redundant fact as the fact that stays should have it."""
    src, dst = (stays if end == fact.line else end for end in (edge.src_line, edge.dst_line))
    if src == dst or (is_inferred(edge) and (MERGED in edge.metadata or edge.type == "contradicts")):
        return []
    origin = {FROM: fact.id, "made_by": "sleep"}
    metadata, made = {**edge.metadata, **origin}, edge.made or "sleep"
    return [EdgeDraft(src, edge.type, dst, edge.valid, edge.scope, metadata, made=made)]


# When identities are parted again ---------------------------------------------------------------------


def _part(view: View, who: StatedIdentity, touched: Collection[int]) -> list[Change]:
    """Facts that were given up for one that no longer says the same are believed again."""
    merged = [edge for edge in stated.resting(view, touched) if is_inferred(edge) and MERGED in edge.metadata]
    ends = {end for edge in merged for end in (edge.src_line, edge.dst_line)}
    said = stated.ever_said(view, who, ends)
    held = stated.current_and_former(view, ends)
    changes: list[Change] = []
    for edge in merged:
        if said[edge.src_line] == said[edge.dst_line]:
            continue
        changes.append(Close(as_belief(edge), "edges", reason="they are two again"))
        changes += [Close(as_belief(e), "edges", reason="they are two again") for e in _came(view, edge)]
        changes += _back(held.get(edge.src_line, []), held.get(edge.dst_line, []), edge)
    return changes


def _came(view: View, merged: Edge) -> list[Edge]:
    """The edges that the fact which stayed had from the one that was given up."""
    found = [*stated.resting(view, [merged.dst_line]), *stated.contradicting(view, [merged.dst_line])]
    return [edge for edge in found if edge.made is not None and edge.metadata.get(FROM) == merged.src]


def _back(given_up: list[Belief], stayed: list[Belief], merged: Edge) -> list[Change]:
    """What was believed until the merge, as far as the fact that stayed still holds."""
    ends = [b.valid.end for b in stayed if b.current]
    changes: list[Change] = []
    for belief in given_up:
        end = min(belief.valid.end, max(ends, default=belief.valid.start))
        if belief.known.end == merged.known.start and belief.valid.start < end:
            valid = Interval(belief.valid.start, end)
            again = replace(
                belief, row=0, valid=valid, known=Interval(0, FOREVER), reason="they are two again"
            )
            changes.append(Put(reopen=again))
    return changes


# What cannot hold at the same time ====================================================================

NEAREST = 8
"""So many others of a slot at most are held against each one."""
OVER = "the conflict is over"
Pair = tuple[int, int]


def contradict(view: View, night: Night) -> Plan:
    """Contradictions to state and to end, in the slots that changed.

    Two facts of one slot that hold one value at a time, with other objects and overlapping intervals,
    are joined by a contradicts edge that holds where both do; and so are the words that they rest on,
    so that recall shows the other side beside either. When one side is closed, the edges that the
    sweep made end with it. Edges that somebody stated are left alone.
    """
    news = night.news
    merged = [line for edge in news.edges if edge.type == "same_as" for line in (edge.src, edge.dst)]
    cited = {edge.src for edge in news.edges if edge.type in ("derived_from", "contradicts")}
    touched = {item.line for item in news.of("Fact")} | cited
    touched |= _facts_of(view, merged)
    return Plan(tuple(_swept(view, touched, night.scope))) if touched else Plan()


def decided(tx: Tx, proposal: Proposal) -> None:
    """The same for a merge that was just accepted or undone, in its changeset: what contradicts is seen at once."""
    scope = people.proposal_scope(tx, proposal)
    view = tx.as_view(scope=Scope(), only=(scope,))
    touched = _facts_of(view, (proposal.a_line, proposal.b_line))
    carry_out(tx, _swept(view, touched, scope), scope)


def _facts_of(view: View, merged: Collection[int]) -> set[int]:
    """The facts that ever spoke of these, or of what is the same."""
    who = StatedIdentity(view)
    return set(stated.facts_about(view, {*merged, *(member for line in merged for member in who.all(line))}))


def _swept(view: View, touched: Collection[int], scope: int) -> list[Change]:
    """The contradictions of these facts to state and to end."""
    who = StatedIdentity(view)
    believed = stated.facts(view, who, touched)
    is_single = _single(view)
    slots = {(fact.subject, fact.predicate) for fact in believed if is_single(fact)}
    mates = {fact.belief.row: fact for fact in [*believed, *stated.of_subjects(view, who, slots)]}
    sweep = _Sweep(view, scope, {*touched, *(fact.line for fact in believed)})
    sweep.between(list(mates.values()), is_single)
    return sweep.changes()


def _single(view: View) -> Callable[[StatedFact], bool]:
    """Whether a fact's slot holds one value at a time: by its wording, or by its world's ontology."""
    said = stated.single_predicates(view)

    def is_single(fact: StatedFact) -> bool:
        if fact.one or not said:
            return fact.one
        world: int | None = fact.world
        while world and (fact.predicate, world) not in said:
            world = view.parent(world)
        return said.get((fact.predicate, world or 0), False)

    return is_single


def conflicting(
    mates: Iterable[StatedFact], is_single: Callable[[StatedFact], bool]
) -> Iterator[tuple[StatedFact, StatedFact]]:
    """The pairs of one slot and world that cannot both hold, the earlier one first."""

    def slot(fact: StatedFact) -> tuple[int, int, str]:
        return fact.world, fact.subject, fact.predicate

    ordered = sorted(mates, key=lambda f: (*slot(f), f.belief.valid.start, f.line, f.belief.row))
    for _, all_ in groupby(ordered, slot):
        single = [(fact, fold(fact.value.strip('"')) or fact.value) for fact in all_ if is_single(fact)]
        for place, (fact, text) in enumerate(single):
            rivals = _later_rivals(fact, text, islice(single, place + 1, None))
            yield from ((fact, other) for other in islice(rivals, NEAREST))


def _later_rivals(
    fact: StatedFact, text: str, later: Iterable[tuple[StatedFact, str]]
) -> Iterator[StatedFact]:
    """Those that say something else of the same time, as long as any can; they come by their start."""
    for other, its in later:
        if other.belief.valid.start >= fact.belief.valid.end:
            return
        same = text == its or fact.line == other.line or (fact.object and fact.object == other.object)
        if not same and fact.belief.valid.overlaps(other.belief.valid):
            yield other


class _Sweep:
    """Contradictions that should stand among some facts, beside those that do."""

    def __init__(self, view: View, scope: int, touched: Collection[int]) -> None:
        self._view, self._scope, self._touched = view, scope, set(touched)
        self._held = stated.contradicting(view, self._touched)
        self._wanted: dict[Pair, list[WantedEdge]] = {}
        self._about: dict[Pair, list[dict[str, Any]]] = {}
        self._spans: dict[Pair, Interval] = {}

    def between(self, mates: list[StatedFact], is_single: Callable[[StatedFact], bool]) -> None:
        """Looks at these facts, pair by pair."""
        by_line = grouped((fact.line, fact) for fact in mates)
        by_hand = {_pair(e.src_line, e.dst_line): e for e in self._held if not is_inferred(e)}
        derived = {_pair(e.src_line, e.dst_line) for e in self._held if is_inferred(e)}
        pairs: dict[Pair, list[tuple[StatedFact, StatedFact]]] = {}
        for a, b in conflicting(mates, is_single):
            pair = _pair(a.line, b.line)
            doubtful = "quarantined" in (a.belief.status, b.belief.status)
            if self._touched & set(pair) and (not doubtful or pair in derived or pair in by_hand):
                pairs.setdefault(pair, []).append((a, b))
        others = {line for pair in by_hand for line in pair} - by_line.keys()
        for fact in stated.facts(self._view, StatedIdentity(self._view), others):
            by_line.setdefault(fact.line, []).append(fact)
        for pair, edge in by_hand.items():
            if pair[0] in by_line and pair[1] in by_line:
                both = product(by_line[edge.dst_line], by_line[edge.src_line])
                pairs.setdefault(pair, list(both))
        self._want(pairs, by_hand.keys())

    def _want(
        self, pairs: dict[Pair, list[tuple[StatedFact, StatedFact]]], by_hand: Collection[Pair]
    ) -> None:
        words = stated.turns_behind(self._view, {line for pair in pairs for line in pair})
        subjects = sorted({a.subject for both in pairs.values() for a, _ in both})
        names = dict(zip(subjects, self._view.ids(subjects), strict=True))
        for pair, (a, b) in [(each, both) for each in sorted(pairs) for both in pairs[each]]:
            valid = overlap(a.belief.valid, b.belief.valid)
            if valid is None:
                continue
            about = {"entity": names[a.subject], "predicate": a.predicate}
            if pair not in by_hand:
                scope = a.belief.scope if a.belief.scope == b.belief.scope else self._scope
                self._wanted.setdefault(pair, []).append(WantedEdge(valid, {**INFERRED, **about}, scope))
            for said in _facing(words.get(a.line, []), words.get(b.line, [])):
                self._about.setdefault(said, []).append({**about, "facts": sorted((a.id, b.id))})
                self._spans[said] = _hull(self._spans.get(said), valid)

    def changes(self) -> list[Change]:
        """What to end and what to put."""
        ids = stated.ids_of(self._view, self._touched)
        ends: list[Change] = []
        puts: list[Change] = []
        held: dict[Pair, list[Edge]] = {}
        for edge in {edge.key: edge for edge in (*self._held, *self._between_words(ids))}.values():
            if is_inferred(edge):
                held.setdefault(_pair(edge.src_line, edge.dst_line), []).append(edge)
        for pair, edges in held.items():
            kept = [entry for e in edges for entry in _about_what(e) if not ids & set(entry["facts"])]
            if kept:
                self._about.setdefault(pair, []).extend(kept)
                self._spans[pair] = _hull(self._spans.get(pair), *(e.valid for e in edges))
        for pair, entries in self._about.items():
            unique = sorted({tuple(e["facts"]): e for e in entries}.values(), key=lambda e: e["facts"])
            first = {name: unique[0][name] for name in ("entity", "predicate")}
            metadata: Metadata = {**INFERRED, **first, "about": unique}
            self._wanted[pair] = [WantedEdge(self._spans[pair], metadata, self._scope)]
        for pair in sorted({*held, *self._wanted}):
            closes, missing = refit(self._wanted.get(pair, ()), [_held(e) for e in held.get(pair, ())], OVER)
            ends += closes
            puts += [
                EdgeDraft(pair[1], "contradicts", pair[0], w.valid, w.scope, w.metadata, made="inferred")
                for w in missing
            ]
        return [*ends, *puts]

    def _between_words(self, ids: Collection[str]) -> list[Edge]:
        """The edges between words that the sweep made for these facts, or would make now."""
        lines = {line for pair in self._about for line in pair}
        lines |= {
            turn
            for turns in stated.turns_behind(self._view, self._touched, ever=True).values()
            for turn in turns
        }
        found = [e for e in stated.contradicting(self._view, lines) if is_inferred(e) and _about_what(e)]
        return [
            e for e in found
            if _pair(e.src_line, e.dst_line) in self._about
            or any(set(entry["facts"]) & set(ids) for entry in _about_what(e))
        ]  # fmt: skip


def _about_what(edge: Edge) -> list[dict[str, Any]]:
    return edge.metadata.get("about", [])  # type: ignore[no-any-return]


def _held(edge: Edge) -> HeldEdge:
    return HeldEdge(as_belief(edge), edge.metadata)


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _hull(*intervals: Interval | None) -> Interval:
    held = [i for i in intervals if i is not None]
    return Interval(min(i.start for i in held), max(i.end for i in held))


def _facing(mine: list[int], theirs: list[int]) -> Iterator[Pair]:
    """Each turn of one side against the first of the other, so that all of them show a conflict."""
    pairs = {_pair(a, theirs[0]) for a in mine if theirs} | {_pair(mine[0], b) for b in theirs if mine}
    yield from sorted(pair for pair in pairs if pair[0] != pair[1])


# What caused what =====================================================================================

CAUSE = "cause"
MOST_CAUSES = 5
"""So many causes are drawn from one text; what explains everything explains nothing."""
UNSAID = "no text states it any more"


def chain(view: View, night: Night) -> Plan:
    """The happenings and edges that new texts state, and the edges that no text states any more.

    The same clause said again is the same happening, so that what one text calls an effect and another a
    cause becomes a chain. A happening rests on the texts that say it; an edge that no visible text states
    any more is withdrawn here.
    """
    turns = night.news.of("Turn")
    ahead = not_yet(view, {*(item.line for item in turns), *night.waiting})
    closed = {item.line for item in turns if item.closed}
    changes: list[Change] = []
    scores = []
    for turn in spoken(view, {*(item.line for item in turns), *night.waiting} - set(ahead)):
        found = _causes_in(turn)
        if found:
            scores.append((view.tenant, turn.node, CAUSE, strength(one for one, _, _ in found)))
        for one, cause, effect in found:
            changes += _happenings(turn, one, cause, effect)
    if scores:
        changes.append(NewRows("scores", tuple(scores)))
    return Plan((*changes, *_withdrawn(view, closed)), ahead)


def _causes_in(turn: Spoken) -> list[tuple[Cause, str, str]]:
    """(where, cause, effect) of what a turn states, by the names of the happenings."""
    found = []
    for one in causes(turn.text)[:MOST_CAUSES]:
        cause, effect = (happening(turn.text[slice(*span)], turn.name) for span in (one.cause, one.effect))
        if cause != effect:
            found.append((one, cause, effect))
    return found


def _happenings(turn: Spoken, one: Cause, cause: str, effect: str) -> Iterator[NewLines]:
    caused = {**MADE, "cue": one.cue}
    yield NewLines(
        "Happening", effect, valid_from=turn.said_at, label=effect, edges=(_cut_from(turn, one.effect),)
    )  # fmt: skip
    yield NewLines(
        "Happening", cause, valid_from=turn.said_at, label=cause,
        edges=(_cut_from(turn, one.cause), Arrow("causes", effect, caused, since=turn.said_at, made="sleep")),
    )  # fmt: skip


def _cut_from(turn: Spoken, span: tuple[int, int]) -> Arrow:
    return Arrow("derived_from", turn.line, {"start": span[0], "end": span[1]}, since=turn.said_at)


# Taking back -----------------------------------------------------------------------------------------


def _withdrawn(view: View, closed: Collection[int]) -> Iterator[Close]:
    """The edges that stood on a turn which was given up or changed, and have nothing else to stand on."""
    drawn = stated.causes_drawn(view, closed) if closed else []
    if not drawn:
        return
    rests: dict[int, set[int]] = defaultdict(set)
    for ground in stated.resting(
        view, {end for edge, _, _ in drawn for end in (edge.src_line, edge.dst_line)}
    ):
        rests[ground.src_line].add(ground.dst_line)
    shared = [rests[edge.src_line] & rests[edge.dst_line] for edge, _, _ in drawn]
    turns = spoken(view, {turn for both in shared for turn in both})
    told = {turn.line: {(cause, effect) for _, cause, effect in _causes_in(turn)} for turn in turns}
    for (edge, cause, effect), both in zip(drawn, shared, strict=True):
        if not any((cause, effect) in told.get(line, ()) for line in both):
            yield Close(as_belief(edge), "edges", reason=UNSAID)


# What follows =========================================================================================

TYPES = ("causes", "subtype_of")
LONGEST = 8
"""Stated edges that one derived edge may stand for."""
MOST_ENDS = 64
"""Ends that are derived for one memory, nearest first; what leads to everything explains nothing."""
NO_WAY = "what it follows from no longer leads there"


class _FactPath(Struct, frozen=True):
    """A way from one memory to another."""

    end: int
    valid: Interval
    through: tuple[int, ...]
    scopes: frozenset[int]


class _Graph:
    """The edges of one type around some memories, read level by level."""

    def __init__(self, view: View, type_: str) -> None:
        self._view, self._type = view, type_
        self.arcs: dict[int, list[Edge]] = {}
        self.derived: dict[int, dict[int, list[HeldEdge]]] = {}
        self.holds: dict[int, Interval] = {}
        """When each memory holds at all; nothing for one that is given up or kept back."""
        self._above: dict[int, tuple[int, ...]] = {}

    def before(self, lines: Collection[int]) -> set[int]:
        """These, and everything from which they can be reached."""
        found, frontier = set(lines), set(lines)
        for _ in range(LONGEST - 1):
            frontier = {arc.src_line for arc in self._arcs("dst", frontier) if not is_inferred(arc)} - found
            found |= frontier
            if not frontier:
                break
        return found

    def load(self, lines: Collection[int]) -> None:
        """Everything that can be reached from these."""
        frontier = set(lines)
        for _ in range(LONGEST):
            frontier -= self.arcs.keys()
            if not frontier:
                break
            for line in frontier:
                self.arcs[line], self.derived[line] = [], {}
            for arc in self._arcs("src", frontier):
                if is_inferred(arc):
                    self.derived[arc.src_line].setdefault(arc.dst_line, []).append(_held(arc))
                else:
                    self.arcs[arc.src_line].append(arc)
            self.holds.update(stated.holding(self._view, frontier))
            frontier = {arc.dst_line for line in frontier for arc in self.arcs[line]}
        last = {arc.dst_line for arcs in self.arcs.values() for arc in arcs}
        self.holds.update(stated.holding(self._view, last - self.holds.keys()))

    def _arcs(self, end: str, lines: Collection[int]) -> list[Edge]:
        return stated.edges_at(self._view, lines, (end, self._type))

    def above(self, line: int) -> tuple[int, ...]:
        """A memory and the worlds around it, innermost first; 0 is the root."""
        if line not in self._above:
            parent = self._view.parent(line)
            self._above[line] = (line, *(self.above(parent) if parent is not None else (0,)))
        return self._above[line]

    def stays_inside(self, path: _FactPath, start: int) -> bool:
        """Whether whoever may see both ends may see all that lies between."""
        around = self.above(path.end)
        smallest = next(world for world in self.above(start) if world in around)
        return all(smallest in self.above(line) for line in path.through)


def infer(view: View, night: Night) -> Plan:
    """The derived edges to end and to put, around all that changed.

    Around each new or closed edge, and only there, the closure of the stated edges is computed and
    compared with what was derived before; so a night derives what is missing, shortens or withdraws
    what has lost its ground, and a second night does nothing. A derived edge holds where all its parts
    hold, is marked as inferred, names what it goes through, and never goes through anything that lies
    outside the smallest world that holds both its ends.
    """
    changes: list[Change] = []
    for type_ in TYPES:
        starts = _starts(view, night, type_)
        if starts:
            changes += _refitted(view, _Graph(view, type_), starts, night.scope, type_)
    return Plan(tuple(changes))


def _starts(view: View, night: Night, type_: str) -> set[int]:
    """Where edges of the type changed, and memories between two of them that changed or moved."""
    news = night.news
    touched = {item.line for item in news.items} | {e.dst for e in news.edges if e.type == "contains"}
    return {edge.src for edge in news.edges if edge.type == type_} | stated.with_edges(view, type_, touched)


def _refitted(view: View, graph: _Graph, starts: Collection[int], scope: int, type_: str) -> Iterable[Change]:
    sources = sorted(graph.before(starts))
    graph.load(sources)
    ends: list[Change] = []
    puts: list[Change] = []
    for source in sources:
        wanted = _wanted(view, graph, source, scope)
        held = graph.derived[source]
        for end in sorted({*wanted, *held}):
            closes, missing = refit(wanted.get(end, ()), held.get(end, ()), NO_WAY)
            ends += closes
            puts += [
                EdgeDraft(source, type_, end, w.valid, w.scope, w.metadata, made="inferred") for w in missing
            ]
    return [*ends, *puts]


def _wanted(view: View, graph: _Graph, start: int, scope: int) -> dict[int, list[WantedEdge]]:
    """What should be derived for one memory: end → intervals, by the nearest way."""
    by_hand = grouped((arc.dst_line, arc.valid) for arc in graph.arcs[start])
    wanted: dict[int, list[WantedEdge]] = {}
    for path in _paths(graph, start):
        taken = [*by_hand.get(path.end, ()), *(w.valid for w in wanted.get(path.end, ()))]
        left = without([path.valid], taken)
        if not left or not graph.stays_inside(path, start):
            continue
        if path.end not in wanted and len(wanted) >= MOST_ENDS:
            break
        metadata = {**INFERRED, "through": list(view.ids(path.through))}
        owner = next(iter(path.scopes)) if len(path.scopes) == 1 else scope
        wanted.setdefault(path.end, []).extend(WantedEdge(piece, metadata, owner) for piece in left)
    return wanted


def _paths(graph: _Graph, start: int) -> Iterable[_FactPath]:
    """Ways of two and more steps, shortest first; a way that adds no time to its end is not gone."""
    reached: dict[int, list[Interval]] = {}
    level = [_FactPath(start, Interval(-FOREVER), (), frozenset())]
    for step in range(LONGEST):
        ahead: list[_FactPath] = []
        for path in level:
            for arc in graph.arcs.get(path.end, ()):
                further = _further(graph, path, arc, first=not step)
                if further is None or arc.dst_line == start:
                    continue
                if not without([further.valid], reached.get(arc.dst_line, ())):
                    continue
                reached.setdefault(arc.dst_line, []).append(further.valid)
                ahead.append(further)
        if step:
            yield from ahead
        level = ahead


def _further(graph: _Graph, path: _FactPath, arc: Edge, *, first: bool) -> _FactPath | None:
    """One step on; only as long as what it steps from holds."""
    if first:
        return _FactPath(arc.dst_line, arc.valid, (), frozenset({arc.scope}))
    holds = graph.holds.get(path.end)
    valid = None if holds is None else overlap(path.valid, arc.valid, holds)
    if valid is None:
        return None
    return _FactPath(arc.dst_line, valid, (*path.through, path.end), path.scopes | {arc.scope})
