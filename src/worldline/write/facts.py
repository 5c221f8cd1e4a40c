"""Writing facts that were given directly: ends to entities, a threshold to a status, then the handler.

What a fact closes is decided by the `fact` handler; this module settles who it speaks of, when it
holds, and which words it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson
from msgspec import Struct

from worldline.clock import FOREVER, Instant, Interval, instant, interval
from worldline.config import Config
from worldline.errors import InvalidInput, NotFound
from worldline.handle import Place
from worldline.hashing import fact_id
from worldline.model import EdgeDraft, Evidence, Fact, FactDraft, NodeDraft, Predicate, Status
from worldline.store.tx import Tx
from worldline.write.check import clean_name, clean_text
from worldline.write.put import entity

_ID = re.compile(r"[0-9a-f]{64}")


class Told(Struct, frozen=True):
    """The event a fact was drawn from, if any: its key and when it was said."""

    event: int = 0
    said_at: Instant | None = None


def assert_fact(
    tx: Tx, fact: Fact, place: Place, told: Told, predicate: Predicate, config: Config
) -> tuple[int, bool]:
    """Believes one fact; (key of the Fact node, whether anything changed)."""
    subject = _end(tx, fact.subject, place)
    object_, literal = _object(tx, fact, place)
    valid, stated = _when(tx, fact, told)
    status, confidence, precision, reason = _grounding(fact, predicate, config)
    key, line = _fact_node(tx, fact, (subject, object_, literal), place, valid)
    draft = FactDraft(
        key,
        predicate.name,
        predicate.functional if fact.functional is None else fact.functional,
        stated,
        fact.correction,
        status,
        confidence,
        precision,
        reason,
    )
    edge = EdgeDraft(subject, "fact", object_, valid, place.scope, fact=draft)
    changed = tx.add_fact(edge, key, literal)
    for evidence in _evidence(fact, told, tx):
        _, new = tx.link(
            EdgeDraft(
                line, "derived_from", evidence[0], Interval(valid.start), place.scope, evidence[1]
            )
        )
        changed = changed or new
    return key, changed


def _end(tx: Tx, name: str, place: Place) -> int:
    if not _ID.fullmatch(name):
        return entity(tx, name, place)
    found = tx.named(name)
    if not found:
        raise NotFound(f"no memory {name[:12]}… here")
    return found[0][1]


def _object(tx: Tx, fact: Fact, place: Place) -> tuple[int, str | None]:
    if (fact.object is None) == (fact.literal is None):
        raise InvalidInput(
            "a fact needs exactly one of object (a name or an id) and literal (a value)"
        )
    if fact.object is not None:
        return _end(tx, fact.object, place), None
    if not isinstance(fact.literal, str | int | bool):
        raise InvalidInput(f"a literal is text, a whole number or a truth value, not {fact.literal!r}; "
                           "write other numbers as text")  # fmt: skip
    if isinstance(fact.literal, str):
        clean_text(fact.literal, "literal", 65536)
    return 0, orjson.dumps(fact.literal).decode()


def _when(tx: Tx, fact: Fact, told: Told) -> tuple[Interval, bool]:
    start = fact.valid_from
    if start is None:
        start = tx.stamp if told.said_at is None else told.said_at
    end = FOREVER if fact.valid_to is None else instant(fact.valid_to)
    return interval(start, end), fact.valid_from is not None


def _fact_node(
    tx: Tx, fact: Fact, ends: tuple[int, int, str | None], place: Place, valid: Interval
) -> tuple[int, int]:
    subject, object_, literal = ends
    predicate = clean_name(fact.predicate, "predicate")
    world = tx.id_of(place.world) if place.world else None
    id_ = fact_id(
        tx.id_of(subject), predicate, tx.id_of(object_) if object_ else None, literal, world
    )
    content = (
        f"{_called(tx, subject)} {predicate} {_called(tx, object_) if object_ else fact.literal}"
    )
    draft = NodeDraft(
        "Fact", predicate, content, valid=valid, world=place.world, scope=place.scope, id=id_
    )
    key, line, _ = tx.payload_only(draft)
    return key, line


def _called(tx: Tx, line: int) -> str:
    return str(tx.query("SELECT name FROM nodes WHERE id = :line", line=line)[0][0])


def _grounding(
    fact: Fact, predicate: Predicate, config: Config
) -> tuple[Status, float, str | None, str | None]:
    """Status, confidence, precision and reason: below its class's threshold a fact is quarantined."""
    if not 0 <= fact.confidence <= 1:
        raise InvalidInput(f"confidence lies between 0 and 1, not at {fact.confidence}")
    threshold = config.thresholds.get(predicate.threshold_class, config.default_confidence)
    if fact.confidence >= threshold:
        return "believed", fact.confidence, fact.precision, fact.reason
    reason = f"confidence {fact.confidence:g} is below {threshold:g}"
    return "quarantined", fact.confidence, fact.precision, reason


def _evidence(fact: Fact, told: Told, tx: Tx) -> Sequence[tuple[int, dict[str, int]]]:
    given = [(_event(tx, e), _span(e)) for e in fact.evidence]
    return given or ([(told.event, {})] if told.event else [])


def _event(tx: Tx, evidence: Evidence) -> int:
    found = tx.named(evidence.event)
    if len(found) != 1:
        raise NotFound(f"no event {evidence.event[:12]}… here to cite")
    return found[0][1]


def _span(evidence: Evidence) -> dict[str, int]:
    pairs = (("start", evidence.start), ("end", evidence.end))
    return {name: value for name, value in pairs if value is not None}
