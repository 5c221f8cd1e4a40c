"""The examples: each runs as a program of its own and shows what it promises."""

import os
import subprocess
from pathlib import Path

import pytest

import warm

EXAMPLES = Path(__file__).parents[1] / "examples"
SHOWN = {
    "demo.py": (),
    "langgraph_agent.py": (
        "run 1: Noted.", "run 3: black tea", "another user: I do not know.", "kept: green tea → black tea",
    ),
    "mcp_session.py": (
        "Ana lives in Rome (new)", "recall: Rome because Ana lives in Rome", "recall again: Porto", "answer in verse",
    ),
    "two_agents.py": (
        "absorbed:", "the same again changes nothing: True", "knows now: Acme contract, Deploys",
        "from another store: True", "whole: True",
    ),
    "audit.py": (
        "believed when the mail was sent: Acme is on the silver tier.", "the discount was not known then: True",
        "known today: Acme moved to the gold tier", "corrected 10 % (the letter was misread)",
        "nothing was altered since: True",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_example_runs(name: str) -> None:
    """It ends well and prints the lines that make its point."""
    done = subprocess.run(
        [*warm.python(), str(EXAMPLES / name)],
        env={**os.environ, "WORLDLINE_EMBEDDER": "none"}, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for line in SHOWN[name]:
        assert line in done.stdout
