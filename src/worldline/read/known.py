"""What is believed of the people and things a question names, which of it came first, and which holds now.

It decides which facts are worth showing beside the verbatim evidence, and whether the question can be
answered: from the facts and the best evidence, or by walking from fact to fact (`read/answers.py`).

A question that names its answers ("the engagement or the race?", "put in order: …") is answered by
looking for each of them on its own: the text that tells of it best dates it, by the date in the
sentence, else by when it was said. All of them have to be found, each in another sentence and none of
them doubted; else there is no answer. The answer has the question's own words.

>>> listed("Which came first, the move to Oslo or the wedding?")
Alternatives(things=('the move to Oslo', 'the wedding'), pick='first')

Of turns that speak of one matter, the one that holds now leads. A turn is
outdated where the fact of it that meets the question best is over: then a turn that took its place
goes before it. Without facts, how likely a turn is the newer version of an earlier one is weighed by what both
say of the question and beyond it, by words of change, and by how far it lies behind (`OVERTAKES`). Who asks for
what was gets the older one first. Only the order among the best changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from worldline.clock import FOREVER, Instant, to_datetime
from worldline.lexicon import lines
from worldline.model import Believed, Hit
from worldline.ports import View
from worldline.read.answers import Reply, ViewGraph, reply, walk
from worldline.read.candidates import (
    LONGEST,
    Item,
    SaidTurn,
    behind,
    nearest_dates,
    of_facts,
    of_turns,
    phrases,
)
from worldline.read.cues import Asked, plain
from worldline.read.cues import read_question as read_names
from worldline.read.score import DAY, Board, Need, Turn, Unit, degrees, needs, units
from worldline.read.weighing import DETAILS, SPANS, About, Ground, asks_for_own_name, overtaken, reach, suited
from worldline.reading.claim import assistants, is_one_person, is_user, stem
from worldline.reading.families import families
from worldline.reading.questions import Question, Whose, read_question
from worldline.reading.read import Reading
from worldline.rules.describe import NAME, NUMBER
from worldline.rules.happenings import SaidSentence, cut_all, only_asks, sentences
from worldline.store.people import only_speaker
from worldline.store.search import Drawn, FactAround, facts_and_held, facts_near, held_now
from worldline.text import estimate_tokens, fold, inert, stop, tokens, words

if TYPE_CHECKING:
    from worldline.read.answers import Likeness


SHARE = 0.4
"""The part of a budget that facts may take."""
MOST_FACTS, MOST_HELD = 8, 200
"""So many facts are shown, and so many looked at for that."""
WALKABLE = 60
"""An entity of whom more than this is believed is a speaker, not the start of a walk."""
SURE = 0.5
TURNS = 8
"""So many of the best turns are searched for an answer."""
USER = "user"
"""Whom facts speak of when the user speaks and nobody says who that is."""


_FIRST_PERSON = re.compile(r"\b(?:I|my|me|we|our|us)\b", re.I)


class Told(Struct, frozen=True):
    """An answer in words, the memories that prove it, and how it was found."""

    text: str
    proof: tuple[str, ...]
    how: str = ""
    turn: int = 0
    """The turn that says it best; 0 where none is at hand."""


class Known(Struct, frozen=True):
    """Facts that speak to the question, and its answer, if there is a sure one."""

    facts: tuple[Believed, ...] = ()
    answer: Told | None = None
    reach: float | None = None
    """How near a value comes to being the answer, from 0 to 1; None where no value is asked for."""
    detail: bool | None = None
    """Whether a number, a name, a place or a thing is asked for; None where the question was not read."""

    def shown(self, budget: int) -> str:
        """Both as text, within their share of the budget."""
        lines = (
            [f"Answer from what is believed: {inert(self.answer.text)}{self.answer.how}"]
            if self.answer
            else []
        )
        lines += [f"Believed: {inert(fact.text)}" for fact in self.facts]
        room, kept = int(budget * SHARE), list[str]()
        for line in lines:
            room -= estimate_tokens(line) + 1
            if room < 0:
                break
            kept.append(line)
        return "\n".join(kept)


def known(
    view: View,
    asked: Asked,
    likeness: Likeness | None,
    hits: Sequence[Hit] = (),
    readings: Mapping[int, bytes] = {},
) -> Known:
    """Facts and, where it is sure, the answer; `readings` are of the hits that may be trusted."""
    question = _read(asked) if hits else None
    mine = _asker(view, question, hits)
    graph = ViewGraph(view, mine)
    mentions = read_names(plain(asked.text), graph.link).mentions
    lines = [int(m.entity) for m in mentions]
    if question is None and (lines or _FIRST_PERSON.search(asked.text)):
        question = _read(asked)
        mine = _asker(view, question, hits)
    if mine:
        lines += [int(line) for line in graph.link(mine).values()]
    wanted = question is not None and question.wants in SPANS
    turns = said_turns(hits, readings, view.valid) if wanted else None
    if turns is None:
        around, held = list[FactAround](), held_now(view, lines, MOST_HELD)
    else:
        around, held = facts_and_held(view, lines, [turn.key for turn in turns], MOST_HELD, asked.terms)
    chosen = _relevant(held.telling, asked, 1 if mentions else 2)
    walking = likeness if mentions and held.number <= WALKABLE else None
    if question is None:
        return Known(chosen, _walked(asked, graph, walking))
    detail = question.wants in DETAILS
    if turns is None:
        return Known(chosen, detail=detail)
    ground, items = gathered(view, question, mine, turns, around)
    able = suited(ground, items)
    near, found = reach(ground, able), reply(ground, items, able)
    if found is not None:
        return Known(chosen, Told(found.text, _proof(found, hits), turn=found.items[0].turn), near, detail)
    walked = _walked(asked, graph, walking, ground, items) if _is_walkable(ground) else None
    return Known(chosen, walked, near, detail)


def _read(asked: Asked) -> Question | None:
    return read_question(asked.text, to_datetime(asked.asked_at or 0))


def _is_walkable(ground: Ground) -> bool:
    """Whether facts alone may tell: a value of the wanted kind, and not what was at another time.

    Records that nobody says state values; only somebody who talks speaks of what was and what changed.
    """
    if ground.question.wants not in ("name", "place", "thing"):
        return False
    return ground.question.mode not in ("former", "at") or not any(ground.speakers.values())


def _walked(
    asked: Asked,
    graph: ViewGraph,
    likeness: Likeness | None,
    ground: Ground | None = None,
    items: Sequence[Item] = (),
) -> Told | None:
    """The answer of the walk, where it is sure and no later evidence speaks of a change."""
    if likeness is None:
        return None
    found = walk(asked.text, graph, likeness, 1)
    if not found.chains or found.confidence < SURE:
        return None
    chain = found.chains[0]
    facts = {int(hop.fact) for hop in chain.hops}
    talked = ground if ground is not None and any(ground.speakers.values()) else None
    if talked and any(item.fact in facts and overtaken(talked, item) for item in items):
        return None
    if talked and any(
        hop.inverse and set(tokens(hop.phrase)).isdisjoint(tokens(asked.text)) for hop in chain.hops[:-1]
    ):
        return None  # where Sven works is not where she works whose partner he is
    steps = "; ".join(f"{hop.phrase}{' (from the other end)' if hop.inverse else ''}" for hop in chain.hops)
    how = f" ({len(chain.hops)} step{'s' if len(chain.hops) > 1 else ''}: {steps})"
    return Told(chain.name, tuple(graph.ids[int(hop.fact)] for hop in chain.hops), how)


# From facts and evidence ------------------------------------------------------------------------------


def _proof(found: Reply, hits: Sequence[Hit]) -> tuple[str, ...]:
    """The facts that say it, else the turn that does."""
    facts = [item.id for item in found.items if item.fact and item.role != ""]
    turns = {hit.node.key: hit.node.id for hit in hits}
    proof = facts[:4] or [turns[item.turn] for item in found.items[:1] if item.turn]
    return tuple(dict.fromkeys(proof))


def said_turns(hits: Sequence[Hit], readings: Mapping[int, bytes], now: Instant) -> list[SaidTurn]:
    """The best turns that may be trusted, cut into sentences."""
    trusted = [hit for hit in hits[:TURNS] if hit.node.key in readings or hit.node.type != "Turn"]
    said = cut_all([hit.node.content[:LONGEST] for hit in trusted])
    return [_turn(hit, readings.get(hit.node.key), cut, now) for hit, cut in zip(trusted, said, strict=True)]


def gathered(
    view: View,
    question: Question,
    mine: Collection[str],
    turns: Sequence[SaidTurn],
    facts: Sequence[FactAround],
) -> tuple[Ground, list[Item]]:
    """What an answer is weighed on, and all candidates; `facts` are those near the question and these turns."""
    by_key = {turn.key: turn for turn in turns}
    whom = _whom(question, facts, mine)
    further = whom.meant - {fold(f.subject_name) for f in facts}
    more = [f.object for f in facts if f.object and fold(f.value) in further] if further else []
    if more:
        held = {f.node for f in facts}
        facts = [*facts, *(f for f in facts_near(view, more, ()) if f.node not in held)]
    now = _moment(question, view.valid)
    anchors = frozenset(filter(None, (question.verb, stem(question.noun) if question.noun else "")))
    never = frozenset[str]() if asks_for_own_name(question) else whom.names | whom.me
    items = [
        *of_facts(facts, by_key, now, never),
        *of_turns(turns, SPANS[question.wants]),
        *behind(turns, anchors),
    ]
    if question.wants == "thing":
        items += phrases(turns)
    ground = Ground(
        question, whom, {turn.key: at for at, turn in enumerate(turns)}, {turn.key: turn.text for turn in turns},
        {turn.key: turn.said_at for turn in turns if turn.changes},
        {turn.key: fold(turn.speaker) for turn in turns}, assistants([turn.speaker for turn in turns]),
    )  # fmt: skip
    return ground, items


def _moment(question: Question, now: Instant) -> Instant:
    """When what is asked about is so: "in January" is past by now, and what came later did not hold."""
    if question.mode != "at" or question.when is None or question.wants == "date":
        return now
    begins, end = question.when
    return begins if begins > now else min(now, end - 1)


def _turn(hit: Hit, packed: bytes | None, cut: Sequence[SaidSentence], now: Instant) -> SaidTurn:
    said_at = hit.node.valid.start if hit.said_at is None else hit.said_at
    node, changes = hit.node, _says_change(packed, now)
    return SaidTurn(node.key, node.content, hit.speaker, said_at, hit.utc_offset, changes, cut)


_DECODER = msgspec.msgpack.Decoder(Reading)


def _says_change(packed: bytes | None, now: Instant) -> bool:
    """Whether a turn speaks of a change, as it was read; not if that is still to come."""
    if not packed:
        return False
    try:
        said = _DECODER.decode(packed)
    except msgspec.MsgspecError:  # read by another version
        return False
    changing = [c for c in said.claims if c.effect != "holds" or c.switches]
    if changing and all(c.ahead or (c.valid_from or 0) > now + DAY for c in changing):
        return said.corrects
    return said.corrects or said.cues.change or bool(changing)


def _asker(view: View, question: Question | None, hits: Sequence[Hit]) -> frozenset[str]:
    """Whom "I" means: the bound user by all their names, the only one who speaks here, or just the user."""
    if question is None or not question.mine:
        return frozenset()
    user = view.scope.user
    heard = {fold(hit.speaker) for hit in hits if user and is_one_person(user, hit.speaker)}
    if user and len(heard) > 1:  # two who share the name
        heard &= {fold(user)}
    if not heard and not (user and any(is_user(hit.speaker) for hit in hits)):
        heard = {only_speaker(view)}
    return frozenset(fold(name) for name in (*heard, *((user, USER) if user else ())) if name)


def _whom(question: Question, facts: Sequence[FactAround], mine: Collection[str]) -> About:
    """The names in a question and whom its roles mean, as far as facts tell."""
    names = {fold(name) for name in question.names} | set(mine)
    roles: dict[str, frozenset[str]] = {}
    meant: set[str] = set()
    for whose in question.whose:
        if whose.name and not whose.name[:1].isupper():
            continue
        start = {fold(whose.name)} if whose.name else set(mine)
        meant |= _follow(whose, start, facts, roles, question.noun)
    return About(frozenset(n for n in names if n), frozenset(meant or names), roles, frozenset(mine))


def _follow(
    whose: Whose, start: set[str], facts: Sequence[FactAround], roles: dict[str, frozenset[str]], noun: str
) -> set[str]:
    """Those whom the roles lead to, one after the other; what is asked for itself is not followed."""
    here = start
    for role in whose.roles:
        last = role.split()[-1]
        slots = {
            named.family.name
            for named in families().by_noun(role)
            if named.family.object in ("person", "animal")
        }
        found = {
            fold(f.value)
            for f in facts
            if f.slot in slots
            and f.object
            and _is_one_of(f.subject_name, here)
            and f.end == FOREVER
            and not f.withdrawn
        }
        if not found or last == noun:
            break
        roles[stem(last)] = frozenset(found)
        here = found
    return here


def _is_one_of(name: str, names: Collection[str]) -> bool:
    folded = set(fold(name).split())
    return any(set(n.split()) <= folded for n in names if n)


def _relevant(believed: Sequence[Believed], asked: Asked, least: int = 1) -> tuple[Believed, ...]:
    """Facts that share words with the question beyond the name itself: best overlap first, then crystals."""
    terms = set(asked.terms)
    scored = []
    for place, fact in enumerate(believed):
        said = terms.intersection((*tokens(fact.text), *fact.slot.partition("|")[0].split()))
        overlap = len(said.difference(tokens(fact.subject))) if said else 0
        if overlap >= least:
            scored.append((-overlap, fact.stage != "crystal", place, fact))
    return tuple(fact for *_, fact in sorted(scored, key=lambda s: s[:3])[:MOST_FACTS])


# Which came first ------------------------------------------------------------------------------------


MOST_THINGS = 6
"""Things that are set beside each other."""
MET = 0.5
"""The share of a thing's words that one sentence has to hold."""
_EARLY, _LATE = "first|earlier|earliest|sooner|before", "later|last|latest|second|after|most recent(?:ly)?"
_PAIR = re.compile(
    rf"^\W*(?:which|what)\b[^,:?]*?\b(?:(?P<early>{_EARLY})|(?:{_LATE}))\b[^,:?]*[,:]\s*"
    r"(?P<one>[^?]+?),?\s+or\s+(?P<other>[^?]+?)\W*$"
    r"|^\W*did (?P<this>[^?]+?) or (?P<that>[^?]+?) (?:come|happen|take place|start) "
    rf"(?:(?P<soon>{_EARLY})|(?:{_LATE}))\W*$",
    re.I,
)
_ROW = re.compile(
    r"\b(?:in (?:the |what |which )?(?:\w+ )?order|chronological\w*)\b[^:]*:\s*(?P<row>.+?)[.?!\s]*$", re.I
)
_SETS_BESIDE = re.compile(r"\sor\s|:", re.I)
"""What every question has that sets things beside each other."""
_AND = re.compile(r",\s*(?:and\s+)?|;\s*(?:and\s+)?")


