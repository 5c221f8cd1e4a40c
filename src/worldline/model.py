"""The values that everything passes around: frozen, typed, without behaviour beyond reading them; and their cleaning.

`id`, `lineage` and `hash` are 64 hex digits for people and programs outside; `key`, `line` and
other integers are row numbers of one store and never leave it through a surface. At the door, input is made into what
can be stored exactly, or a clear word about why it cannot.

>>> clean_text("hello", "content", limit=100)
'hello'
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
import orjson
from msgspec import Struct, field

from worldline.clock import FOREVER, Instant, Interval, When, interval
from worldline.errors import InvalidInput, InvalidText

if TYPE_CHECKING:
    from worldline.ports import View

Metadata: TypeAlias = dict[str, Any]
Status: TypeAlias = Literal["believed", "quarantined", "confirmed"]
Made: TypeAlias = Literal["sleep", "inferred"]
"""What the engine made: drawn by sleep from what was said, or inferred from other edges. Nobody else can write it."""


class Scope(Struct, frozen=True, order=True):
    """Whose memory it is. Bound kinds are ANDed; an unbound kind does not filter."""

    user: str | None = None
    agent: str | None = None
    app: str | None = None
    run: str | None = None

    def bound(self) -> dict[str, str]:
        """The kinds that are set."""
        return {k: v for k in ("user", "agent", "app", "run") if (v := getattr(self, k)) is not None}


class Belief(Struct, frozen=True):
    """One row of history: this payload held during `valid`, as believed during `known`."""

    row: int
    of: int
    """Key of the node version or of the edge identity that is believed."""
    valid: Interval
    known: Interval
    scope: int = 0
    status: Status = "believed"
    confidence: float | None = None
    precision: str | None = None
    reason: str | None = None

    @property
    def current(self) -> bool:
        return self.known.end == FOREVER


class Node(Struct, frozen=True):
    """One version of a memory, with the belief through which it was seen."""

    id: str
    lineage: str
    type: str
    name: str
    content: str
    valid: Interval
    known: Interval
    dated: Instant | None = None
    world: str | None = None
    metadata: Metadata = {}
    status: Status = "believed"
    confidence: float | None = None
    precision: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    """What a reader should know: contradicted by, replaced by, same as."""
    key: int = 0
    line: int = 0
    scope: int = 0
    made: Made | None = None


class Edge(Struct, frozen=True):
    """A typed, directed edge between two lineages (between versions for supersedes)."""

    id: str
    type: str
    src: str
    dst: str
    valid: Interval
    known: Interval
    metadata: Metadata = {}
    key: int = 0
    src_line: int = 0
    dst_line: int = 0
    scope: int = 0
    made: Made | None = None


class Event(Struct, frozen=True):
    """Verbatim text: who said it, to whom, when, where. The time may be given as text or datetime."""

    text: str
    speaker: str = ""
    said_at: Any = None
    recipient: str | None = None
    session: str | None = None
    modality: str = "text"
    category: str | None = None
    source: str | None = None
    external_id: str | None = None
    metadata: Metadata = {}


class Evidence(Struct, frozen=True):
    """The characters of an event that a fact came from."""

    event: str
    start: int | None = None
    end: int | None = None


class Fact(Struct, frozen=True):
    """What to believe: subject, predicate, object (a name, a memory, or a typed literal)."""

    subject: str
    predicate: str
    object: str | None = None
    literal: str | int | bool | None = None
    valid_from: Any = None
    valid_to: Any = None
    precision: str | None = None
    confidence: float = 1.0
    reason: str | None = None
    functional: bool | None = None
    """Whether a new object replaces the old one; None asks the ontology."""
    correction: bool = False
    """The old value was wrong, rather than it changed."""
    evidence: tuple[Evidence, ...] = ()
    ended: bool = False
    """It is over: what is believed of it ends at `valid_to`, or now. An object may be left out."""
    related: bool = False
    """The predicate is a relation in an agent's own words, to be kept as its family reads."""


class FactRow(Struct, frozen=True):
    """A stored fact beside the belief through which it was seen."""

    node: int
    subject: int
    predicate: str
    object: int
    literal: str | None
    belief: Belief


class Place(Struct, frozen=True):
    """Where a handle writes: its world, its session, and its scope set."""

    world: int = 0
    session: str | None = None
    scope: int = 0


