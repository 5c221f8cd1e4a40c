"""Gives every new text the share of it that was new when it came, for recall to weigh.

A token was new with a text if the first text of the same owner that has it is this one; the words
index answers that with one step a token, whatever the store holds.
"""

from __future__ import annotations

from collections.abc import Collection

from worldline.consolidate.changes import Plan, Rows
from worldline.consolidate.night import Night
from worldline.rules.surprise import fingerprints, surprise
from worldline.store.search import first_holding
from worldline.store.view import LISTED, SqlView, listed, owner_token

NAME = "surprise"
_FAR = 200
"""So many texts with a token are looked at for one of this owner's; only a shared index has more of others'."""


def judge(view: SqlView, night: Night) -> Plan:
    """The surprise of every new text."""
    nodes = sorted({item.node for item in night.news.of("Turn") if not item.closed})
    if not nodes:
        return Plan()
    texts = view.query(f"SELECT id, content FROM nodes WHERE id IN {LISTED} ORDER BY id", among=listed(nodes))
    marks = {node: fingerprints(text) for node, text in texts}
    first = _first(view, {token for mark in marks.values() for token in mark.tokens})
    rows = []
    for node, mark in marks.items():
        new = [token for token in mark.tokens if first.get(token, node) >= node]
        rows.append((view.tenant, node, NAME, round(surprise(mark, new), 4)))
    return Plan((Rows("scores", tuple(rows)),))


def _first(view: SqlView, tokens: Collection[str]) -> dict[str, int]:
    """The first version of this owner's that has each token."""
    return first_holding(view, sorted(tokens), _owned(view), _FAR)


def _owned(view: SqlView) -> list[str]:
    """The tokens by which the index leaves out other owners, where there are any."""
    rows = view.query(
        "SELECT user, agent, app FROM scopes WHERE tenant = :t AND part_of = (SELECT min(value) FROM json_each(:only))"
        " ORDER BY id"
    )
    kinds = ("user", "agent", "app")
    tokens = [
        owner_token(kind, value) for row in rows for kind, value in zip(kinds, row, strict=True) if value
    ]
    return list(dict.fromkeys(tokens))
