"""Another value for a fact: it changed, or it was wrong.

A fact's words are its identity, so it is never rewritten: the old one ends (or was never true) and a
new one of the same subject and relation is believed in its place, through the same rules as any other.
The new value is given alone ("Porto") or as the whole sentence ("Ana lives in Porto").
"""

from __future__ import annotations

from worldline.errors import InvalidInput, Refused
from worldline.handle import Done, Handle, Place
from worldline.model import Fact
from worldline.ports import Tx
from worldline.reading.families import families
from worldline.rules.wording import sentence
from worldline.store.lookup import Target
from worldline.store.revising import Parts, parts_of
from worldline.text import fold
from worldline.write import change
from worldline.write.given import believe


def is_fact(tx: Tx, target: Target) -> bool:
    """Whether a target is a fact."""
    return any(node.type == "Fact" for node, _ in change.held(tx, target.line))


def revise(
    tx: Tx, target: Target, revision: change.Revision, place: Place, handle: Handle, *, wrong: bool
) -> Done:
    """Ends or withdraws the fact and believes the new value instead."""
    if revision.name is not None:
        raise Refused("a fact has no name of its own; give its new value as content")
    node, belief = change.held(tx, target.line)[-1]
    parts = parts_of(tx, node.key)
    value = _value(parts, revision.content or "")
    if fold(value) == fold(parts.value) and revision.valid_from is None and revision.valid_to is None:
        return tx.id_of(node.line), False
    start = (
        revision.valid_from
        if revision.valid_from is not None
        else belief.valid.start
        if wrong
        else max(tx.stamp, belief.valid.start + 1)
    )
    if wrong:
        change.withdraw(tx, target.line, revision.reason or "it was wrong")
    else:
        change.retire(tx, target.line, start, revision.reason or "it changed")
    given = Fact(
        parts.subject,
        parts.slot if parts.slot in families().all and "_" in parts.slot else parts.phrase,
        None if parts.literal else value,
        value if parts.literal else None,
        valid_from=start,
        valid_to=revision.valid_to,
        precision=belief.precision if wrong and revision.valid_from is None else None,
        reason=revision.reason,
    )
    key, changed = believe(tx, given, place, handle)
    return tx.id_of(key), changed


def _value(parts: Parts, content: str) -> str:
    """The new value, taken out of its sentence where a whole one is given."""
    said = " ".join(content.split())
    opening = sentence(parts.name, parts.phrase, "")
    if said.casefold().startswith(opening.casefold() + " "):
        said = said[len(opening) + 1 :]
    if not said.strip("."):
        raise InvalidInput("a fact needs a value: give it alone, or as the whole sentence")
    return said.removesuffix(".")