class Alternatives(Struct, frozen=True):
    """The things that a question names as its answers, and which of them it asks for."""

    things: tuple[str, ...]
    pick: str
    """first, last, or all of them in order."""


class DatedThing(Struct, frozen=True):
    """A thing, the text that tells of it, and when it happened as far as that says."""

    thing: str
    turn: int
    id: str
    at: Instant
    sentence: str


class Telling(Struct, frozen=True):
    """A text that may tell of a thing."""

    key: int
    id: str
    text: str
    said_at: Instant
    offset: int


def listed(question: str) -> Alternatives | None:
    """What a question sets beside each other, if it does."""
    found = None
    if not _SETS_BESIDE.search(question):
        return None
    if pair := _PAIR.match(question):
        things = (pair["this"], pair["that"]) if pair["this"] else (pair["one"], pair["other"])
        found = Alternatives(things, "first" if pair["early"] or pair["soon"] else "last")
    elif row := _ROW.search(question):
        found = Alternatives(tuple(part.strip() for part in _AND.split(row["row"]) if part.strip()), "all")
    return (
        found
        if found and 2 <= len(found.things) <= MOST_THINGS and all(map(_happens, found.things))
        else None
    )


def _happens(thing: str) -> bool:
    """Whether this can be an event: a name alone is somebody of whom many things are told."""
    return any(word.islower() and words(word) and words(word)[0] not in stop() for word in thing.split())


