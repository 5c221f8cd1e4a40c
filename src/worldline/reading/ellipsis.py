"""What is left out because it was said before: "… and so does Tom", "worked at Alpha until 2020, then at Beta".

The verb of the clause before holds for it too: of somebody else, or from when the first was over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from worldline.reading.parser import Tree

if TYPE_CHECKING:
    from worldline.reading.clauses import Clause, Part


def echo(tree: Tree, clause: Clause, before: Sequence[Clause]) -> Clause:
    """ "… and so does Tom", "… but my husband isn't", "neither does Yolanda": the same of somebody else."""
    said = {tree.tokens[i].low for i in clause.own}
    bare = (
        clause.verb in ("do", "be", "have")
        and not clause.parts
        and clause.dep == "conj"
        and len(clause.own) <= 6
    )
    last = next((c for c in reversed(before) if c.at == tree.tokens[clause.at].head), None)
    if not bare or last is None or last.unreal or last.asks or not clause.subjects:
        return clause
    but = any(tree.tokens[i].low == "but" for i in tree.kids(last.at, "cc"))
    same = bool(said & {"so", "too", "also", "neither", "nor"})
    if not same and not but:
        return clause
    negated = bool(said & {"neither", "nor"}) or clause.negated or (same and last.negated)
    reads = last.reads if negated == (last.negated or last.over) else last.otherwise
    over = last.over and negated
    return replace(last, at=clause.at, subjects=clause.subjects, own=clause.own, dep=clause.dep,
                   negated=negated and not over, over=over, reads=reads, otherwise="")  # fmt: skip


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
