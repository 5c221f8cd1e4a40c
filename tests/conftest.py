"""Settings and stores that every test may use."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

from worldline import Memory
from worldline.testing import FrozenClock

os.environ.setdefault("WORLDLINE_EMBEDDER", "none")  # tests that want vectors say so

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=40, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
settings.register_profile("quick", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

START = 1_000_000_000_000
pytest_plugins = ["conformance.engines"]
ON_BOTH = (
    os.environ.get("WL_BOTH") or "laws/test_writes,flows/test_forget,flows/test_reembed,flows/test_reindex"
).split(",")
"""Tests that every store must pass, whichever engine it lies in."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs what concerns every store on files and on PostgreSQL."""
    if any(name in str(metafunc.definition.path) for name in ON_BOTH):
        metafunc.parametrize(
            "engine", (os.environ.get("WL_ENGINES") or "file,postgres").split(","), indirect=True
        )


@pytest.fixture
def clock():
    """A clock that stands still until it is advanced."""
    return FrozenClock(START)


@pytest.fixture
def memory(clock):
    """An empty memory, kept in memory."""
    with Memory.open(":memory:", clock=clock) as opened:
        yield opened
