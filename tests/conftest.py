"""Settings and stores that every test may use.

A process of its own costs two seconds of CPU to start: take `warm.python()` for `sys.executable` unless the start
itself is tested, and `serving.running` for a server.
"""

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
CITUS = os.environ.pop("WORLDLINE_TEST_CITUS", os.environ.get("CITUS_OF_THE_SUITE", ""))
"""The coordinator of a cluster, if there is one; told on to workers under a name that is no setting of the product."""
os.environ["CITUS_OF_THE_SUITE"] = CITUS
ON_BOTH = (
    "laws/test_archive.py",
    "laws/test_containment.py",
    "laws/test_histories.py",
    "laws/test_isolation.py",
    "laws/test_merges.py",
    "laws/test_recall_laws.py",
    "laws/test_writes.py",
    "flows/test_contract_story.py",
    "flows/test_decay.py",
    "flows/test_exact_sets.py",
    "flows/test_forget.py",
    "flows/test_profiles.py",
    "flows/test_reembed.py",
    "flows/test_reindex.py",
    "flows/test_recall.py",
    "flows/test_sleep.py",
    "flows/test_sleep_graph.py",
    "flows/test_undo_merge_purge.py",
    "state/test_found_by_fuzz.py",
    "state/test_fuzz.py",
)
"""Tests that every store must pass, whichever engine it lies in."""
OF_FILES = (
    *("shell", "does_not_wait_for_a_writer", "new_file", "scorer", "recall_writes_nothing", "of_a_file"),
    *("backup_and_an_export", "hot_tables_stay", "a_pack_is_never"),
)
"""What the names of those have in common that are about a file, or take long and are not about the store."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs what concerns every store on files and on PostgreSQL; with WORLDLINE_TEST_CITUS on that server too."""
    name = metafunc.definition.name
    if metafunc.definition.path.as_posix().endswith(ON_BOTH) and not any(part in name for part in OF_FILES):
        metafunc.parametrize("engine", ["file", "postgres", *(["citus"] if CITUS else [])], indirect=True)


@pytest.fixture
def clock():
    """A clock that stands still until it is advanced."""
    return FrozenClock(START)


@pytest.fixture
def memory(clock):
    """An empty memory, kept in memory."""
    with Memory.open(":memory:", clock=clock) as opened:
        yield opened
