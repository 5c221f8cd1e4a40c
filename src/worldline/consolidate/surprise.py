"""Gives every new text the share of it that was new when it came, for recall to weigh.

A token was new with a text if the first text of the same owner that has it is this one; the words
index answers that with one step a token, whatever the store holds.
"""

from __future__ import annotations

from collections.abc import Collection

import orjson

from worldline.consolidate.changes import Plan, Rows
from worldline.consolidate.night import Night
from worldline.rules.surprise import fingerprints, surprise
from worldline.store import archive
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.view import FOUND_APART, LISTED, SqlView, listed, owner_token

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
    own = _owned(view)
    found: dict[str, int] = {}
    for table in ("words", "cold_words") if archive.is_used(view) else ("words",):
        rows = view.query(
            "SELECT j.key, (SELECT n.id FROM"
            f" (SELECT rowid FROM {table} WHERE {table} MATCH j.value ->> 1 LIMIT {_FAR}) w"
            f" CROSS JOIN nodes n ON n.id = w.rowid / {WORDS_PER_NODE} CROSS JOIN beliefs b ON b.tenant = :t"
            f" AND b.line = n.line AND b.node = n.id WHERE b.type NOT IN {FOUND_APART} AND {view.scoped('b')}"
            " LIMIT 1), j.value ->> 0"
            " FROM json_each(:tokens) j",
            tokens=orjson.dumps([[t, f'{own}text : "{t}"'] for t in sorted(tokens)]).decode(),
        )
        for _, node, token in rows:
            if node is not None:
                found[token] = min(node, found.get(token, node))
    return found


def _owned(view: SqlView) -> str:
    """The tokens by which the index leaves out other tenants and owners, where there are any."""
    rows = view.query(
        "SELECT user, agent, app FROM scopes WHERE tenant = :t AND part_of = (SELECT min(value) FROM json_each(:only))"
        " ORDER BY id"
    )
    kinds = ("user", "agent", "app")
    tokens = [
        owner_token(kind, value) for row in rows for kind, value in zip(kinds, row, strict=True) if value
    ]
    if len(view.query("SELECT 1 FROM tenants LIMIT 2")) > 1:
        tokens.append(f"t{view.tenant}")
    return f"owner : ({' AND '.join(dict.fromkeys(tokens))}) AND " if tokens else ""
