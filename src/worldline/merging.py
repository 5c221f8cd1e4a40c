"""The part of Memory that decides identity: proposals, merges and their undoing, splits, exports.

It binds the parts together and decides nothing itself: what a merge does is in `write/merge.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from worldline.errors import InvalidInput, NotFound
from worldline.handle import Done, Handle, Place
from worldline.model import Edge, Node, Proposal, Receipt
from worldline.ports import Tx, View
from worldline.store import people
from worldline.store.histories import mentions_of
from worldline.write import merge
from worldline.write.redact import redacting


class Merging:
    """What a handle can say about who is who."""

    _h: Handle

    def merges(self, status: str | None = "pending") -> tuple[Proposal, ...]:
        """Merge proposals of a status (None: all)."""
        if status not in (None, "pending", "accepted", "rejected", "undone"):
            raise InvalidInput(f"a merge is pending, accepted, rejected or undone, not {status!r}")
        return self._h.read(lambda view: tuple(people.proposals(view, status)))

    def accept_merge(self, proposal: Proposal | str, *, dry_run: bool = False) -> Receipt:
        """From now on both are read as one; nothing is rewritten."""
        return self._decide(proposal, "accepted", dry_run)

    def reject_merge(self, proposal: Proposal | str, *, dry_run: bool = False) -> Receipt:
        """They are not the same; the proposal is not made again."""
        return self._decide(proposal, "rejected", dry_run)

    def undo_merge(self, proposal: Proposal | str, *, dry_run: bool = False) -> Receipt:
        """They are read as two again."""
        return self._decide(proposal, "undone", dry_run)

    def _decide(self, proposal: Proposal | str, status: str, dry_run: bool) -> Receipt:
        if not isinstance(proposal, Proposal | str):
            raise InvalidInput(f"name a merge proposal by its id, not {proposal!r}")
        wanted = proposal if isinstance(proposal, str) else proposal.id

        def work(tx: Tx, place: Place) -> Done:
            view = tx.as_view(world=self._h.world)
            found = [p for p in people.proposals(view) if p.id.startswith(wanted.lower())]
            if len(found) != 1 or len(wanted) < self._h.config.prefix_length:
                raise NotFound(f"no single merge proposal {wanted[:16]!r} here; merges() lists them")
            return bytes.fromhex(found[0].id), merge.decide(tx, found[0], status)

        return self._h.write(f"merge {status}", work, dry_run=dry_run)

    def equivalence_class(self, ref: Any) -> tuple[Node, ...]:
        """Everything accepted as the same as this, itself included."""

        def look(view: View) -> tuple[Node, ...]:
            lines = view.same_as(self._h.resolve(view, ref).line)
            return tuple(node for line in lines if (node := view.latest(line)) is not None)

        return self._h.read(look)

    def export_identity(self, ref: Any) -> dict[str, Any]:
        """One identity with all its names, and where each of them comes from."""

        def look(view: View) -> dict[str, Any]:
            lines = view.same_as(self._h.resolve(view, ref).line)
            members = [node for line in lines if (node := view.latest(line)) is not None]
            return {
                "representative": members[0].id,
                "members": [{"id": n.id, "type": n.type, "name": n.name} for n in members],
                "names": list(dict.fromkeys([*(n.name for n in members), *people.names_of(view, lines)])),
                "provenance": [
                    {"memory": e.src, "of": e.dst, **e.metadata} for e in mentions_of(view, lines)
                ],
                "merges": [msgspec.to_builtins(p) for p in people.accepted_among(view, lines)],
            }

        return self._h.read(look)

    @redacting
    def split(self, entity: Any, mentions: Sequence[Edge], name: str) -> Receipt:
        """Moves mentions (refers_to edges) off an entity, to a new one of that name."""

        def work(tx: Tx, place: Place) -> Done:
            line = self._h.target(tx, entity).line
            key, changed = merge.split(tx, line, mentions, name, place, self._h.config.max_text)
            return tx.id_of(key), changed

        return self._h.write("split", work)
