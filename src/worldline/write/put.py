"""Putting notes and entities, and whom a name means: exact silently, anything else as a proposal, and what was decided.

Everything here is idempotent: the same payload in the same scope is one memory, and the second
write says that nothing changed. Likeness is not decided here (`rules/identity.py` does), and nothing is merged by
itself. Inside a changeset names are compared by spelling and sound; the second look after an ingest is a changeset of
its own and may ask the embedder as well, because by then the words and facts are safe. A merge that somebody accepts
changes reads only: same_as edges in both directions, which undoing gives up on the known axis; every decision is a row
of its own, so that who said so stays visible.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from worldline.clock import EARLIEST, FOREVER, Instant, Interval
from worldline.errors import NotFound, Refused, StoreError
from worldline.handle import Done, Handle, Place
from worldline.model import (
    Belief,
    Close,
    Edge,
    EdgeDraft,
    Metadata,
    NodeDraft,
    Proposal,
    Propose,
    Receipt,
    clean_metadata,
    clean_name,
    clean_text,
)
from worldline.ports import Tx, View
from worldline.rules import handlers
from worldline.rules.identity import (
    Match,
    NearEntity,
    Resolution,
    Resolved,
    Similarity,
    Unclear,
    asked_keys,
    resolve,
)
from worldline.store import erasing, people, registry
from worldline.store.view import as_belief
from worldline.text import fold


class ToldBy(Struct, frozen=True):
    """The event that something was drawn from, if any: its key and when it was said."""

    event: int = 0
    said_at: Instant | None = None
    by: tuple[tuple[str, str], ...] = ()
    """Who read it there, if no rule did: the model and the hash of its prompt."""


def entity(tx: Tx, name: str, place: Place) -> tuple[int, bool]:
    """The entity of exactly this name (case, accents, punctuation folded) in this scope; whether it is new."""
    clean = clean_name(name)
    known = people.exactly(tx, clean, place.scope)
    return (met(tx, known, place.scope), False) if known else (new_entity(tx, clean, place), True)


def new_entity(tx: Tx, name: str, place: Place) -> int:
    """An entity of which nobody in this scope has spoken before."""
    key, _ = tx.put(NodeDraft("Entity", name, valid=Interval(EARLIEST), scope=place.scope))
    if not tx.is_new(key) and tx.name_of(key) != name:
        erasing.name_again(tx, key, name)
    add_alias(tx, key, name, place.scope)
    return key


def met(tx: Tx, known: people.Called, scope: int) -> int:
    """A known entity; one that was withdrawn or retired, and is spoken of again, is believed again."""
    return known.line if known.believed else _believed(tx, known.line, scope)


def _believed(tx: Tx, line: int, scope: int) -> int:
    history = tx.history(line)
    current = [belief for belief, _ in history if belief.known.end == FOREVER]
    if history and not any(tx.stamp in belief.valid for belief in current):
        belief, node = history[-1]
        valid = Interval(tx.stamp) if current else belief.valid
        tx.believe(node.key, line, NodeDraft(node.type, node.name, valid=valid, scope=scope))
    return line


def add_alias(tx: Tx, line: int, name: str, scope: int) -> None:
    """Another name under which an entity is found."""
    tx.add("aliases", fold(name) or name, name, line, scope)


def stated(
    tx: Tx, draft: NodeDraft, place: Place, handle: Handle, metadata: Metadata | None
) -> tuple[int, bool]:
    """Stores a note of a type that this handle may write here."""
    allowed = registry.node_types(tx, place.world, agent=handle.agent)
    draft.type = handlers.require(draft.type, allowed, "type of note")
    return note(tx, draft, place, handle.config.max_text, metadata)


def note(tx: Tx, draft: NodeDraft, place: Place, limit: int, metadata: Metadata | None) -> tuple[int, bool]:
    """Stores a note; an Entity is also found by its name."""
    draft.name = clean_name(draft.name)
    draft.content = clean_text(draft.content, "content", limit, empty=True)
    draft.metadata = clean_metadata(metadata)
    draft.scope = place.scope
    draft.world = 0 if draft.type == "Entity" else place.world
    key, new = tx.put(draft)
    if new and draft.type == "Entity":
        if not tx.is_new(key) and tx.name_of(key) != draft.name and not draft.content:
            erasing.name_again(tx, key, draft.name)
        add_alias(tx, key, draft.name, place.scope)
    if new:
        _replace_others(tx, key, draft)
    return key, new


def _replace_others(tx: Tx, key: int, draft: NodeDraft) -> None:
    """A former version said again takes the place of the one that had replaced it."""
    if key in tx.worlds.appeared:
        return
    for belief, node in tx.history((tx.find(tx.id_of(key)) or (key, key))[1]):
        current = belief.known.end == FOREVER and belief.scope == draft.scope
        if current and node.key != key and draft.valid.start in belief.valid:
            tx.link(EdgeDraft(key, "supersedes", node.key, Interval(draft.valid.start), draft.scope))


LONGEST_NAME = 200
POOL = 40
"""At most so many known names are compared with one."""
NEW, NEAR = 40, 60
"""The second look takes at most so many new entities, and so many around them."""
MEANINGS = 20_000
"""So many names' vectors are kept while a store is open."""
PAIRS = 200
"""So many pairs of near names at most."""


