"""Subgraph queries: a frozen, printable plan, and the walk over a view that answers it.

    memory.query().seeds(project).follow("relates_to", depth=2).where(type="Decision").run()

Each verb returns a new query. Without seeds or text it starts from everything visible. `follow` moves on to what is
reached; `where` and `where_connected` keep part of what is there; none of them sees past the view. The edge types
rewrite a query first, then its steps are taken in order: `answer` returns the subgraph, `plan` the same walk in words
without running it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Interval, When, axes, instant, interval, show
from worldline.errors import InvalidInput, InvalidText
from worldline.handle import Handle
from worldline.model import Ask, Edge, EdgeType, Metadata, Node, Subgraph
from worldline.ports import Direction, View
from worldline.store import registry
from worldline.store.view import compares, passes
from worldline.text import words

Way = Literal["out", "in", "both"]


class Follow(Struct, frozen=True):
    """Walk along edges of these types (None: all), up to `depth` steps."""

    types: tuple[str, ...] | None
    way: Way = "out"
    depth: int = 1


class Where(Struct, frozen=True):
    """Keep what has this type, name, kind, content and metadata."""

    type: tuple[str, ...] | None = None
    name: str | None = None
    kind: Any = None
    contains: str | None = None
    metadata: Metadata = {}


class Connected(Struct, frozen=True):
    """Keep what has an edge of this type (to one of these, if given)."""

    type: str
    to: tuple[Any, ...] = ()
    way: Way = "both"
    absent: bool = False


Step = Follow | Where | Connected


def _text(value: Any, what: str) -> str:
    """Text that can be compared with what is stored."""
    if not isinstance(value, str) or "\0" in value:
        raise InvalidText(f"the {what} must be text without NUL, not {value!r}")
    return value


def _way(way: Any) -> Way:
    if way not in ("out", "in", "both"):
        raise InvalidInput(f"way is out, in or both, not {way!r}")
    return cast(Way, way)


class Query(Struct, frozen=True):
    """What to start from and what to do with it."""

    runner: Callable[[Query], Subgraph]
    explainer: Callable[[Query], str]
    starts: tuple[Any, ...] = ()
    words: str | None = None
    steps: tuple[Step, ...] = ()
    world: Any = None
    valid: When | None = None
    known: When | None = None
    window: Interval | None = None
    closed: bool = False
    most: int | None = None
    summaries: bool = False

    def seeds(self, *refs: Any) -> Query:
        """Start from these memories."""
        return replace(self, starts=self.starts + refs)

    def text(self, words: str) -> Query:
        """Start from what holds any of these words, best first (seeds go before it)."""
        return replace(self, words=_text(words, "text"))

    def follow(self, *types: str, way: Way = "out", depth: int = 1) -> Query:
        """Move on along edges of these types (all, if none is named)."""
        _way(way)
        for name in types:
            _text(name, "edge type")
        if type(depth) is not int or not 1 <= depth <= 64:
            raise InvalidInput(f"depth lies between 1 and 64, not at {depth}")
        return self._then(Follow(types or None, way, depth))

    def where(
        self,
        type: str | tuple[str, ...] | None = None,
        name: str | None = None,
        kind: Any = None,
        contains: str | None = None,
        metadata: Metadata | None = None,
    ) -> Query:
        """Keep what fits. `kind` means: an instance of that memory or of a subtype of it."""
        types = (type,) if isinstance(type, str) else type
        if not isinstance(types, tuple | None) or not isinstance(metadata, dict | None):
            raise InvalidInput("type is a name or a tuple of names; metadata is a dict")
        for text in (*(types or ()), name, contains):
            if text is not None:
                _text(text, "text to look for")
        return self._then(Where(types, name, kind, contains, metadata or {}))

    def where_connected(self, type: str, *to: Any, way: Way = "both", absent: bool = False) -> Query:
        """Keep what has an edge of this type, to one of `to` if any is given (absent: has none)."""
        return self._then(Connected(_text(type, "edge type"), to, _way(way), absent))

    def within(self, world: Any) -> Query:
        """Stay inside this world."""
        return replace(self, world=world)

    def at(self, valid: When | None = None, known: When | None = None, as_of: When | None = None) -> Query:
        """Look from another moment."""
        valid, known = axes(valid, known, as_of)
        return replace(self, valid=valid, known=known)

    def during(self, start: When, end: When) -> Query:
        """Keep what held at some time in `[start, end)`."""
        return replace(self, window=interval(start, end))

    def include_superseded(self) -> Query:
        """See what is over or was withdrawn as well."""
        return replace(self, closed=True)

    def prefer_summaries(self) -> Query:
        """Show a world that has a Summary by that instead; `follow("contains")` goes down a level.

        Within a world and without a start of its own, the query reads that world.
        """
        return replace(self, summaries=True)

    def limit(self, most: int) -> Query:
        """At most this many nodes."""
        if type(most) is not int or most < 1:
            raise InvalidInput(f"a limit is at least 1, not {most}")
        return replace(self, most=most)

    def run(self) -> Subgraph:
        """The answer."""
        return self.runner(self)

    def explain(self) -> str:
        """The plan, in words."""
        return self.explainer(self)

    def _then(self, step: Step) -> Query:
        return replace(self, steps=(*self.steps, step))


Resolve = Callable[[Any], int]
_START_FROM_WORDS = 200


def run_query(handle: Handle, query: Query) -> Subgraph:
    """A query's answer, in what the handle may see."""
    with handle.reading():
        view = _bound(handle, query)
        return answer(query, view, handle.types, lambda ref: handle.resolve(view, ref).line)


