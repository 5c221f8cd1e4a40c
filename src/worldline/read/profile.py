"""A profile: what is believed of a person, how they write, whom they know, what befell them, and why.

Attributes, landmarks and chains are read from the view at its moment; every piece of evidence passes
it. Counts and style come from the rows that are kept by night and by day, and the turns since then; where the view is
narrower than those rows (another moment, a world, a run, a filter), the newest turns that it shows
are counted instead.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import LATEST, Instant, Interval, to_datetime
from worldline.dates import find_dates
from worldline.errors import NotFound
from worldline.handle import Handle
from worldline.model import Node, clean_name
from worldline.ports import View
from worldline.read.chains import ChainLink, chains
from worldline.rules.gathering import (
    DECODER,
    Met,
    SaidWords,
    Tally,
    combined,
    counted,
    nearest,
    tally,
    unpacked,
)
from worldline.rules.happenings import landmarks, sentences
from worldline.rules.identity import GIVEN
from worldline.store import people
from worldline.store.events import how_many, newest_of, spoken
from worldline.store.people import Ascribed, about
from worldline.store.words import spread
from worldline.text import content_words, fold, words

if TYPE_CHECKING:
    from worldline.rules.gathering import Counts

RECENT = 2000
"""So many turns are counted where no row of sleep's fits the view, the newest."""
SAMPLE = 200
"""So many turns are looked at for the words somebody uses more than others; of partners so many new ones count."""
SPEAKERS, PARTNERS = 500, 10
"""So many people are read of what sleep keeps; of so many partners, what they said since."""
FACTS, RELATIONS, LANDMARKS, TELLING = 60, 20, 40, 8


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
        rows.tallies[speaker] = combined([rows.tallies.get(speaker, Tally()), DECODER.decode(body)])
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
    said = [one.text for speaker in who.speakers for one in _recent(view, speaker, 0, SAMPLE)]
    mine = sum((rows.styles[one] for one in who.speakers if one in rows.styles), counted(""))
    others = [(name, style) for name, style in sorted(rows.styles.items()) if name not in who.speakers]
    found = nearest(mine, others)
    habits = {
        mark: sum(len(rule.findall(text)) for text in said) / max(len(said), 1)
        for mark, rule in _HABITS.items()
    }
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
    often = Counter(token for text in texts for token in set(content_words(text)))
    least = max(1 if len(texts) < 8 else 2, len(texts) // _COMMON)
    shapes: dict[str, Counter[str]] = {t: Counter() for t, n in often.items() if n >= least and len(t) > 2}
    for word, times in Counter(word for text in texts for word in _WORD.findall(text)).items():
        for token in words(word)[:1]:
            if token in shapes:
                shapes[token][word.lower()] += times
    tokens = [token for token, written in shapes.items() if written and not _is_name(written)]
    total = how_many(view)
    everywhere = spread(view, tokens, total)
    worth = {t: _worth(often[t], len(texts), everywhere.get(t, 0), total) for t in tokens}
    best = sorted(tokens, key=lambda token: (-worth[token], token))[:most]
    return tuple(shapes[token].most_common(1)[0][0] for token in best)


def _worth(often: int, of: int, everywhere: int, total: int) -> float:
    """How often, times how much more often than elsewhere."""
    return often * math.log((often / of) / ((max(everywhere, often) + 1) / (total + 1)))


def _is_name(shapes: Counter[str]) -> bool:
    return shapes.most_common(1)[0][0].removesuffix("'s").removesuffix("’s") in GIVEN


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
    seen = {node.line: node for node in view.visible([one.line for one in found.values()])}
    ids = {line: node.id for line, node in seen.items()}
    texts = {node.id: node.content for node in seen.values()}
    made = [
        Relation(name, s.talks, s.mentions, s.mentioned, s.together, s.last, ids.get(s.line))
        for name, s in found.items()
    ]
    kept = [one for one in made if one.evidence or one.times > 1]
    kept.sort(key=lambda one: (-one.times, -one.last_at, one.name))
    return tuple(
        replace(one, name=_as_written(view, one.name, texts.get(one.evidence or "", "")))
        for one in kept[:RELATIONS]
    )


def _as_written(view: View, name: str, text: str) -> str:
    """A folded name as the evidence spells it, else as its speaker does."""
    found = re.search(rf"\b{re.escape(name)}\b", text, re.I)
    return found[0] if found else people.written(view, name) or name


# Landmarks -------------------------------------------------------------------------------------------


def _told_of(rows: ProfileRows, who: Person) -> dict[int, float]:
    """Lineage → weight of the landmarks that the person tells, or that others tell of them by name."""
    found: dict[int, float] = {}
    for speaker, theirs in rows.tallies.items():
        for marker in (one for markers in theirs.landmarks.values() for one in markers):
            if speaker in who.speakers or who.called & set(words(marker.of.lower())):
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


def milestones(view: View, lines: Collection[int]) -> tuple[Milestone, ...]:
    """The landmarks that these texts tell, as they may be seen, in the order in which they happened."""
    return _in_order(_milestones(view, lines))


def _milestones(view: View, lines: Collection[int], who: Person | None = None) -> list[Milestone]:
    found = []
    for node in view.visible(sorted(set(lines))):
        for mark in landmarks(node.content):
            theirs = who is None or who.called & {node.name.lower(), *mark.of.lower().split()}
            if theirs or (who is not None and _spoken_by(who, node)):
                sentence = _sentence(node.content, mark.start)
                at = _when(sentence, node)
                found.append(
                    Milestone(
                        mark.kind, at, mark.of, sentence, mark.weight, node.name, node.valid.start, node.id
                    )
                )
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
