"""What speaks for a candidate: whether it can answer at all, and features that say how well.

Kinds must suit ("who" is never a date), what is over or taken back does not answer a question about
now, Ben's facts never answer about Ana, and the question's words have to be met by the sentence or by
the family of the relation. The weights that turn features into a probability stand in `read/answers.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from msgspec import Struct

from worldline.lexicon import KIND, asked_kinds, lines, tags_of, told
from worldline.lexicon import words as listed_words
from worldline.read.candidates import (
    FIRST_PERSON,
    Item,
    bears,
    clause,
    is_left,
    is_owned_otherwise,
    names_in,
    tells_a_beginning,
)
from worldline.read.cues import is_everyday, kin_of, nearest, relatives
from worldline.read.score import SLIP, is_slip
from worldline.reading.claim import PLAN, stem
from worldline.reading.families import families
from worldline.reading.parser import parse
from worldline.reading.questions import PLACE_NOUNS, Asks, Question, sorts_in
from worldline.text import fold, stop
from worldline.text import tokens as words

FITS: Mapping[str, Mapping[str, float]] = {
    "name": {"name": 1.0, "place": 0.3, "quoted": 0.6, "thing": 0.4},
    "place": {"place": 1.0, "name": 0.6, "thing": 0.5, "contact": 0.4, "spot": 0.8},
    "date": {"date": 1.0, "weekday": 0.5, "clock": 0.4, "part": 0.6},
    "clock": {"clock": 1.0, "date": 0.3, "part": 0.6},
    "weekday": {"weekday": 1.0, "date": 0.3},
    "duration": {"duration": 1.0},
    "length": {"duration": 1.0, "amount": 1.0},
    "money": {"money": 1.0, "count": 0.4, "figure": 0.7},
    "amount": {"money": 0.9, "amount": 1.0, "count": 0.4, "figure": 0.7},
    "count": {"count": 1.0},
    "age": {"age": 1.0, "count": 0.5, "duration": 0.6},
    "frequency": {"frequency": 1.0, "weekday": 0.4},
    "distance": {"amount": 1.0, "duration": 0.4},
    "code": {"code": 1.0, "contact": 1.0, "count": 0.4, "name": 0.3, "thing": 0.5},
    "thing": {"thing": 1.0, "name": 0.9, "place": 0.5, "quoted": 0.9, "contact": 0.7, "amount": 0.5, "count": 0.4,
              "money": 0.3, "phrase": 0.9},
}  # fmt: skip
"""How well a kind of value suits what is wanted; what is not listed never answers."""
_DATES = frozenset({"date", "weekday", "clock"})
NUMBERS = frozenset({"count", "money", "amount", "duration", "length", "age", "distance", "frequency"})
DETAILS = NUMBERS | {"name", "thing", "place", "code"}
"""What may well be left untold by what speaks of it."""
SPANS: Mapping[str, frozenset[str]] = {
    wants: frozenset(kinds) | ({"quoted"} if wants in ("name", "thing") else frozenset())
    for wants, kinds in FITS.items()
}
"""The kinds to look for in the evidence."""


class About(Struct, frozen=True):
    """Whom a question is about, as far as that could be told."""

    names: frozenset[str]
    """Folded names of those it names itself, the asker among them."""
    meant: frozenset[str]
    """Folded names of those it means in the end: Femi's wife, once she is known."""
    roles: Mapping[str, frozenset[str]]
    """Stems of roles, and the names that fill them."""
    me: frozenset[str] = frozenset()


class Ground(Struct, frozen=True):
    """What the candidates are weighed on."""

    question: Question
    about: About
    ranks: Mapping[int, int]
    """Place of each turn in the evidence, from 0."""
    texts: Mapping[int, str]
    changes: Mapping[int, int]
    """The turns that speak of a change, with the time they were said."""
    speakers: Mapping[int, str] = {}
    """Who says each turn, folded."""
    assistants: frozenset[str] = frozenset()
    """Those of the speakers, as they are written, that are no people."""
    covered: dict[tuple[frozenset[str], frozenset[str], bool], float] = {}
    """How much of the question was met by which words, because the candidates of a sentence share them."""
    theirs: dict[tuple[int, str], bool] = {}
    """Whether a sentence of a turn can speak of those asked about, because its values share it."""
    silent: set[str] = set()
    """Names, values and phrases of facts in which no word has anything to do with those of the question."""


@lru_cache(maxsize=8192)
def key_of(value: str) -> str:
    """A value as it is compared: its stems without small words."""
    return " ".join(_telling(value)) or fold(value)


@lru_cache(maxsize=8192)
def _telling(value: str) -> tuple[str, ...]:
    """The stems of a value without small words."""
    small = stop()
    return tuple(word for word in words(value) if word not in small)


