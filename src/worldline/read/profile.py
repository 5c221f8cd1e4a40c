"""What is believed of a person, what an agent should know before a session begins, and stretches of talk.

Attributes, landmarks and chains are read from the view at its moment; every piece of evidence passes
it. Counts and style come from the rows that are kept by night and by day, and the turns since then; where the view is
narrower than those rows (another moment, a world, a run, a filter), the newest turns that it shows
are counted instead.

The block for a session has who the user is, what was asked to hold from then on, what comes up, holds, changed lately
and was said last. A tight budget is shared by one line of each kind in turn, so that no kind crowds out another. Every
line names the memory that it cites. The same store and moment give the same block.

Episodes are stretches of talk that a pause of six hours or more parts from each other, whatever the session. They are
computed from the index of what was said when, newest first and only as far back as is asked
for, so nothing is stored and a long life costs no more than a short one.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, EXACT, LATEST, Instant, Interval, calendar, to_datetime
from worldline.dates import find_dates
from worldline.errors import InvalidInput, NotFound
from worldline.handle import Handle
from worldline.model import Node, clean_name, clean_text
from worldline.ports import View
from worldline.read.cues import standing
from worldline.read.history import ChainLink, chains
from worldline.reading.families import families
from worldline.rules.gathering import (
    DECODER,
    Met,
    SaidWords,
    Tally,
    alike,
    combined,
    counted,
    nearest,
    tally,
    unpacked,
)
from worldline.rules.happenings import Landmark, landmarks, sentences
from worldline.rules.identity import GIVEN
from worldline.store import people, search
from worldline.store.events import Uttered, backwards, how_many, landmarks_among, newest_of, spoken
from worldline.store.nights import verbatim
from worldline.store.people import Ascribed, about, only_speaker
from worldline.store.search import HeldFact
from worldline.store.words import spread
from worldline.text import content_words, estimate_tokens, fold, visible
from worldline.text import tokens as cut

if TYPE_CHECKING:
    from worldline.rules.gathering import Counts


RECENT = 2000
"""So many turns are counted where no row of sleep's fits the view, the newest."""
SAMPLE = 200
"""So many turns are looked at for the words somebody uses more than others; of partners so many new ones count."""
SPEAKERS, PARTNERS = 500, 10
"""So many people are read of what sleep keeps; of so many partners, what they said since."""
FACTS, RELATIONS, LANDMARKS, TELLING = 60, 20, 40, 8
_KEPT = 4096
"""Texts whose landmarks are kept in mind."""


class Attribute(Struct, frozen=True):
    """Something believed of a person; `stage` says how firmly it is known (crystal first)."""

    slot: str
    text: str
    fact: str
    valid: Interval
    confidence: float | None
    stage: str = ""
    precision: str | None = None


class Style(Struct, frozen=True):
    """How somebody writes: how long, with which words and marks, and who writes most alike."""

    turns: int
    words: float
    characters: float
    telling: tuple[str, ...] = ()
    habits: dict[str, float] = {}
    """Marks a turn: exclamations, questions, dots, capitals."""
    alike: str | None = None
    likeness: float | None = None


class Relation(Struct, frozen=True):
    """Somebody whom the person talks with, speaks of, is spoken of by, or is mentioned beside."""

    name: str
    talks: int
    mentions: int
    mentioned: int
    together: int
    last_at: Instant
    evidence: str | None = None

    @property
    def times(self) -> int:
        return self.talks + self.mentions + self.mentioned + self.together


class Milestone(Struct, frozen=True):
    """A landmark: when it was, of whom it is told, and the words that tell it."""

    kind: str
    happened: Instant
    of: str
    text: str
    weight: float
    said_by: str
    said_at: Instant
    evidence: str


class Profile(Struct, frozen=True):
    """What is known of a person at one moment."""

    name: str
    called: tuple[str, ...]
    turns: int
    first_at: Instant | None
    last_at: Instant | None
    attributes: tuple[Attribute, ...] = ()
    style: Style | None = None
    relations: tuple[Relation, ...] = ()
    landmarks: tuple[Milestone, ...] = ()
    chains: tuple[ChainLink, ...] = ()


