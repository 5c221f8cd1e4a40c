"""How much of ordinary talk is understood: tables that were written without sight of the rules, with floors.

The floors lie a few points under what is reached. Whoever reaches more raises them; a rule that is
made for one row of a table is none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import talk

TABLES = Path(__file__).parents[1] / "tables"
AT_LEAST = {
    "talk_facts": {"precision": 0.74, "recall": 0.54},
    "talk_changes": {"closes": 0.64, "correction": 0.8, "contradiction": 0.6, "current": 0.81},
    "talk_small": {"clean": 0.8},
    "more_facts": {"precision": 0.74, "recall": 0.76},
    "more_changes": {"closes": 0.7, "correction": 0.7, "contradiction": 0.8, "current": 0.78},
    "more_small": {"clean": 0.76},
}
AT_MOST = {"talk_changes": {"false": 0.03}, "more_changes": {"false": 0.03}}
ROWS = {
    "talk_facts": 120, "talk_changes": 110, "talk_small": 12,
    "more_facts": 83, "more_changes": 70, "more_small": 6,
}  # fmt: skip


@pytest.fixture(scope="module", params=sorted(AT_LEAST))
def table(request: pytest.FixtureRequest) -> tuple[str, list[dict[str, Any]]]:
    """The name and the rows of a table, read once."""
    rows = json.loads((TABLES / f"{request.param}.json").read_text("utf-8"))
    return request.param, rows


def test_talk_is_understood(table: tuple[str, list[dict[str, Any]]]) -> None:
    """What is drawn, closed, corrected and answered stays above its floor, and false closings below their ceiling."""
    name, rows = table
    reached = getattr(talk, name.partition("_")[2])(rows)
    told = {key: round(value, 3) for key, value in reached.items()}

    assert len(rows) == ROWS[name]
    assert [(key, floor) for key, floor in AT_LEAST[name].items() if reached[key] < floor] == [], told
    assert [(key, top) for key, top in AT_MOST.get(name, {}).items() if reached[key] > top] == [], told
