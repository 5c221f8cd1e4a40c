"""Settings and stores that every test may use.

A process of its own costs two seconds of CPU to start: take `warm.python()` for `sys.executable` unless the start
itself is tested, and `serving.running` for a server.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, Phase, settings

from worldline import Memory, plugins
from worldline.reading import parser
from worldline.testing import FrozenClock

os.environ.setdefault("WORLDLINE_EMBEDDER", "none")  # tests that want vectors say so
os.environ.setdefault("WORLDLINE_RERANKER", "none")  # so do those that want a close reading
os.environ.setdefault("WORLDLINE_DURABILITY", "normal")  # no test cuts the power
CLOSER_PACKAGE, plugins.CLOSER_PACKAGE = plugins.CLOSER_PACKAGE, "not-installed-in-tests"

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=40, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
settings.register_profile("quick", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

START = 1_000_000_000_000
SHORT = 5_000
"""How many characters are parsed at once at most by what is kept; more of it is a test of long texts."""
pytest_plugins = ["conformance.engines"]
CITUS = os.environ.pop("WORLDLINE_TEST_CITUS", os.environ.get("CITUS_OF_THE_SUITE", ""))
"""The coordinator of a cluster, if there is one; told on to workers under a name that is no setting of the product."""
os.environ["CITUS_OF_THE_SUITE"] = CITUS
ON_BOTH = (
    "laws/test_archive.py",
    "laws/test_containment.py",
    "laws/test_counts.py",
    "laws/test_histories.py",
    "laws/test_isolation.py",
    "laws/test_loads.py",
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
def closer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packaged cross-encoder is there, as for everybody who installed its extra."""
    monkeypatch.setattr(plugins, "CLOSER_PACKAGE", CLOSER_PACKAGE)


def pytest_collection_finish() -> None:
    """What was loaded and collected stays to the end: the collector of garbage need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


_parse = parser.parse
_trees: dict[tuple[object, str], list[list[parser.Token]]] = {}


def _parsed(texts: Sequence[str]) -> list[list[list[parser.Token]]]:
    pipeline = parser._pipeline()
    if pipeline is None or sum(map(len, texts)) > SHORT:
        return _parse(texts)
    wanted = list(dict.fromkeys(text for text in texts if (pipeline, text) not in _trees))
    _trees.update(zip(((pipeline, text) for text in wanted), _parse(wanted), strict=True))
    return [[list(sentence) for sentence in _trees[pipeline, text]] for text in texts]


@pytest.fixture(autouse=True)
def _parsed_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What many tests say is parsed once in a process: the parser says the same of a text every time.

    Its own tests, and every process that a test starts, have the parser itself.
    """
    if request.path.name != "test_parser.py":
        monkeypatch.setattr(parser, "parse", _parsed)


@pytest.fixture
def clock():
    """A clock that stands still until it is advanced."""
    return FrozenClock(START)


@pytest.fixture
def memory(clock):
    """An empty memory, kept in memory."""
    with Memory.open(":memory:", clock=clock) as opened:
        yield opened