class _Field(Struct, frozen=True):
    """What is known of all candidates together."""

    newest: Mapping[tuple[str, str, str], int]
    latest: int
    kinds: Mapping[tuple[int, str], int]


class _Wish(Struct, frozen=True):
    """What is the same for all candidates of a question."""

    inside: frozenset[str]
    """The words of the question."""
    shaped: bool
    """Whether not everything of a kind will do."""
    calling: bool
    """Whether somebody of a profession is asked for."""
    called: bool
    """Whether it is asked what something is called."""
    coded: bool
    """Whether a number is asked for that counts nothing: a code, an account."""
    own_name: bool
    """Whether somebody wants to know their own name."""


class Suited:
    """The candidates that can be the answer at all, whatever became of their values elsewhere.

    Most facts of somebody are silent: no word of theirs has to do with the question. Whether such a one can be the
    answer is looked at where something hangs on it, once.
    """

    def __init__(
        self, ground: Ground, telling: Sequence[Item], silent: Sequence[Item] = (), wish: _Wish | None = None
    ) -> None:
        self._ground, self._wish, self._able = ground, wish, dict[int, bool]()
        self.telling, self.silent = telling, silent

    def but(self, left_out: Collection[tuple[int, str]]) -> Suited:
        """The same without some values, each by its turn."""
        telling = [item for item in self.telling if (item.turn, item.value) not in left_out]
        silent = [item for item in self.silent if (item.turn, item.value) not in left_out]
        return Suited(self._ground, telling, silent, self._wish)

    def among(self, silent: Iterable[Item]) -> Iterator[Item]:
        """Those of some silent ones that can be the answer."""
        for item in silent:
            able = self._able.get(id(item))
            if able is None:
                able = self._wish is None or _may_answer(self._ground, item, self._wish)
                self._able[id(item)] = able
            if able:
                yield item


def suited(ground: Ground, items: Sequence[Item]) -> Suited:
    """The candidates of a kind that suits, those apart that say nothing of what is asked."""
    asked = ground.question
    fits, wish = (
        FITS[asked.wants],
        _Wish(
            frozenset(words(asked.text)),
            asked.wants in _SHAPED or asked.noun in _DESCRIBED,
            asked.wh != "which" and asked.noun in listed_words("professions.txt"),
            bool(_CALLED.search(asked.text)),
            asked.wants == "code" or (asked.wants == "thing" and bool(_NUMBER_OF.search(asked.text))),
            asks_for_own_name(asked),
        ),
    )
    fitting = [item for item in items if item.kind in fits]
    _note_silent(ground, [item for item in items if item.fact and (item.role == "O" or item.kind in fits)])
    silent = [item for item in fitting if _is_silent(ground, item)]
    apart = set(map(id, silent))
    telling = [item for item in fitting if id(item) not in apart and _may_answer(ground, item, wish)]
    return Suited(ground, telling, silent, wish)


def _note_silent(ground: Ground, facts: Sequence[Item]) -> None:
    """Looks once at all words of all facts: most facts of somebody have none of what is asked, in any wording.

    Where a role is asked about, whoever fills it stands for it; where no word is left, everything meets it halfway.
    The ends of a fact have the same words, so that one of them is looked at.
    """
    if ground.about.roles or not ground.question.words:
        return
    ends = [item for item in facts if item.role != "S"]
    said = {text for item in ends for text in (item.phrase, item.other, item.value) if text.isascii()}
    stems = {text: stems_of(text) for text in said}
    every = set[str]().union(*stems.values())
    asked, meets = ground.question, set[str]()
    for word in {*asked.words, *((stem(asked.noun),) if asked.noun else ())} if every else ():
        meets |= every & kin_of(word).keys() | every & relatives(word).keys()
        meets |= {other for other in every if other.startswith(word[:4])} | {word}
        if len(word) > 4:
            first, last, size = word[:2], word[-2:], len(word)
            near = [t for t in every if -2 < len(t) - size < 2 and (t[:2] == first or t[-2:] == last)]
            meets |= {other for other in near if is_slip(word, other)}
    ground.silent.update(text for text, own in stems.items() if own.isdisjoint(meets))


def _is_silent(ground: Ground, item: Item) -> bool:
    """Whether a fact meets nothing of the question, by its words or by its family, as far as was looked."""
    silent = ground.silent
    said = item.value in silent and item.phrase in silent and item.other in silent
    return said and item.fact != 0 and family_asked(ground.question, item) is None