def in_order(
    asked: Alternatives, look: Callable[[str], Sequence[Telling]]
) -> tuple[str, tuple[DatedThing, ...]] | None:
    """The answer and what it rests on, the earliest first; None where one thing is not found, or two at one time."""
    found: list[DatedThing] = []
    for thing in asked.things:
        best = _told(thing, look(thing))
        if best is None or any(best.sentence == other.sentence or best.at == other.at for other in found):
            return None
        found.append(best)
    found.sort(key=lambda dated: dated.at)
    if asked.pick == "all":
        return "; ".join(dated.thing for dated in found), tuple(found)
    chosen = found[0 if asked.pick == "first" else -1]
    return chosen.thing, (chosen, *(dated for dated in found if dated is not chosen))


def _told(thing: str, texts: Sequence[Telling]) -> DatedThing | None:
    """The sentence that holds most of a thing's words; of equals the one found first."""
    wanted = {word for word in words(thing) if word not in stop()}
    best, most = None, 0.0
    for text in texts:
        for begin, end in sentences(text.text):
            sentence = text.text[begin:end]
            if only_asks(sentence):
                continue
            share = len(wanted & set(words(sentence))) / len(wanted) if wanted else 0.0
            if share > most:
                best, most = DatedThing(thing, text.key, text.id, _when(sentence, text), sentence), share
    return best if most >= MET else None


