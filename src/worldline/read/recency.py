"""The present before the past: of turns that speak of one matter, the one that holds now leads.

A turn is outdated where the fact of it that meets the question best is over: then a turn that took its place
goes before it. Without facts, the turn that leads and those after it that were said later are read beside the
question, two at a time: which of them answers it (`SUCCEEDS`)? Where nothing reads so closely, and among those
that do not lead, how likely a turn is the newer version of an earlier one is weighed by what both say of the
question and beyond it, by words of change, by whether it tells how things are, and by how far it lies behind
(`OVERTAKES`). Who asks for what was gets the older one first. Only the order among the best changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from worldline.lexicon import lines
from worldline.read.cues import Asked
from worldline.read.score import DAY, Board, Need, Turn, Unit, degrees, needs, units
from worldline.rules.describe import NAME, NUMBER
from worldline.rules.matter import of_change
from worldline.store.search import Drawn
from worldline.text import stop, tokens

Tense = Literal["now", "then", ""]


class Succession(NamedTuple):
    """What a close reading says of turns, by their keys: log odds."""

    read: Callable[[int, int], float | None]
    """That of two the later one answers the question; None where nothing reads them."""
    told: Mapping[int, float] = {}
    """That one tells what is asked, read alone."""


DEPTH = 10
LEADERS = 5
"""Only before so many of the best may a newer turn be put."""
NEARLY = 1.0
"""How much lower the older one's score may be, where what was is asked for."""
OVERTAKES: Mapping[str, float] = {
    "always": 2.1,
    "behind": -1.35,
    "far down": -2.2,
    "words of change": 0.25,
    "asked as of now": 1.3,
    "asked how or for all": -1.5,
    "share of other words": 2.0,
    "long after": 0.25,
    "for a while": -1.8,
}
"""What speaks for a later turn being the newer version of an earlier one: a logistic fit over pairs of which one is the
evidence, in small memories, little histories, stories and a public talk, each of the four counting the same, checked on
the hands that were left out. The constant asks for more than even odds."""
SUCCEEDS: Mapping[str, float] = {
    "always": 0.1,
    "reading": 0.9,
    "far down": -2.15,
    "words of change": 0.2,
    "asked as of now": 0.6,
}
"""The same for the turn that leads and a later one, read beside the question (`bench/fit_succession.py`)."""
DOUBTED = -1.0
"""What is read as no less likely may be a newer version by the other measures."""
TELLS_IT = -1.0
"""Who asks what happened once is told by a later text only if that, read alone, is no less likely to tell it."""
RIVALS = 4
"""So many of those behind the one that leads are read beside it: two texts are read in ten milliseconds."""
HALF, TELLS = 0.5, 2.0
"""Who tells no change has to tell as much of what is asked as this share of what the older turn tells; so much of words
of change tells one."""
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
_MINE = re.compile(r"\b(?:I|my|me|mine|myself)\b", re.I)
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
    succession: Succession | None = None,
) -> list[int]:
    """The order with what holds now before what it took the place of, or after it, as the question asks."""
    wish = tense(asked, chosen=chosen)
    ordered = _by_facts(board, list(order), _at_hand(asked, board, order, replaced), wish)
    if wish != "then":
        if not (wish or succession or any(_takes_back(board.turns[at]) for at in ordered[:DEPTH])):
            return ordered
        return _by_date(_Versions(asked, board, ordered[:DEPTH], wish, succession), ordered)
    return (
        _before_that(asked, board, ordered) if _BEFORE.search(asked.text) else _first(asked, board, ordered)
    )


def is_overtaken(
    asked: Asked,
    board: Board,
    order: Sequence[int],
    key: int,
    *,
    chosen: bool = False,
    succession: Succession | None = None,
) -> bool:
    """Whether another turn is a newer version of this one, so that its value may be over.

    That is what leads, or, where this one does, one behind it that reads no less likely so than one in four.
    """
    at, wish = (
        next((at for at in order[:DEPTH] if board.turns[at].key == key), None),
        tense(asked, chosen=chosen),
    )
    leads = at is not None and at == order[0]
    if at is None or wish == "then" or (leads and succession is None) or (not leads and wish != "now"):
        return False
    versions = _Versions(asked, board, order[:DEPTH], wish, succession)
    if leads:
        return any(versions.read_odds(at, new) > DOUBTED for new in order[1 : 1 + RIVALS])
    return versions.odds(at, order[0]) > 0


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


