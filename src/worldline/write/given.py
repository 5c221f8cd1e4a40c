"""What is given directly, by a caller or by an agent that understood a message: notes, entities, names, facts, links.

Everything here is idempotent: the same payload in the same scope is one memory, and the second write says that nothing
changed. A name means somebody exactly, or it stages a proposal: likeness is not decided here (`rules/identity.py`
does), and nothing is merged by itself. Inside a changeset names are compared by spelling and sound; the second look
after an ingest is a changeset of its own and may ask the embedder as well, because by then the words and facts are
safe. A merge that somebody accepts changes reads only: same_as edges in both directions, which undoing gives up on the
known axis; every decision is a row of its own, so that who said so stays visible.

A relation that a family knows is kept in that family's slot, where what is read falls too: the two
meet, and what is given outranks what was only read. An operator's own predicate, and a relation that
nobody knows, stay as they are written. The receipt says in plain words what each fact did.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import orjson
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, Instant, Interval, When, instant, interval
from worldline.config import Config
from worldline.errors import InvalidInput, NotFound, Refused, StoreError
from worldline.handle import Done, Handle
from worldline.model import (
    Belief,
    Close,
    Edge,
    EdgeDraft,
    Evidence,
    Fact,
    FactDraft,
    FactRow,
    Metadata,
    NodeDraft,
    Place,
    Predicate,
    Proposal,
    Propose,
    Receipt,
    Status,
    clean_metadata,
    clean_name,
    clean_struct,
    clean_text,
)
from worldline.ports import View
from worldline.reading.claim import Claim, is_own_voice, who_speaks
from worldline.reading.families import SELF, family_of, is_turned, whole_date
from worldline.rules import handlers
from worldline.rules.identity import (
    Match,
    NearEntity,
    Resolution,
    Resolved,
    Similarity,
    Unclear,
    asked_keys,
    block_keys,
    resolve,
)
from worldline.rules.slots import sentence
from worldline.store import people, registry, slots
from worldline.store.slots import Settled, put_fact
from worldline.store.tx import Tx
from worldline.store.view import as_belief
from worldline.text import fold

# Notes and entities ===================================================================================


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


# Whom a name means ====================================================================================

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
    rows = people.parts(tx, sorted(block_keys(name)), fold(name), slot, place.scope, POOL)
    plain = not any(word[:1].isupper() for word in name.split()[1:])
    fitting = {
        line
        for line, known, _ in rows
        if (said < set(fold(known).split()) or (plain and set(fold(known).split()) < said))
        and _may_be_of_one(name, known)
    }
    return fitting.pop() if len(fitting) == 1 else 0


def _may_be_of_one(name: str, other: str) -> bool:
    """Whether two things are the same one's, as far as they say whose they are."""
    owners = {fold(said.rpartition("'s ")[0]) for said in (name, other)} - {""}
    return len(owners) < 2


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


def _grouped(rows: Sequence[tuple[int, str]]) -> list[NearEntity]:
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
    if tx is None or not tx.born:
        return None
    found = handle.read(lambda view: _second_look(view, tx.born[:NEW], tx.scope_id))
    if not found:
        return None
    similarity = _similarity(handle, found)
    resolved = [(line, name, _decided(handle, line, name, pool, similarity)) for line, name, pool in found]
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


Look = tuple[int, str, list[NearEntity]]
"""An entity, its name, and the near ones that it may be."""


def _second_look(view: View, born: Sequence[int], scope: int) -> list[Look]:
    """Entities near the new ones that share a block with another near one, and are not yet decided."""
    near = people.within_two_facts(view, born, scope, NEAR)[: NEW + NEAR]
    named = {one.line: NearEntity(str(one.line), one.names) for one in near if one.names}
    pools = _undecided(view, _sharing(named))
    return [
        (line, named[line].names[0], [named[other] for other in sorted(others)])
        for line, others in sorted(pools.items())
    ]


def _sharing(named: Mapping[int, NearEntity]) -> list[tuple[int, int]]:
    """Pairs, the younger one first, that have a block key in common."""
    blocks: dict[str, list[int]] = {}
    pairs = set()
    for line in sorted(named):
        keys = [(block_keys(name), asked_keys(name)) for name in named[line].names]
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
    handle: Handle, line: int, name: str, pool: list[NearEntity], similarity: Similarity | None
) -> Resolution:
    def whom_they_know(asked: str, matches: tuple[Match, ...]) -> str | None:
        common = handle.read(lambda view: _common(view, line))  # several fit: whom do they have in common?
        sharing = [match.id for match in matches if match.id in common]
        return sharing[0] if len(sharing) == 1 else None

    return resolve(name, pool, similarity=similarity, tiebreak=whom_they_know)