def measured(ground: Ground, items: Sequence[Item], able: Suited) -> Iterator[tuple[Item, dict[str, float]]]:
    """Those of the suited candidates that nothing among all of them speaks against, with their features."""
    mode = ground.question.mode
    later = [*_later(ground.question, items, able.telling), *_else(ground.question, items, able.telling)]
    gone = _gone(items, mode) if mode != "former" else frozenset()
    gone |= _former(items) if mode == "now" else frozenset()
    gone |= {(item.turn, key_of(item.value)) for item in later}
    still = _still(items) if mode == "former" else frozenset()

    def kept(some: Iterable[Item]) -> Iterator[Item]:
        for item in some:
            if (
                item.kind != "phrase"
                and item not in later
                and not (still and key_of(item.value) in still)
                and not (gone and _has_gone(item, gone))
            ):
                yield item

    room = len(ground.question.words) // (2 if is_settled(ground.question) else 3)
    stay = list(kept(able.telling))
    telling = [
        i for i in stay if _covered(ground, i) >= LEAST or family_asked(ground.question, i) is not None
    ]
    if not telling:
        return
    field = _field(stay, able.silent, telling, lambda silent: kept(able.among(silent)))
    for item in telling:  # few are, and of the others nothing more need be known
        features = _features(ground, item, field)
        if features["missing"] <= room:
            yield item, features


def reach(ground: Ground, able: Suited) -> float:
    """How near any value comes to being the answer: 0 where nothing of the wanted kind stands there.

    It suits what is wanted, its clause is about those who are asked about and meets the words of the question, and
    it is what the question calls it.
    """
    best, fits = 0.0, FITS[ground.question.wants]
    for item in able.telling:
        best = max(best, _reach(ground, item, best))
    for item in sorted(able.silent, key=lambda item: -fits[item.kind]):
        if fits[item.kind] ** 2 * UNSAID <= best:
            break
        for one in able.among((item,)):
            best = max(best, _reach(ground, one, best))
    return best


_CALLS = frozenset({"thing", "name", "place"})
"""What these want is told by the noun alone: "which bank", "the name of her aunt"."""
OTHER, IDLE = 0.2, 0.6
"""What is left where the value is nothing of what the question calls it; more where that says little: "which way"."""
BESIDE = 0.5
"""So near to its bearer stands a name: "our vet, Dr Prado"."""
UNSAID = 0.15
"""What is left where the clause of a value has no word of the question: "3,200 dollars for it"."""
NO_NAME, NOT_THIS_ONE = 0.3, 0.3
"""What is left of an everyday word where a name is asked for, and of what is told of another number than "hive 5"."""


def _reach(ground: Ground, item: Item, best: float) -> float:
    """How near one value comes; 0 as soon as it is clear that it comes no nearer than the best so far."""
    asked = ground.question
    suits = FITS[asked.wants][item.kind] ** 2
    if suits <= best:
        return 0.0
    told = UNSAID + (1 - UNSAID) * _covered(ground, item, widely=True)
    if suits * told <= best:
        return 0.0
    near = suits * _is_called_so(asked, item) * told
    return near * bears(ground, item) if near > best else 0.0


def _is_called_so(asked: Question, item: Item) -> float:
    """How far a value is what the question calls it."""
    noun = 1.0
    typed = asked.wants in _CALLS and asked.noun not in ("", "name")
    if typed and _widely(stem(asked.noun), own_words(item)) != SLIP:
        left = IDLE if asked.noun in listed_words("idle_nouns.txt") else OTHER
        noun = left + (1 - left) * is_what_it_is_called(asked, item, own_words(item))
    elif asked.wants in ("count", "amount") and _OF_THESE.search(asked.text):
        noun = UNCOUNTED + (1 - UNCOUNTED) * max(
            is_what_it_is_called(asked, item, own_words(item)), nearest(stem(asked.noun), own_words(item))
        )
    if asked.wants == "name" and not _is_named(item):
        noun *= NO_NAME
    if asked.noun == "name" and not item.fact and nearness(asked, item) < BESIDE:
        noun *= NO_NAME  # "the doctor told Mother" names no doctor
    return noun * NOT_THIS_ONE if is_of_another(asked, item) else noun


_OF_THESE = re.compile(r"\bhow (?:many|much) (?!is|are|was|were|did|do|does|will|would)\w+", re.I)
UNCOUNTED = 0.4
"""What is left of a number that is told of other things than those which are counted."""


def _is_named(item: Item) -> bool:
    """Whether a value may be a name: not only a word that begins a sentence, as in "Exams are over"."""
    first = item.value.split()[0]
    begins = item.sentence.lstrip().startswith(first) and item.kind == "name"
    return not begins or is_persons_name(item.value) or len(first) < 3 or not is_everyday(first.lower())


def is_of_another(asked: Question, item: Item) -> bool:
    """Whether the sentence tells of a counterpart: of hive 9, of the old flat, where hive 5 or the new one is meant."""
    return (
        _is_of_another_number(asked, item)
        or _is_of_counterpart(asked.text, item.sentence)
        or _is_of_another_sort(asked, item.sentence)
    )