def _when(sentence: str, text: Telling) -> Instant:
    said_at: datetime = to_datetime(text.said_at, text.offset)
    dates = [span for span in nearest_dates(sentence, said_at) if span.role != "end"]
    return dates[0].start if dates else text.said_at


# The present before the past -------------------------------------------------------------------------


Tense = Literal["now", "then", ""]

DEPTH = 10
LEADERS = 5
"""Only before so many of the best may a newer turn be put."""
NEARLY = 1.0
"""How much lower the older one's score may be, where what was is asked for."""
OVERTAKES: Mapping[str, float] = {
    "always": 0.2,
    "behind": -1.9,
    "far down": -1.9,
    "tells a change": 1.3,
    "asked as of now": 1.0,
    "asked how or for all": -1.1,
    "words of the question": 1.3,
    "share of other words": 2.2,
    "long after": 0.4,
}
"""What speaks for a later turn being the newer version of an earlier one: a logistic fit over pairs of which one is the
evidence, in small memories, little histories, stories and public talks by eight hands, each set counting the same,
checked on the hands that were left out. The constant asks for nine tenths more than even odds."""
HALF = 0.5
"""Who tells no change has to tell as much of what is asked as this share of what the older turn tells."""
ALL_BUT = 0.99
"""Where one of two says nothing beside the question, the other has to say all that it says of it."""
SPEAKS = 0.3
"""The share of the question that a fact must meet for its end to count."""
CHOSEN = ("this session", "strength")
"""Factors that a turn has because somebody asked here, or found it useful: its date does not outweigh them."""
LONG_AGO = 400 * DAY
"""Who dates something so far back does not speak of the present."""

