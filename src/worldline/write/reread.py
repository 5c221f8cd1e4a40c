"""Reading everything again, straight through: after an upgrade, or with a parser where there was none.

    events of another reader, in the order in which they were said → read (outside the lock) →
    withdraw what is no longer drawn → settle what is new → keep the reading

One changeset takes some fifty events, so that a run can be broken off and goes on where it stopped;
a second run finds nothing to do. What somebody gave, confirmed or corrected by hand is left alone,
and so is what rests on other words too, or was read by a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant
from worldline.errors import Refused
from worldline.handle import Done, Handle, Place
from worldline.model import Belief, Close, FactRow, Scope
from worldline.ports import Tx, View
from worldline.reading import parser
from worldline.reading.claim import Claim
from worldline.reading.read import Reading, reader
from worldline.reading.voices import is_own_voice
from worldline.rules.handlers import restore
from worldline.rules.slots import NOT
from worldline.store import events, people, slots
from worldline.store.events import Stored, stored_event
from worldline.text import fold
from worldline.write.gate import FLOOR, Signals
from worldline.write.ground import keep_back
from worldline.write.reconcile import DECODER, ENCODER, reading_of, settle
from worldline.write.resolve import recluster

BATCH = 50
"""So many events are one changeset."""
READ_ANEW = "read anew"
NOBODY_READ = "nobody"
_WEAK = frozenset({"user", "other", "inferred"})
_BY_HAND = ("amend", "correct", "retire", "confirmed", "quarantined", "undo")
"""Changesets in which somebody decided about a memory."""

Progress = Callable[[str, int], None]


class Reread(Struct, frozen=True):
    """What reading everything again did."""

    reader: str
    events: int
    """How many were read again."""
    changed: int = 0
    """In how many of them something else was found."""
    believed: int = 0
    withdrawn: int = 0
    left: int = 0
    """How many still wait to be understood for the first time."""
    dry_run: bool = False


class Old(Struct, frozen=True):
    """An event that was read by another reader, and where it was said."""

    id: str
    key: int
    scopes: tuple[Scope, ...]
    world: int
    waits: bool


class RereadFact(Struct, frozen=True):
    """A fact that was drawn from an event, as far as reading again must know it."""

    row: FactRow | None
    """With its belief, where it is believed."""
    node: int
    subjects: frozenset[str]
    slots: frozenset[str]
    value: str
    weak: bool
    """Nobody has vouched for it, and it rests on this event alone."""
    by_hand: bool


# Who has read what ----------------------------------------------------------------------------------


class _Rereader(Struct):
    reader: str = ""


_READER = msgspec.msgpack.Decoder(_Rereader)


def readers(view: View) -> dict[str, int]:
    """How many events each reader has read; the empty name stands for none."""
    found: dict[str, int] = {}
    for kept in events.readings(view):
        name = _who(kept)
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _who(kept: bytes | None) -> str:
    try:
        return _READER.decode(kept).reader if kept else ""
    except msgspec.DecodeError:
        return ""


def is_stale(name: str, now: str) -> bool:
    """Whether what this reader read should be read again; an assistant's own words are nobody's."""
    return name != now and not name.startswith(NOBODY_READ)


def _todo(view: View, now: str, everything: bool) -> list[Old]:
    """The events to read again: those of one owner together, in the order in which they were said."""
    scopes = events.scope_sets(view)
    found = [
        Old(one.id, one.node, scopes.get(one.scope, ()), one.world, _waits(one.draft))
        for one in events.heard(view)
        if everything or is_stale(_who(one.reading), now)
    ]
    return sorted(found, key=_owner)  # stable, so that the order of time stays


def _owner(old: Old) -> tuple[str, ...]:
    """Facts of two owners, or of two worlds, never meet."""
    first = old.scopes[0] if old.scopes else Scope()
    return (first.user or "", first.agent or "", first.app or "", str(old.world))


def _waits(draft: str | None) -> bool:
    """Whether it was not understood even once; `resume` does that."""
    return any(item.get("extract") or item.get("facts") for item in orjson.loads(draft or "[]"))


# The walk ---------------------------------------------------------------------------------------------


def reread(
    handle: Handle, *, everything: bool = False, progress: Progress | None = None, dry_run: bool = False
) -> Reread:
    """Reads again what another reader read (or everything), and brings the facts up to date."""
    if handle.config.understand == "off":
        raise Refused("the setting `understand` is off, so that nothing is read; set it to rules first")
    parser.parse(["Ready."])  # so that a damaged parser is known before anything is compared with it
    now = reader()
    todo = handle.read(lambda view: _todo(view, now, everything))
    done = Reread(now, 0, left=sum(old.waits for old in todo), dry_run=dry_run)
    for batch in _batches([old for old in todo if not old.waits]):
        done = _added(done, _batch(handle, batch, dry_run=dry_run))
        if progress is not None:
            progress(f"reading again, of {len(todo):,}", done.events)
    return done


def _batches(todo: Sequence[Old]) -> Iterator[list[Old]]:
    for _, group in groupby(todo, key=lambda old: (old.scopes, old.world)):
        same = list(group)
        yield from (same[at : at + BATCH] for at in range(0, len(same), BATCH))


def _added(done: Reread, more: Reread) -> Reread:
    sums = {
        name: getattr(done, name) + getattr(more, name)
        for name in ("events", "changed", "believed", "withdrawn")
    }
    return replace(done, **sums)


def _batch(handle: Handle, batch: Sequence[Old], *, dry_run: bool) -> Reread:
    """One changeset: the readings are made before it takes the lock."""
    bound = replace(handle, scopes=batch[0].scopes, world=batch[0].world, session=None)
    before = bound.read(lambda view: [stored_event(view, old.id) for old in batch])
    fresh = [reading_of(replace(event, reading=None), bound.scope.user) for event in before]
    counts: list[tuple[int, int]] = []
    done: Tx | None = None

    def work(tx: Tx, place: Place) -> Done:
        nonlocal done
        done = tx
        counts.clear()
        hands = slots.decided_by_hand(tx, _BY_HAND)
        for old, event, said in zip(batch, before, fresh, strict=True):
            if stored_event(tx, old.id).reading == event.reading:  # else somebody was faster
                counts.append(_again(tx, event, said, place, bound, hands))
        return None, any(map(any, counts))

    bound.write("reread", work, dry_run=dry_run)
    if not dry_run:
        recluster(bound, done)
    return Reread(
        "", len(batch), sum(map(any, counts)), sum(new for new, _ in counts), sum(gone for _, gone in counts)
    )


# One event ----------------------------------------------------------------------------------------------


def _again(
    tx: Tx, event: Stored, said: Reading, place: Place, handle: Handle, hands: frozenset[Instant]
) -> tuple[int, int]:
    """Settles what the new reading adds and takes away: (facts believed, facts withdrawn)."""
    kept = _kept(event)
    _keep(tx, event, said)
    if replace(said, reader="") == replace(kept, reader="") or not _is_worth_it(tx, event):
        return 0, 0
    drawn = list(_drawn(tx, event, place, hands))
    gone = [fact for fact in drawn if fact.weak and not any(_is_said(fact, claim) for claim in said.claims)]
    for fact in gone:
        _withdraw(tx, fact)
    known = {_meaning(claim) for claim in kept.claims}
    stays = [fact for fact in drawn if fact.by_hand or (fact.row is not None and fact not in gone)]
    given = {(subject, slot) for fact in drawn if not fact.weak and fact.row is not None for subject in fact.subjects
             for slot in fact.slots if slots.rank_of(tx, fact.node) == "given"}  # fmt: skip
    new = [
        claim
        for claim in said.claims
        if not any(_is_said(fact, claim) for fact in stays)
        and (fold(claim.subject), claim.key) not in given
        and (claim.effect != "ends" or _meaning(claim) not in known)
    ]
    if replace(said, reader="", claims=()) == replace(kept, reader="", claims=()):
        said = Reading(said.reader, said.claims)  # what it says beyond its claims has had its effect
    before = tx.next_row("beliefs")
    settle(tx, new, event, place, handle, said=said)
    return tx.next_row("beliefs") - before, len(gone)


def _kept(event: Stored) -> Reading:
    try:
        return DECODER.decode(event.reading) if event.reading else Reading("")
    except msgspec.DecodeError:
        return Reading("")


def _keep(tx: Tx, event: Stored, said: Reading) -> None:
    events.keep_reading(tx, event.key, ENCODER.encode(said))


def _is_worth_it(tx: Tx, event: Stored) -> bool:
    """What the gate took for noise or an echo when it was said is no ground for facts now."""
    from worldline.write.remember import ECHO

    row = events.signals_of(tx, event.key)
    if not row or not is_own_voice(event.speaker):
        return is_own_voice(event.speaker)
    try:
        signals = msgspec.json.decode(row, type=Signals)
    except msgspec.DecodeError:
        return True
    return signals.salience >= FLOOR and signals.reason != ECHO


def _meaning(claim: Claim) -> Claim:
    """A claim without what does not change what it says."""
    return replace(claim, chars=(0, 0), confidence=0.0, predicate="", matter="")


def _is_said(fact: RereadFact, claim: Claim) -> bool:
    """Whether a claim says what a stored fact says."""
    return (
        fold(claim.subject) in fact.subjects
        and bool(fact.slots & {claim.key, f"{NOT}{claim.key}"})
        and (fold(claim.object) == fact.value or (claim.effect == "ends" and not claim.object))
    )


def _drawn(tx: Tx, event: Stored, place: Place, hands: Collection[Instant]) -> Iterator[RereadFact]:
    """Every fact that was ever drawn from an event in this scope."""
    for one in slots.drawn_from(tx, event.key, place.scope):
        beliefs = slots.beliefs_in(tx, one.row, place.scope)
        by_hand = any(at in hands for b in beliefs for at in (b.known.start, b.known.end))
        held = [b for b in beliefs if b.current]
        sound = one.rank in _WEAK and one.rests_on <= 1 and not by_hand and not one.by_model
        yield RereadFact(
            FactRow(one.row, one.subject, one.slot, one.object, one.literal, held[-1]) if held else None,
            one.row,
            frozenset(map(fold, people.ever_called(tx, one.subject))),
            frozenset({one.slot, one.key}),
            fold(one.value),
            sound and bool(held) and all(b.status == "believed" for b in held),
            by_hand,
        )


def _withdraw(tx: Tx, fact: RereadFact) -> None:
    """It was never said: it is given up, and what it had ended goes on."""
    row = fact.row
    assert row is not None
    content = slots.words_of(tx, fact.node)
    for belief in slots.beliefs_in(tx, fact.node, row.belief.scope):
        if belief.current:
            tx.close(Close(belief, reason=READ_ANEW), READ_ANEW)
            _reopen(tx, row, belief)
    tx.changes.append(f"{content}: withdrawn, the words do not say so")
    keep_back(tx, fact.node)


def _reopen(tx: Tx, fact: FactRow, gone: Belief) -> None:
    """Gives the facts of the slot that ended where this one began, because of it, their time back."""
    for node in slots.ended_at(tx, fact, gone.scope, gone.valid.start):
        all_ = slots.beliefs_in(tx, node, gone.scope)
        cut = [b for b in all_ if b.current and b.valid.end == gone.valid.start]
        for now in cut:
            former = [b for b in all_ if b.known.end == now.known.start and b.valid.start == now.valid.start]
            if former and now.known.start >= gone.known.start and former[-1].valid.end == FOREVER:
                tx.apply(restore([now], gone.valid.start, former[-1].valid), READ_ANEW)
