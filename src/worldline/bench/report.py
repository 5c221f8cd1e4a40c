"""From rows, one a question, to the numbers: averages, intervals, tests, and a table to read.

It decides what is averaged over what. Turn-level measures are over answerable questions with gold
turns, session-level ones over those with gold sessions, abstention over all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import quantiles
from typing import Any

from msgspec import Struct

from worldline.bench import metrics
from worldline.bench.datasets import BenchQuestion
from worldline.bench.systems import Ranking

ENOUGH = 0.97
_TURN = ("any@1", "any@5", "any@10", "all@10", "any@50", "all@50", "share@50", "mrr")
_SESSION = ("any@5", "any@10")
CELLS = (
    ("turn", "any@1"), ("turn", "any@5"), ("turn", "any@10"), ("turn", "all@10"), ("session", "any@5"),
)  # fmt: skip


class ReportRow(Struct, frozen=True):
    """One question and what every system found for it."""

    conversation: str
    question: BenchQuestion
    sessions: dict[str, str]
    """The session of every turn that a system returned."""
    systems: dict[str, Ranking]


def scores(row: ReportRow, system: str) -> dict[str, dict[str, float]]:
    """The measures of one system on one question, by level."""
    question, turns = row.question, row.systems[system].turns
    found: dict[str, dict[str, float]] = {}
    if not question.answerable:
        return found
    if question.gold:
        found["turn"] = metrics.turn_scores(turns, question.gold)
    if question.gold_sessions:
        order = (row.sessions[turn] for turn in turns)
        found["session"] = metrics.session_scores(order, question.gold_sessions)
    return found


def summary(rows: Sequence[ReportRow]) -> dict[str, Any]:
    """Every system's numbers."""
    names = list(rows[0].systems) if rows else []
    measured = {name: [scores(row, name) for row in rows] for name in names}
    return {name: _system(rows, name, measured[name]) for name in names}


def _system(rows: Sequence[ReportRow], name: str, measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    times = sorted(row.systems[name].ms for row in rows)
    return {
        **_levels(measured),
        "by_category": _by_category(rows, measured),
        "ci95": _intervals(measured),
        "p50_ms": _quantile(times, 50),
        "p95_ms": _quantile(times, 95),
        **_abstention(rows, name),
    }


def _quantile(ordered: Sequence[float], percent: int) -> float:
    if len(ordered) < 2:
        return round(sum(ordered), 3)
    return round(quantiles(ordered, n=100, method="inclusive")[percent - 1], 3)


def _levels(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = {level: metrics.average(_at(measured, level)) for level in ("turn", "session")}
    return {level: {key: round(value, 4) for key, value in row.items()} for level, row in found.items()}


def _at(measured: Iterable[Mapping[str, Any]], level: str) -> list[dict[str, float]]:
    return [m[level] for m in measured if level in m]


def _by_category(rows: Sequence[ReportRow], measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row, found in zip(rows, measured, strict=True):
        if found:
            groups.setdefault(row.question.category, []).append(found)
            if len(row.question.gold) > 1:
                groups.setdefault("multi_gold", []).append(found)
    return {name: {"questions": len(held), **_levels(held)} for name, held in sorted(groups.items())}


def _intervals(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for level in ("turn", "session"):
        held = _at(measured, level)
        columns = held[0] if held else {}
        found[level] = {c: [round(x, 4) for x in metrics.interval95([m[c] for m in held])] for c in columns}
    return found


def _abstention(rows: Sequence[ReportRow], name: str) -> dict[str, Any]:
    """How well the system's own confidence tells answerable questions from the others."""
    sure = [(row.question.answerable, row.systems[name].sure) for row in rows]
    yes = [s for answerable, s in sure if answerable and s is not None]
    no = [s for answerable, s in sure if not answerable and s is not None]
    if not yes or not no:
        return {"abstention_auc": None}
    interval = [round(x, 4) for x in metrics.auc95(yes, no)]
    return {"abstention_auc": round(metrics.auc(yes, no), 4), "abstention_auc_ci95": interval}


def compared(rows: Sequence[ReportRow], ours: str = "worldline") -> dict[str, dict[str, float]]:
    """p of the paired bootstrap that we are not better, for every other system and cell."""
    found: dict[str, dict[str, float]] = {}
    for theirs in (name for name in (rows[0].systems if rows else {}) if name != ours):
        pairs = [(scores(row, ours), scores(row, theirs)) for row in rows]
        found[theirs] = {}
        for level, column in CELLS:
            held = [(a[level][column], b[level][column]) for a, b in pairs if level in a]
            if held:
                p = metrics.paired_p([a for a, _ in held], [b for _, b in held])
                found[theirs][f"{level} {column}"] = p
    return found


def table(report: Mapping[str, Any]) -> Iterator[str]:
    """The numbers that fit on a screen."""
    head = (*_TURN, *(f"S {name}" for name in _SESSION))
    yield f"{'':<22}" + "".join(f"{name:>9}" for name in (*head, "p50 ms", "abst."))
    for name, found in report["systems"].items():
        yield _line(name, found, (f"{found['p50_ms']:>9.1f}", _cell(found["abstention_auc"])))
    ours = report["systems"].get("worldline")
    for category, found in (ours or {"by_category": {}})["by_category"].items():
        yield _line(f"  {category[:14]} ({found['questions']})", found, ())
    for theirs, cells in report["p_values"].items():
        lost = [
            f"{cell} p={p:.3f}" for cell, p in cells.items() if p >= 0.05 and not _full(report, theirs, cell)
        ]
        yield f"against {theirs}: " + (
            "; ".join(lost) or "better in every cell (p < .05, or not worse than .97)"
        )


def _full(report: Mapping[str, Any], theirs: str, cell: str) -> bool:
    """Whether a baseline is so near to everything that not being worse is enough."""
    level, column = cell.split(" ")
    ours, other = (report["systems"][name][level][column] for name in ("worldline", theirs))
    return bool(other >= ENOUGH and ours >= other)


def _line(name: str, found: Mapping[str, Any], more: Iterable[str]) -> str:
    turn, session = found["turn"], found["session"]
    cells = [_cell(turn.get(c)) for c in _TURN] + [_cell(session.get(c)) for c in _SESSION]
    return f"{name:<22}" + "".join([*cells, *more])


def _cell(value: float | None) -> str:
    return f"{'–':>9}" if value is None or math.isnan(value) else f"{value:>9.3f}"