class Findable(Struct, frozen=True):
    """What makes a text findable, drawn from it: who speaks, its words, and how recall sees it."""

    role: str
    passages: Sequence[tuple[str, str]]
    """The words of each passage, and the kinds of things that it speaks of."""
    described: bytes | None
    dated: bool
    """Whether the description speaks of days, which depend on the moment."""


class NodeDraft(Struct):
    """A node about to be put: payload already checked."""

    type: str
    name: str
    content: str = ""
    valid: Interval = Interval(0)
    dated: Instant | None = None
    world: int = 0
    scope: int = 0
    lineage: int = 0
    metadata: Metadata = {}
    status: Status = "believed"
    confidence: float | None = None
    precision: str | None = None
    reason: str | None = None
    id: bytes | None = None
    """Set where the payload is more than type, name and content (events and facts)."""
    findable: Findable | None = None
    """What makes it findable, where that was worked out before."""
    made: Made | None = None


class EdgeDraft(Struct):
    """An edge about to be dispatched to its handler."""

    src: int
    type: str
    dst: int
    valid: Interval
    scope: int = 0
    metadata: Metadata = {}
    fact: FactDraft | None = None
    accepted: bool = False
    """Somebody has accepted the merge that this same_as edge states."""
    put_at: Instant = 0
    """For on_delete: the known time at which the edge was first believed."""
    made: Made | None = None


class NewNotes(NamedTuple):
    """Columns of notes that are stored nowhere yet; `worlds` has what they lie in, or 0."""

    ids: Sequence[bytes]
    types: Sequence[str]
    names: Sequence[str]
    contents: Sequence[str]
    valid: Sequence[Interval]
    dated: Sequence[Instant | None]
    metadata: Sequence[Metadata]
    worlds: Sequence[Any]
    scope: int

    def cut(self, some: slice) -> NewNotes:
        """Some that stand side by side."""
        *columns, scope = self
        return NewNotes(*[column[some] for column in columns], scope)  # type: ignore[arg-type, call-arg]


class NewEdges(NamedTuple):
    """Columns of edges that are stored nowhere yet, between memories that the changeset began."""

    src: Sequence[int]
    types: Sequence[str]
    dst: Sequence[int]
    valid: Sequence[Interval]
    metadata: Sequence[Metadata]
    scope: int

    def cut(self, some: slice) -> NewEdges:
        """Some that stand side by side."""
        *columns, scope = self
        return NewEdges(*[column[some] for column in columns], scope)  # type: ignore[arg-type, call-arg]


class FactDraft(Struct):
    """A fact whose ends and rules are settled; its handler only has to place it in its slot."""

    key: int
    predicate: str
    functional: bool
    stated: bool
    correction: bool = False
    status: Status = "believed"
    confidence: float | None = None
    precision: str | None = None
    reason: str | None = None
    rivals: tuple[FactRow, ...] | None = None
    """The facts that this one was found to replace; None: whatever else its slot holds."""
    fresh: bool = False
    """Nobody has ever believed it before, so its slot need not be searched for it."""


# What a handler may answer.


class Close(Struct, frozen=True):
    """End a belief: at `valid_to` in the world, or (None) as something that was never true."""

    target: Belief
    table: Literal["beliefs", "edges", "proposals"] = "beliefs"
    valid_to: Instant | None = None
    status: Status | None = None
    """Instead of ending, believe it with another status from now on (quarantine, confirm)."""
    reason: str | None = None


class Put(Struct, frozen=True):
    """Add an edge (through its own handler) or another interval of something stored."""

    edge: EdgeDraft | None = None
    reopen: Belief | None = None
    table: Literal["beliefs", "edges"] = "beliefs"


class Propose(Struct, frozen=True):
    """Stage a merge for somebody to accept or reject."""

    a: int
    b: int
    tier: str = "stated"
    score: float = 1.0
    reason: str | None = None


class Refuse(Struct, frozen=True):
    """Write nothing, and say why."""

    reason: str


Op: TypeAlias = Close | Put | Propose | Refuse


class Ask(Struct, frozen=True):
    """What a read wants; each edge type may rewrite it before it runs."""

    types: frozenset[str] | None = None
    kinds: frozenset[int] = frozenset()
    """Lineages: only what is an instance of one of these (or of a subtype)."""
    include_superseded: bool = False
    current_only: bool = False
    """Leave out what no longer holds at the moment looked at."""
    bounded: bool = False
    """Stay inside the entered world."""
    pierce: frozenset[str] = frozenset()
    """Edge types that may be followed out of the entered world, one step."""
    hide: frozenset[str] = frozenset()
    """Edge types whose visible targets are left out."""
    annotate: frozenset[str] = frozenset()
    """Edge types whose visible edges are told in `Node.notes`."""
    unify: bool = False
    """Read accepted identities as one."""