def mention(
    tx: Tx, name: str, known: people.Called | None, told: ToldBy, place: Place, slot: str = ""
) -> tuple[int, list[EdgeDraft]]:
    """The entity that a clean name means, made if it is new, and the mention: an edge with tier and score.

    `known` is who has exactly this name. Where nobody has, with a slot, part of a known name will do
    ("payments" for "payments project"), if just one thing of that name has something in the slot.
    """
    part = _known_part(tx, name, slot, place) if slot and known is None else 0
    if part:
        line, tier = part, "part"
    elif known is not None:
        line, tier = met(tx, known, place.scope), "exact"
    else:
        line, tier = new_entity(tx, name, place), "new"
        propose_alike(tx, line, name, place.scope)
    since = Interval(told.said_at or tx.stamp)
    how: Metadata = {"tier": tier, "score": 1.0, "name": name}
    return line, [EdgeDraft(told.event, "refers_to", line, since, place.scope, how)] if told.event else []


def _known_part(tx: Tx, name: str, slot: str, place: Place) -> int:
    """The one thing whose name holds this one, or is held by it, and of which the slot says something."""
    said = set(fold(name).split())
    rows = people.parts(tx, sorted(people.keys_of(name)), fold(name), slot, place.scope, POOL)
    plain = not any(word[:1].isupper() for word in name.split()[1:])
    fitting = {
        line
        for line, known, _ in rows
        if said < set(fold(known).split()) or (plain and set(fold(known).split()) < said)
    }
    return fitting.pop() if len(fitting) == 1 else 0


def known_or_new(tx: Tx, name: str, place: Place) -> tuple[int, bool]:
    """The entity of exactly this name, and whether it is new in this scope; then alike ones are proposed."""
    line, new = entity(tx, name, place)
    if new:
        propose_alike(tx, line, name, place.scope)
    return line, new


def propose_alike(tx: Tx, line: int, name: str, scope: int, but: Collection[int] = ()) -> None:
    """Makes a name findable for others like it, and stages merges with the known ones that it resembles."""
    known = people.alike(tx, asked_keys(name), [line], scope, POOL)
    pool = [c for c in _grouped(known) if int(c.id) not in but]
    people.add_keys(tx, name, line)
    _stage(tx, line, name, resolve(name, pool) if pool else None)