def explain_query(handle: Handle, query: Query) -> str:
    """The plan of a query, in words."""
    with handle.reading():
        view = _bound(handle, query)
        return "\n".join(plan(query, view, rewrite(Ask(include_superseded=query.closed), view, handle.types)))


def _bound(handle: Handle, query: Query) -> View:
    """The handle's view, with what the query itself binds."""
    view = handle.view()
    changes: dict[str, Any] = {}
    if query.world is not None:
        changes["world"] = handle.inner(view, query.world)
    if query.valid is not None:
        changes["valid"] = instant(query.valid)
    if query.known is not None:
        changes["known"] = instant(query.known)
    return view.bind(**changes) if changes else view


def rewrite(ask: Ask, view: View, types: Mapping[str, EdgeType]) -> Ask:
    """What every edge type makes of a read."""
    for type_ in types.values():
        ask = type_.on_query_rewrite(ask, view)
    return ask


def bind(view: View, ask: Ask) -> View:
    """The view that a rewritten read may use."""
    return view.bind(closed=not ask.current_only, world=view.world if ask.bounded else 0, pierce=ask.pierce)


def answer(query: Query, view: View, types: Mapping[str, EdgeType], resolve: Resolve) -> Subgraph:
    """The nodes that remain after all steps, and the visible edges among them."""
    ask = rewrite(Ask(include_superseded=query.closed), view, types)
    view = bind(view, ask)
    if query.window:
        view = view.bind(closed=True)
    nodes, walked = _start(query, view, resolve), {}
    for step in query.steps:
        if isinstance(step, Follow):
            nodes, edges = _follow(step, nodes, view, ask)
            walked.update({_row(edge): edge for edge in edges})
        elif isinstance(step, Where):
            nodes = _where(step, nodes, view, types, resolve)
        else:
            nodes = _connected(step, nodes, view, resolve)
    if query.summaries:
        nodes = _preferred(nodes, view)
    if query.window:
        nodes = [n for n in nodes if n.valid.overlaps(query.window) and n.known.end == FOREVER]
    nodes = finish(nodes, view, ask)[: query.most]
    return Subgraph(tuple(nodes), _among(nodes, view, walked.values()), tuple(plan(query, view, ask)))


def _preferred(nodes: list[Node], view: View) -> list[Node]:
    """Summaries first, and in the place of the worlds that have one."""
    held = registry.summaries(view, [node.line for node in nodes])
    shown = {node.line: node for node in _seen(view, list(held.values()))}
    told = [shown[held[node.line]] if held.get(node.line) in shown else node for node in nodes]
    told = list({(node.key, node.valid, node.known): node for node in told}.values())
    return sorted(told, key=lambda node: node.type != "Summary")