def _is_of_another_sort(asked: Question, said: str) -> bool:
    """Whether the sentence tells of another sort of what is asked about: of the gas meter, not of the water meter."""
    if not asked.sorts:
        return False
    told = stems_of(said)
    named = {head for head, sort in asked.sorts if sort in told}
    meant = [(head, sort) for head, sort in asked.sorts if head in told and head not in named]
    found = _sorts(said) if meant else ()
    others = {head: frozenset(sort for one, sort in found if one == head) for head, _ in meant}
    return any(others[head] and _widely(sort, others[head]) < MET for head, sort in meant)


@lru_cache(maxsize=256)
def _sorts(said: str) -> Sequence[tuple[str, str]]:
    return [pair for sentence in parse([said])[0] for pair in sorts_in(sentence)]


def _is_of_counterpart(asked: str, said: str) -> bool:
    if not (meant := _meant(asked)):
        return False
    told = set(_WORD.findall(said.lower()))
    return any(told & group and told.isdisjoint(own) for own, group in meant)


@lru_cache(maxsize=64)
def _meant(asked: str) -> Sequence[tuple[frozenset[str], frozenset[str]]]:
    """What a question means of things that have a counterpart, and all of those."""
    wanted = frozenset(_WORD.findall(asked.lower()))
    return [(wanted & group, group) for group in _contraries() if wanted & group]


@cache
def _contraries() -> Sequence[frozenset[str]]:
    return [frozenset(line.split()) for line in lines("contraries.txt")]


def _is_of_another_number(asked: Question, item: Item) -> bool:
    """Whether the sentence says nothing of the one that a number tells: "hive 5", "release 4.3"."""
    meant = [word for word in asked.words if word[0].isdigit()] if _DIGIT.search(asked.text) else []
    return bool(meant) and not stems_of(f"{item.other} {item.sentence}").issuperset(meant)


_DIGIT, _WORD = re.compile(r"\d"), re.compile(r"[a-z]+")


def is_settled(asked: Question) -> bool:
    """Whether it asks for a date or a number of what happened or was once: no later turn can have changed that."""
    return asked.mode != "now" and asked.wants in NUMBERS | _DATES


MET, LEAST = 0.5, 0.3
"""A word is met from here on; what meets less of a question is no candidate, unless its family is asked for."""


def _gone(items: Sequence[Item], mode: str) -> frozenset[tuple[int, str]]:
    """Turns and the values in them that are no longer so, never were, or were not yet so when it is asked for."""
    unreal = {"over", "withdrawn", "denied", *(("ahead", "later") if mode == "at" else ())}
    told = [item for item in items if item.fact and item.role == "O"]
    gone = {(item.turn, key_of(item.value)) for item in told if item.state in unreal}
    turns = {turn for turn, _ in gone}
    return frozenset(gone) - {
        (item.turn, key_of(item.value)) for item in told if item.turn in turns and item.state not in unreal
    }


def _former(items: Sequence[Item]) -> frozenset[tuple[int, str]]:
    """What was so once, where it is known what is so now: "lived in Naples as a child"."""
    was = [i for i in items if i.state == "passed" and i.slot.startswith("was ")]
    among = {i.family for i in was if i.family}
    known = {
        (fold(i.other), i.family, i.role)
        for i in items
        if i.family in among and i.fact and i.state == "holds"
    }
    return frozenset((i.turn, key_of(i.value)) for i in was if (fold(i.other), i.family, i.role) in known)


def _later(asked: Question, items: Sequence[Item], able: Sequence[Item]) -> list[Item]:
    """What is only planned, is ahead where it is known what is so until then, or has yet to begin; none if just that is
    asked for."""
    later = [i for i in items if is_yet_to_begin(asked, i)]
    ahead = [i for i in items if i.state == "ahead" and i.fact and asked.mode == "now" and not asked.ahead]
    held = ahead and any(i.fact and i.state == "holds" and family_asked(asked, i) is not None for i in able)
    return [*later, *(i for i in ahead if held or i.slot.startswith(PLAN))]


def is_yet_to_begin(asked: Question, item: Item) -> bool:
    """Whether it does not hold yet, and the question is neither when it will nor how it begins."""
    later = item.state == "later" and item.kind not in _DATES and asked.mode != "at"
    return later and not asked.ahead and not tells_a_beginning(item.family, asked.text)


def _else(asked: Question, items: Sequence[Item], able: Sequence[Item]) -> list[Item]:
    """What is known to be something else, where what is asked for is known: "I live in Porto and work at Siemens"."""
    now = items if asked.mode == "now" else ()
    told = [
        i for i in now if i.fact and i.role == "O" and i.family and i.state == "holds" and i.kind in _CALLS
    ]
    known = {i.turn: key_of(i.value) for i in told if family_asked(asked, i) is not None and i in able}
    told = [i for i in told if known.get(i.turn, key_of(i.value)) != key_of(i.value)]
    return [i for i in told if family_asked(asked, i) is None]


