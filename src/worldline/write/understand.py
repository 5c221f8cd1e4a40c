"""From claims to facts: whom a claim speaks of, which slot it falls into, and what it ends there.

Extraction says what a text claims (`extract.py`), the slot rules say what that does to what is
believed (`rules/slots.py`); this module looks up what both need, carries the decision out through
the fact handler, and ties every fact and every mention to the words it came from.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.claims import Claim, stem
from worldline.clock import Instant, Interval, to_datetime
from worldline.handle import Handle, Place
from worldline.model import Close, EdgeDraft, FactDraft, FactRow, Metadata
from worldline.rules.describe import role_of
from worldline.rules.slots import Decision, Held, decide, oriented, slot_of
from worldline.store import registry
from worldline.store.tx import Tx
from worldline.store.view import SqlView, fact_from
from worldline.text import fold
from worldline.write.check import clean_name
from worldline.write.extract import extract
from worldline.write.facts import Settled, cite, grounding, put_fact
from worldline.write.put import Told
from worldline.write.resolve import mention

NOBODY = "user"
"""Whom "I" means when nobody says who speaks."""


class Stored(Struct, frozen=True):
    """An event as understanding needs it."""

    key: int
    text: str
    speaker: str
    recipient: str
    said_at: Instant
    utc_offset: int
    draft: str | None = None
    """What was still to be done with it when it was read."""


def stored_event(view: SqlView, event: str) -> Stored:
    """The event of an id, as understanding needs it."""
    rows = view.query(
        "SELECT e.node, n.content, e.sender, coalesce(e.recipient, ''), e.said_at, e.utc_offset, e.draft"
        " FROM nodes n CROSS JOIN events e ON e.node = n.id WHERE n.tenant = :t AND n.hash = :hash",
        hash=bytes.fromhex(event),
    )
    return Stored(*rows[0])


def is_own_voice(event: Stored) -> bool:
    """Whether somebody speaks for themselves; an assistant does not."""
    return not event.speaker or role_of(event.speaker) != "assistant"


def claims_of(event: Stored) -> list[Claim]:
    """What an event claims; an assistant's own words are not evidence about the world."""
    if not is_own_voice(event):
        return []
    said_at = to_datetime(event.said_at, event.utc_offset)
    return extract(event.text, event.speaker or NOBODY, event.recipient, said_at)


def settle(
    tx: Tx,
    claims: Sequence[Claim],
    event: Stored,
    place: Place,
    handle: Handle,
    by: tuple[tuple[str, str], ...] = (),
) -> bool:
    """Believes every claim, in the order of the text; whether anything changed."""
    told = Told(event.key, event.said_at, by)
    sound = [
        claim for claim in claims if claim.subject.strip() and (claim.object.strip() or claim.cue == "ends")
    ]
    changed = [_settle_one(tx, claim, told, place, handle) for claim in sound]
    return any(changed)


def _settle_one(tx: Tx, claim: Claim, told: Told, place: Place, handle: Handle) -> bool:
    claim = oriented(claim, lambda key: _times_seen(tx, key))
    elsewhere = _what_was_wrong(tx, claim, place)
    subject = elsewhere or mention(tx, claim.subject, told, place)
    held = _held(tx, subject, place)
    decision = _in_its_slot(decide(claim, [h for h, _ in held], _Known(tx, place)), held)
    if not decision.slot:
        return False
    start = told.said_at if claim.valid_from is None else claim.valid_from
    start = tx.stamp if start is None else start
    tx.changes.append(f"{claim.subject} {claim.predicate} {claim.object}: {decision.verb}, {decision.reason}")
    if decision.verb == "ends":
        return _end(tx, decision, [row for _, row in held], start)
    return _believe(tx, claim, decision, (subject, start), told, place, handle, held)


def _what_was_wrong(tx: Tx, claim: Claim, place: Place) -> int:
    """ "Not Porto, Faro": whom a correction speaks of, if just one open fact has the old value; else 0."""
    if claim.cue != "correction" or not claim.replaces or claim.key.strip("|"):
        return 0
    rows = tx.query(
        "SELECT DISTINCT f.subject FROM aliases a CROSS JOIN facts f ON f.tenant = :t AND f.object = a.line"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = f.node AND b.kt = :forever AND b.vt = :forever"
        " WHERE a.tenant = :t AND a.key = :old AND a.scope = :scope AND b.scope = :scope LIMIT 2",
        old=fold(claim.replaces),
        scope=place.scope,
    )
    return int(rows[0][0]) if len(rows) == 1 else 0


def _in_its_slot(decision: Decision, held: Sequence[tuple[Held, FactRow]]) -> Decision:
    """A correction that names only values falls into the slot of the value it corrects."""
    if decision.slot.strip("|"):
        return decision
    slots = [h.slot for h, _ in held if h.id in decision.closes]
    return replace(decision, slot=slots[0] if slots else "")