Handler: TypeAlias = "Callable[[EdgeDraft, View], list[Op]]"
Rewrite: TypeAlias = "Callable[[Ask, View], Ask]"


def _nothing(edge: EdgeDraft, view: View) -> list[Op]:
    return []


def _unchanged(ask: Ask, view: View) -> Ask:
    return ask


class EdgeType(Struct, frozen=True):
    """An edge type is a program: what happens on insert, on delete, and to queries."""

    name: str
    on_insert: Handler = _nothing
    on_delete: Handler = _nothing
    on_query_rewrite: Rewrite = _unchanged
    version: str = "1"
    agent_facing: bool = False
    versions: bool = False
    """Whether it joins versions instead of lineages."""


class Scorer(Struct, frozen=True):
    """A judgement of your own on every memory, made when it is added and each night after.

    `score` gives a number (0 to 1 is usual) or None; recall adds `weight` times it as a factor. A new
    `version` judges everything again.
    """

    name: str
    version: str
    score: Callable[[Node], float | None]
    weight: float = 1.0


class Predicate(Struct, frozen=True):
    """How facts with this predicate reconcile."""

    name: str
    functional: bool = False
    threshold_class: str = "default"


class NodeType(Struct, frozen=True):
    """A node type that an operator adds to a world."""

    name: str
    version: str = "1"


class Proposal(Struct, frozen=True):
    """A staged merge of two memories."""

    id: str
    a: str
    b: str
    status: Literal["pending", "accepted", "rejected", "undone"]
    tier: str
    score: float
    reason: str | None
    known: Interval
    row: int = 0
    a_line: int = 0
    b_line: int = 0


class Receipt(Struct, frozen=True):
    """What a write did. `changed` is False when everything was there already."""

    verb: str
    id: str | None
    changed: bool
    known_at: Instant
    changes: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    dry_run: bool = False
    ids: tuple[str, ...] = ()
    """All memories that the write put, when there are several."""
    also: tuple[Instant, ...] = ()
    """Known times of the earlier changesets of the same write (`remember` with facts has two)."""


class Origin(Struct, frozen=True):
    """Another store that held this before it was absorbed here, and when it did."""

    store: str
    """The hash of that store's whole memory when it was absorbed."""
    valid: Interval
    known: Interval


class Version(Struct, frozen=True):
    """One line of a memory's history."""

    node: Node
    change: str
    """put, amended, corrected, retired, quarantined, confirmed, restored; or the stage that sleep gave
    it (unit, crystal, trace again), with its reason in the node."""
    closed_by: str | None = None
    origins: tuple[Origin, ...] = ()


class Change(Struct, frozen=True):
    """One line of the feed: what was believed or given up at a known time."""

    known_at: Instant
    action: Literal["believed", "closed"]
    kind: Literal["node", "edge"]
    item: Node | Edge


class Diff(Struct, frozen=True):
    """What differs between two moments."""

    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    changed: tuple[tuple[Node, Node], ...]
    linked: tuple[Edge, ...]
    unlinked: tuple[Edge, ...]


class Reason(Struct, frozen=True):
    """One step from a belief towards the words it rests on."""

    depth: int
    via: str
    node: Node
    span: tuple[int, int] | None = None


class Why(Struct, frozen=True):
    """Why something is believed: the path to verbatim events."""

    node: Node
    reasons: tuple[Reason, ...]
    origins: tuple[Origin, ...] = ()
    """The stores that this belief was absorbed from."""

    @property
    def events(self) -> tuple[Node, ...]:
        return tuple(r.node for r in self.reasons if r.node.type == "Turn")