def _stage(tx: Tx, line: int, name: str, found: Resolution | None) -> None:
    """A name that resembles a known one stages a merge; it never merges by itself."""
    if isinstance(found, Resolved):
        tx.propose(Propose(int(found.id), line, found.tier, found.score, f"{name!r} resembles a known name"))
    elif isinstance(found, Unclear):
        for match in found.matches[:3]:
            told = f"{name!r} may be one of several"
            tx.propose(Propose(int(match.id), line, match.tier, match.score, told))


def _grouped(rows: Sequence[people.NamedLine]) -> list[NearEntity]:
    names: dict[int, list[str]] = {}
    for line, name in rows:
        names.setdefault(line, []).append(name)
    return [NearEntity(str(line), tuple(called)) for line, called in names.items()]


# The second look ------------------------------------------------------------------------------------


def recluster(handle: Handle, tx: Tx | None) -> Receipt | None:
    """Resolves what lies within two facts of a changeset's new entities again, in a changeset of its own.

    Here names are also compared by meaning, and a name that fits several is decided by whom they
    have in common. Like every resolution it proposes only. None when there is nothing to propose.
    """
    born = tx.born("Entity") if tx is not None else []
    if tx is None or not born:
        return None
    found = handle.read(lambda view: _second_look(view, born[:NEW], tx.scope_id))
    if not found:
        return None
    similarity = _similarity(handle, found)
    resolved = [(line, name, _decided(name, pool, common, similarity)) for line, name, pool, common in found]
    staged = [(line, name, r) for line, name, r in resolved if isinstance(r, Resolved)]
    if not staged:
        return None

    def work(tx: Tx, place: Place) -> Done:
        for line, name, resolution in staged:
            _stage(tx, line, name, resolution)
        return None, bool(tx.changes)

    with suppress(StoreError):  # the memory is safe; the next ingest nearby looks again
        return handle.write("recluster", work)
    return None


Look = tuple[int, str, list[NearEntity], frozenset[str]]
"""An entity, its name, the near ones that it may be, and those that share a neighbour with it."""


def _second_look(view: View, born: Sequence[int], scope: int) -> list[Look]:
    """Entities near the new ones that share a block with another near one, and are not yet decided."""
    near = people.within_two_facts(view, born, scope, NEAR)[: NEW + NEAR]
    named = {one.line: NearEntity(str(one.line), one.names) for one in near if one.names}
    pools = _undecided(view, _sharing(named))
    return [
        (line, named[line].names[0], [named[other] for other in sorted(others)], _common(view, line))
        for line, others in sorted(pools.items())
    ]


def _sharing(named: Mapping[int, NearEntity]) -> list[tuple[int, int]]:
    """Pairs, the younger one first, that have a block key in common."""
    blocks: dict[str, list[int]] = {}
    pairs = set()
    for line in sorted(named):
        keys = [(people.keys_of(name), asked_keys(name)) for name in named[line].names]
        pairs |= {(line, older) for _, asked in keys for key in asked for older in blocks.get(key, ())}
        for key in {key for held, _ in keys for key in held}:
            blocks.setdefault(key, []).append(line)
    return sorted(pairs)[:PAIRS]


def _undecided(view: View, pairs: Sequence[tuple[int, int]]) -> dict[int, set[int]]:
    """Those pairs, by the younger one, for which no merge was ever staged."""
    if not pairs:
        return {}
    staged, pools = people.staged(view, [older for _, older in pairs]), dict[int, set[int]]()
    for younger, older in pairs:
        if (younger, older) not in staged:
            pools.setdefault(younger, set()).add(older)
    return pools


def _common(view: View, line: int) -> frozenset[str]:
    """Whoever has a neighbour in common with this entity."""
    beside = people.beside(view, [line], NEAR)
    return frozenset(str(other) for other in people.beside(view, beside, NEAR))


def _decided(
    name: str, pool: list[NearEntity], common: frozenset[str], similarity: Similarity | None
) -> Resolution:
    def whom_they_know(asked: str, matches: tuple[Match, ...]) -> str | None:
        sharing = [match.id for match in matches if match.id in common]
        return sharing[0] if len(sharing) == 1 else None

    return resolve(name, pool, similarity=similarity, tiebreak=whom_they_know)


