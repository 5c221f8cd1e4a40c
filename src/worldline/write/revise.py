"""Revising and joining what somebody names: memories, edges, and facts, whose words are their identity.

A fact is never rewritten: the old one ends (or was never true) and a new one of the same subject and
relation is believed in its place, through the same rules as any other. The new value is given alone
("Porto") or as the whole sentence ("Ana lives in Porto"). What a change does to other memories is in
`write/change.py`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant, When, instant
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.handle import Done, Handle, Place
from worldline.inputs import clean_interval, clean_metadata
from worldline.model import Edge, EdgeDraft, Fact, Metadata, Receipt
from worldline.ports import Tx
from worldline.reading.families import families
from worldline.rules.slots import sentence
from worldline.store import registry
from worldline.store.histories import beliefs_in
from worldline.store.registry import Target
from worldline.store.slots import Parts, parts_of
from worldline.text import fold
from worldline.write import change
from worldline.write.change import Revision
from worldline.write.given import believe


def amend(tx: Tx, place: Place, handle: Handle, ref: Any, revision: Revision) -> Done:
    """It changed."""
    target = handle.target(tx, ref)
    if revision.content is not None and _is_fact(tx, target):
        return _revised(tx, target, revision, place, handle, wrong=False)
    key, changed = change.amend(tx, target.line, revision, handle.config.max_text)
    return tx.id_of(key), changed


def correct(tx: Tx, place: Place, handle: Handle, ref: Any, revision: Revision) -> Done:
    """It was wrong; with nothing to replace it, it was never true."""
    if isinstance(ref, Edge) and ref.type != "fact":
        return bytes.fromhex(ref.id), change.end_edge(tx, _believed(tx, handle, ref), None, wrong=True)
    target = handle.target(tx, ref)
    if revision == Revision(reason=revision.reason):
        return tx.id_of(target.line), change.withdraw(tx, target.line, revision.reason)
    if revision.content is not None and _is_fact(tx, target):
        return _revised(tx, target, revision, place, handle, wrong=True)
    key, changed = change.correct(tx, target.line, target.key, revision, handle.config.max_text)
    return tx.id_of(key), changed


def retire(tx: Tx, handle: Handle, ref: Any, at: Instant | None, reason: str | None) -> tuple[bytes, bool]:
    """It is over."""
    if isinstance(ref, Edge) and ref.type != "fact":
        return bytes.fromhex(ref.id), change.end_edge(tx, _believed(tx, handle, ref), at, wrong=False)
    target = handle.target(tx, ref)
    return tx.id_of(target.line), change.retire(tx, target.line, at, reason)


def until(handle: Handle, done: Receipt, expires: When) -> Receipt:
    """The receipt of words that are known to expire, retired ahead of time with the facts that rest on them
    alone; undoing it takes both back, the words and their end."""
    if not done.changed or done.dry_run:
        return done
    words = done.ids or ((done.id,) if done.id else ())

    def work(tx: Tx, place: Place) -> Done:
        view = tx.as_view(world=handle.world)
        lines = [handle.resolve(view, word).line for word in words]
        drawn = view.visible([edge.src_line for edge in view.edges(lines, ("derived_from",), "in")])
        grounds = Counter(e.src_line for e in view.edges([n.line for n in drawn], ("derived_from",), "out"))
        lines += [node.line for node in drawn if node.type == "Fact" and grounds[node.line] == 1]
        ended = [change.retire(tx, line, instant(expires), "it was known to expire") for line in lines]
        return None, any(ended)

    ended = handle.write("retire", work).known_at
    return replace(done, known_at=ended, also=(done.known_at, *done.also))


def _believed(tx: Tx, handle: Handle, edge: Edge) -> list[Edge]:
    """The current beliefs in an edge, in this scope."""
    rows = beliefs_in(tx.as_view(world=handle.world), edge)
    if not rows:
        raise NotFound(f"no {edge.type} edge {edge.id[:12]} in this tenant, scope and world")
    return [row for row in rows if row.known.end == FOREVER]


# Facts -------------------------------------------------------------------------------------------


def _is_fact(tx: Tx, target: Target) -> bool:
    """Whether a target is a fact."""
    return any(node.type == "Fact" for node, _ in change.held(tx, target.line))


def _revised(
    tx: Tx, target: Target, revision: Revision, place: Place, handle: Handle, *, wrong: bool
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


# Joining ------------------------------------------------------------------------------------------


class Joining(Struct, frozen=True):
    """An edge as somebody states it."""

    src: Any
    type: str
    dst: Any
    valid_from: When | None = None
    valid_to: When | None = None
    metadata: Metadata | None = None
    predicate: str | None = None


def link(tx: Tx, place: Place, handle: Handle, edge: Joining) -> Done:
    """Puts the edge; a fact is believed as any fact is."""
    registry.edge_type(tx, edge.type, place.world, agent=handle.agent)
    view = tx.as_view(world=handle.world)
    source = handle.resolve(view, edge.src)
    target = handle.resolve(view.bind(world=0) if edge.type == "refers_to" else view, edge.dst)
    if edge.type == "fact":
        given = Fact(
            tx.id_of(source.line).hex(), edge.predicate or "", tx.id_of(target.line).hex(),
            valid_from=edge.valid_from, valid_to=edge.valid_to,
        )  # fmt: skip
        key, changed = believe(tx, given, place, handle)
        return tx.id_of(key), changed
    src, dst, since = _ends(tx, edge.type, source, target)
    if edge.type == "contains" and edge.valid_to is not None:
        raise Refused("a contains edge is open when it is made; retire it later")
    valid = clean_interval(edge.valid_from, edge.valid_to, tx.stamp if since is None else since)
    return tx.link(EdgeDraft(src, edge.type, dst, valid, place.scope, clean_metadata(edge.metadata)))


def _ends(tx: Tx, type_: str, source: Target, target: Target) -> tuple[int, int, Instant | None]:
    """Rows to join, and the moment the edge begins when its type decides that."""
    if not tx.types[type_].versions:
        return source.line, target.line, None
    src, since = _newest(tx, source)
    return src, _newest(tx, target)[0], since


def _newest(tx: Tx, target: Target) -> tuple[int, Instant]:
    """The version that was meant, or the newest believed one, and where it begins."""
    held = [
        (belief.valid.start, node.key)
        for belief, node in tx.history(target.line)
        if belief.known.end == FOREVER and target.key in (0, node.key)
    ]
    if not held:
        raise Refused("one end of the edge is not believed any more")
    since, key = max(held)
    return key, since
