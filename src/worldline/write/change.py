"""Changing what is believed: it changed (amend), it was wrong (correct), it is over (retire), and all of it undone.

These are different things on two axes. Amending and retiring tighten valid time; correcting gives up a
belief on the known axis. None of them deletes anything, and each is idempotent. What hung on the
memory alone is kept back in the same changeset; sleep catches what came by another way.

A fact is never rewritten: the old one ends (or was never true) and a new one of the same subject and
relation is believed in its place, through the same rules as any other. The new value is given alone
("Porto") or as the whole sentence ("Ana lives in Porto").

Undoing is one more changeset: what it put is given up, what it closed returns. The past stays as it was; only from now
on the store believes again what it did before. A row that a later changeset has touched makes the undo a conflict,
never a guess, until that one is undone too.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant, Interval, When, instant, show
from worldline.errors import Conflict, InvalidInput, InvalidTime, NotFound, Refused
from worldline.handle import Done, Handle
from worldline.model import (
    Belief,
    Close,
    Edge,
    EdgeDraft,
    Fact,
    Metadata,
    Node,
    NodeDraft,
    Op,
    Place,
    Put,
    Receipt,
    Refuse,
    Status,
    clean_interval,
    clean_metadata,
    clean_name,
    clean_text,
)
from worldline.ports import View
from worldline.reading.families import families, precision_of
from worldline.rules.handlers import Footing, lost, place_fact, standing, tighten
from worldline.rules.slots import sentence
from worldline.store import indexing, ledger, registry
from worldline.store.erasing import not_erased
from worldline.store.indexing import wake
from worldline.store.ledger import beliefs_in, in_its_place
from worldline.store.registry import Target
from worldline.store.slots import Parts, holds_one, parts_of, value_of, world_of_node
from worldline.store.stated import cited, current_and_former, hanging, noted_grounds
from worldline.store.tx import Tx
from worldline.store.view import as_belief
from worldline.text import fold
from worldline.write.gate import screened
from worldline.write.given import believe

# Ground ===============================================================================================

MERGED = "merged"
"""The key, in the metadata of a derived_from edge, by which a merged memory names the one that stayed."""


def grounds(
    view: View, lines: Collection[int], now: Instant, *, born: bool = True
) -> dict[int, list[Footing]]:
    """What each of these rests on, or ever did, and what became of it.

    A fact that was given directly, and met its evidence later, was not `born` of it, and rests on nothing.
    """
    rows = [row for row in cited(view, lines) if MERGED not in row.metadata]
    own = {row.source for row in rows if not born or row.born is None or row.since <= row.born}
    rows = [row for row in rows if row.source in own]
    held = current_and_former(view, {row.line for row in rows})
    stand_ins = _stand_ins(view, [line for line, all_ in held.items() if not any(b.current for b in all_)])
    held.update(current_and_former(view, set(stand_ins.values()) - held.keys()))
    found: dict[int, dict[int, Footing]] = {}
    for row in rows:
        mine = found.setdefault(row.source, {})
        ground = Footing(row.line, row.id, row.type, "corrected")
        if row.until == FOREVER:
            stays = stand_ins.get(row.line, row.line)
            since = row.since if stays == row.line else now
            ground = Footing(stays, row.id, row.type, *standing(held.get(stays, ()), since, now))
        if ground.evidence not in mine or ground.stands:
            mine[ground.evidence] = ground
    return {src: list(mine.values()) for src, mine in found.items()}


def _stand_ins(view: View, lines: Collection[int]) -> dict[int, int]:
    """For memories that were merged into another one, that other one."""
    return {src: dst for src, dst, noted in noted_grounds(view, lines) if MERGED in noted}


def shaken(view: View, lines: Iterable[int], now: Instant) -> list[tuple[Belief, str]]:
    """Of these and all that hangs on them: the beliefs to keep back, each with its reason."""
    found: dict[int, tuple[Belief, str]] = {}
    fallen: set[int] = set()
    frontier = set(lines)
    while frontier:
        held = current_and_former(view, frontier)
        resting = _doubted(grounds(view, frontier, now), fallen)
        fresh = set()
        for line in sorted(frontier - fallen):
            open_ = [b for b in held.get(line, ()) if b.current]
            for belief in open_:
                reason = lost(belief, resting.get(line, ())) if belief.status == "believed" else None
                if reason is not None and belief.row not in found:
                    found[belief.row] = belief, reason
            if any(b.row in found for b in open_) and all(
                b.status == "quarantined" or b.row in found for b in open_
            ):
                fresh.add(line)
        fallen |= fresh
        frontier = set(hanging(view, fresh))
    return [found[row] for row in sorted(found)]


def _doubted(grounds: Mapping[int, list[Footing]], fallen: Collection[int]) -> dict[int, list[Footing]]:
    """The same, where what has fallen carries nothing."""
    return {
        line: [replace(g, how="quarantined") if g.evidence in fallen else g for g in each]
        for line, each in grounds.items()
    }


def keep_back(tx: Tx, line: int) -> None:
    """Quarantines, in the same changeset, what hung on a memory that was just given up."""
    hung = hanging(tx, [line])
    for belief, reason in shaken(tx, hung, tx.stamp) if hung else ():
        tx.close(Close(belief, status="quarantined", reason=reason), "grounding")


# Memories =============================================================================================


class Revision(Struct, frozen=True):
    """What an amendment or a correction says; None leaves a part as it was."""

    name: str | None = None
    content: str | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    reason: str | None = None
    precision: str | None = None
    """How exact the new beginning is."""

    @classmethod
    def of(
        cls, name: str | None, content: str | None, start: When | None, end: When | None, reason: str | None
    ) -> Revision:
        """From what a caller gives."""
        begins, ends = (None if at is None else instant(at) for at in (start, end))
        return cls(name, content, begins, ends, reason, precision_of(start))


def held(tx: Tx, line: int) -> list[tuple[Node, Belief]]:
    """The versions of a lineage that are believed now, with their beliefs, earliest first."""
    return [(node, belief) for belief, node in tx.history(line) if belief.known.end == FOREVER]


def amend_memory(tx: Tx, line: int, revision: Revision, limit: int) -> tuple[int, bool]:
    """A new version from `valid_from` on; what held until then stays true of its time."""
    start = tx.stamp if revision.valid_from is None else revision.valid_from
    holding = [(n, b) for n, b in held(tx, line) if start in b.valid]
    if not holding:
        raise Refused(f"it does not hold at {show(start)}; use correct to change what was believed of then")
    key, changed = 0, False
    for node, belief in holding:
        draft = _new_version(node, belief, revision, limit, tx)
        if (draft.name, draft.content) == (node.name, node.content):
            key = key or node.key
            continue
        end = FOREVER if revision.valid_to is None else revision.valid_to
        draft.valid = _from_then(start, min(belief.valid.end, end))
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


def correct_memory(tx: Tx, line: int, key: int, revision: Revision, limit: int) -> tuple[int, bool]:
    """The belief was wrong: give it up on the known axis and believe the replacement instead.

    `key` chooses a version; 0 takes the latest. Only here may validity be widened.
    """
    current = _to_correct(tx, line, key)
    if not current:
        raise Refused("there is nothing to correct")
    changed = False
    for node, belief in current:
        draft = _new_version(node, belief, revision, limit, tx)
        draft.valid = _widened(belief.valid, revision)
        same = (draft.name, draft.content) == (node.name, node.content)
        key = node.key
        if not belief.current and (now := _in_its_place(tx, line, belief, draft)):
            key = now
            continue
        pieces = _pieces(tx, node, belief, draft.valid)
        missing = pieces.keys() - {b.valid for n, b in held(tx, line) if same and b.scope == belief.scope}
        if not missing:
            continue
        if same:  # only when it holds was wrong
            draft.status, draft.confidence = belief.status, belief.confidence
            draft.reason = revision.reason or belief.reason
        if belief.current and belief.valid not in pieces.keys() - missing:
            tx.close(Close(belief, reason=revision.reason or "corrected"), "correct")
            _make_room(tx, line, belief, max(pieces).start)
        for draft.valid in sorted(missing):
            draft.precision = _precision(belief, draft.valid, revision)
            if same:
                tx.believe(key, line, draft)
            else:
                key = _put_version(tx, draft, line)
                tx.link(EdgeDraft(key, "derived_from", node.key, Interval(tx.stamp), belief.scope))
            tx.apply(pieces[draft.valid], "correct")
        changed = True
    if changed:
        keep_back(tx, line)
    return key, changed


def _pieces(tx: Tx, node: Node, belief: Belief, valid: Interval) -> dict[Interval, list[Op]]:
    """When a memory is believed that is to hold then, and what follows; another that begins in between stays."""
    if belief.status == "quarantined":
        return {valid: []}
    fitted, ops = _fitted(tx, node, belief, valid)
    pieces = {fitted: ops}
    if belief.current and fitted.end <= belief.valid.start < valid.end:
        later, more = _fitted(tx, node, belief, Interval(belief.valid.start, valid.end))
        pieces[later] = more
    if max(pieces).end < valid.end:
        tx.changes.append(f"it ends at {show(max(pieces).end)}, where another begins")
    return pieces


def _fitted(tx: Tx, node: Node, belief: Belief, valid: Interval) -> tuple[Interval, list[Op]]:
    """When a memory holds that is to hold then: of a slot's one value, as if it were told now, with what follows."""
    if node.type != "Fact" or not holds_one(tx, node.key):
        return valid, []
    parts = parts_of(tx, node.key)
    subject, _ = tx.find(bytes.fromhex(parts.subject)) or (0, 0)
    beside = tx.slot(subject, parts.slot, belief.scope, node.key)
    others = [row for row in beside if row.node != node.key and row.belief.status != "quarantined"]
    fitted, ops, conflicts = place_fact(others, [], valid, functional=True, stated=True)
    since = Interval(valid.start)
    links = [Put(edge=EdgeDraft(node.key, "contradicts", r.node, since, belief.scope)) for r in conflicts]
    return fitted or valid, [*ops, *links]


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


