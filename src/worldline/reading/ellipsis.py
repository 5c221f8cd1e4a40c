"""One verb for what was so one after the other: "worked at Alpha until 2020, then at Beta".

What stands behind "then" has no verb of its own; it is said of the same ones, from when the first was over.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from worldline.reading.clauses import Clause, Part
from worldline.reading.parser import Tree


def in_turn(tree: Tree, clause: Clause) -> list[Clause]:
    """The clause; two, where something of the same kind stands behind "then"."""
    turn = next((i for i in sorted(clause.own) if i > clause.at and tree.tokens[i].low == "then"), None)
    if turn is None or tree.tokens[turn - 1].low not in (",", "and", "but"):
        return [clause]
    first, later = (_said(clause.parts, [n for n in range(len(tree.tokens)) if (n > turn) == behind])
                    for behind in (False, True))  # fmt: skip
    if not {p.prep for p in first if not p.dated} & {p.prep for p in later if not p.dated}:
        return [clause]
    own = frozenset(i for i in clause.own if i > turn)
    return [
        replace(clause, parts=first, own=clause.own - own),
        replace(clause, parts=later, own=own | {clause.at}, follows=turn),
    ]


def _said(parts: Sequence[Part], places: Sequence[int]) -> tuple[Part, ...]:
    """Of these parts what stands in these places."""
    kept = (replace(p, nouns=tuple(n for n in p.nouns if n.at in places)) for p in parts)
    return tuple(p for p in kept if p.nouns)