_NOW = re.compile(
    r"\b(?:now|current\w*|still|latest|most recent\w*|these days|nowadays|at present|at the moment|so far|"
    r"lately|today|any ?more|any longer|in the end|real(?:ly)?|new|newest)\b"
    r"|\blast\b(?! (?:week|weekend|month|quarter|year|night|evening|spring|summer|autumn|fall|winter|name|few|couple"
    r"|\d+|two|three|four|five|\w+day|january|february|march|april|may|june|july|august|\w+ber)\b)",
    re.I,
)
_IS = re.compile(
    r"\b(?:is|are|am|do|does|can|should|may|must|will)\b|\b(?:who|what|where|how|when)['’]?s\b"
    r"|^\W*how (?:many|much|often|long|far|old)\b.*\b(?:has|have)\b"
    r"|^\W*(?:who|what|which(?: \w+){1,2}) \w+[^\Ws]s\b",
    re.I,
)
_NO_STATE = re.compile(
    r"\b(?:going|planning|planned|considering|between|different|across|altogether|total|ever"
    r"|each(?! (?:day|week|month|year)))\b",
    re.I,
)
"""What is ahead, or reckoned from several things, is no state that one text tells."""
_MANNER = re.compile(r"^\W*(?:how (?:do|does|is|are|has|have)|what (?:are|do|does))\b", re.I)
"""Who asks how somebody does something, or what they do, asks for all of it and not for the latest."""
_WAS = re.compile(r"\b(?:did|was|were|had|been)\b", re.I)
_THEN = re.compile(
    r"\b(?:initial\w*|original\w*|previous\w*|former\w*|before|at first|first|used to|earlier|earliest|prior|back then|"
    r"at the time|in the past|to begin with|beginning|the old|until|once)\b",
    re.I,
)


def tense(asked: Asked, *, chosen: bool = False) -> Tense:
    """Whether a question asks how things are, how they were before, or for neither.

    Where a moment is chosen, "was" and a date mean how things are at it.
    """
    if asked.broad or asked.advice or asked.to_assistant:
        return ""
    if _THEN.search(asked.text) and not _NOW.search(asked.text):
        return "then"
    if (asked.windows and not chosen) or asked.why or _NO_STATE.search(asked.text):
        return ""
    if _NOW.search(asked.text):
        return "now"
    if asked.several and not asked.wants & NUMBER:
        return ""
    is_now = bool(_IS.search(asked.text)) and not _WAS.search(asked.text)
    return "now" if chosen or is_now else ""


_ALL_ALONG = (" sinc ", " all along ", " whole time ", " from the start ", " never ", " alway ")


def reaches_back(turn: Turn, moment: int) -> bool:
    """Whether a text that was said after a moment tells of it: it names an earlier date, or how it was all along."""
    said = turn.described.words
    return any(start <= moment for start, _ in turn.described.dates) or any(cue in said for cue in _ALL_ALONG)