def _precision(belief: Belief, valid: Interval, revision: Revision) -> str | None:
    return belief.precision if valid.start == belief.valid.start else revision.precision


def _new_version(node: Node, belief: Belief, revision: Revision, limit: int, tx: Tx) -> NodeDraft:
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
    key, its_line, new = tx.payload_only(draft)
    if its_line != line:
        raise Conflict(
            f"another memory says exactly this already ({tx.id_of(key).hex()[:12]}); "
            "link it with supersedes instead"
        )
    tx.believe(key, line, draft)
    if not new:
        tx.wake(line)
        tx.own_metadata(key, draft)
    return key


def retire_memory(
    tx: Tx, line: int, when: Instant | None, reason: str | None, *, ahead: bool = False
) -> bool:
    """No longer true from `when` on; what is over already stays, what was to come after it is given up.

    What only lies `ahead` of now may be given up whole.
    """
    at, changed = tx.stamp if when is None else when, False
    beliefs = [belief for _, belief in held(tx, line)]
    ends = any(belief.valid.start < at for belief in beliefs)
    for belief in beliefs:
        if belief.valid.start >= at and (ends or (ahead and belief.valid.start >= tx.stamp)):
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
    for node, belief in held(tx, line):
        if belief.status == status:
            continue
        released = status == "confirmed" and belief.status == "quarantined"
        valid, ops = _fitted(tx, node, belief, belief.valid) if released else (belief.valid, [])
        end = valid.end if valid.end < belief.valid.end else None
        tx.close(Close(belief, valid_to=end, status=status, reason=reason), status)
        tx.apply(ops, status)
        changed = True
    if changed and status == "quarantined":
        keep_back(tx, line)
    if status == "confirmed":
        changed |= wake(tx, line)
    return changed