def _similarity(handle: Handle, found: Sequence[Look]) -> Similarity | None:
    """Cosines of names, if there is an embedder; all names of the look in one call."""
    embedder, held = handle.embedder(), handle.store.meanings
    names = {each for _, name, pool in found for each in (name, *(n for c in pool for n in c.names))}
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
    if any(node.type != "Entity" for _, node in tx.history(line)):
        raise Refused("only an entity can be split")
    if not mentions:
        raise InvalidInput("name at least one mention to split off")
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


# Facts ================================================================================================


class Rule(Struct, frozen=True):
    """How a given fact is kept: under which slot and words, and how it meets the others there."""

    predicate: Predicate
    slot: str
    phrase: str
    one: bool = False
    shared: bool = False
    """Whether what is read falls into the same slot."""
    changes: bool = True
    """Whether it can change at all."""
    turned: bool = False
    """Whether its object is what the slot is about: "mother of"."""


OUTRANKED = "what is given ranks above what was read"


def believe(
    tx: Tx, fact: Fact, place: Place, handle: Handle, told: ToldBy = ToldBy(), speaker: str = ""
) -> tuple[int, bool]:
    """One fact given directly: (its key, or 0 where there was nothing to end; whether anything changed)."""
    fact = _addressed(clean_struct(fact, Fact), speaker, handle.scope.user)
    rule = _rule(tx, fact, place)
    if rule.turned and fact.object is not None:
        fact = replace(fact, subject=fact.object, object=fact.subject)
    if fact.ended and fact.valid_from is None:
        return _end(tx, fact, place, told, rule)
    if fact.ended and fact.valid_to is None:
        fact = replace(fact, valid_to=tx.stamp if told.said_at is None else told.said_at)
    return _assert(tx, fact, place, told, rule, handle.config)


def _addressed(fact: Fact, speaker: str, user: str | None) -> Fact:
    """The fact with the speaker's name for "I", and for "the user"."""
    me = who_speaks(speaker if is_own_voice(speaker) else "", user)
    subject = me if isinstance(fact.subject, str) and fold(fact.subject) in SELF else fact.subject
    object_ = me if isinstance(fact.object, str) and fold(fact.object) in SELF else fact.object
    return replace(fact, subject=subject, object=object_)


def _rule(tx: Tx, fact: Fact, place: Place) -> Rule:
    """How a relation is kept: as its operator has it, in its family's slot, or as it is written."""
    name = clean_name(fact.predicate, "predicate")
    predicate = registry.predicate(tx, name, place.world)
    said = fact.object if fact.object is not None else fact.literal
    family = None if registry.knows_predicate(tx, name, place.world) else family_of(name, str(said or ""))
    turned = family is not None and is_turned(name)
    if family is None or (turned and not fact.related):
        one = predicate.functional if fact.functional is None else fact.functional
        return Rule(predicate, name, name, one)
    mine = registry.predicate(tx, family.name, place.world)
    one = family.one if fact.functional is None else fact.functional
    phrase = family.reads if fact.related or (name == family.name and "_" in name) else name
    return Rule(mine, family.name, phrase, one, True, family.changes, turned)


def not_given(claims: Sequence[Claim], given: Sequence[Fact], speaker: str, user: str | None) -> list[Claim]:
    """The claims about matters of which the text's own giver has said nothing: theirs is the better reading."""
    known = set()
    for fact in given:
        fact = _addressed(fact, speaker, user)
        family = family_of(fact.predicate, str(fact.object or fact.literal or ""))
        if family is not None:
            about = fact.object if is_turned(fact.predicate) and fact.object is not None else fact.subject
            known.add((fold(about), family.name))
    return [c for c in claims if (fold(c.subject), c.family or c.key) not in known]


def _assert(tx: Tx, fact: Fact, place: Place, told: ToldBy, rule: Rule, config: Config) -> tuple[int, bool]:
    """Believes one fact that was given directly; (key of the Fact node, whether anything changed)."""
    subject = end_of(tx, fact.subject, place)
    object_, literal = object_of(tx, fact, place)
    if rule.shared:
        object_, literal = _as_held(tx, subject, rule.slot, object_, literal)
    valid, stated = when_of(tx, fact, told)
    status, reason = grounding(fact.confidence, rule.predicate, config)
    settled = Settled(
        subject, object_, literal, rule.slot, rule.phrase, rule.slot, one=rule.one, dated=stated,
        kind="entity" if object_ or not rule.shared else "text",
    )  # fmt: skip
    draft = FactDraft(
        put_fact(tx, settled, place, valid),
        rule.slot,
        rule.one,
        stated,
        fact.correction,
        status,
        fact.confidence,
        fact.precision,
        reason or fact.reason,
    )
    told_of = _Telling(tx, draft, subject, place)
    if rule.one and rule.shared and status == "believed":
        _outrank(tx, draft, subject, place, valid, rule)
    changed = tx.place_fact(EdgeDraft(subject, "fact", object_, valid, place.scope, fact=draft))
    changed = cite(tx, draft.key, evidence_of(fact, told, tx), place, valid) or changed or told_of.changed()
    tx.changes.append(told_of.words())
    return draft.key, changed