def finish(nodes: list[Node], view: View, ask: Ask) -> list[Node]:
    """Hides, unifies and annotates, as the edge types asked."""
    if ask.hide:
        hidden = {e.dst_line for e in view.edges([n.line for n in nodes], ask.hide, "in")}
        nodes = [node for node in nodes if node.line not in hidden]
    if ask.unify:
        nodes = _unify(nodes, view)
    return _annotate(nodes, view, ask.annotate) if ask.annotate else nodes


def _unify(nodes: list[Node], view: View) -> list[Node]:
    """Accepted identities count once, under the one that is known longest."""
    kept: dict[object, Node] = {}
    joined = view.merged([n.line for n in nodes])
    for node in nodes:
        if node.line not in joined:
            kept.setdefault((node.key, node.valid, node.known) if view.closed else node.key, node)
            continue
        seen = sorted(view.visible(view.same_as(node.line)), key=lambda n: n.line)
        first = seen[0] if seen else node
        others = [n.name for n in seen if n.line != first.line]
        kept.setdefault(first.key, _noted(first, [f"same as {name}" for name in others]))
    return list(kept.values())


def _annotate(nodes: list[Node], view: View, types: Collection[str]) -> list[Node]:
    lines = [node.line for node in nodes]
    notes: dict[int, list[str]] = {}
    edges = [*view.edges(lines, types, "out"), *view.edges(lines, types, "in")]
    ends = {line for e in edges for line in (e.src_line, e.dst_line)}
    others = {node.line: node.name for node in view.visible(ends)}
    for edge in {e.key: e for e in edges}.values():
        for near, far in ((edge.src_line, edge.dst_line), (edge.dst_line, edge.src_line)):
            notes.setdefault(near, []).append(f"{edge.type} {others.get(far, '?')}")
    return [_noted(node, notes.get(node.line, ())) for node in nodes]


def _noted(node: Node, notes: Iterable[str]) -> Node:
    """The node with more to tell."""
    return replace(node, notes=(*node.notes, *notes))


# Steps -------------------------------------------------------------------------------------------


def _start(query: Query, view: View, resolve: Resolve) -> list[Node]:
    if query.starts:
        return _seen(view, [resolve(ref) for ref in query.starts])
    if query.words is None and query.summaries and view.world:
        return _seen(view, [view.world])
    if query.words is not None:
        most = _START_FROM_WORDS * (100 if view.world else 1)  # the index does not know worlds
        found = view.bind(cold=True).matching(words(query.words, view.store.config.language), most)
        return registry.versions(view, [key for key, _ in found])
    return registry.everything(view)


def _seen(view: View, lines: list[int]) -> list[Node]:
    return view.versions(lines) if view.closed else view.visible(lines)


def _directions(way: Way) -> tuple[Direction, ...]:
    return ("out", "in") if way == "both" else (way,)


def _follow(step: Follow, nodes: list[Node], view: View, ask: Ask) -> tuple[list[Node], list[Edge]]:
    """Breadth first; what an identity is joined with is stepped from as well."""
    seen = {node.line for node in nodes}
    frontier, reached, walked = seen, dict[int, None](), list[Edge]()
    pierced: dict[int, None] = {}
    """Reached across the world's boundary: shown, and not gone on from."""
    for _ in range(step.depth):
        if ask.unify:
            frontier = set(view.same_as(*frontier))
        ends = []
        for direction in _directions(step.way):
            edges = view.edges(frontier, step.types, direction)
            walked += edges
            ends += [e.dst_line if direction == "out" else e.src_line for e in edges]
            if view.world and direction == "out":
                pierced.update({e.dst_line: None for e in edges if e.type in ask.pierce})
        frontier = set(ends) - seen - set(reached)
        reached.update(dict.fromkeys(end for end in ends if end not in seen))
        if view.world:
            frontier = {node.line for node in view.visible(frontier)}
        if not frontier:
            break
    found = _seen(view, list(reached))
    crossed = [line for line in pierced if line not in seen and line not in {n.line for n in found}]
    return [*found, *(_seen(view.bind(world=0), crossed) if crossed else ())], walked


