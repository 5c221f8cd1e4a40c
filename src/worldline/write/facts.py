"""The parts of a given fact: its ends as entities, its threshold as a status, the words that it rests on.

What a fact closes is decided by the `fact` handler, and the store puts it (`store/slots.py`); this module settles
who it speaks of, when it holds, and which words it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson

from worldline.clock import FOREVER, Interval, instant, interval
from worldline.config import Config
from worldline.errors import InvalidInput, NotFound
from worldline.handle import Place
from worldline.inputs import clean_name, clean_struct, clean_text
from worldline.model import EdgeDraft, Evidence, Fact, Metadata, Predicate, Status
from worldline.ports import Tx
from worldline.reading.given import whole_date
from worldline.write.put import ToldBy
from worldline.write.resolve import known_or_new

_ID = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"[0-9a-f]{8,64}")


def cite(tx: Tx, fact: int, evidence: Sequence[tuple[int, Metadata]], place: Place, valid: Interval) -> bool:
    """Joins a fact with the words it came from; whether any of them is new."""
    since = Interval(valid.start)
    edges = [EdgeDraft(fact, "derived_from", event, since, place.scope, span) for event, span in evidence]
    return any(tx.link_all(edges))


def end_of(tx: Tx, name: str, place: Place) -> int:
    """The entity that a given fact speaks of: by its id, or by its name."""
    if not _ID.fullmatch(name):
        return known_or_new(tx, clean_name(name), place)[0]
    found = tx.named(name)
    if not found:
        raise NotFound(f"no memory {name[:12]}… here")
    return found[0][1]


def object_of(tx: Tx, fact: Fact, place: Place) -> tuple[int, str | None]:
    """The object of a given fact: an entity, or a literal as JSON."""
    if (fact.object is None) == (fact.literal is None):
        raise InvalidInput("a fact needs exactly one of object (a name or an id) and literal (a value)")
    if fact.object is not None:
        return end_of(tx, fact.object, place), None
    if not isinstance(fact.literal, str | int | bool):
        raise InvalidInput(f"a literal is text, a whole number or a truth value, not {fact.literal!r}; "
                           "write other numbers as text")  # fmt: skip
    if isinstance(fact.literal, str):
        clean_text(fact.literal, "literal", 65536)
    return 0, orjson.dumps(fact.literal).decode()


def when_of(tx: Tx, fact: Fact, told: ToldBy) -> tuple[Interval, bool]:
    """When a given fact holds, and whether its start was stated."""
    said_at = tx.stamp if told.said_at is None else told.said_at
    end = FOREVER if fact.valid_to is None else instant(whole_date(fact.valid_to))
    if fact.valid_from is None and end <= said_at:
        return Interval(end - 1, end), True  # nobody says since when; it held until then
    start = said_at if fact.valid_from is None else instant(whole_date(fact.valid_from))
    return interval(start, end), fact.valid_from is not None


def grounding(confidence: float, predicate: Predicate, config: Config) -> tuple[Status, str | None]:
    """Status and reason: below its predicate class's threshold a fact is quarantined."""
    if not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence lies between 0 and 1, not at {confidence}")
    threshold = config.thresholds.get(predicate.threshold_class, config.default_confidence)
    if confidence >= threshold:
        return "believed", None
    return "quarantined", f"confidence {confidence:g} is below {threshold:g}"


def evidence_of(fact: Fact, told: ToldBy, tx: Tx) -> Sequence[tuple[int, Metadata]]:
    """The words that a given fact cites, or those that it was given with."""
    given = [(_event(tx, e), _span(e)) for e in fact.evidence]
    return given or ([(told.event, {})] if told.event else [])


def _event(tx: Tx, evidence: Evidence) -> int:
    evidence = clean_struct(evidence, Evidence)
    found = tx.named(evidence.event) if _PREFIX.fullmatch(evidence.event) else []
    if len(found) != 1:
        raise NotFound(f"no event {evidence.event[:12]}… here to cite")
    return found[0][1]


def _span(evidence: Evidence) -> Metadata:
    pairs = (("start", evidence.start), ("end", evidence.end))
    return {name: value for name, value in pairs if value is not None}
