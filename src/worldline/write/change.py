"""Changing memories: it changed (amend), it was wrong (correct), it is over (retire), it is sure.

Three different things on two axes. Amending and retiring tighten valid time; correcting gives up a
belief on the known axis. None of them deletes anything, and each is idempotent. What hung on the
memory alone is kept back in the same changeset.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from worldline.clock import FOREVER, Instant, Interval, When, instant, show
from worldline.errors import Conflict, InvalidTime, Refused
from worldline.inputs import clean_name, clean_text
from worldline.model import Belief, Close, Edge, EdgeDraft, Node, NodeDraft, Status
from worldline.ports import Tx
from worldline.rules.handlers import tighten
from worldline.store.indexing import wake
from worldline.store.slots import world_of_node
from worldline.store.view import as_belief
from worldline.write.ground import keep_back


class Revision(Struct, frozen=True):
    """What an amendment or a correction says; None leaves a part as it was."""

    name: str | None = None
    content: str | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    reason: str | None = None

    @classmethod
    def of(
        cls, name: str | None, content: str | None, start: When | None, end: When | None, reason: str | None
    ) -> Revision:
        """From what a caller gives."""
        begins, ends = (None if at is None else instant(at) for at in (start, end))
        return cls(name, content, begins, ends, reason)


def held(tx: Tx, line: int) -> list[tuple[Node, Belief]]:
    """The versions of a lineage that are believed now, with their beliefs, earliest first."""
    return [(node, belief) for belief, node in tx.history(line) if belief.known.end == FOREVER]


def amend(tx: Tx, line: int, revision: Revision, limit: int) -> tuple[int, bool]:
    """A new version from `valid_from` on; what held until then stays true of its time."""
    start = tx.stamp if revision.valid_from is None else revision.valid_from
    holding = [(n, b) for n, b in held(tx, line) if start in b.valid]
    if not holding:
        raise Refused(f"it does not hold at {show(start)}; use correct to change what was believed of then")
    key, changed = 0, False
    for node, belief in holding:
        draft = _revised(node, belief, revision, limit, tx)
        if (draft.name, draft.content) == (node.name, node.content):
            key = key or node.key
            continue
        draft.valid = _from_then(start, min(belief.valid.end, _or_forever(revision.valid_to)))
        if belief.valid.start == start:
            raise Refused(
                "the version to replace begins at that very moment; if it was never true, use correct"
            )
        key = _put_version(tx, draft, line)
        tx.link(EdgeDraft(key, "supersedes", node.key, Interval(start), belief.scope))
        changed = True
    return key, changed


def _from_then(start: Instant, end: Instant) -> Interval:
    if end <= start:
        raise InvalidTime(f"amended, it would end ({show(end)}) before it begins ({show(start)})")
    return Interval(start, end)


def _or_forever(at: Instant | None) -> Instant:
    return FOREVER if at is None else at


def correct(tx: Tx, line: int, key: int, revision: Revision, limit: int) -> tuple[int, bool]:
    """The belief was wrong: give it up on the known axis and believe the replacement instead.

    `key` chooses a version; 0 takes the latest. Only here may validity be widened.
    """
    current = _to_correct(tx, line, key)
    if not current:
        raise Refused("there is nothing to correct")
    changed = False
    for node, belief in current:
        draft = _revised(node, belief, revision, limit, tx)
        draft.valid = _widened(belief.valid, revision)
        same = (draft.name, draft.content) == (node.name, node.content)
        key = node.key
        if not belief.current and (now := _in_its_place(tx, line, belief, draft)):
            key = now
            continue
        if same and draft.valid == belief.valid and belief.current:
            continue
        if belief.current:
            tx.close(Close(belief, reason=revision.reason or "corrected"), "correct")
        _make_room(tx, line, belief, draft.valid.start)
        if same:
            tx.believe(key, line, draft)
        else:
            key = _put_version(tx, draft, line)
            tx.link(EdgeDraft(key, "derived_from", node.key, Interval(tx.stamp), belief.scope))
        changed = True
    if changed:
        keep_back(tx, line)
    return key, changed


def _make_room(tx: Tx, line: int, corrected: Belief, start: Instant) -> None:
    """What it was before `start` ends there, and what it was from there to the old start never held."""
    for _, other in held(tx, line):
        if other.row == corrected.row or other.scope != corrected.scope:
            continue
        if other.valid.start < start < other.valid.end:
            tx.close(Close(other, valid_to=start, reason="corrected"), "correct")
        elif start <= other.valid.start < corrected.valid.start:
            tx.close(Close(other, reason="corrected"), "correct")


def _to_correct(tx: Tx, line: int, key: int) -> list[tuple[Node, Belief]]:
    """Per scope, the latest held belief (of the chosen version); else the last one given up."""
    latest: dict[int, tuple[Node, Belief]] = {}
    for node, belief in sorted(held(tx, line), key=lambda pair: pair[1].valid):
        if not key or node.key == key:
            latest[belief.scope] = (node, belief)
    return list(latest.values()) or _last_given_up(tx, line, key)


def _last_given_up(tx: Tx, line: int, key: int) -> list[tuple[Node, Belief]]:
    history = [(node, belief) for belief, node in tx.history(line) if not key or node.key == key]
    return history[-1:]


def _in_its_place(tx: Tx, line: int, given_up: Belief, draft: NodeDraft) -> int:
    """The version that says this already where the given-up one was; 0 where nothing does."""
    for node, belief in held(tx, line):
        if belief.scope == given_up.scope and belief.valid.overlaps(draft.valid):
            if (node.name, node.content, belief.valid) == (draft.name, draft.content, draft.valid):
                return node.key
            raise Refused(f"that was corrected already; it is {node.id[:12]} now, so name that one")
    return 0


def _widened(valid: Interval, revision: Revision) -> Interval:
    start = valid.start if revision.valid_from is None else revision.valid_from
    end = valid.end if revision.valid_to is None else revision.valid_to
    if end <= start:
        raise InvalidTime(f"corrected, it would end ({show(end)}) before it begins ({show(start)})")
    return Interval(start, end)


def _revised(node: Node, belief: Belief, revision: Revision, limit: int, tx: Tx) -> NodeDraft:
    if node.type in ("Fact", "Scope", "Session") and (revision.content or revision.name):
        raise Refused(f"a {node.type}'s words are its identity; write a new one instead")
    return NodeDraft(
        node.type,
        node.name if revision.name is None else clean_name(revision.name),
        node.content
        if revision.content is None
        else clean_text(revision.content, "content", limit, empty=True),
        dated=node.dated,
        world=world_of_node(tx, node.key),
        scope=belief.scope,
        lineage=node.line,
        metadata=node.metadata,
        reason=revision.reason,
    )


def _put_version(tx: Tx, draft: NodeDraft, line: int) -> int:
    key, its_line, _ = tx.payload_only(draft)
    if its_line != line:
        raise Conflict(
            f"another memory says exactly this already ({tx.id_of(key).hex()[:12]}); "
            "link it with supersedes instead"
        )
    tx.believe(key, line, draft)
    return key


def retire(tx: Tx, line: int, when: Instant | None, reason: str | None) -> bool:
    """No longer true from `when` on; what is over already stays, what was to come after it is given up."""
    at, changed = tx.stamp if when is None else when, False
    beliefs = [belief for _, belief in held(tx, line)]
    ends = any(belief.valid.start < at for belief in beliefs)
    for belief in beliefs:
        if ends and belief.valid.start >= at:
            tx.close(Close(belief, reason=reason or "retired"), "retire")
            changed = True
        elif _ending(belief, at) is not None:
            tx.close(Close(belief, valid_to=at, reason=reason), "retire")
            changed = True
    if changed and at <= tx.stamp:
        keep_back(tx, line)
    return changed


def _ending(belief: Belief, at: Instant) -> Close | None:
    close = tighten(belief, at)
    if close is not None and belief.valid.start >= at:
        raise Refused(
            f"it begins at {show(belief.valid.start)}, so it cannot be over at {show(at)}; "
            "if it was never true, use correct"
        )
    return close


def withdraw(tx: Tx, line: int, reason: str | None) -> bool:
    """It was never true, and nothing takes its place."""
    current = held(tx, line)
    for _, belief in current:
        tx.close(Close(belief, reason=reason or "corrected"), "correct")
    if current:
        keep_back(tx, line)
    return bool(current)


def mark(tx: Tx, line: int, status: Status, reason: str | None) -> bool:
    """Believes it with another status from now on: quarantined or confirmed."""
    changed = False
    for _, belief in held(tx, line):
        if belief.status != status:
            tx.close(Close(belief, status=status, reason=reason), status)
            changed = True
    if changed and status == "quarantined":
        keep_back(tx, line)
    if status == "confirmed":
        changed |= wake(tx, line)
    return changed


def end_edge(tx: Tx, edges: Sequence[Edge], when: Instant | None, *, wrong: bool) -> bool:
    """Retires an edge at `when`, or (wrong) gives it up and runs its type's on_delete."""
    at, changed = tx.stamp if when is None else when, False
    for edge in edges:
        belief = as_belief(edge)
        if wrong:
            tx.close(Close(belief, "edges", reason="corrected"), "correct")
        elif _ending(belief, at):
            tx.close(Close(belief, "edges", valid_to=at), "retire")
        else:
            continue
        if wrong or edge.type != "supersedes":
            draft = EdgeDraft(
                edge.src_line, edge.type, edge.dst_line, edge.valid, edge.scope, edge.metadata,
                put_at=edge.known.start,
            )  # fmt: skip
            if edge.type not in tx.types:
                raise Refused(f"this process has no handler for {edge.type!r}; register its EdgeType first")
            tx.apply(tx.types[edge.type].on_delete(draft, tx), edge.type)
        changed = True
    return changed