def _similarity(handle: Handle, found: Sequence[Look]) -> Similarity | None:
    """Cosines of names, if there is an embedder; all names of the look in one call."""
    embedder, held = handle.embedder(), handle.store.meanings
    names = {each for _, name, pool, _ in found for each in (name, *(n for c in pool for n in c.names))}
    if embedder is None:
        return None
    if missing := sorted(names - held.keys()):
        if len(held) > MEANINGS:
            held.clear()
        held.update(zip(missing, embedder.embed(missing), strict=True))
    return lambda a, b: float(held[a] @ held[b]) if a in held and b in held else 0.0


# Deciding -----------------------------------------------------------------------------------------


_MAY = {
    "accepted": ("pending", "rejected", "undone"),
    "rejected": ("pending",),
    "undone": ("accepted",),
}
_ADVICE = {
    "rejected": "it was {was}; undo it instead",
    "undone": "it is {was}, so there is nothing to undo",
    "accepted": "it is {was}",
}


def proposal_named(tx: Tx, handle: Handle, id_: str) -> Proposal:
    """The proposal that somebody means by its id or the beginning of it."""
    view = tx.as_view(world=handle.world)
    found = [p for p in people.proposals(view) if p.id.startswith(id_.lower())]
    if len(found) != 1 or len(id_) < handle.config.prefix_length:
        raise NotFound(f"no single merge proposal {id_[:16]!r} here; merges() lists them")
    return found[0]


def decide_merge(tx: Tx, proposal: Proposal, status: str) -> bool:
    """Moves a proposal to another status; deciding the same again changes nothing."""
    if proposal.status == status:
        return False
    if proposal.status not in _MAY[status]:
        raise Refused(_ADVICE[status].format(was=proposal.status))
    scope = people.proposal_scope(tx, proposal)
    old = Belief(proposal.row, proposal.row, Interval(EARLIEST), proposal.known, scope)
    tx.close(Close(old, "proposals", reason=status), "merge")
    tx.add_proposal(
        bytes.fromhex(proposal.id), proposal.a_line, proposal.b_line, status, proposal.tier,
        proposal.score, proposal.reason, scope,
    )  # fmt: skip
    if status == "accepted":
        _join(tx, proposal, scope)
    elif status == "undone":
        _part(tx, proposal)
    return True


def _join(tx: Tx, proposal: Proposal, scope: int) -> None:
    for src, dst in ((proposal.a_line, proposal.b_line), (proposal.b_line, proposal.a_line)):
        tx.link(EdgeDraft(src, "same_as", dst, Interval(EARLIEST), scope, accepted=True))


def _part(tx: Tx, proposal: Proposal) -> None:
    for edge in people.identities(tx, proposal.a_line, proposal.b_line):
        tx.close(Close(as_belief(edge), "edges", reason="undone"), "undo_merge")


def split_entity(
    tx: Tx, line: int, mentions: Sequence[Edge], name: str, place: Place, limit: int
) -> tuple[int, bool]:
    """Moves these mentions from an entity to a new one of the given name; (key, whether any moved)."""
    clean = clean_name(name)
    origin = f"split from {tx.id_of(line).hex()[:12]}"
    draft = NodeDraft("Entity", clean, origin, valid=Interval(EARLIEST))
    key, changed = note(tx, draft, place, limit, None)
    for mention in mentions:
        if not isinstance(mention, Edge) or mention.dst_line != line or mention.type != "refers_to":
            raise Refused("only mentions (refers_to edges) of this very entity can be split off it")
        for edge in people.believed_edges(tx, mention):
            tx.close(Close(as_belief(edge), "edges", reason="split"), "split")
            tx.link(EdgeDraft(edge.src_line, "refers_to", key, edge.valid, edge.scope, edge.metadata))
            changed = True
    return key, changed
