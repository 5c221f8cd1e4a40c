"""What recall knows, in one shape for every surface, and an answer fitted into a budget of tokens.

Nothing is decided here: the memories that prove an answer are looked up, so that whoever reads it can cite them.
A budget counts the whole payload, not only the evidence. The best items come first and stay longest; the first
one that does not fit is cut to its beginning, where that leaves something worth reading.

>>> fitted(["a" * 40, "b" * 40], lambda chosen: "".join(chosen), lambda text, size: text[:size], 15)
('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from worldline.clock import Interval
from worldline.errors import InvalidInput, NotFound
from worldline.memory import Memory
from worldline.model import Hit, Recall
from worldline.read.profile import Context
from worldline.surfaces import render
from worldline.text import estimate_tokens

T = TypeVar("T")
Payload = TypeVar("Payload")
_SHORTEST = 80
"""Fewer characters of a text than this are not worth showing."""
_REASON = 20
"""A reason is cut by so many characters at once, and never below that."""
KNOWN = 0.4
"""The part of a budget that the answer, its proof and the facts may take."""
ALL = 1_000_000_000
"""The budget of a recall whose answer is cut to size afterwards."""


# What is known ------------------------------------------------------------------------------------


class Cited(Struct, frozen=True, omit_defaults=True):
    """A memory that proves something, or a fact that speaks to the question."""

    id: str
    text: str
    since: str | None = None
    until: str | None = None


class KnownAnswer(Struct, frozen=True, omit_defaults=True):
    """What is known of a question."""

    confidence: float
    abstained: bool = False
    reason: str | None = None
    answer: str | None = None
    proof: list[Cited] = []
    facts: list[Cited] = []


def known(memory: Memory, found: Recall, digits: int = 64) -> KnownAnswer:
    """The answer with its proof, the facts, and how sure that is; ids of so many digits."""
    return KnownAnswer(
        round(found.sure, 2),
        found.abstained,
        found.reason and found.reason[:200],
        found.answer,
        [one for id_ in found.proof for one in _cited(memory, id_, digits)],
        [
            Cited(fact.id[:digits], fact.text, *_held(fact.valid, fact.precision))
            for fact in found.facts
            if fact.id not in found.proof
        ],
    )


def shortened(told: KnownAnswer, room: int) -> KnownAnswer:
    """The same within so many tokens: facts go first, then proof, then how the reason goes on; the answer and how
    sure it is stay."""
    while size(plain(told)) > room and (told.facts or told.proof):
        shorter = {"facts": told.facts[:-1]} if told.facts else {"proof": told.proof[:-1]}
        told = replace(told, **shorter)
    while size(plain(told)) > room and told.reason and len(told.reason) > _REASON:
        told = replace(told, reason=told.reason[:-_REASON].rstrip(" …") + " …")
    return told


def worth_showing(found: Recall, limit: int | None = None) -> tuple[Hit, ...]:
    """Best first: so many as were asked for, else as many as stand out."""
    return found.hits if limit else found.hits[: found.few]


def _cited(memory: Memory, id_: str, digits: int) -> Iterator[Cited]:
    """The memory, where it is still there to be cited."""
    try:
        node = memory.get(id_, exact=True)
    except NotFound:
        return
    said = f"{node.name}: {node.content}" if node.type == "Turn" and node.name else node.content or node.name
    yield Cited(node.id[:digits], said, *_held(node.valid, node.precision))


def _held(valid: Interval, precision: str | None) -> tuple[str | None, str | None]:
    """The first day and the last one, each as exact as it is known."""
    ends = (render.iso(at, precision=precision) for at in (valid.start, valid.end))
    since, until = (end and end[:10] for end in ends)
    return since, until


def opening(known: KnownAnswer) -> list[str]:
    """Answer, proof and doubt as the lines that stand above the evidence."""
    lines = [f"Not sure that this is known: {known.reason}"] if known.reason else []
    if known.answer is not None:
        lines.append(f"Answer: {known.answer}")
        lines += [f"  because {item.text}  ({item.id})" for item in known.proof]
    return lines + [f"Believed: {item.text}  ({item.id})" for item in known.facts]


def plain(value: Struct) -> dict[str, Any]:
    """As JSON values, without what is empty."""
    made: dict[str, Any] = to_builtins(value)
    return made


# Within a budget ----------------------------------------------------------------------------------


def size(payload: Any) -> int:
    """The estimated tokens of a payload as it goes over the wire."""
    return estimate_tokens(payload if isinstance(payload, str) else render.json_text(payload))


def fitted(
    items: Sequence[T], build: Callable[[Sequence[T]], Payload], cut: Callable[[T, int], T], budget: int
) -> tuple[Payload, list[T]]:
    """The largest payload within the budget, and the items in it."""
    count = len(items)
    while count and size(build(items[:count])) > budget:
        count -= 1
    kept = list(items[:count])
    whole = build(kept)
    if (needed := size(whole)) > budget:
        raise InvalidInput(f"max_tokens is too small: even an empty answer takes {needed}, not {budget}")
    room = 4 * (budget - needed) if count < len(items) else 0
    while room >= _SHORTEST:
        more = [*kept, cut(items[count], room)]
        if size(longer := build(more)) <= budget:
            return longer, more
        room = room * 3 // 4
    return whole, kept


def explained(
    items: Iterable[T], told: Iterable[T], trace: Sequence[str], build: Callable[[Sequence[T], list[str]], Payload],
    budget: int,
) -> Payload:  # fmt: skip
    """The items in the form that tells how they were found, within a budget of its own: as much again."""
    chosen, lines = list(items), list(trace)
    while lines and size(lines) > budget // 4:
        lines.pop()
    for place, item in enumerate(told):
        more = [*chosen[:place], item, *chosen[place + 1 :]]
        if size(build(more, lines)) > 2 * budget:
            break
        chosen = more
    return build(chosen, lines)


def answered(memory: Memory, found: Recall, limit: int | None, max_tokens: int, *, explain: bool) -> Any:
    """An answer as one document within a budget; what `explain` adds has as much again."""
    empty: dict[str, Any] = {"answer": None, "reason": None, "abstained": False, "proof": [], "facts": []}
    told = {**empty, **plain(shortened(known(memory, found), int(max_tokens * KNOWN)))}
    whole = render.plain(worth_showing(found, limit))
    hits = [{key: value for key, value in hit.items() if key not in ("lanes", "factors")} for hit in whole]

    def build(chosen: Any, trace: Any = None) -> Any:
        counts = {"returned": len(chosen), "found": len(found.hits), "sure": round(found.sure, 4)}
        return {**told, "hits": list(chosen), **counts, **({} if trace is None else {"trace": trace})}

    body, kept = fitted(hits, build, _cut_hit, max_tokens)
    if not explain:
        return body
    beside = [{"lanes": hit["lanes"], "factors": hit["factors"]} for hit in whole]
    weighed = ({**hit, **more} for hit, more in zip(kept, beside, strict=False))
    return explained(kept, weighed, found.trace, build, max_tokens)


def _cut_hit(hit: Any, room: int) -> Any:
    """The beginning of a hit that does not fit, without what is not needed to read on from its id."""
    node = {name: hit["node"][name] for name in ("id", "type", "name")}
    said = hit["node"]["content"][:room].rstrip() + " …"
    return {"node": {**node, "content": said}, "score": hit["score"], "said_at": hit["said_at"]}


def briefed(
    memory: Memory, about: str | None, most: int, build: Callable[[Context], Payload], budget: int
) -> Payload:
    """The largest payload of a context block within the budget; the block begins with `most` of its own."""
    while True:
        found = memory.context(about, max_tokens=most)
        payload = build(found)
        if (needed := size(payload)) <= budget:
            return payload
        if not found.sections:
            raise InvalidInput(f"max_tokens is too small: even an empty block takes {needed}, not {budget}")
        most = max(most * 3 // 4, 1)