def end_edge(
    tx: Tx, edges: Sequence[Edge], when: Instant | None, *, wrong: bool, reason: str | None = None
) -> bool:
    """Retires an edge at `when`, or (wrong) gives it up and runs its type's on_delete."""
    at, changed = tx.stamp if when is None else when, False
    for edge in edges:
        belief = as_belief(edge)
        if wrong:
            tx.close(Close(belief, "edges", reason=reason or "corrected"), "correct")
        elif _ending(belief, at):
            tx.close(Close(belief, "edges", valid_to=at, reason=reason), "retire")
        else:
            continue
        if wrong or edge.type != "supersedes":
            draft = EdgeDraft(
                edge.src_line, edge.type, edge.dst_line, edge.valid, edge.scope, edge.metadata,
                put_at=_put_at(tx, edge),
            )  # fmt: skip
            if edge.type not in tx.types:
                raise Refused(f"this process has no handler for {edge.type!r}; register its EdgeType first")
            tx.apply(tx.types[edge.type].on_delete(draft, tx), edge.type)
        changed = True
    return changed


def _put_at(tx: Tx, edge: Edge) -> Instant:
    """Since when an edge has been believed, however often its interval was shortened."""
    since = edge.known.start
    rows = [row for row in beliefs_in(tx, edge) if row.scope == edge.scope]
    before = {row.known.end: row.known.start for row in rows if row.valid.start == edge.valid.start}
    while since in before:
        since = before[since]
    return since