def outdated(asked: Asked, drawn: Sequence[Drawn], *, chosen: bool = False) -> dict[int, tuple[int, ...]]:
    """Turn → the turns that took its place, where the fact of it that meets the question best is over.

    What was withdrawn never held, whenever the question asks about; what has ended was right before.
    """
    wish = tense(asked, chosen=chosen)
    past = {fact.turn for fact in drawn if fact.later and _is_past(fact, wish)}
    facts: dict[int, list[Drawn]] = {}
    for fact in drawn:
        if fact.turn in past:
            facts.setdefault(fact.turn, []).append(fact)
    wanted = needs(asked) if past else ()
    found = {}
    for turn, told in facts.items():
        shares = [_share(asked, wanted, fact.text) for fact in told]
        over = [
            fact
            for fact, share in zip(told, shares, strict=True)
            if 0 < share == max(shares) and _is_past(fact, wish)
        ]
        if later := dict.fromkeys(node for fact in over for node in fact.later):
            found[turn] = tuple(later)
    return found


def _is_past(fact: Drawn, wish: Tense) -> bool:
    return fact.over and (wish == "now" or fact.wrong is (wish == ""))


def _share(asked: Asked, wanted: Sequence[Need], fact: str) -> float:
    """How much of the question a fact meets; nothing where that is little, or it is of somebody or something else."""
    said = tokens(fact)
    met = degrees(wanted, " ".join(said))
    if any(need.word[:1].isupper() and not degree for need, degree in zip(wanted, met, strict=True)):
        return 0.0
    if asked.people and not any(token in said for name in asked.people for token in tokens(name)[:1]):
        return 0.0
    total = sum(need.weight for need in wanted if need.stem)
    share = (
        sum(need.weight * degree for need, degree in zip(wanted, met, strict=True)) / total if total else 1.0
    )
    return share if share >= SPEAKS else 0.0


def in_time(
    asked: Asked,
    board: Board,
    order: Sequence[int],
    replaced: Mapping[int, Sequence[int]] = {},
    *,
    chosen: bool = False,
) -> list[int]:
    """The order with what holds now before what it took the place of, or after it, as the question asks."""
    wish = tense(asked, chosen=chosen)
    ordered = _by_facts(board, list(order), _at_hand(asked, board, order, replaced), wish)
    if wish != "then":
        return _by_date(asked, board, ordered, only_corrections=not wish)
    return (
        _before_that(asked, board, ordered) if _BEFORE.search(asked.text) else _first(asked, board, ordered)
    )


def _at_hand(
    asked: Asked, board: Board, order: Sequence[int], replaced: Mapping[int, Sequence[int]]
) -> dict[int, list[int]]:
    """What took a turn's place, where the question finds it too or it speaks of the same thing as that turn.

    A fact may be closed by a turn about something else; such a turn is no evidence for what it closed.
    """
    concerned = {key for old, later in replaced.items() for key in (old, *later)}
    said = {turn.key: _content(turn) for turn in board.turns if turn.key in concerned}
    best = {board.turns[at].key for at in order[:DEPTH]}
    named = _names(asked)
    return {
        old: [new for new in later if new in best or (said.get(new, _NO) & said.get(old, _NO)) - named]
        for old, later in replaced.items()
    }


_NO: frozenset[str] = frozenset()


def _names(asked: Asked) -> set[str]:
    """The stems of the names in a question."""
    named = {need.stem for need in needs(asked) if need.word[:1].isupper()}
    return named | {token for name in asked.people for token in tokens(name)}


def _content(turn: Turn) -> frozenset[str]:
    """The stems of a turn that say something."""
    said = {token for token in turn.described.words.split() if len(token) > 2 and token.isalnum()}
    return frozenset(said - stop() - {turn.speaker})


def _by_facts(
    board: Board, order: list[int], replaced: Mapping[int, Sequence[int]], wish: Tense
) -> list[int]:
    place_of = {board.turns[at].key: at for at in order}
    for old in order[:DEPTH]:
        later = [place_of[key] for key in replaced.get(board.turns[old].key, ()) if key in place_of]
        later = [new for new in later if _is_later(board.turns[old], board.turns[new])]
        if not wish:
            later = [new for new in later if _says_sorry(board.turns[new])]
        if not later:
            continue
        if wish != "then":
            new = max(later, key=lambda at: (board.turns[at].said_at or 0, board.turns[at].key))
            _put_before(order, new, old)
        else:
            for new in later:
                _put_before(order, old, new)
    return order