def _believe(
    tx: Tx,
    claim: Claim,
    decision: Decision,
    at: tuple[int, Instant],
    told: Told,
    place: Place,
    handle: Handle,
    held: Sequence[tuple[Held, FactRow]],
) -> bool:
    subject, start = at
    object_ = mention(tx, claim.object, told, place) if claim.kind == "entity" else 0
    literal = None if object_ else orjson.dumps(claim.object).decode()
    settled = Settled(
        subject, object_, literal, decision.slot, claim.predicate, claim.key, claim.kind,
        decision.one, claim.rank, claim.valid_from is not None,
    )  # fmt: skip
    valid = Interval(start)
    key = put_fact(tx, settled, place, valid)
    predicate = registry.predicate(tx, clean_name(decision.slot, "predicate"), place.world)
    status, doubt = grounding(claim.confidence, predicate, handle.config)
    rivals = tuple(row for h, row in held if h.id in decision.closes)
    stated = claim.valid_from is not None and (claim.begins or decision.verb != "repeats")
    draft = FactDraft(
        key, decision.slot, bool(rivals), stated,
        claim.cue == "correction" and bool(rivals), status, claim.confidence, claim.precision or None,
        _because(doubt or decision.reason, told), rivals, tx.is_new(key) and not tx.is_believed(key),
    )  # fmt: skip
    changed = tx.place_fact(EdgeDraft(subject, "fact", object_, valid, place.scope, fact=draft))
    if decision.verb == "contradicts":
        _contradict(tx, key, decision, held, place, start)
    if object_:
        _note_wording(tx, object_, claim)
    span: Metadata = {"start": claim.chars[0], "end": claim.chars[1], **dict(told.by)}
    return cite(tx, key, [(told.event, span)] if told.event else [], place, valid) or changed


def _because(reason: str, told: Told) -> str:
    """The reason of a belief, with who read it, if no rule did."""
    return "; ".join([reason, *(f"{what} {which}" for what, which in told.by)])


def _contradict(
    tx: Tx, key: int, decision: Decision, held: Sequence[tuple[Held, FactRow]], place: Place, start: Instant
) -> None:
    for other, row in held:
        if other.slot == decision.slot and row.node != key:
            tx.link(EdgeDraft(key, "contradicts", row.node, Interval(start), place.scope))


def _end(tx: Tx, decision: Decision, rows: Sequence[FactRow], start: Instant) -> bool:
    """What the text says is over ends when it was said to."""
    over = [r for r in rows if str(r.node) in decision.closes and r.belief.valid.start < start]
    for row in over:
        tx.close(Close(row.belief, valid_to=start, reason=decision.reason), "understand")
    return bool(over)


# What the slot rules ask ----------------------------------------------------------------------------


class _Known:
    """What the store knows about names and slots."""

    def __init__(self, tx: Tx, place: Place) -> None:
        self._tx, self._scope = tx, place.scope

    def kinds(self, name: str) -> frozenset[str]:
        rows = self._tx.query(
            "SELECT DISTINCT w.kind FROM aliases a"
            " CROSS JOIN wordings w ON w.tenant = :t AND w.object = a.line"
            " WHERE a.tenant = :t AND a.key = :name AND a.scope = :scope AND w.placed",
            name=name,
            scope=self._scope,
        )
        return frozenset(row[0] for row in rows)

    def typed(self, key: str) -> frozenset[str]:
        rows = self._tx.query(
            "SELECT DISTINCT kind FROM wordings WHERE tenant = :t AND key = :key AND placed", key=key
        )
        return frozenset(row[0] for row in rows)


def _times_seen(tx: Tx, key: str) -> int:
    rows = tx.query("SELECT 1 FROM facts WHERE tenant = :t AND key = :key LIMIT 1", key=key)
    return len(rows)


def _note_wording(tx: Tx, object_: int, claim: Claim) -> None:
    """What a text calls a thing ("the city of …"), for meeting of other wordings later."""
    placed = "#" in slot_of(claim)
    for kind in claim.types:
        tx.add("wordings", object_, claim.key, stem(kind), int(placed))


def _held(tx: Tx, subject: int, place: Place) -> list[tuple[Held, FactRow]]:
    """The facts that are believed of a subject and not over, in this scope's owner."""
    rows = tx.open_facts(subject, place.scope)
    return [
        (
            Held(
                str(row[0]), row[2], row[-1] if row[3] else str(orjson.loads(row[4] or '""')), row[5],
                bool(row[6]), row[7], row[11], bool(row[8]),
            ),
            fact_from((*row[:5], *row[9:20])),
        )
        for row in rows
    ]  # fmt: skip