def _still(items: Sequence[Item]) -> frozenset[str]:
    """What is so now, where it is known what was so before: who moved from Berlin to Lisbon did not live in Lisbon."""
    over = {(fold(i.other), i.family, i.role) for i in items if i.fact and i.state == "over" and i.family}
    return frozenset(
        key_of(i.value)
        for i in items
        if i.fact and i.state == "holds" and i.role == "O" and (fold(i.other), i.family, i.role) in over
    )


def _field(
    kept: Sequence[Item],
    silent: Sequence[Item],
    telling: Sequence[Item],
    able: Callable[[Iterable[Item]], Iterator[Item]],
) -> _Field:
    """What all say, also the silent ones that are able, of the slots and turns of the few that tell something."""
    newest: dict[tuple[str, str, str], int] = {}
    values: dict[tuple[int, str], set[str]] = {(item.turn, item.kind): set() for item in telling}
    slots = {item.slot for item in telling if item.slot}
    beside = [item for item in silent if item.slot in slots or (item.turn, item.kind) in values]
    for item in chain(kept, able(beside)):
        if (item.turn, item.kind) in values:
            values[item.turn, item.kind].add(key_of(item.value))
        if item.slot in slots:
            slot = slot_of(item)
            newest[slot] = max(newest.get(slot, 0), item.start)
    latest = max(item.said_at for item in kept)
    later = sorted((item for item in silent if item.said_at > latest), key=lambda item: -item.said_at)
    latest = next((item.said_at for item in able(later)), latest)
    return _Field(newest, latest, {where: len(said) for where, said in values.items()})


def slot_of(item: Item) -> tuple[str, str, str]:
    """Whose slot a fact stands in, and which end of it is the value."""
    return fold(item.other), item.slot, item.role


def _has_gone(item: Item, gone: Collection[tuple[int, str]]) -> bool:
    """Whether a value that is no longer so is said by the same turn, in other words."""
    if item.fact and not (item.state == "passed" and item.role == "O"):
        return False
    own = _telling(item.value)
    return any(_says(value, own) for turn, value in gone if turn == item.turn)


def _may_answer(ground: Ground, item: Item, wish: _Wish) -> bool:
    asked = ground.question
    if not item.value or len(item.value) > 80:
        return False
    if item.state in ("denied", "withdrawn") or (item.state == "over" and asked.mode != "former"):
        return False
    if item.role == "T" and asked.wants != "date":
        return False
    folded = fold(item.value)
    if (folded in ground.about.me or folded in ground.about.names) and not wish.own_name:
        return False
    own = _telling(item.value)
    if not own or (item.kind in _INSIDE and wish.inside.issuperset(own)):
        return False
    if (item.state in ("ahead", "later") and asked.mode == "at") or (
        not item.fact and asked.mode != "former" and is_left(item)
    ):
        return False
    if item.kind == "count" and asked.wants in ("money", "amount") and len(own) > 1:
        return False
    if (wish.shaped or item.kind == "count" or len(own) == 2) and not _is_of_the_kind(asked, item, own):
        return False
    if asked.wants == "name" and item.kind == "thing" and not wish.called:
        return False
    if asked.wants in ("thing", "place") and item.kind == "name" and is_persons_name(item.value):
        return False
    if wish.coded and item.kind != "contact" and not any(c.isdigit() for c in item.value):
        return False
    if asked.apart and not _was_before(asked, item) and names_in(item.sentence) & _apart(asked):
        return False
    if (
        item.kind == "count"
        and asked.noun
        and any(w in _TIME_STEMS for w in own)
        and asked.noun not in _TIMES
    ):
        return False
    if asked.wants == "duration" and asked.noun in _TIMES and asked.noun not in item.value.lower():
        return False
    if (asked.whose and is_owned_otherwise(ground, item)) or (
        wish.calling and _is_of_another_calling(ground, item)
    ):
        return False
    if asked.mode == "now" and item.kind in ("code", "figure", "spot") and _ONCE.search(clause(item)):
        return False
    if item.other:
        return _is_about(ground, item)
    theirs = ground.theirs.get((item.turn, item.sentence))
    if theirs is None:
        theirs = ground.theirs[item.turn, item.sentence] = _is_theirs(ground, item)
    return theirs


def _is_of_another_calling(ground: Ground, item: Item) -> bool:
    """Whether the dentist is asked for and somebody is told of who is none: my doctor is not my dentist."""
    noun, own = ground.question.noun, own_words(item)
    told = family_asked(ground.question, item) is not None or _one_met(ground, stem(noun), own, ()) > KIND
    other = stem(noun) not in own and not own.isdisjoint(_callings())
    return item.kind == "thing" or not told or other


@cache
def _callings() -> frozenset[str]:
    return frozenset(stem(word) for word in listed_words("professions.txt"))