def _by_date(versions: _Versions, order: list[int]) -> list[int]:
    """The order with what succeeds a statement among the best before it."""
    for place in range(min(LEADERS, len(order))):
        old, behind = order[place], order[place + 1 : DEPTH]
        new = (
            versions.successor(old, behind[:RIVALS]) if versions.reads(old) else versions.latest(old, behind)
        )
        if new is not None:
            order.insert(place, order.pop(order.index(new)))
    return order


def _first(asked: Asked, board: Board, order: list[int]) -> list[int]:
    """The order with the earliest of like statements first, where its score is nearly that of a later one."""
    versions = _Versions(asked, board, order[:DEPTH], "then")
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

    def __init__(
        self,
        asked: Asked,
        board: Board,
        best: Sequence[int],
        wish: Tense,
        succession: Succession | None = None,
    ) -> None:
        self.asked, self.board, self.wanted = asked, board, needs(asked)
        self.wish, self.succession = wish, succession
        self.leads = best[0] if best else None
        # what happened once has no newer version, unless somebody corrects what was said of it
        self.may = {at for at in best if wish or _takes_back(board.turns[at])}
        self.held = dict(zip(best, units(asked, self.wanted, [board.turns[at] for at in best]), strict=True))
        self.place = {at: place for place, at in enumerate(best)}
        heard = {token for name in {turn.speaker for turn in board.turns} for token in tokens(name)}
        asked_for = _names(asked) | {need.stem for need in self.wanted} | heard | _greetings()
        said = {at: {word for word in _content(board.turns[at]) if word.isalpha()} for at in best}
        self.further = {at: words - asked_for for at, words in said.items()}
        self.changes = {at: of_change(board.turns[at].described.words.split()) for at in best}
        self.chosen = [board.parts[name] for name in CHOSEN if name in board.parts]
        self.tells = {at for at in best if _is_now(board.turns[at], self.held[at])}
        self.passing = {at for at in best if _says(self.held[at].sentence, _passing())}
        self.numbered = {need.stem for need in self.wanted if need.stem.isdigit()}
        self.openly = bool(_MANNER.search(asked.text)) and not _NOW.search(asked.text)
        self.now = bool(_NOW.search(asked.text) or _THEN.search(asked.text))

    def reads(self, at: int) -> bool:
        """Whether a turn is read beside others: the one that leads."""
        return self.succession is not None and at == self.leads

    def successor(self, old: int, behind: Sequence[int]) -> int | None:
        """The one that most likely answers instead of an earlier one; None where that one does."""
        odds = {new: self.odds(old, new) for new in behind}
        best = max(behind, key=odds.__getitem__, default=None)
        return best if best is not None and odds[best] > 0 else None

    def latest(self, old: int, behind: Sequence[int]) -> int | None:
        """The latest of the newer versions of a turn."""
        newer = [new for new in behind if self.odds(old, new) > 0]
        turns = self.board.turns
        return max(newer, key=lambda at: (turns[at].said_at or 0, turns[at].key), default=None)

    def odds(self, old: int, new: int) -> float:
        """Above 0 where the later turn is more likely a newer version of the earlier one than not."""
        if not self._may_succeed(old, new):
            return -math.inf
        odds = self.read_odds(old, new) if self.reads(old) or self.reads(new) else -math.inf
        return self._weighed(old, new) if DOUBTED < odds <= 0 or odds == -math.inf else odds

    def read_odds(self, old: int, new: int) -> float:
        """The same by reading both beside the question alone; none where that is not done."""
        keys = self.board.turns[old].key, self.board.turns[new].key
        reading = self._reading(*keys) if self._may_succeed(old, new) else None
        return -math.inf if reading is None else self._read(old, new, reading)

    def _reading(self, old: int, new: int) -> float | None:
        if self.succession is None or not (self.wish or self.succession.told.get(new, TELLS_IT) > TELLS_IT):
            return None
        return self.succession.read(old, new)

    def _read(self, old: int, new: int, reading: float) -> float:
        measures = {
            "always": 1.0,
            "reading": reading,
            "far down": math.log1p(max(self.place[old], self.place[new])),
            "words of change": self.changes[new],
            "asked as of now": float(self.now),
        }
        return sum(SUCCEEDS[name] * value for name, value in measures.items())

    def _weighed(self, old: int, new: int) -> float:
        a, b = self.board.turns[old], self.board.turns[new]
        if new not in self.may or not self._may_be_said_anew(a, b):
            return -math.inf
        of_both = self._told(old, new)
        if not of_both or not self._of_those(a, self.held[new]) or new not in self.tells:
            return -math.inf
        alike = of_both / self._told(old, old)
        if alike < HALF and self.changes[new] < TELLS:
            return -math.inf
        ours, theirs = self.further[old], self.further[new]
        fewer = min(len(ours), len(theirs))
        behind = float(self.board.scores[old] - self.board.scores[new])
        measures = {
            "always": 1.0,
            "behind": math.copysign(math.log1p(abs(behind)), behind),
            "far down": math.log1p(max(self.place[old], self.place[new])),
            "words of change": self.changes[new],
            "asked as of now": self.now * alike,
            "asked how or for all": float(self.openly),
            "share of other words": len(ours & theirs) / fewer if fewer else float(alike > ALL_BUT),
            "long after": math.log1p(((b.said_at or 0) - (a.said_at or 0)) / DAY),
            "for a while": float(new in self.passing),
        }
        return sum(OVERTAKES[name] * value for name, value in measures.items())

    def _told(self, one: int, other: int) -> float:
        """How much of what is asked both of two turns tell."""
        met = zip(self.wanted, self.held[one].degrees, self.held[other].degrees, strict=True)
        return sum(need.weight * min(x, y) for need, x, y in met if need.stem)

    def _may_succeed(self, at: int, after: int) -> bool:
        """Said later, by no assistant, of a thing of the same number, no longer ahead, and no less chosen."""
        old, new = self.board.turns[at], self.board.turns[after]
        if any(part[at] > part[after] for part in self.chosen):
            return False
        if not _is_later(old, new) or new.said_at == old.said_at or "assistant" in (old.role, new.role):
            return False
        lost = self.numbered and set(old.described.words.split()) - set(new.described.words.split())
        if lost and self.numbered & lost:
            return False  # what is said of truck 3 is no news of truck 1
        # "takes over the team in April", where somebody asks in March who leads it
        return self._is_to_come(old) or not self._is_to_come(new)

    def _may_be_said_anew(self, old: Turn, new: Turn) -> bool:
        """By whoever may speak of the same matter, with the same kind of value."""
        if old.speaker != new.speaker and (self.asked.people or _MINE.search(self.asked.text)):
            return False
        kinds = self.asked.wants & ~NAME
        return not kinds or bool(old.described.flags & kinds and new.described.flags & kinds)

    def _is_to_come(self, turn: Turn) -> bool:
        """Whether all the days that a turn speaks of lie more than a week ahead of the question."""
        dates, now = turn.described.dates, self.asked.asked_at
        return bool(dates) and now is not None and all(start > now + 7 * DAY for start, _ in dates)

    def _of_those(self, old: Turn, new: Unit) -> bool:
        """Whether the newer one begins with no relative of whom neither the older one nor the question speaks."""
        kin = _kin().intersection(new.sentence.split()[:3])
        return kin <= {*old.described.words.split(), *tokens(self.asked.text)}


Phrases = Mapping[str, Sequence[list[str]]]


def _says(said: str, phrases: Phrases) -> bool:
    """Whether a text, as stems, has one of the phrases."""
    tokens = said.split()
    return any(
        phrase == tokens[at : at + len(phrase)]
        for at, token in enumerate(tokens)
        for phrase in phrases.get(token, ())
    )


@cache
def _unsettled() -> Phrases:
    """What says that something is imagined, hearsay or long past."""
    return _phrases("unsettled_cues.txt")


@cache
def _passing() -> Phrases:
    """What says that something is so for a while only."""
    return _phrases("passing_cues.txt")


def _phrases(*files: str) -> Phrases:
    """The phrases of data files, as stems, by the first of them."""
    found: dict[str, list[list[str]]] = {}
    for line in (line for name in files for line in lines(name)):
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
    if not tokens.isdisjoint(_negations()) and tokens.isdisjoint(_over()):
        return False
    if _says(unit.sentence, _unsettled()):
        return False
    dates = turn.described.dates
    return not dates or turn.said_at is None or any(end > turn.said_at - LONG_AGO for _, end in dates)


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
