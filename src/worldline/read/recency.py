"""The present before the past: of turns that speak of one matter, the one that holds now leads.

It decides what time a question asks about, and which turns are versions of one statement. A turn is
outdated where the fact of it that meets the question best is over: then a turn that took its place
goes before it. Without facts, a turn is the newer version of another if it holds the same part
of the question and the same kind of value, or gives new figures of one thing, and nothing but its date
speaks against the older one. Who asks for what was gets the older one first. Only the order among the
best changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from worldline.lexicon import lines
from worldline.read.cues import Asked
from worldline.read.meeting import Need, Unit, degrees, needs, units
from worldline.read.score import Board
from worldline.read.turns import DAY, Turn
from worldline.rules.describe import NAME, NUMBER
from worldline.store.search import Drawn
from worldline.text import stop
from worldline.text import tokens as words

Tense = Literal["now", "then", ""]

DEPTH = 10
LEADERS = 5
"""Only before so many of the best may a newer turn be put."""
GAP, TOLD_GAP = 2.5, 5.0
"""How much lower the newer one's score may be; more where it tells a change or takes something back."""
NEARLY = 1.0
"""How much lower the older one's score may be, where what was is asked for."""
ALIKE, CHANGED = 0.75, 0.5
"""The share of what the older turn holds that the newer one must hold too; less where it tells a change."""
MEETS, ALONE = 0.5, 0.5
"""The share of the question that the older turn must hold, and that one sentence of each must hold by itself."""
PLAINLY = 0.8
"""Only words met as far as this show that two turns speak of one matter."""
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
    r"\b(?:going|planning|planned|considering|between|different|across|altogether|total|ever|each)\b", re.I
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
    said = words(fact)
    met = degrees(wanted, " ".join(said))
    if any(need.word[:1].isupper() and not degree for need, degree in zip(wanted, met, strict=True)):
        return 0.0
    if asked.people and not any(token in said for name in asked.people for token in words(name)[:1]):
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
    if wish == "now" and (_NOW.search(asked.text) or not _MANNER.search(asked.text)):
        return _by_date(asked, board, ordered)
    if wish != "then":
        return ordered
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
    return named | {token for name in asked.people for token in words(name)}


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


def _by_date(asked: Asked, board: Board, order: list[int]) -> list[int]:
    wanted = needs(asked)
    best = order[:DEPTH]
    held = dict(zip(best, units(asked, wanted, [board.turns[at] for at in best]), strict=True))
    for place in range(min(LEADERS, len(order))):
        old = order[place]
        newer = [
            new
            for new in order[place + 1 : DEPTH]
            if new in held
            and board.scores[old] - board.scores[new] <= _gap(board.turns[new], held[new])
            and _is_version(asked, board, old, new)
            and _is_now(board.turns[new], held[new])
            and not _of_another(asked, board.turns[old], held[new])
            and (
                _alike(wanted, held[old], held[new])
                or _is_new_entry(asked, wanted, (board.turns[old], held[old]), (board.turns[new], held[new]))
            )
        ]
        if newer:
            new = max(newer, key=lambda at: (board.turns[at].said_at or 0, board.turns[at].key))
            order.insert(place, order.pop(order.index(new)))
    return order


def _first(asked: Asked, board: Board, order: list[int]) -> list[int]:
    """The order with the earliest of like statements first, where its score is nearly that of a later one."""
    wanted, best = needs(asked), order[:DEPTH]
    held = dict(zip(best, units(asked, wanted, [board.turns[at] for at in best]), strict=True))
    for place in range(min(LEADERS, len(order))):
        new = order[place]
        older = [
            old
            for old in order[place + 1 : DEPTH]
            if board.scores[new] - board.scores[old] <= NEARLY
            and _is_version(asked, board, old, new)
            and _alike(wanted, held[new], held[old])
        ]
        if older:
            old = min(older, key=lambda at: (board.turns[at].said_at or 0, board.turns[at].key))
            order.insert(place, order.pop(order.index(old)))
    return order


def _gap(turn: Turn, unit: Unit) -> float:
    return TOLD_GAP if _tells_change(unit) or _says_sorry(turn) else GAP


def _says_sorry(turn: Turn) -> bool:
    return not _corrections().isdisjoint(turn.described.words.split())


@cache
def _corrections() -> frozenset[str]:
    return frozenset(words("sorry wrong correction mistake meant"))


_BEFORE = re.compile(r"\b(?:before|prior to|until)\s+(?!\w+ing\b)(?P<tail>[^,;?\d]+)[,;?]", re.I)
LEFT = 0.5
"""The share of what is asked, without what came after, that the turn of the time before must meet."""


def _before_that(asked: Asked, board: Board, order: list[int]) -> list[int]:
    """ "Who was it before Chidi?": what names the one after, or was said later, does not tell the one before."""
    tail = _BEFORE.search(asked.text)
    if tail is None or not order:
        return order
    after = set(words(tail["tail"]))
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


