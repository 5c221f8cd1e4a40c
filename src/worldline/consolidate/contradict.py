"""The contradiction sweep: where only one thing can hold, and several are believed at the same time.

Two facts of one slot that hold one value at a time, with other objects and overlapping intervals,
are joined by a contradicts edge that holds where both do; and so are the words that they rest on,
so that recall shows the other side beside either. When one side is closed, the edges that the
sweep made end with it. Edges that somebody stated are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby, islice, product
from typing import Any

from worldline.clock import Interval
from worldline.consolidate.changes import Change, Plan
from worldline.consolidate.night import Night
from worldline.model import Belief, Edge, EdgeDraft, Metadata
from worldline.rules.derived import INFERRED, Held, Wanted, is_inferred, overlap, refit
from worldline.store.stated import (
    Identity,
    Stated,
    contradicting,
    facts,
    facts_about,
    of_subjects,
    single_predicates,
    turns_behind,
)
from worldline.store.view import SqlView, as_belief
from worldline.text import fold

NEAREST = 8
"""So many others of a slot at most are held against each one."""
WHY = "the conflict is over"
Pair = tuple[int, int]


def contradict(view: SqlView, night: Night) -> Plan:
    """Contradictions to state and to end, in the slots that changed."""
    news = night.news
    merged = [line for edge in news.edges if edge.type == "same_as" for line in (edge.src, edge.dst)]
    cited = {edge.src for edge in news.edges if edge.type in ("derived_from", "contradicts")}
    touched = {item.line for item in news.of("Fact")} | cited
    who = Identity(view)
    members = {member for line in merged for member in who.all(line)}
    touched |= set(facts_about(view, members | set(merged)))
    if not touched:
        return Plan()
    believed = facts(view, who, touched)
    lines = {fact.line for fact in believed}
    is_single = _Single(view)
    slots = {(fact.subject, fact.predicate) for fact in believed if is_single(fact)}
    mates = {fact.belief.row: fact for fact in [*believed, *of_subjects(view, who, slots)]}
    sweep = _Sweep(view, night.scope, touched | lines)
    sweep.between(list(mates.values()), is_single)
    return Plan(tuple(sweep.changes()))


class _Single:
    """Whether a fact's slot holds one value at a time: by its wording, or by its world's ontology."""

    def __init__(self, view: SqlView) -> None:
        self._view, self._said = view, single_predicates(view)

    def __call__(self, fact: Stated) -> bool:
        if fact.one or not self._said:
            return fact.one
        world: int | None = fact.world
        while world and (fact.predicate, world) not in self._said:
            world = self._view.parent(world)
        return self._said.get((fact.predicate, world or 0), False)


def conflicting(
    mates: Iterable[Stated], is_single: Callable[[Stated], bool]
) -> Iterator[tuple[Stated, Stated]]:
    """The pairs of one slot and world that cannot both hold, the earlier one first."""

    def slot(fact: Stated) -> tuple[int, int, str]:
        return fact.world, fact.subject, fact.predicate

    for _, all_ in groupby(sorted(mates, key=lambda f: (*slot(f), _order(f))), slot):
        single = [(fact, _text(fact)) for fact in all_ if is_single(fact)]
        for place, (fact, text) in enumerate(single):
            rivals = _later_rivals(fact, text, islice(single, place + 1, None))
            yield from ((fact, other) for other in islice(rivals, NEAREST))


def _later_rivals(fact: Stated, text: str, later: Iterable[tuple[Stated, str]]) -> Iterator[Stated]:
    """Those that say something else of the same time, as long as any can; they come by their start."""
    for other, its in later:
        if other.belief.valid.start >= fact.belief.valid.end:
            return
        if text != its and _rival(fact, other):
            yield other


def _order(fact: Stated) -> tuple[Any, ...]:
    return fact.belief.valid.start, fact.line, fact.belief.row


def _rival(a: Stated, b: Stated) -> bool:
    same = bool(a.object) and a.object == b.object
    return a.line != b.line and not same and a.belief.valid.overlaps(b.belief.valid)


def _text(fact: Stated) -> str:
    return fold(fact.value.strip('"')) or fact.value


class _Sweep:
    """Contradictions that should stand among some facts, beside those that do."""

    def __init__(self, view: SqlView, scope: int, touched: Collection[int]) -> None:
        self._view, self._scope, self._touched = view, scope, set(touched)
        self._held = contradicting(view, self._touched)
        self._wanted: dict[Pair, list[Wanted]] = {}
        self._about: dict[Pair, list[dict[str, Any]]] = {}
        self._spans: dict[Pair, Interval] = {}

    def between(self, mates: list[Stated], is_single: Callable[[Stated], bool]) -> None:
        """Looks at these facts, pair by pair."""
        by_line: dict[int, list[Stated]] = {}
        for fact in mates:
            by_line.setdefault(fact.line, []).append(fact)
        stated = {_pair(e.src_line, e.dst_line): e for e in self._held if not is_inferred(e.metadata)}
        derived = {_pair(e.src_line, e.dst_line) for e in self._held if is_inferred(e.metadata)}
        pairs: dict[Pair, list[tuple[Stated, Stated]]] = {}
        for a, b in conflicting(mates, is_single):
            pair = _pair(a.line, b.line)
            doubtful = "quarantined" in (a.belief.status, b.belief.status)
            if self._touched & set(pair) and (not doubtful or pair in derived or pair in stated):
                pairs.setdefault(pair, []).append((a, b))
        others = {line for pair in stated for line in pair} - by_line.keys()
        for fact in facts(self._view, Identity(self._view), others):
            by_line.setdefault(fact.line, []).append(fact)
        for pair, edge in stated.items():
            if pair[0] in by_line and pair[1] in by_line:
                both = product(by_line[edge.dst_line], by_line[edge.src_line])
                pairs.setdefault(pair, list(both))
        self._want(pairs, stated.keys())

    def _want(self, pairs: dict[Pair, list[tuple[Stated, Stated]]], stated: Collection[Pair]) -> None:
        words = turns_behind(self._view, {line for pair in pairs for line in pair})
        subjects = sorted({a.subject for both in pairs.values() for a, _ in both})
        names = dict(zip(subjects, self._view.ids(subjects), strict=True))
        for pair, (a, b) in [(each, both) for each in sorted(pairs) for both in pairs[each]]:
            valid = overlap(a.belief.valid, b.belief.valid)
            if valid is None:
                continue
            about = {"entity": names[a.subject], "predicate": a.predicate}
            if pair not in stated:
                scope = a.belief.scope if a.belief.scope == b.belief.scope else self._scope
                self._wanted.setdefault(pair, []).append(Wanted(valid, {**INFERRED, **about}, scope))
            for said in _facing(words.get(a.line, []), words.get(b.line, [])):
                self._about.setdefault(said, []).append({**about, "facts": sorted((a.id, b.id))})
                self._spans[said] = _hull(self._spans.get(said), valid)

    def changes(self) -> list[Change]:
        """What to end and what to put."""
        ids = set(self._view.ids(sorted(self._touched)))
        ends: list[Change] = []
        puts: list[Change] = []
        held: dict[Pair, list[Edge]] = {}
        for edge in [*self._held, *self._between_words(ids)]:
            if is_inferred(edge.metadata):
                held.setdefault(_pair(edge.src_line, edge.dst_line), []).append(edge)
        for pair, edges in held.items():
            kept = [entry for e in edges for entry in _told(e) if not ids & set(entry["facts"])]
            if kept:
                self._about.setdefault(pair, []).extend(kept)
                self._spans[pair] = _hull(self._spans.get(pair), *(e.valid for e in edges))
        for pair, entries in self._about.items():
            unique = sorted({tuple(e["facts"]): e for e in entries}.values(), key=lambda e: e["facts"])
            metadata: Metadata = {
                **INFERRED,
                **{k: unique[0][k] for k in ("entity", "predicate")},
                "about": unique,
            }
            self._wanted[pair] = [Wanted(self._spans[pair], metadata, self._scope)]
        for pair in sorted({*held, *self._wanted}):
            closes, missing = refit(self._wanted.get(pair, ()), [_row(e) for e in held.get(pair, ())], WHY)
            ends += closes
            puts += [
                EdgeDraft(pair[1], "contradicts", pair[0], w.valid, w.scope, w.metadata) for w in missing
            ]
        return [*ends, *puts]

    def _between_words(self, ids: Collection[str]) -> list[Edge]:
        """The edges between words that the sweep made for these facts, or would make now."""
        lines = {line for pair in self._about for line in pair}
        lines |= {
            turn for turns in turns_behind(self._view, self._touched, ever=True).values() for turn in turns
        }
        found = [e for e in contradicting(self._view, lines) if is_inferred(e.metadata) and _told(e)]
        return [
            e for e in found
            if _pair(e.src_line, e.dst_line) in self._about
            or any(set(entry["facts"]) & set(ids) for entry in _told(e))
        ]  # fmt: skip


def _told(edge: Edge) -> list[dict[str, Any]]:
    about: list[dict[str, Any]] = edge.metadata.get("about", [])
    return about


def _row(edge: Edge) -> Held:
    belief: Belief = as_belief(edge)
    return Held(belief, edge.metadata)


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _hull(*intervals: Interval | None) -> Interval:
    held = [i for i in intervals if i is not None]
    return Interval(min(i.start for i in held), max(i.end for i in held))


def _facing(mine: list[int], theirs: list[int]) -> Iterator[Pair]:
    """Each turn of one side against the first of the other, so that all of them show a conflict."""
    pairs = {_pair(a, theirs[0]) for a in mine if theirs} | {_pair(mine[0], b) for b in theirs if mine}
    yield from sorted(pair for pair in pairs if pair[0] != pair[1])