class ProfileRows(Struct, frozen=True):
    """Tallies and styles by speaker, as far as this view may know them."""

    tallies: dict[str, Tally]
    styles: dict[str, Counts]


def profile(view: View, who: Person) -> Profile:
    """Everything that may be seen of a person here."""
    rows = _rows(view, who)
    own = combined([rows.tallies[one] for one in who.speakers if one in rows.tallies])
    return Profile(
        who.name,
        tuple(sorted(who.called)),
        own.turns,
        own.first if own.turns else None,
        own.last if own.turns else None,
        _attributes(view, who),
        _style(view, who, own, rows) if own.turns else None,
        _relations(view, who, own, rows),
        _weightiest(view, _told_of(rows, who), who),
        chains(view, own.reasons),
    )


# Counts ----------------------------------------------------------------------------------------------


def is_plain(view: View) -> bool:
    """Whether the rows that sleep keeps are about exactly what this view shows."""
    here = view.world == 0 and not view.closed and not view.labels and view.scope.run is None
    return here and view.known >= LATEST and not view.cold


def _rows(view: View, who: Person) -> ProfileRows:
    rows = ProfileRows({}, {})
    if is_plain(view):
        rows = kept(view, who.speakers)
    for speaker in who.speakers:
        _add(rows, speaker, _recent(view, speaker, _upto(rows, speaker)))
    own = [rows.tallies[speaker] for speaker in who.speakers if speaker in rows.tallies]
    others = {name for one in own for name in one.answers} - set(who.speakers)
    for speaker in sorted(others)[:PARTNERS]:
        _add(rows, speaker, _recent(view, speaker, _upto(rows, speaker), SAMPLE))
    return rows


def _upto(rows: ProfileRows, speaker: str) -> int:
    """The newest lineage of somebody's that is counted."""
    return rows.tallies[speaker].upto if speaker in rows.tallies else 0


def kept(view: View, first: Collection[str] = ()) -> ProfileRows:
    """The rows that sleep keeps and this view may see, one a speaker; these people's in any case."""
    rows = ProfileRows({}, {})
    for speaker, body, style in people.kept(view, first, SPEAKERS):
        told = DECODER.decode(body)
        rows.tallies[speaker] = combined([rows.tallies[speaker], told]) if speaker in rows.tallies else told
        rows.styles[speaker] = rows.styles.get(speaker, 0) + unpacked(style)
    return rows


def _add(rows: ProfileRows, speaker: str, said: Sequence[SaidWords]) -> None:
    if said:
        rows.tallies[speaker] = combined([rows.tallies.get(speaker, Tally()), tally(said)])
        rows.styles[speaker] = sum((counted(one.text) for one in said), rows.styles.get(speaker, counted("")))


def _recent(view: View, speaker: str, after: int, most: int = RECENT) -> list[SaidWords]:
    """What somebody said, the newest, after a lineage."""
    newest = newest_of(view, speaker, after, most)
    return [
        SaidWords(t.line, t.text, t.said_at, t.answers) for t in spoken(view, newest) if t.speaker == speaker
    ]  # fmt: skip


def _lately(view: View, speaker: str) -> list[str]:
    """The words of what somebody said last."""
    newest = newest_of(view, speaker, 0, SAMPLE)
    return [turn.text for turn in spoken(view, newest, answers=False) if turn.speaker == speaker]


# Attributes ------------------------------------------------------------------------------------------


def _attributes(view: View, who: Person) -> tuple[Attribute, ...]:
    """What is believed of the person now, the firmest and newest first."""
    if not who.entities:
        return ()
    mine = [one for one in about(view, who.entities, 4 * FACTS) if one.subject in who.entities]
    rank = {"crystal": 0, "unit": 1}
    return tuple(sorted(map(_attribute, mine), key=lambda one: rank.get(one.stage, 2))[:FACTS])