class Subgraph(Struct, frozen=True):
    """The answer to a query: nodes, the edges among them, and the plan that found them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    plan: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(n.name for n in self.nodes)


class Believed(Struct, frozen=True, gc=False):
    """A fact as recall shows it."""

    id: str
    text: str
    subject: str
    slot: str
    """What it says of the subject, in words: "lives in"."""
    valid: Interval
    confidence: float | None
    line: int
    stage: str = "trace"
    """How far it has come: trace, unit or crystal."""
    precision: str | None = None
    """How exact its start is: day, month, year, …"""


class Hit(Struct, frozen=True):
    """One memory that recall found: verbatim, dated, and with the reasons for its place."""

    node: Node
    score: float
    """Between 0 and 1, comparable between questions: how likely it holds what was asked for."""
    lanes: dict[str, int]
    """The lanes that found it, each with the place it had there."""
    factors: dict[str, float]
    """What each feature gave to its points."""
    speaker: str = ""
    said_at: Instant | None = None
    utc_offset: int = 0
    session: str | None = None
    points: float = 0.0
    """The sum of the factors, from which the order comes; what took another text's place goes before it anyway."""


class Recall(Struct, frozen=True):
    """The answer to a question: evidence within a budget, or the reason why there is none."""

    question: str
    hits: tuple[Hit, ...]
    text: str
    """The evidence as it should be shown: never above the budget, its footer included."""
    tokens: int
    abstained: bool
    reason: str | None
    sure: float
    """How sure that there is evidence; comparable between questions."""
    trace: tuple[str, ...] = ()
    facts: tuple[Believed, ...] = ()
    """What is currently believed about what the question names, where it speaks to the question."""
    answer: str | None = None
    """The answer that walking from fact to fact gives, when that is sure."""
    proof: tuple[str, ...] = ()
    """The ids of the facts walked, in order."""
    few: int = 0
    """So many of the hits stand out; a person is shown these."""


class Dated(Struct, frozen=True):
    """One thing on a timeline: when it happened, and the memory that says so."""

    at: Instant
    node: Node
    speaker: str = ""
    said_at: Instant | None = None
    session: str | None = None
    landmark: str = ""
    """The kind of turning point that it tells of, if any."""
    causes: tuple[str, ...] = ()
    """What it says brought about what, as "cause → effect"."""


class Density(Struct, frozen=True):
    """What is covered within two steps of a topic."""

    topic: str
    starts: tuple[Node, ...]
    """The memories that the topic was taken to mean."""
    nodes: int
    facts: int
    sources: int
    """Verbatim events among them."""
    edges_per_node: float
    newest: Instant | None
    conflicts: int
    """Open contradictions."""
    cut: bool = False
    """Whether there was more than was walked."""


class Explanation(Struct, frozen=True):
    """What became of one memory when a question was asked."""

    question: str
    node: Node
    lost_by: Literal["", "filter", "lane", "rank", "budget"]
    """Empty where it was not lost."""
    reason: str
    place: int | None = None
    lanes: dict[str, int] = {}
    """Its place in each lane; 0 where the lane does not find it."""
    score: float | None = None
    factors: dict[str, float] = {}


class Utterance(Struct, frozen=True):
    """Words that something rests on: who said them, when and where."""

    id: str
    speaker: str
    said_at: Instant
    session: str | None
    text: str


class Side(Struct, frozen=True):
    """One side of a contradiction: what is believed, and the words that it rests on."""

    node: Node
    sources: tuple[Utterance, ...] = ()


class Contradiction(Struct, frozen=True):
    """Two memories that cannot both hold, and are both believed."""

    entity: str | None
    """Whom it is about; None where two notes contradict each other."""
    predicate: str | None
    sides: tuple[Side, Side]
    """The one that begins earlier first."""
    since: Instant
    """When the conflict was noticed."""
    inferred: bool = False
    """Whether sleep found it, rather than somebody stated it."""


class Page(Struct, frozen=True):
    """A page of a list and the mark to ask for the next one."""

    items: tuple[Node, ...]
    next: str | None = None


class Damage(Struct, frozen=True):
    """One thing that `verify` found wrong."""

    where: str
    what: str


class Verification(Struct, frozen=True):
    """What `verify` checked and found."""

    nodes: int
    edges: int
    worlds: int
    changesets: int
    damage: tuple[Damage, ...] = field(default_factory=tuple)

    @property
    def ok(self) -> bool:
        return not self.damage


T = TypeVar("T", bound=msgspec.Struct)


_LONGEST_NAME = 4096
_SETTABLE = ("text", "content")
"""What a setting limits; names, ids and questions have limits of their own."""


