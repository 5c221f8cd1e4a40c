"""Gives every new text the share of it that was new when it came, for recall to weigh.

A token was new with a text if the first text of the same owner that has it is this one; the words
index answers that with one step a token, whatever the store holds.
"""

from __future__ import annotations

from worldline.consolidate.changes import Plan, Rows
from worldline.consolidate.night import Night
from worldline.rules.surprise import fingerprints, surprise
from worldline.store import nights
from worldline.store.view import SqlView

NAME = "surprise"


def judge(view: SqlView, night: Night) -> Plan:
    """The surprise of every new text."""
    nodes = sorted({item.node for item in night.news.of("Turn") if not item.closed})
    if not nodes:
        return Plan()
    marks = {node: fingerprints(text) for node, text in nights.whole_texts(view, nodes).items()}
    first = nights.first_with(view, {token for mark in marks.values() for token in mark.tokens})
    rows = []
    for node, mark in marks.items():
        new = [token for token in mark.tokens if first.get(token, node) >= node]
        rows.append((view.tenant, node, NAME, round(surprise(mark, new), 4)))
    return Plan((Rows("scores", tuple(rows)),))
