"""What is believed of the people and things a question names, and which of it came first.

It decides which facts are worth showing beside the verbatim evidence, and whether the question can be
answered: from the facts and the best evidence, or by walking from fact to fact (`read/answers.py`).

A question that names its answers ("the engagement or the race?", "put in order: …") is answered by
looking for each of them on its own: the text that tells of it best dates it, by the date in the
sentence, else by when it was said. All of them have to be found, each in another sentence and none of
them doubted; else there is no answer. The answer has the question's own words.

>>> listed("Which came first, the move to Oslo or the wedding?")
Alternatives(things=('the move to Oslo', 'the wedding'), pick='first')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from worldline.clock import FOREVER, Instant, to_datetime
from worldline.model import Believed, Hit
from worldline.ports import CloseReading, View
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
from worldline.read.closely import SURE_ALONE, ReadValue, is_borne_out, pointed_at
from worldline.read.cues import Asked, nearest, plain
from worldline.read.cues import read_question as read_names
from worldline.read.score import DAY
from worldline.read.weighing import (
    DETAILS,
    SPANS,
    About,
    Ground,
    asks_for_own_name,
    key_of,
    overtaken,
    reach,
    suited,
)
from worldline.reading.claim import assistants, is_one_person, is_user, stem
from worldline.reading.families import families
from worldline.reading.questions import Question, Whose, read_question
from worldline.reading.read import Reading
from worldline.rules.happenings import SaidSentence, cut_all, only_asks, sentences
from worldline.store.people import only_speaker
from worldline.store.search import FactAround, facts_and_held, facts_near, held_now
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
    disputed: frozenset[str] = frozenset()
    """The ids of facts that openly contradict each other."""
    kept_back: tuple[str, ...] = ()
    """Facts that are not believed, where somebody looks at what is kept back."""
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
        lines += [
            f"Believed{', but contradicted' if fact.id in self.disputed else ''}: {inert(fact.text)}"
            for fact in self.facts
        ]
        lines += [f"Kept back, not believed: {inert(text)}" for text in self.kept_back]
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
    close: Mapping[int, CloseReading] = {},
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
    aside = [fact for fact in around if fact.doubtful]
    around = [fact for fact in around if not fact.doubtful]
    turns = [turn for turn in turns if turn.key not in {fact.event for fact in aside}]
    kept_back = tuple(fact.text for fact in aside if fact.end > view.valid)[:MOST_FACTS]
    ground, items = gathered(view, question, mine, turns, around)
    able = suited(ground, items)
    near, replied = reach(ground, able), reply(ground, items, able)
    told = None if replied is None else Told(replied.text, _proof(replied, hits), turn=replied.items[0].turn)
    believed = replied is not None and any(item.fact for item in replied.items)
    found = _heard(told, believed, pointed_at(question, turns, items, close), close) if close else told
    if found is None and _is_walkable(ground):
        found = _walked(asked, graph, walking, ground, items)
    sides = _at_odds(found, ground, around, view.valid) if found is not None else ()
    if found is not None and sides:
        found = _of_both(found, sides)
        among = {side.id for side in sides}
        chosen = (*(fact for fact in held.telling if fact.id in among), *chosen)
    disputed = frozenset(fact.id for fact in around if fact.disputed)
    return Known(tuple(dict.fromkeys(chosen))[:MOST_FACTS], found, disputed, kept_back, near, detail)


def _at_odds(found: Told, ground: Ground, facts: Sequence[FactAround], now: Instant) -> Sequence[FactAround]:
    """The disputed facts that an answer rests on, or says, and those that openly contradict them."""
    open_ = [f for f in facts if f.disputed and f.end > now and not f.withdrawn]
    about = ground.about.names | ground.about.meant
    value = key_of(found.text)
    own = [
        f for f in open_
        if f.id in found.proof
        or (key_of(f.value) == value and (f.event == found.turn or fold(f.subject_name) in about))
    ]  # fmt: skip
    against = [f for f in open_ if f not in own and any(_contradicts(f, other) for other in own)]
    return [*own, *against]


def _contradicts(one: FactAround, other: FactAround) -> bool:
    """Whether of two disputed facts each is the other side."""
    return one.subject == other.subject and (one.slot == other.slot or one.value == other.value)


def _of_both(found: Told, sides: Sequence[FactAround]) -> Told | None:
    """The answer with what contradicts it, where that is another value of the same; else none is told."""
    values = {key_of(side.value): side.value for side in sides}
    if len(values) < 2 or key_of(found.text) not in values:
        return None
    named = list(values.values())
    text = f"{', '.join(named[:-1])} or {named[-1]}"
    proof = tuple(dict.fromkeys((*found.proof, *(side.id for side in sides))))
    return Told(text, proof, " (what is believed is at odds)", found.turn)


def _heard(
    told: Told | None, believed: bool, pointed: ReadValue | None, close: Mapping[int, CloseReading]
) -> Told | None:
    """What facts and typed values say, if a close reading bears it out, else what that points at where it is sure."""
    if told is not None and is_borne_out(told.text, pointed, close, believed=believed):
        return told
    if pointed is None or pointed.chance(told.text if told else "") < SURE_ALONE:
        return None
    return Told(pointed.value, (pointed.id,), turn=pointed.turn)


_PLACING = (" in", " at", " on")
STEP = 0.5
"""How near a word of the question has to come to each step on the way to an answer."""


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
    asked_for = tokens(asked.text)
    if talked and any(
        max(nearest(word, frozenset(tokens(hop.phrase))) for word in asked_for) < STEP
        for hop in chain.hops[:-1]
    ):
        return None  # where Sven works is not where she works whose partner, or whose sister, he is
    if ground is not None and ground.question.wh == "who" and chain.hops[-1].phrase.endswith(_PLACING):
        return None  # who gets married in Ghent does not marry Ghent
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
    sure = [hit for hit in hits[:TURNS] if hit.node.status != "quarantined"]
    trusted = [hit for hit in sure if hit.node.key in readings or hit.node.type != "Turn"]
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
        facts = [*facts, *(f for f in facts_near(view, more, ()) if f.node not in held and not f.doubtful)]
    now = _moment(question, view.valid)
    anchors = frozenset(filter(None, (question.verb, stem(question.noun) if question.noun else "")))
    never = frozenset[str]() if asks_for_own_name(question) else whom.names | whom.me
    items = [
        *of_facts(facts, by_key, now, never, view.store.ends),
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
    return SaidTurn(node.key, node.content, hit.speaker, said_at, hit.utc_offset, changes, cut, node.id)


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