_NUMBER_OF = re.compile(
    r"\b(?:number|code|pin)\b (?:of|for|to)\b|\b(?:account|customer|policy|phone) number\b", re.I
)
_ONCE = re.compile(r"\b(?:was|were|used to|until|till|formerly|previously)\b", re.I)
_INSIDE = frozenset({"name", "place", "thing", "phrase", "spot", "part"})
"""What is in the question itself is never the answer, but for numbers."""


def asks_for_own_name(asked: Question) -> bool:
    """Whether somebody wants to know their own name: else nobody who is named answers."""
    return asked.mine and asked.noun == "name" and not asked.words


HOUR = re.compile(r"\d[:.]\d\d|\d ?(?:am|pm|h\b)|o'clock|\bnoon|\bmidnight|^\d{1,2}$|\bhalf\b", re.I)
_YEAR = re.compile(r"(?:in )?(?:19|20)\d\d")
_OF_A_DATE = re.compile(
    r"^\s?(?:(?:to|-|–|and|or) \d{1,2}\s)?(?:st|nd|rd|th)?\s?(?:of )?"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
)
_SHAPED = ("clock", "weekday", "age")
_MEASURED = frozenset("dose dosage size weight height length width mileage speed".split())
_DESCRIBED = _MEASURED | frozenset("breed colour color variety flavour flavor material shape".split())


def _is_of_the_kind(asked: Question, item: Item, own: Sequence[str]) -> bool:
    """Whether a value is what is asked for, and not only something of that shape: no year for a day of the week."""
    value, wants = item.value, asked.wants
    if wants == "clock" and item.kind == "date" and not HOUR.search(value):
        return False
    if wants == "weekday" and item.kind == "date" and _YEAR.fullmatch(value):
        return False
    if wants == "age" and item.kind == "count" and len(own) > 1:
        return False
    if wants == "age" and item.kind == "duration" and "year" not in value:
        return False
    if item.kind == "count" and not item.fact and _OF_A_DATE.match(item.sentence[item.at + len(value) :]):
        return False
    if asked.noun in _MEASURED and not any(c.isdigit() for c in value) and len(value) > 3:
        return False
    if asked.noun in _DESCRIBED and item.kind == "name" and value[:1].isupper():
        return False
    return not (len(own) == 2 and own[1].isdigit() and own[0] in asked.words)  # "bed 1" for "in bed 3"


def _apart(asked: Question) -> frozenset[str]:
    return frozenset(w for name in asked.apart for w in fold(name).split())


def _was_before(asked: Question, item: Item) -> bool:
    """Whether a fact says what was before: "from Berlin to Lisbon" tells what was before Lisbon."""
    return asked.mode == "former" and item.fact != 0 and item.state == "over"


_CALLED = re.compile(r"\b(?:called|named|name|names)\b", re.I)
_TIMES = frozenset("second minute hour day week month year".split())
_TIME_STEMS = frozenset(words(" ".join(_TIMES)))
_MYSELF = re.compile(r"\b(?:I|I['’]\w+|my|mine|me)\b", re.I)


def _is_theirs(ground: Ground, item: Item) -> bool:
    """Whether a sentence can speak of those asked about: it names them, or they say it themselves."""
    names = ground.about.names | ground.about.meant
    if ground.question.you:
        return item.speaker in ground.assistants
    if not names or fold(item.speaker) in names:
        return True
    if ground.about.me and item.speaker in ground.assistants:
        return True
    spoken = _spoken(item.sentence)
    said = names_in(spoken)
    if any(set(name.split()) & said for name in names):
        return True
    if names <= ground.about.me:  # what is ours may be told by anybody who does not speak of themselves
        return not _MYSELF.search(spoken)
    if FIRST_PERSON.search(spoken) and any(_is_person(ground, name) for name in names):
        return False
    return _named(ground, item) > 0


@lru_cache(maxsize=1024)
def _spoken(sentence: str) -> str:
    """A sentence without the names of those who are spoken to."""
    return _ADDRESSED.sub(" ", sentence)


def _is_person(ground: Ground, name: str) -> bool:
    return name.split()[0] in listed_words("given_names.txt") or name in ground.speakers.values()


_ADDRESSED = re.compile(
    r"(?:,\s*[A-Z]\w+(?=[!?.,]|$))|(?:^[A-Z]\w+[,!]\s)|(?:\b(?:Hey|Hi|Thanks|Wow|Congrats|Yeah|Oh),?\s[A-Z]\w+[,!.])"
)
"""A name that somebody is called by is not one that is spoken of."""


def _says(value: str, own: Sequence[str]) -> bool:
    """Whether a value that is gone says the same as one in its turn."""
    gone = set(value.split())
    return gone <= set(own) or set(own) <= gone