# What somebody names ==================================================================================


def amend(tx: Tx, place: Place, handle: Handle, ref: Any, revision: Revision) -> Done:
    """It changed."""
    target = handle.target(tx, ref)
    if revision.content is not None and _is_fact(tx, target):
        return _revised(tx, target, revision, place, handle, wrong=False)
    key, changed = amend_memory(tx, target.line, revision, handle.config.max_text)
    return tx.id_of(key), changed


def correct(tx: Tx, place: Place, handle: Handle, ref: Any, revision: Revision) -> Done:
    """It was wrong; with nothing to replace it, it was never true."""
    if isinstance(ref, Edge) and ref.type != "fact":
        if revision != Revision(reason=revision.reason):
            raise InvalidInput("an edge has nothing to put in its place: correct it without, then link anew")
        believed = _believed(tx, handle, ref)
        return bytes.fromhex(ref.id), end_edge(tx, believed, None, wrong=True, reason=revision.reason)
    target = handle.target(tx, ref)
    if revision == Revision(reason=revision.reason):
        return tx.id_of(target.line), withdraw(tx, target.line, revision.reason)
    if revision.content is not None and _is_fact(tx, target):
        return _revised(tx, target, revision, place, handle, wrong=True)
    key, changed = correct_memory(tx, target.line, target.key, revision, handle.config.max_text)
    return tx.id_of(key), changed


def retire(tx: Tx, handle: Handle, ref: Any, at: Instant | None, reason: str | None) -> tuple[bytes, bool]:
    """It is over."""
    if isinstance(ref, Edge) and ref.type != "fact":
        believed = _believed(tx, handle, ref)
        return bytes.fromhex(ref.id), end_edge(tx, believed, at, wrong=False, reason=reason)
    target = handle.target(tx, ref)
    return tx.id_of(target.line), retire_memory(tx, target.line, at, reason)


_EVERYTHING = (None, "Fact", "Entity", "Topic", "Summary")
"""What is listed of itself, and what only on request."""


def retire_all(
    handle: Handle,
    type_: str | None,
    labels: Metadata,
    when: When | None,
    reason: str | None,
    *,
    dry_run: bool,
) -> list[str]:
    """Ends all that is believed here (of a type, with these labels), what is kept back and what has yet to begin too;
    its ids."""
    at, kinds = None if when is None else instant(when), (type_,) if type_ else _EVERYTHING
    reason = screened(reason)[0] if handle.config.redact else reason
    ended: list[str] = []

    def believed(view: View) -> list[int]:
        pages = [registry.page(view, kind and [kind], labels, sys.maxsize) for kind in kinds]
        return [node.line for page in pages for node in page if node.known.end == FOREVER]

    def work(tx: Tx, place: Place) -> Done:
        ended[:] = [tx.id_of(line).hex() for line in lines if retire_memory(tx, line, at, reason, ahead=True)]
        return None, bool(ended)

    if lines := list(dict.fromkeys(handle.read(believed, closed=True, quarantined=True))):
        handle.write("retire", work, dry_run=dry_run)
    return ended