def _put_before(order: list[int], first: int, second: int) -> None:
    a, b = order.index(first), order.index(second)
    if a > b:
        order.insert(b, order.pop(a))


def _is_later(old: Turn, new: Turn) -> bool:
    return (
        old.said_at is not None
        and new.said_at is not None
        and new.said_at >= old.said_at
        and new.key > old.key
    )


def _by_date(asked: Asked, board: Board, order: list[int], *, only_corrections: bool) -> list[int]:
    """The order with the latest version of each statement among the best before the others.

    What happened once has no newer version, unless somebody corrects what was said of it.
    """
    may = {at for at in order[:DEPTH] if not only_corrections or _takes_back(board.turns[at])}
    if not may:
        return order
    versions = _Versions(asked, board, order[:DEPTH])
    for place in range(min(LEADERS, len(order))):
        old = order[place]
        newer = [new for new in order[place + 1 : DEPTH] if new in may and versions.odds(old, new) > 0]
        if newer:
            new = max(newer, key=lambda at: (board.turns[at].said_at or 0, board.turns[at].key))
            order.insert(place, order.pop(order.index(new)))
    return order


def _first(asked: Asked, board: Board, order: list[int]) -> list[int]:
    """The order with the earliest of like statements first, where its score is nearly that of a later one."""
    versions = _Versions(asked, board, order[:DEPTH])
    for place in range(min(LEADERS, len(order))):
        new = order[place]
        older = [
            old
            for old in order[place + 1 : DEPTH]
            if board.scores[new] - board.scores[old] <= NEARLY and versions.odds(old, new) > 0
        ]
        if older:
            old = min(older, key=lambda at: (board.turns[at].said_at or 0, board.turns[at].key))
            order.insert(place, order.pop(order.index(old)))
    return order


class _Versions:
    """The best turns of a pool, and which of them are later versions of which."""

    def __init__(self, asked: Asked, board: Board, best: Sequence[int]) -> None:
        self.asked, self.board, self.wanted = asked, board, needs(asked)
        self.held = dict(zip(best, units(asked, self.wanted, [board.turns[at] for at in best]), strict=True))
        self.total = sum(need.weight for need in self.wanted if need.stem) or 1.0
        self.place = {at: place for place, at in enumerate(best)}
        heard = {token for name in {turn.speaker for turn in board.turns} for token in tokens(name)}
        asked_for = _names(asked) | {need.stem for need in self.wanted} | heard | _greetings()
        said = {at: {word for word in _content(board.turns[at]) if word.isalpha()} for at in best}
        self.further = {at: words - asked_for for at, words in said.items()}
        self.changes = {at for at in best if _tells_change(board.turns[at].described.words)}
        self.chosen = [board.parts[name] for name in CHOSEN if name in board.parts]
        self.now = bool(_NOW.search(asked.text) or _THEN.search(asked.text))
        self.openly = bool(_MANNER.search(asked.text)) and not _NOW.search(asked.text)

    def odds(self, old: int, new: int) -> float:
        """Above 0 where the later turn is more likely a newer version of the earlier one than not."""
        a, b = self.board.turns[old], self.board.turns[new]
        if not self._may_be(a, b) or any(part[old] > part[new] for part in self.chosen):
            return -math.inf
        of_both = self._told(old, new)
        if not of_both or not self._of_those(a, self.held[new]) or not _is_now(b, self.held[new]):
            return -math.inf
        alike = of_both / self._told(old, old)
        if alike < HALF and new not in self.changes:
            return -math.inf
        ours, theirs = self.further[old], self.further[new]
        fewer = min(len(ours), len(theirs))
        behind = float(self.board.scores[old] - self.board.scores[new])
        measures = {
            "always": 1.0,
            "behind": math.copysign(math.log1p(abs(behind)), behind),
            "far down": math.log1p(max(self.place[old], self.place[new])),
            "tells a change": float(new in self.changes),
            "asked as of now": self.now * alike,
            "asked how or for all": float(self.openly),
            "words of the question": of_both / self.total,
            "share of other words": len(ours & theirs) / fewer if fewer else float(alike > ALL_BUT),
            "long after": math.log1p(((b.said_at or 0) - (a.said_at or 0)) / DAY),
        }
        return sum(OVERTAKES[name] * value for name, value in measures.items())

    def _told(self, one: int, other: int) -> float:
        """How much of what is asked both of two turns tell."""
        met = zip(self.wanted, self.held[one].degrees, self.held[other].degrees, strict=True)
        return sum(need.weight * min(x, y) for need, x, y in met if need.stem)

    def _may_be(self, old: Turn, new: Turn) -> bool:
        """Said later, by whoever may speak of the same matter, with the same kind of value."""
        if not _is_later(old, new) or new.said_at == old.said_at or "assistant" in (old.role, new.role):
            return False
        if old.speaker != new.speaker and self.asked.people:
            return False
        kinds = self.asked.wants & ~NAME
        return not kinds or bool(old.described.flags & kinds and new.described.flags & kinds)

    def _of_those(self, old: Turn, new: Unit) -> bool:
        """Whether the newer one begins with no relative of whom neither the older one nor the question speaks."""
        kin = _kin().intersection(new.sentence.split()[:3])
        return kin <= {*old.described.words.split(), *tokens(self.asked.text)}