def _as_held(tx: Tx, subject: int, slot: str, object_: int, literal: str | None) -> tuple[int, str | None]:
    """The object in the form, a name or a value, in which the slot holds it already."""
    said = fold(tx.name_of(object_) if object_ else str(orjson.loads(literal or "null")))
    for held in slots.in_slot(tx, subject, slot):
        if fold(held.value) == said:
            return held.object, held.literal
    return object_, literal


def _outrank(tx: Tx, draft: FactDraft, subject: int, place: Place, valid: Interval, rule: Rule) -> None:
    """What was only read gives way where it cannot end before this begins, or could never have changed."""
    rows = tx.slot(subject, draft.predicate, place.scope, draft.key)
    others = [
        r for r in rows if r.node != draft.key and (not rule.changes or r.belief.valid.start == valid.start)
    ]
    for row in others:
        if row.belief.status == "believed" and slots.rank_of(tx, row.node) != "given":
            tx.close(Close(row.belief, reason=OUTRANKED), "correct")


class _Telling:
    """What placing a fact does to its slot, in plain words."""

    def __init__(self, tx: Tx, draft: FactDraft, subject: int, place: Place) -> None:
        self._tx, self._draft, self._subject, self._place = tx, draft, subject, place
        self._before = self._slot()

    def _slot(self) -> dict[int, FactRow]:
        rows = self._tx.slot(self._subject, self._draft.predicate, self._place.scope, self._draft.key)
        return {row.belief.row: row for row in rows}

    def changed(self) -> bool:
        """Whether the slot holds something else than before."""
        return self._slot().keys() != self._before.keys()

    def words(self) -> str:
        """The fact, and what became of the others."""
        now, said = self._slot(), self._said(self._draft.key)
        if now.keys() == self._before.keys():
            return f"{said}: given, and believed already"
        if self._draft.status == "quarantined":
            return f"{said}: given, but kept back ({self._draft.reason})"
        gone = [
            r.node for number, r in self._before.items() if number not in now and r.node != self._draft.key
        ]
        mine = [r.belief.valid for r in now.values() if r.node == self._draft.key]
        against = [
            r.node for r in now.values()
            if self._draft.functional and r.node != self._draft.key and any(r.belief.valid.overlaps(v) for v in mine)
        ]  # fmt: skip
        ends = [f"ends “{self._said(node)}”" for node in dict.fromkeys(gone)]
        told = [*ends, *(f"contradicts “{self._said(node)}”" for node in dict.fromkeys(against))]
        return f"{said}: given{'; ' if told else ''}{', '.join(told)}"

    def _said(self, node: int) -> str:
        return slots.words_of(self._tx, node)


def _end(tx: Tx, fact: Fact, place: Place, told: ToldBy, rule: Rule) -> tuple[int, bool]:
    """Ends what is believed of a fact that is over; (key of the last one ended or 0, whether anything changed)."""
    subject = end_of(tx, fact.subject, place)
    said = fact.object if fact.object is not None else fact.literal
    now = tx.stamp if told.said_at is None else told.said_at
    at = now if fact.valid_to is None else instant(whole_date(fact.valid_to))
    over = [
        fact.row
        for fact in slots.open_facts(tx, subject, place.scope)
        if fact.row.predicate == rule.slot
        and fact.row.belief.valid.start < at
        and (said is None or fold(str(said)) == fold(fact.value))
    ]
    for row in over:
        tx.close(Close(row.belief, valid_to=at, reason=fact.reason or "given as over"), "given")
        tx.changes.append(f"{slots.words_of(tx, row.node)}: over, as given")
        cite(tx, row.node, evidence_of(fact, told, tx), place, row.belief.valid)
    if not over:
        value = "" if said is None else said
        name = tx.name_of(subject)
        tx.changes.append(
            f"{sentence(name, rule.phrase, value)}: given as over, but nothing of it was believed"
        )
    return (over[-1].node if over else 0), bool(over)


# The parts of a given fact ----------------------------------------------------------------------------


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


# In bulk ==============================================================================================


class Note(Struct, frozen=True):
    """A note to load; `inside` is the place of the note that contains it."""

    type: str
    name: str
    content: str = ""
    valid_from: When | None = None
    valid_to: When | None = None
    dated: When | None = None
    metadata: Metadata | None = None
    inside: int | None = None


class Link(Struct, frozen=True):
    """An edge to load; an end is the place of a note in the same load."""

    src: int
    type: str
    dst: int
    valid_from: When | None = None
    valid_to: When | None = None
    metadata: Metadata | None = None