def until(handle: Handle, done: Receipt, expires: When) -> Receipt:
    """The receipt of words that are known to expire, retired ahead of time with the facts that rest on them
    alone; undoing it takes both back, the words and their end. What was stored before ends then as well."""
    at, words = instant(expires), done.ids or ((done.id,) if done.id else ())
    if not words or (done.dry_run and done.changed):
        return done
    told: list[str] = []

    def work(tx: Tx, place: Place) -> Done:
        view = tx.as_view(world=handle.world)
        said = [handle.resolve(view, word).line for word in words]
        drawn = view.visible([edge.src_line for edge in view.edges(said, ("derived_from",), "in")])
        grounds = Counter(e.src_line for e in view.edges([n.line for n in drawn], ("derived_from",), "out"))
        lines = said + [node.line for node in drawn if node.type == "Fact" and grounds[node.line] == 1]
        ended = [retire_memory(tx, line, at, "it was known to expire") for line in lines]
        told[:] = [sooner for line in said for sooner in _ending_before(tx, line, at)]
        return None, any(ended)

    end = handle.write("retire", work, dry_run=done.dry_run)
    done = replace(done, changes=(*done.changes, *dict.fromkeys(told)))
    if not end.changed:
        return done
    also = (done.known_at, *done.also) if done.changed else ()
    return replace(done, changed=True, known_at=end.known_at, also=also)


def _ending_before(tx: Tx, line: int, at: Instant) -> Iterator[str]:
    """That words end sooner than they are said to expire: only a correction puts an end off."""
    end = max((belief.valid.end for _, belief in held(tx, line)), default=at)
    if end < at:
        yield f"it ends at {show(end)} as was said before; correct it with another valid_to to put that off"


def _believed(tx: Tx, handle: Handle, edge: Edge) -> list[Edge]:
    """The current beliefs in an edge, in this scope."""
    rows = beliefs_in(tx.as_view(world=handle.world), edge)
    if not rows:
        raise NotFound(f"no {edge.type} edge {edge.id[:12]} in this tenant, scope and world")
    return [row for row in rows if row.known.end == FOREVER]


# Facts -------------------------------------------------------------------------------------------


def _is_fact(tx: Tx, target: Target) -> bool:
    """Whether a target is a fact."""
    return any(node.type == "Fact" for _, node in tx.history(target.line))


def _revised(
    tx: Tx, target: Target, revision: Revision, place: Place, handle: Handle, *, wrong: bool
) -> Done:
    """Ends or withdraws the fact and believes the new value instead, wherever the old one was believed."""
    if revision.name is not None:
        raise Refused("a fact has no name of its own; give its new value as content")
    node = tx.history(target.line)[-1][1]
    parts = parts_of(tx, node.key)
    value = _value(parts, revision.content or "")
    if fold(value) == fold(parts.value):
        same, limit = replace(revision, content=None), handle.config.max_text
        key, changed = (
            correct_memory(tx, target.line, target.key, same, limit)
            if wrong
            else amend_memory(tx, target.line, same, limit)
        )
        return tx.id_of(key), changed
    said = _corrected_to(tx, node, parts, value) if wrong else _amended_to(tx, node, parts, value, revision)
    if said:
        return tx.id_of(said), False
    key = 0
    for belief, valid in (_to_withdraw if wrong else _to_end)(tx, target.line, revision):
        if key := _saying(tx, node, parts, value, belief.scope, valid.start):
            continue
        given = Fact(
            parts.subject,
            parts.slot if parts.slot in families().all and "_" in parts.slot else parts.phrase,
            None if parts.literal else value,
            value if parts.literal else None,
            valid_from=valid.start,
            valid_to=None if valid.end == FOREVER else valid.end,
            precision=_precision(belief, valid, revision),
            reason=revision.reason,
        )
        there = replace(place, world=world_of_node(tx, node.key), scope=belief.scope)
        key, _ = believe(tx, given, there, handle)
    return tx.id_of(key), True


def _to_end(tx: Tx, line: int, revision: Revision) -> list[tuple[Belief, Interval]]:
    """Ends what holds of a fact when it changes: what it was in each scope, and when the new value holds there."""
    ended: dict[int, tuple[Belief, Interval]] = {}
    for belief, start in _holding(tx, line, revision):
        if belief.scope not in ended:
            tx.close(Close(belief, valid_to=start, reason=revision.reason or "it changed"), "amend")
            end = FOREVER if revision.valid_to is None else revision.valid_to
            ended[belief.scope] = belief, _from_then(start, min(belief.valid.end, end))
    if any(valid.start <= tx.stamp for _, valid in ended.values()):
        keep_back(tx, line)
    return list(ended.values())


