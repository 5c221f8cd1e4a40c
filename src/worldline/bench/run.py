"""`worldline bench`: remember through the product, recall through it, and compare, in one run.

It decides the order of the work and what an interrupted run may keep: vectors are cached by text,
and finished questions in a journal that is valid for this program, these files and these settings
only; a run that ends removes it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from blake3 import blake3
from msgspec import Struct

import worldline
from worldline.bench import cache, report
from worldline.bench.datasets import BenchQuestion, Conversation, digest
from worldline.bench.datasets import load as load_file
from worldline.bench.report import ReportRow
from worldline.bench.systems import DEPTH, Baselines, Worldline
from worldline.bench.updates import knowledge_update
from worldline.plugins import open_embedder

if TYPE_CHECKING:
    from worldline.ports import Embedder

Progress = Callable[[str, int, int], None]
"""(what, how much of it is done, of how much)"""


class Settings(Struct, frozen=True):
    """What a run was asked to do."""

    dataset: str
    embedder: str = "auto"
    limit: int | None = None
    ablate: tuple[str, ...] = ()
    """Lanes to leave out, each in a system of its own beside the whole."""
    sleep: bool = False
    """Consolidate after reading, and keep what was found before that as a system of its own."""


def bench(
    settings: Settings, files: Sequence[Path], progress: Progress
) -> tuple[dict[str, Any], list[ReportRow]]:
    """The report and its rows."""
    embedder = open_cached(settings.embedder)
    digests = {path.name: digest(path) for path in files}
    talks = [talk for path in files for talk in load_file(settings.dataset, path)]
    chosen = some(talks, settings.limit)
    journal = Journal(settings, digests, embedder)
    rows = [row for talk in chosen for row in _rows(talk, settings, embedder, journal, progress)]
    made = {
        "dataset": settings.dataset,
        "files": digests,
        "questions": len(rows),
        "systems": report.summary(rows),
        "p_values": report.compared(rows),
        "settings": _told(settings, embedder, rows),
    }
    if settings.dataset == "longmemeval":
        made["knowledge_update"] = knowledge_update(rows, talks)
    journal.close()
    return made, rows


def _told(settings: Settings, embedder: Embedder | None, rows: Sequence[ReportRow]) -> dict[str, Any]:
    return {
        "embedder": embedder.name if embedder else None,
        "embedder_identity": embedder.identity if embedder else None,
        "limit": settings.limit,
        "ablate": list(settings.ablate),
        "sleep": settings.sleep,
        "depth": DEPTH,
        "measured_turn": sum(1 for row in rows if row.question.answerable and row.question.gold),
        "unanswerable": sum(1 for row in rows if not row.question.answerable),
        "latency": "wall time of one question without its embedding, other programs on the machine included",
        "bootstrap": "2000 draws over questions, seeded; p is one-sided, paired",
        "worldline": worldline.__version__,
        "python": sys.version.split()[0],
    }


def open_cached(name: str) -> Embedder | None:
    """The embedder that a setting names, its vectors kept on disk."""
    opened = open_embedder(name)
    return cache.CachedEmbedder(opened, cache.folder()) if opened is not None else None


def some(talks: Sequence[Conversation], limit: int | None) -> list[Conversation]:
    """The conversations with at most so many questions, spread evenly over all."""
    total = sum(len(talk.questions) for talk in talks)
    if limit is None or limit >= total:
        return list(talks)
    kept = {at * total // limit for at in range(limit)}
    numbered = iter(range(total))
    thinned = [
        msgspec.structs.replace(talk, questions=tuple(q for q in talk.questions if next(numbered) in kept))
        for talk in talks
    ]
    return [talk for talk in thinned if talk.questions]


def _rows(
    talk: Conversation, settings: Settings, embedder: Embedder | None, journal: Journal, progress: Progress
) -> Iterator[ReportRow]:
    """One conversation: remembered once, then every question asked of every system."""
    held = [journal.held(talk.name, question) for question in talk.questions]
    if all(row is not None for row in held):
        yield from (row for row in held if row is not None)
        return
    session = {m.id: m.session for m in talk.messages}
    with tempfile.TemporaryDirectory(prefix="worldline-bench-") as folder:
        tick = _counter(f"{talk.name}: reading", len(talk.messages) * (2 if embedder else 1), progress)
        baselines = Baselines(talk, embedder, tick)
        product = Worldline(talk, Path(folder) / "store.db", embedder, tick)
        awake = {q.id: product.rank(q) for q in talk.questions} if settings.sleep else {}
        if settings.sleep:
            product.sleep()
        for number, (question, done) in enumerate(zip(talk.questions, held, strict=True), 1):
            row = done or _asked(talk.name, question, product, baselines, settings.ablate, session)
            if done is None and settings.sleep:
                row.systems["before sleep"] = awake[question.id]
                row.sessions.update({turn: session[turn] for turn in awake[question.id].turns})
            if done is None:
                journal.keep(row)
            progress(f"{talk.name}: asking", number, len(talk.questions))
            yield row
        product.close()


def _asked(
    name: str, question: BenchQuestion, product: Worldline, baselines: Baselines, ablate: Sequence[str],
    session: dict[str, str],
) -> ReportRow:  # fmt: skip
    systems = {"worldline": product.rank(question), **baselines.rank(question)}
    systems |= {f"without {lane}": product.rank(question, [lane]) for lane in ablate}
    found = {turn for ranking in systems.values() for turn in ranking.turns}
    return ReportRow(name, question, {turn: session[turn] for turn in sorted(found)}, systems)


def _counter(what: str, total: int, progress: Progress) -> Callable[[int], None]:
    done = 0

    def tick(more: int) -> None:
        nonlocal done
        done += more
        progress(what, done, total)

    return tick


class Journal:
    """The finished questions of a run that may be interrupted."""

    def __init__(self, settings: Settings, digests: dict[str, str], embedder: Embedder | None) -> None:
        identity = embedder.identity if embedder else ""
        key = blake3(msgspec.json.encode([settings, digests, identity, _program()])).hexdigest()[:16]
        self._path = cache.folder() / f"journal-{key}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._held = {(row.conversation, row.question.id): row for row in self._read()}

    def _read(self) -> Iterator[ReportRow]:
        lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        for line in lines:
            try:
                yield msgspec.json.decode(line, type=ReportRow)
            except msgspec.DecodeError:  # the line that was being written when the run ended
                continue

    def held(self, conversation: str, question: BenchQuestion) -> ReportRow | None:
        """The row of a question that was finished before."""
        return self._held.get((conversation, question.id))

    def keep(self, row: ReportRow) -> None:
        """Writes one finished question down."""
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")

    def close(self) -> None:
        """The run is complete: the next one starts anew."""
        self._path.unlink(missing_ok=True)


def _program() -> str:
    """A digest of this program's own source: another program's answers are not ours."""
    total = blake3()
    for path in sorted(Path(worldline.__file__).parent.rglob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()
