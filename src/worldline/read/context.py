"""What an agent should know before the first word of a session, in one block within a budget.

It decides which kinds of knowledge belong there (who the user is, what was asked to hold from then on,
what comes up, holds, changed lately and was said last), which of each come first, and how a tight budget
is shared: one line of each kind in turn, so that no kind crowds out another. Every line names the memory
that it cites. The same store and moment give the same block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, EXACT, LATEST, Instant, calendar, to_datetime
from worldline.errors import InvalidInput, NotFound
from worldline.model import Node
from worldline.ports import View
from worldline.read.lanes import standing
from worldline.read.profile import Person, person
from worldline.reading.families import families
from worldline.store import search
from worldline.store.nights import verbatim
from worldline.store.people import only_speaker
from worldline.store.search import HeldFact
from worldline.text import estimate_tokens, visible

DAY = 86_400_000_000
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
    """The block for a user: the one named, the one bound, or the only one who speaks here."""
    if type(max_tokens) is not int or max_tokens < 1:
        raise InvalidInput(f"a budget is at least one token, not {max_tokens!r}")
    name = user or view.scope.user or only_speaker(view)
    who = _who(view, name)
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