def _holding(tx: Tx, line: int, revision: Revision) -> list[tuple[Belief, Instant]]:
    """What is believed of a fact when it changes, and that moment: now, or once it has begun."""
    held_ = [belief for _, belief in sorted(held(tx, line), key=lambda pair: pair[1].valid)]
    since = revision.valid_from
    if since is not None and any(belief.valid.start == since for belief in held_):
        raise Refused("what is to change begins at that very moment; if it was never true, use correct")
    moments = [
        (belief, max(tx.stamp, belief.valid.start + 1) if since is None else since) for belief in held_
    ]
    return [(belief, start) for belief, start in moments if start in belief.valid]


def _amended_to(tx: Tx, node: Node, parts: Parts, value: str, revision: Revision) -> int:
    """The fact that says this already where this one ended; 0 where it has not."""
    if _holding(tx, node.line, revision):
        return 0
    over = sorted((belief for _, belief in held(tx, node.line)), key=lambda belief: belief.valid)
    said = [_saying(tx, node, parts, value, belief.scope, belief.valid.end) for belief in over]
    if not any(said):
        raise Refused("it does not hold then; amend what holds, or use correct to change what was believed")
    return next(filter(None, reversed(said)))


def _to_withdraw(tx: Tx, line: int, revision: Revision) -> list[tuple[Belief, Interval]]:
    """Gives a fact up: what it was last in each scope, and when the right value holds there."""
    given_up = [(belief, _widened(belief.valid, revision)) for _, belief in _to_correct(tx, line, 0)]
    withdraw(tx, line, revision.reason or "it was wrong")
    return given_up


def _corrected_to(tx: Tx, node: Node, parts: Parts, value: str) -> int:
    """The fact that took the place of this one when it was given up, if that says this; 0 while it is believed."""
    last = _to_correct(tx, node.line, 0)[-1][1]
    if last.current:
        return 0
    others = [n for n in in_its_place(tx, node.key, last.known.end) if n.valid.overlaps(last.valid)]
    for other in others:
        if fold(parts_of(tx, other.key).value) == fold(value):
            return other.key
    if others:
        raise Refused(f"that was corrected already; it is {others[0].id[:12]} now, so name that one")
    return 0


def _saying(tx: Tx, node: Node, parts: Parts, value: str, scope: int, at: Instant) -> int:
    """The fact in the slot of this one that is believed to have a value at a moment; 0 for none."""
    subject, _ = tx.find(bytes.fromhex(parts.subject)) or (0, 0)
    for row in tx.slot(subject, parts.slot, scope, node.key):
        says = value_of(row.object, tx.name_of(row.object) if row.object else None, row.literal)
        if fold(says) == fold(value) and at in row.belief.valid and row.belief.status != "quarantined":
            return row.node
    return 0


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


# Undoing ==============================================================================================


def undo_all(tx: Tx, receipt: Receipt, *, agent: bool = False) -> bool:
    """Takes back every changeset that a receipt stands for."""
    if not isinstance(receipt, Receipt):
        raise InvalidInput(f"undo takes the receipt of a write, not {receipt!r}")
    if receipt.verb == "feedback":
        raise Refused(
            "feedback changes no belief, so there is nothing to undo; give the other verdict instead"
        )
    steps = (receipt.known_at, *receipt.also) if receipt.changed and not receipt.dry_run else ()
    undone = [undo(tx, at, frozenset(steps), agent=agent) for at in steps]
    return any(undone)