def _attribute(held: Ascribed) -> Attribute:
    fact = held.fact
    return Attribute(
        fact.slot, fact.text, fact.id, fact.valid, fact.confidence, held.stage or "", fact.precision
    )


# Style -----------------------------------------------------------------------------------------------

_HABITS = {
    "!": re.compile(r"!+"),
    "?": re.compile(r"\?+"),
    "…": re.compile(r"\.{2,}|…"),
    "CAPITALS": re.compile(r"\b[A-Z]{3,}\b"),
}


def _style(view: View, who: Person, own: Tally, rows: ProfileRows) -> Style:
    said = [text for speaker in who.speakers for text in _lately(view, speaker)]
    mine = sum((rows.styles[one] for one in who.speakers if one in rows.styles), counted(""))
    others = [(name, style) for name, style in sorted(rows.styles.items()) if name not in who.speakers]
    found = nearest(mine, others)
    together = "\n".join(said)
    habits = {mark: len(rule.findall(together)) / max(len(said), 1) for mark, rule in _HABITS.items()}
    return Style(
        own.turns,
        round(own.words / own.turns, 1),
        round(own.characters / own.turns, 1),
        telling(view, said, TELLING),
        {mark: round(often, 2) for mark, often in habits.items() if often >= 0.05},
        found[0] if found else None,
        round(found[1], 3) if found else None,
    )


_WORD = re.compile(r"[^\W\d_][\w'’-]+|[\u4e00-\u9fff]+")
_COMMON = 40
"""A share of one in so many texts makes a word worth looking at, where there are many."""