def _is_about(ground: Ground, item: Item) -> bool:
    """Never answers about Ana with what is Ben's: the other end is asked about, or is nobody else."""
    about, other = ground.about, fold(item.other)
    if not about.names:
        return True
    if _means(other, about.names) or _means(other, about.meant):
        return True
    if other in ("user", fold(item.speaker)) and any(_is_person(ground, name) for name in about.names):
        return False  # what somebody says of themselves beside the name of whom is asked about
    said = names_in(item.sentence)
    if any(set(name.split()) <= said for name in about.names | about.meant):
        return not is_persons_name(item.other) or item.role == "S"
    ours = about.names <= about.me
    return (ours or fold(item.speaker) in about.names) and not is_persons_name(item.other)


@lru_cache(maxsize=2048)
def _means(other: str, names: frozenset[str]) -> bool:
    """One of these, by the whole name, a part of it, or as the owner ("ana s sister")."""
    parts = set(other.split())
    return any(
        other == n or (n and set(n.split()) <= parts) or (len(other) > 2 and parts <= set(n.split()))
        for n in names
    )


def is_persons_name(name: str) -> bool:
    """Whether a name is one that people have."""
    first = name.split()[0].lower().rstrip(".") if name else ""
    return name[:1].isupper() and (
        first in listed_words("given_names.txt") or first in listed_words("titles.txt")
    )


def own_words(item: Item) -> frozenset[str]:
    """The words in which a candidate itself is told; that Harlow Builders build is no news of who is building."""
    if item.fact:
        return stems_of(f"{item.phrase} {item.other} {item.value}")
    end = item.at + len(item.value)
    if item.kind not in ("name", "place") or item.sentence[item.at : end] != item.value:
        return stems_of(item.sentence)
    return stems_of(f"{item.sentence[: item.at]} {item.sentence[end:]}")


def _covered(ground: Ground, item: Item, *, widely: bool = False) -> float:
    """How much of the question a candidate meets, by its words or its family."""
    if _is_silent(ground, item):
        return 0.0
    ask = family_asked(ground.question, item)
    own, explained = own_words(item), ask.explains if ask is not None else frozenset[str]()
    found = ground.covered.get((own, explained, widely))
    if found is None:
        met = met_by(ground, ground.question.words, own, explained)
        if widely:
            met = [max(m, _widely(w, own)) for m, w in zip(met, ground.question.words, strict=True)]
        found = ground.covered[own, explained, widely] = sum(met) / len(met) if met else 0.5
    return found


@lru_cache(maxsize=2_000)
def _widely(word: str, said: frozenset[str]) -> float:
    """How far a sentence may tell of what is asked for in other words, or with a slip; too little to answer by."""
    slips = len(word) > 4 and not is_everyday(word) and any(is_slip(word, other) for other in said)
    kin = relatives(word)
    return max([SLIP * slips, *map(kin.__getitem__, kin.keys() & said)])


def _features(ground: Ground, item: Item, field: _Field) -> dict[str, float]:
    asked = ground.question
    ask = family_asked(asked, item)
    own = own_words(item)
    around = own | stems_of(item.sentence) | stems_of(ground.texts.get(item.turn, ""))
    explained = ask.explains if ask is not None else frozenset()
    met = met_by(ground, asked.words, own, explained)
    wide = met_by(ground, asked.words, around, explained)
    rank = ground.ranks.get(item.turn)
    about = _about(ground, item)
    family = ask.strength if ask is not None else 0.0
    full, noun = all(m >= 0.5 for m in met), is_what_it_is_called(asked, item, own)
    fresh = item.start >= field.newest.get(slot_of(item), 0) if item.slot else item.said_at >= field.latest
    return {
        "bias": 1.0,
        "covered": sum(met) / len(met) if met else 0.5,
        "full": float(full),
        "missing": float(sum(1 for m in wide if m < 0.5)),
        "fits": FITS[asked.wants][item.kind],
        "family_about": family * about,
        "named": _named(ground, item),
        "rank": 1 / (1 + rank) if rank is not None else 0.0,
        "fact": float(bool(item.fact)),
        "behind": float(item.role == "B"),
        "noun": noun,
        "gap": _gap(asked, item),
        "newest": float(fresh),
        "near": nearness(asked, item),
        "alone": float(field.kinds.get((item.turn, item.kind), 0) <= 1),
        "long": max(0.0, len(words(item.value)) - 3) / 3,
        "asks": float(item.asks),
        "only_one": family * about if _holds_one(item) else 0.0,
        "family_full": family * full,
        "overtaken": overtaken(ground, item),
        "crowd": len(ground.ranks) / 8,
        "to_machine": float(asked.you or item.speaker in ground.assistants),
        "of_name": float(asked.wants in ("name", "place")),
        "of_thing": float(asked.wants == "thing"),
        "of_number": float(asked.wants in NUMBERS),
    }


