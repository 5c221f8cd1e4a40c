"""Drives a real memory and the oracle side by side, and compares every read at every point."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from laws.oracle import Oracle, RefusalError
from worldline import FOREVER, Memory, WorldlineError
from worldline.clock import EARLIEST, LATEST
from worldline.errors import Conflict, InvalidTime, NotFound, Refused
from worldline.testing import FrozenClock

START = 1000
NAMES = ("n0", "n1", "n2")
CONTENTS = ("c0", "c1", "c2")
SCOPES = ("", "a", "b")
WORLDS = ("", "w0", "w1", "w2")
EDGES = ("relates_to", "precedes", "refers_to", "contains")
TIMES = st.sampled_from([None, 0, 10, 20, 20, 30, 1005])

WHO = st.sampled_from(["", "a", "a", "b"])
WHICH = st.integers(0, 4)
LATER = st.sampled_from([None, None, 10, 20, 30, 1005])

put = st.tuples(
    st.just("put"), WHO, st.sampled_from(["", "", "w0", "w2", "w1"]), st.sampled_from(NAMES),
    st.sampled_from(CONTENTS), st.sampled_from([0, 0, 10, 20, None]),
)  # fmt: skip
change = st.one_of(
    st.tuples(st.just("amend"), WHO, WHICH, st.sampled_from(CONTENTS), LATER),
    st.tuples(st.just("amend"), WHO, WHICH, st.sampled_from(CONTENTS), LATER),
    st.tuples(st.just("correct"), WHO, WHICH, st.sampled_from(CONTENTS)),
    st.tuples(st.just("withdraw"), WHO, WHICH),
    st.tuples(st.just("retire"), WHO, WHICH, LATER),
)
edge = st.one_of(
    st.tuples(st.just("link"), WHO, st.integers(0, 7), st.sampled_from(EDGES), st.integers(0, 7), TIMES),
    st.tuples(st.just("link"), WHO, st.integers(0, 2), st.just("contains"), st.integers(1, 7), LATER),
    st.tuples(st.just("end_edge"), WHO, st.integers(0, 9), LATER, st.booleans()),
)
undo = st.tuples(st.just("undo"), WHO, st.integers(0, 20))
advance = st.tuples(st.just("advance"), st.sampled_from([1, 5]))
ops = st.one_of(put, change, change, edge, undo, advance)
histories = st.tuples(st.lists(put, min_size=2, max_size=4), st.lists(ops, min_size=3, max_size=12)).map(
    lambda both: both[0] + both[1]
)


class Pair:
    """A memory and its oracle."""

    def __init__(self) -> None:
        self.clock = FrozenClock(START)
        self.memory = Memory.open(":memory:", clock=self.clock)
        self.oracle = Oracle()
        self.handles = {s: self.memory.scoped(user=s) if s else self.memory for s in SCOPES}
        self.ids: dict[str, str] = {}
        """Payload → id of its version."""
        self.lines: list[str] = []
        self.receipts = []
        self.worlds = {
            "": "", "w0": self._payload("", "w0", "c0"), "w1": self._payload("", "w1", "c0"),
            "w2": self._payload("w0", "w2", "c0"),
        }  # fmt: skip
        for world, outer in (("w0", ""), ("w1", ""), ("w2", "w0")):
            for scope in SCOPES:
                self.apply(("put", scope, outer, world, "c0", 0))

    def _payload(self, world: str, name: str, content: str) -> str:
        return f"{world}|{name}|{content}"

    def apply(self, op) -> None:
        """One operation on both; they must agree on whether it is refused and whether it changed."""
        if op[0] == "advance":
            self.clock.advance(op[1])
            return
        try:
            receipt, refusal = getattr(self, "do_" + op[0])(*op[1:]), None
        except (Refused, Conflict, InvalidTime, NotFound) as error:
            receipt, refusal = None, error
        if receipt is not None and receipt.changed:
            self.receipts.append((op[1], receipt))
        try:
            changed = self.oracle_do(receipt, op, refusal)
        except RefusalError as why:
            changed = None if refusal else f"it should have been refused: {why}"
            refusal = None
        assert not isinstance(changed, str), (op, changed)
        if changed is None:
            return
        assert refusal is None, f"{op} was refused: {refusal}"
        assert receipt is None or receipt.changed == changed, f"{op}: {receipt}"

    def oracle_do(self, receipt, op, refusal) -> bool:
        now = receipt.known_at if receipt else self._next_stamp()
        return getattr(self, "model_" + op[0])(now, receipt, *op[1:])

    def _next_stamp(self) -> int:
        last = max((s for s in self.oracle.changesets), default=START + 1)
        return max(self.clock(), last + 1)

    # put
    def _enter(self, scope: str, world: str) -> Memory:
        handle = self.handles[scope]
        return handle.enter(self.ids[self.worlds[world]]) if world else handle

    def do_put(self, scope, world, name, content, at):
        return self._enter(scope, world).note("learning", name, content, valid_from=at)

    def model_put(self, now, receipt, scope, world, name, content, at):
        if world and not any(
            r.what == self.worlds[world] and scope in ("", r.scope) for r in self.oracle.rows
        ):
            raise RefusalError("no such world in this scope")
        what = self._payload(world, name, content)
        line = self.oracle._owner(what, what)
        row_scope, new = scope or "-", line not in self.lines
        vf = now if at is None else at
        held = [r for r in self.oracle.rows if r.line == line and r.current and r.scope == row_scope]
        if world and not new and not any(r.what == what and r.vf <= vf < r.vt for r in held):
            self._come_back(self.worlds[world], line, row_scope, now)
        if new and world:
            self.oracle.put_into(self.worlds[world], line, row_scope, now)
        changed = self.oracle.put(line, what, row_scope, vf, FOREVER, now)
        if new:
            self.lines.append(line)
        if receipt:
            self.ids[what] = receipt.id
        return changed

    def _come_back(self, world, line, scope, now):
        stays = [r for r in self.oracle.rows if r.edge and r.edge[1:] == ("contains", line) and r.current]
        if not any(r.vt == FOREVER for r in stays):
            self.oracle.link((world, "contains", line), scope, now if stays else EARLIEST, now)

    # change
    def _line(self, number: int) -> str:
        return self.lines[3:][number % len(self.lines[3:])] if len(self.lines) > 3 else ""

    def _known_in(self, line: str, scope: str) -> bool:
        return any(r.what == line and scope in ("", r.scope) for r in self.oracle.rows if r.edge is None)

    def _content(self, line: str, content: str) -> str:
        return line.rsplit("|", 1)[0] + "|" + content

    def _do(self, verb, scope, number, *args, **kwargs):
        line = self._line(number)
        if not line:
            raise NotFound("nothing yet")
        return getattr(self.handles[scope], verb)(self.ids[line], *args, **kwargs)

    def _model(self, scope, number) -> str:
        line = self._line(number)
        if not line or not self._known_in(line, scope):
            raise RefusalError("not found")
        return line

    def do_amend(self, scope, number, content, at):
        return self._do("amend", scope, number, content, valid_from=at)

    def model_amend(self, now, receipt, scope, number, content, at):
        line = self._model(scope, number)
        what = self._content(line, content)
        changed = self.oracle.amend(line, what, scope, now if at is None else at, now)
        if receipt and changed:
            self.ids[what] = receipt.id
        return changed

    def do_correct(self, scope, number, content):
        return self._do("correct", scope, number, content)

    def model_correct(self, now, receipt, scope, number, content):
        line = self._model(scope, number)
        what = self._content(line, content)
        changed = self.oracle.correct(line, what, scope, now)
        if receipt and changed:
            self.ids[what] = receipt.id
        return changed

    def do_withdraw(self, scope, number):
        return self._do("correct", scope, number)

    def model_withdraw(self, now, receipt, scope, number):
        return self.oracle.withdraw(self._model(scope, number), scope, now)

    def do_retire(self, scope, number, at):
        return self._do("retire", scope, number, at)

    def model_retire(self, now, receipt, scope, number, at):
        return self.oracle.retire(self._model(scope, number), scope, now if at is None else at, now)

    # edges
    def _ends(self, a, b):
        lines = self.lines
        return lines[a % len(lines)], lines[b % len(lines)]

    def do_link(self, scope, a, type_, b, at):
        src, dst = self._ends(a, b)
        return self.handles[scope].link(self.ids[src], type_, self.ids[dst], valid_from=at)

    def model_link(self, now, receipt, scope, a, type_, b, at):
        src, dst = self._ends(a, b)
        if not (self._known_in(src, scope) and self._known_in(dst, scope)):
            raise RefusalError("not found")
        return self.oracle.link((src, type_, dst), scope or "-", now if at is None else at, now)

    def _edge(self, number):
        edges = [r for r in self.oracle.rows if r.edge]
        return edges[number % len(edges)].edge

    def _current_edge(self, scope, edge):
        src, type_, dst = edge
        for change in self.handles[scope].changes(EARLIEST):
            item = change.item
            if change.kind == "edge" and (item.src, item.type, item.dst) == (
                self.ids[src],
                type_,
                self.ids[dst],
            ):
                return item
        raise NotFound("no such edge here")

    def do_end_edge(self, scope, number, at, wrong):
        edge = self._current_edge(scope, self._edge(number))
        handle = self.handles[scope]
        return handle.correct(edge) if wrong else handle.retire(edge, at)

    def model_end_edge(self, now, receipt, scope, number, at, wrong):
        edge = self._edge(number)
        if not any(r.edge == edge and scope in ("", r.scope) for r in self.oracle.rows):
            raise RefusalError("not found")
        when = None if wrong else (now if at is None else at)
        return self.oracle.end_edge(edge, scope, when, now)

    def do_undo(self, scope, number):
        if not self.receipts:
            raise NotFound("nothing yet")
        self.undoing = self.receipts[number % len(self.receipts)]
        return self.handles[scope].undo(self.undoing[1])

    def model_undo(self, now, receipt, scope, number):
        if not self.receipts[:-1] and (receipt is None or not self.receipts):
            raise RefusalError("nothing yet")
        known_at = self.undoing[1].known_at
        put, closed = self.oracle.changesets[known_at]
        if scope and any(r.scope != scope for r in (*put, *closed)):
            raise RefusalError("another scope")
        return self.oracle.undo(known_at, now)

    # Comparing ---------------------------------------------------------------------------------

    def points(self):
        """Every (valid, known) where an answer could change, one tick before, and now."""
        rows = self.oracle.rows
        valid = {t + d for r in rows for t in (r.vf, r.vt) for d in (0, -1) if EARLIEST < t < FOREVER}
        known = {t + d for r in rows for t in (r.kf, r.kt) for d in (0, -1) if t < FOREVER}
        return sorted(valid), [*sorted(known), LATEST]

    def check(self) -> None:
        """Every read at every point, and verify."""
        valid, known = self.points()
        for number, (v, k) in enumerate(product(valid, known)):
            self.check_list(SCOPES[number % 3], "w0" if number % 2 else "", v, k)
            if number % 7 == 0:
                self.check_point(SCOPES[number // 7 % 3], v, k)
        for scope in SCOPES:
            self.check_history(scope)
        assert self.memory.verify().damage == ()

    def _at(self, scope, v, k, world=""):
        handle = self.handles[scope]
        if world:
            handle = handle.enter(self.ids[self.worlds[world]])
        return handle.at(valid=v) if k == LATEST else handle.at(valid=v, known=k)

    def check_list(self, scope, world, v, k):
        found = sorted(n.id for n in self._at(scope, v, k, world).list(limit=1000).items)
        rows = self.oracle.nodes(v, k, scope, self.worlds[world])
        assert found == sorted({self.ids[r.what] for r in rows}), (scope, world, v, k)

    def check_point(self, scope, v, k):
        handle = self._at(scope, v, k)
        answer = handle.query().run()
        assert sorted(n.id for n in answer.nodes) == sorted(
            {self.ids[r.what] for r in self.oracle.nodes(v, k, scope)}
        )
        edges = {(e.src, e.type, e.dst) for e in answer.edges if e.type in EDGES}
        named = {(self.ids[a], t, self.ids[b]) for a, t, b in self.oracle.edges(v, k, scope)}
        assert edges == named, (scope, v, k)
        for line in self.lines:
            self.check_get(handle, scope, line, v, k)

    def check_get(self, handle, scope, line, v, k):
        expected = self.oracle.get(line, v, k, scope)
        knows = any(
            r.what == line and r.kf <= k and scope in ("", r.scope) for r in self.oracle.rows if not r.edge
        )
        try:
            found = handle.get(self.ids[line]).id
        except NotFound:
            found = None
        assert found == (self.ids[expected] if expected and knows else None), (scope, line, v, k)
        if found:
            walked = handle.query().seeds(self.ids[line]).follow(*EDGES, depth=2).run()
            reached = self.oracle.reached(line, v, k, scope, 2)
            assert {n.lineage for n in walked.nodes} == {self.ids[x] for x in reached}

    def check_history(self, scope):
        for line in self.lines:
            try:
                found = [
                    (v.node.id, v.node.valid.start, v.node.valid.end, v.node.known.start, v.node.known.end)
                    for v in self.handles[scope].history(self.ids[line])
                ]
            except WorldlineError:
                found = []
            rows = [
                (self.ids[r.what], r.vf, r.vt, r.kf, r.kt)
                for r in self.oracle.rows
                if r.line == line and not r.edge and scope in ("", r.scope)
            ]
            if self._known_in(line, scope):
                assert sorted(found) == sorted(rows), (scope, line)