def clean_text(value: Any, what: str, limit: int, *, empty: bool = False) -> str:
    """The text itself, once it is known that it can be stored exactly as it is."""
    if not isinstance(value, str):
        raise InvalidText(f"the {what} must be text, not {type(value).__name__}")
    if not empty and not value.strip():
        raise InvalidText(f"the {what} is empty")
    if "\x00" in value:
        raise InvalidText(
            f"the {what} has a NUL character at position {value.index(chr(0))}; "
            "remove it, or send binary data as base64"
        )
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"the {what} has half of a surrogate pair at position {error.start}; it is not valid Unicode"
        ) from None
    if size > limit:
        advice = "setting max_text" if what in _SETTABLE else "fixed: shorten it"
        raise InvalidText(f"the {what} has {size:,} bytes; the limit is {limit:,} ({advice})")
    return value


def clean_name(value: Any, what: str = "name") -> str:
    """A name in NFC, without space around it, on one line."""
    text = " ".join(clean_text(value, what, _LONGEST_NAME).split())
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def clean_names(values: Sequence[str]) -> dict[str, str]:
    """Each of these names as it is stored."""
    return {value: clean_name(value) for value in values}


def clean_every_name(values: Sequence[str]) -> list[str]:
    """The same of many, in their order; plain ones are looked through all together."""
    joined = "\n".join(values)
    if joined.isascii() and "\x00" not in joined and max(map(len, values), default=0) <= _LONGEST_NAME:
        names = [" ".join(value.split()) for value in values]
        if all(names):
            return names
    return [clean_name(value) for value in values]


def clean_every_text(values: Sequence[str], what: str, limit: int) -> None:
    """Whether all of these texts, which may be empty, can be stored exactly as they are."""
    joined = "\n".join(values)
    if not joined.isascii() or "\x00" in joined or max(map(len, values), default=0) > limit:
        for value in values:
            clean_text(value, what, limit, empty=True)


def clean_count(value: Any, what: str, least: int = 0) -> int:
    """A whole number, not below the least."""
    if type(value) is not int or value < least:
        raise InvalidInput(f"{what} is a whole number, {least} or more, not {value!r}")
    return value


def clean_metadata(value: Any) -> Metadata:
    """A JSON object with text keys."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InvalidInput("metadata must be a JSON object: a dict whose keys are text")
    try:
        encoded = orjson.dumps(value)
    except (TypeError, ValueError, orjson.JSONEncodeError) as error:
        raise InvalidInput(f"metadata must be plain JSON: {error}") from None
    if b"\\u0000" in encoded:
        raise InvalidText("metadata has a NUL character; remove it")
    require_finite(value, encoded, "metadata")
    decoded: Metadata = orjson.loads(encoded)
    return decoded


def require_finite(value: Any, encoded: bytes, what: str) -> None:
    """Refuses numbers that JSON has not, and that would be written as null: NaN and infinity."""
    for where, number in _infinite(value, "") if b"null" in encoded else ():
        raise InvalidInput(
            f"{what} has {number} at {where!r}, which JSON cannot hold; leave it out, or give text"
        )


def _infinite(value: Any, where: str) -> Iterator[tuple[str, float]]:
    """The numbers in a value that are none, each with the keys that lead to it."""
    if isinstance(value, float) and not math.isfinite(value):
        yield where, value
    inside: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    for key, part in enumerate(value) if isinstance(value, list | tuple) else inside:
        yield from _infinite(part, f"{where}.{key}" if where else str(key))


def clean_struct(value: Any, kind: type[T]) -> T:
    """A value of this kind whose fields have the types they should have."""
    if not isinstance(value, kind):
        raise InvalidInput(f"expected {kind.__name__}(…), not {value!r}")
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    try:
        return msgspec.convert(fields, kind, from_attributes=True)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InvalidInput(f"bad {kind.__name__}: {error}") from None


def clean_event(event: Event, limit: int) -> Event:
    """An event whose every part can be stored, each as it will be."""
    clean_text(event.text, "text", limit)
    checked = clean_struct(event, Event)
    if checked.external_id is not None:
        clean_text(checked.external_id, "external id", 4096)
    speaker = clean_name(checked.speaker, "speaker") if checked.speaker else ""
    return msgspec.structs.replace(checked, speaker=speaker, metadata=clean_metadata(checked.metadata))


def clean_interval(start: When | None, end: When | None, now: Instant) -> Interval:
    """The valid interval of a write; it begins now unless a start was given."""
    return interval(now if start is None else start, FOREVER if end is None else end)


def clean_scope(scope: Scope) -> Scope:
    """A scope whose ids are usable text."""
    return Scope(**{kind: clean_name(value, f"{kind} id") for kind, value in scope.bound().items()})