def _tells_change(said: str) -> bool:
    """Whether a text, as stems, has one of the phrases that tell of a change."""
    tokens = said.split()
    return any(
        phrase == tokens[at : at + len(phrase)]
        for at, token in enumerate(tokens)
        for phrase in _change_phrases().get(token, ())
    )


@cache
def _change_phrases() -> Mapping[str, Sequence[list[str]]]:
    """The phrases that tell of a change, as stems, by the first of them."""
    found: dict[str, list[list[str]]] = {}
    for line in (*lines("change_cues.txt"), *lines("leaving_cues.txt")):
        if stems := list(tokens(line)):
            found.setdefault(stems[0], []).append(stems)
    return found


def _says_sorry(turn: Turn) -> bool:
    return not _corrections().isdisjoint(turn.described.words.split())


@cache
def _corrections() -> frozenset[str]:
    return frozenset(tokens("sorry wrong correction mistake meant"))


def _takes_back(turn: Turn) -> bool:
    """Whether a turn says that something told was wrong, and not only that somebody is sorry."""
    return not _errors().isdisjoint(turn.described.words.split())


@cache
def _errors() -> frozenset[str]:
    return frozenset(tokens("correction mistake misread misheard incorrect error"))


@cache
def _greetings() -> frozenset[str]:
    return frozenset(token for line in lines("openers.txt") for token in tokens(line))


_BEFORE = re.compile(r"\b(?:before|prior to|until)\s+(?!\w+ing\b)(?P<tail>[^,;?\d]+)[,;?]", re.I)
LEFT = 0.5
"""The share of what is asked, without what came after, that the turn of the time before must meet."""


def _before_that(asked: Asked, board: Board, order: list[int]) -> list[int]:
    """ "Who was it before Chidi?": what names the one after, or was said later, does not tell the one before."""
    tail = _BEFORE.search(asked.text)
    if tail is None or not order:
        return order
    after = set(tokens(tail["tail"]))
    wanted = [need for need in needs(asked) if need.stem and need.stem not in after]
    total = sum(need.weight for need in wanted)
    first = board.turns[order[0]]
    for at in order[1:DEPTH] if total else ():
        turn = board.turns[at]
        said = turn.described.words
        met = degrees(wanted, said)
        share = sum(need.weight * degree for need, degree in zip(wanted, met, strict=True)) / total
        names = {need.stem for need in needs(asked) if need.stem in after and need.word[:1].isupper()}
        if (
            share >= LEFT
            and (turn.said_at or 0) < (first.said_at or 0)
            and names.isdisjoint(said.split())
            and turn.role != "assistant"
        ):
            order.remove(at)
            order.insert(0, at)
            break
    return order


def _is_now(turn: Turn, unit: Unit) -> bool:
    """Whether the best sentence of a turn tells how things are: not what might be, is not, or was long ago."""
    tokens = set(unit.sentence.split())
    if not tokens.isdisjoint(_unreal()) or (
        not tokens.isdisjoint(_negations()) and tokens.isdisjoint(_over())
    ):
        return False
    dates = turn.described.dates
    return not dates or turn.said_at is None or any(end > turn.said_at - LONG_AGO for _, end in dates)


@cache
def _unreal() -> frozenset[str]:
    return frozenset(tokens("imagine wish"))


@cache
def _negations() -> frozenset[str]:
    return frozenset(tokens("don't doesn't didn't isn't aren't wasn't haven't hasn't never"))


@cache
def _over() -> frozenset[str]:
    return frozenset(tokens("longer anymore more"))


@cache
def _kin() -> frozenset[str]:
    return frozenset(
        tokens(
            " ".join(lines("kin.txt")) + " wife husband partner boyfriend girlfriend friend colleague boss"
        )
    )
