"""What recall knows beyond the words it found, in one shape for every surface: the answer, its proof, the facts.

It decides nothing about the answer; it looks up the memories that prove it, so that whoever reads the
answer can cite them, and says how sure it is and why it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from worldline.clock import EXACT, LATEST, Interval, calendar, to_datetime
from worldline.errors import NotFound
from worldline.memory import Memory
from worldline.model import Hit, Node, Recall


class Cited(Struct, frozen=True, omit_defaults=True):
    """A memory that proves something, or a fact that speaks to the question."""

    id: str
    text: str
    since: str | None = None
    until: str | None = None


class KnownAnswer(Struct, frozen=True, omit_defaults=True):
    """What is known of a question."""

    confidence: float
    abstained: bool = False
    reason: str | None = None
    answer: str | None = None
    proof: list[Cited] = []
    facts: list[Cited] = []


def known(memory: Memory, found: Recall, digits: int = 64) -> KnownAnswer:
    """The answer with its proof, the facts, and how sure that is; ids of so many digits."""
    return KnownAnswer(
        round(found.sure, 2),
        found.abstained,
        found.reason and found.reason[:200],
        found.answer,
        [_cited(node, digits) for id_ in found.proof if (node := _node(memory, id_)) is not None],
        [
            Cited(fact.id[:digits], fact.text, *_held(fact.valid, fact.precision))
            for fact in found.facts
            if fact.id not in found.proof
        ],
    )


def shortened(told: KnownAnswer, room: int, size: Callable[[Any], int]) -> KnownAnswer:
    """The same within so many tokens: facts go first, then proof; the answer and how sure it is stay."""
    while size(plain(told)) > room and (told.facts or told.proof):
        if told.facts:
            told = replace(told, facts=told.facts[:-1])
        else:
            told = replace(told, proof=told.proof[:-1])
    return told


def worth_showing(found: Recall, limit: int | None = None) -> tuple[Hit, ...]:
    """Best first: so many as were asked for, else as many as stand out."""
    return found.hits if limit else found.hits[: found.few]


def _node(memory: Memory, id_: str) -> Node | None:
    try:
        return memory.get(id_, exact=True)
    except NotFound:
        return None


def _cited(node: Node, digits: int) -> Cited:
    said = f"{node.name}: {node.content}" if node.type == "Turn" and node.name else node.content or node.name
    return Cited(node.id[:digits], said, *_held(node.valid, node.precision))


def _held(valid: Interval, precision: str | None) -> tuple[str | None, str | None]:
    return tuple(_day(at, precision) for at in (valid.start, valid.end))  # type: ignore[return-value]


def _day(at: int, precision: str | None) -> str | None:
    if at >= LATEST or at < -(10**17):
        return None
    return calendar(at, precision) if precision and precision not in EXACT else f"{to_datetime(at):%Y-%m-%d}"


def opening(known: KnownAnswer) -> list[str]:
    """Answer, proof and doubt as the lines that stand above the evidence."""
    lines = [f"Not sure that this is known: {known.reason}"] if known.reason else []
    if known.answer is not None:
        lines.append(f"Answer: {known.answer}")
        lines += [f"  because {item.text}  ({item.id})" for item in known.proof]
    return lines + [f"Believed: {item.text}  ({item.id})" for item in known.facts]


def plain(value: Struct) -> dict[str, Any]:
    """As JSON values, without what is empty."""
    made: dict[str, Any] = to_builtins(value)
    return made
