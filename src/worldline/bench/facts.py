"""`worldline bench factconsolidation`: facts told one by one, then questions of one and several hops.

Facts are remembered through the public door, in their order, with the embedder off; questions are
answered by walking what is currently believed (`Memory.walk_answer`) and by `Memory.recall`. The
baselines are BM25's best sentence, and the latest of its nearly best ones; theirs count as right
when the sentence holds the answer.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.bench import metrics
from worldline.bench.baselines import Fts5
from worldline.bench.datasets import content, digest
from worldline.bench.reword import reworded
from worldline.config import Config, load
from worldline.memory import Memory
from worldline.read.answers import Answer, Chain, ViewGraph
from worldline.text import fold

if TYPE_CHECKING:
    from worldline.ports import Embedder

Progress = Callable[[str, int, int], None]
_FACT = re.compile(r"^\d+\. (.*)$", re.M)
_DEPTH = 5
_NEARLY = 0.95
"""Sentences with at least this share of the best score compete on being the latest."""
_REACH = 4


class FactPart(Struct, frozen=True):
    """One part of the file: facts in order, and questions with every right answer."""

    source: str
    facts: tuple[str, ...]
    questions: tuple[tuple[str, tuple[str, ...]], ...]


class FactSettings(Struct, frozen=True):
    """What a run was asked to do."""

    embedder: str = "auto"
    limit: int | None = None
    reword: float = 0.0
    abstain: bool = False
    seed: int = 1


class AskedFact(Struct, frozen=True):
    """One question and how each system did."""

    source: str
    question: str
    gold: tuple[str, ...]
    answers: dict[str, tuple[bool, bool]]
    """system → (right at once, right among five)"""
    ms: dict[str, float]
    consistent: bool
    sure: float
    sure_without: float | None = None
    """How sure the walk is once the answering slot is emptied."""


def parts(path: Path) -> list[FactPart]:
    """The parts of a FactConsolidation file."""
    return [
        FactPart(
            item["metadata"]["source"],
            tuple(_FACT.findall(item["context"])),
            tuple((q, tuple(a)) for q, a in zip(item["questions"], item["answers"], strict=True)),
        )
        for item in content(path)
    ]


def bench(
    settings: FactSettings, files: Sequence[Path], embedder: Embedder | None, progress: Progress
) -> tuple[dict[str, Any], list[AskedFact]]:
    """The report and its rows."""
    found = [part for path in files for part in parts(path)]
    rows: list[AskedFact] = []
    costs: dict[str, dict[str, float]] = {}
    for told in dict.fromkeys(part.facts for part in found):
        same = [
            replace(part, questions=part.questions[: settings.limit]) for part in found if part.facts == told
        ]
        with tempfile.TemporaryDirectory(prefix="worldline-bench-") as folder:
            store = FactStore(told, Path(folder) / "store.db", settings, embedder, progress)
            for part in same:
                costs[part.source] = store.cost
                rows += store.ask(part, settings.abstain, progress)
            store.close()
    made = {
        "dataset": "factconsolidation",
        "files": {path.name: digest(path) for path in files},
        "questions": len(rows),
        "systems": _systems(rows, costs),
        "settings": {
            **msgspec.to_builtins(settings),
            "embedder": embedder.name if embedder else None,
            "ms": "CPU milliseconds of this process, embedding included; `write_ms` per remembered fact",
        },
    }
    return made, rows


class FactStore:
    """One list of facts in the product, and in the baseline beside it."""

    def __init__(
        self,
        facts: Sequence[str],
        path: Path,
        settings: FactSettings,
        embedder: Embedder | None,
        progress: Progress,
    ) -> None:
        told, share = list(facts), 0.0
        if settings.reword:
            told, share = reworded(told, settings.reword, settings.seed)
        quiet: Config = replace(load(), embedder="none", durability="normal")
        began = time.process_time()
        with Memory.open(path, quiet) as memory:
            for number, fact in enumerate(told, 1):
                memory.remember(fact)
                progress("remembering", number, len(told))
        spent = 1000 * (time.process_time() - began) / max(1, len(told))
        self.cost = {"write_ms": round(spent, 3), "facts": len(told), "reworded": round(share, 3)}
        self._memory = Memory.open(path, quiet, embedder=embedder)
        self._plain = Fts5((str(number), "", fact) for number, fact in enumerate(told))
        self._told = told

    def close(self) -> None:
        """Closes the store."""
        self._memory.close()

    def ask(self, part: FactPart, abstain: bool, progress: Progress) -> Iterable[AskedFact]:
        """Every question of a part, answered by every system."""
        for number, (question, gold) in enumerate(part.questions, 1):
            yield self._ask(part.source, question, gold, abstain)
            progress(f"{part.source}: asking", number, len(part.questions))

    def _ask(self, source: str, question: str, gold: tuple[str, ...], abstain: bool) -> AskedFact:
        right = frozenset(fold(name) for name in gold)
        began = time.process_time()
        answer = self._memory.walk_answer(question, limit=_DEPTH)
        walked = 1000 * (time.process_time() - began)
        began = time.process_time()
        recalled = self._memory.recall(question).answer
        recalling = 1000 * (time.process_time() - began)
        names = [fold(chain.name) for chain in answer.chains]
        answers = {
            "worldline": (bool(names) and names[0] in right, any(name in right for name in names)),
            "worldline recall": (fold(recalled or "") in right,) * 2,
        }
        for system, sentences in self._sentences(question).items():
            held = [any(name in fold(text) for name in right) for text in sentences]
            answers[system] = (held[:1] == [True], any(held))
        at_once = answers["worldline"][0]
        return AskedFact(
            source, question, gold, answers, {"worldline": walked, "worldline recall": recalling},
            at_once or self._is_consistent(answer, right), answer.confidence,
            self._sure_without(question, answer.chains[0]) if abstain and at_once else None,
        )  # fmt: skip

    def _sentences(self, question: str) -> dict[str, list[str]]:
        scored = self._plain.scored(question, 50)
        near = [(int(i), s) for i, s in scored if s >= _NEARLY * scored[0][1]]
        latest = sorted((number for number, _ in near), reverse=True)
        order = [*latest, *(int(i) for i, _ in scored[len(near) :])]
        return {
            "fts5-top1": [self._told[int(i)] for i, _ in scored[:_DEPTH]],
            "fts5-latest": [self._told[i] for i in order[:_DEPTH]],
        }

    def _is_consistent(self, answer: Answer, right: frozenset[str]) -> bool:
        """False when the gold is reached only with facts that a later one has replaced."""

        def look(view: Any) -> bool:
            now, ever = ViewGraph(view), ViewGraph(view.bind(closed=True))
            for chain in answer.chains[:1]:
                start = self._row(view, chain.hops[0].source)
                if _followed(ever, chain, start) & right and not _followed(now, chain, start) & right:
                    return False
            starts = [self._row(view, entity) for entity in answer.starts]
            return bool(_reached(now, starts) & right or not _reached(ever, starts) & right)

        return self._memory.handle.read(look)

    def _sure_without(self, question: str, chain: Chain) -> float:
        """Empties the slot that the answer came from, asks again, and puts everything back."""
        memory, last = self._memory, chain.hops[-1]
        subject = last.target if last.inverse else last.source

        def slot(view: Any) -> tuple[str, ...]:
            steps = ViewGraph(view).around([self._row(view, subject)], 0)[0]
            return tuple(view.ids([int(s.fact) for s in steps if s.relation == last.relation]))

        receipts = [memory.correct(fact, reason="benchmark") for fact in memory.handle.read(slot)]
        sure = memory.walk_answer(question, limit=1).confidence
        for receipt in reversed(receipts):
            memory.undo(receipt)
        return sure

    def _row(self, view: Any, entity: str) -> str:
        """An entity as the graph of facts names it."""
        return str(self._memory.handle.resolve(view, entity).line)


def _reached(graph: ViewGraph, starts: Sequence[str]) -> set[str]:
    """The folded names of everything within a few facts of where a question starts."""
    seen, edge = set(starts), set(starts)
    for _ in range(_REACH):
        edge = {step.object for step in graph.around(sorted(edge), 0)[0]} - seen
        seen |= edge
    return {fold(graph.name(entity)) for entity in seen}


def _followed(graph: ViewGraph, chain: Chain, start: str) -> set[str]:
    """Where the same relations lead when replaced facts count too."""
    at = {start}
    for hop in chain.hops:
        if hop.inverse:
            steps = graph.around(sorted(at), 1000)[1]
            at = {s.subject for s in steps if s.relation == hop.relation}
        else:
            at = {s.object for s in graph.around(sorted(at), 0)[0] if s.relation == hop.relation}
    return {fold(graph.name(entity)) for entity in at}


# The numbers -----------------------------------------------------------------------------------------


def _systems(rows: Sequence[AskedFact], costs: dict[str, dict[str, float]]) -> dict[str, Any]:
    sources = {row.source: [r for r in rows if r.source == row.source] for row in rows}
    return {
        name: {"by_category": {of: _category(held, name, costs[of]) for of, held in sources.items()}}
        for name in (rows[0].answers if rows else ())
    }


def _category(rows: Sequence[AskedFact], name: str, cost: dict[str, float]) -> dict[str, Any]:
    made: dict[str, Any] = {"questions": len(rows), **_score(rows, name)}
    if name in rows[0].ms:
        made["ms"] = round(sum(row.ms[name] for row in rows) / len(rows), 2)
    if name == "worldline":
        rest = [row for row in rows if row.consistent]
        made |= cost
        made["consistent"] = {"questions": len(rest), **_score(rest, name)}
        gone = [row for row in rows if row.sure_without is not None]
        if gone:
            without = [row.sure_without or 0.0 for row in gone]
            made["abstention_auc"] = round(metrics.auc([row.sure for row in gone], without), 4)
    return made


def _score(rows: Sequence[AskedFact], name: str) -> dict[str, float]:
    count = max(1, len(rows))
    return {
        "top1": round(sum(row.answers[name][0] for row in rows) / count, 4),
        "top5": round(sum(row.answers[name][1] for row in rows) / count, 4),
    }


def table(report: dict[str, Any]) -> Iterator[str]:
    """The numbers that fit on a screen."""
    yield f"{'':<20}{'part':<28}{'top1':>7}{'top5':>7}{'rest':>7}{'ms':>8}{'ms/fact':>9}{'abst.':>7}"
    for system, found in report["systems"].items():
        for source, row in found["by_category"].items():
            rest = row.get("consistent", {}).get("top1")
            values = (
                row["top1"],
                row["top5"],
                rest,
                row.get("ms"),
                row.get("write_ms"),
                row.get("abstention_auc"),
            )
            told = ["–" if value is None else f"{value:.2f}" for value in values]
            cells = "".join(f"{cell:>{width}}" for cell, width in zip(told, (7, 7, 7, 8, 9, 7), strict=True))
            yield f"{system:<20}{source:<28}{cells}"
