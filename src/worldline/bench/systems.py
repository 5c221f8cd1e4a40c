"""The systems that a benchmark compares, over one conversation each: Worldline and the baselines.

Worldline is used as a user would use it: `Memory.open`, `remember`, `recall`. It decides how a
conversation is put into a memory (a session is a session; a question that may only look at some
sessions is a run scope that those sessions are shared with) and nothing about scoring.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from worldline.bench import baselines
from worldline.bench.datasets import BenchMessage, BenchQuestion, Conversation
from worldline.config import Config, load
from worldline.memory import Memory
from worldline.model import Scope
from worldline.read.recall import Wish, find, means_of, recall

if TYPE_CHECKING:
    from worldline.ports import Embedder
    from worldline.read.recall import Ranked

DEPTH = 50
Tick = Callable[[int], None]


class Ranking(Struct, frozen=True):
    """What one system found for one question, best first; ``sure``: whether there is an answer."""

    turns: tuple[str, ...]
    ms: float
    sure: float | None = None
    tokens: int = 0
    text: str = ""
    """What a reader would be shown."""
    facts: tuple[tuple[str, ...], ...] = ()
    """The turns that each shown fact rests on."""
    answered: bool = False
    """Whether it gave an answer, and not only evidence."""


class Worldline:
    """The product, through its own front door."""

    def __init__(self, talk: Conversation, store: Path, embedder: Embedder | None, tick: Tick) -> None:
        settings: Config = replace(load(), embedder="none", durability="normal")
        self._memory = Memory.open(store, settings, embedder=embedder)
        self._last = max((m.said_at for m in talk.messages if m.said_at is not None), default=None)
        self._whole = frozenset(m.session for m in talk.messages)
        self._ids: dict[str, str] = {}
        sessions: dict[str, list[BenchMessage]] = {}
        for message in talk.messages:
            sessions.setdefault(message.session, []).append(message)
        for session, messages in sessions.items():
            runs = [Scope(run=q.id) for q in talk.questions if self._limited(q) and session in q.sessions]  # type: ignore[operator]
            self._remember(self._memory.shared_with(*runs) if runs else self._memory, session, messages)
            tick(len(messages))

    def _limited(self, question: BenchQuestion) -> bool:
        return question.sessions is not None and not self._whole <= set(question.sessions)

    def _remember(self, memory: Memory, session: str, messages: Sequence[BenchMessage]) -> None:
        said = [_chat(m) for m in messages if m.text.strip()]
        if said:
            receipt = memory.remember(messages=said, session=session)
            self._ids.update(zip(receipt.ids, (str(m["id"]) for m in said), strict=True))

    def rank(self, question: BenchQuestion, without: Iterable[str] = ()) -> Ranking:
        """Recall, as a caller who wants fifty memories would call it."""
        memory = self._memory.scoped(run=question.id) if self._limited(question) else self._memory
        start = time.perf_counter()
        found = memory.recall(
            question.text, limit=DEPTH, asked_at=question.asked_at or self._last, without=frozenset(without)
        )
        taken = 1000 * (time.perf_counter() - start)
        turns = tuple(self._ids[hit.node.id] for hit in found.hits if hit.node.id in self._ids)
        cited = tuple(self._cited(memory, fact.id) for fact in found.facts)
        return Ranking(turns, taken, found.sure, found.tokens, found.text, cited, found.answer is not None)

    def sleep(self) -> None:
        """Thinks over what was read, as a night after the last message would."""
        self._memory.consolidate()

    def _cited(self, memory: Memory, fact: str) -> tuple[str, ...]:
        edges = memory.walk(fact, "derived_from", way="out").edges
        return tuple(self._ids[edge.dst] for edge in edges if edge.dst in self._ids)

    def look(self, question: BenchQuestion) -> tuple[Ranked, Mapping[str, float]]:
        """The same question's pool, before anything is cut off, and what its doubt is weighed by: for a fit."""
        memory = self._memory.scoped(run=question.id) if self._limited(question) else self._memory
        handle, means = memory.handle, means_of(memory.handle, question.text)
        wish = Wish(question.asked_at or self._last or 0)
        ranked = handle.read(lambda view: find(view, question.text, wish, means))
        found = handle.read(lambda view: recall(view, question.text, wish, means))
        return ranked, found.measures

    def names(self, keys: Sequence[int]) -> list[str]:
        """The messages that rows of the store were made from; empty for those that none was."""
        ids = self._memory.handle.read(lambda view: view.ids(keys))
        return [self._ids.get(id_, "") for id_ in ids]

    def close(self) -> None:
        """Closes the store."""
        self._memory.close()


def _chat(message: BenchMessage) -> dict[str, Any]:
    """A message as a chat program would hand it over."""
    return {
        "role": message.role,
        "name": message.speaker,
        "content": message.text,
        "said_at": message.said_at,
        "id": message.id,
        "metadata": {"caption": message.caption} if message.caption else {},
    }


class Baselines:
    """FTS5, cosine and their fusion, over the raw texts."""

    def __init__(self, talk: Conversation, embedder: Embedder | None, tick: Tick) -> None:
        self._sessions = [m.session for m in talk.messages]
        self._ids = [m.id for m in talk.messages]
        self._words = baselines.Fts5((m.id, m.session, m.text) for m in talk.messages)
        self._embedder = embedder
        self._vectors: Any = None
        if embedder is not None:
            self._vectors = _embedded(embedder, [m.text for m in talk.messages], tick)

    def rank(self, question: BenchQuestion) -> dict[str, Ranking]:
        """Every baseline's answer."""
        start = time.perf_counter()
        words = self._words.search(question.text, question.sessions)
        found = {"fts5": Ranking(tuple(words[:DEPTH]), _since(start))}
        if self._embedder is None:
            return found
        query = self._embedder.embed([question.text])[0]
        start = time.perf_counter()
        near, best = self._near(question, query)
        found["dense"] = Ranking(tuple(near[:DEPTH]), _since(start), best)
        start = time.perf_counter()
        fused = baselines.rrf([words, near])
        taken = found["fts5"].ms + found["dense"].ms + _since(start)
        return found | {"rrf": Ranking(tuple(fused[:DEPTH]), taken)}

    def _near(self, question: BenchQuestion, query: Any) -> tuple[list[str], float]:
        if question.sessions is None:
            rows, ids = self._vectors, self._ids
        else:
            wanted = set(question.sessions)
            kept = [i for i, session in enumerate(self._sessions) if session in wanted]
            rows, ids = self._vectors[kept], [self._ids[i] for i in kept]
        best = float((rows @ query).max()) if len(ids) else 0.0
        return baselines.dense(query, rows, ids), best


def _since(start: float) -> float:
    return 1000 * (time.perf_counter() - start)


def _embedded(embedder: Embedder, texts: Sequence[str], tick: Tick) -> Any:
    import numpy as np

    parts = []
    for start in range(0, len(texts), 64):
        parts.append(embedder.embed(texts[start : start + 64]))
        tick(len(parts[-1]))
    return np.concatenate(parts)
