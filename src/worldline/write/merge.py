"""Deciding merges: accept, reject, undo; and splitting mentions off an entity again.

A merge changes reads only. Accepting writes same_as edges in both directions, undoing gives them
up on the known axis, and every decision is a row of its own: who said so stays visible.
"""

from __future__ import annotations

from collections.abc import Sequence

from worldline.clock import EARLIEST, Interval
from worldline.errors import NotFound, Refused
from worldline.handle import Handle, Place
from worldline.inputs import clean_name
from worldline.model import Belief, Close, Edge, EdgeDraft, NodeDraft, Proposal
from worldline.ports import Tx
from worldline.store import naming, people
from worldline.store.view import as_belief
from worldline.write.put import note

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


def named(tx: Tx, handle: Handle, id_: str) -> Proposal:
    """The proposal that somebody means by its id or the beginning of it."""
    view = tx.as_view(world=handle.world)
    found = [p for p in people.proposals(view) if p.id.startswith(id_.lower())]
    if len(found) != 1 or len(id_) < handle.config.prefix_length:
        raise NotFound(f"no single merge proposal {id_[:16]!r} here; merges() lists them")
    return found[0]


def decide(tx: Tx, proposal: Proposal, status: str) -> bool:
    """Moves a proposal to another status; deciding the same again changes nothing."""
    if proposal.status == status:
        return False
    if proposal.status not in _MAY[status]:
        raise Refused(_ADVICE[status].format(was=proposal.status))
    scope = naming.proposal_scope(tx, proposal)
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
    for edge in naming.identities(tx, proposal.a_line, proposal.b_line):
        tx.close(Close(as_belief(edge), "edges", reason="undone"), "undo_merge")


def split(
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
        for edge in naming.believed_edges(tx, mention):
            tx.close(Close(as_belief(edge), "edges", reason="split"), "split")
            tx.link(EdgeDraft(edge.src_line, "refers_to", key, edge.valid, edge.scope, edge.metadata))
            changed = True
    return key, changed