def _is_version(asked: Asked, board: Board, old: int, new: int) -> bool:
    """Said later, by whoever may speak of the same matter, with the same kind of value."""
    a, b = board.turns[old], board.turns[new]
    if not _is_later(a, b) or b.said_at == a.said_at or "assistant" in (a.role, b.role):
        return False
    if a.speaker != b.speaker and asked.people:
        return False
    kinds = asked.wants & ~NAME
    if kinds and not (a.described.flags & kinds and b.described.flags & kinds):
        return False
    chosen = [board.parts[name] for name in CHOSEN if name in board.parts]
    return all(part[old] <= part[new] for part in chosen)


def _is_now(turn: Turn, unit: Unit) -> bool:
    """Whether the best sentence of a turn tells how things are: not what might be, is not, or was long ago."""
    tokens = set(unit.sentence.split())
    if not tokens.isdisjoint(_unreal()) or (
        not tokens.isdisjoint(_negations()) and tokens.isdisjoint(_over())
    ):
        return False
    dates = turn.described.dates
    return not dates or turn.said_at is None or any(end > turn.said_at - LONG_AGO for _, end in dates)


def _of_another(asked: Asked, old: Turn, new: Unit) -> bool:
    """Whether the newer one brings a relative into it of whom neither the older one nor the question speaks."""
    kin = _kin().intersection(new.sentence.split())
    return not kin <= {*old.described.words.split(), *words(asked.text)}


@cache
def _unreal() -> frozenset[str]:
    return frozenset(words("imagine wish"))


@cache
def _negations() -> frozenset[str]:
    return frozenset(words("don't doesn't didn't isn't aren't wasn't haven't hasn't never"))


@cache
def _over() -> frozenset[str]:
    return frozenset(words("longer anymore more"))


@cache
def _kin() -> frozenset[str]:
    return frozenset(
        words(" ".join(lines("kin.txt")) + " wife husband partner boyfriend girlfriend friend colleague boss")
    )


@cache
def _changes() -> frozenset[str]:
    """Words that alone tell of a change."""
    return frozenset(words(" ".join(lines("turning_words.txt")))) - {"start", "end", "close"}


def _alike(wanted: Sequence[Need], old: Unit, new: Unit) -> bool:
    """Whether the newer one speaks of the matter that the older one speaks of, and says as much of it.

    It has to hold the names of the question that the older one holds, and either most of the other words (half of
    them where it tells a change) or one of them and as much of the question in all.
    """
    if old.share < MEETS and new.share < old.share:
        return False
    if min(_alone(wanted, old), _alone(wanted, new)) < ALONE:
        return False
    least = CHANGED if _tells_change(new) else ALIKE
    held, shared = _held(wanted, old, new, names=True)
    if shared < CHANGED * held:
        return False
    others, same = _held(wanted, old, new, names=False)
    as_much = new.share >= ALIKE * old.share and (same > 0 or (not others and shared > 0))
    return as_much or (others > 0 and same >= least * others)


def _is_new_entry(
    asked: Asked, wanted: Sequence[Need], old: tuple[Turn, Unit], new: tuple[Turn, Unit]
) -> bool:
    """Whether both give figures of one thing: "40 seats at £18 a month", and later "55 seats, £17.50".

    They share the names of the question and two words that it does not name; one where the newer tells a change.
    """
    (a, held), (b, later) = old, new
    if not a.described.flags & b.described.flags & NUMBER or held.share < MEETS:
        return False
    names, both = _held(wanted, held, later, names=True)
    if both < CHANGED * names or later.share < CHANGED * held.share:
        return False
    said = {token for token in _content(a) & _content(b) if token.isalpha()} - _names(asked)
    return len(said) >= (1 if _tells_change(later) else 2)


def _alone(wanted: Sequence[Need], unit: Unit) -> float:
    """The share of the question that one sentence meets, without what stands around it."""
    total = sum(need.weight for need in wanted if need.stem)
    met = degrees(wanted, unit.sentence)
    held = sum(need.weight * degree for need, degree in zip(wanted, met, strict=True) if need.stem)
    return held / total if total else 1.0


def _tells_change(unit: Unit) -> bool:
    return not _changes().isdisjoint(unit.sentence.split())


def _held(wanted: Sequence[Need], old: Unit, new: Unit, *, names: bool) -> tuple[float, float]:
    """(weight of the needs that the older one holds, of those that both hold), of names or of other words."""
    both = [
        (need.weight, other >= PLAINLY)
        for need, one, other in zip(wanted, old.degrees, new.degrees, strict=True)
        if need.stem and one >= PLAINLY and need.word[:1].isupper() is names
    ]
    return sum(weight for weight, _ in both), sum(weight for weight, shared in both if shared)