def family_asked(asked: Question, item: Item) -> Asks | None:
    """The family that the question asks for with this end open, if the fact is one of it."""
    if item.family:
        for one in asked.asks:
            if one.family.name == item.family and one.role == item.role:
                return one
    return None


def _holds_one(item: Item) -> bool:
    family = families().all.get(item.family)
    return family is not None and family.holds != "many"


def overtaken(ground: Ground, item: Item) -> float:
    """Whether a later turn of the evidence speaks of a change, and how much of the question it meets."""
    if ground.question.mode == "former" or not item.said_at:
        return 0.0
    best = 0.0
    for turn, said_at in ground.changes.items():
        if said_at > item.said_at and turn != item.turn and _concerns(ground, turn):
            met = met_by(ground, ground.question.words, stems_of(ground.texts[turn]), ())
            best = max(best, 0.3 + 0.7 * (sum(met) / len(met) if met else 0.5))
    return best


def _concerns(ground: Ground, turn: int) -> bool:
    """Whether a turn speaks of those asked about: it names one of them, or one of them says it."""
    names = ground.about.names | ground.about.meant
    if not names or ground.speakers.get(turn) in names:
        return True
    said = names_in(ground.texts[turn])
    return any((set(name.split()) - stop()) & said for name in names)


def met_by(
    ground: Ground, wanted: Sequence[str], said: Collection[str], explained: Collection[str]
) -> list[float]:
    """How well each word of the question is met."""
    return [_one_met(ground, word, said, explained) for word in wanted]


def _one_met(ground: Ground, word: str, said: Collection[str], explained: Collection[str]) -> float:
    if word in explained or word in said:
        return 1.0
    filled = ground.about.roles.get(word)
    if filled and any(set(words(name)) <= set(said) for name in filled):
        return 1.0
    return nearest(word, frozenset(said))


@lru_cache(maxsize=16_384)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text that say something."""
    return frozenset(words(text)) - stop()


def _about(ground: Ground, item: Item) -> float:
    """Whether the other end is the one who is meant."""
    about = ground.about
    if not about.names or not item.other:
        return 0.0
    other = fold(item.other)
    if other in about.meant or _means(other, about.meant):
        return 1.0
    return 0.5 if _means(other, about.names) else 0.0


def _named(ground: Ground, item: Item) -> float:
    """Whether the sentence, or whoever says it, is one of those asked about."""
    names = ground.about.names | ground.about.meant
    if not names:
        return 0.0
    said = names_in(item.sentence)
    if any(set(n.split()) & said for n in names):
        return 1.0
    if any(fold(item.speaker) == n for n in names):
        return 0.8
    whole = names_in(ground.texts.get(item.turn, ""))
    return 0.5 if any(set(n.split()) & whole for n in names) else 0.0


def is_what_it_is_called(asked: Question, item: Item, said: Collection[str]) -> float:
    """Whether the value is what the question calls it: "two rooms" for "how many rooms"."""
    if not asked.noun:
        return 0.0
    own = stems_of(item.value)
    noun = stem(asked.noun)
    if noun in own or nearest(noun, own) >= 0.8 or noun in words(next_word(item)):
        return 1.0
    family = families().all.get(item.family)
    if family is not None and item.role == "O" and (asked.noun in family.nouns or asked.noun in family.kinds):
        return 1.0
    if asked.noun in PLACE_NOUNS and item.kind in ("place", "spot"):
        return 1.0
    kinds, answers = asked_kinds(noun), told(noun)
    if not set(tags_of(own)).isdisjoint(kinds) or any(answers.get(word) == KIND for word in own):
        return 0.8
    if item.role == "B" and noun not in said and not any(is_everyday(word) for word in own):
        return 0.6  # it stands right behind the verb that asks, and no table knows what it is
    return 0.4 if noun in said else 0.0


def next_word(item: Item) -> str:
    """The word right behind a value: "the Willow room"."""
    return item.sentence[item.at + len(item.value) :].lstrip().partition(" ")[0]


def _gap(asked: Question, item: Item) -> float:
    """Whether the value is the end of the fact that the question leaves open."""
    if not item.fact or item.role not in ("S", "O"):
        return 0.0
    return 1.0 if (item.role == "S") == (asked.gap == "subject") else -1.0


def nearness(asked: Question, item: Item) -> float:
    """How close the value stands to the words that were asked about."""
    places = [begin for begin, said in _placed(item.sentence) if said in asked.words]
    if not places:
        return 0.0
    return 1 / (1 + min(abs(p - item.at) for p in places) / 20)


@lru_cache(maxsize=256)
def _placed(sentence: str) -> Sequence[tuple[int, str]]:
    """Where each word of a sentence begins, and its stem; many candidates share one."""
    return [(found.start(), stem(found.group())) for found in _SAID.finditer(sentence.lower())]


_SAID = re.compile(r"[^\W_]+")