def undo(
    tx: Tx, known_at: Instant, together: frozenset[Instant] = frozenset(), *, agent: bool = False
) -> bool:
    """Takes back the changeset of that known time; False when it is taken back already.

    What one of the changesets taken back `together` put and another one closed is gone already.
    """
    entries = ledger.entries(tx, known_at)
    if entries is None:
        raise NotFound(f"there is no changeset of {show(known_at)} to undo")
    types = {
        ended: [e.number for e in entries if e.table == "ontology" and e.closed == ended]
        for ended in (False, True)
    }
    entries = not_erased(tx, entries)
    mine = [e for e in entries if e.table in ("beliefs", "edges", "proposals", "marks") and _mine(tx, e)]
    marks = [e for e in mine if e.table == "marks"]
    rows = [(e, ledger.known_of(tx, e.table, e.number)) for e in mine if e.table != "marks"]
    apart = {*together, known_at}
    rows = [(e, known) if known.end in apart else ledger.restored(tx, e, known) for e, known in rows]
    needed = ledger.needed(tx, [e for e, _ in rows if not e.closed])
    put = [(e, known) for e, known in rows if not e.closed and e not in needed and known.end not in together]
    standing = [(e, known) for e, known in put if known.end == FOREVER]
    if len(standing) < len([known for _, known in put if known.end != known_at]):
        return _already_or_conflict(tx, {known.end for _, known in put} - {known_at})
    for entry, known in standing:
        belief = Belief(entry.number, entry.number, Interval(0), Interval(known.start))
        tx.close(Close(belief, entry.table, reason="undone"), "undo")  # type: ignore[arg-type]
    back = [
        _restore(tx, e.table, e.number)
        for e, known in rows
        if e.closed and known.start != known_at and known.start not in together
    ]
    back += [_mark(tx, e.number, known_at, stands=e.closed) for e in marks]
    if types[False]:
        if agent:
            raise Refused("agents cannot change the ontology; an operator does")
        back.append(registry.take_back(tx, types[False], types[True]))
    return bool(standing) or any(back)


def _mark(tx: Tx, number: int, known_at: Instant, *, stands: bool) -> bool:
    """A mark as it was before: one that was put ends, one that was ended stands again, if none has come since."""
    mark = ledger.marked(tx, number)
    if (mark.since == known_at if stands else mark.until != FOREVER) or (stands and mark.taken):
        return False
    if stands:
        tx.add("marks", mark.line, mark.scope, mark.kind, mark.value, mark.reason, tx.stamp, FOREVER)
    else:
        tx.end_row("marks", number)
    if mark.kind == indexing.ARCHIVED:
        (indexing.freeze if stands else indexing.thaw)(tx, mark.line)
    return True


def _mine(tx: Tx, entry: ledger.Entry) -> bool:
    """Refuses what belongs to another scope; the nodes that stand for scopes are never undone."""
    if entry.table == "beliefs" and ledger.columns_of(tx, "beliefs", entry.number)["type"] == "Scope":
        return False
    if not ledger.is_mine(tx, entry.table, entry.number):
        raise NotFound("there is no such changeset in this scope to undo")
    return True


def _already_or_conflict(tx: Tx, ends: set[Instant]) -> bool:
    if ends and all(ledger.kind_of(tx, end) == "undo" for end in ends):
        return False
    raise Conflict("a later write builds on this one; undo that one first")


def _restore(tx: Tx, table: str, number: int) -> bool:
    """The closed row's content, believed anew, unless it is believed again already."""
    columns = ledger.columns_of(tx, table, number)
    if ledger.stands_again(tx, table, columns):
        return False
    if table != "proposals":
        columns["vt"] = min(columns["vt"], *_room(tx, table, columns))
    if table == "proposals":
        names = ("a", "b", "status", "tier", "score", "reason", "scope")
        tx.add_proposal(columns["hash"], *[columns[name] for name in names])
        return True
    belief = Belief(
        0, columns["node"] if table == "beliefs" else number,
        Interval(columns["vf"], columns["vt"]), Interval(tx.stamp), columns["scope"],
        *([columns[c] for c in ("status", "confidence", "precision", "reason")] if table == "beliefs" else []),
    )  # fmt: skip
    tx.apply([Put(reopen=belief, table=table)], "undo")  # type: ignore[arg-type]
    return True


def _room(tx: Tx, table: str, columns: dict[str, Any]) -> list[Instant]:
    """Where later beliefs in the same thing begin; a conflict where its own place is taken by now."""
    if columns.get("type") == "supersedes":
        return [FOREVER]
    held = ledger.beside_row(tx, table, columns)
    if any(columns["vf"] in valid for valid in held):
        raise Conflict("something else is believed of that time now; undo that first")
    if table == "edges" and columns["type"] in tx.types:
        draft = EdgeDraft(
            columns["src"], columns["type"], columns["dst"], Interval(columns["vf"]), columns["scope"],
            accepted=True,
        )  # fmt: skip
        if any(isinstance(op, Refuse) for op in tx.types[draft.type].on_insert(draft, tx)):
            raise Conflict("a later write is in the way of this edge; undo that first")
    return [FOREVER, *(valid.start for valid in held if valid.start > columns["vf"])]