def _where(
    step: Where, nodes: list[Node], view: View, types: Mapping[str, EdgeType], resolve: Resolve
) -> list[Node]:
    if step.kind is not None:
        ask = rewrite(Ask(kinds=frozenset({resolve(step.kind)})), view, types)
        members = {e.src_line for e in view.edges(ask.kinds, ("instance_of",), "in")}
        nodes = [node for node in nodes if node.line in members]
    return [node for node in nodes if _fits(step, node)]


def _fits(step: Where, node: Node) -> bool:
    return (
        (step.type is None or node.type in step.type)
        and (step.name is None or node.name == step.name)
        and (step.contains is None or step.contains in node.content)
        and all(_labelled(node, key, wanted) for key, wanted in step.metadata.items())
    )


def _labelled(node: Node, key: str, wanted: Any) -> bool:
    """Whether a memory's metadata meets a condition, as everywhere else."""
    head, *path = key.split(".")
    if key in node.metadata:
        return passes(node.metadata[key], wanted)
    if path and head in node.metadata:
        return passes(node.metadata[head], wanted, tuple(path))
    return compares(wanted) and list(wanted) == ["$ne"]


def _connected(step: Connected, nodes: list[Node], view: View, resolve: Resolve) -> list[Node]:
    lines = [node.line for node in nodes]
    to = {resolve(ref) for ref in step.to}
    having: set[int] = set()
    for direction in _directions(step.way):
        for edge in view.edges(lines, (step.type,), direction):
            near, far = edge.src_line, edge.dst_line
            if direction == "in":
                near, far = far, near
            if not to or far in to:
                having.add(near)
    return [node for node in nodes if (node.line in having) != step.absent]


def _among(nodes: list[Node], view: View, walked: Iterable[Edge]) -> tuple[Edge, ...]:
    lines = {node.line for node in nodes}
    found = {_row(e): e for e in walked if e.src_line in lines or e.dst_line in lines}
    found.update({_row(e): e for e in view.edges(lines, None, "out") if e.dst_line in lines})
    return tuple(found[key] for key in sorted(found))


def _row(edge: Edge) -> tuple[int, bool]:
    """What numbers an edge: a fact is a node, and its number may be that of a stored edge as well."""
    return edge.key, edge.type == "fact"


# In words ------------------------------------------------------------------------------------------


def plan(query: Query, view: View, ask: Ask) -> list[str]:
    """One line per thing the query does."""
    lines = [_start_in_words(query), *[_step_in_words(step) for step in query.steps]]
    known = show(view.known)
    lines.append(f"seen from valid {show(view.valid)}, known {'today' if known == 'forever' else known}")
    lines += [f"inside world {view.world}"] if view.world else []
    lines += [f"bound to {' and '.join(f'{k} {v}' for k, v in view.owned.items())}"] * bool(view.owned)
    lines += ["what is over is left out" if ask.current_only else "what is over is included"]
    lines += [f"annotated with {', '.join(sorted(ask.annotate))}"] if ask.annotate else []
    lines += [f"targets of {', '.join(sorted(ask.hide))} are hidden"] if ask.hide else []
    lines += ["accepted identities count once"] if ask.unify else []
    lines += ["a world that has a summary is shown by it"] if query.summaries else []
    return lines + ([f"at most {query.most}"] if query.most else [])


def _start_in_words(query: Query) -> str:
    if query.starts:
        return f"start from {len(query.starts)} given"
    return f"start from the words {query.words!r}" if query.words else "start from everything visible"


def _step_in_words(step: Step) -> str:
    if isinstance(step, Follow):
        types = ", ".join(step.types) if step.types else "any edge"
        return f"follow {types} ({step.way}, up to {step.depth})"
    if isinstance(step, Connected):
        to = f" to {len(step.to)} given" if step.to else ""
        return f"keep those {'without' if step.absent else 'with'} a {step.type} edge{to} ({step.way})"
    fields = {name: value for name in step.__struct_fields__ if (value := getattr(step, name))}
    return "keep where " + ", ".join(f"{name} = {value!r}" for name, value in fields.items())