def telling(view: View, texts: Sequence[str], most: int) -> tuple[str, ...]:
    """The words by which some texts can be told from all others, the most telling first, as mostly written.

    They are used again and again here and seldom elsewhere; names of people are not among them.
    """
    often = Counter(chain.from_iterable(set(content_words(text)) for text in texts))
    least = max(1 if len(texts) < 8 else 2, len(texts) // _COMMON)
    shapes: dict[str, dict[str, int]] = {t: {} for t, n in often.items() if n >= least and len(t) > 2}
    for word, times in Counter(_WORD.findall("\n".join(texts))).items():
        for written in [shapes[token] for token in cut(word)[:1] if token in shapes]:
            lower = word.lower()
            written[lower] = written.get(lower, 0) + times
    tokens = [token for token, written in shapes.items() if written and not _is_name(written)]
    total = how_many(view)
    everywhere = spread(view, tokens, total)
    worth = {t: _worth(often[t], len(texts), everywhere.get(t, 0), total) for t in tokens}
    best = sorted(tokens, key=lambda token: (-worth[token], token))[:most]
    return tuple(_mostly(shapes[token]) for token in best)


def _worth(often: int, of: int, everywhere: int, total: int) -> float:
    """How often, times how much more often than elsewhere."""
    return often * math.log((often / of) / ((max(everywhere, often) + 1) / (total + 1)))


def _mostly(shapes: Mapping[str, int]) -> str:
    """As it is written most often; the first of several."""
    return max(shapes, key=shapes.__getitem__)


def _is_name(shapes: Mapping[str, int]) -> bool:
    return _mostly(shapes).removesuffix("'s").removesuffix("’s") in GIVEN


# Relations -------------------------------------------------------------------------------------------


class _Sum(Struct):
    talks: int = 0
    mentions: int = 0
    mentioned: int = 0
    together: int = 0
    last: Instant = 0
    line: int = 0

    def add(self, kind: str, met: Met) -> None:
        setattr(self, kind, getattr(self, kind) + met.count)
        self.last, self.line = max((self.last, self.line), (met.last, met.line))


def _relations(view: View, who: Person, own: Tally, rows: ProfileRows) -> tuple[Relation, ...]:
    """Everybody around the person, the most frequent first; what hangs on a hidden text alone is left out."""
    whole = _full_names(rows.tallies)
    found: dict[str, _Sum] = {}

    def add(name: str, kind: str, met: Met) -> None:
        name = whole.get(name, name)
        if name not in who.called:
            found.setdefault(name, _Sum()).add(kind, met)

    for name, met in own.answers.items():
        add(name, "talks", met)
    for name, met in own.names.items():
        add(name, "mentions", met)
    for speaker, theirs in rows.tallies.items():
        for name in who.called:
            if speaker not in who.called and name in theirs.answers:
                add(speaker, "talks", theirs.answers[name])
            if speaker not in who.called and name in theirs.names:
                add(speaker, "mentioned", theirs.names[name])
        for pair, met in theirs.together.items():
            one, other = pair.split("|")
            if (one in who.called) != (other in who.called):
                add(other if one in who.called else one, "together", met)
    return _shown(view, found)


def _full_names(speakers: Iterable[str]) -> dict[str, str]:
    """First name → the one speaker who has it."""
    found: dict[str, list[str]] = {}
    for speaker in speakers:
        found.setdefault(speaker.split()[0], []).append(speaker)
    return {first: whole[0] for first, whole in found.items() if len(whole) == 1}


def _shown(view: View, found: Mapping[str, _Sum]) -> tuple[Relation, ...]:
    made = [
        (Relation(name, s.talks, s.mentions, s.mentioned, s.together, s.last), s.line)
        for name, s in found.items()
    ]
    made.sort(key=lambda pair: (-pair[0].times, -pair[0].last_at, pair[0].name))
    kept: list[Relation] = []
    for start in range(0, len(made), RELATIONS):  # the evidence of those that are not shown is not read
        some = made[start : start + RELATIONS]
        seen = {node.line: node for node in view.visible([line for _, line in some])}
        for one, line in some:
            if (node := seen.get(line)) or one.times > 1:
                kept.append(_evident(view, one, node))
            if len(kept) == RELATIONS:
                return tuple(kept)
    return tuple(kept)


def _evident(view: View, one: Relation, node: Node | None) -> Relation:
    text = node.content if node else ""
    return replace(one, name=_as_written(view, one.name, text), evidence=node.id if node else None)


def _as_written(view: View, name: str, text: str) -> str:
    """A folded name as the evidence spells it, else as its speaker does."""
    found = re.search(rf"\b{re.escape(name)}\b", text, re.I)
    return found[0] if found else people.written(view, name) or name


# Landmarks -------------------------------------------------------------------------------------------


def _told_of(rows: ProfileRows, who: Person) -> dict[int, float]:
    """Lineage → weight of the landmarks that the person tells, or that others tell of them by name."""
    found: dict[int, float] = {}
    for speaker, theirs in rows.tallies.items():
        own = speaker in who.speakers
        for marker in (one for markers in theirs.landmarks.values() for one in markers):
            if own or not who.called.isdisjoint(cut(marker.of.lower())):
                found[marker.line] = max(marker.weight, found.get(marker.line, 0.0))
    return found


def _weightiest(view: View, told: Mapping[int, float], who: Person) -> tuple[Milestone, ...]:
    """The same landmarks as of all these texts; the lighter ones are not read where the others are enough."""
    ordered = sorted(told, key=lambda line: (-told[line], line))
    found: list[Milestone] = []
    for start in range(0, len(ordered), 2 * LANDMARKS):
        some = ordered[start : start + 2 * LANDMARKS]
        found += _milestones(view, some, who)
        if sum(one.weight > told[some[-1]] for one in found) >= LANDMARKS:
            break
    return _in_order(found)


def _milestones(view: View, lines: Collection[int], who: Person | None = None) -> list[Milestone]:
    """The landmarks that these texts tell, as they may be seen; where somebody is named, theirs."""
    found = []
    for node in view.visible(sorted(set(lines))):
        for mark, sentence, at in _told_in(view, node):
            theirs = who is None or who.called & {node.name.lower(), *mark.of.lower().split()}
            if theirs or (who is not None and _spoken_by(who, node)):
                found.append(
                    Milestone(
                        mark.kind, at, mark.of, sentence, mark.weight, node.name, node.valid.start, node.id
                    )
                )
    return found


def _told_in(view: View, node: Node) -> Sequence[tuple[Landmark, str, Instant]]:
    """The landmarks of a text, each with its sentence and its day; kept, because its id says what it says."""
    held, key = view.store.landmarks, (node.id, node.valid.start)
    if key not in held:
        if len(held) >= _KEPT:
            held.clear()
        marks = [(mark, _sentence(node.content, mark.start)) for mark in landmarks(node.content)]
        held[key] = tuple((mark, sentence, _when(sentence, node)) for mark, sentence in marks)
    found: Sequence[tuple[Landmark, str, Instant]] = held[key]
    return found


def _in_order(found: Iterable[Milestone]) -> tuple[Milestone, ...]:
    """The weightiest, as they happened."""
    best = sorted(found, key=lambda one: (-one.weight, -one.happened, one.evidence, one.kind))[:LANDMARKS]
    return tuple(sorted(best, key=lambda one: (one.happened, one.evidence, one.kind)))


def _spoken_by(who: Person, node: Node) -> bool:
    return fold(node.name) in who.speakers


def _sentence(text: str, at: int) -> str:
    return next((text[a:b] for a, b in sentences(text) if a <= at < b), text)[:300]


def _when(sentence: str, node: Node) -> Instant:
    """The one date that the sentence names, else when it was said."""
    spans = find_dates(sentence, to_datetime(node.valid.start))
    return spans[0].start if len(spans) == 1 else node.valid.start


# Whom a name means here: an entity, a speaker, or both; and everything that they are called -------
#
# Only what the view may see counts: a speaker none of whose turns is visible is nobody here, and a
# wrong name is answered with near ones that are.


_ID = re.compile(r"[0-9a-f]{8,64}")
NEAR = 5
_LOOKED_AT = 40
"""So many near names are looked at for some that may be seen."""


class Person(Struct, frozen=True):
    """Somebody: what to call them, their entities (lineages), and their names, folded."""

    name: str
    entities: tuple[int, ...]
    speakers: tuple[str, ...]
    called: frozenset[str]


def somebody(view: View, handle: Handle, who: Any) -> Person:
    """Somebody by name; by id where nobody has that name."""
    if isinstance(who, str):
        clean_name(who)
        try:
            return person(view, who)
        except NotFound:
            if not _ID.fullmatch(who.strip().lower()):
                raise
    node = view.latest(handle.resolve(view, who).line)
    if node is None or node.type not in ("Entity", "Turn"):
        raise NotFound("a profile is of a person: give a name, or the id of an entity")
    return person(view, node.name)


def person(view: View, name: str) -> Person:
    """The one who is called so; NotFound, with near names, where nobody is."""
    key = fold(name)
    lines = _entities(view, key)
    names = people.names_of(view, lines)
    keys = {fold(one) for one in names} | {key}
    spoken = people.heard(view, sorted(keys))
    if not spoken and not lines:
        spoken = _by_first_name(view, key)
    if not spoken and not lines:
        raise NotFound(_nobody(view, name, key))
    shown = _written_name(view, spoken, names) or name
    called = keys | set(spoken) | {one.split()[0] for one in (*keys, *spoken) if one}
    return Person(shown, tuple(lines), tuple(spoken), frozenset(called))


def _entities(view: View, key: str) -> list[int]:
    """The visible entities of this name, with what was accepted as the same."""
    lines = sorted({one.line for one in people.called(view, [key])})
    lines = view.same_as(*lines) if lines and view.has_merges() else lines
    seen = view.bind(world=0).visible(lines)  # entities live in the root, whichever world speaks of them
    return [node.line for node in seen]


def _by_first_name(view: View, key: str) -> list[str]:
    """The one speaker of this first name."""
    heard = people.heard(view, [name for name in people.speakers(view) if name.split()[0] == key])
    return heard if len(heard) == 1 else []


def _written_name(view: View, speakers: Sequence[str], names: Sequence[str]) -> str:
    """A name as it was written."""
    return names[0] if names else people.written(view, speakers[0] if speakers else "")


def _nobody(view: View, name: str, key: str) -> str:
    near = difflib.get_close_matches(key, people.speakers(view), n=_LOOKED_AT, cutoff=0.5)
    seen = set(people.heard(view, near))
    heard = [one for one in near if one in seen]
    by_key = people.names_near(view, key)
    heard += difflib.get_close_matches(key, list(by_key), n=NEAR, cutoff=0.6)
    told = ", ".join(dict.fromkeys(by_key.get(one) or _written_name(view, [one], ()) for one in heard[:NEAR]))
    hint = f"; did you mean {told}?" if told else ""
    return f"nobody here is called {name[:80]!r}{hint}"


# Before the first word of a session ------------------------------------------------------------------


DAY = 86_400_000_000
LONGEST_NAME = 65_536
AHEAD, BACK = 21 * DAY, 14 * DAY
"""So far ahead is near; so far back is lately."""
MOST, LONGEST = 12, 240
"""Lines of a kind, characters of a line."""
LOOKED_AT, SAID = 200, 4
USER = "user"
"""Whom facts speak of when nobody says who speaks."""
RULES = ("feedback", "user")
MATTERS = ("project", "context", "Decision", "learning")
PREFERENCES = frozenset(
    "prefers likes dislikes diet avoids_food allergic_to intolerant_to wants_to_be_called answers_language"
    " answers_style contact_preference favourite favourite_food".split()
)
_TO_DO = ("must ", "has to ", "have to ", "needs to ", "will ", "plans ")


class Line(Struct, frozen=True):
    """One thing to know, with the memory that says it and when it holds."""

    id: str
    text: str
    when: str = ""


class Section(Struct, frozen=True):
    """Things of one kind."""

    title: str
    lines: tuple[Line, ...]


class Context(Struct, frozen=True):
    """What is known at the beginning of a session."""

    user: str
    text: str
    """The block as a model reads it; never above the budget."""
    tokens: int
    sections: tuple[Section, ...] = ()


def context(view: View, user: str | None, max_tokens: int) -> Context:
    """The block for a user: the one named (NotFound, where nobody is), the one bound, or the only one who speaks."""
    if type(max_tokens) is not int or max_tokens < 1:
        raise InvalidInput(f"a budget is at least one token, not {max_tokens!r}")
    name = user or view.scope.user or only_speaker(view)
    is_other = user and fold(user) not in map(fold, (USER, view.scope.user or USER))
    who = person(view, name) if is_other else _who(view, name)
    lines = [*(who.entities if who else ()), *_unnamed(view)]
    own = search.facts_of(view, lines, LOOKED_AT) if lines else []
    today = view.valid - view.valid % DAY
    coming = search.facts_between(view, today, view.valid + AHEAD, MOST)
    shown = {fact.id for fact in coming}
    preferred = [fact for fact in own if fact.slot in PREFERENCES]
    shown |= {fact.id for fact in preferred}
    person_now = [fact for fact in _firmest(own) if fact.id not in shown and not _is_to_do(fact)]
    tasks = [
        fact for fact in own if _is_to_do(fact) and fact.id not in shown and fact.start >= view.valid - BACK
    ]
    shown |= {fact.id for fact in (*person_now, *tasks)}
    others = [
        fact for fact in search.newest_facts(view, LOOKED_AT) if fact.id not in shown and not fact.dated
    ]
    rules = [*search.pinned(view, MOST), *search.notes_of(view, RULES, MOST), *_asked_for(view)]
    said = [*reversed(search.notes_of(view, ("Turn",), SAID))]
    places = search.offsets(view, [node.key for node in (*said, *rules) if node.type == "Turn"])
    called = who.name if who else name

    def note(node: Node) -> Line:
        return _note(node, places.get(node.key, 0))

    sections = (
        Section(f"About {one_line(called)}" if called else "About the user", _some(map(_fact, person_now))),
        Section("Asked for, and preferred", _some((*map(note, rules), *map(_fact, preferred)))),
        Section("Coming up", _some((*map(_day, coming), *map(_fact, tasks)))),
        Section(
            "What holds",
            _some((*map(_note, search.notes_of(view, MATTERS, MOST)), *map(_fact, _firmest(others)))),
        ),
        Section("Changed lately", _some(map(_over, search.facts_ended(view, view.valid - BACK, MOST)))),
        Section("Said last", _some(map(note, said))),
    )
    kept = fitted(sections, max_tokens)
    text = shown_as(kept)
    return Context(called, text, estimate_tokens(text), kept)


def _who(view: View, name: str) -> Person | None:
    try:
        return person(view, name) if name else None
    except NotFound:
        return None


def _unnamed(view: View) -> tuple[int, ...]:
    """The entity of facts about "the user"; there is none where everybody signs."""
    found = _who(view, USER)
    return found.entities if found else ()


def _asked_for(view: View) -> Iterator[Node]:
    """What somebody said is to hold from then on, newest first."""
    told = verbatim(view, standing(view, search.ground(view)))
    nodes = [one.node for one in told.values()]
    yield from sorted(nodes, key=lambda node: (-node.valid.start, node.key))


def _firmest(facts: Iterable[HeldFact]) -> list[HeldFact]:
    """What is beyond doubt first, then as the families stand: home, work, kin before hobbies; then the newest."""
    places = {name: at for at, name in enumerate(families().all)}
    return sorted(facts, key=lambda f: (not f.settled, places.get(f.slot, len(places)), -f.start, f.id))


def _is_to_do(fact: HeldFact) -> bool:
    return f"{fact.phrase} ".startswith(_TO_DO)


# As lines ----------------------------------------------------------------------------------------------


def _fact(fact: HeldFact) -> Line:
    at = when(fact.start, fact.precision, fact.offset)
    return Line(fact.id, one_line(fact.text), f"{'on' if fact.dated else 'since'} {at}" if at else "")


def _day(fact: HeldFact) -> Line:
    return Line(fact.id, one_line(fact.text), when(fact.start, fact.precision or "minute", fact.offset))


def _over(fact: HeldFact) -> Line:
    until = when(fact.end, fact.precision, fact.offset)
    return Line(fact.id, f"no longer: {one_line(fact.text)}", f"until {until}")


def _note(node: Node, offset: int = 0) -> Line:
    named = f"{node.name}: " if node.name and node.type != "Fact" else ""
    at = when(node.valid.start, node.precision, offset)
    said = one_line(f"{named}{node.content}".removesuffix(": "))
    return Line(node.id, said, at if node.type == "Turn" else f"since {at}")


def when(at: Instant, precision: str | None, offset: int = 0) -> str:
    """A day as the calendar has it where it was said; weekday and time where a time is meant."""
    if not EARLIEST < at < LATEST:
        return ""
    if precision and precision not in EXACT and precision != "day":
        return calendar(at, precision)
    if precision in EXACT and at % DAY:
        return f"{to_datetime(at, offset):%Y-%m-%d %a %H:%M}"
    return calendar(at, "day") if precision == "day" else f"{to_datetime(at, offset):%Y-%m-%d}"


def one_line(text: str) -> str:
    """The beginning of a text, flat."""
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"


def _some(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The first few, each said once."""
    kept: dict[str, Line] = {}
    for line in lines:
        if line.text and all(line.text != other.text for other in kept.values()):
            kept.setdefault(line.id, line)
        if len(kept) == MOST:
            break
    return tuple(kept.values())


# Within a budget ---------------------------------------------------------------------------------------


def fitted(sections: Sequence[Section], max_tokens: int) -> tuple[Section, ...]:
    """As much as the budget holds: the first line of every kind, then the second of every kind, and so on."""
    kept: dict[int, int] = {}
    for depth in range(MOST):
        for at, section in enumerate(sections):
            if depth < len(section.lines) and kept.get(at, 0) == depth:
                trial = {**kept, at: depth + 1}
                if estimate_tokens(shown_as(_cut(sections, trial))) <= max_tokens:
                    kept = trial
    return _cut(sections, kept)


def _cut(sections: Sequence[Section], kept: dict[int, int]) -> tuple[Section, ...]:
    return tuple(
        replace(section, lines=section.lines[: kept[at]])
        for at, section in enumerate(sections)
        if kept.get(at)
    )


def shown_as(sections: Iterable[Section]) -> str:
    """The block as text: a heading and its lines, each with its time and its id."""
    told: list[str] = []
    for section in sections:
        told.append(f"{section.title}:")
        told += [
            f"- {line.text}{f' [{line.when}]' if line.when else ''} ({line.id[:12]})"
            for line in section.lines
        ]
    return "\n".join(told)


def of_user(view: View, user: str | None) -> View:
    """The view in the scope of a user, where the name is one."""
    if user is not None:
        clean_text(user, "user", LONGEST_NAME)
    if user and not view.scope.user and search.has_user(view, user):
        return view.bind(scope=replace(view.scope, user=user))
    return view


# Episodes --------------------------------------------------------------------------------------------


PAUSE = 6 * 3600 * 1_000_000
MOST_TURNS = 20_000
"""So many turns are looked at; the stretch in which they end is told as far as it was seen."""
EPISODE_SAMPLE = 120
"""So many turns of a stretch are read for its title."""
_UNSIGNED, _SURE = 5, 0.15
"""From so many unsigned turns on it is said whom they sound like, if that is clear by so much."""


class Episode(Struct, frozen=True):
    """A stretch of talk: when, who with how many turns, where, and what about."""

    began: Instant
    ended: Instant
    turns: int
    who: dict[str, int]
    sessions: tuple[str, ...]
    title: str
    landmarks: tuple[Milestone, ...]
    opens: str
    closes: str
    """The ids of its first and its last turn."""
    sounds_like: str | None = None
    """Whose style the unsigned turns have, where it is clear."""
    texts: tuple[Node, ...] = ()
    """What was said, where that was asked for."""


def episodes(
    view: View, within: tuple[Instant, Instant], limit: int, *, read: bool = False
) -> tuple[Episode, ...]:
    """The newest stretches that begin and end within some time, oldest of them first."""
    if type(limit) is not int or not 1 <= limit <= 1000:
        raise InvalidInput(f"ask for 1 to 1000 episodes, not {limit!r}")
    found: list[list[Uttered]] = []
    for turn in backwards(view, within, MOST_TURNS):
        if found and found[-1][-1].at - turn.at < PAUSE:
            found[-1].append(turn)
        elif len(found) < limit:
            found.append([turn])
        else:
            break
    return tuple(_told(view, stretch[::-1], read) for stretch in reversed(found))


def _told(view: View, turns: Sequence[Uttered], read: bool) -> Episode:
    lines = list(dict.fromkeys(turn.line for turn in turns))
    sample = view.visible(lines if read else lines[:EPISODE_SAMPLE])
    texts = [node.content for node in sample[:EPISODE_SAMPLE]]
    who = Counter(turn.sender for turn in turns)
    ids = view.ids([turns[0].node, turns[-1].node])
    return Episode(
        turns[0].at,
        turns[-1].at,
        len(turns),
        dict(sorted(who.items(), key=lambda pair: (-pair[1], pair[0]))),
        tuple(dict.fromkeys(turn.session for turn in turns if turn.session)),
        ", ".join(telling(view, texts, 4)),
        _in_order(_milestones(view, landmarks_among(view, [turn.node for turn in turns]))),
        ids[0],
        ids[1],
        _sounds_like(view, [node.content for node in sample if not node.name]),
        tuple(sample) if read else (),
    )


def _sounds_like(view: View, unsigned: Sequence[str]) -> str | None:
    """Whose style some unsigned texts have, if the nearest is clearly nearer than the next."""
    styles = kept(view).styles if len(unsigned) >= _UNSIGNED and is_plain(view) else {}
    if len(styles) < 2:
        return None
    style, usual = sum((counted(text) for text in unsigned), counted("")), sum(styles.values(), counted(""))
    near = sorted(((-alike(style, one, usual), name) for name, one in styles.items()))
    return near[0][1] if near[1][0] - near[0][0] >= _SURE else None
