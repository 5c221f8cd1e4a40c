"""What of another memory was forgotten here, and is not taken in again.

A tombstone knows the beliefs that it stands for by hashes of what they were about, of whom, and of when they were
learned, here or in a store that held them before. A memory of which any belief is known by one was forgotten for that
scope, with all that became of it since. So is what was drawn from it alone. What somebody else knows, or has
learned by himself, is another memory. A name, a session or a world comes with the first new thing that needs it, a
fact with a text that is new here and states it too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from worldline.exchange.restore import Copy, Line, told
from worldline.model import Scope
from worldline.store.copying import SIDE
from worldline.store.erasing import mark_of
from worldline.store.registry import set_key

Pair = tuple[str, int]
"""A lineage, and the scope set that believes in it, both as the other store has them."""
_FRAMES = ("Entity", "Session", "Scope")


def leave_out(copy: Copy, marks: Collection[bytes]) -> list[str]:
    """Takes out of a copy what was forgotten here; the ids of those memories. `copy.keys` has what is here."""
    sift = _Sift(copy)
    sift.gone = set(sift.pairs_of(marks))
    if not sift.gone:
        return []
    sift.settle()
    sift.carry_out()
    lineages = dict.fromkeys(lineage for lineage, _ in sorted(sift.gone))
    return [lineage for lineage in lineages if sift.types.get(lineage) not in _FRAMES]


class _Sift:
    """The other memory by lineages, and what of it is not to be taken."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        nodes = [line for _, line in copy.lines["node"]]
        self.lineage: dict[str, str] = {line["id"]: line["lineage"] for line in nodes}
        self.types: dict[str, str] = {line["id"]: line["type"] for line in nodes}
        self.gone: set[Pair] = set()
        self.scopes: dict[str, set[int]] = defaultdict(set)
        """Who believes in each lineage."""
        for _, belief in copy.lines["belief"]:
            self.scopes[self.root(belief["of"])].add(_scope(belief))
        self.grounds: dict[Pair, set[str]] = defaultdict(set)
        """What each memory was drawn from."""
        for _, edge in copy.lines["edge"]:
            if edge["type"] == "derived_from":
                self.grounds[self.root(edge["src"]), _scope(edge)].add(self.root(edge["dst"]))
        self.frames: dict[str, set[str]] = defaultdict(set)
        """What each lineage lies in and speaks of."""
        for line in nodes:
            self.frames[line["lineage"]] |= {self.root(line["world"])} if line.get("world") else set()
        for id_, fact in copy.facts.items():
            self.frames[self.root(id_)] |= {
                self.root(fact[end]) for end in ("subject", "object") if fact.get(end)
            }

    def root(self, id_: str) -> str:
        return self.lineage.get(id_, id_)

    def is_here(self, id_: str) -> bool:
        return id_ in self.copy.keys

    def pairs_of(self, marks: Collection[bytes]) -> Iterator[Pair]:
        """Of whom which lineage was forgotten."""
        keys = {
            line["number"]: set_key([Scope(**scope) for scope in line["scopes"]])
            for _, line in self.copy.lines["scope"]
        }
        for _, belief in self.copy.lines["belief"]:
            row, whose = told(belief, self.copy.root), keys.get(_scope(belief), "")
            if any(mark_of(belief["of"], whose, mark) in marks for mark in row.marks):
                yield self.root(belief["of"]), _scope(belief)

    def settle(self) -> None:
        """What comes although it was forgotten, because of something new; and what goes although it was not."""
        self.gone -= {pair for pair in self.gone if self.has_news(*pair)}
        more = self.gone
        while more:
            more = {
                (lineage, scope)
                for (lineage, scope), grounds in self.grounds.items()
                if not self.is_here(lineage) and all((ground, scope) in self.gone for ground in grounds)
            } - self.gone
            self.gone |= more
        needed = [(line, scope) for line, scopes in self.scopes.items() for scope in scopes]
        needed = [pair for pair in needed if pair not in self.gone]
        while needed:
            lineage, scope = needed.pop()
            for frame in self.frames[lineage]:
                if (frame, scope) in self.gone:
                    self.gone.discard((frame, scope))
                    needed.append((frame, scope))

    def has_news(self, lineage: str, scope: int) -> bool:
        """Whether a text states it that is new here."""
        return any(
            not self.is_here(ground) and (ground, scope) not in self.gone
            for ground in self.grounds.get((lineage, scope), ())
        )

    def carry_out(self) -> None:
        """Drops the lines of what is gone, and the words of what is needed all the same."""
        copy = self.copy
        staying = {
            line for line, s in self.scopes.items() if any((line, each) not in self.gone for each in s)
        }
        needed = staying.union(*(self.frames[line] for line in staying))
        lost = self.scopes.keys() - needed
        believed = {b["of"] for _, b in copy.lines["belief"]}
        believed -= {b["of"] for _, b in copy.lines["belief"] if not self.is_gone(b["of"], b)}
        dropped = {id_ for id_ in believed if self.is_here(id_) or id_ not in needed}
        known = {id_ for id_, type_ in self.types.items() if type_ == "Entity" and self.is_here(id_)}
        silent = (believed - dropped) | (known - self.spoken_of(staying))

        def stays(kind: str, line: Line) -> bool:
            if kind in ("worldline", "type", "scope"):
                return True
            if kind in ("node", "event", "fact"):
                return line["id"] not in (dropped if kind == "node" else believed)
            ends = [line[end] for end in ("of", "src", "dst", "a", "b") if end in line]
            if any(self.root(end) in lost or end in dropped for end in ends):
                return False
            if kind in ("alias", *SIDE):
                return line["of"] not in silent and not self.is_gone(line["of"], line)
            is_place = kind == "edge" and line["type"] == "contains"
            return is_place or not any(self.is_gone(end, line) for end in ends)

        for kind, lines in copy.lines.items():
            lines[:] = [(at, self.shorn(kind, line, silent)) for at, line in lines if stays(kind, line)]
        used = {_scope(line) for kind, lines in copy.lines.items() if kind != "scope" for _, line in lines}
        copy.lines["scope"][:] = [(at, line) for at, line in copy.lines["scope"] if line["number"] in used]
        copy.first.clear()
        for _, belief in copy.lines["belief"]:
            copy.first.setdefault(belief["of"], belief)

    def is_gone(self, id_: str, line: Line) -> bool:
        return (self.root(id_), _scope(line)) in self.gone

    def spoken_of(self, staying: Collection[str]) -> set[str]:
        """What new facts speak of, and facts that a new text states."""
        return {
            end
            for line in staying
            if self.types.get(line) == "Fact"
            and (not self.is_here(line) or any(self.has_news(line, scope) for scope in self.scopes[line]))
            for end in self.frames[line]
        }

    def shorn(self, kind: str, line: Line, silent: Collection[str]) -> Line:
        """A memory without the words, and without the notes, that were forgotten."""
        if kind == "node" and line["id"] in silent:
            line = {**line, "name": "", "content": ""}
        if kind == "node" and self.is_gone(line["id"], line):
            line = {name: value for name, value in line.items() if name not in ("metadata", "scope")}
        return line


def _scope(line: Line) -> int:
    return line.get("scope") or 0
